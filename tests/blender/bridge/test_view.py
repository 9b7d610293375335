"""Cameras as arrays, what is under the mouse, and where the mouse leads: against Blender's own projection."""

from typing import Any

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Vector

from bridge.grab import Grab, nearest, pick
from bridge.view import View
from core import rotation
from edits.drag.pointer import Pointer
from overlay.draw import wrapped
from tests.blender.rigs import SIZE, make_armature, make_view, world

pytestmark = pytest.mark.usefixtures("empty_file")

KINDS = ["PERSP", "ORTHO"]


@pytest.mark.parametrize("kind", KINDS)
def test_points_are_seen_where_blender_sees_them(kind: str) -> None:
    view, camera = make_view(kind)
    points = np.random.default_rng(0).normal(scale=0.5, size=(20, 3)) + np.array([0.0, 0.0, 1.0])
    seen = [world_to_camera_view(bpy.context.scene, camera, Vector(point)) for point in points]
    expected = np.array([[s.x * SIZE[0], s.y * SIZE[1]] for s in seen])
    np.testing.assert_allclose(view.pixels(points), expected, atol=0.05)


def test_what_is_behind_the_viewer_is_not_seen() -> None:
    view, camera = make_view()
    behind = camera.matrix_world @ Vector((0.0, 0.0, 1.0))
    assert np.isnan(view.pixels(np.array(behind))).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_plane_and_a_line_are_met_where_they_are_seen(kind: str) -> None:
    view, _ = make_view(kind)
    rng = np.random.default_rng(1)
    for _ in range(10):
        through, target = rng.normal(scale=0.3, size=(2, 3)) + np.array([0.0, 0.0, 1.0])
        pixel = view.pixels(target)
        on_plane = view.on_plane(pixel, through)
        assert on_plane is not None
        np.testing.assert_allclose(view.pixels(on_plane), pixel, atol=1e-6)
        assert abs((on_plane - through) @ view.turn[2]) < 1e-9
        on_line = view.on_line(pixel, through, target - through)
        assert on_line is not None
        np.testing.assert_allclose(on_line, target, atol=1e-6)  # the line goes through what is seen there


@pytest.mark.parametrize("kind", KINDS)
def test_a_pixel_is_as_long_as_two_neighbours_are_apart(kind: str) -> None:
    view, _ = make_view(kind)
    point = np.array([0.1, 0.2, 1.1])
    beside = view.on_plane(view.pixels(point) + np.array([1.0, 0.0]), point)
    assert beside is not None
    assert np.linalg.norm(beside - point) == pytest.approx(float(view.pixel(point)), rel=2e-3)


def test_an_axis_seen_end_on_leads_nowhere() -> None:
    view, _ = make_view("ORTHO")
    assert view.on_line([800, 450], [0.0, 0.0, 1.0], view.turn[2]) is None
    assert view.on_plane([800, 450], [0.0, 0.0, 1.0], view.turn[0]) is None


# -- what is under the mouse ------------------------------------------------------------------------------------------


@pytest.fixture
def rig() -> Any:
    object = make_armature()
    bpy.ops.object.mode_set(mode="POSE")
    return object


@pytest.mark.parametrize("bone", ["hand.L", "forearm.R", "head", "shin.L"])
def test_a_joint_is_grabbed_where_it_is_seen(rig: Any, bone: str) -> None:
    view, _ = make_view()
    mouse = view.pixels(world(rig, bone)) + np.array([3.0, -4.0])
    assert pick(bpy.context, view, tuple(mouse)) == Grab(rig.name, bone, (0.0, 0.0, 0.0))


def test_a_free_end_is_grabbed_and_the_end_of_an_inner_bone_is_the_joint_of_the_next(rig: Any) -> None:
    view, _ = make_view()
    for bone, grabbed, end in (("hand.L", "hand.L", True), ("forearm.L", "hand.L", False)):
        tail = np.array(rig.matrix_world @ rig.pose.bones[bone].tail)
        found = pick(bpy.context, view, tuple(view.pixels(tail)))
        assert found is not None
        assert found.bone == grabbed
        assert found.point[1] == pytest.approx(rig.data.bones[grabbed].length if end else 0.0)


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_bone_is_grabbed_at_the_point_that_is_under_the_mouse(rig: Any, share: float) -> None:
    view, _ = make_view()
    rig.location, rig.scale = (0.1, 0.0, 0.05), (0.9, 0.9, 0.9)
    bpy.context.view_layer.update()
    shin = rig.pose.bones["shin.R"]
    point = np.array(rig.matrix_world @ (shin.head + share * (shin.tail - shin.head)))
    found = pick(bpy.context, view, tuple(view.pixels(point)))
    assert found is not None
    assert found.bone == "shin.R"
    assert found.point[1] == pytest.approx(share * rig.data.bones["shin.R"].length, rel=1e-3)


def test_nothing_is_grabbed_beside_the_body_or_of_hidden_bones(rig: Any) -> None:
    view, _ = make_view()
    assert pick(bpy.context, view, (5.0, 5.0)) is None
    mouse = tuple(view.pixels(world(rig, "hand.L")))
    assert pick(bpy.context, view, mouse) is not None
    for name in ("hand.L", "forearm.L"):
        bone = rig.pose.bones[name]
        owner = bone if hasattr(bone, "hide") else bone.bone
        owner.hide = True
    assert pick(bpy.context, view, mouse) is None


@pytest.mark.parametrize(("side", "turned"), [("L", np.pi / 2.0), ("R", -np.pi / 2.0)])
@pytest.mark.parametrize("bone", ["hand", "shin", "thigh"])
def test_of_two_sides_seen_in_one_place_the_one_in_front_is_grabbed(
    rig: Any, bone: str, side: str, turned: float
) -> None:
    view, _ = make_view("ORTHO", (np.pi / 2.0, 0.0, turned))
    middle = np.array(rig.pose.bones[f"{bone}.{side}"].center)
    for place in (world(rig, f"{bone}.{side}"), middle):
        grab = pick(bpy.context, view, tuple(view.pixels(place)))
        assert grab is not None
        assert grab.bone == f"{bone}.{side}"


def add_shape(rig: Any, bone: str, away: float, faces: bool = False, **settings: Any) -> Any:
    """A square of side 0.2 across the bone, drawn so far along it in its place; its corners in the bone's frame."""
    corners = [(0.1, away, 0.1), (-0.1, away, 0.1), (-0.1, away, -0.1), (0.1, away, -0.1)]
    mesh = bpy.data.meshes.new("shape")
    edges = [] if faces else [(0, 1), (1, 2), (2, 3), (3, 0)]
    mesh.from_pydata([Vector(corner) / 0.5 for corner in corners], edges, [(0, 1, 2, 3)] if faces else [])
    shape = rig.pose.bones[bone]
    shape.custom_shape = bpy.data.objects.new("shape", mesh)  # of no collection, as shapes are
    shape.use_custom_shape_bone_size, shape.custom_shape_scale_xyz = False, (0.5, 0.5, 0.5)
    for name, value in settings.items():
        setattr(shape, name, value)
    bpy.context.view_layer.update()
    return np.array(corners)


def test_a_custom_shape_is_grabbed_where_it_is_drawn(rig: Any) -> None:
    view, _ = make_view()
    corners = add_shape(rig, "hand.L", 0.2)
    hand = rig.matrix_world @ rig.pose.bones["hand.L"].matrix
    for edge in range(4):
        seen = hand @ Vector(0.3 * corners[edge] + 0.7 * corners[edge - 1])
        assert pick(bpy.context, view, tuple(view.pixels(seen))) == Grab(rig.name, "hand.L", (0.0, 0.0, 0.0))
    middle = tuple(view.pixels(hand @ Vector(corners.mean(axis=0))))
    assert pick(bpy.context, view, middle) is None
    rig.data.show_bone_custom_shapes = False
    assert pick(bpy.context, view, tuple(view.pixels(seen))) is None


def test_a_custom_shape_that_is_moved_scaled_and_drawn_at_another_bone_is_grabbed_there(rig: Any) -> None:
    view, _ = make_view()
    corners = add_shape(
        rig, "hand.L", 0.0, custom_shape_translation=(0.1, 0.2, 0.3), custom_shape_transform=rig.pose.bones["head"],
        use_custom_shape_bone_size=True, custom_shape_rotation_euler=(np.pi / 2.0, 0.0, 0.0),
    )  # fmt: skip
    (x, _, z), size = corners[0], rig.data.bones["hand.L"].length
    edge = Vector((0.1 + size * x, 0.2 - size * z, 0.3))  # in the frame of the head: Z is turned to -Y
    seen = rig.matrix_world @ rig.pose.bones["head"].matrix @ edge
    grab = pick(bpy.context, view, tuple(view.pixels(seen)))
    assert grab is not None
    assert grab.bone == "hand.L"


@pytest.mark.parametrize("wire", [False, True])
def test_a_face_of_a_custom_shape_is_grabbed_unless_it_is_drawn_as_wires(rig: Any, wire: bool) -> None:
    view, _ = make_view()
    corners = add_shape(rig, "hand.L", 0.2, faces=True)
    rig.data.bones["hand.L"].show_wire = wire
    inside = rig.matrix_world @ rig.pose.bones["hand.L"].matrix @ Vector(corners.mean(axis=0))
    grab = pick(bpy.context, view, tuple(view.pixels(inside)))
    assert (grab is None) == wire


def test_a_bone_with_a_custom_shape_is_grabbed_by_its_joint_where_nothing_that_is_drawn_is_near(rig: Any) -> None:
    view, _ = make_view()
    joint = tuple(view.pixels(world(rig, "hand.L")))
    add_shape(rig, "hand.L", 0.0, custom_shape_scale_xyz=(3.0, 3.0, 3.0))
    grab = pick(bpy.context, view, joint)
    assert grab is not None
    assert grab.bone == "forearm.L"  # its line ends there, and is drawn
    add_shape(rig, "forearm.L", 0.0, custom_shape_scale_xyz=(3.0, 3.0, 3.0))
    grab = pick(bpy.context, view, joint)
    assert grab == Grab(rig.name, "hand.L", (0.0, 0.0, 0.0))


def test_of_custom_shapes_seen_in_one_place_the_one_in_front_is_grabbed(rig: Any) -> None:
    view, _ = make_view("ORTHO", (np.pi / 2.0, 0.0, np.pi / 2.0))
    for side in "LR":
        corners = add_shape(rig, f"hand.{side}", 0.2)
    seen = rig.matrix_world @ rig.pose.bones["hand.R"].matrix @ Vector(0.3 * corners[0] + 0.7 * corners[1])
    grab = pick(bpy.context, view, tuple(view.pixels(seen)))
    assert grab is not None
    assert grab.bone == "hand.L"


def test_bones_of_no_length_or_seen_end_on_do_no_harm() -> None:
    view, _ = make_view("ORTHO")
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[:, 2, 3] = 1.0
    matrices[1, :3, :3] = np.stack([view.turn[0], view.turn[2], -view.turn[1]], axis=-1)  # Y towards the viewer
    at = view.pixels(matrices[0, :3, 3])
    assert nearest(view, tuple(at), matrices, np.array([0.0, 0.5]), np.array([True, True])) == (0.0, 0, 0.0)
    assert nearest(view, tuple(at + 300.0), matrices, np.array([0.0, 0.5]), np.array([True, True])) is None
    assert nearest(view, tuple(at), matrices[:0], np.zeros(0), np.zeros(0, bool)) is None


# -- where the mouse leads --------------------------------------------------------------------------------------------


def make_pointer(view: View, origin: np.ndarray, **settings: Any) -> Pointer:
    frame = rotation.from_axis_angle(np.array([0.0, 0.0, 1.0]), np.array(0.7))
    pivot = origin - [0.0, 0.0, 0.2]
    return Pointer(view, origin, pivot, frame, view.pixels(origin), 0.1, **settings)


ORIGIN = np.array([0.2, -0.1, 1.2])


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_grabbed_stays_under_the_mouse(kind: str) -> None:
    view, _ = make_view(kind)
    pointer = make_pointer(view, ORIGIN)
    mouse = view.pixels(ORIGIN) + np.array([140.0, -60.0])
    pointer.move(tuple(mouse))
    np.testing.assert_allclose(view.pixels(ORIGIN + pointer.shift()), mouse, atol=1e-6)
    assert abs(pointer.shift() @ view.turn[2]) < 1e-9


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_axis_constrains_to_the_world_then_to_the_bone_then_to_nothing(axis: int) -> None:
    view, _ = make_view()
    pointer = make_pointer(view, ORIGIN)
    pointer.move(tuple(view.pixels(ORIGIN) + np.array([120.0, 80.0])))
    free = pointer.shift()
    pointer.constrain(axis)
    across = np.delete(pointer.shift(), axis)
    np.testing.assert_allclose(across, 0.0, atol=1e-9)
    assert np.linalg.norm(pointer.shift()) > 0.01
    pointer.constrain(axis)
    own = rotation.rotate(pointer.frame, np.eye(3)[axis])
    np.testing.assert_allclose(np.cross(pointer.shift(), own), 0.0, atol=1e-9)
    pointer.constrain(axis)
    np.testing.assert_allclose(pointer.shift(), free)


def test_a_plane_keeps_one_axis_out() -> None:
    view, _ = make_view()
    pointer = make_pointer(view, ORIGIN)
    pointer.constrain(2, plane=True)
    mouse = view.pixels(ORIGIN) + np.array([90.0, 70.0])
    pointer.move(tuple(mouse))
    assert abs(pointer.shift()[2]) < 1e-9
    np.testing.assert_allclose(view.pixels(ORIGIN + pointer.shift()), mouse, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lean", [0.0, 0.001, 0.05])
def test_a_plane_seen_edge_on_is_followed_along_the_line_that_it_is_seen_as(kind: str, lean: float) -> None:
    view, _ = make_view(kind, (np.pi / 2.0, 0.0, 0.0))  # from the front
    origin = view.on_plane((800.0, 450.0), (0.0, 0.0, 1.0))
    assert origin is not None
    pointer = make_pointer(view, origin)
    pointer.frame = rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.array(lean))
    for _ in range(2 if lean else 1):
        pointer.constrain(2, plane=True)
    pointer.move((860.0, 480.0))
    free = view.on_plane((860.0, 480.0), origin)
    assert free is not None
    np.testing.assert_allclose(pointer.shift(), [free[0] - origin[0], 0.0, 0.0], atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backwards", [False, True])
def test_along_an_axis_seen_end_on_upwards_is_away(kind: str, backwards: bool) -> None:
    view, _ = make_view(kind, (np.pi / 2.0, 0.0, np.pi if backwards else 0.0))
    origin = view.on_plane((800.0, 450.0), (0.0, 0.0, 1.0))
    assert origin is not None
    pointer = make_pointer(view, origin)
    pointer.constrain(1)
    pointer.move((805.0, 480.0))
    free = view.on_plane((805.0, 480.0), origin)
    assert free is not None
    away = -1.0 if backwards else 1.0
    np.testing.assert_allclose(pointer.shift(), [0.0, away * (free[2] - origin[2]), 0.0], atol=1e-9)


def test_small_steps_are_a_tenth_and_do_not_jump_when_they_begin_or_end() -> None:
    view, _ = make_view("ORTHO")
    pointer = make_pointer(view, ORIGIN)
    mouse = view.pixels(ORIGIN)
    pointer.move(tuple(mouse + np.array([100.0, 0.0])))
    full = pointer.shift()
    pointer.precise = True
    np.testing.assert_allclose(pointer.shift(), full)
    pointer.move(tuple(mouse + np.array([200.0, 0.0])))
    np.testing.assert_allclose(pointer.shift(), 1.1 * full, atol=1e-9)
    pointer.precise = False
    np.testing.assert_allclose(pointer.shift(), 1.1 * full, atol=1e-9)


def test_steps_that_snap_are_whole_ones_along_the_axes_that_are_kept_to() -> None:
    view, _ = make_view()
    pointer = make_pointer(view, ORIGIN, snap=True)
    pointer.move(tuple(view.pixels(ORIGIN) + np.array([133.0, 77.0])))
    np.testing.assert_allclose(pointer.shift() / 0.1, np.round(pointer.shift() / 0.1), atol=1e-9)
    pointer.constrain(0)
    pointer.constrain(0)
    length = np.linalg.norm(pointer.shift()) / 0.1
    assert length == pytest.approx(round(length), abs=1e-9)
    assert length >= 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_the_wheel_moves_along_the_line_of_sight(kind: str) -> None:
    view, _ = make_view(kind)
    pointer = make_pointer(view, ORIGIN)
    pointer.deeper(3.0)
    np.testing.assert_allclose(view.pixels(ORIGIN + pointer.shift()), view.pixels(ORIGIN), atol=1e-3)
    assert pointer.shift() @ view.turn[2] < -0.01  # away
    pointer.deeper(-3.0)
    np.testing.assert_allclose(pointer.shift(), 0.0, atol=1e-9)


def test_going_round_the_pivot_turns_by_the_angle_that_is_seen() -> None:
    view, _ = make_view("ORTHO")
    pointer = make_pointer(view, ORIGIN)
    pointer.switch(turning=True)
    middle = view.pixels(pointer.pivot)
    arm = view.pixels(ORIGIN) - middle
    for angle in np.linspace(0.0, np.radians(250.0), 30)[1:]:  # further than half a turn
        cosine, sine = np.cos(angle), np.sin(angle)
        pointer.move(tuple(middle + np.array([cosine * arm[0] - sine * arm[1], sine * arm[0] + cosine * arm[1]])))
    turned = rotation.rotate(pointer.turn(), ORIGIN - pointer.pivot)
    expected = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ arm
    # what is in the picture goes round with it, what points to the viewer stays
    flat = (ORIGIN - pointer.pivot) - ((ORIGIN - pointer.pivot) @ view.turn[2]) * view.turn[2]
    shown = view.pixels(pointer.pivot + rotation.rotate(pointer.turn(), flat)) - middle
    np.testing.assert_allclose(shown, expected * np.linalg.norm(shown) / np.linalg.norm(expected), atol=1.0)
    assert np.linalg.norm(turned) == pytest.approx(0.2)
    np.testing.assert_allclose(pointer.shift(), 0.0)


def test_what_was_moved_stays_when_it_is_turned_and_the_other_way_round() -> None:
    view, _ = make_view("ORTHO")
    pointer = make_pointer(view, ORIGIN)
    pointer.move(tuple(view.pixels(ORIGIN) + np.array([50.0, 20.0])))
    moved = pointer.shift()
    pointer.switch(turning=True)
    pointer.move(tuple(view.pixels(ORIGIN) + np.array([20.0, 90.0])))
    np.testing.assert_allclose(pointer.shift(), moved)
    turned = pointer.turn()
    assert not np.allclose(turned, rotation.IDENTITY)
    pointer.switch(turning=False)
    pointer.move(tuple(view.pixels(ORIGIN) + np.array([40.0, 90.0])))
    np.testing.assert_allclose(pointer.turn(), turned)
    assert not np.allclose(pointer.shift(), moved)


# -- what is written --------------------------------------------------------------------------------------------------


def test_a_text_breaks_between_words_where_its_room_ends() -> None:
    assert wrapped("hand.L is 9 cm short", 12.0, len) == ["hand.L is 9", "cm short"]
    assert wrapped("hand.L is 9 cm short", 20.0, len) == ["hand.L is 9 cm short"]
    assert wrapped("mixamorig:LeftHand is short", 10.0, len) == ["mixamorig:LeftHand", "is short"]
