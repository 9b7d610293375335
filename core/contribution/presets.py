"""Presets: how the joints of an arm, a leg or a spine share the rotation, by their roles or their places in the chain.

A joint takes its fraction of the rotation that brings the effector nearest to the target, in the order of the list. Its
angle is the least that it turns, so that the joints with an angle make a small move alone: the wrist, not the spine.

The numbers of arms and legs follow how far the joints vary in motion capture (standard deviations in degrees, pooled
over three families of motion: elbow 60, shoulder 50, wrist 30, clavicle 10, spine 8 for each joint; knee 60, hip 45,
ankle 25), those of chains without such names follow from the number of joints.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .. import rotation
from ..body.detection import find_roles
from ..body.detection.names import read_names
from ..body.grip import find_knuckles, finger_hinges
from ..body.roles import FINGERS, Roles
from ..errors import CoreError
from ..goals import Bone
from ..limits import LimitGroup
from ..pose import Pose
from ..skeleton import Skeleton
from ..solvers.chain.actuations import AXES, Actuation, Axis
from ..solvers.chain.limits import allowed, at_frames, limit_groups, limits_by_bone
from ..solvers.chain.path import bones_between
from .hinges import with_hinges

_FREE: Final = float(np.radians(5.0))  # axes with a smaller range are left out
_TWIST: Final = 0.3  # share of a joint's numbers for its twist: it moves the effector little, and skin a lot
_ASIDE: Final = 0.15  # share for axes of a hinge that it hardly turns about, where nothing forbids it to
_TENTACLE: Final = 9  # joints from which on a chain is a tentacle
_TAIL: Final = 5
_FINGER: Final = 3
_PHALANGES: Final = ("knuckle", "middle", "last")  # the last one, and all joints beyond it
_LEAST_LIMB: Final = 0.5  # of the skeleton's size: shorter chains without a role are jaws, toes, eyebrows, skirts


@dataclass(frozen=True)
class _Share:
    """Fraction of one joint about its main axes, and its angle in degrees."""

    fraction: float
    angle: float


# The hinge in the middle sets the distance and comes first; the joint at the root then aims and takes nearly all of the
# rest; the end corrects. Clavicle and trunk move everything and help only a little: they come last.
_LIMBS: Final = {
    "arm": {
        "hinge": _Share(0.4, 10.0),
        "root": _Share(0.7, 8.0),
        "end": _Share(0.2, 3.0),
        "girdle": _Share(0.15, 0.0),
        "trunk": _Share(0.05, 0.0),
    },
    # a leg rests on its foot: the ankle turns little, the knee more than an elbow, the pelvis hardly at all
    "leg": {
        "hinge": _Share(0.5, 10.0),
        "root": _Share(0.7, 5.0),
        "end": _Share(0.1, 0.0),
        "girdle": _Share(0.05, 0.0),
        "trunk": _Share(0.03, 0.0),
    },
    # the knuckle aims; one tendon bends the other two, the last one two thirds as far as the one before
    "finger": {
        "knuckle": _Share(0.5, 5.0),
        "middle": _Share(0.6, 8.0),
        "last": _Share(0.4, 5.0),
        "trunk": _Share(0.05, 0.0),
    },
}


def _spine(count: int) -> list[_Share]:
    """Return equal parts of the whole, from the pelvis upwards: fractions 1 / n, 1 / (n - 1) ..."""
    return [_Share(1.0 / (count - place), 0.0) for place in range(count)]


def _neck(count: int) -> list[_Share]:
    """Return fractions that grow towards the head: two topmost joints make half of a real head's rotation."""
    return [_Share(0.5 / (count - place), 1.0 if place == count - 1 else 0.0) for place in range(count)]


def _tail(count: int) -> list[_Share]:
    """Return fractions that grow threefold from the thick root to the thin tip."""
    return [_Share(min(1.0, (0.5 + place / max(count - 1, 1)) * 2.0 / count), 1.0) for place in range(count)]


def _tentacle(count: int) -> list[_Share]:
    """Return equal fractions, the tip first: a tentacle curls in from its end."""
    return [_Share(min(1.0, 3.0 / count), 2.0) for _ in range(count)][::-1]


_ROWS: Final[dict[str, Callable[[int], list[_Share]]]] = {
    "spine": _spine, "neck": _neck, "tail": _tail, "tentacle": _tentacle
}  # fmt: skip
_FROM_THE_TIP: Final = ("tentacle",)
PRESETS: Final = (*_LIMBS, *_ROWS)

# role -> preset and the joint's part in it
_ROLES: Final = {
    "forearm": ("arm", "hinge"), "upper_arm": ("arm", "root"), "hand": ("arm", "end"), "shoulder": ("arm", "girdle"),
    "shin": ("leg", "hinge"), "thigh": ("leg", "root"), "foot": ("leg", "end"), "toe": ("leg", "end"),
    "neck": ("neck", ""), "head": ("neck", ""), "spine": ("spine", ""), "hips": ("spine", ""), "tail": ("tail", ""),
    # of creatures, or by name: joints get their parts by their places
    "leg": ("leg", ""), "arm": ("arm", ""), "wing": ("arm", ""),
} | dict.fromkeys(("finger", *FINGERS), ("finger", ""))  # fmt: skip

_CALLED: Final = {  # words in names -> the role meant
    "clavicle": "shoulder", "upperarm": "upper_arm", "elbow": "forearm", "wrist": "hand", "knee": "shin",
    "ankle": "foot", "chest": "spine",
}  # fmt: skip
_TRUNK: Final = ("spine", "neck", "tail")


def preset(
    name: str,
    skeleton: Skeleton,
    base: Bone | None,
    effector: Bone,
    roles: Roles | None = None,
    with_effector: bool = False,
) -> tuple[Actuation, ...]:
    """Return the list of a preset for the chain from a base to an effector's head; see `ContributionCCD.base`.

    `with_effector` says that another point of the effector is dragged: then the effector turns, too. Joints of an arm
    or a leg get their parts by their roles (`find_roles` by default), else by their places in the chain. Raises
    CoreError if there is no such preset, or if no joint of the chain may turn.
    """
    if name not in PRESETS:
        raise CoreError(f'There is no preset "{name}"; there are {", ".join(PRESETS)}.')
    roles = find_roles(skeleton) if roles is None else roles
    joints = _joints(skeleton, base, effector, with_effector)
    parts = _parts(skeleton, roles, joints)
    if name in _LIMBS:
        shares = _limb(name, joints, parts)
    else:
        order = joints[::-1] if name in _FROM_THE_TIP else joints
        shares = list(zip(order, _ROWS[name](len(order)), strict=True))
    axes = _axes(skeleton, roles, joints)
    return tuple(
        Actuation(skeleton.names[bone], axis, min(1.0, part * share.fraction), float(np.radians(part * share.angle)))
        for bone, share in shares
        for axis, part in axes[bone]
    )


def preset_for(
    skeleton: Skeleton,
    base: Bone | None,
    effector: Bone,
    roles: Roles | None = None,
    with_effector: bool = False,
) -> str:
    """Return the name of the preset for a chain, by the roles and names of its bones, else by its shape."""
    roles = find_roles(skeleton) if roles is None else roles
    joints = _joints(skeleton, base, effector, with_effector)
    bones = [bone for way in bones_between(skeleton, base, effector) for bone in way]
    found = list(_parts(skeleton, roles, bones).values())
    names = [name for name, part in found if part not in ("end", "girdle")]  # a wrist makes no arm
    if names and 2 * len(found) >= len(bones):  # else most of it is something that hangs there, like hair on a head
        for name in ("arm", "leg"):  # a chain from the spine to the hand is an arm
            if name in names:
                return name if names.count(name) < _TENTACLE else "tentacle"
        return max(dict.fromkeys(names), key=names.count)
    count = len(joints)
    if count >= _TAIL:
        return "tentacle" if count >= _TENTACLE else "tail"
    hinges = [len(axes) == 1 for axes in _axes(skeleton, roles, joints).values()]
    if count == _FINGER and all(hinges[1:]):
        return "finger"
    heads = skeleton.rest_matrices[:, :, 3]
    way = heads[skeleton.index(effector)] - heads[joints[0]]
    if rotation.lengths(way) < _LEAST_LIMB * skeleton.size:
        return "tail"
    return "leg" if way[2] < -0.5 * rotation.lengths(way) else "arm"


def _joints(skeleton: Skeleton, base: Bone | None, effector: Bone, with_effector: bool) -> list[int]:
    """Return the bones of a chain that turn its effector, from the base; raises CoreError if there is none."""
    against, along = bones_between(skeleton, base, effector)
    tip = skeleton.index(effector)
    still = skeleton.driven | ~skeleton.movable
    joints = [bone for bone in (*against, *along) if not still[bone] and (with_effector or bone != tip)]
    if not joints:
        raise CoreError(f'No bone between the base and "{skeleton.names[tip]}" can rotate.')
    return joints


def _parts(skeleton: Skeleton, roles: Roles, joints: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Return joint -> preset and part, by its role, else by its name, like the controls of a rig.

    In the trunk of a creature, whose roles are found by place, the name counts where the two differ.
    """
    known: dict[int, tuple[str, str]] = {}
    for role, bones in (*roles.bones.items(), *roles.limbs.items()):
        chain, name = (bones,) if isinstance(bones, int) else bones, role.partition(".")[0]
        if name in FINGERS:
            known |= {bone: ("finger", _PHALANGES[min(place, 2)]) for place, bone in enumerate(chain)}
        elif name in _ROLES:
            known |= dict.fromkeys(chain, _ROLES[name])
    readings = read_names(skeleton.names)
    found: dict[int, tuple[str, str]] = {}
    for bone in joints:
        role, called = known.get(bone), _ROLES.get(_CALLED.get(readings[bone].part, readings[bone].part))
        best = role or called
        if role and called and not roles.humanoid and role[0] in _TRUNK and called[0] not in _TRUNK:
            best = called
        if best is not None:
            found[bone] = best
    return found


def _limb(name: str, joints: list[int], parts: dict[int, tuple[str, str]]) -> list[tuple[int, _Share]]:
    """Return the joints of an arm, a leg or a finger with their shares, in the order of their parts."""
    order = list(_LIMBS[name])
    own = {bone: parts[bone][1] for bone in joints if bone in parts and parts[bone][0] == name and parts[bone][1]}
    count = len(joints)
    if {"hinge", "middle"} & set(own.values()):
        part_of = {bone: own.get(bone, "trunk") for bone in joints}
    elif name == "finger":
        part_of = {bone: _PHALANGES[min(place, 2)] for place, bone in enumerate(joints)}
    else:  # trunk ... girdle, root, hinge, end: the last three that there are, and what comes before
        row = ["root", "hinge", "end"] if count > 2 else ["root", "hinge"]
        row = ["trunk"] * max(0, count - len(row) - 1) + ["girdle"] * (count > len(row)) + row
        part_of = dict(zip(joints, row[-count:], strict=True))
    return sorted(
        ((bone, _LIMBS[name][part_of[bone]]) for bone in joints), key=lambda pair: order.index(part_of[pair[0]])
    )


def _axes(skeleton: Skeleton, roles: Roles, joints: Sequence[int]) -> dict[int, list[tuple[Axis, float]]]:
    """Return joint -> the axes that it turns about, with the share of its numbers for each, the main ones first.

    These are the axes that limits and locks leave free. The main axis of elbows, knees and bent limbs of creatures is
    the one that they bend about. Fingers close, and their knuckles also turn sideways.
    """
    groups = limits_by_bone(limit_groups(skeleton, list(joints), Pose.rest(skeleton, (1,)), True))
    bends, fingers = with_hinges(skeleton, roles)[1], finger_hinges(skeleton, roles)
    knuckles = find_knuckles(roles)
    found: dict[int, list[tuple[Axis, float]]] = {}
    for bone in joints:
        free = [axis for axis in range(3) if bone not in groups or _range(groups[bone], axis) > _FREE]
        main = int(np.argmax(np.abs(bends[bone]))) if bends[bone].any() else -1
        if bone in fingers and main in free:
            aside = np.abs(fingers[bone][1])
            aside[main] = 0.0
            free = [axis for axis in free if axis == main or (bone in knuckles and axis == np.argmax(aside))]
        shares: list[tuple[Axis, float]] = []
        for axis in sorted(free, key=lambda axis: (axis != main, axis == 1)):
            part = 1.0 if len(free) == 1 or axis == main else _TWIST if axis == 1 else 1.0 if main < 0 else _ASIDE
            shares.append((AXES[axis], part))
        found[bone] = shares
    return found


def _range(groups: tuple[LimitGroup, ...], axis: int) -> float:
    """Return how far a bone turns about an axis from rest, in both directions together, radians."""
    ways = np.array([np.pi, -np.pi])
    rest = np.tile(rotation.IDENTITY, (2, 1))
    return float(np.abs(allowed(at_frames(groups, np.zeros(2, int)), rest, axis, ways)).sum())
