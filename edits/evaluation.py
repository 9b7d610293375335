"""Bones, the armature object and followed objects as Blender evaluates them at some frames."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge.motion import iterate_frames
from ..bridge.turns import update
from ..core import rotation
from ..core.formats.goals import Space
from ..core.pose import frame_rotations
from ..core.rotation import Array, Floats
from ..core.skeleton import Indices

NO_OBJECTS: Final[Mapping[Any, Any]] = {}
_EVEN: Final = 1e-4  # largest difference of an object's stretches, as a share of the largest one, in an even scale

GoalSpace = Space | int  # the world, the armature, or, by its index, the frame of a bone in the armature's units


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Matrices of bones and objects at F frames.

    frames (F,); worlds (F, 4, 4) from armature to world space; matrices (F, J, 3, 4) of the bones in armature space,
    float32 where Blender evaluated them; objects: matrices (F, 4, 4) in world space of the objects that goals follow.
    """

    frames: Array
    worlds: Array
    matrices: Floats
    objects: dict[Any, Array] = field(default_factory=dict)

    def at(self, place: int) -> "Evaluation":
        """Return one frame, counted from 0, without the objects."""
        return self.part(slice(place, place + 1))

    def part(self, places: slice | Indices) -> "Evaluation":
        """Return some frames, counted from 0, without the objects."""
        return Evaluation(self.frames[places], self.worlds[places], self.matrices[places])

    def bone_point(self, bone: int, point: Array) -> Array:
        """Return a point of a bone, (F, 3) in armature space."""
        own = self.matrices[:, bone].astype(float)
        return own[..., :3] @ point + own[..., 3]

    def bone_rotation(self, bone: int) -> Array:
        """Return a bone's rotation, (F, 4) in armature space."""
        return frame_rotations(self.matrices[:, bone, :, :3].astype(float))

    def positions_in(self, space: GoalSpace, positions: Array) -> Array:
        """Return positions (F, 3) of armature space in another space."""
        if isinstance(space, int):
            turns = rotation.inv(self.bone_rotation(space))
            return rotation.rotate(turns, positions - self.matrices[:, space, :, 3])
        return bridge.armature_to_world(self.worlds, positions)[0] if space == "world" else positions

    def rotations_in(self, space: GoalSpace, turns: Array) -> Array:
        """Return rotations (F, 4) of armature space in another space."""
        if isinstance(space, int):
            return rotation.mul(rotation.inv(self.bone_rotation(space)), turns)
        return bridge.armature_to_world(self.worlds, None, turns)[1] if space == "world" else turns

    def positions_from(self, space: GoalSpace, positions: Array) -> Array:
        """Return positions (F, 3) of another space in armature space."""
        if isinstance(space, int):
            return rotation.rotate(self.bone_rotation(space), positions) + self.matrices[:, space, :, 3]
        return bridge.world_to_armature(self.worlds, positions)[0] if space == "world" else positions

    def rotations_from(self, space: GoalSpace, turns: Array) -> Array:
        """Return rotations (F, 4) of another space in armature space."""
        if isinstance(space, int):
            return rotation.mul(self.bone_rotation(space), turns)
        return bridge.world_to_armature(self.worlds, None, turns)[1] if space == "world" else turns

    def axes_of(self, space: GoalSpace) -> Array:
        """Return the axes of a space, (F, 4) in armature space; those of a mirrored object may point backwards."""
        if isinstance(space, int):
            return self.bone_rotation(space)
        if space == "armature":
            return np.broadcast_to(rotation.IDENTITY, (len(self.frames), 4))
        linear = self.worlds[:, :3, :3]
        mirrored = np.sign(np.linalg.det(linear))[:, None, None]
        return rotation.inv(rotation.from_matrix(rotation.nearest_rotation(mirrored * linear)))

    def vectors_in(self, space: Space, vectors: Array) -> Array:
        """Return vectors (F, 3) of armature space in a goal's space."""
        return (self.worlds[:, :3, :3] @ vectors[..., None])[..., 0] if space == "world" else vectors

    def scale_of(self, space: Space) -> Array:
        """Return the length (F,) of an armature unit in a goal's space, for an evenly scaled object."""
        return bridge.length_scale(self.worlds) if space == "world" else np.ones(len(self.frames))

    def scaled_evenly(self) -> bool:
        """Return whether the armature object's scale is the same in all directions."""
        stretches = np.linalg.svd(self.worlds[:, :3, :3], compute_uv=False)
        return bool(np.all(stretches[:, 0] - stretches[:, 2] <= _EVEN * stretches[:, 0]))


def evaluate(context: Any, armature: Any, frames: Array | None, follow: Mapping[Any, Any] = NO_OBJECTS) -> Evaluation:
    """Evaluate bones, armature object and objects to follow at `frames` (F,), or, where these are None, now."""
    if frames is None:
        update(context)
    numbers = np.array([context.scene.frame_current_final]) if frames is None else frames
    matrices = np.empty((len(numbers), len(armature.pose.bones), 3, 4), np.float32)
    worlds = np.empty((1 + len(follow), len(numbers), 4, 4))
    for place in iterate_frames(context, frames):
        matrices[place] = bridge.read_matrices(armature)
        worlds[:, place] = [bridge.world_matrix(other) for other in (armature, *follow.values())]
    return Evaluation(numbers, worlds[0], matrices, dict(zip(follow, worlds[1:], strict=True)))
