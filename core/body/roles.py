"""Roles: the names of the parts of a body, and which bones of a skeleton are these parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from ..errors import CoreError
from ..rotation import Array

SIDES: Final = ("L", "R")
ARM: Final = ("shoulder", "upper_arm", "forearm", "hand")
LEG: Final = ("thigh", "shin", "foot", "toe")
LIMB_PARTS: Final = {"arm": ARM, "leg": LEG}
LIMBS: Final = {"arm": ARM[1:], "leg": LEG[:3]}  # the three segments of each
SEGMENTS: Final = tuple(  # roles of two segments in line
    (f"{upper}.{side}", f"{lower}.{side}")
    for side in SIDES
    for parts in LIMBS.values()
    for upper, lower in pairwise(parts)
)
FINGERS: Final = ("thumb", "index", "middle", "ring", "pinky")

# The roles of a body; those of hands are optional. `LISTS` are roles of several bones.
BODY: Final = ("hips", "spine", "neck", "head", *(f"{part}.{side}" for side in SIDES for part in (*ARM, *LEG)))
PARTS_OF_HANDS: Final = tuple(
    f"{part}.{side}" for side in SIDES for part in (*FINGERS, *(f"palm.{finger}" for finger in FINGERS[1:]))
)
ROLES: Final = (*BODY, *PARTS_OF_HANDS)
LISTS: Final = frozenset(("spine", "neck", *(f"{finger}.{side}" for side in SIDES for finger in FINGERS)))

Bones = int | tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Roles:
    """The roles of the bones of a skeleton, by their index.

    bones       role -> bone, or bones for "spine", "neck" and fingers; left and right are the character's own
    twist       role -> further bones of its segment, in line
    limbs       "tail", "wing.L", "leg.front.L" ... -> bones from the trunk outwards; of creatures also "hips", "spine",
                "neck", "head", "jaw", "ear.L" and "ear.R"; the first bone of a leg may be a scapula or half a pelvis
    confidence  0 to 1 for every key of `bones` and `limbs`; ask the user where it is less than 0.8
    missing     roles of `BODY` that a humanoid lacks
    facing, up  axes of armature space such as "-Y"
    rest        kind of rest pose: "T", "A", "I", "other", or "folded" if all bones point the same way
    soles       "foot.L", "toe.L" ... -> points (n, 3) of the skin or shoes that these bones move, at rest in armature
                space; none where they are not known
    """

    humanoid: bool
    bones: dict[str, Bones]
    twist: dict[str, tuple[int, ...]]
    limbs: dict[str, tuple[int, ...]]
    confidence: dict[str, float]
    missing: tuple[str, ...]
    facing: str
    up: str
    rest: str
    soles: Mapping[str, Array] = field(default_factory=dict[str, Array])

    def bone(self, role: str) -> int:
        """Return the bone of a role; -1 if the body has none or several."""
        found = self.bones.get(role, -1)
        return found if isinstance(found, int) else -1

    def chain(self, role: str) -> tuple[int, ...]:
        """Return all bones of a role; of a creature also of a limb."""
        found = self.bones.get(role, () if self.humanoid else self.limbs.get(role, ()))
        return (found,) if isinstance(found, int) else found

    @property
    def parts(self) -> dict[str, tuple[int, ...]]:
        """Role -> bones of the parts that poses and motions pass to other bodies: of a creature its limbs."""
        roles = self.bones if self.humanoid else {**self.bones, **self.limbs}
        return {role: chain for role in roles if (chain := self.chain(role))}

    @property
    def legs(self) -> dict[str, tuple[int, ...]]:
        """Leg -> its bones of a creature: "leg.L", "leg.front.L", "leg.2.L" ..."""
        return {name: chain for name, chain in sorted(self.limbs.items()) if name.startswith("leg") and chain}

    @property
    def animal(self) -> bool:
        """Whether it is a creature with hips and legs, whose motions others can take."""
        return not self.humanoid and bool(self.limbs.get("hips")) and bool(self.legs)

    def knuckles(self, side: str) -> list[int]:
        """Return the first bones of the fingers of one side, without the thumb."""
        return [chain[0] for finger in FINGERS[1:] if (chain := self.chain(f"{finger}.{side}"))]

    def require(self, *wanted: str) -> list[int]:
        """Return the bones of these roles, the first of each. Raises CoreError naming those that are missing."""
        lacking = [role for role in wanted if not self.chain(role)]
        if lacking:
            named = " or ".join(lacking)
            raise CoreError(
                f"No {named} was found. Assign its bone in Rig > Parts."
                if self.humanoid
                else f"An animal has no {named}."
                if self.animal
                else (
                    "No body can be detected in the rest pose: all bones point the same way. Use Make Rest "
                    "Pose in a pose that shows the body."
                )
                if self.rest == "folded"
                else "No human body was detected in the armature. Assign bones to its parts."
            )
        return [self.chain(role)[0] for role in wanted]


def opposite_role(role: str) -> str:
    """Return the role on the other side; a role without a side is returned as it is."""
    return role[:-1] + {"L": "R", "R": "L"}[role[-1]] if role[-2:] in (".L", ".R") else role
