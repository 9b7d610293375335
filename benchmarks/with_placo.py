"""placo (PyPI, C++ on pinocchio, eiquadprog): one QP per step until all effectors are within tolerance.

Goals are soft tasks of weight 1 with a regularization, as in its examples. It has no posture task of a small gain, and
with full gain it circles for ever, so that nothing leads it back to the rest pose: that is less than the others do.
"""

from importlib.metadata import version
from typing import Any

import numpy as np
import placo  # pyright: ignore[reportMissingImports]

from .peer import Peer
from .with_pink import answer_of, rest_of
from .work import Answer, Array


class Solver(Peer):
    name = "placo"
    version = f"placo {version('placo')}"
    settings = {"position_weight": 1.0, "orientation_weight": 1.0, "regularization": 1e-6, "step_cap": 50}

    def load(self, path: str) -> Array:
        work = self.work
        self.robot: Any = placo.RobotWrapper(f"{path}.urdf", placo.Flags.ignore_collisions)
        self.solver: Any = placo.KinematicsSolver(self.robot)
        self.solver.enable_joint_limits(True)
        self.solver.enable_velocity_limits(False)
        self.solver.dt = 1.0
        self.solver.add_regularization_task(self.settings["regularization"])
        self.places, self.turns = list[Any](), dict[int, Any]()
        for number, name in enumerate(work.effectors):
            self.places.append(self.solver.add_position_task(name, work.positions[0, number]))
            self.places[-1].configure(name, "soft", self.settings["position_weight"])
            if work.turned[number]:
                self.turns[number] = self.solver.add_orientation_task(name, work.frames[0, number])
                self.turns[number].configure(f"{name} turn", "soft", self.settings["orientation_weight"])
        return rest_of(work.rig, len(self.robot.state.q))

    def start(self) -> None:
        self.robot.state.q = self.rest
        self.robot.update_kinematics()
        self.iterations = 0

    def aim(self, number: int) -> None:
        for i in self.moving if number else range(len(self.places)):
            self.places[i].target_world = self.work.positions[number, i]
            if i in self.turns:
                self.turns[i].R_world_frame = self.work.frames[number, i]

    def step(self) -> bool:
        self.solver.solve(True)
        self.robot.update_kinematics()
        return True

    def met(self, number: int) -> bool:
        placed = np.array([self.robot.get_T_world_frame(name) for name in self.work.effectors])
        return self.within(number, placed[:, :3, 3], placed[:, :3, :3])

    def state(self) -> Array:
        return self.robot.state.q

    def answer(self) -> Answer:
        return answer_of(self.work.rig, self.robot.model, self.found, self.iterations)
