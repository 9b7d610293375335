"""Drag part of a body with the mouse while the whole body follows; from Python, to a place."""

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatVectorProperty

from .. import bridge
from ..bridge import Grab, autokey
from ..core import CoreError, rotation
from ..core.rotation import Array
from ..edits.drag import shown
from ..edits.drag.body import Lost, Stuck
from ..edits.drag.chain import begin_drag
from ..edits.drag.explain import explain, explain_held
from ..edits.drag.pointer import Pointer
from ..edits.drag.recording import Recording, reduce_recorded
from ..edits.drag.session import DragSession
from ..edits.pin_list import keep_pin, next_kind
from ..edits.words import counted
from ..languages.interface import translated
from ..overlay.draw import Drawing, ui_scale
from ..overlay.marks import BoneMark, Marks
from .tool import headline, name_property, select_only

_TICK: Final = 0.02  # seconds between ticks while the body moves under a still mouse
_PAUSE: Final = 0.2  # seconds after which a mouse is still, however seldom Blender hears it
_QUIET: Final = 0.25  # seconds at rest until a miss is explained
_TRAIL: Final = 200  # places of the path that are shown
_AXES: Final = {"X": 0, "Y": 1, "Z": 2}
_HINTS: Final = (
    ("Confirm", "MOUSE_LMB"),
    ("Cancel", "MOUSE_RMB"),
    ("", "EVENT_X"),
    ("", "EVENT_Y"),
    ("Axis", "EVENT_Z"),
    ("Rotate", "EVENT_R"),
    ("Pin", "EVENT_P"),
    ("", "EVENT_ONEKEY"),
    ("Precedence", "EVENT_TWOKEY"),
    ("Depth", "MOUSE_MMB_SCROLL"),
    ("Precise", "EVENT_SHIFT"),
    ("Snap", "EVENT_CTRL"),
)
_WINS: Final = {"ONE": "PINS", "TWO": "DRAG", "NUMPAD_1": "PINS", "NUMPAD_2": "DRAG"}
_PINNED: Final = {
    "POSITION": "position pinned", "ROTATION": "rotation pinned", "BOTH": "position and rotation pinned",
}  # fmt: skip
_AS_SET: Final = ("AS_SET", "Default", "Use the current setting")
_CONFIRM: Final = {"RET", "NUMPAD_ENTER"}
_CANCEL: Final = {"ESC", "RIGHTMOUSE"}
_NAVIGATE: Final = {"MIDDLEMOUSE", "NDOF_MOTION", "TRACKPADPAN", "TRACKPADZOOM"}
_WHEEL: Final = {"WHEELUPMOUSE": 1.0, "WHEELDOWNMOUSE": -1.0}


class POISE_OT_drag(bpy.types.Operator):
    """Drag a joint or a bone with the whole body following, while pins hold"""

    bl_idname = "poise.drag"
    bl_label = "Drag Body"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    bone: name_property("Bone", "Bone that is dragged")
    object: name_property("Armature", "Armature of the bone. By default the active one")
    point: FloatVectorProperty(
        name="Point", description="Point of the bone, in bone space. By default its head", size=3,
        subtype="XYZ", options={"SKIP_SAVE"},
    )  # fmt: skip
    shift: FloatVectorProperty(
        name="Move", description="Movement in world space", size=3, subtype="TRANSLATION",
        options={"SKIP_SAVE"},
    )  # fmt: skip
    turn: FloatVectorProperty(
        name="Rotation", description="Rotation in world space", size=3, subtype="EULER", options={"SKIP_SAVE"},
    )  # fmt: skip
    selected: BoolProperty(
        name="All Selected", description="If the bone is selected, drag all selected bones", options={"SKIP_SAVE"}
    )
    wins: EnumProperty(
        name="Precedence", description="What takes precedence in this drag and the next ones",
        items=(_AS_SET, ("PINS", "Pins", "Pins hold"), ("DRAG", "Drag", "Pins give way")), options={"SKIP_SAVE"},
    )  # fmt: skip
    pin: EnumProperty(
        name="Pin", description="Pin the dragged bone where the drag ends", options={"SKIP_SAVE"},
        items=(
            _AS_SET,
            ("NONE", "None", "Do not pin it"),
            ("POSITION", "Position", "Pin its position"),
            ("BOTH", "Position and Rotation", "Pin its position and its rotation"),
        ),
    )  # fmt: skip

    recorded: BoolProperty(
        name="Recorded", description="Whether the drag was keyed at each frame during playback",
        options={"SKIP_SAVE", "HIDDEN"},
    )  # fmt: skip
    use_active: BoolProperty(
        name="Active Bone", description="Drag the active bone, regardless of the mouse position",
        options={"SKIP_SAVE", "HIDDEN"},
    )  # fmt: skip

    @classmethod
    def poll(cls, context: Any) -> bool:
        if context.mode == "POSE":
            return True
        try:
            bridge.check(context.active_object)
            reason = "Switch to Pose Mode to drag bones."
        except CoreError as error:
            reason = str(error)
        cls.poll_message_set(translated(reason.removesuffix("."), "tooltips"))
        return False

    # -- from Python, and from Adjust Last Operation -----------------------------------------------------------------

    def execute(self, context: Any) -> set[str]:
        self._sessions: list[DragSession] = []
        self._recording: Recording | None = None
        try:
            if self.recorded:
                raise CoreError("A recorded drag cannot be adjusted. Drag again during playback.")
            armature: Any = bpy.data.objects.get(self.object) if self.object else context.active_object
            if self.object and armature is None:
                raise CoreError(f'No object "{self.object}".')
            bridge.check(armature)
            grab, turn = self._named(context, armature), rotation.from_euler(self.turn)
            self._sessions = list(self._begin(context, grab, settle=True, turning=not np.allclose(self.turn, 0.0)))
            for session in self._sessions:
                session.switch(*(None if name == "AS_SET" else name for name in (self.wins, None, self.pin)))
                session.drag(np.array(self.shift), turn)  # also by nothing: settings may have changed
            self._keep(context)
        except CoreError as error:
            self._give_back()
            self.report({"ERROR"}, translated(str(error), "reports"))
            return {"CANCELLED"}
        return {"FINISHED"}

    def _named(self, context: Any, armature: Any) -> Grab:
        """Return the grab of the properties, or of the active bone; raises CoreError for invalid numbers."""
        if not np.isfinite([*self.point, *self.shift, *self.turn]).all():
            raise CoreError("Point, move and rotation must be finite numbers.")
        grab = Grab(armature.name, self.bone, tuple(self.point)) if self.bone else _active(context)
        if grab is None or grab.object_name != armature.name:
            raise CoreError("There is no active bone. Select a bone, or give its name.")
        return grab

    # -- with the mouse ---------------------------------------------------------------------------------------------

    def invoke(self, context: Any, event: Any) -> set[str]:
        region, data = context.region, context.region_data
        if region is None or region.type != "WINDOW" or data is None:
            return self.execute(context)
        mouse = (event.mouse_prev_press_x - region.x, event.mouse_prev_press_y - region.y)
        if event.value != "CLICK_DRAG":  # from a shortcut: grab what is under the mouse now
            mouse = (event.mouse_region_x, event.mouse_region_y)
        view = bridge.read_view(region, data)
        grab = None if self.use_active else bridge.pick(context, view, mouse, ui_scale(context))
        context.window_manager.poise_stepped = (0, 0, 0)  # what J has chosen is taken
        if grab is None:
            if event.value == "CLICK_DRAG":  # beside the body: the event goes on to box selection
                return {"CANCELLED", "PASS_THROUGH"}
            grab = _active(context)  # as G moves the selection, wherever the mouse is
        if grab is None:
            why = (
                "There is no active bone. Click a bone first"
                if self.use_active
                else "No bone is under the mouse. Move the mouse over a bone, or select one"
            )
            self.report({"WARNING"}, translated(why, "reports"))
            return {"CANCELLED"}
        self.selected, self._stuck = True, ""  # why the bone can only be turned
        try:
            try:
                self._sessions = list(self._begin(context, grab))
            except Stuck as stuck:
                self._stuck = str(stuck)
                self._sessions = list(self._begin(context, grab, turning=True))
        except CoreError as error:
            self.report({"ERROR"}, translated(str(error), "reports"))
            return {"CANCELLED"}
        self._button = event.type if event.value == "CLICK_DRAG" else None
        self._grab = grab
        held = event.value == "CLICK_DRAG" and event.ctrl  # not a key of the shortcut
        self._pointer = self._point(context, view, mouse, snap=held)
        self._pointer.turning = bool(self._stuck)
        self._told = self._sessions[0], ""  # why a target of which session is missed, once the body is at rest
        self._trail: list[Any] = []
        self._marks = Marks()
        marks = self._marks
        self._drawing: Drawing | None = Drawing(lambda _: marks, bridge.read_view)
        self._timer: Any = None
        self._moved = perf_counter()
        self._recording = None
        if context.screen.is_animation_playing and context.scene.tool_settings.use_keyframe_insert_auto:
            self._recording = Recording(context.scene, self._sessions)
        context.workspace.status_text_set(_hints(self._sessions, turns=not self._stuck))
        done = self._guarded(context, lambda: self._follow(context, (event.mouse_region_x, event.mouse_region_y)))
        if done == {"RUNNING_MODAL"}:  # Blender crashes in a handler whose operator has ended before
            context.window_manager.modal_handler_add(self)
        return done

    def modal(self, context: Any, event: Any) -> set[str]:
        return self._guarded(context, lambda: self._handle(context, event))

    def cancel(self, context: Any) -> None:
        """Restore the pose; Blender calls this when it opens another file or quits."""
        try:
            self._give_back()
        except CoreError:
            pass
        finally:
            self._close(context)

    def _begin(self, context: Any, grab: Grab, **how: bool) -> Iterator[DragSession]:
        """Yield a session for each armature: of all selected bones, if the grabbed bone is selected.

        After an import all bones are, which selects nothing.
        """
        grabs = {grab.object_name: [grab]}
        bones = {(bone.id_data.name, bone.name) for bone in context.selected_pose_bones or () if self.selected}
        if (grab.object_name, grab.bone) in bones and len(bones) < len(context.visible_pose_bones):
            for object_name, bone in sorted(bones - {(grab.object_name, grab.bone)}):
                grabs.setdefault(object_name, []).append(Grab(object_name, bone, (0.0, 0.0, 0.0)))
        for object_name, some in grabs.items():
            armature = bpy.data.objects[object_name]
            try:
                autokey.check(context, armature)
                yield begin_drag(context, armature, some, **how, live=True)
            except CoreError as error:
                if object_name == grab.object_name:
                    raise
                self.report({"WARNING"}, translated(str(error), "reports"))  # only the grabbed bone can refuse the drag

    def _point(self, context: Any, view: bridge.View, mouse: tuple[float, float], snap: bool) -> Pointer:
        session = self._sessions[0]
        effector = session.effectors[0]
        places = np.stack([effector.place, session.body.heads[effector.bone]])
        world, _ = bridge.armature_to_world(session.body.world, places)
        _, frame = bridge.armature_to_world(session.body.world, None, effector.turn)
        assert world is not None
        assert frame is not None
        overlay = context.space_data.overlay
        grid = overlay.grid_scale / max(overlay.grid_subdivisions, 1)
        return Pointer(view, world[0], world[1], frame, np.array(mouse, float), grid, snap=snap)

    def _guarded(self, context: Any, act: Any) -> set[str]:
        """Act; clean up after any exception."""
        try:
            if self._recording is not None:
                self._recording.check()
            return act()
        except Lost as lost:
            self.report({"WARNING"}, translated(str(lost), "reports"))
            self._each(lambda session: session.abandon())  # half a drag has no undo step
            self._close(context)
            return {"CANCELLED"}
        except CoreError as error:
            self.report({"ERROR"}, translated(str(error), "reports"))
            self.cancel(context)
            return {"CANCELLED"}
        except BaseException:
            self.cancel(context)
            raise

    def _handle(self, context: Any, event: Any) -> set[str]:
        pointer, mouse = self._pointer, (event.mouse_region_x, event.mouse_region_y)
        if event.type == "MOUSEMOVE":
            return self._follow(context, mouse)
        if event.type == "TIMER":
            return self._idle(context)
        if event.type in {"LEFT_SHIFT", "RIGHT_SHIFT"}:
            pointer.precise = event.value == "PRESS"
            return {"RUNNING_MODAL"}
        if event.type in {"LEFT_CTRL", "RIGHT_CTRL"}:
            pointer.snap = event.value == "PRESS"
            return self._follow(context, mouse)
        released = event.value == "RELEASE" and event.type == self._button
        clicked = event.value == "PRESS" and event.type == "LEFTMOUSE" and self._button is None
        if released or clicked or event.type == "WINDOW_DEACTIVATE" or (
            event.value == "PRESS" and event.type in _CONFIRM
        ):  # fmt: skip
            return self._finish(context)
        if event.value != "PRESS":
            return {"RUNNING_MODAL"}
        if event.type in _CANCEL:
            self._give_back()
            self._close(context)
            return {"CANCELLED"}
        if event.type in _NAVIGATE:
            return {"PASS_THROUGH"}
        if event.type in _AXES:
            pointer.constrain(_AXES[event.type], plane=event.shift)
        elif event.type in _WHEEL:
            pointer.deeper(_WHEEL[event.type])
        elif event.type == "R" and not self._stuck and all(session.problem.can_turn for session in self._sessions):
            pointer.switch(not pointer.turning)
            if pointer.turning:
                self._each(lambda session: session.switch(turning=True))
        elif event.type == "P":
            self._each(self._cycle_pin)
        elif event.type in _WINS:
            self.wins = _WINS[event.type]
            self._each(lambda session: session.switch(wins=self.wins))
        return self._follow(context, mouse)

    def _each(self, act: Any) -> None:
        for session in self._sessions:
            act(session)

    def _cycle_pin(self, session: DragSession) -> None:
        first = self._sessions[0].pins.kinds[self._sessions[0].effectors[0].bone]
        self.pin = next_kind(first) if session is self._sessions[0] else first
        session.switch(kind=self.pin)

    def _follow(self, context: Any, mouse: tuple[float, float]) -> set[str]:
        """Drag the body to the mouse."""
        self._pointer.view = bridge.read_view(context.region, context.region_data)  # the user may have orbited
        self._pointer.move(mouse)
        self._told = self._sessions[0], ""
        since, self._moved = self._moved, perf_counter()
        shift, turn = self._pointer.shift(), self._pointer.turn()
        self._drag(shift, turn)
        self._show(context)
        # a mouse that goes on is heard again after about as long as last time: no tick comes between
        self._wait(context, max(_TICK, min(2.0 * (self._moved - since), _PAUSE)))
        return {"RUNNING_MODAL"}

    def _drag(self, shift: Array, turn: Array) -> None:
        """Drag the body, from the first real movement on: nothing goes to far pins before that."""
        begun = any(session.solution is not None for session in self._sessions)
        if begun or shift.any() or not np.array_equal(turn, rotation.IDENTITY):
            for one in self._sessions if self._recording is None else [self._recording]:
                one.drag(shift, turn)

    def _idle(self, context: Any) -> set[str]:
        """Let the body come to rest under a still mouse, then explain a miss."""
        if self._timer is None:  # it is at rest; the timer is of another add-on
            return {"RUNNING_MODAL"}
        restless = [session for session in self._sessions if session.restless]
        for session in restless:
            session.rest()
        if not restless:
            missed = (one for one in self._sessions if one.solution is not None and not one.solution.converged)
            self._told = next(((one, why) for one in missed for why in explain(one)), (self._sessions[0], ""))
            self._wait(context, None if self._recording is None else _TICK)
        else:
            self._wait(context, _TICK if any(session.restless for session in restless) else _QUIET)
        self._show(context)
        return {"RUNNING_MODAL"}

    def _wait(self, context: Any, seconds: float | None) -> None:
        """Have a timer every `seconds` from now on, or none: while nothing moves Blender is left alone."""
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
        self._timer = context.window_manager.event_timer_add(seconds, window=context.window) if seconds else None

    def _show(self, context: Any) -> None:
        """Update the overlay and its text."""
        pointer, marks, first = self._pointer, self._marks, self._sessions[0]
        marks.targets, marks.bones = [], []
        for session in self._sessions:
            marks.targets += shown.targets(session)
            marks.bones += [BoneMark(ends, "stretched") for ends in shown.stretched_bones(session)]
        marks.bones += [BoneMark(ends, "limit") for ends in shown.limited_bones(*self._told)]
        place = marks.targets[0][1]
        if not self._trail or rotation.lengths(place - self._trail[-1]) > pointer.view.pixel(place):
            self._trail = [*self._trail[-_TRAIL:], place]  # a still mouse adds nothing
        marks.paths = [np.array(self._trail)]
        axes = [] if pointer.axis is None else [pointer.axis]
        if pointer.plane:
            axes = [axis for axis in range(3) if axis != pointer.axis]
        frame = pointer.frame if pointer.local else rotation.IDENTITY
        marks.guides = [(place, rotation.rotate(frame, np.eye(3)[axis]), axis) for axis in axes]
        # what holds the body is said at once, all else once it is at rest
        why = self._told[1] or self._stuck or next(iter(explain_held(first)), "")
        marks.text = [line for line in (self._sentence(context, first), translated(why)) if line]
        _redraw(context)

    def _sentence(self, context: Any, session: DragSession) -> str:
        pointer, count = self._pointer, sum(len(session.effectors) for session in self._sessions)
        name = self._grab.bone
        if count > 1:
            name = translated(f"{name} and {counted(count - 1, 'more bone')}")
        parts = [f"{'Rotating' if pointer.turning else 'Dragging'} {name}"]
        if pointer.direction is not None:
            letter = "XYZ"[pointer.axis or 0]
            parts.append(f"{'across' if pointer.plane else 'along'} {'its own' if pointer.local else 'the'} {letter}")
        parts += [session.manner] if session.manner else []
        if self._recording is not None:
            parts.append("recorded at each frame")
        kind = session.pins.kinds[session.effectors[0].bone]
        if kind != "NONE":
            parts.append(_PINNED[kind])
        if context.preferences.view.show_developer_ui:
            parts.append(f"{1e3 * sum(session.seconds for session in self._sessions):.1f} ms")
        return ", ".join(translated(part) for part in parts)

    # -- the end ----------------------------------------------------------------------------------------------------

    def _finish(self, context: Any) -> set[str]:
        session, pointer = self._sessions[0], self._pointer
        self.object, self.bone, self.point = session.body.find().name, self._grab.bone, self._grab.point
        self.shift, self.turn = pointer.shift(), rotation.to_euler(pointer.turn())
        self.recorded = self._recording is not None and self._recording.finish()
        self._close(context)
        self._keep(context, self._recording if self.recorded else None)
        self._select(context)
        return {"FINISHED"}

    def _select(self, context: Any) -> None:
        """Make the dragged armature active: the panels are then its own. Select the bone: the timeline shows its keys.

        A bone that is hidden or selected is left as it is.
        """
        armature: Any = bpy.data.objects[self.object]
        bone = armature.pose.bones[self.bone]
        context.view_layer.objects.active = armature
        if bone in {*context.visible_pose_bones} - {*context.selected_pose_bones}:
            select_only(context, armature, bone)

    def _keep(self, context: Any, recording: Recording | None = None) -> None:
        """Keep the pose, or those that were recorded, key them, pin what was dragged, and report."""
        changed = keyed = 0
        reasons = list[str]()
        for session in self._sessions:
            armature, before = session.body.find(), session.body.channels
            if recording is None:
                changes, frames = session.finish(), None
            else:
                changes, frames = recording.changes(session), recording.frames(session)
            changed += len({bone for bones in changes for bone in bones})
            keys = autokey.key(context, armature, *changes, before=before, frames=frames)
            keyed += len(keys or ())
            session.fk.key(context, armature)
            reasons += autokey.explain_lost(context, armature, *changes)
            if recording is not None and armature.poise_use_reduce:
                reasons.append(reduce_recorded(context, armature, recording.span, changes))
            armature.poise_wins = session.wins
            for effector in session.effectors:
                kind = session.pins.kinds[effector.bone]
                for name in session.pins.names[effector.bone]:
                    point = effector.grabbed if name == effector.name else None
                    keep_pin(context, armature, name, kind, session.turning, point)
            reasons += explain(session)
        first, last = (0, 0) if recording is None else recording.span
        sentence = (
            f"{counted(changed, 'bone')} changed"
            + (f", {keyed} keyed" if keyed else "")
            + (f" in frames {first} to {last}" if recording is not None else "")
        )
        self.report({"INFO"}, translated(headline(self, "INFO", sentence, reasons), "reports"))

    def _give_back(self) -> None:
        for session in self._sessions:
            session.restore()

    def _close(self, context: Any) -> None:
        """Remove what a drag shows; a second call does nothing."""
        if self._recording is not None:
            self._recording.close()
        if self._drawing is not None:
            self._drawing.close()
            self._drawing = None
        self._wait(context, None)
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        _redraw(context)


def _redraw(context: Any) -> None:
    """Redraw all viewports: Blender itself redraws only the one with the mouse."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _active(context: Any) -> Grab | None:
    """Return a grab of the head of the active bone, if it is visible."""
    bone = context.active_pose_bone
    if bone is None or bone not in (context.visible_pose_bones or ()):
        return None
    return Grab(bone.id_data.name, bone.name, (0.0, 0.0, 0.0))


def _hints(sessions: Sequence[DragSession], turns: bool) -> Any:
    """Return what draws the keys that do something in these drags, in the status bar."""
    turns = turns and all(session.problem.can_turn for session in sessions)
    ranked = any(session.problem.ranked for session in sessions)
    works = {"EVENT_R": turns, "EVENT_ONEKEY": ranked, "EVENT_TWOKEY": ranked}

    def draw(header: Any, context: Any) -> None:
        row = header.layout.row(align=True)
        for text, icon in _HINTS:
            if works.get(icon, True):
                beside = "   " if icon == "EVENT_CTRL" else ""  # the icon of this key is wider than the others
                row.label(text=beside + translated(text), icon=icon, translate=False)

    return draw
