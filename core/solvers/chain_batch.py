"""One chain in many frames at once: what `ChainFrame` does, with arrays (B,) for numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from .chain import Chain
from .chain_limits import allowed
from .chain_plan import (
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
from .chain_walk import STILL, ChainWalk, Quaternion, Triple, full_rotation, half_of_y, mul, rotate

_DONE = GROWTH * GIVEN_UP
_CROWDED = 0.7  # share of them still on their way down to which those that are done are taken along
_CHUNK = 2048


class ChainBatch:
    """All frames of a chain. `reach` goes on from `turns` (B, n, 4)."""

    def __init__(self, chain: Chain, plan: Plan) -> None:
        self.chain, self.plan = chain, plan
        columns = np.swapaxes(rotation.to_matrix(chain.frames), -1, -2)
        self.axes = columns.reshape(*columns.shape[:2], 9)
        self.restart()

    def restart(self, turns: Array | None = None) -> None:
        """Go on from turns (B, n, 4); by default from the poses that were read."""
        count = len(self.chain.links)
        still = np.tile(rotation.IDENTITY, (count, len(self.chain.path.bones), 1))
        self.turns = still if turns is None else turns.copy()

    def reach(self, targets: Array, on: NDArray[np.bool_]) -> NDArray[np.int64]:
        """`ChainFrame.reach` for targets (B, 3), in the frames that are `on` (B,); returns steps (B,).

        `error` (B,) and `finished` (B,) are as they are there; frames that are off are measured only.
        """
        frames = np.arange(len(targets))
        used = np.zeros(len(frames), int)
        self.error, self.finished = np.empty(len(frames)), np.zeros(len(frames), bool)
        for part in np.split(frames, range(_CHUNK, len(frames), _CHUNK)):
            self._reach(part, targets, on, used)
        return used

    def _reach(self, frames: NDArray[np.int64], targets: Array, on: NDArray[np.bool_], used: NDArray[np.int64]) -> None:
        plan = self.plan
        walk = _Walk(self, frames, targets)
        self.error[frames] = walk.error()
        left = frames[on[frames] & (self.error[frames] > plan.tolerance)]
        rounds = [(plan.steps, larger, False) for larger in plan.passes] + [(plan.sweep, True, True)] * plan.sweeps
        stalled = np.zeros(len(on), bool)
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
            stalled[left] = plain & (error > STALLED * self.error[left])
            self.error[left] = error
            left = left[(error > plan.tolerance) & ~stalled[left]]
        walk.store()
        if plan.finish:
            missed = frames[on[frames] & (self.error[frames] > plan.tolerance)]
            self.finished[missed] = True
            if len(missed):
                used[missed] += _Finisher(self, missed, targets).run()


class _Walk(ChainWalk):
    """Some of the frames."""

    def __init__(self, batch: ChainBatch, frames: NDArray[np.int64], targets: Array) -> None:
        chain = batch.chain
        super().__init__(chain.path, batch.plan)
        self.batch, self.frames = batch, frames
        self.links = [_triple(link) for link in _by_part(chain.links, frames)]
        self.rotations = [_quaternion(turn) for turn in _by_part(batch.turns, frames)]
        self.aim(_triple(targets[frames].T.copy()))

    def store(self) -> None:
        for node, turn in enumerate(self.rotations):
            self.batch.turns[self.frames, node] = np.stack(turn, axis=-1)

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
            parts = _by_part(self.batch.axes, self.frames)
            self.axes = [[_triple(axes[i : i + 3]) for i in (0, 3, 6)] for axes in parts]
        axis = self.axis(step)
        sine, cosine, *squares = full_rotation(axis, t, e)
        full = np.where(np.minimum(*squares) <= self.plan.nothing, 0.0, np.arctan2(sine, cosine))
        angle = step.parts_of(full, larger)
        if step.limited:
            chain, node = self.batch.chain, step.node
            sign = -1.0 if self.inverted[node] else 1.0
            turns = np.stack([np.stack(turn, axis=-1) for turn in self.rotations], axis=1)
            own = chain.own_rotations(turns, self.frames)[:, node]
            angle = sign * allowed(chain.limits[node], own, step.axis, sign * angle, self.frames)
        scale = np.sin(0.5 * angle)
        self.turn(step.node, (np.cos(0.5 * angle), scale * axis[0], scale * axis[1], scale * axis[2]))


class _Finisher:
    """`ChainFrame._finish` for some of the frames; each number of a joint is a row (B,) of an array (n, B)."""

    def __init__(self, batch: ChainBatch, frames: NDArray[np.int64], targets: Array) -> None:
        self.batch, self.frames = batch, frames
        links = _by_part(batch.chain.links, frames)
        self.goal = targets[frames].T - links[0]
        turned: list[Quaternion] = []
        ways: list[Triple] = []
        carried = STILL
        for turn, link in zip(_by_part(batch.turns, frames), links[1:], strict=True):
            carried = mul(carried, _quaternion(turn))
            turned.append(carried)
            ways.append(rotate(carried, _triple(link)))
        self.turned = _quaternion(np.array(turned).swapaxes(0, 1))
        self.ways = _triple(np.array(ways).swapaxes(0, 1))

    def run(self) -> NDArray[np.int64]:
        """Steps (B,)."""
        tolerance = self.batch.plan.tolerance
        least = tolerance * tolerance
        count = len(self.frames)
        left, used, damping = np.arange(count), np.zeros(count, int), np.full(count, FIRST_DAMPING)
        goal, turned, ways = self.goal, self.turned, self.ways
        gap = _gap(goal, ways)
        square = _square(gap)
        for _ in range(FINISHER_STEPS):
            going = (square > least) & (damping <= GIVEN_UP)
            alive = np.count_nonzero(going)
            if not alive:
                break
            if alive < _CROWDED * len(left):
                self._keep(left, turned, square)
                left, square, damping = left[going], square[going], damping[going]
                goal, gap = goal[:, going], gap[:, going]
                turned, ways = (tuple(part[:, going] for part in parts) for parts in (turned, ways))  # pyright: ignore
                going = np.ones(alive, bool)
            used[left] += going
            new_turned, new_ways = _stepped(turned, ways, gap, damping, least)
            new_gap = _gap(goal, new_ways)
            new_square = _square(new_gap)
            better = going & (new_square < square)
            rests = better & (np.sqrt(square) - np.sqrt(new_square) < RESTS * tolerance)
            lowered = np.where(damping > DAMPING, damping / GROWTH, 0.0)
            raised = np.minimum(np.maximum(DAMPING, damping * GROWTH), _DONE)
            damping = np.where(rests, _DONE, np.where(better, lowered, raised))
            kept = np.flatnonzero(~better)
            for new, old in zip((*new_turned, *new_ways, new_gap), (*turned, *ways, gap), strict=True):
                new[:, kept] = old[:, kept]
            new_square[kept] = square[kept]
            turned, ways, gap, square = new_turned, new_ways, new_gap, new_square
        self._keep(left, turned, square)
        before = STILL
        scale = 1.0 / np.sqrt(sum(part * part for part in self.turned))
        unit = [part * scale for part in self.turned]
        for node, (w, x, y, z) in enumerate(zip(*unit, strict=True)):  # against the joint before it
            self.batch.turns[self.frames, node] = np.stack(mul(before, (w, x, y, z)), axis=-1)
            before = (w, -x, -y, -z)
        return used

    def _keep(self, left: NDArray[np.int64], turned: Quaternion, square: Array) -> None:
        self.batch.error[self.frames[left]] = np.sqrt(square)
        for kept, part in zip(self.turned, turned, strict=True):
            kept[:, left] = part


def _gap(goal: Array, ways: Triple) -> Array:
    return goal - np.array([np.add.reduce(way) for way in ways])


def _square(gap: Array) -> Array:
    return np.add.reduce(gap * gap)


def _stepped(turned: Quaternion, ways: Triple, gap: Array, damping: Array, least: float) -> tuple[Quaternion, Triple]:
    """How links have turned and where they lead after a step of least squares."""
    rx, ry, rz = _running(ways, backwards=True)
    xx, yy, zz, *mixed = (np.add.reduce(p * q) for p, q in ((rx, rx), (ry, ry), (rz, rz), (rx, ry), (rx, rz), (ry, rz)))
    more = (RIDGE + damping) * (xx + yy + zz + least)
    yx, y_y, y_z = half_of_y(_triple(gap), (xx, yy, zz, mixed[0], mixed[1], mixed[2]), more)
    ox, oy, oz = _running((ry * y_z - rz * y_y, rz * yx - rx * y_z, rx * y_y - ry * yx))
    (w, x, y, z), (dx, dy, dz) = turned, ways
    ux, uy, uz = oy * dz - oz * dy, oz * dx - ox * dz, ox * dy - oy * dx
    twice = 2.0 / (1.0 + ox * ox + oy * oy + oz * oz)
    return (
        (
            w - ox * x - oy * y - oz * z,
            x + ox * w + oy * z - oz * y,
            y + oy * w + oz * x - ox * z,
            z + oz * w + ox * y - oy * x,
        ),
        (
            dx + twice * (ux + oy * uz - oz * uy),
            dy + twice * (uy + oz * ux - ox * uz),
            dz + twice * (uz + ox * uy - oy * ux),
        ),
    )


def _running(parts: Sequence[Array], backwards: bool = False) -> Array:
    """Sums (3, n, B) of the rows (n, B) up to each one, or from it on: `cumsum` is slow along such an axis."""
    sums = np.array(parts)
    rows = range(1, sums.shape[1])
    for row in reversed(rows) if backwards else rows:
        here, before = (row - 1, row) if backwards else (row, row - 1)
        sums[:, here] += sums[:, before]
    return sums


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


def _by_part(arrays: Array, frames: NDArray[np.int64]) -> Array:
    """(B, n, C) as (n, C, frames), every number in a row of its own."""
    return np.ascontiguousarray(np.moveaxis(arrays[frames], 0, -1))


def _triple(rows: Array) -> Triple:
    return rows[0], rows[1], rows[2]


def _quaternion(rows: Array) -> Quaternion:
    return rows[0], rows[1], rows[2], rows[3]
