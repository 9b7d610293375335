"""The film of the page on animation: dots of trails are dragged, then a walk is smoothed. It runs inside Blender."""

from collections.abc import Generator
from math import cos, pi
from typing import Any

from tests.window.drag_acts import look_from, pose_mode
from tests.window.film_acts import STILL, Camera, set_stage
from tests.window.trail_acts import trail_show

FRAME = 30  # of the walk
FROM = (1.4, 0.0, 1.2)
# a part of the body, the frame of its dot, and in how many pictures it goes how far, in pixels of the window
WAYS = (
    ("RightHand", 38, ((9, 20, 90), (7, 70, 50))),
    ("Hips", 38, ((10, 10, -50), (5, 10, -35))),
)
SLIDE = ((14, 0.45), (8, 0.15))  # pictures, and shares of the viewport's width


def film(hand: Any, every: str) -> Generator[float, None, dict[str, Any]]:
    """Drag dots of a hand and of the hips, then smooth; a picture of every so many steps."""
    import bpy

    walker, space = yield from set_stage(hand, FRAME)
    name = walker.name
    yield from pose_mode(hand, walker)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.wm.tool_set_by_id(name="poise.drag")
    yield from look_from(hand, FROM, True)
    if every == "1":
        bpy.context.preferences.system.viewport_aa, space.overlay.show_floor = "8", True
    show, camera = trail_show(), Camera(hand, int(every), "film_time")
    walker.poise_use_trails, walker.poise_trail_falloff = True, 12
    yield from hand.until(lambda: len(show.trails) > 0)
    yield 1.0
    bpy.ops.ed.undo_push(message="before")

    def go(begin: tuple[int, int], end: tuple[int, int], pictures: int) -> Generator[float, None, None]:
        for step in range(1, pictures + 1):
            share = 0.5 - 0.5 * cos(pi * step / pictures)
            camera.go((round(begin[0] + share * (end[0] - begin[0])), round(begin[1] + share * (end[1] - begin[1]))))
            if step % camera.every == 0 or step == pictures:
                yield from camera.shoot()

    seen: dict[str, Any] = {"off": []}
    for part, frame, legs in WAYS:
        trail = next(one for one in show.trails if one.bone == part)
        place = trail.frames.tolist().index(frame)
        before = trail.positions[place].copy()
        start = hand.pixel(before)
        camera.go(start)
        yield from camera.shoot(STILL)
        hand.hold("LEFTMOUSE")
        for pictures, right, up in legs:
            yield from go((hand.x, hand.y), (start[0] + right, start[1] + up), pictures)
        end = hand.x, hand.y
        hand.let_go("LEFTMOUSE")
        yield from hand.until(lambda: show.dragged is None, 60.0)
        yield 1.0
        yield from camera.shoot(STILL)
        trail = next(one for one in show.trails if one.bone == part)
        reached = hand.pixel(trail.positions[place])
        seen["off"].append([reached[0] - end[0], reached[1] - end[1]])

    action = bpy.data.objects[name].animation_data.action.name
    hand.rest()
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.smooth_motion("INVOKE_DEFAULT")
    yield 0.5
    start = hand.x, hand.y
    for pictures, share in SLIDE:
        yield from go((hand.x, hand.y), (start[0] + round(share * hand.region().width), start[1]), pictures)
    hand.press("LEFTMOUSE")
    yield from hand.until(lambda: bpy.data.objects[name].animation_data.action.name != action, 90.0)
    yield 1.0
    yield from camera.shoot(STILL)
    camera.end()
    return seen | {"smoothed": bpy.data.objects[name].animation_data.action.name != action}
