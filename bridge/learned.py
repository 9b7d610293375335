"""Store learned data with pose bones as JSON: limits (`poise_learned`) and stiffness (`poise_tuning`)."""

import json
from collections.abc import Collection
from typing import Any, Final

import numpy as np

from ..core import CoreError, Polygon, Skeleton, SwingPolygon, rotation
from ..core.body.anatomy import Tuning
from ..core.formats.limits import polygon_of, rows_of
from ..core.rotation import Array
from .errors import BridgeError

_DIGITS: Final = 5
_TURN: Final = 4  # numbers of a usual turn, before those of deviations
_TIES: Final = 7  # numbers before the ties


def write_learned(bone: Any, polygon: Polygon | None) -> None:
    """Store a polygon (a centre and the corners around it) with a pose bone; None removes it."""
    if polygon is None:
        bone.poise_learned = ""
        return
    bone.poise_learned = json.dumps(rows_of(polygon))


def read_learned(bone: Any) -> Polygon:
    """Return the polygon stored with a pose bone. Raises BridgeError if it is damaged."""
    try:
        return polygon_of(np.array(json.loads(bone.poise_learned), float))
    except (ValueError, IndexError, TypeError, CoreError) as error:
        raise BridgeError(f'The learned limits of "{bone.name}" are damaged. Learn them again.') from error


def learned_limits(bones: Any, limited: Collection[int]) -> list[SwingPolygon]:
    """Return the learned limits of all pose bones that have some and that the user has not `limited` in Blender."""
    kept = [number for number, bone in enumerate(bones) if bone.poise_learned and number not in limited]
    return [SwingPolygon(kept, [read_learned(bones[number]) for number in kept])] if kept else []


def write_tuning(armature: Any, skeleton: Skeleton, tuning: Tuning) -> None:
    """Replace the tuning that is stored with the pose bones; `skeleton` is the rig's or the body's own."""
    forget_tuning(armature)
    ties = (
        np.zeros((len(skeleton), 0)) if tuning.ties is None else tuning.ties.swapaxes(1, 2).reshape(len(skeleton), -1)
    )
    rows = np.round(np.concatenate([tuning.turns, tuning.deviations, ties], axis=1), _DIGITS).tolist()
    for bone in np.flatnonzero(tuning.learned).tolist():
        armature.pose.bones[skeleton.names[bone]].poise_tuning = json.dumps(rows[bone])


def forget_tuning(armature: Any) -> int:
    """Remove the stored tuning; return the number of bones that had some."""
    learned = [bone for bone in armature.pose.bones if bone.poise_tuning]
    for bone in learned:
        bone.poise_tuning = ""
    return len(learned)


def read_tuning(armature: Any, skeleton: Skeleton) -> Tuning | None:
    """Return the tuning stored with the bones of a skeleton, or None. Raises BridgeError if it is damaged."""
    bones = armature.pose.bones
    kept = {place: text for place, name in enumerate(skeleton.names) if (text := bones[name].poise_tuning)}
    if not kept:
        return None
    count = len(skeleton)
    found: dict[int, Array] = {}
    for place, text in kept.items():
        try:
            found[place] = _tuned(json.loads(text))
        except (ValueError, TypeError) as error:
            name = skeleton.names[place]
            raise BridgeError(f'The learned stiffness of "{name}" is damaged. Learn it again.') from error
    width = max(len(row) for row in found.values())
    rows = np.tile([*rotation.IDENTITY, *np.zeros(width - _TURN)], (count, 1))
    for place, row in found.items():
        rows[place, : len(row)] = row
    ties = rows[:, _TIES:].reshape(count, -1, 3).swapaxes(1, 2) if width > _TIES else None  # older files have none
    told = np.isin(np.arange(count), list(kept))
    return Tuning(told, rotation.normalize(rows[:, :_TURN]), rows[:, _TURN:_TIES], ties=ties)


def _tuned(numbers: Any) -> Array:
    """Return a usual turn (4), deviations (3) and ties (k 3) of one bone. Raises ValueError or TypeError if damaged."""
    row = np.array(numbers, float)
    if row.ndim != 1 or len(row) < _TIES or len(row[_TIES:]) % 3 or not np.isfinite(row).all():
        raise ValueError
    lengths = np.linalg.norm(row[_TIES:].reshape(-1, 3), axis=0)
    if not row[:_TURN].any() or row[_TURN:_TIES].min() <= 0.0 or lengths.max() > 1.0:
        raise ValueError
    return row
