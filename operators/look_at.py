"""Let head and eyes look at a place."""

from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, StringProperty

from .. import bridge
from ..core import Pose, Solution
from ..core.body.gaze import gaze_at
from .body import BodyTool, find_object


class POISE_OT_look_at(BodyTool, bpy.types.Operator):
    """Turn neck, head and eyes to look at the 3D cursor or an object, as far as a neck goes"""

    bl_idname = "poise.look_at"
    bl_label = "Look At"

    target: EnumProperty(
        name="Target",
        description="What is looked at",
        items=(("CURSOR", "3D Cursor", "The 3D cursor"), ("OBJECT", "Object", "Another object's origin")),
    )
    object: StringProperty(name="Object", description="The object that is looked at")
    head: FloatProperty(
        name="Head", description="How far neck and head go of the way", subtype="FACTOR", default=1.0, min=0.0, max=1.0
    )
    eyes: FloatProperty(
        name="Eyes", description="How far the eyes go of the rest", subtype="FACTOR", default=1.0, min=0.0, max=1.0
    )

    def draw(self, context: Any) -> None:
        operator: Any = self
        layout = operator.layout
        layout.use_property_split = True
        layout.prop(operator, "target")
        if self.target == "OBJECT":
            layout.prop_search(operator, "object", context.scene, "objects")
        layout.prop(operator, "head")
        layout.prop(operator, "eyes")

    def pose(self, context: Any, armature: Any, body: bridge.Body) -> Pose | Solution:
        place = context.scene.cursor.location
        if self.target == "OBJECT":
            place = find_object(context, self.object, armature).matrix_world.translation
        target, _ = bridge.world_to_armature(bridge.world_matrix(armature), np.array(place, float))
        assert target is not None
        return gaze_at(body.skeleton, body.roles, body.pose, target, self.head, self.eyes)


CLASSES = (POISE_OT_look_at,)
