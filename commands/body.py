"""`body`: the tools of the panel Body, on one pose or on every frame of a motion."""

import argparse
from collections.abc import Sequence
from difflib import get_close_matches
from types import SimpleNamespace
from typing import Any, Final

import bpy
import numpy as np

from ..core import CoreError
from ..core.formats.fields import check_range
from ..edits.body import TOOLS, BodyEdit
from .verbs import add_common, add_results, armature_of, check_lasting, outputs, tell_report

_FLAGS: Final = {"true": True, "false": False}


def add_body(verbs: Any) -> None:
    parser = verbs.add_parser("body", help="pose a body by its parts", allow_abbrev=False)
    parser.add_argument("--tool", required=True, choices=TOOLS, help="what is done to it")
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", dest="settings",
        help="settings of the tool, as they are called in Python; angles are in degrees",
    )  # fmt: skip
    parser.add_argument("--armature", metavar="A", help="the armature, if there are several")
    parser.add_argument("--frames", metavar=("FIRST", "LAST"), nargs=2, type=int, help="every frame of these; keyed")
    parser.add_argument("--key", action="store_true", help="key the present frame")
    parser.add_argument("--action", metavar="NAME", help="of the new action")
    add_results(parser)
    add_common(parser)
    parser.set_defaults(verb=body)


def body(arguments: argparse.Namespace) -> int:
    """Use a tool."""
    texts = outputs(arguments)
    armature = armature_of(arguments.armature)
    settings = read_settings(arguments.tool, arguments.settings)
    frames = None if arguments.frames is None else check_range(tuple(arguments.frames), "--frames")
    keyed = arguments.key or frames is not None
    check_lasting(armature, keyed, "Ask for --frames, or for a key with --key.")
    if arguments.action is not None and not keyed:
        raise CoreError("--action: nothing is keyed; ask for --frames, or for a key with --key.")
    edit = BodyEdit(bpy.context, armature, frames, arguments.tool, settings, keyed)
    edit.solve()
    return tell_report(arguments, edit.write(armature, arguments.action), texts)


def read_settings(tool: str, texts: Sequence[str]) -> SimpleNamespace:
    """All settings of a tool, as its operator has them, and as they are given; raises CoreError for what it has not."""
    operator, fixed = TOOLS[tool]
    operators: Any = bpy.ops
    found = getattr(operators.poise, operator).get_rna_type().properties
    known = {one.identifier: one for one in found if not one.is_readonly}
    values = {name: one.default for name, one in known.items()} | fixed
    for text in texts:
        name, _, value = text.partition("=")
        if name not in known or name in fixed:
            near = get_close_matches(name, [other for other in known if other not in fixed], 1)
            raise CoreError(f'--set: "{tool}" has no "{name}"' + (f'; did you mean "{near[0]}"?' if near else "."))
        values[name] = _read(known[name], value)
    return SimpleNamespace(**values)


def _read(setting: Any, text: str) -> Any:
    """The value of a setting from what was written; raises CoreError if it is none."""
    where = f"--set {setting.identifier}"
    if setting.type == "STRING":
        return text
    if setting.type in ("ENUM", "BOOLEAN"):
        choices = (
            {item.identifier: item.identifier for item in setting.enum_items} if setting.type == "ENUM" else _FLAGS
        )
        if text not in choices:
            raise CoreError(f'{where}: has to be {", ".join(choices)}, not "{text}".')
        return choices[text]
    try:
        number = float(text)
    except ValueError:
        raise CoreError(f'{where}: has to be a number, not "{text}".') from None
    value = np.radians(number) if setting.subtype == "ANGLE" else number
    if not setting.hard_min <= value <= setting.hard_max:
        least, most = (
            np.degrees(end) if setting.subtype == "ANGLE" else end for end in (setting.hard_min, setting.hard_max)
        )
        raise CoreError(f"{where}: has to be from {least:g} to {most:g}, not {text}.")
    return float(value)
