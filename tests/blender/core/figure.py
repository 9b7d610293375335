"""A figure that steps in place, and BVH clips of it with any names, hierarchy and rest pose."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from core import rotation
from core.body.roles import FINGERS, LISTS, SEGMENTS

Answer = dict[str, str | list[str]]

# Points in centimetres, Y up, facing +Z; those of the left side, the right one is the mirror image.
POINTS: Final[dict[str, tuple[float, float, float]]] = {
    "root": (0, 0, 0), "hips": (0, 95, 0), "spine": (0, 104, -1), "spine2": (0, 116, -2), "spine3": (0, 128, -2),
    "spine4": (0, 137, -2), "neck": (0, 147, -1), "neck2": (0, 152, 0), "head": (0, 157, 1), "top": (0, 176, 1),
    "shoulder": (3, 142, 0), "upper_arm": (18, 143, -1), "forearm": (46, 143, -2), "hand": (71, 143, 0),
    "buttock": (8, 96, 0), "thigh": (9, 91, 0), "shin": (10, 50, 1), "foot": (10, 9, -2), "toe": (11, 2, 11),
    "tiptoe": (11, 1, 19), "palm": (80, 143, 0), "arm_twist": (32, 143, -1.5), "wrist_twist": (60, 143, -1),
    "thigh_twist": (9.5, 70, 0.5), "shin_twist": (10, 30, 0), "eye": (3, 163, 9), "elbow_pad": (46, 143, -6),
    "nail": (70, 150, 0), "heel": (10, 2, -7), "jaw": (0, 160, 6),
}  # fmt: skip
for _finger, (_z, _reach) in zip(FINGERS, ((5, 0), (3, 3), (1, 4), (-1, 3), (-3, 2)), strict=True):
    for _joint in range(5):  # the last one is the tip; 0 is in the palm
        _out = 73 + 2.5 * _joint if _finger == "thumb" else (74 if _joint == 0 else 77 + 2.9 * _joint + 0.3 * _reach)
        _name = f"palm.{_finger}" if _joint == 0 else f"{_finger}{_joint}"
        POINTS[_name] = (_out, 143 - 0.4 * _joint, _z + (1.5 * _joint if _finger == "thumb" else 0))


@dataclass(frozen=True)
class Flavour:
    """How a program writes a figure.

    sides  left and right in names
    rest   "T"; "A", "I": arms 45 and 80 degrees down; "splayed": legs apart; an axis: all bones along it, with "~X"
           those of the right side the other way, and only the frames show the body
    zero   joints whose offsets are zero, so that they lie where their parent does
    """

    joints: str
    sides: tuple[str, str] = ("Left", "Right")
    rest: str = "T"
    zero: tuple[str, ...] = ()


def fingers(pattern: str, count: int = 3) -> str:
    """Return the lines of fingers; `pattern` has "{}" for the side, "%s" for the finger and "%d" for the number."""
    return "\n".join(
        f"{' ' * number} {pattern.replace('%s', finger.title()).replace('%d', str(number + 1))} {finger}{number + 1}"
        for finger in FINGERS
        for number in range(count)
    )


def under(joint: str, lines: str, text: str) -> str:
    """Return a table with further lines below a joint."""
    rows = text.strip("\n").split("\n")
    place = next(number for number, row in enumerate(rows) if row.split()[0] == joint)
    depth = len(rows[place]) - len(rows[place].lstrip())
    return "\n".join([*rows[: place + 1], *(" " * depth + line for line in lines.split("\n")), *rows[place + 1 :]])


@dataclass(frozen=True)
class Joint:
    """A joint of a clip: its parent (-1: the root), its point in the T-pose, and its role, "" for none."""

    name: str
    parent: int
    point: np.ndarray
    role: str


def joints_of(flavour: Flavour) -> list[Joint]:
    """Return the joints of a flavour, parents first, both sides of each branch after each other."""
    found: list[Joint] = []
    rows = [(len(row) - len(row.lstrip()), *row.split()) for row in flavour.joints.strip("\n").split("\n")]

    def grow(first: int, parent: int, side: int | None) -> None:
        depth, name, key = rows[first]
        for own in (0, 1) if side is None and "{" in name else (side,):
            point = np.array(POINTS[key.lstrip("~")], float) * ((-1.0, 1.0, 1.0) if own == 1 else 1.0)
            word = "" if own is None else flavour.sides[own]
            said = name.replace("{}", word).replace("{0}", word[:1].upper()).replace("{1}", word[:1].lower())
            if said in flavour.zero:
                point = found[parent].point
            role = "" if key.startswith("~") else key.rstrip("1234")
            found.append(Joint(said, parent, point, role and role + ("" if own is None else f".{'LR'[own]}")))
            me = len(found) - 1
            for row in range(first + 1, len(rows)):
                if rows[row][0] <= depth:
                    break
                if rows[row][0] == depth + 1:
                    grow(row, me, own)

    grow(0, -1, None)
    return found


def answer_of(flavour: Flavour) -> Answer:
    """Return role -> name, or names, of the joints."""
    answer: Answer = {}
    for joint in joints_of(flavour):
        if joint.role in LISTS:
            names = answer.setdefault(joint.role, [])
            assert isinstance(names, list)
            names.append(joint.name)
        elif joint.role:
            answer[joint.role] = joint.name
    return answer


def _turned(angle: float, axis: tuple[float, float, float]) -> np.ndarray:
    return rotation.to_matrix(rotation.from_axis_angle(np.array(axis, float), np.radians(angle)))


def _pose(joints: list[Joint], share: float) -> np.ndarray:
    """Return the rotations (J, 3, 3) of the joints relative to the T-pose, in the world, at a share of a step."""
    swing = np.sin(2.0 * np.pi * share)
    whole = _turned(25.0 + 50.0 * share, (0, 1, 0)) @ _turned(8.0, (1, 0, 0))  # it turns, and leans forward
    turns: list[np.ndarray] = []
    for joint in joints:
        above = turns[joint.parent] if joint.parent >= 0 else whole
        part, side = joint.role[:-2], -1.0 if joint.role.endswith(".R") else 1.0
        own = {"upper_arm": _turned(-65.0 * side, (0, 0, 1)) if joint.role else np.eye(3),
               "forearm": _turned(-30.0 * side * (1.0 - swing * side), (0, 1, 0)),
               "thigh": _turned(-25.0 * swing * side, (1, 0, 0)),
               "shin": _turned(20.0 * (1.0 + swing * side), (1, 0, 0))}.get(part, np.eye(3))  # fmt: skip
        turns.append(above @ own)
    return np.array(turns)


def directions_of(flavour: Flavour, frames: int = 24) -> np.ndarray:
    """Return the unit vectors (8, F, 3), left, forward and up, of the limbs' segments in the frames; see `SEGMENTS`."""
    joints = joints_of(flavour)
    roles = {joint.role: number for number, joint in enumerate(joints)}
    found = []
    for upper, lower in SEGMENTS:
        step = joints[roles[lower]].point - joints[roles[upper]].point
        found.append(
            [_pose(joints, frame / frames)[roles[upper]] @ step / np.linalg.norm(step) for frame in range(frames)]
        )
    return np.array(found)[..., [0, 2, 1]]


def _rest(flavour: Flavour, joints: list[Joint]) -> np.ndarray:
    """Return the rotations (J, 3, 3) that take the rest pose of a flavour to the T-pose, in the world."""
    turns: list[np.ndarray] = []
    down = {"A": 45.0, "I": 80.0}.get(flavour.rest, 0.0)
    after: dict[int, list[Joint]] = {}
    for joint in joints:
        after.setdefault(joint.parent, []).append(joint)
    for number, joint in enumerate(joints):
        above = turns[joint.parent] if joint.parent >= 0 else np.eye(3)
        part, side = joint.role[:-2], -1.0 if joint.role.endswith(".R") else 1.0
        if len(flavour.rest) == 2:
            axis = np.eye(3)["XYZ".index(flavour.rest[1])] * {"+": 1.0, "-": -1.0, "~": side}[flavour.rest[0]]
            parts = [child for child in after.get(number, ()) if child.role] or after.get(number, ())
            middle = [child for child in parts if not child.role.endswith((".L", ".R"))] or parts
            step = middle[0].point - joint.point if middle else above @ axis
            length = np.linalg.norm(step)
            turns.append(_between(axis, step / length) if length > 0.0 else above)
        elif part == "upper_arm":
            turns.append(above @ _turned(down * side, (0, 0, 1)))
        elif part == "thigh" and flavour.rest == "splayed":
            turns.append(above @ _turned(-20.0 * side, (0, 0, 1)))
        else:
            turns.append(above)
    return np.array(turns)


def _between(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the rotation (3, 3) from one unit vector to another one."""
    axis, cosine = np.cross(one, other), float(one @ other)
    if np.linalg.norm(axis) < 1e-9:
        axis = np.cross(one, np.roll(np.abs(one), 1))
    return _turned(float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))), tuple(axis / np.linalg.norm(axis)))


def bvh_of(flavour: Flavour, frames: int = 24) -> str:
    """Return a clip: the figure steps in place, its arms down, and turns; the frames are the same in all flavours."""
    joints = joints_of(flavour)
    to_t = _rest(flavour, joints)
    offsets = [to_t[joint.parent].T @ (joint.point - joints[max(joint.parent, 0)].point) for joint in joints]
    children: dict[int, list[int]] = {}
    for number, joint in enumerate(joints):
        children.setdefault(joint.parent, []).append(number)
    lines = ["HIERARCHY"]

    def write(number: int, depth: int) -> None:
        space = "\t" * depth
        places = "Xposition Yposition Zposition " if depth == 0 else ""
        lines.extend([
            f"{space}{'JOINT' if depth else 'ROOT'} {joints[number].name}", space + "{",
            f"{space}\tOFFSET " + " ".join(f"{value:.6f}" for value in offsets[number]),
            f"{space}\tCHANNELS {6 if depth == 0 else 3} {places}Zrotation Xrotation Yrotation",
        ])  # fmt: skip
        for child in children.get(number, ()):
            write(child, depth + 1)
        if number not in children:
            end = to_t[number].T @ _tip(joints, number)
            offset = " ".join(f"{value:.6f}" for value in end)
            lines.extend([f"{space}\tEnd Site", space + "\t{", f"{space}\t\tOFFSET {offset}", space + "\t}"])
        lines.append(space + "}")

    write(0, 0)
    order = [line.split()[1] for line in lines if line.split()[0] in ("ROOT", "JOINT")]
    places = {joint.name: number for number, joint in enumerate(joints)}
    lines += ["MOTION", f"Frames: {frames}", f"Frame Time: {1.0 / 24.0:.6f}"]
    for frame in range(frames):
        world = _pose(joints, frame / frames) @ to_t
        row = [f"{value:.6f}" for value in joints[0].point]
        for name in order:
            number = places[name]
            above = world[joints[number].parent] if joints[number].parent >= 0 else np.eye(3)
            row += [f"{value:.6f}" for value in _zxy(above.T @ world[number])]
        lines.append(" ".join(row))
    return "\n".join(lines) + "\n"


def _tip(joints: list[Joint], number: int) -> np.ndarray:
    """Return the step (3,) from a joint without children to its tip, in the T-pose."""
    part = joints[number].role.partition(".")[0]
    if part == "head":
        return np.array([0.0, 18.0, 0.0])
    if part in ("foot", "toe"):
        return np.array([0.0, -7.0, 13.0] if part == "foot" else [0.0, -1.0, 8.0])
    step = joints[number].point - joints[max(joints[number].parent, 0)].point
    return step * min(1.0, 8.0 / max(float(np.linalg.norm(step)), 1e-9)) if step.any() else np.array([0.0, 0.0, 2.0])


def _zxy(matrix: np.ndarray) -> tuple[float, float, float]:
    """Return the angles about Z, X and Y, in degrees, of a rotation Z X Y."""
    x = np.arcsin(np.clip(matrix[2, 1], -1.0, 1.0))
    return tuple(np.degrees([np.arctan2(-matrix[0, 1], matrix[1, 1]), x, np.arctan2(-matrix[2, 0], matrix[2, 2])]))
