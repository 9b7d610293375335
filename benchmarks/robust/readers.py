"""Poise's readers, each as a function of bytes, run in a process of its own that the fuzzer watches.

`python -m benchmarks.robust.readers [--blender]` reads lines of JSON, `[KIND, LENGTH]`, each followed by so many bytes,
and answers each with a line `[OUTCOME, WORDS, SECONDS, MEGABYTES]`: read, refused, or a fault with its traceback.
"""

import contextlib
import io
import json
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .corpus import IMPORTED, smpl

MEMORY = 500  # megabytes that one file may take, beside what the process has before
Reader = Callable[[bytes], object]


def readers(folder: Path) -> dict[str, Reader]:
    """Return the readers that need no Blender, by kind."""
    import numpy as np

    from core import CoreError
    from core.formats.bvh import bvh_text
    from core.formats.chain_list import read_list_file
    from core.formats.clips import check_clip
    from core.formats.files import read_json
    from core.formats.job import read
    from core.formats.mapping import read_mapping
    from core.formats.markers import parse_marker_mapping
    from core.formats.recipe import read_recipe
    from core.formats.smpl import read_model, read_smpl
    from core.formats.vrma import skinned
    from core.keypoints import (
        SUFFIXES,
        BonePackets,
        PointPackets,
        Stream,
        find_conversion,
        find_layout,
        frame_times,
        read_recording,
    )

    def from_file(name: str, read_file: Callable[[Path], object]) -> Reader:
        path = folder / name

        def run(data: bytes) -> object:
            path.write_bytes(data)
            return read_file(path)

        return run

    def recording(suffix: str) -> Reader:
        def run(data: bytes) -> object:
            found = read_recording(suffix, data, None if suffix.startswith(".json") else "coco17")
            conversion, _ = find_conversion(found.layout, found.points, found.confidence, "auto", "auto", True)
            conversion(found.points, found.confidence)
            return frame_times(found)

        return run

    def packets(make: Callable[[], Any]) -> Reader:
        stream = Stream(make())

        def run(data: bytes) -> object:
            refused = stream.counts.refused
            frame = stream.take(data, time.perf_counter())
            if stream.counts.refused > refused:
                raise CoreError(stream.counts.why)
            assert frame is None or np.isfinite(frame.time)
            return frame

        return run

    markers = from_file("a.json", lambda path: read_json(path, "mapping", lambda data: parse_marker_mapping("a", data)))
    layout = find_layout("coco17")
    return {
        "job": from_file("job.json", read),
        "recipe": from_file("recipe.json", read_recipe),
        "list": from_file("list.json", read_list_file),
        "mapping": from_file("roles.json", read_mapping),
        "markers": markers,
        **{suffix: recording(suffix) for suffix in SUFFIXES if suffix != ".jsonl"},
        "points": packets(lambda: PointPackets(layout)),
        "vmc": packets(BonePackets),
        "smpl": lambda data: bvh_text(*read_smpl(data)),
        "body model": lambda data: read_smpl(smpl()[0], model=read_model(data)),
        ".vrma": skinned,
        **{suffix: from_file(f"clip{suffix}", check_clip) for suffix in (".bvh", ".fbx", ".gltf", ".glb")},
    }  # fmt: skip


def in_blender(folder: Path) -> dict[str, Reader]:
    """Return what imports clips, as every verb does, and reads the armature that comes."""
    import standalone

    standalone.enable()
    from commands import run as run_verb

    def clip(suffix: str) -> Reader:
        path = folder / f"clip{suffix}"

        def run(data: bytes) -> object:
            path.write_bytes(data)
            said = io.StringIO()
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
                code = run_verb(["bake", "--blend", str(path)])
            assert code in (0, 1, 2), said.getvalue()
            assert "Traceback" not in said.getvalue(), said.getvalue()
            if code == 2:
                raise ValueError(said.getvalue())
            return code

        return run

    return {suffix: clip(suffix) for suffix in (*IMPORTED, ".glb")}


def limit_memory() -> None:
    """Let the process have MEMORY more than it has, where the system can hold it to that."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_data() + MEMORY * 1_000_000, resource.RLIM_INFINITY))


def _data() -> int:
    """Return the bytes of data that the process has."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData"):
            return 1024 * int(line.split()[1])
    raise OSError


def _peak() -> float:
    """Return the megabytes that the process has had at most; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def main() -> None:
    answers = sys.stdout.buffer
    with tempfile.TemporaryDirectory() as name:
        known = readers(Path(name))
        if "--blender" in sys.argv:
            known = in_blender(Path(name))
        from core import CoreError

        refusal = (CoreError, ValueError) if "--blender" in sys.argv else CoreError
        if "--blender" not in sys.argv:
            warnings.simplefilter("error")
        limit_memory()
        answers.write(b"\n[]\n")
        answers.flush()
        while line := sys.stdin.buffer.readline():
            kind, length = json.loads(line)
            data = sys.stdin.buffer.read(length)
            begin, before = time.perf_counter(), _peak()
            try:
                known[kind](data)
                outcome, words = "read", ""
            except refusal as error:
                outcome, words = "refused", str(error)
                if "\n" in words.strip() or not words.strip():
                    outcome, words = "fault", f"no sentence: {words!r}"
            except BaseException:
                outcome, words = "fault", traceback.format_exc()
            answer = [outcome, words, time.perf_counter() - begin, _peak() - before]
            answers.write(b"\n" + json.dumps(answer).encode() + b"\n")
            answers.flush()


if __name__ == "__main__":
    main()
