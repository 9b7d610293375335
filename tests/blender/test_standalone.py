"""Poise without Blender's program: standalone.py as a script and as a module, in processes of their own."""

import subprocess
import sys
from pathlib import Path

import standalone


def python(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run this Python with these arguments in this folder."""
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)


def test_a_verb_runs_from_any_folder(tmp_path: Path) -> None:
    result = python(str(standalone.ROOT / "standalone.py"), "info", "--blend", "missing.blend", folder=tmp_path)
    assert result.returncode == 2, result.stderr
    assert "missing.blend" in result.stderr


def test_a_script_that_enables_poise_ends_by_itself(tmp_path: Path) -> None:
    """Whatever keeps Blender's module when Python ends, such as a cache of typing, hangs the bpy module of 4.5."""
    code = f"import sys; sys.path.insert(0, {str(standalone.ROOT)!r}); import standalone; standalone.enable()"
    assert python("-c", code, folder=tmp_path).returncode == 0


def test_core_is_one_copy_even_when_imported_before_blender(tmp_path: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(standalone.ROOT)!r})
import core.errors, standalone
first = core.errors.CoreError
spec = core.errors.__spec__
standalone.enable()
from bl_ext.user_default.poise.core.errors import CoreError
from bl_ext.user_default.poise import commands, core as full
assert full is core and CoreError is first and core.errors.__spec__ is spec
standalone.leave(5)
"""
    result = python("-c", code, folder=tmp_path)
    assert result.returncode == 5, result.stderr


def test_numpy_gets_one_thread_unless_somebody_said_otherwise(tmp_path: Path) -> None:
    code = f"""
import os, sys
sys.path.insert(0, {str(standalone.ROOT)!r})
os.environ.pop("OPENBLAS_NUM_THREADS", None)
os.environ["OMP_NUM_THREADS"] = "3"
import standalone
standalone.enable()
print(os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_NUM_THREADS"])
standalone.leave(5)
"""
    result = python("-c", code, folder=tmp_path)
    assert result.returncode == 5, result.stderr
    assert "1 3" in result.stdout


def test_enabling_after_blender_is_refused(tmp_path: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(standalone.ROOT)!r})
import bpy, standalone
try:
    standalone.enable()
except RuntimeError as error:
    print(error)
    standalone.leave(0)
standalone.leave(1)
"""
    result = python("-c", code, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "before the first `import bpy`" in result.stdout


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path) -> None:
    code = f"""
import sys, tempfile
sys.path.insert(0, {str(standalone.ROOT)!r})
tempfile.tempdir = {str(tmp_path)!r}
import standalone
standalone.enable()
assert list(__import__("pathlib").Path(tempfile.tempdir).glob("poise-*"))
standalone.leave(0)
"""
    result = python("-c", code, folder=standalone.ROOT)
    assert result.returncode == 0, result.stderr
    assert not list(tmp_path.glob("poise-*"))
    assert (standalone.ROOT / "blender_manifest.toml").is_file()
