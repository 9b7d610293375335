"""Limits that were learned, as JSON: `{"version": 1, "limits": {"upper_arm.L": [[x, y, lower, upper], ...]}}`.

A row is a corner of the polygon, the first one its centre: two numbers of a swing, axis times the sine of half its
angle, and the least and the largest twist there in radians.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from .. import CoreError
from ..limits import Polygon
from ..rotation import Array
from .files import read_json
from .table import NAME, THE_VERSION, VERSION, Field, Table, list_of, number, object_of, vector

_FEWEST: Final = 4  # a centre and three corners
_DIGITS: Final = 5


def polygon_of(rows: Array) -> Polygon:
    """Return the polygon of rows (n, 4): a centre, and corners around it. Raises CoreError for others."""
    around = np.arange(1, len(rows))
    fan = np.stack([np.zeros(len(around), int), around, np.roll(around, -1)], axis=1)
    return Polygon(rows[:, :2], fan, rows[:, 2], rows[:, 3])


def rows_of(polygon: Polygon) -> list[list[float]]:
    """Return a polygon as rows."""
    return np.round(np.column_stack([polygon.vertices, polygon.lower, polygon.upper]), _DIGITS).tolist()


def _polygon(rows: Any, where: str) -> Polygon:
    if len(rows) < _FEWEST:
        raise CoreError(f"{where}: a polygon needs its center and at least three corners.")
    try:
        return polygon_of(np.array(rows, float))
    except CoreError as error:
        raise CoreError(f"{where}: {error}") from error


LIMITS: Final = Table(
    (
        Field("version", THE_VERSION, "of the format", needed="missing."),
        Field("limits", object_of(list_of(vector(4, number(-7.0, 7.0))).then(_polygon, minItems=_FEWEST),
                                  "an object of bones in braces", NAME),
              "corners of the polygon of each bone: swing x and z, smallest and largest twist; the first "
              "is the center",
              needed="missing."),
    )
)  # fmt: skip


def read_limits(path: Path) -> Mapping[str, Polygon]:
    """Return bone -> polygon of a file; raises CoreError, beginning with the file's name, if it is none."""
    return read_json(path, "limits", lambda data: LIMITS.read(data, "")["limits"])


def limits_text(polygons: Mapping[str, Polygon]) -> str:
    """Return polygons as the text of their file, a bone a line."""
    lines = ",\n".join(f"  {json.dumps(bone)}: {json.dumps(rows_of(one))}" for bone, one in polygons.items())
    return f'{{\n "version": {VERSION},\n "limits": {{\n{lines}\n }}\n}}\n'
