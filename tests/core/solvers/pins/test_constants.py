"""The numbers of docs/solver.md: on bodies of a few joints the answer follows from them by hand.

Each number stands here by its value, so that no test agrees with whatever the solver has.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core import Balance, CoreError, EulerBox, Goal, PinAndDrag, Pose, Skeleton, rotation
from core.solvers.pins import numbers, pipeline
from core.solvers.pins.goals.rows import GoalRows
from core.solvers.pins.one_frame import FrameSolver
from core.solvers.pins.prior import Prior
from core.solvers.pins.problem import Problem

ACROSS, ALONG, UP = np.eye(3)
DEVIATION = 0.4  # of all joints, radians


def body(*parents: int, **more: object) -> Skeleton:
    """Bones of 1 m along Y, all with their heads at the origin."""
    count = len(parents)
    return Skeleton(
        [f"b{bone}" for bone in range(count)], parents, np.zeros((count, 3)),
        np.tile(rotation.IDENTITY, (count, 1)), np.ones(count), **more,
    )  # fmt: skip


def turns(
    skeleton: Skeleton, goals: list, root: str | float = "fixed", deviations: object = None, **more: object
) -> np.ndarray:
    """Return the rotation vectors (J, 3) of the pose, all deviations alike."""
    if deviations is None:
        deviations = np.full((len(skeleton), 3), DEVIATION)
    method = PinAndDrag(root=root, deviations=deviations, **more)  # type: ignore
    return rotation.log(method.solve(skeleton, Pose.rest(skeleton), goals).pose.rotations)


def turned(bone: int, way: np.ndarray) -> Goal:
    return Goal(bone, None, rotation.exp(way))


def pull(bone: int, way: float, priority: int, far: float = 1.0) -> Goal:
    """A pull on the bone's tail that is across the bone where it has turned about Z by `way`, to `far` from there."""
    tail, aside = (rotation.rotate(rotation.exp(way * UP), some) for some in (ALONG, -ACROSS))
    return Goal(bone, tail + far * aside, point=ALONG, priority=priority)


# -- the prior ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("axis", "share"), [(ACROSS, 0.5), (UP, 0.1**2 / (1.0 + 0.1**2))])
def test_a_hinge_keeps_a_tenth_of_its_deviation_across_its_axis(axis: np.ndarray, share: float) -> None:
    """Two joints in series share a turn as their variances are; the first bends about X."""
    bends = np.array([np.zeros(3), ACROSS, np.zeros(3)])
    skeleton = body(-1, 0, 1)
    solution = PinAndDrag(root="fixed", bends=bends).solve(skeleton, Pose.rest(skeleton), [turned(2, 0.3 * axis)])
    found = rotation.log(solution.pose.rotations)
    np.testing.assert_allclose(found[1:], 0.3 * np.outer([share, 1.0 - share], axis), atol=1e-5)


@pytest.mark.parametrize(
    ("root", "bones", "keeps"),
    [
        ("free", (1, 2), 1.0),
        ("pull", (1, 2), 0.35 * 0.2),
        ("hold", (1, 2), 0.35 * 0.1),
        ("pull", (1,), 0.35 * 0.03),  # a body that nothing else holds stays
        (0.5, (1, 2), 0.35 * 0.5),
        ("pull", (0, 1), 0.35 * 0.2),  # also where a goal places it
        ("hold", (0, 1), 0.35 * 0.1),
    ],
)
def test_a_root_keeps_a_share_of_its_deviations(root: str | float, bones: tuple[int, ...], keeps: float) -> None:
    goals = [turned(bone, 0.5 * UP) if bone else Goal(0, np.zeros(3)) for bone in bones]
    joints = np.count_nonzero(bones)  # beside each other, in series with the root
    found = turns(body(-1, 0, 0), goals, root)
    assert found[0, 2] == pytest.approx(0.5 * keeps**2 / (keeps**2 + 1.0 / joints), rel=1e-3)


def test_a_root_shifts_by_half_the_size() -> None:
    """In series with a joint with a lever of a metre."""
    skeleton = body(-1, 0)
    deviations = np.array([np.zeros(3), np.full(3, DEVIATION)])
    goal = Goal(1, ALONG + 0.01 * ACROSS, point=ALONG)
    solution = PinAndDrag(deviations=deviations).solve(skeleton, Pose.rest(skeleton), [goal])
    shift = (0.5 * skeleton.size) ** 2
    assert solution.pose.translations[0, 0] == pytest.approx(0.01 * shift / (shift + DEVIATION**2), rel=1e-3)


def test_bones_stretch_by_3_percent_for_a_deviation() -> None:
    """Beside a root that shifts the same way by half the size for one."""
    skeleton = body(-1, 0, stretch=np.array([0.0, 1.0]), inherit_scale=["NONE"] * 2)
    goal = Goal(1, 1.1 * ALONG, point=ALONG)
    pose = PinAndDrag(stretch=True).solve(skeleton, Pose.rest(skeleton), [goal]).pose
    assert pose.scales is not None
    length = pose.scales[1, 1]
    assert np.log(length) / 0.03**2 == pytest.approx(length * (1.1 - length) / (0.5 * skeleton.size) ** 2, rel=1e-3)


def test_a_soft_limit_is_a_spring_of_5_degrees() -> None:
    skeleton = body(-1, 0, 1, limits=(EulerBox([1], ["XYZ"], [np.full(3, -0.1)], [np.full(3, 0.1)]),))
    first = turns(skeleton, [turned(2, 0.6 * UP)], limits="soft")[1, 2]
    spring = (first - 0.1) / np.radians(5.0) ** 2
    assert (0.6 - first) / DEVIATION**2 == pytest.approx(first / DEVIATION**2 + spring, rel=1e-3)


# -- goals -------------------------------------------------------------------------------------------------------------


def test_a_radian_counts_as_three_tenths_of_the_size() -> None:
    """One joint of no resistance between a place and a turn that contradict each other, of one level."""
    skeleton = body(-1, 0)
    goals = [Goal(1, ALONG, point=ALONG), turned(1, UP)]
    found = turns(skeleton, goals, deviations=np.full((2, 3), 10.0))[1, 2]
    assert np.sin(found) / skeleton.size**2 == pytest.approx(0.3**2 * (1.0 - found), rel=1e-2)


@pytest.mark.parametrize(("share", "swings"), [(0.09, False), (0.11, True)])
def test_joints_that_carry_a_tenth_of_the_mass_keep_the_balance(share: float, swings: bool) -> None:
    """A foot, a trunk that is fixed, and an arm on it, whose mass is aside."""
    skeleton = body(-1, 0, 1)
    given = rotation.exp(np.array([np.zeros(3), np.zeros(3), -1.0 * UP]))
    masses = np.array([0.0, 1.0 - share, share])
    balance = Balance(0, (0,), masses, up=ALONG, radius=1e-3)
    deviations = np.array([np.zeros(3), np.zeros(3), np.full(3, DEVIATION)])
    pose = Pose(given, np.zeros((3, 3)))
    found = PinAndDrag(root="fixed", deviations=deviations).solve(skeleton, pose, [balance]).pose
    assert bool(rotation.angle_between(found.rotations[2], given[2]) > 0.1) == swings


# -- strengths ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strength", [0.01, 0.02])
def test_a_hand_leans_until_the_body_resists_as_much_and_lower_levels_a_tenth_of_it(strength: float) -> None:
    """Three joints beside each other: 145 times the strength times the lever is the slope of the prior."""
    skeleton = body(-1, 0, 0, 0)
    wanted = DEVIATION**2 * strength / skeleton.size * np.array([0.0, 145.0, 14.5])
    goals = [pull(bone + 1, way, bone, far=float(bone > 0)) for bone, way in enumerate(wanted)]
    np.testing.assert_allclose(turns(skeleton, goals, strength=strength)[1:, 2], wanted, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("bone", "pulls"), [(0, 290.0), (1, 145.0)])
def test_a_root_is_pulled_twice_as_hard_as_a_hand(bone: int, pulls: float) -> None:
    """A hand beside the root's axis shifts it as well: a tenth of the size, squared, is the variance of the shift."""
    skeleton, strength = body(-1, 0, 0), 0.02
    deviations = np.where(np.arange(3)[:, None] == bone, DEVIATION, 1e-6) * np.ones(3)
    goals = [turned(2, 0.0 * UP), Goal(bone, skeleton.size * ACROSS, priority=1)]
    method = PinAndDrag(root="pull", deviations=deviations, strength=strength)
    (shift, *_), *_ = method.solve(skeleton, Pose.rest(skeleton), goals).pose.translations
    assert shift == pytest.approx(skeleton.size * 0.1**2 * pulls * strength, rel=1e-3)


@pytest.mark.parametrize(
    ("at", "strengths"), [(None, (145.0, 14.5, 1.45)), (2, (290.0, 145.0, 14.5)), (3, (580.0, 290.0, 145.0))]
)
def test_levels_before_the_one_with_the_strength_pull_twice_as_hard(
    at: int | None, strengths: tuple[float, ...]
) -> None:
    skeleton = body(-1, 0, 0, 0, 0)
    wanted = 1e-3 * DEVIATION**2 / skeleton.size * np.array([0.0, *strengths])
    goals = [pull(bone + 1, way, bone, far=float(bone > 0)) for bone, way in enumerate(wanted)]
    found = turns(skeleton, goals, strength=1e-3, strength_at=at)[1:, 2]
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=1e-5)


def test_levels_up_to_the_one_that_is_said_to_be_firm_are_met_whatever_the_strength() -> None:
    skeleton, goals = body(-1, 0), [turned(0, 0.0 * UP), replace(turned(1, 0.1 * UP), priority=1)]
    leaning, firm = (turns(skeleton, goals, strength=1e-3, firm_at=last)[1, 2] for last in (0, 1))
    assert leaning < 0.05
    np.testing.assert_allclose(firm, 0.1, atol=1e-4)
    with pytest.raises(CoreError, match="firm_at must be a priority"):
        PinAndDrag(firm_at=0.5)  # type: ignore


def test_firm_levels_pull_with_ten_thousand_and_a_hundred_times_what_is_below() -> None:
    skeleton = body(-1, 0, 0)
    deviations = np.array([0.0, 5e-5, 5e-4])  # a step is one deviation long at most
    wanted = np.square(deviations[1:]) / skeleton.size * [1e6, 1e4]
    goals = [pull(bone + 1, way, bone) for bone, way in enumerate(wanted)]
    found = turns(skeleton, goals, deviations=np.repeat(deviations[:, None], 3, axis=1))
    np.testing.assert_allclose(found[1:, 2], wanted, rtol=1e-3)


@pytest.mark.parametrize("strength", [0.5, 1.0, 2.0])
def test_the_firm_level_is_a_hundred_times_as_strong_as_those_below_could_be(strength: float) -> None:
    """Whether they pull or not, as here, where the second level is met: else the answer would depend on the way."""
    skeleton, deviation = body(-1, 0, 0), 5e-4
    wanted = deviation**2 / skeleton.size * max(1e4, 100.0 * 145.0 * strength)
    goals = [pull(1, wanted, 0), pull(2, 0.0, 1, far=0.0)]
    found = turns(skeleton, goals, strength=strength, deviations=np.full((3, 3), deviation))
    np.testing.assert_allclose(found[1:, 2], [wanted, 0.0], rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_level_is_a_spring_up_to_an_error_of_a_hundred_thousandth(share: float, level: int) -> None:
    """In series with the resistance of a joint, against which the level's full force would turn it by `force`."""
    bones = level + 1
    skeleton, deviation = body(-1, *np.zeros(bones, int)), 0.02
    force = deviation**2 * 145.0 * 0.1 ** (level - 1) / skeleton.size
    goals = [pull(1 + above, 0.0, above, far=0.0) for above in range(level)]
    goals += [pull(bones, share * force, level, far=0.0)]
    found = turns(skeleton, goals, strength=1.0, deviations=np.full((1 + bones, 3), deviation))
    missed = share * force - found[bones, 2]
    assert missed == pytest.approx(share * 1e-5 * skeleton.size, rel=0.01)


# -- steps -------------------------------------------------------------------------------------------------------------


def test_a_step_is_one_deviation_long_at_most() -> None:
    skeleton, method = body(-1, 0), PinAndDrag(root="fixed", deviations=np.full((2, 3), 0.1))
    less, more = (
        int(method.solve(skeleton, Pose.rest(skeleton), [turned(1, share * 0.3 * UP)]).iterations)
        for share in (0.97, 1.03)
    )
    assert more == less + 1


def test_a_body_that_does_not_rest_takes_300_steps() -> None:
    """A root shifts by half the size in a step, and its target is further than 300 of them."""
    skeleton = body(-1, -1)
    goals = [Goal(0, 200.0 * skeleton.size * ACROSS), Goal(1, np.zeros(3))]
    problem = Problem.of(PinAndDrag(), skeleton, Pose.rest(skeleton), goals)
    found = pipeline.rest(problem, pipeline.begin(problem)).progress
    assert int(found.iterations[0]) == 300
    assert problem.pose_at(found.x).translations[0, 0, 0] == pytest.approx(150.0 * skeleton.size)


@pytest.mark.parametrize(("joints", "steps"), [(7, 2), (8, 3)])
def test_a_step_meets_six_limits_one_after_another(joints: int, steps: int) -> None:
    """Joints in series turn as their variances are: each takes nearly all that those before it leave.

    The last one is free.
    """
    deviations = np.array([0.0, *3.0 * 3.0 ** -np.arange(joints)])
    highest = 0.3 * deviations[1:]
    box = EulerBox(np.arange(1, joints + 1), ["XYZ"] * joints, np.full((joints, 3), -1.0), highest[:, None] * UP)
    skeleton = body(*range(-1, joints), limits=(box,))
    method = PinAndDrag(root="fixed", deviations=np.repeat(deviations[:, None], 3, axis=1), settle=False)
    goal = turned(joints, highest.sum() * (1.0 - 1e-6) * UP)
    found = method.prepare(skeleton, Pose.rest(skeleton), [goal]).solve()
    np.testing.assert_allclose(rotation.log(found.pose.rotations[1:-1])[:, 2], highest[:-1], rtol=1e-6)
    assert int(found.iterations) == steps  # the last one finds nothing new


@pytest.mark.parametrize(("falls", "damped"), [(-0.01, 0.04), (-0.04, 0.04), (-0.1, 0.1)])
def test_a_model_that_falls_is_damped_by_a_twentieth_or_by_twice_as_much_as_it_falls(
    falls: float, damped: float
) -> None:
    """Along the twist of a bone whose tail is placed, of which the goal sees nothing."""
    skeleton = body(-1, 0)
    method = PinAndDrag(root="fixed", deviations=np.full((2, 3), DEVIATION))
    problem = Problem.of(method, skeleton, Pose.rest(skeleton), [Goal(1, ALONG, point=ALONG)])
    x, links = problem.begin()
    frame = FrameSolver(problem, links, 0)
    frame.begin(x[0])
    local = frame.objective.model(frame.at, frame.forces, frame.slips, bend=False)
    local.hessian[:] = np.diag([1.0, falls, 1.0])
    local.slope[:] = 0.01 * ALONG
    step = frame.newton.least(local, frame.slips).step
    np.testing.assert_allclose(step, -0.01 / damped * ALONG, atol=1e-9)


@pytest.mark.parametrize(("strength", "at", "tried"), [(1.0, None, False), (1.0, 2, True), (np.inf, None, True)])
def test_a_still_mouse_tries_no_other_pose_for_goals_after_those_that_are_asked_for(
    strength: float, at: int | None, tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two turns of one joint that contradict each other: the second gives way. What was tried is not tried again."""
    skeleton, begun = body(-1, 0), list[float]()
    method = PinAndDrag(root="fixed", deviations=np.full((2, 3), DEVIATION), settle=False, strength=strength)
    goals = [turned(0, 0.0 * UP), replace(turned(1, 0.1 * UP), priority=1), replace(turned(1, -0.1 * UP), priority=2)]
    drag = replace(method, strength_at=at).prepare(skeleton, Pose.rest(skeleton), goals)
    begin = FrameSolver.begin
    monkeypatch.setattr(FrameSolver, "begin", lambda solver, x: begun.append(0.0) or begin(solver, x))
    for _ in range(4):
        drag.relax()
    assert bool(begun) == tried
    begun.clear()
    drag.relax()
    assert not begun


def test_a_still_mouse_tries_no_other_pose_while_the_body_goes_as_far_as_a_tick_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    skeleton, begun = body(-1, 0), list[float]()
    method = PinAndDrag(root="fixed", deviations=np.full((2, 3), DEVIATION), settle=False, turn=0.05)
    goals = [turned(0, 0.0 * UP), turned(1, 0.22 * UP), replace(turned(1, -0.1 * UP), priority=1)]
    drag = method.prepare(skeleton, Pose.rest(skeleton), goals)
    begin = FrameSolver.begin
    monkeypatch.setattr(FrameSolver, "begin", lambda solver, x: begun.append(0.0) or begin(solver, x))
    tried: list[bool] = []
    for _ in range(8):
        drag.relax()
        tried.append(bool(begun))
    assert tried == 4 * [False] + 4 * [True]


@pytest.mark.parametrize(
    ("way", "reached", "bits"), [(0.299, 9.0, 2), (0.301, 9.0, 3), (0.9, 0.299, 4), (0.9, 0.301, 5)]
)
def test_far_targets_are_approached_by_a_tenth_at_a_time(
    way: float, reached: float, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until a joint rests more than a tenth behind, where it resists as much as the target pulls; firm ones at once."""
    skeleton, taken, on_the_way = body(-1, 0, 0), list[GoalRows](), GoalRows.on_the_way

    def counted(*given: Any) -> Iterator[GoalRows]:
        for rows in on_the_way(*given):
            taken.append(rows)
            yield rows

    monkeypatch.setattr(GoalRows, "on_the_way", counted)
    strength = reached / (DEVIATION**2 * 145.0 * 0.3)  # a radian counts as 0.3
    goals = [turned(2, 0.9 * UP), replace(turned(1, way * UP), priority=1)]
    found = turns(skeleton, goals, strength=strength)
    np.testing.assert_allclose(found[1], min(way, reached) * UP, atol=1e-4)
    assert len(taken) == bits


def test_a_step_of_many_frames_is_half_a_radian_long_at_most() -> None:
    skeleton, ways = body(-1, 0), np.array([0.97, 1.03])
    targets = Goal(1, None, rotation.exp(ways[:, None] * UP))
    method = PinAndDrag(root="fixed", deviations=np.full((2, 3), DEVIATION), settle=False)
    np.testing.assert_array_equal(method.solve(skeleton, Pose.rest(skeleton), [targets]).iterations, [2, 3])


@pytest.mark.parametrize(("far", "at_once"), [(1.95, False), (2.05, True)])
def test_a_root_moves_first_where_all_targets_are_two_sizes_away(far: float, at_once: bool) -> None:
    skeleton = body(-1, 0)
    found = PinAndDrag().solve(skeleton, Pose.rest(skeleton), [Goal(1, far * skeleton.size * ACROSS)])
    steps = int(found.iterations)  # half a size at most in each
    assert steps < 4 if at_once else steps >= 4


def test_twelve_other_starts_are_tried_but_in_motions_and_drags() -> None:
    counts = [PinAndDrag(**more).starts for more in ({}, {"coherent": True}, {"settle": False})]  # type: ignore
    assert counts == [12, 0, 0]


@pytest.mark.parametrize(("still", "degrees"), [(False, 2.0), (True, 0.001)])
def test_a_tick_goes_on_after_steps_of_2_degrees_and_rest_after_a_thousandth(still: bool, degrees: float) -> None:
    """A step to a turn of one joint is exact; another one follows where it was not small, and finds nothing left."""
    skeleton, counts = body(-1, 0), list[int]()
    for share in (0.97, 1.03):
        method = PinAndDrag(root="fixed", deviations=np.full((2, 3), DEVIATION), settle=False)
        drag = method.prepare(skeleton, Pose.rest(skeleton), [turned(1, 0.1 * UP)])
        for _ in range(3):  # to the first target, with the forces there
            drag.relax()
        drag.move(0, rotation=rotation.exp((0.1 + share * np.radians(degrees)) * UP))
        counts.append(int((drag.relax() if still else drag.solve()).iterations))
    assert counts == [1, 2]


def test_a_tick_under_the_mouse_ends_with_the_step_that_meets_its_goals() -> None:
    skeleton = body(-1, 0)
    counts = list[int]()
    for turn in (np.inf, 1.0):
        method = PinAndDrag(root="fixed", deviations=np.full((2, 3), DEVIATION), settle=False, turn=turn)
        drag = method.prepare(skeleton, Pose.rest(skeleton), [turned(1, 0.1 * UP)])
        for _ in range(3):
            drag.relax()
        drag.move(0, rotation=rotation.exp(0.2 * UP))
        counts.append(int(drag.solve().iterations))
    assert counts == [2, 1]


@pytest.mark.parametrize("way", [0.002, 0.04])
def test_a_joint_turns_in_a_tick_by_so_much_for_each_hundredth_of_the_size_of_the_targets_way(way: float) -> None:
    """A lever so short that the joint would turn by more; less than a hundredth counts as one."""
    skeleton, lever = body(-1, 0), 0.01 * ALONG
    method = PinAndDrag(root="fixed", deviations=np.full((2, 3), 10.0), settle=False, turn=0.05)
    drag = method.prepare(skeleton, Pose.rest(skeleton), [Goal(1, lever, point=lever)])
    drag.move(0, lever + way * skeleton.size * ACROSS)
    found = rotation.angle_between(drag.solve().pose.rotations[1], rotation.IDENTITY)
    assert float(found) == pytest.approx(0.05 * max(1.0, way / 0.01), rel=1e-3)


# -- reasons -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "said"), [(0.09, False), (0.11, True)])
def test_a_reason_is_said_from_a_tenth_of_the_pull_on(share: float, said: bool) -> None:
    """Two joints in series at their limits, which hold a turn as their deviations are."""
    skeleton = body(-1, 0, 1, limits=(EulerBox([1, 2], ["XYZ"] * 2, np.full((2, 3), -1.0), np.zeros((2, 3))),))
    deviations = DEVIATION * np.array([0.0, share, np.sqrt(1.0 - share**2)])
    method = PinAndDrag(root="fixed", deviations=np.repeat(deviations[:, None], 3, axis=1))
    solution = method.solve(skeleton, Pose.rest(skeleton), [turned(2, 0.3 * UP)])
    assert {cause.bone for cause in solution.reasons(0)} == {"b2", *(("b1",) if said else ())}


@pytest.mark.parametrize(("share", "straight"), [(0.9985, False), (0.9995, True)])
def test_a_chain_is_stretched_from_a_thousandth_of_its_length_on(share: float, straight: bool) -> None:
    """An arm of two bones of 1 m, whose elbow bends at least so far that it has this share of its length."""
    least = 2.0 * np.arccos(share)
    heads = np.array([np.zeros(3), np.zeros(3), ALONG])
    box = EulerBox([2], ["XYZ"], [least * UP], [2.0 * UP])
    skeleton = Skeleton(["b0", "b1", "b2"], [-1, 0, 1], heads, np.tile(rotation.IDENTITY, (3, 1)), np.ones(3), (box,))
    given = rotation.exp(np.array([np.zeros(3), np.zeros(3), least * UP]))
    method = PinAndDrag(root="fixed", deviations=np.full((3, 3), DEVIATION))
    solution = method.solve(skeleton, Pose(given, np.zeros((3, 3))), [Goal(2, 2.5 * ALONG, point=ALONG)])
    assert ("stretched" in solution.reasons(0)[0]) == straight


@pytest.mark.parametrize(("off", "said"), [(0.9e-4, True), (1.1e-4, False)])
def test_a_joint_within_a_ten_thousandth_of_its_limit_is_named_as_a_reason(off: float, said: bool) -> None:
    """A joint that stands `off` before its limit, and whose goal is beyond."""
    skeleton = body(-1, 0, limits=(EulerBox([1], ["XYZ"], -np.ones((1, 3)), np.zeros((1, 3))),))
    pose = Pose(rotation.exp(np.array([np.zeros(3), -off * UP])), np.zeros((2, 3)))
    reasons = PinAndDrag(root="fixed").explain(skeleton, pose, [turned(1, 0.3 * UP)])(0)
    assert any(cause.bone == "b1" for cause in reasons) == said


# -- arithmetic --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0, 1, 2, 3, 4])
def test_differences_are_exact_for_polynomials_of_fourth_order(power: int) -> None:
    """The derivative of t^n at 0 is 1 for n = 1, else 0."""
    places, weights = numbers.STENCIL
    assert float(weights @ places**power) == pytest.approx(float(power == 1), abs=1e-12)


@pytest.mark.parametrize(("below_one", "refused"), [(0.9e-8, True), (1.1e-8, False)])
def test_what_is_less_than_a_hundred_millionth_counts_as_zero(below_one: float, refused: bool) -> None:
    """Two turns that go together but for this much leave the prior so little in one direction."""
    tied = [(0, 1, 1.0 - below_one)]
    with pytest.raises(CoreError, match="contradict") if refused else nullcontext():
        Prior.of(np.ones(2), tied)
