"""Bodies that controls of a rig pose: which control turns, moves or is aimed at by which part, and their poses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Final

import numpy as np

from ..core import Pose, Skeleton, rotation
from ..core.body import Roles
from ..core.body.limbs import HingedLimb
from ..core.body.mirror import counterparts
from ..core.pose import frame_rotations
from ..core.rotation import Array
from ..core.skeleton import Flags, Indices
from .armature import Rig

SAME_PLACE: Final = 1e-3  # of the skeleton's size, between the heads of a bone and its control
APART: Final = 5e-3  # of the skeleton's size: how far a part may be from its leader, by bendy bones and tweaks
ASTRAY: Final = float(np.radians(3.0))  # a part with a larger error after all rounds does not follow its control
_LOCATED: Final = 1e-6  # of the skeleton's size: a location that is more than rounding
_NEAR_END: Final = 0.01  # of the skeleton's size: between the end of an IK chain and the head of the part behind it


@dataclass(frozen=True)
class Control:
    """The bones (indices, -1 for none) that are keyed to turn a part of the body, move it, or be aimed at by it.

    begins: the bone of an IK chain without a pole that the part shows. Blender's solver starts from its channels: those
    that are not locked say which way the chain bends.
    blends: the FK control that is mixed with IK in the part: both get the pose, so that any mixture of them has it.
    """

    turns: int = -1
    moves: int = -1
    aims: int = -1
    begins: int = -1
    blends: int = -1


FIELDS: Final = tuple(field.name for field in fields(Control))


@dataclass(frozen=True, eq=False)
class ControlledBody:
    """A body that is posed by controls.

    skeleton, roles   of the body's own bones, with their names, as large as the control that moves the body is shown
    bones (N,)        indices of these bones in the rig
    leaders (N,)      the bones of IK chains, or controls of segments, that the parts show; of others their own bones
    frames (N,)       the bones that are read as them: leaders where these are, as deforming bones may spread a twist;
                      between IK and FK those that mix them; of a control that is off the one that is read as its part
    aligned (N, 4)    the parts' rotations at rest in those frames
    beside (N, 3)     where controls that are off are at rest in those frames; of others 0
    controls          one for each of them
    hangs (N,)        whether the control follows the part before
    rigid (N,)        segments of limbs: they may be stretched in the rig, but turning does not stretch them; not those
                      that are keyed themselves, whose location is theirs, nor feet that have no parent in the rig
    ends (N,)         of parts that an IK chain bends: the part at its end; of others: themselves
    riding            further bones of the rig -> the bone of the body that they move with
    goals             targets and poles of the rig's IK chains
    targets           part at the end of an IK chain that bends the body -> the chain's target, or -1: another object
    lax               those of these parts that IK does not bring to its target: its influence is less than 1, or
                      another object is out of reach
    asked             bones of the rig that are dragged or pinned
    poles             poles that may go where their limb needs them -> the first part of the limb
    hinged            the limbs that IK bends about one axis
    untwisted         the parts that follow the turns of their control but for those about their own Y: they copy them
                      without, or IK aims them from a bone that stays
    idle              riding bones that neither pose their part now nor go with it: controls that are off
    planted           the parts at the ends of limbs on IK whose target does not go with what moves the body
    beyond            whether a control further up than usual was asked to move the body, such as the root of the rig
    along (N,)        whether the control that moves a part goes with the one that moves the body
    slides (N,)       whether a location of the control that only turns a part would move that part, and none before it
    local (N,)        whether the part has the rotation of its control's channels in its own place
    kept              part that would be moved, but for a lock of its control's location -> this bone of the rig
    copies            parts whose control turns, before its own turn, as the control of the part above -> about which of
                      its axes (3,)
    unheld            controls with those that stay, where some do, see `whole`
    """

    skeleton: Skeleton
    roles: Roles
    bones: Indices
    leaders: Indices
    frames: Indices
    aligned: Array
    beside: Array
    controls: tuple[Control, ...]
    hangs: Flags
    rigid: Flags
    ends: Indices
    riding: Mapping[int, int]
    goals: frozenset[int]
    poles: Mapping[int, int]
    targets: Mapping[int, int] = field(default_factory=dict[int, int])
    lax: frozenset[int] = frozenset()
    asked: tuple[int, ...] = ()
    hinged: tuple[HingedLimb, ...] = ()
    untwisted: tuple[int, ...] = ()
    idle: frozenset[int] = frozenset()
    planted: tuple[int, ...] = ()
    beyond: bool = False
    along: Flags = field(default_factory=lambda: np.zeros(0, bool))
    slides: Flags = field(default_factory=lambda: np.zeros(0, bool))
    local: Flags = field(default_factory=lambda: np.zeros(0, bool))
    kept: Mapping[int, int] = field(default_factory=dict[int, int])
    copies: Mapping[int, Flags] = field(default_factory=dict[int, Flags])
    unheld: tuple[Control, ...] = ()

    @property
    def whole(self) -> tuple[Control, ...]:
        """The controls with those that stay."""
        return self.unheld or self.controls

    @property
    def own_poles(self) -> dict[int, int]:
        """The poles that have a location of their own -> their parts."""
        found = enumerate(zip(self.bones.tolist(), self.whole, strict=True))
        return {bone: part for part, (bone, one) in found if bone in self.riding and one.moves >= 0}

    @property
    def still_poles(self) -> dict[int, int]:
        """The poles that stay -> their parts: where such a part is wanted, only the body would go."""
        return {bone: part for bone, part in self.own_poles.items() if self.controls[part].moves < 0}

    @property
    def firsts(self) -> Indices:
        """The first part of the limb on IK that ends with each part (N,); of others they themselves."""
        first, parents = np.arange(len(self.ends)), self.skeleton.parents
        begins = np.flatnonzero((self.ends != first) & (self.ends[parents] != self.ends))
        first[self.ends[begins]] = begins
        return first

    @property
    def carried(self) -> Flags:
        """The parts (N,) without a control that something else drives, and that go with the part before them."""
        return ~self.skeleton.movable & ~np.isin(self.bones, [*self.riding])

    @property
    def stretched(self) -> Flags:
        """The parts (N,) behind a segment that IK bends, and may stretch; of a limb all that are further out."""
        bent, parents = self.ends != np.arange(len(self.ends)), self.skeleton.parents
        return with_below(bent, parents)[parents] & (parents >= 0) & (self.rigid | bent[parents])

    def unsteered_but(self, asked: Sequence[int] = ()) -> Indices:
        """Return the parts of limbs on IK that bend as Blender has it: no control moves their end, or turns them about
        the line to that, since poles, or one of the bones that IK starts from, may stay.

        Not of limbs that a control turns and that bend with a part which is `asked` to be somewhere.
        """
        every = np.arange(len(self.ends))
        bent, begins = self.ends != every, self.bones_that("begins") >= 0
        still = bent & ~begins & (self.skeleton.rotation_locks.sum(axis=1) < 2)  # a hinge bends as it must
        firm = np.isin(every, [*self.poles.values()]) | (begins & ~np.isin(self.ends, self.ends[still]))
        firm &= (self.bones_that("moves")[self.ends] >= 0) | np.isin(self.ends, [*self.bent_with(asked)])
        loose = self.ends[bent & (self.firsts[self.ends] == every) & ~firm]
        return np.flatnonzero(np.isin(self.ends, loose))

    def bent_with(self, asked: Sequence[int]) -> set[int]:
        """Return the parts at the ends of the limbs on IK that bend with one of the parts that are `asked`."""
        return {int(self.ends[part]) for part in asked if self.ends[part] != part}

    def limbs_of(self, parts: Iterable[int]) -> list[int]:
        """Return the parts at the ends of the limbs on IK that some parts are of, or hang on."""
        bent = self.ends != np.arange(len(self.ends))
        above = [self.skeleton.ancestors(part) for part in parts]
        found = (next((self.ends[one] for one in up if bent[one] or one in self.ends[bent]), -1) for up in above)
        return [*dict.fromkeys(int(end) for end in found if end >= 0)]

    def serves(self, rig: Rig, bones: Iterable[int]) -> bool:
        """Return whether a bone can only be posed with this body: driven, below a driven bone, or off.

        Or what moves a part without turning it, as an IK goal or what that is parented to.
        """
        moves = {one.moves for one, bone in zip(self.controls, self.bones, strict=True) if one.moves != bone}
        led, own = [bone for bone in bones if bone in self.parts], self.goals | self.idle | moves
        return any(bone in own or rig.driven_above(bone) or not rig.skeleton.movable[bone] for bone in led)

    @cached_property
    def parts(self) -> dict[int, int]:
        """Return bone of the rig -> bone of the body: its own bones, controls that turn them, riding bones."""
        turners = {
            bone: part for part, one in enumerate(self.controls) for bone in (one.blends, one.turns) if bone >= 0
        }
        return {**turners, **{int(bone): part for part, bone in enumerate(self.bones)}, **self.riding}

    def moved_by(self, bone: int) -> int:
        """Return the bone whose head a bone moves, and which it does not turn: what turns a part, or this; or -1."""
        found = zip(self.whole, self.bones.tolist(), strict=True)
        turners = (part if one.turns < 0 else one.turns for one, part in found if one.moves == bone)
        return next((turner for turner in turners if turner != bone), -1)

    def bones_that(self, what: str) -> Indices:
        """Return the bone of the rig, or -1, that turns, moves, aims, begins or blends each part (`what`)."""
        return np.array([getattr(control, what) for control in self.controls], int)

    def slid(self, located: Array) -> "ControlledBody":
        """Return the body with controls that move their parts, too, where they may (`slides`) and have a location.

        Or those of the other side have one, which may be mirrored. located: locations (..., J, 3) of the rig's bones.
        """
        turners = self.bones_that("turns")
        away = np.abs(located).reshape(-1, *located.shape[-2:]).max(axis=(0, 2))[turners]
        moved = (turners >= 0) & (away > _LOCATED * self.skeleton.size)
        if not moved.any():  # the usual case, also under the mouse: whose counterparts these are need not be found
            return self
        partners = counterparts(self.skeleton, self.roles)
        slid = self.slides & (turners >= 0) & (moved | (moved[partners] & (partners >= 0)))
        controls = (replace(one, moves=one.turns) if own else one for one, own in zip(self.controls, slid, strict=True))
        return replace(self, controls=tuple(controls), along=self.along | slid)

    def locked(self, rig: Rig) -> Flags:
        """Return the parts (N,) whose control has locked angles that they have not: they would be turned otherwise."""
        turners = self.bones_that("turns")
        locks = rig.skeleton.rotation_locks[turners].any(axis=1) & ~self.skeleton.rotation_locks.any(axis=1)
        return locks & (turners >= 0)

    @property
    def keyed(self) -> set[int]:
        """The indices of the bones that are keyed for the body."""
        return {bone for what in FIELDS for bone in self.bones_that(what).tolist()} - {-1}


def with_ik_starts(rig: Rig, controlled: ControlledBody) -> Rig:
    """Return the rig with all that is keyed free to turn and move: also what starts IK, hangs on Child Of, or curls."""
    movable, translatable = np.array(rig.skeleton.movable), np.array(rig.skeleton.translatable)
    turners = np.concatenate([controlled.bones_that(what) for what in ("begins", "blends", "turns")])
    movers = controlled.bones_that("moves")
    movable[turners[turners >= 0]] = True
    translatable[movers[(movers >= 0) & ~translatable[movers].any(axis=1)]] = True  # locks of some axes stay
    carried = np.setdiff1d(rig.carried, [*controlled.keyed])
    return replace(rig, skeleton=replace(rig.skeleton, movable=movable, translatable=translatable), carried=carried)


def read_controlled(controlled: ControlledBody, matrices: Array) -> Pose:
    """Return the pose (...) of the body from the rig's evaluated matrices (..., J, 3, 4).

    It has the lengths to which IK stretches limbs, and the places of hands and feet that have no parent in the rig.
    """
    skeleton, parents = controlled.skeleton, controlled.skeleton.parents
    own = matrices[..., controlled.frames, :, :]
    heads, turns = own[..., 3], rotation.mul(frame_rotations(own[..., :3]), controlled.aligned)
    if controlled.idle:
        heads = heads + (own[..., :3] @ controlled.beside[..., None])[..., 0]
    hangs = (parents >= 0)[:, None]
    above = np.where(hangs, turns[..., parents, :], rotation.IDENTITY)
    origin = np.where(hangs, heads[..., parents, :], 0.0)
    base = rotation.mul(above, skeleton.rest_rotations)
    away = rotation.rotate(rotation.inv(above), heads - origin) - skeleton.offsets
    moved = rotation.rotate(rotation.inv(skeleton.rest_rotations), away)
    return Pose.trusted(rotation.normalize(rotation.mul(rotation.inv(base), turns)), moved, None, None)


def with_below(parts: Flags, parents: Indices) -> Flags:
    """Return the parts and all parts below them."""
    found = parts.copy()
    for part, parent in enumerate(parents.tolist()):
        found[part] |= parent >= 0 and found[parent]
    return found


def begins_at_end(rig: Rig, parts: Sequence[int] | Indices, tips: Sequence[int] | Indices) -> Flags:
    """Return which bones (n,) begin where others (n,), or one other, end at rest."""
    skeleton, rest = rig.skeleton, rig.skeleton.rest_matrices
    tails = rest[tips, :, 3] + skeleton.lengths[tips][:, None] * rest[tips, :, 1]
    return rotation.lengths(tails - rest[parts, :, 3]) < _NEAR_END * skeleton.size


class Gaps:
    """What limbs are short of the targets of their IK."""

    def __init__(self, rig: Rig, controlled: ControlledBody) -> None:
        self._tips = controlled.leaders[controlled.skeleton.parents]
        self._lengths = rig.skeleton.lengths[self._tips, None]
        self._targets = np.array([controlled.targets.get(part, -1) for part in range(len(controlled.skeleton))])
        self._led_to = (self._targets >= 0) & begins_at_end(rig, controlled.frames, self._tips)
        above = map(rig.skeleton.ancestors, self._targets.tolist())
        self._above = [bones if led else () for bones, led in zip(above, self._led_to, strict=True)]

    def __call__(self, matrices: Array) -> Array:
        """Return the ways from their ends to the targets (N, 3), zeros without, in evaluated matrices (J, 3, 4)."""
        tips = matrices[self._tips]
        ends = tips[:, :, 3] + self._lengths * tips[:, :, 1]
        return np.where(self._led_to[:, None], matrices[self._targets, :, 3] - ends, 0.0)

    def of(self, bone: int, part: int, matrices: Array) -> Array:
        """Return the way (3,) from the end of a limb, a part, to the target that a bone of the rig is, or takes along.

        Zeros for another bone.
        """
        return self(matrices)[part] if bone in self._above[part] else np.zeros(3)


def astray(matrices: Array, size: float, bones: Indices, leaders: Indices) -> Flags:
    """Return which bones (N,) have not the place and the direction of their leaders, in matrices (J, 3, 4)."""
    here, there = matrices[bones], matrices[leaders]
    apart = np.linalg.norm(here[:, :, 3] - there[:, :, 3], axis=-1) > APART * size
    along = np.sum(directions(here[:, :, 1]) * directions(there[:, :, 1]), axis=-1)
    return apart | (along < np.cos(ASTRAY))


def sizes_of(matrices: Array) -> Array:
    """Return how large bones are shown in matrices (..., 3, 3 or 4), (...): 1 where they have no scale."""
    return np.cbrt(np.abs(np.linalg.det(matrices[..., :3])))


def directions(ways: Array) -> Array:
    """Return unit vectors (n, 3), 0 where there is no way."""
    lengths = np.linalg.norm(ways, axis=-1, keepdims=True)
    return ways / np.where(lengths > 0.0, lengths, 1.0)
