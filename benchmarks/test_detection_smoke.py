"""The table of parts runs, and finds all of a shipped rig."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest


def test_the_table_of_one_rig() -> None:
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("there is no bpy module here")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.detection", "odd_inherit_flags.blend"],
        cwd=Path(__file__).resolve().parent.parent,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "| odd_inherit_flags | human | 20 of 20 | 20 of 20 |" in done.stdout
