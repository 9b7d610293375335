"""Bones that something else turns ride along when their parents move."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from bridge import Grab, armature_to_world, read_channels
from edits.drag.explain import explain, explain_held
from edits.drag.session import DragSession
from edits.pin_list import find_pin, set_pins
from tests.blender.rigs import load, make_chain, make_empty, select, world
from tests.paths import SHARED

RIG = Path(__file__).resolve().parents[2] / "data" / "rigs" / "named_mixamo_cm.blend"
RIGIFY = SHARED / "rigs" / "scripted" / "rigify_generated_human.blend"
NECK, HEAD, SPINE = (f"mixamorig:{name}" for name in ("Neck", "Head", "Spine1"))
STILL = np.array([1.0, 0.0, 0.0, 0.0])
SHIFT = np.array([0.0, -0.45, -0.1])  # metres
SHOWN = 1e-3  # metres between what Blender shows and what is solved


def copy_rotation(rig: Any, space: str) -> None:
    copy = rig.pose.bones[NECK].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget, copy.owner_space, copy.target_space = rig, SPINE, space, space


def drive(rig: Any) -> None:
    bone = rig.pose.bones[NECK]
    bone.rotation_mode = "XYZ"
    driver = bone.driver_add("rotation_euler", 0).driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = rig, SPINE
    variable.targets[0].transform_type, variable.targets[0].transform_space = "ROT_X", "LOCAL_SPACE"
    variable.name, driver.expression = "spine", "0.2 - spine"


def track(rig: Any) -> None:
    rig.pose.bones[NECK].constraints.new("DAMPED_TRACK").target = make_empty("target", (0.5, -2.0, 2.5))


def stretch(rig: Any) -> None:
    rig.pose.bones[NECK].constraints.new("STRETCH_TO").target = make_empty("target", (0.5, -2.0, 2.5))


WAYS: dict[str, Callable[[Any], None]] = {
    "local": lambda rig: copy_rotation(rig, "LOCAL"),
    "world": lambda rig: copy_rotation(rig, "WORLD"),
    "driver": drive,
    "track": track,
    "stretch": stretch,
}


def body(way: str) -> Any:
    rig = load(RIG)[0]
    WAYS[way](rig)
    select(rig, [])
    bpy.context.view_layer.update()
    return rig


def off(session: DragSession, rig: Any) -> float:
    """How far the solved head is from where Blender has it, in metres."""
    solved, _ = armature_to_world(session.body.world, session.frames()[0][session.effectors[0].bone])
    return float(np.linalg.norm(solved - world(rig, HEAD)))


@pytest.mark.parametrize("way", WAYS)
def test_the_head_beyond_a_neck_that_something_turns_comes_to_the_mouse(way: str) -> None:
    rig = body(way)
    before, hands = world(rig, HEAD), world(rig, "mixamorig:LeftUpLeg")
    stored = {name: values[rig.pose.bones.find(NECK)].tolist() for name, values in read_channels(rig).items()}
    session = DragSession(bpy.context, rig, [Grab(rig.name, HEAD, (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.0, 1.0, 31)[1:]:
        session.drag(share * SHIFT, STILL)
        bpy.context.view_layer.update()
    for _ in range(20):
        session.rest()
        bpy.context.view_layer.update()
    assert not session.restless
    assert off(session, rig) < SHOWN
    np.testing.assert_allclose(world(rig, HEAD) - before, SHIFT, atol=SHOWN)
    changes = session.finish()
    assert NECK not in {name for names in changes for name in names}
    assert SPINE in changes[0]
    now = {name: values[rig.pose.bones.find(NECK)].tolist() for name, values in read_channels(rig).items()}
    assert way == "driver" or now == stored
    assert np.linalg.norm(world(rig, "mixamorig:LeftUpLeg") - hands) < np.linalg.norm(SHIFT)


@pytest.mark.parametrize("method", ["PINS", "HUMANOID"])
@pytest.mark.parametrize("way", WAYS)
def test_a_drag_from_python_agrees_with_what_is_shown(way: str, method: str) -> None:
    rig = body(way)
    rig.poise_method = method
    before = world(rig, HEAD)
    assert bpy.ops.poise.drag(bone=HEAD, shift=tuple(SHIFT)) == {"FINISHED"}
    np.testing.assert_allclose(world(rig, HEAD) - before, SHIFT, atol=SHOWN)


@pytest.mark.parametrize("way", WAYS)
def test_solve_here_agrees_with_what_is_shown(way: str) -> None:
    rig = body(way)
    set_pins(bpy.context, rig, [HEAD], "POSITION", "WORLD")
    pin = find_pin(rig, HEAD)
    pin.position = wanted = np.add(pin.position, SHIFT)
    neck = rig.pose.bones.find(NECK)
    stored = {name: values[neck].tolist() for name, values in read_channels(rig).items()}
    assert bpy.ops.poise.solve() == {"FINISHED"}
    bpy.context.view_layer.update()
    np.testing.assert_allclose(world(rig, HEAD), wanted, atol=SHOWN)
    assert way == "driver" or {name: values[neck].tolist() for name, values in read_channels(rig).items()} == stored


def test_a_hand_that_copies_a_rotation_is_dragged_by_its_arm() -> None:
    rig = body("local")
    hand = "mixamorig:LeftHand"
    rig.pose.bones[hand].constraints.new("COPY_ROTATION").target = make_empty("Cup")
    before = world(rig, hand)
    bpy.ops.poise.drag(bone=hand, shift=(-0.1, -0.2, -0.1))
    np.testing.assert_allclose(world(rig, hand) - before, (-0.1, -0.2, -0.1), atol=SHOWN)


def test_giving_a_drag_back_restores_carried_bones_too() -> None:
    rig = body("world")
    before = {name: values.tolist() for name, values in read_channels(rig).items()}
    session = DragSession(bpy.context, rig, [Grab(rig.name, HEAD, (0.0, 0.0, 0.0))], live=True)
    session.drag(SHIFT, STILL)
    session.restore()
    assert {name: values.tolist() for name, values in read_channels(rig).items()} == before


def test_what_holds_a_bone_in_its_place_is_named_while_the_mouse_moves(empty_file: None) -> None:
    rig: Any = make_chain(5)
    rig.pose.bones["b1"].constraints.new("COPY_TRANSFORMS").target = make_empty("Cup", (0.0, 0.0, 0.6))
    bpy.context.view_layer.objects.active = rig
    select(rig, [])
    session = DragSession(bpy.context, rig, [Grab(rig.name, "b4", (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.0, 1.0, 11)[1:]:  # the straight chain bends
        session.drag(share * np.array([0.1, -0.1, -0.1]), STILL)
    assert explain_held(session) == []
    session.drag(np.array([0.0, 0.0, 5.0]), STILL)
    said = 'b1 is driven by constraint "Copy Transforms" on "b1". Mute the driver or constraint to get closer'
    assert explain_held(session) == [said]
    assert explain(session)[0] == said


@pytest.mark.parametrize("name", ["mixamorig:Hips", HEAD])
def test_a_driver_of_what_carries_the_body_is_named(name: str) -> None:
    rig = load(RIG)[0]
    rig.pose.bones["mixamorig:Hips"].driver_add("location", 1).driver.expression = "0.0"
    select(rig, [])
    bpy.context.view_layer.update()
    session = DragSession(bpy.context, rig, [Grab(rig.name, name, (0.0, 0.0, 0.0))], live=True)
    session.drag(np.array([0.0, -0.2, -0.6]), STILL)
    assert explain(session)[0].startswith('mixamorig:Hips is driven by driver on location of "mixamorig:Hips".')


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "driven", "kind", "dragged", "pinned", "shift"),
    [
        (RIG, "mixamorig:LeftUpLeg", "COPY_ROTATION", "mixamorig:Hips", ["mixamorig:LeftFoot"], (0.0, -0.05, -0.2)),
        (RIG, NECK, "COPY_ROTATION", HEAD, ["mixamorig:Spine2"], (0.0, -0.1, -0.05)),
        (RIGIFY, "neck", "COPY_ROTATION", "head", ["DEF-spine.003"], (0.0, -0.25, -0.15)),
        (RIGIFY, "hand_ik.L", "COPY_LOCATION", "hand_ik.L", [], (0.0, -0.1, 0.1)),
    ],
)
def test_a_driven_part_between_a_drag_and_a_pin_is_named_and_nothing_that_the_rig_drives(
    file: Path, driven: str, kind: str, dragged: str, pinned: list[str], shift: tuple[float, float, float]
) -> None:
    """Hips came 10 cm short for a thigh that copied a rotation, and only the pinned feet were named."""
    rig = next(rig for rig in load(file) if driven in rig.pose.bones)
    copy = rig.pose.bones[driven].constraints.new(kind)
    copy.target, copy.subtarget = rig, "hand_ik.R" if kind == "COPY_LOCATION" else rig.pose.bones[0].name
    select(rig, [])
    set_pins(bpy.context, rig, pinned, "BOTH")
    bpy.context.view_layer.update()
    session = DragSession(bpy.context, rig, [Grab(rig.name, dragged, (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.0, 1.0, 6)[1:]:
        session.drag(share * np.array(shift), STILL)
    said = f'{driven} is driven by constraint "{copy.name}" on "{driven}". Mute the driver or constraint'
    for sentences in (explain_held(session), explain(session)):
        assert [one for one in sentences if "is driven by" in one] == [f"{said} to get closer"]


@pytest.mark.parametrize("shift", [(-0.2, -0.3, 0.2), (0.5, -0.1, 0.1)], ids=["in reach", "out of reach"])
def test_a_hand_beyond_a_spine_that_is_held_is_shown_where_it_was_solved(shift: tuple[float, float, float]) -> None:
    rig = load(RIG)[0]
    hold = rig.pose.bones[SPINE].constraints.new("COPY_LOCATION")
    hold.target = make_empty("Held", tuple(world(rig, SPINE)))
    select(rig, [])
    bpy.context.view_layer.update()
    hand = "mixamorig:LeftHand"
    wanted, spine = world(rig, hand) + shift, world(rig, SPINE)
    session = DragSession(bpy.context, rig, [Grab(rig.name, hand, (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.0, 1.0, 21)[1:]:
        session.drag(share * np.array(shift), STILL)
        bpy.context.view_layer.update()
    for _ in range(20):
        session.rest()
        bpy.context.view_layer.update()
    solved, _ = armature_to_world(session.body.world, session.frames()[0][session.effectors[0].bone])
    np.testing.assert_allclose(world(rig, hand), solved, atol=SHOWN)
    np.testing.assert_allclose(world(rig, SPINE), spine, atol=SHOWN)
    missed = bool(np.linalg.norm(world(rig, hand) - wanted) > SHOWN)
    assert missed == (shift[0] > 0.0)
    assert any("is driven by constraint" in reason for reason in explain(session)) == missed
