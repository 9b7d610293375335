"""Worker processes that stay alive over many tasks: a line of JSON goes in, a line of JSON comes back.

Standard library only and nothing relative: a Dask cluster is sent this module by value.
"""

import importlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

MARK: Final = "poise-batch "  # before an answer: Blender prints lines of its own
ATTEMPTS: Final = 3  # at a task whose process ends without an answer
LOST: Final = -1  # the code of a task without an answer, beside the exit codes of verbs
# each process has a core: the threads of numpy's library would only be in each other's way
_ONE_THREAD: Final = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
_CONNECTING: Final = "10s"

Answer = Mapping[str, Any]


class Ended(Exception):
    """A process ended without an answer."""


class Process:
    """A process that is running `command` in `folder`."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._popen = subprocess.Popen(
            command, cwd=folder, env=os.environ | _ONE_THREAD, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
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

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.command, self.folder = command, folder
        self._idle: list[Process] = []  # append and pop are atomic: there are threads

    def run(self, line: str) -> Answer:
        """The answer to a line, from another process where one ends over it."""
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                process = self._idle.pop()
            except IndexError:
                process = Process(self.command, self.folder)
            try:
                answer = process.ask(line)
            except Ended as error:
                process.close()
                reason = str(error)
            else:
                self._idle.append(process)
                return answer
        return {"code": LOST, "said": f"Tried {ATTEMPTS} times; {reason}"}

    def close(self) -> None:
        """Let the idle ones end."""
        while self._idle:
            self._idle.pop().close()


Submit = Callable[[str], "Future[Answer]"]


@contextmanager
def local_pool(command: Sequence[str], folder: Path, jobs: int) -> Iterator[Submit]:
    """`jobs` processes of this machine. What has not begun when it is left is not begun any more."""
    processes = Processes(command, folder)
    executor = ThreadPoolExecutor(jobs)
    try:
        yield partial(executor.submit, processes.run)
    finally:
        executor.shutdown(cancel_futures=True)
        processes.close()


@contextmanager
def dask_pool(command: Sequence[str], folder: Path, scheduler: str) -> Iterator[Submit]:
    """A process for each thread of the workers of a Dask cluster; tasks of workers that are lost go to others.

    Raises ImportError where Dask is not installed, OSError where there is no scheduler.
    """
    cloudpickle, distributed = (importlib.import_module(name) for name in ("cloudpickle", "distributed"))
    module = importlib.import_module(__name__)

    # functions inside of others: Dask leaves them, and so this module, to cloudpickle
    def run(line: str) -> Answer:
        kept = _kept(importlib.import_module("distributed").get_worker())
        return kept.setdefault((tuple(command), folder), Processes(command, folder)).run(line)

    def close(dask_worker: Any) -> None:
        kept = _kept(dask_worker)
        while kept:
            kept.popitem()[1].close()

    cloudpickle.register_pickle_by_value(module)  # workers need not have Poise where Python looks for modules
    try:
        with distributed.Client(scheduler, timeout=_CONNECTING, set_as_default=False) as client:
            executor = client.get_executor(pure=False)
            try:
                yield partial(executor.submit, run)
            finally:
                executor.shutdown(wait=False)
                client.run(close)
    finally:
        cloudpickle.unregister_pickle_by_value(module)


def _kept(dask_worker: Any) -> dict[Any, Processes]:
    """What a worker of a cluster has."""
    return vars(dask_worker).setdefault("poise_processes", {})
