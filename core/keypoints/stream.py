"""Streams of packets of a live sender: each packet becomes a frame with a time, or is counted.

A sender that restarts starts a new count. Packets with numbers behind the newest one belong to a new count if two come
in a row; a single one is late.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic

import numpy as np

from ..errors import CoreError
from .packets import Content, Packet

_LATE: Final = 100  # frames: packets further behind are of another count
_AGAIN: Final = 2  # successive packets from behind that are of another count
_FAR: Final = 100_000  # frames: packets further ahead are of another count
_SILENCE: Final = 1.0  # seconds after which a count may restart
_DRIFT: Final = 0.5  # seconds: largest difference of the sender's clock


@dataclass
class Counts:
    """Counts of packets: received = refused + late + skipped + parts + frames; lost ones were never received."""

    received: int = 0
    refused: int = 0
    late: int = 0
    skipped: int = 0
    parts: int = 0  # of frames that a later packet completes
    frames: int = 0
    lost: int = 0
    restarts: int = 0
    why: str = ""  # the last refusal


@dataclass(frozen=True, eq=False)
class Frame(Generic[Content]):
    """Content of a frame, and its time: seconds since the first frame, strictly increasing."""

    content: Content
    time: float


class Stream(Generic[Content]):
    """Frames from the packets of one sender; `decode` returns None for a part of a frame."""

    def __init__(self, decode: Callable[[bytes], Packet[Content] | None]) -> None:
        self.counts = Counts()
        self._decode = decode
        self._number: int | None = None
        self._behind: tuple[int, int] = (0, 0)  # number after the last packet from behind, and how many came in a row
        self._claimed = 0  # lost packets by the last frame's number
        self._arrival = 0.0
        self._unread = 0  # packets skipped since the last frame
        self._first: float | None = None
        self._offset: float | None = None  # of the sender's clock
        self._time = -np.inf

    def restart(self, decode: Callable[[bytes], Packet[Content] | None]) -> None:
        """Go on with another sender, which has a count and a clock of its own."""
        self._decode, self._number, self._offset = decode, None, None
        self._behind, self._claimed = (0, 0), 0

    def skip(self, packets: int) -> None:
        """Count packets that were received, but are too many to decode."""
        self.counts.received += packets
        self.counts.skipped += packets
        self._unread += packets

    def take(self, data: bytes, arrival: float) -> Frame[Content] | None:
        """Return the frame of a packet that arrived at `arrival`, seconds of this machine; None for unused packets."""
        counts = self.counts
        counts.received += 1
        try:
            packet = self._decode(data)
        except CoreError as error:
            counts.refused += 1
            counts.why = str(error)
            return None
        if packet is None:
            counts.parts += 1
            return None
        number = packet.number
        silent = arrival - self._arrival > _SILENCE
        if number is not None and self._number is not None:
            ahead = number - self._number
            if ahead <= 0 and not silent and ahead > -_LATE:
                awaited, row = self._behind
                self._behind = number + 1, row + 1 if number == awaited and ahead < 0 else 1
                if self._behind[1] < _AGAIN:
                    counts.late += 1
                    return None
            if not 0 < ahead < _FAR:
                counts.restarts += 1
                counts.lost -= self._claimed  # they belong to no count
                self._claimed, self._offset = 0, None
            else:
                self._claimed = max(ahead - 1 - self._unread, 0) if ahead < _LATE or not silent else 0
                counts.lost += self._claimed
        self._number, self._arrival, self._unread, self._behind = number, arrival, 0, (0, 0)
        counts.frames += 1
        return Frame(packet.content, self._at(packet.time, arrival))

    def _at(self, time: float | None, arrival: float) -> float:
        """Return seconds since the first frame, by the sender's clock unless it drifts from this machine's."""
        if self._first is None:
            self._first = arrival
        now = arrival - self._first
        if time is not None:
            if self._offset is None or abs(time - self._offset - now) > _DRIFT:
                self._offset = time - now
            now = time - self._offset
        self._time = max(now, np.nextafter(self._time, np.inf))
        return float(self._time)
