"""What the tests of the command line share."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bpy
from jsonschema import Draft202012Validator

from core.formats import schema

Run = Callable[..., tuple[int, dict[str, Any], str]]  # exit code, JSON, and what is told


def told(argv: Sequence[str]) -> list[str]:
    """Return the words of a command line that prints JSON, so that each result is held against its schema."""
    return [*argv, "--json"] if argv and "--json" not in argv else [*argv]


def check_told(argv: Sequence[str], code: int, data: dict[str, Any]) -> None:
    """Fail if an exit code is none of those that the help names, or JSON does not follow the schema of its verb."""
    assert code in (0, 1, 2, 3, 130)
    if not data:
        return
    name = {"info": "info", "batch": "batch", "learn": "learned", "export-vrma": "exported"}.get(
        argv[0], "learned-list" if "--learn" in argv else "report"
    )
    Draft202012Validator(json.loads(schema.schema_text(name))).validate(data)


def job_file(folder: Path, goals: list[dict[str, Any]], **fields: Any) -> Path:
    path = folder / "job.json"
    path.write_text(json.dumps({"version": 1, "frames": [1, 20], "goals": goals, **fields}), encoding="utf-8")
    return path


def opened(path: Path) -> Any:
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["rig"]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
