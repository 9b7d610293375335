"""Figures in T-pose and in other rest poses, with names or without, for the tests of core.body."""

from dataclasses import dataclass

import numpy as np

from core import Pose, Skeleton, forward, rotation
from core.body import find_roles
from core.body.anatomy import Anatomy, anatomy
from core.body.roles import Roles
from tests.core.rigs import skeleton_of

UP, FORWARD, LEFT = np.array([0.0, 0.0, 1.0]), np.array([0.0, -1.0, 0.0]), np.array([1.0, 0.0, 0.0])

HANDS = [
    (f"{finger}{joint}.{side}", f"{finger}{joint - 1}.{side}" if joint > 1 else f"hand.{side}",
     (x * (0.76 + 0.03 * joint), 0.03 - 0.02 * number, 1.43), (x * (0.79 + 0.03 * joint), 0.03 - 0.02 * number, 1.43))
    for side, x in (("L", 1.0), ("R", -1.0))
    for number, finger in enumerate(("pinky", "ring", "middle", "index"))
    for joint in (1, 2, 3)
]  # fmt: skip
THUMBS = [
    (f"thumb{joint}.{side}", f"thumb{joint - 1}.{side}" if joint > 1 else f"hand.{side}",
     (x * (0.72 + 0.02 * joint), -0.02 - 0.02 * joint, 1.42), (x * (0.74 + 0.02 * joint), -0.04 - 0.02 * joint, 1.42))
    for side, x in (("L", 1.0), ("R", -1.0))
    for joint in (1, 2, 3)
]  # fmt: skip

EYES = [(f"eye.{s}", "head", (0.03 * x, -0.08, 1.65), (0.03 * x, -0.1, 1.65)) for s, x in (("L", 1.0), ("R", -1.0))]

# a 1.7 m figure with straight limbs in T-pose, facing -Y
STRAIGHT = [
    ("hips", None, (0, 0, 0.95), (0, 0, 1.06)),
    ("spine", "hips", (0, 0, 1.06), (0, 0.01, 1.25)),
    ("chest", "spine", (0, 0.01, 1.25), (0, 0, 1.48)),
    ("neck", "chest", (0, 0, 1.48), (0, -0.01, 1.57)),
    ("head", "neck", (0, -0.01, 1.57), (0, 0, 1.75)),
]
for side, x in (("L", 1.0), ("R", -1.0)):
    STRAIGHT += [
        (f"clavicle.{side}", "chest", (0.03 * x, 0.01, 1.42), (0.18 * x, 0, 1.44)),
        (f"upper_arm.{side}", f"clavicle.{side}", (0.18 * x, 0, 1.44), (0.46 * x, 0, 1.44)),
        (f"forearm.{side}", f"upper_arm.{side}", (0.46 * x, 0, 1.44), (0.71 * x, 0, 1.44)),
        (f"hand.{side}", f"forearm.{side}", (0.71 * x, 0, 1.44), (0.8 * x, 0.01, 1.43)),
        (f"thigh.{side}", "hips", (0.1 * x, 0, 0.92), (0.1 * x, 0, 0.5)),
        (f"shin.{side}", f"thigh.{side}", (0.1 * x, 0, 0.5), (0.1 * x, 0, 0.09)),
        (f"foot.{side}", f"shin.{side}", (0.1 * x, 0, 0.09), (0.11 * x, -0.13, 0.02)),
        (f"toe.{side}", f"foot.{side}", (0.11 * x, -0.13, 0.02), (0.11 * x, -0.19, 0.01)),
    ]

NAMES = [row[0] for row in STRAIGHT]
# turns of the left side's parts about world axes, degrees, from the tips inwards; the right side mirrored
RESTS = {
    "T": [],
    "A": [("upper_arm", FORWARD, -45.0), ("foot", FORWARD, -8.0), ("thigh", FORWARD, 8.0)],
    "I": [("upper_arm", FORWARD, -85.0)],
    "bent": [
        ("forearm", UP, -60.0),
        ("upper_arm", FORWARD, -30.0),
        ("foot", LEFT, -40.0),
        ("shin", LEFT, 65.0),
        ("thigh", LEFT, -25.0),
    ],
}


@dataclass
class Figure:
    skeleton: Skeleton
    anatomy: Anatomy
    heading: np.ndarray  # (3, 3) from the figure's axes to those of its armature
    scale: float
    turned: dict[str, np.ndarray]  # name -> (3, 3) how the rest pose is turned against the T-pose, armature space


def turn_of(axis: np.ndarray, degrees: float) -> np.ndarray:
    return rotation.to_matrix(rotation.exp(np.radians(degrees) * np.asarray(axis, float)))


def figure(rest: str, rows: list = STRAIGHT, seed: int | None = None, scale: float = 1.0, yaw: float = 0.0) -> Figure:
    """The figure in a rest pose, with random rolls where there is a seed."""
    names = [row[0] for row in rows]
    points = {name: (np.array(head, float), np.array(tail, float)) for name, _, head, tail in rows}
    parents = {name: parent for name, parent, _, _ in rows}
    turned = {name: np.eye(3) for name in names}

    def below(name: str | None, ancestor: str) -> bool:
        return name is not None and (name == ancestor or below(parents[name], ancestor))

    for part, axis, degrees in RESTS[rest]:
        for side, mirror in (("L", 1.0), ("R", -1.0)):
            turn = turn_of(axis, degrees if axis is LEFT else mirror * degrees)
            pivot = points[f"{part}.{side}"][0]
            for name in names:
                if below(name, f"{part}.{side}"):
                    head, tail = points[name]
                    points[name] = pivot + turn @ (head - pivot), pivot + turn @ (tail - pivot)
                    turned[name] = turn @ turned[name]
    heading = turn_of(UP, yaw)
    placed = [(n, parents[n], *(scale * heading @ point for point in points[n])) for n in names]
    skeleton = skeleton_of(placed, None if seed is None else np.random.default_rng(seed))
    turned = {name: heading @ turn @ heading.T for name, turn in turned.items()}
    return Figure(skeleton, anatomy(skeleton), heading, scale, turned)


def relaxed_heads(fig: Figure) -> np.ndarray:
    """Heads in the relaxed pose, in the figure's own axes and unit."""
    return forward(fig.skeleton, fig.anatomy.reference)[0] @ fig.heading / fig.scale


VARIANTS = {
    "A": {"rest": "A"},
    "I": {"rest": "I"},
    "bent": {"rest": "bent"},
    "rolls": {"rest": "T", "seed": 1},
    "bent, rolls": {"rest": "bent", "seed": 2},
    "A, rolls, hundredfold, facing +X": {"rest": "A", "seed": 3, "scale": 100.0, "yaw": 90.0},
    "bent, rolls, hundredth, facing -X": {"rest": "bent", "seed": 4, "scale": 0.01, "yaw": -90.0},
}


def body(rows: list = STRAIGHT, rng: np.random.Generator | None = None) -> tuple[Skeleton, Roles]:
    skeleton = skeleton_of(rows, rng)
    return skeleton, find_roles(skeleton)


def way(skeleton: Skeleton, pose: Pose, first: str, last: str) -> np.ndarray:
    heads, _ = forward(skeleton, pose)
    line = heads[skeleton.index(last)] - heads[skeleton.index(first)]
    return line / np.linalg.norm(line)
