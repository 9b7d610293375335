"""The panels of the active bone: its pin, stiffness, limits and range."""

from typing import Any

import bpy

from .pins import draw_pin
from .side import PAIR, Side, beside, draw_held, draw_setting, is_narrow, labelled


class _Bone:
    """A panel of the active bone."""

    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.active_pose_bone is not None

    def draw(self, context: Any) -> None:
        """Draw the pin of the active bone and Blender's fields that the solver respects."""
        panel: Any = self
        layout = panel.layout
        bone, armature = context.active_pose_bone, context.active_object
        place = armature.poise_pins.find(bone.name)
        row = layout.row(align=True)
        if place >= 0:
            pin = armature.poise_pins[place]
            draw_held(row, pin)
            row.prop(pin, "mute", text="", icon="HIDE_ON" if pin.mute else "HIDE_OFF")
            row.operator("poise.unpin", text="", icon="X").bone = bone.name
            draw_pin(layout, pin)
        else:
            row.operator("poise.cycle_pin", text="Pin", icon="PINNED").bone = bone.name
        column = labelled(layout.column())
        for axis in "xyz":
            heading = f"Stiffness {axis.upper()}" if axis == "x" else axis.upper()
            draw_setting(column, bone, f"ik_stiffness_{axis}", text=heading, slider=True)
        draw_setting(column, bone, "ik_stretch", slider=True)
        for axis in "xyz":
            row = column.row(align=True, heading=f"Limit {axis.upper()}")
            row.prop(bone, f"use_ik_limit_{axis}", text="")
            ends = (column if is_narrow() else row).row(align=True)
            ends.active = getattr(bone, f"use_ik_limit_{axis}")
            ends.prop(bone, f"ik_min_{axis}", text="")
            ends.prop(bone, f"ik_max_{axis}", text="")
        row = column.row(align=True, heading="Range")
        row.prop(bone, "poise_use_range", text="")
        row = beside(column, PAIR) if is_narrow() else row.row(align=True)
        row.operator("poise.set_range", text="Anatomy")
        row.operator("poise.mirror_range", text="Mirror")
        for index, axis in enumerate("XYZ" if bone.poise_use_range else ""):
            split = column.split(factor=0.4)  # as wide as the names above
            split.use_property_split = False
            name = split.row()
            name.alignment = "RIGHT"
            name.label(text=axis)
            row = split.row(align=True)
            row.prop(bone, "poise_range_min", index=index, text="")
            row.prop(bone, "poise_range_max", index=index, text="")
        if armature.poise_method == "HUMANOID":
            column.prop(bone, "poise_share", text="Rotation Share")
        elif armature.poise_joint_targets == "ACTION":
            draw_setting(column, bone, "poise_target", slider=True)
        row = beside(column, PAIR)
        row.operator("poise.learn_limits", text="Learn Again" if bone.poise_learned else "Learn Limits")
        row.operator("poise.forget_limits", text="Clear")
        row = beside(column, PAIR)
        row.operator("poise.load_limits", text="Load...")
        row.operator("poise.save_limits", text="Save...")


class POISE_PT_bone(_Bone, bpy.types.Panel):
    """Pin, stiffness and limits of the active bone"""

    bl_label = "Poise"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"


class POISE_PT_active_bone(_Bone, Side, bpy.types.Panel):
    """Pin, stiffness and limits of the active bone"""

    bl_label = "Active Bone"


CLASSES = (POISE_PT_active_bone, POISE_PT_bone)
