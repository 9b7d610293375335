"""What a user gets: the zip's contents, its installation, and the installed copy at work."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

SHIPPED = {
    "LICENSE",
    "__init__.py",
    "blender_manifest.toml",
    "bridge",
    "commands",
    "core",
    "edits",
    "keymaps.py",
    "operators",
    "languages",
    "overlay",
    "panels",
    "preferences.py",
    "properties",
    "registration.py",
    "wheels",
}
INSTALLED = """
import os, sys
import bpy
bpy.ops.preferences.addon_enable(module="bl_ext.user_default.poise")
from bl_ext.user_default.poise import commands
print(commands.__file__)
code = commands.run(sys.argv[1:])
sys.stdout.flush()
os._exit(code)
"""


def json_line(output: str) -> dict[str, object]:
    """The one JSON object among the lines of a verb and of Blender itself."""
    (line,) = [line for line in output.splitlines() if line.startswith("{")]
    return json.loads(line)


def test_the_zip_holds_what_ships_and_nothing_else(package: Path) -> None:
    names = zipfile.ZipFile(package).namelist()
    assert {name.split("/")[0] for name in names} <= SHIPPED
    assert [name for name in names if "__pycache__" in name or any(p.startswith(".") for p in name.split("/"))] == []
    assert {"__init__.py", "blender_manifest.toml", "LICENSE", "core/__init__.py"} <= set(names)


def test_the_zip_holds_every_module_of_the_checkout(package: Path, pytestconfig: pytest.Config) -> None:
    names = set(zipfile.ZipFile(package).namelist())
    root = pytestconfig.rootpath
    modules = {file.relative_to(root).as_posix() for part in SHIPPED for file in (root / part).rglob("*.py")}
    assert modules - {"panels/icons/make.py"} <= names  # which draws the icon that ships


def test_blender_finds_the_zip_valid(package: Path, extension: Run) -> None:
    extension("validate", package)


def test_the_manifest_says_what_the_changelog_says(package: Path, pytestconfig: pytest.Config) -> None:
    with zipfile.ZipFile(package) as content:
        manifest = tomllib.loads(content.read("blender_manifest.toml").decode())
    changelog = (pytestconfig.rootpath / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert newest
    assert newest[1] == manifest["version"]
    assert package.name == f"poise-{manifest['version']}.zip"
    assert len(manifest["tagline"]) <= 64
    assert not manifest["tagline"].endswith(".")


def test_the_installed_copy_tells_about_an_armature(
    package: Path, extension: Run, run: Run, rig: Path, tmp_path: Path
) -> None:
    extension("install-file", "--repo", "user_default", "--enable", package, resources=tmp_path)
    installed = tmp_path / "extensions" / "user_default" / "poise"
    assert installed.is_dir()
    assert not installed.is_symlink()
    assert list(tmp_path.glob("extensions/.local/**/site-packages/c3d/__init__.py")), "the wheel is not unpacked"

    told = run(sys.executable, "-c", INSTALLED, "info", "--blend", rig, "--json", resources=tmp_path)
    assert told.returncode == 0, told.stdout + told.stderr
    assert str(installed / "commands") in told.stdout
    assert {"upper", "lower"} <= set(re.findall(r"\w+", json.dumps(json_line(told.stdout))))

    extension("remove", "user_default.poise", resources=tmp_path)
    assert not installed.exists()


@pytest.mark.skipif("POISE_BLENDER" not in os.environ, reason="POISE_BLENDER does not name a Blender program")
def test_a_real_blender_installs_it_and_runs_a_verb_and_a_batch(
    package: Path, run: Run, rig: Path, tmp_path: Path
) -> None:
    blender = os.environ["POISE_BLENDER"]
    resources = tmp_path / "resources"
    zip_file = tmp_path / package.name  # a Blender in a box sees the temporary folder, but maybe not the checkout
    zip_file.write_bytes(package.read_bytes())
    command = ("--command", "extension", "install-file", "--repo", "user_default", "--enable")
    installed = run(blender, *command, zip_file, resources=resources)
    assert installed.returncode == 0, installed.stdout + installed.stderr

    told = run(blender, "--background", rig, "--command", "poise", "info", "--json", resources=resources)
    assert told.returncode == 0, told.stdout + told.stderr
    assert {"upper", "lower"} <= set(re.findall(r"\w+", json.dumps(json_line(told.stdout))))

    clips, job = tmp_path / "clips", tmp_path / "job.json"
    clips.mkdir()
    (clips / "rig.blend").write_bytes(rig.read_bytes())
    job.write_text('{"version": 1, "frames": [1, 2], "goals": [{"bone": "lower", "pin": ["position"]}]}')
    places = ("--input", clips, "--job", job, "--output", tmp_path / "solved")
    batch = ("--background", "--command", "poise", "batch", "--verb", "solve", *places, "--json")
    solved = run(blender, *batch, resources=resources)  # in another process of the same program
    assert solved.returncode == 0, solved.stdout + solved.stderr
    assert [row["state"] for row in json_line(solved.stdout)["files"]] == ["done"]
    assert (tmp_path / "solved" / "rig.blend").is_file()

    spoilt = tmp_path / "spoilt.c3d"  # what is said of it tells that the wheel is found
    spoilt.write_bytes(b"no C3D")
    command = ("keypoints", "--input", spoilt, "--layout", "coco17")
    refused = run(blender, "--background", rig, "--command", "poise", *command, resources=resources)
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "This is not a readable C3D file" in refused.stdout + refused.stderr

    wrong = run(blender, "--background", rig, "--command", "poise", "nonsense", resources=resources)
    assert wrong.returncode == 2, wrong.stdout + wrong.stderr
