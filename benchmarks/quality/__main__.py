"""How well Poise solves: reachable and unreachable goals, an arm beside TRAC-IK, strict levels beside a QP solver.

    python -m benchmarks.quality                everything that the installed libraries allow, about half an hour
    python -m benchmarks.quality --peers        fails if one is missing: the group `quality` of pyproject.toml
    python -m benchmarks.quality --parts arms   some of: reachable, arms, unreachable, levels
    python -m benchmarks.quality --problems N   reachable problems in all (default 10,000)
    python -m benchmarks.quality --json FILE    the figures as JSON, too; "-" is standard output
    python -m benchmarks.quality --images DIR   where pictures go (default docs/images; none with --smoke)
    python -m benchmarks.quality --smoke        a few problems of each: that it runs, no figures

Seeds are fixed, failures are listed in the JSON with what is needed to draw them again. No solver's word is taken for
what it reached: each part says how it is judged, in its file.
"""

import argparse
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np

from .. import report
from . import arms, levels, ours, plots, reachable, unreachable
from .bodies import KINDS

PARTS: Final = ("reachable", "arms", "unreachable", "levels")
# module -> what is left out without it
LIBRARIES: Final = {
    "pytracik": "TRAC-IK",
    "optik": "optik",
    "scipy": "unreachable",
    "qpsolvers": "levels",
    "matplotlib": "pictures",
}
REACHABLE_BAR: Final = 0.995
ONE_START_SHARE: Final = 10  # every tenth group is solved without restarts, too


def measured(options: argparse.Namespace, missing: dict[str, str], out: Any) -> dict[str, Any]:
    """The figures of the parts that were asked for and can be had."""
    smoke, figures = options.smoke, dict[str, Any]()

    def part(name: str, measure: Callable[[], dict[str, Any]]) -> None:
        if name not in options.parts or name in missing.values():
            return
        print(f"\n{name}", file=out, flush=True)
        begin = perf_counter()
        figures[name] = measure() | {"wall_seconds": perf_counter() - begin}

    groups = max(1, options.problems // (len(KINDS) * reachable.GROUP))
    part(
        "reachable",
        lambda: reachable.measure(1, 1, out, explain=False) if smoke else reachable.measure(groups, progress=out),
    )
    if "reachable" in figures and not smoke:
        print("one start", file=out)
        plain = reachable.measure(max(1, groups // ONE_START_SHARE), explain=False, progress=out, **ours.ONE_START)
        figures["reachable"]["one_start"] = {key: plain[key] for key in ("problems", "solved")}
    part("arms", lambda: arms.measure(2, 1, out) if smoke else arms.measure(progress=out))
    part(
        "unreachable",
        lambda: unreachable.measure(1, 1, out, explain=False) if smoke else unreachable.measure(progress=out),
    )
    part("levels", lambda: levels.measure(1, 1, out) if smoke else levels.measure(progress=out))
    return figures


def bars(figures: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if "reachable" in figures:
        share = figures["reachable"]["solved"]
        count = f"{figures['reachable']['problems']:,}"
        text = f"{share:.2%} of {count} reachable problems solved, {REACHABLE_BAR:.1%} wanted"
        found.append(report.bar(text, share, share >= REACHABLE_BAR))
    if "arms" in figures:
        share = min(row["solved"] for row in figures["arms"]["rows"] if row["solver"].startswith("Poise"))
        found.append(report.bar(f"{share:.2%} of the arm's poses solved, all wanted", share, share == 1.0))
    if "unreachable" in figures:
        worst, share = figures["unreachable"]["ratio_worst"], figures["unreachable"]["within_1_percent"]
        text = f"out of reach: {share:.1%} within 1 % of scipy's best, worst ratio {worst:.3f}, all wanted"
        found.append(report.bar(text, share, share == 1.0))
    if "levels" in figures:
        share = figures["levels"]["passed"]
        text = f"strict levels: {share:.1%} pass the QP solver's check, all wanted"
        found.append(report.bar(text, share, share == 1.0))
    return found


def main() -> int:
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=summary)
    parser.add_argument("--peers", action="store_true", help="fail if a library to compare with is not installed")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="only these")
    parser.add_argument("--problems", type=int, default=reachable.COUNT, help="reachable problems (default 10,000)")
    parser.add_argument("--json", metavar="FILE", help='write the figures as JSON; "-" is standard output')
    parser.add_argument("--images", metavar="DIR", type=Path, help="where pictures go (default docs/images)")
    parser.add_argument("--smoke", action="store_true", help="a few problems of each: that it runs, no figures")
    options = parser.parse_args()
    out = report.table_goes_to(options)

    missing = {name: what for name, what in LIBRARIES.items() if importlib.util.find_spec(name) is None}
    for name, what in missing.items():
        print(f"{name} is missing, {what} is left out: see the group `quality` in pyproject.toml", file=out)
    if missing and options.peers:
        return 1
    figures = measured(options, missing, out)
    folder = options.images or (None if options.smoke else Path(__file__).resolve().parents[2] / "docs" / "images")
    if folder is not None and "matplotlib" not in missing:
        for file in plots.draw(figures, folder):
            print(f"wrote {file.name}", file=out)
    print(file=out)
    checks = [] if options.smoke else bars(figures)
    report.finish(options, checks, out, numpy=np.__version__, missing=missing, figures=figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
