"""What a person does with the Poise tool. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

HAND, FEET = "LeftHand", ("LeftFoot", "RightFoot")
WAIT = 0.3


def armature() -> Any:
    import bpy

    return next(object for object in bpy.data.objects if object.type == "ARMATURE")


def bone(name: str) -> Any:
    """The pose bone whose name ends so."""
    return next(bone for bone in armature().pose.bones if bone.name.endswith(name))


def head(name: str) -> tuple[float, float, float]:
    import bpy

    bpy.context.view_layer.update()
    return tuple(armature().matrix_world @ bone(name).head)


def channels() -> list[float]:
    """Everything the pose is made of, as it is stored."""
    return [
        x
        for some in armature().pose.bones
        for x in (*some.location, *some.rotation_quaternion, *some.rotation_euler, *some.scale)
    ]


def dragging() -> bool:
    """Whether a drag is under way in some window."""
    import bpy

    return any(
        operator.bl_idname == "POISE_OT_drag"
        for window in bpy.context.window_manager.windows
        for operator in window.modal_operators
    )


def ready(hand: Any) -> Generator[float, None, None]:
    """Pose Mode, seen from the front, with the tool in hand."""
    import bpy

    hand.rest()
    yield WAIT
    hand.press("TAB", ctrl=True)
    yield from hand.until(lambda: bpy.context.mode == "POSE")
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.wm.tool_set_by_id(name="poise.drag")
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_all()
    yield 1.0


def first_drag(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Pin both feet with P, drag a hand, undo, redo, drag and cancel."""
    import bpy

    seen: dict[str, Any] = {}
    yield from ready(hand)
    for foot in FEET:
        hand.move(*hand.pixel(head(foot)))
        yield WAIT
        hand.screenshot(f"drag_hover_{foot}")
        hand.press("P")
        yield WAIT
        hand.press("P")
        yield WAIT
    seen["pins"] = [[pin.name, pin.use_position, pin.use_rotation] for pin in armature().poise_pins]
    seen["start"], seen["hand"], seen["feet"] = channels(), head(HAND), [head(foot) for foot in FEET]
    x, y = hand.pixel(head(HAND))
    hand.move(x, y)
    yield WAIT
    hand.screenshot("drag_hover_hand")
    hand.hold("LEFTMOUSE")
    for step in range(1, 13):
        hand.move(x - 12 * step, y - 16 * step)
        yield 0.05
    hand.screenshot("drag_during")
    seen["under way"] = head(HAND)
    hand.let_go("LEFTMOUSE")
    yield from hand.until(lambda: not dragging())
    seen["dropped"], seen["hand dropped"], seen["feet dropped"] = channels(), head(HAND), [head(foot) for foot in FEET]
    seen["wanted"] = [x - 12 * 12, y - 16 * 12]
    seen["reached"] = list(hand.pixel(head(HAND)))
    hand.screenshot("drag_dropped")
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: channels() == seen["start"])
    seen["undone"] = channels()
    hand.press("Z", ctrl=True, shift=True)
    yield from hand.until(lambda: channels() == seen["dropped"])
    seen["redone"] = channels()
    x, y = hand.pixel(head(HAND))
    hand.move(x, y)
    yield WAIT
    hand.hold("LEFTMOUSE")
    for step in range(1, 8):
        hand.move(x + 15 * step, y + 5 * step)
        yield 0.05
    yield from hand.until(lambda: channels() != seen["redone"])
    seen["second under way"] = channels()
    hand.press("ESC")
    yield from hand.until(lambda: not dragging())
    hand.let_go("LEFTMOUSE")
    yield WAIT
    seen["escaped"] = channels()
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: channels() == seen["start"])
    seen["undone after escape"] = channels()
    seen["tool"] = bpy.context.workspace.tools.from_space_view3d_mode("POSE", create=False).idname
    hand.screenshot("drag_end")
    return seen
