"""That the benchmark of naturalness runs: a few frames of real motion, or a sentence that there is none."""

import re

import pytest

from benchmarks.naturalness.motion import DATA
from benchmarks.smoke import printed_by


def measured(module: str, *options: str) -> list[str]:
    """The lines that a benchmark prints; the test is skipped where it says that there is no motion."""
    printed = printed_by(module, *options)
    if not DATA.is_dir():
        assert "Nothing was measured" in printed
        pytest.skip("the motion packs are not here")
    return printed.splitlines()


def test_a_few_frames_are_measured() -> None:
    few = ["--sets", "walks", "--stride", "1000", "--cases", "A", "--methods", "pins", "humanoid"]
    rows = [line.split() for line in measured("benchmarks.naturalness", *few)[1:]]
    assert [row[2] for row in rows] == ["pins", "humanoid"]
    for row in rows:
        assert float(row[4]) < 30.0  # millimetres
        assert row[8:10] == ["100.0%", "0.0%"]  # effectors met, wrong bends


def test_accelerations_of_clips_are_measured_with_what_was_learned_too() -> None:
    few = ["--clips", "6", "--stride", "20", "--sets", "salsa", "--cases", "A", "--methods", "tuned"]
    ((name, case, method, frames, *ratios),) = [line.split() for line in measured("benchmarks.naturalness", *few)[1:]]
    assert (name, case, method, int(frames)) == ("salsa", "A", "tuned", 12)
    assert all(0.5 < float(ratio) < 2.0 for ratio in ratios)


def test_limits_admit_what_people_do() -> None:
    lines = measured("benchmarks.naturalness.limits", "--stride", "20")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert {row[0] for row in rows} >= {"upper arm", "thigh", "head", "forearm", "shin"}
    for row in rows:
        assert min(float(share.rstrip("%")) for share in row[5:7]) > 98.0, row


def test_squats_of_people_are_measured_beside_those_of_a_drag() -> None:
    line, *means = measured("benchmarks.naturalness.squats", "--packs", "cmu_daz_val")
    for knees in re.findall(r"knees (\d+) -> (\d+), (\d+)", line)[0]:
        assert 60 < int(knees) < 180
    assert [mean.partition(":")[0] for mean in means] == ["knees", "trunk", "shins", "outside", "back", "balance"]


def test_drags_are_compared_with_what_people_did() -> None:
    lines = measured("benchmarks.naturalness.later", "--most", "1", "--stride", "60")
    assert len(lines) == 6  # three drags of two families
    for line in lines:
        found = re.search(r"moved (\S+); pull (\S+) ", line)
        assert found is not None
        assert 0.0 < float(found[2]) < 2.0 * float(found[1])  # millimetres
