"""Cameras as arrays, against Blender's own projection."""

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Vector

from tests.blender.rigs import KINDS, SIZE, make_view

pytestmark = pytest.mark.usefixtures("empty_file")


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
