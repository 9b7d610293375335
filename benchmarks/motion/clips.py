"""Captured clips (BVH) as skeletons and motions in metres, Z up."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from core import Motion, Pose, Skeleton, rotation
from core.rotation import Array

CLIPS: Final = Path(__file__).resolve().parents[3] / "shared" / "data" / "motion" / "bvh30"
METRES: Final = {"Hips": 0.0254 / 0.45, "hip": 0.01, "CC_Base_Hip": 0.01}  # of a unit, by the name of the root
KINDS: Final = {
    "walk": (
        "cmu_07", "cmu_08", "cmu_10", "cmu_16", "cmu_26", "cmu_27", "cmu_32", "cmu_35_01", "cmu_train_walking",
    ),
    "run": ("cmu_03", "cmu_35"),
    "dance": ("cmu_05", "cmu_60", "cmu_61", "cmu_94"),
    "karate": ("cmu_135",),
    "climb": ("cmu_01",),
    "signals": ("cmu_train_basketball_signal", "cmu_train_directing"),
    "sport": ("cmu_06", "cmu_train"),
}  # fmt: skip
_UPWARDS: Final = rotation.from_axis_angle([1.0, 0.0, 0.0], 0.5 * np.pi)  # Y up to Z up
_AT_REST: Final = 1.0 - 1e-6  # cosine of half the angle of a joint
_SHORTEST: Final = 1e-3  # metres, of a bone


@dataclass(frozen=True)
class Clip:
    name: str
    skeleton: Skeleton
    motion: Motion

    @property
    def kind(self) -> str:
        """What the subject does, as its number says; the first that fits."""
        return next((kind for kind, names in KINDS.items() if self.name.startswith(names)), "other")


def read_clip(path: Path) -> Clip:
    """One clip; bones point at what hangs on them, as in Blender's importer.

    A first frame in rest pose is left out. Character Creator's files have all bones upright at rest: their first frame
    is taken as rest pose.
    """
    file = _File(path)
    parents, unit = file.parents, METRES[file.names[0]]
    local, places = file.motion()
    first = int(np.all(np.abs(local[0, 1:, 0]) > _AT_REST))
    local, places = local[first:], places[first:]
    local[:, 0] = rotation.mul(_UPWARDS, local[:, 0])
    base = np.tile(rotation.IDENTITY, (len(parents), 1))
    base[0] = _UPWARDS
    if file.names[0].startswith("CC_"):
        base = local[0]
    axes, heads = np.empty((len(parents), 4)), np.zeros((len(parents), 3))  # of the joints, at rest
    for joint, parent in enumerate(parents):
        axes[joint] = base[joint] if parent < 0 else rotation.mul(axes[parent], base[joint])
        if parent >= 0:
            heads[joint] = heads[parent] + rotation.rotate(axes[parent], unit * file.offsets[joint])
    frames, lengths = np.empty_like(axes), np.empty(len(parents))
    for joint in range(len(parents)):
        children = [child for child, parent in enumerate(parents) if parent == joint]
        end = unit * file.ends.get(joint, np.zeros(3))
        way = heads[children].mean(axis=0) - heads[joint] if children else rotation.rotate(axes[joint], end)
        lengths[joint] = np.linalg.norm(way)
        frames[joint] = _along(way if lengths[joint] > _SHORTEST else np.array([0.0, 0.0, 1.0]))
    above = np.concatenate([[rotation.IDENTITY], frames])[parents + 1]
    shifts = rotation.rotate(rotation.inv(above), heads - np.concatenate([np.zeros((1, 3)), heads])[parents + 1])
    rest = rotation.mul(rotation.inv(above), frames)
    skeleton = Skeleton(tuple(file.names), parents, shifts, rest, np.maximum(lengths, _SHORTEST))
    # a bone's frame is its joint's axes times `own`, whatever the pose
    own = rotation.mul(rotation.inv(axes), frames)
    parents_own = np.concatenate([[rotation.IDENTITY], own])[parents + 1]
    turns = rotation.mul(rotation.inv(rest), rotation.mul(rotation.inv(parents_own), rotation.mul(local, own)))
    moves = np.zeros((*turns.shape[:2], 3))
    moves[:, 0] = rotation.rotate(rotation.mul(rotation.inv(rest[0]), _UPWARDS), unit * places)
    return Clip(path.stem, skeleton, Motion(Pose(turns, moves), np.arange(len(turns), dtype=float), file.fps))


def _along(way: Array) -> Array:
    """A rotation (4,) that takes +Y to the direction."""
    y = way / np.linalg.norm(way)
    x = np.cross(y, np.eye(3)[np.argmin(np.abs(y))])
    x /= np.linalg.norm(x)
    return rotation.from_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))


class _File:
    """What a BVH file says, in its own units and axes; `ends` by the joint that they are of."""

    def __init__(self, path: Path) -> None:
        self.names, self.ends, parents, offsets = list[str](), dict[int, Array](), list[int](), list[Array]()
        self.channels = list[list[str]]()
        stack, ending = list[int](), False
        hierarchy, _, motion = path.read_text(encoding="utf-8").partition("MOTION")
        for line in hierarchy.splitlines():
            match line.split():
                case ["ROOT" | "JOINT", *words]:
                    self.names.append(" ".join(words))
                    parents.append(stack[-1] if stack else -1)
                case ["End", *_]:
                    ending = True
                case ["{"]:
                    stack.append(len(self.names) - 1)
                case ["}"]:
                    stack.pop()
                    ending = False
                case ["OFFSET", *numbers] if ending:
                    self.ends[stack[-1]] = np.array(numbers, float)
                case ["OFFSET", *numbers]:
                    offsets.append(np.array(numbers, float))
                case ["CHANNELS", _, *channels]:
                    self.channels.append(channels)
                case _:
                    pass
        _, step, *rows = motion.strip().splitlines()
        self.parents, self.offsets = np.array(parents), np.array(offsets)
        self.values = np.array([row.split() for row in rows], float)
        self.fps = 1.0 / float(step.split()[-1])

    def motion(self) -> tuple[Array, Array]:
        """Rotations (F, J, 4) relative to the parents, and places (F, 3) of the root."""
        count = len(self.values)
        turns, places = np.tile(rotation.IDENTITY, (count, len(self.names), 1)), np.zeros((count, 3))
        column = 0
        for joint, channels in enumerate(self.channels):
            for channel in channels:
                axis, values = np.eye(3)["XYZ".index(channel[0])], self.values[:, column]
                column += 1
                if channel.endswith("rotation"):
                    turns[:, joint] = rotation.mul(turns[:, joint], rotation.from_axis_angle(axis, np.radians(values)))
                elif self.parents[joint] < 0:
                    places += values[:, None] * axis
        return turns, places
