"""A list learned from a motion: the order, fractions and angles with which contribution CCD comes nearest to it.

The method gets the motion's first pose and the path of its effector; the joints' rotations in this replay are compared
with those in the motion. The first guess is the fraction that each joint made of the rotation that brings the effector
to its next position. A local search then tries other fractions, angles and places in the list, one at a time, and keeps
those that bring the replay nearer.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..goals import Bone, Goal, Vector
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Indices, Skeleton
from ..solvers import ContributionCCD, solve
from ..solvers.chain.actuations import AXES, Actuation
from ..solvers.chain.one_frame import ChainFrame
from ..solvers.chain.path import bones_between, effector_place, find_path, posed
from ..solvers.chain.walk import full_rotation
from ..steps import Progress, no_progress, run_steps

_STILL: Final = float(np.radians(0.5))  # a joint that turns less about an axis does not turn about it
_FRAMES: Final = 240  # of the motion, at most, that a try replays
_STEPS: Final = (0.2, 0.1, 0.05)  # changes of fractions, round by round
_ANGLES: Final[tuple[float, ...]] = tuple(np.radians([0.0, 0.25, 1.0, 3.0]).tolist())
_WORTH: Final = 0.998  # share of the error: a try with less is kept
_LOST: Final = 10.0  # tolerances: a replay that is farther from its target has lost it
_OFF: Final = float(np.radians(60.0))  # radians added to the error of a frame that has lost its target


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned list. Errors are mean angles between own rotations in the replay and in the motion, radians.

    error          over all frames and joints
    joint_errors   over the frames, by bone
    uniform_error  of the list with the same fraction for all joints, for comparison
    """

    actuations: tuple[Actuation, ...]
    error: float
    joint_errors: dict[str, float]
    uniform_error: float


def learn(
    skeleton: Skeleton,
    motion: Pose,
    effector: Bone,
    base: Bone | None = None,
    point: Vector = (0.0, 0.0, 0.0),
    method: ContributionCCD | None = None,
    progress: Progress = no_progress,
) -> Learned:
    """Return a list fitted to a motion (F,) of the chain from a base to a point (3,) of an effector.

    `method` has the other settings that the list will be used with. Raises CoreError if the motion has fewer than three
    frames, or if the chain does not move in it.
    """
    return run_steps(learning(skeleton, motion, effector, base, point, method), progress)


def learning(
    skeleton: Skeleton,
    motion: Pose,
    effector: Bone,
    base: Bone | None = None,
    point: Vector = (0.0, 0.0, 0.0),
    method: ContributionCCD | None = None,
) -> Generator[float, None, Learned]:
    """Do what `learn` does one try at a time; yields the share that is done, 0 to 1."""
    if len(motion.batch_shape) != 1 or motion.batch_shape[0] < 3:
        raise CoreError("A contribution list can only be learned from a motion of at least 3 frames.")
    replay = Replay(skeleton, motion, effector, base, point, method)
    uniform = uniform_list(skeleton, replay.joints)
    best = yield from replay.refined(replay.guess())
    errors = replay.errors(best)
    return Learned(
        best,
        float(errors.mean()),
        {skeleton.names[bone]: float(error) for bone, error in zip(replay.joints, errors.mean(axis=0), strict=True)},
        float(replay.errors(uniform).mean()),
    )


def uniform_list(skeleton: Skeleton, joints: list[int]) -> tuple[Actuation, ...]:
    """Return the list of all joints about all axes, from the base on, with the same fraction."""
    return tuple(Actuation(skeleton.names[bone], axis, 1.0 / len(joints)) for bone in joints for axis in AXES)


class Replay:
    """A motion (F,) with its chain, and replays of it: the method follows the path of the effector."""

    def __init__(
        self,
        skeleton: Skeleton,
        motion: Pose,
        effector: Bone,
        base: Bone | None = None,
        point: Vector = (0.0, 0.0, 0.0),
        method: ContributionCCD | None = None,
    ) -> None:
        self.skeleton, self.motion, self.effector = skeleton, motion, skeleton.index(effector)
        against, along = bones_between(skeleton, base, effector)
        self.joints = [
            bone for bone in (*against, *along)
            if skeleton.movable[bone] and not skeleton.driven[bone] and (bone != self.effector or np.any(point))
        ]  # fmt: skip
        if not self.joints:
            raise CoreError(f'No bone between the base and "{skeleton.names[self.effector]}" can rotate.')
        everything = uniform_list(skeleton, self.joints)
        self.method = replace(method or ContributionCCD(everything), base=base, successive=True)
        self.inverted = np.array([bone in against for bone in self.joints])
        self.heads, self.frames = forward(skeleton, motion)
        self.own = motion.rotations[:, self.joints]
        goal = Goal(self.effector, self.heads[:, self.effector], point=point)
        self.path = effector_place(skeleton, goal, self.heads, self.frames)
        self.goal = replace(goal, position=self.path)
        # all frames have the joints of the first one: a replay knows only the path
        still = np.repeat(self.own[:1], len(self.own), axis=0)
        self.given = posed(skeleton, motion, find_path(skeleton, everything, base, effector), still)

    def errors(self, actuations: tuple[Actuation, ...]) -> Array:
        """Return the angles (F, n) between the joints' own rotations in the replay and in the motion, radians."""
        solution = solve(self.skeleton, self.given, [self.goal], replace(self.method, actuations=actuations))
        return rotation.angle_between(solution.pose.rotations[:, self.joints], self.own)

    def guess(self) -> tuple[Actuation, ...]:
        """Return the fractions that joints made of their full rotations from frame to frame, largest turns first."""
        turns = rotation.log(rotation.mul(self.own[1:], rotation.inv(self.own[:-1])))
        turns = np.where(self.inverted[:, None], -turns, turns)
        axes = rotation.to_matrix(rotation.mul(self.frames[:, self.joints], rotation.inv(self.own)))
        pivots, here = self.heads[:-1, self.joints], self.path[:-1, None]
        there = self._seen_from_base(np.arange(len(self.path) - 1), np.arange(1, len(self.path)))[:, None]
        found: list[tuple[float, Actuation]] = []
        for number, axis in enumerate(AXES):
            vectors = axes[:-1, :, :, number], there - pivots, here - pivots
            sine, cosine, *_ = full_rotation(*((v[..., 0], v[..., 1], v[..., 2]) for v in vectors))
            full: Array = np.arctan2(sine, cosine)
            made: Array = turns[..., number]
            spread = np.ptp(np.cumsum(made, axis=0), axis=0)
            shares = np.sum(made * full, axis=0) / np.maximum(np.sum(full * full, axis=0), np.finfo(float).tiny)
            for place, bone in enumerate(self.joints):
                if spread[place] > _STILL:
                    share = float(np.clip(shares[place], 0.0, 1.0))
                    found.append((float(spread[place]), Actuation(self.skeleton.names[bone], axis, share)))
        if not found:
            raise CoreError(f'None of the parents of "{self.skeleton.names[self.effector]}" rotates in this motion.')
        return tuple(one for _, one in sorted(found, key=lambda pair: -pair[0]))

    def _seen_from_base(self, at: Indices, of: Indices) -> Array:
        """Return positions (k, 3) of the effector in frames `of`, carried along with the base to frames `at`."""
        base = self.joints[0] if self.inverted[0] else int(self.skeleton.parents[self.joints[0]])
        if base < 0:
            return self.path[of]
        turn = rotation.mul(self.frames[at, base], rotation.inv(self.frames[of, base]))
        return self.heads[at, base] + rotation.rotate(turn, self.path[of] - self.heads[of, base])

    def refined(self, guess: tuple[Actuation, ...]) -> Generator[float, None, tuple[Actuation, ...]]:
        """Return the list after a local search, one change at a time; yields the share that is done."""
        best, least = guess, self._cost(guess)
        for number, step in enumerate(_STEPS):
            for place in range(len(guess)):
                for tried in _variants(best, place, step) if place < len(best) else ():
                    cost = self._cost(tried, _WORTH * least)
                    if cost < _WORTH * least:
                        best, least = tried, cost
                    yield (number + place / len(guess)) / len(_STEPS)
        yield 1.0
        return best

    def _cost(self, actuations: tuple[Actuation, ...], most: float = np.inf) -> float:
        """Return the mean error of a replay over some frames, in the base's frame, without least squares.

        The replay ends early when its error has reached `most`.
        """
        stride = -(-len(self.path) // _FRAMES)
        frames = np.arange(0, len(self.path), stride)
        one = replace(self.goal, position=self.path[0])
        method = replace(self.method, actuations=actuations, finish=False)
        walk = method.prepare(self.skeleton, self.given[0], [one]).walk
        assert isinstance(walk, ChainFrame)
        nodes = [self.joints.index(bone) for bone in walk.chain.path.bones]
        own, cost = self.own[0].copy(), 0.0
        for frame, (x, y, z) in zip(frames, self._seen_from_base(np.zeros_like(frames), frames).tolist(), strict=True):
            walk.reach((x, y, z))
            own[nodes] = walk.chain.own_rotations(walk.turns, 0)
            cost += float(rotation.angle_between(own, self.own[frame]).mean()) / len(frames)
            cost += _OFF * (walk.error > _LOST * walk.plan.tolerance) / len(frames)
            if cost >= most:
                break
        return cost


def _variants(actuations: tuple[Actuation, ...], place: int, step: float) -> Iterator[tuple[Actuation, ...]]:
    """Yield lists that differ in one entry: in its fraction or angle, in its place, or by its absence."""
    one = actuations[place]
    before, after = actuations[:place], actuations[place + 1 :]
    for fraction in (one.fraction - step, one.fraction + step):
        if 0.0 <= fraction <= 1.0:
            yield (*before, replace(one, fraction=fraction), *after)
    for angle in _ANGLES:
        if angle != one.angle:
            yield (*before, replace(one, angle=angle), *after)
    others = (*before, *after)
    for other in range(len(actuations)):
        if other != place:
            yield (*others[:other], one, *others[other:])
    if others:
        yield others
