"""Bytes of strangers: what a file asks for is looked at where it is read, before anything is made of it."""

import io
import json
import math
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from .errors import CoreError
from .rotation import Array

MEGABYTE: Final = 1_000_000
LARGEST_DOCUMENT: Final = 16 * MEGABYTE  # bytes of a job, a recipe, a list or a mapping
LARGEST_FILE: Final = 500 * MEGABYTE  # bytes of a recording or a clip, as it is or unpacked
DEEPEST: Final = 100  # lists and objects of JSON in each other
MOST_PARTS: Final = 5 * MEGABYTE  # lists and objects of JSON: of 33 points, 42 minutes at 60 frames a second
_PACKED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # as numpy writes
_NO_NUMPY: Final = "The file is not one that numpy can read without running code from it"
_TEXTS: Final = re.compile(  # possessive: steps back would be kept for each letter; without an end, all is text
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+', re.DOTALL
)
_OPEN, _CLOSED = b"[{", b"]}"
_OTHERS: Final = bytes(code for code in range(256) if code not in _OPEN + _CLOSED)


def read_bytes(path: Path, most: int = LARGEST_FILE) -> bytes:
    """Return the bytes of a file; no more than `most` are read, whatever the file is.

    Raises OSError if it cannot be read, CoreError if it is larger or no file.
    """
    check_regular(path)
    parts: list[bytes] = []
    size = 0
    with path.open("rb") as file:
        check_size(os.fstat(file.fileno()).st_size, most)
        while part := file.read(MEGABYTE):
            size += len(part)
            check_size(size, most)
            parts.append(part)
    return b"".join(parts)


def check_regular(path: Path) -> None:
    """Raise CoreError for a folder, and for a device or a pipe, which may never end; what is missing passes."""
    if path.exists() and not path.is_file():
        raise CoreError("it is a folder, a device or a pipe, not a file.")


def check_size(size: int, most: int = LARGEST_FILE, what: str = "it is") -> None:
    """Raise CoreError if a file has, or unpacks to, more bytes than `most`."""
    if size > most:
        raise CoreError(f"{what} larger than {most // MEGABYTE} MB.")


def check_counts(what: str, size: int, *counts: int) -> None:
    """Raise CoreError if so many records of so many bytes, as a header says, are not in a file of `size` bytes."""
    if any(count < 0 for count in counts) or int(np.prod(np.array(counts, object))) > size:
        raise CoreError(f"The file is damaged: it declares {what}, more than its {size} bytes can hold.")


def parse_json(text: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the data of JSON text; `pairs` makes objects, as in `json.loads`.

    Raises ValueError if it is no JSON, CoreError, which is one, if it has more than MOST_PARTS lists and objects or
    nests them more than DEEPEST deep.
    """
    plain = _TEXTS.sub("", text)
    if plain.count("[") + plain.count("{") > MOST_PARTS:  # an empty object, of three bytes here, takes 64
        raise CoreError(f"it has more than {MOST_PARTS // MEGABYTE} million lists and objects.")
    marks = np.frombuffer(plain.encode("ascii", "replace").translate(None, _OTHERS), np.uint8)
    steps = np.where(np.isin(marks, np.frombuffer(_OPEN, np.uint8)), np.int8(1), np.int8(-1))
    if np.cumsum(steps, dtype=np.int32).max(initial=0) > DEEPEST:  # eight times the file in int64
        raise CoreError(f"it is nested too deeply: more than {DEEPEST} lists and objects inside each other.")
    return json.loads(text, object_pairs_hook=pairs)


def read_array(data: bytes) -> Array:
    """Return the array of an .npy file; raises CoreError for one that is no array of numbers or texts."""
    try:
        return _read_array(io.BytesIO(data), len(data))
    except CoreError:
        raise
    except Exception:  # numpy's parser raises nearly anything at a spoilt header
        raise CoreError(f"{_NO_NUMPY}.") from None


def read_archive(data: bytes, used: Collection[str], needed: Sequence[str], single: str = "") -> dict[str, Array]:
    """Return the arrays of an .npz file that have a name of `used`; others are not even unpacked.

    `single`: the name of an array that is the only one, whatever the file calls it. Raises CoreError if none of
    `needed` is there, and for arrays of other than numbers or texts.
    """
    try:
        return _read_archive(data, used, needed, single)
    except CoreError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise CoreError("The file is damaged, or not an .npz archive.") from None
    except Exception:  # zipfile's parser, too
        raise CoreError(f"{_NO_NUMPY}.") from None


def _read_archive(data: bytes, used: Collection[str], needed: Sequence[str], single: str) -> dict[str, Array]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        if len(members) == 1 and single:
            members = {single: next(iter(members.values()))}
        if not any(name in members for name in needed):
            wanted = " or ".join(f'"{name}"' for name in needed)
            raise CoreError(f"The file has the arrays {', '.join(members)}, but none of them is called {wanted}.")
        chosen = {name: member for name, member in members.items() if name in used}
        check_size(sum(member.file_size for member in chosen.values()), what="The file unpacks to arrays")
        if any(member.compress_type not in _PACKED for member in chosen.values()):
            raise CoreError("The file is compressed in a way that numpy does not support.")
        result: dict[str, Array] = {}
        for name, member in chosen.items():
            with archive.open(member) as stream:
                result[name] = _read_array(stream, member.file_size)
        return result


def _read_array(stream: IO[bytes], size: int) -> Array:
    """Return the array in a stream of `size` bytes, as numpy writes it."""
    version = np.lib.format.read_magic(stream)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, kind = header(stream)
    if kind.kind == "c":
        raise CoreError(f"The file has complex numbers ({kind}); real ones are needed.")
    if kind.kind not in "fiubSU":
        raise CoreError(f"{_NO_NUMPY}: it has {kind}.")
    check_counts(f"an array of {' x '.join(map(str, shape))} numbers", size, kind.itemsize, *shape)
    numbers = np.frombuffer(stream.read(kind.itemsize * math.prod(shape)), kind)
    return numbers.reshape(shape, order="F" if by_columns else "C")
