"""Markers of landmarks as JSON: `{"marks": {"hip.L": ["LASI", "LPSI"], ...}, "unit": "mm", "up": "+Z"}`."""

from typing import Any, Final

from .. import CoreError
from ..keypoints import AXES, UNITS, Layout
from ..keypoints.body import LANDMARKS
from ..keypoints.recordings import is_list, is_object, read_unit_and_up
from .table import NULL, TEXT, Field, Kind, Table, by_type, choice, list_of, unread


def parse_marker_mapping(name: str, mapping: Any) -> Layout:
    """Return a mapping as a layout of that name: each landmark is the midpoint of its markers.

    "unit" and "up" are optional. Raises CoreError for unknown landmarks and malformed values.
    """
    marks: Any = mapping.get("marks") if is_object(mapping) else None
    landmarks = _read_marks(marks, "")
    points = tuple(dict.fromkeys(point for points in landmarks.values() for point in points))
    unit, up = (value or "auto" for value in read_unit_and_up(mapping))
    return Layout(name, points, landmarks, unit, up, markers=True)  # pyright: ignore[reportArgumentType]


def _read_marks(data: Any, where: str) -> dict[str, tuple[str, ...]]:
    if not is_object(data) or not data:
        raise CoreError('A mapping must be an object {"marks": {"hip.L": ["LASI", "LPSI"], ...}}.')
    for landmark, points in data.items():
        if landmark not in LANDMARKS:
            raise CoreError(f'There is no mark "{landmark}"; there are {", ".join(LANDMARKS)}.')
        if not is_list(points) or not points or not all(isinstance(point, str) for point in points):
            raise CoreError(f'The mark "{landmark}" needs a list of marker names.')
    return {landmark: tuple(points) for landmark, points in data.items()}


_POINTS: Final = list_of(TEXT, "empty").schema
_MARKS: Final = {"type": "object", "properties": dict.fromkeys(LANDMARKS, _POINTS), "additionalProperties": False}
MARKERS: Final = Table(
    (
        Field("marks", Kind(_read_marks, {**_MARKS, "minProperties": 1}), "markers of each mark", needed="null"),
        Field("unit", unread(by_type({type(None): NULL}, choice(("auto", *UNITS)))), "unit of the points"),
        Field("up", unread(by_type({type(None): NULL}, choice(("auto", *AXES)))), "axis of the points that points up"),
    ),
    more={"additionalProperties": True},
)
