"""What a job says about the whole body: root, limits, stiffness, joint targets, stretch. Measured in Blender."""

from typing import Any

import bpy
import numpy as np
import pytest

from core.formats.job import parse
from edits.job import perform_job
from tests.blender.rigs import contents, make_armature, make_walk, turn, world

pytestmark = pytest.mark.usefixtures("empty_file")

POSITION = 0.001  # metres, the default tolerance
REACH = (0.45, -0.3, 1.3)  # a place for hand.L that the arm reaches
ARM = ("upper_arm.L", "forearm.L")


def body(walking: bool = False) -> Any:
    rig = make_armature()
    if walking:
        make_walk(rig)
    return rig


def done(rig: Any, goals: list[dict[str, Any]], **fields: Any) -> Any:
    """The report of a job; without frames unless there are some."""
    return perform_job(bpy.context, rig, parse({"version": 1, "goals": goals, **fields}))


def hand(place: Any = REACH, **fields: Any) -> dict[str, Any]:
    return {"bone": "hand.L", "position": list(place), **fields}


def missed(rig: Any, place: Any = REACH) -> float:
    return float(np.linalg.norm(world(rig, "hand.L") - place))


def angle(rig: Any, bone: str) -> float:
    """Degrees that a bone is turned by."""
    return float(np.degrees(rig.pose.bones[bone].rotation_quaternion.angle))


# --- root


def test_a_pulled_root_stays_while_the_arm_reaches_and_comes_along_where_it_does_not() -> None:
    rig = body()
    assert done(rig, [hand()], root="pull").met
    assert missed(rig) < POSITION
    assert np.linalg.norm(world(rig, "hips") - (0, 0, 1)) < 0.01
    far = (1.5, -0.5, 1.3)
    assert done(rig, [hand(far)], root="pull").met
    assert missed(rig, far) < POSITION
    assert np.linalg.norm(world(rig, "hips") - (0, 0, 1)) > 0.3


@pytest.mark.parametrize("root", ["fixed", "translate"])
def test_a_root_that_may_not_turn_does_not(root: str) -> None:
    rig = body()
    report = done(rig, [hand((1.5, -0.5, 1.3))], root=root)
    assert angle(rig, "hips") < 1e-3
    assert report.met == (root == "translate")
    assert (np.linalg.norm(world(rig, "hips") - (0, 0, 1)) < 1e-5) == (root == "fixed")


# --- limits


@pytest.mark.parametrize(("limits", "met"), [(True, False), ("soft", True), (False, True)])
def test_limits_hold_give_way_or_are_off(limits: Any, met: bool) -> None:
    rig = body()
    for name in ("upper_arm.L", "forearm.L", "spine", "chest"):
        bone = rig.pose.bones[name]
        for axis in "xyz":
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", np.radians(-10.0))
            setattr(bone, f"ik_max_{axis}", np.radians(10.0))
    report = done(rig, [hand()], root="fixed", limits=limits)
    assert report.met == met
    largest = max(angle(rig, name) for name in ARM)
    assert (largest > 20.0) == met
    if limits is True:
        assert "limit" in report.explanations[0]


@pytest.mark.parametrize("within", [True, False])
def test_joints_go_as_far_as_those_of_people_unless_the_job_says_otherwise(within: bool) -> None:
    rig = body()
    turned = {"bone": "head", "rotation": [np.cos(np.radians(75.0)), 0.0, 0.0, np.sin(np.radians(75.0))]}
    goals = [{"bone": "chest", "pin": ["rotation"]}, turned]
    report = done(rig, goals, root="fixed", **({} if within else {"anatomical_limits": False}))
    assert report.met == (not within)
    w, _, y, _ = rig.pose.bones["head"].rotation_quaternion
    assert np.degrees(2.0 * np.arctan2(y, w)) == pytest.approx(75.0 if within else 150.0, abs=0.5)


@pytest.mark.parametrize("within", [True, False])
def test_a_shoulder_led_by_a_list_goes_as_far_as_that_of_people_unless_the_job_says_otherwise(within: bool) -> None:
    rig = body()
    turning = [{"bone": "upper_arm.L", "axis": axis} for axis in "XYZ"]
    shoulder, wrist = (np.array(rig.pose.bones[name].head) for name in ("upper_arm.L", "hand.L"))
    behind = shoulder + np.array([0.0, np.linalg.norm(wrist - shoulder), 0.0])  # the body faces -Y
    job = {} if within else {"anatomical_limits": False}
    report = done(rig, [hand(behind)], method={"name": "ccd", "list": turning}, **job)
    assert report.met == (not within)
    assert ("limit" in "".join(report.explanations)) == within
    assert (missed(rig, behind) > 0.01) == within


def test_soft_limits_are_not_left_without_need() -> None:
    turned = {}
    for limits in ("soft", False):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = body()
        bone = rig.pose.bones["upper_arm.L"]
        for axis in "xyz":
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", np.radians(-5.0))
            setattr(bone, f"ik_max_{axis}", np.radians(5.0))
        assert done(rig, [hand()], root="fixed", limits=limits).met
        turned[limits] = angle(rig, "upper_arm.L")
    assert turned["soft"] < 0.7 * turned[False]


# --- stiffness


def test_a_stiff_bone_does_not_turn_and_the_others_do() -> None:
    rig = body()
    report = done(rig, [hand()], stiffness={"spine": 1, "chest": 1.0, "hips": 1})
    assert report.met
    assert not {"spine", "chest", "hips"} & set(report.rotated)
    assert set(ARM) <= set(report.rotated)


def test_stiffness_is_about_the_bones_own_axes() -> None:
    rig = body()
    done(rig, [hand((0.3, -0.4, 1.2))], stiffness={"upper_arm.L": [1, 0, 1]}, root="fixed")
    _, x, y, z = rig.pose.bones["upper_arm.L"].rotation_quaternion
    assert abs(x) < 1e-4
    assert abs(z) < 1e-4
    assert abs(y) > 0.01


def test_stiffness_takes_the_place_of_the_bones_own() -> None:
    rig = body()
    for name in ARM:
        for axis in "xyz":
            setattr(rig.pose.bones[name], f"ik_stiffness_{axis}", 0.99)
    done(rig, [hand()], root="fixed")
    stiff = angle(rig, "upper_arm.L")
    for bone in rig.pose.bones:
        bone.rotation_quaternion = (1, 0, 0, 0)
    done(rig, [hand()], root="fixed", stiffness=dict.fromkeys(ARM, 0))
    assert angle(rig, "upper_arm.L") > 1.5 * stiff


# --- joint targets


def test_joints_go_to_rest_as_far_as_the_goals_let_them_and_the_body_stays_where_it_is() -> None:
    bent = {}
    for targets in ("present", "rest"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = body(walking=True)
        for bone in ("spine", "chest"):
            turn(rig, bone, 0.5)
            rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=1)
        report = done(rig, [hand()], joint_targets=targets, frames=[1, 20])
        assert report.met
        spines, hips = [], []
        for frame in range(1, 21):
            bpy.context.scene.frame_set(frame)
            assert missed(rig) < POSITION
            spines.append(angle(rig, "spine") + angle(rig, "chest"))
            hips.append(world(rig, "hips"))
        bent[targets] = np.mean(spines)
        assert np.ptp(np.array(hips)[:, 1:], axis=0).max() > 0.2  # they travel as they did
    assert bent["rest"] < 0.5 * bent["present"]


# --- stretch


def elastic(walking: bool = False) -> Any:
    rig = body(walking)
    for name in ARM:
        rig.pose.bones[name].ik_stretch = 1.0
        for axis in "xyz":
            setattr(rig.pose.bones[name], f"ik_stiffness_{axis}", 0.0)
    return rig


FAR = (0.80, 0.0, 1.4)  # 2.5 % further than the arm is long
STIFF = {"root": "fixed", "stiffness": dict.fromkeys(("spine", "chest"), 1)}


def test_bones_stretch_only_where_the_job_says_so() -> None:
    rig = elastic()
    report = done(rig, [hand(FAR)], **STIFF)
    assert not report.met
    assert report.grown == ()
    assert all(tuple(bone.scale) == (1, 1, 1) for bone in rig.pose.bones)
    report = done(rig, [hand(FAR)], **STIFF, stretch=True)
    assert report.met, report.explanations
    assert missed(rig, FAR) < POSITION
    assert set(report.grown) == set(ARM)
    for bone in rig.pose.bones:
        assert bone.scale[0] == bone.scale[2] == 1.0
        assert (bone.scale[1] > 1.01) if bone.name in ARM else (bone.scale[1] == 1.0)


def test_stretch_is_keyed_for_the_bones_that_grew_and_along_them_only() -> None:
    rig = elastic(walking=True)
    before = contents()["actions"]["walk"]
    report = done(rig, [hand(FAR)], **STIFF, stretch=True, frames=[3, 12])
    for frame in range(3, 13):
        bpy.context.scene.frame_set(frame)
        assert np.linalg.norm(world(rig, "hand.L") - FAR) < POSITION or not report.met
    scaled = {(path, index) for path, index, _ in contents()["actions"][report.action] if path.endswith("scale")}
    assert scaled == {(f'pose.bones["{name}"].scale', 1) for name in report.grown}
    assert set(report.grown) == set(ARM)
    assert contents()["actions"]["walk"] == before


@pytest.mark.parametrize("how", ["lock", "no stretch", "not written"])
def test_a_bone_that_may_not_grow_does_not(how: str) -> None:
    rig = elastic()
    fields: dict[str, Any] = {"stretch": True, **STIFF}
    if how == "lock":
        rig.pose.bones["forearm.L"].lock_scale = (False, True, False)
    elif how == "no stretch":
        rig.pose.bones["forearm.L"].ik_stretch = 0.0
    else:
        fields["write"] = {"bones": ["upper_arm.L", "hand.L"]}
    report = done(rig, [hand(FAR)], **fields)
    assert report.grown == ("upper_arm.L",)
    assert rig.pose.bones["forearm.L"].scale[1] == 1.0


def test_a_goal_in_reach_stretches_nothing_to_speak_of() -> None:
    rig = elastic()
    assert done(rig, [hand()], stretch=True).met
    assert max(abs(rig.pose.bones[name].scale[1] - 1.0) for name in ARM) < 0.01


@pytest.mark.parametrize("mode", ["FULL", "NONE", "AVERAGE", "ALIGNED"])
def test_what_hangs_on_a_stretched_bone_is_where_blender_has_it(mode: str) -> None:
    rig = elastic()
    for name in (*ARM, "hand.L"):
        rig.data.bones[name].inherit_scale = mode
    report = done(rig, [hand(FAR)], **STIFF, stretch=True)
    assert report.goals[0].position_error == pytest.approx(missed(rig, FAR), abs=1e-6)
    assert missed(rig, FAR) < POSITION
