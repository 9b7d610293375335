"""Which of several bones in one place is meant, and which bone poses a part: it counts what they pose of the body."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..core import CoreError
from ..core.body import SIDES, Roles
from .armature import Rig, read_rig
from .channels import ArmatureObject
from .control_bodies import find_controlled, may_be_controlled
from .control_frames import read_state
from .control_graph import Graph
from .controlled_body import ControlledBody
from .roles import read_corrections, read_roles
from .shown import read_for_posing

FIRST, SECOND, THIRD, LAST = range(4)
_ENDS: Final = ("hips", "head", *(f"{end}.{side}" for end in ("hand", "foot") for side in SIDES))


@dataclass(frozen=True)
class _Found:
    """What was found for one state: bone -> its order, and deforming bone -> the bone that poses it."""

    state: Any
    order: Mapping[str, int]
    posers: Mapping[str, str]


_known: dict[int, _Found] = {}  # by armature


def read_pick_order(armature: ArmatureObject) -> Mapping[str, int]:
    """Return bone -> FIRST if it poses a hand, a foot or paw, hips, chest or head, SECOND for other parts.

    THIRD are poles. LAST are other bones that the body depends on in some setting: tweaks, gears, parents, controls
    that are off; and bones whose locks hold them in full, as those with settings only. What is not in it, as bones of a
    face or of clothes, counts as SECOND.
    """
    return _read(armature).order


def read_posers(armature: ArmatureObject) -> Mapping[str, str]:
    """Return deforming bone -> the control that turns or moves its part of the body; itself where there is none."""
    return _read(armature).posers


def _read(armature: ArmatureObject) -> _Found:
    """Return what drives the body now; it is found once for the same constraints and the same bones for posing."""
    posing = read_for_posing(armature).tobytes()
    state = armature.data.bones.keys(), read_corrections(armature), read_state(armature), posing
    known = _known.get(armature.session_uid)
    if known is None or known.state != state:
        known = _known[armature.session_uid] = _find(armature, state)
    return known


def _find(armature: ArmatureObject, state: Any) -> _Found:
    try:
        rig = read_rig(armature)
        roles = read_roles(armature, rig.skeleton)
        graph = Graph(armature, rig) if may_be_controlled(rig, roles) else None
        controlled = None if graph is None else find_controlled(armature, rig, roles, graph=graph)
        posers = {} if controlled is None else _find_posers(armature, rig, roles, controlled, graph)
    except CoreError:  # a drag says why it cannot be posed
        return _Found(state, {}, {})
    names = rig.skeleton.names
    ends = {*(roles.bone(role) for role in _ENDS), *roles.chain("spine")[-1:]}
    if controlled is None:
        parts, led = {bone: bone for role in roles.bones for bone in roles.chain(role)}, set[int]()
        moved, poles = dict[int, int](), set[int]()
    else:
        parts = {control: int(controlled.bones[part]) for control, part in controlled.parts.items()}
        movers = zip(controlled.bones_that("moves").tolist(), controlled.bones.tolist(), strict=True)
        moved = {control: bone for control, bone in movers if control >= 0}
        parts |= moved
        led, poles = ({int(controlled.bones[part]) for part in some} for some in (controlled.targets, controlled.poles))
    if roles.animal:  # whose feet are where IK ends, or the last bones of its legs
        feet = (next((bone for bone in chain if bone in led), chain[-1]) for chain in roles.legs.values())
        ends |= {*feet, *roles.chain("hips")[:1], *roles.chain("spine")[:1], *roles.chain("head")[-1:]}
    below = [*parts.values()]
    if graph is None:
        others = {above for bone in below for above in rig.skeleton.ancestors(bone)}
    else:
        others = graph.ever_above(below)
    skeleton = rig.skeleton
    still = ~(skeleton.movable | skeleton.translatable.any(axis=1) | skeleton.driven)  # as those with settings only
    order = dict.fromkeys((names[bone] for bone in others | {*np.flatnonzero(still).tolist()}), LAST)
    ends_of = {bone for bone, part in parts.items() if part in ends}
    ends_of -= {bone for bone in ends_of if bone not in moved and parts[bone] in moved.values()}  # as a paw's heel
    order |= {names[bone]: FIRST if bone in ends_of else THIRD if bone in poles else SECOND for bone in parts}
    return _Found(state, order, posers)


def _find_posers(
    armature: ArmatureObject, rig: Rig, roles: Roles, body: ControlledBody, graph: Graph | None
) -> dict[str, str]:
    """Return deforming bone -> the bone that poses the nearest part above it, or else the part that it goes with."""
    names, found = rig.skeleton.names, dict[str, str]()
    places = {int(bone): place for place, bone in enumerate(body.bones)}
    deforming = [number for number, bone in enumerate(armature.data.bones) if bone.use_deform]
    above = {bone: [places[one] for one in rig.skeleton.ancestors(bone) if one in places] for bone in deforming}
    loose = [bone for bone, parts in above.items() if not parts]
    whole = find_controlled(armature, rig, roles, loose, graph) if loose else None
    parts = {} if whole is None else whole.parts
    for bone in deforming:
        owner, part = (body, above[bone][0]) if above[bone] else (whole, parts.get(bone, -1))
        if owner is not None and part >= 0:
            by = owner.controls[part]
            found[names[bone]] = names[next((one for one in (by.turns, by.moves) if one >= 0), int(owner.bones[part]))]
    return found
