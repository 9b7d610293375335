"""What a run of steps of the pins solver comes to."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array
from .tree import Batch


@dataclass(frozen=True, eq=False)
class Progress(Batch):
    """How far B frames have got."""

    x: Array  # (B, D)
    iterations: NDArray[np.int64]  # (B,)
    active: NDArray[np.bool_]  # (B, K) limit rows
    done: NDArray[np.bool_]  # (B,)
    lengths: Array  # (B, K) as in `Errors`
    costs: Array  # (B, L) as in `Errors`
