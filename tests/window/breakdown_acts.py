"""A breakdown under the mouse. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

from tests.window.ghost_acts import FIRST, STEP, pose_keys

FRAME = FIRST + STEP // 2  # between a key pose with the arm at rest and one with it turned by half a radian


def break_down(hand: Any, bone: str) -> Generator[float, None, dict[str, Any]]:
    """Move the mouse and the wheel, press Esc; then the same with auto-keying and a click; then undo."""
    import bpy

    def angle() -> float:
        rig = bpy.context.active_object
        assert rig is not None
        return round(float(rig.pose.bones[bone].rotation_euler[2]), 4)

    def keys() -> list[float]:
        rig = bpy.context.active_object
        assert rig is not None
        assert rig.animation_data is not None
        action: Any = rig.animation_data.action
        bag = action.layers[0].strips[0].channelbags[0]
        path = f'pose.bones["{bone}"].rotation_euler'
        return [point.co.x for point in bag.fcurves.find(path, index=2).keyframe_points]

    def start() -> None:
        with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
            bpy.ops.poise.breakdown("INVOKE_DEFAULT")

    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    pose_keys(rig, bone)
    bpy.context.scene.frame_set(FRAME)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="start")
    hand.rest()
    yield 0.3
    seen: dict[str, Any] = {"before": angle(), "keys": keys()}
    start()
    yield 0.3
    seen["begun"] = angle()
    x, y = hand.x, hand.y
    found = []
    for share in (0.1, 0.25, -0.4):
        hand.move(x + round(share * hand.region().width), y)
        yield 0.2
        found.append(angle())
    hand.press("WHEELUPMOUSE")
    yield 0.2
    seen |= {"moved": found, "wheel": angle(), "picture": hand.screenshot("breakdown")}
    hand.press("ESC")
    yield 0.3
    seen |= {"cancelled": angle(), "still": keys()}

    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    hand.rest()
    yield 0.2
    start()
    yield 0.2
    hand.move(hand.x + round(0.1 * hand.region().width), hand.y)
    yield 0.2
    seen["chosen"] = angle()
    hand.press("LEFTMOUSE")
    yield 0.3
    seen |= {"confirmed": angle(), "keyed": keys()}
    hand.press("Z", ctrl=True)
    yield 0.5
    seen |= {"undone": angle(), "unkeyed": keys()}
    return seen
