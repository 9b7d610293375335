"""Strict priorities beside a quadratic program: is what Poise leaves of a lower level really the least?

Humanoids with limits; the feet pinned in position and rotation come first, then hands out of reach (and third, where
there are three levels, the head or the chest to a place it cannot have). At Poise's solution an independent hierarchy
looks for something better: in joint angles, from its own Jacobians (`hinges`), with quadprog,

    minimise |J2 d - e2|^2   with   J1 d = 0,   lower <= q + d <= upper,   |d| <= step

first linear, as it stands (`linear`: what share of the level's error a step of at most 3 degrees and 3 cm would save),
then as many such steps as go on improving, the higher levels put back after each (`best`): no linearisation is left in
that number. A problem passes if the first level is within 0.1 mm and 0.05 degrees, all joints are within limits, and no
level can be improved by more than 0.1 % or 0.1 mm.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from core import Pose

from ..work import Array
from . import ours
from .bodies import KINDS, Wanted, Wish, beyond_limits, forward, load_body
from .hinges import Hinges
from .reachable import LIMIT

SEED: Final = 7
COUNT: Final = 25  # problems of a body and a number of levels
KEPT: Final = 1e-4  # units of size, and 0.3 x radians: what the first level may be off
SHARE: Final = 1e-3
LENGTH: Final = 1e-4
STEP: Final = 0.05  # radians and units of size
ROUNDS: Final = 40
RANK: Final = 1e-7  # singular values below this share of the largest are no constraint
REGULAR: Final = 1e-9
AT_BOUND: Final = 1e-4
PULL: Final = (0.3, 0.9)  # of a metre, from where the hands are at rest
LEVELS: Final[dict[int, list[list[Wanted]]]] = {
    2: [[("foot.L", True, True), ("foot.R", True, True)], [("hand.R", True, False), ("hand.L", True, False)]],
    3: [
        [("foot.L", True, True), ("foot.R", True, True)],
        [("hand.R", True, False)],
        [("head", True, False), ("hand.L", True, False)],
    ],
}


@dataclass(frozen=True)
class Hierarchy:
    """Levels of wishes as hinges over one set of columns: the first is kept, the others are served in turn."""

    levels: list[Hinges]
    columns: Hinges

    def at(self, x: Array, heads: Array, frames: Array) -> tuple[list[Array], list[Array]]:
        """Errors and Jacobians of all levels, over all columns."""
        error, jacobian = self.columns.errors(x, heads, frames)
        rows = np.cumsum(
            [0] + [3 * sum(placed + turned for _, placed, turned in h.wishes) for h in self.levels]
        ).tolist()
        parts = [slice(a, b) for a, b in pairwise(rows)]
        return [error[part] for part in parts], [jacobian[part] for part in parts]


def null_space(jacobian: Array) -> Array:
    _, values, vt = np.linalg.svd(jacobian)
    rank = int(np.sum(values > RANK * values[0])) if len(values) else 0
    return vt[rank:].T


def best_step(kept: Array, jacobian: Array, error: Array, below: Array, above: Array) -> Array:
    """The d that leaves the least of `error` without moving `kept` and inside below <= d <= above, |d| <= STEP."""
    from qpsolvers import solve_qp  # pyright: ignore[reportMissingImports]

    basis = null_space(kept)
    if not basis.shape[1]:
        return np.zeros(jacobian.shape[1])
    reduced = jacobian @ basis
    low, high = np.maximum(below, -STEP), np.minimum(above, STEP)
    found = solve_qp(
        reduced.T @ reduced + REGULAR * np.eye(basis.shape[1]),
        -reduced.T @ error,
        np.concatenate([basis, -basis]),
        np.concatenate([high, -low]),
        solver="quadprog",
    )
    return np.zeros(jacobian.shape[1]) if found is None else basis @ found


def improve(hierarchy: Hierarchy, level: int, start: Array, heads: Array, frames: Array) -> tuple[float, float, float]:
    """What level `level` leaves: at `start`, after one linear step, after as many real ones as help."""
    lower, upper = hierarchy.columns.lower, hierarchy.columns.upper
    x = np.clip(start, lower, upper)
    errors, jacobians = hierarchy.at(x, heads, frames)
    goal = [error.copy() for error in errors[:level]]  # higher levels keep what they have
    first = best = float(np.linalg.norm(errors[level]))
    step = best_step(np.concatenate(jacobians[:level]), jacobians[level], errors[level], lower - x, upper - x)
    linear = float(np.linalg.norm(errors[level] - jacobians[level] @ step))
    length = 1.0
    for _ in range(ROUNDS):
        trial = np.clip(x + length * step, lower, upper)
        for _ in range(3):  # back to where the higher levels are served as before
            errors, jacobians = hierarchy.at(trial, heads, frames)
            gap = np.concatenate([e - g for e, g in zip(errors[:level], goal, strict=True)])
            free = (trial > lower) & (trial < upper)
            stacked = np.concatenate(jacobians[:level]) * free
            trial = np.clip(trial + np.linalg.lstsq(stacked, gap, rcond=RANK)[0], lower, upper)
        errors, jacobians = hierarchy.at(trial, heads, frames)
        drift = max(float(np.abs(e - g).max()) for e, g in zip(errors[:level], goal, strict=True))
        now = float(np.linalg.norm(errors[level]))
        if now < best and drift < 1e-3 * KEPT:
            gain, x, best = best - now, trial, now
            step = best_step(np.concatenate(jacobians[:level]), jacobians[level], errors[level], lower - x, upper - x)
            length = min(1.0, 2.0 * length)
            if gain < 1e-3 * SHARE * best:
                break
        else:
            length *= 0.25
            if length < 1e-3:
                break
    return first, linear, best


def problem(kind: str, levels: int, count: int) -> tuple[list[Wish], list[int], Array, Array]:
    """Wishes and their levels, heads (n, J, 3) and frames (n, J, 3, 3): feet as at rest, the rest pulled away."""
    body = load_body(kind)
    rng = np.random.default_rng([SEED, KINDS.index(kind), levels])
    wishes = [
        (body.index(body.roles[role]), placed, turned) for level in LEVELS[levels] for role, placed, turned in level
    ]
    priorities = [number for number, level in enumerate(LEVELS[levels]) for _ in level]
    identity = np.broadcast_to(np.eye(3), (count, len(body.names), 3, 3))
    heads, frames = forward(body, identity, np.zeros((count, 3)))
    heads, frames = heads.copy(), frames.copy()
    for (bone, _, _), priority in zip(wishes, priorities, strict=True):
        if priority:
            way = rng.normal(size=(count, 3))
            way *= (rng.uniform(*PULL, (count, 1)) * body.size) / np.linalg.norm(way, axis=-1, keepdims=True)
            heads[:, bone] += way
        else:  # feet a little apart from rest, so that legs are not straight in all problems
            heads[:, bone] += rng.uniform(-0.1, 0.1, (count, 3)) * body.size
    return wishes, priorities, heads, frames


def measure(count: int = COUNT, bodies: int | None = None, progress: Any = None, **settings: Any) -> dict[str, Any]:
    results: list[dict[str, Any]] = []
    for kind in KINDS[:bodies]:
        for levels in LEVELS:
            results.append(case(kind, levels, count, **settings))
            if progress is not None:
                r = {k: v for k, v in results[-1].items() if k not in ("failures", "gains")}
                print(", ".join(f"{k} {v}" for k, v in r.items()), file=progress, flush=True)
    return {
        "problems": sum(r["problems"] for r in results),
        "passed": float(np.average([r["passed"] for r in results])),
        "kept": float(np.average([r["kept"] for r in results])),
        "worst_gain_mm": max(r["worst_gain_mm"] for r in results),
        "cases": results,
    }


def case(kind: str, levels: int, count: int, **settings: Any) -> dict[str, Any]:
    body = load_body(kind)
    wishes, priorities, heads, frames = problem(kind, levels, count)
    skeleton = ours.skeleton_of(body)
    solution = ours.run(skeleton, Pose.rest(skeleton), ours.goals_of(wishes, heads, frames, priorities), **settings)
    rotations, roots = ours.matrices_of(solution)
    outside = beyond_limits(body, rotations)
    columns = Hinges(body, wishes, free_root=True)
    parts = [[w for w, p in zip(wishes, priorities, strict=True) if p == level] for level in range(levels)]
    hierarchy = Hierarchy([Hinges(body, part, free_root=True) for part in parts], columns)
    failures: list[dict[str, Any]] = []
    gains: list[float] = []
    kept = passed = linear_passed = active = 0
    for index in range(count):
        x = columns.state(rotations[index], roots[index])
        errors, _ = hierarchy.at(x, heads[index], frames[index])
        first = float(np.abs(errors[0]).max())
        at_bound = int(np.sum((x - columns.lower < AT_BOUND) | (columns.upper - x < AT_BOUND)))
        good = linear_good = True
        entry: dict[str, Any] = {"kind": kind, "levels": levels, "index": index, "first_level_mm": 1e3 * first}
        for level in range(1, levels):
            before, linear, after = improve(hierarchy, level, x, heads[index], frames[index])
            allowed = max(SHARE * before, LENGTH)
            entry[f"level_{level}"] = {"ours": before, "linear": linear, "best": after}
            good &= before - after <= allowed
            linear_good &= before - linear <= allowed
            gains.append(before - after)
        keeps = first <= KEPT and outside[index] <= LIMIT
        kept += keeps
        passed += good and keeps
        linear_passed += linear_good
        active += at_bound > 0
        if not (good and keeps):
            failures.append(entry | {"outside_degrees": float(np.degrees(outside[index])), "at_bounds": at_bound,
                                     "steps": int(solution.iterations[index])})  # fmt: skip
    return {
        "body": kind,
        "levels": levels,
        "problems": count,
        "with_active_limits": active / count,
        "kept": kept / count,
        "passed": passed / count,
        "no_linear_gain": linear_passed / count,
        "worst_gain_mm": 1e3 * max(gains),
        "gains": gains,
        "failures": failures,
    }
