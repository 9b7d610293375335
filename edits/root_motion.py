"""`root-motion`: let a root bone, the object or the body carry the way and the heading of a motion, or nobody."""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Final

import numpy as np

from .. import bridge
from ..core import CoreError, forward_matrices, rotation
from ..core.editing.root_motion import (
    Carrier,
    find_travel,
    placed_at,
    root_above,
    root_frames,
    set_carrier,
    with_object,
)
from ..core.rotation import Array, lengths
from .body_motion import BodyMotion
from .motion_edit import ChangedBones, Progress

SMOOTH: Final = 0.5  # seconds
LONGEST: Final = 60.0  # seconds
AXES: Final = ("x", "y", "turn")
_RIGID: Final = 1e-4  # of its size: by which a matrix of single precision may scale or shear


class RootMotion(BodyMotion):
    """A motion whose travel over the ground the root bone carries, or the object, the body, or nobody: in place.

    The motion of the object, where its own keys move it, is part of the motion.

    smooth  seconds, see `find_travel`
    axes    of AXES: along which axes of the world, and whether in its heading, the body travels
    """

    method = "root-motion"
    steady = True

    def __init__(
        self, context: Any, armature: Any, frames: tuple[int, int], carrier: Carrier, smooth: float = SMOOTH,
        axes: Collection[str] = AXES,
    ) -> None:  # fmt: skip
        check_root_motion(smooth, axes)
        super().__init__(context, armature, frames)
        start, skeleton, motion = self.worlds[0], self.free, self.before
        self._worlds = self.worlds  # of the object, afterwards
        if bridge.what_places(armature) is None and np.ptp(self.worlds, axis=0).any():
            _check_rigid(armature, np.linalg.inv(start) @ self.worlds)
            self._worlds = np.broadcast_to(start, self.worlds.shape)
            motion = with_object(skeleton, motion, self.worlds)
        up, world = bridge.world_up(start), start[:3, :3]
        along = [np.linalg.solve(world, np.eye(3)[number]) for number, name in enumerate("xy") if name in axes]
        straight = [way / np.linalg.norm(way) for way in along]
        self.travel = find_travel(skeleton, motion, self.hips, up, smooth, straight, "turn" in axes)
        if carrier == "object":
            self._worlds = start @ self.travel.matrices
            _check_rigid(armature, self._worlds @ np.linalg.inv(start))
        root, given = root_above(skeleton, self.hips), carrier
        if self.controlled is not None:
            root, given = None, self._place_root(armature, carrier)
        self._after = set_carrier(skeleton, motion, self.travel, root, given)
        self.check_kept(self._after)
        self._prepare_object(armature)  # which may be refused
        self._jumps = carrier == "nobody" and frames[1] < bridge.keyed_range(armature)[1]

    def compute(self, progress: Progress) -> None:
        self.after = self._after

    def write_keys(self, armature: Any, changed: ChangedBones, action: str | None, new: bool) -> Any:
        key_object = self._prepare_object(armature)
        written = super().write_keys(armature, changed, action, new)
        key_object()
        return written

    def _prepare_object(self, armature: Any) -> Callable[[], object]:
        """Return what keys the object, nothing where it stays as it is. Raises CoreError if it cannot be keyed."""
        if np.array_equal(self._worlds, self.worlds):
            return lambda: None
        return bridge.prepare_object_keys(armature, self.before.frames, self._worlds)

    def _place_root(self, armature: Any, carrier: Carrier) -> Carrier:
        """Let the root of the controls travel or stay; return what carries the body itself."""
        assert self.controlled is not None
        root, whole = bridge.find_root_control(armature, self.rig, self.controlled.now), self.rig.skeleton
        if root < 0:
            return carrier
        frames = forward_matrices(whole, self.channels.pose)
        frames[:, root] = root_frames(frames[:, root], self.travel, carrier)
        pose = placed_at(whole, self.channels.pose, frames, np.array([root]))
        if any(root in bones for bones in bridge.changed_bones(self.channels.pose, pose, whole.size)):
            self.channels, self.placed = replace(self.channels, pose=pose), [root]
        return "body" if carrier == "root" else carrier

    def summary(self) -> str:
        """Return how far the body travels from the first frame to the last, in words."""
        travels = "The body travels {:.2f} m and rotates {:.0f} degrees".format(*self._gone())
        return "; ".join([travels, *self.jumps(), *self.advice()])

    def advice(self) -> list[str]:
        way, turn = self._gone()
        if not (self._jumps and (round(way, 2) or round(turn))):
            return []
        return [f"the body jumps by {way:.2f} m after frame {self.before.frames[-1]:g}. Set End to the last frame"]

    def _gone(self) -> tuple[float, float]:
        """Return how far the body travels from the first frame to the last, in metres and in degrees."""
        way = float(lengths(self.worlds[0, :3, :3] @ self.travel.shifts[-1]))
        return way, float(np.degrees(rotation.angle_between(rotation.IDENTITY, self.travel.turns[-1])))


def check_root_motion(smooth: float, axes: Collection[str]) -> None:
    """Raise CoreError for numbers that make no sense, and name the one that is wrong."""
    if not 0.0 <= smooth <= LONGEST:
        raise CoreError(f"The smoothing of root motion must be between 0 and {LONGEST:g} seconds.")
    if not axes:
        raise CoreError("There is nothing to transfer. Choose X, Y or Rotation.")


def _check_rigid(armature: Any, moves: Array) -> None:
    """Raise CoreError unless an object is moved by matrices (F, 4, 4) without a change of its scale."""
    turns = moves[:, :3, :3]
    if np.abs(turns.swapaxes(1, 2) @ turns - np.eye(3)).max() > _RIGID:
        raise CoreError(f'The scale of the object "{armature.name}" is animated or uneven. Apply it first.')
