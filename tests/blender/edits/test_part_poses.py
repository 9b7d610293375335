"""Poses from one body to another by their parts, measured where Blender shows the bones.

Ground truth are the directions of the limbs of the source as Blender evaluates them, and what `retarget` of that frame
gives.
"""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

import bridge
from core import CoreError, forward, rotation
from core.body.mirror import mirror_pose
from core.body.posture import body_axes
from core.editing.contacts import foot_points, point_positions
from core.formats.pose import pose_text
from edits.part_poses import ApplyPose, pose_of_action, pose_of_armature, pose_of_asset, pose_of_text, posed_parts
from edits.retarget import Retargeted, imported
from tests.blender.control_drags import RIGS
from tests.blender.core.figure import bvh_of
from tests.blender.core.flavours import FLAVOURS
from tests.blender.retargets import show_retargeted
from tests.blender.rigs import contents, context, curves, linked_copy, load, make_armature, select
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

CLIP = DATA / "motion" / "cmu_07_12.bvh"
MIXAMO = DATA / "rigs" / "named_mixamo_cm.blend"
VRM = SHARED / "rigs" / "real" / "vrm_example.vrm"
FRAME = 20
SEGMENTS = (("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot"))
SHORTER = {"Rigify on IK": 3.0, "VRM": 0.01}  # degrees: Rigify's IK has other lengths for limbs that bend


def add_walker() -> Any:
    """A Mixamo rig with a captured walk, as an action, beside what is in the scene; it is not the active object."""
    active, mode = context.view_layer.objects.active, context.mode
    with bpy.data.libraries.load(str(MIXAMO), link=False) as (there, wanted):
        wanted.objects = there.objects
    for one in wanted.objects:
        context.scene.collection.objects.link(one)
    walker = next(one for one in wanted.objects if one.type == "ARMATURE")
    walker.name = "walker"
    context.view_layer.update()
    with imported(context, CLIP) as (source, _):
        edit = Retargeted(context, walker, source, (2, 40), plant=False)
    edit.solve()
    edit.write(walker, "walk")
    context.view_layer.objects.active = active
    if mode == "POSE":
        bpy.ops.object.mode_set(mode="POSE")
    return walker


def rigify() -> Any:
    return RIGS["Rigify on IK"]()[0]


def vrm() -> Any:
    (rig,) = load(VRM)
    select(rig, [])
    return rig


TARGETS = {"Rigify on IK": rigify, "VRM": vrm}


def directions(rig: Any) -> np.ndarray:
    """Of the limbs' segments as Blender shows them, (8, 3), left, forward and up of a body that looks ahead."""
    context.view_layer.update()
    roles = bridge.read_roles(rig)
    heads = np.array([rig.pose.bones[bone].head for bone in range(len(rig.pose.bones))]) @ body_axes(roles).T
    ends = [(roles.bone(f"{a}.{side}"), roles.bone(f"{b}.{side}")) for a, b in SEGMENTS for side in "LR"]
    ways = np.array([heads[b] - heads[a] for a, b in ends])
    across = heads[roles.bone("thigh.L")] - heads[roles.bone("thigh.R")]
    turn = np.arctan2(across[1], across[0])
    cos, sin = np.cos(turn), np.sin(turn)
    ways = ways @ np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return ways / np.linalg.norm(ways, axis=-1, keepdims=True)


def degrees(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.degrees(np.arccos(np.clip((a * b).sum(-1), -1.0, 1.0))).max())


def lowest(rig: Any) -> float:
    """The height of the lowest heel, ball or tip of toes, where Blender has their bones."""
    context.view_layer.update()
    body = bridge.read_body(rig)
    places = point_positions(body.skeleton, body.pose, foot_points(body.skeleton, body.roles))
    return min((rig.matrix_world @ Vector(place)).z for place in places)


def apply(rig: Any, tool: ApplyPose) -> Any:
    body = bridge.read_body(rig)
    return bridge.write_body(rig, body, tool.apply(context, rig, body))


@pytest.mark.parametrize("target", TARGETS)
def test_a_frame_of_an_action_goes_to_a_body_as_retargeting_it_does(target: str) -> None:
    rig = TARGETS[target]()
    walker = add_walker()
    context.scene.frame_set(FRAME)
    wanted, stood = directions(walker), lowest(rig)
    context.scene.frame_set(1)
    apply(rig, ApplyPose(pose_of_action(context, rig, walker.animation_data.action, FRAME)))
    found = directions(rig)
    assert degrees(found, wanted) < SHORTER[target]
    assert lowest(rig) == pytest.approx(stood, abs=0.001)
    show_retargeted(rig, walker, FRAME)
    assert degrees(found, directions(rig)) < 0.01


def test_reading_a_pose_changes_nothing_not_even_poses_without_keys_of_others() -> None:
    """Also of the armature that it is read on, whose switch from IK to FK the pose has."""
    rig = rigify()
    walker = add_walker()
    context.scene.frame_set(FRAME)
    walker.pose.bones["mixamorig:LeftArm"].rotation_quaternion = (0.0, 1.0, 0.0, 0.0)  # over its keys
    bone = rig.pose.bones["upper_arm_parent.L"]
    rig.pose.bones["torso"].location.z = -0.1
    action = bpy.data.actions.new("on FK")
    rig.animation_data_create().action = action
    for value, frame in ((1.0, 1), (0.0, 2)):
        bone["IK_FK"] = value
        bone.keyframe_insert('["IK_FK"]', frame=frame)
        rig.pose.bones["upper_arm_fk.L"].rotation_quaternion = (0.8, 0.6 * value, 0.0, 0.0)
        rig.pose.bones["upper_arm_fk.L"].keyframe_insert("rotation_quaternion", frame=frame)
    rig.animation_data.action = None
    context.view_layer.update()
    before = contents(), bone["IK_FK"]
    for one, frame in ((walker.animation_data.action, 2), (action, 1)):
        found = pose_of_action(context, rig, one, frame)
        assert found.posed
    assert "upper_arm.L" in found.posed
    assert "thigh.L" not in found.posed
    assert (contents(), bone["IK_FK"]) == before
    context.view_layer.update()
    assert (contents(), bone["IK_FK"]) == before
    rig.pose.bones["torso"].location.z = 0.0
    bone["IK_FK"], rig.pose.bones["upper_arm_fk.L"].rotation_quaternion = 1.0, (0.8, 0.6, 0.0, 0.0)
    rig.update_tag()
    context.view_layer.update()
    np.testing.assert_allclose(found.turns["upper_arm.L"], pose_of_armature(rig).turns["upper_arm.L"], atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_no_share_changes_nothing_and_half_of_the_way_stands_on_the_ground(target: str) -> None:
    rig = TARGETS[target]()
    walker = add_walker()
    context.scene.frame_set(FRAME)
    start, ground = directions(rig), lowest(rig)
    wanted = directions(walker)
    before = contents()
    choice = {"source": "ACTION", "action": "walk", "use_frame": True, "frame": FRAME}
    assert bpy.ops.poise.blend_pose(factor=0.0, **choice) == {"FINISHED"}
    assert contents() == before
    assert bpy.ops.poise.blend_pose(factor=0.5, **choice) == {"FINISHED"}
    half = directions(rig)
    assert degrees(half, start) > 5.0
    assert degrees(half, wanted) < degrees(start, wanted)
    assert lowest(rig) == pytest.approx(ground, abs=0.001)


def test_a_pose_keeps_place_heading_and_height_of_the_body() -> None:
    rig = vrm()
    walker = add_walker()
    context.scene.frame_set(FRAME)
    wanted = directions(walker)
    legs = bridge.read_roles(rig)
    pelvis = rig.pose.bones[legs.bone("hips")]
    away = Matrix.Translation((1.0, 2.0, 0.5)) @ Matrix.Rotation(2.0, 4, "Z")
    pelvis.matrix = away @ pelvis.matrix
    context.view_layer.update()

    def footing() -> np.ndarray:
        feet = [rig.pose.bones[legs.bone(f"foot.{side}")].head for side in "LR"]
        return np.array([*(sum(feet, Vector()) / 2.0)[:2], lowest(rig)])

    def heading() -> float:
        across = rig.pose.bones[legs.bone("thigh.L")].head - rig.pose.bones[legs.bone("thigh.R")].head
        return float(np.arctan2(across.y, across.x))

    before, ahead = footing(), heading()
    apply(rig, ApplyPose(pose_of_armature(walker)))
    assert degrees(directions(rig), wanted) < SHORTER["VRM"]
    np.testing.assert_allclose(footing(), before, atol=1e-4)
    assert heading() == pytest.approx(ahead, abs=0.1)


def test_a_body_whose_rest_pose_shows_none_gives_its_pose_by_its_motion(tmp_path: Path) -> None:
    """All bones of the clip lie along one axis at rest."""
    path = tmp_path / "clip.bvh"
    path.write_text(bvh_of(FLAVOURS["Character Creator, along one axis"]), encoding="utf-8")
    (source,) = load(path)
    rig = add_walker()
    rig.animation_data.action = None
    frame = 12
    context.scene.frame_set(frame)
    apply(rig, ApplyPose(pose_of_armature(source)))
    found = directions(rig)
    edit = Retargeted(context, rig, source, (1, 24), plant=False)
    edit.solve()
    edit.write(rig)
    context.scene.frame_set(frame)
    assert degrees(found, directions(rig)) < 0.01
    source.animation_data.action = None
    with pytest.raises(CoreError, match="keys of its own"):
        pose_of_armature(source)


def test_mirrored_is_the_mirror_image_and_twice_is_the_pose() -> None:
    rig = vrm()
    walker = add_walker()
    context.scene.frame_set(FRAME)
    pose = pose_of_armature(walker)
    twice = pose.mirrored().mirrored()
    assert twice.turns.keys() == pose.turns.keys()
    for role, turns in pose.turns.items():
        np.testing.assert_array_equal(twice.turns[role], turns)
    body = bridge.read_body(rig)
    plain = ApplyPose(pose).apply(context, rig, body)
    mirrored = ApplyPose(pose.mirrored()).apply(context, rig, body)
    image = mirror_pose(body.skeleton, body.roles, plain)
    heads, turns = forward(body.skeleton, mirrored)
    other_heads, other_turns = forward(body.skeleton, image)
    parts = [bone for role in pose.turns for bone in body.roles.chain(role)]
    assert np.degrees(rotation.angle_between(turns, other_turns)[parts]).max() < 0.1
    off = heads[parts] - other_heads[parts]
    assert np.abs(off - off.mean(axis=0)).max() < 1e-3 * body.skeleton.size


def test_only_the_parts_of_selected_bones_take_a_pose() -> None:
    """On Rigify, the control of a hand on IK stands for its whole arm."""
    rig = rigify()
    add_walker()
    context.scene.frame_set(FRAME)
    select(rig, ["hand_ik.L"])
    before = {bone.name: np.array(bone.matrix) for bone in rig.pose.bones}
    assert bpy.ops.poise.apply_pose(source="ACTION", action="walk", use_frame=True, frame=FRAME) == {"FINISHED"}
    context.view_layer.update()
    moved = {bone.name for bone in rig.pose.bones if np.abs(np.array(bone.matrix) - before[bone.name]).max() > 1e-3}
    assert {"DEF-hand.L", "DEF-forearm.L", "DEF-upper_arm.L"} <= moved
    assert [name for name in moved if name.startswith(("DEF-", "ORG-")) and ".L" not in name] == []
    assert not [name for name in moved if "thigh" in name or "shin" in name or "foot" in name]
    assert posed_parts(rig, ["chest"]) == {"spine"}
    select(rig, ["jaw_master"])
    with pytest.raises(RuntimeError, match='"jaw_master" poses no part of the body'):
        bpy.ops.poise.apply_pose(source="ACTION", action="walk")


def test_auto_keying_keys_what_the_pose_has_changed_in_one_undo_step(monkeypatch: Any) -> None:
    monkeypatch.setattr(context.preferences.edit, "use_keyframe_insert_available", False)
    rig = vrm()
    add_walker()
    context.scene.frame_set(FRAME)
    choice = {"source": "ACTION", "action": "walk", "use_frame": True, "frame": FRAME}
    bpy.ops.poise.apply_pose(**choice)
    assert rig.animation_data is None or rig.animation_data.action is None
    context.scene.tool_settings.use_keyframe_insert_auto = True
    try:
        bpy.ops.ed.undo_push(message="before")
        before = contents()["objects"]
        bpy.ops.poise.apply_pose("EXEC_DEFAULT", True, mirrored=True, **choice)
    finally:
        context.scene.tool_settings.use_keyframe_insert_auto = False
    wanted = directions(rig)
    assert {point.co.x for curve in curves(rig.animation_data.action, rig).values()
            for point in curve.keyframe_points} == {FRAME}  # fmt: skip
    context.scene.frame_set(FRAME + 5)
    assert degrees(directions(rig), wanted) < 0.01
    bpy.ops.ed.undo()
    assert contents()["objects"] == before


def save_asset(rig: Any, name: str) -> Any:
    """What Blender's own operator makes of the selected bones."""
    catalog = {"asset_library_reference": "LOCAL"}
    assert bpy.ops.poselib.create_pose_asset(pose_name=name, **catalog) == {"FINISHED"}
    return bpy.data.actions[name]


def test_a_pose_is_saved_as_an_ordinary_asset_and_goes_from_there_to_a_third_body(tmp_path: Path) -> None:
    """The asset in the file of its rig, which the scene does not have, is read on that rig and leaves nothing."""
    rig = rigify()
    walker = add_walker()
    context.scene.frame_set(FRAME)
    apply(rig, ApplyPose(pose_of_armature(walker)))
    wanted = directions(rig)
    context.scene.frame_set(1)
    select(rig, [bone.name for bone in rig.pose.bones])
    action = save_asset(rig, "step")
    assert action.asset_data is not None
    apply(rig, ApplyPose(pose_of_armature(walker)))
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    here = contents()
    assert pose_of_asset(context, rig, "step", str(path)).posed == pose_of_asset(context, rig, "step").posed != set()
    assert contents() == here  # the library is the open file

    (other,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    select(other, [])
    before = contents()
    pose = pose_of_asset(context, other, "step", str(path))
    assert contents() == before
    apply(other, ApplyPose(pose))
    assert degrees(directions(other), wanted) < 0.1
    with pytest.raises(CoreError, match=r'There is no action "stop" in "library\.blend"'):
        pose_of_asset(context, other, "stop", str(path))
    with pytest.raises(CoreError, match=r"cannot be read as a \.blend file"):
        pose_of_asset(context, other, "step", str(tmp_path / "none.blend"))
    assert contents().keys() == before.keys()


def test_an_asset_of_some_bones_changes_their_parts_only() -> None:
    rig = vrm()
    walker = add_walker()
    context.scene.frame_set(FRAME)
    select(walker, ["mixamorig:LeftArm", "mixamorig:LeftForeArm"])
    action = save_asset(walker, "arm")
    pose = pose_of_action(context, rig, action)
    assert pose.posed == {"upper_arm.L", "forearm.L"}


def test_an_action_is_read_on_the_rig_that_it_poses_and_not_on_bones_of_the_same_names_that_follow_others() -> None:
    """As Rigify's deform bones, which other rigs are exported with and have as their own."""
    walker = add_walker()
    action = walker.animation_data.action
    follower = walker.copy()
    follower.animation_data_clear()
    context.scene.collection.objects.link(follower)
    for bone in follower.pose.bones:
        constraint = bone.constraints.new("COPY_TRANSFORMS")
        constraint.target, constraint.subtarget = walker, bone.name
    walker.name = "another name than that of the slot"
    found, wanted = (pose_of_action(context, follower, action, FRAME, owner) for owner in ("", walker.name))
    assert found.posed == wanted.posed != set()
    for part in wanted.posed:
        np.testing.assert_array_equal(found.turns[part], wanted.turns[part])


def test_an_action_without_its_rig_is_refused_with_the_reason(tmp_path: Path) -> None:
    rig = make_armature()
    walker = add_walker()
    action = walker.animation_data.action
    action.use_fake_user = True
    context.scene.collection.objects.unlink(walker)
    context.view_layer.objects.active = rig
    with pytest.raises(CoreError, match='No armature in the scene has the bones of "walk", such as "mixamorig:Head"'):
        pose_of_action(context, rig, action)
    linked = linked_copy(walker, tmp_path / "rig.blend")
    bpy.data.objects.remove(walker)
    with pytest.raises(CoreError, match="linked"):
        pose_of_action(context, rig, action)
    bpy.data.objects.remove(linked)
    with pytest.raises(CoreError, match='The scene has no armature "Bob"'):
        pose_of_action(context, rig, action, owner="Bob")
    with pytest.raises(CoreError, match='There is no action "run"'):
        pose_of_asset(context, rig, "run")


def test_a_frame_beyond_the_action_is_refused() -> None:
    rig = make_armature()
    action = add_walker().animation_data.action
    first, last = action.frame_range
    with pytest.raises(CoreError, match=f'Frame {last + 1:g} is outside of "walk", which has frames {first:g} to'):
        pose_of_action(context, rig, action, last + 1)


def test_a_pose_is_pasted_on_another_body() -> None:
    rig = vrm()
    walker = add_walker()
    context.scene.frame_set(FRAME)
    wanted = directions(walker)
    bpy.ops.object.mode_set(mode="OBJECT")
    context.view_layer.objects.active = walker
    context.window_manager.clipboard = ""
    assert bpy.ops.poise.copy_pose() == {"FINISHED"}
    text = context.window_manager.clipboard or pose_text(pose_of_armature(walker))  # there is none without a window
    apply(rig, ApplyPose(pose_of_text(text)))
    assert degrees(directions(rig), wanted) < SHORTER["VRM"]
    with pytest.raises(CoreError, match="The clipboard has no pose from Copy Pose by Parts: it is not JSON"):
        pose_of_text("hello")
