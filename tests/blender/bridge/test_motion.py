"""Reading motions: from F-curves in bulk exactly what stepping through the frames gives, and nothing left changed."""

from itertools import islice
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from bridge import BridgeError, Rig, read_matrices, read_motion, read_pose, read_rig, reading_motion, world_matrix
from bridge.motion import only_curves_decide
from core import Motion, Pose, forward_matrices, rotation
from tests.blender.rigs import chain, context, diagonal, load, set_random_pose
from tests.paths import DATA, SHARED

WALK = DATA / "motion" / "cmu_07_12.bvh"
FRAMES = np.arange(-3.0, 12.0, 0.75)


def stepped(ob: Any, rig: Rig, frames: np.ndarray) -> tuple[list[Pose], list[np.ndarray], list[np.ndarray]]:
    """Poses, Blender's bone matrices and world matrices, frame by frame."""
    poses, matrices, worlds = [], [], []
    for frame in frames:
        context.scene.frame_set(int(np.floor(frame)), subframe=float(frame - np.floor(frame)))
        poses.append(read_pose(ob, rig))
        matrices.append(read_matrices(ob))
        worlds.append(world_matrix(ob))
    return poses, matrices, worlds


def assert_same(motion: Motion, worlds: np.ndarray, ob: Any, rig: Rig) -> None:
    poses, matrices, stepped_worlds = stepped(ob, rig, motion.frames)
    assert np.array_equal(motion.pose.rotations, [p.rotations for p in poses])
    assert np.array_equal(motion.pose.translations, [p.translations for p in poses])
    assert np.array_equal(worlds, stepped_worlds)
    size = max(diagonal(rig.skeleton), 1.0, np.abs(matrices).max())
    assert np.abs(forward_matrices(rig.skeleton, motion.pose) - matrices).max() < 3e-5 * size


def animate(ob: Any, rng: np.random.Generator, frames: tuple[float, ...] = (1.0, 4.0, 9.5)) -> None:
    """Random keys on all rotations and locations."""
    for frame in frames:
        set_random_pose(ob, rng, 1.0)
        for bone in ob.pose.bones:
            for name in ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle"):
                bone.keyframe_insert(name, frame=frame)


def curves(ob: Any) -> list[Any]:
    return list(ob.animation_data.action.layers[0].strips[0].channelbags[0].fcurves)


@pytest.mark.parametrize(
    ("path", "fast"),
    [
        (WALK, True),
        (SHARED / "rigs/real/quaternius_trex.fbx", True),
        (SHARED / "rigs/real/vrm_extra_spine.blend", True),
        (SHARED / "rigs/real/cesium_man.gltf", False),
        (SHARED / "rigs/real/quaternius_spider.blend", False),
        (SHARED / "rigs/real/mesh2motion_human.blend", False),
        (SHARED / "rigs/real/ozz_pab_walk.fbx", False),
    ],
    ids=lambda value: getattr(value, "stem", ""),
)
def test_a_motion_is_what_stepping_through_the_frames_shows(path: Path, fast: bool) -> None:
    ob = load(path)[0]
    rig = read_rig(ob)
    assert only_curves_decide(ob, rig) == fast
    motion, worlds = read_motion(ob, rig, FRAMES)
    assert_same(motion, worlds, ob, rig)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX"])
def test_curves_of_every_rotation_mode_are_read_as_stepped(mode: str) -> None:
    ob = chain(4, connect=False)
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    animate(ob, np.random.default_rng(20))
    rig = read_rig(ob)
    assert only_curves_decide(ob, rig)
    motion, worlds = read_motion(ob, rig, FRAMES)
    assert np.ptp(motion.pose.rotations, axis=0).max() > 0.1
    assert_same(motion, worlds, ob, rig)


def test_modifiers_mutes_and_extrapolation_are_read_as_stepped() -> None:
    ob = chain(4, connect=False)
    animate(ob, np.random.default_rng(21))
    every = curves(ob)
    every[0].modifiers.new("NOISE").strength = 3.0
    every[1].modifiers.new("CYCLES")
    every[2].modifiers.new("STEPPED")
    every[3].mute = True
    every[4].extrapolation = "LINEAR"
    next(c for c in every if "bone2" in c.data_path).group.mute = True
    for key in every[5].keyframe_points:
        key.interpolation = "BOUNCE"
    rig = read_rig(ob)
    assert only_curves_decide(ob, rig)
    set_random_pose(ob, np.random.default_rng(22), 1.0)  # muted channels keep what they have
    motion, worlds = read_motion(ob, rig, FRAMES)
    assert_same(motion, worlds, ob, rig)


def test_partly_keyed_quaternions_are_read_as_stepped() -> None:
    ob = chain(2)
    for frame, value in ((1, 0.9), (8, -0.5)):
        ob.pose.bones[1].rotation_quaternion[2] = value
        ob.pose.bones[1].keyframe_insert("rotation_quaternion", index=2, frame=frame)
    ob.pose.bones[1].rotation_quaternion[3] = 0.7
    rig = read_rig(ob)
    motion, worlds = read_motion(ob, rig, FRAMES)
    assert_same(motion, worlds, ob, rig)


def nla(ob: Any) -> None:
    action = ob.animation_data.action
    track = ob.animation_data.nla_tracks.new()
    track.strips.new("strip", 5, action).blend_type = "REPLACE"
    ob.animation_data.action = None


def moving_object(ob: Any) -> None:
    for frame, x in ((1, 0.0), (9, 5.0)):
        ob.location.x = x
        ob.keyframe_insert("location", index=0, frame=frame)


def moving_parent(ob: Any) -> None:
    ob.parent = bpy.data.objects.new("parent", None)
    context.scene.collection.objects.link(ob.parent)
    moving_object(ob.parent)


def driver(ob: Any) -> None:
    ob.driver_add("location", 0).driver.expression = "frame"


def constraint(ob: Any) -> None:
    target = bpy.data.objects.new("target", None)
    context.scene.collection.objects.link(target)
    moving_object(target)
    for owner in (ob, ob.pose.bones[1]):
        owner.constraints.new("COPY_LOCATION").target = target


def remapped_time(ob: Any) -> None:
    context.scene.render.frame_map_new = 50


def blended_action(ob: Any) -> None:
    nla(ob)
    ob.animation_data.action = bpy.data.actions["rigAction"].copy()
    ob.animation_data.action_influence = 0.5


@pytest.mark.parametrize(
    "cause",
    [nla, moving_object, moving_parent, driver, constraint, remapped_time, blended_action],
    ids=lambda f: f.__name__,
)
def test_what_is_not_in_the_action_is_seen(cause: Any) -> None:
    ob = chain(3, connect=False)
    animate(ob, np.random.default_rng(23))
    cause(ob)
    context.view_layer.update()
    rig = read_rig(ob)
    assert not only_curves_decide(ob, rig)
    motion, worlds = read_motion(ob, rig, FRAMES)
    assert_same(motion, worlds, ob, rig)


def test_an_object_keyed_to_stand_still_is_read_from_curves() -> None:
    ob = chain(3)
    animate(ob, np.random.default_rng(24))
    ob.location = (1.0, 2.0, 3.0)
    for frame in (1, 9):
        ob.keyframe_insert("location", frame=frame)
    context.view_layer.update()
    rig = read_rig(ob)
    assert only_curves_decide(ob, rig)
    motion, worlds = read_motion(ob, rig, FRAMES)
    assert_same(motion, worlds, ob, rig)


@pytest.mark.parametrize("whole", [True, False], ids=["to the end", "cancelled"])
@pytest.mark.parametrize("cause", [None, nla, moving_parent, driver])
def test_reading_changes_nothing(cause: Any, whole: bool) -> None:
    ob = chain(3, connect=False)
    animate(ob, np.random.default_rng(25))
    if cause is not None:
        cause(ob)
    scene = context.scene
    scene.frame_set(7, subframe=0.25)
    values = set_random_pose(ob, np.random.default_rng(26), 1.0, "any")  # a pose that is nowhere keyed
    matrices = read_matrices(ob)
    rig = read_rig(ob)
    reading = reading_motion(ob, rig, FRAMES)
    shares = list(reading) if whole else list(islice(reading, 3))
    reading.close()
    assert shares == sorted(shares)
    assert (scene.frame_current, scene.frame_subframe) == (7, 0.25)
    for name, wanted in values.items():
        found = [tuple(getattr(bone, name)) for bone in ob.pose.bones]
        assert np.array_equal(found, np.float32(wanted)), name
    assert np.allclose(read_matrices(ob), matrices, atol=1e-6)


def test_a_limit_rotation_holds_for_every_frame() -> None:
    ob = chain(3)
    animate(ob, np.random.default_rng(27))
    limit = ob.pose.bones[1].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.min_x, limit.max_x = "LOCAL", True, -0.1, 0.2
    rig = read_rig(ob)
    assert only_curves_decide(ob, rig)
    motion, worlds = read_motion(ob, rig, FRAMES)
    assert_same(motion, worlds, ob, rig)
    angles = rotation.to_euler(motion.pose.rotations[:, 1])[:, 0]
    assert angles.min() > -0.1 - 1e-6
    assert angles.max() < 0.2 + 1e-6


def test_the_rate_is_the_scenes() -> None:
    ob = chain(1)
    context.scene.render.fps, context.scene.render.fps_base = 30, 1.001
    assert abs(read_motion(ob, read_rig(ob), [1.0])[0].fps - 30 / 1.001) < 1e-4


@pytest.mark.parametrize("frames", [[], [5.0, 4.0]])
def test_a_range_that_is_empty_or_backwards_is_refused(frames: list[float]) -> None:
    ob = chain(1)
    with pytest.raises((BridgeError, ValueError), match=r"empty|increase"):
        read_motion(ob, read_rig(ob), frames)
