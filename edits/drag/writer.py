"""Poses of a drag written to the armature."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

import bpy
import numpy as np

from ... import bridge
from ...core import Pose
from ...core.rotation import Array
from .body import DragBody

_SAME: Final = 1e-5  # of the skeleton's size: a change of a length that does not count


class DragWriter:
    """Writes poses to the bones, or to the controls of a driven body, and restores the pose at the press.

    live: a tick leaves to the next one what controls do not show yet.
    settled: whether nothing is left
    """

    def __init__(self, body: DragBody, live: bool = False) -> None:
        self._body, self._live = body, live
        controlled = body.controlled
        self._poser = None if controlled is None else bridge.ControlPoser(body.rig, controlled, looks=False)
        self._held: list[str] = []  # controls at a limit
        self._heads: Array | None = None  # where the last tick wanted the parts of a driven body
        self.settled = True

    def prepare(self, bones: Iterable[int], stretched: Iterable[int] = ()) -> None:
        """Say which bones the next poses change."""
        if self._body.controlled is None:
            self._writer = bridge.PoseWriter(self._body.rig, bones, stretched)

    def write(self, armature: Any, pose: Pose, frames: Callable[[], tuple[Array, Array]] | None = None) -> None:
        """Write a pose; `frames`, if other poses follow, returns heads (N, 3) and rotations (N, 4) of its bones.

        Controls are posed in full only for the last pose.
        """
        if self._poser is None:
            self._writer.write(armature, pose)
            return
        if frames is not None and self._live and self._follows(self._poser, armature):
            led = self._poser.step(armature, pose, frames())
        else:
            led = self._poser.pose(armature, pose, passing=frames is not None)
        self._heads, self.settled = led.heads, led.shown
        self._held = [self._body.rig.skeleton.names[bone] for bone in led.held]

    def _follows(self, poser: bridge.ControlPoser, armature: Any) -> bool:
        """Return whether the controls have done what the last tick wanted: else this one looks for the reason."""
        if self._heads is None:
            return False
        _evaluate()
        return poser.shows(bridge.read_matrices(armature), self._heads)

    def shown(self, armature: Any, pose: Pose) -> Pose | None:
        """Return the pose with the lengths that IK shows of the limbs that it stretches; None if it has them."""
        controlled = self._body.controlled
        if controlled is None or not controlled.stretched.any():
            return None
        _evaluate()
        seen = bridge.read_controlled(controlled, bridge.read_matrices(armature), stretched=True)
        off = np.linalg.norm(seen.translations - pose.translations, axis=-1) * controlled.stretched
        if off.max() < _SAME * self._body.skeleton.size:
            return None
        return replace(pose, translations=np.where(controlled.stretched[:, None], seen.translations, pose.translations))

    def restore(self, armature: Any) -> None:
        """Give the armature the exact channels at the press."""
        bridge.write_channels(armature, self._body.channels)

    def finish(self, armature: Any, pose: Pose) -> tuple[tuple[str, ...], ...]:
        """Write the last pose, bones that did not change exactly as they were; return the rotated, moved and grown."""
        body, names = self._body, self._body.rig.skeleton.names
        if body.controlled is not None:
            self.write(armature, pose)
            pose = bridge.read_pose(armature, body.rig)
        turned, moved, grown = bridge.changed_bones(body.start_of_rig, pose, body.rig.skeleton.size)
        if body.controlled is not None:  # which stretches nothing by itself
            grown = grown[:0]
        changes = turned, moved, grown
        bridge.write_channels(armature, body.channels)
        bridge.write_pose(armature, body.rig, pose, {*turned.tolist(), *moved.tolist()}, grown)
        return tuple(tuple(names[bone] for bone in bones) for bones in changes)

    def at_limit(self) -> list[str]:
        """Return sentences about the controls that are at a limit."""
        return bridge.explain_limited_controls(self._held)


def _evaluate() -> None:
    """Have Blender evaluate what was written; it does nothing where the view has been drawn since."""
    context: Any = bpy.context
    context.view_layer.update()
