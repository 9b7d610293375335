"""Worker processes that live over many tasks: each takes lines of JSON and answers with lines of JSON."""

import importlib
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

WORKER: Final = "batch-worker"  # the verb of these processes, for `batch` alone
MARK: Final = "poise-batch "  # before an answer: Blender prints lines of its own
ATTEMPTS: Final = 3  # at a task whose process ends without an answer
LOST: Final = -1  # the code of a task without an answer, beside the exit codes of verbs
_SET: Final = {
    # one core each: threads of numpy's library would only compete
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")},
    "PYTHONUTF8": "1",  # importers print the names of files, whatever the language is set to
}
_CONNECTING: Final = "10s"

Answer = Mapping[str, Any]


class Ended(Exception):
    """A process ended without an answer."""


def _answer(lines: Iterable[str]) -> Answer:
    """Return the first answer in what a process prints; raises Ended with its last words if there is none."""
    last = ""
    for said in lines:
        if said.startswith(MARK):
            return json.loads(said.removeprefix(MARK))
        last = said.strip() or last
    raise Ended(last)


class Process:
    """A process that runs `command` in `folder`, with a folder for temporary files."""

    def __init__(self, command: Sequence[str], folder: Path | str, temporary: str) -> None:
        own = _SET | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary)
        self._popen = subprocess.Popen(
            command, cwd=folder, env=os.environ | own, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
            start_new_session=True,  # Ctrl-C is for the parent; processes end with their input
        )  # fmt: skip

    @property
    def pid(self) -> int:
        return self._popen.pid

    def ask(self, line: str) -> Answer:
        """Return the answer to a line; raises Ended if there is none."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        with suppress(OSError):  # it ended before it could read; what it said is still there
            self._popen.stdin.write(line + "\n")
            self._popen.stdin.flush()
        try:
            return _answer(self._popen.stdout)
        except Ended as error:
            said = f": {error}" if str(error) else ""
            raise Ended(f"the process ended with code {self._popen.wait()}{said}") from error

    def kill(self) -> None:
        self._popen.kill()

    def close(self) -> None:
        """Close its input, which ends it, and wait."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        with suppress(OSError):  # it is gone
            self._popen.stdin.close()
        self._popen.wait()
        self._popen.stdout.close()


class Processes:
    """As many processes as there are tasks at a time, kept for the next tasks."""

    def __init__(self, command: Sequence[str], folder: Path | str) -> None:
        self.command, self.folder = command, folder
        self._idle: list[Process] = []  # append and pop are atomic: there are threads
        self._all: set[Process] = set()
        self._killed = False
        self._temporary = TemporaryDirectory(prefix="poise-batch-", ignore_cleanup_errors=True)

    def run(self, line: str) -> Answer:
        """Return the answer to a line, from another process if one ends without an answer."""
        reason = ""
        for _ in range(ATTEMPTS):
            process = self._free()
            try:
                answer = process.ask(line)
            except Ended as error:
                self._all.discard(process)
                process.close()
                reason = str(error)
            else:
                self._idle.append(process)
                return answer
            if self._killed:
                break
        return {"code": LOST, "said": f"Tried {ATTEMPTS} times; {reason}"}

    def _free(self) -> Process:
        """Return an idle process, or a new one."""
        try:
            return self._idle.pop()
        except IndexError:
            process = Process(self.command, self.folder, self._temporary.name)
        self._all.add(process)
        if self._killed:
            process.kill()
        return process

    def kill(self) -> None:
        """Kill all processes, and begin no more."""
        self._killed = True
        for process in tuple(self._all):
            process.kill()

    def close(self) -> None:
        """Let idle processes end, and kill the others, whose answers nobody waits for."""
        while self._idle:
            process = self._idle.pop()
            self._all.discard(process)
            process.close()
        self.kill()
        self._temporary.cleanup()


@dataclass(frozen=True)
class Pool:
    """Where tasks are done. `size`: the number of processes now; 0 if a cluster has no workers."""

    submit: Callable[[str], "Future[Answer]"]
    size: Callable[[], int]


@contextmanager
def local_pool(command: Sequence[str], folder: Path, jobs: int) -> Iterator[Pool]:
    """Give a pool of `jobs` processes of this machine; an exception, such as Ctrl-C, kills them."""
    processes = Processes(command, folder)
    executor = ThreadPoolExecutor(jobs)
    try:
        yield Pool(partial(executor.submit, processes.run), lambda: jobs)
    except BaseException:
        processes.kill()
        raise
    finally:
        executor.shutdown(cancel_futures=True)
        processes.close()


@contextmanager
def dask_pool(command: Sequence[str], folder: Path, scheduler: str) -> Iterator[Pool]:
    """Give a pool with a process for each thread of a Dask cluster; tasks of lost workers go to others.

    A worker starts a process for each task by `subprocess.run`, which each Python has: none needs a module of Poise,
    and no source is sent. Raises ImportError where Dask is not installed; OSError, ValueError or TypeError where there
    is no scheduler.
    """
    distributed = importlib.import_module("distributed")
    with distributed.Client(scheduler, timeout=_CONNECTING, set_as_default=False) as client:
        executor = client.get_executor(pure=False, retries=ATTEMPTS - 1)

        def submit(line: str) -> "Future[Answer]":
            answer: Future[Answer] = Future()

            def finish(ran: "Future[subprocess.CompletedProcess[str]]") -> None:
                try:
                    answer.set_result(_answer(ran.result().stdout.splitlines()))
                except (Exception, CancelledError) as error:
                    answer.set_exception(error)

            executor.submit(
                subprocess.run, tuple(command), input=f"{line}\n", cwd=str(folder), check=True, capture_output=True,
                encoding="utf-8", errors="replace",
            ).add_done_callback(finish)  # fmt: skip
            return answer

        def size() -> int:
            with suppress(OSError):  # the scheduler has gone
                return sum(client.nthreads().values()) if client.status == "running" else 0
            return 0

        try:
            yield Pool(submit, size)
        finally:
            with suppress(Exception):  # the cluster may be lost
                executor.shutdown(wait=False)
