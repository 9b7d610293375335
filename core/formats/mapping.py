"""A mapping of parts to bones as JSON, to be shared: `{"version": 1, "roles": {"hips": "Hips", "spine": ["Spine"]}}`.

Parts and answers are those that `info` prints; null says that the body has no such part, and what is not named is left
as it is found.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from .. import CoreError
from ..body.roles import LISTS, ROLES
from .fields import read_fields, read_json, read_list, read_name, shown

VERSION: Final = 1

RoleMapping = Mapping[str, str | tuple[str, ...] | None]


def read_mapping(path: Path) -> RoleMapping:
    """The mapping in a file; raises CoreError, beginning with the file's name, if it is none."""
    return read_json(path, "mapping", parse_file)


def parse_file(data: object) -> RoleMapping:
    """The mapping of a whole file."""
    fields = read_fields(data, "", ("version", "roles"))
    if fields.get("version") != VERSION or isinstance(fields["version"], bool):
        raise CoreError(f"version: this Poise reads version {VERSION}, not {shown(fields.get('version'))}.")
    return parse_mapping(fields.get("roles", {}), "roles")


def parse_mapping(data: object, where: str) -> RoleMapping:
    """Part -> bone, bones or null; raises CoreError naming the field that is wrong."""
    found: dict[str, str | tuple[str, ...] | None] = {}
    for role, bones in read_fields(data, where, ROLES).items():
        place = f"{where}.{role}"
        if bones is None:
            found[role] = None
        elif role in LISTS:
            found[role] = tuple(
                read_name(bone, f"{place}[{number}]") for number, bone in enumerate(read_list(bones, place))
            )
        else:
            found[role] = read_name(bones, place)
    return found


def mapping_of(parts: dict[str, Any]) -> dict[str, Any]:
    """The file for the parts of an armature, as `find_parts` returns them; null for those that are missing."""
    known = {role: bones for role, bones in parts["roles"].items() if role in ROLES}
    return {"version": VERSION, "roles": {**known, **dict.fromkeys(parts["missing"])}}
