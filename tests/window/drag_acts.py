"""What a person does with the Poise tool. It runs inside Blender, which has no pytest."""

import gc
import sys
from collections.abc import Generator
from typing import Any

HAND, FEET = "LeftHand", ("LeftFoot", "RightFoot")
WAIT = 0.3
EXTENSION = "bl_ext.user_default.poise"
SOON = 0.0  # until Blender has gone through its events and drawn
MOVES = 3  # of the mouse between two pictures on the screen, as a mouse is faster than software OpenGL

Pixel = tuple[int, int]


# -- reading ----------------------------------------------------------------------------------------------------------


def armature() -> Any:
    """The active one, or the first."""
    import bpy

    active = bpy.context.view_layer.objects.active
    if active is not None and active.type == "ARMATURE":
        return active
    return next(object for object in bpy.data.objects if object.type == "ARMATURE")


def bone(name: str, rig: Any = None) -> Any:
    """The pose bone of that name, or whose name ends so."""
    bones = (rig or armature()).pose.bones
    return bones.get(name) or next(bone for bone in bones if bone.name.endswith(name))


def head(name: str, rig: Any = None) -> tuple[float, float, float]:
    """Where a bone's joint is in the world."""
    import bpy

    bpy.context.view_layer.update()
    return tuple((rig or armature()).matrix_world @ bone(name, rig).head)


def channels_of(rig: Any = None) -> dict[str, list[float]]:
    """What the pose of each bone is made of, as it is stored."""
    return {
        bone.name: [
            *bone.location,
            *bone.rotation_quaternion,
            *bone.rotation_euler,
            *bone.rotation_axis_angle,
            *bone.scale,
        ]
        for bone in (rig or armature()).pose.bones
    }


def channels(rig: Any = None) -> list[float]:
    """All of it in one list."""
    return [value for values in channels_of(rig).values() for value in values]


def dragging() -> bool:
    """Whether a drag is under way in some window."""
    import bpy

    return any(
        operator.bl_idname == "POISE_OT_drag"
        for window in bpy.context.window_manager.windows
        for operator in window.modal_operators
    )


def left_behind() -> list[str]:
    """What a drag shows and has to take away, as far as Blender tells: drawings, hints in the status bar, the drag."""
    from bl_ui.space_statusbar import STATUSBAR_HT_header as Status

    found = [f"a drawing of {find.__qualname__}" for find in drag_drawings()]
    if Status.draw is not getattr(Status, "_draw_orig", Status.draw):
        found.append("hints")
    return found + (["a drag"] if dragging() else [])


def drag_drawings() -> list[Any]:
    """What the drawings of drags find to draw, if any are shown."""
    drawing = sys.modules[f"{EXTENSION}.overlay.draw"].Drawing
    finds = [one._find for one in gc.get_objects() if type(one) is drawing and one._handle is not None]
    return [find for find in finds if find.__qualname__.startswith("POISE_OT_drag")]


def shown() -> Any:
    """The marks of the drag that is under way."""
    return drag_drawings()[0](None)


def drawn(hand: Any, seconds: float) -> Generator[float, None, int]:
    """How many times viewports are drawn while nothing is done."""
    import bpy

    times: list[int] = []
    handle = bpy.types.SpaceView3D.draw_handler_add(lambda: times.append(1), (), "WINDOW", "POST_PIXEL")
    yield seconds
    bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    return len(times)


def timers(hand: Any) -> Generator[float, None, int]:
    """How many events of timers come in while nothing is done."""
    import bpy

    class Watch(bpy.types.Operator):
        bl_idname, bl_label = "wm.poise_watch", "Watch"
        count, over = 0, False

        def modal(self, context: Any, event: Any) -> set[str]:
            Watch.count += event.type == "TIMER"
            return {"FINISHED"} if Watch.over else {"PASS_THROUGH"}

        def invoke(self, context: Any, event: Any) -> set[str]:
            context.window_manager.modal_handler_add(self)
            return {"RUNNING_MODAL"}

    bpy.utils.register_class(Watch)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.wm.poise_watch("INVOKE_DEFAULT")
    yield 0.1
    Watch.over = True
    hand.move(hand.x + 1, hand.y)
    yield SOON
    yield SOON
    bpy.utils.unregister_class(Watch)
    return Watch.count


# -- doing ------------------------------------------------------------------------------------------------------------


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


def open_rig(hand: Any, file: str) -> Generator[float, None, None]:
    """Open or import a rig and take the tool, in Pose Mode, with nothing selected."""
    import bpy

    with bpy.context.temp_override(window=hand.window):
        if file.endswith(".blend"):
            bpy.ops.wm.open_mainfile(filepath=file, load_ui=False)
        else:
            bpy.ops.wm.read_homefile(use_empty=True, load_ui=False)
    yield SOON
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        if file.endswith(".bvh"):
            bpy.ops.import_anim.bvh(filepath=file)
        elif not file.endswith(".blend"):
            bpy.ops.import_scene.gltf(filepath=file, disable_bone_shape=True)
    yield from pose_mode(hand, armature())


def pose_mode(hand: Any, *rigs: Any) -> Generator[float, None, None]:
    """Take these armatures to Pose Mode, with the tool in hand; the first is active."""
    import bpy

    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.object.select_all(action="DESELECT")
        for rig in rigs:
            rig.select_set(True)
        bpy.context.view_layer.objects.active = rigs[0]
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
        bpy.ops.wm.tool_set_by_id(name="poise.drag")
        bpy.ops.ed.undo_push(message="A rig is opened")
    hand.rest()
    yield SOON


def look_from(hand: Any, turn: tuple[float, float, float], perspective: bool) -> Generator[float, None, None]:
    """Turn the viewport, and bring all into view; without the floor, a quarter of software OpenGL's time."""
    import bpy
    from mathutils import Euler

    space = hand.viewport.spaces.active
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    space.region_3d.view_rotation = Euler(turn).to_quaternion()
    space.region_3d.view_perspective = "PERSP" if perspective else "ORTHO"
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.view3d.view_all()
    yield SOON
    yield SOON


def grab(hand: Any, pixel: Pixel, **modifiers: bool) -> Generator[float, None, None]:
    """Press the mouse there; the drag begins with the next move."""
    hand.move(*pixel)
    yield SOON
    hand.hold("LEFTMOUSE", **modifiers)


def lead(hand: Any, end: Pixel, steps: int = 2 * MOVES) -> Generator[float, None, None]:
    """Move the mouse on to a pixel, in small steps."""
    x, y = hand.x, hand.y
    for step in range(1, steps + 1):
        hand.move(x + round((end[0] - x) * step / steps), y + round((end[1] - y) * step / steps))
        if step % MOVES == 0:
            yield SOON
    yield SOON


def drop(hand: Any) -> Generator[float, None, None]:
    """Let go of what is dragged."""
    hand.let_go("LEFTMOUSE")
    yield SOON
    yield SOON


def key(hand: Any, name: str, **modifiers: bool) -> Generator[float, None, None]:
    """Press a key, and let Blender see it."""
    hand.press(name, **modifiers)
    yield SOON
    yield SOON


def cancel(hand: Any, how: str) -> Generator[float, None, None]:
    """Cancel the drag with "ESC" or "RIGHTMOUSE", and only then let go of the mouse."""
    yield from key(hand, how)
    yield from drop(hand)


# -- acts -------------------------------------------------------------------------------------------------------------


def refused_at_once(hand: Any, seen: dict[str, Any]) -> Generator[float, None, None]:
    """Drag what is refused at the first step: a handler whose operator has ended crashes Blender."""
    session = sys.modules[f"{EXTENSION}.edits.drag.session"].DragSession
    drag = session.drag

    def refuse(*_: Any) -> None:
        raise sys.modules[f"{EXTENSION}.core"].CoreError("It is refused.")

    before, session.drag = channels(), refuse
    yield from grab(hand, hand.pixel(head(HAND)))
    yield from lead(hand, (hand.x + 40, hand.y))
    session.drag = drag
    yield from drop(hand)
    yield WAIT
    seen["left behind by the refused"] = left_behind()
    seen["changed by the refused"] = channels() != before


def first_drag(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Pin both feet with P, drag a hand, undo, redo, drag and cancel."""
    import bpy

    seen: dict[str, Any] = {}
    yield from ready(hand)
    region = hand.region()
    hand.move(region.x + 3 * region.width // 4, region.y + 60)
    yield WAIT
    chosen = bone(HAND)
    chosen = chosen if hasattr(chosen, "select") else chosen.bone
    chosen.select = True  # it is not pinned either
    hand.press("P")  # nothing is there, which is said without a popup: it would take the next key
    yield WAIT
    chosen.select = False
    for foot in FEET:
        hand.move(*hand.pixel(head(foot)))
        yield WAIT
        hand.screenshot(f"drag_hover_{foot}")
        hand.press("P")
        yield WAIT
    seen["pins"] = [[pin.name, pin.use_position, pin.use_rotation] for pin in armature().poise_pins]
    seen["start"], seen["hand"], seen["feet"] = channels(), head(HAND), [head(foot) for foot in FEET]
    x, y = hand.pixel(head(HAND))
    hand.move(x, y)
    yield WAIT
    hand.screenshot("drag_hover_hand")
    yield from grab(hand, (x, y))
    yield from lead(hand, (x - 144, y - 192), 12)
    hand.screenshot("drag_during")
    seen["under way"] = head(HAND)
    yield from drop(hand)
    seen["dropped"], seen["hand dropped"], seen["feet dropped"] = channels(), head(HAND), [head(foot) for foot in FEET]
    seen["wanted"] = [x - 144, y - 192]
    seen["reached"] = list(hand.pixel(head(HAND)))
    seen["selected"] = [bone.name for bone in bpy.context.selected_pose_bones], bpy.context.active_pose_bone.name
    hand.screenshot("drag_dropped")
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: channels() == seen["start"])
    seen["undone"] = channels()
    hand.press("Z", ctrl=True, shift=True)
    yield from hand.until(lambda: channels() == seen["dropped"])
    seen["redone"] = channels()
    x, y = hand.pixel(head(HAND))
    yield from grab(hand, (x, y))
    yield from lead(hand, (x + 105, y + 35))
    seen["second under way"] = channels()
    seen["path"] = len(shown().paths[0])
    for _ in range(20):  # until it rests and has said so
        seen["drawn"] = yield from drawn(hand, 0.3)
        if not seen["drawn"]:
            break
    hand.screenshot("drag_still")
    seen["path later"] = len(shown().paths[0])
    seen["ticks"] = yield from timers(hand)
    yield from cancel(hand, "ESC")
    seen["escaped"] = channels()
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: channels() == seen["start"])
    seen["undone after escape"] = channels()
    seen["tool"] = bpy.context.workspace.tools.from_space_view3d_mode("POSE", create=False).idname
    hand.screenshot("drag_end")
    yield from refused_at_once(hand, seen)
    return seen
