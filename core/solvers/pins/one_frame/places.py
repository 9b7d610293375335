"""Where the features of one frame are at x: forward kinematics, errors and Jacobian in as few calls as possible."""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .... import rotation
from ....rotation import Array
from ..goals.rows import GoalRows
from ..problem import Problem
from ..tree import Kinematics, Links, as_slice
from .limits import FrameLimits
from .placed import Placed

_NOTHING: Final = np.zeros(0)
_ORDINARY_TRACE: Final = 2.9  # least trace of an error rotation whose vector is its skew part, to 2 %: 18 degrees


class Places:
    """Forward kinematics of one frame of a rigid body.

    Plain goals are read from the features in one product; others make their errors and rows from those of the features.
    """

    def __init__(self, problem: Problem, links: Links, frame: int) -> None:
        self.goals, self.frame = problem.rows, frame
        self.unit, self.tolerances = problem.skeleton.size, problem.tolerances
        tree = problem.tree
        self.one, self.links = np.array([frame]), links[np.array([frame])]
        self.joints = tree.joints
        self.turning = 3 * len(tree.joints)
        self.points, self.ends = len(tree.point_nodes), len(tree.end_nodes)
        self._prepare_pose(problem)
        self.limits = FrameLimits(problem, frame)
        # forward kinematics; a slice costs half of an index array
        nodes = len(tree.nodes)
        self.joint_places, self.root_places = tree.joint_places, as_slice(tree.roots)
        parents = np.append(np.where(tree.parents < 0, nodes, tree.parents), nodes)
        self.jumps: list[tuple[int, NDArray[np.int64]]] = []
        while (parents != nodes).any():
            first = int(np.argmax(parents != nodes))  # nodes are in the order of their depth
            self.jumps.append((first, parents[first:]))
            parents = parents[parents]
        self.to_frames = self._turns_to_frames(links.turn[frame, self.joints])
        self.turned_shape = (len(self.joints), self.to_frames.shape[2] // 9, 3, 3)
        self.local = np.tile(np.eye(4), (nodes + 1, 1, 1))
        self.local[:-1, :3, :3], self.local[:-1, :3, 3] = links.turn[frame], links.shift[frame]
        slide = links.slide[frame]
        self.root_heads = links.shift[frame, tree.roots].ravel()
        # (3 T, 3 T): a block for each root
        self.slide = np.einsum("rij,rs->risj", slide, np.eye(len(slide))).reshape(3 * len(slide), 3 * len(slide))
        # features, points and then ends, as frames in the frames of their nodes
        self.feature_nodes = np.concatenate([tree.point_nodes, tree.end_nodes])
        self.features = np.tile(np.eye(4), (self.points + self.ends, 1, 1))
        self.features[: self.points, :3, 3] = links.arms[frame]
        self.features[self.points :, :3, :3] = links.ends[frame]
        self._prepare_rows()
        # the Jacobian: columns are turns, then shifts, as velocities at the origin; overwritten each time
        self.mask = tree.mask
        self.constant, self.lever = tree.lever_constant, np.zeros((self.reader.shape[1], 6 * tree.rows))
        self.lever[self.point_rows] = tree.lever_slope
        spatial = np.zeros((6, len(self.joints) + len(slide), 3))
        spatial[3:, len(self.joints) :] = slide.transpose(1, 0, 2)
        by_joint = spatial[:, : len(self.joints)].transpose(1, 0, 2)
        self.columns, self.turn_axes, self.turn_moments = spatial.reshape(6, -1), by_joint[:, :3], by_joint[:, 3:]
        self._read_goals()

    def _prepare_pose(self, problem: Problem) -> None:
        """Set the constants from x to the channels of a pose."""
        tree = problem.tree
        bones, roots = tree.nodes[tree.joints], tree.nodes[tree.roots]
        self.joint_bones, self.root_bones = as_slice(bones), as_slice(roots)
        start, reference, frame = problem.start, problem.reference, self.frame
        self.start_rotations, self.start_translations = start.rotations[frame], start.translations[frame]
        self.root_references = reference.translations[frame, roots]
        # x is about the axes E (see `tree`): q_reference E exp(x) E^-1
        self.axes = None if tree.axes is None else tree.axes[tree.joints]
        after_reference = rotation.mul(reference.rotations[frame, bones][:, None], np.eye(4)).transpose(0, 2, 1)
        if self.axes is not None:
            after_reference[:, :, 1:] = after_reference[:, :, 1:] @ self.axes
        self.to_quaternions = after_reference

    def _prepare_rows(self) -> None:
        """Set the constants from features to errors, rows and blocks of three in the order of the levels.

        The product of the features with `reader` are the points, minus the skew part of the ends' errors target end^T,
        which is linear in the end, and the traces of these errors.
        """
        rows = self.goals
        self.blocks = rows.order[::3] // 3
        self.sided = rows.one_sided_rows
        goals = np.eye(len(rows.goals))[rows.owners[self.blocks]]
        turning = rows.turning[self.blocks, None]
        self.goal_errors = np.hstack([goals * ~turning * self.unit, goals * turning])
        place = np.argsort(rows.tree.order[::3] // 3)  # of the points, then of the ends
        plain, ends = rows.plain_points, self.points + np.arange(rows.plain_ends)
        self.plain_features = np.concatenate([np.arange(plain), ends])  # where there are goals that are not plain
        self.end_blocks = place[self.points :]
        self.point_rows = (3 * place[: self.points, None] + np.arange(3)).ravel()
        self.targets, self.unweighted = np.zeros(3 * len(place)), np.ones((1, rows.rows))
        reader = np.zeros((len(place), 4, 4, 3 * len(place) + self.ends))
        for point in range(self.points):
            reader[point, [0, 1, 2], 3, 3 * place[point] + np.arange(3)] = 1.0
        self.reader = reader.reshape(16 * len(place), -1)
        columns = np.column_stack([3 * self.end_blocks[:, None] + np.arange(3), 3 * len(place) + np.arange(self.ends)])
        entries = np.arange(reader.size).reshape(reader.shape)[self.points :, :3, :3]
        entries = [entry[..., column].transpose(2, 0, 1) for entry, column in zip(entries, columns, strict=True)]
        self.end_entries = np.array(entries, int).reshape(-1, 4, 3, 3)
        self.end_readers = np.concatenate([0.5 * rotation.skew(np.eye(3)), np.eye(3)[None]])

    def _turns_to_frames(self, turn: Array) -> Array:
        """Return (R, 10, 9 or 18): features of exp, see `rotation.exp_terms`, to local frames and limited rotations.

        A product with a constant in front is linear in the entries: (A X B)[i, k] = sum of A[i, j] B[l, k] X[j, l].
        """
        eye, count = np.eye(3), len(turn)
        parts = [np.einsum("nij,kl->njlik", turn, eye)]
        if self.limits.groups:
            base, axes = np.zeros_like(turn), np.tile(eye, (count, 1, 1)) if self.axes is None else self.axes
            for own, member in zip(self.limits.base, self.limits.members, strict=True):
                base[member] = own
            parts.append(np.einsum("nij,nkl->njlik", base, axes))
        return np.concatenate([rotation.FEATURES_TO_MATRIX @ part.reshape(count, 9, 9) for part in parts], axis=2)

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

    def place(self, x: Array) -> Placed:
        """Return the forward kinematics, errors and limit coordinates at x (D,)."""
        at = Placed()
        at.x = x
        at.features, at.powers = rotation.exp_terms(x[: self.turning].reshape(-1, 3))
        features = at.powers.dot(rotation.POWERS_TO_TURN) * at.features
        turned = (features[:, None] @ self.to_frames).reshape(self.turned_shape)
        frames = self.local.copy()
        frames[self.joint_places, :3, :3] = turned[:, 0]
        if len(self.slide):
            frames[self.root_places, :3, 3] = (self.root_heads + self.slide.dot(x[self.turning :])).reshape(-1, 3)
        for first, jump in self.jumps:
            frames[first:] = frames.take(jump, axis=0) @ frames[first:]
        at.frames = frames
        at.seen = (frames.take(self.feature_nodes, axis=0) @ self.features).ravel()
        limits = self.limits
        at.own = [turned[:, 1].take(member, axis=0) for member in limits.members]
        at.angles = [group.coordinates(own) for group, own in zip(limits.groups, at.own, strict=True)]
        at.values = np.concatenate([_NOTHING, *at.angles], axis=None)
        if self.goals.blocks:
            at.kinematics = self._kinematics(at)
        self.compare(at)
        return at

    def _kinematics(self, at: Placed) -> Kinematics:
        """Return what goals that are not plain are made from."""
        seen, tree = at.seen.reshape(-1, 4, 4), self.goals.tree
        heavy = at.frames.take(tree.mass_nodes, axis=0)
        masses = (heavy[:, :3, :3] @ self.links.centres[0, :, :, None])[..., 0] + heavy[:, :3, 3]
        points, ends = seen[: self.points, :3, 3], seen[self.points :, :3, :3]
        none = np.zeros((1, 0, 3, 3))
        return Kinematics(at.x[None], at.frames[None, :-1], none, none, points[None], ends[None], masses[None])

    def compare(self, at: Placed) -> None:
        """Set the errors from the targets."""
        at.read = at.seen.dot(self.reader)
        errors = self.targets - at.read[: len(self.targets)]
        rows, plain = errors.reshape(-1, 3), len(self.target_ends)
        if plain and min(at.read[len(self.targets) :][:plain].tolist()) <= _ORDINARY_TRACE:
            ends = at.seen.reshape(-1, 4, 4)[self.points : self.points + plain, :3, :3]
            off = self.target_ends @ ends.transpose(0, 2, 1)
            rows[self.end_blocks[:plain]] = rotation.log(rotation.from_matrix(off))
        if self.goals.blocks:
            further = [block.error(at.kinematics, self.one) for block in self.goals.blocks]
            errors = np.concatenate([rows[self.plain_features], *further])[self.blocks].ravel()
        at.vectors = errors
        at.rows = errors * self.scales

    def inside(self, at: Placed) -> Placed:
        """Return the place with joints clamped that are outside their limits."""
        x = self.limits.clamped(at)
        return at if x is None else self.place(x)

    def channels(self, at: Placed) -> tuple[Array, Array]:
        """Return the rotations (J, 4) and translations (J, 3) of a pose."""
        rotations, translations = self.start_rotations.copy(), self.start_translations
        quaternions = at.powers.dot(rotation.POWERS_TO_QUATERNION) * at.features[:, :4]
        rotations[self.joint_bones] = (self.to_quaternions @ quaternions[:, :, None])[:, :, 0]
        if len(self.slide):
            translations = translations.copy()
            shifts = at.x[self.turning :].reshape(-1, 3) * self.unit
            translations[self.root_bones] = self.root_references + shifts
        return rotations, translations

    def lengths(self, at: Placed) -> Array:
        """Return the distances and angles (K,) that goals are missed by, in the order of their blocks."""
        lengths = np.empty(len(self.blocks))
        lengths[self.blocks] = self._missing(at)
        return lengths

    def _missing(self, at: Placed) -> Array:
        """Return the same in level order."""
        missing = self.pressing(at.vectors) * self.on  # free axes have no error
        return rotation.lengths(missing.reshape(-1, 3))

    def pressing(self, rows: Array) -> Array:
        """Return rows (M,) with zeros where a bound is kept."""
        if len(self.sided):
            rows = rows.copy()
            rows[self.sided] = np.minimum(rows[self.sided], 0.0)
        return rows

    def errors(self, at: Placed) -> tuple[Array, Array, bool]:
        """Return the errors of goals: of positions (G,), armature units, of rotations (G,), and whether all are met."""
        lengths = self._missing(at)
        errors = lengths.dot(self.goal_errors)
        goals = len(errors) // 2
        return errors[:goals], errors[goals:], bool((lengths <= self.tolerances[self.blocks]).all())

    def rates(self, at: Placed) -> Array:
        """Return the right Jacobians of exp (R, 3, 3)."""
        features = at.powers.dot(rotation.POWERS_TO_RATE) * at.features
        return features.dot(rotation.FEATURES_TO_MATRIX).reshape(-1, 3, 3)

    def jacobian(self, at: Placed, rates: Array) -> tuple[Array, Array]:
        """Return the rows (M, D) in level order, and those of the features."""
        frames = at.frames[self.joint_places]
        np.matmul(frames[:, :3, :3], rates, out=self.turn_axes)
        np.matmul(frames[:, :3, 3].dot(rotation.SKEW).reshape(-1, 3, 3), self.turn_axes, out=self.turn_moments)
        levers = self.constant + at.read.dot(self.lever).reshape(-1, 6)
        raw = levers.dot(self.columns) * self.mask
        if not self.goals.blocks:
            return raw, raw
        at.kinematics = replace(at.kinematics, rates=rates[None])
        return self.goals.jacobian(self.links, at.kinematics, self.unweighted, self.one, raw[None])[0], raw
