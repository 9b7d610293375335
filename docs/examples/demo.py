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
    import scene

    import commands

    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)
    source, job, result, report_file, sheet = (
        folder / f"demo{end}" for end in ("_input.blend", "_job.json", ".blend", "_report.json", ".png")
    )
    preferences: Any = bpy.context.preferences
    preferences.filepaths.save_version = 0  # no demo.blend1

    scene.make_scene()
    bpy.ops.wm.save_as_mainfile(filepath=str(source), compress=True)
    shutil.copyfile(JOB, job)

    verb = ["solve", "--blend", source, "--job", job, "--output", result, "--report", report_file]
    code = commands.run([str(word) for word in verb])
    if code not in (0, 1):  # nothing is written
        return code
    report = json.loads(report_file.read_text(encoding="utf-8"))

    bpy.ops.wm.open_mainfile(filepath=str(result))
    show(report, sheet, options.tiles, options.samples)
    bpy.ops.wm.save_as_mainfile(filepath=str(result), compress=True)
    tell(report, perf_counter() - started, [result, report_file, *([sheet] if options.tiles else [])])
    return code


def show(report: dict[str, Any], sheet: Path, tiles: int, samples: int) -> None:
    """Add the hand's ways to the file that is open, and make the picture."""
    import numpy as np
    import picture
    import scene

    goals = json.loads(JOB.read_text(encoding="utf-8"))["goals"]
    palm, on_ball = next(
        (goal["point"], told["frames"])
        for goal, told in zip(goals, report["goals"], strict=True)
        if goal["bone"] == scene.HAND
    )
    first, last = report["frames"]
    frames = range(first, last + 1)
    before, after = (scene.places(frames, name, scene.HAND, palm) for name in (scene.BEFORE, scene.WALKER))
    scene.add_paths(before, after)
    if tiles:
        gaps = np.linalg.norm(after - scene.places(frames, scene.BALL), axis=1)
        shown = np.linspace(first + 5, last - 4, tiles).round().astype(int).tolist()
        captions = [caption(frame, on_ball, gaps[frame - first]) for frame in shown]
        picture.draw(sheet, shown, captions, samples)
    scene.tidy()


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A captured walk, a hand on a moving ball, and a picture of it.")
    parser.add_argument("--output", type=Path, default=ROOT / "build", help="folder for the results (build)")
    parser.add_argument("--tiles", type=int, default=8, help="frames in the picture; 0: no picture")
    parser.add_argument("--samples", type=int, default=12, help="rays for each of its pixels")
    return parser.parse_args(argv)


def tell(report: dict[str, Any], seconds: float, files: list[Path]) -> None:
    """What was done, in a few lines."""
    first, last = report["frames"]
    print(f"\nPoise changed a captured walk, frames {first} to {last}, so that its right hand follows a ball:")
    for goal in report["goals"]:
        place, turn = goal["position_error"], goal["rotation_error"]
        errors = [length(place["max"])] if place else []
        errors += [f"{turn['max']:.2f} degrees"] if turn else []
        done = "stays as the walk has it" if goal["kind"] == "pin" else "is on the ball"
        begin, end = goal["frames"]
        print(
            f"  {goal['bone']:9} {done if goal['met'] else 'is NOT where it should be'}, "
            f"frames {begin} to {end}, {' and '.join(errors)} off at most"
        )
    for explanation in report["explanations"]:
        print(f"  {explanation}")
    spent = report["seconds"]
    print(
        f"Solved in {spent['solve']:.2f} s, with reading and keys {sum(spent.values()):.2f} s; in all {seconds:.0f} s:"
    )
    for path in files:
        print(f"  {path}")


def caption(frame: int, on_ball: list[int], gap: Any) -> str:
    """What a tile shows; `on_ball`: the first and the last frame in which the hand should be on the ball."""
    first, last = on_ball
    if first <= frame <= last:
        return f"frame {frame}: {length(gap)} off the ball"
    return f"frame {frame}: easing {'in' if frame < first else 'out'}"


def length(metres: float) -> str:
    return f"{1000.0 * metres:.2f} mm" if metres < 0.01 else f"{100.0 * metres:.0f} cm"


if __name__ == "__main__":
    standalone.leave(main(sys.argv[1:]))
