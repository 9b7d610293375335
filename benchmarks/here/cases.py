"""The pins of each case, and how far they are moved."""

from dataclasses import dataclass
from typing import Final

SEED: Final = 11


@dataclass(frozen=True)
class Pinned:
    """A part whose bone is pinned, in position and rotation, and moved from where it is at ease.

    far       least and largest way in centimetres of a 1.7 m human, in a random direction
    turn      largest rotation about a random axis, degrees
    priority  of the pin
    """

    role: str
    far: tuple[float, float] = (0.0, 0.0)
    turn: float = 0.0
    priority: int = 0


NEAR: Final = (0.0, 25.0)
AWAY: Final = (90.0, 200.0)

CASES: Final[dict[str, tuple[Pinned, ...]]] = {
    "near": (
        Pinned("foot.L"),
        Pinned("foot.R"),
        Pinned("hand.L", NEAR, 20.0),
        Pinned("hand.R", NEAR, 20.0),
    ),
    "out of reach": (
        Pinned("foot.L"),
        Pinned("foot.R"),
        Pinned("hand.L", AWAY, 20.0),
        Pinned("hand.R", NEAR, 20.0),
    ),
    "hands, head and feet": (
        Pinned("foot.L", (0.0, 10.0), 10.0),
        Pinned("foot.R", (0.0, 10.0), 10.0),
        Pinned("hand.L", (0.0, 40.0), 30.0),
        Pinned("hand.R", (0.0, 40.0), 30.0),
        Pinned("head", (0.0, 10.0), 10.0),
    ),
    "three levels": (
        Pinned("foot.L"),
        Pinned("foot.R"),
        Pinned("hand.L", (0.0, 100.0), 20.0, priority=1),
        Pinned("hand.R", (0.0, 100.0), 20.0, priority=2),
    ),
    "five levels": (
        Pinned("foot.L"),
        Pinned("foot.R"),
        Pinned("hips", (0.0, 20.0), 10.0, priority=1),
        Pinned("head", (0.0, 40.0), 20.0, priority=2),
        Pinned("hand.L", (0.0, 100.0), 20.0, priority=3),
        Pinned("hand.R", (0.0, 100.0), 20.0, priority=4),
    ),
}
