"""A skeleton with goals, prepared for the pins solver: data of a solve and its state between solves."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...errors import CoreError
from ...goals import AnyGoal, Balance, Goal, LookAt, Vector
from ...limits import clamp_rotations
from ...pose import Pose
from ...rotation import Array
from ...skeleton import Skeleton, is_whole
from ...solution import Solution
from ..batches import batch_shape_of, check_inputs, flat_pose
from . import numbers, pipeline
from .descent import Descent, State
from .goals.rows import GoalRows
from .goals.targets import check_replacement, checked_target, with_start
from .limits import LimitRows, locked_angles
from .many_frames import FramesSolver
from .one_frame import FrameSolver
from .prior import Prior
from .tree import Links

if TYPE_CHECKING:
    from . import PinAndDrag

_ROOT_SHIFT_DEVIATION: Final = 0.5  # standard deviation of a root's shift, in units of the skeleton's size
_HINGE_STIFF: Final = 0.1  # share of the deviation that a hinge keeps across its axis
_PULLED_ROOT: Final = 0.2  # share of its deviations that a root "pull" keeps
_HELD_ROOT: Final = 0.03  # the same of "hold", and where goals are on one bone only
_PLACED_ROOT: Final = 0.5  # share of these turns that it keeps where a goal is on it
_STRETCH_DEVIATION: Final = 0.03  # standard deviation of the logarithm of a bone's length, for a `stretch` of 1
_LIMIT_SOFTNESS: Final = np.radians(5.0)  # standard deviation of soft limits


class Problem:
    """A skeleton with goals that is solved again and again while targets move; each solve starts from the last one.

    Not thread-safe. Inside, all batch axes are one: B frames. x (B, D) are the joints' states as in `tree`.
    """

    def __init__(self, method: "PinAndDrag", skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> None:
        check_inputs(skeleton, pose, goals)
        for name, width in (("deviations", 3), ("axes", 4), ("bends", 3)):
            array = getattr(method, name)
            if array is not None and np.shape(array) != (len(skeleton), width):
                raise CoreError(f"{name} must have the shape {(len(skeleton), width)}, not {np.shape(array)}.")
        named = [bone for first, _, second, _, _ in method.correlations for bone in (first, second)]
        if any(bone >= len(skeleton) for bone in (*named, method.root_bone or 0)):
            raise CoreError(f"correlations and root_bone must be indices below {len(skeleton)}, as the bones have.")
        for goal in goals:
            other = (
                getattr(goal, "relative_to", None) if isinstance(goal, (Goal, LookAt)) else getattr(goal, "other", None)
            )
            if other is not None and skeleton.index(other) == skeleton.index(goal.bone):
                raise CoreError(f'"{goal.bone}" cannot be led against itself; name another bone.')
        self.method = method
        self.skeleton = skeleton
        self.unit = skeleton.size
        tolerance = method.position_tolerance
        self.position_tolerance = numbers.POSITION_TOLERANCE * self.unit if tolerance is None else tolerance

        reference = pose if method.reference is None else method.reference
        for name, some in (("pose", pose), ("reference", reference)):
            if some.rotations.shape[-2] != len(skeleton):
                raise CoreError(f"The {name} has {some.rotations.shape[-2]} bones, the skeleton {len(skeleton)}.")
        self.batch_shape = batch_shape_of(goals, pose, reference)
        self.same_pose = not pose.batch_shape and not reference.batch_shape
        self.given = self.start = flat_pose(pose, self.batch_shape)
        self.reference = flat_pose(reference, self.batch_shape)
        self.count = int(np.prod(self.batch_shape, dtype=int))
        step = 1.0 / method.fps if method.coherent else None
        started = [with_start(goal, skeleton, self.start, self.batch_shape, step) for goal in goals]
        self.rows = GoalRows(
            skeleton, started, self.batch_shape, method.root, method.stretch, method.axes, method.root_bone
        )
        self.tree = tree = self.rows.tree
        self.joint_bones, self._root_bones = tree.nodes[tree.joints], tree.nodes[tree.roots]
        self._long_bones = tree.nodes[tree.stretching]
        self._axes = None if method.axes is None else method.axes[self.joint_bones]
        self._prepare_limits()
        self._prepare_prior()
        tolerance = self.position_tolerance / self.unit
        self.tolerances: Array = np.where(self.rows.turning, method.rotation_tolerance, tolerance)
        self._joint_references = self.reference.rotations[:, self.joint_bones]
        self._root_references = self.reference.translations[:, self._root_bones]
        first = self.start[:1] if self.same_pose else self.start
        self.x = np.repeat(self.state_of(first), self.count // len(first.rotations), axis=0)
        self.links = (
            self.tree.fit(self.pose_at(self.x[:1]), self.x[:1]).spread(self.count)
            if self.same_pose
            else self.fit(self.x)
        )
        scales = self.start.scales
        unscaled = scales is None or bool((scales[:, tree.nodes] == 1.0).all())  # scales of other bones do not matter
        rigid = unscaled and not len(tree.breaks) and not len(tree.stretching)
        self.lean = rigid and method.limits != "soft"  # as `one_frame` and `many_frames` need it
        self.dragged = self.count == 1 and not method.settle and not method.starts
        self.settles = method.settle and not method.coherent  # every frame by itself
        self.state: State | None = None  # of a drag

    # -- preparation -------------------------------------------------------------------------------------------------

    def _prepare_limits(self) -> None:
        """Make the limit rows, and clamp the start pose to them."""
        tree, skeleton, method = self.tree, self.skeleton, self.method
        joints = {int(tree.nodes[place]): order for order, place in enumerate(tree.joints)}
        # locked angles stay, with or without limits
        groups = [*locked_angles(skeleton, self.start.rotations, joints)]
        if method.limits:
            for group in skeleton.limits:
                kept = np.array([i for i, bone in enumerate(group.bones.tolist()) if bone in joints], int)
                if len(kept):
                    groups.append(group.take(kept))
        self.brought_in = np.zeros(self.start.rotations.shape[:-1], bool)
        if groups and method.limits is True:
            given = self.start.rotations
            one = self.same_pose and all(group.lower.ndim == 2 for group in groups)
            inside, brought_in = clamp_rotations(tuple(groups), given[:1] if one else given)
            far = rotation.angle_between(inside, given[: len(inside)]) > method.rotation_tolerance  # more than rounding
            self.brought_in = np.broadcast_to(brought_in & far, given.shape[:-1])
            self.start = replace(self.start, rotations=np.broadcast_to(inside, given.shape))
        softness = float(_LIMIT_SOFTNESS) if method.limits == "soft" else 0.0
        self.limit_rows = LimitRows(tuple(groups), joints, self.reference.rotations, method.axes, softness)

    def _prepare_prior(self) -> None:
        """Set the prior: of joints about their own axes, roots' shifts and logarithms of lengths."""
        tree, method = self.tree, self.method
        joints = tree.nodes[tree.joints]
        top = tree.parents[tree.joints] < 0
        if method.deviations is None:
            deviation = np.full((len(joints), 3), numbers.JOINT_DEVIATION)
            deviation[top] = numbers.ROOT_TURN_DEVIATION
            bends = self.bends()
            if bends is not None:  # isotropic hinges would rest bent sideways
                bends = np.abs(bends.reshape(-1, 3))
                size = np.linalg.norm(bends, axis=-1, keepdims=True)
                along = bends / np.where(size > 0.0, size, 1.0)
                deviation *= np.where(size > 0.0, along + _HINGE_STIFF * (1.0 - along), 1.0)
        else:
            deviation = np.array(method.deviations, float)[joints]
        stiffness = self.skeleton.stiffness[joints]
        if self.tree.axes is not None:  # the stiffness is about the bones' own axes
            turned = np.square(self.tree.axes[tree.joints])
            stiffness = (np.swapaxes(turned, -1, -2) @ stiffness[..., None])[..., 0]
        deviation *= 1.0 - stiffness
        shifts = _ROOT_SHIFT_DEVIATION * self.skeleton.translatable[tree.nodes[tree.roots]]
        if method.root in ("pull", "hold"):
            bones = {self.skeleton.index(goal.bone) for goal in self.goals if not isinstance(goal, Balance)}
            # a body that stands on pins comes along with what is dragged; one that nothing else holds stays where it is
            pull = _PULLED_ROOT if method.root == "pull" and len(bones) > 1 else _HELD_ROOT
            # hips that a goal places shift as it wants, and stay the more level and facing as they do
            deviation[top] *= pull * np.where(np.isin(joints[top], list(bones)), _PLACED_ROOT, 1.0)[:, None]
            shifts = shifts * np.where(np.isin(tree.nodes[tree.roots], list(bones)), 1.0, pull)[:, None]
        growth = _STRETCH_DEVIATION * self.skeleton.stretch[tree.nodes[tree.stretching]]
        place = {int(bone): 3 * number for number, bone in enumerate(joints)}
        tied = [
            (place[bone] + axis, place[other] + its, value)
            for bone, axis, other, its, value in method.correlations
            if bone in place and other in place
        ]
        self.prior = Prior.of(np.array([*deviation.flat, *shifts.flat, *growth], float), tied)
        if len(tree.stretching) and self.start.scales is None:
            ones = np.ones_like(self.start.translations)
            self.start, self.reference = replace(self.start, scales=ones), replace(self.reference, scales=ones)

    @property
    def goals(self) -> tuple[AnyGoal, ...]:
        """Return the goals with their targets as they are now."""
        return self.rows.goals

    def set_goal(self, index: int, goal: AnyGoal) -> None:
        """Give goal `index` other targets and weights; its bones, kind and priority stay.

        Raises CoreError if there is no such goal, or if the new one differs in more than targets and weights.
        """
        before = self._goal(index)
        check_replacement(self.skeleton, before, goal, index)
        self._check_frames(goal.bone, *goal.batch_shapes())
        frame = self.frame  # before the goal moves: a tick measures by how much
        self.rows.set_goal(index, goal)
        if frame is not None:
            frame.places.read_goals()

    def move(self, index: int, position: Array | None = None, rotation: Array | None = None) -> None:
        """Give goal `index` another position (..., 3), rotation (..., 4) or both, in armature space: a tick of a drag.

        Raises CoreError if the goal has no such target, or if the numbers are no valid one.
        """
        goal = self._goal(index)
        targets: list[Array | None] = []
        for name, target, size in (("position", position, 3), ("rotation", rotation, 4)):
            if target is None:
                targets.append(None)
                continue
            array = checked_target(goal, name, target, size)
            if array.ndim > 1:  # one target is for all frames
                self._check_frames(goal.bone, array.shape[:-1])
            targets.append(array)
        frame = self.frame  # before the target moves: a tick measures by how much
        self.rows.move(index, *targets)
        if frame is not None:
            frame.places.read_targets(turned=rotation is not None)

    def _check_frames(self, bone: str | int, *shapes: tuple[int, ...]) -> None:
        try:
            fits = np.broadcast_shapes(self.batch_shape, *shapes) == self.batch_shape
        except ValueError:
            fits = False
        if not fits:
            raise CoreError(f'The goal of "{bone}" has other frames than those that are solved: {self.batch_shape}.')

    def _goal(self, index: int) -> AnyGoal:
        if not is_whole(index) or not 0 <= index < len(self.goals):
            raise CoreError(f"There is no goal {index}: there are {len(self.goals)}.")
        return self.goals[index]

    def advance(self, seconds: float) -> None:
        """Move the targets of goals with velocities on by a number of seconds. Raises CoreError for another value."""
        if not isinstance(seconds, (int, float, np.number)) or not np.isfinite(seconds):  # pyright: ignore
            raise CoreError(f"Goals move on by a number of seconds, not by {seconds!r}.")
        for index, goal in enumerate(self.goals):
            if isinstance(goal, Goal):
                self.set_goal(index, goal.moved(seconds))

    def with_goals(self, goals: Sequence[AnyGoal]) -> "Problem":
        """Return a problem with other goals that starts from the last solution: pins come and go without a jump.

        The last solution also becomes the reference, unless the method names one.
        """
        pose = self.pose_at(self.x).reshape(self.batch_shape)
        return Problem(self.method, self.skeleton, pose, goals)

    # -- state and pose ---------------------------------------------------------------------------------------------

    def state_of(self, pose: Pose) -> Array:
        """Return x (n, D) of a pose of the first n frames."""
        count = len(pose.rotations)
        references = rotation.inv(self._joint_references[:count])
        turns = rotation.log(rotation.mul(references, pose.rotations[:, self.joint_bones]))
        if self._axes is not None:
            turns = rotation.rotate(rotation.inv(self._axes), turns)
        shifts = (pose.translations[:, self._root_bones] - self._root_references[:count]) / self.unit
        parts = [turns.reshape(count, -1), shifts.reshape(count, -1)]
        if len(self._long_bones):
            assert pose.scales is not None
            assert self.reference.scales is not None
            references = self.reference.scales[:count, self._long_bones, 1]
            parts.append(np.log(pose.scales[:, self._long_bones, 1] / references))
        return np.concatenate(parts, axis=1)

    def bends(self) -> Array | None:
        """Return the method's bends (3 R,) about the axes of x."""
        if self.method.bends is None:
            return None
        bends = self.method.bends[self.joint_bones]
        bends = bends if self._axes is None else rotation.rotate(rotation.inv(self._axes), bends)
        return bends.reshape(-1)

    def pose_at(self, x: Array) -> Pose:
        """Return the pose of the first n frames at x (n, D); channels that are not solved for stay as at the start."""
        count, tree = len(x), self.tree
        rotations = self.start.rotations[:count].copy()
        turns = x[:, : tree.turning].reshape(count, -1, 3)
        if self._axes is not None:
            turns = rotation.rotate(self._axes, turns)
        rotations[:, self.joint_bones] = rotation.mul(self._joint_references[:count], rotation.exp(turns))
        translations = self.start.translations[:count]
        if len(self._root_bones):
            translations = translations.copy()
            shifts = x[:, tree.turning : tree.moving].reshape(count, -1, 3) * self.unit
            translations[:, self._root_bones] = self._root_references[:count] + shifts
        scales, driven = (None if p is None else p[:count] for p in (self.start.scales, self.start.driven_matrices))
        if len(self._long_bones) and scales is not None and self.reference.scales is not None:
            scales = scales.copy()
            lengths = self.reference.scales[:count, self._long_bones, 1] * np.exp(x[:, tree.moving :])
            scales[:, self._long_bones, 1] = lengths
        return Pose.trusted(rotations, translations, scales, driven)

    def fit(self, x: Array) -> Links:
        """Return the rigid links that are exact at x (B, D)."""
        return self.tree.fit(self.pose_at(x), x)

    def pose(self) -> Pose:
        """Return the pose of the last solution, with one batch axis (B,)."""
        return self.pose_at(self.x)

    def missing(self) -> tuple[Array, Array]:
        """Return position errors (B, G) in armature units and rotation errors (B, G), radians, of the last solution."""
        return self.rows.errors_of_goals(self.rows.lengths(self.links.place(self.x), np.arange(self.count)))

    def place_of(self, bone: str | int, point: Vector, heads: Array, turns: Array) -> Array:
        """Return the position (3,) of a point in a bone's frame, given all heads (J, 3) and rotations (J, 4)."""
        number = self.skeleton.index(bone)
        return heads[number] + rotation.rotate(turns[number], point)

    # -- solving ----------------------------------------------------------------------------------------------------

    def solve(self) -> Solution:
        """Return the solution, from the reference if it settles, else from the last one, at first the start pose."""
        return pipeline.solve(self)

    def relax(self) -> Solution:
        """Return the solution a step nearer to the reference, with the same targets: a drag under a still mouse."""
        return pipeline.relax(self)

    def met(self, lengths: Array) -> NDArray[np.bool_]:
        """Return whether all goals are within tolerance, (B,), by the lengths (B, K) of `GoalRows`."""
        return np.all(lengths <= self.tolerances, axis=1)

    def clamped(self, x: Array, frames: NDArray[np.int64]) -> Array:
        """Return x (n, D) of some frames with joints clamped to their limits."""
        limits = self.limit_rows
        measured = limits.measure(self.links[frames].place(x), frames)
        outside = limits.outside(measured, frames, numbers.LIMIT_SLACK)
        if len(outside):
            x = x.copy()
            x[outside] = limits.clamp(x[outside], measured[outside], frames[outside])
        return x

    @cached_property
    def frame(self) -> FrameSolver | None:
        """The steps of the only frame, where they can be lean."""
        return FrameSolver(self) if self.count == 1 and self.lean else None

    @cached_property
    def frames(self) -> FramesSolver | None:
        """The least-squares steps of many frames, where they can be lean."""
        lean = self.lean and self.rows.uniform
        return FramesSolver(self) if lean and len(self.rows.levels) <= 2 and self.tree.degrees else None

    @cached_property
    def descent(self) -> Descent:
        """Newton's method for this problem."""
        return Descent(self)
