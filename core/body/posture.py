"""Standard poses of a body (T, A, relaxed and rest, with its position and heading kept), and its measures."""

from dataclasses import replace

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Skeleton
from .anatomy import anatomy
from .axes import axis_vector, left_vector, mirror_rotation
from .legs import leg_joints
from .roles import LIMBS, SIDES, Roles


def take_posture(skeleton: Skeleton, roles: Roles, pose: Pose, posture: str, arms: float = np.pi / 4.0) -> Pose:
    """Return a pose (J) with the parts of the body in the posture "T", "A", "RELAXED" or "REST".

    The hips are upright and keep their position and heading; bones that are no part of the body keep their rotations.
    `arms` is the angle of the A-pose's arms below the horizontal, radians. An animal is relaxed as at rest. Raises
    CoreError if there are no hips, and for a T-pose or an A-pose of an animal.
    """
    hips = roles.require("hips")[0]
    if posture in ("T", "A") and not roles.humanoid:
        raise CoreError(f"An animal has no {posture}-pose. Use Rest Pose instead.")
    known = anatomy(skeleton, roles)
    if posture == "REST":
        wanted = np.tile(rotation.IDENTITY, (len(skeleton), 1))
    elif posture == "RELAXED":
        wanted = np.array(known.reference.rotations)
    else:
        wanted = np.array(known.canonical)
        if posture == "A":
            for side in SIDES:
                for arm in roles.chain(f"upper_arm.{side}"):
                    down = mirror_rotation((0.0, 0.0, -arms), side)
                    wanted[arm] = rotation.mul(wanted[arm], rotation.exp(rotation.rotate(known.axes[arm], down)))
    rotations = np.array(pose.rotations)
    bones = sorted(body_bones(skeleton, roles) - {hips})
    rotations[bones] = wanted[bones]
    above = [bone for bone in skeleton.ancestors(hips)[1:] if bone in bones]  # bones that carry the hips are kept
    rotations[above] = pose.rotations[above]
    _, turns = forward(skeleton, pose)
    upright = rotation.mul(heading_of(skeleton, roles, turns), rest_turn(skeleton, hips))
    rotations[hips] = rotation.mul(pose.rotations[hips], rotation.mul(rotation.inv(turns[hips]), upright))
    return replace(pose, rotations=rotations)


def heading_of(skeleton: Skeleton, roles: Roles, turns: Array) -> Array:
    """Return the rotation (4,) of the hips about the vertical from the rest pose; `turns` (J, 4) are bone frames.

    Raises CoreError if there are no hips.
    """
    hips = roles.require("hips")[0]
    change = rotation.mul(turns[hips], rotation.inv(rest_turn(skeleton, hips)))
    return rotation.swing_twist(change, axis_vector(roles.up))[1]


def rest_turn(skeleton: Skeleton, bone: int) -> Array:
    """Return the frame (4,) of a bone at rest, in armature space."""
    return rotation.from_matrix(skeleton.rest_matrices[bone, :, :3])


def body_axes(roles: Roles) -> Array:
    """Return unit vectors (3, 3) to the left, front and top of the body in armature space, as rows."""
    return np.stack([left_vector(roles.up, roles.facing), axis_vector(roles.facing), axis_vector(roles.up)])


def leg_length(skeleton: Skeleton, roles: Roles) -> float:
    """Return the rest length from hip to ankle, the mean of both legs; the skeleton's size for bodies without legs.

    Of an animal it is the height of its `leg_joints` above the tips at rest.
    """
    heads = skeleton.rest_matrices[:, :, 3]
    if roles.animal:
        tips = heads + skeleton.lengths[:, None] * skeleton.rest_matrices[:, :, 1]
        last = [leg[-1] for leg in roles.legs.values()]
        return float(((heads[leg_joints(skeleton, roles)] - tips[last]) @ axis_vector(roles.up)).mean())
    legs = [[roles.bone(f"{part}.{side}") for part in LIMBS["leg"]] for side in SIDES]
    lengths = [rotation.lengths(np.diff(heads[joints], axis=0)).sum() for joints in legs if min(joints) >= 0]
    return float(np.mean(lengths)) if lengths else skeleton.size


def body_bones(skeleton: Skeleton, roles: Roles) -> set[int]:
    """Return the bones with a role, twist bones, and the bones between these and the hips (halves of a pelvis)."""
    parts = {bone for chain in roles.parts.values() for bone in chain}
    parts |= {bone for chain in roles.twist.values() for bone in chain}
    hips = roles.chain("hips")
    links: set[int] = set()
    for part in parts:
        chain = skeleton.ancestors(part)
        if hips and hips[0] in chain:
            links |= set(chain[: chain.index(hips[0])])
    return parts | links
