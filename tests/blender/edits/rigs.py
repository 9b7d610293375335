"""A live sender for the tests of keypoints."""

import json
import socket
import time
from typing import Any, ClassVar

import bpy

import standalone
from tests.paths import DATA

RIG = DATA / "rigs" / "named_mixamo_cm.blend"
EXAMPLES = standalone.ROOT / "docs" / "examples"
WALK = EXAMPLES / "walk_keypoints.jsonl"
TOLD = 4  # packets that unit and axes are told from, and no pose


class Listening:
    """The armature, its timer called by hand, and a port to send to."""

    ticks: ClassVar[list[Any]] = []  # that were registered

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.begin()

    @property
    def live(self) -> Any:
        """Looked up each time: a file that is opened takes the old one away."""
        return bpy.context.window_manager.poise_live

    def begin(self) -> None:
        """Listen, with what the settings are now."""
        assert bpy.ops.poise.listen() == {"FINISHED"}
        self.tick = self.ticks.pop()
        self.session = self.tick.__self__
        self.number = 0

    def send(self, *packets: bytes) -> None:
        for packet in packets:
            self.socket.sendto(packet, ("127.0.0.1", self.session.receiver.port))
            self.number += 1

    def send_one_by_one(self, *packets: bytes) -> None:
        for packet in packets:
            self.send(packet)
            self.wait()

    def wait(self) -> None:
        """Until everything that was sent has been looked at."""
        end = time.monotonic() + 5.0
        while self.session.stream.counts.received < self.number and time.monotonic() < end:
            self.tick()
        assert self.session.stream.counts.received == self.number

    def stop(self) -> None:
        bpy.ops.poise.stop_listening()
        while self.tick() is not None:  # until what was recorded is filtered
            time.sleep(0.01)


def walk() -> list[dict[str, Any]]:
    return [json.loads(line) | {"frame": n} for n, line in enumerate(WALK.read_text().splitlines())]


def packet(frame: dict[str, Any]) -> bytes:
    return json.dumps(frame).encode()
