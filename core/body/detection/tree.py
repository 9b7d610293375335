"""Build the tree of the bones that may be parts of a body, linked as the body is, not as the rig parents them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    onward    (J,) the first bone of the rest of that path; -1 at its end
    depth     (J,) number of ancestors
    order     (J,) place in an order in which a bone's descendants follow it; -1 for bones that are no members
    after     (J,) place after those of its descendants
    readings  (J,) meanings of the names
    """

    members: tuple[int, ...]
    parents: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    heads: Array
    tips: Array
    reach: Array
    onward: tuple[int, ...]
    depth: tuple[int, ...]
    order: tuple[int, ...]
    after: tuple[int, ...]
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
        return bone >= 0 <= ancestor and self.order[ancestor] < self.order[bone] < self.after[ancestor]

    def in_branches(self, bone: int, firsts: Iterable[int]) -> bool:
        """Return whether a bone is one of these first bones of branches, or a descendant of one."""
        return any(bone == first or self.below(bone, first) for first in firsts)

    def chain(self, bone: int) -> list[int]:
        """Return the longest chain from a bone to a leaf, both included."""
        chain = [bone]
        while (bone := self.onward[bone]) >= 0:
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
    helpers = helpers | (_within(skeleton, heads, tips) & deform[skeleton.parents])
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


def _within(skeleton: Skeleton, heads: Array, tips: Array) -> Flags:
    """Return which bones (J,) without children begin and end where their parent does, such as those of meshes."""
    parents = skeleton.parents
    leaf = np.ones(len(skeleton), bool)
    leaf[parents[parents >= 0]] = False
    gaps = np.maximum(lengths(heads - heads[parents]), lengths(tips - tips[parents]))
    return leaf & (parents >= 0) & (gaps < _SAME_HEAD)


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
    carrying: set[int] = set()
    for bone in members:
        above = raw[bone]
        while above >= 0 and parents[bone] < 0:
            if not used[above] and above not in known:
                known[above] = _in_place(above, indices, heads, directions)
            place = above if used[above] else known[above]
            if place >= 0 and not _carries(parents, bone, place, carrying):  # the member may be a descendant
                parents[bone] = place
                carrying.add(place)
            above = raw[above]
    return parents


def _carries(parents: list[int], bone: int, other: int, carrying: set[int]) -> bool:
    """Return whether a bone is another one or its ancestor; only those of `carrying` have children."""
    return bone == other or (bone in carrying and bone in chain_to_root(parents, other))


def _link_roots(members: list[int], parents: list[int], heads: Array, tips: Array) -> None:
    """Link roots, and children of roots, to the bones that end or begin near them."""
    carried = set(parents)
    leaves = [bone for bone in members if bone not in carried]
    main = Counter(_roots(members, parents)).most_common(1)[0][0]
    for bone in members:
        parent = parents[bone]
        if bone == main or (parent >= 0 and parents[parent] >= 0):
            continue
        # keep a root's own child unless another bone ends much nearer
        own = np.inf if parent < 0 else float(lengths(tips[parent] - heads[bone]))
        ending, gap = _nearest(parents, bone, leaves, tips, heads[bone], 2.0 * _SAME_PLACE)
        if gap < own:
            parents[bone] = ending
        elif parent < 0 and bone in carried:  # a root without children is a target, not a part
            near, gap = _nearest(parents, bone, members, heads, heads[bone], _NEAR)
            if _SAME_PLACE < gap < np.inf:  # at the same place: a control, not a part
                parents[bone] = near
    _join_legs(members, parents, heads, main)


def _roots(members: list[int], parents: list[int]) -> list[int]:
    """Return the root of each member."""
    roots: dict[int, int] = {}
    for bone in members:
        chain = [bone]
        while chain[-1] not in roots and parents[chain[-1]] >= 0:
            chain.append(parents[chain[-1]])
        roots |= dict.fromkeys(chain, roots.get(chain[-1], chain[-1]))
    return [roots[bone] for bone in members]


def _nearest(
    parents: list[int], bone: int, others: list[int], places: Array, place: Array, most: float
) -> tuple[int, float]:
    """Return the bone, no descendant, with the nearest place, and its distance; -1, inf if it is `most` or more."""
    gaps = lengths(places[others] - place)
    near: list[int] = np.flatnonzero(gaps < most).tolist()
    for i in sorted(near, key=lambda i: float(gaps[i])):
        if bone not in chain_to_root(parents, others[i]):
            return others[i], float(gaps[i])
    return -1, np.inf


def _join_legs(members: list[int], parents: list[int], heads: Array, main: int) -> None:
    """Link two legs without hips, which are roots or linked to each other by now, to the first bone of the spine."""
    carried = set(parents)
    roots = _roots(members, parents)
    loose = [bone for bone, root in zip(members, roots, strict=True) if bone in carried and root != main]
    near = [bone for bone, gap in zip(loose, lengths(heads[loose] - heads[main]), strict=True) if gap < _HIPS]
    for place, one in enumerate(near):
        others = near[place + 1 :]
        gaps: Array = heads[one] - heads[others]
        to_middle: Array = 0.5 * (heads[one] + heads[others]) - heads[main]
        across = np.abs(np.sum(gaps * to_middle, axis=1)) < _ACROSS * lengths(gaps) * lengths(to_middle)
        for other, beside in zip(others, across.tolist(), strict=True):
            if beside and (parents[one] < 0 or parents[other] < 0):
                parents[one] = parents[other] = main


def _linked(
    members: list[int], parents: list[int], heads: Array, tips: Array, readings: Sequence[NameReading]
) -> BodyTree:
    """Return the tree of members with these parents (J,), breadth first."""
    children: list[list[int]] = [[] for _ in parents]
    for bone in members:
        if parents[bone] >= 0:
            children[parents[bone]].append(bone)
    found = [bone for bone in members if parents[bone] < 0]
    depth = [0] * len(parents)
    for bone in found:  # the loop extends the list it reads
        for child in children[bone]:
            depth[child] = depth[bone] + 1
        found += children[bone]
    steps = lengths(heads - heads[parents]).tolist()
    reach, onward, size = [0.0] * len(parents), [-1] * len(parents), [1] * len(parents)
    for bone in reversed(found):
        if children[bone]:
            onward[bone] = max(children[bone], key=lambda child: steps[child] + reach[child])
            reach[bone] = steps[onward[bone]] + reach[onward[bone]]
            size[bone] += sum(size[child] for child in children[bone])
    order, start = [-1] * len(parents), 0
    for bone in found:
        if parents[bone] < 0:
            order[bone], start = start, start + size[bone]
        place = order[bone] + 1
        for child in children[bone]:
            order[child], place = place, place + size[child]
    after = [place + count for place, count in zip(order, size, strict=True)]
    below = tuple(tuple(bones) for bones in children)
    return BodyTree(tuple(found), tuple(parents), below, heads, tips, np.array(reach), tuple(onward), tuple(depth),
                    tuple(order), tuple(after), readings)  # fmt: skip
