"""Controls that are off: FK controls of a limb on IK, IK controls of one on FK. What is on stands in for them."""

from collections.abc import Iterable

from .armature import Rig, read_rig
from .channels import ArmatureObject
from .control_bodies import find_controlled
from .controlled_body import ControlledBody
from .roles import read_roles


def stand_in(rig: Rig, controlled: ControlledBody, name: str) -> str:
    """Return the bone that poses a part in place of a control of it that is off; other bones as they are.

    That is the control that is on, or the part itself where IK bends it.
    """
    bone = rig.skeleton.index(name)
    if bone not in controlled.idle:
        return name
    part = controlled.riding[bone]
    turner = controlled.controls[part].turns
    return rig.skeleton.names[turner if turner >= 0 else controlled.bones[part]]


def explain_idle(rig: Rig, controlled: ControlledBody, name: str) -> str:
    """Return a sentence about a control that is off, and what is posed in its place."""
    part = controlled.riding[rig.skeleton.index(name)]
    limb = controlled.limbs_of([part])
    controls = (controlled.controls[one] for one in (part, *limb))
    posed = next((one for control in controls for one in (control.turns, control.moves) if one >= 0), -1)
    also = f': "{rig.skeleton.names[posed]}" poses it' if posed >= 0 else ""
    return f'"{name}" has no effect while its limb is in {"IK" if limb else "FK"}{also}'


def find_stand_ins(armature: ArmatureObject, names: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Return bone -> what stands in for it (see `stand_in`), and sentences about those that are off."""
    rig, found = read_rig(armature), list(dict.fromkeys(names))
    bones = list(map(rig.skeleton.index, found))
    controlled = find_controlled(armature, rig, read_roles(armature, rig.skeleton), bones)
    if controlled is None:
        return dict(zip(found, found, strict=True)), []
    off = [name for name, bone in zip(found, bones, strict=True) if bone in controlled.idle]
    acting = {name: stand_in(rig, controlled, name) for name in found}
    return acting, [explain_idle(rig, controlled, name) for name in off]
