"""The contact sheets of the two motions that ship: `python docs/examples/motions.py` in an environment with bpy and
matplotlib makes docs/images/motion_presets.png."""

import sys
from pathlib import Path
from typing import Any, Final

import matplotlib  # pyright: ignore[reportMissingImports]
import numpy as np

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import standalone  # noqa: E402  (found by the line above)

standalone.enable()

from tests.blender.rigs import context, load  # noqa: E402  (Poise has to be enabled before the first import of bpy)

RIG: Final = ROOT / "tests" / "data" / "rigs" / "named_mixamo_cm.blend"
SHEET: Final = ROOT / "docs" / "images" / "motion_presets.png"
COLUMNS: Final = 12
ACROSS: Final = {"wave": 0, "jump": 1}  # the axis that a preset is seen along the other one of
COLOURS: Final = {"L": "#ee5d3f", "R": "#5878b4", "": "#262a38"}


def main() -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pyright: ignore[reportMissingImports]

    from core.formats.recipe import read_recipe
    from edits.generate import Generated

    figure, axes = pyplot.subplots(len(ACROSS), COLUMNS, figsize=(COLUMNS * 1.1, 5.2), squeeze=False)
    for row, (name, across) in zip(axes, ACROSS.items(), strict=True):
        rig = load(RIG)[0]
        edit = Generated(context, rig, read_recipe(Path(name)), 1)
        edit.solve()
        edit.write(rig)
        frames = np.linspace(1, edit.before.frames[-1], COLUMNS).round().astype(int)
        sticks = np.array([bones(rig, frame) for frame in frames.tolist()])
        middle = np.median(sticks[..., across])
        for cell, frame, body in zip(row, frames, sticks, strict=True):
            for stick, bone in zip(body, rig.pose.bones, strict=True):
                side = next((letter for letter, word in (("L", "Left"), ("R", "Right")) if word in bone.name), "")
                cell.plot(stick[:, across], stick[:, 2], color=COLOURS[side], linewidth=2.0, solid_capstyle="round")
            cell.axhline(0.0, color="#d3ccbe", linewidth=1.0, zorder=0)
            cell.set(aspect="equal", xlim=(middle - 0.75, middle + 0.75), ylim=(-0.1, 2.35))
            cell.set_title(f"{frame}", fontsize=8)
            cell.axis("off")
    figure.tight_layout(pad=0.3)
    figure.savefig(SHEET, dpi=80)


def bones(rig: Any, frame: int) -> np.ndarray:
    """Heads and tails (J, 2, 3) in the world."""
    context.scene.frame_set(frame)
    return np.array([[rig.matrix_world @ bone.head, rig.matrix_world @ bone.tail] for bone in rig.pose.bones])


if __name__ == "__main__":
    main()
    standalone.leave(0)
