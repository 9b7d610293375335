"""Polygons for the tests of limits."""

import numpy as np

from core.limits import (
    Polygon,
)

SQUARE = {
    "vertices": [(-0.3, -0.3), (0.3, -0.3), (0.3, 0.3), (-0.3, 0.3)],
    "triangles": [(0, 1, 2), (0, 2, 3)],
    "lower": [-0.5, -0.4, -0.3, -0.2],
    "upper": [0.2, 0.3, 0.4, 0.5],
}


def star(corners: int, seed: int, low: float = 0.25, high: float = 0.7) -> Polygon:
    """A fan about rest whose corners are near and far in turn by chance: re-entrant nearly always."""
    rng = np.random.default_rng(seed)
    angles = 2.0 * np.pi * (np.arange(corners) + rng.uniform(-0.3, 0.3, corners)) / corners
    rim = rng.uniform(low, high, (corners, 1)) * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    fan = [(0, 1 + i, 1 + (i + 1) % corners) for i in range(corners)]
    middle, half = rng.uniform(-0.3, 0.3, corners + 1), rng.uniform(0.3, 1.0, corners + 1)
    return Polygon(np.concatenate([np.zeros((1, 2)), rim]), fan, middle - half, middle + half)


def ring() -> Polygon:
    """A square with a square hole: rest is outside."""
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    triangles = [t for i in range(4) for j in [(i + 1) % 4] for t in ((i, j, 4 + j), (i, 4 + j, 4 + i))]
    return Polygon(np.concatenate([0.5 * square, 0.2 * square]), triangles, np.full(8, -0.7), np.linspace(0.1, 0.8, 8))
