"""The tools for a whole body in Blender: measured where Blender has the bones, keyed, undone, refused."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_extras.anim_utils import action_get_channelbag_for_slot
from mathutils import Vector

from core import rotation
from panels.body import POISE_PT_body
from panels.solver import POISE_PT_solver
from tests.blender.props import put_in_hand
from tests.blender.rigs import (
    TOOLS,
    contents,
    drawn_by,
    load,
    make_armature,
    make_empty,
    said_by,
    select,
    turn,
    world,
    world_rotation,
)
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")
context: Any = bpy.context


@pytest.fixture
def mixamo() -> Any:
    """A body in centimetres on an object of scale 0.01, moved and turned, in some pose."""
    (rig,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    rig.location, rig.rotation_euler.z = (1.0, -2.0, 0.0), 0.7
    select(rig, [])
    rng = np.random.default_rng(1)
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
        if bone.parent is not None:
            bone.rotation_quaternion = rotation.exp(0.25 * rng.normal(size=3)).tolist()
    context.view_layer.update()
    return rig


def at(rig: Any, part: str) -> np.ndarray:
    return world(rig, f"mixamorig:{part}")


def way(rig: Any, first: str, last: str) -> np.ndarray:
    line = at(rig, last) - at(rig, first)
    return line / np.linalg.norm(line)


@pytest.fixture
def quadruped() -> Any:
    """An animal in some pose, off the ground."""
    (rig,) = load(SHARED / "rigs" / "real" / "mesh2motion_quadruped.glb")
    rig.animation_data_clear()
    select(rig, [])
    rng = np.random.default_rng(2)
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
        turn_by = 0.0 if bone.name in ("root", "Hips") else 0.1
        bone.rotation_quaternion = rotation.exp(turn_by * rng.normal(size=3)).tolist()
        bone.location = (0.0, 0.0, 0.0)
    context.view_layer.update()
    return rig


PAWS = [f"{name}.{side}" for name in ("Front_Toes_Tip", "Back_Toes_Tip") for side in "LR"]


def test_an_animal_stands_on_the_ground_as_at_rest(quadruped: Any) -> None:
    rest = {name: quadruped.data.bones[name].tail_local.z for name in PAWS}
    lowest = min(rest.values())
    assert bpy.ops.poise.plant_feet() == {"FINISHED"}
    for name in PAWS:
        tip = (quadruped.matrix_world @ quadruped.pose.bones[name].tail).z
        assert tip == pytest.approx(rest[name] - lowest, abs=1e-4)


def test_an_animals_panel_offers_what_suits_it(quadruped: Any) -> None:
    drawn = {name for kind, name in drawn_by(POISE_PT_body) if kind == "operator"}
    suits = "take_posture", "make_rest", "mirror_pose", "plant_feet", "look_at", "copy_pose", "apply_pose", "blend_pose"
    assert drawn == {f"poise.{name}" for name in suits}
    settings = {name for kind, name in drawn_by(POISE_PT_solver) if kind == "prop"}
    assert not settings & {"poise_method", "poise_use_anatomy_limits"}
    quadruped.poise_method = "HUMANOID"  # until it is put back
    assert ("prop", "poise_method") in drawn_by(POISE_PT_solver)
    with pytest.raises(RuntimeError, match="An animal has no T-pose"):
        bpy.ops.poise.take_posture(posture="T")
    with pytest.raises(RuntimeError, match="Store a min and a max pose"):
        bpy.ops.poise.generate(recipe="jump")


def test_the_panel_has_a_button_for_every_tool() -> None:
    make_armature()
    drawn = {name for kind, name in drawn_by(POISE_PT_body) if kind == "operator"}
    assert drawn == {
        f"poise.{name}" for name in (*TOOLS, "hold_object", "make_rest", "copy_pose", "apply_pose", "blend_pose")
    }


def test_a_t_pose_in_the_world(mixamo: Any) -> None:
    assert bpy.ops.poise.take_posture(posture="T") == {"FINISHED"}
    left = np.array([np.cos(0.7), np.sin(0.7), 0.0])
    np.testing.assert_allclose(way(mixamo, "LeftArm", "LeftHand"), left, atol=1e-4)
    np.testing.assert_allclose(way(mixamo, "RightArm", "RightForeArm"), -left, atol=1e-4)
    np.testing.assert_allclose(way(mixamo, "LeftUpLeg", "LeftFoot"), (0.0, 0.0, -1.0), atol=1e-4)
    bpy.ops.poise.take_posture(posture="A", arms=0.5)
    assert np.arcsin(-way(mixamo, "LeftArm", "LeftHand")[2]) == pytest.approx(0.5, abs=1e-3)


def test_a_mirrored_pose_is_the_image_of_the_pose_across_the_bodys_own_plane(mixamo: Any) -> None:
    parts = ("Head", "Arm", "Hand", "HandIndex3", "Leg", "Foot", "ToeBase")
    names = [(f"{s}{part}", f"{o}{part}") if part != "Head" else (part, part)
             for part in parts for s, o in (("Left", "Right"), ("Right", "Left"))]  # fmt: skip
    hips = at(mixamo, "Hips")
    before = {one: at(mixamo, one) - hips for one, _ in names}
    bpy.ops.poise.mirror_pose()
    normal = np.array([np.cos(0.7), np.sin(0.7), 0.0])
    image = np.eye(3) - 2.0 * np.outer(normal, normal)
    for one, other in names:
        np.testing.assert_allclose(at(mixamo, other) - at(mixamo, "Hips"), image @ before[one], atol=3e-3)


def flip_to_the_image(rig: Any) -> dict[str, np.ndarray]:
    """Flip the pose, see that it is its image across the plane of the body's sides, and say where parts were."""
    parts = ("Hand", "HandIndex3", "Leg", "Foot")
    before = {f"{side}{part}": at(rig, f"{side}{part}") for part in parts for side in ("Left", "Right")}
    hips = at(rig, "Hips")
    assert bpy.ops.poise.mirror_pose() == {"FINISHED"}
    for part in parts:
        for one, other in (("Left", "Right"), ("Right", "Left")):
            image = (before[f"{one}{part}"] - hips) * (-1.0, 1.0, 1.0)
            np.testing.assert_allclose(at(rig, f"{other}{part}") - at(rig, "Hips"), image, atol=3e-3)
    return before


def test_locations_are_mirrored_too_and_twice_is_the_start(mixamo: Any) -> None:
    mixamo.rotation_euler.z = 0.0
    mixamo.pose.bones["mixamorig:RightUpLeg"].location = (2.0, 4.0, -3.0)
    context.view_layer.update()
    before = flip_to_the_image(mixamo)
    assert bpy.ops.poise.mirror_pose() == {"FINISHED"}
    for part, place in before.items():
        np.testing.assert_allclose(at(mixamo, part), place, atol=1e-4)


def sizes(rig: Any) -> dict[str, np.ndarray]:
    return {bone.name.partition(":")[2]: np.array(bone.scale) for bone in rig.pose.bones}


def test_scales_are_mirrored_too_and_twice_is_the_start(mixamo: Any) -> None:
    scaled = {"LeftArm": (1.0, 1.5, 1.0), "RightLeg": (0.7, 0.7, 0.7), "Head": (1.3, 1.3, 1.3), "Hips": (1.1, 1.1, 1.1)}
    for part, scale in scaled.items():
        mixamo.pose.bones[f"mixamorig:{part}"].scale = scale
    mixamo.rotation_euler.z = 0.0
    context.view_layer.update()
    start = sizes(mixamo)
    flip_to_the_image(mixamo)
    assert bpy.ops.poise.mirror_pose() == {"FINISHED"}
    for part, scale in sizes(mixamo).items():
        np.testing.assert_allclose(scale, start[part], atol=1e-5)


def test_locked_scales_stay_when_a_pose_is_mirrored_and_are_named(mixamo: Any, monkeypatch: Any) -> None:
    for part, scale in (("LeftArm", (1.2, 1.5, 1.2)), ("LeftLeg", (1.4, 1.4, 1.4))):
        mixamo.pose.bones[f"mixamorig:{part}"].scale = scale
    mixamo.pose.bones["mixamorig:RightArm"].lock_scale = (True, False, False)
    mixamo.pose.bones["mixamorig:RightLeg"].lock_scale = (True, True, True)
    context.view_layer.update()
    level, said = said_by("mirror_pose", monkeypatch, model="L")
    after = sizes(mixamo)
    np.testing.assert_allclose(after["RightArm"], (1.0, 1.5, 1.2), atol=1e-5)
    assert after["RightLeg"].tolist() == [1.0, 1.0, 1.0]
    np.testing.assert_allclose(after["LeftArm"], (1.2, 1.5, 1.2), atol=1e-6)
    assert (level, said.partition("; ")[0]) == (
        "WARNING", "the scale of mixamorig:RightArm and mixamorig:RightLeg is locked. Unlock it to change it"
    )  # fmt: skip


def test_mirrored_scales_are_keyed_and_come_back_with_the_frame(mixamo: Any, monkeypatch: Any) -> None:
    arm, other = (mixamo.pose.bones[f"mixamorig:{side}Arm"] for side in ("Left", "Right"))
    for frame, size in ((1, 1.0), (11, 1.5)):
        arm.scale = (1.0, size, 1.0)
        arm.keyframe_insert("scale", frame=frame)
    context.scene.frame_set(11)
    monkeypatch.setattr(context.scene.tool_settings, "use_keyframe_insert_auto", True)
    monkeypatch.setattr(context.preferences.edit, "use_auto_keyframe_insert_needed", True)
    monkeypatch.setattr(context.preferences.edit, "use_keyframe_insert_available", False)
    assert bpy.ops.poise.mirror_pose(model="L") == {"FINISHED"}
    bag = action_get_channelbag_for_slot(mixamo.animation_data.action, mixamo.animation_data.action_slot)
    curves = {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}
    here, there = (bone.path_from_id("scale") for bone in (arm, other))
    made = [tuple(key.co) for key in curves[there, 1].keyframe_points]
    assert made == [pytest.approx((1.0, 1.0)), pytest.approx((11.0, 1.5))]  # the other keyed frame stays as it was
    assert {path for path, _ in curves if path.endswith("scale")} == {here, there}
    assert len(curves[here, 1].keyframe_points) == 2
    other.scale = (1.0, 1.0, 1.0)
    context.scene.frame_set(11)
    assert tuple(other.scale) == pytest.approx((1.0, 1.5, 1.0), abs=1e-5)


def test_feet_stand_on_a_moved_plane_and_the_object_may_be_turned(mixamo: Any) -> None:
    plane = make_empty("Plane", (0.0, 0.0, 0.2))
    plane.rotation_euler = (0.1, 0.05, 0.0)
    context.view_layer.update()
    context.view_layer.objects.active = mixamo
    assert bpy.ops.poise.plant_feet(surface="OBJECT", object="Plane") == {"FINISHED"}
    normal = np.array(plane.matrix_world.to_3x3() @ Vector((0, 0, 1)))
    for side in ("Left", "Right"):
        heights = [(at(mixamo, f"{side}{part}") - (0.0, 0.0, 0.2)) @ normal for part in ("Foot", "ToeBase")]
        bone = mixamo.data.bones[f"mixamorig:{side}Foot"]
        made = [0.01 * mixamo.data.bones[f"mixamorig:{side}{part}"].head_local.z for part in ("Foot", "ToeBase")]
        assert bone is not None
        np.testing.assert_allclose(heights, made, atol=2e-3)
    low = at(mixamo, "LeftFoot")
    bpy.ops.poise.plant_feet(surface="OBJECT", object="Plane", side="L", roll=0.5)
    assert (at(mixamo, "LeftFoot") - low) @ normal > 0.03


def test_a_hand_lies_on_the_nearest_place_of_a_mesh(mixamo: Any) -> None:
    bpy.ops.poise.take_posture(posture="RELAXED")
    bpy.ops.object.mode_set(mode="OBJECT")
    below = at(mixamo, "LeftHand")
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(*below[:2], 0.4))
    table = context.active_object
    table.name = "Table"  # its top is at 0.9
    context.view_layer.objects.active = mixamo
    bpy.ops.object.mode_set(mode="POSE")
    feet = at(mixamo, "LeftFoot")
    assert bpy.ops.poise.lay_hands(surface="OBJECT", object="Table", side="L") == {"FINISHED"}
    knuckle, wrist = at(mixamo, "LeftHandMiddle1"), at(mixamo, "LeftHand")
    assert abs(knuckle[2] - wrist[2]) < 0.02
    assert 0.9 < wrist[2] < 0.95
    np.testing.assert_allclose(at(mixamo, "LeftFoot"), feet, atol=1e-3)


def test_fingers_close_on_one_hand_alone(mixamo: Any) -> None:
    bpy.ops.poise.take_posture(posture="T")
    bpy.ops.poise.pose_fingers(side="BOTH", close=0.0)
    flat = {side: at(mixamo, f"{side}HandIndex3") - at(mixamo, f"{side}Hand") for side in ("Left", "Right")}
    bpy.ops.poise.pose_fingers(side="L", close=1.0)
    closed = {side: at(mixamo, f"{side}HandIndex3") - at(mixamo, f"{side}Hand") for side in ("Left", "Right")}
    assert np.linalg.norm(closed["Left"]) < 0.7 * np.linalg.norm(flat["Left"])
    np.testing.assert_allclose(closed["Right"], flat["Right"], atol=1e-6)


def test_the_head_looks_at_the_cursor_and_at_an_object(mixamo: Any) -> None:
    ahead = np.array([np.sin(0.7), -np.cos(0.7), 0.0])
    place = at(mixamo, "Head") + 2.0 * ahead + (0.4, 0.0, -0.3)
    rest = np.array((mixamo.matrix_world @ mixamo.data.bones["mixamorig:Head"].matrix_local).to_quaternion())
    make_empty("Cup", place.tolist())
    context.view_layer.objects.active = mixamo
    context.scene.cursor.location = place
    for settings in ({"target": "CURSOR"}, {"target": "OBJECT", "object": "Cup"}):
        turn(mixamo, "mixamorig:Head", 0.3)
        bpy.ops.poise.look_at(**settings)
        change = rotation.mul(world_rotation(mixamo, "mixamorig:Head"), rotation.inv(rest))
        wanted = place - at(mixamo, "Head")
        assert rotation.rotate(change, ahead) @ wanted / np.linalg.norm(wanted) > np.cos(np.radians(1.5))


USES = {
    "take_posture": {"posture": "T"},
    "mirror_pose": {},
    "plant_feet": {"roll": 0.3},
    "lay_hands": {},
    "pose_fingers": {"side": "L", "close": 0.5},
    "grip": {"side": "L"},
    "look_at": {},
}  # each tool, with settings that change something


def channels_of(rig: Any) -> dict[str, Any]:
    return {bone.name: (tuple(bone.rotation_quaternion), tuple(bone.location)) for bone in rig.pose.bones}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_is_one_undo_step_keys_what_it_changed_and_asks_for_no_selection(
    mixamo: Any, monkeypatch: Any, tool: str
) -> None:
    monkeypatch.setattr(context.preferences.edit, "use_keyframe_insert_available", False)
    other = mixamo.copy()  # of the same armature
    context.scene.collection.objects.link(other)
    other.name, other.location = "Other", (5.0, 0.0, 0.0)
    put_in_hand(mixamo, "L", "cylinder", 0.02)
    context.scene.cursor.location = (0.0, -3.0, 1.0)
    name = mixamo.name
    select(mixamo, [])
    context.scene.tool_settings.use_keyframe_insert_auto = True
    start = channels_of(mixamo)
    bpy.ops.ed.undo_push(message="before")
    before = contents()
    assert getattr(bpy.ops.poise, tool)("EXEC_DEFAULT", True, **USES[tool]) == {"FINISHED"}
    rig = bpy.data.objects[name]
    end = channels_of(rig)
    changed = {bone for bone in end if end[bone] != start[bone]}
    (bag,) = rig.animation_data.action.layers[0].strips[0].channelbags
    keyed = {curve.data_path.split('"')[1] for curve in bag.fcurves}
    assert keyed
    assert keyed <= changed
    assert contents()["objects"]["Other"] == before["objects"]["Other"]
    bpy.ops.ed.undo()
    assert contents()["objects"] == before["objects"]
    select(bpy.data.objects[name], ["mixamorig:LeftToeBase"])
    getattr(bpy.ops.poise, tool)("EXEC_DEFAULT", True, **USES[tool])
    assert channels_of(bpy.data.objects[name]) == end


@pytest.mark.parametrize("tool", TOOLS)
def test_the_active_keying_set_is_heeded(mixamo: Any, tool: str) -> None:
    settings = context.scene.tool_settings
    named = context.scene.keying_sets.new(idname="mine", name="mine")
    path = 'pose.bones["mixamorig:Hips"].location'
    named.paths.add(mixamo, path)
    settings.use_keyframe_insert_auto = settings.use_keyframe_insert_keyingset = True
    context.scene.keying_sets_all.active = named
    context.scene.cursor.location = (0.0, -3.0, 1.0)
    put_in_hand(mixamo, "L", "cylinder", 0.02)
    getattr(bpy.ops.poise, tool)(**USES[tool])
    (bag,) = mixamo.animation_data.action.layers[0].strips[0].channelbags
    assert {curve.data_path for curve in bag.fcurves} == {path}


@pytest.mark.parametrize(
    ("tool", "settings", "sentence"),
    [
        ("look_at", {"target": "OBJECT"}, "Choose an object"),
        ("look_at", {"target": "OBJECT", "object": "Nobody"}, 'No object "Nobody"'),
        ("plant_feet", {"surface": "OBJECT", "object": "rig"}, "is the body itself"),
        ("pose_fingers", {}, "No fingers of hand.L were found"),
        ("lay_hands", {"side": "L", "surface": "OBJECT"}, "Choose an object"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_changes(tool: str, settings: dict[str, str], sentence: str) -> None:
    select(make_armature(), [])
    before = contents()
    with pytest.raises(RuntimeError, match=sentence):
        getattr(bpy.ops.poise, tool)(**settings)
    assert contents() == before


def driven_forearm() -> Any:
    rig: Any = make_armature()
    cup = make_empty("Cup")
    context.view_layer.objects.active = rig
    rig.pose.bones["forearm.L"].constraints.new("COPY_ROTATION").target = cup
    select(rig, [])
    return rig


def test_driven_bones_stay_and_are_named_and_the_rest_is_posed(monkeypatch: Any) -> None:
    rig = driven_forearm()
    bpy.data.objects["Cup"].rotation_euler.z = 1.0
    context.view_layer.update()
    forearm = tuple(rig.pose.bones["forearm.L"].rotation_quaternion)
    level, said = said_by("take_posture", monkeypatch, posture="T")
    assert (level, said.partition("; ")[0]) == ("WARNING", "forearm.L is driven. Mute the driver or constraint")
    assert tuple(rig.pose.bones["forearm.L"].rotation_quaternion) == forearm
    for bone, side in (("upper_arm.L", 1.0), ("forearm.R", -1.0)):
        np.testing.assert_allclose(rig.pose.bones[bone].y_axis, (side, 0.0, 0.0), atol=1e-3)


def test_where_no_bone_is_free_the_tool_says_why_and_nothing_changes() -> None:
    rig = driven_forearm()
    for bone in rig.pose.bones:
        bone.constraints.new("COPY_ROTATION").target = bpy.data.objects["Cup"]
    context.view_layer.update()
    before = contents()
    with pytest.raises(RuntimeError, match=r'is driven by constraint "Copy Rotation"'):
        bpy.ops.poise.take_posture(posture="A")
    assert contents() == before


@pytest.mark.parametrize("tool", ["take_posture", "mirror_pose", "plant_feet", "lay_hands"])
def test_a_body_without_hips_is_told_so_by_all_tools(mixamo: Any, tool: str) -> None:
    """Some said that no body is found, and spoke of pins."""
    select(mixamo, ["mixamorig:Hips"])
    bpy.ops.poise.set_role(role="none")
    with pytest.raises(RuntimeError, match=r"No hips was found\. Assign its bone in Rig > Parts\."):
        getattr(bpy.ops.poise, tool)()


def test_feet_that_do_not_get_down_are_stretched_from_the_hips(mixamo: Any, monkeypatch: Any, capfd: Any) -> None:
    """Each foot was said to pull the other one back."""
    for bone in mixamo.pose.bones:
        bone.matrix_basis.identity()
    context.view_layer.update()
    level, _ = said_by("plant_feet", monkeypatch, height=-0.3, use_hips=False)
    said = capfd.readouterr().out
    assert level == "WARNING"
    assert said.count(": fully stretched from Hips") == 2
    assert "the other way" not in said


def test_locked_bones_are_named(mixamo: Any, monkeypatch: Any) -> None:
    elbow = mixamo.pose.bones["mixamorig:LeftForeArm"]
    elbow.lock_rotation, elbow.lock_rotation_w, elbow.lock_rotations_4d = (True,) * 3, True, True
    stood = tuple(elbow.rotation_quaternion)
    level, said = said_by("take_posture", monkeypatch, posture="T")
    assert (level, said.partition("; ")[0]) == ("WARNING", "mixamorig:LeftForeArm is locked. Unlock the rotation")
    assert tuple(elbow.rotation_quaternion) == stood


def test_where_all_is_locked_hands_stay_and_the_tool_says_so(mixamo: Any, monkeypatch: Any, capfd: Any) -> None:
    for bone in mixamo.pose.bones:
        bone.lock_rotation, bone.lock_rotation_w, bone.lock_rotations_4d = (True,) * 3, True, True
        bone.lock_location = (True,) * 3
    before = contents()
    level, said = said_by("lay_hands", monkeypatch)
    assert level == "WARNING"
    assert "neither it nor its parents can be changed" in capfd.readouterr().out
    assert "0 bones changed" in said
    assert contents() == before


def test_knees_that_are_locked_to_their_hinge_bend_in_it(mixamo: Any, monkeypatch: Any) -> None:
    """Plant Feet solves with the locks: the feet were 0.1 m off once they were kept."""
    for bone in mixamo.pose.bones:
        bone.matrix_basis.identity()
    for side in ("Left", "Right"):
        shin = mixamo.pose.bones[f"mixamorig:{side}Leg"]
        shin.rotation_mode, shin.lock_rotation = "XYZ", (False, True, True)
    context.view_layer.update()
    stood = at(mixamo, "LeftFoot")[2]
    level, said = said_by("plant_feet", monkeypatch, surface="GROUND", height=0.2)
    assert (level, said.partition("; ")[2]) == ("INFO", "")
    assert at(mixamo, "LeftFoot")[2] - stood == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(
    ("tool", "settings", "bone"),
    [
        ("take_posture", {"posture": "A"}, "LeftArm"),
        ("take_posture", {"posture": "RELAXED"}, "LeftArm"),
        ("pose_fingers", {"close": 1.0}, "LeftHandIndex2"),
        ("mirror_pose", {}, "LeftArm"),
        ("look_at", {}, "Head"),
    ],
)
def test_limits_that_the_user_gave_win(
    tool: str, settings: dict[str, Any], bone: str, monkeypatch: Any, capfd: Any
) -> None:
    (rig,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    select(rig, [])
    limited = rig.pose.bones[f"mixamorig:{bone}"]
    for axis in "xyz":
        setattr(limited, f"use_ik_limit_{axis}", True)
        setattr(limited, f"ik_min_{axis}", -np.radians(3.0))
        setattr(limited, f"ik_max_{axis}", np.radians(3.0))
    turn(rig, "mixamorig:RightArm", 0.8)
    context.scene.cursor.location = (2.0, -1.0, 1.5)
    context.view_layer.update()
    said_by(tool, monkeypatch, **settings)
    assert f"{bone} is at the limit. Widen the limits or turn them off" in capfd.readouterr().out
    assert 0.0 < limited.rotation_quaternion.angle < np.radians(6.0)


def test_a_body_that_lays_its_hands_on_the_floor_stays_above_it(mixamo: Any) -> None:
    bpy.ops.poise.take_posture(posture="RELAXED")
    size = world(mixamo, "mixamorig:Head")[2]
    assert bpy.ops.poise.lay_hands() == {"FINISHED"}
    assert min(world(mixamo, bone.name)[2] for bone in mixamo.pose.bones) > -0.01 * size
    assert world(mixamo, "mixamorig:LeftLeg")[1] < world(mixamo, "mixamorig:LeftFoot")[1]  # it faces -Y


@pytest.mark.parametrize("tool", ["lay_hands", "plant_feet"])
def test_what_cannot_be_reached_is_said(tool: str, mixamo: Any, monkeypatch: Any, capfd: Any) -> None:
    for bone in mixamo.pose.bones:
        bone.matrix_basis.identity()
    settings = {"lay_hands": {"height": 3.0}, "plant_feet": {"height": -2.0, "use_hips": False}}[tool]
    part, stays = {"lay_hands": ("Hand", "LeftFoot"), "plant_feet": ("Foot", "Hips")}[tool]
    context.view_layer.update()
    stood = at(mixamo, stays)
    level, _ = said_by(tool, monkeypatch, **settings)
    said = capfd.readouterr().out
    assert level == "WARNING"
    for side in ("Left", "Right"):
        assert f"Warning: {side}{part} is " in said
    np.testing.assert_allclose(at(mixamo, stays), stood, atol=1e-3)
    assert stays not in said.split(":", 1)[0]
