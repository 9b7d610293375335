"""Ghosts, a dragged dot, in-betweens, a breakdown and the ground. They run inside Blender, which has no pytest."""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

STEP = 8  # frames from one ghost, and from one key pose, to the next
UP = 50  # pixels by which the dot is dragged


class Stage(NamedTuple):
    """Whom the acts are about, and what `edit_motions` does between them."""

    hand: Any
    kind: str
    name: str
    call: Callable[..., Generator[float, None, None]]
    changed: Callable[[str], Generator[float, None, bool]]
    undo: Callable[[str], Generator[float, None, bool]]

    @property
    def armature(self) -> Any:
        import bpy

        return bpy.data.objects[self.name]

    @property
    def action(self) -> Any:
        return self.armature.animation_data.action


def touch_time(stage: Stage) -> Generator[float, None, dict[str, Any]]:
    """Click a ghost, drag a dot, raise the motion onto a higher ground; of key poses fill in, and favour one pose."""
    seen = yield from _click_ghost(stage)
    seen |= yield from _drag_dot(stage)
    seen |= yield from _raise(stage)
    return seen | (yield from _fill_in(stage))


def _click_ghost(stage: Stage) -> Generator[float, None, dict[str, Any]]:
    import bpy

    from tests.window.ghost_acts import ghost_show

    hand, rig, scene = stage.hand, stage.armature, bpy.context.scene
    now = scene.frame_current
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.wm.tool_set_by_id(name="poise.drag")
    rig.poise_use_trails, rig.poise_ghost_frames, rig.poise_ghost_step = False, "ALL", STEP
    rig.poise_ghosts_before = rig.poise_ghosts_after = 1
    rig.poise_use_ghosts = True
    hand.rest()
    show = ghost_show()
    yield from hand.until(lambda: len(show.shown) > 0 and show.known.keys() >= {*show.shown}, 40.0)
    seen: dict[str, Any] = {"ghosts": [frame - now for frame in show.shown]}
    frame = show.shown[0]
    own = np.array(
        [hand.pixel(rig.matrix_world @ place) for bone in rig.pose.bones for place in (bone.head, bone.tail)]
    )
    points = np.array([hand.pixel(point) for point in show.known[frame].points.reshape(-1, 3)])
    away = np.linalg.norm(points[:, None] - own, axis=-1).min(axis=1)
    seen["ghosts picture"] = hand.screenshot(f"time_ghosts_{stage.kind}")
    yield from hand.click(*points[int(away.argmax())].tolist())
    yield 0.5
    seen["ghost"], seen["clicked"] = frame, scene.frame_current
    rig.poise_use_ghosts = False
    scene.frame_set(now)
    return seen


def _drag_dot(stage: Stage) -> Generator[float, None, dict[str, Any]]:
    import bpy

    def high(trails: list[Any]) -> int:
        """The highest dot of the second trail that is not of the current frame."""
        order = np.argsort(-trails[1].positions[:, 2]).tolist()
        return next(place for place in order if trails[1].frames[place] != bpy.context.scene.frame_current)

    return (yield from _drag_a_dot(stage, "dot", 1, high, (0, UP), falloff=4))


def bend_path(stage: Stage) -> Generator[float, None, dict[str, Any]]:
    """Drag a dot of the hips aside, seen from above, with the footsteps; smooth the motion into a layer; undo each."""
    import bpy

    with bpy.context.temp_override(window=stage.hand.window, area=stage.hand.viewport, region=stage.hand.region()):
        bpy.ops.wm.tool_set_by_id(name="poise.drag")
        bpy.ops.view3d.view_axis(type="TOP")
    stage.hand.rest()
    yield 0.3
    stage.hand.press("HOME")
    yield 0.5
    stage.armature.poise_trail_steps = True
    count = bpy.context.scene.frame_end - bpy.context.scene.frame_start + 1

    def middle(trails: list[Any]) -> int:
        way = np.abs(trails[0].frames - trails[0].frames.mean()) + 2.0 * (
            trails[0].frames == bpy.context.scene.frame_current
        )
        return int(way.argmin())

    seen = yield from _drag_a_dot(stage, "path", 0, middle, (UP, 0), falloff=count // 3)
    return seen | (yield from _smooth_into_layer(stage))


def _smooth_into_layer(stage: Stage) -> Generator[float, None, dict[str, Any]]:
    import bpy

    hand, source = stage.hand, stage.action.name

    def pose() -> np.ndarray:
        bpy.context.scene.frame_set(bpy.context.scene.frame_current)
        return np.array([bone.matrix for bone in stage.armature.pose.bones])

    def tracks() -> list[list[str]]:
        return [[strip.action.name for strip in one.strips] for one in stage.armature.animation_data.nla_tracks]

    stage.armature.poise_use_layers = True
    bpy.ops.ed.undo_push(message="layers")
    before, known = pose(), tracks()
    yield from stage.call("smooth_motion")
    for _ in range(4):
        hand.press("WHEELUPMOUSE")
        yield 0.3
    hand.press("LEFTMOUSE")
    seen: dict[str, Any] = {"layered": (yield from stage.changed(source))}
    yield 0.5
    seen["tracks"] = [len(known), tracks() == [*known, [source]]]
    after = pose()
    stage.armature.animation_data.action_influence = 0.0
    below = pose()
    stage.armature.animation_data.action_influence = 1.0
    seen["layer off"] = [float(np.abs(one - before).max() / stage.armature.dimensions.z) for one in (after, below)]
    seen["layer picture"] = hand.screenshot(f"time_layer_{stage.kind}")
    seen["layer undone"] = (yield from stage.undo(source)) and tracks() == known
    return seen


def _drag_a_dot(
    stage: Stage, name: str, number: int, choose: Callable[[list[Any]], int], way: tuple[int, int], falloff: int
) -> Generator[float, None, dict[str, Any]]:
    """Drag a dot of a trail by some pixels, and undo; where trails went is told in lengths of the body."""
    import bpy

    from tests.window.trail_acts import trail_show

    hand, show, scene = stage.hand, trail_show(), bpy.context.scene
    show.trails = []  # those from before
    stage.armature.poise_use_trails, stage.armature.poise_trail_falloff = True, falloff
    bpy.ops.ed.undo_push(message="trails")
    count = scene.frame_end - scene.frame_start + 1

    def read() -> bool:
        return len(show.trails) > number and all(len(trail.frames) >= count for trail in show.trails)

    yield from hand.until(read, 60.0)
    place, trails = choose(show.trails), list(show.trails)
    before = np.array([trail.positions for trail in trails])
    dot = hand.pixel(before[number, place])
    hand.move(*dot)
    yield 0.3
    hand.hold("LEFTMOUSE")
    for step in range(1, 6):
        hand.move(dot[0] + way[0] * step // 5, dot[1] + way[1] * step // 5)
        yield 0.1
    yield from hand.until(lambda: show.dragged is not None, 60.0)
    seen: dict[str, Any] = {
        f"{name} picture": hand.screenshot(f"time_{name}_{stage.kind}"),
        f"{name} drafted": show.dragged is not None,
    }
    hand.let_go("LEFTMOUSE")
    yield from hand.until(lambda: show.dragged is None and not len(hand.window.modal_operators), 120.0)
    yield from hand.until(read, 60.0)
    after = np.array([trail.positions for trail in show.trails])
    moved, there = after - before, hand.pixel(after[number, place])
    seen[f"{name} picture after"] = hand.screenshot(f"time_{name}_after_{stage.kind}")
    seen[name] = [there[0] - dot[0], there[1] - dot[1]]
    frames = np.abs(trails[number].frames - trails[number].frames[place])
    size = stage.armature.dimensions.z
    seen[f"{name} beside"] = float(np.abs(moved[:, frames > falloff]).max() / size)
    seen[f"{name} along"] = (np.linalg.norm(moved, axis=-1).max(axis=1) / size).tolist()
    hand.rest()
    yield 0.2
    hand.press("Z", ctrl=True)

    def back() -> bool:
        now = np.array([trail.positions for trail in show.trails]) if read() else before[:0]
        return now.shape == before.shape and bool(np.abs(now - before)[number, place].max() < 1e-5)

    seen[f"{name} undone"] = yield from hand.until(back, 60.0)
    stage.armature.poise_use_trails = False
    return seen


def _raise(stage: Stage) -> Generator[float, None, dict[str, Any]]:
    import bpy

    def lowest() -> float:
        bpy.context.scene.frame_set(bpy.context.scene.frame_current)
        rig = stage.armature
        return min((rig.matrix_world @ bone.tail).z for bone in rig.pose.bones if bone.bone.use_deform)

    source, before = stage.action.name, lowest()
    rise = 0.05 * stage.armature.dimensions.z
    yield from stage.call("fix_ground", height=before + rise)
    stage.hand.press("RET")
    seen: dict[str, Any] = {"ground": (yield from stage.changed(source))}
    yield 0.5
    seen["raised"] = (lowest() - before) / rise
    seen["ground picture"] = stage.hand.screenshot(f"time_ground_{stage.kind}")
    seen["ground undone"] = yield from stage.undo(source)
    return seen


def _fill_in(stage: Stage) -> Generator[float, None, dict[str, Any]]:
    import bpy

    hand, scene, source = stage.hand, bpy.context.scene, stage.action.name
    keys = set(keep_key_poses(stage, STEP))
    first = min(keys)
    here = sorted(keys)[len(keys) // 2] - STEP // 2
    scene.frame_set(here)
    bpy.ops.ed.undo_push(message="key poses")

    def pose() -> np.ndarray:
        return np.array([bone.matrix_basis for bone in stage.armature.pose.bones])

    begun = pose()
    hand.rest()
    yield 0.3
    yield from stage.call("breakdown")
    found = []
    for share in (0.1, 0.3):
        hand.move(hand.x + round(share * hand.region().width), hand.y)
        yield 1.0
        found.append(float(np.abs(pose() - begun).max()))
    seen: dict[str, Any] = {"favoured": found, "breakdown picture": hand.screenshot(f"time_breakdown_{stage.kind}")}
    hand.press("ESC")
    yield 0.5
    seen["kept"] = float(np.abs(pose() - begun).max())
    hand.rest()
    yield 0.2
    yield from stage.call("fill_between", frame_start=first)
    hand.press("RET")
    seen["filled"] = yield from stage.changed(source)
    yield 0.5
    seen["filled picture"] = hand.screenshot(f"time_filled_{stage.kind}")
    between = {round(point.co.x) for curve in _curves(stage) for point in curve.keyframe_points} - keys
    between = {frame for frame in between if first < frame < max(keys)}
    seen["between"] = [len(between), max(keys) - first + 1 - len(keys)]
    seen["filled undone"] = yield from stage.undo(source)
    return seen


def keep_key_poses(stage: Stage, apart: int) -> list[int]:
    """Keep keys in every so-many-th frame of the scene alone; returns these."""
    import bpy

    first, last = (round(frame) for frame in stage.action.frame_range)
    keys = list(range(max(first, bpy.context.scene.frame_start), last + 1, apart))
    for curve in _curves(stage):
        for point in [one for one in curve.keyframe_points if round(one.co.x) not in keys][::-1]:
            curve.keyframe_points.remove(point, fast=True)
        curve.update()
    return keys


def _curves(stage: Stage) -> Any:
    from bpy_extras.anim_utils import action_get_channelbag_for_slot

    return action_get_channelbag_for_slot(stage.action, stage.armature.animation_data.action_slot).fcurves
