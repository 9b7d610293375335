"""The frame of the peers: steps until all effectors are within tolerance, or to the cap."""

from typing import Any, Final

import numpy as np

from .work import DATA, POSITION_TOLERANCE, TURNED_TRACE, Array, Work

STEP: Final = 1.0  # seconds; only velocity limits would see it, and there are none


class Peer:
    name = version = ""
    works = ("W1", "W2")
    settings: dict[str, float]

    def __init__(self, work: Work) -> None:
        self.work = work
        self.moving, self.turned = (np.flatnonzero(chosen).tolist() for chosen in (work.moving, work.turned))
        self.rest: Array = self.load(str(DATA / f"rig_{work.rig.kind}"))
        self.found = np.empty((len(work.positions), len(self.rest)))

    def load(self, path: str) -> Array:
        """Make the solver ready for the rig's file, a path without suffix; return the rest configuration."""
        raise NotImplementedError

    def aim(self, number: int) -> None:
        """Take the targets of a frame."""

    def step(self) -> bool:
        """Take one step; False if there is none to be taken."""
        raise NotImplementedError

    def met(self, number: int) -> bool:
        """Whether all effectors are within tolerance of the targets of a frame."""
        raise NotImplementedError

    def state(self) -> Array:
        """The configuration."""
        raise NotImplementedError

    def run(self) -> None:
        cap = int(self.settings["step_cap"])
        for number in range(len(self.found)):
            self.aim(number)
            for _ in range(cap):
                if not self.step():
                    break
                self.iterations += 1
                if self.met(number):
                    break
            self.found[number] = self.state()

    def within(self, number: int, places: Any, turns: Any) -> bool:
        """Whether effectors at `places` (E, 3) with frames `turns` [E][3, 3] are within tolerance of their targets."""
        gap, frames = np.array(places) - self.work.positions[number], self.work.frames[number]
        return (gap * gap).sum(axis=1).max() < POSITION_TOLERANCE**2 and all(
            (turns[i] * frames[i]).sum() > TURNED_TRACE for i in self.turned
        )


class ByPrograms(Peer):
    """mink and pink: a quadratic program for each step, of weighted frame tasks and a posture."""

    library: Any
    model: Any
    limits: list[Any]
    targets: list[list[Any]]

    def weigh(self, posture: Any, *kind: str) -> None:
        """Make the tasks; `kind` is what a frame task says besides its name and costs."""
        place, turn = self.settings["position_cost"], self.settings["orientation_cost"]
        self.frame_tasks = [
            self.library.FrameTask(name, *kind, place, turn if turned else 0.0)
            for name, turned in zip(self.work.effectors, self.work.turned, strict=True)
        ]
        self.tasks = [*self.frame_tasks, posture]
        import qpsolvers  # pyright: ignore[reportMissingImports]  # placo and pinocchio do without

        self.solve_problem = qpsolvers.solve_problem

    def configured(self) -> Any:
        """The library's configuration, at rest."""
        raise NotImplementedError

    def start(self) -> None:
        self.configuration = self.configured()
        for task, target in zip(self.frame_tasks, self.targets[0], strict=True):
            task.set_target(target)
        self.iterations = 0

    def aim(self, number: int) -> None:
        for i in self.moving:
            self.frame_tasks[i].set_target(self.targets[number][i])

    def step(self) -> bool:
        damping = self.settings["damping"]
        problem = self.library.build_ik(self.configuration, self.tasks, STEP, damping, self.limits)
        change = self.solve_problem(problem, solver="quadprog").x
        if change is not None:
            self.configuration.integrate_inplace(change / STEP, STEP)
        return change is not None

    def state(self) -> Array:
        return self.configuration.q
