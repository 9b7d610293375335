"""An armature as the target of keypoint readings: its own bones or, where these are driven, their controls."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from .. import bridge
from ..bridge.channels import CHANNELS, read_channels, write_channels
from ..core import CoreError, Motion, Pose
from ..core.keypoints import Character
from ..core.pose import stack
from .controls import ControlMotion, set_switches

_NAMED: Final = 6  # bones that a sentence names


@dataclass(frozen=True, eq=False)
class KeypointTarget:
    """The body `character`, which stands as `present`; the rig's own, or `controlled`, which its controls lead.

    notes: sentences about what is left out.
    """

    rig: bridge.Rig
    character: Character
    present: Pose
    controlled: bridge.ControlledBody | None
    notes: tuple[str, ...]


def find_target(armature: Any, limits: bool, controls: bool = True) -> KeypointTarget:
    """Raises CoreError where there is no humanoid, or nothing of it can be turned; without `controls`, by itself."""
    rig = bridge.read_rig(armature)
    roles = bridge.read_roles(armature, rig.skeleton)
    character = Character(rig.skeleton, roles, limits, bridge.read_tuning(armature, rig.skeleton))
    controlled = bridge.find_controlled(armature, rig, roles, poles=True) if controls else None
    if controlled is not None and _is_needed(rig, character, controlled):
        tuning = bridge.read_tuning(armature, controlled.skeleton)
        led = Character(controlled.skeleton, controlled.roles, limits, tuning)
        notes = _left_out(rig, {*character.parts} - {*controlled.bones[led.bones].tolist()})
        present = bridge.read_controlled(controlled, bridge.read_matrices(armature))
        return KeypointTarget(bridge.with_ik_starts(rig, controlled), led, present, controlled, notes)
    if not character.bones:
        why = rig.driven_above(character.hips) or "it is locked"
        raise CoreError(f'No bone of the body of "{armature.name}" can be turned: {why}.')
    notes = _left_out(rig, {*character.parts} - {*character.bones})
    return KeypointTarget(rig, character, bridge.read_pose(armature, rig), None, notes)


def _is_needed(rig: bridge.Rig, character: Character, controlled: bridge.ControlledBody) -> bool:
    """Whether parts that readings turn are driven, or do not hang on each other."""
    bones, parents = controlled.bones, controlled.skeleton.parents
    above = {int(bone): int(bones[parent]) for bone, parent in zip(bones, parents, strict=True) if parent >= 0}
    return any(
        not rig.skeleton.movable[bone] or above.get(bone, bone) not in rig.skeleton.ancestors(bone)
        for bone in character.parts
    )


def _left_out(rig: bridge.Rig, bones: Iterable[int]) -> tuple[str, ...]:
    names = [rig.skeleton.names[bone] for bone in sorted(bones)]
    if not names:
        return ()
    said = ", ".join(f'"{name}"' for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    why = next((rig.driven[name] for name in names if name in rig.driven), "they are locked")
    return (f"Left out, as no control is known for them: {said}{more} ({why}).",)


class ControlRecorder:
    """Poses of a body brought to its controls, one after the other, as Blender evaluates them at the present frame."""

    def __init__(self, armature: Any, target: KeypointTarget) -> None:
        assert target.controlled is not None
        self._rig, self._controlled = target.rig, target.controlled
        self._channels = read_channels(armature, CHANNELS)
        owners = {found[:2] for found in self._controlled.switches.values()}
        self._values = {(bone, name): armature.pose.bones[bone][name] for bone, name in owners}
        self.poses: list[Pose] = []
        self._bones: tuple[set[int], set[int]] = set(), set()
        self._switched: set[tuple[str, str]] = set()

    def add(self, armature: Any, pose: Pose) -> None:
        """Raises CoreError where a part does not follow its control."""
        led = bridge.pose_controls(armature, self._rig, self._controlled, pose)
        self.poses.append(led.pose)
        for bones, new in zip(self._bones, (led.turned, led.moved), strict=True):
            bones.update(new)
        self._switched.update(led.switched)

    def restore(self, armature: Any) -> None:
        """Channels and properties are again what they were before the first pose."""
        for (bone, name), value in self._values.items():
            armature.pose.bones[bone][name] = value
        write_channels(armature, self._channels)

    def write(self, armature: Any, frames: Any, fps: float, action: str | None = None) -> Any:
        """The poses as a motion of its own, limbs handed over to the controls; returns the action."""
        motion = Motion(stack(self.poses), frames, fps)
        turned, moved = (sorted(bones) for bones in self._bones)
        written = bridge.write_motion(armature, self._rig, motion, turned, action)
        set_switches(armature, ControlMotion(motion, turned, moved, sorted(self._switched)), framed=True)
        return written


def write_body_motion(context: Any, armature: Any, target: KeypointTarget, motion: Motion, action: str | None) -> Any:
    """Key the body's motion as one of its own; returns the action. Raises CoreError with nothing changed."""
    if target.controlled is None:
        return bridge.write_motion(armature, target.rig, motion, target.character.bones, action)
    with bridge.using_action(armature, None):  # what was keyed before is not to show through
        recorder = ControlRecorder(armature, target)
        try:
            for place in range(len(motion)):
                recorder.add(armature, motion.pose[place])
        finally:
            recorder.restore(armature)
            context.view_layer.update()
    return recorder.write(armature, motion.frames, motion.fps, action)
