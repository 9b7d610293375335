"""Errors of goals, and the rows of the Jacobian that reduce them.

A goal is one or two blocks of three rows, J dx = e. The position of a point and the rotation of a frame in armature
space are plain: their rows are those of the tree's features. Every other block makes its rows from those of several
features (`blocks`). A one-sided block has one row, J dx <= e, and two that are zero.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .... import rotation
from ....goals import AnyGoal, Balance, Distance, Goal, LookAt
from ....rotation import Array, to_matrix
from ....skeleton import Flags, Skeleton
from ...batches import flat_array
from .. import numbers
from ..tree import Kinematics, Links, LinkTree
from .blocks import BalanceBlock, Block, DistanceBlock, Frames, LookAtBlock, PositionBlock, RotationBlock
from .features import Collector


class GoalRows:
    """The goals of one problem as K blocks with targets and weights for the F frames of the batch.

    Blocks: the plain positions, the plain rotations, then all others; rows in that order unless said otherwise.
    """

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[AnyGoal], batch_shape: tuple[int, ...], root: str | float,
        stretch: bool, axes: Array | None, root_bone: int | None = None,
    ) -> None:  # fmt: skip
        self.goals = tuple(goals)
        self.batch_shape = batch_shape
        self.unit = skeleton.size
        collector = Collector(skeleton)
        positions = [i for i, goal in enumerate(goals) if isinstance(goal, Goal) and _is_plain_position(goal)]
        rotations = [i for i, goal in enumerate(goals) if isinstance(goal, Goal) and _is_plain_rotation(goal)]
        for i in positions:
            collector.point(goals[i].bone, goals[i].point)  # pyright: ignore
        for i in rotations:
            collector.end(goals[i].bone)
        self.plain_points, self.plain_ends = len(positions), len(rotations)
        owners = [*positions, *rotations]
        self.blocks: list[Block] = []
        for i, goal in enumerate(goals):
            made = _blocks_of(goal, collector)
            self.blocks += made
            owners += [i] * len(made)
        self.owners: NDArray[np.int64] = np.array(owners, int)  # (K,) goals of the blocks
        self.blocks_of = [np.flatnonzero(self.owners == i).tolist() for i in range(len(goals))]  # by goal
        plain = self.plain_points + self.plain_ends
        self.turning: NDArray[np.bool_] = np.array(
            [False] * self.plain_points + [True] * self.plain_ends + [block.turning for block in self.blocks]
        )  # (K,) errors that are angles
        self.one_sided: NDArray[np.int64] = np.array(
            [plain + i for i, block in enumerate(self.blocks) if block.one_sided], int
        )

        priorities = np.array([goals[i].priority for i in owners], int)
        self.order: NDArray[np.int64] = np.argsort(np.repeat(priorities, 3), kind="stable")
        self.priorities, rank, sizes = np.unique(priorities, return_inverse=True, return_counts=True)  # (L,)
        self.levels = [slice(a, b) for a, b in pairwise([0, *np.cumsum(3 * sizes).tolist()])]
        self.block_in_level = np.eye(len(self.levels))[rank.reshape(-1)]  # (K, L)
        self.balances: NDArray[np.bool_] = np.array(
            [all(isinstance(goals[i], Balance) for i in np.array(owners)[of]) for of in self.block_in_level.T > 0.0],
            bool,
        )  # (L,) levels of balances alone
        self.rows = 3 * len(owners)
        self.one_sided_rows = np.argsort(self.order)[3 * self.one_sided]  # in order of priority
        # only plain blocks with equal weights in all directions, as `many_frames` needs them
        self.uniform = not self.blocks and all(getattr(goal, "position_axes", None) is None for goal in goals)

        order = None if self.blocks else self.order  # the tree orders plain rows itself
        self.tree = LinkTree(skeleton, collector.features(), root, stretch, axes, order, root_bone)
        count = int(np.prod(batch_shape, dtype=int))
        self.target_points = np.zeros((count, self.plain_points, 3))
        self.target_ends = np.zeros((count, self.plain_ends, 3, 3))
        self.scales = np.zeros((count, self.rows))
        for index, goal in enumerate(goals):
            self._read(index, goal)

    def with_goal(self, index: int, goal: AnyGoal) -> Self:
        """Return rows with other targets and weights of goal `index`; its bones, points, kinds and priority stay."""
        other = self._with(index, goal)
        for name in ("target_points", "target_ends", "scales", "blocks"):
            setattr(other, name, getattr(self, name).copy())
        other._read(index, goal)
        return other

    def _with(self, index: int, goal: AnyGoal) -> Self:
        other = object.__new__(type(self))
        vars(other).update(vars(self), goals=(*self.goals[:index], goal, *self.goals[index + 1 :]))
        return other

    def _read(self, index: int, goal: AnyGoal) -> None:
        """Read targets and weights of goal `index` into arrays and blocks of its own."""
        for number in self.blocks_of[index]:
            if number < self.plain_points:
                assert isinstance(goal, Goal)
                assert goal.position is not None
                self.target_points[:, number] = self._flat(goal.position) / self.unit
            elif number < self.plain_points + self.plain_ends:
                assert isinstance(goal, Goal)
                assert goal.rotation is not None
                self.target_ends[:, number - self.plain_points] = to_matrix(self._flat(goal.rotation))
            else:
                block = number - self.plain_points - self.plain_ends
                self.blocks[block] = self.blocks[block].aimed(goal, self._flat)
            self.scales[:, 3 * number : 3 * number + 3] = self._scales_of(goal, bool(self.turning[number]))

    def _scales_of(self, goal: AnyGoal, turning: bool) -> Array:
        """Return the square roots of the weights of a block's rows, (F, 3) or (F, 1)."""
        by_axis = None
        if isinstance(goal, Goal):
            weight = goal.rotation_weight if turning else goal.position_weight
            by_axis = goal.rotation_axes if turning else goal.position_axes
        else:
            weight = goal.weight
        scale = np.sqrt(self._flat(weight, 0))[:, None]
        if by_axis is not None:
            scale = scale * np.sqrt(self._flat(by_axis))
        return scale * numbers.ROTATION_LENGTH if turning else scale

    def _flat(self, values: Array | float, tail: int = 1) -> Array:
        """Return values (*batch_shape, ...) broadcast as (F, ...)."""
        return flat_array(values, self.batch_shape, tail)

    def moved(self, index: int, position: Array | None, turn: Array | None) -> Self:
        """Return rows in which goal `index` has another position, rotation or both; plain ones in little time."""
        given = {"position": position, "rotation": turn}
        goal = self.goals[index].at_targets(**{name: part for name, part in given.items() if part is not None})
        blocks = self.blocks_of[index]
        if blocks[-1] >= self.plain_points + self.plain_ends:
            return self.with_goal(index, goal)
        other = self._with(index, goal)
        for number in blocks:
            if number < self.plain_points and position is not None:
                other.target_points = self.target_points.copy()
                other.target_points[:, number] = position / self.unit
            elif number >= self.plain_points and turn is not None:
                other.target_ends = self.target_ends.copy()
                other.target_ends[:, number - self.plain_points] = to_matrix(turn)
        return other

    def on_the_way(self, at: Kinematics, frame: int, levels: Flags, far: float) -> Iterator[Self]:
        """Yield rows whose plain targets of some levels (L,) go from where a frame is to these.

        `far` at a time, or more where that is less than a hundredth of the way.
        """
        points, plain = self.plain_points, self.plain_points + self.plain_ends
        gaps = self.vectors(at, np.array([frame]))[0, :plain] * (self.block_in_level[:plain] @ levels)[:, None]
        step = max(far / float(rotation.lengths(gaps).max(initial=far)), 0.01)
        for left in 1.0 - np.arange(step, 1.0, step):
            other = self._with(0, self.goals[0])
            other.target_points, other.target_ends = self.target_points.copy(), self.target_ends.copy()
            other.target_points[frame] -= left * gaps[:points]
            other.target_ends[frame] = to_matrix(rotation.exp(-left * gaps[points:])) @ self.target_ends[frame]
            yield other

    def vectors(self, at: Kinematics, frames: Frames) -> Array:
        """Return e of the blocks, (B, K, 3)."""
        plain, points = self.plain_points + self.plain_ends, self.plain_points
        vectors = np.empty((len(at.x), len(self.owners), 3))
        np.subtract(self.target_points[frames], at.points[:, :points], out=vectors[:, :points])
        if self.plain_ends:
            vectors[:, points:plain] = self.turns(at, frames)
        for number, block in enumerate(self.blocks):
            vectors[:, plain + number] = block.error(at, frames)
        return vectors

    def turns(self, at: Kinematics, frames: Frames) -> Array:
        """Return e of the plain rotations, (B, ends, 3)."""
        return rotation_vectors(self.target_ends[frames] @ np.swapaxes(at.ends[:, : self.plain_ends], -1, -2))

    def lengths(self, at: Kinematics, frames: Frames) -> Array:
        """Return by what goals are missed, (B, K): distances in units of size and angles in radians.

        0 where a goal is off or a bound is kept.
        """
        vectors, scales = self.vectors(at, frames), self.scales[frames]
        if len(self.one_sided):
            vectors[:, self.one_sided, 0] = np.minimum(vectors[:, self.one_sided, 0], 0.0)
        vectors *= scales.reshape(vectors.shape) > 0.0  # free axes have no error
        return np.sqrt(np.sum(vectors * vectors, axis=-1))

    def ordered_scales(self, frames: Frames) -> Array:
        """Return the square roots of the weights (B, M) in order of priority."""
        return self.scales[frames][:, self.order]

    def jacobian(self, links: Links, at: Kinematics, scales: Array, frames: Frames, raw: Array | None = None) -> Array:
        """Return the rows (B, M, D) in order of priority, times `scales` (B, M); the next call overwrites them.

        raw: the features' Jacobian `Links.jacobian`, where it is known already.
        """
        if not self.blocks:
            return links.jacobian(at, scales) if raw is None else raw * scales[..., None]
        tree, points, plain = self.tree, self.plain_points, self.plain_points + self.plain_ends
        if raw is None:
            raw = links.jacobian(at, np.ones((len(at.x), tree.rows)))
        result = tree.workspace("goals", len(raw), self.rows, tree.degrees)
        result[:, : 3 * points] = raw[:, : 3 * points]
        start = 3 * len(tree.point_nodes)
        result[:, 3 * points : 3 * plain] = raw[:, start : start + 3 * self.plain_ends]
        for number, block in enumerate(self.blocks):
            row = 3 * (plain + number)
            result[:, row : row + 3] = block.rows(links, at, raw, frames)
        return result[:, self.order] * scales[..., None]

    def errors_of_goals(self, lengths: Array) -> tuple[Array, Array]:
        """Return the position errors (B, G), armature units, and rotation errors (B, G), radians, of the goals."""
        position, turned = np.zeros((2, len(lengths), len(self.goals)))
        for number, (owner, turning) in enumerate(zip(self.owners.tolist(), self.turning.tolist(), strict=True)):
            if turning:
                turned[:, owner] = lengths[:, number]
            else:
                position[:, owner] = lengths[:, number] * self.unit
        return position, turned


def rotation_vectors(matrices: Array) -> Array:
    """Return the rotation vectors (..., 3) of rotation matrices (..., 3, 3)."""
    vector = 0.5 * np.stack(
        [
            matrices[..., 2, 1] - matrices[..., 1, 2],
            matrices[..., 0, 2] - matrices[..., 2, 0],
            matrices[..., 1, 0] - matrices[..., 0, 1],
        ],
        axis=-1,
    )
    cosine = 0.5 * (matrices[..., 0, 0] + matrices[..., 1, 1] + matrices[..., 2, 2] - 1.0)
    sine = np.sqrt(np.sum(vector * vector, axis=-1))
    small = sine < numbers.DAMPING
    if (small & (cosine < 0.0)).any():  # half a turn, about an axis that these differences do not tell
        return rotation.log(rotation.from_matrix(matrices))
    return vector * np.where(small, 1.0, np.arctan2(sine, cosine) / np.maximum(sine, numbers.DAMPING))[..., None]


def _is_plain_position(goal: Goal) -> bool:
    return goal.position is not None and goal.relative_to is None and (goal.axes is None or goal.position_axes is None)


def _is_plain_rotation(goal: Goal) -> bool:
    return goal.rotation is not None and goal.relative_to is None and goal.rotation_axes is None


def _blocks_of(goal: AnyGoal, collector: Collector) -> list[Block]:
    """Return the blocks of a goal that are not plain."""
    match goal:
        case LookAt():
            return [LookAtBlock(goal, collector)]
        case Distance():
            return [DistanceBlock(goal, collector)]
        case Balance():
            return [BalanceBlock(goal, collector)]
        case Goal():
            blocks: list[Block] = []
            if goal.position is not None and not _is_plain_position(goal):
                blocks.append(PositionBlock(goal, collector))
            if goal.rotation is not None and not _is_plain_rotation(goal):
                blocks.append(RotationBlock(goal, collector))
            return blocks
