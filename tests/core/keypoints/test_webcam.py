"""The example that sends what MediaPipe sees."""

import importlib.util
import os
import socket
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.keypoints import PointPackets, find_conversion, find_layout
from core.keypoints.body import LANDMARK
from tests.paths import ROOT

SENDER = ROOT / "docs" / "examples" / "send_webcam.py"
PICTURE = ROOT / "docs" / "images" / "demo.png"  # a mannequin that MediaPipe finds
# Files of MediaPipe's; `python -m benchmarks.keypoints.webcam_models FOLDER` makes some of those in an older package.
MODEL, HANDS = (os.environ.get(f"POISE_{kind}_MODEL", "") for kind in ("POSE", "HAND"))
DOWNWARDS = ("ear", "shoulder", "hip", "knee", "ankle")


@pytest.fixture(scope="module")
def sender() -> Any:
    spec = importlib.util.spec_from_file_location("send_webcam", SENDER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_frame_of_world_landmarks_is_a_packet_that_poise_takes(sender: Any) -> None:
    points = np.random.default_rng(5).uniform(-1.0, 1.0, (33, 4)).round(5)
    points[:, 3] = np.abs(points[:, 3])
    landmarks = [SimpleNamespace(x=x, y=y, z=z, visibility=seen) for x, y, z, seen in points]
    taken = PointPackets(find_layout("mediapipe"))(sender.packet(landmarks, 7, 0.25))
    assert taken is not None
    assert (taken.number, taken.time) == (7, 0.25)
    np.testing.assert_allclose(taken.content[0], points[:, :3], atol=1e-5)
    np.testing.assert_allclose(taken.content[1], points[:, 3], atol=1e-5)


def test_hands_come_after_the_body_the_left_one_first_and_none_is_not_seen(sender: Any) -> None:
    rng = np.random.default_rng(6)
    body = [SimpleNamespace(x=x, y=y, z=z, visibility=1.0) for x, y, z in rng.normal(0.0, 1.0, (33, 3)).round(5)]
    right = rng.normal(0.0, 1.0, (21, 3)).round(5)
    hand = [SimpleNamespace(x=x, y=y, z=z, visibility=0.0) for x, y, z in right]
    taken = PointPackets(find_layout("mediapipe_hands"))(sender.packet(body, 1, 0.0, [None, hand]))
    assert np.isnan(taken.content[0][33:54]).all()
    np.testing.assert_allclose(taken.content[0][54:], right, atol=1e-5)
    assert (taken.content[1][54:] == 1.0).all()


def test_each_hand_is_at_the_nearer_wrist(sender: Any) -> None:
    body = [SimpleNamespace(x=0.0, y=0.0) for _ in range(33)]
    body[15], body[16] = SimpleNamespace(x=0.8, y=0.5), SimpleNamespace(x=0.2, y=0.5)
    near_right, near_left, far = (SimpleNamespace(x=x, y=0.5) for x in (0.25, 0.79, 0.7))
    assert sender.by_side(body, [near_right, near_left], ["r", "l"]) == ["l", "r"]
    assert sender.by_side(body, [near_right], ["r"]) == [None, "r"]
    assert sender.by_side(body, [near_left, far], ["l", "other"]) == ["l", None]
    assert sender.by_side(body, [], []) == [None, None]


def test_without_the_package_the_sender_says_what_to_install() -> None:
    if importlib.util.find_spec("mediapipe") is not None:
        pytest.skip("MediaPipe is installed")
    done = subprocess.run(
        [sys.executable, SENDER, "model.task"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "python -m pip install mediapipe" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_picture_without_a_body_sends_nothing(sender: Any, tmp_path: Any) -> None:
    cv2 = pytest.importorskip("cv2", reason="MediaPipe is not installed")
    pytest.importorskip("mediapipe", reason="MediaPipe is not installed")
    if not MODEL:
        pytest.skip("POISE_POSE_MODEL names no pose_landmarker .task file")
    file = tmp_path / "grey.png"
    cv2.imwrite(str(file), np.full((240, 320, 3), 128, np.uint8))
    assert list(sender.found(MODEL, str(file), HANDS)) == []


def test_the_body_in_a_picture_reaches_poise_upright_and_whole() -> None:
    pytest.importorskip("mediapipe", reason="MediaPipe is not installed")
    if not MODEL:
        pytest.skip("POISE_POSE_MODEL names no pose_landmarker .task file")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as poise:
        poise.bind(("127.0.0.1", 0))
        poise.settimeout(5.0)
        hands = ["--hands", HANDS] if HANDS else []
        command = [sys.executable, SENDER, MODEL, PICTURE, *hands, "--port", str(poise.getsockname()[1])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.stdout.strip() == "1"
        layout = find_layout("mediapipe_hands" if HANDS else "mediapipe")
        points, confidence = PointPackets(layout)(poise.recv(65535)).content
    landmarks = find_conversion(layout, points[None], confidence[None])[0](points[None], confidence[None])
    heights = [landmarks.positions[0, [LANDMARK[f"{n}.{side}"] for side in "LR"], 1].mean() for n in DOWNWARDS]
    assert heights == sorted(heights, reverse=True)


def test_the_pictures_of_a_file_come_with_their_times(sender: Any, tmp_path: Any) -> None:
    cv2 = pytest.importorskip("cv2", reason="OpenCV, which comes with MediaPipe, is not installed")
    file = tmp_path / "red.png"
    cv2.imwrite(str(file), np.full((24, 32, 3), (0, 0, 255), np.uint8))
    ((seconds, picture),) = sender.pictures(str(file))
    assert seconds >= 0.0
    assert picture.shape == (24, 32, 3)
    assert picture[0, 0].tolist() == [255, 0, 0]
