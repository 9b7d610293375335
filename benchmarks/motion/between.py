"""In-betweens of held-back frames: how far they are from the captured ones, beside Blender's own interpolation.

Ours is the motion of the curves that are keyed, with breakdowns in a tenth of the frames between; beside it is what is
solved, with keys in every frame. Keys are 5, 15 or 30 frames apart: two of them, two with ten captured frames before,
and all along a clip. The constants of `core/editing/in_between.py` were chosen on the subjects TUNED; the others are
what counts.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from core import Motion, forward, rotation
from core.body import find_roles
from core.editing.breakdowns import find_breakdowns
from core.editing.contacts import find_contacts, foot_points, point_positions
from core.editing.floor import floor_pins
from core.editing.foot_lock import foot_lock_settings
from core.editing.in_between import fill_between
from core.editing.reduction import channels_of
from core.editing.timed_pins import pin_motion
from core.rotation import Array, lengths
from core.skeleton import Indices

from .clips import Clip
from .feet import PLAIN_HEIGHT, SKATING

try:
    from .with_blender import interpolate
except ModuleNotFoundError:  # without Blender there is nothing to compare with
    interpolate = None

APART: Final = (5, 15, 30)  # frames
BEFORE: Final = {"two": 0, "ten before": 10, "all along": None}  # captured frames before the first of two keys
WINDOWS: Final = 2  # of a clip at most
LONGEST: Final = 150  # frames of a clip with keys all along
TUNED: Final = tuple(f"cmu_{subject}_" for subject in ("01", "03", "05", "06", "07", "08", "10"))
SHARE, TOLERANCE = 10.0, 0.005  # percent of the frames, and metres: as *Fill In-Betweens* has them
COLUMNS: Final = ("L2P mm", "L2Q", "skate", "low")


def measure(clip: Clip) -> dict[str, Any]:
    skeleton = clip.skeleton
    roles = find_roles(skeleton)
    points = foot_points(skeleton, roles)
    found = find_contacts(skeleton, clip.motion, points)
    figures: dict[str, Any] = {"tuned": clip.name.startswith(TUNED)}
    for case, before in BEFORE.items():
        for apart in APART:
            for motion, keys in _windows(clip.motion, apart, before):
                first = int(motion.frames[0] - clip.motion.frames[0])
                touching = found.touching[first : first + len(motion)]
                filled = fill_between(skeleton, motion, keys, roles)
                results = {"captured": motion, "smooth": filled.motion, "ours": filled.motion}
                limited, method = foot_lock_settings(skeleton, filled.motion, roles)
                held = pin_motion(limited, filled.motion, filled.pins, method, only=filled.between).motion
                assert filled.floor is not None
                raised = floor_pins(skeleton, held, roles, filled.floor)
                solved = pin_motion(limited, held, raised, method, only=filled.between).motion
                results |= {"ours": _with_breakdowns(clip, solved, keys, filled.between), "every frame": solved}
                if interpolate is not None:
                    results["Blender"] = interpolate(motion, keys)
                for name, result in results.items():
                    far = _distances(clip, motion, result, filled.between)
                    places = point_positions(skeleton, result.pose, points)
                    slides = _slides(places, touching, found.ground.heights(places), filled.between, points, motion.fps)
                    figures.setdefault(f"{case}, {apart}: {name}", []).append([*far, *slides])
    return figures


def _windows(motion: Motion, apart: int, before: int | None) -> Iterator[tuple[Motion, Indices]]:
    """Parts of a clip with the indices of their keys."""
    last = len(motion) - 1
    if before is None:
        count = min(last, LONGEST) // apart * apart
        if count >= apart:
            yield _part(motion, 0, count), np.arange(0, count + 1, apart)
        return
    room = last - before - apart
    if room >= 0:
        for first in np.unique(np.linspace(0, room, min(WINDOWS, 1 + room // apart)).astype(int)).tolist():
            yield _part(motion, first, first + before + apart), np.append(np.arange(before + 1), before + apart)


def _with_breakdowns(clip: Clip, motion: Motion, keys: Indices, between: Any) -> Motion:
    """The motion as the curves through its keys and breakdowns make it."""
    channels = channels_of(clip.skeleton, motion)
    most = max(1, int(0.01 * SHARE * between.sum()))
    found = find_breakdowns(clip.skeleton, motion, channels, keys, most, TOLERANCE)
    rotations, translations = motion.pose.rotations.copy(), motion.pose.translations.copy()
    for one in found.bones:
        values = one.keys.evaluate(motion.frames)
        rotations[:, one.bone] = rotation.normalize(values[:, :4])
        if one.located:
            translations[:, one.bone] = values[:, 4:]
    return replace(motion, pose=replace(motion.pose, rotations=rotations, translations=translations))


def _part(motion: Motion, first: int, last: int) -> Motion:
    return Motion(motion.pose[first : last + 1], motion.frames[first : last + 1], motion.fps)


def _distances(clip: Clip, truth: Motion, result: Motion, between: Any) -> tuple[float, float]:
    """Mean distances of joints, in metres, and of their unit quaternions in the world (Harvey et al. 2020)."""
    (heads, turns), (other, turned) = (forward(clip.skeleton, one.pose) for one in (truth, result))
    angles = rotation.angle_between(turns, turned)[between]
    return float(lengths(heads - other)[between].mean()), float((2.0 * np.sin(0.25 * angles)).mean())


def _slides(places: Array, touching: Any, heights: Array, between: Any, points: Any, fps: float) -> list[int]:
    """Steps over SKATING of heels and balls that touch in the captured motion, and all of these; then of low balls."""
    fast = lengths(np.diff(places, axis=0)[..., :2]) * fps > SKATING
    inside = (between[1:] | between[:-1])[:, None]
    bears = touching[1:] & touching[:-1] & inside & [point.name.startswith(("heel", "ball")) for point in points]
    low = (heights[1:] < PLAIN_HEIGHT) & inside & [point.name.startswith("ball") for point in points]
    return [int(part.sum()) for part in (fast & bears, bears, fast & low, low)]


def table(figures: list[dict[str, Any]]) -> str:
    lines = [
        "",
        "In-betweens: L2P (mean distance of joints), L2Q (of unit quaternions), share of steps over 0.5 m/s of",
    ]
    lines.append("heels and balls that bear in the captured motion (skate), and of balls under 5 cm (low)")
    cases = list(dict.fromkeys(name for row in figures for name in row if ":" in name))
    for group, tuned in (("held back", False), ("tuned on", True)):
        chosen = [row for row in figures if row["tuned"] == tuned]
        if not chosen:
            continue
        lines.append(f"{f'{group}, {len(chosen)} clips':32}{'windows':>9}" + "".join(f"{c:>10}" for c in COLUMNS))
        for case in cases:
            rows = np.array([one for row in chosen for one in row.get(case, ())], float)
            if not len(rows):
                continue
            far, turned, fast, bears, quick, low = rows.sum(axis=0)
            shares = f"{1e3 * far / len(rows):10.1f}{turned / len(rows):10.3f}"
            lines.append(f"{case:32}{len(rows):9}{shares}{fast / max(bears, 1):10.1%}{quick / max(low, 1):10.1%}")
    return "\n".join(lines)
