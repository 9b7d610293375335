"""Live keypoints: listen, pose the armature by the newest packet, record; stop.

A thread receives; a timer of Blender's reads, poses and counts. Both end when they are told to stop, when another file
is opened, when the armature is gone or no longer to be posed, and when Poise is switched off.
"""

from collections import deque
from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..bridge.armature import PoseWriter, Rig
from ..commands.keypoints import at_frames, puppet_of
from ..core import CoreError, Motion, Pose
from ..core.keypoints import (
    LiveReader,
    Marks,
    Puppet,
    Reading,
    Taking,
    Walk,
    bones_of,
    find_taking,
    layout_named,
    read_clip,
)
from ..core.keypoints.stream import Frame, Stream
from .receiver import EVERYWHERE, LOCAL, Receiver
from .tool import Tool, counted

_PAUSE: Final = 0.004  # seconds between two looks at what came
_AT_ONCE: Final = 64  # packets looked at in one go; older ones are skipped, so that nobody can keep Blender busy
_FEW: Final = 4  # packets between two poses of which the feet still tell where the body went
_TRIAL: Final = 5  # frames that unit and axes are told from
_SHOWN: Final = 0.25  # seconds between two updates of the panel
_QUIET: Final = 1.0  # seconds without a packet after which there is no rate
_WINDOW: Final = 120  # packets that rate and latency are of
_LONGEST: Final = 60 * 60 * 60  # poses that are recorded: an hour at 60 a second


class Live:
    """One armature that listens, by its name; no Blender object is kept."""

    def __init__(self, context: Any, object: Any) -> None:
        self.name, self.uid = object.name, object.session_uid
        self.rig: Rig = bridge.read_rig(object)
        self.puppet: Puppet = puppet_of(object, self.rig, object.poise_live_limits)
        self.present: Pose = bridge.read_pose(object, self.rig)
        bones, moved = bones_of(self.puppet)
        self.travel: str = object.poise_live_travel
        self._moved = moved if self.travel != "NONE" else moved[:0]
        self._writer = PoseWriter(self.rig, {*bones.tolist(), *self._moved.tolist()})
        self._bones = bones
        self.layout = layout_named(object.poise_live_layout)
        self._unit, self._up, self._exchange = object.poise_live_unit, object.poise_live_up, object.poise_live_exchange
        self.stream = Stream(self.layout)
        self.reader = LiveReader(delay=object.poise_live_delay)
        self.walk = Walk(self.puppet)
        self.taking: Taking | None = None
        self._trial: list[Frame] = []
        self._scale: float | None = None
        self.applied = self.used = 0
        self._latencies: deque[float] = deque(maxlen=_WINDOW)
        self._waits: deque[float] = deque(maxlen=_WINDOW)
        self._arrivals: deque[float] = deque(maxlen=_WINDOW)
        self._shown = 0.0
        self._numbers: dict[str, Any] = {}
        self.status = "Waiting for packets"
        self.recording: list[tuple[float, Marks]] | None = [] if object.poise_live_record else None
        host = EVERYWHERE if object.poise_live_remote else LOCAL
        self.receiver = Receiver(object.poise_live_port, host)

    # -- a look at what came ----------------------------------------------------------------------------------------

    def tick(self) -> float | None:
        """What the timer calls; None ends it."""
        context: Any = bpy.context
        live = getattr(context.window_manager, "poise_live", None)
        object = self._object()
        if live is None or live.owner != self.uid or object is None:  # Poise is off, another file is open
            self.receiver.close()
            return None
        try:
            bridge.check(object)
            if live.stop:
                raise CoreError("Stopped.")
            self.look(context, object)
        except CoreError as reason:
            self.end(context, object, live, str(reason))
            return None
        except Exception:
            self.end(context, object, live, "Stopped by a fault of Poise.")
            raise
        if perf_counter() - self._shown > _SHOWN:
            self._shown = perf_counter()
            self.show(context, live)
        return _PAUSE

    def look(self, context: Any, object: Any) -> None:
        """Follow all packets that came, and pose once."""
        packets, gone = self.receiver.take()
        self.stream.skip(gone + max(len(packets) - _AT_ONCE, 0))
        begin = perf_counter()
        newest: float | None = None
        for arrival, data in packets[-_AT_ONCE:]:
            frame = self.stream.take(data, arrival)
            if frame is None:
                continue
            self._arrivals.append(arrival)
            self.used += 1
            if self._follow(frame):
                newest = arrival
        if newest is None:
            return
        if len(packets) > _FEW:
            self.walk.lose()
        self._writer.write(object, self._pose_of(self.reader.read()))
        context.view_layer.update()
        redraw(context, "WINDOW")
        self.used -= 1
        self.applied += 1
        now = perf_counter()
        self._waits.append(begin - newest)
        self._latencies.append(now - begin)
        self.status = "Listening"

    def _follow(self, frame: Frame) -> bool:
        """Have the filter take a frame; False while unit and axes are being told."""
        taking = self.taking or self._try(frame)
        if taking is None:
            return False
        marks = taking(frame.points[None], frame.confidence[None])
        self.reader.follow(marks.places[0], marks.weights[0], frame.time)
        if self.recording is not None and len(self.recording) < _LONGEST:
            self.recording.append((frame.time, marks))
        return True

    def _pose_of(self, reading: Reading) -> Pose:
        """The pose of a reading of one frame."""
        pose = self.puppet.turn(reading.rotations, self.present)[0]
        if self.travel == "FEET":
            return self.puppet.walked(pose, self.walk)
        if self.travel == "HIPS":
            self._scale = self._scale or self.puppet.scale_of(reading)
            return self.puppet.place(pose, reading.hips[0], self._scale)
        return pose

    def _try(self, frame: Frame) -> Taking | None:
        """How the points are to be taken, once there are enough to tell."""
        self._trial.append(frame)
        if len(self._trial) < _TRIAL:
            return None
        points, confidence = (np.stack([getattr(f, name) for f in self._trial]) for name in ("points", "confidence"))
        self._trial.clear()
        try:
            self.taking, _ = find_taking(
                self.layout, points, confidence, self._unit, self._up, True if self._exchange else None
            )
        except CoreError as error:
            self.status = str(error)
        return self.taking

    # -- how it goes, and how it ends -------------------------------------------------------------------------------

    def show(self, context: Any, live: Any) -> None:
        """Numbers for the panel, which is drawn again if they are others."""
        counts = self.stream.counts
        span = self._arrivals[-1] - self._arrivals[0] if len(self._arrivals) > 1 else 0.0
        quiet = not self._arrivals or perf_counter() - self._arrivals[-1] > _QUIET
        latency, wait = (1000.0 * float(np.median(t)) if t else 0.0 for t in (self._latencies, self._waits))
        numbers = {
            "status": self.status if not counts.refused or self.applied else f"Refused: {counts.why}",
            "rate": 0.0 if quiet or span <= 0.0 else (len(self._arrivals) - 1) / span,
            "latency": latency,
            "wait": wait,
            "applied": self.applied,
            "used": self.used,
            "recorded": 0 if self.recording is None else len(self.recording),
            **{name: getattr(counts, name) for name in ("received", "refused", "late", "skipped", "lost")},
        }
        if numbers != self._numbers:
            self._numbers = numbers
            for name, number in numbers.items():
                setattr(live, name, number)
            redraw(context, "UI")

    def end(self, context: Any, object: Any, live: Any, why: str) -> None:
        """Let go of the port, key what was recorded, and say how it went."""
        self.receiver.close()
        live.owner, live.stop = 0, False
        self.status = why
        if self.recording:
            try:
                live.action = self.write(context, object)
                self.status = f'{why} Recorded "{live.action}".'
            except CoreError as error:
                self.status = f"Nothing is recorded: {error}"
        self.show(context, live)
        live.status = self.status
        bpy.ops.ed.undo_push(message="Live Keypoints")

    def write(self, context: Any, object: Any) -> str:
        """Key the recording at whole frames, by the times of its packets; returns the action's name."""
        assert self.recording is not None
        render = context.scene.render
        fps = render.fps / render.fps_base
        times = np.array([time for time, _ in self.recording])
        places, weights = (np.concatenate([getattr(m, n) for _, m in self.recording]) for n in ("places", "weights"))
        marks = Marks(places, weights)
        reading, frames = at_frames(read_clip(marks, times), times, fps, context.scene.frame_current)
        if self.travel == "NONE":
            pose = self.puppet.turn(reading.rotations, self.present)
        else:
            pose = self.puppet.motion(reading, self.present, self.travel == "HIPS")
        motion = Motion(pose, frames, fps)
        return bridge.write_keys(object, self.rig, motion, self._bones.tolist(), self._moved.tolist()).name

    def _object(self) -> Any:
        object = bpy.data.objects.get(self.name)
        if object is not None and object.session_uid == self.uid:
            return object
        found = next((other for other in bpy.data.objects if other.session_uid == self.uid), None)
        self.name = found.name if found is not None else self.name
        return found


def redraw(context: Any, kind: str) -> None:
    """Have regions of the 3D viewports drawn again: Blender does not do it by itself for what a timer changes."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions if area.type == "VIEW_3D" else ():
                if region.type == kind:
                    region.tag_redraw()


class POISE_OT_listen(Tool, bpy.types.Operator):
    """Pose the armature by the keypoints that a tracker sends, live"""

    bl_idname = "poise.listen"
    bl_label = "Listen"
    bl_options = {"REGISTER"}

    @classmethod
    def need(cls, context: Any, object: Any) -> None:
        if context.window_manager.poise_live.owner:
            raise CoreError("An armature listens already; stop it first.")
        if object.poise_live_remote and not bpy.app.online_access:
            raise CoreError("Listening to other machines needs Allow Online Access in the preferences.")

    def act(self, context: Any, object: Any) -> tuple[str, str]:
        context.view_layer.update()
        session = Live(context, object)
        live = context.window_manager.poise_live
        live.owner, live.stop, live.action = object.session_uid, False, ""
        session.show(context, live)
        bpy.app.timers.register(session.tick)
        where = "all machines" if object.poise_live_remote else "this machine"
        return "INFO", f"Listening to {where} on port {session.receiver.port}"


class POISE_OT_stop_listening(bpy.types.Operator):
    """End the live keypoints, and key what was recorded"""

    bl_idname = "poise.stop_listening"
    bl_label = "Stop"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not context.window_manager.poise_live.owner:
            operator: Any = cls
            operator.poll_message_set("No armature listens")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        live = context.window_manager.poise_live
        live.stop = True  # the timer ends, with what it has to do
        operator: Any = self
        operator.report({"INFO"}, f"Posed by {counted(live.applied, 'packet')}")
        return {"FINISHED"}


CLASSES = (POISE_OT_listen, POISE_OT_stop_listening)
