"""Drafts of motions: the pose at the present frame and the trails as an edit would have them, until it is written."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import bridge
from ..core import CoreError, Pose
from ..core.editing.contacts import BodyPoint
from ..core.rotation import Array
from ..edits.body_motion import BodyMotion
from ..edits.trails import Trail
from .other_frames import OtherFrames
from .trails import TrailShow


class PosePreview:
    """Shows an armature in other poses, without keys, until `restore`."""

    def __init__(self) -> None:
        self._channels: dict[str, Array] | None = None  # those of the armature before

    def show(self, armature: Any, edit: BodyMotion, pose: Pose) -> None:
        """Give the body of an edit a pose."""
        self._channels = self._channels or bridge.read_channels(armature)
        edit.show_pose(armature, pose)

    def restore(self, find: Callable[[], Any]) -> None:
        """Give the armature that `find` returns its pose back."""
        if self._channels is not None:
            channels, self._channels = self._channels, None
            bridge.write_channels(find(), channels)


class TrailDrafts:
    """Trails of an armature with the places that an edit has for them."""

    def __init__(self, armature: Any, edit: BodyMotion, trails: list[Trail]) -> None:
        self._edit, self._before = edit, trails
        self._points = [self._point_of(armature, trail) for trail in trails]

    def trails(self) -> list[Trail]:
        """Return the trails as the edit has them now."""
        edit, frames = self._edit, self._edit.before.frames
        known = [point for point in self._points if point is not None]
        places = iter(np.moveaxis(edit.places(known), 1, 0))
        found: list[Trail] = []
        for trail, point in zip(self._before, self._points, strict=True):
            if point is None:
                found.append(trail)
                continue
            positions, own = trail.positions.copy(), next(places)
            on = np.flatnonzero((trail.frames >= frames[0]) & (trail.frames <= frames[-1]))
            positions[on] = own[np.searchsorted(frames, trail.frames[on])]
            found.append(replace(trail, positions=positions))
        return found

    def _point_of(self, armature: Any, trail: Trail) -> BodyPoint | None:
        """Return the point of the body whose trail it is, or None."""
        try:
            bone, point = self._edit.part_of(armature, trail.bone, trail.point)
        except CoreError:
            return None
        return BodyPoint(trail.bone, bone, point)


def shown_trails(armature: Any) -> TrailShow | None:
    """Return what shows the trails of an armature, or None."""
    return next((one for one in OtherFrames.opened if isinstance(one, TrailShow) and one.is_shown(armature)), None)


def redraw(context: Any) -> None:
    """Redraw all viewports: Blender itself redraws only the one with the mouse."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
