"""Pins to the animation hold a bone where that has it in each frame; other pins stay where they were set."""

from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge import Grab
from core import rotation
from edits.drag.session import DragSession
from operators.drag import POISE_OT_drag
from operators.drawings import _pins
from tests.blender.rigs import make_armature, make_empty, make_ik_body, make_walk, select, turn, world

pytestmark = pytest.mark.usefixtures("empty_file")
context: Any = bpy.context
FEET = ("foot.L", "foot.R")
NEAR = 1e-4


@pytest.fixture
def walker() -> Any:
    rig = make_armature()
    make_walk(rig)
    for bone in rig.pose.bones:  # what has no keys stays
        bone.keyframe_insert("rotation_quaternion", frame=1)
    select(rig, FEET)
    context.scene.frame_set(1)
    bpy.ops.poise.pin()
    return rig


def spaces(rig: Any) -> list[str]:
    return [pin.space for pin in rig.poise_pins]


def test_what_new_pins_are_fixed_to(walker: Any) -> None:
    assert spaces(walker) == ["ANIMATION", "ANIMATION"]
    still = make_armature("still")
    select(still, FEET)
    bpy.ops.poise.pin()
    assert spaces(still) == ["WORLD", "WORLD"]
    still.poise_pin_space = "ARMATURE"
    select(still, ["hand.L"])
    bpy.ops.poise.cycle_pin()
    assert spaces(still) == ["WORLD", "WORLD", "ARMATURE"]


def slid(rig: Any) -> None:
    for frame in (1, 20):
        rig.location.x = 0.1 * frame
        rig.keyframe_insert("location", frame=frame)


def carried(rig: Any) -> None:
    rig.parent = make_empty("car", (0.0, 0.0, 0.0))
    slid(rig.parent)


def on_a_path(rig: Any) -> None:
    curve = bpy.data.curves.new("path", "CURVE")
    line = curve.splines.new("POLY")
    line.points.add(1)
    line.points[1].co = (2.0, 0.0, 0.0, 1.0)
    curve.use_path = True
    for frame in (1, 100):
        curve.eval_time = frame
        curve.keyframe_insert("eval_time", frame=frame)
    path = bpy.data.objects.new("path", curve)
    context.scene.collection.objects.link(path)
    rig.constraints.new("FOLLOW_PATH").target = path


def on_an_offset(rig: Any) -> None:
    on_a_path(rig)
    rig.constraints[0].target.data.animation_data_clear()
    for frame, offset in ((1, 0.0), (20, -50.0)):
        rig.constraints[0].offset = offset
        rig.constraints[0].keyframe_insert("offset", frame=frame)


@pytest.mark.parametrize("move", [slid, carried, on_a_path, on_an_offset])
def test_pins_go_with_an_object_that_animation_moves(move: Any) -> None:
    rig: Any = make_armature()
    move(rig)
    select(rig, FEET)
    context.scene.frame_set(1)
    bpy.ops.poise.pin()
    assert spaces(rig) == ["ARMATURE", "ARMATURE"]
    first = [world(rig, foot) for foot in FEET]
    context.scene.frame_set(15)
    feet, hips = [world(rig, foot) for foot in FEET], world(rig, "hips")
    assert np.linalg.norm(feet[0] - first[0]) > 0.1
    assert bpy.ops.poise.drag(bone="hips", shift=(0.02, 0.0, -0.03)) == {"FINISHED"}
    np.testing.assert_allclose(world(rig, "hips"), np.add(hips, (0.02, 0.0, -0.03)), atol=NEAR)
    np.testing.assert_allclose([world(rig, foot) for foot in FEET], feet, atol=NEAR)
    rig.pose.bones["hips"].location.z += 0.05
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose([world(rig, foot) for foot in FEET], feet, atol=1e-3)


def test_pins_of_controlled_bones_are_to_the_animation_where_any_control_is_keyed() -> None:
    rig = make_ik_body()
    rig.pose.bones["foot_ik.L"].keyframe_insert("location", frame=1)
    select(rig, ["foot.L", "hand.L"])
    bpy.ops.poise.pin()
    assert {pin.name: pin.space for pin in rig.poise_pins} == {"foot.L": "ANIMATION", "hand.L": "WORLD"}


def test_a_nudge_in_the_midst_of_a_walk_leaves_the_feet_where_that_frame_has_them(walker: Any) -> None:
    context.scene.frame_set(15)
    feet, hips = [world(walker, foot) for foot in FEET], world(walker, "hips")
    session = DragSession(context, walker, [Grab(walker.name, "hips", (0.0, 0.0, 0.0))])
    session.drag(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    context.view_layer.update()
    np.testing.assert_allclose(world(walker, "hips"), hips, atol=NEAR)  # no jump
    np.testing.assert_allclose([world(walker, foot) for foot in FEET], feet, atol=NEAR)
    session.restore()
    assert bpy.ops.poise.drag(bone="hips", shift=(0.02, 0.0, -0.01)) == {"FINISHED"}
    np.testing.assert_allclose(world(walker, "hips"), np.add(hips, (0.02, 0.0, -0.01)), atol=NEAR)
    np.testing.assert_allclose([world(walker, foot) for foot in FEET], feet, atol=NEAR)


def test_a_pin_to_the_world_leads_the_foot_back_to_where_it_was_set(walker: Any) -> None:
    place = world(walker, "foot.L")
    bpy.ops.poise.pin_space(bone="foot.L", space="WORLD")
    context.scene.frame_set(5)
    assert np.linalg.norm(world(walker, "foot.L") - place) > 0.02
    before = bridge.read_channels(walker)
    begun: Any = SimpleNamespace(
        _recording=None, _sessions=[DragSession(context, walker, [Grab(walker.name, "hips", (0.0, 0.0, 0.0))])]
    )
    POISE_OT_drag._drag(begun, np.zeros(3), rotation.IDENTITY)  # nothing moves before the mouse does
    for name, values in bridge.read_channels(walker).items():
        np.testing.assert_array_equal(values, before[name])
    bpy.ops.poise.drag(bone="hips", shift=(0.0, 0.0, -0.02))
    np.testing.assert_allclose(world(walker, "foot.L"), place, atol=NEAR)


def test_solve_here_holds_the_feet_where_the_animation_has_them_after_the_hips_were_moved(walker: Any) -> None:
    context.scene.frame_set(10)
    feet = [world(walker, foot) for foot in FEET]
    walker.pose.bones["hips"].location.y -= 0.08
    turn(walker, "thigh.L", 0.5)
    context.view_layer.update()
    assert np.linalg.norm(world(walker, "foot.L") - feet[0]) > 0.02
    walker.poise_root = "FIXED"
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose([world(walker, foot) for foot in FEET], feet, atol=1e-3)


def test_all_pins_are_moved_to_where_the_bones_are(walker: Any) -> None:
    for foot in FEET:
        bpy.ops.poise.pin_space(bone=foot, space="WORLD")
    context.scene.frame_set(15)
    feet = [world(walker, foot) for foot in FEET]
    assert bpy.ops.poise.pin_here() == {"FINISHED"}
    np.testing.assert_allclose([pin.position for pin in walker.poise_pins], feet, atol=1e-6)
    assert spaces(walker) == ["WORLD", "WORLD"]
    bpy.ops.poise.clear_pins()
    with pytest.raises(RuntimeError, match="has no pins"):
        bpy.ops.poise.pin_here()


def test_pins_to_the_animation_are_not_moved_and_that_is_said(walker: Any, capfd: Any) -> None:
    """Two pins were moved, it said, and Solve Here took the feet back to where the animation has them."""
    assert spaces(walker) == ["ANIMATION", "ANIMATION"]
    before = [tuple(pin.position) for pin in walker.poise_pins]
    context.scene.frame_set(15)
    assert bpy.ops.poise.pin_here() == {"FINISHED"}
    assert "2 pins to the animation stay with it" in capfd.readouterr().out
    bpy.ops.poise.pin_space(bone=FEET[0], space="WORLD")
    context.scene.frame_set(20)
    assert bpy.ops.poise.pin_here() == {"FINISHED"}
    assert "Moved 1 pin to where the bones are; 1 pin to the animation stay" in capfd.readouterr().out
    assert tuple(walker.poise_pins[1].position) == before[1]


def test_a_pin_that_leaves_the_animation_is_where_this_frame_has_the_bone(walker: Any) -> None:
    context.scene.frame_set(15)
    bpy.ops.poise.pin_space(bone="foot.R", space="WORLD")
    np.testing.assert_allclose(walker.poise_pins["foot.R"].position, world(walker, "foot.R"), atol=1e-6)


def test_the_viewport_shows_pins_to_the_animation_at_their_bones_and_the_way_back_to_others(walker: Any) -> None:
    bpy.ops.poise.pin_space(bone="foot.R", space="WORLD")
    place = world(walker, "foot.R")
    context.scene.frame_set(5)
    marks = _pins(context)
    assert marks is not None
    left, right = marks.pins
    assert (left.animated, right.animated) == (True, False)
    np.testing.assert_allclose(left.place, world(walker, "foot.L"), atol=1e-6)
    np.testing.assert_allclose(right.place, place, atol=1e-6)
    np.testing.assert_allclose(right.bone, world(walker, "foot.R"), atol=1e-6)
