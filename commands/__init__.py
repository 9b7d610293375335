"""`blender --background [FILE.blend] --command poise VERB ...`: Poise without a window.

Exit codes: 0 done, every goal met, and Blender shows what was solved; 1 done, but a goal could not be met, or Blender
shows a bone more than 3 mm (of a human of 1.7 m) or 1 degree beside its pose; for bake these are 0.1 mm and 0.1
degrees, for reduce-keys its tolerance, and of solve and contribute only goals count; 2 bad input, nothing written; 3 a
bug in Poise itself, nothing written; 130 stopped by Ctrl-C, files are whole or not there.
"""

import argparse
import os
import platform
import shlex
import tempfile
import traceback
from typing import Final, NoReturn

import bpy

from .. import bridge
from ..core import CoreError
from ..edits.processes import WORKER
from . import body, contribute, export, keypoints, learn, motion, retarget, verbs
from .batch import add_batch
from .verbs import BROKEN, FAULT, REFUSED, STOPPED, tell
from .worker import add_worker

__all__ = ["run"]

_VERBS: Final = (
    *verbs.VERBS,
    *body.VERBS,
    contribute.VERB,
    keypoints.VERB,
    learn.VERB,
    *motion.VERBS,
    retarget.VERB,
    export.VERB,
)


class _Help(Exception):
    """The help is printed; there is nothing else to do."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises where argparse would end Blender."""

    def error(self, message: str) -> NoReturn:
        raise CoreError(f"{message[:1].upper()}{message[1:]}. Try {self.prog} --help.")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _Help(message)


def run(argv: list[str]) -> int:
    """Run one verb with its options and return its exit code."""
    parser = _Parser(prog="blender --command poise", description=__doc__, allow_abbrev=False)
    parsers = parser.add_subparsers(metavar="VERB", required=True)
    for verb in _VERBS:
        verb.add(parsers)
    add_batch(parsers)
    if argv[:1] == [WORKER]:  # for `batch` alone: no choice for people
        add_worker(parsers, run)
    try:
        arguments = parser.parse_args(argv)
        if arguments.check is not None:
            arguments.check(arguments)
        with bridge.interruptible(tell):
            return arguments.verb(arguments)
    except _Help:
        return 0
    except CoreError as error:
        tell(str(error))
        return REFUSED
    except KeyboardInterrupt:
        tell("Stopped.")
        return STOPPED
    except MemoryError:
        tell("There is not enough memory for this; nothing is written. Ask for fewer frames.")
        return REFUSED
    except Exception:
        _tell_fault(argv)
        return BROKEN


def _tell_fault(argv: list[str]) -> None:
    """Tell that Poise is at fault, and where the details are; with --verbose these are told, too."""
    trace = traceback.format_exc()
    versions = f"Blender {bpy.app.version_string}, Python {platform.python_version()}, {platform.platform()}"
    where = ""
    try:
        handle, name = tempfile.mkstemp(prefix="poise-fault-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{versions}\npoise {shlex.join(argv)}\n\n{trace}")
        where = f' Its details are in "{name}"; send that file with what you opened.'
    except OSError:  # nowhere to write
        pass
    for line in trace.splitlines()[0 if not where or "--verbose" in argv else -1 :]:
        tell(line)
    tell(f"{FAULT}{where}")
