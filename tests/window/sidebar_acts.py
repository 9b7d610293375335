"""Every panel of the sidebar, at its narrowest, in each language. It runs inside Blender, which has no pytest."""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

from tests.window import drag_acts as do

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from tutorial_acts import open_alone

NARROW = 220  # pixels
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


def show(hand: Any, file: str, scale: str) -> Generator[float, None, list[str]]:
    """Open each panel alone, with those below it, and take its picture in each language; the files."""
    import bpy

    yield from do.open_rig(hand, file)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        fill(bpy.context)
    preferences = bpy.context.preferences
    yield from hand.open_tab("Poise")
    side = hand.region("UI")
    middle = side.y + side.height // 2
    yield from hand.drag((side.x, middle), (side.x + side.width - NARROW, middle))
    preferences.view.ui_scale = float(scale)
    view = preferences.view
    view.use_translate_interface = view.use_translate_tooltips = view.use_translate_reports = True
    classes = [cls for cls in sys.modules[f"{do.EXTENSION}.panels"].CLASSES if issubclass(cls, bpy.types.Panel)]
    files: list[str] = []
    for panel in classes:
        if getattr(panel, "bl_category", "") != "Poise" or hasattr(panel, "bl_parent_id"):
            continue
        below = [cls.__name__ for cls in classes if getattr(cls, "bl_parent_id", "") == panel.__name__]
        open_alone(panel.__name__, *below)
        for language in LANGUAGES:
            view.language = language
            hand.rest()
            yield 1.5
            files.append(hand.screenshot(f"sidebar_{panel.__name__}_{language}_{scale}"))
    return [*files, str(side.width)]
