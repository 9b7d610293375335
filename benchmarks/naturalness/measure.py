"""How near a solved pose is to the truth: joints' positions and angles, bends, and whether the effectors are met."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core import Goal, Pose, forward, rotation
from core.body.anatomy import anatomy

from .motion import BENT, EFFECTORS, Array, Frames

POSITION: Final = 1e-3
ROTATION: Final = np.radians(0.1)
_LIMBS: Final = {"elbow": ("shoulder", "wrist"), "knee": ("hip", "ankle")}
_HINGES: Final = {
    "l_elbow": (0.0, -1.0, 0.0),
    "r_elbow": (0.0, 1.0, 0.0),
    "l_knee": (1.0, 0.0, 0.0),
    "r_knee": (1.0, 0.0, 0.0),
}
FAULTY: Final = ("head", "foot")
FAULT: Final = np.radians(120.0)  # a head or foot that is turned further from the T-pose is the wrong way round
_PAST: Final = np.radians(-2.0)  # a joint that is bent less is past straight


@dataclass(frozen=True)
class Figures:
    """Of n frames: mean joint position error (mm), mean joint angle error (deg), elbows and knees apart, shares."""

    frames: int
    position: float
    angle: float
    elbows: float
    knees: float
    met: float
    wrong_bends: float


def goals_of(frames: Frames, case: str) -> list[Goal]:
    found: list[Goal] = []
    for joint, (placed, turned) in EFFECTORS[case].items():
        bone = frames.joints[joint]
        found.append(Goal(bone, frames.heads[:, bone] if placed else None, frames.turns[:, bone] if turned else None))
    return found


def is_sound(frames: Frames) -> NDArray[np.bool_]:
    """(n,) whether head and feet are the right way round: in some takes they are not, and are no motion of a body."""
    bones = [frames.roles.bone(role) for role in ("head", "foot.L", "foot.R")]
    canonical = anatomy(frames.skeleton, frames.roles).canonical
    return np.all(rotation.angle_between(frames.pose.rotations[:, bones], canonical[bones]) <= FAULT, axis=1)


def compare(frames: Frames, case: str, pose: Pose) -> dict[str, Array]:
    """(n, joints) errors of the canonical joints, (n,) whether the effectors are met, (n, 4) wrong bends."""
    heads, turns = forward(frames.skeleton, pose)
    bones = list(frames.joints.values())
    away = np.linalg.norm(heads[:, bones] - frames.heads[:, bones], axis=-1)
    off = rotation.angle_between(turns[:, bones], frames.turns[:, bones])
    met = np.ones(len(heads), bool)
    for joint, (placed, turned) in EFFECTORS[case].items():
        place = bones.index(frames.joints[joint])
        met &= (away[:, place] <= POSITION) | (not placed)
        met &= (off[:, place] <= ROTATION) | (not turned)
    return {"away": away, "off": off, "met": met, "wrong": _wrong_bends(frames, heads, turns)}


def _wrong_bends(frames: Frames, heads: Array, turns: Array) -> Array:
    """(n, 4) elbows and knees that are bent backwards, by the upper bone's own hinge axis."""
    _, rest = forward(frames.skeleton, Pose.rest(frames.skeleton))
    found: list[Array] = []
    for joint in BENT:
        side, _, name = joint.partition("_")
        above, below = (frames.joints[f"{side}_{part}"] for part in _LIMBS[name])
        middle = frames.joints[joint]
        upper, lower = heads[:, middle] - heads[:, above], heads[:, below] - heads[:, middle]
        hinge = rotation.rotate(rotation.mul(turns[:, above], rotation.inv(rest[above])), np.array(_HINGES[joint]))
        angle = np.arctan2(np.sum(np.cross(upper, lower) * hinge, axis=-1), np.sum(upper * lower, axis=-1))
        found.append(angle < _PAST)
    return np.stack(found, axis=-1)


def figures(parts: list[tuple[Frames, dict[str, Array]]]) -> Figures:
    def mean(name: str, joints: tuple[str, ...] | None = None) -> float:
        values: list[Array] = []
        for frames, errors in parts:
            names = list(frames.joints)
            chosen = slice(None) if joints is None else [names.index(joint) for joint in joints]
            values.append(errors[name][:, chosen].ravel())
        return float(np.mean(np.concatenate(values)))

    return Figures(
        sum(len(errors["met"]) for _, errors in parts),
        1e3 * mean("away"),
        float(np.degrees(mean("off"))),
        1e3 * mean("away", ("l_elbow", "r_elbow")),
        1e3 * mean("away", ("l_knee", "r_knee")),
        float(np.mean(np.concatenate([errors["met"] for _, errors in parts]))),
        float(np.mean(np.concatenate([errors["wrong"].ravel() for _, errors in parts]))),
    )
