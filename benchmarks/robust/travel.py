"""Where captured bodies are with their travel on a root bone or the object: `python -m benchmarks.robust.travel`.

All clips of the shared data are imported by Blender and get a root bone above their hips; everything is read from bones
as Blender evaluates them, at frames and halfway between. Distances are those of a human of 1.7 m.

    python -m benchmarks.robust.travel                 all clips, ten minutes
    python -m benchmarks.robust.travel --clips 07_12   some of them
"""

import argparse
import contextlib
import io
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import standalone
from benchmarks.motion.clips import CLIPS

Array = NDArray[np.float64]

STEPS: Final = ("root", "object", "body", "nobody")  # what travels, one after the other
_FEET: Final = ("foot.L", "foot.R")


def main() -> None:
    paths = asked_clips(__doc__ or "")
    standalone.enable()
    print(f"{'':24}{'way, m':>8}{'root':>10}{'object':>10}{'back':>10}{'in place':>10}{'feet, root':>12}{'object':>9}")
    rows: list[list[float]] = []
    for path in paths:
        row = measure(path)
        if isinstance(row, str):
            print(f"{path.stem:24}{row}")
            continue
        rows.append(row)
        print(_line(path.stem, row), flush=True)
    if rows:
        print(_line("the most", np.max(rows, axis=0).tolist()))
    print("root, object, back, in place (heights): mm from where bones were")
    print("feet: by how much more they slide between frames than before, % of the way")


def asked_clips(about: str) -> list[Path]:
    """Return the clips that the command line asks for; `about`: the script's docstring. Ends where there are none."""
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("--clips", nargs="+", help="numbers of CMU's clips; by default all")
    names = parser.parse_args().clips
    paths = [CLIPS / f"cmu_{clip}.bvh" for clip in names] if names else sorted(CLIPS.glob("*.bvh"))
    if not paths:
        print(f"Nothing was measured: there are no clips in {CLIPS}.")
        raise SystemExit
    return paths


def measure(path: Path) -> list[float] | str:
    """Return the way in metres, mm beside in each of STEPS, and % of the way by which feet slide between frames."""
    import bpy

    from core import CoreError
    from edits.root_motion import RootMotion

    armature, frames = load_clip(path)
    context: Any = bpy.context
    before, bent = seen_heads(armature, frames), _bends(armature, frames)
    found: dict[str, float] = {}
    way = human = 1.0
    slides: list[float] = []
    for carrier in STEPS:
        try:
            edit = RootMotion(context, armature, frames, carrier)  # pyright: ignore[reportArgumentType]
            edit.solve()
            edit.write(armature)
        except CoreError as error:
            return str(error)
        now = seen_heads(armature, frames)
        human = edit.skeleton.size  # 1 is that of a human of 1.7 m
        only = slice(2, 3) if carrier == "nobody" else slice(None)
        found[carrier] = 1e3 * float(np.linalg.norm((now - before)[:, 1:, only], axis=-1).max()) / human
        if carrier == "root":
            way = float(np.linalg.norm(np.diff(before[:, edit.hips, :2], axis=0), axis=-1).sum())
            feet = [edit.roles.bone(role) for role in _FEET]
        if carrier in ("root", "object"):
            slides.append(100.0 * float((_bends(armature, frames) - bent)[:, feet].max()) / way)
    return [way / human, *found.values(), *slides]


def _line(name: str, row: list[float]) -> str:
    way, *errors = row[:5]
    return f"{name:24}{way:8.2f}{''.join(f'{error:10.4f}' for error in errors)}{row[5]:12.3f}{row[6]:9.3f}"


def load_clip(path: Path, root: bool = True) -> tuple[Any, tuple[int, int]]:
    """Return a clip's armature, with a root bone if asked, and its frames without the first, which is at rest."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    context: Any = bpy.context
    with contextlib.redirect_stdout(io.StringIO()):
        bpy.ops.import_anim.bvh(filepath=str(path))
    armature = context.view_layer.objects.active
    if root:
        bpy.ops.object.mode_set(mode="EDIT")
        bones = armature.data.edit_bones
        top = next(bone for bone in bones if bone.parent is None)
        added = bones.new("root")
        added.head, added.tail = (0.0, 0.0, 0.0), (0.0, top.length, 0.0)
        top.parent = added
        bpy.ops.object.mode_set(mode="OBJECT")
    first, last = armature.animation_data.action.frame_range
    return armature, (int(first) + 1, int(last))


def _bends(armature: Any, frames: tuple[int, int]) -> Array:
    """Return how far heads (F - 1, J) are halfway between two frames from the middle of where they are in these.

    Euler angles of captured files turn far round between some frames: that is not what root motion does.
    """
    at, halfway = seen_heads(armature, frames), seen_heads(armature, frames, 0.5)
    return np.linalg.norm(halfway[:-1] - 0.5 * (at[1:] + at[:-1]), axis=-1)


def seen_heads(armature: Any, frames: tuple[int, int], between: float = 0.0) -> Array:
    """Return the heads (F, J, 3) of all bones in the world, the root bone first."""
    import bpy

    scene: Any = bpy.context.scene
    found = np.empty((frames[1] - frames[0] + 1, len(armature.pose.bones), 3))
    for place, frame in enumerate(range(frames[0], frames[1] + 1)):
        scene.frame_set(frame, subframe=between)
        matrices = np.empty((len(armature.pose.bones), 4, 4), np.float32)
        armature.pose.bones.foreach_get("matrix", matrices.ravel())
        found[place] = (
            matrices[:, 3, :3] @ np.array(armature.matrix_world.to_3x3()).T + armature.matrix_world.translation
        )
    return found


if __name__ == "__main__":
    main()
