import numpy as np
import pytest

from core import CoreError, EllipticSwing, EulerBox, rotation
from core.limits import LimitGroup, clamp_rotations, excess


def groups() -> list[LimitGroup]:
    ones = np.ones((6, 3))
    return [
        EulerBox(range(6), rotation.EULER_ORDERS, -0.5 * ones, 0.6 * ones),
        EllipticSwing(range(6), -np.array([0.5, 0.3, 0.4]) * ones, np.array([0.5, 0.9, 0.8]) * ones),
        EllipticSwing(range(6), -np.array([np.inf, 0.3, 0.0]) * ones, np.array([np.inf, 0.9, 0.8]) * ones),
    ]


@pytest.mark.parametrize("number", range(3))
def test_gradients_are_the_derivatives_of_the_coordinates(number: int) -> None:
    group = groups()[number]
    rng = np.random.default_rng(number)
    own = rotation.to_matrix(rotation.exp(0.9 * rng.normal(size=(40, 6, 3))))
    slopes = group.gradients(own, group.coordinates(own))
    step = 1e-6
    for axis in range(3):
        turn = rotation.to_matrix(rotation.exp(step * np.eye(3)[axis]))
        change = group.coordinates(own @ turn) - group.coordinates(own @ turn.T)
        smooth = np.abs(change) < 1e-3  # the other triple of angles was taken, or a twist passed half a turn
        assert smooth.mean() > 0.99
        np.testing.assert_allclose((change / (2.0 * step))[smooth], slopes[..., axis][smooth], rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("number", range(3))
def test_one_gradient_is_a_row_of_all(number: int) -> None:
    group = groups()[number]
    own = rotation.to_matrix(rotation.exp(0.5 * np.random.default_rng(3).normal(size=(6, 3))))
    values = group.coordinates(own)
    slopes = group.gradients(own, values)
    for index, coordinate in np.ndindex(values.shape):
        slope = group.gradient(own, values, index, coordinate)
        np.testing.assert_allclose(slope, slopes[index, coordinate], atol=1e-12)


@pytest.mark.parametrize("number", range(3))
def test_clamping_ends_inside_and_leaves_the_inside_alone(number: int) -> None:
    group = groups()[number]
    own = rotation.to_matrix(rotation.exp(np.random.default_rng(4).normal(size=(200, 6, 3))))
    inside = group.clamp(own)
    assert np.max(np.abs(excess(group, group.coordinates(inside)))) < 1e-9
    np.testing.assert_allclose(group.clamp(inside), inside, atol=1e-12)
    was_inside = np.all(excess(group, group.coordinates(own)) == 0.0, axis=-1)
    assert 0 < was_inside.sum() < was_inside.size
    np.testing.assert_array_equal(inside[was_inside], own[was_inside])


def test_the_ellipse_stops_every_direction_of_a_round_limit_at_the_same_swing() -> None:
    limit = np.radians([[60.0, 180.0, 60.0]])
    group = EllipticSwing([0], -limit, limit)
    for direction in np.linspace(0.0, 2.0 * np.pi, 17):
        axis = np.array([np.cos(direction), 0.0, np.sin(direction)])
        inside = rotation.from_matrix(group.clamp(rotation.to_matrix(rotation.exp(2.0 * axis))[None]))[0]
        assert np.degrees(2.0 * np.arccos(inside[0])) == pytest.approx(60.0, abs=1e-6)


def test_a_hinge_past_a_right_angle_is_still_a_hinge() -> None:
    zero = np.zeros((1, 3))
    group = EulerBox([0], ["XYZ"], zero, np.array([[0.0, np.radians(150.0), 0.0]]))
    bent = rotation.to_matrix(rotation.exp([0.0, np.radians(120.0), 0.0]))[None]
    assert np.max(np.abs(excess(group, group.coordinates(bent)))) < 1e-9


def test_clamping_rotations_says_which_bones_had_been_outside() -> None:
    rotations = rotation.exp(np.array([[2.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.0, 2.0]]))
    box = EulerBox([0, 1], ["XYZ", "XYZ"], -0.5 * np.ones((2, 3)), 0.5 * np.ones((2, 3)))
    inside, changed = clamp_rotations((box,), rotations)
    assert changed.tolist() == [True, False, False]
    assert float(rotation.angle_between(inside[0], rotation.exp([0.5, 0.0, 0.0]))) < 1e-9
    np.testing.assert_array_equal(inside[1:], rotations[1:])


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [(0.5, -0.5, "above"), (np.nan, 0.5, "not a number")],
)
def test_malformed_limits_are_refused(lower: float, upper: float, text: str) -> None:
    with pytest.raises(CoreError, match=text):
        EulerBox([0], ["XYZ"], np.full((1, 3), lower), np.full((1, 3), upper))


def test_a_range_beyond_half_a_turn_is_met_by_whole_turns() -> None:
    low, high = np.radians([[100.0, -10.0, -10.0]]), np.radians([[250.0, 10.0, 10.0]])
    group = EulerBox([0], ["XYZ"], low, high)
    for degrees, outside in ((200.0, 0.0), (-150.0, 0.0), (90.0, -10.0), (260.0, 10.0)):
        own = rotation.to_matrix(rotation.exp([np.radians(degrees), 0.0, 0.0]))[None]
        assert np.degrees(excess(group, group.coordinates(own)))[0, 0] == pytest.approx(outside, abs=1e-9)
