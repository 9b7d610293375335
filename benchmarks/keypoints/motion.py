"""Captured motion as rotations of the canonical body, with the landmarks that a tracker would see of it.

A pack's families differ in their T-pose. What is a hinge says how each is turned about its limb: the axis that the
elbow turns about in the motion itself, which is 30 degrees off in one family against others. Parts are brought to the
canonical frames by the shortest rotation from the canonical to the family's bone, about which the hinge then decides.
"""

import json
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.naturalness.motion import DATA, Array
from core import rotation
from core.keypoints.body import LANDMARKS, PART, PARTS

from .standard_body import OFFSETS, offset_of

SCALE: Final = 32767.0  # of the packs' 16-bit quaternions
JOINTS: Final = {
    "hips": ("pelvis",), "chest": ("spine3", "spine2"), "neck": ("neck",), "head": ("head",), "shoulder": ("clavicle",),
    "upper_arm": ("shoulder",), "forearm": ("elbow",), "hand": ("wrist",), "thigh": ("hip",), "shin": ("knee",),
    "foot": ("ankle",),
}  # fmt: skip
CHAINS: Final = (
    ("upper_arm", "forearm", "hand", (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)),
    ("thigh", "shin", "foot", (0.0, -1.0, 0.0), (1.0, 0.0, 0.0)),
)  # parts, way of the left one, hinge of the left one
OTHERS: Final = {"cmu_mb": {"neck": "Neck1"}}  # its Neck is a bone without length, at the chest


@dataclass(frozen=True, eq=False)
class Clip:
    """F frames of one clip: true rotations (F, P, 4) of the parts and landmarks (F, M, 3), metres, Y up."""

    name: str
    subject: str
    fps: float
    rotations: Array
    landmarks: Array

    def __len__(self) -> int:
        return len(self.rotations)


def load(pack: str, stride: int = 1, subjects: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> list[Clip]:
    """The clips of a pack, every `stride`-th frame of them, of some subjects only or `without` some."""
    arrays = np.load(DATA / f"{pack}.npz")
    family = pack.rpartition("_")[0]
    table = json.loads((DATA / "canonical_joints.json").read_text())[family]
    names = [str(name) for name in arrays["names"]]
    joints = {part: names.index(table[_joint(part, table)]) for part in PARTS}
    joints |= {part: names.index(bone) for part, bone in OTHERS.get(family, {}).items()}
    turns = rotation.normalize(arrays["rot"].astype(float) / SCALE)
    parents = arrays["parents"]
    result: list[Clip] = []
    for number, name in enumerate(arrays["clip"]):
        subject = str(arrays["subject"][number])
        if (subjects and subject not in subjects) or subject in without:
            continue
        offsets = arrays["offsets"][arrays["skeleton"][number]].astype(float)
        rows = np.arange(arrays["start"][number], arrays["start"][number + 1], stride)
        heads, frames = _forward(parents, offsets, turns[rows], arrays["pos"][rows].astype(float))
        strays = _strays(joints, offsets, parents, turns)
        rotations = rotation.mul(frames[:, [joints[part] for part in PARTS]], strays)
        result.append(
            Clip(str(name), subject, float(arrays["fps"]) / stride, rotations, _marks(heads, rotations, joints))
        )
    return result


def _joint(part: str, table: dict[str, str]) -> str:
    """The name of the part's joint in the packs' table."""
    base, _, side = part.partition(".")
    options = [f"{side.lower()}_{name}" if side else name for name in JOINTS[base]]
    return next(name for name in options if name in table)


def _forward(parents: Array, offsets: Array, turns: Array, places: Array) -> tuple[Array, Array]:
    """Heads (F, J, 3) and frames (F, J, 4) in the world."""
    heads, frames = np.empty((*turns.shape[:-1], 3)), turns.copy()
    heads[:, 0] = places
    for joint, parent in enumerate(parents.tolist()):
        if parent >= 0:
            heads[:, joint] = heads[:, parent] + rotation.rotate(frames[:, parent], offsets[joint])
            frames[:, joint] = rotation.mul(frames[:, parent], turns[:, joint])
    return heads, frames


def _strays(joints: dict[str, int], offsets: Array, parents: Array, turns: Array) -> Array:
    """(P, 4) from the canonical frames to the family's at rest."""
    result = np.tile(rotation.IDENTITY, (len(PARTS), 1))
    rest = offsets.copy()
    for joint, parent in enumerate(parents.tolist()):
        if parent >= 0:
            rest[joint] += rest[parent]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for first, second, last, way, hinge in CHAINS:
            upper, lower, end = (joints[f"{part}.{side}"] for part in (first, second, last))
            along = np.array(way) * [sign, 1.0, 1.0]
            axis = np.array(hinge) * [1.0, sign, sign]
            stray = shortest(along, rest[lower] - rest[upper])
            wanted = _hinge(turns[:, lower], axis)
            found = rotation.rotate(stray, axis)
            about = (rest[lower] - rest[upper]) / np.linalg.norm(rest[lower] - rest[upper])
            angle = np.arctan2(np.cross(found, wanted) @ about, found @ wanted - (found @ about) * (wanted @ about))
            stray = rotation.mul(rotation.from_axis_angle(about, angle), stray)
            result[PART[f"{first}.{side}"]] = stray
            # the lower bone in the plane of the hinge: what is off it is shape
            stray = rotation.mul(shortest(rotation.rotate(stray, along), rest[end] - rest[lower]), stray)
            result[PART[f"{second}.{side}"]] = stray
            if last == "hand":
                result[PART[f"{last}.{side}"]] = stray
    return result


def _hinge(turns: Array, near: Array) -> Array:
    """The axis (3,) that most of the rotations (N, 4) are about, the way `near` points."""
    vectors = rotation.log(turns)
    axis = np.linalg.eigh(vectors.T @ vectors)[1][:, 2]
    return axis if axis @ near > 0.0 else -axis


def shortest(before: Array, after: Array) -> Array:
    """The shortest rotation (4,) from one direction (3,) to another."""
    axis = np.cross(before, after)
    return rotation.from_axis_angle(axis, np.arctan2(np.linalg.norm(axis), before @ after))


def _marks(heads: Array, rotations: Array, joints: dict[str, int]) -> Array:
    """Joints where the capture has them; face, hands and feet from the parts' true rotations."""
    result = np.empty((len(heads), len(LANDMARKS), 3))
    hips = 0.5 * (heads[:, joints["thigh.L"]] + heads[:, joints["thigh.R"]])
    for number, landmark in enumerate(LANDMARKS):
        part, place = offset_of(landmark, OFFSETS)
        base = landmark.partition(".")[0]
        head = hips if base == "pelvis" else heads[:, joints[part]]
        if base == "neck":
            head, place = heads[:, joints["neck"]], np.zeros(3)
        result[:, number] = head + rotation.rotate(rotations[:, PART[part]], place)
    return result
