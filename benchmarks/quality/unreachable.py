"""Goals out of reach: the distance that Poise leaves, beside the least that scipy's bounded least squares finds.

Chains of 4 and 10 ball joints with limits, and the humanoids with a fixed root. Targets are what a random pose within
limits has, pulled to 1.2 to 2.5 times its distance from the root, or (three in ten) mirrored through the root, behind
what the limits allow; frames turned by up to 60 degrees more about each axis. One goal or two at once.

What is compared is what both minimise: the root of the sum of squares of all distances (in units of size) and of 0.3 x
angles. The peer: scipy.optimize.least_squares, "trf", bounds = the limits in Euler angles, exact Jacobians, from
mid-range, rest and random starts, the best of all; then once more from where Poise stopped: if that improves, Poise was
not at an optimum, otherwise it is in another one.
"""

from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import numpy as np

from core import Pose

from ..work import Array
from . import ours
from .bodies import KINDS, Body, Wanted, Wish, axis_turn, beyond_limits, forward, load_body
from .hinges import Hinges
from .reachable import LIMIT, truths

SEED: Final = 5
COUNT: Final = 20  # problems of a case
STARTS: Final = 5
RATIO: Final = 1.01
NOTHING: Final = 1e-4  # units of size: below this both have reached it
TWIST: Final = np.radians(60.0)  # target frames are turned away from the random pose's by up to this about each axis
INSIDE: Final = 1e-6  # radians that scipy's starts keep from the bounds
CHAINS: Final = (4, 10)
CASES: Final[dict[str, list[Wanted]]] = {
    "hand": [("hand.R", True, False)],
    "hand, turned": [("hand.L", True, True)],
    "foot, turned": [("foot.R", True, True)],
    "both hands": [("hand.L", True, False), ("hand.R", True, False)],
    "hand and head": [("hand.R", True, False), ("head", True, False)],
}


def chain_body(count: int) -> Body:
    """Ball joints 0.3 apart along Y, each within 70 degrees about X and Z and 45 about Y, on a root that stays."""
    names = (*(f"link{i}" for i in range(count + 1)), "tip")
    wide = np.radians([70.0, 45.0, 70.0])
    free = np.full(3, np.inf)
    bounds = np.array([free, *[wide] * count, free])
    offsets = np.array([[0.0, 0.3 if i > 1 else 0.0, 0.0] for i in range(count + 2)])
    lengths = np.array([0.3] * (count + 1) + [0.03])
    turns = np.tile(np.eye(3), (count + 2, 1, 1))
    parents = np.arange(-1, count + 1)
    roles = {"tip": "tip"}
    given = names, parents, offsets, turns, lengths, ("YZX",) * (count + 2), -bounds, bounds, roles
    return Body(f"chain of {count}", "made here", *given)


def targets(body: Body, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Heads and frames that are mostly out of reach: a random pose's, pulled outwards from the root's head."""
    lower, upper = (np.where(np.isfinite(bound), bound, 0.0) for bound in (body.lower, body.upper))
    rotations, _ = truths(replace(body, lower=lower, upper=upper), rng, count)
    heads, frames = forward(body, rotations, np.zeros((count, 3)))
    centre = heads[:, :1]
    pull = rng.uniform(1.2, 2.5, (count, 1, 1))
    flip = np.where(rng.random((count, 1, 1)) < 0.3, -1.0, 1.0)  # behind the back: within length, out of the limits
    turn = np.tile(np.eye(3), (count, 1, 1))
    for axis in range(3):
        turn = turn @ axis_turn(axis, rng.uniform(-TWIST, TWIST, count))
    return centre + flip * np.where(flip < 0.0, 1.0, pull) * (heads - centre), turn[:, None] @ frames


def bounded_least_squares(hinges: Hinges, starts: list[Array], heads: Array, frames: Array) -> float:
    """The least root of the sum of squares that scipy finds from any of the starts."""
    from scipy.optimize import least_squares  # pyright: ignore[reportMissingImports]

    best = np.inf
    lower, upper = hinges.lower, hinges.upper
    known: dict[bytes, tuple[Array, Array]] = {}

    def at(x: Array) -> tuple[Array, Array]:
        if x.tobytes() not in known:
            known.clear()
            known[x.tobytes()] = hinges.errors(x, heads, frames)
        return known[x.tobytes()]

    for start in starts:
        begin = np.clip(start, lower + INSIDE, upper - INSIDE)
        tolerances = {"xtol": 1e-9, "ftol": 1e-9, "gtol": 1e-9, "max_nfev": 200}
        found = least_squares(
            lambda x: at(x)[0],
            begin,
            lambda x: -at(x)[1],  # pyright: ignore[reportArgumentType]
            bounds=(lower, upper),
            method="trf",
            **tolerances,
        )
        best = min(best, float(np.sqrt(2.0 * found.cost)))
    return best


def case(body: Body, name: str, wishes: list[Wish], seed: list[int], count: int, **settings: Any
         ) -> dict[str, Any]:  # fmt: skip
    rng = np.random.default_rng(seed)
    heads, frames = targets(body, rng, count)
    skeleton = ours.skeleton_of(body)
    begin = perf_counter()
    solution = ours.run(skeleton, Pose.rest(skeleton), ours.goals_of(wishes, heads, frames), root="fixed", **settings)
    seconds = perf_counter() - begin
    rotations, roots = ours.matrices_of(solution)
    hinges = Hinges(body, wishes, free_root=False)
    outside = beyond_limits(body, rotations)
    lower, upper = (np.where(np.isfinite(b), b, f) for b, f in ((hinges.lower, -np.pi), (hinges.upper, np.pi)))
    scale = np.sqrt(sum(int(placed) + int(turned) for _, placed, turned in wishes))
    rows: list[dict[str, Any]] = []
    for index in range(count):
        here = hinges.state(rotations[index], roots[index])
        own = float(np.linalg.norm(hinges.errors(here, heads[index], frames[index], False)[0]))
        starts = [0.5 * (lower + upper), np.zeros(len(lower))]
        starts += [rng.uniform(lower, upper) for _ in range(STARTS - len(starts))]
        peer = bounded_least_squares(hinges, starts, heads[index], frames[index])
        from_here = bounded_least_squares(hinges, [here], heads[index], frames[index])
        best = min(peer, from_here)
        rows.append({
            "index": index,
            "ours": own,
            "scipy": peer,
            "scipy_from_ours": from_here,
            "ratio": max(own, NOTHING) / max(best, NOTHING),
            "reason": "" if own <= max(RATIO * best, NOTHING)
            else "another optimum" if own <= max(RATIO * from_here, NOTHING) else "not at an optimum",
            "outside_degrees": float(np.degrees(outside[index])),
            "steps": int(solution.iterations[index]),
        })  # fmt: skip
    ratios = np.array([row["ratio"] for row in rows])
    return {
        "body": body.name,
        "case": name,
        "seed": seed,
        "problems": count,
        "unreachable": float(np.mean([row["scipy"] > NOTHING * scale for row in rows])),
        "within_1_percent": float(np.mean([not row["reason"] for row in rows])),
        "ratio_median": float(np.median(ratios)),
        "ratio_99": float(np.quantile(ratios, 0.99)),
        "ratio_worst": float(ratios.max()),
        "within_limits": bool(outside.max() <= LIMIT),
        "milliseconds": 1e3 * seconds / count,
        "ratios": ratios.tolist(),
        "reasons": {r: sum(row["reason"] == r for row in rows) for r in ("another optimum", "not at an optimum")},
        "failures": [row for row in rows if row["reason"]],
    }


def measure(count: int = COUNT, cases: int | None = None, progress: Any = None, **settings: Any) -> dict[str, Any]:
    results: list[dict[str, Any]] = []
    work = [(chain_body(links), "tip", [(links + 1, True, False)]) for links in CHAINS]
    work += [(chain_body(links), "tip, turned", [(links + 1, True, True)]) for links in CHAINS]
    for kind in KINDS:
        body = load_body(kind)
        for name, wanted in CASES.items():
            work.append(
                (body, name, [(body.index(body.roles[role]), placed, turned) for role, placed, turned in wanted])
            )
    for number, (body, name, wishes) in enumerate(work[:cases]):
        results.append(case(body, name, wishes, [SEED, number], count, **settings))
        if progress is not None:
            r = results[-1]
            print(f"{r['body']}, {name}: {r['within_1_percent']:.1%} within 1 %, worst {r['ratio_worst']:.3f}, "
                  f"{r['reasons']}", file=progress, flush=True)  # fmt: skip
    ratios = np.concatenate([r["ratios"] for r in results])
    return {
        "problems": len(ratios),
        "within_1_percent": float(np.average([r["within_1_percent"] for r in results])),
        "ratio_median": float(np.median(ratios)),
        "ratio_99": float(np.quantile(ratios, 0.99)),
        "ratio_worst": float(ratios.max()),
        "cases": results,
    }
