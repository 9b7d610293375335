"""Pins over a walk that is keyed in every frame. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do

FEET = ("LeftFoot", "RightFoot")
HERE, THERE = 40, 46  # frames of the walk
OTHERS = (1, 39, 41, 80)
RESTS = 1.0


def nudge(hand: Any, file: str) -> Generator[float, None, dict[str, Any]]:
    """Pin both feet in the midst of a walk, press, nudge the hips with auto-keying; look at other frames and pins."""
    import bpy

    yield from do.open_rig(hand, file)
    scene, rig = bpy.context.scene, do.armature()
    rig.data.display_type = "STICK"
    scene.tool_settings.use_keyframe_insert_auto = True
    before = {frame: poses(rig, frame) for frame in (*OTHERS, HERE)}
    yield from do.look_from(hand, (1.4, 0.0, 1.0), False)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.pose.select_all(action="SELECT")
        bpy.ops.view3d.view_selected()
        bpy.ops.pose.select_all(action="DESELECT")
    yield RESTS
    for foot in FEET:
        hand.move(*hand.pixel(do.head(foot)))
        yield RESTS
        yield from do.key(hand, "P")
        yield from do.key(hand, "P")
    seen: dict[str, Any] = {"pins": [[pin.name, pin.space] for pin in rig.poise_pins]}
    hand.screenshot("walk_pinned")
    feet = [do.head(foot) for foot in FEET]
    start = do.channels()
    x, y = hand.pixel(do.head("Hips"))
    yield from do.grab(hand, (x, y))
    yield RESTS
    seen["pressed"] = do.channels() == start
    yield from do.lead(hand, (x + 8, y - 24), 12)
    yield RESTS
    hand.screenshot("walk_nudged")
    yield from do.drop(hand)
    seen["hips"] = [a - b for a, b in zip(hand.pixel(do.head("Hips")), (x, y), strict=True)]
    seen["feet"] = [gap(do.head(foot), place) for foot, place in zip(FEET, feet, strict=True)]
    seen["others"] = {frame: furthest(poses(rig, frame), before[frame]) for frame in OTHERS}
    seen["here"] = furthest(poses(rig, HERE), before[HERE])

    # one pin to the world: its line shows the way back from another frame; Shift-P takes it along
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.pin_space(bone=FEET[1], space="WORLD")
    place = rig.poise_pins[FEET[1]].position[:]
    scene.frame_set(THERE)
    yield RESTS
    hand.screenshot("walk_way_back")
    seen["way back"] = gap(do.head(FEET[1]), place)
    hand.rest()
    yield from do.key(hand, "P", shift=True)
    yield RESTS
    hand.screenshot("walk_pinned_here")
    seen["pinned here"] = gap(do.head(FEET[1]), rig.poise_pins[FEET[1]].position)
    return seen


def poses(rig: Any, frame: int) -> list[float]:
    """Return the places of all heads in the world at a frame; the scene stays at frame HERE."""
    import bpy

    bpy.context.scene.frame_set(frame)
    found = [value for one in rig.pose.bones for value in rig.matrix_world @ one.head]
    bpy.context.scene.frame_set(HERE)
    return found


def gap(here: Any, there: Any) -> float:
    """Return the distance of two points."""
    return sum((a - b) ** 2 for a, b in zip(here, there, strict=True)) ** 0.5


def furthest(some: list[float], others: list[float]) -> float:
    """Return the largest difference."""
    return max(abs(a - b) for a, b in zip(some, others, strict=True))
