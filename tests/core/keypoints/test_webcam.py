"""The example that sends what MediaPipe sees."""

import importlib.util
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.keypoints import PointPackets, find_layout
from tests.paths import ROOT

SENDER = ROOT / "docs" / "examples" / "send_webcam.py"
MODEL = os.environ.get("POISE_POSE_MODEL", "")


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
    assert list(sender.found(MODEL, str(file))) == []


def test_the_pictures_of_a_file_come_with_their_times(sender: Any, tmp_path: Any) -> None:
    cv2 = pytest.importorskip("cv2", reason="OpenCV, which comes with MediaPipe, is not installed")
    file = tmp_path / "red.png"
    cv2.imwrite(str(file), np.full((24, 32, 3), (0, 0, 255), np.uint8))
    ((seconds, picture),) = sender.pictures(str(file))
    assert seconds >= 0.0
    assert picture.shape == (24, 32, 3)
    assert picture[0, 0].tolist() == [255, 0, 0]
