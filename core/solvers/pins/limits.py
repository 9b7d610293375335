"""Limits of joints as rows of the solver: an active set above all levels of goals.

A soft limit is a spring with the standard deviation `softness`: it gives way where a goal needs it.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...errors import CoreError
from ...limits import EulerBox, LimitGroup
from ...rotation import Array, to_matrix
from ...skeleton import Skeleton
from . import numbers


def locked_angles(skeleton: Skeleton, rotations: Array, bones: Iterable[int]) -> tuple[LimitGroup, ...]:
    """Return the locked Euler angles of `bones` as limits at their values in rotations (B, J, 4): a group or none."""
    locked = np.array([bone for bone in bones if skeleton.rotation_locks[bone].any()], int)
    if not len(locked):
        return ()
    modes = [skeleton.rotation_modes[int(bone)] for bone in locked]
    orders = [mode if mode in rotation.EULER_ORDERS else "XYZ" for mode in modes]
    own = [rotations[:, bone] for bone in locked]
    angles = np.stack([rotation.to_euler(q, order) for q, order in zip(own, orders, strict=True)], axis=1)
    held = skeleton.rotation_locks[locked]
    return (EulerBox(locked, orders, np.where(held, angles, -np.inf), np.where(held, angles, np.inf)),)


class LimitRows:
    """All limit coordinates of a problem: K rows, each of one joint, bounded below and above."""

    def __init__(
        self,
        groups: tuple[LimitGroup, ...],
        joints: dict[int, int],
        reference: Array,
        axes: Array | None = None,
        softness: float = 0.0,
    ) -> None:
        """Take the joint of each bone, the rotations (B, J, 4) where x is 0, and E (J, 4) of `tree`; softness: radians.

        Raises CoreError if bounds by frame are for another number of frames.
        """
        self.groups = groups
        self.members = [np.array([joints[bone] for bone in group.bones.tolist()], int) for group in groups]
        self.member = np.concatenate(self.members) if groups else np.zeros(0, int)
        bones = np.concatenate([group.bones for group in groups]) if groups else np.zeros(0, int)
        frames = len(reference)
        base = to_matrix(reference[: 1 if reference.strides[0] == 0 else frames, bones])  # often one for all frames
        self.axes: Array | None = None if axes is None else to_matrix(axes[bones])
        if self.axes is not None:
            base = base @ self.axes
        self.base = np.broadcast_to(base, (frames, *base.shape[1:]))
        empty = np.zeros((frames, 0))

        def by_frame(bounds: list[Array]) -> Array:
            for bound in bounds:
                if bound.ndim > 2 and bound.shape[0] != frames:
                    raise CoreError(f"A limit has bounds for {bound.shape[0]} frames; {frames} are solved.")
            flat = [np.broadcast_to(b, (frames, *b.shape[-2:])).reshape(frames, -1) for b in bounds]
            return np.concatenate(flat or [empty], axis=1)

        self.lower = by_frame([group.lower for group in groups])
        self.upper = by_frame([group.upper for group in groups])
        sizes = [group.lower.shape[-1] for group in groups]
        fold = np.array(
            [c >= size - group.folds for group, size in zip(groups, sizes, strict=True)
             for _ in group.bones for c in range(size)], bool
        )  # fmt: skip
        self.upper = np.where(fold, np.inf, self.upper)
        joint = [np.repeat(member, size) for member, size in zip(self.members, sizes, strict=True)]
        self.joint = np.concatenate(joint) if joint else np.zeros(0, int)
        self.count = len(self.joint)
        self.real = ~(self.lower == self.upper).all(axis=0)  # limits that are no locked channels
        firm = [np.full(len(group) * size, group.firm) for group, size in zip(groups, sizes, strict=True)]
        self.firm = np.concatenate(firm) if groups else np.zeros(0, bool)
        self.variance = np.where(self.real & ~self.firm, softness * softness, 0.0)
        names = [
            (bone, group.describe(i, c))
            for group, size in zip(groups, sizes, strict=True)
            for i, bone in enumerate(group.bones.tolist())
            for c in range(size)
        ]
        self.names = tuple(name for name, real in zip(names, self.real, strict=True) if real)

    def nothing(self, frames: int) -> NDArray[np.bool_]:
        """Return no active rows, (B, K)."""
        return np.zeros((frames, self.count), bool)

    def _parts(self, frames: NDArray[np.int64]) -> Iterator[tuple[LimitGroup, NDArray[np.int64], slice, slice]]:
        """Yield each group with the bounds of some frames, its joints, and its slices of own rotations and rows."""
        place = row = 0
        for group, member in zip(self.groups, self.members, strict=True):
            size = group.lower.shape[-1] * len(member)
            yield group.at_frames(frames), member, slice(place, place + len(member)), slice(row, row + size)
            place, row = place + len(member), row + size

    def draw(self, x: Array, frames: NDArray[np.int64], shares: Array) -> Array:
        """Return x (B, D) with limited joints at `shares` (joints, 3) of their ranges, as `LimitGroup.within` does."""
        result = x.copy()
        for group, member, places, rows in self._parts(frames):
            if not self.real[rows].any():  # locked angles
                continue
            own = np.broadcast_to(group.within(shares[member]), (len(x), len(member), 3, 3))
            turned = own if self.axes is None else own @ self.axes[places]
            vectors = rotation.log(rotation.from_matrix(np.swapaxes(self.base[frames][:, places], -1, -2) @ turned))
            result[:, (3 * member[:, None] + np.arange(3)).ravel()] = vectors.reshape(len(x), -1)
        return result


def curvatures(group: LimitGroup, own: Array, rates: Array) -> Array:
    """Return second derivatives (..., n, C, 3, 3) of a group's coordinates by steps of x.

    These turn joints in tangent space, a step d by rates (..., n, 3, 3) d. By differences of the slopes, accurate to
    1e-13, since a bound balances the pull of a goal out of reach.
    """
    places, weights = numbers.STENCIL
    shift = places.reshape(-1, *[1] * rates.ndim) * np.moveaxis(rates, -1, 0)
    turned = own @ rotation.exp_and_jacobian(shift)[0]  # (4, 3, ..., n, 3, 3)
    slopes = group.gradients(turned, group.coordinates(turned)) @ rates
    bends: Array = np.moveaxis(np.tensordot(weights, slopes, 1), 0, -1)
    return 0.5 * (bends + np.swapaxes(bends, -1, -2))
