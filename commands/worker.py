"""`batch-worker`: what the processes of `batch` run. Files are done one after the other, as their lines come in.

Beside each OUTPUT.blend goes OUTPUT.blend.json: the report of the verb with a field "batch", which says what the file
was made of ("key"), its sum ("output"), the exit code, and the sum of its motion and its report ("digest").
"""

import hashlib
import io
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from .files import write_whole
from .processes import MARK, Answer
from .verbs import DONE, UNMET, one_line

TIMES: Final = ("seconds", "frames_per_second", "batch")  # what differs from run to run in a report

Run = Callable[[list[str]], int]


def add_worker(verbs: Any, run: Run) -> None:
    """`run` takes the command line of a verb."""
    parser = verbs.add_parser("batch-worker")  # no help: it is for `batch` alone
    parser.set_defaults(verb=partial(_serve, run))


def _serve(run: Run, arguments: object) -> int:
    for line in sys.stdin:
        answer = _carry_out(run, json.loads(line))
        # the empty line ends whatever Blender may have begun to print
        sys.stdout.write(f"\n{MARK}{one_line(answer)}")
        sys.stdout.flush()
    return DONE


def _carry_out(run: Run, task: Mapping[str, Any]) -> Answer:
    """Run the verb, and put on record what came of it."""
    output, record = Path(task["output"]), record_of(Path(task["output"]))
    said = io.StringIO()
    with redirect_stderr(said):
        code = run([*task["arguments"], "--output", str(output), "--report", str(record)])
    if code not in (DONE, UNMET):
        return {"code": code, "said": said.getvalue().strip()}
    report = json.loads(record.read_text(encoding="utf-8"))
    made = {"key": task["key"], "code": code, "output": sum_of(output.read_bytes()), "digest": digest(report)}
    write_whole(None, {record: one_line(report | {"batch": made})})
    return answer_of(report | {"batch": made})


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
