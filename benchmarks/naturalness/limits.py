"""What the limits of a body admit of recorded motion: `python -m benchmarks.naturalness.limits [--stride N]`.

Prints a table, Markdown: joints, the ranges of their angles in degrees, and the share of frames, of both sides and all
families, in which all angles of the joint are inside; on the training motion, which the ranges were chosen on, and on
the validation motion. The last column is the share of frames that are left out, since they are no motion of a body:

- where a joint of FAULTY is turned by more than FAULT from the T-pose: some takes have a head or a foot the wrong way
  round.
- feet of takes in which one of them is bent upward by more than MARKERS: no ankle bends that far, so the markers of the
  foot were lost or misplaced. In the takes of CMU's subject 5, most of these, toes point at the sky by up to 93
  degrees while the shin is upright, and the median of a whole take is 10 to 20 degrees further than everybody else's.
"""

import argparse
from collections import defaultdict
from typing import Any, Final

import numpy as np

from core import Skeleton, rotation
from core.body.anatomy import Anatomy, anatomy
from core.body.joint_limits import HINGES, RANGES
from core.limits import excess

from .measure import FAULT, FAULTY
from .motion import DATA, Frames, load

PACKS: Final = {"training": ("cmu_mb_train", "cmu_daz_train"), "validation": ("cmu_mb_val", "cmu_daz_val")}
MARKERS: Final = np.radians(60.0)  # half as far again as people squat
SLACK: Final = np.radians(0.01)  # what the packs' rotations are rounded to
STRIDE: Final = 3
HEAD: Final = ("joint", "zero at", "x", "y", "z", "training", "validation", "left out")


def count(packs: tuple[str, ...], stride: int) -> dict[str, Any]:
    """Part of the body -> how many of its rotations are real, are real and inside its limits, are faults (3,)."""
    found: defaultdict[str, Any] = defaultdict(lambda: np.zeros(3, int))
    bodies: dict[Skeleton, Anatomy] = {}
    for frames in (frames for pack in packs for frames in load(pack, stride)):
        if frames.skeleton not in bodies:
            bodies[frames.skeleton] = anatomy(frames.skeleton, frames.roles)
        known, parts = bodies[frames.skeleton], _parts(frames)
        for group in (*known.limits, *known.ranges):
            own = frames.pose.rotations[:, group.bones]
            angles = group.coordinates(rotation.to_matrix(own))
            inside = np.all(np.abs(excess(group, angles)) <= SLACK, axis=-1)
            far = rotation.angle_between(own, known.canonical[group.bones]) > FAULT
            feet = np.array([parts[bone] == "foot" for bone in group.bones.tolist()])
            far |= feet & np.any(feet & (angles[..., 0] < -MARKERS))
            for column, bone in enumerate(group.bones.tolist()):
                real = ~far[:, column] | (parts[bone] not in FAULTY)
                found[parts[bone]] += [np.sum(real), np.sum(real & inside[:, column]), np.sum(~real)]
    return found


def _parts(frames: Frames) -> dict[int, str]:
    """Bone -> the part that it plays, without its side."""
    chains = {role: (found,) if isinstance(found, int) else found for role, found in frames.roles.bones.items()}
    return {bone: role.partition(".")[0] for role, chain in chains.items() for bone in chain}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stride", type=int, default=STRIDE, help=f"every N-th frame (default {STRIDE})", metavar="N")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"Nothing was measured: the motion packs are not in {DATA.name} of the data beside the project.")
        return
    counts = {name: count(packs, options.stride) for name, packs in PACKS.items()}
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}")
    table = {part: ((0.0, 0.0, 0.0), lower, upper) for part, (_, lower, upper) in HINGES.items()} | RANGES
    for part, (zero, lower, upper) in table.items():
        ends = [f"{low:g} to {high:g}" if np.isfinite(low) else "free" for low, high in zip(lower, upper, strict=True)]
        shares = [f"{found[part][1] / max(found[part][0], 1):.1%}" for found in counts.values()]
        left_out = sum(found[part][2] for found in counts.values()) / sum(
            sum(found[part][::2]) for found in counts.values()
        )
        middle = ", ".join(f"{angle:g}" for angle in zero) if any(zero) else "T-pose"
        print(
            f"| {' | '.join([part.replace('_', ' '), middle, *ends, *shares, f'{left_out:.1%}' if left_out else ''])} |"
        )


if __name__ == "__main__":
    main()
