"""Hands that grip: Blender's evaluated skin, its vertices and faces, against the prop's evaluated mesh."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from core import rotation
from tests.blender.props import finger_names, palm_of, put_in_hand, skin_distances, wrap_fingers
from tests.blender.rigs import load, said_by, select
from tests.paths import DATA, SHARED

pytestmark = [pytest.mark.usefixtures("empty_file"), pytest.mark.long]
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
    "cylinder": ("cylinder", 0.024),
    "handle": ("curve", 0.007),
    "sphere": ("sphere", 0.04),
    "box": ("box", 0.03),
    "prism": ("prism", 0.02),
    "mug": ("mug", 0.042),
    "cone": ("cone", 0.035),  # the fingers and the thumb of mesh2motion's hand are in it when open
}  # its shape and radius, for the first hand
GRIPPED = {  # all props by one hand, and each but the cone by another one as well
    "mesh2motion": tuple(PROPS),
    "ozz": ("mug", "handle", "sphere"),
    "rigify": ("mug", "cylinder", "box"),
    "mixamo": ("mug", "prism", "handle"),
}
MISSING = {("ozz", "handle"): 2}  # fingers: these cannot bend so far; of others a thumb may meet the fingers first


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
    """A prop that lies in the flat hand."""
    kind, radius = PROPS[name]
    return put_in_hand(rig, side, kind, HANDS[hand][1] * radius)


@pytest.mark.parametrize(
    ("hand", "prop"),
    [
        pytest.param(hand, prop, marks=() if (hand, prop) == ("mixamo", "mug") else pytest.mark.long)
        for hand, props in GRIPPED.items()
        for prop in props
    ],
)
def test_fingers_touch_and_are_not_inside(hand: str, prop: str) -> None:
    rig = body(hand)
    held = prop_for(rig, prop, "L", hand)
    assert bpy.ops.poise.grip(side="L") == {"FINISHED"}
    far = skin_distances(rig, "L", held)
    assert min(gaps.min() for gaps in far.values()) > -DEEPEST
    touching = [finger for finger, gaps in far.items() if gaps.min() < TOUCHING]
    assert len(touching) >= len(far) - MISSING.get((hand, prop), 1), touching


def turns(rig: Any, side: str) -> dict[str, np.ndarray]:
    """How far each bone of the fingers is turned from its rest pose, degrees."""
    return {
        name: np.degrees(rig.pose.bones[name].matrix_basis.to_quaternion().angle) for name in finger_names(rig, side)
    }


def test_a_hand_of_three_fingers_grips_as_well() -> None:
    rig = body("mixamo")
    bpy.data.objects.remove(bpy.data.objects["skin"])
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in [bone for bone in rig.data.edit_bones if any(part in bone.name for part in ("Ring", "Pinky"))]:
        rig.data.edit_bones.remove(bone)
    bpy.ops.object.mode_set(mode="POSE")
    wrap_fingers(rig)
    held = prop_for(rig, "cylinder", "R", "mixamo")
    assert bpy.ops.poise.grip() == {"FINISHED"}
    far = skin_distances(rig, "R", held)
    assert sorted(far) == ["index", "middle", "thumb"]
    assert all(-DEEPEST < gaps.min() < TOUCHING for gaps in far.values())


def test_without_a_skin_fingers_are_as_thick_as_fingers_are() -> None:
    rig = body("mixamo")
    bpy.data.objects.remove(bpy.data.objects["skin"])
    held = prop_for(rig, "cylinder", "L", "mixamo")
    assert bpy.ops.poise.grip(side="L") == {"FINISHED"}
    matrix = held.matrix_world.inverted()
    for finger in ("Thumb", "Index", "Middle", "Ring", "Pinky"):
        far = []
        for joint in (2, 3):
            bone = rig.pose.bones[f"mixamorig:LeftHand{finger}{joint}"]
            for share in np.linspace(0.0, 1.0, 9):
                place = matrix @ (rig.matrix_world @ (bone.head.lerp(bone.tail, share)))
                far.append(np.hypot(place.x, place.y) - 0.8 * 0.024)
        assert 0.003 < min(far) < 0.02, finger  # of the bones: half the thickness of a finger


def test_fingers_that_reach_nothing_close_to_a_fist_and_hands_without_a_prop_stay() -> None:
    rig = body("mixamo")
    held = prop_for(rig, "sphere", "L", "mixamo")
    held.scale = (0.3, 0.3, 0.3)  # so small that not all fingers reach it
    context.view_layer.update()
    assert bpy.ops.poise.grip() == {"FINISHED"}
    far = skin_distances(rig, "L", held)
    missing = {finger for finger, gaps in far.items() if gaps.min() > 5e-3}
    assert "pinky" in missing
    angles = turns(rig, "L")
    for finger in missing - {"thumb", "index"}:  # which may meet
        assert angles[f"mixamorig:LeftHand{finger.title()}2"] == pytest.approx(100.0, abs=1.0)
    assert max(turns(rig, "R").values()) == 0.0


def test_limits_and_locks_of_the_user_hold_and_the_other_joints_close() -> None:
    rig = body("mixamo")
    held = prop_for(rig, "cylinder", "L", "mixamo")
    limited, locked = (rig.pose.bones[f"mixamorig:LeftHand{name}"] for name in ("Index2", "Middle1"))
    limited.use_ik_limit_x = limited.use_ik_limit_y = limited.use_ik_limit_z = True
    for axis in "xyz":
        setattr(limited, f"ik_min_{axis}", -np.radians(5.0))
        setattr(limited, f"ik_max_{axis}", np.radians(5.0))
    locked.lock_rotation = (True, True, True)
    locked.lock_rotation_w = locked.lock_rotations_4d = True
    context.view_layer.update()
    bpy.ops.poise.grip(side="L")
    angles = turns(rig, "L")
    assert 0.0 < angles[limited.name] < 8.0
    assert angles[locked.name] == 0.0
    far = skin_distances(rig, "L", held)
    assert all(-DEEPEST < gaps.min() < TOUCHING for gaps in far.values())


def test_margin_and_close() -> None:
    rig = body("mixamo")
    held = prop_for(rig, "cylinder", "L", "mixamo")
    held.matrix_world.translation += Vector(0.008 * palm_of(rig, "L")[1])
    context.view_layer.update()
    bpy.ops.poise.grip(side="L", margin=0.004)
    gaps = {finger: far.min() for finger, far in skin_distances(rig, "L", held).items()}
    assert gaps == {finger: pytest.approx(0.004, abs=TOUCHING) for finger in gaps}
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.pose.transforms_clear()
    bpy.ops.poise.grip(side="L")
    whole = turns(rig, "L")
    bpy.ops.pose.transforms_clear()
    bpy.ops.poise.grip(side="L", close=0.5)
    half = turns(rig, "L")
    assert all(half[name] == pytest.approx(0.5 * angle, abs=0.01) for name, angle in whole.items())


def test_what_was_reached_is_said(monkeypatch: Any) -> None:
    rig = body("mixamo")
    prop_for(rig, "cylinder", "L", "mixamo")
    level, said = said_by("grip", monkeypatch)
    assert (level, said.partition(";")[0]) == ("INFO", "5 fingers touch")


def test_fingers_that_do_not_reach_a_short_prop_are_named(monkeypatch: Any) -> None:
    rig = body("mixamo")
    held = prop_for(rig, "cylinder", "L", "mixamo")
    held.scale.z *= 0.2
    context.view_layer.update()
    _, said = said_by("grip", monkeypatch, side="L")
    far = {finger: gaps.min() for finger, gaps in skin_distances(rig, "L", held).items()}
    apart = {finger for finger, gap in far.items() if gap > TOUCHING}
    assert apart
    assert {one for one in far if f"{one}.L" in said.partition(", but not ")[2]} == apart


def test_a_prop_that_is_moved_turned_and_mirrored_with_the_body_is_gripped_alike() -> None:
    found = []
    for moved in (False, True):
        rig = body("mixamo")
        held = prop_for(rig, "sphere", "L", "mixamo")
        if moved:
            root = bpy.data.objects.new("root", None)
            context.scene.collection.objects.link(root)
            for one in (rig, held):
                world = one.matrix_world.copy()
                one.parent, one.matrix_parent_inverse = root, root.matrix_world.inverted()
                one.matrix_world = world
            root.location, root.rotation_euler, root.scale = (3.0, -2.0, 0.5), (0.4, 0.3, 2.0), (-1.0, 1.0, 1.0)
            context.view_layer.update()
        bpy.ops.poise.grip(side="L", target="OBJECT", object="sphere")
        names = finger_names(rig, "L")
        found.append(np.array([rig.pose.bones[name].matrix_basis.to_quaternion() for name in names]))
    assert np.degrees(rotation.angle_between(*found).max()) < 0.1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "No finger reaches a mesh"),
        ({"target": "OBJECT", "object": "lamp"}, '"lamp" has no faces to grip'),
        ({"target": "OBJECT"}, "Choose an object"),
        ({"target": "COLLECTION"}, "Choose a collection"),
    ],
)
def test_what_cannot_be_gripped_is_said(settings: dict[str, str], sentence: str) -> None:
    rig = body("mixamo")
    lamp = bpy.data.objects.new("lamp", bpy.data.lights.new("lamp", "POINT"))
    context.scene.collection.objects.link(lamp)
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.poise.grip(**settings)
    assert max(turns(rig, "L").values()) == 0.0
