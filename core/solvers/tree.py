"""The part of a skeleton that can move the goals, as rigid links: forward kinematics and the Jacobian.

A skeleton with scaled or sheared bones is rigid only to first order. The links are therefore taken from the exact pose
(`Tree.fit`), and a solver fits them again where that matters.

State x of one frame: rotation vectors (R, 3) of the joints about their reference, in the bones' own frames, followed by
shifts (T, 3) of the roots; flat (D,) with D = 3 (R + T). q = q_reference exp(x): a joint's x is the rotation from its
reference, so that a prior on x is a joint target and a stiffness in one (see `pins`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..goals import Goal
from ..pose import Pose, forward_matrices, frame_bases
from ..rotation import Array
from ..skeleton import Skeleton

_SMALLEST_SCALE: Final = 1e-6  # a bone scaled to nothing keeps its frame


def as_slice(indices: NDArray[np.int64]) -> NDArray[np.int64] | slice:
    """The indices, as a slice where they are a run: that costs less to take and makes no copy."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


class Batch:
    """A dataclass of arrays whose first axis is the batch."""

    def _arrays(self) -> dict[str, Array]:
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}

    def __getitem__(self, index: object) -> Self:
        return replace(self, **{name: array[index] for name, array in self._arrays().items()})  # pyright: ignore

    def put(self, index: NDArray[np.int64], part: Self) -> None:
        """Overwrite some of the batch."""
        for name, array in part._arrays().items():
            getattr(self, name)[index] = array


@dataclass(frozen=True, eq=False)
class Kinematics(Batch):
    """Where the links are for one x: what the Jacobian and the errors are made of. B frames."""

    frames: Array  # (B, N, 4, 4) of the nodes, in units of the skeleton's size
    turns: Array  # (B, R, 3, 3) rotations of the joints about their reference, exp(x)
    rates: Array  # (B, R, 3, 3) right Jacobians of exp
    points: Array  # (B, P, 3) of the position goals
    ends: Array  # (B, Q, 3, 3) frames of the rotation goals


class Tree:
    """Links and goals of one problem. Nodes are the bones from the goals up to their roots, parents first, by depth."""

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal], root: str) -> None:
        self.skeleton = skeleton
        self.unit = skeleton.size
        self.goals = tuple(goals)
        self.goal_bones = [skeleton.index(goal.bone) for goal in goals]
        self.nodes = self._find_nodes()
        self._place = {int(bone): place for place, bone in enumerate(self.nodes)}
        driven = skeleton.driven[self.nodes]
        parents = np.array([self._place.get(int(skeleton.parents[bone]), -1) for bone in self.nodes], int)
        parents[driven] = -1
        self.parents = parents
        self.levels = self._find_levels()
        self.breaks = np.flatnonzero(~skeleton.inherit_rotation[self.nodes] & (parents >= 0))

        roots = parents < 0
        turning = skeleton.movable[self.nodes] & ~driven & ~(roots & (root != "free"))
        self.joints = np.flatnonzero(turning)  # nodes that turn
        self.joint_places = as_slice(self.joints)
        sliding = roots & ~driven & skeleton.translatable[self.nodes].any(axis=-1) & (root != "fixed")
        self.roots = np.flatnonzero(sliding)  # nodes that shift
        self.degrees = 3 * (len(self.joints) + len(self.roots))

        self.position_goals = np.array([i for i, goal in enumerate(goals) if goal.position is not None], int)
        self.rotation_goals = np.array([i for i, goal in enumerate(goals) if goal.rotation is not None], int)
        places = np.array([self._place[bone] for bone in self.goal_bones], int)
        self.point_nodes = places[self.position_goals]
        self.end_nodes = places[self.rotation_goals]
        priorities = np.array([goals[int(goal)].priority for goal in self.row_goals], int)
        self.order = np.argsort(priorities, kind="stable")
        self.priorities = priorities[self.order]
        self._workspace: dict[str, Array] = {}
        self._find_rows()

    def workspace(self, name: str, *shape: int) -> Array:
        """An array to overwrite, the same each time: page faults of fresh large arrays cost more than arithmetic."""
        size = int(np.prod(shape))
        buffer = self._workspace.get(name)
        if buffer is None or buffer.size < size:
            buffer = self._workspace[name] = np.empty(size)
        return buffer[:size].reshape(shape)

    def _find_nodes(self) -> NDArray[np.int64]:
        needed: set[int] = set()
        for bone in self.goal_bones:
            for link in self.skeleton.ancestors(bone):
                needed.add(link)
                if self.skeleton.driven[link]:
                    break
        depth = {bone: level for level, bones in enumerate(self.skeleton.levels) for bone in bones.tolist()}
        return np.array(sorted(needed, key=lambda bone: (depth[bone], bone)), int)

    def _find_levels(self) -> list[tuple[int, int, NDArray[np.int64]]]:
        """Runs of nodes (start, stop, parents) that can be placed at once."""
        runs: list[tuple[int, int, NDArray[np.int64]]] = []
        start = 0
        while start < len(self.nodes):
            stop = start
            while stop < len(self.nodes) and self.parents[stop] < start:
                stop += 1
            runs.append((start, stop, self.parents[start:stop]))
            start = stop
        return runs

    def _chain(self, place: int) -> list[int]:
        chain: list[int] = []
        while place >= 0:
            chain.append(place)
            place = int(self.parents[place])
        return chain

    def _find_rows(self) -> None:
        """Which column moves which row, and with which lever.

        Rows: three for each position goal and three for each rotation goal, by priority (`order`). A bone that does not
        inherit rotation is carried along by its head: for joints above it the lever ends there (`levers`: further
        points, each with rows of its own that are folded into the goal's).
        """
        columns = np.concatenate([np.repeat(self.joints, 3), np.repeat(self.roots, 3)])
        turning = np.arange(self.degrees) < 3 * len(self.joints)
        blocked = set(self.breaks.tolist())
        levers: list[int] = []  # nodes whose heads are further levers
        lever_goals: list[int] = []
        masks: list[Array] = []
        lever_masks: list[Array] = []
        for order, place in enumerate(self.point_nodes.tolist()):
            lever: int | None = None
            segments: dict[int | None, set[int]] = {None: set()}
            for link in self._chain(place):
                segments.setdefault(lever, set()).add(link)
                if link in blocked:
                    lever = link
            for key, links in segments.items():
                mask = np.isin(columns, list(links)).astype(float)
                if key is None:
                    masks.append(mask)
                else:
                    levers.append(key)
                    lever_goals.append(order)
                    lever_masks.append(mask)
        end_masks: list[Array] = []
        for place in self.end_nodes.tolist():
            turners: list[int] = []
            for link in self._chain(place):
                turners.append(link)
                if link in blocked:
                    break
            end_masks.append((np.isin(columns, turners) & turning).astype(float))
        empty = np.zeros((0, self.degrees))
        mask = np.concatenate([np.repeat(np.array(m) if m else empty, 3, axis=0) for m in (masks, end_masks)])
        self.mask = mask[self.order]
        self.levers = np.array(levers, int)
        place_of_row = np.argsort(self.order)
        self.lever_rows = [place_of_row[3 * goal : 3 * goal + 3] for goal in lever_goals]
        self.lever_masks = lever_masks
        # levers (M, 6) of the spatial columns: [-[r], I] for a point r, [I, 0] for an end; linear in the points (P, 3)
        points, ends = len(self.point_nodes), len(self.end_nodes)
        constant = np.zeros((self.rows, 6))
        constant[: 3 * points, 3:] = np.tile(np.eye(3), (points, 1))
        constant[3 * points :, :3] = np.tile(np.eye(3), (ends, 1))
        slope = np.zeros((3 * points, self.rows, 6))
        for point in range(points):
            for axis in range(3):
                slope[3 * point + axis, 3 * point : 3 * point + 3, :3] = -rotation.skew(np.eye(3)[axis])
        self.lever_constant = constant[self.order]
        self.lever_slope = slope[:, self.order].reshape(3 * points, 6 * self.rows)

    @property
    def rows(self) -> int:
        return 3 * (len(self.point_nodes) + len(self.end_nodes))

    @cached_property
    def row_goals(self) -> NDArray[np.int64]:
        """The goal of every row before they are put in order, (M,)."""
        return np.concatenate([np.repeat(self.position_goals, 3), np.repeat(self.rotation_goals, 3)])

    def fit(self, pose: Pose, x: Array) -> "Links":
        """Links that are exact at `pose` (batch (B,)), which is x (B, D) away from the reference."""
        skeleton, nodes = self.skeleton, self.nodes
        matrices = forward_matrices(skeleton, pose)[:, nodes]
        heads = matrices[..., 3] / self.unit
        own = matrices[..., :3]
        if pose.scales is not None:  # a bone's own scale does not turn its joint
            scale = pose.scales[:, nodes]
            own = own / np.where(np.abs(scale) < _SMALLEST_SCALE, 1.0, scale)[..., None, :]
        frames = frame_bases(own)
        base = frames[:, self.parents]
        has_parent = (self.parents >= 0)[:, None]
        back = np.swapaxes(base, -1, -2)
        shift = np.where(has_parent, (back @ (heads - heads[:, self.parents])[..., None])[..., 0], heads)
        # a bone that does not inherit rotation, or hangs on nothing that moves, turns in armature space
        absolute = ~has_parent[:, 0]
        absolute[self.breaks] = True
        turn = np.where(absolute[:, None, None], frames, back @ frames)
        if len(self.joints):
            vectors = x[:, : 3 * len(self.joints)].reshape(len(x), -1, 3)
            inverse = np.swapaxes(rotation.to_matrix(rotation.exp(vectors)), -1, -2)
            turn[:, self.joints] = turn[:, self.joints] @ inverse

        slide = np.zeros((len(x), len(self.roots), 3, 3))
        for order, place in enumerate(self.roots.tolist()):
            bone = int(nodes[place])
            rest = rotation.to_matrix(skeleton.rest_rotations[bone]) if skeleton.local_location[bone] else np.eye(3)
            slide[:, order] = rest  # roots hang on nothing: rest frames are in armature space
            start = 3 * (len(self.joints) + order)
            shift[:, place] -= (slide[:, order] @ x[:, start : start + 3, None])[..., 0]

        # goals: where the point is, and how the goal's frame stands, in the node's rigid frame
        point_nodes, end_nodes = self.point_nodes, self.end_nodes
        points = np.array([np.asarray(self.goals[int(i)].point) for i in self.position_goals], float).reshape(-1, 3)
        seen = (matrices[:, point_nodes, :, :3] @ points[..., None])[..., 0] / self.unit
        arms = (np.swapaxes(frames[:, point_nodes], -1, -2) @ seen[..., None])[..., 0]
        shown = frame_bases(matrices[:, end_nodes][..., :3])
        ends = np.swapaxes(frames[:, end_nodes], -1, -2) @ shown
        return Links(self, turn, shift, slide, arms, ends)


@dataclass(frozen=True, eq=False)
class Links(Batch):
    """A tree's rigid links for B frames: constants of forward kinematics."""

    tree: Tree
    turn: Array  # (B, N, 3, 3) frame relative to the parent's (absolute where there is none) at the reference
    shift: Array  # (B, N, 3) head in the parent's frame, in units of size
    slide: Array  # (B, T, 3, 3) directions of the roots' location channels
    arms: Array  # (B, P, 3) the goals' points in their bones' frames
    ends: Array  # (B, Q, 3, 3) the goals' frames in their bones' rigid frames

    def spread(self, count: int) -> "Links":
        """The links of one frame for `count` frames."""
        return replace(self, **{n: np.broadcast_to(a, (count, *a.shape[1:])) for n, a in self._arrays().items()})  # pyright: ignore

    def place(self, x: Array) -> Kinematics:
        """Forward kinematics of x (B, D)."""
        tree = self.tree
        turns, rates = rotation.exp_and_jacobian(x[:, : 3 * len(tree.joints)].reshape(len(x), -1, 3))
        frames = np.zeros((*self.turn.shape[:2], 4, 4))
        frames[..., 3, 3] = 1.0
        local = frames.copy()
        if len(tree.joints) < len(tree.nodes):
            local[..., :3, :3] = self.turn
        local[:, tree.joint_places, :3, :3] = self.turn[:, tree.joint_places] @ turns
        local[..., :3, 3] = self.shift
        if len(tree.roots):
            shifts = x[:, 3 * len(tree.joints) :].reshape(len(x), -1, 3)
            local[:, tree.roots, :3, 3:] += self.slide @ shifts[..., None]
        for start, stop, parents in tree.levels:
            if parents[0] < 0 and (parents < 0).all():
                frames[:, start:stop] = local[:, start:stop]
                continue
            frames[:, start:stop] = frames.take(parents, axis=1) @ local[:, start:stop]
            loose = parents < 0
            if loose.any():
                frames[:, start:stop][:, loose] = local[:, start:stop][:, loose]
            for place in tree.breaks:
                if start <= place < stop:
                    frames[:, place, :3, :3] = local[:, place, :3, :3]
        at = frames[:, tree.point_nodes]
        points = (at[..., :3, :3] @ self.arms[..., None])[..., 0] + at[..., :3, 3]
        ends = frames[:, tree.end_nodes, :3, :3] @ self.ends
        return Kinematics(frames, turns, rates, points, ends)

    def jacobian(self, at: Kinematics, scales: Array) -> Array:
        """(B, M, D) in armature space: rows by priority times `scales` (B, M), positions in units of size, radians.

        With a joint's axes A (columns, in armature space) and its head p, a point r moves by A x (r - p) = B - [r] A
        with B = [p] A. The result is overwritten by the next call.
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
        spatial = spatial.reshape(count, 6, tree.degrees)
        levers = (at.points.reshape(count, -1) @ tree.lever_slope).reshape(count, tree.rows, 6) + tree.lever_constant
        levers *= scales[..., None]
        result = np.matmul(levers, spatial, out=tree.workspace("jacobian", count, tree.rows, tree.degrees))
        result *= tree.mask
        for lever, rows, mask in zip(tree.levers, tree.lever_rows, tree.lever_masks, strict=True):
            eyes = np.broadcast_to(np.eye(3), (count, 3, 3))
            arm = np.concatenate([-rotation.skew(at.frames[:, lever, :3, 3]), eyes], axis=-1)
            result[:, rows] += scales[:, rows, None] * (arm @ spatial) * mask
        return result
