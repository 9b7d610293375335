"""W4: a 7-joint arm with limits, 1,000 random poses within them, seed mid-range; < 1 mm and < 0.1 degrees.

Poise solves them all in one call (`Poise`) and one call each (`Poise, one at a time`), with restarts; TRAC-IK and
optik, if they are installed, one call each, with the same seed. All run in one process, interleaved: each round begins
with another solver; times are medians of the rounds. Poise and optik have one thread, TRAC-IK starts two of its own.
What counts as solved is decided by `bodies.forward`.
"""

import gc
import importlib.metadata
import json
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..work import DATA, LIMIT_TOLERANCE, POSITION_TOLERANCE, ROTATION_TOLERANCE, ROUNDING, Array, angle_between
from . import ours
from .bodies import Body, axis_turn, beyond_limits, forward, from_angles

SEED: Final = 4
COUNT: Final = 1000
SINGLE: Final = 200  # of them, one at a time
RESTARTS: Final = 30
ROUNDS: Final = 3
EPSILON: Final = 3e-4  # TRAC-IK's bound on each component: together under 1 mm and 0.1 degrees
TIMEOUT: Final = 0.05  # seconds for one pose, ten times TRAC-IK's default
PEERS: Final = {"TRAC-IK": "pytracik", "optik": "optik-py"}  # name -> package on PyPI


def load_arm() -> Body:
    table = json.loads((DATA / "arm7.json").read_text())
    joints = table["joints"]
    names = ("base", *(f"joint{i + 1}" for i in range(len(joints))), "tip")
    rest = np.array([np.eye(3), *(_from_rpy(j["rpy"]) for j in joints), np.eye(3)])
    lower, upper = np.zeros((2, len(names), 3))
    lower[0], upper[0] = -np.inf, np.inf
    lower[1:-1, 2], upper[1:-1, 2] = np.array([j["limits"] for j in joints]).T
    offsets = np.array([[0.0] * 3, *(j["xyz"] for j in joints), table["tip"]])
    lengths = np.full(len(names), 0.1)
    orders = ("XYZ",) * len(names)
    parents = np.arange(-1, len(names) - 1)
    return Body("arm7", "facts", names, parents, offsets, rest, lengths, orders, lower, upper, {"tip": "tip"})


def _from_rpy(angles: list[float]) -> Array:
    roll, pitch, yaw = (np.array(angle) for angle in angles)
    return axis_turn(2, yaw) @ axis_turn(1, pitch) @ axis_turn(0, roll)


def urdf(arm: Body) -> str:
    table = json.loads((DATA / "arm7.json").read_text())
    text = ['<robot name="arm7"><link name="base"/>']
    for number, joint in enumerate(table["joints"]):
        name, parent = arm.names[number + 1], arm.names[number]
        xyz, rpy = (" ".join(map(str, joint[key])) for key in ("xyz", "rpy"))
        low, high = joint["limits"]
        text.append(
            f'<link name="{name}"/><joint name="j{number}" type="revolute">'
            f'<parent link="{parent}"/><child link="{name}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>'
            f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/></joint>'
        )
    tip = " ".join(map(str, table["tip"]))
    text.append(
        f'<link name="tip"/><joint name="end" type="fixed"><parent link="{arm.names[-2]}"/><child link="tip"/>'
        f'<origin xyz="{tip}" rpy="0 0 0"/></joint></robot>'
    )
    return "".join(text)


class Poise:
    """All poses in one call; the answers are own rotations (n, J, 3, 3)."""

    name = "Poise"

    def __init__(self, arm: Body, heads: Array, frames: Array, seed: Array) -> None:
        self.arm, self.heads, self.frames = arm, heads, frames
        self.skeleton = ours.skeleton_of(arm)
        self.start = ours.pose_of(arm, from_angles(arm, seed), np.zeros(3))
        self.wish = [(arm.index("tip"), True, True)]
        self.settings: dict[str, Any] = {
            "root": "fixed",
            "position_tolerance": POSITION_TOLERANCE,
            "rotation_tolerance": float(ROTATION_TOLERANCE),
            "settle": False,
            "restarts": RESTARTS,
        }

    def run(self) -> Array:
        return self._solve(slice(None))

    def _solve(self, which: Any) -> Array:
        heads, frames = self.heads[which], self.frames[which]
        solution = ours.run(self.skeleton, self.start, ours.goals_of(self.wish, heads, frames), **self.settings)
        return ours.matrices_of(solution)[0]


class OneAtATime(Poise):
    name = "Poise, one at a time"

    def run(self) -> Array:
        return np.array([self._solve(index) for index in range(min(SINGLE, len(self.heads)))])


class Peer:
    """Joint angles (n, 7) in, the judge's own rotations out."""

    name = ""

    def __init__(self, arm: Body, heads: Array, frames: Array, seed: Array) -> None:
        self.arm, self.seed = arm, seed[1:-1, 2].copy()
        tip = arm.index("tip")
        self.positions, self.frames = heads[:, tip], frames[:, tip]
        self.prepare()

    def prepare(self) -> None:
        raise NotImplementedError

    def solve(self, index: int) -> Any:
        raise NotImplementedError

    def run(self) -> Array:
        answers = np.array([self.solve(index) for index in range(len(self.positions))])
        angles = np.zeros((len(answers), len(self.arm.names), 3))
        angles[:, 1:-1, 2] = answers
        return from_angles(self.arm, angles)


class TracIK(Peer):
    name = "TRAC-IK"

    def prepare(self) -> None:
        import pytracik  # pyright: ignore[reportMissingImports]

        self.ik = pytracik.ik
        self.solver = pytracik.TRAC_IK("base", "tip", urdf(self.arm), TIMEOUT, EPSILON, pytracik.SolveType.Speed)
        self.turns = ours.rotation.from_matrix(self.frames)[:, [1, 2, 3, 0]].tolist()
        self.places = self.positions.tolist()

    def solve(self, index: int) -> Any:
        found = self.ik(self.solver, self.seed, *self.places[index], *self.turns[index])
        return found[1:] if found[0] >= 0.0 else self.seed


class Optik(Peer):
    name = "optik"

    def prepare(self) -> None:
        import optik  # pyright: ignore[reportMissingImports]

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "arm7.urdf"
            file.write_text(urdf(self.arm))
            self.robot = optik.Robot.from_urdf_file(str(file), "base", "tip")
        self.robot.set_parallelism(1)
        self.config = optik.SolverConfig(solution_mode="speed", max_time=TIMEOUT, max_restarts=1000, tol_f=EPSILON**2)
        self.targets = np.tile(np.eye(4), (len(self.positions), 1, 1))
        self.targets[:, :3, :3], self.targets[:, :3, 3] = self.frames, self.positions
        self.targets = self.targets.tolist()

    def solve(self, index: int) -> Any:
        found = self.robot.ik(self.config, self.targets[index], self.seed)
        return self.seed if found is None else found[0]


def random_angles(arm: Body, rng: np.random.Generator, count: int) -> Array:
    lower, upper = np.where(np.isfinite(arm.lower), arm.lower, 0.0), np.where(np.isfinite(arm.upper), arm.upper, 0.0)
    return rng.uniform(lower, upper, (count, *lower.shape))


def solved(arm: Body, rotations: Array, heads: Array, frames: Array) -> NDArray[np.bool_]:
    """(n,) whether the tip is there and the joints are inside."""
    found_heads, found_frames = forward(arm, rotations, np.zeros((len(rotations), 3)))
    tip, count = arm.index("tip"), len(rotations)
    near = np.linalg.norm(found_heads[:, tip] - heads[:count, tip], axis=-1) <= POSITION_TOLERANCE + ROUNDING
    turned = angle_between(found_frames[:, tip], frames[:count, tip]) <= ROTATION_TOLERANCE + ROUNDING
    return near & turned & (beyond_limits(arm, rotations) <= LIMIT_TOLERANCE)


def measure(count: int = COUNT, rounds: int = ROUNDS, progress: Any = None) -> dict[str, Any]:
    arm = load_arm()
    angles = random_angles(arm, np.random.default_rng(SEED), count)
    heads, frames = forward(arm, from_angles(arm, angles), np.zeros((count, 3)))
    bounded = np.isfinite(arm.lower)
    seed = np.where(bounded, 0.5 * (np.where(bounded, arm.lower, 0.0) + np.where(bounded, arm.upper, 0.0)), 0.0)
    missing: dict[str, str] = {}
    solvers: list[Any] = [Poise(arm, heads, frames, seed), OneAtATime(arm, heads, frames, seed)]
    for make in (TracIK, Optik):
        try:
            solvers.append(make(arm, heads, frames, seed))
        except ImportError as error:
            missing[make.name] = str(error)
    rows: dict[str, dict[str, Any]] = {s.name: {"solver": s.name, "seconds": [], "solved": []} for s in solvers}
    for number in range(rounds):
        for place in range(len(solvers)):
            solver = solvers[(place + number) % len(solvers)]
            seconds, answer = timed(solver.run)
            row = rows[solver.name]
            row["problems"] = len(answer)
            row["seconds"].append(seconds / len(answer))
            good = solved(arm, answer, heads, frames)
            row["solved"].append(float(good.mean()))
            row["unsolved"] = np.flatnonzero(~good).tolist()
    for name, row in rows.items():
        row["microseconds"] = 1e6 * statistics.median(row["seconds"])
        row["solved"] = min(row["solved"])
        package = PEERS.get(name)
        row["version"] = f"{package} {importlib.metadata.version(package)}" if package else "this checkout"
        if progress is not None:
            text = f"{name:22}{row['microseconds']:10.1f} us{row['solved']:10.2%} of {row['problems']}"
            print(text, file=progress, flush=True)
    return {"rows": list(rows.values()), "missing": missing, "rounds": rounds, "restarts": RESTARTS}


def timed(run: Callable[[], Array]) -> tuple[float, Array]:
    gc.collect()
    gc.disable()
    begin = perf_counter()
    answer = run()
    seconds = perf_counter() - begin
    gc.enable()
    return seconds, answer
