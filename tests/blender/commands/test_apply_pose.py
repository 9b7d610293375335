"""`apply-pose` headless, measured where Blender shows the bones."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import commands
from core.formats.pose import pose_text
from edits.part_poses import pose_of_armature
from tests.blender.rigs import contents, context, load, make_armature, turn, world
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")
MIXAMO = DATA / "rigs" / "named_mixamo_cm.blend"
NAMES = {"hand": "Hand", "forearm": "ForeArm", "foot": "Foot", "shin": "Leg"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A Mixamo rig and another body, whose left elbow and knee are bent, as it is and in its action "bent"."""
    load(MIXAMO)
    other = make_armature("other")
    turn(other, "forearm.L", 0.8)
    turn(other, "shin.L", -0.9)
    context.view_layer.update()
    for bone in ("forearm.L", "shin.L"):
        other.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=5)
    other.animation_data.action.name = "bent"
    path = tmp_path / "two.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def run(file: Path, *argv: object) -> int:
    rig = next(one for one in bpy.data.objects if one.type == "ARMATURE" and one.name != "other")
    return commands.run(["apply-pose", "--blend", str(file), "--armature", rig.name, *map(str, argv)])


def mixamo() -> Any:
    return next(one for one in bpy.data.objects if one.type == "ARMATURE" and one.name != "other")


def bend(rig: Any, names: list[str]) -> float:
    """Degrees between the two segments of a limb."""
    first, middle, last = (world(rig, name) for name in names)
    ways = [(middle - first) / np.linalg.norm(middle - first), (last - middle) / np.linalg.norm(last - middle)]
    return float(np.degrees(np.arccos(ways[0] @ ways[1])))


def bends(side: str = "Left") -> list[float]:
    names = [["Arm", "ForeArm", "Hand"], ["UpLeg", "Leg", "Foot"]]
    return [bend(mixamo(), [f"mixamorig:{side}{part}" for part in limb]) for limb in names]


def wanted() -> list[float]:
    other = bpy.data.objects["other"]
    return [bend(other, ["upper_arm.L", "forearm.L", "hand.L"]), bend(other, ["thigh.L", "shin.L", "foot.L"])]


def test_the_pose_of_an_armature_an_action_and_a_file_are_the_same(file: Path, tmp_path: Path) -> None:
    pose = tmp_path / "pose.json"
    pose.write_text(pose_text(pose_of_armature(bpy.data.objects["other"])), encoding="utf-8")
    for source in (("--source", "other"), ("--pose", "bent"), ("--input", pose)):
        report = tmp_path / "report.json"
        assert run(file, *source, "--output", tmp_path / "o.blend", "--report", report) == 0
        np.testing.assert_allclose(bends(), wanted(), atol=0.01)
        assert json.loads(report.read_text())["action"] is None
        assert all(angle < 25.0 for angle in bends("Right"))


def test_it_is_mirrored_blended_and_of_some_parts_and_keyed(file: Path) -> None:
    straight = bends()
    assert run(file, "--pose", "bent", "--mirrored", "--key", "--action", "kicks") == 0
    np.testing.assert_allclose(bends("Right"), wanted(), atol=0.01)
    assert mixamo().animation_data.action.name == "kicks"
    assert run(file, "--source", "other", "--parts", "arm.L") == 0
    assert bends()[0] == pytest.approx(wanted()[0], abs=0.01)
    assert bends()[1] == pytest.approx(straight[1], abs=0.01)
    assert run(file, "--source", "other", "--factor", 0) == 0
    np.testing.assert_allclose(bends(), straight, atol=1e-4)


def test_what_cannot_be_is_refused_and_nothing_is_changed(file: Path, tmp_path: Path, capsys: Any) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"version": 1}', encoding="utf-8")
    library = tmp_path / "library.blend"
    library.write_bytes(file.read_bytes())
    for argv, sentence in (
        (("--pose", "run"), 'There is no action "run"'),
        (("--input", broken), "turns: missing."),
        (("--source", "other", "--factor", 2), "--factor: must be between 0 and 1"),
        (("--source", "nobody"), 'No armature "nobody" in the file'),
        (("--pose", "bent", "--library", library, "--output", library), "is the library file and is not overwritten"),
        (("--source", "other", "--at", 3), "--at: only with --pose"),
        (("--source", "other", "--action", "x"), "--action: nothing is keyed"),
        (("--source", "other", "--parts", "thumb.L"), "The pose contains none of the parts"),
        (("--source", "other", "--parts", "tail"), "tail"),
        ((), "One of the arguments --pose --source --input is required"),
    ):
        capsys.readouterr()
        bpy.ops.wm.open_mainfile(filepath=str(file))
        kept = contents()
        assert run(file, *argv) == 2
        said = capsys.readouterr().err
        assert sentence in said, said
        assert contents() == kept
    assert library.read_bytes() == file.read_bytes()
