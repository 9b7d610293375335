"""The steps of one frame of a drag, in as few numpy calls as possible.

With 20 joints and 20 rows every array is tiny, and a call costs more than its arithmetic. All that stays from tick to
tick is therefore folded into constants: local frames and own rotations of all joints are one product, forward
kinematics jumps pointers (log2 of the depth products instead of one per level), errors, levers and the order of rows
are constant matrices, and limits cost something only where one is active. Plain Python compares a handful of numbers: a
numpy reduction costs as much as a product. `dot` costs half of `@` for two matrices. `steps` is the reference; tests
compare the two.
"""

from operator import le
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...rotation import Array
from . import numbers
from .steps import dual
from .tree import as_slice

if TYPE_CHECKING:
    from .problem import Problem

_DRAG_GAIN: Final = 0.05  # g of a drag: a larger one costs a second step in every tick
_ORDINARY_TRACE: Final = 2.9  # least trace of an error rotation whose vector is its skew part, to 2 %: 18 degrees
_ROUNDS: Final = 3  # rounds of the active set in a step

_ONES: Final = np.ones(3)


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
    rows: Array  # (M,) clamped, weighted errors in level order
    lengths2: Array  # (K,) squared distances and angles in level order
    met: bool  # whether all of them are within tolerance
    own: list[Array]  # own rotations of the limited bones, by group
    angles: list[Array]  # their limit coordinates, by group
    values: Array  # (L,) all limit coordinates


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
        variance = problem.variance
        self.variance = variance
        self.stiff = 1.0 / np.maximum(variance, numbers.DAMPING**2)
        self.joint_variances: list[list[float]] = variance[: self.turning].reshape(-1, 3).tolist()
        self.first = rows.levels[0].stop
        self.ridge = None if problem.damping_shares is None else numbers.DAMPING * np.diag(problem.damping_shares)
        self.nothing = np.zeros(0)
        self.gain = _DRAG_GAIN
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
        self.lowest, self.highest = self.lower - numbers.LIMIT_DRIFT, self.upper + numbers.LIMIT_DRIFT
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
        self.weighted_mask = self.mask * self.scales[:, None]
        scales = self.scales[::3]
        self.goal_costs = self.member * (scales**2 / numbers.MERIT)[:, None]
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
        if max(squares) > numbers.ERROR_CLAMP**2:
            furthest = np.sqrt((at.lengths2[:, None] * self.member).max(axis=0))
            rows *= (self.member @ (numbers.ERROR_CLAMP / np.maximum(furthest, numbers.ERROR_CLAMP)))[:, None]
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

    def nearly_met(self) -> bool:
        """Return whether a few steps are likely to meet all goals from the last pose."""
        assert self.at is not None
        return bool((self.at.lengths2 * self.on <= numbers.NEARLY**2).all())

    def rates(self, at: _Placed) -> Array:
        """Return the right Jacobians of exp (R, 3, 3)."""
        features = at.powers.dot(rotation.POWERS_TO_RATE) * at.features
        return features.dot(rotation.FEATURES_TO_MATRIX).reshape(-1, 3, 3)

    def jacobian(self, at: _Placed, rates: Array) -> Array:
        """Return the weighted rows (M, D) in level order."""
        frames = at.frames[self.joint_places]
        np.matmul(frames[:, :3, :3], rates, out=self.turn_axes)
        np.matmul(frames[:, :3, 3].dot(rotation.SKEW).reshape(-1, 3, 3), self.turn_axes, out=self.turn_moments)
        levers = self.constant + at.read.dot(self.lever).reshape(-1, 6)
        return levers.dot(self.columns) * self.weighted_mask

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

    def _condition(self, at: _Placed, slopes: dict[int, list[float]], gain: float) -> tuple[Array, dict[int, Array]]:
        """Return the mean of z and the covariances of held joints under the active rows, as `LinearLimits.condition`.

        In plain Python: a joint has three coordinates, and one or two active rows.
        """
        mean = np.zeros(len(at.x))
        held: dict[int, list[list[float]]] = {}
        centres: dict[int, list[float]] = {}
        for row, bound in self.active.items():
            joint = self.owner[row]
            if joint not in held:
                a, b, c = self.joint_variances[joint]
                held[joint] = [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]
                centres[joint] = [0.0, 0.0, 0.0]
            covariance, centre = held[joint], centres[joint]
            slope = slopes[row]
            spread = [c[0] * slope[0] + c[1] * slope[1] + c[2] * slope[2] for c in covariance]
            size = slope[0] * spread[0] + slope[1] * spread[1] + slope[2] * spread[2]
            if size <= numbers.DAMPING**2:
                continue
            wanted = bound - float(at.values[row])
            if gain:
                x = at.x[3 * joint : 3 * joint + 3].tolist()
                wanted += gain * (slope[0] * x[0] + slope[1] * x[1] + slope[2] * x[2])
            wanted -= slope[0] * centre[0] + slope[1] * centre[1] + slope[2] * centre[2]
            for i in range(3):
                centre[i] += spread[i] * wanted / size
                for j in range(3):
                    covariance[i][j] -= spread[i] * spread[j] / size
        for joint, centre in centres.items():
            mean[3 * joint : 3 * joint + 3] = centre
        return mean, {joint: np.array(covariance) for joint, covariance in held.items()}

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

    def _dual(self, gram: Array, wanted_rows: Array, damping: float) -> Array:
        """Return `dual` with the damping (1 + damping) D."""
        if self.ridge is None:
            return dual(self.problem, gram[None], wanted_rows[None], np.array([numbers.DAMPING * (1.0 + damping)]))[0]
        gram += (1.0 + damping) * self.ridge if damping else self.ridge
        y: Array = np.linalg.solve(gram, wanted_rows)
        return y

    def _merit(self, at: _Placed, phase: int) -> float:
        """Return the merit, which a step must not raise."""
        costs = at.lengths2.dot(self.goal_costs)
        if phase == numbers.TOP_LEVEL:
            return float(costs[0])
        merit = float(costs.dot(self.problem.level_weights))
        return merit + float((at.x * at.x).dot(self.stiff)) if phase == numbers.NATURAL else merit

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

    def _step(self, at: _Placed, damping: float, phase: int) -> _Placed:
        """Return the end of one step."""
        gain = self.gain / (1.0 + damping) if phase == numbers.NATURAL else 0.0
        rows = at.rows
        if phase == numbers.TOP_LEVEL:
            rows = rows.copy()
            rows[self.first :] = 0.0
        rates = self.rates(at)
        jacobian = self.jacobian(at, rates)
        wanted_rows = rows + gain * jacobian.dot(at.x) if gain else rows
        slopes: dict[int, list[float]] = {}
        there = at
        for _ in range(_ROUNDS):
            weighted = jacobian * self.variance
            if self.active:
                slopes = self._slopes(at, rates)
                mean, held = self._condition(at, slopes, gain)
                for joint, covariance in held.items():
                    columns = slice(3 * joint, 3 * joint + 3)
                    weighted[:, columns] = jacobian[:, columns].dot(covariance)
                y = self._dual(weighted.dot(jacobian.T), wanted_rows - jacobian.dot(mean), damping)
                z = mean + y.dot(weighted)
            else:
                y = self._dual(weighted.dot(jacobian.T), wanted_rows, damping)
                z = y.dot(weighted)
            step = z - gain * at.x
            length2 = float(step.dot(step))
            if length2 > numbers.STEP_CLAMP**2:
                step *= numbers.STEP_CLAMP / np.sqrt(length2)
            there = self.place(at.x + step)
            crossed = self._activate(there)
            if crossed:
                continue
            if slopes:
                self._release(z * self.stiff - y.dot(jacobian), slopes)
            if crossed is None:
                return there
            break
        return self._inside(there)

    def _inside(self, at: _Placed) -> _Placed:
        """Clamp the joints that are outside their limits by more than LIMIT_DRIFT."""
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

    def iterate(self, x: Array) -> tuple[Array, int, NDArray[np.bool_]]:
        """Take steps until the goals are met; a drag goes on, so that the joints need not rest.

        Returns x (D,), the number of steps and the active limits.
        """
        if self.at is not None and self.at.x is x:  # the last pose
            at = self.at
            self.compare(at)
        else:
            at = self.place(x)
        phase, damping, calm, iterations, budget = numbers.NATURAL, 0.0, 0, 0, self.problem.method.iterations
        here: float | None = None
        while not at.met:
            there = self._step(at, damping, phase)
            iterations += 1
            budget -= 1
            if there.met:
                at = there
                break
            here = self._merit(at, phase) if here is None else here
            merit = self._merit(there, phase)
            change = float(np.abs(there.x - at.x).max(initial=0.0))
            if merit <= here * (1.0 + numbers.LIMIT_SLACK) + numbers.LIMIT_SLACK:
                at, here = there, merit
                damping = damping / numbers.LM_GROWTH if damping > numbers.LM_START else 0.0
            else:
                damping = max(numbers.LM_START, damping * numbers.LM_GROWTH)
            calm = calm + 1 if change < numbers.SETTLED else 0
            patience = numbers.CALM_DAMPED if damping else numbers.CALM
            if calm >= patience or damping > numbers.LM_LIMIT or budget <= 0:
                if phase >= self.problem.last_phase:
                    break
                phase, damping, calm, budget, here = phase + 1, 0.0, 0, numbers.FINAL_STEPS, None
        active = self.inactive.copy()
        for row in self.active:
            active[row] = True
        # a bound may be crossed by an invisible LIMIT_DRIFT: the next tick clamps it
        self.at = at
        return at.x, iterations, active[self.real]

    def relax(self, x: Array) -> tuple[Array, int, NDArray[np.bool_]]:
        """Take a whole step towards the reference from goals that are met, and steps back to the goals.

        Returns as `iterate`; x itself where that does not lower the merit.
        """
        at = self.at if self.at is not None and self.at.x is x else self.place(x)
        here, gain, held = self._merit(at, numbers.NATURAL), self.gain, dict(self.active)
        self.gain = 1.0
        there = self._step(at, 0.0, numbers.NATURAL)
        self.gain = gain
        self.at = there
        found = self.iterate(there.x)
        assert self.at is not None
        if self.at.met and self._merit(self.at, numbers.NATURAL) < here:
            return found
        self.at, self.active = at, held
        return x, 1, found[2]

    def better_of(
        self, x: Array, other: Array, used: int, active: NDArray[np.bool_]
    ) -> tuple[Array, int, NDArray[np.bool_]]:
        """Return the result of `iterate` from another start, or x, `used` steps and `active` if that is no better."""
        before, held = self.at, dict(self.active)
        assert before is not None
        there, more, now = self.iterate(self._inside(self.place(other)).x)
        assert self.at is not None
        after = self._merit(self.at, numbers.EXACT)
        if self.at.met or after < numbers.WORTH_RESTART * self._merit(before, numbers.EXACT):
            return there, used + more, now
        self.at, self.active = before, held
        return x, used + more, active

    def resume(self, x: Array, active: NDArray[np.bool_]) -> None:
        """Continue from x (D,) with these limits active."""
        self.at = at = self.place(x)
        self.active = {row: float(self.lower[row]) for row in self.locked}
        for row in np.flatnonzero(active).tolist():
            low, high = float(self.lower[row]), float(self.upper[row])
            self.active[row] = low if at.values[row] - low < high - at.values[row] else high
