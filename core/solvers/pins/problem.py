"""What is asked of the pins solver: a skeleton with goals, as data that no solve changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...errors import CoreError
from ...goals import AnyGoal, Balance, Goal, LookAt
from ...limits import clamp_rotations
from ...pose import Pose
from ...rotation import Array
from ...skeleton import Skeleton
from ..batches import batch_shape_of, check_inputs, flat_pose
from . import numbers
from .goals.rows import GoalRows
from .goals.targets import with_start
from .limits import LimitRows, locked_angles
from .prior import Prior
from .settings import Settings
from .strengths import Strengths
from .tree import Links, LinkTree

_ROOT_SHIFT_DEVIATION: Final = 0.5  # standard deviation of a root's shift, in units of the skeleton's size
_HINGE_STIFF: Final = 0.1  # share of the deviation that a hinge keeps across its axis
_ROOTS: Final = {"pull": 0.2, "hold": 0.1}  # shares of its deviations that a root keeps
_LONE_ROOT: Final = 0.03  # the same where goals are on one bone only, and nothing else says where the body is
_TURNED_ROOT: Final = 0.35  # share of these that its turns keep, so that it stays level and facing
_STRETCH_DEVIATION: Final = 0.03  # standard deviation of the logarithm of a bone's length, for a `stretch` of 1
_CARRIED: Final = 2.0  # strength of what pulls a root, which legs carry, where a hand pulls the body along
_LIMIT_SOFTNESS: Final = np.radians(5.0)  # standard deviation of soft limits


@dataclass(frozen=True, eq=False)
class Problem:
    """A skeleton with goals. Inside, all batch axes are one: B frames; x (B, D) are the joints' states as in `tree`.

    Where a target moves, `aimed` gives another problem with other `rows`; all else stays.
    """

    settings: Settings
    skeleton: Skeleton
    batch_shape: tuple[int, ...]
    given: Pose  # (B,)
    start: Pose  # (B,) the same within the limits
    brought_in: NDArray[np.bool_]  # (B, J) bones that were outside
    reference: Pose  # (B,)
    same_pose: bool  # pose and reference are one for all frames
    rows: GoalRows
    limit_rows: LimitRows
    prior: Prior
    bends: Array | None  # (3 R,) the settings' bends about the axes of x
    position_tolerance: float  # armature units
    tolerances: Array  # (K,) of the goals' blocks, in units of size and radians
    plain: bool  # rigid, with hard limits and plain goals of equal weights on at most two levels: for `many_frames`

    @classmethod
    def of(cls, settings: Settings, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> Self:
        """Return the problem. Raises CoreError if pose, goals and settings do not fit the skeleton or each other."""
        _check(settings, skeleton, pose, goals)
        reference = pose if settings.reference is None else settings.reference
        for name, some in (("pose", pose), ("reference", reference)):
            if some.rotations.shape[-2] != len(skeleton):
                raise CoreError(f"The {name} has {some.rotations.shape[-2]} bones, the skeleton {len(skeleton)}.")
        shape = batch_shape_of(goals, pose, reference)
        same_pose = not pose.batch_shape and not reference.batch_shape
        given, reference = flat_pose(pose, shape), flat_pose(reference, shape)
        step = 1.0 / settings.fps if settings.coherent else None
        started = [with_start(goal, skeleton, given, shape, step) for goal in goals]
        root, stretch, axes, root_bone = settings.root, settings.stretch, settings.axes, settings.root_bone
        rows = GoalRows(skeleton, started, shape, root, stretch, axes, root_bone)
        tree = rows.tree
        limit_rows, start, reference, brought_in = _started(settings, skeleton, tree, given, reference, same_pose)
        bends = _bends_of(settings, tree)
        prior = _prior_of(settings, skeleton, tree, goals, bends)
        far = settings.position_tolerance
        far = numbers.POSITION_TOLERANCE * skeleton.size if far is None else far
        tolerances = np.where(rows.turning, settings.rotation_tolerance, far / skeleton.size)
        scales = start.scales
        unscaled = scales is None or bool((scales[:, tree.nodes] == 1.0).all())  # scales of other bones do not matter
        rigid = unscaled and not len(tree.breaks) and not len(tree.stretching)
        plain = rigid and settings.limits != "soft" and rows.uniform and len(rows.levels) <= 2 and bool(tree.degrees)
        return cls(
            settings, skeleton, shape, given, start, brought_in, reference, same_pose, rows, limit_rows, prior, bends,
            far, tolerances, plain,
        )  # fmt: skip

    def aimed(self, rows: GoalRows) -> "Problem":
        """Return the problem with other targets; in a tick, where `replace` is slow."""
        return _but(self, rows=rows)

    @property
    def tree(self) -> LinkTree:
        """Return the links that move the goals."""
        return self.rows.tree

    @property
    def goals(self) -> tuple[AnyGoal, ...]:
        """Return the goals with their targets."""
        return self.rows.goals

    @property
    def count(self) -> int:
        """Return the number of frames B."""
        return len(self.start.rotations)

    @property
    def dragged(self) -> bool:
        """Return whether a solve is a tick of a drag, from which the next one goes on."""
        return self.count == 1 and not self.settings.settle and not self.settings.starts

    @property
    def firm(self) -> int:
        """Return the number of levels that no strength limits."""
        return max(1, int(np.searchsorted(self.rows.priorities, self.settings.firm_at, side="right")))

    @property
    def ranks(self) -> NDArray[np.int64]:
        """Return by how many levels each (L,) comes after the one that pulls with all the strength.

        A balance pulls as the one after that below any number of levels.
        """
        ranks = np.arange(len(self.rows.levels)) - _full_level(self)
        return np.where(self.rows.balances, np.minimum(ranks, 1), ranks)

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Return which levels (L,) are asked for: not what comes after them, as a balance and feet that stay flat."""
        return (self.ranks <= 0) | np.isinf(self.settings.strength)

    @property
    def settles(self) -> bool:
        """Return whether every frame comes to rest by itself."""
        return self.settings.settle and not self.settings.coherent

    def begin(self) -> tuple[Array, Links]:
        """Return x (B, D) of the start pose, and the links that are exact there."""
        if not self.same_pose:
            x = self.state_of(self.start)
            return x, self.fit(x)
        x = self.state_of(self.start[:1])
        return np.repeat(x, self.count, axis=0), self.fit(x).spread(self.count)

    def state_of(self, pose: Pose) -> Array:
        """Return x (n, D) of a pose of the first n frames."""
        tree, count = self.tree, len(pose.rotations)
        joints, roots, long = (tree.nodes[places] for places in (tree.joints, tree.roots, tree.stretching))
        turns = rotation.log(
            rotation.mul(rotation.inv(self.reference.rotations[:count, joints]), pose.rotations[:, joints])
        )
        if self.settings.axes is not None:
            turns = rotation.rotate(rotation.inv(self.settings.axes[joints]), turns)
        shifts = (pose.translations[:, roots] - self.reference.translations[:count, roots]) / self.skeleton.size
        parts = [turns.reshape(count, -1), shifts.reshape(count, -1)]
        if len(long):
            assert pose.scales is not None
            assert self.reference.scales is not None
            parts.append(np.log(pose.scales[:, long, 1] / self.reference.scales[:count, long, 1]))
        return np.concatenate(parts, axis=1)

    def pose_at(self, x: Array) -> Pose:
        """Return the pose of the first n frames at x (n, D); channels that are not solved for stay as at the start."""
        tree, count = self.tree, len(x)
        joints, roots, long = (tree.nodes[places] for places in (tree.joints, tree.roots, tree.stretching))
        rotations = self.start.rotations[:count].copy()
        turns = x[:, : tree.turning].reshape(count, -1, 3)
        if self.settings.axes is not None:
            turns = rotation.rotate(self.settings.axes[joints], turns)
        rotations[:, joints] = rotation.mul(self.reference.rotations[:count, joints], rotation.exp(turns))
        translations = self.start.translations[:count]
        if len(roots):
            translations = translations.copy()
            shifts = x[:, tree.turning : tree.moving].reshape(count, -1, 3) * self.skeleton.size
            translations[:, roots] = self.reference.translations[:count, roots] + shifts
        scales, driven = (None if p is None else p[:count] for p in (self.start.scales, self.start.driven_matrices))
        if len(long) and scales is not None and self.reference.scales is not None:
            scales = scales.copy()
            scales[:, long, 1] = self.reference.scales[:count, long, 1] * np.exp(x[:, tree.moving :])
        return Pose.trusted(rotations, translations, scales, driven)

    def fit(self, x: Array) -> Links:
        """Return the rigid links that are exact at x (n, D) of the first n frames."""
        return self.tree.fit(self.pose_at(x), x)

    def met(self, lengths: Array) -> NDArray[np.bool_]:
        """Return whether all goals are within tolerance, (B,), by the lengths (B, K) of `GoalRows`."""
        return np.all(lengths <= self.tolerances, axis=1)


def carried(problem: Problem, skeleton: Skeleton, pose: Pose, reference: Pose) -> Problem:
    """Return the problem with the same goals at another pose and reference (J), with the limits of a skeleton."""
    settings = replace(problem.settings, reference=reference)
    given, reference = (flat_pose(some, problem.batch_shape) for some in (pose, reference))
    limit_rows, start, reference, brought_in = _started(
        settings, skeleton, problem.tree, given, reference, problem.same_pose
    )
    return _but(
        problem, settings=settings, skeleton=skeleton, given=given, start=start, reference=reference,
        brought_in=brought_in, limit_rows=limit_rows,
    )  # fmt: skip


def _but(problem: Problem, **other: Any) -> Problem:
    changed = object.__new__(type(problem))
    vars(changed).update(vars(problem), **other)
    return changed


def missing(problem: Problem) -> tuple[Array, Array]:
    """Return position errors (B, G), armature units, and rotation errors (B, G), radians, in the start pose."""
    x, links = problem.begin()
    return problem.rows.errors_of_goals(problem.rows.lengths(links.place(x), np.arange(len(x))))


def _check(settings: Settings, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> None:
    check_inputs(skeleton, pose, goals)
    for name, width in (("deviations", 3), ("axes", 4), ("bends", 3)):
        array = getattr(settings, name)
        if array is not None and np.shape(array) != (len(skeleton), width):
            raise CoreError(f"{name} must have the shape {(len(skeleton), width)}, not {np.shape(array)}.")
    named = [bone for first, _, second, _, _ in settings.correlations for bone in (first, second)]
    if any(bone >= len(skeleton) for bone in (*named, settings.root_bone or 0)):
        raise CoreError(f"correlations and root_bone must be indices below {len(skeleton)}, as the bones have.")
    for goal in goals:
        other = goal.relative_to if isinstance(goal, (Goal, LookAt)) else getattr(goal, "other", None)
        if other is not None and skeleton.index(other) == skeleton.index(goal.bone):
            raise CoreError(f'"{goal.bone}" cannot be a target for itself; name another bone.')


def _started(
    settings: Settings, skeleton: Skeleton, tree: LinkTree, given: Pose, reference: Pose, same_pose: bool
) -> tuple[LimitRows, Pose, Pose, NDArray[np.bool_]]:
    """Return the limit rows, the given pose clamped to them, the reference, and the bones (B, J) that were outside.

    Both poses have scales where bones stretch.
    """
    joints = {int(tree.nodes[place]): order for order, place in enumerate(tree.joints)}
    # locked angles stay, with or without limits
    groups = [*locked_angles(skeleton, given.rotations, joints)]
    for group in skeleton.limits:
        kept = np.array([i for i, bone in enumerate(group.bones.tolist()) if bone in joints], int)
        if len(kept) and (settings.limits or group.firm):
            groups.append(group.take(kept))
    rotations, start = given.rotations, given
    brought_in = np.zeros(rotations.shape[:-1], bool)
    hard = tuple(group for group in groups if settings.limits is True or group.firm)
    if hard:
        one = same_pose and all(group.lower.ndim == 2 for group in hard)
        inside, brought_in = clamp_rotations(hard, rotations[:1] if one else rotations)
        far = rotation.angle_between(inside, rotations[: len(inside)]) > settings.rotation_tolerance  # no rounding
        brought_in = np.broadcast_to(brought_in & far, rotations.shape[:-1])
        start = replace(given, rotations=np.broadcast_to(inside, rotations.shape))
    softness = float(_LIMIT_SOFTNESS) if settings.limits == "soft" else 0.0
    if len(tree.stretching) and start.scales is None:
        ones = np.ones_like(start.translations)
        start, reference = replace(start, scales=ones), replace(reference, scales=ones)
    rows = LimitRows(tuple(groups), joints, reference.rotations, settings.axes, softness)
    return rows, start, reference, brought_in


def _bends_of(settings: Settings, tree: LinkTree) -> Array | None:
    if settings.bends is None:
        return None
    joints = tree.nodes[tree.joints]
    bends = settings.bends[joints]
    return (bends if settings.axes is None else rotation.rotate(rotation.inv(settings.axes[joints]), bends)).reshape(-1)


def strengths_of(problem: Problem) -> Strengths:
    """Return the strengths of the levels: where what comes last, or before what stays, pulls a root, more."""
    rows, tree, full = problem.rows, problem.tree, _full_level(problem)
    last = rows.priorities[max(full - 1, problem.firm) : full + 1]
    pulled = _movers(tree, [goal for goal in rows.goals if goal.priority in last and _has(goal, "position")])
    share = _CARRIED if np.isin(pulled, tree.nodes[tree.roots]).any() else 1.0
    return Strengths(problem.ranks, share * problem.settings.strength, problem.firm)


def _full_level(problem: Problem) -> int:
    """Return the level that pulls with all the strength, or the number of levels if that comes after all."""
    at = problem.settings.strength_at
    return max(problem.firm, 1 if at is None else int(np.searchsorted(problem.rows.priorities, at)))


def _has(goal: AnyGoal, what: str) -> bool:
    """Return whether it is a goal of a position or a rotation (`what`)."""
    return isinstance(goal, Goal) and getattr(goal, what) is not None


def _movers(tree: LinkTree, goals: Iterable[AnyGoal]) -> list[int]:
    """Return the bones that move those with the goals: what a goal's bone is fixed to has the goal."""
    moving, skeleton = {*tree.nodes[tree.joints].tolist(), *tree.nodes[tree.roots].tolist()}, tree.skeleton
    chains = [skeleton.ancestors(skeleton.index(goal.bone)) for goal in goals]
    return [next((bone for bone in above if bone in moving), above[0]) for above in chains]


def _prior_of(
    settings: Settings, skeleton: Skeleton, tree: LinkTree, goals: Sequence[AnyGoal], bends: Array | None
) -> Prior:
    """Return the prior: of joints about their own axes, roots' shifts and logarithms of lengths."""
    joints, roots = tree.nodes[tree.joints], tree.nodes[tree.roots]
    top = tree.parents[tree.joints] < 0
    if settings.deviations is None:
        deviation = np.full((len(joints), 3), numbers.JOINT_DEVIATION)
        deviation[top] = numbers.ROOT_TURN_DEVIATION
        if bends is not None:  # isotropic hinges would rest bent sideways
            bends = np.abs(bends.reshape(-1, 3))
            size = np.linalg.norm(bends, axis=-1, keepdims=True)
            along = bends / np.where(size > 0.0, size, 1.0)
            deviation *= np.where(size > 0.0, along + _HINGE_STIFF * (1.0 - along), 1.0)
    else:
        deviation = np.array(settings.deviations, float)[joints]
    stiffness = skeleton.stiffness[joints]
    if tree.axes is not None:  # the stiffness is about the bones' own axes
        turned = np.square(tree.axes[tree.joints])
        stiffness = (np.swapaxes(turned, -1, -2) @ stiffness[..., None])[..., 0]
    deviation *= 1.0 - stiffness
    shifts = _ROOT_SHIFT_DEVIATION * skeleton.translatable[roots]
    share = _ROOTS.get(settings.root) if isinstance(settings.root, str) else settings.root
    if share is not None:
        # a body that stands on pins comes along with what is dragged; one that nothing else holds stays where it is
        lone = len(set(_movers(tree, [goal for goal in goals if not isinstance(goal, Balance)]))) <= 1
        share = min(share, _LONE_ROOT) if lone else share
        placed, turned = (
            _movers(tree, [goal for goal in goals if _has(goal, what)]) for what in ("position", "rotation")
        )
        deviation[top] *= np.where(np.isin(joints[top], turned), 1.0, _TURNED_ROOT * share)[:, None]
        shifts = shifts * np.where(np.isin(roots, placed), _ROOTS["pull"], share)[:, None]
    growth = _STRETCH_DEVIATION * skeleton.stretch[tree.nodes[tree.stretching]]
    place = {int(bone): 3 * number for number, bone in enumerate(joints)}
    tied = [
        (place[bone] + axis, place[other] + its, value)
        for bone, axis, other, its, value in settings.correlations
        if bone in place and other in place
    ]
    return Prior.of(np.array([*deviation.flat, *shifts.flat, *growth], float), tied)
