"""The verbs that change or make motions, from `lock-feet` to `in-betweens`."""

import argparse
from functools import partial
from pathlib import Path
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError
from ..core.editing.foot_lock import EASE
from ..core.formats.recipe import PART_TRACK, RECIPE, preset_names, read_recipe
from ..core.formats.table import FRAME, number
from ..edits import in_between, loop, path, reduce, root_motion, smoothing
from ..edits.bake import Baked
from ..edits.dragged_frame import MOST, DraggedFrame, check_shift, falloff_at
from ..edits.fix_ground import FixedGround, check_height
from ..edits.foot_lock import DRIFTS, FEET, HANDS, LONGEST, LockedFeet, check_points
from ..edits.generate import Generated
from ..edits.in_between import InBetweenEdit
from ..edits.info import find_armature
from ..edits.loop import LoopEdit
from ..edits.parts import check_sure
from ..edits.path import PathEdit
from ..edits.reduce import Reduced
from ..edits.root_motion import RootMotion
from ..edits.smoothing import SmoothEdit
from ..edits.trails import read_trail
from .verbs import (
    Verb,
    add_action,
    add_armature,
    add_changed,
    add_ground,
    add_motion,
    armature_of,
    check_bones,
    check_motion,
    frames_within,
    motion_of,
    take_ground,
    tell,
    tell_report,
)

_USUAL: Final = f"{1e3 * reduce.TOLERANCE:g} mm for a human of 1.7 m, in proportion for other sizes"


def _feet_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--points", nargs="+", default=[FEET], metavar="POINT",
        help=f'what can touch the ground: "{FEET}" (heel, ball and toe of each), "{HANDS}", or names of bones',
    )  # fmt: skip
    parser.add_argument(
        "--ease", type=float, default=EASE, metavar="S",
        help="seconds to ease in and out; longer where feet swing slowly, as in slow motion",
    )  # fmt: skip
    parser.add_argument(
        "--drift", choices=DRIFTS, default=DRIFTS[0],
        help="where standing feet all slide alike: remove that drift from the path of the body; keep "
            "the path, such as of a motion scaled on purpose, and plant the feet on it; or none: what "
            "slides is not planted, such as skaters' feet",
    )  # fmt: skip
    add_ground(parser)
    add_motion(parser)


def _check_feet(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    number(0.0, LONGEST).read(arguments.ease, "--ease")


def _lock_feet(arguments: argparse.Namespace) -> int:
    if not {FEET, HANDS}.isdisjoint(arguments.points):
        check_sure(find_armature(arguments.armature))
    armature, frames = motion_of(arguments, partial(check_points, points=arguments.points))
    edit = LockedFeet(bpy.context, armature, frames, arguments.points, arguments.ease, arguments.drift)
    edit.solve()
    report = edit.write(armature, arguments.action)
    skating = edit.skating()
    before, after, low_before, low_after = skating.values()
    tell(f"{len(edit.pins)} contacts; {before:.1%} of the steps in contact slid before, {after:.1%} do now.")
    tell(
        f"Of all steps of low feet, including swinging ones, {low_before:.1%} were as fast before, "
        f"{low_after:.1%} are now."
    )
    return tell_report(arguments, report, skating=skating)


def _generate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--recipe", metavar="RECIPE.json", type=Path, required=True,
        help=f"recipe to use: a file, or one that comes with Poise: {', '.join(preset_names())}",
    )  # fmt: skip
    add_armature(parser)
    parser.add_argument(
        "--start", metavar="FRAME", type=int, help="first frame; by default the current frame of the scene"
    )
    add_ground(parser)
    add_action(parser)
    parser.add_argument(
        "--tolerance",
        metavar="M",
        type=float,
        help="keep only the keys needed for all bones to stay within this many meters of the motion",
    )


def _check_generate(arguments: argparse.Namespace) -> None:
    if arguments.start is not None:
        FRAME.read(arguments.start, "--start")
    if arguments.tolerance is not None:
        reduce.check_tolerance(arguments.tolerance)


def _generate(arguments: argparse.Namespace) -> int:
    recipe = read_recipe(arguments.recipe)
    armature = find_armature(arguments.armature)
    check_sure(armature)
    context: Any = bpy.context
    start = context.scene.frame_start if arguments.start is None else arguments.start
    take_ground(arguments, armature)
    reduce.check_tolerance_on(armature, arguments.tolerance)
    edit = Generated(context, armature, recipe, start)
    edit.solve()
    report = edit.write(armature, arguments.action or f"{armature.name} {recipe.name}")
    said = [f'A motion of {recipe.seconds:g} seconds from the recipe "{recipe.name}"']
    if arguments.tolerance is not None:
        fewer = Reduced(context, armature, bridge.keyed_range(armature), (), arguments.tolerance)
        fewer.solve()
        fewer.write(armature, new=False)
        said.append(fewer.summary())
    for sentence in said:  # nothing is said of what is stopped
        tell(f"{sentence}.")
    return tell_report(arguments, report, recipe=recipe.name)


def _reduce_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="M",
        help="tolerance in world space in meters, of tails and of points one bone length beside heads, "
        f"by default {_USUAL}",
    )
    parser.add_argument(
        "--bones", nargs="+", default=[], metavar="BONE",
        help=f'names or roles of bones to keep within the tolerance, by default all; "{reduce.BODY}": '
            'hips, head, hands and feet',
    )  # fmt: skip
    add_motion(parser)


def _check_reduce(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    if arguments.tolerance is not None:
        reduce.check_tolerance(arguments.tolerance)


def _reduce(arguments: argparse.Namespace) -> int:
    armature, frames = motion_of(arguments, partial(reduce.check_bones, bones=arguments.bones))
    edit = Reduced(bpy.context, armature, frames, arguments.bones, arguments.tolerance)
    edit.solve()
    report = edit.write(armature, arguments.action)
    tell(f"{edit.summary()}.")
    keys = {"kept": edit.kept, "before": edit.keyed, "all_kept": edit.all_kept, "all_before": edit.all_keyed}
    return tell_report(arguments, report, keys=keys)


def _bake_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--step", type=int, default=1, metavar="N", help="frames from one key to the next")
    parser.add_argument("--bones", nargs="+", default=[], metavar="BONE", help="bones by name, by default all")
    parser.add_argument(
        "--visual", action="store_true", help="also key the result of constraints, drivers and curve modifiers"
    )
    parser.add_argument("--mute", action="store_true", help="and mute the constraints that drive these bones")
    parser.add_argument(
        "--present", action="store_true", help="change the current action instead of creating a new one"
    )
    add_motion(parser)


def _check_bake(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    if arguments.step < 1:
        raise CoreError(f"--step: must be at least 1, not {arguments.step}.")
    if arguments.present and arguments.action is not None:
        raise CoreError("--action: names a new action; not with --present.")


def _bake(arguments: argparse.Namespace) -> int:
    armature = armature_of(arguments)
    check_bones(armature, arguments.bones)
    frames = tuple(arguments.frames) if arguments.frames else None
    if frames is None or bridge.is_moved_by_keys(armature):
        frames = frames_within(arguments, bridge.keyed_range(armature))
    edit = Baked(bpy.context, armature, frames, arguments.bones, arguments.step, arguments.visual, arguments.mute)
    edit.measured = True
    edit.solve()
    report = edit.write(armature, arguments.action, not arguments.present)
    if edit.unkeyed():
        tell(f"{edit.unkeyed()}.")
    return tell_report(arguments, report)


def _path_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--offset", type=float, nargs=3, default=(0.0, 0.0, 0.0), metavar=("X", "Y", "Z"), help="movement in meters"
    )
    parser.add_argument("--scale", type=float, default=1.0, metavar="S", help="scale of the length of the path")
    parser.add_argument(
        "--bend", type=float, default=0.0, metavar="D", help="angle in degrees by which the path has turned at its end"
    )
    parser.add_argument(
        "--ease",
        type=float,
        default=path.EASE,
        metavar="S",
        help="seconds beside --frames over which an offset eases in and out",
    )
    add_feet(parser)
    add_motion(parser)


def _check_path(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    path.check_path(arguments.offset, arguments.scale, arguments.bend, arguments.ease)
    path.check_changes(arguments.offset, arguments.scale, arguments.bend)


def _edit_path(arguments: argparse.Namespace) -> int:
    armature, frames = motion_of(arguments)
    check_sure(armature)
    edit = PathEdit(
        bpy.context, armature, frames, arguments.offset, arguments.scale, arguments.bend, not arguments.no_feet,
        arguments.ease,
    )  # fmt: skip
    edit.solve()
    return tell_report(arguments, edit.write(armature, arguments.action))


def add_feet(parser: argparse.ArgumentParser) -> None:
    """Add the options that leave the feet as the change of the motion has them, and that say what they stand on."""
    parser.add_argument("--no-feet", action="store_true", help="do not plant the feet")
    add_ground(parser)


def _carry_out(
    arguments: argparse.Namespace, armature: Any, edit: RootMotion | LoopEdit | SmoothEdit | FixedGround
) -> int:
    """Solve an edit, say by how much it changes the motion, and write it; return the exit code."""
    edit.solve()
    tell(f"{edit.summary()}.")
    return tell_report(arguments, edit.write(armature, arguments.action), warnings=edit.advice())


def _root_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--to", choices=("nobody", "root", "object", "body"), required=True,
        help="what travels over the ground: nothing, so that the body moves in place, its root bone or "
            "control, the armature object, or its hips",
    )  # fmt: skip
    parser.add_argument(
        "--smooth",
        type=float,
        default=root_motion.SMOOTH,
        metavar="S",
        help="seconds; quicker sway and rotation stay with the body",
    )
    parser.add_argument(
        "--axes",
        nargs="+",
        choices=root_motion.AXES,
        default=root_motion.AXES,
        help="what is transferred, by default all",
    )
    add_motion(parser)


def _check_root(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    root_motion.check_root_motion(arguments.smooth, arguments.axes)


def _root_motion(arguments: argparse.Namespace) -> int:
    armature, frames = motion_of(arguments)
    check_sure(armature)
    edit = RootMotion(bpy.context, armature, frames, arguments.to, arguments.smooth, arguments.axes)
    return _carry_out(arguments, armature, edit)


def _loop_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--find", action="store_true", help="use only the cycle within the range that needs the least change"
    )
    parser.add_argument(
        "--fade", type=float, default=loop.FADE, metavar="S", help="seconds over which each end changes"
    )
    parser.add_argument(
        "--turn", action="store_true", help="rotate in each cycle as the body does, instead of going straight ahead"
    )
    add_feet(parser)
    add_motion(parser)


def _check_loop(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    loop.check_loop(arguments.fade)


def _make_loop(arguments: argparse.Namespace) -> int:
    armature, frames = motion_of(arguments)
    check_sure(armature)
    edit = LoopEdit(
        bpy.context, armature, frames, arguments.find, arguments.fade, arguments.turn, not arguments.no_feet
    )
    return _carry_out(arguments, armature, edit)


def _ground_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--height", type=float, default=0.0, metavar="M", help="height of the ground where it has no mesh"
    )
    add_ground(parser)
    add_motion(parser)


def _check_ground(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    check_height(arguments.height)


def _fix_ground(arguments: argparse.Namespace) -> int:
    armature, frames = motion_of(arguments)
    check_sure(armature)
    return _carry_out(arguments, armature, FixedGround(bpy.context, armature, frames, arguments.height))


def _smooth_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cutoff",
        type=float,
        default=smoothing.CUTOFF,
        metavar="HZ",
        help="remove movement that is quicker than this; lower values smooth more",
    )
    parser.add_argument(
        "--pops", type=float, default=smoothing.POP, metavar="D",
        help="replace frames that differ from their neighbors by more than this, in degrees; 0: none",
    )  # fmt: skip
    parser.add_argument(
        "--bones",
        nargs="+",
        default=[],
        metavar="BONE",
        help="names, roles or parts, by default all",
    )
    add_feet(parser)
    add_motion(parser)


def _check_smooth(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    smoothing.check_smoothing(arguments.cutoff, arguments.pops)


def _smooth(arguments: argparse.Namespace) -> int:
    armature, frames = motion_of(arguments)
    check_sure(armature)
    edit = SmoothEdit(
        bpy.context, armature, frames, arguments.bones, arguments.cutoff, arguments.pops, not arguments.no_feet
    )
    return _carry_out(arguments, armature, edit)


def _drag_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bone", required=True, metavar="BONE", help="name or role of the bone whose head is moved")
    parser.add_argument("--frame", required=True, type=int, metavar="N", help="frame at which it is moved")
    parser.add_argument(
        "--shift", required=True, type=float, nargs=3, metavar=("X", "Y", "Z"), help="movement in meters"
    )
    parser.add_argument(
        "--falloff", type=float, default=10.0, metavar="F",
        help="frames before and after it that follow; the frames in which a foot stands are moved as one",
    )  # fmt: skip
    parser.add_argument("--steps", action="store_true", help="move the footsteps along with the path of the hips")
    add_changed(parser)


def _check_drag(arguments: argparse.Namespace) -> None:
    check_shift(arguments.shift)
    if not any(arguments.shift):
        raise CoreError("--shift: give the movement of the bone as numbers in meters.")
    if not 0.0 <= arguments.falloff <= MOST:
        raise CoreError(f"A falloff must be between 0 and {MOST} frames.")


def _drag_frame(arguments: argparse.Namespace) -> int:
    armature: Any = armature_of(arguments)
    check_sure(armature)
    skeleton = bridge.read_rig(armature).skeleton
    bone = skeleton.names[reduce.chosen_bones(armature, skeleton, [arguments.bone])[0]]
    falloff = falloff_at(read_trail(bpy.context, armature, bone), arguments.frame, arguments.falloff)
    edit = DraggedFrame(bpy.context, armature, bone, (0.0, 0.0, 0.0), arguments.frame, falloff, arguments.steps)
    edit.shift(np.array(arguments.shift))
    edit.solve()
    report = edit.write(armature, arguments.action)
    if edit.between_keys():
        tell(f"{edit.between_keys()}.")
    return tell_report(arguments, report)


def _between_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-feet", action="store_true", help="only smooth the curves: no standing feet, no flights")
    parser.add_argument(
        "--breakdowns", type=float, default=in_between.SHARE, metavar="PERCENT",
        help="of the frames between key poses that get keys, at most, but one in any case",
    )  # fmt: skip
    parser.add_argument(
        "--tolerance", type=float, metavar="M",
        help=f"meters: use fewer breakdowns where the body stays this near, by default {_USUAL}",
    )  # fmt: skip
    add_motion(parser)


def _check_between(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    if not 0.0 <= arguments.breakdowns <= 100.0:
        raise CoreError(f"The share of breakdowns is from 0 to 100 percent, not {arguments.breakdowns:g}.")
    if arguments.tolerance not in (None, 0.0):
        reduce.check_tolerance(arguments.tolerance)


def _in_betweens(arguments: argparse.Namespace) -> int:
    armature, frames = motion_of(arguments)
    check_sure(armature)
    edit = InBetweenEdit(
        bpy.context, armature, frames, not arguments.no_feet, share=arguments.breakdowns, tolerance=arguments.tolerance
    )
    edit.solve()
    report = edit.write(armature, arguments.action)
    tell(f"{edit.summary()}.")
    return tell_report(arguments, report)


VERBS: Final = (
    Verb("lock-feet", "plant feet where they touch the ground", _feet_options, _lock_feet, _check_feet),
    Verb("generate", "generate a motion from two key poses", _generate_options, _generate, _check_generate,
         formats={"RECIPE.json": (RECIPE,), "a track": (PART_TRACK,)}),
    Verb("reduce-keys", "remove keys that are not needed within a tolerance", _reduce_options, _reduce, _check_reduce),
    Verb("bake", "key every frame of a range", _bake_options, _bake, _check_bake),
    Verb("edit-path", "move, scale or bend the path of a motion", _path_options, _edit_path, _check_path),
    Verb("root-motion", "transfer the travel to a root bone, or remove it", _root_options, _root_motion, _check_root),
    Verb("make-loop", "let a motion end as it begins", _loop_options, _make_loop, _check_loop),
    Verb("drag-frame", "move a bone at one frame, with the motion around it", _drag_options, _drag_frame, _check_drag),
    Verb("fix-ground", "raise a motion where it is below the ground", _ground_options, _fix_ground, _check_ground),
    Verb("smooth", "remove jitter and pops from a motion", _smooth_options, _smooth, _check_smooth),
    Verb("in-betweens", "fill in the motion between key poses", _between_options, _in_betweens, _check_between),
)  # fmt: skip
