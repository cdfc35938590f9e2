"""Turns the properties of a resource into the parameters of a call, by the description of that call in botocore."""

import json


class Unfit(Exception):
    """A property that the service does not have, or one of another form."""


def _scalar(shape, value, path):
    if shape.type_name in ("integer", "long"):
        return int(value)
    if shape.type_name in ("double", "float"):
        return float(value)
    if shape.type_name == "boolean":
        return value if isinstance(value, bool) else {"true": True, "false": False}[value]
    if shape.type_name == "blob":
        return value
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    if shape.enum and value not in shape.enum:
        raise Unfit(f"{path} is {value}, which is none of {', '.join(shape.enum)}")
    return str(value).lower() if isinstance(value, bool) else str(value)


def fit(shape, value, path):
    """
    A value in the form that `shape` has in the API. Names are compared without regard to case; a list becomes items
    with their count where the API counts them, tags a map where it has a map.
    """
    if shape.type_name == "structure":
        if isinstance(value, list) and {"Quantity", "Items"} <= set(shape.members):
            value = {"Quantity": len(value), "Items": value}
        if not isinstance(value, dict):
            raise Unfit(f"{path} has to be an object")
        if {"Quantity", "Items"} <= set(shape.members) and "Items" in value:
            value = {**value, "Quantity": len(value["Items"])}
        known = {name.lower(): name for name in shape.members}
        for name in value:
            if name.lower() not in known:
                raise Unfit(f"{path}.{name} is unknown to the service")
        return {
            known[name.lower()]: fit(shape.members[known[name.lower()]], part, f"{path}.{name}")
            for name, part in value.items()
        }
    if shape.type_name == "map":
        if isinstance(value, list):
            value = {tag["Key"]: tag["Value"] for tag in value}
        return {key: fit(shape.value, part, f"{path}.{key}") for key, part in value.items()}
    if shape.type_name == "list":
        if isinstance(value, dict):
            value = [{"Key": key, "Value": part} for key, part in value.items()]
        return [fit(shape.member, part, f"{path}[{at}]") for at, part in enumerate(value)]
    return _scalar(shape, value, path)


def parameters(client, method, properties):
    """The parameters of a client's method."""
    operation = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[method])
    return fit(operation.input_shape, properties, operation.name) if operation.input_shape else {}
