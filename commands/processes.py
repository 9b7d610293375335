"""Worker processes that stay alive over many tasks: a line of JSON goes in, a line of JSON comes back.

Standard library only and nothing relative: workers of a Dask cluster are sent the text of this module.
"""

import importlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import uuid4

MARK: Final = "poise-batch "  # before an answer: Blender prints lines of its own
ATTEMPTS: Final = 3  # at a task whose process ends without an answer
LOST: Final = -1  # the code of a task without an answer, beside the exit codes of verbs
_SET: Final = {
    # each process has a core: the threads of numpy's library would only be in each other's way
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")},
    "PYTHONUTF8": "1",  # importers print the names of files, whatever the language is set to
}
_CONNECTING: Final = "10s"

Answer = Mapping[str, Any]


class Ended(Exception):
    """A process ended without an answer."""


class Process:
    """A process that is running `command` in `folder`, with a folder for temporary files."""

    def __init__(self, command: Sequence[str], folder: Path | str, temporary: str) -> None:
        own = _SET | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary)
        self._popen = subprocess.Popen(
            command, cwd=folder, env=os.environ | own, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
            start_new_session=True,  # Ctrl-C is for the one who waits; processes end with their input
        )  # fmt: skip

    @property
    def pid(self) -> int:
        return self._popen.pid

    def ask(self, line: str) -> Answer:
        """The answer to a line; raises Ended if there is none."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        last = ""
        try:
            self._popen.stdin.write(line + "\n")
            self._popen.stdin.flush()
            for said in self._popen.stdout:
                if said.startswith(MARK):
                    return json.loads(said.removeprefix(MARK))
                last = said.strip() or last
        except OSError:  # it ended before it could read
            pass
        raise Ended(f"the process ended with code {self._popen.wait()}" + (f": {last}" if last else ""))

    def kill(self) -> None:
        self._popen.kill()

    def close(self) -> None:
        """Let it end."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        with suppress(OSError):  # it is gone
            self._popen.stdin.close()
        self._popen.wait()
        self._popen.stdout.close()


class Processes:
    """As many processes as there are tasks at a time, each kept for the next one."""

    def __init__(self, command: Sequence[str], folder: Path | str) -> None:
        self.command, self.folder = command, folder
        self._idle: list[Process] = []  # append and pop are atomic: there are threads
        self._all: set[Process] = set()
        self._killed = False
        self._temporary = TemporaryDirectory(prefix="poise-batch-", ignore_cleanup_errors=True)

    def run(self, line: str) -> Answer:
        """The answer to a line, from another process where one ends over it."""
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
        """An idle one, or a new one."""
        try:
            return self._idle.pop()
        except IndexError:
            process = Process(self.command, self.folder, self._temporary.name)
        self._all.add(process)
        if self._killed:
            process.kill()
        return process

    def kill(self) -> None:
        """End all of them, whatever they do, and begin no more."""
        self._killed = True
        for process in tuple(self._all):
            process.kill()

    def close(self) -> None:
        """Let the idle ones end, and kill others, for whom nobody waits any more."""
        while self._idle:
            process = self._idle.pop()
            self._all.discard(process)
            process.close()
        self.kill()
        self._temporary.cleanup()


@dataclass(frozen=True)
class Pool:
    """Where tasks are done. `size`: the number of processes at present; 0 if those of a cluster are not there."""

    submit: Callable[[str], "Future[Answer]"]
    size: Callable[[], int]


@contextmanager
def local_pool(command: Sequence[str], folder: Path, jobs: int) -> Iterator[Pool]:
    """`jobs` processes of this machine. Where it is left by an exception, such as Ctrl-C, they are killed."""
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


# Dask sends functions of its own or of Python by name, others as bytecode, which is another in each version of Python;
# workers need not have Poise where Python looks for modules, either
_ON_WORKER: Final = "exec(source, globals()) or run_on_worker(batch, command, folder, line)"
_CLOSE_WORKER: Final = "exec(source, globals()) or close_worker(batch)"


@contextmanager
def dask_pool(command: Sequence[str], folder: Path, scheduler: str) -> Iterator[Pool]:
    """A process for each thread of the workers of a Dask cluster; tasks of workers that are lost go to others.

    Raises ImportError where Dask is not installed; OSError, ValueError or TypeError where there is no scheduler.
    """
    distributed = importlib.import_module("distributed")
    sent = {"source": Path(__file__).read_text(encoding="utf-8"), "batch": uuid4().hex}
    with distributed.Client(scheduler, timeout=_CONNECTING, set_as_default=False) as client:
        executor = client.get_executor(pure=False)

        def submit(line: str) -> "Future[Answer]":
            return executor.submit(
                eval, _ON_WORKER, {**sent, "command": tuple(command), "folder": str(folder), "line": line}
            )

        def size() -> int:
            with suppress(OSError):  # the scheduler has gone
                return sum(client.nthreads().values()) if client.status == "running" else 0
            return 0

        try:
            yield Pool(submit, size)
        finally:
            with suppress(Exception):  # what is lost need not be closed
                executor.shutdown(wait=False)
                client.run(eval, _CLOSE_WORKER, sent)


def run_on_worker(batch: str, command: Sequence[str], folder: str, line: str) -> Answer:
    """On a worker of a cluster: `Processes.run`."""
    kept = _kept()
    return (kept.get(batch) or kept.setdefault(batch, Processes(command, folder))).run(line)  # one for all threads


def close_worker(batch: str) -> None:
    """On a worker of a cluster: let the processes of a batch end."""
    processes = _kept().pop(batch, None)
    if processes is not None:
        processes.close()


def _kept() -> dict[str, Processes]:
    """What a worker of a cluster has, by batch."""
    return vars(importlib.import_module("distributed").get_worker()).setdefault("poise_processes", {})
