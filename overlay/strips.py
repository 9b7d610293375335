"""Timed pins as strips at the bottom of timelines and dope sheets: one lane for each point."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import blf
import bpy
import gpu

from .draw import stroke, theme_colours, ui_scale
from .strokes import Colour, Strokes, segments, together

# Pixels at a scale of 1: the height of a lane at least, of one of a single point at least, and at most.
_LANES: Final = (2.0, 4.0, 9.0)
_ABOVE: Final = 44.0  # pixels at a scale of 1: height of the frame numbers and of the first row of keys
_BELOW: Final = 8.0  # pixels at a scale of 1: height of the scroll bar, which is left free where there is room
_THICK: Final = 0.6  # of a lane
_TEXT: Final = 9.0
_EASE: Final = 0.3  # of the opacity
_MUTED: Final = 0.35


@dataclass(frozen=True)
class Strip:
    """One timed pin: its lane, the lane that it shares where there is little room, its frames with and without ease,
    whether it is chosen or muted.
    """

    lane: str
    shared: str
    before: float
    start: float
    end: float
    after: float
    chosen: bool
    mute: bool


Find = Callable[[Any], Sequence[Strip]]


class StripDrawing:
    """Draw the strips of `find(context)` into every dope sheet and timeline until `close`."""

    def __init__(self, find: Find) -> None:
        self._find = find
        space: Any = bpy.types.SpaceDopeSheetEditor
        self._handle: Any = space.draw_handler_add(self._draw, (), "WINDOW", "POST_PIXEL")

    def close(self) -> None:
        """Remove the drawing from the editors. A second call does nothing."""
        if self._handle is not None:
            space: Any = bpy.types.SpaceDopeSheetEditor
            space.draw_handler_remove(self._handle, "WINDOW")
            self._handle = None

    def _draw(self) -> None:
        context: Any = bpy.context
        strips = self._find(context)
        if not strips:
            return
        region, scale, colours = context.region, ui_scale(context), theme_colours(context)
        to_pixel: Any = region.view2d.view_to_region

        def place(frame: float) -> float:
            return float(to_pixel(frame, 0.0, clip=False)[0])

        room = region.height / scale - _ABOVE
        strips, lane_height = fit(strips, room)
        lanes, height = lanes_of(strips), scale * lane_height
        bottom = scale * min(_BELOW, max(room - lane_height * len(lanes), 0.0))
        gpu.state.blend_set("ALPHA")
        stroke(strip_strokes(strips, place, height, colours.pin, colours.dragged, bottom), _THICK * height, region)
        if lane_height >= _LANES[2]:
            blf.size(0, _TEXT * scale)
            blf.color(0, *colours.pin)
            for number, lane in enumerate(lanes):
                blf.position(0, 0.5 * height, bottom + (number + 0.2) * height, 0.0)
                blf.draw(0, lane)
        gpu.state.blend_set("NONE")


def lanes_of(strips: Sequence[Strip]) -> list[str]:
    """Return the names of the lanes, the lowest first."""
    return sorted({strip.lane for strip in strips}, reverse=True)


def fit(strips: Sequence[Strip], room: float) -> tuple[Sequence[Strip], float]:
    """Return the strips with the lanes that fit into the room below the keys, and the height of a lane."""
    if room < _LANES[1] * len(lanes_of(strips)):
        strips = [replace(strip, lane=strip.shared) for strip in strips]
    return strips, min(max(room / len(lanes_of(strips)), _LANES[0]), _LANES[2])


def strip_strokes(
    strips: Sequence[Strip],
    place: Callable[[float], float],
    height: float,
    colour: Colour,
    chosen: Colour,
    bottom: float = 0.0,
) -> Strokes:
    """Return the lines of strips in lanes, all in pixels; `place` converts a frame to a pixel."""
    lanes = {lane: bottom + (number + 0.5) * height for number, lane in enumerate(lanes_of(strips))}
    found: list[Strokes] = []
    for strip in strips:
        y, (red, green, blue, opacity) = lanes[strip.lane], chosen if strip.chosen else colour
        strong = (red, green, blue, opacity * (_MUTED if strip.mute else 1.0))
        faint = (red, green, blue, _EASE * strong[3])
        ends = [(place(frame), y) for frame in (strip.before, strip.start, strip.end + 1.0, strip.after + 1.0)]
        for (a, b), shade in zip(pairwise(ends), (faint, strong, faint), strict=True):
            found.append(segments([a], [b], shade))
    return together(found)
