"""Timed pins with Live on: shown in the present frame at once, solved when they change no more, undone in one go.

Blender makes an undo step of the change by itself, before the motion is solved, and solving makes another one. What is
between both has pins that are not those of the motion: undo and redo do not stop there. So a change has a number, which
the armature keeps until it is solved, and the window manager, which is not undone, up to which of them all are solved.
"""

from functools import partial
from typing import Any, Final

import bpy
from bpy.app.handlers import persistent

from ..edits.pinned_motion import show_pinned_frame
from ..edits.reactions import reacting

_QUIET: Final = 0.3  # seconds without a change, after which all of the motion is solved
_SOLVING: Final = "POISE_OT_solve_motion"


def follow(context: Any, armature: Any) -> None:
    """Show the present frame with the timed pins as they are now, and solve the others when they change no more."""
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
    """The motion is solved with the pins as they are."""
    manager = context.window_manager
    manager.poise_pins_solved = max(manager.poise_pins_solved, armature.poise_pin_change)
    armature.poise_pin_change = 0


def _solve_rest() -> float | None:
    """Solve the whole motion of the active armature; later, if that is being done. A timer calls it."""
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
    """What was undone is not solved after all, and undo goes on to where pins and motion belong together."""
    _go_on("undo")


@persistent
def go_on_redoing(*_: Any) -> None:
    """So does redo."""
    _go_on("redo")


def _go_on(way: str) -> None:
    context: Any = bpy.context
    timers, solved = bpy.app.timers, context.window_manager.poise_pins_solved
    if timers.is_registered(_solve_rest):
        timers.unregister(_solve_rest)
    armatures: Any = (armature for armature in bpy.data.objects if armature.type == "ARMATURE")
    if any(0 < armature.poise_pin_change <= solved for armature in armatures):
        timers.register(STEPS[way])  # not here: Blender is in the middle of a step


def _step(way: str) -> None:
    """One more step of undo or redo; a timer calls it."""
    context: Any = bpy.context
    window = next(iter(context.window_manager.windows), None)
    if window is not None:
        with context.temp_override(window=window):
            step: Any = getattr(bpy.ops.ed, way)
            if step.poll():
                step()


STEPS: Final = {way: partial(_step, way) for way in ("undo", "redo")}
