"""The panel Motion: timed pins and the tools for whole motions."""

from typing import Any

import bpy

from ..languages.interface import part_name, translated
from .side import (
    PAIR,
    ArmaturePanel,
    beside,
    chosen_in,
    draw_choice,
    draw_held,
    draw_list,
    draw_mute,
    draw_setting,
    draw_tools,
    is_narrow,
    labelled,
)

_ICONS = {
    "MOTION": "ANIM", "FRAME": "KEYTYPE_KEYFRAME_VEC", "PLACE": "PINNED", "OBJECT": "OBJECT_DATA",
    "GROUND": "SNAP_FACE",
}  # fmt: skip
_KINDS = {"heel": "REW", "ball": "DOT", "toe": "FF", "hand": "VIEW_PAN"}  # of contacts: back, middle, front of a foot
_PINNING = (
    "add_timed_pin", "remove_timed_pin", "goto_timed_pin", "place_timed_pin", "give_motion_back", "keep_motion",
)  # fmt: skip
_EDITING = (
    "smooth_motion", "fix_ground", "make_loop", "root_motion", "edit_path", "fill_between", "breakdown", "reduce_keys",
    "bake_motion",
)  # fmt: skip


def _icon(pin: Any) -> str:
    """Return the icon of a timed pin: the kind of contact, else the space in which it is held."""
    return _KINDS.get(pin.label.partition(".")[0], _ICONS["PLACE"]) if pin.held == "PLACE" else _ICONS[pin.held]


class POISE_UL_timed_pins(bpy.types.UIList):
    """Timed pins: what is held, over which frames, and whether it is muted"""

    def draw_item(
        self, context: Any, layout: Any, data: Any, item: Any, icon: int, active_data: Any, active: str,
        number: int = -1, *_: Any,
    ) -> None:  # fmt: skip
        there = item.bone in context.active_object.pose.bones
        row = layout.row(align=True) if is_narrow() else layout.split(factor=0.5, align=True)
        label = row.row(align=True)
        label.active = not item.mute
        label.alert = not there or (item.held == "OBJECT" and item.target is None)
        sign = _icon(item) if there else "ERROR"
        label.operator("poise.goto_timed_pin", text="", icon=sign, emboss=False).row = number
        frames = f"{item.start}-{item.end}"
        name = " ".join([part_name(item.label, item.bone), *([frames] if is_narrow() and not is_narrow(PAIR) else [])])
        label.label(text=name if there else translated(f"{item.bone} (no such bone)"), translate=False)
        if not is_narrow():  # else there is room for the frames at most, and the other is beside the list
            row = row.row(align=True)
            row.label(text=frames, translate=False)
            draw_mute(row, item)


class POISE_PT_motion(ArmaturePanel, bpy.types.Panel):
    """Retarget, edit and pin the motion of the active armature"""

    bl_label = "Motion"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        armature: Any = context.active_object
        column = layout.column(align=True)
        column.menu("POISE_MT_retarget", icon="IMPORT")
        column.operator("poise.retarget_files", text="Batch Retarget...")
        column.operator("poise.export_vrma", text="Export VRM Animation...")
        column = labelled(layout.column())
        column.prop(armature, "poise_use_layers")
        draw_choice(column, armature, "poise_ground", expand=False)


class POISE_PT_timed_pins(ArmaturePanel, bpy.types.Panel):
    """Hold bones over frame ranges of the motion"""

    bl_label = "Timed Pins"
    bl_parent_id = "POISE_PT_motion"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        armature: Any = context.active_object
        layout.operator("poise.find_contacts", icon="VIEWZOOM")
        side = draw_list(layout, armature, "timed_pins", rows=4)
        side.operator("poise.add_timed_pin", text="", icon="ADD")
        side.operator("poise.remove_timed_pin", text="", icon="REMOVE")
        pin = chosen_in(armature, "timed_pins")
        if pin is not None and is_narrow():
            draw_mute(side, pin)
        side.separator()
        side.operator("poise.remove_timed_pin", text="", icon="X").all = True
        column = layout.column(align=True)  # above the fields, of which there are more than a window may show
        row = beside(column)
        row.operator("poise.solve_motion", icon="PLAY")
        row.prop(armature, "poise_live_pins", text="Live", toggle=True)
        row = beside(column)
        row.operator("poise.give_motion_back")
        row.operator("poise.keep_motion", text="Apply")
        if pin is not None:
            draw_timed_pin(layout, pin)


class POISE_PT_edit_motion(ArmaturePanel, bpy.types.Panel):
    """Change the whole motion of the active armature, or a range of it"""

    bl_label = "Edit Motion"
    bl_parent_id = "POISE_PT_motion"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        column = layout.column(align=True)
        draw_tools(column, _EDITING)


class POISE_MT_retarget(bpy.types.Menu):
    """Retarget the motion of an armature of the scene, or of a file, to the active armature"""

    bl_label = "Retarget Motion"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.operator("poise.retarget", text="From File...", icon="FILEBROWSER").browse = True
        sources = [
            other for other in context.scene.objects if other.type == "ARMATURE" and other != context.active_object
        ]
        if sources:
            layout.separator()
        for source in sources:
            layout.operator(
                "poise.retarget", text=source.name, icon="ARMATURE_DATA", translate=False
            ).source = source.name


class POISE_MT_motion(bpy.types.Menu):
    """Retarget, edit and pin the motion of the active armature"""

    bl_label = "Motion"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.menu("POISE_MT_retarget")
        draw_tools(layout, ("retarget_files", "export_vrma"))
        layout.separator()
        layout.operator("poise.find_contacts", text="Find Contacts (Foot, Lock Feet)")
        layout.operator("poise.solve_motion", text="Solve Motion (Lock Feet)")
        draw_tools(layout, _PINNING)
        layout.separator()
        layout.operator("poise.fix_ground", text="Fix Ground (Floor, Penetration)")
        draw_tools(layout, [name for name in _EDITING if name != "fix_ground"])


def draw_timed_pin(layout: Any, pin: Any) -> None:
    """Draw the settings of one timed pin."""
    draw_held(layout, pin)
    column = labelled(layout.column())
    frames = column.column(align=True)
    for name in ("start", "end", "ease_in", "ease_out"):
        draw_setting(frames, pin, name)
    draw_setting(column, pin, "weight")
    draw_setting(column, pin, "priority")
    draw_choice(column, pin, "held", expand=False)
    for held, name in (("FRAME", "frame"), ("PLACE", "position"), ("PLACE", "angles"), ("OBJECT", "target")):
        setting = column.column()  # all have their row: buttons keep their place
        setting.enabled = pin.held == held and (name != "angles" or pin.use_rotation)
        setting.active = name != "angles" or any(pin.rotation)
        if name == "target" and is_narrow():
            setting.prop(pin, name, text="")  # its empty field says the name
        else:
            draw_setting(setting, pin, name)
    column.operator("poise.place_timed_pin", icon="POSE_HLT")


CLASSES = (
    POISE_UL_timed_pins,
    POISE_PT_motion,
    POISE_PT_timed_pins,
    POISE_PT_edit_motion,
    POISE_MT_retarget,
    POISE_MT_motion,
)
