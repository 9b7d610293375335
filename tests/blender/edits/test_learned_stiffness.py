"""Stiffness learned from an action: kept with the armature, heeded by drags and jobs, forgotten."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler, Quaternion

from bridge import read_body, read_rig, read_roles, read_tuning
from core import solve_in_blocks
from core.body.anatomy import anatomy, pose_from_angles
from core.formats.job import parse
from edits import job as solving
from edits.job import perform_job
from tests.blender.rigs import contents, make_armature, make_ik_body, select, world, world_rotation

pytestmark = pytest.mark.usefixtures("empty_file")
LAST = 40


def key(rig: Any, bone: str, frame: int, angles: Any) -> None:
    rig.pose.bones[bone].rotation_quaternion = Euler(angles).to_quaternion()
    rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)


def make_hinges(rig: Any) -> Any:
    """An action in which arms move from the elbows; shoulders hardly, the rest of the body stands."""
    rng = np.random.default_rng(3)
    for frame in range(1, LAST + 1):
        for side in "LR":
            key(rig, f"upper_arm.{side}", frame, 0.02 * rng.normal(size=3))
            key(rig, f"forearm.{side}", frame, 0.6 * rng.normal(size=3))
    bpy.context.scene.frame_set(1)
    return rig


@pytest.fixture
def rig() -> Any:
    rig = make_hinges(make_armature())
    select(rig, [])
    return rig


def turned(rig: Any, act: Callable[[], Any]) -> float:
    """How far the left upper arm is turned, in radians, by what moves the hand from the straight pose."""
    rig.animation_data.action = None
    for bone in rig.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    act()
    return 2.0 * float(np.arccos(np.clip(abs(rig.pose.bones["upper_arm.L"].rotation_quaternion[0]), 0.0, 1.0)))


def drag(rig: Any) -> Callable[[], Any]:
    rig.poise_root = "FIXED"
    return lambda: bpy.ops.poise.drag(bone="hand.L", shift=(-0.1, -0.2, 0.1))


def solve(rig: Any) -> Callable[[], Any]:
    target = (world(rig, "hand.L") + np.array([-0.1, -0.2, 0.1])).tolist()
    goal = {"bone": "hand.L", "position": target}
    return lambda: perform_job(bpy.context, rig, parse({"version": 1, "root": "fixed", "goals": [goal]}))


def test_arms_that_move_from_the_elbow_are_dragged_so_also_after_loading_the_file(rig: Any, tmp_path: Path) -> None:
    before, named = contents(), {bone.name: bone.poise_learned for bone in rig.pose.bones}
    assert bpy.ops.poise.learn_stiffness() == {"FINISHED"}
    assert contents() == before
    assert named == {bone.name: bone.poise_learned for bone in rig.pose.bones}
    learned = [bone.name for bone in rig.pose.bones if bone.poise_tuning]
    assert learned == [
        f"{part}.{side}" for side in "LR" for part in ("upper_arm", "forearm")
    ]  # what stands tells nothing
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "learned.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "learned.blend"))
    rig = bpy.data.objects["rig"]
    for act in (drag(rig), solve(rig)):
        stiff = turned(rig, act)
        kept = {bone.name: bone.poise_tuning for bone in rig.pose.bones}
        assert bpy.ops.poise.forget_stiffness() == {"FINISHED"}
        assert stiff < 0.6 * turned(rig, act)
        for bone in rig.pose.bones:
            bone.poise_tuning = kept[bone.name]


def test_learning_is_one_undo_step(rig: Any) -> None:
    bpy.ops.ed.undo_push(message="before")
    before = contents()
    bpy.ops.poise.learn_stiffness("EXEC_DEFAULT", True)
    assert any(bone.poise_tuning for bone in bpy.data.objects["rig"].pose.bones)
    bpy.ops.ed.undo()
    assert contents() == before
    assert not any(bone.poise_tuning for bone in bpy.data.objects["rig"].pose.bones)


def test_a_body_that_controls_lead_learns_by_its_own_bones() -> None:
    rig = make_ik_body()
    rng = np.random.default_rng(5)
    for frame in range(1, 25):  # it sinks into its knees
        rig.pose.bones["hips"].location = (0.0, -0.3 * rng.uniform(), 0.0)
        rig.pose.bones["hips"].keyframe_insert("location", frame=frame)
    select(rig, [])
    assert bpy.ops.poise.learn_stiffness() == {"FINISHED"}
    body = read_body(rig)
    assert body.controlled is not None
    tuning = read_tuning(rig, body.skeleton)
    assert tuning is not None
    told = {name for name, known in zip(body.skeleton.names, tuning.learned, strict=True) if known}
    assert {"thigh.L", "shin.L", "thigh.R", "shin.R"} <= told
    assert "hips" not in told


def test_turns_that_go_together_are_kept_with_the_file_and_survive_renaming(rig: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    for frame in range(1, 10 * LAST):
        bent = rng.normal()
        for side, sign in (("L", 1.0), ("R", -1.0)):
            key(rig, f"forearm.{side}", frame, (0.0, 0.0, sign * 0.5 * bent))
            key(rig, f"hand.{side}", frame, (0.0, 0.0, sign * 0.3 * bent))
    assert bpy.ops.poise.learn_stiffness() == {"FINISHED"}
    skeleton, roles = read_rig(rig).skeleton, read_roles(rig)
    before = anatomy(skeleton, roles, read_tuning(rig, skeleton)).correlations
    pair = skeleton.index("forearm.L"), skeleton.index("hand.L")
    strength = max(abs(entry[4]) for entry in before if (entry[0], entry[2]) == pair)
    assert 0.15 < strength < 0.41
    rig.data.bones["forearm.L"].name = "elbow.L"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "together.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "together.blend"))
    rig = bpy.data.objects["rig"]
    after = anatomy(skeleton, roles, read_tuning(rig, read_rig(rig).skeleton)).correlations
    assert after == before
    for bone in rig.pose.bones:  # a file from before they were learned
        bone.poise_tuning = json.dumps(json.loads(bone.poise_tuning)[:7]) if bone.poise_tuning else ""
    assert anatomy(skeleton, roles, read_tuning(rig, read_rig(rig).skeleton)).correlations == (
        anatomy(skeleton, roles).correlations
    )


def test_few_poses_are_said_to_count_little(capfd: Any) -> None:
    rig = make_armature()
    for frame, angle in ((1, 0.0), (30, 0.7)):
        key(rig, "upper_arm.L", frame, (angle, 0.0, 0.0))
    select(rig, [])
    bpy.ops.poise.learn_stiffness()
    assert "The frames show few poses, so the learned stiffness has an influence of" in capfd.readouterr().out


def test_what_cannot_be_learned_is_said_and_nothing_changes(rig: Any) -> None:
    bpy.ops.poise.learn_stiffness()
    kept = {bone.name: bone.poise_tuning for bone in rig.pose.bones}
    rig.animation_data.action = bpy.data.actions.new("nothing")
    before = contents()
    with pytest.raises(RuntimeError, match="No joint rotates in the action"):
        bpy.ops.poise.learn_stiffness()
    rig.animation_data_clear()
    with pytest.raises(RuntimeError, match="has no action to learn from"):
        bpy.ops.poise.learn_stiffness()
    assert {bone.name: bone.poise_tuning for bone in rig.pose.bones} == kept
    assert contents()["objects"]["rig"]["bones"] == before["objects"]["rig"]["bones"]
    numbers = ("[1, 2]", "[1, 0, 0, 0, 0.1, 0.1, 0]", "[1, 0, 0, 0, 0.1, 0.1, NaN]")
    ties = ("[1, 0, 0, 0, 0.1, 0.1, 0.1, 0.5]", "[1, 0, 0, 0, 0.1, 0.1, 0.1, 0, 2, 0]")
    for damaged in (*numbers, *ties, "null", '["a"]', "{"):
        rig.pose.bones["forearm.L"].poise_tuning = damaged
        with pytest.raises(RuntimeError, match=r'learned stiffness of "forearm.L" is damaged'):
            bpy.ops.poise.drag(bone="hand.L", shift=(0.0, 0.1, 0.0))
    bpy.ops.poise.forget_stiffness()
    with pytest.raises(RuntimeError, match="has no learned stiffness"):
        bpy.ops.poise.forget_stiffness()


def test_a_job_may_keep_joints_near_the_pose_that_is_usual_in_the_action(rig: Any) -> None:
    body = read_body(rig)
    for frame in range(1, LAST + 1):
        pose = pose_from_angles(body.skeleton, body.roles, {"forearm": (0.0, -90.0 + 10.0 * np.sin(frame), 0.0)})
        for name in ("forearm.L", "forearm.R"):
            key(rig, name, frame, Quaternion(pose.rotations[body.skeleton.index(name)]).to_euler())
    bpy.context.scene.frame_set(1)
    action, bent = rig.animation_data.action, {}
    turned(rig, lambda: None)
    goals = [{"bone": "hand.L", "rotation": world_rotation(rig, "hand.L").tolist()}]  # which leaves the elbow free
    for targets in ("present", "relaxed", "learned"):
        if targets == "learned":
            rig.animation_data.action = action
            bpy.ops.poise.learn_stiffness()
        near = "present" if targets == "present" else "relaxed"
        job = parse({"version": 1, "root": "fixed", "joint_targets": near, "goals": goals})
        turned(rig, lambda job=job: perform_job(bpy.context, rig, job))
        bent[targets] = np.degrees(rig.pose.bones["forearm.L"].rotation_quaternion.angle)
    assert bent["present"] < 1.0
    assert bent["relaxed"] > bent["present"] + 5.0
    assert bent["learned"] > bent["relaxed"] + 5.0


def test_joints_that_are_to_be_relaxed_begin_so_but_what_is_locked_stays(monkeypatch: Any) -> None:
    rig = make_armature()
    for name in ("chest", "thigh.L", "upper_arm.L"):
        rig.pose.bones[name].rotation_quaternion = Euler((0.3, 0.0, 0.0)).to_quaternion()
    rig.pose.bones["chest"].lock_rotation, rig.pose.bones["chest"].lock_rotation_w = (True, True, True), True
    begun: list[Any] = []
    monkeypatch.setattr(solving, "solve_in_blocks", lambda *given: begun.append(given[1]) or solve_in_blocks(*given))
    goal = {"bone": "hand.L", "position": [0.4, -0.2, 1.0]}
    perform_job(bpy.context, rig, parse({"version": 1, "root": "fixed", "joint_targets": "relaxed", "goals": [goal]}))
    skeleton = read_rig(rig).skeleton
    relaxed, index = anatomy(skeleton, read_roles(rig)).reference.rotations, skeleton.index
    for name in ("upper_arm.L", "forearm.L", "spine", "thigh.L"):
        np.testing.assert_allclose(begun[0].rotations[0, index(name)], relaxed[index(name)], atol=1e-6)
    thigh = rig.pose.bones["thigh.L"].rotation_quaternion  # which no goal moves
    np.testing.assert_allclose(thigh, relaxed[index("thigh.L")], atol=1e-6)
    for turn in (begun[0].rotations[0, index("chest")], rig.pose.bones["chest"].rotation_quaternion):
        np.testing.assert_allclose(turn, Euler((0.3, 0.0, 0.0)).to_quaternion(), atol=1e-6)


def test_a_new_rest_pose_forgets_it(rig: Any) -> None:
    bpy.ops.poise.learn_stiffness()
    assert bpy.ops.poise.make_rest() == {"FINISHED"}
    assert not any(bone.poise_tuning for bone in rig.pose.bones)
