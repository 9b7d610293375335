"""Learn the limits of a joint from a motion: its swings, and its twists at each of them (CN1420453)."""

from typing import Final

import numpy as np

from ..errors import CoreError
from ..rotation import Array, to_matrix, wrap
from .polygon import Indices, Polygon
from .swing import swing_vector, twist_angle

_SIDES: Final = 16  # of the outline
_FARTHEST: Final = 0.99  # longest swing vector: a swing by half a turn has no direction
_LEAST: Final = float(np.radians(0.5))  # least margin: a polygon without width would hold its bone on a line
_HALF: Final = 0.5  # length of the swing vector per radian of a small swing


def learn_polygon(rotations: Array, margin: float) -> Polygon:
    """Return the swing polygon of all own rotations (F, 4) of a bone, `margin` radians wider in swing and twist.

    The outline is convex with 16 sides that touch the swings. The twist's bounds at a corner are those of the frames
    near it, widened until all frames are inside. Raises CoreError for no frames, and for a margin below 0.
    """
    if not len(rotations):
        raise CoreError("There are no frames to learn limits from.")
    if not margin >= 0.0:
        raise CoreError("The margin of limits must be at least 0.")
    margin = max(margin, _LEAST)
    matrices = to_matrix(rotations)
    swings, twists = swing_vector(matrices)[0], twist_angle(matrices)
    angles = np.linspace(0.0, 2.0 * np.pi, _SIDES, endpoint=False)
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    far = (swings @ normals.T).max(axis=0) + _HALF * margin  # (S,) distances of the sides
    # corners: where neighbouring sides meet
    after = np.roll(normals, -1, axis=0)
    corners = np.linalg.solve(np.stack([normals, after], axis=1), np.stack([far, np.roll(far, -1)], axis=1)[..., None])
    corners = corners[..., 0]
    length = np.linalg.norm(corners, axis=1, keepdims=True)
    corners = corners * np.minimum(1.0, _FARTHEST / length)
    centre = corners.mean(axis=0)
    middle = float(np.arctan2(np.sin(twists).mean(), np.cos(twists).mean()))
    off = wrap(twists - middle)

    # each frame belongs to the corner in whose direction it lies
    nearest = np.argmax((swings - centre) @ (corners - centre).T, axis=1)
    lower, upper = np.full(_SIDES + 1, np.inf), np.full(_SIDES + 1, -np.inf)
    np.minimum.at(lower, nearest + 1, off)
    np.maximum.at(upper, nearest + 1, off)
    lower[0], upper[0] = off.min(), off.max()
    seen = upper >= lower
    lower, upper = np.where(seen, lower, off.min()), np.where(seen, upper, off.max())
    around = np.arange(1, _SIDES + 1)
    triangles = np.stack([np.zeros(_SIDES, int), around, np.roll(around, -1)], axis=1)
    vertices = np.concatenate([centre[None], corners])
    lower, upper = _widened(vertices, triangles, lower, upper, swings, off)
    return Polygon(vertices, triangles, middle + lower - margin, middle + upper + margin)


def _widened(
    vertices: Array, triangles: Indices, lower: Array, upper: Array, swings: Array, off: Array
) -> tuple[Array, Array]:
    """Return bounds with all frames inside: the excess in a triangle is added at its three corners."""
    a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
    frames = np.stack([b - a, c - a], axis=-1)  # (T, 2, 2)
    shares = np.linalg.solve(frames[None], (swings[:, None] - a)[..., None])[..., 0]  # (F, T, 2)
    shares = np.concatenate([1.0 - shares.sum(axis=-1, keepdims=True), shares], axis=-1)
    triangle = np.argmax(shares.min(axis=-1), axis=1)  # the one that a frame lies in
    weights = np.take_along_axis(shares, triangle[:, None, None], axis=1)[:, 0]
    corners = triangles[triangle]
    below = np.maximum(np.sum(weights * lower[corners], axis=1) - off, 0.0)
    above = np.maximum(off - np.sum(weights * upper[corners], axis=1), 0.0)
    less, more = np.zeros_like(lower), np.zeros_like(upper)
    for corner in range(3):
        np.maximum.at(less, corners[:, corner], below)
        np.maximum.at(more, corners[:, corner], above)
    return lower - less, upper + more
