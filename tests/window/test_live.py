"""A tracker poses an armature of 65 bones in a real window. POISE_SOAK sets for how many seconds, ten by default."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.core import avatar
from tests.window.live_acts import BONES, RATE, RECORDED, listen

RIG = Path(__file__).resolve().parents[1] / "data" / "rigs" / "named_mixamo_cm.blend"
SECONDS = float(os.environ.get("POISE_SOAK", "10"))
# Milliseconds of a frame. Ten seconds on a machine that does other work too say less than a soak on a quiet one.
LATENCY = (1.0 if SECONDS >= 60.0 else 3.0) * 1000.0 / RATE


@pytest.fixture(scope="module")
def seen(person: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Twenty frames of somebody whose arms hang, each in two packets, come after the walk."""
    bones = avatar.bones({"LeftUpperArm": avatar.about(2, 80.0), "RightUpperArm": avatar.about(2, -80.0)})
    packets = [
        avatar.bundle(*part).dgram
        for number in range(20)
        for part in (bones[:9], [*bones[9:], avatar.message("/VMC/Ext/T", number / 20.0)])
    ]
    file = tmp_path_factory.mktemp("bones") / "packets.txt"
    file.write_text("\n".join(packet.hex() for packet in packets), encoding="utf-8")
    found = person(listen, sys.executable, str(SECONDS), str(file), blend=RIG, small=True, limit=SECONDS + 120)
    print(found)
    return found


def test_every_packet_is_applied_or_counted(seen: dict[str, Any]) -> None:
    assert seen["listens"]
    assert seen["bones"] == BONES
    assert seen["sent"] == round(SECONDS * RATE)
    assert seen["received"] + seen["lost"] == seen["sent"]
    assert seen["applied"] + seen["used"] + seen["refused"] + seen["late"] + seen["skipped"] == seen["received"]
    assert seen["refused"] == seen["late"] == 0


def test_the_pose_follows_in_time(seen: dict[str, Any]) -> None:
    assert 0.0 < seen["latency"] < LATENCY


def test_stopping_leaves_a_recording(seen: dict[str, Any]) -> None:
    assert seen["stops"]
    assert seen["recorded"][1] > 20 * SECONDS if SECONDS <= RECORDED else not seen["recorded"]


def test_one_undo_takes_pose_and_recording_back(seen: dict[str, Any]) -> None:
    assert seen["undone actions"] == 0
    assert seen["undone turn"] < 0.01


def test_bones_of_a_vmc_sender_pose_the_armature(seen: dict[str, Any]) -> None:
    assert seen["parts"] == seen["posed"] == seen["sent bones"] // 2
    assert seen["left arm"] == pytest.approx([0.174, 0.0, -0.985], abs=0.05)
