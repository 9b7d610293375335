"""Keys that are left out, and how far off the body is for it."""

from time import perf_counter
from typing import Any, Final

import numpy as np

from core.body import find_roles
from core.editing.reduction import reduce_keys

from .clips import Clip

TOLERANCES: Final = (5, 2)  # millimetres
WATCHED: Final = ("hips", "head", "hand.L", "hand.R", "foot.L", "foot.R")


def measure(clip: Clip) -> dict[str, Any]:
    roles = find_roles(clip.skeleton)
    bones = [bone for role in WATCHED if isinstance(bone := roles.bones[role], int)]
    figures: dict[str, Any] = {"frames": len(clip.motion)}
    for tolerance in TOLERANCES:
        begin = perf_counter()
        found = reduce_keys(clip.skeleton, clip.motion, bones, 1e-3 * tolerance)
        figures[f"{tolerance} mm"] = {
            "kept": found.kept,
            "before": found.before,
            "error_mm": 1e3 * found.error,
            "seconds": perf_counter() - begin,
        }
    return figures


def table(figures: list[dict[str, Any]]) -> str:
    lines = ["", "Keys that are kept so that hips, head, hands and feet stay within a tolerance, and the largest error"]
    lines.append(f"{'':10}{'clips':>8}{'frames':>8}" + "".join(f"{f'{t} mm':>10}{'error':>12}" for t in TOLERANCES))
    for kind in sorted({row["kind"] for row in figures}):
        rows = [row for row in figures if row["kind"] == kind]
        line = f"{kind:10}{len(rows):8}{sum(row['frames'] for row in rows):8}"
        for tolerance in TOLERANCES:
            parts = [row[f"{tolerance} mm"] for row in rows]
            kept, before = (np.sum([part[key] for part in parts]) for key in ("kept", "before"))
            line += f"{kept / before:10.1%}{max(part['error_mm'] for part in parts):9.2f} mm"
        lines.append(line)
    return "\n".join(lines)
