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
from .controls import ControlMotion, pose_controls, set_switches
from .evaluation import evaluate, preserve_channels
from .motion_edit import ChangedBones, Frames, MotionEdit


class BodyMotion(MotionEdit):
    """The motion of a body with its parts, `roles` of `skeleton`; where controls lead the body, they get the keys."""

    def __init__(self, context: Any, armature: Any, frames: tuple[int, int] | Frames) -> None:
        super().__init__(context, armature, frames)
        self.roles = bridge.read_roles(armature, self.skeleton)
        self._channels = self.before
        self.control_motion: ControlMotion | None = None
        self.controlled = bridge.find_controlled(armature, self.rig, self.roles, poles=True)
        if self.controlled is not None:
            self.rig = bridge.with_ik_starts(self.rig, self.controlled)
            self.skeleton, self.roles = self.controlled.skeleton, self.controlled.roles
            seen = self.before.pose.driven_matrices  # what has been gone through frame by frame need not be once more
            if seen is None:
                self.before, _ = self.read_frames(armature, slice(None))
            else:
                self.before = replace(self.before, pose=bridge.read_controlled(self.controlled, seen))
            self.after, self.always_keyed = self.before, np.zeros(len(self.skeleton), bool)

    def read_frames(self, armature: Any, part: slice | Frames) -> tuple[Motion, Array]:
        if self.controlled is None:
            return super().read_frames(armature, part)
        frames = self._channels.frames[part]
        with preserve_channels(bpy.context, armature):
            take = evaluate(bpy.context, armature, frames)
        return Motion(bridge.read_controlled(self.controlled, take.matrices), frames, self._channels.fps), take.worlds

    def pose_controls(self, armature: Any, new: bool = True) -> Generator[float, None, None]:
        if self.controlled is None:
            return
        on, motion, alone = self.control_frames(), self._channels, self.makes_motion and new
        with bridge.using_action(armature, None) if alone else nullcontext():
            pose = bridge.read_pose(armature, self.rig)[None][np.zeros(len(on), int)] if alone else motion.pose[on]
            channels = Motion(pose, motion.frames[on], motion.fps)
            wanted = self.after.pose[on]
            self.control_motion, _ = yield from pose_controls(
                bpy.context, armature, self.rig, self.controlled, channels, wanted, True
            )

    def control_frames(self) -> Frames:
        """The frames, counted from 0, in which the controls are brought to the body."""
        return np.arange(len(self.after))

    def write_keys(self, armature: Any, changed: ChangedBones, action: str | None, new: bool) -> Any:
        if self.controlled is None:
            return super().write_keys(armature, changed, action, new)
        led = self.find_control_motion(armature, new)
        if self.makes_motion and new:
            written = bridge.write_motion(armature, self.rig, led.motion, led.turned, action)
        else:
            written = bridge.write_keys(armature, self.rig, led.motion, led.turned, led.moved, action, new)
        set_switches(armature, led, framed=True)
        return written

    def find_control_motion(self, armature: Any, new: bool = True) -> ControlMotion:
        """The motion of the controls, from `pose_controls`."""
        if self.control_motion is None:
            for _ in self.pose_controls(armature, new):
                pass
        assert self.control_motion is not None
        return self.control_motion

    def show_pose(self, armature: Any, pose: Pose) -> None:
        """Give the armature a pose of its body, without keys."""
        if self.controlled is None:
            bridge.write_pose(armature, self.rig, pose, range(len(self.skeleton)))
        else:
            bridge.pose_controls(armature, self.rig, self.controlled, pose)
