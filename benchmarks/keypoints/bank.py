"""Poses to learn from: parts' rotations and lengths of captured motion, varied at random.

What is varied, and by how much: left and right exchanged; limbs of other frames; all joints (elbows and knees about
their hinges only); heading and tilt of the whole; lengths, the trunk's more, and places of face, hand and foot
landmarks; in some, twist of upper arms and thighs and flexion of elbows and knees at random. Landmarks are noisy and
missing.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.naturalness.motion import Array
from core import rotation
from core.body.axes import MIRROR_QUATERNION, MIRROR_VECTOR
from core.keypoints.body import LANDMARK, LANDMARKS, PART, PARTS

from .motion import Clip
from .standard_body import OFFSETS, ORIGINS, PART_SWAP, offset_of, parent_of

ABOVE: Final = np.array([PART[parent_of(part)] if parent_of(part) else -1 for part in PARTS])
LIMBS: Final = tuple(
    np.array([PART[f"{part}.{side}"] for part in parts])
    for side in "LR"
    for parts in (("shoulder", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot"))
)
HINGES: Final = {"forearm": (0.0, -1.0, 0.0), "shin": (1.0, 0.0, 0.0)}
WAYS: Final = {"upper_arm": (1.0, 0.0, 0.0), "thigh": (0.0, -1.0, 0.0)}

OTHER_LIMBS, RANDOM_LIMBS, NOISY, UNSEEN, UNMEASURED = 0.6, 0.4, 0.75, 0.25, 0.3  # shares of what is varied so
JITTER: Final = np.radians(14.0)
TWISTS: Final = {"upper_arm": np.radians(60.0), "thigh": np.radians(30.0)}
FLEXION: Final = np.radians(40.0)
TILT: Final = np.radians(15.0)
LENGTHS, TRUNK, PLACE = 0.08, 0.015, 0.006  # share; metres; metres
LARGEST_NOISE: Final = 0.03


@dataclass(frozen=True, eq=False)
class Bank:
    """N poses: rotations (N, P, 4) relative to their parents, and ways (N, P, 3) to the parts in those frames."""

    local: Array
    ways: Array


def origins_of(clip: Clip) -> Array:
    """(F, P, 3) where the parts begin, of the landmarks that show it; the others begin where their parents do."""
    shown = {"chest": "neck", "neck": "neck", "shoulder": "neck"}
    joints = {
        "upper_arm": "shoulder",
        "forearm": "elbow",
        "hand": "wrist",
        "thigh": "hip",
        "shin": "knee",
        "foot": "ankle",
    }
    result = np.zeros((len(clip), len(PARTS), 3))
    for number, part in enumerate(PARTS):
        base, _, side = part.partition(".")
        if base == "head":  # from the nose, which is at a set place of it
            _, place = offset_of("nose", OFFSETS)
            result[:, number] = clip.landmarks[:, LANDMARK["nose"]] - rotation.rotate(clip.rotations[:, number], place)
        elif base == "hips":
            result[:, number] = clip.landmarks[:, LANDMARK["pelvis"]]
        else:
            landmark = shown[base] if base in shown else f"{joints[base]}.{side}"
            result[:, number] = clip.landmarks[:, LANDMARK[landmark]]
    return result


def bank_of(clips: list[Clip]) -> Bank:
    local, ways = [], []
    for clip in clips:
        origins, turns = origins_of(clip), clip.rotations
        back = np.where((ABOVE >= 0)[:, None], rotation.inv(turns[:, ABOVE]), rotation.IDENTITY)
        local.append(rotation.mul(back, turns))
        ways.append(np.where((ABOVE >= 0)[:, None], rotation.rotate(back, origins - origins[:, ABOVE]), 0.0))
    return Bank(np.concatenate(local), np.concatenate(ways))


def globals_of(local: Array) -> Array:
    """Rotations (..., P, 4) in the world."""
    result = local.copy()
    for part, above in enumerate(ABOVE.tolist()):
        if above >= 0:
            result[..., part, :] = rotation.mul(result[..., above, :], local[..., part, :])
    return result


def origins(turns: Array, ways: Array) -> Array:
    """Where the parts begin, (..., P, 3), the hips at zero; ways (..., P, 3) to them in their parents' frames."""
    result = np.zeros((*turns.shape[:-1], 3))
    for part, above in enumerate(ABOVE.tolist()):
        if above >= 0:
            result[..., part, :] = result[..., above, :] + rotation.rotate(turns[..., above, :], ways[..., part, :])
    return result


def marks_of(turns: Array, ways: Array, places: Array) -> Array:
    """Landmarks (..., M, 3), the hips' middle at zero; places (..., M, 3) in the frames of their parts."""
    parts = [PART[offset_of(landmark, OFFSETS)[0]] for landmark in LANDMARKS]
    return origins(turns, ways)[..., parts, :] + rotation.rotate(turns[..., parts, :], places)


STANDARD_WAYS: Final = np.array(
    [offset_of(part, ORIGINS)[1] if ABOVE[n] >= 0 else np.zeros(3) for n, part in enumerate(PARTS)]
)
STANDARD_PLACES: Final = np.array([offset_of(landmark, OFFSETS)[1] for landmark in LANDMARKS])
ON_JOINTS: Final = ~STANDARD_PLACES.any(axis=1)


def draw(bank: Bank, count: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """`count` varied poses: rotations (n, P, 4) in the world, landmarks (n, M, 3) without noise, their places."""
    rows = rng.integers(len(bank.local), size=count)
    local, ways = bank.local[rows].copy(), bank.ways[rows].copy()
    for limb in LIMBS:
        chosen = np.flatnonzero(rng.random(count) < OTHER_LIMBS)
        others = rng.integers(len(bank.local), size=len(chosen))
        local[np.ix_(chosen, limb)] = bank.local[np.ix_(others, limb)]
    swap = rng.random(count) < 0.5
    local[swap] = (local[swap] * MIRROR_QUATERNION)[:, PART_SWAP]
    ways[swap] = (ways[swap] * MIRROR_VECTOR)[:, PART_SWAP]

    jitter = rng.normal(0.0, JITTER * rng.random((count, 1, 1)), (count, len(PARTS), 3))
    for number, part in enumerate(PARTS):
        base, _, side = part.partition(".")
        sign = np.array([1.0, -1.0, -1.0]) if side == "R" else 1.0
        if base in HINGES:
            axis = np.array(HINGES[base]) * sign
            jitter[:, number] *= np.abs(axis)
            wild = rng.random(count) < RANDOM_LIMBS
            bend = np.abs(rng.normal(0.0, FLEXION, count))
            local[wild, number] = rotation.from_axis_angle(axis, bend[wild])
        if base == "shoulder":  # the capture has no clavicles to learn from
            jitter[:, number] = 0.0
        if base in WAYS:
            wild = rng.random(count) < RANDOM_LIMBS
            twist = rotation.from_axis_angle(np.array(WAYS[base]), rng.normal(0.0, TWISTS[base], count))
            local[wild, number] = rotation.mul(local[wild, number], twist[wild])
    local = rotation.mul(local, rotation.exp(jitter))
    heading = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), rng.uniform(-np.pi, np.pi, count))
    tilt = rotation.exp(rng.normal(0.0, TILT, (count, 3)))
    local[:, 0] = rotation.mul(tilt, rotation.mul(heading, local[:, 0]))

    ways *= np.exp(rng.normal(0.0, LENGTHS, (count, len(PARTS), 1)))
    trunk = [PART[part] for part in ("chest", "head", "upper_arm.L", "upper_arm.R", "thigh.L", "thigh.R")]
    ways[:, trunk] += rng.normal(0.0, TRUNK * rng.random((count, 1, 1)), (count, len(trunk), 3))
    moved = rng.normal(0.0, PLACE, (count, len(LANDMARKS), 3)) * ~ON_JOINTS[:, None]
    places = STANDARD_PLACES * np.exp(rng.normal(0.0, LENGTHS, (count, 1, 1))) + moved
    turns = globals_of(local)
    return turns, marks_of(turns, ways, places), places
