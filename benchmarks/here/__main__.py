"""What Solve Here costs: its time, what it meets, the starts that it tries, and where the time goes.

    python -m benchmarks.here                        all cases on two rigs, in a Python with bpy
    python -m benchmarks.here --rig rigify --case "near" "three levels" --targets 20
    python -m benchmarks.here --json FILE            the figures as JSON

A body stands at ease, its pins are moved to random places, and the job that the panel's Solve Here makes of its pins is
done, with the settings that ship. Times are those of the processor, of the whole job: reading, solving, writing and
measuring. docs/measured/performance.md says what is found.
"""

import sys
from time import process_time
from typing import Any, Final

import standalone

standalone.enable()

import bpy  # noqa: E402  (Poise has to be enabled before the first import)
import numpy as np  # noqa: E402

import bridge  # noqa: E402
from core import rotation  # noqa: E402
from core.solvers.pins import pipeline  # noqa: E402
from edits.job import perform_job  # noqa: E402
from edits.pin_list import place_pin, set_pins  # noqa: E402
from edits.pins import job_from_pins  # noqa: E402

from .. import report  # noqa: E402
from ..drags.drags import RIGS, open_rig, present  # noqa: E402
from ..drags.play import Rig  # noqa: E402
from .cases import CASES, SEED, Pinned  # noqa: E402

TARGETS: Final = 100
SMOKE_TARGETS: Final = 2
COLUMNS: Final = {  # key of a row -> head of the column, digits
    "ms": ("ms", 1),
    "ms_99": ("99 %", 1),
    "most_ms": ("most", 1),
    "met": ("met %", 1),
    "pins_met": ("pins met %", 1),
    "miss_mm": ("mean miss mm", 2),
}
MEDIAN_MS, MOST_MS = 30.0, 150.0
LEVELS_MS, MOST_LEVELS_MS = 200.0, 500.0

Row = dict[str, Any]


class Timed:
    """Where the time goes: stages of the solver in place of themselves, which count the processor's seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, stage: Any) -> Any:
        def timed(*given: Any, **named: Any) -> Any:
            begin = process_time()
            try:
                return stage(*given, **named)
            finally:
                name = stage.__name__
                self.seconds[name] = self.seconds.get(name, 0.0) + process_time() - begin

        return timed


def aim(rig: Rig, pinned: Pinned, rng: np.random.Generator) -> None:
    """Pin a bone where it is at ease, and move its pin."""
    armature, bone = rig.armature, rig.parts[pinned.role][0]
    name = rig.skeleton.names[bone]
    set_pins(bpy.context, armature, [name], "BOTH")
    pin = armature.poise_pins[name]
    pin.priority = pinned.priority
    way, axis = (some / np.linalg.norm(some) for some in rng.normal(size=(2, 3)))
    turn = rotation.exp(np.radians(rng.uniform(0.0, pinned.turn)) * axis)
    place = rig.heads[bone] + rng.uniform(*pinned.far) * rig.unit * way
    place_pin(armature, pin, place, rotation.mul(turn, rig.turns[bone]))


def play(rig: Rig, case: str, targets: int) -> Row:
    """Solve a case for random targets, each from the same pose."""
    seconds, misses, met, stages = [], [], [], Timed()
    before = pipeline.STAGES
    pipeline.STAGES = tuple(map(stages, before))
    for number in range(targets):
        rng = np.random.default_rng([SEED, list(CASES).index(case), number])
        bridge.write_channels(rig.armature, rig.channels)
        rig.armature.poise_pins.clear()
        for pinned in CASES[case]:
            aim(rig, pinned, rng)
        job = job_from_pins(rig.armature)
        begin = process_time()
        found = perform_job(bpy.context, rig.armature, job)
        seconds.append(process_time() - begin)
        met.append([bool(goal.met.all()) for goal in found.goals])
        errors = [goal.position_error for goal in found.goals if goal.position_error is not None]
        misses.append(10.0 * np.array(errors) / rig.unit)  # mm of a 1.7 m human
    pipeline.STAGES = before
    return {
        "targets": targets,
        "ms": 1e3 * float(np.median(seconds)),
        "ms_99": 1e3 * float(np.quantile(seconds, 0.99)),
        "most_ms": 1e3 * max(seconds),
        "met": 100.0 * float(np.mean(np.all(met, axis=1))),
        "pins_met": 100.0 * float(np.mean(met)),
        "miss_mm": float(np.mean(misses)),
        "misses_mm": np.round(np.array(misses)[..., 0], 3).tolist(),
        "shares": {name: some / sum(seconds) for name, some in stages.seconds.items()},
    }


def print_table(rows: list[Row], out: Any) -> None:
    heads = [head for head, _ in COLUMNS.values()]
    print(f"\n| case | rig | {' | '.join(heads)} | time of the solver's stages |", file=out)
    print(f"| --- | --- |{' --: |' * len(COLUMNS)} --- |", file=out)
    for row in rows:
        cells = [f"{row[key]:.{digits}f}" for key, (_, digits) in COLUMNS.items()]
        shares = ", ".join(f"{name} {100.0 * share:.0f} %" for name, share in row["shares"].items())
        print(f"| {row['case']} | {row['rig']} | {' | '.join(cells)} | {shares} |", file=out)


def bars(rows: list[Row]) -> list[dict[str, Any]]:
    checks: list[dict[str, Any]] = []
    for row in rows:
        some, most = (LEVELS_MS, MOST_LEVELS_MS) if "levels" in row["case"] else (MEDIAN_MS, MOST_MS)
        where = f"{row['case']}, {row['rig']}"
        for key, what, bound in (("ms", "the median", some), ("ms_99", "99 %", most)):
            text = f"{row[key]:.0f} ms, {what} ({where}), at most {bound:g} wanted"
            checks.append(report.bar(text, row[key], row[key] <= bound))
    return checks


def main() -> int:
    parser = report.options("benchmarks.here", __doc__, 1)
    parser.add_argument("--rig", nargs="+", choices=RIGS, default=["rigify", "mixamo"], help=f"of {', '.join(RIGS)}")
    parser.add_argument("--case", nargs="+", choices=CASES, default=list(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--targets", type=int, default=TARGETS, help=f"of each case (default {TARGETS})")
    chosen = parser.parse_args()
    report.rounds_of(parser, chosen, 1)
    out, rows = report.table_goes_to(chosen), list[Row]()
    targets = SMOKE_TARGETS if chosen.smoke else chosen.targets
    for name in present():
        if name not in chosen.rig:
            continue
        rig = Rig(open_rig(name))
        for case in chosen.case:
            rows.append({"case": case, "rig": name, **play(rig, case, targets)})
            print_table(rows[-1:], sys.stderr)
    print_table(rows, out)
    report.finish(chosen, [] if chosen.smoke else bars(rows), out, blender=bpy.app.version_string, rows=rows)
    return 0


if __name__ == "__main__":
    standalone.leave(main())
