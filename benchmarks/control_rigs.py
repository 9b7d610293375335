"""What Poise can do on which control rig, measured where Blender has the bones: the table of docs/measured/controls.md.

`python -m benchmarks.control_rigs` prints it, and a second one by what rigs have; `--rig WORDS` takes the rigs with
these words in their names, `--feature WORDS` the features. Rigs of ../shared/data are left out where that is not here.
"""

import argparse
from collections.abc import Callable
from typing import Any

import standalone

standalone.enable()

import pytest  # noqa: E402  (Poise has to be enabled before bpy is imported)

from tests.blender.control_drags import (  # noqa: E402
    NEAR,
    RIGS,
    TURNED,
    WAYS,
    Shown,
    bake,
    drag,
    drag_bone,
    pin_feet,
    solve_here,
    t_pose,
)

from .control_features import FEATURES  # noqa: E402

HEADER = (
    "rig", "drag: shown off mm", "turned °", "short mm", "pins off mm", "Solve Here mm", "turned °", "bake mm",
    "T-pose °",
)  # fmt: skip
OF_FEATURES = "what a rig has", "what Poise does", "shown off mm", "rotated °", "short mm", "pins off mm"
_HEAD = 0.1, -0.15, -0.05  # where the head is dragged to, metres of a human of 1.7 m
_ARM = 1.0  # degrees: how far an arm of a T-pose may be off
_NONE = "-"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rig", default="", help="part of the names of the rigs that are measured")
    parser.add_argument("--feature", default="", help="part of the names of the features that are measured")
    wanted = parser.parse_args()
    rows = [row for name in RIGS if wanted.rig in name and (row := measure(name)) is not None]
    print("\n".join(["| " + " | ".join(HEADER) + " |", "| --- |" + " --: |" * (len(HEADER) - 1), *rows]))
    rows = [measure_feature(name) for name in FEATURES if wanted.feature in name]
    print("\n".join(["", f"| {' | '.join(OF_FEATURES)} |", "| --- | --- |" + " --: |" * (len(OF_FEATURES) - 2), *rows]))
    print(f"\nBold: off by more than {1e3 * NEAR:.0f} mm or {TURNED} degrees (T-pose {_ARM:.0f} degree).")


def measure(name: str) -> str | None:
    """Return the row of a rig, or None if it is not here."""
    try:
        drags, solved = ([act(*RIGS[name](), role) for role in WAYS] for act in (drag, solve_here))
    except pytest.skip.Exception:
        return None
    cells = [
        *_most(drags, ("off", "turned", "short", "pins")), *_most(solved, ("off", "turned")),
        _cell(1e3 * _tried(bake, *RIGS[name]()), 1e3 * NEAR), _cell(_tried(t_pose, RIGS[name]()[0]), _ARM),
    ]  # fmt: skip
    return f"| {name} | " + " | ".join(cells) + " |"


def measure_feature(name: str) -> str:
    """Return the row of a feature: the most that drags of hips, a hand, a foot, and a head on a neck are off by."""
    does, make = FEATURES[name]
    found = [drag(*make(), role) for role in ("hips", "hand.L", "foot.R")]
    rig, parts = make()
    if "head" in parts:
        pin_feet(rig, parts, "head")
        found.append(drag_bone(rig, parts["head"], _HEAD))
    return f"| {name} | {does} | " + " | ".join(_most(found, ("off", "turned", "short", "pins"))) + " |"


def _most(shown: list[Shown], fields: tuple[str, ...]) -> list[str]:
    """Return the largest of each field, in millimetres or degrees."""
    scales = [1.0 if field == "turned" else 1e3 for field in fields]
    bounds = [TURNED if field == "turned" else 1e3 * NEAR for field in fields]
    most = [scale * max(getattr(one, field) for one in shown) for field, scale in zip(fields, scales, strict=True)]
    return [_cell(value, bound) for value, bound in zip(most, bounds, strict=True)]


def _tried(act: Callable[..., float], *given: Any) -> float:
    """Return what an act measures; NaN where Poise refuses it."""
    try:
        return act(*given)
    except (RuntimeError, KeyError):
        return float("nan")


def _cell(value: float, bound: float) -> str:
    if value != value:
        return _NONE
    text = f"{value:.2f}"
    return f"**{text}**" if value > bound else text


if __name__ == "__main__":
    main()
    standalone.leave(0)
