import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core import CoreError, rotation
from core.limits import (
    EllipticSwing,
    EulerBox,
    Framed,
    LimitGroup,
    OrderFreeBox,
    Polygon,
    SwingPolygon,
    clamp_rotations,
    excess,
)
from tests.core.limits.rigs import SQUARE, ring, star


def frames(seed: int, count: int = 6) -> np.ndarray:
    return rotation.normalize(np.random.default_rng(seed).normal(size=(count, 4)))


def groups() -> list[LimitGroup]:
    ones = np.ones((6, 3))
    box = EulerBox(range(6), rotation.EULER_ORDERS, -0.5 * ones, 0.6 * ones)
    polygons = SwingPolygon(range(6), [star(3, 1), star(5, 2), star(9, 3), star(16, 4), ring(), Polygon(**SQUARE)])
    return [
        box,
        EllipticSwing(range(6), -np.array([0.5, 0.3, 0.4]) * ones, np.array([0.5, 0.9, 0.8]) * ones),
        EllipticSwing(range(6), -np.array([np.inf, 0.3, 0.0]) * ones, np.array([np.inf, 0.9, 0.8]) * ones),
        OrderFreeBox(range(6), -np.array([0.5, np.inf, 0.4]) * ones, np.array([0.5, 0.9, 0.8]) * ones),
        polygons,
        Framed(box, frames(0), rotation.inv(frames(0))),
        Framed(polygons, frames(1), rotation.inv(frames(1))),
        Framed(polygons, frames(2), frames(3)),
    ]


KINDS = range(len(groups()))


@pytest.mark.parametrize("number", KINDS)
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


@pytest.mark.parametrize("number", KINDS)
def test_one_gradient_is_a_row_of_all(number: int) -> None:
    group = groups()[number]
    own = rotation.to_matrix(rotation.exp(0.5 * np.random.default_rng(3).normal(size=(6, 3))))
    values = group.coordinates(own)
    slopes = group.gradients(own, values)
    for index, coordinate in np.ndindex(values.shape):
        slope = group.gradient(own, values, index, coordinate)
        np.testing.assert_allclose(slope, slopes[index, coordinate], atol=1e-12)


@pytest.mark.parametrize("number", KINDS)
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


@pytest.mark.parametrize("number", KINDS)
def test_some_of_the_bones_are_limited_as_among_all(number: int) -> None:
    group = groups()[number]
    own = rotation.to_matrix(rotation.exp(np.random.default_rng(5).normal(size=(20, 6, 3))))
    kept = np.array([4, 1, 5])
    some = group.take(kept)
    values = group.coordinates(own)
    assert some.bones.tolist() == [4, 1, 5]
    np.testing.assert_allclose(some.coordinates(own[:, kept]), values[:, kept], atol=1e-12)
    slopes = group.gradients(own, values)[:, kept]
    np.testing.assert_allclose(some.gradients(own[:, kept], values[:, kept]), slopes, atol=1e-12)
    np.testing.assert_allclose(some.clamp(own[:, kept]), group.clamp(own)[:, kept], atol=1e-12)
    assert [some.describe(2, c) for c in range(3)] == [group.describe(5, c) for c in range(3)]
    none = group.take(np.zeros(0, int))
    assert len(none.bones) == 0
    assert none.clamp(own[:, :0]).shape == (20, 0, 3, 3)
    assert none.gradients(own[:, :0], none.coordinates(own[:, :0])).shape == (20, 0, *slopes.shape[2:])


@pytest.mark.parametrize("number", KINDS)
def test_leading_axes_go_through(number: int) -> None:
    group = groups()[number]
    own = rotation.to_matrix(rotation.exp(np.random.default_rng(6).normal(size=(2, 3, 6, 3))))
    values = group.coordinates(own)
    slopes, inside = group.gradients(own, values), group.clamp(own)
    assert values.shape == (2, 3, *group.lower.shape[-2:])
    assert slopes.shape == (*values.shape, 3)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(group.coordinates(own[index]), values[index], atol=1e-12)
        np.testing.assert_allclose(group.gradients(own[index], values[index]), slopes[index], atol=1e-12)
        np.testing.assert_allclose(group.clamp(own[index]), inside[index], atol=1e-12)


@pytest.mark.parametrize("kind", ["euler", "ellipse", "order-free", "framed"])
def test_bounds_may_change_from_frame_to_frame(kind: str) -> None:
    rng = np.random.default_rng(7)
    low, high = -np.full((2, 3), 0.4), rng.uniform(0.1, 0.9, (5, 2, 3))  # one of the two is the same in all frames

    def group(upper: np.ndarray) -> LimitGroup:
        if kind == "ellipse":
            return EllipticSwing([0, 1], low, upper)
        if kind == "order-free":
            return OrderFreeBox([0, 1], low, upper)
        box = EulerBox([0, 1], ["XYZ", "ZYX"], low, upper)
        return Framed(box, frames(0, 2), frames(1, 2)) if kind == "framed" else box

    own = rotation.to_matrix(rotation.exp(rng.normal(size=(5, 2, 3))))
    inside = group(high).clamp(own)
    chosen = np.array([3, 0, 4])
    np.testing.assert_allclose(group(high).at_frames(chosen).clamp(own[chosen]), inside[chosen], atol=1e-12)
    for frame in range(5):
        alone = group(high[frame])
        np.testing.assert_allclose(alone.clamp(own[frame]), inside[frame], atol=1e-12)
        assert alone.at_frames(np.array(0)) is alone
        one = group(high).at_frames(np.array(frame))
        np.testing.assert_allclose(one.clamp(own[frame]), inside[frame], atol=1e-12)


def test_a_swing_by_half_a_turn_is_outside() -> None:
    over = rotation.to_matrix(rotation.exp([[np.pi, 0.0, 0.0], [0.0, 0.0, np.pi], [0.0, np.pi, 0.0]]))
    exact = np.round(over)  # not a digit says which way it went
    limit = np.tile([0.5, np.inf, 0.5], (3, 1))
    polygons = [Polygon(SQUARE["vertices"], SQUARE["triangles"], np.full(4, -np.inf), np.full(4, np.inf))] * 3
    for group in (EllipticSwing(range(3), -limit, limit), SwingPolygon(range(3), polygons)):
        for own in (over, exact):
            values = group.coordinates(own)
            assert np.any(excess(group, values)[:2] > 0.5, axis=-1).all()
            assert np.isfinite(values).all()
            assert np.isfinite(group.gradients(own, values)).all()
            inside = group.clamp(own)
            assert np.max(np.abs(excess(group, group.coordinates(inside)))) < 1e-9
            np.testing.assert_array_equal(inside[2], own[2])  # half a turn of twist, which is free


# -- order-free angles ------------------------------------------------------------------------------------------------


def test_order_free_coordinates_are_the_order_free_angles() -> None:
    q = rotation.normalize(np.random.default_rng(8).normal(size=(1000, 1, 4)))
    group = OrderFreeBox([0], [[-np.inf] * 3], [[np.inf] * 3])
    difference = group.coordinates(rotation.to_matrix(q)) - rotation.to_order_free(q)
    assert np.max(np.abs(rotation.wrap(difference))) < 1e-9


def test_an_order_free_box_clamps_every_angle_by_itself() -> None:
    rng = np.random.default_rng(9)
    q = rotation.normalize(rng.normal(size=(500, 4)))
    low, high = -rng.uniform(0.0, 2.5, (500, 3)), rng.uniform(0.0, 2.5, (500, 3))
    inside = OrderFreeBox(range(500), low, high).clamp(rotation.to_matrix(q))
    wanted = rotation.from_order_free(np.clip(rotation.to_order_free(q), low, high))
    np.testing.assert_allclose(inside, rotation.to_matrix(wanted), atol=1e-9)


half_turns = st.sampled_from([0.0, 1e-300, 1e-17, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1.0])


@given(arrays(float, (4,), elements=st.floats(-1.0, 1.0)), arrays(float, (4,), elements=half_turns))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_an_order_free_box_brings_any_rotation_in_half_turns_included(q: np.ndarray, share: np.ndarray) -> None:
    q = rotation.normalize(q * share if np.linalg.norm(q * share) > 0.1 else [0.0, 1.0, 0.0, 0.0])
    own = np.repeat(rotation.to_matrix(q)[None], 3, axis=0)
    free = np.inf
    group = OrderFreeBox(range(3), [[-2.0, -1.0, -0.5], [-free, -1.0, -0.5], [-free, -free, 0.0]],
                         [[2.0, 1.0, 0.7], [free, 1.0, 0.7], [free, free, 0.0]])  # fmt: skip
    values = group.coordinates(own)
    assert np.isfinite(group.gradients(own, values)).all()
    inside = group.clamp(own)
    assert np.max(np.abs(excess(group, group.coordinates(inside)))) < 1e-8
    np.testing.assert_allclose(group.clamp(inside), inside, atol=1e-8)


def test_a_half_turn_is_clamped_with_the_signs_of_its_components() -> None:
    group = OrderFreeBox(range(2), -0.5 * np.ones((2, 3)), 0.6 * np.ones((2, 3)))
    exact = rotation.to_matrix([[0.0, 0.6, 0.8, 0.0], [0.0, 0.6, -0.8, 0.0]])
    angles = rotation.to_order_free(rotation.from_matrix(group.clamp(exact)))
    assert abs(angles[0, 0] - angles[0, 1]) < 1e-9  # both at the upper or both at the lower bound
    assert abs(angles[1, 0] - angles[1, 1]) == pytest.approx(1.1)
    np.testing.assert_allclose(angles[:, 2], 0.0, atol=1e-9)


def test_an_order_free_hinge_may_pass_half_a_turn() -> None:
    group = OrderFreeBox([0], np.radians([[100.0, 0.0, 0.0]]), np.radians([[250.0, 0.0, 0.0]]))
    for degrees, outside in ((200.0, 0.0), (-150.0, 0.0), (180.0, 0.0), (90.0, -10.0), (260.0, 10.0)):
        own = rotation.to_matrix(rotation.exp([np.radians(degrees), 0.0, 0.0]))[None]
        assert np.degrees(excess(group, group.coordinates(own)))[0, 0] == pytest.approx(outside, abs=1e-9)


# -- swing polygons ---------------------------------------------------------------------------------------------------


def crossing_number(outline: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Whether points (N, 2) are inside, by the edges (E, 2, 2) that a ray to the right crosses."""
    (x0, z0), (x1, z1) = outline[:, 0].T, outline[:, 1].T
    x, z = points[:, :1], points[:, 1:]
    between = (z0 > z) != (z1 > z)
    at = x0 + (z - z0) * (x1 - x0) / np.where(z1 == z0, 1.0, z1 - z0)
    return np.sum(between & (x < at), axis=1) % 2 == 1


def samples(outline: np.ndarray, count: int = 4001) -> np.ndarray:
    """Points (E * count, 2) on the outline."""
    t = np.linspace(0.0, 1.0, count)[:, None]
    return np.concatenate([(1.0 - t) * start + t * end for start, end in outline])


def own_of(swings: np.ndarray, twists: np.ndarray | float = 0.0) -> np.ndarray:
    """Own rotations (N, 1, 3, 3) of one bone with these swing vectors (N, 2)."""
    x, z = swings.T
    swing = np.stack([np.sqrt(1.0 - x * x - z * z), x, 0.0 * x, z], axis=-1)
    twist = rotation.exp(np.broadcast_to(twists, x.shape)[:, None] * np.array([0.0, 1.0, 0.0]))
    return rotation.to_matrix(rotation.mul(swing, twist))[:, None]


def swings_of(own: np.ndarray) -> np.ndarray:
    """Swing vectors (N, 2) by the general split."""
    return rotation.swing_twist(rotation.from_matrix(own[:, 0]), [0.0, 1.0, 0.0])[0][:, [1, 3]]


@pytest.mark.long
@given(st.integers(0, 10**6), st.integers(3, 14), st.booleans())
@settings(derandomize=True, deadline=None, max_examples=40)
def test_a_swing_goes_to_the_nearest_point_of_its_polygon(seed: int, corners: int, holed: bool) -> None:
    polygon = ring() if holed else star(corners, seed, 0.1, 0.8)
    group = SwingPolygon([0], [polygon])
    points = np.random.default_rng(seed).uniform(-0.65, 0.65, (60, 2))
    outline = polygon.vertices[polygon.outline]
    inside = crossing_number(outline, points)
    values = group.coordinates(own_of(points))[:, 0]
    assert np.array_equal(values[:, 0] <= 0.0, inside)
    assert np.array_equal(np.all(values[:, :2] <= 0.0, axis=1), inside)
    rim = samples(outline)
    gaps = np.linalg.norm(points[:, None] - rim, axis=-1)
    distance = gaps.min(axis=1)
    within = np.where(inside, -distance, distance)
    assert np.max(np.abs(values[inside, 0] - 2.0 * within[inside]), initial=0.0) < 1e-3  # the samples are that fine
    assert np.all(values[:, 0] < 2.0 * within + 1e-3)  # at a corner, from a line: no further than the corner
    clamped = swings_of(group.clamp(own_of(points)))
    np.testing.assert_allclose(clamped[inside], points[inside], atol=1e-12)
    assert np.max(np.abs(np.linalg.norm(clamped - points, axis=1) - distance)[~inside], initial=0.0) < 1e-3
    assert np.max(np.abs(group.coordinates(group.clamp(own_of(points)))[~inside, 0, 0]), initial=0.0) < 1e-9


@given(st.integers(0, 10**6))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_the_bounds_of_the_twist_are_linear_in_each_triangle(seed: int) -> None:
    polygon = star(7, seed)
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(3), len(polygon.triangles))
    corners = polygon.triangles
    points = np.sum(weights[..., None] * polygon.vertices[corners], axis=1)
    lower, upper = (np.sum(weights * bound[corners], axis=1) for bound in (polygon.lower, polygon.upper))
    group = SwingPolygon([0], [polygon])
    for twist in (0.1, 1.5, -1.5):
        values = group.coordinates(own_of(points, twist))[:, 0]
        np.testing.assert_allclose(values[:, 2], twist - upper, atol=1e-12)
        np.testing.assert_allclose(values[:, 3], lower - twist, atol=1e-12)


@given(st.integers(0, 10**6))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_folds_are_the_bounds_of_the_triangles_next_door_where_these_are_nearer_together(seed: int) -> None:
    polygon = star(7, seed)
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(3), len(polygon.triangles))
    inside = np.sum(weights[..., None] * polygon.vertices[polygon.triangles], axis=1)
    values = SwingPolygon([0], [polygon]).coordinates(own_of(inside, 0.1))[:, 0]
    for triangle, (corners, point) in enumerate(zip(polygon.triangles, inside, strict=True)):
        uppers, lowers = list[float](), list[float]()
        for other in polygon.triangles:
            shared = set(corners.tolist()) & set(other.tolist())
            (apex,) = set(corners.tolist()) - shared if len(shared) == 2 else (-1,)
            if apex < 0:
                continue
            forms = np.linalg.inv(np.c_[polygon.vertices[other], np.ones(3)])
            for bounds, found, sign in ((polygon.upper, uppers, 1.0), (polygon.lower, lowers, -1.0)):
                form = forms @ bounds[other]
                if sign * (np.r_[polygon.vertices[apex], 1.0] @ form - bounds[apex]) > 1e-6:
                    found.append(float(np.r_[point, 1.0] @ form))
        np.testing.assert_allclose(np.sort(0.1 - values[triangle, 4:7])[: len(uppers)], np.sort(uppers), atol=1e-9)
        np.testing.assert_allclose(
            np.sort(-(values[triangle, 7:] + 0.1))[: len(lowers)], np.sort(-np.array(lowers)), atol=1e-9
        )
        assert np.all(values[triangle, 4:7] <= values[triangle, 2] + 1e-9)  # never nearer than its own bound
        assert np.all(values[triangle, 7:] <= values[triangle, 3] + 1e-9)


def test_outside_its_polygon_the_twist_is_bounded_as_at_the_nearest_point() -> None:
    polygon = star(9, 3)
    group = SwingPolygon([0], [polygon])
    outline = polygon.vertices[polygon.outline]
    points = np.random.default_rng(10).uniform(-0.65, 0.65, (200, 2))
    points = points[~crossing_number(outline, points)]
    there = swings_of(group.clamp(own_of(points)))
    for twist in (2.0, -2.0):
        outside, at = (group.coordinates(own_of(p, twist))[:, 0, 2:4] for p in (points, there))
        np.testing.assert_allclose(outside, at, atol=1e-9)
    inside = rotation.from_matrix(group.clamp(own_of(points, 2.0))[:, 0])
    twist = rotation.swing_twist(inside, [0.0, 1.0, 0.0])[1]
    upper = 2.0 - group.coordinates(own_of(there, 2.0))[:, 0, 2]
    np.testing.assert_allclose(2.0 * np.arctan2(twist[:, 2], twist[:, 0]), upper, atol=1e-9)


def test_at_a_corner_both_sides_hold_a_swing() -> None:
    group = SwingPolygon([0], [Polygon(**SQUARE)])
    for point, sides in (
        ((0.3, 0.3), (0.0, 0.0)),
        ((0.3, 0.25), (0.0, -0.1)),
        ((0.4, 0.35), (0.2, 0.1)),
        ((0.35, 0.4), (0.2, 0.1)),
        ((0.28, 0.29), (-0.02, -0.04)),
    ):
        own = own_of(np.array([point]))
        values = group.coordinates(own)
        np.testing.assert_allclose(values[0, 0, :2], sides, atol=1e-12)
        slopes = group.gradients(own, values)[0, 0, :2]
        cosine = slopes[0] @ slopes[1] / np.prod(np.linalg.norm(slopes, axis=-1))
        assert abs(cosine) < 0.4  # at right angles in the plane, less so in the body
    # beside a re-entrant corner there is one side only
    rim = [(0, 0), (0.4, 0), (0.4, 0.4), (0, 0.4), (-0.4, 0.4), (-0.4, 0), (-0.4, -0.4), (0, -0.4)]
    fan = [(0, i, i + 1) for i in range(1, 7)]
    corner = Polygon(rim, fan, np.full(8, -1.0), np.full(8, 1.0))
    own = own_of(np.array([(-0.03, 0.04)]))
    group = SwingPolygon([0], [corner])
    values = group.coordinates(own)
    assert values[0, 0, 0] == pytest.approx(-0.1)
    assert values[0, 0, 1] < -1.0
    assert not group.gradients(own, values)[0, 0, 1].any()


def test_a_polygon_may_leave_the_twist_free_or_let_it_pass_half_a_turn() -> None:
    free = Polygon(SQUARE["vertices"], SQUARE["triangles"], np.full(4, -np.inf), np.full(4, np.inf))
    far = Polygon(SQUARE["vertices"], SQUARE["triangles"], np.radians(np.full(4, 100.0)), np.radians(np.full(4, 250.0)))
    group = SwingPolygon([0, 1], [free, far])
    for degrees, outside in ((200.0, (0.0, 0.0)), (-150.0, (0.0, 0.0)), (90.0, (0.0, 10.0)), (260.0, (10.0, 0.0))):
        own = np.repeat(own_of(np.array([(0.1, 0.1)]), np.radians(degrees)), 2, axis=1)
        beyond = np.degrees(excess(group, group.coordinates(own)))[0]
        np.testing.assert_allclose(beyond[0], 0.0)
        np.testing.assert_allclose(beyond[1, 2:4], outside, atol=1e-9)


def test_a_twist_by_half_a_turn_is_read_to_the_last_digits_in_any_swing() -> None:
    points = np.random.default_rng(18).uniform(-0.6, 0.6, (100, 2))
    limit = np.array([[np.inf, np.radians(170.0), np.inf]])
    group = EllipticSwing([0], -limit, limit)
    for short in (0.0, 1e-10, 1e-6, 1e-3):
        values = group.coordinates(own_of(points, np.pi - short))
        np.testing.assert_allclose(np.abs(excess(group, values)[:, 0, 3]), np.radians(10.0) - short, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"vertices": [(0, 0), (0.1, 0)], "lower": [0, 0], "upper": [0, 0]}, "at least 3 vertices, not 2"),
        ({"vertices": [(0, 0, 0)] * 4}, r"shape \(V, 2\)"),
        ({"vertices": [(0, 0), (1, 0), (0.3, 0.3), (0, 0.3)]}, "Vertex 1 of a swing polygon is not a swing"),
        ({"vertices": [(0, 0), (np.nan, 0), (0.3, 0.3), (0, 0.3)]}, "not a finite number"),
        ({"triangles": [(0, 1, 2), (0, 2, 4)]}, "names vertex 4; there are 0 to 3"),
        ({"triangles": [(0, 1, 2), (0, 2, -1)]}, "names vertex -1"),
        ({"triangles": np.zeros((0, 3), int)}, r"shape \(T, 3\)"),
        ({"triangles": [(0.0, 1.0, 2.5)]}, "whole numbers"),
        ({"triangles": [(0, 1, 2), (0, 2, 2)]}, "Triangle 1 of a swing polygon has no area"),
        ({"triangles": [(0, 1, 2), (0, 1, 3)]}, "triangles 0 and 1 of a swing polygon overlap"),
        ({"triangles": [(0, 1, 2), (2, 1, 0)]}, "overlap"),
        ({"lower": [0.0] * 3}, r"shape \(4,\), not \(3,\)"),
        ({"upper": [0.0, np.nan, 0.0, 0.0]}, "not a number"),
        ({"lower": [0.0, 0.0, 0.41, 0.0]}, "At vertex 2 of a swing polygon the lower twist is above"),
        (
            {
                "vertices": [(0, 0), (0.4, 0), (0.4, 0.4), (0, 0.4), (0.2, 0.2)],
                "triangles": [(0, 1, 2), (0, 4, 3), (4, 2, 3)],
                "lower": [0] * 5,
                "upper": [0] * 5,
            },
            "Vertex 4 of a swing polygon lies on the edge",
        ),
        (
            {
                "vertices": [(0, 0), (0.4, 0), (0.4, 0.4), (-0.4, 0), (-0.4, -0.4)],
                "triangles": [(0, 1, 2), (0, 3, 4)],
                "lower": [0] * 5,
                "upper": [0] * 5,
            },
            "touches itself at vertex 0",
        ),
        (
            {
                "vertices": [(0, 0), (0.4, 0), (0.4, 0.4), (0, 0), (0, 0.4), (0.4, 0.4)],
                "triangles": [(0, 1, 2), (3, 5, 4)],
                "lower": [0] * 6,
                "upper": [0] * 6,
            },
            "at the same location",
        ),
    ],
)
def test_malformed_polygons_are_refused(change: dict, text: str) -> None:
    with pytest.raises(CoreError, match=text):
        Polygon(**{**SQUARE, **change})


def test_malformed_groups_of_new_kinds_are_refused() -> None:
    ones = np.ones((2, 3))
    with pytest.raises(CoreError, match="above"):
        OrderFreeBox([0, 1], ones, -ones)
    with pytest.raises(CoreError, match="shape"):
        OrderFreeBox([0], -ones, ones)
    with pytest.raises(CoreError, match="2 bones need as many polygons"):
        SwingPolygon([0, 1], [Polygon(**SQUARE)])
    box = OrderFreeBox([0, 1], -ones, ones)
    with pytest.raises(CoreError, match=r"frames of the shape \(2, 4\)"):
        Framed(box, frames(0, 3), frames(0, 2))
    with pytest.raises(CoreError, match="must be rotations"):
        Framed(box, frames(0, 2), np.zeros((2, 4)))


def test_a_polygon_cannot_be_changed_afterwards() -> None:
    polygon = Polygon(**SQUARE)
    with pytest.raises(ValueError, match="read-only"):
        polygon.vertices[0] = 0.0


# -- other frames -----------------------------------------------------------------------------------------------------


def test_limits_in_anatomical_axes_mean_the_same_on_any_rig() -> None:
    """A knee bends about the body's X axis, from a straight leg, whatever the bone's roll and rest pose."""
    bend = OrderFreeBox([0], np.radians([[0.0, 0.0, 0.0]]), np.radians([[150.0, 0.0, 0.0]]))
    rng = np.random.default_rng(11)
    for _ in range(20):
        axes, straight = rotation.normalize(rng.normal(size=(2, 1, 4)))  # of the bone in the body; own when straight
        knee = Framed(bend, rotation.mul(axes, rotation.inv(straight)), rotation.inv(axes))
        for degrees, outside in ((0.0, 0.0), (90.0, 0.0), (170.0, 20.0), (-10.0, -10.0)):
            turn = rotation.exp(np.radians([[degrees, 0.0, 0.0]]))  # about the body's axes
            own = rotation.mul(straight, rotation.mul(rotation.inv(axes), rotation.mul(turn, axes)))
            matrices = rotation.to_matrix(own)
            beyond = np.degrees(excess(knee, knee.coordinates(matrices)))
            np.testing.assert_allclose(beyond[0], [outside, 0.0, 0.0], atol=1e-9)
            moved = rotation.angle_between(own, rotation.from_matrix(knee.clamp(matrices)))
            assert np.degrees(moved[0]) == pytest.approx(abs(outside), abs=1e-6)


# -- rotations by shares ----------------------------------------------------------------------------------------------

share = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0))
degrees_below = st.one_of(st.sampled_from([-np.inf, -180.0, -120.0, -90.0, -45.0, 0.0]), st.floats(-179.0, 0.0))
degrees_above = st.one_of(st.sampled_from([np.inf, 180.0, 120.0, 90.0, 45.0, 0.0]), st.floats(0.0, 179.0))
degrees_shift = st.sampled_from([0.0, 0.0, 0.0, 90.0, -170.0])  # ranges without rest, across half a turn


def grid(count: int) -> np.ndarray:
    """Shares (count^3, 1, 3) of one bone, the middles of equal cells."""
    line = (np.arange(count) + 0.5) / count
    return np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 1, 3)


@given(
    st.sampled_from(["euler", "ellipse", "order-free"]),
    st.booleans(),
    arrays(float, (6, 3), elements=degrees_below),
    arrays(float, (6, 3), elements=degrees_above),
    arrays(float, (6, 3), elements=degrees_shift),
    arrays(float, (4, 6, 3), elements=share),
)
@settings(derandomize=True, deadline=None, max_examples=400)
def test_any_shares_are_inside_any_bounds(
    kind: str, framed: bool, below: np.ndarray, above: np.ndarray, shift: np.ndarray, shares: np.ndarray
) -> None:
    if kind == "ellipse":
        group: LimitGroup = EllipticSwing(range(6), np.radians(below), np.radians(above))
    else:
        shift = np.where(np.isfinite(below) & np.isfinite(above), shift, 0.0)
        above = np.where((shift == 90.0) & (above - below < 0.01), 1.0, above)  # only gimbal lock: angles are not told
        below, above = below + shift, above + shift
        bounds = np.radians(below), np.radians(above)
        group = OrderFreeBox(range(6), *bounds) if kind == "order-free" else EulerBox(
            range(6), rotation.EULER_ORDERS, *bounds)  # fmt: skip
    if framed:
        group = Framed(group, frames(12), frames(13))
    own = group.within(shares)
    assert own.shape == (4, 6, 3, 3)
    np.testing.assert_allclose(own @ np.swapaxes(own, -1, -2), np.broadcast_to(np.eye(3), own.shape), atol=1e-12)
    assert np.max(np.abs(excess(group, group.coordinates(own)))) < 1e-9


@given(st.integers(0, 10**6), st.booleans(), arrays(float, (4, 3, 3), elements=share))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_any_shares_are_inside_any_polygon(seed: int, framed: bool, shares: np.ndarray) -> None:
    group: LimitGroup = SwingPolygon(range(3), [star(4, seed, 0.05, 0.99), ring(), star(11, seed, 0.05, 0.99)])
    if framed:
        group = Framed(group, frames(12, 3), frames(13, 3))
    assert np.max(np.abs(excess(group, group.coordinates(group.within(shares))))) < 1e-9


@pytest.mark.parametrize("number", KINDS)
def test_the_same_shares_give_the_same_rotations_alone_and_among_others(number: int) -> None:
    group = groups()[number]
    shares = np.random.default_rng(14).uniform(size=(2, 3, 6, 3))
    own = group.within(shares)
    np.testing.assert_array_equal(groups()[number].within(shares), own)
    kept = np.array([4, 1, 5])
    np.testing.assert_allclose(group.take(kept).within(shares[..., kept, :]), own[..., kept, :, :], atol=1e-12)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(group.within(shares[index]), own[index], atol=1e-12)
    assert group.take(kept[:0]).within(shares[..., :0, :]).shape == (2, 3, 0, 3, 3)
    if isinstance(group, Framed):
        turned = rotation.mul(group._before, rotation.mul(rotation.from_matrix(own), group._after))
        np.testing.assert_allclose(rotation.to_matrix(turned), group.group.within(shares), atol=1e-12)


@pytest.mark.parametrize("order_free", [False, True])
def test_shares_are_where_each_angle_is_in_its_range(order_free: bool) -> None:
    rng = np.random.default_rng(15)
    low, high = -rng.uniform(0.1, 1.5, (6, 3)), rng.uniform(0.1, 1.5, (6, 3))
    group = OrderFreeBox(range(6), low, high) if order_free else EulerBox(range(6), rotation.EULER_ORDERS, low, high)
    corners = np.array(list(np.ndindex(2, 2, 2)), float)[:, None]
    for shares in (corners, np.full((1, 1, 3), 0.5), rng.uniform(size=(50, 6, 3))):
        wanted = group.lower + shares * (group.upper - group.lower)
        np.testing.assert_allclose(group.coordinates(group.within(shares)), wanted, atol=1e-9)


@pytest.mark.parametrize("order_free", [False, True])
def test_where_nothing_bounds_an_angle_its_range_is_a_right_angle(order_free: bool) -> None:
    free = np.inf
    low, high = np.radians([[-free, 10.0, -free]]), np.radians([[free, free, 20.0]])
    # in the order Y, X, Z no free angle comes second, where a right angle is gimbal lock
    group = OrderFreeBox([0], low, high) if order_free else EulerBox([0], ["XZY"], low, high)
    columns = [0, 1, 2] if order_free else [0, 2, 1]
    for part, wanted in ((0.25, (-45.0, 32.5, -47.5)), (0.5, (0.0, 55.0, -25.0)), (0.75, (45.0, 77.5, -2.5))):
        angles = np.degrees(group.coordinates(group.within(np.full((1, 3), part))))[0]
        np.testing.assert_allclose(angles[columns], wanted, atol=1e-9)


def test_shares_of_bounds_at_half_turns_and_gimbal_lock_stay_readable() -> None:
    low, high = np.radians([[0.0, -90.0, -30.0]] * 2), np.radians([[180.0, 90.0, 30.0]] * 2)
    for group in (EulerBox([0, 1], ["XYZ", "ZYX"], low, high), OrderFreeBox([0, 1], low, high)):
        for corner in np.ndindex(2, 2, 2):
            wanted = np.where(np.array(corner, bool), group.upper, group.lower)
            angles = group.coordinates(group.within(np.full((2, 3), corner, float)))
            np.testing.assert_allclose(angles, wanted, atol=2e-5)


def test_shares_go_across_half_a_turn_where_the_range_does() -> None:
    low, high = np.radians([[100.0, 0.0, 0.0]]), np.radians([[250.0, 0.0, 0.0]])
    for group in (EulerBox([0], ["XYZ"], low, high), OrderFreeBox([0], low, high)):
        for part, degrees in ((0.0, 100.0), (0.8, 220.0), (1.0, 250.0)):
            own = rotation.from_matrix(group.within(np.full((1, 3), part)))[0]
            assert float(rotation.angle_between(own, rotation.exp(np.radians([degrees, 0.0, 0.0])))) < 1e-9


def test_shares_cover_an_ellipse_of_swings_evenly() -> None:
    below, above = np.radians([[30.0, 20.0, 50.0]]), np.radians([[100.0, 70.0, 80.0]])
    group = EllipticSwing([0], -below, above)
    own = group.within(grid(24))
    swings = swings_of(own)
    radii = np.where(swings < 0.0, np.sin(0.5 * below[:, [0, 2]]), np.sin(0.5 * above[:, [0, 2]]))
    square = np.sum((swings / radii) ** 2, axis=-1)
    for level in (0.1, 0.3, 0.5, 0.7, 0.9):
        assert np.mean(square < level) == pytest.approx(level, abs=0.05)
    span = np.sin(0.5 * below[0, [0, 2]]) + np.sin(0.5 * above[0, [0, 2]])
    part = np.sin(0.5 * above[0, [0, 2]]) / span
    for x, z in ((False, False), (False, True), (True, False), (True, True)):
        area = np.prod(np.where([x, z], part, 1.0 - part))
        assert np.mean(np.all((swings > 0.0) == [x, z], axis=-1)) == pytest.approx(area, abs=0.04)
    rim = np.random.default_rng(16).uniform(size=(40, 1, 3))
    rim[:20, 0, 0], rim[20:, 0, 1] = [0.0, 1.0] * 10, [0.0, 1.0] * 10
    values = group.coordinates(group.within(rim))[:, 0]
    np.testing.assert_allclose(values[:, 2], group.upper[0, 2], atol=1e-9)
    np.testing.assert_allclose(values[:, 3], -below[0, 1] + rim[:, 0, 2] * (above[0, 1] + below[0, 1]), atol=1e-9)


def test_shares_of_a_hinge_are_angles_of_its_range() -> None:
    group = EllipticSwing([0], np.radians([[-10.0, 0.0, 0.0]]), np.radians([[150.0, 0.0, 0.0]]))
    for part, degrees in ((0.0, -10.0), (0.25, 30.0), (0.5, 70.0), (1.0, 150.0)):
        own = rotation.from_matrix(group.within(np.array([[part, 0.3, 0.8]])))[0]
        assert float(rotation.angle_between(own, rotation.exp(np.radians([degrees, 0.0, 0.0])))) < 1e-9


def test_shares_cover_a_polygon_evenly_and_twist_from_bound_to_bound() -> None:
    for polygon in (star(7, 2), ring(), Polygon(**SQUARE)):
        group = SwingPolygon([0, 1], [polygon, star(30, 3)])  # in rows that are filled up
        fine, coarse = (np.arange(2000) + 0.5) / 2000, (np.arange(10) + 0.5) / 10
        shares = np.stack(np.meshgrid(fine, coarse, [0.5]), axis=-1).reshape(-1, 1, 3)
        shares = np.repeat(shares, 2, axis=1)
        swings = swings_of(group.within(shares))
        corners = polygon.vertices[polygon.triangles]
        one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        areas = 0.5 * np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])
        forms = np.linalg.inv(np.concatenate([corners, np.ones((len(corners), 3, 1))], axis=-1))
        weights = np.concatenate([swings, np.ones((len(swings), 1))], axis=-1) @ forms
        inside = np.all(weights > 0.0, axis=-1)
        np.testing.assert_allclose(inside.mean(axis=1), areas / areas.sum(), atol=0.001)
        # in each triangle every corner has the same part of the points
        means = np.array([weights[t][inside[t]].mean(axis=0) for t in range(len(areas))])
        np.testing.assert_allclose(means, 1.0 / 3.0, atol=0.002)
        for end, column in ((0.0, 3), (1.0, 2)):
            shares[..., 2] = end
            np.testing.assert_allclose(group.coordinates(group.within(shares))[..., column], 0.0, atol=1e-9)


def test_twists_of_a_polygon_go_across_half_a_turn_and_a_right_angle_where_free() -> None:
    for low, high, wanted in (
        (-np.inf, np.inf, (-90.0, 0.0, 90.0)),
        (170.0, np.inf, (170.0, 215.0, 260.0)),
        (-np.inf, 20.0, (-70.0, -25.0, 20.0)),
        (110.0, 250.0, (110.0, 180.0, 250.0)),
    ):
        bounds = np.full(4, np.radians(low)), np.full(4, np.radians(high))
        group = SwingPolygon([0], [Polygon(SQUARE["vertices"], SQUARE["triangles"], *bounds)])
        for part, degrees in zip((0.0, 0.5, 1.0), wanted, strict=True):
            own = group.within(np.array([[0.3, 0.6, part]]))
            twist = rotation.swing_twist(rotation.from_matrix(own), [0.0, 1.0, 0.0])[1][0]
            assert float(rotation.angle_between(twist, rotation.exp([0.0, np.radians(degrees), 0.0]))) < 1e-9
            assert np.max(np.abs(excess(group, group.coordinates(own)))) < 1e-9


@pytest.mark.parametrize("kind", [EllipticSwing, OrderFreeBox, EulerBox])
def test_shares_are_of_the_bounds_of_each_frame(kind: type) -> None:
    low, high = -np.full((2, 3), 0.4), np.random.default_rng(17).uniform(0.1, 0.9, (5, 2, 3))
    orders = (["XYZ", "ZYX"],) if kind is EulerBox else ()
    shares = np.array([[0.2, 0.9, 0.6], [1.0, 0.3, 0.0]])
    group = Framed(kind([0, 1], *orders, low, high), frames(0, 2), frames(1, 2))
    own = group.within(shares)
    assert own.shape == (5, 2, 3, 3)
    for frame in range(5):
        alone = Framed(kind([0, 1], *orders, low, high[frame]), frames(0, 2), frames(1, 2))
        np.testing.assert_allclose(own[frame], alone.within(shares), atol=1e-12)
    np.testing.assert_allclose(group.at_frames(np.array([3, 0])).within(shares), own[[3, 0]], atol=1e-12)


@pytest.mark.parametrize("kind", [OrderFreeBox, EulerBox])
def test_widened_ranges_let_the_given_rotations_pass_and_are_else_as_they_were(kind: type) -> None:
    rng = np.random.default_rng(11)
    orders = (["YZX", "XYZ"],) if kind is EulerBox else ()
    box = kind([0, 1], *orders, -0.2 * np.ones((2, 3)), 0.3 * np.ones((2, 3)))
    turns = rotation.exp(0.4 * rng.normal(size=(20, 2, 3)))
    frames = rotation.exp(rng.normal(size=(2, 2, 4))[..., :3])
    for group in (box, Framed(box, *frames)):
        matrices = rotation.to_matrix(turns)
        if isinstance(group, Framed):
            matrices = rotation.to_matrix(
                rotation.mul(rotation.inv(frames[0]), rotation.mul(turns, rotation.inv(frames[1])))
            )
        assert not np.array_equal(group.clamp(matrices), matrices)
        wide = group.widened(matrices)
        np.testing.assert_allclose(wide.clamp(matrices), matrices, atol=1e-9)
        assert (wide.lower <= group.lower).all()
        assert (wide.upper >= group.upper).all()
        narrow = group.widened(group.clamp(matrices))
        np.testing.assert_allclose(narrow.upper, group.upper, atol=1e-9)
