"""How far rotations are off: angles, twists, where the parts come to be, and how much it trembles."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.naturalness.motion import Array
from core import rotation
from core.keypoints.body import PART, PARTS

from . import bank

LIMBS: Final = {"upper arm": ("upper_arm", (1.0, 0.0, 0.0)), "thigh": ("thigh", (0.0, -1.0, 0.0))}


@dataclass(frozen=True)
class Figures:
    """Degrees, but `position`: millimetres of the parts' origins on the standard body, hips at zero.

    twist: mean and 95th percentile by limb; jitter: change of the error from frame to frame, 0 without clips.
    """

    angle: float
    position: float
    twist: dict[str, tuple[float, float]]
    jitter: float


def angles(found: Array, true: Array) -> Array:
    """(..., P) in degrees."""
    return np.degrees(rotation.angle_between(found, true))


def twists(found: Array, true: Array, part: str, way: tuple[float, float, float]) -> Array:
    """Turn about the limb between both, degrees, of both sides together."""
    values: list[Array] = []
    for side in "LR":
        number = PART[f"{part}.{side}"]
        off = rotation.mul(rotation.inv(true[..., number, :]), found[..., number, :])
        values.append(np.degrees(np.abs(rotation.log(rotation.swing_twist(off, np.array(way))[1])).max(axis=-1)))
    return np.concatenate(values, axis=None)


def jitter(found: Array, true: Array) -> Array:
    """(F - 1, P) degrees by which the error changes from frame to frame."""
    off = rotation.mul(found, rotation.inv(true))
    return angles(off[1:], off[:-1])


def figures(found: list[Array], true: list[Array], clips: bool) -> Figures:
    """Over clips of rotations (F, P, 4)."""
    every, right = np.concatenate(found), np.concatenate(true)
    ways = np.broadcast_to(bank.STANDARD_WAYS, (*every.shape[:-1], 3))
    far = np.linalg.norm(bank.origins(every, ways) - bank.origins(right, ways), axis=-1)
    moved = [jitter(f, t).ravel() for f, t in zip(found, true, strict=True)] if clips else []
    return Figures(
        angle=float(angles(every, right).mean()),
        position=1000.0 * float(far[:, 1:].mean()),
        twist={
            name: (float(values.mean()), float(np.percentile(values, 95)))
            for name, (part, way) in LIMBS.items()
            for values in (twists(every, right, part, way),)
        },
        jitter=float(np.concatenate(moved).mean()) if moved else 0.0,
    )


def by_part(found: Array, true: Array) -> dict[str, float]:
    """Mean degrees by part, both sides together."""
    mean = angles(found, true).reshape(-1, len(PARTS)).mean(axis=0)
    names = dict.fromkeys(part.partition(".")[0] for part in PARTS)
    return {name: float(np.mean([mean[n] for n, part in enumerate(PARTS) if part.partition(".")[0] == name]))
            for name in names}  # fmt: skip
