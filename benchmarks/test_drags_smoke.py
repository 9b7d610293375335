"""That drags are played as the tool plays them, compared with another run, and drawn."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.smoke import printed_by

pytestmark = pytest.mark.skipif(find_spec("bpy") is None, reason="drags need PyPI's bpy")


def test_drags_are_played_and_compared_with_another_run(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    some = ["--smoke", "--rig", "rigify", "--drag", "hips up", "hand, balanced"]
    printed_by("benchmarks.drags", *some, "--json", str(file))
    rows = json.loads(file.read_text())["rows"]
    assert [(row["drag"], row["rig"], row["ticks"]) for row in rows] == [
        ("hips up", "rigify", 6),
        ("hand, balanced", "rigify", 6),
    ]
    for row in rows:
        assert row["pin_mm"] < 0.2
        assert row["least_mm"] <= row["miss_mm"]
        assert 0.0 < row["step_degrees"] < 60.0
        assert 0.0 < row["update_ms"] < row["ms"] <= row["ms_99"]
        assert len(row["figures"]) == 6
    assert rows[0]["tilt_degrees"] < 12.0  # standing hips do not topple for the three centimetres that legs lack
    assert rows[1]["miss_mm"] < 1.0  # a hand's are within reach
    again = printed_by("benchmarks.drags", *some, "--compare", str(file))
    (tilt,) = {f" {row['tilt_degrees']:.1f} → {row['tilt_degrees']:.1f} |" for row in rows[:1]}
    assert tilt in again


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="pictures need matplotlib")
def test_a_sheet_is_drawn_of_each_drag(tmp_path: Path) -> None:
    printed_by(
        "benchmarks.drags", "--smoke", "--rig", "rigify", "--drag", "hips up, one foot", "--sheets", str(tmp_path)
    )
    assert [file.name for file in tmp_path.iterdir()] == ["hips_up_one_foot.png"]
