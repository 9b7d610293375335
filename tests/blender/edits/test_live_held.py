"""Listen holds pins while it poses, and in what it records."""

import socket
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.edits.rigs import RIG, Listening, packet, walk
from tests.blender.rigs import select, world

FEET = ("mixamorig:LeftFoot", "mixamorig:RightFoot")
HAND = "mixamorig:LeftHand"
NEAR = 2e-3  # metres


@pytest.fixture
def armature(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A rig that may listen; Blender without a window calls no timers."""
    bpy.ops.wm.open_mainfile(filepath=str(RIG))
    object = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    monkeypatch.setattr(bpy.app.timers, "register", lambda tick, persistent: Listening.ticks.append(tick))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        object.poise_live_port = free.getsockname()[1]
    object.poise_live_record, object.poise_live_delay = True, 0
    select(object, [])
    yield object
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def pin(rig: Any, *bones: str, kind: str = "POSITION") -> None:
    select(rig, list(bones))
    bpy.ops.poise.pin(kind=kind, space="WORLD")
    select(rig, [])


def listen(rig: Any, count: int = 40) -> tuple[list[float], list[Any]]:
    """Send a walk; return how far the pinned bones were off in each pose, and where the other hand was."""
    listening, off, hands = Listening(), [], []
    held = {one.name: np.array(one.position) for one in rig.poise_pins if not one.mute}
    for frame in walk()[:count]:
        listening.send_one_by_one(packet(frame))
        if listening.session.applied:
            off.append(max(np.linalg.norm(world(rig, name) - place) for name, place in held.items()))
            hands.append(world(rig, "mixamorig:RightHand"))
    listening.stop()
    listening.socket.close()
    return off, hands


def test_pinned_feet_stay_planted_while_a_walk_poses_the_body(armature: Any) -> None:
    pin(armature, *FEET)
    off, hands = listen(armature)
    assert len(off) > 10
    assert max(off) < NEAR
    assert np.ptp(hands, axis=0).max() > 0.05  # the rest of the body walks


def test_a_pinned_hand_stays_on_its_place_as_its_weight_says_beside_the_feet(armature: Any) -> None:
    pin(armature, *FEET, HAND)
    off, _ = listen(armature)
    assert max(off) < NEAR
    armature.poise_pins[HAND].position.x += 3.0  # out of reach
    armature.poise_pins[HAND].priority = 1
    off, _ = listen(armature, 20)
    feet = [np.linalg.norm(world(armature, foot) - np.array(armature.poise_pins[foot].position)) for foot in FEET]
    assert max(feet) < NEAR
    assert min(off) > 1.0


def test_muted_pins_hold_nothing(armature: Any) -> None:
    pin(armature, *FEET)
    for one in armature.poise_pins:
        one.mute = True
    before = world(armature, FEET[0])
    listening, off = Listening(), []
    for frame in walk()[:30]:
        listening.send_one_by_one(packet(frame))
        off.append(float(np.linalg.norm(world(armature, FEET[0]) - before)))
    listening.stop()
    listening.socket.close()
    assert max(off) > 0.05


def test_the_recording_holds_the_pins_in_each_frame(armature: Any) -> None:
    pin(armature, *FEET)
    listen(armature)
    action = armature.animation_data.action
    first, last = map(int, action.frame_range)
    assert last > first
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        for foot in FEET:
            np.testing.assert_allclose(world(armature, foot), armature.poise_pins[foot].position, atol=NEAR)
