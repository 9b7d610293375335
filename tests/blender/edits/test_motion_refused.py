"""Motions that the NLA editor decides: what cannot be keyed so is refused before anything is worked out."""

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from mathutils import Vector

from core import CoreError
from edits.motion_edit import MotionEdit
from edits.reduce import Reduced
from tests.blender.rigs import contents, context, make_armature, make_ik_body, select, turn

pytestmark = pytest.mark.usefixtures("empty_file")

CHANGING = ("find_contacts", "add_timed_pin", "solve_motion", "reduce_keys", "bake_motion", "edit_path")


@pytest.fixture
def rig() -> Any:
    object = make_armature()
    select(object, ["hand.R"])
    for frame, angle in ((1, 0.0), (20, 1.0)):
        turn(object, "hand.R", angle)
        object.pose.bones["hand.R"].keyframe_insert("rotation_quaternion", frame=frame)
        object.pose.bones["hips"].keyframe_insert("location", frame=frame)
    pin = object.poise_timed_pins.add()
    pin.bone, pin.start, pin.end = "foot.L", 5, 8
    return object


def add_strip(object: Any) -> Any:
    """The object's action as a strip, too."""
    data = object.animation_data
    track = data.nla_tracks.new()
    strip = track.strips.new("walk", 1, data.action)
    strip.action_slot = strip.action_suitable_slots[0]
    return track


def stand_still() -> Any:
    """All that could change, once Blender has evaluated what was arranged."""
    context.view_layer.update()
    return contents()


def mix(object: Any) -> None:
    add_strip(object)
    object.animation_data.action_blend_type = "COMBINE"


def tweak(object: Any) -> None:
    track, data = add_strip(object), object.animation_data
    data.action = None
    data.nla_tracks.active = track
    track.select = track.strips[0].select = True
    data.use_tweak_mode = True
    assert data.use_tweak_mode


@pytest.mark.parametrize(("arrange", "said"), [(mix, "mixes the action"), (tweak, "tweak mode")])
def test_tools_that_key_are_greyed_out_where_the_nla_editor_decides(
    rig: Any, arrange: Callable[[Any], None], said: str
) -> None:
    arrange(rig)
    before = stand_still()
    for tool in CHANGING:
        with pytest.raises(RuntimeError, match=rf"poll\(\).*{said}"):
            getattr(bpy.ops.poise, tool)()
    assert contents() == before


@pytest.mark.parametrize("tool", ["generate", "bake", "regenerate"])
def test_nothing_is_solved_that_could_not_be_keyed(rig: Any, tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if tool == "bake":
        bpy.ops.poise.pin(space="WORLD")
    for pose in ("MIN", "MAX"):
        bpy.ops.poise.store_pose(pose=pose)
    if tool == "regenerate":
        bpy.ops.poise.generate(recipe="own")
    mix(rig)
    before = stand_still()

    def worked(*_: Any, **__: Any) -> None:
        raise AssertionError("it was worked out all the same")

    monkeypatch.setattr(MotionEdit, "solve", worked)
    monkeypatch.setattr("bridge.read_motion", worked)
    with pytest.raises(RuntimeError, match="mixes the action"):
        getattr(bpy.ops.poise, tool)(**({"recipe": "own"} if tool == "generate" else {}))
    assert contents() == before


def test_a_motion_of_strips_alone_is_to_be_baked_first(rig: Any) -> None:
    add_strip(rig)
    rig.animation_data.action = None
    before = stand_still()
    for tool in ("find_contacts", "solve_motion", "reduce_keys"):
        with pytest.raises(RuntimeError, match="Bake its motion first"):
            getattr(bpy.ops.poise, tool)()
    with pytest.raises(CoreError, match="Bake its motion first"):
        Reduced(context, rig, (1, 20))
    assert contents() == before
    assert bpy.ops.poise.bake_motion() == {"FINISHED"}
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}


def test_bones_without_keys_cannot_have_fewer(rig: Any) -> None:
    for curve in list(rig.animation_data.action.layers[0].strips[0].channelbags[0].fcurves):
        if "hips" in curve.data_path:
            rig.animation_data.action.layers[0].strips[0].channelbags[0].fcurves.remove(curve)
    select(rig, ["foot.L"])
    before = stand_still()
    with pytest.raises(RuntimeError, match="have no keys"):
        bpy.ops.poise.reduce_keys(bones="SELECTED")
    assert contents() == before


def told(capfd: pytest.CaptureFixture[str], tool: str = "solve_motion") -> str:
    """What a tool reports."""
    capfd.readouterr()
    assert getattr(bpy.ops.poise, tool)() == {"FINISHED"}
    return capfd.readouterr().out


def test_the_report_says_how_many_pins_hold_and_why_others_do_not(rig: Any, capfd: pytest.CaptureFixture[str]) -> None:
    (pin,) = rig.poise_timed_pins
    assert '1 timed pin holds in "' in told(capfd)
    pin.held, pin.position = "PLACE", (5.0, 0.0, 0.0)
    for bone in ("hand.L", "hand.R"):
        other = rig.poise_timed_pins.add()
        other.bone, other.start, other.end, other.held = bone, 5, 8, "MOTION"
    said = told(capfd)
    assert '0 of 3 timed pins hold in "' in said
    assert "out of reach, or pulled elsewhere by other pins: foot.L, hand.L, hand.R" in said


def test_a_constraint_that_keeps_a_pin_from_holding_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    rig = make_ik_body()
    select(rig, [])
    for frame, height in ((1, 0.0), (10, -0.1)):
        rig.pose.bones["hips"].location.z = height
        rig.pose.bones["hips"].keyframe_insert("location", frame=frame)
    rig.pose.bones["shin.L"].constraints["IK"].iterations = 1
    pin = rig.poise_timed_pins.add()
    pin.bone, pin.start, pin.end, pin.held = "foot.L", 4, 6, "PLACE"
    pin.position = rig.pose.bones["foot.L"].head + Vector((0.1, -0.2, 0.3))
    assert 'constraint "IK" on "shin.L" (Inverse Kinematics) keeps foot.L from reaching its pin' in told(capfd)
