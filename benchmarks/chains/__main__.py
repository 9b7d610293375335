"""W3: chains of 4 and 10 ball joints, 1,000 targets in reach from near straight, beside three.js and Blender's IK.

    python -m benchmarks.chains                 Poise, and Blender if `bpy` is installed
    python -m benchmarks.chains --three FOLDER  three.js, too: npm install --prefix FOLDER three
    python -m benchmarks.chains --json FILE     the figures as JSON, too
    python -m benchmarks.chains --images DIR    pictures of the spread and of the presets, with matplotlib
    python -m benchmarks.chains --smoke         a few targets, once: that it runs, no figures

A target is solved when the tip is within 1 mm. Plain CCD, ours and three.js's, stops there or after 50 sweeps from the
tip. The clock runs from the start pose in hand to the rotations in hand: for Blender that is an update of the scene,
for the "whole solve" everything from poses to a checked Solution. Every round runs all solvers, each time beginning
with another; figures are medians, only their ratios can be compared with another day's.

The spread is that of an arm: of all that its joints turn, how much each does; see docs/contribution.md.
"""

import gc
import importlib.util
import os
import statistics
import sys
from pathlib import Path
from typing import Any, Final

from .. import report
from . import with_poise
from .spread import spread
from .with_three import Three
from .work import TOLERANCE, Solver, Work, chains, errors

TARGETS: Final = 1000
SMOKE_TARGETS: Final = 20
ROUNDS: Final = 7
# solver, what it is measured against, at most so many times as long; a share below 1 is that much faster
BARS: Final = (("Poise, plain CCD", 6.0), ("Poise, finisher alone", 2.0), ("Poise, finisher alone, batch", 0.1))
ALL_SOLVED: Final = ("finisher", "shipped")


def measure(works: list[Work], table: list[list[Solver]], rounds: int) -> list[dict[str, Any]]:
    """Every solver on every chain, round after round."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        for work, solvers in zip(works, table, strict=True):
            for turn in range(len(solvers)):
                solver = solvers[(turn + number) % len(solvers)]
                gc.collect()
                gc.disable()
                seconds.setdefault((work.name, solver.name), []).append(solver.run())
                gc.enable()
    rows: list[dict[str, Any]] = []
    for work, solvers in zip(works, table, strict=True):
        for solver in solvers:
            missing = errors(work, solver.answers())
            rows.append({
                "chain": work.name,
                "solver": solver.name,
                "microseconds": 1e6 * statistics.median(seconds[work.name, solver.name]) / len(work.targets),
                "solved": float((missing <= TOLERANCE * (1.0 + 1e-6)).mean()),
                "worst_mm": 1e3 * float(missing.max()),
            })  # fmt: skip
    return rows


def bars(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Poise against three.js, where that was run, and against its claim to solve everything."""
    checks: list[dict[str, Any]] = []
    for chain in dict.fromkeys(row["chain"] for row in rows):
        here = {row["solver"]: row for row in rows if row["chain"] == chain}
        three = next((row for name, row in here.items() if name.startswith("three.js")), None)
        for name, bar in BARS if three is not None else ():
            ratio = here[name]["microseconds"] / three["microseconds"]  # pyright: ignore
            text = f"{chain}: {name} takes {ratio:.2f} of three.js's time, at most {bar:g} wanted"
            checks.append(report.bar(text, ratio, ratio <= bar))
        share = min(row["solved"] for name, row in here.items() if any(word in name for word in ALL_SOLVED))
        checks.append(report.bar(f"{chain}: {share:.1%} solved with the finisher", share, share == 1.0))
    return checks


def table(rows: list[dict[str, Any]], spreads: list[dict[str, Any]]) -> str:
    lines: list[str] = []
    for chain in dict.fromkeys(row["chain"] for row in rows):
        lines.append(f"\n{chain:36}{'us a target':>12}{'solved':>9}{'worst':>12}")
        lines += [f"  {row['solver']:34}{row['microseconds']:12.1f}{row['solved']:9.1%}{row['worst_mm']:9.3f} mm"
                  for row in rows if row["chain"] == chain]  # fmt: skip
    columns = "".join(f"{name:>12}" for name in ("largest", "variance", "turned"))
    lines.append(f"\n{'arm: shares of the rotation':36}{columns}{'solved':>9}  by joint")
    for row in spreads:
        by_joint = " ".join(f"{100.0 * share:3.0f}" for share in row["mean_shares"])
        lines.append(
            f"  {row['method']:34}{row['largest_share']['median']:12.2f}{row['variance']:12.3f}"
            f"{row['degrees_in_all']:8.0f} deg{row['solved']:9.1%}  {by_joint} %"
        )
    return "\n".join(lines)


def main() -> int:
    parser = report.options("benchmarks.chains", __doc__, ROUNDS)
    parser.add_argument("--three", metavar="FOLDER", type=Path, help="where npm installed three")
    parser.add_argument("--images", metavar="DIR", type=Path, help="draw there")
    options = parser.parse_args()
    rounds, out = report.rounds_of(parser, options, ROUNDS), report.table_goes_to(options)

    works = chains(SMOKE_TARGETS if options.smoke else TARGETS)
    solvers_of: list[list[Solver]] = [with_poise.solvers(work) for work in works]
    threes = [] if options.three is None else [Three(work, options.three) for work in works]
    for solvers, three in zip(solvers_of, threes, strict=False):
        solvers.append(three)
    if options.three is None:
        print("three.js is missing: npm install --prefix FOLDER three, then --three FOLDER", file=out)
    blender: list[Solver] = []
    rows_of_blender: list[dict[str, Any]] = []
    if importlib.util.find_spec("bpy"):
        from .with_blender import Blender

        for work in works:  # one scene at a time, so these chains are gone through once more
            rows_of_blender += measure([work], [[Blender(work)]], 1)
        blender = [Blender(works[0])]
    else:
        print("Blender is missing: pip install bpy", file=out)
    rows = measure(works, solvers_of, rounds) + rows_of_blender
    for three in threes:
        three.close()
    spreads = spread(works[0], blender)

    print(f"\n{report.machine_line(rounds)}\n{table(rows, spreads)}", file=out)
    report.finish(options, [] if options.smoke else bars(rows), out, rounds=rounds, rows=rows, spread=spreads)
    if options.images is not None:
        from .plots import draw

        for file in draw(spreads, options.images):
            print(f"drawn: {file}", file=out)
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # Blender's own exit handlers may hang where bpy is a module
