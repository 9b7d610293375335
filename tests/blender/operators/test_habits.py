"""Blender's habits: hidden and locked bones, several armatures at once, undo at any time, playback with pins."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest

from bridge import pick, read_channels
from panels.pins import POISE_PT_pins
from tests.blender.rigs import (
    FEET,
    contents,
    drawn_by,
    make_armature,
    make_view,
    make_walk,
    pin_feet,
    select,
    set_hidden,
    turn,
    world,
)

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture
def rig() -> Any:
    return pin_feet()


def stored(object: Any) -> dict[str, Any]:
    return {name: values.tolist() for name, values in read_channels(object).items()}


# -- hidden and locked ------------------------------------------------------------------------------------------------


def hide_bone(rig: Any) -> None:
    for name in ("hand.L", "forearm.L"):
        set_hidden(rig.pose.bones[name])


def hide_collection(rig: Any) -> None:
    arm = rig.data.collections.new("Arm")
    for name in ("hand.L", "forearm.L"):
        arm.assign(rig.data.bones[name])
    arm.is_visible = False


def show_other_collection_alone(rig: Any) -> None:
    arm, rest = rig.data.collections.new("Arm"), rig.data.collections.new("Rest")
    for bone in rig.data.bones:
        (arm if bone.name in ("hand.L", "forearm.L") else rest).assign(bone)
    rest.is_solo = True


def lock_selection(rig: Any) -> None:
    for name in ("hand.L", "forearm.L"):
        rig.data.bones[name].hide_select = True


HIDDEN = (hide_bone, hide_collection, show_other_collection_alone)
HIDE = pytest.mark.parametrize("hide", [*HIDDEN, lock_selection])


@HIDE
def test_what_is_hidden_or_not_to_be_selected_is_not_picked(rig: Any, hide: Callable[[Any], None]) -> None:
    view, _ = make_view()
    mouse = tuple(view.pixels(world(rig, "hand.L")))
    grab = pick(bpy.context, view, mouse)
    assert grab is not None
    assert grab.bone == "hand.L"
    hide(rig)
    assert pick(bpy.context, view, mouse) is None
    other = pick(bpy.context, view, tuple(view.pixels(world(rig, "hand.R"))))
    assert other is not None
    assert other.bone == "hand.R"


@HIDE
def test_what_is_hidden_or_not_to_be_selected_moves_with_the_body(rig: Any, hide: Callable[[Any], None]) -> None:
    start = read_channels(rig)
    bpy.ops.poise.drag(bone="chest", shift=(0.0, -0.2, -0.3))
    shown = stored(rig)
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.pose.transforms_clear()
    assert stored(rig) == {name: values.tolist() for name, values in start.items()}
    hide(rig)
    for foot in FEET:  # pins of hidden bones hold, too
        set_hidden(rig.pose.bones[foot])
    bpy.ops.poise.drag(bone="chest", shift=(0.0, -0.2, -0.3))
    assert stored(rig) == shown


@pytest.mark.parametrize("hide", HIDDEN)
def test_going_to_the_pin_of_a_hidden_bone_is_refused_with_the_reason(rig: Any, hide: Callable[[Any], None]) -> None:
    select(rig, ["hand.L"])
    bpy.ops.poise.pin()
    select(rig, ["head"])
    hide(rig)
    with pytest.raises(RuntimeError, match=r'"hand\.L" is hidden. Show it'):
        bpy.ops.poise.goto_pin(bone="hand.L")
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["head"]


def test_going_to_the_pin_of_a_bone_that_the_mouse_cannot_select_selects_it(rig: Any) -> None:
    select(rig, ["hand.L"])
    bpy.ops.poise.pin()
    select(rig, ["head"])
    lock_selection(rig)
    bpy.ops.poise.goto_pin(bone="hand.L")
    assert bpy.context.active_pose_bone.name == "hand.L"


def test_locked_channels_keep_their_numbers(rig: Any) -> None:
    hips, spine = rig.pose.bones["hips"], rig.pose.bones["spine"]
    spine.rotation_mode = "XYZ"
    spine.rotation_euler = (0.1, 0.2, -0.3)
    spine.lock_rotation = (False, True, True)
    hips.location = (0.01, 0.02, 0.03)
    hips.lock_location = (True, False, True)
    rig.pose.bones["chest"].lock_rotation = (True, True, True)
    locked = (*spine.rotation_euler[1:], hips.location.x, hips.location.z, *rig.pose.bones["chest"].rotation_quaternion)
    bpy.ops.poise.drag(bone="hand.L", shift=(-0.3, -0.4, -0.5))
    now = (*spine.rotation_euler[1:], hips.location.x, hips.location.z, *rig.pose.bones["chest"].rotation_quaternion)
    assert now == locked
    assert spine.rotation_euler.x != pytest.approx(0.1, abs=1e-4)


# -- X-mirror ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relative", [False, True])
def test_x_mirror_from_an_uneven_pose_does_as_blenders_own_tools_do(rig: Any, relative: bool) -> None:
    """Blender makes the other side as this one is, or with Relative Mirror lets it go the same way."""
    across = np.array([-1.0, 1.0, 1.0])
    rig.pose.use_mirror_x, rig.pose.use_mirror_relative = True, relative
    turn(rig, "upper_arm.R", 0.5)
    left, right = world(rig, "hand.L"), world(rig, "hand.R")
    assert np.linalg.norm(left * across - right) > 0.05
    bpy.ops.poise.drag(bone="hand.L", shift=(-0.1, -0.2, -0.2))
    expected = right + across * (-0.1, -0.2, -0.2) if relative else across * world(rig, "hand.L")
    np.testing.assert_allclose(world(rig, "hand.R"), expected, atol=1e-3)
    np.testing.assert_allclose(world(rig, "hand.L") - left, (-0.1, -0.2, -0.2), atol=1e-3)


# -- several armatures in Pose Mode -----------------------------------------------------------------------------------


@pytest.fixture
def pair(rig: Any) -> tuple[Any, Any]:
    """The pinned body, active, and another beside it, both in Pose Mode."""
    bpy.ops.object.mode_set(mode="OBJECT")
    other = make_armature("other")
    other.location = (0.0, 0.0, 2.0)
    for object in (rig, other):
        object.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    assert {object.name for object in bpy.context.objects_in_mode} == {"rig", "other"}
    return rig, other


def test_the_mouse_grabs_of_any_armature_in_pose_mode_and_only_that_one_moves(
    pair: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, other = pair
    view, _ = make_view()
    grab = pick(bpy.context, view, tuple(view.pixels(world(other, "hand.R"))))
    assert grab is not None
    assert (grab.object_name, grab.bone) == ("other", "hand.R")
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", False)
    before, hand = stored(rig), world(other, "hand.R")
    bpy.ops.poise.drag(object=grab.object_name, bone=grab.bone, shift=(0.1, -0.2, 0.2))
    assert stored(rig) == before
    np.testing.assert_allclose(np.subtract(world(other, "hand.R"), hand), [0.1, -0.2, 0.2], atol=1e-3)
    assert rig.animation_data is None
    assert other.animation_data.action is not None
    bpy.ops.poise.cycle_pin(object="other", bone="hand.R")
    assert [pin.name for pin in other.poise_pins] == ["hand.R"]


def test_panel_and_tools_are_about_the_active_armature(pair: tuple[Any, Any]) -> None:
    rig, other = pair
    for object, name in ((rig, "head"), (other, "hand.L")):
        bone = object.pose.bones[name]
        (bone if hasattr(bone, "select") else bone.bone).select = True
    bpy.ops.poise.pin()
    assert "head" in [pin.name for pin in rig.poise_pins]
    assert not len(other.poise_pins)
    bpy.context.view_layer.objects.active = other
    bpy.ops.poise.pin()
    assert [pin.name for pin in other.poise_pins] == ["hand.L"]
    names = {text for kind, text in drawn_by(POISE_PT_pins) if kind == "label"}
    assert "hand.L" in names
    assert "head" not in names
    bpy.ops.poise.clear_pins()
    assert "head" in [pin.name for pin in rig.poise_pins]


# -- undo -------------------------------------------------------------------------------------------------------------


def pins(name: str = "rig") -> list[Any]:
    """All that is saved of pins, marks on bones among it; looked up anew, since undo makes new objects."""
    object = bpy.data.objects[name]
    found: list[Any] = [
        (pin.name, pin.name_mark, pin.use_position, pin.use_rotation, *pin.position, *pin.rotation, pin.space, pin.mute)
        for pin in object.poise_pins
    ]
    return [*found, {bone.name: bone.poise_mark for bone in object.pose.bones if bone.poise_mark}]


@pytest.mark.parametrize(
    "act",
    [
        lambda: bpy.ops.poise.pin("EXEC_DEFAULT", True, kind="POSITION", space="ARMATURE"),
        lambda: bpy.ops.poise.unpin("EXEC_DEFAULT", True, bone="foot.L"),
        lambda: bpy.ops.poise.clear_pins("EXEC_DEFAULT", True),
        lambda: bpy.ops.poise.cycle_pin("EXEC_DEFAULT", True, bone="foot.R"),
        lambda: bpy.ops.poise.mirror_pins("EXEC_DEFAULT", True),
        lambda: bpy.ops.poise.pin_space("EXEC_DEFAULT", True, space="ARMATURE"),
        lambda: bpy.ops.poise.drag("EXEC_DEFAULT", True, bone="foot.L", shift=(0.1, -0.2, 0.2)),
    ],
    ids=["pin", "unpin", "clear", "cycle", "mirror", "space", "drag"],
)
def test_undo_and_redo_of_pins_give_exactly_what_was_and_what_became(rig: Any, act: Callable[[], Any]) -> None:
    rig.location = (0.3, 0.2, 0.1)
    turn(rig, "thigh.L", 0.4)
    bpy.ops.poise.unpin(bone="foot.R")
    select(rig, ["foot.L", "hand.R"])
    bpy.ops.poise.pin()
    select(rig, ["foot.L"])
    bpy.ops.ed.undo_push(message="before")
    before, pose = pins(), stored(rig)
    act()
    after, dropped = pins(), stored(bpy.data.objects["rig"])
    assert after != before
    for _ in range(2):
        bpy.ops.ed.undo()
        assert (pins(), stored(bpy.data.objects["rig"])) == (before, pose)
        drawn_by(POISE_PT_pins)
        bpy.ops.ed.redo()
        assert (pins(), stored(bpy.data.objects["rig"])) == (after, dropped)
    bone = bpy.data.objects["rig"].data.bones["foot.L"]
    if "foot.L" in [pin[0] for pin in after[:-1]]:
        bone.name = "paw.L"
        bpy.context.view_layer.update()
        assert "paw.L" in [pin[0] for pin in pins()[:-1]]


# -- playback ---------------------------------------------------------------------------------------------------------


def test_playback_with_pins_in_place_changes_nothing_that_is_stored(rig: Any) -> None:
    make_walk(rig)
    without: list[Any] = []
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
        without.append(stored(rig))
    bpy.context.scene.frame_set(1)
    select(rig, FEET)
    bpy.ops.poise.pin(kind="BOTH", space="ARMATURE")
    before = contents()
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
        assert stored(rig) == without[frame - 1]
        assert ("list", "poise_pins") in drawn_by(POISE_PT_pins)  # the panel is open
    bpy.context.scene.frame_set(1)
    assert contents() == before
