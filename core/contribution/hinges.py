"""What a chain keeps of a body's anatomy: elbows, knees and fingers bend one way."""

from dataclasses import replace

from .. import rotation
from ..body.anatomy import BEND, anatomy
from ..body.grip import find_knuckles, finger_hinges, finger_limits
from ..body.roles import Roles
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton


def with_hinges(skeleton: Skeleton, roles: Roles, pose: Pose | None = None) -> tuple[Skeleton, Array]:
    """The skeleton with their limits added, and (J, 3) how what is straight bends, for `ContributionCCD.bends`.

    What a `pose` (..., J) is outside of is made wide enough for it: nobody moves because limits are heeded now.
    """
    known, fingers, knuckles = anatomy(skeleton, roles), finger_hinges(skeleton, roles), find_knuckles(roles)
    bends = known.bends.copy()
    for bone, (hinge, _) in fingers.items():  # to be pulled in straight, it closes, and the knuckle makes up for it
        bends[bone] = (-BEND if bone in knuckles else 2.0 * BEND) * hinge
    limits = (*known.limits, *finger_limits(skeleton, roles, fingers))
    if pose is not None:
        limits = tuple(group.widened(rotation.to_matrix(pose.rotations[..., group.bones, :])) for group in limits)
    return replace(skeleton, limits=(*skeleton.limits, *limits)), bends
