"""`MotionEdit`: read a motion from Blender, solve without it, write keys, and measure them."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import bridge
from ..bridge.motion import preserve_channels
from ..bridge.turns import update
from ..bridge.words import listed
from ..core import CoreError, Motion
from ..core.causes import Cause, Explanation, Kind
from ..core.editing.bezier import Keys
from ..core.editing.bone_keys import BoneKeys
from ..core.editing.timed_pins import TimedPin, pin_errors
from ..core.formats.report import FloorReport, GoalReport, Report
from ..core.motion import blocks
from ..core.rotation import Array, lengths
from ..core.skeleton import Flags
from .controls import ControlMotion
from .evaluation import Evaluation, evaluate
from .shown import BESIDE, TURNED, WantedPose, known_bones, measure_pose, wanted_pose

UNMEASURED: Final = "the result in the viewport was not measured"
POSITION_TOLERANCE, ROTATION_TOLERANCE = 0.001, 0.5  # metres and degrees to which a pin holds

Progress = Callable[[float], object]
Bones = Frames = NDArray[np.int64]
ChangedBones = tuple[Bones, Bones, Bones]  # turned, moved, scaled


def no_progress(share: float) -> None:
    """Show progress where work takes turns with Blender, and look whether Ctrl-C or Esc was pressed."""
    bridge.check_stopped(share)


class MotionEdit:
    """An edit of a motion in four steps: made, it has read; then `solve`; `write` keys and measures.

    `before` is the motion that was read, with `worlds` (F, 4, 4) from armature to world space; `solve` finds `after`.
    `solve` touches nothing of Blender's, so that it may run in a thread; its `progress` is called with the share that
    is done and may raise to cancel. All steps raise CoreError, with nothing changed, for what cannot be done.
    """

    method = ""  # its name in the report
    makes_motion = False  # whether the result is a motion of its own, not a change of the one that was there
    whole_scales = False  # whether all scales are written, not only the lengths of bones with stretch
    keyed = True  # whether keys are written, not only the pose
    control_motion: ControlMotion | None = None  # where the body is driven by controls, once they are posed
    pose_tolerance = BESIDE, TURNED  # of what Blender shows, in metres of a human of 1.7 m and in degrees
    layered = True  # whether the motion that was there can go to an NLA track, if the armature's setting says so
    stays: Sequence[str] = ()  # sentences about curves, once keys are written
    pose_cause = Kind.RIG  # why Blender may show the pose beside the one that was solved
    measured = True  # whether the report says how far Blender shows the pose from the one that was solved

    def __init__(
        self, context: Any, armature: Any, frames: tuple[int, int] | Frames | None, keyed: bool = True
    ) -> None:
        """Read the motion; `frames`: the first and the last one, an array of all, or None for the present pose."""
        bridge.check(armature)
        check_scene(context, armature, keyed)
        update(context)
        begin = perf_counter()
        self.keyed = keyed
        self.rig = bridge.read_rig(armature)
        self.skeleton = self.rig.skeleton
        self.states: dict[float, bytes] = {}  # frame -> that of the constraints, where it is not as now
        self.prepare(armature)
        if frames is None:
            render, now = context.scene.render, np.array([context.scene.frame_current_final])
            self.before = Motion(bridge.read_pose(armature, self.rig)[None], now, render.fps / render.fps_base)
            self.worlds = bridge.world_matrix(armature)[None]
        else:
            numbers = np.arange(frames[0], frames[1] + 1) if isinstance(frames, tuple) else frames
            self.before, self.worlds = bridge.read_motion(armature, self.rig, numbers, self.noting(armature))
        self.after = self.before
        self.pins: Sequence[TimedPin] = ()
        self._written: Sequence[int] = ()  # bones of the rig
        self.always_keyed: Flags = np.zeros(len(self.skeleton), bool)  # bones that are keyed even if unchanged
        self.seconds = {"read": perf_counter() - begin}

    def prepare(self, armature: Any) -> None:
        """Check what an edit names against the rig, before the motion is read."""

    def noting(self, armature: Any) -> Callable[[], None]:
        """Return what notes the state of the constraints in a frame that is read."""
        scene: Any = bpy.context.scene

        def note() -> None:
            self.states[scene.frame_current_final] = bridge.read_state(armature)

        return note

    def solve(self, progress: Progress = no_progress) -> None:
        """Compute `after` and measure the time that this takes."""
        begin = perf_counter()
        self.compute(progress)
        self.seconds["solve"] = perf_counter() - begin

    def compute(self, progress: Progress) -> None:
        """Compute `after`; each kind of edit overrides this."""
        raise NotImplementedError

    def pose_controls(self, armature: Any, new: bool = True) -> Generator[float, None, None]:
        """Find `control_motion` in Blender, frame by frame; `write` does so where this was not called.

        Yields the share that is done, nothing where no controls are posed. Everything is restored when the generator
        ends or is closed.
        """
        yield from ()

    def write(self, armature: Any, action: str | None = None, new: bool = True) -> Report:
        """Write keys, see `bridge.write_keys`, and report the pins as Blender evaluates what was written."""
        begin = perf_counter()
        changed = self.changed_bones()
        data = armature.animation_data
        old, slot = (None, None) if data is None else (data.action, data.action_slot)
        self.rig_motion(armature, changed, new)  # which may pose controls: until then Esc changes nothing
        with bridge.undisturbed():
            written = self.write_keys(armature, changed, action, new)
            if self.layered and armature.poise_use_layers and old is not None and written not in (None, old):
                bridge.push_down(armature, old, slot)
        self.seconds["write"] = self.seconds.get("write", 0.0) + perf_counter() - begin
        return self.report(armature, written, changed)

    def changed_bones(self) -> ChangedBones:
        """Return the bones that turned, moved and were scaled, with those that are keyed in any case."""
        turned = moved = scaled = np.zeros(0, int)
        if self.after is not self.before:
            turned, moved, scaled = bridge.changed_bones(self.before.pose, self.after.pose, self.skeleton.size)
        own = np.flatnonzero(self.always_keyed)
        return np.union1d(turned, own), np.union1d(moved, own[self.skeleton.parents[own] < 0]), scaled

    @property
    def misfit(self) -> Sequence[str]:
        """Sentences about limbs that IK shows beside the solved pose, once controls are posed."""
        return () if self.control_motion is None else self.control_motion.misfit

    def report(self, armature: Any, written: Any, changed: ChangedBones) -> Report:
        """Report what was written into an action, and how the pins hold there."""
        names, goals, pose, floor = self.skeleton.names, tuple[GoalReport, ...](), None, None
        try:
            goals = self.measure(armature)
            pose = self.measure_pose(armature) if self.measured else None
            floor = self.measure_floor(armature)
            explained = self.explain(goals)
        except bridge.Stopped:  # what is written stays
            explained = (UNMEASURED,)
        missed = [] if self.misfit or pose is None or pose.met.all() else [pose.sentence([Cause(self.pose_cause)])]
        missed += [floor.sentence()] if floor is not None and floor.told else []
        self.stays = [] if written is None else self.said_staying(armature)
        return Report(
            armature=armature.name,
            frames=self.before.frames,
            method=self.method,
            seconds=self.seconds,
            goals=goals,
            explanations=(*explained, *missed, *self.stays),
            action=None if written is None else written.name,
            rotated=tuple(names[bone] for bone in changed[0]),
            moved=tuple(names[bone] for bone in changed[1]),
            pose=pose,
            floor=floor,
        )

    def said_staying(self, armature: Any) -> list[str]:
        """Return sentences about curves, once keys are written: muted ones, which stay, and those that repeat."""
        muted, names = bridge.muted_bones(armature), self.rig.skeleton.names
        remedy = "Unmute them in the Graph Editor first"
        said = list[str]()
        if muted:
            said.append(Explanation(f"muted curves stay as they are: {listed(muted)}", remedy=remedy))
        first, last = self.before.frames[[0, -1]].tolist()
        goes_on = bridge.repeating_bones(armature, [names[bone] for bone in self._written], first - 1.0, last + 1.0)
        if goes_on:
            said.append(f"curves of {listed(goes_on)} repeat or extend their keys, so they also change at other frames")
        return said

    def write_keys(self, armature: Any, changed: ChangedBones, action: str | None, new: bool) -> Any:
        """Write the keys of the changed bones, or, if not `keyed`, their pose; return the action, if there is one."""
        motion, (turned, moved, scaled) = self.rig_motion(armature, changed, new)
        self._written = sorted({*turned.tolist(), *moved.tolist(), *scaled.tolist()})
        if not self.keyed:
            bones = {*turned.tolist(), *moved.tolist()}
            bridge.write_pose(armature, self.rig, motion.pose[0], bones, scaled, self.whole_scales)
            return None
        if self.makes_motion and new:
            bones = np.flatnonzero(self.always_keyed) if self.control_motion is None else turned
            return bridge.write_motion(armature, self.rig, motion, bones, action)
        return bridge.write_keys(armature, self.rig, motion, turned, moved, action, new, scaled, self.whole_scales)

    def rig_motion(self, armature: Any, changed: ChangedBones, new: bool) -> tuple[Motion, ChangedBones]:
        """Return the motion of the rig's own bones, and which of them changed."""
        return self.after if self.control_motion is None else self.control_motion.motion, changed

    def measure(self, armature: Any) -> tuple[GoalReport, ...]:
        """Return how the pins hold in the motion that the armature has now."""
        return self.measure_pins(armature, self.pins)

    def measure_pose(self, armature: Any) -> GoalReport | None:
        """Return how far Blender shows the bones beside the pose that was to be shown; None where none is known."""
        beside, turned = self.pose_tolerance
        scale = max(float(bridge.length_scale(self.worlds).max()), float(np.finfo(np.float32).eps))  # flat ones are 0
        size = self.skeleton.size * scale
        at = self.shown_frames()
        return measure_pose(
            self.before.frames[at],
            lambda part: self.wanted(armature, at[part]),
            lambda part: self.shown(armature, at[part]),
            (beside * size, turned),
        )

    def measure_floor(self, armature: Any) -> FloorReport | None:
        """Return how deep the feet are below a flat floor in Blender; None for an edit that puts none on one."""
        return None

    def shown_frames(self) -> Frames:
        """Return the frames, counted from 0, in which Blender is to show the pose that was solved."""
        return np.arange(len(self.before))

    def wanted(self, armature: Any, part: Frames) -> WantedPose:
        """Return which bones are to be shown where in some frames, counted from 0."""
        bones = known_bones(self.rig, bridge.deforming(armature))
        return wanted_pose(self.skeleton, self.after.pose[part], bones, tails=True)

    def shown(self, armature: Any, part: Frames) -> Evaluation:
        """Return where Blender shows the bones of `wanted` in some frames, counted from 0."""
        context: Any = bpy.context
        if not self.keyed:
            return evaluate(context, armature, None)
        with preserve_channels(context, armature, self._written):
            return evaluate(context, armature, self.before.frames[part])

    def measure_pins(self, armature: Any, pins: Sequence[TimedPin]) -> tuple[GoalReport, ...]:
        """Return how some pins hold. Only the frames that they hold are read, in blocks that bound the memory."""
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
        """Read some frames, counted from 0, of the motion that the armature has now, and world matrices (F, 4, 4)."""
        return bridge.read_motion(armature, self.rig, self.before.frames[part])

    def explain(self, goals: tuple[GoalReport, ...]) -> tuple[str, ...]:
        """Return sentences about missed goals, the worst first, and limbs that IK shows beside their solved pose."""
        missed = sorted((goal for goal in goals if not goal.met.all()), key=lambda goal: -goal.scores.max())
        return (*(goal.sentence() for goal in missed), *self.misfit)

    def _report(self, pin: TimedPin, errors: Sequence[tuple[Array, Array]]) -> GoalReport:
        """Report a pin from its errors: vectors in the world and rotation vectors, block by block."""
        gaps, turns = (np.concatenate(some) for some in zip((np.zeros((0, 3)),) * 2, *errors, strict=True))
        far = None if pin.position is None else lengths(gaps)
        turned = None if pin.rotation is None else np.degrees(lengths(turns))
        return self.report_pin(pin, self.before.frames[slice(*pin.span(self.before))], far, turned)

    def report_pin(self, pin: TimedPin, frames: Array, far: Array | None, turned: Array | None) -> GoalReport:
        """Report a pin from its errors in some frames (F,), in metres and degrees."""
        name = self.skeleton.names[self.skeleton.index(pin.bone)]
        return GoalReport(name, "hold", frames, far, turned, POSITION_TOLERANCE, ROTATION_TOLERANCE)


def keys_with_slopes(
    armature: Any, rig: bridge.Rig, motion: Motion, bones: Sequence[int], moved: Sequence[int], at: Frames | None = None
) -> list[BoneKeys]:
    """Return keys of bones with the values and slopes of a motion in frames `at`, counted from 0, by default in all.

    Those that are `moved`, too, have their location.
    """
    found: list[BoneKeys] = []
    places = np.arange(len(motion)) if at is None else at
    order: Any = min(2, len(motion) - 1)
    for bone, values in bridge.rotation_curves(armature, rig, motion, bones).items():
        parts = [values, motion.pose.translations[:, bone]] if bone in moved else [values]
        columns: Array = np.concatenate(parts, axis=1).astype(float)
        slopes = np.asarray(np.gradient(columns, motion.frames, axis=0, edge_order=order), float)
        keys = Keys.of_slopes(motion.frames[places], columns[places], slopes[places])
        found.append(BoneKeys(bone, rig.skeleton.rotation_modes[bone], bone in moved, keys))
    return found


def no_action(armature: Any) -> str:
    """Return what to do about an armature without an action of its own."""
    data = armature.animation_data
    if data is not None and any(len(track.strips) for track in data.nla_tracks):
        return f'"{armature.name}" has NLA strips, but no action. Bake its motion first.'
    return f'"{armature.name}" has no action. Key its motion first.'


def unused_name(name: str) -> str | None:
    """Return the name for a new action, or None, for Blender's own numbering, where it is taken."""
    return None if name in bpy.data.actions else name


@contextmanager
def temporary_value(armature: Any, name: str, value: Any) -> Iterator[None]:
    """Set a property of the object inside, for example to silence what updates when others change."""
    before = getattr(armature, name)
    setattr(armature, name, value)
    try:
        yield
    finally:
        setattr(armature, name, before)


def check_scene(context: Any, armature: Any, keyed: bool = True) -> None:
    """Raise CoreError if the armature is not in the scene, or if Blender would not evaluate keys as they are set."""
    if armature.name not in context.scene.objects:
        raise CoreError(f'The armature "{armature.name}" is not in the scene "{context.scene.name}".')
    render = context.scene.render
    if keyed and render.frame_map_old != render.frame_map_new:
        raise CoreError("The scene remaps time, so keys would be at the wrong frames. Set Time Stretching to 100/100.")
    if keyed:
        bridge.check_target(armature)


def check_lasting(armature: Any, keyed: bool, way_out: str) -> None:
    """Raise CoreError if animation would replace an unkeyed pose when the file is opened; `way_out` is said then."""
    data = armature.animation_data
    if keyed or data is None:
        return
    if data.action is not None or any(not track.mute and len(track.strips) for track in data.nla_tracks):
        source = f'the action "{data.action.name}"' if data.action else "its NLA tracks"
        raise CoreError(
            f'"{armature.name}" is animated by {source}: a pose without keys would be lost when the file is opened '
            f"again. {way_out}"
        )
