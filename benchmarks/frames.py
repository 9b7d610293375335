"""What it costs to show other frames, and to drag a dot of a trail: ghosts, trails and drafts.

    python -m benchmarks.frames                with PyPI's bpy
    python -m benchmarks.frames --json FILE    the figures as JSON, too; "-" is standard output
    python -m benchmarks.frames --smoke        few frames, once: that it runs, no figures

The rig is that of W1, Rigify's human metarig without its face, 65 bones; its motion is a captured walk of
`tests/data`, forwards and backwards by turns, keyed on every frame. Ten ghosts are drawn as lines, trails are of hips,
hands and feet. A draft is what is solved and drawn while the dot in the middle of the motion follows the mouse.
Times are those of the processor, each a median. Ticks of a drag of a hand, from the mouse's move to the end of
Blender's update, take turns with ten ghosts shown and without: the ratio is the median of those of the turns. Drawing
is not in it; ghosts are on the graphics card meanwhile.
"""

import gc
from collections.abc import Callable
from time import process_time
from typing import Any, Final

import numpy as np

import standalone

standalone.enable()

import bpy  # noqa: E402  (Poise has to be enabled before the first import)

import bridge  # noqa: E402
from bridge import Grab  # noqa: E402
from core import Motion, rotation  # noqa: E402
from edits.drag.session import DragSession  # noqa: E402
from edits.dragged_frame import DraggedFrame, falloff_at  # noqa: E402
from edits.ghosts import ghost_frames, read_ghosts  # noqa: E402
from edits.retarget import Retargeted, imported  # noqa: E402
from edits.trails import find_traced, make_trails, read_positions, trail_frames  # noqa: E402

from . import report  # noqa: E402
from .blender_rig import build  # noqa: E402
from .smoke import ROOT  # noqa: E402
from .work import load_rig  # noqa: E402

WALK: Final = ROOT / "tests" / "data" / "motion" / "cmu_07_12.bvh"
ROUNDS: Final = 15
FRAMES, LONG, SMOKE_FRAMES = 100, 1000, 20  # of trails; of the motion that is dragged
FALLOFFS: Final = (10, 50)
WAY: Final = (0.05, -0.05, 0.08)  # of a dragged dot, metres
MOST_MS: Final = 60.0
TICKS: Final = 20  # in a row, with ghosts or without
MOST_MORE: Final = 0.1  # of a tick


def walking(frames: int) -> Any:
    """The rig with so many frames of a walk, in an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    context: Any = bpy.context
    rig = load_rig("full")
    matrices = np.concatenate([rig.frames, rig.heads[..., None]], axis=-1)
    armature = build(rig.names, rig.parents, rig.lengths, matrices, 1e-3)
    bpy.ops.object.mode_set(mode="OBJECT")
    with imported(context, WALK, "") as (source, _):
        edit = Retargeted(context, armature, source)
    edit.solve()
    edit.write(armature)
    first, last = bridge.keyed_range(armature)
    read = bridge.read_rig(armature)
    motion, _ = bridge.read_motion(armature, read, np.arange(first + 1, last + 1))  # the first one is at rest
    there_and_back = np.resize([*range(len(motion)), *range(len(motion) - 2, 0, -1)], frames)
    longer = Motion(motion.pose[there_and_back], np.arange(1.0, frames + 1.0), motion.fps)
    bridge.write_motion(armature, read, longer, range(len(read.skeleton)))
    context.scene.frame_start, context.scene.frame_end = 1, frames
    context.scene.frame_set(frames // 2)
    context.view_layer.objects.active = armature
    return armature


def milliseconds(act: Callable[[], object], rounds: int) -> float:
    """The median of the processor's time."""
    found: list[float] = []
    for _ in range(rounds + 1):  # the first one fills caches
        gc.collect()
        begin = process_time()
        act()
        found.append(process_time() - begin)
    return 1e3 * float(np.median(found[1:]))


def show_trails(armature: Any) -> None:
    """Find, read and make the trails, as the viewport does after a change."""
    context: Any = bpy.context
    traced = find_traced(armature)
    make_trails(context, armature, traced, read_positions(context, armature, traced, trail_frames(context, armature)))
    context.view_layer.update()


def show_ghosts(armature: Any) -> None:
    """Read the ghosts, as the viewport does after a change."""
    context: Any = bpy.context
    read_ghosts(context, armature, ghost_frames(context, armature))
    context.view_layer.update()


def draft(edit: DraggedFrame, frames: int) -> Callable[[], None]:
    """A function that drafts what the next place of the mouse asks for."""
    places = iter(np.linspace(0.0, 1.0, frames + 2)[1:, None] * np.array(WAY))

    def act() -> None:
        edit.shift(next(places), draft=True)
        edit.solve()
        edit.lines()

    return act


def ticks_with_ghosts(armature: Any, rounds: int) -> tuple[float, float]:
    """Milliseconds of a tick of a drag without ghosts, and how many times as long it takes with them."""
    context: Any = bpy.context
    bpy.ops.object.mode_set(mode="POSE")
    session = DragSession(context, armature, [Grab(armature.name, "hand.L", (0.0, 0.0, 0.0))], live=True)
    ways = iter(np.linspace(0.0, 1.0, TICKS * (2 * rounds + 1))[:, None] * np.array(WAY))

    def ticks() -> None:
        for _ in range(TICKS):
            session.drag(next(ways), rotation.IDENTITY)
            context.view_layer.update()

    alone, ratios = list[float](), list[float]()
    ticks()
    for number in range(rounds):
        taken: dict[bool, float] = {}
        for shown in (number % 2 > 0, number % 2 == 0):
            armature.poise_use_ghosts = shown
            context.view_layer.update()
            gc.collect()
            begin = process_time()
            ticks()
            taken[shown] = process_time() - begin
        alone.append(1e3 * taken[False] / TICKS)
        ratios.append(taken[True] / taken[False])
    bpy.ops.object.mode_set(mode="OBJECT")
    return float(np.median(alone)), float(np.median(ratios))


def measure(rounds: int, smoke: bool) -> tuple[dict[str, float], float]:
    """Milliseconds by what is done, and how many times as long a tick of a drag takes with ghosts."""
    context: Any = bpy.context
    frames, long = (SMOKE_FRAMES, 3 * SMOKE_FRAMES) if smoke else (FRAMES, LONG)
    armature = walking(frames)
    armature.poise_ghost_frames = "ALL"
    armature.poise_ghosts_before = armature.poise_ghosts_after = 5
    found = {
        "ten ghosts": milliseconds(lambda: show_ghosts(armature), rounds),
        f"trails of {frames} frames": milliseconds(lambda: show_trails(armature), rounds),
    }
    found["tick of a drag"], more = ticks_with_ghosts(armature, rounds)
    armature, frame = walking(long), long // 2
    traced = find_traced(armature)
    known = read_positions(context, armature, traced, trail_frames(context, armature))
    trails = make_trails(context, armature, traced, known)
    for place, point in enumerate(traced.points):
        for width in FALLOFFS if point.name in ("hips", "hand.L", "foot.L") else ():
            trail = trails[place]
            edit = DraggedFrame(context, armature, trail.bone, trail.point, frame, falloff_at(trail, frame, width))
            found[f"draft of {long} frames, {point.name}, falloff {width}"] = milliseconds(draft(edit, rounds), rounds)
    return found, more


def main() -> int:
    parser = report.options("benchmarks.frames", __doc__, ROUNDS)
    chosen = parser.parse_args()
    rounds, out = report.rounds_of(parser, chosen, ROUNDS), report.table_goes_to(chosen)
    found, more = measure(rounds, chosen.smoke)
    print(
        f"\n{report.machine_line(rounds)}\nBlender {bpy.app.version_string}, numpy {np.__version__}, 65 bones", file=out
    )
    for name, value in found.items():
        print(f"  {name:44}{value:8.1f} ms", file=out)
    print(f"  {'a tick with ten ghosts':44}{more:8.2f} times one without", file=out)
    checks = [
        report.bar(f"{name}: {value:.0f} ms, at most {MOST_MS:g}", value, value <= MOST_MS)
        for name, value in found.items()
    ]
    text = f"a tick with ten ghosts takes {more:.2f} times one without, at most {1.0 + MOST_MORE:g}"
    checks.append(report.bar(text, more, more <= 1.0 + MOST_MORE))
    report.finish(chosen, [] if chosen.smoke else checks, out, rounds=rounds, milliseconds=found, ghosts=more)
    return 0


if __name__ == "__main__":
    standalone.leave(main())
