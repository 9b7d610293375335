"""Triangulated polygons in the plane, with two bounds that are linear in every triangle.

`Polygon` is one of them; `PolygonStack` measures points against k of them at once, one each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import CoreError
from ..rotation import Array

Indices = NDArray[np.int64]

_FLAT: Final = 1e-6  # heights and distances in the plane that count as zero
_STRAIGHT: Final = 1e-3  # sine of a turn of the outline that counts as none
FREE_TWIST: Final = 2.0 * np.pi  # radians: a finite bound for none, since twists lie in [-pi, pi]
_FAR: Final = 1e3  # place of the edges and triangles that pad a row
_NO_FOLD: Final = np.array([[-_FAR], [_FAR]])  # lower and upper bound
_NO_SIDE: Final = -1.0  # distance to a second side where there is none


@dataclass(frozen=True, eq=False)
class Polygon:
    """The swings of a joint and the ranges of its twist in each, by triangles that share their edges.

    vertices   (V, 2) inside the unit circle: x, z of the swing quaternion's vector part, sin(half the swing) long;
               rest, (0, 0), need not be inside
    triangles  (T, 3) indices of vertices, in either sense; the polygon may be re-entrant and have holes
    lower      (V,) radians, least twist at each vertex; -inf: free
    upper      (V,) radians, largest twist at each vertex; inf: free

    Raises CoreError if the triangles are no triangulation of one or more polygons that do not touch themselves.
    """

    vertices: Array
    triangles: Indices
    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        vertices, triangles = np.array(self.vertices, float), np.array(self.triangles)
        if vertices.ndim != 2 or vertices.shape[1] != 2:
            raise CoreError(f"The vertices of a swing polygon need the shape (V, 2), not {vertices.shape}.")
        count = len(vertices)
        if count < 3:
            raise CoreError(f"A swing polygon needs at least 3 vertices, not {count}.")
        if not np.isfinite(vertices).all():
            raise CoreError("A vertex of a swing polygon is not a finite number.")
        far = np.flatnonzero(np.linalg.norm(vertices, axis=1) >= 1.0)
        if len(far):
            raise CoreError(f"Vertex {far[0]} of a swing polygon is not a swing: its length must be below 1.")
        if triangles.ndim != 2 or triangles.shape[1] != 3 or not len(triangles):
            raise CoreError(f"The triangles of a swing polygon need the shape (T, 3), not {triangles.shape}.")
        if not np.issubdtype(triangles.dtype, np.integer):
            raise CoreError("The triangles of a swing polygon must be whole numbers.")
        wrong = triangles[(triangles < 0) | (triangles >= count)]
        if len(wrong):
            raise CoreError(f"A triangle of a swing polygon names vertex {wrong[0]}; there are 0 to {count - 1}.")
        self._set("vertices", vertices)
        for name in ("lower", "upper"):
            bound = np.array(getattr(self, name), float)
            if bound.shape != (count,):
                raise CoreError(f"The {name} twists of a swing polygon need the shape ({count},), not {bound.shape}.")
            if np.isnan(bound).any():
                raise CoreError(f"The {name} twist at a vertex of a swing polygon is not a number.")
            self._set(name, np.clip(bound, -FREE_TWIST, FREE_TWIST))
        crossed = np.flatnonzero(self.lower > self.upper)
        if len(crossed):
            raise CoreError(f"At vertex {crossed[0]} of a swing polygon the lower twist is above the upper one.")
        self._set("triangles", self._oriented(triangles.astype(np.int64)))
        self._check_triangulation()

    def _set(self, name: str, value: NDArray[Any]) -> None:
        value.setflags(write=False)
        object.__setattr__(self, name, value)

    def _oriented(self, triangles: Indices) -> Indices:
        """Return the triangles with their corners counter-clockwise."""
        corners = self.vertices[triangles]
        sides = np.roll(corners, -1, axis=1) - corners
        area2 = _cross(sides[:, 0], sides[:, 1])
        flat = np.flatnonzero(np.abs(area2) < _FLAT * np.linalg.norm(sides, axis=-1).max(axis=1))
        if len(flat):
            raise CoreError(f"Triangle {flat[0]} of a swing polygon has no area.")
        return np.where((area2 < 0.0)[:, None], triangles[:, ::-1], triangles)

    def _check_triangulation(self) -> None:
        used = np.unique(self.triangles)
        points = self.vertices[used]
        apart = np.linalg.norm(points[:, None] - points, axis=-1) + np.eye(len(used))
        if apart.min() < _FLAT:
            one, two = used[np.argwhere(apart < _FLAT)[0]]
            raise CoreError(f"The vertices {one} and {two} of a swing polygon are at the same location.")
        edges = _edges(self.triangles)
        start, end = self.vertices[edges[:, 0]], self.vertices[edges[:, 1]]
        length = np.linalg.norm(end - start, axis=-1)
        along = (end - start) / length[:, None]
        outward = np.stack([along[:, 1], -along[:, 0]], axis=-1)
        # two triangles do not overlap if all corners of one are beyond an edge of the other
        height = np.sum((points - start[:, None]) * outward[:, None], axis=-1)  # (3T, U)
        place = np.searchsorted(used, self.triangles)
        beyond = (height[:, place].min(axis=-1) > -_FLAT).reshape(3, -1, len(place)).any(axis=0)
        overlapping = np.argwhere(~(beyond | beyond.T) & ~np.eye(len(place), dtype=bool))
        if len(overlapping):
            raise CoreError(f"The triangles {overlapping[0][0]} and {overlapping[0][1]} of a swing polygon overlap.")
        way = np.sum((points - start[:, None]) * along[:, None], axis=-1)
        between = (np.abs(height) < _FLAT) & (way > _FLAT) & (way < length[:, None] - _FLAT)
        if between.any():
            edge, vertex = np.argwhere(between)[0]
            raise CoreError(
                f"Vertex {used[vertex]} of a swing polygon lies on the edge from {edges[edge, 0]} to {edges[edge, 1]}: "
                "triangles must share whole edges."
            )
        starts, counts = np.unique(self.outline[:, 0], return_counts=True)
        if np.any(counts > 1):
            raise CoreError(f"A swing polygon touches itself at vertex {starts[counts > 1][0]}.")

    @property
    def outline(self) -> Indices:
        """Return the outline's edges (E, 2), from vertex to vertex with the inside on the left."""
        edges = _edges(self.triangles)
        return edges[self.beside(edges[:, ::-1]) < 0]

    def beside(self, edges: Indices) -> Indices:
        """Return the triangles (...) to the left of edges (..., 2), -1 for none."""
        own = _edges(self.triangles)
        same = (edges[..., None, :] == own).all(axis=-1)
        return np.where(same.any(axis=-1), same.argmax(axis=-1) % len(self.triangles), -1)


@dataclass(frozen=True, eq=False)
class PolygonStack:
    """k polygons in arrays of one size, padded with edges and triangles that are far away."""

    forms: Array  # (k, 3, R) of x, z, 1: distance from and way along each outline edge, three weights of each triangle
    lengths: Array  # (k, E)
    axes: Array  # (k, E, 2, 2) outward, along
    ends: Array  # (k, E, 2, 2) start, end
    neighbours: Indices  # (k, E, 2) edge before, after
    convex: NDArray[np.bool_]  # (k, E, 2) whether the outline is convex at the start, end
    corners: NDArray[np.bool_]  # (k, E, 2) convex and not straight
    edge_triangles: Indices  # (k, E) the edges' triangles
    planes: Array  # (k, T, 2, 3) middle and half width as forms of x, z, 1
    folds: Array  # (k, T, 2, 3, 3) lower and upper bound beyond each side as forms, see `Located.folds`
    places: Array  # (k, T, 3, 2) corners of the triangles
    areas: Array  # (k, T) cumulative areas, as shares of the whole

    @classmethod
    def of(cls, polygons: Sequence[Polygon]) -> Self:
        """Return the stack of k polygons, padded to the largest numbers of edges and triangles."""
        k = len(polygons)
        e = max((len(polygon.outline) for polygon in polygons), default=1)
        t = max((len(polygon.triangles) for polygon in polygons), default=1)
        forms = np.zeros((k, 3, 2 * e + 3 * t))
        forms[:, 2, :e], forms[:, 2, 2 * e :] = _FAR, -_FAR
        square = (k, e, 2, 2)
        stack = cls(
            forms, np.zeros((k, e)), np.zeros(square), np.zeros(square), np.zeros((k, e, 2), np.int64),
            np.zeros((k, e, 2), bool), np.zeros((k, e, 2), bool), np.zeros((k, e), np.int64),
            np.zeros((k, t, 2, 3)), np.zeros((k, t, 2, 3, 3)), np.zeros((k, t, 3, 2)), np.ones((k, t)),
        )  # fmt: skip
        for index, polygon in enumerate(polygons):
            stack._fill(index, polygon)
        return stack

    def _fill(self, index: int, polygon: Polygon) -> None:
        outline = polygon.outline
        ends = polygon.vertices[outline]
        along = ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(along, axis=-1)
        along /= length[:, None]
        outward = np.stack([along[:, 1], -along[:, 0]], axis=-1)
        after = np.argmax(outline[:, 1, None] == outline[:, 0], axis=1)
        before = np.argmax(outline[:, 0, None] == outline[:, 1], axis=1)
        turn = _cross(along, along[after])
        turns = np.stack([turn[before], turn], axis=-1)
        middle, half = 0.5 * (polygon.lower + polygon.upper), 0.5 * (polygon.upper - polygon.lower)
        ranges = np.stack([middle, half], axis=-1)
        for array, values in (
            (self.lengths, length),
            (self.axes, np.stack([outward, along], axis=1)),
            (self.ends, ends),
            (self.neighbours, np.stack([before, after], axis=-1)),
            (self.convex, turns >= 0.0),
            (self.corners, turns > _STRAIGHT),
            (self.edge_triangles, polygon.beside(outline)),
        ):
            array[index, : len(outline)] = values
        points = np.concatenate([polygon.vertices, np.ones((len(polygon.vertices), 1))], axis=1)
        weights = np.linalg.inv(points[polygon.triangles])  # (T, 3, 3): forms of x, z, 1 by corner
        self.planes[index, : len(weights)] = np.swapaxes(weights @ ranges[polygon.triangles], -1, -2)
        self.folds[index, : len(weights)] = _folds(polygon, weights)
        self.places[index, : len(weights)] = corners = polygon.vertices[polygon.triangles]
        areas = np.cumsum(_cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
        self.areas[index, : len(weights) - 1] = areas[:-1] / areas[-1]  # and 1 at the last one
        e, t = self.lengths.shape[1], self.planes.shape[1]
        for begin, forms in (
            (0, np.column_stack([outward, -np.sum(outward * ends[:, 0], axis=-1)])),
            (e, np.column_stack([along, -np.sum(along * ends[:, 0], axis=-1)])),
            *((2 * e + corner * t, weights[:, :, corner]) for corner in range(3)),
        ):
            self.forms[index, :, begin : begin + len(forms)] = forms.T

    def __len__(self) -> int:
        return len(self.forms)

    def take(self, kept: Indices) -> Self:
        """Return some of the polygons."""
        return type(self)(*(getattr(self, field.name)[kept] for field in fields(self)))

    def pick(self, shares: Array) -> Array:
        """Return points (..., k, 2) that cover the polygons evenly as shares (..., k, 2) cover [0, 1]^2."""
        first, second = shares[..., 0], shares[..., 1, None]
        triangle = np.sum(self.areas < first[..., None], axis=-1)
        row = np.arange(len(self))
        begin = np.where(triangle > 0, self.areas[row, triangle - 1], 0.0)
        # the square root makes up for lines across the triangle that grow with the distance from its first corner
        root = np.sqrt((first - begin) / (self.areas[row, triangle] - begin))[..., None]
        one, two, three = np.moveaxis(self.places[row, triangle], -2, 0)
        return (1.0 - root) * one + root * ((1.0 - second) * two + second * three)


class Located:
    """Points (..., k, 2), each in its polygon: distances from two sides, nearest points, bounds, and all their rates.

    The sides of a point are the nearest edge and, where the outline is convex at that edge's nearer end, the next edge
    there: at a corner two half-planes bound a point, and a solver needs both. Each is a signed distance, positive
    outside, from the edge's line; or from the edge's end inside a re-entrant corner and beyond the far end of the next
    edge. The larger one comes first: its sign tells inside.
    """

    def __init__(self, stack: PolygonStack, points: Array) -> None:
        self.stack, self.points = stack, points
        k, edges, width = len(stack), int(stack.lengths.shape[1]), int(stack.forms.shape[-1])
        self._shape = points.shape[:-1]
        count = points.size // (2 * max(k, 1))
        # one matrix product for each polygon
        forms = np.ones((k, count, 3))
        forms[..., :2] = np.swapaxes(points.reshape(count, k, 2), 0, 1)
        values: Array = np.swapaxes(forms @ stack.forms, 0, 1).reshape(count * k, width)
        self._forms: Array = np.swapaxes(forms, 0, 1).reshape(-1, 3)
        order = np.arange(count * k, dtype=np.int64)
        polygon: Indices = order % max(k, 1)
        way: Array = values[:, edges : 2 * edges].reshape(count, k, edges)
        past: Array = (way - np.minimum(np.maximum(way, 0.0), stack.lengths)).reshape(count * k, edges)
        square = values[:, :edges] ** 2 + past * past
        nearest: Indices = square.argmin(axis=1)
        triangles = int(stack.planes.shape[1])
        weights = values[:, 2 * edges :]
        least = np.minimum(
            np.minimum(weights[:, :triangles], weights[:, triangles:-triangles]), weights[:, -triangles:]
        )
        self._triangle: Indices = polygon * triangles + least.argmax(axis=1)

        row: Indices = order * width
        flat: Array = values.reshape(-1)
        edge: Indices = polygon * edges + nearest
        self._over: Array = past.reshape(-1).take(order * edges + nearest)
        self._way: Array = flat.take(row + edges + nearest) - self._over  # of the nearest point of the edge
        self._end: Indices = np.where(self._way > 0.5 * stack.lengths.take(edge), 1, 0)
        end: Indices = 2 * edge + self._end
        other: Indices = stack.neighbours.take(end)
        next_to: Indices = polygon * edges + other
        # distance past the far end: of the next edge its end, of the one before its start
        other_way: Array = flat.take(row + edges + other)
        beyond = np.maximum(other_way - stack.lengths.take(next_to), 0.0)
        beyond = np.where(self._end, beyond, np.minimum(other_way, 0.0))
        self._edges = edge, next_to
        self._distances = flat.take(row + nearest), flat.take(row + other)
        # past the ends of the edges, 0 if the whole line counts
        self._overs = np.where(stack.convex.take(end), 0.0, self._over), beyond
        self._two: NDArray[np.bool_] = stack.corners.take(end)
        one, two = (
            np.where(over, -np.hypot(distance, over), distance) if over.any() else distance
            for distance, over in zip(self._distances, self._overs, strict=True)
        )
        self._sides = one, np.where(self._two, two, _NO_SIDE)
        self.outside = (np.maximum(*self._sides) > 0.0).reshape(self._shape)
        if self.outside.any():
            of_edge = polygon * triangles + stack.edge_triangles.take(edge)
            self._triangle = np.where(self.outside.reshape(-1), of_edge, self._triangle)

    def _shaped(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.reshape(*self._shape, *array.shape[1:])

    def sides(self) -> Array:
        """Return the distances (..., k, 2) from the two sides."""
        sides = np.empty((*self._shape, 2))
        for number, larger in enumerate((np.maximum, np.minimum)):
            sides[..., number] = larger(*self._sides).reshape(self._shape)
        return sides

    def side_rates(self) -> Array:
        """Return d sides / d point, (..., k, 2, 2)."""
        rates = np.empty((len(self._forms), 2, 2))
        for number, (edge, distance, over) in enumerate(zip(self._edges, self._distances, self._overs, strict=True)):
            axes = self.stack.axes.reshape(-1, 2, 2)[edge]
            rates[:, number] = axes[:, 0]
            if over.any():
                away = distance[:, None] * axes[:, 0] + over[:, None] * axes[:, 1]
                length = np.where(over, np.hypot(distance, over), 1.0)[:, None]
                rates[:, number] = np.where(over[:, None], -away / length, axes[:, 0])
        rates[:, 1] *= self._two[:, None]
        swap = self._sides[1] > self._sides[0]  # beyond a corner
        if swap.any():
            rates = np.where(swap[:, None, None], rates[:, ::-1], rates)
        return self._shaped(rates)

    def nearest(self) -> Array:
        """Return the nearest points (..., k, 2) of the polygons: the points themselves if they are inside."""
        ends = self.stack.ends.reshape(-1, 2, 2)[self._edges[0]]
        along = self.stack.axes.reshape(-1, 2, 2)[self._edges[0], 1]
        at_end = ends[np.arange(len(ends)), self._end]
        nearest = np.where(self._over[:, None], at_end, ends[:, 0] + self._way[:, None] * along)
        return np.where(self.outside[..., None], self._shaped(nearest), self.points)

    def ranges(self) -> Array:
        """Return middle and half width (..., k, 2) of the bounds at the nearest point of the polygon."""
        return self._at_nearest(self.stack.planes.reshape(-1, 2, 3))

    def range_rates(self) -> Array:
        """Return d ranges / d point, (..., k, 2, 2)."""
        return self._along_the_edge(self._shaped(self.stack.planes.reshape(-1, 2, 3)[self._triangle][..., :2]))

    def folds(self) -> Array:
        """Return the lower and upper bounds (..., k, 2, 3) of the triangles beyond the three sides, continued to here.

        A range of twists is folded at an edge where it is narrower than the continued bounds of both triangles: two
        bounds hold a twist there, and a solver needs both. Elsewhere, and if the nearest point is a corner of the
        outline, these bounds are far away.
        """
        folds = self._at_nearest(self.stack.folds.reshape(-1, 6, 3)).reshape(*self._shape, 2, 3)
        at_corner = self.outside & self._shaped(self._over != 0.0)
        return np.where(at_corner[..., None, None], _NO_FOLD, folds)

    def fold_rates(self) -> Array:
        """Return d folds / d point, (..., k, 2, 3, 2)."""
        rates = self._shaped(self.stack.folds.reshape(-1, 6, 3)[self._triangle][..., :2])
        return self._along_the_edge(rates).reshape(*self._shape, 2, 3, 2)

    def _at_nearest(self, forms: Array) -> Array:
        """Return the values (..., k, n) at the nearest points of linear forms (k T, n, 3) by triangle."""
        points = self._forms
        if self.outside.any():
            points = np.concatenate([self.nearest().reshape(-1, 2), np.ones((len(self._forms), 1))], axis=1)
        return self._shaped((forms[self._triangle] @ points[..., None])[..., 0])

    def _along_the_edge(self, rates: Array) -> Array:
        """Return rates (..., k, n, 2) of linear forms, outside the polygon by the movement of the nearest point."""
        if not self.outside.any():
            return rates
        along = self._shaped(self.stack.axes.reshape(-1, 2, 2)[self._edges[0], 1] * (self._over == 0.0)[:, None])
        beyond = (rates @ along[..., None]) * along[..., None, :]
        return np.where(self.outside[..., None, None], beyond, rates)


def _folds(polygon: Polygon, weights: Array) -> Array:
    """Return bounds (T, 2, 3, 3) beyond the sides opposite to triangles' corners; weights (T, 3, 3) by corner."""
    bounds = np.stack([polygon.lower, polygon.upper])[:, polygon.triangles]  # (2, T, 3)
    forms = np.moveaxis(weights @ np.moveaxis(bounds, 0, -1), -1, 1)  # (T, 2, 3)
    sides = np.stack([np.roll(polygon.triangles, -1, axis=1), np.roll(polygon.triangles, -2, axis=1)], axis=-1)
    beyond = polygon.beside(sides[..., ::-1])  # (T, 3)
    theirs = np.swapaxes(forms[beyond], 1, 2)  # (T, 2, 3, 3)
    corners = np.concatenate([polygon.vertices, np.ones((len(polygon.vertices), 1))], axis=1)[polygon.triangles]
    room = np.sum(theirs * corners[:, None], axis=-1) - np.swapaxes(bounds, 0, 1)
    none = _NO_FOLD[..., None] * [0.0, 0.0, 1.0]
    folded = (room * [[-1.0], [1.0]] > _FLAT) & (beyond >= 0)[:, None]
    return np.where(folded[..., None], theirs, none)


def _edges(triangles: Indices) -> Indices:
    """Return the edges (3T, 2) of triangles (T, 3): all first ones, all second ones, all third ones."""
    return np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])


def _cross(a: Array, b: Array) -> Array:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
