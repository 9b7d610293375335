"""Lines of a text: Japanese and Chinese, which have no spaces, break between any two characters."""

import re
from collections.abc import Callable
from typing import Final

_WIDE: Final = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_OPEN, _CLOSED = "「『（“《", "」』）”》、。，：；！？"
_PIECE: Final = re.compile(rf"\s*[{_OPEN}]*(?:[{_WIDE}]|[^\s{_WIDE}{_OPEN}{_CLOSED}]+)?[{_CLOSED}]*")


def wrapped(text: str, room: float, measure: Callable[[str], float]) -> list[str]:
    """Return a text in lines that fit into the room, as far as its words do."""
    lines = [""]
    for piece in _PIECE.findall(text):
        longer = (lines[-1] + piece).lstrip()
        if lines[-1] and measure(longer) > room:
            lines.append(piece.lstrip())
        else:
            lines[-1] = longer
    return lines


def width(text: str) -> float:
    """Return the width of a text in letters; a Japanese or Chinese character is as wide as two."""
    return sum(2.0 if ord(letter) >= 0x2E80 or letter in "“”" else 1.0 for letter in text)
