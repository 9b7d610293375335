"""Channels that stay as they are: another value would show in all frames, or could not be keyed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from ..core import Goal, Skeleton, rotation
from ..core.causes import Cause, Explanation
from ..core.pose import frame_rotations
from ..core.rotation import Array
from ..core.skeleton import Flags
from .armature import LENGTH, Rig
from .autokey import why_no_first_key
from .bars import Bar
from .channels import CHANNELS, ArmatureObject, channelbag_of, rotation_channel
from .controlled_body import SAME_PLACE, ControlledBody
from .driven import split_path
from .errors import BridgeError
from .neighbours import curves_in_force, is_layer, why_no_key, why_no_layer
from .words import as_text, listed

FIRM: Final = 1e2  # weight of what nothing moves, beside pins
_ADDING: Final = {"ADD", "SUBTRACT", "COMBINE"}  # blend types of layers that are able to change nothing
_HEAD: Final = np.zeros(3)
_AXES: Final = {3: "XYZ", 4: "WXYZ"}  # by the number of values of a property
_LOCKED: Final = Cause(Bar.LOCKED)
_MUTED: Final = Cause(Bar.MUTED)
_BELOW: Final = Cause(Bar.BELOW)
_BELOW_MOTION: Final = Cause(Bar.BELOW_MOTION)
_NO_FRAMES: Final = np.zeros(0)


@dataclass(frozen=True, eq=False)
class Held:
    """The channels of an animated armature of which no key would leave the other frames as they are.

    channels  property of bones -> which (J, n)
    barred    what some of them have that bars it, the most important first -> which, likewise
    why       why the others, which have no keys, get none, in words
    """

    channels: Mapping[str, Flags] = field(default_factory=dict[str, Flags])
    barred: Mapping[Cause, Mapping[str, Flags]] = field(default_factory=dict[Cause, Mapping[str, Flags]])
    why: str = ""

    def __bool__(self) -> bool:
        return any(some.any() for some in self.channels.values())

    def turned(self, rig: Rig) -> Flags:
        """Return which angles (J, 3) of bones stay; of rotations that are no Euler angles all or none.

        Locked ones do not count where a bone turns about another axis, as the starts of Rigify's IK.
        """
        found = np.zeros((len(rig.skeleton), 3), bool)
        for mode, group in rig.modes.items() if self.channels else ():
            own = self.channels[rotation_channel(mode)][group]
            found[group] = own if mode in rotation.EULER_ORDERS else own.any(axis=1, keepdims=True)
        return found & (~rig.skeleton.rotation_locks | found.all(axis=1, keepdims=True))

    def moved(self, rig: Rig) -> Flags:
        """Return which locations (J, 3) stay."""
        return self.channels["location"] if self.channels else np.zeros((len(rig.skeleton), 3), bool)

    def lock(self, rig: Rig) -> Rig:
        """Return the rig with these channels locked."""
        if not self:
            return rig
        sizes = self.channels["scale"]
        return replace(rig, scalable=rig.scalable & ~sizes, skeleton=self.lock_bones(rig, rig.skeleton))

    def lock_bones(self, rig: Rig, skeleton: Skeleton) -> Skeleton:
        """Return a skeleton with the bones of a rig, which may rest in another pose, with these channels locked."""
        if not self:
            return skeleton
        locks = skeleton.rotation_locks | self.turned(rig)
        return replace(
            skeleton,
            movable=skeleton.movable & ~locks.all(axis=1),
            rotation_locks=locks,
            translatable=skeleton.translatable & ~self.moved(rig),
            stretch=np.where(self.channels["scale"][:, LENGTH], 0.0, skeleton.stretch),
        )

    def _what_bars(self, channel: str, bone: int) -> Cause:
        """Return what a property of a bone (index) that stays has."""
        for what, some in self.barred.items():
            if some[channel][bone].any():
                return what
        others = "".join(np.array([*_AXES[CHANNELS[channel]]])[~self.channels[channel][bone]])
        return Cause(Bar.SOME_KEYS, "", " and ".join(others), self.why) if others else Cause(Bar.NO_KEYS, "", self.why)

    def explain(self, rig: Rig, turning: Iterable[int], moving: Iterable[int] = ()) -> list[str]:
        """Return sentences about those of some bones (indices) that would turn or move and stay."""
        names, turned, moved = rig.skeleton.names, self.turned(rig).any(axis=1), self.moved(rig).any(axis=1)
        turns = [bone for bone in dict.fromkeys(turning) if turned[bone]]
        moves = [bone for bone in dict.fromkeys(moving) if moved[bone]]
        said: dict[Cause, dict[str, None]] = {}
        for bones, what, alone in (
            (turns, "rotation", "the rotation of {}"),
            (moves, "location", "the location of {}"),
        ):
            for bone in bones:
                whys = {
                    kind: self._what_bars(channel, bone)
                    for kind, channel, some in (
                        ("rotation", rotation_channel(rig.skeleton.rotation_modes[bone]), turned),
                        ("location", "location", moved),
                    )
                    if some[bone]
                }
                both = whys.get("rotation") == whys.get("location")
                said.setdefault(whys[what], {})[names[bone] if both else alone.format(names[bone])] = None
        return [
            Explanation(
                f"{listed([*some])} has {why}, so it is not changed"
                if len(some) == 1
                else f"{listed([*some])} have {why}, so they are not changed",
                remedy=why.remedy,
            )
            for why, some in said.items()
        ]


def find_held(context: Any, armature: ArmatureObject) -> Held:
    """Return the channels of bones that stay now; none if no bone is animated."""
    settings, here = context.scene.tool_settings, context.scene.frame_current_final
    keying, aware = settings.use_keyframe_insert_auto, settings.use_keyframe_cycle_aware
    places = _Places(armature)
    no_channels, find = places.no_channels, places.find
    keyed, below, free = no_channels(), no_channels(), no_channels()
    barred = dict[Cause, dict[str, Flags]]()
    for curve, strip in curves_in_force(armature, here):
        where = None if curve.is_empty else find(curve.data_path)
        if where is None:
            continue
        name, bone = where
        if curve.mute:
            barred.setdefault(_MUTED, no_channels())[name][bone, curve.array_index] = True
        else:
            (keyed if strip is None else below)[name][bone, curve.array_index] = True
            why = why_no_key(curve, here, aware) if keying and strip is None else None
            if why is not None:
                barred.setdefault(why, no_channels())[name][bone, curve.array_index] = True
    if not any(some.any() for all in (keyed, below, *barred.values()) for some in all.values()):
        return Held()
    bag, data = channelbag_of(armature), armature.animation_data
    for curve in bag.fcurves if bag is not None else ():
        where = find(curve.data_path) if curve.lock or (curve.group is not None and curve.group.lock) else None
        if where is not None:
            barred.setdefault(_LOCKED, no_channels())[where[0]][where[1], curve.array_index] = True
    below = {name: some & ~_together(name, keyed[name]) for name, some in below.items()}
    if not keying:  # what strips move comes back with the frame
        keyed = {name: some | below[name] for name, some in keyed.items()}
    elif data.action_blend_type not in _ADDING and any(some.any() for some in below.values()):
        barred[_BELOW] = {name: _together(name, some) & ~keyed[name] for name, some in below.items()}
    off = why_no_layer(armature, here) if keying else None
    if off is not None:
        barred[off] = {name: np.ones_like(some) for name, some in keyed.items()}
    why, allowed = why_no_first_key(context, armature)
    for path, index in allowed or ():
        where = find(path)
        if where is not None:
            free[where[0]][where[1], index] = True
    barred = {why: barred[why] for why in (_LOCKED, _MUTED, *barred) if why in barred}
    stays = {name: ~keyed[name] & ~(some | (allowed is None)) for name, some in free.items()}
    for some in barred.values():
        stays = {name: stays[name] | some[name] for name in CHANNELS}
    return Held(stays, barred, why)


def find_below(armature: ArmatureObject, frames: Array = _NO_FRAMES) -> Held:
    """Return the channels that NLA strips move, at any frame, and the action above these has no keys for.

    Keys there would replace what the strips make at all frames: strips of which all `frames` are to be keyed do not
    count.
    """
    data = armature.animation_data
    if data is None or data.action is None or not is_layer(armature):
        return Held()
    places, (first, last) = _Places(armature), (min(frames, default=np.inf), max(frames, default=-np.inf))
    keyed, below = places.no_channels(), places.no_channels()
    for curve, strip in curves_in_force(armature, None):
        whole = strip is not None and first <= strip.frame_start and strip.frame_end <= last
        where = None if curve.is_empty or curve.mute or whole else places.find(curve.data_path)
        if where is not None:
            (keyed if strip is None else below)[where[0]][where[1], curve.array_index] = True
    stays = {name: _together(name, some) & ~_together(name, keyed[name]) for name, some in below.items()}
    return Held(stays, {_BELOW_MOTION: stays})


class _Places:
    """Where the channels of an armature's bones are in arrays (J, n) by the names of properties."""

    def __init__(self, armature: ArmatureObject) -> None:
        self._bones = {name: number for number, name in enumerate(armature.pose.bones.keys())}
        self._found = dict[str, tuple[str, int] | None]()

    def no_channels(self) -> dict[str, Flags]:
        """Return flags for all channels, none of them set."""
        return {name: np.zeros((len(self._bones), count), bool) for name, count in CHANNELS.items()}

    def find(self, path: str) -> tuple[str, int] | None:
        """Return the property and the index of the bone of a data path, None for one that poses no bone."""
        if path not in self._found:
            bone, name = split_path(path) or ("", "")
            self._found[path] = (name, self._bones[bone]) if bone in self._bones and name in CHANNELS else None
        return self._found[path]


def _together(name: str, flags: Flags) -> Flags:
    """Return the flags (J, n) of a property with those that NLA layers replace together: all of a quaternion."""
    return flags | flags.any(axis=1, keepdims=True) if name == "rotation_quaternion" else flags


@dataclass(frozen=True, eq=False)
class HeldControls:
    """A body without the controls that stay.

    controlled  the body; a part whose control is gone goes with the part before it, if the control did
    turns       part that stays in its direction otherwise -> the bone (index) that has it there, or -1: another object
    moves       part that stays in its place -> likewise: ends of IK chains whose targets stay, among others
    shown       those of the latter that go where Blender shows them
    pivots      part that is moved from beside it -> the point (3,) of it about which it turns, and which is what moves
    slides      part whose control is moved along some axes alone -> the bone that carries the control, or -1, the axes
                (4,) in its frame, and which of them are locked (3,), as weights
    """

    controlled: ControlledBody
    turns: Mapping[int, int]
    moves: Mapping[int, int]
    shown: frozenset[int]
    pivots: Mapping[int, Array]
    slides: Mapping[int, tuple[int, Array, Array]]


class StayingParts:
    """The parts of a body that stay, and where the bones that have them there have them: `turns` and `moves` as above.

    matrices (..., J, 3, 4): of the rig, evaluated
    """

    def __init__(self, held: HeldControls, matrices: Array) -> None:
        body = held.controlled
        self._names, self._frames = body.skeleton.names, body.frames
        self._shown, self._slides, self._lax = held.shown, held.slides, body.lax | held.slides.keys()
        frames = matrices[..., body.frames, :, :]
        own = rotation.mul(frame_rotations(frames[..., :3]), body.aligned)
        self._turns = {
            part: (bone, rotation.mul(rotation.inv(_frame(matrices, bone)[0]), own[..., part, :]))
            for part, bone in held.turns.items()
        }
        self._pivots = held.pivots
        self._aligned = body.aligned
        self._moves = {
            part: (bone, rotation.rotate(rotation.inv(turn), self._place(matrices, part) - place))
            for part, bone in [*held.moves.items(), *((part, carrier) for part, (carrier, *_) in held.slides.items())]
            for turn, place in [_frame(matrices, bone)]
        }

    def goals(self, matrices: Array) -> list[Goal]:
        """Return goals that hold the parts where the bones have them in evaluated matrices (..., J, 3, 4).

        A part that IK had short of its target is held nearer to it once IK shows it there.
        """
        found: list[Goal] = []
        for part in sorted({*self._turns, *self._moves}):
            place = turned = axes = locked = None
            if part in self._moves:
                bone, away = self._moves[part]
                turn, origin = _frame(matrices, bone)
                shown = rotation.rotate(rotation.inv(turn), self._place(matrices, part) - origin)
                if part in self._shown:
                    away = shown
                elif bone >= 0 and part not in self._lax:
                    nearer = rotation.lengths(shown) < rotation.lengths(away)
                    away = np.where(nearer[..., None], shown, away)
                    self._moves[part] = bone, away
                place = origin + rotation.rotate(turn, away)
                if part in self._slides:
                    _, own, locked = self._slides[part]
                    axes = rotation.mul(turn, own)
            if part in self._turns:
                bone, own = self._turns[part]
                turned = rotation.mul(_frame(matrices, bone)[0], own)
            point = self._pivots.get(part, _HEAD)
            found.append(
                Goal(self._names[part], place, turned, point, position_weight=FIRM, rotation_weight=FIRM,
                     position_axes=locked, axes=axes)
            )  # fmt: skip
        return found

    def _place(self, matrices: Array, part: int) -> Array:
        """Return where the point of a part that is moved is in evaluated matrices."""
        shown = matrices[..., self._frames[part], :, :]
        turn = rotation.mul(frame_rotations(shown[..., :3]), self._aligned[part])
        return shown[..., 3] + rotation.rotate(turn, self._pivots.get(part, _HEAD))


def _frame(matrices: Array, bone: int) -> tuple[Array, Array]:
    """Return rotation (4,) and place (3,) of a bone; of another object those of the armature, in which it is still."""
    if bone < 0:
        return rotation.IDENTITY, np.zeros(3)
    return frame_rotations(matrices[..., bone, :, :3]), matrices[..., bone, :, 3]


def hold_controls(
    rig: Rig, body: ControlledBody, held: Held, matrices: Array | None = None, planted: Iterable[int] = ()
) -> HeldControls:
    """Return a body without the controls that stay. Raises BridgeError if none is left.

    So does one of which locks keep a part of its location, unless it is asked for: then it goes as far as they let it.
    A control stays as it is turned, too, if it has locks that its part has not, see `ControlledBody.locked`.
    The end of an IK chain that nothing moves stays, too: its target follows something else, or is another object.
    A limb whose target stays out of its reach in evaluated matrices (J, 3, 4) holds nothing: Blender shows it straight
    toward that, wherever the body is, so it is carried. Without matrices all limbs reach theirs. All controls of such a
    limb stay if its end is one of those that are `planted`, and nothing asks for a part of it. A lax limb whose
    target stays holds nothing, either. If it is asked to be somewhere, the body does not go there with it: it is held
    where it is or, if one of the bones that start its IK stays, too, where Blender shows it. A limb whose pole stays
    bends as that says, however it begins.
    """
    turned, moved = held.turned(rig).any(axis=1), held.moved(rig).any(axis=1)
    parts, near = body.parts, SAME_PLACE * rig.skeleton.size
    named = [parts[bone] for bone in body.asked if bone in parts]
    asked = {*body.limbs_of(named)}
    far = set[int]() if matrices is None else _out_of_reach(rig, body, matrices, near)
    alone = np.isin(body.ends, [*(far & {*planted} - asked)])
    alone[[pole for pole, first in body.poles.items() if alone[first]]] = True

    def stay(which: str, flags: Flags) -> dict[int, int]:
        bones = body.bones_that(which)
        return {part: int(bones[part]) for part in np.flatnonzero((bones >= 0) & (flags[bones] | alone)).tolist()}

    turns, moves = stay("turns", turned), stay("moves", moved)
    turns |= {part: body.controls[part].turns for part in np.flatnonzero(body.locked(rig)).tolist()}
    movers = body.bones_that("moves")
    free = rig.skeleton.translatable[movers]
    some = (movers >= 0) & free.any(axis=1) & ~free.all(axis=1)
    in_part = {part: int(movers[part]) for part in np.flatnonzero(some).tolist()}
    moves |= {part: bone for part, bone in in_part.items() if part not in asked.union(named)}
    slides = {part: _slide(rig, bone) for part, bone in in_part.items() if part not in moves}
    lax = {end for end in body.lax if end in moves or body.controls[end].moves < 0}
    idle = lax - asked
    shown = (lax - idle) & {int(body.ends[part]) for part in stay("begins", turned)}
    fixed = {int(body.ends[first]) for pole, first in body.poles.items() if pole in moves} - body.lax
    # a control beside its part would take it along, turning
    pivots = _pivots(rig, body, near)
    turns |= {part: bone for part, bone in moves.items() if part in pivots and body.controls[part].turns == bone}
    still = body.bones_that("begins")[np.isin(body.ends, [*idle, *shown, *fixed])]
    begins = turned | np.isin(np.arange(len(turned)), still)
    others = {what: stay(what, flags) for what, flags in (("aims", moved), ("begins", begins), ("blends", turned))}
    gone = {"turns": turns, "moves": moves, **others}
    controls = tuple(
        replace(one, **{what: -1 for what, parts in gone.items() if number in parts})
        for number, one in enumerate(body.controls)
    )
    skeleton, places = body.skeleton, np.arange(len(controls))
    rooted, riding = skeleton.parents < 0, np.isin(body.bones, [*body.riding])
    ends = {end: target for end, target in body.targets.items() if controls[end].moves < 0}
    loose = {end: target for end, target in ends.items() if body.controls[end].turns < 0}
    carried = np.isin(places, [*turns, *others["aims"]]) & (rooted | body.hangs | (body.bones_that("aims") >= 0))
    short = idle | (far & ends.keys())
    carried |= np.isin(body.ends, [*short]) & (np.array([one.turns for one in controls]) < 0)
    # what IK aims from a bone that stays is twisted by its control only where that takes the pole of its limb along
    above = {
        int(body.ends[first]): rig.skeleton.ancestors(int(body.bones[pole]))
        for pole, first in body.poles.items() if pole in moves
    }  # fmt: skip
    aimed = {part: controls[part].turns for part in others["begins"]}
    untwisted = [part for part, turner in aimed.items() if turner >= 0 and turner not in above.get(part, ())]
    left = replace(
        body,
        controls=controls,
        # what stays is still where its part is
        riding={bone: part for bone, part in parts.items() if bone in body.riding or bone not in body.bones},
        poles={pole: first for pole, first in body.poles.items() if pole not in moves},
        planted=tuple(end for end in body.planted if end not in short),
        untwisted=(*body.untwisted, *untwisted),
        unheld=body.controls,
        skeleton=replace(
            skeleton,
            movable=(skeleton.movable | np.isin(places, [*loose])) & ~carried,
            translatable=skeleton.translatable & ~np.isin(places, [*moves])[:, None],
        ),
    )
    if held and not left.keyed:
        raise BridgeError(as_text(held.explain(rig, body.keyed, body.keyed)))
    staying = (
        {part: bone for part, bone in turns.items() if not (rooted[part] or body.hangs[part])} | loose,
        {part: bone for part, bone in moves.items() if not (rooted[part] or riding[part])} | ends,
    )
    turns, moves = ({part: bone for part, bone in some.items() if part not in short} for some in staying)
    return HeldControls(left, turns, moves, frozenset(shown), pivots, slides)


def _slide(rig: Rig, bone: int) -> tuple[int, Array, Array]:
    """Return the parent of a bone, or -1, axes (4,) of its location in that frame, and weights (3,) of locked ones."""
    skeleton = rig.skeleton
    axes = skeleton.rest_rotations[bone] if skeleton.local_location[bone] else rotation.IDENTITY
    return int(skeleton.parents[bone]), axes, (~skeleton.translatable[bone]).astype(float)


def _out_of_reach(rig: Rig, body: ControlledBody, matrices: Array, near: float) -> set[int]:
    """Return the ends of limbs that IK does not bring to their target, a bone, in evaluated matrices (J, 3, 4).

    But not lax ones. What ends with its target's rotation has the chain before it beside the target, as at rest.
    """
    tips = body.leaders[body.skeleton.parents]
    tails = rig.skeleton.lengths[tips][:, None] * np.array([0.0, 1.0, 0.0])

    def beside(at: Array, target: int, end: int) -> Array:
        turn, place = _frame(at, target)
        tip = at[tips[end]]
        return rotation.rotate(rotation.inv(turn), tip[:, :3] @ tails[end] + tip[:, 3] - place)

    found = set[int]()
    for end, target in body.targets.items():
        if target >= 0 and end not in body.lax:
            here = beside(matrices, target, end)
            away = here, here - beside(rig.skeleton.rest_matrices, target, end)
            found |= {end} if rotation.lengths(np.stack(away)).min() > near else set[int]()
    return found


def _pivots(rig: Rig, body: ControlledBody, near: float) -> dict[int, Array]:
    """Return parts whose control is beside them, and their points (3,) about which they are turned."""
    rest, frames = rig.skeleton.rest_matrices, body.frames
    turners, movers = body.bones_that("turns"), body.bones_that("moves")
    away = rotation.lengths(rest[frames, :, 3] - rest[movers, :, 3])
    beside = (turners >= 0) & (movers >= 0) & (away > near)
    own = rotation.mul(frame_rotations(rest[frames, :, :3]), body.aligned)
    points = rotation.rotate(rotation.inv(own), rest[turners, :, 3] - rest[frames, :, 3])
    return {part: points[part] for part in np.flatnonzero(beside).tolist()}
