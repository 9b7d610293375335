"""Markers of landmarks as JSON: `{"marks": {"hip.L": ["LASI", "LPSI"], ...}, "unit": "mm", "up": "+Z"}`."""

from typing import Any

from .. import CoreError
from ..keypoints import Layout
from ..keypoints.body import LANDMARKS
from ..keypoints.recordings import is_list, is_object, read_unit_and_up


def parse_marker_mapping(name: str, mapping: Any) -> Layout:
    """Return a mapping as a layout of that name: each landmark is the midpoint of its markers.

    "unit" and "up" are optional. Raises CoreError for unknown landmarks and malformed values.
    """
    marks: Any = mapping.get("marks") if is_object(mapping) else None
    if not is_object(marks) or not marks:
        raise CoreError('A mapping is an object {"marks": {"hip.L": ["LASI", "LPSI"], ...}}.')
    landmarks: dict[str, tuple[str, ...]] = {}
    for landmark, points in marks.items():
        if landmark not in LANDMARKS:
            raise CoreError(f'There is no mark "{landmark}"; there are {", ".join(LANDMARKS)}.')
        if not is_list(points) or not points or not all(isinstance(point, str) for point in points):
            raise CoreError(f'The mark "{landmark}" has no list of names of markers.')
        landmarks[landmark] = tuple(points)
    points = tuple(dict.fromkeys(point for points in landmarks.values() for point in points))
    unit, up = (value or "auto" for value in read_unit_and_up(mapping))
    return Layout(name, points, landmarks, unit, up, markers=True)  # pyright: ignore[reportArgumentType]
