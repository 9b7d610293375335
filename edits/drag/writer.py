"""Poses of a drag written to the armature."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ... import bridge
from ...core import Pose
from .body import DragBody

_SAME: Final = 1e-5  # of the skeleton's size: a change of a length that does not count


class DragWriter:
    """Writes poses to the bones, or to the controls of a driven body, and restores the pose at the press."""

    def __init__(self, body: DragBody) -> None:
        self._body = body
        self._held: list[str] = []  # controls at a limit

    def prepare(self, bones: Iterable[int], stretched: Iterable[int] = ()) -> None:
        """Say which bones the next poses change."""
        if self._body.controlled is None:
            self._writer = bridge.PoseWriter(self._body.rig, bones, stretched)

    def write(self, armature: Any, pose: Pose, passing: bool = True) -> None:
        """Write a pose; controls are posed in full only if it is not `passing`."""
        body = self._body
        if body.controlled is None:
            self._writer.write(armature, pose)
            return
        led = bridge.pose_controls(armature, body.rig, body.controlled, pose, passing, looks=False)
        self._held = [body.rig.skeleton.names[bone] for bone in led.held]

    def shown(self, armature: Any, pose: Pose) -> Pose | None:
        """Return the pose with the lengths that IK shows of the limbs that it stretches; None if it has them."""
        controlled = self._body.controlled
        if controlled is None or not controlled.stretched.any():
            return None
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
            self.write(armature, pose, passing=False)
            pose = bridge.read_pose(armature, body.rig)
        turned, moved, grown = bridge.changed_bones(body.start_of_rig, pose)
        if body.controlled is not None:  # which stretches nothing by itself
            grown = grown[:0]
        changes = turned, moved, grown
        bridge.write_channels(armature, body.channels)
        bridge.write_pose(armature, body.rig, pose, {*turned.tolist(), *moved.tolist()}, grown)
        return tuple(tuple(names[bone] for bone in bones) for bones in changes)

    def at_limit(self) -> list[str]:
        """Return sentences about the controls that are at a limit."""
        return bridge.explain_limited_controls(self._held)
