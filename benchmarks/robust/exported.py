"""Write a small animated armature by Blender's exporters of FBX, glTF and USD: `... exported FOLDER`, a file a kind."""

import contextlib
import io
import sys
from pathlib import Path
from typing import Any

import bpy


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    data = bpy.data.armatures.new("Armature")
    armature: Any = bpy.data.objects.new("Armature", data)
    context: Any = bpy.context
    context.collection.objects.link(armature)
    context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for number, name in enumerate(("Hips", "Chest", "Head")):
        bone: Any = data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = (0.0, 0.0, number), (0.0, 0.0, number + 1.0), parent
        parent = bone
    bpy.ops.object.mode_set(mode="POSE")
    for frame in range(1, 5):
        for bone in armature.pose.bones:
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (0.1 * frame, 0.0, 0.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    context.scene.frame_start, context.scene.frame_end = 1, 4
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new("Mesh")  # without a skin glTF has no armature
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 0, 1)], [], [(0, 1, 2)])
    skin: Any = bpy.data.objects.new("Mesh", mesh)
    context.collection.objects.link(skin)
    skin.parent = armature
    skin.modifiers.new("Armature", "ARMATURE").object = armature
    skin.vertex_groups.new(name="Hips").add([0, 1, 2], 1.0, "REPLACE")
    scene: Any = bpy.ops.export_scene
    scene.fbx(filepath=str(folder / "clip.fbx"), add_leaf_bones=False)
    scene.gltf(filepath=str(folder / "clip.glb"), export_format="GLB")
    scene.gltf(filepath=str(folder / "clip.gltf"), export_format="GLTF_SEPARATE")
    for kind in (".usda", ".usdc"):
        bpy.ops.wm.usd_export(filepath=str(folder / f"clip{kind}"), export_animation=True)


if __name__ == "__main__":
    with contextlib.redirect_stdout(io.StringIO()):
        main(Path(sys.argv[1]))
