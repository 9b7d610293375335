"""Which controls lead which parts of a driven body."""

from typing import Any

import bpy
import pytest

from bridge.pick_order import FIRST, LAST, read_pick_order
from edits.info import describe
from tests.blender.control_rigs import BUILT
from tests.blender.rigs import put_on_fk, select, set_hidden


@pytest.mark.parametrize("fk", [0.0, 1.0])
def test_the_controls_are_those_that_an_animator_keys(human: Any, fk: float) -> None:
    put_on_fk(human, fk)
    controls = describe(human)["controls"]
    assert controls["hips"] == "torso"
    assert controls["head"] == "head"
    for side in "LR":
        for part in ("upper_arm", "hand", "thigh", "foot", "toe"):
            assert controls[f"{part}.{side}"] == f"{part}_{'fk' if fk else 'ik'}.{side}"
        for part in ("forearm", "shin"):
            assert controls.get(f"{part}.{side}") == (f"{part}_fk.{side}" if fk else None)
        assert controls[f"shoulder.{side}"] == f"shoulder.{side}"
        assert controls[f"index.{side}"] == [f"f_index.0{joint}.{side}" for joint in (1, 2, 3)]


def test_the_mouse_does_not_take_the_root_for_a_control_of_the_hips_that_is_hidden(empty_file: None) -> None:
    rig = BUILT["Auto-Rig Pro on IK"].make()
    select(rig, [])
    controls, order = describe(rig)["controls"], read_pick_order(rig)
    assert order["c_root_master.x"] == FIRST
    assert order["c_traj"] == LAST
    set_hidden(rig.pose.bones["c_root_master.x"])
    assert describe(rig)["controls"] == controls
    assert read_pick_order(rig) == order


@pytest.mark.parametrize("control", ["torso", "foot_ik.L", "hand_ik.L", "spine_fk.003", "head"])
def test_a_control_that_an_animator_has_hidden_still_poses_its_part(human: Any, control: str) -> None:
    controls = describe(human)["controls"]
    set_hidden(human.pose.bones[control])
    assert describe(human)["controls"] == controls


@pytest.mark.parametrize("control", ["torso", "hand_ik.L"])
def test_a_pivot_below_a_control_poses_nothing(human: Any, control: str) -> None:
    controls = describe(human)["controls"]
    bpy.ops.object.mode_set(mode="EDIT")  # as Rigify makes its Custom Pivots
    bones = human.data.edit_bones
    above, pivot, back = bones[control], bones.new("pivot"), bones.new("MCH-back")
    for bone in (pivot, back):
        bone.head, bone.tail, bone.roll = above.head, above.tail, above.roll
    for child in above.children:
        child.parent = back
    pivot.parent, back.parent = above, pivot
    bpy.ops.object.mode_set(mode="POSE")
    human.pose.bones["pivot"].custom_shape = human.pose.bones[control].custom_shape
    counter = human.pose.bones["MCH-back"].constraints.new("COPY_LOCATION")
    counter.target, counter.subtarget, counter.owner_space, counter.target_space = human, "pivot", "LOCAL", "LOCAL"
    counter.invert_x = counter.invert_y = counter.invert_z = True
    bpy.context.view_layer.update()
    assert describe(human)["controls"] == controls


def test_the_mouse_takes_a_bone_that_only_has_settings_last(human: Any) -> None:
    order = read_pick_order(human)
    assert {order[f"{part}_parent.{side}"] for part in ("thigh", "upper_arm") for side in "LR"} == {LAST}
    assert order["torso"] == FIRST


@pytest.mark.parametrize("hidden", [False, True])
def test_controls_that_hang_on_deforming_bones_pose_these_where_they_are_hidden(empty_file: None, hidden: bool) -> None:
    rig = BUILT["Auto-Rig Pro on IK"].make()
    select(rig, [])
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for control, above in (
        ("c_spine_01.x", "root.x"),
        ("c_spine_02.x", "spine_01.x"),
        ("c_neck.x", "spine_02.x"),
        ("c_head.x", "neck.x"),
    ):
        bones[control].parent = bones[above]
        bones[control].tail = bones[control].head + 0.1 * bones["root.x"].z_axis  # a direction of its own
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.collections["Mechanism"].is_visible = not hidden
    bpy.context.view_layer.update()
    found = describe(rig)["controls"]
    names = [name for some in found.values() for name in ([some] if isinstance(some, str) else some)]
    assert len(names) > 8
    assert all(name.startswith("c_") for name in names) == hidden
