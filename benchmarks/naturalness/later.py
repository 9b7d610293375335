"""Drags beside what people did: hands or the head go to where they are two thirds of a second later, feet stay.

python -m benchmarks.naturalness.later                   both families, hand, both hands and head
python -m benchmarks.naturalness.later --roots hold pull free

Taken are captured frames after which both feet stay for that time while the dragged joints go far. The body begins in
the captured pose, both ankles are pinned in position and rotation, and the dragged joints go to where the person has
them, with the settings of the drag tool. Compared are all joints, in millimetres; beside it how far the person moved.
"""

import argparse
from itertools import pairwise
from typing import Any, Final

import numpy as np

from core import Balance, Goal, PinAndDrag, Pose, forward, rotation, solve
from core.body.anatomy import with_anatomy
from core.body.masses import distance_beyond, masses_of
from core.goals import SUPPORT_RADIUS
from core.pose import forward_matrices

from .motion import DATA, Frames, load

FAMILIES: Final = {"cmu_mb": ("cmu_mb_train", "cmu_mb_val"), "cmu_daz": ("cmu_daz_train", "cmu_daz_val")}
AHEAD: Final = 0.67  # seconds
STRIDE: Final = 5  # frames
STAYS: Final = 0.03  # metres that a foot at rest may move
TURNS: Final = np.radians(10.0)  # the same of its turn
FAR: Final = 0.1  # metres that each dragged joint goes at least
MOST: Final = 150  # frames of a family
UP: Final = (0.0, 1.0, 0.0)
FEET: Final = ("l_ankle", "r_ankle")
DRAGGED: Final = {"hand": ("l_wrist", "r_wrist"), "both hands": ("l_wrist", "r_wrist"), "head": ("head",)}


def chosen(frames: Frames, what: str) -> list[tuple[Frames, tuple[str, ...]]]:
    """Return the frames whose feet stay while the dragged joints go far, and these: of a hand the one that goes far."""
    assert frames.before is not None
    heads, turns = forward(frames.skeleton, frames.before)
    feet = [frames.joints[foot] for foot in FEET]
    still = (np.linalg.norm(frames.heads[:, feet] - heads[:, feet], axis=-1) < STAYS).all(axis=1)
    still &= (rotation.angle_between(frames.turns[:, feet], turns[:, feet]) < TURNS).all(axis=1)
    bones = [frames.joints[joint] for joint in DRAGGED[what]]
    ways = np.linalg.norm(frames.heads[:, bones] - heads[:, bones], axis=-1)
    if what == "hand":
        further = np.argmax(ways, axis=1)
        picked = [(still & (further == one) & (ways[:, one] > FAR), (DRAGGED[what][one],)) for one in range(2)]
    else:
        picked = [(still & (ways > FAR).all(axis=1), DRAGGED[what])]
    return [(frames[rows], joints) for rows, joints in picked if rows.any()]


def drag(frames: Frames, joints: tuple[str, ...], root: Any) -> Pose:
    """Return the poses to which the drag brings the body from where the person was."""
    found = [_drag(frames[np.arange(len(frames.heads)) == one], joints, root) for one in range(len(frames.heads))]
    return Pose(*(np.concatenate([getattr(pose, name) for pose in found]) for name in ("rotations", "translations")))


def _drag(frame: Frames, joints: tuple[str, ...], root: Any) -> Pose:
    skeleton, roles, before = frame.skeleton, frame.roles, frame.before
    assert before is not None
    heads, turns = forward(skeleton, before)
    feet = tuple(frame.joints[foot] for foot in FEET)
    masses = masses_of(skeleton, roles)
    beyond = distance_beyond(skeleton, forward_matrices(skeleton, before), masses, feet, np.array(UP))
    radius = max(SUPPORT_RADIUS * skeleton.size, float(beyond[0]))  # a pose that is out of balance may stay so
    goals: list[Any] = [Goal(foot, heads[:, foot], turns[:, foot]) for foot in feet]
    goals += [Goal(frame.joints[joint], frame.heads[:, frame.joints[joint]], priority=1) for joint in joints]
    goals.append(Balance(frame.joints["pelvis"], feet, masses, UP, radius, priority=2))
    method = PinAndDrag(root=root, strength=1.0, reference=before)
    limited, method = with_anatomy(skeleton, method, roles, before, ranges=True)
    return solve(limited, before, goals, method).pose


def away(frames: Frames, pose: Pose) -> np.ndarray:
    """Return the mean distance (n,) of the joints from the person's, in millimetres."""
    bones = list(frames.joints.values())
    return 1e3 * np.linalg.norm(forward(frames.skeleton, pose)[0][:, bones] - frames.heads[:, bones], axis=-1).mean(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--roots", nargs="+", default=["pull"], help="pull, as the tool has it, hold, free")
    parser.add_argument("--stride", type=int, default=STRIDE)
    parser.add_argument("--most", type=int, default=MOST, help="frames of a family")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"Nothing was measured: the motion packs are not in {DATA.name} of the data beside the project.")
        return
    for family, packs in FAMILIES.items():
        parts = [part for pack in packs for part in load(pack, options.stride, ahead=AHEAD)]
        for what in DRAGGED:
            picked = [piece for part in parts for piece in chosen(part, what)]
            total = sum(len(frames.heads) for frames, _ in picked)
            every = max(1, -(-total // options.most))
            picked = _thinned(picked, every)
            moved = np.concatenate([away(frames, frames.before) for frames, _ in picked if frames.before is not None])
            found = {
                root: np.concatenate([away(frames, drag(frames, joints, root)) for frames, joints in picked])
                for root in options.roots
            }
            said = ", ".join(f"{root} {errors.mean():.1f} ({np.median(errors):.1f})" for root, errors in found.items())
            print(f"{family:8} {what:11} {len(moved):4} of {total}; moved {moved.mean():.1f}; {said}", flush=True)


def _thinned(picked: list[tuple[Frames, tuple[str, ...]]], every: int) -> list[tuple[Frames, tuple[str, ...]]]:
    """Return every so manieth frame of all."""
    ends = np.cumsum([0, *(len(frames.heads) for frames, _ in picked)])
    kept = [
        (frames[np.arange(begin, end) % every == 0], joints)
        for (frames, joints), (begin, end) in zip(picked, pairwise(ends), strict=True)
    ]
    return [(frames, joints) for frames, joints in kept if len(frames.heads)]


if __name__ == "__main__":
    main()
