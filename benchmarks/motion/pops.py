"""Pops and accents: frames that are put into captured clips, whether Smooth Motion mends them, and what else it takes.

Joints are turned away for one frame or two, as trackers lose them, by 40 to 90 degrees about any axis: what was there
is the truth. What *Smooth Motion* with *Pops* as it ships and without *Cutoff* makes of that is compared with it, by
quaternions alone. In the clip as it was captured, all that is changed counts as taken for a pop: accents such as kicks,
and frames that stick out of the capture itself.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.editing.smoothing import smooth_motion
from core.motion import Motion
from core.pose import Pose

from .clips import Clip

Array = NDArray[np.float64]

EVERY: Final = 10  # frames from one pop to the next
LEAST, MOST = 40.0, 90.0  # degrees
LONGEST: Final = 2  # frames
MENDED: Final = 10.0  # degrees beside the truth, at most
CHANGED: Final = 0.01  # degrees
SEED: Final = 11


def measure(clip: Clip) -> dict[str, Any]:
    """Counts of pops and of those mended, by frames that they last; of turns, and of those taken for pops."""
    truth = clip.motion.pose.rotations
    rng = np.random.default_rng(SEED)
    spoilt, pops = truth.copy(), list[tuple[int, int, int]]()
    moving = np.flatnonzero(degrees_between(truth[1:], truth[:-1]).max(axis=0) > CHANGED)
    for frame in range(EVERY, len(truth) - EVERY, EVERY):
        bone, last = int(rng.choice(moving)), int(rng.integers(1, LONGEST + 1))
        axis, half = rng.normal(size=3), 0.5 * np.radians(rng.uniform(LEAST, MOST))
        away = np.array([np.cos(half), *(np.sin(half) * axis / np.linalg.norm(axis))])
        pops.append((frame, bone, last))
        for at in range(frame, frame + last):
            spoilt[at, bone] = turned(truth[at, bone], away)
    mended = without_pops(clip, spoilt)
    row: dict[str, Any] = {"frames": len(truth)}
    for last in range(1, LONGEST + 1):
        off = [
            degrees_between(mended[at : at + last, bone], truth[at : at + last, bone]).max()
            for at, bone, long in pops
            if long == last
        ]
        row |= {f"pops of {last}": len(off), f"mended of {last}": int((np.array(off) < MENDED).sum())}
    changed = degrees_between(without_pops(clip, truth), truth)[:, moving]
    return row | {"turns": changed.size, "taken": int((changed > CHANGED).sum()), "most": float(changed.max())}


def without_pops(clip: Clip, rotations: Array) -> Array:
    """Return the rotations (F, J, 4) that are left of a clip that has these, where only pops are replaced."""
    motion = Motion(Pose(rotations, clip.motion.pose.translations), clip.motion.frames, clip.motion.fps)
    return smooth_motion(clip.skeleton, motion, np.arange(rotations.shape[1]), np.inf).pose.rotations


def turned(one: Array, other: Array) -> Array:
    """Return the product of two quaternions (4,)."""
    w, v, x, u = one[0], one[1:], other[0], other[1:]
    return np.array([w * x - v @ u, *(w * u + x * v + np.cross(v, u))])


def degrees_between(one: Array, other: Array) -> Array:
    """Return the angles (...) between unit quaternions (..., 4), of which one and its negative are the same turn."""
    return np.degrees(2.0 * np.arccos(np.minimum(np.abs((one * other).sum(axis=-1)), 1.0)))


def table(rows: list[dict[str, Any]]) -> str:
    """The counts of all clips of a kind."""
    lines = [f"{'pops':12}{'clips':>7}{'one frame':>16}{'two frames':>16}{'taken of 10,000':>18}{'degrees':>9}"]
    kinds = dict.fromkeys(row["kind"] for row in rows)
    for kind in (*kinds, "all"):
        some = [row for row in rows if kind in ("all", row["kind"])]
        total = {key: sum(row[key] for row in some) for key in some[0] if isinstance(some[0][key], int)}
        mended = "".join(
            f"{total[f'mended of {last}']:>7} of {total[f'pops of {last}']:<5}" for last in range(1, LONGEST + 1)
        )
        taken = 1e4 * total["taken"] / total["turns"]
        lines.append(f"{kind:12}{len(some):7}{mended}{taken:18.2f}{max(row['most'] for row in some):9.0f}")
    return "\n".join(lines)
