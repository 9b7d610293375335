"""The humanoid method of a job, measured in Blender."""

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

import bridge
import commands
from core import CoreError
from core.formats.job import parse
from edits.job import perform_job
from tests.blender.rigs import load, make_armature, make_walk, world, world_rotation
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")


def solved(folder: Path, capsys: pytest.CaptureFixture[str], *goals: dict, **method: object) -> tuple[int, dict]:
    """Save the present file, solve a job on it, and leave the result open; exit code and report."""
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "before.blend"))
    job = {"version": 1, "frames": [1, 20], "method": {"name": "humanoid", **method}, "goals": goals}
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    paths = ("--blend", folder / "before.blend", "--job", folder / "job.json", "--output", folder / "after.blend")
    capsys.readouterr()
    code = commands.run(["solve", *map(str, paths), "--json"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    bpy.ops.wm.open_mainfile(filepath=str(folder / ("after.blend" if code < 2 else "before.blend")))
    return code, json.loads(lines[0]) if lines else {}


def test_a_walk_is_led_by_a_hand_with_its_feet_where_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_walk(make_armature())
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    rig = bpy.data.objects["rig"]
    before = []
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
        before.append((world(rig, "foot.L"), world_rotation(rig, "foot.L")))
    pins = [{"bone": foot, "pin": ["position", "rotation"]} for foot in ("foot.L", "foot.R")]
    hand = {"bone": "hand.R", "position": {"path": [[1, -0.5, -0.2, 1.3], [20, -0.4, -0.3, 1.5]]}}
    code, report = solved(tmp_path, capsys, *pins, hand)
    assert (code, report["method"], report["converged_frames"]) == (0, "humanoid", 20)
    rig = bpy.data.objects["rig"]
    wanted = np.linspace([-0.5, -0.2, 1.3], [-0.4, -0.3, 1.5], 20)
    for number, (place, turn) in enumerate(before):
        bpy.context.scene.frame_set(number + 1)
        np.testing.assert_allclose(world(rig, "hand.R"), wanted[number], atol=1e-3)
        np.testing.assert_allclose(world(rig, "foot.L"), place, atol=1e-3)
        assert abs(np.dot(world_rotation(rig, "foot.L"), turn)) > 1.0 - 1e-5


@pytest.mark.parametrize("file", ["named_mixamo_cm.blend", "odd_random_rolls_apose.blend"])
def test_rigs_of_other_names_units_and_rolls_reach_down(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from core.body import find_roles

    (rig,) = load(DATA / "rigs" / file)
    name = rig.name
    skeleton = bridge.read_rig(rig).skeleton
    roles = find_roles(skeleton)
    bones = {role: skeleton.names[bone] for role, bone in roles.bones.items() if isinstance(bone, int)}
    hand = world(rig, bones["hand.L"])
    size = float(np.linalg.norm(world(rig, bones["head"]) - world(rig, bones["foot.L"])))
    target = hand + size * np.array([0.0, -0.1, -0.25])
    goals = [{"bone": bones[foot], "pin": ["position", "rotation"]} for foot in ("foot.L", "foot.R")]
    code, report = solved(tmp_path, capsys, *goals, {"bone": bones["hand.L"], "position": target.tolist()})
    assert code == 0, report
    bpy.context.scene.frame_set(10)
    np.testing.assert_allclose(world(bpy.data.objects[name], bones["hand.L"]), target, atol=1e-3)


def test_a_bone_that_is_no_target_is_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_walk(make_armature())
    for goal in (
        {"bone": "upper_arm.R", "position": [0, 0, 1]},
        {"bone": "head", "look_at": [1, -1, 1]},
        {"bone": "hand.R", "position": [0, 0, 0.1], "relative_to": "head"},
    ):
        code, _ = solved(tmp_path, capsys, goal, finish=False)
        assert code == 2
        assert not (tmp_path / "after.blend").exists()


def test_a_job_has_goals_of_all_kinds_for_any_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_walk(make_armature())
    feet = [{"bone": foot, "pin": ["position"]} for foot in ("foot.L", "foot.R")]
    hand = {"bone": "hand.L", "position": [0.4, -0.35, 1.2]}
    look = {"bone": "head", "look_at": [0.4, -1.0, 1.2], "axis": "Z"}
    apart = {"bone": "hand.R", "distance": 0.25, "to": "hand.L"}
    clavicle = {"role": "upper_arm.R", "position": [-0.15, -0.05, 1.4]}
    code, report = solved(tmp_path, capsys, *feet, hand, look, apart, clavicle)
    assert (code, report["method"], report["converged_frames"]) == (0, "humanoid", 20), report
    assert [goal["kind"] for goal in report["goals"][2:]] == ["drag", "look_at", "distance", "drag"]
    rig = bpy.data.objects["rig"]
    bpy.context.scene.frame_set(7)
    assert np.linalg.norm(world(rig, "hand.R") - world(rig, "hand.L")) == pytest.approx(0.25, abs=1e-3)
    np.testing.assert_allclose(world(rig, "upper_arm.R"), clavicle["position"], atol=1e-3)


@pytest.mark.parametrize("file", ["named_mixamo_cm.blend", "odd_random_rolls_apose.blend"])
def test_goals_that_name_parts_of_the_body_do_for_rigs_of_any_names(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (rig,) = load(DATA / "rigs" / file)
    roles = bridge.read_roles(rig)
    names = {role: rig.data.bones[roles.bone(role)].name for role in ("hand.L", "foot.R")}
    name, stood, wanted = rig.name, world(rig, names["foot.R"]), 0.7 * world(rig, names["hand.L"]) + (0.0, -0.1, 0.0)
    goals = [{"role": f"foot.{side}", "pin": ["position"]} for side in "LR"]
    code, report = solved(tmp_path, capsys, *goals, {"role": "hand.L", "position": wanted.tolist()})
    assert (code, report["goals"][-1]["bone"]) == (0, names["hand.L"])
    rig = bpy.data.objects[name]
    np.testing.assert_allclose(world(rig, names["hand.L"]), wanted, atol=1e-3)
    np.testing.assert_allclose(world(rig, names["foot.R"]), stood, atol=1e-3)


def test_a_part_that_the_body_has_not_is_refused_with_the_nearest() -> None:
    job = parse({"version": 1, "goals": [{"role": "hnad.L", "position": [0.0, 0.0, 1.0]}]})
    with pytest.raises(CoreError, match=r'goals\[0\].role: no "hnad.L" was found .*; did you mean "hand.L"?'):
        perform_job(bpy.context, make_armature(), job)


def test_a_job_turns_an_elbow_by_its_swivel() -> None:
    rig = make_armature()
    goal = {"bone": "hand.L", "position": [0.45, -0.2, 1.35]}
    elbows = []
    for swivel in (0.0, 90.0):
        method = {"name": "humanoid", "swivel": {"arm.L": swivel}}
        assert perform_job(bpy.context, rig, parse({"version": 1, "method": method, "goals": [goal]})).met
        elbows.append(world(rig, "forearm.L"))
    shoulder, hand = world(rig, "upper_arm.L"), np.array(goal["position"])
    axis = (hand - shoulder) / np.linalg.norm(hand - shoulder)
    sides = [elbow - shoulder - ((elbow - shoulder) @ axis) * axis for elbow in elbows]
    assert abs(sides[0] @ sides[1]) < 0.05 * np.linalg.norm(sides[0]) * np.linalg.norm(sides[1])


def test_a_velocity_leads_a_hand_and_a_chest_as_places_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_walk(make_armature())
    bpy.context.scene.render.fps = 24
    bpy.context.scene.frame_set(1)
    starts = {name: world(bpy.data.objects["rig"], name) for name in ("hand.R", "spine")}
    goals = [{"bone": name, "position": {"velocity": [0.06, -0.03, 0.03]}} for name in starts]
    code, report = solved(tmp_path, capsys, *goals)
    assert (code, report["method"], report["converged_frames"]) == (0, "humanoid", 20)
    for frame in (1, 10, 20):
        bpy.context.scene.frame_set(frame)
        for name, start in starts.items():
            wanted = start + (frame - 1) / 24 * np.array([0.06, -0.03, 0.03])
            np.testing.assert_allclose(world(bpy.data.objects["rig"], name), wanted, atol=1e-3)
