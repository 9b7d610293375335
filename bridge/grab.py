"""What part of a rig is under the mouse: joints, ends and lengths of the bones that are shown, and custom shapes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..core import rotation
from ..core.rotation import Array
from .armature import gather, read_matrices, world_matrix
from .shapes import outlines_near
from .view import View

_JOINT: Final = 11.0  # pixels, times the scale of the interface, from a joint or an end
_LENGTH: Final = 7.0  # and from the line between them
_THICKNESS: Final = 0.08  # of a bone's length: what Blender's octahedral bones are wide
_TIE: Final = 1.5  # pixels within which two are seen in one place, as both hands from the side
_HEAD, _TAIL = 0.0, 1.0


@dataclass(frozen=True)
class Grab:
    """A point of a bone, in the bone's frame and armature units; names, since Blender's objects die on undo."""

    object_name: str
    bone: str
    point: tuple[float, float, float]

    @property
    def is_joint(self) -> bool:
        """Whether it is the bone's head."""
        return not any(self.point)


def pick(context: Any, view: View, mouse: tuple[float, float], scale: float = 1.0) -> Grab | None:
    """What is grabbed at a pixel of the view among all shown pose bones; `scale` is that of the interface.

    A bone with a custom shape is grabbed by that, and by its joint where nothing that is drawn is near.
    """
    best: tuple[float, Grab] | None = None
    for armature, names in shown_bones(context).items():
        bones = armature.data.bones
        place_of = {name: place for place, name in enumerate(bones.keys())}  # `find` goes through all of them
        numbers = [place_of[name] for name in names]
        lengths = gather(bones, "length", 1)[:, 0]
        matrices = world_matrix(armature) @ _square(read_matrices(armature)[numbers])
        free = np.array([not any(child.use_connect for child in bones[name].children) for name in names])
        shapes = outlines_near(context, armature, names, view, np.array(mouse, float), _LENGTH * scale)
        found = nearest(view, mouse, matrices, lengths[numbers], free, scale, shapes)
        if found is None:
            continue
        far, place, share = found
        if best is None or far < best[0]:
            point = (0.0, share * float(lengths[numbers[place]]), 0.0)
            best = far, Grab(armature.name, names[place], point)
    return None if best is None else best[1]


def shown_bones(context: Any) -> dict[Any, list[str]]:
    """Visible pose bones that can be selected, by armature object, in Blender's order; none in a view without bones."""
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
    shapes: Mapping[int, Array] | None = None,
) -> tuple[float, int, float] | None:  # fmt: skip
    """Pixels away, which bone, and where along it (0 head, 1 tail) the mouse is; None: nothing is near.

    matrices (n, 4, 4) from bones to the world, lengths (n,) of the bones, free (n,): the tail is no other's joint;
    shapes: lines (m, 2, 3) in the world that are drawn in place of a bone.
    Joints come before lengths; of those that are seen in one place the one in front, then the armature's first.
    """
    shapes = shapes or {}
    plain = ~np.isin(np.arange(len(matrices)), list(shapes))
    heads = matrices[:, :3, 3]
    tails = heads + matrices[:, :3, 1] * lengths[:, None]
    at = np.array(mouse, float)
    to_head, to_tail = (np.where(plain, rotation.lengths(view.pixels(ends) - at), np.nan) for ends in (heads, tails))
    for far, points, share in ((to_head, heads, _HEAD), (np.where(free, to_tail, np.nan), tails, _TAIL)):
        place = _choose(view, points, far, _JOINT * scale)
        if place is not None:
            return float(far[place]), place, share
    own = np.flatnonzero(plain)
    owners = np.concatenate([own, *(np.full(len(lines), bone) for bone, lines in shapes.items())])
    lines = np.concatenate([np.stack([heads[own], tails[own]], axis=1), *shapes.values()])
    a, b = np.moveaxis(view.pixels(lines), 1, 0)
    way = b - a
    with np.errstate(invalid="ignore"):
        share = np.sum((at - a) * way, axis=-1) / np.maximum(np.sum(way * way, axis=-1), np.finfo(float).tiny)
    share = np.clip(share, 0.0, 1.0)
    far = rotation.lengths(a + share[:, None] * way - at)
    thickness = np.where(np.arange(len(lines)) < len(own), _THICKNESS, 0.0)
    reach = np.maximum(_LENGTH * scale, thickness * rotation.lengths(way))
    line = _choose(view, lines[:, 0] + share[:, None] * (lines[:, 1] - lines[:, 0]), far, reach)
    if line is None:  # a shape does not show the joints that an animator knows to be there
        return nearest(view, mouse, matrices, lengths, free, scale) if shapes else None
    place = int(owners[line])
    along = _along(view, at, lines[line, 0], lines[line, 1], float(share[line])) if line < len(own) else _HEAD
    return float(far[line]), place, along


def _choose(view: View, points: Array, far: Array, reach: Array | float) -> int | None:
    """Which of the points (n, 3) that are `far` (n,) pixels off is meant; None: all are out of reach."""
    near = np.where(far <= reach, far, np.inf)
    if not len(near) or not np.isfinite(near.min()):
        return None
    depth = np.where(near <= near.min() + _TIE, -points @ view.turn[2], np.inf)
    slack = _TIE * float(view.pixel(points[np.argmin(near)]))
    return int(np.argmax(depth <= depth.min() + slack))


def _along(view: View, at: Array, head: Array, tail: Array, share: float) -> float:
    """Where along a bone the mouse points, in the world: in perspective that is not its share in pixels."""
    point = view.on_line(at, head, tail - head)
    if point is None:
        return share
    way = tail - head
    return float(np.clip((point - head) @ way / max(float(way @ way), np.finfo(float).tiny), 0.0, 1.0))


def _square(matrices: Array) -> Array:
    """(..., 3, 4) as (..., 4, 4)."""
    last = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*matrices.shape[:-2], 1, 4))
    return np.concatenate([matrices, last], axis=-2)
