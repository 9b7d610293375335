"""The pins that are saved with an armature, for a drag and for a job."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError, Goal, rotation
from ..core.formats.goals import Fixed, Followed, Held, JobBalance, JobGoal, Target
from ..core.formats.job import Job, Limits, PoseTargets, Write
from ..core.formats.table import NUMBER_LIMIT
from ..core.pose import frame_rotations
from ..core.rotation import Array
from .humanoid import read_humanoid

WORLD: Final = "WORLD"
ARMATURE: Final = "ARMATURE"
OBJECT: Final = "OBJECT"
ANIMATION: Final = "ANIMATION"  # spaces of a pin
LIMITS: Final[dict[str, Limits]] = {"HARD": True, "SOFT": "soft", "OFF": False}


@dataclass(frozen=True)
class PinTarget:
    """The target of a pin: a position, a unit quaternion, or both, in the world, the armature or an object's frame.

    That of a pin to the animation is where the bone was, in the armature, when it was pinned.
    """

    bone: str
    position: tuple[float, ...] | None
    rotation: tuple[float, ...] | None
    space: str
    target: str | None
    weight: float
    priority: int
    library: str | None = None  # of the target: linked and local objects may have the same name
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the bone, in its frame: its head

    def in_armature_space(self, world: Array) -> tuple[Array | None, Array | None]:
        """Return the present position (3,) and rotation (4,) in armature space, given its world matrix (4, 4)."""
        position = None if self.position is None else np.array(self.position)
        turn = None if self.rotation is None else np.array(self.rotation)
        if self.space in (ARMATURE, ANIMATION):
            return position, turn
        if self.target is not None:
            objects: Any = bpy.data.objects
            matrix = bridge.world_matrix(objects[self.target, self.library])
            position, turn = bridge.armature_to_world(matrix, position, turn)
        return bridge.world_to_armature(world, position, turn)

    def core_goal(self, world: Array, first: int) -> Goal:
        """Return the goal for core, in armature space; pins have the priorities from `first` on."""
        position, turn = self.in_armature_space(world)
        return Goal(
            self.bone, position, turn, self.point, position_weight=self.weight, rotation_weight=self.weight,
            priority=first + self.priority,
        )  # fmt: skip

    def goal_of(self, part: tuple[int, Array, Array], world: Array, first: int) -> Goal:
        """Return the goal for the bone of a body that `part_of` returns."""
        goal, (bone, point, turn) = self.core_goal(world, first), part
        turned = None if goal.rotation is None else rotation.mul(goal.rotation, rotation.inv(turn))
        return replace(goal, bone=bone, point=point, rotation=turned)

    def job_goal(self, frame: int | None) -> JobGoal:
        """Return the goal for a job; a pin to the animation holds the bone where that has it, at `frame` or in each."""
        return JobGoal(
            bone=self.bone,
            point=self.point if any(self.point) else "head",
            position=None if self.position is None else self._target(self.position, frame),
            rotation=None if self.rotation is None else self._target(self.rotation, frame),
            space="armature" if self.space == ARMATURE else "world",
            weight=self.weight,
            priority=self.priority,
        )

    def _target(self, numbers: tuple[float, ...], frame: int | None) -> Target:
        if self.space == ANIMATION:
            return Held(frame)
        return Fixed(numbers) if self.target is None else Followed(self.target, numbers, self.library)


def find_part(rig: bridge.Rig, controlled: bridge.ControlledBody | None, name: str) -> int:
    """Return the bone of the body that a bone is, or is carried by. Raises CoreError if there is none."""
    bone = rig.skeleton.index(name)
    part = bone if controlled is None else controlled.parts.get(bone)
    if part is None:
        raise CoreError(f'"{name}" does not move with the body. Choose a bone that does, or remove its pin.')
    return part


def part_of(
    rig: bridge.Rig, controlled: bridge.ControlledBody | None, matrices: Array, name: str,
    point: Sequence[float] = (0.0, 0.0, 0.0), gaps: bridge.Gaps | None = None,
) -> tuple[int, Array, Array]:  # fmt: skip
    """Return the part that `find_part` does; there the point (3,) of a bone and its turn (4,).

    `matrices` (J, 3, 4): of the rig. A control that is off stands for the point of its part where it is at rest. Given
    `gaps`, one beyond the reach of its limb stands for the end of that, to which a drag brings it back.
    """
    bone, part = rig.skeleton.index(name), find_part(rig, controlled, name)
    if controlled is not None and bone in controlled.idle:
        matrices, gaps = rig.skeleton.rest_matrices, None
    frame, own = matrices[bone if controlled is None else controlled.frames[part]], matrices[bone]
    turn, back = frame_rotations(own[:, :3]), rotation.inv(frame_rotations(frame[:, :3]))
    away = own[:, :3] @ np.array(point, float) + own[:, 3] - frame[:, 3]
    if gaps is not None:
        away = away - gaps.of(bone, part, matrices)
    return part, rotation.rotate(back, away), rotation.mul(back, turn)


def held_goals(armature: Any, rig: bridge.Rig, controlled: bridge.ControlledBody | None) -> list[Goal]:
    """Return goals for what the active pins of an armature hold now, each on a bone of the body.

    Pins to the animation hold their bones where they are. Raises what `read_active_pin` and `part_of` do.
    """
    world, matrices, found = bridge.world_matrix(armature), bridge.read_matrices(armature), list[Goal]()
    for pin in active_pins(armature):
        target = read_active_pin(armature, pin)
        if target.space == ANIMATION:
            frame = matrices[rig.skeleton.index(target.bone)]
            place, turn = frame[:, :3] @ np.array(target.point) + frame[:, 3], frame_rotations(frame[None, :, :3])[0]
            target = replace(
                target,
                position=None if target.position is None else tuple(place.tolist()),
                rotation=None if target.rotation is None else tuple(turn.tolist()),
            )
        found.append(target.goal_of(part_of(rig, controlled, matrices, target.bone, target.point), world, 0))
    return found


def active_pins(armature: Any) -> list[Any]:
    """Return the pins that are not muted and have a weight and a position or rotation."""
    return [
        pin for pin in armature.poise_pins
        if not pin.mute and pin.weight > 0.0 and (pin.use_position or pin.use_rotation)
    ]  # fmt: skip


def read_active_pin(armature: Any, pin: Any) -> PinTarget:
    """Return the target of a pin of the armature; raises CoreError if its bone is missing, and as `read_pin`."""
    if pin.name not in armature.pose.bones:
        raise CoreError(f'"{armature.name}" no longer has a bone "{pin.name}". Remove its pin.')
    return read_pin(pin)


def job_from_pins(armature: Any, frames: tuple[int, int] | None = None, write: Write | None = None) -> Job:
    """Return the job that holds all active pins, in each frame or now; raises CoreError if there is none."""
    holding = [read_active_pin(armature, pin) for pin in active_pins(armature)]
    if frames is not None and all(target.space == ANIMATION for target in holding):
        raise CoreError("All pins follow the animation, which holds them already. Pin one to the world.")
    context: Any = bpy.context
    frame = context.scene.frame_current if frames is None else None
    goals = tuple(target.job_goal(frame) for target in holding)
    if not goals:
        raise CoreError(
            f'All pins of "{armature.name}" are muted or disabled. Enable one of them.'
            if len(armature.poise_pins)
            else f'"{armature.name}" has no pins. Pin a bone first.'
        )
    job = Job(
        goals,
        frames=frames,
        write=write or Write(key=frames is not None),
        limits=LIMITS[armature.poise_limits],
        anatomical_limits=armature.poise_use_anatomy_limits,
        balance=_balance(armature.poise_balance, holding, frames),
        strength=armature.poise_strength if armature.poise_use_strength else None,
    )
    if armature.poise_method == "HUMANOID":
        return replace(job, limits=bool(job.limits), humanoid=read_humanoid(armature))
    return replace(
        job,
        wins=armature.poise_wins.lower(),
        root=armature.poise_root.lower(),
        joint_targets=_joint_targets(armature),
        stretch=armature.poise_use_stretch,
    )


def _joint_targets(armature: Any) -> Any:
    """Return what a job's joints stay near; raises CoreError if an action is to be named and none is."""
    kind: str = armature.poise_joint_targets
    if kind != "ACTION":
        return kind.lower()
    if armature.poise_target_action is None:
        raise CoreError("Joint Targets needs an action. Choose one in the Solver panel.")
    shares = {bone.name: bone.poise_target for bone in armature.pose.bones}
    chosen = shares if any(share < 1.0 for share in shares.values()) else {}
    return PoseTargets(armature.poise_target_action.name, None, chosen)


def _balance(over: str, holding: Sequence[PinTarget], frames: Any) -> JobBalance | None:
    """Return what the setting of the balance asks of a job. A motion keeps its own over its feet: who walks falls."""
    if over == "OFF" or (over == "FEET" and frames is not None):
        return None
    priority, keeps = next_priority(holding), frames is None
    if over == "FEET":
        return JobBalance(find_ground(holding), priority=priority, space="armature", feet=True, keeps=keeps)
    return JobBalance(support_bones(holding), priority=priority, keeps=keeps)


def find_ground(holding: Sequence[PinTarget]) -> tuple[str, ...]:
    """Return the bones that the body stands on: those with a pinned position, of the first priority that has any.

    What comes later, as what is dragged does, is moved, and carries nothing.
    """
    placed = [target for target in holding if target.position is not None]
    first = min((target.priority for target in placed), default=0)
    return tuple(dict.fromkeys(target.bone for target in placed if target.priority == first))


def support_bones(holding: Sequence[PinTarget]) -> tuple[str, ...]:
    """Return what `find_ground` does. Raises CoreError if there is none."""
    found = find_ground(holding)
    if not found:
        raise CoreError("Balance needs a bone to stand on. Pin the position of a foot.")
    return found


def next_priority(holding: Sequence[PinTarget]) -> int:
    """Return a priority after those of all pins."""
    return 1 + max((target.priority for target in holding), default=0)


def read_pin(pin: Any) -> PinTarget:
    """Return the target of a pin; raises CoreError for numbers that are not finite, or a missing object."""
    position, turn, point = tuple(pin.position), tuple(pin.rotation), tuple(pin.point)
    if not all(abs(number) <= NUMBER_LIMIT for number in (*position, *turn, *point)):  # also false for NaN
        raise CoreError(f'The pin of "{pin.name}" has a value that is not a finite number. Pin the bone again.')
    length = math.hypot(*turn)
    if pin.use_rotation and length == 0.0:
        raise CoreError(f'The pin of "{pin.name}" has no rotation. Pin the bone again.')
    if pin.space == OBJECT and pin.target is None:
        raise CoreError(
            f'The object that the pin of "{pin.name}" follows no longer exists. Choose one, or pin the bone again.'
        )
    return PinTarget(
        pin.name,
        position if pin.use_position else None,
        tuple(number / length for number in turn) if pin.use_rotation else None,
        pin.space,
        pin.target.name if pin.space == OBJECT else None,
        pin.weight,
        pin.priority,
        pin.target.library.filepath if pin.space == OBJECT and pin.target.library is not None else None,
        point,
    )
