"""What a person does with the panel Body and the figure of parts. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

PICKED = "mixamorig:LeftForeArm"
HEADER = 32  # pixels from the first button of a panel up to its header


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


def body_tools(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Through the panel: T-pose, undo, mirror, feet, fingers, looks; a part is corrected by picking a bone."""
    import bpy
    from mathutils import Matrix

    seen: dict[str, Any] = {}
    hand.rest()
    yield 0.3
    hand.press("HOME")
    yield 0.3
    yield from hand.open_tab("Poise")
    hand.rest()
    hand.press("TAB", ctrl=True)
    yield from hand.until(lambda: bpy.context.mode == "POSE")
    rig = bpy.context.object
    panel = yield from hand.read_panels("poise_method")
    for button in ("poise_method", "bpy.ops.poise.pin(kind='BOTH')"):  # their panels are folded, for room
        x, y = panel[button][0]
        yield from hand.click(x, y + HEADER)
    panel = yield from hand.read_panels("bpy.ops.poise.look_at(target='CURSOR')")
    hand.screenshot("body_panel")
    seen["panel"] = sorted(panel)

    def press(tool: str, setting: str = "") -> Generator[float, None, None]:
        before = places()
        for point in find(panel, tool, setting):
            yield from hand.click(*point)
            if (yield from hand.until(lambda: places() != before, 4.0)):
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

    yield from hand.click(*find(panel, "pose_fingers", "side='L'")[0])
    yield 0.5
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
    hand.rest()
    yield 0.3
    hand.press("HOME")
    yield 0.3
    yield from hand.open_tab("Poise")
    hand.rest()
    hand.press("TAB", ctrl=True)
    yield from hand.until(lambda: bpy.context.mode == "POSE")
    rig = bpy.context.object
    panel = yield from hand.read_panels("bpy.ops.poise.pin(kind='BOTH')")
    x, y = panel["bpy.ops.poise.pin(kind='BOTH')"][0]
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
    after = yield from hand.look_at_rest("limits_learnt")
    seen["changed"] = int((before != after).any(axis=-1)[100:].sum())
    return seen
