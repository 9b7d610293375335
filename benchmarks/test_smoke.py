"""That the benchmarks run, with the peers and without, and that their judge can be trusted."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks import everything, work
from benchmarks.smoke import ROOT, printed_by, start
from benchmarks.with_poise import Solver

# stands in front of the peers, as if they were not installed
NO_PEERS = "raise ImportError(f'{__name__} is hidden by the test')\n"


def smoke(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    for peer in ("mink", "pink", "pinocchio", "placo"):
        (tmp_path / f"{peer}.py").write_text(NO_PEERS)
    return start("benchmarks", "--smoke", *arguments, PYTHONPATH=str(tmp_path))


def test_without_peers_poise_is_measured_and_the_missing_ones_are_named(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    done = smoke(tmp_path, "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "mink is missing" in done.stdout
    assert "pink is missing" in done.stdout
    document = json.loads(file.read_text())
    assert set(document["missing"]) == {"mink", "pink", "placo", "pinocchio"}
    measured = {(f["solver"], f["work"], f["degrees_of_freedom"]) for f in document["figures"]}
    assert measured == {("Poise", "W1", 72), ("Poise", "W1", 198), ("Poise", "W2", 72), ("Poise*", "W2", 72)}
    assert all(f["solved"] == 1.0 for f in document["figures"])


def test_json_to_standard_output_is_nothing_but_json(tmp_path: Path) -> None:
    done = smoke(tmp_path, "--json", "-")
    assert json.loads(done.stdout)["smoke"] is True
    assert "W1, 72 DoF" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["batch", "--clips", "0"], "--clips must be at least 1"),
        (["batch", "--json", "nowhere/x.json"], "--json: there is no folder"),
        (["everything", "--folder", "pyproject.toml/x"], "--folder: "),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    name, *rest = options
    monkeypatch.setattr(sys, "argv", [name, *rest])
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit):
        import_module(f"benchmarks.{name}").main()
    assert message in capsys.readouterr().err


def test_asked_for_peers_must_be_there(tmp_path: Path) -> None:
    assert smoke(tmp_path, "--peers").returncode == 1


@pytest.mark.skipif(find_spec("bpy") is None, reason="the tick inside Blender needs PyPI's bpy")
def test_a_tick_inside_blender_is_measured_beside_its_own_constraints(tmp_path: Path) -> None:
    printed_by("benchmarks.tick", "--smoke", "--json", str(tmp_path / "figures.json"))
    figures = json.loads((tmp_path / "figures.json").read_text())["figures"]
    solved = {(f["solver"], f["settings"]): f["solved"] for f in figures}
    assert solved.pop(("still", "no limits")) == 0.0
    free = {(solver, "no limits") for solver in ("Poise", "IK", "IK, hips")}
    assert set(solved) == {("Poise", "IK + anatomical limits"), ("Poise", "IK limits"), ("IK", "IK limits"), *free}
    assert set(solved.values()) == {1.0}  # the first targets are easy
    assert all(0.0 < f["median_update_ms"] < f["median_ms"] <= f["percentile_99_ms"] for f in figures)


@pytest.mark.parametrize("kind", work.KINDS)
def test_the_rig_has_the_degrees_of_freedom_it_is_named_for(kind: str) -> None:
    rig = work.load_rig(kind)
    assert 3 * len(rig.names) + 3 == work.KINDS[kind]
    assert np.all(rig.limits[:, :, 0] <= 0.0)
    assert np.all(rig.limits[:, :, 1] >= 0.0)


def test_the_judge_puts_the_rest_pose_where_the_rig_has_it() -> None:
    rig = work.load_rig("full")
    rest = np.broadcast_to(np.eye(3), (1, len(rig.names), 3, 3))
    heads, frames = work.forward(rig, rest, rig.heads[:1])
    np.testing.assert_allclose(heads[0], rig.heads, atol=1e-6)
    np.testing.assert_allclose(frames[0], rig.frames, atol=1e-6)


def test_hinge_angles_come_back() -> None:
    angles = np.random.default_rng(0).uniform([-3.1, -1.5, -3.1], [3.1, 1.5, 3.1], (1000, 3))
    np.testing.assert_allclose(work.hinge_angles(work.hinge_matrices(angles)), angles, atol=1e-9)


def test_the_judge_sees_a_missed_goal_and_a_broken_limit() -> None:
    task = work.drag("body", 3)
    solver = Solver(task)
    solver.start()
    solver.run()
    answer = solver.answer()
    assert work.judge(task, answer).solved == 1.0

    roots = answer.roots.copy()
    roots[1, 2] += 0.003
    assert work.judge(task, replace(answer, roots=roots)).solved == pytest.approx(2 / 3)

    turns = answer.rotations.copy()
    turns[0, task.rig.index("toe.L")] = work.hinge_matrices(np.radians([0.0, 0.0, 9.0]))  # 4 degrees too far
    verdict = work.judge(task, replace(answer, rotations=turns))
    assert verdict.solved == pytest.approx(2 / 3)
    assert np.degrees(verdict.limit) == pytest.approx(4.0, abs=0.01)


def test_targets_move_by_what_a_mouse_and_a_walk_do() -> None:
    steps = np.linalg.norm(np.diff(work.drag("body", 200).positions[:, -1], axis=0), axis=-1)
    assert steps.min() > 0.01
    assert steps.max() < 0.03
    walk = work.walk("body", 300)
    np.testing.assert_allclose(walk.positions[0], walk.rig.heads[walk.bones], atol=1e-9)
    assert np.linalg.norm(np.diff(walk.positions, axis=0), axis=-1).max() < 0.06


@pytest.mark.skipif(find_spec("bpy") is None, reason="a batch needs PyPI's bpy")
def test_a_batch_is_measured_with_one_process_and_with_two(tmp_path: Path) -> None:
    printed_by("benchmarks.batch", "--smoke", "--json", str(tmp_path / "figures.json"))
    document = json.loads((tmp_path / "figures.json").read_text())
    assert [turn["processes"] for turn in document["turns"]] == [1, 2]
    assert document["bars"] == [{"bar": "two processes come to the same", "met": True}]


def test_everything_is_measured_by_one_command_with_json_and_tables(tmp_path: Path) -> None:
    printed = printed_by("benchmarks.everything", "--smoke", "--parts", "growth", "--folder", str(tmp_path))
    rows = json.loads((tmp_path / "everything.json").read_text())["growth"]["rows"]
    assert {what: [row[what] for row in found] for what, found in rows.items()} == {
        "bones": [10],
        "goals": [1],
        "frames": [1],
    }
    assert all(row["milliseconds"] > 0 < row["peak_mib"] for found in rows.values() for row in found)
    assert "==== growth" in printed


def test_the_picture_has_the_time_of_every_solver() -> None:
    found = {
        "drag": {
            "figures": [{"work": "W1", "degrees_of_freedom": 72, "solver": "mink", "milliseconds_per_target": 0.5}]
        },
        "bake": {"poise": 1000.0, "nla.bake": 100.0},
    }
    assert everything.speeds(found) == {"W1, 72 DoF": {"mink": 500.0}, "bake": {"Poise": 1000.0, "nla.bake": 10_000.0}}
