"""What a stranger's file asks for is looked at before anything is made of it."""

import io
import json
import os
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from benchmarks.robust.corpus import corpus
from core import CoreError
from core.formats.job import parse, read
from core.keypoints import find_layout, read_recording
from core.sources import DEEPEST, LARGEST_DOCUMENT, MOST_PARTS, check_counts, parse_json, read_bytes
from tests.core.keypoints.rigs import COCO


def test_json_is_nested_only_so_deep_whatever_its_texts_say() -> None:
    fits = "[" * DEEPEST + '"[[[[\\"[["' + "]" * DEEPEST
    assert json.dumps(parse_json(fits)) == fits
    for deep in (f"[{fits}]", "{" + '"a":{' * DEEPEST, "[" * 10**6):
        with pytest.raises(CoreError, match="nested too deeply"):
            parse_json(deep)


def test_lists_and_objects_of_json_are_counted_before_they_are_made() -> None:
    many = b"[" + b"{}," * MOST_PARTS + b"1]"
    assert peak(many, "more than 5 million lists and objects", ".json") < 4 * len(many)  # 64 bytes each are 21


@pytest.mark.parametrize("text", ['"' + "x" * 10**6, '"' + '\\"' * 10**6], ids=["letters", "escapes"])
@pytest.mark.parametrize("end", ['"', ""])
def test_a_text_of_megabytes_takes_little_more_than_itself(text: str, end: str) -> None:
    assert peak(text.encode() + end.encode(), "list of frames|not JSON", ".jsonl") < 6 * len(text)


def test_a_file_is_read_up_to_its_limit_and_what_may_never_end_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_bytes(b" " * (LARGEST_DOCUMENT + 1))
    with pytest.raises(CoreError, match=r'job file ".*job.json": it is larger than 16 MB'):
        read(file)
    pipe = tmp_path / "pipe.json"
    if hasattr(os, "mkfifo"):
        os.mkfifo(pipe)
    for path in (tmp_path, pipe, Path("/dev/zero")):
        if path.exists():
            with pytest.raises(CoreError, match="not a file"):
                read_bytes(path)


def test_more_records_than_a_file_can_hold_are_refused_with_their_number() -> None:
    check_counts("3 things", 12, 3, 4)
    for counts in ((3, 5), (-1, 1), (2**40, 2**40)):
        with pytest.raises(CoreError, match="3 things, more than its 12 bytes"):
            check_counts("3 things", 12, *counts)


def archive(compress: int = zipfile.ZIP_DEFLATED, **members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compress) as packed:
        for name, data in members.items():
            packed.writestr(f"{name}.npy", data)
    return file.getvalue()


def array(shape: tuple[int, ...], kind: str = "<f4", data: bytes = b"") -> bytes:
    """A file of numpy that says this shape, whatever data follow."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
    return file.getvalue() + data


def peak(data: bytes, sentence: str, suffix: str = ".npz") -> int:
    """Bytes that it takes to refuse a file with this sentence."""
    tracemalloc.start()
    try:
        with pytest.raises(CoreError, match=sentence):
            read_recording(suffix, data, "coco17")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_archive_that_unpacks_to_gigabytes_is_refused_by_its_header() -> None:
    bomb = bytearray(archive(points=array((20_000_000, 17, 3))))
    size = bomb.rindex(b"PK\1\2") + 24  # in the list at the end
    bomb[size : size + 4] = (4_080_000_128).to_bytes(4, "little")
    assert peak(bytes(bomb), "unpacks to arrays larger than 500 MB") < 1_000_000


def test_arrays_that_nobody_uses_are_not_unpacked() -> None:
    points = np.zeros((2, 17, 3), np.float32)
    data = archive(points=array(points.shape, "<f4", points.tobytes()), images=bytes(10**8))
    tracemalloc.start()
    found = read_recording(".npz", data, "coco17")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found.points, points)
    assert most < 5_000_000


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@pytest.mark.parametrize("shape", [(2**31, 17, 3), (2**40, 2**40, 3), (-1, 17, 3)])
def test_an_array_that_says_more_numbers_than_it_has_is_refused(suffix: str, shape: tuple[int, ...]) -> None:
    data = array(shape, data=bytes(400))
    data = archive(points=data) if suffix == ".npz" else data
    assert peak(data, "it declares an array of", suffix) < 1_000_000


def test_an_archive_is_packed_as_numpy_packs() -> None:
    peak(archive(zipfile.ZIP_LZMA, points=array((1, 17, 3), data=bytes(204))), "compressed in a way")


@pytest.mark.parametrize(("parameter", "value"), [(b"FRAMES", 32767), (b"\1USED", 100)])
def test_a_c3d_file_with_fewer_frames_or_markers_than_it_says_is_refused(parameter: bytes, value: int) -> None:
    data = bytearray(corpus()[".c3d"][0])
    assert len(read_recording(".c3d", bytes(data), "coco17").points) == 3
    place = data.index(parameter) + len(parameter) + 4
    data[place : place + 2] = value.to_bytes(2, "little")
    place = 8 if parameter == b"FRAMES" else 2  # in the header
    data[place : place + 2] = value.to_bytes(2, "little")
    assert peak(bytes(data), "markers, more than its", ".c3d") < 1_000_000


def test_names_of_a_c3d_file_are_as_many_as_it_has() -> None:
    data = bytearray(corpus()[".c3d"][0])
    place = data.index(b"LABELS") + 6 + 2
    data[place : place + 6] = bytes([255, 4, 0, 255, 255, 255])
    assert peak(bytes(data), "a parameter of .* values, more than its", ".c3d") < 1_000_000


def test_points_in_lines_make_no_table_that_is_mostly_empty() -> None:
    """So many frames as names of points: a table of the square of the lines."""
    lines = [f"{n},point{n},0,0,0" for n in range(20000)]
    assert (
        peak("\n".join(["frame,keypoint,x,y,z", *lines]).encode(), "only 20000 of 4.*points in 20000 frames", ".csv")
        < 1e8
    )


def test_points_far_from_any_body_are_not_seen() -> None:
    """As files mark what is missing; numbers beyond single precision made numpy warn."""
    points = np.zeros((2, 17, 3))
    points[0, 3], points[1, 4] = 9999999.0, 1e300
    file = io.BytesIO()
    np.save(file, points)
    found = read_recording(".npy", file.getvalue(), "coco17")
    assert np.argwhere(np.isnan(found.points).all(-1)).tolist() == [[0, 3], [1, 4]]
    assert len(COCO.points) == len(find_layout("coco17").points)


def test_the_roles_of_a_job_are_a_file_beside_it_and_nothing_is_said_of_any_other(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    (folder / "below").mkdir(parents=True)
    secret = tmp_path / "secret.json"
    secret.write_text('{"password": "hunter2"}')
    (folder / "link.json").symlink_to(secret)
    (folder / "notes.txt").write_text('{"password": "hunter2"}')
    good = folder / "below" / "roles.json"
    good.write_text('{"version": 1, "roles": {"hand.L": "Hand_L"}}')
    job = {"version": 1, "goals": [{"bone": "b", "position": [0, 0, 1]}]}
    assert parse({**job, "roles": "below/roles.json"}, folder).roles == {"hand.L": "Hand_L"}
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.json")
    for name in (
        "../secret.json",
        str(secret),
        "link.json",
        "notes.txt",
        "/dev/zero",
        "/etc/passwd",
        "pipe.json",
        "below",
    ):
        with pytest.raises(CoreError, match=r"^roles: ") as refusal:
            parse({**job, "roles": name}, folder)
        assert "hunter2" not in str(refusal.value)
        assert "password" not in str(refusal.value)


def test_what_a_file_says_is_shown_and_not_obeyed() -> None:
    """A terminal would clear its screen; Blender would refuse half a character."""
    said = str(CoreError("a\x1b[2J\n\r\u202eb\ud800c"))
    assert said == r"a\x1b[2J\n\r\u202eb\ud800c"
    long = str(CoreError("x" * 10**6 + " is wrong."))
    assert len(long) < 1100
    assert long.endswith("is wrong.")
