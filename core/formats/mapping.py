"""A mapping of parts to bones as JSON, to be shared: `{"version": 1, "roles": {"hips": "Hips", "spine": ["Spine"]}}`.

Parts and answers are those that `info` prints; null says that the body has no such part, and what is not named is left
as it is found.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ..body.roles import LISTS, ROLES
from .files import read_json
from .table import NAME, THE_VERSION, VERSION, Field, Kind, Table, list_of, read_fields

RoleMapping = Mapping[str, str | tuple[str, ...] | None]

_BONES: Final = list_of(NAME)


def _read_roles(data: object, where: str) -> RoleMapping:
    return {
        role: None if bones is None else (_BONES if role in LISTS else NAME).read(bones, f"{where}.{role}")
        for role, bones in read_fields(data, where, ROLES).items()
    }


ROLE_MAPPING: Final = Kind(
    _read_roles,
    {
        "type": "object",
        "properties": {
            role: {"anyOf": [(_BONES if role in LISTS else NAME).schema, {"type": "null"}]} for role in ROLES
        },
        "additionalProperties": False,
    },
)
MAPPING: Final = Table(
    (
        Field("version", THE_VERSION, "of the format", needed="null"),
        Field("roles", ROLE_MAPPING, "the bone of each part of the body; several of spine, neck and fingers; "
              "null: the body has no such part", example='"roles": {"hips": "Hips", "spine": ["Spine"]}'),
    )
)  # fmt: skip


def read_mapping(path: Path) -> RoleMapping:
    """Return the mapping in a file; raises CoreError, beginning with the file's name, if it is none."""
    return read_json(path, "mapping", lambda data: MAPPING.read(data, "").get("roles", {}))


def mapping_of(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the file's data for the parts of an armature, as `find_parts` returns them; null for those missing."""
    known = {role: bones for role, bones in parts["roles"].items() if role in ROLES}
    return {"version": VERSION, "roles": {**known, **dict.fromkeys(parts["missing"])}}
