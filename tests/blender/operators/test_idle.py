"""The step of a drag under a still mouse: the body comes to rest, then Blender is left alone."""

from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from bridge import Grab
from core import rotation
from edits.drag.session import DragSession
from edits.pin_list import set_pins
from operators.drag import POISE_OT_drag
from tests.blender.rigs import load, select
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")
FEET = [f"mixamorig:{side}Foot" for side in ("Left", "Right")]


def still(kind: str, down: float) -> tuple[DragSession, Any]:
    """A drag of hips over pinned feet, and what its operator does under a still mouse until it waits no more."""
    (rig,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    select(rig, [])
    set_pins(bpy.context, rig, FEET, kind)
    session = DragSession(bpy.context, rig, [Grab(rig.name, "mixamorig:Hips", (0.0, 0.0, 0.0))], live=True)
    session.drag(np.array([0.0, 0.0, -down]), rotation.IDENTITY)
    waits: list[float | None] = []
    drag: Any = SimpleNamespace(_sessions=[session], _recording=None, _told=(session, ""), _timer=waits, waits=waits)
    drag._wait, drag._show = (lambda _, seconds: waits.append(seconds)), (lambda _: None)
    while None not in waits:
        assert POISE_OT_drag._idle(drag, bpy.context) == {"RUNNING_MODAL"}
    return session, drag


def test_a_body_at_rest_has_no_timer_and_says_why_it_is_short() -> None:
    session, drag = still("BOTH", 0.5)
    assert not session.restless
    assert None not in drag.waits[:-1]
    assert drag._told[1].startswith("mixamorig:Hips is ")
    drag._timer, count = None, len(drag.waits)  # a tick of the timer of another add-on
    assert POISE_OT_drag._idle(drag, bpy.context) == {"RUNNING_MODAL"}
    assert len(drag.waits) == count


def test_what_is_missed_without_a_reason_to_say_ends_the_wait_too() -> None:
    session, drag = still("POSITION", 0.25)  # the feet turn, which was not asked to be prevented
    assert session.solution is not None
    assert not session.solution.converged
    assert drag._told[1] == ""
