"""Bones, the armature object and followed objects as Blender evaluates them at some frames."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge.channels import CHANNELS, read_channels, write_channels
from ..core import rotation
from ..core.formats.goals import Space
from ..core.pose import frame_rotations
from ..core.rotation import Array

NO_OBJECTS: Final[Mapping[Any, Any]] = {}
_EVEN: Final = 1e-4  # largest stretches of an object that differ by less, as a share, are one scale

GoalSpace = Space | int  # what numbers are in: the world, the armature, or the frame of a bone in the armature's units


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Where everything is at F frames.

    frames (F,); worlds (F, 4, 4) from armature to world space; matrices (F, J, 3, 4) of the bones in armature space;
    objects: matrices (F, 4, 4) in world space of the objects that goals follow.
    """

    frames: Array
    worlds: Array
    matrices: Array
    objects: dict[Any, Array] = field(default_factory=dict)

    def bone_point(self, bone: int, point: Array) -> Array:
        """A point of a bone, (F, 3) in armature space."""
        own = self.matrices[:, bone]
        return own[..., :3] @ point + own[..., 3]

    def bone_rotation(self, bone: int) -> Array:
        """A bone's frame, (F, 4) in armature space."""
        return frame_rotations(self.matrices[:, bone, :, :3])

    def positions_in(self, frame: GoalSpace, places: Array) -> Array:
        """Positions (F, 3) from armature space into a frame."""
        if isinstance(frame, int):
            return rotation.rotate(rotation.inv(self.bone_rotation(frame)), places - self.matrices[:, frame, :, 3])
        return _some(bridge.armature_to_world(self.worlds, places)[0]) if frame == "world" else places

    def rotations_in(self, frame: GoalSpace, turns: Array) -> Array:
        """Rotations (F, 4) from armature space into a frame."""
        if isinstance(frame, int):
            return rotation.mul(rotation.inv(self.bone_rotation(frame)), turns)
        return _some(bridge.armature_to_world(self.worlds, None, turns)[1]) if frame == "world" else turns

    def positions_from(self, frame: GoalSpace, places: Array) -> Array:
        """The inverse of `positions_in`."""
        if isinstance(frame, int):
            return rotation.rotate(self.bone_rotation(frame), places) + self.matrices[:, frame, :, 3]
        return _some(bridge.world_to_armature(self.worlds, places)[0]) if frame == "world" else places

    def rotations_from(self, frame: GoalSpace, turns: Array) -> Array:
        """The inverse of `rotations_in`."""
        if isinstance(frame, int):
            return rotation.mul(self.bone_rotation(frame), turns)
        return _some(bridge.world_to_armature(self.worlds, None, turns)[1]) if frame == "world" else turns

    def axes_of(self, frame: GoalSpace) -> Array:
        """The axes of a frame, (F, 4) in armature space; those of a mirrored object may point backwards."""
        if isinstance(frame, int):
            return self.bone_rotation(frame)
        if frame == "armature":
            return np.broadcast_to(rotation.IDENTITY, (len(self.frames), 4))
        linear = self.worlds[:, :3, :3]
        mirrored = np.sign(np.linalg.det(linear))[:, None, None]
        return rotation.inv(rotation.from_matrix(rotation.nearest_rotation(mirrored * linear)))

    def vectors_in(self, space: Space, ways: Array) -> Array:
        """Differences of positions (F, 3) from armature space into a goal's space."""
        return (self.worlds[:, :3, :3] @ ways[..., None])[..., 0] if space == "world" else ways

    def scale_of(self, space: Space) -> Array:
        """(F,) how long an armature unit is in a goal's space, where the object is scaled evenly."""
        return bridge.length_scale(self.worlds) if space == "world" else np.ones(len(self.frames))

    def scaled_evenly(self) -> bool:
        """Whether the armature object's scale is the same in all directions."""
        stretches = np.linalg.svd(self.worlds[:, :3, :3], compute_uv=False)
        return bool(np.all(stretches[:, 0] - stretches[:, 2] <= _EVEN * stretches[:, 0]))


def evaluate(context: Any, armature: Any, frames: Array | None, follow: Mapping[Any, Any] = NO_OBJECTS) -> Evaluation:
    """Bones, armature object and objects to follow as Blender evaluates them; `frames` None: as they stand now."""
    take: list[tuple[Array, ...]] = []

    def note() -> None:
        worlds = [bridge.world_matrix(other) for other in (armature, *follow.values())]
        take.append((bridge.read_matrices(armature), *worlds))

    if frames is None:
        context.view_layer.update()
        note()
        numbers = np.array([context.scene.frame_current_final])
    else:
        visit_frames(context, frames, note)
        numbers = frames
    matrices, worlds, *objects = (np.stack(column) for column in zip(*take, strict=True))
    return Evaluation(numbers, worlds, matrices, dict(zip(follow, objects, strict=True)))


def visit_frames(context: Any, frames: Array, note: Callable[[], None]) -> None:
    """Go to each frame and call `note` there; afterwards the scene is at its present frame again."""
    for _ in iterate_frames(context, frames):
        note()


def iterate_frames(context: Any, frames: Array) -> Generator[int, None, None]:
    """Goes to each frame in turn; at the end, or when it is closed, the scene is at its present frame again."""
    scene = context.scene
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        for place, number in enumerate(frames.tolist()):
            whole = int(np.floor(number))
            scene.frame_set(whole, subframe=number - whole)
            yield place
    finally:
        scene.frame_set(frame, subframe=subframe)


@contextmanager
def preserve_channels(context: Any, armature: Any, but: Sequence[int] = ()) -> Iterator[None]:
    """Channels of the armature, keyed or not, survive frame changes inside; those of the bones `but` do not."""
    before = read_channels(armature, CHANNELS)
    try:
        yield
    finally:
        if len(but):
            now = read_channels(armature, CHANNELS)
            for name, values in before.items():
                values[list(but)] = now[name][list(but)]
        write_channels(armature, before)
        context.view_layer.update()


def _some(array: Array | None) -> Array:
    assert array is not None  # what was given comes back
    return array
