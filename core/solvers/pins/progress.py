"""The progress of frames through the stages of a solve."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array
from .tree import Batch


@dataclass(frozen=True, eq=False)
class Progress(Batch):
    """Where B frames are after their last stage."""

    x: Array  # (B, D)
    iterations: NDArray[np.int64]  # (B,)
    active: NDArray[np.bool_]  # (B, K) limit rows
    done: NDArray[np.bool_]  # (B,) finished: met and settled, or no step left
    lengths: Array  # (B, K) of `GoalRows.lengths`

    @classmethod
    def joined(cls, parts: "Sequence[Progress]") -> "Progress":
        """Return the progress of all frames of `parts`."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*(vars(part).values() for part in parts), strict=True)))
