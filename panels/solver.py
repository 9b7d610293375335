"""The panel Solver: how drags and Solve Here pose the body."""

from typing import Any

import bpy
from bl_ui.utils import PresetPanel

from .. import bridge
from ..languages.interface import CONTEXT
from .side import PAIR, ArmaturePanel, beside, draw_choice, draw_setting, draw_some, is_narrow, labelled


class POISE_PT_presets(PresetPanel, bpy.types.Panel):
    """Presets of the solver's settings"""

    bl_label = "Solver Presets"
    preset_subdir = "poise/solver"
    preset_operator = "poise.use_preset"
    preset_add_operator = "poise.add_preset"


class POISE_PT_solver(ArmaturePanel, bpy.types.Panel):
    """Settings of the solver"""

    bl_label = "Solver"

    def draw_header_preset(self, context: Any) -> None:
        POISE_PT_presets.draw_panel_header(self.layout)

    def draw(self, context: Any) -> None:
        armature: Any = context.active_object
        column = labelled(self.layout)
        animal = bridge.is_animal(armature)
        if not animal or armature.poise_method == "HUMANOID":
            draw_choice(column, armature, "poise_method")
        draw_choice(column, armature, "poise_limits")
        if not animal:
            column.prop(armature, "poise_use_anatomy_limits")
        if armature.poise_method != "HUMANOID":
            draw_choice(column, armature, "poise_wins")
            draw_setting(column, armature, "poise_root")
        if bridge.is_human(armature):
            draw_choice(column, armature, "poise_balance")
        else:  # which has no feet to be above: as if off
            draw_some(column, armature, "poise_balance", ("PINS", "OFF"))
        row = column.row(align=True, heading="Strength", heading_ctxt=CONTEXT)
        row.prop(armature, "poise_use_strength", text="")
        number = (column if is_narrow(PAIR) else row).row()
        number.active = armature.poise_use_strength
        number.prop(armature, "poise_strength", text="")


class POISE_PT_solver_advanced(ArmaturePanel, bpy.types.Panel):
    """Settings of the solver that are rarely needed"""

    bl_label = "Advanced"
    bl_parent_id = "POISE_PT_solver"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        armature: Any = context.active_object
        column = labelled(self.layout)
        column.prop(armature, "poise_use_fk_switch")
        column.prop(armature, "poise_use_reduce")
        if armature.poise_method == "HUMANOID":
            return
        column.prop(armature, "poise_use_stretch")
        draw_choice(column, armature, "poise_joint_targets", expand=False)
        if armature.poise_joint_targets == "ACTION":
            column.prop(armature, "poise_target_action", **({"text": ""} if is_narrow() else {}))
        row = beside(column)
        row.operator("poise.learn_stiffness")
        row.operator("poise.forget_stiffness", text="Clear")


CLASSES = (POISE_PT_presets, POISE_PT_solver, POISE_PT_solver_advanced)
