"""Retarget the motion of the other selected armature, or of a file."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..core import CoreError
from ..core.formats.mapping import read_mapping
from ..edits.clips import MOTIONS, ClipOptions
from ..edits.motion_edit import MotionEdit, unused_name
from ..edits.parts import check_sure, take_mapping
from ..edits.retarget import Retargeted, imported
from ..edits.words import counted
from ..properties.keypoints import SAID, UPS
from .background import Background
from .tool import chosen_path

_UPS = ((SAID[0], SAID[1], "The one along which the body mostly stands"), *UPS[1:])


def _takes(tool: Any, context: Any, text: str) -> list[str]:
    """Return the takes of the file that was read."""
    return tool.takes.splitlines()


class POISE_OT_retarget(Background, bpy.types.Operator):
    """Retarget the motion of the other selected armature, or of a file that has one, to the active one"""

    bl_idname = "poise.retarget"
    bl_label = "Retarget Motion"

    filepath: StringProperty(
        name="File", description="The file that has the motion; without, it is the other selected armature's",
        subtype="FILE_PATH", options={"SKIP_SAVE"},
    )  # fmt: skip
    filter_glob: StringProperty(default=";".join(f"*{kind}" for kind in MOTIONS), options={"HIDDEN"})
    take: StringProperty(
        name="Take", description="The one of several motions in the file; by default the one that it has active",
        options={"SKIP_SAVE"}, search=_takes, search_options={"SUGGESTION"},
    )  # fmt: skip
    takes: StringProperty(options={"HIDDEN", "SKIP_SAVE"})  # one a line
    mapping: StringProperty(
        name="Mapping", description="A file of JSON that says which bones of either body are which parts",
        subtype="FILE_PATH",
    )  # fmt: skip
    up: EnumProperty(name="Up", description="The axis that is up in a file of SMPL", items=_UPS)
    body_model: StringProperty(
        name="Body Model", description="A body model of SMPL (.npz), whose proportions a file of SMPL has",
        subtype="FILE_PATH",
    )  # fmt: skip
    plant: BoolProperty(
        name="Plant Feet", description="Hold the feet where those of the other body touch the ground", default=True
    )

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        if self.filepath or _others(context):
            return super().invoke(context, event)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        if self.filepath:
            path = chosen_path(self.filepath)
            self._from = path.stem
            options = ClipOptions(
                None if self.up == SAID[0] else self.up, chosen_path(self.body_model) if self.body_model else None
            )
            with imported(context, path, self.take, options) as (source, takes):
                self.takes = "\n".join(takes)
                self._from = takes[0] if len(takes) > 1 else path.stem
                if self.mapping:
                    take_mapping([armature, source], read_mapping(chosen_path(self.mapping)))
                check_sure(source, by_motion=True)
                return Retargeted(context, armature, source, plant=self.plant)
        others = _others(context)
        if len(others) != 1:
            raise CoreError("Select one other armature that has the motion, or name a file.")
        self._from = others[0].name
        return Retargeted(context, armature, others[0], plant=self.plant)

    def end(self, context: Any, armature: Any, edit: MotionEdit) -> tuple[str, str]:
        report = edit.write(armature, unused_name(f"{armature.name} {self._from}"))
        sentence = f'{counted(len(report.frames), "frame")} of "{self._from}", feet stand {len(edit.pins)} times'
        if "\n" in self.takes:
            sentence += f"; one of {len(self.takes.splitlines())} takes, choose in Adjust Last Operation"
        return ("WARNING", f"{sentence}; {report.explanations[0]}") if report.explanations else ("INFO", sentence)


def _others(context: Any) -> list[Any]:
    """Return the selected armatures but the active one."""
    chosen = context.view_layer.objects
    return [one for one in chosen if one.select_get() and one.type == "ARMATURE" and one != context.active_object]
