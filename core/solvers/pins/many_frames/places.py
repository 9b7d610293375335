"""Where many frames are at x: forward kinematics, errors, limit coordinates and the Jacobian of plain goals."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ....rotation import Array
from ..goals.rows import GoalRows, rotation_vectors
from ..problem import Problem
from ..tree import Links
from .algebra import (
    FramesLast,
    Indices,
    exponential,
    frames_last,
    one_or_all,
    product,
    right_jacobian,
    squares,
    times,
)  # fmt: skip

CLAMP: Final = 0.5  # largest distance or angle in a level, whose other errors are cut alike; largest step in x


@dataclass(frozen=True, eq=False)
class Given(FramesLast):
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
class Placed(FramesLast):
    """B frames at one x."""

    x: Array  # (D, B)
    rate: Array  # (3, R, B) b, c and d of the joints' right Jacobians b I - c [x] + d x x^T
    frames: Array  # (3, 3, N, B)
    heads: Array  # (3, N, B)
    points: Array  # (3, P, B)
    rows: Array  # (3, P + Q, B) errors, cut and weighted, in the order of the branches
    lengths: Array  # (P + Q, B)
    costs: Array  # (L, B) weighted squares of the errors before they are cut, by level
    own: Array  # (3, 3, limited, B) own rotations
    values: Array  # (K, B) coordinates
    room: Array  # (K, B) from them to the nearer bound


@dataclass(frozen=True)
class Branch:
    """Joints and roots, by triples of columns, that move the same goals: what lies between two forks of the tree."""

    blocks: slice  # the goals' blocks that they move, in the order of the branches
    pairs: slice  # of a block and a triple, see `_pairs`
    columns: Indices  # (3 n,) of x


class Places:
    """Forward kinematics of frames of a rigid body with plain goals, and what their steps move."""

    def __init__(self, problem: Problem, links: Links) -> None:
        self.tree, self.links, self.limits = problem.tree, links, problem.limit_rows
        spread, self.ties = problem.prior.ties()
        self.deviations = np.where(problem.prior.stiff > 0.0, spread, 1.0)[:, None]
        self.order = self._find_order()
        self.branches = self._find_branches()
        self.tied = [number for number, branch in enumerate(self.branches) if self.ties[:, branch.columns].any()]
        self.member = problem.rows.block_in_level  # (K, L)
        limits = self.limits
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

    def _find_branches(self) -> list[Branch]:
        """Return the branches, and set the pairs of a block and a triple of columns that moves it, branch by branch."""
        tree, points = self.tree, len(self.tree.point_nodes)
        nodes = np.concatenate([tree.point_nodes, tree.end_nodes])[self.order]
        chains = tree.over[:, nodes].T
        triples: dict[tuple[int, int], list[int]] = {}
        for triple, node in enumerate([*tree.joints.tolist(), *tree.roots.tolist()]):
            moved = np.flatnonzero(chains[:, node])
            triples.setdefault((int(moved[0]), int(moved[-1]) + 1), []).append(triple)
        pairs: list[tuple[int, int]] = []
        branches: list[Branch] = []
        for (start, stop), own in triples.items():
            first = len(pairs)
            pairs += [(block, triple) for block in range(start, stop) for triple in own]
            columns = (3 * np.array(own)[:, None] + np.arange(3)).ravel()
            branches.append(Branch(slice(start, stop), slice(first, len(pairs)), columns))
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

    def given(self, goals: GoalRows, frames: Indices) -> Given:
        """Return the constants of some frames, with the targets that goals have now."""
        links, limits = self.links, self.limits
        same = links.turn.strides[0] == 0, self.same_limits
        posed, bounded = (frames[:1] if one else frames for one in same)
        return Given(
            frames,
            frames_last(links.turn[posed]),
            frames_last(links.shift[posed]),
            frames_last(links.slide[posed]),
            frames_last(links.arms[posed]),
            frames_last(links.ends[posed]),
            frames_last(goals.target_points[frames]),
            frames_last(goals.target_ends[frames]),
            one_or_all(goals.scales[frames, ::3].T),
            frames_last(limits.base[bounded]),
            limits.lower[bounded].T.copy(),
            limits.upper[bounded].T.copy(),
        )

    def place(self, given: Given, x: Array) -> Placed:
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
        own = product(given.base, turns.take(self.limits.member, axis=2))
        values = self._coordinates(given, own)
        room = np.minimum(values - given.lower, given.upper - values)
        return Placed(x, rate, frames, heads, points, *self._errors(given, frames, points), own, values, room)

    def _coordinates(self, given: Given, own: Array) -> Array:
        """Return the limit coordinates (K, B) of own rotations (3, 3, limited, B), turned back from E in place."""
        limits = self.limits
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

    def _errors(self, given: Given, frames: Array, points: Array) -> tuple[Array, Array, Array]:
        """Return the rows, lengths and costs of `Placed`."""
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
        if lengths.max(initial=0.0) > CLAMP:
            furthest = np.stack([lengths[on > 0.0].max(axis=0) for on in self.member.T])
            factor = factor * (self.member @ (CLAMP / np.maximum(furthest, CLAMP)))
        vectors *= factor
        rows = vectors.take(self.order, axis=1)
        costs = self.member.T @ (square * given.scales**2)
        return rows, lengths * (given.scales > 0.0), costs

    def jacobian(self, given: Given, at: Placed) -> list[Array]:
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
