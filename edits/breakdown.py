"""Breakdowns: the present pose favours the key pose before it, or the one after it."""

from typing import Any

import numpy as np

from .. import bridge
from ..bridge import autokey
from ..bridge.body import Changes
from ..core import CoreError
from .held import HeldRig
from .in_between import InBetweenEdit, keyed_frames


class Breakdown:
    """Poses for the present frame from the in-betweens of the key poses around it.

    share  how far the present frame is from the one to the other, 0 to 1

    Raises CoreError where the present frame is not between two key poses.
    """

    def __init__(self, context: Any, armature: Any) -> None:
        autokey.check(context, armature)
        frame = context.scene.frame_current_final
        keys = keyed_frames(armature, bridge.keyed_range(armature))
        before, after = keys[keys < np.ceil(frame)], keys[keys > np.floor(frame)]
        if not (len(before) and len(after)):
            raise CoreError(f"Frame {frame:g} is not between two key poses.")
        ends = np.array([np.floor(before[-1]), np.ceil(after[0])])
        self._start, body = bridge.read_channels(armature), bridge.read_body(armature)
        self._body = HeldRig(armature, body.rig, body.controlled, bridge.find_held(context, armature)).body(body)
        self._edit = InBetweenEdit(context, armature, (int(ends[0]), int(ends[1])), keys=ends)
        self._edit.solve()
        self._ends, self._changes = ends, Changes()
        self.share = float((frame - ends[0]) / (ends[1] - ends[0]))

    def show(self, armature: Any, share: float) -> None:
        """Give the armature the pose that the in-betweens have at a share of the way."""
        self.restore(armature)
        pose = self._edit.pose_at(self._ends[0] + share * (self._ends[1] - self._ends[0]))
        self._changes = bridge.write_body(armature, self._body, pose)

    def restore(self, armature: Any) -> None:
        """Give the armature the pose back that it had."""
        bridge.write_channels(armature, self._start)

    def key(self, context: Any, armature: Any) -> set[str] | None:
        """Key what has changed if auto-keying is on; see `autokey.key`."""
        changes = self._changes.rotated, self._changes.moved, self._changes.grown
        return autokey.key(context, armature, *changes, before=self._start)
