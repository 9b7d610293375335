"""`batch`: a verb on all files of a folder, several at a time, in processes that each have a Blender of their own.

A file is finished when the record beside its output says that it was made of the same bytes, by the same job, verb and
versions, and the output is as it was then: whatever it is called and whenever it was written.
"""

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import bpy

from ..core import CoreError
from ..core.keypoints import SUFFIXES
from .fields import read_json, shown
from .files import MOTIONS, check_place, same_file, write_whole
from .job import read
from .processes import LOST, Answer, dask_pool, local_pool
from .recipe import read_recipe
from .verbs import DONE, UNMET, one_line, show, tell
from .worker import answer_of, record_of, sum_of

ROOT: Final = Path(__file__).resolve().parent.parent
# verb -> the option that takes a clip, which goes onto the body of --blend, and what it reads; others open the file
CLIPS: Final = {"keypoints": ("--input", SUFFIXES), "retarget": ("--motion", MOTIONS)}
OPENED: Final = (".blend", *MOTIONS)
VERBS: Final = ("solve", "contribute", "lock-feet", "generate", "reduce-keys", "bake", "edit-path", *CLIPS)
# verb -> the option that takes a JOB.json with a "version", and how that is read; any other has the verb's options
OWN_FILES: Final[Mapping[str, tuple[str, Callable[[Path], object]]]] = {
    "solve": ("--job", read),
    "generate": ("--recipe", read_recipe),
}
GIVEN: Final = ("blend", "input", "motion", "output", "overwrite", "report", "json", "learn")  # no options of a job
STATES: Final = {DONE: "done", UNMET: "done, but a goal is not met"}
FAILED: Final = "failed"


@dataclass(frozen=True)
class Task:
    """One file. `key`: the sum of all that decides what comes of it."""

    name: str
    arguments: tuple[str, ...]  # of the verb, without those for its results
    output: Path
    key: str

    def line(self, verb: str) -> str:
        return json.dumps({"arguments": [verb, *self.arguments], "output": str(self.output), "key": self.key})

    def found(self) -> Answer | None:
        """What came of it, if it is finished."""
        try:
            report = json.loads(record_of(self.output).read_text(encoding="utf-8"))
            made = report["batch"]
            if made["key"] == self.key and made["output"] == sum_of(self.output.read_bytes()):
                return answer_of(report)
        except (OSError, ValueError, TypeError, KeyError):  # there is none, or it is none
            pass
        return None


def add_batch(verbs: Any) -> None:
    parser = verbs.add_parser("batch", help="a verb on all files of a folder, several at a time", allow_abbrev=False)
    parser.add_argument("--input", metavar="FOLDER", type=Path, required=True, help="where the files are")
    parser.add_argument("--verb", dest="name", choices=VERBS, required=True, help="what to do with each")
    parser.add_argument("--job", metavar="JOB.json", type=Path, help="a job, a recipe, or the options of the verb")
    parser.add_argument("--output", metavar="FOLDER", type=Path, required=True, help="where the results go")
    parser.add_argument("--blend", metavar="FILE", type=Path, help=f"the body that takes clips: {', '.join(CLIPS)}")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="processes (default: cores)")
    parser.add_argument("--scheduler", metavar="tcp://...", help="of a Dask cluster, which does it then")
    parser.add_argument(
        "--json", metavar="FILE", nargs="?", const=True, help="print one JSON object, or write it to FILE"
    )
    parser.set_defaults(verb=partial(batch, verbs))


def batch(verbs: Any, arguments: argparse.Namespace) -> int:
    """Do what is not finished yet; returns 1 if a goal is not met or a file failed."""
    begin = perf_counter()
    summary = Path(arguments.json) if isinstance(arguments.json, str) else None
    if summary is not None:
        check_place(summary)
    tasks = _tasks(arguments)
    verbs.choices[arguments.name].parse_args(tasks[0].arguments)  # what is wrong with the job is wrong for all
    found = {task.name: answer for task in tasks if (answer := task.found()) is not None}
    left = [task for task in tasks if task.name not in found]
    if found:
        tell(f"{len(found)} of {len(tasks)} files are finished already.")
    rows = {name: _row(name, answer, True) for name, answer in found.items()}
    for number, (name, answer) in enumerate(_answered(arguments, left), 1):
        row = rows[name] = _row(name, answer)
        spent = perf_counter() - begin
        tell(
            f"{len(rows)} of {len(tasks)}: {name}, {row['state']}"
            + (f": {_shortly(row['reason'])}" if row["reason"] else "")
            + f" ({_duration(spent / number * (len(left) - number))} left)"
        )
    data = {
        "verb": arguments.name,
        "files": [rows[task.name] for task in tasks],
        "digest": sum_of(json.dumps([(task.name, rows[task.name]["digest"]) for task in tasks]).encode()),
        "seconds": round(perf_counter() - begin, 3),
    }
    _tell_table(data)
    if summary is not None:
        write_whole(None, {summary: one_line(data)})
    show(arguments, data)
    return DONE if all(row["state"] == STATES[DONE] for row in data["files"]) else UNMET


def _tasks(arguments: argparse.Namespace) -> list[Task]:
    """What is to be done with each file; raises CoreError for what is wrong with all of them."""
    source, target, verb = arguments.input.resolve(), arguments.output.resolve(), arguments.name
    if not source.is_dir():
        raise CoreError(f'There is no folder "{arguments.input}".')
    if same_file(source, target):
        raise CoreError("--output is the folder of --input; results need one of their own.")
    if arguments.jobs < 1:
        raise CoreError(f"--jobs: must be at least 1, not {arguments.jobs}.")
    option, kinds = CLIPS.get(verb, ("--blend", OPENED))
    given = [path.resolve() for path in (arguments.job, arguments.blend) if path is not None]
    files = [
        path
        for path in sorted(source.rglob("*"))
        if path.suffix.lower() in kinds
        and path.is_file()
        and target not in path.parents
        and path not in given
        and not path.name.startswith(".")
    ]
    if not files:
        raise CoreError(f'Nothing in "{arguments.input}" is for {verb}; it takes {", ".join(kinds)}.')
    body: list[str] = []
    if verb in CLIPS:
        if arguments.blend is None:
            raise CoreError(f"--blend is missing; {verb} needs the body that takes the clips.")
        body = ["--blend", str(arguments.blend.resolve())]
    elif arguments.blend is not None:
        raise CoreError(f"--blend: only for {', '.join(CLIPS)}; {verb} opens the files themselves.")
    options, sums = _options(verb, arguments.job)
    common = [_version(), bpy.app.version_string, verb, *sums, *(_content(Path(path)) for path in body[1:])]
    tasks: list[Task] = []
    for path in files:
        name = path.relative_to(source)
        output = target / (name if path.suffix == ".blend" else name.with_name(f"{name.name}.blend"))
        if output.exists() and not record_of(output).exists():
            raise CoreError(f'"{output}" is there already and not of a batch; it is not written over.')
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CoreError(f'The folder "{output.parent}" cannot be made: {error.strerror or error}.') from error
        key = sum_of(json.dumps([*common, _content(path)]).encode())
        tasks.append(Task(name.as_posix(), (option, str(path), *body, *options), output, key))
    return tasks


def _answered(arguments: argparse.Namespace, tasks: Sequence[Task]) -> Iterator[tuple[str, Answer]]:
    """What came of the tasks, by name, as they are done."""
    if not tasks:
        return
    folder = arguments.job.resolve().parent if arguments.job else Path.cwd()  # where files that a job names are
    with ExitStack() as stack:
        if arguments.scheduler is None:
            submit = stack.enter_context(local_pool(_worker(), folder, min(arguments.jobs, len(tasks))))
        else:
            try:
                submit = stack.enter_context(dask_pool(_worker(), folder, arguments.scheduler))
            except ImportError as error:
                raise CoreError(
                    '--scheduler needs Dask; install "dask[distributed]" in the Python of Blender.'
                ) from error
            except (OSError, ValueError) as error:
                raise CoreError(f'--scheduler: there is no Dask cluster at "{arguments.scheduler}".') from error
        futures = {submit(task.line(arguments.name)): task.name for task in tasks}
        for future in as_completed(futures):
            try:
                answer = future.result()
            except Exception as error:  # a cluster gives up a task over which worker after worker is lost
                answer = {"code": LOST, "said": str(error)}
            yield futures[future], answer


def _worker() -> list[str]:
    """The command line of a process that does tasks; raises CoreError if there is none."""
    verb = "batch-worker"
    if not bpy.app.module:
        return [bpy.app.binary_path, "--background", "--command", "poise", verb]
    script = ROOT / "standalone.py"
    if not script.is_file():
        raise CoreError("In Python, batch needs a checkout of Poise; or run it in Blender.")
    return [sys.executable, str(script), verb]


def _row(name: str, answer: Answer, kept: bool = False) -> dict[str, Any]:
    """A file in the summary."""
    return {
        "file": name,
        "state": STATES.get(answer["code"], FAILED),
        "reason": answer["said"],
        "frames": answer.get("frames", 0),
        "seconds": round(answer.get("seconds", 0.0), 3),
        "digest": answer.get("digest"),
        "finished_before": kept,
    }


def _tell_table(data: Mapping[str, Any]) -> None:
    files = data["files"]
    tell(f"\n{'':32}{'files':>8}{'frames':>10}{'seconds':>10}")
    for state in (*STATES.values(), FAILED):
        rows = [row for row in files if row["state"] == state]
        frames, seconds = (sum(row[name] for row in rows) for name in ("frames", "seconds"))
        tell(f"{state:32}{len(rows):8,}{frames:10,}{seconds:10,.1f}")
    tell(f"{_duration(data['seconds'])} in all; digest {data['digest']}")
    for row in files:
        if row["reason"]:
            tell(f"{row['state']}: {row['file']}: {_shortly(row['reason'])}")


def _shortly(reason: str) -> str:
    """Its last sentence; the first lines may be a traceback."""
    return reason.splitlines()[-1]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _options(verb: str, job: Path | None) -> tuple[list[str], list[str]]:
    """The options in a job file, for a process in its folder, and the sums of that file and of those that it names."""
    if job is None:
        return [], []
    data = read_json(job, "job", _object)
    named = [job.resolve().parent / text for value in data.values() for text in _texts(value)]
    sums = [_content(path) for path in [job, *named] if path.is_file()]
    if verb in OWN_FILES and "version" in data:
        option, check = OWN_FILES[verb]
        check(job)
        return [option, job.name], sums
    options: list[str] = []
    for name, value in data.items():
        if name in GIVEN:
            raise CoreError(f'The job file "{job}": {name}: is for batch to say.')
        if isinstance(value, list):
            options += [f"--{name}", *_texts(value)]
        elif isinstance(value, bool):
            options += [f"--{name}"] if value else []
        else:
            options += [f"--{name}={text}" for text in _texts(value)]
    return options, sums


def _object(data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise CoreError(f"needs an object in braces, not {shown(data)}.")
    return data


def _texts(value: object) -> list[str]:
    """A value as words of a command line; what is no word has none."""
    values = value if isinstance(value, list) else [value]
    return [str(one) for one in values if isinstance(one, str | int | float) and not isinstance(one, bool)]


def _content(path: Path) -> str:
    try:
        return sum_of(path.read_bytes())
    except OSError as error:
        raise CoreError(f'The file "{path}" cannot be read: {error.strerror or error}.') from error


def _version() -> str:
    return tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
