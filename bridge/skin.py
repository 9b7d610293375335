"""Find the part of a body under the mouse by its mesh: by the weights of the face that is seen there."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ..core import rotation
from ..core.pose import frame_rotations
from ..core.rotation import Array
from .armature import read_matrices
from .channels import ArmatureObject
from .pick_order import read_posers
from .view import View
from .worlds import world_matrix

_SOLID: Final = {"SOLID", "TEXTURED"}


def pick_skin(context: Any, view: View, mouse: tuple[float, float]) -> tuple[ArmatureObject, str, Array] | None:
    """Return an armature in Pose Mode, the bone that poses what is seen at a pixel, and the point (3,) in its frame.

    None if what is seen there is no mesh of such an armature, or if its bone is not to be selected.
    """
    depsgraph = context.evaluated_depsgraph_get()
    hit, place, face, seen = _cast(context, depsgraph, view, mouse)
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


def find_cover(
    context: Any, armature: ArmatureObject, view: View, mouse: tuple[float, float]
) -> tuple[float, frozenset[str]]:
    """Return how deep, along the view, the surface is that hides the bones behind it at a pixel; infinite if none does.

    And the names of the bones that it does not hide: those that carry it there, and their children, whose joints end
    them. None hides bones that are drawn in front, nor in X-ray, nor does an object that is drawn as wires.
    """
    space = context.space_data  # a script may have no view
    shading, overlay = getattr(space, "shading", None), getattr(space, "overlay", None)
    xray = {"SOLID": "show_xray", "WIREFRAME": "show_xray_wireframe"}.get(getattr(shading, "type", ""), "")
    if armature.show_in_front or getattr(overlay, "show_xray_bone", False) or getattr(shading, xray, False):
        return np.inf, frozenset()
    depsgraph = context.evaluated_depsgraph_get()
    hit, place, face, seen = _cast(context, depsgraph, view, mouse)
    if not hit or seen.display_type not in _SOLID:
        return np.inf, frozenset()
    bones, posers = armature.data.bones, read_posers(armature)
    carriers = [bone for of, bone in _bones_of(seen.original, seen.evaluated_get(depsgraph), face) if of == armature]
    shown = {*carriers, *(child.name for bone in carriers for child in bones[bone].children)}
    return float(view.depth(place)), frozenset(posers.get(bone, bone) for bone in shown)


def _cast(context: Any, depsgraph: Any, view: View, mouse: tuple[float, float]) -> tuple[bool, Any, int, Any]:
    """Return whether something is seen at a pixel, where in the world, which face of its mesh, and of which object."""
    near, far = view.ray(mouse, 1.0)
    hit, place, _, face, seen, _ = context.scene.ray_cast(depsgraph, near, far - near)
    return hit, place, face, seen


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
