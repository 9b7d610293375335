"""Motion retargeting: a motion of one human body on another, or of one animal on another.

The parts of the second body have the turns of those of the first (see `body.part_turns`). The hips move as those of the
first body, in leg lengths above the ground; of animals it is the middle of the first joints of the legs that moves so.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..body.anatomy import anatomy
from ..body.ground import find_sole
from ..body.legs import feet_or_hips, leg_joints
from ..body.part_turns import leg_places, read_turns, turn_bones, turns_to_frames
from ..body.posture import body_axes, leg_length
from ..errors import CoreError
from ..motion import Motion, forward_of, in_blocks, shifted
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Skeleton
from .contacts import Contacts, Ground, Surface, find_ground, foot_points, point_positions
from .foot_lock import EASE, contact_pins, raised_onto
from .path import move_roots
from .timed_pins import TimedPin


def is_human(roles: Roles) -> bool:
    """Return whether a motion or pose can go from, and to, a body with these roles."""
    return roles.humanoid and "hips" in roles.bones


def check_pair(source: Roles, target: Roles) -> None:
    """Raise CoreError if no motion goes from a body with these roles to another one."""
    for name, roles in (("the source armature", source), ("the target armature", target)):
        if not (is_human(roles) or roles.animal):
            raise CoreError(f"Motions are retargeted between human bodies, or between animals, and {name} is neither.")
    if source.humanoid != target.humanoid:
        kinds = {True: "that of a human", False: "that of an animal"}
        raise CoreError(
            f"This motion is {kinds[source.humanoid]} and this body is {kinds[target.humanoid]}. "
            "Motions are retargeted from human to human and from animal to animal."
        )


def retarget(
    source: Skeleton, motion: Motion, source_roles: Roles, target: Skeleton, target_roles: Roles, scales: bool = False
) -> Motion:
    """Return a motion of the source on the target; bones without a part of the body are at rest.

    With `scales` parts are scaled as those of the source, without they have no scale. Raises CoreError if not both of
    the armatures have human bodies, or both are animals.
    """
    check_pair(source_roles, target_roles)
    legs = leg_places(source, source_roles) if source_roles.animal else None

    def turned(part: slice) -> Pose:
        there = motion.pose[part]
        wanted = turns_to_frames(target, target_roles, read_turns(source, source_roles, there), legs)
        rest = np.tile(rotation.IDENTITY, (*there.batch_shape, len(target), 1))
        sizes = _part_scales(source, there, source_roles, target, target_roles) if scales else None
        return Pose(turn_bones(target, rest, wanted), np.zeros(rest[..., 1:].shape), sizes)

    pose = in_blocks(len(motion), turned)
    pose = replace(pose, rotations=rotation.unroll(pose.rotations))  # from block to block
    before, after = MovingBody(source, source_roles), MovingBody(target, target_roles)
    hips = (before.hips(motion.pose) - before.below_hips(before.ground(motion.pose))) @ before.axes.T / before.leg
    places = hips @ after.axes * after.leg + after.below_hips(after.ground(after.rest))
    return replace(motion, pose=after.move_hips(pose, places - after.hips(pose)))


def matching_bones(source: Roles, target: Roles) -> dict[int, int]:
    """Return bones of the target -> the bone of the same part of the source that is as far along its chain."""
    return {
        bone: there[round(place * (len(there) - 1) / max(len(here) - 1, 1))]
        for role, here in target.parts.items()
        if (there := source.chain(role))
        for place, bone in enumerate(here)
    }


def aligned(target: Skeleton, roles: Roles, before: Motion, moved: Motion) -> Motion:
    """Return a motion turned about the vertical and moved on the ground so that its hips begin as those of another."""
    human = MovingBody(target, roles)
    up, hips, count = human.axes[2], roles.chain("hips")[0], len(moved)
    after, now = (forward(target, one.pose[:1])[1][0, hips] for one in (before, moved))
    start, place = (human.hips(one.pose[:1])[0] for one in (moved, before))
    place = place + float((start - place) @ up) * up
    starts, places = (np.broadcast_to(one, (count, 3)) for one in (start, place))
    turns = np.broadcast_to(_yaw(after, now, up), (count, 4))
    return replace(moved, pose=move_roots(target, moved, starts, turns, places))


def overlaid(
    target: Skeleton, roles: Roles, before: Motion, moved: Motion, bones: Collection[int], share: Array
) -> Motion:
    """Return the motion before with some `bones` as a retargeted one has them, to a `share` (F,) from 0 to 1.

    They turn as there relative to the part that they hang on. Bones of the spine take over one by one, from that to the
    directions that they have there relative to where the body is heading, so that a chest leans as there on hips that
    sway otherwise. Hips are where they are there. All other bones keep their own rotations.
    """

    def laid(part: slice) -> Pose:
        return _overlaid(target, roles, before.pose[part], moved.pose[part], bones, share[part])

    return replace(before, pose=in_blocks(len(before), laid))


def _overlaid(target: Skeleton, roles: Roles, before: Pose, moved: Pose, bones: Collection[int], share: Array) -> Pose:
    (_, old), (_, new) = (forward(target, one) for one in (before, moved))
    human, spine = MovingBody(target, roles), [bone for bone in roles.chain("spine") if bone in bones]
    parts = {bone for chain in roles.parts.values() for bone in chain} - set(bones)
    wanted: dict[int, Array] = {}
    for bone in bones:
        above = target.ancestors(bone)
        base = next((one for one in above if one in parts), None)
        turn = np.tile(rotation.IDENTITY, (len(share), 1))
        if base is not None:
            turn = rotation.mul(old[:, base], rotation.inv(new[:, base]))
            taken = np.isin(spine, above).sum() / max(len(spine), 1)
            turn = rotation.slerp(turn, _yaw(old[:, base], new[:, base], human.axes[2]), np.float64(taken))
        wanted[bone] = rotation.mul(turn, new[:, bone])
    pose = replace(before, rotations=turn_bones(target, before.rotations, wanted))
    if roles.chain("hips")[0] in bones:
        pose = human.move_hips(pose, human.hips(moved) - human.hips(pose))
    rotations = rotation.slerp(before.rotations, pose.rotations, share[:, None])
    translations = before.translations + share[:, None, None] * (pose.translations - before.translations)
    stays = np.ones(len(target), bool)
    stays[list(bones)] = False
    scales = before.scales
    if moved.scales is not None:
        scales = np.ones_like(translations) if scales is None else scales
        scales = scales + (share[:, None] * ~stays)[..., None] * (moved.scales - scales)
    rotations[:, stays] = before.rotations[:, stays]  # bit for bit
    return replace(pose, rotations=rotations, translations=translations, scales=scales)


def with_other_toes(skeleton: Skeleton, roles: Roles, begun: Pose, moved: Motion) -> Motion:
    """Return a motion in which all toes of a foot turn from a pose (F or 1) as the one that is a part of the body does.

    Toes side by side hang on the foot; those that stay straight go below the ground where it rolls onto the others.
    """
    own, rest = moved.pose.rotations.copy(), skeleton.rest_rotations
    parts = [bone for chain in roles.parts.values() for bone in chain]
    free = skeleton.movable & ~skeleton.driven & skeleton.inherit_rotation & ~np.isin(np.arange(len(skeleton)), parts)
    for side in SIDES if roles.humanoid else ():
        toe, foot = roles.bone(f"toe.{side}"), roles.bone(f"foot.{side}")
        if toe < 0 or skeleton.parents[toe] != foot:
            continue
        ahead = skeleton.offsets @ find_sole(skeleton, roles, side).forward
        turn = rotation.conjugate(rotation.mul(own[:, toe], rotation.inv(begun.rotations[:, toe])), rest[toe])
        for bone in np.flatnonzero((skeleton.parents == foot) & free & (ahead > 0.5 * ahead[toe])).tolist():
            own[:, bone] = rotation.mul(rotation.conjugate(turn, rotation.inv(rest[bone])), own[:, bone])
    return replace(moved, pose=replace(moved.pose, rotations=own))


def _yaw(after: Array, before: Array, up: Array) -> Array:
    """Return the turn (..., 4) about the unit vector `up` from one frame (..., 4) towards another."""
    return rotation.swing_twist(rotation.mul(after, rotation.inv(before)), up)[1]


def keep_contacts(
    target: Skeleton,
    moved: Motion,
    target_roles: Roles,
    contacts: Contacts,
    ease: float = EASE,
    surface: Surface | None = None,
) -> tuple[Motion, tuple[TimedPin, ...]]:
    """Return a retargeted motion on the target's ground, and pins for its feet where the source's are in contact.

    `moved` is the motion of the target, `contacts` are those of the source. The motion is raised or lowered as a whole,
    so that feet in contact are as high as at rest, and each is pinned as high above the `surface`. Tips of toes get no
    pins: `floor_pins` holds them. `ease` in seconds.
    """
    after = MovingBody(target, target_roles)
    other = {point.name: point for point in after.points}
    shared = [n for n, point in enumerate(contacts.points) if point.name in other and not point.name.startswith("toe")]
    touching = contacts.touching[:, shared]
    if not touching.any():
        return moved, ()
    points = tuple(other[contacts.points[n].name] for n in shared)
    ground = Ground(after.axes[2], after.ground(after.rest))
    resting = point_positions(target, after.rest, points) @ ground.up - ground.height
    lack = (resting - ground.heights(point_positions(target, moved.pose, points)))[touching]
    moved = replace(moved, pose=after.move_hips(moved.pose, np.tile(np.median(lack) * ground.up, (len(moved), 1))))
    here = replace(
        contacts, points=points, touching=touching, low=contacts.low[:, shared], ground=ground, resting=resting,
        drift=np.zeros((len(moved), 3)),
    )  # fmt: skip
    moved, here = raised_onto(target, moved, here, after.carrier, surface)
    return moved, contact_pins(target, moved, here, ease)


class MovingBody:
    """A human's or an animal's body: axes (3, 3) to its left, front and top, leg length, contact points, rest pose.

    carrier  the first bone from the hips up whose location is not locked
    """

    def __init__(self, skeleton: Skeleton, roles: Roles) -> None:
        self.skeleton, self.roles = skeleton, roles
        self.axes, self.leg = body_axes(roles), leg_length(skeleton, roles)
        self.points, self.rest = foot_points(skeleton, roles), Pose.rest(skeleton)
        chain = skeleton.ancestors(roles.chain("hips")[0])
        self.carrier = next((bone for bone in chain if skeleton.translatable[bone].all()), chain[-1])

    def ground(self, pose: Pose) -> float:
        """Return the height of the ground of a pose or motion: that of the lowest feet, 0 for a body without feet."""
        if not self.points:
            return 0.0
        positions = point_positions(self.skeleton, pose, self.points).reshape(-1, len(self.points), 3)
        up = self.axes[2]
        return float((positions @ up).min()) if len(positions) == 1 else find_ground(positions, up).height

    def hips(self, pose: Pose) -> Array:
        """Return the midpoint (..., 3) of the first joints of the legs; the head of the hips of a body without legs."""
        joints = [bone for side in SIDES if (bone := self.roles.bone(f"thigh.{side}")) >= 0]
        joints = joints or (
            leg_joints(self.skeleton, self.roles) if self.roles.animal else list(self.roles.chain("hips"))
        )
        return forward_of(self.skeleton, pose, joints)[0].mean(axis=-2)

    def below_hips(self, ground: float) -> Array:
        """Return the point (3,) of a ground of this height below the hips at rest."""
        centre, up = self.hips(self.rest), self.axes[2]
        return centre - (float(centre @ up) - ground) * up

    def footing(self, pose: Pose) -> Array:
        """Return the point (3,) between the feet of a pose (J), or else at the hips, as high as its lowest part."""
        heads, up = forward(self.skeleton, pose)[0], self.axes[2]
        middle = heads[feet_or_hips(self.roles)].mean(axis=0)
        parts = [bone for chain in self.roles.parts.values() for bone in chain]
        low = np.concatenate([heads[parts], point_positions(self.skeleton, pose, self.points)]) @ up
        return middle + (low.min() - middle @ up) * up

    def move_hips(self, pose: Pose, shifts: Array) -> Pose:
        """Return the pose with its hips moved by shifts (F, 3), by their carrier."""
        return shifted(self.skeleton, pose, self.carrier, shifts)


def _part_scales(source: Skeleton, pose: Pose, source_roles: Roles, target: Skeleton, target_roles: Roles) -> Array:
    """Return scales (F, J, 3) of the target's bones, along their own axes, as the same parts of the source have them.

    Hips take what the bones above them have, evenly.
    """
    result = np.ones((len(pose.rotations), len(target), 3))
    if pose.scales is None:
        return result
    own, hips = np.array(pose.scales), source_roles.chain("hips")[0]
    own[:, hips] *= np.cbrt(own[:, source.ancestors(hips)[1:]].prod(axis=(1, 2)))[:, None]
    before, after = anatomy(source, source_roles).axes, anatomy(target, target_roles).axes
    for bone, one in matching_bones(source_roles, target_roles).items():
        basis = rotation.to_matrix(rotation.mul(after[bone], rotation.inv(before[one])))
        result[:, bone] = own[:, one] @ np.square(basis).T
    return result
