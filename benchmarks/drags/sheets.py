"""Contact sheets: a row a rig, two columns a moment, from the front and from the right; needs matplotlib."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from .. import report
from ..chains.plots import COLOURS, INK, QUIET, pyplot_for
from ..work import Array

MOMENTS: Final = ("press", "1/3", "2/3", "far end", "stopped", "back")
_PIN, _TARGET = COLOURS[4], COLOURS[2]
_VIEWS: Final = (0, 2)  # the axis that goes to the right, from the front and from the right
_AT_TARGET: Final = ("far end", "stopped")
_MARGIN: Final = 8.0  # centimetres
_INCH: Final = 100.0  # centimetres
_TITLE: Final = 0.6  # inches


def draw(title: str, rows: Mapping[str, Any], before: Mapping[str, Any], file: Path) -> Path:
    """One sheet of the rows of a drag, by rig, all to one scale; in grey the rows of before, else the press."""
    ranges = np.array([_range([row, before.get(rig, row)]) for rig, row in rows.items()])  # (rigs, 2, 3)
    lowest, highest = ranges[:, 0].min(axis=0), ranges[:, 1].max(axis=0)
    widths = [highest[axis] - lowest[axis] for axis in _VIEWS] * len(MOMENTS)
    heights = ranges[:, 1, 1] - ranges[:, 0, 1]
    size = (sum(widths) / _INCH, sum(heights) / _INCH + _TITLE)
    ratios = {"width_ratios": widths, "height_ratios": heights}
    figure, axes = pyplot_for().subplots(
        len(rows), len(widths), figsize=size, squeeze=False, gridspec_kw={**ratios, "wspace": 0.0, "hspace": 0.0}
    )
    for panels, (rig, row), (low, high) in zip(axes, rows.items(), ranges, strict=True):
        for number, panel in enumerate(panels):
            moment, view = divmod(number, len(_VIEWS))
            axis = _VIEWS[view]
            ghost = before[rig]["figures"][moment] if rig in before else row["figures"][0]
            _figure(panel, row, np.array(ghost), axis, QUIET, 2.6)
            _figure(panel, row, np.array(row["figures"][moment]), axis, COLOURS[0], 1.4)
            _marks(panel, row, axis, MOMENTS[moment] in _AT_TARGET)
            panel.set(xlim=(lowest[axis], highest[axis]), ylim=(low[1], high[1]))
            panel.axis("off")
        panels[0].text(0.0, 0.5, rig, transform=panels[0].transAxes, rotation=90, ha="right", va="center", color=INK)
    for moment, name in enumerate(MOMENTS):
        axes[0, len(_VIEWS) * moment].set_title(name, fontsize=9, loc="left")
    grey = "before" if before else "at the press"
    figure.suptitle(f"{title}, from the front and from the right. Grey: {grey}; red: pins; orange: the target",
                    fontsize=10, x=0.01, y=1.0 - 0.05 / size[1], ha="left")  # fmt: skip
    figure.subplots_adjust(0.25 / size[0], 0.0, 1.0, 1.0 - _TITLE / size[1])
    return report.save(figure, file, 100)


def _range(rows: list[Any]) -> Array:
    """The lowest and the highest coordinates (2, 3) of all that is drawn."""
    places = np.concatenate([np.reshape(row[part], (-1, 3)) for row in rows for part in ("figures", "target")])
    return np.stack([places.min(axis=0) - _MARGIN, places.max(axis=0) + _MARGIN])


def _figure(panel: Any, row: Any, heads: Array, axis: int, colour: str, width: float) -> None:
    for pair in row["bones"]:
        panel.plot(heads[pair, axis], heads[pair, 1], color=colour, linewidth=width, solid_capstyle="round")


def _marks(panel: Any, row: Any, axis: int, at_target: bool) -> None:
    for pin in row["pins"]:
        panel.plot(pin[axis], pin[1], "s", color=_PIN, markersize=3.5)
    if at_target:
        panel.plot(row["target"][axis], row["target"][1], "+", color=_TARGET, markersize=9, markeredgewidth=1.8)
