"""The legs of animals, and the feet of all bodies."""

from typing import Final

from ..skeleton import Skeleton
from .axes import axis_vector, left_vector
from .roles import SIDES, Roles

_MIDDLE: Final = 0.5  # of how far aside the next joint is: a half of a pelvis begins nearer to the middle


def leg_joints(skeleton: Skeleton, roles: Roles) -> list[int]:
    """Return the first bones of an animal's legs; not scapulas, which begin above the spine, and halves of a pelvis."""
    heads, left = skeleton.rest_matrices[:, :, 3], left_vector(roles.up, roles.facing)
    up, trunk = axis_vector(roles.up), [*roles.chain("hips"), *roles.chain("spine")]
    top, middle = float((heads[trunk] @ up).max()), float(heads[trunk[0]] @ left)
    found: list[int] = []
    for first, *others in roles.legs.values():
        second = others[0] if len(others) > 1 else first
        asides = [abs(float(heads[bone] @ left) - middle) for bone in (first, second)]
        girdle = float(heads[first] @ up) > top or asides[0] < _MIDDLE * asides[1]
        found.append(second if girdle else first)
    return found


def feet_or_hips(roles: Roles) -> list[int]:
    """Return the feet, the last bones of an animal's legs; the hips of a body without legs."""
    feet = [bone for side in SIDES for bone in roles.chain(f"foot.{side}")] or [leg[-1] for leg in roles.legs.values()]
    return feet or [*roles.chain("hips")]
