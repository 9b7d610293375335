"""That the benchmarks of motions and of a bake run, and say so where there are no clips."""

import json
from pathlib import Path

from benchmarks.smoke import ROOT, printed_by


def test_the_shipped_clip_is_measured(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    printed = printed_by("benchmarks.motion", "--folder", str(ROOT / "tests" / "data" / "motion"), "--json", str(file))
    figures = json.loads(file.read_text())
    (feet,), (keys,), (between,), (pops,) = (figures[part] for part in ("feet", "keys", "between", "pops"))
    assert feet["clip"] == keys["clip"] == "cmu_07_12"
    assert feet["skate_after"][0] == 0
    assert feet["acceleration"] < 1.2
    assert keys["5 mm"]["error_mm"] <= 5.0
    assert keys["5 mm"]["kept"] < keys["2 mm"]["kept"] < 0.5 * keys["2 mm"]["before"]
    (ours, *_), (theirs, *_) = (between[f"all along, 15: {name}"][0] for name in ("ours", "Blender"))
    assert ours < 0.8 * theirs
    assert pops["mended of 1"] == pops["pops of 1"] > 0
    assert "walk" in printed


def test_without_clips_it_says_so(tmp_path: Path) -> None:
    assert "Nothing was measured" in printed_by("benchmarks.motion", "--folder", str(tmp_path))


def test_the_bake_is_measured() -> None:
    printed = printed_by("benchmarks.bake", "--frames", "12")
    assert "nla.bake" in printed
    assert "12 frames: a peak of" in printed
