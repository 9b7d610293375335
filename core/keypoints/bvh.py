"""The joints of a BVH file as marks: of any figure whose parts are found by its joints' names or its shape."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..humanoid import SIDES, find_roles
from ..rotation import Array
from ..skeleton import Skeleton
from .body import MARK, MARKS

_HEADS: Final = {
    "shoulder": "upper_arm", "elbow": "forearm", "wrist": "hand", "hip": "thigh", "knee": "shin", "ankle": "foot",
    "ball": "toe",
}  # fmt: skip
_UP: Final = np.array([0.0, 1.0, 0.0])
_SHORT: Final = 1e-6


@dataclass
class _Joint:
    name: str
    parent: int
    offset: Array
    channels: list[str] = field(default_factory=list[str])
    end: Array | None = None


def read_bvh(text: str) -> tuple[Array, float]:
    """Marks (F, M, 3) in the file's units and axes, NaN for those it does not have, and frames a second."""
    words = text.split()
    try:
        joints, place = _hierarchy(words)
        count, step = int(words[place + 2]), float(words[place + 5])
        values = np.array(words[place + 6 :], float)
        width = sum(len(joint.channels) for joint in joints)
        values = values[: count * width].reshape(count, width)
    except (ValueError, IndexError, KeyError):
        raise CoreError("This is no BVH file that can be read.") from None
    if not count or not step > 0.0:
        raise CoreError("The BVH file has no frames.")
    heads, turns = _forward(joints, values)
    rest = np.array([joint.offset for joint in joints])
    for number, joint in enumerate(joints):
        rest[number] += rest[joint.parent] if joint.parent >= 0 else 0.0
    roles = find_roles(_skeleton(joints, rest))
    result = np.full((count, len(MARKS), 3), np.nan)
    for side in SIDES:
        for mark, part in _HEADS.items():
            bone = roles.bones.get(f"{part}.{side}")
            if isinstance(bone, int):
                result[:, MARK[f"{mark}.{side}"]] = heads[:, bone]
        for mark in ("index", "pinky"):
            chain = roles.bones.get(f"{mark}.{side}")
            if isinstance(chain, tuple) and chain:
                result[:, MARK[f"{mark}.{side}"]] = heads[:, chain[0]]
        hand, foot = roles.bones.get(f"hand.{side}"), roles.bones.get(f"foot.{side}")
        for mark, bone in (("knuckle", hand), ("ball", foot)):
            end = _after(joints, bone) if isinstance(bone, int) else None
            if end is not None and np.isnan(result[0, MARK[f"{mark}.{side}"], 0]) and isinstance(bone, int):
                result[:, MARK[f"{mark}.{side}"]] = heads[:, bone] + rotation.rotate(turns[:, bone], end)
    head = roles.bones.get("head")
    if isinstance(head, int):
        end = _after(joints, head)
        result[:, MARK["crown"]] = heads[:, head] + (0.0 if end is None else rotation.rotate(turns[:, head], end))
    if np.isnan(result[0, MARK["hip.L"]]).any():
        raise CoreError("No human body is found among the joints of the BVH file.")
    return result, 1.0 / step


def _after(joints: list[_Joint], bone: int) -> Array | None:
    """Where a bone leads, in its frame: its end site, or its first child."""
    if joints[bone].end is not None:
        return joints[bone].end
    return next((joint.offset for joint in joints if joint.parent == bone and np.any(joint.offset)), None)


def _hierarchy(words: list[str]) -> tuple[list[_Joint], int]:
    """The joints, and where the word MOTION is."""
    if not words or words[0] != "HIERARCHY":
        raise ValueError
    joints: list[_Joint] = []
    above: list[int] = [-1]
    ended = False
    place = 1
    while words[place] != "MOTION":
        word = words[place]
        if word in ("ROOT", "JOINT"):
            start = place + 1
            place = words.index("{", start)
            joints.append(_Joint(" ".join(words[start:place]), above[-1], np.zeros(3)))
            above.append(len(joints) - 1)
        elif word == "End":
            place, ended = place + 2, True
        elif word == "OFFSET":
            offset = np.array(words[place + 1 : place + 4], float)
            if ended:
                joints[above[-1]].end = offset
            else:
                joints[above[-1]].offset = offset
            place += 3
        elif word == "CHANNELS":
            count = int(words[place + 1])
            joints[above[-1]].channels = words[place + 2 : place + 2 + count]
            place += 1 + count
        elif word == "}":
            if ended:
                ended = False
            else:
                above.pop()
        else:
            raise ValueError
        place += 1
    return joints, place


def _forward(joints: list[_Joint], values: Array) -> tuple[Array, Array]:
    """Heads (F, J, 3) and frames (F, J, 4)."""
    heads, turns = np.zeros((len(values), len(joints), 3)), np.zeros((len(values), len(joints), 4))
    column = 0
    for number, joint in enumerate(joints):
        way, own = np.tile(joint.offset, (len(values), 1)), np.tile(rotation.IDENTITY, (len(values), 1))
        for channel in joint.channels:
            axis = "XYZ".index(channel[0])
            if channel.endswith("position"):
                way[:, axis] = values[:, column]
            else:
                turn = rotation.from_axis_angle(np.eye(3)[axis], np.radians(values[:, column]))
                own = rotation.mul(own, turn)
            column += 1
        if joint.parent < 0:
            heads[:, number], turns[:, number] = way, own
        else:
            above = turns[:, joint.parent]
            heads[:, number] = heads[:, joint.parent] + rotation.rotate(above, way)
            turns[:, number] = rotation.mul(above, own)
    return heads, turns


def _skeleton(joints: list[_Joint], rest: Array) -> Skeleton:
    """The figure at rest: bones towards where they lead."""
    ways = [_after(joints, bone) for bone in range(len(joints))]
    ways = np.array([_UP * _SHORT if way is None or not np.any(way) else way for way in ways])
    axes = np.cross(_UP, ways)
    angles = np.arctan2(np.linalg.norm(axes, axis=1), ways @ _UP)
    turned = rotation.from_axis_angle(np.where(axes.any(axis=1)[:, None], axes, [1.0, 0.0, 0.0]), angles)
    parents = np.array([joint.parent for joint in joints])
    above = np.where((parents < 0)[:, None], rotation.IDENTITY, turned[parents])
    offsets = np.array([joint.offset for joint in joints])
    local = np.where((parents < 0)[:, None], rest, rotation.rotate(rotation.inv(above), offsets))
    names = tuple(joint.name for joint in joints)
    return Skeleton(names, parents, local, rotation.mul(rotation.inv(above), turned), np.linalg.norm(ways, axis=1))
