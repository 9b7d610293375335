"""Which bones are which parts: what a mapping says, and what is a guess and has to be said."""

from collections.abc import Sequence
from typing import Any

from .. import bridge
from ..core import CoreError
from ..core.body import BODY
from ..core.formats.mapping import BodyMapping
from .info import UNSURE, find_parts
from .words import counted


def take_mapping(armatures: Sequence[Any], mapping: BodyMapping) -> None:
    """Correct the parts of those armatures that have the bones of a mapping; it takes the place of what was said.

    Raises CoreError, with nothing changed, if none has them.
    """
    if not mapping.roles and mapping.facing is None:
        return
    found: list[tuple[Any, dict[str, str]]] = []
    refusals: list[CoreError] = []
    for armature in armatures:
        try:
            found.append((armature, bridge.mapping_to_corrections(armature, mapping.roles)))
        except CoreError as refusal:
            refusals.append(refusal)
    if not found:
        raise refusals[0]
    for armature, corrections in found:
        said = {bone.name: "" for bone in armature.pose.bones if bone.poise_role}
        bridge.write_corrections(armature, {**said, **corrections}, mapping.facing or "")


def check_sure(armature: Any, by_motion: bool = False) -> None:
    """Raise CoreError if a part of a human body is a guess that nobody confirmed, or its rest pose shows no body.

    With `by_motion` the rest pose does not matter: the armature's motion is read.
    """
    parts = find_parts(armature)
    if parts["rest"] == "folded" and not by_motion:
        raise CoreError(
            f'No body can be detected in the rest pose of "{armature.name}": all bones point the same '
            "way. Use Make Rest Pose in a pose that shows the body."
        )
    guessed = [role for role in BODY if parts["roles"].get(role) and parts["confidence"][role] < UNSURE]
    if guessed:
        bones = parts["roles"][guessed[0]]
        bone = bones if isinstance(bones, str) else bones[0]
        more = f" and {counted(len(guessed) - 1, 'other part')}" if guessed[1:] else ""
        raise CoreError(
            f'It is not certain that "{bone}" of "{armature.name}" is {guessed[0]}. Assign it{more} '
            "in Rig > Parts, or use a mapping (--mapping)."
        )
