"""What the tables of the formats are published as: JSON Schemas, tables of the documentation, texts of `--help`.

`python -m core.formats.schema` in a checkout writes the schemas beside this module, and the tables between the marks
`<!-- fields of NAME -->` or `<!-- examples of NAME -->` and `<!-- end -->` of README.md and docs/.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import fill
from typing import Final

from .chain_list import CCD, CHAIN, ENTRY, FILE, THE_FILE
from .goals import APART, BALANCE, LOOKING, PLACED
from .humanoid import HUMANOID
from .job import JOB, PINS, POSE_TARGETS, RANGE, TOLERANCE, WRITE
from .limits import LIMITS
from .mapping import MAPPING
from .markers import MARKERS
from .pose import PART_POSE
from .recipe import BONE_TRACK, MOMENT, PART_TRACK, PATH, POSES, RECIPE, SUPPORT
from .report import GOAL_REPORT, REPORT
from .table import FRAME_LIMIT, NUMBER_LIMIT, Field, Kind, Schema, Table, plain
from .told import BATCH, EXPORTED, INFO, LEARNED, LEARNED_LIST

SCHEMAS: Final = Path(__file__).parent / "schemas"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
COLUMNS: Final = 100  # of `--help`
# name: what it is, and how it is read
FORMATS: Final[Mapping[str, tuple[str, Kind]]] = {
    "job": ("What the verb solve does", JOB.kind()),
    "recipe": ("A motion from two key poses", RECIPE.kind()),
    "list": ("The joints of contribution CCD, with the numbers of the method", THE_FILE),
    "mapping": ("Which bones are which parts of a body", MAPPING.kind()),
    "limits": ("Learned limits of joints", LIMITS.kind()),
    "markers": ("Which markers are which landmarks of a body", MARKERS.kind()),
    "pose": ("A pose by the parts of a body", PART_POSE.kind()),
    "report": ("How well a job or another verb went", REPORT.kind()),
    "info": ("What info says of the armatures of a file", INFO.kind()),
    "learned-list": ("What contribute --learn found", LEARNED_LIST.kind()),
    "learned": ("What learn found", LEARNED.kind()),
    "exported": ("What export-vrma wrote", EXPORTED.kind()),
    "batch": ("How each file of a batch went", BATCH.kind()),
}


def schema_text(name: str) -> str:
    """Return the JSON Schema of a format as the text of its file."""
    title, kind = FORMATS[name]
    return json.dumps({"$schema": DIALECT, "title": title, **kind.schema}, indent=1, ensure_ascii=False) + "\n"


def words(schema: Schema) -> str:
    """Return what a value may be, in words."""
    match schema:
        case {"type": "object", "properties": fields} if len(fields) == 1:
            return f'`{{"{next(iter(fields))}": ...}}`'
        case {"type": "object"}:
            return "object"
        case {"const": value}:
            return f"`{json.dumps(value)}`"
        case {"enum": values}:
            return ", ".join(f"`{json.dumps(value)}`" for value in values)
        case {"anyOf": kinds}:
            return " or ".join(dict.fromkeys(words(kind) for kind in kinds))
        case {"type": "array", "items": items, "minItems": int(count), "maxItems": most} if count == most:
            return f"{count} {'whole numbers' if items['type'] == 'integer' else 'numbers'}"
        case {"type": "array", "items": items}:
            each, most = words(items), f", at most {schema['maxItems']}" if "maxItems" in schema else ""
            return f"list of {each}{'s' * (each in ('name', 'number', 'object'))}{most}"
        case {"type": "number" | "integer"}:
            return _number_words(schema)
        case _:
            return {"string": "name", "boolean": "true or false", "null": "`null`"}[schema["type"]]


def _number_words(schema: Schema) -> str:
    number = "whole number" if schema["type"] == "integer" else "number"
    if "exclusiveMinimum" in schema:
        return f"{number} above {schema['exclusiveMinimum']:g}"
    least, most = schema.get("minimum", -NUMBER_LIMIT), schema.get("maximum", NUMBER_LIMIT)
    if most in (NUMBER_LIMIT, FRAME_LIMIT):
        return number if least in (-NUMBER_LIMIT, -FRAME_LIMIT) else f"{number}, at least {least:g}"
    return f"{number} from {least:g} to {most:g}"


def reference(*tables: Table) -> list[str]:
    """Return the lines of a table of all fields: name, what it may be, default and meaning."""
    lines = ["| field | value | default | meaning |", "| --- | --- | --- | --- |"]
    for one, table in _fields(tables):
        lines.append(f"| `{one.name}` | {words(one.kind.schema)} | {_default(table, one)} | {one.meaning} |")
    return lines


def _fields(tables: Iterable[Table]) -> list[tuple[Field, Table]]:
    """Return the fields of several tables, each name once, with the table that has it first."""
    found: dict[str, tuple[Field, Table]] = {}
    for table in tables:
        found |= {one.name: (one, table) for one in table.fields if one.name not in found}
    return list(found.values())


def _default(table: Table, one: Field) -> str:
    default = table.default(one)
    return "needed" if one.needed else "" if default is None else f"`{json.dumps(default)}`"


def examples(*tables: Table) -> list[str]:
    """Return the lines of a table of the fields that have an example, with their meanings."""
    rows = [f"| `{one.example}` | {one.meaning} |" for one, _ in _fields(tables) if one.example]
    return ["| in JSON | meaning |", "| --- | --- |", *rows]


def help_text(*tables: Table) -> str:
    """Return the fields of some tables for `--help`: name, what it may be, default and meaning, wrapped in columns."""
    known = _fields(tables)
    column = max(len(one.name) for one, _ in known) + 4
    indent = " " * column
    lines: list[str] = []
    for one, table in known:
        default = _default(table, one)
        beside = f" ({default})" if one.needed else f" (default {default})" if default else ""
        told = plain(f"{words(one.kind.schema)}{beside}: {one.meaning}")
        line = f"  {one.name:{column - 2}}{told}"
        lines.append(fill(line, COLUMNS, subsequent_indent=indent, break_on_hyphens=False))
    return "\n".join(lines)


TABLES: Final[Mapping[str, tuple[Table, ...]]] = {
    "job": (JOB,),
    "goals": (PLACED, LOOKING, APART),
    "balance": (BALANCE,),
    "tolerance": (TOLERANCE,),
    "write": (WRITE,),
    "joint_targets": (POSE_TARGETS,),
    "ranges": (RANGE,),
    "pins": (PINS,),
    "ccd": (CCD,),
    "chains": (CHAIN,),
    "humanoid": (HUMANOID,),
    "list": (FILE,),
    "entries": (ENTRY,),
    "recipe": (RECIPE,),
    "poses": (POSES, MOMENT),
    "tracks": (PART_TRACK, BONE_TRACK),
    "path": (PATH,),
    "supports": (SUPPORT,),
    "limits": (LIMITS,),
    "mapping": (MAPPING,),
    "markers": (MARKERS,),
    "pose": (PART_POSE,),
    "report": (REPORT,),
    "goal reports": (GOAL_REPORT,),
}
_MARKED: Final = re.compile(r"(<!-- (fields|examples) of (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(text: str) -> str:
    """Return a page of the documentation with its tables as they are now."""

    def table(found: re.Match[str]) -> str:
        lines = (reference if found[2] == "fields" else examples)(*TABLES[found[3]])
        return "\n".join([found[1], *lines, "", found[4]])

    return _MARKED.sub(table, text)


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
