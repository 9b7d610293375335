"""Settings of the solver, of a bone and of the parts are shown. It runs inside Blender, which has no pytest."""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

from tests.window import drag_acts as do

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from chain_acts import FOLDS, HEADER, open_panel
from language_acts import speak

ROW = 32  # pixels from a button to the header below it, or above it
REDUCE, STIFFNESS = "poise_use_reduce", "bpy.ops.poise.learn_stiffness()"  # the last rows of Advanced, by the method


def look(hand: Any, file: str) -> Generator[float, None, dict[str, Any]]:
    """Choose an action as Joint Targets, open Active Bone, choose Humanoid; open Parts; change the language."""
    import bpy

    yield from do.open_rig(hand, file)
    rig = do.armature()
    rig.data.display_type = "STICK"
    yield from do.look_from(hand, (1.4, 0.0, 1.0), False)
    rig.data.bones.active = rig.data.bones["Spine1"]
    rig.poise_joint_targets, rig.poise_target_action = "ACTION", rig.animation_data.action
    yield from hand.open_tab("Poise")
    yield from open_panel(hand, "POISE_PT_solver")
    seen: dict[str, Any] = {}

    def below(button: str, rows: int = 1) -> Generator[float, None, None]:
        """Click the header so many rows below a button, or above it."""
        panel = yield from hand.read_panels(button)
        x, y = panel[button][0]
        yield from hand.click(x, y - (ROW if rows > 0 else -ROW) - (rows - (1 if rows > 0 else -1)) * HEADER)
        yield FOLDS

    def shot(name: str) -> Generator[float, None, None]:
        hand.rest()
        hand.region("UI").tag_redraw()
        yield do.WAIT
        seen[name] = hand.screenshot(f"settings_{name}")

    yield from below("poise_strength")  # Advanced
    yield from shot("pins")
    yield from below(STIFFNESS)  # Active Bone
    rig.pose.bones["Spine1"].poise_target = 0.5
    yield from shot("target")
    rig.poise_method = "HUMANOID"
    yield from shot("humanoid")
    yield from below(REDUCE)  # Humanoid
    yield from shot("limbs")
    yield from open_panel(hand, "POISE_PT_rig")
    yield from below("poise_method", -4)  # Parts, above Pins, Body and Solver
    yield from shot("parts")
    rig.poise_method, rig.data.bones["LeftHand"].name = "PINS", "Pin"
    for language in ("zh_HANS", "ja_JP"):
        seen["said"] = yield from speak(hand, language)
        yield from shot(f"parts_{language}")
    seen["mode"] = bpy.context.mode
    return seen
