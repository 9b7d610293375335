"""Controls that constraints limit, or add rotations to, are posed by their own channels as under Blender's G.

So are bones that several targets of IK hang on, and targets of IK with *Rotation*.
"""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender.control_drags import TURNED, WAYS, drag_bone
from tests.blender.control_rigs import BODY, build, constrain, ik, shown
from tests.blender.rigs import make_empty, select, world

context: Any = bpy.context
FINISHED = {"FINISHED"}
NEAR = 1e-4
ROWS = {
    **BODY,
    "ik_foot.L": ("root", "ankle", "back"),
    "pole_knee.L": ("root", "ahead", "further ahead"),
    "ik_hand.L": ("root", "wrist", "knuckles"),
    "pole_elbow.L": ("root", "behind", "further behind"),
}
LIMITS: dict[str, dict[str, Any]] = {
    "LIMIT_LOCATION": {"use_min_z": True, "min_z": 0.05},
    "FLOOR": {"floor_location": "FLOOR_Z", "offset": 0.05},
    "LIMIT_DISTANCE": {"distance": 0.3},  # from the root
    "SHRINKWRAP": {"wrap_mode": "OUTSIDE", "distance": 0.05},  # of a plane
}


def rig_on_ik(rows: Any = ROWS) -> Any:
    """A body with IK on arms and legs, with poles."""
    rig = build(rows)
    for tip, end in (("shin.L", "foot.L"), ("forearm.L", "hand.L")):
        ik(rig, tip, f"ik_{end}", "pole_knee.L" if end == "foot.L" else "pole_elbow.L")
        constrain(rig, end, "COPY_ROTATION", f"ik_{end}")
    select(rig, [])
    return shown(rig)


def limited(kind: str) -> Any:
    """A body whose feet are limited to places about or above the ground."""
    rig = rig_on_ik()
    for side in "LR":
        made: Any = rig.pose.bones[f"ik_foot.{side}"].constraints.new(kind)
        for name, value in LIMITS[kind].items():
            setattr(made, name, value)
        if kind == "SHRINKWRAP":
            made.target = bpy.data.objects.get("Ground") or ground()
        elif hasattr(made, "target"):
            made.target, made.subtarget = rig, "root"
    return shown(rig)


def ground() -> Any:
    """A plane at the ground."""
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata([(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], [], [(0, 1, 2, 3)])
    made = bpy.data.objects.new("Ground", mesh)
    context.collection.objects.link(made)
    return made


@pytest.mark.parametrize("kind", LIMITS)
def test_a_limited_control_moves_and_stops_at_its_limit(kind: str, capfd: Any) -> None:
    rig, way = limited(kind), np.array([0.02, -0.1, 0.12])
    start = world(rig, "ik_foot.L")
    assert bpy.ops.poise.drag(bone="ik_foot.L", shift=tuple(way)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, "ik_foot.L") - start, way, atol=NEAR)
    np.testing.assert_allclose(world(rig, "foot.L"), world(rig, "ik_foot.L"), atol=1e-3)
    assert "short of" not in capfd.readouterr().out

    assert bpy.ops.poise.drag(bone="ik_foot.L", shift=(0.0, 0.0, -0.6)) == FINISHED
    context.view_layer.update()
    said, name = capfd.readouterr().out, rig.pose.bones["ik_foot.L"].constraints[0].name
    assert f'ik_foot.L is at the limit of "{name}". Widen that limit' in said
    assert "Mute" not in said
    # the channels have the control where its limit has it, so that it comes back at once
    own = rig.matrix_world @ rig.pose.bones["root"].matrix @ rig.data.bones["root"].matrix_local.inverted()
    own = own @ rig.data.bones["ik_foot.L"].matrix_local @ rig.pose.bones["ik_foot.L"].matrix_basis
    np.testing.assert_allclose(own.translation, world(rig, "ik_foot.L"), atol=NEAR)
    start = world(rig, "ik_foot.L")
    assert bpy.ops.poise.drag(bone="ik_foot.L", shift=(0.0, 0.0, 0.03)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, "ik_foot.L") - start, (0.0, 0.0, 0.03), atol=NEAR)


@pytest.mark.parametrize("mix", ["ADD", "BEFORE", "AFTER"])
def test_a_control_that_adds_the_rotation_of_another_bone_moves(mix: str) -> None:
    rig, way = rig_on_ik(), np.array([0.02, -0.1, 0.12])
    constrain(rig, "ik_foot.L", "COPY_ROTATION", "root", mix_mode=mix, target_space="LOCAL", owner_space="LOCAL")
    rig.pose.bones["root"].rotation_quaternion = (0.99, 0.0, 0.14, 0.0)
    shown(rig)
    start = world(rig, "foot.L")
    assert bpy.ops.poise.drag(bone="foot.L", shift=tuple(way)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, "foot.L") - start, way, atol=1e-3)


@pytest.mark.parametrize("copied", [{"target_space": "LOCAL", "owner_space": "LOCAL"}, {"use_x": False}])
def test_feet_that_copy_a_rotation_in_local_space_or_in_part_do_not_hold_the_body(copied: dict[str, Any]) -> None:
    rig = rig_on_ik()
    for side in "LR":
        for name, value in copied.items():
            setattr(rig.pose.bones[f"foot.{side}"].constraints[0], name, value)
    shown(rig)
    drawn = drag_bone(rig, "hips", (0.05, -0.05, -0.08))
    assert max(drawn.off, drawn.short) < 1e-3
    assert drawn.turned < TURNED
    assert [said for said in drawn.said if not said.startswith("Feet that are not pinned moved")] == []


@pytest.mark.parametrize("dragged", ["hips", "hand.L"])
def test_ik_with_rotation_has_the_last_bone_of_its_chain_as_its_target(dragged: str) -> None:
    rig = build(ROWS)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for end in ("hand.L", "hand.R", "foot.L", "foot.R"):
        target, last = bones[f"ik_{end}"], bones[end]
        target.head, target.tail, target.roll = last.tail, 2.0 * last.tail - last.head, last.roll
    bpy.ops.object.mode_set(mode="OBJECT")
    for end in ("hand.L", "foot.L"):
        ik(rig, end, f"ik_{end}", count=3, use_rotation=True)
    select(rig, [])
    drawn = drag_bone(shown(rig), dragged, WAYS[dragged])
    assert max(drawn.off, drawn.short) < 1e-3
    assert drawn.turned < TURNED
    assert drawn.said == ()


@pytest.mark.parametrize(("limb", "count"), [("shin", 3), ("forearm", 0), ("forearm", 3)])
@pytest.mark.parametrize("dragged", ["hips", "foot.L", "hand.L"])
def test_ik_of_longer_chains_is_shown_where_it_is_solved(limb: str, count: int, dragged: str) -> None:
    """Hips of such chains could not be moved, and legs were up to 14 cm beside."""
    rig = rig_on_ik()
    for side in "LR":
        rig.pose.bones[f"{limb}.{side}"].constraints["IK"].chain_count = count
    other = world(shown(rig), "foot.R")
    drawn = drag_bone(rig, dragged, (0.03, -0.1, 0.05) if dragged != "hips" else (0.03, -0.05, -0.08))
    assert max(drawn.off, drawn.short) < 1e-3
    assert drawn.turned < TURNED
    assert drawn.said == ()
    np.testing.assert_allclose(world(rig, "foot.R"), other, atol=NEAR)


def test_a_bone_that_several_targets_hang_on_moves_them_as_they_are() -> None:
    """It was taken for the control of each hand, and stopped 11 cm before the mouse."""
    prop = {"root": ROWS["root"], "stick": ("root", "waist", "front")}
    rig = rig_on_ik(prop | ROWS | {"ik_hand.L": ("stick", "wrist", "knuckles")})
    for side, inwards in (("L", -0.2), ("R", 0.2)):
        there = rig.pose.bones[f"ik_hand.{side}"].matrix.copy()
        there.translation += Vector((inwards, -0.2, -0.1))
        rig.pose.bones[f"ik_hand.{side}"].matrix = there
    shown(rig)
    bones, way = ("stick", "hand.L", "hand.R"), np.array([0.03, -0.02, -0.06])
    starts = [world(rig, bone) for bone in bones]
    hips = world(rig, "hips")
    assert bpy.ops.poise.drag(bone="stick", shift=tuple(way)) == FINISHED
    context.view_layer.update()
    for bone, start in zip(bones, starts, strict=True):
        np.testing.assert_allclose(world(rig, bone) - start, way, atol=1e-3)
    np.testing.assert_allclose(world(rig, "hips"), hips, atol=NEAR)


@pytest.mark.parametrize("above", ["ik_hand.L", "ik_foot.L"])
def test_a_target_that_another_one_hangs_on_moves_its_own_limb(above: str) -> None:
    """It was taken for the control of both limbs, and went 83 cm away from the mouse."""
    rig, way = rig_on_ik(), np.array([-0.05, -0.1, 0.1])
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["ik_hand.R"].parent = rig.data.edit_bones[above]
    bpy.ops.object.mode_set(mode="POSE")
    start = world(rig, above)
    assert bpy.ops.poise.drag(bone=above, shift=tuple(way)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, above) - start, way, atol=1e-3)
    np.testing.assert_allclose(world(rig, above.removeprefix("ik_")), world(rig, above), atol=1e-3)
    np.testing.assert_allclose(world(rig, "hand.R"), world(rig, "ik_hand.R"), atol=1e-3)


@pytest.mark.parametrize("dragged", ["hand.R", "both"])
def test_two_limbs_on_one_target_go_with_it(dragged: str) -> None:
    rig, way = rig_on_ik(ROWS | {"both": ("root", "waist", "front")}), np.array([0.02, -0.03, 0.05])
    rig.pose.bones["both"].location = rig.data.bones["both"].matrix_local.to_3x3().inverted() @ Vector((0, -0.3, 0.2))
    for side in "LR":
        rig.pose.bones[f"forearm.{side}"].constraints["IK"].subtarget = "both"
    shown(rig)
    start = world(rig, dragged)
    assert bpy.ops.poise.drag(bone=dragged, shift=tuple(way)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, dragged) - start, way, atol=1e-3)
    for hand in ("hand.L", "hand.R"):
        np.testing.assert_allclose(world(rig, hand), world(rig, "both"), atol=1e-3)


def test_hips_that_copy_the_location_of_an_object_stay(capfd: Any) -> None:
    """The root was taken to move them: the body was shown centimeters off its solved pose."""
    rig = rig_on_ik()
    rig.pose.bones["hips"].constraints.new("COPY_LOCATION").target = make_empty("Seat", (0.0, 0.0, 0.98))
    select(rig, [])
    shown(rig)
    start, hips, way = world(rig, "head"), world(rig, "hips"), np.array([0.05, -0.15, -0.05])
    assert bpy.ops.poise.drag(bone="head", shift=tuple(way)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, "head") - start, way, atol=1e-3)
    assert "misses" not in capfd.readouterr().out
    assert bpy.ops.poise.drag(bone="hips", shift=(0.0, 0.0, -0.08)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, "hips"), hips, atol=NEAR)
    said = capfd.readouterr().out
    assert 'hips follows the object "Seat". Move that object instead' in said
    assert "Unlock" not in said


def test_a_drag_that_the_rig_leads_away_from_the_mouse_changes_nothing(capfd: Any) -> None:
    """The target goes more than twice as far as its control: each round leads further away."""
    twice, more = ("ik_hand.L", "wrist", "knuckles"), ("twice.L", "wrist", "knuckles")
    rig, spaces = (
        rig_on_ik(ROWS | {"twice.L": twice, "more.L": more}),
        {"target_space": "LOCAL", "owner_space": "LOCAL"},
    )
    for name, share in (("twice.L", 1.0), ("more.L", 0.08)):
        constrain(rig, name, "COPY_LOCATION", "ik_hand.L", use_offset=True, influence=share, **spaces)
    for side in "LR":
        rig.pose.bones[f"forearm.{side}"].constraints["IK"].subtarget = f"more.{side}"
    shown(rig)
    before = [bone.matrix_basis.copy() for bone in rig.pose.bones]
    assert bpy.ops.poise.drag(bone="hand.L", shift=(-0.1, -0.1, 0.05)) == FINISHED
    assert [bone.matrix_basis for bone in rig.pose.bones] == before
    assert 'The rig moves "hand.L" away from its target, so nothing is changed' in capfd.readouterr().out
