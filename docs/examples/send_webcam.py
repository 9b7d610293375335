"""Send the body in front of a camera, in a video or in a picture to Poise, found by MediaPipe.

    python -m pip install mediapipe
    python docs/examples/send_webcam.py pose_landmarker_full.task              the first camera
    python docs/examples/send_webcam.py pose_landmarker_full.task dance.mp4    a video, as fast as it plays

The model is a file of Google's: see "Pose landmark detection" at ai.google.dev/edge/mediapipe. In Blender: N-panel, tab
Poise, Keypoints, Layout MediaPipe Pose, Listen. Fingers are not sent: Poise takes the 33 points of the body.
"""

import argparse
import json
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

DEFAULT_PORT = 39539


def packet(landmarks: Iterable[Any], number: int, seconds: float) -> bytes:
    """Return one frame as Poise takes it, of MediaPipe's world landmarks: metres, Y down, with their visibility."""
    points = [[round(float(v), 5) for v in (one.x, one.y, one.z, one.visibility)] for one in landmarks]
    return json.dumps({"frame": number, "time": round(seconds, 4), "points": points}).encode()


def pictures(source: str) -> Iterator[tuple[float, Any]]:
    """Yield the seconds and the pictures (height, width, 3), red first, of a camera's number, a video or a picture."""
    import cv2  # pyright: ignore[reportMissingImports]

    camera = source.isdigit()
    capture = cv2.VideoCapture(int(source) if camera else source)
    if not capture.isOpened():
        raise SystemExit(f"{source} cannot be opened.")
    begin = time.perf_counter()
    while True:
        there, picture = capture.read()
        if not there:
            return
        now = time.perf_counter() - begin
        due = now if camera else capture.get(cv2.CAP_PROP_POS_MSEC) / 1000.0
        time.sleep(max(due - now, 0.0))
        yield due, cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)


def found(model: str, source: str) -> Iterator[tuple[float, Any]]:
    """Yield the seconds and the 33 world landmarks of the first body in each picture; nothing where none is seen."""
    import mediapipe as mp  # pyright: ignore[reportMissingImports]
    from mediapipe.tasks.python import BaseOptions, vision  # pyright: ignore[reportMissingImports]

    options = vision.PoseLandmarkerOptions(
        base_options=BaseOptions(model_asset_path=model), running_mode=vision.RunningMode.VIDEO
    )
    last = -1
    with vision.PoseLandmarker.create_from_options(options) as landmarker:
        for seconds, picture in pictures(source):
            last = max(last + 1, round(1000.0 * seconds))  # MediaPipe wants times that increase
            bodies = landmarker.detect_for_video(mp.Image(mp.ImageFormat.SRGB, picture), last).pose_world_landmarks
            if bodies:
                yield seconds, bodies[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="MediaPipe's pose_landmarker .task file")
    parser.add_argument("source", nargs="?", default="0", help="number of a camera, or a video or picture file")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--host", default="127.0.0.1")
    options = parser.parse_args()
    count = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        try:
            for count, (seconds, landmarks) in enumerate(found(options.model, options.source), start=1):
                sender.sendto(packet(landmarks, count - 1, seconds), (options.host, options.port))
        except KeyboardInterrupt:
            pass
        except ImportError as missing:
            print(f"{missing.name} is missing: python -m pip install mediapipe", file=sys.stderr)
            return 1
        except FileNotFoundError:
            print(f"There is no model {options.model}.", file=sys.stderr)
            return 1
    print(count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
