"""The motion of a body with its parts, keyed on the body's bones or on the controls that drive them."""

from collections.abc import Generator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from .. import bridge
from ..core import Motion, Pose
from ..core.rotation import Array
from .controls import Led, leading, set_switches
from .evaluated import record, unkeyed_kept
from .motion_edit import Bones, Edit, Frames


class BodyMotion(Edit):
    """The motion of a body with its parts, `roles` of `skeleton`; where controls lead the body, they get the keys."""

    def __init__(self, context: Any, armature: Any, frames: tuple[int, int] | Frames) -> None:
        super().__init__(context, armature, frames)
        self.roles = bridge.read_roles(armature, self.skeleton)
        self._channels = self.before
        self.led: Led | None = None
        self.controlled = bridge.find_controlled(armature, self.rig, self.roles, poles=True)
        if self.controlled is not None:
            self.rig = bridge.with_beginnings(self.rig, self.controlled)
            self.skeleton, self.roles = self.controlled.skeleton, self.controlled.roles
            seen = self.before.pose.driven_matrices  # what has been gone through frame by frame need not be once more
            if seen is None:
                self.before, _ = self.look(armature, slice(None))
            else:
                self.before = replace(self.before, pose=bridge.read_controlled(self.controlled, seen))
            self.after, self.always = self.before, np.zeros(len(self.skeleton), bool)

    def look(self, armature: Any, part: slice | Frames) -> tuple[Motion, Array]:
        if self.controlled is None:
            return super().look(armature, part)
        frames = self._channels.frames[part]
        with unkeyed_kept(bpy.context, armature):
            take = record(bpy.context, armature, frames)
        return Motion(bridge.read_controlled(self.controlled, take.matrices), frames, self._channels.fps), take.worlds

    def leading(self, armature: Any, new: bool = True) -> Generator[float, None, None]:
        if self.controlled is None:
            return
        on, motion, alone = self.led_frames(), self._channels, self.original and new
        with bridge.acting(armature, None) if alone else nullcontext():
            pose = bridge.read_pose(armature, self.rig)[None][np.zeros(len(on), int)] if alone else motion.pose[on]
            channels = Motion(pose, motion.frames[on], motion.fps)
            wanted = self.after.pose[on]
            self.led, _ = yield from leading(bpy.context, armature, self.rig, self.controlled, channels, wanted, True)

    def led_frames(self) -> Frames:
        """The frames, counted from 0, in which the controls are brought to the body."""
        return np.arange(len(self.after))

    def key(self, armature: Any, turned: Bones, moved: Bones, grown: Bones, action: str | None, new: bool) -> Any:
        if self.controlled is None:
            return super().key(armature, turned, moved, grown, action, new)
        led = self.controls_led(armature, new)
        if self.original and new:
            written = bridge.write_motion(armature, self.rig, led.motion, led.turned, action)
        else:
            written = bridge.write_keys(armature, self.rig, led.motion, led.turned, led.moved, action, new)
        set_switches(armature, led, framed=True)
        return written

    def controls_led(self, armature: Any, new: bool = True) -> Led:
        """The motion of the controls, from `leading`."""
        if self.led is None:
            for _ in self.leading(armature, new):
                pass
        assert self.led is not None
        return self.led

    def show(self, armature: Any, pose: Pose) -> None:
        """Give the armature a pose of its body, without keys."""
        if self.controlled is None:
            bridge.write_pose(armature, self.rig, pose, range(len(self.skeleton)))
        else:
            bridge.lead_controls(armature, self.rig, self.controlled, pose)
