"""Other starts for frames that are stuck: they miss a firm level.

What holds a body back are mostly joints at their limits, so joints begin elsewhere within their ranges: first in the
middle, then at random places. All frames have the same random numbers: the answer of a frame does not depend on its
batch.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array, lengths
from .problem import Problem
from .progress import Progress
from .strengths import APART, FIRM
from .tree import Links, LinkTree

Flags = NDArray[np.bool_]


def drawn(problem: Problem, x: Array, frames: NDArray[np.int64]) -> Array:
    """Return x (S n, D) of all starts of some frames: x (n, D) with limited joints elsewhere in their ranges."""
    generator, joints = np.random.default_rng(0), problem.tree.turning // 3
    starts = [np.full((joints, 3), 0.5), *generator.random((problem.settings.starts - 1, joints, 3))]
    return np.concatenate([problem.limit_rows.draw(x, frames, shares) for shares in starts])


def missed_levels(problem: Problem, progress: Progress) -> Flags:
    """Return which levels that are asked for are missed, (B, L)."""
    return ((progress.lengths > problem.tolerances) @ problem.rows.block_in_level > 0.0) & problem.asked


def with_long_bones(problem: Problem, links: Links, x: Array, levels: Flags) -> Flags:
    """Return which of some levels (B, L) bones are long enough for; x (B, D) is any pose."""
    left = np.flatnonzero(levels.any(axis=1))
    if len(left):
        levels = levels.copy()
        levels[left] &= ~short_levels(problem, links, x[left], left)
    return levels


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
    above = np.flatnonzero(tree.over[:, tree.point_nodes[point]])
    turning = above[np.isin(above, tree.joints)]
    return int(turning[0]) if len(turning) and above[0] not in tree.roots else None


def _length(links: Links, point: int, above: int) -> Array:
    """Return the length (n,) of the bones from a point to the head of a node above it."""
    over = links.tree.over
    path = over[:, links.tree.point_nodes[point]] & ~over[:, above]
    return lengths(links.arms[:, point]) + lengths(links.shift[:, path]).sum(axis=1)


def _between(links: Links, one: int, other: int) -> Array:
    """Return the length (n,) of the bones between two points, infinite if nothing joins them."""
    paths = links.tree.over[:, links.tree.point_nodes[[one, other]]].T
    shared = paths.all(axis=0)
    if not shared.any():
        return np.full(len(links.shift), np.inf)
    ends: list[Array] = []  # in the frame of the node that both hang on
    length = np.zeros(len(links.shift))
    for point, path in zip((one, other), paths, strict=True):
        below = np.flatnonzero(path & ~shared)[:1].tolist()
        ends.append(links.shift[:, below[0]] if below else links.arms[:, point])
        length = length + (_length(links, point, below[0]) if below else 0.0)
    return length + lengths(ends[0] - ends[1])


def alone(problem: Problem, level: int) -> Problem:
    """Return the problem of a level alone with those above it, which are one."""
    priorities = sorted({goal.priority for goal in problem.goals})
    goals = [
        replace(goal, priority=int(goal.priority == priorities[level]))
        for goal in problem.goals if goal.priority <= priorities[level]
    ]  # fmt: skip
    settings = replace(problem.settings, coherent=False, root_bone=problem.tree.root_bone)
    return Problem.of(settings, problem.skeleton, problem.given.reshape(problem.batch_shape), goals)


def worth(problem: Problem, links: Links, x: Array, frames: NDArray[np.int64]) -> Array:
    """Return what is minimised at x (n, D), where all levels are firm."""
    rows = problem.rows
    weighted = rows.lengths(links[frames].place(x), frames) * rows.scales[frames, ::3]
    levels = np.sqrt(np.square(weighted) @ rows.block_in_level)
    strengths = [FIRM * APART**below for below in reversed(range(len(rows.levels)))]
    return 0.5 * problem.prior.strain(x) + levels.dot(strengths)


def columns(tree: LinkTree, part: LinkTree) -> NDArray[np.int64]:
    """Return the columns of x that another tree has, too, which has fewer nodes, in its order."""
    found, start = [np.zeros(0, int)], 0
    for name, size in (("joints", 3), ("roots", 3), ("stretching", 1)):
        own, theirs = (some.nodes[getattr(some, name)].tolist() for some in (tree, part))
        places = np.array([own.index(bone) for bone in theirs], int)
        found.append((start + size * places[:, None] + np.arange(size)).ravel())
        start += size * len(own)
    return np.concatenate(found)
