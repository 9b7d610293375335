"""The anatomy of a body for its chains: elbows, knees and fingers bend in one direction, joints have their ranges."""

from ..body.anatomy import BEND, add_limits, anatomy
from ..body.grip import find_knuckles, finger_hinges, finger_limits
from ..body.roles import Roles
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton


def with_hinges(
    skeleton: Skeleton, roles: Roles, pose: Pose | None = None, *, ranges: bool = False
) -> tuple[Skeleton, Array]:
    """Return the skeleton with the limits of its hinges, and `ContributionCCD.bends` (J, 3).

    With `ranges` all joints of a body have limits. Limits that a `pose` (..., J) violates are widened to contain it,
    so that adding them moves no bone.
    """
    known, fingers, knuckles = anatomy(skeleton, roles), finger_hinges(skeleton, roles), find_knuckles(roles)
    bends = known.bends.copy()
    # pulled inwards while straight, a finger closes, and its knuckle compensates
    for bone, (hinge, _) in fingers.items():
        bends[bone] = (-BEND if bone in knuckles else 2.0 * BEND) * hinge
    limits = (*known.limits, *finger_limits(skeleton, roles, fingers), *(known.ranges if ranges else ()))
    return add_limits(skeleton, limits, pose), bends
