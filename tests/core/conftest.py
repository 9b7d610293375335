"""Fixtures for the tests of core."""

import numpy as np
import pytest

from core import EulerBox, Skeleton
from tests.core.rigs import FIGURE, skeleton_of


@pytest.fixture
def figure() -> Skeleton:
    return skeleton_of(FIGURE)


@pytest.fixture
def limited() -> Skeleton:
    """The figure with an Euler box on every bone but the hips."""
    plain = skeleton_of(FIGURE)
    bones = np.arange(1, len(plain))
    reach = np.tile(np.radians([60.0, 40.0, 50.0]), (len(bones), 1))
    return skeleton_of(FIGURE, limits=(EulerBox(bones, ["ZYX"] * len(bones), -reach, reach),))
