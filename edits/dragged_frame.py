"""A point of the body dragged at one frame of a motion, which follows before and after that frame."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from itertools import count, pairwise
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge.key_changes import change_keys
from ..bridge.motion import SAME_FRAME
from ..bridge.shapes import placed
from ..core import CoreError, Motion, PinAndDrag, Skeleton, forward, rotation
from ..core.body.anatomy import anatomy, carrier_of
from ..core.editing.contacts import foot_points
from ..core.editing.footsteps import feet_of, hold_feet, other_feet, shares_of_steps
from ..core.editing.timed_pins import TimedPin, held_as_found, pin_errors, share_within, spread_change
from ..core.formats.report import GoalReport
from ..core.motion import shifted
from ..core.rotation import Array, lengths
from ..core.skeleton import Flags
from .ghosts import key_frames
from .held_motion import HeldMotion
from .motion_edit import ChangedBones, Frames, Progress, keys_with_slopes, no_action, no_progress
from .path import FARTHEST
from .pins import held_goals
from .timed_pins import PinReader
from .trails import Trail

MOST: Final = 1000  # frames of a falloff
TICK: Final = 0.06  # seconds that a draft may take, half of them to solve it
SLID: Final = 0.002  # of the size of the body: what is held, and slides more between keys, gets further keys
DRAGGED: Final = 1  # priority of the dragged point: what is held is served first
_ADDED: Final = 0.1  # of the frames of the motion that get such keys, at most
_DRAFTED: Final = (5, 13, 41)  # frames that a draft solves: at least, in the first one, and at most


@dataclass(frozen=True)
class Falloff:
    """Frames that follow: those from `start` to `end` as far as the dragged one, fading out over eases beside them."""

    start: float
    end: float
    ease_in: float
    ease_out: float

    def shares(self, frames: Array) -> Array:
        """Return how far frames (F,) follow: 0 to 1."""
        span = self.start, self.end
        before, after = (share_within(frames, span, ease) for ease in (self.ease_in, self.ease_out))
        return np.where(frames < self.start, before, after)

    @property
    def edges(self) -> tuple[float, float]:
        """The last frame before the change and the first one after it."""
        return self.start - max(self.ease_in, 1.0), self.end + max(self.ease_out, 1.0)


def check_shift(shift: Sequence[float]) -> None:
    """Raise CoreError for a move that is farther than single precision tells apart, or not of finite numbers."""
    if not all(abs(number) <= FARTHEST for number in shift):
        raise CoreError(f"The move of a bone must be between {-FARTHEST:g} and {FARTHEST:g} meters.")


def find_falloff(trail: Trail, place: int, width: float) -> Falloff:
    """Return the falloff of `width` frames for a dot of a trail: where the point stands, it is moved as one.

    It ends where the point stands before and after that.
    """
    frames, same = trail.frames, trail.bears == trail.bears[place]
    first = place - int(np.argmin(np.append(same[place::-1], False))) + 1
    last = place + int(np.argmin(np.append(same[place:], False))) - 1
    if trail.bears[place]:
        others = np.flatnonzero(trail.bears)
        free = (frames[others[others < first]].max(initial=-np.inf), frames[others[others > last]].min(initial=np.inf))
        start, end = float(frames[first]), float(frames[last])
    else:
        free = (frames[first - 1] if first else -np.inf, frames[last + 1] if last + 1 < len(frames) else np.inf)
        start = end = float(frames[place])
    return Falloff(start, end, min(width, start - float(free[0])), min(width, float(free[1]) - end))


def falloff_at(trail: Trail, frame: int, width: float) -> Falloff:
    """Return the falloff of `width` frames for a frame of a trail. Raises CoreError for one that it does not have."""
    places = np.flatnonzero(trail.frames == frame)
    if not len(places):
        raise CoreError(f"The motion has frames {trail.frames[0]:g} to {trail.frames[-1]:g}, not {frame}.")
    return find_falloff(trail, int(places[0]), width)


class DraggedFrame(HeldMotion):
    """A motion with a point of a bone moved at a `frame`, and those around that follow as a falloff says.

    Each frame is solved: the point is where the motion has it, moved by its share of the way; feet, pins and timed pins
    are where the motion has them. `shift` says the way. With `steps`, where what carries the body is dragged, steps go
    along over the ground, and feet are planted there. Frames in which the armature has keys are keyed, the dragged one,
    and those in which what is held slides otherwise.
    """

    method = "drag-frame"
    measured = False

    def __init__(
        self, context: Any, armature: Any, bone: str, point: Sequence[float], frame: int, falloff: Falloff,
        steps: bool = False,
    ) -> None:  # fmt: skip
        first, last = bridge.keyed_range(armature)
        if armature.animation_data.action is None:
            raise CoreError(no_action(armature))
        if not first <= frame <= last:
            raise CoreError(f"The motion has frames {first} to {last}, not {frame}.")
        begin, stop = (float(np.clip(edge, first, last)) for edge in falloff.edges)
        keys = key_frames(armature, np.ones(len(armature.pose.bones), bool))
        start, end = (float(first), float(last)) if steps else (begin, stop)  # contacts are found in the whole motion
        within = keys[(keys > start) & (keys < end)]
        frames: Any = np.unique([start, *np.arange(np.ceil(start), np.floor(end) + 1.0), *within, begin, stop, end])
        self.besides = [bone, *(pin.bone for pin in armature.poise_timed_pins if not pin.mute)]
        super().__init__(context, armature, frames[np.diff(frames, prepend=-np.inf) > SAME_FRAME])
        self.frame, self.falloff, self.edges = frame, falloff, (begin, stop)
        self.shares = falloff.shares(self.before.frames)
        keyed = np.abs(self.before.frames[:, None] - keys).min(axis=1, initial=np.inf) <= SAME_FRAME
        self._keyed = (self.shares > 0.0) & (keyed | np.isin(self.before.frames, (frame, begin, stop)))
        self._count = _DRAFTED[1]
        self._near = SLID * self.skeleton.size * float(bridge.length_scale(self.worlds).max())
        self._between: GoalReport | None = None
        self._strength = armature.poise_strength if armature.poise_use_strength else np.inf
        self._bone, self._point = self.part_of(armature, bone, point)
        self.check_reached(self._bone)
        self._carries = carrier_of(self.skeleton, self.roles) == self._bone
        self._feet = other_feet(self.skeleton, self.roles, self._bone)
        self._along = np.zeros((len(self._feet), len(self.before)))
        if steps and self._carries:
            contacts = self.find_contacts(self.before, foot_points(self.skeleton, self.roles), drifts=False)
            self._along = shares_of_steps(self.roles, self._feet, contacts, self.shares)
        self._others = self._pinned_parts(context, armature)
        self.shift(np.zeros(3))

    def shift(self, way: Array, draft: bool = False) -> None:
        """Move the point by a way (3,) of the world from where the motion has it; `draft`: see `pin_motion`.

        Drafts solve some of the frames, as many as the last one had time for.
        """
        own_way = np.linalg.inv(self.worlds[:, :3, :3]) @ np.asarray(way, float)
        ways = self.shares[:, None] * own_way
        heads, turns = forward(self.skeleton, self.before.pose)
        bone, span = self._bone, self.edges
        own = heads[:, bone] + rotation.rotate(turns[:, bone], self._point) + ways
        foot = any(one.bone == bone for one in feet_of(self.skeleton, self.roles))
        dragged = TimedPin(bone, *span, own, turns[:, bone] if foot else None, point=self._point, priority=DRAGGED)
        up = bridge.world_up(self.worlds[0])
        flat = own_way - (own_way @ up)[:, None] * up
        feet = hold_feet(self.skeleton, self.before, self._feet, span, self._along[..., None] * flat)
        self.pins = [dragged, *feet, *self._others]
        self.draft, self.only = draft, self._drafted() if draft else self.shares > 0.0
        self.after = self.before
        if self._carries:  # what it carries goes along, and what is held stays
            pose = shifted(self.skeleton, self.before.pose, bone, ways)
            self.after = replace(self.before, pose=pose)

    def settings(self, motion: Motion) -> tuple[Skeleton, PinAndDrag]:
        """Return the limits of the motion as it was, and joints that turn as in a drag."""
        return self._settings

    @cached_property
    def _settings(self) -> tuple[Skeleton, PinAndDrag]:
        (skeleton, method), found = super().settings(self.before), anatomy(self.skeleton, self.roles)
        return skeleton, replace(
            method,
            strength=self._strength,
            deviations=found.deviations,
            correlations=found.correlations,
            bends=found.bends,
        )

    def solve(self, progress: Progress = no_progress) -> None:
        super().solve(progress)
        if self.draft:
            least, _, most = _DRAFTED
            self._count = int(np.clip(self._count * min(0.5 * TICK / self.seconds["solve"], 2.0), least, most))

    def compute(self, progress: Progress) -> None:
        super().compute(progress)
        assert self.only is not None
        self.after = spread_change(self.before, self.after, self.only | (self.shares <= 0.0))

    def lines(self) -> Array:
        """Return lines (m, 2, 3) in the world between the joints of the body at the frame, with the tails of ends."""
        at, skeleton = int(np.searchsorted(self.before.frames, self.frame)), self.skeleton
        heads, turns = forward(skeleton, self.after.pose[at])
        joints, ends = np.flatnonzero(skeleton.parents >= 0), np.setdiff1d(np.arange(len(skeleton)), skeleton.parents)
        tails = heads[ends] + rotation.rotate(turns[ends], skeleton.lengths[ends, None] * np.array([0.0, 1.0, 0.0]))
        starts = np.concatenate([heads[skeleton.parents[joints]], heads[ends]])
        return placed(self.worlds[at], np.stack([starts, np.concatenate([heads[joints], tails])], axis=1))

    def control_frames(self) -> Frames:
        return np.flatnonzero(self.shares > 0.0)

    def write_keys(self, armature: Any, changed: ChangedBones, action: str | None, new: bool) -> Any:
        posed, (turned, moved, _) = self.rig_motion(armature, changed, new)
        bones, motion = (turned.tolist(), moved.tolist()), posed
        if self.controlled is not None:
            rotations, translations = np.array(self.channels.pose.rotations), np.array(self.channels.pose.translations)
            on = self.control_frames()
            rotations[on], translations[on] = posed.pose.rotations, posed.pose.translations
            motion = replace(
                self.channels, pose=replace(self.channels.pose, rotations=rotations, translations=translations)
            )
        keyed = motion[self._keyed]
        written = change_keys(armature, self.rig, keyed, *bones, [self.frame], self.edges, action, new)
        self._key_between(armature, motion, *bones)
        return written

    def _key_between(self, armature: Any, motion: Motion, turned: list[int], moved: list[int]) -> None:
        """Hold between keys, too, what is held: by slopes of what carries it at its keys, and by keys where it slides.

        `motion` is that of the rig. The dragged point is held as long as it stands.
        """
        inside = np.flatnonzero((motion.frames >= self.edges[0]) & (motion.frames <= self.edges[1]))
        part, near = slice(int(inside[0]), int(inside[-1]) + 1), SLID * self.skeleton.size
        motion, after = (one[part] for one in (motion, self.after))
        on = {*np.flatnonzero(self._keyed[part]).tolist()}
        edges = {0, len(motion) - 1} - on  # which have keys and stay as they are
        dragged = replace(self.pins[0], start=self.falloff.start, end=self.falloff.end)
        held = [pin.within(part) for pin in (*self.pins[1:], dragged)]
        carriers = sorted(self._carriers(held) & {*turned, *moved})
        first, last = bridge.keyed_range(armature)
        left = int(_ADDED * (last - first + 1))
        for added in count():
            shown, _ = self.read_frames(armature, part)
            off = np.zeros(len(motion))
            for pin in held:
                (gaps, _), (missed, _) = (pin_errors(self.skeleton, one, pin) for one in (shown, after))
                during = slice(*pin.span(motion))
                off[during] = np.maximum(off[during], lengths(gaps - missed))
            if off.max() <= near:
                return
            if added:
                ends = on | edges
                worst = {start + int(off[start:end].argmax()) for start, end in pairwise(sorted(ends))} - ends
                least = max(near, 0.5 * float(off.max()))
                chosen = [place for place in sorted(worst, key=lambda place: -off[place])[:left] if off[place] > least]
                if not chosen:
                    return
                on.update(chosen)
                left -= len(chosen)
            keys = keys_with_slopes(armature, self.rig, motion, carriers, moved, np.array(sorted(on)))
            bridge.write_reduced(armature, self.rig, keys, (), self.edges, new=False)

    def _carriers(self, pins: Sequence[TimedPin]) -> set[int]:
        """Return the bones of the rig that carry what pins hold: these bones and those above, or their controls."""
        parts = {part for pin in pins for part in self.skeleton.ancestors(self.skeleton.index(pin.bone))}
        if self.controlled is None:
            return parts
        return {bone for body in self.controlled.bodies for part in parts for bone in astuple(body.controls[part])}

    @property
    def asked(self) -> Sequence[TimedPin]:
        first, last = self.before.frames[np.flatnonzero(self.shares > 0.0)[[0, -1]]].tolist()
        return [
            replace(pin, start=max(pin.start, first), end=min(pin.end, last))
            for pin in self.pins
            if pin.start <= last and pin.end >= first
        ]

    def report_pin(self, pin: TimedPin, frames: Array, far: Array | None, turned: Array | None) -> GoalReport:
        """Report the dragged point where it is keyed, and what else is held in all frames, as near as keys hold it."""
        found = super().report_pin(pin, frames, far, turned)
        if pin.priority != DRAGGED or pin.bone != self._bone or far is None:
            return replace(found, position_tolerance=max(found.position_tolerance, self._near))
        at = np.isin(frames, self.before.frames[self._keyed])
        self._between = GoalReport(found.bone, "falloff", frames[~at], far[~at], None, self._near, np.inf)
        return replace(
            found, frames=frames[at], position_error=far[at], rotation_error=None if turned is None else turned[at]
        )

    def between_keys(self) -> str:
        """Return how far Blender shows the dragged point beside its falloff between keys, in words, or ""."""
        met = self._between is None or self._between.met.all()
        return "" if self._between is None or met else f"between keys {self._between.sentence()}"

    def _drafted(self) -> Flags:
        """Return the frames (F,) that a draft solves: the dragged one and some of the others."""
        on = np.flatnonzero(self._keyed)
        chosen = on[np.unique(np.linspace(0, len(on) - 1, min(len(on), self._count)).round().astype(int))]
        drafted = np.zeros(len(self.before), bool)
        drafted[chosen] = True
        return drafted | (self.before.frames == self.frame)

    def _pinned_parts(self, context: Any, armature: Any) -> list[TimedPin]:
        """Return the armature's pins and timed pins; they hold where the motion has their bones."""
        reader, (begin, stop) = PinReader(self.skeleton, self.before, self.worlds), self.edges
        goals = held_goals(armature, self.rig, None if self.controlled is None else self.controlled.now)
        found = [
            TimedPin(goal.bone, begin, stop, goal.position, goal.rotation, 0.0, 0.0, goal.point, priority=goal.priority)
            for goal in goals
        ]
        for pin in armature.poise_timed_pins:
            if not pin.mute and pin.end >= begin and pin.start <= stop:
                with suppress(CoreError):  # Solve Motion says which cannot hold
                    one = reader.read(context, armature, pin)
                    start, end = max(one.start, begin), min(one.end, stop)
                    eases = one.ease_in * (one.start == start), one.ease_out * (one.end == end)
                    found.append(replace(one, start=start, end=end, ease_in=eases[0], ease_out=eases[1]))
        return held_as_found(self.skeleton, self.before, found)
