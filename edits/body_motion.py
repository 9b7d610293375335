"""The motion of a body with its parts, keyed on the body's bones or on the controls that drive them."""

from collections.abc import Generator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..bridge.motion import preserve_channels
from ..bridge.shapes import placed
from ..bridge.words import as_text
from ..core import CoreError, Motion, Pose
from ..core.body.anatomy import carrier_of
from ..core.body.unfolding import rebased, unfold
from ..core.editing.contacts import BodyPoint, point_positions
from ..core.editing.smoothing import steady_part
from ..core.editing.timed_pins import TimedPin
from ..core.motion import blocks
from ..core.pose import forward, forward_matrices
from ..core.rotation import Array, lengths
from ..core.steps import run_steps
from .controls import ControlMotion, find_control_motion, frames_of_body, placed_at_rest
from .evaluation import Evaluation, evaluate
from .motion_edit import ChangedBones, Frames, MotionEdit, no_progress
from .pins import part_of
from .shown import WantedPose, wanted_body

_FAR: Final = 0.2  # of the size of the body: metres of a human of 1.7 m


class BodyMotion(MotionEdit):
    """The motion of a body with its parts, `roles` of `skeleton`; where controls drive the body, they get the keys.

    Where the rest pose shows no body, as of clips whose bones all lie along one axis, the skeleton has one from the
    motion.

    besides: names of controls that are to be bones of the body, as far as they move with a part of it.
    placed: bones of the rig that have their pose of `channels` before the controls are posed.
    posed: poses of the body that Blender showed when the controls were posed, in `control_frames`.
    free: the skeleton, with what NLA strips move free to move, too.
    staying: pins of the parts that these strips move and that would go with others.
    steady: whether a first and a last frame from which the body jumps, as from a rest pose, are left out.
    """

    besides: Sequence[str] = ()
    placed: Sequence[int] = ()
    posed: Pose | None = None
    steady = False
    left_out: Sequence[float] = ()

    def __init__(self, context: Any, armature: Any, frames: tuple[int, int] | Frames) -> None:
        super().__init__(context, armature, frames)
        self.channels = self.before
        if not self.makes_motion:
            self.skeleton, pose = unfold(self.rig.skeleton, self.before.pose)
            self.after = self.before = replace(self.before, pose=pose)
        self.roles = bridge.read_roles(armature, self.skeleton)
        if self.skeleton is self.rig.skeleton:
            self.roles = bridge.with_soles(armature, self.skeleton, self.roles)
        besides = [self.skeleton.index(name) for name in self.besides if name in self.skeleton.names]
        self.controlled = bridge.find_controlled_frames(
            armature, self.rig, self.roles, self.before.frames, self.states, besides
        )
        if self.controlled is not None:
            self.rig = self.controlled.with_starts(self.rig)
            self.skeleton, self.roles = self.controlled.skeleton, self.controlled.roles
            seen = self.before.pose.driven_matrices  # None where the motion was not read frame by frame
            if seen is None:
                self.before, _ = self.read_frames(armature, slice(None))
            else:
                self.before = replace(self.before, pose=self.controlled.read(seen))
            self.after, self.always_keyed = self.before, np.zeros(len(self.skeleton), bool)
        self._below = bridge.Held() if self.makes_motion else bridge.find_below(armature)
        self.staying: list[TimedPin] = []
        self.free = self.skeleton
        if self._below:
            self._leave_below()
        if self.steady:
            part = steady_part(self.skeleton, self.before)
            self.left_out = np.delete(self.before.frames, part).tolist()
            if self.left_out:
                self.keep(part)

    def _leave_below(self) -> None:
        """Take from the body what NLA strips move and the action has no keys for; it stays as the motion has it."""
        whole, below = self.free, self._below
        self._own = range(len(whole)) if self.controlled is None else sorted(self.controlled.now.keyed)
        if self.controlled is None:
            self.rig, self.skeleton = below.lock(self.rig), below.lock_bones(self.rig, whole)
        else:
            held = bridge.hold_controls(self.rig, self.controlled.now, below)
            self.controlled = self.controlled.changed(lambda one: bridge.hold_controls(self.rig, one, below).controlled)
            self.skeleton = self.controlled.skeleton
            (heads, turns), (first, last) = forward(whole, self.before.pose), self.before.frames[[0, -1]].tolist()
            for part in sorted({*held.turns, *held.moves}):
                place, turn = heads[:, part] if part in held.moves else None, turns[:, part]
                self.staying.append(TimedPin(part, first, last, place, turn if part in held.turns else None))
        locked = self.skeleton.rotation_locks & ~whole.rotation_locks
        self._turned = (whole.movable & ~self.skeleton.movable) | locked.any(axis=1)
        self._moved = whole.translatable & ~self.skeleton.translatable

    def with_below(self, motion: Motion) -> Motion:
        """Return a motion of the same frames with what NLA strips move, and stays, as it was."""
        if not self._below:
            return motion
        was, pose = self.before.pose, motion.pose
        rotations = np.where(self._turned[:, None], was.rotations, pose.rotations)
        translations = np.where(self._moved, was.translations, pose.translations)
        return replace(motion, pose=Pose.trusted(rotations, translations, pose.scales, pose.driven_matrices))

    def check_kept(self, motion: Motion) -> None:
        """Raise CoreError where a motion of the same frames changes what NLA strips move, and stays."""
        turned, moved, _ = bridge.changed_bones(self.with_below(motion).pose, motion.pose, self.skeleton.size)
        if len(turned) or len(moved) or self.staying:
            raise CoreError(as_text(self._explain_below()))

    def check_reached(self, bone: int) -> None:
        """Raise CoreError where NLA strips move a bone and all that carries it, so that it stays."""
        if not self.reached(bone):
            raise CoreError(as_text(self._explain_below()))

    def reached(self, bone: int) -> bool:
        """Return whether a bone can move: not where NLA strips move it and all that carries it."""
        if not self._below:
            return True
        above, carrier = self.skeleton.ancestors(bone), carrier_of(self.free, self.roles)
        slides = any(self.skeleton.translatable[one].any() for one in above if one in (above[-1], carrier))
        return bool(self.skeleton.movable[above[1:]].any() or slides)

    def _explain_below(self) -> list[str]:
        """Return sentences about what NLA strips move, and stays."""
        if not self._below:
            return []
        return self._below.explain(self.rig, self._own, self._own)

    def said_staying(self, armature: Any) -> list[str]:
        return [*super().said_staying(armature), *self._explain_below()]

    @property
    def hips(self) -> int:
        """The bone that goes where the body goes: the hips, or what carries it, or the first that hangs on no other."""
        if "hips" in self.roles.bones:
            return self.roles.bone("hips")
        carrier = carrier_of(self.skeleton, self.roles)
        return int(np.argmin(self.skeleton.parents)) if carrier is None else carrier

    def keep(self, part: slice) -> None:
        """Keep some of the frames, counted from 0, as if only they had been read."""
        self.before, self.channels = self.before[part], self.channels[part]
        self.after, self.worlds = self.before, self.worlds[part]
        self.staying = [pin.within(part) for pin in self.staying]
        self.controlled = None if self.controlled is None else self.controlled.take(part)

    def advice(self) -> list[str]:
        """Return sentences about what may not be wanted of the result, each with what to do."""
        return []

    def jumps(self) -> list[str]:
        """Return a sentence about each frame that was left out."""
        return [f"the body jumps at frame {frame:g}, which stays as it is" for frame in self.left_out]

    def read_frames(self, armature: Any, part: slice | Frames) -> tuple[Motion, Array]:
        if self.controlled is None:
            motion, worlds = super().read_frames(armature, part)
            return replace(motion, pose=rebased(self.rig.skeleton, self.skeleton, motion.pose)), worlds
        frames = self.channels.frames[part]
        with preserve_channels(bpy.context, armature):
            seen = evaluate(bpy.context, armature, frames)
        pose = self.controlled.take(part).read(seen.matrices.astype(float))
        return Motion(pose, frames, self.channels.fps), seen.worlds

    def pose_controls(self, armature: Any, new: bool = True) -> Generator[float, None, None]:
        if self.controlled is None:
            return
        on, motion, alone = self.control_frames(), self.channels, self.makes_motion and new
        with bridge.using_action(armature, None) if alone else nullcontext():
            pose, left = motion.pose[on], self.placed
            if alone:
                pose, left = placed_at_rest(self.rig, self.controlled.now, bridge.read_pose(armature, self.rig))
                pose = pose[None][np.zeros(len(on), int)]
            channels, located = Motion(pose, motion.frames[on], motion.fps), self.located
            body = bridge.repeated(self.controlled.now, len(on)) if alone else self.controlled.take(on)
            body = body.changed(lambda one: one.slid(located))
            self.control_motion, wanted, self.posed = yield from find_control_motion(
                bpy.context, armature, self.rig, body, channels, self.after.pose[on], True, left
            )
        rotations, translations = np.array(self.after.pose.rotations), np.array(self.after.pose.translations)
        rotations[on], translations[on] = wanted.rotations, wanted.translations
        self.after = replace(self.after, pose=replace(self.after.pose, rotations=rotations, translations=translations))

    @property
    def located(self) -> Array:
        """Locations (..., J, 3) of the rig's bones in the poses of which the motion is made."""
        return self.channels.pose.translations

    def control_frames(self) -> Frames:
        """Return the frames, counted from 0, in which the controls are posed."""
        return np.arange(len(self.after))

    def rig_motion(self, armature: Any, changed: ChangedBones, new: bool) -> tuple[Motion, ChangedBones]:
        if self.controlled is None:
            return replace(self.after, pose=self.own_pose(self.after.pose)), changed
        control, now = self.find_control_motion(armature, new), self.controlled.now
        own = [now.bones_that(what)[self.always_keyed] for what in ("turns", "begins")]
        turned = np.setdiff1d(np.concatenate([np.array(control.turned, int), *own]), [-1])
        return control.motion, (turned, np.array(control.moved, int), np.zeros(0, int))

    def own_pose(self, pose: Pose) -> Pose:
        """Return poses (...) of a body without controls as those of the rig's bones, which may rest in another pose."""
        return rebased(self.skeleton, self.rig.skeleton, pose)

    def find_control_motion(self, armature: Any, new: bool = True) -> ControlMotion:
        """Return the motion of the controls, found by `pose_controls` now if it was not called before."""
        if self.control_motion is None:
            run_steps(self.pose_controls(armature, new), no_progress)
        assert self.control_motion is not None
        return self.control_motion

    def wanted(self, armature: Any, part: Frames) -> WantedPose:
        if self.controlled is None:
            return super().wanted(armature, part)
        return wanted_body(self.skeleton, self.roles, self.after.pose[part])

    def shown(self, armature: Any, part: Frames) -> Evaluation:
        seen = super().shown(armature, part)
        if self.controlled is None:
            return seen
        body = bridge.repeated(self.controlled.now, len(self.before)) if self.makes_motion else self.controlled
        return frames_of_body(body.take(part), seen)

    def part_of(self, armature: Any, name: str, point: Sequence[float]) -> tuple[int, tuple[float, float, float]]:
        """Return the bone of the body that a bone is, or is carried by, and its point there. Raises CoreError."""
        now = None if self.controlled is None else self.controlled.now
        bone, place, _ = part_of(self.rig, now, bridge.read_matrices(armature), name, point)
        x, y, z = place.tolist()
        return bone, (x, y, z)

    def places(self, points: Sequence[BodyPoint]) -> Array:
        """Return where points are in the frames of the solved motion, (F, P, 3) in the world."""
        return placed(self.worlds, point_positions(self.skeleton, self.after.pose, points))

    def ends_apart(self, one: Pose, other: Pose) -> Array:
        """Return by how many metres heads and tails of bones are apart at most in poses (F), (F,)."""
        found, world = np.empty(len(one.rotations)), self.worlds[0, :3, :3]
        for part in blocks(len(found)):
            here, there = (forward_matrices(self.skeleton, pose[part]) for pose in (one, other))
            off = here - there
            ends = np.stack([off[..., 3], off[..., 3] + self.skeleton.lengths[:, None] * off[..., 1]])
            found[part] = lengths(ends @ world.T).max(axis=(0, 2))
        return found

    def changed_far(self, one: Pose, other: Pose) -> bool:
        """Return whether heads or tails of bones are further apart in poses (F), (F,) than a tool should take them."""
        size = self.skeleton.size * float(bridge.length_scale(self.worlds).max())
        return bool(self.ends_apart(one, other).max() > _FAR * size)

    def show_pose(self, armature: Any, pose: Pose) -> None:
        """Give the armature a pose of its body at the present frame, without keys."""
        if self.controlled is None:
            bridge.write_pose(armature, self.rig, self.own_pose(pose), range(len(self.skeleton)))
        else:
            bridge.pose_controls(armature, self.rig, self.controlled.now, pose)
