"""A pose asset of one body on another, from the asset browser. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

FRAME = 25  # of the walk: one leg is far in front
ASSET = (60, 80)  # pixels from the upper left corner of the asset browser to its first asset
UNIT = 0.056  # metres of the clip's unit
SHARES = (0.2, 0.3, -0.1)  # of the way of the mouse, one after the other


def blend_asset(hand: Any, clip: str) -> Generator[float, None, dict[str, Any]]:
    """Make an asset of a frame of a clip, blend it in by its context menu, press Esc; again, confirm and undo."""
    import bpy
    import numpy as np

    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    bpy.ops.import_anim.bvh(filepath=clip, global_scale=UNIT)
    source = bpy.context.object
    source.location.x = 1.5
    bpy.context.scene.frame_set(FRAME)
    view = {"window": hand.window, "area": hand.viewport, "region": hand.region()}
    with bpy.context.temp_override(**view):
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="SELECT")
        bpy.ops.poselib.create_pose_asset(pose_name="Step", asset_library_reference="LOCAL")
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.context.view_layer.objects.active = rig
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
    name, other = rig.name, source.name
    browser = next(area for area in hand.window.screen.areas if area.type == "PROPERTIES")
    browser.ui_type = "ASSETS"
    yield 1.0
    browser.spaces.active.params.asset_library_reference = "LOCAL"
    browser.spaces.active.show_region_toolbar = False
    yield 1.0
    bpy.ops.ed.undo_push(message="start")
    hand.rest()
    yield 0.3
    hand.press("HOME")
    yield 0.5

    def angle() -> float:
        """Degrees between the thighs."""
        bones = bpy.data.objects[name].pose.bones
        ways = [bones[f"mixamorig:{side}Leg"].head - bones[f"mixamorig:{side}UpLeg"].head for side in ("Left", "Right")]
        return float(np.degrees(ways[0].angle(ways[1])))

    def channels() -> list[float]:
        return [x for bone in bpy.data.objects[name].pose.bones for x in (*bone.location, *bone.rotation_quaternion)]

    def keys() -> list[float]:
        data = bpy.data.objects[name].animation_data
        if data is None or data.action is None:
            return []
        bags = [bag for layer in data.action.layers for strip in layer.strips for bag in strip.channelbags]
        return sorted({key.co.x for bag in bags for curve in bag.fcurves for key in curve.keyframe_points})

    def choose(number: int) -> Generator[float, None, None]:
        """Choose an entry of the asset's menu, counted from the last one."""
        x, y = browser.x + ASSET[0], browser.y + browser.height - ASSET[1]
        hand.move(x - 5, y)
        yield 0.3
        yield from hand.click(x, y)
        yield 0.5
        hand.press("RIGHTMOUSE")
        yield 0.8
        hand.press("END")
        yield 0.1
        for _ in range(number):
            hand.press("UP_ARROW")
            yield 0.1
        hand.screenshot(f"pose_asset_menu_{number}")
        hand.press("RET")
        yield 0.5
        hand.move(x + 1, y)  # once, so that Blender knows that the mouse has left the menu
        yield 0.2

    seen: dict[str, Any] = {"before": angle(), "channels": channels()}
    yield from choose(1)
    seen["begun"] = angle()
    x, y = hand.x, hand.y
    found = []
    for share in SHARES:
        x += round(share * browser.width)
        hand.move(x, y)
        yield from hand.until(lambda: angle() != (found or [seen["begun"]])[-1], 2.0)
        found.append(angle())
    seen |= {"moved": found, "picture": hand.screenshot("pose_blended")}
    hand.press("ESC")
    yield 0.5
    seen |= {"cancelled": channels(), "unkeyed": keys()}

    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.context.preferences.edit.use_keyframe_insert_available = False
    yield from choose(1)
    hand.move(hand.x + round(0.6 * browser.width), hand.y)
    yield 0.5
    hand.press("LEFTMOUSE")
    yield 0.5
    seen |= {"confirmed": angle(), "keyed": keys(), "shown": hand.screenshot("pose_applied")}
    hand.rest()
    yield 0.2
    hand.press("Z", ctrl=True)
    yield 0.8
    seen |= {"undone": channels(), "keys undone": keys()}
    yield from choose(3)
    seen["applied"] = angle()
    bones = bpy.data.objects[other].pose.bones
    ways = [bones[f"{side}Leg"].head - bones[f"{side}UpLeg"].head for side in ("Left", "Right")]
    seen["wanted"] = float(np.degrees(ways[0].angle(ways[1])))

    hand.rest()
    yield 0.2
    hand.press("Z", ctrl=True)
    yield 0.8
    seen["not pasted yet"] = channels()
    with bpy.context.temp_override(**view):
        bpy.context.view_layer.objects.active = bpy.data.objects[other]
        bpy.ops.poise.copy_pose("INVOKE_DEFAULT")
        bpy.context.view_layer.objects.active = bpy.data.objects[name]
        bpy.ops.poise.apply_pose("INVOKE_DEFAULT", source="CLIPBOARD")
    yield 0.3
    seen |= {"pasted": angle(), "pasted picture": hand.screenshot("pose_pasted")}
    return seen
