"""Contribution CCD: a chain reaches a target, and a list says how its joints share the rotation (CN108090951B).

Phase 1 goes through the list, once or several times: each entry turns its joint by a part of the rotation that brings
the effector nearest to the target, and never by more, so that no turn increases the distance. Phase 2 is plain CCD from
the tip to the base; it has little left to do, so that the shape of phase 1 remains. Where plain CCD stalls, least
squares solve the rest: by `finisher` for ball joints without limits, else by `bounded`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...causes import Cause, Kind
from ...defaults import JOINT_DEVIATION, POSITION_TOLERANCE, REFITS, ROOT_TURN_DEVIATION, ROTATION_TOLERANCE
from ...errors import CoreError
from ...goals import LARGEST, AnyGoal, Bone, Goal
from ...limits import clamp_rotations
from ...pose import Pose, forward
from ...rotation import Array
from ...skeleton import Skeleton, is_whole
from ...solution import Reasons, Solution
from ...steps import Progress, no_progress
from ..batches import batch_shape_of, flat_array, flat_pose
from ..pins import PinAndDrag
from .actuations import Actuation, checked_list
from .batch import ChainBatch
from .bounded import WELL_BENT, BoundedFinisher
from .limits import groups_of
from .one_frame import ChainFrame
from .path import Chain, effector_place, find_path, posed, read_chain
from .plan import BALL, CAREFUL, HANDED_ON, STALLED, VANISHES, WARY, Plan, Round, Step

Mode = Literal["larger", "smaller", "mixed"]
MODES: Final[tuple[Mode, ...]] = ("larger", "smaller", "mixed")
_TOGETHER: Final = 256  # frames that are finished at once, between looks at Esc


@dataclass(frozen=True, eq=False)
class ContributionCCD:
    """The method for `solve`, with one goal: a position for a point of a bone.

    actuations          the list; joints that are not in it do not turn
    base                the first bone of the chain, by default the effector's root. A bone that the effector does not
                        hang on is held: the chain is walked from it to the effector, and the root of the skeleton moves
                        so that the base does not (a hand on a table, and the hips are dragged)
    mode                an entry turns its joint by the "larger" or the "smaller" of its fraction of the full rotation
                        and its angle, at most by the full rotation. "larger" converges faster, "smaller" shares the
                        rotation more finely; "mixed" takes the larger in the first passes, the smaller in the others
    share               of the passes, rounded up, that are the first ones in "mixed"
    passes              of phase 1 through the list; 0: plain CCD only
    sweeps              of phase 2, at most; 0: phase 1 only
    finish              solve the rest by least squares where phase 2 stalls
    limits              keep the skeleton's limits: a turn ends where a limit begins
    successive          the batch is a motion, and each frame starts from the solution of the one before; else each
                        frame starts from its own pose
    position_tolerance  armature units (default 1e-4 of a 1.7 m human)
    bends               (J, 3) rotation vectors about the bones' own axes: how a straight joint bends where least
                        squares stall, too (`Anatomy.bends`)
    restarts            number of other poses from which least squares start where a target is missed that may be in
                        reach; 0 for drags, where an answer must not jump

    Raises CoreError if a field has another type or range.
    """

    actuations: tuple[Actuation, ...]
    base: Bone | None = None
    mode: Mode = "larger"
    share: float = 0.5
    passes: int = 1
    sweeps: int = 30
    finish: bool = True
    limits: bool = True
    successive: bool = False
    position_tolerance: float | None = None
    bends: Array | None = None
    restarts: int = 32

    def __post_init__(self) -> None:
        object.__setattr__(self, "actuations", checked_list(self.actuations))
        if self.mode not in MODES:
            raise CoreError(f'mode must be "larger", "smaller" or "mixed", not "{self.mode}".')
        for name in ("passes", "sweeps", "restarts"):
            value = getattr(self, name)
            if not is_whole(value) or value < 0:
                raise CoreError(f"{name} must be at least 0, not {value}.")
        if not _is_number(self.share) or not 0.0 <= self.share <= 1.0:
            raise CoreError(f"share must be between 0 and 1, not {self.share}.")
        for name in ("finish", "limits", "successive"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise CoreError(f"{name} must be True or False, not {getattr(self, name)!r}.")
        tolerance = self.position_tolerance
        if tolerance is not None and not (_is_number(tolerance) and 0.0 < tolerance < np.inf):
            raise CoreError(f"position_tolerance must be a positive number, not {tolerance}.")
        bends: object = self.bends
        if bends is not None and not (np.asarray(bends).dtype.kind in "iuf" and np.isfinite(bends).all()):  # pyright: ignore
            raise CoreError("bends must be finite numbers.")

    def prepare(self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> "ChainProblem":
        """Return the chain, ready for targets that move, as in a drag. Raises CoreError as `solve` does."""
        return ChainProblem(self, skeleton, pose, goals)

    def solve(
        self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal], progress: Progress = no_progress
    ) -> Solution:
        """Return the solution for pose and one goal (...).

        Raises CoreError if the goal is not one position, if the list does not fit the chain, or if the base cannot be
        held.
        """
        problem = self.prepare(skeleton, pose, goals)
        return problem.follow(progress) if self.successive else problem.solve(progress)

    def explain(self, skeleton: Skeleton, pose: Pose, goals: tuple[AnyGoal, ...]) -> Reasons:
        """Return what tells why the goal is missed."""
        problem = self.prepare(skeleton, pose, goals)
        return lambda index: problem.reasons()

    def larger_passes(self) -> tuple[bool, ...]:
        """Return for each pass whether the larger of fraction and angle counts."""
        first = {"larger": self.passes, "smaller": 0, "mixed": ceil(self.share * self.passes)}[self.mode]
        return tuple(number < first for number in range(self.passes))


class ChainProblem:
    """A chain in a posed skeleton, solved for one target after the other, each from the solution before.

    Not thread-safe. Inside, the batch is flat: B frames.
    """

    def __init__(self, method: ContributionCCD, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> None:
        self.method, self.skeleton = method, skeleton
        self.goal = _checked_goal(goals)
        self.path = find_path(skeleton, method.actuations, method.base, self.goal.bone)
        if pose.rotations.shape[-2] != len(skeleton):
            raise CoreError(f"The pose has {pose.rotations.shape[-2]} bones, the skeleton {len(skeleton)}.")
        self.batch_shape = batch_shape_of([self.goal], pose)
        self.count = int(np.prod(self.batch_shape, dtype=int))
        self.given = flat_pose(pose, self.batch_shape)
        tolerance = method.position_tolerance
        self.tolerance = POSITION_TOLERANCE * skeleton.size if tolerance is None else float(tolerance)
        self.targets = flat_array(self.goal.position, self.batch_shape).copy()  # pyright: ignore
        self.on = np.broadcast_to(self.goal.position_weight, self.batch_shape).reshape(-1) > 0.0
        self.start, self.brought_in = self._inside(self.given)
        bends = method.bends
        if bends is not None and np.shape(bends) != (len(skeleton), 3):
            raise CoreError(f"bends must have the shape {(len(skeleton), 3)}, not {np.shape(bends)}.")
        self._begin(self.start)

    def _inside(self, pose: Pose) -> tuple[Pose, NDArray[np.bool_]]:
        """Return the pose with the chain's joints brought inside their limits, and which bones (B, J) were outside."""
        turning = [bone for bone, axes in zip(self.path.bones, self.path.axes, strict=True) if axes]
        rotations, outside = clamp_rotations(groups_of(self.skeleton, turning), pose.rotations)
        outside &= self.on[:, None] & self.method.limits
        if not outside.any():
            return pose, outside
        own = np.where(outside[..., None], rotations, pose.rotations)[:, list(self.path.bones)]
        return posed(self.skeleton, pose, self.path, own), outside

    def restart(self) -> None:
        """Start from the given pose again."""
        if self.pose is self.start and self.chain.rigid:
            self.walk.restart()
        else:
            self._begin(self.start)

    def _begin(self, pose: Pose) -> None:
        """Read the chain from a pose, not turned yet."""
        self.pose = pose
        self.chain = read_chain(self.skeleton, pose, self.path, self.goal, self.method.limits)
        self.plan = _plan(self.method, self.skeleton, self.chain, self.tolerance)
        self.walk = ChainFrame(self.chain, self.plan) if self.count == 1 else ChainBatch(self.chain, self.plan)

    def move(self, position: Array) -> None:
        """Set another finite target (..., 3), else raise CoreError."""
        try:
            targets = np.broadcast_to(np.asarray(position, float), (*self.batch_shape, 3))
        except (TypeError, ValueError):
            raise CoreError(f'The target of "{self.goal.bone}" needs 3 numbers.') from None
        if not (np.abs(targets) <= LARGEST).all():
            raise CoreError(f'The target of "{self.goal.bone}" is not a finite number.')
        self.goal, self.targets = self.goal.at_targets(position=targets), targets.reshape(-1, 3)

    # -- solving ------------------------------------------------------------------------------------------------------

    def solve(self, progress: Progress = no_progress) -> Solution:
        """Return the solution from that of the last solve (at first, from the given pose)."""
        pose, errors, iterations, finished = self._walked(progress)
        # a chain that is not rigid is exact only in the pose that it was read from
        for _ in range(0 if self.chain.rigid else REFITS):
            if (errors <= self.tolerance).all():
                break
            self._begin(pose)
            pose, errors, more, again = self._walked()
            iterations, finished = iterations + more, finished | again
        return self._solution(pose, errors, iterations, finished)

    def follow(self, progress: Progress = no_progress) -> Solution:
        """Return the solution of a motion: each frame starts with the chain of the solution before, in its own pose."""
        one = replace(self.method, successive=False, restarts=0)
        solutions: list[Solution] = []
        own: Array | None = None
        for frame in range(self.count):
            progress(frame / self.count)
            pose = self.given[frame : frame + 1]
            if own is not None and self.on[frame]:
                pose = posed(self.skeleton, pose, self.path, own)
            goal = replace(self.goal, position=self.targets[[frame]], position_weight=float(self.on[frame]))
            solutions.append(one.solve(self.skeleton, pose, [goal]))
            own = solutions[-1].pose.rotations[:, list(self.path.bones)] if self.on[frame] else None

        def joined(part: Callable[[Solution], NDArray[Any]]) -> NDArray[Any]:
            return np.concatenate([part(solution) for solution in solutions])

        pose = replace(
            self.given,
            rotations=joined(lambda solution: solution.pose.rotations),
            translations=joined(lambda solution: solution.pose.translations),
        )
        self.brought_in = joined(lambda solution: solution.brought_in)
        iterations, errors = (joined(lambda s: s.iterations), joined(lambda s: s.position_error[:, 0]))
        finished = joined(lambda solution: np.asarray(solution.finished))
        return self._solution(pose, errors, iterations, finished)

    def _walked(self, progress: Progress = no_progress) -> tuple[Pose, Array, NDArray[np.int64], NDArray[np.bool_]]:
        """Make the rounds of the plan, and finish; return pose, errors, steps and where it was finished, (B,) each."""
        walk = self.walk
        if isinstance(walk, ChainBatch):
            iterations = walk.reach(self.targets, self.on)
            errors, finished, turns = walk.error.copy(), walk.finished, walk.turns
        else:
            x, y, z = self.targets[0].tolist()
            iterations = np.array([walk.reach((x, y, z)) if self.on[0] else 0])
            errors, finished = np.array([walk.error if self.on[0] else 0.0]), np.array([walk.finished])
            turns = walk.turns[None]
        own = self.chain.own_rotations(turns)
        missed = np.flatnonzero(errors > self.tolerance)
        if self.method.finish and not self.plan.finish and len(missed) and any(self.path.axes):
            finisher = BoundedFinisher(self.chain, self.plan, self.method.restarts, self.method.bends)
            for first in range(0, len(missed), _TOGETHER):
                progress(first / len(missed))
                some = missed[first : first + _TOGETHER]
                own[some], errors[some], steps = finisher.finish(own[some], self.targets[some], some)
                iterations[some] += steps
            finished = finished | np.isin(np.arange(self.count), missed)
            turns = self.chain.turns(own)
            walk.restart(turns if isinstance(walk, ChainBatch) else turns[0])
        pose = posed(self.skeleton, self.pose, self.path, own)
        return pose, errors if self.chain.rigid else self._errors(pose), iterations, finished

    def _errors(self, pose: Pose) -> Array:
        """Return the distances (B,) of effector and target in a pose; 0 where the goal is off."""
        place = effector_place(self.skeleton, self.goal, *forward(self.skeleton, pose))
        return np.where(self.on, rotation.lengths(place - self.targets), 0.0)

    def _least_squares(self, pose: Pose, frame: int) -> tuple[PinAndDrag, Skeleton, list[Goal]]:
        """Return one frame's problem for `PinAndDrag`: only the list's joints turn, about the list's axes."""
        skeleton, path = self.skeleton, self.path
        deviations = np.zeros((len(skeleton), 3))
        for bone, axes in zip(path.bones, path.axes, strict=True):
            deviations[bone, list(axes)] = JOINT_DEVIATION
        goal = replace(self.goal, position=self.targets[frame], position_weight=1.0)
        goals, root = [goal], np.zeros(len(skeleton), bool)
        if path.held >= 0:
            heads, turns = forward(skeleton, pose[frame])
            goals = [Goal(path.held, heads[path.held], turns[path.held]), replace(goal, priority=1)]
            root[skeleton.ancestors(path.held)[-1]] = True
            deviations[root] = ROOT_TURN_DEVIATION
        own, bends = pose.rotations[frame], self.method.bends
        axes = rotation.inv(own)  # the list's axes are in front of the bones' own rotations
        if bends is not None:
            bends = rotation.rotate(axes, np.where(deviations > 0.0, WELL_BENT * rotation.rotate(own, bends), 0.0))
        method = PinAndDrag(
            limits=self.method.limits,
            deviations=deviations,
            axes=axes,
            bends=bends,
            restarts=0,
            settle=False,
            position_tolerance=self.tolerance,
        )
        turning = root.copy()
        turning[[bone for bone, axes in zip(path.bones, path.axes, strict=True) if axes]] = True
        held = replace(
            skeleton,
            movable=turning,
            translatable=skeleton.translatable & root[:, None],
            stiffness=np.zeros((len(skeleton), 3)),
        )
        return method, held, goals

    def reasons(self) -> list[Cause]:
        """Return why the target is missed from the given pose: limits, the chain's length, straightness."""
        if not any(self.path.axes):
            return [Cause(Kind.LIST, self.skeleton.names[self.skeleton.index(self.goal.bone)])]
        method, skeleton, goals = self._least_squares(self.given, 0)
        return method.explain(skeleton, self.given[0], tuple(goals))(len(goals) - 1)

    def _solution(
        self, pose: Pose, errors: Array, iterations: NDArray[np.int64], finished: NDArray[np.bool_]
    ) -> Solution:
        return Solution(
            self.skeleton, (self.goal,), pose, errors[:, None], np.zeros((self.count, 1)), iterations,
            errors <= self.tolerance, self.tolerance, ROTATION_TOLERANCE, self.given, self.brought_in,
            self.method, finished=finished,
        ).reshape(self.batch_shape)  # fmt: skip


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _checked_goal(goals: Sequence[AnyGoal]) -> Goal:
    """Return the one goal; raises CoreError for what a chain cannot serve."""
    wanted: object = goals
    if not isinstance(wanted, Sequence) or len(goals) != 1 or not isinstance(goals[0], Goal):  # pyright: ignore
        raise CoreError("Contribution CCD solves one goal at the end of a chain. Give it one goal with a position.")
    goal = goals[0]
    for name in ("rotation", "position_axes", "axes", "relative_to", "velocity", "angular_velocity"):
        if getattr(goal, name) is not None:
            called = name.replace("_", " ")
            raise CoreError(f'Contribution CCD solves only the position of "{goal.bone}", without {called}.')
    return goal


def _plan(method: ContributionCCD, skeleton: Skeleton, chain: Chain, tolerance: float) -> Plan:
    path, limits = chain.path, chain.limits
    steps = [
        Step(node, "XYZ".index(one.axis), one.fraction, one.angle, node in limits)
        for one in method.actuations
        if (node := path.node(skeleton.index(one.bone))) >= 0
    ]
    free = [node not in limits and len(axes) == len("XYZ") for node, axes in enumerate(path.axes)]
    joints = [
        (node, axis) for node in reversed(range(len(free))) for axis in ((BALL,) if free[node] else path.axes[node])
    ]

    def sweep(part: float) -> Round:
        turns = (Step(node, axis, part if node in limits else 1.0, 0.0, node in limits) for node, axis in joints)
        return Round(tuple(turns), larger=True, sweep=True)

    count = 0 if method.finish else min(WARY, method.sweeps)
    careful = [CAREFUL + (1.0 - CAREFUL) * number / WARY for number in range(count)]
    balls = all(free) and len(path.stretches) == 1 and bool(free)
    length = float(rotation.lengths(chain.links[:, 1:]).sum(axis=1).max())
    passes = tuple(Round(tuple(steps), larger, False) for larger in method.larger_passes())
    return Plan(
        rounds=(*passes, *map(sweep, careful), *[sweep(1.0)] * (method.sweeps - len(careful))),
        balls=balls,
        finish=method.finish and balls,
        stalled=HANDED_ON if method.finish else STALLED,
        tolerance=tolerance,
        nothing=(VANISHES * length) ** 2,
    )
