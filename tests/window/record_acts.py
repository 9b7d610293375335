"""A hand is dragged while a walk plays. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do
from tests.window.walk_acts import FEET, gap

PART, START = "LeftHand", 20
BETWEEN = 0.15  # seconds between two moves of the mouse, in which some frames play


def record(hand: Any, file: str) -> Generator[float, None, dict[str, Any]]:
    """Pin the feet to the walk, play it, drag a hand: first Esc, then keep; undo."""
    import bpy

    yield from do.open_rig(hand, file)
    scene, rig = bpy.context.scene, do.armature()
    rig.data.display_type = "STICK"
    scene.tool_settings.use_keyframe_insert_auto = True
    bpy.context.preferences.edit.use_keyframe_insert_available = False
    scene.frame_start, scene.frame_end = 1, 80
    scene.frame_set(START)
    yield from do.look_from(hand, (1.4, 0.0, 1.0), False)
    for foot in FEET:
        hand.move(*hand.pixel(do.head(foot)))
        yield do.WAIT
        yield from do.key(hand, "P")
    seen: dict[str, Any] = {"pins": [[pin.name, pin.space] for pin in rig.poise_pins]}
    before, feet = curves(rig), places(rig)

    for ends in ("escaped", "kept"):
        scene.frame_set(START)
        yield do.WAIT
        x, y = hand.pixel(do.head(PART))
        hand.move(x, y)
        rig.data.bones.active = rig.data.bones[PART]
        with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
            bpy.ops.screen.animation_play()
            bpy.ops.poise.drag("INVOKE_DEFAULT", use_active=True)  # the walk takes the hand from under the mouse
        yield do.SOON
        for step in range(1, 9):
            hand.move(x + 4 * step, y + 2 * step)  # within reach in all frames that any machine may play by then
            yield BETWEEN
        seen[f"{ends} text"] = do.shown().text
        if ends == "escaped":
            yield from do.key(hand, "ESC")
        else:
            hand.screenshot("record_during")
            yield from do.key(hand, "RET")
        with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
            bpy.ops.screen.animation_cancel(restore_frame=False)
        yield do.WAIT
        if ends == "escaped":
            seen["escaped"] = curves(rig) == before
    seen["left"] = do.left_behind()
    seen["here"] = scene.frame_current
    report = [one.name for one in bpy.context.window_manager.operators]
    seen["last"] = report[-1]
    after = curves(rig)
    seen["changed"] = sorted({frame for path, keys in after.items() for frame, value in keys.items()
                              if abs(before.get(path, {}).get(frame, 9.0) - value) > 1e-5})  # fmt: skip
    seen["feet"] = max(gap(a, b) for some, others in zip(places(rig).values(), feet.values(), strict=True)
                       for a, b in zip(some, others, strict=True))  # fmt: skip
    scene.frame_set(seen["changed"][-1])
    hand.rest()
    yield do.WAIT
    hand.screenshot("record_kept")
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: curves(do.armature()) == before)
    seen["undone"] = curves(do.armature()) == before
    return seen


def curves(rig: Any) -> dict[str, dict[int, float]]:
    """Return the keys of each curve of the armature."""
    from bpy_extras.anim_utils import action_get_channelbag_for_slot

    data = rig.animation_data
    found = action_get_channelbag_for_slot(data.action, data.action_slot).fcurves
    return {f"{one.data_path}[{one.array_index}]": {round(key.co.x): key.co.y for key in one.keyframe_points}
            for one in found}  # fmt: skip


def places(rig: Any) -> dict[int, list[Any]]:
    """Return where the feet are in each frame; the scene stays at its frame."""
    import bpy

    scene = bpy.context.scene
    here, found = scene.frame_current, {}
    for frame in range(1, 81):
        scene.frame_set(frame)
        found[frame] = [do.head(foot, rig) for foot in FEET]
    scene.frame_set(here)
    return found
