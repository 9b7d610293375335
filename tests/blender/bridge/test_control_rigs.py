"""A tick of a drag evaluates a control rig once, and the mouse takes the control that poses the body."""

from functools import cache
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge import Grab, pick
from edits.drag.session import DragSession
from tests.blender.control_drags import RIGS, STILL, WAYS, key_step, pin_feet
from tests.blender.rigs import BODY, Bones, make_armature, make_empty, make_view, set_hidden, world

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


@pytest.mark.long
@pytest.mark.parametrize("shown", ["as it is", "all"])
@pytest.mark.parametrize("name", ["Rigify on IK", "Rigify on FK", "CloudRig on IK", "Auto-Rig Pro on FK"])
def test_a_part_is_grabbed_however_many_tweaks_and_gears_are_nearer_to_the_mouse(name: str, shown: str) -> None:
    rig, parts = RIGS[name]()
    for collection in rig.data.collections_all if shown == "all" else ():
        collection.is_visible = True
    for bone in rig.pose.bones if shown == "all" else ():
        set_hidden(bone, False)
    context.view_layer.update()
    whole = bridge.read_rig(rig)
    roles = bridge.read_roles(rig, whole.skeleton)

    @cache
    def part_of(bone: str) -> str | None:
        number = whole.skeleton.index(bone)
        body = bridge.find_controlled(rig, whole, roles, (number,))
        part = None if body is None else body.parts.get(number)
        return None if body is None or part is None else body.skeleton.names[part]

    view, _ = make_view("ORTHO", (1.4, 0.0, 0.3))
    for role in ("hips", "hand.L", "hand.R", "foot.L", "foot.R"):
        for aside in ((0.0, 0.0), (5.0, 0.0), (-5.0, 3.0), (0.0, -6.0), (3.0, 5.0)):
            grab = pick(context, view, tuple(view.pixels(world(rig, parts[role])) + aside))
            assert grab is not None
            assert part_of(grab.bone) == parts[role], (role, aside, grab)


def test_ik_never_makes_a_limb_straighter_than_the_solver_takes_it_to() -> None:
    """`core.body.limbs` has this bend from here: nothing else says it."""
    rig, _ = RIGS["legs on IK with poles"]()
    rig.animation_data_clear()
    upper, lower = (rig.pose.bones[name] for name in ("thigh.L", "shin.L"))
    ik = next(one for one in lower.constraints if one.type == "IK")
    ik.target = target = make_empty("out of reach")
    for reach in (1.0, 1.01, 2.0):
        target.location = upper.head + reach * (upper.length + lower.length) * (lower.tail - upper.head).normalized()
        context.view_layer.update()
        assert abs(np.degrees(upper.y_axis.angle(lower.y_axis)) - 0.3) < 0.05


def test_what_carries_the_start_of_ik_does_not_move_its_end_alone() -> None:
    """A spine control that was dragged moved the head instead of its control, and a horse's trunk was refused."""
    bones: Bones = {name: row for name, row in BODY.items() if name != "head"} | {
        "chest": ("spine", (0, 0, 1.32), (0, 0, 1.5)),
        "neck": ("chest", (0, 0, 1.5), (0, -0.03, 1.6)),
        "neck.001": ("neck", (0, -0.03, 1.6), (0, 0, 1.7)),
        "head": ("neck.001", (0, 0, 1.7), (0, 0, 1.9)),
        "head_control": ("chest", (0, 0, 1.7), (0, 0, 1.9)),
    }
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig: Any = make_armature(bones=bones)
    for bone, kind in (("neck.001", "IK"), ("head", "COPY_TRANSFORMS")):
        follows = rig.pose.bones[bone].constraints.new(kind)
        follows.target, follows.subtarget = rig, "head_control"
        if kind == "IK":
            follows.chain_count = 2
    context.view_layer.update()
    whole = bridge.read_rig(rig)
    for asked in ("spine", "chest", "head_control"):
        body = bridge.find_controlled(
            rig, whole, bridge.read_roles(rig, whole.skeleton), (whole.skeleton.index(asked),)
        )
        assert body is not None
        control = body.controls[body.skeleton.index("head")]
        assert whole.skeleton.names[control.moves] == "head_control", asked
