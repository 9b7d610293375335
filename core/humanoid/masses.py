"""What the parts of a body weigh."""

import numpy as np

from ..rotation import Array
from ..skeleton import Skeleton


def masses_of(skeleton: Skeleton) -> Array:
    """(J,) shares of the bones in the body's mass, 1 in all: as long as they are."""
    lengths = skeleton.lengths
    return lengths / lengths.sum() if lengths.any() else np.full(len(skeleton), 1.0 / len(skeleton))
