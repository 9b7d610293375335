"""The main job of Poise, from a captured walk to keys and a picture: `make demo`, or `python docs/examples/demo.py`.

It makes build/demo_input.blend, a walk on the armature that Blender's BVH importer makes of cmu_35_01.bvh; runs the job
of demo_job.json on it as `blender --background --command poise solve` would: both feet pinned where the walk has them,
the right hand on a moving ball; and shows what came of it. The exit code is the verb's: 0 if every goal is met.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path
from time import perf_counter
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
JOB: Final = HERE / "demo_job.json"
sys.path[:0] = [str(HERE), str(ROOT)]

import standalone  # noqa: E402  (found beside the extension)


def main(argv: list[str]) -> int:
    """Run it all; returns the exit code."""
    options = parse(argv)
    started = perf_counter()
    standalone.enable()

    import bpy
    import commands
    import numpy as np
    import picture
    import scene

    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)
    source, job_file, result = (folder / name for name in ("demo_input.blend", "demo_job.json", "demo.blend"))
    report_file, sheet = folder / "demo_report.json", folder / "demo.png"
    bpy.context.preferences.filepaths.save_version = 0

    scene.make_scene()
    bpy.ops.wm.save_as_mainfile(filepath=str(source), compress=True)
    shutil.copyfile(JOB, job_file)

    verb = ["solve", "--blend", source, "--job", job_file, "--output", result, "--report", report_file]
    code = commands.run([str(word) for word in verb])
    if code not in (0, 1):
        return code
    report = json.loads(report_file.read_text(encoding="utf-8"))

    bpy.ops.wm.open_mainfile(filepath=str(result))
    hand = next(goal for goal in json.loads(JOB.read_text(encoding="utf-8"))["goals"] if goal["bone"] == scene.HAND)
    frames = range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1)
    before, after = (scene.places(frames, name, scene.HAND, hand["point"]) for name in (scene.BEFORE, scene.WALKER))
    scene.add_paths(before, after)
    shown = np.linspace(frames[0] + 5, frames[-1] - 4, options.tiles).round().astype(int).tolist()
    if options.tiles:
        gaps = np.linalg.norm(after - scene.places(frames, scene.BALL), axis=1)
        begin, end = next(goal["frames"] for goal in report["goals"] if goal["bone"] == scene.HAND)
        captions = [caption(frame, begin, end, gaps[frame - frames[0]]) for frame in shown]
        picture.draw(sheet, shown, captions, options.samples)
    bpy.context.scene.frame_set(frames[0])
    bpy.ops.wm.save_as_mainfile(filepath=str(result), compress=True)

    tell(report, perf_counter() - started, [result, report_file, *([sheet] if options.tiles else [])])
    return code


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A captured walk, a hand on a moving ball, and a picture of it.")
    parser.add_argument("--output", type=Path, default=ROOT / "build", help="folder for the results (build)")
    parser.add_argument("--tiles", type=int, default=8, help="frames in the picture; 0: no picture")
    parser.add_argument("--samples", type=int, default=8, help="of a pixel")
    return parser.parse_args(argv)


def tell(report: dict[str, Any], seconds: float, files: list[Path]) -> None:
    """What was done, in a few lines."""
    first, last = report["frames"]
    print(f"\nPoise changed a captured walk, frames {first} to {last}, so that its right hand follows a ball:")
    for goal in report["goals"]:
        errors = []
        if goal["position_error"]:
            errors.append(length(goal["position_error"]["max"]))
        if goal["rotation_error"]:
            errors.append(f"{goal['rotation_error']['max']:.2f} degrees")
        kept = "stays where the walk has it" if goal["kind"] == "pin" else "is on the ball"
        begin, end = goal["frames"]
        print(
            f"  {goal['bone']:10} {kept if goal['met'] else 'is NOT met'}, frames {begin} to {end}: "
            f"at most {' and '.join(errors)} off"
        )
    for explanation in report["explanations"]:
        print(f"  {explanation}")
    spent = report["seconds"]
    print(
        f"  Solved in {1000.0 * spent['solve']:.0f} ms, with reading and writing keys {sum(spent.values()):.2f} s; ",
        end="",
    )
    print(f"all of this demo took {seconds:.0f} s.")
    for path in files:
        print(f"  {path}")


def caption(frame: int, begin: int, end: int, gap: float) -> str:
    """What is to be seen in a tile; from `begin` to `end` the hand should be on the ball."""
    if begin <= frame <= end:
        return f"frame {frame}: {length(gap)} off the ball"
    return f"frame {frame}: easing {'in' if frame < begin else 'out'}"


def length(metres: float) -> str:
    return f"{1000.0 * metres:.2f} mm" if metres < 0.01 else f"{100.0 * metres:.0f} cm"


if __name__ == "__main__":
    standalone.leave(main(sys.argv[1:]))
