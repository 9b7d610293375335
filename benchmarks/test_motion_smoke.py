"""That the benchmarks of motions and of a bake run, and say so where there are no clips."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.motion", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_shipped_clip_is_measured(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    printed = run("--folder", str(ROOT / "tests" / "data" / "motion"), "--json", str(file))
    figures = json.loads(file.read_text())
    (feet,), (keys,) = figures["feet"], figures["keys"]
    assert feet["clip"] == keys["clip"] == "cmu_07_12"
    assert feet["skate_after"][0] == 0
    assert feet["acceleration"] < 1.2
    assert keys["5 mm"]["error_mm"] <= 5.0
    assert keys["5 mm"]["kept"] < keys["2 mm"]["kept"] < 0.5 * keys["2 mm"]["before"]
    assert "walk" in printed


def test_without_clips_it_says_so(tmp_path: Path) -> None:
    assert "Nothing was measured" in run("--folder", str(tmp_path))


def test_the_bake_is_measured() -> None:
    command = [sys.executable, "-m", "benchmarks.bake", "--frames", "12"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "nla.bake" in done.stdout
    assert "12 frames: a peak of" in done.stdout
