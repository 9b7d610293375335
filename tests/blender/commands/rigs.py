"""What the tests of the command line share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

Run = Callable[..., tuple[int, dict[str, Any], str]]  # exit code, JSON, and what is told


def job_file(folder: Path, goals: list[dict[str, Any]], **fields: Any) -> Path:
    path = folder / "job.json"
    path.write_text(json.dumps({"version": 1, "frames": [1, 20], "goals": goals, **fields}), encoding="utf-8")
    return path


def opened(path: Path) -> Any:
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["rig"]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
