"""mink (PyPI mink, on MuJoCo) with quadprog: one QP per iteration until all effectors are within tolerance.

mink has weights, no priorities.
"""

import mink  # pyright: ignore[reportMissingImports]
import mujoco  # pyright: ignore[reportMissingImports]
import numpy as np

from . import work as common
from .work import DATA, POSITION_TOLERANCE, ROTATION_TOLERANCE, Answer, Work

SETTINGS: dict[str, float] = {
    "position_cost": 1.0,
    "orientation_cost": 1.0,
    "posture_cost": 1e-3,
    "posture_gain": 0.05,
    "frame_lm": 0.0,
    "limit_gain": 0.95,
    "damping": 1e-6,
    "cap": 50,
    "track": 0,
}
STEP = 1.0  # seconds; only velocity limits would see it, and there are none here


class Solver:
    name = "mink"

    def __init__(self, work: Work, **changes: float) -> None:
        self.work = work
        self.settings = s = SETTINGS | changes
        self.model = mujoco.MjModel.from_xml_path(str(DATA / f"rig_{work.rig.kind}.xml"))
        self.limits = [mink.ConfigurationLimit(self.model, gain=s["limit_gain"])]
        self.body_ids = [self.model.body(name).id for name in work.effectors]
        self.targets = [
            [
                mink.SE3.from_rotation_and_translation(mink.SO3.from_matrix(frame), point)
                for frame, point in zip(frames, points, strict=True)
            ]
            for frames, points in zip(work.frames, work.positions, strict=True)
        ]
        self.frame_tasks = [
            mink.FrameTask(
                name, "body", s["position_cost"], s["orientation_cost"] if turned else 0.0, lm_damping=s["frame_lm"]
            )
            for name, turned in zip(work.effectors, work.turned, strict=True)
        ]
        posture = mink.PostureTask(self.model, cost=s["posture_cost"], gain=s["posture_gain"])
        posture.set_target(self.model.qpos0)
        self.tasks = [*self.frame_tasks, posture]
        self.found = np.empty((len(work.positions), self.model.nq))
        self.start()

    def start(self) -> None:
        """Back to the rest pose."""
        self.configuration = mink.Configuration(self.model, self.model.qpos0)
        for task, target in zip(self.frame_tasks, self.targets[0], strict=True):
            task.set_target(target)
        self.iterations = 0

    def run(self) -> None:
        work, configuration = self.work, self.configuration
        places, turns = configuration.data.xpos, configuration.data.xmat
        moving, turned = np.flatnonzero(work.moving).tolist(), np.flatnonzero(work.turned).tolist()
        feet = [self.body_ids[i] for i in turned]
        ids, cap, damping = self.body_ids, int(self.settings["cap"]), self.settings["damping"]
        chord = 2.0 * np.sin(0.5 * ROTATION_TOLERANCE) ** 2  # 1 - cos of the tolerance
        frames = work.frames[:, turned].reshape(len(self.targets), -1, 9)
        free = [i for i in range(len(ids)) if i not in turned]
        track = self.settings["track"]
        for frame, targets in enumerate(self.targets):
            for i in moving:
                self.frame_tasks[i].set_target(targets[i])
            points, wanted = work.positions[frame], frames[frame]
            for _ in range(cap):
                if track:
                    for i in free:
                        self.frame_tasks[i].transform_target_to_world.wxyz_xyz[:4] = configuration.data.xquat[ids[i]]
                velocity = mink.solve_ik(
                    configuration, self.tasks, STEP, "quadprog", damping=damping, limits=self.limits
                )
                configuration.integrate_inplace(velocity, STEP)
                self.iterations += 1
                gap = places[ids] - points
                if (gap * gap).sum(axis=1).max() < POSITION_TOLERANCE**2 and (
                    0.5 * (3.0 - (turns[feet] * wanted).sum(axis=1).min()) < chord
                ):
                    break
            self.found[frame] = configuration.q

    def answer(self) -> Answer:
        rig, q = self.work.rig, self.found
        angles = np.zeros((len(q), len(rig.names), 3))
        for bone, name in enumerate(rig.names[1:], 1):
            for axis, letter in enumerate("xyz"):
                angles[:, bone, axis] = q[:, self.model.joint(f"{name}_j{letter}").qposadr[0]]
        rotations = common.hinge_matrices(angles)
        rotations[:, 0] = rig.frames[0].T @ common.quaternion_matrices(q[:, 3:7])
        return Answer(rotations, q[:, :3].copy(), self.iterations)
