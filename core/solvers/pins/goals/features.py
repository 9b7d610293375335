"""The features that goals refer to, numbered before their tree is made."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....rotation import Array
from ....skeleton import Flags, Skeleton
from ..tree import Features


class Collector:
    """Numbers the features of blocks before the tree is made."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self._points: list[tuple[int, Array]] = []
        self._ends: list[int] = []
        self._masses: dict[int, bool] = {}

    def point(self, bone: str | int, place: ArrayLike = (0.0, 0.0, 0.0)) -> int:
        """Return the number of a new point, at a place in a bone's frame."""
        self._points.append((self.skeleton.index(bone), np.asarray(place, float)))
        return len(self._points) - 1

    def end(self, bone: str | int) -> int:
        """Return the number of a new frame, that of a bone."""
        self._ends.append(self.skeleton.index(bone))
        return len(self._ends) - 1

    def masses(self, bones: NDArray[np.int64], rides: Flags) -> NDArray[np.int64]:
        """Return the numbers of the bones' middles, which balances share.

        rides: which of them no balance moves by their own joints.
        """
        for bone, with_parent in zip(bones.tolist(), rides.tolist(), strict=True):
            self._masses[bone] = with_parent and self._masses.get(bone, True)
        places = {bone: number for number, bone in enumerate(self._masses)}
        return np.array([places[bone] for bone in bones.tolist()], int)

    def features(self) -> Features:
        """Return all features."""
        carriers = tuple(bone for bone, rides in self._masses.items() if not rides)
        return Features(tuple(self._points), tuple(self._ends), tuple(self._masses), carriers)
