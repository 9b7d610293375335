"""Trails as arrays: the lines and dots of a path over frames in one view, in pixels of a region.

The line is thick where the point stands, dots of frames with keys are larger, and that of the present frame is the
largest. What a drag moves has the colour of what is dragged, as far as it follows.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..core.rotation import Array
from .marks import Camera, Colours, TrailMark
from .strokes import Strokes, together

SMALL: Final = 4.0  # pixels of a dot at a scale of 1
KEYED: Final = 7.0
PRESENT: Final = 11.0
_FAINT: Final = 0.6  # opacity of the line, as a share of that of the dots
_NOW: Final = 0.5  # frames from the present one


@dataclass(frozen=True, eq=False)
class Dots:
    """Dots: points (n, 2) in pixels, colours (n, 4)."""

    points: Array
    colours: Array


@dataclass(frozen=True, eq=False)
class TrailLook:
    """What a trail looks like: its line, the parts of it where it stands, and dots by their size in pixels."""

    line: Strokes
    contacts: Strokes
    dots: tuple[tuple[float, Dots], ...]


def look_of(trail: TrailMark, view: Camera, colours: Colours) -> TrailLook:
    """Return what a trail looks like in a view."""
    seen, ages = view.pixels(trail.positions), trail.ages
    tints = np.where(ages[:, None] < 0.0, colours.before, colours.after)
    if trail.shares is not None:
        tints = tints + trail.shares[:, None] * (np.array(colours.dragged) - tints)
    pairs = np.stack([seen[:-1], seen[1:]], axis=1)
    ends = np.stack([tints[:-1], tints[1:]], axis=1) * [1.0, 1.0, 1.0, _FAINT]
    stands = trail.bears[:-1] & trail.bears[1:]
    now, visible = np.abs(ages) < _NOW, np.isfinite(seen).all(axis=1)
    tints[now] = colours.dragged
    sizes = ((SMALL, ~trail.keyed & ~now), (KEYED, trail.keyed & ~now), (PRESENT, now))
    return TrailLook(
        together([Strokes(pairs, ends)]),
        together([Strokes(pairs[stands], ends[stands])]),
        tuple((size, Dots(seen[on & visible], tints[on & visible])) for size, on in sizes),
    )
