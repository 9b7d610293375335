"""Feet on a floor: of a captured walk that is sunk into it."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.motion.clips import read_clip
from core import Motion, Pose, Skeleton, forward, rotation
from core.body import Roles, find_roles
from core.body.ground import Sole, find_sole
from core.editing.contacts import foot_points, point_positions
from core.editing.floor import Floor, floor_pins
from core.editing.timed_pins import pin_motion
from core.motion import shifted
from core.rotation import Array
from tests.paths import DATA

UP = np.array([0.0, 0.0, 1.0])


def walker() -> tuple[Skeleton, Roles]:
    skeleton = read_clip(DATA / "motion" / "cmu_07_12.bvh").skeleton
    return skeleton, find_roles(skeleton)


def ways_of(sole: Sole, turns: Array) -> tuple[Array, Array, Array, float]:
    """The directions up, ahead and aside of a foot in frames (J, 4), and how long it is."""
    up, ahead = (rotation.rotate(turns[sole.foot], way) for way in (sole.up, sole.forward))
    return up, ahead, np.cross(ahead, up), float(np.linalg.norm(sole.tip - sole.heel))


@pytest.mark.parametrize("sunk", [0.0, 0.02, 0.06])
def test_heel_and_toe_tip_are_never_below_the_floor_and_feet_above_it_stay(sunk: float) -> None:
    walk = read_clip(DATA / "motion" / "cmu_07_12.bvh")
    roles = find_roles(walk.skeleton)
    points = [point for point in foot_points(walk.skeleton, roles) if not point.name.startswith("ball")]
    before = point_positions(walk.skeleton, walk.motion.pose, points)[..., 2]
    floor = float(before.min()) + 0.01
    pose = shifted(walk.skeleton, walk.motion.pose, 0, np.array([0.0, 0.0, -sunk]))
    motion = replace(walk.motion, pose=pose)
    after = pin_motion(walk.skeleton, motion, floor_pins(walk.skeleton, motion, roles, Floor(UP, floor)))
    heights = point_positions(walk.skeleton, after.motion.pose, points)[..., 2]
    assert heights.min() > floor - 1e-3
    np.testing.assert_array_equal(after.motion.pose.rotations[~after.changed], pose.rotations[~after.changed])
    high = (before - sunk > floor + 0.1).all(axis=1)
    assert not after.changed[high].any()
    hips = forward(walk.skeleton, after.motion.pose)[0][:, 0] - forward(walk.skeleton, pose)[0][:, 0]
    assert np.abs(hips).max() < 0.02 + sunk


@pytest.mark.parametrize("yaw", [0.0, -25.0])
def test_toes_do_not_bend_by_a_quarter_turn_for_an_edge_that_is_slightly_below(yaw: float) -> None:
    """Rotated sideways, they have the rear edge of a wide shoe before their hinge; they pointed straight down."""
    skeleton, roles = walker()
    rest, sole = Pose.rest(skeleton), find_sole(skeleton, roles, "L")
    heads, turns = forward(skeleton, rest)
    up, ahead, aside, long = ways_of(sole, turns)
    places = np.stack([-0.4 * aside - 0.04 * ahead, 0.4 * ahead])
    roles = replace(roles, soles={"toe.L": heads[sole.toe] + long * (places - 0.02 * up)})
    sole = find_sole(skeleton, roles, "L")
    tilt, over = (rotation.from_axis_angle(axis, np.radians(angle)) for axis, angle in ((ahead, -1.0), (up, yaw)))
    turned = rotation.mul(over, rotation.mul(tilt, turns[sole.toe]))
    own = rest.rotations.copy()
    own[sole.toe] = rotation.mul(own[sole.toe], rotation.mul(rotation.inv(turns[sole.toe]), turned))
    motion = Motion(Pose(own[None], rest.translations[None]), np.arange(1), 30.0)
    floor = Floor(up, float(heads[sole.toe] @ up) - sole.thickness, levels=False)
    pins = floor_pins(skeleton, motion, roles, floor)
    held = [np.reshape(pin.rotation, (-1, 4))[0] for pin in pins if skeleton.index(pin.bone) == sole.toe]
    assert held
    assert all(rotation.angle_between(turn, turned) < np.radians(15.0) for turn in held)
    assert all((rotation.rotate(turn, sole.end) @ up) > -sole.thickness - 1e-3 * long for turn in held)  # its tip


def test_a_foot_that_points_down_is_raised_not_turned_for_its_edge() -> None:
    """Turned about its line, which is steep, it looks another way rather than lie level: it went round by 64."""
    skeleton, roles = walker()
    rest, sole = Pose.rest(skeleton), find_sole(skeleton, roles, "L")
    heads, turns = forward(skeleton, rest)
    up, ahead, aside, long = ways_of(sole, turns)
    corners = [end + side * 0.3 * long * aside for end in (sole.heel, sole.tip) for side in (-1.0, 1.0)]
    places = heads[sole.foot] + rotation.rotate(turns[sole.foot], corners)
    roles = replace(
        roles, soles={"foot.L": places}, bones={role: bone for role, bone in roles.bones.items() if role != "toe.L"}
    )
    sole = find_sole(skeleton, roles, "L")
    np.testing.assert_allclose(sole.ball, sole.tip)  # over which a foot without toes rolls
    roll, pitch = (rotation.from_axis_angle(axis, np.radians(angle)) for axis, angle in ((ahead, 60.0), (aside, -65.0)))
    turned = rotation.mul(pitch, rotation.mul(roll, turns[sole.foot]))
    own = rest.rotations.copy()
    own[sole.foot] = rotation.mul(own[sole.foot], rotation.mul(rotation.inv(turns[sole.foot]), turned))
    motion = Motion(Pose(own[None], rest.translations[None]), np.arange(1), 30.0)
    tip = float((heads[sole.foot] + rotation.rotate(turned, sole.tip)) @ up)
    pins = floor_pins(skeleton, motion, roles, Floor(up, tip + 1e-3 * long))
    (pin,) = [pin for pin in pins if skeleton.index(pin.bone) == sole.foot]
    assert pin.rotation is not None
    assert rotation.angle_between(np.reshape(pin.rotation, (-1, 4))[0], turned) < np.radians(25.0)
    assert pin.position is not None
    under = np.reshape(pin.position, (-1, 3))[0] + rotation.rotate(np.reshape(pin.rotation, (-1, 4))[0], sole.under[0])
    assert min(under @ up) > tip - 1e-3 * long


def test_memory_grows_with_the_frames_not_with_their_square() -> None:
    """Below the floor again and again, a motion has many pins, each with the arrays of all frames."""
    walk = read_clip(DATA / "motion" / "cmu_07_12.bvh")
    roles, peaks = find_roles(walk.skeleton), list[int]()
    for count in (1000, 4000):
        sunk = np.where(np.arange(count) % 30 == 0, -0.5, 0.0)[:, None] * UP
        still = walk.motion.pose[np.full(count, 10)]
        motion = replace(walk.motion, pose=shifted(walk.skeleton, still, 0, sunk), frames=np.arange(count))
        floor = Floor(UP, float(forward(walk.skeleton, still[0])[0][:, 2].min()) - 0.2)
        tracemalloc.start()
        assert len(floor_pins(walk.skeleton, motion, roles, floor)) > count / 10
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 4.5 * peaks[0]
