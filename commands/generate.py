"""`generate`: a motion from two key poses, by a recipe."""

import argparse
from pathlib import Path
from typing import Any

import bpy

from .. import bridge
from ..core import CoreError
from ..core.formats.recipe import (
    preset_names,
    read_recipe,
)
from ..core.formats.table import FRAME_LIMIT
from ..edits.generate import Generated
from ..edits.reduce import ALL as REDUCE_ALL
from ..edits.reduce import Reduced, check_tolerance
from .verbs import add_common, add_results, armature_of, outputs, tell, tell_report


def add_generate(verbs: Any) -> None:
    parser = verbs.add_parser("generate", help="make a motion from two key poses", allow_abbrev=False)
    parser.add_argument(
        "--recipe", metavar="RECIPE.json", type=Path, required=True,
        help=f"what to make: a file, or one that comes with Poise: {', '.join(preset_names())}",
    )  # fmt: skip
    parser.add_argument("--armature", metavar="A", help="the armature, if there are several")
    parser.add_argument("--start", metavar="FRAME", type=int, help="its first frame, by default that of the scene")
    parser.add_argument("--action", metavar="NAME", help="of the new action")
    parser.add_argument(
        "--tolerance", metavar="M", type=float, help="only keys that keep all bones within so many metres of the motion"
    )
    add_results(parser)
    add_common(parser)
    parser.set_defaults(verb=generate, check=check_numbers)


def check_numbers(arguments: argparse.Namespace) -> None:
    if arguments.start is not None and abs(arguments.start) > FRAME_LIMIT:
        raise CoreError(f"--start: must be between {-FRAME_LIMIT} and {FRAME_LIMIT}.")
    if arguments.tolerance is not None:
        check_tolerance(arguments.tolerance)


def generate(arguments: argparse.Namespace) -> int:
    """Make a motion; returns 1 if what bears the body is off its place."""
    texts = outputs(arguments)
    recipe = read_recipe(arguments.recipe)
    armature = armature_of(arguments.armature)
    context: Any = bpy.context
    start = context.scene.frame_start if arguments.start is None else arguments.start
    edit = Generated(context, armature, recipe, start)
    edit.solve()
    report = edit.write(armature, arguments.action or f"{armature.name} {recipe.name}")
    tell(f'A motion of {recipe.seconds:g} seconds by the recipe "{recipe.name}".')
    if arguments.tolerance is not None:
        fewer = Reduced(context, armature, bridge.keyed_range(armature), [REDUCE_ALL], arguments.tolerance)
        fewer.solve()
        fewer.write(armature, new=False)
        tell(f"{fewer.told()}.")
    return tell_report(arguments, report, texts, recipe=recipe.name)
