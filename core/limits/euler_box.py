"""Limits as ranges of Euler angles."""

import math
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import rotation
from ..errors import CoreError
from ..rotation import Array
from .bounds import CLEAR, between, readable_ranges, turning_middle
from .group import RangeGroup

_NEAR_SINGULAR: Final = 1e-6  # keeps gradients finite at gimbal lock
_SLACK: Final = 1e-6  # radians outside for which the other triple of angles is not tried


class EulerBox(RangeGroup):
    """A range for each Euler angle x, y, z, in an order of the bone's own: Blender's Limit Rotation in local space.

    orders (k,): "XYZ" ...; lower, upper (..., k, 3), radians, by axis x, y, z, infinite if free. Raises CoreError for
    other orders and bounds.
    """

    def __init__(
        self, bones: ArrayLike, orders: tuple[str, ...] | list[str], lower: ArrayLike, upper: ArrayLike
    ) -> None:
        super().__init__(bones, lower, upper)
        low, high = self._given
        self.orders = tuple(orders)
        if len(self.orders) != len(self.bones) or not set(self.orders) <= set(rotation.EULER_ORDERS):
            raise CoreError(f"Euler limits of {len(self.bones)} bones need as many orders, such as XYZ.")
        self._plan = [rotation.axes_and_parity(order) for order in self.orders]
        self._axes = np.array([row[:3] for row in self._plan], int).reshape(-1, 3)
        self._parity = np.array([row[3] for row in self._plan], float)
        i, j, k = self._axes.T
        base = 9 * np.arange(len(self))
        # flat indices of the matrices' entries for the angles: sines, cosines, and the other side of the second cosine
        places = (k, j), (k, i), (j, i), (k, k), (i, i), (i, i), (j, i)
        self._entries = np.stack([base + 3 * a + b for a, b in places])
        self._places = np.unravel_index(self._entries, (len(self), 3, 3))
        signs = np.ones((7, len(self)))
        signs[[0, 2]], signs[1] = self._parity, -self._parity
        self._signs = signs
        # coordinates are in the order of rotation: first, second, third
        self.lower = np.take_along_axis(low, np.broadcast_to(self._axes, low.shape), axis=-1)
        self.upper = np.take_along_axis(high, np.broadcast_to(self._axes, high.shape), axis=-1)
        self._middle = turning_middle(self.lower, self.upper)
        self._floor = np.ascontiguousarray(np.swapaxes(self.lower, -1, -2)) - _SLACK
        self._ceiling = np.ascontiguousarray(np.swapaxes(self.upper, -1, -2)) + _SLACK
        self._permutation = np.eye(3)[self._axes]  # (k, 3, 3): first, second, third -> x, y, z
        # the same for the rows of gradients, as flat indices (k, 3, 3)
        turn = np.argsort(self._axes, axis=-1)
        self._by_axis = base[:, None, None] + 3 * np.arange(3)[:, None] + turn[:, None, :]

    def coordinates(self, matrices: Array) -> Array:
        # (..., 7, k); indexing keeps the frames last in memory
        if matrices.ndim == 3:
            entries = matrices.ravel().take(self._entries) * self._signs
        else:
            entries = matrices[..., *self._places] * self._signs
        np.hypot(entries[..., 4, :], entries[..., 6, :], out=entries[..., 4, :])
        rows = np.arctan2(entries[..., :3, :], entries[..., 3:6, :])  # (..., 3, k)
        angles = np.swapaxes(rows, -1, -2)
        if self._middle is not None:
            angles = self._middle + rotation.wrap(angles - self._middle)
            return self._nearer(angles, self.lower, self.upper, self._middle)
        beyond = (rows < self._floor) | (rows > self._ceiling)
        if np.count_nonzero(beyond):
            outside = beyond.any(axis=-2)
            low, high = (np.broadcast_to(bound, angles.shape)[outside] for bound in (self.lower, self.upper))
            angles[outside] = self._nearer(angles[outside], low, high)
        return angles

    def margins(self, matrices: Array, lower: Array, upper: Array) -> Array:
        """Return numbers (..., k, 6), affine in matrices (..., k, 3, 3), that are 0 where an angle is at a bound.

        lower, upper (..., k, 3): the bounds, in the order of rotation; in place of infinite ones that is where angles
        begin again. They are 0 half a turn from a first or third bound, too.
        """
        entries = np.swapaxes(matrices[..., *self._places] * self._signs, -1, -2)  # (..., k, 7)
        bounds = np.concatenate([lower, upper], axis=-1)
        again = np.pi + np.tile(np.zeros(3) if self._middle is None else self._middle, 2)
        bounds = np.where(np.isfinite(bounds), bounds, again)
        across = np.ones_like(entries[..., :6])
        across[..., [0, 2, 3, 5]] = entries[..., [3, 5, 3, 5]]
        along = np.cos(bounds)
        along[..., [1, 4]] = 1.0  # the sine of the second angle is an entry
        return entries[..., [0, 1, 2, 0, 1, 2]] * along - across * np.sin(bounds)

    @staticmethod
    def _nearer(angles: Array, lower: Array, upper: Array, middle: Array | float = 0.0) -> Array:
        """Return the triple (..., 3) of the two for one rotation that is less far outside."""

        def outside(some: Array) -> Array:
            return np.sum(np.maximum(some - upper, 0.0) + np.maximum(lower - some, 0.0), axis=-1)

        turned = angles + np.array([np.pi, 0.0, np.pi])
        turned[..., 1] = np.pi - angles[..., 1]
        turned = middle + rotation.wrap(turned - middle)
        worse = outside(turned) >= outside(angles)
        return np.where(worse[..., None], angles, turned)

    def gradients(self, matrices: Array, coordinates: Array) -> Array:
        # omega in the axes (first, second, third) to rates of the three angles
        first_two = coordinates[..., :2]
        sines, cosines = np.sin(first_two) * self._parity[:, None], np.cos(first_two)
        sine1, cosine1, sine2, cosine2 = sines[..., 0], cosines[..., 0], sines[..., 1], cosines[..., 1]
        cosine2 = np.where(np.abs(cosine2) < _NEAR_SINGULAR, _NEAR_SINGULAR, cosine2)
        rates = np.zeros((*coordinates.shape, 3))
        rates[..., 0, 0] = 1.0
        rates[..., 1, 1] = cosine1
        rates[..., 1, 2] = -sine1
        rates[..., 2, 1] = third_second = sine1 / cosine2
        rates[..., 2, 2] = third_third = cosine1 / cosine2
        rates[..., 0, 1] = sine2 * third_second
        rates[..., 0, 2] = sine2 * third_third
        return rates.reshape(*rates.shape[:-3], -1).take(self._by_axis, axis=-1)

    def gradient(self, matrices: Array, coordinates: Array, index: int, coordinate: int) -> Array:
        i, j, k, parity = self._plan[index]
        first, second, _ = coordinates[index].tolist()
        sine, cosine = math.sin(first) * parity, math.cos(first)
        rate = np.zeros(3)
        if coordinate == 1:
            rate[j], rate[k] = cosine, -sine
            return rate
        divisor = math.cos(second)
        divisor = divisor if abs(divisor) > _NEAR_SINGULAR else _NEAR_SINGULAR
        share = 1.0
        if coordinate == 0:
            rate[i], share = 1.0, math.sin(second) * parity
        rate[j], rate[k] = share * sine / divisor, share * cosine / divisor
        return rate

    def _inside(self, matrices: Array, coordinates: Array, out: Array) -> Array:
        return self._turns(coordinates - out)

    def within(self, shares: Array) -> Array:
        """See `LimitGroup.within`; shares are in the order of rotation, as coordinates are."""
        low, high = readable_ranges(self.lower, self.upper, 0.0 if self._middle is None else self._middle)
        angles = between(low, high, shares)
        # the other two angles are ambiguous at gimbal lock: step off it, within the range
        second = angles[..., 1]
        lock = second - (second % np.pi - 0.5 * np.pi)
        beyond = np.where(lock + CLEAR <= high[..., 1], lock + CLEAR, np.maximum(lock - CLEAR, low[..., 1]))
        angles[..., 1] = np.where(np.abs(second - lock) < CLEAR, beyond, second)
        return self._turns(angles)

    def _turns(self, angles: Array) -> Array:
        """Return the matrices of angles (..., k, 3), first, second, third."""
        turns = rotation.to_matrix(rotation.exp(angles[..., None] * self._permutation))  # (..., k, 3, 3, 3)
        return turns[..., 2, :, :] @ turns[..., 1, :, :] @ turns[..., 0, :, :]

    def describe(self, index: int, coordinate: int) -> str:
        return "XYZ"[self._axes[index, coordinate]]

    def _with(self, kept: NDArray[np.int64], lower: Array, upper: Array) -> Self:
        return type(self)(self.bones[kept], [self.orders[i] for i in kept], lower, upper)

    def widened(self, matrices: Array) -> Self:
        """Return the same limits, wide enough for all rotations (..., k, 3, 3)."""
        angles = self.coordinates(matrices).reshape(-1, len(self), 3)
        low, high = np.minimum(self.lower, angles.min(axis=0)), np.maximum(self.upper, angles.max(axis=0))
        back = np.broadcast_to(np.argsort(self._axes, axis=-1), low.shape)
        bounds = (np.take_along_axis(bound, back, axis=-1) for bound in (low, high))
        return type(self)(self.bones, self.orders, *bounds)
