"""A solve is a list of stages: each takes the problem and the progress of its frames, and returns their progress.

`STAGES` is the whole list. Stages change nothing of the problem but the links that `refit` fits; what the next solve
goes on from is kept where the solution is made.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...pose import Pose
from ...rotation import Array
from ...solution import Solution
from . import numbers, starts
from .one_frame import FrameSolver
from .progress import Progress

if TYPE_CHECKING:
    from .problem import Problem

Frames = NDArray[np.int64]
Stage = Callable[["Problem", Progress], Progress]

_TICK_STEPS: Final = 40  # steps in a tick of a drag
_TICK_RESTS: Final = np.radians(2.0)  # largest change in a step after which a tick ends: the error left is its square
_TICK_REFITS: Final = 3  # `REFITS` in a tick of a drag; the next tick goes on
_REFITTED: Final = 1e-6  # largest change of an error by new links that does not count
_STEPS: Final = 40  # from a start to rest: what takes more is stuck, or crawls
_TRIAL: Final = 20  # steps that show whether a start is worth going on from
_NEWTON_CHUNK: Final = 64  # frames that take Newton steps together
_SWEEPS: Final = (3, 6, None)  # steps of a chunk after which the unfinished frames of all chunks go on together
_CHUNK: Final = 1024  # frames that take least-squares steps together
_STRIDES: Final = (6, 2, 1)  # of a motion, every 6th frame first; the frames of each finer stride from their neighbours
_FIRST_WAVE: Final = 8  # largest number of steps of the frames of the first stride
_WAVE: Final = 3  # the same of the other frames
_STRAGGLERS: Final = 8  # a wave ends where fewer than one frame in so many go on


def solve(problem: "Problem") -> Solution:
    """See `Problem.solve`."""
    return _through(problem, STAGES)


def relax(problem: "Problem") -> Solution:
    """See `Problem.relax`."""
    return _through(problem, RELAXING if problem.dragged else STAGES)


def _through(problem: "Problem", stages: "tuple[Stage, ...]") -> Solution:
    progress = _unknown(problem, problem.x)
    for stage in stages:
        progress = stage(problem, progress)
    return _solution(problem, progress)


# -- stages ----------------------------------------------------------------------------------------------------------


def start(problem: "Problem", progress: Progress) -> Progress:
    """Begin where the last solve ended; what settles at its reference, whatever was before."""
    if problem.dragged:
        return progress
    x = np.zeros_like(progress.x) if problem.settles else progress.x
    return replace(progress, x=_approached(problem, x))


def steps(problem: "Problem", progress: Progress) -> Progress:
    """Take steps until goals are met, or until the body rests if it settles."""
    if problem.dragged:
        return _tick(problem, progress, _TICK_RESTS)
    if problem.settles or problem.count == 1:
        return _newton(problem, progress.x, np.arange(problem.count), _STEPS)
    return _solve_flat(problem, progress.x)


def calm(problem: "Problem", progress: Progress) -> Progress:
    """Take steps under a still mouse."""
    return _tick(problem, progress, float(numbers.NEWTON_RESTS))


def other_starts(problem: "Problem", progress: Progress) -> Progress:
    """Try other starts in frames that miss a firm level: a few steps show whether one is worth going on from.

    One start where bones are too short for the level, unless the method says how many: others gain little.
    """
    if not problem.method.starts:
        return progress
    left = np.flatnonzero(starts.missed_levels(problem, progress).any(axis=1))
    for number, places in enumerate(starts.shares(problem)):
        if number == 1 and problem.method.restarts is None and len(left):
            missed = starts.missed_levels(problem, progress[left])
            left = left[(missed & ~starts.short_levels(problem, left)).any(axis=1)]
        if not len(left):
            break
        trial = _from(problem, starts.begun(problem, progress.x[left], left, places), left, _TRIAL)
        progress.iterations[left] += trial.iterations
        better = _better(problem, progress[left], trial, left)
        if len(better):
            further = _from(problem, trial.x[better], left[better], _STEPS)
            used = progress.iterations[left[better]] + further.iterations
            progress.put(left[better], replace(further, iterations=used))
        left = left[starts.missed_levels(problem, progress[left]).any(axis=1)]
    return progress


def rest(problem: "Problem", progress: Progress) -> Progress:
    """Bring frames to rest: all that settle, else those that miss a goal or strain too much for one."""
    if problem.dragged:
        return progress
    moving = ~progress.done if problem.settles else np.ones(problem.count, bool)
    left = np.flatnonzero(moving if problem.method.settle else _strained(problem, progress))
    if len(left):
        begun = progress.x if problem.method.settle else problem.x
        rested = _newton(problem, begun[left], left, numbers.NEWTON_STEPS)
        progress.put(left, replace(rested, iterations=progress.iterations[left] + rested.iterations))
    return progress


def refit(problem: "Problem", progress: Progress) -> Progress:
    """Fit the links again and go on until they agree: links of scaled bones are exact at one pose only."""
    return _refitted(problem, progress, steps, met_is_enough=not problem.method.settle)


def refit_calm(problem: "Problem", progress: Progress) -> Progress:
    """Do so until the body rests in them."""
    return _refitted(problem, progress, calm, met_is_enough=False)


STAGES: tuple[Stage, ...] = (start, steps, other_starts, rest, refit)
RELAXING: Final[tuple[Stage, ...]] = (start, calm, refit_calm)

# -- steps -----------------------------------------------------------------------------------------------------------


def _tick(problem: "Problem", progress: Progress, still: float) -> Progress:
    """Take a few Newton steps from where the last solve ended, with its forces."""
    most = min(_TICK_STEPS, problem.method.iterations)
    if problem.frame is not None:
        return _of_frame(problem.frame, most, still)
    one, descent, links = np.zeros(1, int), problem.descent, problem.links
    state = problem.state
    state = descent.begin(links, progress.x, one) if state is None else descent.again(links, state, one)
    problem.state, used = descent.descend(links, state, one, most, still)
    lengths = problem.rows.lengths(problem.state.at, one)
    return Progress(problem.state.at.x, used, problem.state.active, np.ones(1, bool), lengths)


def _newton(
    problem: "Problem", x: Array, frames: Frames, most: int, still: float = float(numbers.NEWTON_RESTS)
) -> Progress:
    """Return some frames after at most `most` Newton steps from x (n, D), until one turns every joint by less."""
    if problem.lean:
        parts: list[Progress] = []
        for frame, begin in zip(frames.tolist(), x, strict=True):
            solver = problem.frame or FrameSolver(problem, frame)
            solver.begin(begin)
            parts.append(_of_frame(solver, most, still))
        return Progress.joined(parts)
    descent, progress = problem.descent, _unknown(problem, x)
    for places in chunks(np.arange(len(frames)), _NEWTON_CHUNK):
        part = frames[places]
        links = problem.links[part]
        state, used = descent.descend(links, descent.begin(links, x[places], part), part, most, still)
        lengths = problem.rows.lengths(state.at, part)
        progress.put(places, Progress(state.at.x, used, state.active, used < most, lengths))
    return progress


def _of_frame(frame: FrameSolver, most: int, still: float) -> Progress:
    """Return the progress of a frame after its steps."""
    used, at = frame.descend(most, still), frame.at
    active, done = frame.limits.active_rows(), used < most
    return Progress(at.x[None], np.array([used]), active[None], np.array([done]), frame.places.lengths(at)[None])


def _from(problem: "Problem", x: Array, frames: Frames, most: int) -> Progress:
    """Return some frames after the steps that the problem takes from a start x (n, D)."""
    if problem.settles or problem.count == 1:
        return _newton(problem, x, frames, most)
    return _iterate(problem, x, frames, most)


def _iterate(problem: "Problem", x: Array, frames: Frames, most: int | None, fewest: int = 1) -> Progress:
    """Take at most `most` steps in some frames, from x (n, D) until their goals are met; see `frames`.

    Stop where the frames are done, or where fewer than `fewest` of them are not: a step costs nearly the same for few
    frames as for many. Problems that are not for `frames` take Newton steps.
    """
    if problem.frames is not None:
        return problem.frames.iterate(x, frames, most, fewest)
    still = numbers.NEARLY_SETTLED if problem.method.settle else numbers.SETTLED
    return _newton(problem, x, frames, most or problem.method.iterations, float(still))


def _solve_flat(problem: "Problem", x: Array) -> Progress:
    """Take least-squares steps in all frames; those of a motion from coarse to fine, each from its neighbours."""
    frames = np.arange(problem.count)
    if not (problem.method.coherent and problem.count > 2):
        return _solve_chunks(problem, x, frames)
    # frames that are not done soon go on together with those of the next stride
    progress, near = _unknown(problem, x), np.zeros(problem.count, bool)
    for stride in _STRIDES:
        knots = np.union1d(frames[::stride], frames[-1:])
        here, solved = knots[~progress.done[knots]], np.flatnonzero(near)
        new = here[~near[here]]
        progress.x[new] = x[new]
        if len(solved) > 1:
            progress.x[new] += between(solved, progress.x[solved] - x[solved], new)
        most = _WAVE if len(solved) else _FIRST_WAVE
        for part in chunks(here, _CHUNK):
            _go_on(problem, progress, part, part, most, fewest=max(1, len(part) // _STRAGGLERS))
        near[here] = (progress.lengths[here] <= numbers.NEARLY).all(axis=1)
    left = np.flatnonzero(~progress.done)
    if len(left):
        further = _solve_chunks(problem, progress.x[left], left)
        progress.put(left, replace(further, iterations=progress.iterations[left] + further.iterations))
    return progress


def _solve_chunks(problem: "Problem", x: Array, frames: Frames) -> Progress:
    """Take least-squares steps from x in some frames; the unfinished frames of all chunks go on together."""
    progress = _unknown(problem, x)
    for most in _SWEEPS:
        left = np.flatnonzero(~progress.done)
        if most is None and problem.method.coherent:  # interpolation was no good start
            progress.x[left] = problem.x[frames[left]]
        for part in chunks(left, _CHUNK):
            _go_on(problem, progress, part, frames[part], most)
    return progress


def _go_on(
    problem: "Problem", progress: Progress, places: Frames, frames: Frames, most: int | None, fewest: int = 1
) -> None:
    """Take further steps from some places of `progress`, which belong to these frames."""
    further = _iterate(problem, progress.x[places], frames, most, fewest)
    progress.put(places, replace(further, iterations=progress.iterations[places] + further.iterations))


# -- parts of stages -------------------------------------------------------------------------------------------------


def _approached(problem: "Problem", x: Array) -> Array:
    """Return x (B, D) with the one root moved by the mean way to the targets where all of them are far away."""
    points, rows, tree = problem.rows.plain_points, problem.rows, problem.tree
    if len(tree.roots) != 1 or not points:
        return x
    at, on = problem.links.place(x), rows.scales[:, : 3 * points : 3] > 0.0
    gap = rows.target_points - at.points[:, :points]
    nearest = np.min(np.where(on, rotation.lengths(gap), np.inf), axis=1)
    far = np.isfinite(nearest) & (nearest > numbers.FAR)
    mean = np.sum(gap * on[..., None], axis=1) / np.maximum(on.sum(axis=1), 1)[:, None]
    roots = slice(tree.turning, tree.moving)
    way = (np.swapaxes(problem.links.slide[:, 0], -1, -2) @ mean[..., None])[..., 0] * (
        problem.prior.stiff[roots] > 0.0
    )
    x = x.copy()
    x[far, roots] += way[far]
    return x


def _refitted(problem: "Problem", progress: Progress, go_on: Stage, met_is_enough: bool) -> Progress:
    """See `refit`."""
    if problem.start.scales is None:
        return progress
    everything = np.arange(problem.count)
    for _ in range(_TICK_REFITS if problem.dragged else numbers.REFITS):
        problem.links = problem.fit(progress.x)
        lengths = problem.rows.lengths(problem.links.place(progress.x), everything)
        same = np.abs(lengths - progress.lengths).max(axis=1) < _REFITTED
        if np.all(same | (problem.met(lengths) & met_is_enough)):
            break
        further = go_on(problem, progress)
        progress = replace(further, iterations=progress.iterations + further.iterations)
    problem.links = problem.fit(progress.x)
    return replace(progress, lengths=problem.rows.lengths(problem.links.place(progress.x), everything))


def _better(problem: "Problem", before: Progress, after: Progress, frames: Frames) -> Frames:
    """Return which of the progress after is better than before, by what is minimised."""
    links = problem.links[frames]
    worth, new = (problem.descent.value(some.x, frames, links) for some in (before, after))
    return np.flatnonzero(new < worth)


def _strained(problem: "Problem", progress: Progress) -> NDArray[np.bool_]:
    """Return in which frames (B,) a goal is missed, or met by more force than its level has."""
    missed = ~problem.met(progress.lengths)
    if np.isfinite(problem.method.strength):
        missed |= problem.descent.strained(problem.links, progress.x, np.arange(problem.count))
    return missed


def _unknown(problem: "Problem", x: Array) -> Progress:
    """Return the progress of frames at x before their first step."""
    count, blocks = len(x), len(problem.rows.owners)
    nothing = problem.limit_rows.nothing(count)
    return Progress(x.copy(), np.zeros(count, int), nothing, np.zeros(count, bool), np.zeros((count, blocks)))


def _solution(problem: "Problem", progress: Progress) -> Solution:
    """Return the solution, and keep what the next solve goes on from."""
    problem.x, frame = progress.x, problem.frame
    if problem.dragged and frame is not None:  # which has no batch axis
        at, places = frame.at, frame.places
        positions, rotations, all_met = places.errors(at)
        kept = (None if part is None else part[0] for part in (problem.start.scales, problem.start.driven_matrices))
        pose, met, one = Pose.trusted(*places.channels(at), *kept), np.array(all_met), 0
    else:
        positions, rotations = problem.rows.errors_of_goals(progress.lengths)
        pose, met, one = problem.pose_at(progress.x), problem.met(progress.lengths), slice(None)
    solution = Solution(
        problem.skeleton, problem.goals, pose, positions, rotations, progress.iterations[one], met,
        problem.position_tolerance, problem.method.rotation_tolerance, problem.given[one], problem.brought_in[one],
        problem.method, problem.limit_rows.names, progress.active[one, problem.limit_rows.real],
    )  # fmt: skip
    return solution if solution.iterations.shape == problem.batch_shape else solution.reshape(problem.batch_shape)


def chunks(frames: Frames, size: int) -> list[Frames]:
    """Split frames into chunks that are solved together."""
    return np.split(frames, range(size, len(frames), size)) if len(frames) else []


def between(knots: Frames, values: Array, places: Frames) -> Array:
    """Interpolate values (k, D) at two or more sorted knots (k,) to places (n,) by cubic Hermite splines."""
    slopes = np.gradient(values, knots, axis=0, edge_order=1)
    after = np.clip(np.searchsorted(knots, places), 1, len(knots) - 1)
    before = after - 1
    size = (knots[after] - knots[before])[:, None]
    t = np.clip((places - knots[before])[:, None] / size, 0.0, 1.0)
    s = 1.0 - t
    straight = s * values[before] + t * values[after]
    rise = (values[after] - values[before]) / size
    return straight + s * t * size * (s * (slopes[before] - rise) - t * (slopes[after] - rise))
