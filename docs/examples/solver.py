"""The picture of docs/solver.md: `python docs/examples/solver.py`; needs matplotlib.

An arm of two joints in a plane is asked for a height of its hand. What is minimized is drawn over both joints.
"""

from pathlib import Path
from typing import Any, Final

import matplotlib as mpl  # pyright: ignore[reportMissingImports]
import numpy as np
from matplotlib import pyplot  # pyright: ignore[reportMissingImports]
from numpy.typing import NDArray

PICTURE: Final = Path(__file__).resolve().parents[1] / "images" / "objective.png"
REFERENCE: Final = np.radians([-35.0, 60.0])  # shoulder from the horizontal, elbow from straight
DEVIATIONS: Final = np.radians([30.0, 45.0])  # of the prior
STRAIGHT: Final = 0.0  # limit of the elbow, degrees
REACHED, BEYOND, STRENGTHS = 1.2, 2.3, (0.8, 6.0, 30.0)  # heights in lengths of a bone; forces
INK, QUIET, BLUE, AMBER, RED = "#1f2933", "#9aa5b1", "#2563eb", "#d97706", "#be123c"
WHITE: Final = {"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
STEPS: Final = 901  # of the grid, on a side

Grid = NDArray[np.float64]


def joints(shoulder: Grid, elbow: Grid) -> Grid:
    """Return the elbow and the hand (..., 2, 2) of arms with these angles, radians."""
    turned = shoulder + elbow
    first = np.stack([np.cos(shoulder), np.sin(shoulder)], axis=-1)
    return np.stack([first, first + np.stack([np.cos(turned), np.sin(turned)], axis=-1)], axis=-2)


def cost(shoulder: Grid, elbow: Grid, height: float, strength: float) -> Grid:
    """Return 1/2 x^T S^-1 x + f |E(x)|."""
    apart = (np.stack([shoulder, elbow], axis=-1) - REFERENCE) / DEVIATIONS
    return 0.5 * np.sum(apart**2, axis=-1) + strength * np.abs(joints(shoulder, elbow)[..., 1, 1] - height)


def answer(grid: tuple[Grid, Grid], height: float, strength: float) -> NDArray[np.float64]:
    """Return the angles within the limit with the least cost."""
    values = np.where(grid[1] < np.radians(STRAIGHT), np.inf, cost(*grid, height, strength))
    place = np.unravel_index(np.argmin(values), values.shape)
    return np.array([grid[0][place], grid[1][place]])


def draw_map(axes: Any, grid: tuple[Grid, Grid], height: float, strength: float, title: str) -> None:
    """Draw what is minimized over both joints, and the limit."""
    shoulder, elbow = np.degrees(grid[0]), np.degrees(grid[1])
    axes.contour(shoulder, elbow, cost(*grid, height, strength), 16, colors=QUIET, linewidths=0.6)
    axes.axhspan(elbow.min(), STRAIGHT, color=RED, alpha=0.12, lw=0)
    axes.text(shoulder.min() + 3, STRAIGHT - 4, "beyond the elbow's limit", color=RED, va="top")
    axes.plot(*np.degrees(REFERENCE), "o", color=INK, ms=5)
    axes.annotate("reference pose", np.degrees(REFERENCE), (-30, -14), textcoords="offset points", bbox=WHITE)
    axes.set(xlabel="shoulder, degrees", ylabel="elbow, degrees", title=title)


def draw_arm(axes: Any, angles: NDArray[np.float64], color: str, line: str, label: str) -> None:
    """Draw the arm in one pose."""
    points = np.concatenate([np.zeros((1, 2)), joints(*angles)])
    axes.plot(*points.T, line, color=color, marker="o", ms=4, lw=2, label=label)


def main() -> None:
    """Write the picture."""
    mpl.use("Agg")
    pyplot.rcParams.update({"font.size": 8, "axes.edgecolor": QUIET, "text.color": INK, "axes.labelcolor": INK})
    grid = tuple(np.radians(np.meshgrid(np.linspace(-80, 110, STEPS), np.linspace(-30, 120, STEPS))))
    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(11.0, 3.9), width_ratios=(1, 1, 0.8))
    draw_map(left, grid, REACHED, STRENGTHS[1], "in reach: the pull holds")
    heights = joints(*grid)[..., 1, 1]
    left.contour(*np.degrees(grid), heights, [REACHED], colors=BLUE, linewidths=1.8)
    met = answer(grid, REACHED, STRENGTHS[1])
    left.plot(*np.degrees(met), "*", color=BLUE, ms=13)
    said = "answer: of all poses that\nreach (blue), the one\nnearest to the reference"
    left.annotate(said, np.degrees(met), (12, 2),
                  textcoords="offset points", color=BLUE, bbox=WHITE)  # fmt: skip
    draw_map(middle, grid, BEYOND, STRENGTHS[1], f"out of reach: it slips (rings of f = {STRENGTHS[1]:g})")
    answers = [answer(grid, BEYOND, strength) for strength in STRENGTHS]
    draw_arm(right, REFERENCE, QUIET, "-", "reference pose")
    draw_arm(right, met, BLUE, "-", "in reach")
    for strength, found, line in zip(STRENGTHS, answers, (":", "--", "-"), strict=True):
        middle.plot(*np.degrees(found), "*", color=AMBER, ms=13)
        middle.annotate(f"f = {strength:g}", np.degrees(found), (8, -3), textcoords="offset points",
                        color=AMBER, bbox=WHITE)  # fmt: skip
        draw_arm(right, found, AMBER, line, f"out of reach, f = {strength:g}")
    for height, color in ((REACHED, BLUE), (BEYOND, AMBER)):
        right.axhline(height, color=color, lw=0.8)
    right.set(aspect="equal", xlim=(-0.7, 2.2), ylim=(-0.8, 2.5), title="the same poses", xticks=[], yticks=[])
    right.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
