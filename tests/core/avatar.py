"""What a sender of VMC sends, written by python-osc."""

from typing import Any

import numpy as np
from pythonosc.osc_bundle_builder import IMMEDIATELY, OscBundleBuilder
from pythonosc.osc_message_builder import OscMessageBuilder

STILL = (0.0, 0.0, 0.0, 1.0)  # x, y, z, w
TRUNK = {"Hips": (0.0, 0.9, 0.0), "Spine": (0.0, 0.1, 0.0), "Chest": (0.0, 0.15, 0.0), "Neck": (0.0, 0.25, 0.0),
         "Head": (0.0, 0.1, 0.0)}  # fmt: skip
LIMBS = {"UpperArm": (0.15, 0.2, 0.0), "LowerArm": (0.28, 0.0, 0.0), "Hand": (0.25, 0.0, 0.0),
         "UpperLeg": (0.1, 0.0, 0.0), "LowerLeg": (0.0, -0.4, 0.0), "Foot": (0.0, -0.4, 0.0)}  # fmt: skip
# An avatar in Unity: Y up, facing +Z, its left towards -X
AVATAR = TRUNK | {
    side + name: (sign * x, y, z)
    for side, sign in (("Left", -1.0), ("Right", 1.0))
    for name, (x, y, z) in LIMBS.items()
}


def message(address: str, *arguments: Any) -> Any:
    builder = OscMessageBuilder(address=address)
    for argument in arguments:
        builder.add_arg(argument)
    return builder.build()


def bundle(*contents: Any) -> Any:
    builder = OscBundleBuilder(IMMEDIATELY)
    for content in contents:
        builder.add_content(content)
    return builder.build()


def bones(turns: dict[str, tuple[float, ...]]) -> list[Any]:
    """Messages of every bone of the avatar, turned as said: x, y, z, w."""
    return [message("/VMC/Ext/Bone/Pos", name, *place, *turns.get(name, STILL)) for name, place in AVATAR.items()]


def about(axis: int, degrees: float) -> tuple[float, ...]:
    half = np.radians(degrees) / 2.0
    return (*(np.sin(half) * np.eye(3)[axis]).tolist(), float(np.cos(half)))
