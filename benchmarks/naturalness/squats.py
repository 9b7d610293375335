"""Captured squats beside those that drags give, from standing on the same feet, both pinned.

The hips are dragged to where the person has them, or straight down to the height at which the person has them.

python -m benchmarks.naturalness.squats             a line for each clip: the person -> Pins, Humanoid; then means
python -m benchmarks.naturalness.squats FILE.png    a picture, too; needs matplotlib
python -m benchmarks.naturalness.squats --down      straight down
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from core import Balance, Goal, Humanoid, PinAndDrag, Pose, forward, rotation, solve
from core.body.anatomy import anatomy, with_anatomy, with_ranges, with_root_of
from core.body.masses import distance_beyond, masses_of
from core.pose import forward_matrices

from .. import report
from .motion import DATA, Array, Frames, load, start_poses
from .worst import draw_figure

PACKS: Final = ("cmu_mb_train", "cmu_daz_train", "cmu_mb_val", "cmu_daz_val")
STRIDE: Final = 3  # frames
LOW: Final = 0.68  # of the hips' height in the clip: a person who is lower squats
FLAT: Final = 0.05  # metres: ankles that are higher above the lowest are not on the ground
CLIPS: Final = 12
ACROSS: Final = 6
UP: Final = (0.0, 1.0, 0.0)
FEET: Final = ("l_ankle", "r_ankle")


def find_squats(pack: str) -> list[Frames]:
    """Return the frame of each clip of a pack in which the person squats lowest with both feet on the ground."""
    found: list[Frames] = []
    for part in load(pack, STRIDE):
        ankles = part.heads[:, [part.joints[foot] for foot in FEET], 1]
        floor = np.percentile(ankles, 5.0)
        hips = part.heads[:, part.joints["pelvis"], 1] - floor
        low = np.where((np.abs(ankles - floor) < FLAT).all(axis=1), hips / np.percentile(hips, 95.0), np.inf)
        if low.min() < LOW:
            found.append(part[np.arange(len(low)) == np.argmin(low)])
    return found


def drag(frames: Frames, down: bool) -> dict[str, Pose]:
    """Return the poses that a drag of the hips gives by both methods with the settings that ship."""
    skeleton, roles = frames.skeleton, frames.roles
    start = with_root_of(anatomy(skeleton, roles).reference, skeleton, start_poses(frames, "A"), roles)
    hips, feet = frames.joints["pelvis"], tuple(frames.joints[foot] for foot in FEET)
    goals: list[Any] = [Goal(foot, frames.heads[:, foot], frames.turns[:, foot]) for foot in feet]
    goals.append(Balance(hips, feet, masses_of(skeleton, roles), UP, priority=2))

    def solved(method: Any, over: Pose, place: Array) -> Pose:
        limited, chosen = skeleton, method
        if isinstance(method, PinAndDrag):
            limited, chosen = with_anatomy(skeleton, replace(method, reference=over), roles, over, ranges=True)
        else:
            limited = with_ranges(skeleton, roles, over)
        return solve(limited, over, [*goals, Goal(hips, place, priority=1)], chosen).pose

    pins = PinAndDrag(root="pull", strength=1.0)
    standing = solved(pins, start, forward(skeleton, start)[0][:, hips])
    place = frames.heads[:, hips]
    if down:
        place = np.where(UP, place, forward(skeleton, standing)[0][:, hips])
    return {"Pins": solved(pins, standing, place), "Humanoid": solved(Humanoid(roles, strength=1.0), standing, place)}


def measure(frames: Frames, pose: Pose) -> dict[str, float]:
    """Return what tells one squat from another, the larger of both legs.

    Degrees of the knees' bend, and of trunk and shins from the vertical; millimetres by which knees are outside the
    lines of their feet, or inside, the hips are behind the middle of the ankles, and the centre of mass is off balance.
    """
    skeleton, up = frames.skeleton, np.array(UP)
    heads, turns = forward(skeleton, pose)
    at = {joint: heads[0, bone] for joint, bone in frames.joints.items()}
    feet = tuple(frames.joints[foot] for foot in FEET)
    knees, shins, outside, lines = [], [], [], []
    for side, sign, foot in zip("lr", (1.0, -1.0), feet, strict=True):
        hip, knee, ankle = (at[f"{side}_{joint}"] for joint in ("hip", "knee", "ankle"))
        lines.append(rotation.rotate(turns[0, foot], [0.0, 1.0, 0.0]) * (1.0 - up))
        lines[-1] /= np.linalg.norm(lines[-1])
        knees.append(_angle(knee - hip, ankle - knee))
        shins.append(_angle(knee - ankle, up))
        outside.append(1e3 * float(sign * np.cross(up, lines[-1]) @ (knee - ankle)))
    middle = heads[0, list(feet)].mean(axis=0)
    masses, matrices = masses_of(skeleton, frames.roles), forward_matrices(skeleton, pose)
    return {
        "knees": max(knees),
        "trunk": _angle(at["neck"] - at["pelvis"], up),
        "shins": max(shins),
        "outside": max(outside, key=abs),
        "back": -1e3 * float((at["pelvis"] - middle) @ np.sum(lines, axis=0) / np.linalg.norm(np.sum(lines, axis=0))),
        "balance": 1e3 * float(distance_beyond(skeleton, matrices, masses, feet, up)[0]),
    }


def _angle(one: Array, other: Array) -> float:
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(one, other)), one @ other)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE.png", help="where to draw them")
    parser.add_argument("--down", action="store_true", help="drag the hips straight down, to the person's height")
    parser.add_argument("--packs", nargs="+", choices=PACKS, default=PACKS)
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"Nothing was measured: the motion packs are not in {DATA.name} of the data beside the project.")
        return
    squats = [squat for pack in options.packs for squat in find_squats(pack)][:CLIPS]
    poses = [drag(squat, options.down) for squat in squats]
    figures: list[dict[str, list[float]]] = []
    for squat, solved in zip(squats, poses, strict=True):
        shown = [measure(squat, pose) for pose in (squat.pose, *solved.values())]
        figures.append({name: [one[name] for one in shown] for name in shown[0]})
        said = (f"{name} {true:.0f} -> {', '.join(f'{one:.0f}' for one in rest)}"
                for name, (true, *rest) in figures[-1].items())  # fmt: skip
        print(f"{squat.clip}: {'; '.join(said)}")
    for name in figures[0] if figures else ():
        true, *rest = np.array([one[name] for one in figures]).T
        off = ", ".join(
            f"{method} {np.median(np.abs(one - true)):.1f}" for method, one in zip(poses[0], rest, strict=True)
        )
        print(f"{name}: {true.min():.0f} to {true.max():.0f}; off by {off}")
    if options.file is not None:
        draw_all(squats, poses, options.file)


def draw_all(squats: list[Frames], poses: list[dict[str, Pose]], file: Path) -> None:
    """Draw all squats into a PNG: one method above the other, from the front and from the side."""
    rows = len(poses[0])
    figure, axes = report.pyplot().subplots(
        rows * -(-len(squats) // ACROSS), 2 * ACROSS, figsize=(2.6 * ACROSS, 3.3 * rows)
    )
    for panel in axes.flat:
        panel.axis("off")
    for number, (squat, solved) in enumerate(zip(squats, poses, strict=True)):
        for order, (method, pose) in enumerate(solved.items()):
            heads, row = forward(squat.skeleton, pose)[0][0], order + rows * (number // ACROSS)
            for view, axis in enumerate((0, 2)):
                panel = axes[row, 2 * (number % ACROSS) + view]
                draw_figure(panel, squat, squat.heads[0], heads, (*FEET, "pelvis"), axis)
                panel.set_title(f"{squat.clip}\n{method}" if view == 0 else "", fontsize=7, loc="left")
    figure.tight_layout()
    report.save(figure, file, 90)


if __name__ == "__main__":
    main()
