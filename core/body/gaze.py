"""Aim head and eyes at a target."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from .. import rotation
from ..causes import Cause, Kind
from ..defaults import POSITION_TOLERANCE
from ..goals import AnyGoal, LookAt
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Skeleton
from ..solution import Reasons, Solution
from .anatomy import anatomy
from .axes import canonical_frame, left_vector, unit
from .posture import rest_turn
from .roles import Roles

HEAD: Final = np.radians((80.0, 60.0))  # largest angles of neck and head together to the side and up or down
EYES: Final = np.radians((35.0, 25.0))  # of eyes
MISSED: Final = np.radians(0.5)  # largest error of a look that meets its target
_FORWARD: Final = np.array([0.0, 0.0, 1.0])  # in the canonical frame
_ROUNDS: Final = 8  # iterations: the head moves when the neck turns
_EYE_NAME: Final = ("eye", "眼", "目")
_NO_EYE: Final = ("brow", "lid", "lash", "target", "ik", "look", "ctrl", "master", "pole", "corner", "socket")


def look_at(skeleton: Skeleton, roles: Roles, pose: Pose, target: Array, head: float = 1.0, eyes: float = 1.0) -> Pose:
    """Return a pose (J) that looks at `target` (3,) in armature space: neck and head, without tilt, then the eyes.

    `head` and `eyes` are shares, 0 to 1, of the rotation to the target, which HEAD and EYES limit. Raises CoreError if
    there is no head.
    """
    last = roles.require("head")[0]
    axes = anatomy(skeleton, roles).axes
    chain = [*(bone for bone in roles.chain("neck") if bone in skeleton.ancestors(last)), last]
    pupils = find_eyes(skeleton, roles)
    rotations = np.array(pose.rotations)
    if head > 0.0:
        start = rotations[chain].copy()
        for _ in range(_ROUNDS):
            heads, turns = forward(skeleton, replace(pose, rotations=rotations))
            base = rotation.mul(turns[chain[0]], rotation.inv(rotations[chain[0]]))  # before the neck turns
            place = heads[pupils or [last]].mean(axis=0)
            turn = _towards(rotation.mul(base, axes[chain[0]]), target - place, HEAD)
            share = rotation.log(turn) / len(chain)
            wanted = rotation.exp(rotation.rotate(axes[chain], share))
            rotations[chain] = rotation.slerp(start, wanted, np.full(len(chain), head))
    if eyes > 0.0 and pupils:
        heads, turns = forward(skeleton, replace(pose, rotations=rotations))
        for eye in pupils:
            base = rotation.mul(turns[eye], rotation.inv(rotations[eye]))
            axis = _axes_of_eye(skeleton, roles, eye)
            turn = _towards(rotation.mul(base, axis), target - heads[eye], EYES)
            rotations[eye] = rotation.slerp(rotations[eye], rotation.conjugate(turn, axis), eyes)
    return replace(pose, rotations=rotations)


def gaze_at(
    skeleton: Skeleton, roles: Roles, pose: Pose, target: Array, head: float = 1.0, eyes: float = 1.0
) -> Pose | Solution:
    """Return `look_at` as a solution whose goals are those of the eyes, or of the head, with a share of 1.

    If neither has a share of 1, return the pose. Raises CoreError if there is no head.
    """
    found = look_at(skeleton, roles, pose, target, head, eyes)
    last, pupils = roles.require("head")[0], find_eyes(skeleton, roles)
    goals: list[LookAt] = []
    if pupils and eyes == 1.0:
        goals = [LookAt(eye, target, rotation.rotate(_axes_of_eye(skeleton, roles, eye), _FORWARD)) for eye in pupils]
    elif head == 1.0:
        heads, axes = skeleton.rest_matrices[:, :, 3], anatomy(skeleton, roles).axes[last]
        between = heads[pupils or [last]].mean(axis=0) - heads[last]
        place = rotation.rotate(rotation.inv(rest_turn(skeleton, last)), between)
        goals = [LookAt(last, target, rotation.rotate(axes, _FORWARD), place)]
    if not goals:
        return found
    past = np.array([gaze_error(goal, skeleton, found) for goal in goals])
    return Solution(
        skeleton, tuple(goals), found, np.zeros(len(goals)), past, np.array(1), np.array((past <= MISSED).all()),
        POSITION_TOLERANCE * skeleton.size, MISSED, pose, np.zeros(len(skeleton), bool), _Reach(),
    )  # fmt: skip


def gaze_error(goal: LookAt, skeleton: Skeleton, pose: Pose) -> float:
    """Return the angle, radians, between a goal's axis and its target in armature space, in one pose (J)."""
    heads, turns = forward(skeleton, pose)
    bone = skeleton.index(goal.bone)
    axis, point = rotation.rotate(turns[bone], np.array([goal.axis, goal.point]))
    wanted = np.asarray(goal.target) - heads[bone] - point
    return float(np.arctan2(np.linalg.norm(np.cross(axis, wanted)), axis @ wanted))


@dataclass(frozen=True)
class _Reach:
    """The `Solution.method` of a look: explains which limit the target is beyond."""

    def explain(self, skeleton: Skeleton, pose: Pose, goals: tuple[AnyGoal, ...]) -> Reasons:
        """Return what tells why a goal is missed."""
        return partial(self._reasons, skeleton, pose, goals)

    def _reasons(self, skeleton: Skeleton, pose: Pose, goals: tuple[AnyGoal, ...], index: int) -> list[Cause]:
        goal = goals[index]
        if not isinstance(goal, LookAt) or gaze_error(goal, skeleton, pose) <= MISSED:
            return []
        aside, above = np.degrees(HEAD)
        return [Cause(Kind.GAZE, "", f"{aside:.0f}", f"{above:.0f}")]


def find_eyes(skeleton: Skeleton, roles: Roles) -> list[int]:
    """Return the eyeballs: descendants of the head that are called eyes, of several on a side the first.

    Raises CoreError if there is no head.
    """
    head = roles.require("head")[0]
    left = left_vector(roles.up, roles.facing)
    found: dict[bool, int] = {}
    middle = skeleton.rest_matrices[head, :, 3]
    for bone, name in enumerate(skeleton.names):
        if is_eye(name) and bone != head and head in skeleton.ancestors(bone):
            found.setdefault(bool((skeleton.rest_matrices[bone, :, 3] - middle) @ left > 0.0), bone)
    return sorted(found.values())


def is_eye(name: str) -> bool:
    """Return whether a bone's name is that of an eyeball."""
    called = name.lower()
    return any(word in called for word in _EYE_NAME) and not any(word in called for word in _NO_EYE)


def _axes_of_eye(skeleton: Skeleton, roles: Roles, eye: int) -> Array:
    """Return the canonical frame (4,) in the frame of an eye."""
    return rotation.mul(rotation.inv(rest_turn(skeleton, eye)), canonical_frame(roles.up, roles.facing))


def _towards(frame: Array, direction: Array, most: Array) -> Array:
    """Return the rotation (4,) in a canonical frame (4,) of armature space to a direction (3,): aside, then up.

    `most` (2,) are the largest angles aside and up, radians.
    """
    x, y, z = unit(rotation.rotate(rotation.inv(frame), direction))
    aside = np.clip(np.arctan2(x, z), -most[0], most[0])
    above = np.clip(np.arctan2(y, np.hypot(x, z)), -most[1], most[1])
    yaw, pitch = rotation.exp(np.array([[0.0, aside, 0.0], [-above, 0.0, 0.0]]))
    return rotation.mul(yaw, pitch)
