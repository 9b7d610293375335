"""Motions from two key poses in Blender: stored poses, samples as keys of curves, and the motion made anew of them."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from core.editing.contacts import foot_points, point_positions
from core.formats.recipe import parse_recipe
from core.generate import fit_curve
from edits.generate import Generated
from panels.generate import POISE_PT_generate, POISE_PT_generate_advanced
from properties.generate import label_of
from tests.blender.edits.rigs import again, curve, keyed, overridden, phases_of, stand
from tests.blender.rigs import contents, context, drawn_by, load, make_armature, select, turn
from tests.paths import DATA

pytestmark = [pytest.mark.usefixtures("empty_file"), pytest.mark.long]


@pytest.fixture
def rig() -> Any:
    """A body whose stored poses differ by 90 degrees of one arm, at 25 frames a second."""
    object = make_armature()
    select(object, ["upper_arm.R"])
    context.scene.render.fps = 25
    assert bpy.ops.poise.store_pose(pose="MIN") == {"FINISHED"}
    turn(object, "upper_arm.R", np.pi / 2)
    assert bpy.ops.poise.store_pose(pose="MAX") == {"FINISHED"}
    return object


def test_a_motion_goes_from_the_min_to_the_max_pose_and_back(rig: Any) -> None:
    before = [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]
    assert bpy.ops.poise.generate(recipe="own", seconds=2.0, start=11) == {"FINISHED"}
    action = rig.animation_data.action
    assert action == rig.poise_generated
    angles = [2.0 * np.arccos(min(1.0, abs(stand(rig, "upper_arm.R", frame)[0]))) for frame in (11, 36, 61)]
    np.testing.assert_allclose(angles, [0.0, np.pi / 2, 0.0], atol=0.02)
    samples = curve(rig, "poise_tracks[0].offset")
    np.testing.assert_allclose([tuple(key.co) for key in samples.keyframe_points], [[11, 0], [36, 1], [61, 0]])
    fitted = curve(rig, "poise_tracks[0].fit")
    samples = np.array([[0.0], [1.0], [0.0]])
    wanted = fit_curve([0.0, 1.0, 2.0], samples).staying(samples)(np.arange(51) / 25.0)[:, 0]
    np.testing.assert_allclose([key.co[1] for key in fitted.keyframe_points], wanted, atol=1e-5)
    assert len(before) == len(rig.pose.bones)


def test_an_offset_that_is_changed_shows_in_the_present_frame_without_keys(rig: Any) -> None:
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    context.scene.frame_set(14)
    keyed, actions = stand(rig, "upper_arm.R", 14), contents()["actions"]
    rig.poise_tracks[0].offset = 0.25
    context.view_layer.update()
    turned = 2.0 * np.arccos(np.array(rig.pose.bones["upper_arm.R"].matrix_basis.to_quaternion())[0])
    assert turned == pytest.approx(0.25 * np.pi / 2, abs=1e-3)
    assert rig.poise_tracks[0].offset == pytest.approx(0.25)
    assert contents()["actions"] == actions
    np.testing.assert_allclose(stand(rig, "upper_arm.R", 14), keyed, atol=1e-6)  # and is gone


def test_a_width_that_is_changed_shows_what_generating_anew_makes_of_it(rig: Any) -> None:
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    keyed = stand(rig, "upper_arm.R", 8)
    rig.poise_tracks[0].width = 0.3
    context.view_layer.update()
    shown = np.array(rig.pose.bones["upper_arm.R"].matrix_basis.to_quaternion())
    assert np.abs(shown - keyed).max() > 0.01
    bpy.ops.poise.regenerate()
    np.testing.assert_allclose(stand(rig, "upper_arm.R", 8), shown, atol=1e-4)


def test_bones_get_samples_of_their_own_and_give_them_up_again(rig: Any) -> None:
    turn(rig, "upper_arm.L", np.pi / 2)
    bpy.ops.poise.store_pose(pose="MAX")
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    select(rig, ["upper_arm.R"])
    both = [stand(rig, bone, 26) for bone in ("upper_arm.R", "upper_arm.L")]
    assert bpy.ops.poise.add_track(part="SELECTED") == {"FINISHED"}
    assert [label_of(track) for track in rig.poise_tracks] == ["all", "upper_arm.R"]
    curve(rig, "poise_tracks[1].offset").keyframe_points[1].co = (26, 0.0)
    bpy.ops.poise.regenerate()
    assert stand(rig, "upper_arm.R", 26)[0] == pytest.approx(1.0, abs=1e-3)  # it stays in the min pose
    np.testing.assert_allclose(stand(rig, "upper_arm.L", 26), both[1], atol=1e-5)

    rig.poise_active_track = 1
    assert bpy.ops.poise.remove_track() == {"FINISHED"}
    bpy.ops.poise.regenerate()
    np.testing.assert_allclose(stand(rig, "upper_arm.R", 26), both[0], atol=1e-5)
    with pytest.raises(RuntimeError, match="at least one track"):
        bpy.ops.poise.remove_track()


def test_the_root_goes_where_samples_of_its_path_are_keyed(rig: Any) -> None:
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    root = next(bone.name for bone in rig.pose.bones if bone.parent is None)
    context.scene.frame_set(26)
    start = np.array(rig.pose.bones[root].head)
    rig.poise_path = 0.0, 0.0, 0.5
    context.view_layer.update()
    shown = np.array(rig.pose.bones[root].head)
    assert np.linalg.norm(shown - start) > 0.1  # at once, without keys
    for frame, height in ((1, 0.0), (26, 0.5), (51, 0.0)):
        rig.poise_path = 0.0, 0.0, height
        rig.keyframe_insert("poise_path", frame=frame)
    assert bpy.ops.poise.regenerate() == {"FINISHED"}
    context.scene.frame_set(26)
    np.testing.assert_allclose(np.array(rig.pose.bones[root].head), shown, atol=0.02)
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)  # from scratch: its recipe has no path
    context.scene.frame_set(26)
    np.testing.assert_allclose(np.array(rig.pose.bones[root].head), start, atol=1e-4)


def test_what_stands_and_flies_is_listed_and_can_be_changed(rig: Any, capfd: pytest.CaptureFixture[str]) -> None:
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    assert not len(rig.poise_phases)
    select(rig, ["forearm.R"])
    assert bpy.ops.poise.add_phase(part="SELECTED", start=20, end=30) == {"FINISHED"}
    rig.poise_phases[0].frame = 24
    bpy.ops.poise.regenerate()
    heads = []
    for frame in range(20, 31):
        context.scene.frame_set(frame)
        heads.append(np.array(rig.pose.bones["forearm.R"].head))
    assert np.ptp(heads, axis=0).max() < 1e-3

    rig.poise_phases[0].kind = "FLIGHT"
    rig.poise_phases[0].start, rig.poise_phases[0].end = 11, 36
    bpy.ops.poise.regenerate()
    root, heights = next(bone.name for bone in rig.pose.bones if bone.parent is None), []
    for frame in (11, 21, 36):
        context.scene.frame_set(frame)
        heights.append(rig.pose.bones[root].head.z)
    size = bridge.read_rig(rig).skeleton.size
    np.testing.assert_allclose(np.diff(heights), np.array([1.0, -1.0]) * 0.5 * 9.81 * size * 0.4 * 0.6, rtol=1e-3)

    bpy.ops.poise.add_phase(part="foot.L", start=8, end=13)
    for end, message in (
        (5, "A flight must start before it ends"),
        (10**6, "The flight from frame 11 to 1000000 ends after the motion"),
        (36, r'"foot.L" and "flight" overlap at frame 11'),
    ):
        rig.poise_phases[0].end = end
        before = contents()
        with pytest.raises(RuntimeError, match=message):
            bpy.ops.poise.regenerate()
        assert contents() == before
    assert bpy.ops.poise.remove_phase() == {"FINISHED"}
    capfd.readouterr()
    assert bpy.ops.poise.remove_phase() == {"FINISHED"}
    assert "Info: Removed flight" in "".join(capfd.readouterr())  # not by the part that it was a support of
    bpy.ops.poise.regenerate()
    context.scene.frame_set(21)
    assert rig.pose.bones[root].head.z == pytest.approx(heights[0], abs=1e-5)


def test_samples_weigh_what_their_keys_say(rig: Any) -> None:
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    assert bpy.ops.poise.weigh_samples() == {"FINISHED"}
    weights = curve(rig, "poise_tracks[0].weight")
    np.testing.assert_allclose([tuple(key.co) for key in weights.keyframe_points], [[1, 0.1], [26, 0.1], [51, 0.1]])
    with_own = [kind for kind, name in drawn_by(POISE_PT_generate_advanced) if name == "co"]
    assert len(with_own) == 3 * 2
    weights.keyframe_points[1].co[1] = 0.9
    curve(rig, "poise_tracks[0].offset").keyframe_points[1].co = (31, 0.5)
    rig.poise_tracks[0].gamma = 10.0
    rig.poise_stay = False  # else the curve goes through all samples, whatever they weigh
    bpy.ops.poise.regenerate()
    wanted = fit_curve([0.0, 1.2, 2.0], [0.0, 0.5, 0.0], [0.1, 0.9, 0.1], gamma=10.0)(np.arange(51) / 25.0)[:, 0]
    np.testing.assert_allclose(
        [key.co[1] for key in curve(rig, "poise_tracks[0].fit").keyframe_points], wanted, atol=1e-5
    )
    weights = curve(rig, "poise_tracks[0].weight")
    np.testing.assert_allclose([tuple(key.co) for key in weights.keyframe_points], [[1, 0.1], [31, 0.9], [51, 0.1]])

    samples = curve(rig, "poise_tracks[0].offset")
    samples.keyframe_points.insert(41, 1.0)
    samples.update()
    bpy.ops.poise.regenerate()
    weights = curve(rig, "poise_tracks[0].weight")
    np.testing.assert_allclose([key.co[1] for key in weights.keyframe_points], [0.1, 0.9, 0.1, 0.1], atol=1e-6)
    with pytest.raises(RuntimeError, match="The path has no samples"):
        bpy.ops.poise.weigh_samples(path=True)
    bpy.ops.poise.weigh_samples()
    assert not any(one.data_path.endswith("weight") for one in bridge.motion.active_curves(rig))


def test_a_motion_may_be_made_with_reduced_keys_at_once(rig: Any) -> None:
    assert bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1) == {"FINISHED"}
    dense, turns = curve(rig, 'pose.bones["upper_arm.R"].rotation_quaternion'), stand(rig, "upper_arm.R", 20)
    assert len(dense.keyframe_points) == 51
    assert bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1, keys="REDUCED") == {"FINISHED"}
    fewer = curve(rig, 'pose.bones["upper_arm.R"].rotation_quaternion')
    assert len(fewer.keyframe_points) < 20
    assert rig.poise_generated == rig.animation_data.action
    np.testing.assert_allclose(stand(rig, "upper_arm.R", 20), turns, atol=0.02)
    assert bpy.ops.poise.regenerate(keys="EVERY") == {"FINISHED"}
    np.testing.assert_allclose(stand(rig, "upper_arm.R", 20), turns, atol=1e-5)


def test_samples_that_are_moved_and_added_change_the_motion(rig: Any) -> None:
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    first = rig.animation_data.action
    samples = curve(rig, "poise_tracks[0].offset")
    samples.keyframe_points[1].co = (26, 0.5)
    samples.keyframe_points.insert(38, 1.0)
    samples.update()
    assert bpy.ops.poise.regenerate() == {"FINISHED"}
    assert rig.animation_data.action == first
    values = np.array([[0.0], [0.5], [1.0], [0.0]])
    wanted = fit_curve([0.0, 1.0, 37 / 25, 2.0], values[:, 0]).staying(values)
    for frame in (13, 26, 38, 45):
        angle = 2.0 * np.arccos(min(1.0, abs(stand(rig, "upper_arm.R", frame)[0])))
        assert angle == pytest.approx(abs(wanted((frame - 1) / 25.0)[0]) * np.pi / 2, abs=2e-3)


def test_presets_leave_what_they_can_be_changed_by() -> None:
    rig = load(DATA / "rigs" / "odd_random_rolls_apose.blend")[0]
    context.view_layer.objects.active = rig
    context.scene.render.fps = 30
    assert bpy.ops.poise.generate(recipe="jump", start=1) == {"FINISHED"}
    assert [label_of(track) for track in rig.poise_tracks] == ["arm.L, arm.R", "all"]
    assert len(curve(rig, "poise_tracks[1].offset").keyframe_points) == 12
    phases = [(phase.part, phase.kind, phase.start, phase.end, phase.frame) for phase in rig.poise_phases]
    assert phases[0] == ("foot.L", "SUPPORT", 1, 22, 22)
    assert phases[4][1:4] == ("FLIGHT", 22, 37)
    assert bpy.ops.poise.regenerate() == {"FINISHED"}
    assert ("list", "poise_tracks") in drawn_by(POISE_PT_generate)
    seen = drawn_by(POISE_PT_generate_advanced)
    assert sum(kind == "prop" and name == "co" for kind, name in seen) == 1 * 8 + 3 * 12  # of the arms, and of the path


@pytest.mark.parametrize("fps", [24, 25, 30, 48, 60])
def test_a_jump_leaves_the_ground_when_it_flies_at_each_frame_rate(fps: int) -> None:
    rig = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    select(rig, [])
    context.scene.render.fps = fps
    if fps == 24:  # a strip that moves a thigh, which the motion leaves at rest
        thigh = rig.pose.bones["mixamorig:LeftUpLeg"]
        for frame, way in ((1, 0.0), (20, 0.1 * thigh.bone.length)):
            thigh.location[1] = way
            thigh.keyframe_insert("location", frame=frame)
        context.scene.frame_set(1)
        data = rig.animation_data
        data.nla_tracks.new().strips.new("moved", 1, data.action)
        data.action = None
    bpy.ops.poise.generate(recipe="jump", start=0)
    flight = rig.poise_phases[4]
    feet, hips = [], []
    for frame in range(round(2.0 * fps) + 1):
        context.scene.frame_set(frame)
        feet.append([(rig.matrix_world @ rig.pose.bones[f"mixamorig:{foot}Foot"].head).z for foot in ("Left", "Right")])
        hips.append((rig.matrix_world @ rig.pose.bones["mixamorig:Hips"].head).z)
    lifted = np.array(feet) - feet[0][0]
    assert np.abs(lifted[: flight.start + 1]).max() < 1e-3
    assert np.abs(lifted[flight.end :]).max() < 1e-3
    assert lifted[flight.start + 1 : flight.end].min() > 5e-3
    speeds = np.diff(hips) * fps
    for frame in (flight.start, flight.end):
        # gravity changes the speed by a fifth at most in a frame, legs by about as much
        assert abs(speeds[frame] - speeds[frame - 1]) < 0.25 * np.abs(speeds).max()
    assert np.abs(np.diff(speeds[flight.end - 1 :])).max() < 0.8  # metres per second: it lands softly at each rate
    rest = (rig.matrix_world @ rig.data.bones["mixamorig:Hips"].head_local).z
    np.testing.assert_allclose([hips[0], hips[-1]], rest, rtol=0.01)  # it begins and ends standing, at rest
    assert np.abs(speeds[[0, -1]]).max() < 0.05
    assert min(hips) < 0.7 * rest
    keys = curve(rig, "poise_tracks[1].offset").keyframe_points
    assert all(key.co[0] == round(key.co[0]) for key in keys)


@pytest.mark.parametrize("fps", [24, 25, 30, 48, 60])
def test_a_body_that_lies_at_rest_stands_to_jump(fps: int) -> None:
    rig = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    select(rig, [])
    context.scene.render.fps = fps

    def jumped() -> np.ndarray:
        bpy.ops.poise.generate(recipe="jump", start=0)
        found = []
        for frame in range(round(2.0 * fps) + 1):
            context.scene.frame_set(frame)
            found.append([(rig.matrix_world @ bone.head).z for bone in rig.pose.bones])
        return np.array(found)

    upright = jumped()
    rig.rotation_euler.x -= np.pi / 2.0
    context.view_layer.update()
    np.testing.assert_allclose(jumped(), upright, atol=1e-4)


@pytest.mark.parametrize("supported", [False, True])
def test_no_foot_is_below_the_floor_between_key_poses(supported: bool) -> None:
    rig = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    skeleton = bridge.read_rig(rig).skeleton
    roles = bridge.read_roles(rig, skeleton)
    squat = {"spine": [40, 0, 0], "thigh": [-100, 0, 0], "shin": [140, 0, 0], "foot": [-40, 0, 0]}
    tracks = [{"parts": "all", "samples": [0, 1]}]
    supports = [{"role": f"foot.{side}", "seconds": [0.4, 0.8], "at": 0.5} for side in "LR"] if supported else []
    recipe = parse_recipe(
        {"version": 1, "seconds": 1.0, "poses": {"min": {}, "max": squat}, "tracks": tracks, "supports": supports}
    )
    edit = Generated(context, rig, recipe, 0)
    points = foot_points(skeleton, roles)
    floor, before = (point_positions(skeleton, pose, points)[..., 2] for pose in (edit.low, edit.after.pose))
    assert before.min() < floor.min() - 0.01 * skeleton.size
    edit.solve()
    assert point_positions(skeleton, edit.after.pose, points)[..., 2].min() > floor.min() - 1e-3 * skeleton.size


def test_an_arm_that_is_told_to_hold_still_does(rig: Any) -> None:
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    samples = curve(rig, "poise_tracks[0].offset")
    samples.keyframe_points[1].co = (12, 1.0)
    samples.keyframe_points.insert(40, 1.0)
    samples.update()
    for stays, limit in ((True, 1e-3), (False, np.inf)):
        rig.poise_stay = stays
        bpy.ops.poise.regenerate()
        turned = [2.0 * np.arccos(min(1.0, abs(stand(rig, "upper_arm.R", frame)[0]))) for frame in range(12, 41)]
        assert np.ptp(turned) < limit
    assert np.ptp(turned) > 0.1  # the source's curve swings over


def test_a_preset_leaves_the_poses_that_were_stored_in_their_action() -> None:
    rig = load(DATA / "rigs" / "odd_random_rolls_apose.blend")[0]
    context.view_layer.objects.active = rig
    bpy.ops.poise.store_pose(pose="MIN")
    stored = rig.poise_key_poses
    before = contents()["actions"][stored.name]
    bpy.ops.poise.generate(recipe="wave", start=1)
    assert rig.poise_key_poses != stored
    assert contents()["actions"][stored.name] == before
    assert stored.use_fake_user


def test_without_poses_or_with_another_action_it_says_so() -> None:
    rig = make_armature()
    context.view_layer.objects.active = rig
    before = contents()
    with pytest.raises(RuntimeError, match="Store a min and a max pose first"):
        bpy.ops.poise.generate(recipe="own")
    with pytest.raises(RuntimeError, match="no generated motion"):
        bpy.ops.poise.regenerate()
    with pytest.raises(RuntimeError, match='no action "none"'):
        bpy.ops.poise.store_pose(source="ACTION", action="none")
    assert contents() == before


def test_a_pose_is_stored_from_a_frame_of_the_motion(rig: Any) -> None:
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    bpy.ops.poise.store_pose(pose="MIN", source="FRAME", frame=26)
    bpy.ops.poise.regenerate()
    angles = [2.0 * np.arccos(min(1.0, abs(stand(rig, "upper_arm.R", frame)[0]))) for frame in (1, 26)]
    np.testing.assert_allclose(angles, np.pi / 2, atol=0.02)


def test_a_shorter_motion_leaves_nothing_of_the_longer_one(rig: Any) -> None:
    rig.pose.bones["head"].location.x = 0.1
    rig.pose.bones["head"].keyframe_insert("location", frame=90)  # of the motion before
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    assert bridge.keyed_range(rig) == (1, 51)
    samples = curve(rig, "poise_tracks[0].offset")
    for key, frame in zip(samples.keyframe_points, (1, 16, 31), strict=True):
        key.co.x = frame
    samples.update()
    assert bpy.ops.poise.regenerate() == {"FINISHED"}
    assert bridge.keyed_range(rig) == (1, 31)
    np.testing.assert_allclose(stand(rig, "upper_arm.R", 40), stand(rig, "upper_arm.R", 31))


def test_samples_before_the_first_frame_make_the_motion_begin_there() -> None:
    rig = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    select(rig, [])
    context.scene.render.fps = 30
    bpy.ops.poise.generate(recipe="jump", start=11)
    bone, (first, last) = "mixamorig:LeftLeg", bridge.keyed_range(rig)
    before = [stand(rig, bone, frame) for frame in range(first, last + 1)]
    samples = curve(rig, "poise_tracks[0].offset")
    samples.keyframe_points.insert(1.0, samples.keyframe_points[0].co[1])
    assert bpy.ops.poise.regenerate() == {"FINISHED"}
    assert bridge.keyed_range(rig) == (1, last)
    after = [stand(rig, bone, frame) for frame in range(first, last + 1)]
    angles = 2.0 * np.arccos(np.clip(np.abs((np.array(before) * after).sum(-1)), 0.0, 1.0))
    assert angles.max() < 0.05  # what bears and flies does so at its frames
    assert bpy.ops.poise.regenerate() == {"FINISHED"}
    assert bridge.keyed_range(rig) == (1, last)


def test_a_generated_motion_whose_keys_were_reduced_can_be_made_anew(rig: Any) -> None:
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    dense, action = stand(rig, "upper_arm.R", 20), rig.animation_data.action
    assert bpy.ops.poise.reduce_keys(tolerance=0.05) == {"FINISHED"}
    assert rig.animation_data.action != action
    assert bpy.ops.poise.regenerate() == {"FINISHED"}
    np.testing.assert_allclose(stand(rig, "upper_arm.R", 20), dense, atol=1e-5)


def table(rig: Any, path: str) -> list[Any]:
    return [tuple(np.round(key.co, 4)) for one in active_of(rig, path) for key in one.keyframe_points]


def active_of(rig: Any, path: str) -> list[Any]:
    return [one for one in bridge.motion.active_curves(rig) if one.data_path == path]


def test_samples_are_added_and_taken_away_in_the_table_with_their_weights(rig: Any) -> None:
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    bpy.ops.poise.weigh_samples()
    curve(rig, "poise_tracks[0].weight").keyframe_points[1].co[1] = 0.7
    context.scene.frame_set(41)
    rig.poise_tracks[0].offset = 0.5
    assert bpy.ops.poise.add_sample() == {"FINISHED"}
    assert table(rig, "poise_tracks[0].offset") == [(1, 0), (26, 1), (41, 0.5), (51, 0)]
    weights = table(rig, "poise_tracks[0].weight")
    assert [frame for frame, _ in weights] == [1, 26, 41, 51]
    assert weights[1][1] == pytest.approx(0.7)
    assert ("text", "26") in drawn_by(POISE_PT_generate_advanced)
    assert bpy.ops.poise.move_sample(row=1, frame=46) == {"FINISHED"}
    assert table(rig, "poise_tracks[0].offset") == [(1, 0), (41, 0.5), (46, 1), (51, 0)]
    assert table(rig, "poise_tracks[0].weight")[2] == (46, weights[1][1])
    with pytest.raises(RuntimeError, match="frame 51 already"):
        bpy.ops.poise.move_sample(row=2, frame=51)
    assert bpy.ops.poise.remove_sample(row=2) == {"FINISHED"}
    assert table(rig, "poise_tracks[0].offset") == [(1, 0), (41, 0.5), (51, 0)]
    assert [frame for frame, _ in table(rig, "poise_tracks[0].weight")] == [1, 41, 51]
    for _ in range(2):
        bpy.ops.poise.remove_sample(row=0)
    with pytest.raises(RuntimeError, match="at least one sample"):
        bpy.ops.poise.remove_sample(row=0)
    with pytest.raises(RuntimeError, match="no sample 10"):
        bpy.ops.poise.remove_sample(row=9)


def test_samples_of_the_path_are_added_where_it_is_and_taken_away(rig: Any) -> None:
    bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1)
    for frame, height in ((1, 0.0), (26, 0.5)):
        context.scene.frame_set(frame)
        rig.poise_path = (0.0, 0.1, height)
        assert bpy.ops.poise.add_sample(path=True) == {"FINISHED"}
    assert [len(one.keyframe_points) for one in active_of(rig, "poise_path")] == [2, 2, 2]
    assert bpy.ops.poise.move_sample(path=True, row=1, frame=21) == {"FINISHED"}
    assert table(rig, "poise_path") == [(1, 0), (21, 0), (1, 0.1), (21, 0.1), (1, 0), (21, 0.5)]
    said = [text for kind, text in drawn_by(POISE_PT_generate_advanced) if kind == "label"]
    assert {"Frame", "Offset", "Left", "Forward", "Up"} <= {*said}
    assert bpy.ops.poise.regenerate() == {"FINISHED"}
    for _ in range(2):
        assert bpy.ops.poise.remove_sample(path=True) == {"FINISHED"}
    assert not active_of(rig, "poise_path")
    assert bpy.ops.poise.regenerate() == {"FINISHED"}


def test_supports_flights_and_tracks_survive_on_a_library_override(tmp_path: Path) -> None:
    keyed()
    rig = overridden(tmp_path)
    for pose in ("MIN", "MAX"):
        bpy.ops.poise.store_pose(pose=pose)
        turn(rig, "hand.R", 0.5)
    assert bpy.ops.poise.generate(recipe="own", seconds=1.0, start=1) == {"FINISHED"}
    for part in ("SELECTED", "arm.L", "leg.L"):
        bpy.ops.poise.add_track(part=part)
    for start in (2, 8, 14):
        bpy.ops.poise.add_phase(part="foot.L", start=start, end=start + 3)
        bpy.ops.poise.add_phase(part="FLIGHT", start=start + 3, end=start + 5)
    before, tracks = phases_of(rig), [label_of(track) for track in rig.poise_tracks]
    assert tracks == ["all", "hand.R", "arm.L", "leg.L"]
    rig = again(tmp_path / "shot.blend")
    assert phases_of(rig) == before
    assert [label_of(track) for track in rig.poise_tracks] == tracks


def test_a_generated_motion_of_a_linked_file_is_changed_there(tmp_path: Path) -> None:
    rig = keyed()
    for pose in ("MIN", "MAX"):
        bpy.ops.poise.store_pose(pose=pose)
        turn(rig, "hand.R", 0.5)
    bpy.ops.poise.generate(recipe="own", seconds=1.0, start=1)
    bpy.ops.poise.add_phase(part="foot.L", start=2, end=5)
    rig = overridden(tmp_path)
    for tool in ("generate", "remove_phase"):
        with pytest.raises(RuntimeError, match=r"belongs? to the linked file"):
            getattr(bpy.ops.poise, tool)(**({"recipe": "own"} if tool == "generate" else {}))
    assert len(rig.poise_phases) == len(rig.poise_tracks) == 1


def test_samples_supports_and_key_poses_go_with_bones_that_are_renamed() -> None:
    rig = keyed()
    for pose, angle in (("MIN", 0.0), ("MAX", 1.0)):
        turn(rig, "hand.R", angle)
        bpy.ops.poise.store_pose(pose=pose)
    assert bpy.ops.poise.generate(recipe="own", seconds=1.0, start=1) == {"FINISHED"}
    select(rig, ["hand.R"])
    bpy.ops.poise.add_track(part="SELECTED")
    bpy.ops.poise.add_phase(part="SELECTED", start=2, end=5)
    assert bpy.ops.poise.regenerate() == {"FINISHED"}

    def stands(hand: str) -> list[Any]:
        found = []
        for frame in (1, 8, 14, 20):
            context.scene.frame_set(frame)
            found.append(tuple(rig.pose.bones[hand].matrix_basis.to_quaternion()))
        return found

    before = stands("hand.R")
    assert np.ptp(before, axis=0).max() > 0.1
    rig.data.bones["hand.R"].name = "fin"
    context.view_layer.update()
    assert [label_of(track) for track in rig.poise_tracks] == ["all", "fin"]
    assert phases_of(rig)[0][0] == "fin"
    assert bpy.ops.poise.regenerate() == {"FINISHED"}
    np.testing.assert_allclose(stands("fin"), before, atol=1e-5)
