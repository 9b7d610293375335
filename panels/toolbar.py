"""The tool in the toolbar of Pose Mode."""

from pathlib import Path
from typing import Any, Final

import bpy

from .. import bridge
from .side import ArmaturePanel

_DRAG: Final = {"type": "LEFTMOUSE", "value": "CLICK_DRAG"}
_CLICK: Final = {"type": "LEFTMOUSE", "value": "CLICK"}


def _box(mode: str) -> dict[str, Any]:
    return {"properties": [("mode", mode), ("wait_for_input", False)]}


class POISE_TOOL_drag(bpy.types.WorkSpaceTool):
    """Poise's tool"""

    bl_space_type = "VIEW_3D"
    bl_context_mode = "POSE"
    bl_idname = "poise.drag"
    bl_label = "Poise"
    bl_description = "Drag a joint or a bone with the whole body following.\nPins hold; P pins what is under the mouse"
    bl_icon = str(Path(__file__).with_name("icons") / "poise.drag")
    bl_cursor = "DEFAULT"
    bl_widget = "POISE_GGT_hover"
    # Blender reverses the order: the last entry is tried first; beside the body clicks and drags
    # fall through to Blender's own selection
    bl_keymap = (
        ("view3d.select_box", _DRAG, _box("SET")),
        ("view3d.select_box", {**_DRAG, "shift": True}, _box("ADD")),
        ("view3d.select_box", {**_DRAG, "ctrl": True}, _box("SUB")),
        ("poise.drag", _DRAG, None),
        ("poise.drag", {**_DRAG, "shift": True}, None),
        ("poise.drag", {**_DRAG, "ctrl": True}, None),
        ("poise.drag_frame", _DRAG, None),
        ("poise.drag_frame", {**_DRAG, "alt": True}, {"properties": [("present", True)]}),
        ("view3d.select", _CLICK, {"properties": [("deselect_all", True)]}),
        ("poise.select", _CLICK, None),
        ("poise.goto_frame", _CLICK, None),
        ("view3d.select", {**_CLICK, "shift": True}, {"properties": [("toggle", True)]}),
        ("poise.select", {**_CLICK, "shift": True}, {"properties": [("toggle", True)]}),
        ("poise.next_bone", {"type": "J", "value": "PRESS"}, None),
        ("poise.cycle_pin", {"type": "P", "value": "PRESS"}, None),
        ("poise.pin_here", {"type": "P", "value": "PRESS", "shift": True}, None),
    )

    @staticmethod
    def draw_settings(context: Any, layout: Any, tool: Any) -> None:
        if not ArmaturePanel.poll(context):
            return
        armature = context.active_object
        row = layout.row()
        if armature.poise_method == "HUMANOID" or not bridge.is_animal(armature):
            row.prop(armature, "poise_method")
        row.prop(armature, "poise_limits")
        if bridge.is_human(armature):
            row.label(text="Balance:")
            row.prop(armature, "poise_balance", expand=True)
        if armature.poise_method == "PINS":
            row.label(text="Precedence:")
            row.prop(armature, "poise_wins", expand=True)
            row.prop(armature, "poise_root")
        row.prop(armature, "poise_pin_space")


TOOLS = (POISE_TOOL_drag,)
