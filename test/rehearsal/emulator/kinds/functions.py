"""AWS::Lambda::*"""

import io
import zipfile

from .kind import Kind, Made, Plain, Replaced, call, generated, kinds, of_type, without

kinds["AWS::Lambda::EventSourceMapping"] = Plain(
    "lambda", "event_source_mapping", "UUID", fixed=("EventSourceArn",), attributes=()
)


def _packed(text):
    """Code that stands in the template, as CloudFormation packs it for Node."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("index.js", text)
    return packed.getvalue()


def _code(properties):
    code = properties["Code"]
    return {**code, "ZipFile": _packed(code["ZipFile"])} if "ZipFile" in code else code


@of_type("AWS::Lambda::Function")
class Function(Kind):
    apart = ("Code", "ReservedConcurrentExecutions", "Tags")

    def _reserve(self, context, name, properties):
        client = context.client("lambda")
        reserved = properties.get("ReservedConcurrentExecutions")
        if reserved is not None:
            client.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=int(reserved))
        elif client.get_function_concurrency(FunctionName=name).get("ReservedConcurrentExecutions") is not None:
            client.delete_function_concurrency(FunctionName=name)

    def create(self, context, properties):
        wanted = without(properties, "ReservedConcurrentExecutions")
        name = properties.get("FunctionName") or generated(context)
        answer = call(
            context, "lambda", "create_function", {**wanted, "FunctionName": name, "Code": _code(properties)}
        )
        self._reserve(context, name, properties)
        return Made(name, {"Arn": answer["FunctionArn"]})

    def update(self, context, made, properties, before):
        if properties.get("FunctionName") != before.get("FunctionName"):
            raise Replaced
        name = {"FunctionName": made.physical}
        if properties["Code"] != before["Code"]:
            architectures = {name: properties[name] for name in ("Architectures",) if name in properties}
            call(context, "lambda", "update_function_code", {**name, **_code(properties), **architectures})
        configuration = without(properties, *self.apart, "Architectures")
        # What is left out goes back to what it is without.
        empty = {"VpcConfig": {"SubnetIds": [], "SecurityGroupIds": []}, "Environment": {"Variables": {}}}
        gone = {part: empty[part] for part in empty if part in before and part not in properties}
        call(context, "lambda", "update_function_configuration", {**gone, **configuration, **name})
        self._reserve(context, made.physical, properties)
        return made

    def delete(self, context, made, properties):
        context.client("lambda").delete_function(FunctionName=made.physical)


@of_type("AWS::Lambda::Version")
class Version(Kind):
    def create(self, context, properties):
        return Made(call(context, "lambda", "publish_version", properties)["FunctionArn"])

    def delete(self, context, made, properties):
        name, version = made.physical.split(":")[6:]
        context.client("lambda").delete_function(FunctionName=name, Qualifier=version)


@of_type("AWS::Lambda::Permission")
class Permission(Kind):
    def create(self, context, properties):
        statement = generated(context, 100)
        call(context, "lambda", "add_permission", {**properties, "StatementId": statement})
        return Made(statement)

    def delete(self, context, made, properties):
        name = properties["FunctionName"]
        context.client("lambda").remove_permission(FunctionName=name, StatementId=made.physical)


@of_type("AWS::Lambda::Url")
class Url(Kind):
    @staticmethod
    def _properties(properties):
        return {**without(properties, "TargetFunctionArn"), "FunctionName": properties["TargetFunctionArn"]}

    def create(self, context, properties):
        answer = call(context, "lambda", "create_function_url_config", self._properties(properties))
        return Made(answer["FunctionArn"], {"FunctionUrl": answer["FunctionUrl"], "FunctionArn": answer["FunctionArn"]})

    def delete(self, context, made, properties):
        context.client("lambda").delete_function_url_config(FunctionName=properties["TargetFunctionArn"])


@of_type("AWS::Lambda::EventInvokeConfig")
class EventInvokeConfig(Kind):
    def create(self, context, properties):
        call(context, "lambda", "put_function_event_invoke_config", without(properties, "Qualifier"))
        return Made(generated(context))

    def update(self, context, made, properties, before):
        if properties["FunctionName"] != before["FunctionName"]:
            raise Replaced
        call(context, "lambda", "put_function_event_invoke_config", without(properties, "Qualifier"))
        return made

    def delete(self, context, made, properties):
        context.client("lambda").delete_function_event_invoke_config(FunctionName=properties["FunctionName"])
