"""Bytes of strangers: what a file asks for is looked at where it is read, before anything is made of it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from .errors import CoreError

MEGABYTE: Final = 1_000_000
LARGEST_DOCUMENT: Final = 16 * MEGABYTE  # bytes of a job, a recipe, a list or a mapping
LARGEST_FILE: Final = 500 * MEGABYTE  # bytes of a recording or a clip, as it is or unpacked
DEEPEST: Final = 100  # lists and objects of JSON in each other
_TEXTS: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_OPEN, _CLOSED = b"[{", b"]}"
_OTHERS: Final = bytes(code for code in range(256) if code not in _OPEN + _CLOSED)


def read_bytes(path: Path, most: int = LARGEST_FILE) -> bytes:
    """Return the bytes of a file; no more than `most` are read, whatever the file is.

    Raises OSError if it cannot be read, CoreError if it is larger.
    """
    parts: list[bytes] = []
    size = 0
    with path.open("rb") as file:
        while part := file.read(MEGABYTE):
            size += len(part)
            check_size(size, most)
            parts.append(part)
    return b"".join(parts)


def check_size(size: int, most: int = LARGEST_FILE, what: str = "it is") -> None:
    """Raise CoreError if a file has, or unpacks to, more bytes than `most`."""
    if size > most:
        raise CoreError(f"{what} larger than {most // MEGABYTE} MB.")


def check_counts(what: str, size: int, *counts: int) -> None:
    """Raise CoreError if so many records of so many bytes, as a header says, are not in a file of `size` bytes."""
    if any(count < 0 for count in counts) or int(np.prod(np.array(counts, object))) > size:
        raise CoreError(f"It says that it has {what}, which is more than a file of {size} bytes can hold.")


def parse_json(text: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the data of JSON text; `pairs` makes objects, as in `json.loads`.

    Raises ValueError if it is no JSON, CoreError, which is one, if it is nested more than DEEPEST deep.
    """
    marks = np.frombuffer(_TEXTS.sub("", text).encode("ascii", "replace").translate(None, _OTHERS), np.uint8)
    steps = np.where(np.isin(marks, np.frombuffer(_OPEN, np.uint8)), np.int8(1), np.int8(-1))
    if np.cumsum(steps, dtype=np.int32).max(initial=0) > DEEPEST:  # eight times the file in int64
        raise CoreError(f"it is nested too deeply: more than {DEEPEST} lists and objects in each other.")
    return json.loads(text, object_pairs_hook=pairs)
