"""The humanoid method: a few targets, and the whole body takes a natural, stable pose (CN106502395).

Hips go to their target or where the pull moves them; spine and neck turn about one common axis each; arms and legs bend
in closed form at the swivel that they had, and the pull takes on what they cannot reach; hands and feet turn to their
targets, and their twist is shared with the twist bones before them. The result is a function of the start pose and of
the targets, and continuous wherever these are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...body.figure import Figure
from ...body.roles import Roles
from ...causes import Cause, Kind
from ...defaults import POSITION_TOLERANCE, ROTATION_TOLERANCE
from ...errors import CoreError
from ...goals import AnyGoal, Bone, Goal
from ...pose import Pose
from ...rotation import Array
from ...skeleton import Skeleton
from ...solution import Reasons, Solution
from ...steps import Progress, no_progress
from ..batches import batch_shape_of, check_inputs, flat_array, flat_pose
from ..pins import PinAndDrag
from .closed import ClosedForm
from .errors import errors_of, problem_of_others
from .finish import finish
from .nodes import PosedNodes
from .targets import read_targets

# `rests` and `rounds` of `pull_trunk`: of a solve, and between two steps of a drag, where the next target is near
_RESTS: Final = 1e-7, 60
_DRAG_RESTS: Final = 1e-4, 12
_NEARLY_MET: Final = 0.01  # of the tolerances: goals missed by less are left: joints would turn far for little


@dataclass(frozen=True, eq=False)
class Humanoid:
    """The method for `solve` that knows the body: targets of hips, chest, head, hands and feet, elbows and knees.

    Goals are positions and rotations in armature space. A weight, at most 1, is the share of the way from the start
    pose to the target that is wanted. A bone that such a part carries (toes, fingers, jaw) may be named instead of the
    part. Goals of other parts and kinds are left to the finish; goals with velocities are refused.

    roles               the parts; by default, found in the skeleton
    pull                how hard an end that is out of reach pulls the body along, 0 to 1: one number, or by role
                        ("hand.L", "foot.R", "head", "chest"), 1 for those not named
    resist              how much a part of the trunk withstands the pull, 0 to 1, by "hips", "spine", "neck", "shoulder"
    reach               the share of its length to which a limb stretches before it pulls
    shares              how much a bone of spine or neck turns beside the others, 1 for those not named: as by its place
    swivel              the wanted swivel of a limb by name ("arm.L", "leg.R"), radians (...); by default, it is kept
    limits              keep the skeleton's limits; anatomical limits of elbows and knees are always kept
    finish              solve frames that still miss a goal by `PinAndDrag`
    strength            of `PinAndDrag` there: how hard goals below the first priority pull
    position_tolerance  armature units (default 1e-4 of a 1.7 m human)
    rotation_tolerance  radians
    """

    roles: Roles | None = None
    pull: float | Mapping[str, float] = 1.0
    resist: Mapping[str, float] = field(default_factory=dict[str, float])
    shares: Mapping[Bone, float] = field(default_factory=dict[Bone, float])
    reach: float = 0.95
    swivel: Mapping[str, Array | float] = field(default_factory=dict[str, "Array | float"])
    limits: bool = True
    finish: bool = True
    strength: float = np.inf
    position_tolerance: float | None = None
    rotation_tolerance: float = float(ROTATION_TOLERANCE)

    def solve(
        self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal], progress: Progress = no_progress
    ) -> Solution:
        """Return the solution for pose and goals (...).

        Raises CoreError if there is no humanoid body, if a goal cannot be served, or if a setting names no known part.
        """
        progress(0.0)
        solution = _Problem(self, skeleton, pose, goals).solve(_RESTS)
        progress(1.0)
        return solution

    def prepare(self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> "HumanoidDrag":
        """Return a drag: the goals of one pose move step by step. Raises CoreError as `solve` does."""
        return HumanoidDrag(self, skeleton, pose, goals)

    def explain(self, skeleton: Skeleton, pose: Pose, goals: tuple[AnyGoal, ...]) -> Reasons:
        """Return what tells why a goal is missed."""
        return partial(self._reasons, skeleton, pose, goals)

    def _reasons(self, skeleton: Skeleton, pose: Pose, goals: tuple[AnyGoal, ...], index: int) -> list[Cause]:
        """Return why a goal is missed: settings that hold parts of the body, then the reasons of `PinAndDrag`."""
        figure = Figure(skeleton, self.roles)
        said, still = self._kept(figure, goals[index])
        movable = skeleton.movable & ~np.isin(np.arange(len(skeleton)), list(still))
        fixed = figure.root in still
        method = PinAndDrag(limits=self.limits, root="fixed" if fixed else "free", root_bone=figure.root)
        found = method.explain(replace(skeleton, movable=movable), pose, goals)(index)
        return [*said, *found] if found else []

    def _kept(self, figure: Figure, goal: AnyGoal) -> tuple[list[Cause], set[int]]:
        """Return settings that hold parts of the body, for one goal, and the bones of these parts."""
        skeleton, still = figure.skeleton, set[int]()
        bone = skeleton.index(goal.bone)
        chain, row = skeleton.ancestors(bone), figure.anchors[bone]
        node = int(figure.nodes[row]) if row >= 0 else -1
        node = next((limb.end for limb in figure.limbs.values() if limb.lower == node), node)
        said: list[Cause] = []
        if node in figure.ends and isinstance(goal, Goal) and goal.position is not None:
            pull = self.pull_of(figure.ends[node][0])
            if pull < 1.0:
                said.append(Cause(Kind.PULL, "", f"{pull:g}"))
            if pull <= 0.0:
                own = set(figure.ends[node][1])
                still = {bone for bone in range(len(skeleton)) if not own.intersection(skeleton.ancestors(bone))}
        for part, bones in figure.trunk.items():
            if self.gives(part) <= 0.0 and (part == "hips" or set(bones).intersection(chain)):
                said.append(Cause(Kind.RESIST, "", part))
                still.update(bones if part != "hips" else (*bones, figure.root))
        return said, still

    def pull_of(self, role: str) -> float:
        """Return how hard an end pulls, by its role."""
        return float(self.pull if not isinstance(self.pull, Mapping) else self.pull.get(role, 1.0))

    def gives(self, part: str) -> float:
        """Return how far a part of the trunk goes along with the pull: 1 minus how much it resists."""
        return 1.0 - float(np.clip(self.resist.get(part, 0.0), 0.0, 1.0))


class HumanoidDrag:
    """Goals that move, for one pose. Every solution starts from this pose, so that a closed path ends in it.

    `solve` ends when the trunk still moves by a tenth of a millimetre of a human, and its finish goes on from the last
    one; `relax` goes on to where `Humanoid.solve` ends. Closed forms that started from the last solution would be
    faster, but a body that has been pulled along would not go back.
    """

    def __init__(self, method: Humanoid, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> None:
        self.method, self.skeleton, self.pose, self.goals = method, skeleton, pose, list(goals)
        self._last: Pose | None = None
        self._before = _Problem(method, skeleton, pose, goals)  # refuses what the method cannot serve

    def move(self, index: int, position: Array | None = None, turn: Array | None = None) -> None:
        """Give a goal another position (3,), or rotation (4,), or both; raises CoreError if it has none."""
        changes = {name: value for name, value in (("position", position), ("rotation", turn)) if value is not None}
        goal: Any = self.goals[index]
        for name in changes:
            if getattr(goal, name, None) is None:
                raise CoreError(f'The target of "{goal.bone}" has no {name} to move.')
        self.goals[index] = replace(goal, **changes)

    def solve(self) -> Solution:
        """Return the solution for the present goals, quickly."""
        solution = self._problem().solve(_DRAG_RESTS, self._last)
        self._last = solution.pose[None]
        return solution

    def relax(self) -> Solution:
        """Return the solution for the present goals, as `Humanoid.solve` does."""
        return self._problem().solve(_RESTS)

    def _problem(self) -> "_Problem":
        self._before = _Problem(self.method, self.skeleton, self.pose, self.goals, self._before)
        return self._before


class _Problem:
    """One solve of B flat frames; its nodes change during the solve."""

    def __init__(
        self, method: Humanoid, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal],
        before: "_Problem | None" = None,
    ) -> None:  # fmt: skip
        check_inputs(skeleton, pose, goals)
        self.method, self.skeleton, self.goals = method, skeleton, tuple(goals)
        self.figure = Figure(skeleton, method.roles) if before is None else before.figure
        tolerance = method.position_tolerance
        self.tolerance = POSITION_TOLERANCE * skeleton.size if tolerance is None else tolerance
        self.batch_shape = batch_shape_of(goals, pose)
        self.start = flat_pose(pose, self.batch_shape)
        self.nodes = PosedNodes(self.figure, self.start)
        self.targets = read_targets(self.nodes, goals, self.batch_shape, method.finish)
        unknown = [goal for goal, known in zip(goals, self.targets.known, strict=True) if not known]
        if before is not None and unknown == before.unknown:  # the very same goals: those of a drag that have not moved
            self.others = before.others
        else:
            self.others = problem_of_others(skeleton, self.targets, self.start)
        self.unknown = unknown
        self._check_names()
        self.swivels = {name: flat_array(value, self.batch_shape, 0) for name, value in method.swivel.items()}
        shares = {skeleton.index(bone): float(share) for bone, share in method.shares.items()}
        self._check_shares(shares)
        own = (group for group in skeleton.limits if method.limits or group.firm)
        limits = (*own, *self.figure.anatomy.limits)
        pulls = {node: method.pull_of(role) for node, (role, _) in self.figure.ends.items()}
        gives = {part: method.gives(part) for part in self.figure.trunk}
        self.closed = ClosedForm(self.figure, pulls, gives, method.reach, shares, limits)

    def _check_names(self) -> None:
        method, limbs = self.method, self.figure.limbs
        ends = ("chest", "head", *(self.figure.ends[limb.end][0] for limb in limbs.values()))
        pulls: Mapping[str, float] = method.pull if isinstance(method.pull, Mapping) else {}
        named: list[tuple[str, list[str], tuple[str, ...]]] = [
            ("pull", [*pulls], ends),
            ("resist", [*method.resist], tuple(self.figure.trunk)),
            ("swivel", [*method.swivel], tuple(limbs)),
        ]
        for setting, given, known in named:
            for name in given:
                if name not in known:
                    raise CoreError(f'"{name}" is not a part that {setting} can have. It can have {", ".join(known)}.')

    def _check_shares(self, shares: Mapping[int, float]) -> None:
        figure, names = self.figure, self.skeleton.names
        for bone, share in shares.items():
            if bone not in (*figure.spine, *figure.neck):
                raise CoreError(f'shares: "{names[bone]}" is not a bone of the spine or the neck.')
            if not (share >= 0.0 and np.isfinite(share)):
                raise CoreError(f'shares: that of "{names[bone]}" must be at least 0, not {share}.')
        for part, column in (("spine", figure.spine), ("neck", figure.neck)):
            if column and not any(shares.get(bone, 1.0) > 0.0 for bone in column):
                raise CoreError(f"shares: at least one bone of the {part} must rotate.")

    def solve(self, rests: tuple[float, int], near: Pose | None = None) -> Solution:
        """Return the solution. `rests` is `rests` and `rounds` of `pull_trunk`, `near` as in `finish`."""
        start, targets, closed = self.start, self.targets, self.closed
        errors = errors_of(self.skeleton, targets, self.others, start)
        # frames that meet their goals do not change at all, not even by rounding
        stays = self._met(*errors, share=_NEARLY_MET) & (not self.method.swivel)
        if stays.all():
            return self._solution(start, *errors, np.zeros(len(stays), int))
        pose = closed.pose(self.nodes, targets, self.swivels, *rests)
        # a Pose normalizes its rotations when it is made: one call for both parts would change the last bits
        pose = replace(pose, rotations=np.where(stays[:, None, None], start.rotations, pose.rotations))
        pose = replace(pose, translations=np.where(stays[:, None, None], start.translations, pose.translations))
        used = np.ones(len(stays), int)
        errors = errors_of(self.skeleton, targets, self.others, pose)
        missed = np.flatnonzero(~self._met(*errors, share=_NEARLY_MET))
        if self.method.finish and len(missed):
            tolerances = {
                "position_tolerance": self.method.position_tolerance,
                "rotation_tolerance": self.method.rotation_tolerance,
            }
            reference = closed.at_edge(start, targets, self.swivels, missed)
            pose, used[missed] = finish(
                closed, targets, pose, missed, reference, near, strength=self.method.strength, **tolerances
            )
            errors = errors_of(self.skeleton, targets, self.others, pose)
        return self._solution(pose, *errors, used)

    def _met(self, far: Array, off: Array, share: float = 1.0) -> NDArray[np.bool_]:
        """Return the frames (B,) whose goals are met within a share of the tolerances."""
        return np.all((far <= share * self.tolerance) & (off <= share * self.method.rotation_tolerance), axis=-1)

    def _solution(self, pose: Pose, far: Array, off: Array, used: NDArray[np.int64]) -> Solution:
        return Solution(
            self.skeleton, self.goals, pose, far, off, used, self._met(far, off), self.tolerance,
            self.method.rotation_tolerance, self.start, np.zeros(pose.rotations.shape[:-1], bool), self.method,
        ).reshape(self.batch_shape)  # fmt: skip
