"""The report of a job, from arrays: R.json of the command line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..causes import Cause, Explanation
from ..rotation import Array
from .table import FLAG, NAME, NULL, UNIT, Field, Kind, Table, by_type, list_of, number, object_of, vector, whole

_DIGITS: Final = 9  # of lengths in metres and angles in degrees: beyond them single precision is noise
KEYS: Final = 1 << 40  # more than there are keys
_SUNK: Final = 0.02  # of a leg: feet that are less deep below the floor are on it
_METRE: Final = 1.0  # longer errors are shown in metres, shorter ones in millimetres
# the words for a missed goal: by a length, by an angle in degrees
_PHRASES: Final = {
    "look_at": ("", "looking {} degrees past its target"),
    "distance": ("{} off the requested distance", ""),
    "balance": ("{} outside of the supports", ""),
    "falloff": ("{} away from its solved position", ""),
    "pose": ("{} away from its solved position", "rotated {} degrees away from its solved rotation"),
}
# points of a foot in words
_ON_FOOT: Final = {
    "heel": "the heel of {}",
    "ball": "the ball of {}",
    "toe": "the tip of the toes of {}",
    "sole": "the sole of {}",
}


@dataclass(frozen=True, eq=False)
class GoalReport:
    """How one goal was met. Errors (F,) at `frames` (F,), where it was fully on; None where it did not ask.

    position_error in metres of the world, rotation_error in degrees, measured in Blender.
    """

    bone: str
    kind: str
    frames: Array
    position_error: Array | None
    rotation_error: Array | None
    position_tolerance: float
    rotation_tolerance: float

    @property
    def met(self) -> NDArray[np.bool_]:
        """(F,) within tolerance."""
        result = np.ones(self.frames.shape, bool)
        if self.position_error is not None:
            result &= self.position_error <= self.position_tolerance
        if self.rotation_error is not None:
            result &= self.rotation_error <= self.rotation_tolerance
        return result

    @property
    def scores(self) -> Array:
        """(F,) the larger of both errors, in units of the tolerances."""
        scores = np.zeros(self.frames.shape)
        if self.position_error is not None:
            scores = np.maximum(scores, self.position_error / self.position_tolerance)
        if self.rotation_error is not None:
            scores = np.maximum(scores, self.rotation_error / self.rotation_tolerance)
        return scores

    @property
    def worst(self) -> int:
        """The index in `frames` of the largest error, in units of the tolerances."""
        return int(np.argmax(self.scores))

    def sentence(self, reasons: Sequence[Cause] = ()) -> Explanation:
        """Return what is missed in the worst frame, why, and what helps: 'hand.R is 34 mm short of ...'."""
        far, turned = _PHRASES.get(self.kind, ("{} short of its target", "rotated {} degrees off"))
        wrong: list[str] = []
        if self.position_error is not None and self.position_error[self.worst] > self.position_tolerance:
            error = self.position_error[self.worst]
            wrong.append(far.format(f"{error:.2f} m" if error >= _METRE else f"{1000.0 * error:.3g} mm"))
        if self.rotation_error is not None and self.rotation_error[self.worst] > self.rotation_tolerance:
            wrong.append(turned.format(f"{self.rotation_error[self.worst]:.3g}"))
        name = "the center of mass" if self.kind == "balance" else self.bone
        return Explanation(f"{name} is {' and '.join(wrong)} at frame {_plain(self.frames[self.worst])}", reasons)

    def data(self) -> dict[str, Any]:
        """Return how the goal was met as JSON data."""
        return {
            "bone": self.bone,
            "kind": self.kind,
            "frames": [_plain(self.frames[0]), _plain(self.frames[-1])],
            "position_error": self._summary(self.position_error),
            "rotation_error": self._summary(self.rotation_error),
            "met": bool(self.met.all()),
        }

    def _summary(self, errors: Array | None) -> dict[str, Any] | None:
        if errors is None:
            return None
        return {
            "max": round(float(errors.max()), _DIGITS),
            "mean": round(float(errors.mean()), _DIGITS),
            "frame": _plain(self.frames[int(np.argmax(errors))]),
        }


@dataclass(frozen=True, eq=False)
class FloorReport:
    """How deep the feet are below a flat floor where they are deepest, in metres, measured in Blender.

    point      of a foot, as "heel.L", "ball.L", "toe.L" or "sole.L"
    frame      where it is that deep
    depth      of the point; 0 where nothing is below the floor
    before     how deep the feet were in the motion that was changed; 0 for a motion of its own
    leg        length of a leg
    tolerance  how far the feet may be below where they were before
    """

    point: str
    frame: float
    depth: float
    before: float
    leg: float
    tolerance: float

    @property
    def told(self) -> bool:
        """Whether it is deep enough to be told."""
        return self.depth > _SUNK * self.leg

    @property
    def met(self) -> bool:
        """Whether no foot is deep, but for those that were so before."""
        return not self.told or self.depth <= self.before + self.tolerance

    def sentence(self) -> Explanation:
        """Return how deep the foot is, where and when, and what helps."""
        part, _, side = self.point.partition(".")
        deep, at = f"{1000.0 * self.depth:.0f} mm", _plain(self.frame)
        said = f"{_ON_FOOT[part].format(f'foot.{side}')} is {deep} below the floor at frame {at}"
        if self.met:
            said = f"{said}, before it was {1000.0 * self.before:.0f} mm"
        return Explanation(said, remedy="Use Fix Ground to raise the feet")

    def data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        lengths = {"depth": self.depth, "before": self.before, "leg": self.leg}
        rounded = {name: round(length, _DIGITS) for name, length in lengths.items()}
        return {"point": self.point, "frame": _plain(self.frame), **rounded, "met": self.met}


@dataclass(frozen=True, eq=False)
class Report:
    """What a job did.

    seconds                by phase: "read", "solve", "write" and "measure"
    rotated, moved, grown  names of the bones that were written
    pose                   how far Blender shows bones from the pose that was to be shown: in each frame that of the
                           bone that is farthest off, with the name of the one that is so in all; None: not measured
    floor                  how deep feet are below a flat floor; None where there is none, or no human feet
    """

    armature: str
    frames: Array
    method: str
    seconds: dict[str, float]
    goals: tuple[GoalReport, ...]
    explanations: tuple[str, ...]
    action: str | None
    rotated: tuple[str, ...]
    moved: tuple[str, ...]
    grown: tuple[str, ...] = ()
    pose: GoalReport | None = None
    floor: FloorReport | None = None

    @property
    def met(self) -> bool:
        """Every goal within tolerance in all its frames."""
        return all(bool(goal.met.all()) for goal in self.goals)

    @property
    def shown(self) -> bool:
        """The pose within tolerance in all frames, and the feet not below the floor."""
        return (self.pose is None or bool(self.pose.met.all())) and (self.floor is None or self.floor.met)

    @property
    def converged_frames(self) -> int:
        """Frames in which the pose, and every goal that was fully on, is within tolerance, as measured in Blender."""
        measured = self.goals if self.pose is None else (*self.goals, self.pose)
        missed = {frame for goal in measured for frame in goal.frames[~goal.met].tolist()}
        return len(self.frames) - len(missed)

    def data(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "armature": self.armature,
            "frames": [_plain(self.frames[0]), _plain(self.frames[-1])],
            "method": self.method,
            "seconds": {phase: round(seconds, 6) for phase, seconds in self.seconds.items()},
            "frames_per_second": round(len(self.frames) / sum(self.seconds.values()), 1),
            "goals": [goal.data() for goal in self.goals],
            "pose": None if self.pose is None else self.pose.data(),
            "floor": None if self.floor is None else self.floor.data(),
            "converged_frames": self.converged_frames,
            "explanations": list(self.explanations),
            "action": self.action,
        }


def _plain(frame: float) -> float | int:
    """Return a frame number without decimals that are zero."""
    return int(frame) if float(frame).is_integer() else float(frame)


def always(*rows: tuple[str, Kind, str]) -> tuple[Field, ...]:
    """Return fields that are always there, from their names, kinds and meanings."""
    return tuple(Field(*row, needed="missing.") for row in rows)


_ERROR: Final = Table(
    always(
        ("max", number(0.0), "the largest one"),
        ("mean", number(0.0), "over the frames"),
        ("frame", number(), "of the largest one"),
    )
)
_ERRORS: Final = by_type({type(None): NULL}, _ERROR.kind())
GOAL_REPORT: Final = Table(
    always(
        ("bone", NAME, "the bone of the goal"),
        (
            "kind",
            NAME,
            (
                "`pin`, `drag`, `look_at`, `distance` or `balance`; for commands also `hold`, `keep`, `end`, "
                "`body` or `pose`"
            ),
        ),
        ("frames", vector(2), "first and last frame in which it was fully active"),
        ("position_error", _ERRORS, "meters, as Blender shows it"),
        ("rotation_error", _ERRORS, "degrees"),
        ("met", FLAG, "within tolerance in all its frames"),
    )
)
FLOOR_REPORT: Final = Table(
    always(
        ("point", NAME, "`heel`, `ball`, `toe` (its tip) or, where the skin is known, `sole`, with `.L` or `.R`"),
        ("frame", number(), "where it is deepest"),
        ("depth", number(0.0), "meters below the floor"),
        ("before", number(0.0), "how deep the feet were before the change; 0 for a motion of its own"),
        ("leg", number(0.0), "length of a leg in meters"),
        ("met", FLAG, "at most 2 % of a leg deep, or as deep as before"),
    )
)
_ANY: Final = Kind(lambda data, where: data, {"type": "object"})
REPORT: Final = Table(
    (
        *always(
            ("armature", NAME, "which armature was posed"),
            ("frames", vector(2), "first and last frame"),
            ("method", NAME, "solver that was used"),
            ("seconds", object_of(number(0.0), "an object of seconds"), "by phase"),
            ("frames_per_second", number(0.0), "of all phases"),
            ("goals", list_of(GOAL_REPORT.kind()), "how well each goal was met"),
            (
                "pose",
                by_type({type(None): NULL}, GOAL_REPORT.kind()),
                "how far the bones in Blender are from the solved or recorded pose, and which one is farthest off",
            ),
            (
                "floor",
                by_type({type(None): NULL}, FLOOR_REPORT.kind()),
                "how deep the feet are below a flat floor; null for commands that put none on one",
            ),
            ("converged_frames", whole(0), "frames in which all goals and the pose are met"),
            ("explanations", list_of(NAME), "a sentence for each missed goal"),
            ("action", by_type({type(None): NULL}, NAME), "action with the keys"),
        ),
        Field("skating", object_of(UNIT, "shares"), "of `lock-feet`: shares of the frames in contact that slide"),
        Field(
            "warnings",
            list_of(NAME),
            "of commands that change a motion: what may not be wanted, and what to do",
        ),
        Field("recipe", NAME, "of `generate`: name of the recipe"),
        Field("takes", list_of(NAME), "of `retarget`: the motions in the file, starting with the one that was used"),
        Field(
            "keys", object_of(whole(0, KEYS), "numbers"), "of `reduce-keys`: how many keys were kept, and of how many"
        ),
        Field("layout", NAME, "of `keypoints`: layout of the points"),
        Field("metres", number(0.0), "of `keypoints`: unit of the points in meters"),
        Field("up", NAME, "of `keypoints`: axis of the points that points up"),
        Field("fps", number(0.0), "of `keypoints`: frames per second"),
        Field("noise", by_type({type(None): NULL}, number(0.0)), "of `keypoints`: noise of the points in millimeters"),
        Field("bones", whole(0), "of `keypoints`: number of bones that were posed"),
        Field("notes", list_of(NAME), "of `keypoints`: how the file was read"),
        Field("batch", _ANY, "of `batch`, in the files beside its results: checksums of the inputs"),
    )
)
