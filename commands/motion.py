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
from ..core.formats.table import FRAME_LIMIT
from ..edits import in_between, loop, path, reduce, root_motion, smoothing
from ..edits.bake import Baked
from ..edits.dragged_frame import MOST, DraggedFrame, falloff_at
from ..edits.fix_ground import FixedGround, check_height
from ..edits.foot_lock import DRIFTS, FEET, HANDS, LockedFeet, check_points
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


def _feet_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--points", nargs="+", default=[FEET], metavar="POINT",
        help=f'what may touch the ground: "{FEET}" (heel, ball and toe of each), "{HANDS}", or names of bones',
    )  # fmt: skip
    parser.add_argument("--ease", type=float, default=EASE, metavar="S", help="seconds to come and go in")
    parser.add_argument(
        "--drift", choices=DRIFTS, default=DRIFTS[0],
        help="where feet that stand all slide alike: remove that from the way of the body; keep the way, as one that "
        "was scaled on purpose, and plant the feet on it; or none: what slides does not stand, as skaters' feet",
    )  # fmt: skip
    add_ground(parser)
    add_motion(parser)


def _check_feet(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    if not arguments.ease >= 0.0:
        raise CoreError(f"--ease: must be at least 0, not {arguments.ease:g}.")


def _lock_feet(arguments: argparse.Namespace) -> int:
    if not {FEET, HANDS}.isdisjoint(arguments.points):
        check_sure(find_armature(arguments.armature))
    armature, frames = motion_of(arguments, partial(check_points, points=arguments.points))
    edit = LockedFeet(bpy.context, armature, frames, arguments.points, arguments.ease, arguments.drift)
    edit.solve()
    report = edit.write(armature, arguments.action)
    skating = edit.skating()
    before, after, low_before, low_after = skating.values()
    tell(f"{len(edit.pins)} touches; {before:.1%} of the steps in contact skated before, {after:.1%} do now.")
    tell(f"Of all steps of low feet, also of those that swing, {low_before:.1%} were as fast, {low_after:.1%} are now.")
    return tell_report(arguments, report, skating=skating)


def _generate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--recipe", metavar="RECIPE.json", type=Path, required=True,
        help=f"what to make: a file, or one that comes with Poise: {', '.join(preset_names())}",
    )  # fmt: skip
    add_armature(parser)
    parser.add_argument("--start", metavar="FRAME", type=int, help="its first frame, by default that of the scene")
    add_ground(parser)
    add_action(parser)
    parser.add_argument(
        "--tolerance", metavar="M", type=float, help="only keys that keep all bones within so many metres of the motion"
    )


def _check_generate(arguments: argparse.Namespace) -> None:
    if arguments.start is not None and abs(arguments.start) > FRAME_LIMIT:
        raise CoreError(f"--start: must be between {-FRAME_LIMIT} and {FRAME_LIMIT}.")
    if arguments.tolerance is not None:
        reduce.check_tolerance(arguments.tolerance)


def _generate(arguments: argparse.Namespace) -> int:
    recipe = read_recipe(arguments.recipe)
    armature = find_armature(arguments.armature)
    check_sure(armature)
    context: Any = bpy.context
    start = context.scene.frame_start if arguments.start is None else arguments.start
    take_ground(arguments, armature)
    edit = Generated(context, armature, recipe, start)
    edit.solve()
    report = edit.write(armature, arguments.action or f"{armature.name} {recipe.name}")
    tell(f'A motion of {recipe.seconds:g} seconds by the recipe "{recipe.name}".')
    if arguments.tolerance is not None:
        fewer = Reduced(context, armature, bridge.keyed_range(armature), (), arguments.tolerance)
        fewer.solve()
        fewer.write(armature, new=False)
        tell(f"{fewer.summary()}.")
    return tell_report(arguments, report, recipe=recipe.name)


def _reduce_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tolerance",
        type=float,
        default=reduce.TOLERANCE,
        metavar="M",
        help="metres in the world, of tails and points a bone's length beside",
    )
    parser.add_argument(
        "--bones", nargs="+", default=[], metavar="BONE",
        help=f'names or roles of what is to stay there, by default all; "{reduce.BODY}": hips, head, hands and feet',
    )  # fmt: skip
    add_motion(parser)


def _check_reduce(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
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
    parser.add_argument("--step", type=int, default=1, metavar="N", help="from one key to the next")
    parser.add_argument("--bones", nargs="+", default=[], metavar="BONE", help="by name, by default all")
    parser.add_argument(
        "--visual", action="store_true", help="key what constraints, drivers and curves' modifiers make of bones, too"
    )
    parser.add_argument("--mute", action="store_true", help="and mute the constraints that drive these bones")
    parser.add_argument("--present", action="store_true", help="into the present action, not into a new one")
    add_motion(parser)


def _check_bake(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    if arguments.step < 1:
        raise CoreError(f"--step: must be at least 1, not {arguments.step}.")
    if arguments.present and arguments.action is not None:
        raise CoreError("--action: the name of a new action; not with --present.")


def _bake(arguments: argparse.Namespace) -> int:
    armature = armature_of(arguments)
    check_bones(armature, arguments.bones)
    frames = tuple(arguments.frames) if arguments.frames else None
    if frames is None or bridge.is_moved_by_keys(armature):
        frames = frames_within(arguments, bridge.keyed_range(armature))
    if arguments.step > max(frames[1] - frames[0], 1):
        raise CoreError(f"--step: {arguments.step} is more than the frames from {frames[0]} to {frames[1]}.")
    edit = Baked(bpy.context, armature, frames, arguments.bones, arguments.step, arguments.visual, arguments.mute)
    edit.measured = True
    edit.solve()
    report = edit.write(armature, arguments.action, not arguments.present)
    if edit.unkeyed():
        tell(f"{edit.unkeyed()}.")
    return tell_report(arguments, report)


def _path_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--offset", type=float, nargs=3, default=(0.0, 0.0, 0.0), metavar=("X", "Y", "Z"), help="in metres"
    )
    parser.add_argument("--scale", type=float, default=1.0, metavar="S", help="of its length")
    parser.add_argument("--bend", type=float, default=0.0, metavar="D", help="degrees that it has turned at its end")
    parser.add_argument(
        "--ease", type=float, default=path.EASE, metavar="S", help="seconds beside --frames of an offset"
    )
    add_feet(parser)
    add_motion(parser)


def _check_path(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    path.check_path(arguments.offset, arguments.scale, arguments.bend, arguments.ease)
    if not any(arguments.offset) and arguments.scale == 1.0 and arguments.bend == 0.0:
        raise CoreError("Nothing is changed: say --offset, --scale or --bend.")


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
    return tell_report(arguments, edit.write(armature, arguments.action))


def _root_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--to", choices=("nobody", "root", "object", "body"), required=True,
        help="what travels over the ground: nobody, so that the body moves in place, its root bone or control, the "
        "armature object, or its hips",
    )  # fmt: skip
    parser.add_argument(
        "--smooth", type=float, default=root_motion.SMOOTH, metavar="S", help="seconds; what is quicker does not travel"
    )
    parser.add_argument(
        "--axes", nargs="+", choices=root_motion.AXES, default=root_motion.AXES, help="how it travels, by default all"
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
        "--find", action="store_true", help="only the cycle within the range that takes the least change"
    )
    parser.add_argument(
        "--fade", type=float, default=loop.FADE, metavar="S", help="seconds over which each end changes"
    )
    parser.add_argument("--turn", action="store_true", help="turn in each cycle as the body does, instead of going on")
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
        "--height", type=float, default=0.0, metavar="M", help="of the plane that is the ground where no mesh is"
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
        "--cutoff", type=float, default=smoothing.CUTOFF, metavar="HZ", help="what is quicker goes; less smooths more"
    )
    parser.add_argument(
        "--pops", type=float, default=smoothing.POP, metavar="D",
        help="degrees by which a frame that is replaced sticks out from its neighbours; 0: none is",
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
    parser.add_argument("--bone", required=True, metavar="BONE", help="a name or role, whose head is moved")
    parser.add_argument("--frame", required=True, type=int, metavar="N", help="the frame at which it is moved")
    parser.add_argument("--shift", required=True, type=float, nargs=3, metavar=("X", "Y", "Z"), help="in metres")
    parser.add_argument(
        "--falloff", type=float, default=10.0, metavar="F",
        help="frames before and after it that follow; where a foot stands, that is moved as one",
    )  # fmt: skip
    parser.add_argument("--steps", action="store_true", help="where the hips are moved, plant feet along their path")
    add_changed(parser)


def _check_drag(arguments: argparse.Namespace) -> None:
    if not np.isfinite(arguments.shift).all() or not any(arguments.shift):
        raise CoreError("Say with --shift how far the bone is moved, in numbers of metres.")
    if not 0.0 <= arguments.falloff <= MOST:
        raise CoreError(f"A falloff is from 0 to {MOST} frames.")


def _drag_frame(arguments: argparse.Namespace) -> int:
    armature: Any = armature_of(arguments)
    check_sure(armature)
    skeleton = bridge.read_rig(armature).skeleton
    bone = skeleton.names[reduce.chosen_bones(armature, skeleton, [arguments.bone])[0]]
    falloff = falloff_at(read_trail(bpy.context, armature, bone), arguments.frame, arguments.falloff)
    edit = DraggedFrame(bpy.context, armature, bone, (0.0, 0.0, 0.0), arguments.frame, falloff, arguments.steps)
    edit.shift(np.array(arguments.shift))
    edit.solve()
    return tell_report(arguments, edit.write(armature, arguments.action))


def _between_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-feet", action="store_true", help="smooth curves alone: no feet that stand, no flights")
    parser.add_argument(
        "--breakdowns", type=float, default=in_between.SHARE, metavar="PERCENT",
        help="of the frames between key poses that get keys, at most, but one in any case",
    )  # fmt: skip
    parser.add_argument(
        "--tolerance", type=float, default=in_between.TOLERANCE, metavar="M",
        help="metres: there are fewer breakdowns where the body stays so near",
    )  # fmt: skip
    add_motion(parser)


def _check_between(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    if not 0.0 <= arguments.breakdowns <= 100.0:
        raise CoreError(f"The share of breakdowns is from 0 to 100 percent, not {arguments.breakdowns:g}.")
    if arguments.tolerance != 0.0:
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
    Verb("generate", "make a motion from two key poses", _generate_options, _generate, _check_generate,
         formats={"RECIPE.json": (RECIPE,), "a track": (PART_TRACK,)}),
    Verb("reduce-keys", "keep as few keys as a tolerance lets", _reduce_options, _reduce, _check_reduce),
    Verb("bake", "key every frame of a range", _bake_options, _bake, _check_bake),
    Verb("edit-path", "move, scale or bend the way of a motion", _path_options, _edit_path, _check_path),
    Verb("root-motion", "move the travel to a root bone, or take it out", _root_options, _root_motion, _check_root),
    Verb("make-loop", "let a motion end as it begins", _loop_options, _make_loop, _check_loop),
    Verb("drag-frame", "move a bone at one frame, and the motion around", _drag_options, _drag_frame, _check_drag),
    Verb("fix-ground", "raise a motion where it is below the ground", _ground_options, _fix_ground, _check_ground),
    Verb("smooth", "take jitter and pops out of a motion", _smooth_options, _smooth, _check_smooth),
    Verb("in-betweens", "fill in the motion between key poses", _between_options, _in_betweens, _check_between),
)  # fmt: skip
