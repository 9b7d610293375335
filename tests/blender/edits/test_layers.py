"""Results above the motion that was there, on a layer; two characters in one action."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import commands
from tests.blender.edits.rigs import heads_over
from tests.blender.rigs import contents, context, keys_of, load, make_armature, make_walk, select
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


TOOLS: dict[str, dict[str, Any]] = {
    "smooth_motion": {},
    "make_loop": {},
    "root_motion": {},
    "fix_ground": {"height": 0.05},
    "fill_between": {},
    "drag_frame": {"bone": "LeftHand", "frame": 30, "shift": (0.0, 0.0, 0.1)},
}


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_changes_an_action_that_is_mixed_with_what_is_below(walker: Any, tool: str) -> None:
    smooth(walker)
    walker.animation_data.action_influence = 0.5
    before = contents()
    with pytest.raises(RuntimeError, match="mixes the action"):
        getattr(bpy.ops.poise, tool)(**TOOLS[tool])
    assert contents() == before


def test_no_dot_is_dragged_where_strips_alone_have_keys(walker: Any) -> None:
    smooth(walker)
    walker.animation_data.action = None
    before = contents()
    with pytest.raises(RuntimeError, match="has NLA strips, but no action"):
        bpy.ops.poise.drag_frame(**TOOLS["drag_frame"])
    assert contents() == before


@pytest.mark.parametrize("tool", ["smooth_motion", "fix_ground"])
def test_above_a_strip_of_any_influence_a_tool_changes_its_own_bones_alone(walker: Any, tool: str) -> None:
    smooth(walker)
    data = walker.animation_data
    data.nla_tracks[0].strips[0].influence = 0.5
    bag = data.action.layers[0].strips[0].channelbags[0]
    for curve in [curve for curve in bag.fcurves if "Spine" not in curve.data_path]:
        bag.fcurves.remove(curve)
    others = [bone.name for bone in walker.pose.bones if "Spine" not in bone.name]
    before = bases(walker, others)
    walker.poise_use_layers = False
    assert getattr(bpy.ops.poise, tool)(**TOOLS[tool]) == {"FINISHED"}
    np.testing.assert_allclose(bases(walker, others), before, atol=1e-6)


def bases(rig: Any, bones: list[str]) -> np.ndarray:
    """The own matrices (F, J, 4, 4) of bones, as Blender evaluates the channels."""
    found: list[Any] = []
    for frame in range(FRAMES[0], FRAMES[1] + 1, 4):
        context.scene.frame_set(frame)
        found.append([rig.pose.bones[bone].matrix_basis.copy() for bone in bones])
    return np.array(found)


def test_each_further_result_puts_the_last_one_below(walker: Any) -> None:
    smooth(walker)
    first = walker.animation_data.action
    smooth(walker)
    assert [track.strips[0].action for track in walker.animation_data.nla_tracks][-1] == first
    walker.poise_use_layers = False
    smooth(walker)
    assert len(walker.animation_data.nla_tracks) == 2


def test_nothing_of_the_motion_before_shows_through_a_new_one(walker: Any) -> None:
    """Of its location, of what a wave leaves as it is, and of properties: the same as without a layer."""
    hips, foot = walker.pose.bones["Hips"], walker.pose.bones["LeftFoot"]
    hips["weight"] = 0.0
    for frame, value in ((FRAMES[0], 0.0), (20, 1.0)):
        context.scene.frame_set(frame)
        walker.location.x, foot.scale, hips["weight"] = value, (1.0 + value,) * 3, value
        foot.rotation_mode = "XYZ" if value else foot.rotation_mode
        walker.keyframe_insert("location", frame=frame)
        foot.keyframe_insert("scale", frame=frame)
        foot.keyframe_insert("rotation_mode", frame=frame)
        hips.keyframe_insert('["weight"]', frame=frame)
    context.scene.frame_set(FRAMES[0])
    before, shown = walker.animation_data.action, []
    for layered in (False, True):
        walker.animation_data.action = before
        context.scene.frame_set(FRAMES[0])
        walker.poise_use_layers = layered
        assert bpy.ops.poise.generate(recipe="wave", start=FRAMES[0]) == {"FINISHED"}
        assert len(walker.animation_data.nla_tracks) == layered
        shown.append(heads_over(walker, *FRAMES))
        assert (walker.location.x, hips["weight"], foot.scale.x) == (0.0, 0.0, 1.0)
    np.testing.assert_allclose(shown[1], shown[0], atol=1e-6)


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


def below_spine(rig: Any, action: Any, name: str = "Spine") -> Any:
    """Put the action of a rig on an NLA strip, and above it an action of few keys of one bone alone; return that."""
    data = rig.animation_data
    strip = data.nla_tracks.new().strips.new("walk", int(action.frame_range[0]), action)
    strip.action_slot = action.slots[0]
    data.action = None
    bone = rig.pose.bones[name]
    for frame, angle in ((2, 0.0), (20, 0.2), (40, 0.5)):
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = (1.0, angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    return data.action


CHANGES: dict[str, Any] = {
    "smooth": lambda: bpy.ops.poise.smooth_motion(cutoff=2.0),
    "fill": lambda: bpy.ops.poise.fill_between(),
    "drag": lambda: bpy.ops.poise.drag_frame(bone="LeftHand", frame=20, shift=(0.0, 0.0, 0.5), before=5, after=5),
    "ground": lambda: bpy.ops.poise.fix_ground(height=-50.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_strips_move_and_the_action_above_has_no_keys_for_keeps_coming_from_them(change: str, walker: Any) -> None:
    walker.poise_use_layers = False
    above = below_spine(walker, walker.animation_data.action)
    before, frames = own_turns(walker, *FRAMES), np.arange(FRAMES[0], FRAMES[1] + 1)
    assert CHANGES[change]() == {"FINISHED"}
    after, place = own_turns(walker, *FRAMES), walker.pose.bones.find("Spine")
    others = np.arange(len(walker.pose.bones)) != place
    np.testing.assert_allclose(after[:, others], before[:, others], atol=1e-6)
    moved = np.abs(after[:, place] - before[:, place]).max(axis=1) > 1e-4
    if change != "ground":
        assert moved.any()
    if change == "drag":
        assert set(frames[moved].tolist()) <= set(range(16, 25))
    paths = {curve.data_path for curve in walker.animation_data.action.layers[0].strips[0].channelbags[0].fcurves}
    assert paths == {'pose.bones["Spine"].rotation_quaternion'}
    assert above.users or above.use_fake_user


@pytest.mark.parametrize(
    "change",
    [
        lambda: bpy.ops.poise.root_motion(carrier="OBJECT"),
        lambda: bpy.ops.poise.make_loop(),
        lambda: bpy.ops.poise.edit_path(offset=(1.0, 0.0, 0.0)),
        lambda: bpy.ops.poise.drag_frame(bone="LeftFoot", frame=20, shift=(0.0, 0.0, 0.5), before=5, after=5),
        lambda: bpy.ops.poise.bake_motion(frame_start=20, frame_end=24),
    ],
    ids=["root motion", "loop", "path", "foot", "bake"],
)
def test_what_would_have_to_change_more_than_the_action_above_the_strips_says_so(change: Any, walker: Any) -> None:
    walker.poise_use_layers = False
    below_spine(walker, walker.animation_data.action)
    context.scene.frame_set(30)
    before = contents()
    with pytest.raises(RuntimeError, match="have NLA motion that a key here would change at all frames"):
        change()
    assert contents() == before


def test_a_pin_that_is_baked_above_a_strip_leaves_what_the_strip_moves(walker: Any, capfd: Any) -> None:
    walker.poise_use_layers = False
    below_spine(walker, walker.animation_data.action)
    context.scene.frame_set(30)
    select(walker, ["LeftHand"])
    bpy.ops.poise.pin()
    bpy.ops.poise.pin_space(space="WORLD")
    others = [bone.name for bone in walker.pose.bones if "Spine" not in bone.name]
    before = bases(walker, others)
    bpy.ops.poise.bake(frame_start=20, frame_end=24)
    np.testing.assert_allclose(bases(walker, others), before, atol=1e-6)
    assert "have NLA motion that a key here would change at all frames" in capfd.readouterr().out


def own_turns(rig: Any, first: int, last: int) -> np.ndarray:
    """The rotations that bones have beside their parents' in some frames, (F, J, 4), by Blender."""
    found: list[list[Any]] = []
    for frame in range(first, last + 1):
        context.scene.frame_set(frame)
        found.append([bone.matrix_basis.to_quaternion() for bone in rig.pose.bones])
    return np.array(found)


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
