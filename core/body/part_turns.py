"""Turns of the parts of a body: rotations relative to the canonical T-pose (see `anatomy`), an animal's rest pose.

They do not depend on a human's rest pose, nor on rolls and tails of bones, so that one body can take those of another.
Spines, necks and limbs of animals of other numbers of bones are interpolated along their lengths.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from .. import rotation
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Skeleton
from .anatomy import anatomy
from .axes import MIRROR_QUATERNION, axis_vector, canonical_frame
from .roles import Roles, opposite_role

PartTurns = Mapping[str, Array]  # role -> rotations (..., k, 4) of its k bones, in the canonical frame

_CHAINS: Final = ("spine", "neck")


def canonical_frames(skeleton: Skeleton, pose: Pose, roles: Roles) -> tuple[Array, Array]:
    """Return heads (..., J, 3) and rotations (..., J, 4) relative to the T-pose, both in the canonical frame."""
    heads, frames = forward(skeleton, pose)
    frame = rotation.inv(canonical_frame(roles.up, roles.facing))
    return rotation.rotate(frame, heads), rotation.mul(frame, rotation.mul(frames, anatomy(skeleton, roles).axes))


def read_turns(skeleton: Skeleton, roles: Roles, pose: Pose) -> PartTurns:
    """Return the turns of the parts in a pose (...)."""
    _, turns = canonical_frames(skeleton, pose, roles)
    return {role: turns[..., list(chain), :] for role, chain in roles.parts.items()}


def leg_places(skeleton: Skeleton, roles: Roles) -> dict[str, Array]:
    """Return leg of an animal -> heights (k,) of the middles of its bones at rest, by that of the head of its spine."""
    up, rest = axis_vector(roles.up), skeleton.rest_matrices
    middles = (rest[:, :, 3] + 0.5 * skeleton.lengths[:, None] * rest[:, :, 1]) @ up
    ground = min((middles[leg[-1]] for leg in roles.legs.values()), default=0.0)
    top = rest[roles.chain("spine")[-1:] or roles.chain("hips"), :, 3] @ up
    return {name: (middles[list(leg)] - ground) / (float(top[0]) - ground) for name, leg in roles.legs.items()}


def mirror_turns(turns: PartTurns) -> PartTurns:
    """Return turns of which left and right have changed places."""
    return {opposite_role(role): some * MIRROR_QUATERNION for role, some in turns.items()}


def turns_to_frames(
    skeleton: Skeleton, roles: Roles, turns: PartTurns, places: Mapping[str, Array] | None = None
) -> dict[int, Array]:
    """Return bone -> frame (F, 4) in armature space in which the parts of a body have these turns (F, k, 4).

    `places`: the `leg_places` of the animal that the turns are of.
    """
    heading, axes = canonical_frame(roles.up, roles.facing), anatomy(skeleton, roles).axes
    found = _turns_of_bones(turns, roles)
    own_places = leg_places(skeleton, roles)
    for name, there in (places or {}).items():
        if name in own_places and len(own_places[name]) != len(there):
            own = np.moveaxis(turns[name], -2, 0)
            at = np.interp(own_places[name], there[::-1], np.arange(len(own))[::-1])
            found |= {bone: _between(own, place) for bone, place in zip(roles.limbs[name], at.tolist(), strict=True)}
    return {bone: rotation.mul(rotation.mul(heading, turn), rotation.inv(axes[bone])) for bone, turn in found.items()}


def turn_bones(skeleton: Skeleton, rotations: Array, wanted: Mapping[int, Array]) -> Array:
    """Return own rotations (F, J, 4) that give bones the `wanted` frames (F, 4); other bones keep their rotations."""
    rest = rotation.from_matrix(rotation.nearest_rotation(skeleton.rest_matrices[:, :, :3]))
    result, frames = np.array(rotations), np.empty_like(rotations)
    for bone, parent in enumerate(skeleton.parents.tolist()):
        base = rest[bone]
        if parent >= 0 and skeleton.inherit_rotation[bone]:
            base = rotation.mul(frames[:, parent], skeleton.rest_rotations[bone])
        if bone in wanted and skeleton.movable[bone]:
            result[:, bone] = rotation.mul(rotation.inv(base), wanted[bone])
        frames[:, bone] = rotation.mul(base, result[:, bone])
    return rotation.unroll(result)


def _turns_of_bones(turns: PartTurns, roles: Roles) -> dict[int, Array]:
    """Return bone -> turn (F, 4) of a body with these roles."""
    found: dict[int, Array] = {}
    before = turns["hips"][:, 0]
    for role, bones in roles.parts.items():
        own = turns.get(role)
        if role in _CHAINS:
            chain = [before] if own is None else [before, *np.moveaxis(own, -2, 0)]
            found |= {bone: _interpolate(chain, (k + 1) / len(bones)) for k, bone in enumerate(bones)}
            before = chain[-1]
        elif own is not None and not roles.humanoid and len(bones) != own.shape[-2]:
            chain = [*np.moveaxis(own, -2, 0)]
            found |= {bone: _interpolate(chain, (k + 0.5) / len(bones)) for k, bone in enumerate(bones)}
        elif own is not None:
            found |= dict(zip(bones, np.moveaxis(own, -2, 0), strict=False))
    return found


def _interpolate(chain: Sequence[Array], share: float) -> Array:
    """Return the rotation (F, 4) at a share of the length of a chain of rotations."""
    return _between(chain, share * (len(chain) - 1))


def _between(chain: Sequence[Array] | Array, place: float) -> Array:
    """Return the rotation (F, 4) between the one at a place in a chain and the one after it."""
    low = min(int(place), max(len(chain) - 2, 0))
    return rotation.slerp(chain[low], chain[min(low + 1, len(chain) - 1)], np.float64(place - low))
