"""Keypoints to rotations: layouts, closed form, network, filter. Truth: poses made here, forward kinematics by hand."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.keypoints.standard_body import OFFSETS, ORIGINS, offset_of, parent_of
from benchmarks.motion.clips import read_clip
from core import Pose, rotation
from core.body import find_roles
from core.errors import CoreError
from core.keypoints import (
    LAYOUTS,
    CapturedMotion,
    Character,
    Landmarks,
    LiveEstimator,
    RootFromHips,
    estimate,
    estimate_clip,
    estimate_rotations,
    find_conversion,
    find_layout,
)
from core.keypoints import joint_landmarks as of_joints
from core.keypoints.body import LANDMARK, LANDMARKS, PART, PARTS
from core.keypoints.bones import normalised
from core.keypoints.conversion import up_rotation
from core.keypoints.estimate import METHODS, measure
from core.keypoints.filters import HOLD, Filtered, LandmarkFilter, smooth_clip
from core.keypoints.network import WEIGHTS
from core.pose import forward_matrices
from tests.core.rigs import FIGURE, skeleton_of
from tests.paths import DATA

HINGES = {"forearm.L": (0.0, -1.0, 0.0), "forearm.R": (0.0, 1.0, 0.0), "shin.L": (1.0, 0, 0), "shin.R": (1.0, 0, 0)}
TRUNK = {"hips", "chest", "neck", "shoulder.L", "shoulder.R"}  # what keypoints show but roughly
RELAXED = {
    "upper_arm.L": (0.0, 0.0, -1.0),
    "upper_arm.R": (0.0, 0.0, 1.0),
    "thigh.L": (-0.2, 0, 0),
    "thigh.R": (-0.2, 0, 0),
}
LOOSE = {"upper_arm.L": 0.4, "upper_arm.R": 0.4, "thigh.L": 0.3, "thigh.R": 0.3}  # radians; the others less
SEEN = np.array(
    [landmark not in ("crown", "pelvis", "neck", "knuckle.L", "knuckle.R") for landmark in LANDMARKS], float
)
SMALLEST_BEND = np.radians(10.0)


def poses(count: int, rng: np.random.Generator) -> np.ndarray:
    """Rotations (n, P, 4) of people who stand about, elbows and knees bent about their hinges."""
    turns = np.empty((count, len(PARTS), 4))
    for number, part in enumerate(PARTS):
        if part in HINGES:
            own = rotation.from_axis_angle(HINGES[part], rng.uniform(SMALLEST_BEND, 1.8, count))
        else:
            loose = rng.normal(0.0, 0.0 if part in TRUNK else LOOSE.get(part, 0.2), (count, 3))
            own = rotation.mul(rotation.exp(RELAXED.get(part, (0.0, 0.0, 0.0))), rotation.exp(loose))
        above = parent_of(part)
        turns[:, number] = (
            rotation.mul(turns[:, PART[above]], own)
            if above
            else rotation.exp(np.array([0.0, 1.0, 0.0]) * rng.uniform(-3.0, 3.0, (count, 1)))
        )
    return turns


def joint_landmarks(turns: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """Landmarks (n, M, 3) of the standard body, by forward kinematics."""
    origins = {"hips": np.zeros((len(turns), 3))}
    for part in PARTS[1:]:
        above, way = offset_of(part, ORIGINS)
        origins[part] = origins[above] + rotation.rotate(turns[:, PART[above]], scale * way)
    positions = [offset_of(landmark, OFFSETS) for landmark in LANDMARKS]
    return np.stack([origins[p] + rotation.rotate(turns[:, PART[p]], scale * place) for p, place in positions], axis=1)


@pytest.mark.parametrize("scale", [0.6, 1.0, 1.3])
def test_the_closed_form_gives_limbs_hands_feet_and_head_back_exactly(scale: float) -> None:
    turns = poses(50, np.random.default_rng(0))
    found = estimate_rotations(joint_landmarks(turns, scale), np.tile(SEEN, (50, 1)), 0.0, None, "closed")
    sure = [number for number, part in enumerate(PARTS) if part not in TRUNK]
    off = np.degrees(rotation.angle_between(found, turns))
    assert off[:, sure].max() < 1e-5
    assert off[:, [PART["hips"], PART["chest"]]].max() < 8.0  # they lean as people's do


def test_the_correction_of_limbs_vanishes_where_points_are_clean() -> None:
    turns = poses(50, np.random.default_rng(1))
    landmarks, seen = joint_landmarks(turns), np.tile(SEEN, (50, 1))
    closed, corrected = (estimate_rotations(landmarks, seen, 0.0, None, method) for method in ("closed", "corrected"))
    sure = [number for number, part in enumerate(PARTS) if part not in TRUNK]
    assert np.degrees(rotation.angle_between(closed, corrected))[:, sure].max() < 1e-5


def test_the_correction_makes_noisy_points_better() -> None:
    rng = np.random.default_rng(2)
    turns = poses(400, rng)
    landmarks = joint_landmarks(turns) + rng.normal(0.0, 0.015, (400, len(LANDMARKS), 3))
    seen = np.tile(SEEN, (400, 1))
    found = {method: estimate_rotations(landmarks, seen, 0.015, None, method) for method in METHODS}
    off = {method: np.degrees(rotation.angle_between(found[method], turns)).mean() for method in METHODS}
    assert off["corrected"] < 0.95 * off["closed"] < off["swing"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_turns_with_the_body_and_takes_any_number_of_frames(method: str) -> None:
    rng = np.random.default_rng(3)
    landmarks = joint_landmarks(poses(6, rng)) + rng.normal(0.0, 0.01, (6, len(LANDMARKS), 3))
    seen = np.tile(SEEN, (6, 1))
    many = estimate_rotations(landmarks, seen, 0.01, None, method)
    for frame in range(6):
        one = estimate_rotations(landmarks[frame], seen[frame], 0.01, None, method)
        assert np.degrees(rotation.angle_between(one, many[frame])).max() < 1e-3
    if method != "source":  # which reads points in the world, as its source has it
        turn = rotation.from_axis_angle([0.0, 1.0, 0.0], 2.0)
        turned = estimate_rotations(rotation.rotate(turn, landmarks), seen, 0.01, None, method)
        assert np.degrees(rotation.angle_between(turned, rotation.mul(turn, many))).max() < 1e-2


@pytest.mark.parametrize("method", METHODS)
def test_whatever_is_missing_the_answer_is_finite_and_the_rest_stays(method: str) -> None:
    rng = np.random.default_rng(4)
    turns = poses(200, rng)
    seen = np.tile(SEEN, (200, 1)) * (rng.random((200, len(LANDMARKS))) > 0.3)
    landmarks = np.where(seen[..., None] > 0.0, joint_landmarks(turns), np.nan)
    found = estimate_rotations(landmarks, seen, 0.0, None, method)
    np.testing.assert_allclose(np.linalg.norm(found, axis=-1), 1.0, atol=1e-6)
    if method == "closed":
        whole = seen[
            :, [LANDMARK[m] for m in ("hip.L", "hip.R", "shoulder.L", "shoulder.R", "elbow.L", "wrist.L")]
        ].all(axis=1)
        off = rotation.angle_between(found, turns)[whole][:, [PART["upper_arm.L"], PART["forearm.L"]]]
        assert whole.any()
        assert off.max() < 1e-6


def test_a_limb_out_of_sight_goes_with_what_carries_it() -> None:
    turns = poses(10, np.random.default_rng(5))
    seen = np.tile(SEEN, (10, 1))
    seen[:, [LANDMARK["elbow.L"], LANDMARK["wrist.L"]]] = 0.0
    found = estimate_rotations(joint_landmarks(turns), seen, 0.0, None, "closed")
    off = rotation.angle_between(found[:, PART["upper_arm.L"]], found[:, PART["chest"]])
    assert off.max() < 1e-6


def test_size_is_gone_from_what_the_sources_network_reads() -> None:
    turns = poses(5, np.random.default_rng(6))
    small, tall = (normalised(joint_landmarks(turns, scale), np.tile(SEEN, (5, 1))) for scale in (0.5, 1.5))
    np.testing.assert_allclose(small, tall, atol=1e-12)


def test_noise_and_lengths_are_measured_from_a_clip() -> None:
    rng = np.random.default_rng(7)
    landmarks = joint_landmarks(poses(300, rng))
    for noise in (0.003, 0.012):
        subject = measure(landmarks + rng.normal(0.0, noise, landmarks.shape), np.tile(SEEN, (300, 1)))
        assert subject is not None
        assert subject.noise == pytest.approx(noise, rel=0.15)
        assert abs(subject.lengths[13:15] - 0.28).max() < 0.005  # upper arms


def moving(frames: int) -> np.ndarray:
    """Landmarks of arms that swing, at 30 frames a second."""
    turns = np.repeat(poses(1, np.random.default_rng(8)), frames, axis=0)
    swing = rotation.from_axis_angle([1.0, 0.0, 0.0], 0.5 * np.sin(np.arange(frames) / 30.0 * 4.0))
    for part in ("upper_arm.L", "forearm.L", "hand.L"):
        turns[:, PART[part]] = rotation.mul(swing, turns[:, PART[part]])
    return joint_landmarks(turns)


def step(filtered: LandmarkFilter, positions: np.ndarray, weights: np.ndarray, time: float, noise: float) -> Filtered:
    filtered.add(positions, weights, time, noise)
    return filtered.now()


def test_the_filter_takes_noise_away_and_waiting_takes_more() -> None:
    landmarks, rng = moving(120), np.random.default_rng(9)
    noisy = landmarks + rng.normal(0.0, 0.01, landmarks.shape)

    def off(positions: np.ndarray) -> float:
        hips = (LANDMARK["hip.L"], LANDMARK["hip.R"])
        ways = [a - a[:, hips].mean(axis=1, keepdims=True) for a in (positions[10:-10], landmarks[10:-10])]
        return float(np.sqrt(np.mean((ways[0] - ways[1])[:, SEEN > 0] ** 2)))

    found = [off(noisy)]
    for delay in (0, 2, 4):
        filtered = LandmarkFilter(delay)
        rows = [step(filtered, m, SEEN, n / 30.0, 0.01).positions for n, m in enumerate(noisy)]
        found.append(off(np.stack(rows[delay:] + rows[-1:] * delay)))
    found.append(off(smooth_clip(noisy, np.tile(SEEN, (120, 1)), np.arange(120) / 30.0, 0.01)[0]))
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.5 * found[0]


@pytest.mark.parametrize("kept", [0.0, 0.9])
def test_what_the_filter_leaves_of_noise_is_told_also_where_it_looks_like_motion(
    kept: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise that keeps some of itself from frame to frame passes the filter, which takes it for less than it is."""
    landmarks, rng, told = moving(300), np.random.default_rng(12), list[float]()
    noise = rng.normal(0.0, 0.01, landmarks.shape)
    for frame in range(1, len(noise)):
        noise[frame] = kept * noise[frame - 1] + np.sqrt(1.0 - kept**2) * noise[frame]

    def listen(positions: np.ndarray, weights: np.ndarray, level: float, *others: Any) -> np.ndarray:
        told.append(float(np.mean(level)))
        return estimate_rotations(positions, weights, level, *others)

    monkeypatch.setattr(estimate, "estimate_rotations", listen)
    clip = Landmarks(landmarks + noise, np.tile(SEEN, (300, 1)))
    found = estimate_clip(clip, np.arange(300) / 30.0).landmarks
    live = LiveEstimator()
    for frame in range(300):
        live.add(clip.positions[frame], SEEN, frame / 30.0)
        live.estimate()
    limbs = [LANDMARK[f"{name}.L"] for name in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")]
    left = float(np.sqrt(np.mean((found - landmarks)[10:-10, limbs] ** 2)))
    assert told[0] == pytest.approx(left, rel=0.2)
    assert told[-1] == pytest.approx(left, rel=0.3)  # of the last three seconds


def test_a_mark_out_of_sight_stays_where_it_was_and_is_believed_less_and_less() -> None:
    landmarks, filtered = moving(60), LandmarkFilter(0)
    wrist = LANDMARK["wrist.R"]
    seen = SEEN.copy()
    for frame in range(10):
        last = step(filtered, landmarks[frame], seen, frame / 30.0, 0.005)
    seen[wrist] = 0.0
    weights = []
    for frame in range(10, 40):
        now = step(filtered, np.where(seen[:, None] > 0, landmarks[frame], np.nan), seen, frame / 30.0, 0.005)
        assert np.linalg.norm(now.positions[wrist] - last.positions[wrist]) < 0.05
        weights.append(now.weights[wrist])
    assert weights == sorted(weights, reverse=True)
    assert weights[round(HOLD * 30) + 1] == 0.0


def test_a_live_reader_begins_anew_after_a_pause_or_a_clock_that_jumps() -> None:
    landmarks, live = moving(40), LiveEstimator(delay=0)
    for frame, time in enumerate([0.0, 0.03, 0.06, 50.0, 50.03, 3.0, 3.03]):
        live.add(landmarks[5 * frame], SEEN, time)
        captured = live.estimate()
        assert np.isfinite(captured.rotations).all()
        if time in (50.0, 3.0):
            np.testing.assert_allclose(captured.landmarks[0][SEEN > 0], landmarks[5 * frame][SEEN > 0], atol=1e-9)


# -- layouts ---------------------------------------------------------------------------------------------------------


def in_layout(name: str, landmarks: np.ndarray) -> np.ndarray:
    """Points (F, K, 3) of a tracker; what no landmark tells is at the hips."""
    layout = find_layout(name)
    points = np.zeros((len(landmarks), len(layout.points), 3))
    for landmark, those in layout.landmarks.items():
        for point in those:
            points[:, layout.points.index(point)] = landmarks[:, LANDMARK[landmark]]
    return points


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize(("unit", "up"), [("m", "+Y"), ("mm", "+Z"), ("cm", "-Y"), ("m", "-X")])
def test_units_and_axes_are_told_from_the_points_of_every_layout(name: str, unit: str, up: str) -> None:
    landmarks = joint_landmarks(poses(20, np.random.default_rng(10)))
    points = in_layout(name, landmarks) @ up_rotation(up) * {"m": 1.0, "cm": 100.0, "mm": 1000.0}[unit]
    own = LAYOUTS[name].unit != "auto"
    conversion, _ = find_conversion(LAYOUTS[name], points, unit=unit if own else "auto", up=up if own else "auto")
    assert (round(1.0 / conversion.unit), conversion.up) == ({"m": 1, "cm": 100, "mm": 1000}[unit], up)
    found = conversion(points)
    assert found.weights[:, [LANDMARK[landmark] for landmark in LAYOUTS[name].landmarks]].min() == 1.0
    np.testing.assert_allclose(found.positions[:, LANDMARK["wrist.L"]], landmarks[:, LANDMARK["wrist.L"]], atol=1e-9)
    np.testing.assert_allclose(found.positions[:, LANDMARK["knee.R"]], landmarks[:, LANDMARK["knee.R"]], atol=1e-9)


def standing(name: str = "mediapipe") -> np.ndarray:
    layout = LAYOUTS[name]
    up = "+Y" if layout.up == "auto" else layout.up
    return (
        in_layout(name, joint_landmarks(poses(20, np.random.default_rng(11))))
        @ up_rotation(up)
        / (0.001 if layout.unit == "mm" else 1.0)
    )


def test_another_count_of_points_is_refused_and_the_layout_that_has_it_named() -> None:
    with pytest.raises(CoreError, match='"mediapipe" has 33 points, but these frames have 17; coco17 or h36m17'):
        find_conversion(LAYOUTS["mediapipe"], standing()[:, :17])


def test_metres_said_of_millimetres_are_refused_with_what_they_look_like() -> None:
    with pytest.raises(CoreError, match="Try mm as the unit"):
        find_conversion(LAYOUTS["mediapipe"], 1000.0 * standing())


def test_sides_that_are_exchanged_are_refused_until_it_is_said() -> None:
    mirrored = standing() * [-1.0, 1.0, 1.0]
    with pytest.raises(CoreError, match="Feet and face point backward"):
        find_conversion(LAYOUTS["mediapipe"], mirrored)
    conversion, _ = find_conversion(LAYOUTS["mediapipe"], mirrored, exchanged=True)
    rotations, true = (
        estimate_rotations(found.positions, found.weights, 0.0, None, "closed")
        for found in (conversion(mirrored), find_conversion(LAYOUTS["mediapipe"], standing())[0](standing()))
    )
    heading = rotation.to_matrix(rotations[:, 0])[..., :, 2], rotation.to_matrix(true[:, 0])[..., :, 2]
    np.testing.assert_allclose(heading[0] * [-1.0, 1.0, 1.0], heading[1], atol=1e-9)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda p: np.full_like(p, np.nan), "No frame shows both hips and both shoulders"),
        (lambda p: np.where(np.arange(33)[:, None] == 15, np.inf, p), 'The point "left_wrist" is infinite in frame 0'),
        (lambda p: p[:0], "There are no frames"),
        (lambda p: p[..., :2], "frames of points of three numbers"),
        (lambda p: [["x"]], "Keypoints must be numbers"),
    ],
)
def test_what_is_no_body_is_refused_with_a_sentence(spoil: object, sentence: str) -> None:
    with pytest.raises(CoreError, match=re.escape(sentence)):
        find_conversion(LAYOUTS["mediapipe"], spoil(standing()))  # pyright: ignore


def test_a_body_that_would_stand_on_its_head_is_turned_and_that_is_said() -> None:
    upright = standing()
    conversion, notes = find_conversion(find_layout("mediapipe"), upright * [1.0, -1.0, -1.0])
    assert (conversion.up, len(notes)) == ("+Y", 1)
    usual, _ = find_conversion(find_layout("mediapipe"), upright)
    np.testing.assert_allclose(conversion(upright * [1.0, -1.0, -1.0]).positions, usual(upright).positions, atol=1e-12)


@pytest.mark.parametrize(("name", "other"), [("h36m17", "coco17"), ("coco17", "h36m17")])
def test_points_of_another_layout_with_as_many_are_told(name: str, other: str) -> None:
    with pytest.raises(CoreError, match=f'do not fit "{name}", but look like "{other}"'):
        find_conversion(LAYOUTS[name], standing(other))


def test_a_body_that_lies_by_its_layouts_axis_is_told() -> None:
    lying = standing() @ up_rotation("-Y").T @ up_rotation("+Z")
    _, notes = find_conversion(LAYOUTS["mediapipe"], lying)
    assert notes == (
        "The body is lying down, because -Y is up in mediapipe. If it should stand, set the up axis to +Z.",
    )


@pytest.mark.parametrize("name", ["h36m17", "smpl22", "smpl24"])
def test_that_nothing_tells_left_from_right_is_said(name: str) -> None:
    points = standing(name)
    legs = [n for n, point in enumerate(LAYOUTS[name].points) if re.search("knee|ankle|foot", point.lower())]
    points[:, legs] = np.nan
    _, notes = find_conversion(LAYOUTS[name], points)
    assert "Face, feet and knees are not visible" in notes[-1]
    assert not [note for note in find_conversion(LAYOUTS[name], standing(name))[1] if "Neither" in note]


# -- what no body can have -------------------------------------------------------------------------------------------


def test_one_sample_far_off_turns_nothing() -> None:
    landmarks = moving(60)
    times, weights = np.arange(60) / 30.0, np.broadcast_to(SEEN, landmarks.shape[:2])
    clean = estimate_clip(Landmarks(landmarks, weights), times)
    spoilt = landmarks.copy()
    spoilt[30, LANDMARK["wrist.L"]] += [0.0, 3.0, 2.0]
    spoilt[40] += [0.0, 0.0, 1e6]
    found = estimate_clip(Landmarks(spoilt, weights), times)
    assert np.degrees(rotation.angle_between(found.rotations, clean.rotations)).max() < 6.0
    np.testing.assert_allclose(found.hips, clean.hips, atol=0.02)
    assert found.left_out == SEEN.sum() + 3  # with the wrist its knuckles, which hang on it
    assert clean.left_out == 0


def test_live_a_sample_far_off_turns_nothing_once_the_figure_is_known() -> None:
    landmarks = moving(60)
    clean, spoilt = LiveEstimator(), LiveEstimator()
    for frame, positions in enumerate(landmarks):
        off = positions.copy()
        if frame == 40:
            off[LANDMARK["wrist.L"]] += [0.0, 3.0, 2.0]
        for reader, seen in ((clean, positions), (spoilt, off)):
            reader.add(seen, SEEN, frame / 30.0)
        turned = rotation.angle_between(spoilt.estimate().rotations, clean.estimate().rotations)
        assert np.degrees(turned).max() < 6.0


def test_live_the_body_travels_by_its_hips_as_in_the_clip() -> None:
    character = Character(skeleton_of(FIGURE), find_roles(skeleton_of(FIGURE)))
    positions = moving(60) + np.linspace([5.0, 0.3, -2.0], [6.0, 0.3, -2.0], 60)[:, None]
    captured = estimate_clip(Landmarks(positions, np.broadcast_to(SEEN, positions.shape[:2])), np.arange(60) / 30.0)
    rest = Pose.rest(character.skeleton)
    whole, travel = character.motion(captured, rest, travel=True), RootFromHips(character)
    one_by_one = []
    for frame in range(60):
        parts = (captured.rotations, captured.hips, captured.landmarks, captured.weights)
        one = CapturedMotion(*(part[frame : frame + 1] for part in parts), None)
        one_by_one.append(travel(character.rotate(one.rotations, rest)[0], one).translations[character.root])
    np.testing.assert_allclose(one_by_one, whole.translations[:, character.root], atol=0.01 * character.skeleton.size)
    assert np.ptp(np.array(one_by_one), axis=0).max() > 0.5


def test_bones_of_a_rig_with_driven_bones_and_scales_stand_in_a_clip_as_those_of_one_without() -> None:
    """Something else decides a clavicle."""
    plain = skeleton_of(FIGURE)
    driven = replace(plain, driven=np.arange(len(plain)) == plain.index("clavicle.L"))
    turns = poses(3, np.random.default_rng(5))
    found = []
    for skeleton in (plain, driven):
        character = Character(skeleton, find_roles(plain), limits=False)
        pose = character.rotate(turns, replace(Pose.rest(skeleton), scales=np.ones((len(skeleton), 3))))
        found.append(forward_matrices(skeleton, pose[:])[:, character.bones, :, :3])
    np.testing.assert_allclose(found[1], found[0], atol=1e-9)


def test_points_that_are_nan_in_some_frames_are_unseen_there_and_bridged() -> None:
    points = np.repeat(standing()[:1], 30, axis=0)
    elbow = LAYOUTS["mediapipe"].points.index("left_elbow")
    points[10:14, elbow] = np.nan
    conversion, _ = find_conversion(LAYOUTS["mediapipe"], points)
    landmarks = conversion(points)
    assert (landmarks.weights[10:14, LANDMARK["elbow.L"]] == 0.0).all()
    captured = estimate_clip(landmarks, np.arange(30) / 30.0)
    arm = captured.rotations[:, PART["upper_arm.L"]]
    assert np.degrees(rotation.angle_between(arm, arm[:1])).max() < 2.0


def test_the_weights_are_those_that_their_readme_tells_of() -> None:
    said = (WEIGHTS / "README.md").read_text(encoding="utf-8")
    files = sorted(Path(WEIGHTS).glob("*.npz"))
    assert [file.name for file in files] == ["correction.npz", "source.npz"]
    assert sum(file.stat().st_size for file in files) < 2_000_000
    for file in files:
        assert hashlib.sha256(file.read_bytes()).hexdigest() in said


@pytest.fixture(scope="module")
def walked() -> tuple[Landmarks, np.ndarray, np.ndarray]:
    """A captured walk with 3 mm of noise: landmarks, times, and the rotations (F, P, 4) with all of them seen."""
    clip = read_clip(DATA / "motion" / "cmu_07_12.bvh")
    points = of_joints(clip.skeleton, find_roles(clip.skeleton), clip.motion.pose)
    conversion, _ = find_conversion(find_layout("marks"), points)
    landmarks, times = conversion(points), np.arange(len(points)) / 30.0
    noisy = landmarks.positions + np.random.default_rng(0).normal(0.0, 0.003, landmarks.positions.shape)
    landmarks = replace(landmarks, positions=noisy)
    return landmarks, times, estimate_clip(landmarks, times).rotations


def steps_of(turns: np.ndarray, *parts: str) -> np.ndarray:
    """The largest turn of each part from frame to frame, in degrees."""
    rows = [PART[part] for part in parts]
    return np.degrees(rotation.angle_between(turns[1:, rows], turns[:-1, rows])).max(axis=0)


@pytest.mark.parametrize("seconds", [0.4, 1.0])
def test_an_arm_that_is_not_seen_for_some_time_goes_on_to_where_it_is_seen_again(
    walked: tuple[Landmarks, np.ndarray, np.ndarray], seconds: float
) -> None:
    landmarks, times, whole = walked
    weights = landmarks.weights.copy()
    rows = [LANDMARK[f"{name}.L"] for name in ("elbow", "wrist", "index", "pinky", "knuckle")]
    weights[20 : 20 + round(30 * seconds), rows] = 0.0
    turns = estimate_clip(Landmarks(np.where(weights[..., None] > 0.0, landmarks.positions, 0.0), weights), times)
    arm = "upper_arm.L", "forearm.L", "hand.L"
    assert (steps_of(turns.rotations, *arm) < 1.2 * steps_of(whole, *arm) + 2.0).all()


def test_thighs_hardly_turn_over_where_a_tenth_of_the_points_is_missing(
    walked: tuple[Landmarks, np.ndarray, np.ndarray],
) -> None:
    landmarks, times, whole = walked
    rng = np.random.default_rng(0)
    rows = [PART["thigh.L"], PART["thigh.R"]]
    found = []
    for _ in range(10):
        weights = landmarks.weights * (rng.random(landmarks.weights.shape) > 0.1)
        there = np.where(weights[..., None] > 0.0, landmarks.positions, 0.0)
        turns = estimate_clip(Landmarks(there, weights), times).rotations
        found.append(np.degrees(rotation.angle_between(turns, whole)))
    off = np.array(found)
    assert (off[:, :, rows] > 45.0).mean() < 0.005
    assert off.mean() < 3.0


def test_a_limb_that_is_not_seen_in_the_first_frames_is_as_it_is_then_seen(
    walked: tuple[Landmarks, np.ndarray, np.ndarray],
) -> None:
    landmarks, times, whole = walked
    weights = landmarks.weights.copy()
    weights[:4, [LANDMARK[name] for name in ("knee.L", "ankle.L", "hip.R")]] = 0.0
    there = np.where(weights[..., None] > 0.0, landmarks.positions, 0.0)
    turns = estimate_clip(Landmarks(there, weights), times).rotations
    hips, thigh, shin = (turns[:5, PART[part]] for part in ("hips", "thigh.L", "shin.L"))
    for before, part in ((hips, thigh), (thigh, shin)):
        bent = rotation.mul(rotation.inv(before), part)
        assert np.degrees(rotation.angle_between(bent[:4], bent[4])).max() < 1.0
    assert np.degrees(rotation.angle_between(turns[4, PART["thigh.L"]], whole[4, PART["thigh.L"]])) < 10.0
