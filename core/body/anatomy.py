"""The anatomy of the joints of a body: relaxed pose, standard deviations from it, limits, bending axes, masses.

The tables describe a canonical T-pose (see `axes`; every bone's frame is the canonical frame) with rotation vectors of
the left side. They are transferred to a rig with any rest pose, rolls, tails and units: the direction of a bone, from
its joint to the next one of the limb, is compared with the canonical direction. The shortest rotation between the two,
after that of the parent bone, takes the canonical axes to the bone's rest pose, and its inverse undoes the rest pose.
Trunk, clavicles, feet and hands differ between bodies: their directions at rest count as shape, those of feet and hands
up to _SHAPE.

The numbers are set by hand, between those measured on three families of motion capture.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, ClassVar, Final, Protocol, TypeVar

import numpy as np

from .. import rotation
from ..defaults import JOINT_DEVIATION
from ..errors import CoreError
from ..limits import Framed
from ..pose import Pose, frame_rotations
from ..rotation import Array
from ..skeleton import Flags, Skeleton
from .axes import MIRROR_ROTATION, canonical_frame, mirror_direction, mirror_rotation
from .detection import find_roles
from .joint_limits import SPINE_JOINTS, hinge_limits, range_limits
from .legs import leg_joints
from .masses import masses_of
from .roles import LIMBS, SEGMENTS, SIDES, Roles

DIRECTIONS: Final = {"arm": (1.0, 0.0, 0.0), "leg": (0.0, -1.0, 0.0)}  # of the left limbs in the T-pose
_FOOT: Final = (0.0, -0.5, 0.87)  # from the ankle to the toe joint of a flat foot
_SHAPE: Final = float(np.radians(30.0))  # largest angle of a hand or foot at rest that is shape; the rest is pose

# Rotation vectors in degrees: the relaxed pose (other parts are as in the T-pose) and standard deviations from it. An
# ankle bends up more readily than a hip: stiffer ones keep legs straight over planted feet, until they snap into a
# crouch.
_RELAXED: Final = {
    "upper_arm": (0.0, 0.0, -60.0),
    "forearm": (0.0, -30.0, 0.0),
    "thigh": (-10.0, 0.0, 0.0),
    "shin": (20.0, 0.0, 0.0),
    "foot": (-10.0, 0.0, 0.0),
}
_DEVIATIONS: Final = {
    "spine": (8.0, 8.0, 8.0),  # of each of SPINE_JOINTS
    "neck": (12.0, 15.0, 10.0),
    "head": (12.0, 15.0, 10.0),
    "shoulder": (4.0, 8.0, 10.0),
    "upper_arm": (45.0, 45.0, 50.0),
    "forearm": (30.0, 60.0, 2.0),
    "hand": (25.0, 20.0, 30.0),
    "thigh": (45.0, 25.0, 25.0),
    "shin": (60.0, 2.0, 2.0),
    "foot": (48.0, 12.0, 12.0),
    "toe": (15.0, 1.0, 1.0),
}
# The same of animals, whose legs swing and fold forwards and backwards, and whose scapulas glide a little.
_ANIMAL: Final = {
    "spine": (20.0, 20.0, 16.0),  # of each of SPINE_JOINTS
    "neck": (35.0, 30.0, 20.0),  # of all of it
    "head": (20.0, 20.0, 15.0),
    "girdle": (20.0, 6.0, 6.0),
    "leg": (45.0, 25.0, 30.0),
    "knee": (45.0, 12.0, 12.0),
}
JOINTS: Final = tuple(_DEVIATIONS)  # whose angles make a pose
# Correlations of deviations about axes (0 is x) of two parts, on one side or across: a body that crouches bends hips
# and knees as one. Values are near those of recorded people.
_CORRELATIONS: Final = (
    ("thigh", 0, "shin", 0, False, -0.7),
    ("thigh", 0, "shin", 0, True, -0.4),
    ("thigh", 0, "thigh", 0, True, 0.3),
    ("shin", 0, "shin", 0, True, 0.5),
)
_ROOT: Final = (35.0, 90.0, 30.0)  # of the root; recorded hips lean by about 10 degrees, but turn freely
_LYING_ROOT: Final = 130.0  # of one that is no human's: what lies pitches with its hips, and legs fold before it bends
_LINK: Final = float(np.radians(5.0))  # of bones between two parts, such as halves of a pelvis

_BENDS: Final = {"forearm": (0.0, -1.0, 0.0), "shin": (1.0, 0.0, 0.0)}  # unit axes
BEND: Final = 0.1  # radians: length of the vectors `Anatomy.bends`
_BENT: Final = float(np.radians(2.0))  # least bend at rest that gives the bending axis of a creature's joint
# Bend at rest, radians: the weight of the plane in which a joint is bent grows from 0 at the first to 1 at the second.
_PLANE: Final = (float(np.radians(15.0)), float(np.radians(30.0)))

Correlation = tuple[int, int, int, int, float]  # bone, axis, other bone, its axis, value


class JointMethod(Protocol):
    """A dataclass of settings with a joint target, such as `PinAndDrag`."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def root_bone(self) -> int | None: ...
    @property
    def reference(self) -> Pose | None: ...
    @property
    def deviations(self) -> Array | None: ...
    @property
    def axes(self) -> Array | None: ...
    @property
    def correlations(self) -> tuple[Correlation, ...]: ...
    @property
    def bends(self) -> Array | None: ...


_Method = TypeVar("_Method", bound=JointMethod)


@dataclass(frozen=True, eq=False)
class Anatomy:
    """The anatomy of J bones, for a method and its skeleton; see `with_anatomy`.

    reference   the relaxed pose, the root at rest
    deviations  (J, 3) standard deviations from it about `axes`, radians
    axes        (J, 4) the anatomical axes in the bone's own frame; in the T-pose they are those of the canonical frame
    correlations  of these deviations: (bone, axis, other bone, its axis, value)
    limits      of elbows and knees, which bend in one direction; only of bones without limits of their own
    ranges      of the other joints; only of such bones
    bends       (J, 3) small rotation vectors about the bone's own axes that bend a straight joint; zero for most
    masses      (J,) shares of the body's mass, 1 in total
    canonical   (J, 4) own rotations in the canonical T-pose, the root at rest
    """

    reference: Pose
    deviations: Array
    axes: Array
    correlations: tuple[Correlation, ...]
    limits: tuple[Framed, ...]
    ranges: tuple[Framed, ...]
    bends: Array
    masses: Array
    canonical: Array

    @property
    def correlation_matrix(self) -> Array:
        """Return the correlations (3 J, 3 J) of the deviations, 1 with themselves."""
        result = np.eye(self.deviations.size)
        for bone, axis, other, its, value in self.correlations:
            places = 3 * bone + axis, 3 * other + its
            result[places] = result[places[::-1]] = value
        return result


@dataclass(frozen=True, eq=False)
class Tuning:
    """Usual rotations and deviations of joints, learned from a body's own motion; see `tuning.learn_tuning`.

    learned     (J,) the bones that have them
    turns       (J, 4) usual rotations from the canonical T-pose, about its axes
    deviations  (J, 3) standard deviations from `turns` about these axes, radians
    share       weight of the motion, 0 to 1; that of the general anatomy is 1 - share
    ties        (J, 3, k) of length below 1: the correlation of two turns is the product of their ties, so that those
                of some bones never contradict each other; None: the general anatomy's
    """

    learned: Flags
    turns: Array
    deviations: Array
    share: float = 1.0
    ties: Array | None = None


def anatomy(skeleton: Skeleton, roles: Roles | None = None, tuning: Tuning | None = None) -> Anatomy:
    """Return the anatomy of any skeleton, by its roles (`find_roles` if None).

    Bones without a role, and all bones of a creature, have the solver's deviations from their rest pose; links between
    two parts of a body are stiffer. A creature's joint bends in the direction in which it is bent at rest. The bones of
    a `tuning` have its pose and deviations.
    """
    roles = find_roles(skeleton) if roles is None else roles
    found = _AnatomyBuilder(skeleton, roles).anatomy()
    if tuning is None:
        return found
    turns = rotation.conjugate(tuning.turns, found.axes)
    learned = (tuning.learned & (skeleton.parents >= 0))[:, None]
    rotations = np.where(learned, rotation.mul(found.canonical, turns), found.reference.rotations)
    return replace(
        found,
        reference=replace(found.reference, rotations=rotations),
        deviations=np.where(learned, tuning.deviations, found.deviations),
        correlations=found.correlations if tuning.ties is None else _tied(found, tuning.ties, learned[:, 0]),
    )


def _tied(found: Anatomy, ties: Array, learned: Flags) -> tuple[Correlation, ...]:
    """Return the correlations of `ties` between the learned bones, and those of the anatomy between others."""
    rows = np.where(learned[:, None, None], ties, 0.0).reshape(3 * len(ties), ties.shape[-1])
    places = np.flatnonzero(rows.any(axis=1))
    products = np.triu(rows[places] @ rows[places].T, 1)
    pairs = np.argwhere(products)
    entries = zip(places[pairs].tolist(), products[*pairs.T].tolist(), strict=True)
    others = (entry for entry in found.correlations if not (learned[entry[0]] or learned[entry[2]]))
    return (*((one // 3, one % 3, two // 3, two % 3, value) for (one, two), value in entries), *others)


def pose_from_angles(skeleton: Skeleton, roles: Roles, angles: Mapping[str, Sequence[float]]) -> Pose:
    """Return the relaxed pose (J) with other angles: rotation vectors (3,) about the canonical axes, in degrees.

    Keys are roles ("forearm.R"), or parts for both sides ("forearm"); the bones of the spine, and of the neck, share
    the angle. Raises CoreError for a body that is not human, and for keys that are no joints.
    """
    if not roles.humanoid:
        raise CoreError(
            "Poses by angles, as of a jump or a wave, need a human body. Store a min and a max pose and use Stored "
            "Poses."
        )
    known = {name: None for part in _DEVIATIONS for name in (part, *(f"{part}.{side}" for side in SIDES))}
    unknown = next((name for name in angles if name not in known), None)
    if unknown is not None:
        near = get_close_matches(unknown, known, 1)
        raise CoreError(f'No joint "{unknown}" in a body' + (f'; did you mean "{near[0]}"?' if near else "."))
    return _AnatomyBuilder(skeleton, roles).pose(angles)


def with_anatomy(
    skeleton: Skeleton,
    method: _Method,
    roles: Roles | None = None,
    pose: Pose | None = None,
    *,
    ranges: bool = False,
    loose: Sequence[int] = (),
    tuning: Tuning | None = None,
) -> tuple[Skeleton, _Method]:
    """Return the skeleton with the limits of its anatomy added, and the method with reference, deviations and bends.

    A reference, or deviations with their axes, that the method has are kept. The relaxed pose takes its root bones from
    `pose`, so that a body that has moved is not pulled back to its place at rest. The root bone is `carrier_of` the
    body. With `ranges` all joints but the `loose` ones have limits, else elbows and knees. Limits are widened to
    contain the method's reference, or else `pose`, so that adding limits moves no bone.
    """
    roles = find_roles(skeleton) if roles is None else roles
    found = anatomy(skeleton, roles, tuning)
    changes: dict[str, Any] = {"bends": found.bends}
    if method.root_bone is None:
        changes["root_bone"] = carrier_of(skeleton, roles)
    here = pose if method.reference is None else method.reference
    if method.reference is None:
        changes["reference"] = found.reference if pose is None else with_root_of(found.reference, skeleton, pose, roles)
    if method.deviations is None:
        changes |= {"deviations": found.deviations, "axes": found.axes, "correlations": found.correlations}
    kept = (group.take(np.flatnonzero(~np.isin(group.bones, loose))) for group in found.ranges if ranges)
    return add_limits(skeleton, (*found.limits, *kept), here), replace(method, **changes)


def add_limits(skeleton: Skeleton, limits: Iterable[Framed], pose: Pose | None = None) -> Skeleton:
    """Return the skeleton with more limits, wide enough for a pose (...), so that adding them moves no bone."""
    if pose is not None:
        limits = (group.widened(rotation.to_matrix(pose.rotations[..., group.bones, :])) for group in limits)
    return replace(skeleton, limits=(*skeleton.limits, *limits))


def with_ranges(skeleton: Skeleton, roles: Roles, pose: Pose) -> Skeleton:
    """Return the skeleton with the ranges of the joints of its anatomy added, wide enough for the pose (...)."""
    return add_limits(skeleton, anatomy(skeleton, roles).ranges, pose)


def carrier_of(skeleton: Skeleton, roles: Roles) -> int | None:
    """Return the last movable bone that carries the whole body, such as the hips; None if there is none.

    Game rigs parent the hips to a bone at the feet, which moves the whole character and is no part of the body.
    """
    parts = [bone for chain in (*roles.bones.values(), *roles.limbs.values()) for bone in np.atleast_1d(chain).tolist()]
    above = [skeleton.ancestors(bone) for bone in parts]
    for bone in above[0] if above else ():
        moves = skeleton.translatable[bone].all() and not (skeleton.connected[bone] or skeleton.driven[bone])
        if moves and all(bone in chain for chain in above):
            return bone
    return None


def root_bones(skeleton: Skeleton, roles: Roles) -> Flags:
    """Return which bones (J,) have no parent, or are the carrier of the body or an ancestor of it."""
    roots = skeleton.parents < 0
    carrier = carrier_of(skeleton, roles)
    if carrier is not None:
        roots[skeleton.ancestors(carrier)] = True
    return roots


def with_root_of(relaxed: Pose, skeleton: Skeleton, pose: Pose, roles: Roles) -> Pose:
    """Return a pose (J) with the `root_bones`, scales and driven bones of `pose` (...)."""
    roots = root_bones(skeleton, roles)[:, None]
    rotations = np.where(roots, pose.rotations, relaxed.rotations)
    translations = np.where(roots, pose.translations, relaxed.translations)
    return Pose(rotations, translations, pose.scales, pose.driven_matrices)


class _AnatomyBuilder:
    """Transfers the tables to the bones of a skeleton; quaternions (J, 4), heading and rest in armature space."""

    def __init__(self, skeleton: Skeleton, roles: Roles) -> None:
        self.skeleton, self.roles = skeleton, roles
        rest = skeleton.rest_matrices
        self.heads: Array = rest[:, :, 3]
        self.rest = frame_rotations(rest[:, :, :3])
        self.heading = canonical_frame(roles.up, roles.facing)
        self.parts = self._parts()
        own = self._rotations_to_rest() if roles.humanoid else {}
        # canonical pose to rest pose: other bones follow their parents
        to_rest = np.tile(rotation.IDENTITY, (len(skeleton), 1))
        inherited = to_rest.copy()
        for bone, parent in enumerate(skeleton.parents.tolist()):
            if parent >= 0 and skeleton.inherit_rotation[bone]:
                inherited[bone] = to_rest[parent]
            to_rest[bone] = own.get(bone, inherited[bone])
        back = rotation.inv(self.rest)
        self.axes = rotation.mul(back, rotation.mul(to_rest, self.heading))
        # own rotations in the canonical pose
        self.canonical = np.tile(rotation.IDENTITY, (len(skeleton), 1))
        limbs = list(own)
        undone = rotation.mul(inherited[limbs], rotation.inv(to_rest[limbs]))
        self.canonical[limbs] = rotation.mul(back[limbs], rotation.mul(undone, self.rest[limbs]))

    def anatomy(self) -> Anatomy:
        """Return the anatomy."""
        limited = self._limited(), self.axes, self.canonical
        limits = hinge_limits(*limited), range_limits(*limited)
        masses = masses_of(self.skeleton, self.roles)
        deviations = self._deviations(), self._axes_of_hinges(), self._correlations()
        return Anatomy(self.pose({}), *deviations, *limits, self._bends(), masses, self.canonical)

    def pose(self, angles: Mapping[str, Sequence[float]]) -> Pose:
        """Return the relaxed pose with other angles, degrees, by role or part."""
        degrees = np.zeros((len(self.skeleton), 3))
        counts = Counter(part for part, side in self.parts.values() if not side)
        for bone, (part, side) in self.parts.items():
            given = angles.get(f"{part}.{side}", angles.get(part, _RELAXED.get(part, (0.0, 0.0, 0.0))))
            degrees[bone] = mirror_rotation(given, side) / max(counts[part], 1)
        turns = rotation.exp(rotation.rotate(self.axes, np.radians(degrees)))
        return replace(Pose.rest(self.skeleton), rotations=rotation.mul(self.canonical, turns))

    def _parts(self) -> dict[int, tuple[str, str]]:
        """Return bone -> (part, side) of a human, without lower bones that are no descendants of the upper ones."""
        found: dict[int, tuple[str, str]] = {}
        if not self.roles.humanoid:
            return found
        for role in self.roles.bones:
            part, _, side = role.partition(".")
            if part in _DEVIATIONS:
                found |= dict.fromkeys(self.roles.chain(role), (part, side))
        for pair in SEGMENTS:
            upper, lower = map(self.roles.bone, pair)
            if upper >= 0 and lower >= 0 and upper not in self.skeleton.ancestors(lower):
                found.pop(lower, None)
        return found

    # -- the rest pose ----------------------------------------------------------------------------------------------

    def _rotations_to_rest(self) -> dict[int, Array]:
        """Return bone -> rotation (4,) from its canonical to its rest pose, of limbs."""
        found: dict[int, Array] = {}
        for side in SIDES:
            for kind, (first, second, last) in LIMBS.items():
                upper, lower, end = (self.roles.bone(f"{part}.{side}") for part in (first, second, last))
                if upper not in self.parts or lower not in self.parts:
                    continue
                straight = rotation.rotate(self.heading, mirror_direction(DIRECTIONS[kind], side))
                segments = self.heads[lower] - self.heads[upper], self._next_joint(lower, end, side) - self.heads[lower]
                found[upper] = rotation.shortest(straight, segments[0])
                hinge = rotation.rotate(rotation.mul(found[upper], self.heading), mirror_rotation(_BENDS[second], side))
                found[upper] = rotation.mul(_plane(hinge, *segments), found[upper])
                found[lower] = rotation.mul(
                    rotation.shortest(rotation.rotate(found[upper], straight), segments[1]), found[upper]
                )
                if end not in self.parts:
                    continue
                after = self.roles.bone(f"toe.{side}") if kind == "leg" else -1
                direction = self._next_joint(end, after, side) - self.heads[end]
                if kind == "leg":  # compared with a flat foot, whatever the direction of the shin
                    flat = rotation.rotate(self.heading, _FOOT)
                    found[end] = rotation.shortest(flat, direction, _SHAPE) if direction.any() else rotation.IDENTITY
                else:
                    along = rotation.rotate(found[lower], straight)
                    found[end] = rotation.mul(rotation.shortest(along, direction, _SHAPE), found[lower])
        return found

    def _next_joint(self, bone: int, after: int, side: str) -> Array:
        """Return the joint (3,) at the end of a bone: the head of `after`, the middle knuckle, or its own head."""
        if after >= 0:
            return self.heads[after]
        below = [first for first in self.roles.knuckles(side) if bone in self.skeleton.ancestors(first)]
        return self.heads[below].mean(axis=0) if below else self.heads[bone]

    # -- numbers ----------------------------------------------------------------------------------------------------

    def _deviations(self) -> Array:
        """Return the standard deviations (J, 3), radians."""
        result = np.full((len(self.skeleton), 3), JOINT_DEVIATION)
        rigid = self._rigid()
        bending = {bone: part for bone, (part, _) in self.parts.items() if bone not in rigid}
        counts = Counter(bending.values())
        for bone, part in bending.items():
            variance = np.square(np.radians(_DEVIATIONS[part]))
            if part == "spine":
                variance *= SPINE_JOINTS / counts[part]
            elif part == "neck":
                variance /= counts[part]
            elif part == "head" and not counts["neck"]:
                variance += np.square(np.radians(_DEVIATIONS["neck"]))
            result[bone] = np.sqrt(variance)
        for bone, part in self._animal_parts().items():
            share = {"spine": SPINE_JOINTS, "neck": 1.0}.get(part, 0.0) / len(self.roles.chain(part) or (0,))
            result[bone] = np.radians(_ANIMAL[part]) * np.sqrt(share or 1.0)
        result[rigid] = _LINK
        for role, bones in self.roles.twist.items():
            first = self.roles.bones[role]
            kind = "arm" if role.partition(".")[0] in LIMBS["arm"] else "leg"
            result[list(bones)] = result[first] * np.abs(DIRECTIONS[kind])
        roots = root_bones(self.skeleton, self.roles)
        result[roots] = np.radians(_ROOT if self.roles.humanoid else _LYING_ROOT)
        return result

    def _animal_parts(self) -> dict[int, str]:
        """Return bone -> key of the table of animals, of what is between the feet, the hips and the head."""
        if not self.roles.animal:
            return {}
        found = {bone: part for part in ("spine", "neck", "head") for bone in self.roles.chain(part)}
        firsts = leg_joints(self.skeleton, self.roles)
        for first, leg in zip(firsts, self.roles.legs.values(), strict=True):
            start = leg.index(first)
            parts = (*["girdle"] * start, "leg", *["knee"] * (len(leg) - start - 1))
            found |= dict(zip(leg, parts, strict=True))
        return found

    def _correlations(self) -> tuple[Correlation, ...]:
        """Return the correlations of both sides."""
        found: list[Correlation] = []
        for part, axis, other, its, across, value in _CORRELATIONS:
            for side, opposite in zip(SIDES, SIDES[::-1], strict=True):
                bones = self.roles.bone(f"{part}.{side}"), self.roles.bone(f"{other}.{opposite if across else side}")
                if all(bone in self.parts for bone in bones):
                    mirror = MIRROR_ROTATION[axis] * MIRROR_ROTATION[its] if side == "R" else 1.0
                    found.append((bones[0], axis, bones[1], its, float(mirror * value)))
        return tuple(found)

    def _rigid(self) -> list[int]:
        """Return bones without role between two with roles, and bones of the spine that carry legs (3ds Max Biped)."""
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
        """Return the parts without limits of their own that inherit their parent's rotation."""
        limited = {bone for group in self.skeleton.limits for bone in group.bones.tolist()}
        hanging = (self.skeleton.parents >= 0) & self.skeleton.inherit_rotation
        return {bone: self.parts[bone] for bone in sorted(self.parts) if hanging[bone] and bone not in limited}

    def _axes_of_hinges(self) -> Array:
        """Return the axes; one of a joint with two locks is its hinge: beside that it would be as stiff as sideways."""
        axes, locks = self.axes.copy(), self.skeleton.rotation_locks
        for bone in np.flatnonzero(locks.sum(axis=1) == 2):
            hinge = rotation.rotate(rotation.inv(axes[bone]), (~locks[bone]).astype(float))
            nearest = np.eye(3)[np.abs(hinge).argmax()]
            axes[bone] = rotation.mul(axes[bone], rotation.shortest(np.copysign(nearest, hinge), hinge))
        return axes

    def _bends(self) -> Array:
        """Return the bending vectors (J, 3), radians."""
        result = np.zeros((len(self.skeleton), 3))
        for chain in self.roles.limbs.values():
            for above, bone, below in zip(chain, chain[1:], chain[2:], strict=False):
                segments = self.heads[bone] - self.heads[above], self.heads[below] - self.heads[bone]
                hinge = rotation.log(rotation.shortest(*segments))
                angle = float(np.linalg.norm(hinge))
                if angle > _BENT:
                    result[bone] = rotation.rotate(rotation.inv(self.rest[bone]), BEND / angle * hinge)
        for bone, (part, side) in self.parts.items():
            if part in _BENDS:
                result[bone] = rotation.rotate(self.axes[bone], BEND * mirror_rotation(_BENDS[part], side))
        return result


def _plane(hinge: Array, upper: Array, lower: Array) -> Array:
    """Return the rotation (4,) about `upper` (3,) of the hinge to the axis about which the joint is bent at rest.

    Its share grows with the bend, see _PLANE. A joint that is bent in the wrong direction keeps its hinge.
    """
    bent = np.cross(upper, lower)
    angle = float(np.arctan2(np.linalg.norm(bent), upper @ lower))
    share = float(np.clip((angle - _PLANE[0]) / (_PLANE[1] - _PLANE[0]), 0.0, 1.0))
    if not share or bent @ hinge <= 0.0:
        return rotation.IDENTITY
    # both are at right angles to `upper`, so this rotation is about it
    return rotation.exp(share * rotation.log(rotation.shortest(hinge, bent)))
