"""Points of hands: where layouts have them, and what is told of fingers that are not seen."""

import io

import numpy as np
import pytest

from core import rotation
from core.errors import CoreError
from core.keypoints import LAYOUTS, find_conversion, find_layout, read_recording
from core.keypoints.body import ALL_LANDMARKS, HAND_POINTS, LANDMARK
from core.keypoints.hands import finger_rotations, hold_unseen
from tests.core.keypoints.test_keypoints import joint_landmarks, poses

FACE = 478  # points after the hands in FreeMoCap's arrays
COUNT = 6


def body(layout: str, rng: np.random.Generator) -> np.ndarray:
    """Points (F, K, 3), metres, Y up, of people; those of the hands are at random, about an origin of their own."""
    found = find_layout(layout)
    landmarks = joint_landmarks(poses(COUNT, rng))
    points = rng.normal(0.0, 0.1, (COUNT, len(found.points), 3))
    for landmark, (point,) in found.landmarks.items():
        points[:, found.points.index(point)] = landmarks[:, LANDMARK[landmark]]
    return points


def told(layout: str, points: np.ndarray, name: str) -> np.ndarray:
    return points[:, find_layout(layout).points.index(name)]


def test_points_of_a_hand_count_from_its_wrist_wherever_they_are_and_its_knuckles_are_the_bodys() -> None:
    points = body("mediapipe_hands", np.random.default_rng(0)) * [1.0, -1.0, -1.0]
    found = find_conversion(find_layout("mediapipe_hands"), points)[0](points)
    for side, word in (("L", "left"), ("R", "right")):
        start = told("mediapipe_hands", points, f"{word}_wrist") - told("mediapipe_hands", points, f"{word}_hand_wrist")
        for ours, theirs in (("thumb_tip", "thumb_tip"), ("ring_pip", "ring_finger_pip"), ("pinky_mcp", "pinky_mcp")):
            expected = told("mediapipe_hands", points, f"{word}_hand_{theirs}") + start
            row = ALL_LANDMARKS.index(f"{ours}.{side}")
            np.testing.assert_allclose(found.positions[:, row] * [1.0, -1.0, -1.0], expected, atol=1e-12)
        for end in ("index", "pinky"):
            rows = [ALL_LANDMARKS.index(f"{name}.{side}") for name in (end, f"{end}_mcp")]
            np.testing.assert_array_equal(found.positions[:, rows[0]], found.positions[:, rows[1]])


def test_a_hand_that_is_not_seen_leaves_the_bodys_own_knuckles() -> None:
    points = body("mediapipe_hands", np.random.default_rng(1)) * [1.0, -1.0, -1.0]
    points[2:4, 33:54] = np.nan
    found = find_conversion(find_layout("mediapipe_hands"), points)[0](points)
    own = told("mediapipe_hands", points, "left_index") * [1.0, -1.0, -1.0]
    row = ALL_LANDMARKS.index("index.L")
    np.testing.assert_array_equal(found.positions[2:4, row], own[2:4])
    assert np.abs(found.positions[:2, row] - own[:2]).min() > 0.0
    fingers = finger_rotations(found.positions, found.weights)
    assert fingers is not None
    assert np.isnan(fingers[2:4, 0]).all()
    assert np.isfinite(fingers[:2]).all()
    assert np.isfinite(fingers[:, 1]).all()
    held = hold_unseen(fingers)
    np.testing.assert_array_equal(held[2:4, 0], fingers[[1, 1], 0])


def test_freemocaps_arrays_have_the_right_hand_before_the_left_one() -> None:
    points = body("mediapipe_hands", np.random.default_rng(2))
    left, right = points[:, 33:54], points[:, 54:75]
    array = np.concatenate([points[:, :33], right, left, np.zeros((COUNT, FACE, 3))], axis=1) * 1000.0
    recording = read_recording(".npy", _saved(array), "freemocap")
    found = [recording.points[:, recording.layout.points.index(f"{word}_hand_thumb_tip")] for word in ("left", "right")]
    np.testing.assert_array_equal(found[0], 1000.0 * left[:, 4])
    np.testing.assert_array_equal(found[1], 1000.0 * right[:, 4])
    assert read_recording(".npy", _saved(array[:, :33]), "freemocap").layout == find_layout("freemocap")


def _saved(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_columns_of_hands_are_found_by_mediapipes_names_and_one_that_is_missing_is_named() -> None:
    points = body("mediapipe_hands", np.random.default_rng(3))
    names = find_layout("mediapipe_hands").points
    assert names[33 + 8] == "left_hand_index_finger_tip"

    def text(kept: list[int]) -> bytes:
        head = ",".join(f"{names[n]}_{axis}" for n in kept for axis in "xyz")
        rows = [",".join(map(str, row)) for row in points[:, kept].reshape(COUNT, -1).tolist()]
        return "\n".join([head, *rows]).encode()

    every = list(range(len(names)))[::-1]
    np.testing.assert_allclose(read_recording(".csv", text(every), "mediapipe_hands").points, points)
    with pytest.raises(CoreError, match='no point "right_hand_pinky_tip"'):
        read_recording(".csv", text(every[1:]), "mediapipe_hands")


def test_fingers_turn_with_the_hand_and_are_mirrored_by_the_other_one() -> None:
    rng = np.random.default_rng(4)
    hand = np.cumsum(rng.normal(0.0, 0.02, (len(HAND_POINTS), 3)) + np.array([0.03, 0.0, 0.0]), axis=0)
    turn = rotation.exp([0.4, -1.0, 0.7])
    points = np.full((2, len(ALL_LANDMARKS), 3), np.nan)
    points[0, -42:] = np.concatenate([hand, hand * [-1.0, 1.0, 1.0]])
    points[1, -42:] = rotation.rotate(turn, points[0, -42:]) + np.array([1.0, 2.0, 3.0])
    found = finger_rotations(points, np.isfinite(points[..., 0]).astype(float))
    assert found is not None
    np.testing.assert_allclose(rotation.angle_between(found[0], found[1]), 0.0, atol=1e-6)
    mirrored = found[0, 0] * [1.0, 1.0, -1.0, -1.0]
    np.testing.assert_allclose(rotation.angle_between(found[0, 1], mirrored), 0.0, atol=1e-6)


def test_a_straight_hand_in_the_t_pose_is_not_turned() -> None:
    hand = np.zeros((len(HAND_POINTS), 3))
    ahead = np.arange(1.0, 5.0)[:, None]
    hand[1:5] = [0.02, 0.0, 0.03] + 0.03 * ahead * np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0)
    for finger, aside in enumerate((0.03, 0.01, -0.01, -0.03)):
        hand[5 + 4 * finger : 9 + 4 * finger] = [0.06, 0.0, aside] + 0.03 * ahead * np.array([1.0, 0.0, 0.0])
    points = np.full((1, len(ALL_LANDMARKS), 3), np.nan)
    points[0, -42:] = np.concatenate([hand, hand * [-1.0, 1.0, 1.0]])
    found = finger_rotations(points, np.isfinite(points[..., 0]).astype(float))
    np.testing.assert_allclose(rotation.angle_between(found, rotation.IDENTITY), 0.0, atol=1e-6)


def test_layouts_without_hands_tell_nothing_of_fingers() -> None:
    for name, layout in LAYOUTS.items():
        assert bool(layout.hands) == name.endswith("_hands")
    assert finger_rotations(np.zeros((2, 28, 3)), np.ones((2, 28))) is None
