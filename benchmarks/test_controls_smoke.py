"""That a tick, a press, Pose Mode and a hover are measured beside G, and that Blender evaluates once a tick."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.smoke import printed_by

pytestmark = pytest.mark.skipif(find_spec("bpy") is None, reason="control rigs need PyPI's bpy")


def test_a_tick_is_measured_beside_g_and_evaluates_once(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    printed_by("benchmarks.controls", "--smoke", "--json", str(file))
    (row,) = json.loads(file.read_text())["rows"]
    assert (row["rig"], row["bones"], row["evaluations"]) == ("naked", 65, 1)
    assert 0.0 < row["own"] < row["tick"]
    assert all(row[key] > 0.0 for key in ("g", "press", "enter", "enter_first", "hover", "hover_first"))
    assert row["enter"] < row["enter_first"]
