"""Live keypoints: packets pose the armature, and nothing that comes over the port can do harm."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
import standalone
from bridge import read_channels
from core.editing.contacts import foot_points, point_positions
from tests.blender.edits.rigs import EXAMPLES, RIG, TOLD, WALK, Listening, packet, walk
from tests.core.keypoints.rigs import about, bones, bundle, message


@pytest.fixture
def armature() -> Iterator[Any]:
    bpy.ops.wm.open_mainfile(filepath=str(RIG))
    object = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    bpy.context.view_layer.objects.active = object
    yield object
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


@pytest.fixture
def listening(armature: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    """Blender without a window calls no timers."""
    monkeypatch.setattr(bpy.app.timers, "register", lambda tick, persistent: Listening.ticks.append(tick))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        armature.poise_live_port = free.getsockname()[1]
    armature.poise_live_record = True
    found = Listening()
    yield found
    found.socket.close()
    if found.live.owner:
        found.stop()


def pose(object: Any) -> np.ndarray:
    return read_channels(object, ["rotation_quaternion"])["rotation_quaternion"]


def test_every_packet_of_the_sender_is_applied_or_counted_and_recorded(armature: Any, listening: Listening) -> None:
    before = pose(armature)
    command = [sys.executable, EXAMPLES / "send_keypoints.py", WALK, "--rate", "60"]
    sender = subprocess.Popen([*map(str, command), "--port", str(listening.session.receiver.port)])
    while sender.poll() is None:
        listening.tick()
        time.sleep(0.002)
    listening.number = len(walk())
    listening.wait()
    session, counts = listening.session, listening.session.stream.counts
    assert counts.frames == listening.number
    assert session.applied + session.used == counts.frames
    assert (counts.refused, counts.lost, counts.late) == (0, 0, 0)
    assert np.abs(pose(armature) - before).max() > 0.1
    assert 0.0 < np.median(session._latencies) < 0.1
    listening.stop()
    assert listening.live.owner == 0
    action = bpy.data.actions[listening.live.action]
    assert action.frame_range[1] > 20


def test_lost_late_and_repeated_packets_are_counted_and_a_new_count_begins_anew(listening: Listening) -> None:
    frames = walk()
    order = [0, 1, 2, 3, 4, 5, 8, 7, 8, 9]
    listening.send(*(packet(frames[n]) for n in order[:5]))
    listening.wait()
    listening.send(*(packet(frames[n]) for n in order[5:]))
    listening.wait()
    counts = listening.session.stream.counts
    assert (counts.lost, counts.late, counts.frames) == (2, 2, 8)
    listening.send(*(packet(frames[n] | {"frame": 5000 + n}) for n in range(2)))
    listening.wait()
    listening.send(packet(frames[0]))  # the sender was started again
    listening.wait()
    assert counts.restarts == 1
    assert counts.frames == 11


def test_bones_of_a_vmc_sender_turn_those_of_the_rig_in_as_many_packets_as_they_come(
    armature: Any, listening: Listening
) -> None:
    """Arms down in Unity's axes; as Blender evaluates the rig, which faces -Y with its left towards +X."""
    armature.poise_live_layout = "vmc"
    for turn in (0.0, 80.0):
        listening.stop()
        listening.begin()
        messages = bones({"LeftUpperArm": about(2, turn), "RightUpperArm": about(2, -turn)})
        for number in range(3):
            time = message("/VMC/Ext/T", number / 10.0)
            listening.send_one_by_one(bundle(*messages[:9]).dgram, bundle(*messages[9:], time).dgram)
        counts = listening.session.stream.counts
        assert (counts.frames, counts.parts, counts.refused) == (3, 3, 0)
        evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        ways = {side: evaluated[f"mixamorig:{side}Arm"].vector.normalized() for side in ("Left", "Right")}
        cosine, sine = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        np.testing.assert_allclose(ways["Left"], [cosine, 0.0, -sine], atol=0.02)
        np.testing.assert_allclose(ways["Right"], [-cosine, 0.0, -sine], atol=0.02)
    listening.stop()
    assert bpy.data.actions[listening.live.action].frame_range[1] > 1.0


def test_the_example_sender_of_bones_waves_the_right_arm(armature: Any, listening: Listening) -> None:
    armature.poise_live_layout = "vmc"
    listening.stop()
    listening.begin()
    command = [sys.executable, EXAMPLES / "send_vmc.py", "--seconds", "0.5", "--port", listening.session.receiver.port]
    sender = subprocess.Popen([*map(str, command)])
    heights = []
    while sender.poll() is None or len(heights) < 2:
        listening.tick()
        heights.append(armature.pose.bones["mixamorig:RightHand"].head.z)
        time.sleep(0.005)
    listening.number = 30
    listening.wait()
    counts = listening.session.stream.counts
    assert (counts.frames, counts.refused, counts.parts) == (30, 0, 0)
    assert np.ptp(heights) > 0.1 * armature.pose.bones["mixamorig:Head"].head.z
    assert armature.pose.bones["mixamorig:LeftArm"].vector.normalized().z < -0.9


def test_hostile_packets_are_refused_and_the_pose_stays(armature: Any, listening: Listening) -> None:
    before = pose(armature)
    good = walk()[0]["points"]
    listening.send_one_by_one(
        b"",
        b"\x00" * 60000,
        b"[" * 60000,
        b'{"points": 7}',
        b'{"points": [[1, 2]]}',
        packet({"points": good[:-1]}),
        packet({"points": good, "frame": -1}),
        packet({"points": good, "time": "now"}),
        packet({"points": [[1e300, 0, 0]] * 33}),
        packet({"points": [None] * 33}),
        b'{"points": [' + b",".join([b"[Infinity, 0, 0]"] * 33) + b"]}",
        b'{"points": [' + b",".join([b"[1" + b"0" * 400 + b", 0, 0]"] * 33) + b"]}",
    )
    assert listening.session.stream.counts.refused == listening.number
    assert np.array_equal(pose(armature), before)
    assert listening.live.owner != 0


def test_packets_that_take_long_are_looked_at_one_look_after_the_other(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = listening.session.stream
    take = stream.take

    def slowly(data: bytes, arrival: float) -> Any:
        time.sleep(0.02)
        return take(data, arrival)

    monkeypatch.setattr(stream, "take", slowly)
    listening.send(*map(packet, walk()[:12]))
    time.sleep(0.1)
    listening.tick()
    assert 0 < stream.counts.received < 6
    listening.wait()
    assert stream.counts.frames == listening.number


def test_a_recording_has_every_packet_up_to_the_stop_from_the_frame_that_the_first_one_came_at(
    listening: Listening,
) -> None:
    """Also those that nobody has looked at yet; the scene plays meanwhile."""
    scene = bpy.context.scene
    scene.frame_set(5)
    listening.send_one_by_one(*map(packet, walk()[:10]))
    scene.frame_set(40)
    listening.send(*map(packet, walk()[10:30]))
    time.sleep(0.1)
    listening.stop()
    assert listening.live.received == listening.number
    assert listening.live.recorded == listening.number - TOLD
    assert bpy.data.actions[listening.live.action].frame_range[0] == 5.0


@pytest.mark.parametrize("travel", ["FEET", "HIPS"])
def test_a_recording_is_keyed_on_the_meshes_that_are_the_ground(
    armature: Any, listening: Listening, travel: str
) -> None:
    high = 0.06
    listening.stop()
    bpy.ops.mesh.primitive_plane_add(size=20.0, location=(0.0, 0.0, high))
    armature.poise_ground = bpy.data.collections.new("Ground")
    armature.poise_ground.objects.link(bpy.context.object)
    bpy.context.view_layer.objects.active = armature
    armature.poise_live_travel = travel
    listening.begin()
    take = listening.session.stream.take  # the packets arrive at their own times, however fast this machine is
    listening.session.stream.take = lambda data, _: take(data, json.loads(data)["time"])
    listening.send_one_by_one(*map(packet, walk()))
    listening.stop()
    first, last = (int(frame) for frame in bpy.data.actions[listening.live.action].frame_range)
    rig = bridge.read_rig(armature)
    points = foot_points(rig.skeleton, bridge.read_roles(armature, rig.skeleton))
    motion, worlds = bridge.read_motion(armature, rig, np.arange(first, last + 1))
    places = bridge.armature_to_world(worlds[:, None], point_positions(rig.skeleton, motion.pose, points))[0]
    lowest = places[..., 2].min(axis=1)
    assert lowest.min() > high - 0.005
    assert np.quantile(lowest, 0.5 if travel == "FEET" else 0.25) < high + 0.005  # seen hips lift feet at times


def test_what_is_told_from_the_points_is_shown(armature: Any, listening: Listening) -> None:
    lying = [[None if p is None else [p[0], p[2], -p[1]] for p in f["points"]] for f in walk()[:6]]
    listening.send(*(packet({"points": points}) for points in lying))
    listening.wait()
    assert listening.session.status.startswith("Listening. The body is lying down, because -Y is up in mediapipe")


def test_points_that_are_no_body_are_told_and_do_not_pose(armature: Any, listening: Listening) -> None:
    before = pose(armature)
    far = [[None if p is None else [1000.0 * x for x in p[:3]] for p in f["points"]] for f in walk()[:6]]
    listening.send(*(packet({"points": points}) for points in far))
    listening.wait()
    assert "mm" in listening.session.status
    assert np.array_equal(pose(armature), before)


def test_an_armature_goes_on_under_another_name(armature: Any, listening: Listening) -> None:
    armature.name = "somebody else"
    before = pose(armature)
    listening.send_one_by_one(*map(packet, walk()[:8]))
    assert np.abs(pose(armature) - before).max() > 0.01


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda rig: bpy.data.objects.remove(rig), "no longer exists"),
        (lambda rig: setattr(rig.data.bones[3], "name", "claw"), "have changed"),
        (lambda rig: bpy.ops.wm.open_mainfile(filepath=str(RIG)), ""),
    ],
    ids=["removed", "other bones", "another file"],
)
@pytest.mark.parametrize("recorded", [False, True])
def test_what_happens_to_the_armature_ends_it_and_frees_the_port(
    armature: Any, listening: Listening, harm: Any, sentence: str, recorded: bool
) -> None:
    """Also while the recording is filtered: nothing is written to what is not as it was."""
    listening.send_one_by_one(*map(packet, walk()[:8]))
    port, actions = listening.session.receiver.port, len(bpy.data.actions)
    if recorded:
        bpy.ops.poise.stop_listening()
        listening.tick()
    harm(armature)
    while listening.tick() is not None:
        time.sleep(0.01)
    assert listening.live.owner == 0
    assert sentence in listening.live.status
    assert len(bpy.data.actions) <= actions
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", port))


def test_who_goes_to_edit_mode_while_recording_has_the_recording_afterwards(
    armature: Any, listening: Listening
) -> None:
    listening.send_one_by_one(*map(packet, walk()[:8]))
    bpy.ops.object.mode_set(mode="EDIT")
    while "Waiting to write" not in listening.live.status:
        assert listening.tick() is not None
        time.sleep(0.01)
    assert "Edit Mode" in listening.live.status
    bpy.ops.object.mode_set(mode="OBJECT")
    assert listening.tick() is None
    assert bpy.data.actions[listening.live.action].frame_range[1] > 1.0


def test_a_second_armature_cannot_listen_at_once(listening: Listening) -> None:
    with pytest.raises(RuntimeError, match="Another armature is listening"):
        bpy.ops.poise.listen()


def test_other_machines_are_listened_to_only_where_online_access_is_allowed(armature: Any) -> None:
    armature.poise_live_remote = True
    if bpy.app.online_access:
        pytest.skip("online access is allowed here")
    with pytest.raises(RuntimeError, match="Allow Online Access"):
        bpy.ops.poise.listen()


def test_listening_ends_with_the_extension_and_begins_clean(armature: Any, listening: Listening) -> None:
    port, session = listening.session.receiver.port, listening.session
    bpy.ops.preferences.addon_disable(module=standalone.MODULE)
    bpy.ops.preferences.addon_enable(module=standalone.MODULE)
    live = bpy.context.window_manager.poise_live
    assert (live.owner, live.stop, live.status) == (0, False, "")
    assert session.tick() is None  # the timer of before
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", port))
    listening.begin()
    assert live.owner == armature.session_uid


def test_a_port_that_is_taken_is_said(armature: Any) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        armature.poise_live_port = other.getsockname()[1]
        with pytest.raises(RuntimeError, match="Cannot listen on port"):
            bpy.ops.poise.listen()
    assert bpy.context.window_manager.poise_live.owner == 0


def test_one_sender_at_a_time_holds_the_rig_until_it_stops(
    listening: Listening, armature: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = walk()
    first = listening.socket
    told = TOLD + 2
    listening.send_one_by_one(*map(packet, frames[:told]))
    session, counts = listening.session, listening.session.stream.counts
    address = f"127.0.0.1:{first.getsockname()[1]}"
    assert session.status.endswith(f"From {address}.")
    before = pose(armature)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as second:
        to = ("127.0.0.1", session.receiver.port)
        for frame in frames[40:44]:
            second.sendto(packet(frame), to)
        await_received(listening, told + 4)
        assert (counts.frames, counts.skipped) == (told, 4)
        np.testing.assert_array_equal(pose(armature), before)
        assert session.status.endswith(f"From {address}.")
        first.sendto(b"no packet", to)  # what cannot be read holds nothing
        await_received(listening, told + 5)
        monkeypatch.setattr("edits.live._QUIET", 0.05)
        time.sleep(0.1)
        first.sendto(b"no packet", to)
        for frame in frames[40:44]:
            second.sendto(packet(frame), to)
        await_received(listening, told + 10)
        assert counts.frames == told + 4
        assert session.status.endswith(f"From 127.0.0.1:{second.getsockname()[1]}.")
        assert np.abs(pose(armature) - before).max() > 1e-3


def await_received(listening: Listening, count: int) -> None:
    end = time.monotonic() + 5.0
    while listening.session.stream.counts.received < count and time.monotonic() < end:
        listening.tick()
        time.sleep(0.002)
    assert listening.session.stream.counts.received == count
