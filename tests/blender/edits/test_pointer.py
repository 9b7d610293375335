"""Where the mouse leads what it holds: along axes and planes, in steps, and about a pivot."""

from typing import Any

import numpy as np
import pytest

from bridge.view import View
from core import rotation
from edits.drag.pointer import Pointer
from tests.blender.rigs import KINDS, make_view

pytestmark = pytest.mark.usefixtures("empty_file")


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
    pointer = make_pointer(view, origin)
    pointer.move((860.0, 480.0))
    assert pointer.shift()[1] == 0.0  # Adjust Last Operation would say -0 m


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
