"""Trails of a walk, looked at and clicked. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

FIRST, START, CLICKED = 2, 34, 41  # the clip begins with its rest pose


def begin(hand: Any, clip: str) -> Generator[float, None, Any]:
    """Bring a walk to the armature of the file, in Pose Mode with the tool Poise, seen from the side; returns it."""
    import bpy

    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.poise.retarget(filepath=clip)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, round(rig.animation_data.action.frame_range[1])
    scene.frame_set(START)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.wm.tool_set_by_id(name="poise.drag")
        bpy.ops.view3d.view_axis(type="RIGHT")
    hand.rest()
    yield 0.3
    hand.press("HOME")
    yield 0.5
    return rig


def look_at_trails(hand: Any, clip: str) -> Generator[float, None, dict[str, Any]]:
    """Switch trails on, go to another frame, change a key, click a dot; returns what was seen on the way."""
    import bpy

    rig = yield from begin(hand, clip)
    yield from hand.open_tab("Poise")
    show, scene = trail_show(), bpy.context.scene
    scenes = len(bpy.data.scenes)
    rig.poise_use_trails = True
    yield from hand.until(lambda: len(show.trails) > 0 and len(show.trails[0].frames) == scene.frame_end - 1)
    seen: dict[str, Any] = {"bones": [trail.bone for trail in show.trails], "picture": hand.screenshot("trails")}
    seen["left"] = [len(bpy.data.scenes) - scenes, scene.frame_current]
    known = list(show.trails)
    yield 1.0
    seen["still"] = show.trails == known

    before = known[0].positions.copy()
    bone = rig.pose.bones[show.trails[0].bone]
    bone.location.y += 0.5 * bone.length
    bone.keyframe_insert("location", frame=START)
    bpy.context.view_layer.update()
    seen["followed"] = yield from hand.until(lambda: bool(abs(show.trails[0].positions - before).max() > 0.0))
    moved = abs(show.trails[0].positions - before).max(axis=1) > 1e-3
    seen["moved"] = show.trails[0].frames[moved].tolist()
    bpy.ops.ed.undo_push()

    scene.frame_set(FIRST)
    yield 0.5
    seen["picture first"] = hand.screenshot("trails_first")
    hand_trail = next(trail for trail in show.trails if trail.bone.endswith("LeftHand"))
    yield from hand.click(*hand.pixel(hand_trail.positions[CLICKED - FIRST]))
    yield 0.5
    seen["clicked"] = scene.frame_current
    return seen


def trail_show() -> Any:
    """Return what shows the trails in this Blender."""
    import gc

    return next(one for one in gc.get_objects() if type(one).__name__ == "TrailShow")
