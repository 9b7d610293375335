"""Memory and time of long edits, by frames: `python -m benchmarks.robust.memory`.

A captured walk, over and over, is on a rig of 55 bones with a key at every frame. Each edit reads it, solves, writes a
new action and measures, in a process of its own; the peak is what the process takes at most above what it had with the
file open, Blender's new keys included.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final, cast

import standalone
from benchmarks.bake import ROOT, status, walker

FRAMES: Final = (1_000, 4_000, 16_000)
MIB: Final = 1024.0  # KiB
JOB: Final = {
    "version": 1,
    "goals": [
        {"bone": "mixamorig:LeftHand", "pin": ["position"]},
        {"bone": "mixamorig:RightHand", "position": {"path": [[1, -0.3, -0.3, 1.2]]}},
    ],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--frames", type=int, nargs="+", default=list(FRAMES))
    parser.add_argument("--verbs", nargs="+", choices=tuple(EDITS), default=list(EDITS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", metavar="VERB", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    standalone.enable()
    if options.one:
        print(json.dumps(_measured(options.one, options.frames[0], options.file)))
        return 0
    import bpy

    rows: list[dict[str, Any]] = []
    print(f"{'':12}{'frames':>8}{'seconds':>10}   MiB at most: read, solve, write and measure")
    with TemporaryDirectory() as folder:
        for count in options.frames:
            walker(count)
            file = str(Path(folder) / f"{count}.blend")
            bpy.ops.wm.save_as_mainfile(filepath=file)
            for verb in options.verbs:
                command = [sys.executable, "-m", __spec__.name, "--one", verb, "--frames", str(count), "--file", file]
                done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
                row = json.loads(done.stdout.splitlines()[-1])
                peaks = "".join(f"{peak:8.0f}" for peak in row["peaks"])
                print(f"{verb:12}{count:8}{row['seconds']:10.1f}   {peaks}", flush=True)
                rows.append({"verb": verb, "frames": count, **row})
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


def _measured(verb: str, count: int, file: Path) -> dict[str, Any]:
    """Return the seconds of an edit, and the MiB at the peak of each of its steps above the file that is open."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(file))
    armature = next(one for one in bpy.data.objects if one.type == "ARMATURE")
    start, begin, peaks = status("VmRSS"), perf_counter(), list[float]()

    def step(act: Callable[[], Any]) -> Any:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins again
        done = act()
        peaks.append((status("VmHWM") - start) / MIB)
        return done

    edit = step(lambda: EDITS[verb](armature, (1, count)))
    step(edit.solve)
    step(lambda: edit.write(armature))
    return {"seconds": perf_counter() - begin, "peaks": peaks}


def _bake(armature: Any, frames: tuple[int, int]) -> Any:
    import bpy

    from edits.bake import Baked

    return Baked(bpy.context, armature, frames)


def _lock(armature: Any, frames: tuple[int, int]) -> Any:
    import bpy

    from edits.foot_lock import LockedFeet

    return LockedFeet(bpy.context, armature, frames)


def _path(armature: Any, frames: tuple[int, int]) -> Any:
    import bpy

    from edits.path import PathEdit

    return PathEdit(bpy.context, armature, frames, scale=1.2)


def _reduce(armature: Any, frames: tuple[int, int]) -> Any:
    import bpy

    from edits.reduce import Reduced

    return Reduced(bpy.context, armature, frames)


def _retarget(armature: Any, frames: tuple[int, int]) -> Any:
    import bpy

    from edits.retarget import Retargeted

    source, context = armature.copy(), cast(Any, bpy.context)
    context.scene.collection.objects.link(source)
    context.view_layer.update()
    return Retargeted(context, armature, source, frames)


def _root(armature: Any, frames: tuple[int, int]) -> Any:
    import bpy

    from edits.root_motion import RootMotion

    return RootMotion(bpy.context, armature, frames, "nobody")


def _smooth(armature: Any, frames: tuple[int, int]) -> Any:
    import bpy

    from edits.smoothing import SmoothEdit

    return SmoothEdit(bpy.context, armature, frames, plant=False)


def _solve(armature: Any, frames: tuple[int, int]) -> Any:
    import bpy

    from core.formats.job import parse
    from edits.job import JobEdit

    return JobEdit(bpy.context, armature, parse({**JOB, "frames": list(frames)}))


EDITS: Final = {
    "bake": _bake, "root-motion": _root, "smooth": _smooth, "lock-feet": _lock, "edit-path": _path,
    "retarget": _retarget, "solve": _solve, "reduce-keys": _reduce,
}  # fmt: skip


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    standalone.leave(code)
