"""Find the part of a rig under the mouse: joints, ends and lengths of visible bones, and custom shapes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..core import rotation
from ..core.rotation import Array
from .armature import read_matrices
from .channels import gather
from .pick_order import FIRST, LAST, SECOND, THIRD, read_pick_order
from .shapes import outlines_near
from .skin import find_cover, pick_skin
from .view import View
from .worlds import world_matrix

_JOINT: Final = 11.0  # pixels, times the scale of the interface, from a joint or an end
_LENGTH: Final = 7.0  # pixels, likewise, from the line between them
_THICKNESS: Final = 0.08  # of a bone's length: the width of Blender's octahedral bones
_TIE: Final = 1.5  # pixels within which two points count as one place on screen, as both hands from the side
_HEAD, _TAIL = 0.0, 1.0
_STILL: Final = 4.0  # pixels within which the mouse has not moved


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

    A bone with a custom shape is grabbed by the shape or by its joint, whichever is nearer. Tweaks
    and gears come after all others that are near, see `read_pick_order` and `step`. Where no bone is near, or only such
    as the mesh of another part covers, the mesh is grabbed by its weights; that of hands, feet, hips, chest and head
    before tweaks and gears, too.
    """
    found = picks(context, view, mouse, scale)
    return found[stepped(context, mouse) % len(found)] if found else None


def picks(context: Any, view: View, mouse: tuple[float, float], scale: float = 1.0) -> list[Grab]:
    """Return all grabs at a pixel of the view, what `pick` returns first; what other parts' mesh covers comes last."""
    front, behind = list[tuple[float, list[Grab]]](), list[tuple[float, list[Grab]]]()
    gears = True  # whether nothing else is drawn there
    for armature, names in shown_bones(context).items():
        bones = armature.data.bones
        place_of = {name: place for place, name in enumerate(bones.keys())}  # `find` is a linear search
        numbers = [place_of[name] for name in names]
        lengths = gather(bones, "length", 1)[:, 0]
        matrices = world_matrix(armature) @ _square(read_matrices(armature)[numbers])
        joined = {bone.parent.name for bone in bones if bone.use_connect and bone.parent is not None}
        free = np.array([name not in joined for name in names])
        shapes = outlines_near(context, armature, names, view, np.array(mouse, float), _LENGTH * scale)
        order = read_pick_order(armature)
        orders = np.array([order.get(name, SECOND) for name in names])
        near = view, mouse, matrices, lengths[numbers], free, scale, shapes, orders
        found = ranked(*near)
        cover, bare = find_cover(context, armature, view, mouse) if found else (np.inf, frozenset[str]())
        covers = np.where([name in bare for name in names], np.inf, cover)
        seen = ranked(*near, covers) if np.isfinite(cover) else found
        rest = {place for _, place, _ in found} - {place for _, place, _ in seen}
        for some, grabs in ((seen, front), ([one for one in found if one[1] in rest], behind)):
            points = [(0.0, share * float(lengths[numbers[place]]), 0.0) for _, place, share in some]
            of = [Grab(armature.name, names[one[1]], point) for one, point in zip(some, points, strict=True)]
            grabs += [(some[0][0], of)] if some else []
        gears &= all(orders[place] == LAST for _, place, _ in seen)
    skin = pick_skin(context, view, mouse) if behind or gears else None
    on_skin = [] if skin is None else [Grab(skin[0].name, skin[1], tuple(skin[2].tolist()))]
    drawn, covered = (
        [grab for _, of in sorted(some, key=lambda one: one[0]) for grab in of] for some in (front, behind)
    )
    if skin is not None and gears and read_pick_order(skin[0]).get(skin[1]) == FIRST:
        return [*on_skin, *drawn, *covered]
    named = {(grab.object_name, grab.bone) for grab in drawn}
    return [*drawn, *(grab for grab in on_skin if (grab.object_name, grab.bone) not in named), *covered]


def stepped(context: Any, mouse: tuple[float, float]) -> int:
    """Return how often `step` was called for about this pixel, be it that the mouse has left it since."""
    *place, count = context.window_manager.poise_stepped
    return abs(count) if np.abs(np.subtract(place, mouse)).max() <= _STILL else 0


def step(context: Any, mouse: tuple[float, float]) -> None:
    """Have `pick` return the next of the grabs at a pixel, until the mouse comes back to it from elsewhere."""
    context.window_manager.poise_stepped = (*map(int, mouse), stepped(context, mouse) + 1)


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


def ranked(
    view: View, mouse: tuple[float, float], matrices: Array, lengths: Array, free: Any, scale: float = 1.0,
    shapes: Mapping[int, Array] | None = None, order: Array | None = None, cover: Array | float = np.inf,
) -> list[tuple[float, int, float]]:  # fmt: skip
    """Return distance in pixels, bone, and place along it (0 head, 1 tail) of the bones near the mouse, best first.

    matrices (n, 4, 4) from bones to the world, lengths (n,) of the bones, free (n,): the tail is not another bone's
    joint; shapes: lines (m, 2, 3) in the world that are drawn in place of a bone. Joints come before ends and lengths,
    the nearest first; of joints in one place on screen the front one, then the first in order (n,), then the armature's
    first. A FIRST one's length comes before joints that are further away, as those of fingers are from a palm, but not
    near its tail, or in its second half, where the joints of bones at its tail are. THIRD ones come after those. Bones
    with shapes come after those without, by order, of one order the one whose shape or joint is nearest.
    LAST ones come after all others, also after those whose length alone is near. What is deeper along the view than
    `cover` (n,) is left out.
    """
    shapes = shapes or {}
    order = np.full(len(matrices), SECOND) if order is None else order
    cover = np.broadcast_to(cover, len(matrices))
    plain = ~np.isin(np.arange(len(matrices)), list(shapes))
    heads = matrices[:, :3, 3]
    tails = heads + matrices[:, :3, 1] * lengths[:, None]
    at, every = np.array(mouse, float), np.arange(len(matrices))
    to_head, to_tail = (rotation.lengths(view.pixels(ends) - at) for ends in (heads, tails))
    owners = np.concatenate([every, *(np.full(len(lines), bone) for bone, lines in shapes.items())]).astype(int)
    lines = np.concatenate([np.stack([heads, tails], axis=1), *shapes.values()])
    shares, far = view.to_lines(at, lines)
    own = np.arange(len(lines)) < len(every)
    thickness = np.where(own, _THICKNESS, 0.0)
    reach = np.maximum(_LENGTH * scale, thickness * rotation.lengths(np.diff(view.pixels(lines), axis=1)[:, 0]))
    on_lines = lines[:, 0] + shares[:, None] * (lines[:, 1] - lines[:, 0])
    joints, ends = (
        np.where((away <= _JOINT * scale) & (view.depth(points) <= cover), away, np.nan)
        for away, points in ((to_head, heads), (np.where(free, to_tail, np.nan), tails))
    )
    along = np.where((far <= reach) & (view.depth(on_lines) <= cover[owners]), far, np.nan)
    sizes = rotation.lengths(np.diff(view.pixels(lines[own]), axis=1)[:, 0])
    line, joint = (
        np.where(plain & np.isfinite(some), some, np.inf).min(initial=np.inf) for some in (along[own], joints)
    )
    main = plain & (order == FIRST) & (to_tail > np.minimum(_JOINT * scale, 0.5 * sizes))
    main &= along[own] <= min(line + _TIE, joint - _TIE)
    by_joint = np.isfinite(joints)
    parts = np.where(by_joint[:, None], heads, on_lines[own]), np.where(main, np.fmin(joints, along[own]), joints)
    near_heads, near_tails = (*parts, every, np.where(by_joint, _HEAD, np.nan)), (tails, ends, every, _TAIL)
    near_lengths = (on_lines[own], along[own], every, np.nan)
    drawn = (np.concatenate([on_lines[~own], heads]), np.concatenate([along[~own], joints]),
             np.concatenate([owners[~own], every]), _HEAD)  # fmt: skip
    bones, controls = [near_heads, near_tails, near_lengths], [drawn, near_tails]
    passes = [  # what is near, and of which bones; animators grab joints that a custom shape does not show
        *((near, plain & some) for some in (order < THIRD, order == THIRD) for near in bones),
        *((near, ~plain & (order == rank)) for rank in range(LAST) for near in controls),
        (near_lengths, ~plain & (order < LAST)),
        *((near, plain & (order == LAST)) for near in bones),
        *((near, ~plain & (order == LAST)) for near in controls),
        (near_lengths, ~plain),
    ]
    left, found = np.ones(len(matrices), bool), list[tuple[float, int, float]]()
    for (points, away, of, end), some in passes:
        while (place := _choose(view, points, np.where((left & some)[of], away, np.nan), order[of])) is not None:
            bone, share = int(of[place]), float(np.broadcast_to(end, len(of))[place])
            if np.isnan(share):
                share = _along(view, at, lines[place, 0], lines[place, 1], float(shares[place]))
            found.append((float(away[place]), bone, share))
            left[bone] = False
    return found


def _choose(view: View, points: Array, far: Array, order: Array) -> int | None:
    """Return which of the points (n, 3) at `far` (n,) pixels, NaN for none, is meant, or None if there is none."""
    near = np.where(np.isfinite(far), far, np.inf)
    if not len(near) or not np.isfinite(near.min()):
        return None
    depth = np.where(near <= near.min() + _TIE, view.depth(points), np.inf)
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
