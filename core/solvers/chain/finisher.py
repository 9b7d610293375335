"""The finisher of a chain of ball joints: damped least squares over all joints, for one frame or many.

With r_k from pivot k to the effector, the rotation vectors of least squares that close a gap g are w_k = r_k x y, where
(sum_k |r_k|^2 I - r_k r_k^T + damping) y = g is 3 by 3. What lies beyond pivot k turns by their sum up to k: by the
rotation whose tangent of half the angle is half of that sum (Cayley's), which takes no trigonometry. Every link is kept
in armature space, with how it has turned in all: quaternions of any length, until the end. The damping is Levenberg's
and Marquardt's, in shares of the trace of J J^T.
"""

from typing import Any, Final

from .plan import Plan
from .walk import Number, Operations, Triple

_STEPS: Final = 60
FIRST_DAMPING: Final = 3e-3
_LEAST_DAMPING: Final = 1e-3  # a damping of at most this is lowered to 0
_GROWTH: Final = 8.0
_GIVEN_UP: Final = 1e4
_DONE: Final = _GROWTH * _GIVEN_UP  # a damping that ends the iteration
_RESTS: Final = 1e-3  # share of the tolerance by which a step must come nearer, or it was the last one
RIDGE: Final = 1e-12  # damping that is always added: chains in a line are singular


class Finisher:
    """The iteration, with numbers or arrays (B,).

    distance  between effector and target, armature units
    used      steps made
    """

    def __init__(self, plan: Plan, operations: Operations, distance: Number) -> None:
        self.plan, self.operations, self.distance = plan, operations, distance
        self.damping: Number = FIRST_DAMPING
        self.used: Number = 0

    def iterate(self) -> None:
        """Make steps until the target is reached, or no step comes nearer."""
        tolerance, where, maximum = self.plan.tolerance, self.operations.where, self.operations.maximum
        rests = _RESTS * tolerance
        for _ in range(_STEPS):
            going = self.keep((self.distance > tolerance) & (self.damping <= _GIVEN_UP))
            if going is None:
                return
            self.used += going
            new, damping, distance = self.step(), self.damping, self.distance
            better = going & (new < distance)
            lowered = (damping > _LEAST_DAMPING) * damping / _GROWTH + (distance - new < rests) * _DONE
            self.damping = where(better, lowered, maximum(_LEAST_DAMPING, damping * _GROWTH))
            self.take(better)

    def keep(self, going: Any) -> Any:
        """Return `going` of the frames that are gone on with; None if there are none."""
        raise NotImplementedError

    def step(self) -> Number:
        """Try a step of least squares; return the distance after it."""
        raise NotImplementedError

    def take(self, better: Any) -> None:
        """Make the step that was tried where it is `better`."""
        raise NotImplementedError


def half_of_y(gap: Triple, moments: tuple[Number, Number, Number, Number, Number, Number], more: Number) -> Triple:
    """Return half of y, for half angles, in (sum of r^2 I - r r^T + more I) y = gap.

    Moments are the sums of xx, yy, zz, xy, xz, yz over all r = (x, y, z).
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
