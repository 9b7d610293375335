"""That the benchmark of chains runs, and that what it measures against is what it says."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.chains import work
from benchmarks.chains.triangulation import triangulation
from benchmarks.chains.with_poise import OneByOne
from benchmarks.smoke import printed_by


def test_it_runs_without_three_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    assert "three.js is missing" in printed_by("benchmarks.chains", "--smoke", "--json", str(file))
    document = json.loads(file.read_text())
    ours = [row for row in document["rows"] if row["solver"].startswith("Poise")]
    assert {row["chain"] for row in ours} == {"arm, 4 joints", "tail, 10 joints"}
    assert all(row["solved"] == 1.0 for row in ours if "plain" not in row["solver"])
    for row in document["spread"]:
        np.testing.assert_allclose(np.sum(row["mean_shares"]), 1.0, atol=1e-9)


def test_chains_with_limits_are_measured() -> None:
    rows = printed_by("benchmarks.chains.limits", "--targets", "3").splitlines()[1:]
    assert [row.partition("  ")[0] for row in rows] == [
        f"{chain}, {joints}" for joints in ("balls", "hinges") for chain in ("arm, 4 joints", "tail, 10 joints")
    ]
    assert all("100.0%" in row for row in rows[:2])


def test_the_judge_agrees_with_the_solver_about_what_it_reached() -> None:
    arm = work.chains(10)[0]
    solver = OneByOne(arm, "plain", passes=0, sweeps=work.SWEEPS, finish=False)
    solver.run()
    missing = work.errors(arm, solver.answers())
    walk: Any = solver.method.prepare(solver.skeleton, solver.start, solver.goal(arm.targets[0])).walk
    for target, far in zip(arm.targets.tolist(), missing, strict=True):
        walk.restart()
        walk.reach(tuple(target))
        np.testing.assert_allclose(walk.error, far, atol=1e-9)


def test_triangulation_reaches_in_one_turn_of_each_joint() -> None:
    """Two bones of 1 in a line along Y, the target at 1 along X: a triangle of equal sides, so 30 and 120 degrees."""
    two = work.Work("two", np.ones(2), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)), np.array([[1.0, 0.0, 0.0]]))
    angles, missing = triangulation(two)
    np.testing.assert_allclose(np.degrees(angles), [[30.0, 120.0]], atol=1e-6)
    np.testing.assert_allclose(missing, 0.0, atol=1e-9)
