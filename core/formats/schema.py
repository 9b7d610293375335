"""What the tables of the formats are published as: JSON Schemas, tables of the documentation, texts of `--help`.

`python -m core.formats.schema` in a checkout writes the schemas beside this module, and the tables between the marks
`<!-- table: NAME -->` and `<!-- end -->` of README.md and docs/.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from .chain_list import CCD, FILE, THE_FILE
from .goals import APART, BALANCE, LOOKING, PLACED
from .humanoid import HUMANOID
from .job import JOB, PINS, TOLERANCE, WRITE
from .mapping import MAPPING
from .recipe import BONES, MOMENT, PARTS, PATH, POSES, RECIPE, SUPPORT
from .report import GOAL_REPORT, REPORT
from .table import FRAME_LIMIT, LARGEST, Field, Kind, Schema, Table, plain

SCHEMAS: Final = Path(__file__).parent / "schemas"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
# name: what it is, and how it is read
FORMATS: Final[Mapping[str, tuple[str, Kind]]] = {
    "job": ("What solve is asked to do", JOB.kind()),
    "recipe": ("A motion from two key poses", RECIPE.kind()),
    "list": ("The joints of contribution CCD, with the numbers of the method", THE_FILE),
    "mapping": ("Which bones are which parts of a body", MAPPING.kind()),
    "report": ("How well a job went", REPORT.kind()),
}


def schema_text(name: str) -> str:
    """Return the JSON Schema of a format as the text of its file."""
    title, kind = FORMATS[name]
    return json.dumps({"$schema": DIALECT, "title": title, **kind.schema}, indent=1, ensure_ascii=False) + "\n"


def words(schema: Schema) -> str:
    """Return what a value may be, in words."""
    match schema:
        case {"const": value}:
            return f"`{json.dumps(value)}`"
        case {"enum": values}:
            return ", ".join(f"`{json.dumps(value)}`" for value in values)
        case {"anyOf": kinds}:
            return " or ".join(dict.fromkeys(words(kind) for kind in kinds))
        case {"type": "array", "items": items, "minItems": int(least), "maxItems": int()}:
            return f"{least} {'whole numbers' if items['type'] == 'integer' else 'numbers'}"
        case {"type": "array", "items": items}:
            return f"list of {words(items)}"
        case {"type": "number" | "integer"}:
            return _number_words(schema)
        case {"type": "object", "additionalProperties": False, "properties": fields} if len(fields) == 1:
            return f'`{{"{next(iter(fields))}": ...}}`'
        case _:
            return {"string": "name", "boolean": "true or false", "null": "`null`", "object": "object"}[schema["type"]]


def _number_words(schema: Schema) -> str:
    number = "whole number" if schema["type"] == "integer" else "number"
    if "exclusiveMinimum" in schema:
        return f"{number} above {schema['exclusiveMinimum']:g}"
    least, most = schema.get("minimum", -LARGEST), schema.get("maximum", LARGEST)
    if most in (LARGEST, FRAME_LIMIT):
        return number if least in (-LARGEST, -FRAME_LIMIT) else f"{number}, at least {least:g}"
    return f"{number} from {least:g} to {most:g}"


def reference(*tables: Table) -> list[str]:
    """Return the lines of a table of all fields: name, what it may be, default and meaning."""
    lines = ["| field | value | default | meaning |", "| --- | --- | --- | --- |"]
    seen: set[str] = set()
    for table in tables:
        for one in table.fields:
            if one.name not in seen:
                default = "needed" if one.needed else _default(table, one)
                lines.append(f"| `{one.name}` | {words(one.kind.schema)} | {default} | {one.meaning} |")
            seen.add(one.name)
    return lines


def _default(table: Table, one: Field) -> str:
    default = table.default(one)
    return "" if default is None else f"`{json.dumps(default)}`"


def examples(*tables: Table, heads: str = "field") -> list[str]:
    """Return the lines of a table of the fields that have an example, with their meanings."""
    rows = dict.fromkeys(
        f"| `{one.example}` | {one.meaning} |" for table in tables for one in table.fields if one.example
    )
    return [f"| {heads} | meaning |", "| --- | --- |", *rows]


def help_text(table: Table) -> str:
    """Return the fields of a table for `--help`, a line each."""
    width = max(len(one.name) for one in table.fields)
    return "\n".join(f"  {one.name:{width}}  {plain(words(one.kind.schema))}" for one in table.fields)


TABLES: Final[Mapping[str, Callable[[], list[str]]]] = {
    "goals": lambda: examples(PLACED, LOOKING, APART, heads="goal"),
    "job": lambda: examples(JOB),
    "recipe": lambda: examples(RECIPE),
    "humanoid": lambda: examples(HUMANOID, heads="in a job"),
    "list": lambda: reference(FILE),
    "all of job": lambda: reference(JOB),
    "all of goals": lambda: reference(PLACED, LOOKING, APART),
    "all of pins": lambda: reference(PINS),
    "all of ccd": lambda: reference(CCD),
    "all of humanoid": lambda: reference(HUMANOID),
    "all of balance": lambda: reference(BALANCE),
    "all of tolerance": lambda: reference(TOLERANCE),
    "all of write": lambda: reference(WRITE),
    "all of recipe": lambda: reference(RECIPE),
    "all of poses": lambda: reference(POSES),
    "all of moment": lambda: reference(MOMENT),
    "all of tracks": lambda: reference(PARTS, BONES),
    "all of path": lambda: reference(PATH),
    "all of supports": lambda: reference(SUPPORT),
    "all of mapping": lambda: reference(MAPPING),
    "all of report": lambda: reference(REPORT),
    "all of goal reports": lambda: reference(GOAL_REPORT),
}
_MARKED: Final = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(text: str) -> str:
    """Return a page of the documentation with its tables as they are now."""
    return _MARKED.sub(lambda found: f"{found[1]}\n" + "\n".join(TABLES[found[2]]()) + f"\n\n{found[3]}", text)


def texts(root: Path) -> dict[Path, str]:
    """Return the text of every file that is made of the tables."""
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    marked = {page: text for page in pages if _MARKED.search(text := page.read_text(encoding="utf-8"))}
    return {SCHEMAS / f"{name}.schema.json": schema_text(name) for name in FORMATS} | {
        page: with_tables(text) for page, text in marked.items()
    }


if __name__ == "__main__":
    for path, text in texts(Path(__file__).parents[2]).items():
        path.write_text(text, encoding="utf-8")
