"""pink (PyPI pin-pink, on pinocchio) with quadprog: one QP per iteration until all effectors are within tolerance.

pink has weights, no priorities. Settings were chosen for speed by trying others, see SETTINGS.
"""

from typing import Any

import numpy as np
import pinocchio as pin  # pyright: ignore[reportMissingImports]
import pink  # pyright: ignore[reportMissingImports]
import qpsolvers  # pyright: ignore[reportMissingImports]

from . import work as common
from .work import DATA, POSITION_TOLERANCE, ROTATION_TOLERANCE, Answer, Work

SETTINGS: dict[str, float] = {
    "position_cost": 1.0,
    "orientation_cost": 1.0,
    "posture_cost": 1e-3,
    "posture_gain": 0.05,
    "frame_lm": 0.0,
    "limit_gain": 0.5,
    "damping": 1e-6,
    "cap": 50,
    "track": 0,
    "raw": 0,
}
STEP = 1.0  # seconds; only velocity limits would see it, and there are none here


class Solver:
    name = "pink"

    def __init__(self, work: Work, **changes: float) -> None:
        self.work = work
        self.settings = s = SETTINGS | changes
        rig = work.rig
        self.model: Any = pin.buildModelFromUrdf(str(DATA / f"rig_{rig.kind}.urdf"), pin.JointModelFreeFlyer())
        self.data = self.model.createData()
        self.limits = [pink.limits.ConfigurationLimit(self.model, config_limit_gain=s["limit_gain"])]
        self.frame_ids = [self.model.getFrameId(name) for name in work.effectors]
        self.targets = [
            [pin.SE3(frame, point) for frame, point in zip(frames, points, strict=True)]
            for frames, points in zip(work.frames, work.positions, strict=True)
        ]
        self.frame_tasks = [
            pink.FrameTask(name, s["position_cost"], s["orientation_cost"] if turned else 0.0, lm_damping=s["frame_lm"])
            for name, turned in zip(work.effectors, work.turned, strict=True)
        ]
        posture = pink.PostureTask(cost=s["posture_cost"], gain=s["posture_gain"])
        self.rest = pin.neutral(self.model)
        self.rest[:3] = rig.heads[0]
        self.rest[3:7] = pin.Quaternion(rig.frames[0]).coeffs()
        posture.set_target(self.rest)
        self.tasks = [*self.frame_tasks, posture]
        self.found = np.empty((len(work.positions), self.model.nq))
        self.start()

    def start(self) -> None:
        """Back to the rest pose."""
        self.configuration = pink.Configuration(self.model, self.data, self.rest)
        for task, target in zip(self.frame_tasks, self.targets[0], strict=True):
            task.set_target(target)
        self.iterations = 0

    def run(self) -> None:
        work, configuration, placements = self.work, self.configuration, self.configuration.data.oMf
        moving, turned = np.flatnonzero(work.moving).tolist(), np.flatnonzero(work.turned).tolist()
        everyone = range(len(work.effectors))
        free = [i for i in everyone if i not in turned]
        ids, cap, damping = self.frame_ids, int(self.settings["cap"]), self.settings["damping"]
        chord = 2.0 * np.sin(0.5 * ROTATION_TOLERANCE) ** 2  # 1 - cos of the tolerance
        track, raw = self.settings["track"], self.settings["raw"]
        for frame, targets in enumerate(self.targets):
            for i in moving:
                self.frame_tasks[i].set_target(targets[i])
            frames, points = work.frames[frame], work.positions[frame]
            for _ in range(cap):
                if track:
                    for i in free:
                        self.frame_tasks[i].transform_target_to_world.rotation = placements[ids[i]].rotation
                if raw:
                    problem = pink.build_ik(configuration, self.tasks, STEP, damping, self.limits)
                    velocity = qpsolvers.solve_problem(problem, solver="quadprog").x
                else:
                    velocity = pink.solve_ik(
                        configuration, self.tasks, STEP, solver="quadprog", damping=damping, limits=self.limits,
                        safety_break=False
                    )
                configuration.integrate_inplace(velocity, STEP)
                self.iterations += 1
                placed = [placements[ids[i]] for i in everyone]
                gap = np.array([p.translation for p in placed]) - points
                if (gap * gap).sum(axis=1).max() < POSITION_TOLERANCE**2 and all(
                    0.5 * (3.0 - (placed[i].rotation * frames[i]).sum()) < chord for i in turned
                ):
                    break
            self.found[frame] = configuration.q

    def answer(self) -> Answer:
        rig, q = self.work.rig, self.found
        angles = np.zeros((len(q), len(rig.names), 3))
        for bone, name in enumerate(rig.names[1:], 1):
            for axis, letter in enumerate("xyz"):
                angles[:, bone, axis] = q[:, self.model.idx_qs[self.model.getJointId(f"{name}_j{letter}")]]
        rotations = common.hinge_matrices(angles)
        rotations[:, 0] = rig.frames[0].T @ common.quaternion_matrices(q[:, [6, 3, 4, 5]])
        return Answer(rotations, q[:, :3].copy(), self.iterations)
