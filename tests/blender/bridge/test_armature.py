"""Reading and writing armatures: what is limited and locked, what is written, and what is refused."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from bridge import (
    BridgeError,
    PoseWriter,
    armature_to_world,
    check,
    read_matrices,
    read_pose,
    read_rig,
    world_matrix,
    world_to_armature,
    write_pose,
)
from core import EllipticSwing, EulerBox, Pose, forward_matrices, rotation
from core.limits import excess
from tests.blender.bridge.rigs import CLOSE, MODES, error, evaluate
from tests.blender.rigs import chain, context, diagonal, load, set_random_pose
from tests.paths import DATA

# --- what is read


def test_a_pose_without_scale_carries_none() -> None:
    ob = chain(2)
    assert read_pose(ob, read_rig(ob)).scales is None
    ob.pose.bones[1].scale = (1.0, 2.0, 1.0)
    scales = read_pose(ob, read_rig(ob)).scales
    assert scales is not None
    assert np.array_equal(scales[1], (1.0, 2.0, 1.0))


def test_locks_tell_what_may_move() -> None:
    ob = chain(6, connect=False)
    bones = ob.pose.bones
    bones[0].lock_location = (False, True, False)
    bones[1].lock_rotations_4d, bones[1].lock_rotation = False, (True, False, False)
    bones[2].lock_rotation = (True, True, True)
    bones[3].lock_rotations_4d, bones[3].lock_rotation_w = True, True
    bones[4].lock_ik_z = True
    bones[5].rotation_mode = "XYZ"  # 4D locks are about quaternions and axis-angle
    bones[5].lock_rotations_4d, bones[5].lock_rotation_w = True, True
    ob.data.bones["bone1"].use_inherit_rotation = False
    skeleton = read_rig(ob).skeleton
    assert skeleton.movable.tolist() == [True, True, False, False, True, True]
    assert skeleton.rotation_locks[[1, 4]].tolist() == [[True, False, False], [False, False, True]]
    assert skeleton.translatable[0].tolist() == [True, False, True]
    assert skeleton.inherit_rotation.tolist() == [True, False, True, True, True, True]


@pytest.mark.parametrize(
    ("locks", "quaternion", "movable"),
    [
        ((False, True, True), (1.0, 0.0, 0.0, 0.0), True),
        ((False, True, True), (0.8, 0.6, 0.0, 0.0), True),
        ((True, False, True), (0.8, 0.0, 0.6, 0.0), True),
        ((False, True, True), (0.8, 0.0, 0.6, 0.0), False),
        ((False, False, True), (1.0, 0.0, 0.0, 0.0), False),
    ],
)
def test_two_quaternion_components_locked_at_zero_make_a_hinge(locks: Any, quaternion: Any, movable: bool) -> None:
    ob = chain(1)
    bone = ob.pose.bones[0]
    assert bone.lock_rotations_4d  # as Blender makes every bone
    bone.lock_rotation, bone.rotation_quaternion = locks, quaternion
    skeleton = read_rig(ob).skeleton
    assert skeleton.movable[0] == movable
    assert not movable or skeleton.rotation_locks[0].tolist() == list(locks)


def test_a_connected_bone_cannot_be_translated() -> None:
    skeleton = read_rig(chain(3)).skeleton
    assert skeleton.connected.tolist() == [False, True, True]
    assert skeleton.translatable.any(axis=1).tolist() == [True, False, False]


def test_ik_limits_and_stiffness_are_read() -> None:
    ob = chain(2)
    bone = ob.pose.bones[1]
    bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -0.5, 0.75
    bone.use_ik_limit_y, bone.ik_min_y, bone.ik_max_y = True, -0.25, 0.5
    bone.ik_stiffness_z = 0.5
    skeleton = read_rig(ob).skeleton
    (limit,) = skeleton.limits
    assert isinstance(limit, EllipticSwing)
    assert limit.bones.tolist() == [1]
    inside, outside = (rotation.to_matrix(rotation.from_euler([[x, 0.0, 0.0]])) for x in (0.7, 0.8))
    assert not excess(limit, limit.coordinates(inside)).any()
    assert excess(limit, limit.coordinates(outside)).any()
    assert np.allclose(skeleton.stiffness, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.5]])


def test_ik_stretch_is_read_unless_the_length_is_locked_or_driven() -> None:
    ob = chain(4)
    for bone, stretch in zip(ob.pose.bones, (0.0, 0.25, 1.0, 0.5), strict=True):
        bone.ik_stretch = stretch
    ob.pose.bones[2].lock_scale = (False, True, False)
    constraint = ob.pose.bones[3].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = ob, "bone0"
    assert read_rig(ob).skeleton.stretch.tolist() == [0.0, 0.25, 0.0, 0.0]
    ob.pose.bones[2].lock_scale = (True, False, True)
    assert read_rig(ob).skeleton.stretch[2] == 1.0


# --- Limit Rotation


def limit_rotation(bone: Any, **values: Any) -> Any:
    constraint = bone.constraints.new("LIMIT_ROTATION")
    constraint.owner_space = "LOCAL"
    for name, value in values.items():
        setattr(constraint, name, value)
    return constraint


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "YZX"])
def test_limit_rotation_is_read_as_blender_clamps_it(mode: str, legacy: bool) -> None:
    rng = np.random.default_rng(5)
    for order in ("AUTO", "XYZ", "ZXY"):
        ob = chain(4)
        for bone in ob.pose.bones:
            bone.rotation_mode = mode
            ends = np.sort(rng.uniform(-2.0, 2.0, (3, 2)), axis=1)
            if not legacy and bone.name == "bone1":
                ends += 2.5  # across the half turn
            if not legacy and bone.name == "bone2":
                ends = ends[:, ::-1]  # an empty range
            limit_rotation(
                bone,
                euler_order=order,
                use_legacy_behavior=legacy,
                **{f"use_limit_{a}": bool(rng.random() < 0.7) for a in "xyz"},
                **{f"min_{a}": low for a, low in zip("xyz", ends[:, 0], strict=True)},
                **{f"max_{a}": high for a, high in zip("xyz", ends[:, 1], strict=True)},
            )
        assert not read_rig(ob).driven
        for number in range(24):
            set_random_pose(ob, rng, 1.0, ("none", "uniform", "any")[number % 3])
            assert error(ob) < CLOSE


def test_limit_rotation_on_a_mirrored_bone_is_read_as_blender_clamps_it() -> None:
    ob = chain(3)
    limit_rotation(ob.pose.bones[1], use_limit_x=True, min_x=-0.3, max_x=0.4)
    rng = np.random.default_rng(6)
    for scale in ((-1.0, 1.0, 1.0), (1.0, -2.0, 1.0), (-1.0, -1.0, -1.0)):
        set_random_pose(ob, rng, 1.0)
        ob.pose.bones[1].scale = scale
        evaluate(ob)
        assert error(ob) < CLOSE


def test_limit_rotation_in_local_space_is_a_limit_for_solvers() -> None:
    ob = chain(3)
    limit_rotation(ob.pose.bones[1], use_limit_z=True, min_z=-0.5, max_z=0.25)
    (limit,) = read_rig(ob).skeleton.limits
    assert isinstance(limit, EulerBox)
    assert (limit.bones.tolist(), limit.orders) == ([1], ("XYZ",))
    assert np.allclose(limit.lower[0], [-np.inf, -np.inf, -0.5])
    assert np.allclose(limit.upper[0], [np.inf, np.inf, 0.25])


@pytest.mark.parametrize(
    "change",
    [
        {"owner_space": "WORLD"},
        {"owner_space": "POSE"},
        {"owner_space": "LOCAL_WITH_PARENT"},
        {"influence": 0.5},
    ],
)
def test_other_limit_rotations_drive_the_bone(change: dict[str, Any]) -> None:
    ob = chain(3)
    limit_rotation(ob.pose.bones[1], use_limit_x=True, min_x=-0.1, max_x=0.1, **change)
    assert read_rig(ob).driven == {"bone1": 'constraint "Limit Rotation" on "bone1"'}
    set_random_pose(ob, np.random.default_rng(7), 1.0)
    assert error(ob) < CLOSE


def test_b_bones_change_neither_matrices_nor_children() -> None:
    ob = chain(4)
    for bone in ob.data.bones:
        bone.bbone_segments = 8
    ob.pose.bones[1].bbone_curveinx, ob.pose.bones[1].bbone_rollout = 0.5, 1.0
    assert not read_rig(ob).driven
    set_random_pose(ob, np.random.default_rng(12), 1.0)
    assert error(ob) < CLOSE


# --- what is written


@pytest.mark.parametrize("mode", MODES)
def test_what_is_written_is_the_pose_that_blender_shows(mode: str) -> None:
    ob = chain(4, connect=False)
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    rig = read_rig(ob)
    rng = np.random.default_rng(13)
    pose = Pose(rotation.normalize(rng.normal(size=(4, 4))), rng.normal(size=(4, 3)))
    write_pose(ob, rig, pose, range(4))
    context.view_layer.update()
    assert np.abs(read_matrices(ob) - forward_matrices(rig.skeleton, pose)).max() < CLOSE * diagonal(rig.skeleton)


def test_only_the_chosen_bones_are_written() -> None:
    ob = chain(4, connect=False)
    rng = np.random.default_rng(14)
    set_random_pose(ob, rng, 1.0, "any")
    before = channels_of(ob)
    rig = read_rig(ob)
    pose = Pose(rotation.normalize(rng.normal(size=(4, 4))), rng.normal(size=(4, 3)))
    write_pose(ob, rig, pose, [2])
    after = channels_of(ob)
    changed = {name for name, values in after.items() if values != before[name]}
    assert changed == {("bone2", "location"), ("bone2", "rotation_quaternion")}


def channels_of(ob: Any) -> dict[tuple[str, str], tuple[float, ...]]:
    names = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
    return {(bone.name, name): tuple(getattr(bone, name)) for bone in ob.pose.bones for name in names}


def test_locked_channels_are_not_written() -> None:
    ob = chain(5, connect=False)
    bones = ob.pose.bones
    rng = np.random.default_rng(15)
    bones[0].rotation_mode = "YXZ"
    bones[0].lock_rotation, bones[0].lock_location = (False, True, False), (True, False, False)
    bones[1].lock_rotations_4d, bones[1].lock_rotation = False, (False, False, True)
    bones[2].lock_rotations_4d, bones[2].lock_rotation = True, (True, False, False)
    constraint = bones[3].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = ob, "bone0"
    for bone in bones:
        bone.rotation_euler, bone.rotation_quaternion = (0.1, 0.2, 0.3), rotation.from_euler([0.1, 0.2, 0.3])
    before = channels_of(ob)
    euler_before = rotation.to_euler(bones[1].rotation_quaternion)
    rig = read_rig(ob)
    write_pose(ob, rig, Pose(rotation.exp(rng.normal(size=(5, 3))), rng.normal(size=(5, 3))), range(5))
    after = channels_of(ob)
    assert after["bone0", "rotation_euler"][1] == before["bone0", "rotation_euler"][1]
    assert after["bone0", "rotation_euler"][0] != before["bone0", "rotation_euler"][0]
    assert after["bone0", "location"][0] == before["bone0", "location"][0]
    assert after["bone0", "location"][1] != before["bone0", "location"][1]
    assert abs(rotation.to_euler(bones[1].rotation_quaternion)[2] - euler_before[2]) < CLOSE
    assert after["bone1", "rotation_quaternion"] != before["bone1", "rotation_quaternion"]
    for name in ("bone2", "bone3"):
        assert after[name, "rotation_quaternion"] == before[name, "rotation_quaternion"]
    assert after["bone3", "location"] == before["bone3", "location"]
    assert after["bone4", "rotation_quaternion"] != before["bone4", "rotation_quaternion"]


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "QUATERNION"])
@pytest.mark.parametrize("now", [155.0, -170.0, 10.0])
def test_a_bone_with_one_free_angle_turns_by_that_however_far_it_is(mode: str, now: float) -> None:
    ob = chain(1)
    bone = ob.pose.bones[0]
    bone.rotation_mode, bone.lock_rotation, bone.lock_rotations_4d = mode, (True, False, True), False
    if mode == "QUATERNION":
        bone.rotation_quaternion = rotation.from_euler(np.radians((0.0, now, 0.0)))
    else:
        bone.rotation_euler = np.radians((0.0, now, 0.0))
    wanted = rotation.from_euler(np.radians((0.0, -45.0, 0.0)))
    evaluate(ob)
    pose = PoseWriter(rig := read_rig(ob), [0]).write(ob, Pose(wanted[None], np.zeros((1, 3))))
    evaluate(ob)
    assert rotation.angle_between(np.array(bone.matrix_basis.to_quaternion()), wanted) < CLOSE
    assert np.allclose(read_pose(ob, rig).rotations, pose.rotations, atol=CLOSE)
    if mode != "QUATERNION":
        assert tuple(bone.rotation_euler)[::2] == (0.0, 0.0)


def test_lengths_are_written_where_a_bone_may_stretch_and_nothing_else_of_the_scale() -> None:
    ob = chain(4)
    rng = np.random.default_rng(16)
    set_random_pose(ob, rng, 1.0, "any")
    for bone in ob.pose.bones:
        bone.ik_stretch = 0.5
    ob.pose.bones[1].ik_stretch = 0.0
    ob.pose.bones[2].lock_scale[1] = True
    before = channels_of(ob)
    rig = read_rig(ob)
    pose = read_pose(ob, rig)
    pose = Pose(pose.rotations, pose.translations, rng.uniform(0.5, 1.5, (4, 3)))
    write_pose(ob, rig, pose, [], [0, 1, 2])
    after = channels_of(ob)
    assert {name for name, values in after.items() if values != before[name]} == {("bone0", "scale")}
    old, new = before["bone0", "scale"], after["bone0", "scale"]
    assert new == (old[0], pytest.approx(pose.scales[0, 1]), old[2])
    write_pose(ob, rig, Pose(pose.rotations, pose.translations), range(4), range(4))
    assert all(channels_of(ob)[name] == after[name] for name in after if name[1] == "scale")


@pytest.mark.parametrize(
    ("mode", "channel", "values"),
    [
        ("QUATERNION", "rotation_quaternion", (-0.8, -0.6, 0.0, 0.0)),
        ("ZYX", "rotation_euler", (7.0, 0.5, -8.0)),
        ("ZYX", "rotation_euler", (0.2, 2.5, 0.1)),
        ("AXIS_ANGLE", "rotation_axis_angle", (9.0, 0.0, -1.0, 0.0)),
    ],
)
def test_writing_what_was_read_changes_no_value(mode: str, channel: str, values: tuple[float, ...]) -> None:
    ob = chain(1)
    bone = ob.pose.bones[0]
    bone.rotation_mode = mode
    setattr(bone, channel, values)
    rig = read_rig(ob)
    write_pose(ob, rig, read_pose(ob, rig), [0])
    assert np.allclose(getattr(bone, channel), values, atol=1e-5)


# --- spaces


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (0.01, 0.01, 0.01), (2.0, 1.0, 0.5), (-1.0, 1.0, 1.0)])
def test_world_and_armature_space_lead_to_each_other(scale: tuple[float, float, float]) -> None:
    ob = chain(2)
    ob.rotation_euler, ob.location, ob.scale = (0.3, -1.0, 2.0), (5.0, 6.0, 7.0), scale
    context.view_layer.update()
    matrix = world_matrix(ob)
    rng = np.random.default_rng(16)
    points, turns = rng.normal(size=(6, 3)), rotation.normalize(rng.normal(size=(6, 4)))
    moved, turned = armature_to_world(matrix, points, turns)
    assert moved is not None
    assert turned is not None
    assert np.allclose(moved, [ob.matrix_world @ Vector(point) for point in points], atol=CLOSE)
    back, unturned = world_to_armature(matrix, moved, turned)
    assert back is not None
    assert unturned is not None
    assert np.allclose(back, points, atol=1e-9)
    assert np.allclose(rotation.angle_between(unturned, turns), 0.0, atol=1e-7)


def test_a_flat_object_has_no_way_back_from_the_world() -> None:
    with pytest.raises(BridgeError, match="scale of zero"):
        world_to_armature(np.diag([1.0, 0.0, 1.0, 1.0]), np.zeros(3))


# --- what is refused


def test_no_object_is_refused() -> None:
    with pytest.raises(BridgeError, match="no active object"):
        check(None)


def test_an_object_that_is_no_armature_is_refused(empty_file: None) -> None:
    with pytest.raises(BridgeError, match='"thing" is not an armature'):
        read_rig(bpy.data.objects.new("thing", None))


def test_an_armature_without_bones_is_refused(empty_file: None) -> None:
    with pytest.raises(BridgeError, match="has no bones"):
        read_rig(bpy.data.objects.new("bare", bpy.data.armatures.new("bare")))


def test_an_armature_in_edit_mode_is_refused() -> None:
    ob = chain(2)
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(BridgeError, match="Edit Mode"):
        read_rig(ob)


def test_an_armature_that_is_not_evaluated_is_refused() -> None:
    ob = chain(2)
    ob.hide_viewport = True
    with pytest.raises(BridgeError, match="Show it first"):
        read_rig(ob)


def test_a_linked_armature_is_read_but_changed_only_as_an_override(tmp_path: Path) -> None:
    file = tmp_path / "library.blend"
    chain(3)
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    libraries: Any = bpy.data.libraries
    with libraries.load(str(file), link=True) as (_, wanted):
        wanted.objects = ["rig"]
    linked: Any = bpy.data.objects["rig"]
    context.scene.collection.objects.link(linked)
    assert len(read_rig(linked).skeleton) == 3
    with pytest.raises(BridgeError, match="Make a library override"):
        check(linked)
    override = linked.override_create(remap_local_usages=True)
    check(override)
    write_pose(override, read_rig(override), Pose(rotation.exp(np.full((3, 3), 0.2)), np.zeros((3, 3))), range(3))
    assert abs(override.pose.bones[1].rotation_quaternion[1]) > 0.05


def test_the_reasons_name_what_drives_the_shipped_rig() -> None:
    ob = load(DATA / "rigs" / "odd_constraints_locks_driver.blend")[0]
    rig = read_rig(ob)
    assert rig.driven == {
        "shoulder.R": 'constraint "Copy Rotation" on "shoulder.R"',
        "forearm.L": 'constraint "IK" on "forearm.L" (Inverse Kinematics)',
        "upper_arm.L": 'constraint "IK" on "forearm.L" (Inverse Kinematics)',
        "shin.L": 'constraint "IK" on "shin.L" (Inverse Kinematics)',
        "thigh.L": 'constraint "IK" on "shin.L" (Inverse Kinematics)',
        "neck": 'driver on rotation_quaternion of "neck"',
    }
    assert sorted(type(limit).__name__ for limit in rig.skeleton.limits) == ["EllipticSwing", "EulerBox"]
