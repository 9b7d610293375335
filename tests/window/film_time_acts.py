"""The film of the page on animation: one walk under all its tools. It runs inside Blender."""

from collections.abc import Generator
from math import cos, pi
from typing import Any

import numpy as np

from tests.window.drag_acts import head, look_from, pose_mode
from tests.window.film_acts import STILL, Camera, set_stage
from tests.window.ghost_acts import ghost_show
from tests.window.time_acts import Stage, keep_key_poses
from tests.window.trail_acts import trail_show
from tests.window.whole_acts import stage_of

FRAME = 30  # of the walk
ASIDE = 60  # pixels from the corner of the viewport
FROM = (1.4, 0.0, 1.2)
GHOSTS = 8  # frames from one to the next
# a part of the body, the frame of its dot, and in how many pictures it goes how far, in pixels of the window
WAYS = (
    ("RightHand", 38, ((8, 20, 90),)),
    ("Hips", 38, ((9, 10, -50), (5, 10, -35))),
)
SLIDE = ((10, 0.45), (6, 0.15))  # pictures, and shares of the viewport's width
CYCLES, STEP = 2, 2  # that are played, and frames from picture to picture
APART, FAVOURED = 12, 24  # frames between key poses, and the frame of a breakdown
FAVOURS = ((7, 0.25), (10, -0.3))


def film(hand: Any, every: str) -> Generator[float, None, dict[str, Any]]:
    """Look at ghosts, drag dots, smooth; make a loop and let it walk on the spot; fill in a few of its key poses."""
    import bpy

    walker, space = yield from set_stage(hand, FRAME)
    yield from pose_mode(hand, walker)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.wm.tool_set_by_id(name="poise.drag")
    yield from look_from(hand, FROM, True)
    if every == "1":
        bpy.context.preferences.system.viewport_aa, space.overlay.show_floor = "8", True
    stage, camera = stage_of(hand, "film", walker.name), Camera(hand, int(every), "film_time")
    source = stage.action
    seen: dict[str, Any] = {"ghost": (yield from _click_ghost(stage, camera))}
    seen["off"] = yield from _drag_dots(stage, camera)
    seen["smoothed"] = yield from _smooth(stage, camera)
    seen["looped"] = yield from _walk_on_the_spot(stage, camera)
    stage.armature.animation_data.action = source
    seen |= yield from _fill_in(stage, camera)
    camera.end()
    return seen


def _go(camera: Camera, right: int, up: int, pictures: int) -> Generator[float, None, None]:
    """Move the mouse by some pixels, slowly at both ends."""
    x, y = camera.hand.x, camera.hand.y
    for step in range(1, pictures + 1):
        share = 0.5 - 0.5 * cos(pi * step / pictures)
        camera.go((round(x + share * right), round(y + share * up)))
        if step % camera.every == 0 or step == pictures:
            yield from camera.shoot()


def _click_ghost(stage: Stage, camera: Camera) -> Generator[float, None, bool]:
    import bpy

    rig, hand, show = stage.armature, stage.hand, ghost_show()
    camera.caption = "Ghosts: a click goes to their frame"
    rig.poise_ghost_frames, rig.poise_ghost_step = "ALL", GHOSTS
    rig.poise_ghosts_before = rig.poise_ghosts_after = 2
    rig.poise_use_ghosts = True
    yield from hand.until(lambda: len(show.shown) > 0 and show.known.keys() >= {*show.shown}, 40.0)
    yield from camera.shoot(2 * STILL)
    frame = max(show.shown)
    points = show.known[frame].points.reshape(-1, 3)
    x, y = hand.pixel(points[int(points[:, 2].argmax())])  # the head
    yield from _go(camera, x - hand.x, y - hand.y, 6)
    hand.press("LEFTMOUSE")
    yield 0.5
    clicked = bpy.context.scene.frame_current == frame
    yield from hand.until(lambda: show.known.keys() >= {*show.shown}, 40.0)
    yield from camera.shoot(2 * STILL)
    rig.poise_use_ghosts = False
    bpy.context.scene.frame_set(FRAME)
    return clicked


def _drag_dots(stage: Stage, camera: Camera) -> Generator[float, None, list[list[int]]]:
    import bpy

    hand, show = stage.hand, trail_show()
    camera.caption = "Trails: a dot drags the body at its frame, and the motion around it"
    stage.armature.poise_use_trails, stage.armature.poise_trail_falloff = True, 12
    yield from hand.until(lambda: len(show.trails) > 0)
    yield 1.0
    bpy.ops.ed.undo_push(message="before")
    off: list[list[int]] = []
    for part, frame, legs in WAYS:
        trail = next(one for one in show.trails if one.bone == part)
        place = trail.frames.tolist().index(frame)
        start = hand.pixel(trail.positions[place].copy())
        camera.go(start)
        yield from camera.shoot(STILL)
        hand.hold("LEFTMOUSE")
        for pictures, right, up in legs:
            yield from _go(camera, start[0] + right - hand.x, start[1] + up - hand.y, pictures)
        end = hand.x, hand.y
        hand.let_go("LEFTMOUSE")
        yield from hand.until(lambda: show.dragged is None, 60.0)
        yield 1.0
        yield from camera.shoot(STILL)
        trail = next(one for one in show.trails if one.bone == part)
        reached = hand.pixel(trail.positions[place])
        off.append([reached[0] - end[0], reached[1] - end[1]])
    return off


def _smooth(stage: Stage, camera: Camera) -> Generator[float, None, bool]:
    hand, action = stage.hand, stage.action.name
    camera.caption = "Smooth Motion, under the mouse"
    hand.rest()
    yield from stage.call("smooth_motion")
    start = hand.x
    for pictures, share in SLIDE:
        yield from _go(camera, start + round(share * hand.region().width) - hand.x, 0, pictures)
    hand.press("LEFTMOUSE")
    done = yield from stage.changed(action)
    yield 1.0
    yield from camera.shoot(STILL)
    return done


def _walk_on_the_spot(stage: Stage, camera: Camera) -> Generator[float, None, bool]:
    """Make a loop of the best cycle, take out its travel, and play it."""
    import bpy

    hand, scene = stage.hand, bpy.context.scene
    camera.caption = "Make Loop, then Root Motion: In Place"
    done = True
    for tool, settings in (("make_loop", {"find": True}), ("root_motion", {"carrier": "NOBODY"})):
        hand.rest()
        action = stage.action.name
        yield from stage.call(tool, **settings)
        yield from camera.shoot(STILL)
        hand.press("RET")
        done &= yield from stage.changed(action)
    yield 1.0
    stage.armature.poise_use_trails = False
    hand.move(hand.region().x + ASIDE, hand.region().y + ASIDE)  # no bone lights up
    first, last = scene.frame_preview_start, scene.frame_preview_end
    view = hand.viewport.spaces.active.region_3d
    aim = view.view_location.copy()
    scene.frame_set(first)
    view.view_location.xy = head("Hips")[:2]  # wherever the cycle that was found begins
    for cycle in range(CYCLES if camera.every == 1 else 1):
        for frame in range(first + cycle % STEP, last + 1, STEP * camera.every):
            scene.frame_set(frame)
            yield from camera.shoot()
    scene.use_preview_range = False
    view.view_location = aim
    return done


def _fill_in(stage: Stage, camera: Camera) -> Generator[float, None, dict[str, Any]]:
    """Keep a few key poses, favour one of them, and fill in what is between them."""
    import bpy

    hand, scene = stage.hand, bpy.context.scene
    camera.caption = f"Breakdown between key poses {APART} frames apart"
    scene.frame_set(FAVOURED)
    first = keep_key_poses(stage, APART)[0]
    stage.armature.poise_use_trails = True
    bpy.ops.ed.undo_push(message="key poses")
    hand.rest()
    yield 2.0
    yield from camera.shoot(STILL)

    def pose() -> np.ndarray:
        return np.array([bone.matrix_basis for bone in stage.armature.pose.bones])

    yield from stage.call("breakdown")
    start, found = hand.x, []
    for pictures, share in FAVOURS:
        yield from _go(camera, start + round(share * hand.region().width) - hand.x, 0, pictures)
        found.append(pose())
    hand.press("ESC")
    yield 0.5
    camera.caption = "Fill In-Betweens: feet stand and step, with few keys"
    hand.rest()
    yield 1.0
    yield from camera.shoot(2 * STILL)
    action = stage.action.name
    yield from stage.call("fill_between", frame_start=first)
    hand.press("RET")
    filled = yield from stage.changed(action)
    yield 2.0
    yield from camera.shoot(4 * STILL)
    return {"favoured": float(np.abs(found[1] - found[0]).max()), "filled": filled}
