"""Find the part of a rig under the mouse: joints, ends and lengths of visible bones, and custom shapes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..core import rotation
from ..core.rotation import Array
from .armature import read_matrices, world_matrix
from .channels import gather
from .pick_order import LAST, read_pick_order
from .shapes import outlines_near
from .skin import pick_skin
from .view import View

_JOINT: Final = 11.0  # pixels, times the scale of the interface, from a joint or an end
_LENGTH: Final = 7.0  # pixels, likewise, from the line between them
_THICKNESS: Final = 0.08  # of a bone's length: the width of Blender's octahedral bones
_TIE: Final = 1.5  # pixels within which two points count as one place on screen, as both hands from the side
_HEAD, _TAIL = 0.0, 1.0


@dataclass(frozen=True)
class Grab:
    """A point of a bone, in its frame and armature units. It keeps names: Blender's objects do not survive undo."""

    object_name: str
    bone: str
    point: tuple[float, float, float]

    @property
    def is_joint(self) -> bool:
        """Whether the point is the bone's head."""
        return not any(self.point)

    @property
    def on_skin(self) -> bool:
        """Whether the point is beside the bone's axis."""
        return any(self.point[::2])


def is_tip(grab: Grab, length: float) -> bool:
    """Return whether the point is the tail of a bone of this length."""
    return not grab.on_skin and bool(np.isclose(grab.point[1], length))


def pick(context: Any, view: View, mouse: tuple[float, float], scale: float = 1.0) -> Grab | None:
    """Return the grab at a pixel of the view among all visible pose bones, or None; `scale` is the interface scale.

    A bone with a custom shape is grabbed by the shape, or by its joint if nothing that is drawn is near. Of bones in
    one place the first by `read_pick_order` is grabbed. Where no bone is near, the mesh is grabbed by its weights.
    """
    best: tuple[float, Grab] | None = None
    for armature, names in shown_bones(context).items():
        bones = armature.data.bones
        place_of = {name: place for place, name in enumerate(bones.keys())}  # `find` is a linear search
        numbers = [place_of[name] for name in names]
        lengths = gather(bones, "length", 1)[:, 0]
        matrices = world_matrix(armature) @ _square(read_matrices(armature)[numbers])
        free = np.array([not any(child.use_connect for child in bones[name].children) for name in names])
        shapes = outlines_near(context, armature, names, view, np.array(mouse, float), _LENGTH * scale)
        order = read_pick_order(armature)
        orders = np.array([order.get(name, LAST) for name in names])
        found = nearest(view, mouse, matrices, lengths[numbers], free, scale, shapes, orders)
        if found is None:
            continue
        far, place, share = found
        if best is None or far < best[0]:
            point = (0.0, share * float(lengths[numbers[place]]), 0.0)
            best = far, Grab(armature.name, names[place], point)
    if best is not None:
        return best[1]
    seen = pick_skin(context, view, mouse)
    return None if seen is None else Grab(seen[0].name, seen[1], tuple(seen[2].tolist()))


def shown_bones(context: Any) -> dict[Any, list[str]]:
    """Return the visible, selectable pose bones by armature, in Blender's order; none if the view hides bones."""
    found: dict[Any, list[str]] = {}
    overlay = getattr(context.space_data, "overlay", None)  # a script may have no view
    if overlay is not None and not (overlay.show_overlays and overlay.show_bones):
        return found
    for bone in context.visible_pose_bones or ():
        if not bone.bone.hide_select:
            found.setdefault(bone.id_data, []).append(bone.name)
    return found


def nearest(
    view: View, mouse: tuple[float, float], matrices: Array, lengths: Array, free: Any, scale: float = 1.0,
    shapes: Mapping[int, Array] | None = None, order: Array | None = None,
) -> tuple[float, int, float] | None:  # fmt: skip
    """Return the distance in pixels, the bone, and the place along it (0 head, 1 tail) next to the mouse, or None.

    matrices (n, 4, 4) from bones to the world, lengths (n,) of the bones, free (n,): the tail is not another bone's
    joint; shapes: lines (m, 2, 3) in the world that are drawn in place of a bone; order (n,): lower ones come first.
    Joints come before lengths. Of joints in one place on screen the front one is returned, then the first in order,
    then the armature's first.
    """
    shapes = shapes or {}
    order = np.zeros(len(matrices), int) if order is None else order
    plain = ~np.isin(np.arange(len(matrices)), list(shapes))
    heads = matrices[:, :3, 3]
    tails = heads + matrices[:, :3, 1] * lengths[:, None]
    at = np.array(mouse, float)
    to_head, to_tail = (np.where(plain, rotation.lengths(view.pixels(ends) - at), np.nan) for ends in (heads, tails))
    for far, points, share in ((to_head, heads, _HEAD), (np.where(free, to_tail, np.nan), tails, _TAIL)):
        place = _choose(view, points, far, _JOINT * scale, order)
        if place is not None:
            return float(far[place]), place, share
    own = np.flatnonzero(plain)
    owners = np.concatenate([own, *(np.full(len(lines), bone) for bone, lines in shapes.items())])
    lines = np.concatenate([np.stack([heads[own], tails[own]], axis=1), *shapes.values()])
    share, far = view.to_lines(at, lines)
    thickness = np.where(np.arange(len(lines)) < len(own), _THICKNESS, 0.0)
    reach = np.maximum(_LENGTH * scale, thickness * rotation.lengths(np.diff(view.pixels(lines), axis=1)[:, 0]))
    line = _choose(view, lines[:, 0] + share[:, None] * (lines[:, 1] - lines[:, 0]), far, reach, order[owners])
    if line is None:  # animators grab joints that a custom shape does not show
        return nearest(view, mouse, matrices, lengths, free, scale, order=order) if shapes else None
    place = int(owners[line])
    along = _along(view, at, lines[line, 0], lines[line, 1], float(share[line])) if line < len(own) else _HEAD
    return float(far[line]), place, along


def _choose(view: View, points: Array, far: Array, reach: Array | float, order: Array) -> int | None:
    """Return which of the points (n, 3) at `far` (n,) pixels is meant, or None if all are out of reach."""
    near = np.where(far <= reach, far, np.inf)
    if not len(near) or not np.isfinite(near.min()):
        return None
    depth = np.where(near <= near.min() + _TIE, -points @ view.turn[2], np.inf)
    slack = _TIE * float(view.pixel(points[np.argmin(near)]))
    return int(np.argmin(np.where(depth <= depth.min() + slack, order, np.inf)))


def _along(view: View, at: Array, head: Array, tail: Array, share: float) -> float:
    """Return the place along a bone in world space; with perspective it differs from the share in pixels."""
    point = view.on_line(at, head, tail - head)
    if point is None:
        return share
    way = tail - head
    return float(np.clip((point - head) @ way / max(float(way @ way), np.finfo(float).tiny), 0.0, 1.0))


def _square(matrices: Array) -> Array:
    """Return matrices (..., 3, 4) as (..., 4, 4)."""
    last = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*matrices.shape[:-2], 1, 4))
    return np.concatenate([matrices, last], axis=-2)
