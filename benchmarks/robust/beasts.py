"""Animals made of bones for `roles`: kinds of bodies, the ways in which rigs are built, and the names they give.

Every rig is a kind in a flavour. A kind has proportions of an animal, a flavour says which bones there are besides and
what they are called. Which bone is which part is known since it was made as that part: nothing of Poise is used here.
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

Point = tuple[float, ...]  # three
Answer = dict[str, list[list[str]]]  # role -> the bones that are right, or other ones that are right as well


@dataclass(frozen=True)
class Row:
    """A bone with its head and tail; the body looks along -Y, up is +Z, and its left is at +X."""

    name: str
    parent: str | None
    head: Point
    tail: Point
    deform: bool = True


@dataclass(frozen=True)
class Kind:
    """Proportions, in heights of the hips: the lengths, angles in degrees above the horizontal, and counts of bones."""

    shoulder: float = 0.95  # height of the shoulder joint
    length: float = 1.2  # from hip to shoulder
    width: float = 0.14
    spine: int = 4
    neck: tuple[float, float, int] = (0.4, 40.0, 2)
    head: tuple[float, float] = (0.35, -15.0)
    tail: tuple[float, float, int] = (0.8, -20.0, 5)
    legs: str = "paws"  # paws, hooves, columns, sprawled, crouched
    ears: float = 0.1
    two: bool = False  # stands on its hind legs
    wings: bool = False


KINDS: Final = {
    "dog": Kind(),
    "cat": Kind(0.85, 1.3, 0.12, 4, (0.25, 30.0, 2), (0.3, -10.0), (1.1, 10.0, 6), ears=0.08),
    "horse": Kind(1.0, 1.15, 0.13, 5, (0.75, 50.0, 4), (0.5, -45.0), (0.7, -50.0, 5), "hooves", 0.12),
    "cow": Kind(0.9, 1.35, 0.2, 4, (0.45, 15.0, 2), (0.4, -40.0), (0.8, -75.0, 5), "hooves", 0.15),
    "deer": Kind(0.95, 1.1, 0.1, 3, (0.6, 55.0, 3), (0.3, -25.0), (0.12, -30.0, 1), "hooves", 0.14),
    "giraffe": Kind(1.2, 0.9, 0.13, 3, (1.4, 65.0, 5), (0.4, -35.0), (0.6, -70.0, 4), "hooves", 0.1),
    "elephant": Kind(1.05, 1.15, 0.25, 3, (0.25, 10.0, 1), (0.4, -30.0), (0.6, -80.0, 4), "columns", 0.4),
    "bear": Kind(0.95, 1.25, 0.2, 3, (0.3, 15.0, 2), (0.4, -15.0), (0.1, -30.0, 1), "columns", 0.08),
    "mouse": Kind(0.7, 1.3, 0.18, 3, (0.2, 15.0, 1), (0.5, -10.0), (1.8, -10.0, 8), ears=0.25),
    "rabbit": Kind(0.6, 0.9, 0.16, 3, (0.2, 45.0, 1), (0.45, -10.0), (0.12, 30.0, 1), "crouched", 0.5),
    "fox": Kind(0.95, 1.2, 0.11, 3, (0.35, 35.0, 2), (0.35, -15.0), (1.0, -25.0, 4), ears=0.16),
    "pig": Kind(0.9, 1.5, 0.25, 2, (0.2, 0.0, 1), (0.5, -20.0), (0.3, 20.0, 3), "hooves", 0.15),
    "crocodile": Kind(0.95, 2.6, 0.35, 5, (0.4, 0.0, 2), (1.1, 0.0), (2.6, -8.0, 8), "sprawled", 0.0),
    "lizard": Kind(1.0, 2.2, 0.3, 4, (0.4, 10.0, 1), (0.7, 0.0), (3.2, -5.0, 9), "sprawled", 0.0),
    "turtle": Kind(0.9, 1.6, 0.6, 2, (0.8, 20.0, 3), (0.4, 0.0), (0.5, -20.0, 2), "sprawled", 0.0),
    "dragon": Kind(0.95, 1.5, 0.18, 5, (1.1, 50.0, 5), (0.5, -20.0), (2.2, -15.0, 8), ears=0.0, wings=True),
    "raptor": Kind(1.0, 0.7, 0.1, 4, (0.45, 45.0, 3), (0.4, -5.0), (1.6, 0.0, 7), ears=0.0, two=True),
    "ostrich": Kind(1.05, 0.55, 0.12, 2, (0.9, 75.0, 5), (0.25, -10.0), (0.3, 10.0, 2), ears=0.0, two=True, wings=True),
}

# The joints of a leg below its first one, as (y, z) in its height; the toes and the tip of the last bone come after.
_LEGS: Final = {
    "paws": (
        ((0.15, 0.6), (0.12, 0.15), (0.1, 0.03), (-0.02, 0.0)),
        ((-0.1, 0.55), (0.2, 0.3), (0.12, 0.04), (0.0, 0.0)),
    ),
    "hooves": (
        ((0.14, 0.66), (0.1, 0.33), (0.1, 0.12), (0.04, 0.05), (0.0, 0.0)),
        ((-0.08, 0.64), (0.14, 0.4), (0.06, 0.13), (0.0, 0.06), (-0.04, 0.0)),
    ),
    "columns": (
        ((0.06, 0.55), (0.03, 0.1), (-0.05, 0.04), (-0.12, 0.0)),
        ((-0.05, 0.5), (0.03, 0.12), (-0.06, 0.04), (-0.14, 0.0)),
    ),
    "sprawled": (
        ((0.1, 0.85), (-0.1, 0.15), (-0.25, 0.04), (-0.4, 0.0)),
        ((-0.1, 0.85), (0.1, 0.15), (-0.05, 0.04), (-0.2, 0.0)),
    ),
    "crouched": (
        ((0.15, 0.6), (0.05, 0.15), (0.0, 0.04), (-0.1, 0.0)),
        ((-0.5, 0.5), (0.1, 0.2), (-0.25, 0.05), (-0.4, 0.0)),
    ),
}  # fmt: skip
_SPRAWL: Final = (0.0, 0.45, 0.5, 0.55, 0.6, 0.6)  # of the height: how far aside the joints are


@dataclass(frozen=True)
class Flavour:
    """How a rig is built, and what its bones are called.

    call   names a bone by its part, its number from 1, its side, and how many bones the part has
    """

    call: Callable[[str, int, str, int], str]
    scapula: bool = True
    halves: bool = False  # of the pelvis
    long: bool = True  # legs have the bones below the wrist
    ears: bool = True
    jaw: bool = True
    eyes: bool = False
    digits: int = 0
    root: bool = False
    hub: bool = False  # everything hangs on a bone in the middle
    targets: bool = False  # of inverse kinematics, which deform
    ends: bool = False  # every chain has a further bone
    double: bool = False  # legs have two bones a segment
    meshes: bool = False  # a bone beside every bone
    on_neck: bool = False  # front legs hang on the first bone of the neck
    turned: bool = False  # looks along +X
    stride: bool = False  # stands in a step, and its joints are off by up to a hundredth of the height
    scale: float = 1.0


def _side(left: str, right: str) -> Callable[[str], str]:
    return lambda side: {"L": left, "R": right, "": ""}[side]


def _template(
    table: dict[str, str], sides: tuple[str, str], start: int = 1, width: int = 1
) -> Callable[[str, int, str, int], str]:
    """Return names by a table: part -> text with {n} and {s}; without {n} only the first bone of the part has it."""
    side = _side(*sides)

    def call(part: str, number: int, which: str, count: int) -> str:
        text = table.get(part, "Root" if part == "root" else part.replace(" ", "_") + "{n}_{s}")
        name = text.format(n=f"{number - 1 + start:0{width}d}", s=side(which), a="ABCDEFGHIJKL"[number - 1])
        return name if "{n}" in text or "{a}" in text or number == 1 else f"{name}{number - 1}"

    return call


def _numbered(space: str) -> Callable[[str, int, str, int], str]:
    """Return names that say nothing: Bone, Bone.001 ..."""
    made: dict[tuple[str, int, str], str] = {}

    def call(part: str, number: int, which: str, count: int) -> str:
        return made.setdefault((part, number, which), f"{space}.{len(made):03d}" if made else space)

    return call


_HUMAN: Final = {
    "hips": "Hips", "spine": "Spine", "neck": "Neck", "head": "Head", "jaw": "Jaw", "ear": "{s}Ear", "tail": "Tail",
    "eye": "{s}Eye", "scapula": "{s}Shoulder", "humerus": "{s}Arm", "radius": "{s}ForeArm", "carpus": "{s}Hand",
    "finger": "{s}HandFinger", "half": "{s}Pelvis", "femur": "{s}UpLeg", "tibia": "{s}Leg", "tarsus": "{s}Foot",
    "toe": "{s}ToeBase", "hoof": "{s}HandTip", "back hoof": "{s}ToeTip",
}  # fmt: skip

FLAVOURS: Final = {
    "unreal": lambda: Flavour(_template({
        "hips": "pelvis", "spine": "spine_{n}", "neck": "neck_{n}", "head": "head", "jaw": "jaw", "ear": "ear_{n}_{s}",
        "tail": "tail_{n}", "eye": "eye_{s}", "scapula": "clavicle_{s}", "humerus": "upperarm_{s}",
        "radius": "lowerarm_{s}", "carpus": "hand_{s}", "finger": "ball_hand_{s}", "femur": "thigh_{s}",
        "tibia": "calf_{s}", "tarsus": "foot_{s}", "toe": "ball_{s}", "hoof": "hoof_front_{s}",
        "back hoof": "hoof_back_{s}", "wing": "wing_{n}_{s}", "root": "root"}, ("l", "r"), 1, 2), root=True),
    "pack": lambda: Flavour(_template({
        "hips": "Hips", "spine": "Spine.{n}", "neck": "Neck.{n}", "head": "Head", "jaw": "Jaw", "ear": "Ear_{n}.{s}",
        "tail": "Tail_{n}", "humerus": "Front_Leg_Upper.{s}", "radius": "Front_Leg_Lower.{s}",
        "carpus": "Front_Foot.{s}", "finger": "Front_Toes.{s}", "femur": "Back_Leg_Upper.{s}",
        "tibia": "Back_Leg_Lower.{s}", "tarsus": "Back_Foot.{s}", "toe": "Back_Toes.{s}", "hoof": "Front_Hoof.{s}",
        "back hoof": "Back_Hoof.{s}", "wing": "Wing_{n}.{s}"}, ("L", "R"), 1, 3), scapula=False, root=True),
    "numbers": lambda: Flavour(_numbered("Bone"), scapula=False, long=False, ends=True, turned=True, targets=True),
    "studio": lambda: Flavour(_template({
        "hips": "DEF-Hips", "spine": "DEF-Spine{n}", "neck": "DEF-Neck{n}", "head": "DEF-Head", "jaw": "DEF-Jaw",
        "ear": "DEF-Ear{n}.{s}", "tail": "DEF-Tail{n}", "eye": "DEF-Eye.{s}", "scapula": "DEF-Clavicle.{s}",
        "humerus": "DEF-UpperArm{n}.{s}", "radius": "DEF-Forearm{n}.{s}", "carpus": "DEF-Wrist.{s}",
        "finger": "DEF-Fingers.{s}", "femur": "DEF-Thigh{n}.{s}", "tibia": "DEF-Shin{n}.{s}", "tarsus": "DEF-Foot.{s}",
        "toe": "DEF-Toes.{s}", "hoof": "DEF-HoofFront.{s}", "back hoof": "DEF-HoofBack.{s}",
        "wing": "DEF-Wing{n}.{s}"}, ("L", "R")), double=True, eyes=True),
    "biped": lambda: Flavour(_template({
        "hips": "Bip01 Pelvis", "spine": "Bip01 Spine", "neck": "Bip01 Neck", "head": "Bip01 Head",
        "jaw": "Bip01 Ponytail1", "ear": "Bone ear {s} {n}", "tail": "Bip01 Tail", "scapula": "Bip01 {s} Clavicle",
        "humerus": "Bip01 {s} UpperArm", "radius": "Bip01 {s} Forearm", "carpus": "Bip01 {s} Hand",
        "finger": "Bip01 {s} Finger0", "femur": "Bip01 {s} Thigh", "tibia": "Bip01 {s} Calf",
        "tarsus": "Bip01 {s} HorseLink", "toe": "Bip01 {s} Foot", "hoof": "Bip01 {s} Finger01",
        "back hoof": "Bip01 {s} Toe0"}, ("L", "R")), on_neck=True, root=True),
    "maya": lambda: Flavour(_template({
        "hips": "c_pelvis_jnt", "spine": "c_spine{a}_jnt", "neck": "c_neck{a}_jnt", "head": "c_head_jnt",
        "jaw": "c_jaw_jnt", "ear": "{s}_ear{a}_jnt", "tail": "c_tail{a}_jnt", "eye": "{s}_eye_jnt",
        "scapula": "{s}_frontScapula_jnt", "humerus": "{s}_frontHip_jnt", "radius": "{s}_frontKnee_jnt",
        "carpus": "{s}_frontAnkle_jnt", "finger": "{s}_frontBall_jnt", "hoof": "{s}_frontToe_jnt",
        "half": "{s}_backPelvis_jnt", "femur": "{s}_backHip_jnt", "tibia": "{s}_backKnee_jnt",
        "tarsus": "{s}_backAnkle_jnt", "toe": "{s}_backBall_jnt", "back hoof": "{s}_backToe_jnt",
        "wing": "{s}_wing{a}_jnt"}, ("lf", "rt")), eyes=True, halves=True, scale=100.0),
    "capture": lambda: Flavour(_template(_HUMAN, ("Left", "Right")), ears=False, jaw=False, ends=True, scale=100.0),
    "smal": lambda: Flavour(_template({
        "hips": "pelvis", "spine": "spine{n}", "neck": "Neck{n}", "head": "Head", "jaw": "Mouth", "ear": "{s}Ear",
        "tail": "Tail{n}", "scapula": "{s}Scapula", "humerus": "{s}Leg1", "radius": "{s}Leg2", "carpus": "{s}Leg3",
        "finger": "{s}Foot", "hoof": "{s}Hoof", "femur": "{s}LegBack1", "tibia": "{s}LegBack2",
        "tarsus": "{s}LegBack3", "toe": "{s}FootBack", "back hoof": "{s}HoofBack"}, ("L", "R")),
        scapula=False, stride=True),
    "anatomical": lambda: Flavour(_template({
        "hips": "Sacrum", "spine": "Thoracic_{n}", "neck": "Cervical_{n}", "head": "Skull", "jaw": "Mandible",
        "ear": "Ear_{n}_{s}", "tail": "Caudal_{n}", "scapula": "Scapula_{s}", "humerus": "Humerus_{s}",
        "radius": "Radius_{s}", "carpus": "Metacarpus_{s}", "finger": "Phalanges_Front_{s}", "hoof": "Hoof_Front_{s}",
        "half": "Ilium_{s}", "femur": "Femur_{s}", "tibia": "Tibia_{s}", "tarsus": "Metatarsus_{s}",
        "toe": "Phalanges_Rear_{s}", "back hoof": "Hoof_Rear_{s}"}, ("L", "R")), halves=True, turned=True),
    "meshes": lambda: Flavour(_template({
        "hips": "hip", "spine": "spine_{n}", "neck": "neck_{n}", "head": "head", "jaw": "jaw", "ear": "ear_{n}_{s}",
        "tail": "tail_{n}", "humerus": "{s}_fore_thigh", "radius": "{s}_fore_shin", "carpus": "{s}_fore_foot",
        "finger": "{s}_fore_toe", "femur": "{s}_hind_thigh", "tibia": "{s}_hind_shin", "tarsus": "{s}_hind_foot",
        "toe": "{s}_hind_toe", "hoof": "{s}_fore_hoof", "back hoof": "{s}_hind_hoof"}, ("left", "right")),
        scapula=False, meshes=True),
    "zoo": lambda: Flavour(_template({
        "hips": "def_c_hips_joint", "spine": "def_c_spine{n}_joint", "neck": "def_c_neck{n}_joint",
        "head": "def_c_head_joint", "jaw": "def_c_jaw_joint", "ear": "def_ear{n}_joint.{s}",
        "tail": "def_c_tail{n}_joint", "scapula": "def_clavicle_joint.{s}", "humerus": "def_frontLegUpr_joint.{s}",
        "radius": "def_frontLegLwr_joint.{s}", "carpus": "def_frontHorselink_joint.{s}",
        "finger": "def_frontFoot_joint.{s}", "hoof": "def_frontToe_joint.{s}", "femur": "def_rearLegUpr_joint.{s}",
        "tibia": "def_rearLegLwr_joint.{s}", "tarsus": "def_rearHorselink_joint.{s}", "toe": "def_rearFoot_joint.{s}",
        "back hoof": "def_rearToe_joint.{s}"}, ("L", "R")), eyes=True, digits=3, root=True),
    "hub": lambda: Flavour(_template({
        "body": "Body", "hips": "Back", "spine": "Torso{n}", "neck": "Neck{n}", "head": "Head", "ear": "Ear{n}.{s}",
        "tail": "Tail{n}", "humerus": "FrontUpperLeg.{s}", "radius": "FrontLowerLeg.{s}", "carpus": "FFoot.{s}",
        "finger": "FToes.{s}", "femur": "BackUpperLeg.{s}", "tibia": "BackLowerLeg.{s}", "tarsus": "BFoot.{s}",
        "toe": "BToes.{s}", "hoof": "FHoof.{s}", "back hoof": "BHoof.{s}"}, ("L", "R")),
        scapula=False, hub=True, jaw=False, ends=True, root=True),
    "plain": lambda: Flavour(_template({
        "hips": "root_jt", "spine": "back{n}_jt", "neck": "neck{n}_jt", "head": "head_jt", "jaw": "lowerjaw_jt",
        "ear": "ear{n}_{s}", "tail": "tail{n}_jt", "scapula": "frontshoulder_{s}", "humerus": "frontupleg_{s}",
        "radius": "frontlowleg_{s}", "carpus": "frontpaw_{s}", "finger": "fronttoes_{s}", "hoof": "fronthoof_{s}",
        "femur": "backupleg_{s}", "tibia": "backlowleg_{s}", "tarsus": "backpaw_{s}", "toe": "backtoes_{s}",
        "back hoof": "backhoof_{s}", "wing": "wing{n}_{s}"}, ("l", "r")), digits=4, eyes=True, stride=True),
    "nothing": lambda: Flavour(_numbered("joint"), digits=3, eyes=True, root=True),
    "stepping": lambda: Flavour(_numbered("jnt"), halves=True, stride=True),
}  # fmt: skip

# Which kinds come in which flavour.
PAIRS: Final = tuple(
    (kind, flavour)
    for flavour, kinds in {
        "unreal": "dog horse dragon raptor", "pack": "cat cow ostrich lizard", "numbers": "fox pig deer mouse",
        "studio": "cat bear giraffe", "biped": "horse dog elephant", "maya": "deer dragon cow crocodile",
        "capture": "dog cat bear", "smal": "horse fox cat", "anatomical": "cat giraffe dog",
        "meshes": "dog cow mouse", "zoo": "elephant rabbit horse", "hub": "dog deer rabbit pig",
        "plain": "bear dragon fox turtle", "nothing": "dog horse crocodile raptor",
        "stepping": "dog horse cat cow",
    }.items()
    for kind in kinds.split()
)  # fmt: skip


class _Made:
    """The rows of a rig while it is made, and the bones of each part."""

    def __init__(self, kind: Kind, flavour: Flavour) -> None:
        self.kind, self.flavour = kind, flavour
        self.rows: list[Row] = []
        self.parts: dict[str, list[str]] = {}

    def chain(
        self, part: str, points: list[Point], parent: str | None, side: str = "", calls: tuple[str, ...] = ()
    ) -> str:
        """Add bones along points, called by the part or each by a part of its own; return the last one's name."""
        for place, (head, tail) in enumerate(pairwise(points)):
            own = calls[place] if calls else part
            number = calls[: place + 1].count(own) if calls else place + 1
            name = self.flavour.call(own, number, side, len(points) - 1)
            if any(row.name == name for row in self.rows):
                raise ValueError(f"{name} is there already")
            self.rows.append(Row(name, parent, head, tail))
            self.parts.setdefault(f"{part}.{side}" if side else part, []).append(name)
            parent = name
        assert parent is not None
        return parent


def _along(start: Point, length: float, degrees: float, count: int) -> list[Point]:
    """Return points from a start forwards and up."""
    y, z = -math.cos(math.radians(degrees)) * length, math.sin(math.radians(degrees)) * length
    return [(start[0], start[1] + y * n / count, start[2] + z * n / count) for n in range(count + 1)]


def make(kind_name: str, flavour_name: str) -> tuple[list[Row], Answer]:
    """Return the bones of a rig, parents first, and its answer."""
    kind, flavour = KINDS[kind_name], FLAVOURS[flavour_name]()
    made = _Made(kind, flavour)
    hips, top = (0.0, 0.5 * kind.length + 0.15, 1.08), kind.shoulder + 0.12
    lift = 0.45 * kind.length if kind.two else 0.0
    chest = (0.0, -0.5 * kind.length, top + lift)
    root = None
    if flavour.root:
        root = flavour.call("root", 1, "", 1)
        made.rows.append(Row(root, None, (0.0, 0.0, 0.0), (0.0, 0.4, 0.0)))
    count = kind.spine
    at = [tuple(a + (b - a) * n / (count + 1) for a, b in zip(hips, chest, strict=True)) for n in range(count + 2)]
    points: list[Point] = [(x, y, z + 0.03 * math.sin(math.pi * n / (count + 1))) for n, (x, y, z) in enumerate(at)]
    if flavour.hub:
        body = flavour.call("body", 1, "", 1)
        made.rows.append(Row(body, root, (0.0, 0.0, points[1][2]), (0.0, 0.0, points[1][2] + 0.3)))
        root = body
    pelvis = made.chain("hips", points[:2], root)
    last = made.chain("spine", points[1:], root if flavour.hub else pelvis)
    neck = _along(points[-1], kind.neck[0], kind.neck[1], kind.neck[2])
    throat = made.chain("neck", neck, last)
    skull = made.chain("head", _along(neck[-1], kind.head[0], kind.head[1], 1), throat)
    _face(made, neck[-1], skull)
    tail = _along(hips, kind.tail[0], 180.0 - kind.tail[1], kind.tail[2])
    made.chain("tail", tail, pelvis)
    chest_bone = body if flavour.hub else made.parts["neck"][0] if flavour.on_neck else last
    for side in "LR":
        _leg(made, "hind", side, (hips[1] - 0.12, 1.0), body if flavour.hub else pelvis)
        _leg(made, "front", side, (chest[1] + 0.05, kind.shoulder + lift), chest_bone)
        if kind.wings:
            _wing(made, side, chest, chest_bone)
    if flavour.targets:
        for place in ("front", "hind"):
            for side in "LR":
                foot = next(row for row in made.rows if row.name == made.parts[f"leg.{place}.{side}"][-1])
                name = flavour.call(f"target {place}", 1, side, 1)
                made.rows.append(Row(name, None, foot.head, foot.tail))
    return _finished(made)


def _face(made: _Made, start: Point, skull: str) -> None:
    """Add ears, jaw and eyes."""
    kind, flavour = made.kind, made.flavour
    size = kind.head[0]
    nose = _along(start, size, kind.head[1], 1)[-1]

    def at(along: float, aside: float, up: float) -> Point:
        return (
            aside * size,
            start[1] + along * (nose[1] - start[1]),
            start[2] + along * (nose[2] - start[2]) + up * size,
        )

    if flavour.jaw:
        made.chain("jaw", [at(0.25, 0.0, -0.25), at(0.9, 0.0, -0.3)], skull)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        if flavour.ears and kind.ears:
            first = at(0.2, 0.2 * sign, 0.3)
            droop = 0.0 if kind.ears < 0.35 or kind.legs == "crouched" else -1.0
            way = (0.5 * sign * kind.ears, 0.2 * kind.ears, kind.ears * (1.0 + 1.3 * droop))
            count = 1 if kind.ears < 0.1 else 2
            made.chain(
                "ear",
                [tuple(a + b * n / count for a, b in zip(first, way, strict=True)) for n in range(count + 1)],
                skull,
                side,
            )
        if flavour.eyes:
            made.chain("eye", [at(0.45, 0.2 * sign, 0.12), at(0.65, 0.22 * sign, 0.12)], skull, side)


def _leg(made: _Made, place: str, side: str, start: tuple[float, float], parent: str) -> None:
    """Add a leg, an arm of those that stand on two legs, or nothing where there are wings in their place."""
    kind, flavour, front = made.kind, made.flavour, place == "front"
    if kind.two and front and kind.wings:
        return
    sign = 1.0 if side == "L" else -1.0
    y, z = start
    joints = _LEGS[kind.legs][0 if front else 1]
    aside = _SPRAWL if kind.legs == "sprawled" else (0.0,) * 6
    height = z
    points: list[Point] = [(kind.width * sign, y, z)]
    if kind.two and front:  # short arms that hang forwards
        height = 0.35
        points += [(kind.width * sign, y + dy * height, z - (1.0 - dz) * height) for dy, dz in joints]
    else:
        points += [
            (sign * (kind.width + off * z), y + dy * z, dz * z)
            for (dy, dz), off in zip(joints, aside[1:], strict=False)
        ]
    calls = (
        ["humerus", "radius", "carpus", "finger", "hoof"] if front else ["femur", "tibia", "tarsus", "toe", "back hoof"]
    )
    calls = calls[: len(points) - 1]
    if flavour.stride and not kind.two:
        points = _swung(points, 15.0 * sign * (1.0 if front else -1.0))
    if not flavour.long:
        points, calls = points[:3] + points[-1:], calls[:3]
    if flavour.double:
        points, calls = _halved(points, calls)
    girdle = (flavour.scapula and not kind.two) if front else flavour.halves
    if girdle:
        before = (0.4 * kind.width * sign, y + 0.12, z + 0.22) if front else (0.02 * sign, y + 0.1, z + 0.08)
        points, calls = [before, *points], ["scapula" if front else "half", *calls]
    role = ("arm" if kind.two else "leg.front") if front else ("leg" if kind.two else "leg.hind")
    last = made.chain(role, points, parent, side, tuple(calls))
    made.parts[f"girdle.{role}.{side}"] = made.parts[f"{role}.{side}"][:1] if girdle else []
    foot = next(row for row in made.rows if row.name == last)
    for digit in range(flavour.digits):
        spread = 0.05 * (digit - 0.5 * (flavour.digits - 1))
        shift = (spread, -0.03, -0.01)
        near: Point = tuple(a + b for a, b in zip(foot.head, shift, strict=True))
        mid: Point = (near[0] + 0.3 * spread, near[1] - 0.04, near[2] - 0.01)
        far: Point = (mid[0] + 0.3 * spread, mid[1] - 0.04, min(mid[2], foot.tail[2]))
        name = "digit{}".format("ABCD"[digit]) + ("Front" if front else "Back")
        made.chain(name, [near, mid, far], last, side)


def _halved(points: list[Point], calls: list[str]) -> tuple[list[Point], list[str]]:
    """Return the first two segments with two bones each."""
    new, called = [points[0]], list[str]()
    for place, (a, b) in enumerate(pairwise(points)):
        if place < 2:
            new.append(tuple(0.5 * (one + other) for one, other in zip(a, b, strict=True)))
            called.append(calls[place])
        new.append(b)
        called.append(calls[place])
    return new, called


def _swung(points: list[Point], degrees: float) -> list[Point]:
    """Return points turned about the first one, forwards for positive angles."""
    (_, y, z), turn = points[0], math.radians(degrees)
    cos, sin = math.cos(turn), math.sin(turn)
    return [(p[0], y + cos * (p[1] - y) + sin * (p[2] - z), z - sin * (p[1] - y) + cos * (p[2] - z)) for p in points]


def _shaken(rows: list[Row]) -> list[Row]:
    """Return bones whose joints are off by up to a hundredth; joints in one place stay so."""
    chance = random.Random(7)
    off: dict[Point, Point] = {}
    for point in (point for row in rows for point in (row.head, row.tail)):
        off.setdefault(point, tuple(x + chance.uniform(-0.01, 0.01) for x in point))
    return [Row(row.name, row.parent, off[row.head], off[row.tail], row.deform) for row in rows]


def _wing(made: _Made, side: str, chest: Point, parent: str) -> None:
    """Add a wing of four bones."""
    sign, (_, y, z) = (1.0 if side == "L" else -1.0), chest
    points = [(0.06, 0.05, 0.1), (0.35, 0.2, 0.35), (0.8, 0.0, 0.5), (1.3, 0.2, 0.45), (1.7, 0.5, 0.4)]
    made.chain("wing", [(sign * a, y + b, z + c) for a, b, c in points], parent, side)


def _finished(made: _Made) -> tuple[list[Row], Answer]:
    """Return the rows as the flavour has them in its own axes, with ends, helpers and order, and the answer."""
    flavour, rows = made.flavour, _shaken(made.rows) if made.flavour.stride else made.rows
    more: list[Row] = []
    if flavour.ends:
        leaves = [row for row in rows if not any(other.parent == row.name for other in rows)]
        more += [Row(f"{row.name}_end", row.name, row.tail, _further(row)) for row in leaves]
    if flavour.meshes:
        more += [Row(f"{row.name}_RIGMESH", row.name, row.head, row.tail) for row in rows]
    rows = rows + more
    if flavour.turned:
        rows = [Row(r.name, r.parent, _turned(r.head), _turned(r.tail), r.deform) for r in rows]
    if flavour.scale != 1.0:
        by = flavour.scale
        rows = [Row(r.name, r.parent, _scaled(r.head, by), _scaled(r.tail, by), r.deform) for r in rows]
    rows = _parents_first(rows)
    answer: Answer = {}
    for part, bones in made.parts.items():
        if part.startswith(("digit", "girdle", "eye")):
            continue
        girdle = made.parts.get(f"girdle.{part}", [])
        answer[part] = [bones, [bone for bone in bones if bone not in girdle]] if girdle else [bones]
    if flavour.on_neck:  # the bone that carries the front legs may be the last of the spine
        first = answer["neck"][0][0]
        answer["neck"].append(answer["neck"][0][1:])
        answer["spine"].append([*answer["spine"][0], first])
    if flavour.hub:  # what carries all legs, or where the tail begins
        answer["hips"].append([flavour.call("body", 1, "", 1)])
        answer["tail"].append([*made.parts["hips"], *made.parts["tail"]])
    return rows, answer


def _scaled(point: Point, by: float) -> Point:
    return tuple(by * x for x in point)


def _further(row: Row) -> Point:
    return tuple(2.0 * b - a for a, b in zip(row.head, row.tail, strict=True))


def _turned(point: Point) -> Point:
    """Return a point of a body that looks along -Y as one of a body that looks along +X."""
    return -point[1], point[0], point[2]


def _parents_first(rows: list[Row]) -> list[Row]:
    """Return bones in an order that only parents tell, as files have them."""
    known = {row.name: row for row in rows}
    children: dict[str | None, list[str]] = {}
    for row in rows:
        children.setdefault(row.parent, []).append(row.name)
    chance = random.Random(len(rows))
    found: list[Row] = []

    def add(name: str) -> None:
        found.append(known[name])
        own = children.get(name, [])
        chance.shuffle(own)
        for child in own:
            add(child)

    for name in children[None]:
        add(name)
    return found
