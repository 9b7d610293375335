"""The interface of all kinds of limits.

A group holds the limits of one kind for k bones. It maps the bones' own rotation matrices to coordinates with a lower
and an upper bound each, and gives the coordinates' gradients by a rotation in the bone's own frame, so that solvers
treat all kinds alike: a coordinate beyond its bound is one row n . omega = bound - coordinate.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import rotation
from ..rotation import Array
from .bounds import checked_bounds


class LimitGroup(ABC):
    """Limits of one kind. Matrices are own rotations (..., k, 3, 3), coordinates (..., k, C), radians.

    bones         (k,) indices
    lower, upper  (..., k, C) bounds of the coordinates, infinite for none
    folds         number of coordinates, the last ones, that only hard bounds need: others are outside before
    names         (C,) of the coordinates
    firm          what a rig cannot show: kept as hard bounds whatever is set for limits
    """

    bones: NDArray[np.int64]
    lower: Array
    upper: Array
    folds: int = 0
    firm: bool = False
    names: tuple[str, ...]
    _kept: tuple[bytes, Array] = b"", np.zeros(0)  # the last matrices of `gradient`, and their gradients

    def __len__(self) -> int:
        return len(self.bones)

    @abstractmethod
    def coordinates(self, matrices: Array) -> Array:
        """Return the bounded coordinates (..., k, C)."""

    @abstractmethod
    def gradients(self, matrices: Array, coordinates: Array) -> Array:
        """Return d coordinate / d omega, (..., k, C, 3); omega turns the bone in its own frame: R -> R exp(omega)."""

    def gradient(self, matrices: Array, coordinates: Array, index: int, coordinate: int) -> Array:
        """Return one row (3,) of `gradients` for matrices (k, 3, 3): a single frame needs few of them.

        By default all rows of the last matrices are kept, where they cost little more than one.
        """
        key = matrices.tobytes()
        kept, rows = self._kept
        if key != kept:
            rows = self.gradients(matrices, coordinates)
            rows.setflags(write=False)
            self._kept = key, rows
        return rows[index, coordinate]

    @abstractmethod
    def clamp(self, matrices: Array) -> Array:
        """Return rotations (..., k, 3, 3) clamped to the limits; those inside stay as they are."""

    @abstractmethod
    def within(self, shares: Array) -> Array:
        """Return own rotations (..., k, 3, 3) inside the limits, away from where coordinates are ambiguous.

        shares (..., k, 3) from 0 to 1 are the places of three parameters in their ranges; 0.5 everywhere is the middle.
        """

    def describe(self, index: int, coordinate: int) -> str:
        """Return the name of a bone's coordinate: "X", "swing", "twist"."""
        return self.names[coordinate]

    @abstractmethod
    def take(self, kept: NDArray[np.int64]) -> Self:
        """Return the limits of some of the bones, by their places in the group."""

    @cached_property
    def by_bone(self) -> tuple[Self, ...]:
        """The limits of each bone."""
        return tuple(self.take(np.array([place])) for place in range(len(self)))

    def at_frames(self, frames: NDArray[np.int64]) -> Self:
        """Return the limits of some frames, if bounds differ from frame to frame."""
        return self


class RangeGroup(LimitGroup):
    """The shared part of limits with three ranges by bone: bones (k,), bounds (..., k, 3) by axis x, y, z."""

    def __init__(self, bones: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        self.bones, low, high = checked_bounds(bones, lower, upper)
        self._given = low, high

    @property
    def bounds(self) -> tuple[Array, Array]:
        """The lower and the upper bounds (..., k, 3) by axis x, y, z, whatever the order of the coordinates."""
        return self._given

    @abstractmethod
    def _inside(self, matrices: Array, coordinates: Array, out: Array) -> Array:
        """Return the rotations (..., k, 3, 3) whose coordinates are less by `out`."""

    def _with(self, kept: NDArray[np.int64], lower: Array, upper: Array) -> Self:
        """Return some of the bones with other bounds."""
        return type(self)(self.bones[kept], lower, upper)

    def clamp(self, matrices: Array) -> Array:
        coordinates = self.coordinates(matrices)
        out = excess(self, coordinates)
        outside = np.any(out != 0.0, axis=-1)
        if not outside.any():
            return matrices
        return np.where(outside[..., None, None], self._inside(matrices, coordinates, out), matrices)

    def take(self, kept: NDArray[np.int64]) -> Self:
        low, high = self._given
        return self._with(kept, low[..., kept, :], high[..., kept, :])

    def at_frames(self, frames: NDArray[np.int64]) -> Self:
        low, high = self._given
        return self if low.ndim == 2 else self._with(np.arange(len(self)), low[frames], high[frames])


def excess(group: LimitGroup, coordinates: Array) -> Array:
    """Return how far coordinates are above (positive) or below (negative) their bounds, (..., k, C); 0 inside."""
    return np.maximum(coordinates - group.upper, 0.0) + np.minimum(coordinates - group.lower, 0.0)


def clamp_rotations(groups: tuple[LimitGroup, ...], rotations: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return own rotations (..., J, 4) clamped to all limits, and which bones (..., J) were outside."""
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
