"""Kinds of JSON values and tables of fields: what every format is read, checked, documented and published by.

A `Kind` reads one value and knows its JSON Schema; kinds are made of others (`list_of`, `by_type`, `one_of`). A `Table`
is the fields of one JSON object: name, kind and meaning, and with the class that it makes the defaults. Readers take
`(data, where)`, where `where` is the path of the value in its document, and raise CoreError with a sentence that begins
with it.
"""

import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Final

from ..errors import CoreError

FRAME_LIMIT: Final = 1048574  # Blender's MAXFRAME
NUMBER_LIMIT: Final = 1e9  # metres; beyond it single precision, and so Blender, cannot tell millimetres apart
NAME_BYTES: Final = 63  # of an action, in Blender 4.5 (MAX_ID_NAME without its two letters and the end)
VERSION: Final = 1  # of the job, the recipe and the mapping

Read = Callable[[Any, str], Any]
Schema = Mapping[str, Any]

SHOWN: Final = 40  # characters of a wrong value in a message
_UNSAID: Final[Any] = object()  # no value, since null is one


@dataclass(frozen=True, eq=False)
class Kind:
    """How a value is read, and its JSON Schema."""

    read: Read
    schema: Schema

    def then(self, change: Read, **schema: Any) -> "Kind":
        """Return the kind whose values are changed, or refused, by `change(value, where)` after they are read."""
        return Kind(lambda data, where: change(self.read(data, where), where), {**self.schema, **schema})

    def into(self, make: Callable[[Any], Any]) -> "Kind":
        """Return the kind whose values are what `make(value)` returns."""
        return Kind(lambda data, where: make(self.read(data, where)), self.schema)


@dataclass(frozen=True, eq=False)
class Field:
    """One field of a JSON object.

    needed     the end of the sentence for an object without it; "null": it is read as null there
    attribute  its name in the class that the table makes, where that is another one
    place      where it belongs, for a message about a table that does not have it
    example    JSON for the documentation, either of the field or, in braces, of the whole object
    """

    name: str
    kind: Kind
    meaning: str
    needed: str = ""
    default: Any = _UNSAID
    attribute: str = ""
    place: str = ""
    example: str = ""


@dataclass(frozen=True, eq=False)
class Table:
    """The fields of a JSON object, in the order in which they are read and shown.

    makes      the class that has the defaults, by `into`
    elsewhere  fields of other tables, with their places
    check      called with the object and its path before any field is read
    more       of the JSON Schema: which fields go together
    """

    fields: tuple[Field, ...]
    makes: Any = None
    elsewhere: Mapping[str, str] = field(default_factory=dict[str, str])
    check: Callable[[Mapping[str, Any], str], None] | None = None
    more: Schema = field(default_factory=dict[str, Any])

    def read(self, data: object, where: str) -> dict[str, Any]:
        """Return the values of the fields that are given, by their attributes."""
        given = read_fields(data, where, [one.name for one in self.fields], self.elsewhere)
        start = f"{where}." if where else ""
        for one in self.fields:
            if one.needed not in ("", "null") and one.name not in given:
                raise CoreError(f"{start}{one.name}: {one.needed}")
        if self.check is not None:
            self.check(given, where)
        values = {
            one.attribute or one.name: one.kind.read(given.get(one.name), f"{start}{one.name}")
            for one in self.fields
            if one.name in given or one.needed == "null"
        }
        return {name: value for name, value in values.items() if value is not _UNSAID}

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the object."""
        properties = {
            one.name: {**one.kind.schema, "description": plain(one.meaning)}
            | ({"default": default} if (default := self.default(one)) is not None else {})
            for one in self.fields
        }
        needed = [one.name for one in self.fields if one.needed]
        required = {"required": needed} if needed else {}
        return {"type": "object", "properties": properties, **required, "additionalProperties": False, **self.more}

    def default(self, one: Field) -> Any:
        """Return a field's default as JSON, from the class that the table makes; None if there is none to show."""
        if one.default is not _UNSAID:
            return one.default
        known = {own.name: own.default for own in fields(self.makes)} if self.makes is not None else {}
        found = known.get(one.attribute or one.name, MISSING)
        return found if isinstance(found, bool | int | float | str) else None

    def kind(self) -> Kind:
        """Return the kind of these objects, as the values of their fields."""
        return Kind(self.read, self.schema)

    def into(self, make: Callable[..., Any] | None = None) -> Kind:
        """Return the kind of these objects, made by `make(**values)`, by default the class of the table."""
        made = self.makes if make is None else make
        return self.kind().into(lambda values: made(**values))


# -- kinds ------------------------------------------------------------------------------------------------------------


def _read_name(data: object, where: str) -> str:
    if not isinstance(data, str) or not data:
        raise CoreError(f"{where}: needs a name, not {shown(data)}.")
    if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in data):
        raise CoreError(f"{where}: has a character that no name in Blender can have.")
    return data


def check_name(name: str, where: str) -> str:
    """Return the same name; raises CoreError if Blender would cut it off."""
    if len(name.encode()) > NAME_BYTES:
        raise CoreError(f"{where}: a name has at most {NAME_BYTES} bytes.")
    return name


def _read_flag(data: object, where: str) -> bool:
    if not isinstance(data, bool):
        raise CoreError(f"{where}: needs true or false, not {shown(data)}.")
    return data


def _read_list(data: object, where: str) -> list[Any]:
    if not isinstance(data, list):
        raise CoreError(f"{where}: needs a list, not {shown(data)}.")
    return data  # pyright: ignore[reportUnknownVariableType]


def _version(data: object, where: str) -> Any:
    if data != VERSION or isinstance(data, bool):
        raise CoreError(f"{where}: this Poise reads version {VERSION}, not {shown(data)}.")
    return _UNSAID


def unread(kind: Kind) -> Kind:
    """Return the kind that leaves reading to whoever knows what else there is, with the schema of another one."""
    return Kind(lambda data, where: data, kind.schema)


NULL: Final = Kind(lambda data, where: data, {"type": "null"})
TEXT: Final = Kind(lambda data, where: data, {"type": "string"})
NAME: Final = Kind(_read_name, {"type": "string", "minLength": 1})
BLENDER_NAME: Final = NAME.then(check_name, maxLength=NAME_BYTES)
FLAG: Final = Kind(_read_flag, {"type": "boolean"})
LIST: Final = Kind(_read_list, {"type": "array"})
THE_VERSION: Final = Kind(_version, {"const": VERSION})


def tag(name: str) -> Kind:
    """Return the kind of the name of the table itself, which has been read already and makes no value."""
    return Kind(lambda data, where: _UNSAID, {"const": name})


def choice(names: Iterable[str], *forms: str) -> Kind:
    """Return the kind of one of these names; `forms`: what else there may be, for the message."""
    known = tuple(names)

    def read(data: object, where: str) -> Any:
        if not isinstance(data, str) or data not in known:
            wanted = " or ".join([*(f'"{name}"' for name in known), *forms])
            raise CoreError(f"{where}: needs {wanted}, not {shown(data)}.")
        return data

    return Kind(read, {"enum": list(known)})


def number(least: float = -NUMBER_LIMIT, most: float = NUMBER_LIMIT, above: bool = False) -> Kind:
    """Return the kind of a finite number from `least` to `most`; `above`: and not `least` itself."""

    def read(data: object, where: str) -> float:
        value = _finite(data, where)
        if not least <= value <= most or (above and value == least):
            bounds = f"between {least:.10g} and {most:.10g}"
            if above:
                bounds = f"at most {most:.10g}" if value > most else f"more than {least:.10g}"
            elif most == NUMBER_LIMIT and value < least:
                bounds = f"at least {least:.10g}"
            raise CoreError(f"{where}: must be {bounds}, not {shown(data)}.")
        return float(value)

    return Kind(read, {"type": "number", "exclusiveMinimum" if above else "minimum": least, "maximum": most})


def whole(least: int, most: int = FRAME_LIMIT) -> Kind:
    """Return the kind of a whole number from `least` to `most`."""

    def read(data: object, where: str) -> int:
        value = _finite(data, where)
        if isinstance(value, float) and not value.is_integer():
            raise CoreError(f"{where}: needs a whole number, not {shown(data)}.")
        if not least <= value <= most:
            raise CoreError(f"{where}: must be between {least} and {most}, not {shown(data)}.")
        return int(value)

    return Kind(read, {"type": "integer", "minimum": least, "maximum": most})


def _finite(data: object, where: str) -> int | float:
    if isinstance(data, bool) or not isinstance(data, (int, float)):
        raise CoreError(f"{where}: needs a number, not {shown(data)}.")
    if not abs(data) < math.inf:  # false for NaN, too
        raise CoreError(f"{where}: {shown(data)} is not a finite number.")
    return data


def list_of(each: Kind, empty: str = "", most: int | None = None) -> Kind:
    """Return the kind of a list, read as a tuple; `empty`: the sentence that refuses one without entries.

    most: entries that it has at most
    """

    def read(data: object, where: str) -> tuple[Any, ...]:
        rows = LIST.read(data, where)
        if most is not None and len(rows) > most:
            raise CoreError(f"{where}: {len(rows)} are too many; the maximum is {most}.")
        if empty and not rows:
            raise CoreError(f"{where}: {empty}")
        return tuple(each.read(row, f"{where}[{i}]") for i, row in enumerate(rows))

    ends = ({"minItems": 1} if empty else {}) | ({} if most is None else {"maxItems": most})
    return Kind(read, {"type": "array", "items": each.schema} | ends)


def vector(count: int, each: Kind | None = None, what: str = "") -> Kind:
    """Return the kind of a list of `count` numbers, as a tuple; `what`: words of the message, "{}" for how many."""
    numbers, words = list_of(number() if each is None else each), what or f"{count} numbers, not {{}}"

    def read(data: object, where: str) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise CoreError(f"{where}: needs a list of {count} numbers, not {shown(data)}.")
        given = len(data)  # pyright: ignore[reportUnknownArgumentType]
        if given != count:
            raise CoreError(f"{where}: needs {words.format(given)}.")
        return numbers.read(data, where)

    return Kind(read, {**numbers.schema, "minItems": count, "maxItems": count})


def object_of(each: Kind, what: str, key: Kind = TEXT) -> Kind:
    """Return the kind of an object with any names, read as a dict in its order; `what`: the words of the message."""

    def read(data: object, where: str) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise CoreError(f"{where}: needs {what}, not {shown(data)}.")
        named: dict[str, Any] = data  # pyright: ignore[reportUnknownVariableType]
        return {key.read(name, where): each.read(value, f"{where}.{name}") for name, value in named.items()}

    names = {} if key is TEXT else {"propertyNames": key.schema}
    return Kind(read, {"type": "object", "additionalProperties": each.schema, **names})


def one_of(plain_form: str, **kinds: Kind) -> Kind:
    """Return the kind of an object with one of these fields; `plain_form`: what else there may be, for the message."""

    def read(data: Any, where: str) -> Any:
        if not isinstance(data, dict):
            forms = " or ".join([plain_form, *(f'{{"{name}": ...}}' for name in kinds)])
            raise CoreError(f"{where}: needs {forms}, not {shown(data)}.")
        given = read_fields(data, where, tuple(kinds))  # pyright: ignore[reportUnknownArgumentType]
        if len(given) != 1:
            raise CoreError(f"{where}: needs one of {', '.join(kinds)}.")
        ((name, value),) = given.items()
        return kinds[name].read(value, f"{where}.{name}")

    return any_of(
        read,
        *(
            {"type": "object", "properties": {name: kind.schema}, "required": [name], "additionalProperties": False}
            for name, kind in kinds.items()
        ),
    )


def or_word(word: str, other: Kind) -> Kind:
    """Return the kind of this word, read as itself, or of a value of another kind."""
    return any_of(lambda data, where: data if data == word else other.read(data, where), {"const": word}, other.schema)


def by_type(cases: Mapping[type, Kind], other: Kind | str) -> Kind:
    """Return the kind of values by Python type; `other`: the kind of all others, or the words of the message."""

    def read(data: object, where: str) -> Any:
        for type_, kind in cases.items():
            if isinstance(data, type_):
                return kind.read(data, where)
        if isinstance(other, str):
            raise CoreError(f"{where}: needs {other}, not {shown(data)}.")
        return other.read(data, where)

    more = () if isinstance(other, str) else (other.schema,)
    return any_of(read, *(kind.schema for kind in cases.values()), *more)


def any_of(read: Read, *schemas: Schema) -> Kind:
    """Return the kind of a value that one of these schemas describes."""
    flat = [one for schema in schemas for one in (schema["anyOf"] if [*schema] == ["anyOf"] else [schema])]
    return Kind(read, flat[0] if len(flat) == 1 else {"anyOf": flat})


POSITIVE: Final = number(0.0, above=True)
UNIT: Final = number(0.0, 1.0)
FRAME: Final = whole(-FRAME_LIMIT)


def check_range(frames: tuple[Any, Any], where: str) -> tuple[Any, Any]:
    """Return the same frames, or seconds; raises CoreError if the last comes before the first."""
    if frames[1] < frames[0]:
        raise CoreError(f"{where}: the range runs backwards, from {frames[0]} to {frames[1]}.")
    return frames


FRAMES: Final = vector(2, FRAME, "first and last frame, not {} numbers").then(check_range)


def read_fields(
    data: object, where: str, known: Sequence[str], elsewhere: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the fields of a JSON object; raises CoreError if one is not known. `elsewhere`: see `Table`."""
    if not isinstance(data, dict):
        raise CoreError(f"{where or 'The file'}: needs an object in braces, not {shown(data)}.")
    given: dict[str, Any] = data  # pyright: ignore[reportUnknownVariableType]
    for name in given:
        if name in known:
            continue
        path = f"{where}.{name}" if where else str(name)
        if elsewhere and name in elsewhere:
            raise CoreError(f"{path}: only {elsewhere[name]}.")
        near = difflib.get_close_matches(str(name), known, 1)
        raise CoreError(f"{path}: unknown field" + (f'; did you mean "{near[0]}"?' if near else "."))
    return given


def plain(meaning: str) -> str:
    """Return a sentence without the marks of Markdown."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", meaning).replace("`", "")


def shown(data: object) -> str:
    """Return a wrong value as the user wrote it, shortened."""
    huge = isinstance(data, int) and abs(data) > NUMBER_LIMIT  # Python refuses to print integers of thousands of digits
    text = "a huge number" if huge else json.dumps(data, ensure_ascii=False)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
