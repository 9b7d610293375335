"""A pose by the parts of a human body, which any other one can take."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from .. import rotation
from ..body import Roles
from ..body.part_turns import PartTurns, mirror_turns, read_turns, turn_bones, turns_to_frames
from ..body.roles import opposite_role
from ..errors import CoreError
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton
from .retarget import MovingBody, is_human

_UP: Final = np.array([0.0, 1.0, 0.0])  # in the canonical frame


@dataclass(frozen=True, eq=False)
class PartPose:
    """A pose of a human body.

    turns  role -> turns (k, 4) of all parts that the body has, with the hips
    posed  the parts that take the pose; turns of the others say what these hang on
    """

    turns: PartTurns
    posed: frozenset[str]

    def mirrored(self) -> "PartPose":
        """Return the pose with left and right exchanged."""
        return PartPose(mirror_turns(self.turns), frozenset(map(opposite_role, self.posed)))


def read_part_pose(skeleton: Skeleton, roles: Roles, pose: Pose) -> PartPose:
    """Return a pose (J) by the parts of its body. Raises CoreError if that is no human body."""
    if not is_human(roles):
        raise CoreError("Poses are transferred between human bodies, and this armature has none.")
    turns = read_turns(skeleton, roles, pose)
    return PartPose(turns, frozenset(turns))


def take_part_pose(skeleton: Skeleton, roles: Roles, pose: Pose, wanted: PartPose, share: float = 1.0) -> Pose:
    """Return a pose (J) whose parts go a `share` of the way to a pose of another body, relative to what they hang on.

    The body keeps its heading, and where the hips take part its place: the point between its feet, as high as its
    lowest part. Other bones keep their rotations. Raises CoreError if there is no human body.
    """
    turns = read_part_pose(skeleton, roles, pose).turns
    heading = rotation.mul(_heading(turns), rotation.inv(_heading(wanted.turns)))
    turned: Mapping[str, Array] = {role: rotation.mul(heading, some)[None] for role, some in wanted.turns.items()}
    bones = sorted({bone for role in wanted.posed for bone in roles.chain(role)})
    rotations = np.array(pose.rotations)
    whole = turn_bones(skeleton, rotations[None], turns_to_frames(skeleton, roles, turned))[0]
    rotations[bones] = rotation.slerp(rotations[bones], whole[bones], np.float64(share))
    taken = replace(pose, rotations=rotations)
    if "hips" not in wanted.posed:
        return taken
    human = MovingBody(skeleton, roles)
    return human.move_hips(taken, human.footing(pose) - human.footing(taken))


def _heading(turns: PartTurns) -> Array:
    """Return the turn (4,) of the hips about the vertical."""
    return rotation.swing_twist(turns["hips"][0], _UP)[1]
