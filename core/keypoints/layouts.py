"""What trackers give: the names and order of their points, their units and axes, and which landmarks the points are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import CoreError
from ..rotation import Array
from .body import LANDMARK, LANDMARK_SWAP, LANDMARKS
from .geometry import least, used_landmarks
from .geometry import unit as directions
from .network import BONES, LENGTHS, bone_vectors

Unit = Literal["auto", "m", "cm", "mm"]
UNITS: Final = {"m": 1.0, "cm": 0.01, "mm": 0.001}
Axes = Literal["auto", "+X", "-X", "+Y", "-Y", "+Z", "-Z"]
AXES: Final = ("+X", "-X", "+Y", "-Y", "+Z", "-Z")

FREEMOCAP: Final = "freemocap"
TRUNK: Final = ("hip.L", "hip.R", "shoulder.L", "shoulder.R")  # the landmarks without which there is no body
_TRUNK: Final = (0.25, 0.85)  # metres from hips to shoulders of anybody, a child or a giant
_STANDARD_TRUNK: Final = 0.48  # metres
_BACKWARDS: Final = -0.3  # mean cosine of feet and nose to where the body's sides say is ahead
_SEEN: Final = 0.05  # confidence below which a point is not there
_SURE: Final = 0.7  # confidence above which it is believed in full
_BUILD: Final = np.array([name.partition(".")[0] in ("hip", "knee", "ankle", "chest", "shoulder", "elbow", "wrist")
                          for name in BONES])  # fmt: skip
_UNLIKE: Final = 0.25  # how unlike a body's the proportions are of points that may be those of another layout
_STRANGE: Final = 0.6  # and of such as hardly anybody has
_SHORTEST: Final = 1e-3  # of the standard length
_CLEAR: Final = 0.6  # cosine of the trunk to the axis that is up, in the mean, below which no axis is


@dataclass(frozen=True)
class Layout:
    """Points of a tracker in their order.

    landmarks  landmark -> the points whose middle it is; landmarks that a tracker does not have are left out
    unit, up  what its numbers usually are; "auto": told from the data
    markers  points are markers on the skin, of which a file may have some only
    """

    name: str
    points: tuple[str, ...]
    landmarks: Mapping[str, tuple[str, ...]]
    unit: Unit = "auto"
    up: Axes = "auto"
    markers: bool = False

    def among(self, names: Sequence[str]) -> "Layout":
        """With those markers alone that are among names. Raises CoreError where those of hips or shoulders are not."""
        if not self.markers:
            return self
        there = {_plain(name) for name in names}
        landmarks = {
            landmark: tuple(p for p in points if _plain(p) in there) for landmark, points in self.landmarks.items()
        }
        for landmark in TRUNK:
            if not landmarks.get(landmark):
                asked = " or ".join(f'"{point}"' for point in self.landmarks.get(landmark, ())) or "a marker"
                raise CoreError(f'The file has no {asked} for the mark "{landmark}" of "{self.name}".')
        landmarks = {landmark: points for landmark, points in landmarks.items() if points}
        return replace(
            self, points=tuple(dict.fromkeys(p for points in landmarks.values() for p in points)), landmarks=landmarks
        )

    @cached_property
    def rows(self) -> tuple[Array, NDArray[np.bool_]]:
        """The matrix (M, K) from points to landmarks, and which landmarks there are (M,)."""
        matrix = np.zeros((len(LANDMARKS), len(self.points)))
        for landmark, names in self.landmarks.items():
            matrix[LANDMARK[landmark], [self.points.index(name) for name in names]] = 1.0 / len(names)
        return matrix, matrix.any(axis=1)

    @cached_property
    def used(self) -> NDArray[np.int64]:
        """Points (k, M) that make each landmark."""
        return used_landmarks(self.rows[0] > 0.0)


def _both(landmarks: Mapping[str, str], left: str, right: str) -> dict[str, tuple[str, ...]]:
    """Landmarks of both sides; {} in a point's name is the side as the tracker says it."""
    return {
        f"{landmark}.{side}": (point.format(word),)
        for landmark, point in landmarks.items()
        for side, word in (("L", left), ("R", right))
    }


_LIMBS: Final = {name: "{}" + name for name in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")}
_MEDIAPIPE: Final = (
    "nose", "left_eye_inner", "left_eye", "left_eye_outer", "right_eye_inner", "right_eye", "right_eye_outer",
    "left_ear", "right_ear", "mouth_left", "mouth_right", "left_shoulder", "right_shoulder", "left_elbow",
    "right_elbow", "left_wrist", "right_wrist", "left_pinky", "right_pinky", "left_index", "right_index", "left_thumb",
    "right_thumb", "left_hip", "right_hip", "left_knee", "right_knee", "left_ankle", "right_ankle", "left_heel",
    "right_heel", "left_foot_index", "right_foot_index",
)  # fmt: skip
_MEDIAPIPE_MARKS: Final = {"nose": ("nose",)} | _both(
    _LIMBS | {"ear": "{}ear", "index": "{}index", "pinky": "{}pinky", "heel": "{}heel", "ball": "{}foot_index"},
    "left_",
    "right_",
)
_COCO: Final = (
    "nose", "left_eye", "right_eye", "left_ear", "right_ear", "left_shoulder", "right_shoulder", "left_elbow",
    "right_elbow", "left_wrist", "right_wrist", "left_hip", "right_hip", "left_knee", "right_knee", "left_ankle",
    "right_ankle",
)  # fmt: skip
_TOES: Final = ("big_toe", "small_toe")
_RTMPOSE: Final = (*_COCO, *(f"{side}_{name}" for side in ("left", "right") for name in (*_TOES, "heel")))
_SMPL: Final = (
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle", "right_ankle",
    "spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head", "left_shoulder",
    "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_hand", "right_hand",
)  # fmt: skip
# Vicon's full body: what is on the skin stands for the joint below it
_GAIT_MARKS: Final[dict[str, tuple[str, ...]]] = {"nose": ("LFHD", "RFHD")} | {
    f"{landmark}.{side}": tuple(side + name for name in names)
    for side in "LR"
    for landmark, names in {
        "ear": ("FHD", "BHD"), "shoulder": ("SHO",), "elbow": ("ELB",), "wrist": ("WRA", "WRB"), "knuckle": ("FIN",),
        "hip": ("ASI", "PSI"), "knee": ("KNE",), "ankle": ("ANK",), "heel": ("HEE",), "ball": ("TOE",),
    }.items()
}  # fmt: skip
_SMPL_MARKS: Final = {"crown": ("head",)} | _both(_LIMBS | {"ball": "{}foot"}, "left_", "right_")
_LIMBS_CAPITAL: Final = {name: "{}" + name.capitalize() for name in _LIMBS}

LAYOUTS: Final[dict[str, Layout]] = {
    layout.name: layout
    for layout in (
        Layout("mediapipe", _MEDIAPIPE, _MEDIAPIPE_MARKS, "m", "-Y"),
        Layout("coco17", _COCO, {"nose": ("nose",)} | _both(_LIMBS | {"ear": "{}ear"}, "left_", "right_")),
        Layout(
            "h36m17",
            ("Pelvis", "RHip", "RKnee", "RAnkle", "LHip", "LKnee", "LAnkle", "Spine", "Thorax", "Nose", "Head",
             "LShoulder", "LElbow", "LWrist", "RShoulder", "RElbow", "RWrist"),
            {"crown": ("Head",)} | _both(_LIMBS_CAPITAL, "L", "R"),
        ),
        Layout(
            "body25",
            ("Nose", "Neck", "RShoulder", "RElbow", "RWrist", "LShoulder", "LElbow", "LWrist", "MidHip", "RHip",
             "RKnee", "RAnkle", "LHip", "LKnee", "LAnkle", "REye", "LEye", "REar", "LEar", "LBigToe", "LSmallToe",
             "LHeel", "RBigToe", "RSmallToe", "RHeel"),
            {"nose": ("Nose",), "ball.L": ("LBigToe", "LSmallToe"), "ball.R": ("RBigToe", "RSmallToe")}
            | _both(_LIMBS_CAPITAL | {"ear": "{}Ear", "heel": "{}Heel"}, "L", "R"),
        ),
        Layout("smpl22", _SMPL[:22], _SMPL_MARKS),
        Layout("smpl24", _SMPL, _SMPL_MARKS | _both({"knuckle": "{}hand"}, "left_", "right_")),
        Layout(FREEMOCAP, _MEDIAPIPE, _MEDIAPIPE_MARKS, "mm", "+Z"),
        Layout("plugin_gait", tuple(dict.fromkeys(p for points in _GAIT_MARKS.values() for p in points)), _GAIT_MARKS,
               markers=True),
        Layout("marks", LANDMARKS, {landmark: (landmark,) for landmark in LANDMARKS}),
    )
}  # fmt: skip


# FreeMoCap with RTMPose, which has toes and no knuckles; by their names only
_FREEMOCAP_RTMPOSE: Final = Layout(
    FREEMOCAP,
    _RTMPOSE,
    {"nose": ("nose",)}
    | _both(_LIMBS | {"ear": "{}ear", "heel": "{}heel"}, "left_", "right_")
    | {f"ball.{side[0].upper()}": tuple(f"{side}_{toe}" for toe in _TOES) for side in ("left", "right")},
    "mm",
    "+Z",
)


def find_layout(name: str | Layout) -> Layout:
    """Raises CoreError with the names that there are. A layout is its own name."""
    if isinstance(name, Layout):
        return name
    if name not in LAYOUTS:
        raise CoreError(f'There is no layout "{name}"; there are {", ".join(LAYOUTS)}.')
    return LAYOUTS[name]


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Landmarks (F, M, 3) in metres, Y up, and how far each is to be believed (F, M), 0 to 1."""

    positions: Array
    weights: Array
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conversion:
    """How points of a layout become landmarks: the unit in metres, the axis that is up, sides exchanged or not."""

    layout: Layout
    unit: float
    up: str
    exchanged: bool = False

    @cached_property
    def _turned(self) -> Array:
        return self.unit * up_rotation(self.up).T

    def __call__(self, points: ArrayLike, confidence: ArrayLike | None = None) -> Landmarks:
        """Landmarks of points (F, K, 3) with confidence (F, K); a point that is NaN is not there."""
        array, trust = check_points(self.layout, points, confidence)
        matrix, there = self.layout.rows
        seen = np.isfinite(array).all(axis=-1)
        weight = np.where(seen, np.clip((trust - _SEEN) / (_SURE - _SEEN), 0.0, 1.0), 0.0)
        positions = matrix @ np.where(seen[..., None], array, 0.0) @ self._turned
        weights = least(weight, self.layout.used) * there
        if self.exchanged:
            positions, weights = positions[:, LANDMARK_SWAP], weights[:, LANDMARK_SWAP]
        return Landmarks(positions, weights)


def check_points(layout: Layout, points: ArrayLike, confidence: ArrayLike | None) -> tuple[Array, Array]:
    """Points (F, K, 3) and confidence (F, K), or CoreError with what is wrong with them."""
    try:
        array = np.asarray(points, float)
        trust = None if confidence is None else np.asarray(confidence, float)
    except (TypeError, ValueError):
        raise CoreError(
            "Keypoints must be numbers, three for each point, with as many points in every frame."
        ) from None
    count = len(layout.points)
    if array.ndim != 3 or array.shape[-1] != 3:
        raise CoreError(f"Keypoints are frames of points of three numbers, not an array of shape {array.shape}.")
    if array.shape[1] != count:
        others = [name for name, other in LAYOUTS.items() if len(other.points) == array.shape[1]]
        hint = f"; {' or '.join(others)} has as many" if others else ""
        raise CoreError(f'The layout "{layout.name}" has {count} points, but these frames have {array.shape[1]}{hint}.')
    if not len(array):
        raise CoreError("There is no frame of keypoints.")
    if np.isinf(array).any():
        frame, point = np.argwhere(np.isinf(array).any(axis=-1))[0]
        raise CoreError(f'The point "{layout.points[point]}" is infinite in frame {frame}.')
    if trust is None:
        trust = np.ones(array.shape[:2])
    if trust.shape != array.shape[:2]:
        raise CoreError(f"There are confidences of shape {trust.shape} for points of shape {array.shape[:2]}.")
    return array, np.clip(np.nan_to_num(trust, nan=0.0), 0.0, 1.0)


def up_rotation(axis: str) -> Array:
    """The rotation matrix (3, 3) that takes an axis, up in the data, to +Y."""
    matrices = {
        "+Y": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "-Y": [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
        "+Z": [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
        "-Z": [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
        "+X": [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
        "-X": [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
    }
    if axis not in matrices:
        raise CoreError(f'up must be "auto" or one of {", ".join(AXES)}, not "{axis}".')
    return np.array(matrices[axis], float)


def find_conversion(
    layout: Layout,
    points: ArrayLike,
    confidence: ArrayLike | None = None,
    unit: str = "auto",
    up: str = "auto",
    exchanged: bool | None = None,
) -> tuple[Conversion, tuple[str, ...]]:
    """How points (F, K, 3) of a layout are to be taken, and sentences about what was told from them.

    What is "auto" is the layout's, or told from the data if it has none of its own. Raises CoreError where the points
    cannot be of a body: other units than said, no axis up, sides exchanged (unless `exchanged` says whether they are).
    """
    array, trust = check_points(layout, points, confidence)
    notes: list[str] = []
    raw = Conversion(layout, 1.0, "+Y")(array, trust)
    whole = raw.weights[:, _TRUNK_LANDMARKS].min(axis=1) > 0.0
    if not whole.any():
        raise CoreError("In no frame both hips and both shoulders are seen; without them there is no body to read.")
    hips, shoulders = (
        raw.positions[whole][:, pair].mean(axis=1) for pair in (_TRUNK_LANDMARKS[:2], _TRUNK_LANDMARKS[2:])
    )
    trunk = np.median(np.linalg.norm(shoulders - hips, axis=-1))
    said = layout.unit if unit == "auto" else unit
    fits = [name for name, metres in UNITS.items() if _TRUNK[0] <= trunk * metres <= _TRUNK[1]]
    if said == "auto" and not fits:
        if not trunk > 0.0:
            raise CoreError("Hips and shoulders are at one place in these points.")
        scale = _STANDARD_TRUNK / float(trunk)
        notes.append("The points are in no usual unit; the body is taken to be 1.7 m tall.")
    elif said == "auto":
        scale = UNITS[fits[0]]
        notes.append(f"The points are in {fits[0]}.")
    elif said not in UNITS:
        raise CoreError(f'unit must be "auto" or one of {", ".join(UNITS)}, not "{said}".')
    elif said not in fits:
        hint = f"; they look like {fits[0]}" if fits else ""
        raise CoreError(f"From hips to shoulders it is {trunk:.3g} {said}, which is no body{hint}. Set the unit.")
    else:
        scale = UNITS[said]
    notes += _likeness(layout, array, trust)
    axis = layout.up if up == "auto" else up
    way = np.mean(directions(shoulders - hips), axis=0)
    strongest = int(np.argmax(np.abs(way)))
    if axis == "auto":
        if abs(way[strongest]) < _CLEAR:
            raise CoreError("No axis is clearly up in these points; say which one is.")
        axis = AXES[2 * strongest + int(way[strongest] < 0.0)]
        notes.append(f"{axis} is up.")
    elif up == "auto" and (up_rotation(axis) @ way)[1] < -_CLEAR:  # the layout's, but somebody has turned the points
        axis = AXES[2 * strongest + int(way[strongest] < 0.0)]
        notes.append(f"{axis} is up, though {layout.name} has it down: else the body would stand on its head.")
    elif up == "auto" and abs((up_rotation(axis) @ way)[1]) < _CLEAR < abs(way[strongest]):
        other = AXES[2 * strongest + int(way[strongest] < 0.0)]
        notes.append(f"The body lies, as {layout.name} has {axis} up; if it is to stand, say that {other} is up.")
    conversion = Conversion(layout, scale, axis, bool(exchanged))
    ahead = _ahead(conversion(array, trust)) if exchanged is None else 1.0
    if ahead is None:
        notes.append("Neither face, feet nor knees are seen: nothing tells whether left and right are exchanged.")
    elif ahead < _BACKWARDS:
        raise CoreError(
            "Left and right are exchanged, or the points are mirrored: feet and face look backwards. "
            "Say whether sides are to be exchanged."
        )
    return conversion, tuple(notes)


_TRUNK_LANDMARKS: Final = np.array([LANDMARK[name] for name in TRUNK])


def _likeness(layout: Layout, points: Array, trust: Array) -> list[str]:
    """Sentences about proportions; raises CoreError where they are those of another layout with as many points."""
    own = _unlikeness(Conversion(layout, 1.0, "+Y")(points, trust))
    others = [other for other in LAYOUTS.values() if len(other.points) == len(layout.points) and not other.markers]
    found = {other.name: _unlikeness(Conversion(other, 1.0, "+Y")(points, trust)) for other in others}
    best = min(found, key=found.__getitem__, default=layout.name)
    if own > _UNLIKE and best in found and 2.0 * found[best] < own:
        raise CoreError(f'The points are not those of "{layout.name}", but look like those of "{best}".')
    if own > _STRANGE:
        return [f'Bones between these points have lengths as hardly a body has; are they those of "{layout.name}"?']
    return []


def _unlikeness(landmarks: Landmarks) -> float:
    """By how much the lengths of bones are off a body's proportions: standard deviation of their logarithms."""
    vectors, believed = bone_vectors(landmarks.positions, landmarks.weights)
    seen = _BUILD & (believed > 0.0).any(axis=0)
    sizes = np.where(believed > 0.0, np.linalg.norm(vectors, axis=-1), np.nan)[:, seen]
    ratios = np.nanmedian(sizes, axis=0) / LENGTHS[seen]
    largest = ratios.max(initial=0.0)
    return float(np.std(np.log(np.maximum(ratios / largest, _SHORTEST)))) if 0.0 < largest < np.inf else np.inf


def _ahead(landmarks: Landmarks) -> float | None:
    """Mean cosine between where feet and nose point to and where the sides of the body say; None: nothing tells."""
    positions, weights = landmarks.positions, landmarks.weights
    hips, shoulders = positions[:, _TRUNK_LANDMARKS[:2]], positions[:, _TRUNK_LANDMARKS[2:]]
    ahead = np.cross(hips[:, 0] - hips[:, 1], shoulders.mean(axis=1) - hips.mean(axis=1))
    said: list[Array] = []
    for starts, end in (
        (("ear.L", "ear.R"), "nose"),
        (("heel.L",), "ball.L"),
        (("heel.R",), "ball.R"),
        (("ankle.L",), "ball.L"),
        (("ankle.R",), "ball.R"),
        (("hip.L", "ankle.L"), "knee.L"),
        (("hip.R", "ankle.R"), "knee.R"),
    ):
        rows = [LANDMARK[name] for name in starts]
        seen = (weights[:, [*rows, LANDMARK[end]]].min(axis=1) > 0.0) & (weights[:, _TRUNK_LANDMARKS].min(axis=1) > 0.0)
        way = (positions[:, LANDMARK[end]] - positions[:, rows].mean(axis=1))[seen]
        size = np.linalg.norm(way, axis=-1) * np.linalg.norm(ahead[seen], axis=-1)
        if len(way):
            said.append(np.sum(way * ahead[seen], axis=-1) / np.where(size > 0.0, size, 1.0))
    return float(np.mean([part.mean() for part in said])) if said else None


def match_columns(layout: Layout, names: Sequence[str]) -> tuple[Layout, list[int]]:
    """What of the layout is among named columns, and where, whatever their order and further ones.

    Raises CoreError that names the first point that is not there.
    """
    if layout.name == FREEMOCAP and not {*_RTMPOSE} - {*names}:
        layout = _FREEMOCAP_RTMPOSE
    layout = layout.among(names)
    plain = [_plain(name) for name in names]
    twice = next((point for point in layout.points if plain.count(_plain(point)) > 1), None)
    if twice is not None:
        raise CoreError(f'The point "{twice}" is there twice; a file has to be of one body.')
    found = {name: number for number, name in enumerate(plain)}
    missing = [point for point in layout.points if _plain(point) not in found]
    needed = {point for points in layout.landmarks.values() for point in points}
    wanted = [point for point in missing if point in needed]
    if wanted:
        raise CoreError(f'The file has no point "{wanted[0]}" of the layout "{layout.name}".')
    return layout, [found.get(_plain(point), -1) for point in layout.points]


def _plain(name: str) -> str:
    """Without the subject's name, which systems of markers put before a colon."""
    return "".join(letter for letter in name.rpartition(":")[2].lower() if letter.isalnum())
