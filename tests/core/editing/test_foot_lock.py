"""Feet that stand: on a captured walk that was made to slide, and where places contradict each other."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.motion.clips import Clip, read_clip
from benchmarks.robust.skate import STILL, WAYS, both, slide, stands
from core import Motion, Pose, forward, rotation
from core.body import Roles, find_roles
from core.editing.contacts import BodyPoint, find_contacts, foot_points, point_positions
from core.editing.foot_lock import LockFeetResult, contact_pins, eased, lock_feet, stand_on_ground
from core.motion import shifted
from tests.paths import DATA

WALK = DATA / "motion" / "cmu_07_12.bvh"


def sliding(motion: Motion, speed: float) -> Motion:
    """The motion carried along an axis of its root at so many metres a second."""
    moved = motion.pose.translations.copy()
    seconds = motion.frames / motion.fps
    moved[:, 0] += (speed * seconds)[:, None] * np.array([1.0, 0.0, 0.0])
    return replace(motion, pose=replace(motion.pose, translations=moved))


@pytest.fixture(scope="module")
def walk() -> Clip:
    return read_clip(WALK)


@pytest.fixture(scope="module")
def roles(walk: Clip) -> Roles:
    return find_roles(walk.skeleton)


@pytest.fixture(scope="module")
def locked(walk: Clip, roles: Roles) -> LockFeetResult:
    return lock_feet(walk.skeleton, walk.motion, roles)


def test_points_that_bear_stand_still(walk: Clip, locked: LockFeetResult) -> None:
    contacts = locked.contacts
    before, after = (
        point_positions(walk.skeleton, motion.pose, contacts.points) for motion in (walk.motion, locked.pinned.motion)
    )
    together = contacts.touching[1:] & contacts.touching[:-1]
    slid, slides = (rotation.lengths(np.diff(places, axis=0))[together] for places in (before, after))
    assert slid.max() > 5e-3
    assert slides.max() < 1e-4
    assert locked.pinned.position_error.max() < 5e-5


def test_the_rest_of_the_body_hardly_changes_and_does_not_jerk(
    walk: Clip, roles: Roles, locked: LockFeetResult
) -> None:
    heads, _ = forward(walk.skeleton, walk.motion.pose)
    after, _ = forward(walk.skeleton, locked.pinned.motion.pose)
    feet = [b for b, name in enumerate(walk.skeleton.names) if "Foot" in name or "Toe" in name]
    rest = np.setdiff1d(np.arange(len(walk.skeleton)), feet)
    hips = roles.bone("hips")
    assert rotation.lengths((after - heads)[:, [hips], :2]).mean() < 5e-3
    assert rotation.lengths(after - heads - (after - heads)[:, [hips]])[:, rest].mean() < 5e-3
    jerks = [np.percentile(rotation.lengths(np.diff(h[:, rest], 2, axis=0)), 99) for h in (heads, after)]
    assert jerks[1] < 1.2 * jerks[0]
    for side in "LR":
        hip, knee, ankle = (roles.bones[f"{part}.{side}"] for part in ("thigh", "shin", "foot"))
        bends = [np.cross(h[:, knee] - h[:, hip], h[:, ankle] - h[:, knee]) for h in (heads, after)]
        bent = rotation.lengths(bends[0]) > 1e-3  # of square metres: half a degree; straight legs bend no way
        assert (np.sum(bends[0] * bends[1], axis=-1)[bent] > 0.0).all()


def at_rate(motion: Motion, fps: float) -> Motion:
    """The motion with as many frames a second."""
    places = np.arange(0.0, len(motion) - 1.0, motion.fps / fps)
    before = places.astype(int)
    share = (places - before)[:, None]
    some = [motion.pose[before + n] for n in (0, 1)]
    turns = rotation.slerp(some[0].rotations, some[1].rotations, share)
    moves = some[0].translations + share[..., None] * (some[1].translations - some[0].translations)
    return Motion(replace(some[0], rotations=turns, translations=moves), np.arange(len(places), dtype=float), fps)


@pytest.mark.long
@pytest.mark.parametrize("fps", [24.0, 25.0, 48.0, 60.0])
def test_points_that_bear_stand_still_at_other_rates(walk: Clip, roles: Roles, fps: float) -> None:
    motion = at_rate(walk.motion, fps)
    locked = lock_feet(walk.skeleton, motion, roles)
    contacts = locked.contacts
    after = point_positions(walk.skeleton, locked.pinned.motion.pose, contacts.points)
    together = contacts.touching[1:] & contacts.touching[:-1]
    assert together.any(axis=0).all()
    assert rotation.lengths(np.diff(after, axis=0))[together].max() < 1e-4
    jolts = [
        np.percentile(rotation.lengths(np.diff(forward(walk.skeleton, one.pose)[0], 2, axis=0)), 99)
        for one in (motion, locked.pinned.motion)
    ]
    assert jolts[1] < 1.2 * jolts[0]


def carried(walk: Clip, motion: Motion, way: str) -> Motion:
    """The motion with its hips on another way."""
    hips = forward(walk.skeleton, motion.pose)[0][:, 0]
    return replace(motion, pose=shifted(walk.skeleton, motion.pose, 0, WAYS[way](hips, motion.fps) - hips))


def slid(walk: Clip, roles: Roles, way: str, fps: float) -> tuple[Motion, tuple[BodyPoint, ...], np.ndarray]:
    """The walk that slides, the balls of its feet, and when they stand (F, 2), as the clean clip tells."""
    clean = at_rate(walk.motion, fps)
    slow = replace(clean, fps=fps / 2.0) if way == "slow" else clean
    balls = tuple(point for point in foot_points(walk.skeleton, roles) if point.name.startswith("ball"))
    return carried(walk, slow, way), balls, stands(point_positions(walk.skeleton, clean.pose, balls), fps)


@pytest.mark.parametrize("fps", [24.0, 25.0, 30.0, 48.0, 60.0])
@pytest.mark.parametrize("way", WAYS)
def test_feet_are_found_to_stand_where_they_did_before_they_slid(
    walk: Clip, roles: Roles, way: str, fps: float
) -> None:
    motion, balls, true = slid(walk, roles, way, fps)
    points = foot_points(walk.skeleton, roles)
    touching = find_contacts(walk.skeleton, motion, points).touching[:, [points.index(ball) for ball in balls]]
    assert touching[true].mean() > 0.95
    swings = np.diff(point_positions(walk.skeleton, motion.pose, balls), axis=0)
    assert not touching[1:][rotation.lengths(swings) * motion.fps > 2.0].any()


@pytest.mark.parametrize("way", ["drift", "scaled"])
def test_feet_that_were_made_to_slide_stand_and_nothing_jerks(walk: Clip, roles: Roles, way: str) -> None:
    motion, balls, true = slid(walk, roles, way, 30.0)
    locked = lock_feet(walk.skeleton, motion, roles).pinned.motion
    still = slide(point_positions(walk.skeleton, locked.pose, balls), 30.0) < STILL
    assert still[both(true)].mean() > 0.95
    heads = [forward(walk.skeleton, one.pose)[0] for one in (motion, locked)]
    jolts = [np.percentile(rotation.lengths(np.diff(places, 2, axis=0)), 99) for places in heads]
    assert jolts[1] < 1.2 * jolts[0]


def test_what_stands_is_at_one_height(walk: Clip, locked: LockFeetResult) -> None:
    """The floor of the capture is tilted: 10 cm from one end to the other."""
    contacts = locked.contacts
    for motion, least, most in ((walk.motion, 0.05, 0.12), (locked.pinned.motion, 0.0, 1e-3)):
        heights = point_positions(walk.skeleton, motion.pose, contacts.points) @ contacts.ground.up
        apart = [np.ptp(heights[contacts.touching[:, n], n]) for n in range(len(contacts.points))]
        assert least <= max(apart) < most


def test_a_walk_on_the_spot_stays_there(walk: Clip, roles: Roles) -> None:
    hips = forward(walk.skeleton, walk.motion.pose)[0][:, 0]
    spot = shifted(walk.skeleton, walk.motion.pose, 0, (hips[:1] - hips) * [1.0, 1.0, 0.0])
    locked = lock_feet(walk.skeleton, replace(walk.motion, pose=spot), roles).pinned.motion
    np.testing.assert_allclose(forward(walk.skeleton, locked.pose)[0][:, 0, :2], hips[:1, :2].repeat(65, 0), atol=0.02)


def test_a_sliding_walk_is_planted_where_the_walk_stands(walk: Clip, roles: Roles) -> None:
    contacts = find_contacts(walk.skeleton, walk.motion, foot_points(walk.skeleton, roles))
    slid = sliding(walk.motion, 0.2)
    found = find_contacts(walk.skeleton, slid, contacts.points)
    assert np.mean(found.touching != contacts.touching) < 0.12


def test_places_of_one_rigid_foot_keep_their_distance(walk: Clip, roles: Roles) -> None:
    contacts = find_contacts(walk.skeleton, walk.motion, foot_points(walk.skeleton, roles))
    pins = contact_pins(walk.skeleton, walk.motion, contacts)
    rest = point_positions(walk.skeleton, walk.motion.pose[0], contacts.points)
    intervals = contacts.intervals()
    checked = 0
    for one, a in enumerate(intervals):
        for other, b in enumerate(intervals):
            names = contacts.points[a.point].name, contacts.points[b.point].name
            together = a.first <= b.last and b.first <= a.last
            if together and names in (("heel.L", "ball.L"), ("heel.R", "ball.R"), ("ball.L", "toe.L")):
                wanted = np.linalg.norm(rest[a.point] - rest[b.point])
                found = np.linalg.norm(pins[one].position - pins[other].position)
                assert found == pytest.approx(wanted, abs=1e-6)
                checked += 1
    assert checked >= 5


@pytest.mark.parametrize("slower", [1, 3])
def test_eases_last_half_a_swing_in_slow_motion_too(walk: Clip, roles: Roles, slower: int) -> None:
    contacts = find_contacts(walk.skeleton, walk.motion, foot_points(walk.skeleton, roles))
    slow = replace(walk.motion, frames=slower * walk.motion.frames)
    contact = contacts.touching.astype(int)
    leaves, lands = (np.argwhere(sign == np.diff(contact, axis=0).T) for sign in (-1, 1))
    swings = [
        slower * (land + 1 - leave)
        for point, leave in leaves
        if len(land := lands[(lands[:, 0] == point) & (lands[:, 1] > leave)][:1, 1])
    ]
    assert len(swings) >= 6
    assert eased(slow, contacts) * slow.fps == pytest.approx(np.median(swings) / 2)
    assert eased(slow, contacts, 0.0) == 0.0


def test_a_walk_of_long_steps_goes_up_all_stairs(walk: Clip, roles: Roles) -> None:
    """Four stairs in a step, of which only those are seen that are not too high above a foot, as by a ray from it."""
    skeleton, hips = walk.skeleton, forward(walk.skeleton, walk.motion.pose)[0][:, 0]
    way = (hips[-1] - hips[0]) * (1.0, 1.0, 0.0)
    tread, riser = 0.16 * skeleton.size, 0.15 * skeleton.size
    way = way / np.linalg.norm(way)

    def stairs(places: np.ndarray) -> np.ndarray:
        high = riser * np.maximum(np.floor((places - hips[0]) @ way / tread), 0.0)
        return np.where(high <= places[..., 2] + 0.35 * skeleton.size, high, -np.inf)

    locked = lock_feet(skeleton, walk.motion, roles, surface=stairs)
    for pin in locked.pins:
        assert pin.position is not None
        high = stairs(np.add(pin.position, (0.0, 0.0, 100.0)))
        assert pin.position[2] > high - 0.01 * skeleton.size
    assert max(pin.position[2] for pin in locked.pins) > 10 * riser


def test_hands_can_be_locked_as_feet_are(walk: Clip, roles: Roles) -> None:
    still = np.zeros_like(walk.motion.pose.translations)  # on the spot and slowly: hands come to rest over their ground
    spot = replace(walk.motion, pose=replace(walk.motion.pose, translations=still), fps=8.0)
    hands = [BodyPoint(name, walk.skeleton.index(name), (0.0, 0.0, 0.0)) for name in ("LeftHand", "RightHand")]
    locked = lock_feet(walk.skeleton, spot, roles, hands)
    assert locked.pins
    assert len(locked.pins) == len(locked.contacts.intervals())
    assert locked.pinned.position_error.max(initial=0.0) < 1e-4


def test_feet_without_toes_stand_on_their_balls_as_heels_rise(walk: Clip) -> None:
    bones = [b for b, name in enumerate(walk.skeleton.names) if "Toe" not in name]
    skeleton = walk.skeleton.taken(bones)
    offsets = skeleton.offsets.copy()
    offsets[0] -= skeleton.rest_matrices[skeleton.index("LeftFoot"), :, 3] * [0.0, 0.0, 1.0] - [0.0, 0.0, 0.05]
    skeleton = replace(skeleton, offsets=offsets)  # whose ankles are 5 cm above the origin
    pose = Pose(walk.motion.pose.rotations[:, bones], walk.motion.pose.translations[:, bones])
    motion, roles = replace(walk.motion, pose=pose), find_roles(skeleton)
    balls = [skeleton.index(name) for name in ("LeftFoot", "RightFoot")]
    points = [BodyPoint(skeleton.names[ball], ball, (0.0, float(skeleton.lengths[ball]), 0.0)) for ball in balls]
    steps = both(stands(point_positions(skeleton, pose, points), motion.fps))
    after = point_positions(skeleton, stand_on_ground(skeleton, motion, roles).pose, points)
    assert steps.sum() > 30
    assert np.mean(slide(after, motion.fps)[steps] < STILL) > 0.95
