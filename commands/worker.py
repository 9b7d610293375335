"""`batch-worker`: what the processes of `batch` run. Files are done one after the other, as their lines come in.

Beside each OUTPUT.blend goes OUTPUT.blend.json: the report of the verb with a field "batch", which says what the file
was made of ("key"), its sum ("output"), that of the file whose place it took ("before"), the exit code ("code"), and
the sum of its motion and its report ("digest").
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
from .processes import MARK, Answer
from .verbs import DONE, FAULT, REFUSED, UNMET, one_line

PART: Final = ".batch."  # how names of files begin that are not in their places yet
MADE: Final = '"batch": {"key": "'  # what the text of a record has, even if half of it is lost
TIMES: Final = ("seconds", "frames_per_second", "batch")  # what differs from run to run in a report

Run = Callable[[list[str]], int]


def add_worker(verbs: Any, run: Run) -> None:
    """`run` takes the command line of a verb."""
    parser = verbs.add_parser("batch-worker")  # no help: it is for `batch` alone
    parser.set_defaults(verb=partial(_serve, run), check=None)


def _serve(run: Run, arguments: object) -> int:
    for line in sys.stdin:
        answer = do_task(run, json.loads(line))
        # the empty line ends whatever Blender may have begun to print
        sys.stdout.write(f"\n{MARK}{one_line(answer)}")
        sys.stdout.flush()
    return DONE


def do_task(run: Run, task: Mapping[str, Any]) -> Answer:
    """Run the verb, and put its output and the record of it in their places together."""
    begin = perf_counter()
    output, record = Path(task["output"]), record_of(Path(task["output"]))
    part = output.with_name(f"{PART}{uuid4().hex}.blend")  # in the same folder: a .blend file has relative paths
    said = io.StringIO()
    try:
        stamps = [_stamp(path) for path in task["sources"]]
        for path, sum in task["sources"].items():
            if sum_of(Path(path).read_bytes()) != sum:
                raise CoreError(f'"{path}" was changed since the batch began; start it again.')
        with redirect_stderr(said):
            code = run([*task["arguments"], "--output", str(part), "--report", str(record_of(part))])
        if code not in (DONE, UNMET):
            reason = _reason(said.getvalue()).replace(str(part), str(output))
            return {"code": code, "said": reason, "spent": perf_counter() - begin}
        for path, stamp in zip(task["sources"], stamps, strict=True):
            if _stamp(path) != stamp:  # maybe and put back
                raise CoreError(f'"{path}" was changed while it was read; start the batch again.')
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
    """What is another after a file has been written or put in its place."""
    now = os.stat(path)
    return now.st_ino, now.st_size, now.st_mtime_ns


def _reason(said: str) -> str:
    """Why it failed: the last thing that was said, or for a fault of Poise where it came from."""
    text = said.strip()
    return text.removesuffix(FAULT).strip() if text.endswith(FAULT) else text.rpartition("\n")[2]


def record_of(output: Path) -> Path:
    return output.with_name(f"{output.name}.json")


def answer_of(report: Mapping[str, Any]) -> Answer:
    """What `batch` is told of a file that is done."""
    first, last = report["frames"]
    said = "; ".join(report.get("explanations", ())) if report["batch"]["code"] == UNMET else ""
    made = {name: report["batch"][name] for name in ("code", "digest")}
    return {**made, "said": said, "frames": last - first + 1, "seconds": sum(report["seconds"].values())}


def digest(report: Mapping[str, Any]) -> str:
    """The sum of the armature's F-curves, sorted, and of the report without its times: what must not differ."""
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
    """SHA-256."""
    return hashlib.sha256(data).hexdigest()
