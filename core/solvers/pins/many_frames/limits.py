"""The limits of many frames: those that are active hold joints, others cost nothing."""

from dataclasses import dataclass

import numpy as np

from .... import rotation
from ....limits import LimitGroup
from ....rotation import Array
from .. import numbers
from .algebra import Flags, Indices, pick, right_jacobian
from .places import Given, Placed, Places


@dataclass(frozen=True)
class Bounded:
    """Some joints (h,) with all their limits: the part of `LimitRows` that is linearised."""

    joints: Indices  # (h,)
    columns: Indices  # (3 h,) of x
    rows: Indices  # (K',) their limits among those of the problem
    joint: Indices  # (K',) the limits' joints, of the h
    slots: list[Indices]  # rows of one slot belong to different joints, those of a joint are in sequence
    stuck: Flags  # (h, 3) axes about which nothing turns
    groups: list[tuple[LimitGroup, Indices, Indices]]  # with their places among the own rotations and their joints
    branches: list[tuple[int, Indices, Indices]]  # branch, its joints of the h, and their places in it


@dataclass(frozen=True, eq=False)
class LinearLimits:
    """The limits of some joints at one x: below <= slope . dx <= above."""

    bounded: Bounded
    below: Array  # (b, K') at most 0 inside
    above: Array  # (b, K') at least 0 inside
    slopes: Array  # (b, K', 3)

    def condition(self, x: Array, active: Flags) -> tuple[Array, Array]:
        """Return the mean (b, 3 h) and covariance (b, h, 3, 3) of the prior of z = dx + x under the active rows.

        Each takes its direction out of the prior of its joint.
        """
        count, stuck = len(x), self.bounded.stuck
        covariance = np.zeros((count, len(stuck), 3, 3))
        covariance[:, :, [0, 1, 2], [0, 1, 2]] = np.where(stuck, 0.0, 1.0)
        turns = x.reshape(count, -1, 3)
        centre = np.zeros_like(turns)
        goal = np.where(np.abs(self.above) < np.abs(self.below), self.above, self.below)  # to the nearer bound
        for slot in self.bounded.slots:
            slot = slot[active[:, slot].any(axis=0)]
            if not len(slot):
                continue
            owner, slope, on = self.bounded.joint[slot], self.slopes[:, slot], active[:, slot]
            spread = (covariance[:, owner] @ slope[..., None])[..., 0]
            size = np.sum(slope * spread, axis=-1)
            usable = on & (size > numbers.DAMPING * numbers.DAMPING)
            size = np.where(usable, size, 1.0)
            wanted = goal[:, slot] + np.sum(slope * turns[:, owner], axis=-1)
            gap = np.where(usable, wanted - np.sum(slope * centre[:, owner], axis=-1), 0.0)
            centre[:, owner] += spread * (gap / size)[..., None]
            drop = spread[..., :, None] * spread[..., None, :] / size[..., None, None]
            covariance[:, owner] -= np.where(usable[..., None, None], drop, 0.0)
        return centre.reshape(count, -1), covariance

    def leaving(self, active: Flags, push: Array) -> Flags:
        """Return the active rows (b, K') to release: their bounds would have to pull. push (b, 3 h): their force."""
        owner, slots = self.bounded.joint, self.bounded.slots
        mine = np.full((len(self.bounded.joints), len(slots)), -1)  # (h, slots)
        for number, slot in enumerate(slots):
            mine[owner[slot], number] = slot
        valid = mine >= 0
        on = active[:, mine] & valid
        slope = np.where(on[..., None], self.slopes[:, mine], 0.0)  # (b, h, slots, 3)
        normal = slope @ np.swapaxes(slope, -1, -2)  # rows may be parallel, and steep
        steep = np.maximum(1.0, np.trace(normal, axis1=-2, axis2=-1))[..., None]
        normal += np.where(on, numbers.DAMPING * steep, 1.0)[..., None] * np.eye(len(slots))
        value = np.linalg.solve(normal, slope @ push.reshape(len(push), -1, 3, 1))[..., 0]
        multipliers = np.zeros_like(self.below)
        multipliers[:, mine[valid]] = value[:, valid]
        upper = np.abs(self.above) < np.abs(self.below)
        free = active & (self.above - self.below > numbers.DAMPING)
        return free & np.where(upper, multipliers > numbers.DAMPING, multipliers < -numbers.DAMPING)


@dataclass(frozen=True)
class Held:
    """Joints at bounds in some frames (b,), in deviations."""

    bounded: Bounded
    count: int  # of all frames
    frames: Indices
    linear: LinearLimits
    active: Flags  # (b, K')
    centre: Array  # (b, 3 h) z on the bounds
    free: list[Array]  # (3 K, joints, 3, b) of each branch: its columns without limits
    projectors: Array  # (joints, 3, 3, b) along the bounds


class FramesLimits:
    """The hard limits of a problem."""

    def __init__(self, places: Places, stuck: Flags) -> None:
        self.places, self.rows = places, places.limits
        self.stuck = stuck  # columns that nothing moves
        self._bounded: dict[tuple[int, ...], Bounded] = {}

    def begin(self, given: Given, at: Placed, active: Flags) -> Flags:
        """Return the active limits: those that were and still are at a bound, those outside, and locked ones."""
        locked = given.upper - given.lower < numbers.DAMPING
        return (active & (at.room < numbers.NEARLY)) | (at.room < -numbers.DAMPING) | locked

    def hold(self, given: Given, at: Placed, jacobian: list[Array], home: Array, active: Flags) -> Held | None:
        """Project the columns along the active limits, in place; None if no limit is active."""
        rows = active.any(axis=1)
        if not rows.any():
            return None
        bounded = self._bounded_joints(self.rows.joint[rows])
        frames = np.flatnonzero(active[bounded.rows].any(axis=0))
        on, values = active[bounded.rows].take(frames, axis=1).T, at.values[bounded.rows].take(frames, axis=1).T
        below, above = (pick(bound[bounded.rows], frames).T - values for bound in (given.lower, given.upper))
        linear = LinearLimits(bounded, below, above, self._slopes(given, at, bounded, frames))
        own = home[bounded.columns].take(frames, axis=1).T
        centre, covariance = linear.condition(own, on)
        projectors = covariance.transpose(1, 2, 3, 0)  # of a joint, in deviations
        kept: list[Array] = []
        for number, joints, places in bounded.branches:
            columns = jacobian[number].reshape(len(jacobian[number]), -1, 3, at.x.shape[1])
            free = columns[:, places].take(frames, axis=3)
            columns[:, places[:, None], :, frames] = np.einsum("rncb,ncdb->nbrd", free, projectors[joints])
            kept.append(free)
        return Held(bounded, at.x.shape[1], frames, linear, on, centre, kept, projectors)

    def _bounded_joints(self, joints: Indices) -> Bounded:
        """Return some joints with all their limits."""
        key = tuple(sorted(set(joints.tolist())))
        if key in self._bounded:
            return self._bounded[key]
        limits, chosen = self.rows, np.array(key)
        rows: list[Indices] = []
        owners: list[Indices] = []
        groups: list[tuple[LimitGroup, Indices, Indices]] = []
        place = row = 0
        for group, members in zip(limits.groups, limits.members, strict=True):
            size: int = group.lower.shape[-1]
            here: Indices = np.flatnonzero(np.isin(members, chosen))
            if len(here):
                own = np.searchsorted(chosen, members[here])
                groups.append((group.take(here), place + here, own))
                rows.append((row + size * here[:, None] + np.arange(size)).ravel())
                owners.append(np.repeat(own, size))
            place, row = place + len(members), row + size * len(members)
        branches: dict[int, list[tuple[int, int]]] = {}
        for own, joint in enumerate(key):
            number, place = self.places.branch_of[joint]
            branches.setdefault(number, []).append((own, place))
        owner, columns = np.concatenate(owners), (3 * chosen[:, None] + np.arange(3)).ravel()
        parts = [(number, *np.array(pairs).T) for number, pairs in branches.items()]
        bounded = Bounded(
            chosen,
            columns,
            np.concatenate(rows),
            owner,
            slots_of(owner),
            self.stuck[columns].reshape(-1, 3),
            groups,
            parts,
        )
        self._bounded[key] = bounded
        return bounded

    def _slopes(self, given: Given, at: Placed, bounded: Bounded, frames: Indices) -> Array:
        """Return the gradients (b, K', 3) of the joints' coordinates in some frames, in deviations."""
        limits, count = self.rows, len(frames)
        vectors = at.x[bounded.columns].take(frames, axis=1).reshape(-1, 3, count).swapaxes(0, 1)
        rates = right_jacobian(vectors, at.rate.take(bounded.joints, axis=1).take(frames, axis=2))
        rates = rates.transpose(3, 2, 0, 1)
        values = at.values[bounded.rows].take(frames, axis=1).T
        slopes, row = np.empty((count, len(bounded.rows), 3)), 0
        for group, places, joints in bounded.groups:
            rows = slice(row, row := row + group.lower.shape[-1] * len(places))
            own = at.own.take(places, axis=2).take(frames, axis=3).transpose(3, 2, 0, 1)
            coordinates = values[:, rows].reshape(count, len(places), -1)
            gradients = group.at_frames(given.frames[frames]).gradients(own, coordinates)
            turned = rates[:, joints] if limits.axes is None else limits.axes[places] @ rates[:, joints]
            slopes[:, rows] = (gradients @ turned).reshape(count, -1, 3)
        return slopes * self.places.deviations[bounded.columns].reshape(-1, 3)[bounded.joint]

    def clamped(
        self, given: Given, x: Array, own: Array, room: Array, slack: Array | float
    ) -> tuple[Indices, Placed] | None:
        """Clamp joints that are outside their limits by more than `slack`. Return the frames, None if there is none."""
        beyond = room < -slack
        frames = np.flatnonzero(beyond.any(axis=0))
        if not len(frames):
            return None
        limits, x = self.rows, x.take(frames, axis=1)
        bounded = self._bounded_joints(self.rows.joint[beyond.any(axis=1)])
        where = given.frames[frames]
        for group, places, joints in bounded.groups:
            turns = own.take(places, axis=2).take(frames, axis=3).transpose(3, 2, 0, 1)
            inside = group.at_frames(where).clamp(turns)
            moved = np.any(inside != turns, axis=(-1, -2))
            inside = inside if limits.axes is None else inside @ limits.axes[places]
            from_base = np.swapaxes(limits.base[where[:, None], places], -1, -2) @ inside
            vectors = np.moveaxis(rotation.log(rotation.from_matrix(from_base)), 0, -1)  # (joints, 3, b)
            own_columns = bounded.columns.reshape(-1, 3)[joints]
            x[own_columns] = np.where(moved.T[:, None], vectors, x[own_columns])
        return frames, self.places.place(given.take(frames), x)


def slots_of(joint: Indices) -> list[Indices]:
    """Return the rows of each slot: rows of one slot belong to different joints, those of a joint are in sequence."""
    seen: dict[int, int] = {}
    slot = np.zeros(len(joint), int)
    for row, owner in enumerate(joint.tolist()):
        slot[row] = seen.get(owner, 0)
        seen[owner] = slot[row] + 1
    return [np.flatnonzero(slot == s) for s in range(int(slot.max(initial=-1)) + 1)]
