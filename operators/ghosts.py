"""Ghosts: the active armature's poses at other frames."""

from collections.abc import Sequence
from typing import Any, Final

from .. import bridge
from ..edits.ghosts import Ghost, ghost_frames, nearest_ghost, read_ghosts
from ..overlay.draw import theme_colours
from ..overlay.ghosts import GhostDrawing, GhostMark
from ..overlay.strokes import Colour
from .other_frames import OtherFrames

_FAINTEST: Final = 0.3  # opacity of the ghost furthest away, as a share of that of the nearest one


class GhostShow(OtherFrames):
    """Keeps the ghosts of the active armature up to date and draws them until `close`."""

    setting = "poise_use_ghosts"

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[float, GhostMark]
        self.drawing = GhostDrawing(self._find)

    def frames(self, context: Any, armature: Any) -> list[float]:
        return ghost_frames(context, armature)

    def read(self, context: Any, armature: Any, frames: Sequence[float]) -> None:
        for ghost in read_ghosts(context, armature, frames) if frames else ():
            self.known[ghost.frame] = GhostMark(ghost.points, ghost.corners, ghost.normals)

    def nearest(self, context: Any, view: bridge.View, mouse: tuple[float, float]) -> tuple[float, float] | None:
        ghosts = [
            Ghost(frame, mark.points, mark.corners, mark.normals)
            for frame, mark in self.known.items() if frame in self.shown
        ]  # fmt: skip
        hit = nearest_ghost(ghosts, view, mouse)
        return None if hit is None else (hit[0], hit[1].frame)

    def _find(self, context: Any) -> list[tuple[GhostMark, Colour]]:
        """Return the ghosts to draw, the furthest in time first."""
        if not self.is_drawn(context):
            return []
        armature = context.active_object
        colours, now = theme_colours(context), context.scene.frame_current_final
        found: list[tuple[float, GhostMark, Colour]] = []
        for frames, count, (*rgb, _) in (
            ([frame for frame in reversed(self.shown) if frame < now], armature.poise_ghosts_before, colours.before),
            ([frame for frame in self.shown if frame > now], armature.poise_ghosts_after, colours.after),
        ):
            for place, frame in enumerate(frames):
                share = 1.0 - (1.0 - _FAINTEST) * place / max(count, 1)
                if frame in self.known:
                    colour = (*rgb, share * armature.poise_ghost_opacity)
                    found.append((abs(frame - now), self.known[frame], colour))
        return [(mark, colour) for _, mark, colour in sorted(found, key=lambda one: -one[0])]


def show_ghosts() -> GhostShow:
    """Show the ghosts of the active armature until it is closed."""
    return GhostShow()
