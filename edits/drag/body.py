"""The armature of a drag at the press, or in the frame that plays, and the points of it that the mouse moves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike

from ... import bridge
from ...bridge import ControlledBody, Grab
from ...bridge.turns import update
from ...bridge.words import as_text
from ...core import CoreError, forward, rotation
from ...core.causes import Cause, Kind
from ...core.rotation import Array
from ...core.skeleton import Flags, Skeleton
from ..controls import SHIFTED, TURNED
from ..held import HeldRig
from ..mirror import Middle
from ..pin_list import with_other_side
from ..pins import PinTarget, part_of

_ACROSS: Final = np.array([-1.0, 1.0, 1.0])  # a point in a bone's frame, in that of the bone on the other side


class Lost(CoreError):
    """The armature is gone, or it is not as it was when the drag began."""


class Stuck(CoreError):
    """The grabbed bone cannot be moved, but it can be turned."""


@dataclass(frozen=True, eq=False)
class Effector:
    """A point of a bone that is dragged; its place and the bone's rotation at the start, in armature space.

    For a mirrored effector these are the mirror image of those of the grabbed side.
    """

    bone: int
    point: Array  # (3,)
    place: Array  # (3,)
    turn: Array  # (4,)
    name: str  # of the grabbed bone: this one, its control, or one that is carried by it
    shown: str  # the bone that shows where it is: the grabbed one, or the one whose head that moves
    grabbed: tuple[float, ...]  # the point (3,) in the frame of that
    beside: Array  # (3,) from its place to where Blender shows it: segments of limbs may be longer than in the body
    mirrored: bool = False  # it moves the mirrored way

    def carried(self, before: Array, world: Array) -> Self:
        """Return it at the same place of the world, once its armature is at `world` (4, 4), which was at `before`."""
        place, turn = bridge.world_to_armature(world, *bridge.armature_to_world(before, self.place, self.turn))
        assert place is not None
        assert turn is not None
        return replace(self, place=place, turn=turn)


class DragBody:
    """The armature at the press: its rig, or the body that its controls pose; its pose and channels.

    It keeps names, not Blender objects. `alone`: the grabbed bone moves by itself, and no body with it.
    Raises CoreError if the grabbed bone cannot be dragged.
    """

    def __init__(self, context: Any, armature: Any, grabs: Sequence[Grab], turning: bool, whole: bool) -> None:
        bridge.check(armature)
        context.view_layer.update()
        self.name, self._uid = armature.name, armature.session_uid
        self.rig = bridge.read_rig(armature)
        self.roles = self.roles_of_rig = bridge.read_roles(armature, self.rig.skeleton)
        self.alone = False
        self.moves: Flags | None = None  # bones beside a body of controls, which stays
        self.besides: tuple[int, ...] = ()  # bones of the rig that are dragged or pinned
        self.notes: list[str] = []  # sentences about what is posed in place of what was grabbed
        self.controlled = self._find_controlled(armature, grabs) if whole else None
        self.locked: list[str] = []  # that a lock holds it, if it does not go with what is posed
        grabs = self._able(armature, self._acting(grabs), turning)
        if self.controlled is not None:
            self.rig = bridge.with_ik_starts(self.rig, self.controlled)
        plants, held = not self.alone and armature.poise_method != "HUMANOID", bridge.find_held(context, armature)
        self.held = HeldRig(armature, self.rig, self.controlled, held, plants)
        self.rig, self.controlled = self.held.rig, self.held.controlled
        still = self.held.still_poles
        if grabs[0].bone in still:
            raise CoreError(as_text(self.held.explain([still[grabs[0].bone]])))
        grabs = [grab for grab in grabs if grab.bone not in still]
        self.skeleton = self.rig.skeleton
        if self.moves is not None:
            movable = self.skeleton.movable & self.moves
            translatable = self.skeleton.translatable & self.moves[:, None]
            self.skeleton = replace(self.skeleton, movable=movable, translatable=translatable)
        if self.controlled is not None:
            self.skeleton, self.roles = self.controlled.skeleton, self.controlled.roles
        self._gaps = None if self.controlled is None else bridge.Gaps(self.rig, self.controlled)
        self._state = bridge.read_state(armature)
        self._look(armature)
        self.effectors = self._find_effectors(grabs)
        self.locked += self.held.explain_locked(self.effectors[0].bone) if turning else []
        if whole and armature.pose.use_mirror_x:
            self.effectors = self._with_twins(armature, self.effectors)

    def _look(self, armature: Any) -> None:
        """Read the pose and the channels that the armature has now, and where it is."""
        self.channels = bridge.read_channels(armature, self.rig.channels)
        self.start = self.start_of_rig = bridge.read_pose(armature, self.rig)
        self._matrices = bridge.read_matrices(armature)
        if self.controlled is not None:
            self.start = bridge.read_controlled(self.controlled, self._matrices)
        self.world = bridge.world_matrix(armature)
        bridge.world_to_armature(self.world)  # refuses a scale of zero
        self.linear_to_armature = np.linalg.inv(self.world[:3, :3])
        frame = rotation.from_matrix(rotation.nearest_rotation(self.world[:3, :3]))
        self._turn_to_armature = rotation.mul(rotation.inv(frame), rotation.mul(np.eye(4), frame)).T
        self.heads, self.turns = forward(self.skeleton, self.start)
        self.middle = Middle.of(self.skeleton, self.roles, self.heads, self.turns)
        self._press = self._matrices

    def enter(self, armature: Any) -> None:
        """Read the pose of another frame; the effectors' places stay where they were in the world.

        Raises CoreError if other controls pose the body there.
        """
        if self.controlled is not None and bridge.read_state(armature) != self._state:
            raise CoreError(
                f'The rig switches the controls of "{self.name}" at this frame. Record up to this frame, then '
                "start a second recording here."
            )
        before = self.world
        self._look(armature)
        self.effectors = [effector.carried(before, self.world) for effector in self.effectors]

    def find(self) -> Any:
        """Return the armature object; raises Lost."""
        try:
            found: Any = bridge.find_again(self.name, self._uid, self.rig.skeleton.names)
        except bridge.BridgeError as error:
            raise Lost(f"{str(error).removesuffix('.')}; the drag ended.") from error
        if found.mode != "POSE":
            raise Lost(f'The armature "{found.name}" is no longer in Pose Mode; the drag ended.')
        return found

    def find_in_any_mode(self) -> Any:
        """Return the armature object in whatever mode it is, or None."""
        try:
            return bridge.find_again(self.name, self._uid, self.rig.skeleton.names)
        except CoreError:
            return None

    def to_armature(self, shift: Array, turn: Array) -> tuple[Array, Array]:
        """Return a shift (3,) and a turn (4,) of the world in armature space."""
        return self.linear_to_armature @ shift, self._turn_to_armature @ turn

    def part_of(self, name: str, point: Sequence[float] = (0.0, 0.0, 0.0)) -> tuple[int, Array, Array]:
        """Return the bone of the skeleton that a bone is, or is carried by; there its point (3,) and its turn (4,).

        A control beyond the reach of its limb stands for the end of that, to which a drag brings it back.
        """
        return part_of(self.rig, self.controlled, self._matrices, name, point, self._gaps)

    def beyond(self, name: str, part: int, matrices: Array | None = None) -> Array:
        """Return how far (3,) a control of a part is beyond the reach of its limb, in armature space: at the press."""
        if self._gaps is None:
            return np.zeros(3)
        return self._gaps.of(self.rig.skeleton.index(name), part, self._press if matrices is None else matrices)

    def follow(self, context: Any, armature: Any, pinned: Sequence[PinTarget]) -> bool:
        """Take over where controls are beside their parts, as those of paws that turn with the leg.

        Return whether one of the grabbed or `pinned` has moved there.
        """
        if self.controlled is None or self.alone:
            return False
        update(context)
        goes = ((one.shown, one.grabbed) for one in self.effectors)
        held = [*goes, *((one.bone, one.point) for one in pinned)]
        before, self._matrices = [self.part_of(*one) for one in held], bridge.read_matrices(armature)
        after = [self.part_of(*one) for one in held]
        near = SHIFTED * self.rig.skeleton.size
        if not any(_is_apart(*pair, near) for pair in zip(before, after, strict=True)):
            return False
        self.effectors = [
            replace(effector, point=point) for effector, (_, point, _) in zip(self.effectors, after, strict=False)
        ]
        return True

    def _find_controlled(self, armature: Any, grabs: Sequence[Grab]) -> ControlledBody | None:
        """Return the body of the controls, if the grabbed bones are of it and one of them, or a pin, needs a control.

        Else return the grabbed bone alone, where it has a location of its own and is beside a body of controls, or IK
        leads to it, or it is a pole, be it off: as under G, its limb bends that way, and nothing else moves. Or return
        the chain of IK alone that it is of, or hangs on, or the chain that curls. Beside a body of controls nothing of
        that moves in any case, as where a tail is dragged.
        """
        index = self.rig.skeleton.index
        own = [index(grab.bone) for grab in grabs]
        pinned = [index(pin.name) for pin in armature.poise_pins if pin.name in armature.pose.bones]
        moved = [*map(index, with_other_side(armature, [grab.bone for grab in grabs]))]
        self.besides = (*moved, *pinned)
        controlled = bridge.find_controlled(armature, self.rig, self.roles, self.besides)
        parts = {} if controlled is None else controlled.parts
        chain = bridge.find_curled(armature, self.rig, self.roles, moved, controlled)
        located = {bone for bone in moved if _has_location(self.rig, bone)}
        if controlled is None:
            lone = located & bridge.ik_goals(armature, self.rig)
        else:
            curls = chain is not None and not _turns_about(chain, own[0], grabs[0])
            added = set[int]() if curls else _added(armature, self.rig, controlled, moved)
            off = located & controlled.idle & bridge.ik_goals(armature, self.rig, ("pole_",))
            poles = controlled.own_poles.keys() | off
            if chain is None and own[0] in parts.keys() - poles - added:
                return controlled
            lone = (located - parts.keys()) | (poles & {*moved}) | added
            self.notes += [bridge.explain_idle(self.rig, controlled, grabs[0].bone)] if own[0] in off else []
        self.alone = own[0] in lone
        if self.alone:
            return bridge.free_controls(self.rig, self.roles, [bone for bone in moved if bone in lone])
        if chain is None and self.rig.is_stuck(own[0]):
            chain = bridge.find_ik_chain(armature, self.rig, self.roles, own[0])
            chain = None if chain is not None and _turns_about(chain, own[0], grabs[0]) else chain
        if chain is None and controlled is not None:
            self.moves = _beside(self.rig.skeleton, own[0], controlled)
        self.alone = chain is not None or self.moves is not None
        return chain

    def _acting(self, grabs: Sequence[Grab]) -> list[Grab]:
        """Return the grabs, what is on in place of what is off, and note it for the first; so if a lock holds it."""
        if self.controlled is None:
            return list(grabs)
        found = [replace(grab, bone=bridge.stand_in(self.rig, self.controlled, grab.bone)) for grab in grabs]
        name = grabs[0].bone
        if found[0] != grabs[0]:
            self.notes.append(bridge.explain_idle(self.rig, self.controlled, name))
        part = self.controlled.parts.get(self.rig.skeleton.index(found[0].bone), -1)
        above = [part, *self.controlled.limbs_of([part])] if part >= 0 else []
        for bone in dict.fromkeys(self.controlled.kept[one] for one in above if one in self.controlled.kept):
            axes = bridge.listed([*np.array([*"XYZ"])[~self.rig.skeleton.translatable[bone]].tolist()])
            name = self.rig.skeleton.names[bone]
            self.locked.append(f'"{name}" is locked: unlock {axes} of its location to move it there')
        return found

    def _able(self, armature: Any, grabs: Sequence[Grab], turning: bool) -> list[Grab]:
        """Return the grabs that can be dragged; raises CoreError if the first cannot: the others are just selected."""
        index, held = self.rig.skeleton.index, self.rig.skeleton.driven
        if self.controlled is not None:
            parts = self.controlled.parts
            return [grab for grab in grabs if index(grab.bone) in parts]
        above, first = self.rig.driven_above, index(grabs[0].bone)
        held_by = next((bone for bone in self.rig.skeleton.ancestors(first) if held[bone]), first)
        followed = bridge.followed_object(armature, self.rig.skeleton.names[held_by])
        instead = "" if followed is None else f' Move the object "{followed}" instead, which it follows.'
        if (held[first] or (self.moves is not None and first in self.rig.carried)) and followed is None:
            reason = self.rig.driven[grabs[0].bone]
            raise CoreError(f'"{grabs[0].bone}" is driven by {reason}; it cannot be dragged.')
        if followed is not None and held[first]:  # as a limb of a body that follows one: it stays
            self.notes.append(Cause(Kind.FOLLOWS, f'"{grabs[0].bone}"', followed).sentence)
            return list(grabs)
        if grabs[0].is_joint and not turning and self.rig.is_stuck(first):
            refusal = f'{above(first)}; "{grabs[0].bone}" is parented to it and'
            if self.rig.skeleton.movable[first]:
                raise Stuck(f"{refusal} can only be rotated.{instead}")
            raise CoreError(f"{refusal} cannot be dragged.{instead}")
        free = above(first) is None  # then bones below held ones would work against it
        return [grab for grab in grabs if not (held[index(grab.bone)] or (free and above(index(grab.bone))))]

    def _find_effectors(self, grabs: Sequence[Grab]) -> list[Effector]:
        found: dict[int, Effector] = {}
        for grab in grabs:
            goes = led(self.rig, self.controlled, grab.bone, grab.point)
            bone, point, _ = self.part_of(*goes)
            found.setdefault(bone, self._effector(bone, point, grab.bone, *goes))
        return list(found.values())

    def _effector(self, bone: int, point: Array, name: str, shown: str, grabbed: ArrayLike) -> Effector:
        place = self.heads[bone] + rotation.rotate(self.turns[bone], point)
        matrix, own = self._matrices[self.rig.skeleton.index(shown)], np.asarray(grabbed, float)
        beside = matrix[:, :3] @ own + matrix[:, 3] - place - self.beyond(shown, bone)
        return Effector(bone, point, place, self.turns[bone], name, shown, tuple(own.tolist()), beside)

    def _with_twins(self, armature: Any, effectors: Sequence[Effector]) -> list[Effector]:
        """Return the effectors with those of the other side (X-Axis Mirror); the grabbed side goes first."""
        skeleton, found = self.skeleton, {effector.bone: effector for effector in effectors}
        side = skeleton.rest_matrices[:, 0, 3]
        first = effectors[0].bone
        others = bridge.other_sides(armature, [skeleton.names[bone] for bone in found])
        controls = bridge.other_sides(armature, [name for one in effectors for name in (one.name, one.shown)])
        for bone in sorted(found, key=lambda bone: side[bone] * side[first] < 0.0):
            effector = found[bone]
            if effector.mirrored:
                continue
            other = others.get(skeleton.names[bone])
            if other in skeleton.names and not skeleton.driven[skeleton.index(other)]:
                point, grabbed = effector.point * _ACROSS, _ACROSS * effector.grabbed
                name, shown = (controls.get(own, other) for own in (effector.name, effector.shown))
                twin = self._effector(skeleton.index(other), point, name, shown, grabbed)
                if not armature.pose.use_mirror_relative:  # the other side is posed as this one, not moved alike
                    place, turn = self.middle.placed(effector.place, effector.turn)
                    twin = replace(twin, place=place, turn=turn)
                found[twin.bone] = replace(twin, mirrored=True)
        return list(found.values())


def led(
    rig: bridge.Rig, controlled: ControlledBody | None, name: str, point: Sequence[float] = (0.0, 0.0, 0.0)
) -> tuple[str, Sequence[float]]:
    """Return the bone and the point that go where a grabbed bone and its point go.

    A control that moves a part, and does not turn it, goes along with the head of what turns that.
    """
    moved = -1 if controlled is None else controlled.moved_by(rig.skeleton.index(name))
    return (name, point) if moved < 0 else (rig.skeleton.names[moved], (0.0, 0.0, 0.0))


def _is_apart(one: tuple[int, Array, Array], other: tuple[int, Array, Array], near: float) -> bool:
    """Return whether two points of a part, or their turns, differ."""
    far, turned = rotation.lengths(one[1] - other[1]), rotation.angle_between(one[2], other[2])
    return bool(far > near or turned > TURNED)


def _beside(skeleton: Skeleton, bone: int, controlled: ControlledBody) -> Flags:
    """Return which bones of the rig (J,) a bone is parented to, and itself, up to what the body hangs on.

    They move where the bone is dragged, as of a tail or a face, and the body stays.
    """
    body = {*controlled.bones.tolist(), *controlled.parts}
    ends = {above for part in body for above in skeleton.ancestors(part)} | {*np.flatnonzero(skeleton.driven).tolist()}
    moves = np.zeros(len(skeleton), bool)
    for above in skeleton.ancestors(bone):
        if above in ends:
            break
        moves[above] = True
    return moves


def _added(armature: Any, rig: bridge.Rig, controlled: ControlledBody, bones: Iterable[int]) -> set[int]:
    """Return which bones ride beside a body of controls at places that constraints only add to: they move alone."""
    own, posed = controlled.parts.keys() - controlled.riding, armature.pose.bones
    beside = {*bones}.intersection(rig.carried.tolist()) - own
    return {bone for bone in beside if bridge.moves_itself(posed[rig.skeleton.names[bone]])}


def _turns_about(chain: ControlledBody, bone: int, grab: Grab) -> bool:
    """Return whether a chain begins at the joint that is grabbed, so that turning its bones does not move that."""
    return grab.is_joint and bone == chain.bones[0]


def _has_location(rig: bridge.Rig, bone: int) -> bool:
    """Return whether a bone can be moved by its own location."""
    skeleton = rig.skeleton
    return bool(skeleton.translatable[bone].all() and not (skeleton.connected[bone] or skeleton.driven[bone]))
