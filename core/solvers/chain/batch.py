"""One chain in many frames at once: the walk of `ChainFrame`, with arrays (B,) for numbers."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...rotation import Array
from .finisher import FIRST_DAMPING, RIDGE, Finisher, half_of_y
from .limits import Bounded, allowed, at_frames
from .path import Chain
from .plan import OPPOSITE, Plan, Step
from .walk import ARRAYS, STILL, ChainWalk, Quaternion, Triple, carried_links, mul

_CROWDED: Final = 0.7  # share of frames still going down to which finished ones are carried along
_CHUNK: Final = 2048  # frames


class ChainBatch:
    """All frames of a chain. `reach` goes on from `turns` (B, n, 4).

    The frames are the last axis of the arrays, so that numbers of one kind lie together: links (3, n + 1, B), rows of
    turns (4, n, B). After `reach`, `error` (B,), `finished` (B,) and `used` (B,) are as in `ChainFrame`.
    """

    def __init__(self, chain: Chain, plan: Plan) -> None:
        self.chain, self.plan = chain, plan
        columns = np.swapaxes(rotation.to_matrix(chain.frames), -1, -2)
        self.axes = columns.reshape(*columns.shape[:2], 9)
        onward = np.tri(len(chain.path.bones)).T  # times links: from each joint to the effector
        self.adders = np.array([onward, onward.T @ onward])[:, None]
        self.links = _frames_last(chain.links)
        self.restart()

    def restart(self, turns: Array | None = None) -> None:
        """Go on from turns (B, n, 4); by default, from the poses that were read."""
        if turns is None:
            self.rows = np.zeros((4, len(self.chain.path.bones), len(self.chain.links)))
            self.rows[0] = 1.0
        else:
            self.rows = _frames_last(turns)

    @property
    def turns(self) -> Array:
        """The turns (B, n, 4)."""
        return self.rows.T

    def reach(self, targets: Array, on: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Do what `ChainFrame.reach` does for targets (B, 3), in the frames that are `on` (B,); return steps (B,).

        Frames that are off have no error.
        """
        self.used = np.zeros(len(targets), int)
        self.error, self.finished = np.zeros(len(targets)), np.zeros(len(targets), bool)
        frames = np.flatnonzero(on)
        for first in range(0, len(frames), _CHUNK):
            self._reach(frames[first : first + _CHUNK], targets.T)
        return self.used

    def taken(self, frames: NDArray[np.int64]) -> tuple[list[Triple], list[Quaternion]]:
        """Return links and turns of some frames; STILL for joints that are turned in none of them."""
        rows = _take(self.rows, frames)
        turned = rows[1:].any(axis=(0, 2))
        turns = [_quaternion(rows[:, node]) if some else STILL for node, some in enumerate(turned)]
        return [_triple(link) for link in _take(self.links, frames).swapaxes(0, 1)], turns

    def _reach(self, frames: NDArray[np.int64], targets: Array) -> None:
        plan, missed = self.plan, frames
        if plan.rounds or not plan.finish:  # else the finisher measures
            walk = _FramesWalk(self, frames, targets)
            walk.run()
            walk.store()
            missed = frames[self.error[frames] > plan.tolerance]
        if plan.finish and len(missed):
            finisher = _ArraysFinisher(self, missed, targets)
            finisher.iterate()
            finisher.store()


class _FramesWalk(ChainWalk):
    """The walk of some of the frames; those that are done are left out after a round."""

    def __init__(self, batch: ChainBatch, frames: NDArray[np.int64], targets: Array) -> None:
        super().__init__(batch.chain.path, batch.plan, ARRAYS)
        self.batch, self.all_targets = batch, targets
        self._begin(frames)
        self.used = np.zeros(len(frames), int)

    def _begin(self, frames: NDArray[np.int64]) -> None:
        self.alive = frames
        self.links, self.rotations = self.batch.taken(frames)
        self.axes, self.limits = [], dict[int, list[Bounded]]()
        if self.batch.chain.limits:
            self.own, self.frames = (
                [_quaternion(some) for some in _frames_last(part[frames]).swapaxes(0, 1)]
                for part in (self.batch.chain.own, self.batch.chain.frames)
            )
        self.aim(_triple(_take(self.all_targets, frames)))

    def store(self) -> None:
        """Give the batch its turns, errors and rounds."""
        for node, turn in enumerate(self.rotations):
            if turn is not STILL:
                self.batch.rows[:, node, self.alive] = turn
        self.batch.error[self.alive], self.batch.used[self.alive] = self.error, self.used

    def keep(self, going: NDArray[np.bool_]) -> bool:
        alive = np.count_nonzero(going)
        if 0 < alive < len(going):
            self.store()
            self.error, self.used = self.error[going], self.used[going]
            self._begin(self.alive[going])
        return bool(alive)

    def axis(self, step: Step) -> Triple:
        if not self.axes:  # sweeps of ball joints need none
            parts = _frames_last(self.batch.axes[self.alive])
            self.axes = [[_triple(axes[i : i + 3]) for i in (0, 3, 6)] for axes in parts.swapaxes(0, 1)]
        return super().axis(step)

    def full_angle(self, sine: Array, cosine: Array, least: Array) -> Array:
        return np.where(least <= self.plan.nothing, 0.0, np.arctan2(sine, cosine))

    def limited(self, step: Step, angle: Array) -> Array:
        chain, node = self.batch.chain, step.node
        sign = -1.0 if self.inverted[node] else 1.0
        if node not in self.limits:
            self.limits[node] = at_frames(chain.limits[node], self.alive)
        own = np.stack(np.broadcast_arrays(*self.own_rotation(node)), axis=-1)
        return sign * allowed(self.limits[node], own, step.axis, sign * angle)

    def shortest(self, e: Triple, t: Triple) -> Quaternion:
        (ex, ey, ez), (tx, ty, tz) = e, t
        square_e, square_t = ex * ex + ey * ey + ez * ez, tx * tx + ty * ty + tz * tz
        both = np.sqrt(square_e * square_t)
        more = both + ex * tx + ey * ty + ez * tz
        none = np.minimum(square_e, square_t) <= self.plan.nothing
        opposite = ~none & (more <= OPPOSITE * both)
        safe = ~none & ~opposite
        scale = np.where(safe, 1.0 / np.sqrt(2.0 * np.where(safe, both * more, 0.5)), 0.0)
        turn = (
            np.where(safe, more * scale, np.where(none, 1.0, 0.0)),
            (ey * tz - ez * ty) * scale,
            (ez * tx - ex * tz) * scale,
            (ex * ty - ey * tx) * scale,
        )
        if opposite.any():  # half a turn about anything across
            vectors = np.stack(e, axis=-1)[opposite]
            across = np.cross(np.eye(3)[np.argmin(np.abs(vectors), axis=-1)], vectors)
            across /= np.linalg.norm(across, axis=-1, keepdims=True)
            for part, value in zip(turn[1:], across.T, strict=True):
                part[opposite] = value
        return turn


class _Vectors:
    """Vectors (5, ...) with the rows x, y, z, x, y: all that a cross product takes lies together."""

    def __init__(self, rows: Array) -> None:
        self.rows, self.xyz, self.yzx, self.zxy = rows, rows[:3], rows[1:4], rows[2:]
        self._last, self._first = rows[3:], rows[:2]

    def close(self) -> None:
        """Write x and y after z once more."""
        self._last[...] = self._first


class _ArraysFinisher(Finisher):
    """The finisher for some of the frames.

    Calls are what takes the time here, and then fresh memory: the vectors of all links in all frames are one array
    (5, n, B), and the memory of a step is allocated once.
    """

    def __init__(self, batch: ChainBatch, frames: NDArray[np.int64], targets: Array) -> None:
        self.batch, self.frames, self.adders = batch, frames, batch.adders
        links, turns = batch.taken(frames)
        turned, ways = np.zeros((6, len(turns), len(frames))), np.empty((5, len(turns), len(frames)))
        turned[0] = 1.0
        for node, (carried, way) in enumerate(carried_links(turns, links[1:])):
            ways[:3, node] = way
            if carried is not STILL:
                turned[:4, node] = carried
        self._use(turned, ways, _take(targets, frames) - links[0] - np.add.reduce(ways[:3], axis=1))
        self.ways.close()
        self.vector.close()
        super().__init__(batch.plan, ARRAYS, _length(self.gap))
        self.left, self.steps = np.arange(len(frames)), np.zeros(len(frames), int)
        self.damping, self.used = np.full(len(frames), FIRST_DAMPING), np.zeros(len(frames), int)

    def _use(self, turned: Array, ways: Array, gap: Array) -> None:
        """Take the turns of links (6, n, B), w, x, y, z, x, y, the vectors of links (5, n, B), and gaps (3, B)."""
        self.turned, self.real, self.vector = turned, turned[0], _Vectors(turned[1:])
        self.ways, self.gap = _Vectors(ways), gap
        self.sums = np.empty((2, *ways.shape))
        self.arms, self.summed = _Vectors(self.sums[0]), _Vectors(self.sums[1])
        self.half, self.spare = _Vectors(np.empty_like(ways)), np.empty_like(ways[:3])
        self.moves, self.across = self.arms.xyz, self.summed  # these take the memory of what a step needs before them

    def keep(self, going: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        alive = np.count_nonzero(going)
        if not alive:
            return None
        if alive < _CROWDED * len(self.left):
            self._give()
            some = np.flatnonzero(going)
            self.left, going, self.used = self.left[some], going[some], self.used[some]
            self.distance, self.damping = self.distance[some], self.damping[some]
            self._use(*(part.take(some, axis=-1) for part in (self.turned, self.ways.rows, self.gap)))
        return going

    def store(self) -> None:
        """Give the batch its turns, errors and steps."""
        self._give()
        self.batch.used[self.frames] += self.steps
        self.batch.finished[self.frames] = self.steps > 0
        w, x, y, z = rows = _take(self.batch.rows, self.frames)
        w, x, y, z = unit = rows / np.sqrt(w * w + x * x + y * y + z * z)
        before = w[:-1], -x[:-1], -y[:-1], -z[:-1]
        self.batch.rows[:, :1, self.frames] = unit[:, :1]
        self.batch.rows[:, 1:, self.frames] = mul(before, _quaternion(unit[:, 1:]))

    def _give(self) -> None:
        """Give the batch the turns of links and the errors of the frames that are left, and note their steps."""
        frames = self.frames[self.left]
        self.steps[self.left], self.batch.error[frames] = self.used, self.distance
        self.batch.rows[..., frames] = self.turned[:4]

    def step(self) -> Array:
        """Set `half`, of each link's turn (Cayley's), and `moves`, the change of each link's vector."""
        least = self.plan.tolerance * self.plan.tolerance
        half, arms, across = self.half, self.arms, self.across
        np.matmul(self.adders, self.ways.rows, out=self.sums)
        squares = np.add.reduce(np.multiply(arms.xyz, arms.xyz, out=self.spare), axis=1)
        yz, xz, xy = np.add.reduce(np.multiply(arms.yzx, arms.zxy, out=self.spare), axis=1)
        more = (RIDGE + self.damping) * (np.add.reduce(squares) + least)
        x, y, z = half_of_y(_triple(self.gap), (*_triple(squares), xy, xz, yz), more)
        same = _Vectors(np.array((x, y, z, x, y))[:, None])  # for all joints: their r x y add up as the r do
        self._cross(self.summed, same, half.xyz)
        half.close()
        self._cross(half, self.ways, across.xyz)
        across.close()
        across.rows += self.ways.rows
        self._cross(half, across, self.moves)
        self.moves *= 2.0 / (1.0 + self._dot(half, half))
        self.new_gap = self.gap - np.add.reduce(self.moves, axis=1)
        self.new_distance = _length(self.new_gap)
        return self.new_distance

    def take(self, better: NDArray[np.bool_]) -> None:
        kept = np.flatnonzero(~better)
        if len(kept):
            self.half.rows[..., kept], self.moves[..., kept] = 0.0, 0.0
            self.new_gap[:, kept], self.new_distance[kept] = self.gap[:, kept], self.distance[kept]
        self.gap, self.distance = self.new_gap, self.new_distance
        self._turn()

    def _turn(self) -> None:
        """Turn the links by `half` and change their vectors by `moves`."""
        half, vector, across = self.half, self.vector, self.across.xyz
        self.ways.xyz += self.moves
        self.ways.close()
        self._cross(half, vector, across)
        across += np.multiply(half.xyz, self.real, out=self.spare)
        self.real -= self._dot(half, vector)
        vector.xyz += across
        vector.close()

    def _cross(self, a: _Vectors, b: _Vectors, out: Array) -> None:
        np.multiply(a.yzx, b.zxy, out=out)
        out -= np.multiply(a.zxy, b.yzx, out=self.spare)

    def _dot(self, a: _Vectors, b: _Vectors) -> Array:
        return np.add.reduce(np.multiply(a.xyz, b.xyz, out=self.spare))


def _length(vectors: Array) -> Array:
    """Of vectors (3, B)."""
    return np.sqrt(np.add.reduce(vectors * vectors))


def _take(arrays: Array, frames: NDArray[np.int64]) -> Array:
    """Some frames of arrays (..., B), not copied where they follow one another."""
    first, last = frames[0], frames[-1]
    return arrays[..., first : last + 1] if last - first == len(frames) - 1 else arrays.take(frames, axis=-1)


def _frames_last(arrays: Array) -> Array:
    """(B, n, C) as (C, n, B)."""
    return np.ascontiguousarray(arrays.T)


def _triple(rows: Array) -> Triple:
    return rows[0], rows[1], rows[2]


def _quaternion(rows: Array) -> Quaternion:
    return rows[0], rows[1], rows[2], rows[3]
