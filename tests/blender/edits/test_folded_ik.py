"""Hips dragged down on legs whose thighs IK may not twist: Blender's solver fails where these are square to the leg."""

from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge import Grab
from core import rotation
from core.pose import frame_rotations
from edits.drag.explain import explain
from edits.drag.session import DragSession
from tests.blender.control_drags import RIGS, STILL, Parts, pin_feet, size_of
from tests.paths import SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

TICK = 0.01  # of the size
TURN = np.radians(12.0)  # of a joint in a tick
SHOWN, TURNED = 1e-3, np.radians(0.5)  # of the size: 1 mm
RESTS = 5  # ticks of a still mouse


def made(name: str) -> tuple[Any, Parts]:
    """A rig whose shins are longer than its thighs, with locks of IK, and its parts by roles."""
    rig, parts = RIGS[name]()
    if name == "Quaternius":
        bpy.ops.object.mode_set(mode="EDIT")
        for side in "LR":
            thigh, shin = (rig.data.edit_bones[f"{part}Leg.{side}"] for part in ("Upper", "Lower"))
            thigh.tail.z += 0.16
            shin.head = thigh.tail
        bpy.ops.object.mode_set(mode="POSE")
    for side in "LR":
        thigh, shin = (rig.pose.bones[f"{part}Leg.{side}"] for part in ("Upper", "Lower"))
        thigh.lock_ik_y = shin.lock_ik_y = shin.lock_ik_z = True  # as the artist has it
    bpy.context.view_layer.update()
    return rig, parts


def turns(rig: Any) -> np.ndarray:
    """The rotations (J, 4) of all bones in those of their parents."""
    bpy.context.view_layer.update()
    own = frame_rotations(bridge.read_matrices(rig)[:, :, :3])
    parents = [rig.data.bones.find(bone.parent.name) if bone.parent else -1 for bone in rig.data.bones]
    above = np.where(np.array(parents)[:, None] >= 0, own[parents], rotation.IDENTITY)
    return rotation.mul(rotation.inv(above), own)


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "limits"), [("PINS", "HARD"), ("PINS", "SOFT"), ("PINS", "OFF"), ("HUMANOID", "HARD")]
)
@pytest.mark.parametrize(
    "name",
    [
        "Quaternius",
        pytest.param(
            "Quaternius' man", marks=pytest.mark.skipif(not SHARED.exists(), reason="without the shared data")
        ),
    ],
)
def test_hips_go_down_as_far_as_blender_folds_the_legs(name: str, method: str, limits: str) -> None:
    rig, parts = made(name)
    rig.poise_method, rig.poise_limits = method, limits
    pin_feet(rig, parts, "hips")
    session = DragSession(bpy.context, rig, [Grab(rig.name, parts["hips"], (0.0, 0.0, 0.0))], live=True)
    seen = [turns(rig)]
    for tick in range(1, 41):
        session.drag(np.array([0.0, 0.0, -tick * TICK * size_of(rig)]), STILL)
        seen.append(turns(rig))
    ticks = 0
    while session.restless and ticks < 50:
        session.rest()
        seen.append(turns(rig))
        ticks += 1
    assert ticks <= RESTS
    assert rotation.angle_between(np.array(seen[1:]), np.array(seen[:-1])).max() < TURN
    body = session.body.controlled
    assert body is not None
    matrices, (heads, rotations) = bridge.read_matrices(rig)[body.frames], session.frames()
    shown = rotation.mul(frame_rotations(matrices[:, :, :3]), body.aligned)
    limbs = np.setdiff1d(np.arange(len(heads)), [*body.poles])
    assert np.linalg.norm(matrices[:, :, 3] - heads, axis=1)[limbs].max() < SHOWN * size_of(rig)
    assert rotation.angle_between(shown, rotations)[limbs].max() < TURNED
    assert any("short of its target" in reason for reason in explain(session))
