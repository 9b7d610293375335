"""Solves by the names that `core` itself exports, with random skeletons, poses and goals; a worker."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .told import begun, bytes_of, ended, shortened, tried

PART, FILE, _, _ = begun()

from core import (  # noqa: E402  (of the checkout that this runs in)
    Actuation,
    Balance,
    ContributionCCD,
    Distance,
    EllipticSwing,
    EulerBox,
    Framed,
    Goal,
    Humanoid,
    LookAt,
    OrderFreeBox,
    PinAndDrag,
    Polygon,
    Pose,
    Skeleton,
    SwingPolygon,
    forward,
    forward_matrices,
    rotation,
    solve,
)

FOUND: dict[str, dict[str, str]] = {}
FRAMES: Final = 4
TRUNK: Final = (
    *(("hips", "", (0, 0, 0.95)), ("spine", "hips", (0, 0, 1.06)), ("chest", "spine", (0, 0, 1.25))),
    *(("neck", "chest", (0, 0, 1.48)), ("head", "neck", (0, 0, 1.57))),
)
SIDE: Final = (
    *(("clavicle", "chest", (0.03, 0, 1.44)), ("upper_arm", "clavicle", (0.18, 0, 1.44))),
    *(("forearm", "upper_arm", (0.46, 0.02, 1.44)), ("hand", "forearm", (0.71, 0, 1.44))),
    *(("thigh", "hips", (0.09, 0, 0.92)), ("shin", "thigh", (0.1, -0.02, 0.5)), ("foot", "shin", (0.1, 0.02, 0.09))),
)
TIPS: Final = {"head": (0, 0, 1.75), "hand": (0.8, 0, 1.44), "foot": (0.11, -0.12, 0.02), "hips": (0, 0, 1.06)}
AXES: Final[Any] = ("X", "Z", "Y")  # of the actuations
ENDS: Final = ("foot.L", "foot.R", "hand.L", "hand.R", "head")


def figure(seed: int = 0, **more: Any) -> Skeleton:
    """A body of 19 bones in T-pose, facing -Y, with random rolls."""
    rows = [*TRUNK] + [
        (f"{name}.{side}", f"{parent}.{side}" if parent not in ("hips", "chest") else parent, (sign * x, y, z))
        for side, sign in (("L", 1.0), ("R", -1.0)) for name, parent, (x, y, z) in SIDE
    ]  # fmt: skip
    names, rng = [row[0] for row in rows], np.random.default_rng(seed)
    heads = np.array([row[2] for row in rows], float)
    parents = [names.index(row[1]) if row[1] else -1 for row in rows]
    frames, lengths = [], []
    for bone, name in enumerate(names):
        part, _, side = name.partition(".")
        after = heads[parents.index(bone)] if bone in parents else heads[bone]
        tip = np.array(TIPS[part]) * ((-1 if side == "R" else 1), 1, 1) if part in TIPS else after
        way = tip - heads[bone]
        lengths.append(np.linalg.norm(way))
        y = way / lengths[-1]
        x = np.cross(y, [0.0, 0.0, 1.0] if abs(y[2]) < 0.9 else [0.0, -1.0, 0.0])
        x /= np.linalg.norm(x)
        roll = rotation.to_matrix(rotation.exp([0.0, rng.uniform(-3.0, 3.0), 0.0]))
        frames.append(np.stack([x, y, np.cross(x, y)], axis=-1) @ roll)
    bases = [frames[parent] if parent >= 0 else np.eye(3) for parent in parents]
    origins = [heads[parent] if parent >= 0 else np.zeros(3) for parent in parents]
    turns = [base.T @ frame for base, frame in zip(bases, frames, strict=True)]
    offsets = [base.T @ (head - origin) for base, head, origin in zip(bases, heads, origins, strict=True)]
    return Skeleton(names, parents, offsets, rotation.from_matrix(np.array(turns)), lengths, **more)  # pyright: ignore


def tree(seed: int, count: int = 24, flags: bool = True) -> Skeleton:
    """A random tree with all that Blender's bones may have."""
    rng = np.random.default_rng(seed)
    more: dict[str, Any] = {}
    if flags:
        more = {
            "connected": rng.random(count) < 0.3, "local_location": rng.random(count) < 0.7,
            "inherit_rotation": rng.random(count) < 0.8, "movable": rng.random(count) < 0.9,
            "inherit_scale": rng.choice(["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"], count),
            "rotation_modes": rng.choice(["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"], count),
            "rotation_locks": rng.random((count, 3)) < 0.1, "stiffness": rng.uniform(0.0, 0.9, (count, 3)),
            "stretch": rng.uniform(0.0, 1.0, count) * (rng.random(count) < 0.5), "driven": rng.random(count) < 0.05,
            "translatable": rng.random((count, 3)) < 0.15,
        }  # fmt: skip
    parents = [-1, *(int(rng.integers(max(-1, bone - 4), bone)) for bone in range(1, count))]
    offsets, turns = 0.3 * rng.normal(size=(count, 3)), rotation.normalize(rng.normal(size=(count, 4)))
    return Skeleton([f"b{bone}" for bone in range(count)], parents, offsets, turns, np.full(count, 0.3), **more)  # pyright: ignore


def random_pose(
    skeleton: Skeleton, seed: int, batch: tuple[int, ...], spread: float = 0.3, scaled: bool = False
) -> Pose:
    rng, shape = np.random.default_rng(seed), (*batch, len(skeleton))
    turns = rotation.exp(spread * rng.normal(size=(*shape, 3)))
    shifts = 0.1 * rng.normal(size=(*shape, 3)) * (skeleton.parents < 0)[:, None]
    driven = Pose.rest(skeleton, batch).driven_matrices
    return Pose(turns, shifts, rng.uniform(0.8, 1.2, (*shape, 3)) if scaled else None, driven)


def note(name: str, act: Callable[..., Any], *arguments: Any) -> None:
    """Put what an act gives on record, or the sentence that it is refused with."""
    try:
        FOUND[name] = read(act(*arguments))
    except Exception as error:
        FOUND[name] = {"refused": f"{type(error).__name__}: {error}"}


def read(given: Any) -> dict[str, str]:
    """Digests of arrays, or of a solution or several; of the last one the sentences, too."""
    given = given if isinstance(given, (list, tuple)) else [given]
    if all(isinstance(one, np.ndarray) for one in given):
        return {"arrays": bytes_of(np.concatenate([one.ravel() for one in given]))}
    told: dict[str, list[Any]] = {}
    for one in given:
        active = np.zeros(0) if one.limits_active is None else one.limits_active
        scales = np.zeros(0) if one.pose.scales is None else one.pose.scales
        finished = np.zeros(0) if one.finished is None else one.finished
        parts = {
            "rotations": one.pose.rotations, "translations": one.pose.translations, "scales": scales,
            "position error": one.position_error, "rotation error": one.rotation_error, "steps": one.iterations,
            "flags": np.concatenate([np.ravel(flag) for flag in (one.converged, one.brought_in, active, finished)]),
        }  # fmt: skip
        for part, values in parts.items():
            told.setdefault(part, []).append(np.ravel(values))
    return {part: bytes_of(np.concatenate(values)) for part, values in told.items()} | {
        "sentences": shortened(" | ".join(given[-1].explain(3)))
    }


def wanted(skeleton: Skeleton, pose: Pose, bones: Sequence[Any], **more: Any) -> list[Any]:
    """Goals for bones where a pose has them, every other one with its rotation."""
    heads, turns = forward(skeleton, pose)
    at = [skeleton.index(bone) for bone in bones]
    return [Goal(bone, heads[..., i, :], None if n % 2 else turns[..., i, :], **more)
            for n, (bone, i) in enumerate(zip(bones, at, strict=True))]  # fmt: skip


def goals_of(skeleton: Skeleton, pose: Pose, bones: Sequence[Any]) -> dict[str, list[Any]]:
    """Sets of goals of all kinds; the first bones are held, the last ones led."""
    heads, turns = forward(skeleton, pose)
    rng, held, led, other = np.random.default_rng(9), list(bones[:2]), bones[-2], bones[-1]
    batch, at, there = pose.batch_shape, skeleton.index(led), skeleton.index(other)
    far, near = heads[..., at, :] + [1.0, -2.0, 1.5], heads[..., at, :]
    feet, root = wanted(skeleton, pose, held), 0
    return {
        "all": wanted(skeleton, pose, bones),
        "far": [*feet, Goal(led, far, priority=1)],
        "three levels": [*feet, Goal(led, far, priority=2), Goal(other, heads[..., there, :] + 0.1, priority=1)],
        "against": [*feet, Goal(led, far), Goal(other, -far, position_weight=rng.random(batch))],
        "look": [*feet, LookAt(led, far, (0.0, 0.6, 0.8)), LookAt(other, far, relative_to=held[0], priority=1)],
        "distance": [*feet, Distance(led, other, 0.3), Distance(other, None, 0.2, (0, 0.1, 0), near, bound="at most"),
                     Distance(led, held[0], 0.8, bound="at least", priority=1)],
        "balance": [*feet, Goal(led, far), Balance(root, tuple(held), radius=0.1)],
        "relative": [*feet, Goal(led, near * 0.1, turns[..., at, :], (0, 0.1, 0), relative_to=other)],
        "axes": [*feet, Goal(led, near + 0.2, turns[..., 0, :], position_axes=np.array([0.0, 1.0, 0.5]),
                             rotation_axes=np.array([1.0, 0.0, 0.2]), axes=turns[..., 1, :])],
        "moving": [*feet, Goal(led, velocity=np.array([0.4, 0.0, -0.3]), angular_velocity=np.array([0.0, 2.0, 0.0]))],
    }  # fmt: skip


def pins() -> None:
    """The pins solver: kinds of goals, settings, one frame, many, frames in time, and drags."""
    full = figure()
    skeletons = {
        "figure": (full, ENDS), "tree": (tree(1), ("b3", "b11", "b17", "b20", "b23")),
        "plain tree": (tree(5, 16, False), ("b2", "b6", "b9", "b12", "b15")),
    }  # fmt: skip
    rng = np.random.default_rng(3)
    for kind, (skeleton, bones) in skeletons.items():
        count = len(skeleton)
        frames = np.sin(np.linspace(0.0, 3.0, FRAMES))[:, None, None] * rng.normal(size=(count, 3)) * 0.3
        path = Pose(
            rotation.exp(frames), np.zeros((FRAMES, count, 3)), None, Pose.rest(skeleton, (FRAMES,)).driven_matrices
        )
        deviations, bends = rng.uniform(0.05, 0.5, (count, 3)), 0.1 * rng.normal(size=(count, 3))
        axes = rotation.normalize(rng.normal(size=(count, 4)))
        settings: dict[str, dict[str, Any]] = {
            "as it is": {}, "quick": {"settle": False}, "plain": {"restarts": 0},
            "fixed": {"root": "fixed", "restarts": 0}, "pull": {"root": "pull", "restarts": 1},
            "translate": {"root": "translate", "restarts": 0},
            "root bone": {"root": "pull", "root_bone": 1, "restarts": 0},
            "in time": {"coherent": True, "fps": 30.0}, "stretch": {"stretch": True, "restarts": 0},
            "short": {"iterations": 4, "restarts": 0, "position_tolerance": 1e-3, "rotation_tolerance": 0.02},
            "body": {"deviations": deviations, "axes": axes, "bends": bends, "restarts": 0},
            "reference": {"reference": random_pose(skeleton, 11, (), 0.2), "settle": False},
        }  # fmt: skip
        rest, one = Pose.rest(skeleton), random_pose(skeleton, 7, (), scaled=kind == "tree")
        note(f"forward/{kind}", lambda *given: [*forward(*given), forward_matrices(*given)], skeleton, one)
        single, many = (goals_of(skeleton, random_pose(skeleton, 8, batch), bones) for batch in ((), (FRAMES,)))
        timed = goals_of(skeleton, path, bones)
        for label, more in settings.items():
            method, quick = PinAndDrag(**more), not more.get("settle", True)
            # to come to rest out of reach, and to look for other starts, takes seconds
            every = quick or (kind == "figure" and label in ("plain", "in time"))
            brief = kind != "figure" or more.get("restarts", 12) > 0
            for goals in single if every else ("all",) if brief else ("all", "three levels"):
                if label != "in time":
                    note(f"single/{kind}/{label}/{goals}", solve, skeleton, rest, single[goals], method)
                if label not in ("quick", "translate"):
                    start, wishes = (path, timed) if label == "in time" else (rest, many)
                    note(f"batch/{kind}/{label}/{goals}", solve, skeleton, start, wishes[goals], method)
            if quick:
                note(f"scaled/{kind}/{label}", solve, skeleton, one, single["far"], method)
        for goals in ("all", "far", "three levels", "balance", "moving"):
            note(f"drag/{kind}/{goals}", dragged, PinAndDrag(settle=False), skeleton, rest, single[goals])
        for label in ("plain", "body"):
            goals = "moving" if label == "plain" else "all"
            note(f"drag/{kind}/{label}", dragged, PinAndDrag(**settings[label]), skeleton, rest, single[goals])


def dragged(method: Any, skeleton: Skeleton, start: Pose, goals: list[Any], index: int = 2) -> list[Any]:
    """Ticks of a drag there and back, and a step of coming to rest."""
    problem = method.prepare(skeleton, start, goals)
    goal, found = goals[index], [problem.solve()]
    place = getattr(goal, "position", None)
    for share in (0.3, 1.0, 0.4):
        if place is None:
            problem.advance(1.0 / 24.0)
        else:
            problem.move(index, place + share * np.array([-0.6, 0.5, -0.8]))
        found.append(problem.solve())
    return [*found, problem.relax()]


def limits_of(kind: str, bones: Any, size: float = 1.0) -> Any:
    """Limits with rest inside."""
    rng = np.random.default_rng(5)
    reach = np.tile(size * np.radians([60.0, 40.0, 50.0]), (len(bones), 1))
    turns = rotation.normalize(rng.normal(size=(len(bones), 4)))
    if kind.startswith("framed"):
        return Framed(limits_of(kind.split()[1], bones, size), turns, rotation.inv(turns))
    if kind == "polygon":
        return SwingPolygon(bones, [star(rng, size) for _ in bones])
    if kind == "euler":
        return EulerBox(bones, [("ZYX", "XYZ", "YXZ")[bone % 3] for bone in bones], -reach, 0.7 * reach)
    return (EllipticSwing if kind == "ellipse" else OrderFreeBox)(bones, -reach, reach)


def star(rng: np.random.Generator, size: float) -> Any:
    """A fan about rest whose nine corners are near and far by chance."""
    count, low, high = 9, *np.sin(0.5 * size * np.radians([30.0, 75.0]))
    angles = 2.0 * np.pi * (np.arange(count) + rng.uniform(-0.3, 0.3, count)) / count
    rim = rng.uniform(low, high, (count, 1)) * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    fan = np.array([(0, 1 + corner, 1 + (corner + 1) % count) for corner in range(count)])
    middle, half = rng.uniform(-0.3, 0.3, count + 1), rng.uniform(0.3, 1.0, count + 1)
    return Polygon(np.concatenate([np.zeros((1, 2)), rim]), fan, middle - half, middle + half)


def limits() -> None:
    """Limits of every kind: hard, soft, left out; starts inside and outside of them."""
    bones, plain = np.arange(1, len(figure())), figure()
    kinds = ("euler", "ellipse", "order-free", "polygon", "framed order-free", "framed polygon", "mixed")
    for kind in kinds:
        thirds = [(kinds[n], part) for n, part in enumerate(np.array_split(bones, 3))]
        mixed = tuple(limits_of(one, part) for one, part in [*thirds, ("order-free", bones[5:12])])
        skeleton = figure(limits=mixed if kind == "mixed" else (limits_of(kind, bones),))
        small = figure(limits=mixed if kind == "mixed" else (limits_of(kind, bones, 0.4),))
        rest, outside = Pose.rest(skeleton), random_pose(skeleton, 2, (), 1.2)
        single, many = (goals_of(plain, random_pose(plain, 8, batch, 0.35), ENDS) for batch in ((), (FRAMES,)))
        for limit in (True, "soft", False) if kind == "mixed" else (True, "soft"):
            hold, quick, timed = (
                PinAndDrag(limits=limit, restarts=0, **more)  # pyright: ignore
                for more in ({}, {"settle": False}, {"coherent": True})
            )
            for goals in ("all", "three levels", "far"):
                note(f"{kind}/{limit}/quick/{goals}", solve, small, rest, single[goals], quick)
            note(f"{kind}/{limit}/rest", solve, small, rest, single["far"], hold)
            note(f"{kind}/{limit}/in time", solve, skeleton, rest, many["all"], timed)
            note(f"{kind}/{limit}/batch", solve, small, rest, many["all"], hold)
            note(f"{kind}/{limit}/outside", solve, skeleton, outside, single["all"], quick)
            note(f"{kind}/{limit}/drag", dragged, quick, small, rest, single["far"])
        note(f"{kind}/other starts", solve, small, rest, single["all"], PinAndDrag(restarts=2))
        note(f"{kind}/humanoid", solve, skeleton, rest, single["all"], Humanoid())
        arm = [Actuation(bone, axis, 0.5, 0.2) for bone in ("forearm.L", "upper_arm.L") for axis in AXES]
        goal, method = Goal("hand.L", many["all"][2].position), ContributionCCD(tuple(arm))
        note(f"{kind}/ccd", solve, skeleton, rest, [goal], method)


def reached(method: Any, skeleton: Skeleton, targets: Any) -> list[Any]:
    """Ticks of a chain's drag, and what it comes to from the start again."""
    reach = method.prepare(skeleton, Pose.rest(skeleton), [Goal("hand.L", targets[0], point=(0.0, 0.05, 0.0))])
    found = [reach.solve()]
    for target in targets[1:]:
        reach.move(target)
        found.append(reach.solve())
    reach.restart()
    return [*found, reach.solve()]


def ccd() -> None:
    """Contribution CCD: modes, bases, one frame, many, and drags."""
    body, chain = figure(), tree(4, 10, False)
    arm = tuple(Actuation(f"{bone}.L", axis, f, 0.1) for bone, f in (("forearm", 0.5), ("upper_arm", 0.4),
                                                                      ("clavicle", 0.1)) for axis in AXES)  # fmt: skip
    bends = 0.2 * np.random.default_rng(1).normal(size=(len(body), 3))
    settings: dict[str, dict[str, Any]] = {
        "as it is": {}, "smaller": {"mode": "smaller", "passes": 3},
        "mixed": {"mode": "mixed", "passes": 4, "share": 0.3},
        "no sweeps": {"sweeps": 0}, "no finish": {"finish": False, "sweeps": 3}, "plain": {"passes": 0},
        "base": {"base": "clavicle.L"}, "held": {"base": "foot.R"}, "successive": {"successive": True},
        "bends": {"bends": bends}, "coarse": {"position_tolerance": 0.01},
    }  # fmt: skip
    truth = forward(body, random_pose(body, 6, (12,), 0.5))[0][:, body.index("hand.L")]
    for label, more in settings.items():
        method = ContributionCCD(arm, **more)
        for name, targets in (("near", truth), ("far", truth + 1.5)):
            rest = Pose.rest(body)
            note(f"{label}/batch {name}", solve, body, rest, [Goal("hand.L", targets)], method)
            for number, target in enumerate(targets[:4]):
                note(f"{label}/single {name} {number}", solve, body, rest, [Goal("hand.L", target)], method)
        note(f"{label}/drag", reached, method, body, truth[:6])
    names = [name for name in chain.names if chain.index(name) in chain.ancestors(len(chain) - 1)]
    every = tuple(Actuation(bone, axis) for bone in names for axis in AXES)
    targets = np.random.default_rng(2).normal(size=(20, 3))
    note("tree", solve, chain, Pose.rest(chain), [Goal(chain.names[-1], targets)], ContributionCCD(every))


def humanoid() -> None:
    """The humanoid method: its settings, goals that it knows and does not, and drags."""
    body = figure()
    settings: dict[str, dict[str, Any]] = {
        "as it is": {}, "alone": {"finish": False}, "no pull": {"pull": 0.0}, "some pull": {"pull": {"hand.L": 0.3}},
        "resist": {"resist": {"hips": 1.0, "spine": 0.5, "shoulder": 1.0}}, "reach": {"reach": 0.8},
        "swivel": {"swivel": {"arm.L": 0.5, "leg.R": -0.3}, "finish": False}, "no limits": {"limits": False},
    }  # fmt: skip
    single, many = (goals_of(body, random_pose(body, 8, batch, 0.2), ENDS) for batch in ((), (FRAMES,)))
    for label, more in settings.items():
        method = Humanoid(**more)
        for goals in single if label in ("as it is", "alone") else ("all",):
            note(f"single/{label}/{goals}", solve, body, Pose.rest(body), single[goals], method)
        note(f"batch/{label}", solve, body, random_pose(body, 4, (), 0.1), many["all"], method)
        if label in ("alone", "no pull", "swivel"):
            note(f"drag/{label}", dragged, method, body, Pose.rest(body), single["all"])


REFUSED: Final = """
Goal("hand.L")
Goal("hand.L", [0, np.nan, 0])
Goal("hand.L", np.full(3, 1e31))
Goal("hand.L", np.zeros(2))
Goal("hand.L", None, [2.0, 0, 0, 0])
Goal("a", zero, priority=-1)
Goal("a", zero, position_weight=-1.0)
Goal(1.5, zero)
LookAt("a", zero, zero)
Distance("a", "b", 1.0, bound="near")
Distance("a", "a", 1.0)
Balance("a", ())
Balance("a", ("b",), up=zero)
solve(body, rest, [Goal("hnad.L", zero)])
solve(body, rest, [])
solve(body, rest, [goal], "pins")
solve(tree(1), rest, [Goal(0, zero)])
solve(body, Pose.rest(body, (3,)), [Goal("hand.L", np.zeros((4, 3)))])
PinAndDrag(root="loose")
PinAndDrag(limits="hard")
PinAndDrag(fps=0.0)
PinAndDrag(settle=1)
PinAndDrag(restarts=-1)
PinAndDrag(iterations=-2)
solve(body, rest, [goal], PinAndDrag(root_bone=99))
PinAndDrag().prepare(body, rest, [goal]).move(3, zero)
PinAndDrag().prepare(body, rest, [goal]).advance("soon")
Skeleton(["a", "a"], [-1, 0], np.zeros((2, 3)), np.ones((2, 4)), [1, 1])
Skeleton(["a", "b"], [1, -1], np.zeros((2, 3)), np.ones((2, 4)), [1, 1])
Skeleton([], [], [], [], [])
Pose(np.zeros((2, 4)), np.zeros((2, 3)))
Pose(np.ones((2, 4)) / 2, np.zeros((3, 3)))
EulerBox([0], ["ABC"], zero[None], zero[None])
OrderFreeBox([0], [zero + 1], [zero])
EllipticSwing([0], [zero + 1], [zero + 2])
Polygon(np.zeros((2, 2)), [(0, 1, 1)], zero[:2], zero[:2])
Framed(limits_of("euler", [0]), np.zeros((1, 4)), np.ones((1, 4)))
Actuation("a", "W")
Actuation("a", "X", 2.0)
ContributionCCD(())
ContributionCCD((Actuation("a", "X"),), mode="most")
ContributionCCD((Actuation("a", "X"),), passes=-1)
solve(body, rest, [goal, goal], ContributionCCD((Actuation("forearm.L", "X"),)))
solve(body, rest, [goal], ContributionCCD((Actuation("shin.L", "X"),)))
solve(tree(5, 6, False), Pose.rest(tree(5, 6, False)), [Goal("b1", zero)], Humanoid())
solve(body, rest, [goal, goal], Humanoid())
solve(body, rest, [goal], Humanoid(pull={"tail": 1.0}))
solve(body, rest, [goal], Humanoid(resist={"tail": 1.0}))
solve(body, rest, [goal], Humanoid(reach=3.0))
solve(body, rest, [Goal("hand.L", velocity=zero + 1)], Humanoid())
solve(body, rest, [Goal("clavicle.L", zero)], Humanoid(finish=False))
solve(body, rest, [goal]).explain(-1)
solve(body, rest, [goal]).reasons(5)
"""


def refused() -> None:
    """What is refused, and the sentences."""
    body, zero = figure(), np.zeros(3)
    scope = {**globals(), "body": body, "rest": Pose.rest(body), "zero": zero, "goal": Goal("hand.L", zero)}
    for line in REFUSED.strip().splitlines():
        FOUND[line] = {"said": tried(lambda line=line: type(eval(line, scope)).__name__)}


if __name__ == "__main__":
    {"pins": pins, "limits": limits, "ccd": ccd, "humanoid": humanoid, "refused": refused}[PART]()
    ended(FILE, FOUND)
