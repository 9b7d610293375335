"""The list of timed pins: on library overrides, in older files, and held as posed."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler, Quaternion, Vector

from panels.motion import POISE_PT_timed_pins
from tests.blender.edits.rigs import again, heads_over, hold, keyed, overridden, pins_of, stays
from tests.blender.rigs import context, drawn_by, select, world
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")


def test_timed_pins_of_one_bone_survive_on_a_library_override(tmp_path: Path) -> None:
    hold(keyed(), "foot.L", 2)
    rig = overridden(tmp_path)
    for start in (10, 20, 30):
        hold(rig, "foot.L", start)
        hold(rig, "foot.R", start + 1, 5)
    hold(rig, "hand.L", 12).mute = True
    before = pins_of(rig)
    for _ in range(2):  # saved from memory, and from what was read
        rig = again(tmp_path / "shot.blend")
        assert pins_of(rig) == before
    context.view_layer.objects.active = rig
    rig.poise_active_timed_pin = 0
    assert bpy.ops.poise.remove_timed_pin() == {"FINISHED"}  # that of the linked file cannot be taken out
    assert rig.poise_timed_pins[0].mute
    rig.poise_active_timed_pin = 2
    assert bpy.ops.poise.remove_timed_pin() == {"FINISHED"}
    assert pins_of(again(tmp_path / "shot.blend")) == [(*before[0][:-1], True), before[1], *before[3:]]


def test_a_file_that_named_timed_pins_by_their_bones_is_read(tmp_path: Path) -> None:
    rig = keyed()
    for start in (10, 20):
        pin = rig.poise_timed_pins.add()
        pin.name, pin.label, pin.start, pin.end = "foot.L", "heel.L", start, start + 2
    phase = rig.poise_phases.add()
    phase.name, phase.start, phase.end = "foot.R", 4, 5
    rig = again(tmp_path / "old.blend")
    assert [(pin.bone, pin.label, pin.start) for pin in rig.poise_timed_pins] == [
        ("foot.L", "heel.L", 10), ("foot.L", "heel.L", 20),
    ]  # fmt: skip
    assert [phase.part for phase in rig.poise_phases] == ["foot.R"]
    assert len({pin.name for pin in rig.poise_timed_pins}) == 2
    select(rig, [])
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}


def test_a_pin_at_a_place_holds_the_orientation_as_it_stood() -> None:
    rig = keyed()
    context.scene.frame_set(20)
    bone = rig.pose.bones["hand.R"]
    bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((0.0, 1.0, 0.0), 1.2)  # not keyed
    context.view_layer.update()
    stood, was = bone.matrix.to_quaternion(), [np.array(p) for p in stays(rig, "hand.R")]
    context.scene.frame_set(20)
    bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((0.0, 1.0, 0.0), 1.2)
    assert bpy.ops.poise.add_timed_pin(held="PLACE", use_rotation=True, ease=5) == {"FINISHED"}
    (pin,) = rig.poise_timed_pins
    assert pin.use_rotation
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    context.scene.frame_set(20)
    assert bone.matrix.to_quaternion().rotation_difference(stood).angle < np.radians(0.2)
    # the hand turned, and went nowhere but by what rotations that are blended where the pin eases leave its place
    np.testing.assert_allclose(stays(rig, "hand.R"), was, atol=1.5e-3)
    pin.rotation = (0.0, 0.0, 0.0, 0.0)  # as of a contact: as the motion has it
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    context.scene.frame_set(20)
    assert bone.matrix.to_quaternion().rotation_difference(stood).angle > 1.0


def test_the_list_goes_to_the_frames_of_a_pin_and_holds_it_as_posed() -> None:
    rig = keyed()
    for start in (5, 20):
        hold(rig, "hand.R", start, 4)
    context.scene.frame_set(12)
    for wanted in (20, 24, 20):
        assert bpy.ops.poise.goto_timed_pin(row=1) == {"FINISHED"}
        assert (context.scene.frame_current, rig.poise_active_timed_pin) == (wanted, 1)
    bone = rig.pose.bones["hand.R"]
    bone.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.9)
    pin = rig.poise_timed_pins[1]
    pin.point = (0.0, 0.05, 0.0)
    assert bpy.ops.poise.place_timed_pin() == {"FINISHED"}
    assert pin.held == "PLACE"
    np.testing.assert_allclose(pin.position, bone.matrix @ pin.point, atol=1e-6)
    assert pin.rotation.rotation_difference(bone.matrix.to_quaternion()).angle < 1e-3
    with pytest.raises(RuntimeError, match="No timed pin is selected"):
        bpy.ops.poise.goto_timed_pin(row=7)


def test_the_same_timed_pin_again_changes_the_one_that_is_there() -> None:
    rig = keyed()
    for ease in (3, 8):
        assert bpy.ops.poise.add_timed_pin(start=5, end=9, ease=ease) == {"FINISHED"}
    (pin,) = rig.poise_timed_pins
    assert (pin.start, pin.end, pin.ease_in) == (5, 9, 8)


def test_the_orientation_of_a_pin_is_entered_in_degrees_about_three_axes(tmp_path: Path) -> None:
    pin = hold(keyed(), "hand.R", 5, 4)
    assert tuple(pin.angles) == (0.0, 0.0, 0.0)  # not set yet
    entered = np.radians((100.0, 95.0, -170.0))  # two other triples of angles give this rotation
    for axis in range(3):  # as the fields of a panel are filled in
        pin.angles[axis] = entered[axis]
    np.testing.assert_allclose(pin.angles, entered, atol=1e-6)
    assert abs(pin.rotation.dot(Euler(entered).to_quaternion())) == pytest.approx(1.0, abs=1e-6)
    pin.rotation = Quaternion((0.0, 0.6, 0.8), 0.7)  # by a tool: what was entered no longer counts
    assert abs(Euler(pin.angles).to_quaternion().dot(pin.rotation)) == pytest.approx(1.0, abs=1e-6)
    rotation = tuple(pin.rotation)
    (pin,) = again(tmp_path / "pins.blend").poise_timed_pins
    assert tuple(pin.rotation) == rotation
    assert abs(Euler(pin.angles).to_quaternion().dot(pin.rotation)) == pytest.approx(1.0, abs=1e-6)


def test_the_fields_of_a_pin_keep_their_rows_wherever_it_holds() -> None:
    rig = keyed()
    pin = hold(rig, "hand.R", 5, 4)
    drawn = []
    for pin.held in ("MOTION", "FRAME", "PLACE", "OBJECT"):
        drawn.append([name for kind, name in drawn_by(POISE_PT_timed_pins) if kind == "prop"])
    assert drawn[1:] == drawn[:-1]
    assert {"frame", "position", "angles", "target"} <= {*drawn[0]}


def test_contacts_come_before_pins_that_are_added_and_both_have_weights() -> None:
    bpy.ops.import_anim.bvh(filepath=str(DATA / "motion" / "cmu_07_12.bvh"))
    rig = context.object
    select(rig, ["LeftHand"])
    assert bpy.ops.poise.find_contacts() == {"FINISHED"}
    assert {(pin.priority, pin.weight) for pin in rig.poise_timed_pins} == {(0, 1.0)}
    assert bpy.ops.poise.add_timed_pin() == {"FINISHED"}
    hand = rig.poise_timed_pins[rig.poise_active_timed_pin]
    assert (hand.bone, hand.priority, hand.weight) == ("LeftHand", 1, 1.0)


@pytest.mark.long
@pytest.mark.parametrize("late", [0, 1])
def test_a_pin_where_a_foot_lands_eases_as_elsewhere(late: int) -> None:
    """The hips went down for that one frame."""
    bpy.ops.import_anim.bvh(filepath=str(DATA / "motion" / "cmu_07_12.bvh"))
    rig = context.object
    select(rig, ["Hips"])
    assert bpy.ops.poise.find_contacts() == {"FINISHED"}
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    first, last = (int(frame) for frame in rig.animation_data.action.frame_range)
    middle = (first + last) // 2
    landing = min((pin.start for pin in rig.poise_timed_pins), key=lambda frame: abs(frame - middle)) + late
    before = heads_over(rig, landing - 8, landing + 8)[:, 0]
    pin = hold(rig, "Hips", landing, 0)
    pin.held, pin.ease_in, pin.ease_out, pin.priority = "PLACE", 6, 6, 1
    low = 0.05 * rig.dimensions.z
    context.scene.frame_set(landing)
    pin.position = rig.pose.bones["Hips"].head - Vector((0.0, 0.0, low))
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    down = (heads_over(rig, landing - 8, landing + 8)[:, 0] - before)[:, 2]
    assert down[8] == pytest.approx(-low, rel=1e-2)
    assert np.abs(np.diff(down)).max() < 0.5 * low
    assert down.min() > -1.3 * low


def test_a_hand_that_is_held_three_metres_away_leaves_the_foot_where_it_stands() -> None:
    rig = keyed()
    foot = hold(rig, "foot.L", 20)
    foot.priority = 0
    hand = hold(rig, "hand.R", 20)
    hand.held, hand.position = "PLACE", (-3.0, 0.0, 1.4)
    context.scene.frame_set(20)
    stood = world(rig, "foot.L")
    off = {}
    for priority in (0, 1):
        hand.priority = priority
        assert bpy.ops.poise.solve_motion() == {"FINISHED"}
        context.scene.frame_set(21)
        off[priority] = float(np.linalg.norm(world(rig, "foot.L") - stood))
    assert off[0] > 0.1
    assert off[1] < 1e-3
