"""Limits of joints: what a bone's own rotation may be.

A group holds the limits of one kind for k bones. It maps the bones' own rotation matrices to coordinates with a lower
and an upper bound each, and gives the coordinates' gradients with respect to a rotation in the bone's own frame, so
that solvers treat all kinds alike: a coordinate beyond its bound is one row n . omega = bound - coordinate.
"""

import math
from typing import Any, Final, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import rotation
from .errors import CoreError
from .rotation import Array

_NEAR_SINGULAR: Final = 1e-6  # keeps gradients finite at gimbal lock and at a half-turn swing
_SLACK: Final = 1e-6  # radians outside that are no reason to look for the other triple of angles
_THIN: Final = 1e-3  # an ellipse with a half-axis under this (sine of half the angle) is two separate ranges


class LimitGroup(Protocol):
    """Limits of one kind. Matrices are own rotations (..., k, 3, 3), coordinates (..., k, C), radians."""

    @property
    def bones(self) -> NDArray[np.int64]:
        """(k,) indices of the bones."""
        ...

    @property
    def lower(self) -> Array:
        """(..., k, C) lower bounds, -inf where there is none."""
        ...

    @property
    def upper(self) -> Array:
        """(..., k, C) upper bounds, inf where there is none."""
        ...

    def coordinates(self, matrices: Array) -> Array:
        """The bounded quantities (..., k, C)."""
        ...

    def gradients(self, matrices: Array, coordinates: Array) -> Array:
        """d coordinate / d omega, (..., k, C, 3); omega turns the bone in its own frame: R -> R exp(omega)."""
        ...

    def gradient(self, matrices: Array, coordinates: Array, index: int, coordinate: int) -> Array:
        """One row of `gradients`, (3,), of unbatched matrices: a single frame needs few of them."""
        ...

    def clamp(self, matrices: Array) -> Array:
        """Rotations inside the limits, (..., k, 3, 3); those inside already are returned as they are."""
        ...

    def describe(self, index: int, coordinate: int) -> str:
        """What a coordinate is called: "X", "swing", "twist"."""
        ...

    def take(self, kept: NDArray[np.int64]) -> "LimitGroup":
        """The limits of some of the bones."""
        ...

    def at_frames(self, frames: NDArray[np.int64]) -> "LimitGroup":
        """The bounds of some frames, where bounds differ from frame to frame."""
        ...


def excess(group: LimitGroup, coordinates: Array) -> Array:
    """How far outside, (..., k, C): positive above the upper bound, negative below the lower one, else 0."""
    return np.maximum(coordinates - group.upper, 0.0) + np.minimum(coordinates - group.lower, 0.0)


def _checked(bones: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> tuple[NDArray[np.int64], Array, Array]:
    indices, low, high = np.asarray(bones, int), np.asarray(lower, float), np.asarray(upper, float)
    if low.shape[-2:] != (len(indices), 3) or high.shape[-2:] != (len(indices), 3):
        raise CoreError(f"Limits of {len(indices)} bones need bounds of the shape (..., {len(indices)}, 3).")
    if np.isnan(low).any() or np.isnan(high).any():
        raise CoreError("A limit is not a number.")
    if np.any(low > high):
        raise CoreError("A limit's lower bound is above its upper bound.")
    return indices, low, high


class EulerBox:
    """A range for each Euler angle x, y, z, in an order of the bone's own: Blender's Limit Rotation in local space.

    orders (k,): "XYZ" ...; lower, upper (..., k, 3) by axis x, y, z, infinite where free.
    """

    def __init__(
        self, bones: ArrayLike, orders: tuple[str, ...] | list[str], lower: ArrayLike, upper: ArrayLike
    ) -> None:
        self.bones, low, high = _checked(bones, lower, upper)
        self._given = low, high
        self.orders = tuple(orders)
        if len(self.orders) != len(self.bones) or not set(self.orders) <= set(rotation.EULER_ORDERS):
            raise CoreError(f"Euler limits of {len(self.bones)} bones need as many orders such as XYZ.")
        table = [rotation.axes_and_parity(order) for order in self.orders]
        self._axes = np.array([row[:3] for row in table], int).reshape(-1, 3)
        self._parity = np.array([row[3] for row in table], float)
        self._plan = table
        i, j, k = self._axes.T
        base = 9 * np.arange(len(table))
        # entries of the matrices that the angles are read from, as flat indices
        self._entries = np.stack([base + 3 * a + b for a, b in ((k, j), (k, k), (k, i), (i, i), (j, i))])
        signs = np.ones((5, len(table)))
        signs[[0, 4]], signs[2] = self._parity, -self._parity
        self._signs = signs
        # coordinates are in the order of rotation: first, second, third
        self.lower = np.take_along_axis(low, np.broadcast_to(self._axes, low.shape), axis=-1)
        self.upper = np.take_along_axis(high, np.broadcast_to(self._axes, high.shape), axis=-1)
        # angles come in [-pi, pi]; a range that leaves that is met by whole turns about its middle
        bounded = np.isfinite(self.lower) & np.isfinite(self.upper)
        middle = 0.5 * (np.where(bounded, self.lower, 0.0) + np.where(bounded, self.upper, 0.0))
        beyond = bounded & ((self.lower < -np.pi) | (self.upper > np.pi))
        self._middle = middle if beyond.any() else None
        self._floor = np.swapaxes(self.lower, -1, -2) - _SLACK
        self._ceiling = np.swapaxes(self.upper, -1, -2) + _SLACK
        self._permutation = np.eye(3)[self._axes]  # (k, 3, 3): first, second, third -> x, y, z
        # the same for the rows of gradients, as flat indices (k, 3, 3)
        turn = np.argsort(self._axes, axis=-1)
        self._by_axis = base[:, None, None] + 3 * np.arange(3)[:, None] + turn[:, None, :]

    def __len__(self) -> int:
        return len(self.bones)

    def coordinates(self, matrices: Array) -> Array:
        flat = matrices.reshape(*matrices.shape[:-3], -1)
        entries = flat.take(self._entries, axis=-1) * self._signs  # (..., 5, k): sines in the even rows
        cosines = entries[..., 1:4, :].copy()
        cosines[..., 1, :] = np.hypot(entries[..., 3, :], entries[..., 4, :])
        rows = np.arctan2(entries[..., ::2, :], cosines)  # (..., 3, k)
        angles = np.swapaxes(rows, -1, -2)
        if self._middle is not None:
            angles = self._middle + rotation.wrap(angles - self._middle)
        elif not ((rows < self._floor) | (rows > self._ceiling)).any():
            return angles
        out = angles - np.minimum(np.maximum(angles, self.lower), self.upper)
        # of the two triples for one rotation take the one that is less far outside
        turned = angles + np.array([np.pi, 0.0, np.pi])
        turned[..., 1] = np.pi - angles[..., 1]
        middle = 0.0 if self._middle is None else self._middle
        turned = middle + rotation.wrap(turned - middle)
        worse = np.sum(np.abs(excess(self, turned)), axis=-1) >= np.sum(np.abs(out), axis=-1)
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

    def clamp(self, matrices: Array) -> Array:
        angles = self.coordinates(matrices)
        out = excess(self, angles)
        outside = np.any(out != 0.0, axis=-1)
        if not outside.any():
            return matrices
        inside = angles - out
        turns = np.broadcast_to(np.eye(3), matrices.shape)
        axes = self._permutation
        for step in range(3):
            turns = rotation.to_matrix(rotation.exp(inside[..., step, None] * axes[:, step])) @ turns
        return np.where(outside[..., None, None], turns, matrices)

    def describe(self, index: int, coordinate: int) -> str:
        return "XYZ"[self._axes[index, coordinate]]

    def take(self, kept: NDArray[np.int64]) -> Self:
        low, high = self._given
        return type(self)(self.bones[kept], [self.orders[i] for i in kept], low[..., kept, :], high[..., kept, :])

    def at_frames(self, frames: NDArray[np.int64]) -> Self:
        if self.lower.ndim == 2:
            return self
        low, high = self._given
        return type(self)(self.bones, self.orders, low[frames], high[frames])


class EllipticSwing:
    """Blender's IK limits: an ellipse in sin(half swing) over X and Z, by quarters, and a range for the twist about Y.

    lower, upper (..., k, 3) by axis x, y, z with lower <= 0 <= upper for x and z; infinite where free. With only one of
    x and z bounded that one is a range. Source: iksolver's IK_QSphericalSegment (SphericalRangeParameters, SetLimit).
    """

    names: Final = ("X", "Z", "swing", "twist")

    def __init__(self, bones: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        self.bones, low, high = _checked(bones, lower, upper)
        self._given = low, high
        swing_low, swing_high = low[..., [0, 2]], high[..., [0, 2]]
        if np.any(swing_low > 0.0) or np.any(swing_high < 0.0):
            raise CoreError("Swing limits must have zero inside.")
        reach = np.stack([-swing_low, swing_high])
        bounded = np.isfinite(reach).all(axis=0)
        sine = np.where(np.isfinite(reach), np.sin(0.5 * np.clip(reach, 0.0, np.pi)), 1.0)
        elliptic: NDArray[np.bool_] = bounded.all(axis=-1) & np.all(sine > _THIN, axis=(0, -1))
        below: Array
        above: Array
        below, above = np.where(elliptic[..., None], sine, 1.0)
        self._sine = below, above  # (..., k, 2) each: below and above zero, x and z
        span = np.sqrt(np.prod(0.5 * (below + above), axis=-1))
        self._scale = 2.0 * span  # turns the radius of the unit circle into something like radians
        infinite = np.inf
        self.lower = np.stack(
            [
                np.where(elliptic, -infinite, swing_low[..., 0]),
                np.where(elliptic, -infinite, swing_low[..., 1]),
                np.full_like(span, -infinite),
                low[..., 1],
            ],
            axis=-1,
        )
        self.upper = np.stack(
            [
                np.where(elliptic, infinite, swing_high[..., 0]),
                np.where(elliptic, infinite, swing_high[..., 1]),
                np.where(elliptic, self._scale, infinite),
                high[..., 1],
            ],
            axis=-1,
        )

    def __len__(self) -> int:
        return len(self.bones)

    def _swing(self, matrices: Array) -> tuple[Array, Array]:
        """Vector part x, z of the swing quaternion (..., k, 2) and the cosine of half the swing (..., k)."""
        cosine = np.sqrt(np.maximum(0.5 * (1.0 + matrices[..., 1, 1]), _NEAR_SINGULAR**2))
        vector = np.stack([matrices[..., 2, 1], -matrices[..., 0, 1]], axis=-1)
        return 0.5 * vector / cosine[..., None], cosine

    def _radii(self, swing: Array) -> Array:
        below, above = self._sine
        return np.where(swing < 0.0, below, above)

    def coordinates(self, matrices: Array) -> Array:
        swing, _ = self._swing(matrices)
        single = 2.0 * np.arcsin(np.clip(swing, -1.0, 1.0))
        radius = self._scale * np.linalg.norm(swing / self._radii(swing), axis=-1)
        trace = matrices[..., 0, 0] + matrices[..., 1, 1] + matrices[..., 2, 2]
        twist = 2.0 * np.arctan2(matrices[..., 0, 2] - matrices[..., 2, 0], 1.0 + trace)
        return np.concatenate([single, radius[..., None], twist[..., None]], axis=-1)

    def gradients(self, matrices: Array, coordinates: Array) -> Array:
        swing, cosine = self._swing(matrices)
        zero = np.zeros_like(cosine)

        def column_rate(row: int) -> Array:
            """d matrices[row, 1] / d omega: the Y column turns with the frame."""
            return np.stack([matrices[..., row, 2], zero, -matrices[..., row, 0]], axis=-1)

        # swing = (m21, -m01) / (2 cos), cos = sqrt((1 + m11) / 2)
        vector_rate = np.stack([column_rate(2), -column_rate(0)], axis=-2)
        cosine_rate = column_rate(1) / (4.0 * cosine[..., None])
        swing_rate = (0.5 * vector_rate - swing[..., None] * cosine_rate[..., None, :]) / cosine[..., None, None]
        half_cosine = np.sqrt(np.maximum(1.0 - swing * swing, _NEAR_SINGULAR**2))
        single = 2.0 * swing_rate / half_cosine[..., None]
        scaled = swing / self._radii(swing)
        radius = np.maximum(np.linalg.norm(scaled, axis=-1), _NEAR_SINGULAR)
        direction = scaled / self._radii(swing) / radius[..., None]
        ellipse = self._scale[..., None] * np.sum(direction[..., None] * swing_rate, axis=-2)
        twist = np.stack([matrices[..., 1, 0], zero, matrices[..., 1, 2]], axis=-1) / (2.0 * cosine[..., None] ** 2)
        twist[..., 1] = 1.0
        return np.concatenate([single, ellipse[..., None, :], twist[..., None, :]], axis=-2)

    def gradient(self, matrices: Array, coordinates: Array, index: int, coordinate: int) -> Array:
        return self.gradients(matrices, coordinates)[index, coordinate]

    def clamp(self, matrices: Array) -> Array:
        values = self.coordinates(matrices)
        out = excess(self, values)
        outside = np.any(out != 0.0, axis=-1)
        if not outside.any():
            return matrices
        inside = values - out
        swing, _ = self._swing(matrices)
        single = np.sin(0.5 * inside[..., :2])
        radius = values[..., 2]
        shrink = np.where(radius > 0.0, inside[..., 2] / np.where(radius > 0.0, radius, 1.0), 1.0)
        vector = np.where(np.isfinite(self.upper[..., 2:3]), swing * shrink[..., None], single)
        length2 = np.sum(vector * vector, axis=-1)
        zero = np.zeros_like(length2)
        w = np.sqrt(np.maximum(1.0 - length2, 0.0))
        swing_q = rotation.normalize(np.stack([w, vector[..., 0], zero, vector[..., 1]], axis=-1))
        twist_q = rotation.exp(inside[..., 3, None] * np.array([0.0, 1.0, 0.0]))
        return np.where(outside[..., None, None], rotation.to_matrix(rotation.mul(swing_q, twist_q)), matrices)

    def describe(self, index: int, coordinate: int) -> str:
        return self.names[coordinate]

    def take(self, kept: NDArray[np.int64]) -> Self:
        low, high = self._given
        return type(self)(self.bones[kept], low[..., kept, :], high[..., kept, :])

    def at_frames(self, frames: NDArray[np.int64]) -> Self:
        if self.lower.ndim == 2:
            return self
        low, high = self._given
        return type(self)(self.bones, low[frames], high[frames])


def clamp_rotations(groups: tuple[LimitGroup, ...], rotations: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Own rotations (..., J, 4) brought inside all limits, and which bones (..., J) had been outside."""
    result = np.array(rotations)
    changed: Any = np.zeros(rotations.shape[:-1], bool)
    for group in groups:
        before = rotation.to_matrix(result[..., group.bones, :])
        outside = np.any(excess(group, group.coordinates(before)) != 0.0, axis=-1)
        if outside.any():
            after = rotation.from_matrix(group.clamp(before))
            result[..., group.bones, :] = np.where(outside[..., None], after, result[..., group.bones, :])
            changed[..., group.bones] |= outside
    return result, changed
