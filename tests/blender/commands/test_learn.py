"""`learn`: limits, stiffness and lists headless, as the panel learns them; limits as files."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from core import CoreError
from core.formats.limits import limits_text, read_limits
from tests.blender.commands.rigs import Run
from tests.blender.rigs import contents, make_armature, make_walk, select

pytestmark = pytest.mark.usefixtures("empty_file")

LEGS = ["thigh.L", "shin.L", "thigh.R", "shin.R"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_walk(make_armature())
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    return tmp_path


def learned(rig: Any) -> dict[str, Any]:
    return {
        bone.name: pytest.approx(np.array(json.loads(bone.poise_learned)), abs=2e-5)
        for bone in rig.pose.bones
        if bone.poise_learned
    }


def corners(rig: Any) -> dict[str, np.ndarray]:
    return {bone.name: np.array(json.loads(bone.poise_learned)) for bone in rig.pose.bones if bone.poise_learned}


def test_limits_are_learned_as_in_the_panel_and_go_to_a_file_and_back(run: Run, folder: Path) -> None:
    rig = bpy.data.objects["rig"]
    select(rig, LEGS)
    bpy.ops.poise.learn_limits(margin=float(np.radians(7.0)))
    by_panel = learned(rig)
    options = "--what", "limits", "--bones", *LEGS, "--margin", 7, "--file", folder / "limits.json", "--json"
    code, data, error = run("learn", "--blend", folder / "walk.blend", *options, "--output", folder / "out.blend")
    assert (code, sorted(data["bones"])) == (0, sorted(LEGS)), error
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    assert corners(bpy.data.objects["rig"]) == by_panel

    rig = bpy.data.objects["rig"]
    select(rig, [bone.name for bone in rig.pose.bones])
    assert bpy.ops.poise.save_limits(filepath=str(folder / "saved.json")) == {"FINISHED"}
    assert (folder / "saved.json").read_text() == (folder / "limits.json").read_text()
    bpy.ops.poise.forget_limits()
    assert corners(rig) == {}
    assert bpy.ops.poise.load_limits(filepath=str(folder / "limits.json")) == {"FINISHED"}
    assert corners(rig) == by_panel
    polygons = read_limits(folder / "limits.json")
    assert limits_text(polygons) == (folder / "limits.json").read_text()


def test_stiffness_and_a_list_are_learned(run: Run, folder: Path) -> None:
    options = "--what", "stiffness", "--output", folder / "out.blend", "--json"
    code, data, error = run("learn", "--blend", folder / "walk.blend", *options)
    assert code == 0, error
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    rig = bpy.data.objects["rig"]
    assert {bone.name for bone in rig.pose.bones if bone.poise_tuning} == set(data["bones"])
    ends = "--what", "list", "--chain", "thigh.L:foot.L", "--file", folder / "list.json", "--json"
    code, data, error = run("learn", "--blend", folder / "walk.blend", *ends)
    assert (code, set(data["bones"])) == (0, {"thigh.L", "shin.L"}), error
    assert json.loads((folder / "list.json").read_text())["successive"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--what", "limits", "--bones", "thight.L"), 'did you mean "thigh.L"'),
        (("--what", "limits", "--margin", "120"), "--margin: must be between 0 and 90, not 120"),
        (("--what", "limits", "--bones", "head"), "None of the selected bones rotates in the action"),
        (("--what", "list", "--chain", "thigh.L:foot.L"), "--file is missing"),
        (("--what", "speed"), "invalid choice: 'speed'"),
    ],
)
def test_what_cannot_be_learned_is_said_and_nothing_is_written(
    run: Run, folder: Path, options: tuple[str, ...], why: str
) -> None:
    code, _, error = run("learn", "--blend", folder / "walk.blend", *options, "--output", folder / "out.blend")
    assert (code, why in error) == (2, True), error
    assert not (folder / "out.blend").exists()


def test_a_file_of_other_bones_or_of_no_polygons_is_refused(folder: Path) -> None:
    rig = bpy.data.objects["rig"]
    select(rig, ["thigh.L"])
    before = contents()
    square = [[0, 0, -1, 1], [0.1, 0, -1, 1], [0, 0.1, -1, 1], [-0.1, -0.1, -1, 1]]
    for limits, why in (
        ({"leg": square}, 'has no bone "leg"'),
        ({"thigh.L": square[:3]}, "limits.thigh.L: a polygon needs its center and at least three corners"),
        ({"thigh.L": [[0, 0, 0]] * 4}, r"limits.thigh.L\[0\]: needs 4 numbers"),
    ):
        (folder / "limits.json").write_text(json.dumps({"version": 1, "limits": limits}))
        with pytest.raises(RuntimeError, match=why):
            bpy.ops.poise.load_limits(filepath=str(folder / "limits.json"))
    with pytest.raises(RuntimeError, match="has learned limits"):
        bpy.ops.poise.save_limits(filepath=str(folder / "none.json"))
    assert contents() == before
    assert bridge.limit_cone(rig.pose.bones["thigh.L"], bridge.world_matrix(rig)) == []
    (folder / "limits.json").write_text("{}")
    with pytest.raises(CoreError, match="version"):
        read_limits(folder / "limits.json")
