"""That ghosts, trails and drafts are timed."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.smoke import printed_by

pytestmark = pytest.mark.skipif(find_spec("bpy") is None, reason="other frames need PyPI's bpy")


def test_ghosts_trails_and_drafts_are_timed(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    printed_by("benchmarks.frames", "--smoke", "--json", str(file))
    figures = json.loads(file.read_text())
    found = figures["milliseconds"]
    assert list(found)[:3] == ["ten ghosts", "trails of 20 frames", "tick of a drag"]
    assert figures["ghosts"] > 0.0
    assert sum(name.startswith("draft of 60 frames") for name in found) == 6
    assert min(found.values()) > 0.0
