"""Auto-keying: the same keys as Blender's own transform sets for the same change."""

from collections.abc import Iterator
from typing import Any

import bpy
import pytest
from bpy_extras.anim_utils import action_get_channelbag_for_slot

from bridge import autokey
from tests.blender.rigs import make_armature, select, turn

pytestmark = pytest.mark.usefixtures("empty_file")

BONE = "hand.L"
PREFERENCES = (
    "use_keyframe_insert_available",
    "use_auto_keyframe_insert_needed",
    "use_keyframe_insert_needed",
    "use_visual_keying",
)
Keys = dict[tuple[str, int], Any]


@pytest.fixture
def edit() -> Iterator[Any]:
    """The preferences for keys, all off, and auto-keying on."""
    edit = bpy.context.preferences.edit
    before = {name: getattr(edit, name) for name in PREFERENCES}
    for name in PREFERENCES:
        setattr(edit, name, False)
    settings = bpy.context.scene.tool_settings
    settings.use_keyframe_insert_auto = True
    settings.transform_pivot_point = "INDIVIDUAL_ORIGINS"  # about other points Blender keys locations of turned bones
    yield edit
    for name, value in before.items():
        setattr(edit, name, value)


@pytest.fixture
def viewport() -> dict[str, Any]:
    """For Blender's transform, and for its keying sets, which ask where they are."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return {"window": window, "area": area, "region": next(r for r in area.regions if r.type == "WINDOW")}


def keys(rig: Any) -> Keys:
    """Every key of the armature, with the groups of the curves."""
    data = rig.animation_data
    bag = action_get_channelbag_for_slot(data.action, data.action_slot) if data else None
    return {
        (curve.data_path, curve.array_index): (
            curve.group and curve.group.name,
            [(key.co.x, pytest.approx(key.co.y, abs=1e-6), key.type) for key in curve.keyframe_points],
        )
        for curve in (bag.fcurves if bag else ())
    }


def prepare(rig: Any, before: dict[str, int]) -> None:
    """The armature at rest, with these channels (all for -1) keyed at an earlier frame."""
    rig.animation_data_clear()
    turn(rig, BONE, 0.0)
    for channel, index in before.items():
        rig.pose.bones[BONE].keyframe_insert(channel, index=index, frame=-5)
    select(rig, [BONE])
    bpy.context.view_layer.update()


def compare(rig: Any, viewport: dict[str, Any], before: dict[str, int]) -> tuple[Keys, Keys]:
    """The keys after a bone was turned: by Blender, by Poise."""
    prepare(rig, before)
    with bpy.context.temp_override(**viewport):
        bpy.ops.transform.rotate(value=0.3, orient_axis="X")
    turned = tuple(rig.pose.bones[BONE].rotation_quaternion)
    blender = keys(rig)
    prepare(rig, before)
    rig.pose.bones[BONE].rotation_quaternion = turned
    with bpy.context.temp_override(**viewport):
        autokey.key(bpy.context, rig, (BONE,), ())
    return blender, keys(rig)


EARLIER = {"rotation_quaternion": -1, "location": -1, "scale": 1}


@pytest.mark.parametrize("before", [{}, EARLIER, {"scale": 1}], ids=["no keys", "keys", "one curve"])
@pytest.mark.parametrize("on", [(), *((name,) for name in PREFERENCES[:3]), PREFERENCES[:2]], ids=lambda on: str(on))
def test_the_preferences_are_heeded_as_blenders_transform_heeds_them(
    edit: Any, viewport: dict[str, Any], before: dict[str, int], on: tuple[str, ...]
) -> None:
    for name in on:
        setattr(edit, name, True)
    blender, poise = compare(make_armature(), viewport, before)
    assert poise == blender


@pytest.mark.parametrize(
    "name",
    ["BUILTIN_KSI_LocRot", "Available", "Rotation", "LocRotScaleCProp", "BUILTIN_KSI_BendyBones", "WholeCharacter"],
)
@pytest.mark.parametrize("own", [None, False, True], ids=["needed by preference", "not needed", "needed"])
def test_the_active_keying_set_is_heeded_as_blenders_transform_heeds_it(
    edit: Any, viewport: dict[str, Any], name: str, own: bool | None
) -> None:
    edit.use_keyframe_insert_needed = True
    rig = make_armature()
    rig.pose.bones[BONE]["grip"] = 0.5
    sets = bpy.context.scene.keying_sets_all
    sets.active = next(found for found in sets if found.bl_idname == name)
    sets.active.use_insertkey_override_needed, sets.active.use_insertkey_needed = own is not None, bool(own)
    bpy.context.scene.tool_settings.use_keyframe_insert_keyingset = True
    blender, poise = compare(rig, viewport, EARLIER)
    assert poise == blender
    sets.active.use_insertkey_override_needed = False


def test_a_keying_set_of_named_properties_is_keyed_as_it_is(edit: Any, viewport: dict[str, Any]) -> None:
    rig = make_armature()
    named = bpy.context.scene.keying_sets.new(idname="mine", name="mine")
    named.paths.add(rig, 'pose.bones["head"].location')
    named.paths.add(rig, f'pose.bones["{BONE}"].rotation_quaternion', index=1)
    named.paths.add(rig, "color", index=2)
    named.paths.add(rig, "hide_render")
    bpy.context.scene.keying_sets_all.active = named
    bpy.context.scene.tool_settings.use_keyframe_insert_keyingset = True
    blender, poise = compare(rig, viewport, {})
    assert poise == blender
    assert len(poise) == 6


def test_locked_and_replacing_and_breakdown_are_as_blender_has_them(edit: Any, viewport: dict[str, Any]) -> None:
    rig = make_armature()
    settings = bpy.context.scene.tool_settings
    settings.keyframe_type = "BREAKDOWN"
    for mode in ("ADD_REPLACE_KEYS", "REPLACE_KEYS"):
        settings.auto_keying_mode = mode
        for locked in ((False, True, False), (True, True, True)):
            bone = rig.pose.bones[BONE]
            bone.lock_location = bone.lock_rotation = bone.lock_scale = locked
            bone.lock_rotations_4d = False
            blender, poise = compare(rig, viewport, EARLIER)
            assert poise == blender


def test_bones_that_a_drag_makes_longer_are_keyed(edit: Any) -> None:
    edit.use_auto_keyframe_insert_needed = True
    rig = make_armature()
    select(rig, [])
    rig.poise_use_stretch, rig.poise_root = True, "FIXED"
    for name in ("upper_arm.L", "forearm.L"):
        rig.pose.bones[name].ik_stretch = 1.0
    bpy.ops.poise.drag(bone=BONE, shift=(0.15, 0.0, 0.0))
    scales = {path for path, _ in keys(rig) if path.endswith(".scale")}
    assert 'pose.bones["forearm.L"].scale' in scales
    assert rig.pose.bones["forearm.L"].scale.y > 1.01


@pytest.mark.parametrize("stashed", [False, True])
@pytest.mark.parametrize("needed", [True, False])
@pytest.mark.parametrize("mode", ["ADD_REPLACE_KEYS", "REPLACE_KEYS"])
def test_blender_warns_of_no_channel_that_needs_no_key(
    edit: Any, stashed: bool, needed: bool, mode: str, capfd: Any
) -> None:
    rig = make_armature()
    hand, scene = rig.pose.bones[BONE], bpy.context.scene
    hand.rotation_mode = "XYZ"
    hand.keyframe_insert("rotation_euler", frame=1)
    hand.keyframe_insert("location", frame=1)
    action_get_channelbag_for_slot(rig.animation_data.action, rig.animation_data.action_slot).fcurves[-1].lock = True
    if stashed:
        track = rig.animation_data.nla_tracks.new()
        track.strips.new("stash", 1, rig.animation_data.action.copy())
        track.mute = True
    edit.use_auto_keyframe_insert_needed = needed
    scene.tool_settings.auto_keying_mode = mode
    for frame in (1, 5):
        scene.frame_set(frame)
        hand.rotation_euler.x += 0.3
        capfd.readouterr()
        autokey.key(bpy.context, rig, (BONE,), (BONE,))
        said = capfd.readouterr()
        assert "insert" not in said.out + said.err
    curves = action_get_channelbag_for_slot(rig.animation_data.action, rig.animation_data.action_slot).fcurves
    turned = curves.find(hand.path_from_id("rotation_euler"), index=0)
    assert [key.co.x for key in turned.keyframe_points] == ([1.0] if mode == "REPLACE_KEYS" else [1.0, 5.0])
    other = curves.find(hand.path_from_id("rotation_euler"), index=1)
    assert [key.co.x for key in other.keyframe_points] == ([1.0] if needed or mode == "REPLACE_KEYS" else [1.0, 5.0])
