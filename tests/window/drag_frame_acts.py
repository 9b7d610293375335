"""Dots of trails that are dragged. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

from tests.window.trail_acts import FIRST, START, begin, trail_show

FRAME, FALLOFF = 40, 20
NOTCHES = 3  # of the wheel


def drag_dots(hand: Any, clip: str) -> Generator[float, None, dict[str, Any]]:
    """Drag a dot of a hand, first to Esc, then with the wheel, and undo; returns what was seen on the way."""
    import bpy

    rig = yield from begin(hand, clip)
    name, scene = rig.name, bpy.context.scene
    show = trail_show()
    rig.poise_use_trails = True
    yield from hand.until(lambda: len(show.trails) > 0 and len(show.trails[0].frames) == scene.frame_end + 1 - FIRST)
    yield from hand.open_tab("Poise")
    bpy.ops.ed.undo_push(message="before")

    def trail() -> Any:
        return next(one for one in show.trails if one.bone.endswith("LeftHand"))

    def keys() -> list[list[float]]:
        bag = bpy.data.objects[name].animation_data.action.layers[0].strips[0].channelbags[0]
        return [[value for point in curve.keyframe_points for value in point.co] for curve in bag.fcurves]

    place = FRAME - FIRST
    dot, before, start = hand.pixel(trail().positions[place]), keys(), trail().positions.copy()
    seen: dict[str, Any] = {"curves": len(before)}

    def pose() -> list[list[float]]:
        return [[value for row in bone.matrix_basis for value in row] for bone in bpy.data.objects[name].pose.bones]

    def hold(up: int) -> Generator[float, None, None]:
        hand.move(*dot)
        yield 0.2
        hand.hold("LEFTMOUSE")
        for step in range(1, 11):
            hand.move(dot[0], dot[1] + up * step // 10)
            yield 0.05
        yield from hand.until(lambda: show.dragged is not None)

    posed = pose()
    yield from hold(80)
    seen["drafted"] = [show.dragged is not None, pose() != posed]
    seen["picture"] = hand.screenshot("drag_frame")
    hand.press("ESC")
    yield 0.3
    hand.let_go("LEFTMOUSE")
    yield 0.5
    seen["given back"] = [show.dragged is None, keys() == before, scene.frame_current == START, pose() == posed]

    yield from hold(80)
    for _ in range(NOTCHES):
        hand.press("WHEELUPMOUSE")
        yield 0.3
    text = show.dragged.text[0]
    hand.let_go("LEFTMOUSE")
    yield from hand.until(lambda: show.dragged is None and bool(abs(trail().positions - start).max() > 0.0))
    moved = abs(trail().positions - start).max(axis=1)
    seen["text"], seen["falloff"] = text, bpy.data.objects[name].poise_trail_falloff
    seen["moved"] = trail().frames[moved > 1e-5].tolist()
    seen["up"] = float(trail().positions[place][2] - start[place][2])
    seen["pixels"] = hand.pixel(trail().positions[place])[1] - dot[1]
    seen["frame"] = scene.frame_current
    seen["picture after"] = hand.screenshot("drag_frame_after")
    seen["counts"] = [len(row) for row in keys()] == [len(row) for row in before]

    with bpy.context.temp_override(window=hand.window):
        bpy.ops.ed.undo()
    yield 0.5
    seen["undone"] = keys() == before
    yield from hand.until(lambda: bool(abs(trail().positions - start).max() < 1e-6))
    seen["back"] = bool(abs(trail().positions - start).max() < 1e-6)
    bpy.context.scene.frame_set(FRAME)
    yield 0.5
    hand.move(*dot)
    hand.hold("LEFT_ALT", alt=True)
    yield from hand.drag(dot, (dot[0], dot[1] + 60), alt=True)  # of the present frame
    hand.let_go("LEFT_ALT")
    yield from hand.until(lambda: bool(abs(trail().positions - start).max() > 0.0))
    yield 0.5
    seen["present"] = [hand.pixel(trail().positions[place])[1] - dot[1], keys() != before]
    return seen


def bend_path(hand: Any, clip: str) -> Generator[float, None, dict[str, Any]]:
    """Drag a dot of the hips to the side, seen from above, with steps that go along; returns what was seen."""
    import bpy

    rig = yield from begin(hand, clip)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.view3d.view_axis(type="TOP")
    yield 0.3
    hand.press("HOME")
    yield 0.5
    show, scene = trail_show(), bpy.context.scene
    rig.poise_use_trails = rig.poise_trail_steps = True
    rig.poise_trail_falloff = FALLOFF
    yield from hand.until(lambda: len(show.trails) > 0 and len(show.trails[0].frames) == scene.frame_end + 1 - FIRST)
    bpy.ops.ed.undo_push(message="before")
    start = {trail.bone: trail.positions.copy() for trail in show.trails}
    dot = hand.pixel(show.trails[0].positions[FRAME - FIRST])
    hand.move(*dot)
    yield 0.2
    hand.hold("LEFTMOUSE")
    for step in range(1, 11):
        hand.move(dot[0] + 12 * step, dot[1])
        yield 0.05
    yield from hand.until(lambda: show.dragged is not None)
    seen: dict[str, Any] = {"text": show.dragged.text[0], "picture": hand.screenshot("drag_path")}
    hand.let_go("LEFTMOUSE")
    yield from hand.until(lambda: show.dragged is None)
    yield 1.0
    seen["picture after"] = hand.screenshot("drag_path_after")
    size = rig.dimensions.z
    for trail in show.trails:
        way = trail.positions - start[trail.bone]
        seen[trail.bone.removeprefix("mixamorig:")] = {
            "side": (way[:, 0] / size).tolist(), "beside": float(abs(way[:, 1:]).max() / size),
            "bears": trail.bears.tolist(),
        }  # fmt: skip
    return seen
