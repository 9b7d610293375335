"""Build the tree of the bones that may be parts of a body, linked as the body is, not as the rig parents them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array, lengths
from ...skeleton import Flags, Skeleton, chain_to_root
from .names import NameReading

# Lengths are shares of the skeleton's size.
_SAME_PLACE: Final = 0.015  # two heads are one joint
_SAME_HEAD: Final = 0.005  # a bone coincides with another one
_SAME_DIRECTION: Final = 0.99  # cosine: two bones are parallel
_COPIED_DIRECTION: Final = 1.0 - 1e-5  # cosine: an importer's end bone is a copy of the last bone
_COPIED_LENGTH: Final = 1e-3  # relative
_MOST: Final = 0.9  # share of the leaves: if more are copies, an importer added them
_NEAR: Final = 0.12  # from a bone without parent to the bone it is linked to, at most
_HIPS: Final = 0.25  # from the first joints of the legs to the spine, at most
_ACROSS: Final = 0.2  # cosine: these joints are equally far from the spine on both sides
_FEWEST: Final = 3  # bones of a body


@dataclass(frozen=True, eq=False)
class BodyTree:
    """Bones by their index in the skeleton; only `members` are linked. Lengths are divided by the skeleton's size.

    members   parents before children
    parents   (J,) -1 for a root and for bones that are no members
    children  (J,) members only
    heads     (J, 3) in armature space
    tips      (J, 3) the head of the bone's end bone if it has one, else its tail
    reach     (J,) length of the longest path from the head through the heads of descendants
    depth     (J,) number of ancestors
    readings  (J,) meanings of the names
    """

    members: tuple[int, ...]
    parents: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    heads: Array
    tips: Array
    reach: Array
    depth: tuple[int, ...]
    readings: Sequence[NameReading]

    def ancestors(self, bone: int) -> list[int]:
        """Return a bone and its ancestors, from the bone to its root."""
        return chain_to_root(self.parents, bone)

    def common(self, *bones: int) -> int:
        """Return the last common ancestor of bones, which may be one of them; -1 if there is none."""
        shared = set(self.ancestors(bones[0]))
        for bone in bones[1:]:
            shared &= set(self.ancestors(bone))
        return max(shared, key=lambda bone: self.depth[bone], default=-1)

    def path(self, ancestor: int, bone: int) -> list[int]:
        """Return the bones from below `ancestor` to `bone`, that included; empty if `bone` is no descendant."""
        chain = self.ancestors(bone)
        return chain[: chain.index(ancestor)][::-1] if ancestor in chain else []

    def below(self, bone: int, ancestor: int) -> bool:
        """Return whether a bone is a descendant of another one."""
        return bone != ancestor and ancestor in self.ancestors(bone)

    def chain(self, bone: int) -> list[int]:
        """Return the longest chain from a bone to a leaf, both included."""
        chain = [bone]
        while self.children[bone]:
            head = self.heads[bone]
            bone = max(self.children[bone], key=lambda c: float(lengths(self.heads[c] - head) + self.reach[c]))
            chain.append(bone)
        return chain


def build_tree(skeleton: Skeleton, deform: Flags, readings: Sequence[NameReading]) -> BodyTree:
    """Return the tree of the bones marked by `deform` (J,) that are neither helpers nor end bones by name or shape.

    Bones with a part by name are no end bones by shape. A control between deforming bones is replaced by the deforming
    bone in its place (generated Rigify rigs). A root, or a child of a root, is linked to the bone that ends at its head
    (feet of inverse-kinematics rigs).
    """
    matrices = skeleton.rest_matrices
    heads, directions = matrices[:, :, 3] / skeleton.size, matrices[:, :, 1]
    tips = heads + directions * (skeleton.lengths / skeleton.size)[:, None]
    raw: list[int] = skeleton.parents.tolist()

    helpers, ends, known = np.array([(r.helper, r.end, r.part != "") for r in readings]).T
    ends = ends | (_copies(skeleton, directions) & ~known)
    used = np.asarray(deform & ~helpers & ~ends)
    if used.sum() < _FEWEST:
        used = ~ends if (~ends).sum() >= _FEWEST else np.ones(len(skeleton), bool)
    _keep_forks(used, raw, deform | helpers | ends, heads, directions)

    members: list[int] = np.flatnonzero(used).tolist()
    parents = _parents_among(members, used, raw, heads, directions)
    for bone in np.flatnonzero(ends):
        if raw[bone] >= 0:
            tips[raw[bone]] = heads[bone]
    _link_roots(members, parents, heads, tips)
    return _linked(members, parents, heads, tips, readings)


def _copies(skeleton: Skeleton, directions: Array) -> Flags:
    """Return which bones (J,) an importer added: a copy of the last bone of nearly every chain, or none."""
    parents = skeleton.parents
    leaf = np.ones(len(skeleton), bool)
    leaf[parents[parents >= 0]] = False
    copy = leaf & (parents >= 0)
    copy &= np.sum(directions * directions[parents], axis=1) > _COPIED_DIRECTION
    lengths = skeleton.lengths[parents]
    for length in (skeleton.lengths, np.linalg.norm(skeleton.offsets, axis=1)):
        copy &= np.abs(length - lengths) <= _COPIED_LENGTH * lengths
    return copy if copy.sum() >= _FEWEST and copy.sum() >= _MOST * leaf.sum() else np.zeros(len(skeleton), bool)


def _keep_forks(used: Flags, raw: list[int], judged: Flags, heads: Array, directions: Array) -> None:
    """Use bones that do not deform but have two children that do, such as a pelvis without skin."""
    carried = np.bincount([raw[bone] for bone in np.flatnonzero(used) if raw[bone] >= 0], minlength=len(raw))
    members = np.flatnonzero(used)
    for bone in np.flatnonzero((carried > 1) & ~judged & ~used).tolist():
        if _in_place(bone, members, heads, directions) < 0:
            used[bone] = True


def _in_place(bone: int, members: NDArray[np.intp], heads: Array, directions: Array) -> int:
    """Return the member with the head and the direction of this bone; -1 if there is none."""
    same = lengths(heads[members] - heads[bone]) < _SAME_HEAD
    same &= directions[members] @ directions[bone] > _SAME_DIRECTION
    return int(members[np.argmax(same)]) if same.any() else -1


def _parents_among(members: list[int], used: Flags, raw: list[int], heads: Array, directions: Array) -> list[int]:
    """Return parents (J,) among members: the nearest ancestor that is a member or coincides with one."""
    parents = [-1] * len(raw)
    indices = np.array(members)
    known: dict[int, int] = {}
    for bone in members:
        for above in chain_to_root(raw, bone)[1:]:
            if not used[above] and above not in known:
                known[above] = _in_place(above, indices, heads, directions)
            place = above if used[above] else known[above]
            if place >= 0 and bone not in chain_to_root(parents, place):  # the member may be a descendant of the bone
                parents[bone] = place
                break
    return parents


def _link_roots(members: list[int], parents: list[int], heads: Array, tips: Array) -> None:
    """Link roots, and children of roots, to the bones that end or begin near them."""
    carried = set(parents)
    leaves = [bone for bone in members if bone not in carried]
    roots = [chain_to_root(parents, bone)[-1] for bone in members]
    main = Counter(roots).most_common(1)[0][0]
    for bone in members:
        parent = parents[bone]
        if bone == main or (parent >= 0 and parents[parent] >= 0):
            continue
        ending = [leaf for leaf in leaves if bone not in chain_to_root(parents, leaf)]
        if ending:
            gaps = lengths(tips[ending] - heads[bone])
            # keep a root's own child unless another bone ends much nearer
            if gaps.min() < 2.0 * _SAME_PLACE and (
                parent < 0 or gaps.min() < np.linalg.norm(tips[parent] - heads[bone])
            ):
                parents[bone] = ending[int(gaps.argmin())]
                continue
        if parent < 0 and bone in carried:  # a root without children is a target, not a part
            others = [other for other in members if bone not in chain_to_root(parents, other)]
            gaps = lengths(heads[others] - heads[bone]) if others else np.zeros(0)
            if len(gaps) and _SAME_PLACE < gaps.min() < _NEAR:  # at the same place: a control, not a part
                parents[bone] = others[int(gaps.argmin())]
    _join_legs(members, parents, heads, main)


def _join_legs(members: list[int], parents: list[int], heads: Array, main: int) -> None:
    """Link two legs without hips, which are roots or linked to each other by now, to the first bone of the spine."""
    carried = set(parents)
    loose = [bone for bone in members if bone in carried and bone != main and main not in chain_to_root(parents, bone)]
    near = [bone for bone in loose if np.linalg.norm(heads[bone] - heads[main]) < _HIPS]
    for one, other in combinations(near, 2):
        if parents[one] < 0 or parents[other] < 0:
            gap, to_middle = heads[one] - heads[other], 0.5 * (heads[one] + heads[other]) - heads[main]
            if abs(gap @ to_middle) < _ACROSS * np.linalg.norm(gap) * np.linalg.norm(to_middle):
                parents[one] = parents[other] = main


def _linked(
    members: list[int], parents: list[int], heads: Array, tips: Array, readings: Sequence[NameReading]
) -> BodyTree:
    """Return the tree of members with these parents (J,), breadth first."""
    children: list[list[int]] = [[] for _ in parents]
    for bone in members:
        if parents[bone] >= 0:
            children[parents[bone]].append(bone)
    order = [bone for bone in members if parents[bone] < 0]
    depth = [0] * len(parents)
    for bone in order:  # the loop extends the list it reads
        for child in children[bone]:
            depth[child] = depth[bone] + 1
        order += children[bone]
    reach = np.zeros(len(parents))
    for bone in reversed(order):
        for child in children[bone]:
            reach[bone] = max(reach[bone], lengths(heads[child] - heads[bone]) + reach[child])
    below = tuple(tuple(bones) for bones in children)
    return BodyTree(tuple(order), tuple(parents), below, heads, tips, reach, tuple(depth), readings)
