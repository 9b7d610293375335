"""Recipes saved and loaded in the panel, on another body too; equal samples; tracks of one axis; no fit."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from core import rotation
from core.formats.recipe import read_recipe
from panels.generate import POISE_PT_generate_advanced
from properties.generate import label_of
from tests.blender.edits.rigs import curve, stand
from tests.blender.rigs import contents, drawn_by, load, make_armature, select, turn
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")

context: Any = bpy.context


def keys(rig: Any, path: str) -> np.ndarray:
    return np.array([key.co for key in curve(rig, path).keyframe_points])


@pytest.fixture
def rig() -> Any:
    """A body whose stored poses differ by a turn of one arm about all of its axes, at 25 frames a second."""
    body = make_armature()
    select(body, ["upper_arm.R"])
    context.scene.render.fps = 25
    bpy.ops.poise.store_pose(pose="MIN")
    body.pose.bones["upper_arm.R"].rotation_quaternion = rotation.exp(np.array([0.6, 0.4, -0.8]))
    bpy.ops.poise.store_pose(pose="MAX")
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    return body


def test_a_track_of_bones_and_an_axis_moves_one_degree_of_freedom(rig: Any) -> None:
    assert bpy.ops.poise.add_track(part="SELECTED", axis="Z") == {"FINISHED"}
    assert [label_of(track) for track in rig.poise_tracks] == ["all", "upper_arm.R Z"]
    curve(rig, "poise_tracks[1].offset").keyframe_points[1].co = (26, 0.0)
    assert bpy.ops.poise.regenerate() == {"FINISHED"}
    np.testing.assert_allclose(rotation.log(stand(rig, "upper_arm.R", 26)), [0.6, 0.4, 0.0], atol=1e-4)
    for part in ("SELECTED", "arm.R"):
        with pytest.raises(RuntimeError, match=r'Another track already moves the bone "upper_arm.R" about Z'):
            bpy.ops.poise.add_track(part=part, axis="Z")
    assert len(rig.poise_tracks) == 2
    bpy.ops.poise.add_track(part="SELECTED", axis="X")
    rig.poise_tracks[2].axis = "Z"
    with pytest.raises(RuntimeError, match=r'Two tracks move the bone "upper_arm.R" about Z'):
        bpy.ops.poise.regenerate()
    assert {"axis", "straight", "width", "gamma"} <= {
        name for kind, name in drawn_by(POISE_PT_generate_advanced) if kind == "prop"
    }


def test_without_a_fit_a_motion_is_straight_between_its_samples(rig: Any) -> None:
    rig.poise_tracks[0].straight = True
    bpy.ops.poise.regenerate()
    angles = [np.linalg.norm(rotation.log(stand(rig, "upper_arm.R", frame))) for frame in (1, 6, 11, 21, 26)]
    whole = np.linalg.norm([0.6, 0.4, -0.8])
    np.testing.assert_allclose(angles, whole * np.array([0.0, 0.2, 0.4, 0.8, 1.0]), atol=1e-4)


def test_the_wave_of_the_source_swings_once_and_is_straight() -> None:
    body = make_armature()
    select(body, [])
    context.scene.render.fps = 20
    assert bpy.ops.poise.generate(recipe="wave_once", start=1) == {"FINISHED"}
    offsets = keys(body, "poise_tracks[0].offset")[:, 1]
    assert len(offsets) == 11  # equal ones
    assert (offsets[0], offsets[-1]) == (0.5, 0.5)
    assert np.sum(np.diff(np.sign(np.diff(offsets))) != 0) == 2  # one extreme, then the other
    assert body.poise_tracks[0].straight
    fitted = keys(body, "poise_tracks[0].fit")
    np.testing.assert_allclose(
        fitted[:, 1], np.interp(fitted[:, 0], *keys(body, "poise_tracks[0].offset").T), atol=1e-4
    )


def test_samples_are_replaced_by_equal_ones_on_the_curve(rig: Any) -> None:
    before = keys(rig, "poise_tracks[0].fit")
    for count, frames in ((1000, range(1, 52)), (5, (1, 14, 26, 38, 51)), (6, range(1, 52, 10))):  # whole frames
        assert bpy.ops.poise.equal_samples(count=count) == {"FINISHED"}
        samples = keys(rig, "poise_tracks[0].offset")
        np.testing.assert_array_equal(samples[:, 0], frames)
        np.testing.assert_allclose(samples[:, 1], np.interp(samples[:, 0], *before.T), atol=0.01)
    held = contents()
    with pytest.raises(RuntimeError, match="At least two samples"):
        bpy.ops.poise.equal_samples(count=5, path=True)
    assert contents() == held


def test_a_recipe_is_saved_and_gives_the_same_motion_when_it_is_loaded(rig: Any, tmp_path: Path) -> None:
    bpy.ops.poise.add_track(part="SELECTED", axis="X")
    rig.poise_tracks[1].straight = True
    curve(rig, "poise_tracks[1].offset").keyframe_points[1].co = (16, 0.6)
    bpy.ops.poise.regenerate()
    wanted = [stand(rig, "upper_arm.R", frame) for frame in range(1, 52, 5)]
    file = tmp_path / "salute.json"
    assert bpy.ops.poise.save_recipe(filepath=str(file)) == {"FINISHED"}
    assert read_recipe(file).name == "salute"
    for bone in rig.pose.bones:
        turn(rig, bone.name, 0.0)
    assert bpy.ops.poise.load_recipe(filepath=str(file), start=1) == {"FINISHED"}
    assert [(track.axis, track.straight) for track in rig.poise_tracks] == [("ALL", False), ("X", True)]
    found = [stand(rig, "upper_arm.R", frame) for frame in range(1, 52, 5)]
    np.testing.assert_allclose(np.abs(np.sum(np.multiply(found, wanted), axis=-1)), 1.0, atol=1e-5)


def test_a_saved_recipe_moves_another_body_with_other_names(rig: Any, tmp_path: Path) -> None:
    file = tmp_path / "salute.json"
    bpy.ops.poise.save_recipe(filepath=str(file))
    poses = json.loads(file.read_text(encoding="utf-8"))["poses"]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    other = load(DATA / "rigs" / "odd_random_rolls_apose.blend")[0]
    context.view_layer.objects.active = other
    context.scene.render.fps = 25
    assert bpy.ops.poise.load_recipe(filepath=str(file), start=1) == {"FINISHED"}
    bpy.ops.poise.save_recipe(filepath=str(tmp_path / "again.json"))
    again = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))["poses"]
    for end in ("min", "max"):
        for role in ("upper_arm.R", "upper_arm.L", "forearm.R", "thigh.L"):
            np.testing.assert_allclose(again[end][role], poses[end][role], atol=0.05)


def test_a_file_that_is_no_recipe_is_refused_and_nothing_changes(rig: Any, tmp_path: Path) -> None:
    before = contents()
    for text, why in (("{", "salute.json"), ('{"version": 1, "seconds": 1}', "poses: missing")):
        (tmp_path / "salute.json").write_text(text, encoding="utf-8")
        with pytest.raises(RuntimeError, match=why):
            bpy.ops.poise.load_recipe(filepath=str(tmp_path / "salute.json"))
    assert contents() == before


def test_a_track_of_selected_bones_moves_another_body_with_other_names(tmp_path: Path) -> None:
    """Bones are saved by role: on the other body that of the same role turns about its axis, and no other."""
    file, arm, forearm = tmp_path / "salute.json", "mixamorig:RightArm", "mixamorig:RightForeArm"

    def opened(name: str) -> Any:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        body = load(DATA / "rigs" / f"{name}.blend")[0]
        context.view_layer.objects.active, context.scene.render.fps = body, 25
        return body

    def moved(body: Any, bone: str) -> np.ndarray:
        start, end = (stand(body, bone, frame) for frame in (1, 26))
        return rotation.log(rotation.mul(rotation.inv(start), end))

    body = opened("named_mixamo_cm")
    bpy.ops.poise.store_pose(pose="MIN")
    for bone in (arm, forearm):
        body.pose.bones[bone].rotation_quaternion = rotation.exp(np.array([0.6, 0.4, -0.8]))
    bpy.ops.poise.store_pose(pose="MAX")
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    select(body, [arm])
    bpy.ops.poise.add_track(part="SELECTED", axis="X")
    curve(body, "poise_tracks[0].offset").keyframe_points[1].co = (26, 0.0)
    bpy.ops.poise.regenerate()
    np.testing.assert_allclose(moved(body, arm), [0.6, 0.0, 0.0], atol=1e-4)
    bpy.ops.poise.save_recipe(filepath=str(file))
    assert json.loads(file.read_text(encoding="utf-8"))["tracks"][1]["bones"] == ["upper_arm.R"]
    bpy.ops.poise.load_recipe(filepath=str(file), start=1)
    assert label_of(body.poise_tracks[1]) == f"{arm} X"
    np.testing.assert_allclose(moved(body, arm), [0.6, 0.0, 0.0], atol=1e-3)
    other = opened("odd_random_rolls_apose")
    assert bpy.ops.poise.load_recipe(filepath=str(file), start=1) == {"FINISHED"}
    bpy.ops.poise.regenerate()
    x, y, z = moved(other, "upper_arm.R")
    assert abs(x) > 0.1
    np.testing.assert_allclose([y, z, *moved(other, "forearm.R")], 0.0, atol=1e-4)
