"""How natural a pose is that is solved from six points, five, or five places, beside the real motion they are from.

python -m benchmarks.naturalness            all sets and methods, some minutes; Blender's IK in a Python with bpy
python -m benchmarks.naturalness --stride N every N-th frame only
python -m benchmarks.naturalness --clips N  accelerations over whole clips, beside the truth's
python -m benchmarks.naturalness --worst FILE.png --methods pins --cases B    the worst frames of a run, as a picture
"""

import argparse
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np

from core import PinAndDrag, Pose, solve
from core.body.anatomy import Tuning, anatomy, with_anatomy, with_root_of
from core.body.tuning import learn_tuning, turns_of
from core.solvers.humanoid import Humanoid

from .calm import Method, accelerations, cold, warm
from .measure import compare, figures, goals_of, is_sound
from .motion import DATA, EFFECTORS, Frames, load, start_poses
from .worst import draw_worst

SETS: Final = {
    "walks": ("cmu_mb_val", 20, ()),
    "dance": ("cmu_mb_train", 40, ("5",)),
    "salsa": ("cmu_daz_train", 200, ("60", "94")),
}


def pins(frames: Frames, case: str, start: Pose | None = None) -> Pose:
    """Poise's pins with the anatomy, but for the ranges of joints."""
    return _pinned(frames, case, start)


def ranges(frames: Frames, case: str, start: Pose | None = None) -> Pose:
    """Pins with the ranges of all joints, too: what the drag tool has."""
    return _pinned(frames, case, start, ranges=True)


def tuned(frames: Frames, case: str, start: Pose | None = None) -> Pose:
    """Pins with what was learned from the training motion of other people on the same rig."""
    return _pinned(frames, case, start, tuning=tuning_of_family(frames.family))


def _pinned(frames: Frames, case: str, start: Pose | None, **more: Any) -> Pose:
    start = start or _start(frames, case)
    method = PinAndDrag(reference=frames.before)
    skeleton, method = with_anatomy(frames.skeleton, method, frames.roles, start, **more)
    return solve(skeleton, start, goals_of(frames, case), method).pose


def panel(frames: Frames, case: str, start: Pose | None = None) -> Pose:
    """What Solve Here of the panel gives: a pulled root that begins where the start has it."""
    start = start or _relaxed(frames, case)
    method = PinAndDrag(root="pull", reference=start)
    skeleton, method = with_anatomy(frames.skeleton, method, frames.roles, start, ranges=True)
    return solve(skeleton, start, goals_of(frames, case), method).pose


def plain(frames: Frames, case: str, start: Pose | None = None) -> Pose:
    """Damped least squares that know nothing of a body."""
    start = start or _start(frames, case)
    return solve(frames.skeleton, start, goals_of(frames, case), PinAndDrag()).pose


def humanoid(frames: Frames, case: str, start: Pose | None = None) -> Pose:
    start = start or _start(frames, case)
    return solve(frames.skeleton, start, goals_of(frames, case), Humanoid(roles=frames.roles)).pose


def _start(frames: Frames, case: str) -> Pose:
    return start_poses(frames, case) if frames.before is None else frames.before


def _relaxed(frames: Frames, case: str) -> Pose:
    """The relaxed pose with the root of the start."""
    relaxed = anatomy(frames.skeleton, frames.roles).reference
    return with_root_of(relaxed, frames.skeleton, _start(frames, case), frames.roles)


def blender(frames: Frames, case: str, start: Pose | None = None) -> Pose:
    """Blender's IK constraints, which know no start."""
    from .with_blender import solve_in_blender  # there may be no bpy

    return solve_in_blender(frames, case)


@cache
def tuning_of_family(family: str) -> Tuning:
    """From the family's training motion, without the people that are evaluated."""
    left_out = {subject for pack, _, subjects in SETS.values() if pack.startswith(family) for subject in subjects}
    parts = [part for part in load(f"{family}_train", 1) if part.subject not in left_out]
    turns = np.concatenate([turns_of(part.skeleton, part.roles, part.pose) for part in parts])
    return learn_tuning(parts[0].skeleton, parts[0].roles, turns)


def from_relaxed(method: Method) -> Method:
    """The method, started from the relaxed pose with the root of the rest pose."""

    def solved(frames: Frames, case: str, start: Pose | None = None) -> Pose:
        return method(frames, case, start or _relaxed(frames, case))

    return solved


METHODS: Final[dict[str, Method]] = {
    "blender": blender,
    "plain": plain,
    "pins": pins,
    "ranges": ranges,
    "panel": panel,
    "tuned": tuned,
    "humanoid": humanoid,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    methods = [name for name in METHODS if name != "blender" or find_spec("bpy") is not None]
    parser.add_argument("--stride", type=int)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=methods)
    parser.add_argument("--cases", nargs="+", choices=EFFECTORS, default=list(EFFECTORS))
    parser.add_argument("--relaxed", action="store_true", help="start from the relaxed pose, not from the rest pose")
    parser.add_argument("--sound", action="store_true", help="only frames whose head and feet are the right way round")
    parser.add_argument("--ahead", type=float, metavar="S", help="solve from the true pose so many seconds before")
    parser.add_argument("--clips", type=int, metavar="N", help="of N frames of every clip: acceleration, cold and warm")
    parser.add_argument("--worst", type=Path, metavar="FILE.png", help="draw the worst frames of the first method")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"Nothing was measured: the motion packs are not in {DATA.name} of the data beside the project.")
        return
    if options.worst is not None:
        parts = [part for name in options.sets for part in _load(name, options)]
        case, method = options.cases[0], _method(options.methods[0], options)
        print("\n".join(draw_worst([(part, method(part, case, None)) for part in parts], case, options.worst)))
    elif options.clips is not None:
        _print_accelerations(options)
    else:
        _print_errors(options)


def _method(name: str, options: argparse.Namespace) -> Method:
    return from_relaxed(METHODS[name]) if options.relaxed else METHODS[name]


def _load(name: str, options: argparse.Namespace) -> list[Frames]:
    pack, stride, subjects = SETS[name]
    parts = load(pack, options.stride or stride, subjects, ahead=options.ahead)
    parts = [part[is_sound(part)] for part in parts] if options.sound else parts
    return [part for part in parts if len(part.heads)]


def _print_errors(options: argparse.Namespace) -> None:
    print(
        f"{'set':8}{'case':5}{'method':10}{'frames':>7}{'mm':>8}{'deg':>7}{'elbows':>8}{'knees':>7}{'met':>7}{'wrong':>7}{'ms':>8}"
    )
    for name in options.sets:
        parts = _load(name, options)
        if "tuned" in options.methods:
            tuning_of_family(parts[0].family)  # learned once, on nobody's time
        for case in options.cases:
            for method in options.methods:
                begin = perf_counter()
                found = figures(
                    [(part, compare(part, case, _method(method, options)(part, case, None))) for part in parts]
                )
                seconds = perf_counter() - begin
                print(
                    f"{name:8}{case:5}{method:10}{found.frames:7}{found.position:8.1f}{found.angle:7.1f}"
                    f"{found.elbows:8.1f}{found.knees:7.1f}{found.met:7.1%}{found.wrong_bends:7.1%}"
                    f"{1e3 * seconds / found.frames:8.2f}",
                    flush=True,
                )


def _print_accelerations(options: argparse.Namespace) -> None:
    """Of every clip's first frames, or every n-th clip's with a stride."""
    print(f"{'set':8}{'case':5}{'method':10}{'frames':>7}{'cold':>8}{'warm':>8}")
    for name in options.sets:
        pack, _, subjects = SETS[name]
        parts = [part[: options.clips] for part in load(pack, 1, subjects)[:: options.stride or 1]]
        frames = sum(len(part.heads) for part in parts)
        for case in options.cases:
            for method in (name for name in options.methods if name != "blender"):
                ratios: list[float] = []
                for solved in (cold, warm):
                    sums = [accelerations(part, solved(part, case, _method(method, options))) for part in parts]
                    ratios.append(float(np.divide(*np.sum(sums, axis=0))))
                print(f"{name:8}{case:5}{method:10}{frames:7}{ratios[0]:8.2f}{ratios[1]:8.2f}", flush=True)


if __name__ == "__main__":
    main()
