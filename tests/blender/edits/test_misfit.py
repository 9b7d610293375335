"""Where IK controls cannot show the pose that was solved, the report says by how much, and which limb."""

from typing import Any

import bpy
import numpy as np

import bridge
from core import Motion, Pose, forward, rotation
from core.steps import run_steps
from edits.controls import find_control_motion
from tests.blender.rigs import make_ik_body, select

context: Any = bpy.context


def test_a_swivel_that_ik_cannot_show_is_said_in_numbers() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = make_ik_body()
    for side in "LR":
        rig.pose.bones[f"shin.{side}"].constraints["IK"].pole_target = None
        rig.pose.bones[f"thigh.{side}"].lock_rotation = (True, True, True)
        rig.pose.bones[f"foot_ik.{side}"].location = (0.0, 0.0, 0.0)
    rig.pose.bones["hips"].location = (0.0, -0.15, 0.0)
    select(rig, [])
    context.view_layer.update()
    whole = bridge.read_rig(rig)
    roles = bridge.read_roles(rig, whole.skeleton)
    controlled = bridge.find_controlled_frames(rig, whole, roles, np.array([1.0]), {})
    assert controlled is not None
    present = controlled.read(bridge.read_matrices(rig)[None])
    misfit, _ = _pose(rig, whole, controlled, present)
    assert misfit == []
    thigh = controlled.skeleton.index("thigh.L")
    heads, turns = forward(controlled.skeleton, present)
    limb = heads[0, controlled.skeleton.index("foot.L")] - heads[0, thigh]
    swivel = rotation.exp(np.radians(30.0) * limb / np.linalg.norm(limb))
    above = turns[0, controlled.skeleton.parents[thigh]]
    rotations = np.array(present.rotations)
    base = rotation.mul(above, controlled.skeleton.rest_rotations[thigh])
    rotations[0, thigh] = rotation.mul(rotation.inv(base), rotation.mul(swivel, turns[0, thigh]))
    wanted = Pose(rotations, present.translations)
    (said,), reached = _pose(rig, whole, controlled, wanted)
    (there, shown), (asked, turned) = (forward(controlled.skeleton, pose) for pose in (reached, wanted))
    leg = [controlled.skeleton.index(name) for name in ("thigh.L", "shin.L", "foot.L")]
    away = np.linalg.norm(there - asked, axis=-1)[0, leg].max()
    angle = np.degrees(rotation.angle_between(shown, turned)[0, leg].max())
    assert angle > 25.0
    assert said.startswith('IK of "foot.L" shows its limb up to ')
    assert f"{bridge.say_length(context.scene, float(away))} and {angle:.1f} degrees" in said
    assert '(at "shin.L")' in said


def _pose(rig: Any, whole: Any, controlled: Any, pose: Pose) -> tuple[list[str], Pose]:
    motion = Motion(bridge.read_pose(rig, whole)[None], np.array([1.0]), 24.0)
    steps = find_control_motion(context, rig, controlled.with_starts(whole), controlled, motion, pose, False)
    found, reached = run_steps(steps)
    return found.misfit, reached
