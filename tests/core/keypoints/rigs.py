"""Packets as a sender of VMC sends them, written by python-osc, and files of points."""

import io
from collections.abc import Sequence
from typing import Any

import c3d
import numpy as np
from pythonosc.osc_bundle_builder import IMMEDIATELY, OscBundleBuilder
from pythonosc.osc_message_builder import OscMessageBuilder

from core.keypoints import (
    find_layout,
)

COCO = find_layout("coco17")
POINTS = np.random.default_rng(0).normal(0.0, 1.0, (4, 17, 3)).round(4)

FPS = 25.0

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


def as_c3d(points: np.ndarray = POINTS, labels: Sequence[str] = COCO.points) -> bytes:
    """As py-c3d writes it; what is NaN is marked as not seen."""
    writer = c3d.Writer(point_rate=FPS)
    writer.set_point_labels(labels)
    for frame in points:
        residuals = np.where(np.isnan(frame[:, :1]), -1.0, 0.0)
        rows = np.concatenate([np.nan_to_num(frame), residuals, np.zeros_like(residuals)], axis=1)
        writer.add_frames((rows.astype(np.float32), np.zeros((0, 0))))
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()
