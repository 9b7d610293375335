"""The steps of one frame of a drag, in as few numpy calls as possible.

With 20 joints and 20 rows every array is tiny, and a call costs more than its arithmetic. All that stays from tick to
tick is therefore folded into constants: local frames and own rotations of all joints are one product, forward
kinematics jumps pointers (log2 of the depth products instead of one per level), errors, levers and the order of rows
are constant matrices, and limits cost something only where one is active. Plain Python compares a handful of numbers: a
numpy reduction costs as much as a product. `dot` costs half of `@` for two matrices. `steps` is the reference; tests
compare the two.
"""

from dataclasses import dataclass
from operator import le
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...rotation import Array
from . import descent, numbers
from .tree import as_slice

if TYPE_CHECKING:
    from .problem import Problem

_NO_SIDE: Final = 1e-3  # force below which nothing bends a straight joint to either side
_ORDINARY_TRACE: Final = 2.9  # least trace of an error rotation whose vector is its skew part, to 2 %: 18 degrees

_ONES: Final = np.ones(3)

Flags = NDArray[np.bool_]


class _Placed:
    """One x with its forward kinematics, errors and limit coordinates."""

    __slots__ = (
        "angles",
        "features",
        "frames",
        "lengths2",
        "met",
        "own",
        "powers",
        "read",
        "rows",
        "seen",
        "values",
        "x",
    )

    x: Array
    features: Array  # (R, 10) of the joints' rotation vectors, see `rotation.exp_terms`
    powers: Array  # (R, n)
    frames: Array  # (N + 1, 4, 4), the last one the identity
    seen: Array  # (16 K,) points and ends as frames
    read: Array  # (3 K + Q,) points, errors of ends, in level order, and the traces of these errors
    rows: Array  # (M,) weighted errors in level order
    lengths2: Array  # (K,) squared distances and angles in level order
    met: bool  # whether all of them are within tolerance
    own: list[Array]  # own rotations of the limited bones, by group
    angles: list[Array]  # their limit coordinates, by group
    values: Array  # (L,) all limit coordinates


@dataclass(frozen=True, eq=False)
class _Local:
    """What is minimised about one place, to second order, in deviations; see `descent`."""

    at: _Placed
    rates: Array  # (R, 3, 3) right Jacobians of exp
    rows: Array  # (M, D) weighted
    hessian: Array  # (D, D) of the prior and the curvature of rows
    slope: Array  # (D,) of the prior
    sizes: Array  # (L,) |E_l|
    strengths: Array  # (L,)
    springs: Array  # (L,) error of a level by a unit of its force


@dataclass(frozen=True, eq=False)
class _Found:
    """A step in deviations, and what it has found."""

    step: Array  # (D,)
    forces: Array  # (M,) of held rows
    held: Array  # (M,) 1 for rows of levels that hold
    answers: Array  # (D, M) to the pull of each held row
    gram: Array  # (M, M) the same, seen by the held rows
    push: Array  # (D,) of x against the active limits
    slopes: dict[int, list[float]]  # of the active limits
    stiffness: float  # curvature of the model along the step


class FrameSolver:
    """The steps of a problem with one frame that does not settle: a rigid body with plain goals and hard limits."""

    def __init__(self, problem: "Problem") -> None:
        self.problem = problem
        tree, rows, links = problem.tree, problem.rows, problem.links
        self.joints = tree.joints
        self.turning = 3 * len(tree.joints)
        self.points, self.ends = len(tree.point_nodes), len(tree.end_nodes)
        self._prepare_pose()
        self._prepare_limits()
        # forward kinematics; a slice costs half of an index array
        nodes = len(tree.nodes)
        self.joint_places, self.root_places = tree.joint_places, as_slice(tree.roots)
        parents = np.append(np.where(tree.parents < 0, nodes, tree.parents), nodes)
        self.jumps: list[tuple[int, NDArray[np.int64]]] = []
        while (parents != nodes).any():
            first = int(np.argmax(parents != nodes))  # nodes are in the order of their depth
            self.jumps.append((first, parents[first:]))
            parents = parents[parents]
        self.to_frames = self._turns_to_frames(links.turn[0, self.joints])
        self.turned_shape = (len(self.joints), self.to_frames.shape[2] // 9, 3, 3)
        self.local = np.tile(np.eye(4), (nodes + 1, 1, 1))
        self.local[:-1, :3, :3], self.local[:-1, :3, 3] = links.turn[0], links.shift[0]
        slide = links.slide[0]
        self.root_heads = links.shift[0, tree.roots].ravel()
        # (3 T, 3 T): a block for each root
        self.slide = np.einsum("rij,rs->risj", slide, np.eye(len(slide))).reshape(3 * len(slide), 3 * len(slide))
        # features, points and then ends, as frames in the frames of their nodes
        self.feature_nodes = np.concatenate([tree.point_nodes, tree.end_nodes])
        self.features = np.tile(np.eye(4), (self.points + self.ends, 1, 1))
        self.features[: self.points, :3, 3] = links.arms[0]
        self.features[self.points :, :3, :3] = links.ends[0]
        self._prepare_rows()
        # the Jacobian: columns are turns, then shifts, as velocities at the origin; overwritten each time
        self.mask = tree.mask
        self.constant, self.lever = tree.lever_constant, np.zeros((self.reader.shape[1], 6 * tree.rows))
        self.lever[self.point_rows] = tree.lever_slope
        spatial = np.zeros((6, len(self.joints) + len(slide), 3))
        spatial[3:, len(self.joints) :] = slide.transpose(1, 0, 2)
        by_joint = spatial[:, : len(self.joints)].transpose(1, 0, 2)
        self.columns, self.turn_axes, self.turn_moments = spatial.reshape(6, -1), by_joint[:, :3], by_joint[:, 3:]
        self.spread, self.stiff = descent.spreads(problem.variance)
        self.deviations: list[list[float]] = self.spread[: self.turning].reshape(-1, 3).tolist()
        self.bends = problem.bends()
        self.both = np.multiply.outer(self.spread, self.spread)
        self.above = descent.order_of(tree)
        self.eye = np.eye(len(self.spread))
        self.levels = rows.levels
        self.member_of_row = np.repeat(self.member, 3, axis=0)  # (M, L)
        self.forces: Array = np.zeros(tree.rows)
        self.slips: Flags = np.zeros(len(rows.levels), bool)
        half = np.where(rows.turning[self.blocks], 0.5, 1.0)
        self.half = np.repeat(half, 3)
        self.nothing = np.zeros(0)
        self.at: _Placed | None = None
        self.read_goals()

    def _prepare_pose(self) -> None:
        """Set the constants from x to the channels of a pose."""
        problem, tree = self.problem, self.problem.tree
        bones, roots = tree.nodes[tree.joints], tree.nodes[tree.roots]
        self.joint_bones, self.root_bones = as_slice(bones), as_slice(roots)
        self.start_rotations, self.start_translations = problem.start.rotations[0], problem.start.translations[0]
        self.root_references = problem.reference.translations[0, roots]
        # x is about the axes E (see `tree`): q_reference E exp(x) E^-1
        self.axes = None if tree.axes is None else tree.axes[tree.joints]
        after_reference = rotation.mul(problem.reference.rotations[0, bones][:, None], np.eye(4)).transpose(0, 2, 1)
        if self.axes is not None:
            after_reference[:, :, 1:] = after_reference[:, :, 1:] @ self.axes
        self.to_quaternions = after_reference

    def _prepare_limits(self) -> None:
        """Set the bounds, with their slack, and the locked rows."""
        groups = self.problem.limit_rows
        self.groups = [group.at_frames(np.array(0)) for group in groups.groups]
        self.members = groups.members
        self.owner: list[int] = groups.joint.tolist()
        self.base = np.split(groups.base[0], np.cumsum([len(member) for member in groups.members])[:-1])
        self.lower, self.upper = groups.lower[0], groups.upper[0]
        self.inactive = np.zeros(len(self.lower), bool)
        self.real = as_slice(np.flatnonzero(groups.real))  # limits that are no locked channels
        self.row_of = [  # group, bone in it and coordinate of a row
            (number, index, coordinate)
            for number, group in enumerate(self.groups)
            for index, coordinate in np.ndindex(group.lower.shape)
        ]
        self.floor, self.ceiling = self.lower - numbers.LIMIT_SLACK, self.upper + numbers.LIMIT_SLACK
        self.lowest, self.highest = self.lower - 10.0 * numbers.LIMIT_SLACK, self.upper + 10.0 * numbers.LIMIT_SLACK
        self.locked = set(np.flatnonzero(self.upper - self.lower < numbers.LIMIT_SLACK).tolist())
        self.active = {row: float(self.lower[row]) for row in self.locked}  # row -> the bound it is held at

    def _prepare_rows(self) -> None:
        """Set the constants from features to errors, rows and blocks of three in the order of the levels.

        The product of the features with `reader` are the points, minus the skew part of the ends' errors target end^T,
        which is linear in the end, and the traces of these errors.
        """
        problem, rows = self.problem, self.problem.rows
        self.blocks = rows.order[::3] // 3
        self.member = rows.block_in_level[self.blocks]
        goals = np.eye(len(problem.goals))[rows.owners[self.blocks]]
        turning = rows.turning[self.blocks, None]
        self.goal_errors = np.hstack([goals * ~turning * problem.unit, goals * turning])
        place = np.argsort(self.blocks)  # of the points' blocks, then of those of the ends
        self.end_blocks = place[self.points :]
        self.point_rows = (3 * place[: self.points, None] + np.arange(3)).ravel()
        self.targets = np.zeros(3 * len(place))
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
        if self.groups:
            base, axes = np.zeros_like(turn), np.tile(eye, (count, 1, 1)) if self.axes is None else self.axes
            for own, member in zip(self.base, self.members, strict=True):
                base[member] = own
            parts.append(np.einsum("nij,nkl->njlik", base, axes))
        return np.concatenate([rotation.FEATURES_TO_MATRIX @ part.reshape(count, 9, 9) for part in parts], axis=2)

    def read_goals(self) -> None:
        """Read the problem's targets and weights again."""
        problem, rows = self.problem, self.problem.rows
        self.target_points = rows.target_points[0]
        self.target_ends = rows.target_ends[0]
        self.scales = rows.scales[0][rows.order]
        scales = self.scales[::3]
        self.on = scales > 0.0
        self.tolerance2: list[float] = np.where(self.on, problem.tolerances[self.blocks] ** 2, np.inf).tolist()
        self.read_targets()

    def read_targets(self, turned: bool = True) -> None:
        """Read the problem's targets again; `turned`: also those of rotations."""
        self.targets[self.point_rows] = self.target_points.ravel()
        if turned:
            self.reader.put(self.end_entries, self.end_readers @ self.target_ends[:, None])

    def place(self, x: Array) -> _Placed:
        """Return the forward kinematics, errors and limit coordinates at x (D,)."""
        at = _Placed()
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
        at.own = [turned[:, 1].take(member, axis=0) for member in self.members]
        at.angles = [group.coordinates(own) for group, own in zip(self.groups, at.own, strict=True)]
        at.values = np.concatenate([self.nothing, *at.angles], axis=None)
        self.compare(at)
        return at

    def compare(self, at: _Placed) -> None:
        """Set the errors from the targets."""
        at.read = at.seen.dot(self.reader)
        errors = self.targets - at.read[: len(self.targets)]
        rows = errors.reshape(-1, 3)
        if self.ends and min(at.read[len(self.targets) :].tolist()) <= _ORDINARY_TRACE:
            ends = at.seen.reshape(-1, 4, 4)[self.points :, :3, :3]
            off = self.target_ends @ ends.transpose(0, 2, 1)
            rows[self.end_blocks] = rotation.log(rotation.from_matrix(off))
        at.lengths2 = (rows * rows).dot(_ONES)
        squares: list[float] = at.lengths2.tolist()
        at.met = all(map(le, squares, self.tolerance2))
        at.rows = errors * self.scales

    def channels(self) -> tuple[Array, Array]:
        """Return the rotations (J, 4) and translations (J, 3) of the last pose."""
        at = self.at
        assert at is not None
        rotations, translations = self.start_rotations.copy(), self.start_translations
        quaternions = at.powers.dot(rotation.POWERS_TO_QUATERNION) * at.features[:, :4]
        rotations[self.joint_bones] = (self.to_quaternions @ quaternions[:, :, None])[:, :, 0]
        if len(self.slide):
            translations = translations.copy()
            shifts = at.x[self.turning :].reshape(-1, 3) * self.problem.unit
            translations[self.root_bones] = self.root_references + shifts
        return rotations, translations

    def errors(self) -> tuple[Array, Array]:
        """Return the position errors (G,) in armature units and rotation errors (G,), radians, of the last pose."""
        assert self.at is not None
        errors = (np.sqrt(self.at.lengths2) * self.on).dot(self.goal_errors)
        goals = len(errors) // 2
        return errors[:goals], errors[goals:]

    def heads_and_frames(self) -> tuple[Array, Array]:
        """Return the heads (J, 3), armature units, and frames (J, 3, 3) of bones that move goals; 0 for others."""
        assert self.at is not None
        tree, frames = self.problem.tree, self.at.frames[:-1]
        heads, turns = np.zeros((len(tree.skeleton), 3)), np.zeros((len(tree.skeleton), 3, 3))
        heads[tree.nodes] = frames[:, :3, 3] * self.problem.unit
        turned = frames[:, :3, :3]
        turns[tree.nodes] = turned if tree.axes is None else turned @ tree.axes.transpose(0, 2, 1)
        return heads, turns

    def met(self) -> bool:
        """Return whether all goals are within tolerance in the last pose."""
        assert self.at is not None
        return self.at.met

    def rates(self, at: _Placed) -> Array:
        """Return the right Jacobians of exp (R, 3, 3)."""
        features = at.powers.dot(rotation.POWERS_TO_RATE) * at.features
        return features.dot(rotation.FEATURES_TO_MATRIX).reshape(-1, 3, 3)

    def jacobian(self, at: _Placed, rates: Array) -> Array:
        """Return the rows (M, D) in level order."""
        frames = at.frames[self.joint_places]
        np.matmul(frames[:, :3, :3], rates, out=self.turn_axes)
        np.matmul(frames[:, :3, 3].dot(rotation.SKEW).reshape(-1, 3, 3), self.turn_axes, out=self.turn_moments)
        levers = self.constant + at.read.dot(self.lever).reshape(-1, 6)
        return levers.dot(self.columns) * self.mask

    def _slopes(self, at: _Placed, rates: Array) -> dict[int, list[float]]:
        """Return the gradients (3,) of the active limit rows by the x of their joints."""
        slopes: dict[int, list[float]] = {}
        for row in self.active:
            number, index, coordinate = self.row_of[row]
            gradient = self.groups[number].gradient(at.own[number], at.angles[number], index, coordinate)
            joint = self.owner[row]
            gradient = gradient if self.axes is None else gradient.dot(self.axes[joint])
            slopes[row] = gradient.dot(rates[joint]).tolist()
        return slopes

    def _bounds(self, at: _Placed, slopes: dict[int, list[float]]) -> tuple[Array, dict[int, Array]]:
        """Return the least step to the active bounds (D,) and projectors along them by joint, in deviations.

        In plain Python: a joint has three coordinates, and one or two active rows.
        """
        fixed = np.zeros(len(at.x))
        projectors: dict[int, list[list[float]]] = {}
        steps: dict[int, list[float]] = {}
        for row, bound in self.active.items():
            joint = self.owner[row]
            if joint not in projectors:
                projectors[joint] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
                steps[joint] = [0.0, 0.0, 0.0]
            projector, step = projectors[joint], steps[joint]
            slope = [a * b for a, b in zip(slopes[row], self.deviations[joint], strict=True)]
            along = [p[0] * slope[0] + p[1] * slope[1] + p[2] * slope[2] for p in projector]
            size = along[0] * along[0] + along[1] * along[1] + along[2] * along[2]
            if size <= numbers.DAMPING:
                continue
            gap = bound - float(at.values[row]) - slope[0] * step[0] - slope[1] * step[1] - slope[2] * step[2]
            for i in range(3):
                step[i] += along[i] * gap / size
                for j in range(3):
                    projector[i][j] -= along[i] * along[j] / size
        for joint, step in steps.items():
            fixed[3 * joint : 3 * joint + 3] = step
        return fixed, {joint: np.array(projector) for joint, projector in projectors.items()}

    def _release(self, push: Array, slopes: dict[int, list[float]]) -> None:
        """Release bounds that would pull a joint back.

        The force of a joint's bounds, S^-1 z - J^T y, is a sum of their slopes times multipliers.
        """
        rows_of: dict[int, list[int]] = {}
        for row in self.active:
            rows_of.setdefault(self.owner[row], []).append(row)
        for joint, rows in rows_of.items():
            if self.locked.issuperset(rows):
                continue
            here = push[3 * joint : 3 * joint + 3]
            if len(rows) == 1:
                a, b, c = slopes[rows[0]]
                along = a * float(here[0]) + b * float(here[1]) + c * float(here[2])
                multipliers = [along / max(a * a + b * b + c * c, numbers.DAMPING)]
            else:
                several = np.array([slopes[row] for row in rows])
                normal = several @ several.T + numbers.DAMPING * np.eye(len(rows))
                multipliers = np.linalg.solve(normal, several @ here).tolist()
            for row, multiplier in zip(rows, multipliers, strict=True):
                upper = self.active[row] == self.upper[row]
                if row not in self.locked and (multiplier if upper else -multiplier) > numbers.RELEASE:
                    del self.active[row]

    def _activate(self, at: _Placed) -> bool | None:
        """Activate the rows that `at` has crossed. Return whether there are new ones; None if no row is crossed."""
        if not self.groups:
            return None
        low, high = at.values < self.floor, at.values > self.ceiling
        crossed = low | high
        if not np.count_nonzero(crossed):
            return None
        new = [row for row in np.flatnonzero(crossed).tolist() if row not in self.active]
        for row in new:
            self.active[row] = float(self.lower[row] if low[row] else self.upper[row])
        return bool(new)

    def _sizes(self, rows: Array) -> Array:
        return np.sqrt((rows * rows).dot(self.member_of_row))

    def _turn(self, step: Array) -> float:
        """Return by how much a step (D,) turns the joint that turns most, radians."""
        turns = step[: self.turning].reshape(-1, 3)
        return float(np.sqrt((turns * turns).dot(_ONES).max(initial=0.0)))

    def _merit(self, at: _Placed, weights: Array, springs: Array) -> float:
        z = at.x * self.stiff
        energy = descent.spring_energy(self._sizes(at.rows), weights, springs)
        return 0.5 * float(z.dot(z)) + float(energy.sum())

    def _curvature(self, raw: Array, forces: Array) -> Array:
        """Return C (D, D), see `descent`, for rows (M, D) without weights under forces (M,)."""
        turns = (forces * self.scales * self.half).reshape(-1, 3).dot(rotation.SKEW).reshape(-1, 3, 3)
        bend = -turns.transpose(1, 0, 2).reshape(3, -1).dot(raw)  # sum of J x f
        turned = self.columns[:3].T.dot(bend) * self.above
        return turned + turned.T

    def _local(self, at: _Placed, damping: float) -> _Local:
        """Return the model about a place but for what the rounds of a step find."""
        rates = self.rates(at)
        raw = self.jacobian(at, rates)
        rows = raw * self.scales[:, None] * self.spread
        hessian = self.eye * (1.0 + damping)
        if self.forces.any():
            hessian -= self._curvature(raw, self.forces) * self.both
        sizes = self._sizes(at.rows)
        strengths = descent.strengths_of(self._sizes(self.forces), self.problem.method.strength)
        return _Local(at, rates, rows, hessian, at.x * self.stiff, sizes, strengths, descent.GIVES / strengths)

    def _buckled(self, local: _Local) -> Array | None:
        """Return the bends (D,) of straight joints that are pushed in: only a side to bend to is lacking."""
        if self.bends is None or not self.forces.any():
            return None
        bends = (self.bends * self.stiff[: self.turning]).reshape(-1, 3)
        slope = local.slope - self.forces.dot(local.rows)
        blocks = local.hessian[: self.turning, : self.turning].reshape(len(bends), 3, len(bends), 3)
        places = np.arange(len(bends))
        curvature = np.einsum("ni,nij,nj->n", bends, blocks[places, :, places], bends)
        fall = np.abs((bends * slope[: self.turning].reshape(-1, 3)).dot(_ONES))
        pushed = (curvature < 0.0) & (fall < _NO_SIDE * np.sqrt((bends * bends).dot(_ONES)))
        if not pushed.any() or _has_least(local.hessian + descent.WALL * local.rows.T.dot(local.rows)):
            return None
        return np.append(np.repeat(pushed, 3) * self.bends, np.zeros(len(slope) - self.turning))

    def _least(self, local: _Local, slips: Flags, sharp: Flags) -> _Found:
        """Return the step to the least value of the model along the active limits that takes the held errors away."""
        at, rows = local.at, local.rows
        weights = np.where(slips, local.strengths / np.maximum(local.sizes, descent.GIVES), descent.WALL)
        by_row = self.member_of_row.dot(weights)
        model: Array = (rows.T * by_row).dot(rows) + local.hessian
        for level in np.flatnonzero(slips & sharp).tolist():
            span, size = self.levels[level], max(float(local.sizes[level]), descent.GIVES)
            along = at.rows[span].dot(rows[span]) * (np.sqrt(weights[level]) / size)
            model -= along[:, None] * along
        slope = local.slope - (by_row * at.rows).dot(rows)
        held = self.member_of_row.dot(~slips)
        kept = rows * held[:, None]
        slopes = self._slopes(at, local.rates) if self.active else {}
        fixed, projectors = self._bounds(at, slopes)
        sides = np.column_stack([slope + model.dot(fixed) if projectors else slope, kept.T])
        whole = model.copy() if projectors else model
        for joint, projector in projectors.items():
            span = slice(3 * joint, 3 * joint + 3)
            model[span] = projector.dot(model[span])
            model[:, span] = model[:, span].dot(projector)
            model[span, span] += self.eye[:3, :3] - projector
            sides[span] = projector.dot(sides[span])
        if not _has_least(model):
            more = max(-2.0 * float(np.linalg.eigvalsh(model)[0]), descent.INDEFINITE) * self.eye
            model, whole = model + more, whole + more
        solved: Array = np.linalg.solve(model, sides)
        free = sides[:, 1:].T
        gap: Array = at.rows * held + free.dot(solved[:, 0]) - kept.dot(fixed)
        gram: Array = free.dot(solved[:, 1:]) + np.diag(self.member_of_row.dot(local.springs) + 1.0 - held)
        forces: Array = np.linalg.solve(gram, gap)
        for joint, projector in projectors.items():
            span = slice(3 * joint, 3 * joint + 3)
            solved[span] = projector.dot(solved[span])
        answers = solved[:, 1:]
        step = answers.dot(forces) - solved[:, 0] + fixed
        pushed = whole.dot(step)
        push: Array = (slope + pushed - forces.dot(kept)) * self.stiff
        gone = rows.dot(step)
        stiffness = float(step.dot(pushed)) - descent.WALL * float((held * gone).dot(gone))
        size = float(step.dot(step))
        return _Found(step, forces, held, answers, gram, push, slopes, stiffness / max(size, numbers.DAMPING))

    def _rounds(self, local: _Local, damping: float, turn_left: float) -> tuple[_Found, _Placed, Flags]:
        """Return the step under the limits that it meets, its end, and the levels that slip in it."""
        count = len(local.sizes)
        slips, sharp = np.zeros(count, bool), np.full(count, not damping)
        last = descent.ROUNDS + count - 1
        for turn in range(last + 1):
            found = self._least(local, slips, sharp)
            breaking = np.flatnonzero(~slips & (self._sizes(found.forces) > local.strengths))
            far = slips & sharp & (self._sizes(local.rows.dot(found.step)) > descent.NEAR * local.sizes)
            if turn < last and (len(breaking) or far.any()):
                if len(breaking):
                    slips[breaking[-1]] = True  # the last one: it may be what breaks others
                else:
                    sharp &= ~far
                continue
            step = found.step * (descent.FURTHEST / max(float(np.sqrt(found.step.dot(found.step))), descent.FURTHEST))
            turned = self._turn(step * self.spread)
            step = step * (turn_left / max(turned, turn_left)) if np.isfinite(turn_left) else step
            there = self.place(local.at.x + step * self.spread)
            if turn == last:
                break
            if self._activate(there):
                continue
            held_by = len(self.active)
            if found.slopes and turn < descent.RELEASES:
                self._release(found.push, found.slopes)
            if len(self.active) == held_by:
                break
        return found, there, slips  # pyright: ignore[reportPossiblyUnboundVariable]

    def _step(self, at: _Placed, damping: float, turn_left: float) -> tuple[_Placed, bool, bool, float]:
        """Return the end of a step, whether it lowers the merit, whether it is Newton's, and the stiffness along it."""
        local = self._local(at, damping)
        bent = self._buckled(local)
        if bent is not None:
            at = self._inside(self.place(at.x + bent))
            local = self._local(at, damping)
        found, there, slips = self._rounds(local, damping, turn_left)
        pulls = at.rows * self.member_of_row.dot(slips * local.strengths / np.maximum(local.sizes, descent.GIVES))
        forces = np.where(found.held > 0.0, found.forces, pulls)
        weights = np.minimum(local.strengths, 2.0 * self._sizes(forces))
        there = self._inside(there)
        before, after = (self._merit(some, weights, local.springs) for some in (at, there))
        give = self.member_of_row.dot(local.springs) * forces
        for _ in range(descent.CORRECTIONS):
            missing: Array = (there.rows - give) * found.held
            if float(np.abs(missing).max(initial=0.0)) < descent.EXACT:
                break
            back = found.answers.dot(np.linalg.solve(found.gram, missing))
            other = self._inside(self.place(there.x + back * self.spread))
            new = self._merit(other, weights, local.springs)
            if new >= after:
                break
            there, after = other, new
        noise = descent.NOISE * (1.0 + before) + descent.EXACT * float(weights[~slips].sum())
        better = after <= before + noise
        if better:
            self.forces, self.slips = forces, slips
        return there, better, not (slips.any() or damping), max(descent.DAMPED, found.stiffness)

    def _inside(self, at: _Placed) -> _Placed:
        """Clamp the joints that are outside their limits."""
        if not np.count_nonzero((at.values < self.lowest) | (at.values > self.highest)):
            return at
        x = at.x.copy()
        vectors = x[: self.turning].reshape(-1, 3)
        for group, base, own, member in zip(self.groups, self.base, at.own, self.members, strict=True):
            clamped = group.clamp(own)
            moved = np.any(clamped != own, axis=(-1, -2))
            if moved.any():
                clamped = clamped if self.axes is None else clamped @ self.axes[member]
                inside = rotation.log(rotation.from_matrix(np.swapaxes(base, -1, -2) @ clamped))
                vectors[member[moved]] = inside[moved]
        return self.place(x)

    def descend(self, x: Array, most: int, still: float) -> tuple[Array, int, NDArray[np.bool_]]:
        """Take at most `most` steps from x (D,), until one turns every joint by less than `still`; see `Descent`.

        Returns x (D,), the number of steps and the active limits.
        """
        if self.at is not None and self.at.x is x:  # the last pose
            at = self.at
            self.compare(at)
        else:
            at = self._inside(self.place(x))
        damping, steps, begun = 0.0, 0, at.x
        while steps < most:
            left = self.problem.method.turn - self._turn(at.x - begun)
            if left < numbers.NEWTON_RESTS:
                break
            steps += 1
            held, blind, slips = dict(self.active), not self.forces.any(), self.slips
            there, better, newton, steep = self._step(at, damping, left)
            turned = self._turn(there.x - at.x)
            rests = turned < (still if newton and better else max(descent.SLOWER * still, numbers.NEWTON_RESTS))
            # the curvature of forces, and limits and levels that have just changed, may show a way on
            same = self.active.keys() == held.keys() and (self.slips == slips).all()
            seen = not (blind and self.forces.any())
            done = rests and not (damping and better) and (same or turned < numbers.NEWTON_RESTS) and seen
            if better:
                at, damping = there, 0.125 * damping if damping > descent.LEAST_DAMPED else 0.0
            else:
                self.active, damping = held, max(steep, 4.0 * damping)
            if done or damping > descent.LOST:
                break
        active = self.inactive.copy()
        for row in self.active:
            active[row] = True
        self.at = at
        return at.x, steps, active[self.real]


def _has_least(hessian: Array) -> bool:
    try:
        np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError:
        return False
    return True
