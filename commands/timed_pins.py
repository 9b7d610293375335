"""The timed pins that are saved with an armature, and the motion that is made of them; the original one is kept."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError, forward, rotation
from ..core.editing.contacts import Contacts
from ..core.editing.timed_pins import TimedPin
from ..core.rotation import Array
from .edit import Frames
from .hold import HeldMotion, contact_points, find_touches, over_time
from .report import Report
from .takes import record

LEAST_EASE: Final = 1  # frames


def source_of(object: Any) -> Any:
    """The action that timed pins change: the original one where the armature has the one made of it, else its own."""
    data = object.animation_data
    action = data.action if data is not None else None
    if object.poise_source is not None and action is not None and action == object.poise_result:
        return object.poise_source
    return action


class PinnedMotion(HeldMotion):
    """The original motion with the armature's timed pins: all of it, or as much as one `frame` depends on.

    Pins that cannot hold are left out; `left_out` says of each why. Without `pinned` no pins are looked at.
    """

    def __init__(self, context: Any, object: Any, frame: int | None = None, pinned: bool = True) -> None:
        source = source_of(object)
        if source is None:
            raise CoreError(f'"{object.name}" has no action; its motion has to be keyed.')
        self.source: str = source.name
        with bridge.acting(object, source):
            whole, used = (
                bridge.keyed_range(object),
                [pin for pin in object.poise_timed_pins if pinned and not pin.mute],
            )
            if frame is not None:
                used = [pin for pin in used if pin.start - pin.ease_in <= frame <= pin.end + pin.ease_out]
            super().__init__(context, object, whole if frame is None else _leading_to(frame, used, whole))
            pins: list[TimedPin] = []
            self.left_out: list[str] = []
            for pin in used:
                try:
                    pins.append(self._pin(context, object, pin))
                except CoreError as error:
                    self.left_out.append(str(error).removesuffix("."))
            self.pins = pins

    def _pin(self, context: Any, object: Any, pin: Any) -> TimedPin:
        skeleton, motion = self.skeleton, self.before
        if not (pin.use_position or pin.use_rotation):
            raise CoreError(f'The timed pin of "{pin.name}" holds neither a position nor a rotation.')
        point = np.array(pin.point)
        heads, turns = (part[:, skeleton.index(pin.name)] for part in forward(skeleton, motion.pose))
        places = heads + rotation.rotate(turns, point)
        held: tuple[Array | None, Array | None] = places, turns
        if pin.held == "FRAME":
            at = self._index(pin.frame, pin)
            held = over_time(self.worlds, at, places[at], turns[at])
        elif pin.held == "PLACE":
            first = self._index(pin.start, pin)
            held = over_time(self.worlds, first, np.array(pin.position), turns[first])
        elif pin.held == "OBJECT":
            held = self._followed(context, object, pin, places, turns)
        position, turn = held
        carrier = carrier_of(object, pin.target) if pin.held == "OBJECT" else None
        if carrier is not None and position is not None and turn is not None:
            position, turn = self._relative(pin, skeleton.index(carrier), position, turn)
        return TimedPin(
            pin.name, pin.start, pin.end, position if pin.use_position else None, turn if pin.use_rotation else None,
            pin.ease_in, pin.ease_out, tuple(point.tolist()), carrier,
        )  # fmt: skip

    def _relative(self, pin: Any, carrier: int, position: Array, turn: Array) -> tuple[Array, Array]:
        """Places and rotations over time in the frame of the bone that carries the object that the pin goes with."""
        skeleton = self.skeleton
        if skeleton.index(pin.name) in skeleton.ancestors(carrier):
            raise CoreError(f'The timed pin of "{pin.name}" goes with "{pin.target.name}", which hangs on that bone.')
        heads, turns = (part[:, carrier] for part in forward(skeleton, self.before.pose))
        back = rotation.inv(turns)
        return rotation.rotate(back, position - heads), rotation.mul(back, turn)

    def _index(self, frame: int, pin: Any) -> int:
        """Of a frame in the motion."""
        frames = self.before.frames
        if not frames[0] <= frame <= frames[-1]:
            raise CoreError(f'The timed pin of "{pin.name}" needs frame {frame}, which the motion does not have.')
        return int(np.searchsorted(frames, frame))

    def _followed(
        self, context: Any, object: Any, pin: Any, places: Array, turns: Array
    ) -> tuple[Array | None, Array | None]:
        """With the object, from where the motion has the bone in the first frame."""
        if pin.target is None:
            raise CoreError(f'The timed pin of "{pin.name}" has no object to go with; choose one.')
        first = self._index(pin.start, pin)
        seen = record(context, object, self.before.frames, {pin.name: pin.target}).objects[pin.name]
        start = bridge.armature_to_world(self.worlds[first], places[first], turns[first])
        own = bridge.world_to_armature(seen[first], *start)
        count = len(seen)
        carried = [None if part is None else np.broadcast_to(part, (count, len(part))) for part in own]
        return bridge.world_to_armature(self.worlds, *bridge.armature_to_world(seen, *carried))

    def find(self, points: Sequence[str]) -> Contacts:
        """Contacts of the original motion."""
        return find_touches(self, contact_points(self.skeleton, self.roles, points))

    def write(self, object: Any, action: str | None = None, new: bool = True) -> Report:
        """Put the pinned motion in the place of the one that was made before."""
        source = bpy.data.actions.get(self.source)
        if source is None:
            raise CoreError(f'The action "{self.source}" is gone; nothing is written.')
        present, old = object.animation_data.action, object.poise_result
        anew = object.poise_source == source and not edited(object)
        bridge.assign(object, source)
        try:
            report = super().write(object, action)
        except CoreError:
            bridge.assign(object, present)
            raise
        made = object.animation_data.action
        object.poise_source, object.poise_result = source, made
        object.poise_result_print = fingerprint(made)
        name = None if old is None or not anew else old.name
        self.kept = "" if old is None or anew else old.name
        if anew:
            drop(old)
        elif old is not None:
            old.use_fake_user = True
        if name is not None and name not in bpy.data.actions:
            made.name = name
        return report


def carrier_of(object: Any, other: Any) -> str | None:
    """The bone of the armature that carries another object, as its parent or its parent's; None if there is none."""
    while other is not None:
        if other.parent == object and other.parent_type == "BONE":
            return other.parent_bone
        child_of = (one for one in other.constraints if one.type == "CHILD_OF" and not one.mute and one.influence)
        held = next((one.subtarget for one in child_of if one.target == object and one.subtarget), None)
        if held is not None:
            return held
        other = other.parent
    return None


def _leading_to(frame: int, pins: Sequence[Any], whole: tuple[int, int]) -> Frames:
    """The frames of a motion that one frame depends on: those to the pins whose ease it is in, and where they hold."""
    found = {min(max(frame, whole[0]), whole[1])}
    for pin in pins:
        found |= {*range(frame, pin.start + 1), *range(pin.end, frame + 1), pin.start}
        found |= {pin.frame} if pin.held == "FRAME" else set()
    return np.array(sorted(number for number in found if whole[0] <= number <= whole[1]))


def show_frame(context: Any, object: Any) -> None:
    """Give the armature the pose that it has with its timed pins in the present frame, without keys."""
    edit = PinnedMotion(context, object, context.scene.frame_current)
    edit.solve()
    place = np.searchsorted(edit.before.frames, context.scene.frame_current).clip(max=len(edit.before) - 1)
    context.view_layer.update()  # else the action that was looked at another one for would come after the pose
    edit.show(object, edit.after.pose[place])


def give_back(object: Any) -> None:
    """The original motion, as it was before there were timed pins."""
    source, made = object.poise_source, object.poise_result
    if source is None:
        return
    same = not edited(object)
    bridge.assign(object, source)
    object.poise_source = object.poise_result = None
    if same:
        drop(made)
    elif made is not None:
        made.use_fake_user = True


def edited(object: Any) -> bool:
    """Whether the pinned motion has been changed by hand since it was made."""
    made = object.poise_result
    return made is not None and fingerprint(made) != object.poise_result_print


def fingerprint(action: Any) -> str:
    """Of all keys of an action."""
    found = sha256()
    for curve in bridge.all_curves(action):
        values = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", values)
        found.update(f"{curve.data_path}{curve.array_index}".encode() + values.tobytes())
    return found.hexdigest()


def drop(action: Any) -> None:
    """Remove an action that was made here, unless somebody else has come to use it."""
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)


def add_timed_pin(object: Any, bone: str, start: int, end: int) -> Any:
    pin = object.poise_timed_pins.add()
    pin.name = pin.label = bone
    pin.start, pin.end, pin.frame = start, end, start
    object.poise_active_timed_pin = len(object.poise_timed_pins) - 1
    return pin


def store_pins(object: Any, names: Sequence[str], pins: Sequence[TimedPin], labels: Sequence[str]) -> None:
    """Pins as they are found, at their places, into the list; `names` of the skeleton's bones."""
    for pin, label in zip(pins, labels, strict=True):
        bone = pin.bone if isinstance(pin.bone, str) else names[pin.bone]
        stored = add_timed_pin(object, bone, round(pin.start), round(pin.end))
        stored.label, stored.held = label, "PLACE"
        stored.point, stored.position = pin.point, pin.position
        stored.ease_in = stored.ease_out = max(LEAST_EASE, round(pin.ease_in))
