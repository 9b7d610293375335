"""The camera of a 3D viewport as arrays. World space in metres; pixels from the region's lower left corner."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from ..core.rotation import Array

_NEAREST: Final = 1e-6  # homogeneous w: points at or behind the viewer have less


@dataclass(frozen=True, eq=False)
class View:
    """A perspective or orthographic camera and the region (width, height) that shows it.

    projection  (4, 4) from world space to clip space
    turn        (3, 3) rows: world directions to the right, up, and towards the viewer
    """

    projection: Array
    turn: Array
    size: tuple[int, int]

    def pixels(self, points: ArrayLike) -> Array:
        """Return the pixels (..., 2) of world points (..., 3); NaN behind the viewer."""
        clip = self._clip(points)
        depth = clip[..., 3:]
        with np.errstate(invalid="ignore", divide="ignore"):
            seen = np.where(depth > _NEAREST, clip[..., :2] / depth, np.nan)
        return (0.5 + 0.5 * seen) * np.array(self.size, float)

    def pixel(self, points: ArrayLike) -> Array:
        """Return the world length (...) of one pixel at points (..., 3)."""
        depth = np.maximum(np.abs(self._clip(points)[..., 3]), _NEAREST)
        across = np.sqrt(np.sum(np.square(self.projection[0, :3])))
        return 2.0 * depth / (across * self.size[0])

    def depth(self, points: ArrayLike) -> Array:
        """Return how far away world points (..., 3) are along the view, in metres beyond the world's origin."""
        return -np.asarray(points, float) @ self.turn[2]

    def ray(self, pixel: ArrayLike, depth: float = 0.5) -> tuple[Array, Array]:
        """Return two world points (3,) on the line of sight of a pixel (2,), the nearer one first; with 1 its ends."""
        seen = 2.0 * np.asarray(pixel, float) / np.array(self.size, float) - 1.0
        ends = np.linalg.solve(self.projection, np.array([[*seen, -depth, 1.0], [*seen, depth, 1.0]]).T).T
        near, far = ends[:, :3] / ends[:, 3:]
        return near, far

    def away(self, point: ArrayLike) -> Array:
        """Return the unit vector (3,) from the viewer towards a point (3,)."""
        near, far = self.ray(self.pixels(point))
        return (far - near) / np.sqrt(np.sum(np.square(far - near)))

    def on_plane(self, pixel: ArrayLike, through: ArrayLike, normal: ArrayLike | None = None) -> Array | None:
        """Return the point (3,) at a pixel on the plane through a point, by default facing the viewer, or None."""
        near, far = self.ray(pixel)
        across = self.turn[2] if normal is None else np.asarray(normal, float)
        way = far - near
        slope = float(across @ way)
        if abs(slope) <= _NEAREST * float(np.sqrt(way @ way)):
            return None
        return near + way * (float(across @ (np.asarray(through, float) - near)) / slope)

    def on_line(self, pixel: ArrayLike, through: ArrayLike, along: ArrayLike) -> Array | None:
        """Return the point (3,) of a line nearest to the line of sight of a pixel; None if the line is seen end on."""
        near, far = self.ray(pixel)
        line, way = np.asarray(along, float), far - near
        across = np.cross(np.cross(line, way), way)
        slope = float(across @ line)
        if abs(slope) <= _NEAREST * float(way @ way) * float(np.sqrt(line @ line)):
            return None
        begin = np.asarray(through, float)
        return begin + line * (float(across @ (near - begin)) / slope)

    def to_lines(self, pixel: ArrayLike, lines: ArrayLike) -> tuple[Array, Array]:
        """Return where on screen lines (m, 2, 3) are nearest to a pixel, 0 to 1 (m,), and how many pixels away (m,)."""
        a, b = np.moveaxis(self.pixels(lines), -2, 0)
        way, at = b - a, np.asarray(pixel, float)
        with np.errstate(invalid="ignore"):
            share = np.sum((at - a) * way, axis=-1) / np.maximum(np.sum(way * way, axis=-1), np.finfo(float).tiny)
        share = np.clip(share, 0.0, 1.0)
        return share, np.sqrt(np.sum(np.square(a + share[..., None] * way - at), axis=-1))

    def _clip(self, points: ArrayLike) -> Array:
        p = np.asarray(points, float)
        return p @ self.projection[:, :3].T + self.projection[:, 3]


def read_view(region: Any, region_data: Any) -> View:
    """Return the view of a region of a 3D viewport; `region_data` is its RegionView3D."""
    return View(
        np.array(region_data.perspective_matrix, float),
        np.array(region_data.view_matrix, float)[:3, :3],
        (region.width, region.height),
    )
