"""What Poise's tools share: polls that say why not, and refusals that become reports."""

from typing import Any

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


def select(bone: Any, on: bool) -> None:
    """Select or deselect a pose bone."""
    owner = bone if hasattr(bone, "select") else bone.bone  # Blender 5 has moved it there from its data
    owner.select = on
