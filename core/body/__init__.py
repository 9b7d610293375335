"""The body in a skeleton: what plays which part, what it weighs, how it stands."""

from .detection import find_roles
from .roles import BODY, SIDES, Roles

__all__ = ["BODY", "SIDES", "Roles", "find_roles"]
