"""Pose a body by its parts: postures, mirror, feet, hands, fingers, gaze."""

from dataclasses import fields
from typing import Any, Final, TypeVar

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from .. import bridge
from ..bridge import autokey
from ..core import Solution
from ..edits import body_tools
from ..edits.body import explain_goals, pose_of, report_goals
from ..edits.controls import frames_of_body
from ..edits.evaluation import evaluate
from ..edits.held import HeldRig
from ..edits.words import counted
from .tool import TellsChoice, Tool, headline

Kind = TypeVar("Kind", bound=body_tools.BodyTool)


def properties_of(tool: type[body_tools.BodyTool]) -> dict[str, Any]:
    """Return the settings of a tool as annotations of its operator."""
    kinds: dict[Any, Any] = {bool: BoolProperty, str: StringProperty, float: FloatProperty}
    found: dict[str, Any] = {}
    for setting in fields(tool):
        keywords: dict[str, Any] = {"default": setting.default, **setting.metadata}
        kind = EnumProperty if "items" in keywords else kinds[type(setting.default)]
        found[setting.name] = kind(**keywords)
    return found


def with_settings(tool: type[Kind], operator: Any) -> Kind:
    """Return a tool with the settings of an operator."""
    return tool(**{setting.name: getattr(operator, setting.name) for setting in fields(tool)})


class BodyOperator(Tool):
    """An operator that applies `tool`, with its own properties as settings, to the body of the active armature."""

    tool: type[body_tools.BodyTool]

    def make_tool(self, context: Any, armature: Any) -> body_tools.BodyTool:
        """Return the tool with its settings."""
        return with_settings(self.tool, self)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        autokey.check(context, armature)
        context.view_layer.update()
        tool = self.make_tool(context, armature)
        body, before = bridge.read_body(armature), bridge.read_channels(armature)
        held = HeldRig(armature, body.rig, body.controlled, bridge.find_held(context, armature))
        body = held.body(body)
        found = tool.apply(context, armature, body)
        found = found.solve(body) if isinstance(found, body_tools.PoseGoals) else found
        if isinstance(found, body_tools.Posed):
            found.need()
        pose = pose_of(found)
        changes = bridge.write_body(armature, body, pose)
        lists = changes.rotated, changes.moved, changes.grown
        keyed = autokey.key(context, armature, *lists, before=before)
        changed = len({bone for bones in lists for bone in bones})
        lost = autokey.explain_lost(context, armature, *lists)
        said = [counted(changed, "bone") + " changed", *([f"{len(keyed)} keyed"] if keyed else [])]
        notes = [found] if isinstance(found, body_tools.Posed) else []
        solved = [found] if isinstance(found, Solution) else []
        shown = evaluate(context, armature, None)
        seen = frames_of_body(body.controlled and bridge.repeated(body.controlled, 1), shown)
        missed = explain_goals(report_goals(body.skeleton, solved, seen), solved)
        missed += [sentence for note in notes for sentence in note.missed]
        now = bridge.read_body_again(armature, body).pose
        stays, wanted = held.explain_missed(pose, now)
        missed += bridge.explain_missed_bones(body, wanted, now) + bridge.explain_limited_controls(changes.held) + stays
        done = "; ".join([*(note.said for note in notes), ", ".join(said)])
        level = "WARNING" if missed else "INFO"
        return level, headline(self, level, done, [*missed, *lost])


class POISE_OT_take_posture(TellsChoice, BodyOperator, bpy.types.Operator):
    """Set the body to a known posture, keeping its location and heading"""

    bl_idname = "poise.take_posture"
    bl_label = "Apply Posture"
    told = "posture"
    tool = body_tools.TakePosture
    __annotations__ = properties_of(tool)


class POISE_OT_mirror_pose(TellsChoice, BodyOperator, bpy.types.Operator):
    """Mirror the pose by body parts, whatever the bones are named, keeping its location and heading"""

    bl_idname = "poise.mirror_pose"
    bl_label = "Mirror Pose"
    told = "model"
    tool = body_tools.MirrorPose
    __annotations__ = properties_of(tool)


GRIPPED: Final = ("object", "collection")  # settings that name what is gripped
_LISTS: Final = {"object": lambda context: context.scene, "collection": lambda _: bpy.data}  # what has things to choose


class ObjectTool(BodyOperator):
    """A tool whose panel shows its settings in the order `shown`, of _LISTS only what the first one asks for."""

    shown: tuple[str, ...]
    layout: Any

    def draw(self, context: Any) -> None:
        self.layout.use_property_split = True
        for name in self.shown:
            if name not in _LISTS:
                self.layout.prop(self, name)
            elif getattr(self, self.shown[0]) == name.upper():
                self.layout.prop_search(self, name, _LISTS[name](context), f"{name}s")


class POISE_OT_plant_feet(ObjectTool, bpy.types.Operator):
    """Put the feet on the ground, flat or rolled over heel, ball and toes. The legs bend, the hips move if needed"""

    bl_idname = "poise.plant_feet"
    bl_label = "Plant Feet"
    tool = body_tools.PlantFeet
    shown = ("surface", "height", "side", "roll", "bend", "use_hips", "object")
    __annotations__ = properties_of(tool)


class POISE_OT_lay_hands(ObjectTool, bpy.types.Operator):
    """Lay the hands flat on the surface below them. If the arms are too short, the body leans"""

    bl_idname = "poise.lay_hands"
    bl_label = "Lay Hands"
    tool = body_tools.LayHands
    shown = ("surface", "height", "side", "use_fingers", "object")
    __annotations__ = properties_of(tool)


class POISE_OT_pose_fingers(TellsChoice, BodyOperator, bpy.types.Operator):
    """Close and spread all fingers of a hand"""

    bl_idname = "poise.pose_fingers"
    bl_label = "Pose Fingers"
    told = "side"
    tool = body_tools.PoseFingers
    __annotations__ = properties_of(tool)

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_props_popup(self, event)


class POISE_OT_grip(ObjectTool, bpy.types.Operator):
    """Close the fingers around the object in the hand until they touch it. The hands stay where they are"""

    bl_idname = "poise.grip"
    bl_label = "Grip"
    tool = body_tools.GripObject
    shown = ("target", "side", "close", "margin", *GRIPPED)
    __annotations__ = properties_of(tool)


class POISE_OT_look_at(ObjectTool, bpy.types.Operator):
    """Rotate neck, head and eyes to look at the 3D cursor or an object, as far as the neck can rotate"""

    bl_idname = "poise.look_at"
    bl_label = "Look At"
    tool = body_tools.AimGaze
    shown = ("target", "object", "head", "eyes")
    __annotations__ = properties_of(tool)
