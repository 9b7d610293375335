"""Recipes of motions: two key poses, and curves that interpolate groups of bones between them (CN101246601)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..errors import CoreError
from ..motion import Motion
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton, frozen
from .curves import GAMMA, FittedCurve, fit_curve

ALL: Final = "all"
GRAVITY: Final = 9.81  # metres per second squared, times the skeleton's size


@dataclass(frozen=True, eq=False)
class Track:
    """Offsets of some bones over time: 0 is the min pose, 1 the max pose; other values extrapolate.

    bones    names or indices, or `ALL`: the bones of no other track
    times    (n,) seconds, increasing
    offsets  (n,)
    weights, width (seconds), gamma  of the curve, see `fit_curve`

    Raises CoreError for malformed samples.
    """

    bones: str | tuple[str | int, ...]
    times: Array
    offsets: Array
    weights: Array | None = None
    width: float | None = None
    gamma: float = GAMMA

    def __post_init__(self) -> None:
        for name in ("times", "offsets"):
            object.__setattr__(self, name, frozen(getattr(self, name), float))
        if isinstance(self.bones, str) and self.bones != ALL:
            raise CoreError(f'The bones of a track are a list, or "{ALL}", not "{self.bones}".')
        if np.ndim(self.offsets) != 1:
            raise CoreError("The offsets of a track are one number a sample.")
        self.curve()  # checks the samples

    def curve(self) -> FittedCurve:
        """Return the smooth curve of the offsets over seconds."""
        return fit_curve(self.times, self.offsets, self.weights, self.width, self.gamma)


@dataclass(frozen=True, eq=False)
class RootPath:
    """Path of the root: shifts (n, 3) from its position in the key poses, in armature space, at times (n,) in seconds.

    weights, width and gamma as in `Track`. Raises CoreError for malformed samples.
    """

    times: Array
    shifts: Array
    weights: Array | None = None
    width: float | None = None
    gamma: float = GAMMA

    def __post_init__(self) -> None:
        for name in ("times", "shifts"):
            object.__setattr__(self, name, frozen(getattr(self, name), float))
        if self.shifts.ndim != 2 or self.shifts.shape[1] != 3:
            raise CoreError("The samples of the root's path are places of three numbers.")
        self.curve()

    def curve(self) -> FittedCurve:
        """Return the smooth curve of the shifts (3,) over seconds."""
        return fit_curve(self.times, self.shifts, self.weights, self.width, self.gamma)


@dataclass(frozen=True)
class Flight:
    """Seconds between which the body is in the air: the root follows a ballistic arc from one to the other."""

    start: float
    end: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.start) and np.isfinite(self.end) and self.start < self.end):
            raise CoreError(f"A flight ends after it starts, not from {self.start} to {self.end}.")


@dataclass(frozen=True, eq=False)
class Recipe:
    """A motion between two key poses.

    tracks   curves of offsets; bones of no track stay in the min pose
    path     of the root; without it the root is interpolated between the poses like other bones
    flights  in which the root falls freely with `gravity`, armature units per second squared
    up       (3,) opposite to gravity, in armature space
    """

    tracks: Sequence[Track]
    path: RootPath | None = None
    flights: Sequence[Flight] = ()
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    gravity: float | None = None

    def __post_init__(self) -> None:
        if not self.tracks and self.path is None:
            raise CoreError("A recipe needs at least one track of offsets, or a path.")
        for before, after in zip(self.flights, self.flights[1:], strict=False):
            if after.start < before.end:
                raise CoreError("Flights must follow each other.")

    def motion(self, skeleton: Skeleton, low: Pose, high: Pose, frames: NDArray[np.float64], fps: float) -> Motion:
        """Return the motion at frame numbers (F,), the first of which is second 0, from the min and the max pose.

        Rotations follow the shortest arc from one pose to the other (slerp), also beyond them. Raises CoreError for
        poses of another skeleton, no frames, and bones that two tracks have.
        """
        for name, pose in (("min", low), ("max", high)):
            if pose.rotations.shape != (len(skeleton), 4):
                raise CoreError(f"The {name} pose must be one pose of the {len(skeleton)} bones.")
        frames = np.asarray(frames, float)
        if frames.ndim != 1 or not len(frames):
            raise CoreError("A motion needs at least one frame.")
        seconds = (frames - frames[0]) / fps
        offsets = self.offsets(skeleton, seconds)
        rotations = rotation.slerp(low.rotations, high.rotations, offsets)
        translations = low.translations + offsets[..., None] * (high.translations - low.translations)
        scales, driven = (
            None if part is None else np.broadcast_to(part, (len(frames), *part.shape))
            for part in (low.scales, low.driven_matrices)
        )
        pose = Pose(rotations, translations, scales, driven)
        if self.path is not None or self.flights:
            pose = self._moved(skeleton, pose, seconds)
        return Motion(pose, frames, fps)

    def offsets(self, skeleton: Skeleton, seconds: Array) -> Array:
        """Return the offset (F, J) of each bone between the min and the max pose. Raises CoreError for shared bones."""
        result = np.zeros((len(seconds), len(skeleton)))
        taken = set[int]()
        for track in [track for track in self.tracks if track.bones != ALL]:
            bones = [skeleton.index(bone) for bone in track.bones]
            twice = next((bone for bone in bones if bone in taken), None)
            if twice is not None:
                raise CoreError(f'Two tracks have the bone "{skeleton.names[twice]}".')
            taken.update(bones)
            result[:, bones] = track.curve()(seconds)
        whole = [track for track in self.tracks if track.bones == ALL]
        if len(whole) > 1:
            raise CoreError(f'Two tracks are for "{ALL}" the bones.')
        for track in whole:
            result[:, [bone for bone in range(len(skeleton)) if bone not in taken]] = track.curve()(seconds)
        return result

    def _moved(self, skeleton: Skeleton, pose: Pose, seconds: Array) -> Pose:
        """Return the pose with its roots on the path, and on ballistic arcs in flights."""
        curve = None if self.path is None else self.path.curve()

        def path(times: Array) -> Array:
            return np.zeros((len(times), 3)) if curve is None else curve(times)

        shifts = path(seconds)
        up = np.array(self.up) / np.linalg.norm(self.up)
        gravity = GRAVITY * skeleton.size if self.gravity is None else self.gravity
        for flight in self.flights:
            ends = path(np.array([flight.start, flight.end]))
            span = flight.end - flight.start
            within = (seconds >= flight.start) & (seconds <= flight.end)
            t = (seconds[within] - flight.start)[:, None]
            rise = 0.5 * gravity * t * (span - t) * up
            shifts[within] = ends[0] + (ends[1] - ends[0]) * t / span + rise
        return shift_roots(skeleton, pose, shifts)


def shift_roots(skeleton: Skeleton, pose: Pose, shifts: Array) -> Pose:
    """Return the pose (...) with all roots moved by shifts (..., 3) in armature space, along unlocked axes only."""
    translations = np.array(pose.translations)
    for root in np.flatnonzero(skeleton.parents < 0).tolist():
        local = shifts
        if skeleton.local_location[root]:
            local = rotation.rotate(rotation.inv(skeleton.rest_rotations[root]), shifts)
        translations[..., root, :] += local * skeleton.translatable[root]
    return replace(pose, translations=translations)
