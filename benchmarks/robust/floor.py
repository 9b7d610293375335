"""How far bodies are below the floor after what Poise makes of them: `python -m benchmarks.robust.floor`.

Captured clips are brought to rigs, made longer and locked, and the jump is generated, at five frame rates. Measured is
what Blender evaluates: the lowest vertex of the body's mesh, or the lowest joint where there is none, below the lowest
at rest, in lengths of the leg, which alone Poise tells. A jump is compared with its mirror image, by bones that
are each other's at rest.
"""

import argparse
import contextlib
import io
import json
import shutil
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import standalone
from benchmarks.motion.clips import CLIPS

Array = NDArray[np.float64]

RIGS: Final = (
    "scripted/mpfb_mixamo.blend", "scripted/named_mixamo_cm.blend", "scripted/named_unreal_apose.blend",
    "scripted/odd_random_rolls_apose.blend", "scripted/named_smpl_tails_up.blend", "scripted/mpfb_default.blend",
    "real/kaykit_mannequin/manny_med_mod.gltf", "real/vrm_example.vrm", "real/quaternius_man_mixamo_like.fbx",
    "real/mesh2motion_human.glb",
)  # fmt: skip
TAKEN: Final = ("07_12", "26_01", "35_17", "16_15")
LONGEST: Final = 90  # frames
RATES: Final = (24, 25, 30, 48, 60)
LONGER: Final = 1.5
DEEP: Final = 0.02  # of a leg
LIMB: Final = 3  # bones above one of a limb, at least
PARTS: Final = ("retarget", "edit-path", "lock-feet", "generate")
LEG: Final = ("thigh", "shin", "foot")


def main() -> None:
    arguments = parse_arguments(__doc__, RIGS, TAKEN, PARTS)
    if not CLIPS.is_dir():
        print(f"Nothing was measured: there are no clips in {CLIPS}.")
        return
    standalone.enable()
    rows: list[dict[str, Any]] = []
    folder = CLIPS.parents[1] / "rigs"
    for part in ("retarget", "edit-path"):
        if part in arguments.parts:
            rows += [_retarget(part, folder / rig, clip) for rig in arguments.rigs for clip in arguments.clips]
    for part in ("edit-path", "lock-feet"):
        if part in arguments.parts:
            rows += [_edited(part, clip) for clip in arguments.clips]
    if "generate" in arguments.parts:
        rows += [_jump(folder / rig, fps) for rig in arguments.rigs for fps in RATES]
    if arguments.json:
        arguments.json.write_text(json.dumps(rows))
    print(table(rows))


def parse_arguments(
    description: str | None, rigs: Sequence[str], clips: Sequence[str], parts: Sequence[str]
) -> argparse.Namespace:
    """Return which of some rigs, clips and parts of a benchmark are measured, by default all."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rigs", nargs="+", default=list(rigs))
    parser.add_argument("--clips", nargs="+", default=list(clips), help="numbers of CMU's clips")
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'':12}{'rig':34}{'':8}{'below, of a leg':>17}{'left and right':>16}"]
    for row in rows:
        aside = f"{row['aside']:15.2%}" if "aside" in row else ""
        lines.append(f"{row['part']:12}{row['rig']:34}{row['of']:8}{row['below']:16.1%}{aside}")
    for part in dict.fromkeys(row["part"] for row in rows):
        below = np.array([row["below"] for row in rows if row["part"] == part])
        lines.append(f"{part}: {(below > DEEP).sum()} of {len(below)} deeper than {DEEP:.0%}, worst {below.max():.1%}")
    return "\n".join(lines)


def _retarget(part: str, path: Path, clip: str) -> dict[str, Any]:
    """A clip on a rig, and then on a longer way if the part is "edit-path"."""
    import bpy

    from edits.path import PathEdit
    from edits.retarget import Retargeted, imported

    armature = load_rig(path)
    rest, leg = _lowest(armature), _leg(armature)
    with contextlib.redirect_stdout(io.StringIO()), imported(bpy.context, CLIPS / f"cmu_{clip}.bvh") as (source, _):
        last = min(LONGEST, int(source.animation_data.action.frame_range[1]))
        edit: Any = Retargeted(bpy.context, armature, source, (2, last))
    edit.solve()
    edit.write(armature)
    if part == "edit-path":
        edit = PathEdit(bpy.context, armature, (2, last), scale=LONGER)
        edit.solve()
        edit.write(armature)
    lows = [_lowest(armature, frame) for frame in range(2, last + 1)]
    return {"part": part, "rig": path.stem, "of": clip, "below": max(0.0, rest - min(lows)) / leg}


def _edited(part: str, clip: str) -> dict[str, Any]:
    """A clip on a longer way, or with locked feet, beside the lowest point that it had, ends of toes included."""
    import bpy

    from edits.foot_lock import LockedFeet
    from edits.path import PathEdit

    armature = load_rig(CLIPS / f"cmu_{clip}.bvh")
    last = min(LONGEST, int(armature.animation_data.action.frame_range[1]))
    before = [_lowest(armature, frame, ends=True) for frame in range(2, last + 1)]
    if part == "edit-path":
        edit = PathEdit(bpy.context, armature, (2, last), scale=LONGER)
    else:
        edit = LockedFeet(bpy.context, armature, (2, last))
    edit.solve()
    edit.write(armature)
    after = [_lowest(armature, frame, ends=True) for frame in range(2, last + 1)]
    below = max(0.0, min(before) - min(after)) / _leg(armature)
    return {"part": part, "rig": "its own", "of": clip, "below": below}


def _jump(path: Path, fps: int) -> dict[str, Any]:
    import bpy

    from core.formats.recipe import read_recipe
    from edits.generate import Generated

    armature = load_rig(path)
    scene: Any = bpy.context.scene
    scene.render.fps = fps
    rest, leg = _lowest(armature), _leg(armature)
    edit = Generated(bpy.context, armature, read_recipe(Path("jump")), 1)
    edit.solve()
    edit.write(armature)
    first, last = (int(frame) for frame in armature.animation_data.action.frame_range)
    lows = [_lowest(armature, frame) for frame in range(first, last + 1)]
    aside = _aside(armature, first, last) / leg
    below = max(0.0, rest - min(lows)) / leg
    return {"part": "generate", "rig": path.stem, "of": str(fps), "below": below, "aside": aside}


def load_rig(path: Path) -> Any:
    import bpy

    operators: Any = bpy.ops
    operators.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as folder:
        match path.suffix:
            case ".blend":
                operators.wm.open_mainfile(filepath=str(path))
            case ".bvh":
                operators.import_anim.bvh(filepath=str(path), global_scale=0.0254 / 0.45, rotate_mode="NATIVE")
            case ".fbx":
                operators.import_scene.fbx(filepath=str(path))
            case _:  # a .vrm is a binary glTF; the importer minds the name only
                copy = shutil.copy(path, Path(folder) / "copy.glb") if path.suffix == ".vrm" else path
                operators.import_scene.gltf(filepath=str(copy))
    context: Any = bpy.context
    context.scene.render.fps = 30
    armature = next(object for object in context.scene.objects if object.type == "ARMATURE")
    if path.suffix != ".bvh":
        armature.animation_data_clear()
        for bone in armature.pose.bones:
            bone.matrix_basis.identity()
    context.view_layer.objects.active = armature
    context.view_layer.update()
    return armature


def _lowest(armature: Any, frame: int | None = None, ends: bool = False) -> float:
    """Return the lowest height of the body at a frame, by default at rest, in the world; `ends`: of tails, too."""
    import bpy

    context: Any = bpy.context
    armature.data.pose_position = "REST" if frame is None else "POSE"
    context.scene.frame_set(context.scene.frame_current if frame is None else frame)
    graph = context.evaluated_depsgraph_get()
    skins = [
        object for object in context.scene.objects
        if object.type == "MESH" and any(m.type == "ARMATURE" and m.object == armature for m in object.modifiers)
    ]  # fmt: skip
    found: list[float] = []
    for skin in skins:
        seen = skin.evaluated_get(graph)
        places = np.empty(3 * len(seen.data.vertices))
        seen.data.vertices.foreach_get("co", places)
        found.append(
            float((places.reshape(-1, 3) @ np.array(seen.matrix_world)[2, :3]).min() + seen.matrix_world[2][3])
        )
    if not skins:  # of joints alone: tails of last bones point anywhere, and roots are no part of a body
        limbs = [bone for bone in armature.pose.bones if len(bone.parent_recursive) >= LIMB]
        places = [place for bone in limbs for place in ((bone.head, bone.tail) if ends else (bone.head,))]
        found = [(armature.matrix_world @ place).z for place in places]
    armature.data.pose_position = "POSE"
    return min(found)


def _leg(armature: Any) -> float:
    import bridge

    rig = bridge.read_rig(armature)
    names = [rig.skeleton.names[bridge.read_roles(armature, rig.skeleton).bone(f"{part}.L")] for part in LEG]
    joints = [armature.matrix_world @ armature.data.bones[name].head_local for name in names]
    return sum((after - before).length for before, after in pairwise(joints))


def _aside(armature: Any, first: int, last: int) -> float:
    """Return how far joints are from the mirror image of those that mirror them at rest, at most."""
    import bpy

    scene: Any = bpy.context.scene
    bones = list(armature.pose.bones)
    rest = np.array([armature.matrix_world @ bone.bone.head_local for bone in bones])
    mirrors = [np.diag(axis) for axis in ([-1.0, 1.0, 1.0], [1.0, -1.0, 1.0])]
    gaps = [np.linalg.norm(rest[:, None] @ mirror - rest, axis=-1) for mirror in mirrors]
    same = 1e-3 * np.ptp(rest[:, 2])
    side = int(np.argmax([(gap.min(axis=1) < same).sum() for gap in gaps]))
    paired = np.flatnonzero((gaps[side] < same).sum(axis=1) == 1)  # not where several joints are
    pairs = gaps[side].argmin(axis=1)
    worst = 0.0
    for frame in range(first, last + 1):
        scene.frame_set(frame)
        now = np.array([armature.matrix_world @ bone.head for bone in bones])
        worst = max(worst, float(np.linalg.norm(now[paired] @ mirrors[side] - now[pairs[paired]], axis=1).max()))
    return worst


if __name__ == "__main__":
    main()
