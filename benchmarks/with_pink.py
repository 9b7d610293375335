"""pink (PyPI pin-pink, on pinocchio) with quadprog: one QP per step until all effectors are within tolerance.

Goals are weighted frame tasks, as in its examples; it has no priorities. Feet as its hard equality constraints made it
up to 60 % slower. Costs, gains and damping around those below changed W1 and W2 by less than the noise, except that a
posture task of full gain needs four steps in W1 and solves 94 %. `build_ik` and a solver call, both public, are
5-10 % faster than its `solve_ik`, which checks limits first.
"""

from importlib.metadata import version
from typing import Any, Final

import numpy as np
import pink  # pyright: ignore[reportMissingImports]
import pinocchio  # pyright: ignore[reportMissingImports]
import qpsolvers  # pyright: ignore[reportMissingImports]

from .work import DATA, POSITION_TOLERANCE, TURNED_TRACE, Answer, Array, Rig, Work, from_hinges

SETTINGS: Final = {
    "position_cost": 1.0,
    "orientation_cost": 1.0,
    "posture_cost": 1e-3,
    "posture_gain": 0.05,
    "config_limit_gain": 0.5,
    "damping": 1e-6,
    "step_cap": 50,
}
STEP: Final = 1.0  # seconds; only velocity limits would see it, and there are none


class Solver:
    name = "pink"
    version = f"pin-pink {version('pin-pink')}, pin {version('pin')}, quadprog {version('quadprog')}"
    works = ("W1", "W2")
    settings = SETTINGS

    def __init__(self, work: Work) -> None:
        s = SETTINGS
        self.work = work
        rig = work.rig
        path = str(DATA / f"rig_{rig.kind}.urdf")
        self.model: Any = pinocchio.buildModelFromUrdf(path, pinocchio.JointModelFreeFlyer())
        self.limits = [pink.limits.ConfigurationLimit(self.model, config_limit_gain=s["config_limit_gain"])]
        self.frame_ids = [self.model.getFrameId(name) for name in work.effectors]
        self.targets = [
            [pinocchio.SE3(frame, point) for frame, point in zip(frames, points, strict=True)]
            for frames, points in zip(work.frames, work.positions, strict=True)
        ]
        self.frame_tasks = [
            pink.FrameTask(name, s["position_cost"], s["orientation_cost"] if turned else 0.0)
            for name, turned in zip(work.effectors, work.turned, strict=True)
        ]
        posture = pink.PostureTask(cost=s["posture_cost"], gain=s["posture_gain"])
        self.rest = rest_of(rig, self.model.nq)
        posture.set_target(self.rest)
        self.tasks = [*self.frame_tasks, posture]
        self.found = np.empty((len(work.positions), self.model.nq))

    def start(self) -> None:
        self.configuration = pink.Configuration(self.model, self.model.createData(), self.rest)
        for task, target in zip(self.frame_tasks, self.targets[0], strict=True):
            task.set_target(target)
        self.iterations = 0

    def run(self) -> None:
        work, configuration, ids = self.work, self.configuration, self.frame_ids
        placements, damping, cap = configuration.data.oMf, SETTINGS["damping"], SETTINGS["step_cap"]
        moving, turned = np.flatnonzero(work.moving).tolist(), np.flatnonzero(work.turned).tolist()
        for frame, targets in enumerate(self.targets):
            for i in moving:
                self.frame_tasks[i].set_target(targets[i])
            frames, points = work.frames[frame], work.positions[frame]
            for _ in range(int(cap)):
                problem = pink.build_ik(configuration, self.tasks, STEP, damping, self.limits)
                change = qpsolvers.solve_problem(problem, solver="quadprog").x
                if change is None:
                    break
                configuration.integrate_inplace(change / STEP, STEP)
                self.iterations += 1
                placed = [placements[i] for i in ids]
                gap = np.array([p.translation for p in placed]) - points
                if (gap * gap).sum(axis=1).max() < POSITION_TOLERANCE**2 and all(
                    (placed[i].rotation * frames[i]).sum() > TURNED_TRACE for i in turned
                ):
                    break
            self.found[frame] = configuration.q

    def answer(self) -> Answer:
        return answer_of(self.work.rig, self.model, self.found, self.iterations)


def rest_of(rig: Rig, count: int) -> Array:
    """pinocchio's configuration for the rest pose: the root's place and its quaternion xyzw, then angles."""
    rest = np.zeros(count)
    rest[:3] = rig.heads[0]
    rest[3:7] = pinocchio.Quaternion(rig.frames[0]).coeffs()
    return rest


def answer_of(rig: Rig, model: Any, found: Array, iterations: int) -> Answer:
    """The answer in configurations (F, nq) of a pinocchio model."""
    columns = [[model.idx_qs[model.getJointId(f"{name}_j{axis}")] for axis in "xyz"] for name in rig.names[1:]]
    return from_hinges(rig, found[:, columns], found[:, :3], found[:, [6, 3, 4, 5]], iterations)
