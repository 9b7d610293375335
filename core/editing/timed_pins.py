"""Pins over time: what a motion has to hold from frame to frame, and the least change that does it.

Frames that are held are solved with the motion's own joints as targets (S5: CN1420453, editing existing motions). Where
a pin begins or ends the change of the joints would jump; the jump is faded out over the pin's ease, beside the
interval. In frames that other pins hold a fade is but a wish: they are solved again with it as their reference, a few
times, as in the motion displacement maps of Lee and Shin (SIGGRAPH 1999). No frame is touched that is neither held nor
in an ease. A change of a pin reaches as far as eases hang together, one at each of these times: `affected_frames`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..goals import Bone, Goal, Vector
from ..motion import Motion, blocks
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Flags, Indices, Skeleton, frozen
from ..solvers import PinAndDrag

PASSES: Final = 4  # solves, each with what is left of the jumps faded out
DRAFT: Final = 2  # solves of a draft
WHOLE_BODY: Final = PinAndDrag(limits=False, root="pull")  # what the motion does is taken as possible


@dataclass(frozen=True, eq=False)
class TimedPin:
    """A bone that is held from frame number `start` to `end`, both included.

    position          (3,) for `point`, or (F, 3) to go along with the frames of the motion, or None
    rotation          (4,) or (F, 4) for the bone's frame, or None
    ease_in, ease_out  frames before the start and after the end over which the change comes and goes
    point             (3,) in the bone's frame, the head by default
    relative_to       another bone, in whose frame position and rotation are, wherever it goes

    Positions and rotations are in armature space otherwise. See `hold_pin` for pins where the motion is.
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

    def __post_init__(self) -> None:
        if self.position is None and self.rotation is None:
            raise CoreError(f'The pin of "{self.bone}" holds neither a position nor a rotation.')
        numbers = (self.start, self.end, self.ease_in, self.ease_out)
        if not np.isfinite(numbers).all() or self.end < self.start:
            raise CoreError(f'The pin of "{self.bone}" must start before it ends, at {self.start} and {self.end}.')
        if self.ease_in < 0.0 or self.ease_out < 0.0:
            raise CoreError(f'The ease of the pin of "{self.bone}" must be at least 0 frames.')
        for name in ("position", "rotation"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name), float))
        object.__setattr__(self, "point", frozen(self.point, float))

    def span(self, motion: Motion) -> tuple[int, int]:
        """The first frame of the motion that it holds, and the one after the last, counted from 0."""
        return _span(self, motion.frames)

    def within(self, part: slice | Indices) -> "TimedPin":
        """The pin for some frames of the motion, counted from 0."""
        position, turn = (x if x is None or x.ndim == 1 else x[part] for x in (self.position, self.rotation))
        return replace(self, position=position, rotation=turn)

    def fingerprint(self, skeleton: Skeleton) -> "PinFingerprint":
        """What tells it from other pins."""
        asked = sha256(repr((self.position is None, self.relative_to)).encode())
        for part in (self.position, self.rotation):
            asked.update(b"" if part is None else np.ascontiguousarray(part).tobytes())
        bone = skeleton.names[skeleton.index(self.bone)]
        x, y, z = np.asarray(self.point, float).tolist()
        return PinFingerprint(bone, (x, y, z), self.start, self.end, self.ease_in, self.ease_out, asked.hexdigest())


@dataclass(frozen=True)
class PinFingerprint:
    """What is left of a pin once it is solved: where and when it held, and a digest of what it `asked` for."""

    bone: str
    point: tuple[float, float, float]
    start: float
    end: float
    ease_in: float
    ease_out: float
    asked: str


@dataclass(frozen=True, eq=False)
class PinMotionResult:
    """The motion, the frames (F,) that were changed, and how far off each pin (P) is in its worst frame.

    position_error (P,) in armature units, rotation_error (P,) in radians; 0 where a pin does not ask.
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
    """A pin where the motion has the bone in frame `at`, by default the first one of the interval.

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
    """The motion with the pins held and all else as it was, as far as that goes.

    `method`: its reference, `coherent` and `fps` are the motion's. `progress` is told the share that is done, and may
    raise to cancel. Without pins, and in frames beside their eases, the motion is the same bit for bit. `only` (F,):
    the frames that are asked for, in which the answer is that for all of them to within 2e-3 radians; the others are as
    they were, and errors of pins are those in these frames. A `draft` is quick and near to it: pins hold, the joints do
    not come to rest, and eases are not done to their end.
    """
    work = _PinSolver(skeleton, motion, pins, method, only, draft)
    steps = sum(len(blocks(len(frames))) for frames in work.turns if len(frames))
    for number, _ in enumerate(work.passes(), start=1):
        if progress is not None:
            progress(number / steps)
    return work.result()


def pin_errors(skeleton: Skeleton, motion: Motion, pin: TimedPin) -> tuple[Array, Array]:
    """How far a motion is off a pin in the frames that it holds, (n, 3) each: ways and rotation vectors.

    In armature space, or the frame of the bone that it is relative to; zero where the pin does not ask.
    """
    bone, on, count = skeleton.index(pin.bone), slice(*pin.span(motion)), len(motion)
    all_heads, all_turns = forward(skeleton, motion.pose[on])
    heads, turns = all_heads[:, bone], all_turns[:, bone]
    if pin.relative_to is not None:
        base = skeleton.index(pin.relative_to)
        back = rotation.inv(all_turns[:, base])
        heads, turns = rotation.rotate(back, heads - all_heads[:, base]), rotation.mul(back, turns)
    gaps, angles = np.zeros_like(heads), np.zeros_like(heads)
    if pin.position is not None:
        gaps = heads + rotation.rotate(turns, pin.point) - _over_time(pin, pin.position, (count, 3))[on]
    if pin.rotation is not None:
        wanted = _over_time(pin, pin.rotation, (count, 4))[on]
        angles = rotation.log(rotation.mul(turns, rotation.inv(wanted)))
    return gaps, angles


def affected_frames(
    skeleton: Skeleton, motion: Motion, before: Sequence[PinFingerprint], after: Sequence[PinFingerprint]
) -> Flags:
    """The frames (F,) that `pin_motion` may make otherwise with the pins `after` than with those `before`."""
    was, now = (_PinSchedule(skeleton, motion.frames, pins) for pins in (before, after))
    one, other = Counter(before), Counter(after)
    changed = (one - other) + (other - one)
    reached = np.zeros(len(motion), bool)
    for plan in (was, now):
        for pin, (first, stop) in zip(plan.pins, plan.spans, strict=True):
            reached[first:stop] |= pin in changed
    fades = [{(fade[0], fade[2].tobytes()): fade for fade in plan.fades} for plan in (was, now)]
    new = fades[0].keys() ^ fades[1].keys()
    for _ in range(PASSES - 1):
        before_pass = reached.copy()
        for key, (border, near, _) in (fades[0] | fades[1]).items():
            reached[near] |= key in new or before_pass[border] or before_pass[border - 1]
    return reached


class _PinSchedule:
    """When pins hold, and where the change of the motion comes and goes beside them.

    points (P,) what is held, spans (P,) the first index and the one after the last; held (F,)
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

    def _fades(self) -> list[tuple[int, slice, Array]]:
        """Where what is held changes, between the frame before it and it; frames, and their shares of the jump.

        Half of a jump goes to each side where pins end as others begin.
        """
        frames = self.frames
        begins, ends = dict[int, float](), dict[int, float]()  # the longest ease at a border
        for number, (first, stop) in enumerate(self.spans):
            if 0 < first < stop:
                begins[first] = max(begins.get(first, 0.0), self._ease(number, first, before=True))
            if first < stop < len(frames):
                ends[stop] = max(ends.get(stop, 0.0), self._ease(number, stop, before=False))
        found: list[tuple[int, slice, Array]] = []
        for border in sorted({*begins, *ends}):
            before, after = begins.get(border, 0.0), ends.get(border, 0.0)
            share = 0.5 if before and after else 1.0
            if before:
                near = slice(int(np.searchsorted(frames, float(frames[border - 1]) - before)), border)
                found.append((border, near, share * smootherstep(1.0 - (frames[border - 1] - frames[near]) / before)))
            if after:
                near = slice(border, int(np.searchsorted(frames, float(frames[border]) + after)))
                found.append((border, near, -share * smootherstep(1.0 - (frames[near] - frames[border]) / after)))
        return found

    def _ease(self, number: int, border: int, before: bool) -> float:
        """Frames over which a pin comes or goes: not into those in which the same point is held otherwise."""
        pin, frames, (firsts, stops) = self.pins[number], self.frames, self._alike[self.points[number]]
        if before:
            other = int(np.searchsorted(stops, border, side="right")) - 1
            return min(pin.ease_in, frames[border - 1] - frames[stops[other] - 1] if other >= 0 else np.inf)
        other = int(np.searchsorted(firsts, border))
        return min(pin.ease_out, frames[firsts[other]] - frames[border] if other < len(firsts) else np.inf)

    def turns(self, count: int, wanted: Flags | None) -> list[Indices]:
        """The held frames that are solved in each of `count` passes for those `wanted` (F,), by default all.

        In each but the last those are needed, too, between which the jumps are that are faded out next.
        """
        needed = np.ones(len(self.frames), bool) if wanted is None else wanted.copy()
        found = [np.flatnonzero(self.held & needed)]
        for _ in range(count - 1):
            after = needed.copy()
            for border, near, _ in self.fades:
                needed[border - 1 : border + 1] |= after[near].any()
            found.insert(0, np.flatnonzero(self.held & needed))
        return found if len(found[0]) else []


class _PinSolver:
    """A motion that is held in some frames.

    bones (B,): those that the pins hang on, which alone may change. change (F, B, 6): rotation vectors about the bones'
    own axes, and shifts, on top of the motion.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        motion: Motion,
        pins: Sequence[TimedPin],
        method: PinAndDrag,
        only: Flags | None,
        draft: bool,
    ) -> None:
        self.skeleton, self.motion, self.pins, self.only = skeleton, motion, tuple(pins), only
        self.method = replace(method, coherent=not draft, fps=motion.fps, settle=method.settle and not draft)
        self.plan = _PinSchedule(skeleton, motion.frames, pins)
        self._spans = self.plan.spans
        self.turns = self.plan.turns(DRAFT if draft else PASSES, only)
        self.goals = [self._goal(lane) for lane in self._lanes()]
        named = [pin.bone for pin in pins] + [pin.relative_to for pin in pins if pin.relative_to is not None]
        self.bones = np.array(
            sorted({bone for name in named for bone in skeleton.ancestors(skeleton.index(name))}), int
        )
        self.change = np.zeros((len(motion), len(self.bones), 6))

    def _lanes(self) -> list[list[int]]:
        """Pins of one point that follow each other: one goal can stand for all of them."""
        lanes: dict[tuple[object, ...], list[list[int]]] = {}
        for number in sorted(range(len(self.pins)), key=lambda number: self._spans[number]):
            pin = self.pins[number]
            alike = lanes.setdefault(
                (self.plan.points[number], pin.position is None, pin.rotation is None, pin.relative_to), []
            )
            free = next((lane for lane in alike if self._spans[lane[-1]][1] <= self._spans[number][0]), None)
            if free is None:
                alike.append([number])
            else:
                free.append(number)
        return [lane for alike in lanes.values() for lane in alike]

    def _goal(self, numbers: Sequence[int]) -> Goal:
        """The goal of some pins over all frames, with weight 0 where none is on."""
        one, count = self.pins[numbers[0]], len(self.motion)
        position = None if one.position is None else np.zeros((count, 3))
        turn = None if one.rotation is None else np.tile(rotation.IDENTITY, (count, 1))
        weight = np.zeros(count)
        for number in numbers:
            pin, on = self.pins[number], slice(*self._spans[number])
            weight[on] = 1.0
            for target, given in ((position, pin.position), (turn, pin.rotation)):
                if target is not None and given is not None:
                    target[on] = _over_time(pin, given, (count, target.shape[1]))[on]
        return Goal(one.bone, position, turn, one.point, weight, weight, relative_to=one.relative_to)

    def passes(self) -> Iterator[None]:
        """Solve, a block at a time."""
        for turn, solved_now in enumerate(self.turns, start=1):
            method = self.method if turn == len(self.turns) else replace(self.method, settle=False)
            jumps = [self.change[border] - self.change[border - 1] for border, _, _ in self.plan.fades]
            for (_, frames, shares), jump in zip(self.plan.fades, jumps, strict=True):
                self.change[frames] += shares[:, None, None] * jump
            for part in blocks(len(solved_now)) if len(solved_now) else ():
                block = solved_now[part]
                reference = self._changed(block)
                goals = [goal.at((block,), (len(self.motion),)) for goal in self.goals]
                solved = replace(method, reference=reference).solve(self.skeleton, reference, goals).pose
                own, new = self._own(block), (solved.rotations[:, self.bones], solved.translations[:, self.bones])
                turns = rotation.log(rotation.mul(rotation.inv(own[0]), new[0]))
                self.change[block] = np.concatenate([turns, new[1] - own[1]], axis=-1)
                yield

    def _own(self, frames: Indices) -> tuple[Array, Array]:
        """Rotations and translations of the bones in some frames of the motion."""
        pose, places = self.motion.pose, np.ix_(frames, self.bones)
        return pose.rotations[places], pose.translations[places]

    def _changed(self, frames: Indices) -> Pose:
        """The poses of some frames with their change on top."""
        pose, change = self.motion.pose[frames], self.change[frames]
        rotations, translations = np.array(pose.rotations), np.array(pose.translations)
        rotations[:, self.bones] = rotation.mul(rotations[:, self.bones], rotation.exp(change[..., :3]))
        translations[:, self.bones] += change[..., 3:]
        # not checked again: it would normalise, and what does not change stays bit for bit
        return Pose.trusted(rotations, translations, pose.scales, pose.driven_matrices)

    def result(self) -> PinMotionResult:
        motion, changed = self.motion, np.any(self.change != 0.0, axis=(1, 2))
        if self.only is not None:
            changed &= self.only
        touched = np.flatnonzero(changed)
        if len(touched):
            own = motion.pose
            rotations, translations = own.rotations.copy(), own.translations.copy()
            for part in blocks(len(touched)):
                block = touched[part]
                new = self._changed(block)
                rotations[block], translations[block] = new.rotations, new.translations
            motion = replace(motion, pose=Pose.trusted(rotations, translations, own.scales, own.driven_matrices))
        errors = np.zeros((2, len(self.pins)))
        for number, pin in enumerate(self.pins):
            on = slice(*self._spans[number])
            asked = np.ones(len(motion), bool)[on] if self.only is None else self.only[on]
            if not asked.any():
                continue
            gaps, turns = (rotation.lengths(part)[asked] for part in pin_errors(self.skeleton, motion, pin))
            errors[:, number] = gaps.max(initial=0.0), turns.max(initial=0.0)
        return PinMotionResult(motion, changed, *errors)


def _span(pin: TimedPin | PinFingerprint, frames: Array) -> tuple[int, int]:
    first, stop = np.searchsorted(frames, pin.start), np.searchsorted(frames, pin.end, side="right")
    return int(first), int(stop)


def _over_time(pin: TimedPin, given: Array, shape: tuple[int, int]) -> Array:
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        count, width = shape
        raise CoreError(
            f'The pin of "{pin.bone}" needs {width} numbers, or as many for each of {count} frames.'
        ) from None


def smootherstep(share: Array) -> Array:
    """0 to 1 with no speed and no acceleration at the ends."""
    t = np.clip(share, 0.0, 1.0)
    return t * t * t * (10.0 + t * (6.0 * t - 15.0))
