"""The figure of a human body: its root, trunk and limbs as bones in order, which the humanoid method turns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..errors import CoreError
from ..rotation import Array
from ..skeleton import Skeleton
from .anatomy import DIRECTIONS, Anatomy, anatomy, carrier_of
from .axes import mirror_direction
from .detection import find_roles
from .roles import LIMBS, SIDES, Roles


@dataclass(frozen=True, eq=False)
class LimbBones:
    """An arm or a leg: bones by their index in the skeleton.

    name      "arm.L", "arm.R", "leg.L" or "leg.R"
    clavicle  -1 where there is none
    end       the hand or foot
    twists    twist bones of the upper and of the lower segment, from the root outwards
    carrier   the parent of `upper`
    field     (3, 3) the frame of the reference field of swivels (see `humanoid.limb`), in the frame of `carrier`
    hinge     (3,) the axis that the middle joint bends about, in the frame of `elbow`
    """

    name: str
    clavicle: int
    upper: int
    lower: int
    end: int
    twists: tuple[tuple[int, ...], tuple[int, ...]]
    carrier: int
    field: Array
    hinge: Array

    @property
    def elbow(self) -> int:
        """The last bone of the upper segment: its last twist bone, else `upper`."""
        return self.twists[0][-1] if self.twists[0] else self.upper


class Figure:
    """The parts of a humanoid skeleton. Nodes are the bones that a solve may turn, parents first.

    root, hips, chest, head  bones; the chest is the last one of the spine, else the hips; -1 for a missing head
    spine, neck              bones from the hips upwards; the head is the last one of the neck
    limbs                    name -> arm or leg
    nodes                    (N,) bones; rows: bone -> its row among the nodes
    anchors                  (J,) rows of the nodes that carry the bones: their own, else that of the nearest ancestor;
                             -1 where no node carries the bone

    Raises CoreError if the skeleton has no humanoid body, or no hips.
    """

    def __init__(self, skeleton: Skeleton, roles: Roles | None = None) -> None:
        self.skeleton = skeleton
        self.roles = find_roles(skeleton) if roles is None else roles
        if not self.roles.humanoid:
            raise CoreError("No human body was detected in the armature. The method Pins works on any armature.")
        self.hips = self.roles.require("hips")[0]
        carrier = carrier_of(skeleton, self.roles)
        self.root = self.hips if carrier is None else carrier
        self.spine = self._hanging(self.roles.chain("spine"))
        self.chest = self.spine[-1] if self.spine else self.hips
        self.neck = self._hanging((*self.roles.chain("neck"), *self.roles.chain("head")))
        self.head = self.neck[-1] if self.neck else -1
        self.limbs = {limb.name: limb for side in SIDES for kind in LIMBS if (limb := self._limb(kind, side))}
        bones = {self.root, self.hips, *self.spine, *self.neck}
        for limb in self.limbs.values():
            bones |= {limb.clavicle, limb.upper, limb.lower, limb.end, *limb.twists[0], *limb.twists[1]}
        self.nodes = np.array(sorted(bones - {-1}))
        self.rows = {bone: row for row, bone in enumerate(self.nodes.tolist())}
        chains = (skeleton.ancestors(bone) for bone in range(len(skeleton)))
        self.anchors = np.array([next((self.rows[b] for b in chain if b in self.rows), -1) for chain in chains])

    @cached_property
    def anatomy(self) -> Anatomy:
        """The anatomy of the skeleton."""
        return anatomy(self.skeleton, self.roles)

    @cached_property
    def trunk(self) -> dict[str, tuple[int, ...]]:
        """Part of the trunk ("hips", "spine", "neck", "shoulder") -> its bones."""
        clavicles = tuple(limb.clavicle for limb in self.limbs.values() if limb.clavicle >= 0)
        return {"hips": (self.hips,), "spine": self.spine, "neck": self.neck, "shoulder": clavicles}

    @cached_property
    def ends(self) -> dict[int, tuple[str, tuple[int, ...]]]:
        """Node that pulls the body along -> its role, and the bones that only serve this node."""
        limbs = {
            limb.end: (limb.name.replace("arm", "hand").replace("leg", "foot"), (limb.upper,))
            for limb in self.limbs.values()
        }
        columns = {self.chest: ("chest", self.spine), self.head: ("head", self.neck)}
        return {**limbs, **{bone: end for bone, end in columns.items() if bone not in (-1, self.hips)}}

    @cached_property
    def below(self) -> dict[int, NDArray[np.int64]]:
        """Node -> rows of the nodes at and below it."""
        above = {node: set(self.skeleton.ancestors(node)) for node in self.rows}
        return {
            bone: np.array([row for node, row in self.rows.items() if bone in above[node]], int) for bone in self.rows
        }

    @cached_property
    def shifts(self) -> bool:
        """Whether the root may be translated."""
        return bool(self.skeleton.translatable[self.root].all()) and not self.skeleton.connected[self.root]

    # -- roles to bones ---------------------------------------------------------------------------------------------

    def _hanging(self, chain: tuple[int, ...]) -> tuple[int, ...]:
        """Return the bones of a chain that descend from the hips and from each other."""
        kept: list[int] = []
        for bone in chain:
            if (kept[-1] if kept else self.hips) in self.skeleton.ancestors(bone) and bone != self.hips:
                kept.append(bone)
        return tuple(kept)

    def _limb(self, kind: str, side: str) -> LimbBones | None:
        bones = [self.roles.bone(f"{part}.{side}") for part in LIMBS[kind]]
        ancestors, roles = self.skeleton.ancestors, self.roles
        if min(bones) < 0 or bones[0] not in ancestors(bones[1]) or bones[1] not in ancestors(bones[2]):
            return None
        carrier = int(self.skeleton.parents[bones[0]])
        if self.hips not in ancestors(bones[0]) or carrier < 0:
            return None
        before = self.roles.bone(f"shoulder.{side}") if kind == "arm" else -1
        twists = tuple(
            tuple(b for b in roles.twist.get(f"{part}.{side}", ()) if b in ancestors(after))
            for part, after in zip(LIMBS[kind], bones[1:], strict=False)
        )
        axes = self.anatomy.axes
        # where the limb is straight, the canonical frames of both segments are equal
        bend = rotation.rotate(rotation.inv(axes[bones[1]]), self.anatomy.bends[bones[1]])
        bend = bend / np.linalg.norm(bend)
        out = mirror_direction(DIRECTIONS[kind], side)  # the limb can take this direction, but not the opposite one
        field = np.stack([out, bend, np.cross(out, bend)], axis=-1)
        return LimbBones(
            f"{kind}.{side}",
            before if before in ancestors(bones[0]) else -1,
            bones[0],
            bones[1],
            bones[2],
            (twists[0], twists[1]),
            carrier,
            rotation.to_matrix(axes[carrier]) @ field,
            rotation.rotate(axes[twists[0][-1] if twists[0] else bones[0]], bend),
        )
