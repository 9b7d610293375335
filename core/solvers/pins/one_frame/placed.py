"""One place of one frame."""

from ....rotation import Array
from ..tree import Kinematics


class Placed:
    """One x with its forward kinematics, errors and limit coordinates."""

    __slots__ = (
        "angles", "features", "frames", "kinematics", "own", "powers", "read", "rows", "seen", "sizes", "values",
        "vectors", "x",
    )  # fmt: skip

    x: Array
    features: Array  # (R, 10) of the joints' rotation vectors, see `rotation.exp_terms`
    powers: Array  # (R, n)
    frames: Array  # (N + 1, 4, 4), the last one the identity
    seen: Array  # (16 K,) points and ends as frames
    read: Array  # (3 (P + Q) + Q,) points, errors of ends, in the tree's order, and the traces of these errors
    vectors: Array  # (3 K,) errors in level order; one-sided ones may be positive
    rows: Array  # (M,) the same, weighted
    sizes: Array  # (L,) of levels
    own: list[Array]  # own rotations of the limited bones, by group
    angles: list[Array]  # their limit coordinates, by group
    values: Array  # (L,) all limit coordinates
    kinematics: Kinematics  # of bodies that are not rigid; for goals that are not plain, but for rates
