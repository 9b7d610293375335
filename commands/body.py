"""`body`: the tools of the panel Body, on one pose or on every frame of a motion. `apply-pose`: another body's pose."""

import argparse
from collections.abc import Sequence
from dataclasses import Field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import bpy
import numpy as np

from ..core import CoreError
from ..core.body import SIDES
from ..core.formats.pose import PART_POSE, read_pose_file
from ..core.formats.table import FRAME_LIMIT, FRAMES, UNIT, number
from ..edits.body import BodyEdit
from ..edits.body_tools import TOOLS, BodyTool, GripObject
from ..edits.hold import Holding
from ..edits.info import find_armature
from ..edits.motion_edit import check_lasting
from ..edits.part_poses import ApplyPose, pose_of_armature, pose_of_asset, posed_parts
from ..edits.parts import check_sure
from ..edits.reduce import Reduced, check_tolerance, check_tolerance_on
from ..edits.retarget import PARTS
from .verbs import Verb, add_action, add_armature, tell, tell_report

_FLAGS: Final = {"true": True, "false": False}
_LARGEST: Final = float(np.finfo(np.float32).max)  # numbers in Blender


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tool", required=True, choices=TOOLS, help="tool to use")
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", dest="settings",
        help="settings of the tool, with their names in Python; angles are in degrees",
    )  # fmt: skip
    add_armature(parser)
    parser.add_argument(
        "--frames", metavar=("FIRST", "LAST"), nargs=2, type=int, help="pose and key every frame of this range"
    )
    parser.add_argument("--key", action="store_true", help="key the current frame")
    add_action(parser)


def _body(arguments: argparse.Namespace) -> int:
    armature = find_armature(arguments.armature)
    tool = read_tool(arguments.tool, arguments.settings)
    frames = None if arguments.frames is None else FRAMES.read(arguments.frames, "--frames")
    keyed = arguments.key or frames is not None
    check_sure(armature)
    _check_keys(arguments, armature, keyed, "Use --frames, or --key to key the current frame.")
    return _posed(arguments, BodyEdit(bpy.context, armature, frames, tool, keyed), armature)


def _check_keys(arguments: argparse.Namespace, armature: Any, keyed: bool, way_out: str) -> None:
    """Raise CoreError where a pose would be lost without keys, or an action is named and nothing is keyed."""
    check_lasting(armature, keyed, way_out)
    if arguments.action is not None and not keyed:
        raise CoreError(f"--action: nothing is keyed. {way_out}")


def _posed(arguments: argparse.Namespace, edit: BodyEdit, armature: Any) -> int:
    edit.solve()
    return tell_report(arguments, edit.write(armature, arguments.action))


def _pose_options(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--pose", metavar="ACTION", help="action with the pose, such as a pose asset")
    source.add_argument("--source", metavar="A", help="armature in the file with the pose, at its current frame")
    source.add_argument("--input", metavar="POSE.json", type=Path, help="pose copied by Copy Pose by Parts")
    parser.add_argument("--library", metavar="FILE.blend", type=Path, help="file with the action of --pose")
    parser.add_argument("--at", metavar="FRAME", type=float, help="frame of the action; by default its first")
    parser.add_argument("--owner", metavar="A", default="", help="armature that the action was made with")
    parser.add_argument(
        "--factor", type=float, default=1.0, metavar="F", help="blend from the current pose (0) to the other one (1)"
    )
    parser.add_argument("--mirrored", action="store_true", help="swap left and right")
    parser.add_argument(
        "--parts", nargs="+", default=[], metavar="PART",
        help=f"pose only these: bones, roles, arm.L, leg.R, spine, {', '.join(PARTS)}",
    )  # fmt: skip
    add_armature(parser)
    parser.add_argument("--key", action="store_true", help="key the current frame")
    add_action(parser)


def _grip_options(parser: argparse.ArgumentParser) -> None:
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--object", metavar="NAME", help="object to grip; by default all meshes in reach")
    target.add_argument("--collection", metavar="NAME", help="collection whose meshes to grip")
    parser.add_argument("--hands", nargs="+", choices=SIDES, default=[*SIDES], help="by default both")
    parser.add_argument(
        "--close",
        type=float,
        default=1.0,
        metavar="F",
        help="how far the fingers close, from 0 (not at all) to 1 (until they touch)",
    )
    parser.add_argument(
        "--margin", type=float, default=0.0, metavar="M", help="distance between skin and meshes in meters"
    )
    parser.add_argument(
        "--frames", metavar=("FIRST", "LAST"), nargs=2, type=int, help="grip and key every frame of this range"
    )
    parser.add_argument(
        "--hold", metavar="EASE", type=int,
        help="keep the hands in place on the object as at the first frame, easing in and out over this "
            "many frames",
    )  # fmt: skip
    parser.add_argument(
        "--tolerance", metavar="M", type=float,
        help="keep only the keys of the fingers needed for them to stay within this many meters of the grip",
    )  # fmt: skip
    add_armature(parser)
    parser.add_argument("--key", action="store_true", help="key the current frame")
    add_action(parser)


def _check_grip(arguments: argparse.Namespace) -> None:
    UNIT.read(arguments.close, "--close")
    number(-1.0, 1.0).read(arguments.margin, "--margin")
    if arguments.hold is not None:
        number(0, FRAME_LIMIT).read(arguments.hold, "--hold")
    if arguments.tolerance is not None:
        check_tolerance(arguments.tolerance)
    for name in ("hold", "tolerance"):
        if arguments.frames is None and getattr(arguments, name) is not None:
            raise CoreError(f"--{name}: only with --frames.")


def _grip(arguments: argparse.Namespace) -> int:
    armature, context = find_armature(arguments.armature), bpy.context
    target = "OBJECT" if arguments.object else "COLLECTION" if arguments.collection else "NEAR"
    side = "BOTH" if len({*arguments.hands}) > 1 else arguments.hands[0]
    names = arguments.object or "", arguments.collection or ""
    tool = GripObject(target, side, arguments.close, arguments.margin, *names)
    frames = None if arguments.frames is None else FRAMES.read(arguments.frames, "--frames")
    keyed = arguments.key or frames is not None
    check_sure(armature)
    check_tolerance_on(armature, arguments.tolerance)
    _check_keys(arguments, armature, keyed, "Use --frames, or --key to key the current frame.")
    holding = None
    if frames is not None and arguments.hold is not None:
        holding = Holding(context, armature, tool, frames, arguments.hold)
    edit = holding.fingers if holding else BodyEdit(context, armature, frames, tool, keyed)
    edit.solve()
    report = edit.write(armature, None if holding else arguments.action)
    if arguments.tolerance is not None and report.rotated:
        keyed_frames = round(float(report.frames[0])), round(float(report.frames[-1]))
        fewer = Reduced(context, armature, keyed_frames, report.rotated, arguments.tolerance, alone=True)
        fewer.solve()
        fewer.write(armature, new=False)
        tell(f"{fewer.summary()}.")
    if holding is None:
        return tell_report(arguments, report)
    pinned = holding.pinned(context, armature)
    pinned.solve()
    return tell_report(arguments, pinned.write(armature, arguments.action))


def _check_pose(arguments: argparse.Namespace) -> None:
    UNIT.read(arguments.factor, "--factor")
    if arguments.at is not None:
        number(-FRAME_LIMIT, FRAME_LIMIT).read(arguments.at, "--at")
    for name in ("library", "at", "owner"):
        if arguments.pose is None and getattr(arguments, name) not in (None, ""):
            raise CoreError(f"--{name}: only with --pose.")


def _apply_pose(arguments: argparse.Namespace) -> int:
    armature, context = find_armature(arguments.armature), bpy.context
    check_sure(armature)
    _check_keys(arguments, armature, arguments.key, "Use --key to key the current frame.")
    if arguments.input is not None:
        pose = read_pose_file(arguments.input)
    elif arguments.source is not None:
        source = find_armature(arguments.source, "--source")
        check_sure(source, by_motion=True)
        pose = pose_of_armature(source)
    else:
        library = "" if arguments.library is None else str(arguments.library)
        pose = pose_of_asset(context, armature, arguments.pose, library, arguments.at, arguments.owner)
    parts = posed_parts(armature, arguments.parts)
    tool = ApplyPose(pose.mirrored() if arguments.mirrored else pose, arguments.factor, parts)
    return _posed(arguments, BodyEdit(context, armature, None, tool, arguments.key), armature)


VERBS: Final = (
    Verb("body", "pose a body by its parts", _options, _body),
    Verb("grip", "close the fingers of hands around an object", _grip_options, _grip, _check_grip),
    Verb(
        "apply-pose",
        "give a body the pose of another one",
        _pose_options,
        _apply_pose,
        _check_pose,
        formats={"POSE.json": (PART_POSE,)},
    ),
)


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
            raise CoreError(f'{where}: must be {", ".join(choices)}, not "{text}".')
        return choices[text]
    if isinstance(setting.default, str):
        return text
    try:
        number = float(text)
    except ValueError:
        raise CoreError(f'{where}: must be a number, not "{text}".') from None
    angle = about.get("subtype") == "ANGLE"
    value = np.radians(number) if angle else number
    ends = [float(np.float32(about.get(*end))) for end in (("min", -_LARGEST), ("max", _LARGEST))]
    if not ends[0] <= value <= ends[1]:
        least, most = np.degrees(ends) if angle else ends
        raise CoreError(f"{where}: must be from {least:g} to {most:g}, not {text}.")
    return float(value)
