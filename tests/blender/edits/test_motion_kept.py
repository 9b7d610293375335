"""What is saved of timed pins and generated motions: on library overrides, and beside bones and actions that change."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

import bridge
from edits.fingerprints import fingerprint
from edits.pinned_actions import is_edited
from operators import live_pins
from properties.generate import label_of
from tests.blender.rigs import context, make_armature, select, turn, world

pytestmark = pytest.mark.usefixtures("empty_file")

ENDS = 1, 40  # frames of the motion


def keyed() -> Any:
    """A body that leans while a hand turns."""
    rig = make_armature()
    select(rig, ["hand.R"])
    for frame, angle in zip(ENDS, (0.0, 0.5), strict=True):
        turn(rig, "chest", angle)
        for bone in rig.pose.bones:
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        rig.pose.bones["hips"].keyframe_insert("location", frame=frame)
    return rig


def hold(rig: Any, bone: str, start: int, length: int = 3) -> Any:
    pin = rig.poise_timed_pins.add()
    pin.bone = pin.label = bone
    pin.start, pin.end, pin.frame, pin.ease_in, pin.ease_out = start, start + length, start, 2, 2
    return pin


def pins_of(rig: Any) -> list[Any]:
    return [(pin.bone, pin.label, pin.start, pin.end, pin.ease_in, pin.mute) for pin in rig.poise_timed_pins]


def phases_of(rig: Any) -> list[Any]:
    return [(phase.part, phase.kind, phase.start, phase.end, phase.frame) for phase in rig.poise_phases]


def overridden(folder: Path) -> Any:
    """The armature of this file, linked from there into an empty one, as a library override."""
    name = context.active_object.name
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(folder / "library.blend"), link=True) as (_, wanted):
        wanted.objects = [name]
    (linked,) = wanted.objects
    bpy.context.scene.collection.objects.link(linked)
    object = linked.override_create(remap_local_usages=True)
    select(object, ["hand.R"])
    return object


def again(path: Path) -> Any:
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return next(object for object in bpy.data.objects if object.type == "ARMATURE" and object.library is None)


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


def test_supports_flights_and_tracks_survive_on_a_library_override(tmp_path: Path) -> None:
    keyed()
    rig = overridden(tmp_path)
    for pose in ("MIN", "MAX"):
        bpy.ops.poise.store_pose(pose=pose)
        turn(rig, "hand.R", 0.5)
    assert bpy.ops.poise.generate(recipe="own", seconds=1.0, start=1) == {"FINISHED"}
    for part in ("SELECTED", "arm.L", "arm.L"):
        bpy.ops.poise.add_track(part=part)
    for start in (2, 8, 14):
        bpy.ops.poise.add_phase(part="foot.L", start=start, end=start + 3)
        bpy.ops.poise.add_phase(part="FLIGHT", start=start + 3, end=start + 5)
    before, tracks = phases_of(rig), [label_of(track) for track in rig.poise_tracks]
    assert tracks == ["all", "hand.R", "arm.L", "arm.L"]
    rig = again(tmp_path / "shot.blend")
    assert phases_of(rig) == before
    assert [label_of(track) for track in rig.poise_tracks] == tracks


def test_a_generated_motion_of_a_linked_file_is_changed_there(tmp_path: Path) -> None:
    rig = keyed()
    for pose in ("MIN", "MAX"):
        bpy.ops.poise.store_pose(pose=pose)
        turn(rig, "hand.R", 0.5)
    bpy.ops.poise.generate(recipe="own", seconds=1.0, start=1)
    bpy.ops.poise.add_phase(part="foot.L", start=2, end=5)
    rig = overridden(tmp_path)
    for tool in ("generate", "remove_phase"):
        with pytest.raises(RuntimeError, match="of the linked file"):
            getattr(bpy.ops.poise, tool)(**({"recipe": "own"} if tool == "generate" else {}))
    assert len(rig.poise_phases) == len(rig.poise_tracks) == 1


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


def noise(curve: Any) -> None:
    curve.modifiers.new("NOISE").strength = 0.2


def raise_handles(curve: Any) -> None:
    for key in curve.keyframe_points:
        key.interpolation, key.handle_right_type = "BEZIER", "FREE"
    curve.keyframe_points[0].handle_right.y += 0.3
    curve.update()


CHANGES = {
    "interpolation": lambda curve: setattr(curve.keyframe_points[0], "interpolation", "CONSTANT"),
    "easing": lambda curve: (
        setattr(curve.keyframe_points[0], "interpolation", "BOUNCE"),
        setattr(curve.keyframe_points[0], "easing", "EASE_IN"),
    ),
    "handles": raise_handles,
    "modifier": noise,
    "mute": lambda curve: setattr(curve, "mute", True),
    "extrapolation": lambda curve: setattr(curve, "extrapolation", "LINEAR"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=[*CHANGES])
def test_what_was_changed_by_hand_in_a_pinned_motion_is_kept(change: Any) -> None:
    rig = keyed()
    hold(rig, "foot.L", 10)
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    made = rig.poise_result
    assert not is_edited(rig)
    change(next(curve for curve in bridge.all_curves(made) if "chest" in curve.data_path))
    assert is_edited(rig)
    rig.poise_timed_pins[0].end += 1
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert made != rig.poise_result
    assert made.use_fake_user


def test_settings_of_a_modifier_count_as_changes_by_hand() -> None:
    action = keyed().animation_data.action
    curve = next(bridge.all_curves(action))
    noise(curve)
    modifier = curve.modifiers.new("ENVELOPE")
    point = modifier.control_points.add(5.0)
    seen = [fingerprint(action)]
    curve.modifiers[0].strength += 0.5
    seen.append(fingerprint(action))
    point.max += 0.5
    seen.append(fingerprint(action))
    modifier.show_expanded = not modifier.show_expanded
    seen.append(fingerprint(action))
    assert len({*seen[:3]}) == 3
    assert seen[2] == seen[3]


def test_a_linked_double_keeps_its_motion_when_the_other_is_solved_again() -> None:
    rig = keyed()
    hold(rig, "foot.L", 10)
    hold(rig, "foot.R", 30)
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    made = rig.poise_result
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.duplicate(linked=True)
    double = context.active_object
    bpy.ops.object.mode_set(mode="POSE")
    assert double.animation_data.action == made

    def feet() -> list[Any]:
        found = []
        for frame in range(ENDS[0], ENDS[1] + 1):
            context.scene.frame_set(frame)
            found.append(world(rig, "foot.L"))
        return found

    before = feet()
    pin = double.poise_timed_pins[0]
    pin.held, pin.position = "PLACE", (0.3, -0.3, 0.2)
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    np.testing.assert_array_equal(feet(), before)
    assert double.poise_result == double.animation_data.action != made
    assert rig.poise_result == rig.animation_data.action == made
    context.scene.frame_set(12)
    assert np.linalg.norm(world(double, "foot.L") - world(rig, "foot.L")) > 0.05
    first = double.poise_result
    double.poise_timed_pins[0].end += 1  # now it has its own
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert double.poise_result == first
    assert bpy.ops.poise.give_motion_back() == {"FINISHED"}
    np.testing.assert_array_equal(feet(), before)


def test_timed_pins_and_the_original_motion_go_with_bones_that_are_renamed() -> None:
    rig = keyed()
    hold(rig, "foot.L", 10)
    before = places(rig, "hand.R")
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    solved = places(rig, "foot.L")
    for bone, name in (("foot.L", "paw"), ("chest", "rib")):
        rig.data.bones[bone].name = name
    context.view_layer.update()
    assert pins_of(rig)[0][:2] == ("paw", "paw")
    assert not is_edited(rig)
    rig.poise_timed_pins[0].end += 1
    rig.poise_timed_pins[0].end -= 1
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert len(bpy.data.actions) == 2  # nothing was taken for changed by hand
    np.testing.assert_allclose(places(rig, "paw"), solved, atol=1e-5)
    rig.data.bones["rib"].name = "ribs"
    assert bpy.ops.poise.give_motion_back() == {"FINISHED"}
    np.testing.assert_allclose(places(rig, "hand.R"), before, atol=1e-5)
    assert len(bpy.data.actions) == 1


def places(rig: Any, bone: str) -> list[Any]:
    found = []
    for frame in range(ENDS[0], ENDS[1] + 1, 3):
        context.scene.frame_set(frame)
        found.append(world(rig, bone))
    return found


def test_samples_supports_and_key_poses_go_with_bones_that_are_renamed() -> None:
    rig = keyed()
    for pose, angle in (("MIN", 0.0), ("MAX", 1.0)):
        turn(rig, "hand.R", angle)
        bpy.ops.poise.store_pose(pose=pose)
    assert bpy.ops.poise.generate(recipe="own", seconds=1.0, start=1) == {"FINISHED"}
    select(rig, ["hand.R"])
    bpy.ops.poise.add_track(part="SELECTED")
    bpy.ops.poise.add_phase(part="SELECTED", start=2, end=5)
    assert bpy.ops.poise.regenerate() == {"FINISHED"}

    def stands(hand: str) -> list[Any]:
        found = []
        for frame in (1, 8, 14, 20):
            context.scene.frame_set(frame)
            found.append(tuple(rig.pose.bones[hand].matrix_basis.to_quaternion()))
        return found

    before = stands("hand.R")
    assert np.ptp(before, axis=0).max() > 0.1
    rig.data.bones["hand.R"].name = "fin"
    context.view_layer.update()
    assert [label_of(track) for track in rig.poise_tracks] == ["all", "fin"]
    assert phases_of(rig)[0][0] == "fin"
    assert bpy.ops.poise.regenerate() == {"FINISHED"}
    np.testing.assert_allclose(stands("fin"), before, atol=1e-5)


def test_a_pin_at_a_place_holds_the_orientation_as_it_stood() -> None:
    rig = keyed()
    context.scene.frame_set(20)
    bone = rig.pose.bones["hand.R"]
    bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((0.0, 1.0, 0.0), 1.2)  # not keyed
    context.view_layer.update()
    stood, was = bone.matrix.to_quaternion(), [np.array(p) for p in places(rig, "hand.R")]
    context.scene.frame_set(20)
    bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((0.0, 1.0, 0.0), 1.2)
    assert bpy.ops.poise.add_timed_pin(held="PLACE", use_rotation=True, ease=5) == {"FINISHED"}
    (pin,) = rig.poise_timed_pins
    assert pin.use_rotation
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    context.scene.frame_set(20)
    assert bone.matrix.to_quaternion().rotation_difference(stood).angle < np.radians(0.2)
    np.testing.assert_allclose(places(rig, "hand.R"), was, atol=1e-3)  # the hand turned, and went nowhere
    pin.rotation = (0.0, 0.0, 0.0, 0.0)  # as of a contact: as the motion has it
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    context.scene.frame_set(20)
    assert bone.matrix.to_quaternion().rotation_difference(stood).angle > 1.0


def test_undo_goes_on_from_where_live_pins_are_not_those_of_the_motion() -> None:
    rig, manager, timers = keyed(), context.window_manager, bpy.app.timers
    hold(rig, "foot.L", 10)
    rig.poise_live_pins = True
    rig.poise_timed_pins[0].end += 1
    change = rig.poise_pin_change
    assert change > manager.poise_pins_solved

    def goes_on() -> bool:
        """Whether one more step of undo is due; it is taken off again."""
        live_pins.go_on_undoing()
        due = [timer for timer in (live_pins.STEPS["undo"], live_pins.STEPS["redo"]) if timers.is_registered(timer)]
        for timer in due:
            timers.unregister(timer)
        return bool(due)

    assert not goes_on()  # it is not solved, and need not be
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert rig.poise_pin_change == 0
    assert not goes_on()
    rig.poise_pin_change = change  # as undo brings it back
    assert goes_on()


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
    with pytest.raises(RuntimeError, match="No timed pin is chosen"):
        bpy.ops.poise.goto_timed_pin(row=7)
