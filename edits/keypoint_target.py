"""An armature as the target of keypoints: its own bones or, where these are driven, their controls."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError, Motion, Pose
from ..core.editing.contacts import Surface
from ..core.keypoints import Character
from ..core.rotation import Array
from ..core.steps import run_steps
from .controls import find_control_motion, write_controls

_NAMED: Final = 6  # bones that a sentence names at most


@dataclass(frozen=True, eq=False)
class KeypointTarget:
    """The body that takes keypoints.

    rig         of the armature
    character   the body: the rig's own, or that of `controlled`
    present     its pose now
    controlled  the body that controls drive, or None
    notes       sentences about bones that are left out
    surface     meshes that are the ground, in armature space, or None
    """

    rig: bridge.Rig
    character: Character
    present: Pose
    controlled: bridge.ControlledBody | None
    notes: tuple[str, ...]
    surface: Surface | None


def find_target(armature: Any, limits: bool, controls: bool = True) -> KeypointTarget:
    """Return the body of an armature; without `controls` only its bones that are not driven.

    Raises CoreError where there is no humanoid, or no bone of it can be turned.
    """
    rig = bridge.read_rig(armature)
    surface = bridge.read_ground(bpy.context, armature, bridge.world_matrix(armature), rig.skeleton.size)
    roles = bridge.with_soles(armature, rig.skeleton, bridge.read_roles(armature, rig.skeleton))
    character = Character(rig.skeleton, roles, limits, bridge.read_tuning(armature, rig.skeleton))
    controlled = bridge.find_controlled(armature, rig, roles) if controls else None
    if controlled is not None and _needs_controls(rig, character, controlled):
        tuning = bridge.read_tuning(armature, controlled.skeleton)
        body = Character(controlled.skeleton, controlled.roles, limits, tuning)
        posed = {*controlled.bones[body.bones].tolist()}
        for bent in ({*roles.chain(part)} for part in ("spine", "neck")):
            posed |= bent if posed & bent else set()  # fewer controls than bones bend all of them
        notes = _left_out(rig, {*character.parts} - posed)
        present = bridge.read_controlled(controlled, bridge.read_matrices(armature))
        return KeypointTarget(bridge.with_ik_starts(rig, controlled), body, present, controlled, notes, surface)
    if not character.bones:
        why = rig.driven_above(character.hips) or "it is locked"
        raise CoreError(f'No bone of the body of "{armature.name}" can rotate: {why}.')
    notes = _left_out(rig, {*character.parts} - {*character.bones})
    return KeypointTarget(rig, character, bridge.read_pose(armature, rig), None, notes, surface)


def _needs_controls(rig: bridge.Rig, character: Character, controlled: bridge.ControlledBody) -> bool:
    """Return whether parts of the character are driven, or are no descendants of each other."""
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
    return (f"Left out, because no control was detected for them: {said}{more} ({why}).",)


def write_body_motion(
    context: Any, armature: Any, target: KeypointTarget, motion: Motion, fingers: Array | None, action: str | None
) -> tuple[Any, Motion, list[str]]:
    """Key the body's motion as one of its own and return the action, and the motion with limbs as IK bends them.

    And sentences about limbs that IK shows beside it. Fingers (F, 2, 15, 4) that are not seen are not keyed. Raises
    CoreError with nothing changed.
    """
    if target.controlled is None:
        bones = target.character.posed_bones(fingers)[0].tolist()
        return bridge.write_motion(armature, target.rig, motion, bones, action), motion, []
    with bridge.using_action(armature, None):  # the keys of the present action must not show through
        present = bridge.read_pose(armature, target.rig)[None][np.zeros(len(motion), int)]
        channels = Motion(present, motion.frames, motion.fps)
        steps = find_control_motion(
            context, armature, target.rig, bridge.repeated(target.controlled, len(motion)), channels, motion.pose, False
        )
        control, wanted, _ = run_steps(steps)
    written = write_controls(armature, target.rig, control, action)
    return written, replace(motion, pose=wanted), control.misfit
