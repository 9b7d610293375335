"""Find the part of a body under the mouse by its mesh: by the weights of the face that is seen there."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import rotation
from ..core.pose import frame_rotations
from ..core.rotation import Array
from .armature import read_matrices
from .channels import ArmatureObject
from .pick_order import read_posers
from .view import View
from .worlds import world_matrix


def pick_skin(context: Any, view: View, mouse: tuple[float, float]) -> tuple[ArmatureObject, str, Array] | None:
    """Return an armature in Pose Mode, the bone that poses what is seen at a pixel, and the point (3,) in its frame.

    None if what is seen there is no mesh of such an armature, or if its bone is not to be selected.
    """
    depsgraph = context.evaluated_depsgraph_get()
    near, far = view.ray(mouse, 1.0)
    hit, place, _, face, seen, _ = context.scene.ray_cast(depsgraph, near, far - near)
    found = next(_bones_of(seen.original, seen.evaluated_get(depsgraph), face), None) if hit else None
    if found is None:
        return None
    armature, bone = found
    posers = read_posers(armature)
    name = posers.get(bone, bone)
    if armature.data.bones[name].hide_select and name not in posers:  # riggers lock deforming bones, also those on IK
        return None
    at = np.linalg.solve(world_matrix(armature), [*place, 1.0])[:3]
    matrix = read_matrices(armature)[armature.data.bones.find(name)]
    turn = frame_rotations(matrix[:, :3])
    return armature, name, rotation.rotate(rotation.inv(turn), at - matrix[:, 3])


def _bones_of(seen: Any, evaluated: Any, face: int) -> Iterator[tuple[ArmatureObject, str]]:
    """Yield armatures in Pose Mode with the bone that carries a face of an object most, or the object itself."""
    parent = seen.parent
    if parent is not None and seen.parent_type == "BONE" and parent.mode == "POSE" and seen.parent_bone:
        yield parent, seen.parent_bone
    bound = [modifier.object for modifier in seen.modifiers if modifier.type == "ARMATURE" and modifier.show_viewport]
    for armature in [*bound, parent]:
        if armature is None or armature.type != "ARMATURE" or armature.mode != "POSE" or seen.type != "MESH":
            continue
        mesh, weights = evaluated.data, Counter[int]()
        for vertex in mesh.polygons[face].vertices if face < len(mesh.polygons) else ():
            for group in mesh.vertices[vertex].groups:
                weights[group.group] += group.weight
        bones, groups = armature.data.bones, seen.vertex_groups
        names = [groups[group].name for group, weight in weights.most_common() if weight and group < len(groups)]
        yield from ((armature, name) for name in names if name in bones and bones[name].use_deform)
