"""The resource types that the templates have."""

from . import custom, events, files, functions, gateway, logs, network, realtime, roles, stores  # noqa: F401
from .kind import Made, Replaced, kinds

__all__ = ["Made", "Replaced", "kinds"]
