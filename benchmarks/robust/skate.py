"""What `lock-feet` leaves of skating that was put into captured clips: `python -m benchmarks.robust.skate`.

The clips are imported by Blender, and everything is read from bones as Blender evaluates them: nothing is shared with
what is measured but the verb itself. When the balls of the feet truly stand is told by the clean clip, and only then
are the feet made to slide: by a drift, by up and down of the whole body, by a longer way, by slow motion. Half of the
clips were not looked at while the detector was made; `--files` takes BVH files of any other library.
"""

import argparse
import contextlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import standalone
from benchmarks.motion.clips import CLIPS

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

TUNED: Final = ("07_12", "08_11", "16_15", "26_01", "35_17", "05_02", "135_04", "61_12")
APART: Final = ("07_05", "08_05", "10_04", "27_01", "35_20", "05_18", "135_09", "60_05")
FOOT: Final = re.compile(r"((.*:)?(left|right)|[lr]|cc_base_[lr]_)?(foot|ankle)(_[lr])?")  # names of bones
LEG: Final = 0.85  # metres from hip to ankle, by which units are told
LONGEST: Final = 8.0  # seconds of a clip that are used
STANDS, LOW, NEAR, LASTS = 0.3, 0.06, 1.0, 0.1  # metres a second, metres above the lowest of so many seconds, seconds
STILL: Final = 0.01  # metres a second
DRIFT: Final = np.array([0.4, 0.3])  # metres a second
BOB: Final = 0.03, 0.7  # metres, times a second
LONGER: Final = 1.2
SLOWER: Final = 3
WAYS: Final[dict[str, Callable[[Array, float], Array]]] = {
    "clean": lambda places, fps: places,
    "drift": lambda places, fps: places + np.pad(np.arange(len(places))[:, None] / fps * DRIFT, ((0, 0), (0, 1))),
    "bob": lambda places, fps: (
        places + [[0, 0, BOB[0] * np.sin(2.0 * np.pi * BOB[1] * n / fps)] for n in range(len(places))]
    ),
    "scaled": lambda places, fps: places[:1] + (places - places[:1]) * [LONGER, LONGER, 1.0],
    "slow": lambda places, fps: places,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--clips", nargs="+", help="numbers of CMU's clips; by default both halves")
    parser.add_argument("--files", nargs="+", type=Path, help="BVH files of other libraries")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    halves = {"given": arguments.clips} if arguments.clips else {"tuned": TUNED, "apart": APART}
    paths = {half: [CLIPS / f"cmu_{clip}.bvh" for clip in clips] for half, clips in halves.items()}
    if arguments.files:
        paths = {"given": arguments.files}
    elif not CLIPS.is_dir():
        print(f"Nothing was measured: there are no clips in {CLIPS}.")
        return
    standalone.enable()
    rows = [
        {"half": half, "clip": path.stem.removeprefix("cmu_"), "way": way, **measure(path, way)}
        for half, some in paths.items()
        for path in some
        for way in arguments.ways
    ]
    if arguments.json:
        arguments.json.write_text(json.dumps(rows))
    print(table(rows))


def measure(path: Path, way: str) -> dict[str, Any]:
    """Return what is measured of a clip that was made to slide in some way."""
    import bpy

    from core import CoreError
    from edits.foot_lock import LockedFeet

    armature, feet, fps = _load(path)
    scene: Any = bpy.context.scene
    true = stands(_points(armature, feet), fps)
    if way == "slow":
        true = np.repeat(true, SLOWER, axis=0)[: 1 - SLOWER]
    _slide(armature, WAYS[way], fps, SLOWER if way == "slow" else 1)
    before, joints = _points(armature, feet), _points(armature)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            edit = LockedFeet(bpy.context, armature, (scene.frame_start, scene.frame_end))
            edit.solve()
            edit.write(armature)
    except CoreError as error:
        return {"refused": str(error), "steps": int(both(true).sum()), "before": 0, "after": 0, "acceleration": 1.0}
    after, joints_after = _points(armature, feet), _points(armature)
    steps = both(true)
    jolts = [np.percentile(lengths(np.diff(places, 2, axis=0)), 99.0) for places in (joints, joints_after)]
    heights = [[after[on, point, 2].mean() for on in runs(true[:, point])] for point in range(true.shape[1])]
    told = edit.skating()
    return {
        "steps": int(steps.sum()),
        "before": int((slide(before, fps) < STILL)[steps].sum()),
        "after": int((slide(after, fps) < STILL)[steps].sum()),
        "acceleration": float(jolts[1] / jolts[0]),
        "apart_mm": 1e3 * max((float(np.ptp(some)) for some in heights if some), default=0.0),
        "told": told,
    }


def stands(places: Array, fps: float) -> Flags:
    """Return when points (F, P, 3) stand: slow, and low beside the lowest of about then, for some time."""
    found = np.zeros(places.shape[:2], bool)
    found[1:-1] = lengths(places[2:] - places[:-2]) * 0.5 * fps < STANDS
    near = round(NEAR * fps)
    lowest = places[..., 2].min(axis=1)
    lows = [lowest[max(0, frame - near) : frame + near + 1].min() for frame in range(len(places))]
    found &= places[..., 2] < np.array(lows)[:, None] + LOW
    for point in range(found.shape[1]):
        for run in runs(found[:, point]):
            if run.stop - run.start < LASTS * fps:
                found[run, point] = False
    return found


def slide(places: Array, fps: float) -> Array:
    """Return the speeds (F - 1, P) along the ground of points (F, P, 3)."""
    return lengths(np.diff(places[..., :2], axis=0)) * fps


def both(flags: Flags) -> Flags:
    """Return the steps (F - 1, P) at both ends of which points stand."""
    return flags[1:] & flags[:-1]


def runs(flags: Flags) -> list[slice]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [slice(int(first), int(stop)) for first, stop in zip(edges[::2], edges[1::2], strict=True)]


def lengths(vectors: Array) -> Array:
    return np.sqrt(np.square(vectors).sum(axis=-1))


def _load(path: Path) -> tuple[Any, tuple[str, ...], float]:
    """Import a clip; return its armature, the bones of feet, whose tails are the balls, and frames a second."""
    import bpy

    import bridge

    armature = _imported(path, 1.0)
    feet = tuple(bone.name for bone in armature.data.bones if FOOT.fullmatch(bone.name.lower()))
    foot = armature.data.bones[feet[0]]
    scale = LEG / (foot.parent.length + foot.parent.parent.length)
    armature = _imported(path, scale)
    scene: Any = bpy.context.scene
    action = armature.animation_data.action
    fps = scene.render.fps / scene.render.fps_base
    scene.frame_start, scene.frame_end = 2, min(int(action.frame_range[1]), round(LONGEST * fps) + 1)  # 1 is at rest
    for curve in action.layers[0].strips[0].channelbags[0].fcurves:
        keys = curve.keyframe_points
        for key in reversed([key for key in keys if not scene.frame_start <= key.co[0] <= scene.frame_end]):
            keys.remove(key, fast=True)
        curve.update()
    if bridge.read_roles(armature, bridge.read_rig(armature).skeleton).rest == "folded":  # all bones along one axis
        scene.frame_set(scene.frame_start)
        bpy.ops.object.mode_set(mode="POSE")
        bridge.make_rest(bpy.context, armature)
    return armature, feet, fps


def _imported(path: Path, scale: float) -> Any:
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with contextlib.redirect_stdout(io.StringIO()):
        bpy.ops.import_anim.bvh(filepath=str(path), global_scale=scale, rotate_mode="NATIVE", update_scene_fps=True)
    context: Any = bpy.context
    return context.view_layer.objects.active


def _slide(armature: Any, way: Callable[[Array, float], Array], fps: float, slower: int) -> None:
    """Move the root's keys on another way, and stretch all keys in time."""
    import bpy

    bag = armature.animation_data.action.layers[0].strips[0].channelbags[0]
    ways = {
        bone: np.array([[key.co[1] for key in curve.keyframe_points] for curve in curves]).T
        for bone in armature.data.bones
        if all(curves := [bag.fcurves.find(f'pose.bones["{bone.name}"].location', index=axis) for axis in range(3)])
    }
    root = max(ways, key=lambda bone: float(np.ptp(ways[bone], axis=0).max()))
    keys, turn = ways[root], np.array(armature.matrix_world.to_3x3() @ root.matrix_local.to_3x3())
    curves = [bag.fcurves.find(f'pose.bones["{root.name}"].location', index=axis) for axis in range(3)]
    moved = way(keys @ turn.T, fps) @ turn
    for axis, curve in enumerate(curves):
        for key, value in zip(curve.keyframe_points, moved[:, axis], strict=True):
            key.co[1] = value
            key.handle_left[1] = key.handle_right[1] = value
    scene: Any = bpy.context.scene
    first, last = scene.frame_start, scene.frame_end
    for curve in bag.fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
            key.co[0] = first + slower * (key.co[0] - first)
        curve.update()
    scene.frame_end = first + slower * (last - first)


def _points(armature: Any, feet: tuple[str, ...] = ()) -> Array:
    """Return the tails of feet (F, 2, 3), or all joints (F, J, 3), in the world."""
    import bpy

    scene: Any = bpy.context.scene
    bones = [armature.pose.bones[name] for name in feet]
    found: list[Any] = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        some = [bone.tail for bone in bones] or [bone.head for bone in armature.pose.bones]
        found.append([tuple(armature.matrix_world @ point) for point in some])
    return np.array(found)


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'':28}{'still before':>14}{'after':>8}{'acceleration':>14}{'heights':>11}   said: before, after"]
    for row in rows:
        share = [row[when] / max(row["steps"], 1) for when in ("before", "after")]
        told = row.get("refused") or ", ".join(f"{value:.1%}" for value in row["told"].values())
        lines.append(
            f"{row['half']:7}{row['clip']:16}{row['way']:7}{share[0]:12.1%}{share[1]:8.1%}{row['acceleration']:14.2f}"
            f"{row.get('apart_mm', 0.0):8.0f} mm   {told}"
        )
    for half in dict.fromkeys(row["half"] for row in rows):
        for way in dict.fromkeys(row["way"] for row in rows):
            some = [row for row in rows if (row["half"], row["way"]) == (half, way)]
            steps, before, after = (sum(row[name] for row in some) for name in ("steps", "before", "after"))
            worst = max(row["acceleration"] for row in some)
            lines.append(f"{half:7}{'all':16}{way:7}{before / steps:12.1%}{after / steps:8.1%}{worst:14.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
