"""Least-squares steps of many frames.

One step is the weighted, damped pseudo-inverse and the joint target of the source in one (CN1420453; Nakamura and
Yamane, IEEE TVCG 9(3), 2003): the maximum of a Gaussian prior about the reference pose, x ~ N(0, S), under the
linearised goals J dx = e:

    dx = S J^T y - x,     (J S J^T + D I) y = e + J x

solved in the dual (rows of goals, never columns of joints). Two levels are one system in which the first has 1e-4 of
the second's damping: a lower level out of reach can push a higher one by that share of its own clamped error. Limits
are an active set: a coordinate at its bound takes its direction out of the joint's S, is set to the bound, and the step
is solved again. A frame ends where a step raises the merit; the Newton steps of `one_frame` go on from there.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ....rotation import Array
from .. import numbers
from ..goals.rows import GoalRows
from ..problem import Problem
from ..progress import Progress
from ..strengths import APART, FIRM
from ..tree import Links
from .algebra import Flags, FramesLast, Indices, solved, squares
from .limits import FramesLimits, Held
from .places import CLAMP, Given, Placed, Places


@dataclass(frozen=True, eq=False)
class State(FramesLast):
    """State of B frames between steps."""

    active: Flags  # (K, B)
    steps: Indices  # (B,) taken
    rounds: Indices  # (B,) of the active set in the next step
    here: Array  # (B,) the merit


@dataclass(frozen=True, eq=False)
class End(FramesLast):
    """B frames after their last step."""

    x: Array
    lengths: Array
    own: Array
    room: Array
    active: Flags | None

    @classmethod
    def of(cls, at: Placed, state: State | None) -> Self:
        return cls(at.x, at.lengths, at.own, at.room, None if state is None else state.active)


class FramesSolver:
    """The steps of a rigid body with plain goals on at most two levels and hard limits."""

    def __init__(self, problem: Problem, links: Links) -> None:
        tree, rows = problem.tree, problem.rows
        self.tree, self.settings = tree, problem.settings
        self.places = Places(problem, links)
        self.stuck = problem.prior.stiff == 0.0  # columns that nothing moves
        self.limits = FramesLimits(self.places, self.stuck)
        self.tolerances = problem.tolerances[:, None]
        above = np.arange(len(rows.levels) - 1.0, -1.0, -1.0)  # levels below each
        self.level_weights = FIRM * APART**above
        level = np.argmax(rows.block_in_level, axis=1)[self.places.order]
        shares = np.tile((APART ** (-2.0 * above))[level], 3)
        self.damping: Array = np.concatenate([numbers.DAMPING * shares, np.ones(len(self.places.ties))])

    def iterate(self, goals: GoalRows, x: Array, frames: Indices, most: int | None) -> Progress:
        """Take at most `most` steps in some frames of the problem, from x (n, D) until their goals are met."""
        settings, count = self.settings, len(x)
        still = numbers.CLOSE if settings.settle else numbers.NEWTON_RESTS
        given = self.places.given(goals, frames)
        at = self.places.place(given, x.T.copy())
        nothing = np.zeros(count, int)
        state = State(np.ones(at.values.shape, bool), nothing, nothing.copy(), self._merit(at))
        end = End(*(array.copy() for array in vars(End.of(at, state)).values()))
        done, iterations = np.zeros(count, bool), np.zeros(count, int)
        ids, everything = np.arange(count), given
        # frames just within tolerance take a step, too: they would jitter beside corrected neighbours
        finished = self._met(at) & (not (settings.settle or settings.coherent))
        while True:
            gone = finished | (state.steps == most)
            if gone.any():
                here = np.flatnonzero(gone)
                end.put(ids[here], End.of(at, state).take(here))
                iterations[ids[here]], done[ids[here]] = state.steps[here], finished[here]
                left = np.flatnonzero(~gone)
                if not len(left):
                    break
                ids, at, state, given = ids[left], at.take(left), state.take(left), given.take(left)
            there, changed = self._step(given, at, state)
            again = changed.any(axis=0)
            slack = np.where(again, np.inf, numbers.NEARLY)
            drifted = self.limits.clamped(given, there.x, there.own, there.room, slack)
            if drifted is not None:
                there.put(*drifted)
            merit = self._merit(there)
            better = (merit <= state.here * (1.0 + numbers.DAMPING) + numbers.DAMPING) & ~again
            turned = np.max(np.abs(there.x - at.x), axis=0, initial=0.0)
            worse = np.flatnonzero(~better)
            if 2 * len(worse) < len(ids):  # copy the smaller part
                there.put(worse, at.take(worse))
                at = there
            else:
                good = np.flatnonzero(better)
                at.put(good, there.take(good))
            state.here[better] = merit[better]
            state.steps[:] += ~again
            calming = settings.settle or (settings.coherent and turned > numbers.CLOSE)  # neighbours must end alike
            rests = ~better | (turned < still) | (self._met(at) & np.logical_not(calming))
            finished = (rests | (state.steps >= settings.iterations)) & ~again
            state.active[...] ^= changed
            state.rounds[:] = np.where(again, state.rounds + 1, 0)
        drifted = self.limits.clamped(everything, end.x, end.own, end.room, numbers.DAMPING)
        if drifted is not None:
            end.put(drifted[0], End.of(drifted[1], None))
        assert end.active is not None
        x, lengths = (np.ascontiguousarray(part.T) for part in (end.x, end.lengths))
        return Progress(x, iterations, end.active.T.copy(), done, lengths)

    def _merit(self, at: Placed) -> Array:
        """Return the merit (B,), which a step must not raise."""
        home = at.x / self.places.deviations
        home[self.stuck] = 0.0
        return self.level_weights @ at.costs + squares(home) + squares(self.places.ties @ home)

    def _met(self, at: Placed) -> Flags:
        """Return whether all goals are within tolerance, (B,)."""
        return np.all(at.lengths <= self.tolerances, axis=0)

    def _forces(
        self, jacobian: list[Array], ties: list[tuple[int, Array]], wanted: Array, tied: Array
    ) -> tuple[Array, Array]:
        """Return y (3, K, B) and (k, B) of the dual system (J J^T + d) y = wanted, where J has the ties, too."""
        blocks, count = wanted.shape[1:]
        goals, size = 3 * blocks, 3 * blocks + len(tied)
        system = self.tree.workspace("dual", size + 1, size, count)
        system[:size] = 0.0
        system[size, :goals], system[size, goals:] = wanted.reshape(goals, count), tied
        gram = np.zeros((3, blocks, 3, blocks, count)) if len(tied) else system[:size].reshape(3, blocks, 3, blocks, -1)
        for branch, part in zip(self.places.branches, jacobian, strict=True):
            own = branch.blocks.stop - branch.blocks.start
            gram[:, branch.blocks, :, branch.blocks] += np.einsum("rcb,scb->rsb", part, part).reshape(
                3, own, 3, own, -1
            )
        if len(tied):
            system[:goals, :goals] = gram.reshape(goals, goals, count)
            across = np.zeros((len(tied), 3, blocks, count))
            for number, part in ties:
                across[:, :, self.places.branches[number].blocks] += np.einsum(
                    "tcb,rcb->trb", part, jacobian[number]
                ).reshape(len(tied), 3, -1, count)
                system[goals:size, goals:] += np.einsum("tcb,scb->tsb", part, part)
            system[goals:size, :goals] = across.reshape(len(tied), goals, count)
            system[:goals, goals:] = system[goals:size, :goals].swapaxes(0, 1)
        system[:size].reshape(size * size, count)[:: size + 1] += self.damping[:, None]
        forces = solved(system)
        return forces[:goals].reshape(wanted.shape), forces[goals:]

    def _ties(self, held: Held | None) -> list[tuple[int, Array]]:
        """Return the branches that are tied, and the ties' columns (k, 3 n, B) there; B may be 1."""
        found: list[tuple[int, Array]] = []
        for number in self.places.tied:
            columns = self.places.ties[:, self.places.branches[number].columns, None]
            for other, joints, places in held.bounded.branches if held is not None else ():
                if held is not None and other == number:
                    columns = columns.reshape(len(columns), -1, 3, 1).repeat(held.count, axis=3)
                    columns[:, places[:, None], :, held.frames] = np.einsum(
                        "tncb,ncdb->nbtd", columns[:, places].take(held.frames, axis=3), held.projectors[joints]
                    )
                    columns = columns.reshape(len(columns), -1, held.count)
            found.append((number, columns))
        return found

    def _step(self, given: Given, at: Placed, state: State) -> tuple[Placed, Flags]:
        """Return the end of a step with the active limits, and the limits (K, B) to switch before it counts."""
        jacobian, home = self.places.jacobian(given, at), at.x / self.places.deviations
        wanted = at.rows.copy()
        for branch, part in zip(self.places.branches, jacobian, strict=True):
            along = np.einsum("rcb,cb->rb", part, home.take(branch.columns, axis=0))
            wanted[:, branch.blocks] += along.reshape(3, -1, at.x.shape[1])
        if self.stuck.any():
            for branch, part in zip(self.places.branches, jacobian, strict=True):
                part[:, self.stuck[branch.columns]] = 0.0
        np.copyto(state.active, self.limits.begin(given, at, state.active), where=state.rounds == 0)
        held = self.limits.hold(given, at, jacobian, home, state.active)
        if held is not None:
            centre = held.centre.T.reshape(-1, 3, len(held.frames))
            for (number, joints, _), free in zip(held.bounded.branches, held.free, strict=True):
                moved = np.einsum("rncb,ncb->rb", free, centre[joints]).reshape(3, -1, len(held.frames))
                wanted[:, self.places.branches[number].blocks][..., held.frames] -= moved
        ties, tied = self._ties(held), np.zeros((len(self.places.ties), at.x.shape[1]))
        if held is not None:
            tied[:, held.frames] -= self.places.ties[:, held.bounded.columns] @ held.centre.T
        forces, tied = self._forces(jacobian, ties, wanted, tied)
        z = np.empty_like(home)
        for branch, part in zip(self.places.branches, jacobian, strict=True):
            z[branch.columns] = np.einsum("rcb,rb->cb", part, forces[:, branch.blocks].reshape(len(part), -1))
        for number, part in ties:
            z[self.places.branches[number].columns] += np.einsum("tcb,tb->cb", part, tied)
        changed = np.zeros_like(state.active)
        if held is not None:
            columns, frames = held.bounded.columns[:, None], held.frames
            z[columns, frames] += held.centre.T
            push = z[columns, frames] - self.places.ties[:, held.bounded.columns].T @ tied[:, frames]
            push = push.reshape(-1, 3, len(frames))
            for (number, joints, _), free in zip(held.bounded.branches, held.free, strict=True):
                pull = forces[:, self.places.branches[number].blocks].take(frames, axis=2).reshape(len(free), -1)
                push[joints] -= np.einsum("rncb,rb->ncb", free, pull)
            push = push.reshape(-1, len(frames))
            leaving = held.linear.leaving(held.active, push.T)
            changed[held.bounded.rows[:, None], frames] = leaving.T & (state.rounds[frames] < numbers.ROUNDS // 2)
        step = (z - home) * self.places.deviations
        length = np.sqrt(squares(step))
        step *= CLAMP / np.maximum(length, CLAMP)
        there = self.places.place(given, at.x + step)
        changed |= (there.room < -numbers.DAMPING) & ~state.active
        changed &= state.rounds < numbers.ROUNDS - 1
        return there, changed
