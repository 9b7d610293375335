"""Errors and rows of goals that are more than a position or a rotation in armature space (see `rows`).

J_p are the rows of a point, W those of a frame; [v] is the matrix of the cross product with v.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from .... import rotation
from ....body.masses import masses_of, soles_of
from ....errors import CoreError
from ....goals import SUPPORT_RADIUS, AnyGoal, Balance, Distance, Goal, LookAt
from ....rotation import Array, skew, to_matrix
from ....skeleton import Flags, Skeleton
from .. import numbers
from ..tree import Kinematics, Links, Masses
from .features import Collector

_ONES: Final[Array] = np.ones(2)
_LIGHT: Final = 0.1  # share of the mass: joints that carry less take no part in a balance

Frames = NDArray[np.int64] | slice
Flat = Callable[..., Array]  # (*batch_shape, ...) -> (F, ...), given the number of axes that are not of the batch


class Block(ABC):
    """Three rows. Targets are arrays for all F frames of the problem; `frames` are the indices of those in `at`."""

    turning = False  # the error is an angle
    one_sided = False  # only the first row counts, and only where its error is negative
    points: tuple[int, ...]  # all that the error depends on
    ends: tuple[int, ...]

    @abstractmethod
    def aimed(self, goal: AnyGoal, flat: Flat) -> Self:
        """Return the block with the targets of a goal."""

    @abstractmethod
    def error(self, at: Kinematics, frames: Frames) -> Array:
        """Return the error (B, 3)."""

    @abstractmethod
    def rows(self, links: Links, at: Kinematics, raw: Array, frames: Frames) -> Array:
        """Return the rows (B, 3, D), from those of the features."""

    def bend(
        self, links: Links, at: Kinematics, raw: Array, forces: Array, weights: Array, frames: NDArray[np.int64]
    ) -> tuple[Array, Array]:
        """Return the curvature of the rows J under forces and with weights (B, 3), in two parts.

        The forces (B, M) on the features' rows, which turn with their bones; and (B, D, D) J^T W J less the second
        derivatives of 1/2 e^T W e, or plus those of f^T e, for features that move straight on. By differences of
        J^T (f + W (e - e_0)) with each feature moved along each axis.
        """
        points, count = at.points.shape[1], len(at.x)
        moved = [*self.points, *(points + end for end in self.ends)]
        columns = (3 * np.array(moved)[:, None] + np.arange(3)).ravel()
        own = np.eye(raw.shape[1])[:, columns]  # the moved features' rows

        def pull(there: Kinematics, places: NDArray[np.int64]) -> tuple[Array, Array]:
            rows = self.rows(links, there, np.broadcast_to(own, (len(places), *own.shape)), frames[places])
            change = self.error(there, frames[places]) - still[places]
            force = forces[places] + weights[places] * change
            return rows, (np.swapaxes(rows, -1, -2) @ force[..., None])[..., 0]

        everything = np.arange(count)
        still = self.error(at, frames)
        rows, here = pull(at, everything)
        places, share = numbers.STENCIL
        steps = (places[:, None, None] * own.T).reshape(-1, 1, raw.shape[1] // 3, 3)
        there = at[np.tile(everything, len(steps))]
        shape = len(steps), count, -1
        placed = (there.points.reshape(*shape, 3) + steps[:, :, :points]).reshape(there.points.shape)
        turns = rotation.to_matrix(rotation.exp(steps[:, :, points:]))
        turned = (turns @ there.ends.reshape(*shape, 3, 3)).reshape(there.ends.shape)
        there = replace(there, points=placed, ends=turned)
        pulls = pull(there, np.tile(everything, len(steps)))[1].reshape(len(share), len(columns), count, -1)
        change = np.swapaxes(np.tensordot(share, pulls, 1), 0, 1)
        local = 0.5 * (change + np.swapaxes(change, -1, -2)) + np.swapaxes(rows, -1, -2) @ (rows * weights[..., None])
        features = raw[:, columns]
        return here @ own.T, np.swapaxes(features, -1, -2) @ local @ features


class _Carried:
    """A point in armature space, or in the frame of a bone, its carrier."""

    place: Array  # (F, 3)

    def __init__(self, bone: str | int | None, collector: Collector) -> None:
        self.unit = collector.skeleton.size
        self.carrier = None if bone is None else (collector.point(bone), collector.end(bone))
        self.points, self.ends = ((), ()) if self.carrier is None else ((self.carrier[0],), (self.carrier[1],))

    def placed(self, place: Array, flat: Flat) -> Self:
        """Return it at another place, armature units."""
        other = copy(self)
        other.place = flat(place) / self.unit
        return other

    def at(self, at: Kinematics, frames: Frames) -> Array:
        """Return the point (B, 3) in armature space."""
        place = self.place[frames]
        if self.carrier is None:
            return place
        point, end = self.carrier
        return at.points[:, point] + _turned(at.ends[:, end], place)

    def rows(self, at: Kinematics, raw: Array, frames: Frames) -> Array | float:
        """Return its rows (B, 3, D), J_head - [R place] W; 0 without carrier."""
        if self.carrier is None:
            return 0.0
        point, end = self.carrier
        arm = _turned(at.ends[:, end], self.place[frames])
        return point_rows(raw, point) - skew(arm) @ end_rows(raw, end, len(at.points[0]))


class PositionBlock(Block):
    """A position relative to another bone, or with weights by axis in a frame: A^T (q - p)."""

    axes: Array | None  # (F, 3, 3)

    def __init__(self, goal: Goal, collector: Collector) -> None:
        self.point = collector.point(goal.bone, goal.point)
        self.target = _Carried(goal.relative_to, collector)
        self.points, self.ends = (self.point, *self.target.points), self.target.ends

    def aimed(self, goal: AnyGoal, flat: Flat) -> Self:
        assert isinstance(goal, Goal)
        assert goal.position is not None
        other = copy(self)
        other.target = self.target.placed(goal.position, flat)
        other.axes = None if goal.axes is None else to_matrix(flat(goal.axes))
        return other

    def _frame(self, at: Kinematics, frames: Frames) -> Array:
        """A^T (B, 3, 3)."""
        if self.axes is not None:
            frame = self.axes[frames]
        elif self.target.carrier is not None:
            frame = at.ends[:, self.target.carrier[1]]
        else:
            frame = np.broadcast_to(np.eye(3), (len(at.x), 3, 3))
        return np.swapaxes(frame, -1, -2)

    def error(self, at: Kinematics, frames: Frames) -> Array:
        return (self._frame(at, frames) @ (self.target.at(at, frames) - at.points[:, self.point])[..., None])[..., 0]

    def rows(self, links: Links, at: Kinematics, raw: Array, frames: Frames) -> Array:
        moved = point_rows(raw, self.point)
        if self.axes is not None or self.target.carrier is None:
            return self._frame(at, frames) @ (moved - self.target.rows(at, raw, frames))
        # along the carrier's own axes, which turn: along free axes the point may be far from the target
        head, end = self.target.carrier
        arm = at.points[:, self.point] - at.points[:, head]
        turned = skew(arm) @ end_rows(raw, end, len(at.points[0]))
        return self._frame(at, frames) @ (moved - point_rows(raw, head) + turned)


class RotationBlock(Block):
    """A rotation relative to another bone, or with weights by axis: A^T log(T R^T)."""

    turning = True
    target: Array  # (F, 3, 3)
    axes: Array | None  # (F, 3, 3)

    def __init__(self, goal: Goal, collector: Collector) -> None:
        self.end = collector.end(goal.bone)
        self.base = None if goal.relative_to is None else collector.end(goal.relative_to)
        self.by_axis = goal.rotation_axes is not None
        self.points, self.ends = (), (self.end,) if self.base is None else (self.end, self.base)

    def aimed(self, goal: AnyGoal, flat: Flat) -> Self:
        assert isinstance(goal, Goal)
        assert goal.rotation is not None
        other = copy(self)
        other.target = to_matrix(flat(goal.rotation))
        other.axes = None if goal.axes is None else to_matrix(flat(goal.axes))
        return other

    def _error(self, at: Kinematics, frames: Frames) -> Array:
        target = self.target[frames]
        if self.base is not None:
            target = at.ends[:, self.base] @ target
        return rotation.log(rotation.from_matrix(target @ np.swapaxes(at.ends[:, self.end], -1, -2)))

    def _frame(self, at: Kinematics, frames: Frames) -> Array | None:
        if not self.by_axis:
            return None
        if self.axes is not None:
            return np.swapaxes(self.axes[frames], -1, -2)
        return None if self.base is None else np.swapaxes(at.ends[:, self.base], -1, -2)

    def error(self, at: Kinematics, frames: Frames) -> Array:
        error, frame = self._error(at, frames), self._frame(at, frames)
        return error if frame is None else (frame @ error[..., None])[..., 0]

    def rows(self, links: Links, at: Kinematics, raw: Array, frames: Frames) -> Array:
        points = len(at.points[0])
        turn = end_rows(raw, self.end, points)
        if self.base is not None:
            turn = turn - end_rows(raw, self.base, points)
        if self.by_axis:  # with free axes the error stays large: its rate is that of the logarithm
            turn = rotation.inverse_right_jacobian(self._error(at, frames)) @ turn
        frame = self._frame(at, frames)
        return turn if frame is None else frame @ turn


class LookAtBlock(Block):
    """The shortest rotation from an axis d of a bone at p to the direction u = (t - p) / |t - p| of a target t."""

    turning = True

    def __init__(self, goal: LookAt, collector: Collector) -> None:
        self.point, self.end = collector.point(goal.bone, goal.point), collector.end(goal.bone)
        self.target = _Carried(goal.relative_to, collector)
        self.axis = np.asarray(goal.axis)
        self.points, self.ends = (self.point, *self.target.points), (self.end, *self.target.ends)

    def aimed(self, goal: AnyGoal, flat: Flat) -> Self:
        assert isinstance(goal, LookAt)
        other = copy(self)
        other.target = self.target.placed(np.asarray(goal.target), flat)
        return other

    def _see(self, at: Kinematics, frames: Frames) -> tuple[Array, Array, Array]:
        """Return d, u (B, 3) and the distance (B,), at least a centimetre."""
        offset = self.target.at(at, frames) - at.points[:, self.point]
        far = np.maximum(np.linalg.norm(offset, axis=-1), numbers.CENTIMETRE)
        here = at.ends[:, self.end] @ self.axis
        there = offset / far[:, None]
        length = np.linalg.norm(there, axis=-1, keepdims=True)
        return here, np.where(length > 0.5, there, here), far  # a target at p is in any direction

    def error(self, at: Kinematics, frames: Frames) -> Array:
        here, there, _ = self._see(at, frames)
        cross = np.cross(here, there)
        sine, cosine = np.linalg.norm(cross, axis=-1), np.sum(here * there, axis=-1)
        angle = np.arctan2(sine, cosine)
        aside = np.cross(here, np.eye(3)[np.argmin(np.abs(here), axis=-1)])  # about any axis if u = -d
        turn = np.where(sine[:, None] > numbers.DAMPING, cross, aside)
        behind_or_off = (sine > numbers.DAMPING) | (cosine < 0.0)
        return turn * (behind_or_off * angle / np.maximum(np.linalg.norm(turn, axis=-1), numbers.DAMPING))[:, None]

    def rows(self, links: Links, at: Kinematics, raw: Array, frames: Frames) -> Array:
        here, there, far = self._see(at, frames)
        across = np.eye(3) - here[:, :, None] * here[:, None, :]
        moved = point_rows(raw, self.point) - self.target.rows(at, raw, frames)
        return across @ end_rows(raw, self.end, len(at.points[0])) + skew(there / far[:, None]) @ moved


class DistanceBlock(Block):
    """A distance between two points, or from a point to a place."""

    length: Array  # (F,)

    def __init__(self, goal: Distance, collector: Collector) -> None:
        self.one_sided = goal.bound != "exactly"
        self.sign = -1.0 if goal.bound == "at least" else 1.0
        self.point = collector.point(goal.bone, goal.point)
        self.other = None if goal.other is None else collector.point(goal.other, goal.other_point)
        self.place = _Carried(None, collector)
        self.points, self.ends = (self.point,) if self.other is None else (self.point, self.other), ()

    def aimed(self, goal: AnyGoal, flat: Flat) -> Self:
        assert isinstance(goal, Distance)
        other = copy(self)
        other.place = self.place.placed(np.asarray(goal.other_point), flat)
        other.length = flat(goal.length, 0) / self.place.unit
        return other

    def _direction(self, at: Kinematics, frames: Frames) -> tuple[Array, Array]:
        """Return the direction (B, 3) from the other point, and the distance (B,)."""
        there = self.place.at(at, frames) if self.other is None else at.points[:, self.other]
        offset = at.points[:, self.point] - there
        far = np.linalg.norm(offset, axis=-1)
        direction = np.where(far[:, None] > numbers.DAMPING, offset, [0.0, 0.0, 1.0])
        return direction / np.linalg.norm(direction, axis=-1, keepdims=True), far

    def error(self, at: Kinematics, frames: Frames) -> Array:
        error = np.zeros((len(at.x), 3))
        error[:, 0] = self.sign * (self.length[frames] - self._direction(at, frames)[1])
        return error

    def rows(self, links: Links, at: Kinematics, raw: Array, frames: Frames) -> Array:
        moved = point_rows(raw, self.point)
        if self.other is not None:
            moved = moved - point_rows(raw, self.other)
        return _first_row(self.sign * self._direction(at, frames)[0], moved)


class BalanceBlock(Block):
    """The distance of the centre of mass from the support polygon, at most `radius`.

    With n the direction to the centre c from the nearest point q = (1 - t) a + t b of the polygon, between two of its
    corners, the row is n . (J_c - (1 - t) J_a - t J_b), and J_c the mean of the rows of the masses' points.
    """

    one_sided = True

    def __init__(self, goal: Balance, collector: Collector) -> None:
        skeleton = collector.skeleton
        given = masses_of(skeleton) if goal.masses is None else np.asarray(goal.masses)
        if given.shape != (len(skeleton),):
            raise CoreError(f"The balance needs the masses of {len(skeleton)} bones, not {given.shape}.")
        heavy = np.flatnonzero(given > 0.0)
        shares = given[heavy] / given[heavy].sum()
        self.centre = collector.masses(Masses(heavy, shares, _rides(skeleton, given)[heavy]))
        corners = soles_of(skeleton, [skeleton.index(bone) for bone in goal.supports])
        self.soles: NDArray[np.int64] = np.array(
            [collector.point(int(bone), place) for bone, place in zip(*corners, strict=True)]
        )
        self.begins: NDArray[np.int64]  # (sides,) corners; diagonals and points are sides, too
        self.stops: NDArray[np.int64]
        self.begins, self.stops = np.triu_indices(len(self.soles))
        up = np.asarray(goal.up)
        self.across: Array = skew(up)  # d @ skew(up) is d x up
        side = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
        side /= np.linalg.norm(side)
        self.plane: Array = np.stack([side, np.cross(up, side)])  # (2, 3)
        self.radius = SUPPORT_RADIUS if goal.radius is None else goal.radius / skeleton.size
        self._last: tuple[Array, _Nearest] | None = None  # the points it was found for: a step asks for it four times

    def aimed(self, goal: AnyGoal, flat: Flat) -> Self:
        """Return the block: a balance has no target."""
        return self

    def _nearest(self, at: Kinematics) -> "_Nearest":
        if self._last is None or self._last[0] is not at.points:
            self._last = at.points, self._nearest_at(at)
        return self._last[1]

    def _nearest_at(self, at: Kinematics) -> "_Nearest":
        corners, frames = at.points.take(self.soles, axis=1), np.arange(len(at.x))
        ways: Array = (at.centres[:, self.centre, None] - corners) @ self.plane.T  # (B, S, 2) from the corners
        begins: Array = ways.take(self.begins, axis=1)
        sides: Array = begins - ways.take(self.stops, axis=1)
        squares: Array = np.maximum((sides * sides) @ _ONES, numbers.DAMPING**2)
        shares: Array = np.minimum(np.maximum((begins * sides) @ _ONES / squares, 0.0), 1.0)
        gaps: Array = begins - shares[..., None] * sides
        side: NDArray[np.int64] = ((gaps * gaps) @ _ONES).argmin(axis=1)
        gap: Array = gaps[frames, side]
        far = rotation.lengths(gap)[:, None]
        direction = np.where(far > numbers.DAMPING, gap / np.maximum(far, numbers.DAMPING), [1.0, 0.0])
        # inside if a point of the polygon lies beyond the centre
        out = (ways @ direction[..., None]).min(axis=(1, 2))
        ends = self.soles[self.begins[side]], self.soles[self.stops[side]]
        return _Nearest(direction @ self.plane, out, ends, shares[frames, side], sides[frames, side] @ self.plane)

    def _gap(self, links: Links, nearest: "_Nearest") -> Array:
        """Return the shares (B, P) of the points in the way from the nearest point of the polygon to the centre."""
        frames, shares = np.arange(len(nearest.share)), links.tree.centres[self.centre]
        gap = np.repeat(shares[None], len(frames), axis=0)
        gap[frames, nearest.ends[0]] -= 1.0 - nearest.share
        gap[frames, nearest.ends[1]] -= nearest.share
        return gap

    def error(self, at: Kinematics, frames: Frames) -> Array:
        error = np.zeros((len(at.x), 3))
        error[:, 0] = self.radius - self._nearest(at).out
        return error

    def rows(self, links: Links, at: Kinematics, raw: Array, frames: Frames) -> Array:
        nearest = self._nearest(at)
        rows = np.zeros((len(raw), 3, raw.shape[2]))
        rows[:, 0] = _along(self._gap(links, nearest), nearest.direction, raw)
        return rows

    def bend(
        self, links: Links, at: Kinematics, raw: Array, forces: Array, weights: Array, frames: NDArray[np.int64]
    ) -> tuple[Array, Array]:
        """See `Block.bend`; from the second derivatives of the distance from c to q.

        At a corner of the polygon it is the distance of two points, at a side that from a line that turns.
        """
        force = forces[:, 0]
        nearest, frames = self._nearest(at), np.arange(len(raw))
        gap, side = self._gap(links, nearest), np.zeros(at.points.shape[:2])
        side[frames, nearest.ends[1]] += 1.0
        side[frames, nearest.ends[0]] -= 1.0
        across = nearest.direction @ self.across
        aside = _along(gap, across, raw)
        length = np.sum(nearest.side * across, axis=-1)
        corner = (nearest.share == 0.0) | (nearest.share == 1.0) | (np.abs(length) < numbers.DAMPING)
        far = np.maximum(nearest.out, numbers.CENTIMETRE)[:, None, None]
        turn = _along(side, nearest.direction, raw) / np.where(corner, 1.0, length)[:, None]
        mixed = turn[:, :, None] * aside[:, None, :]
        line = -(mixed + np.swapaxes(mixed, -1, -2)) - far * turn[:, :, None] * turn[:, None, :]
        second = np.where(corner[:, None, None], aside[:, :, None] * aside[:, None, :] / far, line)
        pulls = np.zeros(raw.shape[:2])
        pulls[:, : 3 * gap.shape[1]] = force[:, None] * _pulls(gap, nearest.direction)
        return pulls, force[:, None, None] * second


def _rides(skeleton: Skeleton, masses: Array) -> Flags:
    """Return which bones (J,) are too light for their joints to take part in a balance: they move with their parents.

    A body keeps its balance with hips, back and legs, and not by swinging its arms.
    """
    parents = skeleton.parents.tolist()
    share = masses / masses.sum()  # of a bone and all below it
    for bone in range(len(parents) - 1, -1, -1):
        if parents[bone] >= 0:
            share[parents[bone]] += share[bone]
    with_parent = skeleton.inherit_rotation & ~skeleton.driven
    # bones that move with one above them that takes part
    hangs, rides = np.zeros(len(parents), bool), np.zeros(len(parents), bool)
    for bone, parent in enumerate(parents):
        if parent >= 0 and with_parent[bone]:
            hangs[bone] = hangs[parent] or (masses[parent] > 0.0 and not rides[parent])
        rides[bone] = hangs[bone] and share[bone] < _LIGHT
    return rides


@dataclass(frozen=True, eq=False)
class _Nearest:
    """The point of the support polygon nearest to the centre of mass, in B frames."""

    direction: Array  # (B, 3) direction from there to the centre
    out: Array  # (B,) distance, negative inside
    ends: tuple[NDArray[np.int64], NDArray[np.int64]]  # (B,) numbers of the two points that it lies between
    share: Array  # (B,) its share of the path from the first to the second
    side: Array  # (B, 3) from the first to the second


def point_rows(raw: Array, point: int) -> Array:
    """Return the rows (B, 3, D) of a point."""
    return raw[:, 3 * point : 3 * point + 3]


def _along(shares: Array, direction: Array, raw: Array) -> Array:
    """Return the rows (B, D) of points' sum by shares (B, P) along a direction (B, 3)."""
    pulls = _pulls(shares, direction)
    return (pulls[:, None] @ raw[:, : pulls.shape[1]])[:, 0]


def _pulls(shares: Array, direction: Array) -> Array:
    """Return the rows (B, 3 P) of points with shares (B, P) of a direction (B, 3)."""
    return (shares[..., None] * direction[:, None]).reshape(len(shares), -1)


def end_rows(raw: Array, end: int, points: int) -> Array:
    """Return the rows (B, 3, D) of a frame."""
    start = 3 * (points + end)
    return raw[:, start : start + 3]


def _turned(frames: Array, vectors: Array) -> Array:
    return (frames @ vectors[..., None])[..., 0]


def _first_row(direction: Array, rows: Array) -> Array:
    """Return rows (B, 3, D) along a direction (B, 3) as the first of three rows."""
    result = np.zeros_like(rows)
    result[:, 0] = (direction[:, None, :] @ rows)[:, 0]
    return result
