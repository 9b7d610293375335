"""`batch`: many files in processes of their own, which may be killed; on a Dask cluster, too."""

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import commands
from commands import processes
from commands.worker import digest
from tests.blender.rigs import SHIPPED

pytestmark = pytest.mark.usefixtures("empty_file")

Run = Callable[..., tuple[int, dict[str, Any], str]]
CLIP = SHIPPED / "motion" / "cmu_07_12.bvh"
LENGTH = 12  # frames of a clip
NAMES = ("walk1.bvh", "walk2.bvh", "walk3.bvh", "more/walk1.bvh", "more/walk5.bvh")


def write_clips(folder: Path) -> None:
    """Five clips, each another part of the walk, in two folders."""
    head, _, motion = CLIP.read_text(encoding="utf-8").partition("MOTION\n")
    _, step, *rows = motion.splitlines()
    for number, name in enumerate(NAMES):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = rows[2 + 10 * number :][:LENGTH]
        path.write_text("\n".join([f"{head}MOTION", f"Frames: {LENGTH}", step, *part]) + "\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the clips in `in`, and an empty job."""
    write_clips(tmp_path / "in")
    (tmp_path / "job.json").write_text("{}", encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The sums of what the verb makes of each clip, by hand."""
    folder = tmp_path_factory.mktemp("truth")
    write_clips(folder)
    found: dict[str, str] = {}
    for name in NAMES:
        assert commands.run(["bake", "--blend", str(folder / name), "--report", str(folder / "report.json")]) == 0
        found[name] = digest(json.loads((folder / "report.json").read_text(encoding="utf-8")))
    assert len(set(found.values())) == len(NAMES)
    return found


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*argv: object, verb: str = "bake") -> tuple[int, dict[str, Any], str]:
        capsys.readouterr()
        places = ("--input", folder / "in", "--output", folder / "out", "--job", folder / "job.json")
        code = commands.run([str(word) for word in ("batch", *places, "--verb", verb, "--json", *argv)])
        out, error = capsys.readouterr()
        lines = [line for line in out.splitlines() if line.startswith("{")]
        return code, json.loads(lines[0]) if lines else {}, error

    return call


def digests(data: dict[str, Any]) -> dict[str, str]:
    return {row["file"]: row["digest"] for row in data["files"]}


def states(data: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    return {row["file"]: (row["state"], row["finished_before"]) for row in data["files"]}


def test_bad_files_and_killed_processes_spoil_nothing_else_and_what_is_finished_is_not_done_again(
    run: Run, folder: Path, truth: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, killed = processes.Process.ask, list[int]()

    def ask_and_kill(self: Any, line: str) -> Any:
        if "walk2" in line and not killed:
            killed.append(self.pid)
            os.kill(self.pid, signal.SIGKILL)
        return ask(self, line)

    monkeypatch.setattr(processes.Process, "ask", ask_and_kill)
    (folder / "in" / "bad.bvh").write_text("HIERARCHY nonsense", encoding="utf-8")
    code, first, error = run("--jobs", 2)
    assert code == 1
    assert killed
    assert states(first) == {"bad.bvh": ("failed", False)} | dict.fromkeys(NAMES, ("done", False))
    assert 'failed: bad.bvh: The armature "bad" has no bones.' in error
    assert "6 of 6: " in error
    assert "(0 s left)" in error
    assert {row["frames"] for row in first["files"] if row["state"] == "done"} == {LENGTH}
    assert digests(first) == truth | {"bad.bvh": None}

    # after a crash that left one output half written, and another one's record
    out = folder / "out"
    (out / "walk1.bvh.blend").write_bytes(b"half")
    record = out / "walk2.bvh.blend.json"
    record.write_text(record.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    # the name is the same, the clip is another
    shutil.copy(folder / "in" / "more" / "walk5.bvh", folder / "in" / "walk3.bvh")
    # the time is another, the clip is the same
    os.utime(folder / "in" / "more" / "walk1.bvh")
    _, again, error = run("--jobs", 1)
    assert states(again) == {
        "bad.bvh": ("failed", False),
        "walk1.bvh": ("done", False),
        "walk2.bvh": ("done", False),
        "walk3.bvh": ("done", False),
        "more/walk1.bvh": ("done", True),
        "more/walk5.bvh": ("done", True),
    }
    assert "2 of 6 files are finished already." in error
    assert {name for name in NAMES if digests(first)[name] != digests(again)[name]} == {"walk3.bvh"}


def test_a_file_over_which_every_process_ends_fails_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text("print('out of memory'); raise SystemExit(7)", encoding="utf-8")
    kept = processes.Processes([sys.executable, "loud.py"], tmp_path)
    answer = kept.run("{}")
    assert answer["code"] == processes.LOST
    assert answer["said"] == "Tried 3 times; the process ended with code 7: out of memory"


def test_clips_go_onto_a_body_by_the_verbs_own_way_of_reading_them_and_another_job_is_done_anew(
    run: Run, folder: Path
) -> None:
    body = SHIPPED / "rigs" / "named_mixamo_cm.blend"
    for name in NAMES[1:]:
        (folder / "in" / name).unlink()
    for last, before in ((8, False), (9, False), (9, True)):
        job = json.dumps({"no-feet": True, "frames": [2, last]})
        (folder / "job.json").write_text(job, encoding="utf-8")
        code, data, error = run("--jobs", 1, "--blend", body, verb="retarget")
        assert code == 0, error
        assert states(data) == {"walk1.bvh": ("done", before)}
        report = json.loads((folder / "out" / "walk1.bvh.blend.json").read_text(encoding="utf-8"))
        assert (report["armature"], report["method"], report["frames"]) == ("Armature", "retarget", [2, last])
        assert report["batch"]["digest"] == data["files"][0]["digest"]


@pytest.mark.parametrize(
    ("argv", "job", "message"),
    [
        ((), '{"eese": 1}', "Unrecognized arguments: --eese=1"),
        ((), "[]", "needs an object in braces"),
        ((), '{"output": "x.blend"}', "output: is for batch to say"),
        (("--jobs", 0), "{}", "--jobs: must be at least 1"),
        (("--blend", "x.blend"), "{}", "bake opens the files themselves"),
        (("--verb", "retarget"), "{}", "--blend is missing"),
        (("--verb", "solve"), '{"version": 1, "golas": []}', 'did you mean "goals"'),
        (("--verb", "solve"), "{}", "the following arguments are required: --job"),
        (("--input", "nowhere"), "{}", "There is no folder"),
        (("--output", "in"), "{}", "results need one of their own"),
        (("--input", "."), "{}", "Nothing in"),
    ],
)
def test_what_is_wrong_with_all_files_is_said_once_and_nothing_is_written(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[object, ...], job: str, message: str
) -> None:
    monkeypatch.chdir(folder)
    if argv == ("--input", "."):
        shutil.rmtree(folder / "in")
    (folder / "job.json").write_text(job, encoding="utf-8")
    code, _, error = run(*argv)
    assert (code, message.lower() in error.lower()) == (2, True), error
    assert not list(folder.rglob("*.blend*"))


def test_a_file_that_is_no_output_of_a_batch_is_not_written_over(run: Run, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "walk2.bvh.blend").write_bytes(b"mine")
    code, _, error = run()
    assert (code, "is not written over" in error) == (2, True), error
    assert (folder / "out" / "walk2.bvh.blend").read_bytes() == b"mine"


def test_without_dask_a_scheduler_is_refused_with_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(processes.importlib, "import_module", missing)
    code, _, error = run("--scheduler", "tcp://127.0.0.1:1")
    assert (code, 'install "dask[distributed]"' in error) == (2, True), error


@pytest.mark.skipif(find_spec("distributed") is None, reason='there is no Dask here: pip install "dask[distributed]"')
def test_a_dask_cluster_gives_the_same_and_loses_nothing_with_a_worker(
    run: Run, folder: Path, truth: dict[str, str]
) -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        victim = next(iter(cluster.workers.values())).process.pid

        def kill() -> None:
            while not list((folder / "out").rglob("*.blend.json")):
                time.sleep(0.02)
            os.kill(victim, signal.SIGKILL)
            killed.set()

        killed = threading.Event()
        threading.Thread(target=kill, daemon=True).start()
        code, data, error = run("--scheduler", cluster.scheduler_address)
    assert code == 0, error
    assert killed.is_set()
    assert digests(data) == truth
    assert set(states(data).values()) == {("done", False)}
