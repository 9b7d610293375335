"""Loops of a captured walk, as Blender evaluates them."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
import commands
from edits.loop import LoopEdit
from tests.blender.rigs import contents, context, curves, load
from tests.paths import DATA, SHARED

pytestmark = [pytest.mark.usefixtures("empty_file"), pytest.mark.long]
FRAMES = (2, 66)
NEAR = 1e-3  # of the body's height


@pytest.fixture
def walker() -> Any:
    return load(DATA / "motion" / "cmu_07_12.bvh")[0]


def seen(rig: Any, first: int, last: int) -> dict[str, np.ndarray]:
    """Matrices (F, 4, 4) of the bones in the world, as Blender evaluates them."""
    found: dict[str, list[Any]] = {bone.name: [] for bone in rig.pose.bones}
    for frame in range(first, last + 1):
        context.scene.frame_set(frame)
        for bone in rig.pose.bones:
            found[bone.name].append(rig.matrix_world @ bone.matrix)
    return {name: np.array(matrices) for name, matrices in found.items()}


@pytest.mark.parametrize("turning", [True, False])
def test_each_cycle_of_a_captured_walk_begins_as_the_last_one_ended(walker: Any, turning: bool) -> None:
    height = walker.dimensions.z
    before, action = seen(walker, *FRAMES), walker.animation_data.action
    edit = LoopEdit(context, walker, FRAMES, find=True, turning=turning)
    first, last = (int(frame) for frame in edit.before.frames[[0, -1]])
    assert 20 <= last - first <= 32  # a stride of 0.8 to 1.1 seconds
    edit.solve()
    report = edit.write(walker)
    assert report.pose is not None
    assert report.pose.met.all()
    made = walker.animation_data.action
    assert made != action
    assert (made.use_cyclic, made.use_frame_range, made.frame_start, made.frame_end) == (True, True, first, last)

    after = seen(walker, first, last)
    travels = [matrices[-1] @ np.linalg.inv(matrices[0]) for matrices in after.values()]
    for travel in travels:  # all bones travel as one
        np.testing.assert_allclose(travel[:3, :3], travels[0][:3, :3], atol=NEAR)
        np.testing.assert_allclose(travel[:3, 3], travels[0][:3, 3], atol=NEAR * height)
    assert travels[0][2, 2] == pytest.approx(1.0, abs=1e-5)  # upright, and as high as before
    assert travels[0][2, 3] == pytest.approx(0.0, abs=NEAR * height)
    if not turning:
        np.testing.assert_allclose(travels[0][:3, :3], np.eye(3), atol=1e-5)
    assert np.linalg.norm(travels[0][:3, 3]) > 0.4 * height

    again = seen(walker, *FRAMES)
    for name, matrices in before.items():
        others = np.r_[0 : first - FRAMES[0], last + 1 - FRAMES[0] : len(matrices)]
        np.testing.assert_array_equal(again[name][others], matrices[others])


def test_feet_that_stand_at_the_seam_stand_still(walker: Any) -> None:
    edit = LoopEdit(context, walker, FRAMES, find=True)
    edit.solve()
    edit.write(walker)
    first, last = (int(frame) for frame in edit.before.frames[[0, -1]])
    across = [pin for pin in edit.pins if pin.start < first <= pin.end or pin.start <= last < pin.end]
    assert across
    after, height = seen(walker, first, last), walker.dimensions.z
    names = edit.skeleton.names
    for pin in across:
        bone = names[edit.skeleton.index(pin.bone)]
        points = after[bone] @ np.append(pin.point, 1.0)
        on = slice(max(int(pin.start), first) - first, min(int(pin.end), last) - first + 1)
        assert np.ptp(points[on, :2], axis=0).max() < NEAR * height


def test_the_operator_makes_a_loop_in_one_go(walker: Any) -> None:
    context.view_layer.objects.active = walker
    scene, whole = context.scene, (context.scene.frame_start, context.scene.frame_end)
    assert bpy.ops.poise.make_loop(find=True, preview=False) == {"FINISHED"}
    assert walker.animation_data.action.use_cyclic
    assert not scene.use_preview_range
    assert bpy.ops.poise.make_loop(find=False) == {"FINISHED"}
    action = walker.animation_data.action
    assert (scene.frame_preview_start, scene.frame_preview_end + 1) == tuple(action.frame_range)
    assert scene.use_preview_range
    assert (scene.frame_start, scene.frame_end) == whole


@pytest.mark.parametrize("tool", ["smooth_motion", "make_loop", "root_motion", "fix_ground"])
def test_muted_curves_stay_and_the_report_says_so(walker: Any, tool: str, capfd: Any) -> None:
    context.view_layer.objects.active = walker
    muted = [one for one in curves(walker.animation_data.action, walker).values() if '"LeftArm"' in one.data_path]
    before = {one.array_index: [tuple(key.co) for key in one.keyframe_points] for one in muted}
    for one in muted:
        one.mute = True
    assert getattr(bpy.ops.poise, tool)() == {"FINISHED"}
    assert "muted curves stay as they are: LeftArm" in capfd.readouterr().out
    for one in curves(walker.animation_data.action, walker).values():
        if '"LeftArm"' in one.data_path:
            assert one.mute
            assert [tuple(key.co) for key in one.keyframe_points] == before[one.array_index]


def test_frames_outside_the_motion_are_refused(walker: Any) -> None:
    context.view_layer.objects.active = walker
    first, last = bridge.keyed_range(walker)
    for tool in ("make_loop", "smooth_motion", "root_motion", "fix_ground", "edit_path"):
        with pytest.raises(RuntimeError, match=f"motion has frames {first} to {last}, not {first - 1} to {last}"):
            getattr(bpy.ops.poise, tool)(frame_start=first - 1)


def test_headless(walker: Any, tmp_path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    given = ["--blend", str(tmp_path / "walk.blend"), "--output", str(tmp_path / "loop.blend")]
    assert commands.run(["make-loop", "--find", "--report", str(tmp_path / "report.json"), *given]) == 0
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["method"] == "make-loop"
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "loop.blend"))
    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    assert rig.animation_data.action.use_cyclic


@pytest.mark.parametrize("fade", [0.0, -1.0, 1e9])
def test_a_fade_that_makes_no_sense_is_refused_and_nothing_changes(
    walker: Any, fade: float, tmp_path: Path, capsys: Any
) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    before = contents()
    given = ["--blend", str(tmp_path / "walk.blend"), "--output", str(tmp_path / "out.blend")]
    assert commands.run(["make-loop", f"--fade={fade}", *given]) == 2
    assert "The fade of a loop must be above 0 and at most 60 seconds." in capsys.readouterr().err
    assert contents() == before


def test_an_animal_that_walks_on_the_spot_stays_as_it_is_but_for_its_ends() -> None:
    file = SHARED / "rigs" / "real" / "quaternius_cat.fbx"
    if not file.is_file():
        pytest.skip("the larger test data (../shared/data) is not here")
    bpy.ops.import_scene.fbx(filepath=str(file))
    cat = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    cat.animation_data.action = next(one for one in bpy.data.actions if "walk" in one.name.lower())
    cat.animation_data.action_slot = cat.animation_data.action.slots[0]
    first, last = (round(frame) for frame in cat.animation_data.action.frame_range)
    before = seen(cat, first, last)
    edit = LoopEdit(context, cat, (first, last))
    edit.solve()
    edit.write(cat)
    after, height = seen(cat, first, last), cat.dimensions.z
    far = [np.linalg.norm(after[name][..., :3, 3] - before[name][..., :3, 3], axis=-1).max() for name in before]
    assert 0.0 < max(far) < 0.005 * height  # its ends were that far apart, over its velocities at them
