"""Poses by parts: read from an armature, from an action or from text, and applied to any other body."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import bpy

from .. import bridge
from ..bridge.driven import split_path
from ..core import CoreError, Pose
from ..core.editing.part_pose import PartPose, read_part_pose, take_part_pose
from ..core.formats.pose import parse_pose
from .body_tools import BodyTool
from .breakdown import PoseSlider
from .files import append, present_blend, same_file, temporary_data
from .parts import check_sure
from .retarget import find_takes, parts_of


@dataclass(frozen=True)
class ApplyPose(BodyTool):
    """Give a body the pose of another one.

    factor  how far it goes there
    parts   those that take the pose; None for all
    """

    wanted: PartPose
    factor: float = 1.0
    parts: frozenset[str] | None = None

    def apply(self, context: Any, armature: Any, body: bridge.Body) -> Pose:
        posed = self.wanted.posed if self.parts is None else self.wanted.posed & self.parts
        if posed.isdisjoint(body.roles.parts):
            raise CoreError("The pose contains none of the parts to pose.")
        wanted = replace(self.wanted, posed=posed)
        return take_part_pose(body.skeleton, body.roles, body.pose, wanted, self.factor)


class BlendedPose(PoseSlider):
    """Poses from the present one to that of an `ApplyPose`."""

    def __init__(self, context: Any, armature: Any, tool: ApplyPose) -> None:
        super().__init__(context, armature)
        self._context, self._armature, self._tool = context, armature, tool

    def pose_at(self, share: float) -> Pose:
        return replace(self._tool, factor=share).apply(self._context, self._armature, self.body)


def pose_of_armature(armature: Any, names: Iterable[str] = ()) -> PartPose:
    """Return the pose that an armature has now; only the parts of the bones `names` are to be posed, or all.

    Raises CoreError if it is neither a human body nor an animal, or these bones are no parts of it.
    """
    rig = bridge.read_rig(armature)
    skeleton, pose = bridge.show_figure(armature, rig, bridge.read_pose(armature, rig))
    found = read_part_pose(skeleton, bridge.read_roles(armature, skeleton), pose)
    chosen = posed_parts(armature, names)
    return found if chosen is None else replace(found, posed=found.posed & chosen)


def pose_of_action(context: Any, armature: Any, action: Any, frame: float | None = None, owner: str = "") -> PartPose:
    """Return the pose of an action at a frame, by default its first, of the parts that it has keys of.

    An action says nothing of rest poses: it is read on the armature `owner` of the scene, by default the one of whose
    bones it poses most, which those do not take that something else drives; of several the one that has the name of its
    slot, or `armature`. Raises CoreError without one.
    """
    body, names, _ = _owner_of(context, armature, action, owner)
    return _pose_on(context, body, names, action, frame, owner)


def _owner_of(context: Any, armature: Any, action: Any, owner: str) -> tuple[Any, set[str], int]:
    """Return the armature to read an action on, None if the scene has none, the bones with keys, and how many it poses.

    Of the bones those count that the armature has and that nothing else drives.
    """
    names = {path[0] for curve in bridge.all_curves(action) if (path := split_path(curve.data_path))}
    if not names:
        raise CoreError(f'The action "{action.name}" poses no bones.')
    context.view_layer.update()  # else it lists removed objects
    named = {slot.name_display for slot in action.slots}
    found = [one for one in context.view_layer.objects if one.type == "ARMATURE" and owner in ("", one.name)]
    own = {one: names.intersection(one.data.bones.keys()) for one in found}
    posed = {one: len(bones.difference(bridge.read_rig(one).driven)) if bones else 0 for one, bones in own.items()}
    body = max(found, key=lambda one: (posed[one], one.name in named, one == armature), default=None)
    return body, names, posed.get(body, 0)


def _pose_on(context: Any, body: Any, names: set[str], action: Any, frame: float | None, owner: str) -> PartPose:
    """Return the pose of an action, which has keys of bones, on an armature; see `pose_of_action`."""
    if body is None and owner:
        raise CoreError(f'The scene has no armature "{owner}" to read the pose with.')
    own = names.intersection(() if body is None else body.data.bones.keys())
    if 2 * len(own) <= len(names):
        raise CoreError(
            f'No armature in the scene has the bones of "{action.name}", such as "{min(names)}". Add '
            "the rig that the pose was made with."
        )
    bridge.check(body)
    check_sure(body)
    ((_, slot),) = find_takes(body, [action]).values()
    first, last = action.frame_range
    at = first if frame is None else frame
    if not first <= at <= last:
        raise CoreError(f'Frame {at:g} is outside of "{action.name}", which has frames {first:g} to {last:g}.')
    with bridge.posed_by(context, body, action, at, slot):
        return pose_of_armature(body, own)


def pose_of_asset(
    context: Any, armature: Any, name: str, library: str = "", frame: float | None = None, owner: str = ""
) -> PartPose:
    """Return the pose of an action by its name, in this file or in the .blend file `library`; see `pose_of_action`.

    If no armature of the scene has more than half of its bones, with nothing else that drives them, those of the
    library are looked at, too. Nothing of it stays in the file.
    """
    present = present_blend()
    if not library or (present is not None and same_file(Path(library), present)):
        action = bpy.data.actions.get(name)
        if action is None:
            raise CoreError(f'There is no action "{name}" to take a pose from.')
        return pose_of_action(context, armature, action, frame, owner)
    with temporary_data(context):
        actions = append(Path(library), "actions", name)
        if not actions:
            raise CoreError(f'There is no action "{name}" in "{Path(library).name}".')
        body, names, posed = _owner_of(context, armature, actions[0], owner)
        if 2 * posed <= len(names):
            for one in append(Path(library), "objects"):
                if one.type == "ARMATURE":
                    context.scene.collection.objects.link(one)
            body, names, _ = _owner_of(context, armature, actions[0], owner)
        return _pose_on(context, body, names, actions[0], frame, owner)


def pose_of_text(text: str) -> PartPose:
    """Return the pose that is on the clipboard; raises CoreError if there is none."""
    try:
        return parse_pose(text)
    except CoreError as error:
        raise CoreError(f"The clipboard has no pose from Copy Pose by Parts: {error}") from error


def posed_parts(armature: Any, names: Iterable[str]) -> frozenset[str] | None:
    """Return the parts of the body that are named as in `edits.retarget.parts_of`; None without names.

    Bones may also be controls that pose parts. Of a limb on IK it is all of it. Raises CoreError if no bone is a part.
    """
    chosen = [*names]
    if not chosen:
        return None
    rig = bridge.read_rig(armature)
    roles = bridge.read_roles(armature, rig.skeleton)
    bones = {*parts_of(rig.skeleton, roles, chosen)}
    controlled = bridge.find_controlled(armature, rig, roles, sorted(bones))
    if controlled is not None:
        roles, bones = controlled.roles, _posed_by(controlled, bones)
    found = frozenset(
        role for role, chain in roles.parts.items() if bones.intersection(chain + roles.twist.get(role, ()))
    )
    if not found:
        raise CoreError(f'"{chosen[0]}" poses no part of the body.')
    return found


def _posed_by(controlled: bridge.ControlledBody, bones: Iterable[int]) -> set[int]:
    """Return the parts of a body that bones of the rig are or pose."""
    controls = {bone: part for part, control in enumerate(controlled.controls) for bone in astuple(control)}
    parts = controls | controlled.parts
    chosen = {parts[bone] for bone in bones if bone in parts}
    ends = {int(controlled.ends[controlled.poles.get(part, part)]) for part in chosen}
    return {part for part, end in enumerate(controlled.ends.tolist()) if end in ends}
