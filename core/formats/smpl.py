"""Motions of the body models SMPL, SMPL+H and SMPL-X: arrays in an .npz file, as AMASS and video mocap write them.

A file has turns of joints relative to their parents, as rotation vectors in radians or as matrices: all in one array
(`poses`), or by parts (`global_orient` or `root_orient`, `body_pose` or `pose_body`, hands), and the way of the root.
The rest pose is a T-pose that faces +Z, with +Y up and +X to the left. Names, parents and order of the joints are those
of the models' papers (Loper et al. 2015, Romero et al. 2017, Pavlakos et al. 2019). Proportions without a body model
are Poise's own, after Drillis and Contini (1966); a body model that the user has brings the subject's.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from .. import rotation
from ..body.axes import MIRROR_VECTOR, axis_vector, nearest_axis
from ..errors import CoreError
from ..keypoints.recordings import COORDINATE_LIMIT, DEFAULT_RATE, check_fps
from ..motion import Motion
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Indices, Skeleton
from ..sources import read_archive
from .table import FRAME_LIMIT

_UP: Final = (0.0, 1.0, 0.0)
# Joint of the middle or the left side -> its parent, and its place in the T-pose of a body of 1.7 m
_BODY: Final = {
    "pelvis": ("", (0.0, 0.95, 0.0)), "spine1": ("pelvis", (0.0, 1.05, -0.01)), "spine2": ("spine1", (0.0, 1.18, 0.0)),
    "spine3": ("spine2", (0.0, 1.24, 0.0)), "neck": ("spine3", (0.0, 1.45, -0.02)), "head": ("neck", (0.0, 1.53, 0.02)),
    "hip": ("pelvis", (0.09, 0.90, 0.0)), "knee": ("hip", (0.12, 0.49, 0.0)), "ankle": ("knee", (0.12, 0.07, -0.03)),
    "foot": ("ankle", (0.14, 0.02, 0.09)), "collar": ("spine3", (0.06, 1.37, -0.01)),
    "shoulder": ("collar", (0.18, 1.39, -0.02)), "elbow": ("shoulder", (0.46, 1.36, -0.04)),
    "wrist": ("elbow", (0.71, 1.36, -0.04)),
}  # fmt: skip
_FINGERS: Final = {  # its joints from the knuckle outwards
    "index": ((0.81, 1.36, -0.01), (0.84, 1.36, -0.01), (0.865, 1.36, -0.01)),
    "middle": ((0.815, 1.36, -0.035), (0.85, 1.36, -0.035), (0.88, 1.36, -0.035)),
    "pinky": ((0.795, 1.35, -0.075), (0.82, 1.35, -0.075), (0.84, 1.35, -0.075)),
    "ring": ((0.81, 1.36, -0.055), (0.84, 1.36, -0.055), (0.87, 1.36, -0.055)),
    "thumb": ((0.735, 1.34, -0.01), (0.765, 1.34, 0.015), (0.79, 1.34, 0.03)),
}
_JOINTS: Final = _BODY | {
    f"{finger}{n + 1}": (f"{finger}{n}" if n else "wrist", place)
    for finger, places in _FINGERS.items()
    for n, place in enumerate(places)
}
_TIPS: Final = {"head": (0.0, 0.17, 0.02), "foot": (0.01, -0.01, 0.07), "wrist": (0.18, 0.0, 0.0)}  # beyond the joint
_FINGERTIP: Final = (0.025, 0.0, 0.0)
_ORDER: Final = (
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle", "right_ankle",
    "spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head", "left_shoulder",
    "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist",
)  # fmt: skip
_HANDS: Final = tuple(f"{side}_{finger}{n}" for side in ("left", "right") for finger in _FINGERS for n in (1, 2, 3))
_OTHERS: Final = {22: 0, 24: 2, 52: 0, 55: 3}  # joints -> those after the body that are left out: hands of SMPL, face

_WHOLE: Final = ("pose_world", "poses", "fullpose", "full_pose", "smpl_poses", "pose")
_ROOT: Final = ("global_orient", "root_orient")
_TRUNK: Final = ("body_pose", "pose_body")
_BOTH_HANDS: Final = ("pose_hand", "hand_pose")
_EACH_HAND: Final = ("left_hand_pose", "right_hand_pose")
_WAYS: Final = ("trans_world", "transl", "trans", "smpl_trans")
_SHAPES: Final = ("betas",)
_RATES: Final = ("mocap_framerate", "mocap_frame_rate", "frame_rate", "fps")
_USED: Final = {*_WHOLE, *_ROOT, *_TRUNK, *_BOTH_HANDS, *_EACH_HAND, *_WAYS, *_SHAPES, *_RATES}
_MODEL: Final = ("J_regressor", "v_template", "shapedirs")
_LARGEST_TURN: Final = 8.0 * np.pi  # radians; larger ones are degrees
_LARGEST_ELEMENT: Final = 1.1  # of a matrix of rotation
_FASTEST: Final = 60.0  # metres a second; nobody falls faster, so that the way is in centimetres or millimetres

_Arrays = Mapping[str, Array]


def read_smpl(
    data: bytes, up: str | None = None, model: _Arrays | None = None, unit: float = 1.0
) -> tuple[Skeleton, Motion, Mapping[str, Array]]:
    """Return the joints and the motion of a file, with +Y up, and the tips of joints without children, beyond them.

    `up`: the axis of the file that is up, such as "+Z"; by default the one along which the body mostly stands. `model`:
    see `read_model`. `unit`: that of the way of the root, metres. Raises CoreError if the file has no such motion.
    """
    arrays = read_archive(data, _USED, (*_WHOLE, *_ROOT))
    turns = _all_turns(arrays)
    count = turns.shape[1]
    names = (*_ORDER, *_HANDS)[:count]
    parents, places, tips = _neutral(names)
    if model is not None:
        places = _joints_of(model, arrays, count)
    way = _first(arrays, _WAYS)
    steps = np.zeros((len(turns), 3)) if way is None else _numbers(way, arrays[way], COORDINATE_LIMIT)
    if steps.size != 3 * len(turns) or steps.shape[-1] != 3:
        raise CoreError(f'"{way}" has the shape {steps.shape}; it needs x, y and z for each of {len(turns)} frames.')
    steps = unit * steps.reshape(-1, 3)
    axis = up or nearest_axis(np.median(rotation.rotate(turns[:, 0], _UP), axis=0))
    upright = _upright(axis)
    turns[:, 0] = rotation.mul(upright, turns[:, 0])
    shifts = np.zeros((len(turns), count, 3))
    shifts[:, 0] = rotation.rotate(upright, steps)
    rate = _first(arrays, _RATES)
    fps = DEFAULT_RATE if rate is None else check_fps(arrays[rate], rate) or DEFAULT_RATE
    speed = fps * float(np.median(rotation.lengths(np.diff(steps, axis=0)))) if len(steps) > 1 else 0.0
    if speed > _FASTEST:
        raise CoreError(f'"{way}" moves the body by {speed:.0f} meters per second. Choose another unit (--unit).')
    offsets = places - np.where(parents[:, None] < 0, 0.0, places[parents])
    skeleton = Skeleton(names, parents, offsets, np.tile(rotation.IDENTITY, (count, 1)), np.ones(count))
    return skeleton, Motion(Pose(turns, shifts), np.arange(len(turns), dtype=float), fps), tips


def _all_turns(arrays: _Arrays) -> Array:
    """Return the turns (F, J, 4) of the body, and of the hands if the file has them."""
    whole, root = _first(arrays, _WHOLE), _first(arrays, _ROOT)
    if whole is not None:
        frames = len(arrays[whole]) if arrays[whole].ndim > 1 else 1
        turns = _turns(arrays, whole, frames, tuple(_OTHERS))
        others = np.arange(_OTHERS[turns.shape[1]]) + len(_ORDER)
        return np.delete(turns, others, axis=1)
    assert root is not None
    frames = arrays[root].size // (9 if _is_matrices(arrays[root]) else 3)
    still = np.tile(rotation.IDENTITY, (frames, len(_HANDS), 1))
    trunk, both = _first(arrays, _TRUNK), _first(arrays, _BOTH_HANDS)
    parts = [_turns(arrays, root, frames, (1,)), still[:, : len(_ORDER) - 1]]
    if trunk is not None:
        parts[1] = _turns(arrays, trunk, frames, (21, 23))[:, : len(_ORDER) - 1]
    if both is not None:
        parts.append(_turns(arrays, both, frames, (30,)))
    elif _first(arrays, _EACH_HAND) is not None:
        parts += [_turns(arrays, one, frames, (15,)) if one in arrays else still[:, :15] for one in _EACH_HAND]
    return np.concatenate(parts, axis=1)


def _turns(arrays: _Arrays, name: str, frames: int, joints: tuple[int, ...]) -> Array:
    """Return an array's turns (F, J, 4), J one of `joints`; raises CoreError if it has others."""
    array = arrays[name]
    matrices = _is_matrices(array)
    width = 9 if matrices else 3
    if not 0 < frames <= FRAME_LIMIT or array.size not in [frames * count * width for count in joints]:
        wanted = " or ".join(str(count * width) for count in joints)
        raise CoreError(f'"{name}" has the shape {array.shape}; it needs {wanted} numbers for each of {frames} frames.')
    numbers = _numbers(name, array, _LARGEST_ELEMENT if matrices else _LARGEST_TURN)
    if matrices:
        return rotation.from_matrix(rotation.nearest_rotation(numbers.reshape(frames, -1, 3, 3)))
    return rotation.exp(numbers.reshape(frames, -1, 3))


def _is_matrices(array: Array) -> bool:
    return array.ndim > 2 and array.shape[-2:] == (3, 3)


def _numbers(name: str, array: Array, most: float) -> Array:
    """Return an array as numbers; raises CoreError if there are others, or larger ones than `most`."""
    if array.dtype.kind not in "fiu" or not array.size:
        raise CoreError(f'"{name}" is not an array of numbers.')
    with np.errstate(invalid="ignore", over="ignore"):  # NaN of other kinds, and numbers that double precision lacks
        numbers = array.astype(float)
    if not np.isfinite(numbers).all():
        raise CoreError(f'"{name}" contains numbers that are not finite.')
    if not (np.abs(numbers) <= most).all():
        raise CoreError(f'"{name}" contains numbers outside of {-most:.4g} to {most:.4g}.')
    return numbers


def _first(arrays: _Arrays, names: tuple[str, ...]) -> str | None:
    """Return the first of some names that an array has."""
    return next((name for name in names if name in arrays), None)


def _upright(axis: str) -> Array:
    """Return the rotation (4,) that turns an axis up: about X if it can be, so that who faces a camera faces +Z."""
    vector = axis_vector(axis)
    if axis[1] == "X":
        return rotation.shortest(vector, _UP)
    return rotation.exp((-np.arctan2(vector[2], vector[1]), 0.0, 0.0))


def _neutral(names: tuple[str, ...]) -> tuple[Indices, Array, dict[str, Array]]:
    """Return parents (J,) and places (J, 3) of joints in Poise's own proportions, and tips beyond joints, by name."""
    parents = np.full(len(names), -1)
    places, tips = np.empty((len(names), 3)), dict[str, Array]()
    for number, name in enumerate(names):
        side, _, plain = name.rpartition("_")
        above, place = _JOINTS[plain]
        mirror = MIRROR_VECTOR if side == "right" else np.ones(3)
        places[number] = mirror * place
        tips[name] = mirror * _TIPS.get(plain, _FINGERTIP)
        if above:
            parents[number] = names.index(above if above in names else f"{side}_{above}")
    return parents, places, tips


def read_model(data: bytes) -> _Arrays:
    """Return what a body model as .npz has for joints. Raises CoreError if it is none."""
    return read_archive(data, _MODEL, _MODEL[:1])


def lacks_rate(data: bytes) -> bool:
    """Return whether a file that `read_smpl` reads has no frame rate, so that it is 30 frames per second."""
    return _first(read_archive(data, _RATES, (*_WHOLE, *_ROOT)), _RATES) is None


def _joints_of(body: _Arrays, arrays: _Arrays, count: int) -> Array:
    """Return the joints (J, 3) of a body model in the file's shape; raises CoreError if it has others."""
    try:
        regressor, vertices = (_numbers(name, body[name], COORDINATE_LIMIT) for name in _MODEL[:2])
        betas = _first(arrays, _SHAPES)
        if betas is not None:
            shape = _numbers(betas, arrays[betas], COORDINATE_LIMIT).reshape(-1, arrays[betas].shape[-1]).mean(axis=0)
            shapes = _numbers(_MODEL[2], body[_MODEL[2]][..., : len(shape)], COORDINATE_LIMIT)
            vertices = vertices + shapes @ shape[: shapes.shape[-1]]
        joints = regressor @ vertices
        hands = joints[len(joints) - count + len(_ORDER) :]
        return np.concatenate([joints[: len(_ORDER)], hands]).reshape(count, 3)
    except CoreError:
        raise
    except (KeyError, ValueError, IndexError):
        raise CoreError(f"The body model has no {', '.join(_MODEL)} for a body with {count} joints.") from None
