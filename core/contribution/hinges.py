"""What a chain keeps of a body's anatomy: elbows, knees and fingers bend one way."""

from dataclasses import replace

from ..humanoid.anatomy import BEND, anatomy
from ..humanoid.grip import finger_hinges, finger_limits
from ..humanoid.roles import Roles
from ..rotation import Array
from ..skeleton import Skeleton


def with_hinges(skeleton: Skeleton, roles: Roles) -> tuple[Skeleton, Array]:
    """The skeleton with their limits added, and (J, 3) how what is straight bends, for `ContributionCCD.bends`."""
    known, fingers = anatomy(skeleton, roles), finger_hinges(skeleton, roles)
    bends = known.bends.copy()
    for bone, (hinge, _) in fingers.items():
        bends[bone] = BEND * hinge
    limits = (*skeleton.limits, *known.limits, *finger_limits(skeleton, roles, fingers))
    return replace(skeleton, limits=limits), bends
