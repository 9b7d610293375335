"""Limits of Blender's inverse kinematics."""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import rotation
from ..errors import CoreError
from ..rotation import Array
from .bounds import between, readable_ranges
from .group import RangeGroup
from .swing import NEAR_SINGULAR, from_swing_twist, swing_rates, swing_vector, twist_angle, twist_rates

_BOTH: Final = np.ones(2)  # sums two numbers faster than numpy's sum
# reads from a matrix the sines of the swing about x and z, twice its cosine, and a multiple of the twist's sine, cosine
_READ: Final = np.zeros((5, 9))
_READ[[0, 1, 2, 3, 3, 4, 4], [7, 1, 4, 2, 6, 0, 8]] = [1.0, -1.0, 2.0, 1.0, -1.0, 1.0, 1.0]
_ORDINARY: Final = -1.8  # twice the cosine of a swing by 154 degrees; beyond, `swing_vector` is needed
_THIN: Final = 1e-3  # sine of half an angle: an ellipse with a shorter half-axis is two separate ranges
_FARTHEST: Final = float(np.sqrt(1.0 - 1e-4))  # sine of half a swing by 178.9 degrees: beyond, twists are inaccurate


class EllipticSwing(RangeGroup):
    """Blender's IK limits: an ellipse in sin(half swing) over X and Z, by quarters, and a range for the twist about Y.

    lower, upper (..., k, 3), radians, by axis x, y, z with lower <= 0 <= upper for x and z; infinite if free. If only
    one of x and z is bounded, it is a range. Raises CoreError for other bounds. Source: Blender's intern/iksolver,
    IK_QSphericalSegment (SphericalRangeParameters, SetLimit).
    """

    names = ("X", "Z", "swing", "twist")

    def __init__(self, bones: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        super().__init__(bones, lower, upper)
        low, high = self._given
        swing_low, swing_high = low[..., [0, 2]], high[..., [0, 2]]
        if np.any(swing_low > 0.0) or np.any(swing_high < 0.0):
            raise CoreError("Swing limits must contain zero.")
        reach = np.stack([-swing_low, swing_high])
        bounded = np.isfinite(reach).all(axis=0)
        sine = np.where(np.isfinite(reach), np.sin(0.5 * np.clip(reach, 0.0, np.pi)), 1.0)
        elliptic: NDArray[np.bool_] = bounded.all(axis=-1) & np.all(sine > _THIN, axis=(0, -1))
        self._elliptic = elliptic
        below: Array
        above: Array
        below, above = np.where(elliptic[..., None], sine, 1.0)
        self._sine = below, above  # (..., k, 2) each: below and above zero, x and z
        self._sides = below.T.copy(), above.T.copy()
        span = np.sqrt(np.prod(0.5 * (below + above), axis=-1))
        self._scale = 2.0 * span  # from the radius of the unit circle to about radians
        single = ~elliptic[..., None]
        self.lower, self.upper = (np.full((*span.shape, 4), bound) for bound in (-np.inf, np.inf))
        np.copyto(self.lower[..., :2], swing_low, where=single)
        np.copyto(self.upper[..., :2], swing_high, where=single)
        np.copyto(self.upper[..., 2], self._scale, where=elliptic)
        self.lower[..., 3], self.upper[..., 3] = low[..., 1], high[..., 1]

    def _radii(self, swing: Array) -> Array:
        below, above = self._sine
        return np.where(swing < 0.0, below, above)

    def coordinates(self, matrices: Array) -> Array:
        if matrices.ndim == self.lower.ndim + 1 == 3:
            read = _READ.dot(matrices.reshape(-1, 9).T)
            if min(read[2].tolist()) > _ORDINARY:
                return self._ordinary(read)
        swing, _ = swing_vector(matrices)
        scaled = swing / self._radii(swing)
        result = np.empty((*swing.shape[:-1], 4))
        result[..., :2] = 2.0 * np.arcsin(np.minimum(np.maximum(swing, -1.0), 1.0))
        result[..., 2] = self._scale * np.sqrt((scaled * scaled) @ _BOTH)
        result[..., 3] = twist_angle(matrices)
        return result

    def _ordinary(self, read: Array) -> Array:
        """Return `coordinates` of one pose without swings near half a turn, in few numpy calls; read (5, k)."""
        swing = read[:2] / np.sqrt(2.0 + read[2])
        x, z = swing / np.where(swing < 0.0, *self._sides)
        result = np.empty((4, len(x)))
        np.multiply(2.0, np.arcsin(swing), out=result[:2])
        np.multiply(self._scale, np.hypot(x, z), out=result[2])
        np.arctan2(read[3], read[4], out=result[3])
        return result.T

    def gradients(self, matrices: Array, coordinates: Array) -> Array:
        swing, cosine = swing_vector(matrices)
        rates = swing_rates(matrices, swing, cosine)
        half_cosine = np.sqrt(np.maximum(1.0 - swing * swing, NEAR_SINGULAR**2))
        single = 2.0 * rates / half_cosine[..., None]
        radii = self._radii(swing)
        scaled = swing / radii
        radius = np.maximum(np.linalg.norm(scaled, axis=-1), NEAR_SINGULAR)
        direction = scaled / radii / radius[..., None]
        ellipse = self._scale[..., None] * np.sum(direction[..., None] * rates, axis=-2)
        twist = twist_rates(matrices, cosine)
        return np.concatenate([single, ellipse[..., None, :], twist[..., None, :]], axis=-2)

    def gradient(self, matrices: Array, coordinates: Array, index: int, coordinate: int) -> Array:
        # as `gradients`, in plain Python
        (m00, m01, m02), (m10, m11, m12), (m20, m21, m22) = matrices[index].tolist()
        cosine2 = max(0.5 * (1.0 + m11), NEAR_SINGULAR**2)
        if cosine2 <= NEAR_SINGULAR**2:
            return super().gradient(matrices, coordinates, index, coordinate)
        if coordinate == 3:
            return np.array([0.5 * m10 / cosine2, 1.0, 0.5 * m12 / cosine2])
        half = 0.5 / math.sqrt(cosine2)
        x, z = half * m21, -half * m01
        # d x / d omega, d z / d omega; column Y turns about X towards column Z, about Z away from column X
        of_x = half * (m22 - half * x * m12), half * (-m20 + half * x * m10)
        of_z = half * (-m02 - half * z * m12), half * (m00 + half * z * m10)
        if coordinate == 2:
            below, above = self._sine
            inverse_x, inverse_z = (
                1.0 / float((below if part < 0.0 else above)[index, axis]) for axis, part in enumerate((x, z))
            )
            radius = max(math.hypot(x * inverse_x, z * inverse_z), NEAR_SINGULAR)
            scale = float(self._scale[index]) / radius
            along_x, along_z = scale * x * inverse_x * inverse_x, scale * z * inverse_z * inverse_z
        else:
            part = x if coordinate == 0 else z
            rate = 2.0 / math.sqrt(max(1.0 - part * part, NEAR_SINGULAR**2))
            along_x, along_z = (rate, 0.0) if coordinate == 0 else (0.0, rate)
        return np.array([along_x * of_x[0] + along_z * of_z[0], 0.0, along_x * of_x[1] + along_z * of_z[1]])

    def _inside(self, matrices: Array, coordinates: Array, out: Array) -> Array:
        inside, radius = coordinates - out, coordinates[..., 2]
        swing, _ = swing_vector(matrices)
        single = np.sin(0.5 * inside[..., :2])
        shrink = np.where(radius > 0.0, inside[..., 2] / np.where(radius > 0.0, radius, 1.0), 1.0)
        vector = np.where(np.isfinite(self.upper[..., 2:3]), swing * shrink[..., None], single)
        return rotation.to_matrix(from_swing_twist(vector, inside[..., 3]))

    def within(self, shares: Array) -> Array:
        """See `LimitGroup.within`; shares of the swing about x and z, then the twist. Ellipses are covered evenly."""
        low, high = self._given
        low, high = readable_ranges(low, high)
        vector = np.where(self._elliptic[..., None], self._in_ellipse(shares), _in_ranges(low, high, shares))
        return rotation.to_matrix(from_swing_twist(vector, between(low[..., 1], high[..., 1], shares[..., 2])))

    def _in_ellipse(self, shares: Array) -> Array:
        """Return swing vectors (..., k, 2): each quarter of the rectangle is mapped to its quarter of the ellipse."""
        below, above = self._sine
        corner = between(-below, above, shares[..., :2])
        vector = _disc(corner / self._radii(corner)) * self._radii(corner)
        return vector * (_FARTHEST / np.maximum(np.linalg.norm(vector, axis=-1, keepdims=True), _FARTHEST))


def _in_ranges(low: Array, high: Array, shares: Array) -> Array:
    """Return swing vectors (..., k, 2) of angles about x and, in the range that remains, about z."""
    sines: list[Array] = []
    left: Array | float = _FARTHEST**2
    for number, axis in enumerate((0, 2)):
        reach = 2.0 * np.arcsin(np.sqrt(left))
        angle = between(
            np.clip(low[..., axis], -reach, reach), np.clip(high[..., axis], -reach, reach), shares[..., number]
        )
        sines.append(np.sin(0.5 * angle))
        left = np.maximum(left - sines[-1] ** 2, 0.0)
    return np.stack(sines, axis=-1)


def _disc(square: Array) -> Array:
    """Map the square [-1, 1]^2 to the unit disc, preserving areas and quarters (Shirley and Chiu 1997)."""
    a, b = square[..., 0], square[..., 1]
    flat = np.abs(a) > np.abs(b)
    radius, other = np.where(flat, a, b), np.where(flat, b, a)
    angle = 0.25 * np.pi * other / np.where(radius == 0.0, 1.0, radius)
    along, across = radius * np.cos(angle), radius * np.sin(angle)
    return np.stack([np.where(flat, along, across), np.where(flat, across, along)], axis=-1)
