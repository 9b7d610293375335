"""When feet bear: against steps whose schedule is known, and on a captured walk."""

import numpy as np
import pytest

from benchmarks.motion.clips import read_clip
from core import CoreError, Motion, Pose, Skeleton
from core.body import find_roles
from core.editing.contacts import (
    BodyPoint,
    Ground,
    find_contacts,
    find_ground,
    foot_points,
    point_positions,
    runs,
)
from core.skeleton import HUMAN_DIAGONAL
from tests.core.rigs import FIGURE, skeleton_of
from tests.paths import DATA

WALK = DATA / "motion" / "cmu_07_12.bvh"
POINT = BodyPoint("toe", 0, (0.0, 0.0, 0.0))
STANCE, SWING, STRIDE, LIFT = 0.6, 0.4, 0.9, 0.12  # seconds, metres


def steps(fps: float, size: float = 1.0, noise: float = 0.0, seconds: float = 4.0) -> tuple[Skeleton, Motion]:
    """One bone that stands, steps, stands ...; of a body of the given size."""
    times = np.arange(round(seconds * fps)) / fps
    cycle, phase = np.divmod(times, STANCE + SWING)
    swing = np.clip((phase - STANCE) / SWING, 0.0, 1.0)
    ahead = STRIDE * (cycle + 0.5 * (1.0 - np.cos(np.pi * swing)))
    places = np.stack([ahead, np.zeros_like(ahead), 0.03 + LIFT * np.sin(np.pi * swing) ** 2], axis=-1)
    places += noise * np.random.default_rng(0).normal(size=places.shape)
    bone = Skeleton(["foot"], [-1], [[0.0] * 3], [[1.0, 0.0, 0.0, 0.0]], [HUMAN_DIAGONAL * size])
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (len(times), 1, 1))
    return bone, Motion(Pose(turns, size * places[:, None]), np.arange(len(times)), fps)


def intervals(skeleton: Skeleton, motion: Motion) -> np.ndarray:
    """(n, 2) seconds of the first and last frames."""
    intervals = find_contacts(skeleton, motion, [POINT]).intervals()
    return np.array([[touch.first, touch.last] for touch in intervals]) / motion.fps


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_stances_are_found_at_any_size_and_frame_rate(fps: float, size: float) -> None:
    truth = np.array([[start, start + STANCE] for start in range(4)])
    np.testing.assert_allclose(intervals(*steps(fps, size)), truth, atol=0.07)


def test_noise_of_a_capture_moves_no_stance_by_more_than_two_frames() -> None:
    clean, noisy = intervals(*steps(60.0)), intervals(*steps(60.0, noise=2e-3))
    np.testing.assert_allclose(noisy, clean, atol=2.5 / 60.0)


def test_a_foot_that_is_held_still_in_the_air_bears_nothing() -> None:
    skeleton, motion = steps(30.0)
    moved = motion.pose.translations.copy()
    moved[33:, :, :] = moved[33]  # 0.1 s into a stance
    moved[33:, :, 2] += 0.3
    lifted = Motion(Pose(motion.pose.rotations, moved), motion.frames, motion.fps)
    assert find_contacts(skeleton, lifted, [POINT]).touching[34:].sum() == 0


def test_a_short_gap_is_closed_and_a_short_touch_is_none() -> None:
    skeleton, motion = steps(30.0)
    moved = motion.pose.translations.copy()
    moved[7, :, 2] += 0.3
    moved[40:48, :, 2] += 0.3  # of the second stance, frames 30 to 48, the beginning and a bit of the end are left
    moved[33:40, :, 2] += 0.3
    broken = Motion(Pose(motion.pose.rotations, moved), motion.frames, motion.fps)
    intervals = find_contacts(skeleton, broken, [POINT]).intervals()
    assert intervals[0].first == 0
    assert intervals[0].last in (17, 18, 19)
    assert intervals[1].first >= 59


def test_the_ground_is_the_second_percentile_along_any_up() -> None:
    rng = np.random.default_rng(3)
    places = rng.normal(size=(500, 2, 3))
    ground = find_ground(places, (0.0, 3.0, 0.0))
    assert np.mean(places[..., 1] < ground.height) == pytest.approx(0.02, abs=0.002)
    np.testing.assert_allclose(ground.heights(places), places[..., 1] - ground.height)
    with pytest.raises(CoreError, match="must not be zero"):
        find_ground(places, (0.0, 0.0, 0.0))


def test_a_tilted_floor_is_still_a_floor() -> None:
    skeleton, motion = steps(30.0, seconds=6.0)
    moved = motion.pose.translations.copy()
    moved[..., 2] += 0.03 * moved[..., 0]  # a capture that is 15 cm off after five steps
    tilted = Motion(Pose(motion.pose.rotations, moved), motion.frames, motion.fps)
    np.testing.assert_allclose(intervals(skeleton, tilted), intervals(skeleton, motion), atol=1.5 / 30.0)


def test_a_ground_that_is_given_is_taken() -> None:
    skeleton, motion = steps(30.0)
    below = Ground(np.array([0.0, 0.0, 1.0]), -1.0)
    assert not find_contacts(skeleton, motion, [POINT], below).touching.any()
    with pytest.raises(CoreError, match="Assign its feet"):
        find_contacts(skeleton, motion, [])


def test_a_human_foot_has_heel_ball_and_toe_where_they_are() -> None:
    skeleton = skeleton_of([*FIGURE, ("toe.L", "foot.L", (0.11, -0.12, 0.02), (0.11, -0.19, 0.02))])
    points = foot_points(skeleton, find_roles(skeleton))
    assert [point.name for point in points] == ["heel.L", "ball.L", "toe.L", "heel.R", "ball.R"]
    ahead = np.array([0.01, -0.14, 0.0])  # from ankle to ball, of the left foot
    tip = np.array([0.11, -0.12, 0.0]) + (0.07 * 0.14) * ahead / (ahead @ ahead)  # in the direction of the foot
    heel = np.array([0.1, 0.02, 0.0]) - 0.35 * ahead
    truth = [heel, (0.11, -0.12, 0.02), tip, heel * [-1.0, 1.0, 1.0], (-0.11, -0.12, 0.02)]
    np.testing.assert_allclose(point_positions(skeleton, Pose.rest(skeleton), points), truth, atol=1e-9)


def test_a_captured_walk_steps_by_turns_and_the_heel_leaves_before_the_toe() -> None:
    clip = read_clip(WALK)
    points = foot_points(clip.skeleton, find_roles(clip.skeleton))
    contacts = find_contacts(clip.skeleton, clip.motion, points)
    touching = dict(zip((point.name for point in points), contacts.touching.T, strict=True))
    on = {side: np.any([touching[f"{part}.{side}"] for part in ("heel", "ball", "toe")], axis=0) for side in "LR"}
    assert np.mean(on["L"] | on["R"]) > 0.9
    assert 0.4 < np.mean(on["L"]) < 0.75
    whole = 0.35 * clip.motion.fps  # steps that the clip does not cut
    inner = [(side, run) for side in "LR" for run in runs(on[side]) if run[1] - run[0] > whole]
    assert [side for side, _ in sorted(inner, key=lambda step: step[1])] == ["L", "R", "L", "R"]
    for side, (first, last) in inner:
        heel, toe = (np.flatnonzero(touching[f"{part}.{side}"][first : last + 1]) for part in ("heel", "toe"))
        assert heel[0] <= toe[0] + 1
        assert heel[-1] < toe[-1]


def test_on_a_treadmill_nothing_stands_where_the_ground_does_not_drift() -> None:
    clip = read_clip(WALK)
    roles = find_roles(clip.skeleton)
    points = foot_points(clip.skeleton, roles)
    assert find_contacts(clip.skeleton, clip.motion, points, drifts=False).touching.any()
    hips = clip.motion.pose.translations[:, roles.bone("hips")]
    way = np.linspace(0.0, 1.0, len(hips))[:, None] * (hips[-1] - hips[0])
    slid = clip.motion.pose.translations.copy()
    slid[:, roles.bone("hips")] -= way
    spot = Motion(Pose(clip.motion.pose.rotations, slid), clip.motion.frames, clip.motion.fps)
    assert not find_contacts(clip.skeleton, spot, points, drifts=False).touching.any()
