"""A pose by parts as JSON, on the clipboard: `{"version": 1, "turns": {"hips": [[1, 0, 0, 0]]}, "posed": []}`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..body.roles import ROLES
from ..editing.part_pose import PartPose
from ..errors import CoreError
from ..rotation import Array, lengths
from ..sources import MEGABYTE, check_size, parse_json
from .files import read_json, without_twins
from .table import NAME, THE_VERSION, VERSION, Field, Kind, Table, list_of, number, read_fields, shown, vector

_DIGITS: Final = 6
_MOST: Final = 256  # bones of one part
_UNIT: Final = 1e-3  # difference of a quaternion's length from 1 that rounding may leave


def _turns(rows: Any, where: str) -> Array:
    turns = np.array(rows, float)
    size = lengths(turns)
    if np.any(np.abs(size - 1.0) > _UNIT):
        raise CoreError(f"{where}: needs unit quaternions.")
    return turns / size[:, None]


_QUATERNIONS: Final = list_of(vector(4, number(-1.0, 1.0)), "needs a quaternion.", _MOST).then(_turns)


def _read_parts(data: object, where: str) -> Mapping[str, Array]:
    given = read_fields(data, where, ROLES)
    if "hips" not in given:
        raise CoreError(f"{where}.hips: missing.")
    return {role: _QUATERNIONS.read(rows, f"{where}.{role}") for role, rows in given.items()}


_PARTS: Final = Kind(
    _read_parts,
    {
        "type": "object",
        "properties": dict.fromkeys(ROLES, _QUATERNIONS.schema),
        "required": ["hips"],
        "additionalProperties": False,
    },
)


def _posed(names: Any, where: str) -> frozenset[str]:
    strange = next((name for name in names if name not in ROLES), None)
    if strange is not None:
        raise CoreError(f"{where}: {shown(strange)} is not a part of a body.")
    return frozenset(names)


PART_POSE: Final = Table(
    (
        Field("version", THE_VERSION, "of the format", needed="missing."),
        Field("turns", _PARTS,
              "rotations of the bones of each part from a T-pose: quaternions w, x, y, z about the left, "
              "up and front of the body", needed="missing."),
        Field("posed", list_of(NAME).then(_posed),
              "parts to pose; the others are there for what these are relative to", needed="missing."),
    ),
    PartPose,
)  # fmt: skip


_POSE: Final = PART_POSE.into()


def pose_text(pose: PartPose) -> str:
    """Return a pose as JSON text."""
    turns = {role: np.round(some, _DIGITS).tolist() for role, some in pose.turns.items()}
    return json.dumps({"version": VERSION, "turns": turns, "posed": sorted(pose.posed)})


def parse_pose(text: str) -> PartPose:
    """Return the pose of JSON text of a stranger; raises CoreError if it is none."""
    try:
        check_size(len(text), MEGABYTE)
        data = parse_json(text, without_twins)
        if not isinstance(data, dict):
            raise CoreError("it is not an object in braces.")
        return _POSE.read(data, "")
    except CoreError:
        raise
    except ValueError as error:
        raise CoreError("it is not JSON.") from error


def read_pose_file(path: Path) -> PartPose:
    """Return the pose in a file; raises CoreError, beginning with the file's name, if it is none."""
    return read_json(path, "pose", lambda data: _POSE.read(data, ""))
