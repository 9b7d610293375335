"""Reading JSON files: every mistake is a CoreError that begins with the file's name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ..errors import CoreError
from ..sources import LARGEST_DOCUMENT, parse_json, read_bytes
from .table import SHOWN

Parsed = TypeVar("Parsed")


def read_json(path: Path, kind: str, parse: Callable[[object], Parsed]) -> Parsed:
    """Return what `parse` returns for a file's data; raises CoreError, beginning with what file it is."""
    try:
        return parse(parse_json(read_bytes(path, LARGEST_DOCUMENT).decode("utf-8-sig"), without_twins))
    except OSError as error:
        raise CoreError(f'The {kind} file "{path}" cannot be read: {error.strerror or error}.') from error
    except UnicodeDecodeError as error:
        raise CoreError(f'The {kind} file "{path}" is not UTF-8 text.') from error
    except json.JSONDecodeError as error:
        raise CoreError(f'The {kind} file "{path}" is not JSON: {error.msg} in line {error.lineno}.') from error
    except CoreError as error:
        raise CoreError(f'The {kind} file "{path}": {error}') from error
    except ValueError as error:  # e.g. an integer of thousands of digits
        raise CoreError(f'The {kind} file "{path}" is not JSON that Poise can read: {error}.') from error


def without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raises CoreError for a field that is given twice."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise CoreError(f"{name[:SHOWN]}: given twice.")
        found[name] = value
    return found
