"""Find the arms and legs of a human body and their sides: by names where they form complete limbs, else by shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...rotation import Array
from ..axes import angle, axis_vector, nearest_axis, unit, usual_front
from ..roles import ARM, LEG, LIMB_PARTS, LIMBS, SIDES, opposite_role
from .rest_pose import forward_evidence
from .shape import UPRIGHT, BodyShape
from .tree import BodyTree

# Role -> parts by name, the surest first; a later role of the limb is a descendant of the earlier ones. A shoulder or a
# hip with a side is the joint if no other bone is called upper arm or thigh (Xsens, SMPL).
_CALLED: Final[Mapping[str, tuple[str, ...]]] = {
    "upper_arm": ("upperarm", "arm", "shoulder"),
    "forearm": ("forearm", "elbow", "arm"),
    "hand": ("wrist", "hand", "palm"),
    "shoulder": ("clavicle", "shoulder"),
    "thigh": ("thigh", "hips", "leg"),
    "shin": ("shin", "knee", "leg"),
    "foot": ("ankle", "foot"),
    "toe": ("toe", "foot"),
}

_JOINTS: Final = {"upper_arm": "shoulder", "thigh": "hips"}  # of several in a row the last: LHipJoint, LeftHip

FAN: Final = 3  # chains on one bone: the limb ends there, metacarpals or toes follow

_BY_BOTH: Final = 0.99  # confidence where names and shape agree
BY_NAME: Final = 0.85
_DISPUTED: Final = 0.6  # confidence where names that say more than a part, and shape, differ
_UNSURE_SIDE: Final = 0.4  # confidence where nothing tells left from right

_SIDE_BY_NAME: Final = 0.9  # weight of names in the evidence for a facing; see rest_pose
_SURE: Final = 0.1  # least evidence for a facing
_VOTES: Final = 4  # bones of limbs that name a side, at least
_AGREED: Final = 0.8  # share of them that names the same side


@dataclass
class HumanLimbs:
    """Limb roles ("upper_arm.L" -> bone); `sided` if names tell the sides, `upright` if the trunk is above the legs."""

    tree: BodyTree
    limbs: dict[str, int]
    sided: bool
    confidence: dict[str, float] = field(default_factory=dict[str, float])
    upright: bool = True

    def of(self, part: str) -> list[int]:
        """Return the bones of one part, left and right."""
        return [self.limbs[role] for side in SIDES if (role := f"{part}.{side}") in self.limbs]

    def chain(self, kind: str, side: str) -> list[int]:
        """Return upper arm, forearm and hand, or thigh, shin and foot; fewer if some are missing."""
        return [self.limbs[role] for part in LIMBS[kind] if (role := f"{part}.{side}") in self.limbs]

    def chains(self, kind: str) -> list[list[int]]:
        """Return the `chain` of each side that has bones."""
        return [chain for side in SIDES if (chain := self.chain(kind, side))]

    def firsts(self, kind: str) -> list[int]:
        """Return the first bone of each limb: the clavicle, else the upper arm; the thigh."""
        return [next(self.limbs[role] for part in LIMB_PARTS[kind] if (role := f"{part}.{side}") in self.limbs)
                for side in SIDES if self.chain(kind, side)]  # fmt: skip

    def swap(self) -> None:
        """Exchange left and right."""
        self.limbs = {opposite_role(role): bone for role, bone in self.limbs.items()}
        self.confidence = {opposite_role(role): trust for role, trust in self.confidence.items()}

    def joints(self, kind: str, count: int = 3) -> Array:
        """Return the first joints (n, count, 3) of the limbs that have so many."""
        chains = [chain[:count] for chain in self.chains(kind) if len(chain) >= count]
        return self.tree.heads[np.array(chains, int).reshape(-1, count)]

    def up(self) -> Array:
        """Return the unit vector (3,) from hips to shoulders; without legs or arms, from the feet or the root."""
        legs, arms = ([chain[0] for chain in self.chains(kind)] for kind in ("leg", "arm"))
        if legs and arms:
            return unit(_middle(self.tree, arms) - _middle(self.tree, legs))
        if legs:
            return unit(_middle(self.tree, legs) - _middle(self.tree, [chain[-1] for chain in self.chains("leg")]))
        chest = self.tree.common(*arms)
        if chest < 0:
            return np.array([0.0, 0.0, 1.0])
        return unit(self.tree.tips[chest] - self.tree.heads[self.tree.ancestors(chest)[-1]])

    def left(self) -> Array:
        """Return the unit vector (3,) from the right limbs to the left ones."""
        pairs = [self.tree.heads[bones] for part in ("upper_arm", "thigh") if len(bones := self.of(part)) == 2]
        return unit(np.sum([pair[0] - pair[1] for pair in pairs], axis=0)) if pairs else np.array([1.0, 0.0, 0.0])

    def orient(self, up: Array) -> None:
        """Swap left and right where feet, knees and elbows show that the body faces backwards."""
        forward = unit(np.cross(self.left(), up))
        feet, toes = self.of("foot"), self.of("toe")
        has_toes = len(toes) == len(feet)
        steps = (self.tree.heads[toes] if has_toes else self.tree.tips[feet]) - self.tree.heads[feet]
        evidence = forward_evidence(forward, steps, has_toes, self.joints("leg"), self.joints("arm"))
        disputed = self.sided and evidence < -_SURE
        evidence += _SIDE_BY_NAME if self.sided else 0.0
        unsure = abs(evidence) < _SURE
        if unsure:
            evidence = float(forward @ axis_vector(usual_front(nearest_axis(up))))
        if evidence < 0.0:
            self.swap()
        if unsure or disputed:
            most = _UNSURE_SIDE if unsure else _DISPUTED
            self.confidence = {role: min(trust, most) for role, trust in self.confidence.items()}


def find_limbs(tree: BodyTree, shape: BodyShape | None) -> HumanLimbs | None:
    """Return two arms, an arm and two legs, or all; None for less, or if the trunk is horizontal.

    Where names tell all four limbs and no tail, the trunk may be horizontal, as of a rest pose that bends down or sits.
    Two legs alone, by their names, are a body if a head is above them and no other bone has a side.
    """
    named = named_limbs(tree)
    shaped = _shaped_limbs(tree, shape)
    by_shape = {} if shaped is None else shaped.limbs
    complete = complete_limbs(tree, named)
    if len(complete) < 4 and shaped is not None:
        body = shaped
        if body.sided:  # limbs that are complete by name replace those by shape
            for kind, side in sorted(complete):
                roles = [f"{part}.{side}" for part in LIMB_PARTS[kind]]
                kept = {role: bone for role, bone in body.limbs.items() if role not in roles}
                body.limbs = kept | {role: named[role] for role in roles if role in named}
    elif {("arm", "L"), ("arm", "R")} <= complete or len(complete) == 3 or _walks(tree, named, complete):
        roles = [f"{part}.{side}" for kind, side in sorted(complete) for part in LIMB_PARTS[kind]]
        body = HumanLimbs(tree, {role: named[role] for role in roles if role in named}, True)
    else:
        return None
    for role, bone in body.limbs.items():
        if named.get(role) != bone:
            body.confidence[role] = shape.trust(role) if shape is not None else BY_NAME
        elif role not in by_shape:
            body.confidence[role] = BY_NAME
        elif by_shape[role] == bone:
            body.confidence[role] = _BY_BOTH
        else:
            body.confidence[role] = _DISPUTED if tree.readings[bone].rest else BY_NAME
    body.upright = _is_upright(tree, body)
    clear = len(complete) == 4 and all(reading.part != "tail" for reading in tree.readings)
    return body if body.upright or clear else None


def named_limbs(tree: BodyTree) -> dict[str, int]:
    """Return the limb roles by name; every bone is a descendant of the one before it in its limb."""
    found: dict[str, int] = {}
    for side in SIDES:
        usable = [
            bone
            for bone in tree.members
            if tree.readings[bone].side == side and not tree.readings[bone].twist and not tree.readings[bone].place
        ]
        taken: set[int] = set()
        for parts in (ARM[1:], LEG):
            above = -1
            for part in parts:
                among = [b for b in usable if b not in taken and (above < 0 or tree.below(b, above))]
                bone = _pick(tree, part, among)
                if bone >= 0:
                    found[f"{part}.{side}"] = above = bone
                    taken.add(bone)
        arm = found.get(f"upper_arm.{side}", -1)
        clavicle = _pick(tree, "shoulder", [bone for bone in usable if tree.below(arm, bone)])
        if clavicle >= 0:
            found[f"shoulder.{side}"] = clavicle
    return found


def _pick(tree: BodyTree, role: str, among: Sequence[int]) -> int:
    """Return the bone with the best name for a role, the first of a row; -1 if there is none, or a fan of equals."""
    called = _CALLED[role]
    fit = [bone for bone in among if tree.readings[bone].part in called]

    def rank(bone: int) -> tuple[int, int, int]:
        reading, depth = tree.readings[bone], tree.depth[bone]
        return called.index(reading.part), reading.rest, -depth if reading.part == _JOINTS.get(role) else depth

    best = min(fit, key=lambda bone: (rank(bone), [int(n) for n in tree.readings[bone].numbers]), default=-1)
    equals = [bone for bone in fit if rank(bone) == rank(best)]
    return -1 if role == "hand" and len(equals) >= FAN else best


def complete_limbs(tree: BodyTree, limbs: Mapping[str, int]) -> set[tuple[str, str]]:
    """Return (kind, side) of limbs with all three bones; the last may be missing where the limb ends or fans out."""
    complete: set[tuple[str, str]] = set()
    for kind, parts in LIMBS.items():
        for side in SIDES:
            upper, lower, end = (limbs.get(f"{part}.{side}", -1) for part in parts)
            if upper >= 0 and lower >= 0 and (end >= 0 or not tree.children[lower] or fans_out(tree, lower)):
                complete.add((kind, side))
    return complete


def fans_out(tree: BodyTree, bone: int) -> bool:
    """Return whether several chains begin at the end of a bone."""
    return sum(bool(tree.children[child]) for child in tree.children[bone]) >= FAN


def _shaped_limbs(tree: BodyTree, shape: BodyShape | None) -> HumanLimbs | None:
    """Return the limb roles by shape, with the sides that most names have, or any sides."""
    if shape is None:
        return None
    limbs: dict[str, int] = {}
    votes: list[bool] = []
    for side, arm, leg in zip(SIDES, shape.arms, shape.legs, strict=True):
        roles: dict[str, int] = dict(zip(LIMBS["arm"], arm.bones, strict=False))
        roles |= dict(zip(LEG, (*leg.bones, *leg.after[:1]), strict=False))
        if arm.before:
            roles["shoulder"] = arm.before[0]
        if "hand" in roles and fans_out(tree, tree.parents[roles["hand"]]):
            del roles["hand"]
        limbs |= {f"{part}.{side}": bone for part, bone in roles.items()}
        votes += [tree.readings[bone].side == side for bone in roles.values() if tree.readings[bone].side]
    agreed = np.mean(votes) if len(votes) >= _VOTES else 0.5
    body = HumanLimbs(tree, limbs, bool(max(agreed, 1.0 - agreed) > _AGREED))
    if body.sided and agreed < 0.5:
        body.swap()
    return body


def _is_upright(tree: BodyTree, body: HumanLimbs) -> bool:
    """Return whether the trunk continues the line of the legs; True if two legs or two arms are missing."""
    legs, arms = body.chains("leg"), body.chains("arm")
    if len(legs) < 2 or len(arms) < 2:
        return True
    hips, shoulders = (_middle(tree, [limb[0] for limb in limbs]) for limbs in (legs, arms))
    toes = body.of("toe")
    feet = toes if len(toes) == len(legs) else [leg[-1] for leg in legs]  # ankles of animals are behind
    return angle(shoulders - hips, hips - _middle(tree, feet)) < UPRIGHT


def _middle(tree: BodyTree, bones: Sequence[int]) -> Array:
    """Return the mean (3,) of the heads of bones."""
    return tree.heads[list(bones)].mean(axis=0)


def _walks(tree: BodyTree, named: Mapping[str, int], complete: set[tuple[str, str]]) -> bool:
    """Return whether two legs carry a head upright, and only parts of the head have a side besides them."""
    heads = [bone for bone in tree.members if tree.readings[bone].part == "head" and not tree.readings[bone].side]
    if complete != {("leg", "L"), ("leg", "R")} or not heads:
        return False
    head = min(heads, key=lambda bone: tree.depth[bone])
    thighs, shins = ([named[f"{part}.{side}"] for side in SIDES] for part in ("thigh", "shin"))
    aside = [bone for bone in tree.members if tree.readings[bone].side and not tree.below(bone, head)]
    hips, knees = _middle(tree, thighs), _middle(tree, shins)
    upright = angle(tree.heads[head] - hips, hips - knees) < UPRIGHT
    return upright and all(tree.in_branches(bone, thighs) for bone in aside)
