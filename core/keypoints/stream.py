"""What packets of a live sender come to: each is a frame with a time, or it is counted.

A sender that begins anew begins a new count. Packets that count up from behind the newest are of such a count: one of
them may have come late, two in a row have not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic

import numpy as np

from ..errors import CoreError
from .packets import Body, Packet

_LATE: Final = 100  # frames that a packet may come too late; one from further back is of another count
_AGAIN: Final = 2  # packets in a row, each from behind and one after the other, that are of another count
_FAR: Final = 100_000  # frames that can have been lost; what is farther ahead is of another count
_SILENCE: Final = 1.0  # seconds after which a count may begin anew
_DRIFT: Final = 0.5  # seconds by which the sender's clock may go off this machine's


@dataclass
class Counts:
    """received = refused + late + skipped + parts + frames; lost were never received."""

    received: int = 0
    refused: int = 0
    late: int = 0
    skipped: int = 0
    parts: int = 0  # of frames that a later packet makes whole
    frames: int = 0
    lost: int = 0
    restarts: int = 0
    why: str = ""  # the last refusal


@dataclass(frozen=True, eq=False)
class Frame(Generic[Body]):
    """What a packet says of a body, and seconds since the first frame that only increase."""

    body: Body
    time: float


class Stream(Generic[Body]):
    """What a sender's packets are; `decode` makes a body of one, None of a part of one, or raises CoreError."""

    def __init__(self, decode: Callable[[bytes], Packet[Body] | None]) -> None:
        self.counts = Counts()
        self._decode = decode
        self._number: int | None = None
        self._behind: tuple[int, int] = (0, 0)  # number after the last packet from behind, and how many in a row
        self._claimed = 0  # lost packets that the last frame's number tells of
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

    def take(self, data: bytes, arrival: float) -> Frame[Body] | None:
        """The frame in a packet that came at `arrival`, seconds of this machine; None for one that is not used."""
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
                counts.lost -= self._claimed  # nobody else is that far
                self._claimed, self._offset = 0, None
            else:
                self._claimed = max(ahead - 1 - self._unread, 0) if ahead < _LATE or not silent else 0
                counts.lost += self._claimed
        self._number, self._arrival, self._unread, self._behind = number, arrival, 0, (0, 0)
        counts.frames += 1
        return Frame(packet.body, self._at(packet.time, arrival))

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
