"""Close and spread the fingers of a hand."""

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty

from .. import bridge
from ..core import Pose
from ..core.body.grip import has_fingers, pose_fingers
from .body import SIDE_ITEMS, BodyTool, chosen_sides


class POISE_OT_pose_fingers(BodyTool, bpy.types.Operator):
    """Close and spread all fingers of a hand, one slider each"""

    bl_idname = "poise.pose_fingers"
    bl_label = "Fingers"

    side: EnumProperty(name="Hands", description="Which hands", items=SIDE_ITEMS)
    close: FloatProperty(
        name="Close", description="From as at rest to a fist", subtype="FACTOR", default=0.0, min=0.0, max=1.0
    )
    spread: FloatProperty(
        name="Spread", description="The fingers apart, or below zero together", subtype="FACTOR", min=-1.0, max=1.0
    )

    def invoke(self, context: Any, event: Any) -> set[str]:
        operator: Any = self
        return context.window_manager.invoke_props_popup(operator, event)

    def pose(self, context: Any, armature: Any, body: bridge.Body) -> Pose:
        pose = body.pose
        sides = chosen_sides(self.side, body, "hand")
        for side in [side for side in sides if has_fingers(body.roles, side)] or sides:
            pose = pose_fingers(body.skeleton, body.roles, pose, side, self.close, self.spread)
        return pose


CLASSES = (POISE_OT_pose_fingers,)
