"""The interpolation of keys, of one armature for another."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .channels import ArmatureObject
from .driven import split_path
from .errors import BridgeError
from .keys import curves_of
from .points import read_keys

_NEAR: Final = 0.5  # frames: a key belongs to its nearest whole frame


def key_interpolation(armature: ArmatureObject, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.intc]]:
    """Return the frames (F,) between two at which bones have keys, and the most frequent interpolation (F,) there.

    Keys between frames count for the nearest one. Raises BridgeError if there are none.
    """
    found: list[NDArray[Any]] = []
    for (path, _), curve in curves_of(armature).items():
        if split_path(path) is not None and not curve.is_empty:
            keys = read_keys(curve.keyframe_points, ("co", "interpolation"))
            found.append(np.stack([np.round(keys["co"][:, 0]), keys["interpolation"][:, 0]], axis=1).astype(int))
    rows = np.concatenate(found) if found else np.zeros((0, 2), int)
    rows = rows[(rows[:, 0] >= first) & (rows[:, 0] <= last)]
    if not len(rows):
        raise BridgeError(f'The bones of "{armature.name}" have no keys from frame {first} to {last}.')
    frames, places = np.unique(rows[:, 0], return_inverse=True)
    counts = np.zeros((len(frames), rows[:, 1].max() + 1), int)
    np.add.at(counts, (places, rows[:, 1]), 1)
    return frames, counts.argmax(axis=1).astype(np.intc)


def set_interpolation(armature: ArmatureObject, bones: Iterable[str], frames: Any, kinds: NDArray[np.intc]) -> None:
    """Give the keys of bones at frames (F,) these interpolations (F,)."""
    chosen, at = set(bones), np.asarray(frames)
    for (path, _), curve in curves_of(armature).items():
        place = split_path(path)
        if place is None or place[0] not in chosen:
            continue
        keys = read_keys(curve.keyframe_points, ("co", "interpolation"))
        nearest = np.minimum(np.searchsorted(at, keys["co"][:, 0] - _NEAR), len(at) - 1)
        own = keys["interpolation"][:, 0].astype(np.intc)
        new = np.where(np.abs(at[nearest] - keys["co"][:, 0]) < _NEAR, kinds[nearest], own).astype(np.intc)
        curve.keyframe_points.foreach_set("interpolation", new)
        curve.update()
