"""In-betweens: motion between key poses, as a body would take it.

All joints go through the keys on smooth curves. Feet that bear at a key stay there until their turn to step has come,
one after the other; a step goes on a path of minimum jerk (Flash and Hogan, "The coordination of arm movements",
Journal of Neuroscience 5, 1985), lifted off the ground. Where no foot bears and the body falls, it is thrown.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..body import Roles
from ..body.anatomy import carrier_of
from ..body.masses import GRAVITY, centre_of_mass, masses_of
from ..errors import CoreError
from ..motion import Motion, shifted
from ..pose import Pose, forward, forward_matrices
from ..rotation import Array, lengths
from ..skeleton import Flags, Indices, Skeleton
from .contacts import FASTEST, UP, BodyPoint, foot_points, point_positions, runs
from .floor import Floor, lowest_sole
from .timed_pins import TimedPin, smootherstep

LASTS: Final = 0.6  # seconds for which the velocity at a key is felt
QUICKEST, SLOWEST = 0.2, 0.4  # seconds that a step takes at least, and at most
AROUND: Final = 1.0  # seconds before and after a key in which the ground is nearly level
# Lengths relative to the skeleton's size
NEAR: Final = 0.05  # height of soles that bear, at most; where keys are less than a second apart, a share of it
SLOPE: Final = 0.1  # by which the ground differs around a key, at most; a lowest foot that is higher is in the air
LEVEL: Final = 0.001  # feet at keys whose heights differ by less rise as much
SAME: Final = 0.03  # feet that move by less from one key to the next stay, on whatever they are
LIFT, HIGHEST = 0.1, 0.06  # of a step: of its length, and at most
GOES: Final = 0.5  # of the way of the foot that goes least from key to key: a body that goes less walks in place
PACE: Final = 4.0  # per second: mean speed of the quickest step, at whose middle the foot is nearly twice as fast
STRIDE: Final = 2.3  # lengths of a leg, above which a foot has made more than one step
YIELD: Final = 1.05  # of the length of a leg, up to which hips yield to a foot that stands
EASES: Final = 3.0  # times the slower of the speeds before and after a key, at which most it is passed


@dataclass(frozen=True, eq=False)
class InBetween:
    """A motion through its keys, and what is to hold between them.

    between  (F,) frames between keys, which alone may change
    pins     of feet
    floor    that feet are not below; None without feet
    """

    motion: Motion
    between: Flags
    pins: tuple[TimedPin, ...] = ()
    floor: Floor | None = None


def fill_between(
    skeleton: Skeleton, motion: Motion, keys: ArrayLike, roles: Roles, up: ArrayLike = UP, plant: bool = True
) -> InBetween:
    """Return in-betweens of the poses at `keys` (K,), increasing indices of frames of the motion.

    Only they matter of the motion between the first and the last of them. `up` (3,) of the ground; `plant`: feet and
    flights, else there is a smooth curve alone. Raises CoreError for less than two keys.
    """
    keys = np.asarray(keys, int)
    upwards: Array = np.asarray(up, float) / np.linalg.norm(up)
    if len(keys) < 2:
        raise CoreError("In-betweens need at least two key poses.")
    between, feet = _between(len(motion), keys), _feet(skeleton, roles) if plant else []
    if not feet:
        return InBetween(spline_between(motion, keys), between)
    soles = np.stack([lowest_sole(skeleton, motion.pose[keys], foot.points, upwards) for foot in feet])
    seconds = motion.frames[keys] / motion.fps
    ground = _ground(soles.min(axis=0), seconds, skeleton.size)
    motion = spline_between(motion, keys)
    steps = _Steps(skeleton, motion, keys, feet, soles, ground, carrier_of(skeleton, roles), upwards)
    motion = throw_between(skeleton, motion, keys, ~steps.held.any(axis=(0, 1)), roles, upwards)
    floor = Floor(upwards, np.interp(np.arange(len(motion)), keys, ground), levels=False)
    return InBetween(motion, between, steps.pins(), floor)


def spline_between(motion: Motion, keys: Indices) -> Motion:
    """Return the motion with the frames between `keys` (K,), increasing indices, on a C1 curve through these.

    The velocity at a key is that of the parabola through it and its neighbours, or less where the body goes slowly
    before or after it, see `_velocities`; at the first and the last one nothing accelerates. What it differs by from
    the mean velocity up to the next key is felt for `LASTS` seconds; up to there the curve is a cubic. Rotations are in
    the tangent space at the key before. Scales stay.
    """
    pose, frames, between = motion.pose, motion.frames, _between(len(motion), keys)
    here = np.searchsorted(keys, np.flatnonzero(between)) - 1
    span, time, lasts = np.diff(frames[keys]), frames[between] - frames[keys[here]], LASTS * motion.fps
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    turns = rotation.log(rotation.mul(rotation.inv(rotations[keys[:-1]]), rotations[keys[1:]]))
    spins = _velocities(turns, span)
    arriving = (rotation.inverse_right_jacobian(turns) @ spins[1:, ..., None])[..., 0]
    way = _curve(time, span[here], turns[here], spins[here], arriving[here], lasts)
    rotations[between] = rotation.normalize(rotation.mul(rotations[keys[here]], rotation.exp(way)))
    moves = np.diff(translations[keys], axis=0)
    speeds = _velocities(moves, span)
    way = _curve(time, span[here], moves[here], speeds[here], speeds[here + 1], lasts)
    translations[between] = translations[keys[here]] + way
    return _with_channels(motion, rotations, translations)


def throw_between(
    skeleton: Skeleton, motion: Motion, keys: Indices, free: Flags, roles: Roles, up: Array
) -> Motion:  # fmt: skip
    """Return the motion with its centre of mass on a throw's arc from key to key where it is `free` (K - 1,) and falls.

    It falls where its accelerations by the keys and their neighbours, in the mean of both keys, are nearer to gravity
    than to none. Gravity is as large as a human of 1.7 m feels it. Nothing changes if nothing carries the whole body.
    """
    carrier, masses, gravity = carrier_of(skeleton, roles), masses_of(skeleton, roles), GRAVITY * skeleton.size
    if carrier is None or len(keys) < 3:
        return motion
    seconds = motion.frames / motion.fps
    rates = np.diff(centre_of_mass(skeleton, forward_matrices(skeleton, motion.pose[keys]), masses) @ up) / np.diff(
        seconds[keys]
    )
    falls = np.pad(-2.0 * np.diff(rates) / (seconds[keys[2:]] - seconds[keys[:-2]]), 1, constant_values=-np.inf)
    translations = motion.pose.translations.copy()
    for gap in np.flatnonzero(free & (falls[:-1] + falls[1:] > gravity)).tolist():
        inside = slice(int(keys[gap]), int(keys[gap + 1]) + 1)
        time = seconds[inside] - seconds[inside.start]
        centre = centre_of_mass(skeleton, forward_matrices(skeleton, motion.pose[inside]), masses)
        line = centre[0] + (time / time[-1])[:, None] * (centre[-1] - centre[0])
        arc = line + 0.5 * gravity * (time * (time[-1] - time))[:, None] * up
        thrown = shifted(skeleton, motion.pose[inside], carrier, arc - centre).translations
        translations[inside][1:-1] = thrown[1:-1]
    return _with_channels(motion, motion.pose.rotations, translations)


class _Foot(NamedTuple):
    """A foot: its points and bones, the first bone of its leg, and how long that is from there to the foot."""

    points: tuple[BodyPoint, ...]
    bones: list[int]
    leg: int
    reach: float


class _Steps:
    """Where feet are between keys.

    soles  (feet, K) how high feet are at the keys, and `ground` (K,) the ground under them
    held   (2, feet, K - 1) whether a foot stands at the first and at the last key of a gap between keys
    """

    def __init__(
        self, skeleton: Skeleton, motion: Motion, keys: Indices, feet: Sequence[_Foot], soles: Array, ground: Array,
        carrier: int | None, up: Array,
    ) -> None:  # fmt: skip
        self.skeleton, self.motion, self.keys, self.feet, self.up = skeleton, motion, keys, feet, up
        self.heads, self.turns = forward(skeleton, motion.pose)
        self.points = [point_positions(skeleton, motion.pose, foot.points) for foot in feet]
        at = [places[keys] for places in self.points]
        moved = np.stack([lengths(np.diff(places, axis=0)).min(axis=-1) for places in at])  # (feet, K - 1)
        same, self.seconds = moved < SAME * skeleton.size, np.diff(motion.frames[keys]) / motion.fps
        once = moved < STRIDE * np.array([foot.reach for foot in feet])[:, None]
        # a foot that goes further than it can step from one key to another swings at both, however low it is
        steps = self.seconds >= np.maximum(QUICKEST, moved / (PACE * skeleton.size))
        swings = ~steps & (moved > FASTEST * skeleton.size * self.seconds)
        swings = np.pad(swings, ((0, 0), (1, 0))) | np.pad(swings, ((0, 0), (0, 1)))
        high = np.where(swings, np.inf, (soles - ground) / skeleton.size)
        near = NEAR * np.minimum(self.seconds, 1.0)
        stands = np.stack([high[:, :-1] < near, high[:, 1:] < near]) & steps & once
        middles = np.stack([places.mean(axis=1) for places in at])  # (feet, K, 3)
        self.held = same | (stands & (not self._in_place(carrier, middles)))
        self.ways = np.where(self.held.any(axis=0), moved, 0.0)
        travel = np.diff(middles.mean(axis=0), axis=0)
        ahead = (middles[:, :-1] * travel).sum(axis=-1)  # (feet, K - 1)
        # what is higher at the first key lands first, what will be higher at the last one leaves last
        rises = np.rint(np.diff(soles, axis=1) / (LEVEL * skeleton.size))
        self.order = np.lexsort((ahead, rises), axis=0)

    def _in_place(self, carrier: int | None, feet: Array) -> bool:
        """Return whether all feet (n, K, 3) go further than the body: it walks in place, and what stands slides."""
        if carrier is None:
            return False
        places = np.concatenate([self.heads[None, self.keys, carrier], feet])
        body, *others = lengths(np.diff(places - (places @ self.up)[..., None] * self.up, axis=1))
        return float(body.sum()) < GOES * float(np.min(others, axis=0).sum())

    def pins(self) -> tuple[TimedPin, ...]:
        """Return pins of the bones of each foot over all gaps at whose keys it stands."""
        found: list[TimedPin] = []
        times = {gap: self._times(gap) for gap in np.flatnonzero(np.diff(self.keys) > 1).tolist()}
        for number, foot in enumerate(self.feet):
            places, turns = self.heads[:, foot.bones[0]].copy(), self.turns[:, foot.bones].copy()
            pinned = np.zeros(len(self.motion), bool)
            for gap in (gap for gap in times if self.held[:, number, gap].any()):
                inside = slice(int(self.keys[gap]), int(self.keys[gap + 1]) + 1)
                pinned[inside] = True
                places[inside], turns[inside] = self._path(number, gap, times[gap][number])
            for first, last in runs(pinned):
                span = float(self.motion.frames[first]), float(self.motion.frames[last])
                found += [
                    TimedPin(bone, *span, None if column else places, turns[:, column])
                    for column, bone in enumerate(foot.bones)
                ]
        return tuple(found)

    def _times(self, gap: int) -> Array:
        """Return when each foot leaves and arrives (feet, 2), as shares of a gap: a longer way takes longer.

        It leaves before, and arrives after, its leg would be longer than it is.
        """
        ways, order = self.ways[:, gap], self.order[:, gap]
        ends = np.cumsum(ways[order] / max(float(ways.sum()), np.finfo(float).tiny))
        found = np.empty((len(self.feet), 2))
        found[order] = np.stack([np.append(0.0, ends[:-1]), ends], axis=-1)
        least, most = (min(step / self.seconds[gap], 1.0) for step in (QUICKEST, SLOWEST))
        wide = np.clip(np.diff(found), least, most)
        middle = np.clip(found.mean(axis=1, keepdims=True), 0.5 * wide, 1.0 - 0.5 * wide)
        found = np.concatenate([middle - 0.5 * wide, middle + 0.5 * wide], axis=1)
        first, last = int(self.keys[gap]), int(self.keys[gap + 1])
        for times, foot in zip(found, self.feet, strict=True):
            for end, step in ((first, 1), (last, -1)):
                away = lengths(self.heads[first : last + 1, foot.leg] - self.heads[end, foot.bones[0]])[::step]
                beyond = np.flatnonzero(away > max(away[0], YIELD * foot.reach))
                reached = (beyond[0] - 1 if len(beyond) else last - first) / (last - first)
                if step > 0:
                    times[0] = min(times[0], reached)
                else:
                    times[1] = max(times[1], 1.0 - reached)
        return found

    def _path(self, number: int, gap: int, times: Array) -> tuple[Array, Array]:
        """Return places (n, 3) of the first bone of a foot, and rotations (n, B, 4) of its bones, in a gap.

        The point of the foot that moves least goes straight, but for its lift; where the foot does not stand at one of
        the keys, it goes there as the motion has it.
        """
        inside, held = slice(int(self.keys[gap]), int(self.keys[gap + 1]) + 1), self.held[:, number, gap]
        bones = self.feet[number].bones
        own, turned = self.points[number][inside], self.turns[inside][:, bones]
        pivot = int(np.argmin(lengths(own[-1] - own[0])))
        point = own[:, pivot]
        leaves, arrives = np.where(held, times, [0.0, 1.0])
        share = np.linspace(0.0, 1.0, len(own))
        done = smootherstep((share - leaves) / max(arrives - leaves, np.finfo(float).eps))[:, None]
        begin, end = (point[:1], turned[:1]), (point[-1:], turned[-1:])
        (here, turn), (there, other) = begin if held[0] else (point, turned), end if held[1] else (point, turned)
        place = here + done * (there - here)
        if held.all():
            way = point[-1] - point[0]
            high = min(LIFT * float(lengths(way - (way @ self.up) * self.up)), HIGHEST * self.skeleton.size)
            place += high * np.square(4.0 * done * (1.0 - done)) * self.up
        turn = rotation.slerp(turn, other, done)
        arm = rotation.rotate(rotation.inv(turned[0, 0]), own[0, pivot] - self.heads[inside.start, bones[0]])
        return place - rotation.rotate(turn[:, 0], arm), turn


def _feet(skeleton: Skeleton, roles: Roles) -> list[_Foot]:
    """Return the feet that have legs, by the side of a human body or by the leg of another one."""
    points: dict[str, list[BodyPoint]] = {}
    for point in foot_points(skeleton, roles):
        part, _, side = point.name.partition(".")
        if part != "toe":  # toes bend
            points.setdefault(side if roles.humanoid else point.name, []).append(point)
    found: list[_Foot] = []
    for name, own in points.items():
        bones = sorted({point.bone for point in own})
        leg = roles.bone(f"thigh.{name}") if roles.humanoid else roles.limbs[name][0]
        above = skeleton.ancestors(bones[0])
        chain = above[: above.index(leg) + 1] if leg in above else above
        reach = float(lengths(np.diff(skeleton.rest_matrices[chain, :, 3], axis=0)).sum())
        found += [_Foot(tuple(own), bones, chain[-1], reach)] if reach > 0.0 else []
    return found


def _with_channels(motion: Motion, rotations: Array, translations: Array) -> Motion:
    """Return the motion with other channels; not checked, which would normalize those that stay."""
    pose = Pose.trusted(rotations, translations, motion.pose.scales, motion.pose.driven_matrices)
    return replace(motion, pose=pose)


def _ground(lowest: Array, seconds: Array, size: float) -> Array:
    """Return the height (K,) of the ground at keys, of that of the lowest foot: it stands, or it is in the air.

    Captured floors are tilted, by up to 10 cm in the way of a few seconds.
    """
    near = np.abs(seconds[:, None] - seconds) <= AROUND
    around = np.where(near, lowest, np.inf).min(axis=1)
    return np.where(lowest < around + SLOPE * size, lowest, around)


def _between(count: int, keys: Indices) -> Flags:
    """Return whether frames (count,) are between keys, and not one of them."""
    found = np.zeros(count, bool)
    found[keys[0] : keys[-1]] = True
    found[keys] = False
    return found


def _velocities(steps: Array, span: Array) -> Array:
    """Return velocities (K, ..., N) at keys, of steps (K - 1, ..., N) over spans (K - 1,) between them.

    They are as large as those of monotone curves may be (Fritsch and Carlson, "Monotone piecewise cubic interpolation",
    SIAM Journal on Numerical Analysis 17, 1980): what stays from one key to the next stays between them.
    """
    wide = span.reshape(-1, *(1,) * (steps.ndim - 1))
    rates = steps / wide
    inner = (wide[1:] * rates[:-1] + wide[:-1] * rates[1:]) / (wide[1:] + wide[:-1])
    short, far = np.minimum(wide[1:], wide[:-1]), lengths(steps)[..., None]
    most = EASES * np.minimum(far[1:], far[:-1]) / short
    inner *= np.minimum(1.0, most / np.maximum(lengths(inner)[..., None], np.finfo(float).tiny))
    first, last = (1.5 * rates[at] - 0.5 * inner[at] if len(inner) else rates[at] for at in (slice(1), slice(-1, None)))
    return np.concatenate([first, inner, last])


def _curve(time: Array, span: Array, step: Array, begin: Array, end: Array, lasts: float) -> Array:
    """Return how far steps (n, ...) are made at times (n,) of their spans (n,), with these velocities at both ends."""
    time, span = (one.reshape(-1, *(1,) * (step.ndim - 1)) for one in (time, span))
    felt, rate = np.minimum(span, lasts), step / span
    after, before = (np.minimum(one / felt, 1.0) for one in (time, span - time))
    bends = after * np.square(1.0 - after) * (begin - rate) - before * np.square(1.0 - before) * (end - rate)
    return rate * time + felt * bends
