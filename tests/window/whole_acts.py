"""Root Motion, Make Loop, Smooth Motion, then the acts of time_acts. They run inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

import numpy as np

from tests.window.time_acts import Stage, bend_path, touch_time

FRAMES = {"mixamo": 34, "rigify": 34, "cat": 10}
FIRST = 2  # the clip begins with its rest pose
TRAVEL = 3.0  # lengths of the cat
PARTS = {
    "mixamo": ("mixamorig:Hips", "mixamorig:LeftFoot"), "rigify": ("DEF-spine", "DEF-foot.L"),
    "cat": ("Bone.001", "Bone.007"),
}  # fmt: skip


def edit_motions(hand: Any, kind: str, motion: str, file: str = "") -> Generator[float, None, dict[str, Any]]:
    """Let the object, or the body, travel, make a loop, smooth with the mouse; undo each; what was seen on the way."""
    import bpy

    stage = yield from _begin(hand, kind, motion, file)
    name = stage.name

    def armature() -> Any:
        return bpy.data.objects[name]

    def places() -> np.ndarray:
        """Where parts of the body are in some frames."""
        scene, found = bpy.context.scene, []
        now = scene.frame_current
        for frame in np.linspace(scene.frame_start, scene.frame_end, 7).round().astype(int).tolist():
            scene.frame_set(frame)
            own = armature()
            found.append([own.matrix_world @ own.pose.bones[bone].head for bone in parts])
        scene.frame_set(now)
        return np.array(found)

    def carrier(frame: int) -> np.ndarray:
        """Where what travels is at a frame: the object, or the body in its object, which stays."""
        bpy.context.scene.frame_set(frame)
        own = armature()
        return np.array(own.pose.bones[parts[0]].head if kind == "cat" else own.matrix_world.translation)

    parts, source = PARTS[kind], stage.action.name
    first, last = bpy.context.scene.frame_start, bpy.context.scene.frame_end
    size, before = armature().dimensions.z, places()
    seen: dict[str, Any] = {}
    yield from stage.call("root_motion", carrier="BODY" if kind == "cat" else "OBJECT")
    seen["root dialog"] = hand.screenshot(f"root_motion_dialog_{kind}")
    hand.press("RET")
    seen["root"] = yield from stage.changed(source)
    yield 0.5
    after = places()
    seen["root off"] = float(np.abs(after - before).max() / size)
    ways = carrier(last) - carrier(first), (before[-1] - before[0])[0]
    seen["travelled"] = [float(np.linalg.norm(way[:2]) / size) for way in ways]
    bpy.context.scene.frame_set(last)
    yield 0.5
    seen["root picture"] = hand.screenshot(f"root_motion_{kind}")
    seen["root undone"] = yield from stage.undo(source)

    yield from stage.call("make_loop", find=kind != "cat")
    seen["loop dialog"] = hand.screenshot(f"make_loop_dialog_{kind}")
    hand.press("RET")
    seen["loop"] = yield from stage.changed(source)
    yield 0.5
    made = stage.action
    seen["cyclic"] = [made.use_cyclic, *made.frame_range]
    seen["loop picture"] = hand.screenshot(f"make_loop_{kind}")
    seen["loop undone"] = yield from stage.undo(source)

    show = _trail_show()
    yield from hand.until(lambda: len(show.trails) > 0)
    yield 1.0
    bpy.context.scene.frame_set(FRAMES[kind])
    yield 1.0

    def pose() -> np.ndarray:
        return np.array([bone.matrix_basis for bone in armature().pose.bones])

    begun = pose()
    hand.rest()
    yield 0.2
    yield from stage.call("smooth_motion")
    x, y = hand.x, hand.y
    found = []
    for share in (0.1, 0.25):
        hand.move(x + round(share * hand.region().width), y)
        yield 1.0
        found.append(float(np.abs(pose() - begun).max()))
    seen["smoother"] = found
    seen["smooth picture"] = hand.screenshot(f"smooth_motion_{kind}")
    seen["dragged"] = show.dragged is not None
    hand.press("ESC")
    yield 1.0
    seen["cancelled"] = [float(np.abs(pose() - begun).max()), stage.action.name == source, show.dragged is None]
    hand.rest()
    yield 0.2
    yield from stage.call("smooth_motion")
    for _ in range(4):
        hand.press("WHEELUPMOUSE")
        yield 0.3
    hand.press("LEFTMOUSE")
    seen["smooth"] = yield from stage.changed(source)
    yield 1.0
    seen["smoothed picture"] = hand.screenshot(f"smooth_motion_after_{kind}")
    seen["smooth undone"] = yield from stage.undo(source)
    return seen


def touch_motions(hand: Any, kind: str, motion: str, file: str = "") -> Generator[float, None, dict[str, Any]]:
    """See `touch_time`."""
    return (yield from touch_time((yield from _begin(hand, kind, motion, file))))


def bend_motions(hand: Any, kind: str, motion: str, file: str = "") -> Generator[float, None, dict[str, Any]]:
    """See `bend_path`."""
    return (yield from bend_path((yield from _begin(hand, kind, motion, file))))


def _begin(hand: Any, kind: str, motion: str, file: str) -> Generator[float, None, Stage]:
    """Give a rig its motion, and show it from the right, with trails."""
    import bpy

    if file:
        bpy.context.preferences.filepaths.use_scripts_auto_execute = True  # else Blender asks, and takes the mouse
        bpy.ops.wm.open_mainfile(filepath=file, load_ui=False)
        yield 1.0
    rig = _animal(motion) if kind == "cat" else _human(motion)
    name = rig.name
    bpy.context.scene.frame_set(FRAMES[kind])
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    rig.poise_use_trails = True
    bpy.ops.ed.undo_push(message="start")
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.view3d.view_axis(type="RIGHT")
    hand.rest()
    yield 0.3
    hand.press("HOME")
    yield 1.0
    return stage_of(hand, kind, name)


def stage_of(hand: Any, kind: str, name: str) -> Stage:
    """Return the stage for an armature."""
    import bpy

    def action() -> str:
        return bpy.data.objects[name].animation_data.action.name

    def ended() -> bool:
        return not len(hand.window.modal_operators)

    def call(tool: str, **settings: Any) -> Generator[float, None, None]:
        with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
            getattr(bpy.ops.poise, tool)("INVOKE_DEFAULT", **settings)
        yield 0.5

    def changed(source: str) -> Generator[float, None, bool]:
        done = yield from hand.until(lambda: action() != source, 180.0)
        yield from hand.until(ended, 60.0)
        return done

    def undo(source: str) -> Generator[float, None, bool]:
        hand.rest()
        yield 0.2
        hand.press("Z", ctrl=True)
        return (yield from hand.until(lambda: action() == source, 30.0))

    return Stage(hand, kind, name, call, changed, undo)


def _human(clip: str) -> Any:
    import bpy

    meta = bpy.data.objects.get("metarig")
    if meta is not None:
        bpy.data.objects.remove(meta)
    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.poise.retarget(filepath=clip)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, round(rig.animation_data.action.frame_range[1])
    return rig


def _animal(file: str) -> Any:
    """A cat that walks in place, as in games, with keys of its object that let it travel."""
    import bpy

    for object in list(bpy.data.objects):
        bpy.data.objects.remove(object)
    bpy.ops.import_scene.fbx(filepath=file)
    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    rig.animation_data.action = next(one for one in bpy.data.actions if "walk" in one.name.lower())
    first, last = (round(frame) for frame in rig.animation_data.action.frame_range)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = first, last
    start = rig.location.y
    for frame, way in ((first, 0.0), (last, -TRAVEL)):
        rig.location.y = start + way
        rig.keyframe_insert("location", frame=frame)
    return rig


def _trail_show() -> Any:
    from tests.window.trail_acts import trail_show

    return trail_show()
