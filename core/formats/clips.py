"""Clips that Blender imports (BVH, FBX, glTF): what their headers say is checked before an importer believes it.

A file that is none of its kind is left to the importer, which refuses it.
"""

import codecs
import math
import re
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from ..errors import CoreError
from ..keypoints.recordings import RATES, is_list, is_object
from ..sources import LARGEST_FILE, MEGABYTE, check_counts, check_size, parse_json, read_bytes
from .table import FRAME_LIMIT, SHOWN

LARGEST_CLIP: Final = 2000 * MEGABYTE  # bytes of a file, which may have pictures in it

_HIERARCHY: Final = re.compile(rb"(?im)^\W*(?P<word>hierarchy)\s*$")
_JOINT: Final = re.compile(rb"(?im)^\s*(?:root|joint)\b")
_MOTION: Final = re.compile(rb"(?im)^\s*motion\s*$")
_FRAMES: Final = re.compile(rb"(?i)\bframes:\s*(\S+)")
_TIME: Final = re.compile(rb"(?i)\bframe\s+time:\s*(\S+)")
_OFFSET: Final = re.compile(rb"(?im)^\s*offset\b(.*)$")
_CHANNELS: Final = re.compile(rb"(?im)^\s*channels\b[ \t]*(\S*)(.*)$")
_WORD: Final = re.compile(rb"\S*[^\s\d.eE+-]\S*")  # what is no finite number

_FBX: Final = b"Kaydara FBX Binary  \x00\x1a\x00"
_WIDE: Final = 7500  # the version from which on offsets have eight bytes
_NODE, _WIDE_NODE = (
    struct.Struct("<IIIB"),
    struct.Struct("<QQQB"),
)  # end, count and size of the values, size of the name
_ARRAY: Final = struct.Struct("<cIII")  # kind, count, whether it is packed, bytes
_ITEMS: Final = {b"b": 1, b"c": 1, b"i": 4, b"f": 4, b"l": 8, b"d": 8}  # bytes of a number of an array
_VALUES: Final = {b"Z": 1, b"Y": 2, b"B": 1, b"C": 1, b"I": 4, b"F": 4, b"D": 8, b"L": 8}
_LENGTHS: Final = b"RS"  # values that begin with their length
_PACKED: Final = 1032  # times that zlib makes data larger, at most

_GLB: Final = b"glTF"
_WHERE_JSON: Final = 20  # bytes before it in a binary file
_COMPONENTS: Final = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_LARGEST_NUMBER: Final = 4  # bytes


def check_clip(path: Path) -> None:
    """Raise CoreError, without the file's name, for counts, times and sizes that no clip has; OSError if unreadable."""
    kind = path.suffix.lower()
    data = read_bytes(path, LARGEST_CLIP)
    if not data:
        raise CoreError("the file is empty.")
    if kind == ".bvh":
        check_bvh(data)
    elif kind == ".fbx":
        check_fbx(data)
    elif kind in (".glb", ".gltf"):
        check_gltf(data, path.parent)


def check_bvh(data: bytes) -> None:
    """Raise CoreError if the frames of a BVH file are none, too many or too fast."""
    motion = _MOTION.search(data)
    if motion is None:
        return
    head, rest = data[: motion.start()], data[motion.end() :]
    opened, closed = head.count(b"{"), head.count(b"}")
    if opened != closed:
        raise CoreError(f"the BVH file is incomplete: its joints have {opened} opening and {closed} closing braces.")
    frames, time = _FRAMES.search(rest), _TIME.search(rest)
    if frames is None or time is None:
        raise CoreError('the BVH file is incomplete: "Frames:" and "Frame Time:" must follow MOTION.')
    said, second = (text[1].decode("ascii", "replace")[:SHOWN] for text in (frames, time))
    if not (said.isdecimal() and int(said) <= FRAME_LIMIT):
        raise CoreError(f'"Frames: {said}" is not a number of frames from 0 to {FRAME_LIMIT}.')
    try:
        time_of_one = float(second)
    except ValueError:
        time_of_one = math.nan
    still = int(said) <= 1 and time_of_one == 0.0  # a pose takes no time
    if not still and not 1.0 / RATES[1] <= time_of_one <= 1.0 / RATES[0]:
        raise CoreError(
            f'"Frame Time: {second}" is not the time of a frame: the frame rate must be between '
            f"{RATES[0]:g} and {RATES[1]:g}."
        )
    wrong = _WORD.search(rest, time.end()) or _WORD.search(b" ".join(_OFFSET.findall(head)))
    if wrong is not None:
        word = wrong[0].decode("ascii", "replace")[:SHOWN]
        raise CoreError(f'the BVH file has "{word}" where a number is needed.')
    for said_count, names in _CHANNELS.findall(head):
        count, listed = said_count.decode("ascii", "replace")[:SHOWN], len(names.split())
        if not (count.isdecimal() and int(count) == listed):
            raise CoreError(f'the BVH file is damaged: "CHANNELS {count}" is followed by {listed} names.')
    lines = sum(1 for line in rest[time.end() :].splitlines() if line.strip())
    if lines and int(said) == 0:
        raise CoreError(f'"Frames: 0" is followed by {lines} frames.')
    if lines < int(said):
        raise CoreError(f"the BVH file is incomplete: it has {lines} of {said} frames.")
    joints = len(_JOINT.findall(head))
    check_counts(f"{lines} frames of {joints} joints", len(data), lines, joints)


def plain_bvh(data: bytes) -> bytes:
    """Return a BVH file as Blender reads it, in UTF-8 and from HIERARCHY on; the same object if it is so.

    It can be in UTF-16 with a mark, and its names in UTF-8 with or without one, in Shift-JIS, or, as the last guess, in
    Latin-1.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", "replace").encode()
    begin, motion = _HIERARCHY.search(data), _MOTION.search(data)
    if begin is None or motion is None:
        return data
    head = data[begin.start("word") : motion.start()]
    for encoding in ("utf-8", "cp932", "latin-1"):
        try:
            text = head.decode(encoding)
        except UnicodeDecodeError:
            continue
        plain = text.encode()
        return data if data.startswith(plain) else plain + data[motion.start() :]
    raise AssertionError  # Latin-1 has all bytes


def check_fbx(data: bytes) -> None:
    """Raise CoreError if arrays of a binary FBX file are not in it, or unpack to more than they say."""
    if not data.startswith(_FBX):
        return
    try:
        node = _NODE if struct.unpack_from("<I", data, len(_FBX))[0] < _WIDE else _WIDE_NODE
        unpacked = 0
        for place, count, size in _nodes(data, node, len(_FBX) + 4):
            check_counts(f"{count} values in {size} bytes", size, count)
            unpacked += _unpacked(data, place, count)
            check_size(unpacked, what="it unpacks to arrays")
    except (struct.error, zlib.error, KeyError):  # which the importer refuses
        return


def _nodes(data: bytes, node: struct.Struct, place: int) -> Iterable[tuple[int, int, int]]:
    """Yield of each node where its values begin, and their number and bytes; a node's own nodes follow its values."""
    ends: list[int] = []
    while True:
        while ends and place >= ends[-1]:
            ends.pop()
        end, count, size, name = node.unpack_from(data, place)
        place += node.size
        if end:
            yield place + name, count, size
            place += name + size
            ends.append(end)
        elif not ends:
            return


def _unpacked(data: bytes, place: int, count: int) -> int:
    """Return the bytes of a node's arrays; raises CoreError if a packed one has more than it says."""
    whole = 0
    for _ in range(count):
        kind = data[place : place + 1]
        if kind in _ITEMS:
            _, numbers, packed, size = _ARRAY.unpack_from(data, place)
            place += _ARRAY.size
            whole += (stated := numbers * _ITEMS[kind])
            if packed and stated <= LARGEST_FILE < size * _PACKED:
                made = zlib.decompressobj().decompress(data[place : place + size], stated + 1)
                check_counts(f"an array of {numbers} numbers", stated, len(made))
            place += size
        elif kind and kind in _LENGTHS:
            place += 5 + struct.unpack_from("<I", data, place + 1)[0]
        else:
            place += 1 + _VALUES[kind]
    return whole


def check_gltf(data: bytes, folder: Path) -> None:
    """Raise CoreError if a glTF file has too many numbers, or names what is no file; `folder`: where it lies."""
    if data.startswith(_GLB) and len(data) >= _WHERE_JSON:
        data = data[_WHERE_JSON : _WHERE_JSON + struct.unpack_from("<I", data, _WHERE_JSON - 8)[0]]
    try:
        root: Any = parse_json(data.decode("utf-8"))
    except CoreError:
        raise
    except ValueError:  # which the importer refuses
        return
    if not is_object(root):
        return
    unpacked = 0
    for accessor in _objects(root, "accessors"):
        count, parts = accessor.get("count"), _COMPONENTS.get(str(accessor.get("type")), 1)
        if isinstance(count, int):
            unpacked += max(count, 0) * parts * _LARGEST_NUMBER
    check_size(unpacked, what="it unpacks to arrays")
    for named in (*_objects(root, "buffers"), *_objects(root, "images")):
        uri = named.get("uri")
        if isinstance(uri, str) and not uri.startswith("data:"):
            _check_regular(folder, unquote(uri))


def _check_regular(folder: Path, name: str) -> None:
    """Raise CoreError for a device or a pipe; a file that is missing is left to the importer."""
    try:
        place = folder / name
        wrong = place.exists() and not place.is_file()
    except (OSError, ValueError):  # no name of a file
        wrong = True
    if wrong:
        raise CoreError(f'it refers to "{name[:SHOWN]}", which is not a file.')


def _objects(root: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    """Return the objects of a list of the file."""
    found = root.get(name)
    return [one for one in found if is_object(one)] if is_list(found) else []
