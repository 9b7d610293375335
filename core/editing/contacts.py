"""Contacts of points of a body with the ground: low and slow points, with thresholds found from the clip itself.

Speeds are measured over a fixed time and relative to the skeleton's size, so units and frame rate do not matter; they
and the heights are relative to a ground that may drift and go up and down, see `drift`. The speed threshold separates
planted from swinging points near the ground: Otsu's threshold of the logarithms (IEEE Trans. SMC 9, 1979), within
`SLOWEST` and `FASTEST`. Joints are above their soles; so each point has its own resting height, an expectile of its
heights where it is slow, and a band above it from their scatter. A contact begins and ends where wider thresholds are
crossed, and counts if the narrower ones are met in between (hysteresis).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..body import SIDES, Roles
from ..body.ground import find_sole
from ..errors import CoreError
from ..motion import Motion, forward_of
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Flags, Skeleton
from .drift import REACH, STILL, find_drift, is_treadmill, velocities

UP: Final = (0.0, 0.0, 1.0)

# Lengths relative to the skeleton's size, times in seconds
GROUND_PERCENTILE: Final = 2.0
UNDER: Final = 0.1  # expectile of the heights of slow points that is the resting height
FITS: Final = 20  # reweighted means
BANDS: Final = (0.025, 0.06)  # smallest and largest band above the resting height
SLOWEST, FASTEST = 0.2, 0.5  # limits of the speed threshold, per second
SPEED_BINS: Final = 64
LEAVING: Final = 1.2  # ratio of the wider to the narrower thresholds
SHORTEST_CONTACT: Final = 0.1
LONGEST_GAP: Final = 0.15  # between contacts that are joined to one


# heights (...) along the ground's up vector of what is under positions (..., 3), -inf where nothing is
Surface = Callable[[Array], Array]


class BodyPoint(NamedTuple):
    """A point of the body: its position in the frame of its bone; how high it is `above` the ground on a flat foot."""

    name: str
    bone: int
    position: tuple[float, float, float]
    above: float = 0.0


@dataclass(frozen=True, eq=False)
class Ground:
    """A plane: `height` along the unit vector `up` (3,), in armature space; or a surface, and the plane beside it."""

    up: Array
    height: float
    surface: Surface | None = None

    def under(self, positions: Array) -> Array:
        """Return the heights (...) of the ground under positions (..., 3)."""
        return level_under(self.surface, positions, self.height)

    def heights(self, positions: Array) -> Array:
        """Return the heights (...) of positions (..., 3) above the ground."""
        return positions @ self.up - self.under(positions)


def level_under(surface: Surface | None, positions: Array, plane: Array | float) -> Array:
    """Return the heights (...) of a surface under positions (..., 3), and of a plane where nothing of it is there."""
    level = np.broadcast_to(plane, positions.shape[:-1])
    if surface is None:
        return level
    found = surface(positions)
    return np.where(np.isfinite(found), found, level)


class ContactInterval(NamedTuple):
    """Contact of point number `point` from frame index `first` to `last`, both included."""

    point: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contacts of P points with the ground, and the thresholds found.

    touching  (F, P) whether a point is in contact
    low       (F, P) whether it is as near to the ground as in contact, however fast
    resting   (P,) heights above the ground of points in contact, armature units; above a surface those of flat feet
    drift     (F, 3) how far the ground has moved, see `find_drift`
    speed     armature units per second, below which a point near the ground is planted
    lift      (F, P) how far the ground under a point is known to be above it, where a motion is not there yet
    """

    points: tuple[BodyPoint, ...]
    touching: Flags
    low: Flags
    ground: Ground
    resting: Array
    drift: Array
    speed: float
    lift: Array | float = 0.0

    def intervals(self) -> list[ContactInterval]:
        """Return the intervals of contact, by point and then by time."""
        return [ContactInterval(p, *ends) for p in range(len(self.points)) for ends in runs(self.touching[:, p])]


def foot_points(skeleton: Skeleton, roles: Roles) -> tuple[BodyPoint, ...]:
    """Return the contact points of feet: heel, ball and toe of humans, the tips of the legs of creatures.

    Heel and toe are on the sole, see `find_sole`. The ball is the joint of the toes, which is rigid with both; without
    a bone of toes it is the end of the foot if that is where they would turn, else on the sole, and there is no toe.
    Names are like "heel.L".
    """
    if not roles.humanoid:
        legs = [(name, chain[-1]) for name, chain in sorted(roles.limbs.items()) if name.startswith("leg") and chain]
        return tuple(BodyPoint(name, bone, (0.0, float(skeleton.lengths[bone]), 0.0)) for name, bone in legs)
    found: list[BodyPoint] = []
    for side in SIDES:
        if roles.bone(f"foot.{side}") < 0:
            continue
        sole = find_sole(skeleton, roles, side)
        places = {"heel": (sole.foot, sole.heel), "ball": (sole.foot, sole.ball + sole.thickness * sole.up)}
        if sole.toe >= 0:
            places |= {"ball": (sole.toe, np.zeros(3)), "toe": (sole.toe, sole.end)}
        for part, (bone, place) in places.items():
            x, y, z = place.tolist()
            found.append(BodyPoint(f"{part}.{side}", bone, (x, y, z), sole.thickness if part == "ball" else 0.0))
    return tuple(found)


def foot_of(point: str) -> str:
    """Return the role of the foot of a point of `foot_points`, by their names; other names as they are."""
    part, dot, side = point.partition(".")
    return f"foot{dot}{side}" if part in ("heel", "ball", "toe") else point


def point_positions(skeleton: Skeleton, pose: Pose, points: Sequence[BodyPoint]) -> Array:
    """Return the positions (..., P, 3) of points in armature space."""
    heads, frames = forward_of(skeleton, pose, [point.bone for point in points])
    return heads + rotation.rotate(frames, [point.position for point in points])


def find_ground(positions: Array, up: ArrayLike = UP) -> Ground:
    """Return the ground plane under positions (F, P, 3) of toes, at a low percentile of their heights.

    Captured toes dip below the floor at times. Raises CoreError for an up direction of no length.
    """
    direction = np.asarray(up, float)
    length = float(np.linalg.norm(direction))
    if not length > 0.0:
        raise CoreError("The up direction of the ground must not be zero.")
    direction = direction / length
    return Ground(direction, float(np.percentile(positions @ direction, GROUND_PERCENTILE)))


def find_contacts(
    skeleton: Skeleton,
    motion: Motion,
    points: Sequence[BodyPoint],
    ground: Ground | None = None,
    up: ArrayLike = UP,
    drifts: bool = True,
    surface: Surface | None = None,
) -> Contacts:
    """Return the contacts of points with the ground.

    The default ground is that under the points whose names begin with "toe", or under all points if there are none. It
    may drift, unless `drifts` is False: then what slides does not stand, and on a treadmill nothing does. With a
    `surface` the ground is that, and does not drift. Raises CoreError without points.
    """
    if not points:
        raise CoreError("No part of the body can touch the ground. Assign its feet first.")
    positions = point_positions(skeleton, motion.pose, points)
    return find_contacts_at(positions, motion, points, skeleton.size, ground, up, drifts, surface)


def find_contacts_at(
    positions: Array,
    motion: Motion,
    points: Sequence[BodyPoint],
    size: float,
    ground: Ground | None = None,
    up: ArrayLike = UP,
    drifts: bool = True,
    surface: Surface | None = None,
) -> Contacts:
    """Return the contacts of points that are at positions (F, P, 3) in the frames of a motion; see `find_contacts`.

    `size` is that of the skeleton, in the space of the positions.
    """
    if ground is None:
        toes = [i for i, point in enumerate(points) if point.name.startswith("toe")]
        ground = replace(find_ground(positions[:, toes or list(range(len(points)))], up), surface=surface)
    drift = np.zeros((len(motion), 3))
    if drifts and ground.surface is None:
        drift = find_drift(positions, motion, ground.up, size, ground.height)
    positions = positions - drift[:, None]
    height = ground.heights(positions) / size
    speed = rotation.lengths(velocities(positions, motion)) / size
    near = height < REACH
    slow_speed = _speed_threshold(speed[near])
    slow = near & (speed < slow_speed)
    if not drifts and ground.surface is None and is_treadmill(positions, motion, ground.up, size, ground.height):
        slow[:] = False
    touching, low, resting = np.zeros(height.shape, bool), np.zeros(height.shape, bool), np.zeros(len(points))
    for point in np.flatnonzero(slow.any(axis=0)):
        resting[point] = _resting_height(height[slow[:, point], point])
        over = height[:, point] - resting[point]
        band = np.clip(2.0 * np.median(over[slow[:, point]]), *BANDS)
        low[:, point] = over < band
        touching[:, point] = _touching(np.maximum(over / band, speed[:, point] / slow_speed), motion)
    rests = size * resting if ground.surface is None else np.array([point.above for point in points])
    return Contacts(tuple(points), touching, low, ground, rests, drift, slow_speed * size)


def stands_on(
    skeleton: Skeleton, motion: Motion, points: Sequence[BodyPoint], surface: Surface, up: ArrayLike = UP
) -> bool:
    """Return whether a motion is on a surface; else it is on a level plane.

    It is on that above which the heights of slow points spread less, if it is as near as a contact is.
    """
    positions = point_positions(skeleton, motion.pose, points)
    speed = rotation.lengths(velocities(positions, motion)) / skeleton.size
    slow = speed < _speed_threshold(speed.reshape(-1))
    if not slow.any():
        return True
    plane = find_ground(positions, up)
    above = [point.above for point in points]
    level, high = ((one.heights(positions) - above)[slow] for one in (plane, replace(plane, surface=surface)))
    near = abs(np.median(high)) < BANDS[1] * skeleton.size
    return bool(near and np.abs(high - np.median(high)).mean() <= np.abs(level - np.median(level)).mean())


def runs(flags: Flags) -> list[tuple[int, int]]:
    """Return the first and last index of each run of true flags (F,)."""
    edges = np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8))
    return list(zip(np.flatnonzero(edges > 0).tolist(), (np.flatnonzero(edges < 0) - 1).tolist(), strict=True))


def _speed_threshold(speed: Array) -> float:
    """Return Otsu's threshold between slow and fast speeds (N,), relative to the body's size."""
    if not len(speed):
        return SLOWEST
    counts, edges = np.histogram(np.log(np.maximum(speed, STILL)), SPEED_BINS)
    middles = 0.5 * (edges[1:] + edges[:-1])
    below, sums = np.cumsum(counts), np.cumsum(counts * middles)
    both = below * (below[-1] - below)
    between = np.square(sums[-1] * below - sums * below[-1]) / np.maximum(both, 1)
    return float(np.clip(np.exp(edges[1 + int(np.argmax(between))]), SLOWEST, FASTEST))


def _resting_height(height: Array) -> float:
    """Return the expectile of heights (N,), by reweighted means (Newey and Powell, Econometrica 1987)."""
    found = 0.0
    for _ in range(FITS):
        found = float(np.average(height, weights=np.where(height > found, UNDER, 1.0 - UNDER)))
    return found


def _touching(excess: Array, motion: Motion) -> Flags:
    """Return the frames in contact (F,) from ratios (F,) to the narrower thresholds."""
    found: list[tuple[int, int]] = []
    seconds = motion.frames / motion.fps
    for first, last in runs(excess < LEAVING):
        if not np.any(excess[first : last + 1] < 1.0):
            continue
        if found and seconds[first] - seconds[found[-1][1]] <= LONGEST_GAP:
            found[-1] = found[-1][0], last
        else:
            found.append((first, last))
    result = np.zeros(len(excess), bool)
    for first, last in found:
        cut = first == 0 or last == len(excess) - 1  # cut by the clip: of unknown length
        if cut or seconds[last] - seconds[first] >= SHORTEST_CONTACT:
            result[first : last + 1] = True
    return result
