"""The motion that is solved of an armature's timed pins; the original action is kept."""

import json
from collections.abc import Generator, Sequence
from dataclasses import astuple, replace
from time import perf_counter
from typing import Any

import bpy
import numpy as np

from .. import bridge
from ..bridge.channels import channel_path, rotation_channel
from ..core import CoreError, Motion, Pose, forward, rotation
from ..core.editing.contacts import Contacts
from ..core.editing.timed_pins import PinFingerprint, TimedPin, affected_frames
from ..core.formats.report import GoalReport, Report
from ..core.rotation import Array
from ..core.skeleton import Flags
from .controls import set_switches
from .evaluation import evaluate
from .fingerprints import digest, fingerprint
from .foot_lock import contact_points, find_ground_contacts
from .held_motion import HeldMotion, hold_in_world
from .motion_edit import Bones, ChangedBones, Frames, no_action, no_progress
from .renames import follow_renames, note_bones
from .unkeyed import find_unkeyed, keyed_paths, read_unkeyed, restore_unkeyed, store_unkeyed


def source_action(armature: Any) -> Any:
    """The action that timed pins change: the original one where the armature has the one made of it, else its own."""
    data = armature.animation_data
    action = data.action if data is not None else None
    if armature.poise_source is not None and action is not None and action == armature.poise_result:
        return armature.poise_source
    return action


def need_source(armature: Any) -> Any:
    """The same; raises CoreError where there is none, and where the NLA editor would not let keys be what is seen."""
    source = source_action(armature)
    if source is None:
        raise CoreError(no_action(armature))
    bridge.check_target(armature)
    return source


class PinnedMotion(HeldMotion):
    """The original motion with the armature's timed pins: all of it, or as much as one `frame` depends on.

    Pins that cannot hold are left out; `left_out` says of each why. Without `pinned` no pins are looked at.
    Where the armature has a motion that was solved before, only those frames are solved that a change since then
    reaches: `only`. `after` has the original motion in the others, and nothing is written there.
    """

    def __init__(self, context: Any, armature: Any, frame: int | None = None, pinned: bool = True) -> None:
        follow_renamed_bones(armature)
        source = need_source(armature)
        self.source: str = source.name
        with bridge.using_action(armature, source):
            restore_unkeyed(armature, read_unkeyed(armature, self.source))
            self._still = find_unkeyed(armature)
            whole, used = (
                bridge.keyed_range(armature),
                [pin for pin in armature.poise_timed_pins if pinned and not pin.mute],
            )
            if frame is not None:
                used = [pin for pin in used if pin.start - pin.ease_in <= frame <= pin.end + pin.ease_out]
            super().__init__(context, armature, whole if frame is None else _frames_needed(frame, used, whole))
            pins: list[TimedPin] = []
            self.left_out: list[str] = []
            for pin in used:
                try:
                    pins.append(self._pin(context, armature, pin))
                except CoreError as error:
                    self.left_out.append(str(error).removesuffix("."))
            self.pins = pins
        if frame is not None:
            self.draft, self.only = True, self.before.frames == frame
        else:
            self.made_of = digest(self.before, self.skeleton, self.roles)
            self.only = self._changed(armature)

    def _changed(self, armature: Any) -> Flags | None:
        """The frames (F,) that are others now than in the motion that the armature has; None: all may be."""
        stored = json.loads(armature.poise_result_pins or "{}")
        if stored.get("made_of") != self.made_of or not has_result(armature) or is_edited(armature):
            return None
        return affected_frames(self.skeleton, self.before, [_trace(pin) for pin in stored["pins"]], self.traces())

    def traces(self) -> list[PinFingerprint]:
        """What will tell these pins from others."""
        return [pin.fingerprint(self.skeleton) for pin in self.pins]

    def control_frames(self) -> Frames:
        return super().control_frames() if self.only is None else np.flatnonzero(self.only)

    def pose_controls(self, armature: Any, new: bool = True) -> Generator[float, None, None]:
        if self.controlled is not None and len(self.control_frames()):
            with bridge.using_action(armature, self._source()):
                yield from super().pose_controls(armature, new)

    def _pin(self, context: Any, armature: Any, pin: Any) -> TimedPin:
        bone = self.skeleton.index(pin.bone)
        if not (pin.use_position or pin.use_rotation):
            raise CoreError(f'The timed pin of "{pin.bone}" holds neither a position nor a rotation.')
        point = np.array(pin.point)
        if pin.held == "MOTION":
            held = self._stand(bone, point, slice(None))
        elif pin.held == "OBJECT":
            held = self._followed(context, armature, pin, self._stand(bone, point, self._index(pin.start, pin)))
        else:
            at = self._index(pin.frame if pin.held == "FRAME" else pin.start, pin)
            place, stand = np.array(pin.position), None
            if pin.held == "PLACE" and any(pin.rotation):
                stand = rotation.normalize(np.array(pin.rotation))
            elif pin.held == "FRAME" or pin.use_rotation:
                there, stand = self._stand(bone, point, at)
                place = there if pin.held == "FRAME" else place
            held = hold_in_world(self.worlds, at, place, stand)
        position, turn = held
        carrier = carrying_bone(armature, pin.target) if pin.held == "OBJECT" else None
        if carrier is not None and position is not None and turn is not None:
            position, turn = self._relative(pin, self.skeleton.index(carrier), position, turn)
        return TimedPin(
            pin.bone, pin.start, pin.end, position if pin.use_position else None, turn if pin.use_rotation else None,
            pin.ease_in, pin.ease_out, tuple(point.tolist()), carrier,
        )  # fmt: skip

    def _stand(self, bone: int, point: Array, frames: int | slice) -> tuple[Array, Array]:
        """Where the original motion has a point of a bone, and how it has the bone, in some of its frames."""
        heads, turns = (part[..., bone, :] for part in forward(self.skeleton, self.before.pose[frames]))
        return heads + rotation.rotate(turns, point), turns

    def _relative(self, pin: Any, carrier: int, position: Array, turn: Array) -> tuple[Array, Array]:
        """Places and rotations over time in the frame of the bone that carries the object that the pin goes with."""
        skeleton = self.skeleton
        if skeleton.index(pin.bone) in skeleton.ancestors(carrier):
            raise CoreError(f'The timed pin of "{pin.bone}" goes with "{pin.target.name}", which hangs on that bone.')
        heads, turns = (part[:, carrier] for part in forward(skeleton, self.before.pose))
        back = rotation.inv(turns)
        return rotation.rotate(back, position - heads), rotation.mul(back, turn)

    def _index(self, frame: int, pin: Any) -> int:
        """Of a frame in the motion."""
        frames = self.before.frames
        if not frames[0] <= frame <= frames[-1]:
            raise CoreError(f'The timed pin of "{pin.bone}" needs frame {frame}, which the motion does not have.')
        return int(np.searchsorted(frames, frame))

    def _followed(
        self, context: Any, armature: Any, pin: Any, stand: tuple[Array, Array]
    ) -> tuple[Array | None, Array | None]:
        """With the object, from where the motion has the bone in the first frame, which is given."""
        if pin.target is None:
            raise CoreError(f'The timed pin of "{pin.bone}" has no object to go with; choose one.')
        first = self._index(pin.start, pin)
        seen = evaluate(context, armature, self.before.frames, {pin.bone: pin.target}).objects[pin.bone]
        start = bridge.armature_to_world(self.worlds[first], *stand)
        own = bridge.world_to_armature(seen[first], *start)
        count = len(seen)
        carried = [None if part is None else np.broadcast_to(part, (count, len(part))) for part in own]
        return bridge.world_to_armature(self.worlds, *bridge.armature_to_world(seen, *carried))

    def find(self, points: Sequence[str]) -> Contacts:
        """Contacts of the original motion."""
        return find_ground_contacts(self, contact_points(self.skeleton, self.roles, points))

    def write(self, armature: Any, action: str | None = None, new: bool = True) -> Report:
        """Put the pinned motion in the place of the one that was made before."""
        source = self._source()
        if self.only is not None:
            report = self._write_changed(armature)
            if report is not None:
                return report
            self.only = self.control_motion = None
            self.after = self.before
            self.compute(no_progress)
        present, old = armature.animation_data.action, armature.poise_result
        anew = armature.poise_source == source and not is_edited(armature)
        bridge.assign(armature, source)
        try:
            report = super().write(armature, action)
        except CoreError:
            bridge.assign(armature, present)
            raise
        made = armature.animation_data.action
        armature.poise_source, armature.poise_result = source, made
        self._note(armature, report.goals)
        name = None if old is None or not anew else old.name
        self.kept = "" if old is None or anew else old.name
        if anew:
            remove_unused(old)
        elif old is not None:
            old.use_fake_user = True
        if name is not None and name not in bpy.data.actions:
            made.name = name
        return replace(report, action=made.name)

    def _source(self) -> Any:
        source = bpy.data.actions.get(self.source)
        if source is None:
            raise CoreError(f'The action "{self.source}" is gone; nothing is written.')
        return source

    def _note(self, armature: Any, goals: Sequence[GoalReport]) -> None:
        """What the motion that was written was made of, what it is, and how pins hold in it where they are worst."""
        pins, worst = [astuple(trace) for trace in self.traces()], [_worst(goal) for goal in goals]
        armature.poise_result_pins = json.dumps({"made_of": self.made_of, "pins": pins, "worst": worst})
        armature.poise_result_print = fingerprint(armature.poise_result)
        note_bones(armature)

    def report(self, armature: Any, written: Any, changed: ChangedBones) -> Report:
        self._keep_still(armature, changed[0], changed[1])
        return super().report(armature, written, changed)

    def show_pose(self, armature: Any, pose: Pose) -> None:
        place = int(np.flatnonzero(self.only)[0]) if self.only is not None and self.only.any() else 0
        self._keep_still(armature, *bridge.changed_bones(self.before.pose[[place]], pose[None])[:2])
        super().show_pose(armature, pose)

    def _keep_still(self, armature: Any, turned: Bones, moved: Bones) -> None:
        """How the bones that are going to be moved stand where they have no keys; of controls those of the body."""
        names = self.rig.skeleton.names
        bones = {*turned.tolist(), *moved.tolist()}
        if self.controlled is not None:
            bones = self.controlled.keyed
        store_unkeyed(armature, self.source, self._still, [names[bone] for bone in sorted(bones)])

    def _write_changed(self, armature: Any) -> Report | None:
        """Key the frames that were solved in the motion that is there; None, with nothing done, where it cannot be."""
        assert self.only is not None
        if not has_result(armature) or is_edited(armature):
            return None
        begin = perf_counter()
        turned = moved = np.zeros(0, int)
        if self.only.any():
            made = armature.poise_result
            if others_use(armature, made):
                _assign_result(armature, made.copy())
            keyed = self._key_changed(armature, self.only)
            if keyed is None:
                if armature.poise_result != made:
                    copy = armature.poise_result
                    _assign_result(armature, made)
                    remove_unused(copy)
                return None
            turned, moved = keyed
            if self.controlled is not None:  # what is reported are the bones of the body
                turned, moved, _ = bridge.changed_bones(self.before.pose[self.only], self.after.pose[self.only])
        self.kept = ""
        self.seconds["write"] = perf_counter() - begin
        report = self.report(armature, armature.poise_result, (turned, moved, np.zeros(0, int)))
        self._note(armature, report.goals)
        return report

    def measure(self, armature: Any) -> tuple[GoalReport, ...]:
        """Of pins that hold nothing but frames that stay as they were, what was found in their worst ones before."""
        if self.only is None:
            return super().measure(armature)
        stored = json.loads(armature.poise_result_pins)
        found = dict(zip(map(_trace, stored["pins"]), stored.get("worst", ()), strict=False))
        goals: dict[int, GoalReport] = {}
        for number, (pin, trace) in enumerate(zip(self.pins, self.traces(), strict=True)):
            worst = found.get(trace)
            if worst is not None and not self.only[slice(*pin.span(self.before))].any():
                far, turned = (None if value is None else np.array([value]) for value in worst[1:])
                goals[number] = self.report_pin(pin, np.array(worst[:1]), far, turned)
        others = [number for number in range(len(self.pins)) if number not in goals]
        goals |= zip(others, self.measure_pins(armature, [self.pins[number] for number in others]), strict=True)
        return tuple(goals[number] for number in range(len(self.pins)))

    def _key_changed(self, armature: Any, only: Flags) -> tuple[Bones, Bones] | None:
        """Key some frames (F,) in the present motion, and none beside them; the bones that turned and moved.

        None, with nothing done, where rotations would come out otherwise than they go on in the frames after.
        """
        led = None if self.controlled is None else self.find_control_motion(armature)
        near = only.copy()  # with a frame on each side, where all is as it was
        near[1:] |= only[:-1]
        near[:-1] |= only[1:]
        present = bridge.read_channels(armature)
        restore_unkeyed(armature, self._still)
        now, _ = bridge.read_motion(armature, self.rig, self.before.frames[near])
        bridge.write_channels(armature, present)
        inner = only[near]
        new = self.after.pose[only] if led is None else led.motion.pose
        rotations, translations = now.pose.rotations.copy(), now.pose.translations.copy()
        rotations[inner], translations[inner] = new.rotations, new.translations
        pose = Pose.trusted(rotations, translations, now.pose.scales, now.pose.driven_matrices)
        turned, moved, _ = bridge.changed_bones(now.pose, pose)
        places = np.flatnonzero(near)
        runs = np.split(np.arange(len(places)), np.flatnonzero(np.diff(places) > 1) + 1)
        for run in runs:
            goes_on = inner[run[-1]] or bridge.meets_curves(armature, self.rig, _part(now, pose, run), turned)
            if not goes_on:
                return None
        keyed = keyed_paths(armature)
        skeleton, ways = self.rig.skeleton, (turned, moved)
        channels = [[rotation_channel(mode) for mode in skeleton.rotation_modes], ["location"] * len(skeleton)]
        fresh_turned, fresh_moved = (
            np.array([channel_path(skeleton.names[bone], names[bone]) not in keyed for bone in bones], bool)
            for bones, names in zip(ways, channels, strict=True)
        )
        for run in runs:  # what has no keys yet goes on from the frames beside, as it was
            wide, part = _part(now, pose, run), _part(now, pose, run[inner[run]])
            bridge.write_keys(armature, self.rig, wide, turned[fresh_turned], moved[fresh_moved], None, new=False)
            bridge.write_keys(armature, self.rig, part, turned[~fresh_turned], moved[~fresh_moved], None, new=False)
        if led is not None:
            set_switches(armature, led, framed=True)
        return turned, moved


def _part(motion: Motion, pose: Pose, places: Frames) -> Motion:
    """Some frames of a motion with other poses."""
    return Motion(pose[places], motion.frames[places], motion.fps)


def _worst(goal: GoalReport) -> list[float | None] | None:
    """The frame in which a pin is furthest off, and by how much; None where it holds no frame."""
    if not len(goal.frames):
        return None
    values = (goal.frames, goal.position_error, goal.rotation_error)
    return [None if some is None else float(some[goal.worst]) for some in values]


def _trace(stored: Sequence[Any]) -> PinFingerprint:
    bone, (x, y, z), *rest = stored
    return PinFingerprint(bone, (x, y, z), *rest)


def has_result(armature: Any) -> bool:
    """Whether the armature has the motion that was made of its timed pins."""
    data = armature.animation_data
    return (
        armature.poise_source is not None and armature.poise_result is not None and data.action == armature.poise_result
    )


def carrying_bone(armature: Any, other: Any) -> str | None:
    """The bone of the armature that carries another object, as its parent or its parent's; None if there is none."""
    while other is not None:
        if other.parent == armature and other.parent_type == "BONE":
            return other.parent_bone
        child_of = (one for one in other.constraints if one.type == "CHILD_OF" and not one.mute and one.influence)
        held = next((one.subtarget for one in child_of if one.target == armature and one.subtarget), None)
        if held is not None:
            return held
        other = other.parent
    return None


def _frames_needed(frame: int, pins: Sequence[Any], whole: tuple[int, int]) -> Frames:
    """The frames of a motion that one frame depends on: those to the pins whose ease it is in, and where they hold."""
    found = {min(max(frame, whole[0]), whole[1])}
    for pin in pins:
        found |= {*range(frame, pin.start + 1), *range(pin.end, frame + 1), pin.start}
        found |= {pin.frame} if pin.held == "FRAME" else set()
    return np.array(sorted(number for number in found if whole[0] <= number <= whole[1]))


def show_pinned_frame(context: Any, armature: Any) -> None:
    """Give the armature the pose that it has with its timed pins in the present frame, without keys."""
    edit = PinnedMotion(context, armature, context.scene.frame_current)
    edit.solve()
    place = np.searchsorted(edit.before.frames, context.scene.frame_current).clip(max=len(edit.before) - 1)
    context.view_layer.update()  # else the action that was looked at another one for would come after the pose
    edit.show_pose(armature, edit.after.pose[place])


def restore_source(armature: Any) -> None:
    """The original motion, as it was before there were timed pins."""
    source, made = armature.poise_source, armature.poise_result
    if source is None:
        return
    same = not is_edited(armature)
    bridge.assign(armature, source)
    armature.poise_source = armature.poise_result = None
    armature.poise_result_pins = ""
    restore_unkeyed(armature, read_unkeyed(armature, source.name))
    armature.poise_still = ""
    if same:
        remove_unused(made)
    elif made is not None:
        made.use_fake_user = True


def is_edited(armature: Any) -> bool:
    """Whether the pinned motion has been changed by hand since it was made."""
    follow_renamed_bones(armature)
    made = armature.poise_result
    return made is not None and fingerprint(made) != armature.poise_result_print


def follow_renamed_bones(armature: Any) -> None:
    """The original motion, and what is known of the pinned one, go with bones that were renamed."""
    names = follow_renames(armature)
    if names and armature.poise_result is not None:
        before = {new: old for old, new in names.items()}
        if fingerprint(armature.poise_result, before) == armature.poise_result_print:
            armature.poise_result_print = fingerprint(armature.poise_result)


def others_use(armature: Any, action: Any) -> bool:
    """Whether somebody else, such as a linked double of the armature, uses an action that this one has."""
    own = (armature.animation_data.action, armature.poise_source, armature.poise_result, armature.poise_generated)
    return action.users - action.use_fake_user > sum(one == action for one in own)


def _assign_result(armature: Any, action: Any) -> None:
    """Another action with the same slots in the place of the pinned motion."""
    data = armature.animation_data
    handle = data.action_slot.handle
    data.action = armature.poise_result = action
    data.action_slot = next(slot for slot in action.slots if slot.handle == handle)


def remove_unused(action: Any) -> None:
    """Remove an action that was made here, unless somebody else has come to use it."""
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)
