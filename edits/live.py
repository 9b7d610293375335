"""Live keypoints: listen, pose the armature by the newest packet, record.

A thread receives packets; a timer of Blender's reads them and poses the armature. Both end when the user stops them,
when another file is opened, when the armature is gone or must not be posed any more, and when Poise is switched off.
One sender at a time holds the rig, until no packet of it could be read for a second; those of others are skipped.
The recording is then filtered in another thread and keyed.
"""

from collections import deque
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..bridge.armature import PoseWriter
from ..core import CoreError, Motion, Pose, keypoints
from ..core.editing.foot_lock import stand_on_ground
from ..core.pose import stack
from ..core.rotation import Array
from ..properties.keypoints import VMC
from .controls import ControlRecorder, write_controls
from .keypoint_target import KeypointTarget, find_target
from .keypoints import resample
from .pins import held_goals
from .receiver import EVERYWHERE, LOCAL, Arrived, Receiver
from .words import counted
from .work import Work

_PAUSE: Final = 0.004  # seconds between two calls of the timer
_AT_ONCE: Final = 128  # packets that may wait to be read; older ones are skipped
_LOOK: Final = 0.05  # seconds of reading in one call: a fast sender must not block Blender
_FEW: Final = 4  # packets between two poses up to which the feet can be tracked
_SHOWN: Final = 0.25  # seconds between two updates of the panel
_QUIET: Final = 1.0  # seconds without a packet after which there is no rate, and another sender may begin
_WINDOW: Final = 120  # packets over which rate and latency are measured
_LARGEST: Final = 2**31 - 1  # of Blender's integer properties; senders may exceed it


class LiveKeypoints:
    """One armature that listens, known by its name: Blender's objects are not kept.

    Raises CoreError where the armature has no body that can be turned, or the port is taken.
    """

    def __init__(self, context: Any, armature: Any) -> None:
        self.name, self.uid = armature.name, armature.session_uid
        self.travel: str = armature.poise_live_travel
        self._take(armature, find_target(armature, armature.poise_live_limits))
        self._layout: str = armature.poise_live_layout
        self.stream, self.tracker = keypoints.Stream(_decoder(self._layout)), _tracker_of(armature)
        self._waiting: deque[Arrived] = deque(maxlen=_AT_ONCE)
        self._sender, self._held = "", -np.inf  # whose packets are read, and when the last one came that could be
        self._start = context.scene.frame_current  # of a recording
        self.applied = self.used = 0
        self._latencies, self._waits, self._arrivals = (deque[float](maxlen=_WINDOW) for _ in range(3))
        self._shown = 0.0
        self._numbers: dict[str, Any] = {}
        self.status = " ".join(["Waiting for packets.", *self.target.notes])
        self._work: Work | None = None  # filters the recording
        self._why = ""
        self._recorder: ControlRecorder | None = None  # transfers the recording to the controls
        self._posed: list[Pose] = []  # of the rig, by its controls
        host = EVERYWHERE if armature.poise_live_remote else LOCAL
        self.receiver = Receiver(armature.poise_live_port, host)

    def _take(self, armature: Any, target: KeypointTarget) -> None:
        self.target, self.character, self.present = target, target.character, target.present
        self._pins = held_goals(armature, target.rig, target.controlled)
        self._take_fingers(None)
        self.walk, self.hips = keypoints.RootFromFeet(target.character), keypoints.RootFromHips(target.character)

    def _take_fingers(self, fingers: Array | None) -> None:
        """Write from now on the fingers, too, that rotations (1, 2, 15, 4) tell of."""
        character = self.character
        self._told = len(character.fingers.told(fingers))
        bones, moved = character.posed_bones(fingers)
        moved = moved if self.travel != "NONE" else moved[:0]
        held = {above for goal in self._pins for above in character.skeleton.ancestors(int(goal.bone))}
        written = () if self.target.controlled else {*bones.tolist(), *moved.tolist(), *held}
        self._writer = PoseWriter(self.target.rig, written)

    # -- posing -----------------------------------------------------------------------------------------------------

    def tick(self) -> float | None:
        """Read, pose, or finish; return the seconds until the next call, or None to end the timer."""
        context: Any = bpy.context
        live = getattr(context.window_manager, "poise_live", None)
        if live is None or live.owner != self.uid:  # Poise is off
            self.receiver.close()
            return None
        try:
            armature: Any = bridge.find_again(self.name, self.uid, self.target.rig.skeleton.names)
            self.name = armature.name
            if self._work is not None:
                return self._finish(context, armature, live, self._work)
            bridge.check(armature)
            if live.stop:
                self.receiver.close()  # packets that came before are still read
            self.look(context, armature)
            if live.stop and not self._waiting:
                raise CoreError("Stopped.")
        except CoreError as reason:
            return self.end(context, live, str(reason))
        except Exception:
            self.end(context, live, "Stopped by a bug in Poise. Please report it with the text of the system console.")
            raise
        if perf_counter() - self._shown > _SHOWN:
            self._shown = perf_counter()
            self.show(context, live)
        return _PAUSE

    def look(self, context: Any, armature: Any) -> None:
        """Read the packets that came, up to a limit of time, and pose once by the newest."""
        packets, gone = self.receiver.take()
        self.stream.skip(gone + max(len(self._waiting) + len(packets) - _AT_ONCE, 0))
        self._waiting.extend(packets)
        begin, looked = perf_counter(), 0
        newest: float | None = None
        while self._waiting and perf_counter() - begin < _LOOK:
            arrival, data, sender = self._waiting.popleft()
            looked += 1
            if sender != self._sender:
                if arrival - self._held < _QUIET:
                    self.stream.skip(1)
                    continue
                self._sender = sender
                self.stream.restart(_decoder(self._layout))
            frame = self.stream.take(data, arrival)
            if frame is None:
                continue
            self._held = arrival
            self._arrivals.append(arrival)
            self.used += 1
            if self.tracker.add(frame):
                newest = arrival
                if self.tracker.recorded == 1:
                    self._start = context.scene.frame_current
        if self.tracker.trouble:
            self.status = self.tracker.trouble
        if newest is None:
            return
        if looked > _FEW:
            self.walk.reset()
        captured = self.tracker.estimate()
        if self.target.controlled is not None and not self._drive(armature, self.target.controlled, captured):
            self._take(armature, find_target(armature, armature.poise_live_limits, controls=False))
        if self.target.controlled is None:
            if len(self.character.fingers.told(captured.fingers)) > self._told:
                self._take_fingers(captured.fingers)
            self._writer.write(armature, self._pose_of(captured))
        context.view_layer.update()
        _redraw(context, "WINDOW")
        self.used -= 1
        self.applied += 1
        now = perf_counter()
        self._waits.append(begin - newest)
        self._latencies.append(now - begin)
        self.status = " ".join(["Listening.", *self.target.notes, *self.tracker.notes, f"From {self._sender}."])

    def _drive(self, armature: Any, controlled: bridge.ControlledBody, captured: keypoints.CapturedMotion) -> bool:
        """Pose the controls; return False if the first pose shows that they cannot drive the body."""
        try:
            bridge.pose_controls(armature, self.target.rig, controlled, self._pose_of(captured), passing=True)
        except CoreError:
            return self.applied > 0
        return True

    def _pose_of(self, captured: keypoints.CapturedMotion) -> Pose:
        """Return the pose for one captured frame, with the pins held."""
        pose = self.character.rotate(captured.rotations[0], self.present, _first(captured.fingers))
        if self.travel == "FEET":
            pose = self.character.place_by_feet(pose, self.walk)
        elif self.travel == "HIPS":
            pose = self.hips(pose, captured)
        return self._hold(pose)

    def _hold(self, pose: Pose) -> Pose:
        """Return the pose, or those of a clip, with the pins held."""
        return self.character.solve_goals(self._pins, pose) if self._pins else pose

    # -- statistics and end -----------------------------------------------------------------------------------------

    def show(self, context: Any, live: Any) -> None:
        """Update the numbers of the panel, and redraw it if they changed."""
        counts = self.stream.counts
        span = self._arrivals[-1] - self._arrivals[0] if len(self._arrivals) > 1 else 0.0
        quiet = not self._arrivals or perf_counter() - self._arrivals[-1] > _QUIET
        rate = 0.0 if quiet or span <= 0.0 else (len(self._arrivals) - 1) / span
        latency, wait = (1000.0 * float(np.median(t)) if t else 0.0 for t in (self._latencies, self._waits))
        numbers = {
            "status": self.status if not counts.refused or self.applied else f"Refused: {counts.why}",
            "rate": rate,
            "held": 1000.0 * self.tracker.delay / rate if rate else 0.0,
            "latency": latency,
            "wait": wait,
            "applied": self.applied,
            "used": self.used,
            "recorded": self.tracker.recorded,
            **{name: getattr(counts, name) for name in ("received", "parts", "refused", "late", "skipped", "lost")},
        }
        if numbers != self._numbers:
            self._numbers = numbers
            for name, number in numbers.items():
                setattr(live, name, min(number, _LARGEST) if isinstance(number, int) else number)
            _redraw(context, "UI")

    def end(self, context: Any, live: Any, why: str) -> float | None:
        """Close the port and filter the recording; return the seconds until the next call, or None without one."""
        self.receiver.close()
        if self._work is not None:
            return self._close(context, live, f"Nothing was recorded: {why}")
        if not self.tracker.recorded:
            return self._close(context, live, why)
        self.status = f"Filtering {counted(self.tracker.recorded, 'pose')}"
        render = context.scene.render
        fps = render.fps / render.fps_base
        self._work = Work(lambda _: self._clip(fps))
        self._why, live.stop = why, False
        self.show(context, live)
        return _SHOWN

    def _clip(self, fps: float) -> Motion:
        """Return the recording, resampled at whole frames by the times of its packets."""
        captured, frames = resample(*self.tracker.clip(), fps, self._start)
        self._keyed: list[int] = self.character.posed_bones(captured.fingers)[0].tolist()
        if self.travel == "NONE":
            pose = self.character.rotate(captured.rotations, self.present, captured.fingers)
        else:
            pose = self.character.motion(captured, self.present, self.travel == "HIPS")
        motion, surface = Motion(pose, frames, fps), self.target.surface
        if surface is not None and self.travel != "NONE" and self.character.points:
            character = self.character
            motion = stand_on_ground(character.skeleton, motion, character.roles, character.up, surface)
        return replace(motion, pose=self._hold(motion.pose))

    def _finish(self, context: Any, armature: Any, live: Any, work: Work) -> float | None:
        """Key the recording once it is filtered and the armature can be keyed; a second stop discards it."""
        if not work.over:
            return _SHOWN
        if work.error is not None:
            raise work.error
        try:
            bridge.check(armature)
        except CoreError as reason:
            if live.stop:
                raise
            self.status = f"Waiting to write the recording: {reason}"
            self.show(context, live)
            return _SHOWN
        motion: Motion = work.result
        if self.target.controlled is None:
            keyed = bridge.write_motion(armature, self.target.rig, motion, self._keyed)
        else:  # one frame per call: Blender stays responsive
            self._recorder = self._recorder or ControlRecorder(armature, self.target.rig)
            done = len(self._posed)
            if done < len(motion):
                posed = self._recorder.add(armature, self.target.controlled, motion.pose[done])
                self._posed.append(posed.pose)
                self.status = f"Keying the controls: {done + 1} of {counted(len(motion), 'frame')}"
                self.show(context, live)
                return _PAUSE
            control = self._recorder.result(Motion(stack(self._posed), motion.frames, motion.fps))
            keyed = write_controls(armature, self.target.rig, control, None)
        live.action = keyed.name
        return self._close(context, live, f'{self._why} Recorded "{keyed.name}".')

    def _close(self, context: Any, live: Any, status: str) -> None:
        live.owner, live.stop = 0, False
        self.status = status
        self.show(context, live)
        live.status = status
        if self.applied and bpy.data.objects.get(self.name) is not None:  # the file is still open
            bpy.ops.ed.undo_push(message="Live Keypoints")


def _first(fingers: Array | None) -> Array | None:
    return None if fingers is None else fingers[0]


def start(context: Any, armature: Any) -> int:
    """Let an armature listen; return the port. Raises what `LiveKeypoints` does."""
    session = LiveKeypoints(context, armature)
    live = context.window_manager.poise_live
    live.owner, live.stop, live.action = armature.session_uid, False, ""
    session.show(context, live)
    bpy.app.timers.register(session.tick, persistent=True)  # it notices that another file was opened
    return session.receiver.port


def _decoder(layout: str) -> Any:
    """Return the reader of one sender's packets."""
    return keypoints.BonePackets() if layout == VMC[0] else keypoints.PointPackets(keypoints.find_layout(layout))


def _tracker_of(armature: Any) -> keypoints.Tracker:
    """Return the tracker of frames for the armature's settings."""
    layout, record = armature.poise_live_layout, armature.poise_live_record
    if layout == VMC[0]:
        return keypoints.BoneTracker(record)
    return keypoints.PointTracker(
        keypoints.find_layout(layout),
        armature.poise_live_unit,
        armature.poise_live_up,
        True if armature.poise_live_exchange else None,
        armature.poise_live_delay,
        record,
    )


def _redraw(context: Any, kind: str) -> None:
    """Redraw one kind of region of all 3D viewports: Blender does not redraw them for changes of a timer."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions if area.type == "VIEW_3D" else ():
                if region.type == kind:
                    region.tag_redraw()
