"""What carries a resource of one type out, by calls of its service."""

import random
import string
from dataclasses import dataclass, field

from ..shapes import parameters

kinds = {}


@dataclass
class Made:
    """What became of a resource: what `Ref` stands for, and its attributes."""

    physical: str
    attributes: dict = field(default_factory=dict)


class Replaced(Exception):
    """The change cannot be made in place: another one has to be made, and the old one removed."""


def of_type(name):
    """Registers the class of a resource type."""

    def register(kind):
        kinds[name] = kind()
        return kind

    return register


def generated(context, longest=64):
    """A name as CloudFormation makes it up: stack, logical id, and what makes it unique."""
    unique = "".join(random.choices(string.ascii_letters + string.digits, k=12))
    return f"{context.stack}-{context.logical}"[: longest - 13] + f"-{unique}"


def without(properties, *names):
    return {name: value for name, value in properties.items() if name not in names}


class Kind:
    """A type of resource. Whatever cannot be changed in place is replaced."""

    def create(self, context, properties):
        raise NotImplementedError

    def update(self, context, made, properties, before):
        raise Replaced

    def delete(self, context, made, properties):
        raise NotImplementedError


def call(context, service, method, properties, region=None):
    """Calls a service; what it does not know of the properties is an error, as it is with CloudFormation."""
    client = context.client(service, region)
    return getattr(client, method)(**parameters(client, method, properties))


class Plain(Kind):
    """A type whose properties are the parameters of one call, as is its change and its removal."""

    def __init__(self, service, noun, identity, *, within=(), key=None, update=True, attributes=(), fixed=()):
        self.service = service
        self.noun = noun
        self.identity = identity
        self.within = within
        self.key = key or identity
        self.updates = update
        self.attributes = attributes
        self.fixed = fixed

    def create(self, context, properties):
        answer = call(context, self.service, f"create_{self.noun}", properties)
        return Made(answer[self.identity], {name: answer[name] for name in self.attributes})

    def _address(self, made, properties):
        return {**{name: properties[name] for name in self.within}, self.key: made.physical}

    def update(self, context, made, properties, before):
        held = (*self.within, *self.fixed)
        if not self.updates or any(properties.get(name) != before.get(name) for name in held):
            raise Replaced
        changed = without(properties, "Tags", *self.fixed)
        call(context, self.service, f"update_{self.noun}", {**changed, **self._address(made, properties)})
        return made

    def delete(self, context, made, properties):
        call(context, self.service, f"delete_{self.noun}", self._address(made, properties))


class Kept(Kind):
    """
    A type that the emulator has no service for: its properties are compared with what the service of AWS would take,
    and it is there by its id alone.
    """

    def __init__(self, service, method, attributes=lambda _physical: {}):
        self.service = service
        self.method = method
        self.attributes = attributes

    def _fits(self, context, properties):
        parameters(context.client(self.service), self.method, properties)

    def create(self, context, properties):
        self._fits(context, properties)
        physical = generated(context)
        return Made(physical, self.attributes(physical))

    def update(self, context, made, properties, before):
        self._fits(context, properties)
        return made

    def delete(self, context, made, properties):
        pass
