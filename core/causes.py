"""Causes: why a goal is not met, and what helps against it, told together."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final, Self

_CLOSER_TARGET: Final = "Move the target closer"
_UNPIN: Final = "Unpin {} to get closer"
_PRECEDENCE: Final = "Set Precedence to Pins to hold the pin"


class Kind(Enum):
    """A kind of cause that keeps goals from being met: its words and what helps, with places for the bone and details.

    Nothing helps where the tool itself holds the bone.
    """

    ANOTHER_TARGET = "{} has another target as well", "Remove one of the two targets"
    AT_LIMIT = "{} is at the limit of {}", "Widen that limit, or mute it, to get closer"
    BALANCE = "the body keeps its balance", "Turn Balance off to get closer"
    BALANCED = "the body keeps its balance", ""
    BENT = "IK decides which way {} bends", ""
    BODY = (
        "limits of joints or the lengths of its bones keep it away",
        "Turn off Joint Limits in Import Keypoints to get closer",
    )
    CLOSER_POSE = "a closer pose may exist", "Drag or solve again to find it"
    DRAGGED = "{} is dragged", _PRECEDENCE
    DRIVEN = "{} is driven by {}", "Mute the driver or constraint to get closer"
    FIRM = "IK cannot rotate {} further", ""
    FIXED = "neither it nor its parents can be changed", "Unlock one of them to get closer"
    FOLLOWS = '{} follows the object "{}"', "Move that object instead"
    GAZE = (
        "neck and head rotate at most {} degrees sideways and {} up or down",
        "Rotate the body toward the target first",
    )
    HELD = "{} is held in place", ""
    LENGTHS = "as near as the lengths of its bones allow", "Choose a target within its reach"
    KEPT = "{} keeps {} from reaching its pin", "Mute the driver or constraint"
    LIMIT = "{} is at its limit ({})", "Turn Limits off to get closer"
    LIST = "the list cannot rotate {}", "Add one of its parents to the list"
    LOCK = "the rotation of {} is locked", "Unlock {} to get closer"
    MORE = "{} more reasons", ""
    MOVED = "the solver reached it, but then the target, or what follows the pose in Blender, moved", "Solve again"
    PINNED = "{} is pinned", _UNPIN
    OTHER_PINS = "out of reach, or pulled elsewhere by other pins: {}", "Move their pins closer or mute the others"
    PULL = "its pull of {} is too low to move the body", "Raise Pull to get closer"
    PULLS = "{} pulls the other way", "Lower the weight of {} to get closer"
    RESIST = "Resist of 1 keeps {} in place", "Lower Resist of {} to get closer"
    REACH = "{} is out of reach", "Move its pin closer"
    RIG = "a driver, constraint or other animation holds it there", "Mute that to get closer"
    SHEAR = "keys cannot show its shear, as of bones that stretch", "Bake without Mute Constraints to keep it"
    STIFF = "{} has the maximum stiffness", "Lower the stiffness of {} to get closer"
    STRAIGHT = (
        "its chain is straight, and limits or locks keep it from bending",
        "Turn Limits off and unlock rotations to get closer",
    )
    STRAIGHT_BY_LOCKS = "its chain is straight, and locks keep it from bending", "Unlock rotations to get closer"
    STRETCHED = "fully stretched from {}", _CLOSER_TARGET
    STRETCHED_FROM_DRAGGED = "fully stretched from the dragged {}", _PRECEDENCE
    STRETCHED_FROM_PINNED = "fully stretched from the pinned {}", _UNPIN
    TOO_FAR = "too far from {}", _CLOSER_TARGET
    TOO_FAR_FROM_DRAGGED = "too far from the dragged {}", _PRECEDENCE
    TOO_FAR_FROM_PINNED = "too far from the pinned {}", _UNPIN
    UNCHANGED = "what moves it is not changed", ""
    WEAK = "the drag or pin is too weak to move the body further", "Raise Strength or turn it off to get closer"
    WEIGHT = "its weight is too low against Joint Targets", "Raise its weight to get closer"


# what the solver takes for a pin of a bone that nobody asked for: the tool itself holds it
UNPINNED: Final = {
    Kind.PINNED: Kind.HELD,
    Kind.PULLS: Kind.HELD,
    Kind.STRETCHED_FROM_PINNED: Kind.STRETCHED,
    Kind.TOO_FAR_FROM_PINNED: Kind.TOO_FAR,
}


class Cause(str):
    """Why something is not as wanted: reads as the words of its kind; `remedy` is what helps, or empty.

    kind: a member of an Enum of pairs, its words and what helps, with places for the bone and details
    """

    kind: Enum
    bone: str
    details: tuple[str, ...]
    remedy: str

    def __new__(cls, kind: Enum, bone: str = "", *details: str) -> Self:
        words, remedy = kind.value
        places = [bone, *details] if bone else details
        made = super().__new__(cls, words.format(*places))
        made.kind, made.bone, made.details, made.remedy = kind, bone, details, remedy.format(*places)
        return made

    @property
    def sentence(self) -> str:
        """The cause alone, with what helps."""
        return f"{self}. {self.remedy}" if self.remedy else str(self)

    def seen(self, names: Mapping[str, str], kinds: Mapping[Any, Enum]) -> "Cause":
        """Return the cause with another name of its bone, and of another kind, where these are given."""
        return Cause(kinds.get(self.kind, self.kind), names.get(self.bone, self.bone), *self.details)


class Explanation(str):
    """What is missed, why, and what helps: reads as a sentence; `short` is the same with its first cause alone.

    What helps is by default against the first cause that has a remedy, or where a pinned bone is at its own limit
    against that. Where several pins hold alike, as those of both feet, to unpin one of them does not help.
    """

    missed: str
    causes: tuple[Cause, ...]
    short: str

    def __new__(cls, missed: str, causes: Sequence[Cause] = (), remedy: str = "") -> Self:
        made = super().__new__(cls, _told(missed, causes, remedy))
        made.missed, made.causes, made.short = missed, tuple(causes), _told(missed, causes, remedy, 1)
        return made


def _told(missed: str, causes: Sequence[Cause], remedy: str, many: int | None = None) -> str:
    """Return the sentence with its first causes; `many` of them, or all."""
    shown = causes[:many]
    first = next((cause for cause in shown if cause.remedy), None)
    if first is not None and first.kind is Kind.PINNED:
        pinned = {cause.bone for cause in causes if cause.kind is Kind.PINNED}
        first = next((cause for cause in causes if cause.kind is Kind.LIMIT and cause.bone in pinned), first)
    helps = "" if first is None else first.remedy
    if first is not None and first.kind.value[1] == _UNPIN:
        alike = {cause.bone for cause in causes if cause.kind is first.kind}
        helps = helps if len(alike) == 1 else _CLOSER_TARGET
    helps = remedy or helps
    return missed + (f": {', '.join(shown)}" if shown else "") + (f". {helps}" if helps else "")
