"""The finisher of chains whose joints have limits, or turn about some axes only: least squares in many frames at once.

Steps and damping are those of `finisher`, of rotation vectors along the list's axes in front of each joint. A joint at
a bound that a step would cross turns across the bound's gradient (an active set). Bounds that a step has crossed on its
way are come back to along their gradients, so that every step ends inside the limits.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...limits import excess
from ...rotation import Array
from .finisher import FIRST_DAMPING, RIDGE, Finisher
from .limits import SLACK
from .path import Chain
from .plan import Plan
from .walk import ARRAYS

_ROUNDS: Final = 4  # in which bounds become active in a step
_PULLS: Final = 8  # back to the bounds, after a step
_FLAT: Final = 1e-12  # share of the square of a gradient: with less along its axes a joint cannot turn along it
_CROWDED: Final = 0.7  # share of frames still going down to which finished ones are carried along
WELL_BENT: Final = 6.0  # times the method's bends: with less, a limb at its limit slips back to straight
_FARTHEST: Final = 2.0  # radians, the largest turn about an axis to another start
_TOGETHER: Final = 8  # other starts that are tried at once: one of these is enough nearly always


class BoundedFinisher:
    """What steps need to know of a chain.

    restarts  number of other starts where a target is missed
    bends     (J, 3) as in `ContributionCCD`
    """

    def __init__(self, chain: Chain, plan: Plan, restarts: int, bends: Array | None) -> None:
        path, groups = chain.path, chain.groups
        self.chain, self.plan, self.restarts = chain, plan, restarts
        self.bends = None if bends is None else WELL_BENT * bends[list(path.bones)]
        nodes = np.arange(len(path.bones))
        self.listed = np.array([np.isin(range(3), axes) for axes in path.axes], float)  # (n, 3)
        stretch = np.searchsorted(path.stretches, nodes, side="right")
        self.onward = np.triu(stretch[:, None] == stretch).astype(float)  # times links: from each joint to its end
        self.inverted = np.array(path.inverted, bool)[:, None, None]
        # rows are the coordinates of limits; a layer has one row of a node at most
        self.nodes = [np.array([path.bones.index(bone) for bone in group.bones.tolist()]) for group in groups]
        rows = [np.repeat(one, group.lower.shape[-1]) for one, group in zip(self.nodes, groups, strict=True)]
        self.row_nodes = np.concatenate([np.zeros(0, int), *rows])
        layer = [np.count_nonzero(self.row_nodes[:row] == node) for row, node in enumerate(self.row_nodes)]
        self.layers = [np.flatnonzero(np.equal(layer, one)) for one in range(max(layer, default=-1) + 1)]

    def finish(self, own: Array, targets: Array, frames: NDArray[np.int64]) -> tuple[Array, Array, NDArray[np.int64]]:
        """Return own rotations (B, n, 4), distances (B,) and steps (B,) from own rotations, for targets (B, 3).

        frames (B,): those of the chain. Where no pose has been found and the chain is long enough, other starts are
        tried: of the poses that reach the target it is the one that has turned least, else the nearest to the target.
        """
        steps = _Frames(self, rotation.to_matrix(own), targets, frames)
        found, distance, used = steps.run()
        links = self.chain.links[frames]
        length = rotation.lengths(links[:, 1:]).sum(axis=1) + self.plan.tolerance
        short = rotation.lengths(targets - links[:, 0]) > length
        for turns in self._starts(own):
            left = np.flatnonzero((distance > self.plan.tolerance) & ~short)
            if not len(left):
                break
            count = len(turns)
            tried = np.tile(left, count)
            turned = rotation.to_matrix(rotation.exp(turns[:, left] * self.listed)) @ rotation.to_matrix(own[left])
            steps = _Frames(self, turned.reshape(-1, *turned.shape[2:]), targets[tried], frames[tried])
            poses, distances, more = (part.reshape(count, -1, *part.shape[1:]) for part in steps.run())
            distances = np.where(steps.inside.reshape(distances.shape), distances, np.inf)
            used[left] += more.sum(axis=0)
            way = np.square(rotation.angle_between(poses, own[left])).mean(axis=-1) / np.square(np.pi)  # below 1
            best = np.where(distances <= self.plan.tolerance, way - 1.0, distances).argmin(axis=0), np.arange(len(left))
            better = distances[best] < distance[left]
            found[left[better]], distance[left[better]] = poses[best][better], distances[best][better]
        return found, distance, used

    def _starts(self, own: Array) -> Iterator[Array]:
        """Yield rotation vectors (S, B, n, 3) from own rotations (B, n, 4) to other starts: first well bent."""
        if self.bends is not None:
            yield rotation.rotate(own, self.bends)[None]
        random = np.random.default_rng(0)  # the same for all frames: answers do not depend on the batch
        for first in range(0, self.restarts, _TOGETHER):
            count = min(_TOGETHER, self.restarts - first)
            turns = random.uniform(-_FARTHEST, _FARTHEST, (count, 1, len(self.listed), 3))
            yield np.broadcast_to(turns, (count, *own.shape[:2], 3))


class _Frames(Finisher):
    """The iteration in B frames, from own rotations (B, n, 3, 3): those that are brought inside, where they can be."""

    def __init__(self, finisher: BoundedFinisher, own: Array, targets: Array, frames: NDArray[np.int64]) -> None:
        self.of, self.targets, self.frames = finisher, targets, frames
        self.left = np.arange(len(frames))
        self._read()
        brought, self.inside = self._brought_in(own)
        self.own = np.where(self.inside[:, None, None, None], brought, own)
        self.carried, self.gap, distance = self._placed(self.own)
        super().__init__(finisher.plan, ARRAYS, distance)
        self.damping, self.used = np.full(len(frames), FIRST_DAMPING), np.zeros(len(frames), int)
        self.found = self.own.copy(), distance.copy(), self.used.copy()

    def run(self) -> tuple[Array, Array, NDArray[np.int64]]:
        """Return own rotations (B, n, 4), distances (B,) and steps (B,)."""
        self.iterate()
        self._give()
        own, distance, used = self.found
        return rotation.from_matrix(own), distance, used

    def keep(self, going: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        alive = np.count_nonzero(going)
        if not alive:
            return None
        if alive < _CROWDED * len(going):
            self._give()
            for name in ("left", "own", "carried", "gap", "distance", "damping", "used"):
                setattr(self, name, getattr(self, name)[going])
            self._read()
            going = going[going]
        return going

    def take(self, better: NDArray[np.bool_]) -> None:
        for name, new in zip(("own", "carried", "gap", "distance"), self.tried, strict=True):
            old = getattr(self, name)
            setattr(self, name, np.where(better.reshape(-1, *[1] * (old.ndim - 1)), new, old))

    def _give(self) -> None:
        """Note where the frames are that are left."""
        for all_frames, some in zip(self.found, (self.own, self.distance, self.used), strict=True):
            all_frames[self.left] = some

    def _read(self) -> None:
        """Read the chain in the frames that are left."""
        chain, frames = self.of.chain, self.frames[self.left]
        self.axes = rotation.to_matrix(chain.frames[frames])
        self.back = _transposed(rotation.to_matrix(chain.own[frames]))
        self.links = chain.links[frames, 1:, :, None]
        self.way = self.targets[self.left] - chain.links[frames, 0]
        self.groups = [group.at_frames(frames) for group in chain.groups]

    def _turns(self, own: Array) -> Array:
        """Return the turns (B, n, 3, 3) of the chain's joints along their axes."""
        turns = own @ self.back
        return np.where(self.of.inverted, _transposed(turns), turns)

    def _placed(self, own: Array) -> tuple[Array, Array, Array]:
        """Return how links have turned in all (B, n, 3, 3), the gaps (B, 3) that they leave, and their lengths (B,)."""
        carried = self.axes @ self._turns(own) @ _transposed(self.axes)
        for node in range(1, carried.shape[1]):
            if node not in self.of.chain.path.stretches:
                carried[:, node] = carried[:, node - 1] @ carried[:, node]
        gap = self.way - (carried @ self.links).sum(axis=1)[..., 0]
        return carried, gap, rotation.lengths(gap)

    def step(self) -> Array:
        """Try a step; its distance is infinite in frames that it has taken out of their limits."""
        of = self.of
        # the axes of a joint are carried by what is in front of it; where the chain is inverted, by what is beyond
        axes = self.carried @ np.where(of.inverted, -self.axes, self.axes @ _transposed(self._turns(self.own)))
        arms = of.onward @ (self.carried @ self.links)[..., 0]
        jacobian = -rotation.skew(arms) @ axes * of.listed[:, None]
        rows, above, below = self._rows(self.own)
        ends = np.full(above.shape, np.nan)  # how far active rows change, to their bounds
        turns = self._least(jacobian, self.gap)
        for _ in range(_ROUNDS):
            rates = (rows * turns[:, of.row_nodes]).sum(axis=-1)
            ways = np.where(rates > above + SLACK, above, np.where(rates < -below - SLACK, -below, np.nan))
            crossed = np.isnan(ends) & ~np.isnan(ways)
            if not crossed.any():
                break
            ends[crossed] = ways[crossed]
            begun, across = self._held(rows, ends)
            gap = self.gap - (jacobian @ begun[..., None]).sum(axis=1)[..., 0]
            turns = begun + self._least(jacobian @ across, gap)
        own, inside = self._brought_in(rotation.to_matrix(rotation.exp(turns)) @ self.own)
        carried, gap, distance = self._placed(own)
        self.tried = own, carried, gap, np.where(inside, distance, np.inf)
        return self.tried[-1]

    def _least(self, jacobian: Array, gap: Array) -> Array:
        """Return the damped turns (B, n, 3) of least squares that close gaps (B, 3) by rows (B, n, 3, 3) of joints."""
        gram = (jacobian @ _transposed(jacobian)).sum(axis=1)
        more: Array = (RIDGE + self.damping) * (np.trace(gram, axis1=1, axis2=2) + self.plan.tolerance**2)
        pull = np.linalg.solve(gram + more[:, None, None] * np.eye(3), gap[..., None])
        return (_transposed(jacobian) @ pull[:, None])[..., 0]

    # -- limits -------------------------------------------------------------------------------------------------------

    def _rows(self, own: Array) -> tuple[Array, Array, Array]:
        """Return gradients (B, K, 3) along the list's axes, and the ways (B, K) to upper and from lower bounds."""
        shape, of = (len(own), -1), self.of
        rows: list[Array] = [np.zeros((len(own), 0, 3))]
        above: list[Array] = [np.zeros((len(own), 0))]
        below = above.copy()
        for group, nodes in zip(self.groups, of.nodes, strict=True):
            here = own[:, nodes]
            coordinates = group.coordinates(here)
            slopes = group.gradients(here, coordinates) @ _transposed(here)
            along = slopes * of.listed[nodes, None]
            flat = _squares(along) <= _FLAT * _squares(slopes)
            rows.append(np.where(flat[..., None], 0.0, along).reshape(*shape, 3))
            above.append((group.upper - coordinates).reshape(shape))
            below.append((coordinates - group.lower).reshape(shape))
        return np.concatenate(rows, axis=1), np.concatenate(above, axis=1), np.concatenate(below, axis=1)

    def _held(self, rows: Array, ends: Array) -> tuple[Array, Array]:
        """Return turns (B, n, 3) that change rows (B, K) by `ends`, and projections (B, n, 3, 3) to those that do not.

        Rows with NaN are free.
        """
        turns = np.zeros((len(rows), *self.of.listed.shape))
        across = np.eye(3) * self.of.listed[:, None] * np.ones((len(rows), 1, 1, 1))
        for layer in self.of.layers:
            end = ends[:, layer]
            if not np.isnan(end).all():
                nodes, row = self.of.row_nodes[layer], rows[:, layer]
                left = (across[:, nodes] @ row[..., None])[..., 0]
                square = _squares(left)
                held = ~np.isnan(end) & (square > _FLAT * _squares(row))
                share = np.where(held, 1.0 / np.where(held, square, 1.0), 0.0)
                missing = np.where(held, end, 0.0) - (row * turns[:, nodes]).sum(axis=-1)
                turns[:, nodes] += (share * missing)[..., None] * left
                across[:, nodes] -= share[..., None, None] * left[..., None] * left[..., None, :]
        return turns, across

    def _brought_in(self, own: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return own rotations (B, n, 3, 3) brought inside along the list's axes, and in which frames (B,) that did."""
        outside = self._outside(own)
        for _ in range(_PULLS):
            if not outside.any():
                break
            rows, above, below = self._rows(own)
            out = np.minimum(above, 0.0) - np.minimum(below, 0.0)
            turns = np.zeros(own.shape[:-1])
            for layer in self.of.layers:
                nodes, row, missing = self.of.row_nodes[layer], rows[:, layer], out[:, layer]
                square = _squares(row)
                share = np.where((missing != 0.0) & (square > 0.0), 1.0 / np.where(square > 0.0, square, 1.0), 0.0)
                turns[:, nodes] += ((missing - (row * turns[:, nodes]).sum(axis=-1)) * share)[..., None] * row
            own = rotation.to_matrix(rotation.exp(turns)) @ own
            outside = self._outside(own)
        return own, ~outside

    def _outside(self, own: Array) -> NDArray[np.bool_]:
        outside = np.zeros(len(own), bool)
        for group, nodes in zip(self.groups, self.of.nodes, strict=True):
            beyond = np.abs(excess(group, group.coordinates(own[:, nodes])))
            outside |= (beyond > SLACK).any(axis=(-1, -2))
        return outside


def _transposed(matrices: Array) -> Array:
    return np.swapaxes(matrices, -1, -2)


def _squares(vectors: Array) -> Array:
    return np.sum(vectors * vectors, axis=-1)
