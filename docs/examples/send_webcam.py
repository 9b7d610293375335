"""Send the body and the hands in front of a camera, in a video or in a picture to Poise, found by MediaPipe.

    python -m pip install mediapipe
    python docs/examples/send_webcam.py pose_landmarker_full.task              the first camera
    python docs/examples/send_webcam.py pose_landmarker_full.task dance.mp4    a video, as fast as it plays
    python docs/examples/send_webcam.py pose_landmarker_full.task --hands hand_landmarker.task

The models are files of Google's: see "Pose landmark detection" and "Hand landmarks detection" at
ai.google.dev/edge/mediapipe. In Blender: Sidebar > Poise > Keypoints, Layout MediaPipe Pose, or with hands MediaPipe,
with Hands; Listen. A packet with hands has the 33 points of the body, the 21 of the left and the 21 of the right hand.
"""

import argparse
import json
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

DEFAULT_PORT = 39539
WRISTS = (15, 16)  # of the left and the right hand, among the points of the body
OF_HAND = 21  # points


def packet(landmarks: Iterable[Any], number: int, seconds: float, hands: Iterable[Any] = ()) -> bytes:
    """Return one frame as Poise takes it, of MediaPipe's world landmarks: metres, Y down, with their visibility.

    hands: none, or those of the left and the right hand, None for one that is not seen; they have no visibility.
    """
    points: list[Any] = [[round(float(v), 5) for v in (one.x, one.y, one.z, one.visibility)] for one in landmarks]
    for hand in hands:
        points += [None] * OF_HAND if hand is None else [[round(float(v), 5) for v in (p.x, p.y, p.z)] for p in hand]
    return json.dumps({"frame": number, "time": round(seconds, 4), "points": points}).encode()


def by_side(body: Sequence[Any], wrists: Sequence[Any], hands: Sequence[Any]) -> list[Any]:
    """Return the hands of the left and the right side, None where there is none: each is at the nearer wrist.

    body: landmarks in the picture; wrists: those of the hands. MediaPipe's word for the side depends on mirroring.
    """
    found: list[Any] = [None, None]
    off = [[(body[n].x - wrist.x) ** 2 + (body[n].y - wrist.y) ** 2 for n in WRISTS] for wrist in wrists]
    for hand, (left, right) in sorted(zip(hands, off, strict=True), key=lambda one: -min(one[1])):
        found[int(right < left)] = hand  # the nearest comes last
    return found


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


def found(model: str, source: str, hand_model: str = "") -> Iterator[tuple[float, Any, list[Any]]]:
    """Yield the seconds, the 33 world landmarks of the first body in each picture, and those of its hands.

    Nothing where no body is seen; no hands without a model of them.
    """
    import mediapipe as mp  # pyright: ignore[reportMissingImports]
    from mediapipe.tasks.python import BaseOptions, vision  # pyright: ignore[reportMissingImports]

    with ExitStack() as stack:

        def open_model(task: Any, options: Any, file: str, **settings: Any) -> Any:
            base = BaseOptions(model_asset_path=file)
            made = task.create_from_options(options(base, running_mode=vision.RunningMode.VIDEO, **settings))
            return stack.enter_context(made)

        body_finder = open_model(vision.PoseLandmarker, vision.PoseLandmarkerOptions, model)
        hand_finder = hand_model and open_model(
            vision.HandLandmarker, vision.HandLandmarkerOptions, hand_model, num_hands=2
        )
        last = -1
        for seconds, picture in pictures(source):
            last = max(last + 1, round(1000.0 * seconds))  # MediaPipe wants times that increase
            image = mp.Image(mp.ImageFormat.SRGB, picture)
            bodies = body_finder.detect_for_video(image, last)
            hands = hand_finder.detect_for_video(image, last) if hand_finder else None
            if bodies.pose_world_landmarks:
                wrists = [hand[0] for hand in hands.hand_landmarks] if hands else []
                sides = by_side(bodies.pose_landmarks[0], wrists, hands.hand_world_landmarks) if hands else []
                yield seconds, bodies.pose_world_landmarks[0], sides


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="MediaPipe's pose_landmarker .task file")
    parser.add_argument("source", nargs="?", default="0", help="number of a camera, or a video or picture file")
    parser.add_argument("--hands", metavar="MODEL", default="", help="MediaPipe's hand_landmarker .task file")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--host", default="127.0.0.1")
    options = parser.parse_args()
    count = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        try:
            frames = found(options.model, options.source, options.hands)
            for count, (seconds, landmarks, hands) in enumerate(frames, start=1):
                sender.sendto(packet(landmarks, count - 1, seconds, hands), (options.host, options.port))
        except KeyboardInterrupt:
            pass
        except ImportError as missing:
            print(f"{missing.name} is missing: python -m pip install mediapipe", file=sys.stderr)
            return 1
        except FileNotFoundError:
            print(f"There is no model {options.model} {options.hands}".rstrip() + ".", file=sys.stderr)
            return 1
    print(count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
