"""The tab "Poise" in the sidebar of the 3D viewport and the entry in the Pose menu: pins and what to do with them."""

from typing import Any

import bpy

from .. import bridge

_ICONS = {"use_position": "CON_LOCLIKE", "use_rotation": "CON_ROTLIKE"}


class POISE_UL_pins(bpy.types.UIList):
    """Pins: bone, what is held, muted or not"""

    def draw_item(
        self, context: Any, layout: Any, data: Any, item: Any, icon: int, active_data: Any, active: str, *_: Any
    ) -> None:
        there = item.name in context.active_object.pose.bones
        row = layout.row(align=True)
        label = row.row()
        label.active = not item.mute
        label.alert = not there
        label.label(text=item.name if there else f"{item.name} (no such bone)", icon="NONE" if there else "ERROR")
        for name, symbol in _ICONS.items():
            row.prop(item, name, text="", icon=symbol)
        row.prop(item, "mute", text="", icon="HIDE_ON" if item.mute else "HIDE_OFF", emboss=False)
        row.operator("poise.unpin", text="", icon="X", emboss=False).bone = item.name


class POISE_PT_pins(bpy.types.Panel):
    """Pins of the active armature"""

    bl_label = "Pins"
    bl_category = "Poise"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        object: Any = context.active_object
        try:
            bridge.check(object)
        except bridge.BridgeError as refusal:
            layout.label(text=str(refusal), icon="INFO")
            return

        if context.mode != "POSE":
            layout.label(text="Pin bones in Pose Mode", icon="INFO")
        column = layout.column(align=True)
        column.operator("poise.pin", icon="PINNED").kind = "BOTH"
        row = column.row(align=True)
        for kind, text in (("POSITION", "Position Only"), ("ROTATION", "Rotation Only")):
            row.operator("poise.pin", text=text).kind = kind
        layout.template_list("POISE_UL_pins", "", object, "poise_pins", object, "poise_active_pin", rows=3)
        row = layout.row(align=True)
        row.operator("poise.unpin").bone = ""
        row.operator("poise.clear_pins", text="Clear All")

        column = layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        column.row().prop(object, "poise_root", expand=True)
        column.prop(object, "poise_use_limits")

        column = layout.column(align=True)
        column.operator("poise.solve")
        column.operator("poise.bake", text="Bake...")


class POISE_MT_pose(bpy.types.Menu):
    """Pins, and what to do with them"""

    bl_label = "Poise"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.operator_enum("poise.pin", "kind")
        layout.operator("poise.unpin").bone = ""
        layout.operator("poise.clear_pins")
        layout.separator()
        layout.operator("poise.solve")
        layout.operator("poise.bake")


def draw_in_pose_menu(menu: Any, context: Any) -> None:
    """Poise's entry in the Pose menu, where F3 finds its tools, too."""
    menu.layout.separator()
    menu.layout.menu("POISE_MT_pose")


CLASSES = (POISE_UL_pins, POISE_PT_pins, POISE_MT_pose)
