"""The limits of some of a skeleton's bones."""

from collections.abc import Container

import numpy as np

from ..core import Skeleton
from ..core.limits import LimitGroup


def limits_of(skeleton: Skeleton, bones: Container[int]) -> tuple[LimitGroup, ...]:
    """Return the limits of some bones."""
    kept = [(group, [place for place, bone in enumerate(group.bones.tolist()) if bone in bones])
            for group in skeleton.limits]  # fmt: skip
    return tuple(group.take(np.array(places)) for group, places in kept if places)
