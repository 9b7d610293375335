"""Trails: the paths of parts of the active armature over time."""

from collections.abc import Sequence
from typing import Any, Final

from .. import bridge
from ..core import CoreError
from ..core.rotation import Array
from ..edits.trails import Traced, Trail, find_traced, make_trails, nearest_dot, read_positions, trail_frames
from ..overlay.draw import Drawing
from ..overlay.marks import Marks, TrailMark
from .other_frames import OtherFrames

_AT_ONCE: Final = 0.2  # seconds of reading in one call of the timer


class TrailShow(OtherFrames):
    """Keeps the trails of the active armature up to date and draws them until `close`."""

    setting = "poise_use_trails"

    def __init__(self) -> None:
        super().__init__()
        self.trails: list[Trail] = []
        self._traced: Traced | None = None  # what is known is where these points are
        self.dragged: Marks | None = None  # drawn instead while a dot is dragged
        self.drawing = Drawing(self._find, bridge.read_view)

    def frames(self, context: Any, armature: Any) -> list[float]:
        return trail_frames(context, armature)

    def read(self, context: Any, armature: Any, frames: Sequence[float]) -> None:
        if not self.known or self._traced is None:
            try:
                self._traced = find_traced(armature)
            except CoreError:  # the panel Body shows the reason
                self.trails, self.shown = [], []
                return
        soonest = sorted(frames, key=lambda frame: abs(frame - context.scene.frame_current_final))
        if frames:
            self.known |= read_positions(context, armature, self._traced, soonest, _AT_ONCE)
        shown = {frame: self.known[frame] for frame in self.shown if frame in self.known}
        self.trails = make_trails(context, armature, self._traced, shown)

    def nearest(self, context: Any, view: bridge.View, mouse: tuple[float, float]) -> tuple[float, float] | None:
        hit = nearest_dot(self.trails, view, mouse, context.scene.frame_current_final)
        return None if hit is None else (hit[0], float(hit[1].frames[hit[2]]))

    def _find(self, context: Any) -> Marks | None:
        if not self.is_drawn(context):
            return None
        if self.dragged is not None:
            return self.dragged
        now = context.scene.frame_current_final
        return Marks(trails=[mark_of(trail, now) for trail in self.trails])


def mark_of(trail: Trail, now: float, shares: Array | None = None) -> TrailMark:
    """Return the mark of a trail when the present frame is `now`; `shares` (F,): see `TrailMark`."""
    return TrailMark(trail.positions, trail.frames - now, trail.keyed, trail.bears, shares)


def show_trails() -> TrailShow:
    """Show the trails of the active armature until it is closed."""
    return TrailShow()
