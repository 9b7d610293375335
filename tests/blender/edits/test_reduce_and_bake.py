"""Keys of whole motions in Blender: reduced within a tolerance, baked in a range; all else stays."""

from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from core import forward
from edits.bake import Baked
from edits.pin_list import find_pin
from edits.reduce import Reduced
from tests.blender.rigs import contents, context, keys_of, load, make_ik_body, select, world
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture
def clip() -> Any:
    """A captured walk in Pose Mode, as large as a man."""
    (rig,) = load(DATA / "motion" / "cmu_07_12.bvh")
    rig.scale = np.full(3, 1.0 / bridge.read_rig(rig).skeleton.size)
    for curve in bridge.motion.active_curves(rig):  # smooth between frames, too
        for key in curve.keyframe_points:
            key.interpolation, key.handle_left_type, key.handle_right_type = "BEZIER", "AUTO", "AUTO"
        curve.update()
    context.view_layer.update()
    bpy.ops.object.mode_set(mode="POSE")
    return rig


def curves(rig: Any) -> dict[tuple[str, int], Any]:
    return {(curve.data_path, curve.array_index): curve for curve in bridge.motion.active_curves(rig)}


def heads(rig: Any, frames: np.ndarray) -> np.ndarray:
    """In the world."""
    read = bridge.read_rig(rig)
    motion, worlds = bridge.read_motion(rig, read, frames)
    return forward(read.skeleton, motion.pose)[0] * worlds[0, 0, 0]


def test_reduced_keys_stay_within_the_tolerance_in_blender_between_frames_too(clip: Any) -> None:
    name = clip.animation_data.action.name
    quarters = np.arange(20.0, 60.01, 0.25)
    before, actions = heads(clip, quarters), contents()["actions"]
    assert bpy.ops.poise.reduce_keys(frame_start=20, frame_end=60, tolerance=0.01) == {"FINISHED"}
    read = bridge.read_rig(clip)
    roles = bridge.read_roles(clip, read.skeleton)
    chosen = [roles.bones[role] for role in ("hips", "head", "hand.L", "hand.R", "foot.L", "foot.R")]
    off = np.linalg.norm(heads(clip, quarters) - before, axis=-1)[:, chosen]
    assert off.max() < 0.01
    assert contents()["actions"][name] == actions[name]
    hips = next(c for (path, i), c in curves(clip).items() if path == 'pose.bones["Hips"].rotation_euler' and i == 0)
    inside = [key for key in hips.keyframe_points if 20 <= key.co[0] <= 60]
    assert len(inside) < 20
    assert {key.interpolation for key in inside} == {"BEZIER"}
    outside = [key.co[0] for key in hips.keyframe_points if not 20 <= key.co[0] <= 60]
    assert outside == [*range(1, 20), *range(61, 67)]


def test_all_bones_and_points_a_bones_length_beside_them_stay_within_the_tolerance(clip: Any) -> None:
    def beside() -> np.ndarray:
        """Points around each bone at a bone's length, and its tail, in the world."""
        found = []
        for frame in range(20, 41):
            context.scene.frame_set(frame)
            for bone in clip.pose.bones:
                axes, head = np.array(bone.matrix.to_3x3()), np.array(bone.head)
                ways = np.array([(0, 1, 0), (1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1), (0.7, 0, 0.7)])
                found.append(clip.matrix_world.to_scale()[0] * (head + bone.bone.length * ways @ axes.T))
        return np.array(found)

    before, original = beside(), clip.animation_data.action
    edit = Reduced(context, clip, (20, 40))
    assert edit.tolerance == pytest.approx(0.005, rel=1e-5)  # this body is that of a human of 1.7 m
    edit.solve()
    assert edit.write(clip).met
    assert np.linalg.norm(beside() - before, axis=-1).max() < 0.005
    assert edit.all_kept < 0.4 * edit.all_keyed
    clip.animation_data.action = original  # in any other unit the same keys are left
    clip.scale *= 40.0
    context.view_layer.update()
    assert bpy.ops.poise.reduce_keys(frame_start=20, frame_end=40) == {"FINISHED"}
    kept = [at for frames in bridge.key_frames(clip, 20.0, 40.0).values() for at in frames]
    assert len(kept) == pytest.approx(edit.all_kept, rel=0.02)


def test_bones_that_do_not_deform_are_not_measured(clip: Any) -> None:
    """Mechanism bones of Rigify's limb that is off were named as those with the largest error."""
    off = {"LeftHand", "Head"}
    for name in off:
        clip.data.bones[name].use_deform = False
    edit = Reduced(context, clip, (20, 40))
    edit.solve()
    measured = {goal.bone for goal in edit.write(clip).goals}
    assert measured == {bone.name for bone in clip.data.bones} - off
    edit = Reduced(context, clip, (20, 40), sorted(off))  # none of these deforms
    edit.solve()
    assert {goal.bone for goal in edit.write(clip).goals} == off


def test_flat_curves_get_one_key_unless_there_are_keys_outside_the_range(clip: Any) -> None:
    last = 24
    for curve in curves(clip).values():
        for key in reversed(curve.keyframe_points):
            if key.co[0] > last:
                curve.keyframe_points.remove(key)
    for frame in range(1, last + 1):
        for bone in clip.pose.bones:
            bone.keyframe_insert("scale", frame=frame)
        for channel in ("location", "rotation_euler"):
            clip.pose.bones["LeftHand"].keyframe_insert(channel, frame=frame)
    for (path, index), curve in curves(clip).items():
        if '"LeftHand"' in path:
            for key in curve.keyframe_points:
                key.co[1] = 0.1 * index + path.endswith("scale")
            curve.update()
    at = heads(clip, np.arange(1.0, last + 1.0))
    for frames, count in (((1, 20), last), ((1, last), 1)):
        edit = Reduced(context, clip, frames, (), 0.005)
        edit.solve()
        assert edit.write(clip, new=False).met
        found = {len(curve.keyframe_points) for (path, _), curve in curves(clip).items() if path.endswith("scale")}
        assert found == {count}
    hand = {len(curve.keyframe_points) for (path, _), curve in curves(clip).items() if '"LeftHand"' in path}
    assert hand == {1}
    assert np.linalg.norm(heads(clip, np.arange(1.0, last + 1.0)) - at, axis=-1).max() < 0.01


def test_straight_ways_and_a_jump_between_two_frames_are_kept_as_well(clip: Any) -> None:
    for curve in curves(clip).values():
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    quarters = np.arange(1.0, 20.01, 0.25)  # from the rest pose that captures begin with
    before = heads(clip, quarters)
    hand = clip.pose.bones.find("RightHand")
    assert np.linalg.norm(before[4, hand] - before[0, hand]) > 0.1
    assert bpy.ops.poise.reduce_keys(frame_start=1, frame_end=20, tolerance=0.01) == {"FINISHED"}
    assert np.linalg.norm(heads(clip, quarters) - before, axis=-1)[:, hand].max() < 0.01


@pytest.mark.long
@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.5), (1.25, 0.0), (0.9, 0.3)])
def test_keys_between_frames_with_corners_are_reduced_within_the_tolerance(
    clip: Any, scale: float, shift: float
) -> None:
    for curve in curves(clip).values():
        for key in reversed([key for key in curve.keyframe_points if not 20 <= key.co[0] <= 50]):
            curve.keyframe_points.remove(key)
        for key in curve.keyframe_points:  # as a clip of another frame rate, or one that was moved
            key.co[0] = 20 + (key.co[0] - 20) * scale + shift
            key.interpolation = "LINEAR"
        curve.update()
    edit = Reduced(context, clip, bridge.keyed_range(clip), (), 0.01)
    edit.solve()
    report = edit.write(clip)
    assert report.met
    assert edit.kept < 0.4 * edit.keyed
    assert "no keys could be removed" not in edit.summary()


@pytest.mark.long
def test_bones_that_no_fewer_keys_can_follow_keep_theirs(clip: Any) -> None:
    for (path, _), curve in curves(clip).items():
        if '"LeftArm"' in path:
            for key in curve.keyframe_points:
                key.interpolation = "BOUNCE"
    before = keys_of(clip.animation_data.action)
    edit = Reduced(context, clip, (20, 40), (), 1e-4)
    edit.solve()
    report = edit.write(clip, new=False)
    assert report.met
    assert "no keys could be removed from LeftArm" in edit.summary()
    now = keys_of(clip.animation_data.action)
    assert {key: keys for key, keys in now.items() if '"LeftArm"' in key[1]} == {
        key: keys for key, keys in before.items() if '"LeftArm"' in key[1]
    }
    assert now != before


def test_a_bone_that_a_constraint_takes_beyond_the_tolerance_is_named(clip: Any, capfd: Any) -> None:
    driven = clip.pose.bones["LeftHand"].constraints.new("TRANSFORM")
    driven.target, driven.subtarget, driven.use_motion_extrapolate = clip, "LeftArm", True
    driven.target_space = driven.owner_space = "LOCAL"
    driven.map_from, driven.from_max_x_rot = "ROTATION", 0.01
    driven.map_to, driven.to_max_x = "LOCATION", 0.5
    assert bpy.ops.poise.reduce_keys(frame_start=20, frame_end=40) == {"FINISHED"}
    said = capfd.readouterr().out
    assert said.startswith("Warning: ")
    worst = clip.pose.bones[said.split('(at "')[1].split('"')[0]]
    assert clip.pose.bones["LeftHand"] in (worst, *worst.parent_recursive)
    assert said.endswith("Lower Tolerance to get closer\n")


def test_stepped_keys_stay_and_what_is_told_is_what_is_there(clip: Any) -> None:
    for (path, _), curve in curves(clip).items():
        for key in curve.keyframe_points if '"LeftArm"' in path else ():
            key.interpolation = "CONSTANT"
    edit = Reduced(context, clip, (20, 30), ["RightHand", "LeftHand"], 0.02)
    edit.solve()
    stepped = keys_of(clip.animation_data.action)
    edit.write(clip, new=False)
    after = keys_of(clip.animation_data.action)
    assert {key: keys for key, keys in after.items() if '"LeftArm"' in key[1]} == {
        key: keys for key, keys in stepped.items() if '"LeftArm"' in key[1]
    }
    frames = {(path.split('"')[1], key[0][0]) for (_, path, _), keys in after.items() for key in keys}
    carriers = {above.name for bone in ("RightHand", "LeftHand") for above in clip.pose.bones[bone].parent_recursive}
    carriers |= {"RightHand", "LeftHand"}
    assert edit.all_kept == sum(20 <= frame <= 30 for _, frame in frames)
    assert edit.kept == sum(20 <= frame <= 30 and bone in carriers for bone, frame in frames)
    assert (edit.keyed, edit.all_keyed) == (11 * len(carriers), 11 * len(clip.pose.bones))
    assert "stepped keys are kept: LeftArm" in edit.summary()


def test_a_bake_leaves_other_bones_and_other_frames_alone(clip: Any) -> None:
    before = {key: [tuple(p.co) for p in curve.keyframe_points] for key, curve in curves(clip).items()}
    for bone in clip.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "Head"
    bpy.ops.poise.bake_motion(frame_start=10, frame_end=30, step=5, bones="SELECTED", action="PRESENT")
    for (path, index), curve in curves(clip).items():
        now, then = [tuple(p.co) for p in curve.keyframe_points], before[path, index]
        if '"Head"' not in path:
            assert now == then
            continue
        assert [frame for frame, _ in now if 10 <= frame <= 30] == [10, 15, 20, 25, 30]
        assert [key for key in now if not 10 <= key[0] <= 30] == [key for key in then if not 10 <= key[0] <= 30]
        kept = [value for frame, value in then if frame in range(10, 31, 5)]
        np.testing.assert_allclose([value for frame, value in now if 10 <= frame <= 30], kept, atol=1e-5)


def test_a_bake_whose_steps_do_not_meet_its_end_keys_the_last_frame(clip: Any) -> None:
    bpy.ops.poise.bake_motion(frame_start=10, frame_end=30, step=7, action="PRESENT")
    for curve in curves(clip).values():
        assert [point.co[0] for point in curve.keyframe_points if 10 <= point.co[0] <= 30] == [10, 17, 24, 30]


def test_a_backward_range_is_refused(clip: Any) -> None:
    before = contents()
    with pytest.raises(RuntimeError, match="The end frame 10 is before the start frame 30"):
        bpy.ops.poise.bake_motion(frame_start=30, frame_end=10)
    assert contents() == before


def matrices(rig: Any, frames: range) -> np.ndarray:
    found = []
    for frame in frames:
        context.scene.frame_set(frame)
        found.append(bridge.read_matrices(rig))
    return np.array(found)


@pytest.mark.parametrize("mute", [True, False])
def test_a_visual_bake_keys_what_constraints_and_drivers_make_of_bones(mute: bool) -> None:
    rig = make_ik_body()
    for frame, height in ((1, 0.0), (5, 0.3), (9, 0.1)):
        rig.pose.bones["foot_ik.L"].location.z = height
        rig.pose.bones["foot_ik.L"].keyframe_insert("location", frame=frame)
    stretch = rig.pose.bones["forearm.R"].constraints.new("STRETCH_TO")
    stretch.target, stretch.subtarget = rig, "foot_ik.L"
    rig.pose.bones["head"].rotation_mode = "XYZ"
    driver = rig.pose.bones["head"].driver_add("rotation_euler", 1).driver
    driver.expression = "frame / 10"
    before, source, actions = matrices(rig, range(1, 10)), rig.animation_data.action.name, contents()["actions"]
    assert bpy.ops.poise.bake_motion(visual=True, mute=mute) == {"FINISHED"}
    assert contents()["actions"][source] == actions[source]
    keyed = {path.split('"')[1] for path, _ in curves(rig)}
    assert {"shin.L", "thigh.L", "foot.L", "forearm.R", "head"} <= keyed
    assert [c.mute for c in rig.pose.bones["shin.L"].constraints] == [mute]
    assert not rig.animation_data.drivers[0].mute
    legs = [rig.pose.bones.find(f"{part}.{side}") for part in ("thigh", "shin", "foot") for side in "LR"]
    bones = slice(None) if mute else legs  # what is left on goes on from the keys: IK is there, a stretch is twice
    np.testing.assert_allclose(matrices(rig, range(1, 10))[:, bones], before[:, bones], atol=1e-4 if mute else 5e-3)


def test_a_visual_bake_of_some_bones_mutes_no_constraint_that_decides_others_too() -> None:
    rig = make_ik_body()
    rig.pose.bones["foot_ik.L"].keyframe_insert("location", frame=1)
    select(rig, ["shin.L", "foot.L"])
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.poise.bake_motion(visual=True, mute=True, bones="SELECTED") == {"FINISHED"}
    assert not rig.pose.bones["shin.L"].constraints[0].mute
    assert rig.pose.bones["foot.L"].constraints[0].mute


def test_modifiers_of_curves_are_baked_into_a_new_action_of_the_whole_motion_alone(clip: Any) -> None:
    source, path = clip.animation_data.action, ('pose.bones["Head"].rotation_euler', 0)
    noise = curves(clip)[path].modifiers.new("NOISE")
    noise.strength, noise.scale = 0.5, 3.0
    wanted = [curves(clip)[path].evaluate(frame) for frame in range(1, 67)]
    context.scene.frame_set(1)
    before = contents()
    for given in ({"visual": False}, {"visual": True, "frame_end": 60}, {"visual": True, "action": "PRESENT"}):
        with pytest.raises(RuntimeError, match="has a Noise modifier"):
            bpy.ops.poise.bake_motion(**given)
    assert contents() == before
    assert bpy.ops.poise.bake_motion(visual=True) == {"FINISHED"}
    made = curves(clip)[path]
    assert not len(made.modifiers)
    np.testing.assert_allclose([made.evaluate(frame) for frame in range(1, 67)], wanted, atol=1e-4)
    bridge.assign(clip, source)
    assert len(curves(clip)[path].modifiers) == 1


def test_a_bake_names_what_it_does_not_key(clip: Any) -> None:
    clip.pose.bones["Head"].constraints.new("COPY_ROTATION").target = clip
    clip.pose.bones["Head"].constraints[0].subtarget = "Hips"
    edit = Baked(context, clip, (20, 22))
    assert edit.unkeyed().startswith('1 of the bones get no keys; "Head" is driven by')
    clip.pose.bones["Head"].constraints.remove(clip.pose.bones["Head"].constraints[0])
    context.view_layer.update()
    assert not Baked(context, clip, (20, 22)).unkeyed()


def test_a_bake_over_a_walk_with_animated_feet_moves_the_body_smoothly(clip: Any) -> None:
    """Ankles had their limit in the frames in which it held: from one to the next the hips went by up to 19 cm."""
    hand, feet, frames = "LeftHand", ["LeftFoot", "RightFoot"], range(2, 61)
    ball = bpy.data.objects.new("ball", None)
    context.collection.objects.link(ball)
    hips = list[np.ndarray]()
    for frame in frames:
        context.scene.frame_set(frame)
        hips.append(world(clip, "Hips"))
        ball.location = np.add(world(clip, hand), (0.0, -0.2, -0.3))
        ball.keyframe_insert("location", frame=frame)
    context.scene.frame_set(frames[0])
    select(clip, feet)
    bpy.ops.poise.pin(space="ANIMATION")
    select(clip, [hand])
    bpy.ops.poise.pin(kind="POSITION", space="OBJECT", target=ball.name)
    find_pin(clip, hand).position = (0.0, 0.0, 0.0)
    assert bpy.ops.poise.bake(frame_start=frames[0], frame_end=frames[-1]) == {"FINISHED"}
    gone = list[np.ndarray]()
    for frame, before in zip(frames, hips, strict=True):
        context.scene.frame_set(frame)
        gone.append(world(clip, "Hips") - before)
    assert np.linalg.norm(gone, axis=1).max() > 0.05
    assert np.linalg.norm(np.diff(gone, axis=0), axis=1).max() < 0.03
