"""What the joints of a body do: how it stands relaxed, how far it strays from that, what it cannot do.

All of it is said about a canonical T-pose (up Y, facing +Z, left +X; every bone's frame is the world's; rotations are
rotation vectors; the right side is the left one mirrored: x, -y, -z) and brought to a rig's bones, whatever its rest
pose, rolls, tails and units are. A bone's direction, from its joint to the next one of the limb, is compared with the
canonical direction; the shortest rotation from that to this, on top of the one of the bone that it hangs on, takes the
canonical axes to the bone's rest pose and undoes that rest pose. Trunk, clavicles, feet and hands differ between
bodies: what they do at rest is shape, up to SHAPE for feet and hands.

Numbers: hand-set, between those measured on three families of motion capture.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, Final

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..limits import Framed
from ..pose import Pose, frame_rotations
from ..rotation import Array
from ..skeleton import Flags, Skeleton
from ..solvers import PinAndDrag
from ..solvers.pins import numbers
from .axes import canonical_frame, mirror_direction, mirror_rotation
from .detection import find_roles
from .joint_limits import hinge_limits, range_limits
from .masses import masses_of
from .roles import LIMBS, SIDES, Roles

DIRECTIONS: Final = {"arm": (1.0, 0.0, 0.0), "leg": (0.0, -1.0, 0.0)}  # of the left ones
_FOOT: Final = (0.0, -0.5, 0.87)  # from the ankle to the toe joint, a flat foot
_SHAPE: Final = float(np.radians(30.0))  # a hand or foot at rest is so far off for its shape; the rest is its pose

# Degrees. The relaxed pose; the parts that are not named are at rest in the T-pose.
_RELAXED: Final = {
    "upper_arm": (0.0, 0.0, -60.0),
    "forearm": (0.0, -30.0, 0.0),
    "thigh": (-10.0, 0.0, 0.0),
    "shin": (20.0, 0.0, 0.0),
    "foot": (-10.0, 0.0, 0.0),
}
_DEVIATIONS: Final = {
    "spine": (8.0, 8.0, 8.0),  # each of three
    "neck": (12.0, 15.0, 10.0),
    "head": (12.0, 15.0, 10.0),
    "shoulder": (4.0, 8.0, 10.0),
    "upper_arm": (45.0, 45.0, 50.0),
    "forearm": (30.0, 60.0, 2.0),
    "hand": (25.0, 20.0, 30.0),
    "thigh": (45.0, 25.0, 25.0),
    "shin": (60.0, 2.0, 2.0),
    "foot": (25.0, 12.0, 12.0),
    "toe": (15.0, 1.0, 1.0),
}
_ROOT: Final = (35.0, 90.0, 30.0)  # it turns rather than leans: recorded hips lean by some 10 degrees
_SPINE_JOINTS: Final = 3
_LINK: Final = float(np.radians(5.0))  # of bones between two parts, like halves of a pelvis: no joints of a body

_BENDS: Final = {"forearm": (0.0, -1.0, 0.0), "shin": (1.0, 0.0, 0.0)}  # the axes that they bend about
BEND: Final = 0.1  # radians
_BENT: Final = float(np.radians(2.0))  # a joint of a creature that is bent by more at rest bends that way
# A rest pose that is bent by the second or more says in which plane the joint bends, one by the first or less nothing.
_TOLD: Final = (float(np.radians(15.0)), float(np.radians(30.0)))


@dataclass(frozen=True, eq=False)
class Anatomy:
    """What is known of the joints of J bones, as `PinAndDrag` and its skeleton take it; see `with_anatomy`.

    reference   the relaxed pose, the root at rest
    deviations  (J, 3) standard deviations from it about `axes`, radians
    axes        (J, 4) the anatomical axes in the bone's own frame; in the T-pose they are those of the canonical space
    limits      elbows and knees bend one way; only of bones that the skeleton has no limits for
    ranges      how far the other joints go; of such bones, too
    bends       (J, 3) a small rotation vector about the bone's own axes, zero for most: how a straight joint bends
    masses      (J,) shares of the body's mass, 1 in all
    canonical   (J, 4) own rotations in the canonical T-pose, the root at rest
    """

    reference: Pose
    deviations: Array
    axes: Array
    limits: tuple[Framed, ...]
    ranges: tuple[Framed, ...]
    bends: Array
    masses: Array
    canonical: Array


@dataclass(frozen=True, eq=False)
class Tuning:
    """What some of J joints do in a body's own motion; see `tuning.learn_tuning`.

    told        (J,) the bones that it is about
    turns       (J, 4) how far they usually are turned from the canonical T-pose, about its axes
    deviations  (J, 3) standard deviations from that about these axes, radians
    share       what the motion counted for in this, 0 to 1; the rest is what is known of people
    """

    told: Flags
    turns: Array
    deviations: Array
    share: float = 1.0


def anatomy(skeleton: Skeleton, roles: Roles | None = None, tuning: Tuning | None = None) -> Anatomy:
    """The anatomy of any skeleton, by its roles (`find_roles` if not given).

    What has no role, and all of a creature, has the solver's own deviations about its rest pose, unless it is a link
    between two parts of a body. A creature's limb bends the way it is bent at rest. What a `tuning` is about has the
    usual pose and the deviations of that.
    """
    roles = find_roles(skeleton) if roles is None else roles
    found = _JointAxes(skeleton, roles).anatomy()
    if tuning is None:
        return found
    turns = rotation.mul(found.axes, rotation.mul(tuning.turns, rotation.inv(found.axes)))
    told = (tuning.told & (skeleton.parents >= 0))[:, None]
    rotations = np.where(told, rotation.mul(found.canonical, turns), found.reference.rotations)
    return replace(
        found,
        reference=replace(found.reference, rotations=rotations),
        deviations=np.where(told, tuning.deviations, found.deviations),
    )


def posed(skeleton: Skeleton, roles: Roles, angles: Mapping[str, Sequence[float]]) -> Pose:
    """The relaxed pose with other angles: degrees (3,), a rotation vector about the axes of the canonical T-pose.

    By role ("forearm.R"), or by part for both sides ("forearm"); the spine's and the neck's are shared by their bones.
    Raises CoreError for a body that is no human's, and for parts that no joint has.
    """
    if not roles.humanoid:
        raise CoreError("Poses by angles are those of a human body, and this armature has none.")
    known = {name: None for part in _DEVIATIONS for name in (part, *(f"{part}.{side}" for side in SIDES))}
    unknown = next((name for name in angles if name not in known), None)
    if unknown is not None:
        near = get_close_matches(unknown, known, 1)
        raise CoreError(f'No joint "{unknown}" in a body' + (f'; did you mean "{near[0]}"?' if near else "."))
    return _JointAxes(skeleton, roles).pose(angles)


def with_anatomy(
    skeleton: Skeleton,
    method: PinAndDrag,
    roles: Roles | None = None,
    pose: Pose | None = None,
    *,
    ranges: bool = False,
    tuning: Tuning | None = None,
) -> tuple[Skeleton, PinAndDrag]:
    """The skeleton with the limits of its anatomy added, and the method with the rest of it.

    A reference, or deviations (with their axes), that the method names are kept. The relaxed pose stands where `pose`
    has its roots: a body that has walked away is not drawn back to where it was made. The root is the bone that carries
    the body, whatever that hangs on. With `ranges` all joints have limits, else elbows and knees. What the named
    reference, or `pose`, is outside of is made wide enough for it: nobody moves because limits are heeded now.
    """
    roles = find_roles(skeleton) if roles is None else roles
    found = anatomy(skeleton, roles, tuning)
    changes: dict[str, Any] = {"bends": found.bends}
    if method.root_bone is None:
        changes["root_bone"] = carrier_of(skeleton, roles)
    here = pose if method.reference is None else method.reference
    if method.reference is None:
        changes["reference"] = found.reference if pose is None else standing(found.reference, skeleton, pose, roles)
    if method.deviations is None:
        changes |= {"deviations": found.deviations, "axes": found.axes}
    limits = (*found.limits, *found.ranges) if ranges else found.limits
    if here is not None:
        limits = tuple(group.widened(rotation.to_matrix(here.rotations[..., group.bones, :])) for group in limits)
    return replace(skeleton, limits=(*skeleton.limits, *limits)), replace(method, **changes)


def carrier_of(skeleton: Skeleton, roles: Roles) -> int | None:
    """The bone that may be moved and carries the whole body, such as its hips; None if there is none.

    Game rigs hang the hips on a bone at the feet, which stands for the whole character: it is no part of the body.
    """
    parts = [bone for chain in (*roles.bones.values(), *roles.limbs.values()) for bone in np.atleast_1d(chain).tolist()]
    above = [skeleton.ancestors(bone) for bone in parts]
    for bone in above[0] if above else ():
        moves = skeleton.translatable[bone].all() and not (skeleton.connected[bone] or skeleton.driven[bone])
        if moves and all(bone in chain for chain in above):
            return bone
    return None


def root_bones(skeleton: Skeleton, roles: Roles) -> Flags:
    """(J,) the bones without parent, and those down to the one that carries the body."""
    roots = skeleton.parents < 0
    carrier = carrier_of(skeleton, roles)
    if carrier is not None:
        roots[skeleton.ancestors(carrier)] = True
    return roots


def standing(relaxed: Pose, skeleton: Skeleton, pose: Pose, roles: Roles) -> Pose:
    """A pose whose root bones, see `root_bones`, and whose driven bones, are those of `pose` (...)."""
    roots = root_bones(skeleton, roles)
    shape = pose.rotations.shape
    rotations, translations = (
        np.broadcast_to(a, (*shape[:-1], n)).copy() for a, n in ((relaxed.rotations, 4), (relaxed.translations, 3))
    )
    rotations[..., roots, :], translations[..., roots, :] = (
        pose.rotations[..., roots, :],
        pose.translations[..., roots, :],
    )
    return Pose(rotations, translations, pose.scales, pose.driven_matrices)


class _JointAxes:
    """A skeleton and its roles on the way to an anatomy; quaternions (J, 4), heading and rest in armature space."""

    def __init__(self, skeleton: Skeleton, roles: Roles) -> None:
        self.skeleton, self.roles = skeleton, roles
        rest = skeleton.rest_matrices
        self.heads: Array = rest[:, :, 3]
        self.rest = frame_rotations(rest[:, :, :3])
        self.heading = canonical_frame(roles.up, roles.facing)
        self.parts = self._parts()
        own = self._strays() if roles.humanoid else {}
        # canonical pose to rest pose: a bone that has none of its own goes with its parent
        stray = np.tile(rotation.IDENTITY, (len(skeleton), 1))
        carried = stray.copy()
        for bone, parent in enumerate(skeleton.parents.tolist()):
            if parent >= 0 and skeleton.inherit_rotation[bone]:
                carried[bone] = stray[parent]
            stray[bone] = own.get(bone, carried[bone])
        back = rotation.inv(self.rest)
        self.axes = rotation.mul(back, rotation.mul(stray, self.heading))
        # own rotations in the canonical pose
        self.canonical = np.tile(rotation.IDENTITY, (len(skeleton), 1))
        limbs = list(own)
        undone = rotation.mul(carried[limbs], rotation.inv(stray[limbs]))
        self.canonical[limbs] = rotation.mul(back[limbs], rotation.mul(undone, self.rest[limbs]))

    def anatomy(self) -> Anatomy:
        limited = self._limited(), self.axes, self.canonical
        return Anatomy(
            self.pose({}),
            self._deviations(),
            self.axes,
            hinge_limits(*limited),
            range_limits(*limited),
            self._bends(),
            masses_of(self.skeleton, self.roles),
            self.canonical,
        )

    def pose(self, angles: Mapping[str, Sequence[float]]) -> Pose:
        """The relaxed pose, with other degrees by role or part."""
        degrees = np.zeros((len(self.skeleton), 3))
        counts = Counter(part for part, side in self.parts.values() if not side)
        for bone, (part, side) in self.parts.items():
            given = angles.get(f"{part}.{side}", angles.get(part, _RELAXED.get(part, (0.0, 0.0, 0.0))))
            degrees[bone] = mirror_rotation(given, side) / max(counts[part], 1)
        turns = rotation.exp(rotation.rotate(self.axes, np.radians(degrees)))
        return replace(Pose.rest(self.skeleton), rotations=rotation.mul(self.canonical, turns))

    def _parts(self) -> dict[int, tuple[str, str]]:
        """Bone -> part and side, of the bones of the body that hang together in the skeleton as in the body."""
        found: dict[int, tuple[str, str]] = {}
        if not self.roles.humanoid:
            return found
        for role in self.roles.bones:
            part, _, side = role.partition(".")
            if part in _DEVIATIONS:
                found |= dict.fromkeys(self.roles.chain(role), (part, side))
        for side in SIDES:
            for parts in LIMBS.values():
                for above, below in pairwise(parts):
                    upper, lower = self.roles.bone(f"{above}.{side}"), self.roles.bone(f"{below}.{side}")
                    if upper >= 0 and lower >= 0 and upper not in self.skeleton.ancestors(lower):
                        found.pop(lower, None)
        return found

    # -- the rest pose ----------------------------------------------------------------------------------------------

    def _strays(self) -> dict[int, Array]:
        """Bone -> the rotation (4,) from its canonical to its rest pose, of limbs."""
        found: dict[int, Array] = {}
        for side in SIDES:
            for kind, (first, second, last) in LIMBS.items():
                upper, lower, end = (self.roles.bone(f"{part}.{side}") for part in (first, second, last))
                if upper not in self.parts or lower not in self.parts:
                    continue
                straight = rotation.rotate(self.heading, mirror_direction(DIRECTIONS[kind], side))
                ways = self.heads[lower] - self.heads[upper], self._reach(lower, end, side) - self.heads[lower]
                found[upper] = rotation.shortest(straight, ways[0])
                hinge = rotation.rotate(rotation.mul(found[upper], self.heading), mirror_rotation(_BENDS[second], side))
                found[upper] = rotation.mul(_plane(hinge, *ways), found[upper])
                found[lower] = rotation.mul(
                    rotation.shortest(rotation.rotate(found[upper], straight), ways[1]), found[upper]
                )
                if end not in self.parts:
                    continue
                next_joint = self._reach(end, self.roles.bone(f"toe.{side}") if kind == "leg" else -1, side)
                way = next_joint - self.heads[end]
                if kind == "leg":  # it stands, whatever the shin does
                    flat = rotation.rotate(self.heading, _FOOT)
                    found[end] = rotation.shortest(flat, way, _SHAPE) if way.any() else rotation.IDENTITY
                else:
                    on = rotation.rotate(found[lower], straight)
                    found[end] = rotation.mul(rotation.shortest(on, way, _SHAPE), found[lower])
        return found

    def _reach(self, bone: int, after: int, side: str) -> Array:
        """The joint (3,) at the end of a bone: the head of the `after` one, of what fans out there, or its own head."""
        if after >= 0:
            return self.heads[after]
        firsts = [chain[0] for finger in ("index", "middle", "ring", "pinky")
                  if (chain := self.roles.chain(f"{finger}.{side}"))]  # fmt: skip
        below = [first for first in firsts if bone in self.skeleton.ancestors(first)]
        return self.heads[below].mean(axis=0) if below else self.heads[bone]

    # -- numbers ----------------------------------------------------------------------------------------------------

    def _deviations(self) -> Array:
        result = np.full((len(self.skeleton), 3), numbers.JOINT_DEVIATION)
        rigid = self._rigid()
        bending = {bone: part for bone, (part, _) in self.parts.items() if bone not in rigid}
        counts = Counter(bending.values())
        for bone, part in bending.items():
            variance = np.square(np.radians(_DEVIATIONS[part]))
            if part == "spine":
                variance *= _SPINE_JOINTS / counts[part]
            elif part == "neck":
                variance /= counts[part]
            elif part == "head" and not counts["neck"]:
                variance += np.square(np.radians(_DEVIATIONS["neck"]))
            result[bone] = np.sqrt(variance)
        result[rigid] = _LINK
        for role, bones in self.roles.twist.items():
            first = self.roles.bones[role]
            kind = "arm" if role.partition(".")[0] in LIMBS["arm"] else "leg"
            result[list(bones)] = result[first] * np.abs(DIRECTIONS[kind])
        roots = root_bones(self.skeleton, self.roles)
        result[roots] = np.radians(_ROOT) if self.roles.humanoid else numbers.ROOT_TURN_DEVIATION
        return result

    def _rigid(self) -> list[int]:
        """Bones without a role between two that have one, and those of the spine that carry legs (3ds Max's Biped)."""
        body = {*self.parts, self.roles.bones.get("hips", -1)}
        thighs = [bone for bone, (part, _) in self.parts.items() if part == "thigh"]
        legs = {bone for thigh in thighs for bone in self.skeleton.ancestors(thigh)}
        found = [bone for bone, (part, _) in self.parts.items() if part == "spine" and bone in legs]
        for part in self.parts:
            chain = self.skeleton.ancestors(part)[1:]
            above = next((place for place, bone in enumerate(chain) if bone in body), 0)
            found += chain[:above]
        return found

    def _limited(self) -> dict[int, tuple[str, str]]:
        """The parts whose limits are those of a body: bones that have none of their own, and turn with their parent."""
        limited = {bone for group in self.skeleton.limits for bone in group.bones.tolist()}
        hanging = (self.skeleton.parents >= 0) & self.skeleton.inherit_rotation
        return {bone: self.parts[bone] for bone in sorted(self.parts) if hanging[bone] and bone not in limited}

    def _bends(self) -> Array:
        result = np.zeros((len(self.skeleton), 3))
        for chain in self.roles.limbs.values():
            for above, bone, below in zip(chain, chain[1:], chain[2:], strict=False):
                ways = self.heads[bone] - self.heads[above], self.heads[below] - self.heads[bone]
                hinge = rotation.log(rotation.shortest(*ways))
                angle = float(np.linalg.norm(hinge))
                if angle > _BENT:
                    result[bone] = rotation.rotate(rotation.inv(self.rest[bone]), BEND / angle * hinge)
        for bone, (part, side) in self.parts.items():
            if part in _BENDS:
                result[bone] = rotation.rotate(self.axes[bone], BEND * mirror_rotation(_BENDS[part], side))
        return result


def _plane(hinge: Array, upper: Array, lower: Array) -> Array:
    """The rotation (4,) about `upper` (3,) that takes the hinge to where the joint is bent about, if it is enough.

    A joint that is bent the wrong way is so: it has no other plane.
    """
    bent = np.cross(upper, lower)
    angle = float(np.arctan2(np.linalg.norm(bent), upper @ lower))
    share = float(np.clip((angle - _TOLD[0]) / (_TOLD[1] - _TOLD[0]), 0.0, 1.0))
    if not share or bent @ hinge <= 0.0:
        return rotation.IDENTITY
    # both are at right angles to `upper`, so this rotation is about it
    return rotation.exp(share * rotation.log(rotation.shortest(hinge, bent)))
