"""What pins and drag promise on any rig: levels that hold, errors that are shared, rest, recovery, no jumps, way home.

Effectors are found by shape, so that animals, machines and half bodies count as much as humanoids. By default a few
rigs with one example; POISE_ZOO=full takes every rig of ../shared/data/rigs and more examples.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bridge import read_matrices, read_pose, read_rig
from core import Goal, PinAndDrag, Pose, Skeleton, Solution, forward, rotation
from core.limits import clamp_rotations
from core.solvers.pins.drag import Drag
from tests.blender.rigs import FULL, REFUSED, SUFFIXES, load
from tests.paths import DATA, SHARED

ZOO = SHARED / "rigs"
SAMPLE = ("real/quaternius_trex.fbx", "scripted/creature_spider8.blend", "scripted/named_mmd_japanese.blend")

# lengths by the skeleton's size, which is 1 for a human in metres
MILLIMETRE = 1e-3
HELD = 0.1 * MILLIMETRE  # what a lower level may change of an upper one
HELD_TURN = 0.02  # degrees
REST = 0.01  # degrees that a solve from where the last ended may turn a joint
HOME = 0.1  # degrees
STEP = MILLIMETRE if FULL else 8.0 * MILLIMETRE  # of a creeping target
TURN = 11.5  # degrees that a tick turns a joint at most, for a target that moves by less than a centimetre
DRAG: dict[str, Any] = {"settle": False, "iterations": 8, "turn": float(np.radians(TURN))}  # as edits/drag/problem.py
STILL = 60  # ticks under a still mouse, at most
BEYOND = 0.3, 1.5  # out of reach by so much
RADIUS = (0.05, 0.15) if FULL else (0.05, 0.06)  # of a closed path
WITHIN = 0.9  # share of the reach that a path stays in
BEND = 0.2  # radians, standard deviation: a body that is a little bent can reach to all sides
SHARED_ERROR = 0.01  # of the distance between two targets that contradict each other
ENDS = 5
FINGER = 0.12  # ends nearer to each other than this share one effector

Found = dict[str, float]


def property_over_seeds(examples: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Examples by seed alone, the same in every run; a smaller seed is no simpler case."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        quiet = settings(
            max_examples=examples if FULL else 1, derandomize=True, deadline=None, database=None,
            phases=[Phase.generate], suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        roots = [("free", "fixed") if FULL else (("free", "fixed")[number % 2],) for number in range(len(files()))]
        cases = [(path, root) for path, some in zip(files(), roots, strict=True) for root in some]
        over_cases = pytest.mark.parametrize(
            ("path", "root"), cases, ids=[f"{path.stem}-{root}" for path, root in cases]
        )
        return over_cases(quiet(given(seed=st.integers(0, 10**6))(test)))

    return decorate


def files() -> list[Path]:
    shipped = sorted(path for path in (DATA / "rigs").iterdir() if path.suffix in SUFFIXES)
    if FULL and ZOO.is_dir():
        return shipped + sorted(path for path in ZOO.rglob("*") if path.suffix in SUFFIXES and path.name != REFUSED)
    return shipped + [ZOO / name for name in SAMPLE]


@dataclass(frozen=True, eq=False)
class Body:
    """A rig at rest, inside its limits, with up to ENDS bones that one would drag or pin."""

    name: str
    skeleton: Skeleton
    rest: Pose
    ends: tuple[int, ...]

    @property
    def size(self) -> float:
        return self.skeleton.size

    def chain(self, bone: int) -> list[int]:
        """The bone and what carries it, as far as the solver may move that."""
        bones = self.skeleton.ancestors(bone)
        driven = [place for place, link in enumerate(bones) if self.skeleton.driven[link]]
        return bones[: driven[0]] if driven else bones


@cache
def bodies(path: Path) -> tuple[Body, ...]:
    """The armatures of a file that have anything to drag."""
    found: list[Body] = []
    for ob in load(path):
        ob.data.pose_position = "POSE"
        rig = read_rig(ob)
        # all driven bones are fixed bases here, those too that parents carry: how these go is for Blender to say
        pose = replace(read_pose(ob, rig), driven_matrices=read_matrices(ob))
        found.append(body_of(f"{path.name}:{ob.name}", replace(rig.skeleton, driven=rig.decided), pose))
    return tuple(body for body in found if body.ends)


def body_of(name: str, skeleton: Skeleton, pose: Pose) -> Body:
    still = np.tile(rotation.IDENTITY, (len(skeleton), 1))
    inside, _ = clamp_rotations(skeleton.limits, still)
    rest = Pose(inside, np.zeros_like(pose.translations), None, pose.driven_matrices)
    body = Body(name, skeleton, rest, ())
    return Body(name, skeleton, rest, ends_of(body))


def ends_of(body: Body) -> tuple[int, ...]:
    """Hands, feet, heads, tails by shape: where chains end, without fingers; the longest chains first."""
    skeleton = body.skeleton
    heads, _ = forward(skeleton, body.rest)
    inner = set(skeleton.parents.tolist())
    lengths: dict[int, int] = {}
    for leaf in (bone for bone in range(len(skeleton)) if bone not in inner):
        chain = body.chain(leaf)
        near = [np.linalg.norm(heads[bone] - heads[leaf]) < FINGER * body.size for bone in chain]
        tip = next((place for place, is_near in enumerate(near) if not is_near), len(chain)) - 1
        movable = sum(bool(skeleton.movable[bone]) for bone in chain[max(tip, 0) + 1 :])
        if movable and chain:
            lengths[chain[max(tip, 0)]] = movable
    long_enough = min(2, max(lengths.values(), default=0))
    chosen: list[int] = []
    for bone in sorted(lengths, key=lambda bone: (-lengths[bone], bone)):
        own = set(body.chain(bone)[:3])
        if lengths[bone] >= long_enough and all(not own & set(body.chain(other)[:3]) for other in chosen):
            chosen.append(bone)
    return tuple(chosen[:ENDS])


class Case:
    """A body in a start pose, bent at random, with one end to drag and at least one bone to hold."""

    def __init__(self, body: Body, root: str, seed: int) -> None:
        self.rng = rng = np.random.default_rng([seed, len(body.skeleton)])
        self.body, self.skeleton, self.root = body, body.skeleton, root
        self.begin(body.rest if rng.random() < 0.3 else self.bent(BEND))
        self.dragged = int(rng.choice(body.ends))
        top = body.chain(self.dragged)[-1]
        others = [end for end in body.ends if end != self.dragged and body.chain(end)[-1] == top]
        count = int(rng.integers(1, len(others) + 1)) if others else 0
        self.held = sorted(rng.choice(others, count, replace=False).tolist()) if others else [top]
        self.turned = bool(rng.random() < 0.5)  # pins hold the rotation, too

    def begin(self, pose: Pose) -> None:
        """Start from this pose."""
        self.start = pose
        self.heads, self.turns = forward(self.skeleton, pose)

    def bent(self, spread: float) -> Pose:
        """Another pose of what may be turned, within the limits."""
        skeleton, rest = self.skeleton, self.body.rest
        free = skeleton.movable & ~skeleton.driven & ~skeleton.rotation_locks.any(axis=1) & (skeleton.parents >= 0)
        turns = spread * self.rng.normal(size=(len(skeleton), 3)) * free[:, None]
        inside, _ = clamp_rotations(skeleton.limits, rotation.mul(rest.rotations, rotation.exp(turns)))
        return Pose(inside, rest.translations, None, rest.driven_matrices)

    def pins(self, pose: Pose | None = None) -> list[Goal]:
        """Hold the held bones where a pose has them, by default the start."""
        heads, turns = (self.heads, self.turns) if pose is None else forward(self.skeleton, pose)
        return [Goal(bone, heads[bone], turns[bone] if self.turned else None) for bone in self.held]

    def anchors(self, bone: int) -> list[tuple[np.ndarray, float, float]]:
        """What `bone` cannot get away from: places, how far from each it can get and how near it can come at most."""
        chain = self.body.chain(bone)
        paths: list[list[int]] = []
        for held in self.held:
            theirs = self.body.chain(held)
            shared = next((link for link in chain if link in theirs), None)
            if shared is not None:  # a held bone is its own anchor: it reaches nothing else
                path = [*self.pivots(chain, shared), *reversed(self.pivots(theirs, shared))]
                paths.append(path[:-1] if shared == held and self.turned else path)  # a held frame does not turn
        top = chain[-1]
        if self.root == "fixed" or self.skeleton.parents[top] >= 0:
            path = self.pivots(chain, top)
            paths.append(path if self.skeleton.parents[top] < 0 else [*path, top])
        found: list[tuple[np.ndarray, float, float]] = []
        for path in paths:
            lengths = np.linalg.norm(np.diff(self.heads[path], axis=0), axis=-1)
            reach, longest = float(np.sum(lengths)), float(np.max(lengths, initial=0.0))
            found.append((self.heads[path[-1]], reach, max(0.0, 2.0 * longest - reach)))
        return found

    def pivots(self, chain: list[int], end: int) -> list[int]:
        """The first bone of a chain and all below `end` that turn: their heads can come to lie in line."""
        below = chain[: chain.index(end)]
        return chain[:1] + [bone for bone in below[1:] if self.skeleton.movable[bone]]

    def bounded(self) -> bool:
        """Whether limits or locks keep the moved chains from going all their reach."""
        chains = {link for bone in (self.dragged, *self.held) for link in self.body.chain(bone)}
        limited = {bone for group in self.skeleton.limits for bone in group.bones.tolist()}
        return bool(chains & limited) or bool(self.skeleton.rotation_locks[sorted(chains)].any())

    def direction(self) -> np.ndarray:
        way = self.rng.normal(size=3)
        return way / np.linalg.norm(way)

    def out_of_reach(self, bone: int) -> np.ndarray:
        """A target that is BEYOND what one of the anchors lets the bone reach."""
        anchors = self.anchors(bone)
        place, reach, _ = anchors[int(self.rng.integers(len(anchors)))]
        return place + (reach + self.rng.uniform(*BEYOND) * self.body.size) * self.direction()

    def prepare(self, goals: list[Goal], **more: Any) -> Drag:
        method = PinAndDrag(root=self.root, restarts=0, **more)  # type: ignore
        return method.prepare(self.skeleton, self.start, goals)

    def solve(self, goals: list[Goal]) -> Solution:
        return self.prepare(goals).solve()

    def path(self) -> np.ndarray | None:
        """(F, 3) a closed path of small steps through the start, well within reach; None: there is none.

        Where the start is too straight for one, the body is bent further first.
        """
        for attempt in range(40):
            if attempt and attempt % 8 == 0:
                self.begin(self.bent(BEND * (1.0 + attempt / 16.0)))
            here, anchors = self.heads[self.dragged], self.anchors(self.dragged)
            radius = self.rng.uniform(*RADIUS) * self.body.size
            out, side = self.direction(), self.direction()
            side = np.cross(out, np.cross(side, out))
            side /= np.linalg.norm(side)
            count = int(np.ceil(2.0 * np.pi * radius / (STEP * self.body.size)))
            angle = np.linspace(0.0, 2.0 * np.pi, count + 1)[:, None]
            path = here + radius * ((np.cos(angle) - 1.0) * out + np.sin(angle) * side)
            path[-1] = here
            away = [(np.linalg.norm(path - place, axis=-1), reach, inner) for place, reach, inner in anchors]
            if all(np.max(far) < WITHIN * reach and WITHIN * np.min(far) > inner for far, reach, inner in away):
                return path
        return None


def largest_turn(a: Pose, b: Pose) -> float:
    """Degrees."""
    return float(np.degrees(np.max(rotation.angle_between(a.rotations, b.rotations))))


def unrest(problem: Drag, solution: Solution, times: int = 3) -> float:
    """Degrees that joints turn at most when the solve goes on from where it ended."""
    worst, before = 0.0, solution.pose
    for _ in range(times):
        after = problem.solve().pose
        worst, before = max(worst, largest_turn(before, after)), after
    return worst


def over_bodies(path: Path, root: str, seed: int, measure: Callable[[Case], Found], bounds: Found) -> None:
    for body in bodies(path):
        found = measure(Case(body, root, seed))
        print(body.name, root, seed, found)
        broken = {name: value for name, value in found.items() if not value < bounds[name]}
        assert not broken, f"{body.name}, root {root}, seed {seed}: {broken}, bounds {bounds}"


LEVEL_BOUNDS: Found = {"first": HELD, "first turned": HELD_TURN, "second worse": HELD, "met": 0.5}


def lower_levels(case: Case) -> Found:
    """What lower levels out of reach change of the levels above, by size and in degrees."""
    pins = case.pins()
    pulled, *more = [case.dragged, *(end for end in case.body.ends if end not in (case.dragged, *case.held))]
    second = Goal(pulled, case.out_of_reach(pulled), priority=1)
    above = case.body.chain(pulled)[:2][-1]
    third_bone = next((end for end in more if case.anchors(end)), above)  # nothing holds another armature's bones
    third = Goal(third_bone, case.out_of_reach(third_bone), priority=2)
    alone, two, three = (case.solve(goals) for goals in (pins, [*pins, second], [*pins, second, third]))
    count = len(pins)

    def change(name: str) -> float:
        base = getattr(alone, name)
        return max(float(np.max(np.abs(getattr(s, name)[:count] - base))) for s in (two, three))

    return {
        "first": change("position_error") / case.body.size,
        "first turned": float(np.degrees(change("rotation_error"))),
        "second worse": float(three.position_error[count] - two.position_error[count]) / case.body.size,
        "met": float(two.converged | three.converged),
    }


@property_over_seeds(5)
def test_lower_levels_out_of_reach_change_no_upper_one(path: Path, root: str, seed: int) -> None:
    over_bodies(path, root, seed, lower_levels, LEVEL_BOUNDS)


CONTRADICTION_BOUNDS: Found = {"share": SHARED_ERROR, "unrest": REST, "missed": 0.5, "from home": HOME}


def contradiction(case: Case) -> Found:
    """A bone wanted at two places whose middle is within reach: how the error is shared, rest and recovery."""
    wanted = case.bent(1.5 * BEND)
    if case.start is case.body.rest:
        case.begin(wanted)
        wanted = case.body.rest
    middle = forward(case.skeleton, wanted)[0][case.dragged]
    weights = case.rng.uniform(0.2, 3.0, 2)
    apart = case.rng.uniform(0.2, 1.0) * case.body.size * case.direction()
    share = weights[::-1] / np.sum(weights)  # the heavier one is missed by less
    targets = middle + share[0] * apart, middle - share[1] * apart
    here = case.heads[case.dragged]
    pairs = [Goal(case.dragged, here, position_weight=weight) for weight in weights]
    goals = [*case.pins(), *pairs]
    problem = case.prepare(goals)
    home = problem.solve()
    pins = case.pins(wanted)
    for number, pin in enumerate(pins):
        problem.move(number, pin.position, pin.rotation)
    for number, target in enumerate(targets):
        problem.move(len(pins) + number, target)
    pulled = problem.solve()
    expected = share * np.linalg.norm(apart)
    missed = np.max(np.abs(pulled.position_error[-2:] - expected)) / np.linalg.norm(apart)
    rest = unrest(problem, pulled)
    for number, goal in enumerate(goals):
        problem.move(number, goal.position, goal.rotation)
    back = problem.solve()
    return {
        "share": float(missed),
        "unrest": rest,
        "missed": float(not (home.converged & back.converged)),
        "from home": max(largest_turn(case.start, home.pose), largest_turn(case.start, back.pose)),
    }


@property_over_seeds(5)
def test_a_contradiction_is_shared_by_weight_rests_and_is_forgotten(path: Path, root: str, seed: int) -> None:
    over_bodies(path, root, seed, contradiction, CONTRADICTION_BOUNDS)


UNREACHABLE_BOUNDS: Found = {"unrest": REST, "missed": 0.5, "from home": HOME}


def unreachable(case: Case) -> Found:
    """The dragged bone out of reach, on the level of the pins or below, as may be: whether it rests and recovers."""
    priority = int(case.rng.integers(2))
    drag = Goal(case.dragged, case.heads[case.dragged], priority=priority)
    goals = [*case.pins(), drag]
    problem = case.prepare(goals)
    problem.move(len(goals) - 1, case.out_of_reach(case.dragged))
    rest = unrest(problem, problem.solve())
    problem.move(len(goals) - 1, drag.position)
    back = problem.solve()
    return {"unrest": rest, "missed": float(not back.converged), "from home": largest_turn(case.start, back.pose)}


@property_over_seeds(5)
def test_a_body_that_cannot_reach_rests_and_recovers(path: Path, root: str, seed: int) -> None:
    over_bodies(path, root, seed, unreachable, UNREACHABLE_BOUNDS)


CREEP_BOUNDS: Found = {"jump": TURN + REST, "unmet": 0.5, "from home": HOME}


def creep(case: Case) -> Found:
    """A drag that creeps along a closed path: the largest turn of a joint in a tick, and the way home.

    A place of rest may end where the target is a step further. Then a drag goes to another one, by at most TURN a tick,
    and misses its target meanwhile; what settles begins at its reference, and is there at once.
    """
    path = case.path()
    if path is None and FULL:  # a snake, a body of two bones, a limb whose limits leave it next to no room
        pytest.skip(f"{case.body.name}: no closed path within reach was found")
    assert path is not None, f"{case.body.name}: no closed path within reach was found"
    pins = case.pins()
    problem = case.prepare([*pins, Goal(case.dragged, path[0], priority=1)], **DRAG)
    before = problem.solve().pose
    jump = unmet = 0.0
    for place in path[1:]:
        problem.move(len(pins), place)
        solution = problem.solve()
        turned = largest_turn(before, solution.pose)
        jump = max(jump, turned)
        unmet += float(not solution.converged and turned < TURN - 0.1)
        before = solution.pose
    for _ in range(STILL):
        previous, before = before, problem.relax().pose
        if largest_turn(previous, before) < REST:
            break
    met = {} if case.bounded() else {"unmet": unmet}
    return {"jump": jump, "from home": largest_turn(case.start, before), **met}


@property_over_seeds(2)
def test_a_creeping_target_makes_no_jump_and_its_closed_path_comes_home(path: Path, root: str, seed: int) -> None:
    over_bodies(path, root, seed, creep, CREEP_BOUNDS)


def test_the_sample_has_something_to_drag_on_every_rig() -> None:
    found: dict[str, Any] = {body.name: len(body.ends) for path in files() if path.is_file() for body in bodies(path)}
    assert len(found) >= len([path for path in files() if path.is_file()])
    assert max(found.values()) == ENDS
