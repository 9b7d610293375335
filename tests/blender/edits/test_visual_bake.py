"""A visual bake shows without constraints what Blender showed with them, and what it does not show, it says.

Ground truth is Blender's own evaluation. Four rigs are tried; with POISE_ZOO=full all of `control_drags.RIGS`.
"""

import re
from typing import Any

import numpy as np
import pytest

import bridge
import commands
from bridge.channels import rotation_channel
from core.formats.report import GoalReport
from edits.bake import Baked
from tests.blender.control_drags import RIGS
from tests.blender.rigs import FULL, context, make_ik_body

pytestmark = pytest.mark.usefixtures("empty_file")

IN_CI = ("Auto-Rig Pro on IK", "CloudRig on FK", "reverse feet without poles", "Rigify on FK")
FRAMES = range(1, 6)
NEAR = 1e-4  # of a human of 1.7 m
_SHEARED = "IK that stretches shears what is behind it, by more than 1e-4; no channel has that"
SHEARED = ("Rigify on IK", "Rigify on IK with poles", "Rigify's wolf")


def key_controls(rig: Any) -> None:
    """Key all controls of a body in random poses."""
    rng, whole = np.random.default_rng(5), bridge.read_rig(rig)
    controlled = bridge.find_controlled(rig, whole, bridge.read_roles(rig, whole.skeleton))
    assert controlled is not None
    moved = {*controlled.bones_that("moves").tolist()}
    for frame in (FRAMES[0], FRAMES[-1]):
        for number in sorted(controlled.keyed):
            bone = rig.pose.bones[number]
            channel = rotation_channel(bone.rotation_mode)
            turn = rng.normal(0.0, 0.2, 3)
            if channel == "rotation_quaternion":
                bone.rotation_quaternion = (1.0, *(0.5 * turn))
            elif channel == "rotation_euler":
                bone.rotation_euler = turn
            if number in moved:
                bone.location = 0.05 * whole.skeleton.size * rng.uniform(-1.0, 1.0, 3)
            bone.keyframe_insert("location", frame=frame)
            bone.keyframe_insert(channel, frame=frame)


def shown(rig: Any) -> tuple[np.ndarray, np.ndarray]:
    """The ends (F, 2, J, 3) and the axes (F, J, 3, 3) of the bones that deform, as Blender shows them."""
    bones = [bone for bone in rig.pose.bones if bone.bone.use_deform]
    ends, axes = [], []
    for frame in FRAMES:
        context.scene.frame_set(frame)
        ends.append([[bone.head[:] for bone in bones], [bone.tail[:] for bone in bones]])
        axes.append([np.array(bone.matrix.to_3x3()) for bone in bones])
    return np.array(ends), np.array(axes)


def bake(rig: Any) -> GoalReport:
    edit = Baked(context, rig, (FRAMES[0], FRAMES[-1]), (), 1, visual=True, mute=True)
    edit.solve()
    report = edit.write(rig)
    assert report.pose is not None
    return report.pose


@pytest.mark.parametrize("name", RIGS if FULL else IN_CI)
def test_bones_stay_where_they_were_seen_on_any_control_rig(name: str) -> None:
    rig, _ = RIGS[name]()
    key_controls(rig)
    before, axes = shown(rig)
    size = bridge.read_rig(rig).skeleton.size
    told = bake(rig)
    after, turned = shown(rig)
    off = np.linalg.norm(after - before, axis=-1).max()
    assert off < NEAR * size
    lengths = np.array([bone.bone.length for bone in rig.pose.bones if bone.bone.use_deform])
    aside = after[:, :1, :, :] - before[:, :1, :, :] + np.moveaxis((turned - axes) * lengths[:, None, None], -1, 1)
    assert told.position_error is not None
    most = max(off, np.linalg.norm(aside, axis=-1).max())
    assert told.position_error.max() == pytest.approx(most, abs=1e-6 * size)
    assert told.met.all() == (name not in SHEARED)
    if name not in SHEARED:
        np.testing.assert_allclose(turned, axes, atol=NEAR)


def test_locked_channels_are_keyed_too() -> None:
    rig = make_ik_body()
    for bone in rig.pose.bones:
        bone.lock_location = bone.lock_rotation = bone.lock_scale = (True, True, True)
        bone.lock_ik_x = bone.name == "shin.R"
    placed = rig.pose.bones["hand.L"].constraints.new("COPY_LOCATION")
    placed.target, placed.subtarget = rig, "foot_ik.L"
    for frame, height in ((1, 0.0), (5, 0.3)):
        rig.pose.bones["foot_ik.L"].location.z = height
        rig.pose.bones["foot_ik.L"].keyframe_insert("location", frame=frame)
    before, axes = shown(rig)
    assert bake(rig).met.all()
    after, turned = shown(rig)
    np.testing.assert_allclose(after, before, atol=NEAR)
    np.testing.assert_allclose(turned, axes, atol=NEAR)


def test_a_driver_that_would_unmute_a_constraint_is_muted_with_it() -> None:
    rig = make_ik_body()
    ik = rig.pose.bones["shin.L"].constraints["IK"]
    ik.driver_add("mute").driver.expression = "False"
    rig.pose.bones["foot_ik.L"].location.z = 0.3
    rig.pose.bones["foot_ik.L"].keyframe_insert("location", frame=1)
    before, _ = shown(rig)
    bake(rig)
    after, _ = shown(rig)
    np.testing.assert_allclose(after, before, atol=NEAR)
    assert ik.mute


def test_a_verb_whose_result_is_not_shown_as_wanted_says_so_by_its_exit_code(capsys: Any) -> None:
    rig = make_ik_body()
    half = rig.pose.bones["forearm.R"].constraints.new("COPY_ROTATION")
    half.target, half.subtarget, half.influence = rig, "foot_ik.L", 0.5
    for frame in (1, 2):
        rig.pose.bones["upper_arm.R"].keyframe_insert("rotation_quaternion", frame=frame)
    assert commands.run(["bake", "--visual"]) == 1  # half the way is gone again from the keys
    told = capsys.readouterr().err
    assert re.search(r"forearm\.R is \d+ mm away from its solved position", told)
    assert "0 of 2 frames met" in told


def test_the_help_names_what_exit_code_1_allows(capsys: Any) -> None:
    assert commands.run(["--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "3 mm (of a human of 1.7 m) or 1 degree" in told
