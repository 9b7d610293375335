"""A humanoid reduced to the bones that have a part in it: what `humanoid` moves, and how that comes back to a pose."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...body.anatomy import DIRECTIONS, Anatomy, anatomy, carrier_of
from ...body.axes import mirror_direction
from ...body.detection import find_roles
from ...body.roles import LIMBS, SIDES, Roles
from ...errors import CoreError
from ...pose import Pose, forward, shifted
from ...rotation import Array
from ...skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class LimbBones:
    """An arm or a leg: bones by their index in the skeleton; -1 for a clavicle that is not there.

    field (3, 3) the frame of the field of swivels in the frame of the bone that carries the limb
    hinge (3,) the axis that its middle joint bends about, in the frame of `elbow`: the last bone of the upper segment
    """

    name: str
    before: int
    upper: int
    lower: int
    end: int
    twists: tuple[tuple[int, ...], tuple[int, ...]]  # in line, of the upper and of the lower segment
    carrier: int
    field: Array
    hinge: Array

    @property
    def elbow(self) -> int:
        return self.twists[0][-1] if self.twists[0] else self.upper


class Figure:
    """The parts of a humanoid skeleton. Nodes are its bones that a solve may turn, parents first.

    Raises CoreError where there is no humanoid body, or no hips.
    """

    def __init__(self, skeleton: Skeleton, roles: Roles | None = None) -> None:
        self.skeleton = skeleton
        self.roles = find_roles(skeleton) if roles is None else roles
        if not self.roles.humanoid:
            raise CoreError("No humanoid body is found in this skeleton; pins work on any.")
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
            bones |= {limb.before, limb.upper, limb.lower, limb.end, *limb.twists[0], *limb.twists[1]}
        self.nodes = np.array(sorted(bones - {-1}))
        self.place = {bone: place for place, bone in enumerate(self.nodes.tolist())}
        self.anchors = np.array([self.anchor(bone) for bone in range(len(skeleton))])

    @cached_property
    def anatomy(self) -> Anatomy:
        return anatomy(self.skeleton, self.roles)

    @cached_property
    def trunk(self) -> dict[str, tuple[int, ...]]:
        """The bones of the trunk's parts."""
        clavicles = tuple(limb.before for limb in self.limbs.values() if limb.before >= 0)
        return {"hips": (self.hips,), "spine": self.spine, "neck": self.neck, "shoulder": clavicles}

    @cached_property
    def ends(self) -> dict[int, tuple[str, tuple[int, ...]]]:
        """The nodes that pull the body along: what they are called, and the bones that serve them alone."""
        limbs = {
            limb.end: (limb.name.replace("arm", "hand").replace("leg", "foot"), (limb.upper,))
            for limb in self.limbs.values()
        }
        columns = {self.chest: ("chest", self.spine), self.head: ("head", self.neck)}
        return {**limbs, **{bone: end for bone, end in columns.items() if bone not in (-1, self.hips)}}

    def anchor(self, bone: int) -> int:
        """The place of the node that a bone is carried by: itself or what it hangs on; -1 if nothing moves it."""
        return next((self.place[b] for b in self.skeleton.ancestors(bone) if b in self.place), -1)

    def below(self, bone: int) -> NDArray[np.int64]:
        """Places of the nodes at and below a node."""
        return self._below[bone]

    @cached_property
    def _below(self) -> dict[int, NDArray[np.int64]]:
        above = {node: set(self.skeleton.ancestors(node)) for node in self.place}
        return {
            bone: np.array([place for node, place in self.place.items() if bone in above[node]], int)
            for bone in self.place
        }

    @cached_property
    def shifts(self) -> bool:
        """Whether the root may be moved."""
        return bool(self.skeleton.translatable[self.root].all()) and not self.skeleton.connected[self.root]

    # -- roles to bones ---------------------------------------------------------------------------------------------

    def _hanging(self, chain: tuple[int, ...]) -> tuple[int, ...]:
        """The bones of a chain that hang on the hips, and on each other."""
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
        # the canonical frames of both segments are one where the limb is straight
        bend = rotation.rotate(rotation.inv(axes[bones[1]]), self.anatomy.bends[bones[1]])
        bend = bend / np.linalg.norm(bend)
        out = mirror_direction(DIRECTIONS[kind], side)  # a way that it can always take, opposite to where it cannot go
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


class Nodes:
    """Where the nodes of a figure are: `heads` (..., N, 3) and `turns` (..., N, 4) in armature space."""

    def __init__(self, figure: Figure, heads: Array, turns: Array) -> None:
        self.figure, self.heads, self.turns = figure, np.array(heads), np.array(turns)

    def move(self, places: NDArray[np.int64], turn: Array, pivot: Array, to: Array) -> None:
        """Carry nodes rigidly: turned by `turn` (..., 4) about `pivot` (..., 3), which comes to `to` (..., 3)."""
        away = self.heads[..., places, :] - pivot[..., None, :]
        self.heads[..., places, :] = to[..., None, :] + rotation.rotate(turn[..., None, :], away)
        self.turns[..., places, :] = rotation.mul(turn[..., None, :], self.turns[..., places, :])

    def turn_about(self, bone: int, turn: Array) -> None:
        """Turn a node with all below it about its head."""
        self.move(self.figure.below(bone), turn, self.head(bone), self.head(bone))

    def head(self, bone: int) -> Array:
        return self.heads[..., self.figure.place[bone], :].copy()

    def turn(self, bone: int) -> Array:
        return self.turns[..., self.figure.place[bone], :].copy()

    def point(self, bone: int, point: Array) -> Array:
        """(..., 3) where a point of a node's frame is."""
        return self.head(bone) + rotation.rotate(self.turn(bone), point)


class Stance(Nodes):
    """The nodes in B frames, from a pose and back to one."""

    def __init__(self, figure: Figure, pose: Pose) -> None:
        heads, turns = forward(figure.skeleton, pose)
        super().__init__(figure, heads[:, figure.nodes], turns[:, figure.nodes])
        self.pose = pose
        self.start_heads, self.start_turns = heads, turns  # of all bones

    def carried_turn(self, bone: int) -> Array:
        """(B, 4) the frame of any bone, carried by its node."""
        place = self.figure.anchors[bone]
        start = self.start_turns[:, bone]
        if place < 0:
            return start
        change = rotation.mul(self.turns[:, place], rotation.inv(self.start_turns[:, self.figure.nodes[place]]))
        return rotation.mul(change, start)

    def base_turn(self, bone: int) -> Array:
        """(B, 4) the frame that a bone's own rotation starts from: its rest frame, carried by its parent."""
        skeleton = self.figure.skeleton
        parent, rest = int(skeleton.parents[bone]), skeleton.rest_rotations[bone]
        if parent < 0:
            return np.broadcast_to(rest, (len(self.heads), 4))
        if not skeleton.inherit_rotation[bone]:
            above = rotation.from_matrix(skeleton.rest_matrices[parent, :, :3])
            return np.broadcast_to(rotation.mul(above, rest), (len(self.heads), 4))
        return rotation.mul(self.carried_turn(parent), rest)

    def to_pose(self) -> Pose:
        """The pose in which the nodes stand like that."""
        figure, pose = self.figure, self.pose
        rotations = np.array(pose.rotations)
        for place, bone in enumerate(figure.nodes.tolist()):
            rotations[:, bone] = rotation.mul(rotation.inv(self.base_turn(bone)), self.turns[:, place])
        if figure.shifts:
            pose = shifted(
                figure.skeleton, pose, figure.root, self.head(figure.root) - self.start_heads[:, figure.root]
            )
        return replace(pose, rotations=rotation.normalize(rotations))
