"""What a drag asks of a solver: goals for what is dragged and pinned, and the method of the armature's settings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from ... import bridge
from ...core import CoreError, Goal, Humanoid, PinAndDrag, Pose, Solution
from ...core.body.anatomy import with_anatomy, with_ranges
from ...core.body.limbs import within_reach
from ...core.editing.footsteps import feet_but
from ...core.goals import AnyGoal
from ...core.rotation import Array
from ..humanoid import read_humanoid
from ..pins import LIMITS, next_priority
from .body import DragBody, Effector
from .pins import DragPins

# of a tick under the mouse: what is left is done in the next one
_LIVE: Final[dict[str, Any]] = {"iterations": 8, "turn": float(np.radians(11.5))}

Target = tuple[Array, Array]  # the place (3,) and the turn (4,) of an effector, in armature space


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a drag is to do."""

    effectors: Sequence[Effector]
    targets: Sequence[Target]
    start: Pose  # at the press, to which the body comes back
    pose: Pose  # that it has now
    wins: str  # "PINS" or "DRAG", what comes first
    turning: bool  # effectors have rotations


@dataclass(frozen=True)
class Solved:
    """The bones of a problem, by their places in the skeleton: what `DragWriter.prepare` takes."""

    bones: Sequence[int]  # that a solve changes
    stretched: Sequence[int] = ()
    nodes: Sequence[int] = ()  # whose frames count
    asked: Sequence[int] = ()  # with goals


class DragProblem:
    """The problem of a whole body with its pins.

    refusals: sentences about settings that have no effect; yielding: the rotations of pins that parts without keys
    cannot have, which are the last goals; asked: the number of goals that somebody asked for; bent: the names
    of joints that Blender alone bends, in planes that it has.
    """

    can_turn = True  # the effectors
    whole = True  # the body follows, by its controls and on both sides where the armature has these

    def __init__(self, settle: bool = False, live: bool = False) -> None:
        self._settle, self._live = settle, live and not settle  # which comes from the reference each time, all the way
        self._on_ik: Sequence[int] = ()
        self.yielding: list[Goal] = []
        self.asked = 0
        self.bent = set[str]()
        self.solver: Any = None

    def read(self, armature: Any, body: DragBody, pins: DragPins, start: Pose) -> None:
        """Read the settings of the armature."""
        self.body, self.pins = body, pins
        self.refusals = [*pins.refusals]
        self._balance: str = armature.poise_balance
        strength = armature.poise_strength if armature.poise_use_strength else np.inf
        self._method: Any
        if armature.poise_method == "HUMANOID" and not body.alone:
            self._skeleton = body.skeleton
            if armature.poise_use_anatomy_limits:
                self._skeleton = with_ranges(body.skeleton, body.roles, start)
            limits = bool(LIMITS[armature.poise_limits])
            self._method = read_humanoid(armature).method(body.roles, limits, strength=strength)
            return
        method = PinAndDrag(
            limits=LIMITS[armature.poise_limits],
            root="free" if body.alone else armature.poise_root.lower(),
            strength=strength,
            **(_LIVE if self._live else {}),
            stretch=armature.poise_use_stretch,
            reference=start,
            settle=self._settle,
        )
        self._on_ik = () if body.controlled is None or body.alone else body.controlled.planted
        loose = feet_but(body.skeleton, body.roles, self._on_ik, pins.asked)  # under G ankles have no limit
        self._skeleton, self._method = with_anatomy(
            body.skeleton, method, body.roles, ranges=armature.poise_use_anatomy_limits, loose=loose,
            tuning=bridge.read_tuning(armature, body.skeleton),
        )  # fmt: skip

    @property
    def ranked(self) -> bool:
        """Whether goals have priorities."""
        return not isinstance(self._method, Humanoid)

    def manner(self, wins: str) -> str:
        """Return how it is solved, in words for the viewport, or "" for the usual way."""
        if not self.ranked:
            return "as a humanoid"
        return "" if wins == "PINS" else "drag takes precedence"

    def prepare(self, wanted: Wanted) -> Solved:
        """Prepare the goals of effectors and pins. Return what a solve may change."""
        body, held, turning, drag_wins = self.body, self.body.held, wanted.turning, wanted.wins == "DRAG"
        level = held.first + (0 if drag_wins else next_priority(self.pins.targets))
        goals: list[AnyGoal] = [
            held.along(Goal(effector.bone, place, turn if turning else None, effector.point, priority=level))
            for effector, (place, turn) in zip(wanted.effectors, wanted.targets, strict=True)
        ]
        holding = self.pins.goals(turning, held.first + int(drag_wins))
        last = max(goal.priority for goal in [*goals, *holding])
        pins = [held.yielding(pin) for pin in holding]
        self.yielding = [turn for _, turn in pins if turn is not None]
        goals += [*(pin for pin, _ in pins), *held.goals]
        self.asked = len(goals)
        planted, last, share = held.plant(body.roles, body.start, self._on_ik, goals, last)
        try:
            goals += self.pins.balance(self._balance, turning, last + 1)
        except CoreError as error:
            self.refusals.append(str(error))
            self._balance = "OFF"
        self.asked += self._balance not in ("OFF", "FEET")
        if not self.ranked:
            self.solver = self._method.prepare(self._skeleton, wanted.start, goals)
            everything = range(len(self._skeleton))
            return Solved(everything, nodes=everything)
        bent = held.planes(body.controlled, self._skeleton, wanted.pose, goals)
        self.bent = {self._skeleton.names[self._skeleton.index(goal.bone)] for goal in bent}
        goals += [*planted, *bent, *self.yielding]
        self._limbs = () if body.controlled is None else body.controlled.hinged
        strength = share * self._method.strength
        method = replace(self._method, reference=wanted.start, strength=strength, strength_at=last, firm_at=held.first)
        if body.controlled is not None and body.controlled.beyond and not turning:
            method = replace(method, root="fixed" if method.root == "fixed" else "translate")
        self.solver = method.prepare(*within_reach(self._skeleton, self._limbs, wanted.pose, body.start), goals)
        tree = self.solver.tree
        solved = {*tree.nodes[tree.joints].tolist(), *tree.nodes[tree.roots].tolist()}
        asked = [self._skeleton.index(goal.bone) for goal in goals]
        return Solved([*solved], tree.nodes[tree.stretching].tolist(), tree.nodes.tolist(), asked)

    def carry(self, start: Pose, pose: Pose) -> bool:
        """Go on from another start and pose with the same goals; return whether these are still right."""
        if not self.ranked or self.bent:
            return False
        self.solver = self.solver.carried(*within_reach(self._skeleton, self._limbs, pose, self.body.start), start)
        return True

    def aim(self, number: int, place: Array, turn: Array | None) -> None:
        """Move the target of an effector: place (3,) and turn (4,) in armature space."""
        self.solver.move(number, place, turn)

    def solve(self) -> Solution:
        """Return the solution for the targets as they are now."""
        return self.solver.solve()

    def relax(self) -> Solution:
        """Return the solution nearer to rest, the targets as they are."""
        return self.solver.relax()
