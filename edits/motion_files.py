"""The motions of many files on one body: retargeted in processes of their own, each into an action of its own."""

import hashlib
import json
import os
import re
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, Final

import bpy

from .. import bridge
from ..bridge.motion import check_not_tweaked
from ..core import CoreError
from ..core.formats.table import NAME_BYTES
from .clips import MOTIONS
from .files import append
from .fingerprints import fingerprint
from .motion_edit import check_scene
from .parts import check_sure
from .processes import WORKER, Answer, Pool, local_pool
from .words import counted

NAMING: Final = "{armature} {file} {take}"
FIELDS: Final = ("armature", "file", "take", "number")
_FIELD: Final = re.compile(r"\{(armature|file|take)\}|\{number(?::(0?\d{0,2}d?))?\}")  # digits as in Python
TRACK: Final = "Retargeted Motions"  # the NLA track of their strips
DONE, SHORT, THERE, FAILED, LEFT = "done", "short", "there already", "failed", "not done"
_STATES: Final = {0: DONE, 1: SHORT}  # by the exit code of `retarget`
_SENTENCES: Final = {
    DONE: "{} is retargeted",
    SHORT: "{} is retargeted, but contacts or targets are missed",
    THERE: "{} is already retargeted",
    FAILED: "{} is not retargeted",
    LEFT: "{} is left for the next run",
}
_TICK: Final = 0.02  # seconds to wait for an answer at a time
_ROOT: Final = Path(__file__).resolve().parent.parent


def worker_command() -> list[str]:
    """Return the command line of a process that does tasks; raises CoreError if there is none."""
    if not bpy.app.module:
        trusted = [] if bpy.app.autoexec_fail else ["--enable-autoexec"]  # as the file that is open
        addon = ["--addons", __name__.rpartition(".edits.")[0]]  # also where it is on for this session only
        return [bpy.app.binary_path, "--background", *trusted, *addon, "--command", "poise", WORKER]
    script = _ROOT / "standalone.py"
    if not script.is_file():
        raise CoreError("In Python, batch needs a clone of the Poise repository. Run it in Blender instead.")
    return [sys.executable, str(script), WORKER]


def find_motions(paths: Iterable[Path]) -> list[Path]:
    """Return these files, and for folders the motions in them and below; raises CoreError if there are none."""
    chosen = list(paths)
    found: dict[Path, None] = {}
    for path in chosen:
        inside = sorted(path.rglob("*")) if path.is_dir() else ()
        motions = [one for one in inside if one.suffix.lower() in MOTIONS and not one.name.startswith(".")]
        found |= dict.fromkeys(one.resolve() for one in (motions if path.is_dir() else [path]))
    if not found:
        names = ", ".join(f'"{path}"' for path in chosen)
        raise CoreError(f"There is no motion in {names}. Supported types are {', '.join(MOTIONS)}.")
    return list(found)


def check_naming(naming: str) -> None:
    """Raise CoreError for names of actions that would be empty or ask for what is not known."""
    left = _FIELD.sub("", naming)
    if not naming.strip() or "{" in left or "}" in left:
        known = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise CoreError(f'"{naming}" is not a valid name pattern; it can contain {known}.')
    if len(left.encode()) > NAME_BYTES:  # Blender would cut it off before what tells the motions apart
        raise CoreError(f"The name pattern is too long: a name has at most {NAME_BYTES} bytes.")


def option_words(options: Mapping[str, object]) -> list[str]:
    """Return options of `retarget` as words of a command line; what is False, empty or None is left out."""
    words = list[str]()
    for name, value in options.items():
        if isinstance(value, list):
            words += [f"--{name}", *value] if value else []
        elif value or (value == 0 and value is not False):
            words.append(f"--{name}" if value is True else f"--{name}={value}")
    return words


@dataclass(frozen=True)
class Row:
    """What became of a motion, or of a file: `reason` says what is short or wrong; `action` is None where it failed."""

    file: str
    take: str
    state: str
    reason: str = ""
    action: str | None = None
    frames: int = 0
    contacts: int = 0

    def sentence(self) -> str:
        said = _SENTENCES[self.state].format(f'"{self.file}"' + (f' (take "{self.take}")' if self.take else ""))
        return said + (f": {self.reason.rstrip('.')}" if self.reason else "")


@dataclass(frozen=True)
class _Motion:
    """A motion that is retargeted: where its action is, and how it went."""

    row: Row
    output: Path


class MotionFiles:
    """The motions of files, all takes, on an armature. Made, it has looked at the files.

    `work` runs in processes and touches nothing of the open file, so that a person may work on. `write` can be called
    at any time; it takes the files that are finished. A file of which the open file has the motions is left out, which
    makes a second run go on where the first one stopped.

    words  options of `retarget` for all motions
    jobs   processes
    """

    def __init__(
        self, context: Any, armature: Any, files: Sequence[Path], words: Sequence[str] = (), jobs: int = 1
    ) -> None:
        bridge.check(armature)
        check_scene(context, armature)
        check_sure(armature)
        self._armature, self._words, self._jobs = armature.name, tuple(words), jobs
        self._files = list(files)
        self._names = _told_names(self._files)
        self._rows: dict[Path, Row] = {}  # of files that have no motions
        self._sums: dict[Path, str] = {}
        self._keys: dict[Path, str] = {}
        actions: Any = bpy.data.actions
        there = {action.poise_made_of for action in actions}
        own = armature.animation_data and armature.animation_data.action
        below = [fingerprint(own)] if own and "--parts" in words else []  # the motion that parts are put over
        for file in self._files:
            try:
                self._sums[file] = hashlib.sha256(file.read_bytes()).hexdigest()
            except OSError as error:
                self._rows[file] = Row(self._names[file], "", FAILED, f"it cannot be read: {error.strerror or error}")
                continue
            said = json.dumps([armature.name, self._sums[file], *words, *below])
            self._keys[file] = hashlib.sha256(said.encode()).hexdigest()
            if self._keys[file] in there:
                self._rows[file] = Row(self._names[file], "", THERE)
        self._motions: dict[Path, list[_Motion]] = {}
        self._open: dict[Path, int] = {}  # file -> its motions that are not answered yet
        self._folder = TemporaryDirectory(prefix="poise-retarget-", ignore_cleanup_errors=True)
        self._body = Path(self._folder.name) / "body.blend"
        _write_body(context, armature, self._body)

    @property
    def count(self) -> int:
        """The number of files."""
        return len(self._files)

    @property
    def done(self) -> int:
        """The number of files that are finished."""
        return len(self._rows) + sum(not left for left in self._open.values())

    def work(self) -> Generator[float, None, None]:
        """Retarget, and yield the share that is done, often; closed, it ends the processes."""
        left = [file for file in self._files if file not in self._rows]
        if not left:
            return
        answered: SimpleQueue[Future[Answer]] = SimpleQueue()
        asked: dict[Future[Answer], tuple[Path, str, Path]] = {}
        numbers = count()

        def ask(pool: Pool, file: Path, take: str) -> None:
            self._open[file] = self._open.get(file, 0) + 1
            output = Path(self._folder.name) / f"{next(numbers)}.blend"
            future = pool.submit(self._line(file, take, output))
            asked[future] = file, take, output
            future.add_done_callback(answered.put)

        with local_pool(worker_command(), Path(self._folder.name), min(self._jobs, len(left))) as pool:
            for file in left:
                ask(pool, file, "")
            while asked:
                with suppress(Empty):
                    future = answered.get(timeout=_TICK)
                    file, take, output = asked.pop(future)
                    for other in self._note(file, take, output, future.result()):
                        ask(pool, file, other)
                    self._open[file] -= 1
                yield self.done / len(self._files)

    def _line(self, file: Path, take: str, output: Path) -> str:
        """Return the task of `batch-worker` for a take; "" is the one that the file has active."""
        arguments = ["retarget", "--motion", str(file), "--blend", str(self._body), "--armature", self._armature]
        arguments += [*self._words, *(["--take", take] if take else [])]
        task = {"arguments": arguments, "output": str(output), "key": self._keys[file]}
        return json.dumps(task | {"sources": {str(file): self._sums[file]}})

    def _note(self, file: Path, take: str, output: Path, answer: Answer) -> list[str]:
        """Note how a motion went; return the other takes after that of the file's active one."""
        state = _STATES.get(answer["code"], FAILED)
        motions = self._motions.setdefault(file, [])
        if state == FAILED:
            motions.append(_Motion(Row(self._names[file], take, state, answer["said"].rpartition("\n")[2]), output))
            return []
        report = json.loads(output.with_name(f"{output.name}.json").read_text(encoding="utf-8"))
        takes = report["takes"]
        contacts = sum(goal["kind"] == "hold" for goal in report["goals"])
        take = take or (takes[0] if len(takes) > 1 else "")
        row = Row(self._names[file], take, state, answer["said"], report["action"], answer["frames"], contacts)
        motions.append(_Motion(row, output))
        return takes[1:] if len(motions) == 1 else []

    def write(
        self, context: Any, armature: Any, naming: str = NAMING, assets: bool = False, strips: bool = False
    ) -> list[Row]:
        """Keep the motions of the files that are finished as actions of this file, and return what became of all.

        They have a fake user; with `assets` they are assets, with `strips` they are on one NLA track, one after the
        other: those of an earlier run, too, unless a strip has them. Raises CoreError, with nothing changed, where they
        cannot be.
        """
        check_naming(naming)
        if strips:
            check_not_tweaked(armature)
        rows: list[Row] = []
        actions: list[Any] = []
        there: dict[str, list[Any]] = {}  # by what they are made of
        known: Any = bpy.data.actions
        for action in known:
            there.setdefault(action.poise_made_of, []).append(action)
        made = sum(len(there[self._keys[file]]) for file, row in self._rows.items() if row.state == THERE)
        for file in self._files:
            if file in self._rows:
                rows.append(self._rows[file])
                actions += there.get(self._keys.get(file, ""), []) if self._rows[file].state == THERE else []
                continue
            if self._open.get(file, 1):
                rows.append(Row(self._names[file], "", LEFT))
                continue
            for motion in self._motions[file]:
                if motion.row.action is None:
                    rows.append(motion.row)
                    continue
                made += 1
                named = {"armature": armature.name, "file": file.stem, "take": motion.row.take}
                name = _name(naming, named | {"number": made})
                action = _take_action(motion.output, motion.row.action, name)
                action.poise_made_of = self._keys[file]
                action.use_fake_user = True
                actions.append(action)
                rows.append(replace(motion.row, action=action.name))
        for action in actions if assets else ():
            action.asset_mark()
        if strips:
            tracks = armature.animation_data.nla_tracks if armature.animation_data else ()
            used = {strip.action for track in tracks for strip in track.strips}
            if loose := [action for action in actions if action not in used]:
                bridge.line_up(armature, loose, TRACK, context.scene.frame_start)
        self._folder.cleanup()
        return rows


def _name(naming: str, values: Mapping[str, str | int]) -> str:
    """Return the name of an action by its pattern; what is empty leaves no gap."""
    named = _FIELD.sub(
        lambda found: format(values[found[1] or "number"], found[2] or ("" if found[1] else "03")), naming
    )
    return " ".join(named.split())


def _told_names(files: Sequence[Path]) -> dict[Path, str]:
    """Return the names of files in reports: with their folders where names are alike."""
    if len({file.name for file in files}) == len(files):
        return {file: file.name for file in files}
    parts = [file.parts for file in files]
    shared = next((n for n, same in enumerate(zip(*parts, strict=False)) if len({*same}) > 1), 0)
    return {file: "/".join(file.parts[shared:]) for file in files}


def _take_action(path: Path, name: str, new: str) -> Any:
    """Copy an action of another file to this one, and name it."""
    libraries: Any = bpy.data.libraries
    before = set(libraries)
    (action,) = append(path, "actions", name)
    action.name = new
    bpy.data.batch_remove([library for library in libraries if library not in before])
    return action


def _write_body(context: Any, armature: Any, path: Path) -> None:
    """Write a file with the armature alone, and what it needs, in a scene of its own."""
    scene = bpy.data.scenes.new("Poise")
    try:
        scene.render.fps, scene.render.fps_base = context.scene.render.fps, context.scene.render.fps_base
        scene.frame_set(context.scene.frame_current)
        scene.collection.objects.link(armature)
        if armature.poise_ground is not None:
            scene.collection.children.link(armature.poise_ground)
        scene.view_layers[0].update()  # Blender 5.2 crashes when it writes a view layer that it has not made up yet
        bpy.data.libraries.write(str(path), {scene}, path_remap="ABSOLUTE")
    except OSError as error:
        raise CoreError(f'The folder "{path.parent}" cannot be written to: {error.strerror or error}.') from error
    finally:
        bpy.data.scenes.remove(scene)
    if not os.path.isfile(path):
        raise CoreError(f'Blender could not write "{path}". The disk may be full.')


def summary(rows: Sequence[Row]) -> tuple[str, str]:
    """Return the level of the report on all files, and its sentence."""
    made = [row for row in rows if row.action is not None]
    short, there, failed, left = (sum(row.state == state for row in rows) for state in (SHORT, THERE, FAILED, LEFT))
    parts = [
        f"{counted(len(made), 'motion')} retargeted",
        f"{short} missed contacts or targets" if short else "",
        f"{counted(there, 'file')} skipped: already retargeted" if there else "",
        f"{failed} failed" if failed else "",
        f"{counted(left, 'file')} left for the next run" if left else "",
    ]
    return "WARNING" if short or failed or left else "INFO", "; ".join(part for part in parts if part)
