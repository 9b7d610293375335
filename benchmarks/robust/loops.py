"""Captured motions made loops, as Blender shows them: `python -m benchmarks.robust.loops`.

Each clip of the shared data is imported by Blender; the cycle that is found in it is made a loop, and the whole clip.
Distances are those of a human of 1.7 m.

    python -m benchmarks.robust.loops                 all clips, ten minutes
    python -m benchmarks.robust.loops --clips 07_12   some of them
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import standalone
from benchmarks.motion.clips import KINDS
from benchmarks.robust.travel import asked_clips, load_clip, seen_heads

Array = NDArray[np.float64]

COLUMNS: Final = ("frames", "apart cm", "change cm", "seam mm", "accel.", "feet mm")


def main() -> None:
    paths = asked_clips(__doc__ or "")
    standalone.enable()
    rows: dict[tuple[str, bool], list[list[float] | str]] = {}
    for path in paths:
        kind = next((kind for kind, names in KINDS.items() if path.stem.startswith(names)), "other")
        for find in (True, False):
            row = measure(path, find)
            rows.setdefault((kind, find), []).append(row)
            shown = row if isinstance(row, str) else _line(row)
            print(f"{path.stem:32}{'cycle' if find else 'whole':8}{shown}", flush=True)
    print(f"\n{'the most of':40}{'loops':>8}" + "".join(f"{column:>12}" for column in COLUMNS))
    for (kind, find), found in rows.items():
        numbers = [row for row in found if not isinstance(row, str)]
        most = _line(np.max(numbers, axis=0).tolist()) if numbers else ""
        print(f"{kind:32}{'cycle' if find else 'whole':8}{len(numbers):5} of {len(found)}{most}")
    print(
        "apart: ends before; change: of any head, of what is shown; seam: last frame beside the first one a cycle later"
    )
    print("accel.: at the seam, of the largest one in the clip; feet: how far pinned ones are from where they are held")


def measure(path: Path, find: bool) -> list[float] | str:
    """Return the figures of COLUMNS for the cycle in a clip, or the whole of it; a sentence where there is none."""
    import bpy

    from core import CoreError
    from edits.loop import LoopEdit

    armature, frames = load_clip(path, root=False)
    context: Any = bpy.context
    captured = seen_heads(armature, frames)
    try:
        edit = LoopEdit(context, armature, frames, find)
        edit.solve()
        report = edit.write(armature)
    except CoreError as error:
        return str(error)
    first, last = (round(frame) for frame in edit.before.frames[[0, -1]].tolist())
    shown = seen_heads(armature, (first, last))
    world = np.array(armature.matrix_world, float)
    travel = world @ edit.loop.travel @ np.linalg.inv(world)
    human = 1.0 / edit.skeleton.size

    def later(heads: Array) -> Array:
        return heads @ travel[:3, :3].T + travel[:3, 3]

    def far(one: Array, other: Array) -> float:
        return float(np.linalg.norm(one - other, axis=-1).max())

    part = captured[first - frames[0] : last - frames[0] + 1]
    seam = shown[-2] - 2.0 * later(shown[0]) + later(shown[1])
    most = np.linalg.norm(np.diff(captured, 2, axis=0), axis=-1).max()
    feet = max(
        (float(goal.position_error.max()) for goal in report.goals if goal.position_error is not None), default=0.0
    )
    return [
        last - first,
        100.0 * human * far(part[-1], later(part[0])),
        100.0 * human * far(shown, part),
        1e3 * human * far(shown[-1], later(shown[0])),
        float(np.linalg.norm(seam, axis=-1).max() / most),
        1e3 * human * feet,
    ]


def _line(row: list[float]) -> str:
    frames, *others = row
    return f"{frames:12.0f}" + "".join(f"{figure:12.3f}" for figure in others)


if __name__ == "__main__":
    main()
