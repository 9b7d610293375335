"""Learn limits and stiffness of an armature's joints from its action."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .. import bridge
from ..core import CoreError, rotation
from ..core.body.tuning import learn_tuning, turns_of
from ..core.limits import learn_polygon
from ..core.pose import forward_matrices
from .words import counted

_MOST: Final = 5000  # frames that are read for limits
_MOST_OF_BODY: Final = 500  # for stiffness: a driven body is evaluated at each
_STILL: Final = float(np.radians(0.1))  # a bone that turns by less has no keys, and gets no limits
_LEFT_OUT: Final = "{} is left out for lack of movement", "{} are left out for lack of movement"
_LITTLE: Final = 0.5  # share of a motion that weighs less than the prior


@dataclass(frozen=True)
class Learned:
    """What was learned: the bones that have it, and a sentence; `little` says that it should be looked at."""

    bones: tuple[str, ...]
    sentence: str
    little: bool


def action_of(armature: Any) -> Any:
    """Return the action of an armature to learn from; raises CoreError if it has none."""
    data = armature.animation_data
    if data is None or data.action is None:
        raise CoreError(f'"{armature.name}" has no action to learn from.')
    return data.action


def learn_limits(context: Any, armature: Any, names: Sequence[str], margin: float) -> Generator[float, None, Learned]:
    """Give bones the limits of what they do in the action, wider by `margin` radians; yields the share that is read.

    Raises CoreError, with nothing changed, if all are driven or none turns.
    """
    action, rig = action_of(armature), bridge.read_rig(armature)
    free = [name for name in names if name not in rig.driven]
    if not free:
        raise CoreError("All selected bones are driven, so limits would have no effect.")
    first, last = (int(frame) for frame in action.frame_range)
    frames = np.arange(first, last + 1, 1 + (last - first) // _MOST)
    turns = yield from bridge.reading_turns(armature, rig, frames, [rig.skeleton.index(name) for name in free])
    moved = rotation.angle_between(turns, turns[:1]).max(axis=0) > _STILL
    if not moved.any():
        raise CoreError("None of the selected bones rotates in the action: there is nothing to learn.")
    polygons = {free[place]: learn_polygon(turns[:, place], margin) for place in np.flatnonzero(moved)}
    for name, polygon in polygons.items():
        bridge.write_learned(armature.pose.bones[name], polygon)
    short = (last + 1 - first) * context.scene.render.fps_base / context.scene.render.fps < 1.0
    said = f"Learned the limits of {counted(len(polygons), 'bone')} from {counted(len(turns), 'frame')}"
    said += ", less than a second" if short else ""
    still = [name for name in free if name not in polygons]
    said += f"; {bridge.sentence_about(still, _LEFT_OUT)}" if still else ""
    return Learned(tuple(polygons), said, bool(still) or short)


def learn_stiffness(armature: Any) -> Generator[float, None, Learned]:
    """Give joints the stiffness that they have in the action; yields the share that is read.

    Raises CoreError, with nothing changed, if no joint turns.
    """
    action, body = action_of(armature), bridge.read_body(armature)
    first, last = (int(frame) for frame in action.frame_range)
    frames = np.arange(first, last + 1, 1 + (last - first) // _MOST_OF_BODY)
    motion, _ = yield from bridge.reading_motion(armature, body.rig, frames)
    pose = motion.pose
    if body.controlled is not None:
        pose = bridge.read_controlled(body.controlled, forward_matrices(body.rig.skeleton, pose))
    tuning = learn_tuning(body.skeleton, body.roles, turns_of(body.skeleton, body.roles, pose))
    if not tuning.learned.any():
        raise CoreError("No joint rotates in the action: there is nothing to learn.")
    bridge.write_tuning(armature, body.skeleton, tuning)
    bones = tuple(body.skeleton.names[bone] for bone in np.flatnonzero(tuning.learned))
    said = f"Learned the stiffness of {counted(len(bones), 'bone')} from {counted(len(motion), 'frame')}"
    little = tuning.share < _LITTLE
    if little:
        few = f"The frames show few poses, so the learned stiffness has an influence of {tuning.share:.0%}"
        said = f"{said}. {few}"
    return Learned(bones, said, little)
