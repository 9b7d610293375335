"""Poses of other bodies, by their parts: copy, apply and blend them."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ..core import CoreError
from ..core.editing.part_pose import PartPose
from ..core.formats.pose import pose_text
from ..edits.part_poses import ApplyPose, BlendedPose, pose_of_armature, pose_of_asset, pose_of_text, posed_parts
from ..edits.words import counted
from .body_tools import BodyOperator
from .pose_slider import PoseTool, factor_property
from .tool import Tool, chosen_path, name_property, other_armatures, selected_bones

_SOURCES = (
    ("ASSET", "Asset", "Pose asset that is active in the asset browser"),
    ("ARMATURE", "Selected Armature", "Current pose of the other selected armature"),
    ("ACTION", "Action", "A frame of an action"),
    ("CLIPBOARD", "Clipboard", "Pose copied by Copy Pose by Parts"),
)


class FromPose:
    """What tools that take the pose of another body share."""

    source: EnumProperty(name="Source", description="Source of the pose", items=_SOURCES, default="ARMATURE")
    action: name_property("Action", "Action with the pose")
    library: StringProperty(
        name="Library", description=".blend file with the action. If empty, it is in this file",
        subtype="FILE_PATH", options={"SKIP_SAVE"},
    )  # fmt: skip
    owner: name_property("Body", "Armature that the action was made with. By default one with the same bones")
    use_frame: BoolProperty(
        name="Use Frame", description="Use a frame of the action other than its first", options={"SKIP_SAVE"}
    )
    frame: FloatProperty(name="Frame", description="Frame of the action with the pose", options={"SKIP_SAVE"})
    mirrored: BoolProperty(name="Mirrored", description="Swap left and right", options={"SKIP_SAVE"})
    selected: BoolProperty(
        name="Selected Parts", default=True,
        description="Only pose the parts of the selected bones. If no bone is selected, pose all",
    )  # fmt: skip
    layout: Any

    def tool_of(self, context: Any, armature: Any) -> ApplyPose:
        """Return what gives an armature the pose that is asked for; raises CoreError if there is none."""
        context.view_layer.update()
        parts = posed_parts(armature, chosen_bones(context)) if self.selected else None
        pose = self._pose(context, armature)
        return ApplyPose(pose.mirrored() if self.mirrored else pose, parts=parts)

    def _pose(self, context: Any, armature: Any) -> PartPose:
        if self.source == "CLIPBOARD":
            return pose_of_text(context.window_manager.clipboard)
        if self.source == "ARMATURE":
            others = other_armatures(context)
            if len(others) != 1:
                raise CoreError("Select one other armature that has the pose.")
            return pose_of_armature(others[0])
        if self.source == "ASSET":
            asset = getattr(context, "asset", None)
            if asset is None or asset.id_type != "ACTION":
                raise CoreError("Choose a pose asset in the asset browser.")
            # from now on by name, so that Adjust Last Operation finds it, too
            self.source, self.action = "ACTION", asset.name
            self.library = "" if asset.local_id else asset.full_library_path
        library = str(chosen_path(self.library)) if self.library else ""
        frame = self.frame if self.use_frame else None
        return pose_of_asset(context, armature, self.action, library, frame, self.owner)

    def draw(self, context: Any) -> None:
        layout = self.layout
        layout.use_property_split = True
        if "factor" in self.bl_rna.properties:  # pyright: ignore
            layout.prop(self, "factor")
        layout.prop(self, "mirrored")
        layout.prop(self, "selected")
        layout.prop(self, "source")
        if self.source == "ACTION":
            layout.prop_search(self, "action", bpy.data, "actions")
            layout.prop(self, "use_frame")
            row = layout.row()
            row.active = self.use_frame
            row.prop(self, "frame")
            layout.prop_search(self, "owner", context.scene, "objects")


class POISE_OT_apply_pose(FromPose, BodyOperator, bpy.types.Operator):
    """Apply the pose of another body by its parts, keeping location and heading"""

    bl_idname = "poise.apply_pose"
    bl_label = "Apply Pose by Parts"

    def make_tool(self, context: Any, armature: Any) -> ApplyPose:
        return self.tool_of(context, armature)


class POISE_OT_blend_pose(FromPose, PoseTool, bpy.types.Operator):
    """Blend from the current pose to that of another body by moving the mouse"""

    bl_idname = "poise.blend_pose"
    bl_label = "Blend Pose by Parts"
    of = "the pose"

    factor: factor_property("Blend", "0 is the current pose, 1 the other one")

    def begin(self, context: Any, armature: Any) -> BlendedPose:
        return BlendedPose(context, armature, self.tool_of(context, armature))


class POISE_OT_copy_pose(Tool, bpy.types.Operator):
    """Copy the pose of the body, or of the parts of the selected bones, to paste it on any other body"""

    bl_idname = "poise.copy_pose"
    bl_label = "Copy Pose by Parts"
    bl_options = {"REGISTER"}

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        context.view_layer.update()
        pose = pose_of_armature(armature, chosen_bones(context))
        context.window_manager.clipboard = pose_text(pose)
        return "INFO", f"{counted(len(pose.posed), 'part')} copied"


def chosen_bones(context: Any) -> list[str]:
    """Return the names of the selected bones of the active armature, none outside of Pose Mode."""
    try:
        return selected_bones(context)
    except CoreError:
        return []
