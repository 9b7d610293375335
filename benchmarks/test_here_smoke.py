"""That Solve Here is played as the panel has it, and that its stages are timed."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.smoke import printed_by

pytestmark = pytest.mark.skipif(find_spec("bpy") is None, reason="Solve Here needs PyPI's bpy")


def test_solve_here_is_played_and_its_stages_are_timed(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    printed_by("benchmarks.here", "--smoke", "--rig", "rigify", "--case", "near", "three levels", "--json", str(file))
    near, levels = json.loads(file.read_text())["rows"]
    assert (near["case"], near["rig"], near["targets"], levels["case"]) == ("near", "rigify", 2, "three levels")
    assert near["met"] == near["pins_met"] == 100.0
    assert near["miss_mm"] < 1.0
    assert max(miss for missed in levels["misses_mm"] for miss in missed[:2]) < 1.0  # the feet come first
    for row in (near, levels):
        assert 0.0 < row["ms"] <= row["ms_99"] <= row["most_ms"]
        assert list(row["shares"]) == ["start", "steps", "other_starts", "unlock", "rest", "refit"]
        assert 0.0 < sum(row["shares"].values()) < 1.0
