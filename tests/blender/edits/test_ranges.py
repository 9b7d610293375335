"""Ranges of single bones: from the anatomy, typed, kept with the file, mirrored, heeded, drawn; and in jobs."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

import bridge
from core import CoreError, rotation
from core.formats.job import parse
from edits.job import perform_job
from operators.drawings import _pins
from panels.bone import POISE_PT_active_bone
from tests.blender.rigs import contents, curves, drawn_by, make_armature, select, world

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture
def rig() -> Any:
    body = make_armature()
    select(body, ["upper_arm.L"])
    body.data.bones.active = body.data.bones["upper_arm.L"]
    return body


def angles(rig: Any, name: str) -> np.ndarray:
    """The order-free angles of a bone from the middle of its range, degrees."""
    own = bridge.read_range(rig.pose.bones[name])
    turn = np.array(rig.pose.bones[name].rotation_quaternion)
    return np.degrees(rotation.to_order_free(rotation.mul(rotation.mul(own.before, turn), own.after)))


def test_a_range_begins_with_that_of_people_is_typed_kept_and_heeded(rig: Any, tmp_path: Path) -> None:
    select(rig, ["upper_arm.L", "hips"])
    assert bpy.ops.poise.set_range() == {"FINISHED"}
    assert not rig.pose.bones["hips"].poise_use_range
    bone = rig.pose.bones["upper_arm.L"]
    np.testing.assert_allclose(np.degrees(bone.poise_range_min), [-130, -110, -110], atol=1e-3)
    np.testing.assert_allclose(np.degrees(bone.poise_range_max), [130, 110, 125], atol=1e-3)
    bone.poise_range_min[2], bone.poise_range_max[2] = np.radians([-5.0, 15.0])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "ranged.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "ranged.blend"))
    rig = bpy.data.objects["rig"]
    bpy.ops.poise.drag(bone="hand.L", shift=(-0.2, 0.0, 0.4))
    assert 14.0 < angles(rig, "upper_arm.L")[2] < 15.1
    rig.pose.bones["upper_arm.L"].poise_use_range = False
    bpy.ops.poise.drag(bone="hand.L", shift=(-0.1, 0.0, 0.2))
    assert angles(rig, "upper_arm.L")[2] > 20.0
    names = {name for kind, name in drawn_by(POISE_PT_active_bone) if kind == "prop"}
    assert "poise_use_range" in names


def test_a_range_goes_to_the_other_side_with_one_click(rig: Any) -> None:
    bpy.ops.poise.set_range()
    left, right = (rig.pose.bones[f"upper_arm.{side}"] for side in "LR")
    left.poise_range_min, left.poise_range_max = np.radians([[-10, -20, -30], [40, 50, 60]])
    assert bpy.ops.poise.mirror_range() == {"FINISHED"}
    np.testing.assert_allclose(np.degrees(right.poise_range_min), [-10, -50, -60], atol=1e-3)
    np.testing.assert_allclose(np.degrees(right.poise_range_max), [40, 20, 30], atol=1e-3)
    assert right.poise_use_range
    wanted = np.radians([30.0, -15.0, 45.0])
    for bone, said in ((left, wanted), (right, wanted * [1.0, -1.0, -1.0])):  # are mirror images
        own, turn = bridge.read_range(bone), rotation.from_order_free(said)
        bone.rotation_quaternion = rotation.mul(rotation.mul(rotation.inv(own.before), turn), rotation.inv(own.after))
    bpy.context.view_layer.update()
    for bone in ("upper_arm", "hand"):
        there = world(rig, f"{bone}.R", tail=True) * [-1.0, 1.0, 1.0]
        np.testing.assert_allclose(world(rig, f"{bone}.L", tail=True), there, atol=1e-5)


def test_an_elbow_bends_as_far_with_the_range_of_its_anatomy_as_without(rig: Any) -> None:
    rig.poise_root = "FIXED"
    select(rig, ["forearm.L"])
    rest, bends = bridge.read_channels(rig), []
    to = np.add(world(rig, "upper_arm.L"), [0.1, -0.2, -0.05])
    for ranged in (False, True):
        bridge.write_channels(rig, rest)
        bpy.context.view_layer.update()
        if ranged:
            bpy.ops.poise.set_range()
        bpy.ops.poise.drag(bone="hand.L", shift=tuple(to - world(rig, "hand.L")))
        root, elbow, hand = (world(rig, name) for name in ("upper_arm.L", "forearm.L", "hand.L"))
        np.testing.assert_allclose(hand, to, atol=1e-3)
        bends.append(np.degrees(Vector(elbow - root).angle(Vector(hand - elbow))))
    assert bends[1] == pytest.approx(bends[0], abs=2.0)
    assert bends[0] > 115.0


def test_a_range_that_is_ticked_begins_with_that_of_people(rig: Any) -> None:
    """A range of the body's part that the user ticks and types means what the same numbers mean in a job."""
    ticked = rig.pose.bones["forearm.L"]
    ticked.poise_use_range = True
    np.testing.assert_allclose(np.degrees(ticked.poise_range_min), [-180, -160, -45], atol=1e-3)
    np.testing.assert_allclose(np.degrees(ticked.poise_range_max), [180, 0, 45], atol=1e-3)
    ticked.poise_range_min, ticked.poise_range_max = np.radians([[-10.0, -25.0, -5.0], [10.0, 0.0, 5.0]])
    shift, rest, poses = (-0.4, 0.0, 0.0), bridge.read_channels(rig), []
    goal = {"bone": "hand.L", "position": list(np.add(world(rig, "hand.L"), shift))}
    select(rig, ["hand.L"])
    bpy.ops.poise.pin(kind="POSITION")
    rig.poise_pins[0].position, rig.poise_root = goal["position"], "FIXED"
    bpy.ops.poise.solve()
    poses.append(np.array(ticked.rotation_quaternion))
    assert -25.1 < angles(rig, "forearm.L")[1] < -20.0
    bridge.write_channels(rig, rest)
    ticked.poise_use_range = False
    ends = {"min": [-10, -25, -5], "max": [10, 0, 5]}
    perform_job(
        bpy.context, rig, parse({"version": 1, "root": "fixed", "goals": [goal], "ranges": {"forearm.L": ends}})
    )
    np.testing.assert_allclose(ticked.rotation_quaternion, poses[0], atol=1e-3)
    ticked.poise_use_range = True
    np.testing.assert_allclose(np.degrees(ticked.poise_range_min), ends["min"], atol=1e-3)  # kept


def test_ends_of_a_range_take_each_other_along(rig: Any) -> None:
    bone = rig.pose.bones["upper_arm.L"]
    bone.poise_use_range = True
    bone.poise_range_min, bone.poise_range_max = np.radians([[-10, -20, -30], [40, 50, 60]])
    bone.poise_range_min[1] = np.radians(70.0)
    np.testing.assert_allclose(np.degrees(bone.poise_range_max), [40, 70, 60], atol=1e-3)
    bone.poise_range_max[2] = np.radians(-90.0)
    np.testing.assert_allclose(np.degrees(bone.poise_range_min), [-10, 70, -90], atol=1e-3)


def test_what_cannot_be_is_said_and_nothing_changes(rig: Any) -> None:
    before = contents()
    with pytest.raises(RuntimeError, match="None of the selected bones has a range"):
        bpy.ops.poise.mirror_range()
    select(rig, ["spine"])
    bpy.ops.poise.set_range()
    with pytest.raises(RuntimeError, match='"spine" has no counterpart on the other side'):
        bpy.ops.poise.mirror_range()
    rig.keyframe_insert('pose.bones["spine"].poise_range_min', index=0, frame=1)
    rig.keyframe_insert('pose.bones["spine"].poise_range_max', index=0, frame=1)
    keyed = curves(rig.animation_data.action, rig).values()
    for curve, end in zip(keyed, (1.0, 0.5), strict=True):  # typed ends follow each other, keyed ones do not
        curve.keyframe_points[0].co = 1.0, end
    bpy.context.scene.frame_set(1)
    with pytest.raises(RuntimeError, match=r'"spine": The range about X goes from 57\.2958 to 28\.6479 degrees'):
        bpy.ops.poise.drag(bone="hand.L", shift=(0.0, 0.0, 0.1))
    assert contents()["objects"]["rig"]["bones"] == before["objects"]["rig"]["bones"]


@pytest.mark.parametrize("kind", ["box", "cone", "none"])
def test_the_limits_of_the_active_bone_are_drawn(rig: Any, kind: str) -> None:
    bone = rig.pose.bones["upper_arm.L"]
    if kind == "box":
        bpy.ops.poise.set_range()
        bone.poise_range_min, bone.poise_range_max = np.radians([[-30, -180, -30], [30, 180, 30]])
    if kind == "cone":
        for axis in "xz":
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", np.radians(-30.0))
            setattr(bone, f"ik_max_{axis}", np.radians(30.0))
    lines = bridge.limit_cone(bone, bridge.world_matrix(rig))
    assert (len(lines) > 1) == (kind != "none")
    assert (_pins(bpy.context) is not None) == (kind != "none")
    if lines:
        ways = lines[0] - world(rig, "upper_arm.L")
        np.testing.assert_allclose(np.linalg.norm(ways, axis=1), bone.length, rtol=1e-5)
    if kind == "cone":
        along = world(rig, "upper_arm.L", tail=True) - world(rig, "upper_arm.L")
        off = np.degrees(np.arccos(ways @ along / bone.length**2))
        assert off == pytest.approx(np.full(len(off), 30.0), abs=2.1)


def test_a_job_has_ranges_of_single_bones(rig: Any) -> None:
    goal = {"bone": "hand.L", "position": [0.45, -0.4, 1.2]}
    ranges = {"upper_arm.L": {"min": [-5, -5, -5], "max": [5, 5, 5]}, "spine": {"min": [0, 0, 0], "max": [0, 0, 0]}}
    bpy.ops.poise.set_range()  # the frame that the angles are in
    rig.pose.bones["upper_arm.L"].poise_use_range = False
    perform_job(bpy.context, rig, parse({"version": 1, "root": "fixed", "goals": [goal], "ranges": ranges}))
    assert np.abs(angles(rig, "upper_arm.L")).max() < 5.1
    assert abs(rig.pose.bones["spine"].rotation_quaternion.angle) < 1e-4
    for wrong, why in (
        ({"spine": {"min": [0, 5, 0], "max": [0, 0, 0]}}, "ranges.spine: the range about Y ends before it begins"),
        ({"spine": {"min": [0, 0, 0]}}, "ranges.spine.max: missing"),
        ({"spine": {"min": [0, 0, 0], "max": [0, 0, 270]}}, r"ranges.spine.max\[2\]: must be between -180 and 180"),
    ):
        with pytest.raises(CoreError, match=why):
            parse({"version": 1, "goals": [goal], "ranges": wrong})
    lost = parse({"version": 1, "goals": [goal], "ranges": {"spin": {"min": [0, 0, 0], "max": [1, 1, 1]}}})
    with pytest.raises(CoreError, match=r"ranges\.spin: "):
        perform_job(bpy.context, rig, lost)
