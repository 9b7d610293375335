"""A pose by parts as JSON, on the clipboard: `{"version": 1, "turns": {"hips": [[1, 0, 0, 0]]}, "posed": []}`."""

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..body.roles import ROLES
from ..editing.part_pose import PartPose
from ..errors import CoreError
from ..rotation import Array, lengths
from ..sources import MEGABYTE, check_size, parse_json
from .files import read_json, without_twins
from .table import NAME, THE_VERSION, VERSION, Field, Table, list_of, number, object_of, shown, vector

_DIGITS: Final = 6
_LIMBS: Final = r"tail|jaw|(ear|wing|(arm|leg)(\.(front|hind|upper|lower|[0-9]{1,3}))?)\.[LR]"  # of animals
_PARTS: Final = "|".join((*map(re.escape, ROLES), _LIMBS))
_MOST: Final = 256  # bones of one part
_UNIT: Final = 1e-3  # difference of a quaternion's length from 1 that rounding may leave


def _turns(rows: Any, where: str) -> Array:
    turns = np.array(rows, float)
    size = lengths(turns)
    if np.any(np.abs(size - 1.0) > _UNIT):
        raise CoreError(f"{where}: needs unit quaternions.")
    return turns / size[:, None]


_QUATERNIONS: Final = list_of(vector(4, number(-1.0, 1.0)), "needs a quaternion.", _MOST).then(_turns)


def _part(name: str, where: str) -> str:
    if not re.fullmatch(_PARTS, name):
        near = get_close_matches(name, ROLES, 1)
        raise CoreError(
            f"{where}: {shown(name)} is not a part of a body" + (f'; did you mean "{near[0]}"?' if near else ".")
        )
    return name


def _turned(turns: Mapping[str, Array], where: str) -> Mapping[str, Array]:
    if "hips" not in turns:
        raise CoreError(f"{where}.hips: missing.")
    return turns


_PART: Final = NAME.then(_part, pattern=f"^({_PARTS})$")


PART_POSE: Final = Table(
    (
        Field("version", THE_VERSION, "of the format", needed="missing."),
        Field("turns", object_of(_QUATERNIONS, "an object of parts of a body", _PART).then(_turned, required=["hips"]),
              "rotations of the bones of each part from a T-pose, of an animal from its rest pose: "
              "quaternions w, x, y, z about the left, up and front of the body", needed="missing."),
        Field("posed", list_of(_PART).into(frozenset),
              "parts to pose; the others are there for what these are relative to", needed="missing."),
        Field("legs", object_of(list_of(number(), "needs a number.", _MOST).into(np.array), "an object of legs", _PART),
              "of an animal: heights of the middles of the bones of each leg at rest, as shares of that of "
              "the spine"),
    ),
    PartPose,
)  # fmt: skip


_POSE: Final = PART_POSE.into()


def pose_text(pose: PartPose) -> str:
    """Return a pose as JSON text."""
    turns = {role: np.round(some, _DIGITS).tolist() for role, some in pose.turns.items()}
    legs = {leg: np.round(places, _DIGITS).tolist() for leg, places in pose.legs.items()}
    return json.dumps({"version": VERSION, "turns": turns, "posed": sorted(pose.posed), "legs": legs})


def parse_pose(text: str) -> PartPose:
    """Return the pose of JSON text of a stranger; raises CoreError if it is none."""
    try:
        check_size(len(text), MEGABYTE)
        data = parse_json(text, without_twins)
        if not isinstance(data, dict):
            raise CoreError("it is not an object in braces.")
        return _POSE.read(data, "")
    except CoreError:
        raise
    except ValueError as error:
        raise CoreError("it is not JSON.") from error


def read_pose_file(path: Path) -> PartPose:
    """Return the pose in a file; raises CoreError, beginning with the file's name, if it is none."""
    return read_json(path, "pose", lambda data: _POSE.read(data, ""))
