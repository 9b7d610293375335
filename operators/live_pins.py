"""Timed pins with Live on: show the present frame at once, solve the motion later, undo both together.

Blender makes an undo step of the change of a pin before the motion is solved, and solving makes another one. Between
the two steps pins and motion do not match, so undo and redo must not stop there. Each change has a number: the armature
keeps it until it is solved, and the window manager, which is not undone, keeps the last number that is solved.
"""

from functools import partial
from typing import Any, Final

import bpy
from bpy.app.handlers import persistent

from ..edits.pinned_motion import show_pinned_frame
from ..edits.reactions import reacting

_QUIET: Final = 0.3  # seconds without a change until the motion is solved
_SOLVING: Final = "POISE_OT_solve_motion"


def follow(context: Any, armature: Any) -> None:
    """Show the present frame with the changed timed pins, and solve the motion after a pause."""
    with reacting(context):
        manager = context.window_manager
        manager.poise_pin_changes += 1
        armature.poise_pin_change = manager.poise_pin_changes
        show_pinned_frame(context, armature)
        timers = bpy.app.timers
        if timers.is_registered(_solve_rest):
            timers.unregister(_solve_rest)
        timers.register(_solve_rest, first_interval=_QUIET)


def settle(context: Any, armature: Any) -> None:
    """Note that the motion is solved with the present pins."""
    manager = context.window_manager
    manager.poise_pins_solved = max(manager.poise_pins_solved, armature.poise_pin_change)
    armature.poise_pin_change = 0


def _solve_rest() -> float | None:
    """Solve the motion of the active armature, or wait while that is running; a timer calls it."""
    context: Any = bpy.context
    window = next(iter(context.window_manager.windows), None)  # none in the background
    if window is None:
        return None
    if any(running.bl_idname == _SOLVING for running in window.modal_operators):
        return _QUIET
    with context.temp_override(window=window):
        solve: Any = bpy.ops.poise.solve_motion  # pyright: ignore
        if solve.poll():
            solve("INVOKE_DEFAULT")
    return None


@persistent
def go_on_undoing(*_: Any) -> None:
    """Drop a pending solve, and undo on to where pins and motion match."""
    _go_on("undo")


@persistent
def go_on_redoing(*_: Any) -> None:
    """Drop a pending solve, and redo on to where pins and motion match."""
    _go_on("redo")


def _go_on(way: str) -> None:
    context: Any = bpy.context
    timers, solved = bpy.app.timers, context.window_manager.poise_pins_solved
    if timers.is_registered(_solve_rest):
        timers.unregister(_solve_rest)
    armatures: Any = (armature for armature in bpy.data.objects if armature.type == "ARMATURE")
    if any(0 < armature.poise_pin_change <= solved for armature in armatures):
        timers.register(STEPS[way])  # a handler must not undo


def _step(way: str) -> None:
    """Undo or redo one more step; a timer calls it."""
    context: Any = bpy.context
    window = next(iter(context.window_manager.windows), None)
    if window is not None:
        with context.temp_override(window=window):
            step: Any = getattr(bpy.ops.ed, way)
            if step.poll():
                step()


STEPS: Final = {way: partial(_step, way) for way in ("undo", "redo")}
