"""Smoothing: what is slow stays, what is quick goes, and frames that stick out are replaced."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.motion.clips import read_clip
from core import Motion, Pose, rotation
from core.editing.smoothing import low_pass, smooth_motion, steady_part, without_pops
from tests.core.rigs import skeleton_of
from tests.paths import DATA

FRAMES, FPS = 240, 30.0
CHAIN = skeleton_of([(f"bone{n}", f"bone{n - 1}" if n else None, (0, 0, n), (0, 0, n + 1)) for n in range(4)])


@pytest.mark.parametrize(("hertz", "gain"), [(0.0, 1.0), (1.0, 1.0 / (1.0 + (1 / 6) ** 4)), (6.0, 0.5), (12.0, 1 / 17)])
def test_a_wave_is_passed_as_butterworth_says(hertz: float, gain: float) -> None:
    wave = np.cos(2.0 * np.pi * hertz * np.arange(FRAMES) / FPS)[:, None]
    found = low_pass(wave, 6.0 / FPS)
    np.testing.assert_allclose(found[60:-60], gain * wave[60:-60], atol=2e-3)


def test_straight_lines_keep_their_ends() -> None:
    line = np.outer(np.arange(50.0), [1.0, -2.0]) + 3.0
    np.testing.assert_allclose(low_pass(line, 0.05), line, atol=1e-9)


def test_frames_that_stick_out_are_replaced_and_others_are_not() -> None:
    time = np.arange(60) / FPS
    clean = np.stack([np.sin(3.0 * time), np.cos(2.0 * time)], axis=1)[:, None]
    spoilt = clean.copy()
    spoilt[[0, 20, 40, 41]] += [[[0.5, 0.2]], [[-0.6, 0.4]], [[0.5, 0.5]], [[0.5, 0.5]]]
    found = without_pops(spoilt, 0.1)
    np.testing.assert_allclose(found, clean, atol=0.1)  # the first frame becomes the second
    np.testing.assert_allclose(found[1:], clean[1:], atol=0.01)
    np.testing.assert_array_equal(np.delete(found, [0, 20, 40, 41], axis=0), np.delete(clean, [0, 20, 40, 41], axis=0))
    np.testing.assert_array_equal(without_pops(clean, 0.1), clean)


@pytest.mark.parametrize("lasts", [4, 5, 6])
@pytest.mark.parametrize("angle", [1.5, 2.5])
def test_a_kick_is_no_pop(lasts: int, angle: float) -> None:
    kick = angle * np.sin(np.pi * np.arange(lasts + 1) / lasts) ** 2
    values = np.pad(kick, 20)[:, None, None] * np.array([1.0, 0.0, 0.0])
    np.testing.assert_array_equal(without_pops(values, np.radians(20.0)), values)
    spoilt = values.copy()
    spoilt[8, 0, 1] = 0.5  # beside it a frame that sticks out still goes
    np.testing.assert_allclose(without_pops(spoilt, np.radians(20.0)), values, atol=1e-12)


def jittery(noise: float) -> tuple[Motion, Motion]:
    """A chain that swings, and the same with white noise."""
    rng = np.random.default_rng(7)
    swing = np.sin(2.0 * np.pi * 1.5 * np.arange(FRAMES) / FPS)[:, None, None] * rng.normal(size=(1, 4, 3))
    clean = rotation.exp(0.4 * swing)
    turns = rotation.mul(rotation.exp(noise * rng.normal(size=(FRAMES, 4, 3))), clean)
    moves = np.zeros((FRAMES, 4, 3))
    frames = np.arange(float(FRAMES))
    return Motion(Pose(clean, moves), frames, FPS), Motion(Pose(turns, moves), frames, FPS)


def test_jitter_goes_and_the_swing_keeps_its_size() -> None:
    clean, rough = jittery(0.05)
    smooth = smooth_motion(CHAIN, rough, np.arange(4))
    off, left = (
        rotation.angle_between(motion.pose.rotations, clean.pose.rotations)[10:-10].mean() for motion in (rough, smooth)
    )
    assert left < 0.65 * off  # white noise below 6 of 15 Hz, the root of 0.4, is left
    turned = smooth_motion(CHAIN, clean, np.arange(4)).pose.rotations
    assert rotation.angle_between(turned, clean.pose.rotations)[10:-10].max() < 0.01


def test_only_the_chosen_bones_change_and_signs_of_quaternions_do_not_matter() -> None:
    _, rough = jittery(0.05)
    smooth = smooth_motion(CHAIN, rough, np.array([1, 3]))
    others = np.s_[:, [0, 2]]
    np.testing.assert_allclose(smooth.pose.rotations[others], rough.pose.rotations[others], atol=1e-15)
    signs = np.where(np.random.default_rng(8).random((FRAMES, 4, 1)) < 0.5, -1.0, 1.0)
    flipped = Motion(Pose(signs * rough.pose.rotations, rough.pose.translations), rough.frames, FPS)
    other = smooth_motion(CHAIN, flipped, np.array([1, 3]))
    apart = rotation.angle_between(other.pose.rotations, smooth.pose.rotations)
    np.testing.assert_allclose(apart, 0.0, atol=1e-7)


@pytest.mark.parametrize("end", [0, -1])
def test_an_end_from_which_the_body_jumps_is_no_part_of_a_motion(end: int) -> None:
    _, rough = jittery(0.02)
    whole = slice(0, FRAMES)
    assert steady_part(CHAIN, rough) == whole
    turns = rough.pose.rotations.copy()
    turns[end] = rotation.exp(np.array([1.5, 0.0, 0.0]))  # a pose of its own
    jumping = Motion(Pose(turns, rough.pose.translations), rough.frames, FPS)
    assert steady_part(CHAIN, jumping) == (slice(1, FRAMES) if end == 0 else slice(0, FRAMES - 1))
    turns = rough.pose.rotations.copy()
    turns[end, 2] = rotation.exp(np.array([2.0, 0.0, 0.0]))  # one bone that sticks out is replaced there
    popping = Motion(Pose(turns, rough.pose.translations), rough.frames, FPS)
    assert steady_part(CHAIN, popping) == whole
    walk = read_clip(DATA / "motion" / "cmu_07_12.bvh")
    assert steady_part(walk.skeleton, walk.motion) == slice(0, len(walk.motion))
    turns = walk.motion.pose.rotations.copy()
    turns[end, walk.skeleton.index("LeftArm")] = rotation.IDENTITY  # an arm alone in the T-pose
    tossed = replace(walk.motion, pose=Pose(turns, walk.motion.pose.translations))
    count = len(tossed)
    assert steady_part(walk.skeleton, tossed) == (slice(1, count) if end == 0 else slice(0, count - 1))
