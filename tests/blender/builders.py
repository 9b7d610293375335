"""Small rigs for the tests of operators and commands, made by Blender itself, and a look at all that a file holds."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np

Bones = dict[str, tuple[str | None, Sequence[float], Sequence[float]]]  # parent, head, tail

BODY: Bones = {
    "hips": (None, (0, 0, 1.0), (0, 0, 1.15)),
    "spine": ("hips", (0, 0, 1.15), (0, 0, 1.3)),
    "chest": ("spine", (0, 0, 1.3), (0, 0, 1.5)),
    "head": ("chest", (0, 0, 1.55), (0, 0, 1.75)),
}
for _side, _s in (("L", 1.0), ("R", -1.0)):
    BODY |= {
        f"upper_arm.{_side}": ("chest", (0.15 * _s, 0, 1.45), (0.42 * _s, 0.02, 1.4)),
        f"forearm.{_side}": (f"upper_arm.{_side}", (0.42 * _s, 0.02, 1.4), (0.67 * _s, 0, 1.36)),
        f"hand.{_side}": (f"forearm.{_side}", (0.67 * _s, 0, 1.36), (0.75 * _s, 0, 1.35)),
        f"thigh.{_side}": ("hips", (0.1 * _s, 0, 0.98), (0.1 * _s, -0.03, 0.53)),
        f"shin.{_side}": (f"thigh.{_side}", (0.1 * _s, -0.03, 0.53), (0.1 * _s, 0, 0.09)),
        f"foot.{_side}": (f"shin.{_side}", (0.1 * _s, 0, 0.09), (0.1 * _s, -0.15, 0.02)),
    }


def make_armature(name: str = "rig", bones: Bones = BODY, mode: str = "QUATERNION") -> bpy.types.Object:
    """An armature object, active and in object mode; bones are connected where they can be."""
    data = bpy.data.armatures.new(name)
    object = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(object)
    bpy.context.view_layer.objects.active = object
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, (parent, head, tail) in bones.items():
        new = data.edit_bones.new(bone)
        new.head, new.tail = head, tail
        if parent is not None:
            new.parent = data.edit_bones[parent]
            new.use_connect = np.allclose(new.parent.tail, head)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in object.pose.bones:
        bone.rotation_mode = mode
    bpy.context.view_layer.update()
    return object


def make_ik_body() -> Any:
    """A body whose legs go after controls by IK, as an animator sets it up; feet turn with theirs, knees have poles."""
    bones: Bones = {"root": (None, (0, 0, 0), (0, 0.3, 0))} | BODY | {"hips": ("root", *BODY["hips"][1:])}
    for side, s in (("L", 1.0), ("R", -1.0)):
        bones[f"foot_ik.{side}"] = ("root", *BODY[f"foot.{side}"][1:])
        bones[f"knee.{side}"] = ("root", (0.1 * s, -0.8, 0.53), (0.1 * s, -0.9, 0.53))
    rig: Any = make_armature(bones=bones)
    for side in "LR":
        ik = rig.pose.bones[f"shin.{side}"].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count = rig, f"foot_ik.{side}", 2
        ik.pole_target, ik.pole_subtarget, ik.pole_angle = rig, f"knee.{side}", np.radians(-90.0)
        turned = rig.pose.bones[f"foot.{side}"].constraints.new("COPY_ROTATION")
        turned.target, turned.subtarget = rig, f"foot_ik.{side}"
    return rig


def remove_bone(object: bpy.types.Object, name: str) -> None:
    """Take a bone off an armature, in edit mode, and go back to Object Mode."""
    bpy.ops.object.mode_set(mode="EDIT")
    object.data.edit_bones.remove(object.data.edit_bones[name])
    bpy.ops.object.mode_set(mode="OBJECT")


def make_chain(count: int, name: str = "chain") -> bpy.types.Object:
    """Bones of 0.5 m on top of each other: b0, b1, ..."""
    bones: Bones = {f"b{i}": (f"b{i - 1}" if i else None, (0, 0, 0.5 * i), (0, 0, 0.5 * (i + 1))) for i in range(count)}
    return make_armature(name, bones)


def make_walk(object: bpy.types.Object, last: int = 20) -> bpy.types.Action:
    """A walk of sorts, keyed at frames 1 to `last` by fives: the hips travel, legs and arms swing."""
    for frame in range(1, last + 1):
        if frame % 5 and frame not in (1, last):
            continue
        swing = np.sin(2.0 * np.pi * frame / last)
        object.pose.bones["hips"].location = (0.0, 0.02 * swing, 0.02 * frame)
        object.pose.bones["hips"].keyframe_insert("location", frame=frame, group="hips")
        for side, sign in (("L", 1.0), ("R", -1.0)):
            for bone, angle in ((f"thigh.{side}", 0.4), (f"shin.{side}", 0.2), (f"upper_arm.{side}", -0.3)):
                turn(object, bone, sign * angle * swing)
                object.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame, group=bone)
    action = object.animation_data.action
    action.name = "walk"
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last
    bpy.context.scene.frame_set(1)
    return action


def make_empty(name: str, at: Sequence[float] = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    """An empty object."""
    object = bpy.data.objects.new(name, None)
    object.location = at
    bpy.context.scene.collection.objects.link(object)
    bpy.context.view_layer.update()
    return object


def turn(object: bpy.types.Object, bone: str, angle: float) -> None:
    """Turn a bone about its X axis."""
    object.pose.bones[bone].rotation_quaternion = (np.cos(0.5 * angle), np.sin(0.5 * angle), 0.0, 0.0)


def select(object: bpy.types.Object, bones: Iterable[str]) -> None:
    """Go to pose mode with these bones selected."""
    bpy.context.view_layer.objects.active = object
    object.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    names = set(bones)
    for bone in object.pose.bones:
        owner: Any = bone if hasattr(bone, "select") else bone.bone  # Blender 4.5 has it on the bone
        owner.select = bone.name in names


def choose(object: Any, *bones: str) -> None:
    """Go to pose mode with these bones selected, the last one active."""
    select(object, bones)
    object.data.bones.active = object.data.bones[bones[-1]]


def world(object: bpy.types.Object, bone: str, tail: bool = False) -> np.ndarray:
    """Where Blender has a bone's head or tail, in the world."""
    bpy.context.view_layer.update()
    here = object.pose.bones[bone]
    return np.array(object.matrix_world @ (here.tail if tail else here.head))


def linked_copy(object: bpy.types.Object, file: Path) -> Any:
    """The object once more, in the scene by its name, linked from a file that it is written to."""
    bpy.data.libraries.write(str(file), {object})
    with bpy.data.libraries.load(str(file), link=True) as (_, wanted):
        wanted.objects = [object.name]
    (linked,) = wanted.objects
    scene: Any = bpy.context.scene
    scene.collection.objects.link(linked)
    return linked


def world_rotation(object: bpy.types.Object, bone: str) -> np.ndarray:
    """A bone's orientation in the world, w x y z, for objects without scale."""
    bpy.context.view_layer.update()
    return np.array((object.matrix_world @ object.pose.bones[bone].matrix).to_quaternion())


def contents() -> dict[str, Any]:
    """All that Poise could change in a file: objects, channels, actions with curves, pins, settings, the frame."""
    scene = bpy.context.scene
    return {
        "frame": (scene.frame_current, scene.frame_subframe),
        "ids": sorted((type(block).__name__, block.name) for block in bpy.data.user_map()),
        "objects": {object.name: _object(object) for object in bpy.data.objects},
        "actions": {action.name: _curves(action) for action in bpy.data.actions},
        "slots": {action.name: [slot.identifier for slot in action.slots] for action in bpy.data.actions},
    }


def _object(object: Any) -> dict[str, Any]:
    data = object.animation_data
    seen = {
        "matrix": [tuple(row) for row in object.matrix_basis],
        "action": data and data.action and (data.action.name, data.action_slot and data.action_slot.identifier),
        "settings": (object.poise_wins, object.poise_limits, object.poise_root, object.poise_active_pin),
        "pins": [
            (p.name, p.use_position, p.use_rotation, tuple(p.position), tuple(p.rotation), p.space, p.weight, p.mute)
            for p in object.poise_pins
        ],
    }  # fmt: skip
    if object.pose is not None and object.mode != "EDIT":
        seen["bones"] = {
            bone.name: [
                tuple(getattr(bone, channel))
                for channel in ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
            ]
            for bone in object.pose.bones
        }
    return seen


def _curves(action: Any) -> list[Any]:
    return [
        (curve.data_path, curve.array_index, [(*key.co, key.interpolation) for key in curve.keyframe_points])
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        for curve in bag.fcurves
    ]
