"""What a person does with the panel Body and the figure of parts. It runs inside Blender, which has no pytest."""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from chain_acts import open_panel

PICKED = "mixamorig:LeftForeArm"
HEADER = 32  # pixels from the first button of a panel up to its header
HUMANOID = 58  # pixels from Strength down to the header of Humanoid, below Advanced
ROUND = 170.0  # degrees that the mouse goes round the neck
TOOL = 'bpy.ops.wm.tool_set_by_id(name="poise.drag")'  # the first button of the panel Pins
LIMITS = "poise_use_anatomy_limits"


def places() -> dict[str, list[float]]:
    """Heads of all bones in the world."""
    import bpy

    bpy.context.view_layer.update()
    rig = bpy.context.object
    return {bone.name: list(rig.matrix_world @ bone.head) for bone in rig.pose.bones}


def find(panel: dict[str, Any], tool: str, setting: str = "") -> list[tuple[int, int]]:
    """Points on a button, by its operator and one of its settings; the surest first, since the mouse is seen late."""
    for name, points in panel.items():
        if name.startswith(f"bpy.ops.poise.{tool}(") and setting in name:
            return points[::-1][len(points) // 3 :] + points[::-1][: len(points) // 3]
    raise AssertionError(f"no button {tool} {setting} among {sorted(panel)}")


def turned() -> dict[str, float]:
    """Degrees that bones are turned from their rest pose, those that are."""
    import bpy

    angles = {
        bone.name.partition(":")[2]: float(np.degrees(bone.matrix_basis.to_quaternion().angle))
        for bone in bpy.context.object.pose.bones
    }
    return {name: angle for name, angle in angles.items() if angle > 0.05}


def turn_head(hand: Any, picture: str) -> Generator[float, None, dict[str, float]]:
    """Turn the head about the vertical, by Ctrl G, R and Z; how far bones are turned then. Esc takes it back."""
    import bpy

    rig = bpy.context.object
    head = rig.pose.bones["mixamorig:Head"]
    pivot = np.array(hand.pixel(tuple(rig.matrix_world @ head.head)))
    start = np.array(hand.pixel(tuple(rig.matrix_world @ head.center)))
    hand.move(*start.tolist())
    yield 0.2
    hand.press("G", ctrl=True)
    yield 0.2
    hand.press("R")
    hand.press("Z")
    for angle in np.radians(np.linspace(0.0, ROUND, 12)):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        hand.move(*np.round(pivot + 1.5 * turn @ (start - pivot)).astype(int).tolist())
        yield 0.05
    yield 0.5
    hand.screenshot(picture)
    found = turned()
    hand.press("ESC")
    yield from hand.until(lambda: not turned(), 4.0)
    return found


def pose_beside_panel(hand: Any) -> Generator[float, None, Any]:
    """See the whole body with the tab Poise beside it, go to Pose Mode, and return the armature."""
    import bpy

    hand.rest()
    yield 0.3
    hand.press("HOME")
    yield 0.3
    yield from hand.open_tab("Poise")
    hand.rest()
    hand.press("TAB", ctrl=True)
    yield from hand.until(lambda: bpy.context.mode == "POSE")
    return bpy.context.object


def body_tools(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Through the panels: anatomical limits on and off, T-pose, undo, mirror, feet, looks, a new rest pose, fingers."""
    import bpy
    from mathutils import Matrix

    seen: dict[str, Any] = {}
    rig = yield from pose_beside_panel(hand)
    panel = yield from hand.read_panels(LIMITS)
    seen["limits"] = [getattr(rig, LIMITS)]
    seen["head within limits"] = yield from turn_head(hand, "body_within_limits")
    yield from hand.click(*panel[LIMITS][0])
    seen["limits"].append(getattr(rig, LIMITS))
    seen["head beyond limits"] = yield from turn_head(hand, "body_beyond_limits")
    seen["back"] = turned()
    panel = yield from hand.read_panels("bpy.ops.poise.look_at(target='CURSOR')")
    hand.screenshot("body_panel")
    seen["panel"] = sorted(panel)

    def press(tool: str, setting: str = "", look: Any = places) -> Generator[float, None, None]:
        before = look()
        for point in find(panel, tool, setting):
            yield from hand.click(*point)
            if (yield from hand.until(lambda: look() != before, 4.0)):
                break

    seen["start"] = places()
    yield from press("take_posture", "posture='A'")
    seen["A"] = places()
    hand.rest()
    yield 0.2
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: places() == seen["start"])
    seen["undone"] = places()
    yield from press("take_posture", "posture='RELAXED'")
    rig = bpy.context.object
    for bone, axis, angle in (("LeftArm", "X", -1.0), ("Spine", "Z", 0.3), ("LeftUpLeg", "X", -0.5)):
        rig.pose.bones[f"mixamorig:{bone}"].matrix_basis @= Matrix.Rotation(angle, 4, axis)
    bpy.ops.ed.undo_push(message="posed")
    seen["posed"] = places()
    hand.screenshot("body_posed")
    yield from press("mirror_pose", "model='BOTH'")
    seen["mirrored"] = places()
    hand.screenshot("body_mirrored")
    yield from press("plant_feet")
    seen["planted"] = places()
    bpy.context.scene.cursor.location = (1.0, -1.5, 1.2)
    yield from press("look_at")
    seen["looked"] = places()
    seen["before rest"] = turned()
    yield from press("make_rest", look=turned)
    seen["at rest"], seen["made rest"] = turned(), places()
    hand.rest()
    yield 0.3
    hand.screenshot("body_made_rest")
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: turned() == seen["before rest"])
    seen["rest undone"], seen["places undone"] = turned(), places()

    yield from hand.click(*find(panel, "pose_fingers", "side='L'")[0])
    yield 1.5  # nothing tells when a popup is there, and this machine may be busy
    hand.screenshot("body_fingers_popup")
    before, x, y = places(), hand.x, hand.y
    for step in range(-10, 3):  # the sliders lie to the right of the mouse
        yield from hand.drag((x + 200, y + 10 * step), (x + 290, y + 10 * step), steps=4)
        yield 0.2
        if places() != before:
            break
    seen["closed"] = places()
    hand.screenshot("body_fingers")
    return seen


def correct_part(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """In the figure of parts click the left hand, select a bone, say that it plays it, and take that back."""
    import bpy

    seen: dict[str, Any] = {}
    rig = yield from pose_beside_panel(hand)
    yield from open_panel(hand, "POISE_PT_rig")
    panel = yield from hand.read_panels(TOOL)
    x, y = panel[TOOL][0]
    yield from hand.click(x, y + 2 * HEADER)  # unfolds what is above: the parts
    yield 0.5
    panel = yield from hand.read_panels("bpy.ops.poise.set_role(role='hips')")
    hand.screenshot("parts_panel")
    seen["panel"] = sorted(panel)
    survey = bpy.context.window_manager.poise_survey
    x, y = panel['bpy.ops.poise.show_part(role="hand.L")'][0]
    for back in range(0, 60, 10):  # a cell is smaller than a step of the mouse, which is seen late
        yield from hand.click(x - back, y)
        yield 0.3
        if survey.part == "hand.L":
            break
    seen["shown"] = [bone.name for bone in bpy.context.selected_pose_bones]
    yield from hand.click(*hand.pixel(tuple(rig.matrix_world @ rig.pose.bones[PICKED].center)))
    seen["selected"] = [bone.name for bone in bpy.context.selected_pose_bones]
    yield from hand.click(*panel["bpy.ops.poise.set_role(role='hips')"][0])  # where the same is for the hand now
    yield from hand.until(lambda: rig.pose.bones[PICKED].poise_role != "", 4.0)
    seen["said"] = rig.pose.bones[PICKED].poise_role
    hand.rest()
    yield 0.5
    hand.screenshot("parts_corrected")
    seen["states"] = {row.name: row.state for row in bpy.context.window_manager.poise_survey.findings if row.name}
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: bpy.context.object.pose.bones[PICKED].poise_role == "", 4.0)
    seen["states undone"] = {
        row.name: row.state for row in bpy.context.window_manager.poise_survey.findings if row.name
    }
    return seen


def learn_limits(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Learn the limits of an arm that waves, and look at the viewport before and after."""
    import bpy
    from mathutils import Euler

    rig = bpy.context.object
    arm = rig.pose.bones["mixamorig:LeftArm"]
    arm.rotation_mode = "QUATERNION"
    for frame, angles in enumerate(((0.0, 0.0, 0.0), (0.8, 0.2, 0.3), (0.2, 0.1, 0.9), (-0.4, -0.2, 0.2))):
        arm.rotation_quaternion = Euler(angles).to_quaternion()
        arm.keyframe_insert("rotation_quaternion", frame=1 + 5 * frame)
    rig.data.bones.active = rig.data.bones[arm.name]
    hand.rest()
    hand.press("HOME")
    yield 0.3
    hand.press("TAB", ctrl=True)
    yield from hand.until(lambda: bpy.context.mode == "POSE")
    yield from hand.click(*hand.pixel(tuple(rig.matrix_world @ arm.center)))
    hand.rest()
    seen: dict[str, Any] = {"active": bpy.context.active_pose_bone.name}
    before = yield from hand.look_at_rest("limits_none")
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.learn_limits()
    hand.rest()
    yield 0.3
    after = yield from hand.look_at_rest("limits_learned")
    seen["changed"] = int((before != after).any(axis=-1)[100:].sum())
    return seen


def pull_along(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Look at the settings of the method Humanoid, set one by the mouse, and take that back."""
    import bpy

    hand.rest()
    yield 0.3
    yield from hand.open_tab("Poise")
    rig = bpy.context.object
    rig.poise_method = "HUMANOID"
    hand.rest()
    yield from open_panel(hand, "POISE_PT_solver")
    panel = yield from hand.read_panels("poise_strength")
    x, y = panel["poise_strength"][0]
    yield from hand.click(x, y - HUMANOID)  # unfolds it
    yield 0.5
    panel = yield from hand.read_panels("poise_resist_hips", 0.2)
    hand.screenshot("humanoid_panel")
    seen: dict[str, Any] = {"panel": sorted(name for name in panel if name.startswith("poise_"))}
    x, y = panel["poise_resist_hips"][0]
    yield from hand.drag((x, y), (x + 60, y), steps=6)
    yield 0.3
    seen["resist"] = rig.poise_resist_hips
    hand.screenshot("humanoid_set")
    return seen
