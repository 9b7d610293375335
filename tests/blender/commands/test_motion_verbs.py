"""Motions made and changed headless: `generate` and `lock-feet`, measured in Blender."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from core.formats.recipe import PRESETS
from tests.blender.commands.rigs import Run
from tests.blender.rigs import contents, context, load, make_armature, make_ik_body, make_walk, world
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

HUMANOIDS = (
    DATA / "rigs" / "named_mixamo_cm.blend",
    DATA / "rigs" / "odd_random_rolls_apose.blend",
    DATA / "rigs" / "odd_object_nonuniform_rotated.blend",
    DATA / "rigs" / "xsens_motive_tpose.bvh",
    SHARED / "rigs" / "scripted" / "named_unreal_apose.blend",
    SHARED / "rigs" / "real" / "vrm_multi_root.blend",
)


def places(rig: Any, role: str, frames: range) -> np.ndarray:
    """Where the bone of a role is in the world, as Blender evaluates it."""
    read = bridge.read_rig(rig)
    name = read.skeleton.names[bridge.read_roles(rig, read.skeleton).bones[role]]
    found = []
    for frame in frames:
        context.scene.frame_set(frame)
        found.append(world(rig, name))
    return np.array(found)


def heights(rig: Any, role: str, frames: range) -> np.ndarray:
    """Of a role, by its range over the frames."""
    found = places(rig, role, frames)[:, 2]
    return (found - found.min()) / np.ptp(found)


@pytest.mark.parametrize("path", HUMANOIDS, ids=lambda path: path.stem)
def test_the_presets_run_on_any_human_body(run: Run, path: Path) -> None:
    rig = load(path)[0]
    name = rig.name
    context.scene.render.fps = 30
    feet: dict[str, np.ndarray] = {}
    for preset in ("wave", "jump"):
        code, report, error = run("generate", "--recipe", f"{preset}.json", "--armature", name, "--start", 1, "--json")
        assert code == 0, error
        assert report["action"] == f"{name} {preset}"
        assert report["frames"] == [1, 1 + round(context.scene.render.fps * (3.0 if preset == "wave" else 2.0))]
        feet[preset] = np.ptp(places(rig, "foot.L", range(1, 21)), axis=0)
        if preset == "wave":
            hand, shoulder = places(rig, "hand.R", range(1, 91)), places(rig, "upper_arm.R", range(1, 91))
            assert (hand[:, 2] > shoulder[:, 2]).all()
            assert np.ptp(hand, axis=0).max() > 0.3 * np.linalg.norm(hand - shoulder, axis=1).max()
    rise = float(np.ptp(places(rig, "hips", range(1, 62))[:, 2]))
    assert (feet["jump"] < 1e-4 * rise).all()  # they are pinned until they leave the ground
    height = heights(rig, "hips", range(1, 62))
    assert height[15] < 0.05  # deepest squat at 0.5 s
    assert height[27:31].max() == 1.0  # and highest in the middle of the flight
    foot = places(rig, "foot.L", range(1, 62))[:, 2]
    np.testing.assert_allclose(foot[[0, -1]], foot.min(), atol=1e-3 * rise)  # on one ground


def test_in_flight_the_hips_fall_as_a_stone_does(run: Run) -> None:
    recipe = {
        "version": 1, "name": "throw", "seconds": 1.0, "poses": {"min": {}, "max": {}},
        "path": {"samples": [[0, 0, 0, 0], [0.5, 0, 0.2, 0], [1, 0, 0.4, 0]]}, "flights": [[0.2, 0.8]],
    }  # fmt: skip
    rig = load(DATA / "rigs" / "odd_random_rolls_apose.blend")[0]
    context.scene.render.fps = 100
    path = Path(bpy.app.tempdir) / "throw.json"
    path.write_text(json.dumps(recipe), encoding="utf-8")
    code, _, error = run("generate", "--recipe", path, "--start", 1)
    assert code == 0, error
    height = places(rig, "hips", range(23, 80))[:, 2]
    fall = np.diff(height, 2) * 100.0**2
    size = bridge.read_rig(rig).skeleton.size
    np.testing.assert_allclose(fall, -9.81 * size, rtol=0.02)


def test_a_recipe_takes_its_poses_from_frames_and_actions(run: Run) -> None:
    rig = make_armature()
    make_walk(rig)
    walk = rig.animation_data.action
    recipe = {
        "version": 1, "seconds": 1.0, "poses": {"min": {"frame": 1}, "max": {"action": walk.name, "frame": 20}},
        "tracks": [{"bones": ["hips", "upper_arm.R"], "samples": [0, 1], "weights": [10, 10]}],
    }  # fmt: skip
    read = bridge.read_rig(rig)
    wanted, _ = bridge.read_motion(rig, read, [1, 20])
    path = Path(bpy.app.tempdir) / "between.json"
    path.write_text(json.dumps(recipe), encoding="utf-8")
    code, report, error = run("generate", "--recipe", path, "--start", 101, "--json")
    assert code == 0, error
    assert walk.name in bpy.data.actions
    found, _ = bridge.read_motion(rig, read, [101, report["frames"][1]])
    bone = read.skeleton.index("upper_arm.R")
    np.testing.assert_allclose(
        np.abs(np.sum(found.pose.rotations[:, bone] * wanted.pose.rotations[:, bone], axis=1)), 1.0, atol=1e-6
    )


def test_a_recipe_is_made_with_the_keys_that_a_tolerance_needs_and_a_bake_keys_what_is_seen(run: Run) -> None:
    rig = make_ik_body()
    context.scene.render.fps = 10
    code, _, error = run("generate", "--recipe", "wave", "--start", 1, "--tolerance", 0.02)
    assert code == 0, error
    counts = {curve.data_path: len(curve.keyframe_points) for curve in bridge.motion.active_curves(rig)}
    assert counts['pose.bones["upper_arm.R"].rotation_quaternion'] < 20
    before = np.array([places_of_all(rig, frame) for frame in (1, 14, 31)])
    code, _, error = run("bake", "--visual", "--mute")
    assert code == 0, error
    assert all(constraint.mute for bone in rig.pose.bones for constraint in bone.constraints)
    np.testing.assert_allclose([places_of_all(rig, frame) for frame in (1, 14, 31)], before, atol=1e-4)
    code, _, error = run("bake", "--mute")
    assert code == 2
    assert "only works with Visual" in error


def places_of_all(rig: Any, frame: int) -> np.ndarray:
    context.scene.frame_set(frame)
    return bridge.read_matrices(rig)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version: this Poise reads"),
        ({"seconds": 0}, "seconds: must be more than 0"),
        ({"poses": {"min": {}}}, "poses.max: missing"),
        ({"poses": {"min": {}, "max": {"arm": [0, 0]}}}, "poses.max.arm: needs 3 numbers"),
        ({"poses": {"min": {}, "max": {"forarm.R": [0, 0, 0]}}}, 'No joint "forarm.R" in a body; did you mean'),
        ({"tracks": [{"parts": ["tail"], "samples": [0, 1]}]}, 'The body has no "tail"'),
        ({"tracks": [{"parts": "all", "samples": [[0, 0], [0, 1]]}]}, "times of the samples must increase"),
        ({"tracks": [{"parts": "all", "smaples": [0, 1]}]}, 'did you mean "samples"'),
        ({"path": {"samples": [1, 2]}}, "needs a time and a location"),
        ({"supports": [{"role": "foot.L", "seconds": [1, 0]}]}, "the range runs backwards"),
        ({"poses": {"min": {"action": "none"}, "max": {}}}, 'no action "none"'),
    ],
)
def test_a_bad_recipe_is_refused_and_changes_nothing(run: Run, change: dict[str, Any], message: str) -> None:
    load(DATA / "rigs" / "odd_random_rolls_apose.blend")
    recipe = json.loads((PRESETS / "wave.json").read_text(encoding="utf-8")) | change
    path = Path(bpy.app.tempdir) / "bad.json"
    path.write_text(json.dumps(recipe), encoding="utf-8")
    before = contents()
    code, _, error = run("generate", "--recipe", path)
    assert (code, message in error) == (2, True), error
    assert contents() == before


@pytest.fixture
def sliding() -> Any:
    """A captured walk that slides sideways, 0.3 m/s."""
    (rig,) = load(DATA / "motion" / "cmu_07_12.bvh")
    rig.name = "walker"
    curve = next(c for c in bridge.motion.active_curves(rig) if c.data_path.endswith("location"))
    unit = 1.0 / bridge.read_rig(rig).skeleton.size
    for key in curve.keyframe_points:
        slide = 0.3 / unit * key.co[0] / 30.0
        for point in (key.co, key.handle_left, key.handle_right):
            point[1] += slide
    curve.update()
    return rig


def test_feet_are_locked_and_the_motion_that_was_is_kept(run: Run, sliding: Any) -> None:
    first, last = (int(frame) for frame in sliding.animation_data.action.frame_range)
    source = sliding.animation_data.action.name
    before = contents()["actions"]
    code, report, error = run("lock-feet", "--frames", first + 1, last, "--json")
    assert code == 0, error
    assert report["skating"]["after"] < 0.01
    assert len(report["goals"]) >= 8
    assert all(goal["met"] for goal in report["goals"])
    assert sliding.animation_data.action.name == f"{source} poise"
    after = contents()["actions"]
    assert {name: after[name] for name in before} == before
    touch = max(report["goals"], key=lambda goal: goal["frames"][1] - goal["frames"][0])
    assert touch["position_error"]["max"] < 1e-4


def test_hands_and_bones_by_name_are_locked_as_feet_are(run: Run, sliding: Any) -> None:
    code, report, error = run("lock-feet", "--points", "LeftToeBase", "--frames", 10, 60, "--json")
    assert code == 0, error
    assert {goal["bone"] for goal in report["goals"]} == {"LeftToeBase"}
    code, _, error = run("lock-feet", "--points", "LeftTeoBase")
    assert code == 2
    assert 'did you mean "LeftToeBase"' in error


def test_drag_frame_moves_a_bone_at_one_frame_in_a_new_action(run: Run) -> None:
    rig = load(DATA / "motion" / "cmu_07_12.bvh")[0]
    rig.select_set(True)
    action, frames = rig.animation_data.action, range(34, 47)
    before = places(rig, "hand.L", frames)
    far = 0.1 * bridge.read_rig(rig).skeleton.size
    code, report, error = run(
        "drag-frame", "--bone", "hand.L", "--frame", 40, "--shift", 0, 0, far, "--falloff", 3, "--json"
    )
    assert code == 0, error
    assert report["action"] == rig.animation_data.action.name != action.name
    moved = places(rig, "hand.L", frames) - before
    np.testing.assert_allclose(moved[6], [0.0, 0.0, far], atol=1e-2 * far)
    assert np.abs(moved[[0, 1, 2, 3, 9, 10, 11, 12]]).max() < 1e-3 * far
    code, _, error = run("drag-frame", "--bone", "hand.L", "--frame", 4000, "--shift", 0, 0, far)
    assert code == 2
    assert "not 4000" in error


@pytest.mark.parametrize(
    "words",
    [
        ("root-motion", "--to", "object"),
        ("make-loop", "--no-feet"),
        ("fix-ground",),
        ("smooth", "--no-feet"),
        ("in-betweens", "--no-feet"),
        ("grip", "--object", "Cube", "--key"),
        ("keypoints", "--input", "docs/examples/walk_keypoints.jsonl", "--no-lock", "--raw"),
        ("export-vrma", "--file", "{folder}/o.vrma"),
    ],
    ids=lambda words: words[0],
)
def test_verbs_print_what_their_schema_says(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    """`run` holds all that verbs print against its schema; those of the others are in the tests beside this one."""
    rig = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    for frame, angle in ((1, 0.0), (6, 0.4), (11, 0.1)):
        bone = rig.pose.bones["mixamorig:LeftArm"]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.mesh.primitive_cube_add(size=0.05, location=world(rig, "mixamorig:LeftHandMiddle1"))
    code, data, error = run(*(word.format(folder=tmp_path) for word in words))
    assert code in (0, 1), error
    assert data["armature"] == rig.name
