"""`export-vrma`: the motion of an armature as a file of VRM Animation."""

import argparse
from pathlib import Path
from typing import Any, Final

from .. import bridge
from ..core import CoreError
from ..edits.files import write_files
from ..edits.info import find_armature
from ..edits.vrm_animation import export_vrma
from .verbs import DONE, Verb, add_armature, check_motion, frames_within, one_line, show, tell


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--file", metavar="FILE.vrma", type=Path, required=True, help="file to write")
    parser.add_argument("--frames", metavar=("FIRST", "LAST"), nargs=2, type=int, help="frame range of the motion")
    add_armature(parser)


def _export(arguments: argparse.Namespace) -> int:
    armature: Any = find_armature(arguments.armature)
    frames = frames_within(arguments, bridge.keyed_range(armature))
    content = export_vrma(armature, frames)
    data = {"armature": armature.name, "frames": list(frames), "file": str(arguments.file)}
    texts = {path: one_line(data) for path in arguments.texts}
    write_files(None, {**texts, arguments.file: content})
    tell(f'Frames {frames[0]} to {frames[1]} of "{armature.name}" are in "{arguments.file}".')
    show(arguments, data)
    return DONE


def _check(arguments: argparse.Namespace) -> None:
    """Raise CoreError if the file has another name than VRM Animations have, or the range of frames is wrong."""
    if arguments.file.suffix != ".vrma":
        raise CoreError(f'"{arguments.file}" does not end in ".vrma".')
    check_motion(arguments)


VERB: Final = Verb("export-vrma", "write the motion as a VRM Animation", _options, _export, _check, results=False)
