"""Bodies that are driven by controls: solved on the body's own bones, keyed on their controls."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge.channels import CHANNELS, read_channels, write_channels
from ..core import CoreError, Motion, Pose
from ..core.body import Roles
from ..core.formats.job import Job
from .evaluation import Evaluation, iterate_frames

_SETTLED: Final = 1e-4  # radians: a pose of the body that differs by less is the same


@dataclass(frozen=True, eq=False)
class ControlMotion:
    """The controls' motion, the bones turned and moved, properties that were set, and what was at a limit."""

    motion: Motion
    turned: list[int]
    moved: list[int]
    switched: list[tuple[str, str]]
    held: list[str] = field(default_factory=list[str])


def find_body_of_job(armature: Any, rig: bridge.Rig, roles: Roles, job: Job) -> bridge.ControlledBody | None:
    """The body for a job that names bones which only controls bring anywhere, or what IK goes after; else None.

    Raises CoreError for a goal of such a job that names a bone which neither is a part of the body nor leads one.
    """
    led_first = sorted(job.goals, key=lambda goal: goal.kind == "pin")
    named = [rig.skeleton.index(bone) for goal in led_first for bone in (goal.bone, *goal.others.values())]
    controlled = bridge.find_controlled(armature, rig, roles, named)
    if controlled is None or not controlled.serves(rig, named):
        return None
    for number, goal in enumerate(job.goals):
        for bone in (goal.bone, *goal.others.values()):
            if bone not in controlled.skeleton.names:
                raise CoreError(
                    f'goals[{number}]: "{bone}" is no part of the body, which controls lead; name one of its bones.'
                )
    return controlled


def frames_of_body(controlled: bridge.ControlledBody | None, take: Evaluation) -> Evaluation:
    """What a take has of the body's own bones."""
    return take if controlled is None else replace(take, matrices=take.matrices[:, controlled.bones])


def pose_controls(
    context: Any,
    armature: Any,
    rig: bridge.Rig,
    controlled: bridge.ControlledBody,
    motion: Motion,
    pose: Pose,
    framed: bool,
) -> Generator[float, None, tuple[ControlMotion, Pose]]:
    """Bring the controls to the body's `pose` (F) at every frame, or, not `framed`, now; and where the body then is.

    Yields the share that is done. Nothing is left changed: channels, frame and properties are what they were when it
    ends, or when it is closed.
    """
    rotations, translations = np.array(motion.pose.rotations), np.array(motion.pose.translations)
    turned: set[int] = set()
    moved: set[int] = set()
    held: set[int] = set()
    switched: dict[tuple[str, str], Any] = {}
    stands: list[Any] = []
    before = read_channels(armature, CHANNELS)
    bones = sorted(controlled.keyed)
    owners = {found[:2] for found in controlled.switches.values()}
    values = {(bone, name): armature.pose.bones[bone][name] for bone, name in owners}

    def note(place: int) -> None:
        led = bridge.pose_controls(armature, rig, controlled, pose[place])
        context.view_layer.update()
        stands.append(bridge.read_matrices(armature))
        # those, too, that stayed: without a key they have what the frame before gave them
        rotations[place, bones], translations[place, bones] = led.pose.rotations[bones], led.pose.translations[bones]
        turned.update(led.turned)
        moved.update(led.moved)
        held.update(led.held)
        switched.update({found: armature.pose.bones[found[0]][found[1]] for found in led.switched})

    try:
        if framed:
            with closing(iterate_frames(context, motion.frames)) as steps:
                for place in steps:
                    note(place)
                    yield (place + 1) / len(motion)
        else:
            note(0)
    finally:
        for (bone, name), value in values.items():
            armature.pose.bones[bone][name] = value
        write_channels(armature, before)
        context.view_layer.update()
    led_pose = replace(motion.pose, rotations=rotations, translations=translations)
    named = [rig.skeleton.names[bone] for bone in sorted(held)]
    led = ControlMotion(replace(motion, pose=led_pose), sorted(turned), sorted(moved), [*switched], named)
    return led, bridge.read_controlled(controlled, np.stack(stands))


def is_settled(wanted: Pose, pose: Pose) -> bool:
    """Whether the body came to where it was led."""
    far = np.abs(wanted.translations - pose.translations).max(initial=0.0)
    return bool(np.abs(wanted.rotations - pose.rotations).max(initial=0.0) < _SETTLED and far < _SETTLED)


def set_switches(armature: Any, led: ControlMotion, framed: bool) -> None:
    """Hand the limbs over to the controls, keyed at every frame of a framed job."""
    for bone, name in led.switched:
        owner = armature.pose.bones[bone]
        owner[name] = type(owner[name])(1)
        for frame in led.motion.frames.tolist() if framed else ():
            owner.keyframe_insert(f'["{name}"]', frame=frame, group=bone)
    armature.update_tag(refresh={"OBJECT", "DATA"})
