"""A mapping of parts to bones as JSON, to be shared: `{"version": 1, "roles": {"hips": "Hips", "spine": ["Spine"]}}`.

Parts and answers are those that `info` prints; null says that the body has no such part, and what is not named is left
as it is found.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..body.axes import DIRECTED_AXES
from ..body.roles import LISTS, ROLES
from .files import read_json
from .table import NAME, THE_VERSION, VERSION, Field, Kind, Table, choice, list_of, read_fields

RoleMapping = Mapping[str, str | tuple[str, ...] | None]


@dataclass(frozen=True)
class BodyMapping:
    """What a file says of a body: which bones are its parts, and the axis of the armature that it looks along."""

    roles: RoleMapping = field(default_factory=dict[str, Any])
    facing: str | None = None


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
FACING: Final = Field(
    "facing", choice(DIRECTED_AXES), "axis of the armature that the body looks along, if it differs from the "
    "detected one; the opposite axis swaps left and right", example='"facing": "-Y"',
)  # fmt: skip
MAPPING: Final = Table(
    (
        Field("version", THE_VERSION, "of the format", needed="null"),
        Field("roles", ROLE_MAPPING,
              "bone of each part of the body; several for spine, neck and fingers; null: the body has no "
              "such part", example='"roles": {"hips": "Hips", "spine": ["Spine"]}'),
        FACING,
    )
)  # fmt: skip


def _mapping(values: Mapping[str, Any]) -> BodyMapping:
    return BodyMapping(values.get("roles", {}), values.get("facing"))


def read_mapping(path: Path) -> BodyMapping:
    """Return the mapping in a file; raises CoreError, beginning with the file's name, if it is none."""
    return read_json(path, "mapping", lambda data: _mapping(MAPPING.read(data, "")))


def mapping_of(parts: dict[str, Any], facing: str | None) -> dict[str, Any]:
    """Return the file's data for the parts of an armature, as `find_parts` returns them; null for those missing.

    `facing` is what the user said of it.
    """
    known = {role: bones for role, bones in parts["roles"].items() if role in ROLES}
    said = {} if facing is None else {"facing": facing}
    return {"version": VERSION, "roles": {**known, **dict.fromkeys(parts["missing"])}, **said}
