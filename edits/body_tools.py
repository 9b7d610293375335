"""The tools that pose a body by its parts, as plain settings that operators, the command line and scripts fill.

The metadata of each field are the keywords of its property in Blender; the command line reads choices and ranges there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import bpy
import numpy as np

from .. import bridge
from ..bridge.words import listed
from ..core import CoreError, Goal, Humanoid, PinAndDrag, Pose, Solution, forward, rotation, solve
from ..core.body import SIDES
from ..core.body.anatomy import with_anatomy, with_ranges
from ..core.body.closing import Grip, close_fingers, hand_reach
from ..core.body.gaze import gaze_at
from ..core.body.grip import finger_chains, pose_fingers
from ..core.body.ground import Plane, lay_hands, plant_feet, plant_legs
from ..core.body.mirror import mirror_pose
from ..core.body.posture import take_posture
from ..core.rotation import Array
from .words import counted

_INSIDE: Final = 1e-3  # metres: fingers that are deeper in a mesh are reported
_HIGHEST: Final = 100.0  # metres above a surface; a solve takes a minute from a kilometre on
_UP: Final = np.array([0.0, 0.0, 1.0])  # of the world
_BOTH: Final = ("BOTH", "Both", "Left and right")
_SIDES: Final = (_BOTH, ("L", "Left", "The body's own left"), ("R", "Right", "The body's own right"))


@dataclass(frozen=True)
class PoseGoals:
    """A pose of a body and goals that change it; the frames of a motion are solved together."""

    pose: Pose
    goals: list[Goal]

    def solve(self, body: bridge.Body) -> Solution:
        """Return the body's pose for the goals."""
        if body.roles.humanoid:
            ranged = with_ranges(body.skeleton, body.roles, self.pose)
            return solve(ranged, self.pose, self.goals, Humanoid(body.roles))
        skeleton, method = with_anatomy(body.skeleton, PinAndDrag(reference=self.pose), body.roles)
        return solve(skeleton, self.pose, self.goals, method)


@dataclass(frozen=True)
class Posed:
    """A pose of a body.

    said    what was reached; empty if nothing was
    missed  what was not reached
    held    hand -> the name of the object that it holds
    grips   hand -> how it does
    """

    pose: Pose
    said: str
    missed: tuple[str, ...] = ()
    held: Mapping[str, str] = field(default_factory=dict[str, str])
    grips: Mapping[str, Grip] = field(default_factory=dict[str, Grip])

    def need(self) -> None:
        """Raise CoreError if nothing was reached."""
        if not self.said:
            raise CoreError(f"{'; '.join(self.missed)}.")


Wanted = Pose | Solution | PoseGoals | Posed


def _setting(default: Any, name: str, description: str, **keywords: Any) -> Any:
    """Return a field with this default; `keywords` are further ones of its property in Blender."""
    if isinstance(default, float):
        default = float(np.float32(default))  # Blender's properties are float32: a script gives the same pose
    return field(default=default, metadata={"name": name, "description": description, **keywords})


@dataclass(frozen=True)
class BodyTool:
    """A tool's settings."""

    def apply(self, context: Any, armature: Any, body: bridge.Body) -> Wanted:
        """Return the new pose of the body, its solution, or goals for it; raises CoreError if the body lacks a part."""
        raise NotImplementedError

    def go_on(self, context: Any, armature: Any, body: bridge.Body, before: Wanted) -> Wanted:
        """Return the same for a frame after one with the result `before`."""
        return self.apply(context, armature, body)


@dataclass(frozen=True)
class TakePosture(BodyTool):
    """Bring the body to a posture that every body knows."""

    posture: str = _setting(
        "T", "Posture", "Posture of the body",
        items=(
            ("T", "T-Pose", "Stand with the arms straight out to the sides, regardless of the rest pose"),
            ("A", "A-Pose", "Stand with the arms straight and lowered"),
            ("RELAXED", "Relaxed", "Stand relaxed"),
            ("REST", "Rest Pose", "Return to the rest pose, keeping location and heading"),
        ),
    )  # fmt: skip
    arms: float = _setting(
        np.pi / 4.0, "Arms", "Angle of the arms below the horizontal in the A-pose",
        subtype="ANGLE", min=0.0, max=np.pi / 2.0,
    )  # fmt: skip

    def apply(self, context: Any, armature: Any, body: bridge.Body) -> Pose:
        return take_posture(body.skeleton, body.roles, body.pose, self.posture, self.arms)


@dataclass(frozen=True)
class MirrorPose(BodyTool):
    """Mirror the pose by the parts of the body."""

    model: Literal["BOTH", "L", "R"] = _setting(
        "BOTH", "Model", "Side whose pose is copied to the other one",
        items=(
            ("BOTH", "Both", "Swap the poses of left and right"),
            ("L", "Left", "Copy the pose of the body's left side to its right side"),
            ("R", "Right", "Copy the pose of the body's right side to its left side"),
        ),
    )  # fmt: skip

    def apply(self, context: Any, armature: Any, body: bridge.Body) -> Pose:
        return mirror_pose(body.skeleton, body.roles, body.pose, self.model)


@dataclass(frozen=True)
class PoseFingers(BodyTool):
    """Close and spread the fingers of a hand."""

    side: str = _setting(
        "BOTH", "Hands", "Hands to pose",
        items=(
            ("BOTH", "Both", "Close and spread all fingers of both hands"),
            ("L", "Left", "Close and spread all fingers of the body's own left hand"),
            ("R", "Right", "Close and spread all fingers of the body's own right hand"),
        ),
    )  # fmt: skip
    close: float = _setting(0.0, "Close", "From the rest pose (0) to a fist (1)", subtype="FACTOR", min=0.0, max=1.0)
    spread: float = _setting(
        0.0, "Spread", "Spread the fingers. Negative values press them together", subtype="FACTOR", min=-1.0, max=1.0
    )

    def apply(self, context: Any, armature: Any, body: bridge.Body) -> Pose:
        pose = body.pose
        sides = _chosen_sides(self.side, body, "hand")
        for side in [side for side in sides if finger_chains(body.roles, side)] or sides:
            pose = pose_fingers(body.skeleton, body.roles, pose, side, self.close, self.spread)
        return pose


@dataclass(frozen=True)
class GripObject(BodyTool):
    """Close the fingers of hands round meshes until they touch; the hands stay where they are."""

    target: str = _setting(
        "NEAR", "Target", "What the fingers grip",
        items=(
            ("NEAR", "Nearby Meshes", "All visible meshes within reach of the fingers, except those of the body"),
            ("OBJECT", "Object", "Mesh of another object"),
            ("COLLECTION", "Collection", "All meshes of a collection"),
        ),
    )  # fmt: skip
    side: str = _setting("BOTH", "Hands", "Hands to pose", items=_SIDES)
    close: float = _setting(
        1.0, "Close", "How far the fingers close. At 0 they keep their pose, at 1 they touch",
        subtype="FACTOR", min=0.0, max=1.0,
    )  # fmt: skip
    margin: float = _setting(
        0.0, "Margin", "Distance between skin and meshes. Negative values press the skin in",
        subtype="DISTANCE", precision=4, soft_min=-0.01, soft_max=0.05, min=-1.0, max=1.0,
    )  # fmt: skip
    object: str = _setting("", "Object", "Object to grip")
    collection: str = _setting("", "Collection", "Collection whose meshes are gripped")

    def apply(self, context: Any, armature: Any, body: bridge.Body) -> Posed:
        return self._grip(context, armature, body, {})

    def go_on(self, context: Any, armature: Any, body: bridge.Body, before: Wanted) -> Posed:
        return self._grip(context, armature, body, before.grips if isinstance(before, Posed) else {})

    def _grip(self, context: Any, armature: Any, body: bridge.Body, before: Mapping[str, Grip]) -> Posed:
        """Return the pose in which hands grip; those of `before` go on as they did."""
        pose, world = body.pose, bridge.world_matrix(armature)
        scale = float(bridge.length_scale(world))
        touching, missed, held, grips = 0, list[str](), dict[str, str](), dict[str, Grip]()
        apart = list[str]()  # fingers of hands that grip
        for side in _chosen_sides(self.side, body, "hand"):
            hand = f"hand.{side}"
            meshes = self._meshes(context, armature, body, side)
            if not meshes:
                continue
            surface = bridge.MeshSurface([part for faces in meshes.values() for part in faces])
            skin = bridge.read_skin(context, armature, body, side, meshes)
            margin, was = self.margin / scale, before.get(hand)
            found = close_fingers(body.skeleton, body.roles, pose, side, skin, surface, margin, was)
            if not found.touching:
                continue
            grips[hand] = found
            pose, touching = found.pose, touching + len(found.touching)
            fingers = finger_chains(body.roles, side)
            apart += [f"{finger}.{side}" for finger in fingers if finger not in found.touching]
            beside = {
                mesh.name: np.abs(bridge.MeshSurface(faces)(found.places)[0]).mean() for mesh, faces in meshes.items()
            }
            held[hand] = min(beside, key=lambda name: beside[name])
            if scale * found.depth + min(self.margin, 0.0) > _INSIDE:
                missed.append(f"fingers of {hand} are inside the mesh even when open: move the hand away")
        if not touching:
            return Posed(body.pose, "", ("No finger reaches a mesh. Move the hand closer, its palm facing the mesh",))
        turned = rotation.slerp(body.pose.rotations, pose.rotations, self.close)
        said = f"{counted(touching, 'finger')} {'touches' if touching == 1 else 'touch'}"
        if apart:
            said = f"{said}, but not {listed(apart)}"
        return Posed(replace(pose, rotations=turned), said, tuple(missed), held, grips)

    def _meshes(self, context: Any, armature: Any, body: bridge.Body, side: str) -> dict[Any, bridge.Faces]:
        """Return the objects that a hand is to grip, and their faces in armature space."""
        world = bridge.world_matrix(armature)
        if self.target == "OBJECT":
            found = _find_object(context, self.object, armature)
            faces = bridge.read_faces(context, [found], world)
            if not faces:
                raise CoreError(f'"{found.name}" has no faces to grip.')
            return {found: faces}
        if self.target == "COLLECTION":
            collection = bpy.data.collections.get(self.collection)
            if collection is None and not self.collection:
                raise CoreError("Choose a collection in Adjust Last Operation.")
            if collection is None:
                raise CoreError(f'No collection "{self.collection}" in the file.')
            objects: Any = collection.all_objects
            others = [one for one in objects if not bridge.is_deformed(one, armature)]
            return {one: faces for one in others if (faces := bridge.read_faces(context, [one], world))}
        return bridge.faces_near(context, armature, *hand_reach(body.skeleton, body.roles, body.pose, side))


@dataclass(frozen=True)
class AimGaze(BodyTool):
    """Turn neck, head and eyes to a place."""

    target: str = _setting(
        "CURSOR", "Target", "What the body looks at",
        items=(("CURSOR", "3D Cursor", "The 3D cursor"), ("OBJECT", "Object", "Origin of another object")),
    )  # fmt: skip
    object: str = _setting("", "Object", "Object to look at")
    head: float = _setting(1.0, "Head", "How far neck and head rotate toward it", subtype="FACTOR", min=0.0, max=1.0)
    eyes: float = _setting(
        1.0, "Eyes", "How far the eyes rotate the rest of the way", subtype="FACTOR", min=0.0, max=1.0
    )

    def apply(self, context: Any, armature: Any, body: bridge.Body) -> Pose | Solution:
        place = context.scene.cursor.location
        if self.target == "OBJECT":
            place = _find_object(context, self.object, armature).matrix_world.translation
        target, _ = bridge.world_to_armature(bridge.world_matrix(armature), np.array(place, float))
        return gaze_at(body.skeleton, body.roles, body.pose, target, self.head, self.eyes)


@dataclass(frozen=True)
class SurfaceTool(BodyTool):
    """A tool that moves parts of the body to a surface."""

    surface: str = _setting(
        "GROUND", "Surface", "Surface to align to",
        items=(
            ("GROUND", "Ground", "Meshes of the Ground collection below the body, or a level plane if there are none"),
            ("CURSOR", "3D Cursor", "Plane through the 3D cursor, perpendicular to its Z axis"),
            ("OBJECT", "Object", "The nearest place of a mesh, or the XY plane of another object"),
        ),
    )  # fmt: skip
    height: float = _setting(
        0.0, "Height", "Height above the surface", subtype="DISTANCE", precision=4, min=-_HIGHEST,
        max=_HIGHEST,
    )  # fmt: skip
    object: str = _setting("", "Object", "Object with the surface")

    def planes(self, context: Any, armature: Any, bones: Mapping[str, int], heads: Array) -> dict[str, Plane]:
        """Return the plane of the surface nearest to each of these hands or feet; `heads` (J, 3) of the body.

        Heads and planes are in armature space.
        """
        world = bridge.world_matrix(armature)
        found: dict[str, Plane] = {}
        for name, bone in bones.items():
            there, _ = bridge.armature_to_world(world, heads[bone])
            point, normal = self._near(context, armature, there)
            at, _ = bridge.world_to_armature(world, point + self.height * normal)
            square = world[:3, :3].T @ normal  # planes go by the inverse transpose
            found[name] = Plane(at, square / np.linalg.norm(square))
        return found

    def _near(self, context: Any, armature: Any, place: Array) -> tuple[Array, Array]:
        """Return point and unit normal (3,) of the surface near a place, all in the world."""
        if self.surface == "CURSOR":
            frame = np.array(context.scene.cursor.matrix, float)
            return frame[:3, 3], frame[:3, 2]
        if self.surface == "GROUND":
            size = float(np.max(armature.dimensions))
            ground = bridge.read_ground(context, armature, np.eye(4), size)
            return (None if ground is None else ground.plane(place)) or (np.zeros(3), _UP)
        surface = _find_object(context, self.object, armature)
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


@dataclass(frozen=True)
class PlantFeet(SurfaceTool):
    """Put the feet on a surface, flat or rolled; the other foot, and the hips if they are not to help, stay."""

    side: str = _setting("BOTH", "Feet", "Feet to pose", items=_SIDES)
    roll: float = _setting(
        0.0, "Roll", "Negative values roll the foot onto its heel, positive values onto its ball and then onto its tip",
        subtype="ANGLE", soft_min=-np.pi / 4.0, soft_max=np.pi / 2.0, min=-np.pi / 2.0, max=np.pi / 2.0,
    )  # fmt: skip
    bend: float = _setting(
        np.radians(40.0), "Toe Bend", "How far the foot rolls on its ball before it continues to the tip of the toes",
        subtype="ANGLE", min=0.0, max=np.pi / 2.0,
    )  # fmt: skip
    use_hips: bool = _setting(True, "Move Hips", "Move the hips where the legs are too short")

    def apply(self, context: Any, armature: Any, body: bridge.Body) -> PoseGoals:
        skeleton, roles, pose = body.skeleton, body.roles, body.pose
        heads, turns = forward(skeleton, pose)
        if roles.animal:
            feet = {name: leg[-1] for name, leg in roles.legs.items()}
            chosen = {name: bone for name, bone in feet.items() if self.side in ("BOTH", name[-1])}
            goals = plant_legs(skeleton, roles, pose, self.planes(context, armature, chosen, heads))
        else:
            feet = {side: roles.bone(f"foot.{side}") for side in SIDES if f"foot.{side}" in roles.bones}
            chosen = _chosen_bones(self.side, body, "foot")
            planes = self.planes(context, armature, chosen, heads)
            shod = bridge.with_soles(armature, skeleton, roles)
            pose, goals = plant_feet(skeleton, shod, pose, planes, self.roll, self.bend)
        still = [bone for name, bone in feet.items() if name not in chosen]
        still += [] if self.use_hips else roles.require("hips")
        goals += [Goal(bone, heads[bone], turns[bone]) for bone in still]
        return PoseGoals(pose, goals)


@dataclass(frozen=True)
class LayHands(SurfaceTool):
    """Lay the hands flat on a surface, below where they are; the feet stay."""

    side: str = _setting("BOTH", "Hands", "Hands to pose", items=_SIDES)
    use_fingers: bool = _setting(True, "Straighten Fingers", "Also straighten the fingers")

    def apply(self, context: Any, armature: Any, body: bridge.Body) -> PoseGoals:
        skeleton, roles, pose = body.skeleton, body.roles, body.pose
        heads, turns = forward(skeleton, pose)
        planes = self.planes(context, armature, _chosen_bones(self.side, body, "hand"), heads)
        for side in planes:
            if self.use_fingers and finger_chains(roles, side):
                pose = pose_fingers(skeleton, roles, pose, side, 0.0, 0.0)
        goals = lay_hands(skeleton, roles, pose, planes)
        feet = [f"foot.{side}" for side in SIDES if f"foot.{side}" in roles.bones]
        goals += [Goal(foot, heads[foot], turns[foot]) for foot in roles.require(*feet)]
        return PoseGoals(pose, goals)


# Name on the command line -> the tool, and the settings that the name stands for. The types are inferred: typing would
# keep the classes of `Final[...]` in a cache, and with them bpy; the bpy module of Blender 4.5 then hangs at exit.
TOOLS: Final = {
    "t-pose": (TakePosture, {"posture": "T"}),
    "a-pose": (TakePosture, {"posture": "A"}),
    "relaxed": (TakePosture, {"posture": "RELAXED"}),
    "rest": (TakePosture, {"posture": "REST"}),
    "mirror": (MirrorPose, {}),
    "feet": (PlantFeet, {}),
    "hands": (LayHands, {}),
    "fingers": (PoseFingers, {}),
    "grip": (GripObject, {}),
    "look-at": (AimGaze, {}),
}


def _find_object(context: Any, name: str, other: Any) -> Any:
    """Return an object of the scene by its name; raises CoreError for none, and for the armature itself."""
    if not name:
        raise CoreError("Choose an object in Adjust Last Operation.")
    found = context.scene.objects.get(name)
    if found is None:
        raise CoreError(f'No object "{name}" in the scene "{context.scene.name}".')
    if found == other:
        raise CoreError(f'"{name}" is the body itself. Choose another object.')
    return found


def _chosen_bones(side: str, body: bridge.Body, part: str) -> dict[str, int]:
    """Return the hand or foot of each side that was asked for. Raises CoreError if there is none."""
    sides = _chosen_sides(side, body, part)
    return dict(zip(sides, body.roles.require(*(f"{part}.{side}" for side in sides)), strict=True))


def _chosen_sides(side: str, body: bridge.Body, part: str) -> tuple[str, ...]:
    """Return the sides that were asked for; of both, those that have the part, if one has."""
    if side != "BOTH":
        return (side,)
    return tuple(side for side in SIDES if f"{part}.{side}" in body.roles.bones) or SIDES
