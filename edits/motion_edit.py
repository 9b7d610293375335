"""`MotionEdit`: read a motion from Blender, solve without it, write keys, and measure them."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import bridge
from ..core import CoreError, Motion
from ..core.editing.timed_pins import TimedPin, pin_errors
from ..core.formats.report import GoalReport, Report
from ..core.motion import blocks
from ..core.rotation import Array, lengths
from ..core.skeleton import Flags

POSITION_TOLERANCE, ROTATION_TOLERANCE = 0.001, 0.5  # metres and degrees to which a pin holds

Progress = Callable[[float], object]
Bones = Frames = NDArray[np.int64]
ChangedBones = tuple[Bones, Bones, Bones]  # turned, moved, scaled


def no_progress(share: float) -> None:
    """Progress that nobody looks at."""


class MotionEdit:
    """Made, it has read the motion `before` with its `worlds` (F, 4, 4); `solve` finds `after`; `write` keys that.

    `solve` touches nothing of Blender's: it may run in a thread. Its `progress` is told the share that is done and may
    raise to cancel. Raises CoreError, with nothing changed, for what cannot be done.
    """

    method = ""  # as the report calls it
    makes_motion = False  # whether it is a motion of its own, and no change of the one that was there
    whole_scales = False  # whether scales are written whole, not the lengths of what stretches alone

    def __init__(self, context: Any, armature: Any, frames: tuple[int, int] | Frames, step: int = 1) -> None:
        """`frames`: from the first to the last in steps, or an array of all of them."""
        bridge.check(armature)
        check_scene(context, armature)
        context.view_layer.update()
        begin = perf_counter()
        self.rig = bridge.read_rig(armature)
        numbers = np.arange(frames[0], frames[1] + 1, step) if isinstance(frames, tuple) else frames
        self.skeleton = self.rig.skeleton
        self.before, self.worlds = bridge.read_motion(armature, self.rig, numbers)
        self.after = self.before
        self.pins: Sequence[TimedPin] = ()
        self.always_keyed: Flags = np.zeros(len(self.rig.skeleton), bool)  # bones keyed even if unchanged
        self.seconds = {"read": perf_counter() - begin}

    def solve(self, progress: Progress = no_progress) -> None:
        """Find `after`."""
        begin = perf_counter()
        self.compute(progress)
        self.seconds["solve"] = perf_counter() - begin

    def compute(self, progress: Progress) -> None:
        """What `solve` does in each kind of edit."""
        raise NotImplementedError

    def pose_controls(self, armature: Any, new: bool = True) -> Generator[float, None, None]:
        """What has to be found out in Blender, frame by frame, before `write`, which does it where it was not done.

        Yields the share that is done, nothing where there is nothing to do. All is as it was when it ends or is closed.
        """
        yield from ()

    def write(self, armature: Any, action: str | None = None, new: bool = True) -> Report:
        """Keys, see `bridge.write_keys`; reports the pins as Blender evaluates what was written."""
        begin = perf_counter()
        turned = moved = grown = np.zeros(0, int)
        if self.after is not self.before:
            turned, moved, grown = bridge.changed_bones(self.before.pose, self.after.pose)
        own = np.flatnonzero(self.always_keyed)
        turned = np.union1d(turned, own)
        moved = np.union1d(moved, own[self.skeleton.parents[own] < 0])
        written = self.write_keys(armature, (turned, moved, grown), action, new)
        self.seconds["write"] = perf_counter() - begin
        return self.report(armature, written, turned, moved)

    def report(self, armature: Any, written: Any, turned: Bones, moved: Bones) -> Report:
        """What was written into an action, and how the pins hold there."""
        names, goals = self.skeleton.names, self.measure(armature)
        return Report(
            armature=armature.name,
            frames=self.before.frames,
            method=self.method,
            seconds=self.seconds,
            goals=goals,
            explanations=self.explain(goals),
            action=None if written is None else written.name,
            rotated=tuple(names[bone] for bone in turned),
            moved=tuple(names[bone] for bone in moved),
        )

    def write_keys(self, armature: Any, changed: ChangedBones, action: str | None, new: bool) -> Any:
        """Write the keys of the bones that turned, moved and grew; returns the action, if there is one."""
        if self.makes_motion and new:
            return bridge.write_motion(armature, self.rig, self.after, np.flatnonzero(self.always_keyed), action)
        turned, moved, grown = changed
        return bridge.write_keys(armature, self.rig, self.after, turned, moved, action, new, grown, self.whole_scales)

    def measure(self, armature: Any) -> tuple[GoalReport, ...]:
        """How the pins hold in the motion that the armature has now."""
        return self.measure_pins(armature, self.pins)

    def measure_pins(self, armature: Any, pins: Sequence[TimedPin]) -> tuple[GoalReport, ...]:
        """The same of some pins. What they hold, and no more, is looked at, block by block: memory."""
        found: list[list[tuple[Array, Array]]] = [[] for _ in pins]
        held = np.zeros(len(self.before), bool)
        for pin in pins:
            held[slice(*pin.span(self.before))] = True
        frames = np.flatnonzero(held)
        for part in blocks(len(frames)) if len(frames) else ():
            motion, worlds = self.read_frames(armature, frames[part])
            for pin, errors in zip(pins, found, strict=True):
                on = slice(*pin.span(motion))
                if on.start < on.stop:
                    gaps, turns = pin_errors(self.skeleton, motion, pin.within(frames[part]))
                    errors.append(((worlds[on, :3, :3] @ gaps[..., None])[..., 0], turns))
        return tuple(self._report(pin, errors) for pin, errors in zip(pins, found, strict=True))

    def read_frames(self, armature: Any, part: slice | Frames) -> tuple[Motion, Array]:
        """Some frames, counted from 0, of the motion that the armature has now, and its world matrices (F, 4, 4)."""
        return bridge.read_motion(armature, self.rig, self.before.frames[part])

    def explain(self, goals: tuple[GoalReport, ...]) -> tuple[str, ...]:
        """Sentences about what was measured."""
        return tuple(goal.sentence() for goal in goals if not goal.met.all())

    def _report(self, pin: TimedPin, errors: Sequence[tuple[Array, Array]]) -> GoalReport:
        """`errors`: ways in the world and rotation vectors, block by block."""
        gaps, turns = (np.concatenate(some) for some in zip((np.zeros((0, 3)),) * 2, *errors, strict=True))
        far = None if pin.position is None else lengths(gaps)
        turned = None if pin.rotation is None else np.degrees(lengths(turns))
        return self.report_pin(pin, self.before.frames[slice(*pin.span(self.before))], far, turned)

    def report_pin(self, pin: TimedPin, frames: Array, far: Array | None, turned: Array | None) -> GoalReport:
        """How far off a pin is in some frames (F,), metres and degrees."""
        name = self.skeleton.names[self.skeleton.index(pin.bone)]
        return GoalReport(name, "hold", frames, far, turned, POSITION_TOLERANCE, ROTATION_TOLERANCE)


def no_action(armature: Any) -> str:
    """What to do about an armature without an action of its own."""
    data = armature.animation_data
    if data is not None and any(len(track.strips) for track in data.nla_tracks):
        return f'"{armature.name}" has no action, but strips in the NLA editor; bake its motion first.'
    return f'"{armature.name}" has no action; its motion has to be keyed.'


def unused_name(name: str) -> str | None:
    """The name of a new action; None, for Blender's own numbering, where it is taken."""
    return None if name in bpy.data.actions else name


@contextmanager
def temporary_value(armature: Any, name: str, value: Any) -> Iterator[None]:
    """A property of the object is another one inside: what looks at it when others change is to stay quiet."""
    before = getattr(armature, name)
    setattr(armature, name, value)
    try:
        yield
    finally:
        setattr(armature, name, before)


def check_scene(context: Any, armature: Any, keyed: bool = True) -> None:
    """Raises CoreError if the armature is not in the scene, or if keys would not be what is seen, or not be then."""
    if armature.name not in context.scene.objects:
        raise CoreError(f'The armature "{armature.name}" is not in the scene "{context.scene.name}".')
    render = context.scene.render
    if keyed and render.frame_map_old != render.frame_map_new:
        raise CoreError(
            "The scene remaps time, so that keys would not be at their frames; set Time Stretching to 100/100."
        )
    if keyed:
        bridge.check_target(armature)


def check_lasting(armature: Any, keyed: bool, way_out: str) -> None:
    """Raises CoreError if animation would replace an unkeyed pose when the file is opened; `way_out` is said then."""
    data = armature.animation_data
    if keyed or data is None:
        return
    if data.action is not None or any(not track.mute and len(track.strips) for track in data.nla_tracks):
        source = f'the action "{data.action.name}"' if data.action else "its NLA tracks"
        raise CoreError(
            f'"{armature.name}" is animated by {source}: a pose without keys would be lost when the file is opened '
            f"again. {way_out}"
        )
