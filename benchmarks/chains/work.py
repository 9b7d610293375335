"""The chains, their targets, and the judge: nothing in here belongs to a solver.

A chain is a row of bones along Y, each turned by a ball joint at its head; quaternions are w, x, y, z, of a bone in the
frame of the one before it. Lengths in metres.
"""

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from ..work import DATA, Array, quaternion_matrices

TOLERANCE: Final = 1e-3
SWEEPS: Final = 50  # at most, of everybody's plain CCD
_BENT: Final = 0.05  # radians, standard deviation of the start pose


@dataclass(frozen=True)
class Work:
    """N targets (N, 3) for a chain of bones of `lengths` (n,) that starts at `start` (n, 4) for each of them."""

    name: str
    lengths: Array
    start: Array
    targets: Array


def chains(count: int) -> list[Work]:
    """W3: an arm of 4 and a tail of 10 ball joints, up to 1,000 random targets in reach."""
    targets = np.load(DATA / "w3_targets.npz")
    return [
        Work("arm, 4 joints", np.array([0.15, 0.28, 0.26, 0.1]), _near_straight(4, 1), targets["arm"][:count]),
        Work("tail, 10 joints", np.full(10, 0.1), _near_straight(10, 2), targets["tail"][:count]),
    ]


def _near_straight(count: int, seed: int) -> Array:
    bends = _BENT * np.random.default_rng(seed).normal(size=(count, 3))
    angles = np.linalg.norm(bends, axis=-1, keepdims=True)
    return np.concatenate([np.cos(0.5 * angles), np.sin(0.5 * angles) * bends / angles], axis=-1)


class Solver(Protocol):
    """A solver made ready for a chain: `run` solves all targets, each from the start pose, and `answers` is judged."""

    name: str
    work: Work

    def run(self) -> float:
        """Seconds."""
        ...

    def answers(self) -> Array:
        """(N, n, 4)"""
        ...


def errors(work: Work, rotations: Array) -> Array:
    """(N,) how far the tip is from its target."""
    return np.linalg.norm(tips(work, rotations) - work.targets, axis=-1)


def tips(work: Work, rotations: Array) -> Array:
    """(N, 3) of own rotations (N, n, 4), by a forward kinematics of the benchmark's own."""
    place, frame = np.zeros((len(rotations), 3)), np.broadcast_to(np.eye(3), (len(rotations), 3, 3))
    for bone, length in enumerate(work.lengths):
        frame = frame @ matrices(rotations[:, bone])
        place = place + length * frame[:, :, 1]
    return place


def matrices(quaternions: Array) -> Array:
    """(..., 3, 3) of quaternions (..., 4) of any length."""
    return quaternion_matrices(quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True))


def turned(start: Array, end: Array) -> Array:
    """Radians (...) between own rotations (..., 4), w x y z."""
    unit = end / np.linalg.norm(end, axis=-1, keepdims=True)
    return 2.0 * np.arccos(np.clip(np.abs(np.sum(start * unit, axis=-1)), 0.0, 1.0))
