"""A body for the armature that Blender's importer makes of CMU's BVH files: one smooth, skinned mesh."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import bmesh
import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from paint import CORAL, HAIR, NAVY, SHOES, SKIN, linear, material

context: Any = bpy.context  # the type stubs take it apart wrongly

VOXEL: Final = 0.011  # metres, of the mesh that melts the parts together
SOFT: Final = 0.012  # metres, over which one bone gives way to the next
CRISP: Final = 0.003  # metres, the same for colours
FAINT: Final = 0.02  # weights below are left out
POINT: Final = 1e-12  # m^2: a part shorter than its root is a ball


@dataclass(frozen=True)
class Part:
    """A tapered capsule in the rest pose, from `start` to `end` (armature space, metres), squashed about its middle."""

    bone: str
    colour: str
    start: Vector
    end: Vector
    radii: tuple[float, float]
    squash: tuple[float, float, float] = (1.0, 1.0, 1.0)

    @property
    def middle(self) -> Vector:
        return (self.start + self.end) / 2.0

    def points(self, sphere: np.ndarray) -> np.ndarray:
        """Its vertices: those of a unit sphere (N, 3) whose halves are pulled apart."""
        along = self.end - self.start
        turn = Vector((0.0, 0.0, 1.0)).rotation_difference(along) if along.length else Quaternion()
        far = (sphere[:, 2] > 0.0).astype(int)
        from_middle = np.array([self.start - self.middle, self.end - self.middle])[far]
        round_end = np.array(self.radii)[far, None] * (sphere @ np.array(turn.to_matrix()).T)
        return np.array(self.middle) + np.array(self.squash) * (from_middle + round_end)

    def distances(self, points: np.ndarray) -> np.ndarray:
        """About how far points (N, 3) are outside of it, (N,)."""
        middle, start, end = (np.array(v) for v in (self.middle, self.start - self.middle, self.end - self.middle))
        own, along = (points - middle) / np.array(self.squash) - start, end - start
        share = np.clip(own @ along / max(along @ along, POINT), 0.0, 1.0)
        radius = self.radii[0] + share * (self.radii[1] - self.radii[0])
        return np.linalg.norm(own - share[:, None] * along, axis=1) - radius


def body_parts(bones: Any) -> Iterator[Part]:
    """The parts, for the bones of CMU's skeleton in its rest pose: a T-pose that looks along -Y."""

    def at(name: str, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Vector:
        return bones[name].head_local + Vector((x, y, z))

    top = at("Head", 0, -0.012, 0.075)
    yield Part("Head", SKIN, at("Head", 0, -0.02, 0.02), top, (0.085, 0.1), (0.95, 1.08, 1.1))
    yield Part("Head", HAIR, at("Head", 0, 0.018, 0.06), top + Vector((0, 0.01, 0.03)), (0.08, 0.1), (1, 1.06, 1))
    yield Part("Neck", SKIN, at("Spine1", 0, 0, 0.07), at("Neck1"), (0.05, 0.048))
    yield Part("Neck1", SKIN, at("Neck1"), at("Head"), (0.047, 0.047))
    yield Part("Spine1", CORAL, at("Spine1", 0.085, 0, -0.015), at("Spine1", -0.085, 0, -0.015), (0.1, 0.1))
    yield Part("Spine", CORAL, at("Spine", 0.06, 0, 0.05), at("Spine", -0.06, 0, 0.05), (0.102, 0.102))
    yield Part("LowerBack", CORAL, at("LowerBack", 0, 0, 0.06), at("Spine"), (0.108, 0.106), (1.12, 1, 1))
    yield Part("Hips", NAVY, at("LeftUpLeg", -0.01, 0.035, 0.05), at("RightUpLeg", 0.01, 0.035, 0.05), (0.104, 0.104))
    for side, short, s in (("Left", "L", 1.0), ("Right", "R", -1.0)):
        names = ("Shoulder", "Arm", "ForeArm", "Hand", "FingerBase", "UpLeg", "Leg", "Foot", "ToeBase")
        shoulder, arm, fore, hand, fingers, leg, shin, foot, toe = (side + name for name in names)
        thumb, flat = f"{short}Thumb", (1.0, 1.0, 0.55)
        yield Part(shoulder, CORAL, at(arm, -0.09 * s), at(arm), (0.062, 0.059))
        yield Part(arm, CORAL, at(arm), at(fore), (0.056, 0.045))
        yield Part(fore, SKIN, at(fore), at(hand), (0.042, 0.03))
        yield Part(hand, SKIN, at(hand, 0.015 * s), at(hand, 0.075 * s), (0.032, 0.036), flat)
        yield Part(fingers, SKIN, at(hand, 0.08 * s), at(hand, 0.135 * s), (0.034, 0.022), flat)
        yield Part(thumb, SKIN, at(thumb, 0.01 * s), at(thumb, 0.048 * s, -0.048), (0.019, 0.014))
        yield Part(leg, NAVY, at(leg, 0, 0.02, 0), at(shin), (0.09, 0.06))
        yield Part(shin, NAVY, at(shin), at(foot, 0, 0, 0.05), (0.06, 0.046))
        yield Part(foot, SHOES, at(foot, 0, 0.025, -0.018), at(toe, 0, 0.01, 0.0), (0.044, 0.038))
        yield Part(toe, SHOES, at(toe), at(toe, 0, -0.05, 0.0), (0.038, 0.031), (1.15, 1, 0.9))


def make_body(name: str, armature: Any) -> Any:
    """A mesh object with a material, skinned to the armature; not yet deformed by it."""
    parts = list(body_parts(armature.data.bones))
    mesh = melt(name, parts)
    points = vertices(mesh)
    distances = np.stack([part.distances(points) for part in parts], axis=1)

    surface = material(name, CORAL)
    colours = surface.node_tree.nodes.new("ShaderNodeVertexColor")
    colours.layer_name = "Colour"
    surface.node_tree.links.new(
        colours.outputs["Color"], surface.node_tree.nodes["Principled BSDF"].inputs["Base Color"]
    )
    mesh.materials.clear()
    mesh.materials.append(surface)
    paint = mesh.color_attributes.new("Colour", "FLOAT_COLOR", "POINT")
    shades = shares(distances, CRISP) @ np.array([linear(part.colour) for part in parts])
    paint.data.foreach_set("color", shades.ravel())

    body = bpy.data.objects.new(name, mesh)
    weights = shares(distances, SOFT)
    weights[weights < FAINT] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    for part, column in zip(parts, weights.T, strict=True):
        group = body.vertex_groups.get(part.bone) or body.vertex_groups.new(name=part.bone)
        for index in np.flatnonzero(column).tolist():
            group.add([index], float(column[index]), "ADD")
    return body


def shares(distances: np.ndarray, width: float) -> np.ndarray:
    """How much of each point belongs to each part, (N, P): all of it to the nearest, but for parts hardly farther."""
    near = np.exp((distances.min(axis=1, keepdims=True) - distances) / width)
    return near / near.sum(axis=1, keepdims=True)


def melt(name: str, parts: Sequence[Part]) -> Any:
    """One smooth mesh round all parts."""
    sphere, faces = unit_sphere()
    count = len(sphere)
    rough = bpy.data.meshes.new(name)
    rough.from_pydata(
        np.concatenate([part.points(sphere) for part in parts]).tolist(),
        [],
        [[count * number + corner for corner in face] for number in range(len(parts)) for face in faces],
    )
    lump = bpy.data.objects.new(name, rough)
    context.scene.collection.objects.link(lump)
    remesh: Any = lump.modifiers.new("Melt", "REMESH")
    remesh.mode, remesh.voxel_size, remesh.use_smooth_shade = "VOXEL", VOXEL, True
    smooth: Any = lump.modifiers.new("Smooth", "SMOOTH")
    smooth.factor, smooth.iterations = 0.5, 9
    context.view_layer.update()
    mesh = bpy.data.meshes.new_from_object(lump.evaluated_get(context.evaluated_depsgraph_get()))
    bpy.data.objects.remove(lump)
    bpy.data.meshes.remove(rough)
    mesh.name = name
    return mesh


def make_eyes(name: str, bones: Any) -> Any:
    """A mesh of two dots, in the rest pose, so that one sees where the head looks."""
    head = next(part for part in body_parts(bones) if part.bone == "Head")
    build = bmesh.new()
    for s in (-1.0, 1.0):
        out = Vector((0.38 * s, -1.0, -0.02)).normalized() * Vector((0.094, 0.107, 0.1))
        place = Matrix.Translation(head.end + Vector((0.0, 0.0, -0.018)) + out)
        bmesh.ops.create_uvsphere(build, u_segments=16, v_segments=10, radius=0.0125, matrix=place)
    mesh = bpy.data.meshes.new(name)
    build.to_mesh(mesh)
    build.free()
    mesh.shade_smooth()
    return mesh


def unit_sphere() -> tuple[np.ndarray, list[list[int]]]:
    """Points (N, 3) and faces; the poles lie on Z."""
    build = bmesh.new()
    bmesh.ops.create_uvsphere(build, u_segments=24, v_segments=16, radius=1.0)
    points = np.array([vertex.co[:] for vertex in build.verts])
    faces = [[vertex.index for vertex in face.verts] for face in build.faces]
    build.free()
    return points, faces


def thinner(mesh: Any, by: float) -> Any:
    """A copy of a mesh whose surface lies `by` metres inside."""
    copy = mesh.copy()
    normals = np.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("normal", normals)
    copy.vertices.foreach_set("co", vertices(mesh).ravel() - by * normals)
    copy.update()
    return copy


def vertices(mesh: Any) -> np.ndarray:
    """(N, 3)"""
    points = np.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)
