"""One chain of joints between a fixed base and an effector, taken from a posed skeleton.

A chain is a row of pivots in armature space, from the base outwards, and for each the rotation that what lies beyond it
has made since the pose was read: its turn. All turns begin as the identity, and all frames as armature space, so that
no rest pose is left in the arithmetic:

    effector seen from pivot k          e_k = s_k (l_{k+1} + e_{k+1})
    target seen from pivot k + 1        t_{k+1} = s_k^-1 t_k - l_{k+1}

where l_{k+1} is the vector from pivot k to the next one (at last, to the effector) and s_k is the turn. A rotation by R
about an axis through pivot k is s_k <- R s_k, e_k <- R e_k. A bone's three axes are fixed in the frame in front of its
pivot. Where the chain runs against the tree (from a held hand to the shoulder), they move with what lies beyond it, and
the bone turns by the inverse: s_k <- s_k R.

A bone that does not inherit rotation is moved, but not turned, by what comes before it: there a new stretch of the
chain begins. Stretches add up, e = sum of their e_0, and each sees as its target what the others leave.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ... import rotation
from ...errors import CoreError
from ...goals import Bone, Goal
from ...limits import LimitGroup
from ...motion import shifted
from ...pose import Pose, forward, forward_matrices
from ...rotation import Array
from ...skeleton import Indices, Skeleton
from .actuations import AXES, Actuation
from .limits import limit_groups, limits_by_bone

_LOOSE: Final = 1e-6  # share by which the three scales of a bone may differ and count as equal


@dataclass(frozen=True)
class JointPath:
    """The bones between base and effector whose pivots matter, from the base outwards.

    bones       the nodes of the path
    inverted    node -> whether the chain runs against the tree there: the base is beyond the bone
    stretches   nodes at which a stretch begins; the first is 0
    axes        node -> its axes (0, 1, 2) in the list, in their order; none for a bone that may not turn
    held        the bone that is held where the chain is inverted; else -1
    """

    bones: tuple[int, ...]
    inverted: tuple[bool, ...]
    stretches: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]
    held: int

    def node(self, bone: int) -> int:
        """Return the node of a bone; -1 if it has none or may not be turned."""
        place = self.bones.index(bone) if bone in self.bones else -1
        return place if place >= 0 and self.axes[place] else -1


def find_path(skeleton: Skeleton, actuations: Sequence[Actuation], base: Bone | None, effector: Bone) -> JointPath:
    """Return the path for a list; raises CoreError if a joint is not on it, or if the base cannot be held."""
    against, along = bones_between(skeleton, base, effector)
    axes: dict[int, dict[int, None]] = {}  # in the order of their first turns
    for one in actuations:
        bone = skeleton.index(one.bone)
        if bone not in against and bone not in along:
            ends = " and ".join(f'"{skeleton.names[end]}"' for end in ((*against, *along)[0], skeleton.index(effector)))
            raise CoreError(f'The contribution list rotates "{skeleton.names[bone]}", which is not between {ends}.')
        if skeleton.movable[bone] and not skeleton.driven[bone]:
            axes.setdefault(bone, {})[AXES.index(one.axis)] = None
    # a driven bone is a fixed base for what it carries
    driven = max((place for place, bone in enumerate(along) if skeleton.driven[bone]), default=-1)
    along = along[driven + 1 :]
    bones = [bone for bone in against if bone in axes and driven < 0]
    stretches = [0]
    for bone in along:
        begins = not skeleton.inherit_rotation[bone] and bool(bones)
        if begins:
            stretches.append(len(bones))
        if begins or bone in axes:
            bones.append(bone)
    inverted = tuple(bone in against for bone in bones)
    by_node = tuple(tuple(axes.get(bone, ())) for bone in bones)
    return JointPath(tuple(bones), inverted, tuple(stretches), by_node, against[0] if against else -1)


def bones_between(skeleton: Skeleton, base: Bone | None, effector: Bone) -> tuple[list[int], list[int]]:
    """Return the bones from a held base against the tree, and those from there along it to the effector.

    The first list is empty where the effector hangs on the base (by default its root). Raises CoreError where it does
    not and the base cannot be held.
    """
    up = skeleton.ancestors(skeleton.index(effector))
    first = up[-1] if base is None else skeleton.index(base)
    return ([], up[: up.index(first) + 1][::-1]) if first in up else _turned_round(skeleton, first, up)


def _turned_round(skeleton: Skeleton, base: int, up: list[int]) -> tuple[list[int], list[int]]:
    """Return what `bones_between` does for a base that the effector does not hang on."""
    names = skeleton.names
    down = skeleton.ancestors(base)
    shared = next((bone for bone in up if bone in down), None)
    if shared is None:
        raise CoreError(f'"{names[base]}" and "{names[up[0]]}" are not connected by parents.')
    against, root = down[: down.index(shared)], down[-1]
    stiff = next((bone for bone in down[:-1] if not skeleton.inherit_rotation[bone] or skeleton.driven[bone]), None)
    if stiff is not None:
        why = "is driven" if skeleton.driven[stiff] else "does not inherit rotation"
        raise CoreError(f'"{names[base]}" cannot be held in place: "{names[stiff]}" {why}.')
    free = skeleton.movable[root] and skeleton.translatable[root].all() and not skeleton.rotation_locks[root].any()
    if not free or skeleton.driven[root]:
        raise CoreError(
            f'"{names[base]}" cannot be held in place: "{names[root]}" is driven, or its location or rotation '
            "is locked."
        )
    return against, up[: up.index(shared)][::-1]


@dataclass(frozen=True, eq=False)
class Chain:
    """A path in B poses.

    links   (B, n + 1, 3) from the armature's origin to the first pivot, from pivot to pivot, and to the effector
    frames  (B, n, 4) the bones' axes, in armature space
    own     (B, n, 4) their own rotations
    groups  the limits of the bones that turn
    limits  node -> the bone's limits
    rigid   whether links keep their lengths in any pose; unevenly scaled bones shear, and are taken as rigid here
    """

    path: JointPath
    links: Array
    frames: Array
    own: Array
    groups: tuple[LimitGroup, ...]
    limits: dict[int, tuple[LimitGroup, ...]]
    rigid: bool

    def own_rotations(self, turns: Array, frames: int | slice | Indices = slice(None)) -> Array:
        """Return the bones' own rotations (..., n, 4) after turns (..., n, 4) in some frames, by default in all.

        Bones that were not turned keep theirs to the last bit.
        """
        back = np.array(self.path.inverted, bool)[:, None]
        axes = self.frames[frames]
        local = rotation.mul(rotation.inv(axes), rotation.mul(turns, axes))
        own = rotation.normalize(rotation.mul(np.where(back, rotation.inv(local), local), self.own[frames]))
        return np.where((turns == rotation.IDENTITY).all(axis=-1, keepdims=True), self.own[frames], own)

    def turns(self, own: Array) -> Array:
        """Return the turns (B, n, 4) for own rotations (B, n, 4) in all frames: the inverse of `own_rotations`."""
        back = np.array(self.path.inverted, bool)[:, None]
        local = rotation.mul(own, rotation.inv(self.own))
        local = np.where(back, rotation.inv(local), local)
        return rotation.mul(self.frames, rotation.mul(local, rotation.inv(self.frames)))


def read_chain(skeleton: Skeleton, pose: Pose, path: JointPath, goal: Goal, limits: bool) -> Chain:
    """Return the chain in flat poses (B,)."""
    heads, turns = forward(skeleton, pose)
    bones = list(path.bones)
    tip = effector_place(skeleton, goal, heads, turns)
    places = np.concatenate([np.zeros_like(tip)[:, None], heads[:, bones], tip[:, None]], axis=1)
    own = pose.rotations[:, bones]
    groups = limit_groups(skeleton, [bone for node, bone in enumerate(bones) if path.axes[node]], pose, limits)
    scales = pose.scales
    even = scales is None or bool(np.all(np.ptp(scales, axis=-1) <= _LOOSE * np.abs(scales[..., 0])))
    return Chain(
        path,
        np.diff(places, axis=1),
        rotation.mul(turns[:, bones], rotation.inv(own)),
        own,
        groups,
        {bones.index(bone): found for bone, found in limits_by_bone(groups).items()},
        even and not skeleton.driven.any(),
    )


def effector_place(skeleton: Skeleton, goal: Goal, heads: Array, turns: Array) -> Array:
    """Return the position (B, 3) of the goal's point for heads (B, J, 3) and frames (B, J, 4)."""
    bone = skeleton.index(goal.bone)
    return heads[:, bone] + rotation.rotate(turns[:, bone], goal.point)


def posed(skeleton: Skeleton, pose: Pose, path: JointPath, own: Array) -> Pose:
    """Return flat poses with own rotations (B, n, 4) of the path; the root moves so that a held bone does not."""
    rotations = pose.rotations.copy()
    rotations[:, list(path.bones)] = own
    turned = replace(pose, rotations=rotations)
    moved = (rotations != pose.rotations).any(axis=(-1, -2))
    if path.held < 0 or not moved.any():
        return turned
    root = skeleton.ancestors(path.held)[-1]
    before, after = forward_matrices(skeleton, pose), forward_matrices(skeleton, turned)
    way = rotation.nearest_rotation(before[:, path.held, :, :3] @ np.linalg.inv(after[:, path.held, :, :3]))
    head = before[:, path.held, :, 3] + (way @ (after[:, root, :, 3] - after[:, path.held, :, 3])[..., None])[..., 0]
    rest = skeleton.rest_rotations[root]
    carried = rotation.mul(rotation.inv(rest), rotation.mul(rotation.from_matrix(way), rest))
    root_turns = rotation.normalize(rotation.mul(carried, rotations[:, root]))
    rotations[moved, root] = root_turns[moved]
    step = np.where(moved[:, None], head - after[:, root, :, 3], 0.0)
    return shifted(skeleton, replace(pose, rotations=rotations), root, step)
