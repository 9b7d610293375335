"""Layouts: the names and order of the points that trackers write, their unit and up axis, and their landmarks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ..body import SIDES
from ..errors import CoreError
from ..rotation import Array
from .body import ALL_LANDMARKS, HAND_POINTS, LANDMARK, LANDMARKS
from .geometry import used_landmarks

Unit = Literal["auto", "m", "cm", "mm"]
UNITS: Final = {"m": 1.0, "cm": 0.01, "mm": 0.001}
Axes = Literal["auto", "+X", "-X", "+Y", "-Y", "+Z", "-Z"]
AXES: Final = ("+X", "-X", "+Y", "-Y", "+Z", "-Z")

FREEMOCAP: Final = "freemocap"
MEDIAPIPE_HANDS: Final = "mediapipe_hands"
MARKS: Final = "marks"
MARKS_HANDS: Final = "marks_hands"
TRUNK: Final = ("hip.L", "hip.R", "shoulder.L", "shoulder.R")  # the landmarks that every layout needs


@dataclass(frozen=True)
class Layout:
    """Points of a tracker in their order.

    landmarks  landmark -> the points whose midpoint it is; landmarks that a tracker does not have are left out
    unit, up   the usual unit and up axis; "auto": found from the data
    markers    points are markers on the skin, some of which a file may lack
    hands      side -> the 21 points of its hand; they count relative to its wrist, wherever they are
    """

    name: str
    points: tuple[str, ...]
    landmarks: Mapping[str, tuple[str, ...]]
    unit: Unit = "auto"
    up: Axes = "auto"
    markers: bool = False
    hands: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def among(self, names: Sequence[str]) -> "Layout":
        """Return the layout with only those markers that are among `names`.

        Raises CoreError if a landmark of hips or shoulders has none.
        """
        if not self.markers:
            return self
        present = {_plain(name) for name in names}
        found = {name: tuple(p for p in points if _plain(p) in present) for name, points in self.landmarks.items()}
        landmarks = {landmark: points for landmark, points in found.items() if points}
        for landmark in TRUNK:
            if landmark not in landmarks:
                asked = " or ".join(f'"{point}"' for point in self.landmarks.get(landmark, ())) or "a marker"
                raise CoreError(f'The file has no {asked} for the point "{landmark}" of the layout "{self.name}".')
        return replace(self, points=_all_points(landmarks), landmarks=landmarks)

    @cached_property
    def rows(self) -> tuple[Array, NDArray[np.bool_]]:
        """The matrix (M, K) from points to landmarks, and which landmarks the layout has (M,)."""
        number = {name: place for place, name in enumerate(self.points)}
        matrix = np.zeros((len(ALL_LANDMARKS if self.hands else LANDMARKS), len(self.points)))
        for landmark, names in self.landmarks.items():
            matrix[LANDMARK[landmark], [number[name] for name in names]] = 1.0 / len(names)
        for side, names in self.hands.items():
            for point, name in zip(HAND_POINTS[1:], names[1:], strict=True):
                row = matrix[ALL_LANDMARKS.index(f"{point}.{side}")]
                row[:] = matrix[LANDMARK[f"wrist.{side}"]]
                row[[number[name], number[names[0]]]] += 1.0, -1.0
            matrix[ALL_LANDMARKS.index(f"{HAND_POINTS[0]}.{side}")] = matrix[LANDMARK[f"wrist.{side}"]]
        return matrix, matrix.any(axis=1)

    @cached_property
    def used(self) -> NDArray[np.int64]:
        """Indices (k, M) of the points of each landmark."""
        return used_landmarks(self.rows[0] != 0.0)


def _all_points(landmarks: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(point for points in landmarks.values() for point in points))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _landmarks(left: str, right: str, **others: str) -> dict[str, tuple[str, ...]]:
    """Return landmarks of both sides, of the limbs and others; {} in the names of points is the tracker's side."""
    limbs = ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")
    own = {name: "{}" + (name.capitalize() if left == "L" else name) for name in limbs if name not in others}
    return {
        f"{landmark}.{side}": _words(names.replace("{}", word))
        for side, word in zip(SIDES, (left, right), strict=True)
        for landmark, names in (others | own).items()
    }


_NOSE: Final = {"nose": ("nose",)}
_MEDIAPIPE: Final = _words(
    "nose left_eye_inner left_eye left_eye_outer right_eye_inner right_eye right_eye_outer left_ear right_ear "
    "mouth_left mouth_right left_shoulder right_shoulder left_elbow right_elbow left_wrist right_wrist left_pinky "
    "right_pinky left_index right_index left_thumb right_thumb left_hip right_hip left_knee right_knee left_ankle "
    "right_ankle left_heel right_heel left_foot_index right_foot_index"
)
_MEDIAPIPE_LANDMARKS: Final = _NOSE | _landmarks(
    "left_", "right_", ear="{}ear", index="{}index", pinky="{}pinky", heel="{}heel", ball="{}foot_index"
)
_HAND: Final = ("wrist", *(re.sub("^(index|middle|ring)", r"\1_finger", point) for point in HAND_POINTS[1:]))
_LEFT, _RIGHT = (tuple(f"{side}_hand_{point}" for point in _HAND) for side in ("left", "right"))
_HANDS: Final[dict[str, tuple[str, ...]]] = dict(zip(SIDES, (_LEFT, _RIGHT), strict=True))
_COCO: Final = _words(
    "nose left_eye right_eye left_ear right_ear left_shoulder right_shoulder left_elbow right_elbow left_wrist "
    "right_wrist left_hip right_hip left_knee right_knee left_ankle right_ankle"
)
_RTMPOSE: Final = _COCO + _words("left_big_toe left_small_toe left_heel right_big_toe right_small_toe right_heel")
_H36M: Final = _words(
    "Pelvis RHip RKnee RAnkle LHip LKnee LAnkle Spine Thorax Nose Head LShoulder LElbow LWrist RShoulder RElbow RWrist"
)
_BODY25: Final = _words(
    "Nose Neck RShoulder RElbow RWrist LShoulder LElbow LWrist MidHip RHip RKnee RAnkle LHip LKnee LAnkle REye LEye "
    "REar LEar LBigToe LSmallToe LHeel RBigToe RSmallToe RHeel"
)
_BODY25_LANDMARKS: Final = _landmarks("L", "R", ear="{}Ear", heel="{}Heel", ball="{}BigToe {}SmallToe")
_SMPL: Final = _words(
    "pelvis left_hip right_hip spine1 left_knee right_knee spine2 left_ankle right_ankle spine3 left_foot right_foot "
    "neck left_collar right_collar head left_shoulder right_shoulder left_elbow right_elbow left_wrist right_wrist "
    "left_hand right_hand"
)
_CROWN: Final = {"crown": ("head",)}
# Vicon's Plug-in Gait, full body: markers on the skin, taken as the joints below them
_GAIT: Final = {"nose": ("LFHD", "RFHD")} | _landmarks(
    "L", "R", ear="{}FHD {}BHD", shoulder="{}SHO", elbow="{}ELB", wrist="{}WRA {}WRB", knuckle="{}FIN",
    hip="{}ASI {}PSI", knee="{}KNE", ankle="{}ANK", heel="{}HEE", ball="{}TOE",
)  # fmt: skip

_MARKED_HANDS: Final[dict[str, tuple[str, ...]]] = {
    side: tuple(f"{point}.{side}" for point in HAND_POINTS) for side in SIDES
}

LAYOUTS: Final[dict[str, Layout]] = {
    layout.name: layout
    for layout in (
        Layout("mediapipe", _MEDIAPIPE, _MEDIAPIPE_LANDMARKS, "m", "-Y"),
        Layout("coco17", _COCO, _NOSE | _landmarks("left_", "right_", ear="{}ear")),
        Layout("h36m17", _H36M, {"crown": ("Head",)} | _landmarks("L", "R")),
        Layout("body25", _BODY25, {"nose": ("Nose",)} | _BODY25_LANDMARKS),
        Layout("smpl22", _SMPL[:22], _CROWN | _landmarks("left_", "right_", ball="{}foot")),
        Layout("smpl24", _SMPL, _CROWN | _landmarks("left_", "right_", ball="{}foot", knuckle="{}hand")),
        Layout(MEDIAPIPE_HANDS, _MEDIAPIPE + _LEFT + _RIGHT, _MEDIAPIPE_LANDMARKS, "m", "-Y", hands=_HANDS),
        Layout(FREEMOCAP, _MEDIAPIPE, _MEDIAPIPE_LANDMARKS, "mm", "+Z"),
        Layout("plugin_gait", _all_points(_GAIT), _GAIT, markers=True),
        Layout(MARKS, LANDMARKS, {landmark: (landmark,) for landmark in LANDMARKS}),
        Layout(
            MARKS_HANDS,
            ALL_LANDMARKS,
            {landmark: (landmark,) for landmark in LANDMARKS},
            hands=_MARKED_HANDS,
        ),
    )
}

# FreeMoCap's arrays have the right hand before the left one, and the face after them
FREEMOCAP_HANDS: Final = Layout(
    FREEMOCAP, _MEDIAPIPE + _RIGHT + _LEFT, _MEDIAPIPE_LANDMARKS, "mm", "+Z", hands=_HANDS
)  # fmt: skip
# FreeMoCap with RTMPose, which has toes and no knuckles; recognised by the names of its points
_FREEMOCAP_RTMPOSE: Final = Layout(
    FREEMOCAP,
    _RTMPOSE,
    _NOSE | _landmarks("left_", "right_", ear="{}ear", heel="{}heel", ball="{}big_toe {}small_toe"),
    "mm",
    "+Z",
)


def find_layout(name: str | Layout) -> Layout:
    """Return the layout of that name, or the layout itself. Raises CoreError, listing the names, if there is none."""
    if isinstance(name, Layout):
        return name
    if name not in LAYOUTS:
        raise CoreError(f'There is no layout "{name}"; there are {", ".join(LAYOUTS)}.')
    return LAYOUTS[name]


def match_columns(layout: Layout, names: Sequence[str]) -> tuple[Layout, list[int]]:
    """Return the part of the layout that is among named columns, and the column of each point, -1 for none.

    Columns may be in any order, with others between them. Raises CoreError naming the first point that is missing, or
    there twice.
    """
    if layout.name == FREEMOCAP and not {*_RTMPOSE} - {*names}:
        layout = _FREEMOCAP_RTMPOSE
    layout = layout.among(names)
    plain = [_plain(name) for name in names]
    twice = next((point for point in layout.points if plain.count(_plain(point)) > 1), None)
    if twice is not None:
        raise CoreError(f'The point "{twice}" exists twice; a file must contain a single body.')
    found = {name: number for number, name in enumerate(plain)}
    needed = {*_all_points(layout.landmarks), *_all_points(layout.hands)}
    missing = next((point for point in layout.points if point in needed and _plain(point) not in found), None)
    if missing is not None:
        raise CoreError(f'The file has no point "{missing}" of the layout "{layout.name}".')
    return layout, [found.get(_plain(point), -1) for point in layout.points]


def _plain(name: str) -> str:
    """Return lower-case letters and digits, without the subject's name, which marker systems put before a colon."""
    return "".join(letter for letter in name.rpartition(":")[2].lower() if letter.isalnum())
