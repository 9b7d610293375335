"""Ctrl-C in every verb that takes more than a second: `python -m benchmarks.robust.stops`.

A walk of `FRAMES` frames is on a rig of 55 bones. Each verb runs once to its end, from where Blender opens the file,
and then gets the signal at `MOMENTS` of that time, in a process of its own. It has to end with 130 and one line after
those on its progress, and to leave no file; or, where the signal came too late, as without it.
"""

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Final

import standalone
from benchmarks.bake import ROOT, walker
from benchmarks.robust.numbers import CLIP, GOAL

FRAMES: Final = 120
MOMENTS: Final = (0.1, 0.4, 0.7)  # of the time of the verb
SHORT: Final = 1.0  # seconds
VERBS: Final = {
    "lock-feet": (),
    "reduce-keys": ("--frames", "1", "60"),
    "bake": ("--visual",),
    "edit-path": ("--bend", "10"),
    "root-motion": ("--to", "object"),
    "make-loop": (),
    "smooth": (),
    "fix-ground": ("--height", "0.05"),
    "retarget": ("--motion", str(CLIP)),
    "generate": ("--recipe", "wave.json", "--tolerance", "0.005"),
    "keypoints": ("--input", "docs/examples/walk_keypoints.jsonl"),
    "body": ("--tool", "feet", "--frames", "1", "100"),
    "learn": ("--what", "limits", "--file", "{out}/learned.json"),
    "solve": ("--job", "{in}/job.json"),
    "export-vrma": ("--file", "{out}/o.vrma"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--verbs", nargs="+", choices=tuple(VERBS), default=list(VERBS))
    options = parser.parse_args()
    standalone.enable()
    import bpy

    wrong = 0
    with TemporaryDirectory() as given, TemporaryDirectory() as made:
        walker(FRAMES)
        bpy.ops.wm.save_as_mainfile(filepath=f"{given}/walk.blend")
        Path(given, "job.json").write_text(json.dumps({"version": 1, "goals": [GOAL], "frames": [1, 100]}))
        for verb in options.verbs:
            words = [word.format(**{"in": given, "out": made}) for word in (verb, *VERBS[verb])]
            place = [] if verb == "export-vrma" else ["--output", f"{made}/o.blend"]
            argv = [*words, "--blend", f"{given}/walk.blend", *place]
            whole, code, _ = run(argv, None)
            for path in Path(made).iterdir():
                path.unlink()
            print(f"{verb:14}{whole:6.1f} s, exit {code}", end="", flush=True)
            for moment in MOMENTS if whole > SHORT else ():
                _, now, said = run(argv, moment * whole)
                left = [path.name for path in Path(made).iterdir()]
                lines = [line for line in said.splitlines() if not line.startswith("Working for ")]
                stopped = (now, lines, left) == (130, ["Stopped."], [])
                done = now == code and len(left) == 1
                wrong += not (stopped or done)
                word = "stopped" if stopped else "done" if done else f"exit {now}, {left}, {said!r}"
                print(f"; {word}", end="", flush=True)
            print(flush=True)
    return bool(wrong)


def run(argv: Sequence[str], wait: float | None) -> tuple[float, int, str]:
    """Return the seconds from the opened file on, the exit code, and what is said; `wait`: seconds until Ctrl-C."""
    command = [sys.executable, "standalone.py", *argv]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "Read blend" in line:
                break
        begin = perf_counter()
        if wait is not None:
            sleep(wait)
            process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=600)
    return perf_counter() - begin, process.returncode, said


if __name__ == "__main__":
    sys.exit(main())
