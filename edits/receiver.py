"""Receive UDP packets in a thread; they are decoded in Blender's main thread."""

import socket
import threading
from collections import deque
from time import perf_counter
from typing import Final

from ..core import CoreError

LOCAL: Final = "127.0.0.1"
EVERYWHERE: Final = "0.0.0.0"
_KEPT: Final = 512  # packets that are kept until they are taken; older ones are dropped
_LARGEST: Final = 65535  # bytes
_WAIT: Final = 0.05  # seconds until the thread checks whether it was closed

Arrived = tuple[float, bytes, str]  # when, what, and the sender's address


class Receiver:
    """UDP packets on a port, with their times and senders. Raises CoreError if the port cannot be opened."""

    def __init__(self, port: int, host: str = LOCAL) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((host, port))
        except OSError as error:
            self._socket.close()
            raise CoreError(
                f"Cannot listen on port {port}: {error.strerror}. "
                "Close the program that uses it, or choose another Port."
            ) from error
        self._socket.settimeout(_WAIT)
        self.port: int = self._socket.getsockname()[1]
        self._packets: deque[Arrived] = deque(maxlen=_KEPT)
        self._came = 0  # written by the thread alone
        self._taken = 0
        self._open = True
        self._thread = threading.Thread(target=self._receive, name="Poise keypoints", daemon=True)
        self._thread.start()

    def take(self) -> tuple[list[Arrived], int]:
        """Return the packets since the last call, oldest first, and the number of those dropped."""
        found: list[Arrived] = []
        while self._packets:
            found.append(self._packets.popleft())
        gone = max(self._came - self._taken - len(found), 0)
        self._taken += len(found) + gone
        return found, gone

    def close(self) -> None:
        """End the thread and close the port."""
        self._open = False
        self._thread.join(2.0 * _WAIT)
        self._socket.close()

    def _receive(self) -> None:
        while self._open:
            try:
                data, (host, port) = self._socket.recvfrom(_LARGEST)
            except TimeoutError:
                continue
            except OSError:  # some systems report that a sender has closed its port
                if not self._open:
                    return
                continue
            self._packets.append((perf_counter(), data, f"{host}:{port}"))
            self._came += 1
