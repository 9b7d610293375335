"""How a chain's rotation is spread over its joints: the share of each, the largest, and the variance of the shares."""

from typing import Any

import numpy as np

from .triangulation import triangulation
from .with_poise import AllAtOnce, arm_or_tail
from .work import SWEEPS, TOLERANCE, Array, Solver, Work, errors, turned


def spread(work: Work, peers: list[Solver]) -> list[dict[str, Any]]:
    """A row for each method: our preset without and with plain CCD, plain CCD alone, Triangulation, peers if any."""
    ours: list[Solver] = [
        AllAtOnce(work, "preset arm, least squares", arm_or_tail(work), sweeps=0),
        AllAtOnce(work, "preset arm in 3 passes, plain CCD", arm_or_tail(work), passes=3),
        AllAtOnce(work, "plain CCD", passes=0, sweeps=SWEEPS, finish=False),
    ]
    rows: list[dict[str, Any]] = []
    for solver in (*ours, *peers):
        solver.run()
        rotations = solver.answers()
        rows.append(_row(solver.name, turned(work.start, rotations), errors(work, rotations)))
    rows.insert(len(ours), _row("Triangulation", *triangulation(work)))
    return rows


def _row(name: str, angles: Array, missing: Array) -> dict[str, Any]:
    shares = angles / np.maximum(angles.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    largest = shares.max(axis=1)
    return {
        "method": name,
        "mean_shares": shares.mean(axis=0).tolist(),
        "largest_share": {"median": float(np.median(largest)), "p90": float(np.quantile(largest, 0.9))},
        "variance": float(shares.var(axis=1).mean()),
        "degrees_in_all": float(np.degrees(angles.sum(axis=1)).mean()),
        "solved": float((missing <= TOLERANCE).mean()),
        "largest_shares": np.sort(largest).tolist(),
    }
