"""The zip, built once, and processes of their own with preferences of their own: as on a user's machine."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.paths import ROOT

EXTENSION = """
import os, sys
import bpy
from bl_pkg.bl_extension_cli import cli_extension_handler
code = cli_extension_handler(sys.argv[1:])
sys.stdout.flush()
os._exit(code)
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """run(program, argument, ..., resources=FOLDER): the finished process, in a folder away from the checkout."""
    away = tmp_path_factory.mktemp("away")

    def run(*command: str | Path, resources: Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(resources)}
        environment.pop("PYTHONPATH", None)
        return subprocess.run(
            [str(word) for word in command], cwd=away, env=environment, capture_output=True, text=True, timeout=240
        )

    return run


@pytest.fixture(scope="session")
def extension(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """extension(argument, ..., resources=FOLDER): `blender --command extension`, which has to succeed."""
    nowhere = tmp_path_factory.mktemp("resources")

    def extension(*arguments: str | Path, resources: Path = nowhere) -> subprocess.CompletedProcess[str]:
        result = run(sys.executable, "-c", EXTENSION, *arguments, resources=resources)
        assert result.returncode == 0, result.stdout + result.stderr
        return result

    return extension


@pytest.fixture(scope="session")
def package(extension: Run) -> Path:
    """dist/poise-VERSION.zip, built from this checkout by Blender's own tool."""
    dist = ROOT / "dist"
    dist.mkdir(exist_ok=True)
    for old in dist.glob("poise-*.zip"):
        old.unlink()
    extension("build", "--source-dir", ROOT, "--output-dir", dist)
    (built,) = dist.glob("poise-*.zip")
    return built


@pytest.fixture(scope="session")
def rig(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A .blend file with an armature of two bones, made by a Blender that knows nothing of Poise."""
    file = tmp_path_factory.mktemp("rig") / "rig.blend"
    code = """
import os, sys
import bpy
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
bpy.ops.object.armature_add(enter_editmode=True)
bpy.context.object.name = "rig"
bone = bpy.context.object.data.edit_bones[0]
bone.name = "upper"
tip = bpy.context.object.data.edit_bones.new("lower")
tip.parent, tip.head, tip.tail = bone, bone.tail, (0, 0.1, 2)
bpy.ops.object.mode_set(mode="OBJECT")
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
os._exit(0)
"""
    result = run(sys.executable, "-c", code, file, resources=tmp_path_factory.mktemp("plain"))
    assert file.is_file(), result.stdout + result.stderr
    return file
