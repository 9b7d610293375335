"""Values of JSON fields, checked one by one; every mistake is a CoreError that begins with the field's name."""

import difflib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from .. import CoreError

FRAME_LIMIT: Final = 1048574  # Blender's MAXFRAME
LARGEST: Final = 1e9  # metres; beyond it single precision, and so Blender, has no millimetres to speak of

Parsed = TypeVar("Parsed")

_SHOWN: Final = 40  # characters of a wrong value in a message


def without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; raises CoreError for a field that is given twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise CoreError(f"{twice[:_SHOWN]}: given twice.")
    return fields


def read_json(path: Path, kind: str, parse: Callable[[object], Parsed]) -> Parsed:
    """What `parse` makes of a file; raises CoreError, beginning with what file it is, if it is no good."""
    try:
        return parse(json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=without_twins))
    except OSError as error:
        raise CoreError(f'The {kind} file "{path}" cannot be read: {error.strerror or error}.') from error
    except UnicodeDecodeError as error:
        raise CoreError(f'The {kind} file "{path}" is not UTF-8 text.') from error
    except json.JSONDecodeError as error:
        raise CoreError(f'The {kind} file "{path}" is not JSON: {error.msg} in line {error.lineno}.') from error
    except RecursionError as error:  # Python's JSON reader calls itself
        raise CoreError(f'The {kind} file "{path}" is nested too deeply.') from error
    except CoreError as error:
        raise CoreError(f'The {kind} file "{path}": {error}') from error
    except ValueError as error:  # e.g. an integer of thousands of digits
        raise CoreError(f'The {kind} file "{path}" is not JSON that Poise can read: {error}.') from error


def read_fields(
    data: object,
    where: str,
    known: Sequence[str],
    elsewhere: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The fields of a JSON object, all of them known; `elsewhere` has those of other places, with the place."""
    if not isinstance(data, dict):
        raise CoreError(f"{where or 'The file'}: needs an object in braces, not {shown(data)}.")
    for name in data:
        path = f"{where}.{name}" if where else str(name)
        if name in known:
            continue
        if elsewhere and name in elsewhere:
            raise CoreError(f"{path}: only {elsewhere[name]}.")
        near = difflib.get_close_matches(str(name), known, 1)
        raise CoreError(f"{path}: unknown field" + (f'; did you mean "{near[0]}"?' if near else "."))
    return data


def read_one_of(data: object, where: str, names: Sequence[str], plain: str) -> dict[str, Any]:
    """An object with exactly one of these fields."""
    if not isinstance(data, dict):
        forms = " or ".join([plain, *(f'{{"{name}": ...}}' for name in names)])
        raise CoreError(f"{where}: needs {forms}, not {shown(data)}.")
    fields = read_fields(data, where, names)
    if len(fields) != 1:
        raise CoreError(f"{where}: needs one of {', '.join(names)}.")
    return fields


def read_list(data: object, where: str) -> list[Any]:
    if not isinstance(data, list):
        raise CoreError(f"{where}: needs a list, not {shown(data)}.")
    return data


def read_name(data: object, where: str) -> str:
    if not isinstance(data, str) or not data:
        raise CoreError(f"{where}: needs a name, not {shown(data)}.")
    if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in data):
        raise CoreError(f"{where}: has a character that no name in Blender can have.")
    return data


def read_choice(data: object, where: str, names: Sequence[str], *forms: str) -> Any:
    if not isinstance(data, str) or data not in names:
        wanted = " or ".join([*(f'"{name}"' for name in names), *forms])
        raise CoreError(f"{where}: needs {wanted}, not {shown(data)}.")
    return data


def read_flag(data: object, where: str) -> bool:
    if not isinstance(data, bool):
        raise CoreError(f"{where}: needs true or false, not {shown(data)}.")
    return data


def read_number(data: object, where: str) -> float:
    if isinstance(data, bool) or not isinstance(data, (int, float)):
        raise CoreError(f"{where}: needs a number, not {shown(data)}.")
    if not abs(data) <= LARGEST:  # false for NaN, too
        raise CoreError(f"{where}: {shown(data)} is not a finite number of a sensible size.")
    return float(data)


def read_numbers(data: object, where: str, count: int) -> tuple[float, ...]:
    values = read_list(data, where)
    if len(values) != count:
        raise CoreError(f"{where}: needs {count} numbers, not {len(values)}.")
    return tuple(read_number(value, f"{where}[{i}]") for i, value in enumerate(values))


def read_positive(data: object, where: str) -> float:
    value = read_number(data, where)
    if value <= 0.0:
        raise CoreError(f"{where}: must be more than 0, not {shown(data)}.")
    return value


def read_between(data: object, where: str, least: float = 0.0, most: float = math.inf) -> float:
    value = read_number(data, where)
    if not least <= value <= most:
        bounds = f"at least {least:g}" if math.isinf(most) else f"between {least:g} and {most:g}"
        raise CoreError(f"{where}: must be {bounds}, not {shown(data)}.")
    return value


def read_whole(data: object, where: str, least: int, most: int = FRAME_LIMIT) -> int:
    value = read_number(data, where)
    if not value.is_integer():
        raise CoreError(f"{where}: needs a whole number, not {shown(data)}.")
    if not least <= value <= most:
        raise CoreError(f"{where}: must be between {least} and {most}, not {shown(data)}.")
    return int(value)


def read_range(data: object, where: str) -> tuple[int, int]:
    values = read_list(data, where)
    if len(values) != 2:
        raise CoreError(f"{where}: needs the first and the last frame, not {len(values)} numbers.")
    first, last = (read_whole(value, f"{where}[{i}]", -FRAME_LIMIT) for i, value in enumerate(values))
    return check_range((first, last), where)


def check_range(frames: tuple[int, int], where: str) -> tuple[int, int]:
    """The same frames; raises CoreError if the last comes before the first."""
    if frames[1] < frames[0]:
        raise CoreError(f"{where}: the range runs backwards, from {frames[0]} to {frames[1]}.")
    return frames


def shown(data: object) -> str:
    """A wrong value as the user wrote it, short."""
    huge = isinstance(data, int) and abs(data) > LARGEST  # Python refuses to print integers of thousands of digits
    text = "a huge number" if huge else json.dumps(data, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
