"""Presets of the solver's settings, by Blender's own preset system."""

import bpy
from bl_operators.presets import AddPresetBase

FOLDER = "poise/solver"


class POISE_OT_add_preset(AddPresetBase, bpy.types.Operator):
    """Add or remove a preset of the solver's settings"""

    bl_idname = "poise.add_preset"
    bl_label = "Add Solver Preset"
    preset_menu = "POISE_PT_presets"
    preset_subdir = FOLDER
    preset_defines = ["object = bpy.context.active_object"]
    preset_values = [
        "object.poise_wins",
        "object.poise_root",
        "object.poise_limits",
        "object.poise_use_balance",
        "object.poise_use_stretch",
    ]


CLASSES = (POISE_OT_add_preset,)
