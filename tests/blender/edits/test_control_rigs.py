"""Control rigs of all kinds are posed as their animators set them up: IK stays IK, and what is solved is what is shown.

Ground truth is Blender's own evaluation. Three rigs are tried; with POISE_ZOO=full all of `control_drags.RIGS`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge import Grab
from edits.drag.session import DragSession
from edits.pin_list import find_pin, set_pins
from edits.retarget import Retargeted, imported
from edits.timed_pins import add_timed_pin
from tests.blender.control_drags import (
    CONTROL_WAY,
    CONTROLS,
    NEAR,
    RIGS,
    STILL,
    TURNED,
    WAYS,
    Parts,
    Shown,
    drag,
    drag_bone,
    key_step,
    keys,
    pin_feet,
    seen,
    settings,
    size_of,
    solve_here,
)
from tests.blender.rigs import FULL, load, make_empty, select, world
from tests.paths import DATA, SHARED

context: Any = bpy.context
IN_CI = ("Auto-Rig Pro on IK", "CloudRig on FK", "reverse feet without poles")
FRAMES = (1, 20, 40)
CLIP = DATA / "motion" / "cmu_07_12.bvh"
BENT = (0.0, -0.2, 0.15)  # of a foot, metres of a human of 1.7 m
STAYS = 0.1  # millimetres of such a human
DRAGGED = ("hips", "hand.L", "foot.R")


def taken(*besides: str) -> Any:
    """The rigs that are tried; `besides`: further ones of CI."""
    return RIGS if FULL else (*IN_CI, *besides)


def missed(act: Callable[[Any, Any, str], Shown], name: str) -> dict[str, Shown]:
    """What is not as solved, or not as wanted without a word about it, by what was dragged."""
    shown = {role: act(*RIGS[name](), role) for role in WAYS}
    return {
        role: one for role, one in shown.items()
        if not (one.off < NEAR and one.turned < TURNED and (one.short < NEAR or one.said))
    }  # fmt: skip


@pytest.mark.parametrize("name", taken())
def test_the_pose_that_a_drag_solves_is_the_one_that_blender_shows(name: str) -> None:
    assert missed(drag, name) == {}


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [name for name in CONTROLS if FULL or name in (*IN_CI, "CloudRig on IK", "reverse feet with poles", "MMD")]
)
def test_a_control_ends_where_the_mouse_has_it(name: str) -> None:
    found = {bone: drag_bone(RIGS[name]()[0], bone, CONTROL_WAY) for bone in CONTROLS[name]}
    assert {bone: one for bone, one in found.items() if one.short > NEAR} == {}
    assert [said for one in found.values() for said in one.said if " is off while " in said] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "bone", "channel", "value"),
    [
        ("CloudRig on FK", "ROOT", "scale", (1.2, 1.2, 1.2)),
        ("Auto-Rig Pro on FK", "c_traj", "scale", (0.8, 0.8, 0.8)),
        ("Auto-Rig Pro on IK", "c_traj", "scale", (2.5, 2.5, 2.5)),
        ("CloudRig on IK", "STR-UpperArm2.L", "location", (0.03, 0.0, 0.0)),
        ("CloudRig on FK", "STR-Shin1.L", "location", (0.03, 0.0, 0.0)),
        ("Auto-Rig Pro on FK", "c_root.x", "location", (0.03, 0.0, 0.0)),
        ("CloudRig on IK", "MSTR-Hips", "location", (0.03, 0.0, 0.0)),
        ("CloudRig on IK", "STR-Foot.L", "location", (0.03, 0.0, 0.0)),
    ],
)
def test_a_character_that_is_scaled_or_tweaked_is_dragged(name: str, bone: str, channel: str, value: Any) -> None:
    for role in ("hips", "hand.L"):
        rig, parts = RIGS[name]()
        setattr(rig.pose.bones[bone], channel, value)
        context.view_layer.update()
        shown = drag(rig, parts, role)
        assert max(shown.short, shown.pins) < NEAR
        assert shown.said == ()
        np.testing.assert_allclose(getattr(rig.pose.bones[bone], channel), value)


@pytest.mark.long
@pytest.mark.parametrize("limbs", ["FK", "IK"])
def test_a_motion_of_a_character_that_is_scaled_has_its_feet_on_the_floor(limbs: str) -> None:
    rig, _ = RIGS[f"Auto-Rig Pro on {limbs}"]()
    toes = ["toes_01.l", "toes_01.r"]
    size, rest = 1.2, world(rig, toes[0])[2]
    rig.pose.bones["c_traj"].scale = (size, size, size)
    bpy.ops.poise.retarget(filepath=str(DATA / "motion" / "cmu_07_12.bvh"))
    low = list[float]()
    for frame in range(5, 60, 10):
        context.scene.frame_set(frame)
        low.append(min(world(rig, toe)[2] for toe in toes))
    np.testing.assert_allclose(np.median(low), size * rest, atol=NEAR)
    assert min(low) > size * rest - NEAR


@pytest.mark.parametrize("name", taken())
def test_pins_are_where_solve_here_says(name: str) -> None:
    assert missed(solve_here, name) == {}


@pytest.mark.parametrize(("name", "control", "root"), [
    ("reverse feet without poles", "ik_foot.L", "root"), ("IK without poles on hands and feet", "ctrl_hand.L", "root"),
    ("Quaternius", "Palm.L", "Bone"),
])  # fmt: skip
def test_a_pin_of_a_control_moves_the_body_and_not_the_whole_rig(name: str, control: str, root: str) -> None:
    rig, _ = RIGS[name]()
    set_pins(context, rig, [control], "POSITION", "WORLD")
    pin = find_pin(rig, control)
    pin.position = np.add(pin.position, size_of(rig) * np.array((0.1, -0.6, 0.2))).tolist()
    whole = rig.pose.bones[root].matrix.copy()
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose(world(rig, control), pin.position, atol=NEAR * size_of(rig))
    assert rig.pose.bones[root].matrix == whole


@pytest.mark.long
@pytest.mark.parametrize(("name", "root"), [
    ("reverse feet with poles", "root"), ("Quaternius", "Bone"), ("Auto-Rig Pro on IK", "c_traj"),
    *((("Rigify on IK", "root"), ("Rigify's wolf", "root"), ("MMD of the shared data", "全ての親")) if SHARED.exists()
      else ()),
])  # fmt: skip
def test_a_dragged_root_takes_the_rig_along_unrotated_and_pinned_feet_stay(name: str, root: str) -> None:
    """It rotated by up to 1.9 degrees, keyed hands and feet, and stayed short by all of the way over pinned feet."""
    rig, parts = RIGS[name]()
    before, bone = bridge.read_matrices(rig), rig.pose.bones.find(root)
    found = drag_bone(rig, root, CONTROL_WAY)
    after = bridge.read_matrices(rig)
    shift = after[bone, :, 3] - before[bone, :, 3]
    np.testing.assert_allclose(after[bone, :, :3], before[bone, :, :3], atol=1e-5)
    deform = [bone.use_deform for bone in rig.data.bones]
    gone = np.linalg.norm(after[deform, :, 3] - before[deform, :, 3] - shift, axis=-1)
    assert gone.max() < STAYS * 1e-3 * size_of(rig)
    assert found.short < NEAR
    rig, parts = RIGS[name]()
    pin_feet(rig, parts, "hips")
    found = drag_bone(rig, root, WAYS["hips"])
    assert max(found.short, found.pins, found.off) < NEAR
    assert found.turned < TURNED


def test_a_pole_of_several_legs_does_not_go_with_one_of_them() -> None:
    """It bent the other legs by up to 43 degrees."""
    for bone in ("FrontFoot.L", "Body"):
        rig = load(SHARED / "rigs" / "real" / "quaternius_spider.blend")[0]
        rig.animation_data_clear()
        select(rig, [])
        found = drag_bone(rig, bone, CONTROL_WAY)
        assert max(found.off, found.short) < NEAR
        assert found.turned < TURNED


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_a_control_of_a_tail_that_the_rig_rotates_is_refused_and_the_body_stays() -> None:
    """Hips went 9 cm in its place, and feet left their pins."""
    rig, _ = RIGS["Rigify's wolf"]()
    for link in ("spine.001", "spine.002", "spine.003"):  # else they rotate by themselves, too
        rig.pose.bones[link].constraints["Copy Rotation"].mix_mode = "REPLACE"
    context.view_layer.update()
    before = bridge.read_matrices(rig)
    with pytest.raises(RuntimeError, match=r'"spine\.001" is driven by constraint "Copy Rotation"'):
        bpy.ops.poise.drag(bone="spine.001", shift=tuple(size_of(rig) * np.array(CONTROL_WAY)))
    context.view_layer.update()
    np.testing.assert_allclose(bridge.read_matrices(rig), before, atol=1e-6)


def with_space(local: bool = True) -> Any:
    """Auto-Rig Pro with a bone between a control and its parent; `local`: the location of the control is."""
    rig, _ = RIGS["Auto-Rig Pro on IK"]()
    bpy.ops.object.mode_set(mode="EDIT")
    child, space = rig.data.edit_bones["c_foot_ik.l"], rig.data.edit_bones.new("space")
    space.head, space.tail, space.roll, space.parent = child.head, child.tail, child.roll, child.parent
    child.parent, child.use_local_location = space, local
    bpy.ops.object.mode_set(mode="POSE")
    return rig


@pytest.mark.long
@pytest.mark.parametrize("kind", ["COPY_ROTATION", "LOCK"])
def test_a_control_that_stays_is_not_dragged_by_what_hangs_on_it(kind: str) -> None:
    """The foot ran on by 1.7 m: it cannot move the bone that carries its control."""
    rig = with_space()
    if kind == "LOCK":
        rig.pose.bones["space"].lock_location = (True, True, True)
    else:
        rig.pose.bones["space"].constraints.new(kind).target = make_empty("turns", (0.0, -3.0, 1.0))
    context.view_layer.update()
    before = bridge.read_matrices(rig)
    bpy.ops.poise.drag(bone="space", shift=(0.03, -0.05, 0.03))
    context.view_layer.update()
    np.testing.assert_allclose(bridge.read_matrices(rig), before, atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("locked", [False, True])
def test_a_control_without_local_location_moves_along_the_axes_of_its_parent(locked: bool) -> None:
    """A hand of Rigify was thrown by 2.2 m where the parent of its control is rotated at rest."""
    rig = with_space(local=False)
    rig.pose.bones["c_foot_ik.l"].lock_location = (locked, False, False)
    along = np.array(rig.data.bones["space"].matrix_local.to_3x3())[:, 0]
    shift = np.array([0.03, -0.05, 0.03])
    wanted = world(rig, "c_foot_ik.l") + shift - locked * (along @ shift) * along
    bpy.ops.poise.drag(bone="c_foot_ik.l", shift=tuple(shift))
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, "c_foot_ik.l"), wanted, atol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("bone", ["P-IK-MSTR-Foot.L", "P-IK-MSTR-Hand.L", "P-IK-POLE-Thigh.L"])
def test_the_space_of_a_control_is_refused_and_the_body_stays(bone: str) -> None:
    """Feet were thrown by 1.7 m after a driven bone that carries their control."""
    rig, _ = RIGS["CloudRig on IK"]()
    before = bridge.read_matrices(rig)
    with pytest.raises(RuntimeError, match=f'"{bone}" is driven by constraint "Armature"'):
        bpy.ops.poise.drag(bone=bone, shift=(0.03, -0.05, 0.03))
    context.view_layer.update()
    np.testing.assert_allclose(bridge.read_matrices(rig), before, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "bone", "goes"),
    [("Auto-Rig Pro on IK", "c_foot_roll_cursor.l", True), ("CloudRig on IK", "Properties", False)],
)
def test_a_control_that_poses_no_part_of_the_body_moves_alone(name: str, bone: str, goes: bool) -> None:
    """The root went with it, and the hips by 33 cm."""
    rig, parts = RIGS[name]()
    pin_feet(rig, parts, "hips")
    before = bridge.read_matrices(rig)
    found = drag_bone(rig, bone, CONTROL_WAY)
    after = bridge.read_matrices(rig)
    assert found.short < NEAR
    here = [rig.pose.bones.find(parts[part]) for part in ("hips", "hand.L", "hand.R", "foot.R")]
    np.testing.assert_allclose(after[here], before[here], atol=1e-5)
    foot = rig.pose.bones.find(parts["foot.L"])
    assert (np.abs(after[foot] - before[foot]).max() > 1e-3) == goes  # as the rig's own rolls do


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_a_control_that_is_let_go_before_the_body_rests_is_where_the_mouse_has_it() -> None:
    for bone in ("front_foot_ik.L", "foot_ik.L"):  # they were at 0.72 and 0.71 of the way
        rig, _ = RIGS["Rigify's wolf"]()
        shift = size_of(rig) * np.array((0.0, -0.15, 0.2))
        wanted = world(rig, bone) + shift
        session = DragSession(context, rig, [Grab(rig.name, bone, (0.0, 0.0, 0.0))], live=True)
        for share in np.linspace(0.1, 1.0, 10):
            session.drag(share * shift, STILL)
        assert session.restless
        session.finish()
        context.view_layer.update()
        np.testing.assert_allclose(world(rig, bone), wanted, atol=NEAR * size_of(rig))


@pytest.mark.long
@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize("kind", ["BOTH", "POSITION"])
@pytest.mark.parametrize(("paw", "foot"), [("front_foot_ik.L", "DEF-front_foot.L"), ("foot_ik.L", "DEF-foot.L")])
def test_the_pin_of_a_paw_s_control_goes_along_where_that_is_dragged(paw: str, foot: str, kind: str) -> None:
    """The pin held the toes while the paw was dragged: it stayed, or its joint went by 18 cm for 4."""
    rig, _ = RIGS["Rigify's wolf"]()
    set_pins(context, rig, [paw], kind)
    shift = size_of(rig) * np.array((0.0, -0.02, 0.04))
    wanted, before = world(rig, paw) + shift, world(rig, foot)
    bpy.ops.poise.drag(bone=paw, shift=tuple(shift))  # pyright: ignore[reportAttributeAccessIssue]
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, paw), wanted, atol=NEAR * size_of(rig))
    np.testing.assert_allclose(rig.poise_pins[0].position, wanted, atol=NEAR * size_of(rig))
    assert np.linalg.norm(world(rig, foot) - before) < 1.1 * np.linalg.norm(shift)


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_a_leg_that_begins_beside_its_shoulder_is_dragged_from_there() -> None:
    """Its front foot stayed 9 mm of a human beside the mouse, and jumped by as much at the first move."""
    rig, _ = RIGS["Rigify's wolf"]()
    rig.pose.bones["front_thigh_ik.L"].location = (0.0, 0.02 * size_of(rig), 0.0)
    context.view_layer.update()
    wanted = world(rig, "front_foot_ik.L") + size_of(rig) * np.array((0.0, -0.05, 0.08))
    found = drag_bone(rig, "front_foot_ik.L", (0.0, -0.05, 0.08))
    np.testing.assert_allclose(world(rig, "front_foot_ik.L"), wanted, atol=NEAR * size_of(rig))
    assert found.off < NEAR


@pytest.mark.skipif(not FULL, reason="POISE_ZOO=full: Rigify takes a while to make the cat")
def test_hips_of_a_cat_are_dragged_far_and_back_again_and_again() -> None:
    """Its legs turned about themselves by ever more, until a drag back was refused."""
    rig, parts = RIGS["Rigify's cat"]()
    for forward in [-0.4, 0.4] * 8:
        found = drag_bone(rig, parts["hips"], (0.0, forward, 0.0))
        assert max(found.off, found.short) < NEAR
        assert found.turned < TURNED


def test_an_elbow_with_a_location_of_its_own_is_solved_where_it_is() -> None:
    """It was solved without, 17 mm beside, and a driver was blamed for what was missed."""
    rig, _ = RIGS["MMD"]()
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["左ひじ"].use_connect = False
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["左ひじ"].location = size_of(rig) * np.array((0.01, 0.012, 0.008))
    found = drag_bone(rig, "左ひじ", (0.01, -0.03, 0.02))
    assert max(found.off, found.short) < NEAR
    assert not found.said


@pytest.mark.parametrize("role", ["hips", "hand.L"])
def test_a_drag_leaves_feet_that_hang_on_the_root_beside_their_legs(role: str) -> None:
    """They were taken to the ends of the legs, 26 and 54 mm away."""
    rig, parts = RIGS["Quaternius"]()
    for bone in rig.pose.bones:
        for constraint in [*bone.constraints]:
            bone.constraints.remove(constraint)
    key_step(rig, FRAMES)

    def beside() -> list[float]:
        ends = ((world(rig, f"Foot.{side}"), rig.pose.bones[f"LowerLeg.{side}"].tail) for side in "LR")
        return [float(np.linalg.norm(foot - np.array(rig.matrix_world @ end))) for foot, end in ends]

    before = beside()
    assert min(before) > 0.02
    assert bpy.ops.poise.drag(bone=parts[role], shift=tuple(size_of(rig) * np.array(WAYS[role]))) == {"FINISHED"}
    context.view_layer.update()
    np.testing.assert_allclose(beside(), before, atol=1e-4)


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize("role", ["hips", "foot.L"])
def test_what_half_of_ik_shows_beside_the_pose_and_its_targets_is_said(role: str) -> None:
    rig, parts = RIGS["Rigify on IK"]()
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            if constraint.type == "IK":
                constraint.driver_remove("influence")
                constraint.influence = 0.5
    found = drag(rig, parts, role)
    assert found.pins > NEAR
    for foot in ("DEF-foot.L", "DEF-foot.R"):
        assert any(said.startswith(f'"{foot}" is ') and "short of its target" in said for said in found.said)
    assert any("misses the solved pose" in said for said in found.said)


@pytest.mark.long
@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize("space", range(5))
def test_hands_in_any_space_follow_and_leave_other_frames(space: int) -> None:
    for bone in ("hand_ik.L", "torso"):
        rig, _ = RIGS["Rigify on IK"]()
        for owner in rig.pose.bones:
            if "IK_parent" in owner:
                owner["IK_parent"] = space
        rig.update_tag()
        context.scene.tool_settings.use_keyframe_insert_auto = True
        key_step(rig, FRAMES)
        before, set_before = {frame: seen(rig, frame) for frame in FRAMES}, settings(rig)
        context.scene.frame_set(FRAMES[1])
        wanted = world(rig, bone) + np.array((0.0, -0.08, 0.06))
        assert bpy.ops.poise.drag(bone=bone, shift=(0.0, -0.08, 0.06)) == {"FINISHED"}
        np.testing.assert_allclose(world(rig, bone), wanted, atol=NEAR * size_of(rig))
        assert settings(rig) == set_before
        for frame in (FRAMES[0], FRAMES[2]):
            np.testing.assert_allclose(seen(rig, frame), before[frame], atol=1e-5 * size_of(rig))


def test_a_twist_that_no_control_decides_is_taken_over() -> None:
    rig, parts = RIGS["legs on IK with poles"]()
    bpy.ops.object.mode_set(mode="EDIT")
    head, control = rig.data.edit_bones["head"], rig.data.edit_bones.new("control")
    control.head, control.tail, control.roll, control.parent = head.head, head.tail, head.roll, head.parent
    head.use_inherit_rotation = False
    select(rig, [])
    copied = rig.pose.bones["head"].constraints.new("COPY_ROTATION")
    copied.target, copied.subtarget, copied.use_y = rig, "control", False
    copied.target_space = copied.owner_space = "LOCAL"
    for role in WAYS:
        found = drag(rig, parts, role)
        assert found.off < NEAR
        assert found.turned < TURNED


def presses(rig: Any, parts: Parts, act: Callable[[], set[str]], bones: Sequence[str]) -> list[dict[str, float]]:
    """Press three times after a drag that bends a leg; how far each took bones, in millimetres of a human of 1.7 m."""
    assert bpy.ops.poise.drag(bone=parts["foot.L"], shift=tuple(size_of(rig) * np.array(BENT))) == {"FINISHED"}
    before, found = {bone: world(rig, bone) for bone in bones}, list[dict[str, float]]()
    for _ in range(3):
        assert act() == {"FINISHED"}
        context.view_layer.update()
        away = {bone: 1000.0 * np.linalg.norm(world(rig, bone) - before[bone]) / size_of(rig) for bone in bones}
        found.append({bone: float(far) for bone, far in away.items() if far > STAYS})
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", taken("CloudRig on IK"))
def test_pins_as_the_body_is_move_no_bone(name: str) -> None:
    rig, parts = RIGS[name]()

    def act() -> set[str]:
        set_pins(context, rig, [parts["hips"]], "BOTH", "WORLD")
        return bpy.ops.poise.solve()

    assert presses(rig, parts, act, rig.pose.bones.keys()) == [{}] * 3


@pytest.mark.parametrize("name", taken("CloudRig on IK"))
def test_a_look_moves_no_hand_foot_or_hips(name: str) -> None:
    rig, parts = RIGS[name]()
    if not bridge.read_body(rig).roles.humanoid:
        pytest.skip("people alone look at a place")
    assert presses(rig, parts, lambda: bpy.ops.poise.look_at(), [*parts.values()]) == [{}] * 3


def drag_at_once(rig: Any, parts: Parts, role: str) -> None:
    """Drag a part with the other feet pinned, as a script does; it is where it was wanted."""
    pin_feet(rig, parts, role)
    way = size_of(rig) * np.array(WAYS[role])
    wanted = world(rig, parts[role]) + way
    assert bpy.ops.poise.drag(bone=parts[role], shift=tuple(way)) == {"FINISHED"}
    np.testing.assert_allclose(world(rig, parts[role]), wanted, atol=2.0 * NEAR * size_of(rig))


@pytest.mark.parametrize("keying", [False, True], ids=["without keys", "auto-keyed"])
@pytest.mark.parametrize("name", taken())
def test_a_drag_over_a_step_leaves_settings_and_other_frames(name: str, keying: bool) -> None:
    for role in DRAGGED:
        rig, parts = RIGS[name]()
        context.scene.tool_settings.use_keyframe_insert_auto = keying
        key_step(rig, FRAMES)
        before, set_before, keyed_before = {frame: seen(rig, frame) for frame in FRAMES}, settings(rig), keys(rig)
        context.scene.frame_set(FRAMES[1])
        drag_at_once(rig, parts, role)
        assert settings(rig) == set_before
        keyed, here = keys(rig), float(FRAMES[1])
        assert keyed.keys() == keyed_before.keys()
        for channel, points in keyed_before.items():
            assert {**keyed[channel], here: 0.0} == {**points, here: 0.0}
        assert (keyed != keyed_before) == keying
        for frame in (FRAMES[0], FRAMES[2]):
            np.testing.assert_allclose(seen(rig, frame), before[frame], atol=1e-5 * size_of(rig))


@pytest.mark.parametrize("name", taken())
def test_channels_that_get_their_first_key_keep_the_other_keyed_frames(name: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(context.preferences.edit, "use_keyframe_insert_available", False)
    fresh = set[tuple[str, int]]()
    for role in DRAGGED:
        rig, parts = RIGS[name]()
        context.scene.tool_settings.use_keyframe_insert_auto = True
        key_step(rig, FRAMES, sparse=True)
        before, set_before, keyed_before = {frame: seen(rig, frame) for frame in FRAMES}, settings(rig), keys(rig)
        context.scene.frame_set(FRAMES[1])
        drag_at_once(rig, parts, role)
        shown, keyed = seen(rig, FRAMES[1]), keys(rig)
        assert settings(rig) == set_before
        fresh |= keyed.keys() - keyed_before.keys()
        for channel in keyed.keys() - keyed_before.keys():
            assert [*keyed[channel]] == [float(frame) for frame in FRAMES]
        for frame in (FRAMES[0], FRAMES[2]):
            np.testing.assert_allclose(seen(rig, frame), before[frame], atol=1e-5 * size_of(rig))
        np.testing.assert_allclose(seen(rig, FRAMES[1]), shown, atol=1e-5 * size_of(rig))
    assert fresh


@pytest.mark.parametrize("name", taken())
def test_a_drag_in_a_motion_that_was_brought_leaves_its_other_frames(name: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(context.preferences.edit, "use_keyframe_insert_available", True)
    rig, parts = RIGS[name]()
    if not bridge.read_body(rig).roles.humanoid:
        pytest.skip("the motion is a human's")
    with imported(context, CLIP) as (source, _):
        edit = Retargeted(context, rig, source, (20, 24), plant=False)
    edit.solve()
    edit.write(rig)
    before = {frame: seen(rig, frame) for frame in range(20, 25)}
    context.scene.frame_set(22)
    context.scene.tool_settings.use_keyframe_insert_auto = True
    drag_at_once(rig, parts, "hand.L")
    for frame in before.keys() - {22}:
        np.testing.assert_allclose(seen(rig, frame), before[frame], atol=1e-5 * size_of(rig))


HELD = (15, 25)


@pytest.mark.long
@pytest.mark.parametrize("name", taken("CloudRig on IK"))
def test_controls_are_held_by_timed_pins(name: str) -> None:
    rig, parts = RIGS[name]()
    key_step(rig, FRAMES)
    context.scene.tool_settings.use_keyframe_insert_auto = True
    for frame in FRAMES:  # a leg that IK cannot stretch to its control is not where that is
        context.scene.frame_set(frame)
        drag_at_once(rig, parts, "hips")
    context.scene.frame_set(FRAMES[1])
    body = bridge.read_body(rig)
    assert body.controlled is not None
    names, places = body.rig.skeleton.names, body.controlled.parts
    bones = [names.index(parts[role]) for role in ("hips", "hand.L", "foot.L")]
    found = [body.controlled.controls[places[bone]] for bone in bones if bone in places]  # MMD's D feet are none
    for control in {names[max(one.moves, one.turns)] for one in found}:
        pin = add_timed_pin(rig, control, *HELD)
        pin.frame = FRAMES[1]
        place = world(rig, control)
        assert bpy.ops.poise.solve_motion() == {"FINISHED"}
        for frame in range(HELD[0], HELD[1] + 1, 5):
            context.scene.frame_set(frame)
            assert np.linalg.norm(world(rig, control) - place) < NEAR * size_of(rig), (control, frame)
        assert bpy.ops.poise.remove_timed_pin(all=True) == {"FINISHED"}
        assert bpy.ops.poise.solve_motion() == {"FINISHED"}
        context.scene.frame_set(FRAMES[1])


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_a_drag_keys_no_control_that_only_rounding_has_changed(monkeypatch: Any) -> None:
    monkeypatch.setattr(context.preferences.edit, "use_keyframe_insert_available", False)
    rig, _ = RIGS["Rigify on IK"]()
    context.scene.tool_settings.use_keyframe_insert_auto = True
    for frame in FRAMES:
        for number, name in enumerate(("torso", "foot_ik.L", "foot_ik.R", "hand_ik.L", "hand_ik.R")):
            bone = rig.pose.bones[name]
            bone.location = (0.0, 1e-3 * frame, 1e-3 * number)
            bone.keyframe_insert("location", frame=frame)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    context.scene.frame_set(FRAMES[1])
    before = {path for path, _ in keys(rig)}
    assert bpy.ops.poise.drag(bone="foot_ik.R", shift=(0.0, 0.1, 0.05)) == {"FINISHED"}
    fresh = {path.split('"')[1] for path, _ in keys(rig)} - {path.split('"')[1] for path in before}
    assert fresh <= {f"{part}.{side}" for part in ("thigh_ik", "toe_ik") for side in "LR"}  # the left foot stays


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_a_paw_that_turns_with_its_leg_and_the_control_beside_it_are_where_the_mouse_is() -> None:
    """Far from its place the leg went past where it was to be, from side to side, until the drag was refused."""
    near, far = (("front_foot_ik.L", (-0.03, -0.08, -0.1)), ("foot_ik.L", (0.0, 0.06, 0.2))), (0.12, -0.6, 0.48)
    for bone, way in (*near, ("DEF-foot.L", far)):
        rig, _ = RIGS["Rigify's wolf"]()
        shift = size_of(rig) * np.array(way)
        wanted = world(rig, bone) + shift
        assert bpy.ops.poise.drag(bone=bone, shift=tuple(shift)) == {"FINISHED"}
        context.view_layer.update()
        np.testing.assert_allclose(world(rig, bone), wanted, atol=NEAR * size_of(rig))
