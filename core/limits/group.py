"""What all kinds of limits have in common.

A group holds the limits of one kind for k bones. It maps the bones' own rotation matrices to coordinates with a lower
and an upper bound each, and gives the coordinates' gradients with respect to a rotation in the bone's own frame, so
that solvers treat all kinds alike: a coordinate beyond its bound is one row n . omega = bound - coordinate.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array


class LimitGroup(Protocol):
    """Limits of one kind. Matrices are own rotations (..., k, 3, 3), coordinates (..., k, C), radians."""

    @property
    def bones(self) -> NDArray[np.int64]:
        """(k,) indices of the bones."""
        ...

    @property
    def folds(self) -> int:
        """How many coordinates, the last ones, only hard bounds need: they tell no new way of being outside."""
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

    def within(self, shares: Array) -> Array:
        """Own rotations (..., k, 3, 3) inside the limits, readable as such.

        shares (..., k, 3) from 0 to 1 are where in their range the three parameters are; 0.5 everywhere is the middle.
        """
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


class KeptGradients:
    """`LimitGroup.gradient` for kinds whose `gradients` cost little more than one row: those at the last matrices stay.

    A frame asks for its rows one after the other.
    """

    def __init__(self, gradients: Callable[[Array, Array], Array]) -> None:
        self._gradients = gradients
        self._kept: tuple[bytes, Array] = b"", np.zeros(0)

    def row(self, matrices: Array, coordinates: Array, index: int, coordinate: int) -> Array:
        """One row (3,), read-only."""
        key = matrices.tobytes()
        kept, rows = self._kept
        if key != kept:
            rows = self._gradients(matrices, coordinates)
            rows.setflags(write=False)
            self._kept = key, rows
        return rows[index, coordinate]


def excess(group: LimitGroup, coordinates: Array) -> Array:
    """How far outside, (..., k, C): positive above the upper bound, negative below the lower one, else 0."""
    return np.maximum(coordinates - group.upper, 0.0) + np.minimum(coordinates - group.lower, 0.0)


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
