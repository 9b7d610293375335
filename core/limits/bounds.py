"""Bounds by bone and axis, in radians."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import CoreError
from ..rotation import Array

FREE: Final = float(np.radians(90.0))  # radians that a range without a bound extends from its other bound or from 0
CLEAR: Final = 1e-5  # radians from half turns and gimbal lock: nearer, angles are read with errors over 1e-10


def checked_bounds(bones: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> tuple[NDArray[np.int64], Array, Array]:
    """Return indices (k,) and bounds (..., k, 3) of one shape. Raises CoreError if they do not fit or contradict."""
    indices, low, high = np.asarray(bones, int), np.asarray(lower, float), np.asarray(upper, float)
    if low.shape[-2:] != (len(indices), 3) or high.shape[-2:] != (len(indices), 3):
        raise CoreError(f"Limits of {len(indices)} bones need bounds of the shape (..., {len(indices)}, 3).")
    if np.isnan(low).any() or np.isnan(high).any():
        raise CoreError("A limit is not a number.")
    if np.any(low > high):
        raise CoreError("A limit's lower bound is above its upper bound.")
    low, high = np.broadcast_arrays(low, high)
    return indices, low, high


def turning_middle(lower: Array, upper: Array) -> Array | None:
    """Return the middles (..., k, 3) of ranges of angles, 0 for unbounded ones; None if no range leaves [-pi, pi].

    Angles are read in [-pi, pi]; for a range beyond that they are wrapped about its middle.
    """
    bounded = np.isfinite(lower) & np.isfinite(upper)
    if not (bounded & ((lower < -np.pi) | (upper > np.pi))).any():
        return None
    return 0.5 * (np.where(bounded, lower, 0.0) + np.where(bounded, upper, 0.0))


def finite_ranges(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return the bounds with a missing one FREE from the other one, or both FREE from 0."""
    below, above = np.isfinite(lower), np.isfinite(upper)
    low = np.where(below, lower, np.where(above, upper, 0.0) - FREE)
    high = np.where(above, upper, np.where(below, lower, 0.0) + FREE)
    return low, high


def readable_ranges(lower: Array, upper: Array, middle: Array | float = 0.0) -> tuple[Array, Array]:
    """Return `finite_ranges` clipped to half a turn on both sides of `middle`, less CLEAR."""
    reach = np.pi - CLEAR
    low, high = finite_ranges(lower, upper)
    return np.clip(low, middle - reach, middle + reach), np.clip(high, middle - reach, middle + reach)


def between(low: Array, high: Array, shares: Array) -> Array:
    """Return the interpolation from `low` at a share of 0 to `high` at 1, exact at both."""
    return (1.0 - shares) * low + shares * high
