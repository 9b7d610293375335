"""A live sender for the tests of keypoints, and a body with a motion for those of timed pins and generated motions."""

import json
import socket
import time
from pathlib import Path
from typing import Any, ClassVar

import bpy
import numpy as np

import bridge
import standalone
from tests.blender.rigs import context, make_armature, select, turn, world
from tests.paths import DATA

RIG = DATA / "rigs" / "named_mixamo_cm.blend"
EXAMPLES = standalone.ROOT / "docs" / "examples"
WALK = EXAMPLES / "walk_keypoints.jsonl"
TOLD = 4  # packets that unit and axes are told from, and no pose


def heads_over(rig: Any, first: int, last: int, step: int = 1) -> np.ndarray:
    """Heads (F, J, 3) of the bones in the world, as Blender evaluates them in some frames."""
    found: list[list[Any]] = []
    for frame in range(first, last + 1, step):
        context.scene.frame_set(frame)
        found.append([rig.matrix_world @ bone.head for bone in rig.pose.bones])
    return np.array(found)


class Listening:
    """The armature, its timer called by hand, and a port to send to."""

    ticks: ClassVar[list[Any]] = []  # that were registered

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.begin()

    @property
    def live(self) -> Any:
        """Looked up each time: a file that is opened takes the old one away."""
        return bpy.context.window_manager.poise_live

    def begin(self) -> None:
        """Listen, with what the settings are now."""
        assert bpy.ops.poise.listen() == {"FINISHED"}
        self.tick = self.ticks.pop()
        self.session = self.tick.__self__
        self.number = 0

    def send(self, *packets: bytes) -> None:
        for packet in packets:
            self.socket.sendto(packet, ("127.0.0.1", self.session.receiver.port))
            self.number += 1

    def send_one_by_one(self, *packets: bytes) -> None:
        for packet in packets:
            self.send(packet)
            self.wait()

    def wait(self) -> None:
        """Until everything that was sent has been looked at."""
        end = time.monotonic() + 5.0
        while self.session.stream.counts.received < self.number and time.monotonic() < end:
            self.tick()
        assert self.session.stream.counts.received == self.number

    def stop(self) -> None:
        bpy.ops.poise.stop_listening()
        while self.tick() is not None:  # until what was recorded is filtered
            time.sleep(0.01)


def walk() -> list[dict[str, Any]]:
    return [json.loads(line) | {"frame": n} for n, line in enumerate(WALK.read_text().splitlines())]


def packet(frame: dict[str, Any]) -> bytes:
    return json.dumps(frame).encode()


ENDS = 1, 40  # frames of the motion


def keyed() -> Any:
    """A body that leans while a hand turns."""
    rig = make_armature()
    select(rig, ["hand.R"])
    for frame, angle in zip(ENDS, (0.0, 0.5), strict=True):
        turn(rig, "chest", angle)
        for bone in rig.pose.bones:
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        rig.pose.bones["hips"].keyframe_insert("location", frame=frame)
    return rig


def hold(rig: Any, bone: str, start: int, length: int = 3) -> Any:
    pin = rig.poise_timed_pins.add()
    pin.bone = pin.label = bone
    pin.start, pin.end, pin.frame, pin.ease_in, pin.ease_out = start, start + length, start, 2, 2
    return pin


def pins_of(rig: Any) -> list[Any]:
    return [(pin.bone, pin.label, pin.start, pin.end, pin.ease_in, pin.mute) for pin in rig.poise_timed_pins]


def phases_of(rig: Any) -> list[Any]:
    return [(phase.part, phase.kind, phase.start, phase.end, phase.frame) for phase in rig.poise_phases]


def overridden(folder: Path) -> Any:
    """The armature of this file, linked from there into an empty one, as a library override."""
    name = context.active_object.name
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(folder / "library.blend"), link=True) as (_, wanted):
        wanted.objects = [name]
    (linked,) = wanted.objects
    bpy.context.scene.collection.objects.link(linked)
    object = linked.override_create(remap_local_usages=True)
    select(object, ["hand.R"])
    return object


def again(path: Path) -> Any:
    """The armature of the file, saved and opened again."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return next(object for object in bpy.data.objects if object.type == "ARMATURE" and object.library is None)


def stays(rig: Any, bone: str) -> list[Any]:
    """Where the bone is in every third frame of the motion."""
    found = []
    for frame in range(ENDS[0], ENDS[1] + 1, 3):
        context.scene.frame_set(frame)
        found.append(world(rig, bone))
    return found


def curve(rig: Any, path: str) -> Any:
    """Return the curve with a data path that moves the armature."""
    return next(one for one in bridge.motion.active_curves(rig) if one.data_path == path)


def stand(rig: Any, bone: str, frame: int) -> np.ndarray:
    """The bone's rotation at a frame, as Blender has it."""
    context.scene.frame_set(frame)
    return np.array(rig.pose.bones[bone].matrix_basis.to_quaternion())
