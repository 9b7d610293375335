"""A picture of the frames that are furthest from the truth, the truth beside them; needs matplotlib."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from core import Pose, forward

from .. import report
from .measure import compare
from .motion import EFFECTORS, Frames

TRUTH, SOLVED, KEPT = "#9aa5b1", "#2563eb", "#c2410c"
_ACROSS: Final = 5
_APART: Final = 12  # frames of a clip nearer than this are one and the same mistake


def draw_worst(parts: Sequence[tuple[Frames, Pose]], case: str, file: Path, count: int = 10) -> list[str]:
    """The worst frames from the front and from the left into a PNG; a line about each: clip, error, what is off."""
    rows = -(-count // _ACROSS)
    figure, axes = report.pyplot().subplots(rows, 2 * _ACROSS, figsize=(2.6 * _ACROSS, 2.7 * rows))
    said: list[str] = []
    for number, (part, pose, place, errors) in enumerate(_worst(parts, case, count)):
        heads = forward(part.skeleton, pose[[place]])[0][0]
        title = f"{number + 1}  {1e3 * errors.mean():.0f} mm"
        for view, axis in enumerate((0, 2)):
            panel = axes.flat[2 * number + view]
            draw_figure(panel, part, part.heads[place], heads, EFFECTORS[case], axis)
            panel.set_title(title if view == 0 else "", fontsize=9, loc="left")
        names = np.array(list(part.joints))[np.argsort(-errors)[:4]]
        said.append(f"{number + 1}: {part.clip} frame {place}, {1e3 * errors.mean():.0f} mm; most {', '.join(names)}")
    figure.tight_layout()
    report.save(figure, file, 110)
    return said


def _worst(parts: Sequence[tuple[Frames, Pose]], case: str, count: int) -> list[tuple[Frames, Pose, int, Any]]:
    """Frames by their mean error, one for each stretch of a clip."""
    every = [(part, pose, place, errors) for part, pose in parts
             for place, errors in enumerate(compare(part, case, pose)["away"])]  # fmt: skip
    every.sort(key=lambda found: -float(found[3].mean()))
    kept: list[tuple[Frames, Pose, int, Any]] = []
    for found in every:
        if all(found[0] is not other[0] or abs(found[2] - other[2]) >= _APART for other in kept):
            kept.append(found)
        if len(kept) == count:
            break
    return kept


def draw_figure(panel: Any, part: Frames, truth: Any, solved: Any, kept: Iterable[str], axis: int) -> None:
    """Draw the true and the solved heads (J, 3) as seen along one of the axes, with the joints that were kept."""
    parents = part.skeleton.parents
    known = set(part.joints.values())
    middle = truth[:, axis].mean()
    for heads, colour, width in ((truth, TRUTH, 3.0), (solved, SOLVED, 1.4)):
        for bone in known:
            above = int(parents[bone])
            while above >= 0 and above not in known:
                above = int(parents[above])
            if above >= 0:
                line = heads[[bone, above]]
                panel.plot(line[:, axis] - middle, line[:, 1], color=colour, linewidth=width, solid_capstyle="round")
    for joint in kept:
        place = truth[part.joints[joint]]
        panel.plot(place[axis] - middle, place[1], "o", color=KEPT, markersize=3)
    panel.set_aspect("equal")
    panel.axis("off")
