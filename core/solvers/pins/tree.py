"""Forward kinematics and Jacobian of the bones that can move the goals, as a tree of rigid links.

A skeleton with scaled or sheared bones is rigid only to first order. `LinkTree.fit` therefore takes the links from an
exact pose, and the solver fits them again where that matters.

State x of one frame: rotation vectors (R, 3) of the joints about their reference, shifts (T, 3) of the roots and
logarithms (S,) of the lengths of bones that stretch; flat (D,) with D = 3 (R + T) + S. q = q_reference E exp(x) E^-1: a
joint's x is the rotation from its reference in the bone's own frame turned by E, so that a prior on x is a joint target
and a stiffness in one (see `frames`). All frames in this file are turned by E.

Features are the points and frames of bones that goals refer to; `goals.rows` makes errors and rows of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...pose import Pose, forward_matrices, frame_bases
from ...rotation import Array
from ...skeleton import Flags, Indices, Skeleton
from . import numbers


def as_slice(indices: NDArray[np.int64]) -> NDArray[np.int64] | slice:
    """Return indices as a slice if they are consecutive: a slice is faster and makes no copy."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


class Batch:
    """A dataclass of arrays, or of other `Batch`es, whose first axis is the batch; other fields are for all of it."""

    def _parts(self) -> dict[str, "Array | Batch"]:
        return {name: value for name, value in vars(self).items() if isinstance(value, (np.ndarray, Batch))}

    def __getitem__(self, index: object) -> Self:
        return replace(self, **{name: part[index] for name, part in self._parts().items()})  # pyright: ignore

    def put(self, index: NDArray[np.int64], part: Self) -> None:
        """Overwrite part of the batch."""
        for name, value in part._parts().items():
            own = getattr(self, name)
            if isinstance(value, Batch):
                own.put(index, value)
            else:
                own[index] = value


@dataclass(frozen=True, eq=False)
class Kinematics(Batch):
    """Links and features of B frames at one x."""

    x: Array  # (B, D)
    frames: Array  # (B, N, 4, 4) of the nodes, in units of the skeleton's size
    rates: Array  # (B, R, 3, 3) right Jacobians of exp
    points: Array  # (B, P, 3)
    ends: Array  # (B, Q, 3, 3)
    centres: Array  # (B, balances, 3) the centers of mass of balances


@dataclass(frozen=True, eq=False)
class Masses:
    """The bones whose middles carry the mass of a body."""

    bones: Indices  # (M,)
    shares: Array  # (M,) of the whole mass
    rides: Flags  # (M,) those that need not be nodes: they move with the next node above them


@dataclass(frozen=True)
class Features:
    """Features: points of bones (bone, place in its frame), frames of bones, and masses, which are further points.

    For each of the masses, a node with those that move with it is one point, at their common center.
    """

    points: tuple[tuple[int, Array], ...]
    ends: tuple[int, ...]
    masses: tuple[Masses, ...] = ()

    @property
    def bones(self) -> Iterable[int]:
        """Return the bones that must be nodes."""
        carriers = (some.bones[~some.rides].tolist() for some in self.masses)
        return {*(bone for bone, _ in self.points), *self.ends, *chain.from_iterable(carriers)}


class LinkTree:
    """The links that move the features. Nodes are the features' bones and their ancestors, parents first, by depth.

    root       how bones without parent move, as in `PinAndDrag`
    root_bone  the bone that is the root if all features are on it or below; its ancestors are no nodes then
    axes       (J, 4) E of every bone, or None
    order      rows of the Jacobian as indices of the features' rows: three of each point, three of each frame
    """

    def __init__(
        self,
        skeleton: Skeleton,
        features: Features,
        root: str | float,
        stretch: bool = False,
        axes: Array | None = None,
        order: NDArray[np.int64] | None = None,
        root_bone: int | None = None,
    ) -> None:
        self.skeleton = skeleton
        self.unit = skeleton.size
        self.features = features
        carries = root_bone is not None and all(root_bone in skeleton.ancestors(bone) for bone in features.bones)
        self.root_bone = root_bone if carries else None
        self.nodes = self._find_nodes()
        self._place = {int(bone): place for place, bone in enumerate(self.nodes)}
        driven = skeleton.driven[self.nodes]
        parents = np.array([self._place.get(int(skeleton.parents[bone]), -1) for bone in self.nodes], int)
        parents[driven] = -1
        self.parents = parents
        self.levels = self._find_levels()
        self.breaks = np.flatnonzero(~skeleton.inherit_rotation[self.nodes] & (parents >= 0))
        self.axes: Array | None = None if axes is None else rotation.to_matrix(axes[self.nodes])

        roots = parents < 0
        turning = skeleton.movable[self.nodes] & ~driven & ~(roots & (root in ("translate", "fixed")))
        self.joints = np.flatnonzero(turning)  # nodes that turn
        self.joint_places = as_slice(self.joints)
        sliding = roots & ~driven & skeleton.translatable[self.nodes].any(axis=-1) & (root != "fixed")
        self.roots = np.flatnonzero(sliding)  # nodes that shift
        longer = (skeleton.stretch[self.nodes] > 0.0) & (skeleton.lengths[self.nodes] > 0.0) & ~driven & stretch
        self.stretching = np.flatnonzero(longer)  # nodes that grow along Y
        self.turning = 3 * len(self.joints)
        self.moving = self.turning + 3 * len(self.roots)
        self.degrees = self.moving + len(self.stretching)

        self._find_points()
        self.end_nodes = np.array([self._place[bone] for bone in features.ends], int)
        self.order = np.arange(self.rows) if order is None else order
        self._workspace: dict[str, Array] = {}
        self._find_order()
        self._find_rows()
        self._find_scaled()

    def workspace(self, name: str, *shape: int) -> Array:
        """Return a reused array to overwrite: page faults of fresh large arrays cost more than arithmetic."""
        size = int(np.prod(shape))
        buffer = self._workspace.get(name)
        if buffer is None or buffer.size < size:
            buffer = self._workspace[name] = np.empty(size)
        return buffer[:size].reshape(shape)

    def _find_nodes(self) -> NDArray[np.int64]:
        needed: set[int] = set()
        for bone in self.features.bones:
            for link in self.skeleton.ancestors(bone):
                needed.add(link)
                if self.skeleton.driven[link] or link == self.root_bone:
                    break
        depth = {bone: level for level, bones in enumerate(self.skeleton.levels) for bone in bones.tolist()}
        return np.array(sorted(needed, key=lambda bone: (depth[bone], bone)), int)

    def _find_points(self) -> None:
        """Set the nodes of the points (P,), those of masses last; and their shares of each center, `centres` (K, P).

        And which masses (P - points, M) of which balance are in which of the last points, by their shares in it.
        """
        above = self.skeleton.ancestors
        nodes = [self._place[bone] for bone, _ in self.features.points]
        self.lumps: list[Array] = []
        shares: list[Array] = []
        for masses in self.features.masses:
            carriers = [next(self._place[bone] for bone in above(mass) if bone in self._place)
                        for mass in masses.bones.tolist()]  # fmt: skip
            own = np.unique(carriers)
            lump = (own[:, None] == carriers) * masses.shares
            shares.append(np.concatenate([np.zeros(len(nodes)), lump.sum(axis=1)]))
            self.lumps.append(lump / lump.sum(axis=1, keepdims=True))
            nodes += own.tolist()
        self.point_nodes = np.array(nodes, int)
        self.centres = np.zeros((len(shares), len(nodes)))
        for number, some in enumerate(shares):
            self.centres[number, : len(some)] = some

    def _find_levels(self) -> list[tuple[int, int, NDArray[np.int64]]]:
        """Return runs of nodes (start, stop, parents) that can be placed at once."""
        runs: list[tuple[int, int, NDArray[np.int64]]] = []
        start = 0
        while start < len(self.nodes):
            stop = start
            while stop < len(self.nodes) and self.parents[stop] < start:
                stop += 1
            runs.append((start, stop, self.parents[start:stop]))
            start = stop
        return runs

    def _find_order(self) -> None:
        """Set which nodes are at or above which, `over` (N, N), and which of them turn them, `turns` (N, N).

        A bone that does not inherit rotation is turned by itself alone: it only moves with its head. And set `broken`
        (N,), the next such node at or above each, -1 for none; and `above` (D, D): 1 where turning the row's joint
        turns the column's, 1/2 where both are of one joint.
        """
        self.over, self.turns = np.eye(len(self.nodes), dtype=bool), np.eye(len(self.nodes))
        self.broken = np.where(np.isin(np.arange(len(self.nodes)), self.breaks), np.arange(len(self.nodes)), -1)
        for node, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                self.over[:, node] |= self.over[:, parent]
                if self.broken[node] < 0:
                    self.turns[:, node] += self.turns[:, parent]
                    self.broken[node] = self.broken[parent]
        joints = np.repeat(self.joints, 3)
        self.above = np.zeros((self.degrees, self.degrees))  # roots shift without turning
        turns = self.turns - 0.5 * np.eye(len(self.nodes))
        self.above[: self.turning, : self.turning] = turns[np.ix_(joints, joints)]

    def _find_rows(self) -> None:
        """Set which column moves which row, and with which lever.

        Where a bone does not inherit rotation the lever of joints above it ends at its head (`levers`: further points,
        with the rows of the feature to which theirs are added, and their masks).
        """
        carriers, column = np.concatenate([self.joints, self.roots]), np.arange(self.degrees)
        moves = self.turns[np.concatenate([np.repeat(carriers, 3), self.stretching])].T * (column < self.moving)
        mask = np.concatenate([moves[self.point_nodes], moves[self.end_nodes] * (column < self.turning)])
        self.mask = np.repeat(mask, 3, axis=0)[self.order]
        place_of_row = np.argsort(self.order).reshape(-1, 3)
        self.levers = [
            (int(lever), place_of_row[point], moves[self.parents[lever]])
            for point, node in enumerate(self.point_nodes)
            for lever in self.breaks[self.over[self.breaks, node]]
        ]
        # levers (M, 6) of the spatial columns: [-[r], I] for a point r, [I, 0] for an end; linear in the points (P, 3)
        points, ends = len(self.point_nodes), len(self.end_nodes)
        constant = np.zeros((self.rows, 6))
        constant[: 3 * points, 3:] = np.tile(np.eye(3), (points, 1))
        constant[3 * points :, :3] = np.tile(np.eye(3), (ends, 1))
        place = np.arange(points)
        slope = np.zeros((points, 3, points + ends, 3, 6))
        slope[place, :, place, :, :3] = -rotation.skew(np.eye(3))
        self.lever_constant = constant[self.order]
        self.lever_slope = slope.reshape(-1, self.rows, 6)[:, self.order].reshape(3 * points, 6 * self.rows)

    def _find_scaled(self) -> None:
        """Set `scaled` (N, S), the node along whose Y a stretching bone scales a node's children, -1 for none.

        And `hangs` (P, N), the nodes that each point is on or below.
        """
        self.scaled: NDArray[np.int64] = np.full((len(self.nodes), len(self.stretching)), -1)
        for node, (bone, parent) in enumerate(zip(map(int, self.nodes), map(int, self.parents), strict=True)):
            mode: str = self.skeleton.inherit_scale[bone] if self.skeleton.inherit_rotation[bone] else "NONE"
            if parent >= 0 and mode in ("FULL", "FIX_SHEAR"):
                self.scaled[node] = self.scaled[parent]
            elif parent >= 0 and mode == "ALIGNED":
                self.scaled[node] = np.where(self.scaled[parent] >= 0, node, -1)
            self.scaled[node, self.stretching == node] = node
        self.hangs = self.over[:, self.point_nodes].T

    @property
    def rows(self) -> int:
        """Return the number of the features' rows."""
        return 3 * (len(self.point_nodes) + len(self.end_nodes))

    def fit(self, pose: Pose, x: Array) -> "Links":
        """Return the links that are exact at a pose of B frames, which is x (B, D) away from the reference."""
        skeleton, nodes = self.skeleton, self.nodes
        every = forward_matrices(skeleton, pose)
        matrices = every[:, nodes]
        heads = matrices[..., 3] / self.unit
        own = matrices[..., :3]
        if pose.scales is not None:  # a bone's own scale does not turn its joint
            scale = pose.scales[:, nodes]
            own = own / np.where(np.abs(scale) < numbers.DAMPING, 1.0, scale)[..., None, :]
        frames = frame_bases(own)
        if self.axes is not None:
            frames = frames @ self.axes
        base = frames[:, self.parents]
        has_parent = (self.parents >= 0)[:, None]
        back = np.swapaxes(base, -1, -2)
        shift = np.where(has_parent, (back @ (heads - heads[:, self.parents])[..., None])[..., 0], heads)
        # a bone that does not inherit rotation, or has no node as parent, turns in armature space
        absolute = ~has_parent[:, 0]
        absolute[self.breaks] = True
        turn = np.where(absolute[:, None, None], frames, back @ frames)
        if len(self.joints):
            vectors = x[:, : self.turning].reshape(len(x), -1, 3)
            inverse = np.swapaxes(rotation.to_matrix(rotation.exp(vectors)), -1, -2)
            turn[:, self.joints] = turn[:, self.joints] @ inverse

        slide = np.zeros((len(x), len(self.roots), 3, 3))
        for order, place in enumerate(self.roots.tolist()):
            bone = int(nodes[place])
            # rest frames of bones without parent are in armature space
            above = int(skeleton.parents[bone])
            base = every[:, above, :, :3] if above >= 0 else np.eye(3)
            rest = rotation.to_matrix(skeleton.rest_rotations[bone]) if skeleton.local_location[bone] else np.eye(3)
            slide[:, order] = base @ rest
            start = self.turning + 3 * order
            shift[:, place] -= (slide[:, order] @ x[:, start : start + 3, None])[..., 0]

        # the features in their nodes' rigid frames; points grow with their bones as children do
        points = np.array([point for _, point in self.features.points], float).reshape(-1, 3)
        own = matrices[:, self.point_nodes[: len(points)], :, :3]
        seen = [(own @ points[..., None])[..., 0] / self.unit]
        start = len(points)
        for masses, lump in zip(self.features.masses, self.lumps, strict=True):
            bones = every[:, masses.bones]
            middles = bones[..., 3] + 0.5 * skeleton.lengths[masses.bones, None] * bones[..., 1]
            stop = start + len(lump)
            seen.append(lump @ middles / self.unit - heads[:, self.point_nodes[start:stop]])
            start = stop
        away = np.concatenate(seen, axis=1)[..., None]
        arms = (np.swapaxes(frames[:, self.point_nodes], -1, -2) @ away)[..., 0]
        shown = frame_bases(matrices[:, self.end_nodes][..., :3])
        ends = np.swapaxes(frames[:, self.end_nodes], -1, -2) @ shown
        own = np.tile([0.0, 1.0, 0.0], (len(self.nodes), 1)) if self.axes is None else self.axes[:, 1]
        directions = (frames @ own[..., None])[..., 0]  # Y of the nodes, (B, N, 3)

        def along(vectors: Array, nodes: NDArray[np.int64]) -> Array:
            """Return how vectors (B, n, 3) in the frames of nodes grow with the bones that scale them, (B, n, S, 3)."""
            seen = directions[:, self.scaled[nodes]] @ frames[:, nodes] * (self.scaled[nodes] >= 0)[..., None]
            return seen * np.sum(seen * vectors[:, :, None], axis=-1, keepdims=True)

        longer = along(np.where(has_parent, shift, 0.0), self.parents), along(arms, self.point_nodes)
        return Links(self, turn, shift, slide, arms, ends, *longer, np.exp(x[:, self.moving :]))


@dataclass(frozen=True, eq=False)
class Links(Batch):
    """A tree's rigid links for B frames: constants of forward kinematics."""

    tree: LinkTree
    turn: Array  # (B, N, 3, 3) frame relative to the parent's (absolute where there is none) at the reference
    shift: Array  # (B, N, 3) head in the parent's frame, in units of size
    slide: Array  # (B, T, 3, 3) directions of the roots' location channels
    arms: Array  # (B, P, 3) the points in their bones' frames
    ends: Array  # (B, Q, 3, 3) the frames looked at in their bones' rigid frames
    shift_growth: Array  # (B, N, S, 3) growth of shifts when stretching bones, the node or above, double their length
    arm_growth: Array  # (B, P, S, 3) growth of arms
    grown: Array  # (B, S) relative lengths of these bones in the links

    def spread(self, count: int) -> "Links":
        """Return the links of one frame for `count` frames."""
        return replace(self, **{n: np.broadcast_to(a, (count, *a.shape[1:])) for n, a in self._parts().items()})  # pyright: ignore

    def place(self, x: Array) -> Kinematics:
        """Return the forward kinematics of x (B, D)."""
        tree = self.tree
        turns, rates = rotation.exp_and_jacobian(x[:, : tree.turning].reshape(len(x), -1, 3))
        count, nodes = self.turn.shape[:2]
        frames = np.tile(np.eye(4), (count, nodes + 1, 1, 1))  # the last one is the parent of the roots
        local = frames[:, :-1].copy()
        local[..., :3, :3] = self.turn
        local[:, tree.joint_places, :3, :3] = self.turn[:, tree.joint_places] @ turns
        shift, arms = self.shift, self.arms
        if len(tree.stretching):
            more = (self._growth(x) - 1.0)[:, None, None]
            shift = shift + (more @ self.shift_growth)[..., 0, :]
            arms = arms + (more @ self.arm_growth)[..., 0, :]
        local[..., :3, 3] = shift
        if len(tree.roots):
            shifts = x[:, tree.turning : tree.moving].reshape(len(x), -1, 3)
            local[:, tree.roots, :3, 3:] += self.slide @ shifts[..., None]
        for start, stop, parents in tree.levels:
            frames[:, start:stop] = frames.take(parents, axis=1) @ local[:, start:stop]
            broken = tree.breaks[(tree.breaks >= start) & (tree.breaks < stop)]
            frames[:, broken, :3, :3] = local[:, broken, :3, :3]
        frames = frames[:, :-1]
        at = frames[:, tree.point_nodes]
        points = (at[..., :3, :3] @ arms[..., None])[..., 0] + at[..., :3, 3]
        ends = frames[:, tree.end_nodes, :3, :3] @ self.ends
        return Kinematics(x, frames, rates, points, ends, tree.centres @ points)

    def _spatial(self, at: Kinematics) -> Array:
        """Return (B, 6, D): angular velocities of the columns and their linear velocities at the armature's origin.

        With a joint's axes A (columns, in armature space) and its head p, a point r moves by A x (r - p) = B - [r] A
        with B = [p] A.
        """
        tree = self.tree
        count, joints = len(at.points), len(tree.joints)
        axes = at.frames[:, tree.joint_places, :3, :3] @ at.rates  # (B, R, 3, 3)
        moments = rotation.skew(at.frames[:, tree.joint_places][..., :3, 3]) @ axes
        spatial = tree.workspace("spatial", count, 6, joints + len(tree.roots), 3)
        spatial[:, :3, :joints] = axes.transpose(0, 2, 1, 3)
        spatial[:, :3, joints:] = 0.0
        spatial[:, 3:, :joints] = moments.transpose(0, 2, 1, 3)
        spatial[:, 3:, joints:] = self.slide.transpose(0, 2, 1, 3)
        spatial = spatial.reshape(count, 6, tree.moving)
        return np.concatenate([spatial, np.zeros((count, 6, len(tree.stretching)))], axis=2)

    def _growth(self, x: Array) -> Array:
        """Return the lengths (B, S) of stretching bones at x, relative to those in these links."""
        return np.exp(x[:, self.tree.moving :]) / self.grown

    def _longer(self, at: Kinematics) -> tuple[Array, Array]:
        """Return the derivatives of heads (B, N, S, 3) to their parents', and of arms (B, P, S, 3), by log lengths."""
        tree, growth = self.tree, self._growth(at.x)[:, None, :, None]
        frames = np.swapaxes(at.frames[..., :3, :3], -1, -2)
        moved = self.shift_growth @ frames[:, tree.parents], self.arm_growth @ frames[:, tree.point_nodes]
        return moved[0] * growth, moved[1] * growth

    def lengthening(self, at: Kinematics, axes: Array, pulls: Array, raw: Array) -> Array:
        """Return half of the curvature (D, S) by lengths of one frame's features under forces `pulls` (M,).

        Whole by the turns about `axes` (3, D): the mixed part. What grows by a bone may hang on joints below it.
        """
        tree = self.tree
        forces = pulls[np.argsort(tree.order)][: 3 * len(tree.point_nodes)].reshape(-1, 1, 3)
        heads, arms = (some[0] for some in self._longer(at))
        torques = np.zeros_like(heads)  # of what grows in the frame of each node
        np.add.at(torques, tree.parents, np.cross(heads, np.tensordot(tree.hangs, forces, (0, 0))))
        np.add.at(torques, tree.point_nodes, np.cross(arms, forces))
        by_joint = np.tensordot(tree.turns[tree.joints], torques, 1)
        curvature = np.zeros((tree.degrees, len(tree.stretching)))
        own = axes[:, : tree.turning].reshape(3, -1, 3)
        curvature[: tree.turning] = np.einsum("cjk,jsc->jks", own, by_joint).reshape(tree.turning, -1)
        curvature[tree.moving :] = np.diag(0.5 * pulls.dot(raw[:, tree.moving :]))
        return curvature

    def jacobian(self, at: Kinematics, scales: Array) -> Array:
        """Return the features' Jacobian (B, M, D) in armature space, rows in the tree's order times `scales` (B, M).

        Positions in units of size, radians. The result is overwritten by the next call.
        """
        tree = self.tree
        count = len(at.points)
        spatial = self._spatial(at)
        levers = (at.points.reshape(count, -1) @ tree.lever_slope).reshape(count, tree.rows, 6) + tree.lever_constant
        levers *= scales[..., None]
        result = np.matmul(levers, spatial, out=tree.workspace("jacobian", count, tree.rows, tree.degrees))
        result *= tree.mask
        if len(tree.stretching):
            rows = np.argsort(tree.order)[: 3 * len(tree.point_nodes)]
            heads, arms = self._longer(at)
            longer = np.tensordot(tree.hangs, heads, (1, 1)).swapaxes(0, 1) + arms
            longer = longer.swapaxes(2, 3).reshape(count, len(rows), len(tree.stretching))
            result[:, rows, tree.moving :] += scales[:, rows, None] * longer
        for lever, rows, mask in tree.levers:
            eyes = np.broadcast_to(np.eye(3), (count, 3, 3))
            arm = np.concatenate([-rotation.skew(at.frames[:, lever, :3, 3]), eyes], axis=-1)
            result[:, rows] += scales[:, rows, None] * (arm @ spatial) * mask
        return result

    def axes_of(self, at: Kinematics) -> Array:
        """Return the axes (B, 3, D) that the columns turn about; zero for those that shift or grow."""
        return self._spatial(at)[:, :3].copy()
