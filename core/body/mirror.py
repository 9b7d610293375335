"""Mirror poses by parts and rest positions: names, rolls and rest poses may differ between the sides."""

from dataclasses import replace
from typing import Final, Literal

import numpy as np

from .. import rotation
from ..motion import shifted
from ..pose import Pose, forward
from ..skeleton import Indices, Skeleton
from .anatomy import anatomy, carrier_of
from .axes import MIRROR_QUATERNION, MIRROR_VECTOR, axis_vector, canonical_frame, left_vector
from .legs import feet_or_hips
from .posture import heading_of, rest_turn
from .roles import Roles, opposite_role

Model = Literal["BOTH", "L", "R"]

_NEAR: Final = 0.01  # of the size: largest distance of a bone from the mirror image of its counterpart


def mirror_pose(skeleton: Skeleton, roles: Roles, pose: Pose, model: Model = "BOTH") -> Pose:
    """Return a pose (J) mirrored, or with one side ("L", "R") mirrored to the other side only.

    The body keeps its heading and the point between its feet. Rotations from the canonical T-pose, locations, and
    scales of all bones but ancestors of the hips are mirrored about the anatomical axes. Bones without a counterpart
    are unchanged. Raises CoreError if there are no hips.
    """
    hips = roles.require("hips")[0]
    carrier = carrier_of(skeleton, roles)
    root = hips if carrier is None else carrier
    known, partners = anatomy(skeleton, roles), counterparts(skeleton, roles)
    heads, turns = forward(skeleton, pose)
    own = rotation.mul(rotation.inv(known.canonical), pose.rotations)
    own = rotation.conjugate(own, rotation.inv(known.axes))  # (J, 4) in the canonical frame
    middle = partners == np.arange(len(skeleton))
    other = (partners >= 0) & ~middle
    if model != "BOTH":
        other[list(_side_of(skeleton, roles, partners, model))] = False
    changed = np.flatnonzero(other | (middle & (model == "BOTH")))
    new = rotation.conjugate(own[partners[changed]] * MIRROR_QUATERNION, known.axes[changed])
    rotations = np.array(pose.rotations)
    rotations[changed] = rotation.mul(known.canonical[changed], new)
    carried = np.setdiff1d(changed, skeleton.ancestors(hips))  # the hips are moved at last
    moved = carried[skeleton.local_location[carried]]
    zero = rotation.mul(known.canonical, known.axes)  # (J, 4) the canonical frame in that of the bone at rest
    shifts = rotation.rotate(rotation.inv(zero[partners[moved]]), pose.translations[partners[moved]])
    translations = np.array(pose.translations)
    translations[moved] = rotation.rotate(zero[moved], shifts * MIRROR_VECTOR)
    pose = replace(pose, translations=translations)
    if pose.scales is not None:
        sized = np.setdiff1d(changed, skeleton.ancestors(hips)[1:])
        to, back = (rotation.to_matrix(known.axes[bones]) for bones in (sized, partners[sized]))
        # the identity where the axes are mirror images of the counterpart's
        shares = np.square(to * MIRROR_VECTOR @ np.swapaxes(back, -1, -2))
        scales = pose.scales.copy()
        scales[sized] = (shares @ pose.scales[partners[sized]][..., None])[..., 0]
        pose = replace(pose, scales=scales)
    if model != "BOTH":
        return replace(pose, rotations=rotations)
    # ancestors of the hips are unchanged, and the hips keep their heading
    above = skeleton.ancestors(hips)[1:]
    rotations[above] = pose.rotations[above]
    turn = rotation.mul(turns[hips], rotation.inv(rest_turn(skeleton, hips)))
    heading, to_canonical = heading_of(skeleton, roles, turns), canonical_frame(roles.up, roles.facing)
    tilt = rotation.conjugate(rotation.mul(rotation.inv(heading), turn), rotation.inv(to_canonical))
    tilt = rotation.conjugate(tilt * MIRROR_QUATERNION, to_canonical)
    wanted = rotation.mul(heading, rotation.mul(tilt, rest_turn(skeleton, hips)))
    rotations[hips] = rotation.mul(pose.rotations[hips], rotation.mul(rotation.inv(turns[hips]), wanted))
    pose = replace(pose, rotations=rotations)
    if skeleton.connected[root] or not skeleton.translatable[root].all():
        return pose
    up = axis_vector(roles.up)
    feet = feet_or_hips(roles)
    step = (heads - forward(skeleton, pose)[0])[feet].mean(axis=0)
    return shifted(skeleton, pose, root, step - (step @ up) * up)


def counterparts(skeleton: Skeleton, roles: Roles) -> Indices:
    """Return the bone (J,) on the other side; the bone itself in the middle, -1 if there is none.

    Counterparts have the roles of both sides, or rest positions that are mirror images, and parents that are
    counterparts, or none.
    """
    found = np.full(len(skeleton), -1)
    for role in (*roles.bones, *roles.limbs):
        chains = [roles.limbs.get(name, ()) or roles.chain(name) for name in (role, opposite_role(role))]
        for bone, other in zip(*chains, strict=False):
            found[bone] = other
    for role, chain in roles.twist.items():
        for bone, other in zip(chain, roles.twist.get(opposite_role(role), ()), strict=False):
            found[bone] = other
    hips = roles.chain("hips")
    rest = skeleton.rest_matrices
    tails = rest[:, :, 3] + skeleton.lengths[:, None] * rest[:, :, 1]
    ends = np.stack([rest[:, :, 3], tails], axis=1)  # (J, 2, 3)
    left = left_vector(roles.up, roles.facing)
    across = ends - 2.0 * ((ends - rest[hips[0], :, 3]) @ left)[..., None] * left if hips else ends
    for bone, parent in enumerate(skeleton.parents.tolist()):
        above = found[parent] if parent >= 0 else -1
        if found[bone] >= 0 or (parent >= 0 and above < 0):
            continue
        beside = np.flatnonzero((skeleton.parents == above) & (found < 0))
        far = np.abs(ends[beside] - across[bone]).max(axis=(1, 2))
        fit = beside[far < _NEAR * skeleton.size]
        if len(fit) == 1:
            found[bone], found[fit[0]] = fit[0], bone
    return found


def _side_of(skeleton: Skeleton, roles: Roles, partners: Indices, side: str) -> set[int]:
    """Return the paired bones of one side: its parts and their descendants."""
    firsts = {bone for role in (*roles.bones, *roles.limbs) if role.endswith(f".{side}")
              for bone in (roles.limbs.get(role, ()) or roles.chain(role))}  # fmt: skip
    paired = np.flatnonzero(partners >= 0).tolist()
    return {bone for bone in paired if firsts.intersection(skeleton.ancestors(bone))}
