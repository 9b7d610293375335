"""How time and memory grow with bones, goals and frames.

    python -m benchmarks.growth                   three tables
    python -m benchmarks.growth --json FILE       the figures as JSON, too; "-" is standard output
    python -m benchmarks.growth --image FILE.png  a picture, with matplotlib
    python -m benchmarks.growth --smoke           the smallest of each, once: that it runs, no figures

Bones and goals: one frame of a root with limbs of equal length, whose tips are led to where a random pose has them;
the joints of a limb turn by up to 6 degrees in all. 4 limbs for the bones, 32 limbs of 6 bones for the goals. Frames:
the bake of W2 on a body of 23 bones with limits. Processor time, the quickest of some turns; memory is the peak of
what Python and numpy asked for, in a turn of its own.
"""

import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np

from core import Goal, PinAndDrag, Pose, Skeleton, forward, rotation, solve

from . import report
from .with_poise import Solver
from .work import walk

BONES: Final = (10, 30, 100, 300, 1000)
GOALS: Final = (1, 2, 4, 8, 16, 32)
FRAMES: Final = (1, 10, 100, 1000, 10_000, 100_000)
LIMBS: Final = 4
TURN: Final = np.radians(6.0)
LONG: Final = 1.0  # seconds: what takes longer is run once
ROUNDS: Final = 5
DRAWN: Final = {"milliseconds": "ms of the processor", "peak_mib": "MiB at the peak"}
MIB: Final = 2.0**20


def limbs(bones: int, count: int) -> Skeleton:
    """A root from which `count` limbs of a metre go out in a circle; `bones` in all, more or less."""
    each = max(1, (bones - 1) // count)
    parents, offsets = [-1], [[0.0, 0.0, 0.0]]
    turns, lengths = [rotation.IDENTITY], [0.1]
    for limb in range(count):
        for bone in range(each):
            parents.append(len(parents) - 1 if bone else 0)
            offsets.append([0.0, 1.0 / each if bone else 0.0, 0.0])
            angle = 0.0 if bone else 2.0 * np.pi * limb / count
            turns.append(rotation.from_axis_angle([0.0, 0.0, 1.0], angle))
            lengths.append(1.0 / each)
    names = tuple(f"bone{number}" for number in range(len(parents)))
    return Skeleton(names, np.array(parents), np.array(offsets), np.array(turns), np.array(lengths))


def led(bones: int, count: int, goals: int) -> Callable[[], Any]:
    """The solve of one frame that leads `goals` tips."""
    skeleton = limbs(bones, count)
    rng = np.random.default_rng(bones + goals)
    each = (len(skeleton) - 1) // count
    rest = Pose.rest(skeleton)
    turned = rotation.exp(rng.uniform(-TURN, TURN, (len(skeleton), 3)) / np.sqrt(each))
    heads, _ = forward(skeleton, Pose(turned, rest.translations))
    wanted = [Goal(tip, heads[tip]) for tip in (each * (limb + 1) for limb in range(goals))]
    method = PinAndDrag(settle=False)
    return lambda: solve(skeleton, rest, wanted, method)


def baked(frames: int) -> Callable[[], Any]:
    solver = Solver(walk("body", frames))
    solver.start()
    return solver.run


def measure(act: Callable[[], Any], rounds: int) -> dict[str, float]:
    """Milliseconds of the processor, and MiB at the peak."""
    found: list[float] = []
    while len(found) < rounds and (not found or found[-1] < LONG):
        begin = process_time()
        act()
        found.append(process_time() - begin)
    tracemalloc.start()
    act()
    peak = tracemalloc.get_traced_memory()[1] / MIB
    tracemalloc.stop()
    return {"milliseconds": 1e3 * min(found), "peak_mib": peak}


def draw(rows: dict[str, list[dict[str, Any]]], file: Path) -> None:
    """Time and memory by size, a column for each of the three."""
    size = {"figsize": (9.0, 5.0), "layout": "constrained", "sharey": "row", "squeeze": False}
    figure, axes = report.pyplot().subplots(2, len(rows), **size)
    for column, (what, found) in enumerate(rows.items()):
        sizes = [row[what] for row in found]
        for place, (key, label) in enumerate(DRAWN.items()):
            plot = axes[place, column]
            plot.loglog(sizes, [row[key] for row in found], "o-", color="#c2571a")
            plot.grid(True, which="major", alpha=0.3)
            plot.set_xlabel(what)
            if not column:
                plot.set_ylabel(label)
    report.save(figure, file, 100)


def main() -> int:
    parser = report.options("benchmarks.growth", __doc__, ROUNDS)
    parser.add_argument("--image", metavar="FILE", type=Path, help="draw there")
    chosen = parser.parse_args()
    rounds, out = report.rounds_of(parser, chosen, ROUNDS), report.table_goes_to(chosen)
    works: dict[str, tuple[tuple[int, ...], Callable[[int], Callable[[], Any]]]] = {
        "bones": (BONES, lambda size: led(size, LIMBS, LIMBS)),
        "goals": (GOALS, lambda size: led(1 + 32 * 6, 32, size)),
        "frames": (FRAMES, baked),
    }
    print(report.machine_line(rounds).replace("median", "quickest"), file=out)
    rows: dict[str, list[dict[str, Any]]] = {}
    for what, (sizes, make) in works.items():
        print(f"\n{what:>9}{'ms':>12}{'ms each':>12}{'MiB':>10}", file=out)
        for size in sizes[:1] if chosen.smoke else sizes:
            row = {what: size, **measure(make(size), rounds)}
            rows.setdefault(what, []).append(row)
            took = row["milliseconds"]
            print(f"{size:9,}{took:12.2f}{took / size:12.4f}{row['peak_mib']:10.2f}", file=out, flush=True)
    if chosen.image:
        draw(rows, chosen.image)
    report.finish(chosen, [], out, rounds=rounds, rows=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
