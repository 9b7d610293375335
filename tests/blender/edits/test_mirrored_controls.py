"""X-Axis Mirror of controls that stand under no part of the body, as MMD's, also where legs do not reach them."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

import bridge
from tests.blender.control_drags import NEAR, RIGS, size_of
from tests.blender.rigs import world
from tests.paths import SHARED

SHARED_DATA = pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")


@pytest.mark.parametrize("name", ["MMD", pytest.param("MMD of the shared data", marks=SHARED_DATA)])
@pytest.mark.parametrize("gap", [0.0, 0.02])
def test_with_x_mirror_the_other_control_of_mmd_mirrors_the_dragged_one(name: str, gap: float) -> None:
    """It stayed, and where the legs did not reach their controls the hips went by up to 1.1 m."""
    rig, parts = RIGS[name]()
    size = size_of(rig)
    sides = {"左足ＩＫ": "左足", "右足ＩＫ": "右足"}
    assert bridge.other_sides(rig, sides) == {"左足ＩＫ": "右足ＩＫ", "右足ＩＫ": "左足ＩＫ"}
    for control, thigh in sides.items():
        bone, leg = rig.pose.bones[control], world(rig, control) - world(rig, thigh)
        matrix = bone.matrix.copy()
        matrix.translation = Vector(world(rig, control) + gap * size * leg / np.linalg.norm(leg))
        bone.matrix = matrix
        bpy.context.view_layer.update()
    rig.pose.use_mirror_x = True
    before = {bone: world(rig, bone) for bone in (*sides, parts["hips"])}
    assert bpy.ops.poise.drag(bone="左足ＩＫ", shift=(0.02 * size, -0.05 * size, 0.0)) == {"FINISHED"}
    left, right, hips = ((world(rig, bone) - before[bone]) / size for bone in before)
    np.testing.assert_allclose(left[:2], (0.02, -0.05), atol=NEAR)
    np.testing.assert_allclose(right, left * (-1.0, 1.0, 1.0), atol=NEAR)
    assert np.linalg.norm(hips) < 0.05
