"""A body is grabbed by its mesh where no bone is drawn."""

from itertools import product
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from bridge import Grab, pick, read_matrices, read_rig
from bridge.control_bodies import find_controlled
from bridge.grab import picks
from bridge.roles import read_roles
from bridge.skin import find_cover
from core import rotation
from core.pose import frame_rotations
from edits.drag.session import DragSession
from tests.blender.rigs import load, make_armature, make_skin, make_view, select, set_hidden, skin_of, turn, world
from tests.paths import SHARED

STILL = np.array([1.0, 0.0, 0.0, 0.0])
HUMAN = SHARED / "rigs" / "scripted" / "rigify_generated_human.blend"


def show(rig: Any, *names: str) -> None:
    """Show these bones alone."""
    for bone in rig.pose.bones:
        set_hidden(bone, bone.name not in names)
    bpy.context.view_layer.update()


def middle(rig: Any, bone: str) -> np.ndarray:
    """Where Blender has a bone's middle, in the world."""
    return 0.5 * (world(rig, bone) + world(rig, bone, tail=True))


@pytest.fixture
def rig(empty_file: None) -> Any:
    object = make_armature()
    make_skin(object)
    bpy.ops.object.mode_set(mode="POSE")
    object.location, object.rotation_euler = (0.1, 0.0, 0.05), (0.0, 0.0, 0.2)
    turn(object, "forearm.L", 0.5)
    show(object)
    return object


@pytest.mark.parametrize("bone", ["forearm.L", "shin.R", "chest"])
def test_a_hidden_bone_is_grabbed_at_the_point_of_the_mesh_that_is_seen(rig: Any, bone: str) -> None:
    view, _ = make_view()
    mouse = tuple(view.pixels(middle(rig, bone)))
    grab = pick(bpy.context, view, mouse)
    assert grab is not None
    assert (grab.object_name, grab.bone) == (rig.name, bone)
    point = rig.matrix_world @ rig.pose.bones[bone].matrix @ Vector(grab.point)
    np.testing.assert_allclose(view.pixels(np.array(point)), mouse, atol=0.5)
    assert 0.04 < max(abs(grab.point[0]), abs(grab.point[2])) < 0.051  # on the side of the box


def test_the_mesh_of_a_part_comes_before_the_bones_behind_it_unless_these_are_drawn_in_front(rig: Any) -> None:
    view, _ = make_view("ORTHO", (np.pi / 2, 0.0, np.pi / 2))  # from the left
    rig.rotation_euler = (0.0, 0.0, 0.0)
    show(rig, "shin.R", "chest")
    line = bpy.data.meshes.new("line")
    line.from_pydata([(0.0, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 1.0, 0.0)], [(0, 1), (1, 2)], [])
    rig.pose.bones["shin.R"].custom_shape = bpy.data.objects.new("line", line)
    skin: Any = bpy.data.objects["skin"]
    for in_front, display, covered in ((False, "TEXTURED", True), (True, "TEXTURED", False), (False, "WIRE", False)):
        rig.show_in_front, skin.display_type = in_front, display
        bpy.context.view_layer.update()
        found = picks(bpy.context, view, tuple(view.pixels(middle(rig, "shin.R"))))
        on_skin = [("shin.L", True)] * covered
        assert [(one.bone, one.on_skin) for one in found] == [*on_skin, ("shin.R", False)]  # J takes it


@pytest.mark.parametrize(("joint", "part"), [("hand.L", "forearm.L"), ("hand.L", "hand.L"), ("chest", "chest")])
def test_the_mesh_of_a_part_does_not_cover_its_own_joints(rig: Any, joint: str, part: str) -> None:
    corners = [rig.data.bones[joint].head_local + Vector(corner) for corner in product((-0.05, 0.05), repeat=3)]
    sides = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    skin_of(rig, corners, sides, [part] * len(corners))
    view, _ = make_view()
    show(rig, joint)
    mouse = tuple(view.pixels(world(rig, joint)))
    assert view.depth(world(rig, joint)) > find_cover(bpy.context, rig, view, mouse)[0]
    assert pick(bpy.context, view, mouse) == Grab(rig.name, joint, (0.0, 0.0, 0.0))


def test_what_is_locked_or_of_no_armature_in_pose_mode_is_not_grabbed(rig: Any) -> None:
    view, _ = make_view()
    mouse = tuple(view.pixels(middle(rig, "shin.R")))
    rig.data.bones["shin.R"].hide_select = True
    assert pick(bpy.context, view, mouse) is None
    rig.data.bones["shin.R"].hide_select = False
    assert pick(bpy.context, view, mouse) is not None
    bpy.ops.object.mode_set(mode="OBJECT")
    assert pick(bpy.context, view, mouse) is None


def test_a_prop_on_a_bone_is_grabbed_with_the_bone(rig: Any) -> None:
    view, _ = make_view()
    prop = make_skin(rig, ["head"], width=0.2)
    prop.modifiers.clear()
    prop.parent, prop.parent_type, prop.parent_bone = rig, "BONE", "head"
    prop.matrix_world = rig.matrix_world
    bpy.context.view_layer.update()
    grab = pick(bpy.context, view, tuple(view.pixels(middle(rig, "head") + np.array([0.0, 0.0, 0.05]))))
    assert grab is not None
    assert grab.bone == "head"


def test_the_skin_of_a_control_rig_is_grabbed_by_what_poses_it_and_comes_to_the_mouse() -> None:
    if not HUMAN.is_file():
        pytest.skip("the larger test data (../shared/data) is not here")
    rig = next(one for one in load(HUMAN) if one.name == "rig")
    make_skin(rig, [bone.name for bone in rig.data.bones if bone.use_deform], width=0.03)
    select(rig, [])
    show(rig)
    view, _ = make_view("ORTHO", (1.4, 0.0, 0.3))
    # a hand by its control, a forearm on IK by itself, and its second half, which spreads the twist, with the first
    for bone, by in (
        ("DEF-hand.L", "hand_ik.L"),
        ("DEF-forearm.L", "DEF-forearm.L"),
        ("DEF-forearm.L.001", "DEF-forearm.L"),
    ):
        grab = pick(bpy.context, view, tuple(view.pixels(middle(rig, bone))))
        assert grab is not None
        assert grab.bone == by
        session = DragSession(bpy.context, rig, [grab], live=True)
        for share in np.linspace(0.0, 1.0, 11)[1:]:
            session.drag(share * np.array([0.0, -0.06, 0.05]), STILL)
            bpy.context.view_layer.update()
        for _ in range(10):
            session.rest()
            bpy.context.view_layer.update()
        effector, body = session.effectors[0], session.body.controlled
        assert body is not None
        assert np.linalg.norm(effector.point) > 0.01
        shown = read_matrices(rig)[body.frames[effector.bone]]
        turns = frame_rotations(shown[:, :3])
        at = shown[:, 3] + rotation.rotate(turns, effector.point)
        np.testing.assert_allclose(at - effector.place, [0.0, -0.06, 0.05], atol=1e-3)
        session.restore()
        bpy.context.view_layer.update()


def test_a_bone_without_a_control_that_is_pinned_rides_on_the_body() -> None:
    if not HUMAN.is_file():
        pytest.skip("the larger test data (../shared/data) is not here")
    rig = next(one for one in load(HUMAN) if one.name == "rig")
    whole = read_rig(rig)
    bone = whole.skeleton.index("DEF-spine.001")
    body = find_controlled(rig, whole, read_roles(rig, whole.skeleton), [bone])
    assert body is not None
    assert bone in body.riding
