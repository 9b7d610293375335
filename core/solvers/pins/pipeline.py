"""A solve is a list of stages: each takes the problem and the state of its frames, and returns their state.

`STAGES` is the whole list; `TICK` and `STILL` are those of a drag.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...motion import blocks
from ...rotation import Array
from . import numbers, starts
from .many_frames import FramesSolver
from .one_frame import FrameSolver, Kept
from .problem import Problem, strengths_of
from .progress import Progress
from .strengths import GIVES
from .tree import Links

NEAR: Final = 0.1  # length of the bits in which far targets are approached

Frames = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class State:
    """What is known of a solve so far, and what the next one goes on from."""

    begun: Array  # x (B, D) where this solve began
    links: Links
    progress: Progress
    frame: FrameSolver | None  # of the only frame; where it is, with what forces, it knows itself
    frames: FramesSolver | None  # where they take least-squares steps

    @property
    def x(self) -> Array:
        """Return x (B, D)."""
        return self.progress.x


Stage = Callable[[Problem, State], State]


def begin(problem: Problem) -> State:
    """Return the state at the start pose."""
    x, links = problem.begin()
    frame = FrameSolver(problem, links, 0) if problem.count == 1 else None
    if frame is not None:
        frame.begin(x[0])
    frames = FramesSolver(problem, links) if problem.plain and frame is None and not problem.settles else None
    return State(x, links, _unknown(problem, x), frame, frames)


def run(problem: Problem, state: State, stages: "tuple[Stage, ...]") -> State:
    """Return the state after a solve that goes on from the last one."""
    state = State(state.x, state.links, _unknown(problem, state.x), state.frame, state.frames)
    for stage in stages:
        state = stage(problem, state)
    return state


# -- stages ----------------------------------------------------------------------------------------------------------


def start(problem: Problem, state: State) -> State:
    """Begin where the last solve ended; what settles at its reference, whatever was before."""
    x = np.zeros_like(state.x) if problem.settles else state.x
    return _at(state, replace(state.progress, x=_approached(problem, state.links, x)))


def steps(problem: Problem, state: State) -> State:
    """Take steps until goals are met, or, if the body settles, to far targets bit by bit and until it rests."""
    frames, most = np.arange(problem.count), problem.settings.iterations
    take = _approach if problem.settles else _go_on
    found = [take(problem, state, state.x[part], frames[part], most) for part in blocks(len(frames))]
    return _at(state, Progress.joined(found))


def other_starts(problem: Problem, state: State) -> State:
    """Try other starts in frames that miss a firm level, all at once, and go on from one that looks better.

    None where bones are too short for the level, unless the settings say how many: no pose meets it.
    """
    if not problem.settings.starts:
        return state
    progress = state.progress[np.arange(problem.count)]
    missed = starts.missed_levels(problem, progress)
    if np.isfinite(problem.settings.strength):
        missed[:, problem.firm :] = False  # the body resists more
    if problem.settings.restarts is None:
        missed = starts.with_long_bones(problem, state.links, progress.x, missed)
    left, first = np.flatnonzero(missed.any(axis=1)), np.argmax(missed, axis=1)
    for level in np.unique(first[left]).tolist():
        frames = left[first[left] == level]
        x, frames = _elsewhere(problem, level, progress.x[frames], frames)
        if not len(frames):
            continue
        further = _go_on(problem, state, x, frames, problem.settings.iterations)
        progress.iterations[frames] += further.iterations
        better = _better(problem, state, progress[frames], further, frames)
        used = progress.iterations[frames[better]]
        progress.put(frames[better], replace(further[better], iterations=used))
    return _at(state, progress)


def rest(problem: Problem, state: State) -> State:
    """Bring frames to rest: all that settle, else those that miss a goal or strain too much for one."""
    progress, settle = state.progress[np.arange(problem.count)], problem.settings.settle
    moving = ~progress.done if problem.settles else np.ones(problem.count, bool)
    left = np.flatnonzero(moving if settle else _strained(problem, state))
    if len(left):
        begun = state.x if settle else state.begun
        rested = _newton(problem, state, begun[left], left, numbers.NEWTON_STEPS)
        progress.put(left, replace(rested, iterations=progress.iterations[left] + rested.iterations))
    return _at(state, progress)


def refit(problem: Problem, state: State) -> State:
    """Fit the links again and go on until they agree: links of scaled bones are exact at one pose only."""
    return _refitted(problem, state, steps, met_is_enough=not problem.settings.settle)


def tick(problem: Problem, state: State) -> State:
    """Take a few steps of a drag from where the last tick ended."""
    return _tick(problem, state, float(numbers.CLOSE))


def unlock(problem: Problem, state: State) -> State:
    """Try joints bent that a limit holds the other way: from where they are, and a drag that misses at the reference.

    Where a leg is pushed in, or straight over a pinned foot, and its knee is locked, other joints have given way in its
    place: heels have sunk, or the trunk has bent.
    """
    frame = state.frame
    if frame is None or not _rests(problem, state):
        return state
    missed = problem.dragged and starts.missed_levels(problem, state.progress).any()
    for x in (None, np.zeros_like(state.x[0])) if missed else (None,):
        kept = frame.state()
        if frame.unlock(x):
            after = _of_frame(problem, frame, numbers.NEWTON_STEPS, float(numbers.CLOSE))
            state = _at(state, _nearer(frame, kept, state.progress, after))
    return state


def again(problem: Problem, state: State) -> State:
    """Come from the reference again where a goal of a drag is missed at rest that bones are long enough for."""
    frame, progress = state.frame, state.progress
    if frame is None or not _rests(problem, state):
        return state
    missed = starts.missed_levels(problem, progress)
    if not starts.with_long_bones(problem, state.links, progress.x, missed).any():
        return state
    kept = frame.state()
    after = _approach(problem, state, np.zeros_like(state.x), np.arange(1), numbers.NEWTON_STEPS)
    return _at(state, _nearer(frame, kept, progress, after))


def elsewhere(problem: Problem, state: State) -> State:
    """Try other starts of a drag at rest, until none is better: once more only where targets have moved."""
    frame = state.frame
    if frame is None or frame.tried or not _rests(problem, state):
        return state
    state = again(problem, unlock(problem, state))
    frame.tried = _rests(problem, state)
    return state


def refit_tick(problem: Problem, state: State) -> State:
    """Fit the links again, until goals are met in them."""
    return _refitted(problem, state, tick, met_is_enough=True)


def calm(problem: Problem, state: State) -> State:
    """Take steps of a drag under a still mouse."""
    return _tick(problem, state, float(numbers.NEWTON_RESTS))


def refit_calm(problem: Problem, state: State) -> State:
    """Fit the links again, until the body rests in them."""
    return _refitted(problem, state, calm, met_is_enough=False)


STAGES: tuple[Stage, ...] = (start, steps, other_starts, unlock, rest, refit)
TICK: tuple[Stage, ...] = (tick, refit_tick)
STILL: tuple[Stage, ...] = (calm, elsewhere, refit_calm)  # a tick in which no target moves

# -- steps -----------------------------------------------------------------------------------------------------------


def _tick(problem: Problem, state: State, still: float) -> State:
    """Take a few Newton steps from where the last solve ended, with its forces."""
    assert state.frame is not None
    return _at(state, _of_frame(problem, state.frame, problem.settings.iterations, still, state.begun[0]))


def _newton(
    problem: Problem, state: State, x: Array, frames: Frames, most: int, still: float = float(numbers.NEWTON_RESTS)
) -> Progress:
    """Return some frames after at most `most` Newton steps from x (n, D), until one turns every joint by less."""
    parts: list[Progress] = []
    for frame, begun in zip(frames.tolist(), x, strict=True):
        solver = _solver(problem, state, frame)
        solver.begin(begun)
        parts.append(_of_frame(problem, solver, most, still, begun))
    return Progress.joined(parts)


def _solver(problem: Problem, state: State, frame: int) -> FrameSolver:
    return state.frame or FrameSolver(problem, state.links, frame)


def _approach(problem: Problem, state: State, x: Array, frames: Frames, most: int) -> Progress:
    """Return some frames after steps from x (n, D), while limited targets come nearer bit by bit, and `most` to them.

    As in a drag: a target that is far away may take the first steps to a side from which the body does not come back.
    """
    parts: list[Progress] = []
    for frame, begun in zip(frames.tolist(), x, strict=True):
        solver, used = _solver(problem, state, frame), 0
        solver.begin(begun)
        at, limited = state.links[np.array([frame])].place(begun[None]), ~solver.objective.strength.firm
        for rows in problem.rows.on_the_way(at, frame, limited, NEAR):
            used += solver.descend(rows, 2, float(numbers.CLOSE))[0]
            if (solver.aims.lengths(solver.at) * (rows.block_in_level @ limited)).max() > NEAR:
                break  # it does not keep up
        part = _of_frame(problem, solver, most, float(numbers.NEWTON_RESTS))
        parts.append(replace(part, iterations=part.iterations + used))
    return Progress.joined(parts)


def _of_frame(problem: Problem, frame: FrameSolver, most: int, still: float, begun: Array | None = None) -> Progress:
    """Return the progress of a frame after its steps, see `FrameSolver.descend`."""
    used, done = frame.descend(problem.rows, most, still, begun)
    active, lengths = frame.limits.active_rows(frame.at), frame.aims.lengths(frame.at)
    return Progress(frame.at.x[None], np.array([used]), active[None], np.array([done]), lengths[None])


def _go_on(
    problem: Problem, state: State, x: Array, frames: Frames, most: int, still: float = float(numbers.NEWTON_RESTS)
) -> Progress:
    """Return some frames after at most `most` steps from x (n, D): of `many_frames` where it knows the problem."""
    if state.frames is not None:
        return state.frames.iterate(problem.rows, x, frames, most)
    return _newton(problem, state, x, frames, most, still)


# -- parts of stages -------------------------------------------------------------------------------------------------


def _at(state: State, progress: Progress) -> State:
    return State(state.begun, state.links, progress, state.frame, state.frames)


def _approached(problem: Problem, links: Links, x: Array) -> Array:
    """Return x (B, D) with the one root moved by the mean way to the targets where all of them are far away."""
    points, rows, tree = problem.rows.plain_points, problem.rows, problem.tree
    if len(tree.roots) != 1 or not points:
        return x
    at, on = links.place(x), rows.scales[:, : 3 * points : 3] > 0.0
    gap = rows.target_points - at.points[:, :points]
    nearest = np.min(np.where(on, rotation.lengths(gap), np.inf), axis=1)
    far = np.isfinite(nearest) & (nearest > numbers.FAR)
    mean = np.sum(gap * on[..., None], axis=1) / np.maximum(on.sum(axis=1), 1)[:, None]
    roots = slice(tree.turning, tree.moving)
    way = (np.swapaxes(links.slide[:, 0], -1, -2) @ mean[..., None])[..., 0] * (problem.prior.stiff[roots] > 0.0)
    x = x.copy()
    x[far, roots] += way[far]
    return x


def _elsewhere(problem: Problem, level: int, x: Array, frames: Frames) -> tuple[Array, Frames]:
    """Return starts (k, D) from where a level looks better than from x (n, D), and the frames (k,) that have one.

    A few least-squares steps of that level alone, from all starts of all frames at once, show it.
    """
    alone = starts.alone(problem, level)
    columns = starts.columns(problem.tree, alone.tree)
    drawn = starts.drawn(problem, x, frames)
    tried = np.tile(frames, len(drawn) // len(frames))
    _, links = alone.begin()
    solver, most = FramesSolver(alone, links) if alone.plain else None, problem.settings.iterations // 2
    elsewhere = State(drawn, links, _unknown(alone, drawn), None, solver)
    trial = _go_on(alone, elsewhere, drawn[:, columns], tried, most, float(numbers.CLOSE))
    drawn[:, columns] = trial.x
    worth = starts.worth(alone, links, trial.x, tried).reshape(-1, len(frames))
    better = np.flatnonzero(worth.min(axis=0) < starts.worth(alone, links, x[:, columns], frames))
    best = np.argmin(worth[:, better], axis=0) * len(frames) + better
    return drawn[best], frames[better]


def _rests(problem: Problem, state: State) -> bool:
    """Return whether a solve is over but for other starts: a drag under a still mouse goes on until it rests."""
    return not problem.dragged or bool(state.progress.done.all())


def _nearer(solver: FrameSolver, kept: Kept, before: Progress, after: Progress) -> Progress:
    """Return the progress of the frame after other steps, where its solver is, if it is better than before.

    Else the solver goes back to what was kept.
    """
    iterations = before.iterations + after.iterations
    if solver.objective.value_at(solver.at) < solver.objective.value_at(kept[0]):
        return replace(after, iterations=iterations, done=np.zeros(1, bool))  # what slips is not at rest yet
    solver.restore(kept)
    return replace(before, iterations=iterations)


def _refitted(problem: Problem, state: State, go_on: Stage, met_is_enough: bool) -> State:
    """See `refit`."""
    if problem.start.scales is None:
        return state
    everything, used = np.arange(problem.count), state.progress.iterations
    for _ in range(numbers.REFITS):
        before, state = state.progress.lengths, _fitted(problem, state, everything)
        lengths = state.progress.lengths
        same = np.abs(lengths - before).max(axis=1) < GIVES
        if np.all(same | (problem.met(lengths) & met_is_enough)):
            break
        state = go_on(problem, state)
        used = used + state.progress.iterations
    state = _fitted(problem, state, everything)
    return _at(state, replace(state.progress, iterations=used))


def _fitted(problem: Problem, state: State, frames: Frames) -> State:
    """Return the state in links that are exact where it is."""
    links = problem.fit(state.x)
    if state.frame is not None:
        state.frame.fit(links)
    lengths = problem.rows.lengths(links.place(state.x), frames)
    return replace(state, links=links, progress=replace(state.progress, lengths=lengths))


def _better(problem: Problem, state: State, before: Progress, after: Progress, frames: Frames) -> Frames:
    """Return which of the progress after is better than before, by what is minimised."""
    solvers = [_solver(problem, state, frame).objective for frame in frames.tolist()]
    worth = [[solver.value(x) for solver, x in zip(solvers, some.x, strict=True)] for some in (before, after)]
    return np.flatnonzero(np.less(worth[1], worth[0]))


def _strained(problem: Problem, state: State) -> NDArray[np.bool_]:
    """Return in which frames (B,) a goal is missed, or met by more force than its level has."""
    missed = ~problem.met(state.progress.lengths)
    if not np.isfinite(problem.settings.strength):
        return missed
    rows, prior, frames, at = problem.rows, problem.prior, np.arange(problem.count), state.links.place(state.x)
    jacobian = rows.jacobian(state.links, at, rows.ordered_scales(frames), frames) * prior.spread
    answers = np.linalg.solve(prior.precision, np.swapaxes(jacobian, -1, -2))
    gram = jacobian @ answers + numbers.DAMPING * np.eye(rows.rows)
    forces = np.linalg.solve(gram, jacobian @ (state.x * prior.stiff)[..., None])[..., 0]
    pulls = np.sqrt(np.stack([np.sum(forces[:, level] ** 2, axis=1) for level in rows.levels], axis=1))
    strength = strengths_of(problem)
    return missed | (pulls > np.array([strength(pull) for pull in pulls])).any(axis=1)


def _unknown(problem: Problem, x: Array) -> Progress:
    """Return the progress of frames at x before their first step."""
    count, blocks = len(x), len(problem.rows.owners)
    nothing = problem.limit_rows.nothing(count)
    return Progress(x.copy(), np.zeros(count, int), nothing, np.zeros(count, bool), np.zeros((count, blocks)))
