"""`body`: the tools of the panel Body, on one pose or on every frame of a motion."""

import argparse
from collections.abc import Sequence
from dataclasses import Field, fields
from difflib import get_close_matches
from typing import Any, Final

import bpy
import numpy as np

from ..core import CoreError
from ..core.formats.table import FRAMES
from ..edits.body import BodyEdit
from ..edits.body_tools import TOOLS, BodyTool
from ..edits.info import find_armature
from ..edits.motion_edit import check_lasting
from ..edits.parts import check_sure
from .verbs import Verb, add_action, add_armature, tell_report

_FLAGS: Final = {"true": True, "false": False}
_LARGEST: Final = float(np.finfo(np.float32).max)  # numbers in Blender


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tool", required=True, choices=TOOLS, help="what is done to it")
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", dest="settings",
        help="settings of the tool, as they are called in Python; angles are in degrees",
    )  # fmt: skip
    add_armature(parser)
    parser.add_argument("--frames", metavar=("FIRST", "LAST"), nargs=2, type=int, help="every frame of these; keyed")
    parser.add_argument("--key", action="store_true", help="key the present frame")
    add_action(parser)


def _body(arguments: argparse.Namespace) -> int:
    armature = find_armature(arguments.armature)
    tool = read_tool(arguments.tool, arguments.settings)
    frames = None if arguments.frames is None else FRAMES.read(arguments.frames, "--frames")
    keyed = arguments.key or frames is not None
    check_sure(armature)
    check_lasting(armature, keyed, "Ask for --frames, or for a key with --key.")
    if arguments.action is not None and not keyed:
        raise CoreError("--action: nothing is keyed; ask for --frames, or for a key with --key.")
    edit = BodyEdit(bpy.context, armature, frames, tool, keyed)
    edit.solve()
    return tell_report(arguments, edit.write(armature, arguments.action))


VERB: Final = Verb("body", "pose a body by its parts", _options, _body)


def read_tool(name: str, texts: Sequence[str]) -> BodyTool:
    """Return a tool with the settings NAME=VALUE that are given; raises CoreError for those that it does not have."""
    kind, fixed = TOOLS[name]
    known = {setting.name: setting for setting in fields(kind) if setting.name not in fixed}
    values = dict(fixed)
    for text in texts:
        setting, _, value = text.partition("=")
        if setting not in known:
            near = get_close_matches(setting, list(known), 1)
            raise CoreError(f'--set: "{name}" has no "{setting}"' + (f'; did you mean "{near[0]}"?' if near else "."))
        values[setting] = _read(known[setting], value)
    return kind(**values)


def _read(setting: Field[Any], text: str) -> Any:
    """Return the value of a setting from its text; raises CoreError if it has no such value."""
    where, about = f"--set {setting.name}", setting.metadata
    if "items" in about or isinstance(setting.default, bool):
        choices = {item[0]: item[0] for item in about["items"]} if "items" in about else _FLAGS
        if text not in choices:
            raise CoreError(f'{where}: has to be {", ".join(choices)}, not "{text}".')
        return choices[text]
    if isinstance(setting.default, str):
        return text
    try:
        number = float(text)
    except ValueError:
        raise CoreError(f'{where}: has to be a number, not "{text}".') from None
    angle = about.get("subtype") == "ANGLE"
    value = np.radians(number) if angle else number
    ends = [float(np.float32(about.get(*end))) for end in (("min", -_LARGEST), ("max", _LARGEST))]
    if not ends[0] <= value <= ends[1]:
        least, most = np.degrees(ends) if angle else ends
        raise CoreError(f"{where}: has to be from {least:g} to {most:g}, not {text}.")
    return float(value)
