"""Pins that hold another point of a bone than its head."""

from typing import Any

import bpy
import numpy as np
import pytest

from bridge import Grab
from edits.drag.chain import begin_drag
from edits.pin_list import set_pins
from edits.pins import job_from_pins
from operators.drawings import _pins
from panels.pins import POISE_UL_pins
from tests.blender.control_drags import RIGS
from tests.blender.rigs import make_armature, make_ik_body, make_walk, select, turn, world

pytestmark = pytest.mark.usefixtures("empty_file")
context: Any = bpy.context
NEAR = 1e-3


@pytest.fixture
def rig() -> Any:
    object = make_armature()
    turn(object, "forearm.L", 0.3)
    select(object, [])
    return object


def tip(rig: Any, bone: str) -> np.ndarray:
    context.view_layer.update()
    return np.array(rig.matrix_world @ rig.pose.bones[bone].tail)


def tail(rig: Any, bone: str) -> tuple[float, float, float]:
    return 0.0, rig.data.bones[bone].length, 0.0


def test_p_in_a_drag_of_a_tip_pins_that_tip(rig: Any) -> None:
    before = tip(rig, "hand.L")
    point = tail(rig, "hand.L")
    bpy.ops.poise.drag(bone="hand.L", point=point, shift=(-0.1, -0.2, 0.1), pin="POSITION")
    (pin,) = rig.poise_pins
    assert (pin.name, tuple(pin.point)) == ("hand.L", pytest.approx(point))
    np.testing.assert_allclose(pin.position, np.add(before, (-0.1, -0.2, 0.1)), atol=NEAR)
    bpy.ops.poise.drag(bone="chest", shift=(0.05, 0.0, -0.05))
    np.testing.assert_allclose(tip(rig, "hand.L"), pin.position, atol=NEAR)


def test_a_pinned_tip_lets_its_bone_turn_about_it(rig: Any) -> None:
    select(rig, ["hand.L"])
    bpy.ops.poise.pin(kind="POSITION", point="TAIL")
    before, head = tip(rig, "hand.L"), world(rig, "hand.L")
    bpy.ops.poise.drag(bone="forearm.L", shift=(0.0, 0.1, -0.1))
    np.testing.assert_allclose(tip(rig, "hand.L"), before, atol=NEAR)
    assert np.linalg.norm(world(rig, "hand.L") - head) > 0.01


def test_the_pins_of_the_panel_and_the_point_of_a_job_mean_the_same(rig: Any) -> None:
    select(rig, ["hand.L", "hand.R"])
    bpy.ops.poise.pin(kind="POSITION", point="TAIL")
    rig.poise_pins["hand.R"].point = (0.0, 0.0, 0.0)
    rig.poise_pins["hand.R"].position = world(rig, "hand.R")
    goals = {goal.bone: goal.point for goal in job_from_pins(rig).goals}
    assert goals == {"hand.L": pytest.approx(tail(rig, "hand.L")), "hand.R": "head"}
    place = tip(rig, "hand.L")
    turn(rig, "upper_arm.L", -0.3)
    assert np.linalg.norm(tip(rig, "hand.L") - place) > 0.05
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose(tip(rig, "hand.L"), place, atol=NEAR)


@pytest.mark.parametrize("space", ["ARMATURE", "WORLD", "ANIMATION"])
def test_a_pin_of_a_tip_stays_there_in_another_space_and_moves_to_the_tip(rig: Any, space: str) -> None:
    rig.location, rig.rotation_euler = (1.0, 0.5, 0.0), (0.0, 0.0, 0.7)
    select(rig, ["hand.L"])
    bpy.ops.poise.pin(kind="POSITION", point="TAIL")
    bpy.ops.poise.pin_space(bone="hand.L", space=space)
    bpy.ops.poise.pin_space(bone="hand.L", space="WORLD")
    np.testing.assert_allclose(rig.poise_pins[0].position, tip(rig, "hand.L"), atol=1e-5)
    turn(rig, "upper_arm.L", -0.3)
    bpy.ops.poise.pin_here()
    np.testing.assert_allclose(rig.poise_pins[0].position, tip(rig, "hand.L"), atol=1e-5)
    marks = _pins(context)
    assert marks is not None
    np.testing.assert_allclose(marks.pins[0].bone, tip(rig, "hand.L"), atol=1e-5)


def test_a_mirrored_pin_holds_the_mirrored_point(rig: Any) -> None:
    turn(rig, "forearm.L", 0.0)
    select(rig, ["hand.L"])
    bpy.ops.poise.pin(kind="POSITION")
    pin = rig.poise_pins["hand.L"]
    pin.point = (0.02, 0.05, -0.03)
    bpy.ops.poise.pin_here()
    assert bpy.ops.poise.mirror_pins() == {"FINISHED"}
    one, other = (np.array(rig.poise_pins[name].position) for name in ("hand.L", "hand.R"))
    np.testing.assert_allclose(other, one * (-1.0, 1.0, 1.0), atol=1e-5)
    bone = rig.pose.bones["hand.R"]
    np.testing.assert_allclose(bone.matrix @ rig.poise_pins["hand.R"].point, other, atol=1e-5)


def test_a_pin_of_a_tip_to_the_animation_holds_it_where_each_frame_has_it(rig: Any) -> None:
    make_walk(rig)
    select(rig, ["foot.L"])
    bpy.ops.poise.pin(kind="POSITION", point="TAIL", space="ANIMATION")
    context.scene.frame_set(15)
    before = tip(rig, "foot.L")
    bpy.ops.poise.drag(bone="hips", shift=(0.02, 0.0, -0.02))
    np.testing.assert_allclose(tip(rig, "foot.L"), before, atol=NEAR)


def test_on_a_driven_body_the_tip_is_that_of_the_pinned_bone() -> None:
    rig = make_ik_body()
    select(rig, ["foot.L"])
    bpy.ops.poise.pin(kind="POSITION", point="TAIL")
    before = tip(rig, "foot.L")
    select(rig, [])
    session = begin_drag(context, rig, [Grab(rig.name, "hips", (0.0, 0.0, 0.0))])
    for share in (0.25, 0.5, 0.75, 1.0):
        session.drag(share * np.array([0.03, 0.0, -0.04]), np.array([1.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(tip(rig, "foot.L"), before, atol=3e-3)


def test_the_list_says_which_point_is_held(rig: Any) -> None:
    select(rig, ["hand.L"])
    bpy.ops.poise.pin(kind="POSITION", point="TAIL")
    (pin,) = rig.poise_pins
    assert said(rig, pin) == "hand.L, tip"
    pin.point = (0.01, 0.02, 0.0)
    assert said(rig, pin) == "hand.L, point"
    pin.point = (0.0, 0.0, 0.0)
    assert said(rig, pin) == "hand.L"


def said(rig: Any, pin: Any) -> str:
    """Return the name that the list shows."""
    seen: list[str] = []

    class Layout:
        def row(self, **_: Any) -> "Layout":
            return self

        def label(self, text: str, **_: Any) -> None:
            seen.append(text)

        def __getattr__(self, name: str) -> Any:
            return lambda *_, **__: self

    POISE_UL_pins.draw_item(None, context, Layout(), rig, pin, 0, rig, "")  # type: ignore[arg-type]
    return seen[0]


def test_a_pin_with_a_point_that_is_no_number_is_refused(rig: Any) -> None:
    select(rig, ["hand.L"])
    bpy.ops.poise.pin()
    rig.poise_pins[0].point[1] = float("nan")
    with pytest.raises(RuntimeError, match="has a value that is not a finite number"):
        bpy.ops.poise.solve()


def test_the_tip_of_a_scaled_character_is_pinned_and_dragged() -> None:
    """A pinned tip went by 16 mm at the first move of another part, and a dragged one ended 4 mm short."""
    rig, parts = RIGS["Auto-Rig Pro on IK"]()
    rig.pose.bones["c_traj"].scale = (1.2, 1.2, 1.2)
    hand, shift = parts["hand.L"], np.array((0.0, -0.1, 0.1))
    before, point = tip(rig, hand), tail(rig, hand)
    set_pins(context, rig, [hand], "POSITION", point="tail")
    bpy.ops.poise.drag(bone=parts["hips"], shift=(0.02, -0.02, -0.05))
    np.testing.assert_allclose(tip(rig, hand), before, atol=NEAR)
    bpy.ops.poise.drag(bone=hand, point=point, shift=tuple(shift))
    np.testing.assert_allclose(tip(rig, hand), before + shift, atol=NEAR)
