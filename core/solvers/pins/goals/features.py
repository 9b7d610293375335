"""The features that goals refer to, numbered before their tree is made."""

import numpy as np
from numpy.typing import ArrayLike

from ....rotation import Array
from ....skeleton import Skeleton
from ..tree import Features, Masses


class Collector:
    """Numbers the features of blocks before the tree is made."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self._points: list[tuple[int, Array]] = []
        self._ends: list[int] = []
        self._masses: list[Masses] = []

    def point(self, bone: str | int, place: ArrayLike = (0.0, 0.0, 0.0)) -> int:
        """Return the number of a new point, at a place in a bone's frame."""
        self._points.append((self.skeleton.index(bone), np.asarray(place, float)))
        return len(self._points) - 1

    def end(self, bone: str | int) -> int:
        """Return the number of a new frame, that of a bone."""
        self._ends.append(self.skeleton.index(bone))
        return len(self._ends) - 1

    def masses(self, masses: Masses) -> int:
        """Return the number of a new center of mass."""
        self._masses.append(masses)
        return len(self._masses) - 1

    def features(self) -> Features:
        """Return all features."""
        return Features(tuple(self._points), tuple(self._ends), tuple(self._masses))
