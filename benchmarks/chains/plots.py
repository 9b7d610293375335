"""The pictures of docs/contribution.md."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from .. import report

INK, QUIET = "#1f2933", "#9aa5b1"
COLOURS: Final = ("#2563eb", "#0d9488", "#d97706", "#9333ea", "#be123c")
LINES: Final = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))


def pyplot_for() -> Any:
    """pyplot in the style of the docs."""
    pyplot = report.pyplot()
    pyplot.rcParams.update({
        "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": QUIET,
        "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK, "svg.hashsalt": "poise",
    })  # fmt: skip
    return pyplot


def draw(spreads: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Left: the mean share of each joint. Right: targets whose largest share is at most x."""
    pyplot = pyplot_for()
    folder.mkdir(parents=True, exist_ok=True)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.0, 3.8))
    joints = ("clavicle", "shoulder", "elbow", "wrist")
    for place, row in enumerate(reversed(spreads)):
        start = 0.0
        for joint, (share, colour) in enumerate(zip(row["mean_shares"], COLOURS, strict=False)):
            left.barh(place, share, left=start, color=colour, label=joints[joint] if not place else None)
            start += share
        left.text(1.01, place, f"{row['degrees_in_all']:.0f}°", va="center", fontsize=8)
    left.set_yticks(range(len(spreads)), [row["method"].replace(", ", ",\n") for row in reversed(spreads)], fontsize=8)
    left.set(xlabel="mean share of all that is turned (and how much that is)", xlim=(0.0, 1.0))
    left.legend(frameon=False, ncols=4, fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    for row, line, colour in zip(spreads, LINES, COLOURS, strict=False):
        largest = np.array(row["largest_shares"])
        share = 100.0 * np.arange(1, len(largest) + 1) / len(largest)
        label = f"{row['method']} (variance {row['variance']:.3f})"
        right.step(largest, share, color=colour, ls=line, lw=1.4, label=label)
    right.axvline(0.25, color=QUIET, lw=1.0)
    right.set(
        xlabel="largest share of a joint (0.25: all alike)", ylabel="% of targets", xlim=(0.2, 1.0), ylim=(0.0, 101.0)
    )
    right.legend(frameon=False, fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    figure.tight_layout()
    return [report.save(figure, folder / "contribution_spread.png", 130)]
