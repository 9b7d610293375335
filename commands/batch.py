"""`batch`: run a verb on all files of a folder, several at a time, in processes that have a Blender each."""

import argparse
import json
import os
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import Any, Final

import bpy

from ..core import CoreError
from ..edits.files import check_writable, same_file, write_files
from ..edits.motion_files import worker_command
from ..edits.processes import LOST, Answer, Pool, dask_pool, local_pool
from .tasks import CLIPS, VERBS, Task, plan
from .verbs import DONE, REFUSED, STOPPED, UNMET, add_json, one_line, show, tell
from .worker import record_of, sum_of

STATES: Final = {DONE: "done", UNMET: "done, but a goal is not met"}
FAILED: Final = "failed"
LEFT: Final = "not done"
_WAITING: Final = 10.0  # seconds without an answer until the number of workers is looked at


def add_batch(verbs: Any) -> None:
    parser = verbs.add_parser(
        "batch", help="run a verb on all files of a folder, several at a time", allow_abbrev=False
    )
    parser.add_argument("--input", metavar="FOLDER", type=Path, required=True, help="folder with the files")
    parser.add_argument("--verb", dest="name", choices=VERBS, required=True, help="what to do with each file")
    parser.add_argument("--job", metavar="JOB.json", type=Path, help="job, recipe, or options of the verb")
    parser.add_argument("--output", metavar="FOLDER", type=Path, required=True, help="folder for the results")
    parser.add_argument(
        "--blend", metavar="FILE", type=Path, help=f"body to which clips are applied: {', '.join(CLIPS)}"
    )
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="number of processes (default: cores)"
    )
    parser.add_argument("--scheduler", metavar="tcp://...", help="address of a Dask cluster to run on")
    add_json(parser)
    parser.set_defaults(verb=partial(batch, verbs), check=None)


def batch(verbs: Any, arguments: argparse.Namespace) -> int:
    """Do what is not finished yet; return 1 if a goal is not met or a file failed, 130 if it is stopped."""
    begin = perf_counter()
    summary = Path(arguments.json) if isinstance(arguments.json, str) else None
    if summary is not None:
        check_writable(summary)
    tasks, refused = plan(arguments, verbs.choices[arguments.name])
    if summary is not None:
        _check_summary(summary, tasks)
    rows = {name: _row(name, {"code": REFUSED, "said": reason}) for name, reason in refused.items()}
    left: list[Task] = []
    for task in tasks:
        try:
            answer = task.found()
        except CoreError as error:
            rows[task.name] = _row(task.name, {"code": REFUSED, "said": str(error)})
            continue
        if answer is None:
            left.append(task)
        else:
            rows[task.name] = _row(task.name, answer, True)
    count = len(tasks) + len(refused)
    if kept := sum(row["finished_before"] for row in rows.values()):
        tell(f"{kept} of {count} files are already finished.")
    stopped = False
    try:
        with closing(_answered(arguments, left)) as answers:
            for name, answer, seconds in answers:
                row = rows[name] = _row(name, answer)
                tell(
                    f"{len(rows)} of {count}: {name}, {row['state']}"
                    + (f": {_shortly(row['reason'])}" if row["reason"] else "")
                    + (f" ({_duration(seconds)} left)" if seconds is not None else "")
                )
    except KeyboardInterrupt:
        stopped = True
        tell("Stopped. Run it again to continue.")
    rows |= {task.name: _row(task.name, None) for task in left if task.name not in rows}
    names = sorted(rows, key=lambda name: Path(name))
    data = {
        "verb": arguments.name,
        "files": [rows[name] for name in names],
        "digest": sum_of(json.dumps([(name, rows[name]["digest"]) for name in names]).encode()),
        "seconds": round(perf_counter() - begin, 3),
    }
    _tell_table(data)
    if summary is not None:
        write_files(None, {summary: one_line(data)})
    show(arguments, data)
    if stopped:
        return STOPPED
    return DONE if all(row["state"] == STATES[DONE] for row in data["files"]) else UNMET


def _check_summary(summary: Path, tasks: Sequence[Task]) -> None:
    """Raise CoreError if the summary would be written over what the batch reads or makes."""
    for task in tasks:
        for path in (*task.sources, task.output, record_of(task.output)):
            if same_file(summary, path):
                raise CoreError(f'--json: "{summary}" is a file of the batch and is not overwritten.')


def _answered(arguments: argparse.Namespace, tasks: Sequence[Task]) -> Generator[tuple[str, Answer, float | None]]:
    """Yield name and answer of each task when it is done, and the seconds that the rest will take, if known."""
    if not tasks:
        return
    done: SimpleQueue[Future[Answer]] = SimpleQueue()
    with ExitStack() as stack:
        pool = _pool(arguments, len(tasks), stack)
        names: dict[Future[Answer], str] = {}
        for task in tasks:
            names[future := pool.submit(task.line(arguments.name))] = task.name
            future.add_done_callback(done.put)
        spent: list[float] = []  # seconds that processes took
        waits = False  # for workers, and the user has been told
        while names:
            try:
                future = done.get(timeout=_WAITING)
            except Empty:
                if not waits and pool.size() == 0:
                    tell("Waiting for workers: the cluster has none.")
                    waits = True
                continue
            waits = False
            try:
                answer = future.result()
            # a cluster gives up a task that several workers were lost with, and all tasks when it is lost itself
            except (Exception, CancelledError) as error:
                answer = {"code": LOST, "said": str(error) or "Lost the connection to the cluster."}
            name = names.pop(future)
            if "spent" in answer:
                spent.append(answer["spent"])
            size = pool.size() if spent else 0
            yield name, answer, sum(spent) / len(spent) * len(names) / size if size else None


def _pool(arguments: argparse.Namespace, count: int, stack: ExitStack) -> Pool:
    """Return the pool for so many tasks; closing the stack ends it."""
    folder = arguments.job.resolve().parent if arguments.job else Path.cwd()  # of the files that a job names
    if arguments.scheduler is None:
        return stack.enter_context(local_pool(worker_command(), folder, min(arguments.jobs, count)))
    if not (bpy.app.online_access or bpy.app.module):  # the module has no preferences: who runs it has decided
        raise CoreError(
            "--scheduler needs Allow Online Access. Turn it on in Preferences > System > Network, or "
            "start Blender with --online-mode."
        )
    try:
        return stack.enter_context(dask_pool(worker_command(), folder, arguments.scheduler))
    except ImportError as error:
        raise CoreError('--scheduler needs Dask; install "dask[distributed]" in the Python of Blender.') from error
    except (OSError, ValueError, TypeError) as error:
        raise CoreError(f'--scheduler: there is no Dask cluster at "{arguments.scheduler}".') from error


def _row(name: str, answer: Answer | None, kept: bool = False) -> dict[str, Any]:
    """Return a file's row of the summary; without an answer it is left."""
    if answer is None:
        answer, state = {"code": LOST, "said": ""}, LEFT
    else:
        state = STATES.get(answer["code"], FAILED)
    return {
        "file": name,
        "state": state,
        "reason": answer["said"],
        "frames": answer.get("frames", 0),
        "seconds": round(answer.get("seconds", 0.0), 3),
        "digest": answer.get("digest"),
        "finished_before": kept,
    }


def _tell_table(data: Mapping[str, Any]) -> None:
    files = data["files"]
    tell("")
    tell(f"{'':32}{'files':>8}{'frames':>10}{'seconds':>10}")
    for state in (*STATES.values(), FAILED, LEFT):
        rows = [row for row in files if row["state"] == state]
        if state == LEFT and not rows:
            continue
        frames, seconds = (sum(row[name] for row in rows) for name in ("frames", "seconds"))
        tell(f"{state:32}{len(rows):8,}{frames:10,}{seconds:10,.1f}")
    tell(f"{_duration(data['seconds'])} in all; digest {data['digest']}")
    for row in files:
        if row["reason"]:
            tell(f"{row['state']}: {row['file']}: {_shortly(row['reason'])}")


def _shortly(reason: str) -> str:
    """Return the last line of a reason; the others may be a traceback."""
    return reason.rpartition("\n")[2]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
