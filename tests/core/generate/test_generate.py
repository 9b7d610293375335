"""Motion from two key poses: curves through samples, tracks of offsets, the root's path and flight."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import CoreError, Pose, Skeleton, forward, rotation
from core.generate import Flight, Recipe, RootPath, Track, fit_curve
from tests.core.rigs import random_pose

# the source's two examples: offsets at equal samples, then (the jump) with six added
WAVE = np.array([0.5, 0.0, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0, 0.5, 0.5, 0.5])
JUMP_TIMES = np.array([0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.05, 1.2])
JUMP = np.array([0.5, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 1.0])


def low_and_high(figure: Skeleton) -> tuple[Pose, Pose]:
    rng = np.random.default_rng(3)
    return random_pose(figure, rng), random_pose(figure, rng)


def test_the_key_poses_are_met_and_other_samples_nearly() -> None:
    times = np.linspace(0.0, 2.0, len(WAVE))
    found = fit_curve(times, WAVE)(times)[:, 0]
    extreme = (WAVE == 0.0) | (WAVE == 1.0)
    assert np.abs(found - WAVE)[extreme].max() < 5e-3
    assert np.abs(found - WAVE)[~extreme].max() < 2e-2


def test_the_curve_solves_the_system_of_the_source() -> None:
    rng = np.random.default_rng(0)
    times, values, weights = np.sort(rng.uniform(0.0, 3.0, 8)), rng.normal(size=8), rng.uniform(0.01, 0.2, 8)
    curve = fit_curve(times, values, weights, width=0.4, gamma=50.0)
    # each residual is its coefficient's share, and the coefficients sum to nothing: the conditions of the minimum
    np.testing.assert_allclose(values - curve(times)[:, 0], curve.coefficients[:, 0] / (50.0 * weights), atol=1e-9)
    assert curve.coefficients.sum() == pytest.approx(0.0, abs=1e-9)


def test_the_slope_is_that_of_the_curve() -> None:
    curve = fit_curve(JUMP_TIMES, JUMP)
    t, step = np.linspace(-0.2, 1.4, 300), 1e-5
    differences = (curve(t + step) - curve(t - step)) / (2.0 * step)
    np.testing.assert_allclose(curve.slope(t), differences, atol=1e-5)


HOLD = np.array([0.0, 0.8, 1.0, 1.8, 2.0]), np.array([0.0, 0.0, 1.0, 1.0, 0.0])
STRIKE = np.array([0.0, 0.8, 0.9, 1.0, 2.0]), np.array([0.0, 0.0, 1.0, 0.0, 0.0])


@pytest.mark.parametrize(("samples", "lowest", "highest"), [(HOLD, -0.2, 1.25), (STRIKE, -0.3, 1.0)])
def test_samples_that_are_not_equally_far_apart_swing_no_further_than_equal_ones(
    samples: tuple[np.ndarray, np.ndarray], lowest: float, highest: float
) -> None:
    times, values = samples
    curve, equal = fit_curve(times, values), fit_curve(np.arange(5.0), values)
    found = curve(np.linspace(0.0, 2.0, 2001))
    assert found.min() > lowest
    assert found.max() < highest
    assert np.abs(curve(times)[:, 0] - values).max() < 0.02
    np.testing.assert_allclose(np.ptp(found), np.ptp(equal(np.linspace(0.0, 4.0, 2001))), atol=1e-3)


def test_equal_samples_are_fitted_as_by_the_source() -> None:
    times, width = 0.3 * np.arange(len(WAVE)), 1.2 * 0.3
    kernel = np.exp(-0.5 * np.square((times[:, None] - times) / width))
    weights = np.where((WAVE == 0.0) | (WAVE == 1.0), 0.1, 0.02)
    system = np.block(
        [[np.zeros((1, 1)), np.ones((1, len(WAVE)))], [np.ones((len(WAVE), 1)), kernel + np.diag(1e-4 / weights)]]
    )
    solved = np.linalg.solve(system, np.append(0.0, WAVE))
    at = np.linspace(-0.3, 3.3, 400)
    wanted = np.exp(-0.5 * np.square((at[:, None] - times) / width)) @ solved[1:] + solved[0]
    np.testing.assert_allclose(fit_curve(times, WAVE)(at)[:, 0], wanted, atol=1e-9)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 12))
def test_a_curve_that_stays_is_between_each_two_samples_and_smooth(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.01, 2.0, count))
    values = rng.choice([0.0, 0.3, 1.0, *rng.uniform(-0.2, 1.2, 3)], (count, 2))
    curve = fit_curve(times, values).staying(values)
    np.testing.assert_allclose(curve(times), values, atol=1e-12)
    for row, (start, end) in enumerate(pairwise(times)):
        found = curve(np.linspace(start, end, 50))
        low, high = np.sort(values[row : row + 2], axis=0)
        assert (found > low - 1e-9).all()
        assert (found < high + 1e-9).all()
    inner = times[1:-1]
    np.testing.assert_allclose(curve.slope(inner - 1e-9), curve.slope(inner + 1e-9), atol=1e-4)


def test_a_curve_that_stays_is_near_to_the_fit_where_that_swings_nowhere() -> None:
    times, at = np.arange(5.0), np.linspace(0.0, 4.0, 400)
    values = np.array([[0.0], [0.5], [1.0], [0.5], [0.0]])
    curve = fit_curve(times, values)
    assert np.abs(curve.staying(values)(at) - curve(at)).max() < 0.01


def test_a_sample_that_is_added_changes_the_curve_near_it() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        times, values = np.cumsum(rng.uniform(0.1, 1.0, 12)), rng.uniform(0.0, 1.0, (12, 1))
        more = np.insert(times, 6, rng.uniform(times[5] + 0.02, times[6] - 0.02)), np.insert(values, 6, 0.5, axis=0)
        before, after = fit_curve(times, values).staying(values), fit_curve(*more).staying(more[1])
        for start, end in ((times[0], times[3]), (times[8], times[11])):  # two samples away
            at = np.linspace(start, end, 200)
            assert np.abs(after(at) - before(at)).max() < 0.1


def test_a_heavier_sample_is_met_better() -> None:
    times, values = np.arange(6.0), np.array([0.3, 0.9, 0.1, 0.7, 0.2, 0.4])
    errors = []
    for weight in (0.001, 0.02, 0.5):
        weights = np.full(6, 0.02)
        weights[2] = weight
        errors.append(abs(fit_curve(times, values, weights, gamma=100.0)(2.0)[0] - 0.1))
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize(
    ("times", "values", "more", "why"),
    [
        ([0.0, 0.0], [0.0, 1.0], {}, "increase"),
        ([0.0, 1.0], [0.0], {}, "as many values"),
        ([0.0, np.nan], [0.0, 1.0], {}, "finite"),
        ([0.0, 1.0], [0.0, 1.0], {"weights": [1.0, 0.0]}, "positive weight"),
        ([0.0, 1.0], [0.0, 1.0], {"width": 0.0}, "width"),
        ([0.0, 1.0], [0.0, 1.0], {"gamma": -1.0}, "gamma"),
        ([], [], {}, "as many values"),
    ],
)
def test_samples_that_are_none_are_refused(times: list, values: list, more: dict, why: str) -> None:
    with pytest.raises(CoreError, match=why):
        fit_curve(times, values, **more)


def test_tracks_and_paths_stay_between_their_samples_unless_they_are_to_swing_over() -> None:
    times, times_between = [0.0, 1.0, 2.0], np.linspace(0.0, 2.0, 41)
    offsets = Track("all", times, [0.0, 1.0, 1.0]).curve()(times_between)
    np.testing.assert_allclose(offsets[20:], 1.0, atol=1e-12)
    assert (np.diff(offsets[:21, 0]) >= 0.0).all()
    shifts = RootPath(times, np.outer([0.0, 1.0, 1.0], [1.0, 2.0, 3.0])).curve()(times_between)
    np.testing.assert_allclose(shifts[20:], [[1.0, 2.0, 3.0]] * 21, atol=1e-12)
    assert Track("all", times, [0.0, 1.0, 1.0], stay=False).curve()(times_between).max() > 1.01


def test_at_the_extremes_the_motion_has_the_key_poses(figure: Skeleton) -> None:
    low, high = low_and_high(figure)
    recipe = Recipe([Track("all", np.linspace(0.0, 2.0, len(WAVE)), WAVE)])
    motion = recipe.motion(figure, low, high, np.arange(1.0, 62.0), 30.0)
    for sample, pose in ((1, low), (3, high), (5, low), (7, high)):
        frame = sample * 6
        off = rotation.angle_between(motion.pose.rotations[frame], pose.rotations)
        apart = rotation.angle_between(low.rotations, high.rotations)
        assert (off < 6e-3 * apart + 1e-9).all()


def test_a_track_leaves_other_bones_in_the_min_pose(figure: Skeleton) -> None:
    low, high = low_and_high(figure)
    arm = ("upper_arm.R", "forearm.R", "hand.R")
    motion = Recipe([Track(arm, np.linspace(0.0, 2.0, len(WAVE)), WAVE)]).motion(
        figure, low, high, np.arange(60.0), 30.0
    )
    moved = rotation.angle_between(motion.pose.rotations, low.rotations).max(axis=0) > 1e-9
    assert {figure.names[bone] for bone in np.flatnonzero(moved)} == set(arm)
    np.testing.assert_array_equal(motion.pose.translations, np.broadcast_to(low.translations, (60, len(figure), 3)))


def test_the_rotation_is_on_the_shortest_arc_also_beyond_the_key_poses(figure: Skeleton) -> None:
    low, high = low_and_high(figure)
    recipe = Recipe([Track("all", np.array([0.0, 1.0]), np.array([-0.25, 1.25]), np.array([10.0, 10.0]))])
    motion = recipe.motion(figure, low, high, np.array([0.0, 30.0]), 30.0)
    arc = rotation.log(rotation.mul(rotation.inv(low.rotations), high.rotations))
    for frame, offset in ((0, -0.25), (1, 1.25)):
        off = rotation.mul(rotation.inv(low.rotations), motion.pose.rotations[frame])
        np.testing.assert_allclose(rotation.log(off), offset * arc, atol=2e-4)


def test_without_the_fit_a_motion_goes_straight_from_sample_to_sample(figure: Skeleton) -> None:
    low, high = low_and_high(figure)
    recipe = Recipe([Track("all", [0.0, 1.0, 1.5], [0.5, 0.0, 1.0], straight=True)])
    motion = recipe.motion(figure, low, high, np.arange(7.0), 4.0)
    expected = np.array([0.5, 0.375, 0.25, 0.125, 0.0, 0.5, 1.0])
    np.testing.assert_allclose(recipe.offsets(figure, np.arange(7.0) / 4.0)[:, 0], expected, atol=1e-12)
    for frame, offset in enumerate(expected):
        turns = rotation.slerp(low.rotations, high.rotations, np.full(len(figure), offset))
        np.testing.assert_allclose(np.abs(np.sum(motion.pose.rotations[frame] * turns, axis=-1)), 1.0, atol=1e-9)
    path = RootPath([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]], straight=True)
    np.testing.assert_allclose(path.curve()([0.25, 3.0]), [[0.0, 0.0, 0.5], [0.0, 0.0, 2.0]])


@pytest.mark.parametrize("own", [True, False])
def test_a_track_of_one_axis_moves_one_degree_of_freedom(figure: Skeleton, own: bool) -> None:
    """Of the rotation vector from the min to the max pose, in the bone's frame or in others."""
    low, high = low_and_high(figure)
    bone, frames = figure.index("upper_arm.L"), rotation.exp(np.random.default_rng(0).normal(size=(len(figure), 3)))
    way = rotation.log(rotation.mul(rotation.inv(low.rotations), high.rotations))[bone]
    one = Track(("upper_arm.L",), [0.0, 1.0], [0.0, 1.0], straight=True, axis="Z", frame=None if own else frames)
    motion = Recipe([Track("all", [0.0], [0.25]), one]).motion(figure, low, high, np.arange(3.0), 2.0)
    found = rotation.log(rotation.mul(rotation.inv(low.rotations[bone]), motion.pose.rotations[:, bone]))
    seen = found if own else rotation.rotate(rotation.inv(frames[bone]), found)
    whole = way if own else rotation.rotate(rotation.inv(frames[bone]), way)
    np.testing.assert_allclose(seen, whole * [[0.25, 0.25, 0.0], [0.25, 0.25, 0.5], [0.25, 0.25, 1.0]], atol=1e-9)
    others = np.arange(len(figure)) != bone
    quarter = rotation.slerp(low.rotations, high.rotations, np.full(len(figure), 0.25))[others]
    np.testing.assert_allclose(np.abs(np.sum(motion.pose.rotations[2, others] * quarter, axis=-1)), 1.0, atol=1e-9)
    axes = [Track(("upper_arm.L",), [0.0, 1.0], [0.0, 1.0], axis=axis) for axis in "XYZ"]
    together = Recipe(axes).motion(figure, low, high, np.arange(5.0), 4.0).pose.rotations[:, bone]
    slerped = Recipe([Track(("upper_arm.L",), [0.0, 1.0], [0.0, 1.0])]).motion(figure, low, high, np.arange(5.0), 4.0)
    np.testing.assert_allclose(np.abs(np.sum(together * slerped.pose.rotations[:, bone], axis=-1)), 1.0, atol=1e-9)


@pytest.mark.parametrize("bone", [0, 1])
def test_the_root_follows_its_path_in_armature_space(figure: Skeleton, bone: int) -> None:
    """A bone below it that carries the body moves in its place: the one of game rigs at the feet stays."""
    figure = replace(figure, translatable=np.ones((len(figure), 3), bool))
    rest = Pose.rest(figure)
    times, shifts = (
        np.linspace(0.0, 1.0, 5),
        np.array([[0, 0, 0], [0, -0.2, 0.1], [0.1, -0.4, 0], [0, -0.6, 0], [0, 0, 0]]),
    )
    recipe = Recipe([], RootPath(times, shifts, stay=False), root=bone)
    motion = recipe.motion(figure, rest, rest, np.arange(31.0), 30.0)
    heads = forward(figure, motion.pose)[0] - forward(figure, rest)[0]
    curve = fit_curve(times, shifts)(np.arange(31.0) / 30.0)
    np.testing.assert_allclose(heads[:, bone], curve, atol=1e-12)
    assert not heads[:, :bone].any()
    assert np.abs(curve[[0, 15, 30]] - shifts[[0, 2, 4]]).max() < 5e-3


def test_in_flight_only_gravity_acts(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    path = RootPath(
        np.array([0.0, 0.4, 0.9, 1.2]), np.array([[0, 0, 0], [0, -0.1, 0.05], [0, -0.5, 0.05], [0, -0.5, 0]])
    )
    recipe = Recipe([], path, (Flight(0.4, 0.9),), gravity=9.81)
    frames = np.arange(121.0)
    heads = forward(figure, recipe.motion(figure, rest, rest, frames, 100.0).pose)[0][:, 0]
    flying = heads[41:90]
    speeds = np.diff(flying, n=2, axis=0) * 100.0**2
    np.testing.assert_allclose(speeds, np.broadcast_to([0.0, 0.0, -9.81], speeds.shape), atol=1e-6)
    assert np.linalg.norm(np.diff(heads, axis=0), axis=1).max() < 0.04  # no jump where it leaves and lands


def test_the_root_leaves_and_lands_with_the_speed_of_its_arc(figure: Skeleton) -> None:
    low, high = Pose.rest(figure), Pose.rest(figure)
    flights = Flight(0.4, 0.9), Flight(1.2, 1.5)
    track = Track("all", np.array([0.0, 1.5]), np.array([0.0, 1.0]))
    recipe = Recipe([track], None, flights, gravity=9.81, push=0.2, give=0.25)
    heads = forward(figure, recipe.motion(figure, low, high, np.arange(1801.0), 1000.0).pose)[0][:, 0]
    speeds = np.diff(heads, axis=0) * 1000.0
    for flight in flights:
        for end in (flight.start, flight.end):
            at = round(1000.0 * end)
            assert np.linalg.norm(speeds[at] - speeds[at - 1]) < 0.1  # of up to 2.45 metres per second
    assert np.abs(heads[[0, 150, 1800]] - heads[0]).max() < 1e-9


@pytest.mark.parametrize(
    ("tracks", "why"),
    [
        ([], "at least one track"),
        (
            [Track(("head",), [0, 1], [0, 1]), Track(("head", "neck"), [0, 1], [0, 1])],
            'Two tracks move the bone "head"',
        ),
        ([Track("all", [0, 1], [0, 1]), Track("all", [0, 1], [0, 1])], "Two tracks move"),
        ([Track(("hed",), [0, 1], [0, 1])], 'did you mean "head"'),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_refused(figure: Skeleton, tracks: list[Track], why: str) -> None:
    rest = Pose.rest(figure)
    with pytest.raises(CoreError, match=why):
        Recipe(tracks).motion(figure, rest, rest, np.arange(3.0), 30.0)
