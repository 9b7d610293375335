"""What scripts get wrong is refused in a sentence, with no warning of numpy's on the way."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import Balance, CoreError, Distance, EulerBox, Goal, LookAt, PinAndDrag, Pose, Skeleton, solve
from tests.core.rigs import FIGURE, skeleton_of

SKELETON = skeleton_of(FIGURE)
REST = Pose.rest(SKELETON)
PLACE = (0.5, -0.3, 1.3)
COUNT = len(SKELETON)
NAN, INF = float("nan"), float("inf")


def of(*goals: Any, pose: Pose = REST, **settings: Any) -> Callable[[], Any]:
    return lambda: solve(SKELETON, pose, list(goals), PinAndDrag(**settings))


def made(kind: Any, *arguments: Any, **settings: Any) -> Callable[[], Any]:
    return lambda: of(kind(*arguments, **settings))()


def skeleton(**settings: Any) -> Callable[[], Any]:
    ones = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
    given = {"parents": [-1, 0], "offsets": np.zeros((2, 3)), "lengths": [1.0, 1.0], "rest_rotations": ones}
    return lambda: Skeleton(["a", "b"], **given | settings)


def problem(act: Callable[[Any], Any], *goals: Any) -> Callable[[], Any]:
    wanted = goals or (Goal("hand.R", PLACE), Goal("head", rotation=(1.0, 0.0, 0.0, 0.0)))
    return lambda: act(PinAndDrag().prepare(SKELETON, REST, wanted))


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no bone": (made(Goal, None, PLACE), "by its name or its number, not by None"),
    "half a bone": (made(Goal, 1.5, PLACE), "not by 1.5"),
    "a truth": (made(Goal, True, PLACE), "not by True"),
    "a list of bones": (made(Goal, ["head"], PLACE), "not by"),
    "another carrier": (made(Goal, "head", PLACE, relative_to=0.5), "not by 0.5"),
    "priority nan": (made(Goal, "head", PLACE, priority=NAN), "must be 0, 1, 2"),
    "priority inf": (made(Goal, "head", PLACE, priority=INF), "must be 0, 1, 2"),
    "priority first": (made(Goal, "head", PLACE, priority="first"), "must be 0, 1, 2"),
    "no priority": (made(Goal, "head", PLACE, priority=None), "must be 0, 1, 2"),
    "two priorities": (made(Goal, "head", PLACE, priority=np.array([0, 1])), "must be 0, 1, 2"),
    "no point": (made(Goal, "head", PLACE, point=None), "point of the goal"),
    "no other point": (made(Distance, "head", "hand.L", 1.0, other_point=None), "other_point"),
    "no weight": (made(Goal, "head", PLACE, position_weight=None), "needs numbers"),
    "a place beyond all": (made(Goal, "head", (1e200, 0.0, 0.0)), "too large"),
    "a point beyond all": (made(Goal, "head", PLACE, point=(0.0, 1e200, 0.0)), "too large"),
    "a weight beyond all": (made(Goal, "head", PLACE, position_weight=1e300), "too large"),
    "an axis beyond all": (made(LookAt, "head", PLACE, axis=(1e300, 0.0, 0.0)), "too large"),
    "nothing to look at": (made(LookAt, "head", None), "target of the goal"),
    "against itself": (made(Goal, "head", PLACE, relative_to="head"), "target for itself"),
    "looking from itself": (made(LookAt, "head", PLACE, relative_to="head"), "target for itself"),
    "far from itself": (made(Distance, "head", SKELETON.index("head"), 1.0), "target for itself"),
    "one support": (made(Balance, "hips", "foot.L"), "needs a list"),
    "no skeleton": (lambda: solve(None, REST, [Goal("head", PLACE)]), "must be a Skeleton"),  # type: ignore
    "no pose": (lambda: solve(SKELETON, None, [Goal("head", PLACE)]), "must be a Pose"),  # type: ignore
    "no method": (lambda: solve(SKELETON, REST, [Goal("head", PLACE)], "pins"), "The method must be"),  # type: ignore
    "coherent in words": (of(Goal("head", PLACE), coherent="no"), "coherent must be True or False"),
    "a reference of 3": (of(Goal("head", PLACE), reference=3), "reference must be a Pose"),
    "another pose": (of(Goal("head", PLACE), pose=Pose.rest(skeleton()())), "The pose has 2 bones"),
    "another reference": (of(Goal("head", PLACE), reference=Pose.rest(skeleton()())), "The reference has 2 bones"),
    "no goal": (of("head"), "goals must be in a list"),
    "one goal": (lambda: solve(SKELETON, REST, Goal("head", PLACE)), "goals must be in a list"),  # type: ignore
    "deviations in words": (of(Goal("head", PLACE), deviations="stiff"), "deviations must be numbers"),
    "deviations beyond all": (of(Goal("head", PLACE), deviations=np.full((COUNT, 3), 1e300)), "finite"),
    "bends in words": (of(Goal("head", PLACE), bends="forwards"), "bends must be numbers"),
    "bends of nan": (of(Goal("head", PLACE), bends=np.full((COUNT, 3), NAN)), "bends must be finite"),
    "axes of nan": (of(Goal("head", PLACE), axes=np.full((COUNT, 4), NAN)), "axes must be finite"),
    "axes of zeros": (of(Goal("head", PLACE), axes=np.zeros((COUNT, 4))), "other than 0, 0, 0, 0"),
    "half a restart": (of(Goal("head", PLACE), restarts=1.5), "restarts must be"),
    "no iterations": (of(Goal("head", PLACE), iterations=None), "iterations must be"),
    "half an iteration": (of(Goal("head", PLACE), iterations=1.5), "iterations must be"),
    "a tolerance in words": (of(Goal("head", PLACE), position_tolerance="x"), "position_tolerance must be"),
    "no tolerance": (of(Goal("head", PLACE), rotation_tolerance=None), "rotation_tolerance must be"),
    "limits in numbers": (of(Goal("head", PLACE), limits=np.zeros(3)), "limits must be True, False"),
    "a stiffness of 2": (skeleton(stiffness=np.full((2, 3), 2.0)), "stiffness must be at least 0 and at most 1"),
    "a stretch of -1": (skeleton(stretch=[-1.0, 0.0]), "stretch must be at least 0"),
    "a length of -1": (skeleton(lengths=[1.0, -1.0]), "lengths must be at least 0"),
    "no rest": (skeleton(rest_rotations=np.zeros((2, 4))), "quaternion 0, 0, 0, 0"),
    "a pose in words": (lambda: Pose("x", np.zeros((2, 3))), "must be numbers"),
    "a huge priority": (lambda: Goal("hand.R", PLACE, priority=10**30), "priority"),
    "a support alone": (lambda: Balance("hips", 3), "needs a list"),
    "two radii": (lambda: Balance("hips", ("foot.L",), radius=[0.1, 0.2]), "one number"),
    "one limit": (skeleton(limits=EulerBox([1], ["XYZ"], [[-1.0] * 3], [[1.0] * 3])), "tuple of groups"),
    "other bones": (problem(lambda p: p.set_goal(0, Goal("hand.L", PLACE))), "for other bones"),
    "another priority": (problem(lambda p: p.set_goal(0, Goal("hand.R", PLACE, priority=1))), "priority of the goal"),
    "another point": (problem(lambda p: p.set_goal(0, Goal("hand.R", PLACE, point=(0, 1, 0)))), "point of the goal"),
    "a rotation, too": (
        problem(lambda p: p.set_goal(0, Goal("hand.R", PLACE, (1.0, 0.0, 0.0, 0.0)))), "without a rotation"
    ),
    "other axes": (problem(lambda p: p.set_goal(0, Goal("hand.R", PLACE, position_axes=(1, 0, 0)))), "position_axes"),
    "another kind": (problem(lambda p: p.set_goal(0, LookAt("hand.R", PLACE))), "must still be a Goal"),
    "other frames": (problem(lambda p: p.set_goal(0, Goal("hand.R", np.zeros((4, 3))))), "other frames"),
    "places of other frames": (problem(lambda p: p.move(0, np.zeros((4, 3)))), "other frames"),
    "a time in words": (problem(lambda p: p.advance("x")), "number of seconds"),
    "no such goal": (problem(lambda p: p.move(7, PLACE)), "no goal 7"),
    "a place in words": (problem(lambda p: p.move(0, "x")), "needs numbers"),
    "a flat place": (problem(lambda p: p.move(0, (1.0, 2.0))), "needs 3 numbers"),
    "no place to move": (problem(lambda p: p.move(1, PLACE)), "no position to move"),
    "a long rotation": (problem(lambda p: p.move(1, None, (2.0, 0.0, 0.0, 0.0))), "not a unit quaternion"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_in_a_sentence(name: str) -> None:
    act, sentence = WRONG[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CoreError, match=sentence) as error:
            act()
    assert str(error.value).endswith(".")


def test_a_move_takes_what_numpy_takes() -> None:
    one, two = (PinAndDrag().prepare(SKELETON, REST, [Goal("hand.R", PLACE)]) for _ in range(2))
    one.move(0, [-0.4, -0.3, 1.4])  # type: ignore
    two.move(0, np.array([-0.4, -0.3, 1.4]))
    np.testing.assert_array_equal(one.solve().pose.rotations, two.solve().pose.rotations)


def test_axes_need_not_be_of_unit_length() -> None:
    axes = np.tile([2.0, 1.0, 0.0, 0.0], (COUNT, 1))
    long, unit = (
        solve(SKELETON, REST, [Goal("hand.R", PLACE)], PinAndDrag(axes=some)) for some in (axes, axes / 5**0.5)
    )
    assert unit.converged
    np.testing.assert_allclose(long.pose.rotations, unit.pose.rotations, atol=1e-9)
