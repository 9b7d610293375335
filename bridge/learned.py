"""Store learnt data with pose bones as JSON: limits (`poise_learned`) and stiffness (`poise_tuning`)."""

import json
from collections.abc import Collection
from typing import Any, Final

import numpy as np

from ..core import CoreError, Polygon, Skeleton, SwingPolygon, rotation
from ..core.body.anatomy import Tuning
from ..core.limits.swing import from_swing_twist
from ..core.rotation import Array
from .errors import BridgeError

_DIGITS: Final = 5
_LINK: Final = np.array([0.0, 1.0, 0.0])
_SPOKE: Final = 4  # corners between two lines to the joint


def write_learned(bone: Any, polygon: Polygon | None) -> None:
    """Store a polygon (a centre and the corners around it) with a pose bone; None removes it."""
    if polygon is None:
        bone.poise_learned = ""
        return
    rows = np.column_stack([polygon.vertices, polygon.lower, polygon.upper])
    bone.poise_learned = json.dumps(np.round(rows, _DIGITS).tolist())


def read_learned(bone: Any) -> Polygon:
    """Return the polygon stored with a pose bone. Raises BridgeError if it is damaged."""
    try:
        rows = np.array(json.loads(bone.poise_learned), float)
        around = np.arange(1, len(rows))
        fan = np.stack([np.zeros(len(around), int), around, np.roll(around, -1)], axis=1)
        return Polygon(rows[:, :2], fan, rows[:, 2], rows[:, 3])
    except (ValueError, IndexError, TypeError, CoreError) as error:
        raise BridgeError(f'The learned limits of "{bone.name}" are damaged; learn them again.') from error


def learned_limits(bones: Any, limited: Collection[int]) -> list[SwingPolygon]:
    """Return the learnt limits of all pose bones that have some and that the user has not `limited` in Blender."""
    kept = [number for number, bone in enumerate(bones) if bone.poise_learned and number not in limited]
    return [SwingPolygon(kept, [read_learned(bones[number]) for number in kept])] if kept else []


def learned_cone(bone: Any, world: Array) -> list[Array]:
    """Return world lines (n, 3) that show the directions a pose bone may take: the outline at its tail, and spokes."""
    polygon = read_learned(bone)
    corners = polygon.vertices[1:]
    matrix, basis = np.array(bone.matrix, float), np.array(bone.matrix_basis, float)
    base = rotation.mul(rotation.from_matrix(rotation.nearest_rotation(matrix[:3, :3])),
                        rotation.inv(rotation.from_matrix(rotation.nearest_rotation(basis[:3, :3]))))  # fmt: skip
    ways = rotation.rotate(rotation.mul(base, from_swing_twist(corners, np.zeros(len(corners)))), _LINK)
    tips = matrix[:3, 3] + bone.length * ways
    lines = [np.concatenate([tips, tips[:1]]), *(np.stack([matrix[:3, 3], tip]) for tip in tips[::_SPOKE])]
    return [line @ world[:3, :3].T + world[:3, 3] for line in lines]


def write_tuning(armature: Any, skeleton: Skeleton, tuning: Tuning) -> None:
    """Replace the tuning that is stored with the pose bones; `skeleton` is the rig's or the body's own."""
    forget_tuning(armature)
    rows = np.round(np.concatenate([tuning.turns, tuning.deviations], axis=1), _DIGITS).tolist()
    for bone in np.flatnonzero(tuning.learned).tolist():
        armature.pose.bones[skeleton.names[bone]].poise_tuning = json.dumps(rows[bone])


def forget_tuning(armature: Any) -> int:
    """Remove the stored tuning; return the number of bones that had some."""
    learnt = [bone for bone in armature.pose.bones if bone.poise_tuning]
    for bone in learnt:
        bone.poise_tuning = ""
    return len(learnt)


def read_tuning(armature: Any, skeleton: Skeleton) -> Tuning | None:
    """Return the tuning stored with the bones of a skeleton, or None. Raises BridgeError if it is damaged."""
    bones = armature.pose.bones
    kept = {place: text for place, name in enumerate(skeleton.names) if (text := bones[name].poise_tuning)}
    if not kept:
        return None
    rows = np.tile([*rotation.IDENTITY, 0.0, 0.0, 0.0], (len(skeleton), 1))
    for place, text in kept.items():
        try:
            row = np.array(json.loads(text), float)
            if row.shape != (rows.shape[1],) or not np.isfinite(row).all() or not row[:4].any() or row[4:].min() <= 0.0:
                raise ValueError
        except (ValueError, TypeError) as error:
            name = skeleton.names[place]
            raise BridgeError(f'The learnt stiffness of "{name}" is damaged; learn it again.') from error
        rows[place] = row
    return Tuning(np.isin(np.arange(len(skeleton)), list(kept)), rotation.normalize(rows[:, :4]), rows[:, 4:])
