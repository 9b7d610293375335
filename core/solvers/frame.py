"""One frame of `pins` under the mouse: the same steps in as few numpy calls as possible.

With 20 joints and 20 rows every array is tiny and a call costs more than its arithmetic, so everything that does not
change from tick to tick is folded into constants here: local frames and own rotations of all joints in one product,
forward kinematics by pointer jumping (log2 of the depth products instead of one per level), levers and row order in one
constant matrix, limits as rows that cost something only where one is active. What asks about a handful of numbers asks
Python's: a reduction of numpy costs as much as a product. `pins.Problem` is the reference; tests compare the two.
"""

from operator import le
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from . import numbers
from .tree import as_slice

if TYPE_CHECKING:
    from .pins import Problem

_ONES: Final = np.ones(3)
_ORDINARY_TRACE: Final = 2.9  # of an error rotation whose vector is its skew part, to 2 %: about 18 degrees
_ROUNDS: Final = 3  # of the active set in one step


class _Placed:
    """Forward kinematics at one x."""

    __slots__ = ("costs", "ends", "frames", "lengths2", "met", "own", "points", "rates", "rows", "values", "x")

    x: Array
    rates: Array  # (R, 3, 3)
    frames: Array  # (N + 1, 4, 4), the last one the identity
    points: Array  # (P, 3)
    ends: Array  # (Q, 3, 3)
    rows: Array  # (M,) clamped, weighted errors in level order
    lengths2: Array  # (G',) squared distances and angles
    met: bool  # whether all of them are within tolerance
    costs: Array  # (L,)
    own: list[Array]  # own rotations of the limited bones, by group
    values: Array  # (K,) limit coordinates


class FrameSolver:
    """`Problem` of one frame of a drag, compiled."""

    def __init__(self, problem: "Problem") -> None:
        self.problem = problem
        tree = problem.tree
        self.joints = tree.joints
        self.nodes = len(tree.nodes)
        self.turning = 3 * len(tree.joints)
        self.points = len(tree.point_nodes)
        self.ends = len(tree.end_nodes)
        # a slice, where it will do, is half the price of an index array
        self.joint_places = tree.joint_places
        bones, roots = tree.nodes[tree.joints], tree.nodes[tree.roots]
        self.joint_bones, self.root_bones = as_slice(bones), as_slice(roots)
        self.joint_references = problem.reference.rotations[0, bones]
        self.root_references = problem.reference.translations[0, roots]
        self.roots = tree.roots.tolist()
        parents = np.append(np.where(tree.parents < 0, self.nodes, tree.parents), self.nodes)
        self.jumps: list[tuple[int, NDArray[np.int64]]] = []
        while (parents != self.nodes).any():
            first = int(np.argmax(parents != self.nodes))  # nodes are in the order of their depth
            self.jumps.append((first, parents[first:]))
            parents = parents[parents]
        rows = tree.rows
        self.order, self.mask = tree.order, tree.mask
        self.constant, self.lever = tree.lever_constant, tree.lever_slope
        variance = problem.variance
        self.variance = variance
        self.stiff = 1.0 / np.maximum(variance, numbers.DAMPING**2)
        self.joint_variances: list[list[float]] = variance[: self.turning].reshape(-1, 3).tolist()
        self.first = problem.rows.levels[0].stop
        self.diagonal = slice(None, None, rows + 1)
        goals = np.eye(len(problem.goals))[problem.rows.owners]
        turning = problem.rows.turning[:, None]
        self.goal_positions, self.goal_rotations = goals * ~turning * problem.unit, goals * turning
        # error rotations to their vectors, where these are the skew part, and to their traces
        skew, trace = np.zeros((9, 3)), np.eye(3).reshape(9, 1)
        skew[[7, 2, 3], [0, 1, 2]], skew[[5, 6, 1], [0, 1, 2]] = 0.5, -0.5
        self.read_errors = np.hstack([np.kron(np.eye(self.ends), part) for part in (skew, trace)])
        groups = problem.limit_rows
        self.groups = [group.at_frames(np.array(0)) for group in groups.groups]
        self.members = groups.members
        self.owner: list[int] = groups.joint.tolist()
        self.base = np.split(groups.base[0], np.cumsum([len(member) for member in groups.members])[:-1])
        # x is about the axes E (see `tree`), limits are about the bones' own
        self.axes = None if tree.axes is None else tree.axes[tree.joints]
        self.lower, self.upper = groups.lower[0], groups.upper[0]
        self.inactive = np.zeros(len(self.lower), bool)
        self.real = np.flatnonzero(groups.real)  # limits, not locked channels
        self.row_of = [  # group, bone in it and coordinate of a row
            (number, index, coordinate)
            for number, group in enumerate(self.groups)
            for index, coordinate in np.ndindex(group.lower.shape)
        ]
        self.starts = np.cumsum([0, *(group.lower.size for group in self.groups)]).tolist()
        self.floor, self.ceiling = self.lower - numbers.LIMIT_SLACK, self.upper + numbers.LIMIT_SLACK
        self.lowest, self.highest = self.lower - numbers.LIMIT_DRIFT, self.upper + numbers.LIMIT_DRIFT
        self.locked = set(np.flatnonzero(self.upper - self.lower < numbers.LIMIT_SLACK).tolist())
        self.active = {row: float(self.lower[row]) for row in self.locked}  # row -> the bound it is held at
        self.gain = numbers.DRAG_GAIN
        self.at: _Placed | None = None
        links = problem.links
        self.slide = links.slide[0]
        self.to_frames = self._turns_to_frames(links.turn[0, self.joints])
        self.nothing = np.zeros((0, 3, 3, 3))
        self.local = np.zeros((self.nodes + 1, 4, 4))
        self.local[:, 3, 3] = 1.0
        self.local[:-1, :3, :3] = links.turn[0]
        self.local[-1] = np.eye(4)
        self.local[:-1, :3, 3] = links.shift[0]
        # what is looked at, points and then ends, as frames in those of its nodes
        self.feature_nodes = np.concatenate([tree.point_nodes, tree.end_nodes])
        self.features = np.tile(np.eye(4), (self.points + self.ends, 1, 1))
        self.features[: self.points, :3, 3] = links.arms[0]
        self.features[self.points :, :3, :3] = links.ends[0]
        self.spatial = np.zeros((6, len(self.joints) + len(self.slide), 3))
        self.spatial[3:, len(self.joints) :] = self.slide.transpose(1, 0, 2)
        self.retarget()

    def _turns_to_frames(self, turn: Array) -> Array:
        """(R, 20, 18 or 27): features of `exp_features` to local frames, rates and, if there are limits, own rotations.

        A product with a constant in front is linear in the entries: (A X B)[i, k] = sum of A[i, j] B[l, k] X[j, l].
        """
        eye, count = np.eye(3), len(turn)
        parts = [np.einsum("nij,kl->njlik", turn, eye)]
        if self.groups:
            base, axes = np.zeros_like(turn), np.tile(eye, (len(turn), 1, 1))
            for own, member in zip(self.base, self.members, strict=True):
                base[member] = own
            axes = axes if self.axes is None else self.axes
            parts.append(np.einsum("nij,nkl->njlik", base, axes))
        made = [rotation.FEATURES_TO_MATRIX @ part.reshape(-1, 9, 9) for part in parts]
        result = np.zeros((count, 20, 9 * len(made) + 9))
        result[:, :10, :9], result[:, 10:, 9:18] = made[0], rotation.FEATURES_TO_MATRIX
        if len(made) > 1:
            result[:, :10, 18:] = made[1]
        return result

    def retarget(self) -> None:
        """Take the problem's targets and weights as they are now."""
        problem, rows = self.problem, self.problem.rows
        self.target_points = rows.target_points[0]
        self.target_ends = rows.target_ends[0]
        scales = rows.scales[0]
        self.scales = scales[self.order]
        self.weighted_mask = self.mask * self.scales[:, None]
        self.goal_costs = rows.block_in_level * (scales[::3] ** 2 / numbers.MERIT)[:, None]
        self.on = scales[::3] > 0.0
        self.tolerance2: list[float] = np.where(self.on, problem.tolerances**2, np.inf).tolist()

    def place(self, x: Array) -> _Placed:
        """Forward kinematics, errors and limit coordinates at x (D,)."""
        at = _Placed()
        at.x = x
        features = rotation.exp_features(x[: self.turning].reshape(-1, 3)).reshape(-1, 1, 20)
        turned = (features @ self.to_frames).reshape(len(features), -1, 3, 3) if self.turning else self.nothing
        at.rates = turned[:, 1]
        frames = self.local.copy()
        frames[self.joint_places, :3, :3] = turned[:, 0]
        for order, root in enumerate(self.roots):
            start = self.turning + 3 * order
            frames[root, :3, 3] += self.slide[order] @ x[start : start + 3]
        for first, jump in self.jumps:
            frames[first:] = frames.take(jump, axis=0) @ frames[first:]
        at.frames = frames
        seen = frames.take(self.feature_nodes, axis=0) @ self.features
        at.points, at.ends = seen[: self.points, :3, 3], seen[self.points :, :3, :3]
        if self.groups:
            at.own = [turned[:, 2].take(member, axis=0) for member in self.members]
            values = [group.coordinates(own).ravel() for group, own in zip(self.groups, at.own, strict=True)]
            at.values = values[0] if len(values) == 1 else np.concatenate(values)
        else:
            at.own, at.values = [], self.lower
        self.compare(at)
        return at

    def compare(self, at: _Placed) -> None:
        """Fill in the errors against the targets."""
        rows = np.empty((self.points + self.ends, 3))
        np.subtract(self.target_points, at.points, out=rows[: self.points])
        if self.ends:
            error = self.target_ends @ at.ends.transpose(0, 2, 1)
            read = error.ravel() @ self.read_errors
            if min(read[3 * self.ends :].tolist()) > _ORDINARY_TRACE:
                rows[self.points :] = read[: 3 * self.ends].reshape(-1, 3)
            else:
                rows[self.points :] = rotation.log(rotation.from_matrix(error))
        lengths2 = (rows * rows) @ _ONES
        at.lengths2 = lengths2
        squares: list[float] = lengths2.tolist()
        at.met = all(map(le, squares, self.tolerance2))
        if max(squares) > numbers.ERROR_CLAMP**2:
            member = self.problem.rows.block_in_level
            furthest = np.sqrt((lengths2[:, None] * member).max(axis=0))
            rows *= (member @ (numbers.ERROR_CLAMP / np.maximum(furthest, numbers.ERROR_CLAMP)))[:, None]
        at.rows = rows.ravel().take(self.order) * self.scales
        at.costs = lengths2 @ self.goal_costs

    def channels(self, x: Array) -> tuple[Array, Array]:
        """Rotations (J, 4) and translations (J, 3) of the pose at x."""
        problem = self.problem
        rotations, translations = problem.start.rotations[0].copy(), problem.start.translations[0]
        vectors = x[: self.turning].reshape(-1, 3)
        if self.axes is not None:
            vectors = (self.axes @ vectors[..., None])[..., 0]
        rotations[self.joint_bones] = rotation.mul(self.joint_references, rotation.exp(vectors))
        if self.roots:
            translations = translations.copy()
            shifts = x[self.turning :].reshape(-1, 3) * problem.unit
            translations[self.root_bones] = self.root_references + shifts
        return rotations, translations

    def errors(self) -> tuple[Array, Array]:
        """Position error in armature units and rotation error, (G,) each, where the last solve ended."""
        assert self.at is not None
        lengths = np.sqrt(self.at.lengths2) * self.on
        return lengths @ self.goal_positions, lengths @ self.goal_rotations

    def stands(self) -> tuple[Array, Array]:
        """Heads (J, 3) in armature units and frames (J, 3, 3) where the last solve ended; 0 for what moves no goal."""
        assert self.at is not None
        tree, frames = self.problem.tree, self.at.frames[:-1]
        heads, turns = np.zeros((len(tree.skeleton), 3)), np.zeros((len(tree.skeleton), 3, 3))
        heads[tree.nodes] = frames[:, :3, 3] * self.problem.unit
        turned = frames[:, :3, :3]
        turns[tree.nodes] = turned if tree.axes is None else turned @ tree.axes.transpose(0, 2, 1)
        return heads, turns

    def met(self) -> bool:
        """Whether all goals were within tolerance where the last solve ended."""
        assert self.at is not None
        return self.at.met

    def nearly_met(self) -> bool:
        """Whether a few steps are likely to meet all goals from where the last solve ended."""
        assert self.at is not None
        return bool((self.at.lengths2 * self.on <= numbers.NEARLY**2).all())

    def jacobian(self, at: _Placed) -> Array:
        """Weighted rows (M, D) in level order."""
        spatial, joints = self.spatial, len(self.joints)
        frames = at.frames[self.joint_places]
        axes = frames[:, :3, :3] @ at.rates
        spatial[:3, :joints] = axes.transpose(1, 0, 2)
        spatial[3:, :joints] = (rotation.skew(frames[:, :3, 3]) @ axes).transpose(1, 0, 2)
        levers = self.constant + (at.points.ravel() @ self.lever).reshape(-1, 6)
        return (levers @ spatial.reshape(6, -1)) * self.weighted_mask

    def _slopes(self, at: _Placed) -> dict[int, Array]:
        """Gradients (3,) of the active limit rows with respect to x of their joints."""
        slopes: dict[int, Array] = {}
        for row in self.active:
            number, index, coordinate = self.row_of[row]
            start, shape = self.starts[number], self.groups[number].lower.shape
            values = at.values[start : start + shape[0] * shape[1]].reshape(shape)
            gradient = self.groups[number].gradient(at.own[number], values, index, coordinate)
            rates = at.rates[self.owner[row]]
            slopes[row] = gradient @ (rates if self.axes is None else self.axes[self.owner[row]] @ rates)
        return slopes

    def _condition(self, at: _Placed, slopes: dict[int, Array], gain: float) -> tuple[Array, dict[int, Array]]:
        """Mean of z and the covariances of the held joints under the active rows, as `pins._LinearLimits.condition`.

        In plain numbers: a joint has three, and a row or two of them.
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
            slope: list[float] = slopes[row].tolist()
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

    def _release(self, z: Array, force: Array, slopes: dict[int, Array]) -> None:
        """Let go of bounds that would hold a joint back from going inside.

        What the bounds of a joint push with is S^-1 z - J^T y, a sum of their slopes times multipliers.
        """
        push = z * self.stiff - force
        rows_of: dict[int, list[int]] = {}
        for row in self.active:
            rows_of.setdefault(self.owner[row], []).append(row)
        for joint, rows in rows_of.items():
            if self.locked.issuperset(rows):
                continue
            here = push[3 * joint : 3 * joint + 3]
            if len(rows) == 1:
                slope = slopes[rows[0]]
                multipliers = [float(slope @ here) / max(float(slope @ slope), numbers.DAMPING)]
            else:
                several = np.array([slopes[row] for row in rows])
                normal = several @ several.T + numbers.DAMPING * np.eye(len(rows))
                multipliers = np.linalg.solve(normal, several @ here).tolist()
            for row, multiplier in zip(rows, multipliers, strict=True):
                upper = self.active[row] == self.upper[row]
                if row not in self.locked and (multiplier if upper else -multiplier) > numbers.RELEASE:
                    del self.active[row]

    def _dual(self, gram: Array, wish: Array, damping: float) -> Array:
        """As `Problem.dual`."""
        shares = self.problem.damping_shares
        if shares is None:
            return self.problem.dual(gram[None], wish[None], np.array([damping]))[0]
        gram.ravel()[self.diagonal] += damping * shares
        y: Array = np.linalg.solve(gram, wish)
        return y

    def _merit(self, at: _Placed, phase: int) -> float:
        if phase == numbers.TOP_LEVEL:
            return float(at.costs[0])
        merit = float(at.costs @ self.problem.level_weights)
        return merit + float((at.x * at.x) @ self.stiff) if phase == numbers.NATURAL else merit

    def _activate(self, at: _Placed) -> bool | None:
        """Put rows that `at` has crossed into the active set: whether there were new ones, None if none is crossed."""
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
        """Where one step leads."""
        gain = self.gain / (1.0 + damping) if phase == numbers.NATURAL else 0.0
        levelled = numbers.DAMPING * (1.0 + damping)
        rows = at.rows
        if phase == numbers.TOP_LEVEL:
            rows = rows.copy()
            rows[self.first :] = 0.0
        jacobian = self.jacobian(at)
        wish = rows + gain * (jacobian @ at.x) if gain else rows
        slopes: dict[int, Array] = {}
        there = at
        for _ in range(_ROUNDS):
            weighted = jacobian * self.variance
            if self.active:
                slopes = self._slopes(at)
                mean, held = self._condition(at, slopes, gain)
                for joint, covariance in held.items():
                    columns = slice(3 * joint, 3 * joint + 3)
                    weighted[:, columns] = jacobian[:, columns] @ covariance
                y = self._dual(weighted @ jacobian.T, wish - jacobian @ mean, levelled)
                z = mean + y @ weighted
            else:
                y = self._dual(weighted @ jacobian.T, wish, levelled)
                z = y @ weighted
            step = z - gain * at.x
            length2 = float(step @ step)
            if length2 > numbers.STEP_CLAMP**2:
                step *= numbers.STEP_CLAMP / np.sqrt(length2)
            there = self.place(at.x + step)
            crossed = self._activate(there)
            if crossed:
                continue
            if slopes:
                self._release(z, y @ jacobian, slopes)
            if crossed is None:
                return there
            break
        return self._inside(there)

    def _inside(self, at: _Placed) -> _Placed:
        """The same with joints brought in that are outside their limits by more than LIMIT_DRIFT."""
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
        """Step until the goals are met; a drag goes on, so the joints need not rest.

        Returns x, the number of steps and the active limit rows.
        """
        if self.at is not None and self.at.x is x:  # where the last solve ended
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
        # a bound may be passed by what nobody sees (LIMIT_DRIFT): the next tick brings it back
        self.at = at
        return at.x, iterations, active.take(self.real)

    def relax(self, x: Array) -> tuple[Array, int, NDArray[np.bool_]]:
        """As `iterate`, from goals that are met: a whole step towards the reference, and back to the goals."""
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
        """What `iterate` gives from another start, if that is better than x, where it ended."""
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
        """Go on from another place, with these limits active."""
        self.at = at = self.place(x)
        self.active = {row: float(self.lower[row]) for row in self.locked}
        for row in np.flatnonzero(active).tolist():
            low, high = float(self.lower[row]), float(self.upper[row])
            self.active[row] = low if at.values[row] - low < high - at.values[row] else high
