"""The pictures of docs/measured/quality.md, from the figures of a run."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from .. import report
from ..chains.plots import COLOURS, INK, QUIET, pyplot_for

BAR: Final = "#c2410c"
FINEST: Final = 1e-4  # millimetres: what is below is drawn there


def draw(figures: dict[str, Any], folder: Path) -> list[Path]:
    """Writes what the figures have; returns the files."""
    pyplot = pyplot_for()
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    if "reachable" in figures:
        files.append(_errors(pyplot, figures, folder / "quality_errors.png"))
    if "arms" in figures:
        files.append(_arms(pyplot, figures["arms"], folder / "quality_arms.png"))
    return files


def _errors(pyplot: Any, figures: dict[str, Any], file: Path) -> Path:
    """Left: problems that are off by more than x. Right: how much more than the least is left of unreachable goals."""
    both = "unreachable" in figures
    figure, axes = pyplot.subplots(1, 2 if both else 1, figsize=(9.0 if both else 4.6, 3.4), squeeze=False)
    left = axes[0, 0]
    for row, colour in zip(figures["reachable"]["rows"], COLOURS, strict=False):
        errors = np.sort(np.maximum(1e3 * np.array(row["position_errors"]), FINEST))
        left.step(errors, 100.0 * np.arange(1, len(errors) + 1) / len(errors), color=colour, label=row["body"], lw=1.4)
    left.axvline(1.0, color=BAR, lw=1.0, ls="--")
    left.set(
        xscale="log", xlabel="worst position error, mm of a 1.7 m human", ylabel="% of problems", ylim=(0.0, 101.0)
    )
    left.set_title(f"{figures['reachable']['problems']:,} reachable problems from rest", fontsize=10, loc="left")
    left.legend(loc="center right", framealpha=1.0, edgecolor="none")
    if both:
        right = axes[0, 1]
        ratios = np.sort(np.concatenate([case["ratios"] for case in figures["unreachable"]["cases"]]))
        excess = np.maximum(100.0 * (ratios - 1.0), FINEST)
        right.step(excess, 100.0 * np.arange(1, len(excess) + 1) / len(excess), color=COLOURS[0], lw=1.4)
        right.axvline(1.0, color=BAR, lw=1.0, ls="--")
        right.set(xscale="log", xlabel="distance left, % more than the best of scipy", ylim=(0.0, 101.0))
        right.set_title(f"{len(ratios):,} problems out of reach", fontsize=10, loc="left")
    figure.tight_layout()
    return report.save(figure, file, 130)


def _arms(pyplot: Any, arms: dict[str, Any], file: Path) -> Path:
    rows = sorted(arms["rows"], key=lambda row: -row["microseconds"])
    figure, axis = pyplot.subplots(figsize=(7.0, 0.5 * len(rows) + 1.1))
    mine = [row["solver"].startswith("Poise") for row in rows]
    times = [row["microseconds"] for row in rows]
    places = np.arange(len(rows))
    axis.hlines(places, 1.0, times, color=QUIET, lw=0.8)
    axis.scatter(times, places, color=[COLOURS[0] if m else INK for m in mine], s=45, zorder=3)
    for place, time, row in zip(places, times, rows, strict=True):
        axis.annotate(
            f"{time:,.0f} µs, {row['solved']:.1%}", (time, place), (9, 0), textcoords="offset points", va="center"
        )
    axis.set_yticks(places, [row["solver"] for row in rows])
    axis.set(
        xlabel="microseconds per pose",
        xscale="log",
        xlim=(min(times) / 2.0, max(times) * 8.0),
        ylim=(-0.6, len(rows) - 0.4),
    )
    axis.set_title("7-joint arm with limits: time per pose, share solved", fontsize=10, loc="left")
    figure.tight_layout()
    return report.save(figure, file, 130)
