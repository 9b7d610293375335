"""The settings of the pins solver."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ... import rotation
from ...errors import CoreError
from ...goals import LARGEST
from ...pose import Pose
from ...rotation import Array
from ...skeleton import frozen, is_whole
from . import numbers

Root = Literal["free", "translate", "fixed", "pull", "hold"]
ROOTS: tuple[Root, ...] = get_args(Root)


@dataclass(frozen=True, eq=False)
class Settings:
    """What people set of the pins solver. Raises CoreError for a setting that is no valid value.

    limits              True keeps the skeleton's limits, False ignores them; "soft" limits give where a goal needs it
    root                how bones without parent move: "free" rotates and translates them, "translate" only translates,
                        "fixed" keeps them, "pull" moves them less willingly than the body bends, "hold" half as
                        willingly as that; a number up to 1: the share of their deviations that they keep
    root_bone           index of the bone that is the root in place of its ancestors, which keep their pose (hips below
                        a bone for the whole character). Ignored if a goal is neither on it nor below it
    strength            how hard goals below the first level pull, 1 is a hand's: where the body resists more than that,
                        they are missed; infinite: they are met at any price, and as nearly as can be out of reach
    strength_at         priority of the goals that pull as hard as that: each level between the first and
                        them pulls twice as hard as the one after it, each later one a tenth. None: the second level
    firm_at             priority up to which goals are firm, as the first level is, whatever `strength` is
    turn                largest turn of a joint in one solve of a drag, radians, for each centimetre (hundredth of the
                        body's size) of its target's way: a limb that has to go round does so in several ticks
    stretch             bones with a `stretch` may grow
    reference           joint target: the pose that joints stay near; None: the pose given to `solve`
    deviations          (J, 3) standard deviations of the joints from the reference about their own axes, radians; small
                        values are stiff. The skeleton's stiffness scales them. None: 30 degrees, hinges by `bends`
    axes                (J, 4) quaternions that turn the bones' frames to the axes of `deviations`
    correlations        of turns that go together: (bone, axis, other bone, its axis, value between -1 and 1) by index
    bends               (J, 3) rotation vectors about the bones' own axes that bend straight joints: the side to which a
                        limb goes that is pushed in. Without `deviations` such a joint is stiff about its other axes
    restarts            number of further starts where the first level, or one without limited strength, is missed;
                        None: 12 where it may be in reach and 0 where bones are too short for it, for coherent
                        batches and without `settle`, where an answer must not jump
    coherent            the batch is one motion with `fps` frames per second: goals with velocities move on from frame
                        to frame, and frames near each other end alike
    position_tolerance  armature units; None: 1e-4 of a 1.7 m human
    rotation_tolerance  radians
    settle              go on until the joints rest after the goals are met, from the reference whatever the given
                        pose; False for drags, which go on from their last pose
    iterations          maximum number of steps in a tick, or from a start: what takes more is stuck, or crawls
    """

    limits: bool | Literal["soft"] = True
    root: Root | float = "free"
    root_bone: int | None = None
    strength: float = np.inf
    strength_at: int | None = None
    firm_at: int = 0
    turn: float = np.inf
    stretch: bool = False
    reference: Pose | None = None
    deviations: Array | None = None
    axes: Array | None = None
    correlations: tuple[tuple[int, int, int, int, float], ...] = ()
    bends: Array | None = None
    restarts: int | None = None
    coherent: bool = False
    fps: float = 24.0
    position_tolerance: float | None = None
    rotation_tolerance: float = float(numbers.ROTATION_TOLERANCE)
    settle: bool = True
    iterations: int = 40

    def __post_init__(self) -> None:
        share = isinstance(self.root, (int, float)) and 0.0 < self.root <= 1.0
        if not share and self.root not in ROOTS:
            raise CoreError(
                f'root must be "free", "translate", "fixed", "pull", "hold" or a number up to 1, not "{self.root}".'
            )
        limits: object = self.limits
        if not isinstance(limits, bool) and not (isinstance(limits, str) and limits == "soft"):  # pyright: ignore
            raise CoreError(f'limits must be True, False or "soft", not "{self.limits}".')
        for name in ("stretch", "coherent", "settle"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise CoreError(f"{name} must be True or False, not {getattr(self, name)!r}.")
        if self.reference is not None and not isinstance(self.reference, Pose):  # pyright: ignore
            raise CoreError(f"The reference must be a Pose, not {self.reference!r:.40}.")
        for name in ("position_tolerance", "rotation_tolerance", "fps", "strength", "turn"):
            value = getattr(self, name)
            if name == "position_tolerance" and value is None:
                continue
            endless = name in ("strength", "turn") and value == np.inf
            if not isinstance(value, (int, float, np.number)) or not (0.0 < value < np.inf or endless):
                raise CoreError(f"{name} must be a positive number, not {value}.")
        if not is_whole(self.iterations) or self.iterations < 1:
            raise CoreError(f"iterations must be at least 1, not {self.iterations}.")
        if self.restarts is not None and (not is_whole(self.restarts) or self.restarts < 0):
            raise CoreError(f"restarts must be at least 0, not {self.restarts}.")
        if self.strength_at is not None and not is_whole(self.strength_at):
            raise CoreError(f"strength_at must be a priority, a whole number, not {self.strength_at!r:.40}.")
        if not is_whole(self.firm_at):
            raise CoreError(f"firm_at must be a priority, a whole number, not {self.firm_at!r:.40}.")
        if self.root_bone is not None and (not is_whole(self.root_bone) or self.root_bone < 0):
            raise CoreError(f"root_bone must be the index of a bone, not {self.root_bone!r:.40}.")
        try:
            tied = np.array([tuple(entry) for entry in self.correlations], float).reshape(-1, 5)
        except (TypeError, ValueError):
            tied = np.full((1, 5), np.nan)
        bones, axes, values = tied[:, [0, 2]], tied[:, [1, 3]], tied[:, 4]
        if not ((bones >= 0).all() and np.isin(axes, range(3)).all() and (np.abs(values) <= 1.0).all()):
            raise CoreError(
                "correlations must be tuples: a bone, its axis, another bone, its axis, a value from -1 to 1."
            )
        for name in ("deviations", "axes", "bends"):
            value = getattr(self, name)
            if value is None:
                continue
            try:
                array = frozen(value, float)
            except (TypeError, ValueError):
                raise CoreError(f"{name} must be numbers.") from None
            if not (np.abs(array) <= LARGEST).all():
                raise CoreError(f"{name} must be finite numbers.")
            object.__setattr__(self, name, array)
        if self.deviations is not None and (self.deviations < 0.0).any():
            raise CoreError("deviations must be numbers of at least 0.")
        if self.axes is not None:
            if self.axes.shape[-1:] != (4,) or not np.all(np.sum(np.square(self.axes), axis=-1) > 0.0):
                raise CoreError("axes must be quaternions other than 0, 0, 0, 0.")
            object.__setattr__(self, "axes", frozen(rotation.normalize(self.axes)))

    @property
    def starts(self) -> int:
        """Return the number of further starts for frames that miss a goal."""
        if self.restarts is None:
            return numbers.RESTARTS if self.settle and not self.coherent else 0
        return self.restarts
