"""Motions from two key poses: store the poses, generate, change the samples and generate again."""

import json
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from .. import bridge
from ..core import CoreError
from ..core.formats.recipe import PRESETS, Moment, parse_recipe
from ..core.formats.table import FRAME_LIMIT
from ..edits.generate import Generated, posed_at
from ..edits.generated_motion import (
    MAX,
    MIN,
    PLAIN,
    add_phase,
    add_track,
    check_not_linked,
    edited_recipe,
    recipe_with_own_poses,
    remove_track,
    rewrite_generated,
    store_pose,
    write_generated,
)
from ..edits.motion_edit import MotionEdit, temporary_value
from ..edits.reduce import Reduced
from ..edits.sample_curves import add_sample, check_generated, move_sample, remove_sample, toggle_weights
from ..edits.words import counted
from ..properties.generate import AXES
from ..properties.overrides import linked_count
from .keys import said_reduced, tolerance_of, tolerance_property
from .lasting import Background
from .tool import TellsChoice, Tool, fill_in, frame_property, selected_bones


class POISE_OT_store_pose(TellsChoice, Tool, bpy.types.Operator):
    """Store a pose as one of the two key poses of a generated motion"""

    bl_idname = "poise.store_pose"
    bl_label = "Store Key Pose"
    told = "pose"

    pose: EnumProperty(
        name="Pose",
        description="Which of the two key poses",
        items=(
            ("MIN", "Min", "Store the current pose as the min pose, such as the crouch of a jump"),
            ("MAX", "Max", "Store the current pose as the max pose, such as the stretch of a jump"),
        ),
    )
    source: EnumProperty(
        name="From",
        description="Source of the pose",
        items=(
            ("PRESENT", "Current Pose", "Current pose of the armature"),
            ("FRAME", "Frame", "A frame of the motion of the armature"),
            ("ACTION", "Action", "First frame of an action, such as a pose asset"),
        ),
    )
    frame: IntProperty(name="Frame", description="Frame of the motion", default=1, min=-FRAME_LIMIT, max=FRAME_LIMIT)
    action: StringProperty(
        name="Action", description="Action or pose asset with the pose",
        search=lambda self, context, text: [action.name for action in bpy.data.actions],
    )  # fmt: skip

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        context.view_layer.update()
        moments = {"PRESENT": Moment(), "FRAME": Moment(self.frame), "ACTION": Moment(action=self.action)}
        with posed_at(context, armature, moments[self.source]):
            store_pose(armature, MIN if self.pose == "MIN" else MAX)
        return (
            "INFO",
            f'Stored as the {"min" if self.pose == "MIN" else "max"} pose in "{armature.poise_key_poses.name}"',
        )


class KeyedTool(Background):
    """A tool that makes a motion with a key at every frame, and may reduce the keys to a tolerance."""

    keys: EnumProperty(
        name="Keys",
        description="Which frames get keys",
        items=(
            ("EVERY", "Every Frame", "Key every frame"),
            ("REDUCED", "Reduced", "Key only what is needed for all bones to stay within the tolerance"),
        ),
    )
    tolerance: tolerance_property(
        "Maximum distance in world space that bones may be off with reduced keys. By default 5 mm for a human of "
        "1.7 m, in proportion for other sizes"
    )
    layout: Any

    def draw(self, context: Any) -> None:
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        for name in (*self.chosen(), "keys", *(["tolerance"] if self.keys == "REDUCED" else [])):
            self.layout.prop(self, name)

    def chosen(self) -> tuple[str, ...]:
        """Return the names of the settings of this tool alone that apply."""
        return ()

    def begin_more(self, context: Any, armature: Any) -> MotionEdit | None:
        if self.keys == "EVERY":
            return None
        return Reduced(context, armature, bridge.keyed_range(armature), (), tolerance_of(self, armature))

    def end_more(self, context: Any, armature: Any, edit: Reduced) -> tuple[str, str]:
        return said_reduced(context, edit, edit.write(armature, new=False))


class POISE_OT_generate(KeyedTool, bpy.types.Operator):
    """Generate a motion from two key poses, in a new action. Its samples can be edited afterwards"""

    bl_idname = "poise.generate"
    bl_label = "Generate"

    recipe: EnumProperty(
        name="Recipe",
        description="Motion that is generated",
        items=(
            ("wave", "Wave", "Wave with the right hand"),
            (
                "wave_once",
                "Wave Once",
                "Swing the right hand once from one side to the other, linearly between samples",
            ),
            ("jump", "Jump", "Jump on the spot, with the feet planted until they leave the ground"),
            ("own", "Stored Poses", "Go from the stored min pose to the max pose and back"),
        ),
    )
    seconds: FloatProperty(
        name="Duration",
        description="Duration of the motion between the stored poses, in seconds",
        default=2.0,
        min=0.1,
        soft_max=20.0,
    )
    start: frame_property("Start", "First frame. By default the current one")

    def chosen(self) -> tuple[str, ...]:
        return ("recipe", "seconds", "start") if self.recipe == "own" else ("recipe", "start")

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        check_not_linked(armature)
        fill_in(self, start=context.scene.frame_current)
        if self.recipe == "own":
            self._data: dict[str, Any] = PLAIN | {"seconds": self.seconds}
            self._recipe = recipe_with_own_poses(armature, self._data, "motion")
        else:
            self._data = json.loads((PRESETS / f"{self.recipe}.json").read_text(encoding="utf-8"))
            self._recipe = parse_recipe(self._data)
        return Generated(context, armature, self._recipe, self.start)

    def end(self, context: Any, armature: Any, edit: Generated) -> tuple[str, str]:
        report = write_generated(armature, edit, self._data, self.start)
        return "INFO", f'{counted(len(report.frames), "frame")} in "{report.action}"'


class GeneratedTool(Tool):
    """A tool for an armature that has a generated motion."""

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        check_generated(armature)


class POISE_OT_add_track(GeneratedTool, bpy.types.Operator):
    """Give body parts samples of their own, starting with a copy of those of the selected track"""

    bl_idname = "poise.add_track"
    bl_label = "Add Track"

    part: EnumProperty(
        name="Part",
        description="Parts that get the track",
        items=(
            ("arm.L", "Left Arm", "Left arm with shoulder and hand"),
            ("arm.R", "Right Arm", "Right arm with shoulder and hand"),
            ("leg.L", "Left Leg", "Left leg with foot"),
            ("leg.R", "Right Leg", "Right leg with foot"),
            ("spine", "Spine", "Spine with neck and head"),
            ("SELECTED", "Selected Bones", "Selected bones"),
        ),
    )
    axis: EnumProperty(name="Axis", description="Axis of the rotation between the key poses", items=AXES)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        bones = self.part == "SELECTED"
        parts = selected_bones(context) if bones else [self.part]
        add_track(armature, parts, bones, self.axis)
        return "INFO", f"Added a track for {', '.join(parts)}"


class POISE_OT_remove_track(GeneratedTool, bpy.types.Operator):
    """Remove the selected track. Its parts then move with the track of all other parts"""

    bl_idname = "poise.remove_track"
    bl_label = "Remove Track"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        return "INFO", f"Removed the track of {remove_track(armature)}"


class POISE_OT_add_sample(GeneratedTool, bpy.types.Operator):
    """Add a sample at the current frame, with the current offset of the selected track"""

    bl_idname = "poise.add_sample"
    bl_label = "Add Sample"

    path: BoolProperty(name="Path", description="Add the sample to the path instead", options={"SKIP_SAVE"})

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        frame = context.scene.frame_current
        add_sample(armature, self.path, frame)
        return "INFO", f"Added a sample at frame {frame}. Press Regenerate to use it"


class POISE_OT_remove_sample(GeneratedTool, bpy.types.Operator):
    """Remove this sample"""

    bl_idname = "poise.remove_sample"
    bl_label = "Remove Sample"

    path: BoolProperty(name="Path", description="Remove the sample from the path instead", options={"SKIP_SAVE"})
    row: IntProperty(name="Row", description="Index of the sample, from 0", min=0, options={"SKIP_SAVE"})

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        return "INFO", f"Removed the sample at frame {remove_sample(armature, self.path, self.row):g}"


class POISE_OT_move_sample(GeneratedTool, bpy.types.Operator):
    """Move this sample to another frame"""

    bl_idname = "poise.move_sample"
    bl_label = "Move Sample"

    path: BoolProperty(name="Path", description="Move the sample of the path instead", options={"SKIP_SAVE", "HIDDEN"})
    row: IntProperty(name="Row", description="Index of the sample, from 0", min=0, options={"SKIP_SAVE", "HIDDEN"})
    frame: frame_property("Frame", "Frame of the sample")

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self, confirm_text="Move")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        move_sample(armature, self.path, self.row, self.frame)
        return "INFO", f"Moved the sample to frame {self.frame}. Press Regenerate to use it"


class POISE_OT_weigh_samples(GeneratedTool, bpy.types.Operator):
    """Give each sample a weight of its own, to be edited in the table and the Graph Editor, or remove these weights"""

    bl_idname = "poise.weigh_samples"
    bl_label = "Toggle Sample Weights"

    path: BoolProperty(
        name="Path", description="Use the samples of the path instead of the selected track", options={"SKIP_SAVE"}
    )

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        given = toggle_weights(armature, self.path)
        return "INFO", "Samples have weights of their own" if given else "Samples have the same weight again"


class POISE_OT_add_phase(GeneratedTool, bpy.types.Operator):
    """Add a frame range in which something, or nothing, supports the body. Press Regenerate to use it"""

    bl_idname = "poise.add_phase"
    bl_label = "Add Support or Flight"

    part: EnumProperty(
        name="Part",
        description="What supports the body",
        items=(
            ("foot.L", "Left Foot", "Keep the left foot in place"),
            ("foot.R", "Right Foot", "Keep the right foot in place"),
            ("hand.L", "Left Hand", "Keep the left hand in place"),
            ("hand.R", "Right Hand", "Keep the right hand in place"),
            ("SELECTED", "Selected Bones", "Keep the selected bones in place"),
            ("FLIGHT", "Flight", "Nothing supports the body, and the root follows a ballistic arc"),
        ),
    )
    start: frame_property("Start", "First frame. By default the current one")
    end: frame_property("End", "Last frame. By default half a second later")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        present = context.scene.frame_current
        fill_in(self, start=present, end=present + round(context.scene.render.fps / 2))
        if self.end <= self.start:
            raise CoreError(
                f"A support or a flight must start before it ends. It starts at {self.start} and ends at {self.end}."
            )
        parts = {"SELECTED": selected_bones, "FLIGHT": lambda _: [""]}.get(self.part, lambda _: [self.part])(context)
        with temporary_value(armature, "poise_generated", None):  # a new one is no change that is previewed
            for part in parts:
                add_phase(armature, part, self.start, self.end)
        return "INFO", f"{', '.join(filter(None, parts)) or 'Flight'} from frame {self.start} to {self.end}"


class POISE_OT_remove_phase(Tool, bpy.types.Operator):
    """Remove the selected support or flight"""

    bl_idname = "poise.remove_phase"
    bl_label = "Remove Support or Flight"

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        if not len(armature.poise_phases):
            raise CoreError(f'"{armature.name}" has no supports or flights. Add one first.')

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        phases = armature.poise_phases
        place = min(max(armature.poise_active_phase, 0), len(phases) - 1)
        phase = phases[place]
        name: str = "flight" if phase.kind == "FLIGHT" else phase.part
        if place < linked_count(armature, "poise_phases"):
            raise CoreError(f'"{name}" belongs to the linked file. Remove it there.')
        phases.remove(place)
        armature.poise_active_phase = max(0, min(place, len(phases) - 1))
        return "INFO", f"Removed {name}"


class POISE_OT_regenerate(GeneratedTool, KeyedTool, bpy.types.Operator):
    """Generate the motion again from its samples, keyed offsets and key poses"""

    bl_idname = "poise.regenerate"
    bl_label = "Regenerate"

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        render = context.scene.render
        recipe, start = edited_recipe(armature, render.fps / render.fps_base)
        return Generated(context, armature, recipe, start)

    def end(self, context: Any, armature: Any, edit: Generated) -> tuple[str, str]:
        report = rewrite_generated(armature, edit)
        return "INFO", f'{counted(len(report.frames), "frame")} in "{report.action}"'
