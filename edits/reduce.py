"""`reduce-keys`: a motion with as few keys as a tolerance permits."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge.words import listed
from ..core import CoreError, Skeleton
from ..core.body import SIDES
from ..core.editing.bone_keys import QUARTERS, BoneChannels, ReducedKeys
from ..core.editing.reduction import CONSTANT, reduce_keys, watched_points
from ..core.formats.recipe import bones_of
from ..core.formats.report import GoalReport
from ..core.motion import blocks
from ..core.rotation import Array, lengths
from .motion_edit import ChangedBones, Frames, MotionEdit, Progress, no_action
from .shown import WantedPose, deforming, wanted_pose

TOLERANCE: Final = 0.005  # metres of a human of 1.7 m
LEAST: Final = 1e-6  # of the size of the body, what single precision tells apart
BODY: Final = "body"  # for the bones of WATCHED
WATCHED: Final = ("hips", "head", *(f"{part}.{side}" for part in ("hand", "foot") for side in SIDES))


class Reduced(MotionEdit):
    """Fewer keys on the chosen bones and their ancestors; `bones`: names, roles or BODY, by default all.

    With `alone`, ancestors keep their keys.
    `tolerance` is in metres, by default TOLERANCE of its size, at every frame and its quarters, for tails and points a
    bone's length beside its head.
    Flat curves get one key. Bones with stepped keys keep them, and so do bones that would get no fewer. Once written,
    `kept` of `keyed` is the number of keys on these bones, a key being one frame of a bone, and `all_kept` of
    `all_keyed` the number on all bones.
    """

    method = "reduce-keys"

    def __init__(
        self,
        context: Any,
        armature: Any,
        frames: tuple[int, int],
        bones: Sequence[str] = (),
        tolerance: float | None = None,
        alone: bool = False,
    ) -> None:
        if armature.animation_data is None or armature.animation_data.action is None:
            raise CoreError(no_action(armature))
        super().__init__(context, armature, frames)
        skeleton = self.rig.skeleton
        self.chosen = chosen_bones(armature, skeleton, bones)
        self._measured = deforming(np.array(self.chosen, int), bridge.deforming(armature)).tolist()
        size = size_in_world(skeleton, self.worlds)
        self.tolerance = tolerance = TOLERANCE * size if tolerance is None else tolerance
        check_tolerance(tolerance, size)
        self._own = skeleton.size * (tolerance / size)
        self.pose_tolerance = self._own / skeleton.size, np.inf
        above = {one for bone in self.chosen for one in skeleton.ancestors(bone)}
        self._carrying = carriers = sorted(self.chosen if alone else above)
        self._carriers = [skeleton.names[bone] for bone in carriers]
        self._span = first, last = float(self.before.frames[0]), float(self.before.frames[-1])
        self._quarters = np.arange(QUARTERS * int(first), QUARTERS * int(last) + 1) / QUARTERS
        frames_of = bridge.key_frames(armature, first, last)
        self._keys = {bone: len(at) for bone, at in frames_of.items()}
        if not any(self._keys.get(bone) for bone in self._carriers):
            raise CoreError("These bones and their parents have no keys. Bake the motion first.")
        self._truth, _ = bridge.read_motion(armature, self.rig, self._quarters)
        self.stepped = sorted(bridge.stepped_bones(armature, first, last).intersection(self._carriers))
        smooth = [bone for bone in carriers if skeleton.names[bone] not in self.stepped]
        if not smooth:
            raise CoreError("All keys of these bones are stepped, so none of them can be removed.")
        turns = bridge.rotation_curves(armature, self.rig, self._truth, smooth)
        self._channels = [
            BoneChannels(
                bone, skeleton.rotation_modes[bone], values, self._location(bone), frames_of.get(skeleton.names[bone])
            )
            for bone, values in turns.items()
        ]
        self.reduced: ReducedKeys | None = None
        self._left: list[int] = []  # bones that keep their keys, since no fewer do
        self.kept = self.keyed = self.all_kept = self.all_keyed = 0

    def _location(self, bone: int) -> Any:
        places = self._truth.pose.translations[:, bone]
        moves = np.ptp(places, axis=0).max() > CONSTANT * self.rig.skeleton.size
        return places if moves and self.rig.skeleton.translatable[bone].any() else None

    def compute(self, progress: Progress) -> None:
        names = [self.rig.skeleton.names[bone] for bone in self.chosen]
        channels = self._channels
        while True:
            self.reduced = reduce_keys(self.rig.skeleton, self._truth, names, self._own, channels, progress)
            if not self.reduced.missed:
                return
            self._left += self.reduced.missed
            channels = [one for one in channels if one.bone not in self._left]

    def write_keys(self, armature: Any, changed: ChangedBones, action: str | None, new: bool) -> Any:
        assert self.reduced is not None  # `solve` comes first
        names = self.rig.skeleton.names
        fewer = [one for one in self.reduced.bones if len(one.keys.frames) < self._keys.get(names[one.bone], 0)]
        written = bridge.write_reduced(armature, self.rig, fewer, self._carrying, self._span, action, new)
        now = {bone: len(at) for bone, at in bridge.key_frames(armature, *self._span).items()}
        self.all_keyed, self.all_kept = sum(self._keys.values()), sum(now.values())
        self.keyed, self.kept = (sum(keys.get(bone, 0) for bone in self._carriers) for keys in (self._keys, now))
        return written

    def measure(self, armature: Any) -> tuple[GoalReport, ...]:
        """Return how far watched points of the measured bones moved, in the world, at every frame and its quarters."""
        parts: list[Array] = []
        for part in blocks(len(self._quarters)):
            after, worlds = bridge.read_motion(armature, self.rig, self._quarters[part])
            poses = self._truth.pose[part], after.pose
            was, now = (watched_points(self.rig.skeleton, pose, self._measured) for pose in poses)
            moved = (worlds[:, None, None, :3, :3] @ (now - was)[..., None])[..., 0]
            parts.append(lengths(moved).max(axis=-1))
        gaps = np.concatenate(parts)
        return tuple(
            GoalReport(self.rig.skeleton.names[bone], "keep", self._quarters, gaps[:, k], None, self.tolerance, 1.0)
            for k, bone in enumerate(self._measured)
        )

    def wanted(self, armature: Any, part: Frames) -> WantedPose:
        return wanted_pose(self.rig.skeleton, self.before.pose[part], np.array(self._measured), tails=False)

    def summary(self) -> str:
        """Return what became of the keys, as '120 of 800 keys kept on 14 bones, 900 of 1580 in all'."""
        keyed = sum(bone in self._keys for bone in self._carriers)
        sentence = f"{self.kept} of {self.keyed} keys kept on {keyed} bones"
        if self.all_keyed > self.keyed:
            sentence += f", {self.all_kept} of {self.all_keyed} in all"
        if self.stepped:
            sentence += f"; stepped keys are kept: {listed(self.stepped)}"
        if self._left:
            left = [self.rig.skeleton.names[bone] for bone in self._left]
            sentence += f"; no keys could be removed from {listed(left)}"
        return sentence


def size_in_world(skeleton: Skeleton, worlds: Array) -> float:
    """Return the size of a body under matrices (..., 4, 4): 1 for a human of 1.7 m."""
    return skeleton.size * bridge.largest_scale(worlds)


def check_tolerance(tolerance: float, size: float | None = None) -> None:
    """Raise CoreError unless the tolerance is a positive, finite number; or one that a body of a `size` can have."""
    if not 0.0 < tolerance < np.inf:
        raise CoreError(f"The tolerance must be a positive number of meters, not {tolerance:g}.")
    if size is not None and not LEAST * size <= tolerance <= size:
        raise CoreError(
            f"The tolerance must be between {LEAST * size:.2g} and {size:.2g} m, the size of the body, "
            f"not {tolerance:g} m."
        )


def check_tolerance_on(armature: Any, tolerance: float | None) -> None:
    """Raise CoreError for a tolerance that the body of an armature cannot have, before a long edit."""
    if tolerance is not None:
        check_tolerance(tolerance, size_in_world(bridge.read_rig(armature).skeleton, bridge.world_matrix(armature)))


def check_bones(armature: Any, bones: Sequence[str]) -> None:
    """Raise CoreError for bones or roles that the armature does not have."""
    chosen_bones(armature, bridge.read_rig(armature).skeleton, bones)


def chosen_bones(armature: Any, skeleton: Skeleton, bones: Sequence[str]) -> list[int]:
    """Return the bones of names or roles, of BODY, or all if none are named."""
    if not bones:
        return list(range(len(skeleton)))
    roles = bridge.read_roles(armature, skeleton)
    if list(bones) == [BODY] and not roles.humanoid:
        return [bone for bone in range(len(skeleton)) if bone not in set(skeleton.parents.tolist())]
    named = [role for role in WATCHED if role in roles.bones] if list(bones) == [BODY] else bones
    return [
        bone for name in named for bone in ([skeleton.index(name)] if name in skeleton.names else bones_of(roles, name))
    ]
