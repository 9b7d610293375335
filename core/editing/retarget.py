"""A motion brought to another body: its parts turn as the parts of the first one do, from one canonical T-pose.

How a part is turned out of the T-pose (see `humanoid.anatomy`) knows neither rest poses nor rolls nor tails of bones.
It is taken from the first body and put on the second; where a spine or neck has another number of bones, it is shared
by their places along it. The hips go as the first one's do, in lengths of the legs above the ground. Feet that bore
stand.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from .. import rotation
from ..body import Roles
from ..body.anatomy import anatomy
from ..body.axes import canonical_frame
from ..errors import CoreError
from ..generate.poses import body_axes, leg_length
from ..motion import Motion
from ..pose import Pose, forward, shifted
from ..rotation import Array
from ..skeleton import Skeleton
from .contacts import Contacts, find_contacts, find_ground, foot_points, point_positions
from .foot_lock import EASE, contact_pins
from .timed_pins import TimedPin

CHAINS: Final = ("spine", "neck")


def retarget(source: Skeleton, motion: Motion, source_roles: Roles, target: Skeleton, target_roles: Roles) -> Motion:
    """The motion of the source on the target, both humans'; bones without a part of the body are at rest.

    Raises CoreError where one of them is no human body.
    """
    for name, roles in (("first", source_roles), ("second", target_roles)):
        if not roles.humanoid or "hips" not in roles.bones:
            raise CoreError(f"Motions go from one human body to another; the {name} armature has none.")
    _, frames = forward(source, motion.pose)
    axes = rotation.mul(frames, anatomy(source, source_roles).axes)
    turns = rotation.mul(rotation.inv(canonical_frame(source_roles.up, source_roles.facing)), axes)
    parts = _matched(turns, source_roles, target_roles)
    rotations = _own_rotations(target, target_roles, parts, len(motion))
    pose = Pose(rotations, np.zeros((len(motion), len(target), 3)))
    wanted = _hips(source, motion.pose, source_roles) @ body_axes(target_roles) * leg_length(target, target_roles)
    shifts = wanted + _under_hips(target, target_roles, _ground(target, Pose.rest(target), target_roles))
    pose = _carried(target, target_roles, pose, shifts - _centre(target, pose, target_roles))
    return replace(motion, pose=pose)


def planted(
    source: Skeleton,
    motion: Motion,
    source_roles: Roles,
    target: Skeleton,
    moved: Motion,
    target_roles: Roles,
    up: Array,
    ease: float = EASE,
) -> tuple[Motion, tuple[TimedPin, ...]]:
    """The motion that the target has, `moved`, on its ground, and pins for its feet where those of the source bear.

    Raised or lowered as a whole, so that bearing feet are as high above where they stand at rest as those of the source
    are, by the legs' lengths. `up` (3,) in the source's space.
    """
    own, other = (
        {point.name: point for point in foot_points(skeleton, roles)}
        for skeleton, roles in ((source, source_roles), (target, target_roles))
    )
    names = [name for name in own if name in other]
    if not names:
        return moved, ()
    contacts = find_contacts(source, motion, [own[name] for name in names], up=up)
    if not contacts.touching.any():
        return moved, ()
    here = replace(contacts, points=tuple(other[name] for name in names))
    above = _heights(source, motion.pose, source_roles, contacts) - _ground(source, motion.pose, source_roles)
    above += _ground(source, Pose.rest(source), source_roles)
    above -= _heights(source, Pose.rest(source), source_roles, contacts)
    scale = leg_length(target, target_roles) / leg_length(source, source_roles)
    wanted = _heights(target, Pose.rest(target), target_roles, here) + scale * above
    lack = (wanted - _heights(target, moved.pose, target_roles, here))[contacts.touching]
    rise = np.broadcast_to(float(np.median(lack)) * body_axes(target_roles)[2], (len(moved), 3))
    moved = replace(moved, pose=_carried(target, target_roles, moved.pose, rise))
    return moved, contact_pins(target, moved, here, ease)


def _heights(skeleton: Skeleton, pose: Pose, roles: Roles, contacts: Contacts) -> Array:
    """(..., P) of the points."""
    return point_positions(skeleton, pose, contacts.points) @ body_axes(roles)[2]


def _matched(turns: Array, source: Roles, target: Roles) -> dict[int, Array]:
    """Target bone -> how its part is turned, (F, 4)."""
    found: dict[int, Array] = {}
    before = source.bones["hips"]
    for role, bones in target.bones.items():
        own = source.bones.get(role)
        if role in CHAINS and not isinstance(bones, int) and not isinstance(own, int):
            chain = [turns[:, bone] for bone in (before, *(own or ())) if isinstance(bone, int)]
            found |= {bone: _along(chain, (k + 1) / len(bones)) for k, bone in enumerate(bones)}
            before = own[-1] if own else before
        elif isinstance(bones, int) and isinstance(own, int):
            found[bones] = turns[:, own]
        elif not isinstance(bones, int) and isinstance(own, tuple):
            found |= {bone: turns[:, one] for bone, one in zip(bones, own, strict=False)}
    return found


def _along(chain: Sequence[Array], share: float) -> Array:
    """Between turns (F, 4) that follow each other, at a share of their way."""
    place = share * (len(chain) - 1)
    low = min(int(place), max(len(chain) - 2, 0))
    return rotation.slerp(chain[low], chain[min(low + 1, len(chain) - 1)], np.float64(place - low))


def _own_rotations(skeleton: Skeleton, roles: Roles, parts: dict[int, Array], count: int) -> Array:
    """(F, J, 4) with which the parts of the body are turned so; other bones at rest."""
    heading, axes = canonical_frame(roles.up, roles.facing), anatomy(skeleton, roles).axes
    rest = rotation.from_matrix(rotation.nearest_rotation(skeleton.rest_matrices[:, :, :3]))
    result = np.tile(rotation.IDENTITY, (count, len(skeleton), 1))
    frames = np.broadcast_to(rest, result.shape).copy()
    for bone, parent in enumerate(skeleton.parents.tolist()):
        base = rest[bone]
        if parent >= 0 and skeleton.inherit_rotation[bone]:
            base = rotation.mul(frames[:, parent], skeleton.rest_rotations[bone])
        frames[:, bone] = base
        if bone in parts and skeleton.movable[bone]:
            frames[:, bone] = rotation.mul(rotation.mul(heading, parts[bone]), rotation.inv(axes[bone]))
            result[:, bone] = rotation.mul(rotation.inv(base), frames[:, bone])
    return rotation.unroll(result)


def _centre(skeleton: Skeleton, pose: Pose, roles: Roles) -> Array:
    """(..., 3) between the hip joints; the head of the hips where there are no legs."""
    heads, _ = forward(skeleton, pose)
    joints = [bone for side in "LR" if (bone := roles.bone(f"thigh.{side}")) >= 0]
    hips = roles.bones["hips"]
    assert isinstance(hips, int)
    return heads[..., joints or [hips], :].mean(axis=-2)


def _ground(skeleton: Skeleton, pose: Pose, roles: Roles) -> float:
    """How high the ground of a pose or motion (...) is: its feet are hardly ever lower; 0 for a body without feet."""
    points = foot_points(skeleton, roles)
    if not points:
        return 0.0
    places = point_positions(skeleton, pose, points).reshape(-1, len(points), 3)
    up = body_axes(roles)[2]
    return float((places @ up).min()) if len(places) == 1 else find_ground(places, up).height


def _under_hips(skeleton: Skeleton, roles: Roles, ground: float) -> Array:
    """(3,) the point of the ground under the hips at rest."""
    centre, up = _centre(skeleton, Pose.rest(skeleton), roles), body_axes(roles)[2]
    return centre - (float(centre @ up) - ground) * up


def _hips(skeleton: Skeleton, pose: Pose, roles: Roles) -> Array:
    """(F, 3) left, forward and up from the ground under where they rest to the hips, in lengths of the legs."""
    way = _centre(skeleton, pose, roles) - _under_hips(skeleton, roles, _ground(skeleton, pose, roles))
    return way @ body_axes(roles).T / leg_length(skeleton, roles)


def _carried(skeleton: Skeleton, roles: Roles, pose: Pose, shifts: Array) -> Pose:
    """The pose with its hips moved by shifts (F, 3): by the bone itself, or by the next one above that may be moved."""
    hips = roles.bones["hips"]
    assert isinstance(hips, int)
    chain = skeleton.ancestors(hips)
    bone = next((above for above in chain if skeleton.translatable[above].all()), chain[-1])
    return shifted(skeleton, pose, bone, shifts)
