"""Survey an armature for the panel: the parts that are found, and what prevents posing."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import bpy
import numpy as np
from bpy.app.handlers import persistent

from .. import bridge
from ..bridge import autokey
from ..core import CoreError
from ..core.body import Roles
from ..core.body.posture import leg_length
from .info import UNSURE, body_sentence, find_parts
from .words import counted

SURE: Final = 0.9  # confidence of roles from which on they need no check
_SHOWN: Final = 4  # bones named in one sentence
_REASONS: Final = 30  # of driven bones that are listed; production rigs have hundreds
_UNEVEN: Final = 1e-3  # relative difference of the axes of an object's scale

Finding = tuple[str, ...]  # kind, name, text, and for a part its state, see POISE_PG_finding


@persistent
def look_on_entry(scene: Any, depsgraph: Any) -> None:
    """Survey an armature when it becomes active in Pose Mode; Blender calls this after every change."""
    context: Any = bpy.context
    shown, armature = context.window_manager.poise_survey, context.view_layer.objects.active
    entered = 0
    if armature is not None and armature.type == "ARMATURE" and armature.mode == "POSE":
        entered = armature.session_uid
    if entered != shown.entered:
        shown.entered = entered  # first: the survey may have Blender call this again
        if entered:
            look(context, armature)


@persistent
def look_after_undo(scene: Any, depsgraph: Any) -> None:
    """Survey again if an undo or a redo changed the corrections of parts."""
    context: Any = bpy.context
    shown, armature = context.window_manager.poise_survey, context.view_layer.objects.active
    if armature is not None and armature.session_uid == shown.owner and _said(armature) != shown.said:
        look(context, armature)


def look(context: Any, armature: Any) -> None:
    """Store the findings of `survey`, and the length of a leg, for the panels."""
    try:
        rig = bridge.read_rig(armature)
        roles = bridge.read_roles(armature, rig.skeleton)  # refuses wrong corrections, e.g. of an older file
    except CoreError as refusal:
        found, leg = [("HINDRANCE", "", str(refusal))], 0.0
    else:
        found = list(survey(context, armature, rig, roles))
        leg = leg_length(rig.skeleton, roles) * float(bridge.length_scale(bridge.world_matrix(armature)))
    shown = context.window_manager.poise_survey
    shown.owner, shown.said, shown.leg = armature.session_uid, _said(armature), leg
    shown.findings.clear()
    for kind, name, text, *state in found:
        finding = shown.findings.add()
        finding.kind, finding.name, finding.text = kind, name, text
        if state:
            finding.state = state[0]


def _said(armature: Any) -> str:
    return repr(bridge.read_corrections(armature))


def survey(context: Any, armature: Any, rig: bridge.Rig, roles: Roles) -> Iterator[Finding]:
    """Yield the findings: what is understood, what prevents posing, which bones are which part."""
    parts = find_parts(armature, roles)
    body = body_sentence(parts)
    yield "BODY", "", f"{body[0].upper()}{body[1:]}."
    yield from _confidence(parts)
    solved = int(np.count_nonzero(rig.skeleton.movable | rig.skeleton.translatable.any(axis=1)))
    yield "BODY", "", f"{solved} of {counted(len(rig.skeleton), 'bone')} can be posed."
    if rig.driven:
        count, one = counted(len(rig.driven), "bone"), len(rig.driven) == 1
        controlled = bridge.find_controlled(armature, rig, roles)
        if controlled is not None:
            yield "BODY", "", f"{count} {'is' if one else 'are'} driven; the body is posed by its controls."
        else:
            held = int(rig.skeleton.driven.sum())
            how = f"driven, and {held} cannot be dragged" if held else "driven and carried by their parents"
            yield "ASK" if held else "BODY", "", f"{count} {'is' if one else 'are'} {how}: see below."
    yield from _hindrances(context, armature)
    if rig.driven:
        yield from _driven(rig) if controlled is None else _led(rig, controlled, roles)
    said = {*bridge.read_corrections(armature).values()}
    for role, bones in {**parts["roles"], **parts["limbs"]}.items():
        state = "SAID" if role in said else "FOUND" if parts["confidence"][role] >= SURE else "GUESSED"
        yield "ROLE", role, bones if isinstance(bones, str) else ", ".join(bones), state
    for role in parts["missing"]:
        yield "ROLE", role, "", "MISSING"


def _confidence(parts: dict[str, Any]) -> Iterator[Finding]:
    """Yield the confidence in words."""
    confidence = parts["confidence"]
    doubtful = [role for role, value in confidence.items() if value < UNSURE]
    likely = sum(UNSURE <= value < SURE for value in confidence.values())
    if doubtful:
        yield "ASK", "", f"Unsure of {_listed(doubtful)}. Check them below."
    elif likely:
        parts_of_it = counted(len(confidence), "part")
        yield "BODY", "", f"{likely} of {parts_of_it} detected, but not certain: see the yellow triangles below."
    elif confidence:
        yield "BODY", "", "All parts were detected with certainty."
    if parts["humanoid"] and parts["missing"]:
        yield "ASK", "", f"Not found: {_listed(parts['missing'])}."


def _led(rig: bridge.Rig, controlled: bridge.ControlledBody, roles: Roles) -> Iterator[Finding]:
    """Yield, for a body that controls pose, the parts without controls, and how many bones are driven by what."""
    names, led = rig.skeleton.names, {*controlled.bones.tolist()}
    alone = [role for role in roles.bones if {*roles.chain(role)} - led]
    if alone:
        yield "DRIVEN", "", f"Parts that have bones without controls: {_listed(alone)}"
    if len({*rig.driven.values()}) <= _REASONS:
        yield from _driven(rig)
        return
    kinds = Counter(reason.rpartition(" (")[2].rstrip(")") if reason.endswith(")") else reason.split(" ")[0]
                    for reason in rig.driven.values())  # fmt: skip
    text = f"{len(rig.driven)} of {counted(len(names), 'bone')} are driven by:"
    yield "DRIVEN", _listed([f"{kind} ({count})" for kind, count in kinds.most_common()]), text


def _driven(rig: bridge.Rig) -> Iterator[Finding]:
    """Yield the driven bones by what drives them."""
    reasons: dict[str, list[str]] = {}
    for bone, reason in rig.driven.items():
        reasons.setdefault(reason, []).append(bone)
    for reason, bones in islice(reasons.items(), _REASONS):
        named = "" if len(bones) == 1 and f'"{bones[0]}"' in reason else ", ".join(bones)
        yield "DRIVEN", named, f"{reason[0].upper()}{reason[1:]}"
    if len(reasons) > _REASONS:
        yield "DRIVEN", "", f"And {counted(len(reasons) - _REASONS, 'more reason')}"


def _hindrances(context: Any, armature: Any) -> Iterator[Finding]:
    """Yield what is refused, and what makes results worse."""
    try:
        bridge.check(armature)
        bridge.world_to_armature(bridge.world_matrix(armature))
    except CoreError as refusal:
        yield "HINDRANCE", "", str(refusal)
        return
    stretches = np.linalg.svd(bridge.world_matrix(armature)[:3, :3], compute_uv=False)
    if np.ptp(stretches) > _UNEVEN * stretches[0]:
        uneven = "The object is scaled unevenly: pinned rotations are inexact. Apply its scale in Object Mode."
        yield "HINDRANCE", "", uneven
    try:
        autokey.check(context, armature)
    except CoreError as refusal:
        yield "HINDRANCE", "", str(refusal)


def _listed(names: list[str] | tuple[str, ...]) -> str:
    """Return names as "a, b and c"; of many the first few."""
    more = len(names) - _SHOWN
    shown = [*names[:_SHOWN], counted(more, "other")] if more > 1 else list(names)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
