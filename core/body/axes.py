"""What is said about the left side of a body, for either side."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..rotation import Array

_TURNS: Final = np.array([1.0, -1.0, -1.0])  # rotation vectors of the right side
_WAYS: Final = np.array([-1.0, 1.0, 1.0])  # directions of the right side


def mirrored_turn(vector: Sequence[float] | Array, side: str) -> Array:
    """A rotation vector (..., 3) of the left, for one side; what has no side is as the left is."""
    return np.asarray(vector) * _TURNS if side == "R" else np.asarray(vector)


def mirrored(direction: Sequence[float], side: str) -> Array:
    """A direction (3,) of the left, for one side."""
    return np.asarray(direction) * _WAYS if side == "R" else np.asarray(direction)
