"""Keypoints on rigs whose bodies are driven: controls are keyed, and Blender has the body's bones where points are."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from bridge.driven import split_path
from core.causes import Kind
from core.keypoints import estimate_clip, find_conversion
from core.keypoints.body import LANDMARK
from edits.keypoints import KeypointsJob, load_recording, perform_keypoints
from tests.blender.edits.rigs import EXAMPLES, TOLD, Listening, packet, walk
from tests.blender.rigs import load as load_rigs
from tests.blender.rigs import make_ik_body, select, world
from tests.paths import DATA, SHARED

context: Any = bpy.context
TRACKED = EXAMPLES / "walk_keypoints.jsonl"
FEW = 5  # frames: leading controls takes its time
LIMBS = {("upper_arm", "forearm"): ("shoulder", "elbow"), ("thigh", "shin"): ("hip", "knee"),
         ("shin", "foot"): ("knee", "ankle")}  # fmt: skip
EXACT = 3.0  # degrees: the filter, and knees that are hinges
STRIDE = 40  # the frame from which on legs are bent and far apart
MMD = "MMD"
SMALL = 8.0  # degrees: filter, limits, and what a twist bone takes


@pytest.fixture
def human() -> Any:
    """Rigify's own human, its limbs on IK as it comes."""
    rigs = load_rigs(SHARED / "rigs" / "scripted" / "rigify_generated_human.blend")
    rig = next(rig for rig in rigs if rig.name == "rig")
    select(rig, [])
    context.scene.render.fps = 30
    return rig


def few(folder: Path, first: int = 0) -> Path:
    file = folder / "few.jsonl"
    lines = TRACKED.read_text(encoding="utf-8").splitlines()[first : first + FEW]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def off(rig: Any, landmarks: np.ndarray, names: str = "DEF-{}.{}") -> list[float]:
    """Degrees that limbs of the rig, which faces -Y, are off landmarks (M, 3); its bones as `names` says."""
    found = []
    for (near, far), (upper, lower) in LIMBS.items():
        for side in "LR":
            way = world(rig, name_of(names, far, side)) - world(rig, name_of(names, near, side))
            said = (landmarks[LANDMARK[f"{lower}.{side}"]] - landmarks[LANDMARK[f"{upper}.{side}"]])[[0, 2, 1]] * [
                1.0,
                -1.0,
                1.0,
            ]
            found.append(np.degrees(np.arccos(way @ said / np.linalg.norm(way) / np.linalg.norm(said))))
    return found


def name_of(names: str, part: str, side: str) -> str:
    if names != MMD:
        return names.format(part, side)
    parts = {"upper_arm": "腕", "forearm": "ひじ", "thigh": "足", "shin": "ひざ", "foot": "足首"}
    return {"L": "左", "R": "右"}[side] + parts[part]


def keyed(action: Any) -> set[str]:
    paths = [split_path(curve.data_path) for curve in action.layers[0].strips[0].channelbags[0].fcurves]
    return {path[0] for path in paths if path is not None}


def test_controls_are_keyed_so_that_the_body_stands_as_its_points(human: Any, tmp_path: Path) -> None:
    recording = load_recording(context, few(tmp_path), None)
    report, found = perform_keypoints(context, human, recording, KeypointsJob(lock_feet=False))
    assert not [name for name in keyed(bpy.data.actions[report.action]) if name.startswith(("DEF-", "ORG-", "MCH-"))]
    assert "DEF-spine" in report.rotated
    assert not [note for note in found.notes if "arm" in note or "thigh" in note]
    landmarks = find_conversion(recording.layout, recording.points, recording.confidence)[0](recording.points)
    captured = estimate_clip(landmarks, recording.times)
    for number, frame in enumerate(report.frames.tolist()):
        context.scene.frame_set(int(frame))
        assert max(off(human, captured.landmarks[number])) < SMALL, frame


def test_limbs_between_ik_and_fk_stand_as_their_points_and_no_driver_is_blamed(human: Any, tmp_path: Path) -> None:
    """FK had the pose in full and IK came to it: they missed it, which was said."""
    for side in "LR":
        human.pose.bones[f"upper_arm_parent.{side}"]["IK_FK"] = 0.5
    human.update_tag()
    context.view_layer.update()
    recording = load_recording(context, few(tmp_path), None)
    report, _ = perform_keypoints(context, human, recording, KeypointsJob(lock_feet=False))
    assert not any("misses" in one or Kind.RIG.value[0] in one for one in report.explanations)
    landmarks = find_conversion(recording.layout, recording.points, recording.confidence)[0](recording.points)
    captured = estimate_clip(landmarks, recording.times)
    for number, frame in enumerate(report.frames.tolist()):
        context.scene.frame_set(int(frame))
        assert max(off(human, captured.landmarks[number])) < SMALL, frame


def test_controls_follow_live_packets_and_are_keyed_by_the_recording(
    human: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bpy.app.timers, "register", lambda tick, persistent: Listening.ticks.append(tick))
    human.poise_live_record, human.poise_live_port = True, 39613
    listening = Listening()
    try:
        frames = walk()[: TOLD + FEW]
        listening.send_one_by_one(*map(packet, frames))
        assert listening.session.applied == FEW
        recording = load_recording(context, TRACKED, None)
        landmarks = find_conversion(recording.layout, recording.points)[0](recording.points)
        shown = len(frames) - 1 - human.poise_live_delay
        assert max(off(human, landmarks.positions[shown])) < 2.0 * SMALL  # noisy points
        listening.stop()
    finally:
        listening.socket.close()
    action = bpy.data.actions[listening.live.action]
    assert {"torso", "hand_ik.L", "foot_ik.R"} <= keyed(action)
    assert action.frame_range[1] - action.frame_range[0] >= FEW - 1


@pytest.mark.parametrize("names", [MMD, "{}.{}"], ids=["MMD", "poles"])
def test_legs_that_only_ik_leads_stand_as_their_points(names: str, tmp_path: Path) -> None:
    """Feet by the targets of IK; knees by where Blender's solver begins, or by poles: whoever walks looks back."""
    rig = load_rigs(SHARED / "rigs" / "scripted" / "named_mmd_japanese.blend")[0] if names == MMD else make_ik_body()
    select(rig, [])
    context.scene.render.fps = 30
    recording = load_recording(context, few(tmp_path, STRIDE), None)
    recording = replace(recording, points=recording.points * [-1.0, 1.0, -1.0])
    report, found = perform_keypoints(context, rig, recording, KeypointsJob(lock_feet=False, limits=False))
    assert not found.notes
    landmarks = find_conversion(recording.layout, recording.points, recording.confidence)[0](recording.points)
    captured = estimate_clip(landmarks, recording.times)
    for number, frame in enumerate(report.frames.tolist()):
        context.scene.frame_set(int(frame))
        assert max(off(rig, captured.landmarks[number], names)) < EXACT, frame


def test_what_is_driven_without_a_control_is_named_and_exact_ends_that_cannot_come_are_told(tmp_path: Path) -> None:
    rig = load_rigs(DATA / "rigs" / "odd_constraints_locks_driver.blend")[0]
    select(rig, [])
    report, found = perform_keypoints(
        context, rig, load_recording(context, few(tmp_path), None), KeypointsJob(exact=True)
    )
    assert found.notes[0].startswith("Left out, because no control was detected for them: ")
    assert '"upper_arm.L"' in found.notes[0]
    assert not report.met
    assert any("hand.L is" in sentence for sentence in report.explanations)
