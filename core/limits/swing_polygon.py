"""Limits of spherical joints: a polygon of swings, each with a range of twists (CN1420453)."""

from collections.abc import Sequence
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import CoreError
from ..rotation import Array, to_matrix, wrap
from .bounds import CLEAR, between, finite_ranges
from .group import LimitGroup
from .polygon import FREE_TWIST, Located, Polygon, PolygonStack
from .swing import from_swing_twist, swing_rates, swing_vector, twist_angle, twist_rates

_RADIANS: Final = 2.0  # of a small swing, per unit of distance in the plane


class SwingPolygon(LimitGroup):
    """A polygon for the swing's vector part, and a range for the twist about Y at each of its points.

    polygons: one for each bone, the same in all frames; rest need not be inside. Outside, a swing is clamped to the
    nearest point of its polygon, and the twist's bounds are those of that point. Raises CoreError for another number of
    polygons. Source: CN1420453.

    Coordinates: twice the distances from two sides (see `Located`), at most 0 inside; the twist above its upper bound;
    the twist below its lower bound; the same three times each for the bounds beyond the sides of its triangle (see
    `Located.folds`). A twist is wrapped about the middle of its range.
    """

    names = ("swing", "swing", "twist", "twist", *6 * ("twist",))
    folds = 6

    def __init__(self, bones: ArrayLike, polygons: Sequence[Polygon] | PolygonStack) -> None:
        self.bones = np.asarray(bones, int)
        self._stack = polygons if isinstance(polygons, PolygonStack) else PolygonStack.of(polygons)
        if self.bones.shape != (len(self._stack),):
            raise CoreError(f"Swing polygons of {self.bones.size} bones need as many polygons.")
        self.lower = np.full((len(self.bones), len(self.names)), -np.inf)
        self.upper = np.zeros((len(self.bones), len(self.names)))

    def coordinates(self, matrices: Array) -> Array:
        located = Located(self._stack, swing_vector(matrices)[0])
        middle, half, off = _twists(located, matrices)
        below, above = np.moveaxis(located.folds() - (middle + off)[..., None, None], -2, 0)
        values = np.empty((*off.shape, len(self.names)))
        values[..., :2] = _RADIANS * located.sides()
        values[..., 2] = off - half
        values[..., 3] = -off - half
        values[..., 4:7] = -above
        values[..., 7:] = below
        return values

    def gradients(self, matrices: Array, coordinates: Array) -> Array:
        vector, cosine = swing_vector(matrices)
        located = Located(self._stack, vector)
        rates = swing_rates(matrices, vector, cosine)
        ranges = located.range_rates() @ rates
        twist = twist_rates(matrices, cosine)
        off = twist - ranges[..., 0, :]
        below, above = np.moveaxis(located.fold_rates() @ rates[..., None, :, :] - twist[..., None, None, :], -3, 0)
        slopes = np.empty((*off.shape[:-1], len(self.names), 3))
        slopes[..., :2, :] = _RADIANS * (located.side_rates() @ rates)
        slopes[..., 2, :] = off - ranges[..., 1, :]
        slopes[..., 3, :] = -off - ranges[..., 1, :]
        slopes[..., 4:7, :] = -above
        slopes[..., 7:, :] = below
        return slopes

    def clamp(self, matrices: Array) -> Array:
        located = Located(self._stack, swing_vector(matrices)[0])
        middle, half, off = _twists(located, matrices)
        inside = np.minimum(np.maximum(off, -half), half)
        moved = located.outside | (inside != off)
        if not moved.any():
            return matrices
        turned = to_matrix(from_swing_twist(located.nearest(), middle + inside))
        return np.where(moved[..., None, None], turned, matrices)

    def within(self, shares: Array) -> Array:
        """See `LimitGroup.within`; two shares cover the polygon's area evenly, the third the twists at that point."""
        points = self._stack.pick(shares[..., :2])
        middle, half = np.moveaxis(Located(self._stack, points).ranges(), -1, 0)
        lower, upper = middle - half, middle + half
        lower = np.where(lower < CLEAR - FREE_TWIST, -np.inf, lower)
        upper = np.where(upper > FREE_TWIST - CLEAR, np.inf, upper)
        twist = between(*finite_ranges(lower, upper), shares[..., 2])
        return to_matrix(from_swing_twist(points, twist))

    def take(self, kept: NDArray[np.int64]) -> Self:
        return type(self)(self.bones[kept], self._stack.take(kept))


def _twists(located: Located, matrices: Array) -> tuple[Array, Array, Array]:
    """Return middle and half width of the range of twists, and the twist from the middle, (..., k) each."""
    ranges = located.ranges()
    middle = ranges[..., 0]
    return middle, ranges[..., 1], wrap(twist_angle(matrices) - middle)
