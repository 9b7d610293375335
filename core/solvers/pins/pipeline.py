"""The stages of a solve: steps until goals are met, restarts where one is missed, and rest.

All functions take the problem and change nothing of it but its state: x, links, and what the last solve missed.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...pose import Pose
from ...rotation import Array
from ...solution import Solution
from . import numbers
from .one_frame import FrameSolver
from .progress import Progress

if TYPE_CHECKING:
    from .problem import Problem

_STIFF_ERROR: Final = 1.5  # tolerances; goals with larger errors are held back by stiff joints, or out of reach
_BUCKLED: Final = np.radians(20.0)  # smallest turn between two sides of a joint that are worth a rest each
_NEARLY_PULLED: Final = 0.1  # `NEARLY` for a root "pull"
_TICK_STEPS: Final = 40  # steps in a tick of a drag
_TICK_RESTS: Final = np.radians(2.0)  # largest change in a step after which a tick ends: the error left is its square
_TICK_REFITS: Final = 3  # `REFITS` in a tick of a drag; the next tick goes on
_REFITTED: Final = 1e-6  # largest change of an error by new links that does not count
_SWEEPS: Final = (3, 6, None)  # steps of a chunk after which the unfinished frames of all chunks go on together
_CHUNK: Final = 1024  # frames that take steps together
_STRIDES: Final = (6, 2, 1)  # of a motion, every 6th frame first; the frames of each finer stride from their neighbours
_FIRST_WAVE: Final = 8  # largest number of steps of the frames of the first stride
_WAVE: Final = 3  # the same of the other frames
_STRAGGLERS: Final = 8  # a wave ends where fewer than one frame in so many go on


def solve(problem: "Problem", near: bool = False, signs: Sequence[Array] = (), still: float = _TICK_RESTS) -> Solution:
    """See `Problem.solve`."""
    if problem.frame is not None:
        return _solve_frame(problem, problem.frame, still)
    if problem.dragged:
        progress = _tick(problem, problem.x, still)
    else:
        x = _home_or(problem, problem.x)
        progress, resting_still = _resting(problem, x)
        if len(resting_still) < problem.count:
            resting, progress = progress, problem.restarts.try_bends(_solve_flat(problem, x))
            progress = problem.restarts.try_others(problem.restarts.try_reference(progress, x))
            if problem.method.settle:
                progress = _rested(problem, _begun(problem, progress, x) if near else progress)
                for mirror in signs if len(problem.rows.levels) == 1 else ():
                    progress = _buckled(problem, progress, mirror)
            else:
                left = _strained(problem, progress)
                if len(left):
                    _put_at(problem, progress, x, left)
                    progress = _rested(problem, progress, left)
            progress.put(resting_still, resting[resting_still])
    if problem.start.scales is not None:
        progress = _refitted(problem, progress, still)
    problem.missed = ~problem.met(progress)
    problem.x = progress.x
    pose, errors = problem.pose_at(progress.x), problem.rows.errors_of_goals(progress.lengths)
    active = progress.active[:, problem.limit_rows.real]
    solution = _solution(problem, pose, *errors, progress.iterations, ~problem.missed, active)
    return solution.reshape(problem.batch_shape)


def relax(problem: "Problem") -> Solution:
    """See `Problem.relax`."""
    return solve(problem, still=float(numbers.NEWTON_RESTS))


# -- stages of a solve that settles, or of many frames ---------------------------------------------------------------


def _home_or(problem: "Problem", x: Array) -> Array:
    """Return x, but the reference in frames where it meets all goals: no other pose is nearer to it."""
    if not problem.method.settle:
        return x
    everything, home = np.arange(problem.count), np.zeros_like(x)
    at = problem.links.place(home)
    fits = problem.met(problem.rows.errors(at, everything))
    fits[problem.limit_rows.outside(problem.limit_rows.measure(at, everything), everything, numbers.LIMIT_SLACK)] = (
        False
    )
    return np.where(fits[:, None], home, x)


def _resting(problem: "Problem", x: Array) -> tuple[Progress, NDArray[np.int64]]:
    """Return frames that missed a goal in the last solve after Newton steps from x, and the indices of those that stay.

    Least-squares steps would first move them away, and perhaps to another local minimum.
    """
    progress = _unknown(problem, x)
    left = np.flatnonzero(problem.missed) if problem.method.settle else np.zeros(0, int)
    if not len(left):
        return progress, left
    _put_at(problem, progress, x, left)
    progress = _rested(problem, progress, left)
    stays = np.max(np.abs(progress.x[left] - x[left]), axis=1, initial=0.0) < numbers.STAYS
    return progress, left[stays & ~problem.met(progress[left])]


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
        for part in chunks(here):
            _go_on(problem, progress, part, part, most, fewest=max(1, len(part) // _STRAGGLERS))
        near[here] = (progress.lengths[here] <= numbers.NEARLY).all(axis=1)
    left = np.flatnonzero(~progress.done)
    if len(left):
        further = _solve_chunks(problem, progress.x[left], left)
        progress.put(left, replace(further, iterations=progress.iterations[left] + further.iterations))
    return progress


def _solve_chunks(problem: "Problem", x: Array, frames: NDArray[np.int64]) -> Progress:
    """Take least-squares steps from x in some frames; the unfinished frames of all chunks go on together."""
    progress = _unknown(problem, x)
    for steps in _SWEEPS:
        left = np.flatnonzero(~progress.done)
        if steps is None and problem.method.coherent:  # interpolation was no good start
            progress.x[left] = problem.x[frames[left]]
        for part in chunks(left):
            _go_on(problem, progress, part, frames[part], steps)
    return progress


def _begun(problem: "Problem", progress: Progress, x: Array) -> Progress:
    """Put frames that miss a goal back to x, where they began: least-squares steps end anywhere there."""
    missed = np.flatnonzero(~problem.met(progress))
    if len(missed):
        _put_at(problem, progress, x, missed)
    return progress


def _strained(problem: "Problem", progress: Progress) -> NDArray[np.int64]:
    """Return the frames that miss a goal, or meet one by more force than its level has."""
    frames = np.arange(problem.count)
    missed = ~problem.met(progress)
    if np.isfinite(problem.method.strength):
        missed |= problem.descent.strained(problem.links, progress.x, frames)
    return np.flatnonzero(missed)


def _rested(problem: "Problem", progress: Progress, frames: NDArray[np.int64] | None = None) -> Progress:
    """Bring some frames to rest, by default all."""
    if not problem.tree.degrees:
        return progress
    frames = np.arange(problem.count) if frames is None else frames
    rested = problem.rest(progress.x[frames], frames)
    progress.put(frames, replace(rested, iterations=progress.iterations[frames] + rested.iterations))
    return progress


def _buckled(problem: "Problem", progress: Progress, signs: Array) -> Progress:
    """Rest frames that miss a goal from the mirrored side, too, and keep the better pose; signs (J, 3)."""
    x = progress.x.copy()
    x[:, : problem.tree.turning] *= signs[problem.joint_bones].reshape(-1)
    bent = np.max(np.abs(x - progress.x), axis=1, initial=0.0) > _BUCKLED
    left = np.flatnonzero(bent & ~problem.met(progress))
    if not len(left):
        return progress
    other = _unknown(problem, progress.x)
    x[left] = problem.clamped(x[left], left)
    _put_at(problem, other, x, left)
    other = _rested(problem, other, left)
    progress.iterations[left] += other.iterations[left]
    now, before = (problem.descent.value(some.x[left], left, problem.links[left]) for some in (other, progress))
    better = left[now < before * (1.0 - numbers.LIMIT_SLACK)]
    progress.put(better, replace(other[better], iterations=progress.iterations[better]))
    return progress


def _refitted(problem: "Problem", progress: Progress, still: float) -> Progress:
    """Fit the links again and solve on until they agree: links of scaled bones are exact at one pose only."""
    iterations, everything = progress.iterations, np.arange(problem.count)
    enough = not problem.method.settle and still > numbers.NEWTON_RESTS  # that goals are met
    for _ in range(_TICK_REFITS if problem.dragged else numbers.REFITS):
        problem.links = problem.fit(progress.x)
        errors = problem.rows.errors(problem.links.place(progress.x), everything)
        same = np.abs(errors.lengths - progress.lengths).max(axis=1) < _REFITTED
        if np.all(same | (problem.met(errors) & enough)):
            break
        progress = _tick(problem, progress.x, still) if problem.dragged else _solve_flat(problem, progress.x)
        progress = _rested(problem, progress) if problem.method.settle else progress
        iterations = iterations + progress.iterations
    problem.links = problem.fit(progress.x)
    errors = problem.rows.errors(problem.links.place(progress.x), everything)
    return replace(progress, iterations=iterations, lengths=errors.lengths, costs=errors.costs)


# -- ticks of a drag -------------------------------------------------------------------------------------------------


def _solve_frame(problem: "Problem", frame: FrameSolver, still: float) -> Solution:
    """Solve one tick of a drag with `one_frame`."""
    used = frame.descend(min(_TICK_STEPS, problem.method.iterations), still)
    at = frame.at
    problem.x = at.x[None]
    rotations, translations = frame.places.channels(at)
    position_error, rotation_error, met = frame.places.errors(at)
    pose = Pose.trusted(rotations, translations, *problem.frame_kept)
    solution = _solution(
        problem, pose, position_error, rotation_error, np.array(used), np.array(met), frame.limits.active_rows(),
        problem.frame_given,
    )  # fmt: skip
    return solution.reshape(problem.batch_shape) if problem.batch_shape else solution


def _tick(problem: "Problem", x: Array, still: float) -> Progress:
    """Solve one tick of a drag: a few steps from where the last one ended."""
    frame = np.zeros(1, int)
    descent = problem.descent
    state = problem.state
    state = descent.begin(problem.links, x, frame) if state is None else descent.again(problem.links, state, frame)
    most = min(_TICK_STEPS, problem.method.iterations)
    state, steps = descent.descend(problem.links, state, frame, most, still)
    problem.state = state
    errors = problem.rows.errors(state.at, frame)
    return Progress(state.at.x, steps, state.active, np.ones(1, bool), errors.lengths, errors.costs)


# -- parts of stages -------------------------------------------------------------------------------------------------


def _go_on(
    problem: "Problem",
    progress: Progress,
    places: NDArray[np.int64],
    frames: NDArray[np.int64],
    most: int | None,
    fewest: int = 1,
) -> None:
    """Call `iterate` from some places of `progress`, which belong to these frames."""
    further = problem.iterate(progress.x[places], frames, most, fewest)
    progress.put(places, replace(further, iterations=progress.iterations[places] + further.iterations))


def _put_at(problem: "Problem", progress: Progress, x: Array, frames: NDArray[np.int64]) -> None:
    """Put some frames at x (B, D), with their errors there."""
    errors = problem.rows.errors(problem.links[frames].place(x[frames]), frames)
    progress.put(frames, replace(progress[frames], x=x[frames], lengths=errors.lengths, costs=errors.costs))


def _unknown(problem: "Problem", x: Array) -> Progress:
    """Return the progress of frames at x before their first step."""
    count, blocks, levels = len(x), len(problem.rows.owners), len(problem.rows.levels)
    return Progress(
        x.copy(),
        np.zeros(count, int),
        problem.limit_rows.nothing(count),
        np.zeros(count, bool),
        np.zeros((count, blocks)),
        np.zeros((count, levels)),
    )


def _solution(
    problem: "Problem", pose: Pose, position_error: Array, rotation_error: Array, iterations: NDArray[np.int64],
    converged: NDArray[np.bool_], active: NDArray[np.bool_], given: tuple[Pose, NDArray[np.bool_]] | None = None,
) -> Solution:  # fmt: skip
    """`given`: the pose before the solve and which of its bones were clamped, by default of all frames."""
    names = problem.limit_rows.names
    tolerances = problem.position_tolerance, problem.method.rotation_tolerance
    return Solution(
        problem.skeleton, problem.goals, pose, position_error, rotation_error, iterations, converged, *tolerances,
        *(given or (problem.given, problem.brought_in)), problem.method, names, active,
    )  # fmt: skip


def chunks(frames: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Split frames into chunks that are solved together."""
    return np.split(frames, range(_CHUNK, len(frames), _CHUNK)) if len(frames) else []


def between(knots: NDArray[np.int64], values: Array, places: NDArray[np.int64]) -> Array:
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
