"""That the benchmark of keypoints runs: a few frames of real motion, or a sentence that there is none."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.naturalness.motion import DATA

ROOT = Path(__file__).resolve().parent.parent


def test_a_few_frames_are_read_and_the_default_is_the_best_of_them() -> None:
    command = [
        sys.executable,
        "-m",
        "benchmarks.keypoints",
        "--stride",
        "150",
        "--sets",
        "walks",
        "--parts",
        "frames",
        "time",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    if not DATA.is_dir():
        assert "Nothing was measured" in done.stdout
        pytest.skip("the motion packs are not here")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if "|" in line]
    found = {row[0]: [float(cell.split()[0]) for cell in row[1:5]] for row in rows[2:6]}
    assert set(found) == {"swing", "source", "closed", "corrected"}
    for noise in range(4):
        others = [found[method][noise] for method in ("swing", "closed")]
        assert found["corrected"][noise] <= min(others) + 0.1
    assert found["corrected"][0] < 2.5  # degrees; other people than those who were learnt from
    assert found["corrected"][2] < 7.5
