"""What the examples show: bodies of the demo in a pose, in a walk and in a jump, and pictures of several frames."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import bpy
import picture
import scene
from mathutils import Vector

context: Any = bpy.context  # the type stubs take these apart wrongly
data: Any = bpy.data
ops: Any = bpy.ops

WIDE: Final = (960, 540)  # pixels of a picture
APART: Final = 0.9  # metres between two bodies of the listing
FEATURED: Final = (1920, 1080)
ICON: Final = (256, 256)
PULLS: Final = (  # bone, and metres to its left, back and up from where it is
    ("Hips", (0.02, 0.02, -0.14)),
    ("RightHand", (0.35, -0.3, 0.62)),
    ("LeftHand", (-0.22, -0.1, -0.55)),
)
FEET: Final = ("LeftFoot", "RightFoot")
RING: Final = "Pin of"
JUMP: Final = 1  # first frame
VIEW: Final = (0.62, 0.75, -0.2)  # the way that the camera looks
SIDE: Final = (0.77, -0.64, 0.0)  # to the right of it


def make_posed(step: Callable[[], None] = lambda: None) -> None:
    """A body that reaches overhead, with its feet pinned; `step` is called before and after each drag."""
    walker = body_in_rest()
    select(walker, *FEET)
    ops.poise.pin(kind="BOTH")
    step()
    for name, shift in PULLS:
        ops.poise.drag(bone=name, shift=shift)
        step()
    select(walker)


def make_walk() -> None:
    """A captured walk with a timed pin for each touch of its feet, and the motion in which all of them hold."""
    stage(scene.import_walk())
    ops.poise.find_contacts()
    ops.poise.solve_motion()


def make_jump() -> None:
    """A jump of two key poses."""
    body_in_rest()
    ops.poise.generate(recipe="jump", start=JUMP)
    first, last = context.object.animation_data.action.frame_range
    context.scene.frame_start, context.scene.frame_end = int(first), int(last)


# name of the file -> what makes it, the frames that its picture shows, and how many metres it puts between them
EXAMPLES: Final[dict[str, tuple[Callable[[], None], Sequence[int], float]]] = {
    "posed": (make_posed, (1,), 0.0),
    "walk": (make_walk, (8, 30, 52, 74), 0.0),
    "jump": (make_jump, (1, 16, 23, 28, 33, 61), 0.75),
}


def body_in_rest() -> Any:
    """The body of the demo without its walk, in rest pose; returns its armature, in Pose Mode."""
    walker = scene.import_walk()
    action = walker.animation_data.action
    walker.animation_data_clear()
    data.actions.remove(action)
    for bone in walker.pose.bones:
        bone.matrix_basis.identity()
    stage(walker)
    walker.location.z -= min(vertex.co.z for vertex in data.objects[scene.BODY].data.vertices)
    return walker


def stage(walker: Any) -> None:
    """Give the armature its body, light and a floor, and go to Pose Mode."""
    scene.add_body(walker)
    scene.add_stage(walker)
    context.scene.camera.animation_data_clear()
    walker.show_in_front = True
    context.view_layer.objects.active = walker
    ops.object.mode_set(mode="POSE")


def select(walker: Any, *names: str) -> None:
    ops.pose.select_all(action="DESELECT")
    for name in names:
        bone = walker.pose.bones[name]
        (bone if bpy.app.version >= (5, 0, 0) else bone.bone).select = True
        walker.data.bones.active = walker.data.bones[name]


def draw(path: Path, frames: Sequence[int], apart: float, size: tuple[int, int], samples: int) -> None:
    """Render the frames in one picture: the body of each, `apart` metres beside the next one."""
    add_rings()
    bodies: list[Any] = []
    for frame, place in zip(frames, range(1 - len(frames), 0), strict=False):
        context.scene.frame_set(frame)
        bodies += copies(place * apart)
    context.scene.frame_set(frames[-1])
    shoot(path, bodies, size, samples)


def shoot(path: Path, bodies: Sequence[Any], size: tuple[int, int], samples: int) -> None:
    """Render the body and its copies."""
    aim([*bodies, data.objects[scene.BODY]], size)
    picture.set_up(samples)
    render = context.scene.render
    render.resolution_x, render.resolution_y = size
    if size == ICON:
        render.film_transparent = True
        for some in data.objects:
            some.hide_render = some.hide_render or some.name.startswith(scene.FLOOR_NAME)
    render.filepath = str(path)
    with picture.quiet():
        ops.render.render(write_still=True)


def copies(right: float) -> list[Any]:
    """The body, its eyes and its rings as they are, as objects that stay there, moved to the picture's right."""
    graph = context.evaluated_depsgraph_get()
    made: list[Any] = []
    shown = [some for some in data.objects if some.name in (scene.BODY, scene.EYES) or some.name.startswith(RING)]
    for some in shown:
        seen = some.evaluated_get(graph)
        copy = data.objects.new(f"Copy of {some.name}", data.meshes.new_from_object(seen))
        copy.matrix_world = seen.matrix_world
        copy.location += right * Vector(SIDE)
        scene.link(copy)
        made.append(copy)
    return made


def add_rings() -> None:
    """A ring for each pin, as Poise shows one in the viewport."""
    walker = data.objects[scene.WALKER]
    for pin in walker.poise_pins:
        ring = scene.add(f"{RING} {pin.name}", scene.ring(0.07, 0.0105), scene.GREEN, glow=0.3)
        ring.location = walker.matrix_world @ walker.pose.bones[pin.name].head


def aim(bodies: Sequence[Any], size: tuple[int, int]) -> None:
    """Let the camera look at all bodies from the front and their right, with room around them."""
    graph = context.evaluated_depsgraph_get()
    corners = [
        (some.evaluated_get(graph).matrix_world @ vertex.co)
        for some in bodies
        for vertex in list(some.evaluated_get(graph).data.vertices)[::40]
    ]
    camera = context.scene.camera
    context.scene.render.resolution_x, context.scene.render.resolution_y = size
    camera.data.sensor_fit = "AUTO"
    camera.rotation_euler = Vector(VIEW).to_track_quat("-Z", "Y").to_euler()
    context.view_layer.update()
    spread = [value for corner in corners for value in corner]
    place, _ = camera.camera_fit_coords(context.evaluated_depsgraph_get(), spread)
    back = camera.rotation_euler.to_matrix() @ Vector((0.0, 0.0, 1.0))
    middle = sum(corners, Vector()) / len(corners)
    camera.location = place + back * 0.16 * (place - middle).length


def make_listing(folder: Path, samples: int) -> None:
    """The icon, on nothing, and the picture of the listing."""
    ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bodies: list[Any] = []

    def keep() -> None:
        if not bodies:
            add_rings()
        bodies.extend(copies(APART * (len(bodies) // 4 - len(PULLS))))

    make_posed(keep)
    for last in bodies[-4:]:  # it is where the body itself is
        data.objects.remove(last)
    shoot(folder / "featured.png", bodies[:-4], FEATURED, samples)
    for some in bodies[:-4]:
        data.objects.remove(some)
    shoot(folder / "icon.png", (), ICON, 4 * samples)
