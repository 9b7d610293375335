"""A tracker poses an armature of 65 bones in a real window.

POISE_SOAK sets for how many seconds, ten by default; POISE_FLOOD how many hostile packets a second come beside, none by
default.
"""

import json
import os
import sys
from typing import Any

import numpy as np
import pytest

from core.keypoints import Conversion, find_layout
from core.keypoints.body import LANDMARK
from tests.core.keypoints import rigs as avatar
from tests.core.keypoints.rigs import FPS, as_c3d
from tests.paths import DATA
from tests.window.live_acts import BONES, EXAMPLES, RATE, RECORDED, STEP, listen

RIG = DATA / "rigs" / "named_mixamo_cm.blend"
SECONDS = float(os.environ.get("POISE_SOAK", "10"))
# Milliseconds of a frame. Ten seconds on a machine that does other work too say less than a soak on a quiet one.
LATENCY = (1.0 if SECONDS >= 60.0 else 3.0) * 1000.0 / RATE
FLOOD = int(os.environ.get("POISE_FLOOD", "0"))
FLOODED = 0.25  # seconds that nobody takes for a standstill, beside one look at packets that are none
MEDIAPIPE = find_layout("mediapipe")
SCENE_FPS = 24.0


@pytest.fixture(scope="module")
def seen(person: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Twenty frames of somebody whose arms hang, each in two packets, come after the walk, and then it as C3D."""
    bones = avatar.bones({"LeftUpperArm": avatar.about(2, 80.0), "RightUpperArm": avatar.about(2, -80.0)})
    packets = [
        avatar.bundle(*part).dgram
        for number in range(20)
        for part in (bones[:9], [*bones[9:], avatar.message("/VMC/Ext/T", number / 20.0)])
    ]
    file = tmp_path_factory.mktemp("bones") / "packets.txt"
    file.write_text("\n".join(packet.hex() for packet in packets), encoding="utf-8")
    markers = file.with_name("walk.c3d")
    markers.write_bytes(as_c3d(1000.0 * walk(), MEDIAPIPE.points))
    files = str(file), str(markers)
    found = person(listen, sys.executable, str(SECONDS), *files, str(FLOOD), blend=RIG, small=True, limit=SECONDS + 120)
    print(found)
    return found


def walk() -> np.ndarray:
    """Points (F, 33, 3) of the example, metres."""
    lines = (EXAMPLES / "walk_keypoints.jsonl").read_text(encoding="utf-8").splitlines()
    return np.array([[p[:3] if p else [np.nan] * 3 for p in json.loads(line)["points"]] for line in lines])


def test_every_packet_is_applied_or_counted(seen: dict[str, Any]) -> None:
    assert seen["listens"]
    assert seen["bones"] == BONES
    assert seen["sent"] == round(SECONDS * RATE)
    assert seen["applied"] + seen["used"] + seen["refused"] + seen["late"] + seen["skipped"] == seen["received"]
    assert seen["late"] == 0
    if FLOOD:  # what finds no room on the port nobody receives
        assert seen["sent"] < seen["received"] <= seen["sent"] + seen["hostile"]
        assert seen["refused"] > seen["hostile"] // 10
        assert seen["applied"] > SECONDS
    else:
        assert seen["received"] + seen["lost"] == seen["sent"]
        assert seen["refused"] == 0


def test_the_pose_follows_in_time(seen: dict[str, Any]) -> None:
    """From the receipt of a packet to the pose as Blender evaluates it."""
    assert 0.0 < seen["latency"] + seen["wait"] < (1000.0 * FLOODED if FLOOD else LATENCY)


def test_blender_stays_usable_whatever_comes(seen: dict[str, Any]) -> None:
    assert seen["tick"] < (FLOODED if FLOOD else 0.05)


def test_a_file_of_c3d_is_imported(seen: dict[str, Any]) -> None:
    """In the walk's frame its thighs, as Blender has them, point where its hips and knees are; the rig faces -Y."""
    assert seen["imported"] == ["FINISHED"]
    assert seen["keyed"][0] == 1.0
    assert seen["keyed"][1] == pytest.approx(1.0 + SCENE_FPS * (len(walk()) - 1) / FPS, abs=1.0)
    landmarks = Conversion(MEDIAPIPE, 1.0, "-Y")(walk()).positions[round((STEP - 1.0) / SCENE_FPS * FPS)]
    for side, way in seen["thighs"].items():
        thigh = (landmarks[LANDMARK[f"knee.{side[0]}"]] - landmarks[LANDMARK[f"hip.{side[0]}"]])[[0, 2, 1]] * [
            1.0,
            -1.0,
            1.0,
        ]
        assert np.degrees(np.arccos(way @ thigh / np.linalg.norm(thigh))) < 10.0


def test_stopping_leaves_a_recording(seen: dict[str, Any]) -> None:
    assert seen["stops"]
    assert seen["recorded"][1] > 20 * SECONDS if SECONDS <= RECORDED else not seen["recorded"]


def test_one_undo_takes_pose_and_recording_back(seen: dict[str, Any]) -> None:
    assert seen["undone actions"] == 0
    assert seen["undone turn"] < 0.01


def test_bones_of_a_vmc_sender_pose_the_armature(seen: dict[str, Any]) -> None:
    assert seen["parts"] == seen["posed"] == seen["sent bones"] // 2
    assert seen["left arm"] == pytest.approx([0.174, 0.0, -0.985], abs=0.05)
