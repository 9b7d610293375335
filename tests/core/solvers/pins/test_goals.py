"""Goals of every kind: their rows are the derivatives of their errors, and solving for them meets them."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import Balance, CoreError, Distance, Goal, LookAt, PinAndDrag, Pose, Skeleton, forward, rotation, solve
from core.goals import AnyGoal
from core.solvers.pins.goals.rows import GoalRows
from tests.core.rigs import random_pose
from tests.core.solvers.pins.rigs import largest_turn, pins, random_tree

NEAR = 1e-3  # how far from being met goals are where their rows are compared: rotation errors are linear there only


class Seen:
    """Where a pose has its bones: goals are made so that they are nearly met."""

    def __init__(self, skeleton: Skeleton, rng: np.random.Generator) -> None:
        self.rng, self.count = rng, len(skeleton)
        self.pose = random_pose(skeleton, rng)
        self.heads, self.turns = forward(skeleton, self.pose)

    def bone(self) -> int:
        return int(self.rng.integers(self.count))

    def place(self, bone: int, point: np.ndarray) -> np.ndarray:
        return self.heads[bone] + rotation.rotate(self.turns[bone], point)

    def some(self) -> np.ndarray:
        return self.rng.normal(size=3)

    def nearly(self) -> np.ndarray:
        return NEAR * self.some()

    def frame(self) -> np.ndarray:
        return rotation.normalize(self.rng.normal(size=4))


def by_axis(seen: Seen) -> AnyGoal:
    bone, point = seen.bone(), seen.some()
    target = seen.place(bone, point) + seen.nearly()
    return Goal(bone, target, point=point, position_axes=[1.0, 2.0, 0.5], axes=seen.frame())


def turned_by_axis(seen: Seen) -> AnyGoal:
    bone = seen.bone()  # far from its target: what is free may be far off
    return Goal(bone, rotation=seen.frame(), rotation_axes=[1.0, 1.0, 0.25], axes=seen.frame())


def relative(seen: Seen) -> AnyGoal:
    bone, other, point = seen.bone(), seen.bone(), seen.some()
    back = rotation.inv(seen.turns[other])
    place = rotation.rotate(back, seen.place(bone, point) + seen.nearly() - seen.heads[other])
    turn = rotation.mul(rotation.mul(back, rotation.exp(seen.nearly())), seen.turns[bone])
    return Goal(bone, place, turn, point, relative_to=other)


def look_at(seen: Seen) -> AnyGoal:
    bone, point, axis = seen.bone(), seen.some(), seen.some()
    way = rotation.rotate(rotation.mul(rotation.exp(seen.nearly()), seen.turns[bone]), axis)
    return LookAt(bone, seen.place(bone, point) + 2.0 * way, axis, point)


def look_at_a_bone(seen: Seen) -> AnyGoal:
    bone, other, point, axis = seen.bone(), seen.bone(), seen.some(), seen.some()
    target = seen.place(bone, point) + 2.0 * rotation.rotate(seen.turns[bone], axis) + seen.nearly()
    place = rotation.rotate(rotation.inv(seen.turns[other]), target - seen.heads[other])
    return LookAt(bone, place, axis, point, relative_to=other)


def distance(seen: Seen) -> AnyGoal:
    return Distance(0, seen.count - 1, 0.7, seen.some(), seen.some())


def distance_to_a_place(seen: Seen) -> AnyGoal:
    return Distance(seen.bone(), None, 0.7, other_point=seen.some(), bound="at least")


def relative_by_axis(seen: Seen) -> AnyGoal:
    """Along the other bone's own axes, one of them free and far off."""
    bone, other, point = seen.bone(), seen.bone(), seen.some()
    place = rotation.rotate(rotation.inv(seen.turns[other]), seen.place(bone, point) - seen.heads[other])
    return Goal(bone, place + np.array([0.0, 0.0, 2.0]), point=point, position_axes=[1.0, 0.5, 0.0], relative_to=other)


def balance(seen: Seen) -> AnyGoal:
    """Beside the line that a bone makes on the ground: nearest to one of its ends, or between them."""
    return Balance(0, (seen.count - 1,), seen.rng.uniform(0.0, 1.0, seen.count), seen.some())


KINDS: list[Callable[[Seen], AnyGoal]] = [
    by_axis, turned_by_axis, relative, relative_by_axis, look_at, look_at_a_bone, distance, distance_to_a_place, balance
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), bones=st.integers(2, 10))
def test_rows_are_the_derivatives_of_errors(kind: Callable[[Seen], AnyGoal], seed: int, bones: int) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_tree(rng, bones)
    seen = Seen(skeleton, rng)
    goals = [kind(seen), Goal(bones - 1, seen.some(), priority=1)]
    axes = np.array([seen.frame() for _ in range(bones)])
    rows = GoalRows(skeleton, goals, (), "free", False, axes)
    x, everything = np.zeros((1, rows.tree.degrees)), slice(None)
    links = rows.tree.fit(seen.pose.reshape((1,)), x)
    jacobian = rows.jacobian(links, links.place(x), rows.ordered_scales(everything), everything).copy()[0]

    def wish(values: np.ndarray) -> np.ndarray:
        """Uncut, weighted errors in the order of the rows."""
        here = links.place(values)
        vectors = [rows.target_points - here.points[:, : rows.plain_points]]
        vectors += [block.error(here, everything)[:, None] for block in rows.blocks]
        return (np.concatenate(vectors, axis=1).reshape(1, -1) * rows.scales)[0, rows.order]

    step = 1e-6
    for column in range(rows.tree.degrees):
        dx = np.zeros_like(x)
        dx[0, column] = step
        expected = (wish(x - dx) - wish(x + dx)) / (2.0 * step)
        np.testing.assert_allclose(jacobian[:, column], expected, atol=20.0 * NEAR)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), bones=st.integers(2, 10))
def test_the_centre_of_mass_moves_as_its_jacobian_says(seed: int, bones: int) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_tree(rng, bones)
    masses = rng.uniform(0.0, 1.0, bones)
    rows = GoalRows(skeleton, [Balance(0, (0,), masses), Goal(bones - 1, np.zeros(3))], (), "free", False, None)
    x = 0.3 * rng.normal(size=(1, rows.tree.degrees))
    links = rows.tree.fit(Pose.rest(skeleton, (1,)), np.zeros_like(x))
    points = links.jacobian(links.place(x), np.ones((1, rows.tree.rows)))[0, : 3 * rows.tree.centres.shape[1]]
    jacobian = np.tensordot(rows.tree.centres[0], points.reshape(-1, 3, rows.tree.degrees), 1)
    step = 1e-6
    for column in range(rows.tree.degrees):
        dx = np.zeros_like(x)
        dx[0, column] = step
        ahead, behind = (links.place(x + sign * dx).centres[0, 0] for sign in (1.0, -1.0))
        np.testing.assert_allclose(jacobian[:, column], (ahead - behind) / (2.0 * step), atol=1e-7)
    heads, turns = forward(skeleton, Pose.rest(skeleton))
    middles = heads + rotation.rotate(turns, np.array([0.0, 0.5, 0.0]) * skeleton.lengths[:, None])
    at_rest = links.place(np.zeros_like(x)).centres[0, 0]
    np.testing.assert_allclose(at_rest * skeleton.size, masses @ middles / masses.sum(), atol=1e-9)


def test_a_hand_slides_on_a_plane_that_leaves_its_other_directions_free(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    tilt = rotation.exp([0.3, 0.2, 0.0])
    normal = rotation.rotate(tilt, [0.0, 0.0, 1.0])
    on_plane = np.array([-0.5, -0.4, 1.2])
    goal = Goal("hand.R", on_plane, position_axes=[0.0, 0.0, 1.0], axes=tilt)
    solution = solve(limited, rest, [*pins(limited, rest, "foot.L", "foot.R"), goal])
    hand = forward(limited, solution.pose)[0][limited.index("hand.R")]
    assert solution.converged
    assert abs((hand - on_plane) @ normal) < 1e-4
    assert np.linalg.norm(hand - on_plane) > 0.05
    assert solution.position_error[2] == pytest.approx(abs((hand - on_plane) @ normal), abs=1e-9)


def test_a_foot_stays_flat_and_may_turn_about_the_vertical(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    foot = limited.index("foot.L")
    flat = forward(limited, rest)[1][foot]
    tipped = rotation.mul(rotation.exp([0.3, 0.2, 0.5]), flat)
    start = solve(limited, rest, [Goal("foot.L", rotation=tipped)]).pose
    goal = Goal("foot.L", rotation=flat, rotation_axes=[1.0, 1.0, 0.0])
    solution = solve(limited, start, [goal])
    assert solution.converged
    error = rotation.log(rotation.mul(flat, rotation.inv(forward(limited, solution.pose)[1][foot])))
    np.testing.assert_allclose(error[:2], 0.0, atol=1e-3)
    assert abs(error[2]) > 0.2


def test_two_hands_keep_their_hold_on_one_prop(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    heads, turns = forward(limited, rest)
    left, right = limited.index("hand.L"), limited.index("hand.R")
    grip = np.array([0.05, 0.3, 0.02])
    hold = Goal("hand.R", grip, rotation=rotation.exp([0.2, 0.1, 0.0]), relative_to="hand.L")
    carry = Goal("hand.L", heads[left] + [-0.35, -0.4, 0.1], priority=1)
    solution = solve(limited, rest, [*pins(limited, rest, "foot.L", "foot.R"), hold, carry])
    assert solution.converged
    heads, turns = forward(limited, solution.pose)
    inside = rotation.rotate(rotation.inv(turns[left]), heads[right] - heads[left])
    np.testing.assert_allclose(inside, grip, atol=1e-3)
    turn = rotation.mul(rotation.inv(turns[left]), turns[right])
    assert np.degrees(rotation.angle_between(turn, hold.rotation)) < 0.1


@pytest.mark.parametrize("place", [(0.5, -2.0, 1.8), (-1.0, 2.0, 0.2), (0.0, 0.0, 5.0)])
def test_a_head_looks_at_its_target(figure: Skeleton, place: tuple[float, float, float]) -> None:
    rest = Pose.rest(figure)
    goal = LookAt("head", place, axis=(0.0, 0.0, -1.0), point=(0.0, 0.1, 0.0))
    solution = solve(figure, rest, [*pins(figure, rest, "foot.L", "foot.R"), goal])
    assert solution.converged
    heads, turns = forward(figure, solution.pose)
    head = figure.index("head")
    eye = heads[head] + rotation.rotate(turns[head], goal.point)
    way = np.array(place) - eye
    cosine = rotation.rotate(turns[head], goal.axis) @ way / np.linalg.norm(way)
    assert np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))) < 0.1


@pytest.mark.parametrize(
    ("bound", "length", "kept"),
    [("exactly", 0.6, 0.6), ("at most", 0.6, 0.6), ("at most", 9.0, None), ("at least", 1.2, 1.2)],
)
def test_hands_keep_their_distance(figure: Skeleton, bound: str, length: float, kept: float | None) -> None:
    rest = Pose.rest(figure)
    start = solve(figure, rest, [Goal("hand.L", [0.4, -0.4, 1.3]), Goal("hand.R", [-0.4, -0.4, 1.3])]).pose
    goal = Distance("hand.L", "hand.R", length, bound=bound)  # type: ignore
    solution = solve(figure, start, [goal])
    assert solution.converged
    heads, _ = forward(figure, solution.pose)
    between = np.linalg.norm(heads[figure.index("hand.L")] - heads[figure.index("hand.R")])
    if kept is None:
        assert largest_turn(start, solution.pose) < 1e-6
    else:
        assert between == pytest.approx(kept, abs=2e-3)


def test_a_rope_lets_go_when_it_is_slack(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    heads, _ = forward(figure, rest)
    start = heads[figure.index("hand.L")]
    rope = Distance("hand.R", "hand.L", 1.45, bound="at most")
    goals = [*pins(figure, rest, "hips"), rope, Goal("hand.L", start, priority=1)]
    problem = PinAndDrag().prepare(figure, rest, goals)
    problem.move(2, position=start + np.array([0.0, -0.5, 0.5]))
    pulled = problem.solve().pose
    problem.move(2, position=start)
    home = problem.solve()
    hands = forward(figure, pulled)[0][[figure.index("hand.L"), figure.index("hand.R")]]
    assert np.linalg.norm(hands[0] - hands[1]) < 1.45 + 2e-3
    assert largest_turn(home.pose, rest) < 0.1


def test_the_centre_of_mass_stays_over_the_feet(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    masses = np.ones(len(figure))
    reach = Goal("hand.L", [0.3, -0.9, 1.2], priority=2)
    feet = pins(figure, rest, "foot.L", "foot.R")
    leaning = solve(figure, rest, [*feet, reach])
    balance = Balance("hips", ("foot.L", "foot.R"), masses, priority=1, radius=0.02)
    standing = solve(figure, rest, [*feet, balance, reach])

    def centre(pose: Pose) -> np.ndarray:
        heads, turns = forward(figure, pose)
        return np.mean(heads + rotation.rotate(turns, [0.0, 0.5, 0.0] * figure.lengths[:, None]), axis=0)

    toes = forward(figure, rest)[0][figure.index("foot.L")] + [0.01, -0.14, 0.0]
    assert centre(leaning.pose)[1] < toes[1] - 0.05  # without balance the body would fall on its face
    assert centre(standing.pose)[1] > toes[1] - 0.02 - 2e-3
    assert np.max(standing.position_error[:3]) < 1e-3
    assert np.linalg.norm(standing.pose.translations[0] - leaning.pose.translations[0]) > 0.05


def test_balance_is_kept_exactly_whatever_is_wanted_below_it(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    hand = forward(figure, rest)[0][figure.index("hand.R")]
    far = Goal("hand.R", hand + np.array([-1.0, 1.9, 0.3]), priority=2)
    goals = [*pins(figure, rest, "foot.L", "foot.R"), Balance("hips", ("foot.L", "foot.R"), priority=1), far]
    solution = solve(figure, rest, goals, PinAndDrag(root="fixed", restarts=0))
    assert np.max(solution.position_error[:3]) < 0.1e-3
    (sentence,) = solution.explain()
    assert sentence.startswith(
        f"hand.R is {solution.position_error[3]:.3g} short of its target: "
        "too far from spine, the body keeps its balance"
    )  # 1 m is less than 2


def test_a_body_in_balance_rests_where_a_hand_is_out_of_reach(figure: Skeleton) -> None:
    """Whether the balance shares a level with the feet or has one of its own: both come first."""
    rest = Pose.rest(figure)
    far = Goal("hand.L", [0.5, -2.0, 1.2], priority=2)
    missed: list[float] = []
    for priority in (0, 1):
        balance = Balance("hips", ("foot.L", "foot.R"), np.ones(len(figure)), priority=priority)
        problem = PinAndDrag(restarts=0).prepare(figure, rest, [*pins(figure, rest, "foot.L", "foot.R"), balance, far])
        solution, again = problem.solve(), problem.solve()
        assert np.max(solution.position_error[:3]) < 1e-6
        turned = rotation.angle_between(solution.pose.rotations, again.pose.rotations)
        assert np.degrees(turned.max()) < 0.1
        missed.append(float(again.position_error[3]))
    assert missed[0] == pytest.approx(missed[1], abs=1e-6)


TURN = rotation.exp([0.7, -0.4, 0.9])
PULLED = {
    "two ways to look": [LookAt("head", [0.5, -1.0, 2.0]), LookAt("head", [-0.5, 1.0, 1.2])],
    "apart from its hold": [
        Goal("hand.L", [0.0, 0.1, 0.1], TURN, relative_to="hand.R"),
        Goal("hand.L", [0.9, -0.4, 1.6]),
        Goal("hand.R", [-0.7, 0.2, 1.0]),
    ],
    "two ways to stand": [
        Goal("hand.L", None, TURN, rotation_axes=[1.0, 0.0, 1.0]),
        Goal("hand.L", None, rotation.inv(TURN), rotation_axes=[0.0, 1.0, 1.0]),
    ],
}


@pytest.mark.long
@pytest.mark.parametrize("goals", PULLED.values(), ids=PULLED)
def test_a_body_rests_that_goals_of_any_kind_pull_apart(figure: Skeleton, goals: list[AnyGoal]) -> None:
    """Rows that bend under the force they bear: without that steps creep on for as long as there are some."""
    rest = Pose.rest(figure)
    problem = PinAndDrag(restarts=0).prepare(figure, rest, [*pins(figure, rest, "foot.L", "foot.R"), *goals])
    rested = problem.solve()
    assert not rested.converged
    assert largest_turn(rested.pose, problem.solve().pose) < 0.01


def test_a_look_of_what_cannot_move_is_short_and_a_balance_on_a_point_is_kept() -> None:
    one = Skeleton(["a"], [-1], [[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0, 0.0]], [1.0])
    rest = Pose.rest(one)
    look = solve(one, rest, [LookAt("a", (1.0, 1.0, 1.0))], PinAndDrag(root="fixed"))
    assert look.reasons(0) == ["neither it nor its parents can be changed"]
    assert solve(one, rest, [Balance("a", ("a",), np.ones(1))]).converged


def test_a_target_in_the_frame_of_another_bone_moves(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    goals = [*pins(figure, rest, "foot.L", "foot.R"), Goal("hand.R", [0.1, 0.2, -0.3], relative_to="head")]
    drag = PinAndDrag(settle=False).prepare(figure, rest, goals)
    before = drag.solve()
    drag.move(2, [0.1, 0.25, -0.2])
    after = drag.solve()
    for solution, place in ((before, [0.1, 0.2, -0.3]), (after, [0.1, 0.25, -0.2])):
        heads, turns = forward(figure, solution.pose)
        head, hand = figure.index("head"), figure.index("hand.R")
        seen = rotation.rotate(rotation.inv(turns[head]), heads[hand] - heads[head])
        np.testing.assert_allclose(seen, place, atol=1e-3)


def test_velocities_move_references_on(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    hand = figure.index("hand.R")
    start = forward(figure, rest)[0][hand]
    feet = pins(figure, rest, "foot.L", "foot.R")
    problem = PinAndDrag().prepare(figure, rest, [*feet, Goal("hand.R", velocity=[0.2, -0.3, 0.0])])
    for tick in range(1, 6):
        problem.advance(0.1)
        solution = problem.solve()
        assert solution.converged
        moved = forward(figure, solution.pose)[0][hand]
        np.testing.assert_allclose(moved, start + 0.1 * tick * np.array([0.2, -0.3, 0.0]), atol=1e-3)


def test_frames_in_time_follow_velocities(figure: Skeleton) -> None:
    rest = Pose.rest(figure, (25,))
    head, hand = figure.index("head"), figure.index("hand.R")
    goals = [Goal("hand.R", velocity=[0.0, -0.3, 0.0]), Goal("head", angular_velocity=[0.0, 0.0, 0.5])]
    solution = solve(figure, rest, goals, PinAndDrag(coherent=True, fps=24.0, root="fixed"))
    assert solution.converged.all()
    heads, turns = forward(figure, solution.pose)
    np.testing.assert_allclose(heads[24, hand] - heads[0, hand], [0.0, -0.3, 0.0], atol=2e-3)
    assert rotation.angle_between(turns[0, head], turns[24, head]) == pytest.approx(0.5, abs=2e-3)


def test_frames_in_time_follow_a_velocity_from_one_place(figure: Skeleton) -> None:
    rest, place = Pose.rest(figure, (5,)), np.array([0.5, -0.2, 1.3])
    goal = Goal("hand.L", place, velocity=[0.0, -2.4, 0.0])
    solution = solve(figure, rest, [goal], PinAndDrag(coherent=True, fps=24.0))
    ways = forward(figure, solution.pose)[0][:, figure.index("hand.L")] - place
    np.testing.assert_allclose(ways[:, 1], [0.0, -0.1, -0.2, -0.3, -0.4], atol=1e-3)


def test_pins_come_and_go_without_a_jump(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    feet = pins(limited, rest, "foot.L", "foot.R")
    problem = PinAndDrag().prepare(limited, rest, [*feet, Goal("hand.R", [-0.4, -0.5, 1.2], priority=1)])
    before = problem.solve().pose
    more = problem.with_goals([*problem.goals, *pins(limited, before, "hand.L", "head")])
    added = more.solve().pose
    assert largest_turn(before, added) < 0.01
    fewer = more.with_goals(more.goals[1:4])
    assert largest_turn(fewer.solve().pose, added) < 0.01


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: LookAt("head", [0.0, 1.0, np.nan]), "not a finite number"),
        (lambda: LookAt("head", [0.0, 1.0, 0.0], axis=(0.0, 0.0, 0.0)), "must not be zero"),
        (lambda: Distance("head", "head", 1.0), "to itself"),
        (lambda: Distance("head", "hips", -1.0), "at least 0"),
        (lambda: Distance("head", "hips", 1.0, bound="about"), "cannot be \"about\""),  # type: ignore
        (lambda: Balance("hips", ()), "at least one bone"),
        (lambda: Balance("hips", ("foot.L",), [0.0, 0.0]), "all 0"),
        (lambda: Goal("head"), "neither"),
        (lambda: Goal("head", "here"), "needs numbers"),  # type: ignore
        (lambda: Goal("head", [0.0, 0.0, 1.0], position_axes=[1.0, -1.0, 0.0]), "at least 0"),
    ],
)  # fmt: skip
def test_goals_that_make_no_sense_are_refused_in_a_sentence(make: Callable[[], AnyGoal], says: str) -> None:
    with pytest.raises(CoreError, match=says):
        make()


def test_a_balance_of_other_bones_is_refused(figure: Skeleton) -> None:
    with pytest.raises(CoreError, match="masses of 19 bones"):
        solve(figure, Pose.rest(figure), [Balance("hips", ("foot.L",), [1.0, 2.0])])


@pytest.mark.parametrize(("off", "accepted"), [(-8e-4, True), (8e-4, True), (-2e-3, False), (2e-3, False)])
def test_drags_goals_and_poses_take_quaternions_that_are_as_nearly_of_unit_length(
    figure: Skeleton, off: float, accepted: bool
) -> None:
    rest, turn = Pose.rest(figure), (1.0 + off) * np.array([1.0, 0.0, 0.0, 0.0])
    drag = PinAndDrag(settle=False).prepare(figure, rest, pins(figure, rest, "head"))
    rotations = np.tile(turn, (len(figure), 1))
    for checked in (
        lambda: drag.move(0, rotation=turn), lambda: Goal("head", None, turn),
        lambda: Pose(rotations, rest.translations),
    ):  # fmt: skip
        if accepted:
            checked()
        else:
            with pytest.raises(CoreError, match="not a unit quaternion"):
                checked()
