"""`bake`: a key at every frame, whatever made the motion."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge.words import as_text
from ..core import CoreError
from ..core.causes import Explanation, Kind
from ..core.freed import freed_pose
from .motion_edit import ChangedBones, Frames, MotionEdit, Progress
from .shown import WantedPose, deforming, wanted_pose

SEEN: Final = 1e-4  # metres of a human of 1.7 m, by which bones may be shown beside where they were seen
SEEN_TURNED: Final = 0.1  # degrees, likewise


class Baked(MotionEdit):
    """A key at every `step`th frame and at the last one on some bones, all if none are named.

    visual   key also driven bones as they are seen, and curves with modifiers as these evaluate
    mute     mute the constraints of such bones, where they act on no other
    """

    method, pose_tolerance = "bake", (SEEN, SEEN_TURNED)

    def __init__(
        self, context: Any, armature: Any, frames: tuple[int, int], bones: Sequence[str] = (), step: int = 1,
        visual: bool = False, mute: bool = False,
    ) -> None:  # fmt: skip
        if mute and not visual:
            raise CoreError("Mute Constraints only works with Visual. Turn Visual on.")
        if step > max(frames[1] - frames[0], 1):
            raise CoreError(f"A step of {step} is more than the number of frames from {frames[0]} to {frames[1]}.")
        numbers = np.arange(frames[0], frames[1] + 1, step)
        super().__init__(context, armature, np.union1d(numbers, [frames[1]]))
        skeleton = self.rig.skeleton
        self._bones = np.array([skeleton.index(bone) for bone in bones] or range(len(skeleton)))
        below = bridge.find_below(armature, self.before.frames).explain(self.rig, self._bones, self._bones)
        if below:
            raise CoreError(as_text(below))
        self._measured = deforming(self._bones, bridge.deforming(armature))
        self.visual, self.mute, self.measured = visual, mute, visual  # else the curves are what was read, and fast
        self._freed: list[int] = []
        if visual:
            self._free(armature)

    def _free(self, armature: Any) -> None:
        """Find the channels that show what Blender shows, and the bones that they free."""
        seen = self.before.pose.driven_matrices  # None where the motion was not read frame by frame
        seen = self.shown(armature, np.arange(len(self.before))).matrices.astype(float) if seen is None else seen
        free = np.isin(np.arange(len(self.rig.skeleton)), self._bones)
        skeleton = bridge.freed_rig(armature, self.rig, self._bones.tolist()).skeleton
        pose, changed, made = freed_pose(skeleton, self.before.pose, seen, self.rig.decided, free)
        self.after, self._freed = replace(self.before, pose=pose), np.flatnonzero(changed).tolist()
        self._seen = seen[:, self._measured]
        off = np.abs(made[:, self._measured] - self._seen)
        off[..., :3] *= skeleton.lengths[self._measured, None, None]
        if self.mute and off.max(initial=0.0) > SEEN * skeleton.size:
            self.pose_cause = Kind.SHEAR

    def compute(self, progress: Progress) -> None:
        progress(1.0)

    def unkeyed(self) -> str:
        """Return '2 of the bones get no keys; "head" is driven by ...' about driven bones; empty for none."""
        names = self.rig.skeleton.names
        driven = [names[bone] for bone in self._bones.tolist() if names[bone] in self.rig.driven]
        if not driven or self.visual:
            return ""
        said = f'{len(driven)} of the bones get no keys; "{driven[0]}" is driven by {self.rig.driven[driven[0]]}'
        return Explanation(said, remedy="Turn Visual on to key them")

    def write_keys(self, armature: Any, changed: ChangedBones, action: str | None, new: bool) -> Any:
        self._written = self._bones.tolist()
        if self.visual:
            written = bridge.write_visual(armature, self.rig, self.after, self._written, self._freed, action, new)
            if self.mute:
                bridge.mute_constraints(armature, [self.rig.skeleton.names[bone] for bone in self._freed])
            return written
        placed = self._bones[np.any(self.before.pose.translations, axis=(0, 2))[self._bones]]
        return bridge.write_keys(armature, self.rig, self.after, self._bones, placed, action, new, self._bones)

    def wanted(self, armature: Any, part: Frames) -> WantedPose:
        skeleton, bones = self.rig.skeleton, self._measured
        if not self.visual:
            return wanted_pose(skeleton, self.before.pose[part], bones, tails=True)
        names = [skeleton.names[bone] for bone in bones.tolist()]
        return WantedPose(bones, names, self._seen[part], skeleton.lengths[bones], aside=True)
