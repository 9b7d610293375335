"""Frames of real motion: skeletons, true poses and what is kept of them.

A pack (`.npz`) holds clips of one family of skeletons, re-expressed so that no rotation is a T-pose facing +Z, the
figure's left towards +X, Y up. `canonical_joints.json` beside the packs names up to 22 joints of every family; all
figures are taken over those.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core import Pose, Skeleton, forward, rotation
from core.body.detection import find_roles
from core.body.roles import Roles

Array = NDArray[np.float64]

DATA: Final = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "motion"
EFFECTORS: Final = {
    "A": dict.fromkeys(("head", "l_wrist", "r_wrist", "l_ankle", "r_ankle", "pelvis"), (True, True)),
    "B": dict.fromkeys(("head", "l_wrist", "r_wrist", "l_ankle", "r_ankle"), (True, True)),
    "C": dict.fromkeys(("head", "l_wrist", "r_wrist", "l_ankle", "r_ankle"), (True, False)),
}  # case -> joint -> (position, rotation)
BENT: Final = ("l_elbow", "r_elbow", "l_knee", "r_knee")
_SCALE: Final = 32767.0  # of the packs' 16-bit quaternions
_UP: Final = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True, eq=False)
class Frames:
    """n frames of one skeleton: the true pose, and its joints' heads (n, J, 3) and frames (n, J, 4).

    before: the true pose some time before each, where frames are to be solved from there.
    """

    family: str
    subject: str
    clip: str
    skeleton: Skeleton
    roles: Roles
    joints: dict[str, int]
    pose: Pose
    heads: Array
    turns: Array
    before: Pose | None = None

    def __getitem__(self, rows: slice | NDArray[np.bool_]) -> "Frames":
        before = None if self.before is None else self.before[rows]
        return replace(self, pose=self.pose[rows], heads=self.heads[rows], turns=self.turns[rows], before=before)


def load(
    pack: str, stride: int, subjects: tuple[str, ...] = (), clips: int | None = None, ahead: float | None = None
) -> list[Frames]:
    """Every `stride`-th frame of the clips of a pack, of some subjects only if they are named.

    With `ahead` from so many seconds on, and what they are solved from is what was then.
    """
    arrays = dict(np.load(DATA / f"{pack}.npz"))  # each unpacked once
    family = pack.rpartition("_")[0]
    table = json.loads((DATA / "canonical_joints.json").read_text())[family]
    names = [str(name) for name in arrays["names"]]
    found: list[Frames] = []
    bodies: dict[int, tuple[Skeleton, Array, Roles]] = {}  # clips of one person share them
    for number, name in enumerate(arrays["clip"]):
        if subjects and str(arrays["subject"][number]) not in subjects:
            continue
        lead = 0 if ahead is None else round(ahead * float(arrays["fps"]))
        rows = np.arange(arrays["start"][number] + lead, arrays["start"][number + 1], stride)
        if not len(rows):
            continue
        person = int(arrays["skeleton"][number])
        if person not in bodies:
            skeleton, rest = _skeleton(names, arrays["parents"], arrays["offsets"][person])
            bodies[person] = skeleton, rest, find_roles(skeleton)
        skeleton, rest, roles = bodies[person]
        pose, before = (
            Pose(
                # the pack's rotations are in frames that are the world's at rest
                rotation.mul(rotation.inv(rest), rotation.mul(_turns(arrays["rot"][some]), rest)),
                place_root(skeleton, arrays["pos"][some].astype(float)),
            )
            for some in (rows, rows - lead)
        )
        heads, frames = forward(skeleton, pose)
        joints = {joint: names.index(bone) for joint, bone in table.items()}
        subject = str(arrays["subject"][number])
        found.append(
            Frames(family, subject, str(name), skeleton, roles, joints, pose, heads, frames, before if lead else None)
        )
        if clips is not None and len(found) == clips:
            break
    return found


def _turns(stored: NDArray[np.int16]) -> Array:
    return rotation.normalize(stored.astype(float) / _SCALE)


def _skeleton(names: list[str], parents: NDArray[np.int64], offsets: Array) -> tuple[Skeleton, Array]:
    """The skeleton with bones along their first child, and their rest frames (J, 4) in armature space."""
    heads = np.array(offsets, float)
    for bone, parent in enumerate(parents):
        if parent >= 0:
            heads[bone] += heads[parent]
    ways = np.zeros_like(heads)
    for bone in range(len(names)):
        children = np.flatnonzero(np.asarray(parents) == bone)
        ways[bone] = heads[children[0]] - heads[bone] if len(children) else 0.3 * np.asarray(offsets[bone])
    ways[np.linalg.norm(ways, axis=1) == 0.0] = 0.05 * _UP
    lengths = np.linalg.norm(ways, axis=1)
    axes = np.cross(_UP, ways)
    angles = np.arctan2(np.linalg.norm(axes, axis=1), ways @ _UP)
    rest = rotation.from_axis_angle(np.where(np.abs(axes).sum(axis=1, keepdims=True) > 0.0, axes, [1.0, 0, 0]), angles)
    parents = np.asarray(parents, int)
    top = (parents < 0)[:, None]
    above = np.where(top, rotation.IDENTITY, rest[parents])
    local = np.where(top, heads, rotation.rotate(rotation.inv(above), np.asarray(offsets, float)))
    return Skeleton(tuple(names), parents, local, rotation.mul(rotation.inv(above), rest), lengths), rest


def place_root(skeleton: Skeleton, places: Array) -> Array:
    """Location channels that put the root's head at `places` (n, 3)."""
    result = np.zeros((len(places), len(skeleton), 3))
    back = rotation.inv(skeleton.rest_rotations[0])
    result[:, 0] = rotation.rotate(back, places - skeleton.offsets[0])
    return result


def start_poses(frames: Frames, case: str) -> Pose:
    """Rest poses over the ankles' middle, facing as the effectors of the case say: nothing else of the truth."""
    skeleton, joints, kept = frames.skeleton, frames.joints, EFFECTORS[case]
    rest = Pose.rest(skeleton)
    rest_heads, rest_turns = forward(skeleton, rest)
    ahead = np.zeros((len(frames.heads), 3))
    for joint, (_, turned) in kept.items():
        if turned and "wrist" not in joint:
            change = rotation.mul(frames.turns[:, joints[joint]], rotation.inv(rest_turns[joints[joint]]))
            ahead += rotation.rotate(change, np.array([0.0, 0.0, 1.0]))
    if not any(turned for _, turned in kept.values()):
        for left, right in (("l_ankle", "r_ankle"), ("l_wrist", "r_wrist")):
            across = frames.heads[:, joints[left]] - frames.heads[:, joints[right]]
            ahead += np.cross(across, _UP)
    yaw = np.arctan2(ahead[:, 0], ahead[:, 2])
    turn = rotation.from_axis_angle(_UP, yaw)
    feet = [joints["l_ankle"], joints["r_ankle"]]
    own = rotation.mul(rotation.inv(rest_turns[0]), rotation.mul(turn, rest_turns[0]))
    rotations = np.broadcast_to(rest.rotations, (len(yaw), *rest.rotations.shape)).copy()
    rotations[:, 0] = own
    away = rotation.rotate(turn, rest_heads[feet].mean(axis=0) - rest_heads[0])
    root = frames.heads[:, feet].mean(axis=1) - away
    return Pose(rotations, place_root(skeleton, root))
