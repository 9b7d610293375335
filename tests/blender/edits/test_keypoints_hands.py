"""Fingers from 21 points of each hand and from bones of VMC. Truth: a rig that Blender posed, as it evaluates it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from core.keypoints import LAYOUTS
from edits.keypoints import KeypointsJob, load_recording, perform_keypoints
from tests.blender.edits.rigs import RIG, Listening
from tests.blender.rigs import context
from tests.core.keypoints.rigs import AVATAR, bundle, message

SIDES = {"L": "Left", "R": "Right"}
FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")
BODY = {"shoulder": "Arm", "elbow": "ForeArm", "wrist": "Hand", "hip": "UpLeg", "knee": "Leg", "ankle": "Foot",
        "foot_index": "ToeBase"}  # fmt: skip
FRAMES = 12
TURNED, THUMB = 0.5, 6.0  # degrees: of fingers; of the thumb, whose twist no point tells
POINTED = 0.2  # degrees, of all phalanges


def bone(side: str, name: str) -> str:
    return f"mixamorig:{SIDES[side]}{name}"


def phalanges() -> list[str]:
    return [bone(side, f"Hand{finger}{n}") for side in SIDES for finger in FINGERS for n in (1, 2, 3)]


@pytest.fixture
def rig() -> Iterator[Any]:
    bpy.ops.wm.open_mainfile(filepath=str(RIG))
    found = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    context.view_layer.objects.active = found
    context.scene.render.fps = 30
    yield found
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def pose_hands(rig: Any, rng: np.random.Generator) -> None:
    """Close the joints of all fingers about one axis each, spread the fingers, and turn arms and hands: by Blender."""
    back = Vector((0.0, 0.0, 1.0))  # of hands in the T-pose
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for part in ("Arm", "ForeArm", "Hand"):
            rig.pose.bones[bone(side, part)].rotation_quaternion = Quaternion(
                (1.0, *rng.normal(0.0, 0.15, 3))
            ).normalized()
        for finger in FINGERS:
            second = rig.data.bones[bone(side, f"Hand{finger}2")]
            ahead = second.tail_local - second.head_local
            hinge = (
                back.cross(ahead).normalized()
                if finger != "Thumb"
                else Vector((0.3 * sign, 0.3, 0.9 * sign)).cross(ahead).normalized()
            )
            for joint in (1, 2, 3):
                posed = rig.pose.bones[bone(side, f"Hand{finger}{joint}")]
                rest = posed.bone.matrix_local.to_3x3()
                angle = rng.uniform(0.0, 0.5 if finger == "Thumb" else 1.3)
                turn = Quaternion(hinge, angle)
                if joint == 1:
                    turn = Quaternion(back, rng.uniform(-0.2, 0.2)) @ turn
                posed.rotation_quaternion = (rest.inverted() @ turn.to_matrix() @ rest).to_quaternion()
    context.view_layer.update()


def seen(rig: Any) -> dict[str, Matrix]:
    """The phalanges relative to the hand, as Blender evaluates them."""
    bones = rig.evaluated_get(context.evaluated_depsgraph_get()).pose.bones
    hands = {side: bones[bone(side, "Hand")].matrix.inverted() for side in SIDES}
    return {name: hands["L" if "Left" in name else "R"] @ bones[name].matrix for name in phalanges()}


def points(rig: Any, rng: np.random.Generator) -> list[Any]:
    """Points of a frame in MediaPipe's axes, metres; each hand about an origin of its own."""
    bones = rig.evaluated_get(context.evaluated_depsgraph_get()).pose.bones
    names = LAYOUTS["mediapipe_hands"].points
    found: list[Any] = [None] * len(names)

    def put(name: str, place: Vector, origin: Any = (0.0, 0.0, 0.0)) -> None:
        x, y, z = 0.01 * (rig.matrix_world @ place) * 100.0
        found[names.index(name)] = (np.array([x, -z, y]) + origin).tolist()

    for side, word in (("L", "left"), ("R", "right")):
        for point, part in BODY.items():
            put(f"{word}_{point}", bones[bone(side, part)].head)
        put(
            f"{word}_heel",
            bones[bone(side, "Foot")].head + (rig.matrix_world.inverted().to_3x3() @ Vector((0, 0.05, -0.07))),
        )
        origin = rng.normal(0.0, 1.0, 3)
        put(f"{word}_hand_wrist", bones[bone(side, "Hand")].head, origin)
        for finger in FINGERS:
            ends = ("cmc", "mcp", "ip", "tip") if finger == "Thumb" else ("mcp", "pip", "dip", "tip")
            called = finger.lower() + ("_finger" if finger in ("Index", "Middle", "Ring") else "")
            chain = [bones[bone(side, f"Hand{finger}{n}")] for n in (1, 2, 3)]
            for end, place in zip(ends, [*(one.head for one in chain), chain[-1].tail], strict=True):
                put(f"{word}_hand_{called}_{end}", place, origin)
    return found


def turned(found: dict[str, Matrix], true: dict[str, Matrix]) -> dict[str, float]:
    return {
        name: np.degrees(true[name].to_quaternion().rotation_difference(found[name].to_quaternion()).angle)
        for name in true
    }


def pointed(found: dict[str, Matrix], true: dict[str, Matrix]) -> float:
    return max(np.degrees(found[name].col[1].to_3d().angle(true[name].col[1].to_3d())) for name in true)


def assert_as(found: dict[str, Matrix], true: dict[str, Matrix]) -> None:
    off = {name: min(angle, 360.0 - angle) for name, angle in turned(found, true).items()}
    assert pointed(found, true) < POINTED
    assert max(angle for name, angle in off.items() if "Thumb" not in name) < TURNED
    assert max(off.values()) < THUMB


def clip(rig: Any) -> tuple[list[Any], list[dict[str, Matrix]]]:
    """Frames of points, and the truth; the rig is at rest again."""
    rng, frames, truth = np.random.default_rng(3), [], []
    for _ in range(FRAMES):
        pose_hands(rig, rng)
        frames.append(points(rig, rng))
        truth.append(seen(rig))
    for posed in rig.pose.bones:
        posed.matrix_basis = Matrix()
    context.view_layer.update()
    return frames, truth


def key(rig: Any, folder: Path, frames: list[Any], layout: str = "mediapipe_hands", **settings: Any) -> Any:
    file = folder / "hands.json"
    file.write_text(json.dumps({"layout": layout, "fps": 30, "frames": frames}), encoding="utf-8")
    job = KeypointsJob(noise=0.0, smooth=False, lock_feet=False, limits=False, **settings)
    return perform_keypoints(context, rig, load_recording(context, file, None), job)


def test_fingers_are_posed_as_blender_had_posed_them(rig: Any, tmp_path: Path) -> None:
    frames, truth = clip(rig)
    report, _ = key(rig, tmp_path, frames)
    assert {*phalanges()} <= {*report.rotated}
    for number, true in enumerate(truth):
        context.scene.frame_set(1 + number)
        assert_as(seen(rig), true)


def test_a_hand_that_is_not_seen_gets_no_keys_and_one_that_comes_late_is_held(rig: Any, tmp_path: Path) -> None:
    frames, truth = clip(rig)
    names = LAYOUTS["mediapipe_hands"].points
    for number, frame in enumerate(frames):
        for place, name in enumerate(names):
            if name.startswith("right_hand") or (name.startswith("left_hand") and number < 4):
                frame[place] = None
    report, _ = key(rig, tmp_path, frames)
    assert not [name for name in report.rotated if "RightHand" in name and name != bone("R", "Hand")]
    left = {name for name in phalanges() if "Left" in name}
    assert left <= {*report.rotated}
    for frame, expected in ((1, 4), (4, 4), (9, 8)):
        context.scene.frame_set(frame)
        found, true = seen(rig), truth[expected]
        assert_as({name: found[name] for name in left}, {name: true[name] for name in left})


def test_sides_that_are_exchanged_pose_the_other_hand(rig: Any, tmp_path: Path) -> None:
    frames, truth = clip(rig)
    names = LAYOUTS["mediapipe_hands"].points
    other = {name: name.replace("left", "#").replace("right", "left").replace("#", "right") for name in names}
    swapped = [[frame[names.index(other[name])] for name in names] for frame in frames]
    key(rig, tmp_path, swapped, exchange=True)
    context.scene.frame_set(3)
    assert_as(seen(rig), truth[2])


def test_fingers_of_a_figure_in_a_file_are_brought_too(rig: Any, tmp_path: Path) -> None:
    frames, truth = clip(rig)
    key(rig, tmp_path, frames)
    file = tmp_path / "figure.bvh"
    bpy.ops.object.select_all(action="DESELECT")
    rig.select_set(True)
    bpy.ops.export_anim.bvh(filepath=str(file), frame_start=1, frame_end=FRAMES, root_transform_only=True)
    rig.animation_data.action = None
    job = KeypointsJob(noise=0.0, smooth=False, lock_feet=False, limits=False)
    report, found = perform_keypoints(context, rig, load_recording(context, file, None), job)
    assert found.layout == "marks_hands"
    assert {*phalanges()} <= {*report.rotated}
    context.scene.frame_set(5)
    assert_as(seen(rig), truth[4])


@pytest.fixture
def listening(rig: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Listen with a layout. Blender without a window calls no timers."""
    monkeypatch.setattr(bpy.app.timers, "register", lambda tick, persistent: Listening.ticks.append(tick))
    begun: list[Listening] = []

    def listen(layout: str) -> Listening:
        rig.poise_live_layout, rig.poise_live_record, rig.poise_live_limits = layout, True, False
        rig.poise_live_port, rig.poise_live_delay = 39617, 0
        begun.append(Listening())
        return begun[0]

    yield listen
    for one in begun:
        one.socket.close()
        if one.live.owner:
            one.stop()


def test_live_fingers_follow_stay_out_of_sight_and_are_recorded(rig: Any, listening: Any) -> None:
    frames, truth = clip(rig)
    session = listening("mediapipe_hands")
    held = [frames[5]] * 40  # the filter comes to rest
    packets = [json.dumps({"frame": n, "time": n / 30.0, "points": one}).encode() for n, one in enumerate(held)]
    session.send_one_by_one(*packets)
    assert_as(seen(rig), truth[5])
    names = LAYOUTS["mediapipe_hands"].points
    blind = [None if "_hand_" in name else point for name, point in zip(names, frames[5], strict=True)]
    packets = [json.dumps({"frame": n, "time": n / 30.0, "points": blind}).encode() for n in range(40, 70)]
    session.send_one_by_one(*packets)
    assert_as(seen(rig), truth[5])
    session.stop()
    action = bpy.data.actions[session.live.action]
    assert {*phalanges()} <= {path.split('"')[1] for path in curves(action)}
    context.scene.frame_set(20)
    assert_as(seen(rig), truth[5])


def test_a_live_sender_without_hands_leaves_the_fingers_to_their_user(rig: Any, listening: Any) -> None:
    frames, _ = clip(rig)
    session = listening("mediapipe")
    body = [json.dumps({"frame": n, "points": frames[5][:33]}).encode() for n in range(8)]
    session.send_one_by_one(*body)
    mine = rig.pose.bones[bone("L", "HandIndex2")]
    mine.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    session.send_one_by_one(*(json.dumps({"frame": n, "points": frames[6][:33]}).encode() for n in range(8, 16)))
    np.testing.assert_allclose(mine.rotation_quaternion, (0.8, 0.6, 0.0, 0.0), atol=1e-6)
    assert session.session.applied > len(body)


def curves(action: Any) -> list[str]:
    return [curve.data_path for curve in action.layers[0].strips[0].channelbags[0].fcurves]


def beside(rig: Any) -> float:
    """Degrees between the arm and the line from the wrist to the middle of the outer knuckles, at rest."""
    wrist, index, pinky = (rig.data.bones[bone("L", f"Hand{name}")].head_local for name in ("", "Index1", "Pinky1"))
    return float(np.degrees((0.5 * (index + pinky) - wrist).angle(Vector((1.0, 0.0, 0.0)))))


def test_fingers_of_a_vmc_sender_turn_as_its_avatar_has_them(rig: Any, listening: Any) -> None:
    """Truth: directions of the avatar, by mathutils; Unity's X is mirrored. Its thumb at rest is half way ahead."""
    session = listening("vmc")
    rng = np.random.default_rng(5)
    true: dict[str, Vector] = {}
    messages = [message("/VMC/Ext/Bone/Pos", name, *place, 0.0, 0.0, 0.0, 1.0) for name, place in AVATAR.items()]
    for side, sign in (("Left", -1.0), ("Right", 1.0)):
        for finger in FINGERS:
            way = Vector((sign, 0.0, 1.0 if finger == "Thumb" else 0.0)).normalized()
            turn = Quaternion()
            for joint, phalanx in enumerate(("Proximal", "Intermediate", "Distal"), start=1):
                own = Quaternion((1.0, *rng.normal(0.0, 0.1, 3))).normalized() if joint == 1 else Quaternion()
                own = own @ Quaternion((0.0, 0.0, -sign), -float(rng.uniform(0.0, 1.0)))
                turn = turn @ own
                name = f"{side}{'Little' if finger == 'Pinky' else finger}{phalanx}"
                messages.append(message("/VMC/Ext/Bone/Pos", name, 0.03, 0.0, 0.0, own.x, own.y, own.z, own.w))
                x, y, z = turn @ way
                true[f"mixamorig:{side}Hand{finger}{joint}"] = Vector((-x, -z, y))
    session.send_one_by_one(bundle(*messages, message("/VMC/Ext/T", 0.1)).dgram)
    bones = rig.evaluated_get(context.evaluated_depsgraph_get()).pose.bones
    off = {name: np.degrees(bones[name].vector.angle(way)) for name, way in true.items()}
    assert max(off.values()) < beside(rig) + 0.1, off  # relative to the palm, which is no straight on from the arm
    for name in phalanges():
        if not name.endswith("1"):
            before = f"{name[:-1]}{int(name[-1]) - 1}"
            bent = np.degrees(bones[name].vector.angle(bones[before].vector))
            assert bent == pytest.approx(np.degrees(true[name].angle(true[before])), abs=0.1), name
    session.stop()
    assert {*phalanges()} <= {path.split('"')[1] for path in curves(bpy.data.actions[session.live.action])}


def test_fingers_of_the_rig_stay_where_a_sender_has_none(rig: Any, listening: Any) -> None:
    session = listening("vmc")
    rig.pose.bones[bone("L", "HandIndex2")].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    messages = [message("/VMC/Ext/Bone/Pos", name, *place, 0.0, 0.0, 0.0, 1.0) for name, place in AVATAR.items()]
    session.send_one_by_one(bundle(*messages, message("/VMC/Ext/T", 0.1)).dgram)
    np.testing.assert_allclose(
        rig.pose.bones[bone("L", "HandIndex2")].rotation_quaternion, (0.8, 0.6, 0.0, 0.0), atol=1e-6
    )
