"""Key a frame range in which the pins hold."""

from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..core.formats.job import Write
from ..edits.job import perform_job
from ..edits.pins import job_from_pins
from ..edits.words import counted
from .keys import WHERE
from .lasting import Lasting
from .pins import PinsTool
from .tool import fill_scene_range, frame_property, headline


class POISE_OT_bake(Lasting, PinsTool, bpy.types.Operator):
    """Key a range of frames so that all pins hold at each frame"""

    bl_idname = "poise.bake"
    bl_label = "Bake"

    frame_start: frame_property("Start", "First frame", 1)
    frame_end: frame_property("End", "Last frame", 250)
    action: EnumProperty(name="Action", description="Action that gets the keys", items=WHERE)
    name: StringProperty(
        name="Name",
        description='Name of the new action. By default the name of the current one, followed by "poise"',
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        fill_scene_range(context, self)
        return context.window_manager.invoke_props_dialog(self, confirm_text="Bake")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        fill_scene_range(context, self)
        write = Write(new=self.action == "NEW", action=self.name or None, key=True)
        job = job_from_pins(armature, (self.frame_start, self.frame_end), write)
        report = perform_job(context, armature, job)
        sentence = f'Baked {counted(len(report.frames), "frame")} into "{report.action}"'
        if report.explanations:
            return "WARNING", headline(self, "WARNING", sentence, report.explanations)
        return "INFO", sentence
