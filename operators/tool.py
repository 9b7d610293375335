"""What Poise's tools share: polls that say why not, and refusals that become reports."""

from typing import Any

import bpy
from bpy.props import StringProperty

from .. import bridge
from ..core import CoreError


class Tool:
    """An operator on the active armature: `act` does the work and returns what to report, or raises CoreError."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        try:
            bridge.check(context.active_object)
            cls.need(context, context.active_object)
        except CoreError as error:
            operator: Any = cls
            operator.poll_message_set(str(error).removesuffix("."))
            return False
        return True

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        """Raises CoreError with the reason why the tool cannot be used now."""

    def execute(self, context: Any) -> set[str]:
        operator: Any = self
        try:
            level, sentence = self.act(context, context.active_object)
        except CoreError as error:
            operator.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        operator.report({level}, sentence)
        return {"FINISHED"}

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        """Do it to the armature `object`; returns the kind of report ("INFO", "WARNING") and its sentence."""
        raise NotImplementedError


class Shown:
    """An operator that a changed property calls: `show` gives the armature the pose that comes of it, without keys."""

    bl_options = {"INTERNAL"}  # part of what changed the property, and of its undo step

    object: StringProperty(name="Armature", description="The armature that has it", options={"SKIP_SAVE"})

    def execute(self, context: Any) -> set[str]:
        operator: Any = self
        armature: Any = bpy.data.objects.get(operator.object)
        try:
            if armature is None:
                raise CoreError(f'There is no armature "{operator.object}".')
            self.show(context, armature)
        except CoreError as error:
            operator.report({"WARNING"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def show(self, context: Any, armature: Any) -> None:
        """Do it; raises CoreError."""
        raise NotImplementedError


class OfArmature:
    """An operator for any armature, also one whose pose must not be changed."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        armature = context.active_object
        if armature is None or armature.type != "ARMATURE":
            operator: Any = cls
            operator.poll_message_set("There is no active armature; select one")
            return False
        return True


def selected_bones(context: Any) -> list[str]:
    """Names of the selected bones of the active armature; raises CoreError if there are none."""
    if context.mode != "POSE":
        raise CoreError("Bones are selected in Pose Mode; go there first.")
    names = [bone.name for bone in context.selected_pose_bones_from_active_object or ()]
    if not names:
        raise CoreError("No bones are selected.")
    return names


def counted(number: int, noun: str) -> str:
    """'1 bone', '3 bones'."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
