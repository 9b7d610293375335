"""Locking the feet of a captured walk, as a person does it. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

FIND = "bpy.ops.poise.find_contacts()"
SOLVE = "bpy.ops.poise.solve_motion()"
ORIGINAL = "bpy.ops.poise.give_motion_back()"
FRAME = 40
NOTCHES = 60  # of the wheel, to the end of the sidebar


def lock_feet(hand: Any, clip: str) -> Generator[float, None, dict[str, Any]]:
    """Find contacts, solve, cancel a second solve, go back; returns what was seen on the way."""
    import bpy

    for object in list(bpy.data.objects):
        bpy.data.objects.remove(object)
    bpy.ops.import_anim.bvh(filepath=clip, update_scene_fps=True, update_scene_duration=True)
    rig = bpy.context.object
    name = rig.name
    bpy.context.scene.frame_set(FRAME)
    bpy.ops.object.mode_set(mode="POSE")
    hand.rest()
    yield 0.3
    hand.press("HOME")
    yield 0.5
    seen: dict[str, Any] = {"source": rig.animation_data.action.name}

    yield from hand.open_tab("Poise")
    side = hand.region("UI")
    hand.move(side.x + side.width // 3, side.y + side.height // 2)
    yield 0.2
    for _ in range(NOTCHES):
        hand.press("WHEELDOWNMOUSE")
        yield 0.02
    panel = yield from hand.read_panels(FIND, 0.6)
    yield from hand.click(*panel[FIND][0])
    yield from hand.until(lambda: len(bpy.data.objects[name].poise_timed_pins) > 0)
    seen["pins"] = [(pin.label, pin.start, pin.end) for pin in bpy.data.objects[name].poise_timed_pins]
    hand.move(side.x + side.width // 3, side.y + side.height // 2)
    yield 0.2
    for _ in range(NOTCHES):
        hand.press("WHEELDOWNMOUSE")
        yield 0.02
    yield 0.3
    seen["picture"] = hand.screenshot("motion_contacts")

    def action() -> str:
        return bpy.data.objects[name].animation_data.action.name

    panel = yield from hand.read_panels(ORIGINAL, 0.85)
    yield from hand.click(*panel[SOLVE][0])
    yield from hand.until(lambda: action() != seen["source"], 90.0)
    seen["solved"] = action()
    yield 0.5
    seen["picture solved"] = hand.screenshot("motion_solved")

    made = sorted(action.name for action in bpy.data.actions)
    yield from hand.click(*panel[SOLVE][0])
    yield 0.3
    hand.press("ESC")
    yield 3.0
    seen["after cancel"] = [action(), sorted(action.name for action in bpy.data.actions) == made]

    yield from hand.click(*panel[ORIGINAL][0])
    yield from hand.until(lambda: action() == seen["source"])
    seen["given back"] = [action(), sorted(action.name for action in bpy.data.actions)]
    return seen
