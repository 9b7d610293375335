"""Chains whose joints have limits, and targets that they reach within these: `python -m benchmarks.chains.limits`.

The chains of W3, each joint within 60 degrees about all axes, or as hinges within 100 degrees about X and Z by turns.
Targets are the tips of random poses within the limits. Times are of the processor, of a whole `solve`; a target counts
as reached within 1 mm, by `work.errors`. With --three FOLDER, where npm has installed three, its CCD as well.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Final

import numpy as np

from core import Actuation, ContributionCCD, Goal, Pose, Skeleton, rotation, solve
from core.limits import EulerBox
from core.solvers.chain.actuations import AXES

from .with_poise import arm_or_tail, skeleton_of
from .with_three import Three
from .work import SWEEPS, TOLERANCE, Array, Work, chains, errors, tips

BALL, HINGE = np.radians(60.0), np.radians(100.0)
BENT: Final = 0.05  # radians, of hinges at the start
SINGLE: Final = 60  # targets that are solved one by one
ORDER: Final = "ZYX"  # three.js calls it XYZ


def limited(work: Work, hinges: bool) -> tuple[Skeleton, tuple[Actuation, ...], Pose, Work]:
    """Return a chain with limits, its list, the pose that it starts in, and targets within the limits."""
    skeleton, count = skeleton_of(work), len(work.lengths)
    if hinges:
        upper = np.zeros((count, 3))
        upper[np.arange(count), np.arange(count) % 2 * 2] = HINGE
        turns = tuple(Actuation(bone, AXES[place % 2 * 2]) for place, bone in enumerate(skeleton.names[:-1]))
        start = rotation.from_euler(np.where(upper > 0.0, BENT, 0.0), ORDER)
    else:
        upper, turns, start = np.full((count, 3), BALL), arm_or_tail(work), work.start
    box = EulerBox(np.arange(count), [ORDER] * count, -upper, upper)
    angles = np.random.default_rng(5).uniform(-upper, upper, (len(work.targets), count, 3))
    reach = tips(work, rotation.from_euler(angles, ORDER))
    still = Pose(np.concatenate([start, [rotation.IDENTITY]]), np.zeros((count + 1, 3)))
    return replace(skeleton, limits=(box,)), turns, still, replace(work, targets=reach)


def reached(work: Work, rotations: Array) -> float:
    """Return the share of the first targets that own rotations (N, n or more, 4) reach."""
    some = replace(work, targets=work.targets[: len(rotations)])
    return float((errors(some, rotations[:, : len(work.lengths)]) <= TOLERANCE * (1.0 + 1e-6)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--targets", type=int, default=500)
    parser.add_argument("--three", type=Path, help="a folder with three.js")
    options = parser.parse_args()
    print(f"{'':30}{'in one call':>12}{'reached':>9}{'one by one':>12}{'reached':>9}{'plain CCD':>11}{'three.js':>10}")
    for hinges in (False, True):
        for work in chains(options.targets):
            skeleton, turns, start, work = limited(work, hinges)
            tip, method = skeleton.names[-1], ContributionCCD(turns, position_tolerance=TOLERANCE)
            begin = process_time()
            together = solve(skeleton, start, [Goal(tip, work.targets)], method).pose.rotations
            middle = process_time()
            some = work.targets[:SINGLE]
            alone = np.array([solve(skeleton, start, [Goal(tip, one)], method).pose.rotations for one in some])
            spent = (middle - begin) / len(work.targets), (process_time() - middle) / len(some)
            plain = replace(method, passes=0, sweeps=SWEEPS, finish=False)
            ccd = solve(skeleton, start, [Goal(tip, work.targets)], plain).pose.rotations
            three = ""
            if options.three:
                box = skeleton.limits[0]
                assert isinstance(box, EulerBox)
                other = Three(replace(work, start=start.rotations[:-1]), options.three, box.bounds[1])
                other.run()
                three = f"{reached(work, other.answers()):10.1%}"
                other.close()
            name = work.name + (", hinges" if hinges else ", balls")
            print(
                f"{name:30}{1e3 * spent[0]:9.2f} ms{reached(work, together):9.1%}"
                f"{1e3 * spent[1]:9.2f} ms{reached(work, alone):9.1%}{reached(work, ccd):11.1%}{three}",
                flush=True,
            )


if __name__ == "__main__":
    main()
