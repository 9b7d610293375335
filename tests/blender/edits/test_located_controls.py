"""Locations of controls that otherwise only turn their part, as of shoulders and fingers: tools take them along."""

from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge.channels import rotation_channel
from tests.blender.control_drags import NEAR, RIGS, size_of
from tests.blender.control_rigs import flip_name
from tests.blender.edits.rigs import heads_over
from tests.paths import SHARED

SHARED_DATA = pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
AWAY = np.array((0.0, 0.03, 0.02))
SIDES = str.maketrans("左右", "右左")
FINISHED = {"FINISHED"}
NAMES = (
    ("Auto-Rig Pro on IK", ("c_shoulder.l",)),
    ("MMD", ("左肩", "首")),
    pytest.param("Rigify on IK", ("shoulder.L", "f_index.01.L"), marks=[SHARED_DATA, pytest.mark.long]),
    pytest.param("Rigify on FK", ("shoulder.L", "f_index.01.L"), marks=[SHARED_DATA, pytest.mark.long]),
)
context: Any = bpy.context


def place(rig: Any, controls: tuple[str, ...], share: float = 1.0) -> None:
    for control in controls:
        rig.pose.bones[control].location = share * size_of(rig) * AWAY
    context.view_layer.update()


def parts_of(rig: Any) -> list[int]:
    """Bones of the body, but for poles: how far these are from their limbs is not for the pose to say."""
    controlled = bridge.read_body(rig).controlled
    assert controlled is not None
    return [bone for part, bone in enumerate(controlled.bones.tolist()) if part not in controlled.poles]


def other_side(name: str) -> str:
    swapped = name.translate(SIDES)
    return swapped if swapped != name else flip_name(name)


@pytest.mark.parametrize(("name", "controls"), NAMES)
def test_a_generated_motion_has_the_locations_of_the_stored_poses(name: str, controls: tuple[str, ...]) -> None:
    """They were keyed as 0."""
    rig, _ = RIGS[name]()
    wanted: list[np.ndarray] = []
    for pose, share in (("MIN", 0.0), ("MAX", 1.0)):
        place(rig, controls, share)
        wanted.append(bridge.read_matrices(rig)[parts_of(rig), :, 3])
        assert bpy.ops.poise.store_pose(pose=pose) == FINISHED
    place(rig, controls, 0.0)
    assert bpy.ops.poise.generate(recipe="own", seconds=2.0, start=1) == FINISHED
    for frame, heads in zip((1, 1 + context.scene.render.fps), wanted, strict=True):  # the max pose is in the middle
        context.scene.frame_set(frame)
        np.testing.assert_allclose(bridge.read_matrices(rig)[parts_of(rig), :, 3], heads, atol=NEAR * size_of(rig))


@pytest.mark.parametrize(("name", "controls"), NAMES)
def test_mirror_pose_takes_locations_to_the_other_side(name: str, controls: tuple[str, ...]) -> None:
    """They stayed on their own side."""
    rig, _ = RIGS[name]()
    sided = tuple(control for control in controls if control != "首")
    place(rig, sided)
    before = bridge.read_matrices(rig)[..., 3]
    assert bpy.ops.poise.mirror_pose() == FINISHED
    parts, names = parts_of(rig), [bone.name for bone in rig.pose.bones]
    others = [names.index(other_side(names[part])) for part in parts]
    after = bridge.read_matrices(rig)[..., 3]
    np.testing.assert_allclose(after[parts], before[others] * (-1.0, 1.0, 1.0), atol=2.0 * NEAR * size_of(rig))


@pytest.mark.parametrize(("name", "controls"), NAMES)
def test_a_loop_has_the_locations_of_its_begin_at_its_end(name: str, controls: tuple[str, ...]) -> None:
    """There was a jump by as much as they differ."""
    rig, _ = RIGS[name]()
    for frame, share in ((1, 0.0), (20, 0.7), (40, 1.0)):
        place(rig, controls, share)
        for bone in rig.pose.bones:
            for channel in ("location", rotation_channel(bone.rotation_mode)):
                bone.keyframe_insert(channel, frame=frame)
    context.scene.frame_start, context.scene.frame_end = 1, 40
    assert bpy.ops.poise.make_loop() == FINISHED
    first, last = map(int, rig.animation_data.action.frame_range)
    ends = heads_over(rig, first, last, last - first)[:, parts_of(rig)]
    np.testing.assert_allclose(ends[1], ends[0], atol=NEAR * size_of(rig))
