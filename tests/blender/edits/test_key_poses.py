"""Key poses of rigs with controls: a stored pose is shown again whatever the rig has by then, switches included."""

import bpy
import numpy as np
import pytest

import bridge
from bridge.channels import read_channels, rotation_channel
from core.formats.recipe import Moment
from edits.generate import posed_at
from tests.blender.control_drags import NEAR, RIGS, settings, size_of
from tests.blender.edits.rigs import heads_over
from tests.paths import SHARED

SHARED_DATA = pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
BUILT = ("Auto-Rig Pro on IK", "CloudRig on IK", "MMD", "reverse feet with poles")
OF_SHARED = ("Rigify on IK", "Rigify's wolf")
NAMES = (*BUILT, *(pytest.param(name, marks=[SHARED_DATA, pytest.mark.long]) for name in OF_SHARED))


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_pose_is_shown_again_and_leaves_the_present_one(name: str) -> None:
    rig, _ = RIGS[name]()
    chance = np.random.default_rng(1)
    switches = [
        (bone, key)
        for bone in rig.pose.bones
        for key, value in bone.items()
        if key not in bone.bl_rna.properties and isinstance(value, float) and "FK" in key.upper()
    ]
    for bone in rig.pose.bones:  # whatever is locked or driven
        turn = getattr(bone, rotation_channel(bone.rotation_mode))
        turn[:] = np.array(turn) + chance.normal(0.0, 0.1, len(turn))
    for bone, key in switches:
        bone[key] = 1.0 - bone[key]
    rig.update_tag()
    bpy.context.view_layer.update()
    stored = bridge.read_matrices(rig)
    assert bpy.ops.poise.store_pose(pose="MAX") == {"FINISHED"}
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    for bone, key in switches:
        bone[key] = 1.0 - bone[key]
    rig.update_tag()
    bpy.context.view_layer.update()
    before, channels, present = settings(rig), read_channels(rig), bridge.read_matrices(rig)
    assert np.abs(present - stored).max() > NEAR
    with posed_at(bpy.context, rig, Moment(1, rig.poise_key_poses.name)):
        np.testing.assert_allclose(bridge.read_matrices(rig), stored, atol=1e-5)
    np.testing.assert_allclose(bridge.read_matrices(rig), present, atol=1e-5)
    assert settings(rig) == before
    for kind, values in read_channels(rig).items():
        np.testing.assert_array_equal(values, channels[kind])


@pytest.mark.long
@SHARED_DATA
@pytest.mark.parametrize("run_at", [1, 12, 30])
def test_a_generated_motion_has_the_knees_of_the_stored_poses(run_at: int) -> None:
    rig, _ = RIGS["Rigify on IK"]()
    for frame, bend, knee in ((1, 0.1, 0.3), (12, 0.3, -0.2), (30, 0.2, 0.0)):
        bpy.context.scene.frame_set(frame)
        rig.pose.bones["torso"].location = (0.0, 0.0, -bend)
        for side, turn in (("L", knee), ("R", -knee)):
            control = rig.pose.bones[f"thigh_ik.{side}"]  # Rigify locks all but its turn about the leg
            control.rotation_euler = (0.0, turn, 0.0)
            control.keyframe_insert("rotation_euler", frame=frame, index=1)
        rig.pose.bones["torso"].keyframe_insert("location", frame=frame)
    wanted = heads_over(rig, 1, 12, 11)
    bpy.context.scene.frame_set(run_at)
    for pose, frame in (("MIN", 1), ("MAX", 12)):
        assert bpy.ops.poise.store_pose(pose=pose, source="FRAME", frame=frame) == {"FINISHED"}
    assert bpy.ops.poise.generate(recipe="own", seconds=2.0, start=run_at) == {"FINISHED"}
    fps = bpy.context.scene.render.fps
    made = heads_over(rig, run_at, run_at + fps, fps)  # the max pose is in the middle
    hips, legs = (
        rig.pose.bones.find("DEF-spine"),
        [rig.pose.bones.find(f"DEF-{part}.{side}") for part in ("thigh", "shin", "foot") for side in "LR"],
    )
    beside = (made - made[:, [hips]] - (wanted - wanted[:, [hips]]))[:, legs]
    assert np.linalg.norm(beside, axis=-1).max() < NEAR * size_of(rig)
