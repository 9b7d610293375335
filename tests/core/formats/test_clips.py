"""The headers of clips are checked before an importer of Blender's believes them."""

import json
import os
import struct
import zlib
from pathlib import Path

import pytest

from benchmarks.robust.corpus import corpus
from core import CoreError
from core.formats.clips import check_clip, plain_bvh
from tests.paths import ROOT

WHOLE = corpus()


def refusal_of(folder: Path, suffix: str, data: bytes) -> str:
    """The sentence about a file, or none."""
    path = folder / f"clip{suffix}"
    path.write_bytes(data)
    try:
        check_clip(path)
    except CoreError as error:
        return str(error)
    return ""


def test_whole_clips_are_let_through(tmp_path: Path) -> None:
    for suffix in (".bvh", ".fbx", ".gltf"):
        for data in WHOLE[suffix]:
            assert refusal_of(tmp_path, suffix, data) == ""
    for path in (ROOT / "tests" / "data" / "motion").glob("*.bvh"):
        check_clip(path)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("Time: 0.04", "Time: nan", '"Frame Time: nan" is not the time of a frame'),
        ("Time: 0.04", "Time: 0", '"Frame Time: 0" is not the time'),
        ("Time: 0.04", "Time: -1", '"Frame Time: -1" is not the time'),
        ("Time: 0.04", "Time: 1e-300", "is not the time"),
        ("Time: 0.04", "Time: soon", "is not the time"),
        ("Frames: 4", "Frames: 99999999999", '"Frames: 99999999999" is not a number of frames from 0 to 1048574'),
        ("Frames: 4", "Frames: -4", "is not a number of frames"),
        ("Frames: 4", "Frames: 5", "the BVH file is incomplete: it has 4 of 5 frames"),
        ("Frames: 4", "", "the BVH file is incomplete"),
        ("Frames: 4", "Frames: 0", '"Frames: 0" is followed by 4 frames'),
        ("Time: 0.04\n", "Time: 0.04\nnan ", 'the BVH file has "nan" where a number is needed'),
        ("Time: 0.04\n", "Time: 0.04\n-inf ", '"-inf" where a number'),
        ("OFFSET", "OFFSET NaN", '"NaN" where a number'),
        ("CHANNELS 3", "CHANNELS 4", '"CHANNELS 4" is followed by 3 names'),
        ("CHANNELS 3", "CHANNELS three", '"CHANNELS three" is followed by 3 names'),
        ("}", "", "its joints have 4 opening and 0 closing braces"),
    ],
)
def test_counts_and_times_of_a_bvh_file_are_those_of_a_motion(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    assert sentence in refusal_of(tmp_path, ".bvh", WHOLE[".bvh"][0].replace(old.encode(), new.encode()))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "shift_jis", "latin-1"])
def test_bvh_files_of_other_encodings_are_read_as_utf_8(encoding: str) -> None:
    name = "Hüfte" if encoding == "latin-1" else "腰"
    text = WHOLE[".bvh"][0].decode().replace("ROOT ", f"ROOT {name}")
    assert plain_bvh(f"{text}".encode(encoding)) == text.encode()
    if encoding == "utf-8":
        assert plain_bvh(data := text.encode()) is data
        assert plain_bvh(b"# made by hand\n\n" + data) == data


def test_a_bvh_file_of_a_rest_pose_has_no_time(tmp_path: Path) -> None:
    head = WHOLE[".bvh"][0].split(b"MOTION")[0]
    assert refusal_of(tmp_path, ".bvh", head + b"MOTION\nFrames: 0\nFrame Time: 0.0\n") == ""


def test_joints_without_numbers_do_not_fill_the_memory(tmp_path: Path) -> None:
    joint = b"JOINT a\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\n"
    data = b"HIERARCHY\n" + joint * 20_000 + b"MOTION\nFrames: 20000\nFrame Time: 0.04\n" + b"0\n" * 20_000
    assert "20000 frames of 20000 joints, more than its" in refusal_of(tmp_path, ".bvh", data)


def fbx(packed: bytes, numbers: int, count: int = 1) -> bytes:
    values = b"d" + struct.pack("<III", numbers, 1, len(packed)) + packed
    head = b"Kaydara FBX Binary  \x00\x1a\x00" + struct.pack("<I", 7400)
    end = len(head) + 13 + 1 + len(values)
    return head + struct.pack("<IIIB", end, count, len(values), 1) + b"a" + values + b"\0" * 13


def test_arrays_of_an_fbx_file_unpack_to_what_they_say(tmp_path: Path) -> None:
    packer = zlib.compressobj(1)
    bomb = b"".join([*(packer.compress(bytes(10**6)) for _ in range(600)), packer.flush()])
    assert len(bomb) < 4_000_000
    assert "unpacks to arrays larger than 500 MB" in refusal_of(tmp_path, ".fbx", fbx(bomb, 100_000_000))
    assert "an array of 10 numbers, more than its" in refusal_of(tmp_path, ".fbx", fbx(bomb, 10))
    assert "values in" in refusal_of(tmp_path, ".fbx", fbx(b"", 0, 2**31))
    assert refusal_of(tmp_path, ".fbx", fbx(zlib.compress(bytes(80)), 10)) == ""


def test_numbers_and_names_of_a_gltf_file_are_those_of_a_file(tmp_path: Path) -> None:
    many = {"accessors": [{"count": 2**40, "type": "MAT4"}]}
    assert "unpacks to arrays larger than 500 MB" in refusal_of(tmp_path, ".gltf", json.dumps(many).encode())
    assert "nested too deeply" in refusal_of(tmp_path, ".gltf", b"[" * 10**5)
    names = ["."]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        names += ["pipe", "/dev/zero"]
    for uri in names:
        named = json.dumps({"buffers": [{"uri": uri, "byteLength": 4}]}).encode()
        assert "which is not a file" in refusal_of(tmp_path, ".gltf", named)
