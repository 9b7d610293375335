"""The humanoid method: six points or one, a stable pose, pull, weights, and what it refuses."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core import CoreError, Distance, Goal, Humanoid, LookAt, PinAndDrag, Pose, Skeleton, forward, rotation, solve
from core.body.anatomy import anatomy
from core.limits import EulerBox
from tests.core.rigs import FIGURE, random_pose, skeleton_of
from tests.core.solvers.humanoid.rigs import ALONE, ENDS, MILLIMETRE, place, six_points, turned

pytestmark = pytest.mark.long


def test_six_points_of_a_pose_are_reached_exactly(figure: Skeleton) -> None:
    truth = random_pose(figure, np.random.default_rng(0), (60,), 0.15)
    goals = six_points(figure, truth)
    alone = solve(figure, Pose.rest(figure), goals, ALONE)
    limbs = alone.position_error[:, : ENDS.index("head")]
    assert (limbs < 1e-6).mean() > 0.9
    assert alone.position_error.max() < 10.0 * MILLIMETRE  # a spine that stands straight shortens slowly
    assert alone.rotation_error.max() < 1e-6
    assert solve(figure, Pose.rest(figure), goals, Humanoid()).converged.mean() > 0.99


def test_where_it_stands_already_nothing_moves(figure: Skeleton) -> None:
    pose = random_pose(figure, np.random.default_rng(1), (50,), 0.05)
    ways, bent = anatomy(figure).bends, pose.rotations.copy()
    for bone in ("forearm.L", "forearm.R", "shin.L", "shin.R"):
        bent[:, figure.index(bone)] = rotation.exp(6.0 * ways[figure.index(bone)])
    pose = Pose(bent, pose.translations)
    goals = six_points(figure, pose, ("foot.L", "foot.R", "head", "hips"))
    hand = Goal("hand.L", place(figure, pose, "hand.L"))
    solution = solve(figure, pose, [*goals, hand], ALONE)
    assert solution.converged.all()
    assert turned(solution.pose, pose).max() < 1e-3


def test_the_elbow_goes_where_it_is_wanted(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    hand = Goal("hand.L", np.array([0.4, -0.3, 1.3]))
    for elbow in ([0.4, 0.0, 0.9], [0.7, -0.1, 1.5]):
        wanted = np.array(elbow)
        pose = solve(figure, rest, [hand, Goal("forearm.L", wanted)], Humanoid(finish=False)).pose
        shoulder, middle, end = (place(figure, pose, f"{bone}.L") for bone in ("upper_arm", "forearm", "hand"))
        np.testing.assert_allclose(end, hand.position, atol=1e-9)
        # shoulder, elbow, hand and the wanted place lie in one plane, on one side of the way to the hand
        way = end - shoulder
        across, told = np.cross(way, middle - shoulder), np.cross(way, wanted - shoulder)
        np.testing.assert_allclose(np.cross(across, told), 0.0, atol=1e-9)
        assert across @ told > 0.0


def test_a_swivel_that_is_set_turns_the_elbow_about_the_arm(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    hand = Goal("hand.L", np.array([0.45, -0.25, 1.4]))
    elbows = [
        place(figure, solve(figure, rest, [hand], Humanoid(swivel={"arm.L": s})).pose, "forearm.L")
        for s in (0.0, 0.5, 1.0)
    ]
    shoulder = place(figure, rest, "upper_arm.L")
    axis = (hand.position - shoulder) / np.linalg.norm(hand.position - shoulder)
    for before, after in pairwise(elbows):
        one, two = (e - shoulder - (e - shoulder) @ axis * axis for e in (before, after))
        angle = np.arctan2(np.cross(one, two) @ axis, one @ two)
        assert angle == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_creeping_hand_never_makes_a_joint_jump(figure: Skeleton, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rest = Pose.rest(figure)
    t = np.linspace(0.0, 1.0, 800)[:, None]
    way = np.sin(2.0 * np.pi * t) * rng.uniform(-0.5, 0.5, 3) + t * rng.uniform(-0.5, 0.3, 3)
    path = place(figure, rest, "hand.R") + way
    goals = [*six_points(figure, rest, ("foot.L", "foot.R")), Goal("hand.R", path)]
    solution = solve(figure, rest, goals, ALONE)
    step = np.linalg.norm(np.diff(path, axis=0), axis=1).max()
    turns = np.degrees(rotation.angle_between(solution.pose.rotations[1:], solution.pose.rotations[:-1]))
    assert turns.max() < 2000.0 * step  # 2 degrees for a millimetre


def test_a_batch_is_its_frames_one_by_one(figure: Skeleton) -> None:
    truth = random_pose(figure, np.random.default_rng(5), (6,), 0.2)
    goals = six_points(figure, truth)
    whole = solve(figure, Pose.rest(figure), goals, ALONE).pose
    for frame in range(6):
        alone = solve(figure, Pose.rest(figure), [goal.at((frame,), (6,)) for goal in goals], ALONE).pose
        assert turned(alone, whole[frame]).max() < 0.01


def test_a_figure_that_lies_elsewhere_takes_the_same_pose(figure: Skeleton) -> None:
    rest, turn, shift = Pose.rest(figure), rotation.exp([0.3, -1.1, 0.7]), np.array([2.0, -1.0, 0.5])
    target = place(figure, rest, "hand.L") + np.array([0.1, -0.3, -0.3])
    here = solve(figure, rest, [*six_points(figure, rest, ("foot.L", "foot.R")), Goal("hand.L", target)], ALONE).pose
    heads, frames = forward(figure, rest)
    own = rotation.mul(rotation.inv(frames[0]), rotation.mul(turn, frames[0]))
    rotations, translations = rest.rotations.copy(), rest.translations.copy()
    rotations[0] = own
    moved = rotation.rotate(turn, heads[0]) + shift
    translations[0] = rotation.rotate(rotation.inv(figure.rest_rotations[0]), moved - figure.offsets[0])
    start = Pose(rotations, translations)
    goals = [*six_points(figure, start, ("foot.L", "foot.R")), Goal("hand.L", rotation.rotate(turn, target) + shift)]
    there = solve(figure, start, goals, ALONE).pose
    assert turned(here, there)[1:].max() < 0.01


def test_half_a_weight_goes_half_the_way(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    start = place(figure, rest, "hand.L")
    target = start + np.array([-0.3, -0.2, 0.1])
    pose = solve(figure, rest, [Goal("hand.L", target, position_weight=0.5)], ALONE).pose
    np.testing.assert_allclose(place(figure, pose, "hand.L"), 0.5 * (start + target), atol=1e-6)


def test_twist_of_the_hand_is_shared_with_the_forearm(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    hand = figure.index("hand.L")
    heads, turns = forward(figure, rest)
    for degrees in (40.0, 80.0):
        twist = rotation.mul(turns[hand], rotation.exp([0.0, np.radians(degrees), 0.0]))
        pose = solve(figure, rest, [Goal("hand.L", heads[hand], twist)], ALONE).pose
        assert turned(pose, rest)[figure.index("forearm.L")] == pytest.approx(0.5 * degrees, abs=1.0)


def test_limits_of_the_user_hold_and_the_rest_is_finished_by_pins() -> None:
    bone = [row[0] for row in FIGURE].index("upper_arm.L")
    box = EulerBox(np.array([bone]), ["XYZ"], np.full((1, 3), -0.5), np.full((1, 3), 0.5))
    figure = skeleton_of(FIGURE, limits=(box,))
    target = place(figure, Pose.rest(figure), "hand.L") + np.array([-0.3, -0.3, -0.3])
    solution = solve(figure, Pose.rest(figure), [Goal("hand.L", target)], Humanoid())
    assert solution.converged
    angles = rotation.to_euler(solution.pose.rotations[bone], "XYZ")
    assert np.abs(angles).max() < 0.5 + 1e-6


@pytest.mark.parametrize(
    ("goals", "why"),
    [
        ([], "no goal"),
        ([Goal("upper_arm.L", np.zeros(3))], 'no target for "upper_arm.L"'),
        ([Goal("hand.L", np.zeros(3)), Goal("hand.L", np.ones(3))], "two targets of the same kind"),
        ([Goal("hand.L", np.zeros(3), relative_to="head")], "in armature space"),
        ([LookAt("head", np.ones(3))], "in armature space"),
        ([Goal("hand.L", np.zeros(3), position_axes=np.array([0.0, 0.0, 1.0]))], "in armature space"),
        ([Goal("hand.L", velocity=np.ones(3))], "does not support velocities"),
        ([Goal("hnad.L", np.zeros(3))], "did you mean"),
    ],
)
def test_what_it_has_no_use_for_is_refused(figure: Skeleton, goals: list[Goal], why: str) -> None:
    with pytest.raises(CoreError, match=why):
        solve(figure, Pose.rest(figure), goals, ALONE)


@pytest.mark.parametrize("setting", ["pull", "resist", "swivel"])
def test_a_wrong_name_in_a_setting_is_refused(figure: Skeleton, setting: str) -> None:
    method = Humanoid(**{setting: {"tail": 1.0}})
    with pytest.raises(CoreError, match=f'"tail" is not a part that {setting} can have'):
        solve(figure, Pose.rest(figure), [Goal("hand.L", np.zeros(3))], method)


def test_a_body_that_is_none_is_refused() -> None:
    snake = skeleton_of([(str(i), None if i == 0 else str(i - 1), (0, i, 0), (0, i + 1, 0)) for i in range(8)])
    with pytest.raises(CoreError, match="No human body"):
        solve(snake, Pose.rest(snake), [Goal("7", np.zeros(3))], Humanoid())


@pytest.mark.parametrize("held", [(), ("foot.L", "foot.R", "hand.L")])
@pytest.mark.parametrize("bone", ["spine", "neck", "clavicle.L", "upper_arm.L", "thigh.R", "forearm.R"])
def test_targets_of_any_part_are_met_alone_and_with_hands_and_feet(
    figure: Skeleton, bone: str, held: tuple[str, ...]
) -> None:
    relaxed = anatomy(figure).reference
    way = 0.06 * np.array([[0.3, -0.8, -0.5], [0.5, 0.5, -0.7], [-0.4, -0.9, -0.1]])
    turn = rotation.exp(np.array([0.1, -0.2, 0.15]))
    heads, turns = forward(figure, relaxed)
    index = figure.index(bone)
    wanted = rotation.mul(turn, turns[index]) if not held else None  # which a held hand or foot may forbid
    goals = [Goal(bone, heads[index] + way, wanted), *six_points(figure, relaxed, held)]
    solution = solve(figure, relaxed, goals, Humanoid())
    assert solution.converged.all(), solution.explain()
    np.testing.assert_allclose(place(figure, solution.pose, bone), goals[0].position, atol=0.2 * MILLIMETRE)
    for frame in range(len(way)):  # an answer is a frame's own
        alone = solve(figure, relaxed, [goal.at((frame,), (len(way),)) for goal in goals], Humanoid()).pose
        assert turned(alone, solution.pose[frame]).max() < 0.01


def test_looks_distances_and_places_beside_other_bones_are_met_with_hands_and_feet(figure: Skeleton) -> None:
    relaxed = anatomy(figure).reference
    hand = Goal("hand.L", place(figure, relaxed, "hand.L") + np.array([0.0, -0.3, 0.2]))
    feet = six_points(figure, relaxed, ("foot.L", "foot.R"))
    look = LookAt("head", np.array([0.4, -1.5, 1.2]), axis=rotation.rotate(
        rotation.inv(forward(figure, relaxed)[1][figure.index("head")]), np.array([0.0, -1.0, 0.0])))  # fmt: skip
    apart = Distance("hand.R", "hand.L", 0.3)
    beside = Goal("hand.R", np.array([0.05, 0.1, -0.1]), relative_to="head")
    level = Goal("hand.R", np.array([0.0, 0.0, 1.3]), position_axes=np.array([0.0, 0.0, 1.0]))
    for more in ([look], [apart], [beside], [level], [look, apart]):
        solution = solve(figure, relaxed, [hand, *feet, *more], Humanoid())
        assert solution.converged, solution.explain()
        hands = [place(figure, solution.pose, f"hand.{side}") for side in "LR"]
        np.testing.assert_allclose(hands[0], hand.position, atol=0.2 * MILLIMETRE)
        if apart in more:
            assert np.linalg.norm(hands[1] - hands[0]) == pytest.approx(0.3, abs=0.2 * MILLIMETRE)
        if more == [level]:
            assert hands[1][2] == pytest.approx(1.3, abs=0.2 * MILLIMETRE)


def test_a_drag_leads_what_closed_forms_do_not_know_and_comes_home(figure: Skeleton) -> None:
    relaxed = anatomy(figure).reference
    start = place(figure, relaxed, "upper_arm.L")
    look = LookAt("head", np.array([0.4, -1.5, 1.2]))
    goals = [Goal("upper_arm.L", start), *six_points(figure, relaxed, ("foot.L", "foot.R"))]
    drag = Humanoid().prepare(figure, relaxed, goals)
    t = np.linspace(0.0, 2.0 * np.pi, 9)
    poses = []
    for way in 0.05 * np.stack([np.sin(t), np.cos(t) - 1.0, -np.sin(0.5 * t)], axis=-1):
        drag.move(0, start + way)
        solution = drag.solve()
        assert solution.converged
        poses.append(solution.pose)
    assert turned(poses[-1], relaxed).max() < 0.01
    with pytest.raises(CoreError, match="no position to move"):
        Humanoid().prepare(figure, relaxed, [look]).move(0, start)


@pytest.mark.parametrize(
    ("bone", "first", "last", "held", "most"),
    [  # through the edge of what can be met, where joints go as the root of the way, and through what limits hold
        ("hand.R", (0.4695, 0.5474, -0.1238), (0.4687, 0.5509, -0.1281), ENDS, 4.0),
        ("head", (-0.0068, -0.0774, -0.2318), (-0.0008, -0.0687, -0.2327), ("foot.L", "foot.R", "hips"), 2.0),
    ],
)
def test_what_is_finished_within_limits_follows_a_creeping_target(
    figure: Skeleton, bone: str, first: tuple[float, ...], last: tuple[float, ...], held: tuple[str, ...], most: float
) -> None:
    skeleton = replace(figure, limits=anatomy(figure).ranges) if bone == "head" else figure
    relaxed = anatomy(skeleton).reference
    way = np.linspace(first, last, int(np.ceil(np.linalg.norm(np.subtract(last, first)) / (0.5 * MILLIMETRE))) + 1)
    goals = six_points(skeleton, relaxed, tuple(end for end in held if end != bone))
    poses = solve(skeleton, relaxed, [*goals, Goal(bone, place(skeleton, relaxed, bone) + way)], Humanoid()).pose
    assert turned(poses[1:], poses[:-1]).max() < most


# places are added to those of the relaxed pose
@pytest.mark.parametrize(
    ("goals", "held", "limited", "most"),
    [  # out of reach, steps of next to nothing; and of a millimetre where a body is pressed together and buckles
        ({"hand.R": [(-0.124469658, -0.1486054, -0.027337831), (-0.124469658, -0.1486056, -0.027337831)]}, ENDS,
         False, 1e-3),
        ({"head": [(0.002119289, -0.088807218, 0.014902329), (0.002119282, -0.088807216, 0.014902311)],
          "hips": [(0.050953216, -0.015780384, -0.004250268), (0.050953218, -0.015780381, -0.004250287)]},
         ("foot.L", "foot.R"), False, 1e-3),
        ({"head": [(-0.01, 0.2067, -0.1606), (-0.0098, 0.2077, -0.1608), (-0.0096, 0.2087, -0.1609)],
          "hips": [(-0.0033, -0.0141, 0.0837), (-0.0035, -0.0146, 0.0846), (-0.0036, -0.0152, 0.0854)]},
         ("foot.L", "foot.R"), True, 2.0),
    ],
)  # fmt: skip
def test_bodies_that_are_out_of_reach_rest_alike_where_their_goals_are_near(
    figure: Skeleton, goals: dict[str, list[tuple[float, ...]]], held: tuple[str, ...], limited: bool, most: float
) -> None:
    skeleton = replace(figure, limits=anatomy(figure).ranges) if limited else figure
    relaxed = anatomy(skeleton).reference
    wanted = [Goal(bone, place(skeleton, relaxed, bone) + np.array(way)) for bone, way in goals.items()]
    wanted += six_points(skeleton, relaxed, tuple(end for end in held if end not in goals))
    pose = solve(skeleton, relaxed, wanted, Humanoid()).pose
    assert turned(pose[1:], pose[:-1]).max() < most


def test_the_neck_jumps_only_where_both_of_its_ways_are_as_far_from_the_start(figure: Skeleton) -> None:
    skeleton = replace(figure, limits=anatomy(figure).ranges)
    known = anatomy(skeleton)
    relaxed, tiny = known.reference, 1e-9
    aside = np.array([-20.0, -10.0, -1.0, -1e-2, -tiny, tiny, 1e-2, 1.0, 10.0, 20.0]) * MILLIMETRE
    down = place(skeleton, relaxed, "head") + np.stack([aside, 0.0 * aside, 0.0 * aside - 0.06], axis=-1)
    goals = [*six_points(skeleton, relaxed, ("foot.L", "foot.R", "hips")), Goal("head", down)]
    solution = solve(skeleton, relaxed, goals, Humanoid())
    assert solution.converged.all()
    turns = turned(solution.pose[1:], solution.pose[:-1]).max(axis=1)
    assert turns[4] > 30.0  # within two millionths of a millimetre, across the plane that halves the body
    steps = np.diff(aside) / MILLIMETRE
    near = [
        3,
        4,
        5,
    ]  # within a hundredth of a millimetre, a neck has begun to bend before the edge of reach, or not yet
    assert (np.delete(turns, near) < 2.0 * np.delete(steps, near)).all()
    # on either side of it one pose is the mirror image of the other: none is nearer to what closed forms found, where
    # it is to stay near
    begun = solve(skeleton, relaxed, goals, ALONE).pose
    away = rotation.log(rotation.mul(rotation.inv(begun.rotations), solution.pose.rotations))
    far = np.sum((rotation.rotate(rotation.inv(known.axes), away) / known.deviations) ** 2, axis=(1, 2))
    assert far[4] == pytest.approx(far[5], rel=1e-6)
    heads = forward(skeleton, solution.pose)[0]
    sides = [name.translate(str.maketrans("LR", "RL")) if "." in name else name for name in skeleton.names]
    mirrored = heads[:, [skeleton.index(name) for name in sides]] * np.array([-1.0, 1.0, 1.0])
    np.testing.assert_allclose(mirrored[4], heads[5], atol=0.01 * MILLIMETRE)


def test_locked_angles_stay_and_the_rest_of_the_body_makes_up_for_them(figure: Skeleton) -> None:
    """A knee that bends but in its hinge, and a hand that may not be turned at all."""
    rest, shins = Pose.rest(figure), [figure.index(f"shin.{side}") for side in "LR"]
    locks, movable = np.zeros((len(figure), 3), bool), np.ones(len(figure), bool)
    for shin in shins:
        locks[shin] = np.arange(3) != np.argmax(np.abs(anatomy(figure).bends[shin]))
    movable[figure.index("hand.L")] = False
    locked = replace(figure, rotation_locks=locks, movable=movable)
    goals = six_points(locked, rest, ("foot.L", "foot.R"))
    goals.append(Goal("hips", place(locked, rest, "hips") - np.array([0.0, 0.0, 0.3])))
    hand = Goal(
        "hand.L", rotation=rotation.mul(rotation.exp([0.0, 0.0, 0.6]), forward(locked, rest)[1][figure.index("hand.L")])
    )
    solution = solve(locked, rest, [*goals, hand], Humanoid())
    assert solution.converged
    angles = rotation.to_euler(solution.pose.rotations, "XYZ")
    assert np.abs(angles[locks]).max() < 1e-6
    assert np.abs(angles[shins]).max() > 0.5
    np.testing.assert_array_equal(solution.pose.rotations[~movable], rest.rotations[~movable])


@pytest.mark.parametrize("method", [Humanoid(), PinAndDrag(), PinAndDrag(restarts=0, settle=False)])
def test_a_body_that_is_locked_all_over_stays_and_says_so(figure: Skeleton, method: Humanoid | PinAndDrag) -> None:
    locked = replace(figure, movable=np.zeros(len(figure), bool), translatable=np.zeros((len(figure), 3), bool))
    rest = Pose.rest(locked)
    goals = [*six_points(locked, rest, ("foot.L", "foot.R")), Goal("hand.L", place(locked, rest, "head"), priority=1)]
    problem = method.prepare(locked, rest, goals)
    for solution in (solve(locked, rest, goals, method), problem.solve(), problem.relax()):
        np.testing.assert_array_equal(solution.pose.rotations, rest.rotations)
        assert solution.reasons(2) == ["neither it nor its parents can be changed"]


def test_goals_that_are_met_already_move_nothing_at_all(figure: Skeleton) -> None:
    """Rounding turned four bones by less than 0.01 degrees, and they were keyed."""
    pose = random_pose(figure, np.random.default_rng(8), (3,), 0.05)
    goals = six_points(figure, pose, ("foot.L", "foot.R"))
    solution = solve(figure, pose, goals, Humanoid())
    np.testing.assert_array_equal(solution.pose.rotations, pose.rotations)
    np.testing.assert_array_equal(solution.pose.translations, pose.translations)
    bent = solve(figure, pose, goals, Humanoid(swivel={"leg.L": 0.5}))
    assert turned(bent.pose, pose)[:, figure.index("thigh.L")].min() > 1.0
