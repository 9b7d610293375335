"""What a solution says of unmet goals is the truth: take away what it names, and the goal comes nearer."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core import Balance, Distance, EulerBox, Goal, PinAndDrag, Pose, Skeleton, Solution, forward, rotation, solve
from core.causes import Cause, Explanation, Kind
from tests.core.rigs import FIGURE, skeleton_of
from tests.core.solvers.pins.rigs import pins

ARM = [
    ("base", None, (0, 0, 0), (0, 0, 1)),
    ("upper", "base", (0, 0, 1), (0, 0.1, 2)),
    ("lower", "upper", (0, 0.1, 2), (0, 0, 3)),
    ("hand", "lower", (0, 0, 3), (0, 0, 3.2)),
]


def fixed(rows: list, **more: object) -> Skeleton:
    return skeleton_of(rows, translatable=np.zeros((len(rows), 3), bool), **more)


def said(solution: Solution, index: int) -> str:
    """The reasons of one goal as one text."""
    return ", ".join(solution.reasons(index))


def test_a_goal_that_is_met_has_no_reasons(figure: Skeleton) -> None:
    solution = solve(figure, Pose.rest(figure), [Goal("hand.L", [0.4, -0.4, 1.3])])
    assert solution.explain() == []
    assert solution.reasons(0) == []


def test_a_stretched_arm_is_said_to_be_stretched_from_what_cannot_move() -> None:
    skeleton = fixed(ARM)
    solution = solve(skeleton, Pose.rest(skeleton), [Goal("hand", [5.0, 0.0, 0.0])], PinAndDrag(root="fixed"))
    (sentence,) = solution.explain()
    assert sentence.startswith("hand is ")
    assert "fully stretched from upper" in sentence
    assert "limit" not in sentence


def test_what_is_said_of_a_goal_that_was_moved_is_about_where_it_is_now(figure: Skeleton) -> None:
    method = PinAndDrag(root="fixed", settle=False)
    problem = method.prepare(figure, Pose.rest(figure), [Goal("hand.L", [0.5, -0.3, 1.2])])
    problem.move(0, [3.0, 0.0, 1.4])
    for _ in range(8):
        solution = problem.solve()
    np.testing.assert_array_equal(solution.goals[0].position, [3.0, 0.0, 1.4])
    assert said(solution, 0) == "fully stretched from spine"


def test_two_points_that_are_pinned_are_named_where_their_distance_cannot_change(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    rope = Distance("hand.L", "hand.R", 0.5, bound="at most", priority=1)
    solution = solve(figure, rest, [*pins(figure, rest, "hand.L", "hand.R"), rope])
    assert said(solution, 2) == "hand.L has another target as well, hand.R is pinned"


def test_a_target_that_limits_and_lengths_keep_away_is_said_to_be_kept_by_both(figure: Skeleton) -> None:
    bones = np.arange(1, len(figure))
    reach = np.tile(np.radians([30.0, 20.0, 25.0]), (len(bones), 1))
    limited = replace(figure, limits=(EulerBox(bones, ["XYZ"] * len(bones), -reach, reach),))
    solution = solve(limited, Pose.rest(limited), [Goal("hand.L", [3.0, 0.0, 1.44])], PinAndDrag(root="fixed"))
    assert " limit" in said(solution, 0)
    assert said(solution, 0).startswith("too far from spine, ")


def test_limits_by_frame_are_explained_in_their_frames(figure: Skeleton) -> None:
    bones = np.arange(1, len(figure))
    reach = np.tile(np.radians([60.0, 40.0, 50.0]), (2, len(bones), 1))
    reach[1] *= 0.1
    limited = replace(figure, limits=(EulerBox(bones, ["ZYX"] * len(bones), -reach, reach),))
    places = np.tile([0.1, -0.2, 1.9], (2, 1))
    solution = solve(limited, Pose.rest(limited), [Goal("hand.L", places)], PinAndDrag(root="fixed"))
    assert not solution.converged[1]
    assert " limit" in ", ".join(solution.reasons(0, 1))


def test_a_limit_that_stops_a_joint_is_named_with_its_axis() -> None:
    lower, upper = np.full((2, 1, 3), np.radians(20.0))
    skeleton = fixed(ARM, limits=(EulerBox([2], ["XYZ"], -lower, upper),), movable=[False, False, True, False])
    # the elbow turns the hand about X: straight up is 3.0, and 90 degrees would be needed
    solution = solve(skeleton, Pose.rest(skeleton), [Goal("hand", [0.0, 1.1, 2.0])])
    assert said(solution, 0) == "lower is at its limit (X)"


def test_a_lock_that_stops_a_joint_is_named() -> None:
    locks = np.zeros((len(ARM), 3), bool)
    locks[2] = True
    free = {"movable": [False, True, True, False], "rotation_modes": ["XYZ"] * len(ARM)}
    wanted = [Goal("hand", [0.5, 0.5, 1.5])]  # nearer to the shoulder than the straight arm can come
    skeleton = fixed(ARM, rotation_locks=locks, **free)
    assert said(solve(skeleton, Pose.rest(skeleton), wanted), 0) == "the rotation of lower is locked"
    assert solve(fixed(ARM, **free), Pose.rest(skeleton), wanted).converged


def test_a_distance_that_the_bones_are_too_short_for_is_said_to_be(figure: Skeleton) -> None:
    method = PinAndDrag(root="fixed")
    apart = solve(figure, Pose.rest(figure), [Distance("hand.L", "hand.R", 4.0, bound="at least")], method)
    assert said(apart, 0) == "as near as the lengths of its bones allow"


def test_a_pin_that_nothing_can_move_is_no_reason(figure: Skeleton) -> None:
    goals = [Goal("hips", [0.0, 0.0, 0.95]), Goal("hand.L", [0.4, -0.4, 1.3], priority=1)]
    method = PinAndDrag(root="fixed", strength=1.0)
    causes = method.explain(figure, Pose.rest(figure), goals)(1)
    assert causes == ["the drag or pin is too weak to move the body further"]


def test_a_straight_chain_that_is_pushed_toward_its_base_is_said_to_be_kept_from_bending() -> None:
    straight = [
        ("base", None, (0, 0, -1), (0, 0, 0)),
        *((f"b{z}", f"b{z - 1}" if z else "base", (0, 0, z), (0, 0, z + 1)) for z in range(4)),
    ]
    pushed = [Goal("b3", [0.0, 0.0, 1.5])]
    locked = fixed(straight, rotation_locks=np.tile([True, False, True], (5, 1)), rotation_modes=["XYZ"] * 5)
    text = said(solve(locked, Pose.rest(locked), pushed, PinAndDrag(root="fixed")), 0)
    assert text == "its chain is straight, and limits or locks keep it from bending"
    text = said(solve(locked, Pose.rest(locked), pushed, PinAndDrag(root="fixed", limits=False)), 0)
    assert text == "its chain is straight, and locks keep it from bending"
    assert solve(fixed(straight), Pose.rest(locked), pushed, PinAndDrag(root="fixed")).converged
    only = fixed(straight, movable=[False, False, False, True, False])  # nearer than the one bone that turns is long
    kept = solve(only, Pose.rest(only), [Goal("b3", [0.0, 0.0, 2.5])], PinAndDrag(root="fixed"))
    assert said(kept, 0) == "as near as the lengths of its bones allow"


def test_a_straight_chain_that_is_pulled_out_is_not_said_to_be_kept_from_bending() -> None:
    rows = [
        ("base", None, (0, 0, -1.5), (0, 0, -0.5)),
        ("below", "base", (0, 0, -0.5), (0, 0, 0)),  # hardly turns, so that the chain as a whole is not straight
        *((f"b{x}", f"b{x - 1}" if x else "below", (x, 0, 0), (x + 1, 0, 0)) for x in range(4)),
    ]
    stiff = np.zeros((len(rows), 3))
    stiff[:2] = 0.99
    skeleton = fixed(rows, stiffness=stiff)
    pulled = solve(skeleton, Pose.rest(skeleton), [Goal("b3", [3.2, 0.0, 0.0])], PinAndDrag(root="fixed"))
    assert said(pulled, 0) == "as near as the lengths of its bones allow"


def test_what_is_short_of_balance_is_not_said_of_the_bone(figure: Skeleton) -> None:
    still = replace(figure, movable=np.zeros(len(figure), bool))
    (sentence,) = solve(still, Pose.rest(still), [Balance("hips", ("hand.L",))], PinAndDrag(root="fixed")).explain()
    assert sentence.startswith("the balance of hips is ")
    assert "neither it nor its parents can be changed" in sentence


def test_what_helps_comes_from_the_kind_of_the_first_cause_that_has_a_remedy() -> None:
    held, limit, pinned = Cause(Kind.HELD, "hips"), Cause(Kind.LIMIT, "a pinned bone", "X"), Cause(Kind.PINNED, "foot")
    told = Explanation("hand is 1 short", [held, limit, pinned])
    assert told == (
        "hand is 1 short: hips is held in place, a pinned bone is at its limit (X), foot is pinned. "
        "Turn Limits off to get closer"
    )
    assert told.short == "hand is 1 short: hips is held in place"
    others = Cause(Kind.PINNED, "other foot"), Cause(Kind.LIMIT, "other foot", "X")
    told = Explanation("hips is 1 short", [pinned, *others])
    assert told.endswith(". Turn Limits off to get closer")
    assert told.short == "hips is 1 short: foot is pinned. Turn Limits off to get closer"
    dragged = pinned.seen({"foot": "Foot.L"}, {Kind.PINNED: Kind.DRAGGED})
    assert dragged == "Foot.L is dragged"
    assert "Precedence" in dragged.remedy


def test_the_pin_that_a_chain_is_stretched_from_is_named(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    goals = [*pins(figure, rest, "foot.L", "foot.R"), Goal("head", [0.0, 0.0, 2.5], priority=1)]
    text = said(solve(figure, rest, goals), 2)
    assert set(text.split(", ")) == {"foot.L is pinned", "foot.R is pinned"}


def test_a_chain_that_is_straight_between_a_pin_and_its_goal_is_said_to_be() -> None:
    rows = [
        ("root", None, (0, 0, -1), (0, 0, 0)), ("a", "root", (0, 0, 0), (0, 0, 1)),
        ("b", "a", (0, 0, 1), (0, 0.1, 2)), ("c", "b", (0, 0.1, 2), (0, 0, 2.5)),
        ("foot", "root", (0, 0, -1), (0, 0, -2)),
    ]  # fmt: skip
    skeleton = skeleton_of(rows)
    goals = [Goal("foot", [0.0, 0.0, -1.0]), Goal("c", [5.0, 0.0, 0.0], priority=1)]
    assert said(solve(skeleton, Pose.rest(skeleton), goals), 1).startswith("fully stretched from the pinned foot")


def test_goals_of_one_priority_that_pull_apart_name_each_other(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    goals = [Goal("hand.L", [0.4, -0.4, 1.3]), Goal("hand.L", [0.4, 0.4, 1.3])]
    solution = solve(figure, rest, goals)
    assert said(solution, 0) == said(solution, 1) == "hand.L has another target as well"


def test_a_higher_goal_in_the_way_is_named_and_others_are_not(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    heads, turns = forward(figure, rest)
    forearm, hand = figure.index("forearm.L"), figure.index("hand.L")
    still = [Goal("forearm.L", heads[forearm], turns[forearm]), *pins(figure, rest, "foot.R")]
    solution = solve(figure, rest, [*still, Goal("hand.L", heads[hand] + [0.0, -0.2, 0.0], priority=1)])
    text = said(solution, 2)
    assert "forearm.L" in text
    assert "foot.R" not in text


def test_bones_that_may_not_move_are_said() -> None:
    skeleton = fixed(ARM, movable=np.zeros(4, bool))
    assert said(solve(skeleton, Pose.rest(skeleton), [Goal("hand", [1.0, 0.0, 0.0])]), 0) == (
        "neither it nor its parents can be changed"
    )


def test_bones_that_started_outside_their_limits_are_said(limited: Skeleton) -> None:
    start = Pose.rest(limited)
    turns = start.rotations.copy()
    turns[limited.index("forearm.L")] = rotation.exp([1.5, 0.0, 0.0])
    start = Pose(turns, start.translations)
    solution = solve(limited, start, pins(limited, Pose.rest(limited), "hand.L"))
    assert solution.explain()[0] == "forearm.L was outside its limits and was moved into them"


def test_the_bones_that_turned_most_are_told_in_degrees(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    solution = solve(figure, rest, [Goal("hand.L", [0.4, -0.4, 1.3])])
    *_, last = solution.explain(bones=100)
    assert len(solution.explain(bones=3)) == 3
    most = int(np.argmax(solution.turned()))
    turned = np.degrees(rotation.angle_between(rest.rotations[most], solution.pose.rotations[most]))
    assert solution.explain(bones=1) == [f"{figure.names[most]} rotated by {turned:.1f} degrees"]
    assert "rotated by" in last


def test_a_drag_says_the_same_as_a_solve(limited: Skeleton) -> None:
    rest = Pose.rest(limited)
    goals = [*pins(limited, rest, "foot.L", "foot.R"), Goal("hand.R", [-1.5, -1.0, 1.4], priority=1)]
    problem = PinAndDrag(settle=False).prepare(limited, rest, goals)
    solution = problem.solve()
    assert solution.start.batch_shape == ()
    assert solution.explain()
    assert solution.turned().shape == (len(limited),)


def test_a_batch_explains_its_worst_frame(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    goals = [*pins(figure, rest, "foot.L", "foot.R"), Goal("head", [[0.0, 0.0, 1.5], [0.0, 0.0, 2.5]], priority=1)]
    (sentence,) = solve(figure, rest, goals).explain()
    assert "at step 1" in sentence
    assert "foot.L is pinned" in sentence


@settings(max_examples=12)
@given(st.integers(0, 10**6))
def test_what_is_named_is_in_the_way(seed: int) -> None:
    """Without the first thing that is named the goal comes nearer: every limit, every goal that is said to hold."""
    rng = np.random.default_rng(seed)
    plain = skeleton_of(FIGURE)
    bones = np.arange(1, len(plain))
    reach = np.radians(rng.uniform(10.0, 60.0, (len(bones), 3)))
    limited = skeleton_of(FIGURE, limits=(EulerBox(bones, ["ZYX"] * len(bones), -reach, reach),))
    rest = Pose.rest(limited)
    hand = forward(limited, rest)[0][limited.index("hand.L")]
    drag = Goal("hand.L", hand + rng.normal(size=3), priority=1)
    goals = [*pins(limited, rest, "foot.L", "foot.R"), *pins(limited, rest, "head", turned=False), drag]
    method = PinAndDrag(root=str(rng.choice(["free", "fixed"])), restarts=1)  # type: ignore
    solution = solve(limited, rest, goals, method)
    assume(not solution.converged)
    index, error = len(goals) - 1, float(solution.position_error[-1])
    reasons = solution.reasons(index)
    assert reasons
    for reason in reasons[:1]:
        if " limit" in reason:
            loose = np.where((bones == limited.index(reason.split(" is at its ")[0]))[:, None], np.inf, reach)
            free = replace(limited, limits=(EulerBox(bones, ["ZYX"] * len(bones), -loose, loose),))
            less = solve(free, solution.pose, goals, method)
            assert less.position_error[-1] < error - 1e-5, reason
        elif "pinned" in reason:
            named = reason.removesuffix(" is pinned").split(" the pinned ")[-1]
            kept = [goal for goal in goals[:-1] if goal.bone != named]
            less = solve(limited, solution.pose, [*kept, drag], method)
            assert less.position_error[-1] < error - 1e-5, reason
        elif "too far from" in reason:
            names = [limited.names[bone] for bone in limited.ancestors(limited.index("hand.L"))]
            chain = names[: names.index(reason.removeprefix("too far from ")) + 1]
            heads = forward(limited, solution.pose)[0][[limited.index(name) for name in chain]]
            length = np.linalg.norm(np.diff(heads, axis=0), axis=-1).sum()
            assert np.linalg.norm(drag.position - heads[-1]) > length, reason
        else:
            assert "stretched from" in reason, reason
