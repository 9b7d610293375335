"""What contribution CCD promises: hand solutions in the plane, the rules of its list, limits, held bases, any skeleton.

In the plane a bone lies along +Y and turns about Z. Points are complex numbers there, real along Y, imaginary along -X,
so that a turn by an angle a multiplies by exp(i a).
"""

from dataclasses import replace

import numpy as np
import pytest

from core import (
    Actuation,
    ContributionCCD,
    CoreError,
    EllipticSwing,
    EulerBox,
    Framed,
    Goal,
    OrderFreeBox,
    Polygon,
    Pose,
    Skeleton,
    SwingPolygon,
    forward,
    rotation,
    solve,
)
from core.limits import excess
from core.solvers.chain.euler_turns import EulerTurns
from core.solvers.chain.euler_turns import reach as euler_reach
from core.solvers.chain.limits import allowed, at_frames, find_room, is_within
from tests.core.rigs import random_pose, skeleton_of

ARM = ("clavicle.R", "upper_arm.R", "forearm.R", "hand.R")


def straight(*lengths: float, **more: object) -> Skeleton:
    """Bones A, B, C ... in a line along +Y, all frames those of the armature."""
    count = len(lengths)
    offsets = [(0.0, length, 0.0) for length in (0.0, *lengths[:-1])]
    return Skeleton("ABCDEFGHIJ"[:count], range(-1, count - 1), offsets, [[1.0, 0, 0, 0]] * count, lengths, **more)


def plane(number: complex) -> np.ndarray:
    return np.array([-number.imag, number.real, 0.0])


def turned(pose: Pose) -> np.ndarray:
    """Degrees about Z of planar bones."""
    np.testing.assert_allclose(pose.rotations[..., 1:3], 0.0, atol=1e-12)
    return np.degrees(2.0 * np.arctan2(pose.rotations[..., 3], pose.rotations[..., 0]))


def degrees(number: complex) -> float:
    return float(np.degrees(np.angle(number)))


def spun(angle: float) -> complex:
    return complex(np.exp(1j * np.radians(angle)))


def about_z(*entries: tuple[str, float, float]) -> tuple[Actuation, ...]:
    """Entries of bone, percent and degrees."""
    return tuple(Actuation(bone, "Z", percent / 100.0, np.radians(angle)) for bone, percent, angle in entries)


def only(*entries: tuple[str, float, float], **more: object) -> ContributionCCD:
    """Phase 1 alone."""
    return ContributionCCD(about_z(*entries), sweeps=0, finish=False, **more)  # type: ignore


def reach(skeleton: Skeleton, target: complex, method: ContributionCCD) -> np.ndarray:
    tip = skeleton.names[-1]
    goal = Goal(tip, plane(target), point=(0.0, float(skeleton.lengths[-1]), 0.0))
    return turned(solve(skeleton, Pose.rest(skeleton), [goal], method).pose)


# -- the list ----------------------------------------------------------------------------------------------------------


def test_the_worked_example_of_the_source() -> None:
    """Four bones b1 to b4 of length 1, joints A to D at 0, 1, 2, 3, the effector at 4, and the target, which the source
    leaves open, at T = 1 + 2 exp(40i), degrees meant: off the line.

    B: the effector is at 3 from it and the target at 2 exp(40i): the full rotation is 40. 30 % of it are 12, which is
       less than 20, and 20 is less than 40: B turns 20, and the effector goes to 1 + 3 exp(20i).
    A: the full rotation is arg T - arg(1 + 3 exp(20i)) = 26.918 - 15.038 = 11.879, less than 60: A turns all of it.
       All that lies beyond A is now turned by a = exp(11.879i).
    D: it is at a (1 + 2 exp(20i)), the effector at exp(20i) a from it, so at 31.879 degrees. The target is seen from D
       at T - a (1 + 2 exp(20i)) = -0.14482 + 0.02347i, at 170.795: D turns the full 138.916, less than its 180.
    C is not in the list.
    """
    target = 1.0 + 2.0 * spun(40.0)
    a = degrees(target / (1.0 + 3.0 * spun(20.0)))
    d_at, tip = spun(a) * (1.0 + 2.0 * spun(20.0)), spun(a) * (1.0 + 3.0 * spun(20.0))
    d = degrees((target - d_at) / (tip - d_at))
    angles = reach(straight(1, 1, 1, 1), target, only(("B", 30, 20), ("A", 30, 60), ("D", 30, 180)))
    np.testing.assert_allclose(angles, [a, 20.0, 0.0, d], atol=1e-9)


def test_the_fraction_binds() -> None:
    # full rotation 80, half of it is more than 20
    assert reach(straight(1, 1), 1.0 + spun(80.0), only(("B", 50, 20)))[1] == pytest.approx(40.0)


def test_the_angle_binds() -> None:
    # full rotation 80, a tenth of it is less than 20
    assert reach(straight(1, 1), 1.0 + spun(80.0), only(("B", 10, 20)))[1] == pytest.approx(20.0)


def test_an_angle_above_the_full_rotation_is_cut_to_it() -> None:
    assert reach(straight(1, 1), 1.0 + spun(-80.0), only(("B", 10, 100)))[1] == pytest.approx(-80.0)


def test_a_joint_that_is_not_listed_stays() -> None:
    angles = reach(straight(1, 1, 1), 1.0 + 1.5j, only(("C", 60, 10), ("A", 60, 10)))
    assert angles[1] == 0.0
    assert abs(angles[[0, 2]]).min() > 5.0


def test_the_order_matters() -> None:
    """Two bones, target 1 + i. B first: it turns 90 and is there. A first: it turns the full 45, and then B."""
    target, both = 1.0 + 1.0j, (("A", 100, 0), ("B", 100, 0))
    np.testing.assert_allclose(reach(straight(1, 1), target, only(*both[::-1])), [0.0, 90.0], atol=1e-9)
    angles = reach(straight(1, 1), target, only(*both))
    # from A's end at exp(45i) the target is at (1 + i) - exp(45i) = (sqrt 2 - 1) exp(45i): straight on
    np.testing.assert_allclose(angles, [45.0, 0.0], atol=1e-9)


def test_the_smaller_of_fraction_and_angle() -> None:
    target = 1.0 + spun(80.0)
    for percent, angle, found in ((50, 20, 20.0), (10, 20, 8.0), (100, 200, 80.0), (100, 0, 0.0)):
        method = only(("B", percent, angle), mode="smaller")
        assert reach(straight(1, 1), target, method)[1] == pytest.approx(found, abs=1e-9)


def test_a_joint_that_is_in_the_list_twice_turns_twice() -> None:
    """Two bones, T = 2i: B's fifth, A's half, and B again by half of what it then sees; by name and by number."""
    target, whole = 2.0j, degrees(2.0j - 1.0)
    b = 0.2 * whole
    a = 0.5 * degrees(target / (1.0 + spun(b)))
    again = 0.5 * degrees((target - spun(a)) / spun(a + b))
    entries = (*about_z(("B", 20, 0), ("A", 50, 0)), Actuation(1, "Z", 0.5))
    method = ContributionCCD(entries, sweeps=0, finish=False)
    np.testing.assert_allclose(reach(straight(1, 1), target, method), [a, b + again], atol=1e-9)
    sweeps = ContributionCCD(entries, passes=0, sweeps=1, finish=False)  # a sweep turns each axis once
    once = ContributionCCD(about_z(("A", 50, 0), ("B", 20, 0)), passes=0, sweeps=1, finish=False)
    np.testing.assert_array_equal(reach(straight(1, 1), target, sweeps), reach(straight(1, 1), target, once))


def test_mixed_passes_are_larger_first() -> None:
    """Full rotation 80: half of it, 40, is the larger; of the 40 that are left, 5 is the smaller, twice."""
    method = only(("B", 50, 5), mode="mixed", passes=3, share=0.3)
    assert method.larger_passes() == (True, False, False)
    assert reach(straight(1, 1), 1.0 + spun(80.0), method)[1] == pytest.approx(50.0)


def test_two_joints_turned_one_after_the_other_and_again() -> None:
    """Two bones, T = 2i, halves. A: 90 / 2. B, at exp(45i), points to 45, T - B = 2i - exp(45i). Then again."""
    target, a, b = 2.0j, 0.0, 0.0
    for _ in range(2):
        a += 0.5 * degrees(target / (spun(a) + spun(a + b)))
        b += 0.5 * degrees((target - spun(a)) / spun(a + b))
    angles = reach(straight(1, 1), target, only(("A", 50, 0), ("B", 50, 0), passes=2))
    np.testing.assert_allclose(angles, [a, b], atol=1e-9)
    once = reach(straight(1, 1), target, only(("A", 50, 0), ("B", 50, 0)))
    # arg(2i - exp(45i)) = 118.675: (118.675 - 45) / 2
    np.testing.assert_allclose(once, [45.0, 0.5 * (degrees(2.0j - spun(45.0)) - 45.0)], atol=1e-9)


def test_three_joints_by_plain_ccd_from_the_tip() -> None:
    """Bones of 2, 2 and 1, T = 2 + 2i. C, at 4, sees T at -2 + 2i, so 135. B, at 2, sees T at 2i and the effector
    at 2 + exp(135i). A turns the rest."""
    target = 2.0 + 2.0j
    c = degrees(target - 4.0)
    b = degrees((target - 2.0) / (2.0 + spun(c)))
    a = degrees(target / (2.0 + spun(b) * (2.0 + spun(c))))
    method = ContributionCCD(about_z(("A", 0, 0), ("B", 0, 0), ("C", 0, 0)), passes=0, sweeps=1, finish=False)
    np.testing.assert_allclose(reach(straight(2, 2, 1), target, method), [a, b, c], atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_no_turn_takes_the_effector_away_from_the_target(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_tree(rng)
    pose = Pose(rotation.exp(rng.normal(size=(len(skeleton), 3))), 0.1 * rng.normal(size=(len(skeleton), 3)))
    tip = len(skeleton) - 1
    goal = Goal(tip, rng.normal(size=3), point=(0.1, 0.2, 0.0))
    before = solve(skeleton, pose, [goal], everything(skeleton, tip, fraction=0.0, sweeps=0, finish=False))
    error = before.position_error[0]
    pose = before.pose
    for one in rng.permutation(np.array(everything(skeleton, tip, 0.0).actuations, object)):
        one = replace(one, fraction=rng.random(), angle=rng.random())
        solution = solve(skeleton, pose, [goal], ContributionCCD((one,), sweeps=0, finish=False))
        assert solution.position_error[0] <= error + 1e-9
        error, pose = solution.position_error[0], solution.pose


# -- any skeleton ------------------------------------------------------------------------------------------------------


def random_tree(rng: np.random.Generator, bones: int = 7, **more: object) -> Skeleton:
    """A chain with side branches: random turns, no length, limits, locks; some do not inherit rotation."""
    parents = [-1] + [bone - int(rng.integers(1, 3)) if bone > 1 else 0 for bone in range(1, bones)]
    offsets = 0.3 * rng.normal(size=(bones, 3))
    offsets[rng.random(bones) < 0.15] = 0.0
    limited = np.flatnonzero(rng.random(bones) < 0.5)
    reach = rng.uniform(0.3, 1.5, (len(limited), 3))
    kinds = EulerBox(limited, ["XYZ"] * len(limited), -reach, reach), EllipticSwing(limited, -reach, reach)
    settings: dict = {
        "limits": (kinds[int(rng.integers(2))],) if len(limited) else (),
        "inherit_rotation": rng.random(bones) > 0.2,
        "rotation_locks": rng.random((bones, 3)) < 0.1,
        "connected": rng.random(bones) < 0.3,
        "local_location": rng.random(bones) < 0.7,
    }
    turns = rotation.normalize(rng.normal(size=(bones, 4)))
    names = [f"b{bone}" for bone in range(bones)]
    return Skeleton(names, parents, offsets, turns, np.ones(bones), **(settings | more))


def everything(skeleton: Skeleton, tip: int, fraction: float = 0.4, **more: object) -> ContributionCCD:
    """All joints that carry a bone, about all axes, from the tip."""
    chain = skeleton.ancestors(tip)
    return ContributionCCD(
        tuple(Actuation(bone, axis, fraction, 0.1 * fraction) for bone in chain for axis in "XYZ"), **more
    )  # type: ignore


def distance(skeleton: Skeleton, pose: Pose, goal: Goal) -> np.ndarray:
    heads, turns = forward(skeleton, pose)
    bone = skeleton.index(goal.bone)
    return np.linalg.norm(
        heads[..., bone, :] + rotation.rotate(turns[..., bone, :], goal.point) - goal.position, axis=-1
    )


def outside(skeleton: Skeleton, pose: Pose) -> float:
    """Radians beyond the limits."""
    worst = [0.0]
    for group in skeleton.limits:
        matrices = rotation.to_matrix(pose.rotations[..., group.bones, :])
        worst.append(float(np.max(np.abs(excess(group, group.coordinates(matrices))))))
    return max(worst)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_errors_are_those_of_the_pose_whatever_bones_inherit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_tree(rng)
    tip = len(skeleton) - 1
    pose = Pose(
        rotation.exp(0.5 * rng.normal(size=(4, len(skeleton), 3))), 0.1 * rng.normal(size=(4, len(skeleton), 3))
    )
    goal = Goal(tip, 0.5 * rng.normal(size=(4, 3)), point=(0.0, 0.3, 0.1))
    for passes, finish in ((1, False), (0, False), (2, True)):
        method = everything(skeleton, tip, passes=passes, finish=finish, sweeps=3)
        solution = solve(skeleton, pose, [goal], method)
        np.testing.assert_allclose(solution.position_error[:, 0], distance(skeleton, solution.pose, goal), atol=1e-9)
        assert outside(skeleton, solution.pose) < 1e-8 or outside(skeleton, pose) > 0.0
        np.testing.assert_array_equal(solution.pose.translations, pose.translations)


@pytest.mark.parametrize("seed", range(8))
def test_many_frames_are_solved_as_each_is_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_tree(rng)
    tip = len(skeleton) - 1
    pose = Pose(rotation.exp(0.5 * rng.normal(size=(3, len(skeleton), 3))), np.zeros((3, len(skeleton), 3)))
    targets = 0.5 * rng.normal(size=(3, 3))
    method = everything(skeleton, tip, mode="mixed", passes=2, sweeps=4)
    together = solve(skeleton, pose, [Goal(tip, targets, point=(0.0, 0.3, 0.1))], method)
    for frame in range(3):
        alone = solve(skeleton, pose[frame], [Goal(tip, targets[frame], point=(0.0, 0.3, 0.1))], method)
        np.testing.assert_allclose(alone.pose.rotations, together.pose.rotations[frame], atol=1e-8)
        assert alone.iterations == together.iterations[frame]
        assert alone.finished == together.finished[frame]


def test_many_frames_of_ball_joints_are_solved_as_each_is_alone() -> None:
    rng = np.random.default_rng(0)
    skeleton = straight(0.3, 0.5, 0.4, 0.2)
    pose = Pose(rotation.exp(0.2 * rng.normal(size=(20, 4, 3))), np.zeros((20, 4, 3)))
    targets = rng.normal(size=(20, 3)) * 0.5
    for more in ({"passes": 0}, {"passes": 0, "sweeps": 0}, {"passes": 2, "sweeps": 2}):
        method = everything(skeleton, 3, **more)
        together = solve(skeleton, pose, [Goal("D", targets)], method)
        for frame in range(20):
            alone = solve(skeleton, pose[frame], [Goal("D", targets[frame])], method)
            np.testing.assert_allclose(alone.pose.rotations, together.pose.rotations[frame], atol=1e-9)
            assert alone.iterations == together.iterations[frame]


def test_bones_scaled_unevenly_reach_as_the_pose_is_evaluated() -> None:
    rng = np.random.default_rng(3)
    skeleton = straight(0.3, 0.5, 0.4)
    scales = rng.uniform(0.9, 1.1, (5, 3, 3))
    pose = Pose(rotation.exp(0.4 * rng.normal(size=(5, 3, 3))), np.zeros((5, 3, 3)), scales)
    there = replace(pose, rotations=rotation.exp(0.6 * rng.normal(size=(5, 3, 3))))
    heads, turns = forward(skeleton, there)
    goal = Goal("C", heads[:, 2] + rotation.rotate(turns[:, 2], (0.0, 0.3, 0.1)), point=(0.0, 0.3, 0.1))
    solution = solve(skeleton, pose, [goal], everything(skeleton, 2))
    assert solution.converged.all()
    np.testing.assert_allclose(solution.position_error[:, 0], distance(skeleton, solution.pose, goal), atol=1e-9)


def test_size_does_not_matter() -> None:
    for size in (0.01, 100.0):
        poses = []
        for unit in (1.0, size):
            skeleton = straight(0.3 * unit, 0.5 * unit, 0.4 * unit)
            goal = Goal("C", [0.3 * unit, 0.4 * unit, 0.2 * unit], point=(0.0, 0.4 * unit, 0.0))
            poses.append(solve(skeleton, Pose.rest(skeleton), [goal], everything(skeleton, 2)).pose.rotations)
        np.testing.assert_allclose(*poses, atol=1e-9)


def test_what_a_driven_bone_decides_is_left_alone() -> None:
    skeleton = straight(1, 1, 1, 1, driven=[False, True, False, False])
    goal = Goal("D", [1.0, 2.5, 0.5], point=(0.0, 1.0, 0.0))
    solution = solve(skeleton, Pose.rest(skeleton), [goal], everything(skeleton, 3))
    assert solution.converged
    np.testing.assert_array_equal(solution.turned()[:2] > 1e-3, False)


# -- limits ------------------------------------------------------------------------------------------------------------

_BOUND = np.radians(30.0)
_WIDE = np.radians([80.0, 80.0, 30.0])


def limit(kind: str) -> object:
    """Limits of bone B about Z at 30 degrees either way."""
    bounds = ([1], -_WIDE[None], _WIDE[None])
    if kind == "euler":
        return EulerBox([1], ["XYZ"], *bounds[1:])
    if kind == "blender":
        return EllipticSwing(*bounds)
    if kind == "order-free":
        return OrderFreeBox(*bounds)
    if kind == "framed":
        turn = rotation.exp([0.3, -0.2, 0.4])
        axis = rotation.inv(turn)
        return Framed(
            OrderFreeBox([1], -_WIDE[None], _WIDE[None]), rotation.IDENTITY[None], rotation.mul(turn, axis)[None]
        )
    side, far = np.sin(0.5 * _BOUND), np.sin(np.radians(40.0))
    corners = [(-far, -side), (far, -side), (far, side), (-far, side)]
    return SwingPolygon([1], [Polygon(corners, [(0, 1, 2), (0, 2, 3)], -np.ones(4), np.ones(4))])


@pytest.mark.parametrize("kind", ["euler", "blender", "order-free", "framed", "polygon"])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_turn_ends_where_a_limit_begins(kind: str, side: float) -> None:
    skeleton = straight(1, 1, limits=(limit(kind),))
    found = reach(skeleton, 1.0 + spun(80.0 * side), only(("B", 100, 0)))
    np.testing.assert_allclose(found, [0.0, 30.0 * side], atol=1e-6)
    free = reach(skeleton, 1.0 + spun(80.0 * side), only(("B", 100, 0), limits=False))
    np.testing.assert_allclose(free, [0.0, 80.0 * side], atol=1e-9)
    little = reach(skeleton, 1.0 + spun(20.0 * side), only(("B", 100, 0)))
    np.testing.assert_allclose(little, [0.0, 20.0 * side], atol=1e-9)


def test_a_turn_does_not_go_through_what_is_forbidden() -> None:
    """A target half a turn away: 120 to 180 degrees are allowed, but not from here."""
    box = EulerBox([1], ["XYZ"], np.radians([[-10.0, -10.0, -240.0]]), np.radians([[10.0, 10.0, 40.0]]))
    found = reach(straight(1, 1, limits=(box,)), 1.0 + spun(150.0), only(("B", 100, 0)))
    np.testing.assert_allclose(found, [0.0, 40.0], atol=1e-6)


def test_a_joint_outside_its_limits_is_brought_in_and_named() -> None:
    skeleton = straight(1, 1, limits=(limit("euler"),))
    pose = Pose(rotation.exp([[0, 0, 0], [0, 0, np.radians(50.0)]]), np.zeros((2, 3)))
    solution = solve(skeleton, pose, [Goal("B", plane(1.0 + spun(60.0)), point=(0, 1, 0))], only(("B", 100, 0)))
    np.testing.assert_allclose(turned(solution.pose), [0.0, 30.0], atol=1e-6)
    assert "B was outside its limits and was moved into them" in solution.explain()


def _framed(kind: type[EulerBox | OrderFreeBox], *rest: object) -> tuple[Framed, np.random.Generator]:
    rng = np.random.default_rng(12)
    box = kind([0], *rest, [[-1.2, -0.9, -np.inf]], [[0.7, 1.3, 2.0]])
    return Framed(box, rotation.exp(rng.normal(size=(1, 3))), rotation.exp(rng.normal(size=(1, 3)))), rng


def test_no_turn_leaves_the_room_that_a_joint_has() -> None:
    group, rng = _framed(OrderFreeBox)
    limits = at_frames((group,), np.zeros(1, int))
    held = 0
    for own in rotation.from_matrix(group.within(rng.uniform(size=(60, 1, 3))))[:, 0]:
        room = find_room(limits, own)
        assert room is not None
        way = max((way for way in np.linspace(0.0, 1.0, 41) if is_within(room, way)), default=0.0)
        held += way > 0.1
        axes = rng.normal(size=(200, 3))
        turns = rotation.exp(way * axes / np.linalg.norm(axes, axis=-1, keepdims=True))
        turned = rotation.to_matrix(rotation.mul(turns, own))[:, None]
        assert not excess(group, group.coordinates(turned)).any()
    assert held > 15  # else nothing was tried


@pytest.mark.parametrize("order", ["XYZ", "YZX", "ZYX"])
def test_a_turn_goes_to_the_first_bound_in_one_frame_as_in_many(order: str) -> None:
    """All parts of the turn are within the limits, and what is a little further is not."""
    group, rng = _framed(EulerBox, [order])
    own = rotation.from_matrix(group.within(rng.uniform(0.05, 0.95, (120, 1, 3))))[:, 0]
    many, one = (at_frames((group,), np.zeros(count, int)) for count in (len(own), 1))
    alone = [EulerTurns(limits) for limits in one]
    for axis in range(3):
        angles = rng.uniform(-np.pi, np.pi, len(own))
        found = allowed(many, own, axis, angles)
        single = [euler_reach(alone, turn, axis, angle) for turn, angle in zip(own.tolist(), angles, strict=True)]
        np.testing.assert_allclose(single, found, atol=1e-10)
        stopped = found != angles
        assert min(stopped.sum(), (~stopped).sum()) > 8  # else nothing was tried
        parts = np.linspace(0.0, 1.0, 300)[:, None, None] * found[:, None] * np.eye(3)[axis]
        turned = rotation.to_matrix(rotation.mul(rotation.exp(parts), own))[:, :, None]
        assert np.abs(excess(group, group.coordinates(turned))).max() < 2e-9
        further = (found + 1e-6 * np.sign(angles))[:, None] * np.eye(3)[axis]
        beyond = rotation.to_matrix(rotation.mul(rotation.exp(further), own))[stopped, None]
        assert np.abs(excess(group, group.coordinates(beyond))).max(axis=(-1, -2)).min() > 0.0


def test_locked_angles_stay() -> None:
    skeleton = straight(1, 1, rotation_locks=[[False] * 3, [True, True, False]], rotation_modes=("QUATERNION", "XYZ"))
    pose = Pose(rotation.from_euler([[0, 0, 0], [0.4, -0.3, 0.1]]), np.zeros((2, 3)))
    goal = Goal("B", [0.5, 1.0, 0.5], point=(0.0, 1.0, 0.0))
    solution = solve(skeleton, pose, [goal], ContributionCCD(tuple(Actuation("B", axis) for axis in "XYZ")))
    angles = rotation.to_euler(solution.pose.rotations[1])
    np.testing.assert_allclose(angles[:2], [0.4, -0.3], atol=1e-6)
    assert abs(angles[2] - 0.1) > 0.1


@pytest.mark.parametrize("frames", [(), (2,)])
def test_a_chain_whose_joints_are_all_locked_stays_and_says_so(frames: tuple[int, ...]) -> None:
    skeleton = straight(1, 1, movable=(False, False))
    goal = Goal("B", (1.0, 1.0, 0.0), point=(0.0, 1.0, 0.0))
    solution = solve(
        skeleton, Pose.rest(skeleton, frames), [goal], ContributionCCD(about_z(("A", 100, 0), ("B", 100, 0)))
    )
    np.testing.assert_array_equal(solution.pose.rotations, Pose.rest(skeleton, frames).rotations)
    assert not solution.converged.any()
    assert "the list cannot rotate B" in " ".join(solution.explain())


def test_limits_hold_through_all_phases(limited: Skeleton) -> None:
    rng = np.random.default_rng(5)
    pose = Pose.rest(limited)
    inside = random_pose(limited, rng, (12,), 0.3)
    heads, _ = forward(limited, inside)
    goal = Goal("hand.R", heads[:, limited.index("hand.R")])
    entries = tuple(Actuation(bone, axis, 0.3, 0.05) for bone in ARM for axis in "XYZ")
    solution = solve(limited, pose, [goal], ContributionCCD(entries, base="clavicle.R"))
    assert outside(limited, solution.pose) < 1e-8
    assert solution.finished.any()
    assert solution.position_error.min() < 1e-3


def bounded(kind: str) -> EulerBox | OrderFreeBox | EllipticSwing | SwingPolygon:
    """Limits of four bones."""
    side = np.radians([[50.0, 40.0, 60.0]])
    match kind:
        case "Euler":
            return EulerBox(range(4), ["XYZ", "ZXY", "YZX", "XZY"], *np.tile([-side, side], (1, 4, 1)))
        case "order-free":
            return OrderFreeBox(range(4), *np.tile([-side, side], (1, 4, 1)))
        case "Blender's":
            return EllipticSwing(range(4), *np.tile([-side, side], (1, 4, 1)))
        case _:
            corners = 0.4 * np.array([[-1.0, -0.7], [1.0, -0.8], [0.8, 1.0], [-0.9, 0.8]])
            return SwingPolygon(range(4), [Polygon(corners, [(0, 1, 2), (0, 2, 3)], [-0.6] * 4, [0.6] * 4)] * 4)


@pytest.mark.parametrize("kind", ["Euler", "order-free", "Blender's", "polygons"])
@pytest.mark.parametrize("frames", [1, 60])
def test_what_is_in_reach_within_limits_is_reached(kind: str, frames: int) -> None:
    """Targets are the tips of random poses within the limits: they are in reach."""
    group, rng = bounded(kind), np.random.default_rng(8)
    skeleton = straight(0.3, 0.5, 0.4, 0.2, limits=(group,))
    inside = rotation.from_matrix(np.array([group.within(shares) for shares in rng.random((60, 4, 3))]))
    heads, turns = forward(skeleton, Pose(inside, np.zeros((60, 4, 3))))
    targets = heads[:, 3] + rotation.rotate(turns[:, 3], np.array([0.0, 0.2, 0.0]))
    method, rest = everything(skeleton, 3, sweeps=0), Pose.rest(skeleton)
    found = [
        solve(skeleton, rest, [Goal("D", some, point=(0.0, 0.2, 0.0))], method)
        for some in np.split(targets, 60 // frames)
    ]
    assert all(solution.converged.all() for solution in found)
    assert max(outside(skeleton, solution.pose) for solution in found) < 1e-8


def test_hinges_are_reached_from_other_starts() -> None:
    """From straight, one target in twenty leads to a local minimum of the limits."""
    upper = np.radians(100.0) * np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]] * 2)
    skeleton = straight(0.15, 0.28, 0.26, 0.1, limits=(EulerBox(range(4), ["XYZ"] * 4, -upper, upper),))
    bent = Pose(rotation.from_euler(0.05 * (upper > 0.0), "XYZ"), np.zeros((4, 3)))
    inside = rotation.from_euler(np.random.default_rng(4).uniform(-upper, upper, (300, 4, 3)), "XYZ")
    heads, turns = forward(skeleton, Pose(inside, np.zeros((300, 4, 3))))
    goal = Goal("D", heads[:, 3] + rotation.rotate(turns[:, 3], np.array([0.0, 0.1, 0.0])), point=(0.0, 0.1, 0.0))
    method = ContributionCCD(tuple(Actuation(bone, axis) for bone, axis in zip("ABCD", "XZXZ", strict=True)))
    solution = solve(skeleton, bent, [goal], method)
    assert solution.converged.all()
    assert outside(skeleton, solution.pose) < 1e-8
    assert np.abs(rotation.to_euler(solution.pose.rotations)[:, upper == 0.0]).max() < 1e-9
    drag = solve(skeleton, bent, [goal], replace(method, restarts=0))
    assert 0.9 < drag.converged.mean() < 0.98
    np.testing.assert_array_equal(drag.pose.rotations[drag.converged], solution.pose.rotations[drag.converged])


# -- targets -----------------------------------------------------------------------------------------------------------


def test_the_finisher_goes_the_rest_of_the_way_and_says_so() -> None:
    rng = np.random.default_rng(1)
    skeleton = straight(0.3, 0.5, 0.4, 0.2)
    pose = Pose(rotation.exp(0.05 * rng.normal(size=(4, 3))), np.zeros((4, 3)))
    way = rng.normal(size=(200, 3))
    targets = way / np.linalg.norm(way, axis=-1, keepdims=True) * rng.uniform(0.3, 1.38, (200, 1))
    goal = Goal("D", targets, point=(0.0, 0.2, 0.0))
    stalled = solve(skeleton, pose, [goal], everything(skeleton, 3, finish=False))
    assert stalled.converged.mean() < 0.99
    assert not stalled.finished.any()
    solution = solve(skeleton, pose, [goal], everything(skeleton, 3))
    assert solution.converged.all()
    assert solution.finished[~stalled.converged].all()
    assert not solution.finished.all()  # where each sweep halves the way, plain CCD goes on
    assert solution.iterations.mean() < 0.7 * stalled.iterations.mean()
    assert any("the rest was solved by least squares" in sentence for sentence in solution.explain())


def test_hinges_are_finished_about_their_own_axes_only() -> None:
    """Planar, so that the finisher has to stay in the plane; plain CCD gets there slowly."""
    skeleton = straight(1, 1, 1)
    method = ContributionCCD(about_z(("A", 20, 0), ("B", 20, 0), ("C", 20, 0)), sweeps=2)
    goal = Goal("C", plane(2.9 * spun(70.0)), point=(0.0, 1.0, 0.0))
    solution = solve(skeleton, Pose.rest(skeleton), [goal], method)
    assert solution.finished
    assert solution.converged
    turned(solution.pose)  # about Z only


def test_out_of_reach_the_chain_stretches_towards_the_target() -> None:
    rng = np.random.default_rng(2)
    skeleton = straight(0.3, 0.5, 0.4)
    pose = Pose(rotation.exp(0.3 * rng.normal(size=(3, 3))), np.zeros((3, 3)))
    goal = Goal("C", [1.0, -1.0, 0.5], point=(0.0, 0.4, 0.0))
    solution = solve(skeleton, pose, [goal], everything(skeleton, 2))
    assert not solution.converged
    assert solution.position_error[0] == pytest.approx(1.5 - 1.2, rel=1e-2)
    assert "fully stretched from A" in solution.explain()[0]
    aligned = everything(skeleton, 2).prepare(skeleton, Pose.rest(skeleton), [Goal("C", [0.0, 0.8, 0.0])])
    aligned.move(np.array([0.0, 2.0, 0.0]))  # no joint has a lever
    assert aligned.solve().explain()[0] == (
        "C is 1.2 short of its target: fully stretched from A. Move the target closer"
    )


def test_a_moving_target_is_followed_from_where_the_chain_is() -> None:
    skeleton = straight(0.3, 0.5, 0.4)
    start = Pose(rotation.exp([[0, 0, 0.4], [0, 0, 0.4], [0, 0, 0.4]]), np.zeros((3, 3)))
    path = np.stack([[0.3 * np.cos(0.05 * i) - 0.5, 0.3 * np.sin(0.05 * i) + 0.2, 0.01 * i] for i in range(30)])
    method = everything(skeleton, 2, successive=True)
    solution = solve(skeleton, start, [Goal("C", path)], method)
    assert solution.converged.all()
    # as a drag does it, tick after tick
    problem = method.prepare(skeleton, start, [Goal("C", path[0])])
    for frame, place in enumerate(path):
        problem.move(place)
        np.testing.assert_allclose(problem.solve().pose.rotations, solution.pose.rotations[frame], atol=1e-8)
    steps = rotation.angle_between(solution.pose.rotations[1:], solution.pose.rotations[:-1])
    assert np.degrees(steps[1:].max()) < 25.0  # no flips
    problem.restart()
    problem.move(path[0])
    np.testing.assert_allclose(problem.solve().pose.rotations, solution.pose.rotations[0], atol=1e-9)


def test_frames_whose_goal_is_off_stay_as_they_are() -> None:
    skeleton = straight(1, 1)
    poses = random_pose(skeleton, np.random.default_rng(0), (3,))
    goal = Goal("B", [[0.5, 1.5, 0.2]] * 3, point=(0, 1, 0), position_weight=np.array([1.0, 0.0, 1.0]))
    for successive in (False, True):
        solution = solve(skeleton, poses, [goal], everything(skeleton, 1, successive=successive))
        np.testing.assert_array_equal(solution.pose.rotations[1], poses.rotations[1])
        assert solution.converged.all()


def test_a_held_hand_stays_put_while_the_shoulder_goes_to_the_target(figure: Skeleton) -> None:
    rng = np.random.default_rng(4)
    pose = random_pose(figure, rng, (6,), 0.15)
    heads, turns = forward(figure, pose)
    hand, effector = figure.index("hand.R"), figure.index("hips")
    goal = Goal("hips", heads[:, effector] + 0.05 * rng.normal(size=(6, 3)))
    entries = tuple(
        Actuation(bone, axis, 0.3, 0.02) for bone in ("hand.R", "forearm.R", "upper_arm.R") for axis in "XYZ"
    )
    solution = solve(figure, pose, [goal], ContributionCCD(entries, base="hand.R"))
    after, stands = forward(figure, solution.pose)
    assert solution.converged.all()
    np.testing.assert_allclose(after[:, hand], heads[:, hand], atol=1e-9)
    np.testing.assert_allclose(rotation.angle_between(stands[:, hand], turns[:, hand]), 0.0, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(after[:, effector] - goal.position, axis=-1), 0.0, atol=2e-4)
    still = [bone for bone, name in enumerate(figure.names) if name not in ("hips", *ARM)]
    np.testing.assert_array_equal(solution.pose.rotations[:, still], pose.rotations[:, still])


def test_a_held_tip_by_hand() -> None:
    """Two bones, B held, the root's head led to (-1, 1): seen from B's head it turns by -90 degrees. So B turns by 90
    against the root, and the root itself by -90."""
    skeleton, goal = straight(1, 1), Goal("A", [-1.0, 1.0, 0.0])
    solution = solve(skeleton, Pose.rest(skeleton), [goal], only(("B", 100, 0), base="B"))
    np.testing.assert_allclose(turned(solution.pose), [-90.0, 90.0], atol=1e-9)
    np.testing.assert_allclose(solution.pose.translations[0], [-1.0, 1.0, 0.0], atol=1e-9)


def test_a_chain_may_go_up_one_branch_and_down_another(limited: Skeleton) -> None:
    pose = Pose.rest(limited)
    heads, turns = forward(limited, pose)
    foot = limited.index("foot.R")
    joints = ("foot.R", "shin.R", "thigh.R", "spine", "chest", "upper_arm.R")
    entries = tuple(Actuation(bone, axis, 0.2) for bone in joints for axis in "XYZ")
    goal = Goal("hand.R", heads[limited.index("hand.R")] + [0.2, -0.3, 0.1])
    solution = solve(limited, pose, [goal], ContributionCCD(entries, base="foot.R"))
    after, stands = forward(limited, solution.pose)
    assert solution.converged
    np.testing.assert_allclose(after[foot], heads[foot], atol=1e-9)
    np.testing.assert_allclose(after[limited.index("hand.R")], goal.position, atol=2e-4)
    np.testing.assert_allclose(rotation.angle_between(stands[foot], turns[foot]), 0.0, atol=1e-7)
    assert outside(limited, solution.pose) < 1e-8


@pytest.mark.parametrize(
    ("lengths", "target", "point"),
    [
        ((1, 1), (0.0, 0.0, 0.0), 1.0),  # on the base
        ((1, 1), (0.0, 1.0, 0.0), 1.0),  # on a joint
        ((1, 0, 1), (0.5, 1.0, 0.0), 1.0),  # a bone of no length
        ((0, 0), (0.5, 1.0, 0.0), 0.0),  # nothing but that
        ((1, 1), (0.0, 1.5, 0.0), 1.0),  # straight, the target on the line
        ((1, 1), (0.0, -3.0, 0.0), 1.0),  # behind
        ((1,), (0.0, -1.0, 0.0), 1.0),
        ((1, 1), (0.0, 2.0, 0.0), 1.0),  # there already
        ((1,), (0.3, 0.0, 0.0), 0.0),  # the effector is on the joint
    ],
)
@pytest.mark.parametrize("frames", [(), (2,)])
def test_degenerate_chains_give_a_pose(lengths: tuple, target: tuple, point: float, frames: tuple) -> None:
    skeleton = straight(*lengths)
    goal = Goal(len(lengths) - 1, np.broadcast_to(target, (*frames, 3)), point=(0.0, point, 0.0))
    for more in ({}, {"passes": 0}, {"passes": 0, "sweeps": 0}):
        solution = solve(skeleton, Pose.rest(skeleton, frames), [goal], everything(skeleton, len(lengths) - 1, **more))
        assert np.isfinite(solution.pose.rotations).all()
        np.testing.assert_allclose(solution.position_error[..., 0], distance(skeleton, solution.pose, goal), atol=1e-9)
        solution.explain()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("frames", [(), (2,)])
def test_a_joint_whose_effector_lies_on_its_axis_stays(seed: int, frames: tuple) -> None:
    rng = np.random.default_rng(seed)
    heads = (np.array([100.0, 100.0, 0.0]) + np.cumsum(0.3 * rng.normal(size=(4, 3)), axis=0)).astype(np.float32)
    rows = [(name, "ABC"[i - 1] if i else None, heads[i], heads[i + 1]) for i, name in enumerate("ABC")]
    skeleton, goal = skeleton_of(rows, rng), Goal("C", heads[2] + 0.3 * rng.normal(size=3))
    pose = Pose.rest(skeleton, frames)
    twist = ContributionCCD([Actuation("B", "Y")], sweeps=0, finish=False)
    np.testing.assert_allclose(solve(skeleton, pose, [goal], twist).pose.rotations, pose.rotations, atol=1e-9)


# -- refusals ----------------------------------------------------------------------------------------------------------


def refused(message: str, skeleton: Skeleton | None = None, goals: list | None = None, **settings: object) -> None:
    skeleton = straight(1, 1, 1) if skeleton is None else skeleton
    goals = [Goal("C", [0.0, 1.0, 0.0])] if goals is None else goals

    def run() -> None:
        method = ContributionCCD(**({"actuations": (Actuation("B", "Z"),)} | settings))  # type: ignore
        solve(skeleton, Pose.rest(skeleton), goals, method)

    with pytest.raises(CoreError, match=message):
        run()


def test_what_cannot_be_done_is_refused_in_a_sentence() -> None:
    nan = float("nan")
    for entry, message in (
        (("B", "W"), 'axis of the actuation of "B" must be "X", "Y" or "Z"'),
        (("B", "X", 1.5), "fraction .* must be between 0 and 1, not 1.5"),
        (("B", "X", nan), "fraction .* must be between 0 and 1, not nan"),
        (("B", "X", 0.5, -1.0), "angle .* must be a number of at least 0"),
        (("B", "X", 0.5, nan), "angle .* must be a number of at least 0"),
        (("B", "X", np.complex128(0.5)), "fraction .* must be between 0 and 1"),
        ((1.5, "X"), "by its name or its number"),
    ):
        with pytest.raises(CoreError, match=message):
            Actuation(*entry)
    refused("has no actuations", actuations=())
    refused("must contain actuations", actuations=("B",))
    refused('No bone "b"', actuations=(Actuation("b", "Z"),))
    refused('mode must be "larger"', mode="largest")
    refused("passes must be at least 0", passes=-1)
    refused("sweeps must be at least 0", sweeps=1.5)
    refused("share must be between", share=nan)
    refused("finish must be True or False", finish="yes")
    refused("position_tolerance must be a positive", position_tolerance=0.0)
    for bends in (np.full((3, 3), nan), np.full((3, 3), "0")):
        with pytest.raises(CoreError, match="bends must be finite numbers"):
            ContributionCCD((Actuation("B", "Z"),), bends=bends)
    refused("one goal with a position", goals=[])
    refused("one goal with a position", goals=[Goal("C", [0, 0, 0.0]), Goal("B", [0, 0, 0.0])])
    refused("solves only the position of .*, without rotation", goals=[Goal("C", [0, 0, 0.0], rotation=[1, 0, 0, 0.0])])
    refused(
        'rotates "C", which is not between "A" and "B"',
        goals=[Goal("B", [0, 0, 0.0])],
        actuations=(Actuation("C", "Z"),),
    )
    refused('rotates "A", which is not between "B" and "C"', base="B", actuations=(Actuation("A", "Z"),))
    fixed = straight(1, 1, 1, translatable=np.zeros((3, 3), bool))
    refused('"C" cannot be held in place: "A" is driven, or its', fixed, [Goal("A", [0, 0, 0.0])], base="C")
    loose = straight(1, 1, 1, inherit_rotation=[True, False, True])
    refused('"C" cannot be held in place: "B" does not inherit rotation', loose, [Goal("A", [0, 0, 0.0])], base="C")
    two = Skeleton(("A", "B", "C"), (-1, -1, 1), np.zeros((3, 3)), [[1.0, 0, 0, 0]] * 3, np.ones(3))
    refused('"A" and "C" are not connected by parents', two, base="A")


def test_targets_that_are_no_numbers_are_refused() -> None:
    skeleton = straight(1, 1)
    problem = everything(skeleton, 1).prepare(skeleton, Pose.rest(skeleton), [Goal("B", [0.5, 1.0, 0.0])])
    for target, message in (
        ([0, np.nan, 0], "not a finite"),
        ([1e31, 0, 0], "not a finite"),
        (["x", 0, 0], "3 numbers"),
    ):
        with pytest.raises(CoreError, match=message):
            problem.move(target)
    with pytest.raises(CoreError, match="not a finite"):
        Goal("B", [0.0, np.nan, 0.0])


def test_a_straight_limb_at_the_end_of_its_range_is_bent_the_way_it_prefers() -> None:
    """The target lies on the other side: no turn of one joint leads to it, and the walk sees no way."""
    one_way = EulerBox([1], ["XYZ"], np.radians([[0.0, 0.0, 0.0]]), np.radians([[0.0, 0.0, 150.0]]))
    skeleton = straight(1, 1, limits=(one_way,))
    target = 1.7 * spun(-25.0)
    plain = ContributionCCD(about_z(("B", 40, 10), ("A", 70, 8)))
    goal = Goal("B", plane(target), point=(0.0, 1.0, 0.0))
    assert not solve(skeleton, Pose.rest(skeleton), [goal], replace(plain, finish=False)).converged
    bends = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.1]])
    solution = solve(skeleton, Pose.rest(skeleton), [goal], replace(plain, bends=bends))
    assert solution.converged
    half = float(np.degrees(np.arccos(0.85)))  # of the bend: two bones of length 1, 1.7 between their ends
    np.testing.assert_allclose(turned(solution.pose), [-25.0 - half, 2.0 * half], atol=0.1)


def test_only_listed_axes_bend() -> None:
    one_way = EulerBox([1], ["XYZ"], np.radians([[-90.0, 0.0, 0.0]]), np.radians([[90.0, 0.0, 150.0]]))
    skeleton = straight(1, 1, limits=(one_way,))
    goal = Goal("B", plane(1.7 * spun(-25.0)), point=(0.0, 1.0, 0.0))
    method = ContributionCCD(about_z(("B", 40, 10), ("A", 70, 8)), bends=np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.1]]))
    turned(solve(skeleton, Pose.rest(skeleton), [goal], method).pose)  # about Z alone


def test_bends_of_another_skeleton_are_refused() -> None:
    skeleton = straight(1, 1)
    method = ContributionCCD(about_z(("B", 40, 10)), bends=np.zeros((3, 3)))
    with pytest.raises(CoreError, match=r"bends must have the shape \(2, 3\), not \(3, 3\)"):
        solve(skeleton, Pose.rest(skeleton), [Goal("B", [0.0, 1.0, 0.0])], method)
