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

A solve goes through: these steps, at most `iterations`; other starts for frames that miss a goal (`bends`, `restarts`);
and, if it is to settle, Newton steps until the joints rest, goals met or not (`newton`). Rigid bodies with plain goals
on two levels, nearly all there are, have lean forms of the steps: `frame` of one frame that does not settle, a drag,
and `frames` of all else. What is in here is their reference, and does what they do not know.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...errors import CoreError
from ...goals import LARGEST, AnyGoal, Goal, LookAt, Vector
from ...limits import clamp_rotations
from ...pose import Pose, forward
from ...rotation import Array
from ...skeleton import Skeleton, frozen, is_whole
from ...solution import Solution
from ..batches import batch_shape_of, check_inputs, flat_array, flat_pose
from . import numbers
from .explain import reasons
from .found import Found
from .frames import FramesSolver
from .goals.rows import Errors, GoalRows
from .levels import Levels
from .limits import LimitRows, LinearLimits, locked_angles
from .one_frame import FrameSolver
from .rest import shortened
from .starts import Restarts
from .tree import Kinematics, Links

Root = Literal["free", "translate", "fixed", "pull"]
ROOTS: tuple[Root, ...] = ("free", "translate", "fixed", "pull")


@dataclass(frozen=True, eq=False)
class PinAndDrag:
    """The method for `solve`.

    limits              keep the skeleton's limits; "soft": they give way where a goal needs it
    root                bones without parent: "free" turn and shift, "translate" shift only, "fixed", or "pull": carried
                        along by what the body cannot reach otherwise
    root_bone           the bone that is meant by that in place of those it hangs on, which stay where they are: hips
                        below a bone that stands for the whole character. Where a goal is not on it or below, it is as
                        others are
    stretch             bones with a `stretch` may grow
    reference           the pose that joints stay near, by default the pose given to `solve`
    deviations          (J, 3) standard deviations of the joints from it about their own axes, radians: small ones are
                        stiff; the skeleton's stiffness comes on top
    axes                (J, 4) turn the bones' frames to the axes that the deviations are about
    bends               (J, 3) rotation vectors about the bones' own axes: how a straight joint bends, tried where
                        a goal is missed, since a straight limb does not know which way to go; without `deviations`
                        such a joint is stiff about other axes
    restarts            so many further starts for frames that miss a goal; by default 12, and none where an answer must
                        not jump: in frames in time and without `settle`. If any, frames in which a joint but elbows and
                        knees is a quarter turn from the reference are tried from there, too
    coherent            the batch is frames in time, `fps` of them in a second: neighbours give each other good starts
    position_tolerance  armature units (default 1e-4 of a 1.7 m human); rotation_tolerance radians
    settle              after the goals are met go on until the joints rest; a drag that will be continued need not:
                        its pose then depends by some degrees on the way that the target has come
    iterations          at most so many steps
    """

    limits: bool | Literal["soft"] = True
    root: Root = "free"
    root_bone: int | None = None
    stretch: bool = False
    reference: Pose | None = None
    deviations: Array | None = None
    axes: Array | None = None
    bends: Array | None = None
    restarts: int | None = None
    coherent: bool = False
    fps: float = 24.0
    position_tolerance: float | None = None
    rotation_tolerance: float = float(numbers.ROTATION_TOLERANCE)
    settle: bool = True
    iterations: int = 60

    def __post_init__(self) -> None:
        if self.root not in ROOTS:
            raise CoreError(f'root must be "free", "translate", "fixed" or "pull", not "{self.root}".')
        limits: object = self.limits
        if not isinstance(limits, bool) and not (isinstance(limits, str) and limits == "soft"):  # pyright: ignore
            raise CoreError(f'limits must be True, False or "soft", not "{self.limits}".')
        for name in ("stretch", "coherent", "settle"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise CoreError(f"{name} must be True or False, not {getattr(self, name)!r}.")
        if self.reference is not None and not isinstance(self.reference, Pose):  # pyright: ignore
            raise CoreError(f"The reference must be a Pose, not {self.reference!r:.40}.")
        for name in ("position_tolerance", "rotation_tolerance", "fps"):
            value = getattr(self, name)
            if name == "position_tolerance" and value is None:
                continue
            if not isinstance(value, (int, float, np.number)) or not 0.0 < value < np.inf:
                raise CoreError(f"{name} must be a positive number, not {value}.")
        if not is_whole(self.iterations) or self.iterations < 1:
            raise CoreError(f"iterations must be at least 1, not {self.iterations}.")
        if self.restarts is not None and (not is_whole(self.restarts) or self.restarts < 0):
            raise CoreError(f"restarts must be at least 0, not {self.restarts}.")
        for name in ("deviations", "axes", "bends"):
            value = getattr(self, name)
            if value is None:
                continue
            try:
                array = frozen(value, float)
            except (TypeError, ValueError):
                raise CoreError(f"{name} must be numbers.") from None
            if not (np.abs(array) <= LARGEST).all():
                raise CoreError(f"{name} must be finite numbers.")
            object.__setattr__(self, name, array)
        if self.deviations is not None and (self.deviations < 0.0).any():
            raise CoreError("deviations must be numbers of at least 0.")
        if self.axes is not None:
            if self.axes.shape[-1:] != (4,) or not np.all(np.sum(np.square(self.axes), axis=-1) > 0.0):
                raise CoreError("axes must be quaternions other than 0, 0, 0, 0.")
            object.__setattr__(self, "axes", frozen(rotation.normalize(self.axes)))

    @property
    def starts(self) -> int:
        """Further starts for frames that miss a goal."""
        if self.restarts is None:
            return numbers.RESTARTS if self.settle and not self.coherent else 0
        return self.restarts

    def prepare(self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> "Problem":
        """Everything that stays while the targets move: for a drag, tick after tick."""
        return Problem(self, skeleton, pose, goals)

    def solve(self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> Solution:
        return self.prepare(skeleton, pose, goals).solve()

    def reasons(self, skeleton: Skeleton, pose: Pose, goals: tuple[AnyGoal, ...], index: int) -> list[str]:
        return reasons(replace(self, reference=None).prepare(skeleton, pose, goals), index)


class Problem:
    """A skeleton with goals, ready to be solved again and again while targets move; keeps its state for warm starts.

    Not thread-safe. The batch is flat inside: B frames.
    """

    def __init__(self, method: PinAndDrag, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> None:
        check_inputs(skeleton, pose, goals)
        for name, width in (("deviations", 3), ("axes", 4), ("bends", 3)):
            array = getattr(method, name)
            if array is not None and np.shape(array) != (len(skeleton), width):
                raise CoreError(f"{name} must have the shape {(len(skeleton), width)}, not {np.shape(array)}.")
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
        started = [self._started(goal) for goal in goals]
        self.rows = GoalRows(
            skeleton, started, self.batch_shape, method.root, method.stretch, method.axes, method.root_bone
        )
        self.tree = tree = self.rows.tree
        self._joint_bones, self._root_bones = tree.nodes[tree.joints], tree.nodes[tree.roots]
        self._long_bones = tree.nodes[tree.stretching]
        self._axes = None if method.axes is None else method.axes[self._joint_bones]
        self.frame: FrameSolver | None = None
        self._prepare_limits()
        self._prepare_prior()
        self._prepare_levels()
        self._joint_references = self.reference.rotations[:, self._joint_bones]
        self._root_references = self.reference.translations[:, self._root_bones]
        first = self.start[:1] if self.same_pose else self.start
        self.x = np.repeat(self._state_of(first), self.count // len(first.rotations), axis=0)
        self.links = self._fit_one() if self.same_pose else self._fit(self.x)
        self._vector = self.x[0]
        self._missed = np.zeros(self.count, bool)
        self.restarts = Restarts(self, self._bends())
        scales = self.start.scales
        unscaled = scales is None or bool((scales[:, tree.nodes] == 1.0).all())  # what is scaled elsewhere stays so
        rigid = unscaled and not len(tree.breaks) and not len(tree.stretching)
        lean = self.rows.uniform and method.limits != "soft"
        if self.count == 1 and not method.settle and not method.starts and rigid and lean:
            self.frame = FrameSolver(self)
            self._given = self.given[0], self.brought_in[0]
            start = self.start
            self._kept = [None if part is None else part[0] for part in (start.scales, start.driven_matrices)]
        two = self.damping_shares is not None
        self.frames = FramesSolver(self) if rigid and lean and two and self.tree.degrees else None
        self._dragged = self.count == 1 and not method.settle and not method.starts
        self._out_of_reach, self._aims = False, np.zeros((1, self.rows.rows))

    # -- what does not change ---------------------------------------------------------------------------------------

    def _started(self, goal: AnyGoal) -> AnyGoal:
        """A goal of velocities alone starts from where the pose has its bone; frames in time go on from their start."""
        if not isinstance(goal, Goal):
            return goal
        coherent = self.method.coherent
        here, stand = goal.position, goal.rotation
        # one place for all frames is where it starts; places by frame say already how it moves
        moves = goal.velocity is not None and (here is None or (coherent and here.ndim == 1))
        turns = goal.angular_velocity is not None and (stand is None or (coherent and stand.ndim == 1))
        if not (moves or turns):
            return goal
        if goal.relative_to is not None and ((moves and here is None) or (turns and stand is None)):
            raise CoreError(f'The goal of "{goal.bone}" relative to another bone needs more than a velocity.')
        heads, frames = forward(self.skeleton, self.start)
        bone, step = self.skeleton.index(goal.bone), 1.0 / self.method.fps
        if moves:
            places = heads[:, bone] + rotation.rotate(frames[:, bone], goal.point)
            places = places if here is None else flat_array(here, self.batch_shape)
            if coherent:
                way = step * flat_array(goal.velocity, self.batch_shape)  # pyright: ignore
                places = places[0] + np.cumsum(way, axis=0) - way[0]
            goal = replace(goal, position=places.reshape(*self.batch_shape, 3))
        if turns:
            stands = frames[:, bone].copy() if stand is None else flat_array(stand, self.batch_shape).copy()
            if coherent:
                way = rotation.exp(step * flat_array(goal.angular_velocity, self.batch_shape))  # pyright: ignore
                for frame in range(1, self.count):
                    stands[frame] = rotation.mul(way[frame], stands[frame - 1])
            goal = replace(goal, rotation=stands.reshape(*self.batch_shape, 4))
        return goal

    def _prepare_limits(self) -> None:
        tree, skeleton, method = self.tree, self.skeleton, self.method
        joints = {int(tree.nodes[place]): order for order, place in enumerate(tree.joints)}
        # locked angles stay what they are, limits or not
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
            far = rotation.angle_between(inside, given[: len(inside)]) > method.rotation_tolerance  # not just rounding
            self.brought_in = np.broadcast_to(brought_in & far, given.shape[:-1])
            self.start = replace(self.start, rotations=np.broadcast_to(inside, given.shape))
        softness = float(numbers.LIMIT_SOFTNESS) if method.limits == "soft" else 0.0
        self.limit_rows = LimitRows(tuple(groups), joints, self.reference.rotations, method.axes, softness)

    def _prepare_prior(self) -> None:
        """S as (D,): variances of the joints about their own axes, of the roots' shifts, and of what stretches."""
        tree, method = self.tree, self.method
        bones = tree.nodes[tree.joints]
        top = tree.parents[tree.joints] < 0
        if method.deviations is None:
            deviation = np.full((len(bones), 3), numbers.JOINT_DEVIATION)
            deviation[top] = numbers.ROOT_TURN_DEVIATION
            bends = self._bends()
            if bends is not None:  # hinges: isotropic ones would come to rest sideways
                bends = np.abs(bends.reshape(-1, 3))
                size = np.linalg.norm(bends, axis=-1, keepdims=True)
                along = bends / np.where(size > 0.0, size, 1.0)
                deviation *= np.where(size > 0.0, along + numbers.HINGE_STIFF * (1.0 - along), 1.0)
        else:
            deviation = np.array(method.deviations, float)[bones]
        stiffness = self.skeleton.stiffness[bones]
        if self.tree.axes is not None:  # it is about the bones' own axes
            turned = np.square(self.tree.axes[tree.joints])
            stiffness = (np.swapaxes(turned, -1, -2) @ stiffness[..., None])[..., 0]
        deviation *= 1.0 - stiffness
        shifts = numbers.ROOT_SHIFT_DEVIATION * self.skeleton.translatable[tree.nodes[tree.roots]]
        if method.root == "pull":
            deviation[top] *= numbers.PULLED_ROOT
            shifts *= numbers.PULLED_ROOT
        growth = numbers.STRETCH_DEVIATION * self.skeleton.stretch[tree.nodes[tree.stretching]]
        self.variance: Array = np.square(np.concatenate([deviation.ravel(), shifts.ravel(), growth]))
        if len(tree.stretching) and self.start.scales is None:
            ones = np.ones_like(self.start.translations)
            self.start, self.reference = replace(self.start, scales=ones), replace(self.reference, scales=ones)

    def _prepare_levels(self) -> None:
        levels = self.rows.levels
        count = len(levels)
        shares = [numbers.LEVEL_DAMPING ** (count - 1.0 - level) for level in range(count)]
        sizes = [level.stop - level.start for level in levels]
        self.damping_shares = np.repeat(shares, sizes) if count <= 2 else None
        self.last_phase = numbers.TOP_LEVEL if count > 1 else numbers.EXACT
        self.level_weights = numbers.LEVEL_WEIGHT ** np.arange(count - 1.0, -1.0, -1.0)
        method = self.method
        self.tolerances: Array = np.where(
            self.rows.turning, method.rotation_tolerance, self.position_tolerance / self.unit
        )

    @property
    def goals(self) -> tuple[AnyGoal, ...]:
        return self.rows.goals

    def retarget(self, index: int, goal: AnyGoal) -> None:
        """Give goal `index` other targets and weights; all else of it stays as it was."""
        before = self._goal(index)
        if type(goal) is not type(before):
            raise CoreError(f'The goal of "{before.bone}" is to go on as a {type(before).__name__}.')
        for name in ("bone", "other", "relative_to"):
            old, new = getattr(before, name, None), getattr(goal, name, None)
            named = [None if bone is None else self.skeleton.index(bone) for bone in (old, new)]
            if named[0] != named[1]:
                raise CoreError(f'Goal {index} is one of "{before.bone}"; other bones need `with_goals`.')
        for name in ("position", "rotation", "position_axes", "rotation_axes", "axes"):
            if (getattr(before, name, None) is None) != (getattr(goal, name, None) is None):
                name = name if name.endswith("axes") else f"a {name}"
                raise CoreError(f'The goal of "{before.bone}" is to go on with or without {name} as before.')
        for name in ("priority", "point", "axis", "bound", "supports", "masses", "up", "radius"):
            if not np.array_equal(getattr(before, name, 0), getattr(goal, name, 0)):
                raise CoreError(
                    f'The {name} of the goal of "{before.bone}" stays as it was; change it by `with_goals`.'
                )
        self._check_frames(goal.bone, *goal.batch_shapes())
        self.rows.retarget(index, goal)
        if self.frame is not None:
            self.frame.retarget()

    def move(self, index: int, position: Array | None = None, rotation: Array | None = None) -> None:
        """Give goal `index` other targets only: a tick of a drag."""
        goal = self._goal(index)
        targets: list[Array | None] = []
        for name, target, size in (("position", position, 3), ("rotation", rotation, 4)):
            if target is None:
                targets.append(None)
                continue
            if getattr(goal, name, None) is None:
                raise CoreError(f'The goal of "{goal.bone}" has no {name} to move.')
            try:
                array = np.asarray(target, float)
            except (TypeError, ValueError):
                raise CoreError(f'The {name} of the goal of "{goal.bone}" needs numbers.') from None
            if array.shape[-1:] != (size,):
                raise CoreError(f'The {name} of the goal of "{goal.bone}" needs {size} numbers.')
            if not (np.abs(array) <= LARGEST).all():
                raise CoreError(f'The target of "{goal.bone}" is not a finite number.')
            if size == 4 and (np.abs(np.sum(array * array, axis=-1) - 1.0) > numbers.UNIT).any():
                raise CoreError(f'The rotation of the goal of "{goal.bone}" is no unit quaternion.')
            if array.ndim > 1:  # one target is for all frames
                self._check_frames(goal.bone, array.shape[:-1])
            targets.append(array)
        self.rows.move(index, *targets)
        if self.frame is not None:
            self.frame.aim(turned=rotation is not None)

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
        """Move the targets of goals with velocities on."""
        if not isinstance(seconds, (int, float, np.number)) or not np.isfinite(seconds):  # pyright: ignore
            raise CoreError(f"Goals move on by a number of seconds, not by {seconds!r}.")
        for index, goal in enumerate(self.goals):
            if isinstance(goal, Goal):
                self.retarget(index, goal.moved(seconds))

    def with_goals(self, goals: Sequence[AnyGoal]) -> "Problem":
        """The same body with other goals, from where the last solve ended: pins come and go without a jump.

        The pose there becomes the reference, unless the method names one.
        """
        pose = self._pose_at(self.x).reshape(self.batch_shape)
        return Problem(self.method, self.skeleton, pose, goals)

    # -- state and pose ---------------------------------------------------------------------------------------------

    def _state_of(self, pose: Pose) -> Array:
        """x (n, D) of a flat pose of the first n frames."""
        count = len(pose.rotations)
        references = rotation.inv(self._joint_references[:count])
        turns = rotation.log(rotation.mul(references, pose.rotations[:, self._joint_bones]))
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

    def _bends(self) -> Array | None:
        """(3 R,) the method's bends about the axes of x."""
        if self.method.bends is None:
            return None
        bends = self.method.bends[self._joint_bones]
        bends = bends if self._axes is None else rotation.rotate(rotation.inv(self._axes), bends)
        return bends.reshape(-1)

    def _pose_at(self, x: Array) -> Pose:
        """The flat pose of the first frames: the reference's channels with x on top, all others as at the start."""
        count, tree = len(x), self.tree
        rotations = self.start.rotations[:count].copy()
        turns = x[:, : tree.turning].reshape(count, -1, 3)
        if self._axes is not None:
            turns = rotation.rotate(self._axes, turns)
        rotations[:, self._joint_bones] = rotation.mul(self._joint_references[:count], rotation.exp(turns))
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

    def _fit(self, x: Array) -> Links:
        return self.tree.fit(self._pose_at(x), x)

    def _fit_one(self) -> Links:
        """`_fit` where all frames have the same pose."""
        one = self.tree.fit(self._pose_at(self.x[:1]), self.x[:1])
        return one.spread(self.count)

    def pose(self) -> Pose:
        """The pose, flat, where the last solve ended."""
        return self._pose_at(self.x)

    def missing(self) -> tuple[Array, Array]:
        """Position errors in armature units and rotation errors (B, G) of the goals where the last solve ended."""
        lengths = self.rows.errors(self.links.place(self.x), np.arange(self.count)).lengths
        return self.rows.errors_of_goals(lengths)

    def place_of(self, bone: str | int, point: Vector, heads: Array, turns: Array) -> Array:
        """Where a point of a bone is, from heads (J, 3) and turns (J, 4)."""
        number = self.skeleton.index(bone)
        return heads[number] + rotation.rotate(turns[number], point)

    # -- solving ----------------------------------------------------------------------------------------------------

    def solve(self, near: bool = False, ways: Sequence[Array] = ()) -> Solution:
        """Solve from where the last solve ended (at first, from the start pose).

        near: what misses a goal, and is to settle, rests from where it began: neighbours that began alike rest alike.
        ways: and once more for each of these, from where its joints turn the other way about axes with a sign of -1,
        (J, 3); the best rest counts. What is pressed together buckles one way or the other. For goals of one priority
        only: with several a rest takes seconds.
        """
        if self.frame is not None:
            return self._solve_frame(self.frame)
        if self._dragged:
            found = self._tick(self.x)
        else:
            x = self._home_or(self.x)
            found, still = self._resting(x)
            if len(still) < self.count:
                resting, found = found, self.restarts.returned(self.restarts.bent(self._solve_flat(x)), x)
                found = self.restarts.elsewhere(found)
                if self.method.settle:
                    found = self._rested(self._begun(found, x) if near else found)
                    for signs in ways if len(self.rows.levels) == 1 else ():
                        found = self._buckled(found, signs)
                else:
                    found = self._ended(found)
                found.put(still, resting[still])
        if self.start.scales is not None:
            found = self._refitted(found)
        self._missed = ~self.met(found)
        self.x = found.x
        active = found.active[:, self.limit_rows.real]
        errors = self.rows.errors_of_goals(found.lengths)
        solution = self._solution(self._pose_at(found.x), *errors, found.iterations, self.met(found), active)
        return solution.reshape(self.batch_shape)

    def _resting(self, x: Array) -> tuple[Found, NDArray[np.int64]]:
        """Frames at x that missed a goal in the last solve and do not move from there, put to rest; and which they are.

        Gauss-Newton steps would lead them away first, and perhaps to another valley.
        """
        found = self._unknown(x)
        left = np.flatnonzero(self._missed) if self.method.settle else np.zeros(0, int)
        if not len(left):
            return found, left
        self._put_at(found, x, left)
        found = self._rested(found, left)
        stays = np.max(np.abs(found.x[left] - x[left]), axis=1, initial=0.0) < numbers.STAYS
        return found, left[stays & ~self.met(found[left])]

    def _ended(self, found: Found) -> Found:
        """The same with the last phase of frames that another start has brought further, as far as its steps went."""
        left = np.flatnonzero(~found.done)
        if len(left):
            self._go_on(found, left, left, numbers.LAST_STEPS, self.last_phase)
        return found

    def _begun(self, found: Found, x: Array) -> Found:
        """The same with frames that miss a goal where they began, at x: Gauss-Newton steps lead anywhere there."""
        missed = np.flatnonzero(~self.met(found))
        if len(missed):
            self._put_at(found, x, missed)
        return found

    def _buckled(self, found: Found, signs: Array) -> Found:
        """The same with frames that miss a goal put to rest from the other side, too, where that is better."""
        x = found.x.copy()
        x[:, : self.tree.turning] *= signs[self._joint_bones].reshape(-1)
        bent = np.max(np.abs(x - found.x), axis=1, initial=0.0) > numbers.BUCKLED
        left = np.flatnonzero(bent & ~self.met(found))
        if not len(left):
            return found
        other = self._unknown(found.x)
        x[left] = self.clamped(x[left], left)
        self._put_at(other, x, left)
        other = self._rested(other, left)
        found.iterations[left] += other.iterations[left]
        now, before = (self._newton.value(some.x[left], left) for some in (other, found))
        better = left[now < before * (1.0 - numbers.LIMIT_SLACK)]
        found.put(better, replace(other[better], iterations=found.iterations[better]))
        return found

    def _put_at(self, found: Found, x: Array, frames: NDArray[np.int64]) -> None:
        """Put some frames at x (B, D), with the errors that they have there."""
        errors = self.rows.errors(self.links[frames].place(x[frames]), frames)
        found.put(frames, replace(found[frames], x=x[frames], lengths=errors.lengths, costs=errors.costs))

    def _home_or(self, x: Array) -> Array:
        """x, but the reference in frames where that meets all goals: nothing is nearer to it, whatever came between."""
        if not self.method.settle:
            return x
        everything, home = np.arange(self.count), np.zeros_like(x)
        at = self.links.place(home)
        fits = self.met(self.rows.errors(at, everything))
        fits[self.limit_rows.outside(self.limit_rows.measure(at, everything), everything, numbers.LIMIT_SLACK)] = False
        return np.where(fits[:, None], home, x)

    def _refitted(self, found: Found) -> Found:
        """Solved again where scaled bones were not quite rigid: links are exact only where they were taken."""
        iterations, everything = found.iterations, np.arange(self.count)
        for _ in range(numbers.REFITS_OF_DRAG if self._dragged else numbers.REFITS):
            self.links = self._fit(found.x)
            errors = self.rows.errors(self.links.place(found.x), everything)
            same = np.abs(errors.lengths - found.lengths).max(axis=1) < numbers.REFITTED
            if np.all(same | self.met(errors)):
                break
            found = self._tick(found.x) if self._dragged else self._solve_flat(found.x)
            found = self._rested(found) if self.method.settle else found
            iterations = iterations + found.iterations
        self.links = self._fit(found.x)
        errors = self.rows.errors(self.links.place(found.x), everything)
        return replace(found, iterations=iterations, lengths=errors.lengths, costs=errors.costs)

    def _tick(self, x: Array) -> Found:
        """As `_solve_frame`, of a body or of goals that the lean form does not know."""
        frame = np.zeros(1, int)
        found = self._unknown(x)
        if self._out_of_reach:
            found = self._calmed(found)
        if not self._out_of_reach or (found.lengths <= numbers.NEARLY).all():
            found = self.restarts.bent(self._solve_chunks(found.x, frame))
            if not self.met(found).all():
                found = self._calmed(found)
        self._out_of_reach = not self.met(found).all()
        return found

    def _calmed(self, found: Found) -> Found:
        """A few steps to rest of a frame whose goals are out of reach."""
        x, steps, active, self._aims = self._newton.tick(found.x, self._aims)
        frame = np.zeros(1, int)
        errors = self.rows.errors(self.links.place(x), frame)
        return Found(x, found.iterations + steps, active, np.ones(1, bool), errors.lengths, errors.costs)

    @cached_property
    def _newton(self) -> Levels:
        return Levels(self)

    def clamped(self, x: Array, frames: NDArray[np.int64]) -> Array:
        """Frames at x with joints brought in that are outside their limits."""
        limits = self.limit_rows
        measured = limits.measure(self.links[frames].place(x), frames)
        outside = limits.outside(measured, frames, numbers.LIMIT_SLACK)
        if len(outside):
            x = x.copy()
            x[outside] = limits.clamp(x[outside], measured[outside], frames[outside])
        return x

    def _rested(self, found: Found, frames: NDArray[np.int64] | None = None) -> Found:
        """The same with frames (by default all) at rest: goals that are met stay so, others are as near as can be."""
        if not self.tree.degrees:
            return found
        nearly = numbers.NEARLY_PULLED if self.method.root == "pull" else numbers.NEARLY
        met = self.met(found)
        chosen = np.ones(len(met), bool) if frames is None else np.isin(np.arange(len(met)), frames)
        for firm in (True, False):
            group = np.flatnonzero(chosen & (met == firm))
            for part in np.split(group, range(numbers.NEWTON_CHUNK, len(group), numbers.NEWTON_CHUNK)):
                if not len(part):
                    continue
                x, steps, active = self._newton.rest(found.x[part], part, firm)
                errors = self.rows.errors(self.links[part].place(x), part)
                near = np.all(errors.lengths <= nearly, axis=1)
                # soft limits have their share, and more than two levels, or a first one out of reach, their own way
                alike = len(self.rows.levels) <= 2 and not self.limit_rows.variance.any()
                above = len(self.rows.levels) == 1 or ~self._newton.lacks_first(x, part)
                some = np.flatnonzero(near & above & alike)
                if len(some):  # met or not, alike: at the edge of reach there is no step between the two
                    shares = nearly / np.maximum(errors.lengths[some].max(axis=1), numbers.DAMPING)
                    x[some], more, active[some] = self._newton.sharpened(x[some], part[some], shares)
                    steps[some] += more
                    errors.put(some, self.rows.errors(self.links[part[some]].place(x[some]), part[some]))
                    near[some] = np.any(errors.lengths[some] > numbers.STIFFLY * self.tolerances, axis=1)
                # where `Levels` has brought them level by level there is nothing more to do
                led = ~near & (len(self.rows.levels) == 2) & ~self._newton.lacks_first(x, part)
                for some, phase in ((near, numbers.EXACT), (led, numbers.TOP_LEVEL)):
                    some = np.flatnonzero(some)
                    if not len(some):
                        continue
                    last = self.iterate(x[some], part[some], numbers.FINAL_STEPS, phase)
                    if phase == numbers.EXACT:  # where it is out of reach such steps lead along the edge, anywhere
                        costs = [some_errors.costs @ self.level_weights for some_errors in (last, errors[some])]
                        worth = np.flatnonzero(self.met(last) | (costs[0] < numbers.WORTH_RESTART * costs[1]))
                        some, last = some[worth], last[worth]
                    if len(some):
                        x[some], active[some] = last.x, active[some] | last.active
                        errors.put(some, self.rows.errors(self.links[part[some]].place(last.x), part[some]))
                x = self.clamped(x, part)
                errors = self.rows.errors(self.links[part].place(x), part)
                done = np.ones(len(part), bool)
                rested = Found(x, found.iterations[part] + steps, active, done, errors.lengths, errors.costs)
                kept = np.array(not firm) | self.met(rested)  # what was met is not given away
                found.put(part[kept], rested[kept])
        return found

    def _solve_frame(self, frame: FrameSolver) -> Solution:
        """`solve` of a rigid skeleton in one frame."""
        x, used, active = self._vector, 0, frame.inactive
        if self._out_of_reach:  # Gauss-Newton steps would lead away from where it rests
            x, used, active = self._calm_frame(frame, x, used)
        if not self._out_of_reach or frame.nearly_met():
            x, more, active = frame.iterate(x)
            used += more
            if not frame.met():
                x, used, active = self.restarts.bent_frame(frame, x, used, active)
            if not frame.met():
                x, used, active = self._calm_frame(frame, x, used)
        return self._found_frame(frame, x, used, active)

    def _found_frame(self, frame: FrameSolver, x: Array, used: int, active: NDArray[np.bool_]) -> Solution:
        """The solution where `frame` has ended."""
        met = frame.met()
        self._out_of_reach = not met
        self._vector = x
        self.x = x[None]
        rotations, translations = frame.channels()
        position_error, rotation_error = frame.errors()
        pose = Pose.trusted(rotations, translations, *self._kept)
        steps = np.array(used)
        solution = self._solution(pose, position_error, rotation_error, steps, np.array(met), active, self._given)
        return solution.reshape(self.batch_shape) if self.batch_shape else solution

    def relax(self) -> Solution:
        """A step further to where the joints rest, targets as they are: what a drag does under a still mouse."""
        if self.frame is None or self._out_of_reach:
            return self.solve()
        x, used, active = self.frame.relax(self._vector)
        return self._found_frame(self.frame, x, used, active)

    def _calm_frame(self, frame: FrameSolver, x: Array, used: int) -> tuple[Array, int, NDArray[np.bool_]]:
        """A few steps to rest of a frame whose goals are out of reach: tick by tick it gets there and stays."""
        rested, steps, active, self._aims = self._newton.tick(x[None], self._aims)
        frame.resume(rested[0], active[0])
        return rested[0], used + int(steps[0]), active[0, self.limit_rows.real]

    def _solution(
        self, pose: Pose, position_error: Array, rotation_error: Array, iterations: NDArray[np.int64],
        converged: NDArray[np.bool_], active: NDArray[np.bool_], given: tuple[Pose, NDArray[np.bool_]] | None = None,
    ) -> Solution:  # fmt: skip
        """`given`: the pose before and what of it was brought in, flat ones by default."""
        names = self.limit_rows.names
        tolerances = self.position_tolerance, self.method.rotation_tolerance
        return Solution(
            self.skeleton, self.goals, pose, position_error, rotation_error, iterations, converged, *tolerances,
            *(given or (self.given, self.brought_in)), self.method, names, active,
        )  # fmt: skip

    def _solve_flat(self, x: Array) -> Found:
        frames = np.arange(self.count)
        if not (self.method.coherent and self.count > 2):
            return self._solve_chunks(x, frames)
        # coarse to fine: a few frames from their own start, the others from what was found on either side of them;
        # those that are not done soon go on together with the next ones
        found, near = self._unknown(x), np.zeros(self.count, bool)
        for stride in numbers.STRIDES:
            knots = np.union1d(frames[::stride], frames[-1:])
            here, solved = knots[~found.done[knots]], np.flatnonzero(near)
            new = here[~near[here]]
            found.x[new] = x[new]
            if len(solved) > 1:
                found.x[new] += between(solved, found.x[solved] - x[solved], new)
            most = numbers.WAVE if len(solved) else numbers.FIRST_WAVE
            for part in chunks(here):
                self._go_on(found, part, part, most, fewest=max(1, len(part) // numbers.STRAGGLERS))
            near[here] = (found.lengths[here] <= numbers.NEARLY).all(axis=1)
        left = np.flatnonzero(~found.done)
        if len(left):
            further = self._solve_chunks(found.x[left], left)
            found.put(left, replace(further, iterations=found.iterations[left] + further.iterations))
        return found

    def _solve_chunks(self, x: Array, frames: NDArray[np.int64]) -> Found:
        """Solve the given frames from their x; stragglers of all chunks go on together."""
        found = self._unknown(x)
        for steps in numbers.SWEEPS:
            left = np.flatnonzero(~found.done)
            if steps is None and self.method.coherent:  # what lay between its neighbours was no good start
                found.x[left] = self.x[frames[left]]
            for part in chunks(left):
                self._go_on(found, part, frames[part], steps)
        return found

    def _go_on(
        self,
        found: Found,
        places: NDArray[np.int64],
        frames: NDArray[np.int64],
        most: int | None,
        first: int = numbers.NATURAL,
        fewest: int = 1,
    ) -> None:
        """`iterate` from where some places of `found` are, which stand for these frames."""
        further = self.iterate(found.x[places], frames, most, first, fewest)
        found.put(places, replace(further, iterations=found.iterations[places] + further.iterations))

    def _unknown(self, x: Array) -> Found:
        """Frames at x of which nothing is known yet."""
        count, blocks, levels = len(x), len(self.rows.owners), len(self.rows.levels)
        return Found(
            x.copy(),
            np.zeros(count, int),
            self.limit_rows.nothing(count),
            np.zeros(count, bool),
            np.zeros((count, blocks)),
            np.zeros((count, levels)),
        )

    def _far(self, errors: Errors, frames: NDArray[np.int64]) -> NDArray[np.int64]:
        """Frames in which everything that is wanted is far away, so that the root is best brought along first."""
        points = self.rows.plain_points
        if len(self.tree.roots) != 1 or not points or not (errors.lengths[:, :points] > numbers.FAR).any():
            return np.zeros(0, int)
        lengths = errors.lengths[:, :points]
        on = self.rows.scales[frames, : 3 * points : 3] > 0.0
        nearest = np.min(np.where(on, lengths, np.inf), axis=1)
        return np.flatnonzero(np.isfinite(nearest) & (nearest > numbers.FAR))

    def _way(self, links: Links, at: Kinematics, frames: NDArray[np.int64]) -> Array:
        """Shifts (B, 3) of the one root that bring it as far as the goals' points are away in the mean."""
        points, roots = self.rows.plain_points, slice(self.tree.turning, self.tree.moving)
        weight = self.rows.scales[frames, : 3 * points : 3] > 0.0
        gap = self.rows.target_points[frames] - at.points[:, :points]
        mean = np.sum(gap * weight[..., None], axis=1) / weight.sum(axis=1)[:, None]
        return (np.swapaxes(links.slide[:, 0], -1, -2) @ mean[..., None])[..., 0] * (self.variance[roots] > 0.0)

    def iterate(
        self, x: Array, frames: NDArray[np.int64], most: int | None, first: int = numbers.NATURAL, fewest: int = 1
    ) -> Found:
        """At `most` so many steps for the given frames of the batch, until they are met and settled.

        It ends, too, where less than `fewest` frames go on: a step costs nearly the same for few as for many.
        """
        if self.frames is not None:
            return self.frames.iterate(x, frames, most, first, fewest)
        method = self.method
        links = self.links[frames]
        x = x.copy()
        limits = self.limit_rows
        rows = self.rows
        scales = rows.ordered_scales(frames)
        still = numbers.NEARLY_SETTLED if method.settle else numbers.SETTLED
        active = np.ones((len(x), limits.count), bool)  # those that are at a bound: see `begin`
        iterations = np.zeros(len(x), int)
        damping = np.zeros(len(x))
        phase = np.full(len(x), first)
        calm = np.zeros(len(x), int)
        at = links.place(x)
        errors = rows.errors(at, frames)
        far = self._far(errors, frames)
        if len(far):
            x[far, self.tree.turning : self.tree.moving] += self._way(links[far], at[far], frames[far])
            at.put(far, links[far].place(x[far]))
            errors.put(far, rows.errors(at[far], frames[far]))
        # one-sided rows that hold: those at their bound, as long as a force presses them there
        held = errors.rows[:, rows.one_sided_rows] < numbers.LIMIT_NEAR * scales[:, rows.one_sided_rows]
        measured = limits.measure(at, frames)
        upper = self._upper_levels(errors)
        here = self._merit(errors, x, phase, limits.strain(measured, frames), upper)
        met = self.met(errors)
        # frames that are just within tolerance take a step, too: beside corrected neighbours they would jitter
        alive = np.arange(len(x)) if method.settle or method.coherent else np.flatnonzero(~met)
        budget = np.full(len(x), method.iterations)  # steps left in the phase
        while len(alive) >= fewest and (most is None or iterations.max() < most):
            whole = len(alive) == len(x)
            pick = slice(None) if whole else alive
            now = at if whole else at[alive]
            part = links if whole else links[alive]
            where = frames[alive]
            wish, share = errors.rows[pick], scales[pick]
            if phase.any() and len(rows.levels) > 1:
                wish *= (phase[pick] < numbers.TOP_LEVEL)[:, None] | self._kept_rows(upper[pick])
            if len(rows.one_sided):
                wish, share = self._switch(wish, share, held[pick])
            jacobian = rows.jacobian(part, now, share, where)
            prior = (phase[pick] == numbers.NATURAL) / (1.0 + damping[pick])
            linear = limits.linearize(now, measured if whole else measured[alive], where)
            step, active[pick], force = self._step(jacobian, wish, x[pick], linear, active[pick], damping[pick], prior)
            held[pick] = force[:, rows.one_sided_rows] < 0.0
            trial = x[pick] + shortened(step)
            there = part.place(trial)
            reached = limits.measure(there, where)
            drifted = limits.outside(reached, where, numbers.LIMIT_DRIFT)
            if len(drifted):
                trial[drifted] = limits.clamp(trial[drifted], reached[drifted], where[drifted])
                there.put(drifted, part[drifted].place(trial[drifted]))
                reached.put(drifted, limits.measure(there[drifted], where[drifted]))
            new = rows.errors(there, where)
            merit = self._merit(new, trial, phase[pick], limits.strain(reached, where), upper[pick])
            better = merit <= here[pick] * (1.0 + numbers.LIMIT_SLACK) + numbers.LIMIT_SLACK
            turned = np.max(np.abs(trial - x[pick]), axis=1, initial=0.0)
            rest = turned < still
            calming = method.settle or (method.coherent and turned > numbers.STRIDE)  # neighbours end alike
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
            met = self.met(errors)[alive]
            calm[alive] = np.where(rest, calm[alive] + 1, 0)
            budget[alive] -= 1
            patience = np.where(damping[alive] > 0.0, numbers.CALM_DAMPED, numbers.CALM)
            stuck = (calm[alive] >= patience) | (damping[alive] > numbers.LM_LIMIT) | (budget[alive] <= 0)
            done = met & ((rest & (damping[alive] == 0.0)) | stuck | np.logical_not(calming))
            done |= stuck & (phase[alive] >= self.last_phase)
            next_phase = alive[stuck & ~done]
            if len(next_phase):
                phase[next_phase] += 1
                damping[next_phase], calm[next_phase] = 0.0, 0
                budget[next_phase] = numbers.FINAL_STEPS if method.settle else numbers.LAST_STEPS
                soft, now = limits.strain(measured[next_phase], frames[next_phase]), errors[next_phase]
                upper[next_phase] = self._upper_levels(now)
                here[next_phase] = self._merit(now, x[next_phase], phase[next_phase], soft, upper[next_phase])
            alive = alive[~done]
        drifted = limits.outside(measured, frames, numbers.LIMIT_SLACK)
        if len(drifted):
            x[drifted] = limits.clamp(x[drifted], measured[drifted], frames[drifted])
            errors.put(drifted, rows.errors(links[drifted].place(x[drifted]), frames[drifted]))
        done = np.ones(len(x), bool)
        done[alive] = False
        return Found(x, iterations, active, done, errors.lengths, errors.costs)

    def _switch(self, wish: Array, share: Array, held: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Errors and scales with the one-sided rows off that are neither violated nor held by a force inwards."""
        places = self.rows.one_sided_rows
        on = (wish[:, places] < 0.0) | held
        wish, share = wish.copy(), share.copy()
        wish[:, places] *= on
        share[:, places] *= on
        return wish, share

    def _upper_levels(self, errors: Errors) -> NDArray[np.bool_]:
        """(B, L) the levels above the first that is clearly out of reach, at least the first."""
        missed = (errors.lengths > numbers.NEARLY) @ self.rows.block_in_level > 0.0
        upper = np.cumsum(missed, axis=1) == 0
        upper[:, 0] = True
        return upper

    def _kept_rows(self, levels: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(B, M) rows of the given levels (B, L)."""
        return np.repeat(levels, [level.stop - level.start for level in self.rows.levels], axis=1)

    def _merit(
        self, errors: Errors, x: Array, phase: NDArray[np.int64], soft: Array | float, upper: NDArray[np.bool_]
    ) -> Array:
        """What a step must not raise, (B,)."""
        merit = errors.costs @ self.level_weights + (phase == numbers.NATURAL) * (self.strain(x) + soft)
        if self.last_phase < numbers.TOP_LEVEL:
            return merit
        return np.where(phase == numbers.TOP_LEVEL, (errors.costs * upper) @ self.level_weights, merit)

    def met(self, errors: Errors | Found) -> NDArray[np.bool_]:
        return np.all(errors.lengths <= self.tolerances, axis=1)

    def strain(self, x: Array) -> Array:
        """How far x is from the reference in standard deviations, squared, (B,)."""
        return (x * x) @ (1.0 / np.maximum(self.variance, numbers.DAMPING * numbers.DAMPING))

    def _step(
        self, jacobian: Array, rows: Array, x: Array, linear: LinearLimits, active: NDArray[np.bool_],
        damping: Array, prior: Array,
    ) -> tuple[Array, NDArray[np.bool_], Array]:  # fmt: skip
        """One step (B, D), the limits that are active in it, and the forces y (B, M) of the rows."""
        gain = prior[:, None]
        levelled = numbers.DAMPING * (1.0 + damping)
        wish = rows + gain * (jacobian @ x[..., None])[..., 0]
        if not self.limit_rows.count:
            weighted = self._weighted(jacobian)
            y = self.dual(weighted @ np.swapaxes(jacobian, -1, -2), wish, levelled)
            return (np.swapaxes(weighted, -1, -2) @ y[..., None])[..., 0] - gain * x, active, y
        active = linear.begin(active)
        step, forces = np.empty_like(x), np.empty_like(wish)
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
            step[pick], forces[pick] = z - share * own, y
            if turn == numbers.ACTIVE_SET_ROUNDS - 1:
                break
            force = (np.swapaxes(jac, -1, -2) @ y[..., None])[..., 0]
            push = z / np.maximum(self.variance, numbers.DAMPING * numbers.DAMPING) - force
            changed = part.revise(active[pick], step[pick], push, release=turn < 2)
            active[pick] = active[pick] ^ changed
            todo = todo[changed.any(axis=1)]
            if not len(todo):
                break
        return step, active, forces

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
        for number, level in enumerate(self.rows.levels):
            own = gram[:, level, level]
            here = eye[: own.shape[-1], : own.shape[-1]]
            z = np.linalg.solve(own + damping[:, None, None] * here, residual[:, level, None])
            y += (np.swapaxes(combine[:, level], -1, -2) @ z)[..., 0]
            if number == len(self.rows.levels) - 1:
                break
            rest = slice(level.stop, size)
            across = gram[:, level, rest]
            residual[:, rest] -= (np.swapaxes(across, -1, -2) @ z)[..., 0]
            project = np.swapaxes(np.linalg.solve(own + numbers.CUT * here, across), -1, -2)
            gram[:, rest, rest] -= project @ across
            combine[:, rest] -= project @ combine[:, level]
        return y


def chunks(frames: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The frames in parts that are solved together."""
    return np.split(frames, range(numbers.CHUNK, len(frames), numbers.CHUNK)) if len(frames) else []


def between(knots: NDArray[np.int64], values: Array, places: NDArray[np.int64]) -> Array:
    """Values (n, D) at places between knots (k,), which are sorted and two at least: cubic Hermite splines."""
    slopes = np.gradient(values, knots, axis=0, edge_order=1)
    after = np.clip(np.searchsorted(knots, places), 1, len(knots) - 1)
    before = after - 1
    size = (knots[after] - knots[before])[:, None]
    t = np.clip((places - knots[before])[:, None] / size, 0.0, 1.0)
    s = 1.0 - t
    straight = s * values[before] + t * values[after]
    rise = (values[after] - values[before]) / size
    return straight + s * t * size * (s * (slopes[before] - rise) - t * (slopes[after] - rise))
