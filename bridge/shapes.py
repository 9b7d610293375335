"""Read the custom shapes that Blender draws in place of bones, as lines in the world."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from mathutils import Matrix, Vector

from ..core.rotation import Array
from .channels import ArmatureObject, gather
from .view import View
from .worlds import world_matrix

# a bone with an empty as shape is picked by its own lines
_MESHED: Final = {"MESH", "CURVE", "SURFACE", "FONT", "META"}


def read_outline(context: Any, bone: Any) -> Array | None:
    """Return the edges (m, 2, 3), in the world, of a pose bone's custom shape, or None if it has none."""
    shape = _shape_of(bone)
    if shape is None:
        return None
    points, edges, _ = _read_mesh(context, shape)
    return placed(world_matrix(bone.id_data) @ _matrix_of(bone), points)[edges]


def outlines_near(
    context: Any, armature: ArmatureObject, names: Sequence[str], view: View, mouse: Array, reach: float
) -> dict[int, Array]:
    """Return lines (m, 2, 3), in the world, of the bones with a custom shape, by their index in `names`.

    Shapes further than `reach` pixels from the mouse have no lines. A face under the mouse adds a line of length zero.
    """
    found = {place: armature.pose.bones[name] for place, name in enumerate(names)}
    shapes = {place: shape for place, bone in found.items() if (shape := _shape_of(bone)) is not None}
    if not shapes:
        return {}
    boxes = np.array([[corner[:] for corner in shape.bound_box] for shape in shapes.values()])
    matrices = world_matrix(armature) @ np.stack([_matrix_of(found[place]) for place in shapes])
    seen = view.pixels(placed(matrices, boxes))
    # False for points behind the viewer
    beside = (mouse < seen.min(axis=1) - reach) | (mouse > seen.max(axis=1) + reach)
    lines: dict[int, Array] = {}
    for (place, shape), matrix, far in zip(shapes.items(), matrices, beside.any(axis=1), strict=True):
        lines[place] = np.zeros((0, 2, 3))
        if far:
            continue
        points, edges, triangles = _read_mesh(context, shape)
        points = placed(matrix, points)
        lines[place] = points[edges]
        if not found[place].bone.show_wire:
            hits = _hits(view, mouse, points[triangles])
            lines[place] = np.concatenate([lines[place], np.stack([hits, hits], axis=1)])
    return lines


def _shape_of(bone: Any) -> Any:
    """Return the object that is drawn in place of a pose bone, or None."""
    shape = bone.custom_shape
    return shape if shape is not None and shape.type in _MESHED and bone.id_data.data.show_bone_custom_shapes else None


def _matrix_of(bone: Any) -> Array:
    """Return the matrix (4, 4) from the shape to armature space, as Blender's draw_bone_update_disp_matrix_custom."""
    carrier = bone.custom_shape_transform or bone
    size = bone.bone.length if bone.use_custom_shape_bone_size else 1.0
    scale = size * Vector(bone.custom_shape_scale_xyz)
    own = Matrix.LocRotScale(bone.custom_shape_translation, bone.custom_shape_rotation_euler, scale)
    return np.array(carrier.matrix @ own, float)


def _read_mesh(context: Any, shape: Any) -> tuple[Array, Any, Any]:
    """Return points (n, 3), edges (m, 2) and triangles (k, 3) of an evaluated object in its own space."""
    evaluated = shape.evaluated_get(context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    try:
        points = gather(mesh.vertices, "co", 3)
        edges, triangles = (
            gather(part, "vertices", size).astype(int) for part, size in ((mesh.edges, 2), (mesh.loop_triangles, 3))
        )
    finally:
        evaluated.to_mesh_clear()
    return points, edges, triangles


def placed(matrices: Array, points: Array) -> Array:
    """Return points (..., n, 3) transformed by matrices (..., 4, 4)."""
    return points @ np.swapaxes(matrices[..., :3, :3], -1, -2) + matrices[..., None, :3, 3]


def _hits(view: View, mouse: Array, triangles: Array) -> Array:
    """Return approximate points (h, 3) under the mouse, one for each of the triangles (k, 3, 3) that is hit."""
    a, b, c = np.moveaxis(view.pixels(triangles) - mouse, 1, 0)
    shares = np.stack([_cross(b, c), _cross(c, a), _cross(a, b)], axis=-1)
    whole = shares.sum(axis=-1)
    under = np.all(shares * whole[:, None] >= 0.0, axis=-1) & (whole != 0.0)
    return np.sum((shares[under] / whole[under, None])[..., None] * triangles[under], axis=1)


def _cross(a: Array, b: Array) -> Array:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
