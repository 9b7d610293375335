"""What the joints of a chain see while they are turned one after the other: in one frame or in many.

Vectors and quaternions are tuples of numbers here: of floats in one frame (`ChainFrame`: an array operation would cost
as much as thirty multiplications), of arrays (B,) in many (`ChainBatch`). The arithmetic is the same.
"""

from itertools import pairwise
from typing import Any

from .path import JointPath
from .plan import Plan, Step

Number = Any  # float, or array (B,)
Triple = tuple[Number, Number, Number]
Quaternion = tuple[Number, Number, Number, Number]

STILL: Quaternion = (1.0, 0.0, 0.0, 0.0)  # this very tuple: a joint that was not turned yet
NOWHERE: Triple = (0.0, 0.0, 0.0)


class ChainWalk:
    """A chain on its way to a target. See `chain` for l (links), s (turns), t (targets) and e (effectors).

    Targets are known for the pivots up to `_down`, effectors for those from `_up` on: a turn of one joint leaves the
    target of those before it and the effector of those beyond it as they are, and only what is asked for is found anew.
    """

    def __init__(self, path: JointPath, plan: Plan) -> None:
        self.inverted, self.plan, self.count = path.inverted, plan, len(path.bones)
        bounds = [*path.stretches, self.count]
        self.stretches = list(pairwise(bounds))
        self.links: list[Triple] = []
        self.axes: list[list[Triple]] = []
        self.rotations: list[Quaternion] = []
        self.targets: list[Triple] = [NOWHERE] * (self.count + 1)
        self.effectors: list[Triple] = [NOWHERE] * (self.count + 1)
        self.target: Triple = NOWHERE

    def aim(self, target: Triple) -> None:
        """Take a target in armature space."""
        self.target = target
        self._enter(0)

    def see(self, node: int) -> tuple[Triple, Triple]:
        """Target and effector as seen from a node, which may then be turned by `turn`; no other one may."""
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

    def axis(self, step: Step) -> Triple:
        """The axis of a step in the frame in front of its joint."""
        given = self.axes[step.node][step.axis]
        return rotate(self.rotations[step.node], given) if self.inverted[step.node] else given

    def gap(self) -> Triple:
        """From the effector to the target; turned with the base."""
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
        """From the first pivot of a stretch to its end."""
        x, y, z = NOWHERE
        for node in range(end - 1, first - 1, -1):
            lx, ly, lz = self.links[node + 1]
            x, y, z = rotate(self.rotations[node], (lx + x, ly + y, lz + z))
        return x, y, z


def full_rotation(axis: Triple, t: Triple, e: Triple) -> tuple[Number, Number, Number, Number]:
    """Sine and cosine, both times the same, of the angle about a unit axis that takes e nearest to t.

    And the squares of the distances of t and e from the axis: where one is none, there is no such angle.
    """
    (ax, ay, az), (tx, ty, tz), (ex, ey, ez) = axis, t, e
    along_t, along_e = ax * tx + ay * ty + az * tz, ax * ex + ay * ey + az * ez
    sine = ax * (ey * tz - ez * ty) + ay * (ez * tx - ex * tz) + az * (ex * ty - ey * tx)
    cosine = ex * tx + ey * ty + ez * tz - along_t * along_e
    square_t = tx * tx + ty * ty + tz * tz - along_t * along_t
    square_e = ex * ex + ey * ey + ez * ez - along_e * along_e
    return sine, cosine, square_t, square_e


def half_of_y(gap: Triple, moments: tuple[Number, Number, Number, Number, Number, Number], more: Number) -> Triple:
    """Half of y, for half angles, in (the sum of r^2 I - r r^T, + more I) y = gap.

    Moments are the sums of xx, yy, zz, xy, xz, yz of all r = (x, y, z).
    """
    (gx, gy, gz), (xx, yy, zz, xy, xz, yz) = gap, moments
    a, b, c = yy + zz + more, xx + zz + more, xx + yy + more
    # the inverse of [[a, -xy, -xz], [-xy, b, -yz], [-xz, -yz, c]] by cofactors
    p, q, r = b * c - yz * yz, xy * c + xz * yz, xy * yz + b * xz
    s = a * yz + xy * xz
    half = 0.5 / (a * p - xy * q - xz * r)
    return (
        half * (p * gx + q * gy + r * gz),
        half * (q * gx + (a * c - xz * xz) * gy + s * gz),
        half * (r * gx + s * gy + (a * b - xy * xy) * gz),
    )


def mul(a: Quaternion, b: Quaternion) -> Quaternion:
    """First b, then a."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
    )


def rotate(turn: Quaternion, vector: Triple) -> Triple:
    """A vector turned."""
    w, x, y, z = turn
    vx, vy, vz = vector
    ux, uy, uz = y * vz - z * vy, z * vx - x * vz, x * vy - y * vx
    ux, uy, uz = ux + ux, uy + uy, uz + uz
    return vx + w * ux + y * uz - z * uy, vy + w * uy + z * ux - x * uz, vz + w * uz + x * uy - y * ux
