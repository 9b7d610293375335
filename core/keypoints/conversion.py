"""Points of a tracker to landmarks in metres, Y up: with units, axes and sides found from the data and checked."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..body import SIDES
from ..errors import CoreError
from ..rotation import Array
from .body import ALL_LANDMARKS, KNUCKLES, LANDMARK, LANDMARK_SWAP
from .bones import BONES, LENGTHS, bone_vectors
from .geometry import least
from .geometry import unit as directions
from .layouts import AXES, LAYOUTS, TRUNK, UNITS, Layout

_TRUNK_LANDMARKS: Final = np.array([LANDMARK[name] for name in TRUNK])
_TRUNK: Final = (0.25, 0.85)  # metres from hips to shoulders of any person
_STANDARD_TRUNK: Final = 0.48  # metres
_BACKWARDS: Final = -0.3  # mean cosine between the directions of feet and nose and the front of the body
_SEEN: Final = 0.05  # confidence below which a point is missing
_SURE: Final = 0.7  # confidence from which a point has the weight 1
_BUILD: Final = np.array([name.partition(".")[0] in ("hip", "knee", "ankle", "chest", "shoulder", "elbow", "wrist")
                          for name in BONES])  # fmt: skip
# The last landmark is in front of the midpoint of those before it
_AHEAD: Final = [[LANDMARK["ear.L"], LANDMARK["ear.R"], LANDMARK["nose"]]] + [
    [LANDMARK[f"{name}.{side}"] for name in names]
    for names in (("heel", "ball"), ("ankle", "ball"), ("hip", "ankle", "knee"))
    for side in SIDES
]
_ENDS, _OF_HANDS = (
    np.array([ALL_LANDMARKS.index(name) for name in names]) for names in zip(*KNUCKLES.items(), strict=True)
)
_UNLIKE: Final = 0.25  # deviation from a body's proportions from which another layout may fit better
_STRANGE: Final = 0.6  # deviation that hardly any body has
_SHORTEST: Final = 1e-3  # of the standard length
_CLEAR: Final = 0.6  # mean cosine between the trunk and the up axis, at least


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Landmarks (F, M, 3) in metres, Y up, and the weight of each (F, M), 0 (missing) to 1.

    With `HAND_LANDMARKS` after those of the body if the layout has hands.
    """

    positions: Array
    weights: Array


@dataclass(frozen=True)
class Conversion:
    """How points of a layout become landmarks: the unit in metres, the up axis, and whether sides are exchanged."""

    layout: Layout
    unit: float
    up: str
    exchanged: bool = False

    @cached_property
    def _matrix(self) -> Array:
        return self.unit * up_rotation(self.up).T

    def __call__(self, points: ArrayLike, confidence: ArrayLike | None = None) -> Landmarks:
        """Return the landmarks of points (F, K, 3) with confidence (F, K); points that are NaN are missing.

        Raises CoreError as `check_points` does.
        """
        array, trust = check_points(self.layout, points, confidence)
        matrix, present = self.layout.rows
        seen = np.isfinite(array).all(axis=-1)
        weight = np.where(seen, np.clip((trust - _SEEN) / (_SURE - _SEEN), 0.0, 1.0), 0.0)
        positions = matrix @ np.where(seen[..., None], array, 0.0) @ self._matrix
        weights = least(weight, self.layout.used) * present
        if self.exchanged:
            swap = LANDMARK_SWAP[: positions.shape[1]]
            positions, weights = positions[:, swap], weights[:, swap]
        if self.layout.hands:  # their own knuckles are more exact
            better = weights[:, _OF_HANDS] > 0.0
            positions[:, _ENDS] = np.where(better[..., None], positions[:, _OF_HANDS], positions[:, _ENDS])
            weights[:, _ENDS] = np.where(better, weights[:, _OF_HANDS], weights[:, _ENDS])
        return Landmarks(positions, weights)


def check_points(layout: Layout, points: ArrayLike, confidence: ArrayLike | None) -> tuple[Array, Array]:
    """Return points (F, K, 3) and confidence (F, K), 0 to 1, as arrays.

    Raises CoreError for wrong shapes, values that are no numbers, and infinite points.
    """
    try:
        array = np.asarray(points, float)
        trust = np.asarray(np.ones(array.shape[:2]) if confidence is None else confidence, float)
    except (TypeError, ValueError):
        raise CoreError(
            "Keypoints must be numbers, three for each point, with the same number of points in every frame."
        ) from None
    count = len(layout.points)
    if array.ndim != 3 or array.shape[-1] != 3:
        raise CoreError(f"Keypoints must be frames of points of three numbers, not an array of shape {array.shape}.")
    if array.shape[1] != count:
        others = [name for name, other in LAYOUTS.items() if len(other.points) == array.shape[1]]
        hint = f"; {' or '.join(others)} has that many" if others else ""
        told = f'The layout "{layout.name}" has {count} points, but these frames have {array.shape[1]}'
        raise CoreError(f"{told}{hint}.")
    if not len(array):
        raise CoreError("There are no frames of keypoints.")
    if np.isinf(array).any():
        frame, point = np.argwhere(np.isinf(array).any(axis=-1))[0]
        raise CoreError(f'The point "{layout.points[point]}" is infinite in frame {frame}.')
    if trust.shape != array.shape[:2]:
        raise CoreError(f"The confidences have the shape {trust.shape}, but the points {array.shape[:2]}.")
    return array, np.clip(np.nan_to_num(trust, nan=0.0), 0.0, 1.0)


def up_rotation(axis: str) -> Array:
    """Return the rotation matrix (3, 3) from the up axis of the data to +Y. Raises CoreError for unknown axes."""
    if axis not in AXES:
        raise CoreError(f'up must be "auto" or one of {", ".join(AXES)}, not "{axis}".')
    s = -1 if axis[0] == "-" else 1
    matrices = {
        "X": [[0, -s, 0], [s, 0, 0], [0, 0, 1]],
        "Y": [[1, 0, 0], [0, s, 0], [0, 0, s]],
        "Z": [[1, 0, 0], [0, 0, s], [0, -s, 0]],
    }
    return np.array(matrices[axis[1]], float)


def find_conversion(
    layout: Layout,
    points: ArrayLike,
    confidence: ArrayLike | None = None,
    unit: str = "auto",
    up: str = "auto",
    exchanged: bool | None = None,
) -> tuple[Conversion, tuple[str, ...]]:
    """Return the conversion of points (F, K, 3) of a layout, and notes on what was found from the data.

    An "auto" unit or axis is the layout's, or found from the data if the layout has none. Raises CoreError if the
    points cannot be of a body: a trunk of another size than the unit gives, no axis up, or left and right exchanged
    (checked only if `exchanged` is None).
    """
    array, trust = check_points(layout, points, confidence)
    raw = Conversion(layout, 1.0, "+Y")(array, trust)
    whole = raw.weights[:, _TRUNK_LANDMARKS].min(axis=1) > 0.0
    if not whole.any():
        raise CoreError("No frame shows both hips and both shoulders, so no body can be found.")
    hips, shoulders = (raw.positions[whole][:, pair].mean(axis=1) for pair in np.split(_TRUNK_LANDMARKS, 2))
    trunk = shoulders - hips
    length = float(np.median(np.linalg.norm(trunk, axis=-1)))
    metres, notes = _find_unit(layout.unit if unit == "auto" else unit, length)
    notes += _check_proportions(layout, raw, array, trust)
    axis, note = _find_up(layout, up, np.mean(directions(trunk), axis=0))
    notes += note
    conversion = Conversion(layout, metres, axis, bool(exchanged))
    if exchanged is None:
        notes += _check_sides(conversion(array, trust))
    return conversion, tuple(notes)


def _find_unit(unit: str, trunk: float) -> tuple[float, list[str]]:
    """Return the unit in metres, and notes, from the length of the trunk in that unit."""
    fits = [name for name, metres in UNITS.items() if _TRUNK[0] <= trunk * metres <= _TRUNK[1]]
    if unit == "auto" and fits:
        return UNITS[fits[0]], [f"The points are in {fits[0]}."]
    if unit == "auto":
        if not trunk > 0.0:
            raise CoreError("Hips and shoulders are at the same location in these points.")
        return _STANDARD_TRUNK / trunk, ["The unit of the points is unknown, so the body is taken to be 1.7 m tall."]
    if unit not in UNITS:
        raise CoreError(f'unit must be "auto" or one of {", ".join(UNITS)}, not "{unit}".')
    if unit not in fits:
        advice = f"Try {fits[0]} as the unit." if fits else "Set the unit."
        raise CoreError(
            f"The distance from hips to shoulders is {trunk:.3g} {unit}, which does not fit a human body. {advice}"
        )
    return UNITS[unit], []


def _find_up(layout: Layout, up: str, trunk: Array) -> tuple[str, list[str]]:
    """Return the up axis, and notes, from the mean direction (3,) of the trunk."""
    strongest = int(np.argmax(np.abs(trunk)))
    nearest = AXES[2 * strongest + int(trunk[strongest] < 0.0)]
    if up != "auto":
        return up, []
    if layout.up == "auto":
        if abs(trunk[strongest]) < _CLEAR:
            raise CoreError("No axis is clearly up in these points. Set the up axis.")
        return nearest, [f"{nearest} is up."]
    upright = (up_rotation(layout.up) @ trunk)[1]
    if upright < -_CLEAR:  # somebody has turned the points
        return nearest, [
            f"{nearest} is used as the up axis, because the body is upside down with that of {layout.name}."
        ]
    if abs(upright) < _CLEAR < abs(trunk[strongest]):
        note = (
            f"The body is lying down, because {layout.up} is up in {layout.name}. If it should stand, set the up axis "
            f"to {nearest}."
        )
        return layout.up, [note]
    return layout.up, []


def _check_sides(landmarks: Landmarks) -> list[str]:
    """Return notes on left and right. Raises CoreError if feet, nose and knees say that they are exchanged."""
    positions, weights = landmarks.positions, landmarks.weights
    hips, shoulders = positions[:, _TRUNK_LANDMARKS[:2]], positions[:, _TRUNK_LANDMARKS[2:]]
    ahead = np.cross(hips[:, 0] - hips[:, 1], shoulders.mean(axis=1) - hips.mean(axis=1))
    cosines: list[float] = []
    for *starts, end in _AHEAD:
        seen = (weights[:, [*starts, end]].min(axis=1) > 0.0) & (weights[:, _TRUNK_LANDMARKS].min(axis=1) > 0.0)
        direction = (positions[:, end] - positions[:, starts].mean(axis=1))[seen]
        size = np.linalg.norm(direction, axis=-1) * np.linalg.norm(ahead[seen], axis=-1)
        if len(direction):
            cosines.append((np.sum(direction * ahead[seen], axis=-1) / np.where(size > 0.0, size, 1.0)).mean())
    if not cosines:
        return ["Face, feet and knees are not visible, so it is unknown whether left and right are swapped."]
    if np.mean(cosines) < _BACKWARDS:
        raise CoreError(
            "Feet and face point backward: left and right may be swapped, or the points mirrored. Set Sides to Swap "
            "or Keep (--exchange)."
        )
    return []


def _check_proportions(layout: Layout, landmarks: Landmarks, points: Array, trust: Array) -> list[str]:
    """Return notes on the body's proportions. Raises CoreError if they fit another layout with as many points."""
    own = _deviation(landmarks)
    others = [other for other in LAYOUTS.values() if len(other.points) == len(layout.points) and not other.markers]
    fits = [(_deviation(Conversion(other, 1.0, "+Y")(points, trust)), other.name) for other in others]
    least_off, best = min(fits, key=lambda fit: fit[0], default=(own, layout.name))
    if own > _UNLIKE and 2.0 * least_off < own:
        raise CoreError(f'The points do not fit "{layout.name}", but look like "{best}".')
    if own > _STRANGE:
        return [
            (f'The lengths of bones between these points are unusual for a body. Are they points of "{layout.name}"?')
        ]
    return []


def _deviation(landmarks: Landmarks) -> float:
    """Return the standard deviation of the logarithms of bone lengths, relative to the standard lengths."""
    vectors, bone_weights = bone_vectors(landmarks.positions, landmarks.weights)
    seen = _BUILD & (bone_weights > 0.0).any(axis=0)
    sizes = np.where(bone_weights > 0.0, np.linalg.norm(vectors, axis=-1), np.nan)[:, seen]
    ratios = np.nanmedian(sizes, axis=0) / LENGTHS[seen]
    largest = ratios.max(initial=0.0)
    return float(np.std(np.log(np.maximum(ratios / largest, _SHORTEST)))) if 0.0 < largest < np.inf else np.inf
