"""Packets of a live sender to frames of points: what is no frame is refused and counted, never raised.

A packet is a frame of JSON as in `formats`, with a number that counts up ("frame") and the sender's seconds ("time") if
it has them. A sender that begins anew begins a new count.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..errors import CoreError
from ..rotation import Array
from .formats import is_object, read_frame
from .layouts import Layout

LARGEST_PACKET: Final = 65507  # bytes of UDP
LARGEST: Final = 1e6  # of a coordinate, in any unit of a body
_LATE: Final = 100  # frames that a packet may come too late; one from further back is of another count
_SILENCE: Final = 1.0  # seconds after which a count may begin anew
_DRIFT: Final = 0.5  # seconds by which the sender's clock may go off this machine's


@dataclass
class Counts:
    """received = refused + late + skipped + frames; lost were never received."""

    received: int = 0
    refused: int = 0
    late: int = 0
    skipped: int = 0
    frames: int = 0
    lost: int = 0
    restarts: int = 0
    why: str = ""  # the last refusal


@dataclass(frozen=True, eq=False)
class Frame:
    """Points (K, 3), confidence (K,), and seconds since the first frame that only increase."""

    points: Array
    confidence: Array
    time: float


class Stream:
    """What a sender's packets of one layout are."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.counts = Counts()
        self._number: int | None = None
        self._arrival = 0.0
        self._unread = 0  # packets since the last frame that nobody looked at
        self._first: float | None = None
        self._offset: float | None = None  # of the sender's clock
        self._time = -np.inf

    def skip(self, packets: int) -> None:
        """Packets that were received, but are too many to look at."""
        self.counts.received += packets
        self.counts.skipped += packets
        self._unread += packets

    def take(self, data: bytes, arrival: float) -> Frame | None:
        """The frame in a packet that came at `arrival`, seconds of this machine; None for one that is not used."""
        counts = self.counts
        counts.received += 1
        try:
            points, confidence, time, number = _read(data, self.layout)
        except CoreError as error:
            counts.refused += 1
            counts.why = str(error)
            return None
        silent = arrival - self._arrival > _SILENCE
        if number is not None and self._number is not None:
            ahead = number - self._number
            if ahead <= 0 and not silent and ahead > -_LATE:
                counts.late += 1
                return None
            if ahead <= 0:
                counts.restarts += 1
                self._offset = None
            elif ahead < _LATE or not silent:
                counts.lost += max(ahead - 1 - self._unread, 0)
        self._number, self._arrival, self._unread = number, arrival, 0
        counts.frames += 1
        return Frame(points, confidence, self._at(time, arrival))

    def _at(self, time: float | None, arrival: float) -> float:
        """Seconds since the first frame: by the sender's clock as long as it goes with this machine's."""
        if self._first is None:
            self._first = arrival
        now = arrival - self._first
        if time is not None:
            if self._offset is None or abs(time - self._offset - now) > _DRIFT:
                self._offset = time - now
            now = time - self._offset
        self._time = max(now, np.nextafter(self._time, np.inf))
        return float(self._time)


def _read(data: bytes, layout: Layout) -> tuple[Array, Array, float | None, int | None]:
    if len(data) > LARGEST_PACKET:
        raise CoreError("A packet is too large.")
    try:
        frame: Any = json.loads(data)
    except (ValueError, RecursionError):
        raise CoreError("A packet is not JSON.") from None
    number = frame.get("frame") if is_object(frame) else None
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**53):
        raise CoreError('"frame" of a packet counts up from 0.')
    points, confidence, time = read_frame(frame, layout)
    if not (np.abs(points[~np.isnan(points)]) < LARGEST).all():
        raise CoreError("A packet has a point that is not near any body.")
    if not np.isfinite(points).all(axis=-1).any():
        raise CoreError("A packet has no point.")
    return points, confidence, time, number
