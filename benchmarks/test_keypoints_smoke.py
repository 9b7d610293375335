"""That the benchmark of keypoints runs: a few frames of real motion, or a sentence that there is none; and training."""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks.keypoints.validation import SUBJECTS
from benchmarks.naturalness.motion import DATA
from benchmarks.smoke import printed_by
from core.keypoints.network import WEIGHTS


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
    assert found["corrected"][0] < 2.5  # degrees; other people than those who were learned from
    assert found["corrected"][2] < 7.5


@pytest.mark.parametrize("network", ["correction", "source"])
def test_training_says_the_loss_of_each_subject_and_writes_weights(network: str, tmp_path: Path) -> None:
    if find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    if not DATA.is_dir():
        pytest.skip("the motion packs are not here")
    file = tmp_path / "weights.npz"
    printed = printed_by("benchmarks.keypoints.train", network, "--steps", "2", "--width", "16", "--output", str(file))
    told = re.search("  ".join(rf"{subject}: (\d+\.\d+)" for subject in SUBJECTS), printed)
    assert told is not None, printed
    kept = re.search(r"The weights of step 2 are kept: (\d+\.\d+) in the mean", printed)
    assert kept is not None, printed
    assert float(kept[1]) == pytest.approx(np.mean([float(loss) for loss in told.groups()]), abs=1e-4)
    with np.load(file) as written, np.load(WEIGHTS / f"{network}.npz") as shipped:
        assert written.files == shipped.files
        assert written["w0"].shape == (shipped["w0"].shape[0], 16)
        assert written["b4"].shape == shipped["b4"].shape
