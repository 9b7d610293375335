"""That the benchmark of keypoints runs: a few frames of real motion, or a sentence that there is none."""

import pytest

from benchmarks.naturalness.motion import DATA
from benchmarks.smoke import printed_by


def test_a_few_frames_are_read_and_the_default_is_the_best_of_them() -> None:
    few = ["--stride", "150", "--sets", "walks", "--parts", "frames", "time"]
    printed = printed_by("benchmarks.keypoints", *few)
    if not DATA.is_dir():
        assert "Nothing was measured" in printed
        pytest.skip("the motion packs are not here")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if "|" in line]
    found = {row[0]: [float(cell.split()[0]) for cell in row[1:5]] for row in rows[2:6]}
    assert set(found) == {"swing", "source", "closed", "corrected"}
    for noise in range(4):
        others = [found[method][noise] for method in ("swing", "closed")]
        assert found["corrected"][noise] <= min(others) + 0.1
    assert found["corrected"][0] < 2.5  # degrees; other people than those who were learnt from
    assert found["corrected"][2] < 7.5
