"""Poses for the present frame that a share of the way decides: breakdowns, and poses that are blended in."""

from typing import Any

import numpy as np

from .. import bridge
from ..bridge import autokey
from ..bridge.body import Changes
from ..core import CoreError, Pose
from .held import HeldRig
from .in_between import InBetweenEdit, keyed_frames


class PoseSlider:
    """Poses for the present frame by a share of the way, 0 to 1.

    share  where it begins
    """

    share = 0.0

    def __init__(self, context: Any, armature: Any) -> None:
        autokey.check(context, armature)
        context.view_layer.update()
        self._start, body = bridge.read_channels(armature), bridge.read_body(armature)
        held = HeldRig(armature, body.rig, body.controlled, bridge.find_held(context, armature))
        self.body, self.changes = held.body(body), Changes()

    def pose_at(self, share: float) -> Pose:
        """Return the pose of the body at a share of the way; each kind of slider overrides this."""
        raise NotImplementedError

    def show(self, armature: Any, share: float) -> None:
        """Give the armature the pose at a share of the way, whatever was shown before."""
        self.restore(armature)
        self.changes = bridge.write_body(armature, self.body, self.pose_at(share))

    def restore(self, armature: Any) -> None:
        """Give the armature the pose back that it had."""
        bridge.write_channels(armature, self._start)

    def key(self, context: Any, armature: Any) -> set[str] | None:
        """Key what has changed if auto-keying is on; see `autokey.key`."""
        changes = self.changes.rotated, self.changes.moved, self.changes.grown
        return autokey.key(context, armature, *changes, before=self._start)


class Breakdown(PoseSlider):
    """Poses from the in-betweens of the key poses around the present frame, from the one to the other.

    Raises CoreError where the present frame is not between two key poses.
    """

    def __init__(self, context: Any, armature: Any) -> None:
        frame = context.scene.frame_current_final
        keys = keyed_frames(armature, bridge.keyed_range(armature))
        before, after = keys[keys < np.ceil(frame)], keys[keys > np.floor(frame)]
        if not (len(before) and len(after)):
            raise CoreError(f"Frame {frame:g} is not between two key poses.")
        super().__init__(context, armature)
        ends = np.array([np.floor(before[-1]), np.ceil(after[0])])
        self._edit = InBetweenEdit(context, armature, (int(ends[0]), int(ends[1])), keys=ends)
        self._edit.solve()
        self._ends = ends
        self.share = float((frame - ends[0]) / (ends[1] - ends[0]))

    def pose_at(self, share: float) -> Pose:
        return self._edit.pose_at(self._ends[0] + share * (self._ends[1] - self._ends[0]))
