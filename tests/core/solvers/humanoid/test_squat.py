"""Hips that are dragged over pinned feet by the humanoid method: ankles stop, knees are over the toes, nobody falls."""

import numpy as np
import pytest

from core import Balance, Goal, Humanoid, Pose, Skeleton, forward, rotation, solve
from core.body.anatomy import anatomy, with_ranges
from core.body.detection import find_roles
from core.body.joint_limits import RANGES
from core.body.masses import distance_beyond, masses_of
from core.goals import SUPPORT_RADIUS
from core.pose import forward_matrices
from core.solvers.humanoid.limb import bend_limb, departure, measure_limb, swivel_of
from tests.core.solvers.humanoid.rigs import MILLIMETRE, place, six_points, turned

FEET = ("foot.L", "foot.R")
UP = np.array([0.0, 0.0, 1.0])
ANKLE = -RANGES["foot"][1][0]  # degrees


def squat(figure: Skeleton, start: Pose, shifts: np.ndarray) -> tuple[Skeleton, Pose]:
    """Return the skeleton and its poses (F,) with hips at their place shifted by (F, 3), as a drag asks for it."""
    skeleton = with_ranges(figure, find_roles(figure), start)
    feet = tuple(skeleton.index(foot) for foot in FEET)
    goals = [*six_points(skeleton, start, FEET), Goal("hips", place(skeleton, start, "hips") + shifts, priority=1)]
    balance = Balance("hips", feet, masses_of(skeleton), UP, SUPPORT_RADIUS * skeleton.size, priority=2)
    solution = solve(skeleton, start, [*goals, balance], Humanoid(strength=1.0))
    for number, goal in enumerate(goals[:2]):
        assert solution.position_error[:, number].max() < 0.2 * MILLIMETRE, goal.bone
        assert np.degrees(solution.rotation_error[:, number]).max() < 0.1, goal.bone
    return skeleton, solution.pose


def shins(skeleton: Skeleton, pose: Pose, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Return degrees (F,) that a shin leans forward, and metres (F,) that its knee is outside the line of the foot."""
    knee, ankle = (place(skeleton, pose, f"{bone}.{side}") for bone in ("shin", "foot"))
    foot = forward(skeleton, pose)[1][..., skeleton.index(f"foot.{side}"), :]
    line = rotation.rotate(foot, [0.0, 1.0, 0.0]) * (1.0 - UP)
    line /= np.linalg.norm(line, axis=-1, keepdims=True)
    out = np.cross(UP, line) * (1.0 if side == "L" else -1.0)
    shin = knee - ankle
    lean = np.degrees(np.arctan2(np.sum(shin * line, axis=-1), shin[..., 2]))
    return lean, np.sum(shin * out, axis=-1)


@pytest.mark.parametrize("start", ["rest", "relaxed"])
def test_hips_straight_down_bend_ankles_up_to_their_stop_and_go_back(figure: Skeleton, start: str) -> None:
    pose = Pose.rest(figure) if start == "rest" else anatomy(figure).reference
    down = np.linspace(0.05, 0.6, 12)[:, None] * -UP
    skeleton, found = squat(figure, pose, down)
    hips = place(skeleton, found, "hips")
    masses, matrices = masses_of(skeleton), forward_matrices(skeleton, found)
    feet = tuple(skeleton.index(foot) for foot in FEET)
    assert distance_beyond(skeleton, matrices, masses, feet, UP).max() < SUPPORT_RADIUS * skeleton.size + MILLIMETRE
    for side in "LR":
        lean, outside = shins(skeleton, found, side)
        assert lean.max() < ANKLE + 1.0
        assert lean[-1] > ANKLE - 5.0  # it is their stop
        assert np.abs(outside).max() < 30.0 * MILLIMETRE
    assert (np.diff(hips[:, 2]) < 0.0).all()
    back = hips[:, 1] - place(skeleton, pose, "hips")[1]
    assert back[-3:].min() > 50.0 * MILLIMETRE
    assert np.abs(hips[:, 0]).max() < 0.1 * MILLIMETRE
    # one half of the body is the mirror image of the other
    heads = forward(skeleton, found)[0]
    sides = [name.translate(str.maketrans("LR", "RL")) if "." in name else name for name in skeleton.names]
    mirrored = heads[:, [skeleton.index(name) for name in sides]] * np.array([-1.0, 1.0, 1.0])
    np.testing.assert_allclose(mirrored, heads, atol=0.2 * MILLIMETRE)


def test_hips_anywhere_below_leave_ankles_and_knees_as_people_have_them(figure: Skeleton) -> None:
    rng = np.random.default_rng(0)
    shifts = rng.uniform([-0.12, -0.12, -0.6], [0.12, 0.2, -0.05], (40, 3))
    skeleton, found = squat(figure, anatomy(figure).reference, shifts)
    for side in "LR":
        lean, outside = shins(skeleton, found, side)
        assert lean.max() < ANKLE + 2.0  # the stop is about the axis of an ankle, which may be turned, too
        assert np.abs(outside).max() < 120.0 * MILLIMETRE  # they go aside with the hips


@pytest.mark.parametrize("bowed", [-4.0, 3.0, 6.0])
def test_a_bowed_leg_comes_nearer_to_the_plane_of_its_hinge_as_it_bends(bowed: float) -> None:
    """Its hinge is about X; it is nearly straight, and bowed to a side. Nothing moves where nothing is wanted."""
    upper, lower, hinge = 0.42, 0.4, np.array([1.0, 0.0, 0.0])
    knee = -upper * UP
    end = knee - lower * rotation.rotate(rotation.exp(np.radians([3.0, bowed, 0.0])), UP)
    start = measure_limb(np.zeros(3), knee, end, hinge)
    field = np.stack([-UP, hinge, np.cross(-UP, hinge)], axis=-1)
    lengths = np.array(upper), np.array(lower)
    swivel = swivel_of(start, field) - start.turned
    off = []
    for target in (end, 0.8 * end, 0.5 * end):
        turned = departure(start, target, *lengths)
        limb = bend_limb(field, np.zeros(3), target, *lengths, swivel + turned, turned)
        way = target / np.linalg.norm(target)
        off.append(np.degrees(np.arccos(np.clip(limb.normal @ (hinge - (hinge @ way) * way), -1.0, 1.0))))
        if target is end:
            np.testing.assert_allclose(limb.middle, knee, atol=1e-9)
    assert off[0] > 5.0 * off[1] > 0.0
    assert off[2] < off[1] < 12.0


def test_ticks_of_a_drag_end_where_a_solve_does_in_few_steps(figure: Skeleton) -> None:
    """Each goes on from the last one where its goals are missed; and the body comes home."""
    start = Pose.rest(figure)
    skeleton, hips = with_ranges(figure, find_roles(figure), start), place(figure, start, "hips")
    feet = tuple(skeleton.index(foot) for foot in FEET)
    balance = Balance("hips", feet, masses_of(skeleton), UP, SUPPORT_RADIUS * skeleton.size, priority=2)
    goals = [Goal("hips", hips, priority=1), *six_points(skeleton, start, FEET), balance]
    method = Humanoid(strength=1.0)
    drag, steps = method.prepare(skeleton, start, goals), []
    for down in (*np.arange(0.01, 0.5, 0.01), 0.5, *np.arange(0.45, 0.0, -0.05), 0.0):
        drag.move(0, hips - down * UP)
        tick = drag.solve()
        steps.append(int(tick.iterations))
        if down > 0.0 and round(100.0 * down) % 5 == 0:
            alone = solve(skeleton, start, [Goal("hips", hips - down * UP, priority=1), *goals[1:]], method)
            assert turned(tick.pose, alone.pose).max() < 0.5
    assert np.median(steps[25:49]) <= 4.0
    assert turned(tick.pose, start).max() == 0.0
