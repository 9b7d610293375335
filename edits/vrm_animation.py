"""A VRM Animation of the motion of an armature."""

from typing import Any

import numpy as np

from .. import bridge
from ..core.editing.root_motion import with_object
from ..core.formats.vrma import vrm_animation
from .parts import check_sure


def export_vrma(armature: Any, frames: tuple[int, int]) -> bytes:
    """Return the motion of an armature, with that of its object, as a VRM Animation.

    Raises CoreError if it has no human body.
    """
    check_sure(armature, by_motion=True)
    skeleton, motion, worlds = bridge.read_figure(armature, np.arange(frames[0], frames[1] + 1))
    motion = with_object(skeleton, motion, worlds)
    roles = bridge.read_roles(armature, skeleton)
    return vrm_animation(skeleton, motion, roles, float(bridge.length_scale(worlds[0])))
