"""`bake`: a key at every frame, whatever made the motion."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import bridge
from ..core import CoreError, Pose
from .motion_edit import ChangedBones, MotionEdit, Progress


class Baked(MotionEdit):
    """A key at every `step`th frame and at the last one on some bones, all if none are named.

    visual   key also driven bones as they are seen, and curves with modifiers as these evaluate
    mute     mute the constraints of such bones, where they act on no other
    """

    method = "bake"

    def __init__(
        self, context: Any, armature: Any, frames: tuple[int, int], bones: Sequence[str] = (), step: int = 1,
        visual: bool = False, mute: bool = False,
    ) -> None:  # fmt: skip
        if mute and not visual:
            raise CoreError("Constraints are muted where bones get keys of what these make; bake with Visual.")
        numbers = np.arange(frames[0], frames[1] + 1, step)
        super().__init__(context, armature, np.union1d(numbers, [frames[1]]))
        skeleton = self.rig.skeleton
        self._bones = np.array([skeleton.index(bone) for bone in bones] or range(len(skeleton)))
        self.visual, self.mute = visual, mute
        self._seen: dict[int, Pose] = {}
        if visual:
            driven = [bone for bone in self._bones.tolist() if skeleton.names[bone] in self.rig.driven]
            seen = bridge.read_visual(armature, self.rig, self.before.frames, driven) if driven else None
            self._seen = {bone: seen[:, [k]] for k, bone in enumerate(driven)} if seen is not None else {}

    def compute(self, progress: Progress) -> None:
        progress(1.0)

    def unkeyed(self) -> str:
        """Return '2 of the bones get no keys; "head" is decided by ...' about driven bones; empty for none."""
        names = self.rig.skeleton.names
        driven = [names[bone] for bone in self._bones.tolist() if names[bone] in self.rig.driven]
        if not driven or self.visual:
            return ""
        return f'{len(driven)} of the bones get no keys; "{driven[0]}" is decided by {self.rig.driven[driven[0]]}'

    def write_keys(self, armature: Any, changed: ChangedBones, action: str | None, new: bool) -> Any:
        if self.visual:
            written = bridge.write_visual(armature, self.rig, self.after, self._bones.tolist(), self._seen, action, new)
            if self.mute:
                bridge.mute_constraints(armature, [self.rig.skeleton.names[bone] for bone in self._seen])
            return written
        placed = self._bones[np.any(self.before.pose.translations, axis=(0, 2))[self._bones]]
        return bridge.write_keys(armature, self.rig, self.after, self._bones, placed, action, new, self._bones)
