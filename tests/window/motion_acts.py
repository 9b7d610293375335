"""Locking the feet of a captured walk, as a person does it. It runs inside Blender, which has no pytest."""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from chain_acts import open_panel

FIND = "bpy.ops.poise.find_contacts()"
SOLVE = "bpy.ops.poise.solve_motion()"
ORIGINAL = "bpy.ops.poise.give_motion_back()"
FRAME = 40
LIFT = 2.0  # of a foot's pin, in the walk's units
LONG = 4000  # frames, which take many seconds


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
    yield from open_panel(hand, "POISE_PT_motion")
    panel = yield from hand.read_panels(FIND)
    yield from hand.click(*panel[FIND][0])
    yield from hand.until(lambda: len(bpy.data.objects[name].poise_timed_pins) > 0)
    seen["pins"] = [(pin.label, pin.start, pin.end) for pin in bpy.data.objects[name].poise_timed_pins]
    hand.rest()
    yield 0.5
    seen["picture"] = hand.screenshot("motion_contacts")

    def action() -> str:
        return bpy.data.objects[name].animation_data.action.name

    def keys() -> list[float]:
        made = bpy.data.objects[name].animation_data.action
        curves = made.layers[0].strips[0].channelbags[0].fcurves
        return [curve.evaluate(FRAME) for curve in curves]

    panel = yield from hand.read_panels(ORIGINAL)
    yield from hand.click(*panel[SOLVE][0])
    yield from hand.until(lambda: action() != seen["source"], 90.0)
    seen["solved"] = action()
    yield 0.5
    seen["picture solved"] = hand.screenshot("motion_solved")

    object = bpy.data.objects[name]
    pin = next(pin for pin in object.poise_timed_pins if pin.start <= FRAME <= pin.end)
    place = list(object.poise_timed_pins).index(pin)
    object.poise_live_pins = True
    bpy.ops.ed.undo_push(message="Live")
    bone, before, was = pin.bone, object.pose.bones[pin.bone].head.copy(), keys()
    pin.position.z += LIFT  # as a number that is dragged in the panel
    bpy.ops.ed.undo_push(message="Place")
    yield 0.1
    seen["live"] = [(object.pose.bones[bone].head - before).length, keys() == was]
    seen["picture live"] = hand.screenshot("motion_live")
    yield from hand.until(lambda: keys() != was, 90.0)
    seen["followed"] = action()

    def height() -> float:
        return bpy.data.objects[name].poise_timed_pins[place].position.z

    lifted, low = height(), height() - LIFT
    yield 0.5
    hand.rest()
    yield 0.2
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: abs(height() - low) < 1e-3)
    yield 0.5
    seen["undone live"] = [keys() == was, height() - low]
    hand.press("Z", ctrl=True, shift=True)
    yield from hand.until(lambda: keys() != was)
    seen["redone live"] = height() - lifted
    bpy.data.objects[name].poise_timed_pins[place].position.z += LIFT
    bpy.ops.ed.undo_push(message="Place")
    hand.press("Z", ctrl=True)  # before it is solved
    yield from hand.until(lambda: abs(height() - lifted) < 1e-3)
    yield 1.0
    seen["undone at once"] = [height() - lifted, bpy.ops.ed.redo.poll()]
    bpy.data.objects[name].poise_live_pins = False

    def lengthen() -> None:
        """So that no machine is done with it before it is cancelled; undo takes it back."""
        long = bpy.data.actions[seen["source"]]
        long.use_frame_range, long.frame_end = True, LONG
        for pin in bpy.data.objects[name].poise_timed_pins:
            pin.end = LONG

    lengthen()

    def at_work() -> int:
        running = bpy.context.window_manager.windows[0].modal_operators
        return sum(operator.bl_idname == "POISE_OT_solve_motion" for operator in running)

    made = sorted(action.name for action in bpy.data.actions)
    bpy.data.objects[name].poise_result_pins = ""  # so that there is all of it to solve
    yield from hand.click(*panel[SOLVE][0])
    yield 0.3
    seen["cancelled at work"] = at_work()
    hand.press("ESC")
    yield 3.0
    seen["after cancel"] = [action(), sorted(action.name for action in bpy.data.actions) == made]

    yield from hand.click(*panel[ORIGINAL][0])
    yield from hand.until(lambda: action() == seen["source"])
    seen["given back"] = [action(), sorted(action.name for action in bpy.data.actions)]

    yield from hand.click(*panel[SOLVE][0])
    yield 3.0  # until it is read, which Esc alone ends
    seen["at work"] = [at_work()]
    hand.rest()
    yield 0.3
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: not at_work())
    undone = action()
    yield 1.0
    seen["undone"] = [at_work(), action() == undone]

    lengthen()
    yield from hand.click(*panel[SOLVE][0])
    yield 0.2
    yield from hand.click(*panel[SOLVE][0])
    yield 0.2
    seen["at work"].append(at_work())
    for _ in range(4):  # what says so closes by the first one, or as soon as it is shown
        hand.press("ESC")
        if (yield from hand.until(lambda: not at_work(), limit=2.0)):
            break
    seen["cancelled"] = at_work()
    return seen


def generate(hand: Any, rig: str) -> Generator[float, None, dict[str, Any]]:
    """A jump from the menu, its samples in the Graph Editor, one of them changed; returns what was seen on the way."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=rig, load_ui=False)
    yield 0.5
    object = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    name = object.name
    bpy.context.view_layer.objects.active = object
    object.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.scene.render.fps = 30
    graph = next(area for area in hand.window.screen.areas if area.type == "PROPERTIES")
    graph.type = "GRAPH_EDITOR"
    graph.spaces.active.dopesheet.show_only_selected = False
    graph.spaces.active.dopesheet.use_multi_word_filter = True
    graph.spaces.active.dopesheet.filter_text = "Offset Fit"
    graph.spaces.active.show_region_channels = graph.spaces.active.show_region_ui = False
    hand.rest()
    yield 0.3
    hand.press("HOME")
    yield 0.5
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.generate("INVOKE_DEFAULT", recipe="jump", start=1)

    def action() -> Any:
        data = bpy.data.objects[name].animation_data
        return None if data is None else data.action

    yield from hand.until(lambda: action() is not None, 40.0)
    tracks = [", ".join(part.part for part in track.parts) or "all" for track in bpy.data.objects[name].poise_tracks]
    seen: dict[str, Any] = {"action": action().name, "tracks": tracks}
    bpy.context.scene.frame_set(25)
    bpy.data.objects[name].poise_active_track = 1
    region = next(region for region in graph.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=hand.window, area=graph, region=region):
        bpy.ops.graph.view_all()
    yield from hand.open_tab("Poise")
    yield from open_panel(hand, "POISE_PT_generate")
    seen["picture"] = hand.screenshot("motion_generate")
    object = bpy.data.objects[name]
    before = [tuple(bone.head) for bone in object.pose.bones]
    object.poise_tracks[1].offset -= 1.0  # as a number that is dragged in the panel
    yield 0.3
    seen["moved"] = sum(tuple(bone.head) != head for bone, head in zip(object.pose.bones, before, strict=True))
    seen["picture preview"] = hand.screenshot("motion_preview")
    return seen
