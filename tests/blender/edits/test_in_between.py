"""A captured walk with a few key poses left, filled in, as Blender evaluates it."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
import commands
from core.editing.contacts import BodyPoint, find_contacts, foot_points, point_positions
from edits.bake import Baked
from edits.body_motion import BodyMotion
from edits.in_between import InBetweenEdit
from tests.blender.edits.rigs import heads_over
from tests.blender.retargets import rigify_walk
from tests.blender.rigs import contents, context, curves, load
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")
FRAMES = (2, 62)
KEYS = range(2, 63, 15)


@pytest.fixture
def walker() -> Any:
    return load(DATA / "motion" / "cmu_07_12.bvh")[0]


def places(rig: Any, frame: int) -> np.ndarray:
    """Heads (J, 3) of the bones in the world at a frame."""
    context.scene.frame_set(frame)
    return np.array([rig.matrix_world @ bone.head for bone in rig.pose.bones])


def leave(rig: Any, frames: Any = KEYS, interpolation: str = "BEZIER") -> None:
    """Remove all keys but those at some frames, and give these auto-clamped handles."""
    for curve in curves(rig.animation_data.action, rig).values():
        points = curve.keyframe_points
        for point in [one for one in points if round(one.co.x) not in frames][::-1]:
            points.remove(point, fast=True)
        for point in points:
            point.interpolation = interpolation
            point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        curve.update()


def fill(rig: Any, **options: Any) -> InBetweenEdit:
    edit = InBetweenEdit(context, rig, FRAMES, **options)
    edit.solve()
    report = edit.write(rig)
    assert report.pose is not None
    assert report.pose.met.all()
    return edit


def values(rig: Any) -> dict[Any, list[float]]:
    found = curves(rig.animation_data.action, rig)
    return {name: [curve.evaluate(frame) for frame in KEYS] for name, curve in found.items()}


def far(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(one - other, axis=-1).mean())


@pytest.mark.parametrize("interpolation", ["BEZIER", "CONSTANT"])
def test_key_poses_are_exact_and_feet_slide_less_than_blenders_interpolation_lets_them(
    walker: Any, interpolation: str
) -> None:
    true, height = heads_over(walker, *FRAMES), walker.dimensions.z
    whole = BodyMotion(context, walker, FRAMES)  # the captured motion
    leave(walker)
    blender = heads_over(walker, *FRAMES)
    leave(walker, interpolation=interpolation)
    keyed, action = values(walker), walker.animation_data.action
    edit = fill(walker)
    assert walker.animation_data.action != action
    ours = heads_over(walker, *FRAMES)
    at = np.array(KEYS) - FRAMES[0]
    np.testing.assert_allclose(ours[at], true[at], atol=1e-5 * height)
    for name, column in values(walker).items():
        np.testing.assert_allclose(column, keyed[name], atol=1e-4, rtol=1e-5, err_msg=str(name))
    assert far(ours, true) < 0.8 * far(blender, true)

    points = foot_points(whole.skeleton, whole.roles)
    touching = find_contacts(whole.skeleton, whole.before, points).touching
    both = touching[1:] & touching[:-1]
    slid: list[float] = []
    for motion in (edit.before, edit.read_frames(walker, slice(None))[0]):  # Blender's own, where it is not stepped
        inside = (motion.frames >= FRAMES[0]) & (motion.frames <= FRAMES[1])
        steps = np.diff(point_positions(edit.skeleton, motion.pose[inside], points), axis=0)
        slid.append(float(np.linalg.norm(steps[both], axis=-1).mean()))
    assert interpolation == "CONSTANT" or slid[1] < 0.65 * slid[0]


def test_few_frames_get_keys_and_others_stay_as_they_are(walker: Any) -> None:
    kept = [*KEYS[:2], *range(32, 66)]
    leave(walker, kept)
    before = heads_over(walker, *FRAMES)
    edit = InBetweenEdit(context, walker, (17, 32))
    assert edit.keys.tolist() == [17.0, 32.0]
    edit.solve()
    edit.write(walker)
    after = heads_over(walker, *FRAMES)
    stays = np.r_[0:16, 30:61]
    np.testing.assert_allclose(after[stays], before[stays], atol=1e-4 * walker.dimensions.z)
    assert np.abs(after[20:26] - before[20:26]).max() > 1e-3 * walker.dimensions.z
    between = {
        point.co.x
        for curve in curves(walker.animation_data.action, walker).values()
        for point in curve.keyframe_points
        if 17 < point.co.x < 32
    }
    assert len(between) == 1  # of 14


@pytest.mark.long
def test_more_breakdowns_come_nearer_and_all_frames_are_the_motion_itself(walker: Any) -> None:
    leave(walker)
    off, true = [], heads_over(walker, *FRAMES)
    before = walker.animation_data.action
    for share in (10.0, 30.0, 100.0):
        bridge.assign(walker, before)
        edit = InBetweenEdit(context, walker, FRAMES, share=share, tolerance=0.0)
        edit.solve()
        report = edit.write(walker)
        assert report.pose is not None
        assert report.pose.met.all()
        shown = heads_over(walker, *FRAMES)
        wanted = edit.places([BodyPoint(name, bone, (0.0, 0.0, 0.0)) for bone, name in enumerate(edit.skeleton.names)])
        inside = (edit.before.frames >= FRAMES[0]) & (edit.before.frames <= FRAMES[1])
        off.append(float(np.linalg.norm(shown - wanted[inside], axis=-1).max()))
        assert off[-1] <= edit.error + 1e-4 * walker.dimensions.z
        assert len(edit.breakdowns) <= 0.01 * share * (len(true) - len(KEYS))
    assert off[0] > 2.0 * off[1] > 0.0
    assert off[2] < 1e-4 * walker.dimensions.z


def types_of(rig: Any) -> dict[float, set[str]]:
    """The types of all keys by frame."""
    found: dict[float, set[str]] = {}
    for curve in curves(rig.animation_data.action, rig).values():
        for point in curve.keyframe_points:
            found.setdefault(point.co.x, set()).add(point.type)
    return found


def test_breakdowns_are_keys_of_this_type_and_the_next_filling_replaces_them(walker: Any) -> None:
    leave(walker)
    first = fill(walker)
    assert len(first.breakdowns)
    types, shown = types_of(walker), heads_over(walker, *FRAMES)
    assert {frame for frame, kinds in types.items() if "BREAKDOWN" in kinds} == {*first.breakdowns.tolist()}
    assert all(types[frame] == {"KEYFRAME"} for frame in KEYS)
    second = fill(walker)
    assert second.keys.tolist() == [*KEYS]
    assert types_of(walker) == types
    np.testing.assert_allclose(heads_over(walker, *FRAMES), shown, atol=1e-3 * walker.dimensions.z)


def test_the_operator_and_the_verb(walker: Any, tmp_path: Path) -> None:
    leave(walker)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "keys.blend"))
    given = ["--blend", str(tmp_path / "keys.blend"), "--output", str(tmp_path / "filled.blend")]
    assert commands.run(["in-betweens", "--report", str(tmp_path / "report.json"), *given]) == 0
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["method"] == "in-betweens"
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "keys.blend"))
    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    context.view_layer.objects.active = rig
    action = rig.animation_data.action
    assert bpy.ops.poise.fill_between(plant=False) == {"FINISHED"}
    assert rig.animation_data.action != action


@pytest.mark.parametrize(
    ("frames", "sentence"),
    [(("3", "16"), "need at least two key poses; frames 3 to 16 have 0"), (("2", "16"), "frames 2 to 16 have 1")],
)
def test_what_makes_no_sense_is_refused_and_nothing_changes(
    walker: Any, frames: tuple[str, str], sentence: str, tmp_path: Path, capsys: Any
) -> None:
    leave(walker)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    before = contents()
    given = ["--blend", str(tmp_path / "walk.blend"), "--output", str(tmp_path / "out.blend")]
    assert commands.run(["in-betweens", "--frames", *frames, *given]) == 2
    assert sentence in capsys.readouterr().err
    assert contents() == before


def animal() -> Any:
    """A quadruped whose walk has a key in every frame."""
    rig = load(SHARED / "rigs" / "real" / "mesh2motion_quadruped.glb")[0]
    bridge.assign(rig, next(action for action in bpy.data.actions if "walk" in action.name.lower()))
    edit = Baked(context, rig, bridge.keyed_range(rig))
    edit.solve()
    edit.write(rig)
    return rig


def frog() -> Any:
    """A frog whose feet are controls of their own, out of reach of its legs at times."""
    rig = load(SHARED / "rigs" / "real" / "quaternius_frog.fbx")[0]
    bridge.assign(rig, bpy.data.actions[0])
    return rig


@pytest.mark.long
@pytest.mark.skipif(not SHARED.is_dir(), reason="the larger test data (../shared/data) is not here")
@pytest.mark.parametrize("make", [rigify_walk, animal, frog])
def test_control_rigs_and_animals_keep_their_key_poses(make: Any) -> None:
    rig = make()
    first, last = bridge.keyed_range(rig)
    keys = [first, first + 8, min(first + 16, last)]
    true = {frame: places(rig, frame) for frame in keys}
    leave(rig, keys)
    between = places(rig, first + 4)
    edit = InBetweenEdit(context, rig, (keys[0], keys[-1]))
    edit.solve()
    report = edit.write(rig)
    assert report.pose is not None
    assert make is frog or report.pose.met.all()
    size = max(rig.dimensions)
    for frame, was in true.items():
        np.testing.assert_allclose(places(rig, frame), was, atol=1e-4 * size)
    assert np.abs(places(rig, first + 4) - between).max() > 1e-3 * size


def test_a_motion_with_keys_at_every_frame_is_refused(walker: Any) -> None:
    context.view_layer.objects.active = walker
    with pytest.raises(RuntimeError, match="every frame has keys"):
        bpy.ops.poise.fill_between()
