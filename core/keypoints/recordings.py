"""Recordings of keypoints in files: JSON, JSON lines, CSV, NPY, NPZ, TRC and C3D.

A frame of JSON is a list of points, each [x, y, z] or [x, y, z, confidence], null for one that is not seen, or an
object {"points": [...], "time": seconds}; a point may also be {"x": ..., "y": ..., "z": ...}. A JSON file is a list of
frames, an object {"frames": [...], "fps": 30, "layout": ..., "unit": ..., "up": ...}, or one frame per line, as live
senders send them.
"""

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import product
from typing import Any, Final, TypeGuard

import numpy as np

from ..errors import CoreError
from ..rotation import Array
from ..sources import parse_json, read_archive, read_array
from .c3d_files import read_c3d
from .layouts import AXES, FREEMOCAP, FREEMOCAP_HANDS, UNITS, Layout, find_layout, match_columns

SUFFIXES: Final = (".json", ".jsonl", ".csv", ".npy", ".npz", ".trc", ".c3d")
LARGEST_TIME: Final = 1e12  # seconds
LARGEST_ARRAY: Final = 10**9  # numbers: 8 GB
COORDINATE_LIMIT: Final = 1e6  # coordinate, in any unit
RATES: Final = (1.0, 2000.0)  # frames per second; other rates come of times in another unit
DEFAULT_RATE: Final = 30.0  # frames per second
_AXES: Final = ("x", "y", "z")
_CONFIDENCES: Final = ("confidence", "visibility", "score", "c")  # the names that trackers use
_UNSEEN: Final[list[Any]] = [None] * 4
_TIMES: Final = ("time", "timestamp", "t")
_TIDY: Final = {"frame", "keypoint", *_AXES}  # columns of a file with one point per line
_MOST_UNSEEN: Final = 4  # largest ratio of the span of frame numbers to the frames in the file
_ARRAYS: Final = ("points", "confidence", "time", "fps")  # of an archive
_TRC_HEADER: Final = 5  # lines before the first frame
_ROUNDED: Final = 0.5  # frames: times this near to those of the file's rate are taken as rounded


@dataclass(frozen=True, eq=False)
class Recording:
    """Points (F, K, 3) of a layout and their confidence (F, K), with the frame rate, unit and up axis of the file.

    times (F,) in seconds, NaN where a frame has none. What the file does not give is None.
    """

    layout: Layout
    points: Array
    confidence: Array | None = None
    fps: float | None = None
    unit: str | None = None
    up: str | None = None
    times: Array | None = None


def frame_times(recording: Recording, fps: float | None = None) -> tuple[Recording, Array, float, tuple[str, ...]]:
    """Return the frames whose times increase, their times (F,) in seconds from 0, the median frame rate, and notes.

    With `fps` all frames are taken at even times. Raises CoreError for a rate outside `RATES`, and where most times do
    not increase.
    """
    points, times, stated = recording.points, recording.times, check_fps(recording.fps)
    even = np.arange(len(points), dtype=float)
    if fps is not None or times is None or not np.isfinite(times).any():
        rate = check_fps(fps) or stated
        notes = () if rate else (f"The file has no frame rate; {DEFAULT_RATE:g} frames per second are assumed.",)
        return recording, even / (rate or DEFAULT_RATE), rate or DEFAULT_RATE, notes
    if times.shape != even.shape:
        raise CoreError(f"The times have the shape {times.shape}, but there are {len(points)} frames.")
    known = np.where(np.isfinite(times), times, -np.inf)
    before = np.maximum.accumulate(np.append(-np.inf, known[:-1]))
    kept = known > before
    count = len(points) - int(kept.sum())
    if 2 * count > len(points):
        raise CoreError("The times of the frames do not increase. Set the frame rate to ignore them.")
    if not count and stated is not None and (np.abs((times - times[0]) * stated - even) < _ROUNDED).all():
        return recording, even / stated, stated, ()
    confidence, times = recording.confidence, times[kept] - times[kept][0]
    rate = 1.0 / float(np.median(np.diff(times))) if len(times) > 1 else stated or DEFAULT_RATE
    if not RATES[0] <= rate <= RATES[1]:
        raise CoreError(
            f"The times in the file give {rate:.3g} frames per second; times must be in seconds. Set "
            "the frame rate to ignore them."
        )
    notes = (f"{count} of {len(points)} frames are not later than the one before; they are left out.",) if count else ()
    confidence = None if confidence is None else confidence[kept]
    return replace(recording, points=points[kept], confidence=confidence, times=times), times, rate, notes


def check_fps(value: Any, name: str = "fps") -> float | None:
    """Return a frame rate as a number, None for None. Raises CoreError for anything else or a rate outside `RATES`.

    `name`: that of the value in its file.
    """
    if value is None:
        return None
    try:
        rate = float(np.asarray(value, float).reshape(()))  # of a list there has to be one
    except (TypeError, ValueError, OverflowError):
        rate = np.nan
    if np.asarray(value).dtype.kind == "b" or not RATES[0] <= rate <= RATES[1]:
        raise CoreError(f'"{name}" must be the number of frames per second, from {RATES[0]:g} to {RATES[1]:g}.')
    return rate


def read_recording(suffix: str, data: bytes, layout: str | Layout | None = None) -> Recording:
    """Return the recording in the bytes of a file, of the kind of its suffix.

    A JSON file may name its layout itself; other files need `layout`, a layout or its name. Raises CoreError if the
    data are malformed or do not fit the layout, or if all points are nowhere near a body; some that are count as not
    seen, as files mark those.
    """
    found = _read(suffix, data, layout)
    points, times = _within(found.points, COORDINATE_LIMIT), found.times
    if np.isfinite(found.points).any() and np.isnan(points).all():
        raise CoreError(f"All keypoints are farther than {COORDINATE_LIMIT:,.0f} units from the origin.")
    return replace(found, points=points, times=None if times is None else _within(times, LARGEST_TIME))


def _within(numbers: Array, limit: float) -> Array:
    """Return numbers with NaN for those beyond a limit, but for infinite ones, which are refused later."""
    if (
        math.prod(max(count, 1) for count in numbers.shape) > LARGEST_ARRAY
    ):  # where a count is 0, others may be anything
        raise CoreError(f"The file has an array of {numbers.shape}; the maximum is {LARGEST_ARRAY} numbers.")
    with np.errstate(invalid="ignore", over="ignore"):  # NaN of other kinds, and numbers that double precision lacks
        numbers = numbers.astype(float, copy=False)
        return np.where(np.isfinite(numbers) & (np.abs(numbers) >= limit), np.nan, numbers)


def _read(suffix: str, data: bytes, layout: str | Layout | None) -> Recording:
    kind = suffix.lower()
    if kind in (".json", ".jsonl"):
        return _read_json(_text(data), layout)
    if kind not in SUFFIXES:
        raise CoreError(f'Keypoint files end in {", ".join(SUFFIXES)}, not in "{suffix}".')
    read: Callable[[Layout], Recording]  # what is wrong with the file itself is said first
    if kind == ".csv":
        read = partial(_read_csv, *_csv_table(_text(data)))
    elif kind in (".trc", ".c3d"):
        read = partial(_read_markers, _read_trc(_text(data)) if kind == ".trc" else _Markers(*read_c3d(data)))
    else:
        read = partial(_read_numpy, _arrays(data, kind))
    if layout is None:
        raise CoreError("The layout of the keypoints is unknown. Set it.")
    return read(find_layout(layout))


def read_frame(frame: Any, layout: Layout) -> tuple[Array, Array, float | None]:
    """Return points (K, 3), confidence (K,) and time (seconds or None) of one frame of JSON.

    Raises CoreError if the frame is malformed or has another number of points than the layout.
    """
    time = frame.get("time") if is_object(frame) else None
    if time is not None and not (_is_number(time) and abs(time) < LARGEST_TIME):
        raise CoreError('"time" of a frame must be its number of seconds.')
    frame = frame.get("points") if is_object(frame) else frame
    if not is_list(frame):
        raise CoreError('A frame must be a list of points or an object with "points".')
    if len(frame) != len(layout.points):  # checked first: a live sender may send any number
        raise CoreError(f'The layout "{layout.name}" has {len(layout.points)} points, but a frame has {len(frame)}.')
    rows: list[list[Any]] = []
    for number, row in enumerate(frame):
        values = _UNSEEN if row is None else row
        if is_object(row):  # as MediaPipe writes landmarks
            values = [*map(row.get, _AXES), next((row[name] for name in _CONFIDENCES if name in row), 1.0)]
        if not is_list(values) or len(values) not in (3, 4):
            raise CoreError(f"Point {number} is not [x, y, z] or [x, y, z, confidence].")
        for value in values:
            if type(value) is not float and value is not None and not _is_number(value):
                raise CoreError(f"Point {number} does not consist of numbers.")
        rows.append(values if len(values) == 4 else [*values, 1.0])
    try:
        result = np.array(rows, float)  # None is NaN
    except OverflowError:
        raise CoreError("A point has an infinite or huge number.") from None
    return result[:, :3], np.nan_to_num(result[:, 3]), None if time is None else float(time)


def read_unit_and_up(head: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the unit and the up axis that an object of JSON names. Raises CoreError for unknown names."""
    for key, known in (("unit", UNITS), ("up", AXES)):
        value = head.get(key)
        if value is not None and value not in ("auto", *known):
            raise CoreError(f'"{key}" must be one of {", ".join(known)}.')
    return head.get("unit"), head.get("up")


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether a value of JSON is an object."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Return whether a value of JSON is a list."""
    return isinstance(value, list)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CoreError("The file is not a text file.") from None


def _read_json(text: str, name: str | Layout | None) -> Recording:
    try:
        data: Any = parse_json(text)
    except ValueError:
        data = _read_lines(text)
    head: dict[str, Any] = data if is_object(data) and "frames" in data else {}
    frames: Any = head["frames"] if head else [data] if is_object(data) else data
    if not is_list(frames) or not frames:
        raise CoreError('The file has no list of frames: [[[x, y, z], ...], ...] or {"frames": [...]}.')
    named: Any = name or head.get("layout") or (frames[0].get("layout") if is_object(frames[0]) else None)
    if not isinstance(named, (str, Layout)):
        raise CoreError("The layout of the keypoints is unknown. Set it.")
    layout = find_layout(named)
    found: list[tuple[Array, Array, float | None]] = []
    for number, frame in enumerate(frames):
        try:
            found.append(read_frame(frame, layout))
        except CoreError as error:
            raise CoreError(f"Frame {number}: {error}") from None
    points, confidence, times = zip(*found, strict=True)
    seconds, (unit, up) = np.array(times, float), read_unit_and_up(head)  # None is NaN
    return Recording(layout, np.stack(points), np.stack(confidence), check_fps(head.get("fps")), unit, up, seconds)


def _read_lines(text: str) -> list[Any]:
    result: list[Any] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                result.append(parse_json(line))
            except CoreError as error:
                raise CoreError(f"Line {number} of the file: {error}") from None
            except ValueError:
                raise CoreError(f"Line {number} of the file is not JSON.") from None
    return result


@dataclass(frozen=True)
class _Table:
    """Line numbers in the file with the cells (n,) of text, F rows, and the names of the columns (n,)."""

    rows: list[tuple[int, list[str]]]
    names: list[str]

    def cells(self, number: int) -> list[str]:
        return [row[number] for _, row in self.rows]

    def column(self, number: int, read: Callable[[str], float] = float) -> Array:
        """Return the numbers (F,) of a column; NaN for empty cells."""
        result = np.full(len(self.rows), np.nan)
        for index, (line, row) in enumerate(self.rows):
            if cell := row[number].strip():
                try:
                    result[index] = read(cell)
                except ValueError:
                    raise CoreError(f'Line {line}, column "{self.names[number]}": "{cell}" is not a number.') from None
        return result

    def columns(self, numbers: Iterable[int]) -> Array:
        """Return the numbers (F, n) of some columns."""
        return np.stack([self.column(number) for number in numbers], axis=-1)

    def times(self, column: dict[str, int]) -> Array | None:
        """Return the times (F,) in seconds, None without a column of that name."""
        number = next((column[name] for name in _TIMES if name in column), None)
        return None if number is None else self.column(number, _seconds)


def _table(lines: Sequence[str], separator: str, first: int, names: list[str] | None = None) -> _Table:
    """Return the table in lines of text, the first of which has the line number `first`."""
    try:
        rows = [(line, row) for line, row in enumerate(csv.reader(lines, delimiter=separator), start=first) if any(row)]
    except csv.Error:
        raise CoreError("The file is not a text table.") from None
    if not rows:
        raise CoreError("The file has no frames of keypoints.")
    names = [str(number) for number in range(1, len(rows[0][1]) + 1)] if names is None else names
    for line, row in rows:
        if len(row) != len(names):
            raise CoreError(f"Line {line} of the file has {len(row)} columns, but the first one {len(names)}.")
    return _Table(rows, names)


def _seconds(cell: str) -> float:
    """Return seconds from a number or an ISO 8601 time."""
    try:
        return float(cell)
    except ValueError:
        time = datetime.fromisoformat(cell)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _csv_table(text: str) -> tuple[_Table, bool]:
    """Return the table of a CSV file, and whether its columns have names."""
    lines = text.splitlines()
    names = [cell.strip().strip('"') for cell in lines[0].split(",")] if lines else []
    named = any(letter.isalpha() and letter not in "eE" for letter in "".join(names).replace("nan", ""))
    return _table(lines[1:], ",", 2, names) if named else _table(lines, ",", 1), named


def _read_csv(table: _Table, has_names: bool, layout: Layout) -> Recording:
    """Read columns by their names, ignoring others; without names, all columns in the layout's order."""
    names = table.names
    if not has_names:
        numbers = table.columns(range(len(names)))
        count, width = len(layout.points), numbers.shape[1]
        if width not in (3 * count, 4 * count):
            raise CoreError(
                f'The layout "{layout.name}" has {count} points and needs {3 * count} columns, or '
                f"{4 * count} with confidence; the file has {width}."
            )
        rows = numbers.reshape(len(numbers), count, -1)
        return Recording(layout, rows[..., :3], rows[..., 3] if width == 4 * count else None)
    column = {name.lower(): number for number, name in enumerate(names)}
    if column.keys() >= _TIDY:
        return _read_tidy(table, column, layout)
    named = [name[:-2] for name in names if name.lower().endswith(("_x", ".x", " x"))]
    prefix = "body_" if layout.name == FREEMOCAP else ""  # beside hands and face
    layout, order = match_columns(layout, [name.removeprefix(prefix) for name in named])

    def values(*endings: str) -> Array:
        result = np.full((len(table.rows), len(order)), np.nan)
        for index, number in enumerate(order):
            for ending, separator in product(endings if number >= 0 else (), "_. "):
                found = column.get(f"{named[number]}{separator}{ending}".lower())
                if found is not None:
                    result[:, index] = table.column(found)
        return result

    points = np.stack([values(axis) for axis in _AXES], axis=-1)
    confidence = values(*_CONFIDENCES)
    return Recording(layout, points, None if np.isnan(confidence).all() else confidence, times=table.times(column))


def _read_tidy(table: _Table, column: dict[str, int], layout: Layout) -> Recording:
    """Read one point per line, as FreeMoCap writes (github.com/freemocap): frame, keypoint, x, y, z, optional time.

    With a column "model" (mediapipe_body, rtmpose.body) only lines of the body are read, with "trajectory" only
    measured ones (3d_xyz, not rigid_3d_xyz). Reprojection errors are ignored: they are no confidence.
    """
    for name, ending in (("model", "body"), ("trajectory", "3d_xyz")):
        cells = table.cells(column[name]) if name in column else []
        kept = [index for index, cell in enumerate(cells) if cell.endswith(ending) and not cell.startswith("rigid")]
        if kept:
            table = _Table([table.rows[k] for k in kept], table.names)
    numbers = table.column(column["frame"])
    if not (np.abs(numbers) < LARGEST_TIME).all() or (numbers % 1.0).any():
        raise CoreError('"frame" of a line must be the whole number of its frame.')
    frames = (numbers - numbers.min()).astype(int)
    count, present = int(frames.max()) + 1, len(np.unique(frames))
    if count > _MOST_UNSEEN * present:
        raise CoreError(f"The file has only {present} of {count} frames between the first and the last.")
    keypoints = table.cells(column["keypoint"])
    names = list(dict.fromkeys(keypoints))
    if count * len(names) > _MOST_UNSEEN**2 * len(frames):
        raise CoreError(f"The file has only {len(frames)} of {count * len(names)} points in {count} frames.")
    layout, order = match_columns(layout, names)
    index = {name: number for number, name in enumerate(names)}
    points = np.array([index[name] for name in keypoints])
    if len(np.unique(frames * len(names) + points)) < len(points):
        raise CoreError("A frame contains a point twice; a file must contain a single body.")
    positions = np.full((count, len(names), 3), np.nan)
    positions[frames, points] = table.columns(column[axis] for axis in _AXES)
    seconds, times = table.times(column), np.full(count, np.nan)
    if seconds is not None:
        times[frames] = seconds
    return Recording(layout, _in_order(positions, order), times=None if seconds is None else times)


@dataclass(frozen=True)
class _Markers:
    """Markers by name: n names, positions (F, n, 3), frame rate, unit and times (F,) if the file says them."""

    names: Sequence[str]
    positions: Array
    fps: float | None
    unit: str
    times: Array | None = None


def _read_trc(text: str) -> _Markers:
    """Read Track Row Column, the tab-separated text of OpenSim and Motion Analysis."""
    lines = text.splitlines()
    if len(lines) <= _TRC_HEADER or not lines[0].startswith("PathFileType"):
        raise CoreError("This is not a TRC file: its first line does not start with PathFileType.")
    head = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=False))
    names = [name.strip() for name in lines[3].rstrip("\t").split("\t")[2:] if name.strip()]
    table = _table([line.rstrip("\t") for line in lines[_TRC_HEADER:]], "\t", _TRC_HEADER + 1)
    width = len(table.names) - 2  # without frame and time
    if width != 3 * len(names):
        raise CoreError(f"The file names {len(names)} points, but has {width} columns of numbers.")
    positions = table.columns(range(2, 2 + width)).reshape(-1, len(names), 3)
    fps = check_fps(head.get("DataRate", "").strip() or None)
    return _Markers(names, positions, fps, head.get("Units", "").strip().lower(), table.column(1))


def _read_markers(markers: _Markers, layout: Layout) -> Recording:
    """Return the layout's points, found by name among markers."""
    layout, order = match_columns(layout, markers.names)
    points, unit = _in_order(markers.positions, order), markers.unit if markers.unit in UNITS else None
    return Recording(layout, points, None, markers.fps, unit, times=markers.times)


def _in_order(positions: Array, order: Sequence[int]) -> Array:
    """Return the columns of positions (F, n, 3) in some order; NaN for column -1."""
    return np.where((np.array(order) >= 0)[:, None], positions[:, order], np.nan)


def _arrays(data: bytes, kind: str) -> dict[str, Array]:
    """Return the arrays of a file of numpy."""
    return {"points": read_array(data)} if kind == ".npy" else read_archive(data, _ARRAYS, ("points",), "points")


def _read_numpy(arrays: dict[str, Array], layout: Layout) -> Recording:
    points = arrays["points"]
    if points.ndim != 3 or points.shape[-1] not in (3, 4) or points.dtype.kind not in "fiu":
        raise CoreError(f"Points must be numbers by frame, point and x, y, z, not an array of shape {points.shape}.")
    confidence = arrays.get("confidence", points[..., 3] if points.shape[-1] == 4 else None)
    if confidence is not None and (confidence.dtype.kind not in "fiu" or confidence.shape != points.shape[:2]):
        raise CoreError('"confidence" of an array file must be a number for each point of each frame.')
    if layout.name == FREEMOCAP:  # hands and face come after the body
        layout = FREEMOCAP_HANDS if points.shape[1] >= len(FREEMOCAP_HANDS.points) else layout
        count = len(layout.points)
        points, confidence = points[:, :count], None if confidence is None else confidence[:, :count]
    times = arrays.get("time")
    if times is not None and times.dtype.kind not in "fiu":
        raise CoreError('"time" of an array file must be the seconds of each frame.')
    return Recording(layout, points[..., :3], confidence, check_fps(arrays.get("fps")), times=times)
