"""A captured walk with jitter and pops on its keys, smoothed, as Blender evaluates it."""

import json
import re
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import commands
from edits.smoothing import SmoothEdit
from tests.blender.control_drags import RIGS, key_step
from tests.blender.edits.rigs import heads_over
from tests.blender.rigs import contents, context, curves, load
from tests.paths import DATA, SHARED

pytestmark = [pytest.mark.usefixtures("empty_file"), pytest.mark.long]
FRAMES = (2, 66)


def spoil(rig: Any, noise: float = 0.02, pop: str = "LeftForeArm") -> None:
    """Put white noise on all rotation keys, and one frame of a forearm far off."""
    rng = np.random.default_rng(11)
    for (path, _), curve in curves(rig.animation_data.action, rig).items():
        for point in curve.keyframe_points:
            off = 1.5 if pop in path and point.co.x == 30 else 0.0
            point.co.y += noise * rng.normal() + off if path.endswith("rotation_euler") else 0.0
        curve.update()


@pytest.fixture
def walker() -> Any:
    return load(DATA / "motion" / "cmu_07_12.bvh")[0]


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Root mean square distance of the heads."""
    return float(np.sqrt(np.square(one - other).sum(axis=-1).mean()))


def test_jitter_and_pops_go_and_the_walk_stays(walker: Any) -> None:
    clean = heads_over(walker, *FRAMES)
    spoil(walker)
    rough = heads_over(walker, *FRAMES)
    edit = SmoothEdit(context, walker, FRAMES)
    edit.solve()
    report = edit.write(walker)
    assert report.pose is not None
    assert report.pose.met.all()
    smooth = heads_over(walker, *FRAMES)
    assert apart(smooth, clean) < 0.6 * apart(rough, clean)
    hand = walker.pose.bones.find("LeftHand")
    assert apart(smooth[26:31, hand], clean[26:31, hand]) < 0.15 * apart(rough[26:31, hand], clean[26:31, hand])
    shaken = [np.sqrt(np.square(np.diff(one, 3, axis=0)).mean()) for one in (rough, smooth, clean)]
    assert shaken[1] < 1.4 * shaken[2]
    assert shaken[1] < 0.4 * shaken[0]
    fastest = [np.linalg.norm(np.diff(one, axis=0), axis=-1).max() for one in (smooth, clean)]
    assert fastest[0] > 0.9 * fastest[1]


def test_feet_on_the_ground_stand_still(walker: Any) -> None:
    spoil(walker, 0.01)
    edit = SmoothEdit(context, walker, FRAMES)
    edit.solve()
    edit.write(walker)
    assert edit.pins
    seen, height = heads_over(walker, *FRAMES), walker.dimensions.z
    toes = {walker.pose.bones.find(name) for name in ("LeftToeBase", "RightToeBase")}
    balls = [pin for pin in edit.pins if edit.skeleton.index(pin.bone) in toes and not np.any(pin.point)]
    assert balls
    for pin in balls:
        on = slice(max(int(pin.start), FRAMES[0]) - FRAMES[0], int(pin.end) - FRAMES[0] + 1)
        assert np.ptp(seen[on, edit.skeleton.index(pin.bone)], axis=0).max() < 1e-3 * height


def test_a_rest_pose_before_the_motion_stays_and_pulls_at_nothing(walker: Any) -> None:
    before = heads_over(walker, 1, FRAMES[1])
    found = []
    for first in (1, 2):  # the clip begins with its rest pose
        edit = SmoothEdit(context, walker, (first, FRAMES[1]))
        edit.solve()
        source, name = walker.animation_data.action, edit.write(walker).action
        found.append(heads_over(walker, 1, FRAMES[1]))
        assert ("the body jumps at frame 1, which stays as it is" in edit.summary()) == (first == 1)
        walker.animation_data.action = source
        bpy.data.actions.remove(bpy.data.actions[str(name)])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0][0], before[0])


def seen_ends(rig: Any, first: int, last: int) -> np.ndarray:
    """Heads and tails of all bones in the world as Blender shows them, (F, 2 J, 3)."""
    found: list[list[Any]] = []
    for frame in range(first, last + 1):
        context.scene.frame_set(frame)
        found.append([rig.matrix_world @ end for bone in rig.pose.bones for end in (bone.head, bone.tail)])
    return np.array(found)


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("quaternius_female_casual", "Female_Punch"),
        ("quaternius_snake", "Snake_Jump"),
    ],
)
def test_quick_motions_of_games_have_no_pops_and_the_report_has_what_moves_most(name: str, action: str) -> None:
    rig = max(load(SHARED / "rigs" / "real" / f"{name}.fbx"), key=lambda one: len(one.data.bones))
    data = rig.animation_data or rig.animation_data_create()
    data.action = next(one for one in bpy.data.actions if one.name.endswith(action))
    data.action_slot = data.action_suitable_slots[0]
    first, last = map(int, data.action.frame_range)
    before = seen_ends(rig, first, last)
    edits = [SmoothEdit(context, rig, (first, last), pop=pop) for pop in (20.0, 0.0)]
    for edit in edits:
        edit.solve()
    np.testing.assert_allclose(edits[0].after.pose.rotations, edits[1].after.pose.rotations, atol=1e-12)
    said = re.search(r"at most ([\d.]+) cm, at frame (\d+)", edits[0].summary())
    edits[0].write(rig)
    far = np.linalg.norm(seen_ends(rig, first, last) - before, axis=-1).max(axis=1)
    assert said is not None
    assert float(said[1]) == pytest.approx(100.0 * far.max(), rel=0.01)
    assert int(said[2]) == first + far.argmax()


@pytest.mark.parametrize("plant", [True, False])
def test_other_frames_and_other_bones_stay(walker: Any, plant: bool) -> None:
    spoil(walker)
    before = heads_over(walker, *FRAMES)
    edit = SmoothEdit(context, walker, (20, 40), ["arm.L"], plant=plant)
    edit.solve()
    edit.write(walker)
    after = heads_over(walker, *FRAMES)
    arm = {
        number for number, bone in enumerate(walker.pose.bones)
        if any(above.name in ("LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand") for above in bone.parent_recursive)
    }  # fmt: skip
    moved = {*np.flatnonzero(np.abs(after - before).max(axis=(0, 2)) > 1e-5 * walker.dimensions.z).tolist()}
    assert moved
    assert moved <= arm
    outside = np.r_[0 : 21 - FRAMES[0], 40 - FRAMES[0] : len(before)]  # the ends of the range stay, too
    np.testing.assert_allclose(after[outside], before[outside], atol=1e-5 * walker.dimensions.z)


def keys_of(rig: Any) -> dict[tuple[str, int], list[tuple[float, float]]]:
    """Frames and values of all keys by channel."""
    return {
        channel: [(point.co.x, point.co.y) for point in curve.keyframe_points]
        for channel, curve in curves(rig.animation_data.action, rig).items()
    }


LEG = ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"]


@pytest.mark.parametrize(("bones", "held"), [(["Hips"], ""), (LEG[:2], ""), (LEG, "Left"), (["Hips", *LEG], "")])
def test_feet_are_held_where_their_legs_are_chosen_and_all_else_stays_as_it_was(
    walker: Any, bones: list[str], held: str
) -> None:
    spoil(walker, 0.01)
    before = keys_of(walker)
    edit = SmoothEdit(context, walker, FRAMES, bones)
    edit.solve()
    names = {edit.skeleton.names[edit.skeleton.index(pin.bone)] for pin in edit.pins}
    assert bool(names) == bool(held)
    assert names <= {*LEG}
    edit.write(walker)
    after = keys_of(walker)
    changed = {channel[0].split('"')[1] for channel in before if before[channel] != after[channel]}
    assert changed <= {*bones}
    assert changed


def test_the_operator_and_the_verb(walker: Any, tmp_path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    given = ["--blend", str(tmp_path / "walk.blend"), "--output", str(tmp_path / "smooth.blend")]
    assert (
        commands.run(
            ["smooth", "--frames", "2", "66", "--cutoff", "4", "--report", str(tmp_path / "report.json"), *given]
        )
        == 0
    )
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["method"] == "smooth"
    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    context.view_layer.objects.active = rig
    action = rig.animation_data.action
    assert bpy.ops.poise.smooth_motion(cutoff=3.0) == {"FINISHED"}
    assert rig.animation_data.action != action


@pytest.mark.parametrize(
    ("option", "sentence"),
    [("--cutoff=0", "cutoff of smoothing must be between 0.1 and 1000 Hz"), ("--pops=-1", "between 0 and 180 degrees"),
     ("--pops=nan", "between 0 and 180 degrees"), ("--bones=tail", 'no "tail"')],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_and_nothing_changes(
    walker: Any, option: str, sentence: str, tmp_path: Path, capsys: Any
) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    before = contents()
    given = ["--blend", str(tmp_path / "walk.blend"), "--output", str(tmp_path / "out.blend")]
    assert commands.run(["smooth", option, *given]) == 2
    assert sentence in capsys.readouterr().err
    assert contents() == before


@pytest.mark.parametrize(
    ("chosen", "moves"),
    [pytest.param("arm.L", "hand.L", marks=pytest.mark.long), ("hand_ik.L", "forearm.L"), ("torso", "spine.003")],
)
def test_parts_of_a_control_rig_are_smoothed_by_the_names_of_roles_and_controls(chosen: str, moves: str) -> None:
    """Roles were asked of the body, which has fewer bones than the rig: the tool failed. With the torso the controls
    of hands and feet were moved along.
    """
    rig, _ = RIGS["Rigify on IK"]()
    key_step(rig, (1, 20, 40))
    before = heads_over(rig, 1, 40)
    edit = SmoothEdit(context, rig, (1, 40), [chosen], cutoff=1.0, plant=False)
    edit.solve()
    was = curves(rig.animation_data.action, rig)
    points = {key: len(curve.keyframe_points) for key, curve in was.items() if "_ik" in key[0] and ".R" in key[0]}
    edit.write(rig)
    moved = np.linalg.norm(heads_over(rig, 1, 40) - before, axis=-1).max(axis=0)
    assert moved[rig.pose.bones.find(f"DEF-{moves}")] > 1e-3
    still = "foot" if chosen == "torso" else "shin"
    assert max(moved[rig.pose.bones.find(f"DEF-{still}.{side}")] for side in "LR") < 1e-4
    assert moved[rig.pose.bones.find("DEF-hand.R")] < 1e-4
    now = curves(rig.animation_data.action, rig)
    assert {key: len(now[key].keyframe_points) for key in points} == points
