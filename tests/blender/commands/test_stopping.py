"""Ctrl-C ends every verb soon, with 130 and one word, and no file is half there."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

import bridge
from benchmarks.robust.corpus import corpus
from edits.files import write_files
from tests.blender.commands.rigs import Run, job_file, opened
from tests.paths import ROOT

pytestmark = pytest.mark.usefixtures("empty_file")
GOALS = [{"bone": "hand.R", "position": [-0.4, -0.3, 1.3]}]


def press(*_: object, **__: object) -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def call_in_frame() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Has Blender call something once, in the handlers of the third frame that it goes to."""
    kept: list[Any] = []

    def put(call: Callable[[], object]) -> None:
        frames: list[int] = []

        @bpy.app.handlers.persistent
        def count(scene: Any, *_: object) -> None:
            frames.append(scene.frame_current)
            if len(frames) == 3:
                call()

        kept.append(count)
        bpy.app.handlers.frame_change_post.append(count)

    yield put
    for one in kept:
        bpy.app.handlers.frame_change_post.remove(one)


def drive(folder: Path) -> Path:
    """The walk with a bone that only Blender can evaluate, frame by frame."""
    rig = opened(folder / "walk.blend")
    rig.pose.bones["hand.L"].constraints.new("COPY_ROTATION").target = bpy.data.objects["Cup"]
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "driven.blend"))
    return folder / "driven.blend"


def test_ctrl_c_in_a_handler_of_blenders_stops_at_the_next_frame(
    run: Run, folder: Path, call_in_frame: Callable[..., None]
) -> None:
    """Blender prints what a handler raises, and goes on: the file was written 10 seconds later."""
    file = drive(folder)
    call_in_frame(press)
    job = job_file(folder, GOALS)
    code, _, error = run("solve", "--blend", file, "--job", job, "--output", folder / "out.blend")
    assert (code, error) == (130, "Stopped.\n")
    assert not (folder / "out.blend").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_an_import_is_no_broken_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from io_anim_bvh import import_bvh

    monkeypatch.setattr(import_bvh, "read_bvh", press)
    (tmp_path / "clip.bvh").write_bytes(corpus()[".bvh"][0])
    code, _, error = run("info", "--blend", tmp_path / "clip.bvh")
    assert (code, error) == (130, "Stopped.\n")


def test_ctrl_c_waits_until_all_files_are_in_their_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Path.replace

    def replace_and_press(path: Path, target: Path) -> Path:
        press()
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", replace_and_press)
    with bridge.interruptible():
        write_files(None, {tmp_path / name: "{}" for name in "ab"})
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
        with pytest.raises(KeyboardInterrupt):
            bridge.check_stopped()
    bridge.check_stopped()  # nobody has asked outside


def test_long_work_says_how_far_it_is(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge.interrupt, "_QUIET", 0.0)
    _, _, error = run("solve", "--blend", folder / "walk.blend", "--job", job_file(folder, GOALS))
    assert re.search(r"Working for \d+ s; \d+ % of this step is done\.", error)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal for one process")
def test_a_process_ends_soon_whenever_it_gets_the_signal(folder: Path) -> None:
    job = job_file(folder, GOALS, frames=[1, 30000])
    words = ["solve", "--blend", drive(folder), "--job", job, "--output", folder / "out.blend"]
    command = [sys.executable, "standalone.py", *map(str, words)]
    for wait in (0.0, 0.5, 2.0):
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert any("Read blend" in line for line in process.stdout)  # the job takes many seconds from here
        time.sleep(wait)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        assert (process.returncode, error) == (130, "Stopped.\n"), wait
        assert time.monotonic() - begin < 5.0
        assert [path.name for path in folder.glob("*out*")] == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal for one process")
def test_a_process_is_stopped_while_it_starts(tmp_path: Path) -> None:
    """Python showed a traceback of its imports."""
    hook = "import os, signal, sys\nclass Press:\n    def find_spec(self, name, *_):\n        if name == 'tempfile':\n"
    hook += "            os.kill(os.getpid(), signal.SIGINT)\nsys.meta_path.insert(0, Press())\n"
    (tmp_path / "sitecustomize.py").write_text(hook)
    command = [sys.executable, "standalone.py", "info", "--blend", str(tmp_path / "none.blend")]
    surroundings = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, env=surroundings)
    assert (ended.returncode, ended.stderr) == (130, "Stopped.\n")
