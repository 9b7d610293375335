"""What Blender makes of bones that something else turns, taken over into poses."""

from dataclasses import replace

import numpy as np

from ..core import Pose
from ..core.skeleton import Indices


def take_over(pose: Pose, seen: Pose, turned: Indices, placed: Indices) -> Pose:
    """Return poses (...) with the channels that one pose has of `turned` bones, and its locations of `placed` ones."""
    rotations, translations = np.array(pose.rotations), np.array(pose.translations)
    rotations[..., turned, :], translations[..., placed, :] = seen.rotations[turned], seen.translations[placed]
    if pose.scales is None and seen.scales is None:
        return replace(pose, rotations=rotations, translations=translations)
    scales = np.ones_like(translations) if pose.scales is None else np.array(pose.scales)
    scales[..., turned, :] = 1.0 if seen.scales is None else seen.scales[turned]
    return replace(pose, rotations=rotations, translations=translations, scales=scales)
