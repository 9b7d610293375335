"""`keypoints`: key a file of 3-D keypoints on an armature."""

import argparse
from dataclasses import asdict, fields
from pathlib import Path
from typing import Final

import bpy
import numpy as np

from ..core import CoreError
from ..core.formats.table import FRAME, number
from ..core.keypoints import AXES, LAYOUTS, METHODS, UNITS
from ..edits.info import find_armature
from ..edits.keypoints import READABLE, KeypointsJob, load_recording, perform_keypoints
from ..edits.parts import check_sure
from .verbs import Verb, add_action, add_armature, add_ground, add_mapping, take_ground, tell, tell_report

_NOISIEST: Final = 1e4  # millimetres
_CHOICES: Final = {None: None, "yes": True, "no": False, "hips": True, "feet": False}


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", metavar="FILE", type=Path, required=True, help=", ".join(READABLE))
    parser.add_argument("--layout", choices=LAYOUTS, help="layout of the points, instead of what the file says")
    add_mapping(parser, "JSON file that assigns markers to body points, or bones of a figure to body parts")
    add_armature(parser)
    parser.add_argument("--unit", choices=("auto", *UNITS), default="auto", help="unit of the points")
    parser.add_argument(
        "--up",
        choices=("auto", *AXES),
        default="auto",
        help="axis that points up; write --up=-Y for those that begin with -",
    )
    parser.add_argument("--fps", type=float, help="frames per second, instead of the times or the rate in the file")
    parser.add_argument("--start", type=int, default=1, help="frame of the first key")
    parser.add_argument("--method", choices=METHODS, default="corrected", help="how rotations are found")
    parser.add_argument("--noise", metavar="MM", type=float, help="noise of the points, if it is not to be measured")
    parser.add_argument("--raw", dest="smooth", action="store_false", help="do not filter")
    parser.add_argument("--exchange", choices=("yes", "no"), help="whether left and right are swapped in the file")
    parser.add_argument("--travel", choices=("hips", "feet"), help="how the location of the body is found")
    parser.add_argument("--no-lock", dest="lock_feet", action="store_false", help="do not lock feet on the ground")
    parser.add_argument(
        "--no-limits", dest="limits", action="store_false", help="do not keep joints within their limits"
    )
    parser.add_argument("--exact", action="store_true", help="bring wrists and ankles exactly to their points")
    add_ground(parser)
    add_action(parser)


def _check(arguments: argparse.Namespace) -> None:
    if arguments.fps is not None and not 0.0 < arguments.fps < np.inf:
        raise CoreError(f"--fps: must be a positive number, not {arguments.fps}.")
    if arguments.noise is not None:
        number(0.0, _NOISIEST).read(arguments.noise, "--noise")
    FRAME.read(arguments.start, "--start")


def _keypoints(arguments: argparse.Namespace) -> int:
    given = {field.name: getattr(arguments, field.name) for field in fields(KeypointsJob)}  # options have these names
    job = KeypointsJob(**given | {name: _CHOICES[given[name]] for name in ("exchange", "travel")})
    armature = find_armature(arguments.armature)
    take_ground(arguments, armature)
    check_sure(armature)
    recording = load_recording(bpy.context, arguments.input, job.layout, arguments.mapping)
    report, found = perform_keypoints(bpy.context, armature, recording, job)
    for note in found.notes:
        tell(note)
    return tell_report(arguments, report, **asdict(found))


VERB: Final = Verb(
    "keypoints", "key the motion of a body from 3D keypoints", _options, _keypoints, _check, mapped=False
)
