"""Go to a pin: select its bone."""

from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..core import CoreError
from .pins import PinsTool, find_pin


class POISE_OT_goto_pin(PinsTool, bpy.types.Operator):
    """Select the pinned bone and show it"""

    bl_idname = "poise.goto_pin"
    bl_label = "Go to Pin"

    bone: StringProperty(
        name="Bone", description="The pinned bone; without a name that of the active pin", options={"SKIP_SAVE"}
    )
    extend: BoolProperty(name="Extend", description="Keep what is selected", options={"SKIP_SAVE"})

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        super().need(context, armature)
        if context.mode != "POSE":
            raise CoreError("Bones are selected in Pose Mode; go there first.")

    def invoke(self, context: Any, event: Any) -> set[str]:
        done = self.execute(context)
        if done == {"FINISHED"} and context.region_data is not None:
            bpy.ops.view3d.view_selected()
        return done

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        name = self.bone or armature.poise_pins[armature.poise_active_pin].name
        bone = armature.pose.bones.get(name)
        if bone is None:
            raise CoreError(f'"{armature.name}" has no bone "{name}" any more; remove its pin.')
        if find_pin(armature, name) is None:
            raise CoreError(f'"{name}" is not pinned.')
        if bone not in (context.visible_pose_bones or ()):
            raise CoreError(f'"{name}" is hidden; show it or its bone collection first.')
        if not self.extend:
            for other in context.selected_pose_bones or ():
                select(other, False)
        select(bone, True)
        armature.data.bones.active = bone.bone
        armature.poise_active_pin = armature.poise_pins.find(name)
        return "INFO", f"Selected {name}"


def select(bone: Any, on: bool) -> None:
    """Select a pose bone; Blender 5 has moved it there from its data."""
    owner = bone if hasattr(bone, "select") else bone.bone
    owner.select = on


CLASSES = (POISE_OT_goto_pin,)
