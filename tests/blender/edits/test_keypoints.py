"""The verb `keypoints` and the operator: a file becomes keys on a rig; Blender's own evaluation is judge."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import bpy
import c3d
import numpy as np
import pytest
from jsonschema import Draft202012Validator

import commands
import standalone
from benchmarks.motion import clips
from bridge import read_matrices, read_rig, write_tuning
from core import rotation
from core.body import find_roles
from core.body.anatomy import Tuning, anatomy
from core.formats import schema
from core.keypoints import estimate_clip, find_conversion, find_layout, joint_landmarks
from core.keypoints.body import LANDMARK
from tests.paths import DATA

RIGS = DATA / "rigs"
RIG = RIGS / "named_mixamo_cm.blend"
EXAMPLES = standalone.ROOT / "docs" / "examples"
WALK, TRACKED = EXAMPLES / "cmu_35_01.bvh", EXAMPLES / "walk_keypoints.jsonl"
LIMBS = {("shoulder", "elbow"): ("Arm", "ForeArm"), ("elbow", "wrist"): ("ForeArm", "Hand"),
         ("hip", "knee"): ("UpLeg", "Leg"), ("knee", "ankle"): ("Leg", "Foot")}  # fmt: skip
SMALL = 3.0  # degrees: what filters and whole frames are off
FIRST, LAST = 5, 60  # frames that are compared


def run(tmp_path: Path, *options: str, source: Path = WALK, rig: Path = RIG) -> tuple[int, dict[str, Any]]:
    """The verb's exit code and its report; the file that it wrote is open."""
    output, report = tmp_path / "out.blend", tmp_path / "report.json"
    bpy.context.preferences.filepaths.save_version = 0
    files = ["--blend", rig, "--input", source, "--output", output, "--report", report]
    code = commands.run(["keypoints", *map(str, files), *options])
    if code != 0:
        return code, {}
    bpy.ops.wm.open_mainfile(filepath=str(output))
    told = json.loads(report.read_text(encoding="utf-8"))
    Draft202012Validator(json.loads(schema.schema_text("report"))).validate(told)
    return code, told


def heads(object: Any, frames: range, names: list[str]) -> np.ndarray:
    """Heads (F, n, 3) in armature space, as Blender evaluates them."""
    rows = [object.data.bones.find(name) for name in names]
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append(read_matrices(object)[rows, :, 3])
    return np.array(found)


def scene_fps() -> float:
    render = bpy.context.scene.render
    return render.fps / render.fps_base


def last_frame() -> int:
    """Of the walk, keyed from frame 1 on."""
    return 1 + int((len(truth().rotations) - 1) * scene_fps() / 30.0)


def truth() -> Any:
    clip = clips.read_clip(WALK)
    points = joint_landmarks(clip.skeleton, find_roles(clip.skeleton), clip.motion.pose)
    landmarks = find_conversion(find_layout("marks"), points)[0](points)
    return estimate_clip(landmarks, np.arange(len(points)) / clip.motion.fps)


def armature() -> Any:
    return next(o for o in bpy.data.objects if o.type == "ARMATURE")


def leg_of(object: Any) -> float:
    """The length of the left leg at rest."""
    joints = [object.data.bones[f"mixamorig:Left{name}"].head_local for name in ("UpLeg", "Leg", "Foot")]
    return sum((b - a).length for a, b in pairwise(joints))


def test_limbs_of_the_rig_point_where_those_of_the_capture_do(tmp_path: Path) -> None:
    code, report = run(tmp_path, "--no-lock")
    assert code == 0
    assert report["frames"] == [1, last_frame()]
    captured = truth()
    for (near, far), (upper, lower) in LIMBS.items():
        for side, word in (("L", "Left"), ("R", "Right")):
            names = [f"mixamorig:{word}{upper}", f"mixamorig:{word}{lower}"]
            frames = range(FIRST, LAST)
            way = np.diff(heads(armature(), frames, names), axis=1)[:, 0]
            at = (np.array(frames) - 1) * 30.0 / scene_fps()
            rows = np.round(at).astype(int)
            landmarks = captured.landmarks[rows]
            said = (landmarks[:, LANDMARK[f"{far}.{side}"]] - landmarks[:, LANDMARK[f"{near}.{side}"]])[
                :, [0, 2, 1]
            ] * [1.0, -1.0, 1.0]
            cosine = np.sum(way * said, axis=1) / np.linalg.norm(way, axis=1) / np.linalg.norm(said, axis=1)
            exact = np.isclose(at, rows)
            assert np.degrees(np.arccos(np.clip(cosine[exact], -1.0, 1.0))).max() < SMALL, names


def test_the_body_goes_as_far_as_the_captured_one_by_the_length_of_its_legs(tmp_path: Path) -> None:
    run(tmp_path, "--no-lock")
    object = armature()
    leg = leg_of(object)
    captured = truth()
    ways = captured.landmarks[:, [LANDMARK["hip.L"], LANDMARK["knee.L"], LANDMARK["ankle.L"]]]
    captured_leg = np.linalg.norm(np.diff(ways, axis=1), axis=-1).sum(axis=1).mean()
    frames = range(1, 1 + last_frame())
    went = np.linalg.norm((lambda h: h[-1, 0] - h[0, 0])(heads(object, frames, ["mixamorig:Hips"])))
    wanted = np.linalg.norm(captured.hips[-1] - captured.hips[0])
    assert went / leg == pytest.approx(wanted / captured_leg, rel=0.1)


def test_feet_that_bear_stand_still_once_they_are_locked(tmp_path: Path) -> None:
    feet = ["mixamorig:LeftFoot", "mixamorig:RightFoot"]
    slides = []
    for options in (("--no-lock",), ()):
        run(tmp_path, *options, source=TRACKED)
        positions = heads(armature(), range(1, 55), feet)
        low = positions[..., 2] < np.percentile(positions[..., 2], 40)
        steps = np.linalg.norm(np.diff(positions[..., :2], axis=0), axis=-1)
        slides.append(steps[low[1:] & low[:-1]].mean())
    assert slides[1] < slides[0]


def test_a_tracker_that_puts_the_hips_at_zero_walks_all_the_same(tmp_path: Path) -> None:
    _, report = run(tmp_path, source=TRACKED)
    assert 3.0 < report["noise"] < 7.0  # millimetres; the file was made with 5
    positions = heads(armature(), range(1, 55), ["mixamorig:Hips"])[:, 0]
    assert np.linalg.norm(positions[-1] - positions[0]) > 0.5 * abs(positions[0, 2])
    assert np.ptp(positions[:, 2]) < 0.2 * positions[0, 2]


def test_ends_are_brought_to_their_points_as_joints_were_learned_to_turn(tmp_path: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(RIG))
    object, stiff = armature(), [f"mixamorig:{side}Arm" for side in ("Left", "Right")]
    skeleton = read_rig(object).skeleton
    known = anatomy(skeleton)
    told = np.isin(skeleton.names, stiff)
    turns, deviations = np.tile(rotation.IDENTITY, (len(skeleton), 1)), 0.02 * known.deviations
    write_tuning(object, skeleton, Tuning(told, turns, deviations))
    learned = tmp_path / "learned.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(learned))
    found = []
    for rig, *options in ((RIG, "--no-lock"), (RIG, "--exact"), (learned, "--exact")):
        code, report = run(tmp_path, *options, rig=rig)
        assert code == 0
        assert all(goal["position_error"]["max"] < 0.005 for goal in report["goals"])
        object, rows = armature(), []
        for frame in range(FIRST, LAST, 5):
            bpy.context.scene.frame_set(frame)
            rows.append([object.pose.bones[name].matrix_basis.to_quaternion() for name in stiff])
        found.append(np.array(rows))
    as_read, known_of_people, as_learned = found
    turned = [rotation.angle_between(as_read, exact).mean() for exact in (known_of_people, as_learned)]
    assert turned[1] < 0.5 * turned[0]


def test_wrists_come_to_their_points_where_that_is_asked(tmp_path: Path) -> None:
    off = []
    for options in (("--no-lock",), ("--exact",)):  # feet are locked by default, but not where ends are to be exact
        code, report = run(tmp_path, *options)
        assert code == 0
        assert len(report["goals"]) == (4 if "--exact" in options else 0)
        assert all(goal["position_error"]["max"] < 0.005 for goal in report["goals"])  # as Blender evaluates
        assert any("Plant Feet had no effect" in note for note in report["notes"]) == ("--exact" in options)
        names = ["mixamorig:LeftFoot", "mixamorig:RightFoot", "mixamorig:LeftHand", "mixamorig:RightHand"]
        found = heads(armature(), range(1, 2), names)[0]
        captured = truth()
        leg = leg_of(armature())
        ways = captured.landmarks[:, [LANDMARK["hip.L"], LANDMARK["knee.L"], LANDMARK["ankle.L"]]]
        scale = leg / np.linalg.norm(np.diff(ways, axis=1), axis=-1).sum(axis=1).mean()
        wrists, ankles = (
            captured.landmarks[0, [LANDMARK[f"{landmark}.{side}"] for side in "LR"]] for landmark in ("wrist", "ankle")
        )
        wanted = scale * (wrists - ankles)[:, [0, 2, 1]] * [1.0, -1.0, 1.0]
        off.append(np.linalg.norm(found[2:] - found[:2] - wanted, axis=-1).max() / leg)
    assert off[1] < 0.02 < off[0]


def test_markers_of_a_c3d_file_move_the_rig_as_points_of_json_do(tmp_path: Path) -> None:
    """Under names that only a mapping knows, in millimetres."""
    layout = find_layout("mediapipe")
    frames = [json.loads(line)["points"] for line in TRACKED.read_text(encoding="utf-8").splitlines()]
    points = np.array([[[np.nan] * 3 if point is None else point[:3] for point in frame] for frame in frames])
    names = [f"M{number}" for number in range(len(layout.points))]
    writer = c3d.Writer(point_rate=30.0)
    writer.set_point_labels(names)
    for frame in points:
        seen = ~np.isnan(frame[:, :1])
        rows = [1000.0 * np.nan_to_num(frame), np.where(seen, 0.0, -1.0), 0.0 * seen]
        writer.add_frames((np.concatenate(rows, axis=1).astype(np.float32), np.zeros((0, 0))))
    with (tmp_path / "walk.c3d").open("wb") as file:
        writer.write(file)
    landmarks = {
        landmark: [names[layout.points.index(point)] for point in own] for landmark, own in layout.landmarks.items()
    }
    (tmp_path / "mine.json").write_text(json.dumps({"marks": landmarks, "up": "-Y"}), encoding="utf-8")

    found = []
    for source, options in ((TRACKED, ()), (tmp_path / "walk.c3d", ("--mapping", str(tmp_path / "mine.json")))):
        code, report = run(tmp_path, "--no-lock", "--fps", "30", *options, source=source)
        assert code == 0
        assert report["metres"] == (1.0 if source is TRACKED else 0.001)
        found.append(heads(armature(), range(1, 40, 6), ["mixamorig:LeftHand", "mixamorig:RightFoot"]))
    np.testing.assert_allclose(found[1], found[0], atol=1e-4 * leg_of(armature()))


def test_a_mapping_is_refused_in_its_own_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for text, sentence in (
        ('{"marks": {"belly": ["A"]}}', 'no mark "belly"'),
        ('{"marks": {"hip.L": "A"}}', "needs a list of marker names"),
        ("{", "is not JSON"),
        (None, "cannot be read"),
    ):
        file = tmp_path / "mapping.json"
        file.unlink(missing_ok=True)
        if text is not None:
            file.write_text(text, encoding="utf-8")
        assert run(tmp_path, "--mapping", str(file), source=TRACKED)[0] == 2
        assert sentence in capfd.readouterr().err


def test_a_mapping_says_which_bones_of_a_figure_are_its_parts(tmp_path: Path) -> None:
    file = tmp_path / "parts.json"
    file.write_text(json.dumps({"version": 1, "roles": {"head": None, "neck": None}}), encoding="utf-8")
    for options, shown in (((), True), (("--mapping", str(file)), False)):
        _, report = run(tmp_path, "--no-lock", "--overwrite", *options)
        assert any("the head" in note for note in report["notes"]) != shown


def test_times_are_heeded_and_an_unlikely_clock_is_refused_until_a_rate_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [json.loads(line) for line in TRACKED.read_text(encoding="utf-8").splitlines()]
    for name, frames, factor in (("gap", lines[:20] + lines[50:70], 1.0), ("milliseconds", lines[:20], 1000.0)):
        text = "\n".join(json.dumps(line | {"time": factor * line["time"]}) for line in frames)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    _, report = run(tmp_path, "--no-lock", source=tmp_path / "gap.jsonl")
    assert report["frames"] == [1, 1 + int(69 / 30.0 * scene_fps() + 0.01)]
    (tmp_path / "out.blend").unlink()
    assert run(tmp_path, source=tmp_path / "milliseconds.jsonl")[0] == 2
    assert "times must be in seconds" in capfd.readouterr().err
    _, report = run(tmp_path, "--no-lock", "--fps", "30", source=tmp_path / "milliseconds.jsonl")
    assert (report["frames"], report["fps"]) == ([1, 1 + int(19 / 30.0 * scene_fps())], 30.0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--layout", "coco17"), "17 points, but a frame has 33"),
        (("--unit", "mm"), "does not fit a human body. Try m as the unit"),
        (("--up", "+Z", "--no-lock"), None),
        (("--fps", "-1"), "--fps: must be a positive number"),
        (("--armature", "nobody"), 'No armature "nobody"'),
    ],
)
def test_what_cannot_be_read_is_refused_and_nothing_is_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], options: tuple[str, ...], sentence: str | None
) -> None:
    code, _ = run(tmp_path, *options, source=TRACKED)
    if sentence is None:  # another axis than the layout's may be said
        assert code == 0
        return
    assert code == 2
    assert sentence in capfd.readouterr().err
    assert not (tmp_path / "out.blend").exists()


def curves(action: Any) -> list[Any]:
    return [*action.layers[0].strips[0].channelbags[0].fcurves]


def test_other_bones_other_actions_and_the_input_stay_as_they_are(tmp_path: Path) -> None:
    before = TRACKED.read_bytes()
    bpy.ops.wm.open_mainfile(filepath=str(RIG))
    old = bpy.data.actions.new("old")
    armature().animation_data_create().action = old
    armature().pose.bones["mixamorig:LeftArm"].keyframe_insert("rotation_quaternion", frame=500)
    finger = armature().pose.bones["mixamorig:LeftHandIndex1"]
    finger.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    finger.keyframe_insert("rotation_quaternion", frame=1)
    keys = [key.co.y for curve in curves(old) for key in curve.keyframe_points]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "in.blend"), copy=True)
    _, report = run(tmp_path, "--no-lock", source=TRACKED, rig=tmp_path / "in.blend")
    assert TRACKED.read_bytes() == before
    assert [key.co.y for curve in curves(bpy.data.actions["old"]) for key in curve.keyframe_points] == keys
    new = bpy.data.actions[report["action"]]
    assert new.frame_range[1] == report["frames"][1]  # nothing of the old motion goes on behind the new one
    assert not [curve for curve in curves(new) if "Index1" in curve.data_path]
    np.testing.assert_allclose(
        armature().pose.bones["mixamorig:LeftHandIndex1"].rotation_quaternion, (0.8, 0.6, 0, 0), atol=1e-6
    )


def test_the_operator_keys_a_file_in_one_undo_step_and_says_so(tmp_path: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(RIG))
    bpy.context.view_layer.objects.active = armature()
    assert bpy.ops.poise.import_keypoints(filepath=str(TRACKED), lock_feet=False) == {"FINISHED"}
    assert armature().animation_data.action.frame_range[1] > 50
    few = [json.loads(line)["points"] for line in TRACKED.read_text(encoding="utf-8").splitlines()[:3]]
    order = [find_layout("mediapipe").points.index(name) for name in find_layout("coco17").points]
    file = tmp_path / "other.json"  # the layout that a file says
    file.write_text(json.dumps({"layout": "coco17", "up": "-Y", "frames": [[f[n] for n in order] for f in few]}))
    assert bpy.ops.poise.import_keypoints(filepath=str(file)) == {"FINISHED"}
    file.write_text(
        json.dumps({"layout": "coco17", "up": "-Y", "fps": scene_fps(), "frames": [[f[n] for n in order] for f in few]})
    )
    for rate, last in (({}, 3), ({"fps": scene_fps() / 2.0}, 5)):  # that of the file, unless another one is set
        assert bpy.ops.poise.import_keypoints(filepath=str(file), **rate) == {"FINISHED"}
        assert armature().animation_data.action.frame_range[1] == last
    with pytest.raises(RuntimeError, match="cannot be read"):
        bpy.ops.poise.import_keypoints(filepath=str(tmp_path / "none.json"))
