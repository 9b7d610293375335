"""Send a body that waves to Poise as a performer of the VMC protocol would: bones of Unity's humanoid, OSC over UDP.

    python docs/examples/send_vmc.py --rate 60 --seconds 10

Needs nothing but Python. In Blender: Sidebar > Poise > Keypoints, Layout VMC, Listen. Each bone is sent with its
place and turn (x, y, z, w) in its parent's frame: Y up, the figure facing +Z, its left towards -X. A frame ends with
/VMC/Ext/T.
Points of a layout go over OSC as well: one message /poise/points, see docs/keypoints.md.
"""

import argparse
import math
import socket
import struct
import sys
import time

DEFAULT_PORT = 39539
STILL = (0.0, 0.0, 0.0, 1.0)
TRUNK = {"Hips": (0.0, 0.9, 0.0), "Spine": (0.0, 0.1, 0.0), "Chest": (0.0, 0.15, 0.0), "Neck": (0.0, 0.25, 0.0),
         "Head": (0.0, 0.1, 0.0)}  # fmt: skip
LIMBS = {"UpperArm": (0.15, 0.2, 0.0), "LowerArm": (0.28, 0.0, 0.0), "Hand": (0.25, 0.0, 0.0),
         "UpperLeg": (0.1, 0.0, 0.0), "LowerLeg": (0.0, -0.4, 0.0), "Foot": (0.0, -0.4, 0.0)}  # fmt: skip
PLACES = TRUNK | {
    side + name: (sign * x, y, z)
    for side, sign in (("Left", -1.0), ("Right", 1.0))
    for name, (x, y, z) in LIMBS.items()
}
# The fingers of the left hand, each phalanx at the end of the one before
FINGERS = {"Index": 0.03, "Middle": 0.01, "Ring": -0.01, "Little": -0.03}
PHALANGES = {"Proximal": 0.08, "Intermediate": 0.04, "Distal": 0.025}
KNUCKLES = {
    f"Left{finger}{part}": (-x, 0.0, z if part == "Proximal" else 0.0)
    for finger, z in FINGERS.items()
    for part, x in PHALANGES.items()
}


def text(value: str) -> bytes:
    """Text of OSC: it ends in a zero byte, at a multiple of four bytes."""
    data = value.encode() + b"\0"
    return data + b"\0" * (-len(data) % 4)


def message(address: str, *values: float | str) -> bytes:
    tags = "".join("s" if isinstance(value, str) else "f" for value in values)
    data = b"".join(text(value) if isinstance(value, str) else struct.pack(">f", value) for value in values)
    return text(address) + text("," + tags) + data


def bundle(messages: list[bytes]) -> bytes:
    """Messages that are of one moment, "now"."""
    return text("#bundle") + struct.pack(">Q", 1) + b"".join(struct.pack(">i", len(m)) + m for m in messages)


def about_z(degrees: float) -> tuple[float, float, float, float]:
    half = math.radians(degrees) / 2.0
    return 0.0, 0.0, math.sin(half), math.cos(half)


def frame(seconds: float) -> bytes:
    """The left arm hangs and its hand opens and closes, the right arm waves."""
    wave = 40.0 * math.sin(2.0 * math.pi * seconds)
    turns = {"LeftUpperArm": about_z(75.0), "RightUpperArm": about_z(20.0), "RightLowerArm": about_z(50.0 + wave)}
    close = 30.0 * (1.0 - math.cos(2.0 * math.pi * seconds))
    turns |= {f"Left{finger}{part}": about_z(close) for finger in FINGERS for part in PHALANGES}
    bones = [
        message("/VMC/Ext/Bone/Pos", name, *place, *turns.get(name, STILL))
        for name, place in (PLACES | KNUCKLES).items()
    ]
    return bundle([*bones, message("/VMC/Ext/T", seconds)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--rate", type=float, default=60.0, help="packets a second")
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    count, begin = round(options.seconds * options.rate), time.perf_counter()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number in range(count):
            time.sleep(max(begin + number / options.rate - time.perf_counter(), 0.0))
            sender.sendto(frame(number / options.rate), (options.host, options.port))
    print(count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
