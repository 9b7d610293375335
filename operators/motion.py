"""Timed pins: find contacts, add pins, and solve the motion for them."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..core import CoreError
from ..core.editing.foot_lock import EASE
from ..edits.foot_lock import FEET, HANDS, LONGEST
from ..edits.motion_edit import MotionEdit, temporary_value
from ..edits.pin_list import remove_or_mute
from ..edits.pinned_actions import need_source, restore_source
from ..edits.pinned_motion import TOLD, PinnedMotion, pin_contacts, said_kept
from ..edits.timed_pins import hold_as_posed, timed_pin
from ..edits.words import counted
from ..properties.motion import HELD
from .lasting import Background, Lasting
from .live_pins import settle
from .tool import Tool, fill_in, frame_property, selected_bones


class MotionTool(Tool):
    """A tool for an armature that has a motion."""

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        need_source(armature)


class POISE_OT_find_contacts(MotionTool, Lasting, bpy.types.Operator):
    """Find when the feet touch the ground, and list these contacts as timed pins"""

    bl_idname = "poise.find_contacts"
    bl_label = "Find Contacts"

    points: EnumProperty(
        name="Points",
        description="Parts that may touch the ground",
        items=(
            ("FEET", "Feet", "Heel, ball and toe of each foot, or the tips of an animal's legs"),
            ("HANDS", "Hands", "Hands"),
            ("BOTH", "Feet and Hands", "Feet and hands"),
            ("SELECTED", "Selected Bones", "Tails of the selected bones"),
        ),
    )
    ease: FloatProperty(
        name="Ease",
        description="Time in seconds over which the motion eases in and out of a contact. It is longer where feet "
        "swing slowly, as in slow motion",
        default=EASE,
        min=0.0,
        max=LONGEST,
        soft_max=1.0,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
    )
    drifts: BoolProperty(
        name="Allow Ground Drift",
        description="Treat feet that slide together as planted, as in captured motion that drifts over the ground. "
        "Disable for skating",
        default=True,
    )
    replace: BoolProperty(name="Replace", description="Remove the pins that are in the list already", default=True)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        names = {"FEET": [FEET], "HANDS": [HANDS], "BOTH": [FEET, HANDS]}.get(self.points) or selected_bones(context)
        count = pin_contacts(context, armature, names, self.ease, self.replace, self.drifts)
        return "INFO", f"Found {counted(count, 'contact')}. Press Solve Motion to hold them"


class POISE_OT_add_timed_pin(MotionTool, bpy.types.Operator):
    """Hold the selected bones over a frame range of the motion"""

    bl_idname = "poise.add_timed_pin"
    bl_label = "Add Timed Pin"

    start: frame_property("Start", "First frame at which the bones are held")
    end: frame_property("End", "Last frame at which the bones are held")
    held: EnumProperty(name="Hold At", description="Where the bones are held", items=HELD[:3], default="FRAME")
    ease: IntProperty(
        name="Ease",
        description="Number of frames before and after over which the motion changes",
        default=6,
        min=0,
        soft_max=100,
    )
    use_rotation: BoolProperty(name="Rotation", description="Also hold the rotation")

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        super().need(context, armature)
        selected_bones(context)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        present = context.scene.frame_current
        half = round(context.scene.render.fps / 2)
        # a bone that was dragged to a place is held in this frame alone; the ease spreads it
        fill_in(self, start=present, end=present if self.held == "PLACE" else present + half)
        if self.end < self.start:
            raise CoreError(f"A pin must start before it ends. It starts at {self.start} and ends at {self.end}.")
        bones = selected_bones(context)
        context.view_layer.update()
        with temporary_value(armature, "poise_live_pins", False):  # no change by the user
            for bone in bones:
                pin = timed_pin(armature, bone, self.start, self.end)
                pin.use_rotation = self.use_rotation
                pin.ease_in = pin.ease_out = self.ease
                pin.frame = min(max(present, self.start), self.end)
                hold_as_posed(armature, pin)
                pin.held = self.held
        return "INFO", f"{counted(len(bones), 'timed pin')} from frame {self.start} to {self.end}"


class TimedPinTool(Tool):
    """A tool for a timed pin of the list, by default the chosen one."""

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        if not len(armature.poise_timed_pins):
            raise CoreError(f'"{armature.name}" has no timed pins. Find contacts or add one first.')

    def place(self, armature: Any, given: int) -> int:
        """Return the place in the list of the given or else the chosen pin; raises CoreError if there is none."""
        place = armature.poise_active_timed_pin if given < 0 else given
        if not 0 <= place < len(armature.poise_timed_pins):
            raise CoreError("No timed pin is selected in the list.")
        return place


class POISE_OT_remove_timed_pin(TimedPinTool, bpy.types.Operator):
    """Remove the selected timed pin, or all of them. Solve the motion to restore it there"""

    bl_idname = "poise.remove_timed_pin"
    bl_label = "Remove Timed Pin"

    all: BoolProperty(name="All", description="Remove all timed pins", options={"SKIP_SAVE"})

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        pins, place = armature.poise_timed_pins, armature.poise_active_timed_pin
        chosen = range(len(pins)) if self.all else [min(max(place, 0), len(pins) - 1)]
        muted = remove_or_mute(armature, "poise_timed_pins", chosen)
        armature.poise_active_timed_pin = max(0, min(place, len(pins) - 1))
        sentence = f"Removed {counted(len(chosen), 'timed pin')}"
        return "INFO", sentence + (f"; muted {muted} of the linked file" if muted else "")


class POISE_OT_goto_timed_pin(TimedPinTool, bpy.types.Operator):
    """Go to the first frame of the timed pin, or from there to its last one"""

    bl_idname = "poise.goto_timed_pin"
    bl_label = "Go to Timed Pin"

    row: IntProperty(
        name="Row", description="Index in the list, from 0. By default the selected one", default=-1, min=-1,
        options={"SKIP_SAVE"},
    )  # fmt: skip

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        armature.poise_active_timed_pin = place = self.place(armature, self.row)
        pin = armature.poise_timed_pins[place]
        frame = pin.end if context.scene.frame_current == pin.start else pin.start
        context.scene.frame_set(frame)
        return "INFO", f"{pin.label}: frame {frame}"


class POISE_OT_place_timed_pin(TimedPinTool, bpy.types.Operator):
    """Hold the bone of the selected timed pin at its current position and rotation"""

    bl_idname = "poise.place_timed_pin"
    bl_label = "Hold Current Pose"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        pin = armature.poise_timed_pins[self.place(armature, -1)]
        context.view_layer.update()
        hold_as_posed(armature, pin)
        return "INFO", f"{pin.label} now holds its current position"


class POISE_OT_solve_motion(MotionTool, Background, bpy.types.Operator):
    """Change the motion as little as possible so that all timed pins hold. The original action is kept"""

    bl_idname = "poise.solve_motion"
    bl_label = "Solve Motion"

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        super().need(context, armature)
        if armature.poise_source is None:
            TimedPinTool.need(context, armature)

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        return PinnedMotion(context, armature)

    def end(self, context: Any, armature: Any, edit: PinnedMotion) -> tuple[str, str]:
        if edit.pins:
            met, sentence = edit.summary(edit.write(armature))
        elif edit.left_out:
            raise CoreError(f"{'; '.join(edit.left_out[:TOLD])}.")
        else:
            kept = said_kept(restore_source(armature))
            met, sentence = True, f"No timed pin is active. The original motion is restored{kept}"
        settle(context, armature)
        return "INFO" if met else "WARNING", sentence


class POISE_OT_give_motion_back(Tool, bpy.types.Operator):
    """Use the original action again. The timed pins stay in the list"""

    bl_idname = "poise.give_motion_back"
    bl_label = "Restore Original"

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        if armature.poise_source is None:
            raise CoreError("Nothing to restore: Solve Motion has not been used.")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        name = armature.poise_source.name
        return "INFO", f'Restored the action "{name}" of "{armature.name}"{said_kept(restore_source(armature))}'


class POISE_OT_keep_motion(Tool, bpy.types.Operator):
    """Turn the pinned motion into a plain action, and remove its timed pins and the link to the original action"""

    bl_idname = "poise.keep_motion"
    bl_label = "Apply Pinned Motion"

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        if armature.poise_result is None:
            raise CoreError(f'"{armature.name}" has no pinned motion. Solve it first.')

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        name = armature.poise_result.name
        armature.poise_source = armature.poise_result = None
        armature.poise_result_pins = armature.poise_still = ""
        remove_or_mute(armature, "poise_timed_pins", range(len(armature.poise_timed_pins)))
        return "INFO", f'Applied the pinned motion. "{name}" is now a plain action'
