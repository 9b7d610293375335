"""The walk of a chain towards a target, written once: for one frame with floats, for many with arrays (B,).

Vectors and quaternions are tuples of numbers here. In one frame they are floats, since an array operation costs as much
as thirty multiplications; in many frames they are arrays. Both share the arithmetic, the passes and sweeps
(`ChainWalk`) and the iteration of the finisher (`Finisher`). Three pieces exist in both forms, because one form would
be slower in the other's place and would round differently:

- the sweep over ball joints in one frame has its calls written out (`ChainFrame._sweep_balls`);
- the step of the finisher goes through the links in one frame, and takes all links as one array in many;
- a shortest rotation, and a rotation cut at limits, branch in one frame and have masks in many.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import atan2, copysign, cos, hypot, sin
from typing import Any, Final

import numpy as np

from .path import JointPath
from .plan import BALL, Plan, Round, Step

Number = Any  # float, or array (B,)
Triple = tuple[Number, Number, Number]
Quaternion = tuple[Number, Number, Number, Number]

STILL: Quaternion = (1.0, 0.0, 0.0, 0.0)  # this very tuple: a joint that was not turned yet
NOWHERE: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Operations:
    """What floats and arrays have different functions for."""

    sin: Callable[[Number], Number]
    cos: Callable[[Number], Number]
    atan2: Callable[[Number, Number], Number]
    copysign: Callable[[Number, Number], Number]
    minimum: Callable[[Number, Number], Number]
    maximum: Callable[[Number, Number], Number]
    where: Callable[[Any, Number, Number], Number]
    length: Callable[[Number, Number, Number], Number]


FLOATS: Final = Operations(sin, cos, atan2, copysign, min, max, lambda test, a, b: a if test else b, hypot)
ARRAYS: Final = Operations(
    np.sin, np.cos, np.arctan2, np.copysign, np.minimum, np.maximum, np.where,
    lambda x, y, z: np.sqrt(x * x + y * y + z * z),
)  # fmt: skip


class ChainWalk:
    """A chain on its way to a target. See `path` for l (links), s (turns), t (targets) and e (effectors).

    Targets are known for the pivots up to `_down`, effectors for those from `_up` on: a turn of one joint changes
    neither the target of the joints before it nor the effector of those beyond it, and only missing ones are computed.

    error   the distance between effector and target, armature units
    used    rounds made: passes and sweeps
    """

    def __init__(self, path: JointPath, plan: Plan, operations: Operations) -> None:
        self.inverted, self.plan, self.operations, self.count = path.inverted, plan, operations, len(path.bones)
        bounds = [*path.stretches, self.count]
        self.stretches = list(pairwise(bounds))
        self.links: list[Triple] = []
        self.axes: list[list[Triple]] = []
        self.own: list[Quaternion] = []
        self.frames: list[Quaternion] = []
        self.rotations: list[Quaternion] = []
        self.targets: list[Triple] = [NOWHERE] * (self.count + 1)
        self.effectors: list[Triple] = [NOWHERE] * (self.count + 1)
        self.target: Triple = NOWHERE
        self.error: Number = 0.0
        self.used: Number = 0

    def run(self) -> None:
        """Make the rounds of the plan as long as the target is missed and they help."""
        tolerance = self.plan.tolerance
        self.measure()
        going = self.error > tolerance
        for one in self.plan.rounds:
            if not self.keep(going):
                return
            before = self.error
            self.make(one)
            self.used += 1
            going = (self.error > tolerance) & ((self.error <= self.plan.stalled * before) | (not one.sweep))

    def make(self, one: Round) -> None:
        """Make one round."""
        for step in one.steps:
            self._actuate(step, one.larger)
        self.measure()

    def measure(self) -> None:
        """Set `error`, the distance from the effector to the target."""
        self.error = self.operations.length(*self.gap())

    # -- hooks of one frame and of many -------------------------------------------------------------------------------

    def keep(self, going: Any) -> bool:
        """Drop the frames that are not `going` (B,) any more; return whether any is left."""
        raise NotImplementedError

    def full_angle(self, sine: Number, cosine: Number, least: Number) -> Number | None:
        """Return the full rotation of which `full_rotation` has found sine and cosine; None: leave the joint alone."""
        raise NotImplementedError

    def shortest(self, e: Triple, t: Triple) -> Quaternion:
        """Return the shortest rotation from the direction of e to that of t; none where either vanishes."""
        raise NotImplementedError

    def limited(self, step: Step, angle: Number) -> Number:
        """Return how much of an angle the joint's limits allow."""
        raise NotImplementedError

    # -- one joint ----------------------------------------------------------------------------------------------------

    def _actuate(self, step: Step, larger: bool) -> None:
        """Turn one joint as far as its entry, and its limits, allow."""
        operations, node = self.operations, step.node
        t, e = self.see(node)
        if step.axis == BALL:
            self.turn(node, self.shortest(e, t))
            return
        axis = self.axis(step)
        sine, cosine, square_t, square_e = full_rotation(axis, t, e)
        full = self.full_angle(sine, cosine, operations.minimum(square_t, square_e))
        if full is None:
            return
        # never more than the full rotation, so that the effector does not pass its optimum
        most = abs(full)
        part = (operations.maximum if larger else operations.minimum)(step.fraction * most, step.angle)
        angle = operations.copysign(operations.minimum(part, most), full)
        if step.limited:
            angle = self.limited(step, angle)
        half = 0.5 * angle
        scale = operations.sin(half)
        self.turn(node, (operations.cos(half), scale * axis[0], scale * axis[1], scale * axis[2]))

    def aim(self, target: Triple) -> None:
        """Take a target in armature space."""
        self.target = target
        self._enter(0)

    def see(self, node: int) -> tuple[Triple, Triple]:
        """Return target and effector as seen from a node. Only this node may then be turned by `turn`."""
        if not self._first <= node < self._end:
            self._enter(next(i for i, (_, end) in enumerate(self.stretches) if node < end))
        while self._down < node:
            w, x, y, z = turn = self.rotations[self._down]
            tx, ty, tz = here = self.targets[self._down]
            if turn is not STILL:
                tx, ty, tz = rotate((w, -x, -y, -z), here)
            self._down += 1
            lx, ly, lz = self.links[self._down]
            self.targets[self._down] = (tx - lx, ty - ly, tz - lz)
        while self._up > node:
            lx, ly, lz = self.links[self._up]
            ex, ey, ez = self.effectors[self._up] if self._up < self._end else NOWHERE
            self._up -= 1
            turn, way = self.rotations[self._up], (lx + ex, ly + ey, lz + ez)
            self.effectors[self._up] = way if turn is STILL else rotate(turn, way)
        self._down = self._up = node
        return self.targets[node], self.effectors[node]

    def turn(self, node: int, turn: Quaternion) -> None:
        """Turn the joint that was seen last."""
        self.rotations[node] = mul(turn, self.rotations[node])
        self.effectors[node] = rotate(turn, self.effectors[node])

    def own_rotation(self, node: int) -> Quaternion:
        """Return the own rotation of a bone, as `Chain.own_rotations` does."""
        own, axes, turn = self.own[node], self.frames[node], self.rotations[node]
        if turn is STILL:
            return own
        local = mul(inverse(axes), mul(turn, axes))
        return mul(inverse(local) if self.inverted[node] else local, own)

    def axis(self, step: Step) -> Triple:
        """Return the axis of a step in the frame in front of its joint."""
        given = self.axes[step.node][step.axis]
        return rotate(self.rotations[step.node], given) if self.inverted[step.node] else given

    def gap(self) -> Triple:
        """Return the vector from the effector to the target, turned with the base."""
        (tx, ty, tz), (ex, ey, ez) = self.see(self._first) if self.count else (self.targets[0], NOWHERE)
        return tx - ex, ty - ey, tz - ez

    def _enter(self, stretch: int) -> None:
        """Begin with a stretch: its target is what the base and the other stretches leave of the way."""
        self._first, self._end = self.stretches[stretch]
        bx, by, bz = self.links[0]
        tx, ty, tz = self.target
        tx, ty, tz = tx - bx, ty - by, tz - bz
        for first, end in self.stretches:
            if first != self._first:
                x, y, z = self._spanned(first, end)
                tx, ty, tz = tx - x, ty - y, tz - z
        self.targets[self._first] = (tx, ty, tz)
        self._down, self._up = self._first, self._end

    def _spanned(self, first: int, end: int) -> Triple:
        """Return the vector from the first pivot of a stretch to its end."""
        x, y, z = NOWHERE
        for node in range(end - 1, first - 1, -1):
            lx, ly, lz = self.links[node + 1]
            x, y, z = rotate(self.rotations[node], (lx + x, ly + y, lz + z))
        return x, y, z


def full_rotation(axis: Triple, t: Triple, e: Triple) -> tuple[Number, Number, Number, Number]:
    """Return sine and cosine, both times one factor, of the angle about a unit axis that brings e nearest to t.

    And the squares of the distances of t and e from the axis: where one vanishes, there is no such angle.
    """
    (ax, ay, az), (tx, ty, tz), (ex, ey, ez) = axis, t, e
    along_t, along_e = ax * tx + ay * ty + az * tz, ax * ex + ay * ey + az * ez
    sine = ax * (ey * tz - ez * ty) + ay * (ez * tx - ex * tz) + az * (ex * ty - ey * tx)
    cosine = ex * tx + ey * ty + ez * tz - along_t * along_e
    square_t = tx * tx + ty * ty + tz * tz - along_t * along_t
    square_e = ex * ex + ey * ey + ez * ez - along_e * along_e
    return sine, cosine, square_t, square_e


def carried_links(turns: Iterable[Quaternion], links: Iterable[Triple]) -> Iterator[tuple[Quaternion, Triple]]:
    """Yield for each link of one stretch how it has turned in all, STILL if not at all, and its vector from then on."""
    carried = STILL
    for turn, link in zip(turns, links, strict=True):
        if turn is not STILL:
            carried = turn if carried is STILL else mul(carried, turn)
        yield carried, link if carried is STILL else rotate(carried, link)


def mul(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the quaternion product a b: the rotation by b, then by a."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
    )


def inverse(turn: Quaternion) -> Quaternion:
    """Return the inverse of a unit quaternion."""
    w, x, y, z = turn
    return w, -x, -y, -z


def rotate(turn: Quaternion, vector: Triple) -> Triple:
    """Return a vector rotated by a unit quaternion."""
    w, x, y, z = turn
    vx, vy, vz = vector
    ux, uy, uz = y * vz - z * vy, z * vx - x * vz, x * vy - y * vx
    ux, uy, uz = ux + ux, uy + uy, uz + uz
    return vx + w * ux + y * uz - z * uy, vy + w * uy + z * ux - x * uz, vz + w * uz + x * uy - y * ux
