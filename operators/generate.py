"""Motions from two key poses: store the poses, generate, change the samples and generate anew."""

import json
from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty

from .. import bridge
from ..commands.edit import Edit
from ..commands.generate import Generated, pose_at
from ..commands.generated import (
    MAX,
    MIN,
    PLAIN,
    add_track,
    check_generated,
    edited_recipe,
    keep,
    own_recipe,
    preview,
    remove_track,
    renew,
    store_pose,
)
from ..commands.job import FRAME_LIMIT
from ..commands.recipe import PRESETS, Moment, parse_recipe
from .background import Background
from .tool import Shown, Tool, counted, selected_bones


class POISE_OT_store_pose(Tool, bpy.types.Operator):
    """Store a pose as one of the two that a motion is made of"""

    bl_idname = "poise.store_pose"
    bl_label = "Store Key Pose"

    pose: EnumProperty(
        name="Pose",
        description="Which of the two it is",
        items=(("MIN", "Min", "Where offsets are 0"), ("MAX", "Max", "Where offsets are 1")),
    )
    source: EnumProperty(
        name="From",
        description="Where the pose is taken from",
        items=(
            ("PRESENT", "Present Pose", "As the armature stands"),
            ("FRAME", "Frame", "A frame of the armature's motion"),
            ("ACTION", "Action", "The first frame of an action, such as a pose asset"),
        ),
    )
    frame: IntProperty(
        name="Frame", description="The frame of the motion", default=1, min=-FRAME_LIMIT, max=FRAME_LIMIT
    )
    action: StringProperty(
        name="Action", description="The action, or pose asset, that has the pose",
        search=lambda self, context, text: [action.name for action in bpy.data.actions],
    )  # fmt: skip

    def act(self, context: Any, object: Any) -> tuple[str, str]:
        context.view_layer.update()
        rig = bridge.read_rig(object)
        moments = {"PRESENT": Moment(), "FRAME": Moment(self.frame), "ACTION": Moment(action=self.action)}
        pose = pose_at(context, object, rig, moments[self.source])
        store_pose(object, rig, pose, MIN if self.pose == "MIN" else MAX)
        return "INFO", f'Stored as the {self.pose.lower()} pose in "{object.poise_key_poses.name}"'


class POISE_OT_generate(Background, bpy.types.Operator):
    """Make a motion of two key poses, in a new action; its samples can be changed afterwards"""

    bl_idname = "poise.generate"
    bl_label = "Generate"

    recipe: EnumProperty(
        name="Recipe",
        description="What is made",
        items=(
            ("wave", "Wave", "The right hand waves"),
            ("jump", "Jump", "A jump on the spot, with feet that stand until they leave the ground"),
            ("own", "Own Poses", "From the stored min pose to the max pose and back"),
        ),
    )
    seconds: FloatProperty(
        name="Seconds", description="How long the motion between own poses takes", default=2.0, min=0.1, soft_max=20.0
    )
    start: IntProperty(
        name="Start", description="The first frame, by default the present one", min=-FRAME_LIMIT, max=FRAME_LIMIT,
        options={"SKIP_SAVE"},
    )  # fmt: skip

    def begin(self, context: Any, object: Any) -> Edit:
        if not self.properties.is_property_set("start"):
            self.start = context.scene.frame_current
        if self.recipe == "own":
            self._data: dict[str, Any] = PLAIN | {"seconds": self.seconds}
            self._recipe = own_recipe(object, self._data, "motion")
        else:
            self._data = json.loads((PRESETS / f"{self.recipe}.json").read_text(encoding="utf-8"))
            self._recipe = parse_recipe(self._data)
        return Generated(context, object, self._recipe, self.start)

    def end(self, context: Any, object: Any, edit: Edit) -> tuple[str, str]:
        assert isinstance(edit, Generated)
        report = keep(object, edit, self._recipe, self._data, self.start)
        return "INFO", f'{counted(len(report.frames), "frame")} in "{report.action}"'


class GeneratedTool(Tool):
    """A tool for an armature that has a generated motion."""

    @classmethod
    def need(cls, context: Any, object: Any) -> None:
        check_generated(object)


class POISE_OT_add_track(GeneratedTool, bpy.types.Operator):
    """Give parts of the body samples of their own, at first those of the chosen track"""

    bl_idname = "poise.add_track"
    bl_label = "Add Track"

    part: EnumProperty(
        name="Part",
        description="What gets them",
        items=(
            ("arm.L", "Left Arm", "The left arm with its shoulder and hand"),
            ("arm.R", "Right Arm", "The right arm with its shoulder and hand"),
            ("leg.L", "Left Leg", "The left leg with its foot"),
            ("leg.R", "Right Leg", "The right leg with its foot"),
            ("spine", "Spine", "The spine with neck and head"),
            ("SELECTED", "Selected Bones", "The selected bones"),
        ),
    )

    def act(self, context: Any, object: Any) -> tuple[str, str]:
        bones = self.part == "SELECTED"
        parts = selected_bones(context) if bones else [self.part]
        add_track(object, parts, bones)
        return "INFO", f"{', '.join(parts)}: samples of their own"


class POISE_OT_remove_track(GeneratedTool, bpy.types.Operator):
    """Take the chosen track away: its parts go as those that no track has"""

    bl_idname = "poise.remove_track"
    bl_label = "Remove Track"

    def act(self, context: Any, object: Any) -> tuple[str, str]:
        return "INFO", f"{remove_track(object)}: no samples of their own any more"


class POISE_OT_regenerate(GeneratedTool, Background, bpy.types.Operator):
    """Make the generated motion anew of its samples, the keys of its offsets, and of its key poses"""

    bl_idname = "poise.regenerate"
    bl_label = "Generate Anew"

    def begin(self, context: Any, object: Any) -> Edit:
        render = context.scene.render
        self._recipe, start = edited_recipe(object, render.fps / render.fps_base)
        return Generated(context, object, self._recipe, start)

    def end(self, context: Any, object: Any, edit: Edit) -> tuple[str, str]:
        assert isinstance(edit, Generated)
        report = renew(object, edit, self._recipe)
        return "INFO", f'{counted(len(report.frames), "frame")} in "{report.action}"'


class POISE_OT_preview_generated(Shown, bpy.types.Operator):
    """Show the present frame of the generated motion as its tracks are now, without keys"""

    bl_idname = "poise.preview_generated"
    bl_label = "Preview"

    def show(self, context: Any, object: Any) -> None:
        preview(context, object)


CLASSES = (
    POISE_OT_store_pose,
    POISE_OT_generate,
    POISE_OT_add_track,
    POISE_OT_remove_track,
    POISE_OT_regenerate,
    POISE_OT_preview_generated,
)
