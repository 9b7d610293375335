"""Packets of live senders, as JSON or OSC, with the points of a layout.

JSON: a frame as in `recordings`, with an optional number that counts up ("frame") and the sender's seconds ("time").
OSC: the message /poise/points with that number and time, then x, y, z and confidence of each point.
"""

from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np

from ..errors import CoreError
from ..rotation import Array
from ..sources import parse_json
from .layouts import Layout
from .osc import is_osc, read_osc
from .recordings import COORDINATE_LIMIT, is_object, read_frame

LARGEST_PACKET: Final = 65507  # bytes of UDP
ADDRESS: Final = "/poise/points"

Content = TypeVar("Content")
Points = tuple[Array, Array]  # (K, 3), and confidence (K,)


@dataclass(frozen=True, eq=False)
class Packet(Generic[Content]):
    """Decoded content of a packet, with the sender's seconds and frame number if it has them."""

    content: Content
    time: float | None
    number: int | None


class PointPackets:
    """Decodes packets with the points of one layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def __call__(self, data: bytes) -> Packet[Points]:
        """Return points (K, 3) and confidence (K,). Raises CoreError for malformed packets and other layouts."""
        if len(data) > LARGEST_PACKET:
            raise CoreError(f"A packet has more than {LARGEST_PACKET} bytes.")
        frame = _of_osc(data) if is_osc(data) else _of_json(data)
        number = frame.get("frame") if is_object(frame) else None
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**53):
            raise CoreError('"frame" of a packet counts up from 0.')
        points, confidence, time = read_frame(frame, self.layout)
        if not (np.abs(points[~np.isnan(points)]) < COORDINATE_LIMIT).all():
            raise CoreError("A packet has a point that is too far from a body.")
        if not np.isfinite(points).all(axis=-1).any():
            raise CoreError("A packet has no points.")
        return Packet((points, confidence), time, number)


def _of_json(data: bytes) -> Any:
    try:
        return parse_json(data.decode("utf-8"))
    except ValueError:
        raise CoreError("A packet is not JSON.") from None


def _of_osc(data: bytes) -> Any:
    arguments = next((arguments for address, arguments in read_osc(data) if address == ADDRESS), None)
    if arguments is None:
        raise CoreError(f"The OSC packet has no message {ADDRESS}; VMC bones need their own layout.")
    if len(arguments) % 4 != 2:
        raise CoreError(f"{ADDRESS} must be frame, time, and x, y, z, confidence of each point.")
    number, time, *values = arguments
    return {"frame": number, "time": time, "points": [values[n : n + 4] for n in range(0, len(values), 4)]}
