"""Key a frame range in which a chain's effector follows an object."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..core import CoreError
from ..edits.chains import bake_job
from ..edits.job import JobEdit, check_named
from ..edits.words import counted
from .chains import active_chain
from .keys import WHERE
from .lasting import Background
from .tool import fill_scene_range, frame_property, headline, name_property


class POISE_OT_bake_chain(Background, bpy.types.Operator):
    """Key a range of frames in which the chain follows an object by its contribution list, while pins hold"""

    bl_idname = "poise.bake_chain"
    bl_label = "Bake Chain"

    target: name_property("Object", "Object whose origin the effector of the chain follows")
    frame_start: frame_property("Start", "First frame", 1)
    frame_end: frame_property("End", "Last frame", 250)
    use_pins: BoolProperty(
        name="Pins",
        description="Keep active pins in place as well. Joints that pins depend on only follow the list approximately",
        default=True,
    )
    action: EnumProperty(name="Action", description="Action that gets the keys", items=WHERE)

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        active_chain(armature)

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        fill_scene_range(context, self)
        if not self.target:
            others = (one.name for one in context.selected_objects if one != context.active_object)
            self.target = next(others, "")
        return context.window_manager.invoke_props_dialog(self, confirm_text="Bake")

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.use_property_split = True
        layout.prop_search(self, "target", context.scene, "objects")
        for name in ("frame_start", "frame_end", "use_pins", "action"):
            layout.prop(self, name)

    def begin(self, context: Any, armature: Any) -> JobEdit:
        fill_scene_range(context, self)
        if not self.target:
            raise CoreError("Choose the object that the chain follows.")
        frames, new = (self.frame_start, self.frame_end), self.action == "NEW"
        job = bake_job(armature, active_chain(armature), self.target, frames, new, self.use_pins)
        check_named(context, armature, job)
        return JobEdit(context, armature, job)

    def end(self, context: Any, armature: Any, edit: JobEdit) -> tuple[str, str]:
        report = edit.write(armature, edit.job.write.action, edit.job.write.new)
        sentence = f'Baked {counted(len(report.frames), "frame")} into "{report.action}"'
        missed = [one for one in report.explanations if one not in (*edit.misfit, *edit.stays)]
        return ("WARNING", headline(self, "WARNING", sentence, missed)) if missed else ("INFO", sentence)
