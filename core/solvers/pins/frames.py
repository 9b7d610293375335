"""Least-squares steps of many frames at once, as in a bake, with the frames last in memory.

One step is the weighted, damped pseudo-inverse and the joint target of the source in one (CN1420453; Nakamura and
Yamane, IEEE TVCG 9(3), 2003): the maximum of a Gaussian prior about the reference pose, x ~ N(0, S), under the
linearised goals J dx = e:

    dx = S J^T y - g x,     (J S J^T + d I) y = e + g J x

solved in the dual (rows of goals, never columns of joints). g = 1 / (1 + m), d = D (1 + m) with m of Levenberg and
Marquardt, raised where a step raises the merit. Two levels are one system in which the first has 1e-4 of the second's
damping: a lower level out of reach can push a higher one by that share of its own clamped error. Limits are an
active set: a coordinate at its bound takes its direction out of S, is set to the bound, and the step is solved again.
What does not meet its goals so is left to the Newton steps of `descent`.

A step multiplies 3 x 3 matrices of some twenty joints. With the frames first in memory each product is a call of its
own inside numpy; with the frames last, the products of a chunk are nine long sums. Rows are kept by branches: joints
that move the same goals share a dense block of the Jacobian, and the zeros beside them, two thirds of it, are neither
stored nor multiplied. Columns are in standard deviations: S is the identity, and a projector under active limits.

Limits cost only joints near a bound: where a step crosses a bound, or a bound is to be released, the next step is the
same once more with another active set.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...limits import LimitGroup
from ...rotation import Array
from . import numbers
from .goals.rows import rotation_vectors
from .limits import LinearLimits, slots_of
from .progress import Progress

if TYPE_CHECKING:
    from .problem import Problem

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

_SMALL_ANGLE: Final = 1e-4  # as in `rotation`
_FEW: Final = 128  # frames below which LAPACK, one by one, is faster than all at once
_LEAST_PIVOT: Final = 1e-16  # of the dual system: what is less is rounding


class _Frames:
    """A dataclass of arrays whose last axis is the frames, of length 1 where all frames are equal."""

    def take(self, index: Indices) -> Self:
        return replace(self, **{name: pick(array, index) for name, array in vars(self).items()})  # pyright: ignore

    def put(self, index: Indices, part: Self) -> None:
        for name, array in vars(part).items():
            if array is not None:
                getattr(self, name)[..., index] = array


def pick(array: NDArray[Any], index: Indices) -> NDArray[Any]:
    """Return some frames of an array (..., B) or (..., 1)."""
    return array if array.shape[-1] == 1 else array.take(index, axis=-1)


@dataclass(frozen=True, eq=False)
class _Given(_Frames):
    """Constants of a chunk of B frames; each B may be 1. N nodes, P points, Q ends, T roots, K limits."""

    frames: Indices  # (B,) of the problem
    turn: Array  # (3, 3, N, B) as in `Links`
    shift: Array  # (3, N, B)
    slide: Array  # (3, 3, T, B)
    arms: Array  # (3, P, B)
    ends: Array  # (3, 3, Q, B)
    target_points: Array  # (3, P, B)
    target_ends: Array  # (3, 3, Q, B)
    scales: Array  # (P + Q, B) square roots of the weights
    base: Array  # (3, 3, limited, B) reference rotations of limited bones
    lower: Array  # (K, B)
    upper: Array  # (K, B)


@dataclass(frozen=True, eq=False)
class _Placed(_Frames):
    """B frames at one x."""

    x: Array  # (D, B)
    rate: Array  # (3, R, B) b, c and d of the joints' right Jacobians b I - c [x] + d x x^T
    frames: Array  # (3, 3, N, B)
    heads: Array  # (3, N, B)
    points: Array  # (3, P, B)
    rows: Array  # (3, P + Q, B) errors, cut and weighted, in the order of the branches
    lengths: Array  # (P + Q, B)
    costs: Array  # (L, B)
    own: Array  # (3, 3, limited, B) own rotations
    values: Array  # (K, B) coordinates
    room: Array  # (K, B) from them to the nearer bound


@dataclass(frozen=True, eq=False)
class _State(_Frames):
    """State of B frames between steps."""

    active: Flags  # (K, B)
    damping: Array  # (B,)
    calm: Indices  # (B,) steps in a row without movement
    steps: Indices  # (B,) taken
    rounds: Indices  # (B,) of the active set in the next step
    here: Array  # (B,) the merit


@dataclass(frozen=True, eq=False)
class _End(_Frames):
    """B frames after their last step."""

    x: Array
    lengths: Array
    costs: Array
    own: Array
    room: Array
    active: Flags | None

    @classmethod
    def of(cls, at: _Placed, state: _State | None) -> Self:
        return cls(at.x, at.lengths, at.costs, at.own, at.room, None if state is None else state.active)


@dataclass(frozen=True)
class _Branch:
    """Joints and roots, by triples of columns, that move the same goals: what lies between two forks of the tree."""

    blocks: slice  # the goals' blocks that they move, in the order of the branches
    pairs: slice  # of a block and a triple, see `_pairs`
    columns: Indices  # (3 n,) of x


@dataclass(frozen=True)
class _Bounded:
    """Some joints (h,) with all their limits: the part of `LimitRows` that is linearised."""

    joints: Indices  # (h,)
    columns: Indices  # (3 h,) of x
    rows: Indices  # (K',) their limits among those of the problem
    joint: Indices  # (K',) the limits' joints, of the h
    variance: Array  # (K',) 0: they are hard
    slots: list[Indices]
    groups: list[tuple[LimitGroup, Indices, Indices]]  # with their places among the own rotations and their joints
    branches: list[tuple[int, Indices, Indices]]  # branch, its joints of the h, and their places in it


@dataclass(frozen=True)
class _Held:
    """Joints at bounds in some frames (b,), in deviations."""

    bounded: _Bounded
    frames: Indices
    linear: LinearLimits
    active: Flags  # (b, K')
    centre: Array  # (b, 3 h) z on the bounds
    free: list[Array]  # (3 K, joints, 3, b) of each branch: its columns without limits


class FramesSolver:
    """The steps of a rigid body with plain goals on at most two levels and hard limits."""

    def __init__(self, problem: "Problem") -> None:
        self.problem: Problem = proxy(problem)  # a weak reference avoids a reference cycle
        tree, rows, limits = problem.tree, problem.rows, problem.limit_rows
        self.tree = tree
        self.deviations = np.where(problem.variance > 0.0, np.sqrt(problem.variance), 1.0)[:, None]
        self.stuck = problem.variance == 0.0  # columns that nothing moves
        self.stiff = 1.0 / np.maximum(problem.variance, numbers.DAMPING**2)
        self.order = self._find_order()
        self.branches = self._find_branches()
        self.member = rows.block_in_level  # (K, L)
        self.level = np.argmax(self.member, axis=1)[self.order]
        assert problem.damping_shares is not None
        self.shares: Array = np.tile(problem.damping_shares[[level.start for level in rows.levels]][self.level], 3)
        self.tolerances = problem.tolerances[:, None]
        self.joint_of_row = limits.joint
        self._bounded: dict[tuple[int, ...], _Bounded] = {}
        everywhere = [limits.lower, limits.upper, limits.base.reshape(len(limits.base), -1)]
        self.same_limits = all((array == array[:1]).all() for array in everywhere)

    def _find_order(self) -> Indices:
        """Return an order of points and ends in which those below any node are neighbours."""
        tree = self.tree
        below: list[list[int]] = [[] for _ in range(len(tree.nodes) + 1)]
        for node, parent in enumerate(map(int, tree.parents)):
            below[parent].append(node)
        rank = np.zeros(len(tree.nodes), int)
        left, count = below[-1], 0
        while left:
            node = left.pop()
            rank[node] = count
            count += 1
            left += below[node]
        return np.argsort(rank[np.concatenate([tree.point_nodes, tree.end_nodes])], kind="stable")

    def _find_branches(self) -> list[_Branch]:
        """Return the branches, and set the pairs of a block and a triple of columns that moves it, branch by branch."""
        tree, points = self.tree, len(self.tree.point_nodes)
        nodes = np.concatenate([tree.point_nodes, tree.end_nodes])[self.order]
        chains = np.array(
            [np.isin(np.arange(len(tree.nodes)), chain_of(tree.parents, node)) for node in nodes.tolist()]
        )
        triples: dict[tuple[int, int], list[int]] = {}
        for triple, node in enumerate([*tree.joints.tolist(), *tree.roots.tolist()]):
            moved = np.flatnonzero(chains[:, node])
            triples.setdefault((int(moved[0]), int(moved[-1]) + 1), []).append(triple)
        pairs: list[tuple[int, int]] = []
        branches: list[_Branch] = []
        for (start, stop), own in triples.items():
            first = len(pairs)
            pairs += [(block, triple) for block in range(start, stop) for triple in own]
            columns = (3 * np.array(own)[:, None] + np.arange(3)).ravel()
            branches.append(_Branch(slice(start, stop), slice(first, len(pairs)), columns))
        self.pair_blocks, triple = np.array(pairs).T
        turning, feature = triple < len(tree.joints), self.order[self.pair_blocks]
        self.turned_points, self.turned_ends, self.slid_points, self.slid_ends = (
            np.flatnonzero(moves & seen)
            for moves in (turning, ~turning)
            for seen in (feature < points, feature >= points)
        )
        self.turned_point, self.turning_point = feature[self.turned_points], triple[self.turned_points]
        self.turning_node, self.turning_end = tree.joints[self.turning_point], triple[self.turned_ends]
        self.sliding_point = triple[self.slid_points] - len(tree.joints)
        self.branch_of = {
            int(column) // 3: (number, place)
            for number, branch in enumerate(branches)
            for place, column in enumerate(branch.columns[::3])
        }
        return branches

    def _given(self, frames: Indices) -> _Given:
        """Return the constants of some frames."""
        problem = self.problem
        links, rows, limits = problem.links, problem.rows, problem.limit_rows
        same = links.turn.strides[0] == 0, self.same_limits
        posed, bounded = (frames[:1] if one else frames for one in same)
        return _Given(
            frames,
            frames_last(links.turn[posed]),
            frames_last(links.shift[posed]),
            frames_last(links.slide[posed]),
            frames_last(links.arms[posed]),
            frames_last(links.ends[posed]),
            frames_last(rows.target_points[frames]),
            frames_last(rows.target_ends[frames]),
            one_or_all(rows.scales[frames, ::3].T),
            frames_last(limits.base[bounded]),
            limits.lower[bounded].T.copy(),
            limits.upper[bounded].T.copy(),
        )

    # -- many steps -------------------------------------------------------------------------------------------------

    def iterate(self, x: Array, frames: Indices, most: int | None, fewest: int) -> Progress:
        """See `Problem.iterate`."""
        method, count = self.problem.method, len(x)
        still = numbers.NEARLY_SETTLED if method.settle else numbers.SETTLED
        given = self._given(frames)
        at = self.place(given, x.T.copy())
        state = self._begun(at)
        end = _End(*(array.copy() for array in vars(_End.of(at, state)).values()))
        done, iterations = np.zeros(count, bool), np.zeros(count, int)
        ids, everything = np.arange(count), given
        # frames just within tolerance take a step, too: they would jitter beside corrected neighbours
        finished = self._met(at) & (not (method.settle or method.coherent))
        while True:
            gone = finished | (state.steps == most)
            if len(gone) - np.count_nonzero(gone) < fewest:
                gone[:] = True
            if gone.any():
                here = np.flatnonzero(gone)
                end.put(ids[here], _End.of(at, state).take(here))
                iterations[ids[here]], done[ids[here]] = state.steps[here], finished[here]
                left = np.flatnonzero(~gone)
                if not len(left):
                    break
                ids, at, state, given = ids[left], at.take(left), state.take(left), given.take(left)
            there, changed = self._step(given, at, state)
            again = changed.any(axis=0)
            drifted = self._clamped(given, there, np.where(again, np.inf, numbers.LIMIT_DRIFT))
            if drifted is not None:
                there.put(*drifted)
            merit = self._merit(there)
            better = (merit <= state.here * (1.0 + numbers.LIMIT_SLACK) + numbers.LIMIT_SLACK) & ~again
            turned = np.max(np.abs(there.x - at.x), axis=0, initial=0.0)
            worse = np.flatnonzero(~better)
            if 2 * len(worse) < len(ids):  # copy the smaller part
                there.put(worse, at.take(worse))
                at = there
            else:
                good = np.flatnonzero(better)
                at.put(good, there.take(good))
            state.here[better] = merit[better]
            finished = self._judge(at, state, ~again, better, turned, turned < still)
            state.active[...] ^= changed
            state.rounds[:] = np.where(again, state.rounds + 1, 0)
        drifted = self._clamped(everything, end, numbers.LIMIT_SLACK)
        if drifted is not None:
            end.put(drifted[0], _End.of(drifted[1], None))
        assert end.active is not None
        x, lengths = (np.ascontiguousarray(part.T) for part in (end.x, end.lengths))
        return Progress(x, iterations, end.active.T.copy(), done, lengths)

    def _begun(self, at: _Placed) -> "_State":
        """Return the state before the first step."""
        count = at.x.shape[1]
        state = _State(
            active=np.ones((len(at.values), count), bool),
            damping=np.zeros(count),
            calm=np.zeros(count, int),
            steps=np.zeros(count, int),
            rounds=np.zeros(count, int),
            here=np.zeros(count),
        )
        state.here[:] = self._merit(at)
        return state

    def _judge(self, at: _Placed, state: "_State", went: Flags, better: Flags, turned: Array, rest: Flags) -> Flags:
        """Update the state after a step, and return which frames (B,) are done."""
        method = self.problem.method
        raised = np.maximum(numbers.LM_START, state.damping * numbers.LM_GROWTH)
        lowered = np.where(state.damping > numbers.LM_START, state.damping / numbers.LM_GROWTH, 0.0)
        np.copyto(state.damping, np.where(better, lowered, raised), where=went)
        np.copyto(state.calm, np.where(rest, state.calm + 1, 0), where=went)
        state.steps[:] += went
        damped = state.damping > 0.0
        stuck = (state.calm >= np.where(damped, numbers.CALM_DAMPED, numbers.CALM)) | (state.steps >= method.iterations)
        stuck |= state.damping > numbers.LM_LIMIT
        calming = method.settle or (method.coherent and turned > numbers.STRIDE)  # neighbours must end alike
        done = self._met(at) & ((rest & ~damped) | stuck | np.logical_not(calming))
        return (done | stuck) & went

    def _merit(self, at: _Placed) -> Array:
        """Return the merit (B,), which a step must not raise."""
        return self.problem.level_weights @ at.costs + self.stiff @ (at.x * at.x)

    def _met(self, at: _Placed) -> Flags:
        """Return whether all goals are within tolerance, (B,)."""
        return np.all(at.lengths <= self.tolerances, axis=0)

    # -- one step ---------------------------------------------------------------------------------------------------

    def place(self, given: _Given, x: Array) -> _Placed:
        """Return the forward kinematics, errors and limit coordinates at x (D, B)."""
        tree, count = self.tree, x.shape[1]
        turns, rate = exponential(x[: tree.turning].reshape(-1, 3, count).swapaxes(0, 1))
        nodes = len(tree.nodes)
        local = np.empty((3, 3, nodes, count))
        if len(tree.joints) < nodes:
            local[...] = given.turn
        local[:, :, tree.joints] = product(given.turn[:, :, tree.joints], turns)
        shift = given.shift
        if len(tree.roots):
            shift = np.broadcast_to(shift, (3, nodes, count)).copy()
            shifts = x[tree.turning : tree.moving].reshape(-1, 3, count).swapaxes(0, 1)
            shift[:, tree.roots] += times(given.slide, shifts)
        # the last one is the parent of the roots
        frames, heads = np.empty((3, 3, nodes + 1, count)), np.empty((3, nodes + 1, count))
        frames[:, :, -1], heads[:, -1] = np.eye(3)[..., None], 0.0
        for start, stop, parents in tree.levels:
            base = frames.take(parents, axis=2)
            frames[:, :, start:stop] = product(base, local[:, :, start:stop])
            heads[:, start:stop] = heads.take(parents, axis=1) + times(base, shift[:, start:stop])
        frames, heads = frames[:, :, :-1], heads[:, :-1]
        points = heads.take(tree.point_nodes, axis=1)
        if given.arms.any():
            points += times(frames.take(tree.point_nodes, axis=2), given.arms)
        own = product(given.base, turns.take(self.problem.limit_rows.member, axis=2))
        values = self._coordinates(given, own)
        room = np.minimum(values - given.lower, given.upper - values)
        return _Placed(x, rate, frames, heads, points, *self._errors(given, frames, points), own, values, room)

    def _coordinates(self, given: _Given, own: Array) -> Array:
        """Return the limit coordinates (K, B) of own rotations (3, 3, limited, B), turned back from E in place."""
        limits = self.problem.limit_rows
        if limits.axes is not None:
            own[...] = np.einsum("ijnb,nkj->iknb", own, limits.axes)
        first = own.transpose(3, 2, 0, 1)
        values = np.empty((limits.count, len(first)))
        place = row = 0
        for group, member in zip(limits.groups, limits.members, strict=True):
            size = group.lower.shape[-1] * len(member)
            here = group.at_frames(given.frames).coordinates(first[:, place : place + len(member)])
            values[row : row + size].reshape(len(member), -1, len(first))[...] = np.moveaxis(here, 0, -1)
            place, row = place + len(member), row + size
        return values

    def _errors(self, given: _Given, frames: Array, points: Array) -> tuple[Array, Array, Array]:
        """Return rows, lengths and costs as `GoalRows.errors` does."""
        vectors = np.empty((3, len(self.order), points.shape[-1]))
        plain = points.shape[1]
        np.subtract(given.target_points, points, out=vectors[:, :plain])
        if len(self.tree.end_nodes):
            ends = product(frames.take(self.tree.end_nodes, axis=2), given.ends)
            errors = np.einsum("ijqb,kjqb->ikqb", given.target_ends, ends)
            vectors[:, plain:] = np.moveaxis(rotation_vectors(errors.transpose(2, 3, 0, 1)), -1, 0)
        square = squares(vectors)
        lengths = np.sqrt(square)
        factor: Array = given.scales
        if lengths.max(initial=0.0) > numbers.ERROR_CLAMP:
            furthest = np.stack([lengths[on > 0.0].max(axis=0) for on in self.member.T])
            factor = factor * (self.member @ (numbers.ERROR_CLAMP / np.maximum(furthest, numbers.ERROR_CLAMP)))
        vectors *= factor
        rows = vectors.take(self.order, axis=1)
        costs = self.member.T @ (square * given.scales**2) / numbers.MERIT
        return rows, lengths * (given.scales > 0.0), costs

    def _jacobian(self, given: _Given, at: _Placed) -> list[Array]:
        """Return (3 K, 3 n, B) of each branch with K blocks, their first rows first, and n triples; in deviations."""
        tree, count = self.tree, at.x.shape[1]
        vectors = at.x[: tree.turning].reshape(-1, 3, count).swapaxes(0, 1)
        frames = at.frames[:, :, tree.joint_places]
        axes = np.einsum("ijnb,jknb->inkb", frames, right_jacobian(vectors, at.rate))
        axes *= self.deviations[: tree.turning].reshape(-1, 3, 1)
        pairs = np.empty((3, len(self.pair_blocks), 3, count))
        # a joint turns a point r by A x (r - p)
        arms = (at.points.take(self.turned_point, axis=1) - at.heads.take(self.turning_node, axis=1))[:, :, None]
        turning: Array = axes.take(self.turning_point, axis=1)
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            moved = turning[j] * arms[k]
            moved -= turning[k] * arms[j]
            pairs[i, self.turned_points] = moved
        if len(self.turned_ends):
            pairs[:, self.turned_ends] = axes.take(self.turning_end, axis=1)
        if len(tree.roots):
            slide = given.slide * self.deviations[tree.turning :].reshape(-1, 3, 1).swapaxes(0, 1)
            pairs[:, self.slid_points] = slide.swapaxes(1, 2).take(self.sliding_point, axis=1)
            pairs[:, self.slid_ends] = 0.0
        pairs *= given.scales[self.order][self.pair_blocks][:, None]
        return [
            pairs[:, branch.pairs].reshape(3 * (branch.blocks.stop - branch.blocks.start), -1, count)
            for branch in self.branches
        ]

    def _forces(self, jacobian: list[Array], wanted: Array, damping: Array) -> Array:
        """Return y (3, K, B) of the dual system (J J^T + damping) y = wanted."""
        blocks, count = wanted.shape[1:]
        size = 3 * blocks
        system = self.tree.workspace("dual", size + 1, size, count)
        system[:size] = 0.0
        system[size] = wanted.reshape(size, count)
        gram = system[:size].reshape(3, blocks, 3, blocks, count)
        for branch, part in zip(self.branches, jacobian, strict=True):
            own = branch.blocks.stop - branch.blocks.start
            gram[:, branch.blocks, :, branch.blocks] += np.einsum("rcb,scb->rsb", part, part).reshape(
                3, own, 3, own, -1
            )
        system[:size].reshape(size * size, count)[:: size + 1] += damping * self.shares[:, None]
        return solved(system).reshape(wanted.shape)

    def _step(self, given: _Given, at: _Placed, state: "_State") -> tuple[_Placed, Flags]:
        """Return the end of a step with the active limits, and the limits (K, B) to switch before it counts."""
        jacobian, home = self._jacobian(given, at), at.x / self.deviations
        gain = 1.0 / (1.0 + state.damping)
        wanted = at.rows.copy()
        for branch, part in zip(self.branches, jacobian, strict=True):
            along = np.einsum("rcb,cb->rb", part, home.take(branch.columns, axis=0))
            wanted[:, branch.blocks] += gain * along.reshape(3, -1, len(gain))
        if self.stuck.any():
            for branch, part in zip(self.branches, jacobian, strict=True):
                part[:, self.stuck[branch.columns]] = 0.0
        np.copyto(state.active, self._begin(given, at, state.active), where=state.rounds == 0)
        held = self._hold(given, at, jacobian, home, gain, state.active)
        if held is not None:
            centre = held.centre.T.reshape(-1, 3, len(held.frames))
            for (number, joints, _), free in zip(held.bounded.branches, held.free, strict=True):
                moved = np.einsum("rncb,ncb->rb", free, centre[joints]).reshape(3, -1, len(held.frames))
                wanted[:, self.branches[number].blocks][..., held.frames] -= moved
        forces = self._forces(jacobian, wanted, numbers.DAMPING * (1.0 + state.damping))
        z = np.empty_like(home)
        for branch, part in zip(self.branches, jacobian, strict=True):
            z[branch.columns] = np.einsum("rcb,rb->cb", part, forces[:, branch.blocks].reshape(len(part), -1))
        changed = np.zeros_like(state.active)
        if held is not None:
            columns, frames = held.bounded.columns[:, None], held.frames
            z[columns, frames] += held.centre.T
            push = z[columns, frames].reshape(-1, 3, len(frames))
            for (number, joints, _), free in zip(held.bounded.branches, held.free, strict=True):
                pull = forces[:, self.branches[number].blocks].take(frames, axis=2).reshape(len(free), -1)
                push[joints] -= np.einsum("rncb,rb->ncb", free, pull)
            push = push.reshape(-1, len(frames))
            leaving = held.linear.leaving(held.active, push.T)
            changed[held.bounded.rows[:, None], frames] = leaving.T & (state.rounds[frames] < 2)
        step = (z - gain * home) * self.deviations
        length = np.sqrt(squares(step))
        step *= numbers.STEP_CLAMP / np.maximum(length, numbers.STEP_CLAMP)
        there = self.place(given, at.x + step)
        changed |= (there.room < -numbers.LIMIT_SLACK) & ~state.active
        changed &= state.rounds < numbers.ACTIVE_SET_ROUNDS - 1
        return there, changed

    # -- limits -----------------------------------------------------------------------------------------------------

    def _begin(self, given: _Given, at: _Placed, active: Flags) -> Flags:
        """Return the active limits as `LinearLimits.begin` does."""
        locked = given.upper - given.lower < numbers.LIMIT_SLACK
        return (active & (at.room < numbers.LIMIT_NEAR)) | (at.room < -numbers.LIMIT_SLACK) | locked

    def _hold(
        self, given: _Given, at: _Placed, jacobian: list[Array], home: Array, gain: Array, active: Flags
    ) -> _Held | None:
        """Project the columns along the active limits, in place; None if no limit is active."""
        rows = active.any(axis=1)
        if not rows.any():
            return None
        bounded = self._bounded_joints(self.joint_of_row[rows])
        frames = np.flatnonzero(active[bounded.rows].any(axis=0))
        on, values = active[bounded.rows].take(frames, axis=1).T, at.values[bounded.rows].take(frames, axis=1).T
        below, above = (pick(bound[bounded.rows], frames).T - values for bound in (given.lower, given.upper))
        linear = LinearLimits(bounded, below, above, self._slopes(given, at, bounded, frames))  # pyright: ignore
        variance, own = 1.0 - self.stuck[bounded.columns], home[bounded.columns].take(frames, axis=1).T
        centre, covariance, _ = linear.condition(variance, own, gain[frames, None], on)
        projectors = covariance.transpose(1, 2, 3, 0)  # of a joint, in deviations
        kept: list[Array] = []
        for number, joints, places in bounded.branches:
            columns = jacobian[number].reshape(len(jacobian[number]), -1, 3, len(gain))
            free = columns[:, places].take(frames, axis=3)
            columns[:, places[:, None], :, frames] = np.einsum("rncb,ncdb->nbrd", free, projectors[joints])
            kept.append(free)
        return _Held(bounded, frames, linear, on, centre, kept)

    def _bounded_joints(self, joints: Indices) -> _Bounded:
        """Return some joints with all their limits."""
        key = tuple(sorted(set(joints.tolist())))
        if key in self._bounded:
            return self._bounded[key]
        limits, chosen = self.problem.limit_rows, np.array(key)
        rows: list[Indices] = []
        owners: list[Indices] = []
        groups: list[tuple[LimitGroup, Indices, Indices]] = []
        place = row = 0
        for group, members in zip(limits.groups, limits.members, strict=True):
            size: int = group.lower.shape[-1]
            here: Indices = np.flatnonzero(np.isin(members, chosen))
            if len(here):
                own = np.searchsorted(chosen, members[here])
                groups.append((group.take(here), place + here, own))
                rows.append((row + size * here[:, None] + np.arange(size)).ravel())
                owners.append(np.repeat(own, size))
            place, row = place + len(members), row + size * len(members)
        branches: dict[int, list[tuple[int, int]]] = {}
        for own, joint in enumerate(key):
            number, place = self.branch_of[joint]
            branches.setdefault(number, []).append((own, place))
        owner, columns = np.concatenate(owners), (3 * chosen[:, None] + np.arange(3)).ravel()
        parts = [(number, *np.array(pairs).T) for number, pairs in branches.items()]
        bounded = _Bounded(
            chosen, columns, np.concatenate(rows), owner, np.zeros(len(owner)), slots_of(owner), groups, parts
        )
        self._bounded[key] = bounded
        return bounded

    def _slopes(self, given: _Given, at: _Placed, bounded: _Bounded, frames: Indices) -> Array:
        """Return the gradients (b, K', 3) of the joints' coordinates in some frames, in deviations."""
        limits, count = self.problem.limit_rows, len(frames)
        vectors = at.x[bounded.columns].take(frames, axis=1).reshape(-1, 3, count).swapaxes(0, 1)
        rates = right_jacobian(vectors, at.rate.take(bounded.joints, axis=1).take(frames, axis=2))
        rates = rates.transpose(3, 2, 0, 1)
        values = at.values[bounded.rows].take(frames, axis=1).T
        slopes, row = np.empty((count, len(bounded.rows), 3)), 0
        for group, places, joints in bounded.groups:
            rows = slice(row, row := row + group.lower.shape[-1] * len(places))
            own = at.own.take(places, axis=2).take(frames, axis=3).transpose(3, 2, 0, 1)
            coordinates = values[:, rows].reshape(count, len(places), -1)
            gradients = group.at_frames(given.frames[frames]).gradients(own, coordinates)
            turned = rates[:, joints] if limits.axes is None else limits.axes[places] @ rates[:, joints]
            slopes[:, rows] = (gradients @ turned).reshape(count, -1, 3)
        return slopes * self.deviations[bounded.columns].reshape(-1, 3)[bounded.joint]

    def _clamped(self, given: _Given, at: "_Placed | _End", slack: Array | float) -> tuple[Indices, _Placed] | None:
        """Clamp joints that are outside their limits by more than `slack`. Return the frames, None if there is none."""
        beyond = at.room < -slack
        frames = np.flatnonzero(beyond.any(axis=0))
        if not len(frames):
            return None
        limits, x = self.problem.limit_rows, at.x.take(frames, axis=1)
        bounded = self._bounded_joints(self.joint_of_row[beyond.any(axis=1)])
        where = given.frames[frames]
        for group, places, joints in bounded.groups:
            own = at.own.take(places, axis=2).take(frames, axis=3).transpose(3, 2, 0, 1)
            inside = group.at_frames(where).clamp(own)
            moved = np.any(inside != own, axis=(-1, -2))
            inside = inside if limits.axes is None else inside @ limits.axes[places]
            turns = np.swapaxes(limits.base[where[:, None], places], -1, -2) @ inside
            vectors = np.moveaxis(rotation.log(rotation.from_matrix(turns)), 0, -1)  # (joints, 3, b)
            own_columns = bounded.columns.reshape(-1, 3)[joints]
            x[own_columns] = np.where(moved.T[:, None], vectors, x[own_columns])
        return frames, self.place(given.take(frames), x)


def chain_of(parents: Indices, node: int) -> list[int]:
    """Return a node and its ancestors."""
    chain: list[int] = []
    while node >= 0:
        chain.append(node)
        node = int(parents[node])
    return chain


def frames_last(array: Array) -> Array:
    """Return an array (B, n, ...) as (..., n, B), contiguous."""
    return np.ascontiguousarray(array.transpose(*range(2, array.ndim), 1, 0))


def one_or_all(array: Array) -> Array:
    """Return an array (..., B) as (..., 1) where all frames are equal."""
    return np.ascontiguousarray(array[..., :1] if (array == array[..., :1]).all() else array)


def product(a: Array, b: Array) -> Array:
    """Return products of matrices (3, 3, n, B); each B may be 1."""
    return np.einsum("ijnb,jknb->iknb", a, b)


def times(a: Array, b: Array) -> Array:
    """Return matrices (3, 3, n, B) times vectors (3, n, B)."""
    return np.einsum("ijnb,jnb->inb", a, b)


def squares(vectors: Array) -> Array:
    """Return the squared lengths (..., B) of vectors (m, ..., B)."""
    return np.einsum("i...,i...->...", vectors, vectors)


def exponential(x: Array) -> tuple[Array, Array]:
    """Return the rotation matrices (3, 3, n, B) of rotation vectors (3, n, B), and `rate` for `right_jacobian`.

    See `rotation.exp_features`: exp = a I + b [x] + c x x^T.
    """
    square = squares(x)
    safe = np.maximum(square, _SMALL_ANGLE**2)
    angle = np.sqrt(safe)
    second, third = (1.0 - np.cos(angle)) / safe, (1.0 - np.sin(angle) / angle) / safe
    rate = np.stack([1.0 - third * square, second, third])
    return combined(x, 1.0 - second * square, rate[0], second), rate


def right_jacobian(x: Array, rate: Array) -> Array:
    """Return Jr (3, 3, n, B) of rotation vectors (3, n, B): exp(x + dx) = exp(x) exp(Jr dx)."""
    return combined(x, rate[0], -rate[1], rate[2])


def combined(x: Array, a: Array, b: Array, c: Array) -> Array:
    """Return a I + b [x] + c x x^T, (3, 3, n, B)."""
    result = np.empty((3, *x.shape))
    along, across = c * x, b * x
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.multiply(along[i], x[i], out=result[i, i])
        result[i, i] += a
        both = along[i] * x[j]
        np.subtract(both, across[k], out=result[i, j])
        np.add(both, across[k], out=result[j, i])
    return result


def solved(system: Array) -> Array:
    """Return y (M, B) of A y = w by Cholesky of all frames at once; A over w (M + 1, M, B) is overwritten."""
    size, count = system.shape[1:]
    if count < _FEW:
        matrices = np.ascontiguousarray(system[:size].transpose(2, 0, 1))
        return np.linalg.solve(matrices, system[size].T[..., None])[..., 0].T.copy()
    scale = np.empty((size, 1, count))
    for k in range(size):
        column = system[k:, k]
        if k:
            column -= np.einsum("rjb,jb->rb", system[k:, :k], system[k, :k])
        np.maximum(column[0], _LEAST_PIVOT, out=scale[k, 0])
        np.sqrt(scale[k], out=scale[k])
        np.reciprocal(scale[k], out=scale[k])
        column *= scale[k]
    y = system[size].copy()
    for k in range(size - 1, -1, -1):
        if k < size - 1:
            y[k] -= np.einsum("jb,jb->b", system[k + 1 : size, k], y[k + 1 :])
        y[k] *= scale[k, 0]
    return y
