"""Packets of OSC and VMC: what python-osc writes is read, bones turn as the protocol says, and nothing does harm."""

import os
import struct
from time import process_time
from typing import Any

import numpy as np
import pytest
from pythonosc.osc_packet import OscPacket

from core import rotation
from core.errors import CoreError
from core.keypoints import BonePackets, BoneTracker, PointPackets, PointTracker, Stream, find_layout, vmc
from core.keypoints.body import PART
from core.keypoints.osc import read_osc
from tests.core.keypoints.rigs import about, bones, bundle, message

PACKETS = int(os.environ.get("POISE_FUZZ", "1000"))
COCO = find_layout("coco17")


def test_what_python_osc_writes_is_read_as_it_reads_it() -> None:
    rng = np.random.default_rng(0)
    kinds = [lambda: int(rng.integers(-(2**31), 2**31)), lambda: float(rng.normal()), lambda: "word" * rng.integers(9),
             lambda: bool(rng.integers(2)), lambda: None]  # fmt: skip
    for _ in range(100):
        content = [
            message(f"/a/{n}", *(kinds[int(rng.integers(len(kinds)))]() for _ in range(rng.integers(9))))
            for n in range(rng.integers(1, 5))
        ]
        packet = (
            content[0] if rng.integers(2) else bundle(*content[:2], bundle(*content[2:]) if content[2:] else content[0])
        )
        expected = [(timed.message.address, timed.message.params) for timed in OscPacket(packet.dgram).messages]
        assert read_osc(packet.dgram) == expected


def test_points_come_over_osc_as_they_do_in_json() -> None:
    points = np.random.default_rng(1).normal(0.0, 1.0, (17, 4))
    values = [None if n == 8 else float(v) for n, v in enumerate(points.ravel())]  # the third point's x is not known
    packet = PointPackets(COCO)(message("/poise/points", 7, 1.5, *values).dgram)
    found, confidence = packet.content
    assert (packet.number, packet.time) == (7, 1.5)
    assert np.isnan(found[2]).any()
    np.testing.assert_allclose(np.delete(found, 2, axis=0), np.delete(points[:, :3], 2, axis=0), rtol=1e-6)
    np.testing.assert_allclose(confidence, points[:, 3], rtol=1e-6)


@pytest.mark.parametrize(("bone", "part", "sign"), [("Left", "upper_arm.L", 1.0), ("Right", "upper_arm.R", -1.0)])
def test_arms_hang_where_a_sender_turns_them_about_z(bone: str, part: str, sign: float) -> None:
    """In Unity the left arm comes down by a positive turn about Z, the right one by a negative one."""
    turns = {f"{bone}UpperArm": about(2, sign * 80.0), f"{bone}LowerArm": about(1, sign * 90.0)}
    packet = BonePackets()(bundle(*bones(turns), message("/VMC/Ext/T", 3.0)).dgram)
    assert packet is not None
    assert packet.time == 3.0
    turned = packet.content.rotations[0, PART[part]]
    np.testing.assert_allclose(rotation.rotate(turned, [sign, 0.0, 0.0]), [sign * 0.17365, -0.98481, 0.0], atol=1e-4)
    # the elbow bends about the upper arm's Y: the forearm points ahead
    forearm = packet.content.rotations[0, PART[f"forearm.{part[-1]}"]]
    np.testing.assert_allclose(rotation.rotate(forearm, [sign, 0.0, 0.0]), [0.0, 0.0, 1.0], atol=1e-4)


def test_a_turned_sender_turns_and_goes_as_a_whole() -> None:
    root = message("/VMC/Ext/Root/Pos", "root", 1.0, 0.0, 2.0, *about(1, 90.0))
    packet = BonePackets()(bundle(root, *bones({}), message("/VMC/Ext/T", 0.0)).dgram)
    assert packet is not None
    # Unity's positive turn about Y is to the right: who faced +Z faces Unity's +X, where X is mirrored here
    np.testing.assert_allclose(
        rotation.rotate(packet.content.rotations[0, PART["head"]], [0, 0, 1.0]), [-1, 0, 0], atol=1e-6
    )
    np.testing.assert_allclose(packet.content.hips[0], [-1.0, 0.9, 2.0], atol=1e-6)


def test_a_frame_in_several_packets_is_one_frame() -> None:
    stream, tracker = Stream(BonePackets()), BoneTracker(record=True)
    frames = 5
    for number in range(frames):
        sent = bones({"Head": about(1, 10.0 * number)})
        time = number / 60.0
        packets = [bundle(*sent[:9]), bundle(*sent[9:]), bundle(message("/VMC/Ext/OK", 1), message("/VMC/Ext/T", time))]
        found = [stream.take(packet.dgram, time) for packet in packets]
        assert found[:2] == [None, None]
        assert found[2] is not None
        assert tracker.add(found[2])
    counts = stream.counts
    assert (counts.received, counts.parts, counts.frames, counts.refused) == (3 * frames, 2 * frames, frames, 0)
    captured, times = tracker.clip()
    np.testing.assert_allclose(times, np.arange(frames) / 60.0, atol=1e-6)
    assert captured.rotations.shape[0] == tracker.recorded == frames


def test_a_sender_without_times_makes_a_frame_of_each_round_of_bones() -> None:
    stream = Stream(BonePackets())
    for _ in range(3):
        for sent in bones({}):  # each in a packet of its own
            stream.take(sent.dgram, 0.0)
    assert stream.counts.frames == 2  # the last one may not be whole


@pytest.mark.parametrize(
    ("packet", "sentence"),
    [
        (message("/other", 1), "does not follow the VMC protocol"),
        (bundle(*bones({})[:-1], message("/VMC/Ext/T", 1.0)), 'not send the bone "RightFoot"'),
        (message("/VMC/Ext/Bone/Pos", "Hips", 1.0, 2.0), "a name and seven numbers"),
        (message("/VMC/Ext/Bone/Pos", "Hips", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), "has no valid rotation"),
        (message("/VMC/Ext/Bone/Pos", "Hips", 0.0, float("nan"), 0.0, 0.0, 0.0, 0.0, 1.0), "too far from a body"),
    ],
)
def test_what_is_wrong_with_a_sender_of_bones_is_said(packet: Any, sentence: str) -> None:
    with pytest.raises(CoreError, match=sentence):
        BonePackets()(packet.dgram)


@pytest.mark.parametrize("end", [[], [message("/VMC/Ext/T", 1.0)]])
def test_many_frames_in_one_packet_are_read_as_one(monkeypatch: pytest.MonkeyPatch, end: list[Any]) -> None:
    """Else one packet that repeats a bone a thousand times has Blender wait for a second."""
    placed: list[object] = []
    original = vmc._placed
    monkeypatch.setattr(vmc, "_placed", lambda arguments: placed.append(arguments) or original(arguments))
    packets = BonePackets()
    whole = packets(bundle(*bones({}), *end).dgram)
    assert (whole is not None) == bool(end)
    turned = [next(b for b in bones({"Hips": about(1, 40.0)}) if b.params[0] == "Hips")]
    placed.clear()
    packet = packets(bundle(*(300 * [*turned, *end])).dgram)
    assert packet is not None
    assert len(placed) < 10
    half = np.radians(20.0)
    np.testing.assert_allclose(
        packet.content.rotations[0, PART["hips"]], [np.cos(half), 0, -np.sin(half), 0], atol=1e-5
    )


BUNDLE = b"#bundle\0" + 8 * b"\0"


def nested(depth: int) -> bytes:
    data = message("/a").dgram
    for _ in range(depth):
        data = BUNDLE + struct.pack(">i", len(data)) + data
    return data


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (BUNDLE + struct.pack(">i", -4), "is damaged"),
        (BUNDLE + struct.pack(">i", 0), "is damaged"),
        (BUNDLE + struct.pack(">i", 2**31 - 1), "is damaged"),
        (BUNDLE[:9], "is damaged"),
        (nested(1000), "more than 8 bundles inside each other"),
        (BUNDLE + 3000 * (struct.pack(">i", 8) + b"/a\0\0,\0\0\0"), "more than 1000 messages"),
        (b"/a\0\0," + 65000 * b"f" + 8 * b"\0", "more than 1000 arguments"),
        (b"/a\0\0," + 65003 * b"N" + b"\0", "more than 1000 arguments"),
        (b"/" + 65000 * b"a", "is damaged"),
        (b"/a\0\0,s\0\0abc", "is damaged"),
        (b"/\xff\0\0,\0\0\0", "is damaged"),
        (b"/a\0\0,[[\0", r'unsupported type "\["'),
    ],
)
def test_a_packet_that_is_made_to_do_harm_is_refused_at_once(data: bytes, sentence: str) -> None:
    begin = process_time()
    with pytest.raises(CoreError, match=sentence):
        read_osc(data)
    assert process_time() - begin < 0.1


def test_hostile_packets_are_counted_and_what_is_let_through_can_be_read() -> None:
    rng = np.random.default_rng(2)
    whole = [
        bundle(*bones({}), message("/VMC/Ext/T", 1.0)).dgram,
        message("/poise/points", None, None, *np.ones(68).tolist()).dgram,
        bundle(message("/VMC/Ext/Blend/Val", "Joy", 1.0)).dgram,
    ]
    streams = [(Stream(BonePackets()), BoneTracker()), (Stream(PointPackets(COCO)), PointTracker(COCO))]
    for number in range(PACKETS):
        packet = bytearray(whole[int(rng.integers(len(whole)))])
        for place in rng.integers(len(packet), size=int(rng.integers(6))):
            packet[place] = int(rng.integers(256))
        cut = len(packet) if rng.integers(3) else int(rng.integers(len(packet)))
        for stream, tracker in streams:
            frame = stream.take(bytes(packet[:cut]), number / 60.0)
            if frame is not None and tracker.add(frame):
                assert np.isfinite(tracker.estimate().rotations).all()
    for stream, _ in streams:
        counts = stream.counts
        assert counts.received == PACKETS
        assert counts.received == counts.refused + counts.late + counts.skipped + counts.parts + counts.frames
        assert counts.frames > 0.05 * PACKETS
        assert counts.refused > 0.1 * PACKETS
