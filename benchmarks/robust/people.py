"""Human bodies made of bones for `roles`: bodies and hands of several proportions, and the names that programs give."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from .beasts import Answer, Point, Row

_FINGERS: Final = ("thumb", "index", "middle", "ring", "pinky")


@dataclass(frozen=True)
class Person:
    """Proportions in metres, and degrees by which the arms hang below the horizontal."""

    leg: float = 0.86  # from hip to ankle
    trunk: float = 0.5
    arm: float = 0.54  # from shoulder to wrist
    hand: float = 0.09  # from wrist to knuckles
    finger: float = 0.08
    head: float = 0.22
    below: float = 0.0
    fingers: int = 5
    curl: float = 0.0  # degrees at each joint of a finger
    thumb: float = 45.0  # degrees of the thumb aside
    spread: float = 5.0  # degrees between fingers
    phalanges: int = 3
    prop: bool = False  # a bone on the hand for what it holds


PEOPLE: Final = {
    "adult": Person(),
    "a-pose": Person(below=45.0, curl=12.0),
    "child": Person(0.5, 0.36, 0.36, 0.06, 0.05, 0.2, 20.0),
    "big head": Person(0.35, 0.35, 0.32, 0.06, 0.05, 0.5, 10.0, 4, spread=12.0),
    "three fingers": Person(0.8, 0.5, 0.6, 0.1, 0.1, 0.24, 0.0, 3, 8.0, 60.0, 15.0),
    "relaxed hands": Person(below=35.0, curl=25.0, thumb=30.0),
    "long arms": Person(0.6, 0.6, 0.8, 0.12, 0.1, 0.22, 40.0, curl=10.0),
    "flat hands": Person(curl=0.0, thumb=20.0, spread=1.0),
    "fists": Person(below=20.0, curl=60.0, thumb=30.0),
    "short fingers": Person(0.6, 0.45, 0.45, 0.08, 0.06, 0.3, 15.0, 4, 10.0, spread=10.0, phalanges=2),
    "armed": Person(below=45.0, curl=15.0, prop=True),
}


@dataclass(frozen=True)
class Program:
    """Names of the parts, with {s} for the side, {f} for the finger and {n} for the number, and bones besides."""

    names: dict[str, str]
    sides: tuple[str, str]
    fingers: tuple[str, ...] = _FINGERS
    start: int = 1
    spine: int = 3
    palms: bool = False
    clavicle: bool = True
    toes: bool = True
    tips: bool = False  # a bone after each finger, and after head and toes
    twist: bool = False
    root: bool = False
    scale: float = 1.0


def _plain(prefix: str = "") -> dict[str, str]:
    return {part: prefix + text for part, text in {
        "hips": "Hips", "spine": "Spine{n}", "neck": "Neck", "head": "Head", "shoulder": "{s}Shoulder",
        "upper_arm": "{s}Arm", "forearm": "{s}ForeArm", "hand": "{s}Hand", "thigh": "{s}UpLeg", "shin": "{s}Leg",
        "foot": "{s}Foot", "toe": "{s}ToeBase", "finger": "{s}Hand{f}{n}", "palm": "{s}InHand{f}",
    }.items()}  # fmt: skip


_CAPITALS: Final = ("Thumb", "Index", "Middle", "Ring", "Pinky")
PROGRAMS: Final = {
    "mixamo": Program(_plain("mixamorig:"), ("Left", "Right"), _CAPITALS, tips=True, scale=100.0),
    "unreal": Program({
        "hips": "pelvis", "spine": "spine_{n}", "neck": "neck_01", "head": "head", "shoulder": "clavicle_{s}",
        "upper_arm": "upperarm_{s}", "forearm": "lowerarm_{s}", "hand": "hand_{s}", "thigh": "thigh_{s}",
        "shin": "calf_{s}", "foot": "foot_{s}", "toe": "ball_{s}", "finger": "{f}_0{n}_{s}",
        "palm": "{f}_metacarpal_{s}"}, ("l", "r"), palms=True, twist=True, root=True, spine=5, scale=100.0),
    "biped": Program({
        "hips": "Bip01 Pelvis", "spine": "Bip01 Spine{n}", "neck": "Bip01 Neck", "head": "Bip01 Head",
        "shoulder": "Bip01 {s} Clavicle", "upper_arm": "Bip01 {s} UpperArm", "forearm": "Bip01 {s} Forearm",
        "hand": "Bip01 {s} Hand", "thigh": "Bip01 {s} Thigh", "shin": "Bip01 {s} Calf", "foot": "Bip01 {s} Foot",
        "toe": "Bip01 {s} Toe0", "finger": "Bip01 {s} Finger{f}{n}"}, ("L", "R"), ("0", "1", "2", "3", "4"), 0),
    "rigify": Program({
        "hips": "spine", "spine": "spine.00{n}", "neck": "neck", "head": "head", "shoulder": "shoulder.{s}",
        "upper_arm": "upper_arm.{s}", "forearm": "forearm.{s}", "hand": "hand.{s}", "thigh": "thigh.{s}",
        "shin": "shin.{s}", "foot": "foot.{s}", "toe": "toe.{s}", "finger": "f_{f}.0{n}.{s}", "palm": "palm.{f}.{s}"},
        ("L", "R"), palms=True),
    "maya": Program({
        "hips": "C_hip_jnt", "spine": "C_spine_0{n}_jnt", "neck": "C_neck_jnt", "head": "C_head_jnt",
        "shoulder": "{s}_clavicle_jnt", "upper_arm": "{s}_shoulder_jnt", "forearm": "{s}_elbow_jnt",
        "hand": "{s}_wrist_jnt", "thigh": "{s}_hip_jnt", "shin": "{s}_knee_jnt", "foot": "{s}_ankle_jnt",
        "toe": "{s}_ball_jnt", "finger": "{s}_{f}_0{n}_jnt"}, ("L", "R"), tips=True, twist=True),
    "toon": Program({
        "hips": "Pelvis", "spine": "Torso{n}", "neck": "Neck", "head": "Head", "shoulder": "Collar_{s}",
        "upper_arm": "Arm_Upper_{s}", "forearm": "Arm_Lower_{s}", "hand": "Palm_{s}", "thigh": "Leg_Upper_{s}",
        "shin": "Leg_Lower_{s}", "foot": "Foot_{s}", "toe": "Toes_{s}", "finger": "Finger_{f}_{n}_{s}"},
        ("L", "R"), _CAPITALS, clavicle=False, toes=False, spine=2),
    "genesis": Program({
        "hips": "hip", "spine": "abdomen{n}", "neck": "neckLower", "head": "head", "shoulder": "{s}Collar",
        "upper_arm": "{s}ShldrBend", "forearm": "{s}ForearmBend", "hand": "{s}Hand", "thigh": "{s}ThighBend",
        "shin": "{s}Shin", "foot": "{s}Foot", "toe": "{s}Toe", "finger": "{s}{f}{n}", "palm": "{s}Carpal{f}"},
        ("l", "r"), ("Thumb", "Index", "Mid", "Ring", "Pinky"), palms=True, scale=100.0),
    "numbers": Program({}, ("", ""), spine=3, palms=True),
}  # fmt: skip

PAIRS: Final = tuple(
    (person, program)
    for program, people in {
        "mixamo": "adult,child,long arms,fists,armed", "unreal": "a-pose,relaxed hands,big head,armed",
        "biped": "adult,three fingers", "rigify": "adult,relaxed hands,flat hands",
        "maya": "a-pose,child,three fingers", "toon": "big head,three fingers,adult,short fingers",
        "genesis": "a-pose,flat hands,long arms", "numbers": "adult,relaxed hands,child,fists,armed,short fingers",
    }.items()
    for person in people.split(",")
)  # fmt: skip


def make(person_name: str, program_name: str) -> tuple[list[Row], Answer]:
    """Return the bones of a body, parents first, and its answer."""
    person, program = PEOPLE[person_name], PROGRAMS[program_name]
    rows: list[Row] = []
    answer: Answer = {}

    def add(part: str, role: str, points: list[Point], parent: str | None, side: str = "", finger: int = 0) -> str:
        for place, (head, tail) in enumerate(pairwise(points)):
            number = str(place + program.start)
            if part == "finger" and program.start == 0:
                number = "" if place == 0 else str(place)
            text = program.names.get(part, f"b{len(rows):03d}")
            name = text.format(s={"L": program.sides[0], "R": program.sides[1], "": ""}[side], n=number,
                               f=program.fingers[finger])  # fmt: skip
            by = program.scale
            rows.append(Row(name, parent, tuple(by * x for x in head), tuple(by * x for x in tail)))
            answer.setdefault(role, [[]])[0].append(name)
            parent = name
        assert parent is not None
        return parent

    ankle = 0.09
    hip = person.leg + ankle
    root = None
    if program.root:
        rows.append(Row("root", None, (0.0, 0.0, 0.0), (0.0, 0.3 * program.scale, 0.0)))
        root = "root"
    up: list[Point] = [
        (0.0, 0.01, hip + 0.05 + person.trunk * n / (program.spine + 1)) for n in range(program.spine + 2)
    ]
    pelvis = add("hips", "hips", up[:2], root)
    chest = add("spine", "spine", up[1:], pelvis)
    crown = up[-1]
    nape: Point = (0.0, 0.0, crown[2] + 0.35 * person.head)
    neck = add("neck", "neck", [crown, nape], chest)
    top: Point = (0.0, -0.01, nape[2] + person.head)
    head = add("head", "head", [nape, top], neck)
    ends = [(head, nape, top)]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        ends += _limbs(person, program, add, rows, side, sign, (pelvis, chest), (hip, crown[2]))
    if program.tips:
        for name, a, b in ends:
            far: Point = tuple(program.scale * (2.0 * y - x) for x, y in zip(a, b, strict=True))
            rows.append(Row(f"{name}_end", name, tuple(program.scale * x for x in b), far))
    if program.twist:
        for role in ("upper_arm", "forearm", "thigh"):
            for side in "LR":
                bone = next(row for row in rows if row.name == answer[f"{role}.{side}"][0][0])
                mid: Point = tuple(0.5 * (a + b) for a, b in zip(bone.head, bone.tail, strict=True))
                rows.append(Row(f"{bone.name}_twist", bone.name, mid, bone.tail))
    return rows, answer


def _limbs(
    person: Person, program: Program, add: Callable[..., str], rows: list[Row], side: str, sign: float,
    carriers: tuple[str, str], heights: tuple[float, float],
) -> list[tuple[str, Point, Point]]:  # fmt: skip
    """Add a leg, an arm and a hand; return the last bones that have tips, with head and tail."""
    (pelvis, chest), (hip, crown) = carriers, heights
    ends: list[tuple[str, Point, Point]] = []
    x = 0.09 * sign
    knee: Point = (x, -0.01, 0.09 + 0.5 * person.leg)
    ankle: Point = (x, 0.01, 0.09)
    ball: Point = (x, -0.12, 0.02)
    thigh = add("thigh", f"thigh.{side}", [(x, 0.0, hip), knee], pelvis, side)
    shin = add("shin", f"shin.{side}", [knee, ankle], thigh, side)
    last = add("foot", f"foot.{side}", [ankle, ball], shin, side)
    if program.toes:
        toe: Point = (x, -0.19, 0.02)
        ends.append((add("toe", f"toe.{side}", [ball, toe], last, side), ball, toe))
    shoulder: Point = (0.17 * sign, 0.01, crown - 0.05)
    above = chest
    if program.clavicle:
        above = add("shoulder", f"shoulder.{side}", [(0.03 * sign, 0.0, crown - 0.05), shoulder], chest, side)
    angle = math.radians(person.below)
    out, down = (math.cos(angle) * sign, 0.0, -math.sin(angle)), (-math.sin(angle) * sign, 0.0, -math.cos(angle))

    def at(start: Point, *steps: tuple[float, tuple[float, float, float]]) -> Point:
        return tuple(start[i] + sum(length * way[i] for length, way in steps) for i in range(3))

    front = (0.0, -1.0, 0.0)
    elbow = at(shoulder, (0.52 * person.arm, out), (-0.01, front))
    wrist = at(elbow, (0.48 * person.arm, out), (0.02, front))
    upper = add("upper_arm", f"upper_arm.{side}", [shoulder, elbow], above, side)
    fore = add("forearm", f"forearm.{side}", [elbow, wrist], upper, side)
    hand = add("hand", f"hand.{side}", [wrist, at(wrist, (person.hand, out))], fore, side)
    if person.prop:
        by, grip = program.scale, at(wrist, (0.8 * person.hand, out), (0.03, down))
        place = [tuple(by * x for x in point) for point in (grip, at(grip, (0.1, front)))]
        rows.append(Row(f"item{len(rows)}", hand, place[0], place[1]))
    ways = out, down, front
    return [
        *ends,
        *(_finger(person, program, add, side, finger, wrist, hand, ways, at) for finger in range(person.fingers)),
    ]


def _finger(
    person: Person, program: Program, add: Callable[..., str], side: str, finger: int, wrist: Point, hand: str,
    ways: tuple[Point, Point, Point], at: Callable[..., Point],
) -> tuple[str, Point, Point]:  # fmt: skip
    """Add a finger, with its bone of the palm; return its last bone with head and tail."""
    out, down, front = ways
    place = 1.5 - (finger - 1)
    aside = math.radians(person.thumb if finger == 0 else person.spread * place)
    length = person.finger * (0.9, 0.95, 1.0, 0.95, 0.75)[finger]
    shares = (0.45, 0.3, 0.25) if person.phalanges == 3 else (0.55, 0.45)
    if finger == 0:
        start = at(wrist, (0.25 * person.hand, out), (0.2 * person.hand, front), (0.1 * person.hand, down))
    else:
        start = at(wrist, (person.hand, out), (0.22 * place * person.hand, front))
    points, bend = [start], 0.0
    for share in shares:
        ahead = math.cos(bend) * length * share
        points.append(at(points[-1], (ahead * math.cos(aside), out), (ahead * math.sin(aside), front),
                         (math.sin(bend) * length * share, down)))  # fmt: skip
        bend += math.radians(person.curl)
    above = hand
    if program.palms and finger:
        first = at(wrist, (0.3 * person.hand, out), (0.12 * place * person.hand, front))
        above = add("palm", f"palm.{_FINGERS[finger]}.{side}", [first, start], hand, side, finger)
    last = add("finger", f"{_FINGERS[finger]}.{side}", points, above, side, finger)
    return last, points[-2], points[-1]
