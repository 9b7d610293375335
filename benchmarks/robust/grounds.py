"""Feet on stairs, slopes and props, as Blender shows them: `python -m benchmarks.robust.grounds`.

Captured walks are brought to rigs by `retarget` where the ground is already there, or walk on a level floor and then
get it by `lock-feet`, and the jump is generated on it. Measured are heels, balls and tips of toes by Blender's bones
and ray casts on the meshes: how far those that stand are in the mesh, and above it. A point stands where it goes less
than 1 cm/s from the frame before and to the next one, not more than 5 cm from the mesh. Of rigs with a mesh also the
vertices that feet alone move are measured, in all frames, toes that swing included: how many are more than 5 mm inside
the ground, by their distance from its nearest point, and how deep the deepest is.
"""

import contextlib
import io
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import standalone
from benchmarks.motion.clips import CLIPS
from benchmarks.robust.floor import load_rig, parse_arguments

Array = NDArray[np.float64]

RIGS: Final = ("scripted/named_mixamo_cm.blend", "scripted/mpfb_mixamo.blend", "real/mesh2motion_human.blend")
TAKEN: Final = ("07_12", "35_01", "16_15")
LONGEST: Final = 80  # frames
FPS: Final = 30
SLOW, NEAR = 0.01, 0.05  # m/s, metres
DEEP: Final = 0.005  # metres
AHEAD: Final = 0.3  # metres from the first place of the hips to the first edge
RISE, TREAD, STEPS = 0.15, 0.28, 12
TILT: Final = 0.1
PROP: Final = 0.2, 1.2  # height and length
WIDE, FAR = 3.0, 12.0
PARTS: Final = ("retarget", "lock-feet", "generate")


def main() -> None:
    arguments = parse_arguments(__doc__, RIGS, TAKEN, PARTS)
    if not CLIPS.is_dir():
        print(f"Nothing was measured: there are no clips in {CLIPS}.")
        return
    standalone.enable()
    folder = CLIPS.parents[1] / "rigs"
    rows = [
        {"part": part, "ground": ground, "rig": Path(rig).stem, "clip": clip}
        | _measure(folder / rig, clip, part, ground)
        for part in arguments.parts
        for ground in GROUNDS
        for rig in arguments.rigs
        for clip in (["jump"] if part == "generate" else arguments.clips)
    ]
    if arguments.json:
        arguments.json.write_text(json.dumps(rows))
    print(f"{'':10}{'ground':8}{'rig':22}{'clip':8}{'standing':>10}{'in it':>10}{'above it':>12}")
    for row in rows:
        print(
            f"{row['part']:10}{row['ground']:8}{row['rig']:22}{row['clip']:8}{row['points']:10d}"
            f"{row['in']:7.2f} mm{row['above']:9.2f} mm"
            + f"   both feet below in {row['lost']:.0%} of the frames"
            + (f"   skin inside {row['skin']:.2%}, deepest {row['deepest']:.1f} mm" if "skin" in row else "")
        )
    for part in arguments.parts:
        own = [row for row in rows if row["part"] == part]
        print(
            f"{part}: at most {max(r['in'] for r in own):.2f} mm in it, {max(r['above'] for r in own):.2f} mm above it"
        )


def _measure(path: Path, clip: str, part: str, ground: str) -> dict[str, Any]:
    """Return how many points stand, and how far they are in the mesh and above it at most, in millimetres."""
    import bpy

    from core.formats.recipe import read_recipe
    from edits.foot_lock import LockedFeet
    from edits.generate import Generated
    from edits.retarget import Retargeted, imported

    context: Any = bpy.context
    rig = load_rig(path)
    context.scene.render.fps = FPS

    def make() -> Any:
        if part == "generate":
            edit: Any = Generated(context, rig, read_recipe(Path("jump")), 1)
        else:
            with contextlib.redirect_stdout(io.StringIO()), imported(context, CLIPS / f"cmu_{clip}.bvh") as (source, _):
                last = min(LONGEST, int(source.animation_data.action.frame_range[1]))
                edit = Retargeted(context, rig, source, (2, last))
        edit.solve()
        edit.write(rig)
        return edit

    edit = make()
    frames = range(round(edit.after.frames[0]), round(edit.after.frames[-1]) + 1)
    start, end = (_hips(rig, edit, frame) for frame in (frames[0], frames[-1]))
    way = (end - start) * (1.0, 1.0, 0.0)
    length = float(np.linalg.norm(way))
    way = way / length if length > AHEAD else np.array((0.0, -1.0, 0.0))
    mesh = _make(start, way, GROUNDS[ground](), 0.0 if part == "generate" else AHEAD)
    rig.poise_ground = bpy.data.collections["Ground"]
    context.view_layer.update()
    if part == "lock-feet":
        edit = LockedFeet(context, rig, (frames[0], frames[-1]))
        edit.solve()
        edit.write(rig)
    else:
        edit = make()
    heights, places = _soles(rig, edit, mesh, range(round(edit.after.frames[0]), round(edit.after.frames[-1]) + 1))
    slow = np.linalg.norm(np.diff(places, axis=0), axis=-1) * FPS < SLOW
    stands = heights[1:-1][slow[1:] & slow[:-1] & (np.abs(heights[1:-1]) < NEAR)]
    lost = float((heights.max(axis=1) < -NEAR).mean())
    found = {
        "lost": lost,
        "points": len(stands),
        "in": max(0.0, -1e3 * stands.min()),
        "above": max(0.0, 1e3 * stands.max()),
    }
    depths = _skin(rig, edit, mesh, range(round(edit.after.frames[0]), round(edit.after.frames[-1]) + 1))
    if len(depths):
        found |= {"skin": float((depths > DEEP).mean()), "deepest": 1e3 * float(depths.max())}
    return found


def _stairs() -> list[tuple[float, float]]:
    return [(TREAD * step, RISE * high) for step in range(STEPS) for high in (step, step + 1)]


def _slope() -> list[tuple[float, float]]:
    return [(0.0, 0.0), (FAR, TILT * FAR)]


def _prop() -> list[tuple[float, float]]:
    height, length = PROP
    return [(0.0, 0.0), (0.0, height), (length, height), (length, 0.0)]


GROUNDS: Final = {"stairs": _stairs, "slope": _slope, "prop": _prop}


def _make(start: Array, way: Array, outline: list[tuple[float, float]], ahead: float) -> Any:
    """Make a mesh across a way with an outline of lengths and heights, level before and after it."""
    import bpy

    side = WIDE * np.array((-way[1], way[0], 0.0))
    line = [(-FAR, outline[0][1]), *outline, (outline[-1][0] + FAR, outline[-1][1])]
    origin = start * (1.0, 1.0, 0.0) + ahead * way
    corners = [origin + along * way + across * side + (0.0, 0.0, up) for along, up in line for across in (-1.0, 1.0)]
    faces = [(2 * n, 2 * n + 1, 2 * n + 3, 2 * n + 2) for n in range(len(line) - 1)]
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata([corner.tolist() for corner in corners], [], faces)
    owner = bpy.data.objects.new("Ground", mesh)
    collection = bpy.data.collections.new("Ground")
    scene: Any = bpy.context.scene
    scene.collection.children.link(collection)
    collection.objects.link(owner)
    return owner


def _hips(rig: Any, edit: Any, frame: int) -> Array:
    import bpy

    scene: Any = bpy.context.scene
    scene.frame_set(frame)
    name = edit.skeleton.names[edit.roles.bone("hips")]
    return np.array(rig.matrix_world @ rig.pose.bones[name].head)


def _soles(rig: Any, edit: Any, mesh: Any, frames: range) -> tuple[Array, Array]:
    """Return the heights (F, P) of heels, balls and tips above the mesh, and their places (F, P, 3)."""
    import bpy
    from mathutils import Vector

    from core.editing.contacts import foot_points

    points = foot_points(edit.skeleton, edit.roles)
    names = [edit.skeleton.names[point.bone] for point in points]
    thick = rig.matrix_world.to_scale()[2] * np.array([point.above for point in points])
    heights, places = [], []
    scene: Any = bpy.context.scene
    for frame in frames:
        scene.frame_set(frame)
        here = [
            rig.matrix_world @ rig.pose.bones[name].matrix @ Vector(point.position)
            for name, point in zip(names, points, strict=True)
        ]
        floors = [mesh.ray_cast(Vector((place.x, place.y, 50.0)), Vector((0.0, 0.0, -1.0)))[1].z for place in here]
        heights.append([place.z - floor for place, floor in zip(here, floors, strict=True)] - thick)
        places.append([tuple(place) for place in here])
    return np.array(heights), np.array(places)


def _skin(rig: Any, edit: Any, mesh: Any, frames: range) -> Array:
    """Return how far vertices that feet alone move are inside the mesh (n,), in all frames; 0 outside."""
    import bpy
    from mathutils import Vector

    context: Any = bpy.context
    feet = {
        edit.skeleton.names[bone]
        for part in ("foot", "toe")
        for side in "LR"
        for bone in edit.roles.chain(f"{part}.{side}")
    }
    found: list[float] = []
    for owner in [one for one in context.scene.objects if one.find_armature() == rig]:
        own = {group.index for group in owner.vertex_groups if group.name in feet}
        chosen = [
            vertex.index for vertex in owner.data.vertices
            if (moved := {one.group for one in vertex.groups if one.weight}) and moved <= own
        ]  # fmt: skip
        for frame in frames if chosen else ():
            context.scene.frame_set(frame)
            seen = owner.evaluated_get(context.evaluated_depsgraph_get())
            for index in chosen:
                place = seen.matrix_world @ seen.data.vertices[index].co
                top = mesh.ray_cast(Vector((place.x, place.y, 50.0)), Vector((0.0, 0.0, -1.0)))[1].z
                inside = place.z < top
                found.append((mesh.closest_point_on_mesh(place)[1] - place).length if inside else 0.0)
    return np.array(found)


if __name__ == "__main__":
    main()
