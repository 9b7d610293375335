"""Trackers: frames of a live sender to body motions, one after the other, and to a clip of what was recorded."""

from abc import ABC, abstractmethod
from typing import Any, Final

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..rotation import Array
from .conversion import Conversion, Landmarks, find_conversion
from .estimate import CapturedMotion, LiveEstimator, estimate_clip
from .filters import DELAY
from .hands import hold_unseen
from .layouts import Layout
from .packets import Points
from .stream import Frame

_TRIAL: Final = 5  # frames from which unit and axes are found
_LONGEST: Final = 60 * 60 * 60  # recorded frames: an hour at 60 per second


class Tracker(ABC):
    """Follows a sender, and records its frames if `record`; estimates are late by `delay` frames.

    trouble  why frames are not used, or ""
    notes    what was found from the first frames
    """

    def __init__(self, record: bool, delay: int = 0) -> None:
        self.trouble, self.delay = "", delay
        self.notes: tuple[str, ...] = ()
        self._record = record
        self._times: list[float] = []
        self._frames: list[tuple[Array, ...]] = []

    @abstractmethod
    def add(self, frame: Frame[Any]) -> bool:
        """Add a frame, and return whether there is an estimate."""

    @abstractmethod
    def estimate(self) -> CapturedMotion:
        """Return the motion of one frame. Raises CoreError before the first one."""

    @abstractmethod
    def clip(self) -> tuple[CapturedMotion, Array]:
        """Return the motion recorded, and its times (F,) in seconds."""

    @property
    def recorded(self) -> int:
        """The number of frames recorded."""
        return len(self._frames)

    def _keep(self, time: float, *frame: Array) -> None:
        if self._record and self.recorded < _LONGEST:
            self._times.append(time)
            self._frames.append(frame)

    def _kept(self) -> list[Array]:
        """Return the arrays of all frames recorded, joined along their first axis."""
        return [np.concatenate(arrays) for arrays in zip(*self._frames, strict=True)]


class PointTracker(Tracker):
    """Tracks points of a layout: finds their conversion, filters them, and estimates with a delay."""

    def __init__(
        self,
        layout: Layout,
        unit: str = "auto",
        up: str = "auto",
        exchanged: bool | None = None,
        delay: int = DELAY,
        record: bool = False,
    ) -> None:
        super().__init__(record, delay)
        self._layout, self._settings = layout, (unit, up, exchanged)
        self._estimator = LiveEstimator(delay=delay)
        self._first_frames: list[Points] = []
        self._conversion: Conversion | None = None

    def add(self, frame: Frame[Points]) -> bool:
        conversion = self._conversion or self._find_conversion(frame.content)
        if conversion is None:
            return False
        points, confidence = frame.content
        landmarks = conversion(points[None], confidence[None])
        self._estimator.add(landmarks.positions[0], landmarks.weights[0], frame.time)
        self._keep(frame.time, landmarks.positions, landmarks.weights)
        return True

    def estimate(self) -> CapturedMotion:
        return self._estimator.estimate()

    def clip(self) -> tuple[CapturedMotion, Array]:
        times = np.array(self._times)
        return estimate_clip(Landmarks(*self._kept()), times), times

    def _find_conversion(self, points: Points) -> Conversion | None:
        """Return the conversion once there are enough frames to find it."""
        self._first_frames.append(points)
        if len(self._first_frames) < _TRIAL:
            return None
        array, confidence = (np.stack(column) for column in zip(*self._first_frames, strict=True))
        self._first_frames.clear()
        try:
            self._conversion, self.notes = find_conversion(self._layout, array, confidence, *self._settings)
            self.trouble = ""
        except CoreError as error:
            self.trouble = str(error)
        return self._conversion


class BoneTracker(Tracker):
    """Passes on the body motions of a sender of bones."""

    def __init__(self, record: bool = False) -> None:
        super().__init__(record)
        self._last: CapturedMotion | None = None

    def add(self, frame: Frame[CapturedMotion]) -> bool:
        self._last = frame.content
        last = self._last
        assert last.fingers is not None
        self._keep(frame.time, last.rotations, last.hips, last.landmarks, last.weights, last.fingers)
        return True

    def estimate(self) -> CapturedMotion:
        if self._last is None:
            raise CoreError("No frame was received.")
        return self._last

    def clip(self) -> tuple[CapturedMotion, Array]:
        turns, hips, landmarks, weights, fingers = self._kept()
        fingers = rotation.unroll(hold_unseen(fingers))
        captured = CapturedMotion(rotation.unroll(turns), hips, landmarks, weights, None, fingers=fingers)
        return captured, np.array(self._times)
