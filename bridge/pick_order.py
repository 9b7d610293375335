"""Which of several bones in one place is meant: it counts what they pose of the body."""

from collections.abc import Mapping
from typing import Any, Final

from ..core import CoreError
from ..core.body import SIDES
from .armature import read_rig
from .channels import ArmatureObject
from .control_graph import find_controlled
from .roles import read_corrections, read_roles

FIRST, SECOND, LAST = range(3)
_ENDS: Final = ("hips", "head", *(f"{end}.{side}" for end in ("hand", "foot") for side in SIDES))

_known: dict[int, tuple[Any, Mapping[str, int]]] = {}  # by armature: what the order was found for, and the order


def read_pick_order(armature: ArmatureObject) -> Mapping[str, int]:
    """Return bone -> FIRST if it poses a hand, a foot, hips, chest or head, SECOND for other parts; others are LAST.

    It counts what drives the body now; the order is found once for the same constraints.
    """
    constraints = ((one.mute, one.influence) for bone in armature.pose.bones for one in bone.constraints)
    state = armature.data.bones.keys(), read_corrections(armature), list(constraints)
    known = _known.get(armature.session_uid)
    if known is None or known[0] != state:
        known = _known[armature.session_uid] = state, _find(armature)
    return known[1]


def _find(armature: ArmatureObject) -> Mapping[str, int]:
    try:
        rig = read_rig(armature)
        roles = read_roles(armature, rig.skeleton)
        controlled = find_controlled(armature, rig, roles)
    except CoreError:  # a drag says why it cannot be posed
        return {}
    ends = {*(roles.bone(role) for role in _ENDS), *roles.chain("spine")[-1:]}
    if controlled is None:
        parts = {bone: bone for role in roles.bones for bone in roles.chain(role)}
    else:
        parts = {control: int(controlled.bones[part]) for control, part in controlled.parts().items()}
    return {rig.skeleton.names[bone]: FIRST if part in ends else SECOND for bone, part in parts.items()}
