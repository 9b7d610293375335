"""Highlight what is under the mouse while the tool is active."""

from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..bridge import Grab
from ..bridge.grab import picks, stepped
from ..languages.interface import translated, without_prefixes
from ..overlay.draw import draw_marks, ui_scale
from ..overlay.marks import BoneMark, Marks

TOOL: Final = "poise.drag"
_SOON: Final = 0.2  # seconds within which a mouse that has left a pixel is on its way from there


def marks_of(context: Any, grab: Grab) -> Marks | None:
    """Return the highlight of a grab: the joint, the bone, or the custom shape that is drawn in its place."""
    armature: Any = bpy.data.objects.get(grab.object_name)
    bone = armature.pose.bones.get(grab.bone) if armature is not None and armature.pose is not None else None
    if bone is None:
        return None
    outline = bridge.read_outline(context, bone)
    if outline is not None:
        return Marks(bones=[BoneMark(outline, "hover")])
    matrix = bridge.world_matrix(armature) @ np.array(bone.matrix, float)
    ends = matrix[:3, 3] + np.array([[0.0], [bone.bone.length]]) * matrix[:3, 1]
    at_end = bridge.is_tip(grab, bone.bone.length)
    if grab.is_joint or at_end:
        return Marks(joint=ends[int(at_end)])
    return Marks(bones=[BoneMark(ends, "hover")])


def _looks_like(grab: Grab | None, other: Grab | None) -> bool:
    """Return whether two grabs have the same highlight."""
    if grab is None or other is None or not (grab.on_skin and other.on_skin):
        return grab == other
    return (grab.object_name, grab.bone) == (other.object_name, other.bone)


class POISE_GT_hover(bpy.types.Gizmo):
    """Highlights the bone or joint under the mouse, and takes no clicks"""

    bl_idname = "POISE_GT_hover"
    __slots__ = ("grabs", "left", "mouse")

    def setup(self) -> None:
        self.grabs: list[Grab] = []
        self.mouse = (0.0, 0.0)
        self.left = 0.0  # when the mouse left where J was pressed
        self.use_draw_hover = True  # Blender ends it when the mouse leaves the region
        self.use_tooltip = False
        self.hide_keymap = True  # otherwise it would take clicks

    def test_select(self, context: Any, location: Any) -> int:
        view = bridge.read_view(context.region, context.region_data)
        before, self.mouse = self.hovered(context), (float(location[0]), float(location[1]))
        self.grabs = picks(context, view, self.mouse, ui_scale(context))
        self.note_leave(context)
        grab = self.hovered(context)
        if not _looks_like(grab, before):
            context.area.tag_redraw()
        return -1 if grab is None else 0

    def note_leave(self, context: Any) -> None:
        """Forget what J has chosen at a pixel once the mouse comes back to it after a while.

        Not when it leaves: a drag that was pressed there begins only then, and Blender asks for the pixel once more.
        """
        manager = context.window_manager
        *place, count = manager.poise_stepped
        there, now = stepped(context, self.mouse) > 0, perf_counter()
        if not there and count > 0:
            self.left, manager.poise_stepped = now, (*place, -count)
        elif there and count < 0:
            manager.poise_stepped = (*place, -count) if now - self.left < _SOON else (0, 0, 0)

    def hovered(self, context: Any) -> Grab | None:
        """Return what a drag would take."""
        return self.grabs[stepped(context, self.mouse) % len(self.grabs)] if self.grabs else None

    def draw(self, context: Any) -> None:
        if context.window.modal_operators:  # a drag writes where this would
            return
        grab = self.hovered(context)
        marks = marks_of(context, grab) if grab is not None else None
        if grab is None or marks is None or not context.space_data.overlay.show_overlays:
            return
        count = len(self.grabs)
        which = f", {self.grabs.index(grab) + 1} of {count} (J: next)" if count > 1 else ""
        marks.text = [f"{without_prefixes(grab.bone)}{translated(which)}"]
        draw_marks(context, marks, bridge.read_view(context.region, context.region_data))


class POISE_GGT_hover(bpy.types.GizmoGroup):
    """Gizmo of the tool"""

    bl_idname = "POISE_GGT_hover"
    bl_label = "Poise"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        tool = context.workspace.tools.from_space_view3d_mode("POSE", create=False)
        return context.mode == "POSE" and tool is not None and tool.idname == TOOL

    def setup(self, context: Any) -> None:
        self.gizmos.new(POISE_GT_hover.bl_idname)
