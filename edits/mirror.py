"""Where the other side of a body is to be: one side is dragged with X-Axis Mirror, or pins are mirrored."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from .. import bridge
from ..core import Skeleton, rotation
from ..core.body import Roles
from ..core.body.anatomy import carrier_of
from ..core.pose import frame_rotations
from ..core.rotation import Array


@dataclass(frozen=True, eq=False)
class Middle:
    """How what carries a body is rotated (4,) and shifted (3,) from rest, where both sides are alike."""

    turn: Array
    shift: Array

    @classmethod
    def of(cls, skeleton: Skeleton, roles: Roles, heads: Array, turns: Array) -> Self:
        """Return that of a body whose bones have these heads (J, 3) and rotations (J, 4)."""
        carrier = carrier_of(skeleton, roles)
        if carrier is None:
            return cls(rotation.IDENTITY, np.zeros(3))
        rest = skeleton.rest_matrices[carrier]
        turn = rotation.mul(turns[carrier], rotation.inv(frame_rotations(rest[:, :3])))
        return cls(turn, heads[carrier] - rotation.rotate(turn, rest[:, 3]))

    def placed(self, place: Array, turn: Array) -> tuple[Array, Array]:
        """Return the place (3,) and the rotation (4,) of the other side where one side has these."""
        own = rotation.inv(self.turn)
        place, turn = bridge.mirrored(rotation.rotate(own, place - self.shift), rotation.mul(own, turn))
        return self.shift + rotation.rotate(self.turn, place), rotation.mul(self.turn, turn)

    def moved(self, way: Array, spin: Array) -> tuple[Array, Array]:
        """Return how the other side moves (3,) and turns (4,) where one side does so."""
        own = rotation.inv(self.turn)
        way, spin = bridge.mirrored(rotation.rotate(own, way), rotation.mul(rotation.mul(own, spin), self.turn))
        return rotation.rotate(self.turn, way), rotation.mul(rotation.mul(self.turn, spin), own)
