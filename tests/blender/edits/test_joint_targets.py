"""A pose, an action or a pose asset as what joints stay near, and velocities as goals."""

from typing import Any

import bpy
import numpy as np
import pytest

from core import CoreError
from core.formats.job import parse
from edits.job import perform_job
from edits.pins import job_from_pins
from tests.blender.edits.rigs import stand
from tests.blender.rigs import context, make_armature, make_walk, select, turn, world

pytestmark = pytest.mark.usefixtures("empty_file")
FEET = [{"bone": f"foot.{side}", "pin": ["position"]} for side in "LR"]
BENT, ARM = ("upper_arm.L", 0.6), "upper_arm.R"
NEAR = 1e-3


@pytest.fixture
def rig() -> Any:
    """A body with an action "wave" in which the arms are turned, and no action of its own."""
    object = make_armature()
    make_action(object, "wave", {BENT[0]: BENT[1], ARM: -0.4})
    select(object, [])
    return object


def make_action(rig: Any, name: str, angles: dict[str, float]) -> Any:
    """An action of one pose, as a pose asset is; the armature stays as it was."""
    for bone, angle in angles.items():
        turn(rig, bone, angle)
        rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=1)
    action = rig.animation_data.action
    action.name = name
    rig.animation_data_clear()
    for bone in angles:
        turn(rig, bone, 0.0)
    context.view_layer.update()
    return action


def turned(rig: Any, bone: str) -> float:
    """How far the bone is from rest, in radians."""
    context.view_layer.update()
    return float(rig.pose.bones[bone].matrix_basis.to_quaternion().angle)


def solve(rig: Any, goals: list[dict[str, Any]], **fields: Any) -> Any:
    return perform_job(context, rig, parse({"version": 1, "space": "armature", "goals": goals, **fields}))


def test_joints_go_to_the_pose_of_an_action_as_far_as_the_goals_let_them(rig: Any) -> None:
    place = np.add(world(rig, "hand.R"), (0.1, -0.2, -0.1)).tolist()
    goals = [*FEET, {"bone": "hand.R", "position": place}]
    free = [*goals, {"bone": "hand.L", "position": world(rig, "hand.L").tolist(), "weight": 1e-8, "priority": 5}]
    report = solve(rig, free, joint_targets={"action": "wave"}, strength=1.0)
    assert report.goals[2].met.all()
    assert turned(rig, BENT[0]) == pytest.approx(BENT[1], abs=0.05)


def test_only_the_chosen_bones_go_there_and_by_their_share(rig: Any) -> None:
    goals = [
        *FEET,
        *({"bone": f"hand.{side}", "rotation": [1, 0, 0, 0], "weight": 1e-8, "priority": 5} for side in "LR"),
    ]
    solve(rig, goals, joint_targets={"action": "wave", "bones": {BENT[0]: 0.5}}, strength=1.0)
    assert turned(rig, BENT[0]) == pytest.approx(0.5 * BENT[1], abs=0.03)
    assert turned(rig, ARM) < 0.03


def test_without_an_action_the_pose_is_that_of_the_motion_at_a_frame(rig: Any) -> None:
    make_walk(rig)
    there = stand(rig, "upper_arm.L", 5)
    context.scene.frame_set(10)
    goals = [*FEET, {"bone": "hand.L", "rotation": [1, 0, 0, 0], "weight": 1e-8, "priority": 5}]
    solve(rig, goals, joint_targets={"frame": 5}, strength=1.0, write={"key": True, "action": "solved"})
    now = stand(rig, "upper_arm.L", 10)
    assert 2.0 * np.arccos(min(1.0, abs(float(now @ there)))) < 0.05


def test_joints_that_no_goal_moves_go_to_their_targets(rig: Any) -> None:
    """Without a goal there is only the way to the target: it ends there, at its share, or at the bone's limit."""
    report = solve(rig, FEET, joint_targets={"action": "wave", "bones": {BENT[0]: 1.0, ARM: 0.5}})
    assert all(goal.met.all() for goal in report.goals)
    assert turned(rig, BENT[0]) == pytest.approx(BENT[1], abs=1e-5)
    assert turned(rig, ARM) == pytest.approx(0.2, abs=1e-5)
    solve(rig, FEET, joint_targets="rest", write={"bones": [BENT[0]]})
    assert turned(rig, BENT[0]) == pytest.approx(0.0, abs=1e-5)
    assert turned(rig, ARM) == pytest.approx(0.2, abs=1e-5)
    turn(rig, ARM, 0.0)
    bone = rig.pose.bones[ARM]
    bone.use_ik_limit_x = bone.use_ik_limit_y = bone.use_ik_limit_z = True
    bone.ik_min_x = bone.ik_min_y = bone.ik_min_z = -0.1
    solve(rig, FEET, joint_targets={"action": "wave"})
    assert turned(rig, ARM) == pytest.approx(0.1, abs=1e-4)
    bone.lock_rotation[0] = True
    turn(rig, ARM, 0.0)
    solve(rig, FEET, joint_targets={"action": "wave"})
    assert turned(rig, ARM) == 0.0


def test_solve_here_and_bake_take_joints_that_no_pin_moves_to_their_targets(rig: Any) -> None:
    select(rig, ["foot.L"])
    bpy.ops.poise.pin(kind="POSITION")
    rig.poise_joint_targets, rig.poise_target_action = "ACTION", bpy.data.actions["wave"]
    rig.pose.bones[ARM].poise_target = 0.5
    assert bpy.ops.poise.solve() == {"FINISHED"}
    assert turned(rig, BENT[0]) == pytest.approx(BENT[1], abs=1e-5)
    assert turned(rig, ARM) == pytest.approx(0.2, abs=1e-5)
    turn(rig, BENT[0], 0.0)
    assert bpy.ops.poise.bake(frame_start=1, frame_end=3) == {"FINISHED"}
    for frame in (1, 2, 3):
        context.scene.frame_set(frame)
        assert turned(rig, BENT[0]) == pytest.approx(BENT[1], abs=1e-5)


@pytest.mark.parametrize(
    ("targets", "sentence"),
    [
        ({"action": "wavy"}, 'joint_targets.action: no action "wavy" in this file'),
        ({"action": "wave", "bones": {"upper_arn.L": 1.0}}, 'joint_targets.bones.upper_arn.L: No bone "upper_arn.L"'),
        ({"bones": {"chest": 1.0}}, 'joint_targets: needs "action" or "frame"'),
        ({"action": "wave", "bones": {"chest": 2.0}}, "joint_targets.bones"),
    ],
)
def test_targets_that_are_not_there_are_refused_and_nothing_changes(
    rig: Any, targets: dict[str, Any], sentence: str
) -> None:
    before = [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]
    with pytest.raises(CoreError, match=sentence):
        solve(rig, FEET, joint_targets=targets)
    assert [tuple(bone.rotation_quaternion) for bone in rig.pose.bones] == before
    assert rig.animation_data is None or rig.animation_data.action is None


def test_the_panel_solver_and_a_job_name_the_same_targets(rig: Any) -> None:
    select(rig, ["foot.L", "foot.R", "hand.L"])
    bpy.ops.poise.pin(kind="POSITION")
    rig.poise_joint_targets = "ACTION"
    with pytest.raises(CoreError, match="Joint Targets needs an action"):
        job_from_pins(rig)
    rig.poise_target_action = bpy.data.actions["wave"]
    assert job_from_pins(rig).joint_targets == parse(
        {"version": 1, "goals": FEET, "joint_targets": {"action": "wave"}}
    ).joint_targets  # fmt: skip
    rig.pose.bones["chest"].poise_target = 0.25
    shares = job_from_pins(rig).joint_targets.bones  # type: ignore[union-attr]
    assert (shares["chest"], shares["spine"]) == (0.25, 1.0)
    hand = world(rig, "hand.L")
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose(world(rig, "hand.L"), hand, atol=NEAR)
    for setting in ("PRESENT", "REST", "RELAXED"):
        rig.poise_joint_targets = setting
        assert job_from_pins(rig).joint_targets == setting.lower()


def test_a_velocity_leads_a_bone_on_from_where_its_first_frame_has_it(rig: Any) -> None:
    make_walk(rig)
    context.scene.render.fps = 24
    context.scene.frame_set(3)
    start = world(rig, "hand.L")
    goal = {"bone": "hand.L", "position": {"velocity": [0.1, -0.2, 0.05]}, "frames": [3, 15]}
    report = solve(rig, [goal], frames=[1, 20], root="fixed", write={"action": "solved"})
    assert report.goals[0].met.all()
    for frame in (3, 9, 15):
        context.scene.frame_set(frame)
        wanted = start + (frame - 3) / 24 * np.array([0.1, -0.2, 0.05])
        np.testing.assert_allclose(world(rig, "hand.L"), wanted, atol=NEAR)


def test_an_angular_velocity_turns_a_bone_about_the_axes_of_the_space(rig: Any) -> None:
    make_walk(rig)
    context.scene.render.fps = 24
    context.scene.frame_set(1)
    start = rig.pose.bones["head"].matrix.to_quaternion()
    goal = {"bone": "head", "rotation": {"velocity": [0, 0, 60]}}
    report = solve(rig, [goal], frames=[1, 13], root="fixed", write={"action": "solved"})
    assert report.goals[0].met.all()
    context.scene.frame_set(13)  # half a second
    change = rig.pose.bones["head"].matrix.to_quaternion() @ start.inverted()
    assert np.degrees(change.angle) == pytest.approx(30.0, abs=0.5)
    assert abs(change.axis.z) == pytest.approx(1.0, abs=1e-3)


def test_a_velocity_needs_frames(rig: Any) -> None:
    with pytest.raises(CoreError, match=r'goals\[0\]: a velocity needs a job with "frames"'):
        solve(rig, [{"bone": "hand.L", "position": {"velocity": [0.1, 0, 0]}}])
