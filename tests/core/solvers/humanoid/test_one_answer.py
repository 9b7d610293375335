"""Drags by the humanoid method over pinned feet: ticks, a still mouse and a solve elsewhere give one answer, calmly."""

import numpy as np
import pytest

from core import Balance, Goal, Humanoid, Pose, Skeleton, rotation, solve
from core.body.anatomy import anatomy, with_ranges
from core.body.detection import find_roles
from core.body.masses import masses_of
from core.goals import SUPPORT_RADIUS, AnyGoal
from tests.core.solvers.humanoid.rigs import MILLIMETRE, place, six_points, turned

pytestmark = pytest.mark.long

FEET = ("foot.L", "foot.R")
CENTIMETRE = 10.0 * MILLIMETRE
CALM = 12.0  # degrees of a joint for a centimetre of the mouse


def crouched(figure: Skeleton) -> Pose:
    """The relaxed pose on bent legs, hips lowered by what these take."""
    pose = anatomy(figure).reference
    turns = pose.rotations.copy()
    for side in "LR":
        for bone, degrees in (("thigh", -50.0), ("shin", 85.0), ("foot", -35.0)):
            index = figure.index(f"{bone}.{side}")
            about = rotation.rotate(anatomy(figure).axes[index], np.radians([degrees, 0.0, 0.0]))
            turns[index] = rotation.mul(turns[index], rotation.exp(about))
    bent = Pose(turns, pose.translations)
    down = place(figure, pose, "foot.L") - place(figure, bent, "foot.L")
    return Pose(turns, bent.translations + np.where(np.arange(len(figure))[:, None] == 0, down, 0.0))


def asked(skeleton: Skeleton, start: Pose, bone: str) -> list[AnyGoal]:
    feet = tuple(skeleton.index(foot) for foot in FEET)
    up = np.array([0.0, 0.0, 1.0])
    balance = Balance("hips", feet, masses_of(skeleton), up, SUPPORT_RADIUS * skeleton.size, priority=2)
    return [Goal(bone, place(skeleton, start, bone), priority=1), *six_points(skeleton, start, FEET), balance]


@pytest.mark.parametrize("crouches", [True, False])
@pytest.mark.parametrize(
    ("bone", "way"),
    [
        ("hips", (0.0, 0.0, -0.6)),
        ("hips", (0.05, -0.3, -0.05)),
        ("hand.L", (0.0, 0.0, -1.2)),
        ("hand.L", (1.2, -0.6, 0.0)),
        ("head", (0.0, -0.1, -0.5)),
    ],
)
def test_far_out_of_reach_ticks_are_calm_and_end_where_a_solve_does(
    figure: Skeleton, bone: str, way: tuple[float, float, float], crouches: bool
) -> None:
    """Hips that were dragged to the floor turned thighs by half a turn, and again as the mouse stopped."""
    start = crouched(figure) if crouches else anatomy(figure).reference
    skeleton = with_ranges(figure, find_roles(figure), start)
    goals, method = asked(skeleton, start, bone), Humanoid(strength=1.0)
    drag, here, last = method.prepare(skeleton, start, goals), place(skeleton, start, bone), start
    count = round(float(np.linalg.norm(way)) / CENTIMETRE)
    for number in range(1, count + 1):
        target = here + number / count * np.array(way)
        drag.move(0, target)
        tick = drag.solve().pose
        assert turned(tick, last).max() < CALM, number
        last = tick
        if number % 10 == 0 or number == count:
            alone = solve(skeleton, start, [Goal(bone, target, priority=1), *goals[1:]], method)
            assert turned(tick, drag.relax().pose).max() < 0.5
            assert turned(drag.relax().pose, alone.pose).max() < 0.1
    drag.move(0, here)
    assert turned(drag.solve().pose, start).max() < 0.1


def test_toes_dragged_beside_a_pinned_foot_end_alike_in_any_order_of_goals(figure: Skeleton) -> None:
    """A drag has its own goal first, Solve Here in the order of pins: they differed by up to 22 degrees."""
    start = crouched(figure)
    skeleton, toes = with_ranges(figure, find_roles(figure), start), np.array([0.0, -0.15, 0.0])
    away = place(skeleton, start, "foot.L") + toes + (0.2, -0.8, 0.8)
    far = Goal("foot.L", away, point=toes, priority=1)
    goals, method = six_points(skeleton, start, FEET), Humanoid(strength=1.0)
    first, last = (solve(skeleton, start, given, method).pose for given in ([far, *goals], [*goals, far]))
    assert turned(first, last).max() < 0.1
