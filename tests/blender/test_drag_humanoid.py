"""The drag tool by the humanoid method: it reaches, keeps pins, comes home, refuses what it cannot lead."""

from typing import Any

import bpy
import numpy as np
import pytest

from bridge import Grab
from operators.session import Session
from tests.blender.builders import contents, make_armature, select, turn, world

pytestmark = pytest.mark.usefixtures("empty_file")
NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])


@pytest.fixture
def rig() -> Any:
    """A body with pinned feet, dragged by the humanoid method."""
    rig = make_armature()
    select(rig, ["foot.L", "foot.R"])
    bpy.ops.poise.pin()
    rig.poise_method = "HUMANOID"
    for side in "LR":
        turn(rig, f"forearm.{side}", -0.3)
    bpy.context.view_layer.update()
    return rig


def test_a_hand_is_led_far_down_and_comes_home(rig: Any) -> None:
    feet = [world(rig, f"foot.{side}") for side in "LR"]
    hand, start = world(rig, "hand.L"), contents()["objects"]["rig"]["bones"]
    session = Session(bpy.context, rig, [Grab("rig", "hand.L", (0.0, 0.0, 0.0))])
    ways = [np.array([0.0, -0.3 * t, -0.9 * t]) for t in (*np.linspace(0.0, 1.0, 8), *np.linspace(1.0, 0.0, 8))]
    for number, way in enumerate(ways):
        assert session.lead(way, NO_TURN).converged
        if number == 7:
            np.testing.assert_allclose(world(rig, "hand.L"), hand + way, atol=1e-3)
            for side, place in zip("LR", feet, strict=True):
                np.testing.assert_allclose(world(rig, f"foot.{side}"), place, atol=1e-3)
            assert world(rig, "hips")[2] < 0.95
    now = contents()["objects"]["rig"]["bones"]
    for bone, channels in start.items():
        np.testing.assert_allclose(np.concatenate(now[bone]), np.concatenate(channels), atol=2e-4)
    session.give_back()


def test_the_tool_from_python_and_the_buttons_use_the_method(rig: Any) -> None:
    hand = world(rig, "hand.L")
    assert bpy.ops.poise.drag(bone="hand.L", shift=(0.0, -0.1, -0.6)) == {"FINISHED"}
    np.testing.assert_allclose(world(rig, "hand.L"), np.add(hand, (0.0, -0.1, -0.6)), atol=1e-3)
    foot = world(rig, "foot.L")
    rig.pose.bones["hips"].location = (0.0, -0.1, 0.0)
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose(world(rig, "foot.L"), foot, atol=1e-3)


def test_who_wins_is_none_of_its_business(rig: Any) -> None:
    session = Session(bpy.context, rig, [Grab("rig", "hand.L", (0.0, 0.0, 0.0))])
    session.switch(wins="DRAG")
    assert (session.wins, session.manner) == ("PINS", "as a humanoid")


def test_a_bone_that_the_method_has_no_target_for_is_refused(rig: Any) -> None:
    before = contents()
    with pytest.raises(RuntimeError, match=r'has no target for "upper_arm\.L"'):
        bpy.ops.poise.drag(bone="upper_arm.L", shift=(0.0, 0.0, 0.1))
    assert contents() == before
