"""A walk of key poses, filled in through the dialog. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

SPACING = 15  # frames from one key pose to the next


def fill_in(hand: Any, clip: str) -> Generator[float, None, dict[str, Any]]:
    """Keep every 15th frame of a walk, call the tool, confirm, undo; ghosts of the foot show the frames between."""
    import bpy
    from bpy_extras.anim_utils import action_get_channelbag_for_slot

    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    name = rig.name
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.poise.retarget(filepath=clip)

    def action() -> Any:
        return bpy.data.objects[name].animation_data.action

    def curves() -> Any:
        return action_get_channelbag_for_slot(action(), bpy.data.objects[name].animation_data.action_slot).fcurves

    first, last = (int(frame) for frame in action().frame_range)
    first += 1  # the clip begins with its rest pose
    keys = set(range(first, last + 1, SPACING))
    for curve in curves():
        for point in [one for one in curve.keyframe_points if round(one.co.x) not in keys][::-1]:
            curve.keyframe_points.remove(point, fast=True)
        for point in curve.keyframe_points:
            point.interpolation = "BEZIER"
            point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        curve.update()
    bpy.context.scene.frame_set(first + 3 * SPACING // 2)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    rig.poise_ghost_frames, rig.poise_ghost_step = "ALL", 3
    rig.poise_ghosts_before = rig.poise_ghosts_after = 3
    rig.poise_use_ghosts = rig.poise_use_trails = True
    bpy.ops.ed.undo_push(message="key poses")
    hand.rest()
    yield 0.3
    hand.press("NUMPAD_3")
    yield 0.3
    hand.press("HOME")
    yield 1.0
    seen: dict[str, Any] = {"before": hand.screenshot("in_between_before"), "keys": sorted(keys)}
    source = action().name
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.fill_between("INVOKE_DEFAULT")
    yield 0.5
    seen["dialog"] = hand.screenshot("in_between_dialog")
    hand.press("RET")
    seen["filled"] = yield from hand.until(lambda: action().name != source, 40.0)
    running: Any = bpy.context.window_manager.windows[0].modal_operators
    yield from hand.until(lambda: not len(running), 60.0)
    yield 1.0
    seen["after"] = hand.screenshot("in_between_after")
    counts = [[round(point.co.x) for point in curve.keyframe_points] for curve in curves()]
    between = [sum(frame not in keys for frame in frames) for frames in counts]
    seen["share"] = sum(between) / len(between) / (last - first - len(keys))
    hand.rest()
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: action().name == source)
    seen["undone"] = action().name == source
    return seen
