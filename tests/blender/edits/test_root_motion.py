"""Root motion of a captured walk, as Blender evaluates it."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import commands
from edits.root_motion import RootMotion
from tests.blender.rigs import contents, context, load, make_armature
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")
FRAMES = (2, 66)
EXACT = 1e-4  # metres


@pytest.fixture
def walker() -> Any:
    return load(DATA / "motion" / "cmu_07_12.bvh")[0]


@pytest.fixture
def rooted(walker: Any) -> Any:
    """The same walk below a root bone."""
    bpy.ops.object.mode_set(mode="EDIT")
    root = walker.data.edit_bones.new("root")
    root.head, root.tail = (0.0, 0.0, 0.0), (0.0, 5.0, 0.0)
    top = next(bone for bone in walker.data.edit_bones if bone.parent is None and bone.name != "root")
    top.parent = root
    bpy.ops.object.mode_set(mode="OBJECT")
    return walker


def seen(rig: Any) -> dict[str, np.ndarray]:
    """Heads and tails (F, 2, 3) of the bones in the world at all frames, as Blender evaluates them."""
    found: dict[str, list[Any]] = {bone.name: [] for bone in rig.pose.bones}
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        context.scene.frame_set(frame)
        for bone in rig.pose.bones:
            found[bone.name].append([rig.matrix_world @ bone.head, rig.matrix_world @ bone.tail])
    return {name: np.array(ends) for name, ends in found.items()}


def run(rig: Any, carrier: Any, **settings: Any) -> dict[str, np.ndarray]:
    edit = RootMotion(context, rig, FRAMES, carrier, **settings)
    edit.solve()
    report = edit.write(rig)
    assert report.pose is not None
    assert report.pose.met.all()
    return seen(rig)


def test_the_root_bone_travels_and_gives_the_travel_back(rooted: Any) -> None:
    before, action = seen(rooted), rooted.animation_data.action
    given = run(rooted, "root")
    size = np.ptp(before["Hips"][:, 0, :2], axis=0).max()
    for name in before.keys() - {"root"}:
        np.testing.assert_allclose(given[name], before[name], atol=EXACT * size)
    travelled = given["root"][-1, 0] - given["root"][0, 0]
    assert np.linalg.norm(travelled[:2]) > 0.9 * np.linalg.norm((before["Hips"][-1, 0] - before["Hips"][0, 0])[:2])
    apart = given["Hips"][:, 0, :2] - given["root"][:, 0, :2]
    assert np.ptp(apart, axis=0).max() < 0.15 * size
    assert rooted.animation_data.action != action

    back = run(rooted, "body")
    for name, ends in before.items():
        np.testing.assert_allclose(back[name], ends, atol=EXACT * size)


def test_in_place_a_walk_goes_nowhere_and_keeps_its_ups_and_downs(walker: Any) -> None:
    before = seen(walker)
    still = run(walker, "nobody")
    way, rest = (np.ptp(one["Hips"][:, 0, :2], axis=0).max() for one in (before, still))
    assert rest < 0.12 * way
    np.testing.assert_allclose(still["Hips"][:, 0, 2], before["Hips"][:, 0, 2], atol=EXACT * way)
    for name in ("LeftFoot", "RightFoot"):
        gone = np.linalg.norm(still[name][:, 0] - still["Hips"][:, 0], axis=1)
        np.testing.assert_allclose(
            gone, np.linalg.norm(before[name][:, 0] - before["Hips"][:, 0], axis=1), atol=EXACT * way
        )


def test_one_axis_alone_is_taken_out(walker: Any) -> None:
    before = seen(walker)["Hips"][:, 0]
    along = int(np.argmax(np.ptp(before[:, :2], axis=0)))
    still = run(walker, "nobody", smooth=0.0, axes=("xy"[along],))["Hips"][:, 0]
    assert np.ptp(still[:, along]) < EXACT * np.ptp(before[:, along])
    np.testing.assert_allclose(still[:, 1 - along], before[:, 1 - along], atol=EXACT * np.ptp(before[:, along]))


def test_without_a_root_bone_nothing_is_changed_and_the_tool_says_so(walker: Any) -> None:
    before = contents()
    with pytest.raises(RuntimeError, match="No bone above the hips"):
        bpy.ops.poise.root_motion(carrier="ROOT")
    assert contents() == before


def test_the_operator_takes_the_travel_out_in_one_go(walker: Any) -> None:
    context.view_layer.objects.active = walker
    before = seen(walker)["Hips"][:, 0, :2]
    assert bpy.ops.poise.root_motion(carrier="NOBODY", axes={"X", "Y"}) == {"FINISHED"}
    hips = seen(walker)["Hips"][:, 0, :2]
    assert np.linalg.norm(hips[-1] - hips[0]) < 0.1 * np.linalg.norm(before[-1] - before[0])


def test_headless(rooted: Any, tmp_path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    given = ["--blend", str(tmp_path / "walk.blend"), "--output", str(tmp_path / "root.blend")]
    assert commands.run(["root-motion", "--to", "root", "--report", str(tmp_path / "report.json"), *given]) == 0
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["method"] == "root-motion"
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "root.blend"))
    given_back = seen(next(object for object in bpy.data.objects if object.type == "ARMATURE"))["root"][:, 0]
    assert np.linalg.norm(given_back[-1] - given_back[0]) > 1.0


@pytest.mark.parametrize("options", [("--smooth", "-1"), ("--smooth", "1e9")])
def test_numbers_that_make_no_sense_are_refused(options: tuple[str, str], tmp_path: Path, capsys: Any) -> None:
    make_armature()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    given = ["--blend", str(tmp_path / "rig.blend"), "--output", str(tmp_path / "out.blend")]
    assert commands.run(["root-motion", "--to", "nobody", "=".join(options), *given]) == 2
    assert "The smoothing of root motion is from 0 to 60 seconds." in capsys.readouterr().err
