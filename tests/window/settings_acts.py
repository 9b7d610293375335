"""Settings of the solver, of a bone and of the parts are shown. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do

PARTS = (1079, 725)  # pixels: the header of the panel Parts, closed, in a window of 1600 by 1000
ADVANCED = (1092, 548)  # the header of Advanced, closed, below the panel Solver
BONE = (1085, 354)  # the header of Active Bone, closed, below Advanced, open
NOTCHES = 9  # of the wheel, from the top of the sidebar to the panel Solver
HUMANOID = (1065, 687)  # the header of Humanoid, closed, below Advanced, open
MORE = 3  # from there to the end of Active Bone


def look(hand: Any, file: str) -> Generator[float, None, dict[str, Any]]:
    """Choose an action as Joint Targets, open Active Bone, choose the method Humanoid; open the panel Parts."""
    import bpy

    yield from do.open_rig(hand, file)
    rig = do.armature()
    rig.data.display_type = "STICK"
    yield from do.look_from(hand, (1.4, 0.0, 1.0), False)
    rig.data.bones.active = rig.data.bones["Spine1"]
    rig.poise_joint_targets, rig.poise_target_action = "ACTION", rig.animation_data.action
    yield from hand.open_tab("Poise")
    side = hand.region("UI")
    seen: dict[str, Any] = {}
    for name in ("pins", "target", "humanoid", "limbs"):
        hand.move(side.x + side.width // 3, side.y + side.height // 2)
        yield do.WAIT
        for _ in range(NOTCHES if name == "pins" else 0):
            hand.press("WHEELDOWNMOUSE")
            yield 0.05
        if name == "pins":
            yield do.WAIT
            yield from hand.click(*ADVANCED)
        if name == "target":
            yield from hand.click(*BONE)
            rig.pose.bones["Spine1"].poise_target = 0.5
            hand.move(side.x + side.width // 3, side.y + side.height // 2)
            for _ in range(MORE):
                hand.press("WHEELDOWNMOUSE")
                yield 0.05
        if name == "humanoid":
            rig.poise_method = "HUMANOID"
        if name == "limbs":
            yield from hand.click(*HUMANOID)
        yield do.WAIT
        yield do.WAIT  # panels slide to their places
        hand.rest()
        yield do.WAIT
        seen[name] = hand.screenshot(f"settings_{name}")
    hand.move(side.x + side.width // 3, side.y + side.height // 2)
    for _ in range(2 * NOTCHES):
        hand.press("WHEELUPMOUSE")
        yield 0.05
    yield do.WAIT
    yield from hand.click(*PARTS)
    yield do.WAIT
    hand.rest()
    yield do.WAIT
    seen["parts"] = hand.screenshot("settings_parts")
    seen["mode"] = bpy.context.mode
    return seen
