"""How far Blender shows bones from where an edit wanted them: the measure that all verbs share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .. import bridge
from ..core import Pose, Skeleton, forward_matrices, rotation
from ..core.body import Roles
from ..core.formats.report import GoalReport
from ..core.motion import blocks
from ..core.pose import frame_rotations
from ..core.rotation import Array, lengths
from ..core.skeleton import Flags, Indices
from .evaluation import Evaluation

BESIDE: Final = 0.003  # metres of a human of 1.7 m, by which Blender may show a bone beside the pose that was solved
TURNED: Final = 1.0  # degrees, likewise


@dataclass(frozen=True, eq=False)
class WantedPose:
    """Bones with names, the frames (F, B, 3, 4) in which they are to be shown, and lengths (B,) to tails that count.

    aside: whether points one length along the other axes, where skin may be, count as tails do.
    """

    bones: Indices
    names: Sequence[str]
    matrices: Array
    lengths: Array
    aside: bool = False


def wanted_pose(skeleton: Skeleton, pose: Pose, bones: Indices, tails: bool) -> WantedPose:
    """Return the frames of some bones in poses (F)."""
    names = [skeleton.names[bone] for bone in bones.tolist()]
    return WantedPose(bones, names, forward_matrices(skeleton, pose)[:, bones], skeleton.lengths[bones] * tails)


def wanted_body(skeleton: Skeleton, roles: Roles, pose: Pose) -> WantedPose:
    """Return the frames of the parts of a body that controls drive, in poses (F); its lengths are those of its rig."""
    parts = [chain for chains in (roles.bones, roles.twist, roles.limbs) for chain in chains.values()]
    bones = {bone for chain in parts for bone in ((chain,) if isinstance(chain, int) else chain)}
    return wanted_pose(skeleton, pose, np.array(sorted(bones), int), tails=False)


def known_bones(rig: bridge.Rig, deform: Flags) -> Indices:
    """Return the bones that the channels alone pose: not driven, nor below a driven one; those that deform, if any."""
    known = ~rig.decided
    for bone, parent in enumerate(rig.skeleton.parents.tolist()):
        known[bone] &= parent < 0 or known[parent]
    return deforming(np.flatnonzero(known), deform)


def deforming(bones: Indices, deform: Flags) -> Indices:
    """Return those of the bones that deform; all where none does."""
    return bones[deform[bones]] if deform[bones].any() else bones


def measure_pose(
    frames: Array, wanted: Callable[[slice], WantedPose], shown: Callable[[slice], Evaluation],
    tolerance: tuple[float, float],
) -> GoalReport | None:  # fmt: skip
    """Return how far bones are shown beside where they are wanted, given blocks of the frames (F,); None for no bones.

    tolerance: metres and degrees.
    """
    far, turned = np.zeros((2, len(frames)))
    worst: dict[str, float] = {}
    for part in blocks(len(frames)):
        here, there = wanted(part), shown(part)
        if not len(here.bones):
            return None
        seen = there.matrices[:, here.bones].astype(float)
        off = seen - here.matrices
        along = [off[..., axis] for axis in ((1, 0, 2) if here.aside else (1,))]
        ends = np.stack([off[..., 3], *(off[..., 3] + here.lengths[:, None] * one for one in along)])  # heads, tails
        ends = lengths((there.worlds[:, None, :3, :3] @ ends[..., None])[..., 0]).max(axis=0)
        angles = np.degrees(
            rotation.angle_between(frame_rotations(seen[..., :3]), frame_rotations(here.matrices[..., :3]))
        )
        far[part], turned[part] = ends.max(axis=1), angles.max(axis=1)
        score = np.maximum(ends / tolerance[0], angles / tolerance[1]).max(axis=0)
        worst = {name: max(own, worst.get(name, 0.0)) for name, own in zip(here.names, score.tolist(), strict=True)}
    return GoalReport(max(worst, key=worst.__getitem__), "pose", frames, far, turned, *tolerance)
