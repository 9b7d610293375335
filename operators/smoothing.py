"""Take jitter and pops out of a motion."""

from functools import partial
from typing import Any, Final

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .. import bridge
from ..core import CoreError
from ..core.editing.smoothing import CUTOFF, STICKS_OUT
from ..edits.smoothing import MOST, QUICKEST, SLOWEST, SmoothEdit
from ..edits.words import counted
from ..overlay.marks import Marks
from .drafts import PosePreview, TrailDrafts, redraw, shown_trails
from .keys import RangeTool
from .slider import Slider
from .tool import selected_bones
from .trails import mark_of

_OCTAVES: Final = 4.0  # of the cutoff over the way of the mouse


class POISE_OT_smooth_motion(Slider, RangeTool, bpy.types.Operator):
    """Remove jitter and single-frame pops from a motion. The feet stay where they are on the ground"""

    bl_idname = "poise.smooth_motion"
    bl_label = "Smooth Motion"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    cutoff: FloatProperty(
        name="Cutoff",
        description="Frequency above which movement is removed, in Hz. Lower values smooth more",
        default=CUTOFF,
        min=SLOWEST,
        soft_min=1.0,
        soft_max=15.0,
        max=QUICKEST,
    )
    pop: FloatProperty(
        name="Pops",
        description="Replace frames that differ from their neighbors by more than this. At 0, replace none",
        default=STICKS_OUT,
        min=0.0,
        max=np.radians(MOST),
        subtype="ANGLE",
    )
    bones: EnumProperty(
        name="Bones",
        description="Bones that are smoothed",
        items=(("ALL", "All", "All bones"), ("SELECTED", "Selected", "Selected bones")),
    )
    plant: BoolProperty(name="Plant Feet", description="Hold the feet while they touch the ground", default=True)

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        armature = context.active_object
        self.fill_range(armature)
        if context.area is None:
            return self.become_modal(context)
        try:
            self.check_idle(context)
            self._smoothed = self.begin(context, armature)
        except CoreError as error:
            return self.refuse(error)
        self._armature = (armature.name, armature.session_uid, self._smoothed.rig.skeleton.names)
        self._preview, self._trails = PosePreview(), shown_trails(armature)
        self._drafts = TrailDrafts(armature, self._smoothed, [] if self._trails is None else self._trails.trails)
        return self.start_sliding(context, event)

    def slide(self, context: Any, share: float) -> str:
        self.cutoff *= 2.0 ** (-_OCTAVES * share)
        edit, now = self._smoothed, context.scene.frame_current_final
        edit.smooth(self.cutoff)
        on = np.flatnonzero(edit.before.frames == now)
        if len(on):
            self._preview.restore(self._find_armature)
            self._preview.show(self._find_armature(), edit, edit.after.pose[int(on[0])])
        if self._trails is not None:
            self._trails.dragged = Marks(trails=[mark_of(trail, now) for trail in self._drafts.trails()])
        redraw(context)
        return f"Cutoff {self.cutoff:.1f} Hz"

    def confirm(self, context: Any) -> set[str]:
        self.give_back()
        self.begin_turns(partial(self.carry_out, context, self._find_armature(), self._smoothed))
        return self.go_on(context)

    def give_back(self) -> None:
        if self._trails is not None:
            self._trails.dragged = None
        self._preview.restore(self._find_armature)

    def _find_armature(self) -> Any:
        """Return the armature; raises CoreError if it is gone."""
        return bridge.find_again(*self._armature)

    def begin(self, context: Any, armature: Any) -> SmoothEdit:
        bones = selected_bones(context) if self.bones == "SELECTED" else ()
        pop = float(np.degrees(self.pop))
        return SmoothEdit(context, armature, self.frames(armature), bones, self.cutoff, pop, self.plant)

    def end(self, context: Any, armature: Any, edit: SmoothEdit) -> tuple[str, str]:
        report = edit.write(armature)
        level = "WARNING" if edit.advice() else "INFO"
        return level, f'{edit.summary()}; {counted(len(report.frames), "frame")} in "{report.action}"'
