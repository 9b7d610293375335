"""A drag of a chain's effector: contribution CCD turns the joints of its list, and nothing else moves."""

from collections.abc import Sequence
from typing import Any

from ...bridge import Grab
from ...core import ContributionCCD, CoreError, Goal, Skeleton, Solution
from ...core.rotation import Array
from ..chains import chain_bones, chain_method, named_bones, store_solve
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


class ChainDrag(DragSession):
    """A drag of one effector by contribution CCD; it has no pins, no mirrored side and does not turn the effector."""

    can_turn = whole = False

    def __init__(self, context: Any, armature: Any, grabs: Sequence[Grab], place: int, settle: bool = False) -> None:
        self._place, self._name = place, armature.poise_chains[place].name
        super().__init__(context, armature, grabs, settle)

    @property
    def manner(self) -> str:
        return f'by the list of "{self._name}"'

    def _prepare(self, armature: Any) -> tuple[Skeleton, ContributionCCD]:
        chain, skeleton = armature.poise_chains[self._place], self.body.skeleton
        self._successive = chain.successive
        prepared = chain_method(armature, chain, skeleton, self.start)
        self._bones = chain_bones(skeleton, chain)
        return prepared

    def _goal(self) -> Goal:
        effector, (place, _) = self.effectors[0], self.targets[0]
        return Goal(effector.bone, place, point=effector.point)

    def renew(self) -> None:
        self._problem = self._method.prepare(self._skeleton, self.start, [self._goal()])
        self.writer.prepare(self._bones, nodes=self.body.skeleton.ancestors(self.effectors[0].bone))

    def switch(self, wins: str | None = None, turning: bool | None = None, kind: str | None = None) -> None:
        if turning:
            raise CoreError(
                f"This drag cannot rotate, because it is solved {self.manner}. Turn off Use in Drags of the chain."
            )
        self._pin(kind)

    def _takes_shown(self) -> bool:
        return not self._successive and super()._takes_shown()

    def _aim(self, number: int, place: Array, turn: Array) -> None:
        if not self._successive:
            self._problem.restart()
        self._problem.move(place)

    def rest(self) -> Solution:
        self.restless = False  # each solve is final
        assert self.solution is not None
        return self.solution

    def finish(self) -> tuple[tuple[str, ...], ...]:
        """Keep the pose, and store the solve with the chain so that it can be tuned."""
        changes = super().finish()
        chains = self.body.find().poise_chains
        if self._place < len(chains):  # nothing has removed it meanwhile
            chain = chains[self._place]
            store_solve(chain, self.body.skeleton, self._bones, self.start, self.pose, self._goal())
        return changes

    def reasons(self) -> list[str]:
        """Return the sentences of a drag but those about the finisher, which always runs if there are no sweeps."""
        if self.solution is None:
            return []
        helped = self.solution.explain_finish()
        return [sentence for sentence in super().reasons() if sentence not in helped]
