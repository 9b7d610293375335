"""That the quality benchmark runs with what is installed, and that its own arithmetic can be trusted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.quality import arms, levels, ours, reachable, unreachable
from benchmarks.quality.bodies import KINDS, beyond_limits, forward, from_angles, load_body, to_angles
from benchmarks.quality.hinges import Hinges
from core import forward as core_forward
from core import rotation

ROOT = Path(__file__).resolve().parent.parent


def test_a_smoke_run_measures_what_the_installed_libraries_allow(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks.quality", "--smoke", "--json", str(file), "--images", str(tmp_path)]
    command += ["--parts", "reachable", "arms"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    document = json.loads(file.read_text())
    assert {row["body"] for row in document["figures"]["reachable"]["rows"]} == set(KINDS)
    assert document["figures"]["arms"]["rows"][0]["solver"] == "Poise"
    for name in document["missing"]:
        assert f"{name} is missing" in done.stdout
    assert (tmp_path / "quality_errors.png").is_file() == ("matplotlib" not in document["missing"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_is_posed_as_core_poses_it(kind: str) -> None:
    body = load_body(kind)
    skeleton = ours.skeleton_of(body)
    assert body.size == pytest.approx(skeleton.size, rel=1e-6)
    rotations, roots = reachable.truths(body, np.random.default_rng(0), 3)
    heads, frames = forward(body, rotations, roots)
    core_heads, core_turns = core_forward(skeleton, ours.pose_of(body, rotations, roots))
    np.testing.assert_allclose(heads, core_heads, atol=1e-9)
    np.testing.assert_allclose(frames, rotation.to_matrix(core_turns), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_truth_is_within_limits_and_solves_its_own_problem(kind: str) -> None:
    problems = reachable.draw(kind, 0, 10)
    verdict = reachable.judge(problems, problems.rotations, problems.roots)
    assert verdict["solved"].all()
    assert not reachable.judge(problems, problems.rotations[::-1], problems.roots)["solved"].any()
    few = reachable.draw(kind, 0, 2)
    np.testing.assert_array_equal(few.rotations, problems.rotations[:2])


def test_the_judge_sees_a_broken_limit_and_a_millimetre() -> None:
    problems = reachable.draw("mpfb_mixamo", 0, 2)
    body = problems.body
    assert any(placed for _, placed, _ in problems.wishes)
    roots = problems.roots + 1.1e-3 * body.size * np.array([0.0, 0.0, 1.0])
    assert not reachable.judge(problems, problems.rotations, roots)["solved"].any()

    angles = np.zeros((len(body.names), 3))
    elbow = body.index(body.roles["forearm.L"])
    assert beyond_limits(body, from_angles(body, angles)) == 0.0
    angles[elbow] = body.upper[elbow] + np.radians(1.0)
    assert np.degrees(beyond_limits(body, from_angles(body, angles))) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_both_triples_of_angles_give_the_rotation_back(kind: str) -> None:
    body = load_body(kind)
    angles = np.random.default_rng(0).uniform(-1.5, 1.5, (4, len(body.names), 3))
    one, two = to_angles(body, from_angles(body, angles))
    np.testing.assert_allclose(one, angles, atol=1e-9)
    np.testing.assert_allclose(from_angles(body, two), from_angles(body, angles), atol=1e-9)


@pytest.mark.parametrize("free", [True, False])
def test_hinges_know_the_errors_and_their_derivatives(free: bool) -> None:
    body = load_body("named_unreal_apose")
    rotations, roots = reachable.truths(body, np.random.default_rng(1), 2)
    if not free:
        rotations[:, 0], roots = np.eye(3), np.zeros((2, 3))
    wishes = [(body.index(body.roles["hand.L"]), True, True), (body.index(body.roles["foot.R"]), True, False)]
    hinges = Hinges(body, wishes, free)
    heads, frames = forward(body, rotations, roots)
    x = hinges.state(rotations[0], roots[0])
    np.testing.assert_allclose(hinges.errors(x, heads[0], frames[0])[0], 0.0, atol=1e-12)
    _, slopes = hinges.errors(x, heads[1], frames[1])  # of points and frames: positions only compare here
    points = [0, 1, 2, 6, 7, 8]
    for column, dx in enumerate(1e-6 * np.eye(len(x))):
        ahead, behind = (hinges.errors(x + s * dx, heads[1], frames[1], False)[0] for s in (1.0, -1.0))
        np.testing.assert_allclose(slopes[points, column], (behind - ahead)[points] / 2e-6, atol=1e-8)
    turns = [3, 4, 5]
    for column, dx in enumerate(1e-6 * np.eye(len(x))):
        ahead, behind = (hinges.errors(x + s * dx, heads[0], frames[0], False)[0] for s in (1.0, -1.0))
        slope = hinges.errors(x, heads[0], frames[0])[1]
        np.testing.assert_allclose(slope[turns, column], (behind - ahead)[turns] / 2e-6, atol=1e-8)


def test_the_arm_reaches_its_own_poses_and_its_urdf_has_all_joints() -> None:
    arm = arms.load_arm()
    rotations = from_angles(arm, arms.random_angles(arm, np.random.default_rng(0), 20))
    heads, frames = forward(arm, rotations, np.zeros((20, 3)))
    assert arms.solved(arm, rotations, heads, frames).all()
    assert not arms.solved(arm, rotations[::-1], heads, frames).any()
    assert arms.urdf(arm).count("revolute") == 7


def test_scipy_finds_no_less_than_nothing_of_a_reachable_goal() -> None:
    pytest.importorskip("scipy", reason="scipy is only in the group `quality`")
    body = unreachable.chain_body(4)
    rotations, _ = reachable.truths(body, np.random.default_rng(0), 1)
    rotations[:, 0] = np.eye(3)
    heads, frames = forward(body, rotations, np.zeros((1, 3)))
    hinges = Hinges(body, [(body.index("tip"), True, True)], free_root=False)
    start = hinges.state(rotations[0], np.zeros(3))
    assert unreachable.bounded_least_squares(hinges, [start], heads[0], frames[0]) < 1e-6


def test_the_quadratic_program_improves_a_pose_that_is_not_the_best() -> None:
    pytest.importorskip("qpsolvers", reason="qpsolvers is only in the group `quality`")
    wishes, priorities, heads, frames = levels.problem("kaykit", 2, 1)
    body = load_body("kaykit")
    columns = Hinges(body, wishes, free_root=True)
    parts = [[w for w, p in zip(wishes, priorities, strict=True) if p == level] for level in range(2)]
    hierarchy = levels.Hierarchy([Hinges(body, part, free_root=True) for part in parts], columns)
    rest = columns.state(np.tile(np.eye(3), (len(body.names), 1, 1)), np.zeros(3))
    before, linear, after = levels.improve(hierarchy, 1, rest, heads[0], frames[0])
    assert linear < 0.95 * before
    assert after < 0.9 * before
