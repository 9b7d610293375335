"""Pins over time: what is held, what stays, and that nothing jumps."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.motion.clips import Clip, read_clip
from core import CoreError, Pose, forward, rotation
from core.editing.timed_pins import PASSES, TimedPin, affected_frames, hold_pin, pin_motion
from tests.paths import DATA

WALK = DATA / "motion" / "cmu_07_12.bvh"


@pytest.fixture(scope="module")
def walk() -> Clip:
    return read_clip(WALK)


def same_bits(one: Pose, other: Pose, frames: np.ndarray) -> bool:
    return all(
        getattr(one, name)[frames].tobytes() == getattr(other, name)[frames].tobytes()
        for name in ("rotations", "translations")
    )


def test_without_pins_the_motion_is_the_same_bit_for_bit(walk: Clip) -> None:
    assert pin_motion(walk.skeleton, walk.motion, []).motion is walk.motion
    beside = hold_pin(walk.skeleton, walk.motion, "LeftHand", 200.0, 300.0, at=10.0)
    pinned = pin_motion(walk.skeleton, walk.motion, [beside])
    assert pinned.motion is walk.motion
    assert not pinned.changed.any()


def test_a_pin_holds_its_interval_and_leaves_all_frames_from_the_last_of_its_eases_on(walk: Clip) -> None:
    pin = hold_pin(walk.skeleton, walk.motion, "LeftHand", 20.0, 30.0, ease=6.0, rotates=True)
    pinned = pin_motion(walk.skeleton, walk.motion, [pin])
    heads, turns = forward(walk.skeleton, pinned.motion.pose)
    hand = walk.skeleton.index("LeftHand")
    assert rotation.lengths(heads[20:31, hand] - pin.position).max() < 1e-4
    assert rotation.angle_between(turns[20:31, hand], pin.rotation).max() < 1e-3
    assert pinned.position_error[0] < 1e-4
    frames = np.arange(len(walk.motion))
    beside = (frames <= 14) | (frames >= 36)
    assert same_bits(pinned.motion.pose, walk.motion.pose, beside)
    assert not pinned.changed[beside].any()
    assert pinned.changed[15:36].all()


def test_a_longer_ease_jumps_less_and_no_ease_jumps_at_once(walk: Clip) -> None:
    hand = walk.skeleton.index("LeftHand")
    heads, _ = forward(walk.skeleton, walk.motion.pose)
    place = heads[25, hand] + [0.0, 0.0, 0.15]
    jumps = []
    for ease in (0.0, 5.0, 10.0):
        pin = TimedPin("LeftHand", 25.0, 35.0, place, ease_in=ease, ease_out=ease)
        changed, _ = forward(walk.skeleton, pin_motion(walk.skeleton, walk.motion, [pin]).motion.pose)
        shift = (changed - heads)[12:50, hand]
        jumps.append(rotation.lengths(np.diff(shift, axis=0)).max())
    assert jumps[0] > 0.12
    assert jumps[1] < 0.5 * jumps[0]
    assert jumps[2] < 0.7 * jumps[1]


def test_what_is_not_pinned_stays_near_the_motion(walk: Clip) -> None:
    pin = hold_pin(walk.skeleton, walk.motion, "LeftHand", 20.0, 24.0, ease=4.0)
    changed, _ = forward(walk.skeleton, pin_motion(walk.skeleton, walk.motion, [pin]).motion.pose)
    heads, _ = forward(walk.skeleton, walk.motion.pose)
    far = [walk.skeleton.index(name) for name in ("LeftFoot", "RightFoot", "Hips", "RightUpLeg")]
    hand = walk.skeleton.index("LeftHand")
    assert rotation.lengths(changed - heads)[:, hand].max() > 0.1
    assert rotation.lengths(changed - heads)[:, far].max() < 0.02


def test_two_pins_of_one_point_are_both_held_and_eases_end_where_the_other_begins(walk: Clip) -> None:
    first = hold_pin(walk.skeleton, walk.motion, "LeftHand", 10.0, 20.0, ease=9.0)
    second = hold_pin(walk.skeleton, walk.motion, "LeftHand", 24.0, 30.0, ease=9.0)
    pinned = pin_motion(walk.skeleton, walk.motion, [second, first])
    assert pinned.position_error.max() < 1e-4
    again = pin_motion(walk.skeleton, walk.motion, [second])
    late = np.arange(45, len(walk.motion))
    assert same_bits(again.motion.pose, walk.motion.pose, np.arange(10))
    assert same_bits(again.motion.pose, walk.motion.pose, late)


def test_a_pin_may_follow_a_path_given_for_all_frames(walk: Clip) -> None:
    heads, _ = forward(walk.skeleton, walk.motion.pose)
    foot = walk.skeleton.index("RightFoot")
    path = heads[:, foot] + 0.03 * np.sin(np.arange(len(walk.motion)))[:, None]
    pinned = pin_motion(walk.skeleton, walk.motion, [TimedPin("RightFoot", 5.0, 15.0, path)])
    changed, _ = forward(walk.skeleton, pinned.motion.pose)
    np.testing.assert_allclose(changed[5:16, foot], path[5:16], atol=1e-4)
    with pytest.raises(CoreError, match="for each of 65 frames"):
        pin_motion(walk.skeleton, walk.motion, [TimedPin("RightFoot", 5.0, 15.0, path[:7])])


def test_a_changed_pin_is_solved_alone_as_it_would_be_with_all(walk: Clip) -> None:
    def pins(last: float) -> list[TimedPin]:
        feet = [("RightFoot", 4.0, 10.0), ("LeftFoot", 12.0, 20.0), ("RightFoot", 22.0, 28.0), ("LeftFoot", 30.0, 36.0)]
        held = [hold_pin(walk.skeleton, walk.motion, foot, first, stop, ease=3.0) for foot, first, stop in feet]
        return [*held, hold_pin(walk.skeleton, walk.motion, "RightFoot", 46.0, last, ease=2.0)]

    before, after = pins(48.0), pins(51.0)
    traces = [[pin.fingerprint(walk.skeleton) for pin in some] for some in (before, after)]
    assert not affected_frames(walk.skeleton, walk.motion, traces[0], traces[0][::-1]).any()
    reached = affected_frames(walk.skeleton, walk.motion, *traces)
    assert reached[45:53].all()
    assert not reached[:28].any()
    was, whole = (pin_motion(walk.skeleton, walk.motion, some).motion.pose for some in (before, after))
    part = pin_motion(walk.skeleton, walk.motion, after, only=reached)
    found = part.motion.pose
    assert same_bits(found, walk.motion.pose, ~reached)
    assert part.position_error.max() < 1e-4
    joined = np.where(reached[:, None, None], found.rotations, was.rotations)
    assert rotation.angle_between(joined, whole.rotations).max() < 1e-3
    shifts = np.where(reached[:, None, None], found.translations, was.translations) - whole.translations
    assert np.abs(shifts).max() < 1e-3


def test_a_pin_beside_others_of_its_point_changes_their_eases_too(walk: Clip) -> None:
    first = hold_pin(walk.skeleton, walk.motion, "LeftHand", 10.0, 20.0, ease=9.0).fingerprint(walk.skeleton)
    second, later = (
        hold_pin(walk.skeleton, walk.motion, "LeftHand", start, 40.0, ease=0.0).fingerprint(walk.skeleton)
        for start in (30.0, 24.0)
    )
    reached = affected_frames(walk.skeleton, walk.motion, [first, second], [first, later])
    assert reached[21:41].all()
    assert not reached[40 + 1 :].any()
    other = replace(second, asked="elsewhere")
    assert affected_frames(walk.skeleton, walk.motion, [first, second], [first, other])[30:40].all()


def test_progress_is_told_and_may_cancel(walk: Clip) -> None:
    pin = hold_pin(walk.skeleton, walk.motion, "LeftHand", 20.0, 22.0, at=10.0, ease=4.0)
    told: list[float] = []
    pin_motion(walk.skeleton, walk.motion, [pin], progress=told.append)
    np.testing.assert_allclose(told, np.arange(1, PASSES + 1) / PASSES)

    def cancel(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pin_motion(walk.skeleton, walk.motion, [pin], progress=cancel)


def test_pins_that_make_no_sense_are_refused(walk: Clip) -> None:
    with pytest.raises(CoreError, match="neither a position nor a rotation"):
        TimedPin("LeftHand", 1.0, 2.0)
    with pytest.raises(CoreError, match="start before it ends"):
        TimedPin("LeftHand", 3.0, 2.0, np.zeros(3))
    with pytest.raises(CoreError, match="at least 0 frames"):
        TimedPin("LeftHand", 1.0, 2.0, np.zeros(3), ease_in=-1.0)
    with pytest.raises(CoreError, match="no frame 70"):
        hold_pin(walk.skeleton, walk.motion, "LeftHand", 1.0, 2.0, at=70.0)


def held_far(walk: Clip, **of_hand: float) -> tuple[float, float]:
    """Return how far a planted foot, and a hand that is held three metres away, are off."""
    foot = hold_pin(walk.skeleton, walk.motion, "LeftFoot", 23.0, 27.0)
    tall = float(np.ptp(forward(walk.skeleton, walk.motion.pose[25])[0], axis=0).max())
    heads, _ = forward(walk.skeleton, walk.motion.pose)
    place = heads[25, walk.skeleton.index("LeftHand")] + [3.0 / 1.7 * tall, 0.0, 0.0]
    hand = TimedPin("LeftHand", 23.0, 27.0, place, **of_hand)
    errors = pin_motion(walk.skeleton, walk.motion, [foot, hand]).position_error * 1.7 / tall
    return float(errors[0]), float(errors[1])


def test_a_hand_that_is_held_out_of_reach_pulls_the_foot_off_by_its_weight_and_priority(walk: Clip) -> None:
    alike, second, light = (held_far(walk, **how) for how in ({}, {"priority": 1}, {"weight": 0.1}))
    assert alike[0] > 0.1
    assert second[0] < 1e-3
    assert second[1] < 3.0  # it comes as near as the foot lets it
    assert light[0] < 0.5 * alike[0]
    assert light[1] > alike[1]


def test_weights_and_priorities_that_make_no_sense_are_refused() -> None:
    for wrong in ({"weight": 0.0}, {"weight": np.inf}, {"priority": -1}):
        with pytest.raises(CoreError, match="a weight above 0 and a priority of at least 0"):
            TimedPin("LeftHand", 1.0, 2.0, np.zeros(3), **wrong)


def test_a_changed_priority_affects_the_frames_of_its_pin(walk: Clip) -> None:
    pin = hold_pin(walk.skeleton, walk.motion, "LeftHand", 20.0, 30.0)
    before, after = ([one.fingerprint(walk.skeleton)] for one in (pin, replace(pin, priority=1)))
    changed = affected_frames(walk.skeleton, walk.motion, before, after)
    assert np.flatnonzero(changed).tolist() == [*range(20, 31)]
