"""Other starts for frames that are stuck: they miss a firm level.

What holds a body back are mostly joints at their limits, so joints begin elsewhere within their ranges: first in the
middle, then at random places. All frames have the same random numbers: the answer of a frame does not depend on its
batch.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array, lengths
from .problem import Problem
from .progress import Progress
from .tree import Links, LinkTree

Flags = NDArray[np.bool_]


def shares(problem: Problem) -> Iterator[Array]:
    """Yield where in its ranges each joint begins, (joints, 3)."""
    generator, joints = np.random.default_rng(0), problem.tree.turning // 3
    for number in range(problem.settings.starts):
        yield generator.random((joints, 3)) if number else np.full((joints, 3), 0.5)


def missed_levels(problem: Problem, progress: Progress) -> Flags:
    """Return which firm levels are missed, (B, L): one of limited strength is missed where the body resists more."""
    missed = (progress.lengths > problem.tolerances) @ problem.rows.block_in_level > 0.0
    if np.isfinite(problem.settings.strength):
        missed[:, 1:] = False
    return missed


def short_levels(problem: Problem, links: Links, x: Array, frames: NDArray[np.int64]) -> Flags:
    """Return which levels no pose meets together with those above them, since bones are too short for it, (n, L).

    x (n, D) is any pose of these frames. Joints are no further from each other than the bones between them are long.
    """
    rows, tree, links = problem.rows, problem.tree, links[frames]
    short = np.zeros((len(frames), len(rows.levels)), bool)
    if len(tree.stretching):
        return short
    level, slack = np.argmax(rows.block_in_level, axis=1), problem.tolerances
    targets, on = rows.target_points[frames], rows.scales[frames, : 3 * rows.plain_points : 3] > 0.0
    heads = links.place(x).frames[..., :3, 3]
    for one in range(rows.plain_points):
        anchor = _anchor(tree, one)
        if anchor is not None:
            far = lengths(targets[:, one] - heads[:, anchor])
            short[:, level[one]] |= on[:, one] & (far > _length(links, one, anchor) + slack[one])
        for other in range(one):
            far = lengths(targets[:, one] - targets[:, other])
            beyond = far > _between(links, one, other) + slack[one] + slack[other]
            short[:, max(level[one], level[other])] |= on[:, one] & on[:, other] & beyond
    return short


def _anchor(tree: LinkTree, point: int) -> int | None:
    """Return the first joint above a point if nothing moves its head."""
    chain = tree.chain(tree.point_nodes[point])
    turning = [node for node in chain if node in tree.joints]
    return turning[-1] if turning and chain[-1] not in tree.roots else None


def _length(links: Links, point: int, above: int) -> Array:
    """Return the length (n,) of the bones from a point to the head of a node above it."""
    chain = links.tree.chain(links.tree.point_nodes[point])
    return lengths(links.arms[:, point]) + lengths(links.shift[:, chain[: chain.index(above)]]).sum(axis=1)


def _between(links: Links, one: int, other: int) -> Array:
    """Return the length (n,) of the bones between two points, infinite if nothing joins them."""
    chain, theirs = (links.tree.chain(links.tree.point_nodes[point]) for point in (one, other))
    shared = next((node for node in chain if node in theirs), None)
    if shared is None:
        return np.full(len(links.shift), np.inf)
    ends: list[Array] = []  # in the frame of the node that both hang on
    length = np.zeros(len(links.shift))
    for point, path in ((one, chain), (other, theirs)):
        below = path[: path.index(shared)]
        ends.append(links.shift[:, below[-1]] if below else links.arms[:, point])
        length = length + (_length(links, point, below[-1]) if below else 0.0)
    return length + lengths(ends[0] - ends[1])
