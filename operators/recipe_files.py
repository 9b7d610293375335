"""Recipes of motions as JSON files, in the format of `generate`, and samples at equal distances."""

import json
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty

from ..core.formats.files import read_json
from ..core.formats.recipe import RecipeFile, parse_recipe
from ..edits.generate import Generated
from ..edits.generated_motion import check_not_linked, saved_recipe, write_generated
from ..edits.motion_edit import MotionEdit
from ..edits.sample_curves import equal_samples
from ..edits.words import counted
from .generate import GeneratedTool, KeyedTool
from .json_files import LoadsJson, SavesJson
from .tool import fill_in, frame_property

_MOST = 1000  # samples


class POISE_OT_save_recipe(SavesJson, GeneratedTool, bpy.types.Operator):
    """Save the generated motion as a recipe with its key poses, samples and settings, for this or another body"""

    bl_idname = "poise.save_recipe"
    bl_label = "Save Recipe"

    def content(self, context: Any, armature: Any, path: Path) -> tuple[str, str]:
        data = saved_recipe(context, armature, path.stem)
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        return f'the recipe of "{armature.poise_generated.name}"', text


class POISE_OT_load_recipe(LoadsJson, KeyedTool, bpy.types.Operator):
    """Generate a motion from the recipe of a JSON file, in a new action. Its samples can be edited afterwards"""

    bl_idname = "poise.load_recipe"
    bl_label = "Load Recipe"

    start: frame_property("Start", "First frame. By default the current one")

    def chosen(self) -> tuple[str, ...]:
        return ("start",)

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        check_not_linked(armature)
        fill_in(self, start=context.scene.frame_current)
        path = self.path
        recipe, self._data = read_json(path, "recipe", _parse)
        return Generated(context, armature, recipe, self.start)

    def end(self, context: Any, armature: Any, edit: Generated) -> tuple[str, str]:
        report = write_generated(armature, edit, self._data, self.start)
        return "INFO", f'{counted(len(report.frames), "frame")} in "{report.action}"'


class POISE_OT_equal_samples(GeneratedTool, bpy.types.Operator):
    """Replace the samples of the selected track, or of the path, with evenly spaced samples of its curve"""

    bl_idname = "poise.equal_samples"
    bl_label = "Distribute Samples Evenly"

    count: IntProperty(
        name="Samples", description="Number of samples, with the first and the last one", default=11, min=2, max=_MOST
    )
    path: BoolProperty(
        name="Path", description="Use the samples of the path instead of the selected track", options={"SKIP_SAVE"}
    )

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self, confirm_text="Replace")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        count = equal_samples(armature, self.path, self.count)
        return "INFO", f"Replaced the samples with {count} evenly spaced ones. Press Regenerate to use them"


def _parse(data: Any) -> tuple[RecipeFile, dict[str, Any]]:
    """Return a recipe and the data of its file. Raises CoreError for what is no recipe."""
    return parse_recipe(data), data
