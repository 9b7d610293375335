"""The list of timed pins that is saved with an armature."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from mathutils import Vector

from .. import bridge
from ..core import CoreError, Motion, Skeleton, rotation
from ..core.editing.timed_pins import TimedPin
from ..core.motion import forward_of
from ..core.rotation import Array
from .evaluation import evaluate
from .motion_edit import temporary_value

LEAST_EASE: Final = 1  # frames


def add_timed_pin(armature: Any, bone: str, start: int, end: int) -> Any:
    """Add a timed pin of a bone from a frame to a frame to the list, and return it."""
    pin = armature.poise_timed_pins.add()
    pin.bone = pin.label = bone
    pin.start, pin.end, pin.frame = start, end, start
    armature.poise_active_timed_pin = len(armature.poise_timed_pins) - 1
    return pin


def timed_pin(armature: Any, bone: str, start: int, end: int) -> Any:
    """Return the timed pin of a bone's head from a frame to a frame: a new one, if there is none."""
    for place, pin in enumerate(armature.poise_timed_pins):
        if (pin.bone, pin.start, pin.end) == (bone, start, end) and not any(pin.point):
            armature.poise_active_timed_pin = place
            return pin
    return add_timed_pin(armature, bone, start, end)


def hold_as_posed(armature: Any, pin: Any) -> None:
    """Hold a timed pin's bone at its present position and rotation; raises CoreError if the bone is missing."""
    bone = armature.pose.bones.get(pin.bone)
    if bone is None:
        raise CoreError(f'"{armature.name}" no longer has a bone "{pin.bone}".')
    place, turn = bone.matrix @ Vector(pin.point), bone.matrix.to_quaternion()
    with temporary_value(armature, "poise_live_pins", False):  # the last change alone shows the pose
        pin.position, pin.rotation = place, turn
    pin.held = "PLACE"


def select_nearest_timed_pin(armature: Any, frame: int) -> None:
    """Make the timed pin that holds at a frame, or the nearest one, the active one of the list."""
    pins = armature.poise_timed_pins
    gaps = [max(pin.start - frame, frame - pin.end, 0) for pin in pins]
    armature.poise_active_timed_pin = gaps.index(min(gaps)) if gaps else 0


def add_found_pins(
    armature: Any, names: Sequence[str], motion: Motion, pins: Sequence[TimedPin], labels: Sequence[str],
    held: str = "PLACE",
) -> None:  # fmt: skip
    """Add pins of core to the list, which hold places that are fixed in the world or go along the meshes of the ground.

    `names` of the skeleton's bones.
    """
    for pin, label in zip(pins, labels, strict=True):
        bone = pin.bone if isinstance(pin.bone, str) else names[pin.bone]
        stored = add_timed_pin(armature, bone, round(pin.start), round(pin.end))
        stored.label, stored.held = label, held
        stored.weight, stored.priority = pin.weight, pin.priority
        stored.point = pin.point
        stored.position = np.broadcast_to(pin.position, (len(motion), 3))[pin.span(motion)[0]]  # pyright: ignore
        stored.ease_in = stored.ease_out = max(LEAST_EASE, round(pin.ease_in))


class PinReader:
    """Reads stored timed pins as core's, for a motion with its `worlds` (F, 4, 4) from armature to world space."""

    def __init__(self, skeleton: Skeleton, motion: Motion, worlds: Array) -> None:
        self.skeleton, self.motion, self.worlds = skeleton, motion, worlds
        self._meshes: bridge.MeshSurface | None = None  # of the ground, once a pin holds there

    def read(self, context: Any, armature: Any, pin: Any) -> TimedPin:
        """Return a stored pin as core's. Raises CoreError for one that cannot hold."""
        if pin.bone in armature.pose.bones and pin.bone not in self.skeleton.names:
            raise CoreError(f'"{pin.bone}" is not part of the body that the controls pose. Remove its timed pin.')
        bone = self.skeleton.index(pin.bone)
        if not (pin.use_position or pin.use_rotation):
            raise CoreError(f'The timed pin of "{pin.bone}" holds neither a position nor a rotation.')
        point = np.array(pin.point)
        if pin.held == "MOTION":
            held = self._place_of(bone, point, slice(None))
        elif pin.held == "GROUND":
            held = self._on_meshes(context, armature, *self._place_of(bone, point, slice(None)))
        elif pin.held == "OBJECT":
            held = self._follow(context, armature, pin, self._place_of(bone, point, self._index(pin.start, pin)))
        else:
            at = self._index(pin.frame if pin.held == "FRAME" else pin.start, pin)
            position, turn = np.array(pin.position), None
            if pin.held == "PLACE" and any(pin.rotation):
                turn = rotation.normalize(np.array(pin.rotation))
            elif pin.held == "FRAME" or pin.use_rotation:
                there, turn = self._place_of(bone, point, at)
                position = there if pin.held == "FRAME" else position
            held = hold_in_world(self.worlds, at, position, turn)
        position, turn = held
        carrier = carrying_bone(armature, pin.target) if pin.held == "OBJECT" else None
        if carrier is not None and position is not None and turn is not None:
            position, turn = self._relative(pin, self.skeleton.index(carrier), position, turn)
        return TimedPin(
            pin.bone, pin.start, pin.end, position if pin.use_position else None, turn if pin.use_rotation else None,
            pin.ease_in, pin.ease_out, tuple(point.tolist()), carrier, pin.weight, pin.priority,
        )  # fmt: skip

    def _place_of(self, bone: int, point: Array, frames: int | slice) -> tuple[Array, Array]:
        """Return positions of a bone's point and rotations of the bone in some frames, in armature space."""
        heads, turns = (part[..., 0, :] for part in forward_of(self.skeleton, self.motion.pose[frames], [bone]))
        return heads + rotation.rotate(turns, point), turns

    def _on_meshes(self, context: Any, armature: Any, places: Array, turns: Array) -> tuple[Array, Array]:
        """Return places (F, 3) moved to the nearest points of the ground's meshes, and the rotations (F, 4)."""
        self._meshes = self._meshes or bridge.read_ground_surface(context, armature, np.eye(4))
        there = bridge.armature_to_world(self.worlds, places, None)[0]
        distances, normals = self._meshes(there)
        return bridge.world_to_armature(self.worlds, there - distances[:, None] * normals, None)[0], turns

    def _relative(self, pin: Any, carrier: int, position: Array, turn: Array) -> tuple[Array, Array]:
        """Return positions and rotations (F) in the frame of the bone that carries the pin's object."""
        skeleton = self.skeleton
        if skeleton.index(pin.bone) in skeleton.ancestors(carrier):
            raise CoreError(
                f'The timed pin of "{pin.bone}" follows "{pin.target.name}", which itself follows that bone.'
            )
        heads, turns = (part[:, 0] for part in forward_of(skeleton, self.motion.pose, [carrier]))
        back = rotation.inv(turns)
        return rotation.rotate(back, position - heads), rotation.mul(back, turn)

    def _index(self, frame: int, pin: Any) -> int:
        """Return the index of a frame in the motion."""
        frames = self.motion.frames
        if not frames[0] <= frame <= frames[-1]:
            raise CoreError(f'The timed pin of "{pin.bone}" needs frame {frame}, which the motion does not have.')
        return int(np.searchsorted(frames, frame))

    def _follow(
        self, context: Any, armature: Any, pin: Any, place: tuple[Array, Array]
    ) -> tuple[Array | None, Array | None]:
        """Return a place (position and rotation at the pin's first frame) carried along by the pin's object (F)."""
        if pin.target is None:
            raise CoreError(f'The timed pin of "{pin.bone}" has no object to follow. Choose one.')
        first = self._index(pin.start, pin)
        seen = evaluate(context, armature, self.motion.frames, {pin.bone: pin.target}).objects[pin.bone]
        own = bridge.world_to_armature(seen[first], *bridge.armature_to_world(self.worlds[first], *place))
        carried = bridge.armature_to_world(seen, *repeated(own, len(seen)))
        return bridge.world_to_armature(self.worlds, *carried)


def carrying_bone(armature: Any, other: Any) -> str | None:
    """Return the bone of the armature that carries another object, as its parent or a parent's; None for none."""
    while other is not None:
        if other.parent == armature and other.parent_type == "BONE":
            return other.parent_bone
        child_of = (one for one in other.constraints if one.type == "CHILD_OF" and not one.mute and one.influence)
        held = next((one.subtarget for one in child_of if one.target == armature and one.subtarget), None)
        if held is not None:
            return held
        other = other.parent
    return None


def hold_in_world(
    worlds: Array, at: int, position: Array | None, turn: Array | None
) -> tuple[Array | None, Array | None]:
    """Return a position (3,) and a rotation (4,) that are constant in the world, in armature space: (F, 3), (F, 4).

    They are given in armature space at the frame with index `at`, and returned unchanged if `worlds` are constant.
    """
    if np.array_equal(worlds, np.broadcast_to(worlds[at], worlds.shape)):
        return position, turn
    placed = bridge.armature_to_world(worlds[at], position, turn)
    return bridge.world_to_armature(worlds, *repeated(placed, len(worlds)))


def repeated(arrays: Iterable[Array | None], count: int) -> list[Array | None]:
    """Return arrays (n,) repeated as (count, n)."""
    return [None if array is None else np.broadcast_to(array, (count, len(array))) for array in arrays]
