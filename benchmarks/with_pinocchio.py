"""pinocchio's Jacobians (C++) with damped least squares in numpy: what one would write without a solver's library.

A step is that of least norm to all goals at once; joints that it would take beyond their limits are put there, and the
rest of the step is taken without them. Nothing leads it back to the rest pose: with a null-space step of 0.02 or 0.05
of the way it circled at limits, and solved 94-98 % of W1 in five to seven steps.
"""

from importlib.metadata import version
from typing import Any, Final

import numpy as np
import pinocchio  # pyright: ignore[reportMissingImports]

from .peer import Peer
from .with_pink import answer_of, rest_of
from .work import POSITION_TOLERANCE, Answer, Array

FREE: Final = 6  # of the root: its limits in the model are those of its quaternion


class Solver(Peer):
    name = "pinocchio"
    version = f"pin {version('pin')} + numpy {np.__version__}"
    settings = {"damping": 1e-6, "longest": 0.2, "step_cap": 50}

    def load(self, path: str) -> Array:
        self.model: Any = pinocchio.buildModelFromUrdf(f"{path}.urdf", pinocchio.JointModelFreeFlyer())
        self.data: Any = self.model.createData()
        self.ids = [self.model.getFrameId(name) for name in self.work.effectors]
        self.lower, self.upper = self.model.lowerPositionLimit[FREE + 1 :], self.model.upperPositionLimit[FREE + 1 :]
        self.damping = self.settings["damping"] * np.eye(3 * (len(self.ids) + len(self.turned)))
        return rest_of(self.work.rig, self.model.nq)

    def start(self) -> None:
        self.q = self.rest.copy()
        self.iterations = 0

    def aim(self, number: int) -> None:
        self.number = number

    def state(self) -> Array:
        return self.q

    def met(self, number: int) -> bool:
        return False  # it is seen before the next step, with the Jacobians

    def step(self) -> bool:
        pinocchio.computeJointJacobians(self.model, self.data, self.q)
        pinocchio.updateFramePlacements(self.model, self.data)
        placed = [self.data.oMf[i] for i in self.ids]
        places = [p.translation for p in placed]
        if self.within(self.number, places, [p.rotation for p in placed]):
            return False
        self._step(placed, self.work.positions[self.number] - np.array(places), self.work.frames[self.number])
        return True

    def _step(self, placed: list[Any], gaps: Array, frames: Array) -> None:
        jacobians, errors = list[Array](), list[Array]()
        lengths = np.sqrt((gaps * gaps).sum(axis=1, keepdims=True))
        gaps = gaps * np.minimum(1.0, self.settings["longest"] / np.maximum(lengths, POSITION_TOLERANCE))
        for i, (identity, turned) in enumerate(zip(self.ids, self.work.turned, strict=True)):
            both = pinocchio.getFrameJacobian(
                self.model, self.data, identity, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
            )
            jacobians.append(both if turned else both[:3])
            errors.append(gaps[i])
            if turned:
                errors.append(pinocchio.log3(frames[i] @ placed[i].rotation.T))
        jacobian, error = np.concatenate(jacobians), np.concatenate(errors)
        change = self._least(jacobian, error)
        angles = self.q[FREE + 1 :]
        bounded = np.minimum(np.maximum(angles + change[FREE:], self.lower), self.upper) - angles
        out = np.flatnonzero(bounded != change[FREE:]) + FREE
        if len(out):
            change[out] = bounded[out - FREE]
            left = jacobian.copy()
            left[:, out] = 0.0
            change += self._least(left, error - jacobian @ change)
            change[FREE:] = np.minimum(np.maximum(angles + change[FREE:], self.lower), self.upper) - angles
        self.q = pinocchio.integrate(self.model, self.q, change)

    def _least(self, jacobian: Array, error: Array) -> Array:
        return jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + self.damping, error)

    def answer(self) -> Answer:
        return answer_of(self.work.rig, self.model, self.found, self.iterations)
