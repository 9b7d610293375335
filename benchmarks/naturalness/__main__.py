"""How natural a pose is that is solved from six points, five, or five places, beside the real motion they are from.

python -m benchmarks.naturalness            all sets and methods, some minutes; Blender's IK in a Python with bpy
python -m benchmarks.naturalness --stride N every N-th frame only
python -m benchmarks.naturalness --worst FILE.png --methods pins --cases B    the worst frames of a run, as a picture
"""

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Final

from core import PinAndDrag, Pose, solve
from core.humanoid.anatomy import with_anatomy
from core.solvers.humanoid import Humanoid

from .measure import compare, figures, goals_of
from .motion import DATA, EFFECTORS, Frames, load, start_poses
from .worst import draw_worst

SETS: Final = {
    "walks": ("cmu_mb_val", 20, ()),
    "dance": ("cmu_mb_train", 40, ("5",)),
    "salsa": ("cmu_daz_train", 200, ("60", "94")),
}


def pins(frames: Frames, case: str) -> Pose:
    """Poise's pins with the anatomy, as the drag tool has it."""
    start = start_poses(frames, case)
    skeleton, method = with_anatomy(frames.skeleton, PinAndDrag(), frames.roles, start)
    return solve(skeleton, start, goals_of(frames, case), method).pose


def plain(frames: Frames, case: str) -> Pose:
    """Damped least squares that know nothing of a body."""
    return solve(frames.skeleton, start_poses(frames, case), goals_of(frames, case), PinAndDrag()).pose


def humanoid(frames: Frames, case: str) -> Pose:
    return solve(frames.skeleton, start_poses(frames, case), goals_of(frames, case), Humanoid(roles=frames.roles)).pose


def ranges(frames: Frames, case: str) -> Pose:
    """Pins with the ranges of all joints, which the drag tool has if they are on."""
    start = start_poses(frames, case)
    skeleton, method = with_anatomy(frames.skeleton, PinAndDrag(), frames.roles, start, ranges=True)
    return solve(skeleton, start, goals_of(frames, case), method).pose


def blender(frames: Frames, case: str) -> Pose:
    """Blender's IK constraints."""
    from .with_blender import solve_in_blender  # there may be no bpy

    return solve_in_blender(frames, case)


METHODS: Final[dict[str, Callable[[Frames, str], Pose]]] = {
    "blender": blender,
    "plain": plain,
    "pins": pins,
    "ranges": ranges,
    "humanoid": humanoid,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    methods = [name for name in METHODS if name != "blender" or find_spec("bpy") is not None]
    parser.add_argument("--stride", type=int)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=methods)
    parser.add_argument("--cases", nargs="+", choices=EFFECTORS, default=list(EFFECTORS))
    parser.add_argument("--worst", type=Path, metavar="FILE.png", help="draw the worst frames of the first method")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"Nothing was measured: the motion packs are not in {DATA.name} of the data beside the project.")
        return
    if options.worst is not None:
        parts = [part for name in options.sets for part in load(SETS[name][0], options.stride or SETS[name][1],
                                                                SETS[name][2])]  # fmt: skip
        case, method = options.cases[0], METHODS[options.methods[0]]
        print("\n".join(draw_worst([(part, method(part, case)) for part in parts], case, options.worst)))
        return
    print(
        f"{'set':8}{'case':5}{'method':10}{'frames':>7}{'mm':>8}{'deg':>7}{'elbows':>8}{'knees':>7}{'met':>7}{'wrong':>7}{'ms':>8}"
    )
    for name in options.sets:
        pack, stride, subjects = SETS[name]
        parts = load(pack, options.stride or stride, subjects)
        for case in options.cases:
            for method in options.methods:
                begin = perf_counter()
                found = figures([(part, compare(part, case, METHODS[method](part, case))) for part in parts])
                seconds = perf_counter() - begin
                print(
                    f"{name:8}{case:5}{method:10}{found.frames:7}{found.position:8.1f}{found.angle:7.1f}"
                    f"{found.elbows:8.1f}{found.knees:7.1f}{found.met:7.1%}{found.wrong_bends:7.1%}"
                    f"{1e3 * seconds / found.frames:8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
