"""What a drag does to a body: its time, what moves, what is missed, and whether it comes home; and pictures of it.

    python -m benchmarks.drags                        all drags on all rigs that are here, in a Python with bpy
    python -m benchmarks.drags --rig rigify mixamo --drag "hips up" "head down"
    python -m benchmarks.drags --json FILE            the figures, and stick figures, as JSON
    python -m benchmarks.drags --compare FILE         beside those of another run: before | after
    python -m benchmarks.drags --sheets FOLDER        a picture of each drag, with matplotlib

The session is the drag tool's, its settings those that ship; bodies start at ease, both feet pinned, unless `drags.py`
says otherwise, and the mouse moves a centimetre of a 1.7 m human a tick. docs/measured/drag.md says
what the columns are.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

import standalone

standalone.enable()

import bpy  # noqa: E402  (Poise has to be enabled before the first import)

from .. import report  # noqa: E402
from .drags import DRAGS, RIGS, open_rig, present  # noqa: E402
from .play import Rig, play  # noqa: E402
from .sheets import draw  # noqa: E402

SMOKE_TICKS: Final = 3
COLUMNS: Final = {  # key of a row -> head of the column, digits
    "ms": ("ms", 2),
    "ms_99": ("99 %", 1),
    "steps": ("steps", 0),
    "step_degrees": ("step °", 1),
    "speed_mm": ("speed mm", 0),
    "tilt_degrees": ("tilt °", 1),
    "yaw_degrees": ("yaw °", 1),
    "spine_degrees": ("spine °", 0),
    "neck_degrees": ("neck °", 0),
    "clavicle_degrees": ("clav °", 0),
    "pin_mm": ("pin mm", 2),
    "miss_mm": ("miss mm", 1),
    "over_mm": ("over mm", 1),
    "home_degrees": ("home °", 2),
    "home_rest_degrees": ("then °", 2),
    "rest_degrees": ("rest °", 1),
}

HUMANS: Final = [name for name in RIGS if name != "quadruped"]
EDGE: Final = ("hips up", "hips up and back", "hips aside", "hips forward", "hips back")
IN_REACH: Final = ("hand aside", "hand circle", "squat", "foot lift")
BARS: Final[
    tuple[tuple[str, tuple[str, ...], str, float], ...]
] = (  # the sentence, the drags, the key, the most wanted
    ("ms for a tick within reach, the median", IN_REACH, "ms", 0.5),
    ("ms for a tick anywhere, 99 %", tuple(DRAGS), "ms_99", 4.0),
    ("degrees of tilt, hips up or to the edge", EDGE, "tilt_degrees", 8.0),
    ("degrees of yaw, hips up or to the edge", EDGE, "yaw_degrees", 5.0),
    ("degrees of tilt, one foot pinned", ("hips up, one foot",), "tilt_degrees", 12.0),
    ("degrees of the neck, head down", ("head down",), "neck_degrees", 25.0),
    ("mm that a knee misses in reach", ("knee forward in reach", "knee aside in reach"), "miss_mm", 1.0),
    ("degrees of a joint in a tick", tuple(DRAGS), "step_degrees", 12.0),
    ("degrees from home after coming back", tuple(DRAGS), "home_degrees", 1.0),
    ("ticks of a still mouse until nothing moves", tuple(DRAGS), "rests", 25.0),
    ("degrees by a balance that is met", ("hand, balanced",), "balance_degrees", 0.1),
)

Rows = dict[tuple[str, str], dict[str, Any]]  # by drag and rig


def measure(rigs: list[str], drags: list[str], rounds: int, most: int | None) -> Rows:
    """All drags on all rigs on which they make sense."""
    found: Rows = {}
    for name in rigs:
        rig = Rig(open_rig(name))
        for drag in drags:
            if rig.four and not DRAGS[drag].four:
                continue
            print(f"{name}: {drag}", file=sys.stderr, flush=True)
            found[drag, name] = play(rig, DRAGS[drag], rounds, most)
    return {key: found[key] for key in sorted(found, key=lambda key: (drags.index(key[0]), rigs.index(key[1])))}


def print_table(rows: Rows, before: Rows, out: Any) -> None:
    """Markdown; where there are figures of before, before | after."""
    print(f"\n| drag | rig |{'|'.join(f' {head} ' for head, _ in COLUMNS.values())}|", file=out)
    print(f"| --- | --- |{' --: |' * len(COLUMNS)}", file=out)
    last = ""
    for (drag, name), row in rows.items():
        cells = []
        for key, (_, digits) in COLUMNS.items():
            earlier = before.get((drag, name), {})  # the JSON of an older commit may lack a column
            was = f"{earlier[key]:.{digits}f} → " if key in earlier else ""
            cells.append(f"{was}{row[key]:.{digits}f}")
        print(f"| {drag if drag != last else ''} | {name} | {' | '.join(cells)} |", file=out)
        last = drag


def largest(rows: Rows) -> Rows:
    """The largest figures of each drag on humans."""
    found: Rows = {}
    for drag in dict.fromkeys(drag for drag, _ in rows):
        some = [row for (of, rig), row in rows.items() if of == drag and rig in HUMANS]
        if some:
            found[drag, "largest"] = {key: max(row[key] for row in some) for key in COLUMNS if key in some[0]}
    return found


def bars(rows: Rows) -> list[dict[str, Any]]:
    """The bars for humans, of the drags that were played."""
    checks: list[dict[str, Any]] = []
    for text, drags, key, most in BARS:
        some = [(row[key], f"{drag}, {rig}") for (drag, rig), row in rows.items() if drag in drags and rig in HUMANS]
        if some:
            value, where = max(some)
            checks.append(report.bar(f"{value:.2f} {text} ({where}), at most {most:g} wanted", value, value <= most))
    return checks


def main() -> int:
    parser = report.options("benchmarks.drags", __doc__, 1)
    parser.add_argument("--rig", nargs="+", choices=RIGS, metavar="NAME", help=f"of {', '.join(RIGS)}")
    parser.add_argument("--drag", nargs="+", choices=DRAGS, metavar="NAME", help=f"of {', '.join(DRAGS)}")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="the JSON of another run")
    parser.add_argument(
        "--sheets", type=Path, metavar="FOLDER", help="draw what a person sees; with --compare beside it"
    )
    chosen = parser.parse_args()
    rounds, out = report.rounds_of(parser, chosen, 1), report.table_goes_to(chosen)
    here = present()
    rigs = [name for name in chosen.rig or here if name in here]
    drags: list[str] = chosen.drag or list(DRAGS)
    missing = [name for name in chosen.rig or RIGS if name not in here]
    if missing:
        print(f"Not here: {', '.join(missing)} (../shared/data).", file=out)
    before: Rows = {}
    if chosen.compare is not None:
        before = {(row["drag"], row["rig"]): row for row in json.loads(chosen.compare.read_text())["rows"]}
    rows = measure(rigs[:1] if chosen.smoke else rigs, drags, rounds, SMOKE_TICKS if chosen.smoke else None)
    print_table(rows, before, out)
    print_table(largest(rows), largest(before), out)
    print(file=out)
    if chosen.sheets is not None:
        chosen.sheets.mkdir(parents=True, exist_ok=True)
        for drag in drags:
            ours, theirs = ({rig: row for (of, rig), row in some.items() if of == drag} for some in (rows, before))
            draw(drag, ours, theirs, chosen.sheets / f"{drag.replace(', ', '_').replace(' ', '_')}.png")
    report.finish(
        chosen, [] if chosen.smoke else bars(rows), out, blender=bpy.app.version_string,
        rows=[{"drag": drag, "rig": rig, **row} for (drag, rig), row in rows.items()],
    )  # fmt: skip
    return 0


if __name__ == "__main__":
    standalone.leave(main())
