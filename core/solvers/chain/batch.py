"""One chain in many frames at once: what `ChainFrame` does, with arrays (B,) for numbers."""

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...rotation import Array
from .limits import allowed, at_frames
from .path import Chain
from .plan import (
    BALL,
    DAMPING,
    FINISHER_STEPS,
    FIRST_DAMPING,
    GIVEN_UP,
    GROWTH,
    OPPOSITE,
    RESTS,
    RIDGE,
    STALLED,
    Plan,
    Step,
)
from .walk import STILL, ChainWalk, Quaternion, Triple, full_rotation, half_of_y, mul, rotate

_DONE = GROWTH * GIVEN_UP
_CROWDED = 0.7  # share of them still on their way down to which those that are done are taken along
_CHUNK = 2048
_Round = tuple[tuple[Step, ...], bool, bool]  # whether the larger counts, whether it is plain CCD


class ChainBatch:
    """All frames of a chain. `reach` goes on from `turns` (B, n, 4).

    The frames are last in its arrays, so that numbers of one kind lie together: links (3, n + 1, B), rows of turns
    (4, n, B).
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
        """Go on from turns (B, n, 4); by default from the poses that were read."""
        if turns is None:
            self.rows = np.zeros((4, len(self.chain.path.bones), len(self.chain.links)))
            self.rows[0] = 1.0
        else:
            self.rows = _frames_last(turns)

    @property
    def turns(self) -> Array:
        """(B, n, 4)"""
        return self.rows.T

    def reach(self, targets: Array, on: NDArray[np.bool_]) -> NDArray[np.int64]:
        """`ChainFrame.reach` for targets (B, 3), in the frames that are `on` (B,); returns steps (B,).

        `error` (B,) and `finished` (B,) are as they are there; frames that are off have no error.
        """
        used = np.zeros(len(targets), int)
        self.error, self.finished = np.zeros(len(targets)), np.zeros(len(targets), bool)
        frames = np.flatnonzero(on)
        for first in range(0, len(frames), _CHUNK):
            self._reach(frames[first : first + _CHUNK], targets.T, used)
        return used

    def taken(self, frames: NDArray[np.int64]) -> tuple[list[Triple], list[Quaternion]]:
        """Links and turns of some frames; of joints that are not turned in any of them, STILL."""
        rows = _take(self.rows, frames)
        turned = rows[1:].any(axis=(0, 2))
        turns = [_quaternion(rows[:, node]) if some else STILL for node, some in enumerate(turned)]
        return [_triple(link) for link in _take(self.links, frames).swapaxes(0, 1)], turns

    def _reach(self, frames: NDArray[np.int64], targets: Array, used: NDArray[np.int64]) -> None:
        plan = self.plan
        rounds = [(plan.steps, larger, False) for larger in plan.passes] + [(plan.sweep, True, True)] * plan.sweeps
        missed = frames
        if rounds or not plan.finish:  # else it is the finisher that measures
            self._walk(rounds, frames, targets, used)
            missed = frames[self.error[frames] > plan.tolerance]
        if plan.finish and len(missed):
            steps = _Finisher(self, missed, targets).run()
            self.finished[missed] = steps > 0
            used[missed] += steps

    def _walk(self, rounds: list[_Round], frames: NDArray[np.int64], targets: Array, used: NDArray[np.int64]) -> None:
        """Go through rounds as long as they help."""
        tolerance = self.plan.tolerance
        walk = _Walk(self, frames, targets)
        error = self.error[frames] = walk.error()
        left = frames[error > tolerance]
        for steps, larger, plain in rounds:
            if not len(left):
                break
            if len(left) < len(walk.frames):
                walk.store()
                walk = _Walk(self, left, targets)
            for step in steps:
                walk.actuate(step, larger)
            error = walk.error()
            used[left] += 1
            stalled = plain & (error > STALLED * self.error[left])
            self.error[left] = error
            left = left[(error > tolerance) & ~stalled]
        walk.store()


class _Walk(ChainWalk):
    """Some of the frames."""

    def __init__(self, batch: ChainBatch, frames: NDArray[np.int64], targets: Array) -> None:
        super().__init__(batch.chain.path, batch.plan)
        self.batch, self.frames = batch, frames
        self.links, self.rotations = batch.taken(frames)
        self.aim(_triple(_take(targets, frames)))

    def store(self) -> None:
        for node, turn in enumerate(self.rotations):
            if turn is not STILL:
                self.batch.rows[:, node, self.frames] = turn

    def error(self) -> Array:
        """(B,) how far the effector is from the target."""
        x, y, z = self.gap()
        return np.sqrt(x * x + y * y + z * z)

    def actuate(self, step: Step, larger: bool) -> None:
        t, e = self.see(step.node)
        if step.axis == BALL:
            self.turn(step.node, _shortest(e, t, self.plan.nothing))
            return
        if not self.axes:  # sweeps of ball joints need none
            parts = _frames_last(self.batch.axes[self.frames])
            self.axes = [[_triple(axes[i : i + 3]) for i in (0, 3, 6)] for axes in parts.swapaxes(0, 1)]
        axis = self.axis(step)
        sine, cosine, *squares = full_rotation(axis, t, e)
        full = np.where(np.minimum(*squares) <= self.plan.nothing, 0.0, np.arctan2(sine, cosine))
        angle = step.parts_of(full, larger)
        if step.limited:
            chain, node = self.batch.chain, step.node
            sign = -1.0 if self.inverted[node] else 1.0
            self.store()
            own = chain.own_rotations(self.batch.turns[self.frames], self.frames)[:, node]
            angle = sign * allowed(at_frames(chain.limits[node], self.frames), own, step.axis, sign * angle)
        scale = np.sin(0.5 * angle)
        self.turn(step.node, (np.cos(0.5 * angle), scale * axis[0], scale * axis[1], scale * axis[2]))


class _Vectors:
    """Vectors (5, ...) with the rows x, y, z, x, y: all that a cross product takes lies together."""

    def __init__(self, rows: Array) -> None:
        self.rows, self.xyz, self.yzx, self.zxy = rows, rows[:3], rows[1:4], rows[2:]
        self._last, self._first = rows[3:], rows[:2]

    def close(self) -> None:
        """Write x and y after z once more."""
        self._last[...] = self._first


class _Finisher:
    """`ChainFrame._finish` for some of the frames.

    Calls are what takes the time here, and then fresh memory: vectors of all links in all frames are one array
    (5, n, B), and what a step needs is made once.
    """

    def __init__(self, batch: ChainBatch, frames: NDArray[np.int64], targets: Array) -> None:
        self.batch, self.frames = batch, frames
        links, turns = batch.taken(frames)
        count = len(turns)
        turned, ways = np.zeros((6, count, len(frames))), np.empty((5, count, len(frames)))
        turned[0] = 1.0
        carried = STILL
        for node, (turn, link) in enumerate(zip(turns, links[1:], strict=True)):
            carried = turn if carried is STILL else carried if turn is STILL else mul(carried, turn)
            if carried is not STILL:
                turned[:4, node] = carried
            ways[:3, node] = link if carried is STILL else rotate(carried, link)
        self._use(turned, ways, _take(targets, frames) - links[0] - np.add.reduce(ways[:3], axis=1))
        self.ways.close()
        self.vector.close()

    def _use(self, turned: Array, ways: Array, gap: Array) -> None:
        """Go on with turns of links (6, n, B), w, x, y, z, x, y, with where they lead (5, n, B), and gaps (3, B)."""
        self.turned, self.real, self.vector = turned, turned[0], _Vectors(turned[1:])
        self.ways, self.gap = _Vectors(ways), gap
        self.sums = np.empty((2, *ways.shape))
        self.arms, self.summed = _Vectors(self.sums[0]), _Vectors(self.sums[1])
        self.half, self.spare = _Vectors(np.empty_like(ways)), np.empty_like(ways[:3])
        self.moves, self.across = self.arms.xyz, self.summed  # in the place of what is not needed any more by then

    def run(self) -> NDArray[np.int64]:
        """Steps (B,)."""
        tolerance = self.batch.plan.tolerance
        count = len(self.frames)
        left, used, damping = np.arange(count), np.zeros(count, int), np.full(count, FIRST_DAMPING)
        distance = _length(self.gap)
        for _ in range(FINISHER_STEPS):
            going = (distance > tolerance) & (damping <= GIVEN_UP)
            alive = np.count_nonzero(going)
            if not alive:
                break
            if alive < _CROWDED * len(left):
                self._keep(left, distance)
                some = np.flatnonzero(going)
                left, going, distance, damping = left[some], going[some], distance[some], damping[some]
                self._use(*(part.take(some, axis=-1) for part in (self.turned, self.ways.rows, self.gap)))
            used[left] += going
            self._step(damping, tolerance * tolerance)
            gap = self.gap - np.add.reduce(self.moves, axis=1)
            new = _length(gap)
            better = going & (new < distance)
            lowered = np.where(damping > DAMPING, damping / GROWTH, 0.0)
            damping = np.where(better, lowered, np.maximum(DAMPING, damping * GROWTH))
            damping[better & (distance - new < RESTS * tolerance)] = _DONE
            kept = np.flatnonzero(~better)
            if len(kept):
                self.half.rows[..., kept], self.moves[..., kept] = 0.0, 0.0
                gap[:, kept], new[kept] = self.gap[:, kept], distance[kept]
            self.gap, distance = gap, new
            self._turn()
        self._keep(left, distance)
        w, x, y, z = rows = _take(self.batch.rows, self.frames)
        w, x, y, z = unit = rows / np.sqrt(w * w + x * x + y * y + z * z)
        before = w[:-1], -x[:-1], -y[:-1], -z[:-1]
        self.batch.rows[:, :1, self.frames] = unit[:, :1]
        self.batch.rows[:, 1:, self.frames] = mul(before, _quaternion(unit[:, 1:]))
        return used

    def _step(self, damping: Array, least: float) -> None:
        """A step of least squares: `half`, of each link's turn (Cayley's), and `moves`, of its end."""
        half, arms, across = self.half, self.arms, self.across
        np.matmul(self.batch.adders, self.ways.rows, out=self.sums)
        squares = np.add.reduce(np.multiply(arms.xyz, arms.xyz, out=self.spare), axis=1)
        yz, xz, xy = np.add.reduce(np.multiply(arms.yzx, arms.zxy, out=self.spare), axis=1)
        more = (RIDGE + damping) * (np.add.reduce(squares) + least)
        x, y, z = half_of_y(_triple(self.gap), (*_triple(squares), xy, xz, yz), more)
        same = _Vectors(np.array((x, y, z, x, y))[:, None])  # for all joints: their r x y add up as the r do
        self._cross(self.summed, same, half.xyz)
        half.close()
        self._cross(half, self.ways, across.xyz)
        across.close()
        across.rows += self.ways.rows
        self._cross(half, across, self.moves)
        self.moves *= 2.0 / (1.0 + self._dot(half, half))

    def _turn(self) -> None:
        """Make the step."""
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

    def _keep(self, left: NDArray[np.int64], distance: Array) -> None:
        self.batch.error[self.frames[left]] = distance
        self.batch.rows[..., self.frames[left]] = self.turned[:4]


def _length(vectors: Array) -> Array:
    """Of vectors (3, B)."""
    return np.sqrt(np.add.reduce(vectors * vectors))


def _shortest(e: Triple, t: Triple, nothing: float) -> Quaternion:
    """The shortest rotations from the directions of e to those of t; none where either vanishes."""
    (ex, ey, ez), (tx, ty, tz) = e, t
    square_e, square_t = ex * ex + ey * ey + ez * ez, tx * tx + ty * ty + tz * tz
    both = np.sqrt(square_e * square_t)
    more = both + ex * tx + ey * ty + ez * tz
    none = np.minimum(square_e, square_t) <= nothing
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
