"""Targets of goals: their check when they change, and the paths that velocities give."""

from dataclasses import replace

import numpy as np

from .... import rotation
from ....defaults import UNIT_LENGTH
from ....errors import CoreError
from ....goals import LARGEST, AnyGoal, Goal
from ....pose import Pose, forward
from ....rotation import Array, lengths
from ....skeleton import Skeleton
from ...batches import flat_array


def check_replacement(skeleton: Skeleton, before: AnyGoal, goal: AnyGoal, index: int) -> None:
    """Raise CoreError if `goal` differs from `before`, goal `index`, in more than targets and weights."""
    if type(goal) is not type(before):
        raise CoreError(f'The goal of "{before.bone}" must still be a {type(before).__name__}.')
    for name in ("bone", "other", "relative_to"):
        old, new = getattr(before, name, None), getattr(goal, name, None)
        named = [None if bone is None else skeleton.index(bone) for bone in (old, new)]
        if named[0] != named[1]:
            raise CoreError(f'Goal {index} is for "{before.bone}". Use `with_goals` for other bones.')
    for name in ("position", "rotation", "position_axes", "rotation_axes", "axes"):
        if (getattr(before, name, None) is None) != (getattr(goal, name, None) is None):
            name = name if name.endswith("axes") else f"a {name}"
            raise CoreError(f'The goal of "{before.bone}" must be with or without {name} as before.')
    for name in ("priority", "point", "axis", "bound", "supports", "masses", "up", "radius"):
        if not np.array_equal(getattr(before, name, 0), getattr(goal, name, 0)):
            raise CoreError(f'The {name} of the goal of "{before.bone}" cannot change. Use `with_goals` instead.')


def checked_target(goal: AnyGoal, name: str, target: Array, size: int) -> Array:
    """Return a "position" (..., 3) or "rotation" (..., 4) of a goal as an array. Raises CoreError if it is none."""
    if getattr(goal, name, None) is None:
        raise CoreError(f'The goal of "{goal.bone}" has no {name} to move.')
    try:
        array = np.asarray(target, float)
    except (TypeError, ValueError):
        raise CoreError(f'The {name} of the goal of "{goal.bone}" needs numbers.') from None
    if array.shape[-1:] != (size,):
        raise CoreError(f'The {name} of the goal of "{goal.bone}" needs {size} numbers.')
    if not (np.abs(array) <= LARGEST).all():
        raise CoreError(f'The target of "{goal.bone}" is not a finite number.')
    if size == 4 and (np.abs(lengths(array) - 1.0) > UNIT_LENGTH).any():
        raise CoreError(f'The rotation of the goal of "{goal.bone}" is not a unit quaternion.')
    return array


def with_start(
    goal: AnyGoal, skeleton: Skeleton, pose: Pose, batch_shape: tuple[int, ...], step: float | None
) -> AnyGoal:
    """Return the goal with the targets that its velocities imply, by frame of `batch_shape`.

    A goal with velocities but without a target starts from its bone in `pose` (B frames). In a motion, whose frames are
    `step` seconds apart, its targets go on from there at that velocity; step None: the frames are no motion. Raises
    CoreError for a goal relative to another bone without a target.
    """
    if not isinstance(goal, Goal):
        return goal
    here, turn = goal.position, goal.rotation
    # a single target for all frames of a motion is its start; targets by frame already say how it moves
    moves = goal.velocity is not None and (here is None or (step is not None and here.ndim == 1))
    turns = goal.angular_velocity is not None and (turn is None or (step is not None and turn.ndim == 1))
    if not (moves or turns):
        return goal
    if goal.relative_to is not None and ((moves and here is None) or (turns and turn is None)):
        raise CoreError(f'The goal of "{goal.bone}" relative to another bone cannot have only a velocity.')
    heads, frames = forward(skeleton, pose)
    bone = skeleton.index(goal.bone)
    if moves:
        places = heads[:, bone] + rotation.rotate(frames[:, bone], goal.point)
        places = places if here is None else flat_array(here, batch_shape)
        if step is not None:
            moved = step * flat_array(goal.velocity, batch_shape)  # pyright: ignore
            places = places[0] + np.cumsum(moved, axis=0) - moved[0]
        goal = replace(goal, position=places.reshape(*batch_shape, 3))
    if turns:
        rotations = frames[:, bone].copy() if turn is None else flat_array(turn, batch_shape).copy()
        if step is not None:
            turned = rotation.exp(step * flat_array(goal.angular_velocity, batch_shape))  # pyright: ignore
            for frame in range(1, len(rotations)):
                rotations[frame] = rotation.mul(turned[frame], rotations[frame - 1])
        goal = replace(goal, rotation=rotations.reshape(*batch_shape, 4))
    return goal
