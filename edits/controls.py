"""Bodies that are driven by controls: solved on the body's own bones, keyed on their controls."""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge.channels import CHANNELS, read_channels, write_channels
from ..bridge.driven import animated_curves, split_path
from ..bridge.motion import iterate_frames
from ..bridge.turns import update
from ..core import Motion, Pose
from ..core.body.limbs import take_twists
from .evaluation import Evaluation

# A shift of a control beside its part that does not count, of the skeleton's size, and a turn, radians: what a tick of
# a drag leaves to the next one is about a third.
SHIFTED: Final = 1e-4
TURNED: Final = 1e-3


@dataclass(frozen=True, eq=False)
class ControlMotion:
    """The motion of a rig whose controls were posed.

    turned, moved   the bones that are to be keyed
    at_limit        names of the controls that a limit of theirs stopped
    misfit          sentences about limbs that IK shows beside their solved pose
    """

    motion: Motion
    turned: list[int]
    moved: list[int]
    at_limit: list[str] = field(default_factory=list[str])
    misfit: list[str] = field(default_factory=list[str])


class ControlRecorder:
    """Poses the controls of a body, one pose after the other, at the present frame, and notes what changed."""

    def __init__(self, armature: Any, rig: bridge.Rig, placed: Sequence[int] = ()) -> None:
        self._rig = rig
        self._channels = read_channels(armature, CHANNELS)
        self._turned, self._moved, self._at_limit = set(placed), set(placed), set[int]()

    def add(self, armature: Any, controlled: bridge.ControlledBody, pose: Pose) -> bridge.ControlPose:
        """Bring a body to a pose; return that of the controls. Raises CoreError where a part does not follow."""
        posed = bridge.pose_controls(armature, self._rig, controlled, pose)
        self._turned.update(posed.turned)
        self._moved.update(posed.moved)
        self._at_limit.update(posed.held)
        return posed

    def restore(self, armature: Any) -> None:
        """Give channels the values that they had before the first pose."""
        write_channels(armature, self._channels)

    def result(self, motion: Motion) -> ControlMotion:
        """Return a motion of the rig with what was noted."""
        names = [self._rig.skeleton.names[bone] for bone in sorted(self._at_limit)]
        return ControlMotion(motion, sorted(self._turned), sorted(self._moved), names)


def placed_at_rest(rig: bridge.Rig, controlled: bridge.ControlledBody, pose: Pose) -> tuple[Pose, list[int]]:
    """Return a pose () with the controls that only rotate their part where they rest, and those that were elsewhere.

    What the motion before moved them by would stay: one of its own does not move them.
    """
    turning = np.setdiff1d(controlled.bones_that("turns"), [-1, *controlled.bones_that("moves")])
    translations = np.array(pose.translations)
    translations[turning] = np.where(rig.skeleton.translatable[turning], 0.0, translations[turning])
    rested = replace(pose, translations=translations)
    return rested, bridge.changed_bones(pose[None], rested[None], rig.skeleton.size)[1].tolist()


def frames_of_body(controlled: bridge.ControlledFrames | None, frames: Evaluation) -> Evaluation:
    """Return an evaluation with the body's own bones only."""
    return frames if controlled is None else replace(frames, matrices=controlled.parts(frames.matrices))


def find_control_motion(
    context: Any,
    armature: Any,
    rig: bridge.Rig,
    controlled: bridge.ControlledFrames,
    motion: Motion,
    pose: Pose,
    framed: bool,
    placed: Sequence[int] = (),
) -> Generator[float, None, tuple[ControlMotion, Pose, Pose]]:
    """Bring the body to `pose` (F) by its controls; return the rig's motion, and two poses (F) of the body.

    These are the wanted one, with limbs bent as IK bends them, and the one that Blender shows. Both have what controls
    do not decide: the lengths to which IK stretches limbs, and the twist of some parts.

    `motion` (F): the rig's channels before. With `framed` each pose is evaluated at its frame, else all are at the
    present one. A control keeps its channels in frames in which it does not drive the body. Bones `placed` have those
    of `motion` before the others are posed, and are keyed. Yields the share that is done. Channels, frame and
    properties are restored at the end, and when the generator is closed. Raises CoreError where a part does not follow
    its control.
    """
    rotations, translations = np.array(motion.pose.rotations), np.array(motion.pose.translations)
    pose = controlled.bent(pose)
    evaluated, loose = list[Any](), list[Any]()
    recorder, bare = ControlRecorder(armature, rig, placed), _without_keys(armature, rig, controlled) if framed else []
    try:
        with closing(iterate_frames(context, motion.frames if framed else None, len(motion))) as places:
            for place in places:
                body = controlled.at(place)
                if placed or bare:
                    bridge.write_pose(armature, rig, motion.pose[place], [*placed, *bare])
                posed, bones = recorder.add(armature, body, pose[place]), sorted(body.keyed)
                loose.append(posed.loose)
                update(context)
                evaluated.append(bridge.read_matrices(armature))
                # all controls, also unchanged ones: without a key they would keep the values of the frame before
                rotations[place, bones] = posed.pose.rotations[bones]
                translations[place, bones] = posed.pose.translations[bones]
                yield (place + 1) / len(motion)
    finally:
        recorder.restore(armature)
        update(context)
    own = replace(motion, pose=replace(motion.pose, rotations=rotations, translations=translations))
    seen = np.stack(evaluated)
    shown = controlled.read(seen)
    wanted = take_twists(controlled.skeleton, controlled.bent(pose, shown), shown, np.stack(loose))
    found = replace(recorder.result(own), misfit=bridge.explain_misfit(armature, controlled, wanted, seen))
    return found, wanted, shown


def _without_keys(armature: Any, rig: bridge.Rig, controlled: bridge.ControlledFrames) -> list[int]:
    """Return the controls without curves, where others have some: no change of the frame gives them their channels."""
    keyed = {path[0] for curve in animated_curves(armature) if (path := split_path(curve.data_path)) is not None}
    return [bone for bone in sorted(controlled.keyed) if rig.skeleton.names[bone] not in keyed] if keyed else []


def write_controls(armature: Any, rig: bridge.Rig, control: ControlMotion, action: str | None) -> Any:
    """Key the motion of controls as one of its own and return its action."""
    return bridge.write_motion(armature, rig, control.motion, control.turned, action)
