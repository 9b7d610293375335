"""Bring the body to a posture that every body knows."""

from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty

from .. import bridge
from ..core import Pose
from ..core.body.posture import take_posture
from .body import BodyTool


class POISE_OT_take_posture(BodyTool, bpy.types.Operator):
    """Bring the body to a known posture, where it stands and looking where it looks"""

    bl_idname = "poise.take_posture"
    bl_label = "Go to Posture"

    posture: EnumProperty(
        name="Posture",
        description="How it is to stand",
        items=(
            ("T", "T-Pose", "Arms straight out, whatever the rest pose is"),
            ("A", "A-Pose", "Arms straight, lowered"),
            ("RELAXED", "Relaxed", "As a body stands at ease"),
            ("REST", "As at Rest", "As the armature was made"),
        ),
    )
    arms: FloatProperty(
        name="Arms", description="How far the arms of the A-pose are below the horizontal", subtype="ANGLE",
        default=np.pi / 4.0, min=0.0, max=np.pi / 2.0,
    )  # fmt: skip

    def pose(self, context: Any, armature: Any, body: bridge.Body) -> Pose:
        return take_posture(body.skeleton, body.roles, body.pose, self.posture, self.arms)


CLASSES = (POISE_OT_take_posture,)
