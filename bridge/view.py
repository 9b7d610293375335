"""What a 3D viewport shows: its camera as arrays. World space in metres; pixels from the region's lower left corner."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from ..core.rotation import Array

_NEAREST: Final = 1e-6  # homogeneous w of what is at the viewer's eye or behind


@dataclass(frozen=True, eq=False)
class View:
    """A camera, perspective or not, and the region (width, height) that shows it.

    projection  (4, 4) from world space to clip space
    turn        (3, 3) rows: the world's directions to the right, up, and towards the viewer
    perspective whether what is further away is smaller
    """

    projection: Array
    turn: Array
    size: tuple[int, int]
    perspective: bool

    def pixels(self, points: ArrayLike) -> Array:
        """Where points (..., 3) are seen, (..., 2); NaN behind the viewer."""
        clip = self._clip(points)
        depth = clip[..., 3:]
        with np.errstate(invalid="ignore", divide="ignore"):
            seen = np.where(depth > _NEAREST, clip[..., :2] / depth, np.nan)
        return (0.5 + 0.5 * seen) * np.array(self.size, float)

    def pixel(self, points: ArrayLike) -> Array:
        """How long one pixel is in the world at points (..., 3), (...)."""
        depth = np.maximum(np.abs(self._clip(points)[..., 3]), _NEAREST)
        across = np.sqrt(np.sum(np.square(self.projection[0, :3])))
        return 2.0 * depth / (across * self.size[0])

    def ray(self, pixel: ArrayLike) -> tuple[Array, Array]:
        """Two points (3,) of the world that are seen at one pixel (2,), the nearer one first."""
        seen = 2.0 * np.asarray(pixel, float) / np.array(self.size, float) - 1.0
        ends = np.linalg.solve(self.projection, np.array([[*seen, -0.5, 1.0], [*seen, 0.5, 1.0]]).T).T
        near, far = ends[:, :3] / ends[:, 3:]
        return near, far

    def away(self, point: ArrayLike) -> Array:
        """Unit vector (3,) from the viewer along the line of sight through a point (3,)."""
        near, far = self.ray(self.pixels(point))
        return (far - near) / np.sqrt(np.sum(np.square(far - near)))

    def on_plane(self, pixel: ArrayLike, through: ArrayLike, normal: ArrayLike | None = None) -> Array | None:
        """The point (3,) at a pixel on the plane through a point, by default facing the viewer; None: no such point."""
        near, far = self.ray(pixel)
        across = self.turn[2] if normal is None else np.asarray(normal, float)
        way = far - near
        slope = float(across @ way)
        if abs(slope) <= _NEAREST * float(np.sqrt(way @ way)):
            return None
        return near + way * (float(across @ (np.asarray(through, float) - near)) / slope)

    def on_line(self, pixel: ArrayLike, through: ArrayLike, along: ArrayLike) -> Array | None:
        """The point (3,) of a line that is nearest to what is seen at a pixel; None where the line is seen end on."""
        near, far = self.ray(pixel)
        line, way = np.asarray(along, float), far - near
        across = np.cross(np.cross(line, way), way)
        slope = float(across @ line)
        if abs(slope) <= _NEAREST * float(way @ way) * float(np.sqrt(line @ line)):
            return None
        begin = np.asarray(through, float)
        return begin + line * (float(across @ (near - begin)) / slope)

    def _clip(self, points: ArrayLike) -> Array:
        p = np.asarray(points, float)
        return p @ self.projection[:, :3].T + self.projection[:, 3]


def read_view(region: Any, region_data: Any) -> View:
    """The view of a region of a 3D viewport; `region_data` is its RegionView3D."""
    return View(
        np.array(region_data.perspective_matrix, float),
        np.array(region_data.view_matrix, float)[:3, :3],
        (region.width, region.height),
        bool(region_data.is_perspective),
    )
