"""What the tools for a whole body share: the armature read by its parts, the pose written and keyed, the ground."""

from typing import Any, Final

import numpy as np
from bpy.props import EnumProperty, FloatProperty, StringProperty

from .. import bridge
from ..bridge import autokey
from ..core import CoreError, Goal, Pose, Solution
from ..core.body import SIDES
from ..core.body.ground import Plane
from ..core.rotation import Array
from ..edits.body import explain_goals, lead_body, pose_of, report_goals
from ..edits.evaluated import record
from .tool import Tool, counted

SIDE_ITEMS: Final = (
    ("BOTH", "Both", "Left and right"),
    ("L", "Left", "The body's own left"),
    ("R", "Right", "The body's own right"),
)
_UP: Final = np.array([0.0, 0.0, 1.0])  # of the world


class BodyTool(Tool):
    """A tool that poses a body by its parts: `pose` returns the new pose of what was read, or what was solved for it,
    or raises CoreError.

    `pose` asks of `self` nothing but the tool's settings, so that headless a namespace with these will do.
    """

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        refusal = autokey.check(context, armature)
        if refusal is not None:
            raise CoreError(refusal)
        context.view_layer.update()
        body = bridge.read_body(armature)
        found = self.pose(context, armature, body)
        changes = bridge.write_body(armature, body, pose_of(found))
        keyed = autokey.key(context, armature, changes.rotated, changes.moved, changes.grown)
        autokey.key_switches(armature, changes.switched, keyed)
        changed = len({*changes.rotated, *changes.moved, *changes.grown})
        said = [counted(changed, "bone") + " changed", *([f"{len(keyed)} keyed"] if keyed else [])]
        said += [f"{bone}: {name} is on FK now" for bone, name in changes.switched]
        solved = [found] if isinstance(found, Solution) else []
        missed = explain_goals(report_goals(body, solved, record(context, armature, None)), solved)
        missed += bridge.held_back(body, pose_of(found), bridge.read_body(armature).pose) + bridge.at_limit(
            changes.held
        )
        return "WARNING" if missed else "INFO", "; ".join([", ".join(said), *missed])

    def pose(self, context: Any, armature: Any, body: bridge.Body) -> Pose | Solution:
        """The pose as it is to be."""
        raise NotImplementedError


class SolvedTool(BodyTool):
    """A tool that leads parts of the body to goals: `wish` returns the pose to begin with and the goals.

    Headless the frames of a motion are solved together.
    """

    def pose(self, context: Any, armature: Any, body: bridge.Body) -> Solution:
        return lead_body(body, *self.wish(context, armature, body))

    def wish(self, context: Any, armature: Any, body: bridge.Body) -> tuple[Pose, list[Goal]]:
        """The pose, and goals for the whole body."""
        raise NotImplementedError


class OnSurface:
    """Properties of a tool that brings something to a surface."""

    surface: EnumProperty(
        name="Surface",
        description="What it is brought to",
        items=(
            ("GROUND", "Ground", "A level plane of the world"),
            ("CURSOR", "3D Cursor", "The plane through the 3D cursor, square to its Z axis"),
            ("OBJECT", "Object", "The nearest place of a mesh, or the XY plane of another object"),
        ),
    )
    height: FloatProperty(
        name="Height", description="How high it is above the surface", subtype="DISTANCE", precision=4
    )
    object: StringProperty(name="Object", description="The object whose surface it is")

    def draw(self, context: Any) -> None:
        operator: Any = self
        layout = operator.layout
        layout.use_property_split = True
        for definition in operator.rna_type.properties:
            if definition.identifier != "object" and not definition.is_readonly:
                layout.prop(operator, definition.identifier)
        if self.surface == "OBJECT":
            layout.prop_search(operator, "object", context.scene, "objects")


def surface_planes(settings: Any, context: Any, armature: Any, places: dict[str, Array]) -> dict[str, Plane]:
    """For each place (3,) of armature space the plane that belongs to it, in armature space, as `OnSurface` has it."""
    world = bridge.world_matrix(armature)
    found: dict[str, Plane] = {}
    for name, place in places.items():
        there, _ = bridge.armature_to_world(world, place)
        assert there is not None
        point, normal = _surface_near(settings, context, armature, there)
        at, _ = bridge.world_to_armature(world, point + settings.height * normal)
        assert at is not None
        square = world[:3, :3].T @ normal  # planes go by the inverse transpose
        found[name] = Plane(at, square / np.linalg.norm(square))
    return found


def _surface_near(settings: Any, context: Any, armature: Any, place: Array) -> tuple[Array, Array]:
    """Point and unit normal (3,) in the world, of the surface near a place of the world."""
    if settings.surface == "CURSOR":
        frame = np.array(context.scene.cursor.matrix, float)
        return frame[:3, 3], frame[:3, 2]
    if settings.surface == "GROUND":
        return np.zeros(3), _UP
    surface = find_object(context, settings.object, armature)
    matrix = np.array(surface.matrix_world, float)
    if surface.type != "MESH":
        normal = np.cross(matrix[:3, 0], matrix[:3, 1])
        return matrix[:3, 3], normal / np.linalg.norm(normal)
    near = surface.evaluated_get(context.evaluated_depsgraph_get())
    local = np.linalg.solve(matrix, np.append(place, 1.0))[:3]
    hit, point, normal, _ = near.closest_point_on_mesh(local.tolist())
    if not hit:
        raise CoreError(f'"{surface.name}" has no faces.')
    square = np.linalg.inv(matrix[:3, :3]).T @ np.array(normal)
    return matrix[:3, :3] @ np.array(point) + matrix[:3, 3], square / np.linalg.norm(square)


def find_object(context: Any, name: str, other: Any) -> Any:
    """An object of the scene by its name; raises CoreError for none, and for the armature itself."""
    if not name:
        raise CoreError("Name the object in Adjust Last Operation.")
    found = context.scene.objects.get(name)
    if found is None:
        raise CoreError(f'No object "{name}" in the scene "{context.scene.name}".')
    if found == other:
        raise CoreError(f'"{name}" is the body itself; name another object.')
    return found


def chosen_sides(side: str, body: bridge.Body, *parts: str) -> tuple[str, ...]:
    """The sides that were asked for; of both, those that have all these parts, if one has."""
    if side != "BOTH":
        return (side,)
    whole = tuple(s for s in SIDES if all(f"{part}.{s}" in body.roles.bones for part in parts))
    return whole or SIDES
