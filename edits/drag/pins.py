"""The pins of an armature during a drag."""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from ...core import Balance, CoreError, Goal, rotation
from ...core.body.axes import unit
from ...core.body.ground import find_footing, find_free_turns, keep_flat
from ...core.body.masses import distance_beyond, masses_of
from ...core.goals import SUPPORT_RADIUS, AnyGoal
from ...core.pose import forward_matrices
from ...core.rotation import Array
from ..pin_list import pin_kind
from ..pins import ANIMATION, PinTarget, active_pins, find_ground, find_part, read_active_pin, support_bones
from .body import DragBody, led

TURN_KINDS: Final = ("BOTH", "ROTATION")  # of pins that hold a rotation
_UP: Final = np.array([0.0, 0.0, 1.0])  # of the world


class DragPins:
    """What the pins hold, and of what kind (KINDS, "ROTATION") the pins of the effectors are, by their bones.

    names: of the pinned bones of each effector, or the one that would be pinned; refusals: sentences about pins that
    cannot hold, which does not prevent a drag.
    """

    def __init__(self, armature: Any, body: DragBody) -> None:
        self._body = body
        self.targets: list[PinTarget] = []
        self.refusals: list[str] = []
        for pin in () if body.alone else active_pins(armature):
            if pin.name in body.held.still_poles:
                continue
            try:
                target = read_active_pin(armature, pin)
                part, place, turn = body.part_of(target.bone, target.point)
                if target.space == ANIMATION:  # where this frame has it, before the mouse moves
                    position = body.heads[part] + rotation.rotate(body.turns[part], place)
                    held = rotation.mul(body.turns[part], turn)
                    target = replace(
                        target,
                        position=None if target.position is None else tuple(position.tolist()),
                        rotation=None if target.rotation is None else tuple(held.tolist()),
                    )
                self.targets.append(target)
            except CoreError as error:
                self.refusals.append(str(error))
        self.names = {
            effector.bone: [target.bone for target in self.targets if _led(body, target.bone) == effector.bone]
            or [effector.name]
            for effector in body.effectors
        }
        self.kinds = {bone: pin_kind(armature, names[0]) for bone, names in self.names.items()}

    def part(self, name: str) -> int:
        """Return the bone of the body that a bone is, or is carried by."""
        return find_part(self._body.rig, self._body.controlled, name)

    @property
    def asked(self) -> list[int]:
        """The bones of the body that are dragged or pinned."""
        pinned = (self.part(target.bone) for target in self.targets)
        return [*(effector.bone for effector in self._body.effectors), *pinned]

    def hold_as(self, kind: str) -> None:
        """Give the pins of all effectors another kind."""
        self.kinds = dict.fromkeys(self.kinds, kind)

    def holding(self, turning: bool) -> list[PinTarget]:
        """Return what the pins hold now: of an effector its rotation, as long as that is pinned and not turned."""
        found: list[PinTarget] = []
        for target in self.targets:
            kind = self.kinds.get(_led(self._body, target.bone))
            if kind is None:
                found.append(target)
            elif target.rotation is not None and kind in TURN_KINDS and not turning:
                found.append(replace(target, position=None))
        return found

    def goals(self, turning: bool, first: int) -> list[Goal]:
        """Return the goals of the pins, in armature space, with priorities from `first` on."""
        found: list[Goal] = []
        for target in self.holding(turning):
            part = self._body.part_of(target.bone, target.point)
            goal = target.goal_of(part, self._body.world, first)
            if goal.position is not None and target.space != ANIMATION:
                goal = replace(goal, position=goal.position - self._body.beyond(target.bone, part[0]))
            found.append(goal)
        return found

    def balance(self, over: str, turning: bool, priority: int) -> list[AnyGoal]:
        """Return a goal for the centre of mass over what the setting says.

        And for feet that it is over to stay flat. None if it is off, or not both feet are pinned. Raises CoreError if
        no position is pinned that it wants.
        """
        body = self._body
        if over == "OFF" or body.alone:
            return []
        flat: dict[int, Array] = {}
        holding = self.holding(turning)
        if over == "FEET":
            names = body.skeleton.names
            placed = dict.fromkeys(names[self.part(bone)] for bone in find_ground(holding))
            footing = find_footing(body.skeleton, body.roles, [*placed])
            supports = tuple(map(body.skeleton.index, footing))
            if not supports:
                return []
            held = {names[self.part(target.bone)] for target in holding if target.rotation is not None}
            free = map(body.skeleton.index, find_free_turns(body.skeleton, body.roles, footing, held))
            flat = {foot: body.turns[foot] for foot in free}
        else:
            supports = tuple(self.part(bone) for bone in support_bones(holding))
        masses, up = masses_of(body.skeleton, body.roles), unit(body.linear_to_armature @ _UP)
        matrices = forward_matrices(body.skeleton, body.start)[None]
        beyond = float(distance_beyond(body.skeleton, matrices, masses, supports, up)[0])
        radius = max(SUPPORT_RADIUS * body.skeleton.size, beyond)  # a pose that is out of balance stays as it is
        balance = Balance(body.skeleton.ancestors(supports[0])[-1], supports, masses, up, radius, priority=priority)
        return [balance, *keep_flat(flat, priority + 1)]


def _led(body: DragBody, bone: str) -> int:
    """Return the part that goes where a bone is dragged, which need not be the one that a pin of that holds."""
    return find_part(body.rig, body.controlled, led(body.rig, body.controlled, bone)[0])
