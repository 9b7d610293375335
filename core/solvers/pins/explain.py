"""Explain why a goal is missed: find the forces that balance its pull where the body rests.

At rest the pull of a missed goal, S^1/2 J^T f, is a sum of the forces of other goals and of limits against it, and what
these leave is held by the joints themselves; where it vanishes, only the lengths of the bones limit the reach.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...causes import Cause, Kind
from ...goals import Balance, Goal, Vector
from ...pose import forward
from ...rotation import Array, lengths
from ...solution import Reasons
from . import numbers
from .one_frame.places import Placed, Places
from .problem import Problem

_WORTH_SAYING: Final = 0.1  # least force that is reported, as a share of a pull; least weight beside the joint target
_MOST: Final = 0.5  # least share of a pull that the balance alone holds, from which it is told first, with what helps
_STRETCHED: Final = 0.999  # share of a chain's length from which it counts as straight
# By whether the chain is straight, and whether it ends at a pin.
_TOO_SHORT: Final = {
    (True, False): Kind.STRETCHED,
    (True, True): Kind.STRETCHED_FROM_PINNED,
    (False, False): Kind.TOO_FAR,
    (False, True): Kind.TOO_FAR_FROM_PINNED,
}


@dataclass(frozen=True)
class _Hold:
    """A goal or limit, or the joints themselves, with a force against a pull, as a share of that."""

    share: float
    cause: Cause


def explained(problem: Problem) -> Reasons:
    """Return what tells what keeps a goal from being met in the start pose, one frame; nothing if it is met."""
    x, links = problem.begin()
    places = Places(problem, links, 0)
    return partial(_reasons, problem, places, places.place(x[0]))


def _reasons(problem: Problem, places: Places, at: Placed, index: int) -> list[Cause]:
    """Return what keeps goal `index` from being met, the largest first."""
    rows, tree = problem.rows, problem.tree
    missing = places.aims.lengths(at)
    own = rows.owners == index
    unmet = own & (missing > problem.tolerances)
    if not unmet.any():
        return []
    if not (tree.degrees and problem.prior.stiff.any()):
        return [Cause(Kind.FIXED)]
    jacobian, raw = (some * problem.prior.spread for some in places.jacobian(at, places.rates(at)))
    block_of_row = rows.order // 3
    pulling = unmet[block_of_row]
    forces = (at.rows * places.aims.scales)[pulling]
    pull = jacobian[pulling].T @ forces
    size = float(lengths(pull))
    if not np.abs(jacobian[pulling]).any():
        return [Cause(Kind.FIXED)]
    stretched = _stretched(problem, index)
    # compare the pull with one as long across the bones
    most = lengths(jacobian[pulling]).max()
    if rows.blocks:  # the row of a distance may have no leverage: compare with its points
        most = max(most, lengths(raw).max(initial=0.0))
    leverage = float(most * lengths(forces))
    if size < numbers.CLOSE * leverage:  # square to all that it could turn
        return [cause for _, cause in stretched] or _without_leverage(problem, index)
    holds, left = _holds(problem, index, places, at, jacobian, block_of_row, pull)
    balancing = [(other, cause) for other, cause in stretched if other is None or _balances(problem, other, holds)]
    straight = [cause for _, cause in balancing]
    known = [_rival(problem, index, other) for other, _ in balancing if other is not None]
    firm = rows.priorities[problem.firm - 1]
    if not straight and np.isfinite(problem.settings.strength) and rows.goals[index].priority > firm:
        holds.append(_Hold(left, Cause(Kind.WEAK)))
    holds = [hold for hold in holds if hold.share > _WORTH_SAYING and hold.cause not in known]
    causes = [hold.cause for hold in sorted(holds, key=lambda hold: -hold.share)]
    too_far = [] if straight else [said for other, said in _stretched(problem, index, bent=True) if other is None]
    said = list(dict.fromkeys([*straight, *too_far, *causes]))
    if not said and rows.scales[0][np.repeat(own, 3)].max() < _WORTH_SAYING:
        return [Cause(Kind.WEIGHT)]
    return said or [Cause(Kind.CLOSER_POSE)]


def _without_leverage(problem: Problem, index: int) -> list[Cause]:
    """Return why a goal whose pull turns nothing is missed, though no chain is too short for it."""
    skeleton, goal = problem.skeleton, problem.goals[index]
    bones = {skeleton.index(bone) for bone in (goal.bone, getattr(goal, "other", None)) if bone is not None}
    rivals = [
        other for other, rival in enumerate(problem.goals)
        if other != index and rival.priority <= goal.priority and skeleton.index(rival.bone) in bones
    ]  # fmt: skip
    if rivals:
        return list(dict.fromkeys(_rival(problem, index, other) for other in rivals))
    chain = skeleton.ancestors(skeleton.index(goal.bone))
    stiff = [bone for bone in chain if skeleton.movable[bone] and (skeleton.stiffness[bone] == 1.0).all()]
    if stiff:
        return [Cause(Kind.STIFF, skeleton.names[bone]) for bone in stiff]
    if isinstance(goal, Goal) and _is_pushed(problem, goal):  # without limits and locks it would buckle
        return [Cause(Kind.STRAIGHT if problem.settings.limits else Kind.STRAIGHT_BY_LOCKS)]
    return [Cause(Kind.LENGTHS)]


def _holds(
    problem: Problem,
    index: int,
    places: Places,
    at: Placed,
    jacobian: Array,
    block_of_row: NDArray[np.int64],
    pull: Array,
) -> tuple[list[_Hold], float]:
    """Return the goals and limits whose forces balance the pull, and the share of it that they leave."""
    rows, limits = problem.rows, problem.limit_rows
    above, below = limits.upper[0] - at.values, at.values - limits.lower[0]
    bounds = np.flatnonzero(np.minimum(above, below) < numbers.NEARLY)  # locked ones always
    spread = problem.prior.spread
    first = rows.goals[index].priority
    limited = np.isfinite(problem.settings.strength)  # it may be less than that of later goals
    owner_of_row = rows.owners[block_of_row]
    others = [
        other for other, goal in enumerate(rows.goals)
        if other != index and (goal.priority <= first or limited) and (owner_of_row == other).any()
        and not _is_apart(problem, index, other)
    ]  # fmt: skip
    columns: list[Array] = [jacobian[owner_of_row == other].T for other in others]
    normals = np.zeros((len(pull), len(bounds)))
    for number, (row, slope) in enumerate(places.limits.slopes(at, places.rates(at), bounds.tolist()).items()):
        joint = int(limits.joint[row])
        part = slice(3 * joint, 3 * joint + 3)
        normals[part, number] = slope * spread[part]
    table = np.concatenate([*columns, normals], axis=1)
    if not table.any():
        return [], 1.0
    ridge = numbers.DAMPING * float(np.sum(table * table)) / table.shape[1]
    forces = least_squares(table, pull, ridge)
    size = float(lengths(pull))
    holds: list[_Hold] = []
    start = 0
    for other, column in zip(others, columns, strict=True):
        stop = start + column.shape[1]
        share, cause = float(lengths(column @ forces[start:stop])) / size, _rival(problem, index, other)
        if cause.kind is Kind.BALANCE:  # it and pins also hold each other: what would these leave without it?
            rest = np.delete(table, np.s_[start:stop], axis=1)
            share = float(lengths(pull - rest @ least_squares(rest, pull, ridge))) / size
            share, cause = (np.inf, cause) if share > _MOST else (share, Cause(Kind.BALANCED))
        holds.append(_Hold(share, cause))
        start = stop
    for number, row in enumerate(bounds.tolist()):
        force = float(forces[start + number])
        upper = above[row] < below[row]
        share = float(lengths(normals[:, number] * force)) / size
        if not limits.real[row]:
            node = problem.tree.joints[limits.joint[row]]
            name = problem.skeleton.names[int(problem.tree.nodes[node])]
            holds.append(_Hold(share, Cause(Kind.LOCK, name)))
        elif (force > 0.0) == upper:
            bone, axis = limits.names[int(np.flatnonzero(np.flatnonzero(limits.real) == row)[0])]
            name = problem.skeleton.names[int(bone)]
            holds.append(_Hold(share, Cause(Kind.FIRM, name) if limits.firm[row] else Cause(Kind.LIMIT, name, axis)))
    return holds, float(lengths(pull - table @ forces)) / size


def least_squares(table: Array, wanted: Array, ridge: float) -> Array:
    """Return c (n,) for which table (m, n) c is nearest to `wanted` (m,); ridge keeps c small."""
    return np.linalg.solve(table.T @ table + ridge * np.eye(table.shape[1]), table.T @ wanted)


def _rival(problem: Problem, index: int, other: int) -> Cause:
    goal, rival = problem.goals[index], problem.goals[other]
    name = problem.skeleton.names[problem.skeleton.index(rival.bone)]
    if isinstance(rival, Balance):
        return Cause(Kind.BALANCE)
    if problem.skeleton.index(goal.bone) == problem.skeleton.index(rival.bone):
        return Cause(Kind.ANOTHER_TARGET, name)
    return Cause(Kind.PINNED if rival.priority < goal.priority else Kind.PULLS, name)


def _balances(problem: Problem, other: int, holds: list[_Hold]) -> bool:
    name = problem.skeleton.names[problem.skeleton.index(problem.goals[other].bone)]
    return any(name == hold.cause.bone for hold in holds)


def _is_apart(problem: Problem, index: int, other: int) -> bool:
    """Return whether a bone that is held as a whole lies between two goals, which separates them."""
    skeleton, goal = problem.skeleton, problem.goals[index]
    chain, theirs = (skeleton.ancestors(skeleton.index(problem.goals[one].bone)) for one in (index, other))
    held = {
        skeleton.index(rival.bone) for rival in problem.goals
        if isinstance(rival, Goal) and rival.priority < goal.priority and rival.relative_to is None
        and rival.position is not None and rival.position_axes is None
        and rival.rotation is not None and rival.rotation_axes is None
    }  # fmt: skip
    shared = next((bone for bone in chain if bone in theirs), None)
    path = {*chain} if shared is None else {*chain[: chain.index(shared)], *theirs[: theirs.index(shared)], shared}
    return bool(path & held - {chain[0], theirs[0]})


def _stretched(problem: Problem, index: int, bent: bool = False) -> list[tuple[int | None, Cause]]:
    """Return other goals, or a fixed end (None), to which the chain from this goal is straight but too short.

    bent: the chain need not be straight.
    """

    def too_short(bone: int, pinned: bool = False) -> Cause:
        return Cause(_TOO_SHORT[not bent, pinned], skeleton.names[bone])

    skeleton, goal = problem.skeleton, problem.goals[index]
    if not isinstance(goal, Goal) or goal.position is None or goal.relative_to is not None:
        return []
    heads, turns = (array[0] for array in forward(skeleton, problem.start))
    here = skeleton.index(goal.bone)
    chain = skeleton.ancestors(here)
    root = _root(problem, chain)
    tip = _place_of(problem, goal.bone, goal.point, heads, turns)
    target = _target(problem, goal.position)
    found: list[tuple[int | None, Cause]] = []
    if problem.settings.root in ("translate", "fixed") or not skeleton.translatable[root].any():
        base = [here, *_turning(problem, chain)][-1]
        path = chain[: chain.index(base) + 1]
        if problem.settings.root != "translate" and _is_too_short([tip, *heads[path]], target, bent):
            found.append((None, too_short(base)))
    for other, rival in enumerate(problem.goals):
        if other == index or not isinstance(rival, Goal) or rival.position is None:
            continue
        there = skeleton.index(rival.bone)
        theirs = skeleton.ancestors(there)
        shared = next((bone for bone in chain if bone in theirs), None)
        if shared is None or here == there or (shared == there and rival.rotation is None):
            continue
        path = chain[: chain.index(shared)] + theirs[: theirs.index(shared)][::-1]
        end = _place_of(problem, rival.bone, rival.point, heads, turns)
        begin = heads[path[0]] if shared == here else tip  # hips above their feet: from the joint of the leg
        if shared == there:  # held as a whole, as hips by their rotation: from the joint below it
            end = heads[path[-1]]
        if _is_too_short([begin, *heads[path], end], target + begin - tip, bent):
            found.append((other, too_short(there, pinned=rival.priority < goal.priority)))
    return found


def _is_pushed(problem: Problem, goal: Goal) -> bool:
    """Return whether a target is nearer to the first joint of a chain than its end, and lengths allow the end there."""
    skeleton = problem.skeleton
    if goal.position is None or goal.relative_to is not None:
        return False
    heads, turns = (array[0] for array in forward(skeleton, problem.start))
    joints = _turning(problem, skeleton.ancestors(skeleton.index(goal.bone)))
    points = np.array([_place_of(problem, goal.bone, goal.point, heads, turns), *heads[joints]])
    parts = lengths(np.diff(points, axis=0))
    wanted, here = (float(lengths(end - points[-1])) for end in (_target(problem, goal.position), points[0]))
    return bool(2.0 * parts.max(initial=0.0) - parts.sum() <= wanted < here)


def _root(problem: Problem, chain: list[int]) -> int:
    return chain[-1] if problem.tree.root_bone is None else problem.tree.root_bone


def _turning(problem: Problem, chain: list[int]) -> list[int]:
    """Return the bones of a chain, given from its tip on, that turn, up to the root."""
    skeleton, root = problem.skeleton, _root(problem, chain)
    bones = [bone for bone in chain[: chain.index(root) + 1] if skeleton.movable[bone] and not skeleton.driven[bone]]
    still = bones[-1:] == [root] and problem.settings.root != "free" and len(bones) > 1
    return bones[:-1] if still else bones


def _target(problem: Problem, position: Array) -> Array:
    return np.broadcast_to(position, (*problem.batch_shape, 3)).reshape(-1, 3)[0]


def _place_of(problem: Problem, bone: str | int, point: Vector, heads: Array, turns: Array) -> Array:
    """Return the position (3,) of a point in a bone's frame, given all heads (J, 3) and rotations (J, 4)."""
    number = problem.skeleton.index(bone)
    return heads[number] + rotation.rotate(turns[number], point)


def _is_too_short(points: list[Array], target: Array, bent: bool) -> bool:
    """Return whether a chain of points, tip first, is too short for a target, and straight (or `bent`)."""
    straight = _STRETCHED * float(lengths(np.diff(np.array(points), axis=0)).sum())
    wanted, here = (float(lengths(points[-1] - end)) for end in (target, points[0]))
    return wanted > straight and (bent or here > straight)
