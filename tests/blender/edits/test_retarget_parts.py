"""Some parts of a body retargeted over the motion that it has, and keys only where the source has them."""

from typing import Any

import bpy
import numpy as np
import pytest

import bridge
import commands
from bridge.driven import split_path
from core import CoreError, forward, rotation
from core.body.posture import body_axes
from edits.retarget import FADE, Retargeted, imported, parts_of
from tests.blender.rigs import contents, context, key_of, load, select
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

WALK = DATA / "motion" / "cmu_07_12.bvh"
RIG = DATA / "rigs" / "named_mixamo_cm.blend"
START, SPAN = 20, (2, 26)  # where the second walk begins, and its frames: the walk goes on at both ends
EASE = round(FADE * 30)
SMOOTHERSTEP = 1.875  # its largest slope


def body(rig: Any, frames: tuple[int, int]) -> tuple[Any, Any, Any]:
    read = bridge.read_rig(rig)
    motion, _ = bridge.read_motion(rig, read, np.arange(frames[0], frames[1] + 1))
    return read.skeleton, motion, bridge.read_roles(rig, read.skeleton)


def walking(path: Any = RIG, last: int = 60) -> tuple[Any, Any]:
    """A body that walks, turned aside and bent at the hips, and the walk of the clip on it as it is."""
    rig = next(one for one in load(path) if one.name in ("rig", "Armature"))
    context.scene.render.fps = 30
    with imported(context, WALK) as (source, _):
        plain = Retargeted(context, rig, source, (2, last), plant=False)
    plain.solve()
    plain.write(rig)
    return rig, plain


def turned(rig: Any, degrees: float) -> None:
    """Turn and bend the hips of the walk about the vertical and sideways, in all frames."""
    read, motion, roles = body(rig, (2, 60))
    hips = roles.bones["hips"]
    turn = rotation.from_euler(np.radians([10.0, 0.0, degrees]))
    frames = rotation.mul(turn, forward(read, motion.pose)[1][:, hips])
    rest = read.rest_rotations[hips]
    own = rotation.mul(rotation.inv(rest), frames)
    bone = rig.pose.bones[read.names[hips]]
    bone.rotation_mode = "QUATERNION"
    for frame, values in zip(range(2, 61), own, strict=True):
        bone.rotation_quaternion = values
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def curves(action: Any) -> dict[Any, list[Any]]:
    """The keys of an action by data path and index."""
    return {
        (curve.data_path, curve.array_index): [key_of(point) for point in curve.keyframe_points]
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        for curve in bag.fcurves
    }


def overlay(rig: Any, parts: list[str], **options: Any) -> Any:
    with imported(context, WALK) as (source, _):
        edit = Retargeted(context, rig, source, SPAN, parts=parts, start=START, **options)
    edit.solve()
    edit.write(rig)
    return edit


def frames_of(skeleton: Any, motion: Any) -> np.ndarray:
    return forward(skeleton, motion.pose)[1]


def relative(frames: np.ndarray, bone: int, base: int) -> np.ndarray:
    return rotation.mul(rotation.inv(frames[:, base]), frames[:, bone])


@pytest.mark.parametrize("turn", [0.0, 100.0])
def test_an_upper_body_leans_and_waves_as_in_the_source_and_the_rest_keeps_its_keys(turn: float) -> None:
    rig, plain = walking()
    turned(rig, turn)
    before = rig.animation_data.action
    edit = overlay(rig, ["upper"])
    after = rig.animation_data.action
    assert after != before
    chosen = {edit.skeleton.names[bone] for bone in parts_of(edit.skeleton, edit.roles, ["upper"])}
    old, new = curves(before), curves(after)
    for place, keys in new.items():
        if split_path(place[0])[0] not in chosen:
            assert keys == old[place]
    last = START + SPAN[1] - SPAN[0]
    skeleton, motion, roles = body(rig, (START, last))
    there = frames_of(skeleton, plain.after)[: last - START + 1]  # the same frames of the walk, from 2 on
    here, inside = frames_of(skeleton, motion), slice(EASE, last - START + 1 - EASE)
    up, chest = body_axes(roles)[2], roles.chain("spine")[-1]
    # how the chest leans does not depend on where the body looks
    axes = np.eye(3)
    for axis in axes:
        lean = [rotation.rotate(frames[inside, chest], axis) @ up for frames in (here, there)]
        np.testing.assert_allclose(lean[0], lean[1], atol=1e-4)
    for role in ("upper_arm.L", "forearm.R", "head"):
        base = chest if role != "forearm.R" else roles.bones["upper_arm.R"]
        gap = rotation.angle_between(*(relative(f, roles.bones[role], base)[inside] for f in (here, there)))
        assert np.degrees(gap).max() < 0.01
    # the lowest bone of the spine is no more off its neighbour than the whole spine is
    hips, spine = roles.bones["hips"], roles.chain("spine")
    own = frames_of(skeleton, edit.before)
    bend = [rotation.angle_between(relative(here, spine[0], hips), relative(there, spine[0], hips))[inside].max()]
    off = rotation.angle_between(*(rotation.mul(f[:, chest], rotation.inv(f[:, hips])) for f in (here, there)))
    assert bend[0] <= off[inside].max() * 0.75  # the rest of it is further up
    assert own.shape == here.shape


def test_parts_come_and_go_without_a_jump_where_the_motion_goes_on() -> None:
    rig, _ = walking()
    edit = overlay(rig, ["arm.L"])
    last = START + SPAN[1] - SPAN[0]
    _, motion, roles = body(rig, (START, last))
    own, here = edit.before.pose.rotations, motion.pose.rotations
    ends = rotation.angle_between(own[[0, -1]], here[[0, -1]])
    assert np.degrees(ends).max() < 0.01
    bone = roles.bones["upper_arm.L"]
    full = rotation.angle_between(own[:, bone], edit.after.pose.rotations[:, bone]).max()
    steps = [rotation.angle_between(part[1:, bone], part[:-1, bone]).max() for part in (own, here)]
    assert np.degrees(full) > 10.0  # it does something else meanwhile
    assert steps[1] < 2.0 * steps[0] + SMOOTHERSTEP * full / EASE
    before, after = (curves(bpy.data.actions[name]) for name in (f"{rig.name} poise", rig.animation_data.action.name))
    for place, keys in after.items():
        outside = [key for key in keys if not START - 1 <= key[0][0] <= last + 1]
        assert [key for key in before[place] if not START - 1 <= key[0][0] <= last + 1] == outside


def test_a_lower_body_goes_on_from_where_the_body_is_and_stands_on_its_feet() -> None:
    rig, _ = walking()
    turned(rig, 100.0)
    before = curves(rig.animation_data.action)
    edit = overlay(rig, ["lower"], fade=0.0)
    assert edit.pins
    report = edit.measure(rig)
    assert all(goal.met.all() for goal in report)
    hips = edit.roles.bones["hips"]
    places = [forward(edit.skeleton, motion.pose)[0][0, hips] for motion in (edit.before, edit.after)]
    off = (places[1] - places[0]) @ body_axes(edit.roles).T
    assert np.linalg.norm(off[:2]) < 0.02 * edit.skeleton.size
    chosen = {edit.skeleton.names[bone] for bone in parts_of(edit.skeleton, edit.roles, ["lower"])}
    after = curves(rig.animation_data.action)
    kept = [place for place in after if split_path(place[0])[0] not in chosen]
    assert len(kept) > 20
    assert all(after[place] == before[place] for place in kept)


@pytest.mark.long
def test_controls_of_other_parts_keep_their_keys() -> None:
    rig, _ = walking(SHARED / "rigs" / "scripted" / "rigify_generated_human.blend", 30)
    before = curves(rig.animation_data.action)
    with imported(context, WALK) as (source, _):
        edit = Retargeted(context, rig, source, (2, 8), parts=["arm.L"], start=16, fade=0.1)
    edit.solve()
    report = edit.write(rig)
    after = curves(rig.animation_data.action)
    changed = {split_path(place[0])[0] for place, keys in after.items() if before.get(place) != keys}
    assert changed
    assert all(name.endswith(".L") for name in changed), changed
    assert not any(word in name for name in changed for word in ("foot", "thigh", "shin", "toe"))
    assert report.pose is not None
    assert report.pose.met.all()


def key_poses(source: Any) -> list[int]:
    """Leave keys of the source at few frames, one of which holds."""
    frames = [2, 14, 26, 40]
    for layer in source.animation_data.action.layers:
        for curve in (c for strip in layer.strips for bag in strip.channelbags for c in bag.fcurves):
            for point in [p for p in curve.keyframe_points if round(p.co.x) not in frames][::-1]:
                curve.keyframe_points.remove(point, fast=True)
            for point in curve.keyframe_points:
                point.interpolation = "CONSTANT" if round(point.co.x) == 14 else "BEZIER"
            curve.update()
    return frames


def test_keys_are_where_the_source_has_keys_and_go_on_as_there() -> None:
    rig, plain = walking()
    source = load_source()
    frames = key_poses(source)
    edit = Retargeted(context, rig, source, sparse=True)
    edit.solve()
    edit.write(rig)
    action = rig.animation_data.action
    for layer in action.layers:
        for curve in (c for strip in layer.strips for bag in strip.channelbags for c in bag.fcurves):
            assert [round(point.co.x) for point in curve.keyframe_points] == frames
            assert [point.interpolation for point in curve.keyframe_points] == [
                "BEZIER",
                "CONSTANT",
                "BEZIER",
                "BEZIER",
            ]
    for frame in frames:
        context.scene.frame_set(frame)
        read, motion, _ = body(rig, (frame, frame))
        wanted = plain.after.pose.rotations[frame - 2]
        assert np.degrees(rotation.angle_between(motion.pose.rotations[0], wanted)).max() < 0.05
    context.scene.frame_set(20)
    seen = [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]
    context.scene.frame_set(15)
    assert seen == [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]  # it holds
    assert read.names


def test_a_key_between_frames_keeps_its_time_and_each_bone_its_interpolation() -> None:
    rig, plain = walking()
    source = load_source()
    key_poses(source)
    for layer in source.animation_data.action.layers:
        for curve in (c for strip in layer.strips for bag in strip.channelbags for c in bag.fcurves):
            curve.keyframe_points[1].co_ui.x = 20.5
            if "LeftForeArm" in curve.data_path:
                curve.keyframe_points[0].interpolation = "LINEAR"
            curve.update()
    edit = Retargeted(context, rig, source, sparse=True)
    edit.solve()
    edit.write(rig)
    forearm = edit.skeleton.names[edit.roles.bones["forearm.L"]]
    for layer in rig.animation_data.action.layers:
        for curve in (c for strip in layer.strips for bag in strip.channelbags for c in bag.fcurves):
            assert [point.co.x for point in curve.keyframe_points] == [2.0, 20.5, 26.0, 40.0]
            first = curve.keyframe_points[0].interpolation
            assert first == ("LINEAR" if forearm in curve.data_path else "BEZIER")
    context.scene.frame_set(20, subframe=0.5)
    read = bridge.read_rig(rig)
    seen = bridge.read_pose(rig, read).rotations
    assert np.degrees(rotation.angle_between(seen, plain.after.pose.rotations[14 - 2])).max() < 0.05


def test_parts_have_the_first_and_the_last_key_pose_of_the_source() -> None:
    rig, plain = walking()
    source = load_source()
    key_poses(source)
    edit = Retargeted(context, rig, source, (2, 40), parts=["arm.R"], start=START, sparse=True)
    edit.solve()
    edit.write(rig)
    for frame in (2, 40):
        at = frame - 2 + START
        context.scene.frame_set(at)
        _, motion, roles = body(rig, (at, at))
        arm = parts_of(edit.skeleton, roles, ["arm.R"])
        wanted = plain.after.pose.rotations[frame - 2, arm]
        assert np.degrees(rotation.angle_between(motion.pose.rotations[0, arm], wanted)).max() < 0.05


def load_source() -> Any:
    """The clip as an armature beside the body."""
    bpy.ops.import_anim.bvh(filepath=str(WALK), update_scene_fps=False, update_scene_duration=False)
    return context.object


@pytest.mark.parametrize("parts", [[], ["arm.L"]])
@pytest.mark.parametrize("path", [RIG, DATA / "rigs" / "odd_random_rolls_apose.blend"], ids=lambda path: path.stem)
def test_bones_are_as_long_and_wide_as_in_the_source_if_asked(parts: list[str], path: Any) -> None:
    rig = next(one for one in load(path) if one.type == "ARMATURE")
    source = load_source()
    for name, scale in (("LeftForeArm", (1.0, 1.5, 1.0)), ("RightUpLeg", (0.8, 0.8, 0.8))):
        for frame, values in ((2, (1.0, 1.0, 1.0)), (12, scale)):
            source.pose.bones[name].scale = values
            source.pose.bones[name].keyframe_insert("scale", frame=frame)
    for scaled in (False, True):
        edit = Retargeted(context, rig, source, (2, 12), plant=False, parts=parts, scale=scaled)
        edit.solve()
        edit.write(rig)
        context.scene.frame_set(12)
        for role, growth in (("forearm.L", 1.5), ("thigh.R", 0.8)):
            bone = rig.pose.bones[edit.skeleton.names[edit.roles.bones[role]]]
            on = scaled and (not parts or role == "forearm.L")
            assert bone.length / bone.bone.length == pytest.approx(growth if on else 1.0, abs=2e-3)


def test_a_body_grows_on_its_ground_as_the_object_of_the_source_if_asked() -> None:
    rig = load(RIG)[0]
    source = load_source()
    for frame, scale in ((2, 1.0), (12, 1.6)):
        source.scale = (scale,) * 3
        source.keyframe_insert("scale", frame=frame)
    tall = []
    for scaled in (False, True):
        edit = Retargeted(context, rig, source, (2, 12), plant=False, scale=scaled)
        edit.solve()
        edit.write(rig)
        context.scene.frame_set(12)
        heads = np.array([(rig.matrix_world @ bone.head)[2] for bone in rig.pose.bones])
        tall.append((heads.min(), heads.max()))
    ankle = tall[0][0]
    assert np.ptp(tall[1]) / np.ptp(tall[0]) == pytest.approx(1.6, abs=1e-3)
    assert tall[1][0] == pytest.approx(1.6 * ankle, abs=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": ["tail"]}, 'The body has no "tail"'),
        ({"parts": ["upper"], "fade": -1.0}, "The fade of parts must be between"),
    ],
)
def test_what_makes_no_sense_is_refused_with_nothing_changed(options: dict[str, Any], message: str) -> None:
    rig, _ = walking()
    before = contents()
    with imported(context, WALK) as (source, _), pytest.raises(CoreError, match=message):
        Retargeted(context, rig, source, SPAN, **options)
    assert contents() == before


def test_the_operator_and_the_verb_do_the_same(tmp_path: Any) -> None:
    rig, _ = walking()
    select(rig, [])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    bpy.ops.poise.retarget(filepath=str(WALK), parts={"arm.L", "head"}, start=30)
    name = rig.animation_data.action.name
    found = curves(rig.animation_data.action)
    output = tmp_path / "out.blend"
    argv = ["retarget", "--motion", str(WALK), "--blend", str(tmp_path / "walk.blend"), "--output", str(output)]
    commands.run([*argv, "--parts", "head", "arm.L", "--start", "30", "--action", name])
    bpy.ops.wm.open_mainfile(filepath=str(output))
    again = curves(bpy.data.actions[name])
    assert again.keys() == found.keys()
    for place, keys in again.items():
        np.testing.assert_allclose([key[0] for key in keys], [key[0] for key in found[place]], atol=1e-6)
