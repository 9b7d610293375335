"""Channels of bones in every rotation mode, as Blender evaluates them."""

from typing import Any

import numpy as np
import pytest

from bridge import read_rig
from tests.blender.bridge.rigs import CLOSE, MODES, error, evaluate
from tests.blender.rigs import chain, set_random_pose


@pytest.mark.parametrize("mode", MODES)
def test_every_rotation_mode_is_read_as_blender_evaluates_it(mode: str) -> None:
    ob = chain(4)
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    rng = np.random.default_rng(3)
    for _ in range(20):
        set_random_pose(ob, rng, 1.0)
        assert error(ob) < CLOSE


@pytest.mark.parametrize(
    ("mode", "channel", "values"),
    [
        ("QUATERNION", "rotation_quaternion", (0.0, 0.0, 0.0, 0.0)),
        ("QUATERNION", "rotation_quaternion", (-3.0, 1.0, 0.5, 2.0)),
        ("AXIS_ANGLE", "rotation_axis_angle", (1.0, 0.0, 0.0, 0.0)),
        ("AXIS_ANGLE", "rotation_axis_angle", (9.0, 0.0, 5.0, 0.1)),
        ("XYZ", "rotation_euler", (30.0, -20.0, 10.0)),
    ],
)
def test_rotations_that_are_not_normal_are_read_as_blender_takes_them(mode: str, channel: str, values: Any) -> None:
    ob = chain(2)
    ob.pose.bones[0].rotation_mode = mode
    setattr(ob.pose.bones[0], channel, values)
    evaluate(ob)
    assert error(ob) < CLOSE


def test_rotation_modes_are_the_bones_own() -> None:
    ob = chain(3)
    ob.pose.bones[1].rotation_mode = "ZXY"
    ob.pose.bones[2].rotation_mode = "AXIS_ANGLE"
    assert read_rig(ob).skeleton.rotation_modes == ("QUATERNION", "ZXY", "AXIS_ANGLE")
