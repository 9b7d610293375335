"""The pull of the humanoid method: what is out of reach takes the body along, as far as it pulls and the body gives."""

import numpy as np

from core import Goal, Humanoid, Pose, Skeleton, solve
from tests.core.solvers.humanoid.rigs import ALONE, MILLIMETRE, place, six_points, turned


def test_a_hand_out_of_reach_pulls_the_body_and_the_feet_stay(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    goals = six_points(figure, rest, ("foot.L", "foot.R"))
    target = place(figure, rest, "hand.L") + np.array([0.1, -0.25, -0.35])
    solution = solve(figure, rest, [*goals, Goal("hand.L", target)], ALONE)
    assert solution.position_error.max() < 0.1 * MILLIMETRE
    assert np.linalg.norm(place(figure, solution.pose, "hips") - place(figure, rest, "hips")) > 0.01
    assert turned(solution.pose, rest)[figure.index("clavicle.L")] > 1.0


def test_without_pull_the_arm_is_stretched_and_nothing_else_moves(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    target = place(figure, rest, "hand.L") + np.array([0.5, 0.0, 0.3])
    solution = solve(figure, rest, [Goal("hand.L", target)], Humanoid(pull=0.0, finish=False))
    moved = {figure.names[bone] for bone in np.flatnonzero(turned(solution.pose, rest) > 1e-6)}
    assert moved <= {"upper_arm.L", "forearm.L", "hand.L"}
    shoulder, elbow, hand = (place(figure, solution.pose, f"{bone}.L") for bone in ("upper_arm", "forearm", "hand"))
    np.testing.assert_allclose(np.cross(elbow - shoulder, hand - elbow), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.cross(hand - shoulder, target - shoulder), 0.0, atol=1e-9)


def test_what_resists_stays(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    goal = Goal("hand.L", place(figure, rest, "hand.L") + np.array([0.3, -0.2, 0.1]))
    held = solve(figure, rest, [goal], Humanoid(resist={"spine": 1.0, "shoulder": 1.0}, finish=False)).pose
    still = [figure.index(bone) for bone in ("spine", "chest", "clavicle.L", "clavicle.R")]
    assert turned(held, rest)[still].max() < 1e-6
    assert np.linalg.norm(held.translations[0]) > 0.05


def test_what_does_not_pull_and_what_resists_stays_when_goals_are_finished(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    far = Goal("hand.L", place(figure, rest, "hand.L") + np.array([0.2, -0.4, -0.6]))
    feet = six_points(figure, rest, ("foot.L", "foot.R"))
    hips = place(figure, rest, "hips")
    loose = solve(figure, rest, [far, *feet], Humanoid(pull={"hand.L": 0.0}))
    np.testing.assert_allclose(place(figure, loose.pose, "hips"), hips, atol=MILLIMETRE)
    assert loose.position_error[0] > 0.1
    held = solve(figure, rest, [far, *feet], Humanoid(resist={"hips": 1.0}))
    np.testing.assert_allclose(place(figure, held.pose, "hips"), hips, atol=MILLIMETRE)
    assert held.position_error[0] < loose.position_error[0]
    stiff = solve(figure, rest, [far], Humanoid(resist={"spine": 1.0, "shoulder": 1.0}))
    still = [figure.index(bone) for bone in ("spine", "chest", "clavicle.L", "clavicle.R")]
    assert turned(stiff.pose, rest)[still].max() < 0.1


def test_settings_that_leave_the_body_behind_are_said_to_be_why(figure: Skeleton) -> None:
    rest = Pose.rest(figure)
    goals = [*six_points(figure, rest, ("foot.L", "foot.R")),
             Goal("hand.L", place(figure, rest, "hand.L") + np.array([0.2, -0.4, -0.6]))]  # fmt: skip
    loose = solve(figure, rest, goals, Humanoid(pull={"hand.L": 0.0}))
    assert loose.reasons(2) == ["its pull of 0 is too low to move the body", "fully stretched from upper_arm.L"]
    feet = solve(figure, rest, [Goal("hips", place(figure, rest, "hips") + 0.3), *goals[:2]], Humanoid(pull=0.0))
    assert feet.reasons(1)[0] == "its pull of 0 is too low to move the body"
    assert not any("takes precedence" in reason or "other way" in reason for reason in feet.reasons(1))
    held = solve(figure, rest, goals, Humanoid(resist={"hips": 1.0, "spine": 1.0}))
    assert held.reasons(2)[:2] == ["Resist of 1 keeps hips in place", "Resist of 1 keeps spine in place"]
    assert solve(figure, rest, goals, Humanoid()).explain() == []
