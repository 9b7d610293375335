"""`batch`: 500 clips with one process and with two, which have to come to the same.

    python -m benchmarks.batch              in a Python that has bpy; five rounds of 100 clips
    python -m benchmarks.batch --clips N    so many clips in a round
    python -m benchmarks.batch --json FILE  the figures as JSON, too; "-" is standard output
    python -m benchmarks.batch --smoke      two clips, once: that it runs, no figures

The clips are pieces of a captured walk, 24 to 48 frames long, whose feet are locked. Each round does the same clips
with one process and with two, the second round the other way about; the start of the processes counts. Wall time needs
two cores for itself: the processor's time, of both alike, says what else was going on.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

from . import report

ROOT: Final = Path(__file__).resolve().parent.parent
CLIP: Final = ROOT / "tests" / "data" / "motion" / "cmu_07_12.bvh"
VERB: Final = "lock-feet"
SHORTEST, LONGEST, STEP = 24, 48, 6  # frames
CLIPS, SMOKE_CLIPS = 100, 2
ROUNDS: Final = 5
PROCESSES: Final = (1, 2)
BAR: Final = 1.8


def write_clips(folder: Path, count: int) -> None:
    """Pieces of the clip, of all lengths and beginnings in turn; the first frame of the file is its rest pose."""
    head, _, motion = CLIP.read_text(encoding="utf-8").partition("MOTION\n")
    _, step, *rows = motion.splitlines()
    places = [
        (first, length)
        for length in range(SHORTEST, LONGEST + 1, STEP)
        for first in range(1, len(rows) - length)
    ]  # fmt: skip
    for number in range(count):
        first, length = places[number % len(places)]
        lines = [f"{head}MOTION", f"Frames: {length}", step, *rows[first : first + length]]
        (folder / f"clip{number:03}.bvh").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(clips: Path, processes: int) -> dict[str, Any]:
    """Lock the feet of all clips; seconds on the clock and of the processors, and the sum of what came of it."""
    with TemporaryDirectory() as folder:
        summary = Path(folder) / "summary.json"
        command = [
            sys.executable, str(ROOT / "standalone.py"), "batch", "--verb", VERB, "--input", str(clips),
            "--output", str(Path(folder) / "out"), "--jobs", str(processes), "--json", str(summary),
        ]  # fmt: skip
        begin, used = perf_counter(), os.times()
        done = subprocess.run(command, capture_output=True, text=True)
        seconds, now = perf_counter() - begin, os.times()
        if not summary.exists():
            raise RuntimeError(done.stderr)
        data = json.loads(summary.read_text(encoding="utf-8"))
    return {
        "processes": processes,
        "seconds": seconds,
        "processor_seconds": now.children_user + now.children_system - used.children_user - used.children_system,
        "frames": sum(row["frames"] for row in data["files"]),
        "failed": sum(row["digest"] is None for row in data["files"]),
        "digest": data["digest"],
    }


def main() -> int:
    parser = report.options("benchmarks.batch", __doc__, ROUNDS)
    parser.add_argument("--clips", type=int, default=CLIPS, metavar="N", help=f"in a round (default {CLIPS})")
    chosen = parser.parse_args()
    if chosen.clips < 1:
        parser.error("--clips must be at least 1")
    rounds, out = report.rounds_of(parser, chosen, ROUNDS), report.table_goes_to(chosen)
    count = SMOKE_CLIPS if chosen.smoke else chosen.clips
    found: list[list[dict[str, Any]]] = []
    with TemporaryDirectory() as folder:
        write_clips(Path(folder), count)
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            turns = [run(Path(folder), processes) for processes in PROCESSES[:: -1 if number % 2 else 1]]
            found.append(sorted(turns, key=lambda turn: turn["processes"]))
    ratio = statistics.median(one["seconds"] / two["seconds"] for one, two in found)
    print(f"\n{report.machine_line(rounds)}\n", file=out)
    print(f"{count} clips, {found[0][0]['frames']} frames", file=out)
    print(f"  {'processes':12}{'seconds':>10}{'processor':>12}{'clips/s':>10}", file=out)
    for place, processes in enumerate(PROCESSES):
        seconds, used = (
            statistics.median(turns[place][name] for turns in found) for name in ("seconds", "processor_seconds")
        )
        print(f"  {processes:<12}{seconds:10.1f}{used:12.1f}{count / seconds:10.2f}", file=out)
    all_turns = [turn for turns in found for turn in turns]
    same = len({turn["digest"] for turn in all_turns}) == 1 and not any(turn["failed"] for turn in all_turns)
    checks = [{"bar": f"two processes come to {'' if same else 'something else than '}the same", "met": same}]
    if not chosen.smoke:
        text = f"two processes are {ratio:.2f} times as fast as one, at least {BAR:g} wanted"
        checks.append(report.bar(text, ratio, ratio >= BAR))
    report.finish(chosen, checks, out, rounds=rounds, clips=count, turns=all_turns)
    return 0


if __name__ == "__main__":
    sys.exit(main())
