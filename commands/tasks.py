"""The tasks of `batch`: its files, and which of them are finished.

A file is finished when the record beside its output says that it was made of the same bytes by the same job, verb and
versions, and the output still has the bytes that it had then. Names and times do not matter.
"""

import argparse
import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import bpy

from ..core import CoreError
from ..core.formats.files import read_json
from ..core.formats.job import read
from ..core.formats.recipe import read_recipe
from ..core.formats.table import shown
from ..core.keypoints import SUFFIXES
from ..core.sources import check_regular, parse_json, read_bytes
from ..edits.clips import MOTIONS
from ..edits.files import check_writable, is_blend, same_file
from ..edits.processes import Answer
from .verbs import tell
from .worker import MADE, PART, answer_of, record_of, sum_of

ROOT: Final = Path(__file__).resolve().parent.parent
# verb -> the option that takes a clip for the body of --blend, and the suffixes that it reads; others open the file
CLIPS: Final = {"keypoints": ("--input", SUFFIXES), "retarget": ("--motion", MOTIONS)}
OPENED: Final = (".blend", *MOTIONS)
VERBS: Final = (
    "solve",
    "contribute",
    "lock-feet",
    "generate",
    "reduce-keys",
    "bake",
    "edit-path",
    "root-motion",
    "make-loop",
    "drag-frame",
    "smooth",
    "fix-ground",
    "in-betweens",
    "grip",
    "apply-pose",
    *CLIPS,
)
# verb -> the option that takes a JOB.json with a "version", and how that is read; any other has the verb's options
OWN_FILES: Final[Mapping[str, tuple[str, Callable[[Path], object]]]] = {
    "solve": ("--job", read),
    "generate": ("--recipe", read_recipe),
}
# options that a job may not have
GIVEN: Final = ("blend", "input", "motion", "output", "overwrite", "report", "json", "learn", "verbose", "help")
LONGEST: Final = 235  # bytes of an output's name: with ".json" and the number of a process the usual 255 are full
NAMING: Final = (".json", ".gltf")  # files that name others, which lie beside them
_NAME: Final = 1024  # characters that a name has at most: other texts are data

Sums = dict[Path, str]


@dataclass(frozen=True)
class Task:
    """One file. `key`: the checksum of all that the result depends on; `sources`: those of the files among that."""

    name: str
    arguments: tuple[str, ...]  # of the verb, without those for its results
    output: Path
    key: str
    sources: Sums

    def line(self, verb: str) -> str:
        sources = {str(path): sum for path, sum in self.sources.items()}
        task = {"arguments": [verb, *self.arguments], "output": str(self.output), "key": self.key, "sources": sources}
        return json.dumps(task)

    def found(self) -> Answer | None:
        """Return the answer of a finished task, else None; raises CoreError if somebody else has changed the output."""
        try:
            report = json.loads(record_of(self.output).read_text(encoding="utf-8"))
            made, now = report["batch"], sum_of(self.output.read_bytes())
            if now == made["output"]:
                return answer_of(report) if made["key"] == self.key else None
            known = now == made.get("before")  # the batch ended after the record was written
        except (OSError, ValueError, TypeError, KeyError):  # there is none, or it is none
            return None
        if not known and is_blend(self.output):
            raise CoreError(f'"{self.output}" was changed after it was made. Move or delete it to have it made again.')
        return None


def plan(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> tuple[list[Task], dict[str, str]]:
    """Return the tasks, and why other files have none; raises CoreError for what is wrong with all files.

    `parser`: of the verb.
    """
    source, target, verb = arguments.input.resolve(), arguments.output.resolve(), arguments.name
    if not os.path.isdir(source):
        raise CoreError(f'There is no folder "{arguments.input}".')
    if same_file(source, target):
        raise CoreError("--output is the folder of --input. Use another folder for the results.")
    if arguments.jobs < 1:
        raise CoreError(f"--jobs: must be at least 1, not {arguments.jobs}.")
    option, kinds = CLIPS.get(verb, ("--blend", OPENED))
    body, options = body_of(arguments), options_of(verb, arguments.job)
    example = parser.parse_args([option, "FILE", *body, *options])
    if example.check is not None:
        example.check(example)
    given = {path.resolve(): sources_of(path.resolve()) for path in (arguments.job, arguments.blend) if path}
    common = [_version(), bpy.app.version_string, verb, *(sum for sums in given.values() for sum in sums.values())]
    refused: dict[str, str] = {}
    tasks: list[Task] = []
    files = [path for path in _files(source, target, kinds, refused) if path not in given]
    if not files and not refused:
        raise CoreError(f'"{arguments.input}" contains no files for {verb}; it reads {", ".join(kinds)}.')
    taken = {path: path for path in files}  # place -> the input that lies there, or whose result will
    for path in files:
        name = path.relative_to(source)
        output = target / (name if path.suffix == ".blend" else name.with_name(f"{name.name}.blend"))
        try:
            check_output(output, taken)
            # keypoints as JSON name nothing, and can be large
            sources = sources_of(path, () if path.suffix.lower() == ".json" else NAMING)
        except CoreError as error:
            refused[name.as_posix()] = str(error)
            continue
        taken[output] = path
        key = sum_of(json.dumps([*common, *sources.values()]).encode())
        everything = {place: sum for sums in (sources, *given.values()) for place, sum in sums.items()}
        tasks.append(Task(name.as_posix(), (option, str(path), *body, *options), output, key, everything))
    _check_foreign(tasks)
    _make_folders({task.output.parent for task in tasks})
    return tasks, refused


def body_of(arguments: argparse.Namespace) -> list[str]:
    """Return the option for the body that takes clips."""
    verb, blend = arguments.name, arguments.blend
    if verb not in CLIPS:
        if blend is not None:
            raise CoreError(f"--blend: only for {', '.join(CLIPS)}; {verb} opens the files themselves.")
        return []
    if blend is None:
        raise CoreError(f"--blend is missing. {verb} needs a body to apply the clips to.")
    if not os.path.isfile(blend):
        raise CoreError(f'There is no file "{blend}".')
    if blend.suffix.lower() not in MOTIONS and not is_blend(blend):
        raise CoreError(f'The file "{blend}" is not a .blend file that this version of Blender can open.')
    return ["--blend", str(blend.resolve())]


def options_of(verb: str, job: Path | None) -> list[str]:
    """Return the options in a job file, for a process in its folder."""
    if job is None:
        return []
    data = read_json(job, "job", _object)
    if verb in OWN_FILES and "version" in data:
        option, check = OWN_FILES[verb]
        check(job)
        return [option, job.name]
    return [word for name, value in data.items() for word in _option(f'The job file "{job}": {name}', name, value)]


def _option(where: str, name: str, value: object) -> list[str]:
    """Return an option as words of a command line; raises CoreError for words that would be read as other options."""
    if name in GIVEN:
        raise CoreError(f"{where}: is set by batch.")
    if not re.fullmatch("[a-z][a-z-]*", name):
        raise CoreError(f"{where}: is not an option.")
    if isinstance(value, bool):
        return [f"--{name}"] if value else []
    words = value if isinstance(value, list) else [value]
    for word in words:
        if isinstance(word, bool) or not isinstance(word, str | int | float):
            raise CoreError(f"{where}: needs a string, a number, a list of these, true or false, not {shown(value)}.")
        if isinstance(value, list) and isinstance(word, str) and word.startswith("-"):
            raise CoreError(f'{where}: "{word}" looks like an option.')
    return [f"--{name}", *map(str, words)] if isinstance(value, list) else [f"--{name}={value}"]


def _object(data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise CoreError(f"needs an object in braces, not {shown(data)}.")
    return data


def sources_of(path: Path, naming: Sequence[str] = NAMING) -> Sums:
    """Return the checksums of a file, of those beside it or below that it names, and so on; raises CoreError.

    Files elsewhere are not touched: a stranger's file may name anything.
    """
    found: Sums = {}
    left = [path]
    while left:
        path = left.pop()
        if path in found:
            continue
        try:
            check_regular(path)
            with path.open("rb") as file:
                found[path] = hashlib.file_digest(file, "sha256").hexdigest()
            if path.suffix.lower() not in naming:
                continue
            texts = dict.fromkeys(_texts(parse_json(read_bytes(path).decode("utf-8-sig"))))
        except OSError as error:
            raise CoreError(f'The file "{path}" cannot be read: {error.strerror or error}.') from error
        except ValueError:  # the verb refuses it
            continue
        places = [path.parent / name for text in texts for name in dict.fromkeys((text, unquote(text)))]
        left += [place for place in places if os.path.isfile(place) and _lies_below(place, path.parent)]
    return found


def _lies_below(place: Path, folder: Path) -> bool:
    """Return whether a file is in a folder or in one below it; links are followed."""
    return place.resolve().is_relative_to(folder.resolve())


def _texts(data: object) -> Iterator[str]:
    """Yield all texts in JSON data that may be names of files."""
    if isinstance(data, str):
        if len(data) <= _NAME:
            yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _texts(value)


def _files(source: Path, target: Path, kinds: Sequence[str], refused: dict[str, str]) -> list[Path]:
    """Return the files of these kinds in a folder and below it, but for those in `target`."""

    def refuse(error: OSError) -> None:
        name = Path(error.filename).relative_to(source).as_posix()
        refused[name] = f'The folder "{error.filename}" cannot be read: {error.strerror}.'

    files: list[Path] = []
    for folder, folders, names in os.walk(source, onerror=refuse):
        here = Path(folder)
        for name in folders:
            if (here / name).is_symlink():
                tell(f'"{here / name}" is a link to a folder; its contents are left out.')
        folders[:] = [name for name in folders if here / name != target]
        for name in names:
            path = here / name
            if path.suffix.lower() not in kinds or name.startswith("."):
                continue
            if os.path.isfile(path):
                files.append(path)
            else:
                refused[path.relative_to(source).as_posix()] = f'"{path}" is not a file, or is a broken link.'
    return sorted(files)


def check_output(output: Path, taken: Mapping[Path, Path]) -> None:
    """Raise CoreError if this output is another file's, or if its name is too long."""
    for place in (output, record_of(output)):
        if place in taken:
            raise CoreError(f'Its result would overwrite "{taken[place]}", or its result. Rename one of them.')
    if len(os.fsencode(output.name)) > LONGEST:
        raise CoreError(f"Its name is too long for its result; it can have {LONGEST} bytes with .blend.")


def _check_foreign(tasks: Sequence[Task]) -> None:
    """Raise CoreError if a result would replace a file that no batch made."""
    for task in tasks:
        record = record_of(task.output)
        try:
            there = [path for path in (task.output, record) if path.exists()]
            ours = record in there and MADE in record.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise CoreError(f'"{record}" cannot be read: {error.strerror or error}.') from error
        if there and not ours:
            raise CoreError(f'"{there[0]}" already exists and is not from a batch, so it is not overwritten.')


def _make_folders(folders: set[Path]) -> None:
    """Make the folders, and remove what killed processes have left in them."""
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.iterdir():
                if path.name.startswith((PART, f".{PART}")):
                    path.unlink()
        except OSError as error:
            raise CoreError(f'Cannot create or read the folder "{folder}": {error.strerror or error}.') from error
        check_writable(folder / "result.blend")


def _version() -> str:
    return tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
