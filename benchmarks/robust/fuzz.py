"""Spoilt files and packets for every reader of Poise: each is read, or refused with a sentence.

    python -m benchmarks.robust.fuzz --seconds 60 [--seed 0] [--blender] [--kinds .bvh .npz] [--keep FOLDER]

The same seed gives the same inputs in the same order. First come those of
`benchmarks/robust/kept`, which once went wrong.
Ends with 1 if there is a finding: a traceback, more than 500 MB, more than 10 seconds, or the end of the process.
"""

import argparse
import base64
import hashlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from .corpus import IMPORTED, corpus, kept, smpl
from .mutate import mutate
from .readers import MEMORY

SECONDS = 10.0  # that one input may take
ROOT = Path(__file__).resolve().parents[2]


class Child:
    """A process that reads what it is given."""

    seconds = SECONDS

    def __init__(self, blender: bool, script: Path | None = None) -> None:
        """Start it; `script`: in place of the module `readers`."""
        module = ["-m", "benchmarks.robust.readers"] if script is None else [str(script)]
        command = [sys.executable, *module, *(["--blender"] if blender else [])]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        if self._answer(120.0) != []:
            raise RuntimeError("The readers do not start.")

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"["):
                self._answers.put(line)
        self._answers.put(None)

    def _answer(self, seconds: float) -> Any:
        line = self._answers.get(timeout=seconds)
        return None if line is None else json.loads(line)

    def read(self, kind: str, data: bytes) -> tuple[str, str, float, float]:
        """Return the outcome of an input; the process has ended if that is "slow" or "ended"."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps([kind, len(data)]).encode() + b"\n" + data)
            self._process.stdin.flush()
            answer = self._answer(self.seconds + 1.0)
        except queue.Empty:
            self.close()
            return "slow", f"more than {self.seconds:g} seconds", self.seconds, 0.0
        except OSError:
            answer = None
        if answer is None:
            self.close()
            return "ended", f"the process ended with {self._process.returncode}", 0.0, 0.0
        return tuple(answer)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def exported() -> dict[str, list[bytes]]:
    """Return clips as Blender writes them, by kind."""
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "benchmarks.robust.exported", name]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        clips = {path.suffix: path.read_bytes() for path in Path(name).iterdir()}
    embedded = json.loads(clips[".gltf"])
    for buffer in embedded["buffers"]:
        buffer["uri"] = "data:application/octet-stream;base64," + base64.b64encode(clips[".bin"]).decode()
    whole = {kind: [clips[kind]] for kind in (".fbx", ".usda", ".usdc")}
    return whole | {".gltf": [clips[".glb"], json.dumps(embedded).encode()], ".npz": smpl()}


def inputs(kinds: list[str], seeds: dict[str, list[bytes]], seed: int) -> Any:
    """Yield kinds and inputs: whole ones, those that are kept, then spoilt ones without end."""
    for kind in kinds:
        for data in (*seeds[kind], *kept(kind)):
            yield kind, data
    number = 0
    while True:
        for place, kind in enumerate(kinds):
            yield kind, mutate(kind, [*seeds[kind], *kept(kind)], np.random.default_rng([seed, place, number]))
        number += 1


def main() -> int:
    """Run for so many seconds and print a table; return 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--blender", action="store_true", help="clips are imported by PyPI's bpy, too")
    parser.add_argument("--kinds", nargs="+", help="only these")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write what is found there, as KIND/NAME")
    options = parser.parse_args()
    seeds = corpus() | (exported() if options.blender else {})
    kinds = options.kinds or [kind for kind in seeds if not options.blender or kind in IMPORTED]
    begin = time.monotonic()
    child = Child(options.blender)
    outcomes: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    slowest, largest = dict.fromkeys(kinds, 0.0), dict.fromkeys(kinds, 0.0)
    found: dict[tuple[str, str], tuple[str, bytes]] = {}
    for kind, data in inputs(kinds, seeds, options.seed):
        if time.monotonic() - begin > options.seconds:
            break
        name = ".glb" if kind == ".gltf" and data.startswith(b"glTF") else ".json" if kind == ".jsonl" else kind
        outcome, words, seconds, memory = child.read(name, data)
        if outcome in ("read", "refused") and seconds > SECONDS:
            outcome = "slow"
        if outcome in ("read", "refused") and (memory > MEMORY or "not enough memory" in words):
            outcome, words = "large", f"{memory:.0f} MB: {words}"
        outcomes[kind][outcome] += 1
        slowest[kind], largest[kind] = max(slowest[kind], seconds), max(largest[kind], memory)
        if outcome not in ("read", "refused"):
            key = kind, _place(words)
            if key not in found or len(data) < len(found[key][1]):
                found[key] = words, data
        if outcome in ("slow", "ended"):
            child = Child(options.blender)
    child.close()
    count = sum(map(Counter.total, outcomes.values()))
    print(f"{count:,} inputs in {time.monotonic() - begin:.0f} s, seed {options.seed}")
    print(f"{'':10}{'read':>9}{'refused':>9}{'found':>7}{'seconds':>9}{'MB':>7}")
    for kind, counts in outcomes.items():
        wrong = counts.total() - counts["read"] - counts["refused"]
        print(f"{kind:10}{counts['read']:9,}{counts['refused']:9,}{wrong:7}{slowest[kind]:9.2f}{largest[kind]:7.0f}")
    unread = [kind for kind, counts in outcomes.items() if counts.total() and not counts["read"]]
    if unread:
        print(f"Nothing was read of {', '.join(unread)}: the readers do not take what the corpus has.")
    for (kind, _), (words, data) in found.items():
        name = hashlib.sha256(data).hexdigest()[:12]
        print(f"\n{kind} {name} ({len(data)} bytes): {words.strip()[-1500:]}")
        if options.keep is not None:
            folder = options.keep / kind.lstrip(".")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
    return 1 if found or unread else 0


def _place(words: str) -> str:
    """Return what tells findings apart: the last lines of a traceback, without numbers."""
    lines = [line.strip() for line in words.strip().splitlines()]
    calls = [line for line in lines if line.startswith("File ")]
    return (calls[-1] if calls else "") + lines[-1].split(":")[0]


if __name__ == "__main__":
    sys.exit(main())
