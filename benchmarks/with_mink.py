"""mink (PyPI mink, on MuJoCo) with quadprog: one QP per step until all effectors are within tolerance.

Goals are weighted frame tasks, as in its examples; it has no priorities. Feet as its hard equality constraints made it
up to 60 % slower. Costs, gains and damping around those below changed W1 and W2 by less than the noise, except that a
posture task of full gain needs four steps in W1 and solves 94 %.
"""

from importlib.metadata import version

import mink  # pyright: ignore[reportMissingImports]
import mujoco  # pyright: ignore[reportMissingImports]

from .peer import ByPrograms
from .work import POSITION_TOLERANCE, TURNED_TRACE, Answer, Array, from_hinges


class Solver(ByPrograms):
    name = "mink"
    version = f"mink {version('mink')}, mujoco {version('mujoco')}, quadprog {version('quadprog')}"
    settings = {
        "position_cost": 1.0,
        "orientation_cost": 1.0,
        "posture_cost": 1e-3,
        "posture_gain": 0.05,
        "configuration_limit_gain": 0.95,
        "damping": 1e-6,
        "step_cap": 50,
    }
    library = mink

    def load(self, path: str) -> Array:
        s, work = self.settings, self.work
        self.model = mujoco.MjModel.from_xml_path(f"{path}.xml")
        self.limits = [mink.ConfigurationLimit(self.model, gain=s["configuration_limit_gain"])]
        self.ids = [self.model.body(name).id for name in work.effectors]
        self.turned_ids = [self.ids[i] for i in self.turned]
        self.flat_frames = work.frames[:, self.turned].reshape(len(work.frames), -1, 9)
        self.targets = [
            [
                mink.SE3.from_rotation_and_translation(mink.SO3.from_matrix(frame), point)
                for frame, point in zip(frames, points, strict=True)
            ]
            for frames, points in zip(work.frames, work.positions, strict=True)
        ]
        posture = mink.PostureTask(self.model, cost=s["posture_cost"], gain=s["posture_gain"])
        posture.set_target(self.model.qpos0)
        self.weigh(posture, "body")
        return self.model.qpos0

    def configured(self) -> mink.Configuration:
        return mink.Configuration(self.model, self.model.qpos0)

    def met(self, number: int) -> bool:
        data = self.configuration.data
        gap = data.xpos[self.ids] - self.work.positions[number]
        traces = (data.xmat[self.turned_ids] * self.flat_frames[number]).sum(axis=1)
        return (gap * gap).sum(axis=1).max() < POSITION_TOLERANCE**2 and traces.min() > TURNED_TRACE

    def answer(self) -> Answer:
        rig, q = self.work.rig, self.found
        columns = [[self.model.joint(f"{name}_j{axis}").qposadr[0] for axis in "xyz"] for name in rig.names[1:]]
        return from_hinges(rig, q[:, columns], q[:, :3], q[:, 3:7], self.iterations)
