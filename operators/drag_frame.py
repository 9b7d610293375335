"""Drag a dot of a trail: the body at its frame, and the motion around it, follow."""

from contextlib import suppress
from typing import Any, Final

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, IntProperty

from .. import bridge
from ..core import CoreError, rotation
from ..edits.drag.pointer import Pointer
from ..edits.dragged_frame import MOST, TICK, DraggedFrame, Falloff, check_shift, find_falloff
from ..edits.trails import Trail, nearest_dot
from ..edits.words import counted
from ..languages.interface import translated
from ..overlay.draw import ui_scale
from ..overlay.marks import BoneMark, Marks
from .drafts import PosePreview, TrailDrafts, redraw, shown_trails
from .lasting import Lasting
from .tool import attempt, frame_property, name_property
from .trails import TrailShow, mark_of

_REACH: Final = 8.0  # pixels between the mouse and a dot that is grabbed, at a scale of 1
_AXES: Final = {"X": 0, "Y": 1, "Z": 2}
_WIDER: Final = {"WHEELUPMOUSE": 1.2, "WHEELDOWNMOUSE": 1.0 / 1.2}  # falloffs
_CONFIRM: Final = {("LEFTMOUSE", "RELEASE"), ("RET", "PRESS"), ("NUMPAD_ENTER", "PRESS")}
_CANCEL: Final = {"ESC", "RIGHTMOUSE"}
_NAVIGATE: Final = {"MIDDLEMOUSE", "NDOF_MOTION", "TRACKPADPAN", "TRACKPADZOOM"}
_HINTS: Final = "Release: solve   Esc: cancel   Wheel: falloff   X, Y, Z: axis   Shift: precise   Ctrl: snap"


class POISE_OT_drag_frame(Lasting, bpy.types.Operator):
    """Drag a point of the body at any frame. The motion around that frame follows, and feet and pins hold"""

    bl_idname = "poise.drag_frame"
    bl_label = "Drag Trail Dot"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}
    tick = TICK  # seconds between two drafts, at least

    bone: name_property("Bone", "Bone that is dragged")
    point: FloatVectorProperty(
        name="Point", description="Point of the bone, in bone space. By default its head", size=3,
        subtype="XYZ", options={"SKIP_SAVE"},
    )  # fmt: skip
    frame: frame_property("Frame", "Frame at which the point is moved")
    shift: FloatVectorProperty(
        name="Move", description="Movement in world space", size=3, subtype="TRANSLATION",
        options={"SKIP_SAVE"},
    )  # fmt: skip
    before: FloatProperty(
        name="Before", description="Number of frames over which the change eases in", default=10.0, min=0.0, max=MOST,
        options={"SKIP_SAVE"},
    )  # fmt: skip
    after: FloatProperty(
        name="After", description="Number of frames over which the change eases out", default=10.0, min=0.0, max=MOST,
        options={"SKIP_SAVE"},
    )  # fmt: skip
    earlier: IntProperty(
        name="Hold Before", min=0, options={"SKIP_SAVE"},
        description="Number of frames before it that move by the same amount, such as those in which a foot stands",
    )  # fmt: skip
    later: IntProperty(
        name="Hold After",
        description="Number of frames after it that move by the same amount",
        min=0,
        options={"SKIP_SAVE"},
    )

    with_steps: BoolProperty(
        name="Move Footsteps",
        options={"SKIP_SAVE"},
        description="When the hips are moved, move the footsteps along with their path, instead of keeping them where "
        "they are",
    )

    present: BoolProperty(
        name="Current Frame", options={"SKIP_SAVE", "HIDDEN"},
        description="Also drag the dot of the current frame. If disabled, the body itself is dragged there",
    )  # fmt: skip

    # -- from Python, and from Adjust Last Operation -----------------------------------------------------------------

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        check_shift(self.shift)
        if not np.isfinite(self.point).all():
            raise CoreError("The point must be finite numbers.")
        start, end = self.frame - self.earlier, self.frame + self.later
        falloff = Falloff(float(start), float(end), self.before, self.after)
        edit = DraggedFrame(context, armature, self.bone, self.point, self.frame, falloff, self.with_steps)
        return self._write(armature, edit)

    def _write(self, armature: Any, edit: DraggedFrame) -> tuple[str, str]:
        """Solve and key an edit; return the report. Raises CoreError with nothing changed."""
        edit.shift(np.array(self.shift))
        edit.solve()
        report = edit.write(armature, new=False)
        bones = len({*report.rotated, *report.moved})
        sentence = f"{counted(bones, 'bone')} keyed at frame {self.frame}, with the keys around it"
        said = [sentence, *report.explanations, *filter(None, [edit.between_keys()])]
        return "WARNING" if report.explanations else "INFO", "; ".join(said)

    # -- with the mouse ---------------------------------------------------------------------------------------------

    def invoke(self, context: Any, event: Any) -> set[str]:
        region, data = context.region, context.region_data
        if region is None or region.type != "WINDOW" or data is None:
            return self.execute(context)
        mouse = (event.mouse_prev_press_x - region.x, event.mouse_prev_press_y - region.y)
        view, armature = bridge.read_view(region, data), context.active_object
        found = _pick(context, view, mouse, self.present)
        if found is None:
            return {"CANCELLED", "PASS_THROUGH"}
        self._show, self._trail, self._place = found
        self._width, self._armature = float(armature.poise_trail_falloff), (armature.name, armature.session_uid)
        self._preview = PosePreview()
        try:
            self._begin(context, armature)
        except CoreError as error:
            return self.refuse(error)
        here = self._trail.positions[self._place]
        overlay = context.space_data.overlay
        grid = overlay.grid_scale / max(overlay.grid_subdivisions, 1)
        self._pointer = Pointer(view, here, here, rotation.IDENTITY, np.array(mouse, float), grid, snap=event.ctrl)
        self._moved, self._released = True, False
        self._follow(context, event)
        waiting = self.wait(context)
        context.workspace.status_text_set(translated(_HINTS))
        return waiting

    def modal(self, context: Any, event: Any) -> set[str]:
        if self._released:
            return super().modal(context, event)
        return attempt(self, context, event, self._handle)

    def cancel(self, context: Any) -> None:
        """Show pose and trails as they are; Blender calls this, too, when it closes the file or the window."""
        self._show.dragged = None
        with suppress(CoreError):  # the armature is gone
            self._preview.restore(self._find_armature)
        super().cancel(context)
        redraw(context)

    def _begin(self, context: Any, armature: Any) -> None:
        """Read the motion around the dot, as far as the falloff goes."""
        self._preview.restore(self._find_armature)
        trail, place = self._trail, self._place
        self.bone, self.point, self.frame = trail.bone, trail.point, round(trail.frames[place])
        falloff = find_falloff(trail, place, self._width)
        self.before, self.after = falloff.ease_in, falloff.ease_out
        self.earlier, self.later = round(self.frame - falloff.start), round(falloff.end - self.frame)
        self.with_steps = armature.poise_trail_steps
        self._edit = DraggedFrame(context, armature, self.bone, self.point, self.frame, falloff, self.with_steps)
        self._drafts = TrailDrafts(armature, self._edit, self._show.trails)

    def _handle(self, context: Any, event: Any) -> set[str]:
        pointer = self._pointer
        if event.type == "MOUSEMOVE":
            self._follow(context, event)
        elif event.type == "TIMER":
            if self._moved:
                self._draft(context)
        elif event.type in {"LEFT_SHIFT", "RIGHT_SHIFT"}:
            pointer.precise = event.value == "PRESS"
        elif event.type in {"LEFT_CTRL", "RIGHT_CTRL"}:
            pointer.snap = event.value == "PRESS"
            self._follow(context, event)
        elif (event.type, event.value) in _CONFIRM:
            self._released = True
            self.begin_turns(self._finish)
            if self._show.dragged is not None:  # the draft, until the motion is solved
                self._show.dragged.text = [translated(f"{translated(self.bl_label)}: Esc cancels")]
            redraw(context)
        elif event.value != "PRESS":
            return {"RUNNING_MODAL"}
        elif event.type in _CANCEL:
            self.cancel(context)
            return {"CANCELLED"}
        elif event.type in _NAVIGATE:
            return {"PASS_THROUGH"}
        elif event.type in _AXES:
            pointer.constrain(_AXES[event.type], plane=event.shift)
            self._follow(context, event)
        elif event.type in _WIDER:
            wider = round(self._width * _WIDER[event.type])
            step = 1 if _WIDER[event.type] > 1.0 else -1
            self._width = float(np.clip(wider if wider != self._width else wider + step, 0, MOST))
            self._begin(context, self._find_armature())
            self._moved = True
        return {"RUNNING_MODAL"}

    def _find_armature(self) -> Any:
        """Return the armature; raises CoreError if it is gone."""
        return bridge.find_again(*self._armature, self._edit.rig.skeleton.names)

    def _follow(self, context: Any, event: Any) -> None:
        """Note where the mouse is."""
        self._pointer.view = bridge.read_view(context.region, context.region_data)  # the user may have orbited
        self._pointer.move((event.mouse_region_x, event.mouse_region_y))
        self._moved = True

    def _draft(self, context: Any) -> None:
        """Show what the motion would be."""
        edit, shift = self._edit, self._pointer.shift()
        edit.shift(shift, draft=True)
        edit.solve()
        now = context.scene.frame_current_final
        place = int(np.searchsorted(edit.before.frames, now))
        if edit.controlled is None and np.any(edit.before.frames == now):  # controls take too long for that
            self._preview.show(self._find_armature(), edit, edit.after.pose[place])
        trails, shown = self._drafts.trails(), Marks()
        for trail in trails:
            own = trail.bone == self._trail.bone and trail.point == self._trail.point
            shown.trails.append(mark_of(trail, now, edit.falloff.shares(trail.frames) if own else None))
            if own:
                wanted = self._trail.positions[self._place] + shift
                shown.targets.append(np.stack([wanted, trail.positions[self._place]]))
        shown.bones.append(BoneMark(edit.lines(), "hover"))
        self._moved = False
        shown.text = [translated(self._sentence())]
        self._show.dragged = shown
        redraw(context)

    def _sentence(self) -> str:
        start, end, before, after = (round(one) for one in vars(self._edit.falloff).values())
        held = f"frame {self.frame}" if start == end else f"frames {start} to {end}, while planted"
        around = f"{before} before and {after} after"
        return f"Dragging {self.bone} at {held}. Falloff: {around}"

    def _finish(self) -> tuple[str, str]:
        """Solve and key what was dragged."""
        self.shift = self._pointer.shift()
        self._preview.restore(self._find_armature)
        armature = self._find_armature()
        told = self._write(armature, self._edit)
        self._show.trails = self._drafts.trails()  # until they are read again
        armature.poise_trail_falloff = round(self._width)
        return told


def _pick(
    context: Any, view: bridge.View, mouse: tuple[float, float], present: bool
) -> tuple[TrailShow, Trail, int] | None:
    """Return the trail whose dot is at a pixel, its place there, and what shows it.

    Unless `present`, dots of the present frame are left to the body, which is there.
    """
    now = context.scene.frame_current_final
    show = shown_trails(context.active_object)
    hit = None if show is None else nearest_dot(show.trails, view, mouse, now)
    if show is None or hit is None or hit[0] > _REACH * ui_scale(context):
        return None
    return (show, hit[1], hit[2]) if present or hit[1].frames[hit[2]] != now else None
