"""Hold an object: grip it, and keep the hands on it over a range of frames."""

from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty

from ..edits.body import BodyEdit
from ..edits.body_tools import GripObject
from ..edits.hold import Holding
from ..edits.motion_edit import MotionEdit
from ..edits.pinned_motion import PinnedMotion
from ..edits.words import counted
from .body_tools import GRIPPED, ObjectTool, properties_of, with_settings
from .lasting import Background
from .live_pins import settle
from .tool import fill_in, frame_property


class POISE_OT_hold_object(Background, bpy.types.Operator):
    """Close the fingers around an object, and keep the hands on it over a range of frames while it moves"""

    bl_idname = "poise.hold_object"
    bl_label = "Hold Object"
    shown = ("target", "side", "frame_start", "frame_end", "ease", "use_pins", "close", "margin", *GRIPPED)
    draw: Any = ObjectTool.draw
    __annotations__ = {
        **properties_of(GripObject),
        "frame_start": frame_property("Start", "First frame of the range, at which the hands are at the object"),
        "frame_end": frame_property("End", "Last frame of the range"),
        "ease": IntProperty(
            name="Ease", default=6, min=0, soft_max=100,
            description="Number of frames before and after the range over which the hands blend in and out",
        ),
        "use_pins": BoolProperty(
            name="Follow Object", default=True,
            description="Keep the hands in place on the object with timed pins, starting from the first frame. If "
            "disabled, the hands move as before, and only the fingers close around the object at every frame",
        ),
    }  # fmt: skip
    _holding: Holding | None = None

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        self._fill(context)
        return context.window_manager.invoke_props_dialog(self, confirm_text="Hold")

    def _fill(self, context: Any) -> None:
        present = context.scene.frame_current
        fill_in(self, frame_start=present, frame_end=max(present, context.scene.frame_end))

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        self._fill(context)
        frames: tuple[int, int] = (self.frame_start, self.frame_end)  # pyright: ignore
        tool = with_settings(GripObject, self)
        if not self.use_pins:  # pyright: ignore
            return BodyEdit(context, armature, frames, tool)
        self._holding = Holding(context, armature, tool, frames, self.ease)  # pyright: ignore
        return self._holding.fingers

    def end(self, context: Any, armature: Any, edit: BodyEdit) -> tuple[str, str]:
        report = edit.write(armature)
        said = self._holding.said if self._holding else edit.notes[0].said
        sentence = "; ".join([f"{said}, {counted(len(report.frames), 'frame')} keyed", *edit.missed])
        return "WARNING" if edit.missed else "INFO", sentence

    def begin_more(self, context: Any, armature: Any) -> MotionEdit | None:
        return None if self._holding is None else self._holding.pinned(context, armature)

    def end_more(self, context: Any, armature: Any, edit: PinnedMotion) -> tuple[str, str]:
        met, sentence = edit.summary(edit.write(armature))
        settle(context, armature)
        return "INFO" if met else "WARNING", sentence
