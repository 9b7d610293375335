"""Arms and legs of a human body and their sides: by names where they make whole limbs, else by shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...rotation import Array
from ..axes import angle, nearest_axis, unit
from ..roles import ARM, LEG, LIMBS, PARTS, SIDES
from .names import NameReading
from .rest_pose import forward_evidence
from .shape import UPRIGHT, BodyShape
from .tree import BodyTree

# Role -> parts by name, the surest first; a later role of the limb hangs on the earlier ones. A shoulder or a hip with
# a side is the joint where there is no other name for the upper arm or the thigh (Xsens, SMPL).
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

_FAN: Final = 3  # chains that begin at the end of a bone: metacarpals on a forearm, no hand

_BY_BOTH: Final = 0.99  # confidence where names and shape agree
BY_NAME: Final = 0.85
_DISPUTED: Final = 0.6  # names against the shape
_UNSURE_SIDE: Final = 0.4  # nothing tells left from right

_SIDE_BY_NAME: Final = 0.9  # how loudly names speak for a facing; see stance
_SURE: Final = 0.1  # evidence for a facing below this is none
_VOTES: Final = 4  # bones of limbs that name a side
_AGREED: Final = 0.8  # of them name the same


@dataclass
class HumanLimbs:
    """Limb roles: "upper_arm.L" -> bone; `sided` if names say which side is which."""

    limbs: dict[str, int]
    sided: bool
    confidence: dict[str, float] = field(default_factory=dict[str, float])

    def of(self, part: str) -> list[int]:
        """The bones of one part, left and right."""
        return [self.limbs[f"{part}.{side}"] for side in SIDES if f"{part}.{side}" in self.limbs]

    def chain(self, kind: str, side: str) -> list[int]:
        """Upper arm, forearm, hand (thigh, shin, foot), as many as there are."""
        return [self.limbs[f"{part}.{side}"] for part in LIMBS[kind] if f"{part}.{side}" in self.limbs]

    def chains(self, kind: str) -> list[list[int]]:
        return [chain for side in SIDES if (chain := self.chain(kind, side))]

    def firsts(self, kind: str) -> list[int]:
        """The first bone of each limb: the clavicle if there is one, else the upper arm; the thigh."""
        return [next(self.limbs[role] for part in PARTS[kind] if (role := f"{part}.{side}") in self.limbs)
                for side in SIDES if self.chain(kind, side)]  # fmt: skip

    def swap(self) -> None:
        self.limbs = {_other_side(role): bone for role, bone in self.limbs.items()}
        self.confidence = {_other_side(role): trust for role, trust in self.confidence.items()}


def _other_side(role: str) -> str:
    return role[:-1] + ("R" if role[-1] == "L" else "L")


def find_body(tree: BodyTree, readings: Sequence[NameReading], shape: BodyShape | None) -> HumanLimbs | None:
    """Two arms, or an arm and two legs, or all; None for less, and if the trunk lies as an animal's.

    Two legs alone are a body's by their names, if a head stands upright over them and nothing else has sides.
    """
    named = named_limbs(tree, readings)
    shaped = _shaped_limbs(tree, readings, shape)
    whole = complete_limbs(tree, named)
    if len(whole) < 4 and shaped is not None:
        body = shaped
        if body.sided:  # what names say whole goes before what shape says
            for kind, side in whole:
                roles = [f"{part}.{side}" for part in PARTS[kind]]
                kept = {role: bone for role, bone in body.limbs.items() if role not in roles}
                body.limbs = kept | {role: named[role] for role in roles if role in named}
    elif {("arm", "L"), ("arm", "R")} <= whole or len(whole) == 3 or _walks(tree, readings, named, whole):
        body = HumanLimbs(
            {f"{p}.{s}": named[f"{p}.{s}"] for k, s in whole for p in PARTS[k] if f"{p}.{s}" in named}, True
        )
    else:
        return None
    by_shape = _shaped_limbs(tree, readings, shape)
    for role, bone in body.limbs.items():
        if named.get(role) != bone:
            body.confidence[role] = shape.trust(role) if shape is not None else BY_NAME
        elif by_shape is None or role not in by_shape.limbs:
            body.confidence[role] = BY_NAME
        else:
            body.confidence[role] = _BY_BOTH if by_shape.limbs[role] == bone else _DISPUTED
    return body if _stands(tree, body) else None


def named_limbs(tree: BodyTree, readings: Sequence[NameReading]) -> dict[str, int]:
    """Limb roles by name; every bone hangs on the one before it in its limb."""
    found: dict[str, int] = {}
    for side in SIDES:
        usable = [
            bone
            for bone in tree.members
            if readings[bone].side == side and not readings[bone].twist and not readings[bone].place
        ]
        taken: set[int] = set()
        for parts in (ARM[1:], LEG):
            above = -1
            for part in parts:
                among = [b for b in usable if b not in taken and (above < 0 or tree.below(b, above))]
                bone = _pick(tree, readings, part, among)
                if bone >= 0:
                    found[f"{part}.{side}"] = above = bone
                    taken.add(bone)
        arm = found.get(f"upper_arm.{side}", -1)
        clavicle = _pick(tree, readings, "shoulder", [bone for bone in usable if tree.below(arm, bone)])
        if clavicle >= 0:
            found[f"shoulder.{side}"] = clavicle
    return found


def _pick(tree: BodyTree, readings: Sequence[NameReading], role: str, among: Sequence[int]) -> int:
    """The bone that is called most like the role, the first of a row; -1 if there is none, or a fan of equals."""
    called = _CALLED[role]
    fit = [bone for bone in among if readings[bone].part in called]

    def rank(bone: int) -> tuple[int, int, int]:
        return called.index(readings[bone].part), readings[bone].rest, tree.depth[bone]

    best = min(fit, key=lambda bone: (rank(bone), readings[bone].numbers), default=-1)
    equals = [bone for bone in fit if rank(bone) == rank(best)]
    return -1 if role == "hand" and len(equals) >= _FAN else best


def complete_limbs(tree: BodyTree, limbs: Mapping[str, int]) -> set[tuple[str, str]]:
    """(kind, side) of limbs with all three bones; the last may be missing where the limb ends, or fans out."""
    whole: set[tuple[str, str]] = set()
    for kind, parts in LIMBS.items():
        for side in SIDES:
            upper, lower, end = (limbs.get(f"{part}.{side}", -1) for part in parts)
            if upper >= 0 and lower >= 0 and (end >= 0 or not tree.children[lower] or _fans_out(tree, lower)):
                whole.add((kind, side))
    return whole


def _fans_out(tree: BodyTree, bone: int) -> bool:
    return sum(bool(tree.children[child]) for child in tree.children[bone]) >= _FAN


def _shaped_limbs(tree: BodyTree, readings: Sequence[NameReading], shape: BodyShape | None) -> HumanLimbs | None:
    """Limb roles by shape; the sides as most names have them, or any."""
    if shape is None:
        return None
    limbs: dict[str, int] = {}
    votes: list[bool] = []
    for side, arm, leg in zip(SIDES, shape.arms, shape.legs, strict=True):
        roles: dict[str, int] = dict(zip(LIMBS["arm"], arm.bones, strict=False))
        roles |= dict(zip(LEG, (*leg.bones, *leg.after[:1]), strict=False))
        if arm.before:
            roles["shoulder"] = arm.before[0]
        if "hand" in roles and _fans_out(tree, tree.parents[roles["hand"]]):
            del roles["hand"]
        limbs |= {f"{part}.{side}": bone for part, bone in roles.items()}
        votes += [readings[bone].side == side for bone in roles.values() if readings[bone].side]
    agreed = np.mean(votes) if len(votes) >= _VOTES else 0.5
    body = HumanLimbs(limbs, bool(max(agreed, 1.0 - agreed) > _AGREED))
    if body.sided and agreed < 0.5:
        body.swap()
    return body


def _stands(tree: BodyTree, body: HumanLimbs) -> bool:
    """The trunk goes on where the legs end; true if there is no telling."""
    legs, arms = body.chains("leg"), body.chains("arm")
    if len(legs) < 2 or len(arms) < 2:
        return True
    hips, shoulders = (tree.heads[[limb[0] for limb in limbs]].mean(axis=0) for limbs in (legs, arms))
    ankles = tree.heads[[leg[-1] for leg in legs]].mean(axis=0)
    return angle(shoulders - hips, hips - ankles) < UPRIGHT


def _walks(
    tree: BodyTree, readings: Sequence[NameReading], named: Mapping[str, int], whole: set[tuple[str, str]]
) -> bool:
    """Whether two legs carry a head upright, and nothing beside them but the head's own parts has a side."""
    heads = [bone for bone in tree.members if readings[bone].part == "head" and not readings[bone].side]
    if whole != {("leg", "L"), ("leg", "R")} or not heads:
        return False
    head = min(heads, key=lambda bone: tree.depth[bone])
    thighs, shins = ([named[f"{part}.{side}"] for side in SIDES] for part in ("thigh", "shin"))
    aside = [bone for bone in tree.members if readings[bone].side and not tree.below(bone, head)]
    hips, knees = (tree.heads[bones].mean(axis=0) for bones in (thighs, shins))
    upright = angle(tree.heads[head] - hips, hips - knees) < UPRIGHT
    return upright and all(any(tree.below(bone, thigh) or bone == thigh for thigh in thighs) for bone in aside)


def joints(tree: BodyTree, body: HumanLimbs, kind: str, count: int = 3) -> Array:
    """(n, count, 3): the first joints of the limbs that have as many."""
    chains = [chain[:count] for chain in body.chains(kind) if len(chain) >= count]
    return tree.heads[np.array(chains, int).reshape(-1, count)]


def trunk_direction(tree: BodyTree, body: HumanLimbs) -> Array:
    """The unit vector from the hips to the shoulders; of half a body, from its root on."""
    ends = [[chain[0] for chain in body.chains(kind)] for kind in ("leg", "arm")]
    if all(ends):
        hips, shoulders = (tree.heads[bones].mean(axis=0) for bones in ends)
        return unit(shoulders - hips)
    if ends[0]:
        return unit(
            tree.heads[ends[0]].mean(axis=0) - tree.heads[[chain[-1] for chain in body.chains("leg")]].mean(axis=0)
        )
    chest = tree.common(*ends[1])
    return unit(tree.tips[chest] - tree.heads[tree.ancestors(chest)[-1]]) if chest >= 0 else np.array([0.0, 0.0, 1.0])


def left_direction(tree: BodyTree, body: HumanLimbs) -> Array:
    """The unit vector to the side called left."""
    pairs = [tree.heads[bones] for part in ("upper_arm", "thigh") if len(bones := body.of(part)) == 2]
    return unit(np.sum([pair[0] - pair[1] for pair in pairs], axis=0)) if pairs else np.array([1.0, 0.0, 0.0])


def orient(tree: BodyTree, body: HumanLimbs, up: Array) -> None:
    """Swap left and right if the body looks the other way: the character's own sides count, whatever names say."""
    forward = unit(np.cross(left_direction(tree, body), up))
    feet, toes = body.of("foot"), body.of("toe")
    said = forward_evidence(
        forward,
        tree.heads[feet],
        tree.heads[toes] if toes and len(toes) == len(feet) else None,
        tree.tips[feet],
        joints(tree, body, "leg"),
        joints(tree, body, "arm"),
    )
    disputed = body.sided and said < -_SURE
    said += _SIDE_BY_NAME if body.sided else 0.0
    unsure = abs(said) < _SURE
    if unsure:  # Blender's front view looks along +Y; Y-up figures of other programs look along +Z
        front = np.array([0.0, -1.0, 0.0]) if nearest_axis(up)[1] == "Z" else np.array([0.0, 0.0, 1.0])
        said = float(forward @ front)
    if said < 0.0:
        body.swap()
    if unsure or disputed:
        most = _UNSURE_SIDE if unsure else _DISPUTED
        body.confidence = {role: min(trust, most) for role, trust in body.confidence.items()}
