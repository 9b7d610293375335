"""The Poise tool on a mesh whose bones are not drawn. It runs inside Blender."""

import sys
from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do

WAY = (-60, 50)  # pixels


def skin(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Hide the bones, pin a foot and drag a forearm by the mesh, undo; drag beside it; show the bones, also covered."""

    yield from do.ready(hand)
    rig = do.armature()
    dress(rig)
    yield do.WAIT
    hand.viewport.spaces.active.overlay.show_bones = False
    yield do.WAIT
    seen: dict[str, Any] = {"start": do.channels()}
    hand.move(*on_mesh(hand, "LeftFoot"))
    yield do.WAIT
    hand.screenshot("skin_hover")
    yield from do.key(hand, "P")
    seen["pins"] = [pin.name for pin in rig.poise_pins]
    foot, x, y = do.head("LeftFoot"), *on_mesh(hand, "LeftForeArm")
    yield from do.grab(hand, (x, y))
    yield from do.lead(hand, (x + WAY[0], y + WAY[1]), 12)
    yield do.WAIT
    seen["text"] = do.shown().text[0].split(",")[0]
    target, place = do.shown().targets[0]
    seen["off"] = [a - b for a, b in zip(target, place, strict=True)]
    seen["led"] = [a - b for a, b in zip(hand.pixel(tuple(place)), (x, y), strict=True)]
    seen["foot off"] = [a - b for a, b in zip(do.head("LeftFoot"), foot, strict=True)]
    hand.screenshot("skin_dragged")
    yield from do.drop(hand)
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: do.channels() == seen["start"])
    region = hand.region()
    yield from do.grab(hand, (region.x + 40, region.y + 40))
    yield from do.lead(hand, (region.x + 80, region.y + 80))
    seen["beside"] = do.dragging()
    yield from do.drop(hand)
    seen |= {"undone": do.channels() == seen.pop("start"), "left": do.left_behind()}
    space, hover = hand.viewport.spaces.active, sys.modules[f"{do.EXTENSION}.operators.hover"]
    space.overlay.show_bones = True
    draw, seen["named"] = hover.draw_marks, []
    hover.draw_marks = lambda context, marks, view: named.append(marks.text) or draw(context, marks, view)
    for in_front, xray in ((True, False), (False, True), (False, False)):
        do.armature().show_in_front, space.shading.show_xray, named = in_front, xray, list[Any]()
        hand.rest()
        yield do.WAIT
        hand.move(*on_mesh(hand, "LeftLeg"))
        yield do.WAIT
        seen["named"] += named[-1:]
    hand.screenshot("skin_covered")
    hover.draw_marks = draw
    return seen


def dress(rig: Any) -> None:
    """Make a mesh of one box about each bone, that moves with it by its weights."""
    import bpy
    from mathutils import Vector

    corners: list[Any] = []
    faces: list[list[int]] = []
    groups: dict[str, list[int]] = {}
    for bone in rig.data.bones:
        first, wide = len(corners), 0.2 * bone.length
        box = [(x, y * bone.length, z) for x in (-wide, wide) for y in (0.05, 0.95) for z in (-wide, wide)]
        corners += [bone.matrix_local @ Vector(corner) for corner in box]
        sides = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
        faces += [[first + corner for corner in side] for side in sides]
        groups[bone.name] = list(range(first, len(corners)))
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata(corners, [], faces)
    body = bpy.data.objects.new("skin", mesh)
    bpy.context.scene.collection.objects.link(body)
    for name, members in groups.items():
        body.vertex_groups.new(name=name).add(members, 1.0, "REPLACE")
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.view_layer.update()


def on_mesh(hand: Any, name: str) -> do.Pixel:
    """Where the middle of a bone is seen."""
    bone, rig = do.bone(name), do.armature()
    return hand.pixel(tuple(rig.matrix_world @ (0.5 * (bone.head + bone.tail))))
