"""placo (PyPI, C++ on pinocchio, eiquadprog): one QP per step until all effectors are within tolerance.

Goals are soft tasks of weight 1 with a regularization, as in its examples. It has no posture task of a small gain, and
with full gain it circles for ever, so that nothing leads it back to the rest pose: that is less than the others do.
"""

from importlib.metadata import version
from typing import Any, Final

import numpy as np
import placo  # pyright: ignore[reportMissingImports]

from .with_pink import answer_of, rest_of
from .work import DATA, POSITION_TOLERANCE, TURNED_TRACE, Answer, Work

SETTINGS: Final = {"position_weight": 1.0, "orientation_weight": 1.0, "regularization": 1e-6, "step_cap": 50}


class Solver:
    name = "placo"
    version = f"placo {version('placo')}"
    works = ("W1", "W2")
    settings = SETTINGS

    def __init__(self, work: Work) -> None:
        self.work = work
        path = str(DATA / f"rig_{work.rig.kind}.urdf")
        self.robot: Any = placo.RobotWrapper(path, placo.Flags.ignore_collisions)
        self.solver: Any = placo.KinematicsSolver(self.robot)
        self.solver.enable_joint_limits(True)
        self.solver.enable_velocity_limits(False)
        self.solver.dt = 1.0
        self.solver.add_regularization_task(SETTINGS["regularization"])
        self.places, self.turns = list[Any](), dict[int, Any]()
        for number, name in enumerate(work.effectors):
            self.places.append(self.solver.add_position_task(name, work.positions[0, number]))
            self.places[-1].configure(name, "soft", SETTINGS["position_weight"])
            if work.turned[number]:
                self.turns[number] = self.solver.add_orientation_task(name, work.frames[0, number])
                self.turns[number].configure(f"{name} turn", "soft", SETTINGS["orientation_weight"])
        self.rest = rest_of(work.rig, len(self.robot.state.q))
        self.found = np.empty((len(work.positions), len(self.rest)))

    def start(self) -> None:
        self.robot.state.q = self.rest
        self.robot.update_kinematics()
        self.iterations = 0

    def run(self) -> None:
        work, robot, solver = self.work, self.robot, self.solver
        moving, turned = np.flatnonzero(work.moving).tolist(), np.flatnonzero(work.turned).tolist()
        for number, (points, frames) in enumerate(zip(work.positions, work.frames, strict=True)):
            for i in moving if number else range(len(points)):
                self.places[i].target_world = points[i]
                if i in self.turns:
                    self.turns[i].R_world_frame = frames[i]
            for _ in range(int(SETTINGS["step_cap"])):
                solver.solve(True)
                robot.update_kinematics()
                self.iterations += 1
                placed = [robot.get_T_world_frame(name) for name in work.effectors]
                gap = np.array([p[:3, 3] for p in placed]) - points
                if (gap * gap).sum(axis=1).max() < POSITION_TOLERANCE**2 and all(
                    (placed[i][:3, :3] * frames[i]).sum() > TURNED_TRACE for i in turned
                ):
                    break
            self.found[number] = robot.state.q

    def answer(self) -> Answer:
        return answer_of(self.work.rig, self.robot.model, self.found, self.iterations)
