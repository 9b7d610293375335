"""Pins over time: bones that a motion holds in place for an interval of frames, with the least change of the motion.

Pinned frames are solved with the motion's own joints as targets (CN1420453, editing existing motions; Yamane and
Nakamura, "Natural motion animation through constraining and deconstraining at will", TVCG 2003). The change of the
joints would jump where a pin begins or ends; so the jump is faded out over the pin's ease, outside the interval. Frames
that other pins hold are solved again with the fade as their reference, in a few passes, as in the motion displacement
maps of Lee and Shin (SIGGRAPH 1999). Frames outside intervals and eases stay the same. A change of a pin spreads by
one ease per pass: see `affected_frames`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final, NamedTuple

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..goals import Bone, Goal, Vector
from ..motion import Motion, blocks, forward_of
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Flags, Indices, Skeleton, frozen
from ..solvers import PinAndDrag

PASSES: Final = 4  # solves, each with the remaining jumps faded out
DRAFT: Final = 2  # solves of a draft with fades
WHOLE_BODY: Final = PinAndDrag(limits=False, root=0.03)  # the motion is taken as possible, and says where the body is


@dataclass(frozen=True, eq=False)
class TimedPin:
    """A pin that holds a bone from frame number `start` to `end`, both included.

    position           (3,) of `point`, or (F, 3) for the frames of the motion, or None
    rotation           (4,) or (F, 4) of the bone's frame, or None
    ease_in, ease_out  frames before the start and after the end over which the change is faded, to none in the last
    point              (3,) in the bone's frame, by default its head
    relative_to        a bone in whose frame position and rotation are; by default they are in armature space
    weight             its share where pins of its priority contradict each other
    priority           pins of a smaller number are served first

    Raises CoreError for a pin that holds nothing, and for malformed frames, weights and priorities. See `hold_pin` for
    pins on the motion.
    """

    bone: Bone
    start: float
    end: float
    position: Array | None = None
    rotation: Array | None = None
    ease_in: float = 0.0
    ease_out: float = 0.0
    point: Vector = (0.0, 0.0, 0.0)
    relative_to: Bone | None = None
    weight: float = 1.0
    priority: int = 0

    def __post_init__(self) -> None:
        if self.position is None and self.rotation is None:
            raise CoreError(f'The pin of "{self.bone}" holds neither a position nor a rotation.')
        numbers = (self.start, self.end, self.ease_in, self.ease_out)
        if not np.isfinite(numbers).all() or self.end < self.start:
            raise CoreError(
                f'The pin of "{self.bone}" must start before it ends. It starts at {self.start} and ends at {self.end}.'
            )
        if self.ease_in < 0.0 or self.ease_out < 0.0:
            raise CoreError(f'The ease of the pin of "{self.bone}" must be at least 0 frames.')
        if not 0.0 < self.weight < np.inf or self.priority < 0:
            raise CoreError(f'The pin of "{self.bone}" needs a weight above 0 and a priority of at least 0.')
        for name in ("position", "rotation"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name), float))
        object.__setattr__(self, "point", frozen(self.point, float))

    def span(self, motion: Motion) -> tuple[int, int]:
        """Return the first pinned frame index of the motion and the one after the last."""
        return _span(self, motion.frames)

    def within(self, part: slice | Indices) -> "TimedPin":
        """Return the pin for some frame indices of the motion."""
        position, turn = (x if x is None or x.ndim == 1 else x[part] for x in (self.position, self.rotation))
        return replace(self, position=position, rotation=turn)

    def fingerprint(self, skeleton: Skeleton) -> "PinFingerprint":
        """Return what identifies the pin once it is solved."""
        asked = sha256(repr((self.position is None, self.relative_to, self.weight, self.priority)).encode())
        for part in (self.position, self.rotation):
            asked.update(b"" if part is None else np.ascontiguousarray(part).tobytes())
        bone = skeleton.names[skeleton.index(self.bone)]
        x, y, z = np.asarray(self.point, float).tolist()
        return PinFingerprint(bone, (x, y, z), self.start, self.end, self.ease_in, self.ease_out, asked.hexdigest())


@dataclass(frozen=True)
class PinFingerprint:
    """Identity of a solved pin: where and when it holds, and in `asked` a digest of all else."""

    bone: str
    point: tuple[float, float, float]
    start: float
    end: float
    ease_in: float
    ease_out: float
    asked: str


@dataclass(frozen=True, eq=False)
class PinMotionResult:
    """The result of `pin_motion`: the motion, the frames (F,) changed, and the largest errors of the pins.

    position_error (P,) in armature units, rotation_error (P,) in radians; 0 for what a pin does not hold.
    """

    motion: Motion
    changed: Flags
    position_error: Array
    rotation_error: Array


def hold_pin(
    skeleton: Skeleton,
    motion: Motion,
    bone: Bone,
    start: float,
    end: float,
    at: float | None = None,
    ease: float = 0.0,
    point: Vector = (0.0, 0.0, 0.0),
    position: bool = True,
    rotates: bool = False,
) -> TimedPin:
    """Return a pin that holds a bone where the motion has it in frame number `at`, by default `start`.

    Raises CoreError if the motion does not have that frame.
    """
    number = start if at is None else at
    index = int(np.argmin(np.abs(motion.frames - number)))
    if motion.frames[index] != number:
        raise CoreError(f"The motion has no frame {number:g} to hold the bone at.")
    heads, turns = forward(skeleton, motion.pose[index])
    bone_index = skeleton.index(bone)
    place = heads[bone_index] + rotation.rotate(turns[bone_index], point)
    return TimedPin(bone, start, end, place if position else None, turns[bone_index] if rotates else None,
                    ease, ease, point)  # fmt: skip


def pin_motion(
    skeleton: Skeleton,
    motion: Motion,
    pins: Sequence[TimedPin],
    method: PinAndDrag = WHOLE_BODY,
    progress: Callable[[float], object] | None = None,
    only: Flags | None = None,
    draft: bool = False,
) -> PinMotionResult:
    """Return the motion with the pins held, changed as little as possible.

    The reference, `coherent` and `fps` of `method` are replaced by the motion's. `progress` is called with the share
    done and may raise to cancel. Frames outside intervals and eases stay the same bit for bit. `only` (F,): frames to
    solve; they are those of the whole result to within 2e-3 radians, other frames stay the same, and errors are of
    these frames. A `draft` is faster: pins hold, but joints do not settle and fades are not finished. Raises CoreError
    for positions and rotations that do not fit the motion.
    """
    solver = _PinSolver(skeleton, motion, pins, method, np.ones(len(motion), bool) if only is None else only, draft)
    steps = sum(map(len, solver.frames))
    for number, _ in enumerate(solver.passes(), start=1):
        if progress is not None:
            progress(number / steps)
    return solver.result()


def pin_errors(skeleton: Skeleton, motion: Motion, pin: TimedPin) -> tuple[Array, Array]:
    """Return the position errors (n, 3) and rotation vectors (n, 3) of a motion in the frames that a pin holds.

    In armature space, or in the frame of the bone of `relative_to`; zero for what the pin does not hold.
    """
    bone, on, count = skeleton.index(pin.bone), slice(*pin.span(motion)), len(motion)
    base = bone if pin.relative_to is None else skeleton.index(pin.relative_to)
    (heads, bases), (turns, axes) = (
        np.moveaxis(part, 1, 0) for part in forward_of(skeleton, motion.pose[on], [bone, base])
    )
    if pin.relative_to is not None:
        back = rotation.inv(axes)
        heads, turns = rotation.rotate(back, heads - bases), rotation.mul(back, turns)
    gaps, angles = np.zeros_like(heads), np.zeros_like(heads)
    if pin.position is not None:
        gaps = heads + rotation.rotate(turns, pin.point) - _over_time(pin, pin.position, (count, 3))[on]
    if pin.rotation is not None:
        wanted = _over_time(pin, pin.rotation, (count, 4))[on]
        angles = rotation.log(rotation.mul(turns, rotation.inv(wanted)))
    return gaps, angles


def held_as_found(skeleton: Skeleton, motion: Motion, pins: Sequence[TimedPin]) -> list[TimedPin]:
    """Return pins that hold what the given ones hold where the motion has it."""
    found: list[TimedPin] = []
    for pin in pins:
        (first, stop), count = pin.span(motion), len(motion)
        gaps, turns = pin_errors(skeleton, motion, pin)
        position = None if pin.position is None else np.array(_over_time(pin, pin.position, (count, 3)))
        turn = None if pin.rotation is None else np.array(_over_time(pin, pin.rotation, (count, 4)))
        if position is not None:
            position[first:stop] += gaps
        if turn is not None:
            turn[first:stop] = rotation.mul(rotation.exp(turns), turn[first:stop])
        found.append(replace(pin, position=position, rotation=turn))
    return found


def spread_change(before: Motion, after: Motion, solved: Flags) -> Motion:
    """Return `after` with the change of the frames `solved` (F,) spread evenly over those between them.

    The first and the last frame are those of `before`, unless they are solved, too.
    """
    frames, old, new = before.frames, before.pose, after.pose
    knots = solved.copy()
    knots[[0, -1]] = True
    change = np.zeros((*old.translations.shape[:2], 6))
    change[..., 3:][solved] = new.translations[solved] - old.translations[solved]
    change[..., :3][solved] = rotation.log(rotation.mul(rotation.inv(old.rotations[solved]), new.rotations[solved]))
    columns = change[knots].reshape(knots.sum(), -1).T
    change = np.transpose([np.interp(frames, frames[knots], column) for column in columns]).reshape(change.shape)
    rotations = rotation.mul(old.rotations, rotation.exp(change[..., :3]))
    pose = Pose.trusted(rotations, old.translations + change[..., 3:], old.scales, old.driven_matrices)
    return replace(after, pose=pose)


def affected_frames(
    skeleton: Skeleton, motion: Motion, before: Sequence[PinFingerprint], after: Sequence[PinFingerprint]
) -> Flags:
    """Return the frames (F,) that `pin_motion` may solve differently for the pins `after` than for those `before`."""
    was, now = (_PinSchedule(skeleton, motion.frames, pins) for pins in (before, after))
    one, other = Counter(before), Counter(after)
    changed = (one - other) + (other - one)
    reached = np.zeros(len(motion), bool)
    for schedule in (was, now):
        for pin, (first, stop) in zip(schedule.pins, schedule.spans, strict=True):
            reached[first:stop] |= pin in changed
    fades = [{(fade.border, fade.shares.tobytes()): fade for fade in schedule.fades} for schedule in (was, now)]
    new = fades[0].keys() ^ fades[1].keys()
    for _ in range(PASSES - 1):
        before_pass = reached.copy()
        for key, fade in (fades[0] | fades[1]).items():
            reached[fade.frames] |= key in new or before_pass[fade.border] or before_pass[fade.border - 1]
    return reached


class _Fade(NamedTuple):
    """Shares (n,) of the jump from frame index `border` - 1 to `border` that are added to some frames beside it."""

    border: int
    frames: slice
    shares: Array


class _PinSchedule:
    """When pins hold, and the fades beside them.

    points  (P,) bone and point of each pin
    spans   (P,) first frame index and the one after the last
    held    (F,) whether a pin holds
    fades   where pins begin and end
    """

    def __init__(self, skeleton: Skeleton, frames: Array, pins: Sequence[TimedPin] | Sequence[PinFingerprint]) -> None:
        self.frames, self.pins = frames, tuple(pins)
        self.points = [(skeleton.index(pin.bone), np.asarray(pin.point, float).tobytes()) for pin in pins]
        self.spans = [_span(pin, frames) for pin in pins]
        self.held = np.zeros(len(frames), bool)
        for first, stop in self.spans:
            self.held[first:stop] = True
        alike: dict[object, list[tuple[int, int]]] = {}
        for point, span in zip(self.points, self.spans, strict=True):
            alike.setdefault(point, []).append(span)
        self._alike = {point: np.sort(np.transpose(spans), axis=1) for point, spans in alike.items()}
        self.fades = self._fades()

    def _fades(self) -> list[_Fade]:
        """Return the fades; each side takes half of the jump where pins end as others begin.

        The frames that are a whole ease away from a pin are as they were.
        """
        frames, found = self.frames, list[_Fade]()
        longest: dict[int, list[float]] = {}  # the longest fade before a border, and after it
        for pin, point, (first, stop) in zip(self.pins, self.points, self.spans, strict=True):
            firsts, stops = self._alike[point]
            if 0 < first < stop:  # eases are cut where another pin holds the same point
                ended = int(np.searchsorted(stops, first, side="right")) - 1
                free = frames[first - 1] - frames[stops[ended] - 1] if ended >= 0 else np.inf
                eases = longest.setdefault(first, [0.0, 0.0])
                eases[0] = max(eases[0], min(float(frames[first - 1]) - pin.start + pin.ease_in, free))
            if first < stop < len(frames):
                begun = int(np.searchsorted(firsts, stop))
                free = frames[firsts[begun]] - frames[stop] if begun < len(firsts) else np.inf
                eases = longest.setdefault(stop, [0.0, 0.0])
                eases[1] = max(eases[1], min(pin.end + pin.ease_out - float(frames[stop]), free))
        for border, (before, after) in sorted(longest.items()):
            share = 0.5 if before and after else 1.0
            if before:
                near = slice(int(np.searchsorted(frames, float(frames[border - 1]) - before, side="right")), border)
                shares = share * smootherstep(1.0 - (frames[border - 1] - frames[near]) / before)
                found.append(_Fade(border, near, shares))
            if after:
                near = slice(border, int(np.searchsorted(frames, float(frames[border]) + after)))
                shares = -share * smootherstep(1.0 - (frames[near] - frames[border]) / after)
                found.append(_Fade(border, near, shares))
        return found

    def frames_of_passes(self, count: int, wanted: Flags) -> list[list[Indices]]:
        """Return the held frames to solve in each of `count` passes, in blocks, for the frames `wanted` (F,).

        Passes but the last also need the frames on both sides of the jumps that the next one fades out.
        """
        needed = wanted.copy()
        found = [_in_blocks(self.held & needed)]
        for _ in range(count - 1):
            after = needed.copy()
            for fade in self.fades:
                needed[fade.border - 1 : fade.border + 1] |= after[fade.frames].any()
            found.insert(0, _in_blocks(self.held & needed))
        return found


class _PinSolver:
    """Solves a motion with pins.

    bones   (B,) the pinned bones and their ancestors: only these may change
    change  (F, B, 6) rotation vectors about the bones' own axes, and shifts, on top of the motion
    """

    def __init__(
        self, skeleton: Skeleton, motion: Motion, pins: Sequence[TimedPin], method: PinAndDrag, only: Flags, draft: bool
    ) -> None:
        self.skeleton, self.motion, self.pins, self.only = skeleton, motion, tuple(pins), only
        self.method = replace(method, coherent=not draft, fps=motion.fps, settle=method.settle and not draft)
        self.schedule = _PinSchedule(skeleton, motion.frames, pins)
        self._spans = self.schedule.spans
        drafts = DRAFT if self.schedule.fades else 1
        self.frames = self.schedule.frames_of_passes(drafts if draft else PASSES, only)
        self.goals = [self._goal(lane) for lane in self._lanes()]
        named = [pin.bone for pin in pins] + [pin.relative_to for pin in pins if pin.relative_to is not None]
        bones = {bone for name in named for bone in skeleton.ancestors(skeleton.index(name))}
        self.bones = np.array(sorted(bones), int)
        self.change = np.zeros((len(motion), len(self.bones), 6))

    def _lanes(self) -> list[list[int]]:
        """Return groups of pins of one point and priority that do not overlap: one goal serves each group."""
        lanes: dict[tuple[object, ...], list[list[int]]] = {}
        for number in sorted(range(len(self.pins)), key=lambda number: self._spans[number]):
            pin = self.pins[number]
            lacks = pin.position is None, pin.rotation is None
            alike = lanes.setdefault((self.schedule.points[number], lacks, pin.relative_to, pin.priority), [])
            free = next((lane for lane in alike if self._spans[lane[-1]][1] <= self._spans[number][0]), list[int]())
            if not free:
                alike.append(free)
            free.append(number)
        return [lane for alike in lanes.values() for lane in alike]

    def _goal(self, numbers: Sequence[int]) -> Goal:
        """Return the goal of a group of pins over all frames, with weight 0 where none holds."""
        one, count = self.pins[numbers[0]], len(self.motion)
        position = None if one.position is None else np.zeros((count, 3))
        turn = None if one.rotation is None else np.tile(rotation.IDENTITY, (count, 1))
        weight = np.zeros(count)
        for number in numbers:
            pin, on = self.pins[number], slice(*self._spans[number])
            weight[on] = pin.weight
            for target, given in ((position, pin.position), (turn, pin.rotation)):
                if target is not None and given is not None:
                    target[on] = _over_time(pin, given, (count, target.shape[1]))[on]
        return Goal(
            one.bone, position, turn, one.point, weight, weight, priority=one.priority, relative_to=one.relative_to
        )

    def passes(self) -> Iterator[None]:
        """Solve all passes, a block of frames at a time."""
        for number, solved_now in enumerate(self.frames, start=1):
            method = self.method if number == len(self.frames) else replace(self.method, settle=False)
            jumps = [self.change[fade.border] - self.change[fade.border - 1] for fade in self.schedule.fades]
            for fade, jump in zip(self.schedule.fades, jumps, strict=True):
                self.change[fade.frames] += fade.shares[:, None, None] * jump
            for block in solved_now:
                reference = self._changed(block)
                goals = [goal.at((block,), (len(self.motion),)) for goal in self.goals]
                solved = replace(method, reference=reference).solve(self.skeleton, reference, goals).pose
                own = np.ix_(block, self.bones)
                back = rotation.inv(self.motion.pose.rotations[own])
                turns = rotation.log(rotation.mul(back, solved.rotations[:, self.bones]))
                shifts = solved.translations[:, self.bones] - self.motion.pose.translations[own]
                self.change[block] = np.concatenate([turns, shifts], axis=-1)
                yield

    def _changed(self, frames: Indices) -> Pose:
        """Return the poses of some frames with their change on top."""
        pose, change = self.motion.pose[frames], self.change[frames]
        rotations, translations = np.array(pose.rotations), np.array(pose.translations)
        rotations[:, self.bones] = rotation.mul(rotations[:, self.bones], rotation.exp(change[..., :3]))
        translations[:, self.bones] += change[..., 3:]
        # trusted: a check would normalize, but unchanged rotations stay bit for bit
        return Pose.trusted(rotations, translations, pose.scales, pose.driven_matrices)

    def result(self) -> PinMotionResult:
        motion, changed = self.motion, np.any(self.change != 0.0, axis=(1, 2)) & self.only
        if changed.any():
            own = motion.pose
            rotations, translations = own.rotations.copy(), own.translations.copy()
            for block in _in_blocks(changed):
                new = self._changed(block)
                rotations[block], translations[block] = new.rotations, new.translations
            motion = replace(motion, pose=Pose.trusted(rotations, translations, own.scales, own.driven_matrices))
        errors = np.zeros((2, len(self.pins)))
        for number, pin in enumerate(self.pins):
            first, stop = self._spans[number]
            asked = first + np.flatnonzero(self.only[first:stop])
            if len(asked):
                part = motion[asked]
                gaps = pin_errors(self.skeleton, part, pin.within(asked))
                errors[:, number] = [rotation.lengths(one).max() for one in gaps]
        return PinMotionResult(motion, changed, *errors)


def _in_blocks(flags: Flags) -> list[Indices]:
    """Return the true frames (F,) in blocks."""
    frames = np.flatnonzero(flags)
    return [frames[part] for part in blocks(len(frames)) if len(frames)]


def _span(pin: TimedPin | PinFingerprint, frames: Array) -> tuple[int, int]:
    first, stop = np.searchsorted(frames, pin.start), np.searchsorted(frames, pin.end, side="right")
    return int(first), int(stop)


def _over_time(pin: TimedPin, given: Array, shape: tuple[int, int]) -> Array:
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        count, width = shape
        raise CoreError(
            f'The pin of "{pin.bone}" needs {width} numbers, or that many for each of {count} frames.'
        ) from None


def share_within(frames: Array, span: tuple[float, float], ease: float) -> Array:
    """Return 1 for frame numbers (F,) within a span, and less beside it: 0 from `ease` frames on."""
    beside = np.maximum(np.maximum(span[0] - frames, frames - span[1]), 0.0)
    return smootherstep(1.0 - beside / ease if ease > 0.0 else (beside == 0.0).astype(float))


def smootherstep(share: Array) -> Array:
    """Return Perlin's quintic step of shares (...), clipped to 0..1: no speed and no acceleration at the ends."""
    t = np.clip(share, 0.0, 1.0)
    return t * t * t * (10.0 + t * (6.0 * t - 15.0))
