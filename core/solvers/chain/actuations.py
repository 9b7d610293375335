"""The ordered list of contribution CCD: how far each joint of a chain turns (actuations in CN108090951B).

The order of the list is the order in which joints are turned; it need not be that of the chain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from ...errors import CoreError
from ...goals import Bone, is_bone

Axis = Literal["X", "Y", "Z"]
AXES: Final[tuple[Axis, ...]] = ("X", "Y", "Z")


@dataclass(frozen=True)
class Actuation:
    """One joint about one axis: a fraction of the full rotation, and an angle.

    bone      by name or number
    axis      of the bone's rest frame, carried by its parent: the rotation multiplies the bone's basis from the left
    fraction  0 to 1, of the rotation about this axis that brings the effector nearest to the target
    angle     radians, at least 0; `ContributionCCD.mode` says which of the two counts

    Raises CoreError if a field has another type or range.
    """

    bone: Bone
    axis: Axis
    fraction: float = 1.0
    angle: float = 0.0

    def __post_init__(self) -> None:
        if not is_bone(self.bone):
            raise CoreError(f"A bone of an actuation is given by its name or its number, not by {self.bone!r}.")
        if self.axis not in AXES:
            raise CoreError(f'The axis of the actuation of "{self.bone}" must be "X", "Y" or "Z", not {self.axis!r}.')
        for name, most in (("fraction", 1.0), ("angle", np.inf)):
            value: object = getattr(self, name)
            number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            if not number or not 0.0 <= value <= most:  # pyright: ignore
                wanted = "between 0 and 1" if name == "fraction" else "a number of at least 0"
                raise CoreError(f'The {name} of the actuation of "{self.bone}" must be {wanted}, not {value!r}.')
            object.__setattr__(self, name, float(value))  # pyright: ignore


def checked_list(actuations: Sequence[Actuation]) -> tuple[Actuation, ...]:
    """Return the list as a tuple; raises CoreError if it is not a list, or is empty.

    A joint and axis may be in it more than once, and turns as often.
    """
    wanted: object = actuations
    if not isinstance(wanted, Sequence) or not all(isinstance(one, Actuation) for one in wanted):  # pyright: ignore
        raise CoreError("The list must contain actuations.")
    if not actuations:
        raise CoreError("The list has no actuations. Add a joint.")
    return tuple(actuations)
