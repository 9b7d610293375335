"""A keyed walk of an animal is dragged in a real window. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do
from tests.window.zoo_acts import ASIDE, places

FRAME = 6
HIPS, FEET = "Hips", ("Back_Toes_Tip.L", "Back_Toes_Tip.R", "Front_Toes_Tip.L", "Front_Toes_Tip.R")


WOLF_FEET = ("DEF-foot.L", "DEF-foot.R", "DEF-front_foot.R")


def animals(hand: Any, file: str, wolf: str) -> Generator[float, None, dict[str, Any]]:
    """Lower an animal's hips, then lift a paw of a generated wolf by its control."""
    seen = yield from lower(hand, file)
    return seen | {"wolf": (yield from lift(hand, wolf))} if wolf else seen


def lift(hand: Any, file: str) -> Generator[float, None, dict[str, Any]]:
    """Drag a front paw of Rigify's wolf forward and up with auto-keying, and undo it."""
    import bpy

    bpy.context.preferences.filepaths.use_scripts_auto_execute = True  # else Blender asks, and takes the mouse
    with bpy.context.temp_override(window=hand.window):
        bpy.ops.wm.open_mainfile(filepath=file, load_ui=False)
    yield do.SOON
    for one in bpy.data.objects:
        if one.type == "ARMATURE":
            one.hide_set(one.name != "rig")
    yield from do.pose_mode(hand, bpy.data.objects["rig"])
    yield from do.look_from(hand, ASIDE, False)
    view = hand.viewport.spaces.active.region_3d
    view.view_location, view.view_distance = (0.0, -0.1, 0.4), 2.2
    yield do.SOON
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    seen: dict[str, Any] = {"size": max(do.armature().dimensions), "feet": places(WOLF_FEET), "start": do.channels()}
    place = do.head("front_foot_ik.L")
    start = hand.pixel(place)
    end = hand.pixel((place[0], place[1] - 0.15, place[2] + 0.2))
    yield from do.grab(hand, start)
    hand.move(start[0] + 3, start[1])
    yield from hand.until(do.dragging)
    yield from do.lead(hand, end)
    seen["said"] = do.shown().text
    hand.screenshot("wolf_drag")
    yield from do.drop(hand)
    seen["bone"] = bpy.context.window_manager.operators[-1].properties.bone
    seen["pressed"], seen["wanted"] = list(start), list(end)
    seen["reached"] = list(hand.pixel(do.head(seen["bone"])))
    seen["feet dropped"] = places(WOLF_FEET)
    yield from do.key(hand, "Z", ctrl=True)
    seen["undone"] = do.channels()
    return seen | (yield from press(hand))


def press(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """See which tools the panel Body has for the wolf, and press two of them."""
    import bpy

    yield from hand.open_tab("Poise")
    panel = yield from hand.read_panels()
    hand.screenshot("wolf_panels")
    done = []
    for tool in ("take_posture(posture='REST", "plant_feet("):
        name = next(name for name in panel if name.startswith(f"bpy.ops.poise.{tool}"))
        yield from hand.click(*panel[name][0])
        yield do.SOON
        done.append(bpy.context.window_manager.operators[-1].bl_idname)
    return {"offered": sorted(panel), "used": done}


def lower(hand: Any, file: str) -> Generator[float, None, dict[str, Any]]:
    """Pin the paws in a frame of the walk, bring the hips down with auto-keying, and drop them."""
    import bpy

    yield from do.open_rig(hand, file)
    rig = do.armature()
    rig.animation_data.action = bpy.data.actions["Walk"]
    rig.animation_data.action_slot = rig.animation_data.action.slots[0]
    bpy.context.scene.frame_set(FRAME)
    yield from do.look_from(hand, ASIDE, False)
    for bone in rig.pose.bones:
        bone.select = bone.name in FEET
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.pin()
    seen: dict[str, Any] = {"size": max(rig.dimensions), "feet": places(FEET), "hips": do.head(HIPS)}
    bends = {bone.name: bone.matrix_basis.to_quaternion() for bone in rig.pose.bones}
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    start = hand.pixel(do.head(HIPS))
    yield from do.grab(hand, start)
    yield from do.lead(hand, (start[0], start[1] - 20))
    hand.screenshot("animal_drag")
    yield from do.drop(hand)
    seen["dragged"] = bpy.context.window_manager.operators[-1].properties.bone
    seen |= {"feet dropped": places(FEET), "hips dropped": do.head(HIPS)}
    seen["turned"] = {
        bone.name: bone.matrix_basis.to_quaternion().rotation_difference(bends[bone.name]).angle
        for bone in rig.pose.bones
    }
    bpy.context.scene.frame_set(FRAME + 1)
    bpy.context.scene.frame_set(FRAME)
    seen["hips keyed"] = do.head(HIPS)
    return seen
