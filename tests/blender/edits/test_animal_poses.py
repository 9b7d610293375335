"""Poses from one animal to another by their parts, measured where Blender shows the bones.

Ground truth is what `retarget` of that frame gives, and the mirror image of joints.
"""

from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from core import CoreError, rotation
from core.formats.pose import parse_pose, pose_text
from edits.part_poses import ApplyPose, pose_of_armature, pose_of_text, posed_parts
from tests.blender.retargets import show_retargeted
from tests.blender.rigs import context, load, make_armature, select
from tests.paths import SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

DOG = SHARED / "rigs" / "real" / "mesh2motion_quadruped.glb"
RIGS = {
    "Quaternius cat": SHARED / "rigs" / "real" / "quaternius_cat.fbx",
    "Rigify wolf": SHARED / "rigs" / "scripted" / "rigify_generated_wolf.blend",
}
FRAME = 7


def animal(name: str) -> Any:
    """One of the animals, at rest, which is the active armature."""
    rig = next(rig for rig in load(RIGS[name]) if rig.name != "metarig")
    if rig.animation_data is not None and rig.animation_data.action is not None:
        still(rig)
    select(rig, [])
    context.view_layer.update()
    return rig


def still(rig: Any) -> None:
    """Take the motion of a file from an armature."""
    rig.animation_data_clear()
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()


def dog() -> Any:
    """A dog beside what is in the scene, in a pose that is keyed at one frame; it is not the active object."""
    if not DOG.is_file():
        pytest.skip(f"{DOG.name}: the larger test data (../shared/data) is not here")
    active, mode = context.view_layer.objects.active, context.mode
    if mode == "POSE":
        bpy.ops.object.mode_set(mode="OBJECT")
    before = {*context.scene.objects}
    bpy.ops.import_scene.gltf(filepath=str(DOG))
    (rig,) = (one for one in {*context.scene.objects} - before if one.type == "ARMATURE")
    still(rig)
    rig.name = "dog"
    roles, rng = bridge.read_roles(rig), np.random.default_rng(3)
    for role, chain in roles.parts.items():
        for bone in chain:
            posed = rig.pose.bones[bone]
            posed.rotation_mode = "QUATERNION"
            if role != "hips":
                posed.rotation_quaternion = rotation.exp(0.12 * rng.normal(size=3)).tolist()
            posed.keyframe_insert("rotation_quaternion", frame=FRAME)
    rig.select_set(True)
    context.view_layer.objects.active = active
    if mode == "POSE":
        bpy.ops.object.mode_set(mode="POSE")
    context.scene.frame_set(FRAME)
    return rig


def joints(rig: Any, *parts: str) -> np.ndarray:
    """The frames of the bones of some parts, by default of all, as Blender shows them, (k, 3, 3)."""
    context.view_layer.update()
    found = bridge.read_roles(rig).parts
    bones = [bone for part in parts or found for bone in found[part]]
    return np.array([np.array(rig.pose.bones[bone].matrix)[:3, :3] for bone in bones])


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest angle between two lists of frames, degrees."""
    turns = (rotation.from_matrix(rotation.nearest_rotation(frames)) for frames in (one, other))
    return float(np.degrees(rotation.angle_between(*turns)).max())


def lowest(rig: Any) -> float:
    """The height of the lowest joint or tip of a leg, where Blender has it."""
    context.view_layer.update()
    roles = bridge.read_roles(rig)
    bones = [rig.pose.bones[bone] for chain in roles.legs.values() for bone in chain]
    return min((rig.matrix_world @ place).z for bone in bones for place in (bone.head, bone.tail))


def apply(rig: Any, tool: ApplyPose) -> None:
    body = bridge.read_body(rig)
    bridge.write_body(rig, body, tool.apply(context, rig, body))


@pytest.mark.parametrize("target", RIGS)
def test_a_pose_goes_to_another_animal_as_retargeting_it_does(target: str) -> None:
    rig = animal(target)
    source = dog()
    rest, stood = joints(rig), lowest(rig)
    apply(rig, ApplyPose(parse_pose(pose_text(pose_of_armature(source)))))
    found = joints(rig)
    assert apart(found, rest) > 15.0
    assert lowest(rig) == pytest.approx(stood, abs=1e-3)
    show_retargeted(rig, source, FRAME)
    assert apart(found, joints(rig)) < 0.2


def test_of_an_animal_a_mirrored_pose_is_the_mirror_image() -> None:
    """Of its own pose, as the mirror tool makes it."""
    animal("Quaternius cat")
    source = dog()
    pose = pose_of_armature(source)
    select(source, [])
    assert bpy.ops.poise.mirror_pose() == {"FINISHED"}
    image = pose_of_armature(source)
    for role, turns in pose.mirrored().turns.items():
        np.testing.assert_allclose(rotation.angle_between(turns, image.turns[role]), 0.0, atol=1e-5)


@pytest.mark.parametrize(
    ("target", "bone", "part", "still"),
    [
        ("Quaternius cat", "Bone.015", "leg.front.R", ("leg.front.L", "leg.hind.L", "leg.hind.R", "spine", "head")),
        ("Quaternius cat", "Bone.004", "tail", ("leg.front.L", "leg.front.R", "hips", "spine", "head")),
        ("Rigify wolf", "front_foot_ik.L", "leg.front.L", ("leg.front.R", "leg.hind.L", "leg.hind.R", "spine", "head")),
        ("Rigify wolf", "chest", "spine", ("leg.hind.L", "leg.hind.R", "hips", "tail")),
    ],
)
def test_only_the_parts_of_selected_bones_take_a_pose(target: str, bone: str, part: str, still: tuple[str]) -> None:
    rig = animal(target)
    source = dog()
    select(rig, [bone])
    source.select_set(True)
    assert posed_parts(rig, [bone]) == {part}
    before = joints(rig, part), joints(rig, *still)
    assert bpy.ops.poise.apply_pose(source="ARMATURE") == {"FINISHED"}
    assert apart(joints(rig, part), before[0]) > 5.0
    assert apart(joints(rig, *still), before[1]) < 0.01


@pytest.mark.parametrize("target", RIGS)
def test_a_pose_is_blended_and_pasted_on_another_animal(target: str) -> None:
    rig = animal(target)
    source = dog()
    select(rig, [])
    source.select_set(True)
    basis = {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
    rest, stood = joints(rig), lowest(rig)
    assert bpy.ops.poise.blend_pose(source="ARMATURE", factor=0.0) == {"FINISHED"}
    assert apart(joints(rig), rest) < 1e-3
    assert bpy.ops.poise.blend_pose(source="ARMATURE", factor=0.5) == {"FINISHED"}
    half = joints(rig)
    assert lowest(rig) == pytest.approx(stood, abs=1e-3)
    for name, matrix in basis.items():
        rig.pose.bones[name].matrix_basis = matrix
    assert apart(joints(rig), rest) < 1e-3
    apply(rig, ApplyPose(pose_of_text(pose_text(pose_of_armature(source)))))  # as Paste does
    whole = joints(rig)
    assert apart(whole, rest) > 15.0
    assert 0.4 * apart(whole, rest) < apart(half, rest) < 0.6 * apart(whole, rest)
    assert apart(half, whole) < 0.6 * apart(whole, rest)


def test_no_pose_goes_from_an_animal_to_a_human() -> None:
    rig = make_armature()
    source = dog()
    human = pose_of_armature(rig)
    with pytest.raises(CoreError, match="This pose is that of an animal and this body is that of a human"):
        apply(rig, ApplyPose(pose_of_armature(source)))
    with pytest.raises(CoreError, match="This pose is that of a human and this body is that of an animal"):
        apply(source, ApplyPose(human))
