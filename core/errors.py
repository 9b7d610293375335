"""The error of core for malformed input."""

from typing import Final

# what a terminal would obey: control characters, and the marks that turn the direction of text
_CODES: Final = (*range(32), *range(127, 160), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_OBEYED: Final = {code: ascii(chr(code))[1:-1] for code in _CODES}
_HEAD, _TAIL = 800, 200  # characters of a message that are shown


def escape_controls(text: str) -> str:
    """Return text as one line with what a terminal would obey shown as escapes, such as `\\x1b`."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").translate(_OBEYED)


class CoreError(ValueError):
    """Malformed input. The message is a sentence for the user; what a file says in it is shown and never obeyed."""

    def __init__(self, message: str) -> None:
        text = escape_controls(message)
        super().__init__(text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}...{text[-_TAIL:]}")
