"""A pose by the parts of a human body or an animal, which any other one can take."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from .. import rotation
from ..body import Roles
from ..body.part_turns import PartTurns, leg_places, mirror_turns, read_turns, turn_bones, turns_to_frames
from ..body.roles import opposite_role
from ..errors import CoreError
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton
from .retarget import MovingBody, is_human

_UP: Final = np.array([0.0, 1.0, 0.0])  # in the canonical frame


@dataclass(frozen=True, eq=False)
class PartPose:
    """A pose of a human body or an animal.

    turns  role -> turns (k, 4) of all parts that the body has, with the hips
    posed  the parts that take the pose; turns of the others say what these hang on
    legs   of an animal the `leg_places`, else nothing
    """

    turns: PartTurns
    posed: frozenset[str]
    legs: Mapping[str, Array] = field(default_factory=dict[str, Array])

    def __post_init__(self) -> None:
        for leg, places in self.legs.items():
            if places.shape != self.turns.get(leg, np.zeros(())).shape[:1]:
                raise CoreError(f'The pose needs a rotation for each bone of "{leg}".')

    def mirrored(self) -> "PartPose":
        """Return the pose with left and right exchanged."""
        legs = {opposite_role(leg): places for leg, places in self.legs.items()}
        return PartPose(mirror_turns(self.turns), frozenset(map(opposite_role, self.posed)), legs)


def read_part_pose(skeleton: Skeleton, roles: Roles, pose: Pose) -> PartPose:
    """Return a pose (J) by the parts of its body. Raises CoreError if that is no human body and no animal."""
    if not (is_human(roles) or roles.animal):
        raise CoreError("Poses are transferred between human bodies, or between animals, and this armature is neither.")
    turns = read_turns(skeleton, roles, pose)
    return PartPose(turns, frozenset(turns), leg_places(skeleton, roles) if roles.animal else {})


def take_part_pose(skeleton: Skeleton, roles: Roles, pose: Pose, wanted: PartPose, share: float = 1.0) -> Pose:
    """Return a pose (J) whose parts go a `share` of the way to a pose of another body, relative to what they hang on.

    The body keeps its heading, and where the hips take part its place: the point between its feet, as high as its
    lowest part. Other bones keep their rotations. Raises CoreError if not both bodies are human, or both animals.
    """
    turns = read_part_pose(skeleton, roles, pose).turns
    if roles.animal != bool(wanted.legs):
        kinds = ("that of an animal", "that of a human")
        raise CoreError(
            f"This pose is {kinds[roles.animal]} and this body is {kinds[not roles.animal]}. "
            "Poses go from human to human and from animal to animal."
        )
    heading = rotation.mul(_heading(turns), rotation.inv(_heading(wanted.turns)))
    turned: Mapping[str, Array] = {role: rotation.mul(heading, some)[None] for role, some in wanted.turns.items()}
    bones = sorted({bone for role in wanted.posed for bone in roles.chain(role)})
    rotations = np.array(pose.rotations)
    whole = turn_bones(skeleton, rotations[None], turns_to_frames(skeleton, roles, turned, wanted.legs))[0]
    rotations[bones] = rotation.slerp(rotations[bones], whole[bones], np.float64(share))
    taken = replace(pose, rotations=rotations)
    if "hips" not in wanted.posed:
        return taken
    body = MovingBody(skeleton, roles)
    return body.move_hips(taken, body.footing(pose) - body.footing(taken))


def _heading(turns: PartTurns) -> Array:
    """Return the turn (4,) of the hips about the vertical."""
    return rotation.swing_twist(turns["hips"][0], _UP)[1]
