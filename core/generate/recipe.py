"""Recipes of motions: two key poses, and curves that interpolate groups of bones between them (CN101246601)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..body.masses import GRAVITY
from ..errors import CoreError
from ..motion import Motion, shifted
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Skeleton, frozen
from .curves import GAMMA, Curve, Straight, fit_curve

ALL: Final = "all"
_AXES: Final = ("X", "Y", "Z")
_INSTANT: Final = 1e-4  # seconds over which a speed is measured


@dataclass(frozen=True, eq=False)
class Track:
    """Offsets of some bones over time: 0 is the min pose, 1 the max pose; other values extrapolate.

    bones    names or indices, or `ALL`: the bones of no other track
    times    (n,) seconds, increasing
    offsets  (n,)
    weights, width (seconds), gamma  of the curve, see `fit_curve`
    stay     whether the curve goes through all samples and stays between each two of them
    straight  go straight from sample to sample, without a fit
    axis     "X", "Y" or "Z": of the turn from the min to the max pose only its part about this axis, as a rotation
             vector in the bone's own frame; None: all of it
    frame    (J, 4) rotations from other axes to these frames, as `Anatomy.axes`

    Raises CoreError for malformed samples.
    """

    bones: str | tuple[str | int, ...]
    times: Array
    offsets: Array
    weights: Array | None = None
    width: float | None = None
    gamma: float = GAMMA
    stay: bool = True
    straight: bool = False
    axis: Literal["X", "Y", "Z"] | None = None
    frame: Array | None = None

    def __post_init__(self) -> None:
        if self.axis not in (None, *_AXES):
            raise CoreError(f'The axis of a track is "X", "Y" or "Z", not {self.axis!r}.')
        for name in ("times", "offsets"):
            object.__setattr__(self, name, frozen(getattr(self, name), float))
        if isinstance(self.bones, str) and self.bones != ALL:
            raise CoreError(f'The bones of a track must be a list, or "{ALL}", not "{self.bones}".')
        if np.ndim(self.offsets) != 1:
            raise CoreError("A track needs one offset for each sample.")
        self.curve()  # checks the samples

    def curve(self) -> Curve:
        """Return the smooth curve (..., 1) of the offsets over seconds."""
        return _curve(self, self.offsets[:, None])


@dataclass(frozen=True, eq=False)
class RootPath:
    """Path of the root: shifts (n, 3) from its position in the key poses, in armature space, at times (n,) in seconds.

    weights, width, gamma, stay and straight as in `Track`. Raises CoreError for malformed samples.
    """

    times: Array
    shifts: Array
    weights: Array | None = None
    width: float | None = None
    gamma: float = GAMMA
    stay: bool = True
    straight: bool = False

    def __post_init__(self) -> None:
        for name in ("times", "shifts"):
            object.__setattr__(self, name, frozen(getattr(self, name), float))
        if self.shifts.ndim != 2 or self.shifts.shape[1] != 3:
            raise CoreError("The samples of the root's path must be locations of three numbers.")
        self.curve()

    def curve(self) -> Curve:
        """Return the smooth curve (..., 3) of the shifts over seconds."""
        return _curve(self, self.shifts)


def _curve(track: Track | RootPath, values: Array) -> Curve:
    """Return the curve through the samples of a track, or of a path."""
    fit = fit_curve(track.times, values, track.weights, track.width, track.gamma)
    return Straight(track.times, values) if track.straight else fit.staying(values) if track.stay else fit


@dataclass(frozen=True)
class Flight:
    """Seconds between which the body is in the air: the root follows a ballistic arc from one to the other.

    The root gathers the speed of the arc before it, and loses it after it; see `Recipe`.
    """

    start: float
    end: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.start) and np.isfinite(self.end) and self.start < self.end):
            raise CoreError(f"A flight must start before it ends. It starts at {self.start} and ends at {self.end}.")


@dataclass(frozen=True, eq=False)
class Recipe:
    """A motion between two key poses.

    tracks   curves of offsets; bones of no track stay in the min pose
    path     of the root; without it the root is interpolated between the poses like other bones
    flights  in which the root falls freely with `gravity`, armature units per second squared
    up       (3,) opposite to gravity, in armature space
    root     the bone that does so, such as the hips, and moves in place of the root above it; None: the first one
    push     seconds before a flight in which the root gathers the speed of its arc
    give     seconds after it in which it loses it. Its place changes by up to a seventh of that way, as before a
             flight: legs have to give
    """

    tracks: Sequence[Track]
    path: RootPath | None = None
    flights: Sequence[Flight] = ()
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    gravity: float | None = None
    root: str | int | None = None
    push: float = 0.0
    give: float = 0.0

    def __post_init__(self) -> None:
        if not self.tracks and self.path is None:
            raise CoreError("A recipe needs at least one track of offsets, or a path.")
        for before, after in zip(self.flights, self.flights[1:], strict=False):
            if after.start < before.end:
                raise CoreError("Flights must not overlap.")

    def motion(self, skeleton: Skeleton, low: Pose, high: Pose, frames: NDArray[np.float64], fps: float) -> Motion:
        """Return the motion at frame numbers (F,), the first of which is second 0, from the min and the max pose.

        Rotations follow the shortest arc from one pose to the other (slerp), also beyond them. Raises CoreError for
        poses of another skeleton, no frames, and bones that two tracks have.
        """
        for name, pose in (("min", low), ("max", high)):
            if pose.rotations.shape != (len(skeleton), 4):
                raise CoreError(f"The {name} pose must have a rotation for each of the {len(skeleton)} bones.")
        frames = np.asarray(frames, float)
        if frames.ndim != 1 or not len(frames):
            raise CoreError("A motion needs at least one frame.")
        seconds = (frames - frames[0]) / fps
        pose = self._between(skeleton, low, high, seconds)
        if self.path is not None or self.flights:
            carrier = None if self.root is None else skeleton.index(self.root)
            pose = shift_roots(skeleton, pose, self._shifts(skeleton, low, high, pose, seconds), carrier)
        return Motion(pose, frames, fps)

    def _between(self, skeleton: Skeleton, low: Pose, high: Pose, seconds: Array) -> Pose:
        """Return the poses (F) between the min and the max pose, without the path."""
        offsets = self.offsets(skeleton, seconds)
        rotations = rotation.slerp(low.rotations, high.rotations, offsets)
        for bone, tracks in self._turning(skeleton, seconds).items():
            frames = (track.frame[bone] for track, _ in tracks.values() if track.frame is not None)
            frame = next(frames, rotation.IDENTITY)
            way = rotation.log(rotation.mul(rotation.inv(low.rotations[bone]), high.rotations[bone]))
            shares = np.repeat(offsets[:, bone, None], 3, axis=1)
            for axis, (_, offsets_about) in tracks.items():
                shares[:, [_AXES.index(axis)]] = offsets_about
            turns = rotation.rotate(frame, shares * rotation.rotate(rotation.inv(frame), way))
            rotations[:, bone] = rotation.mul(low.rotations[bone], rotation.exp(turns))
        translations = low.translations + offsets[..., None] * (high.translations - low.translations)
        scales, driven = (
            None if part is None else np.broadcast_to(part, (len(seconds), *part.shape))
            for part in (low.scales, low.driven_matrices)
        )
        return Pose(rotations, translations, scales, driven)

    def _turning(self, skeleton: Skeleton, seconds: Array) -> dict[int, dict[str, tuple[Track, Array]]]:
        """Return the tracks of single axes with their offsets (F, 1), by bone and axis. Raises CoreError for two."""
        found: dict[int, dict[str, tuple[Track, Array]]] = {}
        for track in self.tracks:
            if track.axis is None:
                continue
            offsets = track.curve()(seconds)
            bones = range(len(skeleton)) if track.bones == ALL else [skeleton.index(bone) for bone in track.bones]
            for bone in bones:
                if track.axis in found.setdefault(bone, {}):
                    raise CoreError(f'Two tracks move the bone "{skeleton.names[bone]}" about {track.axis}.')
                found[bone][track.axis] = track, offsets
        return found

    def offsets(self, skeleton: Skeleton, seconds: Array) -> Array:
        """Return the offset (F, J) of each bone between the min and the max pose. Raises CoreError for shared bones.

        Tracks of single axes are left out: what they are not about goes by these.
        """
        result = np.zeros((len(seconds), len(skeleton)))
        taken = set[int]()
        entire = [track for track in self.tracks if track.axis is None]
        for track in [track for track in entire if track.bones != ALL]:
            bones = [skeleton.index(bone) for bone in track.bones]
            twice = next((bone for bone in bones if bone in taken), None)
            if twice is not None:
                raise CoreError(f'Two tracks move the bone "{skeleton.names[twice]}".')
            taken.update(bones)
            result[:, bones] = track.curve()(seconds)
        whole = [track for track in entire if track.bones == ALL]
        if len(whole) > 1:
            raise CoreError(f'Two tracks move "{ALL}" bones.')
        for track in whole:
            result[:, [bone for bone in range(len(skeleton)) if bone not in taken]] = track.curve()(seconds)
        return result

    def _shifts(self, skeleton: Skeleton, low: Pose, high: Pose, pose: Pose, seconds: Array) -> Array:
        """Return the shifts (F, 3) of the root from its place in the pose (F): on its path, and as flights have it."""
        curve = None if self.path is None else self.path.curve()
        root = 0 if self.root is None else skeleton.index(self.root)
        up = np.array(self.up) / np.linalg.norm(self.up)
        gravity = GRAVITY * skeleton.size if self.gravity is None else self.gravity

        def shift(times: Array) -> Array:
            return np.zeros((len(times), 3)) if curve is None else curve(times)

        def place(*times: float) -> Array:
            at = np.array(times)
            return forward(skeleton, self._between(skeleton, low, high, at))[0][:, root] + shift(at)

        shifts = shift(seconds)
        starts = [*(flight.start for flight in self.flights), np.inf]
        ends = [-np.inf, *(flight.end for flight in self.flights)]
        for number, flight in enumerate(self.flights):
            earlier, start, end, after = place(flight.start - _INSTANT, flight.start, flight.end, flight.end + _INSTANT)
            span = flight.end - flight.start
            speed, fall = (end - start) / span, 0.5 * gravity * span * up
            t = seconds - flight.start
            flying = (t >= 0.0) & (t <= span)
            t = t[flying, None]
            arc = start + speed * t + 0.5 * gravity * t * (span - t) * up
            shifts[flying] = arc - forward(skeleton, pose[flying])[0][:, root]
            gathered, lost = speed + fall - (start - earlier) / _INSTANT, speed - fall - (after - end) / _INSTANT
            shifts += _push(flight.start - seconds, min(self.push, flight.start - ends[number])) * -gathered
            shifts += _push(seconds - flight.end, min(self.give, starts[number + 1] - flight.end)) * lost
        return shifts


def _push(seconds: Array, lasts: float) -> Array:
    """Return what is added to a path (F, 1) at seconds after an instant, so that it has a speed of one more there.

    It is 0 at and before the instant, and smoothly so after it `lasts`.
    """
    share = np.clip(seconds / lasts, 0.0, 1.0)[:, None] if lasts > 0.0 else np.zeros((len(seconds), 1))
    return lasts * share * np.square(1.0 - share)


def shift_roots(skeleton: Skeleton, pose: Pose, shifts: Array, carrier: int | None = None) -> Pose:
    """Return the pose (...) with all roots moved by shifts (..., 3) in armature space, along unlocked axes only.

    In place of the root above it, the `carrier` of the body moves, such as the hips, see `carrier_of`.
    """
    for bone in moved_roots(skeleton, carrier):
        moved = shifted(skeleton, pose, bone, shifts).translations
        pose = replace(pose, translations=np.where(skeleton.translatable, moved, pose.translations))
    return pose


def moved_roots(skeleton: Skeleton, carrier: int | None = None) -> list[int]:
    """Return the bones without a parent, and in place of the one above it the `carrier` of the body."""
    above = -1 if carrier is None else skeleton.ancestors(carrier)[-1]
    return [
        carrier if carrier is not None and root == above else root
        for root in np.flatnonzero(skeleton.parents < 0).tolist()
    ]
