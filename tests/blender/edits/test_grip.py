"""Hands that grip: the vertices of Blender's evaluated skin against the prop's evaluated mesh."""

from typing import Any

import bpy
import numpy as np
import pytest

from core import rotation
from tests.blender.props import finger_names, put_in_hand, skin_distances, wrap_fingers
from tests.blender.rigs import load, said_by, select
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")
context: Any = bpy.context

DEEPEST = 1e-3  # metres of skin inside a prop, at most
TOUCHING = 5e-4  # metres from which on skin touches

REAL = SHARED / "rigs" / "real"
HANDS = {
    "mesh2motion": (REAL / "mesh2motion_human.blend", 1.0),
    "ozz": (REAL / "ozz_pab_skeleton.fbx", 1.0),
    "rigify": (SHARED / "rigs" / "scripted" / "rigify_generated_human.blend", 0.9),
    "mixamo": (DATA / "rigs" / "named_mixamo_cm.blend", 0.8),
}  # the file, and the size of the hand beside that of the first
PROPS = {
    "cylinder": ("cylinder", 0.024, 0.022, 0.0),
    "handle": ("cylinder", 0.007, 0.022, 0.01),
    "sphere": ("sphere", 0.04, 0.022, 0.0),
    "box": ("box", 0.03, 0.022, 0.0),
    "mug": ("mug", 0.042, 0.026, 0.0),
}  # its shape, radius and distances, for the first hand


def body(name: str) -> Any:
    """A body in its rest pose, in Pose Mode, with a skin on its fingers."""
    path, _ = HANDS[name]
    load(path)
    rig: Any = next(one for one in bpy.data.objects if one.type == "ARMATURE" and one.name != "metarig")
    rig.animation_data_clear()
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.pose.transforms_clear()
    if not any(one.type == "MESH" and one.vertex_groups for one in context.view_layer.objects):
        wrap_fingers(rig)
    select(rig, [])
    return rig


def prop_for(rig: Any, name: str, side: str, hand: str) -> Any:
    kind, radius, gap, ahead = PROPS[name]
    size = HANDS[hand][1]
    return put_in_hand(rig, side, kind, size * radius, size * gap, size * ahead)


@pytest.mark.parametrize("prop", PROPS)
@pytest.mark.parametrize("hand", HANDS)
def test_fingers_touch_and_are_not_inside(hand: str, prop: str) -> None:
    rig = body(hand)
    held = prop_for(rig, prop, "L", hand)
    assert bpy.ops.poise.grip(side="L") == {"FINISHED"}
    far = skin_distances(rig, "L", held)
    print(hand, prop, {finger: f"{1000.0 * gaps.min():.2f}" for finger, gaps in far.items()})
    assert min(gaps.min() for gaps in far.values()) > -DEEPEST
    touching = [finger for finger, gaps in far.items() if gaps.min() < TOUCHING]
    assert len(touching) >= len(far) - (prop == "handle"), touching  # the thumb is on the fingers
