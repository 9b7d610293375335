"""Mirror the pose by the parts of the body."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from .. import bridge
from ..core import Pose
from ..core.body.mirror import mirror_pose
from .body import BodyTool


class POISE_OT_mirror_pose(BodyTool, bpy.types.Operator):
    """Mirror the pose by the parts of the body, whatever the bones are called; it keeps its place and heading"""

    bl_idname = "poise.mirror_pose"
    bl_label = "Mirror Pose"

    model: EnumProperty(
        name="Model",
        description="Which side the other one is to follow",
        items=(
            ("BOTH", "Both", "Left and right change places"),
            ("L", "Left", "The right side is to be as the body's own left"),
            ("R", "Right", "The left side is to be as the body's own right"),
        ),
    )

    def pose(self, context: Any, armature: Any, body: bridge.Body) -> Pose:
        return mirror_pose(body.skeleton, body.roles, bridge.loosened(armature, body).pose, self.model)


CLASSES = (POISE_OT_mirror_pose,)
