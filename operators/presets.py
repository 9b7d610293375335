"""Presets of the solver's settings in Blender's preset system."""

from typing import Any, Final

import bpy
from bl_operators.presets import AddPresetBase, ExecutePreset
from bpy.props import StringProperty

from ..properties import humanoid
from ..properties.pins import SOLVER
from .tool import OfArmature

FOLDER: Final = "poise/solver"
_LIST: Final = "POISE_PT_presets"


class POISE_OT_add_preset(OfArmature, AddPresetBase, bpy.types.Operator):
    """Add or remove a preset of the solver settings"""

    bl_idname = "poise.add_preset"
    bl_label = "Add Solver Preset"
    preset_menu = _LIST
    preset_subdir = FOLDER
    preset_defines = ["object = bpy.context.active_object"]
    preset_values = [f"object.poise_{name}" for name in (*SOLVER, *humanoid.SETTINGS)]


class POISE_OT_use_preset(OfArmature, bpy.types.Operator):
    """Use the solver settings of this preset"""

    bl_idname = "poise.use_preset"
    bl_label = "Use Solver Preset"
    bl_options = {"REGISTER", "UNDO"}  # Blender's own operator makes no undo step

    filepath: StringProperty(name="File", description="File of the preset", subtype="FILE_PATH", options={"SKIP_SAVE"})
    menu_idname: StringProperty(
        name="Menu", description="Menu that shows the preset", default=_LIST, options={"HIDDEN", "SKIP_SAVE"}
    )

    def execute(self, context: Any) -> set[str]:
        use: Any = ExecutePreset.execute
        return use(self, context)
