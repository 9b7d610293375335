"""Other starts for frames that are stuck: a goal is missed, and nothing proves that it is out of reach.

What holds a body back are joints at their limits, so these go elsewhere within their ranges, and the others stay where
they are: first to the middle, then to random places. All frames have the same random numbers: the answer of a frame
does not depend on its batch.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array
from .progress import Progress
from .tree import Links, LinkTree

if TYPE_CHECKING:
    from .problem import Problem

Frames = NDArray[np.int64]
Flags = NDArray[np.bool_]

_MIDDLE: Final = 0.5  # of a joint's range


def shares(joints: int, count: int) -> Iterator[Array]:
    """Yield where in its ranges each joint begins, (joints, 3), for `count` starts."""
    generator = np.random.default_rng(0)
    for number in range(count):
        yield generator.random((joints, 3)) if number else np.full((joints, 3), _MIDDLE)


def released(problem: "Problem", progress: Progress, frames: Frames, places: Array) -> Array:
    """Return x (n, D) of some frames with the joints that limits hold at `places` of their ranges."""
    limits, turning = problem.limit_rows, problem.tree.turning
    held = np.zeros((len(frames), turning // 3), bool)
    for row in np.flatnonzero(limits.real).tolist():
        held[:, limits.joint[row]] |= progress.active[frames, row]
    x = progress.x[frames]
    drawn = problem.clamped(limits.draw(x, frames, places), frames)
    x[:, :turning] = np.where(np.repeat(held, 3, axis=1), drawn[:, :turning], x[:, :turning])
    return x


def stuck(problem: "Problem", progress: Progress) -> Frames:
    """Return the frames that miss a firm level: one of limited strength is missed where the body resists more."""
    missed = (progress.lengths > problem.tolerances) @ problem.rows.block_in_level > 0.0
    if np.isfinite(problem.method.strength):
        missed[:, 1:] = False
    return np.flatnonzero(missed.any(axis=1))


def too_short(problem: "Problem", frames: Frames) -> Flags:
    """Return which blocks of the goals (n, K) cannot all be met: their bones, or those to a more important one, are short.

    Heads of bones are no further from each other than the path of bones between them is long.
    """
    rows, tree, links = problem.rows, problem.tree, problem.links[frames]
    points = rows.plain_points
    targets, on = rows.target_points[frames], rows.scales[frames, : 3 * points : 3] > 0.0
    rank, slack = np.argmax(rows.block_in_level, axis=1), problem.tolerances
    heads = links.place(problem.x[frames]).frames[..., :3, 3]
    short = np.zeros((len(frames), len(rows.owners)), bool)
    for one in range(points):
        anchor = _anchor(tree, one)
        if anchor is not None:
            far = np.linalg.norm(targets[:, one] - heads[:, anchor], axis=-1)
            short[:, one] |= on[:, one] & (far > _length(links, one, anchor) + slack[one])
        for other in range(points):
            if other == one or rank[other] > rank[one]:
                continue
            far = np.linalg.norm(targets[:, one] - targets[:, other], axis=-1)
            beyond = far > _between(links, one, other) + slack[one] + slack[other]
            short[:, one] |= on[:, one] & on[:, other] & beyond
    return short


def _chain(tree: LinkTree, node: int) -> list[int]:
    """Return a node and its ancestors."""
    chain: list[int] = []
    while node >= 0:
        chain.append(node)
        node = int(tree.parents[node])
    return chain


def _anchor(tree: LinkTree, point: int) -> int | None:
    """Return the first joint above a point if nothing moves its head."""
    chain = _chain(tree, int(tree.point_nodes[point]))
    turning = [node for node in chain if node in tree.joints]
    return turning[-1] if turning and chain[-1] not in tree.roots else None


def _length(links: Links, point: int, above: int) -> Array:
    """Return the length (n,) of the bones from a point to the head of a node above it."""
    chain = _chain(links.tree, int(links.tree.point_nodes[point]))
    path = chain[: chain.index(above)]
    return np.linalg.norm(links.arms[:, point], axis=-1) + np.linalg.norm(links.shift[:, path], axis=-1).sum(axis=1)


def _between(links: Links, one: int, other: int) -> Array:
    """Return the length (n,) of the path of bones between two points, infinite if there is none."""
    chain, theirs = (_chain(links.tree, int(links.tree.point_nodes[point])) for point in (one, other))
    shared = next((node for node in chain if node in theirs), None)
    if shared is None:
        return np.full(len(links.shift), np.inf)
    ends: list[Array] = []  # in the frame of the node that both hang on
    length = np.zeros(len(links.shift))
    for point, path in ((one, chain), (other, theirs)):
        below = path[: path.index(shared)]
        ends.append(links.shift[:, below[-1]] if below else links.arms[:, point])
        length = length + (_length(links, point, below[-1]) if below else 0.0)
    return length + np.linalg.norm(ends[0] - ends[1], axis=-1)
