"""A list learnt from a motion: the order, fractions and angles with which contribution CCD comes nearest to it.

The motion's own first pose and the path of its effector are all that the method gets; how the joints then turn is
compared with how they did. First guess: what each joint made of the rotation that would have brought the effector to
where it went next. From there by trying: other fractions, angles and places in the list, one at a time, as long as the
replay comes nearer.
"""

from collections.abc import Callable, Generator, Iterator
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
from ..steps import finish

_STILL: Final = float(np.radians(0.5))  # a joint whose turns about an axis stay within this does not turn about it
_FRAMES: Final = 240  # of the motion, at most, that are replayed while trying
_STEPS: Final = (0.2, 0.1, 0.05)  # by which fractions are changed, round by round
_ANGLES: Final[tuple[float, ...]] = tuple(np.radians([0.0, 0.25, 1.0, 3.0]).tolist())
_WORTH: Final = 0.998  # share of the error that a try must come under to be kept
_LOST: Final = 10.0  # tolerances from its target at which a replay has lost it,
_OFF: Final = float(np.radians(60.0))  # which counts as so much of an error more


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learnt. Errors are mean angles between own rotations in the replay and in the motion, radians.

    error          over all frames and joints; joint_errors over the frames, by bone
    uniform_error  of the list in which all joints share alike, for comparison
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
    progress: Callable[[float], object] | None = None,
) -> Learned:
    """Fit a list to a motion (F,) of the chain from a base to a point of an effector.

    `method` has the other numbers that the list is to be used with. Raises CoreError for a motion of fewer than three
    frames, and for one in which the chain does not move.
    """
    return finish(learning(skeleton, motion, effector, base, point, method), progress)


def learning(
    skeleton: Skeleton,
    motion: Pose,
    effector: Bone,
    base: Bone | None = None,
    point: Vector = (0.0, 0.0, 0.0),
    method: ContributionCCD | None = None,
) -> Generator[float, None, Learned]:
    """`learn` a try at a time: yields the share that is done, so that others have their turn, or may end it."""
    if len(motion.batch_shape) != 1 or motion.batch_shape[0] < 3:
        raise CoreError("A list is learnt from a motion of at least 3 frames.")
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
    """All joints about all axes from the base on, each for the same part of the full rotation."""
    return tuple(Actuation(skeleton.names[bone], axis, 1.0 / len(joints)) for bone in joints for axis in AXES)


class Replay:
    """A motion (F,) with its chain, and what the method makes of the effector's path."""

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
            raise CoreError(f'No bone between the base and "{skeleton.names[self.effector]}" may turn.')
        everything = uniform_list(skeleton, self.joints)
        self.method = replace(method or ContributionCCD(everything), base=base, successive=True)
        self.inverted = np.array([bone in against for bone in self.joints])
        self.heads, self.frames = forward(skeleton, motion)
        self.own = motion.rotations[:, self.joints]
        goal = Goal(self.effector, self.heads[:, self.effector], point=point)
        self.path = effector_place(skeleton, goal, self.heads, self.frames)
        self.goal = replace(goal, position=self.path)
        # all frames with the joints of the first one: nothing of the motion is given away but the path
        still = np.repeat(self.own[:1], len(self.own), axis=0)
        self.given = posed(skeleton, motion, find_path(skeleton, everything, base, effector), still)

    def errors(self, actuations: tuple[Actuation, ...]) -> Array:
        """(F, n) angles between the joints' own rotations in the replay and in the motion."""
        solution = solve(self.skeleton, self.given, [self.goal], replace(self.method, actuations=actuations))
        return rotation.angle_between(solution.pose.rotations[:, self.joints], self.own)

    def guess(self) -> tuple[Actuation, ...]:
        """What each joint made of its full rotation from frame to frame, those that turned most first."""
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
            raise CoreError(f'Nothing that carries "{self.skeleton.names[self.effector]}" turns in this motion.')
        return tuple(one for _, one in sorted(found, key=lambda pair: -pair[0]))

    def _seen_from_base(self, at: Indices, of: Indices) -> Array:
        """Places (k, 3) of the effector at frames `of` as they would be if the base were where it is at frames `at`."""
        base = self.joints[0] if self.inverted[0] else int(self.skeleton.parents[self.joints[0]])
        if base < 0:
            return self.path[of]
        turn = rotation.mul(self.frames[at, base], rotation.inv(self.frames[of, base]))
        return self.heads[at, base] + rotation.rotate(turn, self.path[of] - self.heads[of, base])

    def refined(self, guess: tuple[Actuation, ...]) -> Generator[float, None, tuple[Actuation, ...]]:
        """The list changed one thing at a time as long as its replay comes nearer to the motion."""
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
        """The mean error of a replay over some frames, in the base's frame, without the pins solver's finish.

        A replay that has come to `most` already is not gone on with.
        """
        stride = -(-len(self.path) // _FRAMES)
        frames = np.arange(0, len(self.path), stride)
        one = replace(self.goal, position=self.path[0])
        method = replace(self.method, actuations=actuations)
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
    """Lists that differ in one entry: its fraction, its angle, where it is, or whether it is there at all."""
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
