"""Correct which bones are which part of the body, and share the parts as a file."""

import json
from pathlib import Path
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from .. import bridge
from ..core import CoreError
from ..core.body.axes import DIRECTED_AXES
from ..core.body.corrections import NO_PART
from ..core.body.roles import LISTS, ROLES, opposite_role
from ..core.formats.mapping import mapping_of, read_mapping
from ..edits.info import find_controls, find_parts
from ..edits.parts import take_mapping
from ..edits.words import counted
from ..languages.interface import without_prefixes
from .json_files import LoadsJson, SavesJson
from .survey import look
from .tool import Tool, name_property, select, selected_bones


class _RolesTool(Tool):
    """A tool that corrects parts; the panel is updated."""

    def execute(self, context: Any) -> set[str]:
        done = super().execute(context)
        if done == {"FINISHED"}:
            look(context, context.active_object)
        return done


class POISE_OT_show_part(bpy.types.Operator):
    """Select the bones of this body part, or their controls if they are hidden"""

    bl_idname = "poise.show_part"
    bl_label = "Select Part"
    bl_options = {"INTERNAL", "UNDO"}

    role: StringProperty(name="Part", description="Body part")

    @classmethod
    def description(cls, context: Any, properties: Any) -> str:
        found = context.window_manager.poise_survey.findings
        bones = next((row.text for row in found if row.kind == "ROLE" and row.name == properties.role), "")
        return f"{properties.role}: {without_prefixes(bones) or 'no bone'}. A click selects it in Pose Mode"

    def execute(self, context: Any) -> set[str]:
        context.window_manager.poise_survey.part = self.role
        armature = context.active_object
        if armature is not None and armature.mode == "POSE":
            bones = bones_to_select(context, armature, self.role)
            for bone in context.selected_pose_bones or () if bones else ():
                select(bone, False)
            for bone in bones:
                select(bone, True)
                armature.data.bones.active = bones[0].bone
        if context.area is not None:
            context.area.tag_redraw()  # Blender notices only what is saved
        return {"FINISHED"}


def bones_to_select(context: Any, armature: Any, role: str) -> list[Any]:
    """Return the visible pose bones of a part, else its visible controls."""
    shown = {bone.name for bone in context.visible_pose_bones or () if bone.id_data == armature}
    try:
        parts = find_parts(armature)
        for known in ({**parts["roles"], **parts["limbs"]}, find_controls(armature)):
            found = known.get(role, ())
            names = [name for name in ([found] if isinstance(found, str) else found) if name in shown]
            if names:
                return [armature.pose.bones[name] for name in names]
    except CoreError:  # of the corrections: the panel shows it
        pass
    return []


class POISE_OT_set_role(_RolesTool, bpy.types.Operator):
    """Assign the selected bones to this body part, whatever was detected. This is saved with the file"""

    bl_idname = "poise.set_role"
    bl_label = "Assign Selected Bones"
    bl_property = "role"  # of the search

    role: EnumProperty(
        name="Part",
        description="Body part",
        items=[(role, role, "Body part to assign the bones to") for role in ROLES] + [(NO_PART, "None", "No part")],
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        if self.properties.is_property_set("role"):
            return self.execute(context)
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        names = selected_bones(context)
        if self.role not in LISTS and self.role != NO_PART and len(names) > 1:
            raise CoreError(f"{self.role} is a single bone. Select one bone only.")
        said = {bone.name: "" for bone in armature.pose.bones if bone.poise_role == self.role != NO_PART}
        bridge.write_corrections(armature, {**said, **dict.fromkeys(names, self.role)})
        what = "no part" if self.role == NO_PART else self.role
        return "INFO", f"Assigned {', '.join(names)} to {what}"


class POISE_OT_clear_roles(_RolesTool, bpy.types.Operator):
    """Reset a body part, or all of them, to the detected bones"""

    bl_idname = "poise.clear_roles"
    bl_label = "Reset to Detected"

    role: name_property("Part", "Body part. If empty, all parts")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        said = [bone.name for bone in armature.pose.bones if bone.poise_role and self.role in ("", bone.poise_role)]
        if not said and (self.role or not armature.poise_facing):
            raise CoreError(f"No bone is assigned to {self.role or 'any part'}.")
        bridge.write_corrections(armature, dict.fromkeys(said, ""), None if self.role else "")
        return "INFO", f"Reset {counted(len(said), 'bone')} to the detected parts"


class POISE_OT_swap_sides(_RolesTool, bpy.types.Operator):
    """Swap left and right, for a body whose heading was detected the wrong way around"""

    bl_idname = "poise.swap_sides"
    bl_label = "Swap Sides"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        roles = bridge.read_roles(armature)
        names = armature.data.bones.keys()
        sided = {role: bones for role, bones in roles.bones.items() if role != opposite_role(role)}
        if not sided:
            raise CoreError(f'No left or right parts were detected on "{armature.name}".')
        bridge.write_corrections(
            armature,
            {names[bone]: opposite_role(role) for role, bones in sided.items()
             for bone in ((bones,) if isinstance(bones, int) else bones)},
            "",
        )  # fmt: skip
        return "INFO", f'"{armature.name}" now faces {bridge.read_roles(armature).facing}'


class POISE_OT_set_facing(_RolesTool, bpy.types.Operator):
    """Set the axis of the armature that the body looks along. The opposite of the detected axis swaps left and right"""

    bl_idname = "poise.set_facing"
    bl_label = "Facing"

    facing: EnumProperty(
        name="Facing",
        description="Axis of the armature that the body looks along",
        items=[("FOUND", "Detected", "Detect it from parts and names")]
        + [(axis, axis, "The body looks along this axis") for axis in DIRECTED_AXES],
    )

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        bridge.write_corrections(armature, {}, "" if self.facing == "FOUND" else self.facing)
        return "INFO", f'"{armature.name}" faces {bridge.read_roles(armature).facing}'


class POISE_OT_export_roles(SavesJson, Tool, bpy.types.Operator):
    """Save the body parts to a file, for other armatures with the same bone names"""

    bl_idname = "poise.export_roles"
    bl_label = "Save Mapping"

    def content(self, context: Any, armature: Any, path: Path) -> tuple[str, str]:
        mapping = mapping_of(find_parts(armature), armature.poise_facing or None)
        if not mapping["roles"]:
            raise CoreError("No part of a human body was detected, so there is nothing to save.")
        text = json.dumps(mapping, indent=2, ensure_ascii=False) + "\n"
        return counted(len(mapping["roles"]), "part"), text


class POISE_OT_import_roles(LoadsJson, _RolesTool, bpy.types.Operator):
    """Load the body parts from a file. They are saved with the .blend file"""

    bl_idname = "poise.import_roles"
    bl_label = "Load Mapping"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        mapping = read_mapping(self.path)
        if not mapping.roles and mapping.facing is None:
            raise CoreError("The file assigns no body part.")
        take_mapping([armature], mapping)
        return "INFO", f"Loaded {counted(len(mapping.roles), 'part')}"
