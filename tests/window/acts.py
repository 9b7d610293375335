"""What a person does in front of Blender's window. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

import numpy as np

FEET = ("mixamorig:LeftFoot", "mixamorig:RightFoot")
HIPS = "mixamorig:Hips"
PIN = "bpy.ops.poise.pin(kind='BOTH')"
POSED = "bpy.ops.poise.make_rest()"  # is disabled outside Pose Mode
T_POSE = "bpy.ops.poise.take_posture(posture='T')"
HEADER = 32  # pixels from the first button of a panel up to its header
SOLVE = "bpy.ops.poise.solve()"
BAKE = "bpy.ops.poise.bake()"
LAST_FRAME = 8

NEAR = 1e-3  # metres, and radians near enough: how far a pinned foot may be off
SAME = 1e-5  # an undone pose
RIG = 0.04  # of the sidebar's height, from above: the header of the panel Rig, of which nothing is wanted
MANY = 100  # red pixels that make a text
RED = (0.6, 0.45)  # what Blender writes a reason in: at least this much red, at most this much green and blue


def only_rig(hand: Any) -> Generator[float, None, Any]:
    """Show the workspace Layout; return the only armature, which is selected alone, in Object Mode."""
    import bpy

    rig = next(one for one in bpy.data.objects if one.type == "ARMATURE")
    hand.window.workspace = bpy.data.workspaces["Layout"]  # that of the file has a small viewport
    yield 1.0
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.object.select_all(action="DESELECT")
        bpy.context.view_layer.objects.active = rig
        rig.select_set(True)
    return rig


def matrices() -> list[list[list[float]]]:
    """The world matrices of the feet and the hips, as Blender has evaluated them."""
    import bpy

    bpy.context.view_layer.update()
    rig = bpy.context.object
    return [[list(row) for row in rig.matrix_world @ rig.pose.bones[name].matrix] for name in (*FEET, HIPS)]


def middle(bone: str) -> tuple[float, float, float]:
    import bpy

    rig = bpy.context.object
    return tuple(rig.matrix_world @ rig.pose.bones[bone].center)


def pose_channels() -> list[float]:
    import bpy

    return [x for bone in bpy.context.object.pose.bones for x in (*bone.location, *bone.rotation_quaternion)]


def red_pixels(picture: np.ndarray, x: int, y: int) -> int:
    """How many pixels of the picture, within the size of a tooltip below this point, are of the red of reasons."""
    pixels = picture[max(y - 120, 0) : y, max(x - 300, 0) :] / 255.0
    return int(np.sum((pixels[..., 0] > RED[0]) & (pixels[..., 1:] < RED[1]).all(axis=-1)))


def first_minute(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Pin the feet, move the hips, solve, undo, solve with a fixed root, bake; returns what was seen on the way."""
    import bpy

    seen: dict[str, Any] = {}
    hand.rest()
    yield 0.3
    hand.press("HOME")
    yield 0.5

    yield from hand.open_tab("Poise")
    seen["category"] = hand.region("UI").active_panel_category
    panel = yield from hand.read_panels(POSED)
    yield 0.5
    seen["buttons in object mode"] = sorted(panel)
    x, y = panel[POSED][0]
    seen["red before"] = red_pixels(hand.look("panel_object_mode"), x, y)
    for step in range(1, 6):  # the tooltip takes its time, and on a busy machine the mouse has to ask again
        hand.move(x + 2 * step, y)
        yield 2.0
        seen["red of the reason"] = red_pixels(hand.look("panel_reason"), x, y)
        if seen["red of the reason"] > seen["red before"] + MANY:
            break

    hand.rest()
    yield 0.2
    hand.press("TAB", ctrl=True)
    seen["pose mode"] = yield from hand.until(lambda: bpy.context.mode == "POSE")
    yield from hand.click(*hand.pixel(middle(FEET[0])))
    yield from hand.click(*hand.pixel(middle(FEET[1])), shift=True)
    seen["selected feet"] = sorted(bone.name for bone in bpy.context.selected_pose_bones)
    panel = yield from hand.read_panels(PIN, below=RIG)
    yield from hand.click(*panel[PIN][0])
    yield from hand.until(lambda: len(bpy.context.object.poise_pins) == len(FEET))
    seen["pins"] = [(pin.name, pin.use_position, pin.use_rotation) for pin in bpy.context.object.poise_pins]
    panel = yield from hand.read_panels(below=RIG)
    seen["panel with pins"] = sorted(panel)
    hand.screenshot("panel_pinned")

    seen["at the press"] = matrices()
    yield from hand.click(*hand.pixel(middle(HIPS)))
    seen["selected"] = [bone.name for bone in bpy.context.selected_pose_bones]
    hand.press("G")
    yield 0.2
    for _ in range(10):
        hand.move(hand.x + 4, hand.y - 8)
        yield 0.03
    hand.press("LEFTMOUSE")
    yield from hand.until(lambda: bool(np.ptp([seen["at the press"][2], matrices()[2]], axis=0).max() > NEAR))
    seen["moved"], moved = matrices(), pose_channels()
    hand.screenshot("panel_moved")

    yield from hand.click(*panel[SOLVE][0])
    yield from hand.until(lambda: pose_channels() != moved)
    seen["solved"] = matrices()
    hand.screenshot("panel_solved")

    hand.rest()
    yield 0.2
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: bool(np.allclose(pose_channels(), moved, atol=SAME)))
    seen["undone"] = matrices()
    seen["pins after undo"] = len(bpy.context.object.poise_pins)

    priority = panel["poise_pins[1].priority"]
    seen["spaces"] = yield from spaces(hand, priority[0][0], height(priority) - 23)
    x, y = panel[T_POSE][0]
    yield from hand.click(x, y + HEADER)  # folds the panel Body: that of the solver comes up
    yield 1.5
    panel = panel | (yield from hand.read_panels("poise_root", below=0.4))
    seen["presets"] = yield from presets(hand, height(panel["poise_method"]) + 31)
    hand.move(*panel["poise_root"][0])
    for _ in range(5):  # Ctrl and the wheel go through the list
        yield 0.3
        if bpy.context.object.poise_root == "FIXED":
            break
        hand.press("WHEELDOWNMOUSE", ctrl=True)
    seen["root"] = bpy.context.object.poise_root
    yield from hand.click(*panel[SOLVE][0])
    yield from hand.until(lambda: pose_channels() != moved)
    seen["solved with a fixed root"] = matrices()
    hand.rest()
    yield 0.5
    hand.screenshot("panel")

    yield from hand.click(*panel[BAKE][0])
    yield 1.0
    hand.screenshot("panel_bake")
    for _ in range(20):  # down the dialog to the field with the last frame
        bpy.context.window_manager.clipboard = ""
        hand.press("C", ctrl=True)
        yield 0.1
        if bpy.context.window_manager.clipboard == str(bpy.context.scene.frame_end):
            break
        hand.move(hand.x, hand.y - 8)
        yield 0.05
    seen["field"] = bpy.context.window_manager.clipboard
    yield from hand.click(hand.x, hand.y)
    yield from hand.type(str(LAST_FRAME))
    hand.screenshot("panel_bake_range")
    hand.press("RET")
    yield from hand.until(lambda: len(bpy.data.actions) > 0)
    hand.rest()
    hand.press("A")  # the timeline shows the keys of selected bones
    yield 0.8
    hand.screenshot("panel_baked")
    seen["actions"] = {
        action.name: sorted({key.co.x for layer in action.layers for strip in layer.strips for bag in strip.channelbags
                             for curve in bag.fcurves for key in curve.keyframe_points})
        for action in bpy.data.actions
    }  # fmt: skip
    return seen


def height(points: list[tuple[int, int]]) -> int:
    """Of the middle of a button, of the points that were on it."""
    return round(np.mean([y for _, y in points]))


def spaces(hand: Any, x: int, y: int) -> Generator[float, None, list[Any]]:
    """Fix the chosen pin to the armature, and to the world again, by the menu that is there; space and place each."""
    import bpy

    found: list[Any] = []
    for key in ("A", "W"):
        hand.move(x, y - 5)
        yield 0.2
        yield from hand.click(x, y)
        hand.screenshot("panel_space")
        hand.press(key)
        yield 0.2
        pin = bpy.context.object.poise_pins[1]
        found.append([pin.space, *pin.position])
    return found


def presets(hand: Any, header: int) -> Generator[float, None, list[bool]]:
    """Save the settings as a preset, change one, use the preset, all by the list in the header of the panel Solver.

    `header`: how high that is. Returns whether Stretch, which is on in the preset and then off, is on after each step.
    """
    import bpy

    rig, side = bpy.context.object, hand.region("UI")
    right = side.x + side.width
    icon, plus, last = (right - 67, header), (right + 25, header + 41), (right - 83, header + 79)
    found: list[bool] = []
    for stretch, button in ((True, plus), (False, last)):
        rig.poise_use_stretch = stretch
        hand.rest()  # a list closes when the mouse has left it, and a button has to see the mouse come
        yield 0.4
        hand.move(icon[0] - 40, icon[1] - 30)
        yield 0.3
        yield from hand.click(*icon)
        hand.screenshot("panel_presets")
        yield from hand.click(*button)
        found.append(rig.poise_use_stretch)
    rig.poise_use_stretch = False
    return found


def fall_over(hand: Any) -> Generator[float, None, None]:
    yield 0.1
    raise ValueError("over the stool")
