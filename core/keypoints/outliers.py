"""Points that no body has there: whole frames that are elsewhere for a moment, and landmarks that tear bones long."""

from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ..rotation import Array
from .body import LANDMARK, SIDE_LANDMARKS, TREE, sided
from .network import BONES, bone_vectors

_TORN: Final = 1.5  # of a bone's length; trackers are off by a fifth of it and more
_SLACK: Final = 0.05  # metres beyond that: short bones are as noisy as long ones
_ELSEWHERE: Final = 1.0  # metres from where the body is before and after
_AROUND: Final = 2  # frames before and after that tell so
_HIPS: Final = np.array([LANDMARK["hip.L"], LANDMARK["hip.R"]])


def _ends() -> Array:
    """Which landmarks (B, M) are at the ends of each bone of the tree."""
    result = np.zeros((len(BONES), len(LANDMARK)))
    for number, name in enumerate(BONES):
        landmark, _, side = name.partition(".")
        before = TREE[landmark][0]
        for end in (name, sided(before, side) if before in SIDE_LANDMARKS else before):
            if end in LANDMARK:
                result[number, LANDMARK[end]] = 1.0
    return result


_ENDS: Final = _ends()


def stretched_landmarks(positions: Array, weights: Array, lengths: Array) -> NDArray[np.bool_]:
    """Landmarks (F, M) of (F, M, 3), metres, all whose bones are far longer than the figure's own, lengths (B,)."""
    vectors, believed = bone_vectors(positions, weights)
    seen = (believed > 0.0) & (lengths > 0.0)
    torn = seen & (np.sqrt(np.einsum("...i,...i->...", vectors, vectors)) > _TORN * lengths + _SLACK)
    bones = seen @ _ENDS
    return (bones > 0.0) & (torn @ _ENDS == bones)


def displaced_frames(positions: Array, weights: Array) -> NDArray[np.bool_]:
    """Frames (F,) whose hips are not near where they are in the frames around."""
    seen = np.flatnonzero(weights[:, _HIPS].min(axis=1) > 0.0)
    result = np.zeros(len(positions), bool)
    if len(seen) > 2 * _AROUND:
        hips = positions[np.ix_(seen, _HIPS)].mean(axis=1)
        around = sliding_window_view(np.pad(hips, ((_AROUND, _AROUND), (0, 0)), "reflect"), 2 * _AROUND + 1, axis=0)
        result[seen] = np.linalg.norm(hips - np.median(around, axis=-1), axis=-1) > _ELSEWHERE
    return result
