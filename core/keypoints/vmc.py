"""Bones of a VMC sender (Virtual Motion Capture protocol over OSC, protocol.vmc.info) as body motions.

Each bone of Unity's humanoid comes with its position and rotation in its parent's frame. Avatars of VRM have no
rotation at rest, a T-pose that faces +Z, like the canonical body; so world rotations of bones are those of the parts.
Unity is left-handed: X is mirrored.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from .. import rotation
from ..body import SIDES
from ..errors import CoreError
from ..rotation import Array
from .body import LANDMARK, LANDMARKS, PART, PARTS, sided
from .estimate import CapturedMotion
from .hands import PHALANGES
from .osc import Argument, read_osc
from .packets import Packet
from .recordings import COORDINATE_LIMIT

# Bone of Unity -> its parent, the part with its rotation, and the landmark at its head
_TRUNK: Final[dict[str, tuple[str, str, str]]] = {
    "Hips": ("", "hips", "pelvis"), "Spine": ("Hips", "", ""), "Chest": ("Spine", "", ""),
    "UpperChest": ("Chest", "chest", ""), "Neck": ("UpperChest", "neck", "neck"), "Head": ("Neck", "head", ""),
}  # fmt: skip
_LIMBS: Final = {
    "Shoulder": ("UpperChest", "shoulder", ""), "UpperArm": ("Shoulder", "upper_arm", "shoulder"),
    "LowerArm": ("UpperArm", "forearm", "elbow"), "Hand": ("LowerArm", "hand", "wrist"),
    "UpperLeg": ("Hips", "thigh", "hip"), "LowerLeg": ("UpperLeg", "shin", "knee"),
    "Foot": ("LowerLeg", "foot", "ankle"), "Toes": ("Foot", "", "ball"),
}  # fmt: skip
_BONES: Final = _TRUNK | {
    word + name: (word + above if above in _LIMBS else above, sided(part, side) if part else "", sided(landmark, side))
    for side, word in zip(SIDES, ("Left", "Right"), strict=True)
    for name, (above, part, landmark) in _LIMBS.items()
}
_FINGERS: Final = [  # of both hands, from the knuckles outwards
    tuple(f"{word}{finger}{phalanx}" for phalanx in ("Proximal", "Intermediate", "Distal"))
    for word in ("Left", "Right")
    for finger in ("Thumb", "Index", "Middle", "Ring", "Little")
]
_KNOWN: Final = {*_BONES, *(name for finger in _FINGERS for name in finger)}
_SPARED: Final = ("Spine", "Chest", "UpperChest", "Neck", "Shoulder", "Toes")  # optional bones
_NEEDED: Final = tuple(name for name in _BONES if not name.endswith(_SPARED))
_FLAT: Final = 1e-6  # metres: senders without positions send zeros
_UNIT: Final = 0.1  # largest deviation of a quaternion's length from 1
_Placed = tuple[Array, Array]  # position (3,) and rotation (4,)
_NOTHING: Final[_Placed] = (np.zeros(3), rotation.IDENTITY)
_ROOT: Final = ""


class BonePackets:
    """Collects packets to frames, which end at the sender's time or before a bone that comes again."""

    def __init__(self) -> None:
        self._bones: dict[str, _Placed] = {}
        self._fresh: set[str] = set()

    def __call__(self, data: bytes) -> Packet[CapturedMotion] | None:
        """Return the last frame that a packet completes, None if none. Raises CoreError for malformed packets."""
        messages = read_osc(data)
        if not any(address.startswith("/VMC/") for address, _ in messages):
            raise CoreError("A packet does not follow the VMC protocol.")
        current: dict[str, list[Argument]] = {}
        whole: dict[str, list[Argument]] | None = None
        time: Argument = None
        # only the last frame of a packet is decoded: packets of many frames cost no more than parsing
        for address, arguments in messages:
            if address == "/VMC/Ext/Root/Pos":
                current[_ROOT] = arguments
            elif address == "/VMC/Ext/Bone/Pos":
                name = arguments[0] if arguments else None
                if not isinstance(name, str) or name not in _KNOWN:
                    continue  # eyes
                if name in self._fresh:
                    whole, time = dict(current), None
                    self._fresh.clear()
                current[name] = arguments
                self._fresh.add(name)
            elif address == "/VMC/Ext/T" and self._fresh:
                whole, time = dict(current), arguments[0] if arguments else None
                self._fresh.clear()
        bones = self._bones | {name: _placed(arguments) for name, arguments in (whole or {}).items()}
        self._bones = bones | {name: _placed(arguments) for name, arguments in current.items()}
        if whole is None:
            return None
        return Packet(_captured(bones), time if isinstance(time, float) and np.isfinite(time) else None, None)


def _captured(bones: Mapping[str, _Placed]) -> CapturedMotion:
    """Return the motion of one frame of bones. Raises CoreError if a needed bone is missing."""
    missing = next((name for name in _NEEDED if name not in bones), None)
    if missing is not None:
        raise CoreError(f'The sender does not send the bone "{missing}"; a whole body is needed.')
    rotations = np.empty((1, len(PARTS), 4))
    landmarks, weights = np.zeros((1, len(LANDMARKS), 3)), np.zeros((1, len(LANDMARKS)))
    done = {_ROOT: bones.get(_ROOT, _NOTHING)}
    for name, (above, part, landmark) in _BONES.items():  # above comes first
        position, turn = bones.get(name, _NOTHING)
        start, parent_turn = done[above]
        done[name] = start + rotation.rotate(parent_turn, position), rotation.mul(parent_turn, turn)
        if part:
            rotations[0, PART[part]] = done[name][1]
        if landmark:
            landmarks[0, LANDMARK[landmark]] = done[name][0]
            weights[0, LANDMARK[landmark]] = float(np.abs(position).max() > _FLAT)
    fingers = np.full((len(_FINGERS), PHALANGES, 4), np.nan)
    for finger, names in enumerate(_FINGERS):
        turn = rotation.IDENTITY
        for joint, name in enumerate(names):
            if name in bones:
                turn = rotation.mul(turn, bones[name][1])
                fingers[finger, joint] = turn
    return CapturedMotion(
        rotations, landmarks[:, LANDMARK["pelvis"]], landmarks, weights, None,
        fingers=fingers.reshape(1, len(SIDES), -1, 4),
    )  # fmt: skip


def _placed(arguments: list[Argument]) -> _Placed:
    """Return position (3,) and rotation (4,) of a bone from name, x, y, z, qx, qy, qz, qw in Unity's axes."""
    numbers = arguments[1:8]
    if len(numbers) < 7 or not all(isinstance(number, (int, float)) for number in numbers):
        raise CoreError("A VMC bone must be a name and seven numbers.")
    x, y, z, i, j, k, w = np.array(numbers, float)
    position, turn = np.array([-x, y, z]), np.array([w, i, -j, -k])
    if not (np.abs(position) < COORDINATE_LIMIT).all() or not abs(np.linalg.norm(turn) - 1.0) < _UNIT:
        raise CoreError("A VMC bone is too far from a body, or has no valid rotation.")
    return position, rotation.normalize(turn)
