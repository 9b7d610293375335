"""Contact sheets: a row a rig, a column a moment, from the front and from the left; needs matplotlib."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from .. import report
from ..chains.plots import COLOURS, INK, QUIET, pyplot_for
from ..work import Array

MOMENTS: Final = ("press", "1/3", "2/3", "far end", "mouse stopped there", "back")
_PIN, _TARGET = COLOURS[4], COLOURS[2]
_VIEWS: Final = ((0, -1.0), (2, 1.0))  # axis that goes right, and its sign: from the front and from the left
_AT_TARGET: Final = ("far end", "mouse stopped there")
_MARGIN: Final = 12.0  # centimetres


def draw(title: str, rows: Mapping[str, Any], before: Mapping[str, Any], file: Path) -> Path:
    """One sheet of the rows of a drag, by rig; those of before are drawn in grey below, else the press."""
    count, across = len(rows), len(MOMENTS) * len(_VIEWS)
    figure, axes = pyplot_for().subplots(
        count, across, figsize=(1.25 * across, high := 2.3 * count + 0.6), squeeze=False
    )
    for panels, (rig, row) in zip(axes, rows.items(), strict=True):
        earlier = before.get(rig)
        figures = np.array(row["figures"])
        ghosts = np.array(earlier["figures"]) if earlier else np.broadcast_to(figures[:1], figures.shape)
        places = np.concatenate([figures.reshape(-1, 3), ghosts.reshape(-1, 3), [row["target"]]])
        for number, panel in enumerate(panels):
            moment, view = divmod(number, len(_VIEWS))
            _panel(panel, row, figures[moment], ghosts[moment], places, view, MOMENTS[moment])
        panels[0].text(-0.05, 0.5, rig, transform=panels[0].transAxes, rotation=90, ha="right", va="center", color=INK)
    for moment, name in enumerate(MOMENTS):
        axes[0, len(_VIEWS) * moment].set_title(name, fontsize=9, loc="left")
    grey = "before" if before else "at the press"
    figure.suptitle(f"{title}: from the front and from the left; grey: {grey}; red: pins; orange: the target",
                    fontsize=10, x=0.01, ha="left")  # fmt: skip
    figure.tight_layout(rect=(0.01, 0.0, 1.0, 1.0 - 0.3 / high), pad=0.2)
    return report.save(figure, file, 100)


def _panel(panel: Any, row: Any, now: Array, ghost: Array, places: Array, view: int, moment: str) -> None:
    axis, sign = _VIEWS[view]
    for heads, colour, width in ((ghost, QUIET, 2.6), (now, COLOURS[0], 1.4)):
        for pair in row["bones"]:
            panel.plot(sign * heads[pair, axis], heads[pair, 1], color=colour, linewidth=width, solid_capstyle="round")
    for pin in row["pins"]:
        panel.plot(sign * pin[axis], pin[1], "s", color=_PIN, markersize=3.5)
    if moment in _AT_TARGET:
        panel.plot(sign * row["target"][axis], row["target"][1], "+", color=_TARGET, markersize=9, markeredgewidth=1.8)
    right = sign * places[:, axis]
    panel.set(
        xlim=(right.min() - _MARGIN, right.max() + _MARGIN),
        ylim=(places[:, 1].min() - _MARGIN, places[:, 1].max() + _MARGIN),
    )
    panel.set_aspect("equal")
    panel.axis("off")
