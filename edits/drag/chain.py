"""A drag of a chain's effector: contribution CCD turns the joints of its list, and nothing else moves."""

from collections.abc import Sequence
from typing import Any

from ...bridge import Grab
from ...core import CoreError, Goal, Pose, Solution
from ...core.rotation import Array
from ..chains import chain_bones, chain_method, named_bones, store_solve
from .body import DragBody, Effector
from .pins import DragPins
from .problem import DragProblem, Solved, Target, Wanted
from .session import DragSession


def begin_drag(
    context: Any, armature: Any, grabs: Sequence[Grab], settle: bool = False, turning: bool = False, live: bool = False
) -> DragSession:
    """Return a drag by a chain's list if its effector is grabbed, else of the whole body; raises what these do.

    Bones of the chain that are selected, too, as after it was made, change nothing; other ones drag the whole body.
    """
    place = find_drag_chain(armature, grabs[0].bone)
    if place is None or not {grab.bone for grab in grabs}.issubset(named_bones(armature.poise_chains[place])):
        return DragSession(context, armature, grabs, settle, turning, live)
    session = ChainDrag(context, armature, grabs[:1], place, settle)
    if turning:
        session.switch(turning=True)  # refuses it
    return session


def find_drag_chain(armature: Any, effector: str) -> int | None:
    """Return the place of the chain that is used in drags of this bone: the one chosen in the panel before others."""
    chains, chosen = armature.poise_chains, armature.poise_active_chain
    found = [place for place, chain in enumerate(chains) if chain.use_drag and chain.effector == effector]
    return chosen if chosen in found else next(iter(found), None)


class ChainProblem(DragProblem):
    """The problem of one effector that contribution CCD moves by a chain's list: without pins or a mirrored side."""

    can_turn = whole = False

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place

    def read(self, armature: Any, body: DragBody, pins: DragPins, start: Pose) -> None:
        chain = armature.poise_chains[self.place]
        self.body, self.pins, self.refusals = body, pins, [*pins.refusals]
        self.name, self.successive = chain.name, chain.successive
        self._skeleton, self._method = chain_method(armature, chain, body.skeleton, start)
        self.bones = chain_bones(body.skeleton, chain)

    @property
    def ranked(self) -> bool:
        return False

    def manner(self, wins: str) -> str:
        return f'by the list of "{self.name}"'

    def prepare(self, wanted: Wanted) -> Solved:
        effector, self.asked = wanted.effectors[0], 1
        self.solver = self._method.prepare(self._skeleton, wanted.start, [_goal(effector, wanted.targets[0])])
        return Solved(self.bones, nodes=self.body.skeleton.ancestors(effector.bone))

    def aim(self, number: int, place: Array, turn: Array | None) -> None:
        if not self.successive:
            self.solver.restart()
        self.solver.move(place)


class ChainDrag(DragSession):
    """A drag of one effector by contribution CCD; it has no pins, no mirrored side and does not turn the effector."""

    def __init__(self, context: Any, armature: Any, grabs: Sequence[Grab], place: int, settle: bool = False) -> None:
        self._chain = ChainProblem(place)
        super().__init__(context, armature, grabs, settle, problem=self._chain)

    def switch(self, wins: str | None = None, turning: bool | None = None, kind: str | None = None) -> None:
        if turning:
            raise CoreError(
                f"This drag cannot rotate, because it is solved {self.manner}. Turn off Use in Drags of the chain."
            )
        if kind is not None:  # a list has no priorities
            self.pins.hold_as(kind)

    def _takes_shown(self, still: bool = False) -> bool:
        return not self._chain.successive and super()._takes_shown(still)

    def rest(self) -> Solution:
        self.restless = False  # each solve is final
        assert self.solution is not None
        return self.solution

    def finish(self) -> tuple[tuple[str, ...], ...]:
        """Keep the pose, and store the solve with the chain so that it can be tuned."""
        changes = super().finish()
        chains, place = self.body.find().poise_chains, self._chain.place
        if self.solution is not None and place < len(chains):  # nothing has removed it meanwhile
            goal = _goal(self.effectors[0], self.targets[0])
            store_solve(chains[place], self.body.skeleton, self._chain.bones, self.start, self.pose, goal)
        return changes


def _goal(effector: Effector, target: Target) -> Goal:
    return Goal(effector.bone, target[0], point=effector.point)
