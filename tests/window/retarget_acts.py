"""Many motion files retargeted from the panel. It runs inside Blender, which has no pytest."""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from chain_acts import open_panel

MANY = "bpy.ops.poise.retarget_files()"
ACROSS, UP = 180, 211  # pixels from the left and the bottom of the panel of the last operation to the head of its parts
BUTTON = 70  # pixels from the right of the file browser to the middle of its button
OPERATOR = "POISE_OT_retarget_files"


def retarget_many(hand: Any, folder: str) -> Generator[float, None, dict[str, Any]]:
    """Choose all files of a folder, work on meanwhile, undo and redo; start again and press Esc."""
    import bpy

    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    name = rig.name
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    bpy.ops.ed.undo_push(message="start")
    hand.rest()
    yield 0.5
    before = sorted(action.name for action in bpy.data.actions)
    seen: dict[str, Any] = {}

    def actions() -> list[str]:
        return sorted({action.name for action in bpy.data.actions} - set(before))

    def at_work() -> bool:
        running: Any = bpy.context.window_manager.windows[0].modal_operators
        return any(operator.bl_idname == OPERATOR for operator in running)

    def browser() -> Any:
        return next((area for area in hand.window.screen.areas if area.type == "FILE_BROWSER"), None)

    def choose(picture: str) -> Generator[float, None, None]:
        panel = yield from hand.read_panels(MANY)
        yield from hand.click(*panel[MANY][0])
        yield from hand.until(lambda: browser() is not None)
        browser().spaces.active.params.directory = folder.encode()
        yield 1.0
        files = next(region for region in browser().regions if region.type == "WINDOW")
        for step in (0, 1):
            hand.move(files.x + files.width // 2 + step, files.y + files.height // 4)
        yield 0.3
        hand.press("A")
        yield 0.5
        seen[picture] = hand.screenshot(picture)
        button = next(region for region in browser().regions if region.type == "EXECUTE")
        yield from hand.click(button.x + button.width - BUTTON, button.y + button.height // 2)
        yield from hand.until(at_work)

    yield from hand.open_tab("Poise")
    yield from open_panel(hand, "POISE_PT_motion")
    yield from choose("retarget_files_dialog")
    seen["at work"] = at_work()
    hand.rest()
    yield 0.3
    bpy.context.scene.frame_set(7)  # a person goes on
    hand.press("A")
    yield 0.5
    chosen: Any = bpy.context.selected_pose_bones
    seen["selected meanwhile"] = len(chosen)
    seen["picture at work"] = hand.screenshot("retarget_files_at_work")
    yield from hand.until(lambda: not at_work(), 90.0)
    yield 0.5
    seen["made"] = actions()
    seen["picture made"] = hand.screenshot("retarget_files_made")
    hand.rest()
    yield 0.2
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: not actions())
    seen["undone"] = actions()
    hand.press("Z", ctrl=True, shift=True)
    yield from hand.until(lambda: bool(actions()))
    seen["redone"] = actions()
    bpy.data.actions.remove(bpy.data.actions[seen["redone"][0]])

    bpy.ops.ed.undo_push(message="one is gone")
    left = actions()
    yield from choose("retarget_files_again")
    hand.rest()
    yield 0.2
    hand.press("ESC")
    yield from hand.until(lambda: not at_work(), 20.0)
    seen["after escape"] = [at_work(), actions() == left]
    data: Any = bpy.data.objects[name].animation_data
    seen["action"] = data is not None and data.action is not None
    return seen


def retarget_parts(hand: Any, clip: str) -> Generator[float, None, dict[str, Any]]:
    """Put an arm of a walk over the walk of a body, and then the head instead, in the panel of the last operation."""
    import bpy

    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    name = rig.name
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.poise.retarget(filepath=clip)
    bpy.ops.ed.undo_push(message="walk")

    def head() -> list[float]:
        bpy.context.scene.frame_set(40)
        return list(bpy.data.objects[name].pose.bones["mixamorig:Head"].rotation_quaternion)

    was = head()
    hand.rest()
    yield 0.5
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.retarget("INVOKE_DEFAULT", filepath=clip, parts={"arm.L"}, start=20)
    yield from hand.until(lambda: bpy.data.objects[name].animation_data.action.name != f"{name} cmu_07_12", 30.0)
    yield 1.0
    panel = hand.region("HUD")
    yield from hand.click(panel.x + panel.width // 2, panel.y + panel.height // 2)
    yield 1.0
    panel = hand.region("HUD")

    def chosen() -> list[str]:
        done: Any = bpy.context.window_manager.operators[-1]
        return sorted(done.parts)

    seen = {"before": chosen(), "picture": hand.screenshot("retarget_parts")}
    yield from hand.click(panel.x + ACROSS, panel.y + UP)
    yield from hand.until(lambda: chosen() == ["head"], 30.0)
    return seen | {"after": chosen(), "head": head() != was, "picture after": hand.screenshot("retarget_parts_head")}
