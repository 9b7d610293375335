"""Contribution CCD: one target at a time in scalars, all in one call, and the whole `solve`."""

from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np

from core import Actuation, ContributionCCD, Goal, Pose, Skeleton, solve
from core.contribution import preset
from core.solvers.chain.actuations import AXES
from core.solvers.chain.batch import ChainBatch
from core.solvers.chain.one_frame import ChainFrame

from .work import SWEEPS, TOLERANCE, Array, Solver, Work


def skeleton_of(work: Work) -> Skeleton:
    """The chain, and a bone of no length at its tip: the effector."""
    count = len(work.lengths) + 1
    offsets = np.zeros((count, 3))
    offsets[1:, 1] = work.lengths
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    names = tuple(f"b{i}" for i in range(count))
    return Skeleton(names, np.arange(-1, count - 1), offsets, turns, np.append(work.lengths, 0.0))


class Poise:
    """`settings` go to the method; without a list of its own all joints have all axes."""

    def __init__(self, work: Work, name: str, actuations: Sequence[Actuation] = (), **settings: Any) -> None:
        self.work, self.name = work, name
        self.skeleton = skeleton_of(work)
        self.tip = self.skeleton.names[-1]
        everything = tuple(Actuation(bone, axis) for bone in self.skeleton.names[:-1] for axis in AXES)
        self.method = ContributionCCD(tuple(actuations) or everything, position_tolerance=TOLERANCE, **settings)
        turns = np.concatenate([work.start, [[1.0, 0.0, 0.0, 0.0]]])
        self.start = Pose(turns, np.zeros((len(turns), 3)))
        self._found = np.zeros((0, len(work.lengths), 4))

    def goal(self, targets: Array) -> list[Goal]:
        return [Goal(self.tip, targets)]

    def answers(self) -> Array:
        return self._found


class OneByOne(Poise):
    """A chain made ready once, then a target after the other: what a drag does."""

    def run(self) -> float:
        reach = self.method.prepare(self.skeleton, self.start, self.goal(self.work.targets[0]))
        walk = reach.walk
        assert isinstance(walk, ChainFrame)
        targets: list[Any] = [tuple(target) for target in self.work.targets.tolist()]
        ends: list[Any] = []
        begin = process_time()
        for target in targets:
            walk.restart()
            walk.reach(target)
            ends.append(walk.rotations.copy())
        seconds = process_time() - begin
        self._found = reach.chain.own_rotations(np.array(ends), 0)
        return seconds


class AllAtOnce(Poise):
    """The same for all targets in one call."""

    def run(self) -> float:
        reach = self.method.prepare(self.skeleton, self.start, self.goal(self.work.targets))
        walk = reach.walk
        assert isinstance(walk, ChainBatch)
        on = np.ones(len(self.work.targets), bool)
        begin = process_time()
        walk.reach(self.work.targets, on)
        seconds = process_time() - begin
        self._found = reach.chain.own_rotations(walk.turns)
        return seconds


class WholeSolve(Poise):
    """`solve` from poses to a `Solution`, with all checks, all targets in one call."""

    def run(self) -> float:
        begin = process_time()
        solution = solve(self.skeleton, self.start, self.goal(self.work.targets), self.method)
        seconds = process_time() - begin
        self._found = solution.pose.rotations[:, :-1]
        return seconds


def solvers(work: Work) -> list[Solver]:
    plain: dict[str, Any] = {"passes": 0, "sweeps": SWEEPS, "finish": False}
    squares: dict[str, Any] = {"passes": 0, "sweeps": 0}
    return [
        OneByOne(work, "Poise, plain CCD", **plain),
        OneByOne(work, "Poise, finisher alone", **squares),
        OneByOne(work, "Poise, as shipped", arm_or_tail(work)),
        AllAtOnce(work, "Poise, plain CCD, batch", **plain),
        AllAtOnce(work, "Poise, finisher alone, batch", **squares),
        AllAtOnce(work, "Poise, as shipped, batch", arm_or_tail(work)),
        WholeSolve(work, "Poise, as shipped, whole solve", arm_or_tail(work)),
    ]


def arm_or_tail(work: Work) -> tuple[Actuation, ...]:
    """The preset for the chain."""
    skeleton = skeleton_of(work)
    name = "arm" if len(work.lengths) == len(("clavicle", "upper arm", "forearm", "hand")) else "tail"
    return preset(name, skeleton, None, skeleton.names[-1])
