"""The motion that is solved from an armature's timed pins; the original action is kept."""

import json
from collections.abc import Generator, Sequence
from dataclasses import astuple, replace
from functools import cached_property
from time import perf_counter
from typing import Any, Final, NamedTuple

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError, Motion, PinAndDrag, Pose, Skeleton, rotation
from ..core.body.anatomy import anatomy, carrier_of
from ..core.editing.contacts import foot_points, runs
from ..core.editing.drift import WIDTHS, smooth
from ..core.editing.floor import Floor
from ..core.editing.footsteps import feet_but, feet_of, free_ankles
from ..core.editing.timed_pins import PinFingerprint, TimedPin, affected_frames, pin_errors
from ..core.formats.report import GoalReport, Report
from ..core.motion import forward_of, shifted
from ..core.rotation import Array, lengths
from ..core.skeleton import Flags
from . import pinned_actions
from .controls import SHIFTED, TURNED
from .fingerprints import digest, fingerprint
from .foot_lock import contact_points, find_ground_contacts, hands_on_meshes, points_above_ground
from .held_motion import HeldMotion
from .motion_edit import UNMEASURED, Bones, ChangedBones, Frames, Progress, no_progress, temporary_value
from .pin_list import remove_or_mute
from .renames import note_bones
from .stored import read_kept
from .timed_pins import PinReader, add_found_pins, select_nearest_timed_pin
from .unkeyed import find_unkeyed, read_unkeyed, restore_unkeyed, store_unkeyed
from .words import counted

TOLD: Final = 3  # missed pins in one report
_ROUNDS: Final = 4  # solves at most with controls where the last one has left them


class PinnedMotion(HeldMotion):
    """The original motion with the armature's timed pins: all of it, or what one `frame` depends on.

    Pins that cannot hold are left out; `left_out` says of each why. Without `pinned` no pins are read. Where the
    armature has a result that was solved before, only the frames that changed pins affect are solved and written:
    `only`. `after` has the original motion in the others.
    """

    measured = False  # pins are moved many times
    layered = False  # the original motion is a setting of its own

    def __init__(self, context: Any, armature: Any, frame: int | None = None, pinned: bool = True) -> None:
        pinned_actions.follow_renamed_bones(armature)
        source = pinned_actions.need_source(armature)
        self.source: str = source.name
        with bridge.using_action(armature, source):
            restore_unkeyed(armature, read_unkeyed(armature, self.source))
            self._unkeyed = find_unkeyed(armature)
            whole = bridge.keyed_range(armature)
            used = [pin for pin in armature.poise_timed_pins if pinned and not pin.mute]
            if frame is not None:
                used = [pin for pin in used if pin.start - pin.ease_in <= frame <= pin.end + pin.ease_out]
            self.besides = [pin.bone for pin in used]
            super().__init__(context, armature, whole if frame is None else _frames_needed(frame, used, whole))
            self.pins = self._read(context, armature, used, self.before)
            if self._climbs():
                self.pins = self._read(context, armature, used, self._onto_meshes())
        if frame is not None:
            self.draft, self.only = True, self.before.frames == frame
        else:
            self.made_of = digest(self.before, self.skeleton, self.roles)
            self.only = None if self._climbs() else self._changed(armature)

    def _read(self, context: Any, armature: Any, stored: Sequence[Any], motion: Motion) -> list[TimedPin]:
        """Return stored pins as core's, of what a motion has, and note those that are left out."""
        reader = PinReader(self.skeleton, motion, self.worlds)
        pins: list[TimedPin] = []
        self.left_out: list[str] = []
        for pin in stored:
            try:
                pins.append(reader.read(context, armature, pin))
            except CoreError as error:
                self.left_out.append(str(error).removesuffix("."))
        return pins

    @cached_property
    def _on_ik(self) -> list[int]:
        """The feet on IK, whose ankles have no limit, as under Blender's G."""
        return [] if self.controlled is None else feet_but(self.skeleton, self.roles, self.controlled.planted, ())

    def pinned(self, motion: Motion, pins: Sequence[TimedPin], progress: Progress) -> Motion:
        """Return a motion with some pins: first those of feet, and then the others while these feet stay.

        So do feet on IK, as under Blender's G.
        """
        pins = [self._on_part(pin) for pin in pins]
        if self._climbs():
            return super().pinned(motion, pins, progress)
        ends = {*self._on_ik, *(foot.bone for foot in feet_of(self.skeleton, self.roles))}
        of_feet = [not ends.isdisjoint(self.skeleton.ancestors(self.skeleton.index(pin.bone))) for pin in pins]
        feet, others = (
            [pin for pin, own in zip(pins, of_feet, strict=True) if own == which] for which in (True, False)
        )
        if feet:
            only = None if others else self.solved_frames(motion)
            held = [*feet, *self._planted(motion, feet), *self.staying]
            motion = self.solved(motion, held, self.settings(motion), only, no_progress if others else progress)
        if others:
            placed = self._placed(motion, feet, others)
            held = [*others, *self._planted(motion, others), *placed, *self.staying]
            motion = self.solved(motion, held, self._as_dragged(motion, held), self.solved_frames(motion), progress)
        return motion

    def _as_dragged(self, motion: Motion, held: Sequence[TimedPin]) -> tuple[Skeleton, PinAndDrag]:
        """Return the limits but those of ankles that have none, and joints that turn as in a drag."""
        (skeleton, method), found = self.settings(motion), anatomy(self.skeleton, self.roles)
        loose = free_ankles(self.skeleton, self.roles, self._on_ik, held)
        limits = [group.take(np.flatnonzero(~np.isin(group.bones, loose))) for group in skeleton.limits]
        return replace(skeleton, limits=tuple(limits)), replace(method, deviations=found.deviations, bends=found.bends)

    def _planted(self, motion: Motion, pins: Sequence[TimedPin]) -> list[TimedPin]:
        """Return pins that keep feet on IK where a motion has them while others hold, and give way to these.

        But not while a foot, or what hangs on it, is pinned itself. Blender's G leaves such feet in their place, too.
        """
        heads, turns = forward_of(self.skeleton, motion.pose, self._on_ik)
        above = [self.skeleton.ancestors(self.skeleton.index(pin.bone)) for pin in pins]
        holds, level = _when(motion, pins), 1 + max(pin.priority for pin in pins)
        found: list[TimedPin] = []
        for at, foot in enumerate(self._on_ik):
            own = np.array([foot in bones for bones in above])
            for span in runs(holds[~own].any(axis=0) & ~holds[own].any(axis=0)):
                first, last = motion.frames[[*span]].tolist()
                found.append(TimedPin(foot, first, last, heads[:, at], turns[:, at], priority=level))
        return found

    def _placed(self, motion: Motion, feet: Sequence[TimedPin], pins: Sequence[TimedPin]) -> list[TimedPin]:
        """Return pins that hold what pins of feet hold, where a motion has it, while and between others hold."""
        alike: dict[tuple[Any, ...], TimedPin] = {}
        for pin in feet:
            alike.setdefault(
                (self.skeleton.index(pin.bone), *pin.point, pin.rotation is None, pin.position is None), pin
            )
        found, spans = list[TimedPin](), runs(_when(motion, pins).any(axis=0))
        for (bone, *_), pin in alike.items():
            heads, turns = (part[:, 0] for part in forward_of(self.skeleton, motion.pose, [bone]))
            place = None if pin.position is None else heads + rotation.rotate(turns, np.asarray(pin.point))
            held = replace(pin, position=place, rotation=None if pin.rotation is None else turns, relative_to=None)
            for span in spans:
                first, last = motion.frames[[*span]].tolist()
                found.append(replace(held, start=first, end=last, ease_in=0.0, ease_out=0.0))
        return found

    def _on_part(self, pin: TimedPin) -> TimedPin:
        """Return the place of a control that moves a part without turning it as that of the part, as MMD's foot IK."""
        bone = self.skeleton.index(pin.bone)
        if self.controlled is None or pin.position is None or pin.rotation is not None or pin.relative_to is not None:
            return pin
        body, own = self.controlled.now, int(self.controlled.now.bones[bone])
        part = body.riding.get(own)
        if part is None or own != body.controls[part].moves or own == body.controls[part].turns:
            return pin
        heads, turns = forward_of(self.skeleton, self.before.pose, [bone, part])
        beside = heads[:, 0] + rotation.rotate(turns[:, 0], np.asarray(pin.point)) - heads[:, 1]
        return replace(pin, bone=part, point=(0.0, 0.0, 0.0), position=pin.position - beside)

    def _climbs(self) -> bool:
        """Return whether the ground is meshes, and feet are pinned on it."""
        return self.surface is not None and bool(self._foot_pins())

    def _foot_pins(self) -> list[TimedPin]:
        feet = {point.bone for point in foot_points(self.skeleton, self.roles)}
        held = [pin for pin in self.pins if pin.position is not None and pin.relative_to is None]
        return [pin for pin in held if self.skeleton.index(pin.bone) in feet]

    def _onto_meshes(self) -> Motion:
        """Return the motion going up and down with its pinned feet, as `raised_onto` for contacts."""
        ups = np.linalg.solve(self.worlds[:, :3, :3], np.array([[[0.0], [0.0], [1.0]]]))[..., 0]
        ups /= lengths(ups)[:, None]
        pins, root = self._foot_pins(), carrier_of(self.skeleton, self.roles)
        if root is None:
            return self.before
        rise, on = np.zeros((len(self.before), len(pins))), np.zeros((len(self.before), len(pins)), bool)
        for number, pin in enumerate(pins):
            span = slice(*pin.span(self.before))
            rise[span, number] = -(pin_errors(self.skeleton, self.before, pin)[0] * ups[span]).sum(axis=-1).mean()
            on[span, number] = True
        step = smooth(rise[..., None], on, self.before, WIDTHS[1], 0.0) * ups
        return replace(self.before, pose=shifted(self.skeleton, self.before.pose, root, step))

    def _held_at(self, pin: TimedPin) -> Array:
        """Return where a pin holds (n, 3), in the space of the armature at the first frame."""
        span = slice(*pin.span(self.before))
        places = np.broadcast_to(np.asarray(pin.position), (len(self.before), 3))[span]
        if self.moves is None:
            return places
        return np.asarray(bridge.armature_to_world(self.moves[span], places, None)[0])

    def compute(self, progress: Progress) -> None:
        if self._climbs():
            self.after = self._onto_meshes()
            self.follow_object()
            up = bridge.world_up(self.worlds[0])
            up /= np.linalg.norm(up)
            lowest = min(float((self._held_at(pin) @ up).min()) for pin in self._foot_pins())
            self.floor = Floor(up, lowest, levels=False, surface=self.surface)
        super().compute(progress)

    def _changed(self, armature: Any) -> Flags | None:
        """Return the frames (F,) that pins changed since the result was made affect; None where all may be."""
        stored = read_kept(armature, "poise_result_pins", _read_result)
        if (
            stored is None
            or stored.made_of != self.made_of
            or not pinned_actions.has_result(armature)
            or pinned_actions.is_edited(armature)
        ):
            return None
        return affected_frames(self.skeleton, self.before, [*stored.worst], self.fingerprints())

    def fingerprints(self) -> list[PinFingerprint]:
        """Return what identifies the pins later."""
        return [pin.fingerprint(self.skeleton) for pin in self.pins]

    def control_frames(self) -> Frames:
        return super().control_frames() if self.only is None else np.flatnonzero(self.only)

    def pose_controls(self, armature: Any, new: bool = True) -> Generator[float, None, None]:
        if self.controlled is not None and len(self.control_frames()):
            with bridge.using_action(armature, self._source()):
                yield from super().pose_controls(armature, new)
                for _ in range(_ROUNDS):
                    if not self._takes_posed():
                        break
                    yield from super().pose_controls(armature, new)

    def _takes_posed(self) -> bool:
        """Solve again if pinned controls are now elsewhere beside their parts, as those of paws that turn with the leg.

        Return whether one is.
        """
        assert self.controlled is not None
        assert self.posed is not None
        body = self.controlled.now
        going = np.isin(body.bones, [*{*body.riding} - body.idle])
        held = {self.skeleton.index(self._on_part(pin).bone) for pin in self.pins}
        pinned = [part for part in held if going[part]]
        at, posed = np.ix_(self.control_frames(), pinned), self.posed
        places, turns = np.array(self.before.pose.translations), np.array(self.before.pose.rotations)
        far = np.abs(places[at] - posed.translations[:, pinned]).max(initial=0.0)
        turned = rotation.angle_between(turns[at], posed.rotations[:, pinned]).max(initial=0.0)
        if far < SHIFTED * self.skeleton.size and turned < TURNED:
            return False
        places[at], turns[at] = posed.translations[:, pinned], posed.rotations[:, pinned]
        pose = replace(self.before.pose, translations=places, rotations=turns)
        self.after = self.before = replace(self.before, pose=pose)
        self.compute(no_progress)
        return True

    def write(self, armature: Any, action: str | None = None, new: bool = True) -> Report:
        """Replace the result that was made before; `kept`: the name of one that is kept, since it was edited."""
        source = self._source()
        if self.only is not None:
            report = self._write_changed(armature)
            if report is not None:
                return report
            self.only = self.control_motion = None
            self.after = self.before
            self.compute(no_progress)
        present, old, edited = armature.animation_data.action, armature.poise_result, pinned_actions.is_edited(armature)
        replaced = armature.poise_source == source and not edited
        bridge.assign(armature, source)
        try:
            report = super().write(armature, action)
        except (CoreError, bridge.Stopped):
            bridge.assign(armature, present)
            raise
        made = armature.animation_data.action
        armature.poise_source, armature.poise_result = source, made
        self._store_result(armature, report.goals)
        name = None if old is None or not replaced else old.name
        self.kept = old.name if edited and old is not None else ""
        if replaced:
            pinned_actions.remove_unused(old)
        elif old is not None:
            old.use_fake_user = True
        if name is not None and name not in bpy.data.actions:
            made.name = name
        return replace(report, action=made.name)

    def summary(self, report: Report) -> tuple[bool, str]:
        """Return whether all timed pins hold and no action is kept, and how many hold, with reasons of the others."""
        if len(report.goals) < len(self.pins):
            return False, f'Solved in "{report.action}"{said_kept(self.kept)}; {UNMEASURED}'
        held, count = sum(bool(goal.met.all()) for goal in report.goals), len(report.goals)
        number = counted(held, "timed pin") if held == count else f"{held} of {counted(count, 'timed pin')}"
        sentence = f'{number} {"holds" if count == 1 else "hold"} in "{report.action}"{said_kept(self.kept)}'
        if held == count and not self.left_out:
            return not self.kept, sentence
        missed = [one for one in report.explanations if one not in self.reasons]
        wrong = [*missed[:TOLD], *self.reasons[:TOLD], *(f"left out: {one}" for one in self.left_out[:TOLD])]
        return False, f"{sentence}, but {'; '.join(wrong)}"

    def _source(self) -> Any:
        source = bpy.data.actions.get(self.source)
        if source is None:
            raise CoreError(f'The action "{self.source}" no longer exists. Nothing was written.')
        return source

    def _store_result(self, armature: Any, goals: Sequence[GoalReport]) -> None:
        """Store with the armature what the result was made from, its fingerprint, and the pins' largest errors."""
        pins, worst = [astuple(mark) for mark in self.fingerprints()], [_worst(goal) for goal in goals]
        armature.poise_result_pins = json.dumps({"made_of": self.made_of, "pins": pins, "worst": worst})
        armature.poise_result_print = fingerprint(armature.poise_result)
        note_bones(armature)

    def report(self, armature: Any, written: Any, changed: ChangedBones) -> Report:
        self._store_unkeyed(armature, changed[0], changed[1])
        return super().report(armature, written, changed)

    def show_pose(self, armature: Any, pose: Pose) -> None:
        place = int(np.flatnonzero(self.only)[0]) if self.only is not None and self.only.any() else 0
        self._store_unkeyed(
            armature, *bridge.changed_bones(self.before.pose[[place]], pose[None], self.skeleton.size)[:2]
        )
        super().show_pose(armature, pose)

    def _store_unkeyed(self, armature: Any, turned: Bones, moved: Bones) -> None:
        """Store the unkeyed values of the bones that are going to be keyed or posed."""
        names = self.rig.skeleton.names
        bones = {*turned.tolist(), *moved.tolist()}
        if self.controlled is not None:
            bones = self.controlled.keyed
        store_unkeyed(armature, self.source, self._unkeyed, [names[bone] for bone in sorted(bones)])

    def _write_changed(self, armature: Any) -> Report | None:
        """Key the solved frames in the present result; return None, with nothing changed, where all must be keyed."""
        assert self.only is not None
        if not pinned_actions.has_result(armature) or pinned_actions.is_edited(armature):
            return None
        begin = perf_counter()
        turned = moved = np.zeros(0, int)
        if self.only.any():
            if self.controlled is not None:
                self.find_control_motion(armature)
            made = armature.poise_result
            if pinned_actions.others_use(armature, made):
                pinned_actions.assign_result(armature, made.copy())
            with bridge.undisturbed():
                keyed = self._write_frames(armature, self.only)
            if keyed is None:
                if armature.poise_result != made:
                    copy = armature.poise_result
                    pinned_actions.assign_result(armature, made)
                    pinned_actions.remove_unused(copy)
                return None
            turned, moved = keyed
            if self.controlled is not None:  # the report names bones of the body, not controls
                turned, moved, _ = bridge.changed_bones(
                    self.before.pose[self.only], self.after.pose[self.only], self.skeleton.size
                )
        self.kept = ""
        self.seconds["write"] = perf_counter() - begin
        report = self.report(armature, armature.poise_result, (turned, moved, np.zeros(0, int)))
        self._store_result(armature, report.goals)
        return report

    def measure(self, armature: Any) -> tuple[GoalReport, ...]:
        """Return how the pins hold; of those without changed frames their stored largest errors."""
        if self.only is None:
            return super().measure(armature)
        stored = read_kept(armature, "poise_result_pins", _read_result)
        found = {} if stored is None else stored.worst
        goals: dict[int, GoalReport] = {}
        for number, (pin, mark) in enumerate(zip(self.pins, self.fingerprints(), strict=True)):
            worst = found.get(mark)
            if worst is not None and not self.only[slice(*pin.span(self.before))].any():
                far, turned = (None if value is None else np.array([value]) for value in worst[1:])
                goals[number] = self.report_pin(pin, np.array(worst[:1]), far, turned)
        others = [number for number in range(len(self.pins)) if number not in goals]
        goals |= zip(others, self.measure_pins(armature, [self.pins[number] for number in others]), strict=True)
        return tuple(goals[number] for number in range(len(self.pins)))

    def _write_frames(self, armature: Any, only: Flags) -> tuple[Bones, Bones] | None:
        """Key the frames `only` (F,) in the present result; return the bones that turned and moved.

        Returns None, with nothing changed, where the rotations' signs or turns would not continue in the frames after.
        """
        control = None if self.controlled is None else self.find_control_motion(armature)
        near = only.copy()  # with an unchanged frame on each side
        near[1:] |= only[:-1]
        near[:-1] |= only[1:]
        present = bridge.read_channels(armature)
        restore_unkeyed(armature, self._unkeyed)
        now, _ = bridge.read_motion(armature, self.rig, self.before.frames[near])
        bridge.write_channels(armature, present)
        inner = only[near]
        new = self.own_pose(self.after.pose[only]) if control is None else control.motion.pose
        rotations, translations = now.pose.rotations.copy(), now.pose.translations.copy()
        rotations[inner], translations[inner] = new.rotations, new.translations
        pose = Pose.trusted(rotations, translations, now.pose.scales, now.pose.driven_matrices)
        turned, moved, _ = bridge.changed_bones(now.pose, pose, self.rig.skeleton.size)
        places = np.flatnonzero(near)
        runs = np.split(np.arange(len(places)), np.flatnonzero(np.diff(places) > 1) + 1)
        for run in runs:
            continues = inner[run[-1]] or bridge.meets_curves(armature, self.rig, _part(now, pose, run), turned)
            if not continues:
                return None
        for run in runs:
            part = _part(now, pose, run[inner[run]])
            bridge.write_keys(armature, self.rig, part, turned, moved, None, new=False)
        return turned, moved


def _when(motion: Motion, pins: Sequence[TimedPin]) -> Flags:
    """Return in which frames pins hold, or ease, (P, F)."""
    frames = motion.frames
    return np.array([(frames >= pin.start - pin.ease_in) & (frames <= pin.end + pin.ease_out) for pin in pins])


def _part(motion: Motion, pose: Pose, places: Frames) -> Motion:
    """Return some frames of a motion with other poses."""
    return Motion(pose[places], motion.frames[places], motion.fps)


def _worst(goal: GoalReport) -> list[float | None] | None:
    """Return the frame of a pin's largest error, and its errors there; None where it holds no frame."""
    if not len(goal.frames):
        return None
    values = (goal.frames, goal.position_error, goal.rotation_error)
    return [None if some is None else float(some[goal.worst]) for some in values]


class _Result(NamedTuple):
    """What a result was made of; of each pin its frame, distance and angle where it is worst, or None."""

    made_of: str
    worst: dict[PinFingerprint, list[Any] | None]


def _read_result(stored: Any) -> _Result:
    """Return what is stored of a result. Raises an error for what Poise does not write."""
    worst: dict[PinFingerprint, list[Any] | None] = {}
    told = stored.get("worst", ())
    for number, (bone, (x, y, z), start, end, before, after, asked) in enumerate(stored["pins"]):
        point = float(x), float(y), float(z)
        pin = PinFingerprint(str(bone), point, float(start), float(end), float(before), float(after), str(asked))
        own = told[number] if number < len(told) else None
        worst[pin] = None if own is None else [None if value is None else float(value) for value in own]
    return _Result(str(stored["made_of"]), worst)


def _frames_needed(frame: int, pins: Sequence[Any], whole: tuple[int, int]) -> Frames:
    """Return the frames that one frame depends on: those up to the pins that ease in or out there, and their own."""
    found = {min(max(frame, whole[0]), whole[1])}
    for pin in pins:
        found |= {*range(frame, pin.start + 1), *range(pin.end, frame + 1), pin.start}
        found |= {pin.frame} if pin.held == "FRAME" else set()
    return np.array(sorted(number for number in found if whole[0] <= number <= whole[1]))


def said_kept(name: str) -> str:
    """Return the end of a report: where an action that the user changed is kept."""
    return f'; your manual changes are kept in "{name}"' if name else ""


def pin_contacts(
    context: Any, armature: Any, points: Sequence[str], ease: float, replacing: bool, drifts: bool = True
) -> int:
    """List timed pins for the contacts of points with the ground in the original motion, see `contact_points`.

    The ground may drift, or what slides does not stand. Where it is meshes, hands are held on their nearest sides.
    Returns how many pins there are.
    """
    edit = PinnedMotion(context, armature, pinned=False)
    names = points_above_ground(points, edit.surface)
    found: list[tuple[Sequence[TimedPin], list[str], str]] = []
    if names:
        contacts = find_ground_contacts(edit, contact_points(edit.skeleton, edit.roles, names), drifts)
        labels = [contacts.points[interval.point].name for interval in contacts.intervals()]
        found.append((edit.plant(edit.before, contacts, edit.eased(contacts, ease)), labels, "PLACE"))
    if len(names) < len(points):
        contacts, pins = hands_on_meshes(context, armature, edit, edit.after, ease)
        hands = {point.bone: number for number, point in enumerate(contacts.points)}
        for pin in pins:
            hand = hands[edit.skeleton.index(pin.bone)]
            rests = contacts.touching[slice(*pin.span(edit.before)), hand].all()
            found.append(([pin], [contacts.points[hand].name], "PLACE" if rests else "GROUND"))
    count = sum(len(pins) for pins, _, _ in found)
    if not count:
        raise CoreError("No hand rests on the meshes of the Ground, or slides along them.")
    if replacing:
        remove_or_mute(armature, "poise_timed_pins", range(len(armature.poise_timed_pins)))
    with temporary_value(armature, "poise_live_pins", False):  # no change by the user
        for pins, labels, held in found:
            add_found_pins(armature, edit.skeleton.names, edit.before, pins, labels, held)
    select_nearest_timed_pin(armature, context.scene.frame_current)
    return count


def show_pinned_frame(context: Any, armature: Any) -> None:
    """Give the armature the pose that its timed pins make in the present frame, without keys."""
    edit = PinnedMotion(context, armature, context.scene.frame_current)
    edit.solve()
    place = np.searchsorted(edit.before.frames, context.scene.frame_current).clip(max=len(edit.before) - 1)
    context.view_layer.update()  # else Blender would evaluate the restored action after the pose is set
    edit.show_pose(armature, edit.after.pose[place])
