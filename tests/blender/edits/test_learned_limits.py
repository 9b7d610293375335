"""Limits learned from an action: kept with the bones, heeded by all solvers, shown, forgotten."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from bridge import limit_cone, read_motion, read_rig, reading_turns, world_matrix
from core import SwingPolygon
from core.limits import excess
from core.rotation import to_matrix
from operators.drawings import _pins
from tests.blender.rigs import contents, make_armature, make_walk, said_by, select, turn, world

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture
def rig() -> Any:
    """A body that walks, its arms and legs selected."""
    rig = make_armature()
    make_walk(rig)
    select(rig, [f"{part}.{side}" for part in ("upper_arm", "forearm", "thigh", "shin") for side in "LR"])
    rig.data.bones.active = rig.data.bones["upper_arm.L"]
    return rig


def read_turns(*given: Any) -> np.ndarray:
    """What `reading_turns` returns."""

    def ended() -> Generator[float, None, None]:
        found.append((yield from reading_turns(*given)))

    found: list[np.ndarray] = []
    assert all(0.0 < share <= 1.0 for share in ended())
    return found[0]


def groups(rig: Any) -> list[SwingPolygon]:
    return [group for group in read_rig(rig).skeleton.limits if isinstance(group, SwingPolygon)]


def test_every_frame_of_the_action_is_within_what_was_learned(rig: Any, tmp_path: Path) -> None:
    assert bpy.ops.poise.learn_limits(margin=0.05) == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "learned.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "learned.blend"))
    rig = bpy.data.objects["rig"]
    (group,) = groups(rig)
    assert len(group) == 6  # the forearms stand still in it
    motion, _ = read_motion(rig, read_rig(rig), np.arange(1, 21))
    values = group.coordinates(to_matrix(motion.pose.rotations[:, group.bones]))
    assert not np.any(excess(group, values))


@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY", "AXIS_ANGLE"])
def test_what_drives_other_bones_makes_no_one_step_through_the_frames(rig: Any, mode: str) -> None:
    rig.pose.bones["thigh.L"].rotation_mode = mode
    bpy.ops.poise.learn_limits(margin=0.05)
    wanted = {bone.name: bone.poise_learned for bone in rig.pose.bones}
    rig.pose.bones["head"].constraints.new("DAMPED_TRACK").target = rig
    rig.pose.bones["head"].constraints[0].subtarget = "hand.L"
    free = [rig.data.bones.find(name) for name in ("thigh.L", "forearm.R", "spine")]
    read, frames, gone = read_rig(rig), np.arange(1.0, 20.5, 0.5), []
    assert read.evaluated
    stepped = read_motion(rig, read, frames)[0].pose.rotations[:, free]
    bpy.app.handlers.frame_change_post.append(lambda *_: gone.append(1))
    try:
        np.testing.assert_allclose(read_turns(rig, read, frames, free), stepped, atol=1e-6)
        bpy.ops.poise.learn_limits(margin=0.05)
    finally:
        bpy.app.handlers.frame_change_post.pop()
    assert not gone
    assert {bone.name: bone.poise_learned for bone in rig.pose.bones} == wanted


def test_limit_rotations_and_the_nla_are_heeded(rig: Any) -> None:
    clamp: Any = rig.pose.bones["forearm.R"].constraints.new("LIMIT_ROTATION")
    clamp.owner_space, clamp.use_limit_x, clamp.min_x, clamp.max_x = "LOCAL", True, -0.1, 0.1
    bones = [rig.data.bones.find(name) for name in ("forearm.R", "thigh.L")]
    frames = np.arange(1, 21)
    for _ in range(2):
        read = read_rig(rig)
        stepped = read_motion(rig, read, frames)[0].pose.rotations[:, bones]
        np.testing.assert_allclose(read_turns(rig, read, frames, bones), stepped, atol=1e-6)
        strip = rig.animation_data.nla_tracks.new().strips.new("walk", 1, rig.animation_data.action)
        strip.blend_type = "ADD"


def test_solvers_keep_them_and_blenders_own_limits_go_before(rig: Any) -> None:
    bpy.ops.poise.learn_limits(margin=0.05)
    rig.animation_data.action = None
    for bone in rig.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    rig.poise_root = "FIXED"
    bpy.ops.poise.drag(bone="hand.L", shift=(0.0, -0.5, 0.5))
    (group,) = groups(rig)
    own = np.array([rig.pose.bones[bone].rotation_quaternion for bone in group.bones.tolist()])
    assert np.abs(excess(group, group.coordinates(to_matrix(own)))).max() < 1e-3
    assert np.degrees(2.0 * np.arccos(own[:, 0].min())) > 5.0
    rig.pose.bones["shin.L"].use_ik_limit_x = True
    assert rig.data.bones.find("shin.L") not in groups(rig)[0].bones.tolist()


def test_the_active_bone_shows_where_it_may_point(rig: Any) -> None:
    assert _pins(bpy.context) is None
    bpy.ops.poise.learn_limits(margin=0.2)
    rig.location, rig.rotation_euler = (1.0, 2.0, 3.0), (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    marks = _pins(bpy.context)
    assert marks is not None
    bone = rig.pose.bones["upper_arm.L"]
    outline, *spokes = limit_cone(bone, world_matrix(rig))
    np.testing.assert_allclose(np.linalg.norm(outline - world(rig, "upper_arm.L"), axis=1), bone.length, rtol=1e-5)
    np.testing.assert_allclose(spokes[0][0], world(rig, "upper_arm.L"), atol=1e-5)
    tail = world(rig, "upper_arm.L", tail=True)
    assert np.linalg.norm(outline.mean(axis=0) - tail) < 0.3 * bone.length
    turn(rig, "upper_arm.L", 0.3)  # the cone stays, the bone goes
    bpy.context.view_layer.update()
    np.testing.assert_allclose(limit_cone(bone, world_matrix(rig))[0], outline, atol=1e-5)


def test_they_are_forgotten_and_what_cannot_be_is_said(rig: Any) -> None:
    bpy.ops.poise.learn_limits()
    bpy.ops.poise.forget_limits()
    assert groups(rig) == []
    before = contents()
    with pytest.raises(RuntimeError, match="None of the selected bones has learned limits"):
        bpy.ops.poise.forget_limits()
    for damaged in ("[[1, 2]", '{"version": 1}', "null"):
        rig.pose.bones["thigh.L"].poise_learned = damaged
        with pytest.raises(RuntimeError, match=r'learned limits of "thigh.L" are damaged'):
            bpy.ops.poise.drag(bone="hand.L", shift=(0.0, 0.1, 0.0))
    rig.pose.bones["thigh.L"].poise_learned = ""
    select(rig, ["head"])
    with pytest.raises(RuntimeError, match="None of the selected bones rotates in the action"):
        bpy.ops.poise.learn_limits()
    rig.animation_data_clear()
    with pytest.raises(RuntimeError, match="has no action to learn from"):
        bpy.ops.poise.learn_limits()
    assert contents()["objects"]["rig"]["bones"] == before["objects"]["rig"]["bones"]


def test_bones_that_stand_still_are_left_out_and_named(rig: Any, monkeypatch: Any) -> None:
    """An action that does not key a hand says nothing about how far it goes; it was frozen."""
    select(rig, ["thigh.L", "hand.L", "head"])
    level, said = said_by("learn_limits", monkeypatch)
    assert level == "WARNING"
    assert said == (
        "Learned the limits of 1 bone from 20 frames, less than a second; "
        "head and hand.L are left out for lack of movement"
    )
    assert [rig.pose.bones[name].poise_learned != "" for name in ("thigh.L", "hand.L", "head")] == [True, False, False]
