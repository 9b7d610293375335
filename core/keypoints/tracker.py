"""Frames of a live sender to readings, one after the other, and to a clip of those that were recorded."""

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

_TRIAL: Final = 5  # frames that unit and axes are told from
_LONGEST: Final = 60 * 60 * 60  # frames that are recorded: an hour at 60 a second


class Tracker(Protocol):
    """What follows a sender."""

    trouble: str  # why frames are not followed, if so
    notes: tuple[str, ...]  # what was told from the first frames
    delay: int  # frames that a reading waits for later ones

    def add(self, frame: Frame[Any]) -> bool:
        """Take a frame; False where nothing can be read yet."""
        ...

    def estimate(self) -> CapturedMotion:
        """A reading of one frame."""
        ...

    @property
    def recorded(self) -> int:
        """Frames that a clip would have."""
        ...

    def clip(self) -> tuple[CapturedMotion, Array]:
        """What was recorded, and its times (F,) in seconds."""
        ...


class PointTracker:
    """Points of a layout: told as units and axes, filtered, and read with some delay."""

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
        self._layout, self._said = layout, (unit, up, exchanged)
        self._reader = LiveEstimator(delay=delay)
        self._trial: list[Points] = []
        self._conversion: Conversion | None = None
        self._record = record
        self._frames: list[tuple[float, Landmarks]] = []

    def add(self, frame: Frame[Points]) -> bool:
        conversion = self._conversion or self._try(frame.body)
        if conversion is None:
            return False
        points, confidence = frame.body
        landmarks = conversion(points[None], confidence[None])
        self._reader.add(landmarks.positions[0], landmarks.weights[0], frame.time)
        if self._record and self.recorded < _LONGEST:
            self._frames.append((frame.time, landmarks))
        return True

    def estimate(self) -> CapturedMotion:
        return self._reader.estimate()

    @property
    def recorded(self) -> int:
        return len(self._frames)

    def clip(self) -> tuple[CapturedMotion, Array]:
        times = np.array([time for time, _ in self._frames])
        positions, weights = (
            np.concatenate([getattr(m, n) for _, m in self._frames]) for n in ("positions", "weights")
        )
        return estimate_clip(Landmarks(positions, weights), times), times

    def _try(self, points: Points) -> Conversion | None:
        """How points are to be taken, once there are enough to tell."""
        self._trial.append(points)
        if len(self._trial) < _TRIAL:
            return None
        array, confidence = (np.stack(column) for column in zip(*self._trial, strict=True))
        self._trial.clear()
        try:
            self._conversion, self.notes = find_conversion(self._layout, array, confidence, *self._said)
            self.trouble = ""
        except CoreError as error:
            self.trouble = str(error)
        return self._conversion


class BoneTracker:
    """Readings that the sender gives as they are."""

    trouble = ""
    notes = ()
    delay = 0

    def __init__(self, record: bool = False) -> None:
        self._record = record
        self._last: CapturedMotion | None = None
        self._frames: list[tuple[float, CapturedMotion]] = []

    def add(self, frame: Frame[CapturedMotion]) -> bool:
        self._last = frame.body
        if self._record and self.recorded < _LONGEST:
            self._frames.append((frame.time, frame.body))
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
