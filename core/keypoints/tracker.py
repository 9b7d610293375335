"""Trackers: frames of a live sender to body motions, one after the other, and to a clip of what was recorded."""

from typing import Any, Final, Protocol

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..rotation import Array
from .conversion import Conversion, Landmarks, find_conversion
from .estimate import CapturedMotion, LiveEstimator, estimate_clip
from .filters import DELAY
from .layouts import Layout
from .packets import Points
from .stream import Frame

_TRIAL: Final = 5  # frames from which unit and axes are found
_LONGEST: Final = 60 * 60 * 60  # recorded frames: an hour at 60 per second


class Tracker(Protocol):
    """Follows a sender."""

    trouble: str  # why frames are not used, or ""
    notes: tuple[str, ...]  # what was found from the first frames
    delay: int  # frames by which estimates are late

    def add(self, frame: Frame[Any]) -> bool:
        """Add a frame, and return whether there is an estimate."""
        ...

    def estimate(self) -> CapturedMotion:
        """Return the motion of one frame."""
        ...

    @property
    def recorded(self) -> int:
        """The number of frames recorded."""
        ...

    def clip(self) -> tuple[CapturedMotion, Array]:
        """Return the motion recorded, and its times (F,) in seconds."""
        ...


class PointTracker:
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
        self.trouble = ""
        self.notes: tuple[str, ...] = ()
        self.delay = delay
        self._layout, self._settings = layout, (unit, up, exchanged)
        self._estimator = LiveEstimator(delay=delay)
        self._first_frames: list[Points] = []
        self._conversion: Conversion | None = None
        self._record = record
        self._frames: list[tuple[float, Landmarks]] = []

    def add(self, frame: Frame[Points]) -> bool:
        conversion = self._conversion or self._find_conversion(frame.content)
        if conversion is None:
            return False
        points, confidence = frame.content
        landmarks = conversion(points[None], confidence[None])
        self._estimator.add(landmarks.positions[0], landmarks.weights[0], frame.time)
        if self._record and self.recorded < _LONGEST:
            self._frames.append((frame.time, landmarks))
        return True

    def estimate(self) -> CapturedMotion:
        return self._estimator.estimate()

    @property
    def recorded(self) -> int:
        return len(self._frames)

    def clip(self) -> tuple[CapturedMotion, Array]:
        times = np.array([time for time, _ in self._frames])
        positions, weights = (
            np.concatenate([getattr(m, n) for _, m in self._frames]) for n in ("positions", "weights")
        )
        return estimate_clip(Landmarks(positions, weights), times), times

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


class BoneTracker:
    """Passes on the body motions of a sender of bones."""

    trouble = ""
    notes = ()
    delay = 0

    def __init__(self, record: bool = False) -> None:
        self._record = record
        self._last: CapturedMotion | None = None
        self._frames: list[tuple[float, CapturedMotion]] = []

    def add(self, frame: Frame[CapturedMotion]) -> bool:
        self._last = frame.content
        if self._record and self.recorded < _LONGEST:
            self._frames.append((frame.time, frame.content))
        return True

    def estimate(self) -> CapturedMotion:
        if self._last is None:
            raise CoreError("No frame has come.")
        return self._last

    @property
    def recorded(self) -> int:
        return len(self._frames)

    def clip(self) -> tuple[CapturedMotion, Array]:
        turns, hips, landmarks, weights = (
            np.concatenate([getattr(captured, name) for _, captured in self._frames])
            for name in ("rotations", "hips", "landmarks", "weights")
        )
        return CapturedMotion(rotation.unroll(turns), hips, landmarks, weights, None), np.array(
            [time for time, _ in self._frames]
        )
