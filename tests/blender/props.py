"""Props put into the hands of bodies, and how far the skin of their fingers is from them, as Blender shows both."""

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector
from mathutils.bvhtree import BVHTree

import bridge
from core import forward
from core.body.grip import finger_chains
from core.body.ground import find_palm
from core.pose import forward_matrices
from tests.blender.rigs import skin_of

context: Any = bpy.context
OFF = 5e-4  # metres
NEARER = 1e-5  # metres
APART = 8e-4  # metres
FAR = 1e3  # metres, as far as anything is
WAYS = tuple(Vector(way).normalized() for way in ((0.3, 0.5, 0.81), (-0.7, 0.2, 0.68), (0.1, -0.9, 0.42)))


def make_prop(kind: str, radius: float) -> Any:
    """A mesh about the origin: "cylinder" or "prism" of three sides along Z, "cone", "sphere", "box", or "mug", a wall
    open at its ends; or "curve", a tube along Z.
    """
    if kind == "sphere":
        bpy.ops.mesh.primitive_uv_sphere_add(radius=radius, segments=48, ring_count=32)
    elif kind == "box":
        bpy.ops.mesh.primitive_cube_add(size=2.0 * radius)
    elif kind == "cone":
        bpy.ops.mesh.primitive_cone_add(radius1=radius, radius2=radius / 7.0, depth=0.16, vertices=32)
    elif kind == "curve":
        data = bpy.data.curves.new("curve", "CURVE")
        data.dimensions, data.bevel_depth, data.bevel_resolution, data.use_fill_caps = "3D", radius, 14, True
        data.splines.new("POLY").points.add(1)
        for point, end in zip(data.splines[0].points, (-0.1, 0.1), strict=True):
            point.co = (0.0, 0.0, end, 1.0)
        context.collection.objects.link(bpy.data.objects.new("curve", data))
        context.view_layer.objects.active = bpy.data.objects["curve"]
    else:
        ends = "NOTHING" if kind == "mug" else "NGON"
        bpy.ops.mesh.primitive_cylinder_add(
            radius=radius, depth=0.2, vertices=3 if kind == "prism" else 64, end_fill_type=ends
        )
    prop = context.active_object
    prop.name = kind
    if kind == "mug":
        wall = prop.modifiers.new("Wall", "SOLIDIFY")
        wall.thickness, wall.offset = 0.1 * radius, -1.0
    return prop


def palm_of(rig: Any, side: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """The middle of the knuckles, the palm's normal, the direction of the fingers in the world, the palm's length."""
    body = bridge.read_body(rig)
    hand, palm, out, _ = find_palm(body.skeleton, body.roles, side)
    frame, matrix = forward_matrices(body.skeleton, body.pose)[hand], np.array(rig.matrix_world)
    heads, _ = forward(body.skeleton, body.pose)
    knuckles, wrist = heads[body.roles.knuckles(side)].mean(axis=0), heads[hand]
    normal, ahead = (matrix[:3, :3] @ frame[:, :3] @ way for way in (palm, out))
    place = matrix[:3, :3] @ knuckles + matrix[:3, 3]
    reach = float(np.linalg.norm(matrix[:3, :3] @ (knuckles - wrist)))
    return place, normal / np.linalg.norm(normal), ahead / np.linalg.norm(ahead), reach


def put_in_hand(rig: Any, side: str, kind: str, radius: float) -> Any:
    """A prop that lies in a hand, along the knuckles, half a millimetre off the skin of the fingers."""
    mode = rig.mode
    bpy.ops.object.mode_set(mode="OBJECT")
    prop = make_prop(kind, radius)
    place, normal, out, _ = palm_of(rig, side)
    along = np.cross(out, normal)
    turned = Matrix(np.stack([out, np.cross(along, out), along], axis=1).tolist()).to_4x4()
    points, faces = skin_of_fingers(rig, side)
    skin = [one for one in points if one[0] != "thumb"], [one for one in faces if one[0] != "thumb"]
    room, reach = radius + 0.01, np.inf
    for _ in range(8):
        prop.matrix_world = Matrix.Translation((place + room * normal).tolist()) @ turned
        context.view_layer.update()
        far = [gaps.min() for gaps in distances_of(skin, prop, reach).values()]
        nearer = OFF - min(far, default=OFF)
        if nearer < NEARER:
            break
        room += nearer
        reach = OFF + 2.0 * abs(nearer)  # the nearest point is no farther after that
    prop.select_set(False)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode=mode)
    context.view_layer.update()
    return prop


def finger_names(rig: Any, side: str) -> dict[str, str]:
    """Bone -> its finger."""
    body = bridge.read_body(rig)
    chains = finger_chains(body.roles, side)
    return {body.skeleton.names[bone]: finger for finger, chain in chains.items() for bone in chain}


def skin_distances(rig: Any, side: str, prop: Any) -> dict[str, np.ndarray]:
    """Finger -> how far its skin is from a prop in the world, below 0 inside, by parity of rays.

    Of all vertices, and of points of the faces that are near, but for those of the palm.
    """
    return distances_of(skin_of_fingers(rig, side), prop)


Skin = tuple[list[tuple[str, Vector]], list[tuple[str, list[Vector]]]]  # vertices, and the corners of faces


def skin_of_fingers(rig: Any, side: str) -> Skin:
    """The skin of fingers in the world, each part with its finger."""
    fingers = finger_names(rig, side)
    depsgraph = context.evaluated_depsgraph_get()
    points, faces = list[tuple[str, Vector]](), list[tuple[str, list[Vector]]]()
    for owner in context.view_layer.objects:
        if not any(one.type == "ARMATURE" and one.object == rig for one in owner.modifiers):
            continue
        skin = owner.evaluated_get(depsgraph)
        groups = {group.index: fingers[group.name] for group in owner.vertex_groups if group.name in fingers}
        flesh, on, palm = skin.to_mesh(), dict[int, str](), set[int]()
        for vertex in flesh.vertices:
            weights = [(one.weight, groups[one.group]) for one in vertex.groups if one.group in groups]
            if weights and max(weights)[0] > 0.01:
                on[vertex.index] = max(weights)[1]
            if sum(weight for weight, _ in weights) < 0.5:
                palm.add(vertex.index)
        points += [(finger, skin.matrix_world @ flesh.vertices[index].co) for index, finger in on.items()]
        flesh.calc_loop_triangles()
        for face in flesh.loop_triangles:
            if on.keys() >= {*face.vertices} and not palm >= {*face.vertices}:
                corners = [skin.matrix_world @ flesh.vertices[index].co for index in face.vertices]
                faces.append((on[face.vertices[0]], corners))
    return points, faces


def distances_of(skin: Skin, prop: Any, reach: float = np.inf) -> dict[str, np.ndarray]:
    """Finger -> how far its skin is from a prop, of points within a reach of its surface."""
    shown = prop.evaluated_get(context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    mesh.calc_loop_triangles()
    places = [shown.matrix_world @ vertex.co for vertex in mesh.vertices]
    tree: Any = BVHTree.FromPolygons(places, [tuple(face.vertices) for face in mesh.loop_triangles], all_triangles=True)
    (left, front, bottom), (right, back, top) = np.min(places, axis=0).tolist(), np.max(places, axis=0).tolist()
    found: dict[str, list[float]] = {}
    points, faces = skin
    for finger, place in [*points, *((finger, one) for finger, face in faces for one in points_within(face, tree))]:
        far = tree.find_nearest(place, min(reach, FAR))[3]
        if far is None:
            continue
        in_box = left < place.x < right and front < place.y < back and bottom < place.z < top
        found.setdefault(finger, []).append(-far if in_box and is_inside(tree, place) else far)
    return {finger: np.array(far) for finger, far in found.items()}


def points_within(corners: list[Vector], tree: Any) -> list[Vector]:
    """Points of a triangle at most `APART` from each other, if a surface may touch it."""
    middle = sum(corners, Vector()) / 3.0
    radius = max((corner - middle).length for corner in corners)
    if tree.find_nearest(middle)[3] > radius + OFF:
        return []
    count = int(np.ceil(2.0 * radius / APART))
    a, b, c = corners
    return [(i * a + j * b + (count - i - j) * c) / count for i in range(count + 1) for j in range(count + 1 - i)]


def is_inside(tree: Any, place: Vector) -> bool:
    """Whether most of some rays from a place meet the surface an odd number of times."""
    odd = 0
    for number, way in enumerate(WAYS):
        if number == 2 and odd != 1:
            break  # the others agree
        start, count = place.copy(), 0
        while (hit := tree.ray_cast(start, way)[0]) is not None:
            start, count = hit + 1e-6 * way, count + 1
        odd += count % 2
    return odd >= 2


def wrap_fingers(rig: Any, radius: float = 0.0075) -> Any:
    """A skin of a tube round each deforming bone of the fingers, which moves with it alone."""
    fingers = finger_names(rig, "L") | finger_names(rig, "R")
    corners, faces, owners = list[Vector](), list[tuple[int, ...]](), list[str]()
    scale = float(np.cbrt(abs(np.linalg.det(np.array(rig.matrix_world)[:3, :3]))))
    for bone in rig.data.bones:
        if bone.name not in fingers:
            continue
        first = len(corners)
        for along in np.linspace(0.0, bone.length, 9):
            for angle in np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False):
                ring = radius / scale * np.array((np.cos(angle), 0.0, np.sin(angle)))
                corners.append(bone.matrix_local @ Vector((ring[0], along, ring[2])))
        owners += [bone.name] * (len(corners) - first)
        rings = [(first + 12 * row + col, first + 12 * row + (col + 1) % 12) for row in range(8) for col in range(12)]
        faces += [(one, other, other + 12, one + 12) for one, other in rings]
    return skin_of(rig, corners, faces, owners)
