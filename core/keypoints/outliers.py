"""Points that no body has there: whole frames that are elsewhere for a moment, and marks that tear bones long."""

from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ..rotation import Array
from .body import MARK, SIDE_MARKS, TREE, sided
from .network import BONES, bone_ways

_TORN: Final = 1.5  # of a bone's length; trackers are off by a fifth of it and more
_SLACK: Final = 0.05  # metres beyond that: short bones are as noisy as long ones
_ELSEWHERE: Final = 1.0  # metres from where the body is before and after
_AROUND: Final = 2  # frames before and after that tell so
_HIPS: Final = np.array([MARK["hip.L"], MARK["hip.R"]])


def _ends() -> Array:
    """Which marks (B, M) are at the ends of each bone of the tree."""
    result = np.zeros((len(BONES), len(MARK)))
    for number, name in enumerate(BONES):
        mark, _, side = name.partition(".")
        before = TREE[mark][0]
        for end in (name, sided(before, side) if before in SIDE_MARKS else before):
            if end in MARK:
                result[number, MARK[end]] = 1.0
    return result


_ENDS: Final = _ends()


def torn_off(places: Array, weights: Array, lengths: Array) -> NDArray[np.bool_]:
    """Marks (F, M) of places (F, M, 3), metres, all whose bones are far longer than the figure's own, lengths (B,)."""
    ways, believed = bone_ways(places, weights)
    seen = (believed > 0.0) & (lengths > 0.0)
    torn = seen & (np.sqrt(np.einsum("...i,...i->...", ways, ways)) > _TORN * lengths + _SLACK)
    bones = seen @ _ENDS
    return (bones > 0.0) & (torn @ _ENDS == bones)


def elsewhere(places: Array, weights: Array) -> NDArray[np.bool_]:
    """Frames (F,) whose hips are not near where they are in the frames around."""
    seen = np.flatnonzero(weights[:, _HIPS].min(axis=1) > 0.0)
    result = np.zeros(len(places), bool)
    if len(seen) > 2 * _AROUND:
        hips = places[np.ix_(seen, _HIPS)].mean(axis=1)
        around = sliding_window_view(np.pad(hips, ((_AROUND, _AROUND), (0, 0)), "reflect"), 2 * _AROUND + 1, axis=0)
        result[seen] = np.linalg.norm(hips - np.median(around, axis=-1), axis=-1) > _ELSEWHERE
    return result
