"""Rigs for tests: the shipped ones, those of ../shared/data, and small ones made here."""

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from bpy_extras.anim_utils import action_get_channelbag_for_slot
from mathutils import Vector

from bridge.view import View
from core import Skeleton
from core.skeleton import HUMAN_DIAGONAL
from panels.pins import POISE_PT_pins
from tests.paths import ROOT

KEY = (
    "handle_left_type",
    "handle_right_type",
    "interpolation",
    "easing",
    "type",
    "back",
    "amplitude",
    "period",
    "select_control_point",
    "select_left_handle",
    "select_right_handle",
)

SIZE = (1600, 900)

FULL = os.environ.get("POISE_ZOO") == "full"
SUFFIXES = {".blend", ".fbx", ".glb", ".gltf", ".vrm", ".bvh"}
REFUSED = "quaternius_horse_ASCII_unsupported.fbx"


TOOLS = ("take_posture", "mirror_pose", "plant_feet", "lay_hands", "pose_fingers", "grip", "look_at")


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

context: Any = bpy.context  # the stubs take its members for methods


def load(path: Path) -> list[Any]:
    """Open or import a file; returns its armature objects. Skips the test if the file is of data that is not here."""
    if not path.is_file():
        pytest.skip(f"{path.name}: the larger test data (../shared/data) is not here")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    kind = path.suffix.lower()
    if kind == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path))
    elif kind == ".fbx":
        bpy.ops.import_scene.fbx(filepath=str(path))
    elif kind == ".bvh":
        bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True, update_scene_duration=True)
    elif kind == ".vrm":  # a binary glTF; the importer minds the name only
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(path, Path(folder) / "copy.glb")
            bpy.ops.import_scene.gltf(filepath=str(copy))
    else:
        bpy.ops.import_scene.gltf(filepath=str(path))
    return [o for o in bpy.data.objects if o.type == "ARMATURE"]


def build(rows: Sequence[tuple[str, str | None, Sequence[float], Sequence[float]]], connect: bool = False) -> Any:
    """An armature object in an empty file, of rows (name, parent, head, tail)."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = bpy.data.armatures.new("rig")
    ob = bpy.data.objects.new("rig", armature)
    context.scene.collection.objects.link(ob)
    context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in rows:
        bone = armature.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        if parent is not None:
            bone.parent = armature.edit_bones[parent]
            bone.use_connect = connect
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def chain(count: int, connect: bool = True) -> Any:
    """Bones bone0, bone1 ... upwards, slightly bent."""
    points = [(0.1 * i * i, 0.05 * i, float(i)) for i in range(count + 1)]
    rows = [(f"bone{i}", f"bone{i - 1}" if i else None, points[i], points[i + 1]) for i in range(count)]
    return build(rows, connect)


def diagonal(skeleton: Skeleton) -> float:
    """The rest bounding-box diagonal."""
    return skeleton.size * HUMAN_DIAGONAL


def set_random_pose(ob: Any, rng: np.random.Generator, size: float, scale: str = "none") -> dict[str, np.ndarray]:
    """Random values in all channels of all bones, set and evaluated; scale is "none", "uniform" or "any"."""
    count = len(ob.pose.bones)
    scales = {
        "none": np.ones((count, 3)),
        "uniform": np.repeat(rng.uniform(0.7, 1.4, (count, 1)), 3, axis=1),
        "any": rng.uniform(0.7, 1.4, (count, 3)),
    }
    values = {
        "location": 0.1 * size * rng.normal(size=(count, 3)),
        "rotation_quaternion": rng.normal(size=(count, 4)),
        "rotation_euler": rng.uniform(-4.0, 4.0, (count, 3)),
        "rotation_axis_angle": rng.normal(size=(count, 4)),
        "scale": scales[scale],
    }
    for name, array in values.items():
        ob.pose.bones.foreach_set(name, array.astype(np.float32).ravel())
    ob.update_tag(refresh={"DATA"})
    context.view_layer.update()
    return values


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


def make_skin(rig: Any, names: Iterable[str] | None = None, width: float = 0.05) -> Any:
    """A mesh of one box about each bone, by default about all, that moves with it by its weights."""
    corners, faces, owners = list[Vector](), list[list[int]](), list[str]()
    for name in names or rig.data.bones.keys():
        bone, first = rig.data.bones[name], len(corners)
        box = [
            (x, y, z) for x in (-width, width) for y in (0.1 * bone.length, 0.9 * bone.length) for z in (-width, width)
        ]
        corners += [bone.matrix_local @ Vector(corner) for corner in box]
        sides = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
        faces += [[first + corner for corner in side] for side in sides]
        owners += [name] * len(box)
    return skin_of(rig, corners, faces, owners)


def load_example(name: str) -> ModuleType:
    """A script of docs/examples as a module."""
    spec = importlib.util.spec_from_file_location(f"poise_{name}", ROOT / "docs" / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def skin_of(rig: Any, corners: Sequence[Any], faces: Sequence[Any], owners: Sequence[str]) -> Any:
    """A mesh of these corners and faces; each corner moves with the bone that owns it."""
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata(corners, [], faces)
    skin: Any = bpy.data.objects.new("skin", mesh)
    context.scene.collection.objects.link(skin)
    for number, name in enumerate(owners):
        (skin.vertex_groups.get(name) or skin.vertex_groups.new(name=name)).add([number], 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = skin.parent = rig
    context.view_layer.update()
    return skin


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


def set_hidden(bone: Any, hidden: bool = True) -> None:
    """Hide a pose bone, or show it."""
    owner = bone if hasattr(bone, "hide") else bone.bone  # Blender 4.5 has it on the bone
    owner.hide = hidden


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


def library_override(armature: bpy.types.Object, file: Path) -> Any:
    """The override, in an empty scene, of an armature whose collection is linked from a file that it is written to."""
    bpy.ops.object.mode_set(mode="OBJECT")
    group = bpy.data.collections.new("Character")
    group.objects.link(armature)
    bpy.context.scene.collection.children.link(group)
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(file), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    bpy.context.scene.collection.children.link(wanted.collections[0])  # Blender 5.3 overrides nothing that is not there
    wanted.collections[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    return next(one for one in bpy.data.objects if one.override_library)


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


class Layout:
    """Stands for bpy.types.UILayout: notes what is drawn and refuses what Blender would draw in red."""

    def __init__(self, seen: list[tuple[str, ...]]) -> None:
        self.seen = seen

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "enabled":
            self.seen.append((name, str(value)))

    def row(self, **_: Any) -> "Layout":
        return Layout(self.seen)

    column = split = box = grid_flow = row

    def separator(self) -> None:
        self.seen.append(("separator", ""))

    def label(self, *, text: str, icon: str = "NONE", **_: Any) -> None:
        self.icon(icon)
        self.seen.append(("label", text))

    def prop(self, data: Any, name: str, *, icon: str = "NONE", **_: Any) -> None:
        self.icon(icon)
        assert name in data.bl_rna.properties, name
        self.seen.append(("prop", name))

    def prop_enum(self, data: Any, name: str, value: str) -> None:
        self.prop(data, name)
        self.seen.append(("set", f"{name}={data.bl_rna.properties[name].enum_items[value].identifier}"))

    def prop_search(self, data: Any, name: str, search_data: Any, search_name: str, **_: Any) -> None:
        assert search_name in search_data.bl_rna.properties, search_name
        self.prop(data, name)

    def operator(self, name: str, *, icon: str = "NONE", text: str = "", **_: Any) -> Any:
        self.icon(icon)
        if text:
            self.seen.append(("text", text))
        group, _, tool = name.partition(".")
        known = getattr(getattr(bpy.ops, group), tool).get_rna_type().properties
        seen = self.seen

        class Properties:
            def __setattr__(self, key: str, value: object) -> None:
                assert key in known, key
                seen.append(("set", f"{key}={value}"))

        seen.append(("operator", name))
        return Properties()

    def menu(self, name: str, *, icon: str = "NONE") -> None:
        self.icon(icon)
        assert hasattr(bpy.types, name)
        self.seen.append(("menu", name))

    def progress(self, *, factor: float, text: str) -> None:
        self.seen.append(("progress", text))

    def operator_menu_enum(self, name: str, _: str, *, text: str = "", icon: str = "", **_more: Any) -> Any:
        return self.operator(name)

    def operator_enum(self, name: str, _: str) -> None:
        self.operator(name)

    def template_list(self, kind: str, _: str, data: Any, name: str, active_data: Any, active: str, **__: Any) -> None:
        rows = getattr(bpy.types, kind)
        self.seen.append(("list", name))
        for item in getattr(data, name):
            rows.draw_item(SimpleNamespace(), bpy.context, self, data, item, 0, active_data, active)

    @staticmethod
    def icon(name: str) -> None:
        icons = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
        assert name in icons, name


def drawn_by(panel: Any) -> list[tuple[str, ...]]:
    seen: list[tuple[str, ...]] = []
    panel.draw(SimpleNamespace(layout=Layout(seen)), bpy.context)
    return seen


def labels(panel: Any = POISE_PT_pins) -> Iterator[str]:
    return (text for kind, text in drawn_by(panel) if kind == "label" and text)


def said_by(tool: str, monkeypatch: Any, **settings: Any) -> tuple[str, str]:
    """What the tool reports."""
    found: list[tuple[str, str]] = []
    kind: Any = getattr(bpy.types, f"POISE_OT_{tool}")
    act = kind.act

    def noted(self: Any, *given: Any) -> tuple[str, str]:
        found.append(act(self, *given))
        return found[-1]

    monkeypatch.setattr(kind, "act", noted)
    assert getattr(bpy.ops.poise, tool)(**settings) == {"FINISHED"}
    return found[0]


def curves(action: Any, ob: Any) -> dict[tuple[str, int], Any]:
    bag: Any = action_get_channelbag_for_slot(action, ob.animation_data.action_slot)
    return {(curve.data_path, curve.array_index): curve for curve in bag.fcurves} if bag else {}


def keys_of(action: Any) -> dict[Any, list[Any]]:
    """All that the keys of all slots of an action are."""
    return {
        (bag.slot_handle, c.data_path, c.array_index): [key_of(p) for p in c.keyframe_points]
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        for c in bag.fcurves
    }


FEET = ["foot.L", "foot.R"]


def pin_feet() -> Any:
    """A body in Pose Mode whose feet are pinned."""
    rig = make_armature()
    select(rig, FEET)
    bpy.ops.poise.pin()
    return rig


KINDS = ("PERSP", "ORTHO")  # of views


def make_view(kind: str = "PERSP", rotation_euler: tuple[float, float, float] = (1.3, 0.1, 0.4)) -> tuple[View, Any]:
    """A view through a camera of Blender's that sees the body, and that camera."""
    data = bpy.data.cameras.new("camera")
    camera = bpy.data.objects.new("camera", data)
    scene: Any = bpy.context.scene
    scene.collection.objects.link(camera)
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    data.type = kind
    data.ortho_scale = 4.0
    camera.rotation_euler = rotation_euler
    bpy.context.view_layer.update()
    camera.location = Vector((0.0, 0.0, 1.0)) + camera.matrix_world.to_3x3() @ Vector((0.2, 0.1, 4.0))
    bpy.context.view_layer.update()
    projection = camera.calc_matrix_camera(bpy.context.evaluated_depsgraph_get(), x=SIZE[0], y=SIZE[1])
    inverse = camera.matrix_world.inverted()
    view = View(np.array(projection @ inverse), np.array(inverse)[:3, :3], SIZE)
    return view, camera


def key_of(point: Any) -> tuple[Any, ...]:
    places = (tuple(point.co), tuple(point.handle_left), tuple(point.handle_right))
    return places + tuple(getattr(point, name) for name in KEY)


def put_on_fk(rig: Any, share: float = 1.0) -> None:
    """Put the limbs of Rigify's human on FK, or on IK."""
    for bone in rig.pose.bones:
        if "IK_FK" in bone:
            bone["IK_FK"] = share
    rig.update_tag()
    bpy.context.view_layer.update()
