"""The tools: pins are set, moved and taken off; poses and frame ranges are solved so that they hold."""

import inspect
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from core.causes import Cause, Explanation, Kind
from operators import CLASSES
from operators.tool import headline
from properties.pins import SETTINGS, POISE_PG_pin
from tests.blender.rigs import (
    contents,
    library_override,
    make_armature,
    make_chain,
    make_empty,
    make_walk,
    remove_bone,
    select,
    turn,
    world,
    world_rotation,
)

pytestmark = pytest.mark.usefixtures("empty_file")

NEAR = 1e-4  # metres: ten times finer than the tolerance that pins hold within
MILLIMETRE = 1e-3


@pytest.fixture
def rig() -> bpy.types.Object:
    object = make_armature()
    select(object, ["foot.L"])
    return object


def pins(object: bpy.types.Object) -> Any:
    return object.poise_pins


def angle_between(a: Any, b: Any) -> float:
    return 2.0 * float(np.arccos(min(1.0, abs(float(np.dot(a, b))))))


def test_a_pin_is_where_its_bone_is_in_the_world(rig: bpy.types.Object) -> None:
    rig.location, rig.rotation_euler, rig.scale = (1.0, 2.0, 3.0), (0.1, 0.5, 0.3), (0.5, 0.5, 0.5)
    turn(rig, "thigh.L", 0.7)
    assert bpy.ops.poise.pin(kind="BOTH") == {"FINISHED"}
    (pin,) = pins(rig)
    assert (pin.name, pin.use_position, pin.use_rotation, pin.space) == ("foot.L", True, True, "WORLD")
    np.testing.assert_allclose(pin.position, world(rig, "foot.L"), atol=1e-5)
    assert angle_between(pin.rotation, world_rotation(rig, "foot.L")) < 1e-3


@pytest.mark.parametrize(("kind", "held"), [("POSITION", (True, False)), ("ROTATION", (False, True))])
def test_the_kind_says_what_is_held(rig: bpy.types.Object, kind: str, held: tuple[bool, bool]) -> None:
    bpy.ops.poise.pin(kind=kind)
    assert (pins(rig)[0].use_position, pins(rig)[0].use_rotation) == held


def test_a_pin_in_armature_space_does_not_know_the_object(rig: bpy.types.Object) -> None:
    rig.location = (5.0, 0.0, 0.0)
    bpy.ops.poise.pin(space="ARMATURE")
    np.testing.assert_allclose(pins(rig)[0].position, rig.pose.bones["foot.L"].head, atol=1e-6)


def test_pinning_again_moves_the_pin(rig: bpy.types.Object) -> None:
    bpy.ops.poise.pin(kind="POSITION")
    pins(rig)[0].mute = True
    turn(rig, "thigh.L", 0.7)
    bpy.ops.poise.pin(kind="BOTH")
    (pin,) = pins(rig)
    assert (pin.use_rotation, pin.mute) == (True, False)
    np.testing.assert_allclose(pin.position, world(rig, "foot.L"), atol=1e-5)


def test_all_selected_bones_are_pinned_and_only_they_are_let_go(rig: bpy.types.Object) -> None:
    select(rig, ["foot.L", "foot.R", "hand.L"])
    bpy.ops.poise.pin()
    assert [pin.name for pin in pins(rig)] == ["hand.L", "foot.L", "foot.R"]
    select(rig, ["foot.L", "head"])
    assert bpy.ops.poise.unpin() == {"FINISHED"}
    assert [pin.name for pin in pins(rig)] == ["hand.L", "foot.R"]


def test_a_pin_is_let_go_by_name_even_if_its_bone_is_gone(rig: bpy.types.Object) -> None:
    bpy.ops.poise.pin()
    remove_bone(rig, "foot.L")
    assert bpy.ops.poise.unpin(bone="foot.L") == {"FINISHED"}
    assert not len(pins(rig))


def test_clear_lets_all_go(rig: bpy.types.Object) -> None:
    select(rig, ["foot.L", "foot.R"])
    bpy.ops.poise.pin()
    rig.poise_active_pin = 1
    assert bpy.ops.poise.clear_pins() == {"FINISHED"}
    assert (len(pins(rig)), rig.poise_active_pin) == (0, 0)


def test_letting_go_of_a_free_bone_is_refused(rig: bpy.types.Object) -> None:
    bpy.ops.poise.pin()
    select(rig, ["head"])
    before = contents()
    with pytest.raises(RuntimeError, match="None of the selected bones is pinned"):
        bpy.ops.poise.unpin()
    assert contents() == before


def test_solve_here_brings_pinned_bones_back(rig: bpy.types.Object) -> None:
    select(rig, ["foot.L", "foot.R"])
    bpy.ops.poise.pin(kind="BOTH")
    feet = {side: (world(rig, f"foot.{side}"), world_rotation(rig, f"foot.{side}")) for side in "LR"}
    rig.pose.bones["hips"].location = (0.05, -0.15, 0.1)
    turn(rig, "hips", 0.2)
    assert np.linalg.norm(world(rig, "foot.L") - feet["L"][0]) > 0.1
    assert bpy.ops.poise.solve() == {"FINISHED"}
    for side, (place, stand) in feet.items():
        assert np.linalg.norm(world(rig, f"foot.{side}") - place) < NEAR
        assert np.degrees(angle_between(world_rotation(rig, f"foot.{side}"), stand)) < 0.1
    assert rig.animation_data is None
    assert not len(bpy.data.actions)


def test_a_muted_pin_does_not_hold(rig: bpy.types.Object) -> None:
    select(rig, ["foot.L", "foot.R"])
    bpy.ops.poise.pin()
    place = world(rig, "foot.L")
    pins(rig)["foot.L"].mute = True
    rig.poise_root = "FIXED"
    rig.pose.bones["hips"].location = (0.2, 0.0, 0.0)
    bpy.ops.poise.solve()
    assert np.linalg.norm(world(rig, "foot.L") - place) > 0.1
    rig.poise_pins["foot.R"].mute = True
    before = contents()
    with pytest.raises(RuntimeError, match=r"All pins of .* are muted"):
        bpy.ops.poise.solve()
    assert contents() == before


def test_a_held_root_comes_along_half_as_far_as_a_pulled_one_and_reaches_as_far(rig: bpy.types.Object) -> None:
    hips = rig.pose.bones["hips"]
    select(rig, ["foot.L", "foot.R"])
    bpy.ops.poise.pin()
    assert rig.poise_root == "PULL"
    feet = {name: np.array(world(rig, name)) for name in ("foot.L", "foot.R")}
    for height in (-0.1, 0.3):
        came = {}
        for root in ("PULL", "HOLD"):
            bpy.ops.pose.transforms_clear()
            rig.poise_root = root
            hips.location = hips.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, height))
            placed = hips.location.copy()
            bpy.context.view_layer.update()
            assert bpy.ops.poise.solve() == {"FINISHED"}
            for name, place in feet.items():
                assert np.linalg.norm(world(rig, name) - place) < MILLIMETRE
            came[root] = (hips.location - placed).length
        if height < 0.0:  # legs reach the feet without the hips
            assert 10.0 * MILLIMETRE < came["HOLD"] < 0.6 * came["PULL"]


def test_a_fixed_root_stays(rig: bpy.types.Object) -> None:
    bpy.ops.poise.pin(kind="POSITION")
    rig.poise_root = "FIXED"
    pins(rig)[0].position = (0.3, -0.4, 0.5)
    bpy.ops.poise.solve()
    np.testing.assert_allclose(world(rig, "foot.L"), (0.3, -0.4, 0.5), atol=MILLIMETRE)
    assert tuple(rig.pose.bones["hips"].location) == (0.0, 0.0, 0.0)
    np.testing.assert_allclose(rig.pose.bones["hips"].rotation_quaternion, (1.0, 0.0, 0.0, 0.0))


def test_limits_hold_unless_they_are_switched_off(rig: bpy.types.Object) -> None:
    shin = rig.pose.bones["shin.L"]
    for axis in "xyz":
        setattr(shin, f"use_ik_limit_{axis}", True)
        setattr(shin, f"ik_min_{axis}", -0.1)
        setattr(shin, f"ik_max_{axis}", 0.1)
    bpy.ops.poise.pin(kind="POSITION")
    rig.poise_root = "FIXED"
    pins(rig)[0].position = (0.1, 0.0, 0.5)  # half a leg above the ground: the knee has to bend far
    bpy.ops.poise.solve()
    assert np.linalg.norm(world(rig, "foot.L") - (0.1, 0.0, 0.5)) > 0.1
    assert max(abs(a) for a in shin.rotation_quaternion.to_euler()) < 0.25
    rig.poise_limits = "OFF"
    bpy.ops.poise.solve()
    np.testing.assert_allclose(world(rig, "foot.L"), (0.1, 0.0, 0.5), atol=MILLIMETRE)


def test_what_cannot_be_reached_is_said_and_approached(capfd: pytest.CaptureFixture[str]) -> None:
    chain = make_chain(3)
    select(chain, ["b2"])
    bpy.ops.poise.pin(kind="POSITION")
    chain.poise_root = "FIXED"  # b0 stays, b1 turns about (0, 0, 0.5) and is 0.5 long
    chain.poise_pins[0].position = (3.0, 0.0, 0.5)
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose(world(chain, "b2"), (0.5, 0.0, 0.5), atol=MILLIMETRE)
    missed = "Warning: b2 is 2.50 m short of its target at frame 1: fully stretched from b1. Move the target closer"
    assert [line.partition("; ")[0] for line in capfd.readouterr().out.splitlines()[1:]] == [missed]


def test_a_report_says_what_stopped_the_body_and_what_helps(capfd: pytest.CaptureFixture[str]) -> None:
    chain = make_chain(3)
    select(chain, ["b2"])
    bpy.ops.poise.pin(kind="POSITION")
    chain.poise_root = "FIXED"
    bone = chain.pose.bones["b1"]
    bone.lock_ik_y = bone.use_ik_limit_x = bone.use_ik_limit_z = True
    bone.ik_min_x = bone.ik_min_z = -0.1
    bone.ik_max_x = bone.ik_max_z = 0.1
    chain.poise_pins[0].position = (0.3, 0.0, 0.5)
    assert bpy.ops.poise.solve() == {"FINISHED"}
    _, said = capfd.readouterr().out.splitlines()
    assert ": b1 is at its limit (" in said
    assert "). Turn Limits off to get closer; " in said


def test_solve_here_keeps_an_unkeyed_pose_on_an_animated_armature(rig: bpy.types.Object) -> None:
    make_walk(rig)
    select(rig, ["foot.L"])
    bpy.ops.poise.pin()
    turn(rig, "head", 0.5)
    rig.pose.bones["hips"].location = (0.1, 0.0, 0.1)
    bpy.ops.poise.solve()
    assert np.linalg.norm(world(rig, "foot.L") - np.array(pins(rig)[0].position)) < NEAR
    assert rig.pose.bones["head"].rotation_quaternion[1] == pytest.approx(np.sin(0.25))


def test_solve_here_leaves_keys_alone_without_auto_keying(rig: bpy.types.Object) -> None:
    make_walk(rig)
    bpy.ops.poise.pin()
    before = contents()["actions"]
    rig.pose.bones["hips"].location = (0.1, 0.0, 0.1)
    bpy.ops.poise.solve()
    assert contents()["actions"] == before


def curves(object: bpy.types.Object) -> dict[tuple[str, int], Any]:
    from bpy_extras.anim_utils import action_get_channelbag_for_slot

    data = object.animation_data
    return {
        (c.data_path, c.array_index): c for c in action_get_channelbag_for_slot(data.action, data.action_slot).fcurves
    }


@pytest.fixture
def auto_keying() -> Any:
    settings, edit = bpy.context.scene.tool_settings, bpy.context.preferences.edit
    settings.use_keyframe_insert_auto = True
    before, edit.use_keyframe_insert_available = edit.use_keyframe_insert_available, False
    yield settings
    edit.use_keyframe_insert_available = before


def test_auto_keying_keys_what_changed_at_the_present_frame(rig: bpy.types.Object, auto_keying: Any) -> None:
    auto_keying.keyframe_type = "BREAKDOWN"
    select(rig, ["foot.L"])
    bpy.ops.poise.pin(kind="POSITION")
    bpy.context.scene.frame_set(7)
    rig.poise_root = "FIXED"
    pins(rig)[0].position = (0.2, -0.2, 0.3)
    bpy.ops.poise.solve()
    keyed = curves(rig)
    assert {path for path, _ in keyed} == {f'pose.bones["{bone}.L"].rotation_quaternion' for bone in ("thigh", "shin")}
    for curve in keyed.values():
        assert [(key.co.x, key.type) for key in curve.keyframe_points] == [(7.0, "BREAKDOWN")]
        assert curve.group.name in ("thigh.L", "shin.L")


def test_auto_keying_only_available_makes_no_new_curves(rig: bpy.types.Object, auto_keying: Any) -> None:
    bpy.context.preferences.edit.use_keyframe_insert_available = True
    rig.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=1)
    bpy.ops.poise.pin(kind="POSITION", space="WORLD")
    bpy.context.scene.frame_set(7)
    rig.poise_root = "FIXED"
    pins(rig)[0].position = (0.2, -0.2, 0.3)
    bpy.ops.poise.solve()
    assert {path for path, _ in curves(rig)} == {'pose.bones["thigh.L"].rotation_quaternion'}
    assert all(len(curve.keyframe_points) == 2 for curve in curves(rig).values())


def test_auto_keying_follows_the_active_keying_set(rig: bpy.types.Object, auto_keying: Any) -> None:
    sets = bpy.context.scene.keying_sets_all
    sets.active = next(s for s in sets if s.bl_idname == "LocRot" or s.bl_label == "Location & Rotation")
    auto_keying.use_keyframe_insert_keyingset = True
    bpy.ops.poise.pin(kind="POSITION")
    select(rig, ["head"])  # the selection has nothing to do with what is keyed
    rig.poise_root = "FIXED"
    pins(rig)[0].position = (0.2, -0.2, 0.3)
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    with bpy.context.temp_override(window=window, area=area):  # built-in keying sets ask where they are
        bpy.ops.poise.solve()
    bones = {path.split('"')[1] for path, _ in curves(rig)}
    assert bones == {"thigh.L", "shin.L"}
    assert 'pose.bones["thigh.L"].rotation_quaternion' in {path for path, _ in curves(rig)}


def test_one_tool_is_one_undo_step() -> None:
    make_armature()
    select(bpy.data.objects["rig"], ["foot.L"])
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.poise.pin("EXEC_DEFAULT", True, kind="POSITION")
    bpy.data.objects["rig"].poise_pins[0].position = (0.3, -0.3, 0.4)
    bpy.data.objects["rig"].poise_root = "FIXED"
    bpy.ops.ed.undo_push(message="moved the pin")
    bpy.ops.poise.solve("EXEC_DEFAULT", True)
    assert bpy.data.objects["rig"].pose.bones["shin.L"].rotation_quaternion[0] < 0.9999
    bpy.ops.ed.undo()
    rig = bpy.data.objects["rig"]
    assert tuple(rig.pose.bones["shin.L"].rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)
    assert len(rig.poise_pins) == 1
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    assert not len(bpy.data.objects["rig"].poise_pins)


@pytest.fixture
def walker() -> bpy.types.Object:
    object = make_armature()
    make_walk(object)
    select(object, ["foot.L"])
    bpy.context.scene.frame_set(10)
    bpy.ops.poise.pin(kind="POSITION", space="WORLD")
    return object


def test_bake_holds_pins_in_every_frame_and_keeps_the_old_action(walker: bpy.types.Object) -> None:
    old = contents()["actions"]["walk"]
    place = np.array(pins(walker)[0].position)
    bpy.context.scene.frame_set(4)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert bpy.context.scene.frame_current == 4
    assert walker.animation_data.action.name == "walk poise"
    assert contents()["actions"]["walk"] == old
    for frame in range(1, 21):  # the scene's range
        bpy.context.scene.frame_set(frame)
        assert np.linalg.norm(world(walker, "foot.L") - place) < MILLIMETRE


def test_a_bake_of_pins_to_the_animation_alone_says_that_nothing_is_to_be_done(walker: bpy.types.Object) -> None:
    bpy.ops.poise.pin_space(space="ANIMATION")
    before = contents()
    with pytest.raises(RuntimeError, match="All pins follow the animation"):
        bpy.ops.poise.bake()
    assert contents() == before


def test_bake_into_the_present_action_changes_only_the_range(walker: bpy.types.Object) -> None:
    before = {}
    for frame in (*range(1, 6), *range(10, 21)):
        bpy.context.scene.frame_set(frame)
        before[frame] = [world(walker, bone.name) for bone in walker.pose.bones]
    old = {name: [tuple(k.co) for k in c.keyframe_points] for name, c in curves(walker).items()}
    assert bpy.ops.poise.bake(frame_start=6, frame_end=9, action="PRESENT") == {"FINISHED"}
    assert [action.name for action in bpy.data.actions] == ["walk"]
    for name, curve in curves(walker).items():
        outside = [tuple(key.co) for key in curve.keyframe_points if not 6 <= key.co.x <= 9]
        kept = [key for key in old.get(name, []) if not 6 <= key[0] <= 9]
        assert [key for key in outside if key in kept or key[0] not in (5, 10)] == kept
    for frame, places in before.items():
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose([world(walker, bone.name) for bone in walker.pose.bones], places, atol=1e-5)
    place = np.array(pins(walker)[0].position)
    for frame in range(6, 10):
        bpy.context.scene.frame_set(frame)
        assert np.linalg.norm(world(walker, "foot.L") - place) < MILLIMETRE


def test_bake_names_the_new_action(walker: bpy.types.Object) -> None:
    bpy.ops.poise.bake(frame_start=1, frame_end=3, name="held")
    assert walker.animation_data.action.name == "held"
    before = contents()
    with pytest.raises(RuntimeError, match='the action "held" already exists'):
        bpy.ops.poise.bake(frame_start=1, frame_end=3, name="held")
    assert contents() == before


def test_a_world_pin_holds_while_the_armature_object_travels(walker: bpy.types.Object) -> None:
    for frame, x in ((1, 0.0), (20, 0.4)):
        walker.location = (x, 0.0, 0.0)
        walker.keyframe_insert("location", frame=frame)
    place = np.array(pins(walker)[0].position)
    bpy.ops.poise.bake()
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
        assert np.linalg.norm(world(walker, "foot.L") - place) < MILLIMETRE


def test_bake_keeps_what_is_posed_without_a_key(walker: bpy.types.Object) -> None:
    turn(walker, "head", 0.5)
    bpy.ops.poise.bake()
    assert walker.pose.bones["head"].rotation_quaternion[1] == pytest.approx(np.sin(0.25))


def test_a_fault_while_writing_keys_leaves_no_half_done_file(
    walker: bpy.types.Object, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bridge
    from core import CoreError

    def fail(*_: object, **__: object) -> None:
        raise CoreError("No keys today.")

    monkeypatch.setattr(bridge, "write_keys", fail)
    before = contents()
    with pytest.raises(RuntimeError, match="No keys today"):
        bpy.ops.poise.bake()
    assert contents() == before


TOOLS = ("pin", "unpin", "clear_pins", "solve", "bake")


def no_armature() -> None:
    bpy.context.view_layer.objects.active = None


def other_object() -> None:
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = make_empty("Cup")


def edit_mode() -> None:
    bpy.ops.object.mode_set(mode="EDIT")


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [(no_armature, "no active object"), (other_object, '"Cup" is not an armature'), (edit_mode, "is in Edit Mode")],
)
def test_polls_say_why_not(rig: bpy.types.Object, tool: str, spoil: Callable[[], None], message: str) -> None:
    bpy.ops.poise.pin()
    if spoil is no_armature:
        bpy.ops.object.mode_set(mode="OBJECT")
    spoil()
    assert not getattr(bpy.ops.poise, tool).poll()
    with pytest.raises(RuntimeError, match=message):
        getattr(bpy.ops.poise, tool)()


@pytest.mark.parametrize("tool", TOOLS[1:])
def test_tools_for_pins_need_pins(rig: bpy.types.Object, tool: str) -> None:
    with pytest.raises(RuntimeError, match='"rig" has no pins'):
        getattr(bpy.ops.poise, tool)()


def test_pinning_needs_selected_bones_in_pose_mode(rig: bpy.types.Object) -> None:
    select(rig, [])
    with pytest.raises(RuntimeError, match="No bones are selected"):
        bpy.ops.poise.pin()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not bpy.ops.poise.make_rest.poll()
    with pytest.raises(RuntimeError, match="Pose Mode"):
        bpy.ops.poise.pin()


def settings_of(object: bpy.types.Object) -> dict[str, Any]:
    return contents()["objects"][object.name]


def test_pins_and_settings_are_saved_with_the_file(rig: bpy.types.Object, tmp_path: Path) -> None:
    select(rig, ["foot.L", "hand.R"])
    bpy.ops.poise.pin(kind="ROTATION", space="ARMATURE")
    rig.poise_wins, rig.poise_root, rig.poise_limits = "DRAG", "TRANSLATE", "OFF"
    pins(rig)[0].weight, pins(rig)[1].mute = 0.25, True
    before = settings_of(rig)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "pins.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "pins.blend"))
    assert settings_of(bpy.data.objects["rig"]) == before


@pytest.fixture
def overridden(rig: bpy.types.Object, tmp_path: Path) -> bpy.types.Object:
    """A library override of a linked armature that comes with one pin, of foot.L."""
    bpy.ops.poise.pin()
    object = library_override(rig, tmp_path / "library.blend")
    select(object, ["foot.R"])
    return object


def reloaded(path: Path) -> Any:
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return next(o for o in bpy.data.objects if o.override_library)


def test_pins_on_an_override_of_a_library_without_pins_survive_saving(rig: bpy.types.Object, tmp_path: Path) -> None:
    """Blender 5.2 loses properties in a group that the library's file never filled."""
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, linked):
        linked.objects = ["rig"]
    bpy.context.scene.collection.objects.link(linked.objects[0])
    object = linked.objects[0].override_create(remap_local_usages=True)
    select(object, ["foot.L"])
    bpy.ops.poise.pin()
    object.poise_root = "FIXED"
    again = reloaded(tmp_path / "shot.blend")
    assert [pin.name for pin in pins(again)] == ["foot.L"]
    assert again.poise_root == "FIXED"


def test_pins_on_a_library_override_survive_saving(overridden: bpy.types.Object, tmp_path: Path) -> None:
    bpy.ops.poise.pin(kind="POSITION")
    pins(overridden)["foot.L"].position = (1.0, 2.0, 3.0)
    overridden.poise_wins, overridden.poise_root, overridden.poise_limits = "DRAG", "FIXED", "OFF"
    before = settings_of(overridden)
    again = reloaded(tmp_path / "shot.blend")
    assert [pin.name for pin in pins(again)] == ["foot.L", "foot.R"]
    for part in ("pins", "settings"):
        assert settings_of(again)[part] == before[part]


def other_value(definition: Any) -> Any:
    """A value that is not the property's default."""
    if definition.type == "ENUM":
        return definition.enum_items[-1].identifier
    if definition.type == "BOOLEAN":
        return not definition.default
    return 0.5 if definition.type == "FLOAT" else 1


def set_everything(owner: Any, names: list[str]) -> None:
    """Other values than the defaults for all of these properties, as a user could set them."""
    for name in names:
        definition = owner.bl_rna.properties[name]
        assert not owner.is_property_readonly(name), name
        value = other_value(definition)
        setattr(owner, name, [value] * definition.array_length if getattr(definition, "array_length", 0) else value)


def read_everything(owner: Any, names: list[str]) -> dict[str, Any]:
    return {
        name: tuple(value) if type(value).__name__ in ("bpy_prop_array", "Vector", "Quaternion") else value
        for name in names
        for value in [getattr(owner, name)]
    }


def test_every_setting_can_be_changed_on_a_library_override_and_survives_saving(
    overridden: bpy.types.Object, tmp_path: Path
) -> None:
    cup = make_empty("Cup")
    bpy.context.view_layer.objects.active = overridden
    bpy.ops.poise.pin()
    settings = [f"poise_{name}" for name in SETTINGS if name not in ("pins", "target_action")]
    overridden.poise_target_action = bpy.data.actions.new("Wave")
    fields = sorted({*POISE_PG_pin.bl_rna.properties.keys()} - {"rna_type", "name", "name_mark", "target"})
    set_everything(overridden, settings)
    for pin in pins(overridden):  # that of the linked file, and the override's own
        set_everything(pin, fields)
        pin.target = cup
    before = [read_everything(overridden, settings), *(read_everything(pin, fields) for pin in pins(overridden))]
    marks = {bone.name: bone.poise_mark for bone in overridden.pose.bones}
    again = reloaded(tmp_path / "shot.blend")
    assert [read_everything(again, settings), *(read_everything(pin, fields) for pin in pins(again))] == before
    assert [(pin.name, pin.target.name) for pin in pins(again)] == [("foot.L", "Cup"), ("foot.R", "Cup")]
    assert again.poise_target_action.name == "Wave"
    assert {bone.name: bone.poise_mark for bone in again.pose.bones} == marks
    assert all(again.pose.bones[pin.name].poise_mark == pin.name_mark != 0 for pin in pins(again))


def test_pins_on_a_library_override_follow_bones_that_the_library_renames(
    overridden: bpy.types.Object, tmp_path: Path
) -> None:
    bpy.ops.poise.pin()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "library.blend"))
    bones = next(object for object in bpy.data.objects if object.type == "ARMATURE").data.bones
    bones["foot.L"].name, bones["foot.R"].name = "paw.L", "paw.R"
    bpy.context.view_layer.update()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.context.view_layer.update()
    again = next(object for object in bpy.data.objects if object.override_library)
    assert [pin.name for pin in pins(again)] == ["paw.L", "paw.R"]


def test_solving_works_on_a_library_override(overridden: bpy.types.Object) -> None:
    bpy.ops.poise.pin(kind="POSITION")
    overridden.pose.bones["hips"].location = (0.1, -0.1, 0.1)
    assert bpy.ops.poise.solve() == {"FINISHED"}
    for pin in pins(overridden):
        assert np.linalg.norm(world(overridden, pin.name) - np.array(pin.position)) < NEAR
    assert bpy.ops.poise.bake(frame_start=1, frame_end=3) == {"FINISHED"}


def test_a_pin_of_the_linked_file_is_muted_instead_of_removed(overridden: bpy.types.Object, tmp_path: Path) -> None:
    bpy.ops.poise.pin()
    bpy.ops.poise.clear_pins()
    assert [(pin.name, pin.mute) for pin in pins(overridden)] == [("foot.L", True)]
    assert [(pin.name, pin.mute) for pin in pins(reloaded(tmp_path / "shot.blend"))] == [("foot.L", True)]


def test_no_property_of_a_tool_hides_a_method_of_its_own() -> None:
    hidden = []
    for tool in CLASSES:
        own = [base for base in tool.__mro__ if "operators" in base.__module__]
        methods = {name for base in own for name, value in vars(base).items() if inspect.isfunction(value)}
        properties = {name for base in own for name in vars(base).get("__annotations__", {})}
        hidden += [(tool.__name__, name) for name in methods & properties]
    assert not hidden


def test_a_reason_that_the_last_report_has_in_full_is_reported_once() -> None:
    told: list[str] = []
    tool = SimpleNamespace(report=lambda level, text: told.append(text))
    assert headline(tool, "INFO", "2 bones changed", ["a.L is missed"]) == "a.L is missed; 2 bones changed"
    assert told == []
    long = Explanation("a.L is missed", [Cause(Kind.BALANCE), Cause(Kind.WEAK)])
    for reasons in ([long], ["b.L is missed", long]):
        assert headline(tool, "INFO", "done", reasons).endswith("; done; more in the Info editor")
        assert told.pop() == long
    assert told == []


def test_what_a_keying_set_leaves_out_stays_until_the_frame_changes(rig: bpy.types.Object, auto_keying: Any) -> None:
    """New curves let Blender evaluate the others: they snapped back as the drag ended, though it said later."""
    scene: Any = bpy.context.scene
    for frame in (1, 9):
        rig.pose.bones["hips"].keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    named = scene.keying_sets.new(idname="turns", name="turns")
    for bone in rig.pose.bones:
        named.paths.add(rig, f'pose.bones["{bone.name}"].rotation_quaternion')
    scene.keying_sets_all.active = named
    auto_keying.use_keyframe_insert_keyingset = True
    pin_feet_of = [bone for bone in ("foot.L", "foot.R") if bone in rig.pose.bones]
    select(rig, pin_feet_of)
    bpy.ops.poise.pin(space="WORLD")
    place = tuple(rig.pose.bones["hips"].location)
    assert bpy.ops.poise.drag(bone="hips", shift=(0.02, 0.0, -0.1)) == {"FINISHED"}
    dragged = tuple(rig.pose.bones["hips"].location)
    assert dragged != place
    assert any("rotation" in path for path, _ in curves(rig))
    bpy.context.view_layer.update()
    assert tuple(rig.pose.bones["hips"].location) == dragged
    scene.frame_set(2)
    scene.frame_set(1)
    assert tuple(rig.pose.bones["hips"].location) == pytest.approx(place, abs=1e-6)


def test_keys_a_hair_beside_the_frame_are_not_said_to_be_lost(
    rig: bpy.types.Object, auto_keying: Any, capfd: Any
) -> None:
    for frame in (-10.0, 1.009, 12.0):
        rig.pose.bones["hips"].location = (0.0, 0.01 * frame, 0.0)
        rig.pose.bones["hips"].keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.poise.drag(bone="hips", shift=(0.0, 0.0, -0.1)) == {"FINISHED"}
    assert "keyed" in (said := capfd.readouterr().out)
    assert "reset" not in said
