"""The panel Body: tools that pose a body by its roles."""

from typing import Any, Final

import bpy

from .. import bridge
from .side import PAIR, Side, beside, draw_tools, is_narrow, refusal

_POSTURES: Final = (("T", "T-Pose"), ("A", "A-Pose"), ("RELAXED", "Relaxed"), ("REST", "Rest Pose"))
_MODELS: Final = (("BOTH", "Flip", "ARROW_LEFTRIGHT"), ("L", "Left to Right", "NONE"), ("R", "Right to Left", "NONE"))
_OF_ASSET: Final = (
    ("apply_pose", "Apply Pose by Parts", False),
    ("apply_pose", "Apply Pose by Parts Mirrored", True),
    ("blend_pose", "Blend Pose by Parts", False),
    ("blend_pose", "Blend Pose by Parts Mirrored", True),
)
_HANDS: Final = (("R", "Right..."), ("BOTH", "Both..."), ("L", "Left..."))


class POISE_PT_body(Side, bpy.types.Panel):
    """Pose the body by its parts: postures, mirror, ground, hands, look at"""

    bl_label = "Body"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return not refusal(context)  # the panel Pins says it

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        grid = layout.grid_flow(columns=1 if is_narrow(PAIR) else 2, align=True, row_major=True)
        animal = bridge.is_animal(context.active_object)
        for posture, text in _POSTURES[2 if animal else 0 :]:
            grid.operator("poise.take_posture", text=text).posture = posture
        layout.operator("poise.make_rest")
        column = layout.column(align=True)
        column.label(text="Mirror")
        row = beside(column)
        for model, text, icon in _MODELS:
            row.operator("poise.mirror_pose", text=text, icon=icon).model = model
        column = layout.column(align=True)
        column.label(text="Contact")
        row = beside(column, PAIR)
        row.operator("poise.plant_feet").surface = "GROUND"
        if not animal:
            row.operator("poise.lay_hands").surface = "CURSOR"
            _draw_fingers(layout.column(align=True))
        layout.operator("poise.look_at", text="Look at 3D Cursor", icon="HIDE_OFF").target = "CURSOR"
        column = layout.column(align=True)
        column.label(text="Pose from Another Body")
        row = beside(column, PAIR)
        row.operator("poise.copy_pose", text="Copy", icon="COPYDOWN")
        row.operator("poise.apply_pose", text="Paste", icon="PASTEDOWN").source = "CLIPBOARD"
        row = beside(column)
        row.operator("poise.apply_pose", text="Apply from Selected").source = "ARMATURE"
        row.operator("poise.blend_pose", text="Blend from Selected").source = "ARMATURE"


def _draw_fingers(column: Any) -> None:
    """Draw the tools of fingers."""
    column.label(text="Fingers")
    row = beside(column, PAIR)
    for side, text in _HANDS:
        row.operator("poise.pose_fingers", text=text).side = side
    row = beside(column, PAIR)
    row.operator("poise.grip")
    row.operator("poise.hold_object")


class POISE_MT_body(bpy.types.Menu):
    """Pose the body by its parts"""

    bl_label = "Body"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.operator_menu_enum("poise.take_posture", "posture")
        layout.operator_menu_enum("poise.mirror_pose", "model")
        # Blender puts the shortest of what F3 finds first: that is no tool that needs a motion
        layout.operator("poise.plant_feet", text="Plant Feet (Foot, Ground)")
        draw_tools(layout, ("lay_hands", "pose_fingers", "grip", "hold_object", "look_at", "make_rest"))
        layout.separator()
        layout.operator("poise.copy_pose")
        for source, text in (("CLIPBOARD", "Paste Pose by Parts"), ("ARMATURE", "Apply from Selected")):
            layout.operator("poise.apply_pose", text=text).source = source
        layout.operator("poise.blend_pose", text="Blend from Selected").source = "ARMATURE"


def draw_in_asset_menu(menu: Any, context: Any) -> None:
    """Draw what can be done with a pose asset in the context menu of the asset browser."""
    asset = getattr(context, "asset", None)
    if asset is None or asset.id_type != "ACTION":
        return
    layout = menu.layout
    layout.separator()
    layout.operator_context = "INVOKE_DEFAULT"
    for name, text, mirrored in _OF_ASSET:
        tool = layout.operator(f"poise.{name}", text=text)
        tool.source, tool.mirrored = "ASSET", mirrored


CLASSES = (POISE_PT_body, POISE_MT_body)
