"""A keyed walk of an animal is dragged in a real window. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do
from tests.window.zoo_acts import ASIDE, places

FRAME = 6
HIPS, FEET = "Hips", ("Back_Toes_Tip.L", "Back_Toes_Tip.R", "Front_Toes_Tip.L", "Front_Toes_Tip.R")


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
