"""Esc while long tools read, and while they measure. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

LONG = 20000  # frames, which take many seconds
SHORT = 12000  # which take seconds to measure
FRAME = 40


def escape(hand: Any, clip: str) -> Generator[float, None, dict[str, Any]]:
    """Bake what constraints make of a long motion, and press Esc; bake less, and press it when that is written."""
    import bpy

    for one in list(bpy.data.objects):
        bpy.data.objects.remove(one)
    bpy.ops.import_anim.bvh(filepath=clip, update_scene_fps=True, update_scene_duration=True)
    name = bpy.context.object.name
    bpy.ops.object.mode_set(mode="POSE")
    bones = bpy.context.object.pose.bones
    held = bones["LeftHand"].constraints.new("COPY_ROTATION")
    held.target, held.subtarget = bpy.context.object, "RightHand"
    bpy.context.scene.frame_set(FRAME)
    bpy.ops.ed.undo_push(message="Begin")
    hand.rest()
    yield 0.5
    seen: dict[str, Any] = {"frame": FRAME}

    def action() -> str:
        return bpy.data.objects[name].animation_data.action.name

    def at_work() -> bool:
        running = bpy.context.window_manager.windows[0].modal_operators
        return any(operator.bl_idname == "POISE_OT_bake_motion" for operator in running)

    def bake(last: int) -> Generator[float, None, None]:
        """Call the tool, and confirm its dialog."""
        with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
            bpy.ops.poise.bake_motion("INVOKE_DEFAULT", visual=True, frame_start=1, frame_end=last)
        yield 0.5
        hand.press("RET")
        yield from hand.until(at_work)

    def state() -> dict[str, Any]:
        return {"action": action(), "actions": len(bpy.data.actions), "frame": bpy.context.scene.frame_current}

    seen["before"] = state()
    yield from bake(LONG)
    frames = set[int]()
    for _ in range(5):
        yield 0.3
        frames.add(bpy.context.scene.frame_current)
    seen["drawn"], seen["reads"] = len(frames), at_work()
    hand.press("ESC")
    seen["ended"] = yield from hand.until(lambda: not at_work(), 5.0)
    seen["cancelled"] = state()

    yield from bake(SHORT)
    yield from hand.until(lambda: action() != seen["before"]["action"] or not at_work(), 60.0)
    seen["measures"] = at_work()
    hand.press("ESC")
    seen["ended measuring"] = yield from hand.until(lambda: not at_work(), 5.0)
    seen["kept"] = state()
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: action() == seen["before"]["action"])
    seen["undone"] = state()
    return seen
