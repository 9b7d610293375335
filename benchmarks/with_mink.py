"""mink (PyPI mink, on MuJoCo) with quadprog: one QP per step until all effectors are within tolerance.

Goals are weighted frame tasks, as in its examples; it has no priorities. Feet as its hard equality constraints made it
up to 60 % slower. Costs, gains and damping around those below changed W1 and W2 by less than the noise, except that a
posture task of full gain needs four steps in W1 and solves 94 %.
"""

from importlib.metadata import version
from typing import Final

import mink  # pyright: ignore[reportMissingImports]
import mujoco  # pyright: ignore[reportMissingImports]
import numpy as np
import qpsolvers  # pyright: ignore[reportMissingImports]

from .work import DATA, POSITION_TOLERANCE, TURNED_TRACE, Answer, Work, from_hinges

SETTINGS: Final = {
    "position_cost": 1.0,
    "orientation_cost": 1.0,
    "posture_cost": 1e-3,
    "posture_gain": 0.05,
    "configuration_limit_gain": 0.95,
    "damping": 1e-6,
    "step_cap": 50,
}
STEP: Final = 1.0  # seconds; only velocity limits would see it, and there are none


class Solver:
    name = "mink"
    version = f"mink {version('mink')}, mujoco {version('mujoco')}, quadprog {version('quadprog')}"
    works = ("W1", "W2")
    settings = SETTINGS

    def __init__(self, work: Work) -> None:
        s = SETTINGS
        self.work = work
        self.model = mujoco.MjModel.from_xml_path(str(DATA / f"rig_{work.rig.kind}.xml"))
        self.limits = [mink.ConfigurationLimit(self.model, gain=s["configuration_limit_gain"])]
        self.body_ids = [self.model.body(name).id for name in work.effectors]
        self.targets = [
            [
                mink.SE3.from_rotation_and_translation(mink.SO3.from_matrix(frame), point)
                for frame, point in zip(frames, points, strict=True)
            ]
            for frames, points in zip(work.frames, work.positions, strict=True)
        ]
        self.frame_tasks = [
            mink.FrameTask(name, "body", s["position_cost"], s["orientation_cost"] if turned else 0.0)
            for name, turned in zip(work.effectors, work.turned, strict=True)
        ]
        posture = mink.PostureTask(self.model, cost=s["posture_cost"], gain=s["posture_gain"])
        posture.set_target(self.model.qpos0)
        self.tasks = [*self.frame_tasks, posture]
        self.found = np.empty((len(work.positions), self.model.nq))

    def start(self) -> None:
        self.configuration = mink.Configuration(self.model, self.model.qpos0)
        for task, target in zip(self.frame_tasks, self.targets[0], strict=True):
            task.set_target(target)
        self.iterations = 0

    def run(self) -> None:
        work, configuration, ids = self.work, self.configuration, self.body_ids
        places, turns = configuration.data.xpos, configuration.data.xmat
        damping, cap = SETTINGS["damping"], SETTINGS["step_cap"]
        moving, turned = np.flatnonzero(work.moving).tolist(), np.flatnonzero(work.turned).tolist()
        turned_ids = [ids[i] for i in turned]
        flat_frames = work.frames[:, turned].reshape(len(self.targets), -1, 9)
        for frame, targets in enumerate(self.targets):
            for i in moving:
                self.frame_tasks[i].set_target(targets[i])
            frames, points = flat_frames[frame], work.positions[frame]
            for _ in range(int(cap)):
                problem = mink.build_ik(configuration, self.tasks, STEP, damping, self.limits)
                change = qpsolvers.solve_problem(problem, solver="quadprog").x
                if change is None:
                    break
                configuration.integrate_inplace(change / STEP, STEP)
                self.iterations += 1
                gap = places[ids] - points
                if (gap * gap).sum(axis=1).max() < POSITION_TOLERANCE**2 and (
                    (turns[turned_ids] * frames).sum(axis=1).min() > TURNED_TRACE
                ):
                    break
            self.found[frame] = configuration.q

    def answer(self) -> Answer:
        rig, q = self.work.rig, self.found
        columns = [[self.model.joint(f"{name}_j{axis}").qposadr[0] for axis in "xyz"] for name in rig.names[1:]]
        return from_hinges(rig, q[:, columns], q[:, :3], q[:, 3:7], self.iterations)
