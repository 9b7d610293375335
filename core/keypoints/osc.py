"""Open Sound Control 1.0: reads the messages of a packet, also of nested bundles (opensoundcontrol.stanford.edu).

Packets come over a network port, so hostile ones have to be refused at once. python-osc does not: it never returns from
a bundle of negative size, and takes seconds for a packet of many arguments. The tests compare with what it writes.
"""

import struct
from collections.abc import Iterator
from itertools import islice
from typing import Final

from ..errors import CoreError

Argument = int | float | str | bytes | bool | None
Message = tuple[str, list[Argument]]

_BUNDLE: Final = b"#bundle\0"
_TIME_TAG: Final = 8  # bytes
_DEEPEST: Final = 8  # levels of bundles
_MOST: Final = 1000  # messages per packet, and arguments per message
_NUMBERS: Final = {tag: struct.Struct(f">{code}") for tag, code in zip("ifdht", "ifdqQ", strict=True)}
_VALUES: Final[dict[str, bool | None]] = {"T": True, "F": False, "N": None}
_SIZE: Final = _NUMBERS["i"]


def is_osc(data: bytes) -> bool:
    """Return whether a packet begins like one of OSC."""
    return data[:1] == b"/" or data.startswith(_BUNDLE)


def read_osc(data: bytes) -> list[Message]:
    """Return addresses with their arguments, in order. Raises CoreError for malformed or excessive packets."""
    try:
        result = list(islice(_messages(data, 0, len(data), 0), _MOST + 1))
        if len(result) > _MOST:
            raise CoreError(f"The OSC packet has more than {_MOST} messages.")
    except CoreError:  # which is a ValueError
        raise
    except (struct.error, ValueError):
        raise CoreError("The OSC packet is damaged.") from None
    return result


def _messages(data: bytes, start: int, end: int, depth: int) -> Iterator[Message]:
    if not data.startswith(_BUNDLE, start, end):
        yield _message(data, start, end)
        return
    if depth == _DEEPEST:
        raise CoreError(f"The OSC packet has more than {_DEEPEST} bundles inside each other.")
    offset = start + len(_BUNDLE) + _TIME_TAG
    if offset > end:
        raise ValueError
    while offset < end:
        size: int = _SIZE.unpack_from(data, offset)[0]
        offset += _SIZE.size
        if not 0 < size <= end - offset:
            raise ValueError
        yield from _messages(data, offset, offset + size, depth + 1)
        offset += size


def _message(data: bytes, start: int, end: int) -> Message:
    address, offset = _string(data, start, end)
    if not address.startswith("/"):
        raise ValueError
    tags, offset = _string(data, offset, end) if offset < end else (",", offset)
    if not tags.startswith(","):
        raise ValueError
    if len(tags) > 1 + _MOST:
        raise CoreError(f"An OSC message has more than {_MOST} arguments.")
    arguments: list[Argument] = []
    for tag in tags[1:]:
        number = _NUMBERS.get(tag)
        if number is not None:
            arguments.append(number.unpack_from(data, offset)[0])
            offset += number.size
        elif tag == "s":
            text, offset = _string(data, offset, end)
            arguments.append(text)
        elif tag in _VALUES:
            arguments.append(_VALUES[tag])
        else:
            raise CoreError(f'An OSC message has an argument of the unsupported type "{tag}".')
        if offset > end:
            raise ValueError
    return address, arguments


def _string(data: bytes, start: int, end: int) -> tuple[str, int]:
    """Return a text that ends in a zero byte, and the offset after its padding to a multiple of four bytes."""
    stop = data.index(b"\0", start, end)
    return data[start:stop].decode("utf-8"), start + (stop - start) // 4 * 4 + 4
