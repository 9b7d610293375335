"""The skin of feet at rest, shoes included: where a body has its soles."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ..core import Skeleton
from ..core.body import SIDES, Roles
from ..core.body.axes import axis_vector
from ..core.rotation import Array
from .channels import ArmatureObject, gather
from .surfaces import is_deformed
from .worlds import world_matrix


def with_soles(armature: ArmatureObject, skeleton: Skeleton, roles: Roles) -> Roles:
    """Return the roles of a human body with the skin of its feet, of the meshes that are shown; others as they are.

    A vertex goes with the part that has the most of its weight. What is above the ankles is no sole.
    """
    ankles = {side: bone for side in SIDES if (bone := roles.bone(f"foot.{side}")) >= 0 and roles.humanoid}
    heights = skeleton.rest_matrices[[*ankles.values()], :, 3] @ axis_vector(roles.up)
    if not ankles:
        return roles
    parts = {
        skeleton.names[bone]: role
        for side in ankles
        for role in (f"foot.{side}", f"toe.{side}")
        if (bone := roles.bone(role)) >= 0
    }
    moved = dict[str, str]()  # bone -> the part that it goes with
    for bone in armature.data.bones:
        above = (one.name for one in (bone, *bone.parent_recursive))
        moved[bone.name] = next((parts[name] for name in above if name in parts), "")
    context: Any = bpy.context
    found: dict[str, list[Array]] = {}
    for owner in context.view_layer.objects:
        if owner.type != "MESH" or not owner.visible_get():
            continue
        for role, places in _skin_of(owner, armature, moved, axis_vector(roles.up), float(heights.max())):
            found.setdefault(role, []).append(places)
    return replace(roles, soles={role: np.concatenate(places) for role, places in found.items()})


def _skin_of(
    owner: Any, armature: ArmatureObject, moved: dict[str, str], up: Array, height: float
) -> Iterator[tuple[str, Array]]:
    """Yield parts with the points (n, 3) of a mesh at rest that go with them and are not above a height."""
    mesh = owner.data
    if is_deformed(owner, armature):
        places = _placed(np.linalg.solve(world_matrix(armature), np.array(owner.matrix_world, float)), mesh)
        low = np.flatnonzero(places @ up <= height)
        bones = armature.data.bones
        groups = {
            group.index: moved[group.name]
            for group in owner.vertex_groups
            if group.name in moved and bones[group.name].use_deform
        }
        named = np.array([_part_of(mesh.vertices[vertex], groups) for vertex in low.tolist()], object)
        yield from ((role, places[low[named == role]]) for role in {*named} - {""})
    elif owner.parent == armature and owner.parent_type == "BONE" and moved.get(owner.parent_bone):
        bone = armature.data.bones[owner.parent_bone]
        tail = np.array(bone.matrix_local) @ [[1, 0, 0, 0], [0, 1, 0, bone.length], [0, 0, 1, 0], [0, 0, 0, 1]]
        places = _placed(tail @ np.array(owner.matrix_parent_inverse @ owner.matrix_basis), mesh)
        yield moved[owner.parent_bone], places[places @ up <= height]


def _part_of(vertex: Any, groups: dict[int, str]) -> str:
    """Return the part that has the most of a vertex's weight; "" for the rest of the body, and where there is none."""
    shares = dict[str, float]()
    for one in vertex.groups:
        if one.group in groups:
            shares[groups[one.group]] = shares.get(groups[one.group], 0.0) + one.weight
    part = max(shares, key=lambda role: shares[role], default="")
    return part if shares.get(part) else ""


def _placed(matrix: Array, mesh: Any) -> Array:
    """Return the points (n, 3) of a mesh at a matrix (4, 4)."""
    return gather(mesh.vertices, "co", 3) @ matrix[:3, :3].T + matrix[:3, 3]
