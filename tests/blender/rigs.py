"""Rigs for tests: the shipped ones, those of ../shared/data, and small ones made here."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from core import Skeleton
from core.skeleton import HUMAN_DIAGONAL

context: Any = bpy.context  # the stubs take its members for methods

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "tests" / "data"
SHARED = ROOT.parent / "shared" / "data"


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
