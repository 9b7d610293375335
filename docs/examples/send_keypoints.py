"""Send a file of keypoints to Poise as a tracker would: JSON lines over UDP, one packet a frame.

    python docs/examples/send_keypoints.py docs/examples/walk_keypoints.jsonl --rate 60 --seconds 10

Needs nothing but Python. In Blender: Sidebar > Poise > Keypoints, Listen. A tracker of your own sends the same:
{"frame": 17, "time": 0.566, "points": [[x, y, z, confidence], ...]}, the points in the order of the chosen layout, null
for one that it does not see.
"""

import argparse
import itertools
import json
import socket
import sys
import time
from pathlib import Path

DEFAULT_PORT = 39539


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="frames, one a line")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--rate", type=float, default=30.0, help="packets a second")
    parser.add_argument("--seconds", type=float, default=0.0, help="repeat the file for so long; 0: once")
    options = parser.parse_args()
    frames = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines() if line.strip()]
    # forth and back, so that it repeats without a jump
    cycle = frames if not options.seconds else [*frames, *frames[-2:0:-1]]
    count = len(frames) if not options.seconds else round(options.seconds * options.rate)
    begin = time.perf_counter()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number, frame in enumerate(itertools.islice(itertools.cycle(cycle), count)):
            due = begin + number / options.rate
            time.sleep(max(due - time.perf_counter(), 0.0))
            packet = {"frame": number, "time": round(number / options.rate, 4), "points": frame["points"]}
            sender.sendto(json.dumps(packet).encode(), (options.host, options.port))
    print(count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
