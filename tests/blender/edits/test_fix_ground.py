"""A captured walk that sinks into the ground, a plane or a step, and is raised, as Blender evaluates it."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

import bridge
import commands
from core import CoreError
from core.formats.report import Report
from edits.fix_ground import FixedGround
from tests.blender.edits.test_mesh_ground import across, brought, make_ground, soles_above, way
from tests.blender.rigs import contents, context, load, make_armature
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")
RIG = DATA / "rigs" / "named_mixamo_cm.blend"
DEEP = 0.001  # metres, by which a sole may be below the ground
SUNK = 0.04  # metres


@pytest.fixture
def walker() -> tuple[Any, range]:
    (rig,) = load(RIG)
    _, frames = brought(rig)
    return rig, frames


def fix(rig: Any, frames: range, height: float = 0.0) -> tuple[FixedGround, Report]:
    edit = FixedGround(context, rig, (frames[0], frames[-1]), height)
    edit.solve()
    report = edit.write(rig)
    assert report.pose is not None
    assert report.pose.met.all()
    return edit, report


def plane() -> Any:
    """A mesh that is far away, so that heights are those above z = 0."""
    mesh = bpy.data.meshes.new("far")
    mesh.from_pydata([(1e4, 0.0, 0.0), (1e4, 1.0, 0.0), (1e4 + 1.0, 0.0, 0.0)], [], [(0, 1, 2)])
    made = bpy.data.objects.new("far", mesh)
    context.scene.collection.objects.link(made)
    context.view_layer.update()
    return made


def test_feet_below_a_plane_are_raised_to_it_and_the_others_stay(walker: tuple[Any, range]) -> None:
    rig, frames = walker
    before, places = soles_above(rig, plane(), frames)
    edit, report = fix(rig, frames, SUNK)
    after, now = soles_above(rig, plane(), frames)
    assert before.min() < SUNK - 0.03
    assert after.min() > SUNK - DEEP
    high = (before > SUNK + 0.02).all(axis=1)
    assert high.sum() == 0 or np.abs(now - places)[high].max() < DEEP
    assert np.ptp(after[:, :2] - after[:, 1:3]) > 0.05  # heels and toes still roll
    assert "cm below the ground and is now 0.0 cm below it" in edit.summary()
    assert report.floor is not None
    assert report.floor.before == pytest.approx(SUNK - before.min(), abs=DEEP)
    assert report.floor.depth == pytest.approx(max(SUNK - after.min(), 0.0), abs=DEEP)


def test_a_body_far_below_the_ground_is_raised_as_a_whole(walker: tuple[Any, range]) -> None:
    rig, frames = walker
    edits = [FixedGround(context, rig, (frames[0], frames[-1]), height) for height in (0.5, 1000.0)]
    for edit in edits:
        edit.solve()
    near, far = (edit.after.pose.rotations for edit in edits)
    np.testing.assert_allclose(far, near, atol=1e-6)
    assert edits[1].summary() == "The body was up to 100000.0 cm below the ground and is now 0.0 cm below it"


def test_nothing_changes_above_the_ground(walker: tuple[Any, range]) -> None:
    rig, frames = walker
    edit = FixedGround(context, rig, (frames[0], frames[-1]), -1.0)
    edit.solve()
    np.testing.assert_array_equal(edit.after.pose.rotations, edit.before.pose.rotations)
    np.testing.assert_array_equal(edit.after.pose.translations, edit.before.pose.translations)


def test_feet_below_a_step_are_raised_onto_it(walker: tuple[Any, range]) -> None:
    rig, frames = walker
    start, end = way(rig, frames)
    ground = make_ground(rig, across(start, end, SUNK, SUNK))
    before, _ = soles_above(rig, ground, frames)
    fix(rig, frames)
    after, _ = soles_above(rig, ground, frames)
    assert before.min() < -0.03
    assert after.min() > -2.0 * DEEP


def test_hands_knees_and_head_of_a_body_that_lies_are_raised() -> None:
    rig = make_armature()
    context.view_layer.objects.active = rig
    hips = rig.pose.bones["hips"]
    for frame, deep in ((1, 0.0), (11, SUNK)):
        hips.matrix = Matrix.Translation((0.0, 0.0, 0.05 - deep)) @ Matrix.Rotation(0.5 * np.pi, 4, "X")
        for bone in rig.pose.bones:
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        hips.keyframe_insert("location", frame=frame)
    parts = ("hand.L", "hand.R", "forearm.L", "shin.L", "shin.R", "head")

    def lowest() -> float:
        found = []
        for frame in range(1, 12):
            context.scene.frame_set(frame)
            found += [rig.pose.bones[part].head.z for part in parts] + [
                rig.pose.bones[part].tail.z for part in parts[:2]
            ]
        return min(found)

    level = lowest() + SUNK
    fix(rig, range(1, 12), level)
    assert lowest() > level - DEEP


def test_paws_of_an_animal_are_raised() -> None:
    rig = load(SHARED / "rigs" / "real" / "quaternius_cat.fbx")[0]
    context.view_layer.objects.active = rig
    bridge.assign(rig, next(one for one in bpy.data.actions if "walk" in one.name.lower()))
    first, last = bridge.keyed_range(rig)
    edit = FixedGround(context, rig, (first, last), 0.1)
    edit.solve()
    edit.write(rig)
    assert "is now 0.0 cm below it" in edit.summary()
    assert not edit.summary().startswith("The body was up to 0.0")


def test_where_nothing_is_below_the_ground_nothing_is_written(walker: tuple[Any, range], capfd: Any) -> None:
    rig, frames = walker
    context.view_layer.objects.active = rig
    fix(rig, frames, SUNK)
    before = contents()
    assert bpy.ops.poise.fix_ground(height=SUNK - DEEP) == {"FINISHED"}
    assert contents() == before
    assert "Nothing is below the ground, so nothing changes" in capfd.readouterr().out


def test_a_rig_without_feet_hands_and_knees_is_refused(walker: tuple[Any, range]) -> None:
    rig, frames = walker
    for bone in rig.pose.bones:
        bone.poise_role = "none"
    before = contents()
    with pytest.raises(CoreError, match="no feet, hands or knees"):
        fix(rig, frames, 0.0)
    assert contents() == before


def test_the_operator_and_the_verb(walker: tuple[Any, range], tmp_path: Path, capsys: Any) -> None:
    rig, _ = walker
    context.view_layer.objects.active = rig
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    given = ["--blend", str(tmp_path / "walk.blend"), "--output", str(tmp_path / "fixed.blend")]
    report = tmp_path / "report.json"
    assert commands.run(["fix-ground", "--height", str(SUNK), "--report", str(report), *given]) == 0
    assert json.loads(report.read_text(encoding="utf-8"))["method"] == "fix-ground"
    before = contents()
    assert commands.run(["fix-ground", "--height=nan", *given]) == 2
    assert "height of the ground must be between -10000 and 10000" in capsys.readouterr().err
    assert contents() == before
    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    context.view_layer.objects.active = rig
    action = rig.animation_data.action
    assert bpy.ops.poise.fix_ground(height=2.0 * SUNK) == {"FINISHED"}
    assert rig.animation_data.action != action
