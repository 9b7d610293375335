"""Limits as ranges of three angles without an order of axes (CN106502395)."""

from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..rotation import Array
from .bounds import between, readable_ranges, turning_middle
from .group import RangeGroup

_NEAR_SINGULAR: Final = 1e-6  # w and an axis' component below which its angle is undetermined
_NEAR_HALF_TURN: Final = 1e-4  # 4 w^2 below which angles come from the quaternion: differences lose digits

# from the entries of a matrix to 4 w x, 4 w y, 4 w z and the trace, 4 w^2 - 1
_TO_TANGENTS: Final[Array] = np.zeros((9, 4))
for _axis, (_plus, _minus) in enumerate(((7, 5), (2, 6), (3, 1))):
    _TO_TANGENTS[_plus, _axis], _TO_TANGENTS[_minus, _axis], _TO_TANGENTS[4 * _axis, 3] = 1.0, -1.0, 1.0


class OrderFreeBox(RangeGroup):
    """A range for each of the three angles 2 atan(q_i / w), without order and gimbal lock: `rotation.to_order_free`.

    lower, upper (..., k, 3), radians, by axis x, y, z, infinite if free. Each angle is clamped separately. Raises
    CoreError for other bounds. Source: CN106502395.

    At a half turn (w = 0) an axis with a component has the angle pi or -pi, with the sign in one of the two quaternions
    (the same one for all axes); an axis without component has no angle and counts as inside its range.
    """

    names = ("X", "Y", "Z")

    def __init__(self, bones: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        super().__init__(bones, lower, upper)
        self.lower, self.upper = self._given
        self._middle = turning_middle(self.lower, self.upper)

    def coordinates(self, matrices: Array) -> Array:
        tangents = matrices.reshape(*matrices.shape[:-2], 9) @ _TO_TANGENTS
        cosines = tangents[..., 3:] + 1.0
        angles = 2.0 * np.arctan2(tangents[..., :3], cosines)
        near = cosines < _NEAR_HALF_TURN
        if near.any():
            q = rotation.from_matrix(matrices)
            angles = np.where(near, 2.0 * np.arctan2(q[..., 1:], q[..., :1]), angles)
        if self._middle is not None:
            angles = self._middle + rotation.wrap(angles - self._middle)
        if near.any():
            # twice w^2 + q_i^2: the rotation does not determine the angle
            nowhere = 1.0 + np.diagonal(matrices, axis1=-2, axis2=-1) < 2.0 * _NEAR_SINGULAR**2
            angles = np.where(nowhere, np.minimum(np.maximum(angles, self.lower), self.upper), angles)
        return angles

    def gradients(self, matrices: Array, coordinates: Array) -> Array:
        # d angle_i = 2 (w dq_i - q_i dw) / (w^2 + q_i^2), and with dq = q omega / 2 that is row i of
        # (w^2 I + w [v] + v v^T) / (w^2 + q_i^2) = (R + I) / (1 + R_ii)
        rates = matrices + np.eye(3)
        diagonal = np.diagonal(rates, axis1=-2, axis2=-1)
        return rates / np.maximum(diagonal, 2.0 * _NEAR_SINGULAR**2)[..., None]

    def gradient(self, matrices: Array, coordinates: Array, index: int, coordinate: int) -> Array:
        rate: Array = matrices[index, coordinate].copy()
        rate[coordinate] += 1.0
        return rate / max(float(rate[coordinate]), 2.0 * _NEAR_SINGULAR**2)

    def _inside(self, matrices: Array, coordinates: Array, out: Array) -> Array:
        return rotation.to_matrix(rotation.from_order_free(coordinates - out))

    def within(self, shares: Array) -> Array:
        low, high = readable_ranges(self.lower, self.upper, 0.0 if self._middle is None else self._middle)
        return rotation.to_matrix(rotation.from_order_free(between(low, high, shares)))

    def widened(self, matrices: Array) -> Self:
        """Return the same limits, wide enough for all rotations (..., k, 3, 3)."""
        angles = self.coordinates(matrices).reshape(-1, len(self), 3)
        low, high = np.minimum(self.lower, angles.min(axis=0)), np.maximum(self.upper, angles.max(axis=0))
        return type(self)(self.bones, low, high)
