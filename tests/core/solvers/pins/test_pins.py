"""What the pins solver promises, on figures and on random trees."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import Balance, CoreError, EulerBox, Goal, PinAndDrag, Pose, Skeleton, forward, rotation, solve
from core.body.anatomy import anatomy, with_anatomy
from core.limits import excess
from core.solvers.pins import Root, numbers
from core.solvers.pins.goals.rows import GoalRows
from tests.core.rigs import FIGURE, random_pose, skeleton_of
from tests.core.solvers.pins.rigs import MILLIMETRE, largest_turn, outside, pins, random_tree, reachable


@pytest.mark.long
def test_reachable_goals_are_met_within_the_limits(limited: Skeleton) -> None:
    goals = reachable(limited, ("foot.L", "foot.R", "hand.L", "hand.R", "head"), np.random.default_rng(0), (200,))
    solution = solve(limited, Pose.rest(limited), goals)
    assert solution.pose.batch_shape == (200,)
    assert np.mean(solution.converged) >= 0.975  # 0.98: the others end in local minima, restarts are a later issue
    assert outside(limited, solution.pose) < 1e-8
    assert solve(limited, Pose.rest(limited), goals, PinAndDrag(limits=False)).converged.all()


def test_errors_in_the_solution_are_those_of_its_pose(limited: Skeleton) -> None:
    goals = reachable(limited, ("foot.L", "hand.R"), np.random.default_rng(1), (20,))
    goals[1] = Goal("hand.R", goals[1].position + 0.4, point=(0.01, 0.05, 0.0))
    for method in (PinAndDrag(), PinAndDrag(iterations=1)):
        solution = solve(limited, Pose.rest(limited), goals, method)
        heads, turns = forward(limited, solution.pose)
        for number, goal in enumerate(goals):
            bone = limited.index(goal.bone)
            point = heads[:, bone] + rotation.rotate(turns[:, bone], goal.point)
            np.testing.assert_allclose(
                solution.position_error[:, number], np.linalg.norm(point - goal.position, axis=-1), atol=1e-9
            )
            if goal.rotation is not None:
                np.testing.assert_allclose(
                    solution.rotation_error[:, number], rotation.angle_between(turns[:, bone], goal.rotation), atol=2e-6
                )


def test_one_frame_is_a_batch_of_one(limited: Skeleton) -> None:
    rng = np.random.default_rng(2)
    for _ in range(5):
        goals = reachable(limited, ("foot.L", "foot.R", "hand.L"), rng)
        goals.append(Goal("hand.R", [-0.5, -0.3, rng.uniform(0.8, 1.6)], priority=1))
        alone = solve(limited, Pose.rest(limited), goals)
        twice = [
            Goal(
                g.bone,
                np.stack([g.position] * 2),
                None if g.rotation is None else np.stack([g.rotation] * 2),
                priority=g.priority,
            )
            for g in goals
        ]
        batch = solve(limited, Pose.rest(limited), twice)
        assert alone.pose.batch_shape == ()
        assert bool(alone.converged) == bool(batch.converged[0])
        assert largest_turn(alone.pose, batch.pose[0]) < 1e-4
        # not the same bytes: with AVX-512 OpenBLAS rounds a product by where its rows lie in memory
        np.testing.assert_allclose(batch.pose.rotations[0], batch.pose.rotations[1], rtol=0.0, atol=1e-7)


def test_the_same_input_gives_the_same_bytes(limited: Skeleton) -> None:
    goals = reachable(limited, ("foot.L", "hand.R", "head"), np.random.default_rng(3), (5,))
    one, two = (solve(limited, Pose.rest(limited), goals).pose for _ in range(2))
    assert one.rotations.tobytes() == two.rotations.tobytes()
    assert one.translations.tobytes() == two.translations.tobytes()


def test_inputs_stay_as_they_were(limited: Skeleton) -> None:
    pose = random_pose(limited, np.random.default_rng(4))
    before = pose.rotations.tobytes(), pose.translations.tobytes()
    solve(limited, pose, [Goal("hand.L", [0.3, -0.4, 1.2])])
    assert before == (pose.rotations.tobytes(), pose.translations.tobytes())


@pytest.mark.parametrize("reach", [0.3, 0.8, 2.0])
def test_a_drag_out_of_reach_moves_no_pin(limited: Skeleton, reach: float) -> None:
    rest = Pose.rest(limited)
    held = pins(limited, rest, "foot.L", "foot.R")
    drag = Goal("hand.R", forward(limited, rest)[0][limited.index("hand.R")] + [-reach, -reach, 0.0], priority=1)
    solution = solve(limited, rest, [*held, drag])
    assert np.max(solution.position_error[:2]) < 0.1 * MILLIMETRE
    assert np.degrees(np.max(solution.rotation_error[:2])) < 0.02
    if reach == 2.0:
        assert not solution.converged
        assert solution.position_error[2] > 0.5


def test_when_the_drag_wins_the_pins_give_way(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    held = pins(limited, rest, "foot.L", "foot.R", priority=1)
    drag = Goal("hand.R", [-1.5, -0.8, 1.4], priority=0)
    solution = solve(limited, rest, [*held, drag])
    assert solution.position_error[2] < MILLIMETRE
    assert np.max(solution.position_error[:2]) > 0.05


def test_an_arm_out_of_reach_points_straight_at_its_target() -> None:
    rows = [("a", None, (0, 0, 0), (0, 0, 1)), ("b", "a", (0, 0, 1), (0, 0.1, 2)), ("c", "b", (0, 0.1, 2), (0, 0, 2.5))]
    skeleton = skeleton_of(rows)
    target = np.array([3.0, 1.0, 0.5])
    solution = solve(skeleton, Pose.rest(skeleton), [Goal("c", target)], PinAndDrag(root="translate"))
    assert solution.converged  # the root may come along
    fixed = skeleton_of(rows, translatable=np.zeros((3, 3), bool))
    solution = solve(fixed, Pose.rest(fixed), [Goal("c", target)])
    assert not solution.converged
    reach = 1.0 + np.hypot(0.1, 1.0)
    assert solution.position_error[0] == pytest.approx(np.linalg.norm(target) - reach, rel=0.01)


def test_contradictory_goals_of_one_priority_share_the_error_by_weight() -> None:
    skeleton = skeleton_of([("a", None, (0, 0, 0), (0, 0, 1))])
    for weight in (1.0, 3.0):
        goals = [Goal("a", [0.0, 0.0, 0.0], position_weight=weight), Goal("a", [1.0, 0.0, 0.0])]
        solution = solve(skeleton, Pose.rest(skeleton), goals)
        assert solution.position_error[0] == pytest.approx(1.0 / (1.0 + weight), abs=0.01)
        assert solution.position_error[1] == pytest.approx(weight / (1.0 + weight), abs=0.01)


def test_root_settings_hold_the_root(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    for root, turns, shifts in (("free", True, True), ("translate", False, True), ("fixed", False, False)):
        solution = solve(limited, rest, [Goal("hand.L", [0.9, -0.9, 1.0])], PinAndDrag(root=root))
        hips = limited.index("hips")
        assert bool(np.any(solution.pose.translations[hips] != 0.0)) == shifts
        assert (float(rotation.angle_between(solution.pose.rotations[hips], rotation.IDENTITY)) > 1e-6) == turns


def test_locked_angles_and_immovable_bones_stay() -> None:
    rng = np.random.default_rng(5)
    names = [row[0] for row in FIGURE]
    locks = np.zeros((len(names), 3), bool)
    locks[names.index("forearm.L")] = [False, True, True]
    movable = np.ones(len(names), bool)
    movable[names.index("chest")] = False
    modes = ["XYZ"] * len(names)
    skeleton = skeleton_of(FIGURE, rotation_locks=locks, movable=movable, rotation_modes=modes)
    start = random_pose(skeleton, rng)
    solution = solve(skeleton, start, [Goal("hand.L", [0.4, -0.4, 1.3])])
    assert solution.converged
    arm, chest = names.index("forearm.L"), names.index("chest")
    before, after = (rotation.to_euler(p.rotations[arm]) for p in (start, solution.pose))
    np.testing.assert_allclose(before[1:], after[1:], atol=1e-8)
    assert abs(before[0] - after[0]) > 1e-4
    np.testing.assert_array_equal(start.rotations[chest], solution.pose.rotations[chest])


def test_bones_that_move_no_goal_keep_their_channels(figure: Skeleton) -> None:
    start = random_pose(figure, np.random.default_rng(6))
    solution = solve(figure, start, [Goal("hand.L", [0.4, -0.4, 1.3])])
    for name in ("hand.R", "thigh.L", "head"):
        np.testing.assert_array_equal(solution.pose.rotations[figure.index(name)], start.rotations[figure.index(name)])


def test_a_start_outside_its_limits_is_brought_in(limited: Skeleton) -> None:
    start = random_pose(limited, np.random.default_rng(7), (), 1.5)
    assert outside(limited, start) > 0.5
    chain = {bone for name in ("hand.L", "foot.R") for bone in limited.ancestors(limited.index(name))}
    goals = reachable(limited, ("hand.L", "foot.R"), np.random.default_rng(8))
    solution = solve(limited, start, goals)
    own = rotation.to_matrix(solution.pose.rotations)
    for group in limited.limits:
        beyond = excess(group, group.coordinates(own[group.bones]))
        assert np.max(np.abs(beyond[np.isin(group.bones, list(chain))])) < 1e-8
    assert solution.converged


@pytest.mark.parametrize("settle", [True, False])
def test_a_bound_that_no_longer_holds_is_released(figure: Skeleton, settle: bool) -> None:
    bones = np.arange(1, len(figure))
    reach = np.full((len(bones), 3), np.radians(8.0))
    limited = skeleton_of(FIGURE, limits=(EulerBox(bones, ["XYZ"] * len(bones), -reach, reach),))
    rest = Pose.rest(limited)
    held = pins(limited, rest, "foot.L", "foot.R")
    goal = Goal("hand.L", [0.9, -0.1, 1.5], priority=1)
    problem = PinAndDrag(settle=settle).prepare(limited, rest, [*held, goal])
    far = problem.solve()
    assert np.any(far.limits_active)
    problem.move(2, position=forward(limited, rest)[0][limited.index("hand.L")])
    home = problem.solve()
    assert home.converged
    if settle:
        assert not np.any(home.limits_active)
        assert largest_turn(home.pose, rest) < 0.1


def test_a_closed_path_comes_home_and_a_creeping_target_makes_no_jump(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    start = forward(limited, rest)[0][limited.index("hand.R")]
    held = pins(limited, rest, "foot.L", "foot.R")
    problem = PinAndDrag().prepare(limited, rest, [*held, Goal("hand.R", start, priority=1)])
    before = problem.solve().pose
    for angle in np.linspace(0.0, 2.0 * np.pi, 90)[1:]:
        offset = 0.25 * np.array([np.sin(angle), np.cos(angle) - 1.0, 0.5 * np.sin(2.0 * angle)])
        problem.move(2, position=start + offset)
        pose = problem.solve().pose
        assert largest_turn(pose, before) < 25.0
        before = pose
    assert largest_turn(before, rest) < 0.1


def test_a_drag_of_small_steps_follows_the_pointer(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    start = forward(limited, rest)[0][limited.index("hand.R")]
    method = PinAndDrag(settle=False, position_tolerance=MILLIMETRE)
    goals = [*pins(limited, rest, "foot.L", "foot.R"), Goal("hand.R", start, priority=1)]
    problem = method.prepare(limited, rest, goals)
    steps = []
    for angle in np.linspace(0.0, 2.0 * np.pi, 120):
        problem.move(2, position=start + 0.3 * np.array([np.sin(angle), np.cos(angle) - 1.0, 0.0]))
        solution = problem.solve()
        assert solution.converged
        steps.append(int(solution.iterations))
    assert np.mean(steps) < 3.0


def test_a_body_that_stretches_is_turned_without_a_position(figure: Skeleton) -> None:
    """And to where a rigid one turns: no length changes an orientation."""
    start, turn = Pose.rest(figure), rotation.exp([0.4, 0.2, -0.3])
    longer = replace(figure, stretch=np.full(len(figure), 0.5))
    one, two = (solve(body, start, [Goal("hand.R", None, turn)], PinAndDrag(stretch=True)) for body in (figure, longer))
    assert two.converged
    assert largest_turn(one.pose, two.pose) < 1e-3
    np.testing.assert_allclose(two.pose.scales, 1.0, atol=1e-9)


def test_a_tick_turns_joints_by_so_much_for_each_centimetre(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    hand = forward(limited, rest)[0][limited.index("hand.R")]
    goals = [*pins(limited, rest, "foot.L", "foot.R"), Goal("hand.R", hand, priority=1)]
    turned: list[list[float]] = []
    for turn in (np.inf, np.radians(0.1)):
        problem = PinAndDrag(settle=False, turn=float(turn)).prepare(limited, rest, goals)
        before, turns = rest, list[float]()
        for way in (0.01, 0.21, 0.21):  # a centimetre, twenty of them, and a still mouse
            problem.move(2, position=hand + way * limited.size * np.array([0.0, 0.6, 0.8]))
            after = problem.solve().pose
            turns.append(largest_turn(before, after))
            before = after
        turned.append(turns)
    free, capped = turned
    assert free[0] > 0.2
    assert free[1] > 4.0
    np.testing.assert_array_less(capped, [0.11, 2.2, 0.11])
    np.testing.assert_array_less([0.09, 1.5, 0.09], capped)


def test_the_lean_form_keeps_limits_and_does_the_same_about_any_axes() -> None:
    """Deviations are alike about all axes here, so that other axes are only other numbers for the same drag."""
    rng = np.random.default_rng(12)
    bones, reach = np.arange(1, len(FIGURE)), np.full((len(FIGURE) - 1, 3), np.radians(20.0))
    limited = skeleton_of(FIGURE, limits=(EulerBox(bones, ["ZYX"] * len(bones), -reach, reach),))
    rest = Pose.rest(limited)
    hand = forward(limited, rest)[0][limited.index("hand.R")]
    goals = [*pins(limited, rest, "foot.L", "foot.R"), Goal("hand.R", hand, priority=1)]
    axes = None, rotation.normalize(rng.normal(size=(len(limited), 4)))
    problems = [PinAndDrag(root="fixed", settle=False, axes=some).prepare(limited, rest, goals) for some in axes]
    assert all(problem.state.frame is not None for problem in problems)
    held = 0
    for share in np.linspace(0.0, 1.0, 40):
        for problem in problems:
            problem.move(2, position=hand + share * np.array([0.7, 0.5, -0.2]))
        one, two = (problem.solve() for problem in problems)
        held += int(np.any(one.limits_active))
        for group in limited.limits:
            values = group.coordinates(rotation.to_matrix(one.pose.rotations[group.bones]))
            assert np.max(np.abs(excess(group, values))) <= numbers.NEARLY
        assert int(one.iterations) == int(two.iterations)
        assert largest_turn(one.pose, two.pose) < 1e-3
    assert held > 10
    assert one.converged


def test_the_lean_form_follows_targets_that_turn(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    heads, frames = forward(limited, rest)
    hand = limited.index("hand.R")
    goals = [*pins(limited, rest, "foot.L", "foot.R"), Goal("hand.R", heads[hand], frames[hand], priority=1)]
    problem = PinAndDrag(root="translate", settle=False).prepare(limited, rest, goals)
    assert problem.state.frame is not None
    for degrees in (3.0, 10.0, 40.0, 5.0):  # some of them by more than what errors are read from at once
        turn = rotation.mul(rotation.from_axis_angle(np.array([0.0, 0.6, 0.8]), np.radians(degrees)), frames[hand])
        problem.move(2, rotation=turn)
        solution = problem.solve()
        assert solution.converged
        found = forward(limited, solution.pose)[1][hand]
        assert rotation.angle_between(found, turn) <= numbers.ROTATION_TOLERANCE
        np.testing.assert_allclose(solution.rotation_error[2], rotation.angle_between(found, turn), atol=1e-6)


def test_a_drag_with_bends_and_no_limits_goes_out_of_reach(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    hand = forward(figure, rest)[0][figure.index("hand.R")]
    method = PinAndDrag(root="fixed", settle=False, bends=np.full((len(figure), 3), 0.05))
    problem = method.prepare(figure, rest, [Goal("hand.R", hand)])
    assert problem.state.frame is not None
    for share in np.linspace(0.0, 1.0, 20):
        problem.move(0, hand + share * np.array([-1.5, 0.0, 0.0]))
        solution = problem.solve()
    assert not solution.converged
    assert float(solution.position_error[0]) < 1.5


def test_units_do_not_matter(limited: Skeleton) -> None:
    goals = reachable(limited, ("foot.L", "hand.R"), np.random.default_rng(9))
    one = solve(limited, Pose.rest(limited), goals)
    rows = [(n, p, 100.0 * np.array(h), 100.0 * np.array(t)) for n, p, h, t in FIGURE]
    large = skeleton_of(rows, limits=limited.limits)
    scaled = [Goal(g.bone, 100.0 * g.position, g.rotation) for g in goals]
    two = solve(large, Pose.rest(large), scaled)
    assert largest_turn(one.pose, two.pose) < 1e-4
    np.testing.assert_allclose(two.pose.translations, 100.0 * one.pose.translations, atol=1e-6)


def test_a_moved_and_turned_root_carries_the_whole_answer_along(figure: Skeleton) -> None:
    rng = np.random.default_rng(10)
    turn, shift = rotation.normalize(rng.normal(size=4)), rng.normal(size=3)
    goals = reachable(figure, ("foot.L", "hand.R"), rng)
    one = solve(figure, Pose.rest(figure), goals)
    rest = figure.rest_rotations[0]
    turned = Skeleton(
        figure.names, figure.parents,
        np.concatenate([rotation.rotate(turn, figure.offsets[:1]) + shift, figure.offsets[1:]]),
        np.concatenate([rotation.mul(turn, rest)[None], figure.rest_rotations[1:]]), figure.lengths,
    )  # fmt: skip
    moved = [Goal(g.bone, rotation.rotate(turn, g.position) + shift, rotation.mul(turn, g.rotation)) for g in goals]
    two = solve(turned, Pose.rest(turned), moved)
    assert largest_turn(one.pose, two.pose) < 0.05


@pytest.mark.long
@pytest.mark.parametrize("root", ["free", "translate", "fixed", "pull"])
@pytest.mark.parametrize(("frames", "settle"), [(1, True), (1, False), (60, False)])
@pytest.mark.parametrize("local", [True, False])
def test_a_root_bone_below_others_is_the_root_and_they_stay(root: Root, frames: int, settle: bool, local: bool) -> None:
    above = [("world", None, (0, 0, 0.5), (0, 0.1, 0.5)), ("ground", "world", (0, 0.1, 0.5), (0, 0.1, 0.6))]
    rows = [*above, *((name, parent or "ground", head, tail) for name, parent, head, tail in FIGURE)]
    free = np.tile((np.arange(len(rows)) < 3)[:, None], 3)
    whole = skeleton_of(rows, translatable=free, local_location=np.full(len(rows), local))
    alone = skeleton_of([*above, *FIGURE], translatable=free)  # the same bones, the hips hang on nothing
    hips, rng = whole.index("hips"), np.random.default_rng(7)
    pose = random_pose(whole, rng)
    heads, turns = forward(whole, pose)
    own, moved, back = pose.rotations.copy(), pose.translations.copy(), rotation.inv(alone.rest_rotations[hips])
    own[hips], moved[hips] = rotation.mul(back, turns[hips]), rotation.rotate(back, heads[hips] - alone.offsets[hips])
    goals: list[Goal] = []
    for name in ("foot.L", "hand.R", "head"):
        way = np.cumsum(rng.normal(size=(frames, 3)) * 0.004, axis=0)
        goals.append(Goal(name, heads[alone.index(name)] + way, turns[alone.index(name)]))
    method = PinAndDrag(root=root, settle=settle, restarts=0, coherent=frames > 1)
    expected = solve(alone, Pose(own, moved), goals, method)
    found = solve(whole, pose, goals, replace(method, root_bone=hips))
    for a, b in zip(forward(whole, found.pose), forward(alone, expected.pose), strict=True):
        assert np.allclose(a, b, atol=1e-9)
    assert np.array_equal(found.pose.rotations[:, :2], np.broadcast_to(pose.rotations[:2], (frames, 2, 4)))
    assert np.array_equal(found.pose.translations[:, :2], np.broadcast_to(pose.translations[:2], (frames, 2, 3)))


def test_frames_in_time_give_each_other_starts_and_the_same_answer(limited: Skeleton) -> None:
    time = np.linspace(0.0, 1.0, 60)
    rest = Pose.rest(limited)
    start = forward(limited, rest)[0][limited.index("hand.R")]
    path = start + 0.15 * np.stack([1.0 + np.sin(6.0 * time), np.cos(6.0 * time) - 2.0, -time], axis=-1)
    goals = [*pins(limited, rest, "foot.L", "foot.R"), Goal("hand.R", path)]
    apart = solve(limited, rest, goals)
    together = solve(limited, rest, goals, PinAndDrag(coherent=True))
    assert apart.converged.all()
    assert together.converged.all()
    assert largest_turn(apart.pose, together.pose) < 1.0


def test_scaled_bones_are_posed_exactly(limited: Skeleton) -> None:
    scales = np.ones((len(limited), 3))
    scales[limited.index("chest")] = [1.3, 0.8, 1.1]
    scales[limited.index("forearm.L")] = 1.4
    start = Pose.rest(limited)
    start = Pose(start.rotations, start.translations, scales)
    target = forward(limited, start)[0][limited.index("hand.L")] + [-0.2, -0.3, 0.1]
    solution = solve(limited, start, [*pins(limited, start, "foot.L", "foot.R"), Goal("hand.L", target, priority=1)])
    assert solution.converged
    found = forward(limited, solution.pose)[0][limited.index("hand.L")]
    assert np.linalg.norm(found - target) < MILLIMETRE
    np.testing.assert_array_equal(solution.pose.scales, scales)


@pytest.mark.parametrize("scale", [[1.3, 0.7, 1.0], [2.0, 0.5, 1.0]])
def test_errors_of_unevenly_scaled_bones_are_those_of_the_pose(figure: Skeleton, scale: list[float]) -> None:
    scales = np.ones((len(figure), 3))
    scales[[figure.index(name) for name in ("spine", "chest", "upper_arm.L")]] = scale
    rest = Pose.rest(figure)
    start = Pose(rest.rotations, rest.translations, scales)
    target = forward(figure, start)[0][figure.index("hand.L")] + [-0.2, -0.3, 0.1]
    solution = solve(figure, start, [Goal("hand.L", target)])
    found = forward(figure, solution.pose)[0][figure.index("hand.L")]
    assert solution.position_error[0] == pytest.approx(np.linalg.norm(found - target), abs=1e-9)
    assert bool(solution.converged) == bool(np.linalg.norm(found - target) <= solution.position_tolerance)


def test_a_free_root_goes_any_distance(figure: Skeleton) -> None:
    goals = [Goal("hand.L", [[20.0, 0.0, 1.0], [0.5, -0.3, 1.0]])]
    assert solve(figure, Pose.rest(figure), goals).converged.all()
    assert solve(figure, Pose.rest(figure), [Goal("hips", [100.0, 0.0, 1.0])]).converged


def test_an_empty_batch_is_refused(figure: Skeleton) -> None:
    with pytest.raises(CoreError, match="no frames"):
        solve(figure, Pose.rest(figure, (0,)), [Goal("head", [0.0, 0.0, 1.0])])


def test_weight_zero_turns_a_goal_off_frame_by_frame(figure: Skeleton) -> None:
    goal = Goal("hand.L", [[0.4, -0.4, 1.3]] * 2, position_weight=[0.0, 1.0])
    solution = solve(figure, Pose.rest(figure), [goal])
    assert largest_turn(solution.pose[0], Pose.rest(figure)) < 1e-6
    assert largest_turn(solution.pose[1], Pose.rest(figure)) > 5.0
    assert solution.converged.all()


@pytest.mark.parametrize(
    "rows",
    [
        [("only", None, (0, 0, 0), (0, 0, 1))],
        [("a", None, (0, 0, 0), (0, 0, 0)), ("b", "a", (0, 0, 0), (0, 0, 0)), ("c", "b", (0, 0, 0), (0, 0, 1))],
        [("a", None, (0, 0, 0), (0, 0, 1)), ("b", "a", (0, 0, 1), (0, 0, 2)), ("c", "b", (0, 0, 2), (0, 0, 3))],
    ],
    ids=["one bone", "zero lengths", "straight chain"],
)
@pytest.mark.parametrize("root", ["free", "fixed"])
def test_degenerate_skeletons_stay_finite(rows: list, root: str) -> None:
    skeleton = skeleton_of(rows)
    for target in ([0.0, 0.0, 0.0], [0.0, 0.0, 0.5], [0.0, 0.0, 9.0], [1.0, 2.0, 3.0]):
        goal = Goal(rows[-1][0], target, [1.0, 0.0, 0.0, 0.0])
        solution = solve(skeleton, Pose.rest(skeleton), [goal], PinAndDrag(root=root))
        assert np.isfinite(solution.pose.rotations).all()
        if root == "free":
            assert solution.converged


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 14))
def test_random_trees_reach_what_they_can_within_their_limits(seed: int, bones: int) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_tree(rng, bones)
    pose = Pose.rest(skeleton)
    near = random_pose(skeleton, rng, (), 0.05)
    heads, _ = forward(skeleton, near)
    goals = [Goal(int(bone), heads[bone]) for bone in rng.choice(bones, min(bones, 2), replace=False)]
    solution = solve(skeleton, pose, goals)
    assert np.isfinite(solution.pose.rotations).all()
    chain = {link for goal in goals for link in skeleton.ancestors(goal.bone)}
    own = rotation.to_matrix(solution.pose.rotations)
    for group in skeleton.limits:
        beyond = excess(group, group.coordinates(own[group.bones]))
        assert np.max(np.abs(beyond[np.isin(group.bones, list(chain))]), initial=0.0) < 1e-7
    far = np.linalg.norm(forward(skeleton, pose)[0][[g.bone for g in goals]] - [g.position for g in goals], axis=-1)
    assert np.sum(solution.position_error**2) <= np.sum(far**2) + 1e-9


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 10))
def test_the_jacobian_is_the_derivative_of_the_points(seed: int, bones: int) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_tree(rng, bones)
    goals = [
        Goal(int(bone), np.zeros(3), rotation.IDENTITY, rng.normal(size=3), priority=int(rng.integers(2)))
        for bone in rng.choice(bones, 2)
    ]
    tree = GoalRows(skeleton, goals, (), "free", False, None).tree
    x = 0.4 * rng.normal(size=(1, tree.degrees))
    pose = Pose.rest(skeleton, (1,))
    links = tree.fit(pose, np.zeros_like(x))
    jacobian = links.jacobian(links.place(x), np.ones((1, tree.rows))).copy()[0]
    step = 1e-6
    for column in range(tree.degrees):
        dx = np.zeros_like(x)
        dx[0, column] = step
        ahead, behind = links.place(x + dx), links.place(x - dx)
        points = (ahead.points - behind.points)[0].ravel() / (2.0 * step)
        turn = ahead.ends @ np.swapaxes(behind.ends, -1, -2)
        turns = rotation.log(rotation.from_matrix(turn))[0].ravel() / (2.0 * step)
        expected = np.concatenate([points, turns])[tree.order]
        np.testing.assert_allclose(jacobian[:, column], expected, atol=1e-6)


def test_no_goal_and_foreign_batches_are_refused(figure: Skeleton) -> None:
    with pytest.raises(CoreError, match="no goal"):
        solve(figure, Pose.rest(figure), [])
    with pytest.raises(CoreError, match="different frames"):
        solve(figure, Pose.rest(figure, (3,)), [Goal("head", np.zeros((4, 3)))])
    with pytest.raises(CoreError, match="did you mean"):
        solve(figure, Pose.rest(figure), [Goal("haed", np.zeros(3))])
    problem = PinAndDrag().prepare(figure, Pose.rest(figure), [Goal("head", np.zeros(3))])
    with pytest.raises(CoreError, match="finite"):
        problem.move(0, position=np.array([np.nan, 0.0, 0.0]))


def test_explanations_name_the_goal_and_the_limit(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    names = [row[0] for row in FIGURE]
    only_elbow = np.zeros(len(names), bool)
    only_elbow[names.index("forearm.L")] = True
    still = np.zeros((len(names), 3), bool)
    skeleton = skeleton_of(FIGURE, limits=limited.limits, movable=only_elbow, translatable=still)
    far = forward(skeleton, rest)[0][names.index("hand.L")] + [-0.3, 0.0, 0.4]
    solution = solve(skeleton, rest, [Goal("hand.L", far)])
    (sentence,) = solution.explain()
    assert sentence.startswith("hand.L is ")
    assert "forearm.L is at its" in sentence


def test_explanations_name_the_pin_that_a_chain_is_stretched_from(figure: Skeleton) -> None:
    rows = [
        ("root", None, (0, 0, -1), (0, 0, 0)),
        ("a", "root", (0, 0, 0), (0, 0, 1)),
        ("b", "a", (0, 0, 1), (0, 0.1, 2)),
        ("c", "b", (0, 0.1, 2), (0, 0, 2.5)),
        ("foot", "root", (0, 0, -1), (0, 0, -2)),
    ]
    skeleton = skeleton_of(rows)
    goals = [Goal("foot", [0.0, 0.0, -1.0]), Goal("c", [5.0, 0.0, 0.0], priority=1)]
    (sentence,) = solve(skeleton, Pose.rest(skeleton), goals).explain()
    assert "stretched from the pinned foot" in sentence


LEG = [
    ("hips", None, (0.0, 0.0, 1.0), (0.0, 0.0, 1.1)),
    ("thigh", "hips", (0.1, 0.0, 1.0), (0.1, 0.0, 0.5)),
    ("shin", "thigh", (0.1, 0.0, 0.5), (0.1, 0.0, 0.0)),
    ("foot", "shin", (0.1, 0.0, 0.0), (0.1, -0.15, 0.0)),
]


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_straight_knee_bends_the_way_it_is_told_and_does_not_swing_aside(way: float) -> None:
    leg = skeleton_of(LEG)
    bends = np.zeros((4, 3))
    bends[2, 0] = 0.5 * way
    lifted = Goal("foot", np.linspace([0.1, 0.0, 0.05], [0.1, 0.0, 0.4], 4))
    solution = solve(leg, Pose.rest(leg), [lifted], PinAndDrag(root="fixed", bends=bends))
    assert solution.converged.all()
    turns = np.degrees(rotation.log(solution.pose.rotations[:, 2]))
    assert (way * turns[:, 0] > 30.0).all()
    assert np.abs(turns[:, 1:]).max() < 0.1


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("live", [True, False])
def test_a_knee_that_its_limit_holds_straight_gives_way_when_the_leg_is_pushed_in(way: float, live: bool) -> None:
    back = -0.01 * way  # of the knee behind the leg: pushed in, it is pushed against its limit
    bound = np.radians(2.0)
    box = EulerBox([2], ["XYZ"], [[-bound if way > 0.0 else -2.5, 0.0, 0.0]], [[2.5 if way > 0.0 else bound, 0.0, 0.0]])
    leg = skeleton_of([
        ("hips", None, (0.0, 0.0, 1.0), (0.0, 0.0, 1.1)),
        ("thigh", "hips", (0.1, 0.0, 1.0), (0.1, back, 0.5)),
        ("shin", "thigh", (0.1, back, 0.5), (0.1, 0.0, 0.0)),
        ("foot", "shin", (0.1, 0.0, 0.0), (0.1, -0.15, 0.0)),
    ], limits=(box,))  # fmt: skip
    bends = np.zeros((4, 3))
    bends[2, 0] = 0.1 * way
    method = PinAndDrag(root="fixed", bends=bends, strength=1.0)
    if live:
        method = replace(method, settle=False, iterations=8, turn=0.2)
    rest = Pose.rest(leg)
    lifted = Goal("foot", [0.1, 0.0, 0.0], priority=1)
    drag = method.prepare(leg, rest, [Goal("hips", [0.0, 0.0, 1.0]), lifted])
    for height in np.linspace(0.0, 0.2, 21)[1:]:
        drag.move(1, np.array([0.1, 0.0, height]))
        solution = drag.solve()
        assert solution.position_error[1] < 1e-3
        assert way * rotation.log(solution.pose.rotations[2])[0] > 0.0


@pytest.mark.parametrize("settle", [True, False])
def test_a_straight_knee_that_is_a_hair_beyond_its_soft_limit_gives_way(settle: bool) -> None:
    leg = skeleton_of(LEG, limits=(EulerBox([2], ["XYZ"], [[1e-7, -0.1, -0.1]], [[2.5, 0.1, 0.1]]),))
    bends = np.zeros((4, 3))
    bends[2, 0] = 0.1
    method = PinAndDrag(root="fixed", bends=bends, strength=1.0, limits="soft", settle=settle)
    goals = [Goal("hips", [0.0, 0.0, 1.0]), Goal("foot", [0.1, 0.0, 0.2], priority=1)]
    drag = method.prepare(leg, Pose.rest(leg), goals)
    drag.solve()
    solution = drag.relax()
    assert solution.position_error[1] < 1e-3
    assert rotation.log(solution.pose.rotations[2])[0] > 0.5


@pytest.mark.parametrize("signs", [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)])
def test_what_a_hinge_locks_is_not_tried_bent(signs: tuple[float, float]) -> None:
    """Rounding made locked axes look as if they held the bend."""
    leg = skeleton_of(LEG, limits=(EulerBox([2], ["XYZ"], [[0.0, 0.0, 0.0]], [[2.5, 0.0, 0.0]]),))
    bends = np.zeros((4, 3))
    bends[2] = 0.1, *(1e-18 * sign for sign in signs)
    drag = PinAndDrag(root="fixed", bends=bends, strength=1.0, settle=False).prepare(
        leg, Pose.rest(leg), [Goal("hips", [0.0, 0.0, 1.0]), Goal("foot", [0.1, 0.0, 0.3], priority=1)]
    )
    drag.solve()
    assert drag.state.frame is not None
    assert len(drag.state.frame.limits.active) >= 2  # of the locked axes
    assert not drag.state.frame.unlock()
    assert not drag.state.frame.unlock(drag.state.x[0])


@pytest.mark.parametrize("bone", ["b", "c"])
def test_a_straight_chain_with_one_joint_whose_target_is_straight_behind_is_solved(bone: str) -> None:
    names = "abcd"
    rows = [
        (name, names[order - 1] if order else None, (0, 0, order), (0, 0, order + 1))
        for order, name in enumerate(names)
    ]
    chain = skeleton_of(rows, movable=[name == bone for name in names])
    solution = PinAndDrag(root="fixed").prepare(chain, Pose.rest(chain), [Goal("d", [0.0, 0.0, -2.0])]).solve()
    pivot = names.index(bone)
    assert solution.position_error == pytest.approx((pivot + 2) - (3 - pivot), abs=1e-5)


@pytest.mark.parametrize("root", ["pull", "hold", "free"])
@pytest.mark.parametrize("feet", [("foot.L", "foot.R"), ()])
def test_hips_turn_as_a_goal_on_them_says_however_unwillingly_the_root_moves(root: Root, feet: tuple[str, ...]) -> None:
    plain = skeleton_of(FIGURE)
    start = anatomy(plain).reference
    skeleton, method = with_anatomy(plain, PinAndDrag(reference=start, strength=1.0, root=root), ranges=True)
    heads, turns = forward(skeleton, start)
    hips = skeleton.index("hips")
    turned = rotation.mul(rotation.exp(np.radians(30.0) * np.eye(3)[0]), turns[hips])
    goals = [*pins(skeleton, start, *feet), Goal("hips", heads[hips], turned, priority=len(feet) and 1)]
    solution = solve(skeleton, start, goals, method)
    assert np.degrees(solution.rotation_error).max() < 0.1
    assert solution.position_error.max() < 1e-3


def test_a_knee_that_goes_round_its_pinned_foot_takes_three_steps_a_tick() -> None:
    plain = skeleton_of(FIGURE)
    start = anatomy(plain).reference
    method = PinAndDrag(reference=start, strength=1.0, root="pull", settle=False, iterations=8, turn=0.2)
    skeleton, method = with_anatomy(plain, method, ranges=True)
    heads = forward(skeleton, start)[0]
    knee, foot = (heads[skeleton.index(name)] for name in ("shin.L", "foot.L"))
    led = Goal("shin.L", knee, priority=1)
    balance = Balance(0, ("foot.L", "foot.R"), priority=2)
    drag = method.prepare(skeleton, start, [*pins(skeleton, start, "foot.L", "foot.R"), led, balance])
    length, steps, misses = np.linalg.norm(knee - foot), [], []
    for way in np.linspace(0.0, 0.2, 21)[1:]:
        away = knee - foot - way * np.array([0.0, 1.0, 0.0])
        drag.move(2, position=foot + away * (length / np.linalg.norm(away)))
        solution = drag.solve()
        steps.append(int(solution.iterations))
        misses.append(float(solution.position_error[:3].max()))
    assert max(steps) <= 3, steps
    assert max(misses) < MILLIMETRE
