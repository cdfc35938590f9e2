"""Templates: the order of their resources, and what their functions (Ref, Fn::GetAtt, Fn::Sub, …) stand for."""

import re
from graphlib import CycleError, TopologicalSorter


class Refused(Exception):
    """A template or a change that CloudFormation does not carry out, with the reason that it gives."""


SECRET = re.compile(r"\{\{resolve:secretsmanager:(arn:[^{}]+?):SecretString:::?\}\}")
REFERENCE = re.compile(r"\$\{([^!}][^}]*)\}")


def _references(value):
    """Every name that a part of a template refers to: of resources, parameters and pseudo parameters."""
    if isinstance(value, list):
        for part in value:
            yield from _references(part)
    if not isinstance(value, dict):
        return
    for key, part in value.items():
        if key == "Ref":
            yield part
        elif key == "Fn::GetAtt":
            yield part[0] if isinstance(part, list) else part.split(".")[0]
        elif key == "Fn::Sub":
            text, names = part if isinstance(part, list) else (part, {})
            yield from (found.split(".")[0] for found in REFERENCE.findall(text) if found not in names)
            yield from _references(names)
        else:
            yield from _references(part)


def in_order(resources):
    """Logical ids, each after those that it refers to or depends on."""
    needs = {}
    for name, resource in resources.items():
        depends = resource.get("DependsOn", [])
        named = {*_references(resource.get("Properties", {})), *([depends] if isinstance(depends, str) else depends)}
        needs[name] = {other for other in named if other in resources}
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise Refused(f"Circular dependency between resources: {error.args[1]}") from error


class Scope:
    """What names stand for while one template is carried out."""

    def __init__(self, template, parameters, pseudo, resources, export, secret):
        self.template = template
        self.values = {**pseudo, **parameters}
        self.pseudo = pseudo
        self.resources = resources
        self.export = export
        self.imported = set()
        self.secret = secret

    def reference(self, name):
        if name in self.values:
            return self.values[name]
        if name in self.resources:
            return self.resources[name].physical
        raise Refused(f"Template error: {name} is neither a parameter nor a resource that was made")

    def attribute(self, name, attribute):
        if name not in self.resources:
            raise Refused(f"Template error: instance of Fn::GetAtt references undefined resource {name}")
        attributes = self.resources[name].attributes
        if attribute not in attributes:
            kind = self.template["Resources"][name]["Type"]
            raise Refused(f"Template error: the emulator's {kind} has no attribute {attribute}")
        return attributes[attribute]

    def holds(self, condition):
        """Whether a condition, or the one of a name, is true."""
        if isinstance(condition, str):
            return self.holds(self.template["Conditions"][condition])
        ((function, arguments),) = condition.items()
        if function == "Condition":
            return self.holds(arguments)
        if function == "Fn::Equals":
            first, second = (self.resolve(argument) for argument in arguments)
            return first == second
        outcomes = [self.holds(argument) for argument in arguments]
        return {"Fn::Not": not outcomes[0], "Fn::And": all(outcomes), "Fn::Or": any(outcomes)}[function]

    def resolve(self, value):
        """A part of the template as its service gets it; a property that is `AWS::NoValue` is left out."""
        if isinstance(value, list):
            return [part for part in map(self.resolve, value) if part is not None]
        if isinstance(value, str):
            return self._with_secrets(value)
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((function, argument),) = value.items()
            if function == "Ref":
                return None if argument == "AWS::NoValue" else self.reference(argument)
            if function.startswith("Fn::"):
                found = self._function(function, argument)
                return self._with_secrets(found) if isinstance(found, str) else found
        resolved = {key: self.resolve(part) for key, part in value.items()}
        return {key: part for key, part in resolved.items() if part is not None}

    def _function(self, function, argument):
        if function == "Fn::GetAtt":
            return self.attribute(*(argument if isinstance(argument, list) else argument.split(".", 1)))
        if function == "Fn::Sub":
            return self._substitute(*(argument if isinstance(argument, list) else (argument, {})))
        if function == "Fn::If":
            condition, then, otherwise = argument
            return self.resolve(then if self.holds(condition) else otherwise)
        argument = self.resolve(argument)
        if function == "Fn::Join":
            return argument[0].join(str(part) for part in argument[1])
        if function == "Fn::Select":
            return argument[1][int(argument[0])]
        if function == "Fn::FindInMap":
            name, first, second = argument
            return self.template["Mappings"][name][first][second]
        if function == "Fn::Split":
            return argument[1].split(argument[0])
        if function == "Fn::GetAZs":
            return [f"{argument or self.pseudo['AWS::Region']}{zone}" for zone in "abc"]
        if function == "Fn::ImportValue":
            self.imported.add(argument)
            return self.export(argument)
        raise Refused(f"Template error: the emulator has no {function}")

    def _with_secrets(self, text):
        """The values of secrets, where a text names them."""
        return SECRET.sub(lambda match: self.secret(match.group(1)), text)

    def _substitute(self, text, names):
        def value_of(match):
            name = match.group(1)
            if name in names:
                return str(self.resolve(names[name]))
            return str(self.attribute(*name.split(".", 1)) if "." in name else self.reference(name))

        return REFERENCE.sub(value_of, text).replace("${!", "${")
