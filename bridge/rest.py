"""Apply the current pose as rest pose; meshes keep their visible shape and the action keeps its motion."""

from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import Motion
from ..core.pose import with_new_rest
from ..core.rotation import Array
from .armature import Rig, check, read_pose, read_rig
from .channels import ArmatureObject
from .driven import split_path
from .errors import BridgeError
from .keys import prepare_keys
from .learned import forget_tuning, write_learned
from .motion import active_curves, read_motion


@dataclass
class NewRest:
    """The result of a new rest pose: names of changed meshes and of the action, and data of the old one."""

    meshes: list[str] = field(default_factory=list[str])
    action: str | None = None
    forgotten: list[str] = field(default_factory=list[str])  # bones that lost learned limits or stiffness
    limited: list[str] = field(default_factory=list[str])  # bones whose IK limits are relative to the new rest pose now


def make_rest(context: Any, armature: ArmatureObject) -> NewRest:
    """Apply the current pose of the active armature, in Pose Mode, as its rest pose.

    Vertices and shape keys move to where the armature has deformed them. Keys of the action are recomputed at their
    frames, so that bones have the same pose there; Blender interpolates between them. Raises BridgeError, with nothing
    changed, if meshes or motion cannot be kept.
    """
    check(armature)
    context.view_layer.update()
    rig = read_rig(armature)
    pose = read_pose(armature, rig)
    _check_armature(context, armature, rig)
    if pose.scales is not None:
        raise BridgeError("Bones are scaled, but a rest pose has no scale. Clear the scale first.")
    shapes = [(mesh, _shapes_of(context, mesh, armature)) for mesh in _deformed(armature)]
    done = NewRest([mesh.name for mesh, _ in shapes])
    times, write = _key_times(armature), None
    if times:
        frames = np.unique(np.concatenate([*times.values()]))
        motion, _ = read_motion(armature, rig, frames)
        moved = with_new_rest(rig.skeleton, pose, motion.pose)
        motions = {bone: Motion(moved[np.searchsorted(frames, own)], own, motion.fps) for bone, own in times.items()}
        write = prepare_keys(armature, rig, motions)
    bpy.ops.pose.armature_apply(selected=False)
    done.action = write().name if write is not None else None
    for mesh, shape in shapes:
        _reshape(mesh, shape)
    for bone in armature.pose.bones:
        if bone.poise_learned or bone.poise_tuning:
            write_learned(bone, None)
            done.forgotten.append(bone.name)
        if bone.use_ik_limit_x or bone.use_ik_limit_y or bone.use_ik_limit_z:
            done.limited.append(bone.name)
    forget_tuning(armature)
    context.view_layer.update()
    return done


def _check_armature(context: Any, armature: ArmatureObject, rig: Rig) -> None:
    """Raise BridgeError for an armature whose rest pose must not be changed."""
    data, animation = armature.data, armature.animation_data
    if context.mode != "POSE" or context.active_object != armature:
        raise BridgeError("Switch to Pose Mode to change the rest pose.")
    if data.library is not None or data.override_library is not None:
        raise BridgeError(f'The armature "{data.name}" is linked from another file. Change its rest pose there.')
    others = [f'"{other.name}"' for other in bpy.data.objects if other.data == data and other != armature]
    if others:
        raise BridgeError(f"{', '.join(others)} would also get another rest pose. Make the armature single-user first.")
    if rig.driven:
        name, reason = next(iter(rig.driven.items()))
        raise BridgeError(
            f'"{name}" is driven by {reason}, which is set up for the current rest pose. Mute that first.'
        )
    if animation is None:
        return
    if any(len(track.strips) for track in animation.nla_tracks):
        raise BridgeError("The NLA strips are made for the current rest pose. Remove them first.")
    action = animation.action
    if action is not None and action.users - int(action.use_fake_user) > 1:
        raise BridgeError(f'The action "{action.name}" has other users. Make it single-user first.')


def _deformed(armature: ArmatureObject) -> list[Any]:
    """Return the meshes that the armature deforms. Raises BridgeError for objects that cannot be reshaped."""
    found: list[Any] = []
    for other in bpy.data.objects:
        by_parent = other.parent == armature and other.parent_type == "ARMATURE"
        if not by_parent and not any(_is_of(modifier, armature) for modifier in other.modifiers):
            continue
        if other.type != "MESH":
            raise BridgeError(
                f'"{other.name}" is deformed by the armature, but is not a mesh, so it would change its shape.'
            )
        data: Any = other.data
        if data.library is not None or data.users > 1:
            raise BridgeError(f'The mesh of "{other.name}" is linked or has other users. Make it single-user first.')
        found.append(other)
    return found


def _is_of(modifier: Any, armature: ArmatureObject) -> bool:
    return modifier.type == "ARMATURE" and modifier.object == armature


def _shapes_of(context: Any, mesh: Any, armature: ArmatureObject) -> list[NDArray[np.float32]]:
    """Return vertices (V, 3) deformed by the armature alone: of the mesh, or of each of its shape keys."""
    keys = mesh.data.shape_keys
    shown = {modifier: modifier.show_viewport for modifier in mesh.modifiers}
    only, active = mesh.show_only_shape_key, mesh.active_shape_key_index
    try:
        for modifier in mesh.modifiers:
            modifier.show_viewport = shown[modifier] and _is_of(modifier, armature)
        mesh.show_only_shape_key = True
        found: list[NDArray[np.float32]] = []
        for number in range(len(keys.key_blocks) if keys is not None else 1):
            mesh.active_shape_key_index = number
            evaluated = mesh.evaluated_get(context.evaluated_depsgraph_get())
            if not evaluated.is_evaluated:
                raise BridgeError(f'"{mesh.name}" is disabled in the viewport or not in the view layer. Show it first.')
            places = np.empty((len(evaluated.data.vertices), 3), np.float32)
            evaluated.data.vertices.foreach_get("co", places.ravel())
            found.append(places)
        return found
    finally:
        for modifier, was in shown.items():
            modifier.show_viewport = was
        mesh.show_only_shape_key, mesh.active_shape_key_index = only, active


def _reshape(mesh: Any, shapes: list[NDArray[np.float32]]) -> None:
    keys = mesh.data.shape_keys
    for number, shape in enumerate(shapes):
        if keys is not None:
            keys.key_blocks[number].data.foreach_set("co", shape.ravel())
    mesh.data.vertices.foreach_set("co", shapes[0].ravel())
    mesh.data.update()


def _key_times(armature: ArmatureObject) -> dict[int, Array]:
    """Return the frames of the keys of each bone (index)."""
    places = {bone.name: number for number, bone in enumerate(armature.pose.bones)}
    found: dict[int, Array] = {}
    for curve in active_curves(armature):
        place = split_path(curve.data_path)
        if place is None or place[0] not in places:
            continue
        keys = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", keys)
        bone = places[place[0]]
        found[bone] = np.union1d(found.get(bone, np.zeros(0)), keys[::2].astype(float))
    return found
