"""The panel Pins, the pie menu, and the entry in the Pose menu."""

from typing import Any

import bpy

from .. import bridge
from ..languages.interface import translated, without_prefixes
from .rig import draw_hindrances
from .side import (
    PAIR,
    Side,
    beside,
    chosen_in,
    draw_held,
    draw_list,
    draw_mute,
    draw_sentence,
    draw_setting,
    draw_tools,
    is_narrow,
    labelled,
    refuses,
)
from .toolbar import POISE_TOOL_drag

_KINDS = {(True, True): "PINNED", (True, False): "CON_LOCLIKE", (False, True): "CON_ROTLIKE", (False, False): "NONE"}
_TIP = 1e-3  # of the bone's length
TOOL = POISE_TOOL_drag.bl_idname
_HELD = (("BOTH", "Pin Position and Rotation"), ("POSITION", "Pin Position"), ("ROTATION", "Pin Rotation"))
_SPACES = {"WORLD": "WORLD", "ARMATURE": "ARMATURE_DATA", "OBJECT": "OBJECT_DATA", "ANIMATION": "ANIM"}


def _said(pin: Any) -> str:
    """Return which point of the bone is held, where it is not the head."""
    x, y, z = pin.point
    if not (x or y or z):
        return ""
    length = pin.id_data.data.bones[pin.name].length
    return ", tip" if max(abs(x), abs(y - length), abs(z)) < _TIP * length else ", point"


class POISE_UL_pins(bpy.types.UIList):
    """Pins: bone, what it follows, what is held, and whether it is muted"""

    def draw_item(
        self, context: Any, layout: Any, data: Any, item: Any, icon: int, active_data: Any, active: str, *_: Any
    ) -> None:
        there = item.name in context.active_object.pose.bones
        name = without_prefixes(item.name)
        row = layout.row(align=True)
        label = row.row()
        label.active = not item.mute
        label.alert = not there or (item.space == "OBJECT" and item.target is None)
        label.label(
            text=f"{name}{translated(_said(item))}" if there else translated(f"{name} (no such bone)"),
            translate=False,
            icon="ERROR" if not there else "NONE" if is_narrow(PAIR) else _KINDS[item.use_position, item.use_rotation],
        )
        if not is_narrow():  # it is below the list, too
            row.label(text="", icon=_SPACES[item.space])
        if not is_narrow(PAIR):
            draw_mute(row, item)


class POISE_PT_pins(Side, bpy.types.Panel):
    """Pins of the active armature"""

    bl_label = "Pins"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        armature: Any = context.active_object
        if refuses(layout, context):
            return

        draw_hindrances(layout, context)
        posing, pinned = context.mode == "POSE", len(armature.poise_pins) > 0
        if not posing:
            layout.operator("object.mode_set", text="Enter Pose Mode", icon="POSE_HLT").mode = "POSE"
        elif not pinned:
            draw_first_steps(layout, context)
        if posing:
            draw_pinning(layout, context)
        if pinned:
            side = draw_list(layout, armature, "pins", rows=4)
            pin = chosen_in(armature, "pins")
            if pin is not None:
                side.operator("poise.unpin", text="", icon="REMOVE").bone = pin.name
                side.operator("poise.goto_pin", text="", icon="RESTRICT_SELECT_OFF").bone = pin.name
                if is_narrow(PAIR):
                    draw_mute(side, pin)
                side.separator()
                draw_held(layout, pin)
                draw_pin(layout, pin)
            side.operator("poise.clear_pins", text="", icon="X")
            draw_tools(layout.column(align=True), ("pin_here", "mirror_pins"))
        if posing:
            column = layout.column(align=True)
            column.operator_context = "INVOKE_REGION_WIN"  # in the viewport, where the mouse then drags the bone
            column.operator("poise.drag").use_active = True  # not the bone behind the panel
        if pinned:
            column = layout.column(align=True)
            column.operator("poise.solve")
            column.operator("poise.bake", text="Bake...")


def draw_pinning(layout: Any, context: Any) -> None:
    """Draw the buttons that pin and unpin the selected bones; without pins and selected bones there are none."""
    armature, column = context.active_object, layout.column(align=True)
    selected, pinned = context.selected_pose_bones_from_active_object or (), armature.poise_pins
    if selected or len(pinned):
        row = beside(column, PAIR)
        row.operator("poise.pin", icon="PINNED").kind = "BOTH"
        if len(pinned):
            button = row.row(align=True)
            button.enabled = any(bone.name in pinned for bone in selected)
            button.operator("poise.unpin", icon="UNPINNED").bone = ""
        row = beside(column, PAIR)
        for kind, text in (("POSITION", "Position Only"), ("ROTATION", "Rotation Only")):
            row.operator("poise.pin", text=text).kind = kind
    draw_setting(labelled(layout.column()), armature, "poise_pin_space")


def draw_first_steps(layout: Any, context: Any) -> None:
    """Draw what to do where nothing is pinned yet."""
    tool = context.workspace.tools.from_space_view3d_mode("POSE", create=False)
    if tool is None or tool.idname != TOOL:
        layout.operator("wm.tool_set_by_id", text="Use Poise Tool", icon="VIEW_PAN").name = TOOL
    rig = context.active_object
    feet = bridge.is_human(rig) or bridge.is_animal(rig)
    hint = (
        "Press P over each foot, then drag the hips" if feet else "Press P over a bone to pin it, then drag another one"
    )
    draw_sentence(layout, context, hint, "INFO")


def draw_pin(layout: Any, pin: Any) -> None:
    """Draw the settings of one pin."""
    column = labelled(layout.column())
    draw_setting(column, pin, "weight")
    draw_setting(column, pin, "priority")
    if any(pin.point):
        draw_setting(column, pin, "point")
    space = translated(pin.space.title())
    text = space if is_narrow(PAIR) else translated(f"Pin To {space}")
    column.operator_menu_enum("poise.pin_space", "space", text=text, translate=False).bone = pin.name
    if pin.space == "OBJECT":
        draw_setting(column, pin, "target")


class POISE_MT_pins(bpy.types.Menu):
    """Pins of the armature"""

    bl_label = "Pins"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        for kind, held in _HELD:
            layout.operator("poise.pin", text=held).kind = kind
        layout.operator_context = "EXEC_REGION_WIN"  # the selected bones, not the one behind the menu
        layout.operator("poise.cycle_pin").bone = ""
        layout.operator_context = "INVOKE_REGION_WIN"
        layout.operator_menu_enum("poise.pin_space", "space")
        layout.operator("poise.unpin").bone = ""
        draw_tools(layout, ("pin_here", "mirror_pins", "clear_pins", "goto_pin"))


class POISE_MT_joints(bpy.types.Menu):
    """Ranges, limits and stiffness of the joints"""

    bl_label = "Joints"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        draw_tools(layout, ("set_range", "mirror_range"))
        layout.separator()
        draw_tools(layout, ("learn_limits", "forget_limits", "load_limits", "save_limits"))
        layout.separator()
        draw_tools(layout, ("learn_stiffness", "forget_stiffness"))


class POISE_MT_pose(bpy.types.Menu):
    """Pose and animate with pins, body tools, motion and chains"""

    bl_label = "Poise"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.operator("poise.drag", text="Drag Body (Ragdoll, IK)").use_active = True  # not the bone behind the menu
        layout.operator("poise.solve")
        layout.operator("poise.bake")
        layout.separator()
        for name in ("pins", "body", "motion", "generate", "chains", "keypoints", "joints", "rig"):
            layout.menu(f"POISE_MT_{name}")


class POISE_MT_pie(bpy.types.Menu):
    """The most used posing tools"""

    bl_label = "Poise"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        pie = layout.menu_pie()
        pie.operator("poise.unpin", icon="UNPINNED").bone = ""  # to the left
        pie.operator("poise.pin", icon="PINNED").kind = "BOTH"  # to the right
        pie.operator("poise.plant_feet").surface = "GROUND"  # below
        pie.operator("poise.solve")  # above
        pie.operator("poise.mirror_pose", text="Flip").model = "BOTH"
        pie.operator("poise.take_posture", text="Relaxed").posture = "RELAXED"
        pie.operator("poise.pin_here")
        animal = context.mode == "POSE" and bridge.is_animal(context.active_object)  # F3 draws it in other modes, too
        posture, text = ("REST", "Rest Pose") if animal else ("T", "T-Pose")
        pie.operator("poise.take_posture", text=text).posture = posture


def draw_in_pose_menu(menu: Any, context: Any) -> None:
    """Draw the entry of Poise in the Pose menu, where the search (F3) finds the tools."""
    menu.layout.separator()
    menu.layout.menu("POISE_MT_pose")


CLASSES = (POISE_UL_pins, POISE_PT_pins, POISE_MT_pins, POISE_MT_joints, POISE_MT_pose, POISE_MT_pie)
