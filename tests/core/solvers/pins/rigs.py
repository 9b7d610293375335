"""Goals, limited figures and random trees for the tests of the pins solver."""

import numpy as np

from core import Goal, Pose, Skeleton, forward, rotation
from core.limits import EllipticSwing, EulerBox, Framed, LimitGroup, OrderFreeBox, SwingPolygon, excess
from tests.core.limits.rigs import star
from tests.core.rigs import FIGURE, random_pose, skeleton_of

KINDS = ("euler", "ellipse", "order-free", "polygon", "framed order-free", "framed polygon")
ENDS = ("foot.L", "foot.R", "hand.L", "hand.R", "head")

MILLIMETRE = 1e-3


def pins(skeleton: Skeleton, pose: Pose, *names: str, priority: int = 0, turned: bool = True) -> list[Goal]:
    """Hold bones where the pose has them."""
    heads, turns = forward(skeleton, pose)
    at = [skeleton.index(name) for name in names]
    return [
        Goal(name, heads[..., i, :], turns[..., i, :] if turned else None, priority=priority)
        for name, i in zip(names, at, strict=True)
    ]


def reachable(
    skeleton: Skeleton,
    names: tuple[str, ...],
    rng: np.random.Generator,
    batch: tuple[int, ...] = (),
    size: float = 0.35,
) -> list[Goal]:
    """Where a random pose inside the limits has the bones."""
    pose = random_pose(skeleton, rng, batch, size)
    from core.limits import clamp_rotations

    inside, _ = clamp_rotations(skeleton.limits, pose.rotations)
    heads, turns = forward(skeleton, Pose(inside, pose.translations))
    return [Goal(n, heads[..., skeleton.index(n), :], turns[..., skeleton.index(n), :]) for n in names]


def largest_turn(a: Pose, b: Pose) -> float:
    return float(np.degrees(np.max(rotation.angle_between(a.rotations, b.rotations))))


def outside(skeleton: Skeleton, pose: Pose) -> float:
    """Radians beyond the limits."""
    worst = 0.0
    for group in skeleton.limits:
        own = rotation.to_matrix(pose.rotations[..., group.bones, :])
        worst = max(worst, float(np.max(np.abs(excess(group, group.coordinates(own))))))
    return worst


def random_tree(rng: np.random.Generator, bones: int) -> Skeleton:
    """A tree with random turns, some zero-length bones, some that do not inherit rotation, some limits, some locks."""
    parents = [-1] + [int(rng.integers(max(0, bone - 3), bone)) for bone in range(1, bones)]
    offsets = rng.normal(size=(bones, 3)) * 0.3
    offsets[rng.random(bones) < 0.15] = 0.0
    count = max(1, bones // 2)
    limited = np.sort(rng.choice(np.arange(1, bones), count, replace=False)) if bones > 1 else np.zeros(0, int)
    reach = rng.uniform(0.3, 1.5, (len(limited), 3))
    kind = rng.random()
    box, ellipse = EulerBox(limited, ["XYZ"] * len(limited), -reach, reach), EllipticSwing(limited, -reach, reach)
    groups = (box,) if kind < 0.5 else (ellipse,)
    return Skeleton(
        [f"b{bone}" for bone in range(bones)],
        parents,
        offsets,
        rotation.normalize(rng.normal(size=(bones, 4))),
        np.linalg.norm(offsets, axis=-1),
        limits=groups if len(limited) else (),
        inherit_rotation=rng.random(bones) > 0.1,
        rotation_locks=rng.random((bones, 3)) < 0.05,
        stiffness=rng.uniform(0.0, 0.8, (bones, 3)),
    )


def limits_of(kind: str, bones: np.ndarray, size: float = 1.0) -> LimitGroup:
    """Limits with rest inside: 60, 40 and 50 degrees, polygons about as wide; `size` scales them."""
    reach = np.tile(size * np.radians([60.0, 40.0, 50.0]), (len(bones), 1))
    turns = rotation.normalize(np.random.default_rng(5).normal(size=(len(bones), 4)))
    if kind.startswith("framed"):
        return Framed(limits_of(kind.split()[1], bones, size), turns, rotation.inv(turns))
    if kind == "polygon":
        low, high = np.sin(0.5 * size * np.radians([30.0, 75.0]))
        return SwingPolygon(bones, [star(9, int(bone), low, high) for bone in bones])
    if kind == "euler":
        return EulerBox(bones, ["ZYX"] * len(bones), -reach, reach)
    return (EllipticSwing if kind == "ellipse" else OrderFreeBox)(bones, -reach, reach)


def limited_figure(kind: str, size: float = 1.0) -> Skeleton:
    """The figure with limits on every bone but the hips."""
    return skeleton_of(FIGURE, limits=(limits_of(kind, np.arange(1, len(FIGURE)), size),))
