"""Hands that hold a prop while it moves: their skin, and where they are on it, as Blender shows both."""

import json
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np
import pytest

import commands
from tests.blender.edits.test_grip import DEEPEST, TOUCHING, body, prop_for
from tests.blender.props import skin_distances
from tests.blender.rigs import FULL, contents, curves, said_by, select

pytestmark = [pytest.mark.usefixtures("empty_file"), pytest.mark.long]
context: Any = bpy.context

HELD = 5e-3  # metres that a hand may be beside its place on the prop
FRAMES = (10, 30)
HAND = {"mixamo": "mixamorig:{}Hand", "rigify": "DEF-hand.{}"}
SIDES = {"mixamo": ("Left", "Right"), "rigify": ("L", "R")}
HANDS = ("mixamo", "rigify")


def barbell(rig: Any, hand: str) -> Any:
    """One prop with a handle in each hand, that is lowered, moved and turned from frame 10 to 30."""
    bpy.ops.object.mode_set(mode="OBJECT")
    parts = [prop_for(rig, "cylinder", side, hand) for side in "LR"]
    bpy.ops.object.select_all(action="DESELECT")
    for part in parts:
        part.select_set(True)
    context.view_layer.objects.active = parts[0]
    bpy.ops.object.join()
    bpy.ops.object.origin_set(type="ORIGIN_GEOMETRY")
    prop = context.active_object
    for frame, step, turn in ((FRAMES[0], (0.0, 0.0, 0.0), 0.0), (FRAMES[1], (0.02, -0.05, -0.1), 0.15)):
        prop.location = np.array(prop.location) + step
        prop.rotation_mode = "XYZ"
        prop.rotation_euler.y += turn
        prop.keyframe_insert("location", frame=frame)
        prop.keyframe_insert("rotation_euler", frame=frame)
    context.scene.frame_set(FRAMES[0])
    select(rig, [])
    return prop


def on_prop(rig: Any, prop: Any, hand: str) -> np.ndarray:
    """Where the wrists are in the space of the prop."""
    bones = (rig.pose.bones[HAND[hand].format(side)] for side in SIDES[hand])
    return np.array([prop.matrix_world.inverted() @ rig.matrix_world @ bone.head for bone in bones])


def places_on_prop(rig: Any, prop: Any, hand: str, frames: Iterable[int]) -> np.ndarray:
    found = []
    for frame in frames:
        context.scene.frame_set(frame)
        found.append(on_prop(rig, prop, hand))
    return np.array(found)


def held_spans(rig: Any, prop: Any) -> list[tuple[int, int]]:
    """The frames of the timed pins at a prop."""
    return [(pin.start, pin.end) for pin in rig.poise_timed_pins if pin.held == "OBJECT" and pin.target == prop]


def shown(rig: Any) -> np.ndarray:
    """The tails of the deforming bones in the world."""
    return np.array([rig.matrix_world @ bone.tail for bone in rig.pose.bones if bone.bone.use_deform])


def test_holding_again_replaces_what_was_held(monkeypatch: Any) -> None:
    """In the same frames and in others that overlap; nothing was changed by hand."""
    rig = body("mixamo")
    prop = barbell(rig, "mixamo")
    start = on_prop(rig, prop, "mixamo")
    for first, last in (FRAMES, FRAMES, (15, 25)):
        context.scene.frame_set(first)
        level, said = said_by("hold_object", monkeypatch, frame_start=first, frame_end=last)
        assert level == "INFO", said
        assert "manual" not in said
        assert held_spans(rig, prop) == [(first, last)] * 2
        beside = np.linalg.norm(places_on_prop(rig, prop, "mixamo", range(FRAMES[0], FRAMES[1] + 1)) - start, axis=-1)
        assert beside.max() < HELD


@pytest.mark.parametrize("hand", HANDS)
def test_two_hands_go_along_with_one_prop_and_its_fingers_touch_it(hand: str, monkeypatch: Any) -> None:
    rig = body(hand)
    prop = barbell(rig, hand)
    start, rest = on_prop(rig, prop, hand), shown(rig)
    level, said = said_by("hold_object", monkeypatch, frame_start=FRAMES[0], frame_end=FRAMES[1], ease=6)
    assert level == "INFO", said
    assert said.startswith("10 fingers touch")
    assert held_spans(rig, prop) == [FRAMES] * 2
    beside = np.linalg.norm(places_on_prop(rig, prop, hand, range(FRAMES[0], FRAMES[1] + 1)) - start, axis=-1)
    assert beside.max() < HELD
    for frame in (FRAMES[0], 20, FRAMES[1]):
        context.scene.frame_set(frame)
        for side in "LR":
            gaps = [far.min() for far in skin_distances(rig, side, prop).values()]
            assert min(gaps) > -DEEPEST
            assert sum(gap < 2.0 * TOUCHING for gap in gaps) >= 4
    for frame in (FRAMES[0] - 6, FRAMES[1] + 6, FRAMES[1] + 20):  # the last frames of the ease, and after it
        context.scene.frame_set(frame)
        np.testing.assert_allclose(shown(rig), rest, atol=1e-4)


def test_feet_stay_on_the_floor_under_what_goes_out_of_reach(monkeypatch: Any) -> None:
    rig = body("mixamo")
    prop = barbell(rig, "mixamo")
    prop.location.z += 1.5
    prop.keyframe_insert("location", frame=FRAMES[0] + 4)
    foot = rig.pose.bones["mixamorig:LeftFoot"]
    floor, start = np.array(foot.head), on_prop(rig, prop, "mixamo")
    level, said = said_by("hold_object", monkeypatch, frame_start=FRAMES[0], frame_end=FRAMES[0] + 4)
    assert level == "WARNING"
    assert "2 of 4 timed pins hold" in said
    short = np.linalg.norm(places_on_prop(rig, prop, "mixamo", [FRAMES[0] + 4])[0] - start, axis=-1)
    assert all(
        f"{side}Hand is {1e3 * far:.0f} mm short" in said for side, far in zip(("Left", "Right"), short, strict=True)
    )
    size = float(np.linalg.norm(rig.matrix_world.to_scale())) / 3.0**0.5
    for frame in range(FRAMES[0] - 5, FRAMES[0] + 11):
        context.scene.frame_set(frame)
        assert size * np.linalg.norm(np.array(foot.head) - floor) < HELD


def test_it_is_one_undo_step_and_the_action_that_was_there_is_kept() -> None:
    rig = body("mixamo")
    spine = rig.pose.bones["mixamorig:Spine"]
    for frame, angle in ((1, 0.0), (40, 0.2)):
        spine.rotation_mode = "XYZ"
        spine.rotation_euler.x = angle
        spine.keyframe_insert("rotation_euler", frame=frame)
    prop, name, own = barbell(rig, "mixamo"), rig.name, rig.animation_data.action.name
    curves = contents()["actions"][own]
    bpy.ops.ed.undo_push(message="before")
    before = contents()
    assert bpy.ops.poise.hold_object("EXEC_DEFAULT", True, frame_start=10, frame_end=20) == {"FINISHED"}
    assert contents()["actions"][own] == curves
    assert bpy.data.objects[name].animation_data.action.name != own
    bpy.ops.ed.undo()
    assert contents()["objects"] == before["objects"]
    assert prop is not None


def test_without_pins_fingers_close_at_every_frame_round_what_moves_through_the_hand() -> None:
    rig = body("mixamo")
    prop = prop_for(rig, "cylinder", "L", "mixamo")
    for frame, size in ((1, 1.0), (5, 0.7)):
        prop.scale = (size, size, 1.0)
        prop.keyframe_insert("scale", frame=frame)
    select(rig, [])
    assert bpy.ops.poise.hold_object(frame_start=1, frame_end=5, use_pins=False, side="L") == {"FINISHED"}
    assert not len(rig.poise_timed_pins)
    for frame in range(1, 6):
        context.scene.frame_set(frame)
        gaps = [far.min() for far in skin_distances(rig, "L", prop).values()]
        assert min(gaps) > -DEEPEST
        assert sum(gap < TOUCHING for gap in gaps) >= 4


def test_a_hand_that_carries_the_prop_itself_needs_no_pin() -> None:
    rig = body("mixamo")
    prop = prop_for(rig, "cylinder", "L", "mixamo")
    world = prop.matrix_world.copy()
    prop.parent, prop.parent_type, prop.parent_bone = rig, "BONE", "mixamorig:LeftHand"
    context.view_layer.update()
    prop.matrix_world = world
    context.view_layer.update()
    select(rig, [])
    settings = {"target": "OBJECT", "object": prop.name, "side": "L"}
    assert bpy.ops.poise.hold_object(frame_start=1, frame_end=5, **settings) == {"FINISHED"}
    assert not held_spans(rig, prop)
    gaps = [far.min() for far in skin_distances(rig, "L", prop).values()]
    assert all(-DEEPEST < gap < TOUCHING for gap in gaps)


def test_the_verb_grips_and_holds(tmp_path: Any, capsys: Any) -> None:
    rig = body("mixamo")
    prop = barbell(rig, "mixamo")
    start = on_prop(rig, prop, "mixamo")
    argv = ["grip", "--armature", rig.name, "--object", prop.name, "--frames", *map(str, FRAMES), "--hold", "4"]
    assert commands.run([*argv, "--action", "held", "--output", str(tmp_path / "held.blend")]) == 0
    assert rig.animation_data.action.name == "held"
    beside = places_on_prop(rig, prop, "mixamo", range(FRAMES[0], FRAMES[1] + 1)) - start
    assert np.linalg.norm(beside, axis=-1).max() < HELD


@pytest.mark.parametrize("hand", ["mixamo", *(["rigify"] if FULL else [])])
def test_few_keys_of_fingers_stay_at_what_moves_through_the_hand(hand: str, tmp_path: Any) -> None:
    """A bar that gets thinner in twelve frames, also between these; the arm keeps its key in every frame."""
    rig = body(hand)
    prop = prop_for(rig, "cylinder", "L", hand)
    for frame, size in ((1, 1.0), (12, 0.7)):
        prop.scale = (size, size, 1.0)
        prop.keyframe_insert("scale", frame=frame)
    select(rig, [])
    arm = rig.pose.bones[HAND[hand].format(SIDES[hand][0])].parent
    for frame in range(1, 13):
        arm.keyframe_insert("location", frame=frame)
    argv = ["grip", "--armature", rig.name, "--object", prop.name, "--hands", "L", "--frames", "1", "12"]
    assert commands.run([*argv, "--tolerance", "0.0005", "--output", str(tmp_path / "held.blend")]) == 0
    keys: dict[str, int] = {}
    for (path, _), curve in curves(rig.animation_data.action, rig).items():
        keys[path] = max(keys.get(path, 0), len(curve.keyframe_points))
    assert keys.pop(f'pose.bones["{arm.name}"].location') == 12
    assert len(keys) == 15
    assert np.mean([*keys.values()]) < 4.0
    for half in range(2, 25):
        context.scene.frame_set(half // 2, subframe=0.5 * (half % 2))
        gaps = [far.min() for far in skin_distances(rig, "L", prop).values()]
        assert min(gaps) > -DEEPEST
        assert max(gaps) < TOUCHING + 0.0005


def test_a_batch_grips_in_every_file_by_its_job(tmp_path: Any) -> None:
    rig = body("mixamo")
    prop = barbell(rig, "mixamo")
    start, names = on_prop(rig, prop, "mixamo"), (rig.name, prop.name)
    (tmp_path / "in").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "in" / "bar.blend"))
    job = {"armature": rig.name, "object": prop.name, "frames": [10, 14], "hold": 1, "tolerance": 5e-4}
    (tmp_path / "job.json").write_text(json.dumps(job), encoding="utf-8")
    places = [
        f"--{place}={tmp_path / name}" for place, name in (("input", "in"), ("output", "out"), ("job", "job.json"))
    ]
    assert commands.run(["batch", "--verb", "grip", "--jobs", "1", *places]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out" / "bar.blend"))
    rig, prop = (bpy.data.objects[name] for name in names)
    beside = places_on_prop(rig, prop, "mixamo", range(10, 15)) - start
    assert np.linalg.norm(beside, axis=-1).max() < HELD
    keys = {path: len(curve.keyframe_points) for (path, _), curve in curves(rig.animation_data.action, rig).items()}
    fingers = [count for path, count in keys.items() if "Index" in path or "Thumb" in path]
    assert len(fingers) >= 10
    assert max(fingers) <= 4  # of seven frames


def test_the_verb_grips_one_pose_and_refuses_what_it_cannot(tmp_path: Any, capsys: Any) -> None:
    rig = body("mixamo")
    prop = prop_for(rig, "box", "L", "mixamo")
    assert commands.run(["grip", "--hands", "L", "--output", str(tmp_path / "held.blend")]) == 0
    gaps = [far.min() for far in skin_distances(rig, "L", prop).values()]
    assert min(gaps) > -DEEPEST
    assert sum(gap < TOUCHING for gap in gaps) >= 4
    for options, sentence in (
        (["--hold", "3"], "--hold: only with --frames"),
        (["--tolerance", "0.01"], "--tolerance: only with --frames"),
        (["--frames", "1", "5", "--tolerance", "0"], "must be a positive number of meters"),
        (["--object", "Nobody"], 'No object "Nobody"'),
        (["--close", "2"], "--close"),
        (["--hands", "R"], "No finger reaches a mesh"),
    ):
        assert commands.run(["grip", *options]) == 2
        assert sentence in capsys.readouterr().err
