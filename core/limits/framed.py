"""Limits in other frames than the bone's own."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import CoreError
from ..rotation import Array, inv, normalize, to_matrix
from .euler_box import EulerBox
from .group import LimitGroup
from .order_free_box import OrderFreeBox


class Framed(LimitGroup):
    """Limits of the rotations before * own * after: anatomical axes about a canonical pose, on any rig.

    before, after (k, 4), quaternions. With A a bone's frame in the axes of the limits and R0 the own rotation that
    reads zero, before = A R0^-1 and after = A^-1 measure the rotation from R0 along these axes. bones (k,), if they are
    not the group's; `firm`: see `LimitGroup`. Raises CoreError for frames of another shape, or that are no rotations.
    """

    def __init__(
        self, group: LimitGroup, before: ArrayLike, after: ArrayLike, bones: ArrayLike | None = None, firm: bool = False
    ) -> None:
        self.group, self.lower, self.upper, self.folds = group, group.lower, group.upper, group.folds
        self.firm = firm
        self.bones = group.bones if bones is None else np.asarray(bones, int)
        frames = np.asarray(before, float), np.asarray(after, float)
        shape = (len(self.bones), 4)
        if any(frame.shape != shape for frame in frames):
            raise CoreError(f"Limits of {shape[0]} bones need frames of the shape {shape}, before and after.")
        if not all(np.isfinite(frame).all() and np.any(frame != 0.0, axis=-1).all() for frame in frames):
            raise CoreError("The frames of limits must be rotations: finite quaternions, not all 0.")
        self._before, self._after = (normalize(frame) for frame in frames)
        self._left, self._right = to_matrix(self._before), to_matrix(self._after)
        self._left_back, self._right_back = to_matrix(inv(self._before)), to_matrix(inv(self._after))

    @property
    def frames(self) -> tuple[Array, Array]:
        """The frames (k, 4) before and after the rotations."""
        return self._before, self._after

    def _framed(self, matrices: Array) -> Array:
        return self._left @ matrices @ self._right

    def coordinates(self, matrices: Array) -> Array:
        return self.group.coordinates(self._framed(matrices))

    def margins(self, matrices: Array, lower: Array, upper: Array) -> Array:
        """Return what `EulerBox.margins` does, of the limits where these are ranges of Euler angles."""
        assert isinstance(self.group, EulerBox)
        return self.group.margins(self._framed(matrices), lower, upper)

    def gradients(self, matrices: Array, coordinates: Array) -> Array:
        # before R exp(omega) after = (before R after) exp(after^-1 omega)
        return self.group.gradients(self._framed(matrices), coordinates) @ self._right_back

    def gradient(self, matrices: Array, coordinates: Array, index: int, coordinate: int) -> Array:
        return self._right[index] @ self.group.gradient(self._framed(matrices), coordinates, index, coordinate)

    def clamp(self, matrices: Array) -> Array:
        framed = self._framed(matrices)
        inside = self.group.clamp(framed)
        moved = np.any(inside != framed, axis=(-1, -2))
        if not moved.any():
            return matrices
        return np.where(moved[..., None, None], self._left_back @ inside @ self._right_back, matrices)

    def within(self, shares: Array) -> Array:
        return self._left_back @ self.group.within(shares) @ self._right_back

    def describe(self, index: int, coordinate: int) -> str:
        return self.group.describe(index, coordinate)

    def take(self, kept: NDArray[np.int64]) -> Self:
        return type(self)(self.group.take(kept), self._before[kept], self._after[kept], self.bones[kept], self.firm)

    def widened(self, matrices: Array) -> Self:
        """Return the same limits, wide enough for rotations (..., k, 3, 3). Raises CoreError for other than boxes."""
        if not isinstance(self.group, EulerBox | OrderFreeBox):
            raise CoreError("Only ranges of angles can be widened.")
        return type(self)(self.group.widened(self._framed(matrices)), self._before, self._after, self.bones, self.firm)

    def at_frames(self, frames: NDArray[np.int64]) -> Self:
        group = self.group.at_frames(frames)
        return self if group is self.group else type(self)(group, self._before, self._after, self.bones, self.firm)
