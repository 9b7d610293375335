"""Fixtures for the tests of the command line."""

import json
from pathlib import Path
from typing import Any

import bpy
import pytest

import commands
from tests.blender.commands.rigs import Run, check_told, told
from tests.blender.rigs import make_armature, make_empty, make_walk


@pytest.fixture
def folder(empty_file: None, tmp_path: Path) -> Path:
    """A folder with walk.blend: the walk on "rig", at frame 1, and an animated object "Cup"."""
    make_walk(make_armature())
    cup = make_empty("Cup")
    for frame, x in ((1, 0.4), (20, 0.5)):
        cup.location = (x, -0.3, 1.3)
        cup.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*argv: object) -> tuple[int, dict[str, Any], str]:
        capsys.readouterr()
        code = commands.run(told([str(argument) for argument in argv]))
        out, error = capsys.readouterr()
        lines = [line for line in out.splitlines() if line.startswith("{")]
        data = json.loads(lines[0]) if lines else {}
        check_told([str(argument) for argument in argv], code, data)
        return code, data, error

    return call
