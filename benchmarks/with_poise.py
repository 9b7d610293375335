"""Poise's pins solver, with the settings that its tools ship: prior, limits, two strict levels of priority.

W1 is a drag: one prepared problem, a target moved and a solve per tick; the pins win, the dragged hand comes second. W2
is a bake: one call for all frames, which start at the rest pose; feet first, hands and head second.
"""

import numpy as np

from core import EulerBox, Goal, PinAndDrag, Pose, Skeleton, rotation, solve

from .work import DRAGGED, POSITION_TOLERANCE, ROTATION_TOLERANCE, Answer, Rig, Work, quaternion_matrices


class Solver:
    """The settings that ship: a bake, like a drag, is done where its goals are met."""

    name = "Poise"
    version = "this checkout"
    works = ("W1", "W2")
    settle_bake = False

    def __init__(self, work: Work) -> None:
        self.work = work
        self.skeleton = skeleton_of(work.rig)
        self.rest = Pose.rest(self.skeleton)
        self.dragging = work.name == "W1"
        live = {"iterations": 8, "turn": float(np.radians(11.5))}  # as in edits/drag/problem.py
        self.method = PinAndDrag(
            position_tolerance=POSITION_TOLERANCE,
            rotation_tolerance=float(ROTATION_TOLERANCE),
            settle=self.settle_bake and not self.dragging,
            coherent=not self.dragging,
            **(live if self.dragging else {}),
        )
        self.settings = {"method": repr(self.method)}

    def goals(self) -> list[Goal]:
        work = self.work
        still = ~work.moving
        first = np.array(work.effectors) != DRAGGED if self.dragging else work.turned
        goals: list[Goal] = []
        for i, name in enumerate(work.effectors):
            frames = 0 if still[i] or self.dragging else slice(None)
            turn = rotation.from_matrix(work.frames[frames, i]) if work.turned[i] else None
            goals.append(Goal(name, work.positions[frames, i], turn, priority=0 if first[i] else 1))
        return goals

    def start(self) -> None:
        goals = self.goals()
        self.poses: list[Pose] = []
        self.iterations = 0
        if self.dragging:
            self.problem = self.method.prepare(self.skeleton, self.rest, goals)
        else:
            self.baked = goals

    def run(self) -> None:
        if not self.dragging:
            solution = solve(self.skeleton, self.rest, self.baked, self.method)
            self.poses = [solution.pose]
            self.iterations = int(solution.iterations.sum())
            return
        hand = self.work.effectors.index(DRAGGED)
        for target in self.work.positions[:, hand]:
            self.problem.move(hand, position=target)
            solution = self.problem.solve()
            self.poses.append(solution.pose)
            self.iterations += int(solution.iterations)

    def answer(self) -> Answer:
        rig = self.work.rig
        shape = (len(self.work.positions), len(rig.names))
        rotations = np.array([pose.rotations for pose in self.poses]).reshape(*shape, 4)
        shifts = np.array([pose.translations for pose in self.poses]).reshape(*shape, 3)
        return Answer(quaternion_matrices(rotations), rig.heads[0] + shifts[:, 0] @ rig.frames[0].T, self.iterations)


class Settled(Solver):
    """A bake that goes on until the joints of each frame rest."""

    name = "Poise*"
    works = ("W2",)
    settle_bake = True


def skeleton_of(rig: Rig) -> Skeleton:
    bones = np.arange(1, len(rig.names))
    limits = EulerBox(bones, ["ZYX"] * len(bones), rig.limits[1:, :, 0], rig.limits[1:, :, 1])
    turns = rotation.from_matrix(rig.rest)
    return Skeleton(rig.names, rig.parents, rig.offsets, turns, rig.lengths, limits=(limits,))
