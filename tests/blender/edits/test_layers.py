"""Results above the motion that was there, on a layer; two characters in one action."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import commands
from tests.blender.edits.rigs import heads_over
from tests.blender.rigs import context, keys_of, load, make_armature, make_walk
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")
FRAMES = (2, 66)


@pytest.fixture
def walker() -> Any:
    rig = load(DATA / "motion" / "cmu_07_12.bvh")[0]
    context.view_layer.objects.active = rig
    rig.poise_use_layers = True
    return rig


def smooth(rig: Any) -> None:
    assert bpy.ops.poise.smooth_motion(cutoff=2.0, frame_start=FRAMES[0], frame_end=FRAMES[1]) == {"FINISHED"}


def test_the_influence_of_the_result_mixes_it_with_the_motion_before(walker: Any) -> None:
    before, data = heads_over(walker, *FRAMES), walker.animation_data
    kept = keys_of(data.action)
    original, size = data.action, walker.dimensions.z
    smooth(walker)
    after = heads_over(walker, *FRAMES)
    assert np.abs(after - before).max() > 1e-3 * size
    (track,) = data.nla_tracks
    (strip,) = track.strips
    assert strip.action == original
    assert keys_of(original) == kept

    data.action_influence = 0.0
    np.testing.assert_allclose(heads_over(walker, *FRAMES), before, atol=1e-5 * size)
    data.action_influence = 0.5
    mixed = heads_over(walker, *FRAMES)
    assert np.abs(mixed - before).max() > 1e-4 * size
    assert np.abs(mixed - after).max() > 1e-4 * size
    data.action_influence = 1.0
    np.testing.assert_allclose(heads_over(walker, *FRAMES), after, atol=1e-5 * size)


def test_each_further_result_puts_the_last_one_below(walker: Any) -> None:
    smooth(walker)
    first = walker.animation_data.action
    smooth(walker)
    assert [track.strips[0].action for track in walker.animation_data.nla_tracks][-1] == first
    walker.poise_use_layers = False
    smooth(walker)
    assert len(walker.animation_data.nla_tracks) == 2


def test_without_the_setting_there_are_no_tracks(walker: Any) -> None:
    walker.poise_use_layers = False
    smooth(walker)
    assert not len(walker.animation_data.nla_tracks)


def test_headless(walker: Any, tmp_path: Path) -> None:
    walker.poise_use_layers = False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    given = ["--frames", "2", "66", "--blend", str(tmp_path / "walk.blend"), "--output", str(tmp_path / "out.blend")]
    assert commands.run(["smooth", "--layer", *given]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    rig: Any = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    assert len(rig.animation_data.nla_tracks) == 1


@pytest.mark.parametrize("layered", [False, True])
def test_two_characters_in_one_action_do_not_harm_each_other(layered: bool) -> None:
    one, other = make_armature(), make_armature()
    for number, rig in enumerate((one, other)):
        rig.location.x = 3.0 * number
        make_walk(rig)
    action = one.animation_data.action
    slot = action.slots.new("OBJECT", "Other")
    bag = action.layers[0].strips[0].channelbag(slot, ensure=True)
    for curve in other.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        copy = bag.fcurves.new(curve.data_path, index=curve.array_index)
        copy.keyframe_points.add(len(curve.keyframe_points))
        for point, own in zip(copy.keyframe_points, curve.keyframe_points, strict=True):
            point.co = own.co
    other.animation_data.action, other.animation_data.action_slot = action, slot
    kept = keys_of(action)
    before = heads_over(other, 1, 20, 3)
    context.view_layer.objects.active = one
    one.poise_use_layers = layered
    assert bpy.ops.poise.smooth_motion(cutoff=1.0) == {"FINISHED"}
    assert bpy.ops.poise.root_motion(carrier="NOBODY") == {"FINISHED"}
    np.testing.assert_allclose(heads_over(other, 1, 20, 3), before, atol=1e-6)
    assert other.animation_data.action == action
    assert keys_of(action) == kept
    context.view_layer.objects.active = other
    assert bpy.ops.poise.smooth_motion(cutoff=1.0) == {"FINISHED"}
    assert other.animation_data.action != action
    assert keys_of(action) == kept
