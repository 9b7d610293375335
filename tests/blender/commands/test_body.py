"""`body`: the tools of the panel Body headless, measured in Blender."""

import json
from typing import Any

import bpy
import numpy as np
import pytest

import commands
import edits.body
import edits.body_tools
from core import rotation
from edits.body_tools import TOOLS as NAMES
from operators import CLASSES
from tests.blender.rigs import TOOLS, contents, load, make_armature, make_empty, select, world, world_rotation
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")
context: Any = bpy.context
OPERATORS = {one.tool: one.bl_idname.partition(".")[2] for one in CLASSES if hasattr(one, "tool")}
POSES = {10: -0.2, 12: 0.2}  # within the ranges of joints, which are wide enough for all frames of a motion


@pytest.fixture
def walker() -> Any:
    """A body in centimetres, whose left upper arm and head are keyed at two frames."""
    (rig,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    for frame, angle in POSES.items():
        for name in ("mixamorig:LeftArm", "mixamorig:Head"):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (angle, 0.2, -angle)
            bone.keyframe_insert("rotation_euler", frame=frame)
    context.scene.frame_set(1)
    return rig


def run(*argv: object) -> int:
    return commands.run(["body", *map(str, argv)])


def test_every_tool_of_the_panel_has_a_name_here() -> None:
    assert {OPERATORS[tool] for tool, _ in NAMES.values()} == set(TOOLS)


def test_a_pose_is_made_as_the_operator_makes_it(tmp_path: Any, capsys: Any) -> None:
    (rig,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    select(rig, [])
    bpy.ops.poise.take_posture(posture="A", arms=0.5)
    wanted = {bone.name: world(rig, bone.name) for bone in rig.pose.bones}
    bpy.ops.poise.take_posture(posture="T")
    report = tmp_path / "report.json"
    degrees = np.degrees(0.5)
    assert (
        run("--tool", "a-pose", "--set", f"arms={degrees}", "--output", tmp_path / "o.blend", "--report", report) == 0
    )
    for name, place in wanted.items():
        np.testing.assert_allclose(world(rig, name), place, atol=1e-5)
    assert rig.animation_data is None or rig.animation_data.action is None
    assert json.loads(report.read_text())["action"] is None


def test_every_frame_is_posed_from_what_is_there_and_keyed_in_a_new_action(walker: Any) -> None:
    old = walker.animation_data.action
    before = {frame: _places(walker, frame) for frame in range(10, 13)}
    assert run("--tool", "mirror", "--frames", 10, 12, "--action", "mirrored") == 0
    assert walker.animation_data.action.name == "mirrored"
    assert old.users
    assert context.scene.frame_current == 1
    for frame, places in before.items():
        after = _places(walker, frame)
        for one, other in (("LeftHand", "RightHand"), ("RightHand", "LeftHand"), ("Head", "Head")):
            np.testing.assert_allclose(after[f"mixamorig:{other}"], places[f"mixamorig:{one}"] * (-1, 1, 1), atol=2e-3)


@pytest.mark.parametrize("tool", ["hands", "feet"])
def test_frames_are_solved_together_and_come_out_as_one_by_one(walker: Any, tool: str, monkeypatch: Any) -> None:
    """The body was read, and solved, anew in each frame."""
    select(walker, [])
    alone, action = {}, walker.animation_data.action
    monkeypatch.setattr(context.scene.tool_settings, "use_keyframe_insert_auto", True)  # bones without keys stay else
    monkeypatch.setattr(context.preferences.edit, "use_keyframe_insert_available", False)
    for frame in range(10, 13):
        walker.animation_data.action = action.copy()
        context.scene.frame_set(frame)
        getattr(bpy.ops.poise, OPERATORS[NAMES[tool][0]])(height=0.2)
        alone[frame] = {bone.name: world(walker, bone.name) for bone in walker.pose.bones}
        bpy.ops.pose.select_all(action="SELECT")
        bpy.ops.pose.transforms_clear()
    walker.animation_data.action = action
    context.scene.frame_set(1)
    counted = {"read_body": 0, "solve": 0}
    for name, owner in (("read_body", edits.body.bridge), ("solve", edits.body_tools)):
        was = getattr(owner, name)

        def noted(*given: Any, name: str = name, was: Any = was) -> Any:
            counted[name] += 1
            return was(*given)

        monkeypatch.setattr(owner, name, noted)
    assert run("--tool", tool, "--set", "height=0.2", "--frames", 10, 12) == 0
    assert counted == {"read_body": 1, "solve": 1}
    for frame, places in alone.items():
        after = _places(walker, frame)
        for name, place in places.items():
            np.testing.assert_allclose(after[name], place, atol=2e-5, err_msg=f"{name} at frame {frame}")


def test_a_head_follows_an_object_that_moves(walker: Any) -> None:
    cup = make_empty("Cup", (0.0, -2.0, 1.6))
    for frame, x in ((10, -0.5), (12, 0.5)):
        cup.location.x = x
        cup.keyframe_insert("location", frame=frame)
    assert run("--tool", "look-at", "--set", "target=OBJECT", "object=Cup", "--frames", 10, 12) == 0
    head = "mixamorig:Head"
    rest = np.array((walker.matrix_world @ walker.data.bones[head].matrix_local).to_quaternion())
    for frame in (10, 11, 12):
        context.scene.frame_set(frame)
        change = rotation.mul(world_rotation(walker, head), rotation.inv(rest))
        wanted = np.array(cup.matrix_world.translation) - world(walker, head)
        ahead = rotation.rotate(change, np.array([0.0, -1.0, 0.0]))
        assert ahead @ wanted / np.linalg.norm(wanted) > np.cos(np.radians(1.5))


def _places(rig: Any, frame: int) -> dict[str, np.ndarray]:
    context.scene.frame_set(frame)
    found = {bone.name: world(rig, bone.name) for bone in rig.pose.bones}
    context.scene.frame_set(1)
    return found


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--tool", "dance"], "invalid choice"),
        (["--tool", "feet", "--set", "rol=3"], 'has no "rol"; did you mean "roll"'),
        (["--tool", "t-pose", "--set", "posture=A"], 'has no "posture"'),
        (["--tool", "feet", "--set", "roll=steep"], "must be a number"),
        (["--tool", "feet", "--set", "roll=200"], "must be from -90 to 90"),
        (["--tool", "mirror", "--set", "model=BACK"], "must be BOTH, L, R"),
        (["--tool", "feet", "--set", "use_hips=1"], "must be true, false"),
        (["--tool", "look-at", "--set", "target=OBJECT"], "Choose an object"),
        (["--tool", "fingers"], "No fingers of hand.L were found"),
        (["--tool", "mirror", "--frames", "9", "1"], "--frames"),
        (["--tool", "mirror", "--action", "x"], "nothing is keyed"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_changes(options: list[str], sentence: str, capsys: Any) -> None:
    make_armature()
    before = contents()
    assert run(*options) == 2
    assert sentence in capsys.readouterr().err
    assert contents() == before


def test_a_surface_out_of_reach_is_an_exit_code_and_a_reason(tmp_path: Any, capsys: Any) -> None:
    (rig,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    report = tmp_path / "report.json"
    assert run("--tool", "hands", "--set", "height=3", "side=L", "--report", report) == 1
    told, data = capsys.readouterr().err, json.loads(report.read_text())
    assert "mixamorig:LeftHand is " in told
    assert "0 of 1 frame met" in told
    missed = [goal for goal in data["goals"] if not goal["met"]]
    assert [goal["bone"] for goal in missed] == ["mixamorig:LeftHand"]
    palm = missed[0]["position_error"]["max"]
    assert palm == pytest.approx(3.0 - world(rig, "mixamorig:LeftHand")[2], abs=0.15)
    assert data["explanations"][0].endswith("is held in place")


def test_a_pose_that_would_be_lost_is_refused(walker: Any, capsys: Any) -> None:
    assert run("--tool", "t-pose") == 2
    assert "use --frames" in capsys.readouterr().err.lower()
    assert run("--tool", "t-pose", "--key") == 0
    curves = {curve.data_path for curve in walker.animation_data.action.layers[0].strips[0].channelbags[0].fcurves}
    assert any("mixamorig:RightArm" in path for path in curves)
