"""`batch-worker`: the processes of `batch`, which do one file for each line of their standard input.

Beside each OUTPUT.blend goes OUTPUT.blend.json, the record: the report of the verb with a field "batch". That has
checksums of all that the file was made of ("key"), of the file ("output"), of the file that it replaced ("before"), and
of its motion and report ("digest"), and the exit code ("code").
"""

import hashlib
import io
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError
from ..edits.files import write_files
from ..edits.processes import MARK, WORKER, Answer
from .verbs import DONE, FAULT, REFUSED, UNMET, one_line

PART: Final = ".batch."  # begins the names of files that are not in their places yet
MADE: Final = '"batch": {"key": "'  # in the text of a record, even if the rest is lost
TIMES: Final = ("seconds", "frames_per_second", "batch")  # fields of a report that differ from run to run

Run = Callable[[list[str]], int]


def add_worker(verbs: Any, run: Run) -> None:
    """Add the verb; `run` runs the command line of another verb."""
    parser = verbs.add_parser(WORKER)
    parser.set_defaults(verb=partial(_serve, run), check=None)


def _serve(run: Run, arguments: object) -> int:
    for line in sys.stdin:
        answer = do_task(run, json.loads(line))
        # the empty line ends what Blender may have begun to print
        sys.stdout.write(f"\n{MARK}{one_line(answer)}")
        sys.stdout.flush()
    return DONE


def do_task(run: Run, task: Mapping[str, Any]) -> Answer:
    """Run the verb, put its output and the record in their places, and return the answer."""
    begin = perf_counter()
    output, record = Path(task["output"]), record_of(Path(task["output"]))
    part = output.with_name(f"{PART}{uuid4().hex}.blend")  # in the same folder: a .blend file has relative paths
    said = io.StringIO()
    try:
        stamps = [_stamp(path) for path in task["sources"]]
        for path, sum in task["sources"].items():
            if sum_of(Path(path).read_bytes()) != sum:
                raise CoreError(f'"{path}" was changed after the batch started. Start the batch again.')
        with redirect_stderr(said):
            code = run([*task["arguments"], "--output", str(part), "--report", str(record_of(part)), "--verbose"])
        if code not in (DONE, UNMET):
            reason = _reason(said.getvalue()).replace(str(part), str(output))
            return {"code": code, "said": reason, "spent": perf_counter() - begin}
        for path, stamp in zip(task["sources"], stamps, strict=True):
            if _stamp(path) != stamp:  # and perhaps changed back
                raise CoreError(f'"{path}" was changed while it was read. Start the batch again.')
        report = json.loads(record_of(part).read_text(encoding="utf-8"))
        made = {
            "key": task["key"],
            "code": code,
            "output": sum_of(part.read_bytes()),
            "before": sum_of(output.read_bytes()) if output.exists() else None,
            "digest": digest(report),
        }
        write_files(None, {record: one_line(report | {"batch": made})})
        part.replace(output)
    except (OSError, CoreError) as error:
        return {"code": REFUSED, "said": str(error), "spent": perf_counter() - begin}
    finally:
        for left in (part, record_of(part)):
            left.unlink(missing_ok=True)
    return {**answer_of(report | {"batch": made}), "spent": perf_counter() - begin}


def _stamp(path: str) -> tuple[int, ...]:
    """Return numbers that change when a file is written or replaced."""
    now = os.stat(path)
    return now.st_ino, now.st_size, now.st_mtime_ns


def _reason(said: str) -> str:
    """Return why it failed: the last line, or for a fault of Poise the traceback."""
    before, _, last = said.strip().rpartition("\n")
    return before.strip() if last.startswith(FAULT) else last


def record_of(output: Path) -> Path:
    return output.with_name(f"{output.name}.json")


def answer_of(report: Mapping[str, Any]) -> Answer:
    """Return the answer for a file that is done."""
    first, last = report["frames"]
    missed = report.get("explanations", ()) if report["batch"]["code"] == UNMET else ()
    said = "; ".join([*missed, *report.get("warnings", ())])
    made = {name: report["batch"][name] for name in ("code", "digest")}
    return {**made, "said": said, "frames": last - first + 1, "seconds": sum(report["seconds"].values())}


def digest(report: Mapping[str, Any]) -> str:
    """Return the checksum of the armature's F-curves, sorted, and of the report without its times."""
    curves = sorted(
        bridge.motion.active_curves(bpy.data.objects[report["armature"]]),
        key=lambda curve: (curve.data_path, curve.array_index),
    )
    parts: list[object] = []
    for curve in curves:
        keys = np.empty((3, 2 * len(curve.keyframe_points)), np.float32)
        for row, name in zip(keys, ("co", "handle_left", "handle_right"), strict=True):
            curve.keyframe_points.foreach_get(name, row)
        parts += [curve.data_path, curve.array_index, sum_of(keys.tobytes())]
    parts.append({name: value for name, value in report.items() if name not in TIMES})
    return sum_of(json.dumps(parts, sort_keys=True).encode())


def sum_of(data: bytes) -> str:
    """Return the checksum of bytes (SHA-256)."""
    return hashlib.sha256(data).hexdigest()
