"""Limits of joints as rows of the solver: an active set above all levels of goals.

A coordinate at its bound takes its direction out of the prior of its joint: the prior is conditioned on it. A soft
limit is an observation with the standard deviation `softness`: it gives way where a goal needs it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...errors import CoreError
from ...limits import EulerBox, LimitGroup
from ...rotation import Array, to_matrix
from ...skeleton import Skeleton
from . import numbers
from .tree import Batch, Kinematics

_SAME_BOUND: Final = 1e-14  # relative ridge that tells the multipliers of two equal bounds apart


def locked_angles(skeleton: Skeleton, rotations: Array, bones: Iterable[int]) -> tuple[LimitGroup, ...]:
    """Return the locked Euler angles of `bones` as limits at their values in rotations (B, J, 4): a group or none."""
    locked = np.array([bone for bone in bones if skeleton.rotation_locks[bone].any()], int)
    if not len(locked):
        return ()
    modes = [skeleton.rotation_modes[int(bone)] for bone in locked]
    orders = [mode if mode in rotation.EULER_ORDERS else "XYZ" for mode in modes]
    own = [rotations[:, bone] for bone in locked]
    angles = np.stack([rotation.to_euler(q, order) for q, order in zip(own, orders, strict=True)], axis=1)
    held = skeleton.rotation_locks[locked]
    return (EulerBox(locked, orders, np.where(held, angles, -np.inf), np.where(held, angles, np.inf)),)


class LimitRows:
    """All limit coordinates of a problem: K rows, each of one joint, bounded below and above."""

    def __init__(
        self,
        groups: tuple[LimitGroup, ...],
        joints: dict[int, int],
        reference: Array,
        axes: Array | None = None,
        softness: float = 0.0,
    ) -> None:
        """Take the joint of each bone, the rotations (B, J, 4) where x is 0, and E (J, 4) of `tree`; softness: radians.

        Raises CoreError if bounds by frame are for another number of frames.
        """
        self.groups = groups
        self.members = [np.array([joints[bone] for bone in group.bones.tolist()], int) for group in groups]
        self.member = np.concatenate(self.members) if groups else np.zeros(0, int)
        bones = np.concatenate([group.bones for group in groups]) if groups else np.zeros(0, int)
        frames = len(reference)
        base = to_matrix(reference[: 1 if reference.strides[0] == 0 else frames, bones])  # often one for all frames
        self.axes: Array | None = None if axes is None else to_matrix(axes[bones])
        if self.axes is not None:
            base = base @ self.axes
        self.base = np.broadcast_to(base, (frames, *base.shape[1:]))
        empty = np.zeros((frames, 0))

        def by_frame(bounds: list[Array]) -> Array:
            for bound in bounds:
                if bound.ndim > 2 and bound.shape[0] != frames:
                    raise CoreError(f"A limit has bounds for {bound.shape[0]} frames; {frames} are solved.")
            flat = [np.broadcast_to(b, (frames, *b.shape[-2:])).reshape(frames, -1) for b in bounds]
            return np.concatenate(flat or [empty], axis=1)

        self.lower = by_frame([group.lower for group in groups])
        self.upper = by_frame([group.upper for group in groups])
        sizes = [group.lower.shape[-1] for group in groups]
        fold = np.array(
            [c >= size - group.folds for group, size in zip(groups, sizes, strict=True)
             for _ in group.bones for c in range(size)], bool
        )  # fmt: skip
        self.folded = self.upper if softness == 0.0 else np.where(fold, np.inf, self.upper)
        self.upper = np.where(fold, np.inf, self.upper)
        joint = [np.repeat(member, size) for member, size in zip(self.members, sizes, strict=True)]
        self.joint = np.concatenate(joint) if joint else np.zeros(0, int)
        self.count = len(self.joint)
        self.slots = slots_of(self.joint)
        self.real = ~(self.lower == self.upper).all(axis=0)  # limits that are no locked channels
        self.variance = np.where(self.real, softness * softness, 0.0)
        names = [
            (bone, group.describe(i, c))
            for group, size in zip(groups, sizes, strict=True)
            for i, bone in enumerate(group.bones.tolist())
            for c in range(size)
        ]
        self.names = tuple(name for name, real in zip(names, self.real, strict=True) if real)

    def nothing(self, frames: int) -> NDArray[np.bool_]:
        """Return no active rows, (B, K)."""
        return np.zeros((frames, self.count), bool)

    def _parts(self, frames: NDArray[np.int64]) -> Iterator[tuple[LimitGroup, NDArray[np.int64], slice, slice]]:
        """Yield each group with the bounds of some frames, its joints, and its slices of own rotations and rows."""
        place = row = 0
        for group, member in zip(self.groups, self.members, strict=True):
            size = group.lower.shape[-1] * len(member)
            yield group.at_frames(frames), member, slice(place, place + len(member)), slice(row, row + size)
            place, row = place + len(member), row + size

    def measure(self, at: Kinematics, frames: NDArray[np.int64]) -> "Measured":
        """Return the own rotations of limited joints and their coordinates."""
        own = self.base[frames] @ at.turns[:, self.member]
        if self.axes is not None:
            own = own @ np.swapaxes(self.axes, -1, -2)
        values = np.empty((len(own), self.count))
        for group, _, places, rows in self._parts(frames):
            values[:, rows] = group.coordinates(own[:, places]).reshape(len(own), -1)
        return Measured(own, values)

    def outside(self, measured: "Measured", frames: NDArray[np.int64], slack: float) -> NDArray[np.int64]:
        """Return the frames in which a hard coordinate is outside its bounds by more than `slack`."""
        beyond = (measured.values < self.lower[frames] - slack) | (measured.values > self.upper[frames] + slack)
        if self.variance.any():
            beyond &= self.variance == 0.0
        return np.flatnonzero(beyond.any(axis=1))

    def strain(self, measured: "Measured", frames: NDArray[np.int64]) -> Array | float:
        """Return the sum (B,) of squared distances of soft coordinates from their bounds, in standard deviations."""
        if not self.variance.any():
            return 0.0
        soft = self.variance > 0.0
        values, low, high = measured.values[:, soft], self.lower[frames][:, soft], self.upper[frames][:, soft]
        out = np.maximum(values - high, 0.0) + np.maximum(low - values, 0.0)
        return (out * out) @ (1.0 / self.variance[soft])

    def clamp(self, x: Array, measured: "Measured", frames: NDArray[np.int64]) -> Array:
        """Return x (B, D) with joints clamped to their limits."""
        result = x.copy()
        for group, member, places, _ in self._parts(frames):
            own = measured.own[:, places]
            inside = group.clamp(own)
            moved = np.any(inside != own, axis=(-1, -2))
            if moved.any():
                vectors, columns = self._vectors(inside, member, places, frames)
                kept = result[:, columns].reshape(vectors.shape)
                result[:, columns] = np.where(moved[..., None], vectors, kept).reshape(len(x), -1)
        return result

    def _vectors(
        self, own: Array, member: NDArray[np.int64], places: slice, frames: NDArray[np.int64]
    ) -> tuple[Array, NDArray[np.int64]]:
        """Return x (B, n, 3) of joints with own rotations (B, n, 3, 3), and their columns (3 n,)."""
        turned = own if self.axes is None else own @ self.axes[places]
        vectors = rotation.log(rotation.from_matrix(np.swapaxes(self.base[frames][:, places], -1, -2) @ turned))
        return vectors, (3 * member[:, None] + np.arange(3)).ravel()

    def draw(self, x: Array, frames: NDArray[np.int64], shares: Array) -> Array:
        """Return x (B, D) with limited joints at `shares` (joints, 3) of their ranges, as `LimitGroup.within` does."""
        result = x.copy()
        for group, member, places, rows in self._parts(frames):
            if not self.real[rows].any():  # locked angles
                continue
            own = np.broadcast_to(group.within(shares[member]), (len(x), len(member), 3, 3))
            vectors, columns = self._vectors(own, member, places, frames)
            result[:, columns] = vectors.reshape(len(x), -1)
        return result

    def linearize(
        self, at: Kinematics, measured: "Measured", frames: NDArray[np.int64], folds: bool = False
    ) -> "LinearLimits":
        """Return the limits linearised at x; `folds`: with those of polygons, which only rest needs."""
        upper = (self.folded if folds else self.upper)[frames]
        slopes = np.empty((len(measured.values), self.count, 3))
        for group, member, places, rows in self._parts(frames):
            values = measured.values[:, rows].reshape(len(slopes), len(member), -1)
            rates = at.rates[:, member] if self.axes is None else self.axes[places] @ at.rates[:, member]
            slope = group.gradients(measured.own[:, places], values) @ rates
            slopes[:, rows] = slope.reshape(len(slopes), -1, 3)
        return LinearLimits(self, self.lower[frames] - measured.values, upper - measured.values, slopes)

    def curvatures(self, at: Kinematics, frames: NDArray[np.int64]) -> Array:
        """Return second derivatives (B, K, 3, 3) of the coordinates, see `curvatures`."""
        rates = at.rates[:, self.member]
        if self.axes is not None:
            rates = self.axes @ rates
        own = self.measure(at, frames).own
        result = np.empty((len(at.x), self.count, 3, 3))
        for group, _, places, rows in self._parts(frames):
            result[:, rows] = curvatures(group, own[:, places], rates[:, places]).reshape(len(result), -1, 3, 3)
        return result


def curvatures(group: LimitGroup, own: Array, rates: Array) -> Array:
    """Return second derivatives (..., n, C, 3, 3) of a group's coordinates by steps of x.

    These turn joints in tangent space, a step d by rates (..., n, 3, 3) d. By differences of the slopes, accurate to
    1e-13, since a bound balances the pull of a goal out of reach.
    """
    places, weights = numbers.STENCIL
    shift = places.reshape(-1, *[1] * rates.ndim) * np.moveaxis(rates, -1, 0)
    turned = own @ rotation.exp_and_jacobian(shift)[0]  # (4, 3, ..., n, 3, 3)
    slopes = group.gradients(turned, group.coordinates(turned)) @ rates
    bends: Array = np.moveaxis(np.tensordot(weights, slopes, 1), 0, -1)
    return 0.5 * (bends + np.swapaxes(bends, -1, -2))


def slots_of(joint: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the rows of each slot: rows of one slot belong to different joints, those of a joint are in sequence."""
    seen: dict[int, int] = {}
    slot = np.zeros(len(joint), int)
    for row, owner in enumerate(joint.tolist()):
        slot[row] = seen.get(owner, 0)
        seen[owner] = slot[row] + 1
    return [np.flatnonzero(slot == s) for s in range(int(slot.max(initial=-1)) + 1)]


@dataclass(frozen=True, eq=False)
class Measured(Batch):
    """Limit coordinates of B frames at one x."""

    own: Array  # (B, L, 3, 3) own rotations of the limited joints, group after group
    values: Array  # (B, K) coordinates


class Rows(Protocol):
    """The joints of K rows."""

    joint: NDArray[np.int64]  # (K,)
    variance: Array  # (K,) 0 for hard limits
    slots: list[NDArray[np.int64]]  # rows of a slot belong to different joints


@dataclass(frozen=True, eq=False)
class LinearLimits:
    """Limit rows at one x: below <= slope . dx <= above."""

    rows: Rows
    below: Array  # (B, K) at most 0 inside
    above: Array  # (B, K) at least 0 inside
    slopes: Array  # (B, K, 3)

    def __getitem__(self, index: NDArray[np.int64]) -> "LinearLimits":
        return LinearLimits(self.rows, self.below[index], self.above[index], self.slopes[index])

    def begin(self, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the active rows (B, K): those that were and still are at a bound, those outside, and locked ones."""
        near = (self.above < numbers.LIMIT_NEAR) | (self.below > -numbers.LIMIT_NEAR)
        outside = (self.above < -numbers.LIMIT_SLACK) | (self.below > numbers.LIMIT_SLACK)
        return (active & near) | outside | (self.above - self.below < numbers.LIMIT_SLACK)

    def _goal(self) -> Array:
        """Return the signed distance to the nearer bound, (B, K)."""
        return np.where(np.abs(self.above) < np.abs(self.below), self.above, self.below)

    def condition(self, variance: Array, x: Array, active: NDArray[np.bool_]) -> tuple[Array, Array, NDArray[np.int64]]:
        """Return the prior of z = dx + x under the active rows, and the joints (h,) that these hold.

        The prior is its mean (B, D) and its covariance (B, R, 3, 3).
        """
        count = len(x)
        held = np.unique(self.rows.joint[active.any(axis=0)])
        mean = np.zeros_like(x)
        joints = int(self.rows.joint.max(initial=-1)) + 1
        covariance = np.zeros((count, joints, 3, 3))
        covariance[:, :, [0, 1, 2], [0, 1, 2]] = variance[: 3 * joints].reshape(joints, 3)
        centre = mean[:, : 3 * joints].reshape(count, joints, 3)
        turns = x[:, : 3 * joints].reshape(count, joints, 3)
        goal = self._goal()
        for slot in self.rows.slots:
            slot = slot[active[:, slot].any(axis=0)]
            if not len(slot):
                continue
            owner, slope, on = self.rows.joint[slot], self.slopes[:, slot], active[:, slot]
            spread = (covariance[:, owner] @ slope[..., None])[..., 0]
            size = np.sum(slope * spread, axis=-1)
            usable = on & (size > numbers.DAMPING * numbers.DAMPING)
            size = np.where(usable, size + self.rows.variance[slot], 1.0)
            wanted = goal[:, slot] + np.sum(slope * turns[:, owner], axis=-1)
            gap = np.where(usable, wanted - np.sum(slope * centre[:, owner], axis=-1), 0.0)
            centre[:, owner] += spread * (gap / size)[..., None]
            drop = spread[..., :, None] * spread[..., None, :] / size[..., None, None]
            covariance[:, owner] -= np.where(usable[..., None, None], drop, 0.0)
        mean[:, : 3 * joints] = centre.reshape(count, -1)
        return mean, covariance, held

    def fixed(self, spread: Array, active: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Return the least step to the bounds (B, D) of active rows and projectors along them (B, R, 3, 3).

        Both are in standard deviations, `spread` (D,).
        """
        count, degrees = len(active), len(spread)
        joints = int(self.rows.joint.max(initial=-1)) + 1
        step = np.zeros((count, degrees))
        projectors = np.tile(np.eye(3), (count, joints, 1, 1))
        own = step[:, : 3 * joints].reshape(count, joints, 3)  # a view
        goal = self._goal()
        for slot in self.rows.slots:
            slot = slot[active[:, slot].any(axis=0)]
            owner = self.rows.joint[slot]
            slope = self.slopes[:, slot] * spread[: 3 * joints].reshape(joints, 3)[owner]
            along = (projectors[:, owner] @ slope[..., None])[..., 0]
            size = np.sum(along * along, axis=-1)
            usable = active[:, slot] & (size > numbers.DAMPING) & (self.rows.variance[slot] == 0.0)
            size = np.where(usable, size, 1.0)
            gap = np.where(usable, goal[:, slot] - np.sum(slope * own[:, owner], axis=-1), 0.0)
            own[:, owner] += along * (gap / size)[..., None]
            drop = along[..., :, None] * along[..., None, :] / size[..., None, None]
            projectors[:, owner] -= np.where(usable[..., None, None], drop, 0.0)
        return step, projectors

    def strained(self) -> tuple[Array, Array]:
        """Return forces and stiffness (B, K) of soft coordinates, 0 inside."""
        variance = self.rows.variance
        out = np.maximum(-self.above, 0.0) - np.maximum(self.below, 0.0)
        stiffness = (out != 0.0) * np.where(variance > 0.0, 1.0 / np.where(variance > 0.0, variance, 1.0), 0.0)
        return out * stiffness, stiffness

    def strain_slope(self, degrees: int) -> Array:
        """Return the slope (B, D) of half the strain of soft coordinates."""
        result = np.zeros((len(self.below), degrees))
        if not self.rows.variance.any():
            return result
        columns = 3 * self.rows.joint[:, None] + np.arange(3)
        np.add.at(result, (np.arange(len(result))[:, None, None], columns), self.strained()[0][..., None] * self.slopes)
        return result

    def hessian(self, active: NDArray[np.bool_], slope: Array, bends: Array) -> Array:
        """Return the second derivative (B, D, D) of half the strain of soft coordinates, and of the active bounds.

        slope (B, D) is that of the objective, which the bounds balance; bends are the limits' `curvatures`.
        """
        result = np.zeros((*slope.shape, slope.shape[1]))
        forces, stiffness = self.strained()
        hard = active & (self.rows.variance == 0.0)
        if hard.any():
            forces = forces - self.multipliers(hard, slope)
        walls = stiffness[..., None, None] * self.slopes[..., :, None] * self.slopes[..., None, :]
        columns = 3 * self.rows.joint[:, None] + np.arange(3)
        frame = np.arange(len(result))[:, None, None, None]
        np.add.at(result, (frame, columns[:, :, None], columns[:, None, :]), walls + forces[..., None, None] * bends)
        return result

    def multipliers(self, active: NDArray[np.bool_], push: Array) -> Array:
        """Return the forces (B, K) of the active rows whose sum in their joints is `push` (B, D)."""
        owner, slots = self.rows.joint, self.rows.slots
        joints = int(owner.max()) + 1
        push = push[:, : 3 * joints].reshape(len(push), joints, 3)
        multipliers = np.zeros_like(self.below)
        rows = np.full((joints, len(slots)), -1)
        for number, slot in enumerate(slots):
            rows[owner[slot], number] = slot
        held = np.unique(owner[active.any(axis=0)])
        mine = rows[held]  # (h, slots)
        on = active[:, mine] & (mine >= 0)
        slope = np.where(on[..., None], self.slopes[:, mine], 0.0)  # (B, h, slots, 3)
        off = np.where(on, _SAME_BOUND, 1.0)[..., None] * np.eye(len(slots))
        normal = slope @ np.swapaxes(slope, -1, -2) + off
        value = np.linalg.solve(normal, slope @ push[:, held, :, None])[..., 0]
        valid = mine >= 0
        multipliers[:, mine[valid]] = value[:, valid]
        return multipliers

    def revise(self, active: NDArray[np.bool_], step: Array, push: Array, release: bool) -> NDArray[np.bool_]:
        """Return the rows to switch (B, K): those that the step crosses and, with `release`, those of `leaving`.

        push (B, D) is the force of the bounds: the slope of the objective at the end of the step.
        """
        owner = self.rows.joint
        joints = int(owner.max()) + 1
        moved = np.sum(self.slopes * step[:, : 3 * joints].reshape(len(step), joints, 3)[:, owner], axis=-1)
        crossed = ~active & ((moved > self.above + numbers.LIMIT_SLACK) | (moved < self.below - numbers.LIMIT_SLACK))
        return crossed | self.leaving(active, push) if release and active.any() else crossed

    def leaving(self, active: NDArray[np.bool_], push: Array) -> NDArray[np.bool_]:
        """Return the active rows (B, K) to release: their bounds would have to pull."""
        multipliers = self.multipliers(active, push)
        upper = np.abs(self.above) < np.abs(self.below)
        free = active & (self.above - self.below > numbers.LIMIT_SLACK)
        return free & np.where(upper, multipliers > numbers.RELEASE, multipliers < -numbers.RELEASE)


def project(projectors: Array, columns: Array) -> Array:
    """Return columns (B, D, n) with those of limited joints projected along their bounds; projectors (B, R, 3, 3)."""
    count, joints = projectors.shape[:2]
    if not joints:
        return columns
    result = columns.copy()
    blocks = result[:, : 3 * joints].reshape(count, joints, 3, columns.shape[-1])
    result[:, : 3 * joints] = (projectors @ blocks).reshape(count, 3 * joints, columns.shape[-1])
    return result


def along_bounds(hessian: Array, projectors: Array) -> Array:
    """Return the Hessian (B, D, D) along the bounds, with 1 across them."""
    if not projectors.shape[1]:
        return hessian
    result = project(projectors, np.swapaxes(project(projectors, hessian), -1, -2))
    columns = 3 * np.arange(int(projectors.shape[1]))[:, None] + np.arange(3)
    result[:, columns[:, :, None], columns[:, None, :]] += np.eye(3) - projectors
    return result
