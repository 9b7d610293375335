"""What Poise can do on which control rig, measured where Blender has the bones: the table of docs/measured/controls.md.

`python -m benchmarks.control_rigs` prints it; `--rig WORDS` takes the rigs with these words in their names. Rigs of
../shared/data are left out where that is not here.
"""

import argparse
from collections.abc import Callable
from typing import Any

import standalone

standalone.enable()

import pytest  # noqa: E402  (Poise has to be enabled before bpy is imported)

from tests.blender.control_drags import NEAR, RIGS, TURNED, WAYS, Shown, bake, drag, solve_here, t_pose  # noqa: E402

HEADER = (
    "rig", "drag: shown off mm", "turned °", "short mm", "pins off mm", "Solve Here mm", "turned °", "bake mm",
    "T-pose °",
)  # fmt: skip
_ARM = 1.0  # degrees: how far an arm of a T-pose may be off
_NONE = "-"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rig", default="", help="part of the names of the rigs that are measured")
    wanted = parser.parse_args().rig
    rows = [row for name in RIGS if wanted in name and (row := measure(name)) is not None]
    print("\n".join(["| " + " | ".join(HEADER) + " |", "| --- |" + " --: |" * (len(HEADER) - 1), *rows]))
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
