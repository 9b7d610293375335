"""Limits that Poise announces: `python -m benchmarks.robust.limits`.

What is at a limit is taken. What is one beyond it is refused by a sentence that names the limit, before memory for it
is allocated. A table is printed; ends with 1 if a limit is not kept.
"""

import gc
import io
import json
import os
import struct
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import standalone
from benchmarks.robust.corpus import POINTS, corpus
from benchmarks.robust.numbers import BODY, CLIP, make_files

LITTLE: Final = 64  # MiB that a refusal may take
BONES: Final = 55


@dataclass(frozen=True)
class Limit:
    """A limit: `words` of the refusal, and what takes the value at it and the one beyond; refusals are raised."""

    name: str
    words: str
    at: Callable[[], object] | None
    beyond: Callable[[], object]


def main() -> int:
    standalone.enable()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        tables = [
            of_numbers(),
            of_sources(folder),
            of_recordings(),
            of_clips(),
            of_packets(),
            of_verbs(folder),
            of_frames(),
        ]
        limits = [limit for table in tables for limit in table]
        for limit in limits:
            fault, peak = judge(limit)
            wrong += bool(fault)
            print(f"{limit.name:52}{limit.words:>32}{peak:7.1f} MiB  {fault or 'kept'}", flush=True)
    print(f"{len(limits)} limits, {wrong} not kept")
    sys.stdout.flush()
    os._exit(bool(wrong))  # bpy can hang as it ends


def judge(limit: Limit) -> tuple[str, float]:
    """Return what is wrong with a limit, or nothing, and the MiB that the refusal took."""
    from core import CoreError

    try:
        if limit.at is not None:
            limit.at()
    except CoreError as error:
        return f"refused at the limit: {error}", 0.0
    tracemalloc.start()
    try:
        limit.beyond()
        return "taken beyond the limit", 0.0
    except CoreError as error:
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        fault = "" if limit.words in str(error) else f"says: {error}"
        return fault or ("" if peak < LITTLE else "after much was allocated"), peak
    except Exception as error:
        return f"{type(error).__name__}: {error}", 0.0
    finally:
        tracemalloc.stop()


def of_numbers() -> Iterator[Limit]:
    """Yield the ranges that kinds of numbers in JSON documents announce in their schemas, each range once."""
    import core.formats.humanoid
    import core.formats.job
    import core.formats.recipe  # noqa: F401  (kinds are made where tables are)
    from core.formats.report import KEYS  # of what Poise writes and does not read
    from core.formats.table import Kind, unread

    known = set[tuple[Any, ...]]()
    for kind in [one for one in gc.get_objects() if issubclass(type(one), Kind)]:  # not of what Blender has removed
        ends = tuple(kind.schema.get(name) for name in ("type", "exclusiveMinimum", "minimum", "maximum"))
        later = kind.read.__qualname__.startswith(unread.__qualname__)  # what reads them is chosen by another field
        if ends[0] not in ("number", "integer") or ends in known or ends[3] == KEYS or later:
            continue
        known.add(ends)
        whole, (above, least, most) = ends[0] == "integer", ends[1:]
        name = (
            f"{ends[0]}s of JSON {'above' if least is None else 'from'} {above if least is None else least} to {most}"
        )
        for end, side in ((above, 0), (least, -np.inf), (most, np.inf)):
            if end is not None:
                beyond = end + int(np.sign(side)) if whole else float(np.nextafter(end, side)) if side else end
                at = (lambda kind=kind, end=end: kind.read(end, "field")) if side else None
                words = f"{end:.10g}"
                yield Limit(name, words, at, lambda kind=kind, beyond=beyond: kind.read(beyond, "field"))


def of_sources(folder: Path) -> Iterator[Limit]:
    """Yield the limits of bytes and depth."""
    from core.formats.clips import LARGEST_CLIP
    from core.formats.files import read_json
    from core.sources import DEEPEST, LARGEST_DOCUMENT, LARGEST_FILE, MOST_PARTS, check_size, parse_json, read_bytes

    def sparse(size: int, most: int) -> Callable[[], object]:
        path = folder / f"sparse{size}"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        os.truncate(path, size)
        return lambda: read_bytes(path, most)

    def written(size: int) -> Callable[[], object]:
        path = folder / f"document{size}.json"
        path.write_bytes(b"{}" + b" " * (size - 2))
        return lambda: read_json(path, "job", lambda data: data)

    yield Limit("bytes of a document", "16 MB", written(LARGEST_DOCUMENT), written(LARGEST_DOCUMENT + 1))
    yield Limit(
        "bytes of a recording", "500 MB", sparse(LARGEST_FILE, LARGEST_FILE), sparse(LARGEST_FILE + 1, LARGEST_FILE)
    )
    yield Limit(
        "bytes of a clip", "2000 MB", lambda: check_size(LARGEST_CLIP, LARGEST_CLIP),
        sparse(LARGEST_CLIP + 1, LARGEST_CLIP),
    )  # fmt: skip
    nested = {depth: "[" * depth + "]" * depth for depth in (DEEPEST, DEEPEST + 1)}
    yield Limit("depth of JSON", "100", lambda: parse_json(nested[DEEPEST]), lambda: parse_json(nested[DEEPEST + 1]))
    most, more = (f"[{'{},' * (count - 2)}[]]" for count in (MOST_PARTS, MOST_PARTS + 1))
    yield Limit("lists and objects of JSON", "5 million", lambda: parse_json(most), lambda: parse_json(more))


def of_recordings() -> Iterator[Limit]:
    """Yield the limits of recordings."""
    from core.keypoints import read_recording
    from core.keypoints.recordings import COORDINATE_LIMIT, RATES, check_fps

    def far(most: float) -> Callable[[], object]:
        file = io.BytesIO()
        np.save(file, np.full_like(POINTS, most))
        return lambda: read_recording(".npy", file.getvalue(), "coco17")

    inside = float(np.nextafter(COORDINATE_LIMIT, 0.0))
    yield Limit("a coordinate of a recording", "1,000,000", far(inside), far(COORDINATE_LIMIT))
    for side, rate in zip((-1, 1), RATES, strict=True):
        beyond = float(np.nextafter(rate, side * np.inf))
        yield Limit(
            f"frames per second of a recording, {rate:g}", f"{rate:g}", lambda rate=rate: check_fps(rate),
            lambda beyond=beyond: check_fps(beyond),
        )  # fmt: skip


def of_clips() -> Iterator[Limit]:
    """Yield the limits of clips."""
    from core.formats.clips import check_bvh, check_gltf
    from core.formats.table import FRAME_LIMIT

    def bvh(frames: int, time: str) -> Callable[[], object]:
        head = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n}\nMOTION\n"
        data = (head + f"Frames: {frames}\nFrame Time: {time}\n" + "0 0 0\n" * frames).encode()
        return lambda: check_bvh(data)

    def gltf(numbers: int) -> Callable[[], object]:
        data = json.dumps({"accessors": [{"count": numbers, "type": "SCALAR"}]}).encode()
        return lambda: check_gltf(data, Path())

    yield Limit("frames of a BVH file", str(FRAME_LIMIT), bvh(FRAME_LIMIT, "0.04"), bvh(FRAME_LIMIT + 1, "0.04"))
    yield Limit("frames per second of a BVH file, 1", "between 1 and", bvh(3, "1.0"), bvh(3, "1.0001"))
    yield Limit("frames per second of a BVH file, 2000", "and 2000", bvh(3, "0.0005"), bvh(3, "0.00049999"))
    yield Limit("numbers of a glTF file", "500 MB", gltf(125_000_000), gltf(125_000_001))


def of_packets() -> Iterator[Limit]:
    """Yield the limits of packets."""
    from core.keypoints import PointPackets, find_layout
    from core.keypoints.osc import read_osc
    from core.keypoints.packets import LARGEST_PACKET

    decode = PointPackets(find_layout("coco17"))
    (packet, *_) = corpus()["points"]
    padded = {size: packet + b" " * (size - len(packet)) for size in (LARGEST_PACKET, LARGEST_PACKET + 1)}
    yield Limit(
        "bytes of a packet", "65507", lambda: decode(padded[LARGEST_PACKET]), lambda: decode(padded[LARGEST_PACKET + 1])
    )
    message = b"/a\0\0,\0\0\0"

    def bundle(parts: list[bytes]) -> bytes:
        return b"#bundle\0" + bytes(8) + b"".join(struct.pack(">i", len(part)) + part for part in parts)

    def nested(depth: int) -> bytes:
        return bundle([nested(depth - 1)]) if depth else message

    def arguments(count: int) -> bytes:
        tags = b"," + b"T" * count + b"\0"
        return b"/a\0\0" + tags + bytes(-len(tags) % 4)

    for name, words, make, most in (
        ("messages of a packet", "1000", lambda count: bundle([message] * count), 1000),
        ("arguments of a message", "1000", arguments, 1000),
        ("bundles in each other", "8", nested, 8),
    ):
        inside, outside = make(most), make(most + 1)
        yield Limit(name, words, lambda inside=inside: read_osc(inside), lambda outside=outside: read_osc(outside))


def of_verbs(folder: Path) -> Iterator[Limit]:
    """Yield the limits of numbers of verbs, on a walk, and of frames at once."""
    walk = folder / "walk.blend"

    def call(words: str) -> Callable[[], object]:
        return lambda: run(words.split(), walk, folder)

    for words, at, beyond, says in (
        ("edit-path --bend={}", "3600", "3600.1", "3600"),
        ("edit-path --scale={}", "100", "100.1", "100"),
        ("edit-path --scale={}", "0.01", "0.0099", "0.01"),
        ("edit-path --offset {} 0 0", "10000", "10000.1", "10000"),
        ("lock-feet --ease={}", "60", "60.1", "60"),
        ("smooth --pops={}", "180", "180.1", "180"),
        ("root-motion --to object --smooth={}", "60", "60.1", "60"),
        ("make-loop --fade={}", "60", "60.1", "60"),
        (f"learn --what limits --file {folder}/learned.json --margin={{}}", "90", "90.1", "90"),
        ("fix-ground --height={}", "10000", "10000.1", "10000"),
        ("drag-frame --bone mixamorig:LeftHand --shift 0 0 0.1 --frame 15 --falloff={}", "1000", "1001", "1000"),
        (f"retarget --motion {CLIP} --start={{}}", "-1048574", "-1048575", "1048574"),
        ("bake --action {}", 63 * "a", 64 * "a", "63"),
    ):
        yield Limit(words.format(at)[-50:], says, call(words.format(at)), call(words.format(beyond)))


def of_frames() -> Iterator[Limit]:
    """Yield the limits of frames of 55 bones that are read at once."""
    import bpy

    import bridge
    from core.formats.job import parse
    from edits.job import JobEdit

    def read(count: int) -> object:
        bpy.ops.wm.open_mainfile(filepath=str(BODY))
        rig: Any = bpy.data.objects["Armature"]
        return bridge.read_motion(rig, bridge.read_rig(rig), np.arange(count))

    def job(count: int) -> object:
        bpy.ops.wm.open_mainfile(filepath=str(BODY))
        goal = {"role": "hand.R", "position": [-0.4, -0.4, 1.3]}
        asked = parse({"version": 1, "goals": [goal], "frames": [1, count]})
        return JobEdit(bpy.context, bpy.data.objects["Armature"], asked)

    for name, call, most in (("frames of a motion", read, 10_000_000), ("frames of a job", job, 4_000_000)):
        count = most // BONES
        yield Limit(
            f"{name} of {BONES} bones", str(count), lambda call=call, count=count: call(count),
            lambda call=call, count=count: call(count + 1),
        )  # fmt: skip


def run(words: list[str], blend: Path, folder: Path) -> None:
    """Run a command line; raises CoreError with what is said where it is refused."""
    import commands
    from core import CoreError

    said = io.StringIO()
    with redirect_stderr(said), redirect_stdout(io.StringIO()):
        code = commands.run([*words, "--blend", str(blend), "--output", str(folder / "o.blend")])
    if code == 2:
        raise CoreError(said.getvalue().strip())
    assert code in (0, 1), said.getvalue()


if __name__ == "__main__":
    sys.exit(main())
