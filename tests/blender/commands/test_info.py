"""`info`: what it tells of armatures, in JSON and in words."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.blender.commands.rigs import Run, opened, snapshot
from tests.blender.rigs import make_armature, make_chain, make_empty, turn

pytestmark = pytest.mark.usefixtures("empty_file")


def test_info_tells_all_of_the_format(run: Run, folder: Path) -> None:
    rig = opened(folder / "walk.blend")
    rig.data.bones["hips"].use_deform = False
    rig.pose.bones["head"].rotation_mode = "ZXY"
    code, data, told = run("info", "--json")
    assert code == 0
    (entry,) = data["armatures"]
    about_roles = {"humanoid", "roles", "twist", "limbs", "confidence", "missing", "facing", "up", "rest", "names"}
    assert set(entry) == {"name", "bones", "actions"} | about_roles
    assert entry["name"] == "rig"
    assert [bone["name"] for bone in entry["bones"]] == [bone.name for bone in rig.data.bones]
    by_name = {bone["name"]: bone for bone in entry["bones"]}
    assert by_name["hips"] == {
        "name": "hips",
        "parent": None,
        "head": [0, 0, 1],
        "tail": [0, 0, 1.15],
        "length": 0.15,
        "rotation_mode": "QUATERNION",
        "deform": False,
        "limits": None,
        "driven": None,
    }
    assert by_name["head"]["rotation_mode"] == "ZXY"
    assert by_name["foot.L"]["parent"] == "shin.L"
    assert entry["actions"] == [{"name": "walk", "frames": [1, 20], "active": True}]
    assert "rig: 16 bones" in told


def test_info_tells_limits_in_degrees_and_what_drives_a_bone(run: Run) -> None:
    rig = make_armature()
    shin = rig.pose.bones["shin.L"]
    shin.use_ik_limit_x, shin.ik_min_x, shin.ik_max_x = True, 0.0, np.radians(150.0)
    limit = rig.pose.bones["head"].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_y, limit.min_y, limit.max_y = "LOCAL", True, np.radians(-60), np.radians(45)
    copy = rig.pose.bones["hand.R"].constraints.new("COPY_ROTATION")
    copy.target = make_empty("Cup")
    rig.hide_viewport = True
    (entry,) = run("info", "--json")[1]["armatures"]
    by_name = {bone["name"]: bone for bone in entry["bones"]}
    assert by_name["shin.L"]["limits"] == {"x": [0, pytest.approx(150, abs=1e-4)]}
    assert by_name["head"]["limits"] == {"y": [pytest.approx(-60, abs=1e-4), pytest.approx(45, abs=1e-4)]}
    assert by_name["head"]["driven"] is None
    assert by_name["hand.R"]["driven"] == 'constraint "Copy Rotation" on "hand.R"'


def test_info_lists_armatures_by_name_with_the_actions_that_fit_them(run: Run, folder: Path) -> None:
    opened(folder / "walk.blend")
    chain = make_chain(2, "chain")
    turn(chain, "b1", 0.3)
    chain.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=2.5)
    chain.animation_data.action.name = "bend"
    chain.animation_data.action.use_fake_user = True
    chain.animation_data.action = None
    make_armature("Bare", {})
    entries = run("info", "--json")[1]["armatures"]
    assert [(entry["name"], entry["actions"]) for entry in entries] == [
        ("Bare", []),
        ("chain", [{"name": "bend", "frames": [2.5, 2.5], "active": False}]),
        ("rig", [{"name": "walk", "frames": [1, 20], "active": True}]),
    ]
    (only,) = run("info", "--armature", "chain", "--json")[1]["armatures"]
    assert only["name"] == "chain"


def test_info_without_an_armature_is_exit_code_2(run: Run) -> None:
    code, data, told = run("info", "--json")
    assert (code, data) == (2, {})
    assert "There is no armature in the file." in told


def test_info_changes_nothing(run: Run, folder: Path) -> None:
    files = snapshot(folder)
    assert run("info", "--blend", folder / "walk.blend", "--json", folder / "info.json")[0] == 0
    written = json.loads((folder / "info.json").read_text(encoding="utf-8"))
    assert written["armatures"][0]["name"] == "rig"
    (folder / "info.json").unlink()
    assert snapshot(folder) == files


def test_info_tells_what_plays_which_part(run: Run) -> None:
    rig = make_armature()
    rig.hide_viewport = True  # the rest pose is there all the same
    _, data, told = run("info", "--json")
    (entry,) = data["armatures"]
    assert entry["humanoid"] is True
    limbs = {f"{part}.{side}" for part in ("upper_arm", "forearm", "hand", "thigh", "shin", "foot") for side in "LR"}
    assert entry["roles"] == {
        "hips": "hips", "spine": ["spine", "chest"], "neck": [], "head": "head", **{limb: limb for limb in limbs},
    }  # fmt: skip
    assert entry["confidence"].keys() == entry["roles"].keys()
    assert entry["missing"] == ["shoulder.L", "toe.L", "shoulder.R", "toe.R"]
    assert (entry["facing"], entry["up"], entry["rest"]) == ("-Y", "+Z", "T")
    assert (entry["twist"], entry["limbs"]) == ({}, {})
    assert "a human body facing -Y, rest pose T" in told


def test_info_tells_what_is_no_human_body(run: Run) -> None:
    make_chain(3)
    (entry,) = run("info", "--json")[1]["armatures"]
    assert (entry["humanoid"], entry["roles"], entry["missing"], entry["rest"]) == (False, {}, [], "other")
