"""Writing keys: into the range asked for and nothing else, in the bones' own modes, without jumps."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from bridge import BridgeError, changed_bones, read_matrices, read_motion, read_pose, read_rig, write_keys
from core import Motion, Pose, forward_matrices, rotation
from tests.blender.bridge.rigs import MODES
from tests.blender.rigs import chain, context, curves, keys_of, load, set_random_pose
from tests.paths import DATA

WALK = DATA / "motion" / "cmu_07_12.bvh"


def animate(ob: Any, rng: np.random.Generator) -> None:
    """Keys of all kinds of interpolation, handles, easing and types on all bones, from frame 1 to 60."""
    kinds = ["BEZIER", "LINEAR", "CONSTANT", "SINE", "ELASTIC", "BACK"]
    handles = ["AUTO", "AUTO_CLAMPED", "VECTOR", "ALIGNED", "FREE"]
    for frame in range(1, 61, 5):
        set_random_pose(ob, rng, 1.0)
        for bone in ob.pose.bones:
            bone.keyframe_insert("location", frame=frame)
            bone.keyframe_insert("rotation_quaternion", frame=frame + 0.5)
            bone.keyframe_insert("rotation_euler", frame=frame)
    for curve in curves(ob.animation_data.action, ob).values():
        for point in curve.keyframe_points:
            point.interpolation, point.easing = str(rng.choice(kinds)), str(rng.choice(["EASE_IN", "EASE_OUT", "AUTO"]))
            point.handle_left_type, point.handle_right_type = (str(rng.choice(handles)) for _ in range(2))
            point.type = str(rng.choice(["KEYFRAME", "BREAKDOWN", "EXTREME"]))
            point.back, point.amplitude, point.period = rng.uniform(0.5, 2.0, 3)
            point.select_control_point = bool(rng.random() < 0.5)
        curve.update()


def random_motion(count: int, frames: np.ndarray, rng: np.random.Generator, speed: float = 0.5) -> Motion:
    """A random walk of rotations, which crosses half turns."""
    turns = rotation.normalize(rng.normal(size=(count, 4)))[None]
    steps = [turns[0]]
    for _ in frames[1:]:
        steps.append(rotation.mul(steps[-1], rotation.exp(speed * rng.normal(size=(count, 3)))))
    signs = rng.choice([-1.0, 1.0], (len(frames), count, 1))  # what a solver's signs are is its own affair
    return Motion(Pose(signs * np.array(steps), rng.normal(size=(len(frames), count, 3))), frames, 24.0)


def assert_reads_back(ob: Any, motion: Motion) -> None:
    read, _ = read_motion(ob, read_rig(ob), motion.frames)
    assert np.max(rotation.angle_between(read.pose.rotations, motion.pose.rotations)) < 2e-6
    assert np.max(np.abs(read.pose.translations - motion.pose.translations)) < 1e-6


@pytest.mark.parametrize("mode", MODES)
def test_what_is_keyed_is_what_is_read_back(mode: str) -> None:
    ob = chain(4, connect=False)
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    motion = random_motion(4, np.arange(10.0, 60.0), np.random.default_rng(30))
    action = write_keys(ob, read_rig(ob), motion, range(4), range(4), "baked")
    assert action.name == "baked"
    assert ob.animation_data.action == action
    assert_reads_back(ob, motion)


def test_blender_shows_what_was_keyed() -> None:
    ob = load(WALK)[0]
    rig = read_rig(ob)
    frames = np.arange(5.0, 25.0)
    motion, _ = read_motion(ob, rig, frames)
    bend = rotation.from_euler([0.3, 0.2, 0.1])
    changed = Motion(Pose(rotation.mul(motion.pose.rotations, bend), motion.pose.translations), frames, motion.fps)
    write_keys(ob, rig, changed, range(len(rig.skeleton)), [])
    for i, frame in enumerate(frames):
        context.scene.frame_set(int(frame))
        assert (
            np.abs(read_matrices(ob) - forward_matrices(rig.skeleton, changed.pose[i])).max() < 1e-4 * rig.skeleton.size
        )


@pytest.mark.parametrize("new", [True, False])
def test_keys_outside_the_range_and_other_curves_stay_as_they_are(new: bool) -> None:
    ob = chain(4, connect=False)
    rng = np.random.default_rng(31)
    animate(ob, rng)
    ob.pose.bones[3].keyframe_insert("scale", frame=20)
    ob["prop"] = 1.0
    ob.keyframe_insert('["prop"]', frame=20)
    other = bpy.data.actions.new("other")
    old = ob.animation_data.action
    before, slot = keys_of(old), ob.animation_data.action_slot.handle
    frames = np.arange(20.0, 41.0)
    action = write_keys(ob, read_rig(ob), random_motion(4, frames, rng), [0, 1], [1], None, new)
    after = keys_of(action)
    before_20, after_40 = (20.0).__gt__, (40.0).__lt__
    written = {f'pose.bones["bone{b}"].rotation_quaternion' for b in (0, 1)} | {'pose.bones["bone1"].location'}
    assert set(after) == set(before)
    for (handle, path, index), keys in before.items():
        found = after[handle, path, index]
        if handle == slot and path in written:
            before_range, after_range = ([key for key in keys if own(key[0][0])] for own in (before_20, after_40))
            found_before, found_after = ([key for key in found if own(key[0][0])] for own in (before_20, after_40))
            # one frame beside the range there is a key now; the old keys next to it have a handle towards it, which
            # goes with the segment that it cuts
            for kept, was, end, beside in ((found_before, before_range, -1, 19.0), (found_after, after_range, 0, 41.0)):
                assert kept[end][0][0] == beside
                if was[end][0][0] != beside:
                    kept.pop(end)
            assert (found_before[:-1], found_after[1:]) == (before_range[:-1], after_range[1:])
            for one, was, outer in ((found_before[-1], before_range[-1], 1), (found_after[0], after_range[0], 2)):
                assert (one[0], one[outer], one[5:]) == (was[0], was[outer], was[5:])
            assert [key[0][0] for key in found if 20.0 <= key[0][0] <= 40.0] == frames.tolist()
        else:
            assert found == keys, path
    assert (keys_of(old) == before) == new
    assert not keys_of(other)


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize("span", [(20, 23), (70, 72), (1, 61)])
def test_a_channel_with_its_first_keys_stays_as_it_was_in_the_frames_that_are_not_keyed(
    span: tuple[int, int], new: bool
) -> None:
    ob, rng = chain(3, connect=False), np.random.default_rng(35)
    for frame in (1, 60):
        ob.pose.bones[0].rotation_quaternion = rng.normal(size=4)
        ob.pose.bones[0].keyframe_insert("rotation_quaternion", frame=frame)
    set_random_pose(ob, rng, 1.0)
    others = [frame for frame in range(1, 61) if not span[0] <= frame < span[1]]

    def seen() -> list[object]:
        shown = []
        for frame in others:
            context.scene.frame_set(frame)
            shown.append(read_matrices(ob))
        return shown

    before, frames = seen(), np.arange(*span, dtype=float)
    action = write_keys(ob, read_rig(ob), random_motion(3, frames, rng), [1], [2], None, new)
    if others:
        np.testing.assert_allclose(seen(), before, atol=1e-5)
    keys = {key[0][0] for found in keys_of(action).values() for key in found}
    assert keys - {1.0, 60.0, *frames.tolist()} <= {frames[0] - 1.0, frames[-1] + 1.0}
    assert others or keys == set(frames.tolist())


def test_keys_that_existed_keep_their_place_when_blender_recalculates_nothing_else() -> None:
    ob = chain(1)
    for frame, x in ((1, 0.0), (10, 1.0), (30, -1.0)):
        ob.pose.bones[0].location.x = x
        ob.pose.bones[0].keyframe_insert("location", index=0, frame=frame)
    action = ob.animation_data.action
    (curve,) = curves(action, ob).values()
    before = [curve.evaluate(f) for f in np.linspace(1.0, 10.0, 20)]
    pose = Pose(np.tile(rotation.IDENTITY, (3, 1, 1)), np.full((3, 1, 3), 7.0))
    write_keys(ob, read_rig(ob), Motion(pose, np.array([20.0, 21.0, 22.0]), 24.0), [], [0], new=False)
    assert [curve.evaluate(f) for f in np.linspace(1.0, 10.0, 20)] == before


@pytest.mark.parametrize("kind", ["BEZIER", "LINEAR", "CONSTANT"])
@pytest.mark.parametrize("span", [(12, 15), (25, 35), (30, 60), (61, 66), (-9, -5)])
@pytest.mark.parametrize("moved", [False, True])
def test_a_curve_goes_on_outside_of_the_keyed_frames_as_it_did(kind: str, span: tuple[int, int], moved: bool) -> None:
    rng = np.random.default_rng(33)
    ob = chain(1)
    for frame in (1, 10, 30, 60):
        ob.pose.bones[0].location.x = rng.normal()
        ob.pose.bones[0].keyframe_insert("location", index=0, frame=frame)
    (curve,) = curves(ob.animation_data.action, ob).values()
    for point in curve.keyframe_points:
        point.interpolation, point.handle_left_type, point.handle_right_type = kind, *rng.permutation(["FREE", "AUTO"])
        point.handle_left = point.co[0] - rng.uniform(2.0, 20.0), rng.normal()
        point.handle_right = point.co[0] + rng.uniform(2.0, 20.0), rng.normal()
    curve.update()
    frames = np.arange(*span, dtype=float)
    first, last = (max(1.0, frames[0] - 1.0), min(60.0, frames[-1] + 1.0)) if moved else frames[[0, -1]]
    every = np.arange(1.0, 60.25, 0.25) if moved else np.arange(-10.0, 70.0, 0.25)  # beyond all keys they hold
    outside = np.array([f for f in every if not first < f < last])
    before = [curve.evaluate(f) for f in outside]
    places = np.zeros((len(frames), 1, 3))
    places[:, 0, 0] = [moved + curve.evaluate(f) for f in frames]
    pose = Pose(np.tile(rotation.IDENTITY, (len(frames), 1, 1)), places)
    write_keys(ob, read_rig(ob), Motion(pose, frames, 24.0), [], [0], new=False)
    curve = curves(ob.animation_data.action, ob)['pose.bones["bone0"].location', 0]
    np.testing.assert_allclose([curve.evaluate(f) for f in outside], before, atol=2e-5)


def test_a_new_key_interpolates_as_the_segment_it_splits() -> None:
    ob = chain(1)
    bone = ob.pose.bones[0]
    for frame, kind in ((1, "CONSTANT"), (10, "BEZIER"), (20, "ELASTIC")):
        bone.keyframe_insert("location", index=0, frame=frame)
        curves(ob.animation_data.action, ob)['pose.bones["bone0"].location', 0].keyframe_points[-1].interpolation = kind
    frames = np.arange(5.0, 26.0)
    pose = Pose(np.tile(rotation.IDENTITY, (21, 1, 1)), np.zeros((21, 1, 3)))
    action = write_keys(ob, read_rig(ob), Motion(pose, frames, 24.0), [], [0], "baked")
    found = curves(action, ob)
    kinds = {p.co[0]: p.interpolation for p in found['pose.bones["bone0"].location', 0].keyframe_points}
    assert kinds == {
        1.0: "CONSTANT",
        **dict.fromkeys(np.arange(5.0, 10.0), "CONSTANT"),
        **dict.fromkeys(np.arange(10.0, 20.0), "BEZIER"),
        **dict.fromkeys(np.arange(20.0, 26.0), "ELASTIC"),
    }
    fresh = found['pose.bones["bone0"].location', 1]
    assert {p.interpolation for p in fresh.keyframe_points} == {"LINEAR"}
    assert fresh.group.name == "bone0"


def test_quaternions_do_not_flip_neither_in_the_range_nor_from_the_key_before_it() -> None:
    ob = chain(2)
    rng = np.random.default_rng(32)
    motion = random_motion(2, np.arange(10.0, 50.0), rng, 0.3)
    for sign in (1.0, -1.0):
        for i, bone in enumerate(ob.pose.bones):
            bone.rotation_quaternion = sign * motion.pose.rotations[0, i]
            bone.keyframe_insert("rotation_quaternion", frame=5)
        action = write_keys(ob, read_rig(ob), motion, range(2), [], new=False)
        found = curves(action, ob)
        for name in ("bone0", "bone1"):
            own = [found[f'pose.bones["{name}"].rotation_quaternion', i] for i in range(4)]
            values = np.array([[c.evaluate(f) for c in own] for f in (5.0, *motion.frames)])
            assert np.all(np.sum(values[1:] * values[:-1], axis=1) > 0.5)


def test_euler_angles_do_not_jump_and_go_on_from_the_key_before_the_range() -> None:
    ob = chain(1)
    bone = ob.pose.bones[0]
    bone.rotation_mode = "XYZ"
    frames = np.arange(10.0, 110.0)
    angles = np.stack([0.15 * np.arange(100), 0.3 * np.sin(np.arange(100.0)), np.zeros(100)], axis=-1)
    motion = Motion(Pose(rotation.from_euler(angles)[:, None], np.zeros((100, 1, 3))), frames, 24.0)
    bone.rotation_euler = (4.0 * np.pi, 0.0, 0.0)
    bone.keyframe_insert("rotation_euler", frame=5)
    action = write_keys(ob, read_rig(ob), motion, [0], [], new=False)
    found = curves(action, ob)
    values = np.array([[found['pose.bones["bone0"].rotation_euler', i].evaluate(f) for i in range(3)] for f in frames])
    assert np.allclose(values, angles + np.array([4.0 * np.pi, 0.0, 0.0]), atol=1e-4)


def test_axis_angles_do_not_jump() -> None:
    ob = chain(1)
    ob.pose.bones[0].rotation_mode = "AXIS_ANGLE"
    angles = np.linspace(-9.0, 9.0, 100)
    turns = rotation.from_axis_angle(np.tile([0.0, 0.6, 0.8], (100, 1)), angles)
    motion = Motion(Pose(turns[:, None], np.zeros((100, 1, 3))), np.arange(1.0, 101.0), 24.0)
    found = curves(write_keys(ob, read_rig(ob), motion, [0], []), ob)
    own = [found['pose.bones["bone0"].rotation_axis_angle', i] for i in range(4)]
    values = np.array([[c.evaluate(f) for c in own] for f in motion.frames])
    assert np.abs(np.diff(values, axis=0)).max() < 0.2


def test_locked_connected_and_driven_channels_get_no_keys() -> None:
    ob = chain(4)
    bones = ob.pose.bones
    bones[0].rotation_mode, bones[0].lock_rotation, bones[0].lock_location = (
        "XYZ",
        (False, True, False),
        (True, False, False),
    )
    bones[1].lock_rotation, bones[1].lock_rotation_w = (True, True, True), True
    constraint = bones[2].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = ob, "bone0"
    context.view_layer.update()
    motion = random_motion(4, np.arange(1.0, 5.0), np.random.default_rng(33))
    rig = read_rig(ob)
    driven = np.broadcast_to(rig.skeleton.rest_matrices, (4, 4, 3, 4))
    motion = Motion(Pose(motion.pose.rotations, motion.pose.translations, None, driven), motion.frames, 24.0)
    found = curves(write_keys(ob, rig, motion, range(4), range(4)), ob)
    assert sorted(found) == [
        ('pose.bones["bone0"].location', 1),
        ('pose.bones["bone0"].location', 2),
        ('pose.bones["bone0"].rotation_euler', 0),
        ('pose.bones["bone0"].rotation_euler', 2),
        *(('pose.bones["bone3"].rotation_quaternion', i) for i in range(4)),
    ]


def test_a_new_action_is_a_copy_in_a_slot_of_its_own_and_the_old_one_is_kept(tmp_path: Path) -> None:
    ob = chain(2)
    animate(ob, np.random.default_rng(34))
    old = ob.animation_data.action
    before, name = keys_of(old), old.name
    motion = random_motion(2, np.arange(10.0, 20.0), np.random.default_rng(35))
    action: Any = write_keys(ob, read_rig(ob), motion, [0], [], "solved")
    assert ob.animation_data.action_slot in action.slots.values()
    assert ob.animation_data.action_slot.identifier == old.slots[0].identifier
    assert keys_of(old) == before
    file = tmp_path / "saved.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    bpy.ops.wm.open_mainfile(filepath=str(file))
    assert {name, "solved"} <= set(bpy.data.actions.keys())
    assert keys_of(bpy.data.actions[name]) == before
    ob: Any = bpy.data.objects["rig"]
    read, _ = read_motion(ob, read_rig(ob), motion.frames)
    assert np.max(rotation.angle_between(read.pose.rotations[:, 0], motion.pose.rotations[:, 0])) < 2e-6


@pytest.mark.parametrize("new", [True, False])
def test_an_object_without_an_action_gets_one(new: bool) -> None:
    ob = chain(2, connect=False)
    motion = random_motion(2, np.arange(1.0, 4.0), np.random.default_rng(36))
    action = write_keys(ob, read_rig(ob), motion, range(2), range(2), "first", new)
    assert action.name == "first"
    assert ob.animation_data.action_slot is not None
    assert_reads_back(ob, motion)


def test_cycles_stay_and_are_keyed_inside() -> None:
    ob = chain(1)
    for frame in (1, 20):
        ob.pose.bones[0].keyframe_insert("rotation_quaternion", frame=frame)
    for curve in curves(ob.animation_data.action, ob).values():
        curve.modifiers.new("CYCLES")
    motion = random_motion(1, np.arange(5.0, 40.0), np.random.default_rng(37))
    write_keys(ob, read_rig(ob), motion, [0], [])
    read, _ = read_motion(ob, read_rig(ob), motion.frames)
    assert np.max(rotation.angle_between(read.pose.rotations, motion.pose.rotations)) < 2e-6


def lock(curve: Any) -> None:
    curve.lock = True


def lock_group(curve: Any) -> None:
    curve.group.lock = True


def mute(curve: Any) -> None:
    curve.mute = True


def noise(curve: Any) -> None:
    curve.modifiers.new("NOISE")


def sample(curve: Any) -> None:
    curve.convert_to_samples(1, 30)


@pytest.mark.parametrize(
    ("change", "text"),
    [(lock, "locked"), (lock_group, "locked"), (mute, "muted"), (noise, "Noise modifier"), (sample, "samples")],
)
@pytest.mark.parametrize("new", [True, False])
def test_curves_whose_keys_would_not_be_seen_are_refused_and_nothing_is_changed(
    change: Any, text: str, new: bool
) -> None:
    ob = chain(2, connect=False)
    animate(ob, np.random.default_rng(38))
    action = ob.animation_data.action
    change(curves(action, ob)['pose.bones["bone1"].location', 2])
    before = keys_of(action)
    motion = random_motion(2, np.arange(10.0, 20.0), np.random.default_rng(39))
    with pytest.raises(BridgeError, match=rf'location\[.\] of "bone1".*{text}'):
        write_keys(ob, read_rig(ob), motion, range(2), range(2), None, new)
    assert ob.animation_data.action == action
    assert keys_of(action) == before
    assert len(bpy.data.actions) == 1


def test_the_name_of_an_action_that_exists_is_refused() -> None:
    ob = chain(1)
    bpy.data.actions.new("taken")
    motion = random_motion(1, np.arange(1.0, 3.0), np.random.default_rng(40))
    with pytest.raises(BridgeError, match='action "taken" already'):
        write_keys(ob, read_rig(ob), motion, [0], [], "taken")
    assert ob.animation_data is None or ob.animation_data.action is None


def test_an_action_that_the_nla_mixes_with_others_is_refused() -> None:
    ob = chain(1)
    animate(ob, np.random.default_rng(41))
    ob.animation_data.nla_tracks.new().strips.new("strip", 1, ob.animation_data.action.copy())
    motion = random_motion(1, np.arange(1.0, 3.0), np.random.default_rng(42))
    rig = read_rig(ob)
    ob.animation_data.action_influence = 0.5
    with pytest.raises(BridgeError, match="NLA editor"):
        write_keys(ob, rig, motion, [0], [])
    ob.animation_data.action_influence = 1.0
    write_keys(ob, rig, motion, [0], [0], new=False)
    assert_reads_back(ob, motion)


def test_only_bones_that_differ_count_as_changed() -> None:
    ob = chain(4, connect=False)
    set_random_pose(ob, np.random.default_rng(43), 1.0)
    before = read_pose(ob, read_rig(ob))
    turns, places = np.array(before.rotations), np.array(before.translations)
    turns[0] *= -1.0  # the same rotation
    turns[2] = rotation.mul(turns[2], rotation.exp([0.0, 1e-3, 0.0]))
    places[3, 1] += 0.01
    turned, moved, grown = changed_bones(before, Pose(turns, places), 1.0)
    assert (turned.tolist(), moved.tolist(), grown.tolist()) == ([2], [3], [])
    scales = np.ones((4, 3))
    scales[1, 1] = 1.001
    for one, other in ((before, Pose(turns, places, scales)), (Pose(turns, places, scales), before)):
        assert changed_bones(one, other, 1.0)[2].tolist() == [1]
    assert not len(changed_bones(Pose(turns, places, scales), Pose(turns, places, scales), 1.0)[2])


def test_rounding_is_no_change_where_no_bone_is_moved() -> None:
    rest = Pose(np.tile(rotation.IDENTITY, (2, 1)), np.zeros((2, 3)))
    dust = Pose(rest.rotations, np.full((2, 3), 1e-9))
    assert not any(len(bones) for bones in changed_bones(rest, dust, 1.0))
    assert changed_bones(rest, dust, 1e-4)[1].tolist() == [0, 1]


def test_lengths_are_keyed_of_bones_that_may_stretch_and_along_them_only() -> None:
    ob = chain(4)
    for bone in ob.pose.bones:
        bone.ik_stretch = 0.5
    ob.pose.bones[1].ik_stretch = 0.0
    ob.pose.bones[2].lock_scale[1] = True
    ob.pose.bones[0].scale = ob.pose.bones[1].scale = (0.9, 1.0, 1.1)
    motion = random_motion(4, np.arange(1.0, 5.0), np.random.default_rng(44))
    scales = np.ones((4, 4, 3))
    scales[:, :, 1] = np.random.default_rng(45).uniform(0.5, 1.5, (4, 4))
    motion = Motion(Pose(motion.pose.rotations, motion.pose.translations, scales), motion.frames, 24.0)
    found = curves(write_keys(ob, read_rig(ob), motion, [], [], scaled=[0, 1, 2]), ob)
    assert sorted(found) == [('pose.bones["bone0"].scale', 1)]
    for i, frame in enumerate(motion.frames):
        context.scene.frame_set(int(frame))
        assert np.allclose(ob.pose.bones[0].scale, (0.9, scales[i, 0, 1], 1.1), atol=1e-6)
