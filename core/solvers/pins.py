"""Pins and drag: prioritised goals on any links of the tree (CN1420453; Nakamura and Yamane, TVCG 2003).

One step is the weighted, damped pseudo-inverse and the joint target of the source in one: the maximum of a Gaussian
prior about the reference pose, x ~ N(0, S), under the linearised goals J dx = e:

    dx = S J^T y - g x,     (J S J^T + d I) y = e + g J x

solved in the dual (rows of goals, never columns of joints). S is diagonal, sd^2 of each joint about its own axes and of
each root's shift; a stiffness is 1 / sd^2. g = 1 / (1 + m) and d = D (1 + m) with Levenberg-Marquardt's m, raised where
a step made things worse: an unreachable goal is approached without overshoot.

Priorities: two levels are one system in which the first has 1e-4 of the second's damping: what a lower level out of
reach can push a higher one is that share of its own clamped error, 0.05 mm, and the last steps take it back. More
levels are eliminated one after the other from the Gram matrix; the step of a level uses the damped inverse with D, the
projector onto its null space one with CUT: directions in which the level moves less than sqrt(CUT) per standard
deviation count as free, continuously.

Limits are an active set above all levels: a coordinate at its bound takes its direction out of the joint's S, is set to
the bound, and the step is solved again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..errors import CoreError
from ..goals import Goal
from ..limits import EulerBox, LimitGroup, clamp_rotations
from ..pose import Pose
from ..rotation import Array, to_matrix
from ..skeleton import Skeleton
from ..solution import Solution
from . import numbers
from .frame import FrameSolver
from .tree import Batch, Kinematics, Links, Tree

Root = Literal["free", "translate", "fixed"]


@dataclass(frozen=True)
class PinAndDrag:
    """The method for `solve`.

    limits              keep the skeleton's limits
    root                bones without parent: "free" turn and shift, "translate" shift only, "fixed"
    reference           the pose that joints stay near, by default the pose given to `solve`
    coherent            the batch is frames in time: neighbours give each other good starts
    position_tolerance  armature units (default 1e-4 of a 1.7 m human); rotation_tolerance radians
    settle              go on after the goals are met until the joints rest, too; a drag that will be continued need not
    iterations          at most so many steps
    """

    limits: bool = True
    root: Root = "free"
    reference: Pose | None = None
    coherent: bool = False
    position_tolerance: float | None = None
    rotation_tolerance: float = float(numbers.ROTATION_TOLERANCE)
    settle: bool = True
    iterations: int = 60

    def __post_init__(self) -> None:
        if self.root not in ("free", "translate", "fixed"):
            raise CoreError(f'root must be "free", "translate" or "fixed", not "{self.root}".')
        for name in ("position_tolerance", "rotation_tolerance"):
            value = getattr(self, name)
            if value is not None and not value > 0.0:
                raise CoreError(f"{name} must be a positive number, not {value}.")
        if self.iterations < 1:
            raise CoreError(f"iterations must be at least 1, not {self.iterations}.")

    def prepare(self, skeleton: Skeleton, pose: Pose, goals: Sequence[Goal]) -> "Problem":
        """Everything that stays while the targets move: for a drag, tick after tick."""
        return Problem(self, skeleton, pose, goals)

    def solve(self, skeleton: Skeleton, pose: Pose, goals: Sequence[Goal]) -> Solution:
        return self.prepare(skeleton, pose, goals).solve()


class Problem:
    """A skeleton with goals, ready to be solved again and again while targets move; keeps its state for warm starts.

    Not thread-safe. The batch is flat inside: B frames.
    """

    def __init__(self, method: PinAndDrag, skeleton: Skeleton, pose: Pose, goals: Sequence[Goal]) -> None:
        if not goals:
            raise CoreError("There is no goal to solve for.")
        self.method = method
        self.skeleton = skeleton
        self.goals = tuple(goals)
        self.tree = Tree(skeleton, self.goals, method.root)
        self.unit = skeleton.size
        tolerance = method.position_tolerance
        self.position_tolerance = numbers.POSITION_TOLERANCE * self.unit if tolerance is None else tolerance

        reference = pose if method.reference is None else method.reference
        self.batch_shape = _common_shape([pose.batch_shape, reference.batch_shape, *_goal_shapes(self.goals)])
        self.start = _flat(pose, self.batch_shape)
        self.reference = _flat(reference, self.batch_shape)
        self.count = int(np.prod(self.batch_shape, dtype=int))
        if not self.count:
            raise CoreError("There are no frames to solve.")
        self.frame: FrameSolver | None = None
        self._prepare_limits()
        self._prepare_prior()
        self._prepare_goals()
        self.x = self._state_of(self.start)
        self.links = self._fit(self.x) if pose.batch_shape or reference.batch_shape else self._fit_one()
        self._vector = self.x[0]
        rigid = self.start.scales is None
        if self.count == 1 and not method.settle and rigid and not len(self.tree.breaks):
            self.frame = FrameSolver(self)

    # -- what does not change ---------------------------------------------------------------------------------------

    def _prepare_limits(self) -> None:
        tree, skeleton = self.tree, self.skeleton
        joints = {int(tree.nodes[place]): order for order, place in enumerate(tree.joints)}
        groups: list[LimitGroup] = []
        locked = np.array([bone for bone in joints if skeleton.rotation_locks[bone].any()], int)
        if len(locked):  # locked angles stay what they are, limits or not
            modes = [skeleton.rotation_modes[int(bone)] for bone in locked]
            orders = [mode if mode in rotation.EULER_ORDERS else "XYZ" for mode in modes]
            own = [self.start.rotations[:, bone] for bone in locked]
            angles = np.stack([rotation.to_euler(q, order) for q, order in zip(own, orders, strict=True)], axis=1)
            held = skeleton.rotation_locks[locked]
            groups.append(EulerBox(locked, orders, np.where(held, angles, -np.inf), np.where(held, angles, np.inf)))
        if self.method.limits:
            for group in skeleton.limits:
                kept = np.array([i for i, bone in enumerate(group.bones.tolist()) if bone in joints], int)
                if len(kept):
                    groups.append(group.take(kept))
        if groups and self.method.limits:
            rotations, _ = clamp_rotations(tuple(groups), self.start.rotations)
            self.start = replace(self.start, rotations=rotations)
        self.limit_rows = _LimitRows(tuple(groups), joints, self.reference.rotations)

    def _prepare_prior(self) -> None:
        """S as (D,): variances of the joints about their own axes and of the roots' shifts."""
        tree = self.tree
        bones = tree.nodes[tree.joints]
        deviation = np.full((len(bones), 3), numbers.JOINT_DEVIATION)
        deviation[tree.parents[tree.joints] < 0] = numbers.ROOT_TURN_DEVIATION
        deviation *= 1.0 - self.skeleton.stiffness[bones]
        shifts = numbers.ROOT_SHIFT_DEVIATION * self.skeleton.translatable[tree.nodes[tree.roots]]
        self.variance: Array = np.square(np.concatenate([deviation.ravel(), shifts.ravel()]))

    def _prepare_goals(self) -> None:
        tree = self.tree
        edges = np.flatnonzero(np.diff(tree.priorities)) + 1
        bounds = [0, *edges.tolist(), tree.rows]
        self.levels = [slice(a, b) for a, b in pairwise(bounds)]
        priorities = tree.priorities[np.argsort(tree.order)][::3]
        rank = np.unique(priorities, return_inverse=True)[1].reshape(-1)
        shares = [numbers.LEVEL_DAMPING ** (len(self.levels) - 1.0 - level) for level in range(len(self.levels))]
        self.damping_shares = np.repeat(shares, np.diff(bounds)) if len(self.levels) <= 2 else None
        self.last_phase = numbers.TOP_LEVEL if len(self.levels) > 1 else numbers.EXACT
        self.goal_in_level = np.eye(len(self.levels))[rank]  # (G', L): which level a goal's position or rotation is in
        self.level_weights = numbers.LEVEL_WEIGHT ** np.arange(len(self.levels) - 1.0, -1.0, -1.0)
        self.target_points = np.empty((self.count, len(tree.point_nodes), 3))
        self.target_ends = np.empty((self.count, len(tree.end_nodes), 3, 3))
        self.scales = np.empty((self.count, tree.rows))
        self._point_of = {int(goal): place for place, goal in enumerate(tree.position_goals)}
        self._end_of = {int(goal): place for place, goal in enumerate(tree.rotation_goals)}
        for goal in range(len(self.goals)):
            self.retarget(goal, self.goals[goal])

    def retarget(self, index: int, goal: Goal) -> None:
        """Give goal `index` other targets and weights; its bone, point, kinds and priority stay as they were."""
        shape = self.batch_shape
        if index in self._point_of and goal.position is not None:
            place = self._point_of[index]
            self.target_points[:, place] = _flat_array(goal.position, shape) / self.unit
            self.scales[:, 3 * place : 3 * place + 3] = np.sqrt(_flat_array(goal.position_weight, shape, 0))[:, None]
        if index in self._end_of and goal.rotation is not None:
            place = self._end_of[index]
            self.target_ends[:, place] = to_matrix(_flat_array(goal.rotation, shape))
            start = 3 * (len(self._point_of) + place)
            weight = np.sqrt(_flat_array(goal.rotation_weight, shape, 0))
            self.scales[:, start : start + 3] = numbers.ROTATION_LENGTH * weight[:, None]
        self.goals = (*self.goals[:index], goal, *self.goals[index + 1 :])
        if self.frame is not None:
            self.frame.retarget()

    def move(self, index: int, position: Array | None = None, rotation: Array | None = None) -> None:
        """Give goal `index` other targets only: a tick of a drag. `solution.goals` keep the first targets."""
        for target in (position, rotation):
            if target is not None and not np.isfinite(target).all():
                raise CoreError(f'The target of "{self.goals[index].bone}" is not a finite number.')
        if position is not None:
            self.target_points[:, self._point_of[index]] = position / self.unit
        if rotation is not None:
            self.target_ends[:, self._end_of[index]] = to_matrix(rotation)

    # -- state and pose ---------------------------------------------------------------------------------------------

    def _state_of(self, pose: Pose) -> Array:
        self._joint_bones, self._root_bones = self.tree.nodes[self.tree.joints], self.tree.nodes[self.tree.roots]
        self._joint_references = self.reference.rotations[:, self._joint_bones]
        self._root_references = self.reference.translations[:, self._root_bones]
        turns = rotation.log(rotation.mul(rotation.inv(self._joint_references), pose.rotations[:, self._joint_bones]))
        shifts = (pose.translations[:, self._root_bones] - self._root_references) / self.unit
        return np.concatenate([turns.reshape(self.count, -1), shifts.reshape(self.count, -1)], axis=1)

    def _pose_at(self, x: Array) -> Pose:
        """The flat pose of the first frames: the reference's channels with x on top, all others as at the start."""
        turning = 3 * len(self.tree.joints)
        rotations = self.start.rotations[: len(x)].copy()
        rotations[:, self._joint_bones] = rotation.mul(
            self._joint_references[: len(x)], rotation.exp(x[:, :turning].reshape(len(x), -1, 3))
        )
        translations = self.start.translations[: len(x)]
        if x.shape[1] > turning:
            translations = translations.copy()
            shifts = x[:, turning:].reshape(len(x), -1, 3) * self.unit
            translations[:, self._root_bones] = self._root_references[: len(x)] + shifts
        others = (None if p is None else p[: len(x)] for p in (self.start.scales, self.start.driven_matrices))
        return Pose.trusted(rotations, translations, *others)

    def _fit(self, x: Array) -> Links:
        return self.tree.fit(self._pose_at(x), x)

    def _fit_one(self) -> Links:
        """`_fit` where all frames have the same pose."""
        one = self.tree.fit(self._pose_at(self.x[:1]), self.x[:1])
        return one.spread(self.count)

    # -- solving ----------------------------------------------------------------------------------------------------

    def solve(self) -> Solution:
        """Solve from where the last solve ended (at first, from the start pose)."""
        if self.frame is not None:
            return self._solve_frame(self.frame)
        found: _Found = self._solve_flat(self.x)
        errors: _Found | _Errors = found
        if self.start.scales is not None:  # rigid links are exact only where they were taken
            iterations = found.iterations
            for _ in range(numbers.REFITS):
                self.links = self._fit(found.x)
                if self._met(self._errors_of(self.links.place(found.x), slice(None))).all():
                    break
                found = self._solve_flat(found.x)
                iterations = iterations + found.iterations
            self.links = self._fit(found.x)
            found = replace(found, iterations=iterations)
            errors = self._errors_of(self.links.place(found.x), slice(None))
        self.x = found.x
        active = found.active[:, self.limit_rows.real]
        position_error, rotation_error = np.zeros((2, self.count, len(self.goals)))
        position_error[:, self.tree.position_goals] = errors.points * self.unit
        rotation_error[:, self.tree.rotation_goals] = errors.turns
        pose, met = self._pose_at(found.x), self._met(errors)
        solution = self._solution(pose, position_error, rotation_error, found.iterations, met, active)
        return solution.reshape(self.batch_shape)

    def _solve_frame(self, frame: FrameSolver) -> Solution:
        """`solve` of a rigid skeleton in one frame."""
        x, used, active = frame.iterate(self._vector)
        self._vector = x
        self.x = x[None]
        rotations, translations = frame.channels(x)
        position_error, rotation_error = frame.errors()
        driven = self.start.driven_matrices
        pose = Pose.trusted(rotations, translations, None, None if driven is None else driven[0])
        solution = self._solution(pose, position_error, rotation_error, np.array(used), np.array(frame.met()), active)
        return solution.reshape(self.batch_shape) if self.batch_shape else solution

    def _solution(
        self, pose: Pose, position_error: Array, rotation_error: Array, iterations: NDArray[np.int64],
        converged: NDArray[np.bool_], active: NDArray[np.bool_],
    ) -> Solution:  # fmt: skip
        names = self.limit_rows.names
        tolerances = self.position_tolerance, self.method.rotation_tolerance
        given = self.skeleton, self.goals
        return Solution(*given, pose, position_error, rotation_error, iterations, converged, *tolerances, names, active)

    def _solve_flat(self, x: Array) -> "_Found":
        frames = np.arange(self.count)
        if not (self.method.coherent and self.count > 2):
            return self._solve_chunks(x, frames)
        # coarse to fine: a few frames from their own start, the others from what was found on either side of them
        found = self._found(x)
        solved = np.zeros(0, int)
        for stride in numbers.STRIDES:
            if stride > 1 and stride >= self.count:
                continue
            knots = np.union1d(frames[::stride], frames[-1:])
            new = np.setdiff1d(knots, solved)
            begin = x[new]
            if len(solved):
                change = found.x[solved] - x[solved]
                after = np.searchsorted(solved, new)
                before = after - 1
                t = ((new - solved[before]) / (solved[after] - solved[before]))[:, None]
                begin += (1.0 - t) * change[before] + t * change[after]
            found.put(new, self._solve_chunks(begin, new))
            solved = knots
        return found

    def _solve_chunks(self, x: Array, frames: NDArray[np.int64]) -> "_Found":
        """Solve the given frames from their x.

        A step costs nearly the same for ten frames as for two hundred, so the stragglers of all chunks go on together.
        """
        found = self._found(x)
        for steps in numbers.SWEEPS:
            left = np.flatnonzero(~found.done)
            if steps is None and self.method.coherent:  # what lay between its neighbours was no good start
                found.x[left] = self.x[frames[left]]
            for part in np.split(left, range(numbers.CHUNK, len(left), numbers.CHUNK)):
                if len(part):
                    further = self._iterate(found.x[part], frames[part], steps)
                    found.put(part, replace(further, iterations=found.iterations[part] + further.iterations))
        return found

    def _found(self, x: Array) -> "_Found":
        """Frames at x of which nothing is known yet."""
        count, tree = len(x), self.tree
        return _Found(
            x.copy(),
            np.zeros(count, int),
            self.limit_rows.nothing(count),
            np.zeros(count, bool),
            np.zeros((count, len(tree.point_nodes))),
            np.zeros((count, len(tree.end_nodes))),
        )

    def _errors_of(self, at: Kinematics, frames: NDArray[np.int64] | slice) -> "_Errors":
        gap = self.target_points[frames] - at.points
        distance = np.sqrt(np.sum(gap * gap, axis=-1))
        turn = _rotation_vector(self.target_ends[frames] @ np.swapaxes(at.ends, -1, -2))
        angle = np.sqrt(np.sum(turn * turn, axis=-1))
        scales = self.scales[frames]
        lengths = np.concatenate([distance, angle], axis=1)
        # one factor for a level: goals that contradict each other keep their balance
        furthest = (lengths[:, :, None] * self.goal_in_level).max(axis=1)
        factor = (numbers.ERROR_CLAMP / np.maximum(furthest, numbers.ERROR_CLAMP)) @ self.goal_in_level.T
        wish = (np.concatenate([gap, turn], axis=1) * factor[..., None]).reshape(len(gap), -1)
        costs = (scales[:, ::3] * lengths) ** 2 @ self.goal_in_level / numbers.MERIT
        on = scales[:, ::3] > 0.0
        split = distance.shape[1]
        return _Errors((wish * scales)[:, self.tree.order], distance * on[:, :split], angle * on[:, split:], costs)

    def _far(self, errors: "_Errors", frames: NDArray[np.int64]) -> NDArray[np.int64]:
        """Frames in which everything that is wanted is far away, so that the root is best brought along first."""
        tree = self.tree
        if len(tree.roots) != 1 or not len(tree.point_nodes) or not (errors.points > numbers.FAR).any():
            return np.zeros(0, int)
        on = self.scales[frames, : 3 * len(tree.point_nodes) : 3] > 0.0
        nearest = np.min(np.where(on, errors.points, np.inf), axis=1)
        return np.flatnonzero(np.isfinite(nearest) & (nearest > numbers.FAR))

    def _way(self, links: Links, at: Kinematics, frames: NDArray[np.int64]) -> Array:
        """Shifts (B, 3) of the one root that bring it as far as the goals' points are away in the mean."""
        weight = self.scales[frames, : 3 * len(self.tree.point_nodes) : 3] > 0.0
        gap = self.target_points[frames] - at.points
        mean = np.sum(gap * weight[..., None], axis=1) / weight.sum(axis=1)[:, None]
        return (np.swapaxes(links.slide[:, 0], -1, -2) @ mean[..., None])[..., 0] * (self.variance[-3:] > 0.0)

    def _iterate(self, x: Array, frames: NDArray[np.int64], most: int | None) -> "_Found":
        """At `most` so many steps for the given frames of the batch, until they are met and settled."""
        method = self.method
        links = self.links[frames]
        x = x.copy()
        limits = self.limit_rows
        scales = self.scales[frames][:, self.tree.order]
        active = np.ones((len(x), limits.count), bool)  # those that are at a bound: see `begin`
        iterations = np.zeros(len(x), int)
        damping = np.zeros(len(x))
        phase = np.zeros(len(x), int)
        calm = np.zeros(len(x), int)
        at = links.place(x)
        errors = self._errors_of(at, frames)
        far = self._far(errors, frames)
        if len(far):
            x[far, -3:] += self._way(links[far], at[far], frames[far])
            at.put(far, links[far].place(x[far]))
            errors.put(far, self._errors_of(at[far], frames[far]))
        measured = limits.measure(at, frames)
        here = self._merit(errors, x, phase)
        met = self._met(errors)
        # frames that are just within tolerance take a step, too: beside corrected neighbours they would jitter
        alive = np.arange(len(x)) if method.settle or method.coherent else np.flatnonzero(~met)
        budget = np.full(len(x), method.iterations)  # steps left in the phase
        while len(alive) and (most is None or iterations.max() < most):
            whole = len(alive) == len(x)
            pick = slice(None) if whole else alive
            now = at if whole else at[alive]
            part = links if whole else links[alive]
            where = frames[alive]
            rows = errors.rows[pick]
            if phase.any() and len(self.levels) > 1:
                rows[phase[pick] == numbers.TOP_LEVEL, self.levels[0].stop :] = 0.0
            jacobian = part.jacobian(now, scales[pick])
            prior = (phase[pick] == numbers.NATURAL) / (1.0 + damping[pick])
            linear = limits.linearize(now, measured if whole else measured[alive], where)
            step, active[pick] = self._step(jacobian, rows, x[pick], linear, active[pick], damping[pick], prior)
            length = np.sqrt(np.sum(step * step, axis=1, keepdims=True))
            step = step * (numbers.STEP_CLAMP / np.maximum(length, numbers.STEP_CLAMP))
            trial = x[pick] + step
            there = part.place(trial)
            reached = limits.measure(there, where)
            drifted = limits.outside(reached, where, numbers.LIMIT_DRIFT)
            if len(drifted):
                trial[drifted] = limits.clamp(trial[drifted], reached[drifted], where[drifted])
                there.put(drifted, part[drifted].place(trial[drifted]))
                reached.put(drifted, limits.measure(there[drifted], where[drifted]))
            new = self._errors_of(there, where)
            merit = self._merit(new, trial, phase[pick])
            better = merit <= here[pick] * (1.0 + numbers.LIMIT_SLACK) + numbers.LIMIT_SLACK
            rest = np.max(np.abs(trial - x[pick]), axis=1, initial=0.0) < numbers.SETTLED
            raised = np.maximum(numbers.LM_START, damping[pick] * numbers.LM_GROWTH)
            lowered = np.where(damping[pick] > numbers.LM_START, damping[pick] / numbers.LM_GROWTH, 0.0)
            damping[pick] = np.where(better, lowered, raised)
            good = alive[better]
            x[good], here[good] = trial[better], merit[better]
            if whole and better.all():
                at, errors, measured = there, new, reached
            else:
                at.put(good, there[better])
                measured.put(good, reached[better])
                errors.put(good, new[better])
            iterations[alive] += 1
            met = self._met(errors)[alive]
            calm[alive] = np.where(rest, calm[alive] + 1, 0)
            budget[alive] -= 1
            patience = np.where(damping[alive] > 0.0, numbers.CALM_DAMPED, numbers.CALM)
            stuck = (calm[alive] >= patience) | (damping[alive] > numbers.LM_LIMIT) | (budget[alive] <= 0)
            done = met & ((rest & (damping[alive] == 0.0)) | stuck | (not method.settle))
            done |= stuck & (phase[alive] >= self.last_phase)
            next_phase = alive[stuck & ~done]
            if len(next_phase):
                phase[next_phase] += 1
                damping[next_phase], calm[next_phase], budget[next_phase] = 0.0, 0, numbers.FINAL_STEPS
                here[next_phase] = self._merit(errors[next_phase], x[next_phase], phase[next_phase])
            alive = alive[~done]
        drifted = limits.outside(measured, frames, numbers.LIMIT_SLACK)
        if len(drifted):
            x[drifted] = limits.clamp(x[drifted], measured[drifted], frames[drifted])
            errors.put(drifted, self._errors_of(links[drifted].place(x[drifted]), frames[drifted]))
        done = np.ones(len(x), bool)
        done[alive] = False
        return _Found(x, iterations, active, done, errors.points, errors.turns)

    def _merit(self, errors: "_Errors", x: Array, phase: NDArray[np.int64]) -> Array:
        """What a step must not raise, (B,)."""
        merit = errors.costs @ self.level_weights + (phase == numbers.NATURAL) * self._strain(x)
        if self.last_phase < numbers.TOP_LEVEL:
            return merit
        return np.where(phase == numbers.TOP_LEVEL, errors.costs[:, 0], merit)

    def _met(self, errors: "_Errors | _Found") -> NDArray[np.bool_]:
        near = np.all(errors.points <= self.position_tolerance / self.unit, axis=1)
        return near & np.all(errors.turns <= self.method.rotation_tolerance, axis=1)

    def _strain(self, x: Array) -> Array:
        """How far x is from the reference in standard deviations, squared, (B,)."""
        return (x * x) @ (1.0 / np.maximum(self.variance, numbers.DAMPING * numbers.DAMPING))

    def _step(
        self, jacobian: Array, rows: Array, x: Array, linear: "_LinearLimits", active: NDArray[np.bool_],
        damping: Array, prior: Array,
    ) -> tuple[Array, NDArray[np.bool_]]:  # fmt: skip
        """One step (B, D) and the limits that are active in it."""
        gain = prior[:, None]
        levelled = numbers.DAMPING * (1.0 + damping)
        wish = rows + gain * (jacobian @ x[..., None])[..., 0]
        if not self.limit_rows.count:
            weighted = self._weighted(jacobian)
            y = self.dual(weighted @ np.swapaxes(jacobian, -1, -2), wish, levelled)
            return (np.swapaxes(weighted, -1, -2) @ y[..., None])[..., 0] - gain * x, active
        active = linear.begin(active)
        step = np.empty_like(x)
        todo = np.arange(len(x))
        for turn in range(numbers.ACTIVE_SET_ROUNDS):
            everything = len(todo) == len(x)
            pick = slice(None) if everything else todo
            jac, own, share = jacobian[pick], x[pick], gain[pick]
            part = linear if everything else linear[todo]
            mean, covariance, held = part.condition(self.variance, own, share, active[pick])
            weighted = self._weighted(jac)
            for joint in held.tolist():
                columns = slice(3 * joint, 3 * joint + 3)
                weighted[:, :, columns] = jac[:, :, columns] @ covariance[:, joint]
            gap = wish[pick] - (jac @ mean[..., None])[..., 0]
            y = self.dual(weighted @ np.swapaxes(jac, -1, -2), gap, levelled[pick])
            z = mean + (np.swapaxes(weighted, -1, -2) @ y[..., None])[..., 0]
            step[pick] = z - share * own
            if turn == numbers.ACTIVE_SET_ROUNDS - 1:
                break
            force = (np.swapaxes(jac, -1, -2) @ y[..., None])[..., 0]
            changed = part.revise(active[pick], step[pick], z, force, self.variance, release=turn < 2)
            active[pick] = active[pick] ^ changed
            todo = todo[changed.any(axis=1)]
            if not len(todo):
                break
        return step, active

    def _weighted(self, jacobian: Array) -> Array:
        return np.multiply(jacobian, self.variance, out=self.tree.workspace("weighted", *jacobian.shape))

    def dual(self, gram: Array, wish: Array, damping: Array) -> Array:
        """y (B, M) of the dual system, level by level."""
        size = gram.shape[-1]
        eye = np.eye(size)
        if self.damping_shares is not None:
            damped = gram + damping[:, None, None] * (self.damping_shares * eye)
            return np.linalg.solve(damped, wish[..., None])[..., 0]
        y = np.zeros_like(wish)
        combine = np.broadcast_to(eye, gram.shape).copy()  # rows of the projected Jacobian in terms of the given ones
        residual = wish.copy()
        gram = gram.copy()
        for number, level in enumerate(self.levels):
            own = gram[:, level, level]
            here = eye[: own.shape[-1], : own.shape[-1]]
            z = np.linalg.solve(own + damping[:, None, None] * here, residual[:, level, None])
            y += (np.swapaxes(combine[:, level], -1, -2) @ z)[..., 0]
            if number == len(self.levels) - 1:
                break
            rest = slice(level.stop, size)
            across = gram[:, level, rest]
            residual[:, rest] -= (np.swapaxes(across, -1, -2) @ z)[..., 0]
            project = np.swapaxes(np.linalg.solve(own + numbers.CUT * here, across), -1, -2)
            gram[:, rest, rest] -= project @ across
            combine[:, rest] -= project @ combine[:, level]
        return y


@dataclass(frozen=True, eq=False)
class _Errors(Batch):
    """What the goals still want of B frames."""

    rows: Array  # (B, M) cut to the clamp by level, weighted, in order of priority
    points: Array  # (B, P) distances in units of size
    turns: Array  # (B, Q) angles in radians
    costs: Array  # (B, L) weighted squares of the unclamped errors, by level


@dataclass(frozen=True, eq=False)
class _Found(Batch):
    """How far B frames have got."""

    x: Array  # (B, D)
    iterations: NDArray[np.int64]  # (B,)
    active: NDArray[np.bool_]  # (B, K) limit rows
    done: NDArray[np.bool_]  # (B,)
    points: Array  # (B, P) distances at x, in units of size
    turns: Array  # (B, Q) angles at x, in radians


class _LimitRows:
    """All limit coordinates of a problem as rows of single joints: K rows, each bounded below and above."""

    def __init__(self, groups: tuple[LimitGroup, ...], joints: dict[int, int], reference: Array) -> None:
        self.groups = groups
        self.members = [np.array([joints[bone] for bone in group.bones.tolist()], int) for group in groups]
        self.member = np.concatenate(self.members) if groups else np.zeros(0, int)
        bones = np.concatenate([group.bones for group in groups]) if groups else np.zeros(0, int)
        self.base = to_matrix(reference[:, bones])
        frames = len(reference)
        empty = np.zeros((frames, 0))

        def by_frame(bounds: list[Array]) -> Array:
            flat = [np.broadcast_to(b, (frames, *b.shape[-2:])).reshape(frames, -1) for b in bounds]
            return np.concatenate(flat or [empty], axis=1)

        self.lower = by_frame([group.lower for group in groups])
        self.upper = by_frame([group.upper for group in groups])
        sizes = [group.lower.shape[-1] for group in groups]
        joint = [np.repeat(member, size) for member, size in zip(self.members, sizes, strict=True)]
        self.joint = np.concatenate(joint) if joint else np.zeros(0, int)
        self.count = len(self.joint)
        # slot: rows of one joint come one after the other, rows of one slot belong to different joints
        seen: dict[int, int] = {}
        slot = np.zeros(self.count, int)
        for row, owner in enumerate(self.joint.tolist()):
            slot[row] = seen.get(owner, 0)
            seen[owner] = slot[row] + 1
        self.real = ~(self.lower == self.upper).all(axis=0)  # limits, not locked channels
        names = [
            (bone, group.describe(i, c))
            for group, size in zip(groups, sizes, strict=True)
            for i, bone in enumerate(group.bones.tolist())
            for c in range(size)
        ]
        self.names = tuple(name for name, real in zip(names, self.real, strict=True) if real)
        self.slots = [np.flatnonzero(slot == s) for s in range(int(slot.max(initial=-1)) + 1)]

    def nothing(self, frames: int) -> NDArray[np.bool_]:
        """No active row; (B, K)."""
        return np.zeros((frames, self.count), bool)

    def _parts(self, frames: NDArray[np.int64]) -> Iterator[tuple[LimitGroup, NDArray[np.int64], slice, slice]]:
        """Each group with these frames' bounds, its joints, its places among the own rotations and its rows."""
        place = row = 0
        for group, member in zip(self.groups, self.members, strict=True):
            size = group.lower.shape[-1] * len(member)
            yield group.at_frames(frames), member, slice(place, place + len(member)), slice(row, row + size)
            place, row = place + len(member), row + size

    def measure(self, at: Kinematics, frames: NDArray[np.int64]) -> "_Measured":
        own = self.base[frames] @ at.turns[:, self.member]
        values = np.empty((len(own), self.count))
        for group, _, places, rows in self._parts(frames):
            values[:, rows] = group.coordinates(own[:, places]).reshape(len(own), -1)
        return _Measured(own, values)

    def outside(self, measured: "_Measured", frames: NDArray[np.int64], slack: float) -> NDArray[np.int64]:
        """Frames in which a coordinate is out of its bounds by more than `slack`."""
        beyond = (measured.values < self.lower[frames] - slack) | (measured.values > self.upper[frames] + slack)
        return np.flatnonzero(beyond.any(axis=1))

    def clamp(self, x: Array, measured: "_Measured", frames: NDArray[np.int64]) -> Array:
        """x with the joints that are outside their limits brought in."""
        result = x.copy()
        for group, member, places, _ in self._parts(frames):
            own = measured.own[:, places]
            inside = group.clamp(own)
            moved = np.any(inside != own, axis=(-1, -2))
            if moved.any():
                vectors = rotation.log(rotation.from_matrix(np.swapaxes(self.base[frames][:, places], -1, -2) @ inside))
                columns = (3 * member[:, None] + np.arange(3)).ravel()
                kept = result[:, columns].reshape(vectors.shape)
                result[:, columns] = np.where(moved[..., None], vectors, kept).reshape(len(x), -1)
        return result

    def linearize(self, at: Kinematics, measured: "_Measured", frames: NDArray[np.int64]) -> "_LinearLimits":
        slopes = np.empty((len(measured.values), self.count, 3))
        for group, member, places, rows in self._parts(frames):
            values = measured.values[:, rows].reshape(len(slopes), len(member), -1)
            slope = group.gradients(measured.own[:, places], values) @ at.rates[:, member]
            slopes[:, rows] = slope.reshape(len(slopes), -1, 3)
        return _LinearLimits(self, self.lower[frames] - measured.values, self.upper[frames] - measured.values, slopes)


@dataclass(frozen=True, eq=False)
class _Measured(Batch):
    """Limits at one x."""

    own: Array  # (B, L, 3, 3) own rotations of the limited joints, group after group
    values: Array  # (B, K) coordinates


@dataclass(frozen=True, eq=False)
class _LinearLimits:
    """Limit rows at one x: below <= slope . dx <= above."""

    rows: _LimitRows
    below: Array  # (B, K) at most 0 inside
    above: Array  # (B, K) at least 0 inside
    slopes: Array  # (B, K, 3)

    def __getitem__(self, index: NDArray[np.int64]) -> "_LinearLimits":
        return _LinearLimits(self.rows, self.below[index], self.above[index], self.slopes[index])

    def begin(self, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Rows that were active and still are at a bound, rows that are outside, and locked ones."""
        near = (self.above < numbers.LIMIT_NEAR) | (self.below > -numbers.LIMIT_NEAR)
        outside = (self.above < -numbers.LIMIT_SLACK) | (self.below > numbers.LIMIT_SLACK)
        return (active & near) | outside | (self.above - self.below < numbers.LIMIT_SLACK)

    def _goal(self) -> Array:
        """The way to the nearer bound, (B, K)."""
        return np.where(np.abs(self.above) < np.abs(self.below), self.above, self.below)

    def condition(
        self, variance: Array, x: Array, gain: Array, active: NDArray[np.bool_]
    ) -> tuple[Array, Array, NDArray[np.int64]]:
        """Prior of z = dx + gain x under the active rows: mean (B, D), covariance (B, R, 3, 3), held joints (h,)."""
        count = len(x)
        held = np.unique(self.rows.joint[active.any(axis=0)])
        mean = np.zeros_like(x)
        joints = int(self.rows.joint.max(initial=-1)) + 1
        covariance = np.zeros((count, joints, 3, 3))
        covariance[:, :, [0, 1, 2], [0, 1, 2]] = variance[: 3 * joints].reshape(joints, 3)
        centre = mean[:, : 3 * joints].reshape(count, joints, 3)
        turns = x[:, : 3 * joints].reshape(count, joints, 3)
        goal = self._goal()
        for slot in self.rows.slots:
            slot = slot[active[:, slot].any(axis=0)]
            if not len(slot):
                continue
            owner, slope, on = self.rows.joint[slot], self.slopes[:, slot], active[:, slot]
            spread = (covariance[:, owner] @ slope[..., None])[..., 0]
            size = np.sum(slope * spread, axis=-1)
            usable = on & (size > numbers.DAMPING * numbers.DAMPING)
            size = np.where(usable, size, 1.0)
            wanted = goal[:, slot] + np.sum(slope * turns[:, owner], axis=-1) * gain
            gap = np.where(usable, wanted - np.sum(slope * centre[:, owner], axis=-1), 0.0)
            centre[:, owner] += spread * (gap / size)[..., None]
            drop = spread[..., :, None] * spread[..., None, :] / size[..., None, None]
            covariance[:, owner] -= np.where(usable[..., None, None], drop, 0.0)
        mean[:, : 3 * joints] = centre.reshape(count, -1)
        return mean, covariance, held

    def revise(
        self, active: NDArray[np.bool_], step: Array, z: Array, force: Array, variance: Array, release: bool
    ) -> NDArray[np.bool_]:
        """Rows to switch: those that the step would cross, and those that it would leave of its own accord."""
        owner = self.rows.joint
        joints = int(owner.max()) + 1
        moved = np.sum(self.slopes * step[:, : 3 * joints].reshape(len(step), joints, 3)[:, owner], axis=-1)
        crossed = ~active & ((moved > self.above + numbers.LIMIT_SLACK) | (moved < self.below - numbers.LIMIT_SLACK))
        if not release or not active.any():
            return crossed
        # what the bounds push with, by joint: S^-1 z - J^T y = sum of slopes times multipliers
        safe = np.maximum(variance[: 3 * joints], numbers.DAMPING * numbers.DAMPING)
        push = (z[:, : 3 * joints] / safe - force[:, : 3 * joints]).reshape(len(z), joints, 3)
        multipliers = np.zeros_like(self.below)
        slots = self.rows.slots
        rows = np.full((joints, len(slots)), -1)
        for number, slot in enumerate(slots):
            rows[owner[slot], number] = slot
        held = np.unique(owner[active.any(axis=0)])
        mine = rows[held]  # (h, slots)
        on = active[:, mine] & (mine >= 0)
        slope = np.where(on[..., None], self.slopes[:, mine], 0.0)  # (B, h, slots, 3)
        normal = slope @ np.swapaxes(slope, -1, -2) + numbers.DAMPING * np.eye(len(slots))
        value = np.linalg.solve(normal, slope @ push[:, held, :, None])[..., 0]
        valid = mine >= 0
        multipliers[:, mine[valid]] = value[:, valid]
        upper = np.abs(self.above) < np.abs(self.below)
        free = active & (self.above - self.below > numbers.LIMIT_SLACK)
        leaving = np.where(upper, multipliers > numbers.RELEASE, multipliers < -numbers.RELEASE)
        return crossed | (free & leaving)


def _rotation_vector(matrices: Array) -> Array:
    """Rotation matrices (..., 3, 3) to rotation vectors (..., 3)."""
    vector = 0.5 * np.stack(
        [
            matrices[..., 2, 1] - matrices[..., 1, 2],
            matrices[..., 0, 2] - matrices[..., 2, 0],
            matrices[..., 1, 0] - matrices[..., 0, 1],
        ],
        axis=-1,
    )
    cosine = 0.5 * (matrices[..., 0, 0] + matrices[..., 1, 1] + matrices[..., 2, 2] - 1.0)
    if cosine.size and cosine.min() < numbers.NEAR_HALF_TURN:
        return rotation.log(rotation.from_matrix(matrices))
    sine = np.sqrt(np.sum(vector * vector, axis=-1))
    safe = np.maximum(sine, numbers.DAMPING)
    return vector * (np.where(sine < numbers.DAMPING, 1.0, np.arctan2(sine, cosine) / safe))[..., None]


def _goal_shapes(goals: Sequence[Goal]) -> list[tuple[int, ...]]:
    shapes: list[tuple[int, ...]] = []
    for goal in goals:
        shapes += [np.shape(part)[:-1] for part in (goal.position, goal.rotation) if part is not None]
        shapes += [np.shape(goal.position_weight), np.shape(goal.rotation_weight)]
    return shapes


def _common_shape(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise CoreError(f"The pose and the goals do not have the same frames: {sorted(set(shapes))}.") from error


def _flat_array(values: Array | float, batch_shape: tuple[int, ...], tail: int = 1) -> Array:
    """(*batch_shape, ...) -> (B, ...), broadcast."""
    array = np.asarray(values, float)
    rest = array.shape[array.ndim - tail :]
    return np.broadcast_to(array, (*batch_shape, *rest)).reshape(-1, *rest)


def _parts(pose: Pose) -> list[Array | None]:
    return [pose.rotations, pose.translations, pose.scales, pose.driven_matrices]


def _flat(pose: Pose, batch_shape: tuple[int, ...]) -> Pose:
    tails = (2, 2, 2, 3)
    flat = (None if p is None else _flat_array(p, batch_shape, t) for p, t in zip(_parts(pose), tails, strict=True))
    return Pose(*flat)  # type: ignore
