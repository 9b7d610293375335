"""A level walk that gets stairs as its ground, in the panel. It runs inside Blender, which has no pytest."""

import sys
from collections.abc import Generator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from acts import only_rig
from chain_acts import open_panel
from motion_acts import FIND, SOLVE

RISE, TREAD, STEPS = 0.15, 0.3, 7  # metres, and how many
ORIGIN = (-0.005, 0.255, 0.0)  # of the clip: the walk begins two metres before it
LEVEL = 0.5  # metres from there to the first step
FEET = ("DEF-foot.L", "DEF-foot.R", "DEF-toe.L", "DEF-toe.R")


def climb(hand: Any, clip: str) -> Generator[float, None, dict[str, Any]]:
    """Retarget a walk, choose stairs as Ground by mouse, find contacts and solve; how deep the skin is in them."""
    import bpy
    from mathutils import Vector

    rig = yield from only_rig(hand)
    name = rig.name
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.context.scene.render.fps = 30
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.poise.retarget(filepath=clip)
        first, last = (round(x) for x in rig.animation_data.action.frame_range)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = first, last
        places = []
        for frame in (first, last):
            bpy.context.scene.frame_set(frame)
            places.append(rig.matrix_world @ rig.pose.bones["DEF-hips"].head)
        make_stairs(Vector(ORIGIN), places[1])
    bpy.ops.ed.undo_push(message="walk and stairs")
    space = hand.viewport.spaces.active
    space.overlay.show_bones = space.overlay.show_floor = False
    space.shading.color_type = "OBJECT"
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_location = 0.5 * (places[0] + places[1]) + Vector((0.0, 0.0, 0.3))
    way = (places[1] - places[0]).normalized()
    space.region_3d.view_rotation = (way.cross(Vector((0, 0, 1))) + Vector((0, 0, 0.25))).to_track_quat("Z", "Y")
    space.region_3d.view_distance = 4.5
    yield 0.5
    yield from hand.open_tab("Poise")
    yield from open_panel(hand, "POISE_PT_motion")
    hand.rest()
    yield 0.5

    def here() -> Any:
        return bpy.data.objects[name]

    panel = yield from hand.read_panels("poise_ground")
    yield from hand.click(*panel["poise_ground"][0])
    yield 0.8
    hand.screenshot("stairs_choose")
    yield from choose_collection(hand, panel["poise_ground"][0])
    seen: dict[str, Any] = {"ground": here().poise_ground and here().poise_ground.name}
    seen["deep before"] = deepest(here(), first, last)
    panel = yield from hand.read_panels(FIND)
    yield from hand.click(*panel[FIND][0])
    yield from hand.until(lambda: len(here().poise_timed_pins) > 0, 30.0)
    seen["pins"] = len(here().poise_timed_pins)
    bpy.context.scene.frame_set((first + last) // 2)
    yield from hand.look_at_rest("stairs_found")
    panel = yield from hand.read_panels(SOLVE)
    yield from hand.click(*panel[SOLVE][0])
    yield from hand.until(lambda: here().poise_result is not None, 120.0)
    yield 1.0
    seen["deep after"] = deepest(here(), first, last)
    seen["held"] = sum(held(here(), pin) for pin in here().poise_timed_pins)
    for number, frame in enumerate(np.linspace(first, last, 4).astype(int).tolist()):
        bpy.context.scene.frame_set(frame)
        yield 0.3
        hand.rest()
        yield 0.5
        hand.screenshot(f"stairs_solved_{number}")
    return seen


def choose_collection(hand: Any, place: tuple[int, int]) -> Generator[float, None, None]:
    """Choose the only collection that fits what is typed in the list that is open."""
    for letter in "stairs":
        hand.window.event_simulate(type=letter.upper(), value="PRESS", unicode=letter, x=hand.x, y=hand.y)
        hand.let_go(letter.upper())
        yield 0.1
    yield 0.3
    hand.press("RET")
    yield 0.5


def make_stairs(start: Any, end: Any) -> None:
    """Make stairs across the way, in a collection of their own."""
    import bpy

    way = np.array(end - start) * (1.0, 1.0, 0.0)
    way /= np.linalg.norm(way)
    side = np.array((-way[1], way[0], 0.0))
    origin = np.array(start) * (1.0, 1.0, 0.0)
    edges = [-2.0, LEVEL, *(LEVEL + TREAD * number for number in range(1, STEPS)), LEVEL + TREAD * STEPS + 2.0]
    corners, faces = [], []
    for number, (near, far) in enumerate(pairwise(edges)):
        low, high = RISE * max(number - 1, 0), RISE * number
        for along, height in ((near, low), (near, high), (far, high)):
            corners += [origin + along * way + across * side + (0.0, 0.0, height) for across in (-0.7, 0.7)]
        a = len(corners) - 6
        faces += [(a, a + 1, a + 3, a + 2), (a + 2, a + 3, a + 5, a + 4)]
    mesh = bpy.data.meshes.new("Stairs")
    mesh.from_pydata([tuple(corner.tolist()) for corner in corners], [], faces)
    owner = bpy.data.objects.new("Stairs", mesh)
    owner.color = (0.6, 0.5, 0.4, 1.0)
    collection = bpy.data.collections.new("Stairs")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(owner)


def held(rig: Any, pin: Any) -> bool:
    """Whether the point of a timed pin is within 1 mm of its place in all of its frames."""
    import bpy
    from mathutils import Vector

    far = 0.0
    for frame in range(pin.start, pin.end + 1):
        bpy.context.scene.frame_set(frame)
        seen = rig.matrix_world @ rig.pose.bones[pin.bone].matrix @ Vector(pin.point)
        far = max(far, (seen - rig.matrix_world @ Vector(pin.position)).length)
    return far < 1e-3


def deepest(rig: Any, first: int, last: int) -> float:
    """How far below the stairs a vertex of the skin of the feet is at most, in metres, in every frame."""
    import bpy
    from mathutils import Vector

    stairs, worst = bpy.data.objects["Stairs"], 0.0
    skins = [one for one in bpy.data.objects if any(m.type == "ARMATURE" and m.object == rig for m in one.modifiers)]
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for skin in skins:
            groups = {group.index for group in skin.vertex_groups if group.name in FEET}
            own = [v.index for v in skin.data.vertices if any(g.group in groups and g.weight > 0.5 for g in v.groups)]
            shown = skin.evaluated_get(graph)
            mesh = shown.to_mesh()
            for index in own:
                place = shown.matrix_world @ mesh.vertices[index].co
                hit, at, *_ = stairs.ray_cast(Vector((place.x, place.y, 10.0)), Vector((0.0, 0.0, -1.0)))
                if hit:
                    worst = max(worst, at.z - place.z)
            shown.to_mesh_clear()
    return worst
