"""The scene of the demo: a captured walk on an armature with a body, a ball to reach for, and a stage to see it on."""

from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Final

import bmesh
import bpy
import numpy as np
from bpy_extras import anim_utils
from mannequin import make_body, make_eyes, thinner
from mathutils import Matrix, Vector
from paint import BACKDROP, CORAL, FLOOR, GREEN, INK, LINES, SLATE, YELLOW, linear, material

context: Any = bpy.context  # the type stubs take it apart wrongly

CLIP: Final = Path(__file__).with_name("cmu_35_01.bvh")
METRES: Final = 0.0254 / 0.45  # one unit of CMU's skeletons
FPS: Final = 30

WALKER: Final = "Walker"
BODY: Final = "Walker body"
EYES: Final = "Walker eyes"
BEFORE: Final = "Walker before"
BALL: Final = "Ball"
GHOST: Final = "Ghost"
FLOOR_NAME: Final = "Floor"
HAND: Final = "RightHand"
FEET: Final = ("LeftFoot", "RightFoot")

BALL_RADIUS: Final = 0.055
# frame -> metres to the right of the walker, ahead of it, and above the floor: high up, out to the side, down low
BALL_WAY: Final = {
    1: (0.45, 0.60, 0.85),
    16: (0.38, 0.46, 0.95),
    29: (0.38, 0.52, 1.32),
    40: (0.40, 0.42, 1.68),
    52: (0.62, 0.18, 1.38),
    63: (0.46, 0.42, 0.62),
    75: (0.34, 0.46, 1.10),
    90: (0.35, 0.85, 1.35),
}
THINNER: Final = 0.012  # metres, the ghost is inside the body where the two are in one place
EYE: Final = Vector((-3.6, -2.5, 0.85))  # metres, from what the camera looks at to the camera
HAZE: Final = (4.6, 8.0)  # metres from the camera, from the floor to the backdrop


def make_scene() -> None:
    """A new file with all of it, and nothing solved."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    walker = import_walk()
    add_body(walker)
    add_before(walker)
    add_ball(walker)
    add_stage(walker)
    tidy()


def import_walk() -> Any:
    """The clip as Blender's own importer brings it in: upright, in metres, frame for frame."""
    scene = context.scene
    scene.render.fps, scene.render.fps_base = FPS, 1.0
    with redirect_stdout(StringIO()):  # it tells how it goes
        bpy.ops.import_anim.bvh(filepath=str(CLIP), global_scale=METRES, rotate_mode="QUATERNION")
    walker = context.object
    walker.name = walker.data.name = WALKER
    walker.show_in_front, walker.data.display_type = True, "STICK"
    action = walker.animation_data.action
    action.name = "Walk"
    scene.frame_start, scene.frame_end = (int(frame) for frame in action.frame_range)
    # Poise keeps to the locks and to the IK stiffness of the bones, as an animator sets them.
    for side in "LR":
        walker.pose.bones[f"{side}HipJoint"].lock_rotation = (True, True, True)  # the clip never turns them
    for side in ("Left", "Right"):
        collarbone = walker.pose.bones[f"{side}Shoulder"]
        collarbone.ik_stiffness_x = collarbone.ik_stiffness_y = collarbone.ik_stiffness_z = 0.8
    return walker


def add_body(walker: Any) -> None:
    body = make_body(BODY, walker)
    deform(body, walker)
    link(body)
    attach(add(EYES, make_eyes(EYES, walker.data.bones), INK), walker, "Head", Vector())


def add_before(walker: Any) -> None:
    """A second armature that keeps the walk as it was, with a ghost, and a ring round each ankle for its pin."""
    before = walker.copy()
    before.name = BEFORE
    link(before)
    body: Any = bpy.data.objects[BODY]
    ghost = body.copy()
    ghost.modifiers.clear()
    ghost.name, ghost.data = GHOST, thinner(body.data, THINNER)
    ghost.data.name = GHOST
    ghost.data.materials.clear()
    ghost.data.materials.append(material(GHOST, SLATE, alpha=0.4))
    deform(ghost, before)
    link(ghost)
    for foot in FEET:
        # level in the rest pose, a little above the joint
        joint = walker.data.bones[foot].head_local + Vector((0.0, 0.005, 0.02))
        attach(add(f"Pin of {foot}", ring(0.07, 0.0105), GREEN, glow=0.3), before, foot, joint)


def deform(body: Any, armature: Any) -> None:
    body.parent = armature
    body.modifiers.new("Armature", "ARMATURE").object = armature


def attach(armature_object: Any, armature: Any, name: str, place: Vector) -> None:
    """Make an object the child of a bone, at a place in the rest pose."""
    bone = armature.data.bones[name]
    armature_object.parent, armature_object.parent_type, armature_object.parent_bone = armature, "BONE", name
    tail = bone.matrix_local @ Matrix.Translation((0.0, bone.length, 0.0))  # where a child of a bone starts from
    armature_object.matrix_parent_inverse = tail.inverted() @ Matrix.Translation(place)


def add_ball(walker: Any) -> None:
    """A ball with keys of its own, beside the walker all the way."""
    build = bmesh.new()
    bmesh.ops.create_uvsphere(build, u_segments=32, v_segments=20, radius=BALL_RADIUS)
    ball = add(BALL, smooth_mesh(BALL, build), YELLOW)
    first, last = context.scene.frame_start, context.scene.frame_end
    start, end = (place_on_floor(walker, frame) for frame in (first, last))
    for frame, (right, ahead, up) in BALL_WAY.items():
        # the clip walks along -Y
        ball.location = start.lerp(end, (frame - first) / (last - first)) + Vector((-right, -ahead, up))
        ball.keyframe_insert("location", frame=frame)


def place_on_floor(walker: Any, frame: int) -> Vector:
    """The point below the hips."""
    context.scene.frame_set(frame)
    hips = walker.matrix_world @ walker.pose.bones["Hips"].head
    return Vector((hips.x, hips.y, 0.0))


def add_stage(walker: Any) -> None:
    """A floor with a line every half metre, light, and a camera that goes along on the walker's right."""
    scene = context.scene
    first, last = scene.frame_start, scene.frame_end
    floor = add(FLOOR_NAME, board(60.0, 60.0), FLOOR)
    lines = bmesh.new()
    for y in np.arange(-5.0, 4.0, 0.5):
        place = Matrix.LocRotScale((0.25, y, 0.001), None, (1.5, 0.018, 1.0))
        bmesh.ops.create_grid(lines, x_segments=1, y_segments=1, size=0.5, matrix=place)
    lines = add(f"{FLOOR_NAME} lines", smooth_mesh("Lines", lines), LINES)
    floor.hide_select = lines.hide_select = True
    world: Any = bpy.data.worlds.new("World")
    if bpy.app.version < (5, 0, 0):
        world.use_nodes = True
    scene.world = world
    haze(floor.active_material.node_tree, world.node_tree)
    sun: Any = bpy.data.lights.new("Sun", "SUN")
    sun.energy, sun.angle = 2.4, 0.15
    light = bpy.data.objects.new("Sun", sun)
    light.rotation_euler = (0.7, -0.5, 0.0)
    link(light)

    lens: Any = bpy.data.cameras.new("Camera")
    lens.lens, lens.sensor_fit, lens.sensor_height = 55.0, "VERTICAL", 24.0
    camera: Any = bpy.data.objects.new("Camera", lens)
    link(camera)
    scene.camera = camera
    camera.rotation_euler = (-EYE).to_track_quat("-Z", "Y").to_euler()
    for frame in (first, last):
        camera.location = place_on_floor(walker, frame) + Vector((-0.12, -0.15, 0.92)) + EYE
        camera.keyframe_insert("location", frame=frame)
    data = camera.animation_data
    channels: Any = anim_utils.action_get_channelbag_for_slot(data.action, data.action_slot)
    for curve in channels.fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"


def haze(floor: Any, world: Any) -> None:
    """Let the floor go over into the backdrop, far from the camera: no horizon."""
    sky = world.nodes["Background"]
    sky.inputs["Color"].default_value, sky.inputs["Strength"].default_value = (0.9, 0.94, 1.0, 1.0), 0.75
    backdrop = world.nodes.new("ShaderNodeBackground")
    backdrop.inputs["Color"].default_value = linear(BACKDROP)
    seen = world.nodes.new("ShaderNodeLightPath").outputs["Is Camera Ray"]
    mix(world, seen, sky.outputs[0], backdrop.outputs[0], world.nodes["World Output"])

    far = floor.nodes.new("ShaderNodeEmission")
    far.inputs["Color"].default_value = linear(BACKDROP)
    ramp = floor.nodes.new("ShaderNodeMapRange")
    ramp.interpolation_type = "SMOOTHSTEP"
    ramp.inputs["From Min"].default_value, ramp.inputs["From Max"].default_value = HAZE
    floor.links.new(floor.nodes.new("ShaderNodeCameraData").outputs["View Distance"], ramp.inputs["Value"])
    mix(
        floor,
        ramp.outputs[0],
        floor.nodes["Principled BSDF"].outputs[0],
        far.outputs[0],
        floor.nodes["Material Output"],
    )


def mix(tree: Any, share: Any, first: Any, second: Any, output: Any) -> None:
    """Lead two shaders to the output: the first where `share` is 0, the second where it is 1."""
    node = tree.nodes.new("ShaderNodeMixShader")
    for socket, source in zip(node.inputs, (share, first, second), strict=True):
        tree.links.new(source, socket)
    tree.links.new(node.outputs[0], output.inputs["Surface"])


def places(frames: Sequence[int], name: str, bone: str = "", point: Sequence[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Where a point of an object, or of one of its bones, is in the world, (F, 3), as Blender evaluates it."""
    armature: Any = bpy.data.objects[name]
    found = []
    for frame in frames:
        context.scene.frame_set(frame)
        frame_of_point = armature.matrix_world @ armature.pose.bones[bone].matrix if bone else armature.matrix_world
        found.append(frame_of_point @ Vector(point))
    return np.array(found)


def add_path(name: str, points: np.ndarray, colour: str) -> None:
    """A thin tube through points (N, 3)."""
    curve: Any = bpy.data.curves.new(name, "CURVE")
    curve.dimensions, curve.bevel_depth, curve.use_fill_caps = "3D", 0.0075, True
    line = curve.splines.new("POLY")
    line.points.add(len(points) - 1)
    line.points.foreach_set("co", np.c_[points, np.ones(len(points))].ravel())
    add(name, curve, colour, glow=0.3)


def add_paths(before: np.ndarray, after: np.ndarray) -> None:
    add_path("Path before", before, SLATE)
    add_path("Path after", after, CORAL)


def tidy() -> None:
    """Leave the file as it is good to open: at the first frame, seen through the camera, one armature in sight."""
    scene = context.scene
    scene.frame_set(scene.frame_start)
    context.view_layer.objects.active = bpy.data.objects[WALKER]
    bpy.data.objects[BEFORE].hide_set(True)
    for screen in bpy.data.screens:
        for area in screen.areas:
            space: Any = area.spaces.active
            if space and space.type == "VIEW_3D":
                space.shading.color_type, space.overlay.show_floor = "MATERIAL", False
                space.region_3d.view_perspective, space.region_3d.view_camera_zoom = "CAMERA", 12.0


def ring(radius: float, thickness: float, segments: int = 48, sides: int = 12) -> Any:
    """A level torus."""
    t, a = np.meshgrid(
        np.arange(segments) * 2.0 * np.pi / segments, np.arange(sides) * 2.0 * np.pi / sides, indexing="ij"
    )
    out = radius + thickness * np.cos(a)
    points = np.stack([out * np.cos(t), out * np.sin(t), thickness * np.sin(a)], axis=-1).reshape(-1, 3)
    index = np.arange(segments * sides).reshape(segments, sides)
    ahead, up = np.roll(index, -1, axis=0), np.roll(index, -1, axis=1)
    faces = np.stack([index, ahead, np.roll(ahead, -1, axis=1), up], axis=-1).reshape(-1, 4)
    mesh = bpy.data.meshes.new("Ring")
    mesh.from_pydata(points.tolist(), [], faces.tolist())
    mesh.shade_smooth()
    return mesh


def board(width: float, depth: float) -> Any:
    build = bmesh.new()
    bmesh.ops.create_grid(build, x_segments=1, y_segments=1, size=0.5, matrix=Matrix.Diagonal((width, depth, 1.0, 1.0)))
    return smooth_mesh("Board", build)


def smooth_mesh(name: str, build: Any) -> Any:
    """The mesh of a bmesh, which ends here."""
    mesh = bpy.data.meshes.new(name)
    build.to_mesh(mesh)
    build.free()
    mesh.shade_smooth()
    return mesh


def add(name: str, data: Any, colour: str, glow: float = 0.0) -> Any:
    """A new object of one colour."""
    data.materials.append(material(name, colour, glow=glow))
    armature = bpy.data.objects.new(name, data)
    link(armature)
    return armature


def link(armature: Any) -> None:
    context.scene.collection.objects.link(armature)
