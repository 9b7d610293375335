"""Reachable goals from rest: what share of random problems is solved, and why the others are not.

A truth is a pose with every joint's angles uniform within its limits, bones without limits (the hips) turned by up to
30 degrees about each axis, the root shifted by up to 0.3 of a metre each way. It has 3 to 6 of the feet, the hands, the
head and the chest where it has them: 40 % positions, 15 % rotations, 45 % both. Poise starts at rest and knows nothing
of the truth. Solved: 1 mm (of a 1.7 m human) and 0.5 degrees everywhere, all joints within limits, by `bodies.forward`.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

import numpy as np

from core import Pose
from core.limits import clamp_rotations

from ..work import Array, angle_between
from . import ours
from .bodies import KINDS, Body, Wish, axis_turn, beyond_limits, forward, from_angles, load_body

SEED: Final = 3
GROUP: Final = 50  # problems that ask for the same and are solved in one call
COUNT: Final = 10_000
POSITION: Final = 1e-3
ROTATION: Final = np.radians(0.5)
LIMIT: Final = np.radians(0.01)
EFFECTORS: Final = ("foot.L", "foot.R", "hand.L", "hand.R", "head", "chest")
FREE_TURN: Final = np.radians(30.0)
SHIFT: Final = 0.3
NEAR: Final = np.radians(10.0)  # standard deviation of the start beside the truth that tells a local minimum
RESTARTS: Final = 8


@dataclass(frozen=True)
class Problems:
    """n problems of one body that want the same things: `wishes` are (bone, placed, turned)."""

    kind: str
    group: int
    wishes: list[Wish]
    rotations: Array  # (n, J, 3, 3) of the truth
    roots: Array  # (n, 3)

    @property
    def body(self) -> Body:
        return load_body(self.kind)

    def take(self, index: Any) -> "Problems":
        return Problems(self.kind, self.group, self.wishes, self.rotations[index], self.roots[index])


def draw(kind: str, group: int, count: int = GROUP) -> Problems:
    """The first problems of a group; the same for every count."""
    body = load_body(kind)
    rng = np.random.default_rng([SEED, KINDS.index(kind), group])
    chosen = rng.choice(len(EFFECTORS), rng.integers(3, 7), replace=False)
    what = rng.choice([(True, False), (False, True), (True, True)], len(chosen), p=[0.4, 0.15, 0.45])
    wishes = [
        (body.index(body.roles[EFFECTORS[i]]), bool(placed), bool(turned))
        for i, (placed, turned) in zip(chosen, what, strict=True)
    ]
    rotations, roots = truths(body, rng, GROUP)
    return Problems(kind, group, wishes, rotations[:count], roots[:count])


def truths(body: Body, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Random poses within limits: own rotations (n, J, 3, 3) and locations of the root (n, 3)."""
    lower = np.where(np.isfinite(body.lower), body.lower, -FREE_TURN)
    upper = np.where(np.isfinite(body.upper), body.upper, FREE_TURN)
    angles = rng.uniform(lower, upper, (count, *lower.shape))
    return from_angles(body, angles), rng.uniform(-SHIFT, SHIFT, (count, 3)) * body.size


def judge(problems: Problems, rotations: Array, roots: Array) -> dict[str, Any]:
    """Errors (n,) by the benchmark's own kinematics: lengths in units of size, radians, and `solved`."""
    body = problems.body
    heads, frames = forward(body, problems.rotations, problems.roots)
    found_heads, found_frames = forward(body, rotations, roots)
    placed = [bone for bone, position, _ in problems.wishes if position]
    turned = [bone for bone, _, turn in problems.wishes if turn]
    position = np.linalg.norm((found_heads - heads)[:, placed], axis=-1).max(axis=-1, initial=0.0) / body.size
    turn = angle_between(found_frames[:, turned], frames[:, turned]).max(axis=-1, initial=0.0)
    outside = beyond_limits(body, rotations)
    solved = (position <= POSITION) & (turn <= ROTATION) & (outside <= LIMIT)
    return {"position": position, "rotation": turn, "outside": outside, "solved": solved}


def attempt(problems: Problems, start: Pose | None = None, limits: bool = True, **settings: Any) -> dict[str, Any]:
    """Solve from rest (or `start`) and judge; with the seconds that it took."""
    body = problems.body
    skeleton = ours.skeleton_of(body, limits)
    goals = ours.goals_of(problems.wishes, *forward(body, problems.rotations, problems.roots))
    begin = perf_counter()
    solution = ours.run(skeleton, Pose.rest(skeleton) if start is None else start, goals, **settings)
    seconds = perf_counter() - begin
    verdict = judge(problems, *ours.matrices_of(solution))
    return verdict | {"seconds": np.array(seconds), "iterations": solution.iterations, "own": solution.converged}


def beside_truth(problems: Problems, rng: np.random.Generator) -> Pose:
    """The truth with every joint turned by some 10 degrees, within limits."""
    body = problems.body
    turns = NEAR * rng.normal(size=(*problems.rotations.shape[:2], 3))
    matrices = problems.rotations
    for axis in range(3):
        matrices = matrices @ axis_turn(axis, turns[..., axis])
    pose = ours.pose_of(body, matrices, problems.roots)
    inside, _ = clamp_rotations(ours.skeleton_of(body).limits, pose.rotations)
    return Pose(inside, pose.translations)


def reasons(problems: Problems, verdict: dict[str, Any]) -> list[dict[str, Any]]:
    """For each failure of a group: how far off, and what would have solved it."""
    failed = np.flatnonzero(~verdict["solved"])
    if not len(failed):
        return []
    left = problems.take(failed)
    rng = np.random.default_rng([SEED, 1, problems.group])
    beside = attempt(left, beside_truth(left, rng), **ours.ONE_START)["solved"]
    unlimited = attempt(left, limits=False, **ours.ONE_START)
    without = (unlimited["position"] <= POSITION) & (unlimited["rotation"] <= ROTATION)
    tries = np.full(len(failed), -1)
    for number in range(RESTARTS):
        todo = np.flatnonzero(tries < 0)
        if not len(todo):
            break
        rotations, roots = truths(left.body, rng, len(todo))
        solved = attempt(left.take(todo), ours.pose_of(left.body, rotations, roots), **ours.ONE_START)["solved"]
        tries[todo[solved]] = number + 1
    found: list[dict[str, Any]] = []
    for place, index in enumerate(failed.tolist()):
        if verdict["outside"][index] > LIMIT:
            reason = "outside its limits"
        elif beside[place]:
            reason = "local minimum of the limits" if without[place] else "local minimum"
        else:
            reason = "not solved beside the truth"
        found.append({
            "kind": problems.kind,
            "group": problems.group,
            "index": index,
            "wishes": [[problems.body.names[b], *kinds] for b, *kinds in problems.wishes],
            "position": float(verdict["position"][index]),
            "rotation_degrees": float(np.degrees(verdict["rotation"][index])),
            "outside_degrees": float(np.degrees(verdict["outside"][index])),
            "iterations": int(verdict["iterations"][index]),
            "reason": reason,
            "random_start_that_solves": int(tries[place]),
        })  # fmt: skip
    return found


def measure(
    groups: int, size: int = GROUP, progress: Any = None, explain: bool = True, **settings: Any
) -> dict[str, Any]:
    """`groups` groups of `size` problems for every body; `explain` also finds out why some are not solved."""
    rows: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    for kind in KINDS:
        solved = count = 0
        seconds, positions, turns = 0.0, list[float](), list[float]()
        missed: list[dict[str, Any]] = []
        for group in range(groups):
            problems = draw(kind, group, size)
            verdict = attempt(problems, **settings)
            solved += int(verdict["solved"].sum())
            count += size
            seconds += float(verdict["seconds"])
            positions += verdict["position"].tolist()
            turns += verdict["rotation"].tolist()
            missed += reasons(problems, verdict) if explain else []
        failures += missed
        rows.append({
            "body": kind,
            "problems": count,
            "solved": solved / count,
            "milliseconds": 1e3 * seconds / count,
            "seconds": seconds,
            "reasons": {r: sum(m["reason"] == r for m in missed) for r in sorted({m["reason"] for m in missed})},
            "position_errors": positions,
            "rotation_errors": turns,
        })  # fmt: skip
        if progress is not None:
            print(f"{kind}: {rows[-1]['solved']:.2%} of {count}, {rows[-1]['reasons']}", file=progress, flush=True)
    total = sum(row["problems"] for row in rows)
    share = sum(row["solved"] * row["problems"] for row in rows) / total
    return {"problems": total, "solved": share, "rows": rows, "failures": failures}
