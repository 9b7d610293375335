"""`batch`: many files in processes of their own, which may be killed; on a Dask cluster, too."""

import json
import os
import shutil
import signal
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

import commands
import commands.batch
from commands import verbs, worker
from commands.tasks import sources_of
from commands.worker import digest, record_of
from edits import processes
from edits.files import is_blend, open_blend
from tests.blender.commands.rigs import check_told
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")

Run = Callable[..., tuple[int, dict[str, Any], str]]
CLIP = DATA / "motion" / "cmu_07_12.bvh"
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
        data = json.loads(lines[0]) if lines else {}
        check_told(["batch"], code, data)
        return code, data, error

    return call


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are done in this process, as they are submitted: starting others takes long."""

    def submit(line: str) -> "Future[processes.Answer]":
        future: Future[processes.Answer] = Future()
        future.set_result(worker.do_task(commands.run, json.loads(line)))
        return future

    put_pool(monkeypatch, submit)


def put_pool(
    monkeypatch: pytest.MonkeyPatch,
    submit: Callable[[str], "Future[processes.Answer]"],
    size: Callable[[], int] = lambda: 1,
) -> None:
    """Let `batch` have this pool."""

    @contextmanager
    def pool(*_: object) -> Iterator[processes.Pool]:
        yield processes.Pool(submit, size)

    monkeypatch.setattr(commands.batch, "local_pool", pool)


def keep(folder: Path, *names: str) -> None:
    """Only these of the clips stay."""
    for name in set(NAMES) - set(names):
        (folder / "in" / name).unlink()


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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
    assert "2 of 6 files are already finished." in error
    assert {name for name in NAMES if digests(first)[name] != digests(again)[name]} == {"walk3.bvh"}


def test_a_file_over_which_every_process_ends_fails_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text("print('out of memory'); raise SystemExit(7)", encoding="utf-8")
    kept = processes.Processes([sys.executable, "loud.py"], tmp_path)
    answer = kept.run("{}")
    assert answer["code"] == processes.LOST
    assert answer["said"] == "Tried 3 times; the process ended with code 7: out of memory"


def test_processes_have_names_in_utf_8_whatever_the_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}.items():
        monkeypatch.setenv(name, value)
    kept = processes.Processes(
        [sys.executable, "-c", r"print('\u00fc', end='', flush=True); raise SystemExit(7)"], tmp_path
    )
    assert kept.run("{}")["said"].endswith("the process ended with code 7: \u00fc")


def test_clips_go_onto_a_body_by_the_verbs_own_way_of_reading_them_and_another_job_is_done_anew(
    run: Run, folder: Path
) -> None:
    body = DATA / "rigs" / "named_mixamo_cm.blend"
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
        ((), '{"output": "x.blend"}', "output: is set by batch"),
        ((), '{"help": true}', "help: is set by batch"),
        ((), '{"report=x": true}', "report=x: is not an option"),
        ((), '{"bones": {"a": 1}}', "bones: needs a string"),
        ((), '{"bones": ["hips", "--json=x"]}', 'bones: "--json=x" looks like an option'),
        ((), '{"frames": [9, 2]}', "--frames: the range runs backwards"),
        ((), '{"step": 0}', "--step: must be at least 1"),
        (("--verb", "lock-feet"), '{"ease": -1}', "--ease: must be between 0 and 60"),
        (("--verb", "reduce-keys"), '{"tolerance": -1}', "tolerance must be a positive number of meters"),
        (("--verb", "edit-path"), '{"ease": -1}', "The ease of a path must be between 0 and"),
        (("--verb", "generate"), '{"recipe": "jump.json", "tolerance": 0}', "tolerance must be a positive number"),
        (("--verb", "retarget", "--blend", "job.json"), "{}", "is not a .blend file"),
        (("--json", "job.json"), "{}", 'job.json" is a file of the batch'),
        (("--json", "in/walk1.bvh"), "{}", 'walk1.bvh" is a file of the batch'),
        (("--json", "out/walk1.bvh.blend.json"), "{}", "is a file of the batch"),
        (("--output", "job.json/out"), "{}", "Cannot create or read"),
        (("--jobs", 0), "{}", "--jobs: must be at least 1"),
        (("--blend", "x.blend"), "{}", "bake opens the files themselves"),
        (("--verb", "retarget"), "{}", "--blend is missing"),
        (("--verb", "solve"), '{"version": 1, "golas": []}', 'did you mean "goals"'),
        (("--verb", "solve"), "{}", "the following arguments are required: --job"),
        (("--input", "nowhere"), "{}", "There is no folder"),
        (("--output", "in"), "{}", "Use another folder for the results"),
        (("--input", "."), "{}", "contains no files for"),
    ],
)
def test_what_is_wrong_with_all_files_is_said_once_and_nothing_is_written(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[object, ...], job: str, message: str
) -> None:
    monkeypatch.chdir(folder)
    if argv == ("--input", "."):
        shutil.rmtree(folder / "in")
    (folder / "job.json").write_text(job, encoding="utf-8")
    if argv == ("--json", "out/walk1.bvh.blend.json"):
        (folder / "out").mkdir()
    files = snapshot(folder)
    code, _, error = run(*argv)
    assert (code, message.lower() in error.lower()) == (2, True), error
    assert snapshot(folder) == files


def test_a_file_that_is_no_output_of_a_batch_is_not_written_over(run: Run, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "walk2.bvh.blend").write_bytes(b"mine")
    code, _, error = run()
    assert (code, "is not overwritten" in error) == (2, True), error
    assert (folder / "out" / "walk2.bvh.blend").read_bytes() == b"mine"


def test_a_file_that_is_no_record_of_a_batch_is_not_written_over(run: Run, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "walk2.bvh.blend.json").write_text('{"mine": 1}', encoding="utf-8")
    files = snapshot(folder)
    code, _, error = run()
    assert (code, "is not overwritten" in error) == (2, True), error
    assert snapshot(folder) == files


@pytest.mark.usefixtures("inside")
def test_a_result_that_was_changed_since_is_left_alone_unless_the_batch_did_it(run: Run, folder: Path) -> None:
    keep(folder, "walk1.bvh", "walk2.bvh")
    assert run()[0] == 0
    changed, swapped = (folder / "out" / f"{name}.blend" for name in ("walk1.bvh", "walk2.bvh"))
    open_blend(changed)
    verbs.write_files(changed, {})  # as a user saves it
    mine = changed.read_bytes()
    # as if the batch had been ended between record and output: what is there is what the record says was there before
    record = json.loads(record_of(swapped).read_text(encoding="utf-8"))
    record["batch"] |= {"before": record["batch"]["output"], "output": "another"}
    record_of(swapped).write_text(json.dumps(record), encoding="utf-8")
    code, data, error = run()
    assert data, error
    assert (code, states(data)) == (1, {"walk1.bvh": ("failed", False), "walk2.bvh": ("done", False)})
    assert "was changed after it was made" in error
    assert changed.read_bytes() == mine
    assert run()[1]["files"][1]["finished_before"]


@pytest.mark.usefixtures("inside")
def test_what_cannot_be_read_or_has_no_place_for_its_result_fails_alone(run: Run, folder: Path, tmp_path: Path) -> None:
    keep(folder, "walk1.bvh")
    clips = folder / "in"
    shutil.copy(clips / "walk1.bvh", clips / f"{'a' * 240}.bvh")
    (clips / "walk1.bvh.blend").write_bytes(b"its output would be that of walk1.bvh")
    (clips / "broken.bvh").symlink_to("nowhere")
    (clips / "loop.bvh").symlink_to("loop.bvh")
    (clips / "empty.bvh").write_bytes(b"")
    (clips / "cut.bvh").write_bytes((clips / "walk1.bvh").read_bytes()[:-300])
    (clips / "linked").symlink_to(clips / "more", target_is_directory=True)
    if hasattr(os, "mkfifo"):
        os.mkfifo(clips / "pipe.bvh")
    code, data, error = run()
    reasons = {row["file"]: row["reason"] for row in data["files"]}
    assert code == 1
    assert {name for name, reason in reasons.items() if not reason} == {"walk1.bvh"}
    assert "too long" in reasons.pop(f"{'a' * 240}.bvh")
    assert 'walk1.bvh"' in reasons.pop("walk1.bvh.blend")
    for name, why in (("empty.bvh", "the file is empty."), ("cut.bvh", "the BVH file is damaged")):
        reason = reasons.pop(name)
        assert reason.startswith(f'"{name}" cannot be read; {why}')
        assert "\n" not in reason
    assert all("is not a file" in reason for reason in reasons.values() if reason)
    assert 'linked" is a link to a folder' in error
    assert {path.name for path in (folder / "out").iterdir()} == {"walk1.bvh.blend", "walk1.bvh.blend.json"}


def test_files_that_jobs_and_gltf_files_name_count_however_deep_they_are_named(tmp_path: Path) -> None:
    texts = {
        "options.json": {"chain": "a:b", "job": "job.json", "x": ["\0", "." * 900, "data:" + "A" * 9999]},
        "job.json": {"version": 1, "deep": [{"roles": "roles.json"}]},
        "roles.json": {"version": 1, "name": "options.json"},
        "c.gltf": {"buffers": [{"uri": "c%20d.bin"}]},
    }
    for name, data in texts.items():
        (tmp_path / name).write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "c d.bin").write_bytes(b"1")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    assert {path.name for path in sources_of(tmp_path / "options.json")} == {"options.json", "job.json", "roles.json"}
    assert {path.name for path in sources_of(tmp_path / "c.gltf")} == {"c.gltf", "c d.bin"}
    assert len(sources_of(tmp_path / "bad.json")) == 1


def test_what_is_changed_while_it_is_read_is_not_taken_for_done(folder: Path) -> None:
    clip, output = folder / "in" / "walk1.bvh", folder / "walk1.blend"
    task = {"arguments": ["bake", "--blend", str(clip)], "output": str(output), "key": "k"}
    files = snapshot(folder)

    def run_and_change(argv: list[str]) -> int:
        code = commands.run(argv)
        clip.rename(folder / "kept")
        shutil.copy(folder / "kept", clip)  # the same again, but who knows what was read
        (folder / "kept").unlink()
        return code

    for sum, run, message in (
        (worker.sum_of(b"as it was"), commands.run, "was changed after the batch started"),
        (worker.sum_of(clip.read_bytes()), run_and_change, "was changed while it was read"),
    ):
        answer = worker.do_task(run, {**task, "sources": {str(clip): sum}})
        assert message in answer["said"]
        assert snapshot(folder) == files


@pytest.mark.usefixtures("inside")
def test_results_go_above_the_input_and_what_a_killed_process_left_is_cleared_away(run: Run, folder: Path) -> None:
    keep(folder, "walk1.bvh")
    (folder / "..batch.0123.77.blend").write_bytes(b"left")
    code, _, error = run("--output", folder)
    assert code == 0, error
    assert is_blend(folder / "walk1.bvh.blend")
    assert not list(folder.glob(".*"))


def test_a_cluster_that_is_lost_or_has_no_workers_is_told(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(folder, "walk1.bvh")
    future: Future[processes.Answer] = Future()

    def lose() -> int:
        threading.Timer(0.1, future.cancel).start()
        return 0

    put_pool(monkeypatch, lambda _: future, lose)
    monkeypatch.setattr(commands.batch, "_WAITING", 0.01)
    code, data, error = run()
    assert (code, states(data)) == (1, {"walk1.bvh": ("failed", False)})
    assert "failed: walk1.bvh: Lost the connection to the cluster." in error
    assert error.count("Waiting for workers") == 1


def test_a_batch_that_is_stopped_says_what_is_done(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> int:
        raise KeyboardInterrupt

    put_pool(monkeypatch, lambda _: Future(), stop)
    monkeypatch.setattr(commands.batch, "_WAITING", 0.01)
    code, data, error = run()
    assert (code, states(data)) == (130, dict.fromkeys(NAMES, ("not done", False)))
    assert "Stopped." in error


def test_a_batch_that_is_stopped_before_it_begins_says_so(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands.tasks, "sources_of", stop)
    files = snapshot(folder)
    code, _, error = run()
    assert (code, error.strip()) == (130, "Stopped.")
    assert snapshot(folder) == files


def test_processes_do_not_outlive_a_batch_that_is_stopped(tmp_path: Path) -> None:
    begin = time.monotonic()
    with (
        suppress(KeyboardInterrupt),
        processes.local_pool([sys.executable, "-c", "input(); input()"], tmp_path, 1) as pool,
    ):
        pool.submit("{}")
        raise KeyboardInterrupt
    assert time.monotonic() - begin < 10.0


def test_who_reads_the_summary_may_go_away(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        verbs.show(Namespace(json=True), {"files": []})


def test_without_dask_a_scheduler_is_refused_with_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(processes.importlib, "import_module", missing)
    code, _, error = run("--scheduler", "tcp://127.0.0.1:1")
    assert (code, 'install "dask[distributed]"' in error) == (2, True), error


def test_a_scheduler_is_used_only_where_online_access_is_allowed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands.batch, "bpy", SimpleNamespace(app=SimpleNamespace(online_access=False, module=False)))
    code, _, error = run("--scheduler", "tcp://127.0.0.1:1")
    assert (code, "Preferences > System > Network" in error) == (2, True), error


@pytest.mark.long
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
