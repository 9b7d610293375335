"""A whole bake inside Blender, read, keyed and all, beside Blender's own `nla.bake`; and the memory of long edits.

python -m benchmarks.bake              250 frames of a walk on a rig of 55 bones, each three times; then ten minutes
                                       baked, and its feet locked, each in a process of its own
python -m benchmarks.bake --frames N   so many frames for all
python -m benchmarks.bake --json FILE  the figures as JSON, too
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final

import numpy as np

import standalone

ROOT: Final = Path(__file__).resolve().parent.parent
RIG: Final = ROOT / "tests" / "data" / "rigs" / "named_mixamo_cm.blend"
CLIP: Final = ROOT / "tests" / "data" / "motion" / "cmu_07_12.bvh"
FRAMES, LONG = 250, 18_000
TURNS: Final = 3
MIB: Final = 1024.0  # KiB


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bake", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--frames", type=int, metavar="N", help="of both measurements")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures as JSON")
    parser.add_argument("--step", choices=tuple(STEPS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    standalone.enable()
    if options.step:
        print(STEPS[options.step](options.frames, options.folder))
        return 0
    import bpy

    rig, count = walker(options.frames or FRAMES), options.frames or FRAMES
    poise, blender = fastest(lambda: bake(rig), lambda: nla_bake(rig))
    speed, blender_speed = count / poise, count / blender
    speeds = f"{speed:.0f}, nla.bake {blender_speed:.0f}, {speed / blender_speed:.1f} times as fast"
    print(f"{bpy.app.version_string}, frames a second of processor time: {speeds}")
    count, peaks = options.frames or LONG, {}
    with TemporaryDirectory() as folder:
        _measured("make", count, folder)
        for name in ("bake", "lock"):
            peak, held = (_measured(step, count, folder) for step in (name, "hold"))
            peaks[name] = (peak - held) / MIB
            print(f"{name}, {count} frames: a peak of {peaks[name]:.0f} MiB above Blender with both actions")
    if options.json:
        figures = {"poise": speed, "nla.bake": blender_speed, "long": count, "peak_mib": peaks}
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


def _measured(step: str, count: int, folder: str) -> float:
    """What a step says in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bake", "--step", step, "--frames", str(count), "--folder", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _make(count: int, folder: Path) -> float:
    """A file with one action."""
    import bpy

    walker(count)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "one.blend"))
    return 0.0


def _bake(count: int, folder: Path) -> float:
    """KiB at the peak of opening that file and baking; saves the file with both actions."""
    return _edited(folder, bake)


def _lock(count: int, folder: Path) -> float:
    """The same of locking the feet."""
    return _edited(folder, lock)


def _edited(folder: Path, edit: Callable[[Any], None]) -> float:
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(folder / "one.blend"))
    edit(next(armature for armature in bpy.data.objects if armature.type == "ARMATURE"))
    peak = status("VmHWM")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "both.blend"))
    return peak


def _hold(count: int, folder: Path) -> float:
    """KiB that are in use once that one is open."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(folder / "both.blend"))
    return status("VmRSS")


STEPS: Final = {"make": _make, "bake": _bake, "lock": _lock, "hold": _hold}


def walker(count: int) -> Any:
    """The rig with a captured walk forth and back, over and over without a jump, keyed at every frame."""
    import bpy

    import bridge
    from core import Motion
    from edits.retarget import Retargeted, imported

    context: Any = bpy.context
    bpy.ops.wm.open_mainfile(filepath=str(RIG))
    context.scene.render.fps = 30
    rig = next(armature for armature in bpy.data.objects if armature.type == "ARMATURE")
    with imported(context, CLIP) as (source, _):
        edit = Retargeted(context, rig, source, (2, 60), plant=False)
    last = len(edit.after) - 1
    numbers = last - np.abs(np.arange(count) % (2 * last) - last)
    motion = Motion(edit.after.pose[numbers], np.arange(1.0, count + 1.0), 30.0)
    bridge.write_keys(rig, edit.rig, motion, range(len(edit.rig.skeleton)), [0], "walk", new=False)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    return rig


def bake(rig: Any) -> None:
    """Ours: into a new action."""
    import bpy

    import bridge
    from edits.bake import Baked

    edit = Baked(bpy.context, rig, bridge.keyed_range(rig))
    edit.solve()
    edit.write(rig)


def lock(rig: Any) -> None:
    """Feet that stand where they bear, in a new action."""
    import bpy

    import bridge
    from edits.foot_lock import LockedFeet

    edit = LockedFeet(bpy.context, rig, bridge.keyed_range(rig))
    edit.solve()
    edit.write(rig)


def nla_bake(rig: Any) -> None:
    """Blender's own: into a new action."""
    import bpy

    first, last = (int(frame) for frame in rig.animation_data.action.frame_range)
    bpy.ops.nla.bake(frame_start=first, frame_end=last, visual_keying=False, bake_types={"POSE"}, only_selected=False)


def fastest(*acts: Callable[[], None]) -> list[float]:
    """Seconds of processor time of the fastest of some turns, in which one comes after the other."""
    found: list[list[float]] = []
    for _ in range(TURNS):
        found.append([])
        for act in acts:
            begin = process_time()
            act()
            found[-1].append(process_time() - begin)
    return [min(turns) for turns in zip(*found, strict=True)]


def status(name: str) -> float:
    """KiB of this process, by the name that Linux gives it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(name)))


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    standalone.leave(code)
