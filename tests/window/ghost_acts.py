"""Ghosts of a keyed motion, looked at and clicked. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do

FIRST, STEP, TURNS = 1, 10, (0.0, 0.5, 1.0, 0.5, 0.0)  # key poses of an upper arm, radians


def pose_keys(rig: Any, bone: str) -> None:
    """Key a bone in a few frames, and the others in the first."""
    import bpy

    rig.animation_data_clear()
    for other in rig.pose.bones:
        other.rotation_mode = "XYZ"
        other.keyframe_insert("rotation_euler", frame=FIRST)
    for place, turn in enumerate(TURNS):
        rig.pose.bones[bone].rotation_euler = (0.0, 0.0, turn)
        rig.pose.bones[bone].keyframe_insert("rotation_euler", frame=FIRST + STEP * place)
    bpy.context.scene.frame_set(FIRST + 2 * STEP)


def look_at_ghosts(hand: Any, bone: str, shape: str) -> Generator[float, None, dict[str, Any]]:
    """Switch ghosts on, go to another frame, change a key, click a ghost; returns what was seen on the way."""
    import bpy

    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    pose_keys(rig, bone)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.wm.tool_set_by_id(name="poise.drag")
    hand.rest()
    yield 0.3
    hand.press("HOME")
    yield 0.5
    yield from hand.open_tab("Poise")
    show = ghost_show()
    scenes, before = len(bpy.data.scenes), [list(one.matrix_basis[0]) for one in rig.pose.bones]
    rig.poise_ghost_shape = shape
    rig.poise_use_ghosts = True
    yield from hand.until(lambda: len(show.known) > 0)
    seen: dict[str, Any] = {"frames": sorted(show.known), "picture": hand.screenshot(f"ghosts_{shape.lower()}")}
    seen["left"] = [len(bpy.data.scenes) - scenes, before == [list(one.matrix_basis[0]) for one in rig.pose.bones],
                    bpy.context.scene.frame_current]  # fmt: skip

    known = list(show.known.values())
    yield 1.0
    seen["still"] = list(show.known.values()) == known

    yield from do.grab(hand, hand.pixel(rig.matrix_world @ end_of(rig, bone)))
    yield from do.lead(hand, (hand.x - 30, hand.y + 20))
    yield 1.0  # until it rests
    seen["in a drag"] = [do.dragging(), bpy.app.timers.is_registered(show._renew), show._due]
    yield from do.drop(hand)
    seen["after it"] = [(yield from hand.until(lambda: not show._due)), do.dragging()]

    rig.poise_ghosts_before = 1
    yield from hand.until(lambda: len(show.shown) < len(known))
    seen["fewer"] = list(show.shown)
    rig.poise_ghosts_before = 3
    yield from hand.until(lambda: FIRST in show.known)
    point = show.known[FIRST].points.copy()
    bpy.context.scene.frame_set(FIRST + STEP)
    rig.pose.bones[bone].rotation_euler = (0.0, 0.0, -0.5)
    rig.pose.bones[bone].keyframe_insert("rotation_euler", frame=FIRST)
    bpy.context.view_layer.update()
    seen["kept"] = len(show.known)
    seen["followed"] = yield from hand.until(
        lambda: FIRST in show.known and bool(abs(show.known[FIRST].points - point).max() > 0.1)
    )

    tail = rig.matrix_world @ end_of(rig, bone)
    place = hand.pixel(tail)
    bpy.context.scene.frame_set(FIRST + 3 * STEP)
    yield 0.5
    seen["picture later"] = hand.screenshot(f"ghosts_{shape.lower()}_later")
    yield from hand.click(*place)
    yield 0.5
    seen["clicked"] = bpy.context.scene.frame_current

    bpy.ops.pose.select_all(action="DESELECT")
    rig.poise_ghost_frames, rig.poise_ghost_shape, rig.poise_ghost_bones = "ALL", "BONES", "SELECTED"
    rig.poise_trail_bones, rig.poise_use_trails = "SELECTED", True
    yield from hand.until(lambda: len(show.known) > 0 and not any(len(mark.points) for mark in show.known.values()))
    yield 0.5
    seen["of nothing"] = [len(mark.points) for mark in show.known.values()]
    return seen


def end_of(rig: Any, bone: str) -> Any:
    """Where the last bone of the chain ends."""
    last = rig.pose.bones[bone]
    while last.children:
        last = last.children[0]
    return last.tail


def ghost_show() -> Any:
    """Return what shows the ghosts in this Blender."""
    import gc

    return next(one for one in gc.get_objects() if type(one).__name__ == "GhostShow")
