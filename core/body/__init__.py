"""The body in a skeleton: what plays which part, what it weighs, how it stands."""

from .detection.human import SIDES
from .roles import BODY, Roles, find_roles

__all__ = ["BODY", "SIDES", "Roles", "find_roles"]
