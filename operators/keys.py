"""Keys of a whole motion: as few as a tolerance allows, or one at every frame."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from .. import bridge
from ..core import CoreError
from ..core.causes import Explanation
from ..core.formats.report import Report
from ..edits.bake import Baked
from ..edits.motion_edit import UNMEASURED, MotionEdit, no_action
from ..edits.reduce import BODY, TOLERANCE, Reduced, size_in_world
from ..edits.words import counted
from .lasting import Background
from .tool import fill_in, frame_property, selected_bones

WHERE = (
    ("NEW", "New", "A copy of the current action, which stays unchanged"),
    ("PRESENT", "Current", "The current action, changed within the range"),
)


def tolerance_property(description: str, least: float = 1e-5) -> Any:
    """Return a property of an operator that is how far bones may be off with fewer keys."""
    return FloatProperty(
        name="Tolerance", description=description, default=TOLERANCE, min=least, soft_max=0.1, precision=4,
        subtype="DISTANCE", unit="LENGTH",
    )  # fmt: skip


def tolerance_of(operator: Any, armature: Any) -> float:
    """Return the tolerance of an operator, which is that of the body if nobody has set it."""
    size = size_in_world(bridge.read_rig(armature).skeleton, bridge.world_matrix(armature))
    fill_in(operator, tolerance=TOLERANCE * size)
    return operator.tolerance


def said_reduced(context: Any, edit: Reduced, report: Report) -> tuple[str, str]:
    """Return the report of reduced keys, with its level: how many are left, and the largest error."""
    off = {goal.bone: float(goal.position_error.max()) for goal in report.goals if goal.position_error is not None}
    if not off:
        return "WARNING", f"{edit.summary()}; {UNMEASURED}"
    worst = max(off, key=off.__getitem__)
    error = bridge.say_length(context.scene, off[worst])
    said = f'{edit.summary()}; the largest error is {error} (at "{worst}")'
    return ("INFO", said) if report.met else ("WARNING", Explanation(said, remedy="Lower Tolerance to get closer"))


class RangeTool(Background):
    """A tool for a range of the armature's motion."""

    frame_start: frame_property("Start", "First frame. By default that of the action")
    frame_end: frame_property("End", "Last frame. By default that of the action")

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        bridge.keyed_range(armature)
        bridge.check_target(armature)

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        self.fill_range(context.active_object)
        return context.window_manager.invoke_props_dialog(self, confirm_text=self.bl_label)

    def fill_range(self, armature: Any) -> None:
        """Show the range of the action in the fields that nobody has set."""
        first, last = bridge.keyed_range(armature)
        fill_in(self, frame_start=first, frame_end=last)

    def frames(self, armature: Any, beyond: bool = False) -> tuple[int, int]:
        """Return the range; raises CoreError if it runs backwards, or goes `beyond` the motion if that must not be."""
        given, (begin, end) = self.properties.is_property_set, bridge.keyed_range(armature)
        first = self.frame_start if given("frame_start") else begin
        last = self.frame_end if given("frame_end") else end
        if last < first:
            raise CoreError(f"The end frame {last} is before the start frame {first}.")
        if not beyond and (first < begin or last > end):
            raise CoreError(f"The motion has frames {begin} to {end}, not {first} to {last}.")
        return first, last


class ToleranceTool(RangeTool):
    """A tool for a range whose result may be off by a tolerance."""

    def fill_range(self, armature: Any) -> None:
        super().fill_range(armature)
        tolerance_of(self, armature)


class KeysTool(RangeTool):
    """A tool for the keys of the armature's action."""

    action: EnumProperty(name="Action", description="Action that gets the keys", items=WHERE)

    def written(self, armature: Any, edit: MotionEdit) -> Report:
        """Write the keys; the copy of a generated motion can still be generated again."""
        before = armature.animation_data.action
        report = edit.write(armature, new=self.action == "NEW")
        if before is not None and armature.poise_generated == before:
            armature.poise_generated = armature.animation_data.action
        return report


class POISE_OT_reduce_keys(KeysTool, ToleranceTool, bpy.types.Operator):
    """Remove all keys that are not needed for the body to stay within a tolerance, at and between frames"""

    bl_idname = "poise.reduce_keys"
    bl_label = "Reduce Keys"

    tolerance: tolerance_property(
        "Maximum distance that bones may deviate from the original motion, measured at their tails and one bone "
        "length beside their heads. By default 5 mm for a human of 1.7 m, in proportion for other sizes"
    )
    bones: EnumProperty(
        name="Bones",
        description="Bones that stay within the tolerance. Keys of these bones and of their parents are reduced",
        items=(
            ("ALL", "All", "All bones"),
            ("SELECTED", "Selected", "Selected bones"),
            (
                "BODY",
                "Body",
                "Hips, head, hands and feet, or the ends of the limbs of a creature. Fingers keep their keys",
            ),
        ),
    )

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        super().need(context, armature)
        if armature.animation_data.action is None:
            raise CoreError(no_action(armature))

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        bridge.check_target(armature, None, self.action == "NEW")
        bones = {"SELECTED": selected_bones, "BODY": lambda _: [BODY]}.get(self.bones, lambda _: [])(context)
        tolerance = tolerance_of(self, armature)
        return Reduced(context, armature, self.frames(armature, beyond=True), bones, tolerance)

    def end(self, context: Any, armature: Any, edit: Reduced) -> tuple[str, str]:
        return said_reduced(context, edit, self.written(armature, edit))


class POISE_OT_bake_motion(KeysTool, bpy.types.Operator):
    """Key the motion of the armature at every frame of a range. Keys outside of it and of other bones do not change"""

    bl_idname = "poise.bake_motion"
    bl_label = "Bake Motion"
    measured = True

    step: IntProperty(
        name="Step",
        description="Number of frames from one key to the next. The last frame is always keyed",
        default=1,
        min=1,
        soft_max=10,
    )
    bones: EnumProperty(
        name="Bones",
        description="Bones that get keys",
        items=(("ALL", "All", "All bones"), ("SELECTED", "Selected", "Selected bones")),
    )
    visual: BoolProperty(
        name="Visual",
        description="Key the result of constraints, drivers and curve modifiers",
    )
    mute: BoolProperty(name="Mute Constraints", description="With Visual, mute the constraints of bones that get keys")

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        bridge.check_target(armature, None, self.action == "NEW")
        bones = selected_bones(context) if self.bones == "SELECTED" else ()
        frames = self.frames(armature, beyond=True)
        return Baked(context, armature, frames, bones, self.step, self.visual, self.visual and self.mute)

    def end(self, context: Any, armature: Any, edit: Baked) -> tuple[str, str]:
        report = self.written(armature, edit)
        sentence = f'Keyed {counted(len(report.frames), "frame")} in "{report.action}"'
        wrong = [*report.explanations, *filter(None, [edit.unkeyed()])]
        return ("WARNING", f"{sentence}; {'; '.join(wrong)}") if wrong else ("INFO", sentence)
