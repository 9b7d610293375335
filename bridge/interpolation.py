"""The interpolation of keys, of one armature for another."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.rotation import Array
from .channels import ArmatureObject
from .driven import split_path
from .errors import BridgeError
from .keys import curves_of
from .points import read_keys

_SAME: Final = 1e-3  # frames: keys that are so near are at one time
_HALF: Final = 0.5  # frames: what rounds to the first or the last one is in the range

Kinds = NDArray[np.intc]


def key_interpolation(armature: ArmatureObject, first: int, last: int) -> tuple[Array, dict[str, Kinds]]:
    """Return the times (F,) between two frames at which bones have keys, and each bone's interpolation (F,) from there.

    It is the most frequent one of its curves; without a key there it is that from the key before, or after where there
    is none. Under "" it is that of most of the keys of all bones. Raises BridgeError if there are no keys.
    """
    found: dict[str, list[NDArray[Any]]] = {}
    for (path, _), curve in curves_of(armature).items():
        place = split_path(path)
        if place is not None and not curve.is_empty:
            keys = read_keys(curve.keyframe_points, ("co", "interpolation"))
            rows = np.stack([keys["co"][:, 0], keys["interpolation"][:, 0]], axis=1).astype(float)
            found.setdefault(place[0], []).append(rows)
    bones = {bone: np.concatenate(rows) for bone, rows in found.items()}
    every = np.concatenate([*bones.values(), np.zeros((0, 2))])
    on = (every[:, 0] >= first - _HALF) & (every[:, 0] <= last + _HALF)
    if not on.any():
        raise BridgeError(f'The bones of "{armature.name}" have no keys from frame {first} to {last}.')
    times = np.unique(every[on, 0])
    times = times[np.diff(times, prepend=-np.inf) > _SAME]
    return times, {bone: _most_frequent(rows, times) for bone, rows in {**bones, "": every[on]}.items()}


def _most_frequent(rows: Array, times: Array) -> Kinds:
    """Return the interpolation (F,) from times (F,) on, of keys (n, 2) with their times and interpolations."""
    own, places = np.unique(np.round(rows[:, 0] / _SAME), return_inverse=True)
    counts = np.zeros((len(own), int(rows[:, 1].max()) + 1), int)
    np.add.at(counts, (places.reshape(-1), rows[:, 1].astype(int)), 1)
    before = np.searchsorted(own, np.round(times / _SAME) + 1.0, side="right") - 1
    return counts.argmax(axis=1)[np.maximum(before, 0)].astype(np.intc)


def set_interpolation(armature: ArmatureObject, times: Array, kinds: Mapping[str, Kinds]) -> None:
    """Give the keys of bones at times (F,) the interpolations (F,) of `kinds`, by bone."""
    for (path, _), curve in curves_of(armature).items():
        place = split_path(path)
        if place is None or place[0] not in kinds:
            continue
        keys = read_keys(curve.keyframe_points, ("co", "interpolation"))
        at = keys["co"][:, 0]
        nearest = np.minimum(np.searchsorted(times, at - _SAME), len(times) - 1)
        own = keys["interpolation"][:, 0].astype(np.intc)
        new = np.where(np.abs(times[nearest] - at) < _SAME, kinds[place[0]][nearest], own).astype(np.intc)
        curve.keyframe_points.foreach_set("interpolation", new)
        curve.update()
