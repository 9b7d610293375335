"""pink (PyPI pin-pink, on pinocchio) with quadprog: one QP per step until all effectors are within tolerance.

Goals are weighted frame tasks, as in its examples; it has no priorities. Feet as its hard equality constraints made it
up to 60 % slower. Costs, gains and damping around those below changed W1 and W2 by less than the noise, except that a
posture task of full gain needs four steps in W1 and solves 94 %. `build_ik` and a solver call, both public, are
5-10 % faster than its `solve_ik`, which checks limits first.
"""

from importlib.metadata import version
from typing import Any

import numpy as np
import pink  # pyright: ignore[reportMissingImports]
import pinocchio  # pyright: ignore[reportMissingImports]

from .peer import ByPrograms
from .work import Answer, Array, Rig, from_hinges


class Solver(ByPrograms):
    name = "pink"
    version = f"pin-pink {version('pin-pink')}, pin {version('pin')}, quadprog {version('quadprog')}"
    settings = {
        "position_cost": 1.0,
        "orientation_cost": 1.0,
        "posture_cost": 1e-3,
        "posture_gain": 0.05,
        "config_limit_gain": 0.5,
        "damping": 1e-6,
        "step_cap": 50,
    }
    library = pink

    def load(self, path: str) -> Array:
        s, work = self.settings, self.work
        self.model = pinocchio.buildModelFromUrdf(f"{path}.urdf", pinocchio.JointModelFreeFlyer())
        self.limits = [pink.limits.ConfigurationLimit(self.model, config_limit_gain=s["config_limit_gain"])]
        self.ids = [self.model.getFrameId(name) for name in work.effectors]
        self.targets = [
            [pinocchio.SE3(frame, point) for frame, point in zip(frames, points, strict=True)]
            for frames, points in zip(work.frames, work.positions, strict=True)
        ]
        posture = pink.PostureTask(cost=s["posture_cost"], gain=s["posture_gain"])
        rest = rest_of(work.rig, self.model.nq)
        posture.set_target(rest)
        self.weigh(posture)
        return rest

    def configured(self) -> pink.Configuration:
        return pink.Configuration(self.model, self.model.createData(), self.rest)

    def met(self, number: int) -> bool:
        placements = self.configuration.data.oMf
        placed = [placements[i] for i in self.ids]
        return self.within(number, [p.translation for p in placed], [p.rotation for p in placed])

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
