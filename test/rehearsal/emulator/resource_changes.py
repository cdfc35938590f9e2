"""Makes, changes and removes the resources of one stack, and takes all of it back where something fails."""

from dataclasses import dataclass, field

from .kinds import Replaced, kinds
from .template import Refused, Scope, in_order


@dataclass
class Resource:
    type: str
    properties: dict
    made: object
    retained: bool
    kept_when_replaced: bool

    @property
    def physical(self):
        return self.made.physical

    @property
    def attributes(self):
        return self.made.attributes


@dataclass
class Context:
    """What a resource type knows of the resource that it carries out."""

    clients: object
    account: str
    region: str
    stack: str
    stack_id: str
    logical: str = field(default="")

    def client(self, service, region=None):
        return self.clients(service, region or self.region)

    def of(self, logical):
        return Context(self.clients, self.account, self.region, self.stack, self.stack_id, logical)


class Changes:
    """
    One change of a stack: `carry_out` a template, then either `settle` (which removes what is no longer wanted) or
    `take_back`. `resources` maps logical ids, in the order in which they were made, and is changed in place.
    """

    def __init__(self, context, resources, tell):
        self.context = context
        self.resources = resources
        self.tell = tell
        self.undo = []
        self.leftover = []

    def carry_out(self, template, scope: Scope):
        wanted = template["Resources"]
        for logical in in_order(wanted):
            definition = wanted[logical]
            if "Condition" in definition and not scope.holds(definition["Condition"]):
                continue
            try:
                self._make(logical, definition, scope.resolve(definition.get("Properties", {})))
            except Exception as error:
                self.tell(logical, definition["Type"], "CREATE_FAILED", reason=f"{type(error).__name__}: {error}")
                raise Refused(f"The following resource(s) failed: [{logical}]. {error}") from error
        for logical in [name for name in self.resources if name not in wanted]:
            self.leftover.append((logical, self.resources.pop(logical), "retained"))

    def _make(self, logical, definition, properties):
        policies = (definition.get("DeletionPolicy") == "Retain", definition.get("UpdateReplacePolicy") == "Retain")
        before = self.resources.get(logical)
        if before is not None and before.type != definition["Type"]:
            raise Refused(f"Update of resource type is not permitted: {logical}")
        if before is not None and before.properties == properties:
            self.resources[logical] = Resource(before.type, properties, before.made, *policies)
            return
        kind, context = kinds[definition["Type"]], self.context.of(logical)
        step = "CREATE" if before is None else "UPDATE"
        self.tell(logical, definition["Type"], f"{step}_IN_PROGRESS")
        made = self._change(kind, context, before, properties) if before else None
        if made is None:
            made = kind.create(context, _copied(properties))
            created = Resource(definition["Type"], properties, made, *policies)
            back = lambda: remove(self.context, logical, created, self.tell, keep=created.retained)  # noqa: E731
            self.undo.append((logical, before, back))
            if before is not None:
                self.leftover.append((logical, before, "kept_when_replaced"))
        self.resources[logical] = Resource(definition["Type"], properties, made, *policies)
        self.tell(logical, definition["Type"], f"{step}_COMPLETE", made.physical)

    def _change(self, kind, context, before, properties):
        """What became of it, or `None` where it has to be replaced."""
        try:
            made = kind.update(context, before.made, _copied(properties), before.properties)
        except Replaced:
            return None
        back = lambda: kind.update(context, made, _copied(before.properties), properties)  # noqa: E731
        self.undo.append((context.logical, before, back))
        return made

    def settle(self):
        for logical, resource, policy in reversed(self.leftover):
            remove(self.context, logical, resource, self.tell, keep=getattr(resource, policy))

    def take_back(self):
        for logical, before, back in reversed(self.undo):
            back()
            if before is None:
                self.resources.pop(logical, None)
            else:
                self.resources[logical] = before
        for logical, resource, _policy in self.leftover:
            self.resources[logical] = resource


def _copied(value):
    if isinstance(value, dict):
        return {key: _copied(part) for key, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value


def remove(context, logical, resource, tell, keep):
    """Removes one resource, or leaves it where its policy says so."""
    if keep:
        tell(logical, resource.type, "DELETE_SKIPPED", resource.physical)
        return
    kinds[resource.type].delete(context.of(logical), resource.made, resource.properties)
    tell(logical, resource.type, "DELETE_COMPLETE", resource.physical)
