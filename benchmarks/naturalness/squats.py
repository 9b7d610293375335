"""Captured squats beside those that a drag gives: both feet pinned, the hips dragged to where the person has them.

python -m benchmarks.naturalness.squats             a line for each clip: the person -> the drag
python -m benchmarks.naturalness.squats FILE.png    a picture, too; needs matplotlib
"""

import argparse
from pathlib import Path
from typing import Any, Final

import numpy as np

from core import Balance, Goal, PinAndDrag, Pose, forward, solve
from core.body.anatomy import anatomy, with_anatomy, with_root_of
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


def drag(frames: Frames) -> Pose:
    """Return the pose that a drag of the hips gives with the settings that ship, from the relaxed pose."""
    skeleton, roles = frames.skeleton, frames.roles
    start = with_root_of(anatomy(skeleton, roles).reference, skeleton, start_poses(frames, "A"), roles)
    hips, feet = frames.joints["pelvis"], tuple(frames.joints[foot] for foot in FEET)
    goals: list[Any] = [Goal(foot, frames.heads[:, foot], frames.turns[:, foot]) for foot in feet]
    goals.append(Goal(hips, frames.heads[:, hips], priority=1))
    goals.append(Balance(hips, feet, masses_of(skeleton, roles), UP, priority=2))
    method = PinAndDrag(root="pull", strength=1.0, reference=start)
    skeleton, method = with_anatomy(skeleton, method, roles, start, ranges=True)
    return solve(skeleton, start, goals, method).pose


def measure(frames: Frames, pose: Pose) -> dict[str, float]:
    """Return what tells one squat from another: degrees of knees and trunk, millimetres off balance."""
    heads, _ = forward(frames.skeleton, pose)
    at = {joint: heads[0, bone] for joint, bone in frames.joints.items()}
    knees = [_angle(at[f"{side}_knee"] - at[f"{side}_hip"], at[f"{side}_ankle"] - at[f"{side}_knee"]) for side in "lr"]
    feet = tuple(frames.joints[foot] for foot in FEET)
    masses, matrices = masses_of(frames.skeleton, frames.roles), forward_matrices(frames.skeleton, pose)
    beyond = distance_beyond(frames.skeleton, matrices, masses, feet, np.array(UP))[0]
    return {
        "knees": float(np.mean(knees)),
        "trunk": _angle(at["neck"] - at["pelvis"], np.array(UP)),
        "shins": float(np.mean([_angle(at[f"{side}_knee"] - at[f"{side}_ankle"], np.array(UP)) for side in "lr"])),
        "balance": 1e3 * float(beyond),
    }


def _angle(one: Array, other: Array) -> float:
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(one, other)), one @ other)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE.png", help="where to draw them")
    parser.add_argument("--packs", nargs="+", choices=PACKS, default=PACKS)
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"Nothing was measured: the motion packs are not in {DATA.name} of the data beside the project.")
        return
    squats = [squat for pack in options.packs for squat in find_squats(pack)][:CLIPS]
    poses = [drag(squat) for squat in squats]
    titles: list[str] = []
    for squat, pose in zip(squats, poses, strict=True):
        joints = list(squat.joints.values())
        heads = forward(squat.skeleton, pose)[0][0, joints]
        away = 1e3 * float(np.linalg.norm(heads - squat.heads[0, joints], axis=-1).mean())
        true, solved = measure(squat, squat.pose), measure(squat, pose)
        figures = ", ".join(f"{name} {true[name]:.0f} -> {solved[name]:.0f}" for name in true)
        print(f"{squat.clip}: {away:.0f} mm; {figures}")
        titles.append(f"{squat.clip}\n{away:.0f} mm")
    if options.file is not None:
        draw_all(squats, poses, titles, options.file)


def draw_all(squats: list[Frames], poses: list[Pose], titles: list[str], file: Path) -> None:
    """Draw all squats into a PNG, from the front and from the side."""
    figure, axes = report.pyplot().subplots(-(-len(squats) // ACROSS), 2 * ACROSS, figsize=(2.6 * ACROSS, 6.6))
    for panel in axes.flat:
        panel.axis("off")
    for number, (squat, pose, title) in enumerate(zip(squats, poses, titles, strict=True)):
        heads = forward(squat.skeleton, pose)[0][0]
        for view, axis in enumerate((0, 2)):
            panel = axes.flat[2 * number + view]
            draw_figure(panel, squat, squat.heads[0], heads, (*FEET, "pelvis"), axis)
            panel.set_title(title if view == 0 else "", fontsize=7, loc="left")
    figure.tight_layout()
    report.save(figure, file, 90)


if __name__ == "__main__":
    main()
