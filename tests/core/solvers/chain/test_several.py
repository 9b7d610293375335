"""Several chains at once, and pins beside them."""

from dataclasses import replace

import numpy as np
import pytest

from core import Actuation, ContributionCCD, CoreError, Goal, PinAndDrag, Pose, Skeleton, forward, solve
from core.body.anatomy import anatomy, with_anatomy
from core.body.detection import find_roles
from core.contribution import preset, with_hinges
from core.solvers import SeveralChains

MILLIMETRE = 1e-3


@pytest.fixture
def pins(figure: Skeleton) -> PinAndDrag:
    plain = PinAndDrag(root="fixed", restarts=0, settle=False)
    return with_anatomy(figure, plain, find_roles(figure))[1]


def place(skeleton: Skeleton, pose: Pose, bone: str) -> np.ndarray:
    return forward(skeleton, pose)[0][..., skeleton.index(bone), :]


def by_preset(skeleton: Skeleton, name: str, base: str, effector: str) -> ContributionCCD:
    return ContributionCCD(
        preset(name, skeleton, base, effector), base=base, bends=with_hinges(skeleton, find_roles(skeleton))[1]
    )


def test_two_chains_that_share_nothing_do_what_each_does_alone(figure: Skeleton, pins: PinAndDrag) -> None:
    start = anatomy(figure).reference
    ways = np.linspace([0.0, 0.0, 0.0], [0.05, -0.25, 0.25], 5)
    goals = [Goal(f"hand.{side}", place(figure, start, f"hand.{side}") + ways) for side in "LR"]
    chains = [by_preset(figure, "arm", f"clavicle.{side}", f"hand.{side}") for side in "LR"]
    both = solve(figure, start, goals, SeveralChains(dict(enumerate(chains)), pins))
    assert both.converged.all()
    pose = start
    for goal, chain in zip(goals, chains, strict=True):
        pose = solve(figure, pose, [goal], chain).pose
    np.testing.assert_array_equal(both.pose.rotations, pose.rotations)
    np.testing.assert_array_equal(both.iterations > 0, [False] + 4 * [True])


def test_two_chains_that_share_a_back_both_arrive_and_nothing_else_turns(figure: Skeleton, pins: PinAndDrag) -> None:
    start = anatomy(figure).reference
    goals = [Goal(f"hand.{side}", place(figure, start, f"hand.{side}") + np.array([0.0, -0.5, 0.1])) for side in "LR"]
    chains = {number: by_preset(figure, "arm", "spine", f"hand.{side}") for number, side in enumerate("LR")}
    solution = solve(figure, start, goals, SeveralChains(chains, pins))
    assert solution.converged, solution.explain()
    listed = {str(one.bone) for chain in chains.values() for one in chain.actuations}
    turned = {figure.names[bone] for bone in np.flatnonzero(solution.turned() > 1e-6)}
    assert turned <= listed
    assert "spine" in turned


def test_a_pinned_hand_stays_while_a_list_bends_the_back(figure: Skeleton, pins: PinAndDrag) -> None:
    start = anatomy(figure).reference
    held = place(figure, start, "hand.R") + np.array([0.1, -0.2, 0.3])
    start = solve(figure, start, [Goal("hand.R", held)], by_preset(figure, "arm", "clavicle.R", "hand.R")).pose
    chain = by_preset(figure, "spine", "spine", "neck")
    led = Goal("neck", place(figure, start, "neck") + np.array([0.02, -0.12, -0.04]), priority=1)
    alone = solve(figure, start, [led], chain).pose
    assert np.linalg.norm(place(figure, alone, "hand.R") - held) > 50.0 * MILLIMETRE
    for root in ((), (2,)):  # one pose, and a batch
        goals = [Goal("hand.R", np.broadcast_to(held, (*root, 3))), led]
        solution = solve(figure, start, goals, SeveralChains({1: chain}, pins))
        assert solution.converged.all(), solution.explain()
        np.testing.assert_allclose(place(figure, solution.pose, "hand.R") - held, 0.0, atol=0.3 * MILLIMETRE)
    back = [figure.index(bone) for bone in ("spine", "chest")]
    after = solution.pose[0].rotations[back]
    assert np.abs(np.sum(after * alone.rotations[back], axis=-1)).min() > np.cos(np.radians(3.0))  # the list's bend
    legs = [figure.index(f"{bone}.{side}") for bone in ("thigh", "shin", "foot") for side in "LR"]
    np.testing.assert_array_equal(solution.pose[0].rotations[legs], start.rotations[legs])


def test_what_cannot_be_met_is_said_and_what_makes_no_sense_refused(figure: Skeleton, pins: PinAndDrag) -> None:
    start = Pose.rest(figure)
    chain = ContributionCCD((Actuation("forearm.L", "X"),), base="upper_arm.L")
    far = [
        Goal("hand.L", place(figure, start, "hand.L") + np.array([1.0, 0.0, 0.0])),
        Goal("hand.R", place(figure, start, "hand.R")),
    ]
    solution = solve(figure, start, far, SeveralChains({0: chain}, pins))
    assert not solution.converged
    assert solution.explain()[0].startswith("hand.L is ")
    with pytest.raises(CoreError, match="is for goal 3, but there are 2"):
        solve(figure, start, far, SeveralChains({3: chain}, pins))
    with pytest.raises(CoreError, match=r"solves only the position of .*, without rotation"):
        solve(figure, start, [replace(far[0], rotation=[1.0, 0.0, 0.0, 0.0]), far[1]], SeveralChains({0: chain}, pins))
