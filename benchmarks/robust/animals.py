"""A walk of a dog on other animals: `python -m benchmarks.robust.animals [--rigs NAME ...] [--json FILE]`.

The dog is made by script (`beasts`), and walks on IK targets of Blender's that stand still where it stands, so that its
contacts are known. `retarget` brings the walk to animals of other proportions, and what Blender then evaluates is
measured: how far tips of legs that stand slide, how deep they are below the lowest at rest, how far the animal goes, in
heights of its legs, and how its head turns, both beside the dog. Nothing is shared with what is measured.
"""

import argparse
import contextlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import standalone

standalone.enable()

import bpy  # noqa: E402
import numpy as np  # noqa: E402
from mathutils import Quaternion, Vector  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from . import beasts  # noqa: E402
from .beasts import Row  # noqa: E402

Array = NDArray[np.float64]

FRAMES: Final = 60
FPS: Final = 24
CYCLE: Final = 24.0  # frames
STANCE: Final = 0.65  # of a cycle
SPEED: Final = 1.0  # metres a second
LIFT: Final = 0.12
PHASES: Final = {"leg.hind.L": 0.0, "leg.front.L": 0.25, "leg.hind.R": 0.5, "leg.front.R": 0.75}
STILL: Final = 0.01  # metres a second of an animal with legs as long as the dog's
RIGS: Final = (
    "horse unreal", "cat pack", "fox numbers", "giraffe studio", "cow maya", "elephant zoo", "bear capture",
    "horse anatomical", "mouse numbers", "scripted/rigify_metarig_horse.blend", "scripted/rigify_metarig_cat.blend",
    "scripted/rigify_metarig_wolf.blend", "real/mesh2motion_quadruped.glb", "real/quaternius_cat.fbx",
    "scripted/rigify_generated_wolf.blend",
)  # fmt: skip
DATA: Final = Path(__file__).parents[2].parent / "shared" / "data" / "rigs"


def make_armature(rows: Sequence[Row], name: str) -> Any:
    """Return an armature object with these bones."""
    context: Any = bpy.context
    data: Any = bpy.data.armatures.new(name)
    rig: Any = bpy.data.objects.new(name, data)
    context.scene.collection.objects.link(rig)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for row in rows:
        bone = data.edit_bones.new(row.name)
        bone.head, bone.tail = Vector(row.head), Vector(row.tail)
        bone.parent = data.edit_bones[row.parent] if row.parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return rig


def make_walk() -> tuple[Any, dict[str, list[str]], dict[str, NDArray[np.bool_]]]:
    """Return a dog with a walk, the bones of its parts, and by leg in which frames it stands."""
    rows, answer = beasts.make("dog", "pack")
    parts = {role: right[0] for role, right in answer.items()}
    rig = make_armature(rows, "walking dog")
    context: Any = bpy.context
    context.scene.render.fps = FPS
    times = np.arange(FRAMES)
    stands: dict[str, NDArray[np.bool_]] = {}
    for leg, phase in PHASES.items():
        tip = rig.data.bones[parts[leg][-1]].tail_local.copy()
        target: Any = bpy.data.objects.new(leg, None)
        context.scene.collection.objects.link(target)
        chain = rig.pose.bones[parts[leg][-1]].constraints.new("IK")
        chain.target, chain.chain_count = target, len(parts[leg])
        cycles = times / CYCLE + phase
        share, count = cycles % 1.0, np.floor(cycles)
        swing = np.clip((share - STANCE) / (1.0 - STANCE), 0.0, 1.0)
        ease = swing * swing * (3.0 - 2.0 * swing)
        stride = SPEED * CYCLE / FPS
        ahead = (
            count + ease - phase
        ) * stride + 0.5 * STANCE * stride  # in the middle of its stance it is below the body
        for frame in range(FRAMES):
            height = LIFT * np.sin(np.pi * swing[frame])
            target.location = tip + Vector((0.0, -float(ahead[frame]), float(height)))
            target.keyframe_insert("location", frame=frame)
        stands[leg] = share < STANCE
    for frame in range(FRAMES):
        turn = 2.0 * np.pi * frame / CYCLE
        hips = rig.pose.bones[parts["hips"][0]]
        way = Vector((0.01 * np.sin(turn), -SPEED * frame / FPS, -0.06 + 0.015 * np.sin(2.0 * turn)))
        hips.location = hips.bone.matrix_local.to_3x3().inverted() @ way
        hips.keyframe_insert("location", frame=frame)
        for part, degrees in (("spine", 2.0), ("neck", 5.0), ("head", 8.0), ("tail", 6.0)):
            for bone in (rig.pose.bones[name] for name in parts[part]):
                bone.rotation_quaternion = Quaternion((0.0, 0.0, 1.0), np.radians(degrees) * np.sin(turn))
                bone.keyframe_insert("rotation_quaternion", frame=frame)
    context.scene.frame_start, context.scene.frame_end = 0, FRAMES - 1
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.nla.bake(
        frame_start=0, frame_end=FRAMES - 1, visual_keying=True, clear_constraints=True, bake_types={"POSE"}
    )
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig, parts, stands


def measure(rig: Any, parts: dict[str, list[str]]) -> dict[str, Array]:
    """Return tips of legs (F, 3) by name, turns of the head (F,), and the middle of the legs' first joints (F, 3)."""
    context: Any = bpy.context
    found: dict[str, list[Any]] = {leg: [] for leg in (*PHASES, "head", "middle")}
    bone = parts["head"][0]
    rest = (rig.matrix_world @ rig.data.bones[bone].matrix_local).to_quaternion()
    for frame in range(FRAMES):
        context.scene.frame_set(frame)
        seen = rig.evaluated_get(context.evaluated_depsgraph_get())
        for leg in PHASES:
            found[leg].append(seen.matrix_world @ seen.pose.bones[parts[leg][-1]].tail)
        found["head"].append(
            (seen.matrix_world @ seen.pose.bones[bone].matrix).to_quaternion().rotation_difference(rest).angle
        )
        firsts = [seen.matrix_world @ seen.pose.bones[parts[leg][0]].head for leg in PHASES]
        found["middle"].append(sum(firsts, Vector()) / len(firsts))
    return {name: np.array(values, float) for name, values in found.items()}


def rest_of(rig: Any, parts: dict[str, list[str]]) -> tuple[float, float]:
    """Return height of the lowest tip at rest, and of the first joints above the tips."""
    bones, world = rig.data.bones, rig.matrix_world
    tips = [(world @ bones[parts[leg][-1]].tail_local).z for leg in PHASES]
    firsts = [(world @ bones[parts[leg][0]].head_local).z for leg in PHASES]
    return min(tips), float(np.mean(firsts) - np.mean(tips))


def target_of(name: str) -> tuple[Any, dict[str, list[str]]]:
    """Return an animal to be posed and the bones of its parts that move."""
    if not name.endswith((".blend", ".glb", ".fbx")):
        rows, answer = beasts.make(*name.split())
        return make_armature(rows, name), {role: right[-1] or right[0] for role, right in answer.items()}
    from .role_files import FILES, METARIGS, answer_of

    before = set(bpy.data.objects)
    path = DATA / name
    with contextlib.redirect_stdout(io.StringIO()):
        match path.suffix:
            case ".blend":
                libraries: Any = bpy.data.libraries
                with libraries.load(str(path)) as (there, here):
                    here.objects = there.objects
            case ".fbx":
                bpy.ops.import_scene.fbx(filepath=str(path))
            case _:
                bpy.ops.import_scene.gltf(filepath=str(path))
    context: Any = bpy.context
    new = [one for one in bpy.data.objects if one not in before]
    for one in new:
        if one.name not in context.scene.collection.all_objects:
            context.scene.collection.objects.link(one)
    rig: Any = [one for one in new if one.type == "ARMATURE"][-1]
    if rig.animation_data is not None:
        rig.animation_data.action = None
    written = FILES.get(name) or METARIGS[path.stem.removeprefix("rigify_metarig_").removeprefix("rigify_generated_")]
    parts = {role: right[-1] for role, right in answer_of(written).items()}
    if "generated" in name:
        parts = {role: [f"DEF-{bone}" for bone in bones] for role, bones in parts.items()}
    return rig, parts


def bring(name: str, source: Any, dog: dict[str, Array], height: float, stands: dict[str, Any]) -> dict[str, Any]:
    """Return what is measured of one animal that gets the walk."""
    from edits.retarget import Retargeted

    context: Any = bpy.context
    rig, parts = target_of(name)
    context.view_layer.objects.active = rig
    context.view_layer.update()
    low, own = rest_of(rig, parts)
    edit = Retargeted(context, rig, source)
    edit.solve()
    report = edit.write(rig)
    seen = measure(rig, parts)
    scale = own / height
    slid: list[float] = []
    for leg, stood in stands.items():
        both = stood[1:] & stood[:-1]
        steps = np.linalg.norm(np.diff(seen[leg], axis=0), axis=1)[both] * FPS / scale
        slid += steps.tolist()
    way, wanted = (np.linalg.norm(one["middle"][-1] - one["middle"][0]) for one in (seen, dog))
    lowest = min(float(seen[leg][:, 2].min()) for leg in PHASES)
    return {
        "rig": name,
        "still": float(np.mean(np.array(slid) < STILL)),
        "fastest": float(np.max(slid)),
        "below": max(0.0, low - lowest) / own,
        "way": float(way / scale / wanted),
        "head": float(np.degrees(np.abs(seen["head"] - dog["head"]).max())),
        "short": sum(not goal.met.all() for goal in report.goals),
        "pins": len(edit.pins),
    }


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rigs", nargs="+", default=list(RIGS))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    source, parts, stands = make_walk()
    dog = measure(source, parts)
    _, height = rest_of(source, parts)
    own = [np.linalg.norm(np.diff(dog[leg], axis=0), axis=1)[s[1:] & s[:-1]].max() * FPS for leg, s in stands.items()]
    print(f"the dog's own legs slide by at most {max(own):.4f} m/s where they stand\n")
    print("| animal | steps at rest | fastest, m/s | below the ground | path | head off | short |")
    print("|" + " --- |" * 7)
    rows = [bring(name, source, dog, height, stands) for name in asked.rigs if "/" not in name or DATA.is_dir()]
    for row in rows:
        cells = f"{row['still']:.1%} | {row['fastest']:.2f} | {row['below']:.1%} | {row['way']:.3f} | {row['head']:.2f}"
        print(f"| {row['rig']} | {cells} | {row['short']} of {row['pins']} |")
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    standalone.leave(main())
