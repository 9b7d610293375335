"""A breakdown of a captured walk with a few key poses, as Blender evaluates it."""

from typing import Any

import bpy
import numpy as np
import pytest

from edits.breakdown import Breakdown
from tests.blender.edits.test_in_between import leave
from tests.blender.retargets import rigify_walk
from tests.blender.rigs import context, curves, load
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")
FRAME, ENDS = 24, (17, 32)


@pytest.fixture
def walker() -> Any:
    rig = load(DATA / "motion" / "cmu_07_12.bvh")[0]
    leave(rig)
    context.view_layer.objects.active = rig
    context.scene.frame_set(FRAME)
    return rig


@pytest.fixture
def keying() -> Any:
    context.scene.tool_settings.use_keyframe_insert_auto = True
    yield
    context.scene.tool_settings.use_keyframe_insert_auto = False


def seen(rig: Any) -> np.ndarray:
    context.view_layer.update()
    return np.array([rig.matrix_world @ bone.head for bone in rig.pose.bones])


def at(rig: Any, frame: int) -> np.ndarray:
    context.scene.frame_set(frame)
    return seen(rig)


@pytest.mark.parametrize(("factor", "end"), [(0.0, ENDS[0]), (1.0, ENDS[1])])
def test_all_of_one_key_pose_is_that_pose_keyed_and_other_key_poses_stay(
    walker: Any, factor: float, end: int, keying: None
) -> None:
    wanted = at(walker, end)
    others = {frame: at(walker, frame) for frame in ENDS}
    context.scene.frame_set(FRAME)
    assert bpy.ops.poise.breakdown(factor=factor) == {"FINISHED"}
    near = 1e-4 * walker.dimensions.z
    np.testing.assert_allclose(seen(walker), wanted, atol=near)
    np.testing.assert_allclose(at(walker, FRAME), wanted, atol=near)
    for frame, heads in others.items():
        np.testing.assert_allclose(at(walker, frame), heads, atol=near)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the larger test data (../shared/data) is not here")
@pytest.mark.parametrize("share", [0.0, pytest.param(1.0, marks=pytest.mark.long)], ids=["IK", "FK"])
def test_on_rigify_all_of_one_key_pose_is_that_pose_with_its_knees(share: float) -> None:
    rig = rigify_walk(share)
    leave(rig)
    context.scene.tool_settings.use_keyframe_insert_auto = True  # of the scene that was opened
    context.view_layer.objects.active = rig
    deform = [bone.bone.use_deform for bone in rig.pose.bones]
    for frame, factor, end in ((FRAME, 0.0, 17), (40, 1.0, 47)):
        wanted = at(rig, end)[deform]
        context.scene.frame_set(frame)
        assert bpy.ops.poise.breakdown(factor=factor) == {"FINISHED"}
        np.testing.assert_allclose(at(rig, frame)[deform], wanted, atol=1e-4 * rig.dimensions.z)


def test_without_auto_keying_no_key_is_made(walker: Any) -> None:
    before = seen(walker)
    assert bpy.ops.poise.breakdown(factor=0.2) == {"FINISHED"}
    assert np.abs(seen(walker) - before).max() > 0.01 * walker.dimensions.z
    frames = {point.co.x for curve in curves(walker.animation_data.action, walker).values()
              for point in curve.keyframe_points}  # fmt: skip
    assert FRAME not in frames
    np.testing.assert_allclose(at(walker, FRAME), before, atol=1e-5)


def test_a_share_shows_the_same_pose_whatever_was_shown_before_and_gives_the_pose_back(walker: Any) -> None:
    before = seen(walker)
    breakdown = Breakdown(context, walker)
    assert breakdown.share == pytest.approx((FRAME - ENDS[0]) / (ENDS[1] - ENDS[0]))
    breakdown.show(walker, 0.3)
    first = seen(walker)
    for share in (1.0, 0.0, 0.7):
        breakdown.show(walker, share)
    breakdown.show(walker, 0.3)
    np.testing.assert_array_equal(seen(walker), first)
    breakdown.restore(walker)
    np.testing.assert_array_equal(seen(walker), before)


def test_a_frame_with_a_key_pose_can_be_changed_between_its_neighbours(walker: Any, keying: None) -> None:
    wanted = at(walker, 2)
    context.scene.frame_set(ENDS[0])
    assert bpy.ops.poise.breakdown(factor=0.0) == {"FINISHED"}
    np.testing.assert_allclose(at(walker, ENDS[0]), wanted, atol=1e-4 * walker.dimensions.z)


def test_beyond_the_keys_it_is_refused(walker: Any) -> None:
    context.scene.frame_set(90)
    with pytest.raises(RuntimeError, match="Frame 90 is not between two key poses"):
        bpy.ops.poise.breakdown()
