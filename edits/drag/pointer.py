"""Shift and turn of a drag from the mouse, as arrays of the world without Blender."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...bridge import View
from ...core import rotation
from ...core.rotation import Array

PRECISE: Final = 0.1  # share of the mouse's motion with Shift
DEPTH_STEP: Final = 0.02  # of the distance to the viewer, for a notch of the wheel
TURN_STEP: Final = np.radians(5.0)  # of turns that snap
FINE_TURN_STEP: Final = np.radians(1.0)
_GRAZING: Final = np.sin(np.radians(5.0))  # sine below which a plane or line is seen edge on, as in Blender
_LEAST: Final = 1e-3  # pixels: less is what rounding makes of no shift
_CLOSE: Final = 4.0  # pixels around a joint within which the mouse has no angle


@dataclass(eq=False)
class Pointer:
    """The motion of the mouse since the press, in one view, as a shift and a turn of the world.

    origin (3,): what was grabbed; pivot (3,): the joint that it turns about; frame (4,): the local axes, a rotation;
    grid: length of a step that snaps. `mouse` is where the mouse would be without small steps.
    """

    view: View
    origin: Array
    pivot: Array
    frame: Array
    mouse: Array
    grid: float
    axis: int | None = None
    local: bool = False
    plane: bool = False
    precise: bool = False
    snap: bool = False
    turning: bool = False

    def __post_init__(self) -> None:
        self.mouse = np.asarray(self.mouse, float)
        self._last = self._begin = self.mouse.copy()
        self._deep, self._angle = np.zeros(3), 0.0
        self._settled, self._turned = np.zeros(3), rotation.IDENTITY.copy()  # before the last switch

    def move(self, mouse: tuple[float, float]) -> None:
        """Note a new position of the mouse."""
        now = np.asarray(mouse, float)
        before = self.mouse
        self.mouse = before + (PRECISE if self.precise else 1.0) * (now - self._last)
        self._last = now
        if self.turning:
            self._angle += self._angle_between(before, self.mouse)

    def constrain(self, axis: int, plane: bool = False) -> None:
        """Constrain to a world axis, or the plane across it; a second call to the bone's own axis, a third to none."""
        if self.axis != axis or self.plane != plane:
            self.axis, self.local, self.plane = axis, False, plane
        elif not self.local:
            self.local = True
        else:
            self.axis, self.local, self.plane = None, False, False

    def deeper(self, notches: float) -> None:
        """Move away from the viewer, or with negative notches towards it."""
        away = self.view.away(self.origin + self._deep)
        step = DEPTH_STEP * (PRECISE if self.precise else 1.0) * self.view.size[1]
        self._deep = self._deep + notches * step * float(self.view.pixel(self.origin)) * away

    def switch(self, turning: bool) -> None:
        """Change from moving to turning or back; shift and turn so far stay."""
        self._settled, self._turned = self.shift(), self.turn()
        self.turning = turning
        self._begin, self._angle, self._deep = self.mouse.copy(), 0.0, np.zeros(3)
        self.axis, self.local, self.plane = None, False, False

    @property
    def direction(self) -> Array | None:
        """The unit vector (3,) of the constraint, or None."""
        if self.axis is None:
            return None
        way = np.eye(3)[self.axis]
        return rotation.rotate(self.frame, way) if self.local else way

    def shift(self) -> Array:
        """Return the shift (3,) from the start."""
        if self.turning:
            return self._settled
        way = self._way() + self._deep
        if self.snap:
            way = self._snapped(way)
        shift = self._settled + way
        return np.where(np.abs(shift) < _LEAST * self.view.pixel(self.origin), 0.0, shift)

    def turn(self) -> Array:
        """Return the turn (4,) about the pivot."""
        if not self.turning:
            return self._turned
        axis = self.view.turn[2] if self.direction is None else self.direction
        angle = self._angle if float(axis @ self.view.turn[2]) >= 0.0 else -self._angle  # seen from behind
        if self.snap:
            step = FINE_TURN_STEP if self.precise else TURN_STEP
            angle = step * np.round(angle / step)
        return rotation.mul(rotation.from_axis_angle(axis, np.array(angle)), self._turned)

    def _way(self) -> Array:
        direction, view, through = self.direction, self.view, self.origin + self._settled
        if direction is None:
            return self._between(lambda pixel: view.on_plane(pixel, through))
        away = view.away(through)
        towards = float(direction @ away)
        if self.plane and abs(towards) > _GRAZING:
            return self._between(lambda pixel: view.on_plane(pixel, through, direction))
        if self.plane:  # seen edge on: move along the line that is seen
            direction = np.cross(direction, away)
        elif 1.0 - towards * towards < _GRAZING * _GRAZING:  # seen end on: the mouse upwards moves away
            up = self._between(lambda pixel: view.on_plane(pixel, through)) @ view.turn[1]
            return np.copysign(up, up * towards) * direction
        return self._between(lambda pixel: view.on_line(pixel, through, direction))

    def _between(self, place: Callable[[Array], Array | None]) -> Array:
        """Return the difference of the places that the mouse had at the press and has now."""
        begin, end = place(self._begin), place(self.mouse)
        return np.zeros(3) if begin is None or end is None else end - begin

    def _snapped(self, way: Array) -> Array:
        """Return a shift in whole steps, along the free axes."""
        step = self.grid * (PRECISE if self.precise else 1.0)
        direction = self.direction
        if direction is None or not self.local:
            return step * np.round(way / step)
        own = rotation.rotate(rotation.inv(self.frame), way)
        return rotation.rotate(self.frame, step * np.round(own / step))

    def _angle_between(self, before: Array, after: Array) -> float:
        """Return the angle by which the mouse went round the pivot, counter-clockwise."""
        middle = self.view.pixels(self.pivot)
        a, b = before - middle, after - middle
        if min(float(a @ a), float(b @ b)) < _CLOSE * _CLOSE or not np.isfinite(middle).all():
            return 0.0
        return float(np.arctan2(a[0] * b[1] - a[1] * b[0], a @ b))
