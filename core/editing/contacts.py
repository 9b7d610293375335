"""When points of a body bear on the ground: low and slow, with hysteresis, by thresholds that the clip itself gives.

Speeds are those of a body of the skeleton's size, over a stretch of time that is the same at all frame rates, so that
neither units nor frame rate nor the noise of single frames matter. Slow: the speeds of all points that are near the
ground fall into two heaps, planted and swinging; what parts their logarithms best (Otsu, IEEE Trans. SMC 9, 1979),
within `SLOWEST` and `FASTEST`, is the threshold. Low: a joint is above its sole, and captured floors are tilted, so
each point has a resting height of its own over a floor with one slope for all, fitted low under the heights of slow
points; how far they scatter above it gives the band. A touch begins and ends where the wider thresholds are crossed and
counts if the narrower ones are met in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..body import SIDES, Roles
from ..body.axes import axis_vector
from ..errors import CoreError
from ..motion import BLOCK, Motion, blocks
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Flags, Skeleton

# lengths by the skeleton's size, times in seconds
GROUND_PERCENTILE: Final = 2.0
UNDER: Final = 0.1  # expectile of heights of slow points that counts as rest
SLOPE: Final = 0.03  # standard deviation of a floor's slope, where points scatter by SCATTER
SCATTER: Final = 0.02
FITS: Final = 20
REACH: Final = 0.12  # a point that rests higher above the ground stands on nothing
BANDS: Final = (0.02, 0.06)  # above its resting height, at least and at most
SLOWEST, FASTEST = 0.2, 0.6  # between these is the speed that parts planted from swinging
STILL: Final = 0.05  # speeds below are noise and no matter
SPEED_BINS: Final = 64
LEAVING: Final = 1.2  # times the thresholds at which a touch begins, it ends
SPEED_SPAN: Final = 1.0 / 15.0  # over which a speed is measured
SHORTEST_TOUCH: Final = 0.1
LONGEST_GAP: Final = 0.15  # from one touch to the next that makes both one


class BodyPoint(NamedTuple):
    """A point of the body: `place` in the frame of the bone."""

    name: str
    bone: int
    place: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Ground:
    """A plane: `height` along the unit vector `up` (3,), in armature space."""

    up: Array
    height: float

    def above(self, places: Array) -> Array:
        """Heights (...) of places (..., 3)."""
        return places @ self.up - self.height


class ContactInterval(NamedTuple):
    """Point number `point` bears from frame `first` to frame `last`, counted from 0, both included."""

    point: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Contacts:
    """Which of the points (P) bear in which frame, `touching` (F, P), and the thresholds that told.

    speed     per second, below which a point near the ground is planted
    resting   (F, P) heights over the ground at which a point rests where it is, NaN for one that never does
    band      (P,) above that, up to where a point is low
    """

    points: tuple[BodyPoint, ...]
    touching: Flags
    ground: Ground
    speed: float
    resting: Array
    band: Array

    def intervals(self) -> list[ContactInterval]:
        """Intervals, by point and then by time."""
        return [ContactInterval(p, *ends) for p in range(len(self.points)) for ends in runs(self.touching[:, p])]


def foot_points(skeleton: Skeleton, roles: Roles) -> tuple[BodyPoint, ...]:
    """What feet stand on: heel, ball and toe of a human's, the tips of a creature's legs.

    The ball is the joint of the toes, the toe their tip; without toe bones the ball is the foot's tail and there is no
    toe. The heel is the head of a bone below the foot or the shin that is called so, else the ankle brought down to
    the height of ball and toe in the rest pose. Names are like "heel.L".
    """
    if not roles.humanoid:
        legs = [(name, chain[-1]) for name, chain in sorted(roles.limbs.items()) if name.startswith("leg") and chain]
        return tuple(BodyPoint(name, bone, _tail(skeleton, bone)) for name, bone in legs)
    found: list[BodyPoint] = []
    for side in SIDES:
        foot, toe = roles.bones.get(f"foot.{side}"), roles.bones.get(f"toe.{side}")
        if not isinstance(foot, int):
            continue
        if isinstance(toe, int):
            front = [
                BodyPoint(f"ball.{side}", toe, (0.0, 0.0, 0.0)),
                BodyPoint(f"toe.{side}", toe, _tail(skeleton, toe)),
            ]
        else:
            front = [BodyPoint(f"ball.{side}", foot, _tail(skeleton, foot))]
        found += [BodyPoint(f"heel.{side}", foot, _heel(skeleton, foot, front, axis_vector(roles.up))), *front]
    return tuple(found)


def _tail(skeleton: Skeleton, bone: int) -> tuple[float, float, float]:
    return (0.0, float(skeleton.lengths[bone]), 0.0)


def _heel(skeleton: Skeleton, foot: int, front: Sequence[BodyPoint], up: Array) -> tuple[float, float, float]:
    rest = skeleton.rest_matrices
    near = foot, skeleton.parents[foot]
    called = [b for b, name in enumerate(skeleton.names) if "heel" in name.lower() and skeleton.parents[b] in near]
    if called:
        heel = rest[called[0], :, 3]
    else:
        ankle = rest[foot, :, 3]
        sole = min(float(up @ (rest[p.bone, :, :3] @ p.place + rest[p.bone, :, 3])) for p in front)
        heel = ankle - max(float(up @ ankle) - sole, 0.0) * up
    x, y, z = (rest[foot, :, :3].T @ (heel - rest[foot, :, 3])).tolist()
    return x, y, z


def point_positions(skeleton: Skeleton, pose: Pose, points: Sequence[BodyPoint]) -> Array:
    """Where the points are in armature space, (..., P, 3)."""
    count = len(pose.rotations)
    if pose.rotations.ndim == 3 and count > BLOCK:  # all bones of all frames would be much for a few points
        return np.concatenate([point_positions(skeleton, pose[block], points) for block in blocks(count)])
    heads, frames = forward(skeleton, pose)
    bones = [point.bone for point in points]
    return heads[..., bones, :] + rotation.rotate(frames[..., bones, :], [point.place for point in points])


def find_ground(places: Array, up: ArrayLike = (0.0, 0.0, 1.0)) -> Ground:
    """The plane under places (F, P, 3) of toes, a low percentile of their heights: captures dip below their floor."""
    direction = np.asarray(up, float)
    length = float(np.linalg.norm(direction))
    if not length > 0.0:
        raise CoreError("The up direction of the ground has no direction.")
    direction = direction / length
    return Ground(direction, float(np.percentile(places @ direction, GROUND_PERCENTILE)))


def find_contacts(
    skeleton: Skeleton,
    motion: Motion,
    points: Sequence[BodyPoint],
    ground: Ground | None = None,
    up: ArrayLike = (0.0, 0.0, 1.0),
) -> Contacts:
    """Which of the points bear on the ground, by default the one under the points whose names begin with "toe".

    Where none is called so, under all of them. Raises CoreError without points.
    """
    if not points:
        raise CoreError("There are no points that could touch the ground; name some bones.")
    places = point_positions(skeleton, motion.pose, points)
    if ground is None:
        toes = [i for i, point in enumerate(points) if point.name.startswith("toe")]
        ground = find_ground(places[:, toes or list(range(len(points)))], up)
    size = skeleton.size
    height = ground.above(places) / size
    speed = speeds(places, motion) / size
    near = height < REACH
    slow_speed = _parting_speed(speed[near])
    slow = near & (speed < slow_speed)
    resting = _resting_heights(height, (places - places @ ground.up[:, None] * ground.up) / size, slow)
    band = np.full(len(points), np.nan)
    touching = np.zeros(height.shape, bool)
    for point in np.flatnonzero(slow.any(axis=0)):
        over = height[:, point] - resting[:, point]
        band[point] = np.clip(2.0 * np.median(over[slow[:, point]]), *BANDS)
        touching[:, point] = _touching(np.maximum(over / band[point], speed[:, point] / slow_speed), motion)
    return Contacts(tuple(points), touching, ground, slow_speed * size, resting * size, band * size)


def speeds(places: Array, motion: Motion) -> Array:
    """(F, P) per second of places (F, P, 3), each over `SPEED_SPAN` about its frame."""
    times = motion.frames / motion.fps
    if len(times) < 2:
        return np.zeros(places.shape[:-1])
    frame = float(np.median(np.diff(times)))
    half = max(1, round(0.5 * SPEED_SPAN / frame))
    here = np.arange(len(times))
    before, after = np.maximum(here - half, 0), np.minimum(here + half, len(times) - 1)
    return rotation.lengths(places[after] - places[before]) / (times[after] - times[before])[:, None]


def runs(flags: Flags) -> list[tuple[int, int]]:
    """First and last frame of each run of true flags (F,)."""
    edges = np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8))
    return list(zip(np.flatnonzero(edges > 0).tolist(), (np.flatnonzero(edges < 0) - 1).tolist(), strict=True))


def _parting_speed(speed: Array) -> float:
    """Otsu's threshold between the two heaps of speeds (N,), of the body's size."""
    if not len(speed):
        return SLOWEST
    counts, edges = np.histogram(np.log(np.maximum(speed, STILL)), SPEED_BINS)
    middles = 0.5 * (edges[1:] + edges[:-1])
    below, sums = np.cumsum(counts), np.cumsum(counts * middles)
    both = below * (below[-1] - below)
    between = np.square(sums[-1] * below - sums * below[-1]) / np.maximum(both, 1)
    return float(np.clip(np.exp(edges[1 + int(np.argmax(between))]), SLOWEST, FASTEST))


def _resting_heights(height: Array, where: Array, slow: Flags) -> Array:
    """(F, P) under heights (F, P) at places (F, P, 3) in the plane: one slope, a height for each point.

    An expectile by reweighted least squares (Newey and Powell, Econometrica 1987), the slope held by its prior.
    """
    frames, points = np.nonzero(slow)
    used = slow.any(axis=0)
    rows = np.concatenate([np.eye(len(used))[points], where[frames, points]], axis=1)
    prior = np.concatenate([~used, np.full(3, np.square(SCATTER / SLOPE))])
    values = height[frames, points]
    fit = np.zeros(len(prior))
    for _ in range(FITS):
        weights = np.where(values > rows @ fit, UNDER, 1.0 - UNDER)
        fit = np.linalg.solve(rows.T @ (weights[:, None] * rows) + np.diag(prior), rows.T @ (weights * values))
    return np.where(used, fit[: len(used)] + where @ fit[len(used) :], np.nan)


def _touching(excess: Array, motion: Motion) -> Flags:
    """(F,) from how far frames (F,) are above the narrower thresholds, 1: at them."""
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
        cut = first == 0 or last == len(excess) - 1  # by the clip: nobody knows how long it was
        if cut or seconds[last] - seconds[first] >= SHORTEST_TOUCH:
            result[first : last + 1] = True
    return result
