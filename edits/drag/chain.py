"""A drag of a chain's effector: its list turns the joints of the chain, and nothing else moves."""

from collections.abc import Sequence
from typing import Any

from ... import bridge
from ...bridge import Grab
from ...core import ContributionCCD, CoreError, Goal, Skeleton, Solution, forward, rotation
from ...core.rotation import Array
from ..chains import chain_bones, chain_method, store_solve
from .session import Effector, Session


def begin(context: Any, armature: Any, grabs: Sequence[Grab], settle: bool = False, turning: bool = False) -> Session:
    """By a chain's list if its effector is dragged, else with the whole body; raises what `Session` does.

    Bones of the chain that are selected, too, as after it was made, change nothing about it; others do.
    """
    place = chain_for(armature, grabs[0].bone)
    if place is None or not _own(armature.poise_chains[place]).issuperset(grab.bone for grab in grabs):
        return Session(context, armature, grabs, settle, turning)
    session = ReachSession(context, armature, grabs[:1], place, settle)
    if turning:
        session.switch(turning=True)  # refuses it
    return session


def chain_for(armature: Any, effector: str) -> int | None:
    """The chain whose list a drag of this bone goes by, by its place: the one chosen in the panel before others."""
    chains, chosen = armature.poise_chains, armature.poise_active_chain
    found = [place for place, chain in enumerate(chains) if chain.use_drag and chain.effector == effector]
    return chosen if chosen in found else next(iter(found), None)


def _own(chain: Any) -> set[str]:
    return {chain.base, chain.effector, *(entry.bone for entry in chain.entries)}


class ReachSession(Session):
    """As `Session`, for one bone and by contribution CCD; pins, roots, X-mirror and turns are the whole body's."""

    can_turn = False

    def __init__(self, context: Any, armature: Any, grabs: Sequence[Grab], place: int, settle: bool = False) -> None:
        self._place, self._name = place, armature.poise_chains[place].name
        super().__init__(context, armature, grabs, settle)

    @property
    def manner(self) -> str:
        return f'by the list of "{self._name}"'

    def _find_controlled(self, armature: Any, grabs: Sequence[Grab]) -> None:
        """A chain is one of the bones themselves."""

    def _effectors(self, armature: Any, grabs: Sequence[Grab]) -> list[Effector]:
        return super()._effectors(armature, grabs)[:1]

    def _prepare(self, armature: Any) -> tuple[Skeleton, ContributionCCD]:
        chain = armature.poise_chains[self._place]
        self._step_by_step = chain.successive
        prepared = chain_method(armature, chain, self.rig.skeleton, self.start)
        self._bones = chain_bones(self.rig.skeleton, chain)
        return prepared

    def renew(self) -> None:
        """Nothing of it changes during a drag."""
        effector, (place, _) = self.effectors[0], self._targets[0]
        self._problem = self._method.prepare(
            self._skeleton, self.start, [Goal(effector.bone, place, point=effector.point)]
        )
        self._writer = bridge.PoseWriter(self.rig, self._bones)

    def switch(self, wins: str | None = None, turning: bool | None = None, kind: str | None = None) -> None:
        if turning:
            raise CoreError(f'A drag {self.manner} leads to a place and does not turn; switch "Use in Drags" off.')
        self.kinds = self.kinds if kind is None else dict.fromkeys(self.kinds, kind)

    def _move(self, number: int, place: Array, stand: Array) -> None:
        if not self._step_by_step:
            self._problem.restart()
        self._problem.move(place)

    def rest(self) -> Solution:
        """It rests at once."""
        self.restless = False
        assert self.solution is not None
        return self.solution

    def finish(self) -> tuple[tuple[str, ...], ...]:
        """As for the whole body; the chain keeps from where to where it went, to be tuned."""
        changes = super().finish()
        effector, (place, _) = self.effectors[0], self._targets[0]
        goal = Goal(effector.bone, place, point=effector.point)
        chains = self.object().poise_chains
        if self._place < len(chains):  # nothing else has taken it away meanwhile
            store_solve(chains[self._place], self.rig.skeleton, self._bones, self.start, self.pose, goal)
        return changes

    def reasons(self) -> list[str]:
        """As for the whole body, but not that least squares had to help: without sweeps that is their business."""
        if self.solution is None:
            return []
        helped = self.solution.explain_finish()
        return [sentence for sentence in super().reasons() if sentence not in helped]

    def _standing(self) -> tuple[Array, Array]:
        heads, turns = forward(self.rig.skeleton, self.pose)
        return heads, rotation.to_matrix(turns)
