"""`blender --background [FILE.blend] --command poise VERB ...`: Poise without a window.

Exit codes: 0 done and every goal met; 1 done, but a goal could not be met; 2 bad input, nothing written; 3 a fault of
Poise itself, nothing written; 130 stopped by Ctrl-C, files are whole or not there.
"""

import argparse
import traceback
from typing import Final, NoReturn

from ..core import CoreError
from .batch import add_batch
from .body import add_body
from .contribute import add_contribute
from .feet import add_lock_feet
from .generate import add_generate
from .keypoints import add_keypoints
from .path import add_edit_path
from .reduce import add_bake, add_reduce_keys
from .retarget import add_retarget
from .verbs import BROKEN, FAULT, REFUSED, STOPPED, add_info, add_solve, tell
from .worker import add_worker

__all__ = ["run"]

_VERBS: Final = (
    add_info,
    add_solve,
    add_body,
    add_contribute,
    add_keypoints,
    add_lock_feet,
    add_generate,
    add_retarget,
    add_reduce_keys,
    add_bake,
    add_edit_path,
    add_batch,
)


class _Help(Exception):
    """The help was asked for and is printed."""


class _Parser(argparse.ArgumentParser):
    """argparse would end Blender where it should only refuse."""

    def error(self, message: str) -> NoReturn:
        raise CoreError(f"{message[:1].upper()}{message[1:]}. Try {self.prog} --help.")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _Help(message)


def run(argv: list[str]) -> int:
    """Run one verb with its options and return its exit code."""
    parser = _Parser(prog="blender --command poise", description=__doc__, allow_abbrev=False)
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for add in _VERBS:
        add(verbs)
    add_worker(verbs, run)
    try:
        arguments = parser.parse_args(argv)
        if "check" in arguments:
            arguments.check(arguments)
        return arguments.verb(arguments)
    except _Help:
        return 0
    except CoreError as error:
        tell(str(error))
        return REFUSED
    except KeyboardInterrupt:
        tell("Stopped.")
        return STOPPED
    except Exception:
        tell(traceback.format_exc())
        tell(FAULT)
        return BROKEN
