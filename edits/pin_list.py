"""Change the pins that are saved with an armature: set them, move them to another space, mirror and remove them."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from .. import bridge
from ..core import CoreError, forward, rotation
from ..core.formats.goals import Point
from ..core.pose import forward_matrices
from ..core.rotation import Array
from ..properties.overrides import linked_count
from .mirror import Middle
from .pins import ANIMATION, ARMATURE, OBJECT, WORLD, read_pin

KINDS: Final = ("NONE", "BOTH", "POSITION")  # of the pin of what is dragged, in the order in which it changes


def find_pin(armature: Any, bone: str) -> Any:
    """Return the pin of a bone, or None."""
    place = armature.poise_pins.find(bone)
    return armature.poise_pins[place] if place >= 0 else None


def add_pin(armature: Any, bone: str) -> Any:
    """Add a pin of a bone and return it. Pins that Python holds already may be invalid then: the list may move."""
    pin = armature.poise_pins.add()
    pin.name = bone
    return pin


def set_pins(
    context: Any, armature: Any, bones: Iterable[str], kind: str, space: str | None = None, target: Any = None,
    point: Point | None = None,
) -> None:  # fmt: skip
    """Pin bones where they are now.

    Without `space` a pin keeps its own, a new one has what the armature says; without a `point` it keeps its own, a new
    one holds the head.
    """
    context.view_layer.update()
    rig = bridge.read_rig(armature)
    pose = bridge.read_pose(armature, rig)
    matrices, turns = forward_matrices(rig.skeleton, pose), forward(rig.skeleton, pose)[1]
    for name in bones:
        pin = find_pin(armature, name)
        if pin is None:
            pin = add_pin(armature, name)
            pin.space = _space_of_new(armature, rig, name)
        pin.use_position, pin.use_rotation = kind != "ROTATION", kind != "POSITION"
        pin.mute = False
        if space is not None:
            pin.space, pin.target = space, target if space == OBJECT else None
        if point is not None:
            pin.point = (
                (0.0, armature.data.bones[name].length * (point == "tail"), 0.0) if isinstance(point, str) else point
            )
        bone = rig.skeleton.index(name)
        _place_as(armature, pin, matrices[bone], turns[bone])


def _space_of_new(armature: Any, rig: bridge.Rig, bone: str) -> str:
    """Return the space of a new pin."""
    if armature.poise_pin_space != "AUTO":
        return armature.poise_pin_space
    if bridge.is_animated(armature, rig, rig.skeleton.index(bone)):
        return ANIMATION
    return ARMATURE if bridge.object_moves(armature) else WORLD  # what has no keys is at one place in a moving object


def pin_here(context: Any, armature: Any) -> int:
    """Move pins to where their bones are now, but those to the animation, which hold where that is; return how many."""
    context.view_layer.update()
    rig = bridge.read_rig(armature)
    pose = bridge.read_pose(armature, rig)
    matrices, turns = forward_matrices(rig.skeleton, pose), forward(rig.skeleton, pose)[1]
    found = [pin for pin in armature.poise_pins if pin.name in rig.skeleton.names and pin.space != ANIMATION]
    acting, _ = bridge.find_stand_ins(armature, [pin.name for pin in found])
    for pin in found:
        bone = rig.skeleton.index(acting[pin.name])
        _place_as(armature, pin, matrices[bone], turns[bone])
    return len(found)


def _place_as(armature: Any, pin: Any, matrix: Array, turn: Array) -> None:
    """Store where a bone has the pin's point, in its matrix (3, 4) of armature space, and its rotation (4,)."""
    place_pin(armature, pin, matrix[:, :3] @ pin.point + matrix[:, 3], turn)


def place_pin(armature: Any, pin: Any, place: Any, turn: Any) -> None:
    """Store a position (3,) and a rotation (4,) of armature space in the pin's own space."""
    if pin.space == WORLD or pin.space == OBJECT:
        place, turn = bridge.armature_to_world(bridge.world_matrix(armature), place, turn)
    if pin.space == OBJECT:
        if pin.target is None:
            raise CoreError(f'The pin of "{pin.name}" has no object to follow. Choose one.')
        place, turn = bridge.world_to_armature(bridge.world_matrix(pin.target), place, turn)
    pin.position, pin.rotation = place, turn


def fix_pin(armature: Any, pin: Any, space: str, target: Any) -> None:
    """Fix a pin to another space, with `target` for that of an object, without moving it."""
    if pin.space == OBJECT and pin.target is None:
        raise CoreError(f'The object that the pin of "{pin.name}" follows no longer exists. Pin the bone again.')
    use = pin.use_position, pin.use_rotation
    pin.use_position = pin.use_rotation = True  # both are carried over, whichever is held
    try:
        position, turn = read_pin(pin).in_armature_space(bridge.world_matrix(armature))
    finally:
        pin.use_position, pin.use_rotation = use
    bone = armature.pose.bones.get(pin.name)
    if pin.space == ANIMATION and bone is not None:  # where it is in this frame
        matrix = np.array(bone.matrix, float)
        position = matrix[:3, :3] @ pin.point + matrix[:3, 3]
        turn = rotation.from_matrix(rotation.nearest_rotation(matrix[:3, :3]))
    pin.space, pin.target = space, target
    place_pin(armature, pin, position, turn)


def mirror_pins(armature: Any, pairs: Iterable[tuple[str, str]]) -> None:
    """Pin the second bone of each pair as the first one is pinned, mirrored about the body as it stands."""
    world, body = bridge.world_matrix(armature), bridge.read_body(armature)
    middle = Middle.of(body.skeleton, body.roles, *forward(body.skeleton, body.pose))
    for name, other in pairs:
        position, turn = read_pin(find_pin(armature, name)).in_armature_space(world)
        twin = find_pin(armature, other) or add_pin(armature, other)
        pin = find_pin(armature, name)
        for field in ("use_position", "use_rotation", "weight", "priority", "mute"):
            setattr(twin, field, getattr(pin, field))
        twin.point = np.array(pin.point) * (-1.0, 1.0, 1.0)
        twin.space = WORLD if pin.space == OBJECT else pin.space  # its object is on the first side
        position = np.zeros(3) if position is None else position
        place_pin(armature, twin, *middle.placed(position, rotation.IDENTITY if turn is None else turn))


def release(armature: Any, places: Sequence[int]) -> int:
    """Remove pins by their places in the list, or mute those of the linked file; return how many are muted."""
    muted = remove_or_mute(armature, "poise_pins", places)
    armature.poise_active_pin = max(0, min(armature.poise_active_pin, len(armature.poise_pins) - 1))
    return muted


def remove_or_mute(armature: Any, collection: str, places: Iterable[int]) -> int:
    """Remove entries of a collection by their places; mute those of a linked file and return how many these are."""
    linked, entries, muted = linked_count(armature, collection), getattr(armature, collection), 0
    for place in sorted(places, reverse=True):
        if place < linked:
            entries[place].mute = True
            muted += 1
        else:
            entries.remove(place)
    return muted


def keep_pin(
    context: Any, armature: Any, bone: str, kind: str, turned: bool = True, point: Point | None = None
) -> None:
    """Pin a dragged bone where it is now, its rotation only if it `turned`; the kind "NONE" releases it.

    `point` (3,): which of the bone, in its frame, where it was not pinned.
    """
    pin = find_pin(armature, bone)
    if kind != "NONE":
        held = tuple(pin.rotation) if pin is not None and pin.use_rotation and not (pin.mute or turned) else None
        set_pins(context, armature, [bone], kind, point=point if pin is None or pin.mute else None)
        if held is not None:
            find_pin(armature, bone).rotation = held
    elif pin is not None and not pin.mute:
        release(armature, [armature.poise_pins.find(bone)])


def pin_kind(armature: Any, bone: str) -> str:
    """Return what the pin of a bone holds: one of KINDS, or "ROTATION"."""
    pin = next((pin for pin in armature.poise_pins if pin.name == bone and not pin.mute), None)
    if pin is None or not (pin.use_position or pin.use_rotation):
        return "NONE"
    return "BOTH" if pin.use_position and pin.use_rotation else "POSITION" if pin.use_position else "ROTATION"


def next_kind(kind: str) -> str:
    """Return the kind of pin that comes after this one: both, position, none; after a rotation both."""
    return KINDS[(KINDS.index(kind) + 1) % len(KINDS)] if kind in KINDS else "BOTH"


def with_other_side(armature: Any, bones: Iterable[str]) -> list[str]:
    """Return the bones, with their counterparts where the pose is mirrored (X-Axis Mirror)."""
    names = list(bones)
    if armature.pose.use_mirror_x:
        names += bridge.other_sides(armature, names).values()
    return list(dict.fromkeys(names))
