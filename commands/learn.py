"""`learn`: limits, stiffness or a chain's list from the motion of an armature."""

import argparse
from pathlib import Path
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError
from ..core.formats.chain_list import Ccd, list_text
from ..core.formats.limits import limits_text
from ..core.steps import run_steps
from ..edits.contribute import keyed_part, learn_chain
from ..edits.files import write_files
from ..edits.info import find_armature
from ..edits.learn import Learned, learn_limits, learn_stiffness
from .verbs import DONE, Verb, add_armature, check_bones, one_line, show, tell

_MARGIN: Final = 5.0  # degrees
_WIDEST: Final = 90.0


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--what", choices=("limits", "stiffness", "list"), required=True, help="what to learn")
    add_armature(parser)
    parser.add_argument("--bones", metavar="BONE", nargs="+", help="limits: bones to learn from; by default all")
    parser.add_argument("--margin", metavar="DEGREES", type=float, default=_MARGIN, help="limits: margin to add")
    parser.add_argument("--chain", metavar="BASE:EFFECTOR", help="list: the chain's first and last bone")
    parser.add_argument("--file", metavar="FILE.json", type=Path, help="also write the limits, or the list, here")


def _learn(arguments: argparse.Namespace) -> int:
    armature: Any = find_armature(arguments.armature)
    text = ""
    if arguments.what == "list":
        if arguments.file is None:
            raise CoreError("--file is missing. The list is written to it.")
        found = learn_chain(armature, arguments.chain, keyed_part(armature, None))
        text = list_text(Ccd(actuations=found.actuations, successive=True))
        error = float(np.degrees(found.error))
        learned = Learned(
            tuple(dict.fromkeys(str(one.bone) for one in found.actuations)),
            f"A list of {len(found.actuations)} entries follows the motion to {error:.2f} degrees per joint", False,
        )  # fmt: skip
    elif arguments.what == "stiffness":
        learned = run_steps(learn_stiffness(armature), bridge.check_stopped)
    else:
        if not 0.0 <= arguments.margin <= _WIDEST:
            raise CoreError(f"--margin: must be between 0 and {_WIDEST:g}, not {arguments.margin:g}.")
        bones = arguments.bones or [bone.name for bone in armature.pose.bones]
        check_bones(armature, bones)
        steps = learn_limits(bpy.context, armature, bones, float(np.radians(arguments.margin)))
        learned = run_steps(steps, bridge.check_stopped)
        text = limits_text({bone: bridge.read_learned(armature.pose.bones[bone]) for bone in learned.bones})
    data = {"armature": armature.name, "what": arguments.what, "bones": list(learned.bones)}
    files = {path: one_line(data) for path in arguments.texts if path != arguments.file}
    if arguments.file is not None:
        if not text:
            raise CoreError("--file: stiffness is only kept with the bones. Use --output.")
        files[arguments.file] = text
    write_files(arguments.output, files)
    tell(f"{armature.name}: {learned.sentence}.")
    show(arguments, data)
    return DONE


VERB: Final = Verb("learn", "learn limits, stiffness or a list from the motion", _options, _learn)
