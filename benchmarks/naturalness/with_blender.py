"""Blender's own IK constraints: from the hands to the clavicles, the feet to the thighs, the head to the spine's first.

A constraint brings its bone's tail to a target, so it is on the bone before the effector; Copy Rotation turns the
effector where its rotation is kept. The pelvis is put where the case has it, and else stays where the start has it.
"""

from typing import Any, Final

import bpy
import numpy as np
from mathutils import Matrix

from core import Pose, forward, rotation

from ..blender_rig import build
from .motion import EFFECTORS, Array, Frames, place_root, start_poses

# the effector, the role at the other end of its chain
CHAINS: Final = {
    "l_wrist": "shoulder.L", "r_wrist": "shoulder.R", "l_ankle": "thigh.L", "r_ankle": "thigh.R", "head": "spine",
}  # fmt: skip


def solve_in_blender(frames: Frames, case: str) -> Pose:
    """The poses that the constraints make of the start poses."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    skeleton, pelvis = frames.skeleton, frames.joints["pelvis"]
    rig = build(skeleton.names, skeleton.parents, skeleton.lengths, skeleton.rest_matrices)
    targets = {joint: _constrain(rig, frames, joint, turned) for joint, (_, turned) in EFFECTORS[case].items()
               if joint in CHAINS}  # fmt: skip
    heads, turns = (np.array(part[:, pelvis]) for part in forward(skeleton, start_poses(frames, case)))
    if "pelvis" in EFFECTORS[case]:
        heads, turns = frames.heads[:, pelvis], frames.turns[:, pelvis]
    layer: Any = bpy.context.view_layer
    found = np.empty((len(heads), len(skeleton), 4, 4), np.float32)
    for frame in range(len(heads)):
        rig.pose.bones[pelvis].matrix = _matrix(heads[frame], turns[frame])
        for joint, target in targets.items():
            bone = frames.joints[joint]
            target.matrix_world = _matrix(frames.heads[frame, bone], frames.turns[frame, bone])
        layer.update()
        rig.pose.bones.foreach_get("matrix", found[frame].ravel())
    matrices = np.swapaxes(found, -1, -2).astype(float)
    stands = rotation.from_matrix(matrices[..., :3, :3])
    above = np.where((skeleton.parents < 0)[:, None], rotation.IDENTITY, stands[:, skeleton.parents])
    own = rotation.mul(rotation.inv(rotation.mul(above, skeleton.rest_rotations)), stands)
    return Pose(rotation.normalize(own), place_root(skeleton, matrices[:, 0, :3, 3]))


def _matrix(place: Array, turn: Array) -> Matrix:
    return Matrix.LocRotScale(place.tolist(), Matrix(rotation.to_matrix(turn).tolist()), None)


def _constrain(rig: Any, frames: Frames, joint: str, turned: bool) -> Any:
    """The empty that leads an effector."""
    skeleton, bone, far = frames.skeleton, frames.joints[joint], frames.roles.bones.get(CHAINS[joint])
    first = far if isinstance(far, int) else far[0] if far else -1
    chain = skeleton.ancestors(bone)[1:]
    target = bpy.data.objects.new(joint, None)
    context: Any = bpy.context
    context.scene.collection.objects.link(target)
    constraint = rig.pose.bones[chain[0]].constraints.new("IK")
    constraint.target, constraint.chain_count = target, chain.index(first) + 1
    if turned:
        rig.pose.bones[bone].constraints.new("COPY_ROTATION").target = target
    return target
