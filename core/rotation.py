"""Rotations on arrays: unit quaternions (..., 4) in the order w, x, y, z, acting on column vectors.

Every function broadcasts over leading axes and leaves its input untouched. Angles are radians. Euler orders are
Blender's: in "XYZ" the rotation about X comes first, so the matrix is Rz @ Ry @ Rx.
"""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]  # of float64, or of float32 as Blender has them

EULER_ORDERS: Final = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
IDENTITY: Final[Array] = np.array([1.0, 0.0, 0.0, 0.0])

SMALL_ANGLE: Final = 1e-4  # radians: below it series replace sin(a) / a and similar; their error is less than 1e-17
_SERIES_ANGLE: Final = 1e-2  # radians: below it two terms of a series are exact to 1e-12, unlike differences
_GIMBAL: Final = 16.0 * float(np.finfo(np.float32).eps)  # threshold of Blender's mat3_to_eulo

# quaternion product as a bilinear form: (a b)_k = a_i b_j _PRODUCT[4 i + j, k]
_PRODUCT: Final[Array] = np.zeros((16, 4))
for _i, _j, _k, _sign in (
    (0, 0, 0, 1), (1, 1, 0, -1), (2, 2, 0, -1), (3, 3, 0, -1),
    (0, 1, 1, 1), (1, 0, 1, 1), (2, 3, 1, 1), (3, 2, 1, -1),
    (0, 2, 2, 1), (2, 0, 2, 1), (3, 1, 2, 1), (1, 3, 2, -1),
    (0, 3, 3, 1), (3, 0, 3, 1), (1, 2, 3, 1), (2, 1, 3, -1),
):  # fmt: skip
    _PRODUCT[4 * _i + _j, _k] = _sign

# rotation matrix as a linear map of the outer product q q^T (unit q)
_OUTER_TO_MATRIX: Final[Array] = np.zeros((16, 9))
for _row, _column, _terms in (
    (0, 0, ((0, 0, 1), (1, 1, 1), (2, 2, -1), (3, 3, -1))),
    (1, 1, ((0, 0, 1), (1, 1, -1), (2, 2, 1), (3, 3, -1))),
    (2, 2, ((0, 0, 1), (1, 1, -1), (2, 2, -1), (3, 3, 1))),
    (0, 1, ((1, 2, 2), (0, 3, -2))), (1, 0, ((1, 2, 2), (0, 3, 2))),
    (0, 2, ((1, 3, 2), (0, 2, 2))), (2, 0, ((1, 3, 2), (0, 2, -2))),
    (1, 2, ((2, 3, 2), (0, 1, -2))), (2, 1, ((2, 3, 2), (0, 1, 2))),
):  # fmt: skip
    for _p, _q, _factor in _terms:
        _OUTER_TO_MATRIX[4 * _p + _q, 3 * _row + _column] += _factor

# cross-product matrix as a linear map: skew(v) = (v @ SKEW).reshape(3, 3), skew(v) w = v x w
SKEW: Final[Array] = np.zeros((3, 9))
for _axis, _entry, _sign in ((2, 1, -1), (1, 2, 1), (2, 3, 1), (0, 5, -1), (1, 6, -1), (0, 7, 1)):
    SKEW[_axis, _entry] = _sign

# exp_terms: features 1, x, y, z, xx, xy, xz, yy, yz, zz, and those that add up to a^2
ONES: Final[Array] = np.ones(3)
_FIRST: Final = np.array([0, 0, 0, 1, 1, 2])
_SECOND: Final = np.array([0, 1, 2, 1, 2, 2])
# power series in a^2 of cos a, sin a / a, (1 - cos a) / a^2 and (a - sin a) / a^3; the terms suffice for two turns
_TERMS: Final = 24
_SERIES: Final[Array] = np.array(
    [[(-1.0) ** k / math.factorial(2 * k + odd) for odd in range(4)] for k in range(_TERMS)]
)
_SQUARES: Final[Array] = np.zeros((10, _TERMS))
_SQUARES[0, 0], _SQUARES[[4, 7, 9], 1:] = 1.0, 1.0
_SPREAD: Final[Array] = np.repeat(np.eye(3), [1, 3, 6], axis=1)
_BOTH_SPREAD: Final[Array] = np.concatenate(
    [np.eye(4)[:, [0, 1, 2]] @ _SPREAD, (np.eye(4)[:, [1, 2, 3]] * [1.0, -1.0, 1.0]) @ _SPREAD], axis=1
)
# matrices from powers of a^2 to weights of the features, for exp, its right Jacobian and the quaternion
POWERS_TO_TURN: Final[Array] = _SERIES @ _BOTH_SPREAD[:, :10]
POWERS_TO_RATE: Final[Array] = _SERIES @ _BOTH_SPREAD[:, 10:]
POWERS_TO_QUATERNION: Final[Array] = (0.5 ** np.arange(2 * _TERMS)).reshape(-1, 2)[:, [0, 1, 1, 1]] * (
    _SERIES[:, [0, 1, 1, 1]]  # of half the angle
)
_POWERS_TO_BOTH: Final[Array] = np.hstack([POWERS_TO_TURN, POWERS_TO_RATE])
_FEW: Final = 200  # vectors up to which the series is cheaper than sine and cosine
FEATURES_TO_MATRIX: Final[Array] = np.zeros((10, 9))
FEATURES_TO_MATRIX[0, ::4] = 1.0
FEATURES_TO_MATRIX[1:4] = SKEW
for _feature, (_p, _q) in enumerate(zip(_FIRST, _SECOND, strict=True), start=4):
    FEATURES_TO_MATRIX[_feature, [3 * _p + _q, 3 * _q + _p]] = 1.0


def mul(a: ArrayLike, b: ArrayLike) -> Array:
    """Return Hamilton products a b, which rotate by b first, then by a: (..., 4) x (..., 4) -> (..., 4)."""
    left, right = np.asarray(a, float), np.asarray(b, float)
    outer = left[..., :, None] * right[..., None, :]
    return outer.reshape(*outer.shape[:-2], 16) @ _PRODUCT


def inv(q: ArrayLike) -> Array:
    """Return the inverses (conjugates) of unit quaternions (..., 4)."""
    return np.asarray(q, float) * np.array([1.0, -1.0, -1.0, -1.0])


def conjugate(q: ArrayLike, frame: ArrayLike) -> Array:
    """Return rotations frame q frame^-1: those of q (..., 4), in a frame (..., 4), in the space of that frame."""
    return mul(frame, mul(q, inv(frame)))


def normalize(q: ArrayLike) -> Array:
    """Return quaternions (..., 4) with unit length; zero quaternions become the identity, as in Blender."""
    array = np.asarray(q, float)
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    return np.where(length > 0.0, array / np.where(length > 0.0, length, 1.0), IDENTITY)


def rotate(q: ArrayLike, vectors: ArrayLike) -> Array:
    """Return vectors (..., 3) rotated by unit quaternions (..., 4)."""
    quaternion, vector = np.asarray(q, float), np.asarray(vectors, float)
    return (to_matrix(quaternion) @ vector[..., None])[..., 0]


def lengths(vectors: ArrayLike) -> Array:
    """Return the Euclidean lengths (...) of vectors (..., n)."""
    array = np.asarray(vectors, float)
    return np.sqrt(np.sum(array * array, axis=-1))


def positive(q: ArrayLike) -> Array:
    """Return the quaternions (..., 4) of the same rotations with w >= 0."""
    array = np.asarray(q, float)
    return np.where(array[..., :1] < 0.0, -array, array)


def exp(vectors: ArrayLike) -> Array:
    """Return unit quaternions (..., 4) of rotation vectors (..., 3), axis times angle."""
    vector = np.asarray(vectors, float)
    half = 0.5 * np.sqrt((vector * vector) @ ONES)
    result = np.empty((*vector.shape[:-1], 4))
    result[..., 0] = np.cos(half)
    half = np.maximum(half, SMALL_ANGLE**2)
    np.multiply(vector, (0.5 * np.sin(half) / half)[..., None], out=result[..., 1:])
    return result


def log(q: ArrayLike) -> Array:
    """Return rotation vectors (..., 3), of length at most pi, of unit quaternions (..., 4)."""
    array = positive(q)
    sine = np.linalg.norm(array[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, array[..., :1])
    small = sine < SMALL_ANGLE
    factor = np.where(small, 2.0 + sine * sine / 3.0, angle / np.where(small, 1.0, sine))
    return factor * array[..., 1:]


def angle_between(a: ArrayLike, b: ArrayLike) -> Array:
    """Return angles in [0, pi] of the rotations from a to b: (..., 4) x (..., 4) -> (...)."""
    difference = mul(inv(a), b)
    return 2.0 * np.arctan2(np.linalg.norm(difference[..., 1:], axis=-1), np.abs(difference[..., 0]))


def slerp(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Array:
    """Interpolate from a (t = 0) to b (t = 1), unit quaternions (..., 4), along the shorter arc (Shoemake 1985).

    t (...) may be outside [0, 1].
    """
    return mul(a, exp(np.asarray(t, float)[..., None] * log(mul(inv(a), b))))


def swing_twist(q: ArrayLike, axis: ArrayLike) -> tuple[Array, Array]:
    """Return swing and twist (..., 4), both with w >= 0: q = swing * twist, the twist about the unit `axis` (..., 3).

    The twist is the identity if the swing is a half turn.
    """
    array, direction = np.asarray(q, float), np.asarray(axis, float)
    along = np.sum(array[..., 1:] * direction, axis=-1, keepdims=True) * direction
    twist = positive(normalize(np.concatenate([array[..., :1], along], axis=-1)))
    return positive(mul(array, inv(twist))), twist


def to_matrix(q: ArrayLike) -> Array:
    """Return rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    array = np.asarray(q, float)
    outer = array[..., :, None] * array[..., None, :]
    return (outer.reshape(*outer.shape[:-2], 16) @ _OUTER_TO_MATRIX).reshape(*array.shape[:-1], 3, 3)


def from_matrix(matrices: ArrayLike) -> Array:
    """Return unit quaternions (..., 4) with w >= 0 of rotation matrices (..., 3, 3) (Shepperd 1978, largest pivot)."""
    m = np.asarray(matrices, float)
    flat = m.reshape(-1, 3, 3)
    x, y, z = flat[:, 0, 0], flat[:, 1, 1], flat[:, 2, 2]
    rows = np.empty((len(flat), 4, 4))
    rows[:, 0, 0], rows[:, 1, 1] = 1 + x + y + z, 1 + x - y - z
    rows[:, 2, 2], rows[:, 3, 3] = 1 - x + y - z, 1 - x - y + z
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        rows[:, 0, i + 1] = rows[:, i + 1, 0] = flat[:, k, j] - flat[:, j, k]
        rows[:, j + 1, k + 1] = rows[:, k + 1, j + 1] = flat[:, k, j] + flat[:, j, k]
    pivot = np.argmax(np.diagonal(rows, axis1=1, axis2=2), axis=-1)
    return positive(normalize(rows[np.arange(len(rows)), pivot].reshape(*m.shape[:-2], 4)))


def from_axis_angle(axes: ArrayLike, angles: ArrayLike) -> Array:
    """Return unit quaternions (..., 4) of axes (..., 3) of any length and angles (...).

    A zero axis gives the identity, as in Blender.
    """
    axis = np.asarray(axes, float)
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    return exp(np.asarray(angles, float)[..., None] * axis / np.where(length > 0.0, length, 1.0))


def shortest(before: ArrayLike, after: ArrayLike, slack: float = 0.0) -> Array:
    """Return the shortest rotations (..., 4) from directions (..., 3) to within `slack` radians of others (..., 3).

    The axis between opposite directions is arbitrary. A zero vector gives the identity.
    """
    a, b = np.asarray(before, float), np.asarray(after, float)
    axis = cross(a, b)
    sine, cosine = np.linalg.norm(axis, axis=-1), np.sum(a * b, axis=-1)
    across = cross(a, np.eye(3)[np.argmin(np.abs(a), axis=-1)])
    axis = np.where((sine > 0.0)[..., None], axis, across * b.any(axis=-1, keepdims=True))
    return from_axis_angle(axis, np.maximum(np.arctan2(sine, cosine) - slack, 0.0))


def to_axis_angle(q: ArrayLike) -> tuple[Array, Array]:
    """Return unit axes (..., 3) and angles (...) in [0, pi]; the identity has the axis Y, as in Blender."""
    vector = log(q)
    angle = np.linalg.norm(vector, axis=-1)
    known = angle > 0.0
    axis = vector / np.where(known, angle, 1.0)[..., None]
    return np.where(known[..., None], axis, np.array([0.0, 1.0, 0.0])), angle


def axes_and_parity(order: str) -> tuple[int, int, int, float]:
    """Return the first, second and third axis of an Euler order, and +1 for XYZ, YZX, ZXY, -1 for the others."""
    i, j, k = ("XYZ".index(letter) for letter in order)
    return i, j, k, 1.0 if (j - i) % 3 == 1 else -1.0


def from_euler(angles: ArrayLike, order: str = "XYZ") -> Array:
    """Return unit quaternions (..., 4) of Euler angles (..., 3), which are stored as x, y, z for all orders."""
    half = 0.5 * np.asarray(angles, float)
    result = np.broadcast_to(IDENTITY, (*half.shape[:-1], 4))
    for letter in order:
        axis = "XYZ".index(letter)
        turn = np.zeros((*half.shape[:-1], 4))
        turn[..., 0], turn[..., 1 + axis] = np.cos(half[..., axis]), np.sin(half[..., axis])
        result = mul(turn, result)
    return result


def to_euler(q: ArrayLike, order: str = "XYZ") -> Array:
    """Return Euler angles x, y, z (..., 3) of unit quaternions (..., 4), with Blender's choice of the two solutions."""
    return matrix_to_euler(to_matrix(q), order)


def matrix_to_euler(matrices: ArrayLike, order: str = "XYZ") -> Array:
    """Return Euler angles x, y, z (..., 3) of rotation matrices (..., 3, 3), the solution with the smaller sum.

    Imitates mat3_normalized_to_eulo2 and mat3_normalized_to_eulO (source/blender/blenlib/intern/math_rotation_c.cc).
    """
    m = np.asarray(matrices, float)
    i, j, k, parity = axes_and_parity(order)
    cosine = np.hypot(m[..., i, i], m[..., j, i])
    regular = cosine > _GIMBAL
    # orders of odd parity: all three angles change sign (Shoemake, Euler Angle Conversion, Graphics Gems IV)
    sines = parity * m
    locked = np.arctan2(-sines[..., j, k], m[..., j, j])
    one = np.empty((*m.shape[:-2], 3))
    one[..., i] = np.where(regular, np.arctan2(sines[..., k, j], m[..., k, k]), locked)
    one[..., j] = np.arctan2(-sines[..., k, i], cosine)
    one[..., k] = np.where(regular, np.arctan2(sines[..., j, i], m[..., i, i]), 0.0)
    other = other_euler(one, order)
    smaller = np.sum(np.abs(other), axis=-1) < np.sum(np.abs(one), axis=-1)
    return np.where((smaller & regular)[..., None], other, one)


def other_euler(angles: ArrayLike, order: str = "XYZ") -> Array:
    """Return the second solution (..., 3) of Euler angles for the same rotations, wrapped to [-pi, pi)."""
    result = np.array(angles, float)
    i, j, k, _ = axes_and_parity(order)
    result[..., i], result[..., k] = result[..., i] + np.pi, result[..., k] + np.pi
    result[..., j] = np.pi - result[..., j]
    return wrap(result)


def wrap(angles: ArrayLike) -> Array:
    """Return angles (...) wrapped to [-pi, pi)."""
    return (np.asarray(angles, float) + np.pi) % (2.0 * np.pi) - np.pi


def near_euler(
    angles: ArrayLike, reference: ArrayLike, order: str = "XYZ", locks: NDArray[np.bool_] | None = None
) -> Array:
    """Return the Euler angles (..., 3) of the same rotations nearest to `reference` (..., 3).

    Locked angles (..., 3) are those of `reference`; of the two solutions it is the one that is nearer to these.
    """
    target = np.asarray(reference, float)
    one = target + wrap(np.asarray(angles, float) - target)
    two = target + wrap(other_euler(angles, order) - target)
    locked = np.zeros(3, bool) if locks is None else locks
    farther = np.abs(one - target) - np.abs(two - target)
    farther = np.where(locked | ~locked.any(axis=-1, keepdims=True), farther, 0.0)
    return np.where(locked, target, np.where(np.sum(farther, axis=-1, keepdims=True) > 0.0, two, one))


def unwrap_euler(
    angles: ArrayLike, order: str = "XYZ", start: ArrayLike | None = None, locks: NDArray[np.bool_] | None = None
) -> Array:
    """Return Euler angles (F, ..., 3) over time without jumps; the first frame is near `start` (..., 3) if given.

    `locks` (..., 3): as for `near_euler`.
    """
    result = np.array(angles, float)
    before = None if start is None else np.asarray(start, float)
    for frame in range(len(result)):
        if before is not None:
            result[frame] = near_euler(result[frame], before, order, locks)
        before = result[frame]
    return result


def unroll(q: ArrayLike, start: ArrayLike | None = None) -> Array:
    """Return quaternions (F, ..., 4) over time without changes of sign; the first frame is near `start` (..., 4)."""
    array = np.array(q, float)
    if not len(array):
        return array
    before = array[:1] if start is None else np.asarray(start, float)[None]
    dots = np.sum(array * np.concatenate([before, array[:-1]]), axis=-1, keepdims=True)
    signs: Array = np.cumprod(np.where(dots < 0.0, -1.0, 1.0), axis=0)
    return array * signs


def nearest_rotation(matrices: ArrayLike) -> Array:
    """Return the rotation matrices (..., 3, 3) nearest to invertible matrices, which may scale, shear or mirror.

    This is the orthogonal factor of the polar decomposition; of the negative matrix if the determinant is negative, as
    Blender decomposes a mirrored object (a scale of (-1, 1, 1) is a half turn and a scale of -1).
    """
    m = np.asarray(matrices, float)
    u, _, vt = np.linalg.svd(m)
    rotation = u @ vt
    return np.where(np.linalg.det(rotation)[..., None, None] < 0.0, -rotation, rotation)


def skew(vectors: ArrayLike) -> Array:
    """Return the cross-product matrices (..., 3, 3) of vectors (..., 3)."""
    array = np.asarray(vectors, float)
    return (array @ SKEW).reshape(*array.shape[:-1], 3, 3)


def cross(a: ArrayLike, b: ArrayLike) -> Array:
    """Return cross products (..., 3) x (..., 3) -> (..., 3); on few vectors ten times as fast as `np.cross`."""
    return (skew(a) @ np.asarray(b, float)[..., None])[..., 0]


def exp_and_jacobian(vectors: Array) -> tuple[Array, Array]:
    """Return the rotation matrices of rotation vectors (..., 3) and their right Jacobians Jr, both (..., 3, 3).

    exp(x + dx) = exp(x) exp(Jr(x) dx): the angular velocity in the rotated frame is Jr(x) times the rate of x.
    """
    x = vectors.reshape(-1, 3)
    both, shape = exp_features(x), (*vectors.shape[:-1], 3, 3)
    turns, rates = (np.ascontiguousarray(both[:, part]) @ FEATURES_TO_MATRIX for part in (0, 1))
    return turns.reshape(shape), rates.reshape(shape)


def exp_features(x: Array) -> Array:
    """Return features (n, 2, 10) of rotation vectors (n, 3); the matrices of `exp_and_jacobian` are linear in them.

    A product with FEATURES_TO_MATRIX (10, 9) gives the matrices. Formula of Rodrigues, with [x]^2 = x x^T - a^2 I:
    exp = cos a I + sin a/a [x] + (1 - cos a)/a^2 x x^T, Jr = sin a/a I - (1 - cos a)/a^2 [x] + (a - sin a)/a^3 x x^T.
    """
    # Both matrices are a I + b [x] + c x x^T. For few joints the coefficients are power series of a^2, computed by
    # products with constants: many small array operations would cost more than their arithmetic.
    if len(x) <= _FEW:
        features, powers = exp_terms(x)
        both = powers.dot(_POWERS_TO_BOTH)
    else:
        features, square = _features(x), (x * x) @ ONES
        angle2 = np.maximum(square, SMALL_ANGLE**2)
        angle = np.sqrt(angle2)
        second, third = (1.0 - np.cos(angle)) / angle2, (1.0 - np.sin(angle) / angle) / angle2
        coefficients = np.stack([1.0 - second * square, 1.0 - third * square, second, third], axis=-1)
        both = coefficients @ _BOTH_SPREAD
    both = both.reshape(-1, 2, 10)
    both *= features[:, None]
    return both


def exp_terms(x: Array) -> tuple[Array, Array]:
    """Return features (n, 10) of rotation vectors (n, 3), and the powers 1, a^2, a^4 ... (n, 24) of their angles.

    powers @ POWERS_TO_TURN * features are the features of exp; with POWERS_TO_RATE they are those of its right
    Jacobian. powers @ POWERS_TO_QUATERNION * features[:, :4] are unit quaternions (n, 4).
    """
    features = _features(x)
    powers = features.dot(_SQUARES)
    np.multiply.accumulate(powers, axis=1, out=powers)
    return features, powers


def _features(x: Array) -> Array:
    """Return 1, x, y, z, xx, xy, xz, yy, yz, zz (n, 10) of vectors (n, 3)."""
    features = np.empty((len(x), 10))
    features[:, 0] = 1.0
    features[:, 1:4] = x
    np.multiply(x.take(_FIRST, axis=1), x.take(_SECOND, axis=1), out=features[:, 4:])
    return features


def inverse_right_jacobian(vectors: ArrayLike) -> Array:
    """Return the inverse right Jacobians (..., 3, 3) of rotation vectors (..., 3).

    They convert the angular velocity in the rotated frame to the rate of the rotation vector:
    I + [x] / 2 + (1 / a^2 - cot(a / 2) / (2 a)) [x]^2, the inverse of the second matrix of `exp_and_jacobian`.
    """
    x = np.asarray(vectors, float)
    angle = np.maximum(np.linalg.norm(x, axis=-1), SMALL_ANGLE)[..., None, None]
    small = angle < _SERIES_ANGLE
    safe = np.where(small, 1.0, angle)
    factor = np.where(small, 1.0 / 12.0 + angle * angle / 720.0, 1.0 / safe**2 - 0.5 / (safe * np.tan(0.5 * safe)))
    cross = skew(x)
    return np.eye(3) + 0.5 * cross + factor * (cross @ cross)


def right_jacobian_bend(vectors: Array, slopes: Array) -> Array:
    """Return the derivatives (..., 3, 3) of Jr(x)^T g by rotation vectors x (..., 3), for constant g (..., 3).

    Jr is the second matrix of `exp_and_jacobian`: Jr^T g = g + a x X g + b x X (x X g) with a = (1 - cos t) / t^2 and
    b = (t - sin t) / t^3, where t is the angle.
    """
    square = np.maximum(np.sum(vectors * vectors, axis=-1), _SERIES_ANGLE**2 * 1e-2)[..., None, None]
    angle = np.sqrt(square)
    sine, cosine = np.sin(angle), np.cos(angle)
    a, b = (1.0 - cosine) / square, (angle - sine) / (square * angle)
    # derivatives by half the squared angle
    da, db = (angle * sine - 2.0 * (1.0 - cosine)) / square**2, (1.0 - cosine - 3.0 * square * b) / square**2
    x, g, once = vectors[..., None, :], slopes[..., None], cross(vectors, slopes)[..., None]
    twice = cross(vectors, once[..., 0])[..., None]
    across = vectors[..., None] * slopes[..., None, :] + np.sum(vectors * slopes, axis=-1)[..., None, None] * np.eye(3)
    return once @ (da * x) - a * skew(slopes) + twice @ (db * x) + b * (across - 2.0 * g @ x)


def to_order_free(q: ArrayLike) -> Array:
    """Return angles x, y, z (..., 3) in [-pi, pi) without an axis order: tan(angle / 2) = q_axis / w (CN106502395).

    A half turn (w = 0) gives -pi for every axis with a component and 0 for the others. It has no inverse if two
    components are not zero.
    """
    array = positive(q)
    return wrap(2.0 * np.arctan2(array[..., 1:], array[..., :1]))


def from_order_free(angles: ArrayLike) -> Array:
    """Return unit quaternions (..., 4) of order-free angles (..., 3); q ~ (1, tan(x/2), tan(y/2), tan(z/2))."""
    half = 0.5 * np.asarray(angles, float)
    cosines = np.cos(half)
    vector = [np.sin(half[..., i]) * cosines[..., i - 1] * cosines[..., i - 2] for i in range(3)]
    return positive(normalize(np.stack([np.prod(cosines, axis=-1), *vector], axis=-1)))
