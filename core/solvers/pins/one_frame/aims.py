"""What the goals of one frame are missed by, read from the features in as few calls as possible."""

from typing import Final

import numpy as np

from .... import rotation
from ....rotation import Array
from ..goals.rows import GoalRows
from ..problem import Problem
from .placed import Placed

_TINY: Final = float(np.finfo(float).tiny)


class Aims:
    """Targets and weights of the goals of one frame, and the errors.

    Plain goals are read from the features in one product; others make their errors from those of the features.
    """

    def __init__(self, problem: Problem, frame: int) -> None:
        self.goals, self.frame, self.one = problem.rows, frame, np.array([frame])
        rows = self.goals
        points, ends = len(rows.tree.point_nodes), len(rows.tree.end_nodes)
        self.points = points
        self.blocks = rows.order[::3] // 3  # in the order of the levels
        self.member = np.repeat(rows.block_in_level[self.blocks], 3, axis=0)  # (M, L)
        self.sided = rows.one_sided_rows
        goals, turning = np.eye(len(rows.goals))[rows.owners], rows.turning[:, None]
        self.goal_errors = np.hstack([goals * ~turning * problem.skeleton.size, goals * turning])
        place = np.argsort(rows.tree.order[::3] // 3)  # of the points, then of the ends
        self.plain_features = np.concatenate([np.arange(rows.plain_points), points + np.arange(rows.plain_ends)])
        others = points + ends + np.arange(len(self.blocks) - len(self.plain_features))
        self.features = np.concatenate([self.plain_features, others])[self.blocks]  # then goals that are not plain
        self.end_blocks = place[points:]
        self.point_rows = (3 * place[:points, None] + np.arange(3)).ravel()
        self.targets = np.zeros(3 * len(place))
        # The product of the features with `reader` are the points, minus the skew part of the ends' errors
        # target end^T, which is linear in the end, and the traces of these errors.
        reader = np.zeros((len(place), 4, 4, 3 * len(place) + ends))
        for point in range(points):
            reader[point, [0, 1, 2], 3, 3 * place[point] + np.arange(3)] = 1.0
        self.reader = reader.reshape(16 * len(place), -1)
        columns = np.column_stack([3 * self.end_blocks[:, None] + np.arange(3), 3 * len(place) + np.arange(ends)])
        entries = np.arange(reader.size).reshape(reader.shape)[points:, :3, :3]
        entries = [entry[..., column].transpose(2, 0, 1) for entry, column in zip(entries, columns, strict=True)]
        self.end_entries = np.array(entries, int).reshape(-1, 4, 3, 3)
        self.end_readers = np.concatenate([0.5 * rotation.skew(np.eye(3)), np.eye(3)[None]])
        self._read_goals()

    def aim(self, goals: GoalRows) -> None:
        """Take over the targets and weights of goals, which have the same blocks."""
        before, self.goals = self.goals, goals
        if goals.scales is not before.scales or goals.target_ends is not before.target_ends:
            self._read_goals()
        elif goals.target_points is not before.target_points:
            self._read_points()

    def _read_goals(self) -> None:
        goals = self.goals
        self.scales = goals.scales[self.frame][goals.order]
        self.on = self.scales > 0.0
        self.target_ends = goals.target_ends[self.frame]
        self.reader.put(self.end_entries[: len(self.target_ends)], self.end_readers @ self.target_ends[:, None])
        self._read_points()

    def _read_points(self) -> None:
        points = self.goals.target_points[self.frame]
        self.targets[self.point_rows[: points.size]] = points.ravel()

    def compare(self, at: Placed) -> None:
        """Set the errors from the targets."""
        at.read = at.seen.dot(self.reader)
        errors = self.targets - at.read[: len(self.targets)]
        rows, plain = errors.reshape(-1, 3), len(self.target_ends)
        if plain:
            own, traces = self.end_blocks[:plain], at.read[len(self.targets) :][:plain]
            if min(traces.tolist()) <= 1.0:  # more than a right angle
                ends = at.seen.reshape(-1, 4, 4)[self.points : self.points + plain, :3, :3]
                rows[own] = rotation.log(rotation.from_matrix(self.target_ends @ ends.transpose(0, 2, 1)))
            else:
                skew = rows[own]
                sines = np.sqrt((skew * skew).dot(rotation.ONES))
                angles = np.arctan2(sines, 0.5 * traces - 0.5)
                rows[own] = skew * (angles / np.maximum(sines, _TINY))[:, None]
        if self.goals.blocks:
            further = [block.error(at.kinematics, self.one) for block in self.goals.blocks]
            errors = np.concatenate([rows, *further]).take(self.features, axis=0).ravel()
        at.vectors = errors
        at.rows = errors * self.scales
        at.sizes = self.sizes(at.rows)

    def sizes(self, rows: Array) -> Array:
        """Return the lengths (L,) of rows (M,) by level."""
        rows = self.pressing(rows)
        return np.sqrt((rows * rows).dot(self.member))

    def pressing(self, rows: Array) -> Array:
        """Return rows (M,) with zeros where a bound is kept."""
        if len(self.sided):
            rows = rows.copy()
            rows[self.sided] = np.minimum(rows[self.sided], 0.0)
        return rows

    def lengths(self, at: Placed) -> Array:
        """Return the distances and angles (K,) that goals are missed by."""
        missing = (self.pressing(at.vectors) * self.on).reshape(-1, 3)  # free axes have no error
        lengths = np.empty(len(self.blocks))
        lengths[self.blocks] = np.sqrt((missing * missing).dot(rotation.ONES))
        return lengths

    def errors(self, lengths: Array) -> tuple[Array, Array]:
        """Return by what goals are missed: positions (G,), armature units, and rotations (G,); lengths (K,)."""
        errors = lengths.dot(self.goal_errors)
        goals = len(errors) // 2
        return errors[:goals], errors[goals:]
