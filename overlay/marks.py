"""Marks of pins and drags in world space; `strokes_of` converts them to lines of one view."""

from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np

from ..core import rotation
from ..core.rotation import Array
from ..core.skeleton import Flags
from .strokes import Colour, Strokes, cross, dashes, path, polygon, segments, together

_RADIUS: Final = 8.0  # pixels of a pin at a scale of 1
_RING: Final = 24  # corners of a circle
_DASH: Final = 4.0
_AXIS: Final = 1.6  # length of a pin's axes, in radii of the pin
_FAR: Final = 3.0  # pixels between a pin and its bone from which a line is drawn
_MUTED: Final = 0.35


class Camera(Protocol):
    """The projection of world points to pixels: see bridge.View."""

    def pixels(self, points: Any) -> Array: ...
    def pixel(self, points: Any) -> Array: ...


@dataclass(frozen=True)
class Colours:
    """Colours of the marks as red, green, blue, opacity; `axes` for X, Y and Z.

    before, after: of what the animation has before and after the present frame
    """

    pin: Colour
    dragged: Colour
    unmet: Colour
    limit: Colour
    hover: Colour
    before: Colour
    after: Colour
    axes: tuple[Colour, Colour, Colour]


@dataclass(frozen=True, eq=False)
class PinMark:
    """A pin: its place, its rotation or None, whether it holds the position, the bone's place, whether it is muted.

    animated: it is where the animation has the bone
    """

    place: Array  # (3,)
    turn: Array | None  # (4,)
    holds_position: bool
    bone: Array  # (3,)
    mute: bool = False
    animated: bool = False


@dataclass(frozen=True, eq=False)
class BoneMark:
    """A highlighted bone: head and tail (2, 3) or a custom shape's lines (m, 2, 3), and the reason.

    The reason is "limit", "stretched" or "hover".
    """

    ends: Array
    why: str


@dataclass(frozen=True, eq=False)
class TrailMark:
    """A path with a dot for each of F frames; see `overlay.trails`.

    positions (F, 3); ages (F,): frames after the present one; keyed (F,) and bears (F,): whether there are keys, and
    whether the point stands; shares (F,): how far the frames follow a drag, or None
    """

    positions: Array
    ages: Array
    keyed: Flags
    bears: Flags
    shares: Array | None = None


@dataclass(eq=False)
class Marks:
    """All marks of one redraw."""

    pins: list[PinMark] = field(default_factory=list[PinMark])
    bones: list[BoneMark] = field(default_factory=list[BoneMark])
    targets: list[Array] = field(default_factory=list[Array])  # (2, 3): where it is wanted, and where it is
    paths: list[Array] = field(default_factory=list[Array])  # (n, 3) each, oldest point first
    cones: list[Array] = field(default_factory=list[Array])  # (n, 3) each, the directions that limits allow
    joint: Array | None = None  # (3,) under the mouse
    guides: list[tuple[Array, Array, int]] = field(default_factory=list[tuple[Array, Array, int]])
    text: list[str] = field(default_factory=list[str])
    trails: list[TrailMark] = field(default_factory=list[TrailMark])


def strokes_of(marks: Marks, view: Camera, colours: Colours, scale: float = 1.0) -> tuple[Strokes, Strokes]:
    """Return thin and thick lines of the marks in a view; `scale` is the interface scale."""
    thin: list[Strokes] = []
    thick: list[Strokes] = []
    tints = {"limit": colours.limit, "stretched": colours.unmet, "hover": colours.hover}
    for bone in marks.bones:
        seen = view.pixels(bone.ends)
        thick.append(segments(seen[..., 0, :], seen[..., 1, :], tints[bone.why]))
    thin.extend(path(view.pixels(line), colours.dragged) for line in marks.paths)
    for line in marks.cones:
        seen = view.pixels(line)
        thin.append(segments(seen[:-1], seen[1:], colours.limit))
    thin.extend(_guide(view, origin, axis, colours.axes[number]) for origin, axis, number in marks.guides)
    for pin in marks.pins:
        thin.extend(_pin(pin, view, colours, scale))
    for wanted, reached in marks.targets:
        at, there = view.pixels(np.stack([wanted, reached]))
        thin.append(cross(at, 0.4 * _RADIUS * scale, 1.3 * _RADIUS * scale, colours.dragged))
        if rotation.lengths(at - there) > _FAR * scale:
            thin.append(dashes(there, at, _DASH * scale, colours.unmet))
    if marks.joint is not None:
        thick.append(polygon(view.pixels(marks.joint), 0.8 * _RADIUS * scale, _RING, colours.hover))
    return together(thin), together(thick)


def _pin(pin: PinMark, view: Camera, colours: Colours, scale: float) -> list[Strokes]:
    """Return the lines of a pin: a diamond for the position, a ring with three axes for the rotation.

    A pin to the animation is a triangle, as Blender's play button.
    """
    red, green, blue, opacity = colours.pin
    colour = (red, green, blue, opacity * (_MUTED if pin.mute else 1.0))
    radius = _RADIUS * scale
    place = pin.place if pin.holds_position else pin.bone
    at, bone = view.pixels(np.stack([place, pin.bone]))
    found: list[Strokes] = []
    if pin.holds_position:
        found.append(polygon(at, radius, 3 if pin.animated else 4, colour))
    if pin.turn is not None:
        found.append(polygon(at, 1.25 * radius, _RING, colour))
        ends = place + _AXIS * radius * float(view.pixel(place)) * rotation.rotate(pin.turn, np.eye(3))
        for axis, end in zip(colours.axes, view.pixels(ends), strict=True):
            found.append(segments(at, end, (*axis[:3], colour[3])))
    if pin.holds_position and not pin.mute and rotation.lengths(at - bone) > _FAR * scale:
        found.append(dashes(at, bone, _DASH * scale, colours.unmet))
    return found


def _guide(view: Camera, origin: Array, axis: Array, colour: Colour) -> Strokes:
    """Return a line along a constrained direction, as long as the view can show."""
    length = 1e3 * float(view.pixel(origin))
    steps = np.linspace(-length, length, 65)
    seen = view.pixels(origin + steps[:, None] * axis)
    return segments(seen[:-1], seen[1:], colour)
