"""Limbs between IK and FK: the controls of both get the pose, so that Blender's mixture of them shows it."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge import Grab
from bridge.channels import rotation_channel
from edits.drag.session import DragSession
from edits.pin_list import set_pins
from tests.blender.control_drags import NEAR, RIGS, STILL, TURNED, Parts, drag, seen, size_of, solve_here
from tests.blender.rigs import world
from tests.paths import DATA, SHARED

context: Any = bpy.context
SAID = 1e-3  # of a human: what is further off is said
SHORT = 3e-3  # likewise, of the dragged hand
APART = {  # rotations of FK controls of Rigify's human, far from its IK
    "upper_arm_fk.L": (0.0, 0.0, 1.0), "forearm_fk.L": (1.0, 0.0, 0.0), "thigh_fk.R": (-1.5, 0.0, 0.0),
    "shin_fk.R": (1.5, 0.0, 0.0), "foot_fk.R": (1.0, 0.0, 0.5), "toe_fk.R": (0.8, 0.0, 0.0),
}  # fmt: skip
SWITCHES = {"ik_fk_switch", "IK_FK"}


def mixed(name: str, share: float) -> tuple[Any, Parts]:
    """A rig whose limbs have this share of FK."""
    rig, parts = RIGS[name]()
    for bone in rig.pose.bones:
        for prop in SWITCHES & {*bone.keys()}:
            bone[prop] = share
    rig.update_tag()
    context.view_layer.update()
    return rig, parts


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("role", ["hips", "hand.L", "foot.R"])
def test_the_pose_that_a_drag_solves_is_the_one_that_blender_shows(role: str, share: float) -> None:
    shown = drag(*mixed("Auto-Rig Pro on IK", share), role)
    assert shown.off < NEAR
    assert shown.turned < TURNED
    assert shown.short < NEAR


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_ik_and_fk_that_are_apart_come_together(share: float) -> None:
    rig, parts = mixed("Auto-Rig Pro on IK", share)
    before = world(rig, "hand.l")
    for bone, angle in (("c_arm_fk.l", 0.6), ("c_forearm_fk.l", 0.5)):
        rig.pose.bones[bone].rotation_mode = "XYZ"
        rig.pose.bones[bone].rotation_euler = (0.0, 0.0, angle)
    context.view_layer.update()
    assert np.linalg.norm(world(rig, "hand.l") - before) > 0.03
    shown = drag(rig, parts, "hand.L")
    assert shown.off < SAID or any("misses the solved pose" in sentence for sentence in shown.said)
    assert shown.short < SHORT


@pytest.mark.long
def test_a_motion_for_limbs_between_ik_and_fk_is_keyed_and_what_it_misses_is_said(tmp_path: Path, capfd: Any) -> None:
    """A path that is scaled moves them with the body, by up to 13 mm beside it until FK went along with its parts."""
    rig, _ = mixed("Rigify on IK", 0.83)
    for side in "LR":
        hand = rig.pose.bones[f"hand_ik.{side}"]
        hand.rotation_mode, hand.rotation_euler, hand.location = "XYZ", (1.2, 0.8, 0.0), (0.0, 0.15, -0.2)
    context.view_layer.update()
    head, motion = (DATA / "motion" / "cmu_07_12.bvh").read_text().split("Frames:")
    _, time, *rows = motion.splitlines()
    clip = tmp_path / "clip.bvh"
    clip.write_text("\n".join([f"{head}Frames: 2", time, *rows[:2]]) + "\n")
    assert bpy.ops.poise.retarget(filepath=str(clip), plant=False) == {"FINISHED"}
    assert 'IK of "DEF-hand.L" misses the solved pose' in capfd.readouterr().out
    deforming = [bone.name for bone in rig.data.bones if bone.use_deform]
    context.scene.frame_set(2)
    before = np.array([world(rig, bone) for bone in deforming])
    assert bpy.ops.poise.edit_path(scale=1.1, plant=False) == {"FINISHED"}
    assert "misses" not in capfd.readouterr().out
    went = np.array([world(rig, bone) for bone in deforming]) - before
    assert np.abs(went - went.mean(axis=0)).max() < NEAR


@pytest.mark.parametrize(
    ("role", "share", "apart"),
    [("foot.R", 0.5, False), ("hips", 0.9, False), ("hand.L", 0.5, True), ("foot.R", 0.5, True), ("foot.R", 0.9, True)],
)
def test_limbs_of_rigify_half_way_are_shown_where_they_are_solved(role: str, share: float, apart: bool) -> None:
    rig, parts = mixed("Rigify on IK", share)
    for bone, turn in APART.items() if apart else ():
        rig.pose.bones[bone].rotation_mode = "XYZ"
        rig.pose.bones[bone].rotation_euler = turn
    context.view_layer.update()
    shown = drag(rig, parts, role)
    assert shown.off < NEAR
    assert shown.turned < TURNED
    assert max(shown.short, shown.pins) < NEAR
    assert not any("short of" in sentence or "misses" in sentence for sentence in shown.said)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("name", ["legs on IK with poles", "Quaternius"])
def test_limbs_whose_ik_is_on_in_part_are_shown_as_they_are_solved(name: str, share: float) -> None:
    for act in (drag, solve_here):
        for role in ("hips", "foot.R"):
            rig, parts = RIGS[name]()
            for constraint in (one for bone in rig.pose.bones for one in bone.constraints if one.type == "IK"):
                constraint.influence = share
            rig.update_tag()
            context.view_layer.update()
            shown = act(rig, parts, role)
            assert shown.off < NEAR, (act, role)
            assert shown.turned < TURNED, (act, role)
            assert max(shown.short, shown.pins) < NEAR, (act, role)


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize("mouse", [True, False])
def test_hands_between_ik_and_fk_stay_with_the_body_while_the_mouse_moves_and_in_solve_here(mouse: bool) -> None:
    """They went on in each tick and round, by up to 88 cm: what was not there yet passed for what Blender decides."""
    rig, parts = mixed("Rigify on IK", 0.9)
    arms = {f"upper_arm_fk.{side}": (0.3, 0.0, 0.2) for side in "LR"}
    for bone, turn in (arms if mouse else APART | arms).items():  # legs that are apart take several rounds
        rig.pose.bones[bone].rotation_mode = "XYZ"
        rig.pose.bones[bone].rotation_euler = turn
    context.view_layer.update()
    hands = [parts["hand.L"], parts["hand.R"]]
    before = [world(rig, hand) for hand in hands]
    if mouse:
        shift = size_of(rig) * np.array((0.0, 0.003, -0.006))
        session = DragSession(context, rig, [Grab(rig.name, "torso", (0.0, 0.0, 0.0))], live=True)
        for share in np.linspace(0.1, 1.0, 10):
            session.drag(share * shift, STILL)
            context.view_layer.update()
        session.finish()
    else:
        set_pins(context, rig, [parts["foot.L"], parts["foot.R"]], "BOTH", "WORLD")
        assert bpy.ops.poise.solve() == {"FINISHED"}
    context.view_layer.update()
    for hand, was in zip(hands, before, strict=True):
        assert np.linalg.norm(world(rig, hand) - was) < 0.012 * size_of(rig), hand


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_limbs_between_ik_and_fk_whose_fk_control_stays_are_refused_for_that_reason() -> None:
    """It was said that something else drives them."""
    rig, _ = mixed("Rigify on IK", 0.9)
    for bone, turn in APART.items():
        rig.pose.bones[bone].rotation_mode = "XYZ"
        rig.pose.bones[bone].rotation_euler = turn
    for bone in rig.pose.bones:
        if not bone.name.split(".")[0].endswith("_fk"):
            bone.keyframe_insert("location")
            bone.keyframe_insert("rotation_quaternion")
    context.view_layer.update()
    with pytest.raises(RuntimeError, match=r'is between IK and FK, and its FK control "\w+_fk\.[LR]" is not'):
        bpy.ops.poise.drag(bone="torso", shift=(0.0, 0.03, -0.06))


@pytest.mark.long
@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize("bone", ["DEF-hand.L", "DEF-foot.R", "torso"])
def test_a_millimeter_where_ik_fades_to_fk_changes_no_frame_by_much_more(bone: str) -> None:
    """FK was keyed where the mixture needed it, far from where it is at its next keys: frames there went by 67 mm."""
    rig, _ = mixed("Rigify on IK", 0.0)
    rng, frames = np.random.default_rng(3), range(1, 81)
    chains = {"upper_arm_parent": ("upper_arm", "forearm", "hand"), "thigh_parent": ("thigh", "shin", "foot", "toe")}
    bones = rig.pose.bones
    for name, way in (("hand_ik.L", 0.15), ("hand_ik.R", 0.15), ("foot_ik.L", 0.09), ("foot_ik.R", 0.09)):
        for frame in (1, 20, 40, 60, 80):
            bones[name].location = rng.normal(size=3) * way
            bones[name].keyframe_insert("location", frame=frame)
    bones["torso"].keyframe_insert("location", frame=1)
    for frame in (20, 60):  # FK is where IK is at its own keys alone
        context.scene.frame_set(frame)
        for part in (part for chain in chains.values() for part in chain):
            for side in "LR":
                fk = bones[f"{part}_fk.{side}"]
                fk.matrix = bones[f"ORG-{part}.{side}"].matrix.copy()
                context.view_layer.update()
                fk.keyframe_insert("location", frame=frame)
                fk.keyframe_insert(rotation_channel(fk.rotation_mode), frame=frame)
    for switch in (f"{limb}.{side}" for limb in chains for side in "LR"):
        for frame, share in ((10, 0.0), (70, 1.0)):
            bones[switch]["IK_FK"] = share
            bones[switch].keyframe_insert('["IK_FK"]', frame=frame)
    for curve in bridge.motion.active_curves(rig):
        for key in curve.keyframe_points if "IK_FK" in curve.data_path else ():
            key.interpolation = "LINEAR"
    before = [seen(rig, frame)[:, :, 3] for frame in frames]
    context.scene.tool_settings.use_keyframe_insert_auto = True
    context.scene.frame_set(30)
    assert bpy.ops.poise.drag(bone=bone, shift=(0.001, 0.0, 0.0)) == {"FINISHED"}
    shaped = [bone.use_deform for bone in rig.data.bones]
    went = [np.abs(seen(rig, frame)[:, :, 3] - was)[shaped].max() for frame, was in zip(frames, before, strict=True)]
    assert 0.0009 < went[29] < 0.002
    assert max(went) < 0.005


@pytest.mark.long
@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize(("share", "apart"), [(0.3, 0.15), (0.5, 0.15), (0.5, 0.3), (0.8, 0.15), (0.97, 0.15)])
def test_solve_here_brings_feet_between_ik_and_fk_to_their_pins_as_it_is_solved(
    share: float, apart: float, capfd: Any
) -> None:
    """Parts of the legs ended up to 2 cm beside: rounds went on from where the pose was solved, not as it was shown."""
    rig, parts = mixed("Rigify on IK", share)
    random = np.random.default_rng(0)
    for bone in (f"{part}_fk.{side}" for part in ("upper_arm", "forearm", "thigh", "shin") for side in "LR"):
        rig.pose.bones[bone].rotation_mode = "XYZ"
        rig.pose.bones[bone].rotation_euler = random.normal(0.0, apart, 3)
    context.view_layer.update()
    set_pins(context, rig, [parts["foot.L"], parts["foot.R"]], "BOTH", "WORLD")
    feet = [pin.name for pin in rig.poise_pins]
    raised = [world(rig, name) + np.array((0.0, 0.03, 0.05)) for name in feet]
    for pin, place in zip(rig.poise_pins, raised, strict=True):
        pin.position = place
    assert bpy.ops.poise.solve() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "Pins hold" in said
    assert "misses" not in said
    context.view_layer.update()
    for name, place in zip(feet, raised, strict=True):
        np.testing.assert_allclose(world(rig, name), place, atol=NEAR * size_of(rig))
