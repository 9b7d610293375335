"""The tree of the body: the bones that may be parts of it, linked as the body is, not as the rig hangs them."""

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array, lengths
from ...skeleton import Flags, Skeleton

_SAME_PLACE: Final = 0.015  # of the skeleton's size: two heads are one joint
_SAME_HEAD: Final = 0.005  # of the size: one bone lies in the place of another
_SAME_WAY: Final = 0.99  # cosine: two bones point the same way
_COPIED_WAY: Final = 1.0 - 1e-5  # cosine: an importer's end bone is a copy of the last bone
_COPIED_LENGTH: Final = 1e-3  # relative
_MOST: Final = 0.9  # of the leaves are copies: the importer made them
_NEAR: Final = 0.12  # of the size: an orphan begins within this distance of the bone it belongs to
_HIPS: Final = 0.25  # of the size: legs begin within this distance of the spine
_ACROSS: Final = 0.2  # cosine: they begin at the same distance left and right of it
_FEWEST: Final = 3  # deforming bones that make a body


@dataclass(frozen=True, eq=False)
class BodyTree:
    """Bones of a skeleton by their index there; only `members` have links.

    members   parents before children
    parents   (J,) -1 for a root, and for bones that are no members
    children  of every bone, members only
    heads     (J, 3) in armature space, divided by the skeleton's size
    tips      (J, 3) where the bone ends: at its end bone if it has one, else at its tail
    """

    members: tuple[int, ...]
    parents: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    heads: Array
    tips: Array
    reach: Array  # (J,) length of the longest way from the head, joint to joint, through descendants
    depth: tuple[int, ...]

    def ancestors(self, bone: int) -> list[int]:
        """The bone and what it hangs on, up to its root."""
        chain: list[int] = []
        while bone >= 0:
            chain.append(bone)
            bone = self.parents[bone]
        return chain

    def common(self, *bones: int) -> int:
        """The last bone that all of these hang on or are; -1 if there is none."""
        shared = set(self.ancestors(bones[0]))
        for bone in bones[1:]:
            shared &= set(self.ancestors(bone))
        return max(shared, key=lambda bone: self.depth[bone], default=-1)

    def path(self, ancestor: int, bone: int) -> list[int]:
        """From below `ancestor` down to `bone`, which is the last; empty if it does not hang on it."""
        chain = self.ancestors(bone)
        return chain[: chain.index(ancestor)][::-1] if ancestor in chain else []

    def below(self, bone: int, ancestor: int) -> bool:
        return bone != ancestor and ancestor in self.ancestors(bone)

    def without(self, bones: set[int]) -> list[int]:
        """The members that do not hang on any of these bones; the bones themselves do not either."""
        kept: list[int] = []
        hidden: set[int] = set()
        for bone in self.members:
            if self.parents[bone] in bones or self.parents[bone] in hidden:
                hidden.add(bone)
            else:
                kept.append(bone)
        return kept

    def chain(self, bone: int) -> list[int]:
        """From the bone along the longest way to a leaf."""
        chain = [bone]
        while self.children[bone]:
            head = self.heads[bone]
            bone = max(self.children[bone], key=lambda c: float(lengths(self.heads[c] - head) + self.reach[c]))
            chain.append(bone)
        return chain


def build_tree(skeleton: Skeleton, deform: Flags, helpers: Flags, ends: Flags, known: Flags) -> BodyTree:
    """The tree of the deforming bones (J,) that are neither `helpers` nor `ends`; those `known` by name are no ends.

    Controls between deforming bones stand for the deforming bone in their place (generated Rigify rigs); roots and what
    hangs on a root or on nothing go to the bone that ends where they begin (feet of inverse-kinematics rigs).
    """
    count = len(skeleton)
    matrices = skeleton.rest_matrices
    heads, ways = matrices[:, :, 3] / skeleton.size, matrices[:, :, 1]
    tails = heads + ways * (skeleton.lengths / skeleton.size)[:, None]
    raw: list[int] = [int(parent) for parent in skeleton.parents]

    ends = ends | (_copies(skeleton, ways) & ~known)
    used = np.asarray(deform & ~helpers & ~ends)
    if used.sum() < _FEWEST:
        used = ~ends if (~ends).sum() >= _FEWEST else np.ones(count, bool)
    _keep_forks(used, raw, deform | helpers | ends, heads, ways)

    members = [int(bone) for bone in np.flatnonzero(used)]
    parents = _stand_ins(members, used, raw, heads, ways)
    tips = np.array(tails)
    for bone in np.flatnonzero(ends):
        if raw[bone] >= 0:
            tips[raw[bone]] = heads[bone]
    _adopt(members, parents, heads, tips)
    return _linked(members, parents, heads, tips)


def _copies(skeleton: Skeleton, ways: Array) -> Flags:
    """Leaves that an importer added: if they were added at all, every chain ends in a copy of its last bone."""
    parents = skeleton.parents
    leaf = np.ones(len(skeleton), bool)
    leaf[parents[parents >= 0]] = False
    copy = leaf & (parents >= 0)
    copy &= np.sum(ways * ways[parents], axis=1) > _COPIED_WAY
    lengths = skeleton.lengths[parents]
    for length in (skeleton.lengths, np.linalg.norm(skeleton.offsets, axis=1)):
        copy &= np.abs(length - lengths) <= _COPIED_LENGTH * lengths
    return copy if copy.sum() >= _FEWEST and copy.sum() >= _MOST * leaf.sum() else np.zeros(len(skeleton), bool)


def _keep_forks(used: Flags, raw: list[int], judged: Flags, heads: Array, ways: Array) -> None:
    """A bone that does not deform but carries two that do is a part of the body, like a pelvis without skin."""
    carried = np.bincount([raw[bone] for bone in np.flatnonzero(used) if raw[bone] >= 0], minlength=len(raw))
    members = np.flatnonzero(used)
    for bone in np.flatnonzero((carried > 1) & ~judged & ~used).tolist():
        if _in_place(bone, members, heads, ways) < 0:
            used[bone] = True


def _in_place(bone: int, members: NDArray[np.intp], heads: Array, ways: Array) -> int:
    """The member with the head and the direction of this bone; -1 if there is none."""
    same = lengths(heads[members] - heads[bone]) < _SAME_HEAD
    same &= ways[members] @ ways[bone] > _SAME_WAY
    return int(members[np.argmax(same)]) if same.any() else -1


def _stand_ins(members: list[int], used: Flags, raw: list[int], heads: Array, ways: Array) -> list[int]:
    """Parents (J,) among members: the nearest ancestor that is a member or lies where another member lies."""
    parents = [-1] * len(raw)
    indices = np.array(members)
    known: dict[int, int] = {}
    for bone in members:
        above = raw[bone]
        while above >= 0:
            if not used[above] and above not in known:
                known[above] = _in_place(above, indices, heads, ways)
            place = above if used[above] else known[above]
            if place >= 0 and not _hangs_on(parents, place, bone):  # a stand-in may itself hang on the bone
                parents[bone] = place
                break
            above = raw[above]
    return parents


def _hangs_on(parents: list[int], bone: int, ancestor: int) -> bool:
    while bone >= 0:
        if bone == ancestor:
            return True
        bone = parents[bone]
    return False


def _adopt(members: list[int], parents: list[int], heads: Array, tips: Array) -> None:
    """Give bones that hang on a root or on nothing to the bone they belong to."""
    carried = set(parents)
    leaves = [bone for bone in members if bone not in carried]
    main = _largest_root(members, parents)
    for bone in members:
        parent = parents[bone]
        if bone == main or (parent >= 0 and parents[parent] >= 0):
            continue
        ending = [leaf for leaf in leaves if not _hangs_on(parents, leaf, bone)]
        if ending:
            gaps = lengths(tips[ending] - heads[bone])
            # a root's own child is where it belongs unless another bone ends much nearer
            if gaps.min() < 2.0 * _SAME_PLACE and (
                parent < 0 or gaps.min() < np.linalg.norm(tips[parent] - heads[bone])
            ):
                parents[bone] = ending[int(gaps.argmin())]
                continue
        if parent < 0 and bone in carried:  # alone it would be a target, not a part
            others = [other for other in members if not _hangs_on(parents, other, bone)]
            gaps = lengths(heads[others] - heads[bone]) if others else np.zeros(0)
            if len(gaps) and _SAME_PLACE < gaps.min() < _NEAR:  # at the same place: a control, not a part
                parents[bone] = others[int(gaps.argmin())]
    _join_legs(members, parents, heads, main)


def _join_legs(members: list[int], parents: list[int], heads: Array, main: int) -> None:
    """Without hips, two legs are roots, or hang on each other by now: give them to where the spine begins."""
    carried = set(parents)
    loose = [bone for bone in members if bone in carried and bone != main and not _hangs_on(parents, bone, main)]
    near = [bone for bone in loose if np.linalg.norm(heads[bone] - heads[main]) < _HIPS]
    for one, other in combinations(near, 2):
        if parents[one] < 0 or parents[other] < 0:
            gap, to_middle = heads[one] - heads[other], 0.5 * (heads[one] + heads[other]) - heads[main]
            if abs(gap @ to_middle) < _ACROSS * np.linalg.norm(gap) * np.linalg.norm(to_middle):
                parents[one] = parents[other] = main


def _largest_root(members: list[int], parents: list[int]) -> int:
    sizes: dict[int, int] = {}
    for bone in members:
        root = bone
        while parents[root] >= 0:
            root = parents[root]
        sizes[root] = sizes.get(root, 0) + 1
    return max(sizes, key=lambda root: sizes[root])


def _linked(members: list[int], parents: list[int], heads: Array, tips: Array) -> BodyTree:
    children: list[list[int]] = [[] for _ in parents]
    for bone in members:
        if parents[bone] >= 0:
            children[parents[bone]].append(bone)
    order = [bone for bone in members if parents[bone] < 0]
    depth = [0] * len(parents)
    for bone in order:  # grows while it is read: breadth first
        for child in children[bone]:
            depth[child] = depth[bone] + 1
        order += children[bone]
    reach = np.zeros(len(parents))
    for bone in reversed(order):
        for child in children[bone]:
            reach[bone] = max(reach[bone], lengths(heads[child] - heads[bone]) + reach[child])
    return BodyTree(tuple(order), tuple(parents), tuple(tuple(c) for c in children), heads, tips, reach, tuple(depth))
