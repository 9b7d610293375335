"""Lines of the overlay as arrays, in pixels of a region, with a colour at each end."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..core.rotation import Array

Colour = Sequence[float]  # red, green, blue, opacity


@dataclass(frozen=True, eq=False)
class Strokes:
    """Line segments: points (n, 2, 2) in pixels, colours (n, 2, 4)."""

    points: Array
    colours: Array

    def __len__(self) -> int:
        return len(self.points)


NOTHING = Strokes(np.zeros((0, 2, 2)), np.zeros((0, 2, 4)))


def together(parts: Iterable[Strokes]) -> Strokes:
    """Return all strokes as one, without segments behind the viewer."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return NOTHING
    points = np.concatenate([part.points for part in parts])
    seen = np.isfinite(points).all(axis=(1, 2))
    return Strokes(points[seen], np.concatenate([part.colours for part in parts])[seen])


def segments(starts: ArrayLike, ends: ArrayLike, colour: Colour, end_colour: Colour | None = None) -> Strokes:
    """Return segments from each start (n, 2) to its end (n, 2)."""
    points = np.stack([np.atleast_2d(starts), np.atleast_2d(ends)], axis=1).astype(float)
    pair = np.array([colour, colour if end_colour is None else end_colour], float)
    return Strokes(points, np.broadcast_to(pair, (len(points), 2, 4)))


def path(points: ArrayLike, colour: Colour) -> Strokes:
    """Return a line through points (n, 2); older points are fainter."""
    through = np.atleast_2d(np.asarray(points, float))
    if len(through) < 2:
        return NOTHING
    colours = np.tile(np.array(colour, float), (len(through), 1))
    colours[:, 3] *= np.linspace(0.0, 1.0, len(through))
    return Strokes(np.stack([through[:-1], through[1:]], axis=1), np.stack([colours[:-1], colours[1:]], axis=1))


def polygon(centre: ArrayLike, radius: float, corners: int, colour: Colour) -> Strokes:
    """Return a regular polygon with a corner at the top."""
    angle = np.linspace(0.0, 2.0 * np.pi, corners + 1)
    points = np.asarray(centre, float) + radius * np.stack([np.sin(angle), np.cos(angle)], axis=1)
    return segments(points[:-1], points[1:], colour)


def cross(centre: ArrayLike, inner: float, outer: float, colour: Colour) -> Strokes:
    """Return four strokes around a place that is left free."""
    ways = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    middle = np.asarray(centre, float)
    return segments(middle + inner * ways, middle + outer * ways, colour)


def dashes(start: ArrayLike, end: ArrayLike, length: float, colour: Colour) -> Strokes:
    """Return a dashed line with dashes and gaps of `length`."""
    a, b = np.asarray(start, float), np.asarray(end, float)
    far = float(np.sqrt(np.sum(np.square(b - a))))
    if not np.isfinite(far) or far <= 0.0:
        return NOTHING
    begin = np.arange(0.0, far, 2.0 * length)
    way = (b - a) / far
    return segments(a + begin[:, None] * way, a + np.minimum(begin + length, far)[:, None] * way, colour)
