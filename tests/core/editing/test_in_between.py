"""In-betweens: keys are exact, bodies fall as thrown, feet stand and step, on captured key poses and closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.motion.clips import Clip, read_clip
from core import CoreError, Motion, Pose, forward, rotation
from core.body import Roles, find_roles
from core.body.masses import centre_of_mass, masses_of
from core.editing.contacts import find_contacts, foot_points, point_positions
from core.editing.foot_lock import foot_lock_settings
from core.editing.in_between import InBetween, fill_between, spline_between
from core.editing.root_motion import find_travel, set_carrier
from core.editing.timed_pins import pin_motion
from core.pose import forward_matrices
from core.rotation import lengths
from tests.core.rigs import FIGURE, random_pose, skeleton_of
from tests.paths import DATA

FPS, UP = 30.0, np.array([0.0, 0.0, 1.0])
SKELETON = skeleton_of(FIGURE)
ROLES = find_roles(SKELETON)


@pytest.fixture(scope="module")
def walk() -> Clip:
    return read_clip(DATA / "motion" / "cmu_07_12.bvh")


@pytest.fixture(scope="module")
def roles(walk: Clip) -> Roles:
    return find_roles(walk.skeleton)


def motion_of(rotations: np.ndarray, places: np.ndarray) -> Motion:
    """A motion whose root is at places (F, 3) of its own axes."""
    moves = np.zeros((*rotations.shape[:2], 3))
    moves[:, 0] = places
    return Motion(Pose(rotations, moves), np.arange(7.0, 7.0 + len(moves)), FPS)


def placed(skeleton: object, places: np.ndarray) -> Motion:
    """The rest pose with its root moved by places (F, 3) in armature space."""
    turns = np.tile(rotation.IDENTITY, (len(places), len(SKELETON), 1))
    return motion_of(turns, rotation.rotate(rotation.inv(SKELETON.rest_rotations[0]), places))


def solved(skeleton: object, filled: InBetween, roles: Roles) -> Motion:
    limited, method = foot_lock_settings(skeleton, filled.motion, roles)
    return pin_motion(limited, filled.motion, filled.pins, method, only=filled.between).motion


def test_keys_and_frames_outside_stay_bit_for_bit(walk: Clip, roles: Roles) -> None:
    keys = np.array([4, 19, 20, 33, 50])
    filled = fill_between(walk.skeleton, walk.motion, keys, roles)
    after = solved(walk.skeleton, filled, roles)
    stays = np.setdiff1d(np.arange(len(after)), np.flatnonzero(filled.between))
    assert set(keys.tolist()) | {0, 3, 51, len(after) - 1} <= set(stays.tolist())
    for part in ("rotations", "translations"):
        was, now = (getattr(motion.pose, part) for motion in (walk.motion, after))
        np.testing.assert_array_equal(now[stays], was[stays])
        assert np.abs(now - was).max() > 1e-3


def test_a_steady_turn_and_a_straight_way_are_met_exactly() -> None:
    time = np.arange(41.0) / FPS
    spins = np.random.default_rng(2).normal(size=(len(SKELETON), 3))
    truth = motion_of(rotation.exp(time[:, None, None] * spins), time[:, None] * [1.0, -2.0, 0.5])
    keys = np.array([0, 9, 14, 40])
    blank = replace(truth, pose=truth.pose[[*np.repeat(keys[:-1], np.diff(keys)).tolist(), 40]])
    made = spline_between(blank, keys).pose
    assert rotation.angle_between(made.rotations, truth.pose.rotations).max() < 1e-7
    np.testing.assert_allclose(made.translations, truth.pose.translations, atol=1e-12)


def test_a_pose_that_is_held_stays_before_and_after_a_quick_move() -> None:
    """A curve that has the speed of the move at the hold's end goes 24 cm back first."""
    keys, places = np.array([0, 20, 26, 45]), np.array([0.0, 0.0, 0.6, 0.6])
    turns = np.tile(rotation.IDENTITY, (46, len(SKELETON), 1))
    turns[26:, 1] = rotation.exp(np.array([0.0, 1.2, 0.0]))
    ways = np.interp(np.arange(46), keys, places)[:, None] * [1.0, 0.0, 0.0]
    made = spline_between(motion_of(turns, ways), keys).pose
    for held in (slice(0, 21), slice(26, 46)):
        assert np.abs(made.translations[held] - made.translations[held.start]).max() < 1e-12
        assert rotation.angle_between(made.rotations[held], made.rotations[held.start]).max() < 1e-7


def test_poses_and_velocities_have_no_jumps_at_keys() -> None:
    rng, keys, fine = np.random.default_rng(3), np.array([0, 600, 1500, 1900]), 100  # 100 frames of which are one
    pose = random_pose(SKELETON, rng, (1901,), 0.5)
    made = spline_between(Motion(pose, np.arange(1901.0) / fine, FPS), keys).pose
    for key in keys[1:-1]:
        near = slice(key - 2, key + 3)
        turns = rotation.log(rotation.mul(rotation.inv(made.rotations[key]), made.rotations[near]))
        for values in (turns, made.translations[near]):
            speeds = np.diff(values, axis=0) * fine
            assert np.abs(speeds[2] - speeds[1]).max() < 0.05 * np.abs(speeds).max()


def test_a_body_that_is_thrown_goes_on_the_one_arc_through_both_keys() -> None:
    frames, gravity = np.arange(25), 9.81 * SKELETON.size
    time = frames / FPS
    arc = np.stack([1.5 * time, 0.2 * time, 0.5 * gravity * time * (time[-1] - time)], axis=-1)
    arc[[0, -1], 2] -= 0.2  # it crouches there
    truth = placed(SKELETON, arc)
    keys = np.array([0, 6, 14, 19, 24])
    made = fill_between(SKELETON, truth, keys, ROLES).motion
    masses = masses_of(SKELETON, ROLES)
    centre, true = (
        centre_of_mass(SKELETON, forward_matrices(SKELETON, motion.pose), masses) for motion in (made, truth)
    )
    np.testing.assert_allclose(centre[6:20], true[6:20], atol=1e-9)
    plain = spline_between(truth, keys)
    assert lengths(forward(SKELETON, plain.pose)[0] - forward(SKELETON, truth.pose)[0])[6:20].max() > 5e-3


def test_a_foot_in_the_same_place_is_held_and_others_step_one_after_the_other() -> None:
    count = 31
    truth = placed(SKELETON, np.linspace(0, 1, count)[:, None] * [0.0, -0.3, 0.0])
    filled = fill_between(SKELETON, truth, [0, count - 1], ROLES)
    after = solved(SKELETON, filled, ROLES)
    feet = [SKELETON.index(f"foot.{side}") for side in "LR"]
    ankles = forward(SKELETON, after.pose)[0][:, feet]
    still = lengths(np.diff(ankles, axis=0)) < 1e-4
    assert still.any(axis=1).all()  # at each time one foot stands
    assert (~still).any(axis=0).all()  # and both have stepped
    assert ankles[:, :, 2].max() > ankles[0, :, 2].max() + 0.02  # lifted
    assert ankles[:, :, 2].min() > ankles[0, :, 2].min() - 1e-4


def test_a_low_foot_that_keys_close_by_show_in_its_swing_goes_on() -> None:
    speed = np.array([0.0, -1.2, 0.0])  # metres a second
    truth = placed(SKELETON, np.arange(26.0)[:, None] / FPS * speed)
    sliding = fill_between(SKELETON, truth, [*range(11), 25], ROLES)
    standing = fill_between(SKELETON, truth, [10, 25], ROLES)
    at, foot = 13, SKELETON.index("foot.R")  # which steps after the left one
    ways = [
        next(
            pin.position[at] - pin.position[10] for pin in filled.pins if pin.bone == foot and pin.position is not None
        )
        for filled in (sliding, standing)
    ]
    start, other = (float(way @ speed) / 1.2**2 * FPS for way in ways)  # frames of the way at this speed
    assert start > 2.5
    assert other < 0.5


@pytest.mark.parametrize("away", [0.0, 0.02])
def test_feet_that_stay_between_standing_and_crouching_do_not_move(away: float) -> None:
    truth = placed(SKELETON, np.linspace(0, 1, 21)[:, None] * [away, 0.0, -0.001])
    turns = truth.pose.rotations.copy()
    turns[-1, SKELETON.index("spine")] = rotation.exp([0.4, 0.0, 0.0])
    truth = replace(truth, pose=replace(truth.pose, rotations=turns))
    after = solved(SKELETON, fill_between(SKELETON, truth, [0, 20], ROLES), ROLES)
    feet = [SKELETON.index(f"foot.{side}") for side in "LR"]
    ankles = forward(SKELETON, after.pose)[0][:, feet]
    assert lengths(ankles - ankles[0]).max() < away + 2e-3


def test_captured_feet_slide_half_as_far_as_on_smooth_curves_and_joints_are_nearer(walk: Clip, roles: Roles) -> None:
    points, true = foot_points(walk.skeleton, roles), forward(walk.skeleton, walk.motion.pose)[0]
    touching = find_contacts(walk.skeleton, walk.motion, points).touching
    slid, far = np.zeros((2, 2))
    for first in (0, 6, 12):
        filled = fill_between(walk.skeleton, walk.motion, np.arange(first, len(walk.motion), 15), roles)
        both = touching[1:] & touching[:-1] & filled.between[1:, None]
        for number, motion in enumerate((filled.motion, solved(walk.skeleton, filled, roles))):
            steps = np.diff(point_positions(walk.skeleton, motion.pose, points), axis=0)[..., :2]
            slid[number] += float(lengths(steps)[both].mean())
            far[number] += float(lengths(forward(walk.skeleton, motion.pose)[0] - true)[filled.between].mean())
    assert slid[1] < 0.5 * slid[0]
    assert far[1] < 0.9 * far[0]


def test_one_key_is_refused_and_nothing_between_keys_is_no_error(walk: Clip, roles: Roles) -> None:
    with pytest.raises(CoreError, match="two key poses"):
        fill_between(walk.skeleton, walk.motion, [3], roles)
    filled = fill_between(walk.skeleton, walk.motion, [3, 4, 5], roles)
    assert not filled.between.any()
    np.testing.assert_array_equal(filled.motion.pose.rotations, walk.motion.pose.rotations)


def test_of_two_feet_that_step_the_one_that_did_goes_first(walk: Clip, roles: Roles) -> None:
    """Between captured poses half a second apart; a foot is on its way when half of it is behind it."""
    feet, right = ("foot.L", "foot.R"), list[bool]()
    for first in range(1, len(walk.motion) - 15, 2):
        keys = np.array([first, first + 15])
        filled = fill_between(walk.skeleton, walk.motion, keys, roles)
        pins = {pin.bone: pin for pin in filled.pins if pin.position is not None}
        heads = forward(walk.skeleton, walk.motion.pose)[0]
        when = []
        for bone in map(roles.bone, feet):
            captured = heads[first : first + 16, bone]
            made = pins[bone].position[first : first + 16] if bone in pins else captured[:1]
            for places in (captured, made):
                gone = np.concatenate([[0.0], np.cumsum(lengths(np.diff(places, axis=0)))])
                when.append(np.interp(0.5 * gone[-1], gone, np.arange(len(gone))) if gone[-1] > 0.1 else np.nan)
        captured, made = np.diff(np.reshape(when, (2, 2)), axis=0)[0]
        if np.isfinite(captured) and np.isfinite(made):
            right.append(bool(captured * made > 0.0))
    assert len(right) > 5
    assert np.mean(right) > 0.75


def test_what_walks_in_place_does_not_stand(walk: Clip, roles: Roles) -> None:
    """As on a treadmill: feet that are low at two keys slide back between them."""
    skeleton, keys = walk.skeleton, np.arange(0, 57, 8)
    travel = find_travel(skeleton, walk.motion, roles.bone("hips"))
    place = set_carrier(skeleton, walk.motion, travel, None, "nobody")

    def far(filled: InBetween) -> float:
        """The mean distance of all joints from the captured ones, in the frames between keys."""
        heads = [forward(skeleton, one.pose)[0] for one in (solved(skeleton, filled, roles), place)]
        return float(lengths(heads[0] - heads[1])[filled.between].mean())

    filled, smooth = (fill_between(skeleton, place, keys, roles, plant=plant) for plant in (True, False))
    assert far(filled) < 1.01 * far(smooth)  # 1.10 where they stood
    assert fill_between(skeleton, walk.motion, keys, roles).pins


def test_a_foot_that_is_too_far_for_one_step_swings_and_does_not_dash() -> None:
    truth = placed(SKELETON, np.linspace(0, 1, 9)[:, None] * [0.0, -1.3, 0.0])  # 1.3 m in 8 frames at 30 a second
    filled = fill_between(SKELETON, truth, [0, 8], ROLES)
    after = solved(SKELETON, filled, ROLES)
    feet = [SKELETON.index(f"foot.{side}") for side in "LR"]
    steps = lengths(np.diff(forward(SKELETON, after.pose)[0][:, feet], axis=0))
    assert steps.max() < 1.3 * 1.3 / 8.0
