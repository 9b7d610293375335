"""The prior: deviations and correlations of the coordinates."""

from typing import Any

import numpy as np
import pytest

from core import CoreError, Goal, PinAndDrag, Pose, Skeleton, forward, rotation
from core.solvers.pins.prior import Prior

SPREAD = np.array([0.2, 0.5, 0.0, 0.8, 0.4])
PAIRS = [(0, 1, -0.7), (1, 3, 0.5), (0, 2, 0.9)]


def covariance() -> np.ndarray:
    together = np.eye(5)
    for first, second, value in PAIRS[:2]:
        together[first, second] = together[second, first] = value
    return together * np.multiply.outer(SPREAD, SPREAD)


def test_strain_is_that_of_the_covariance_where_something_moves() -> None:
    x = np.random.default_rng(0).normal(size=(7, 5))
    moves = SPREAD > 0.0
    inverse = np.linalg.inv(covariance()[np.ix_(moves, moves)])
    wanted = np.sum(x[:, moves] * (x[:, moves] @ inverse), axis=1)
    np.testing.assert_allclose(Prior.of(SPREAD, PAIRS).strain(x), wanted)


def test_ties_are_the_same_prior_as_sums_of_squares() -> None:
    prior = Prior.of(SPREAD, PAIRS)
    spread, rows = prior.ties()
    x = np.random.default_rng(1).normal(size=(7, 5))
    z = x[:, SPREAD > 0.0] / spread[SPREAD > 0.0]
    tied = z @ rows[:, SPREAD > 0.0].T
    np.testing.assert_allclose(np.sum(z * z, axis=1) + np.sum(tied * tied, axis=1), prior.strain(x))
    assert not len(Prior.of(SPREAD, []).ties()[1])


def test_correlations_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(CoreError, match="contradict"):
        Prior.of(np.ones(3), [(0, 1, 0.9), (1, 2, 0.9), (0, 2, -0.9)])


@pytest.mark.parametrize("settle", [True, False])
@pytest.mark.parametrize("frames", [1, 3])
def test_what_goes_with_a_turn_goes_along(figure: Skeleton, settle: bool, frames: int) -> None:
    """The mean of a Gaussian given another: correlation times the deviations' ratio."""
    led, other = figure.index("upper_arm.L"), figure.index("upper_arm.R")
    deviations = np.zeros((len(figure), 3))
    deviations[led], deviations[other] = 0.4, 0.2
    rest = Pose.rest(figure)
    heads, turns = forward(figure, rest)
    turn = rotation.mul(turns[led], rotation.exp(np.array([0.5, 0.0, 0.0])))
    goals = [Goal("upper_arm.L", None, np.repeat(turn[None], frames, axis=0)), Goal("upper_arm.R", heads[other])]
    method = PinAndDrag(
        root="fixed",
        settle=settle,
        deviations=deviations,
        correlations=((led, 0, other, 0, 0.6), (led, 1, other, 2, 0.5)),
    )
    found = rotation.log(method.solve(figure, rest, goals).pose.rotations[:, other])
    np.testing.assert_allclose(found, np.tile([0.6 * 0.5 * 0.2 / 0.4, 0.0, 0.0], (frames, 1)), atol=1e-3)


@pytest.mark.parametrize(
    "given",
    [
        {"correlations": ((0, 0),)},
        {"correlations": 3},
        {"correlations": ((0, 0, 1, 0, float("nan")),)},
        {"correlations": ((0, 5, 1, 0, 0.5),)},
        {"correlations": ((0, 0, 999, 0, 0.5),)},
        {"root_bone": "x"},
        {"root_bone": 999},
    ],
)
def test_what_is_no_bone_or_no_correlation_is_refused(figure: Skeleton, given: dict[str, Any]) -> None:
    with pytest.raises(CoreError, match=next(iter(given))):
        PinAndDrag(**given).solve(figure, Pose.rest(figure), [Goal("head", np.ones(3))])
