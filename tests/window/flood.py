"""Hostile packets for a port of this machine: `python -m tests.window.flood PORT RATE SECONDS`; prints how many."""

import json
import random
import socket
import struct
import sys
import time

LARGEST = 65507  # bytes of UDP over IPv4


def hostile(rng: random.Random) -> list[bytes]:
    """One of each kind, none of which is a frame of a layout."""
    numbers = [[rng.random() for _ in range(3)] for _ in range(33)]
    texts = [
        "[" * LARGEST,
        '{"points":' * 6000,
        "[" * 900 + "]" * 900,
        json.dumps({f"{n}": n for n in range(4000)}),
        json.dumps({"frame": 0, "points": numbers * 30}),
        json.dumps({"frame": 0, "points": numbers[:-1]}),
        json.dumps({"frame": -1, "points": numbers}),
        json.dumps({"frame": 0, "time": "now", "points": numbers}),
        json.dumps({"frame": 0, "points": [[1e300, 0.0, 0.0]] * 33}),
        json.dumps({"frame": 0, "points": [[float("nan")] * 3] * 33}),
        json.dumps({"frame": 0, "points": [None] * 33}),
        json.dumps({"frame": 0, "points": [[[]] * 300] * 33}),
        '{"frame": 1' + "0" * 60000 + "}",
        '{"points": [' + ", ".join(["[1" + "0" * 400 + ", 0, 0]"] * 33) + "]}",
        '"' + "\\u0000" * 10000 + '"',
    ]
    bundle = b"#bundle\0" + bytes(8)
    nested = b"/a\0\0,\0\0\0"
    for _ in range(1000):
        nested = bundle + struct.pack(">i", len(nested)) + nested
    osc = [
        bundle + struct.pack(">i", -8),
        bundle + struct.pack(">i", 2**31 - 1),
        bundle + b"\0\0\0\x08/a\0\0,\0\0\0" * 4000,
        nested,
        b"/poise/points\0\0\0," + b"f" * 60000,
        b"/poise/points\0\0\0,ifffff\0" + bytes(24),
        b"/poise/points\0\0\0,b\0\0\xff\xff\xff\xff",
        b"/" + b"\xff" * 1000,
    ]
    raw = [b"", *(rng.randbytes(size) for size in (1, 100, 1400, 20000, LARGEST))]
    return [*(text.encode()[:LARGEST] for text in texts), *(packet[:LARGEST] for packet in osc), *raw]


def main() -> int:
    port, rate, seconds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    packets = hostile(random.Random(0))
    begin, sent = time.perf_counter(), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        while (due := int(rate * (time.perf_counter() - begin))) < rate * seconds:
            for _ in range(sent, due):
                sender.sendto(packets[sent % len(packets)], ("127.0.0.1", port))
                sent += 1
            time.sleep(0.002)
    print(sent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
