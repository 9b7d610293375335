"""A tick of a drag evaluates a control rig once, and the mouse takes the control that poses the body."""

from typing import Any

import bpy
import numpy as np
import pytest

from bridge import Grab, pick
from edits.drag.session import DragSession
from tests.blender.control_drags import RIGS, STILL, WAYS, key_step, pin_feet
from tests.blender.rigs import make_view, world

context: Any = bpy.context


@pytest.mark.parametrize("dragged", ["hips", "hand.L"])
@pytest.mark.parametrize("name", ["legs on IK with poles", "Rigify on IK", "Rigify on FK", "MMD of the shared data"])
def test_a_tick_evaluates_the_rig_once(name: str, dragged: str) -> None:
    """Rigs that after one round are not about where they should be, such as the wolf, take more in the next tick."""
    rig, parts = RIGS[name]()
    key_step(rig, (1, 20, 40))
    pin_feet(rig, parts, dragged)
    session = DragSession(context, rig, [Grab(rig.name, parts[dragged], (0.0, 0.0, 0.0))], live=True)
    session.drag(np.zeros(3), STILL)
    context.view_layer.update()
    seen: list[object] = []

    def count(*_: object) -> None:
        seen.append(_)

    bpy.app.handlers.depsgraph_update_post.append(count)
    ticks = 5
    for tick in range(1, ticks + 1):
        session.drag(np.array(WAYS[dragged]) * tick / ticks, STILL)
        context.view_layer.update()  # as drawing does
    bpy.app.handlers.depsgraph_update_post.remove(count)
    assert len(seen) == ticks


@pytest.mark.parametrize("name", ["Rigify on IK", "Rigify on FK"])
def test_the_body_is_grabbed_where_many_controls_are_in_one_place(name: str) -> None:
    rig, parts = RIGS[name]()
    view, _ = make_view("ORTHO", (1.4, 0.0, 0.3))
    for role in ("hips", "hand.L", "hand.R"):
        grab = pick(context, view, tuple(view.pixels(world(rig, parts[role]))))
        assert grab is not None, role
        session = DragSession(context, rig, [grab], live=True)
        assert not session.body.alone, (role, grab)
        assert session.body.skeleton.names[session.effectors[0].bone] == parts[role], (role, grab)
