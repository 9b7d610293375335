"""The limits of one frame: which of them are active, and what they hold.

In plain Python: a joint has three coordinates, and one or two active rows. Soft limits are never active: they are
springs, which are bent where a joint is outside.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .... import rotation
from ....rotation import Array
from .. import numbers
from ..limits import curvatures
from ..problem import Problem
from .placed import Placed

Slopes = dict[int, list[float]]  # by row


@dataclass(frozen=True, eq=False)
class SoftLimits:
    """Limits that are springs where they are crossed."""

    rows: NDArray[np.int64]  # (S,) of all limits
    lower: Array  # (S,)
    upper: Array  # (S,)
    stiffness: Array  # (S,)

    def outside(self, at: Placed) -> Array:
        """Return by how much they are crossed, (S,)."""
        values = at.values[self.rows]
        return np.maximum(values - self.upper, 0.0) - np.maximum(self.lower - values, 0.0)

    def without(self, rows: Iterable[int]) -> "SoftLimits":
        """Return all but those of some rows."""
        left = ~np.isin(self.rows, [*rows])
        return SoftLimits(self.rows[left], self.lower[left], self.upper[left], self.stiffness[left])

    def met(self, at: Placed) -> dict[int, float]:
        """Return the rows whose joints are at their bounds or beyond, and these bounds."""
        values = at.values[self.rows]
        low, high = values < self.lower + numbers.NEARLY, values > self.upper - numbers.NEARLY
        bounds = np.where(low, self.lower, self.upper)
        return {int(self.rows[one]): float(bounds[one]) for one in np.flatnonzero(low | high).tolist()}

    def energy(self, at: Placed) -> float:
        """Return their energy."""
        outside = self.outside(at)
        return 0.5 * float((outside * outside).dot(self.stiffness))


class FrameLimits:
    """The limits of a frame, and those that are active."""

    def __init__(self, problem: Problem, frame: int) -> None:
        groups, tree = problem.limit_rows, problem.tree
        self.turning = tree.turning
        self.axes = None if tree.axes is None else tree.axes[tree.joints]
        self.groups = [group.at_frames(np.array(frame)) for group in groups.groups]
        self.members = groups.members
        self.owner: list[int] = groups.joint.tolist()
        self.base = np.split(groups.base[frame], np.cumsum([len(member) for member in groups.members])[:-1])
        lower, upper, soft = groups.lower[frame], groups.upper[frame], groups.variance > 0.0
        self.given_lower = lower  # also of soft limits
        self.lower, self.upper = np.where(soft, -np.inf, lower), np.where(soft, np.inf, upper)
        self.soft = SoftLimits(np.flatnonzero(soft), lower[soft], upper[soft], 1.0 / groups.variance[soft])
        self.row_of = [  # group, bone in it and coordinate of a row
            (number, index, coordinate)
            for number, group in enumerate(self.groups)
            for index, coordinate in np.ndindex(group.lower.shape)
        ]
        hard = np.split(~soft, np.cumsum([group.lower.size for group in self.groups])[:-1])
        self.hard = [bool(rows.any()) for rows in hard]  # by group
        self.floor, self.ceiling = self.lower - numbers.DAMPING, self.upper + numbers.DAMPING
        self.allow(numbers.NEARLY)
        self.locked = set(np.flatnonzero(self.upper - self.lower < numbers.DAMPING).tolist())
        self.forget()

    def forget(self) -> None:
        """Let go of all limits but locked channels."""
        self.active = {row: float(self.lower[row]) for row in self.locked}  # row -> the bound it is held at

    def begin(self, at: Placed) -> None:
        """Begin a step with those that are at their bounds: others would pull their joints there."""
        off = [row for row, bound in self.active.items() if abs(float(at.values[row]) - bound) > numbers.NEARLY]
        for row in off:
            if row not in self.locked:
                del self.active[row]

    def bent(self, at: Placed, rates: Array, bends: Array) -> dict[int, float]:
        """Return the bounds against which joints bend, by `bends` (D,), and where these would take them."""
        bent: dict[int, float] = {}
        bounds = self.active | self.soft.met(at)
        for row, slope in self.slopes(at, rates, bounds).items():
            joint, bound = self.owner[row], bounds[row]
            way = float(bends[3 * joint : 3 * joint + 3].dot(slope))
            if (way if bound == self.given_lower[row] else -way) > numbers.NEARLY:  # else at right angles, or locked
                bent[row] = bound + way
        return bent

    def active_rows(self, at: Placed) -> NDArray[np.bool_]:
        """Return which limits (K,) are active, or soft and crossed."""
        active = np.zeros(len(self.lower), bool)
        active[list(self.active)] = True
        active[self.soft.rows] = self.soft.outside(at) != 0.0
        return active

    def springs(self, at: Placed, rates: Array, bend: bool) -> tuple[Array, Array]:
        """Return the slope (R, 3) by x of the soft limits' energy, and its second derivatives (R, 3, 3).

        bend: with those of the limits' coordinates.
        """
        slope, hessian = np.zeros((self.turning // 3, 3)), np.zeros((self.turning // 3, 3, 3))
        outside = self.soft.outside(at)
        crossed = np.flatnonzero(outside)
        rows, stiffness = self.soft.rows[crossed].tolist(), self.soft.stiffness[crossed]
        forces = stiffness * outside[crossed]
        for (row, gradient), force, stiff in zip(self.slopes(at, rates, rows).items(), forces, stiffness, strict=True):
            slope[self.owner[row]] += force * np.array(gradient)
            hessian[self.owner[row]] += stiff * np.multiply.outer(gradient, gradient)
        if bend:
            hessian += self.curvature(at, rates, dict(zip(rows, forces.tolist(), strict=True)))
        return slope, hessian

    def slopes(self, at: Placed, rates: Array, rows: Iterable[int]) -> Slopes:
        """Return the gradients (3,) of some limit rows by the x of their joints."""
        slopes: Slopes = {}
        for row in rows:
            number, index, coordinate = self.row_of[row]
            gradient = self.groups[number].gradient(at.own[number], at.angles[number], index, coordinate)
            joint = self.owner[row]
            gradient = gradient if self.axes is None else gradient.dot(self.axes[joint])
            slopes[row] = gradient.dot(rates[joint]).tolist()
        return slopes

    def fixed(self, at: Placed, slopes: Slopes, deviations: list[list[float]]) -> tuple[Array, dict[int, Array]]:
        """Return the least step to the active bounds (D,) and projectors along them by joint, in deviations (R, 3)."""
        fixed = np.zeros(len(at.x))
        projectors: dict[int, list[list[float]]] = {}
        steps: dict[int, list[float]] = {}
        for row, bound in self.active.items():
            joint = self.owner[row]
            if joint not in projectors:
                projectors[joint] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
                steps[joint] = [0.0, 0.0, 0.0]
            projector, step = projectors[joint], steps[joint]
            slope = [a * b for a, b in zip(slopes[row], deviations[joint], strict=True)]
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

    def release(self, push: Array, slopes: Slopes) -> None:
        """Release bounds that would pull a joint back; push (D,)."""
        for row, multiplier in self.multipliers(push, slopes).items():
            upper = self.active[row] == self.upper[row]
            if row not in self.locked and (multiplier if upper else -multiplier) > numbers.DAMPING:
                del self.active[row]

    def curvature(self, at: Placed, rates: Array, multipliers: dict[int, float]) -> Array:
        """Return the second derivatives (R, 3, 3) of some rows by x, times their multipliers."""
        result = np.zeros((self.turning // 3, 3, 3))
        turned = {number for number, _, _ in map(self.row_of.__getitem__, multipliers)}
        bends: dict[int, Array] = {}
        for number in turned:
            member = self.members[number]
            own = rates[member] if self.axes is None else self.axes[member] @ rates[member]
            bends[number] = curvatures(self.groups[number], at.own[number], own)
        for row, multiplier in multipliers.items():
            number, index, coordinate = self.row_of[row]
            result[self.owner[row]] += multiplier * bends[number][index, coordinate]
        return result

    def multipliers(self, push: Array, slopes: Slopes) -> dict[int, float]:
        """Return by how much the slopes of a joint's active bounds count in their sum, which is push (D,).

        At rest that is the slope of what is minimised, S^-1 z - J^T y. Locked channels alone have none.
        """
        found: dict[int, float] = {}
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
                normal = several @ several.T
                normal += numbers.DAMPING * max(1.0, float(np.trace(normal))) * np.eye(len(rows))  # parallel, and steep
                multipliers = np.linalg.solve(normal, several @ here).tolist()
            found.update(zip(rows, multipliers, strict=True))
        return found

    def allow(self, slack: float) -> None:
        """Let joints be off their bounds by so much, radians, before they are clamped."""
        self.lowest, self.highest = self.lower - slack, self.upper + slack

    def activate(self, at: Placed) -> bool:
        """Activate the rows that `at` has crossed. Return whether there are new ones."""
        low, high = at.values < self.floor, at.values > self.ceiling
        crossed = low | high
        if not np.count_nonzero(crossed):
            return False
        new = [row for row in np.flatnonzero(crossed).tolist() if row not in self.active]
        for row in new:
            self.active[row] = float(self.lower[row] if low[row] else self.upper[row])
        return bool(new)

    def clamped(self, at: Placed) -> Array | None:
        """Return x (D,) with joints clamped that are outside their limits, None where all are inside."""
        if not np.count_nonzero((at.values < self.lowest) | (at.values > self.highest)):
            return None
        x = at.x.copy()
        vectors = x[: self.turning].reshape(-1, 3)
        groups = zip(self.hard, self.groups, self.base, at.own, self.members, strict=True)
        for group, base, own, member in (some[1:] for some in groups if some[0]):
            clamped = group.clamp(own)
            moved = np.any(clamped != own, axis=(-1, -2))
            if moved.any():
                clamped = clamped if self.axes is None else clamped @ self.axes[member]
                inside = rotation.log(rotation.from_matrix(np.swapaxes(base, -1, -2) @ clamped))
                vectors[member[moved]] = inside[moved]
        return x
