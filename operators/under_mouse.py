"""Select the bone under the mouse that is highlighted, and go through those that overlap there."""

from typing import Any

import bpy
from bpy.props import BoolProperty

from .. import bridge
from ..bridge.grab import picks, step
from ..languages.interface import translated
from ..overlay.draw import ui_scale
from .tool import select, select_only


class UnderMouse:
    """An operator on what is under the mouse in a viewport."""

    poll_message_set: Any

    @classmethod
    def poll(cls, context: Any) -> bool:
        if context.mode != "POSE" or context.region_data is None:
            cls.poll_message_set(translated("Move the mouse over a bone in Pose Mode", "tooltips"))
            return False
        return True


class POISE_OT_select(UnderMouse, bpy.types.Operator):
    """Select the highlighted bone under the mouse"""

    bl_idname = "poise.select"
    bl_label = "Select"
    bl_options = {"UNDO"}

    toggle: BoolProperty(
        name="Toggle", description="Add the bone to the selection, or remove it if it is active", options={"SKIP_SAVE"}
    )

    def invoke(self, context: Any, event: Any) -> set[str]:
        view = bridge.read_view(context.region, context.region_data)
        grab = bridge.pick(context, view, (event.mouse_region_x, event.mouse_region_y), ui_scale(context))
        if grab is None:
            return {"PASS_THROUGH"}  # nothing of Poise is there: the click is Blender's
        armature: Any = bpy.data.objects[grab.object_name]
        bone = armature.pose.bones[grab.bone]
        if bone not in context.visible_pose_bones or bone.bone.hide_select:  # its mesh is under the mouse
            return {"PASS_THROUGH"}
        if self.toggle and bone == context.active_pose_bone and bone in context.selected_pose_bones:
            select(bone, False)
        else:
            context.view_layer.objects.active = armature
            select_only(context, armature, bone, extend=self.toggle)
        return {"FINISHED"}


class POISE_OT_next_bone(UnderMouse, bpy.types.Operator):
    """Highlight the next of the bones that overlap under the mouse"""

    bl_idname = "poise.next_bone"
    bl_label = "Next Bone Under Mouse"

    def invoke(self, context: Any, event: Any) -> set[str]:
        mouse = (event.mouse_region_x, event.mouse_region_y)
        view = bridge.read_view(context.region, context.region_data)
        found = picks(context, view, mouse, ui_scale(context))
        if len(found) < 2:
            self.report({"INFO"}, translated("No other bone is under the mouse", "reports"))
            return {"CANCELLED"}
        step(context, mouse)
        context.area.tag_redraw()
        return {"FINISHED"}
