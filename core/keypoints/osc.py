"""Open Sound Control 1.0: the messages of one packet, of bundles too.

python-osc, which is well kept, never comes back from a bundle that says a negative size, and takes seconds for one
packet with many arguments. What comes over a port has to be refused in no time, so packets are read here; the tests
hold what python-osc writes against it.
"""

import struct
from collections.abc import Iterator
from typing import Final

from ..errors import CoreError

Argument = int | float | str | bytes | bool | None
Message = tuple[str, list[Argument]]

_BUNDLE: Final = b"#bundle\0"
_TIME_TAG: Final = 8  # bytes
_DEEPEST: Final = 8  # bundles in bundles
_MOST: Final = 1000  # messages in a packet, and arguments in a message
_NUMBERS: Final = {tag: struct.Struct(f">{code}") for tag, code in zip("ifdht", "ifdqQ", strict=True)}
_VALUES: Final[dict[str, bool | None]] = {"T": True, "F": False, "N": None}
_SIZE: Final = _NUMBERS["i"]


def is_osc(data: bytes) -> bool:
    """Whether a packet begins like one of OSC."""
    return data[:1] == b"/" or data.startswith(_BUNDLE)


def read_osc(data: bytes) -> list[Message]:
    """Addresses with their arguments, in order. Raises CoreError for anything that is no packet of OSC."""
    result: list[Message] = []
    try:
        for message in _messages(data, 0, len(data), 0):
            result.append(message)
            if len(result) > _MOST:
                raise CoreError(f"A packet of OSC has more than {_MOST} messages.")
    except (struct.error, ValueError):
        raise CoreError("A packet of OSC is broken.") from None
    return result


def _messages(data: bytes, start: int, end: int, depth: int) -> Iterator[Message]:
    if not data.startswith(_BUNDLE, start, end):
        yield _message(data, start, end)
        return
    if depth == _DEEPEST:
        raise CoreError("A packet of OSC has too many bundles in each other.")
    place = start + len(_BUNDLE) + _TIME_TAG
    if place > end:
        raise ValueError
    while place < end:
        size: int = _SIZE.unpack_from(data, place)[0]
        place += _SIZE.size
        if not 0 < size <= end - place:
            raise ValueError
        yield from _messages(data, place, place + size, depth + 1)
        place += size


def _message(data: bytes, start: int, end: int) -> Message:
    address, place = _string(data, start, end)
    if not address.startswith("/"):
        raise ValueError
    tags, place = _string(data, place, end) if place < end else (",", place)
    if not tags.startswith(","):
        raise ValueError
    if len(tags) > 1 + _MOST:
        raise CoreError(f"A message of OSC has more than {_MOST} arguments.")
    arguments: list[Argument] = []
    for tag in tags[1:]:
        number = _NUMBERS.get(tag)
        if number is not None:
            arguments.append(number.unpack_from(data, place)[0])
            place += number.size
        elif tag == "s":
            text, place = _string(data, place, end)
            arguments.append(text)
        elif tag in _VALUES:
            arguments.append(_VALUES[tag])
        else:
            raise CoreError(f'A message of OSC has an argument of the type "{tag}", which nobody reads here.')
        if place > end:
            raise ValueError
    return address, arguments


def _string(data: bytes, start: int, end: int) -> tuple[str, int]:
    """Text that ends in a zero byte, and where what comes after it begins: at the next multiple of four bytes."""
    stop = data.index(b"\0", start, end)
    return data[start:stop].decode("utf-8"), start + (stop - start) // 4 * 4 + 4
