"""Outliers: frames whose body is elsewhere for a moment, and landmarks whose bones are far too long."""

from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ..rotation import Array
from .body import HIPS
from .bones import ENDS, bone_lengths

_STRETCHED: Final = 1.5  # of a bone's length; errors of a fifth are common
_SLACK: Final = 0.05  # metres in addition: short bones are as noisy as long ones
_ELSEWHERE: Final = 1.0  # metres from the median of the frames around
_AROUND: Final = 2  # frames before and after


def stretched_landmarks(positions: Array, weights: Array, lengths: Array) -> NDArray[np.bool_]:
    """Return which landmarks (F, M) have only bones that are far longer than the subject's own.

    positions (F, M, 3) in metres with weights (F, M); lengths (B,) of the subject's bones, 0 for unknown ones.
    """
    found, bone_weights = bone_lengths(positions, weights)
    seen = (bone_weights > 0.0) & (lengths > 0.0)
    stretched = seen & (found > _STRETCHED * lengths + _SLACK)
    bones = seen @ ENDS
    return (bones > 0.0) & (stretched @ ENDS == bones)


def displaced_frames(positions: Array, weights: Array) -> NDArray[np.bool_]:
    """Return the frames (F,) whose hips are far from the median of the frames around; arguments as above."""
    seen = np.flatnonzero(weights[:, HIPS].min(axis=1) > 0.0)
    result = np.zeros(len(positions), bool)
    if len(seen) > 2 * _AROUND:
        hips = positions[np.ix_(seen, HIPS)].mean(axis=1)
        around = sliding_window_view(np.pad(hips, ((_AROUND, _AROUND), (0, 0)), "reflect"), 2 * _AROUND + 1, axis=0)
        result[seen] = np.linalg.norm(hips - np.median(around, axis=-1), axis=-1) > _ELSEWHERE
    return result
