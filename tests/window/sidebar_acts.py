"""Every panel of a narrow sidebar, in each language. It runs inside Blender, which has no pytest."""

import sys
from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do

WIDER = 2.0
LANGUAGES = ("en_US", "ja_JP", "zh_HANS")
FEET = ("LeftFoot", "RightFoot")


def fill(context: Any) -> None:
    """Give the armature something to show in each panel."""
    import bpy

    poise, rig = bpy.ops.poise, context.active_object
    for bone in rig.pose.bones:
        bone.select = bone.name in FEET
    poise.pin(kind="BOTH")
    poise.find_contacts()
    for bone in rig.pose.bones:
        bone.select = bone.name in ("LeftArm", "LeftHand")
    rig.data.bones.active = rig.data.bones["LeftHand"]
    poise.add_chain()
    poise.store_pose(pose="MIN")
    context.scene.frame_set(20)
    poise.store_pose(pose="MAX")
    poise.generate(recipe="own")
    poise.add_phase(part="foot.L")
    poise.add_phase(part="FLIGHT")
    rig.poise_joint_targets, rig.poise_target_action = "ACTION", rig.animation_data.action
    poise.survey()


def pages(hand: Any, name: str, files: list[str]) -> Generator[float, None, None]:
    """Take pictures from the top of the sidebar to its end; adds their files."""
    side = hand.region("UI")
    hand.move(side.x + side.width - 5, side.y + 5)  # no button, so no tooltip
    yield do.SOON
    hand.press("HOME")
    yield 1.5
    while True:
        top = side.view2d.region_to_view(0, 0)
        files.append(hand.screenshot(f"{name}_{len(files)}"))
        hand.press("PAGE_DOWN")
        yield 1.0
        if side.view2d.region_to_view(0, 0) == top:
            break


def show(hand: Any, file: str, scale: str, width: str) -> Generator[float, None, list[str]]:
    """Open each panel alone, with those below it, and take its picture in each language; the files."""
    import bpy

    yield from do.open_rig(hand, file)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        fill(bpy.context)
    view = bpy.context.preferences.view
    view.ui_scale = WIDER  # edges are easier to hold
    hand.rest()
    hand.press("N")
    side = hand.region("UI")
    yield from hand.until(lambda: side.width > 1)
    middle = side.y + side.height // 2
    hand.move(side.x + side.width // 2, middle)
    yield do.SOON
    yield from hand.drag((side.x, middle), (side.x + side.width - round(int(width) * WIDER), middle))
    view.ui_scale = float(scale)
    yield do.WAIT
    yield do.WAIT
    assert 0.95 * int(width) * view.ui_scale < side.width < 1.1 * int(width) * view.ui_scale
    view.use_translate_interface = view.use_translate_tooltips = view.use_translate_reports = True
    classes = [cls for cls in sys.modules[f"{do.EXTENSION}.panels"].CLASSES if issubclass(cls, bpy.types.Panel)]
    classes = [cls for cls in classes if getattr(cls, "bl_category", "") == "Poise"]
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
    files: list[str] = []
    tops = [(cls, "PINS") for cls in classes if not hasattr(cls, "bl_parent_id")]
    solver = next(panel for panel, _ in tops if panel.__name__ == "POISE_PT_solver")
    for panel, method in (*tops, (solver, "HUMANOID")):
        bpy.context.active_object.poise_method = method
        together = [panel, *(cls for cls in classes if getattr(cls, "bl_parent_id", "") == panel.__name__)]
        for cls in together:
            cls.bl_options = set()
            bpy.utils.register_class(cls)
        view.language = "en_US"
        yield do.WAIT
        side.active_panel_category = "Poise"
        for language in LANGUAGES:
            view.language = language
            yield from pages(hand, f"sidebar_{width}_{panel.__name__}_{method}_{language}_{scale}", files)
        for cls in reversed(together):
            bpy.utils.unregister_class(cls)
    for cls in classes:
        bpy.utils.register_class(cls)
    return files
