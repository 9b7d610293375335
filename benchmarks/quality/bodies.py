"""The humanoids of the quality benchmark, their limits, and the judge's own kinematics.

Nothing here calls a solver or core's arithmetic: a skeleton is read from JSON, gets limits by role, and is posed by a
forward kinematics of products of matrices. Lengths in the rig's own units, angles in radians.

Own rotations are Euler angles throughout: R = R_third R_second R_first in the order of the bone, Blender's convention
("XYZ" turns about X first: R = Rz Ry Rx). A bone's order is twist, side, flexion: the flexion, which is the widest and
turns last, is about the axis of the bone's frame that is nearest to the anatomical one.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..work import Array, load_rig, quaternion_matrices

Wish = tuple[int, bool, bool]  # bone, placed, turned
Wanted = tuple[str, bool, bool]  # role, placed, turned

BODIES: Final = Path(__file__).resolve().parent.parent / "data" / "bodies"
HUMAN_DIAGONAL: Final = 2.4  # of a 1.7 m human at rest: the size of a rig is its diagonal divided by this
KINDS: Final = ("rigify", "mpfb_mixamo", "named_unreal_apose", "kaykit")
SLACK: Final = 1e-9

# Degrees about (flexion, side, twist). Flexion swings a limb towards the figure's front (about along x front) and bends
# the trunk forwards (about its left); feet and toes turn down with it. Side is about the front axis, mirrored for the
# right. Twist is about the bone itself. Ranges are those of adults, rounded, from the rest pose, T or A; knees and
# elbows stop where they are straight. A joint of a spine or neck has its share of the whole.
RANGES: Final[dict[str, tuple[tuple[float, float], tuple[float, float], tuple[float, float]]]] = {
    "spine": ((-15.0, 30.0), (-20.0, 20.0), (-20.0, 20.0)),
    "neck": ((-25.0, 25.0), (-20.0, 20.0), (-35.0, 35.0)),
    "head": ((-25.0, 25.0), (-20.0, 20.0), (-35.0, 35.0)),
    "shoulder": ((-20.0, 20.0), (-10.0, 30.0), (-5.0, 5.0)),
    "upper_arm": ((-40.0, 120.0), (-80.0, 80.0), (-80.0, 80.0)),
    "forearm": ((0.0, 145.0), (-2.0, 2.0), (-80.0, 80.0)),
    "hand": ((-25.0, 25.0), (-70.0, 70.0), (-5.0, 5.0)),
    "thigh": ((-30.0, 120.0), (-30.0, 45.0), (-40.0, 40.0)),
    "shin": ((-145.0, 0.0), (-2.0, 2.0), (-10.0, 10.0)),
    "foot": ((-35.0, 35.0), (-20.0, 20.0), (-15.0, 15.0)),
    "toe": ((-30.0, 60.0), (-5.0, 5.0), (-5.0, 5.0)),
}
FINGER: Final = ((-5.0, 5.0), (-10.0, 90.0), (-5.0, 5.0))
RIGIFY_ROLES: Final[dict[str, Any]] = {
    "hips": "spine",
    "spine": ["spine.001", "spine.002", "spine.003"],
    "neck": ["spine.004", "spine.005"],
    "head": "spine.006",
    **{
        f"{part}.{side}": f"{part}.{side}"
        for side in "LR"
        for part in ("shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
    },
}
DIRECTIONS: Final = {sign + axis: (1.0 if sign == "+" else -1.0) * np.eye(3)["XYZ".index(axis)]
                     for sign in "+-" for axis in "XYZ"}  # fmt: skip


@dataclass(frozen=True)
class Body:
    """J bones, parents first. Limits are of the Euler angles by axis x, y, z, infinite where free."""

    name: str
    licence: str
    names: tuple[str, ...]
    parents: NDArray[np.int64]
    offsets: Array  # (J, 3) head in the parent's rest frame
    rest: Array  # (J, 3, 3) rest frame in the parent's
    lengths: Array  # (J,)
    orders: tuple[str, ...]
    lower: Array  # (J, 3)
    upper: Array  # (J, 3)
    roles: dict[str, str]  # those with one bone each

    def index(self, name: str) -> int:
        return self.names.index(name)

    @property
    def size(self) -> float:
        """1 for a 1.7 m human in metres."""
        identity = np.broadcast_to(np.eye(3), (1, len(self.names), 3, 3))
        heads, frames = forward(self, identity, np.zeros((1, 3)))
        points = np.concatenate([heads[0], heads[0] + frames[0, :, :, 1] * self.lengths[:, None]])
        return float(np.linalg.norm(np.ptp(points, axis=0))) / HUMAN_DIAGONAL


@cache
def load_body(kind: str) -> Body:
    if kind == "rigify":
        rig = load_rig("body")
        order = ("ZYX",) * len(rig.names)
        given = rig.names, rig.parents, rig.offsets, rig.rest, rig.lengths
        roles = {role: bone for role, bone in RIGIFY_ROLES.items() if isinstance(bone, str)}
        roles["chest"] = RIGIFY_ROLES["spine"][-1]
        licence = "GPL-2.0-or-later, the human metarig of Blender's Rigify"
        return Body(kind, licence, *given, order, rig.limits[..., 0], rig.limits[..., 1], roles)
    document = json.loads((BODIES / f"{kind}.json").read_text())
    bones: list[dict[str, Any]] = document["bones"]
    names = tuple(bone["name"] for bone in bones)
    turns = np.array([bone["rest"] for bone in bones])
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    single = {role: bone for role, bone in document["roles"].items() if isinstance(bone, str)}
    body = Body(
        name=kind,
        licence=document["licence"],
        names=names,
        parents=np.array([names.index(bone["parent"]) if bone["parent"] else -1 for bone in bones]),
        offsets=np.array([bone["offset"] for bone in bones]),
        rest=quaternion_matrices(turns),
        lengths=np.array([bone["length"] for bone in bones]),
        orders=("XYZ",) * len(names),
        lower=np.full((len(names), 3), -np.inf),
        upper=np.full((len(names), 3), np.inf),
        roles=single | {"chest": document["roles"]["spine"][-1]},
    )
    return _limited(body, document)


def _limited(body: Body, document: dict[str, Any]) -> Body:
    """The body with anatomical limits: every bone with a role but the hips, which are free; other bones stay free."""
    identity = np.broadcast_to(np.eye(3), (1, len(body.names), 3, 3))
    heads, frames = (array[0] for array in forward(body, identity, np.zeros((1, 3))))
    front = DIRECTIONS[document["facing"]]
    left = np.cross(DIRECTIONS[document["up"]], front)
    orders, lower, upper = list(body.orders), body.lower.copy(), body.upper.copy()
    for role, given in document["roles"].items():
        chain = given if isinstance(given, list) else [given]
        part, _, side = role.rpartition(".") if role[-2:] in (".L", ".R") else (role, "", "")
        ranges = RANGES.get(part, FINGER if side and isinstance(given, list) else None)
        if ranges is None:
            continue
        for name in chain:
            bone = body.index(name)
            children = [i for i in np.flatnonzero(body.parents == bone) if body.names[i] in _named(document)]
            tip = heads[children].mean(axis=0) if children else heads[bone] + frames[bone, :, 1] * body.lengths[bone]
            along = (tip - heads[bone]) / max(np.linalg.norm(tip - heads[bone]), SLACK)
            flexion = -left if part in ("foot", "toe") else np.cross(along, front)
            if part in ("spine", "neck", "head"):
                flexion = left
            sideways = front if side != "R" else -front
            wanted = np.stack([flexion, sideways, along])
            axes, signs = _nearest_axes(wanted @ frames[bone])
            orders[bone] = "".join("XYZ"[axis] for axis in axes[::-1])  # twist first, flexion last
            for axis, sign, (low, high) in zip(axes, signs, ranges, strict=True):
                bounds = np.radians(sorted((sign * low, sign * high)))
                lower[bone, axis], upper[bone, axis] = bounds
    return Body(**(vars(body) | {"orders": tuple(orders), "lower": lower, "upper": upper}))


def _named(document: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    for given in document["roles"].values():
        found.update(given if isinstance(given, list) else [given])
    return found


def _nearest_axes(directions: Array) -> tuple[list[int], list[float]]:
    """For each direction (3, 3), rows in a bone's frame, an axis of that frame and its sign; every axis once."""
    axes, signs = [-1, -1, -1], [1.0, 1.0, 1.0]
    left = np.abs(directions)
    for _ in range(3):
        row, axis = np.unravel_index(np.argmax(left), left.shape)
        axes[int(row)], signs[int(row)] = int(axis), float(np.sign(directions[row, axis])) or 1.0
        left[row], left[:, axis] = -1.0, -1.0
    return axes, signs


# -- kinematics --------------------------------------------------------------------------------------------------------


def forward(body: Body, rotations: Array, roots: Array) -> tuple[Array, Array]:
    """Heads (F, J, 3) and frames (F, J, 3, 3) of own rotations (F, J, 3, 3) and locations (F, 3) of bone 0."""
    heads, frames = np.empty((*rotations.shape[:2], 3)), np.empty_like(rotations)
    for bone, parent in enumerate(body.parents.tolist()):
        turned = body.rest[bone] @ rotations[:, bone]
        if parent < 0:
            shift = roots @ body.rest[bone].T if bone == 0 else 0.0
            heads[:, bone], frames[:, bone] = body.offsets[bone] + shift, turned
        else:
            heads[:, bone] = heads[:, parent] + frames[:, parent] @ body.offsets[bone]
            frames[:, bone] = frames[:, parent] @ turned
    return heads, frames


def axis_turn(axis: int, angle: Array) -> Array:
    """Rotations (..., 3, 3) about X, Y or Z."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    result = np.zeros((*np.shape(angle), 3, 3))
    cosine, sine = np.cos(angle), np.sin(angle)
    result[..., axis, axis] = 1.0
    result[..., i, i] = result[..., j, j] = cosine
    result[..., j, i], result[..., i, j] = sine, -sine
    return result


def from_angles(body: Body, angles: Array) -> Array:
    """Own rotations (..., J, 3, 3) of Euler angles (..., J, 3) by axis."""
    result = np.empty((*angles.shape, 3))
    for bone, order in enumerate(body.orders):
        first, second, third = ("XYZ".index(letter) for letter in order)
        turn = axis_turn(second, angles[..., bone, second]) @ axis_turn(first, angles[..., bone, first])
        result[..., bone, :, :] = axis_turn(third, angles[..., bone, third]) @ turn
    return result


def to_angles(body: Body, rotations: Array) -> tuple[Array, Array]:
    """Both triples of Euler angles (..., J, 3) by axis that give the own rotations; the second turns over."""
    one, two = np.empty(rotations.shape[:-1]), np.empty(rotations.shape[:-1])
    for bone, order in enumerate(body.orders):
        i, j, k = ("XYZ".index(letter) for letter in order)
        parity = 1.0 if (j - i) % 3 == 1 else -1.0
        m = rotations[..., bone, :, :]
        first = np.arctan2(parity * m[..., k, j], m[..., k, k])
        second = np.arcsin(np.clip(-parity * m[..., k, i], -1.0, 1.0))
        third = np.arctan2(parity * m[..., j, i], m[..., i, i])
        one[..., bone, i], one[..., bone, j], one[..., bone, k] = first, second, third
        two[..., bone, i], two[..., bone, j], two[..., bone, k] = first + np.pi, np.pi - second, third + np.pi
    return one, two


def beyond_limits(body: Body, rotations: Array) -> Array:
    """Radians (...) by which the worst angle of the worst bone is outside, read as the triple that is less so."""

    def outside(angles: Array) -> Array:
        bounded = np.isfinite(body.lower) & np.isfinite(body.upper)
        middle = 0.5 * (np.where(bounded, body.lower, 0.0) + np.where(bounded, body.upper, 0.0))
        angles = middle + (angles - middle + np.pi) % (2.0 * np.pi) - np.pi
        return np.maximum(np.maximum(body.lower - angles, angles - body.upper), 0.0).max(axis=-1)

    one, two = to_angles(body, rotations)
    return np.minimum(outside(one), outside(two)).max(axis=-1)


def chain(body: Body, bone: int) -> list[int]:
    """The bone and what it hangs on."""
    result: list[int] = []
    while bone >= 0:
        result.append(bone)
        bone = int(body.parents[bone])
    return result
