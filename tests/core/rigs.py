"""Skeletons for the tests of core."""

import numpy as np

from core import Pose, Skeleton, rotation

# name, parent, head, tail: a 1.7 m figure in T-pose, facing -Y, its left towards +X; knees and elbows a little bent
FIGURE = [
    ("hips", None, (0, 0, 0.95), (0, 0, 1.06)),
    ("spine", "hips", (0, 0, 1.06), (0, 0, 1.25)),
    ("chest", "spine", (0, 0, 1.25), (0, 0, 1.48)),
    ("neck", "chest", (0, 0, 1.48), (0, 0, 1.57)),
    ("head", "neck", (0, 0, 1.57), (0, 0, 1.75)),
]
for side, x in (("L", 1.0), ("R", -1.0)):
    FIGURE += [
        (f"clavicle.{side}", "chest", (0.03 * x, 0, 1.44), (0.18 * x, 0, 1.44)),
        (f"upper_arm.{side}", f"clavicle.{side}", (0.18 * x, 0, 1.44), (0.46 * x, 0.02, 1.44)),
        (f"forearm.{side}", f"upper_arm.{side}", (0.46 * x, 0.02, 1.44), (0.71 * x, 0, 1.44)),
        (f"hand.{side}", f"forearm.{side}", (0.71 * x, 0, 1.44), (0.8 * x, 0, 1.44)),
        (f"thigh.{side}", "hips", (0.09 * x, 0, 0.92), (0.1 * x, -0.02, 0.5)),
        (f"shin.{side}", f"thigh.{side}", (0.1 * x, -0.02, 0.5), (0.1 * x, 0.02, 0.09)),
        (f"foot.{side}", f"shin.{side}", (0.1 * x, 0.02, 0.09), (0.11 * x, -0.12, 0.02)),
    ]


def skeleton_of(rows: list, rng: np.random.Generator | None = None, **more: object) -> Skeleton:
    """Bones of heads and tails; rolls are random where a generator is given."""
    names = [row[0] for row in rows]
    frames, heads, lengths = [], [], []
    for _, _, head, tail in rows:
        head, tail = np.array(head, float), np.array(tail, float)
        length = np.linalg.norm(tail - head)
        y = (tail - head) / length if length > 0.0 else np.array([0.0, 1.0, 0.0])
        x = np.cross(y, [0.0, 0.0, 1.0] if abs(y[2]) < 0.9 else [0.0, -1.0, 0.0])
        x /= np.linalg.norm(x)
        frame = np.stack([x, y, np.cross(x, y)], axis=-1)
        if rng is not None:
            frame = frame @ rotation.to_matrix(rotation.exp([0.0, rng.uniform(-3.0, 3.0), 0.0]))
        frames.append(frame)
        heads.append(head)
        lengths.append(length)
    parents = [-1 if row[1] is None else names.index(row[1]) for row in rows]
    turns, offsets = [], []
    for bone, parent in enumerate(parents):
        base = frames[parent] if parent >= 0 else np.eye(3)
        origin = heads[parent] if parent >= 0 else np.zeros(3)
        turns.append(base.T @ frames[bone])
        offsets.append(base.T @ (heads[bone] - origin))
    return Skeleton(names, parents, offsets, rotation.from_matrix(np.array(turns)), lengths, **more)


def random_pose(skeleton: Skeleton, rng: np.random.Generator, batch: tuple[int, ...] = (), spread: float = 0.3) -> Pose:
    shape = (*batch, len(skeleton))
    turns = rotation.exp(spread * rng.normal(size=(*shape, 3)))
    shifts = 0.1 * rng.normal(size=(*shape, 3)) * (skeleton.parents < 0)[:, None]
    return Pose(turns, shifts)
