"""Surfaces of meshes: how far points are from them, and the skin of an armature."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from ..core.body.grip import finger_chains
from ..core.body.skin import Skin, rest_skin
from ..core.pose import forward_matrices
from ..core.rotation import Array
from .body import Body
from .channels import ArmatureObject, gather
from .turns import evaluated_graph
from .worlds import world_matrix

Faces = list[tuple[Array, NDArray[np.integer[Any]]]]  # points (n, 3) and triangles (m, 3) of meshes

_FACED: Final = ("MESH", "CURVE", "SURFACE", "META", "FONT")  # objects that have faces, or may have
_SAME: Final = 1e-6  # of the size of a mesh: vertices so near are one, as where a file has split them
_RESTING: Final = 1e-5  # of the size of a mesh: nearer points have the normal of the surface, or are on an edge


class MeshSurface:
    """All faces of meshes, as `read_faces` gives those of one object or more, in the space of their points.

    Called with points (n, 3) it returns the signed distances (n,) from them, negative inside of meshes that are closed,
    and unit normals (n, 3): the directions in which the distances grow. The sign is that of the normal of the nearest
    face, edge or corner (J. A. Baerentzen and H. Aanaes, "Signed distance computation using the angle weighted
    pseudonormal", 2005).
    """

    def __init__(self, read: Faces) -> None:
        self._places, self._corners = joined(read)
        solid = [_solid(places, corners) for places, corners in read]
        self._normals = np.concatenate([normals for normals, _ in solid])  # (m, 7, 3)
        self._closed = np.concatenate([np.full(len(normals), closed) for normals, closed in solid])
        self._tree: Any = BVHTree.FromPolygons(self._places.tolist(), self._corners.tolist(), all_triangles=True)
        self._least = _RESTING * float(np.ptp(self._places, axis=0).max())

    def __call__(self, points: Array) -> tuple[Array, Array]:
        """Return distances and normals, see the class."""
        found = [self._tree.find_nearest(point) for point in points.tolist()]
        if not found:
            return np.zeros(0), np.zeros((0, 3))
        places = np.array([place for place, *_ in found])
        faces = np.array([face for *_, face, _ in found])
        normals = self._normals[faces, _features(places, self._places[self._corners[faces]], self._least)]
        away = points - places
        distances = np.linalg.norm(away, axis=-1)
        inside = self._closed[faces] & ((away * normals).sum(axis=-1) < 0.0)
        sign = np.where(inside, -1.0, 1.0)
        far = distances > self._least
        directions = np.where(far[:, None], away * (sign / np.maximum(distances, self._least))[:, None], normals)
        return sign * distances, directions


def read_faces(context: Any, owners: Iterable[Any], world: Array) -> Faces:
    """Return the points (n, 3) and triangles (m, 3) of each object that has faces, and of all that they instance.

    As Blender shows them now, in the space of a world matrix (4, 4); from their front, corners go anticlockwise.
    """
    graph, owners = evaluated_graph(context), [*owners]
    names = {owner.name for owner in owners}
    parts: Faces = []

    def read(evaluated: Any, matrix: Any) -> None:
        if evaluated.type not in _FACED:
            return
        with _seen_mesh(evaluated, matrix, world) as (mesh, places):
            corners = _corners(mesh)
        if len(corners):
            mirrored = np.linalg.det(np.linalg.solve(world, np.array(matrix, float))) < 0.0
            parts.append((places, corners[:, :: -1 if mirrored else 1]))

    for owner in owners:
        read(owner.evaluated_get(graph), owner.evaluated_get(graph).matrix_world)
    for one in graph.object_instances:
        if one.is_instance and one.parent.name in names:
            read(one.object, one.matrix_world)
    return parts


def joined(parts: Faces) -> tuple[Array, NDArray[np.integer[Any]]]:
    """Return the points (n, 3) and triangles (m, 3) of several meshes as those of one."""
    starts = np.cumsum([0, *(len(places) for places, _ in parts)])
    corners = [own + start for (_, own), start in zip(parts, starts, strict=False)]
    return np.concatenate([places for places, _ in parts]), np.concatenate(corners)


def _corners(mesh: Any) -> NDArray[np.int32]:
    """Return the triangles (m, 3) of a mesh."""
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    return corners.reshape(-1, 3)


def _solid(places: Array, corners: NDArray[np.integer[Any]]) -> tuple[Array, bool]:
    """Return the unit normals (m, 7, 3) of triangles: of their faces, edges opposite to corners, and corners.

    And whether the mesh is closed: then they point outwards.
    """
    size = float(np.ptp(places, axis=0).max()) or 1.0
    _, same = np.unique(np.round(places / (_SAME * size)), axis=0, return_inverse=True)
    joined = same.reshape(-1)[corners]
    a, b, c = np.moveaxis(places[corners], 1, 0)
    faces = np.cross(b - a, c - a)
    volume = float((a * faces).sum()) - float(places.mean(axis=0) @ faces.sum(axis=0))
    faces = faces / np.maximum(np.linalg.norm(faces, axis=-1, keepdims=True), np.finfo(float).tiny)
    ends = np.sort(np.stack([joined[:, (1, 2)], joined[:, (2, 0)], joined[:, (0, 1)]], axis=1), axis=-1)
    _, edge, counts = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True, return_counts=True)
    edge = edge.reshape(-1)
    at_edges = np.zeros((len(counts), 3))
    np.add.at(at_edges, edge, np.repeat(faces, 3, axis=0))
    sides = places[corners][:, (1, 2, 0)] - places[corners]
    sides = sides / np.maximum(np.linalg.norm(sides, axis=-1, keepdims=True), np.finfo(float).tiny)
    angles = np.arccos(np.clip(-(sides * sides[:, (2, 0, 1)]).sum(axis=-1), -1.0, 1.0))
    at_corners = np.zeros((len(places), 3))
    np.add.at(at_corners, joined.reshape(-1), (angles[..., None] * faces[:, None]).reshape(-1, 3))
    normals = np.concatenate([faces[:, None], at_edges[edge].reshape(-1, 3, 3), at_corners[joined]], axis=1)
    closed = bool((counts == 2).all())
    normals = normals / np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), np.finfo(float).tiny)
    return (-normals if closed and volume < 0.0 else normals), closed


def _features(places: Array, triangles: Array, near: float) -> NDArray[np.int64]:
    """Return on what of their triangles (n, 3, 3) places (n, 3) are: the face, 0, an edge, 1 to 3, a corner, 4 to 6.

    On edges and corners they are that are nearer than `near`: shares of area would be wrong in thin triangles.
    """
    away, ways = places[:, None] - triangles, triangles[:, (2, 0, 1)] - triangles[:, (1, 2, 0)]
    along = away[:, (1, 2, 0)]  # from where the edges begin
    shares = (along * ways).sum(axis=-1) / np.maximum((ways * ways).sum(axis=-1), np.finfo(float).tiny)
    edges = np.linalg.norm(along - np.clip(shares, 0.0, 1.0)[..., None] * ways, axis=-1)
    corners = np.linalg.norm(away, axis=-1)
    on_edge = np.where(edges.min(axis=1) < near, 1 + edges.argmin(axis=1), 0)
    return np.where(corners.min(axis=1) < near, 4 + corners.argmin(axis=1), on_edge)


def read_skin(context: Any, armature: ArmatureObject, body: Body, side: str, besides: Iterable[Any] = ()) -> Skin:
    """Return the skin of the fingers of a hand, as Blender shows it now; `besides`: meshes that are none.

    Its triangles are those of which fingers move a corner more than the hand does.
    All other bones count as the hand, which does not move while fingers close.
    """
    skeleton, hand = body.skeleton, body.roles.bone(f"hand.{side}")
    own = {skeleton.names[bone]: bone for chain in finger_chains(body.roles, side).values() for bone in chain}
    owners = dict[str, int]()  # bone -> the one of the body that it goes with
    for bone in armature.data.bones:
        above = (one.name for one in (bone, *bone.parent_recursive))
        owners[bone.name] = next((own[name] for name in above if name in own), hand)
    places, rows, triangles = [np.zeros((0, 3))], list[dict[int, float]](), [np.zeros((0, 3), int)]
    avoided = {one.name for one in besides}
    for owner in context.view_layer.objects:
        if owner.type != "MESH" or owner.name in avoided or not owner.visible_get():
            continue
        with evaluated_mesh(context, owner, world_matrix(armature)) as (mesh, points):
            if is_deformed(owner, armature):
                found = _weights(mesh, owner, armature, owners, hand)
            elif owner.parent == armature and owner.parent_bone in owners and owners[owner.parent_bone] != hand:
                found = {point: {owners[owner.parent_bone]: 1.0} for point in range(len(points))}
            else:
                continue
            number = np.full(len(points), -1)
            number[[*found]] = np.arange(len(rows), len(rows) + len(found))
            mostly = np.zeros(len(points), bool)
            mostly[[point for point, row in found.items() if row.get(hand, 0.0) < 0.5]] = True
            corners = _corners(mesh)
            inside = (number[corners] >= 0).all(axis=1) & mostly[corners].any(axis=1)
            triangles.append(number[corners[inside]])
            places.append(points[[*found]])
            rows += found.values()
    width = max(map(len, rows), default=1)
    bones, weights = np.full((len(rows), width), hand), np.zeros((len(rows), width))
    for number, row in enumerate(rows):
        bones[number, : len(row)], weights[number, : len(row)] = [*row], [*row.values()]
    shown = np.concatenate(places), bones, weights, np.concatenate(triangles)
    return rest_skin(skeleton, forward_matrices(skeleton, body.pose), *shown)


def _weights(
    mesh: Any, owner: Any, armature: ArmatureObject, owners: Mapping[str, int], hand: int
) -> dict[int, dict[int, float]]:
    """Return vertex -> bone of the body -> weight, of the vertices that other bones than the hand move."""
    groups = {
        group.index: owners[group.name] for group in owner.vertex_groups
        if group.name in owners and armature.data.bones[group.name].use_deform
    }  # fmt: skip
    moving = {group for group, bone in groups.items() if bone != hand}
    found = dict[int, dict[int, float]]()
    for vertex in mesh.vertices:
        weights = {one.group: one.weight for one in vertex.groups if one.weight and one.group in groups}
        if moving.isdisjoint(weights):
            continue
        row, whole = dict[int, float](), sum(weights.values())
        for group, weight in weights.items():
            row[groups[group]] = row.get(groups[group], 0.0) + weight / whole
        found[vertex.index] = row
    return found


def faces_near(context: Any, armature: ArmatureObject, centre: Array, radius: float) -> dict[Any, Faces]:
    """Return the visible objects with faces within a sphere of armature space, by boxes, but for the armature's.

    And all their faces, see `read_faces`.
    """
    found, world = dict[Any, Faces](), world_matrix(armature)

    def is_near(corners: Array) -> bool:
        away = np.maximum(np.maximum(corners.min(axis=0) - centre, centre - corners.max(axis=0)), 0.0)
        return bool(np.linalg.norm(away) <= radius)

    for owner in context.view_layer.objects:
        if not owner.visible_get() or is_deformed(owner, armature) or _hangs_on(owner, armature):
            continue
        evaluated = owner.evaluated_get(evaluated_graph(context))
        matrix = np.linalg.solve(world, np.array(evaluated.matrix_world, float))
        corners = np.array([corner[:] for corner in evaluated.bound_box]) @ matrix[:3, :3].T + matrix[:3, 3]
        if not (evaluated.is_instancer or (owner.type in _FACED and is_near(corners))):
            continue
        read = read_faces(context, [owner], world)
        if any(is_near(places) for places, _ in read):
            found[owner] = read
    return found


def _hangs_on(owner: Any, armature: ArmatureObject) -> bool:
    """Return whether an object is below an armature."""
    while owner is not None and owner != armature:
        owner = owner.parent
    return owner == armature


def is_deformed(owner: Any, armature: ArmatureObject) -> bool:
    """Return whether an armature deforms an object."""
    bound = any(one.type == "ARMATURE" and one.show_viewport and one.object == armature for one in owner.modifiers)
    return bound or (owner.parent == armature and owner.parent_type == "ARMATURE")


@contextmanager
def evaluated_mesh(context: Any, owner: Any, world: Array) -> Iterator[tuple[Any, Array]]:
    """Give an object's mesh as Blender shows it, and its points (n, 3) in the space of a world matrix (4, 4)."""
    evaluated = owner.evaluated_get(evaluated_graph(context))
    with _seen_mesh(evaluated, evaluated.matrix_world, world) as seen:
        yield seen


@contextmanager
def _seen_mesh(evaluated: Any, matrix_world: Any, world: Array) -> Iterator[tuple[Any, Array]]:
    """Give the mesh of an evaluated object at a matrix, and its points (n, 3) in the space of a world matrix (4, 4)."""
    mesh = evaluated.to_mesh()
    matrix = np.linalg.solve(world, np.array(matrix_world, float))
    try:
        yield mesh, gather(mesh.vertices, "co", 3) @ matrix[:3, :3].T + matrix[:3, 3]
    finally:
        evaluated.to_mesh_clear()
