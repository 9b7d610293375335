"""How far one joint in one frame can turn about an axis within ranges of Euler angles, in floats: see `limits.allowed`.

A turn by an angle t makes each entry of a rotation matrix middle + along cos t + beside sin t, and an angle is at its
bound where a sum of two entries is 0.
"""

from collections.abc import Sequence
from math import acos, atan2, cos, hypot, inf, isfinite, pi, sin
from typing import Final

from ... import rotation
from ...limits import EulerBox, Framed
from ...limits.bounds import turning_middle
from .limits import CLOSE, SLACK, Bounded, Room
from .walk import Quaternion, Triple

_ONE: Final = (1.0, 0.0, 0.0)  # the wave of a constant
_THIRDS: Final = (0, 1, 2)
_TURN: Final = 2.0 * pi


class EulerTurns:
    """Ranges of the Euler angles of one joint in one frame."""

    def __init__(self, limits: Bounded) -> None:
        group, lower, upper = limits
        box = group.group if isinstance(group, Framed) else group
        assert isinstance(box, EulerBox)
        self.left = self.right = None
        if isinstance(group, Framed):
            self.left, self.right = (rotation.to_matrix(frame[0]).tolist() for frame in group.frames)
        i, j, k, parity = rotation.axes_and_parity(box.orders[0])
        # row, column and sign of entries: sines of the angles, cosines of the first and third, beside that of the third
        self.places = ((k, j, parity), (k, i, -parity), (j, i, parity), (k, k, 1.0), (i, i, 1.0))
        middle = turning_middle(box.lower, box.upper)
        self.middle: list[float] = [0.0] * 3 if middle is None else middle.reshape(3).tolist()
        self.lower, self.upper = lower.reshape(3).tolist(), upper.reshape(3).tolist()
        self.bounds: list[tuple[int, float, float]] = []  # angle, cosine and sine of its bound
        for bounds in (self.lower, self.upper):
            for angle, bound in enumerate(bounds):
                at = bound if isfinite(bound) else self.middle[angle] + pi
                self.bounds.append((angle, 1.0 if angle == 1 else cos(at), sin(at)))

    def waves(self, own: Sequence[Sequence[float]], axis: int, sign: float) -> list[Triple]:
        """Return the waves of the entries as a joint with an own rotation (3, 3) turns about an axis, and of one."""
        one, other = (axis + 1) % 3, (axis + 2) % 3
        found: list[Triple] = []
        for row, column, share in self.places:
            first, second, third = (own[axis][column], own[one][column], own[other][column])
            if self.right is not None:
                first, second, third = (
                    sum(own[a][c] * self.right[c][column] for c in _THIRDS) for a in (axis, one, other)
                )
            if self.left is None:
                stays, here, there = float(row == axis), float(row == one), float(row == other)
            else:
                stays, here, there = self.left[row][axis], self.left[row][one], self.left[row][other]
            along, beside = here * second + there * third, there * second - here * third
            found.append((share * stays * first, share * along, share * sign * beside))
        return [*found, _ONE]

    def crossings(self, waves: Sequence[Triple], most: float) -> list[float]:
        """Return the angles up to `most` by which the joint may come to a bound."""
        found: list[float] = []
        for angle, cosine, sine in self.bounds:
            (a, b, c), (d, e, f) = waves[angle], waves[(3, 5, 4)[angle]]
            middle, along, beside = a * cosine - d * sine, b * cosine - e * sine, c * cosine - f * sine
            wave = hypot(along, beside)
            if abs(middle) <= wave and wave > 0.0:
                phase, apart = atan2(beside, along), acos(-middle / wave)
                found += [at for at in ((phase - apart) % _TURN, (phase + apart) % _TURN) if at < most]
        return found

    def room(self, waves: Sequence[Triple], turn: float) -> Room:
        """Return the size of the second angle of the joint turned by an angle, and how far all are from their bounds.

        Of the two triples for its rotation that are the angles of the one that is farther inside; outside it is
        negative.
        """
        cosine, sine = cos(turn), sin(turn)
        s1, s2, s3, c1, c3, _ = (a + b * cosine + c * sine for a, b, c in waves)
        first, second, third = atan2(s1, c1), atan2(s2, hypot(c3, s3)), atan2(s3, c3)
        farthest = -inf
        for angles in ((first, second, third), (first + pi, pi - second, third + pi)):
            across = inf
            for at, mid, low, high in zip(angles, self.middle, self.lower, self.upper, strict=True):
                here = (at - mid + pi) % _TURN - pi + mid
                across = min(across, here - low, high - here)
            farthest = max(farthest, across)
        return abs(second), farthest

    def is_inside(self, waves: Sequence[Triple], turn: float) -> bool:
        """Return whether the joint turned by an angle is in the ranges."""
        return self.room(waves, turn)[1] >= 0.0


def room_within(ranges: Sequence[EulerTurns], own: Quaternion) -> Room:
    """Return the room that ranges leave around an own rotation, for `limits.is_within`: it is that near to the pole."""
    matrix = _matrix(own)
    middles, across = zip(*(one.room(one.waves(matrix, 0, 1.0), 0.0) for one in ranges), strict=True)
    return max(middles), min(across) - CLOSE


def reach(ranges: Sequence[EulerTurns], own: Quaternion, axis: int, angle: float) -> float:
    """Return the largest part of an angle about an axis, from the left, that keeps an own rotation inside all ranges.

    What is outside may turn inside.
    """
    matrix = _matrix(own)
    sign, size = (-1.0, -angle) if angle < 0.0 else (1.0, angle)
    waves = [(one, one.waves(matrix, axis, sign)) for one in ranges]
    ends = sorted([at for one, wave in waves for at in one.crossings(wave, size)])
    low, entered = 0.0, False
    for high in (*ends, size):
        if all(one.is_inside(wave, 0.5 * (low + high)) for one, wave in waves):
            entered = True
        elif entered:
            return sign * max(low - SLACK, 0.0)
        low = high
    return angle if entered else 0.0


def _matrix(own: Quaternion) -> tuple[Triple, Triple, Triple]:
    """Return the matrix of a rotation, in floats."""
    w, x, y, z = own
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )
