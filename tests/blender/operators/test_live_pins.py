"""Live pins: what undo goes on to."""

import bpy
import pytest

from operators import live_pins
from tests.blender.edits.rigs import hold, keyed
from tests.blender.rigs import context

pytestmark = pytest.mark.usefixtures("empty_file")


def test_undo_goes_on_from_where_live_pins_are_not_those_of_the_motion() -> None:
    rig, manager, timers = keyed(), context.window_manager, bpy.app.timers
    hold(rig, "foot.L", 10)
    rig.poise_live_pins = True
    rig.poise_timed_pins[0].end += 1
    change = rig.poise_pin_change
    assert change > manager.poise_pins_solved

    def goes_on() -> bool:
        """Whether one more step of undo is due; it is taken off again."""
        live_pins.go_on_undoing()
        due = [timer for timer in (live_pins.STEPS["undo"], live_pins.STEPS["redo"]) if timers.is_registered(timer)]
        for timer in due:
            timers.unregister(timer)
        return bool(due)

    assert not goes_on()  # it is not solved, and need not be
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert rig.poise_pin_change == 0
    assert not goes_on()
    rig.poise_pin_change = change  # as undo brings it back
    assert goes_on()
