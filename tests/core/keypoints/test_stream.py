"""Packets of a live sender: whatever comes, it is a frame or it is counted. POISE_FUZZ sets how many are tried."""

import json
import os

import numpy as np
import pytest

from core.errors import CoreError
from core.keypoints import LiveEstimator, PointPackets, Stream, find_conversion, find_layout, read_frame, recordings

PACKETS = int(os.environ.get("POISE_FUZZ", "1000"))
MEDIAPIPE = find_layout("mediapipe")
VALUES = [None, True, -1, 0, 1e308, -1e308, 1e-320, float("nan"), float("inf"), "7", [], {}, [[]], 10**400, "\ud800"]


def standing() -> list[list[float]]:
    """A body that stands, in MediaPipe's points."""
    positions = np.random.default_rng(0).normal(0.0, 0.3, (33, 3))
    body = {
        "shoulder": (0.18, -0.48, 0.0),
        "hip": (0.09, 0.0, 0.0),
        "knee": (0.1, 0.42, -0.02),
        "ankle": (0.1, 0.85, 0.0),
        "heel": (0.1, 0.9, 0.05),
        "foot_index": (0.1, 0.9, -0.2),
    }
    for name, place in body.items():
        for side, sign in (("left", 1.0), ("right", -1.0)):
            positions[MEDIAPIPE.points.index(f"{side}_{name}")] = np.array(place) * [sign, 1.0, 1.0]
    return np.column_stack([positions, np.ones(33)]).round(4).tolist()


def hostile(rng: np.random.Generator, number: int) -> bytes:
    """A packet that is a frame, nearly one, or nothing of the kind."""
    frame: dict[str, object] = {"frame": number, "time": number / 60.0, "points": standing()}
    kind = rng.integers(9)
    if kind == 0:
        return rng.bytes(int(rng.integers(2000)))
    points = frame["points"]
    assert isinstance(points, list)
    if kind == 1:
        points[int(rng.integers(33))] = VALUES[int(rng.integers(len(VALUES)))]
    elif kind == 2:
        points[int(rng.integers(33))][int(rng.integers(4))] = VALUES[int(rng.integers(len(VALUES)))]
    elif kind == 3:
        frame[("frame", "time", "points")[int(rng.integers(3))]] = VALUES[int(rng.integers(len(VALUES)))]
    elif kind == 4:
        del points[int(rng.integers(33)) :]
    elif kind == 8:
        points *= int(rng.integers(2, 30))  # far too many
    text = bytearray(json.dumps(frame).encode("utf-8", "surrogatepass"))
    if kind == 5:
        for place in rng.integers(len(text), size=3):
            text[place] = int(rng.integers(256))
    elif kind == 6:
        del text[int(rng.integers(len(text))) :]
    return bytes(text)


def test_hostile_packets_are_counted_and_none_gets_through_unread() -> None:
    rng = np.random.default_rng(1)
    stream, reader, read = Stream(PointPackets(MEDIAPIPE)), LiveEstimator(), 0
    conversion, _ = find_conversion(MEDIAPIPE, [[p[:3] for p in standing()]])
    for number in range(PACKETS):
        frame = stream.take(hostile(rng, number), number / 60.0)
        if frame is None:
            continue
        read += 1
        if read % 10 == 0:  # what is let through can be read as a body
            landmarks = conversion(*(part[None] for part in frame.content))
            reader.add(landmarks.positions[0], landmarks.weights[0], frame.time)
            rotations = reader.estimate().rotations
            assert np.isfinite(rotations).all()
    counts = stream.counts
    assert counts.received == PACKETS
    assert counts.received == counts.refused + counts.late + counts.skipped + counts.frames
    assert counts.frames == read
    assert 0.1 < counts.refused / PACKETS < 0.9


@pytest.mark.parametrize(
    ("numbers", "unused"),
    [
        ([*range(90), *range(90), *range(90)], 2),  # a short file in a loop
        ([*range(100), *range(1000)], 1),
        ([*range(100), 150, *range(100, 200)], 1),  # one packet of somebody else
        ([*range(100), 9000, *range(100, 200)], 0),
        ([*range(50), 51, 50, *range(52, 60)], 1),  # late, and none that follows
    ],
)
def test_a_sender_that_begins_anew_and_a_stray_packet_cost_one_packet(numbers: list[int], unused: int) -> None:
    stream = Stream(PointPackets(MEDIAPIPE))
    packets = [json.dumps({"frame": number, "points": standing()}).encode() for number in numbers]
    frames = [stream.take(packet, place / 60.0) for place, packet in enumerate(packets)]
    assert frames.count(None) == stream.counts.late == unused
    assert stream.counts.lost <= 1


def test_times_only_increase_whatever_the_senders_clock_does() -> None:
    rng = np.random.default_rng(2)
    stream = Stream(PointPackets(MEDIAPIPE))
    times = []
    for number in range(200):
        said = float(rng.normal(0.0, 10.0 ** rng.integers(-3, 9)))
        frame = stream.take(json.dumps({"time": said, "points": standing()}).encode(), number / 60.0)
        assert frame is not None
        times.append(frame.time)
    assert (np.diff(times) > 0.0).all()
    assert times[-1] < 5.0


def test_points_that_are_too_many_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    monkeypatch.setattr(recordings, "_is_number", lambda value: looked.append(value) or True)
    with pytest.raises(CoreError, match="has 33 points, but a frame has 1000"):
        read_frame([[1.0, 2.0, 3.0]] * 1000, MEDIAPIPE)
    assert not looked


def test_points_may_be_objects_as_mediapipe_has_them() -> None:
    landmarks = [{"x": p[0], "y": p[1], "z": p[2], "visibility": 0.5} for p in standing()]
    points, confidence, _ = read_frame(landmarks, MEDIAPIPE)
    np.testing.assert_array_equal(points, np.array(standing())[:, :3])
    assert (confidence == 0.5).all()


@pytest.mark.parametrize("frame", [7, "x", {}, {"points": None}, [[1, 2]] * 33, [[1, 2, "3"]] * 33, [[1, 2, 3]] * 32])
def test_what_is_no_frame_is_refused_with_a_sentence(frame: object) -> None:
    with pytest.raises(CoreError, match=r"\.$"):
        read_frame(frame, MEDIAPIPE)
